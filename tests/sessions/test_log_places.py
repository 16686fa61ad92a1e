"""A new line, a flush and an import write to the same daily log: one function decides its path."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from gitmem.config import Config
from gitmem.daily_logs import log_path
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository
from gitmem.hosts.transcript import Role, Transcript, Turn
from gitmem.memory import writing
from gitmem.sessions.lifecycle import Source, end_session, flush
from gitmem.sessions.past_sessions import files_below, list_sessions
from gitmem.sessions.session_import import ImportOptions, import_sessions
from tests.harness import Repo

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)
SAID = "We decided that the crane is blue."
DAILY = ("diary/*/YYYY-MM-DD.md", "journals/YYYY_MM_DD.md")
CONFIG = Config(memory_daily=DAILY, memory_paths=("memory/*.md", "journals/*.md"))


@pytest.fixture
def git(repo: Repo) -> Iterator[Repository]:
    repo.commit("first")
    opened = open_repository(repo.path, os.environ)
    yield opened
    opened.close()


def write_session(git: Repository, how: str, agent: str, folder: Path) -> None:
    """Flush, end or import a session with one turn."""
    spoken = Transcript((Turn("t1", Role.USER, SAID, 1, at=NOW),), "s1")
    match how:
        case "flush":
            flush(git, CONFIG, spoken, Source(agent=agent), now=NOW)
        case "end":
            end_session(git, CONFIG, spoken, Source(agent=agent), now=NOW)
        case _:
            turn = {"type": "user", "uuid": "t1", "sessionId": "s1", "timestamp": NOW.isoformat()}
            folder.mkdir(exist_ok=True)
            line = json.dumps({**turn, "message": {"role": "user", "content": SAID}})
            (folder / "s1.jsonl").write_text(f"{line}\n")
            found = list_sessions(files_below(folder)).sessions
            list(import_sessions(git, CONFIG, found, ImportOptions("claude", agent), NOW))


@pytest.mark.parametrize(("agent", "log"), [("", "journals/2026_02_05.md"), ("coder", "memory/2026-02-05.coder.md")])
@pytest.mark.parametrize("how", ["flush", "end", "import"])
def test_a_line_goes_to_the_log_that_the_setting_names(
    repo: Repo, git: Repository, tmp_path: Path, how: str, agent: str, log: str
) -> None:
    writing.add(git, CONFIG, writing.NewLine("The mast broke.", to="daily", agent=agent), now=NOW.replace(hour=9))
    before = repo.read(log)
    for _ in range(2):
        write_session(git, how, agent, tmp_path / "sessions")
        paths = {path.relative_to(repo.path).as_posix() for path in repo.path.rglob("*.md")}
        assert {path for path in paths if "/sessions/" not in path} == {log}
        assert repo.read(log).startswith(before) and "## 14:30 - session" in repo.read(log)
        assert repo.read(log).count("the crane is blue") == 1


def test_only_a_pattern_that_names_one_file_a_day_is_written_to() -> None:
    day = date(2026, 2, 5)
    assert log_path(day, "", DAILY[:1]) == "memory/2026-02-05.md"
    assert log_path(day, "", (*DAILY[:1], "j/YYYYMMDD.md")) == "j/20260205.md"
    assert log_path(day, "", ("/away/YYYY-MM-DD.md", "a/../../YYYY-MM-DD.md")) == "memory/2026-02-05.md"
