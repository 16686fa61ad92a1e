"""The trailers of a commit message: read as `git interpret-trailers` reads them, written so that it can.

Pure: no Git is run. `parse` is what Git sees; `parse_lenient` is what a squash left of it (a squash joins
messages, and only the last paragraph stays a trailer block). `FIELDS` has what a commit of memory records, a row
each: who commits says what there is to record (`Recorded`), and `with_record` spells it. Two values have their own
grammar:

    Memory-Source: memory/2026-02-05.md#L12-L14@<blob oid> -> MEMORY.md sha256:<hash of the fact's text>
    Memory-Rejected: memory/2026-02-05.md#L12-L14@<blob oid> -> MEMORY.md sha256:<hash of the fact's text>

Paths in them are percent-encoded as in a fact's own comment (`memory/fact.py`); a rejection of a fact that has no
source leaves `PATH#L... -> ` out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from gitmem.gate.changes.rewrite_trailer import REWRITE_TRAILER
from gitmem.git.objects import Span
from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import decode, encode, parse_span, render_span

SOURCE, REJECTED = "Memory-Source", "Memory-Rejected"
AGENT, REASON, MODEL, CURSOR = "Memory-Agent", "Memory-Reason", "Memory-Model", "Memory-Cursor"
SESSION, REVERTED, CONFIRMED = "Memory-Session", "Memory-Reverted", "Memory-Confirmed"
TRANSCRIPT, TAKEN_OVER = "Memory-Transcript", "Memory-Taken-Over"
REVIEWED = "Reviewed-by"
REWRITE = REWRITE_TRAILER
SUBJECT = 60  # characters of a line of memory in the subject of the commit that adds it

_SPACE = " \t\n\r"  # Git's isspace()
_GENERATED = ("Signed-off-by: ", "(cherry picked from commit ")
_SCISSORS = "# ------------------------ >8 ------------------------"
_SHAPE = lazy(r"[A-Za-z0-9-]+[ \t]*:")

Trailer = tuple[str, str]


def parse(message: str) -> list[Trailer]:
    """The trailers of `message` in order, repeated keys repeated, folded values unfolded.

    The same answer as `git interpret-trailers --parse --no-divider` (what `git log --format=%(trailers)` uses)
    under Git's default configuration. Source: trailer.c and commit.c of Git 2.39.
    """
    lines = _lines(message)
    lines = lines[: _end(lines)]
    lines = lines[_start(lines) :]
    joined: list[str] = []
    folding = False
    for line in lines:
        if folding and line[0] in _SPACE:
            joined[-1] += line
            continue
        joined.append(line)
        folding = _separator(line) >= 1
    rows = []
    for line in joined:
        at = _separator(line)
        if at >= 1 and line[0] != "#":
            rows.append((line[:at].strip(_SPACE), _unfold(line[at + 1 :].strip(_SPACE))))
    return rows


def parse_lenient(message: str) -> list[Trailer]:
    """Every trailer-shaped line below the subject, wherever it stands: for the body a squash merge leaves.

    GitHub and `git merge --squash` indent and bullet the joined messages; both are seen through. Continuation
    lines are not joined (they cannot be told from the next message's prose). Order kept, exact repeats kept.
    """
    rows = []
    for line in message.split("\n")[1:]:
        bare = line.strip().removeprefix("* ").removeprefix("- ").lstrip()
        match = _SHAPE.match(bare)
        if match:
            rows.append((match[0][:-1].rstrip(), bare[match.end() :].strip()))
    return rows


def memory_trailers(message: str) -> list[Trailer]:
    """What `message` says about memory: Git's trailers, and every `Memory-*` or `Reviewed-by` line of the
    body that Git no longer sees as one. No repeats."""
    rows = dict.fromkeys(parse(message))
    for key, value in parse_lenient(message):
        if key.lower().startswith("memory-") or key.lower() == REVIEWED.lower():
            rows.setdefault((key, value))
    return list(rows)


def block_with(message: str, key: str, holding: str) -> list[Trailer]:
    """The trailers that stand together with a `key` whose value holds `holding`: what was said with it.

    Git's own block where it is there, else the run of trailer-shaped lines a squash left of it; [] where none is.
    """

    def says(rows: list[Trailer]) -> bool:
        return any(holding in value for value in values(rows, key))

    block = parse(message)
    if says(block):
        return block
    block = []
    for line in [*message.split("\n")[1:], ""]:
        rows = parse_lenient("\n" + line)
        if rows:
            block += rows
        elif says(block):
            return block
        else:
            block = []
    return []


def values(trailers: Iterable[Trailer], key: str) -> list[str]:
    """The values of `key`, which Git compares without case, in order."""
    wanted = key.lower()
    return [value for name, value in trailers if name.lower() == wanted]


def render(trailers: Iterable[Trailer]) -> str:
    """One line a trailer, each ending in a newline; white space in values (newlines too) collapsed.

    Raises ValueError for a key Git would not read back as one.
    """
    out = []
    for key, value in trailers:
        if not re.fullmatch(r"[A-Za-z0-9-]+", key):
            raise ValueError(f"not a trailer key: {key!r}")
        flat = " ".join(value.replace("\0", " ").split())
        out.append(f"{key}: {flat}" if flat else f"{key}:")
    return "".join(line + "\n" for line in out)


def append(message: str, trailers: Iterable[Trailer]) -> str:
    """`message` with `trailers` after its own: in its trailer block where it has one, else below the body."""
    block = render(trailers)
    body = message.rstrip()
    if not block:
        return body + "\n"
    lines = _lines(body + "\n")
    joined = bool(parse(body)) and _end(lines) == len(lines)
    return body + ("\n" if joined else "\n\n") + block


@dataclass(frozen=True, slots=True)
class Link:
    """One Memory-Source or Memory-Rejected value: the fact with `sha256` (64 hex of its text) in `target`
    comes from `source`. `source` is None in a rejection by text alone, `target` may be empty there."""

    source: Span | None
    target: str
    sha256: str


_LINK = lazy(r"(?:(?P<span>\S+) -> )?(?:(?P<target>\S+) )?sha256:(?P<hash>[0-9a-f]{64})")


def parse_link(value: str) -> Link | None:
    """The value of a Memory-Source or Memory-Rejected trailer, None where it is not one."""
    match = _LINK.fullmatch(value)
    if match is None:
        return None
    span = None
    if match["span"]:
        span = parse_span(match["span"])
    if match["span"] and span is None:
        return None
    return Link(span, decode(match["target"] or ""), match["hash"])


def render_link(link: Link) -> str:
    """The inverse of `parse_link`; unlike in a fact's own comment, the source's oid is written as given."""
    arrow = ""
    if link.source:
        arrow = render_span(link.source._replace(blob=""))
        arrow += f"@{link.source.blob} -> " if link.source.blob else " -> "
    return f"{arrow}{encode(link.target, '@#') + ' ' if link.target else ''}sha256:{link.sha256}"


def links(trailers: Iterable[Trailer], key: str) -> list[Link]:
    """Every well-formed Link among the values of `key`."""
    return [link for value in values(trailers, key) if (link := parse_link(value))]


# -- what a commit of memory records ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a commit of memory has to record beside its files. What is empty gets no trailer."""

    rejected: tuple[Link, ...] = ()  # texts that it takes out
    sources: tuple[Link, ...] = ()  # texts that it adds, with the lines they come from
    confirmed: tuple[str, ...] = ()  # facts that hold, each with the commit whose code was looked at
    reverted: str = ""  # what facts are taken back by: `commit:...`, `agent:...`
    model: str = ""  # that proposed the facts
    agent: str = ""  # who writes, "" for a person
    reason: str = ""  # why, one line
    transcripts: tuple[str, ...] = ()  # <session> sha256:<hash of its file> <first turn>..<last turn>
    taken_over: str = ""  # NAME@OID: the branch whose files it has, and its tip then
    cursor: str = ""  # the commit up to which logs were read
    rewrite: str = ""  # why past lines change or many facts go
    reviewer: str = ""  # `Name <e-mail>` of who looked at each fact


class Field(NamedTuple):
    """A trailer of ours: its key, and the values that it has for what a commit records."""

    key: str
    values: Callable[[Recorded], Iterable[str]]


FIELDS = (  # in the order in which they stand
    Field(REJECTED, lambda recorded: map(render_link, recorded.rejected)),
    Field(SOURCE, lambda recorded: map(render_link, recorded.sources)),
    Field(CONFIRMED, lambda recorded: recorded.confirmed),
    Field(REVERTED, lambda recorded: [recorded.reverted]),
    Field(MODEL, lambda recorded: [recorded.model]),
    Field(AGENT, lambda recorded: [recorded.agent]),
    Field(REASON, lambda recorded: [recorded.reason]),
    Field(TRANSCRIPT, lambda recorded: recorded.transcripts),
    Field(TAKEN_OVER, lambda recorded: [recorded.taken_over]),
    Field(CURSOR, lambda recorded: [recorded.cursor]),
    Field(REWRITE, lambda recorded: [recorded.rewrite]),
    Field(REVIEWED, lambda recorded: [recorded.reviewer]),
)


def rows(recorded: Recorded) -> list[Trailer]:
    """The trailers of a commit that records this, in the order of FIELDS."""
    return [(field.key, value) for field in FIELDS for value in field.values(recorded) if value]


def with_record(body: str, recorded: Recorded) -> str:
    """The message of a commit: subject and body, and the trailers of what it records."""
    return append(body, rows(recorded))


def message_of_line(text: str, agent: str) -> str:
    """The message of a commit that adds one line of memory; `agent` is "" for a person."""
    return with_record(f"memory: {text[:SUBJECT]}", Recorded(agent=agent))


# -- Git's own reading ---------------------------------------------------------------------------------------


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _blank(line: str) -> bool:
    return not line.strip(_SPACE)


def _separator(line: str) -> int:
    """The place of the colon of a trailer, -1 where the line has none (find_separator)."""
    space = False
    for at, c in enumerate(line):
        if c == ":":
            return at
        if not space and c.isascii() and (c.isalnum() or c == "-"):
            continue
        if at and c in " \t":
            space = True
            continue
        break
    return -1


def _end(lines: list[str]) -> int:
    """How many lines stand before trailing comments, blanks and old `Conflicts:` blocks (ignore_non_trailer)."""
    cutoff = next((n for n, line in enumerate(lines) if line.startswith(_SCISSORS)), len(lines))
    boundary, conflicts = 0, False
    for number, line in enumerate(lines[:cutoff]):
        if line[0] in "#\n":
            boundary = boundary or number
        elif line == "Conflicts:\n":
            conflicts, boundary = True, boundary or number
        elif conflicts and line[0] == "\t":
            continue
        elif boundary:
            boundary, conflicts = 0, False
    return boundary or cutoff


def _start(lines: list[str]) -> int:
    """The first line of the trailer block, len(lines) where there is none (find_trailer_start)."""
    title = next((n for n, line in enumerate(lines) if line[0] != "#" and _blank(line)), len(lines))
    only_spaces, generated = True, False
    trailers = others = maybe = 0
    for number in range(len(lines) - 1, title - 1, -1):
        line = lines[number]
        if line[0] == "#":
            others, maybe = others + maybe, 0
            continue
        if _blank(line):
            if only_spaces:
                continue
            others += maybe
            is_block = trailers and (not others or (generated and trailers * 3 >= others))
            if is_block:
                return number + 1
            return len(lines)
        only_spaces = False
        if line.startswith(_GENERATED):
            trailers, maybe, generated = trailers + 1, 0, True
        elif _separator(line) >= 1 and line[0] not in _SPACE:
            trailers, maybe = trailers + 1, 0
        elif line[0] in _SPACE:
            maybe += 1
        else:
            others, maybe = others + 1 + maybe, 0
    return len(lines)


def _unfold(value: str) -> str:
    return re.sub(r"\n[ \t\r\n]*", " ", value).strip(_SPACE)
