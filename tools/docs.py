"""Write what is made from the code: docs/cli.md, docs/config.md, docs/modules.md, tables of docs/detectors.md and
docs/json.md, the man pages, hooks/ and the pattern of .pre-commit-hooks.yaml.

`--check` only says whether they are current.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from gitmem import __version__  # noqa: E402
from gitmem.cli.command_registry import SECTIONS  # noqa: E402
from gitmem.cli.main import SUMMARY, main_command  # noqa: E402
from gitmem.config import Config  # noqa: E402
from gitmem.config.retention import MIN_TRACKED_LIFE_DAYS  # noqa: E402
from gitmem.config.settings import COUNT_RANGE, SETTINGS, git_name  # noqa: E402
from gitmem.errors import Exit  # noqa: E402
from gitmem.git.hooks import HOOKS, SERVER  # noqa: E402
from gitmem.git.hooks.block import shim  # noqa: E402
from gitmem.git.hooks.filters import TOPS  # noqa: E402
from gitmem.json_schema import result_schema  # noqa: E402
from gitmem.paths import AGENT_ENDINGS, TEXT_ENDINGS  # noqa: E402
from tools import agent_paths  # noqa: E402

EXITS = {
    Exit.DONE: "done; scan clean; search done, with or without hits",
    Exit.FINDINGS: "findings: a check says no",
    Exit.USAGE: "the words typed do not fit together",
    Exit.CANNOT_RUN: "could not run: not a repository, bad setting, missing model, locked; the message says why",
    Exit.BUG: "a bug: one line and the path of a log",
    Exit.INTERRUPTED: "interrupted",
}


# The command of git, gh or jj that is like ours; those that are not here have none.
BESIDE = {
    "init": "`git init`", "add": "`git notes append`", "edit": "`jj describe`", "forget": "`git rm`",
    "undo": "`jj undo`", "redact": "`git filter-repo`", "search": "`git grep`, `gh search`", "show": "`git show`",
    "log": "`git log`", "changes": "`git diff A..B`", "bisect": "`git bisect`", "why": "`git blame`",
    "ui": "`git instaweb`", "scan": "`git diff --check`", "verify": "`git fsck`", "revert": "`git revert`",
    "review": "`git range-diff`", "publish": "`gh pr create`", "sync": "`git pull`, `git push`",
    "export": "`git archive`", "import": "`git am`", "profile": "`gh auth switch`",
    "watch": "`git fsmonitor--daemon`", "index": "`git commit-graph write`", "status": "`git status`",
    "doctor": "`git fsck`", "help": "`git help`", "setup": "`gh auth login`", "install": "`git lfs install`",
    "uninstall": "`git lfs uninstall`", "config": "`git config`", "completion": "`gh completion`",
    "merge-driver": "`git merge-file`",
}  # fmt: skip


def shape_table() -> list[str]:
    """The shape of every command: what it is given, --json, --dry-run, and what is like it elsewhere."""
    out = ["| command | given | `--json` | `--dry-run` | beside it |", "|---|---|---|---|---|"]
    for _, name, command in commands():
        for full, each in walk(name, command):
            if isinstance(each, click.Group):
                continue
            context = click.Context(each, info_name=full)
            given = " ".join(part for part in each.collect_usage_pieces(context) if part != "[OPTIONS]")
            flags = {flag for parameter in each.params for flag in parameter.opts}
            has = ["yes" if flag in flags else "" for flag in ("--json", "--dry-run")]
            row = [f"`{full}`", f"`{cell(given)}`" if given else "", *has, BESIDE.get(name, "")]
            out.append("| " + " | ".join(row) + " |")
    return out


def commands() -> Iterator[tuple[str, str, click.Command]]:
    """(section, name, command) in the order of the help."""
    context = click.Context(main_command, info_name="git mem")
    present = main_command.list_commands(context)
    for section, names in SECTIONS.items():
        for name in names:
            if name in present:
                found = main_command.get_command(context, name)
                assert found is not None
                if not found.hidden:
                    yield section, name, found


def walk(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and, for a group, its subcommands."""
    yield name, command
    if isinstance(command, click.Group):
        for sub in sorted(command.commands):
            yield from walk(f"{name} {sub}", command.commands[sub])


def text_of(command: click.Command) -> str:
    """The help text as paragraphs; `\\b` blocks stay as they are, marked by a leading form feed."""
    help_text = (command.help or "").split("\f")[0]
    lines = [line.strip() if "\b" not in help_text else line for line in help_text.strip().splitlines()]
    return "\n".join(lines)


def options(command: click.Command) -> list[tuple[str, str]]:
    context = click.Context(command, info_name="x")
    shown_by_all = command.get_help_option(context)
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None and parameter is not shown_by_all:
            rows.append((record[0], " ".join(record[1].split())))
    return rows


def usage(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"git mem {name}")
    return " ".join([f"git mem {name}", *command.collect_usage_pieces(context)])


def cli_page() -> str:
    out = [
        "# Commands",
        "",
        "Generated from the code by `make docs`; a test keeps it so. Every command has `-h`.",
        "",
    ]
    out += [
        "`--json` is there wherever a command answers, `--dry-run` wherever one writes more than it is given. A flag",
        "has one spelling in all of them (`-n, --limit`, `--at`, `--since`, `--until`, `--agent`, `--reason`).",
        "",
        "A command that changes this memory does so at once; on a terminal `undo` shows what goes and asks first.",
        "Nothing is asked where standard input is no terminal, and whatever is asked has a flag (`--yes`; `--adopt` or",
        "`--only-new` of `init`). What concerns more than this memory waits for `--yes` there: `setup` prints the",
        "commands it stands for, `import HOST` lists the sessions of this machine.",
        "",
        *shape_table(),
        "",
    ]
    seen = ""
    for section, name, command in commands():
        if section != seen:
            out += [f"## {section}", ""]
            seen = section
        for full, each in walk(name, command):
            out += [f"### git mem {full}", "", f"    {usage(full, each)}", "", *markdown(each), ""]
            rows = options(each)
            if rows:
                out += ["| option | meaning |", "|---|---|"]
                out += [f"| `{cell(flag)}` | {cell(meaning)} |" for flag, meaning in rows]
                out += [""]
    out += ["## Exit codes", "", "| code | meaning |", "|---|---|"]
    out += [f"| {int(code)} | {meaning} |" for code, meaning in EXITS.items()]
    return "\n".join(out) + "\n"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def markdown(command: click.Command) -> list[str]:
    out = []
    for block in re.split(r"\n\s*\n", text_of(command)):
        lines = block.splitlines()
        if lines and lines[0].strip() == "\b":
            out += ["", *(f"    {line.strip()}" for line in lines[1:])]
        else:
            out += ["", " ".join(line.strip() for line in lines)]
    return out[1:]


def config_page() -> str:
    out = [
        "# Settings",
        "",
        "Generated from the code by `make docs`. `git mem config --list` shows the values in force and their origin.",
        "",
        "`git config --global mem.KEY VALUE` makes a setting: system, global and command scope (`git -c`) are read.",
        "The repository's own `.git/config` is not, because it may have come with a clone. `.gitmem.toml` is tracked,",
        "so it is everybody's, and can only tighten: a key with a place there is combined as the table says. How",
        "search ranks has no place there: what a clone brings must not decide which of its lines come first.",
        "",
        "| key | default | meaning | in .gitmem.toml |",
        "|---|---|---|---|",
    ]
    how = {"union": "adds", "min": "may lower", "last": "may turn on"}
    how["shorter"] = f"may shorten, to {MIN_TRACKED_LIFE_DAYS} days at least"
    for name, setting in SETTINGS.items():
        place = f"`{setting.tracked}` ({how[setting.tighten]})" if setting.tracked else ""
        choices = f" One of {', '.join(setting.choices)}." if setting.choices else ""
        if setting.limits != COUNT_RANGE:
            choices += f" {setting.limits[0]:g} to {setting.limits[1]:g}."
        default = value(Config._field_defaults[name])
        out.append(f"| `{git_name(name)}` | {default} | {cell(setting.doc)}{choices} | {place} |")
    return "\n".join(out) + "\n"


def value(default: object) -> str:
    if isinstance(default, tuple):
        return " ".join(f"`{item}`" for item in default)
    shown = str(default).lower() if isinstance(default, bool) else str(default)
    return f"`{shown}`" if shown else ""


def roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in escaped.splitlines())


def man_page() -> str:
    """git-mem(1): the commands with a line each, and the page of each."""
    out = [*heading("git-mem"), "git\\-mem \\- memory for AI agents, as plain Markdown in Git", ".SH SYNOPSIS"]
    out += [".B git mem", "[\\-C DIR] COMMAND [ARGS]...", ".SH DESCRIPTION"]
    out += ["Keeps an agent's memory as Markdown in a Git repository: searched, gated, promoted and reviewed."]
    out += [roff("'git mem help COMMAND' and 'git mem COMMAND -h' show the help of one command.")]
    seen = ""
    for section, name, command in commands():
        if section != seen:
            out.append(f".SH {section.upper()}")
            seen = section
        out += [".TP", f".BR git\\-mem\\-{roff(name)} (1)", roff(command.get_short_help_str(SUMMARY))]
    return "\n".join(out + exit_status()) + "\n"


def command_page(name: str, command: click.Command) -> str:
    """git-mem-NAME(1): one command and, for a group, its subcommands."""
    summary = roff(command.get_short_help_str(SUMMARY))
    out = [*heading(f"git-mem-{name}"), f"git\\-mem\\-{roff(name)} \\- {summary}", ".SH SYNOPSIS"]
    for full, each in walk(name, command):
        out += [".nf", roff(usage(full, each)), ".fi"]
    for full, each in walk(name, command):
        out += [".SH DESCRIPTION"] if each is command else [f".SH GIT MEM {roff(full).upper()}"]
        for paragraph in markdown(each):
            if paragraph.startswith("    "):
                out += [".nf", roff(paragraph), ".fi"]
            else:
                out.append(".PP" if not paragraph else roff(paragraph))
        for flag, meaning in options(each):
            out += [".TP", f".B {roff(flag)}", roff(meaning)]
    out += exit_status()
    return "\n".join([*out, ".SH SEE ALSO", ".BR git\\-mem (1)"]) + "\n"


def heading(title: str) -> list[str]:
    return [f'.TH {roff(title.upper())} 1 "" "git\\-mem {__version__}" "Git Manual"', ".SH NAME"]


def exit_status() -> list[str]:
    out = [".SH EXIT STATUS"]
    for code, meaning in EXITS.items():
        out += [".TP", f".B {int(code)}", roff(meaning)]
    return out


PRECISION = ("<!-- precision: from tools/rule_precision.txt -->\n", "<!-- end of precision -->\n")


def precision_table(text: str) -> str:
    """The rows of tools/rule_precision.txt: a table of the rules that were wrong, and the names of the others."""
    lines = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    rows = [(rule, int(documents), int(blocked), int(right)) for rule, documents, blocked, right in lines]
    out = ["| rule | blocked in | of them right | precision |", "|---|---|---|---|"]
    for rule, _, blocked, right in rows:
        if right < blocked:
            out.append(f"| `{rule}` | {blocked} | {right} | {right / blocked:.2f} |".replace("| 0.", "| ."))
    never = [f"`{rule}` {blocked}" for rule, _, blocked, right in rows if right == blocked]
    return (
        "\n".join(
            [*out, "", *textwrap.wrap("Right in every text: " + ", ".join(never) + ".", 120, break_on_hyphens=False)]
        )
        + "\n"
    )


def detectors_page() -> str:
    """docs/detectors.md as it is, its table of precision made again."""
    page = (ROOT / "docs/detectors.md").read_text(encoding="utf-8")
    table = precision_table((ROOT / "tools/rule_precision.txt").read_text(encoding="utf-8"))
    before, rest = page.split(PRECISION[0])
    return before + PRECISION[0] + "\n" + table + "\n" + PRECISION[1] + rest.split(PRECISION[1])[1]


KEYS = re.compile(r"(<!-- keys: ([\w.]+):(\w+) -->\n).*?(<!-- end of keys -->\n)", re.DOTALL)
KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "null"}
PLURALS = {"text": "texts", "whole number": "whole numbers", "number": "numbers", "object": "objects", "list": "lists"}
MAX_INLINE_KEYS = 6  # keys of an object that a table names; a table of its own has more


def json_page() -> str:
    """docs/json.md as it is, its tables of keys made again from the classes that their marks name."""
    page = (ROOT / "docs/json.md").read_text(encoding="utf-8")

    def table(match: re.Match[str]) -> str:
        cls = getattr(import_module(match[2]), match[3])
        return f"{match[1]}\n{key_table(cls)}\n{match[4]}"

    return KEYS.sub(table, page)


def key_table(cls: type) -> str:
    """The keys of a class's JSON in order, with the kind and the meaning of each."""
    schema = result_schema(cls)
    rows = ["| key | value | meaning |", "|---|---|---|"]
    for name, kind in schema["properties"].items():
        words = kind_words(kind)
        if name not in schema["required"]:
            words += ", if any"
        rows.append(f"| `{name}` | {words} | {cell(kind.get('description', ''))} |")
    return "\n".join(rows) + "\n"


def kind_words(schema: dict[str, Any]) -> str:
    """What a JSON schema allows, in words."""
    if "anyOf" in schema:
        return " or ".join(kind_words(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind: str | list[str] = schema.get("type", "any value")
    if isinstance(kind, list):
        return " or ".join(kind_words({**schema, "type": each}) for each in kind)
    if kind == "array" and "items" in schema:
        items = kind_words(schema["items"])
        return f"list of {PLURALS.get(items, items)}"
    if kind == "array":
        return "list"
    if kind == "object" and "properties" in schema:
        if len(schema["properties"]) > MAX_INLINE_KEYS:
            return "object"
        return "{" + ", ".join(f"`{name}`" for name in schema["properties"]) + "}"
    if kind == "object" and "additionalProperties" in schema:
        values = kind_words(schema["additionalProperties"])
        return f"object of {PLURALS.get(values, values)}"
    return KINDS.get(kind, kind)


def modules_page() -> str:
    """docs/modules.md: every module of the package with the first sentence of its docstring."""
    out = [
        "# Modules",
        "",
        "Generated from the docstrings by `make docs`. [contributing.md](contributing.md) has the map.",
    ]
    package = None
    for path in sorted((ROOT / "gitmem").rglob("*.py"), key=lambda path: (path.parent.parts, path.name)):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        first = re.split(r"(?<=\.) ", " ".join(docstring.split("\n\n")[0].split()))[0]
        if path.parent != package:
            package = path.parent
            out += ["", f"## {package.relative_to(ROOT).as_posix()}", ""]
        if first:
            out.append(f"* `{path.stem}`: {cell(first)}")
    return "\n".join(out) + "\n"


def framework_hooks() -> str:
    """.pre-commit-hooks.yaml as it is, the pattern of the paths that are scanned made again."""
    endings = "|".join(map(re.escape, AGENT_ENDINGS))
    tops = "|".join(map(re.escape, TOPS))
    texts = "|".join(map(re.escape, TEXT_ENDINGS))
    pattern = rf"(?i)(({endings})$|(^|/)skills/.*({texts})$|(^|/)memory(/|$)|(^|/)({tops})|(^|/)\.rules$|(^|/)\.gitmem"
    pattern += r"|(^|/)\.gitattributes$)"
    page = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    return re.sub(r"^  files: '.*'$", lambda match: f"  files: '{pattern}'", page, count=1, flags=re.MULTILINE)


def pages() -> dict[str, str]:
    """Path -> text of everything that is written here."""
    made = {
        "docs/cli.md": cli_page(),
        "docs/config.md": config_page(),
        "docs/detectors.md": detectors_page(),
        "docs/json.md": json_page(),
        "docs/modules.md": modules_page(),
        "man/git-mem.1": man_page(),
        ".pre-commit-hooks.yaml": framework_hooks(),
        agent_paths.PATH: agent_paths.page(),
    }
    made |= {f"hooks/{name}": shim(name) for name in (*HOOKS, *SERVER)}
    return made | {f"man/git-mem-{name}.1": command_page(name, command) for _, name, command in commands()}


def main() -> int:
    made = pages()
    old = {f"man/{path.name}" for path in (ROOT / "man").glob("*.1")} - made.keys()
    stale = sorted(old)
    for path in old if "--check" not in sys.argv else ():
        (ROOT / path).unlink()
    for path, text in made.items():
        target = ROOT / path
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            stale.append(path)
            if "--check" not in sys.argv:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"not current: {', '.join(stale)}; run 'make docs'")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
