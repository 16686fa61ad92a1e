"""What a shell line asks of the repository: a script, a target, a recipe, and the paths that its programs read.

Pure; a line is split by its spaces and operators and never run. `cd` chooses the folder of what follows in its block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gitmem.claims.claim import Claim, Kind
from gitmem.claims.lines import MarkedLine
from gitmem.claims.path_words import file_name, spelled


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NODE = ("npm", "pnpm", "yarn", "bun")
RUNNERS = (
    "make",
    "gmake",
    "just",
    "task",
    "go-task",
    "poe",
    "cargo",
    "gradle",
    "gradlew",
    "deno",
    "composer",
    "pdm",
    "hatch",
    "rake",
    "mise",
)
WRAPPERS = {
    "sudo": 1, "time": 1, "env": 1, "npx": 1, "bunx": 1, "exec": 1, "nohup": 1, "dotenv": 1, "--": 1,
    "uv run": 2, "poetry run": 2, "pipenv run": 2, "pnpm exec": 2, "bundle exec": 2, "pnpm dlx": 2, "rye run": 2,
    "doppler run": 2,
}  # fmt: skip
READERS = _words(
    "pytest python python3 node tsx ts-node bash sh zsh source . cat less head tail vim code open pip pip3 go mypy "
    "ruff black "
    "docker docker-compose kubectl helm deno bun ruby php java perl lua jest vitest mocha eslint prettier playwright "
    "alembic "
    "terraform sqlite3 psql uvicorn gunicorn streamlit flask swift xcodebuild chmod cd rg grep ls wc diff shellcheck"
)
MAKERS = _words("mkdir touch rm cp mv curl wget git tee ln unzip tar rsync scp ssh echo printf export")
TOOL_WORDS = {  # words of a tool that are no script of the repository
    "npm": "install i ci add uninstall update outdated audit publish pack link init create exec view info login "
    "logout version config cache "
    "root bin prefix ls list prune dedupe rebuild whoami org team token access dist-tag deprecate owner search ping "
    "doctor explain fund help set get pkg query sbom",
    "pnpm": "install i add remove rm update up outdated audit publish pack link unlink init create exec dlx import "
    "list ls why prune rebuild store "
    "env config server fetch patch patch-commit deploy root bin setup licenses self-update approve-builds dedupe "
    "help catalog",
    "yarn": "install add remove upgrade up outdated audit publish pack link unlink init create exec dlx import list "
    "why config cache global info "
    "workspaces workspace set plugin dedupe node npm version bin run help constraints patch patch-commit rebuild "
    "search stage",
    "bun": "install i add remove rm update outdated publish pack link unlink init create x upgrade pm build test "
    "audit repl patch exec help info why",
    "cargo": "add bench build b check c clean clippy doc d fetch fix fmt generate-lockfile help init install "
    "locate-project login logout metadata miri "
    "new owner package pkgid publish remove report run r rustc rustdoc search test t tree uninstall update vendor "
    "verify-project version yank",
    "deno": "run test fmt lint check compile bench cache install uninstall serve doc eval info init repl upgrade "
    "types task publish add remove",
}  # fmt: skip
LIFECYCLE = {"test", "t", "start", "stop", "restart"}
VALUED = _words(
    "-C --prefix --dir --cwd --filter -F --workspace -w -f --file --makefile --justfile -j -p --package --bin "
    "--example --test --features -m --manifest-path "
    "-n -k --config -c --project --target --profile --env -e -x -d --working-directory --mode --port --host "
    "--reporter -t --taskfile"
)
_OPERATOR = re.compile(r"\s*(?:&&|\|\||;|\||(?<!\S)&(?!\S))\s*")
_PROMPT = re.compile(r"^\s*(?:[$❯➜»]|>(?=\s\w)|PS [^>]*>|!)\s+|^\s*!(?=`?\w)")
_QUOTED = re.compile(
    r"(?<![^\s=(])(?:\"[^\"\n]*[\s;&|][^\"\n]*\"|'[^'\n]*[\s;&|][^'\n]*')(?![^\s;)])"
)  # words that are one
_ASSIGNED = re.compile(r"^[A-Za-z_]\w*=")
_TARGET = re.compile(r"^[A-Za-z][\w.:/@+-]*$")


def claims_of(lines: Sequence[MarkedLine], told: bool) -> Iterator[Claim]:
    """The claims of a fenced block; `told`: its language says that it is a shell's."""
    folder = ""
    for line in lines:
        text = _PROMPT.sub("", line.text)
        prompted = text != line.text
        if text.lstrip().startswith(("#", "//", "<")):
            continue
        for words in _commands(text):
            if not (told or prompted or _runs(words)):
                continue
            yield from _command(line, words, folder)
            folder = _entered(words, folder)


def span_claims(line: MarkedLine, text: str) -> Iterator[Claim]:
    """The claims of a code span, if it is a command of two words at least."""
    folder = ""
    text = _PROMPT.sub("", text)
    for words in _commands(text):
        if len(_unwrapped(words)) < 2 or not _runs(words):
            return
        yield from _command(line, words, folder)
        folder = _entered(words, folder)


def _commands(text: str) -> Iterator[list[str]]:
    text = _QUOTED.sub("''", re.sub(r"(?:^|\s)#(?:\s.*|$)", "", text))
    for part in _OPERATOR.split(text.strip().rstrip("\\")):
        if words := part.split():
            yield words


def _unwrapped(words: list[str]) -> list[str]:
    """The words of the program that is run at last, behind assignments and programs that run others."""
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
    """The folder after a command."""
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
    words = _unwrapped(words)
    if not words or folder.startswith("?"):
        return
    name = _program(words)
    if name in NODE:
        yield from _node(line, name, words, folder)
    elif name in RUNNERS:
        yield from _runner(line, name, words, folder)
    if words[0].startswith("./") or (("/" in words[0]) and file_name(words[0].rsplit("/", 1)[-1])):
        yield from _argument(line, words[0], folder, name in READERS or words[0].startswith("./"))
    if name == "cd" and len(words) > 1 and (path := spelled(words[1].rstrip("/") + "/")):
        yield Claim(line, words[1], Kind.DIRECTORY, path.rstrip("/"), folder=folder)
    elif name not in MAKERS:
        yield from _arguments(line, name, words[1:], folder)


def _arguments(line: MarkedLine, name: str, words: list[str], folder: str) -> Iterator[Claim]:
    """The paths that a program is given, but for those it writes to."""
    written = False
    module = False
    for word in words:
        if module and re.fullmatch(r"[a-z_]\w*(?:\.\w+)+", word) and name.startswith("python"):
            yield Claim(line, word, Kind.PATH, word.replace(".", "/"), plain=False, folder=folder)
        module = word == "-m"
        if not written and not word.startswith("-"):
            yield from _argument(line, word, folder, name in READERS or name in ("go", "cargo"))
        written = word in ("-o", ">", ">>", "--output", "--out", "-O", "--outfile", "--outdir", "-D", "--report")


def _argument(line: MarkedLine, word: str, folder: str, read: bool) -> Iterator[Claim]:
    bare = word.strip("'\"()")
    if "=" in bare or not ("/" in bare or file_name(bare)):
        return
    bare = bare.removesuffix("/...").removesuffix("...")
    if path := spelled(bare):
        if file_name(path.rstrip("/").rsplit("/", 1)[-1]):
            kind = Kind.PATH
        else:
            kind = Kind.DIRECTORY
        yield Claim(line, bare, kind, path, plain=read, folder=folder)


def _options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """(options that have values, what is no option)."""
    values: dict[str, str] = {}
    rest: list[str] = []
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
            rest.append(word)
    return values, rest


def _inside(folder: str, values: dict[str, str], *names: str) -> tuple[str, bool]:
    """(the folder that options name, whether they do)."""
    for name in names:
        if value := values.get(name, ""):
            path = value.removeprefix("./").strip("/")
            return (f"{folder}/{path}" if folder else path), True
    return folder, bool(folder)


def _node(line: MarkedLine, name: str, words: list[str], folder: str) -> Iterator[Claim]:
    """The claim that package.json has the script that npm, yarn, pnpm or bun is asked to run."""
    values, rest = _options(words[1:])
    other = any(
        key in values
        for key in ("--filter", "-F", "--workspace", "-w", "--workspaces", "-ws", "-r", "--recursive", "-g", "--global")
    )
    folder, told = _inside(folder, values, "-C", "--prefix", "--dir", "--cwd")
    if name == "yarn" and rest[:1] == ["workspace"]:
        other, rest = True, rest[2:]
    run = bool(rest) and rest[0] in ("run", "run-script", "rum")
    if run:
        after_run = rest[1:]
    else:
        after_run = rest
    script = ""
    if after_run:
        script = after_run[0]
    if script == "t":
        script = "test"
    if (
        not script
        or not _TARGET.match(script)
        or script.endswith((".ts", ".js", ".tsx", ".py", ".mjs", ".cjs"))
        or "*" in script
    ):
        return
    if not run and (script in TOOL_WORDS[name].split() or (name == "npm" and script not in LIFECYCLE)):
        return
    sure = (run and name != "bun") or (name == "npm" and script in LIFECYCLE)
    tool = "node?"
    if sure:
        tool = "node"
    if name == "bun" and ("/" in script or "." in script):
        return
    if other:
        where = "*"
    else:
        where = folder
    yield Claim(line, _text(line, words, script), Kind.COMMAND, script, sure, tool, where, told and not other)


def _runner(line: MarkedLine, name: str, words: list[str], folder: str) -> Iterator[Claim]:
    values, rest = _options(words[1:])
    if name in ("make", "gmake"):
        yield from _targets(
            line, words, rest, "make", *_inside(folder, values, "-C", "--directory"), named="-f" in values
        )
    elif name == "just":
        yield from _targets(
            line, words, rest[:1], "just", *_inside(folder, values, "-d", "--working-directory"), named="-f" in values
        )
    elif name in ("task", "go-task"):
        yield from _targets(
            line, words, rest[:1], "task", *_inside(folder, values, "-d", "--dir"), named="-t" in values
        )
    elif name in ("poe", "rake"):
        yield from _targets(line, words, rest[:1], name, folder, bool(folder))
    elif name in ("deno", "composer", "pdm", "mise") and rest[:1] in (["task"], ["run"], ["run-script"]):
        if name != "deno" or rest[0] == "task":
            yield from _targets(line, words, rest[1:2], name, folder, bool(folder))
    elif name == "cargo":
        yield from _cargo(line, words, values, rest, folder)
    elif name in ("gradle", "gradlew"):
        for word in rest:
            module = word.strip("'\"").rpartition(":")[0].strip(":")
            if module and re.fullmatch(r"[\w.:-]+", module):
                yield Claim(line, word, Kind.COMMAND, module, tool="gradle")


def _targets(
    line: MarkedLine, words: list[str], targets: list[str], tool: str, folder: str, told: bool, *, named: bool = False
) -> Iterator[Claim]:
    for target in targets:
        if _TARGET.match(target) and not target.startswith("--") and not named and "=" not in target:
            target = target.rstrip(".,;:")
            yield Claim(line, _text(line, words, target), Kind.COMMAND, target, True, tool, folder, told)


def _cargo(line: MarkedLine, words: list[str], values: dict[str, str], rest: list[str], folder: str) -> Iterator[Claim]:
    for option, tool in (
        ("-p", "crate"),
        ("--package", "crate"),
        ("--bin", "binary"),
        ("--example", "example"),
        ("--test", "rust-test"),
    ):
        name = values.get(option, "")
        if name and re.fullmatch(r"[\w-]+", name):
            yield Claim(line, f"{option} {name}", Kind.COMMAND, name, True, tool, folder)
    word = next((word for word in rest if not word.startswith("+")), "")
    if word and _TARGET.match(word) and word not in TOOL_WORDS["cargo"].split():
        yield Claim(line, _text(line, words, word), Kind.COMMAND, word, word == "xtask", "cargo", folder)


def _text(line: MarkedLine, words: list[str], last: str) -> str:
    """The command up to its script, as it stands in the line."""
    at = next((at for at, word in enumerate(words) if at and word.rstrip(".,;:") == last), 0)
    if at:
        text = " ".join(words[: at + 1])
    else:
        text = last
    if text in line.text:
        return text
    return last
