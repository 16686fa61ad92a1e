"""Sessions in the databases of OpenClaw and opencode, with the columns of today's, are those of the transcripts."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard

from gitmem.hosts.transcript import By
from gitmem.hosts.transcript_parser import parse
from gitmem.sessions.past_sessions import PastSession, files_below, files_of_host, list_sessions

RECORDED = Path(__file__).parent / "recorded"
START = datetime(2026, 11, 23, 4, 14, tzinfo=UTC)
MILLISECONDS = int(START.timestamp()) * 1000
OPENCLAW = """
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT, created_via TEXT);
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, created_at INTEGER);
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, event_zstd BLOB,
    event_utf8_bytes INTEGER, navigation_json TEXT, PRIMARY KEY (session_id, seq));
"""
OPENCODE = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
"""


def made(path: Path, tables: str, rows: Mapping[str, list[tuple[Any, ...]]]) -> Path:
    """A database with these tables and, by the columns they name, rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(tables)
        for into, listed_rows in rows.items():
            marks = ", ".join("?" * (into.count(",") + 1))
            connection.executemany(f"INSERT INTO {into} VALUES ({marks})", listed_rows)
        connection.commit()
    return path


def openclaw(home: Path, events: list[tuple[Any, ...]], via: str = "run") -> Path:
    """OpenClaw's database of a session `s1`: (JSON, packed, outline) of each event."""
    rows: dict[str, list[tuple[Any, ...]]] = {
        "session_nodes (session_key, created_via)": [("agent:main:main", via)],
        "session_windows (session_id, session_key, created_at)": [("s1", "agent:main:main", MILLISECONDS)],
        "transcript_events (session_id, seq, event_json, event_zstd, navigation_json)": [
            ("s1", at, *event) for at, event in enumerate(events)
        ],
    }
    return made(home / ".openclaw/agents/main/agent/openclaw-agent.sqlite", OPENCLAW, rows)


def only(path: Path) -> PastSession:
    (session,) = list_sessions([path]).sessions
    return session


def said(session: PastSession) -> list[tuple[str, By]]:
    return [(turn.text, turn.by) for turn in session.read().transcript.turns if turn.text]


def test_openclaws_sessions_are_read_from_its_database(tmp_path: Path) -> None:
    recorded = (RECORDED / "openclaw.jsonl").read_text().splitlines()
    packer = zstandard.ZstdCompressor(level=1, write_checksum=True)
    outline = json.dumps({"navigation": {"type": "message", "message": {"role": "user"}}})
    events: list[tuple[Any, ...]] = [(line, None, None) for line in recorded[:-1]]
    path = openclaw(tmp_path, [*events, (None, packer.compress(recorded[-1].encode()), outline)])
    assert files_of_host("openclaw", tmp_path) == [path] == files_below(tmp_path)
    session = only(path)
    assert (session.name, session.start, session.project) == ("s1", START, "/project")
    expected = [(turn.text, turn.by) for turn in parse("\n".join(recorded).encode()).turns if turn.text]
    assert said(session) == expected and By.SUMMARY in dict((by, text) for text, by in expected)
    assert session.read().sha256 == session.read().sha256


def test_what_is_compressed_needs_a_reader_and_the_result_of_a_tool_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, module, None)
    message = {"role": "toolResult", "toolCallId": "c1"}
    outline = json.dumps({"navigation": {"type": "message", "id": "e1", "message": message}})
    user = json.dumps({"type": "message", "message": {"role": "user", "content": "We decided on blue."}})
    assert said(only(openclaw(tmp_path / "a", [(user, None, None), (None, b"packed", outline)]))) == [
        ("We decided on blue.", By.SPEAKER)
    ]
    for bad in ("{}", "[]", "not json", '{"navigation": []}'):
        with pytest.raises(OSError, match="pip install zstandard"):
            only(openclaw(tmp_path / f"b{bad}".replace("/", ""), [(None, b"packed", bad)])).read()


def test_a_packed_message_that_is_damaged_or_too_long_leaves_its_session_out(tmp_path: Path) -> None:
    long = zstandard.ZstdCompressor().compress(b"x" * (5 << 20))
    unsized = zstandard.ZstdCompressor(write_content_size=False).compress(b"x" * (5 << 20))
    for at, packed in enumerate((b"no frame", long[:-3], unsized)):
        with pytest.raises(OSError, match="damaged"):
            only(openclaw(tmp_path / str(at), [(None, packed, "{}")])).read()


def test_sessions_of_timers_and_of_other_agents_are_nobodys(tmp_path: Path) -> None:
    for via in ("cron", "spawn", "internal"):
        assert list_sessions([openclaw(tmp_path / via, [("{}", None, None)], via)]).sessions == ()


def test_opencodes_sessions_are_read_from_its_database(tmp_path: Path) -> None:
    recorded = json.loads((RECORDED / "opencode.jsonl").read_text())
    messages: list[tuple[Any, ...]] = []
    parts: list[tuple[Any, ...]] = []
    for at, message in enumerate(recorded["messages"]):
        info = {key: value for key, value in message["info"].items() if key not in ("id", "sessionID")}
        messages.append((message["info"]["id"], "s1", at, json.dumps(info)))
        parts += [(part["id"], message["info"]["id"], "s1", at, json.dumps(part)) for part in message["parts"]]
    rows: dict[str, list[tuple[Any, ...]]] = {
        "session (id, parent_id, directory, time_created)": [
            ("s1", None, "/project", MILLISECONDS), ("s2", "s1", "/project", MILLISECONDS)],
        "message (id, session_id, time_created, data)": [*messages, ("m9", "s1", 99, "[1]")],
        "part (id, message_id, session_id, time_created, data)": [*parts, ("p9", "m9", "s1", 99, "not json")],
    }  # fmt: skip
    path = made(tmp_path / ".local/share/opencode/opencode.db", OPENCODE, rows)
    assert files_of_host("opencode", tmp_path) == [path]
    session = only(path)
    assert (session.name, session.start, session.project) == ("s1", START, "/project")
    whole = parse(json.dumps(recorded).encode())
    assert said(session) == [(turn.text, turn.by) for turn in whole.turns if turn.text and turn.role != "tool"]


def test_a_database_of_something_else_or_a_damaged_one_is_said(tmp_path: Path) -> None:
    other = made(tmp_path / "other.db", "CREATE TABLE session (id text);", {"session (id)": [("s1",)]})
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    found = list_sessions([other, damaged])
    assert found.sessions == () and [place for place, _ in found.left_out] == [str(other), str(damaged)]
    assert found.left_out[0][1] == "holds no turn of a known host" and found.left_out[1][1].startswith("cannot be read")
