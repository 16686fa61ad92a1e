"""The trailers of commit messages: parsing them as `git interpret-trailers` does, and writing ours.

Runs no Git. `parse` returns the trailers that Git sees. `parse_lenient` also returns those in the body of a squash
commit, where Git joins several messages and only the last paragraph stays a trailer block. A caller that commits
memory fills in a `CommitRecord`; `with_record` writes one trailer for each of its values.
Memory-Source and Memory-Rejected have a grammar of their own:

    Memory-Source: memory/2026-02-05.md#L12-L14@<blob oid> -> MEMORY.md sha256:<hash of the fact's text>
    Memory-Rejected: memory/2026-02-05.md#L12-L14@<blob oid> -> MEMORY.md sha256:<hash of the fact's text>

Paths are percent-encoded as in a fact's comment (`memory/fact.py`). The rejection of a fact without a source leaves
out `PATH#L... -> `.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gitmem.gate.changes.rewrite_trailer import REWRITE_TRAILER
from gitmem.git.objects import Span
from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import parse_span, render_span
from gitmem.memory.percent_encoding import decode, encode

SOURCE, REJECTED = "Memory-Source", "Memory-Rejected"
AGENT, REASON, MODEL, CURSOR = "Memory-Agent", "Memory-Reason", "Memory-Model", "Memory-Cursor"
SESSION, REVERTED, CONFIRMED = "Memory-Session", "Memory-Reverted", "Memory-Confirmed"
TRANSCRIPT, TAKEN_OVER = "Memory-Transcript", "Memory-Taken-Over"
REVIEWED = "Reviewed-by"
REWRITE = REWRITE_TRAILER
MAX_SUBJECT_CHARS = 60  # characters of a new line of memory that the subject of its commit repeats

_SPACE = " \t\n\r"  # Git's isspace()
_GENERATED = ("Signed-off-by: ", "(cherry picked from commit ")
_SCISSORS = "# ------------------------ >8 ------------------------"
_SHAPE = lazy(r"[A-Za-z0-9-]+[ \t]*:")
# The scissors line of `git commit --verbose` and the diff below it. core.commentChar or core.commentString begins it.
VERBOSE_DIFF = lazy(r"^(\S+) -{24} >8 -{24}\n(?:\1[^\n]*\n)*diff ", re.MULTILINE)

Trailer = tuple[str, str]


def parse(message: str) -> list[Trailer]:
    """The trailers of `message` in order; repeated keys are kept, and folded values are joined to one line.

    Returns what `git interpret-trailers --parse --no-divider` prints under Git's default configuration, which
    `git log --format=%(trailers)` uses too. Source: trailer.c and commit.c of Git 2.39.
    """
    lines = _lines(message)
    lines = lines[: _message_end(lines)]
    lines = lines[_block_start(lines) :]
    joined: list[str] = []
    folding = False
    for line in lines:
        if folding and line[0] in _SPACE:
            joined[-1] += line
            continue
        joined.append(line)
        folding = _colon_at(line) >= 1
    rows = []
    for line in joined:
        colon = _colon_at(line)
        if colon >= 1 and line[0] != "#":
            value = line[colon + 1 :].strip(_SPACE)
            rows.append((line[:colon].strip(_SPACE), re.sub(r"\n[ \t\r\n]*", " ", value).strip(_SPACE)))
    return rows


def parse_lenient(message: str) -> list[Trailer]:
    """Every line below the subject that has the form of a trailer, in order, repeats included.

    This finds the trailers of the messages that a squash joined. The indentation and bullets that GitHub and
    `git merge --squash` add are removed. Folded values are not joined: their second line looks like prose.
    """
    rows = []
    for line in message.split("\n")[1:]:
        bare = line.strip().removeprefix("* ").removeprefix("- ").lstrip()
        match = _SHAPE.match(bare)
        if match:
            rows.append((match[0][:-1].rstrip(), bare[match.end() :].strip()))
    return rows


def memory_trailers(message: str) -> list[Trailer]:
    """The trailers that Git sees, then every other `Memory-*` or `Reviewed-by` line of the body; no repeats."""
    rows = dict.fromkeys(parse(message))
    for key, value in parse_lenient(message):
        if key.lower().startswith("memory-") or key.lower() == REVIEWED.lower():
            rows.setdefault((key, value))
    return list(rows)


def block_with(message: str, key: str, part: str) -> list[Trailer]:
    """The trailer block in which a value of `key` contains `part`; [] when no block has one.

    Git's own trailer block comes first; then each run of adjacent trailer lines in the body, which a squash leaves.
    """

    def matches(rows: list[Trailer]) -> bool:
        return any(part in value for value in values(rows, key))

    block = parse(message)
    if matches(block):
        return block
    block = []
    for line in [*message.split("\n")[1:], ""]:
        rows = parse_lenient("\n" + line)
        if rows:
            block += rows
        elif matches(block):
            return block
        else:
            block = []
    return []


def values(trailers: Iterable[Trailer], key: str) -> list[str]:
    """The values of the trailers named `key`, in order. As in Git, the case of a key does not matter."""
    wanted = key.lower()
    return [value for name, value in trailers if name.lower() == wanted]


def render_trailers(trailers: Iterable[Trailer]) -> str:
    """One line per trailer, each ending in a newline. Runs of white space in a value become one space.

    Raises ValueError for a key that Git would not read back as one.
    """
    lines = []
    for key, value in trailers:
        if not re.fullmatch(r"[A-Za-z0-9-]+", key):
            raise ValueError(f"not a trailer key: {key!r}")
        flat = " ".join(value.replace("\0", " ").split())
        lines.append(f"{key}: {flat}".rstrip() + "\n")
    return "".join(lines)


def append_trailers(message: str, trailers: Iterable[Trailer]) -> str:
    """`message` with `trailers` at the end of its trailer block, or in a new block when it has none. Without trailers
    it only ends in one newline. Raises ValueError for a key that Git would not read back as one."""
    block = render_trailers(trailers)
    body = message.rstrip()
    if not block:
        return body + "\n"
    lines = _lines(body + "\n")
    if parse(body) and _message_end(lines) == len(lines):
        return body + "\n" + block
    return body + "\n\n" + block


@dataclass(frozen=True, slots=True)
class Link:
    """The value of one Memory-Source or Memory-Rejected trailer.

    `source`: the lines that the fact comes from; None in a rejection without a source. `target`: the file of the fact;
    may be empty in a rejection. `sha256`: the hash of the fact's text, 64 hex digits.
    """

    source: Span | None
    target: str
    sha256: str


_LINK = lazy(r"(?:(?P<span>\S+) -> )?(?:(?P<target>\S+) )?sha256:(?P<hash>[0-9a-f]{64})")


def parse_link(value: str) -> Link | None:
    """The Link that the value of a Memory-Source or Memory-Rejected trailer spells; None when it is malformed."""
    match = _LINK.fullmatch(value)
    if match is None:
        return None
    span = parse_span(match["span"] or "")
    if match["span"] and span is None:
        return None
    return Link(span, decode(match["target"] or ""), match["hash"])


def render_link(link: Link) -> str:
    """The value of a trailer that spells the link, which `parse_link` reads. It has the whole oid of a source, which a
    fact's comment shortens."""
    text = ""
    if link.source:
        text = render_span(link.source._replace(blob=""))
        if link.source.blob:
            text += f"@{link.source.blob}"
        text += " -> "
    if link.target:
        text += encode(link.target, "@#") + " "
    return f"{text}sha256:{link.sha256}"


def links(trailers: Iterable[Trailer], key: str) -> list[Link]:
    """The links that the values of `key` spell, in order; malformed values are left out."""
    return list(filter(None, map(parse_link, values(trailers, key))))


# -- what a commit of memory records ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRecord:
    """What the message of a commit of memory records beside the changed files. An empty field gets no trailer.

    `rejected`: texts that the commit removes. `sources`: texts that the commit adds, each with its source lines.
    `confirmed`: facts that still hold, each `FACT @ COMMIT` with the commit whose code was read. `reverted`: the
    selector of `git mem revert`, such as `agent coder`. `model`: the model that proposed the facts. `agent`: the agent
    that commits, "" for a person. `reason`: why the commit is made, one line. `transcripts`: the conversations that it
    was taken from, each <session> sha256:<hash of its file> <first turn>..<last turn>. `taken_over`: NAME@OID, the
    branch whose files the commit takes over, and the tip of that branch. `cursor`: the commit up to which promotion
    read the logs. `rewrite`: why the commit changes past log lines or removes many facts. `reviewer`: `Name <e-mail>`
    of the person who looked at each fact.
    """

    rejected: tuple[Link, ...] = ()
    sources: tuple[Link, ...] = ()
    confirmed: tuple[str, ...] = ()
    reverted: str = ""
    model: str = ""
    agent: str = ""
    reason: str = ""
    transcripts: tuple[str, ...] = ()
    taken_over: str = ""
    cursor: str = ""
    rewrite: str = ""
    reviewer: str = ""


def record_trailers(recorded: CommitRecord) -> list[Trailer]:
    """The trailers for `recorded`, in the order in which a message has them; empty values are left out."""
    rows = [
        *((REJECTED, render_link(link)) for link in recorded.rejected),
        *((SOURCE, render_link(link)) for link in recorded.sources),
        *((CONFIRMED, fact) for fact in recorded.confirmed),
        (REVERTED, recorded.reverted),
        (MODEL, recorded.model),
        (AGENT, recorded.agent),
        (REASON, recorded.reason),
        *((TRANSCRIPT, transcript) for transcript in recorded.transcripts),
        (TAKEN_OVER, recorded.taken_over),
        (CURSOR, recorded.cursor),
        (REWRITE, recorded.rewrite),
        (REVIEWED, recorded.reviewer),
    ]
    return [(key, value) for key, value in rows if value]


def with_record(body: str, recorded: CommitRecord) -> str:
    """A commit message: `body` (subject and text), then one trailer for each value of `recorded`."""
    return append_trailers(body, record_trailers(recorded))


def message_of_line(text: str, agent: str) -> str:
    """The message of a commit that adds one line of memory; its subject repeats the first MAX_SUBJECT_CHARS of the
    line. `agent`: "" for a person."""
    return with_record(f"memory: {text[:MAX_SUBJECT_CHARS]}", CommitRecord(agent=agent))


# -- the parser of Git: each function below names the one in trailer.c or commit.c that it follows ------------


def _lines(text: str) -> list[str]:
    """The lines of `text` with their newlines, split at newlines only."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _is_blank(line: str) -> bool:
    return not line.strip(_SPACE)


def _colon_at(line: str) -> int:
    """The index of the colon that ends the key of a trailer; -1 when the line is no trailer (find_separator)."""
    space_seen = False
    for index, character in enumerate(line):
        if character == ":":
            return index
        if not space_seen and character.isascii() and (character.isalnum() or character == "-"):
            continue
        if index and character in " \t":
            space_seen = True
            continue
        break
    return -1


def _message_end(lines: list[str]) -> int:
    """The number of lines before trailing comments, blank lines and `Conflicts:` blocks (ignore_non_trailer)."""
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


def _block_start(lines: list[str]) -> int:
    """The index of the first line of the trailer block; len(lines) when there is none (find_trailer_start)."""
    title = next((index for index, line in enumerate(lines) if line[0] != "#" and _is_blank(line)), len(lines))
    only_spaces, generated = True, False
    trailer_lines = other_lines = continuation_lines = 0
    for number in range(len(lines) - 1, title - 1, -1):
        line = lines[number]
        if line[0] == "#":
            other_lines, continuation_lines = other_lines + continuation_lines, 0
            continue
        if _is_blank(line):
            if only_spaces:
                continue
            other_lines += continuation_lines
            is_block = trailer_lines and (not other_lines or (generated and trailer_lines * 3 >= other_lines))
            if is_block:
                return number + 1
            return len(lines)
        only_spaces = False
        if line.startswith(_GENERATED):
            trailer_lines, continuation_lines, generated = trailer_lines + 1, 0, True
        elif _colon_at(line) >= 1 and line[0] not in _SPACE:
            trailer_lines, continuation_lines = trailer_lines + 1, 0
        elif line[0] in _SPACE:
            continuation_lines += 1
        else:
            other_lines, continuation_lines = other_lines + 1 + continuation_lines, 0
    return len(lines)
