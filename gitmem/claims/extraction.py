"""The claims that the lines of one file make: code spans, links, imports, bare words, shell lines, diagrams.

Pure. Everything that may be a claim comes out, marked with how plainly it is said; which of them may be spoken of is
decided where they are compared with a tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from gitmem.claims import shell_lines, tree_diagrams
from gitmem.claims.claim import Claim, Kind
from gitmem.claims.lines import MarkedLine, marked_lines
from gitmem.claims.path_words import file_name, spelled
from gitmem.claims.versions import TOOL

PREFIX = "prefix"  # the tool of a claim that is the folder before a part to fill in
LINK = "link"  # the tool of a claim that is what a link leads to
MAX_CLAIMS_PER_FILE = 4_000  # claims of one file
SHELLS = ("", "bash", "sh", "shell", "zsh", "console", "shell-session", "text", "terminal", "fish", "powershell")
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
_IMPORT = re.compile(
    r"(?:^|(?<=\s))@((?:\.{0,2}/)?[\w.-]+(?:/[\w.-]+)*\.[A-Za-z]\w*|(?:\.{0,2}/)?[\w.-]+(?:/[\w.-]+)+)"
)
_BARE = re.compile(r"(?<![\w`/@.:~$\\-])(?:\.{0,2}/)?[\w.@+*-]+(?:[/\\][\w.@+*\[\]{},()-]+)*/?(?![\w`])")
_ENVIRONMENT = re.compile(r"(?<![\w/.-])\$?\{?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b(?![\w./-]*\.\w)")
_PORT = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{2,5})\b|\bport[s]?[ =:]+`?(\d{4,5})\b", re.IGNORECASE)
_TO_FILL_IN = re.compile(r"^((?:[\w.@-]+/)+[\w.@-]+)/[\w.-]*[<{\[$*]")
_NOT_OF_TOOL = re.compile(r"\b(?:SDK|API|CLI|[Cc]lient|[Dd]river|[Pp]lugin|[Bb]indings?)\s+$")  # "SDK Java 2.25"
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_HUMPS = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|[A-Za-z0-9]_[A-Za-z0-9]")
_HOST_NAME = re.compile(r"^www\.|\.(?:com|org|net|io|dev|ai|app|co|sh|cc|me)$")
_SYMBOL = re.compile(
    r"^[@#&*]?([A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*)(?:<[^<>]*>)?(\((?:[^()]|\([^()]*\))*\))?[;!?]?$"
)


def claims_of(text: str) -> list[Claim]:
    """The claims of a file's text, in the order of its lines, each once a line."""
    found: list[Claim] = []
    lines = list(marked_lines(text))
    for block, group in groupby(lines, key=lambda line: line.block):
        members = list(group)
        if not block:
            for line in members:
                found += _prose(line)
        else:
            found += _block(members)
        if len(found) > MAX_CLAIMS_PER_FILE:
            break
    seen: set[tuple[int, str, Kind]] = set()
    once: list[Claim] = []
    for claim in found[:MAX_CLAIMS_PER_FILE]:
        key = (claim.line.number, claim.token, claim.kind)
        if key not in seen:
            seen.add(key)
            once.append(claim)
    return once


def _block(members: list[MarkedLine]) -> Iterator[Claim]:
    """A fenced block: a diagram, shell lines, or code of which only names and paths are taken."""
    if tree_diagrams.is_diagram(members):
        yield from tree_diagrams.claims_of(members)
        return
    if members[0].language in SHELLS:
        yield from shell_lines.claims_of(members, told=members[0].language not in ("", "text"))
    for line in members:
        yield from _words(line, line.text)


def _prose(line: MarkedLine) -> Iterator[Claim]:
    rest = line.text
    outside = [
        match.span() for match in _LINK.finditer(line.text) if "://" in match[1]
    ]  # what a page elsewhere is called
    spans = [
        match for match in _SPAN.finditer(line.text)
        if not any(start <= match.start() < end for start, end in outside)
    ]  # fmt: skip
    for match in spans:
        rest = rest.replace(match[0], " " * len(match[0]), 1)
    for match in _LINK.finditer(rest):
        target = match[1].split("#")[0].removeprefix("mdc:")
        if (
            "://" not in target
            and not target.startswith(("#", "mailto:"))
            and (path := spelled(target.replace("%20", " ")))
        ):
            yield _path(line, target, path, plain=True)._replace(tool=LINK)
    for match in spans:
        yield from _span(line, match[2].strip())
    rest = _LINK.sub(lambda match: " " * len(match[0]), rest)
    for match in _IMPORT.finditer(rest):
        if path := spelled(match[1]):
            yield _path(line, match[1], path, plain=True)
    for match in TOOL.finditer(line.text):
        if _NOT_OF_TOOL.search(line.text[: match.start()]):
            continue
        yield Claim(line, match[0].strip(), Kind.VERSION, match["version"], tool=match["tool"].lower())
    yield from _words(line, rest)


def _span(line: MarkedLine, text: str) -> Iterator[Claim]:
    """What one code span says."""
    if not text or len(text) > 300:
        return
    if commands := list(shell_lines.span_claims(line, text)):
        yield from commands
        return
    symbol = _SYMBOL.match(text)
    if _ENVIRONMENT.fullmatch(text.partition("=")[0]):
        yield Claim(line, text.partition("=")[0].strip("${}"), Kind.ENVIRONMENT, text.partition("=")[0].strip("${}"))
    elif (path := spelled(text)) and not (symbol and symbol[2]):
        yield _path(line, text, path, plain=True)
        yield from _fixed(line, text)
    elif symbol:
        yield from _symbols(line, text, symbol)
    elif fixed := list(_fixed(line, text)):
        yield from fixed
    else:
        yield from _words(line, text)


def _fixed(line: MarkedLine, text: str) -> Iterator[Claim]:
    """Of a path with a part to fill in (`src/pages/<name>.ts`) the folder that it begins with, two levels deep or more:
    what it names stood, or nothing is said of it."""
    match = _TO_FILL_IN.match(text)
    if match and (path := spelled(match[1])):
        yield Claim(line, match[1], Kind.DIRECTORY, path, tool=PREFIX)


def _path(line: MarkedLine, text: str, path: str, *, plain: bool) -> Claim:
    leaf = path.rstrip("/").rsplit("/", 1)[-1]
    if file_name(leaf) and not path.endswith("/"):
        kind = Kind.PATH
    else:
        kind = Kind.DIRECTORY
    return Claim(line, text.strip(), kind, path, plain)


def _symbols(line: MarkedLine, text: str, match: re.Match[str]) -> Iterator[Claim]:
    """A name of code: of `Class.method` the last name that is told from a word, else the first."""
    names = [name for name in _NAME.findall(match[1]) if len(name) > 2]
    called = bool(match[2])
    telling = [name for name in names if _HUMPS.search(name) or (called and name == names[-1] and len(name) > 3)]
    if not telling and len(names) > 1 and len(names[-1]) > 3 and not _HOST_NAME.search(match[1]):
        telling = names[-1:]
    if not telling and names and names[0][0].isupper() and names[0][1:].islower() and len(names[0]) > 4:
        yield Claim(line, names[0], Kind.SYMBOL, names[0], plain=False)
        return
    for name in telling:
        yield Claim(line, text if len(names) == 1 else name, Kind.SYMBOL, name, plain=len(telling) == 1)


def _words(line: MarkedLine, text: str) -> Iterator[Claim]:
    """Bare words: names and paths of which nothing says that they are meant as such."""
    for match in _PORT.finditer(text):
        yield Claim(line, match[0], Kind.PORT, match[1] or match[2], plain=bool(match[1]))
    for match in _ENVIRONMENT.finditer(text):
        yield Claim(line, match[1], Kind.ENVIRONMENT, match[1], plain=False)
    for match in _BARE.finditer(text):
        word = match[0].strip("*")
        if ("/" in word or "\\" in word or file_name(word)) and (path := spelled(word)):
            yield _path(line, word.rstrip(".,;:"), path, plain=False)
    for match in _NAME.finditer(text):
        name = match[0]
        if len(name) > 4 and _HUMPS.search(name) and not name.isupper():
            yield Claim(line, name, Kind.SYMBOL, name, plain=False)
