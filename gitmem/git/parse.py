"""Parses Git's output: tree lists, raw differences, commits, blame. Pure: bytes in, values out."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import chain

from gitmem.git.objects import BlameLine, Change, Commit, Entry, Person
from gitmem.lazy_patterns import lazy

PERSON = lazy(rb"^(.*?) ?<([^>]*)> ?(-?\d+)? ?([+-]\d{4})?")
MAX_CHARSET_CHARS = 40  # of the name of a charset
GIT_CHARSETS = lazy(
    r"ascii|big5|cp\d|euc_|gb|hp-|hz$|iso(?:8859|2022)|johab|koi8|kz1048|mac-|ptcp|shift_jis|tis-|utf-(?:7|8|16|32)"
)


def parse_entries(out: bytes) -> list[Entry]:
    """Parses `ls-tree -r -z`."""
    entries = []
    modes: dict[str, int] = {}
    for row in os.fsdecode(out).split("\0"):  # decoded at once: a tree may have a hundred thousand entries
        if row:
            head, _, path = row.partition("\t")
            mode, _, oid = head.split(" ")
            if mode not in modes:
                modes[mode] = int(mode, 8)
            entries.append(Entry(path, modes[mode], oid, -1))
    return entries


def parse_staged(out: bytes) -> list[Entry]:
    """Parses `ls-files -s -z`: entries of stage 0, and of stage 2 (ours) for unmerged paths."""
    entries = []
    for row in out.split(b"\0"):
        if row:
            head, _, path = row.partition(b"\t")
            mode, oid, stage = head.split(b" ")
            if stage in (b"0", b"2"):
                entries.append(Entry(os.fsdecode(path), int(mode, 8), oid.decode()))
    return entries


def parse_removals(out: bytes) -> dict[str, str]:
    """Parses `log --raw -z --format=%x00%H` of removals: path -> the newest commit that removed it."""
    found: dict[str, str] = {}
    commit = ""
    fields = iter(out.split(b"\0"))
    for field in fields:
        word = field.strip(b"\n")
        if word.startswith(b":"):
            found.setdefault(os.fsdecode(next(fields, b"")), commit)
        elif word:
            commit = word.decode()
    return found


def parse_raw(out: bytes) -> list[Change]:
    """Parses `--raw -z --no-abbrev` of a difference; an all-zero oid becomes ""."""
    fields = out.split(b"\0")
    changes = []
    at = 0
    while at < len(fields):
        head = fields[at].lstrip(b"\n")
        at += 1
        if not head.startswith(b":"):
            continue
        old_mode, new_mode, old_oid, new_oid, status = head[1:].decode().split(" ")
        old_path = path = os.fsdecode(fields[at])
        at += 1
        if status[0] in "RC":
            path = os.fsdecode(fields[at])
            at += 1
        changes.append(
            Change(
                status=status[0],
                path=path,
                old_path="" if status[0] == "A" else old_path,
                old_oid="" if not old_oid.strip("0") else old_oid,
                new_oid="" if not new_oid.strip("0") else new_oid,
                old_mode=int(old_mode, 8),
                new_mode=int(new_mode, 8),
            )
        )
    return changes


def parse_commit(oid: str, data: bytes) -> Commit:
    """Parses the bytes of a commit object. Bytes that cannot be decoded are replaced. A missing field is empty; a
    missing or malformed date is the start of 1970."""
    head, _, body = data.partition(b"\n\n")
    fields: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        if not line.startswith(b" "):
            key, _, value = line.partition(b" ")
            fields.setdefault(key, []).append(value)
    message = body.decode(_charset(fields.get(b"encoding", [b"utf-8"])[0]), "replace")
    author, author_date = _person(fields.get(b"author", [b""])[0])
    committer, commit_date = _person(fields.get(b"committer", [b""])[0])
    return Commit(
        oid=oid, parents=tuple(p.decode() for p in fields.get(b"parent", [])),
        tree=fields.get(b"tree", [b""])[0].decode(), author=author, author_date=author_date,
        committer=committer, commit_date=commit_date, message=message,
    )  # fmt: skip


def _charset(name: bytes) -> str:
    """The charset of a commit's `encoding` header if Git and Python both know it, otherwise UTF-8.

    Python has codecs that Git does not know; they raise, or decode to another text than Git shows.
    """
    try:
        found = codecs.lookup(name[:MAX_CHARSET_CHARS].decode("ascii")).name
    except (LookupError, ValueError):
        return "utf-8"
    return found if GIT_CHARSETS.match(found) else "utf-8"


MESSAGE_BYTES = 1 << 20  # of a message that `parse_messages` keeps
PATHS = 12  # paths of a commit that `parse_messages` keeps


def parse_messages(pieces: Iterable[bytes]) -> Iterator[tuple[str, str, str, str, list[str]]]:
    """Parses `log -z --name-only` in the format `binary.MESSAGE`: (side, oid, author, message, the first PATHS paths)
    of commits.

    Every part ends with NUL, which neither a message nor a path can hold. Two empty parts come before a commit; a
    commit is three parts, then its paths up to the next empty part. A part is cut at MESSAGE_BYTES.
    """
    parts: list[str] = []  # of the commit that is being read
    begun = b""  # the part whose end has not come yet
    for piece in chain(pieces, (b"\0\0",)):
        first, *more = piece.split(b"\0")
        begun += first[: max(0, MESSAGE_BYTES - len(begun))]
        if not more:
            continue
        *whole, last = begun, *more
        begun = last
        for part in whole:
            if part or 0 < len(parts) < 3:
                if len(parts) < 3 + PATHS:
                    parts.append(os.fsdecode(part) if len(parts) >= 3 else part.decode("utf-8", "replace"))
            elif parts:
                paths = [path.removeprefix("\n") for path in parts[3:4]] + parts[4:]
                yield parts[0][0], parts[0][1:], parts[1], parts[2], paths
                parts = []


def _person(value: bytes) -> tuple[Person, datetime]:
    """Parses an author or committer line: person and date. An empty person and 1970 if it is malformed."""
    match = PERSON.match(value)
    if not match:
        return Person("", ""), datetime.fromtimestamp(0, UTC)
    name, email, seconds, offset = match.groups()
    zone = UTC
    if offset:
        minutes = int(offset[1:3]) * 60 + int(offset[3:5])
        if minutes < 1440:  # minutes of a day; `timezone` takes no longer offset
            zone = timezone(timedelta(minutes=-minutes if offset[:1] == b"-" else minutes))
    try:
        date = datetime.fromtimestamp(int(seconds or 0), zone)
    except (OverflowError, ValueError, OSError):
        date = datetime.fromtimestamp(0, zone)
    return Person(name.decode("utf-8", "replace"), email.decode("utf-8", "replace")), date


def parse_blame(out: bytes) -> list[BlameLine]:
    """Parses `blame --porcelain`."""
    rows = []
    commit, source_line, line = "", 0, 0
    for row in out.split(b"\n"):
        if row.startswith(b"\t"):
            text = row[1:].decode("utf-8", "replace")
            rows.append(BlameLine(line, text, commit, source_line))
        else:
            words = row.split(b" ")
            if len(words) in (3, 4) and len(words[0]) in (40, 64) and words[1].isdigit():
                commit, source_line, line = words[0].decode(), int(words[1]), int(words[2])
    return rows


def parse_tree(data: bytes, oid_bytes: int) -> tuple[int, list[str]]:
    """(number of files, oids of the subtrees) of a stored tree object: rows of mode, space, name, NUL and oid."""
    files, subtrees, at = 0, [], 0
    while at < len(data):
        end = data.index(b"\0", at) + 1
        if data.startswith(b"40000 ", at):
            subtrees.append(data[end : end + oid_bytes].hex())
        else:
            files += 1
        at = end + oid_bytes
    return files, subtrees
