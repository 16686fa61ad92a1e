"""What a host's hook could not do is a line that `git mem doctor` reads out, whatever is broken."""

from __future__ import annotations

import json
import os
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitmem.agents.hook_log import MAX_LOG_BYTES, Failure, append, failures
from tests.harness import SOURCE, Repo
from tests.read_only import read_only_run

AT = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- The invoice date is UTC.\n"})
    repo.mem("session", "hook", "SessionStart", input='{"session_id": "s1"}')
    return repo


def test_lines_are_read_from_a_day_on_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    for days in (9, 1):
        append(tmp_path, Failure(AT - timedelta(days=days), "Stop", "one\ntwo: three"))
    with open(tmp_path / "session.log", "a") as log:
        log.write("no line of ours\n2026-02-05 x\n2026-02-05T00:00:00 naive: x\n")
    assert failures(tmp_path, AT - timedelta(days=7)) == [Failure(AT - timedelta(days=1), "Stop", "one two: three")]
    assert failures(tmp_path / "none", AT) == []


def test_the_log_is_bounded_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "session.log").write_text("x" * MAX_LOG_BYTES)
    append(tmp_path, Failure(AT, "Stop", "x"))
    assert (tmp_path / "session.log").stat().st_size < 100
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    append(tmp_path / "link", Failure(AT, "Stop", "x"))
    append(tmp_path / "none", Failure(AT, "Stop", "x"))
    assert list((tmp_path / "elsewhere").iterdir()) == [] and not (tmp_path / "none").exists()


def test_doctor_reads_out_what_a_hook_could_not_do(memory: Repo) -> None:
    memory.mem("index")
    assert "hooks of hosts" not in memory.mem("doctor").stdout
    memory.mem("session", "hook", "Stop", input="not json")
    done = memory.mem("doctor", check=False)
    assert done.returncode == 1 and "at Stop: what the host hands over is no JSON" in done.stdout
    (memory.path / ".git/gitmem/session.log").unlink()
    assert memory.mem("doctor").returncode == 0


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_what_is_too_large_is_said(event: str, memory: Repo) -> None:
    given = json.dumps({"session_id": "s1", "messages": ["x" * (32 << 20)], "info": {}})
    env = {"OPENCODE_PROJECT_DIR": str(memory.path)}
    done = memory.mem("session", "hook", event, "--host", "opencode", input=given, env=env)
    assert done.stdout == done.stderr == ""
    assert f"{event}: the host hands over more than 32 MiB" in (memory.path / ".git/gitmem/session.log").read_text()


def test_a_first_failure_is_read_out_where_there_is_no_index_yet(repo: Repo) -> None:
    repo.commit("memory", {"MEMORY.md": "- a\n"})
    assert not (repo.path / ".git/gitmem").exists()
    done = repo.run(sys.executable, "-m", "gitmem", "session", "hook", "Stop", input="no json")
    assert done.stdout == done.stderr == ""
    said = repo.mem("doctor", check=False).stdout
    assert "hooks of hosts: 1 failure in 7 days" in said and "at Stop: what the host hands over is no JSON" in said


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_what_a_read_only_repository_keeps_from_being_written_is_read_out(
    event: str, memory: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GITMEM_DETACHED", "1")
    memory.mem("index")
    talk = tmp_path / "talk.jsonl"
    said = {"id": "t1", "role": "user", "text": "We decided that the crane is blue."}
    talk.write_text(json.dumps(said) + "\n" + json.dumps({**said, "id": "t2", "role": "assistant", "text": "Noted."}))
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"session_id": "s1", "transcript_path": str(talk)}))
    hook = f'exec "{sys.executable}" -m gitmem session hook {event} < "{given}"'
    done = read_only_run(memory, "sh", "-c", hook)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list((memory.path / "memory").glob("2*.md")) and "s1" not in str(list((tmp_path / "cache").rglob("*")))
    log = next((tmp_path / "cache").rglob("session.log"))
    assert log.stat().st_mode & 0o077 == 0 and log.parent.stat().st_mode & 0o077 == 0
    said_by_doctor = memory.mem("doctor", check=False).stdout
    assert "hooks of hosts: 1 failure in 7 days" in said_by_doctor and f"at {event}: " in said_by_doctor
    assert str(log) in said_by_doctor


def test_a_broken_installation_ends_with_0_and_is_said_in_the_projects_log(memory: Repo, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(SOURCE / "gitmem", broken / "gitmem", ignore=shutil.ignore_patterns("*.bin", "*.gguf"))
    (broken / "gitmem/hosts/transcript.py").write_text("import nothing_of_this_name\n")
    foreign = Repo(tmp_path / "foreign")
    env = {"PYTHONPATH": str(broken), "CLAUDE_PROJECT_DIR": str(memory.path)}
    command = (sys.executable, "-m", "gitmem", "session", "hook", "Stop")
    for _ in range(2):
        done = foreign.run(*command, input="{}", env=env)
        assert done.stdout == done.stderr == ""
    log = memory.path / ".git/gitmem/session.log"
    assert log.read_text().count("Stop: ModuleNotFoundError nothing_of_this_name") == 2
    assert not (foreign.path / ".git/gitmem").exists()
    assert "gitmem" not in os.listdir(foreign.path)
