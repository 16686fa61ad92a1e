"""Git's own formats as values: tree lists, raw differences, commits, blame. Bytes in, values out."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta, timezone

from gitmem.git.objects import BlameLine, Change, Commit, Entry, Person

PERSON = re.compile(rb"^(.*?) ?<([^>]*)> ?(-?\d+)? ?([+-]\d{4})?")


def parse_entries(out: bytes) -> list[Entry]:
    """`ls-tree -r -z`."""
    entries = []
    for row in out.split(b"\0"):
        if row:
            head, _, path = row.partition(b"\t")
            mode, _, oid = head.split(b" ")
            entries.append(Entry(os.fsdecode(path), int(mode, 8), oid.decode()))
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
    encoding = fields.get(b"encoding", [b"utf-8"])[0].decode("ascii", "replace")
    try:
        message = body.decode(encoding, "replace")
    except LookupError:
        message = body.decode("utf-8", "replace")
    author, author_date = _person(fields.get(b"author", [b""])[0])
    committer, commit_date = _person(fields.get(b"committer", [b""])[0])
    return Commit(
        oid=oid, parents=tuple(p.decode() for p in fields.get(b"parent", [])),
        tree=fields.get(b"tree", [b""])[0].decode(), author=author, author_date=author_date,
        committer=committer, commit_date=commit_date, message=message,
    )  # fmt: skip


def _person(value: bytes) -> tuple[Person, datetime]:
    match = PERSON.match(value)
    if not match:
        return Person("", ""), datetime.fromtimestamp(0, UTC)
    name, email, seconds, offset = match.groups()
    zone = UTC
    if offset:
        minutes = int(offset[1:3]) * 60 + int(offset[3:5])
        zone = timezone(timedelta(minutes=-minutes if offset[:1] == b"-" else minutes)) if minutes < 1440 else zone
    try:
        date = datetime.fromtimestamp(int(seconds or 0), zone)
    except (OverflowError, ValueError, OSError):
        date = datetime.fromtimestamp(0, zone)
    return Person(name.decode("utf-8", "replace"), email.decode("utf-8", "replace")), date


def parse_blame(out: bytes) -> list[BlameLine]:
    """`blame --porcelain`."""
    rows = []
    paths: dict[str, str] = {}
    commit, source_line, line = "", 0, 0
    for row in out.split(b"\n"):
        if row.startswith(b"\t"):
            text = row[1:].decode("utf-8", "replace")
            rows.append(BlameLine(line, text, commit, paths.get(commit, ""), source_line))
        elif row.startswith(b"filename "):
            paths[commit] = unquote(os.fsdecode(row[9:]))
        else:
            words = row.split(b" ")
            if len(words) in (3, 4) and len(words[0]) in (40, 64) and words[1].isdigit():
                commit, source_line, line = words[0].decode(), int(words[1]), int(words[2])
    return rows


ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


def unquote(path: str) -> str:
    """A path as Git quotes it in line-based output: `"a\\tb\\303\\251"`."""
    if len(path) < 2 or path[0] != '"' or path[-1] != '"':
        return path
    out = bytearray()
    body, at = path[1:-1], 0
    while at < len(body):
        if body[at] != "\\":
            out += os.fsencode(body[at])
            at += 1
        elif body[at + 1] in ESCAPES:
            out.append(ESCAPES[body[at + 1]])
            at += 2
        else:
            out.append(int(body[at + 1 : at + 4], 8))
            at += 4
    return os.fsdecode(bytes(out))
