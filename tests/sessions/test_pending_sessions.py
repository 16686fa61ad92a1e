"""What a session decided is written once, whatever stood in the way of its own events."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.git.worktree import locked
from gitmem.hosts.transcript import Role, Transcript, Turn
from gitmem.sessions import pending_sessions
from gitmem.sessions.lifecycle import Source
from gitmem.sessions.pending_sessions import NoteDetails, add_note, list_notes, write_pending
from gitmem.sessions.state import state_lock
from tests.harness import Repo

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)
LOG = "memory/2026-02-05.md"
DECIDED = "We decided that the harbour crane is painted blue."
LOCKS = {"another writer": "write", "the session itself": state_lock("s1")}


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_NOW", NOW.isoformat())
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- The invoice date is UTC.\n"})
    return repo


def talk(path: Path, *said: str) -> Path:
    rows = [{"id": f"t{at}", "role": "user", "text": text, "at": NOW.isoformat()} for at, text in enumerate(said)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def fire(repo: Repo, event: str, host: str = "claude", **given: Any) -> str:
    fields = {"session_id": "s1", **given}
    return repo.mem("session", "hook", event, "--host", host, input=json.dumps(fields)).stdout


def folder(repo: Repo) -> Path:
    return repo.path / ".git/gitmem/sessions"


def waiting(repo: Repo) -> list[Path]:
    return sorted(folder(repo).glob("*.pending"))


def fire_held(repo: Repo, lock: str, event: str, host: str, **given: Any) -> None:
    """Fire an event, the end of a session in the process of its own, while another process holds a lock; what waits for
    it gives up soon."""
    script = f"""
import gitmem.agents.event_contexts as contexts, gitmem.agents.event_input as inputs, gitmem.agents.host_events as events
import gitmem.git.transaction as transaction, gitmem.sessions.lifecycle as lifecycle
from gitmem.environment import open_environment
for module in (contexts, inputs, events):
    module.EVENT_SECONDS = dict.fromkeys(module.EVENT_SECONDS, 2)
if {event!r} == "SessionEnd":
    events.DETACHED = "PATH"
transaction.WRITE_WAIT = lifecycle.end_session.__kwdefaults__["wait"] = 0.3
events.handle({event!r}, {host!r}, open_environment)
"""
    fields = json.dumps({"session_id": "s1", **given})
    with locked(repo.path / ".git", lock, 0):
        done = subprocess.run(
            [sys.executable, "-c", script], input=fields, text=True, cwd=repo.path, capture_output=True
        )
    assert (done.returncode, done.stderr) == (0, "")


def opencode(*said: str) -> dict[str, Any]:
    info = {"id": "s1"}
    at = NOW.timestamp() * 1000
    return {"info": info, "messages": [
        {"info": {"id": f"m{number}", "role": "user", "time": {"created": at}}, "parts": [{"type": "text", "text": text}]}
        for number, text in enumerate(said)]}  # fmt: skip


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS.keys())
@pytest.mark.parametrize("host", ["claude", "opencode"])
def test_a_lock_that_is_held_over_stop_and_the_end_loses_nothing_and_writes_nothing_twice(
    host: str, lock: str, memory: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    korean = "우리는 등대를 흰색으로 칠하기로 결정했다."
    file = {"transcript_path": str(talk(tmp_path / "말.jsonl", DECIDED, korean))}
    given = file if host == "claude" else opencode(DECIDED, korean)
    fire_held(memory, lock, "Stop", host, **given)
    fire_held(memory, lock, "SessionEnd", host, **given)
    assert not (memory.path / LOG).exists() and waiting(memory)
    said = memory.mem("doctor", check=False).stdout
    assert "pending sessions: 1 session waits to be written" in said and ": s1\n" in said
    assert "git mem session retry" in said
    monkeypatch.setenv("GITMEM_DETACHED", "1")  # no time limit
    start = fire(memory, "SessionStart", session_id="s2")
    log = memory.read(LOG)
    assert log.count(DECIDED) == 1 and log.count(korean) == 1 and waiting(memory) == []
    assert DECIDED in start
    (episode,) = (memory.path / "memory/sessions").glob("*.md")
    assert DECIDED in episode.read_text()
    fire(memory, "Stop", host, **given)
    fire(memory, "SessionEnd", host, **given)
    assert memory.read(LOG) == log and len(list((memory.path / "memory/sessions").glob("*.md"))) == 1
    assert "pending sessions" not in memory.mem("doctor", check=False).stdout


def test_the_command_writes_what_waits_and_says_so(memory: Repo, tmp_path: Path) -> None:
    assert "no session waits" in memory.mem("session", "retry").stdout
    file = str(talk(tmp_path / "talk.jsonl", DECIDED))
    fire_held(memory, "write", "Stop", "claude", transcript_path=file)
    assert "2026-02-05 14:30  s1\n" in memory.mem("session", "retry", "--dry-run").stdout
    assert not (memory.path / LOG).exists()
    done = json.loads(memory.mem("session", "retry", "--json").stdout)["sessions"]
    assert [(row["session"], row["problem"], row["lines"][0]["text"]) for row in done] == [("s1", None, DECIDED)]
    assert memory.read(LOG).count(DECIDED) == 1 and waiting(memory) == []


def test_a_transcript_that_is_gone_is_said_and_its_note_stays(memory: Repo, tmp_path: Path) -> None:
    file = talk(tmp_path / "talk.jsonl", DECIDED)
    fire_held(memory, "write", "Stop", "claude", transcript_path=str(file))
    file.unlink()
    failed = memory.mem("session", "retry", check=False)
    assert failed.returncode == 1 and "session s1 still waits: its transcript cannot be read" in failed.stderr
    talk(file, DECIDED)
    memory.mem("session", "retry")
    assert memory.read(LOG).count(DECIDED) == 1


def test_a_process_that_is_killed_in_the_middle_leaves_its_session_to_the_next_event(
    memory: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(talk(tmp_path / "talk.jsonl", DECIDED))
    command = [sys.executable, "-m", "gitmem", "session", "hook", "Stop"]
    with locked(memory.path / ".git", "write", 0):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=memory.path, env=dict(os.environ))
        assert process.stdin is not None
        process.stdin.write(json.dumps({"session_id": "s1", "transcript_path": file}).encode())
        process.stdin.close()
        while not waiting(memory) and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(waiting(memory)) == 1
    monkeypatch.setenv("GITMEM_DETACHED", "1")
    fire(memory, "SessionStart", session_id="s2")
    assert memory.read(LOG).count(DECIDED) == 1 and waiting(memory) == []


# -- notes themselves ------------------------------------------------------------------------------------------


def turns(*said: str) -> Transcript:
    return Transcript(tuple(Turn(f"t{at}", Role.USER, text, at + 1, NOW) for at, text in enumerate(said)), "s1")


def test_a_copy_is_private_holds_no_secret_and_is_in_bounds(memory: Repo) -> None:
    repo = open_repository(memory.path, {})
    secret = "ghp_" + "".join("wJ7kQ2mZ9xR4tY8pL1vB5nC3dF6gH0sA1eU2"[:36])
    long = turns(
        f"Our token is {secret}.",
        "x" * (pending_sessions.MAX_TURN_BYTES + 1),
        *[f"{n} " + "가" * 9000 for n in range(60)],
        DECIDED,
    )
    name, dropped = add_note(repo, long, Source("s1"), NoteDetails(NOW))
    path = folder(memory) / name
    assert path.stat().st_mode & 0o077 == 0 and folder(memory).stat().st_mode & 0o077 == 0 and dropped == ()
    assert secret not in path.read_text() and path.stat().st_size < pending_sessions.MAX_COPY_BYTES + (1 << 16)
    (note,) = list_notes(repo.common_dir)
    assert note.turns[-1].text == DECIDED and note.cut > 0 and note.cut + len(note.turns) == len(long.turns)


def test_the_oldest_notes_go_beyond_the_limit_and_are_named(memory: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_sessions, "MAX_NOTES", 3)
    repo = open_repository(memory.path, {})
    gone: list[str] = []
    for at in range(5):
        how = NoteDetails(NOW + timedelta(minutes=at))
        gone += add_note(repo, turns(f"{at}. {DECIDED}"), Source(f"s{at}"), how)[1]
    assert gone == ["s0", "s1"] and [note.session for note in list_notes(repo.common_dir)] == ["s2", "s3", "s4"]


def test_a_newer_note_takes_the_place_of_one_that_says_no_more(memory: Repo, tmp_path: Path) -> None:
    repo = open_repository(memory.path, {})
    file = str(talk(tmp_path / "talk.jsonl", DECIDED))
    for at, how in enumerate(
        (NoteDetails(NOW), NoteDetails(NOW + timedelta(minutes=1), True), NoteDetails(NOW + timedelta(minutes=2)))
    ):
        add_note(repo, turns(*["more"] * at, DECIDED), Source("s1", "", file), how)
    assert [note.ended for note in list_notes(repo.common_dir)] == [True, False]
    for at, said in enumerate((("a", "b"), ("c",), ("a", "b", "d"))):
        add_note(repo, turns(*said), Source("s2"), NoteDetails(NOW + timedelta(seconds=at)))
    left = [[turn.text for turn in note.turns] for note in list_notes(repo.common_dir) if note.session == "s2"]
    assert sorted(left) == [["a", "b", "d"], ["c"]]


def test_what_is_no_note_is_left_out_and_one_that_fails_is_left_to_a_person(memory: Repo) -> None:
    repo = open_repository(memory.path, {})
    add_note(repo, turns(DECIDED), Source("s1", "", "/nowhere/talk.jsonl"), NoteDetails(NOW))
    for name, data in (("a", b""), ("b", b"[]"), ("c", b'{"at": 1}'), ("d", b'{"session": "x", "at": "2026-02-05"}')):
        (folder(memory) / f"{name}.pending").write_bytes(data)
    (folder(memory) / "e.pending").symlink_to("/etc/passwd")
    assert [note.session for note in list_notes(repo.common_dir)] == ["s1"]
    problems = [[written.problem for written in write_pending(repo, Config(), NOW)] for _ in range(5)]
    assert [len(each) for each in problems] == [1, 1, 1, 0, 0] and "cannot be read" in problems[0][0]
    assert len(list(write_pending(repo, Config(), NOW, tries=None))) == 1
