"""Parses Git's output: tree lists, raw differences, commits, blame. Pure: bytes in, values out.

Paths and whole listings are decoded with `os.fsdecode`, which keeps bytes that are not UTF-8. In texts that people
wrote, such bytes are replaced.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, timezone

from gitmem.git.objects import BlameLine, Change, Commit, Entry, LoggedCommit, Person
from gitmem.lazy_patterns import lazy

MAX_MESSAGE_BYTES = 1 << 20  # of a message, author or path that `parse_messages` keeps
MAX_PATHS = 12  # paths of a commit that `parse_messages` keeps
MAX_CHARSET_CHARS = 40  # of the name of a charset
MINUTES_PER_DAY = 24 * 60
SUBTREE_MODE = b"40000 "  # Git writes modes of tree objects without leading zeros
OID_DIGITS = (40, 64)  # hex digits of a SHA-1 and of a SHA-256

# The value of an author or committer line: `Ann Lee <ann@example.org> 1770285600 +0900`. Old and foreign tools wrote
# commits without the date, the offset or the space before `<`, so all of them may be missing.
PERSON = lazy(
    rb"""
    ^ (?P<name> .*? )
    \ ? < (?P<email> [^>]* ) >
    \ ? (?P<seconds> -?\d+ )?                                            # since 1970; negative in imported history
    \ ? (?: (?P<sign> [+-] ) (?P<hours> \d\d ) (?P<minutes> \d\d ) )?     # offset from UTC
    """,
    re.VERBOSE,
)
# Python's names of the charsets that Git's iconv knows too.
GIT_CHARSETS = lazy(
    r"ascii|big5|cp\d|euc_|gb|hp-|hz$|iso(?:8859|2022)|johab|koi8|kz1048|mac-|ptcp|shift_jis|tis-|utf-(?:7|8|16|32)"
)


def parse_entries(output: bytes) -> list[Entry]:
    """Parses `ls-tree -r -z`: rows `MODE TYPE OID<tab>PATH`."""
    entries = []
    modes: dict[str, int] = {}  # octal digits -> mode; a tree may have a hundred thousand entries and has five modes
    for row in _rows(output):
        header, _, path = row.partition("\t")
        octal, _, oid = header.split(" ")
        if octal not in modes:
            modes[octal] = int(octal, 8)
        entries.append(Entry(path, modes[octal], oid))
    return entries


def parse_staged(output: bytes) -> list[Entry]:
    """Parses `ls-files -s -z`, rows `MODE OID STAGE<tab>PATH`: entries of stage 0, and of stage 2 (ours) for unmerged
    paths."""
    entries = []
    for row in _rows(output):
        header, _, path = row.partition("\t")
        octal, oid, stage = header.split(" ")
        if stage in ("0", "2"):
            entries.append(Entry(path, int(octal, 8), oid))
    return entries


def parse_removals(output: bytes) -> dict[str, str]:
    """Parses `log --raw -z --format=%x00%H` of removals: path -> the newest commit that removed it."""
    newest_removal: dict[str, str] = {}
    commit = ""
    fields = iter(output.split(b"\0"))
    for field in fields:
        word = field.strip(b"\n")
        if word.startswith(b":"):  # a raw difference; its path is the next field
            path = os.fsdecode(next(fields, b""))
            newest_removal.setdefault(path, commit)
        elif word:
            commit = word.decode()
    return newest_removal


def parse_raw(output: bytes) -> list[Change]:
    """Parses `--raw -z --no-abbrev` of a difference; an all-zero oid becomes "".

    A change is a field `:OLD_MODE NEW_MODE OLD_OID NEW_OID STATUS`, a field with its path and, for a rename or a copy,
    a field with its new path. R and C have a similarity after the letter (`R087`).
    """
    changes = []
    fields = iter(output.split(b"\0"))
    for field in fields:
        header = field.lstrip(b"\n")
        if not header.startswith(b":"):
            continue
        old_mode, new_mode, old_oid, new_oid, status_and_score = header.removeprefix(b":").decode().split(" ")
        status = status_and_score[0]
        old_path = os.fsdecode(next(fields))
        path = os.fsdecode(next(fields)) if status in "RC" else old_path
        changes.append(
            Change(
                status=status,
                path=path,
                old_path="" if status == "A" else old_path,
                old_oid=_oid_or_empty(old_oid),
                new_oid=_oid_or_empty(new_oid),
                old_mode=int(old_mode, 8),
                new_mode=int(new_mode, 8),
            )
        )
    return changes


def parse_commit(oid: str, data: bytes) -> Commit:
    """Parses the bytes of a commit object. Bytes that cannot be decoded are replaced. A missing header is empty; a
    missing or malformed date is the start of 1970."""
    header_lines, _, body = data.partition(b"\n\n")
    headers: dict[bytes, list[bytes]] = {}  # a merge has several `parent` headers
    for line in header_lines.split(b"\n"):
        if not line.startswith(b" "):  # the lines of a signature after its first begin with a space
            key, _, value = line.partition(b" ")
            headers.setdefault(key, []).append(value)
    parents = headers.get(b"parent", [])
    tree = _first(headers, b"tree")
    author, author_date = _parse_person(_first(headers, b"author"))
    committer, commit_date = _parse_person(_first(headers, b"committer"))
    charset = _charset(_first(headers, b"encoding"))
    return Commit(
        oid=oid,
        parents=tuple(parent.decode() for parent in parents),
        tree=tree.decode(),
        author=author,
        author_date=author_date,
        committer=committer,
        commit_date=commit_date,
        message=body.decode(charset, "replace"),
    )


def parse_messages(pieces: Iterable[bytes]) -> Iterator[LoggedCommit]:
    """Parses `log -z --name-only` in the format `binary.MESSAGE`, in pieces of any size. A commit that is cut off
    before its message is left out.

    Every part ends with NUL, which neither a message nor a path can hold. Two empty parts come before a commit. A
    commit is three parts, then one part for each path, up to the next empty part or the end.
    """
    parts = _nul_ended_parts(pieces)
    for part in parts:
        if not part:
            continue
        side_and_oid = _text(part)
        author = next(parts, None)
        message = next(parts, None)
        if author is None or message is None:
            return
        yield LoggedCommit(
            side=side_and_oid[:1],
            oid=side_and_oid[1:],
            author=_text(author),
            message=_text(message),
            paths=_paths_until_empty_part(parts),
        )


def parse_blame(output: bytes) -> list[BlameLine]:
    """Parses `blame --porcelain`.

    Each line of the file is a header `OID SOURCE_LINE LINE [LINES_IN_GROUP]`, rows about the commit if it is named for
    the first time, and the text after a tab.
    """
    lines = []
    commit, source_line, line = "", 0, 0
    for row in output.split(b"\n"):
        if row.startswith(b"\t"):
            text = _text(row.removeprefix(b"\t"))
            lines.append(BlameLine(line, text, commit, source_line))
            continue
        words = row.split(b" ")
        # A summary may have three or four words too, but its first one is `summary`.
        if len(words) in (3, 4) and len(words[0]) in OID_DIGITS and words[1].isdigit():
            commit, source_line, line = words[0].decode(), int(words[1]), int(words[2])
    return lines


def parse_tree(data: bytes, oid_bytes: int) -> tuple[int, list[str]]:
    """(number of files, oids of the subtrees) of a stored tree object: rows of mode, space, name, NUL and oid."""
    files = 0
    subtrees = []
    row_start = 0
    while row_start < len(data):
        oid_start = data.index(b"\0", row_start) + 1
        oid_end = oid_start + oid_bytes
        if data.startswith(SUBTREE_MODE, row_start):
            subtrees.append(data[oid_start:oid_end].hex())
        else:
            files += 1
        row_start = oid_end
    return files, subtrees


def _rows(output: bytes) -> Iterator[str]:
    """The rows of a listing with `-z`. The whole is decoded at once, which is faster than row by row."""
    return filter(None, os.fsdecode(output).split("\0"))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _oid_or_empty(oid: str) -> str:
    """The oid; "" for the all-zero one that Git prints for a version that does not exist or is not hashed yet."""
    return oid if oid.strip("0") else ""


def _first(headers: dict[bytes, list[bytes]], key: bytes) -> bytes:
    """The first value of a commit's header; empty if the commit lacks it."""
    values = headers.get(key)
    return values[0] if values else b""


def _charset(name: bytes) -> str:
    """The charset of a commit's `encoding` header if Git and Python both know it, otherwise UTF-8.

    Python has codecs that Git does not know; they raise, or decode to another text than Git shows.
    """
    try:
        codec = codecs.lookup(name[:MAX_CHARSET_CHARS].decode("ascii")).name
    except (LookupError, ValueError):
        return "utf-8"
    return codec if GIT_CHARSETS.match(codec) else "utf-8"


def _parse_person(value: bytes) -> tuple[Person, datetime]:
    """Parses the value of an author or committer header: person and date; an empty person and 1970 if it is
    malformed."""
    match = PERSON.match(value)
    if match is None:
        return Person("", ""), datetime.fromtimestamp(0, UTC)
    person = Person(_text(match["name"]), _text(match["email"]))
    zone = UTC
    if match["sign"]:
        minutes = int(match["hours"]) * 60 + int(match["minutes"])
        if match["sign"] == b"-":
            minutes = -minutes
        if abs(minutes) < MINUTES_PER_DAY:  # `timezone` takes no longer offset, but a commit may hold `+9999`
            zone = timezone(timedelta(minutes=minutes))
    try:
        date = datetime.fromtimestamp(int(match["seconds"] or 0), zone)
    except (OverflowError, ValueError, OSError):
        date = datetime.fromtimestamp(0, zone)
    return person, date


def _nul_ended_parts(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The parts of a stream that NUL ends, each cut at MAX_MESSAGE_BYTES; also a last part whose NUL did not come."""
    unfinished = b""  # the part whose end has not come yet
    for piece in pieces:
        *endings, beginning = piece.split(b"\0")
        for ending in endings:
            yield unfinished + ending[: MAX_MESSAGE_BYTES - len(unfinished)]
            unfinished = b""
        unfinished += beginning[: MAX_MESSAGE_BYTES - len(unfinished)]
    if unfinished:
        yield unfinished


def _paths_until_empty_part(parts: Iterator[bytes]) -> list[str]:
    """The paths of a commit, the first MAX_PATHS of them; reads on to the empty part that follows them. Git prints a
    line break before the first path."""
    paths: list[str] = []
    for part in parts:
        if not part:
            break
        if len(paths) < MAX_PATHS:
            path = os.fsdecode(part)
            paths.append(path if paths else path.removeprefix("\n"))
    return paths
