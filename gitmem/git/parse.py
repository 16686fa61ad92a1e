"""Git's own formats as values: tree lists, raw differences, commits, blame. Bytes in, values out."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import chain

from gitmem.git.objects import BlameLine, Change, Commit, Entry, Person
from gitmem.lazy_patterns import lazy

PERSON = lazy(rb"^(.*?) ?<([^>]*)> ?(-?\d+)? ?([+-]\d{4})?")
CHARSET = 40  # characters of the name of one
CHARSETS = lazy(
    r"ascii|big5|cp\d|euc_|gb|hp-|hz$|iso(?:8859|2022)|johab|koi8|kz1048|mac-|ptcp|shift_jis|tis-|utf-(?:7|8|16|32)"
)


def parse_entries(out: bytes) -> list[Entry]:
    """`ls-tree -r -z`."""
    entries = []
    modes: dict[str, int] = {}
    for row in os.fsdecode(out).split("\0"):  # a tree may have a hundred thousand: decoded together, every field given
        if row:
            head, _, path = row.partition("\t")
            mode, _, oid = head.split(" ")
            if mode not in modes:
                modes[mode] = int(mode, 8)
            entries.append(Entry(path, modes[mode], oid, -1))
    return entries


def parse_staged(out: bytes) -> list[Entry]:
    """`ls-files -s -z`: stage 0, and stage 2 (ours) of unmerged paths."""
    entries = []
    for row in out.split(b"\0"):
        if row:
            head, _, path = row.partition(b"\t")
            mode, oid, stage = head.split(b" ")
            if stage in (b"0", b"2"):
                entries.append(Entry(os.fsdecode(path), int(mode, 8), oid.decode()))
    return entries


def parse_removals(out: bytes) -> dict[str, str]:
    """`log --raw -z --format=%x00%H` of removals: each path with the first commit that is named, the newest."""
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
    """`--raw -z --no-abbrev`; an all-zero oid becomes ""."""
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
    """A raw commit object, gitformat-commit-object; what cannot be decoded is replaced, what is missing is empty."""
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
    """The charset that a commit's header names; UTF-8 where Python has none of that name.

    Of Python's codecs some are none that Git knows, and decode to another text than Git shows, or raise.
    """
    try:
        found = codecs.lookup(name[:CHARSET].decode("ascii")).name
    except (LookupError, ValueError):
        return "utf-8"
    if CHARSETS.match(found):
        return found
    return "utf-8"


MESSAGE_BYTES = 1 << 20  # bytes of a message that `parse_messages` keeps
PATHS = 12  # of a commit that `parse_messages` keeps


def parse_messages(pieces: Iterable[bytes]) -> Iterator[tuple[str, str, str, str, list[str]]]:
    """`log -z --name-only` in the format `binary.MESSAGE`: (side, oid, author, message, first paths) of each commit.

    Each part ends with NUL, which neither a message nor a path can hold: two empty parts come before a commit, which is
    three parts, then its paths up to the next empty one. What a part has beyond MESSAGE_BYTES is left out.
    """
    parts: list[str] = []  # of the commit that is being read
    begun = b""  # of a part whose end has not come
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
                if len(parts) > 3:
                    paths = [parts[3].removeprefix("\n"), *parts[4:]]
                else:
                    paths = []
                yield parts[0][0], parts[0][1:], parts[1], parts[2], paths
                parts = []


def _person(value: bytes) -> tuple[Person, datetime]:
    """The person and the date of an author or committer line; an empty person and 1970 when the line is malformed."""
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
    """`blame --porcelain`."""
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
    """(files, oids of the subtrees) of a tree object as Git stores it: mode, space, name, NUL and oid, again and
    again."""
    files, subtrees, at = 0, [], 0
    while at < len(data):
        end = data.index(b"\0", at) + 1
        if data.startswith(b"40000 ", at):
            subtrees.append(data[end : end + oid_bytes].hex())
        else:
            files += 1
        at = end + oid_bytes
    return files, subtrees
