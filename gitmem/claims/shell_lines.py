"""Extracts claims from shell lines: the scripts, targets and recipes that they call, and the paths that programs read.

Pure; a line is split at spaces and operators, and never run. `cd` sets the folder for the following lines of its block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gitmem.claims.claim import Claim, Kind, path_kind
from gitmem.claims.lines import MarkedLine
from gitmem.claims.path_words import as_path, is_file_name


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NODE = ("npm", "pnpm", "yarn", "bun")
RUNNERS = (
    "make", "gmake", "just", "task", "go-task", "poe", "cargo", "gradle", "gradlew", "deno", "composer", "pdm",
    "hatch", "rake", "mise",
)  # fmt: skip
WRAPPERS = {
    "sudo": 1, "time": 1, "env": 1, "npx": 1, "bunx": 1, "exec": 1, "nohup": 1, "dotenv": 1, "--": 1,
    "uv run": 2, "poetry run": 2, "pipenv run": 2, "pnpm exec": 2, "bundle exec": 2, "pnpm dlx": 2, "rye run": 2,
    "doppler run": 2,
}  # fmt: skip
READERS = _words(
    "pytest python python3 node tsx ts-node bash sh zsh source . cat less head tail vim code open pip pip3 go mypy "
    "ruff black docker docker-compose kubectl helm deno bun ruby php java perl lua jest vitest mocha eslint prettier "
    "playwright alembic terraform sqlite3 psql uvicorn gunicorn streamlit flask swift xcodebuild chmod cd rg grep ls "
    "wc diff shellcheck"
)
MAKERS = _words("mkdir touch rm cp mv curl wget git tee ln unzip tar rsync scp ssh echo printf export")
TOOL_WORDS = {  # words of a tool that are no script of the repository
    "npm": "install i ci add uninstall update outdated audit publish pack link init create exec view info login "
    "logout version config cache root bin prefix ls list prune dedupe rebuild whoami org team token access "
    "dist-tag deprecate owner search ping doctor explain fund help set get pkg query sbom",
    "pnpm": "install i add remove rm update up outdated audit publish pack link unlink init create exec dlx import "
    "list ls why prune rebuild store env config server fetch patch patch-commit deploy root bin setup "
    "licenses self-update approve-builds dedupe help catalog",
    "yarn": "install add remove upgrade up outdated audit publish pack link unlink init create exec dlx import list "
    "why config cache global info workspaces workspace set plugin dedupe node npm version bin run help "
    "constraints patch patch-commit rebuild search stage",
    "bun": "install i add remove rm update outdated publish pack link unlink init create x upgrade pm build test "
    "audit repl patch exec help info why",
    "cargo": "add bench build b check c clean clippy doc d fetch fix fmt generate-lockfile help init install "
    "locate-project login logout metadata miri new owner package pkgid publish remove report run r rustc "
    "rustdoc search test t tree uninstall update vendor verify-project version yank",
    "deno": "run test fmt lint check compile bench cache install uninstall serve doc eval info init repl upgrade "
    "types task publish add remove",
}  # fmt: skip
LIFECYCLE = {"test", "t", "start", "stop", "restart"}  # scripts that npm runs without `run`
_OTHER_PACKAGES = _words("--filter -F --workspace -w --workspaces -ws -r --recursive -g --global")
_CARGO_OPTIONS = {
    "-p": "crate", "--package": "crate", "--bin": "binary", "--example": "example", "--test": "rust-test",
}  # fmt: skip
VALUED = _words(
    "-C --prefix --dir --cwd --filter -F --workspace -w -f --file --makefile --justfile -j -p --package --bin "
    "--example --test --features -m --manifest-path -n -k --config -c --project --target --profile --env -e -x -d "
    "--working-directory --mode --port --host --reporter -t --taskfile"
)
_OPERATOR = re.compile(r"\s*(?:&&|\|\||;|\||(?<!\S)&(?!\S))\s*")
_PROMPT = re.compile(r"^\s*(?:[$❯➜»]|>(?=\s\w)|PS [^>]*>|!)\s+|^\s*!(?=`?\w)")
# A quoted argument with spaces or operators in it.
_QUOTED = re.compile(r"(?<![^\s=(])(?:\"[^\"\n]*[\s;&|][^\"\n]*\"|'[^'\n]*[\s;&|][^'\n]*')(?![^\s;)])")
_ASSIGNED = re.compile(r"^[A-Za-z_]\w*=")
_TARGET = re.compile(r"^[A-Za-z][\w.:/@+-]*$")


def claims_of(lines: Sequence[MarkedLine], is_shell: bool) -> Iterator[Claim]:
    """The claims of a fenced block: the scripts and targets that its commands call, and the paths they read.
    `is_shell`: its language is a shell; otherwise only lines with a prompt (`$`) or a known program are read."""
    folder = ""
    for line in lines:
        text = _PROMPT.sub("", line.text)
        prompted = text != line.text
        if text.lstrip().startswith(("#", "//", "<")):
            continue
        for words in _commands(text):
            if not (is_shell or prompted or _runs(words)):
                continue
            yield from _command(line, words, folder)
            folder = _entered(words, folder)


def span_claims(line: MarkedLine, text: str) -> Iterator[Claim]:
    """The claims of a code span whose commands have at least two words each and call a program that this module knows
    or a file of the repository; reading stops at a command that does not."""
    folder = ""
    text = _PROMPT.sub("", text)
    for words in _commands(text):
        if len(_unwrapped(words)) < 2 or not _runs(words):
            return
        yield from _command(line, words, folder)
        folder = _entered(words, folder)


def _commands(text: str) -> Iterator[list[str]]:
    """The words of each command of a line, without comments; a quoted argument with spaces becomes `''`."""
    text = _QUOTED.sub("''", re.sub(r"(?:^|\s)#(?:\s.*|$)", "", text))
    for part in _OPERATOR.split(text.strip().rstrip("\\")):
        if words := part.split():
            yield words


def _unwrapped(words: list[str]) -> list[str]:
    """The words of a command without leading assignments and wrappers (`sudo`, `uv run`)."""
    while words:
        width = WRAPPERS.get(" ".join(words[:2]), 0) or WRAPPERS.get(words[0], 0)
        if _ASSIGNED.match(words[0]):
            width = 1
        if not width:
            return words
        words = words[width:]
        while words and words[0].startswith("-") and width:
            words = words[1:]
    return words


def _program(words: list[str]) -> str:
    """The name of the program that the first word calls, without folders and without `.bat` or `.cmd`."""
    name = words[0].replace("\\", "/").rsplit("/", 1)[-1]
    return name.removesuffix(".bat").removesuffix(".cmd")


def _runs(words: list[str]) -> bool:
    """Whether the first word is a program that this module knows, or a file of the repository."""
    words = _unwrapped(words)
    if not words:
        return False
    name = _program(words)
    return name in NODE or name in RUNNERS or name in READERS or words[0].startswith("./")


def _entered(words: list[str], folder: str) -> str:
    """The current folder after a command: a new one after `cd`, "?" if it cannot be known."""
    if words[0] != "cd" or len(words) < 2:
        return folder
    path = words[1].strip("'\"").rstrip("/")
    if path.startswith(("/", "~", "$", "-", "<")) or "<" in path:
        return "?"
    parts = [part for part in folder.split("/") if part]
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _command(line: MarkedLine, words: list[str], folder: str) -> Iterator[Claim]:
    """The claims of one command: its script or target, its program if that is a path, and its arguments. Nothing if
    `folder` begins with "?" (not known)."""
    words = _unwrapped(words)
    if not words or folder.startswith("?"):
        return
    name = _program(words)
    if name in NODE:
        yield from _node(line, name, words, folder)
    elif name in RUNNERS:
        yield from _runner(line, name, words, folder)
    if words[0].startswith("./") or (("/" in words[0]) and is_file_name(words[0].rsplit("/", 1)[-1])):
        yield from _argument(line, words[0], folder, name in READERS or words[0].startswith("./"))
    if name == "cd" and len(words) > 1 and (path := as_path(words[1].rstrip("/") + "/")):
        yield Claim(line, words[1], Kind.DIRECTORY, path.rstrip("/"), folder=folder)
    elif name not in MAKERS:
        yield from _arguments(line, name, words[1:], folder)


def _arguments(line: MarkedLine, name: str, words: list[str], folder: str) -> Iterator[Claim]:
    """Claims for the arguments of a program that look like paths, and for the dotted module after `python -m`.

    Options are skipped, and so is the word after `-o`, `>`, `--output` and the like, which the program writes.
    """
    is_output = False
    is_module = False
    for word in words:
        if is_module and re.fullmatch(r"[a-z_]\w*(?:\.\w+)+", word) and name.startswith("python"):
            yield Claim(line, word, Kind.PATH, word.replace(".", "/"), plain=False, folder=folder)
        is_module = word == "-m"
        if not is_output and not word.startswith("-"):
            yield from _argument(line, word, folder, name in READERS or name in ("go", "cargo"))
        is_output = word in ("-o", ">", ">>", "--output", "--out", "-O", "--outfile", "--outdir", "-D", "--report")


def _argument(line: MarkedLine, word: str, folder: str, is_read: bool) -> Iterator[Claim]:
    """The claim that an argument is a path, if it has the form of one; `is_read`: whether the command reads it."""
    bare = word.strip("'\"()")
    if "=" in bare or not ("/" in bare or is_file_name(bare)):
        return
    bare = bare.removesuffix("/...").removesuffix("...")
    if path := as_path(bare):
        yield Claim(line, bare, path_kind(path), path, plain=is_read, folder=folder)


def _options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Split arguments into options (name -> value, "" without one) and other words. Reading stops at `--`; an option of
    VALUED at the very end is dropped."""
    values: dict[str, str] = {}
    others: list[str] = []
    key = ""
    for word in words:
        if word == "--":
            break
        if key:
            values[key], key = word.strip("'\""), ""
        elif word.startswith("-") and len(word) > 1:
            name, equal, value = word.partition("=")
            if equal:
                values[name] = value.strip("'\"")
            elif word in VALUED:
                key = word
            else:
                values[word] = ""
        else:
            others.append(word)
    return values, others


class _Place(NamedTuple):
    """The folder in which a tool runs. `stated`: whether an option or a `cd` sets it in the command line itself."""

    folder: str
    stated: bool


def _inside(folder: str, values: dict[str, str], *names: str) -> _Place:
    """The folder in which a tool runs. `values`: its options. `names`: the options that set the folder."""
    for name in names:
        if value := values.get(name, ""):
            path = value.removeprefix("./").strip("/")
            return _Place(f"{folder}/{path}".lstrip("/"), True)
    return _Place(folder, bool(folder))


def _node(line: MarkedLine, name: str, words: list[str], folder: str) -> Iterator[Claim]:
    """The claim that package.json defines the script that npm, yarn, pnpm or bun is to run. None for a built-in command
    or a script file."""
    values, arguments = _options(words[1:])
    elsewhere = bool(values.keys() & _OTHER_PACKAGES)
    place = _inside(folder, values, "-C", "--prefix", "--dir", "--cwd")
    if name == "yarn" and arguments[:1] == ["workspace"]:
        elsewhere, arguments = True, arguments[2:]
    has_run = arguments[:1] in (["run"], ["run-script"], ["rum"])
    if has_run:
        arguments = arguments[1:]
    script = next(iter(arguments), "")
    if script == "t":
        script = "test"
    if not _TARGET.match(script) or script.endswith((".ts", ".js", ".tsx", ".py", ".mjs", ".cjs")):
        return
    if not has_run and (script in TOOL_WORDS[name].split() or (name == "npm" and script not in LIFECYCLE)):
        return
    if name == "bun" and ("/" in script or "." in script):
        return
    if elsewhere:
        place = _Place("*", False)
    sure = (has_run and name != "bun") or (name == "npm" and script in LIFECYCLE)
    tool = "node?" if not sure else "node"
    yield Claim(line, _text(line, words, script), Kind.COMMAND, script, sure, tool, *place)


def _runner(line: MarkedLine, name: str, words: list[str], folder: str) -> Iterator[Claim]:
    """The claims that the targets, recipes or tasks that a command calls are defined."""
    values, arguments = _options(words[1:])
    if name in ("make", "gmake"):
        place = _inside(folder, values, "-C", "--directory")
        yield from _targets(line, words, arguments, "make", place, names_file="-f" in values)
    elif name == "just":
        place = _inside(folder, values, "-d", "--working-directory")
        yield from _targets(line, words, arguments[:1], "just", place, names_file="-f" in values)
    elif name in ("task", "go-task"):
        place = _inside(folder, values, "-d", "--dir")
        yield from _targets(line, words, arguments[:1], "task", place, names_file="-t" in values)
    elif name in ("poe", "rake"):
        yield from _targets(line, words, arguments[:1], name, _Place(folder, bool(folder)))
    elif name in ("deno", "composer", "pdm", "mise") and arguments[:1] in (["task"], ["run"], ["run-script"]):
        if name != "deno" or arguments[0] == "task":
            yield from _targets(line, words, arguments[1:2], name, _Place(folder, bool(folder)))
    elif name == "cargo":
        yield from _cargo(line, words, values, arguments, folder)
    elif name in ("gradle", "gradlew"):
        for word in arguments:
            module = word.strip("'\"").rpartition(":")[0].strip(":")
            if module and re.fullmatch(r"[\w.:-]+", module):
                yield Claim(line, word, Kind.COMMAND, module, tool="gradle")


def _targets(
    line: MarkedLine, words: list[str], targets: list[str], tool: str, place: _Place, *, names_file: bool = False
) -> Iterator[Claim]:
    """A claim for each target. `names_file`: the command line names the file with the targets, which need not be one
    that is read; there are no claims then."""
    for target in targets:
        if _TARGET.match(target) and not names_file:
            target = target.rstrip(".,;:")
            yield Claim(line, _text(line, words, target), Kind.COMMAND, target, True, tool, *place)


def _cargo(line: MarkedLine, words: list[str], values: dict[str, str], args: list[str], folder: str) -> Iterator[Claim]:
    """The claims of a `cargo` command: the values of options such as `--bin`, and a subcommand that Cargo does not have
    itself."""
    for option, tool in _CARGO_OPTIONS.items():
        name = values.get(option, "")
        if re.fullmatch(r"[\w-]+", name):
            yield Claim(line, f"{option} {name}", Kind.COMMAND, name, True, tool, folder)
    word = next((word for word in args if not word.startswith("+")), "")
    if word and _TARGET.match(word) and word not in TOOL_WORDS["cargo"].split():
        yield Claim(line, _text(line, words, word), Kind.COMMAND, word, word == "xtask", "cargo", folder)


def _text(line: MarkedLine, words: list[str], script: str) -> str:
    """The command up to its `script`, if the line has it in these words; else `script`."""
    index = next((index for index, word in enumerate(words) if index and word.rstrip(".,;:") == script), 0)
    text = " ".join(words[: index + 1])
    return text if index and text in line.text else script
