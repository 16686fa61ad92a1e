"""Extracts the claims of one file from its code spans, links, imports, plain words, shell lines and diagrams. Pure.

Everything that may be a claim is extracted; `Claim.plain` says whether the line marks it as a name. The checks
(`check`, `transition`) decide which claims may be reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from gitmem.claims import shell_lines, tree_diagrams
from gitmem.claims.claim import Claim, Kind, path_kind
from gitmem.claims.lines import MarkedLine, marked_lines
from gitmem.claims.path_words import as_path, is_file_name
from gitmem.claims.versions import TOOL

PREFIX = "prefix"  # `Claim.tool` of the folder before a placeholder (`src/pages/<name>.ts`)
LINK = "link"  # `Claim.tool` of the target of a link
MAX_CLAIMS_PER_FILE = 4_000
MAX_SPAN_CHARS = 300  # a longer code span is not a claim
SHELLS = ("", "bash", "sh", "shell", "zsh", "console", "shell-session", "text", "terminal", "fish", "powershell")
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
_IMPORT = re.compile(
    r"(?:^|(?<=\s))@((?:\.{0,2}/)?[\w.-]+(?:/[\w.-]+)*\.[A-Za-z]\w*|(?:\.{0,2}/)?[\w.-]+(?:/[\w.-]+)+)"
)
_BARE = re.compile(r"(?<![\w`/@.:~$\\-])(?:\.{0,2}/)?[\w.@+*-]+(?:[/\\][\w.@+*\[\]{},()-]+)*/?(?![\w`])")
_ENVIRONMENT = re.compile(r"(?<![\w/.-])\$?\{?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b(?![\w./-]*\.\w)")
_PORT = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{2,5})\b|\bport[s]?[ =:]+`?(\d{4,5})\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"^((?:[\w.@-]+/)+[\w.@-]+)/[\w.-]*[<{\[$*]")
_NOT_OF_TOOL = re.compile(r"\b(?:SDK|API|CLI|[Cc]lient|[Dd]river|[Pp]lugin|[Bb]indings?)\s+$")  # "SDK Java 2.25"
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_HUMPS = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|[A-Za-z0-9]_[A-Za-z0-9]")
_HOST_NAME = re.compile(r"^www\.|\.(?:com|org|net|io|dev|ai|app|co|sh|cc|me)$")
_SYMBOL = re.compile(
    r"^[@#&*]?([A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*)(?:<[^<>]*>)?(\((?:[^()]|\([^()]*\))*\))?[;!?]?$"
)


def claims_of(text: str) -> list[Claim]:
    """The claims of a file's text in the order of its lines, at most MAX_CLAIMS_PER_FILE, without repetitions."""
    claims: list[Claim] = []
    for block, group in groupby(marked_lines(text), key=lambda line: line.block):
        if block:
            claims += _block(list(group))
        else:
            for line in group:
                claims += _prose(line)
        if len(claims) > MAX_CLAIMS_PER_FILE:
            break
    first_claims: dict[tuple[int, str, Kind], Claim] = {}
    for claim in claims[:MAX_CLAIMS_PER_FILE]:
        first_claims.setdefault((claim.line.number, claim.token, claim.kind), claim)
    return list(first_claims.values())


def _block(members: list[MarkedLine]) -> Iterator[Claim]:
    """The claims of a fenced block. A diagram of folders gives its entries. Other blocks give the names and paths in
    their words, and shell lines also their commands."""
    if tree_diagrams.is_diagram(members):
        yield from tree_diagrams.claims_of(members)
        return
    if members[0].language in SHELLS:
        yield from shell_lines.claims_of(members, is_shell=members[0].language not in ("", "text"))
    for line in members:
        yield from _words(line, line.text)


def _prose(line: MarkedLine) -> Iterator[Claim]:
    """The claims of a line outside of fenced blocks."""
    remaining_text = line.text
    external = [match.span() for match in _LINK.finditer(line.text) if "://" in match[1]]
    spans = [
        match for match in _SPAN.finditer(line.text)
        if not any(start <= match.start() < end for start, end in external)
    ]  # fmt: skip
    for match in spans:
        remaining_text = remaining_text.replace(match[0], " " * len(match[0]), 1)
    for match in _LINK.finditer(remaining_text):
        target = match[1].split("#")[0].removeprefix("mdc:")
        if "://" in target or target.startswith(("#", "mailto:")):
            continue
        if path := as_path(target.replace("%20", " ")):
            yield _path(line, target, path, plain=True)._replace(tool=LINK)
    for match in spans:
        yield from _span(line, match[2].strip())
    remaining_text = _LINK.sub(lambda match: " " * len(match[0]), remaining_text)
    for match in _IMPORT.finditer(remaining_text):
        if path := as_path(match[1]):
            yield _path(line, match[1], path, plain=True)
    for match in TOOL.finditer(line.text):
        if not _NOT_OF_TOOL.search(line.text[: match.start()]):
            yield Claim(line, match[0].strip(), Kind.VERSION, match["version"], tool=match["tool"].lower())
    yield from _words(line, remaining_text)


def _span(line: MarkedLine, text: str) -> Iterator[Claim]:
    """The claims of one code span: of its command, its variable, its path, its symbol, or else of the words in it. None
    for an empty or very long span."""
    if not text or len(text) > MAX_SPAN_CHARS:
        return
    if commands := list(shell_lines.span_claims(line, text)):
        yield from commands
        return
    symbol = _SYMBOL.match(text)
    variable = text.partition("=")[0]
    if _ENVIRONMENT.fullmatch(variable):
        name = variable.strip("${}")
        yield Claim(line, name, Kind.ENVIRONMENT, name)
    elif (path := as_path(text)) and not (symbol and symbol[2]):
        yield _path(line, text, path, plain=True)
        yield from _prefix(line, text)
    elif symbol:
        yield from _symbols(line, text, symbol)
    elif prefix := list(_prefix(line, text)):
        yield from prefix
    else:
        yield from _words(line, text)


def _prefix(line: MarkedLine, text: str) -> Iterator[Claim]:
    """The folder before the placeholder in a path (`src/pages/<name>.ts`), if it is at least two levels deep."""
    match = _PLACEHOLDER.match(text)
    if match and (path := as_path(match[1])):
        yield Claim(line, match[1], Kind.DIRECTORY, path, tool=PREFIX)


def _path(line: MarkedLine, text: str, path: str, *, plain: bool) -> Claim:
    """The claim that a path is there: a directory if it ends with `/`, otherwise by its name."""
    kind = path_kind(path)
    if path.endswith("/"):
        kind = Kind.DIRECTORY
    return Claim(line, text.strip(), kind, path, plain)


def _symbols(line: MarkedLine, text: str, match: re.Match[str]) -> Iterator[Claim]:
    """Claims for the names in a code span that look like code (`camelCase`, `snake_case`), and for the last name if it
    is called.

    If no name looks like code, the last part of a dotted name counts (unless it is a host name), else a capitalised
    first word, which is never plain. Short names do not count. Several names in one span are not plain.
    """
    names = [name for name in _NAME.findall(match[1]) if len(name) > 2]
    called = bool(match[2])
    symbols = [name for name in names if _HUMPS.search(name) or (called and name == names[-1] and len(name) > 3)]
    if not symbols and len(names) > 1 and len(names[-1]) > 3 and not _HOST_NAME.search(match[1]):
        symbols = names[-1:]
    if not symbols and names and names[0][0].isupper() and names[0][1:].islower() and len(names[0]) > 4:
        yield Claim(line, names[0], Kind.SYMBOL, names[0], plain=False)
        return
    for name in symbols:
        yield Claim(line, text if len(names) == 1 else name, Kind.SYMBOL, name, plain=len(symbols) == 1)


def _words(line: MarkedLine, text: str) -> Iterator[Claim]:
    """Claims for the names and paths among plain words. Only a port of a local address (`localhost:8080`) is marked
    plain."""
    for match in _PORT.finditer(text):
        yield Claim(line, match[0], Kind.PORT, match[1] or match[2], plain=bool(match[1]))
    for match in _ENVIRONMENT.finditer(text):
        yield Claim(line, match[1], Kind.ENVIRONMENT, match[1], plain=False)
    for match in _BARE.finditer(text):
        word = match[0].strip("*")
        if ("/" in word or "\\" in word or is_file_name(word)) and (path := as_path(word)):
            yield _path(line, word.rstrip(".,;:"), path, plain=False)
    for match in _NAME.finditer(text):
        name = match[0]
        if len(name) > 4 and _HUMPS.search(name) and not name.isupper():
            yield Claim(line, name, Kind.SYMBOL, name, plain=False)
