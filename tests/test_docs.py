"""The documentation says what the code does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from gitmem.cli.command_registry import COMMANDS, EVERYDAY, SECTIONS, SUMMARIES
from gitmem.cli.main import ALL_COMMANDS, SUMMARY, main_command
from gitmem.config.settings import SETTINGS, git_name
from gitmem.errors import Exit
from gitmem.json_schema import result_schema
from tests.harness import SOURCE

PAGES = [*sorted((SOURCE / "docs").rglob("*.md")), SOURCE / "README.md"]


def test_generated_pages_are_current() -> None:
    done = subprocess.run([sys.executable, "tools/docs.py", "--check"], cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "| `--help` |" not in (SOURCE / "docs/cli.md").read_text(encoding="utf-8")  # every command has it


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a JSON value, with those inside them."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from objects_in(item)


def examples_of(section: str) -> list[Any]:
    """The JSON of the indented blocks of a section of docs/json.md; `...` stands for what is left out."""
    examples = []
    for block in re.findall(r"(?:^    .*\n)+", section, re.MULTILINE):
        text = re.sub(r"\{ ?\.\.\. ?\}", "{}", re.sub(r"\[ ?\.\.\. ?\]", "[]", block))
        text = re.sub(r", \.\.\.(?=[\]},])", "", text)
        if not text.lstrip().startswith(("{", "[")):
            text = f"{{{text}}}"
        examples.append(json.loads(text))
    return examples


def test_the_examples_of_json_have_the_keys_that_the_code_writes_in_their_order() -> None:
    without = []
    for section in (SOURCE / "docs/json.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        written = [value for example in examples_of(section) for value in objects_in(example)]
        for module, name in re.findall(r"<!-- keys: ([\w.]+):(\w+) -->", section):
            schema = result_schema(getattr(import_module(module), name))
            examples = [value for value in written if set(schema["required"]) <= set(value)]
            for value in examples:
                order = [key for key in schema["properties"] if key in value]
                assert [key for key in value if key in schema["properties"]] == order, name
            if not examples:
                without.append(name)
    assert len(without) <= 5, f"these have no example: {without}"


def test_every_command_has_one_section_a_file_and_a_help_text() -> None:
    import click

    names = [name for section in SECTIONS.values() for name in section]
    assert len(names) == len(set(names)) and set(names) == set(COMMANDS)
    context = click.Context(main_command, info_name="git mem")
    for name in main_command.list_commands(context):
        command = main_command.get_command(context, name)
        assert command is not None and command.help, name
        first = command.help.strip().split("\n\n")[0]
        assert first.rstrip().endswith("."), name
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.help and parameter.help[0].isupper() | parameter.help[0].islower(), (
                    name,
                    parameter.name,
                )


def test_a_summary_is_one_sentence_that_fits_a_line_of_80_columns() -> None:
    import click

    def check(group: click.Group, width: int) -> None:
        context = click.Context(group, info_name="x", terminal_width=80)
        for name in group.list_commands(context):
            each = group.get_command(context, name)
            assert each is not None and each.help
            sentence = " ".join(each.help.strip().split("\n\n")[0].split())
            if not each.hidden:
                assert each.get_short_help_str(width) == sentence and sentence.endswith("."), name
                assert sentence[0].isupper() and ". " not in sentence, name
            if isinstance(each, click.Group) and not each.hidden:
                check(each, 78 - 6 - max(map(len, each.list_commands(context))))

    check(main_command, SUMMARY)
    context = click.Context(main_command, info_name="git mem", terminal_width=80)
    context.meta[ALL_COMMANDS] = True
    rows = [line for line in main_command.get_help(context).splitlines() if re.match(r"  [a-z][a-z-]*  ", line)]
    assert len(rows) == len(SHOWN) and all(line.endswith(".") for line in rows)


def test_every_summary_of_the_registry_is_that_of_its_command() -> None:
    import click

    context = click.Context(main_command, info_name="git mem", terminal_width=80)
    for name, summary in SUMMARIES.items():
        command = main_command.get_command(context, name)
        assert command is not None and (command.hidden or command.get_short_help_str(SUMMARY) == summary)
        assert command.hidden == (summary == "")


def test_the_first_help_lists_everyday_commands_and_imports_none_of_them() -> None:
    code = (
        "import sys; from gitmem.cli.main import run; code = run(['-h']);"
        "print(*[name for name in sys.modules if name.startswith('gitmem.cli.commands')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=SOURCE, capture_output=True, text=True)
    assert done.stderr.strip() == ""
    rows = re.findall(r"^  ([a-z][a-z-]*)  ", done.stdout, re.MULTILINE)
    assert rows == [*EVERYDAY] and "git mem help --all" in done.stdout


SHOWN = {name for name in COMMANDS if name not in ("hook", "action")}


def test_every_command_has_a_man_page_that_the_one_page_names() -> None:
    overview = (SOURCE / "man/git-mem.1").read_text(encoding="utf-8")
    assert {path.name for path in (SOURCE / "man").iterdir()} == {"git-mem.1", *(f"git-mem-{name}.1" for name in SHOWN)}
    for name in SHOWN:
        assert "git\\-mem\\-" + name.replace("-", "\\-") + " (1)" in overview


# Commands that take no --json, and writers that take no --dry-run, with the reason.
NO_JSON = {
    "ui": "serves pages", "mcp": "serves", "watch": "runs on", "help": "is text", "completion": "is a script",
    "merge-driver": "is Git's", "session compact": "writes a transcript", "session prune": "writes a transcript",
    "session hook": "answers as the host asks", "server dev": "serves", "server run": "serves",
    "server migrate": "says one line", "server rebuild": "says one line", "server token": "is the token alone",
}  # fmt: skip
READING = {
    "search", "seen", "show", "log", "changes", "bisect", "why", "scan", "verify", "review", "receipts", "status", "doctor",
    "eval",
    "check", "config", "session get", "session list", "session start", "profile list", "server audit", "server jobs", *NO_JSON,
}  # fmt: skip
NO_DRY_RUN = {
    "confirm": "as edit",
    "edit": "writes the one line it is given; git mem undo takes it back",
    "publish": "git mem review shows it before",
    "index": "is disposable",
    "session flush": "appends only; git mem undo takes it back",
    "session end": "as flush",
    "session set": "writes the one value it is given",
    "server approximate": "its other run is --drop",
    "server repositories": "writes the one row it is given",
    "profile add": "says what it made",
    "profile remove": "removes no file",
    "profile switch": "is switched back",
}


def test_every_command_has_one_shape() -> None:
    """Who answers takes --json, who writes takes --dry-run; one flag has one meaning, one spelling and one metavar."""
    import click

    spellings: dict[str, set[tuple[str, ...]]] = {}
    seen = set()

    def look(name: str, command: click.Command) -> None:
        if isinstance(command, click.Group):
            for sub, each in command.commands.items():
                look(f"{name} {sub}", each)
            return
        seen.add(name)
        options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
        flags = {flag for option in options for flag in option.opts}
        assert ("--json" in flags) != (name in NO_JSON), f"{name}: --json"
        assert ("--dry-run" in flags) == (name not in {*READING, *NO_DRY_RUN}), f"{name}: --dry-run"
        for option in options:
            for flag in option.opts:
                spellings.setdefault(flag, set()).add(tuple(option.opts))

    context = click.Context(main_command, info_name="git mem")
    for name in SHOWN:
        command = main_command.get_command(context, name)
        assert command is not None
        look(name, command)
    assert {*READING, *NO_DRY_RUN} <= seen
    assert not {flag: spelled for flag, spelled in spellings.items() if len(spelled) > 1}


def test_every_setting_and_exit_code_has_its_place() -> None:
    settings = (SOURCE / "docs/config.md").read_text(encoding="utf-8")
    for name in SETTINGS:
        assert f"`{git_name(name)}`" in settings
    cli = (SOURCE / "docs/cli.md").read_text(encoding="utf-8")
    for code in Exit:
        assert re.search(rf"(?m)^\| {int(code)} \|", cli)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page) -> None:  # type: ignore[no-untyped-def]
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_page_for_people_is_linked_from_the_readme() -> None:
    linked = set(re.findall(r"\]\(docs/([\w-]+\.md)\)", (SOURCE / "README.md").read_text("utf-8")))
    assert {page.name for page in (SOURCE / "docs").glob("*.md")} == linked


def test_commands_named_in_the_docs_exist() -> None:
    import click

    context = click.Context(main_command, info_name="git mem")
    known = set(main_command.list_commands(context))
    for page in PAGES:
        for name in re.findall(r"(?m)(?:^\s*\$?\s*|`)git mem ([a-z][a-z-]+)", page.read_text(encoding="utf-8")):
            assert name in known, f"{page.name}: git mem {name}"


def test_every_package_has_its_place_in_the_design() -> None:
    design = (SOURCE / "docs/design.md").read_text(encoding="utf-8")
    for path in sorted((SOURCE / "gitmem").iterdir()):
        if (path.suffix == ".py" or (path / "__init__.py").exists()) and not path.name.startswith("__"):
            assert f"`{path.stem}`" in design, path.stem


def test_every_threat_names_tests_that_are_there() -> None:
    rows = re.findall(r"^\| (A\d+) \|(.*)\|$", (SOURCE / "docs" / "threats.md").read_text(encoding="utf-8"), re.M)
    assert {f"A{number}" for number in range(1, len(rows) + 1)} == {row for row, _ in rows}
    for row, words in rows:
        named = re.findall(r"`((?:tests|bench)/[^`]*)`", words)
        assert named and all((SOURCE / path).exists() for path in named), row
        assert any(path.startswith("tests/") for path in named), row


def test_the_glossary_has_only_words_that_the_code_uses() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (SOURCE / "gitmem").rglob("*.py")).casefold()
    rows = re.findall(r"(?m)^\| ([^|]+) \|", (SOURCE / "docs/glossary.md").read_text(encoding="utf-8"))
    words = [word for row in rows if row not in ("word", "---") for word in row.split(", ")]
    assert len(words) > 40
    assert not [word for word in words if not re.search(rf"\b{re.escape(word)}", source)]


def test_every_rule_of_the_gate_has_a_heading() -> None:
    from gitmem.gate.detectors.registry import DETECTORS
    from tests.detector_examples import examples

    text = (SOURCE / "docs/detectors.md").read_text(encoding="utf-8")
    for rule in (rule for name in DETECTORS for rule in examples(name)):
        assert f"`{rule}`" in text or f"# {rule}" in text, rule


def test_a_rule_that_is_right_in_less_than_half_of_the_texts_it_blocked_in_only_warns() -> None:
    from gitmem.gate.detectors.registry import DETECTORS, load
    from gitmem.gate.detectors.text import Severity, Text
    from tests.detector_examples import examples

    detector_of = {rule: name for name in DETECTORS for rule in examples(name)}
    lines = (SOURCE / "tools/rule_precision.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    assert len(rows) > 20
    for rule, documents, blocked, right in rows:
        assert rule in detector_of and int(documents) > 1000 and 0 <= int(right) <= int(blocked)
        if 2 * int(right) < int(blocked):
            name = detector_of[rule]
            found = [match for flagged in examples(name)[rule].flag for match in load(name)(Text(flagged))]
            assert all(match.severity is Severity.WARN for match in found if match.rule == rule), rule


def test_the_map_of_the_packages_names_modules_that_are_there() -> None:
    page = (SOURCE / "docs/contributing.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z]+)/` \| .* \| (.*) \|$", page, re.M)
    packages = {path.name for path in (SOURCE / "gitmem").iterdir() if (path / "__init__.py").exists()}
    assert {package for package, _ in rows} == packages
    for package, names in rows:
        for name in re.findall(r"`([\w/]+?)/?`", names):
            place = SOURCE / "gitmem" / package / name
            assert place.is_dir() or place.with_suffix(".py").exists(), (package, name)
