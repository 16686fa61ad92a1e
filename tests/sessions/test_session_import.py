"""Old sessions become episodes and lines of their own days, once, through the gate, and an interruption loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gitmem.config import Config
from gitmem.errors import Refused
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository
from gitmem.hosts.transcript_parser import parse
from gitmem.json_values import json_value
from gitmem.sessions import session_import
from gitmem.sessions.lifecycle import Source, end_session, flush, unread_turns
from gitmem.sessions.past_sessions import (
    HEAD_BYTES,
    Listing,
    files_below,
    files_of_host,
    importable_hosts,
    list_sessions,
)
from gitmem.sessions.session_import import ImportedSession, ImportOptions, ImportState, import_sessions
from gitmem.sessions.state import load_state
from tests.harness import SOURCE, Repo

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
RECORDED = SOURCE / "tests/hosts/recorded"


@pytest.fixture
def git(repo: Repo) -> Iterator[Repository]:
    repo.commit("first")
    opened = open_repository(repo.path, os.environ)
    yield opened
    opened.close()


def entry(session: str, number: int, at: datetime, text: str, **more: Any) -> str:
    said = {"role": "user", "content": text}
    value = {"type": "user", "uuid": f"u{number}", "sessionId": session, "timestamp": at.isoformat(), "message": said}
    return json.dumps(value | more)


def session_file(folder: Path, session: str, at: datetime, texts: Sequence[str], name: str = "", **more: Any) -> Path:
    """A transcript in Claude Code's form with one turn a minute."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [entry(session, n, at + timedelta(minutes=n), text, **more) for n, text in enumerate(texts)]
    path = folder / (name or f"{session}.jsonl")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def bring(git: Repository, found: Listing, **more: Any) -> list[ImportedSession]:
    return list(import_sessions(git, Config(), found.sessions, ImportOptions("claude", **more), NOW))


def states(outcomes: Iterable[ImportedSession]) -> list[ImportState]:
    return [outcome.done for outcome in outcomes]


def memory(repo: Repo) -> dict[str, str]:
    return {path.relative_to(repo.path).as_posix(): path.read_text() for path in (repo.path / "memory").rglob("*.md")}


def some(folder: Path, count: int) -> Listing:
    """Sessions of as many days, each with a decision of its own."""
    for n in range(count):
        at = datetime(2026, 1, 1 + n % 28, 9 + n // 28, tzinfo=UTC)
        said = [f"We decided that crane number {n} is painted blue.", "Thank you."]
        session_file(folder, f"s{n:03}", at, said)
    return list_sessions(files_below(folder))


def test_an_agents_name_with_a_secret_is_refused_before_anything_is_written(
    repo: Repo, git: Repository, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match="the agent's name has"):
        bring(git, some(tmp_path / "t", 1), agent=TOKEN)
    assert repo.git("status", "--porcelain") == ""


def test_each_line_stands_in_the_log_of_the_day_on_which_it_was_said(
    repo: Repo, git: Repository, tmp_path: Path
) -> None:
    late = datetime(2026, 1, 9, 23, 58, tzinfo=UTC).astimezone()
    said = ["We decided that the crane is blue.", "Good night.", "We decided that the mast is made of oak."]
    session_file(tmp_path / "t", "s1", late, said)
    (outcome,) = bring(git, list_sessions(files_below(tmp_path / "t")))
    days = [(late + timedelta(minutes=n)).date().isoformat() for n in (0, 2)]
    assert outcome.done is ImportState.IMPORTED and [line.turn for line in outcome.lines] == ["u0", "u2"]
    assert "crane is blue" in repo.read(f"memory/{days[0]}.md") and "origin=user" in repo.read(f"memory/{days[0]}.md")
    assert "made of oak" in repo.read(f"memory/{days[1]}.md") and "session=s1 turn=u2" in repo.read(
        f"memory/{days[1]}.md"
    )
    assert outcome.episode.startswith(f"memory/sessions/{days[1]}-")
    assert "transcript: sha256:" in repo.read(outcome.episode) and 'file: "s1.jsonl"' in repo.read(outcome.episode)


def test_what_a_daily_note_of_another_program_holds_is_not_imported_again(
    repo: Repo, git: Repository, tmp_path: Path
) -> None:
    repo.write("journals/2026_01_08.md", "- We decided that the crane is blue.\n")
    at = datetime(2026, 1, 9, 12, tzinfo=UTC)
    session_file(tmp_path / "t", "s1", at, ["We decided that the crane is blue.", "We decided that the mast is oak."])
    found = list_sessions(files_below(tmp_path / "t"))
    config = Config(memory_daily=("journals/YYYY_MM_DD.md",))
    (outcome,) = import_sessions(git, config, found.sessions, ImportOptions("claude"), NOW)
    assert [line.turn for line in outcome.lines] == ["u1"] and len(outcome.skipped) == 1


@pytest.mark.parametrize("host", ["claude", "codex", "copilot", "gemini"])
def test_what_a_host_recorded_is_imported_and_twice_is_once(repo: Repo, git: Repository, host: str) -> None:
    found = list_sessions([RECORDED / f"{host}.jsonl"])
    (first,) = bring(git, found)
    before = memory(repo)
    assert first.done is ImportState.IMPORTED and "second mast is made of oak" in "".join(before.values())
    assert any("harbour crane is painted blue" in line.text for line in first.lines)
    assert states(bring(git, found)) == [ImportState.KNOWN]
    assert memory(repo) == before


def test_an_interrupted_import_goes_on_and_ends_as_one_that_was_not(
    repo: Repo, git: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_import, "SESSIONS_PER_WRITE", 3)
    found = some(tmp_path / "t", 10)
    whole = Repo(tmp_path / "whole")
    whole.commit("first")
    other = open_repository(whole.path, os.environ)
    bring(other, found)
    other.close()

    def until_the_fifth() -> Iterator[Any]:
        yield from found.sessions[:5]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(import_sessions(git, Config(), until_the_fifth(), ImportOptions("claude"), NOW))
    assert len(list((repo.path / "memory/sessions").iterdir())) == 3
    assert states(bring(git, found)) == [ImportState.KNOWN] * 3 + [ImportState.IMPORTED] * 7
    assert memory(repo) == memory(whole)


def test_a_write_that_fails_leaves_nothing_of_its_sessions(
    repo: Repo, git: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_import, "SESSIONS_PER_WRITE", 3)
    found = some(tmp_path / "t", 6)
    (repo.path / "memory").mkdir()
    repo.write("memory/2026-01-05.md", "half\0a log")
    with pytest.raises(Exception, match="not UTF-8"):
        bring(git, found)
    assert len(list((repo.path / "memory/sessions").iterdir())) == 3
    repo.write("memory/2026-01-05.md", "# 2026-01-05\n\n- An older line.\n")
    assert states(bring(git, found)).count(ImportState.IMPORTED) == 3
    assert "An older line." in repo.read("memory/2026-01-05.md") and "crane number 4" in repo.read(
        "memory/2026-01-05.md"
    )


def test_a_dry_run_says_the_same_and_writes_nothing(repo: Repo, git: Repository, tmp_path: Path) -> None:
    found = some(tmp_path / "t", 4)
    would = bring(git, found, dry_run=True)
    assert not (repo.path / "memory").exists() and not (repo.path / ".git/gitmem/sessions").exists()
    assert json_value(bring(git, found)) == json_value(would)


def test_a_transcript_that_has_grown_keeps_its_episode_and_its_lines(
    repo: Repo, git: Repository, tmp_path: Path
) -> None:
    at = datetime(2026, 1, 9, 9, tzinfo=UTC)
    said = ["We decided that the crane is blue.", "We decided that the mast is made of oak."]
    session_file(tmp_path / "t", "s1", at, said[:1])
    (first,) = bring(git, list_sessions(files_below(tmp_path / "t")))
    session_file(tmp_path / "t", "s1", at, said)
    (second,) = bring(git, list_sessions(files_below(tmp_path / "t")))
    assert second.episode == first.episode and len(list((repo.path / "memory/sessions").iterdir())) == 1
    assert [line.text for line in second.lines] == [said[1]] and "oak" in repo.read(second.episode)
    assert repo.read("memory/2026-01-09.md").count("crane is blue") == 1


def test_files_of_one_session_are_its_parts(repo: Repo, git: Repository, tmp_path: Path) -> None:
    at = datetime(2026, 1, 9, 9, tzinfo=UTC)
    session_file(tmp_path / "t", "s1", at, ["We decided that the crane is blue."], "a.jsonl")
    later = session_file(tmp_path / "later", "s1", at + timedelta(1), ["We decided that the mast is oak."], "b.jsonl")
    bring(git, list_sessions(files_below(tmp_path / "t")))
    bring(git, list_sessions([later]))
    texts = [text for path, text in sorted(memory(repo).items()) if "sessions/" in path]
    assert ['session: "s1"' in texts[0], 'session: "s1#2"' in texts[1]] == [True, True]
    assert states(bring(git, list_sessions([later, tmp_path / "t/a.jsonl"]))) == [ImportState.KNOWN, ImportState.KNOWN]


def test_sessions_of_the_same_words_and_day_have_an_episode_each(repo: Repo, git: Repository, tmp_path: Path) -> None:
    at = datetime(2026, 1, 9, 9, tzinfo=UTC)
    for session in ("s1", "s2", "s3"):
        session_file(tmp_path / "t", session, at, ["We decided that the crane is blue.", f"Mind {session}."])
    outcomes = bring(git, list_sessions(files_below(tmp_path / "t")))
    assert len({outcome.episode for outcome in outcomes}) == 3
    assert repo.read("memory/2026-01-09.md").count("crane is blue") == 1


def test_a_session_that_ended_here_is_there_already(repo: Repo, git: Repository, tmp_path: Path) -> None:
    path = session_file(tmp_path / "t", "s1", NOW - timedelta(hours=1), ["We decided that the crane is blue."])
    _, episode = end_session(git, Config(), parse(path.read_bytes()), now=NOW)
    before = memory(repo)
    (outcome,) = bring(git, list_sessions([path]))
    assert (outcome.done, outcome.episode) == (ImportState.KNOWN, episode) and memory(repo) == before


@pytest.mark.parametrize("imported_first", [True, False])
def test_an_import_after_undo_brings_an_ended_session_back(
    repo: Repo, git: Repository, tmp_path: Path, imported_first: bool
) -> None:
    path = session_file(tmp_path / "t", "s1", NOW - timedelta(hours=1), ["We decided that the crane is blue."])
    if imported_first:
        bring(git, list_sessions([path]))
    end_session(git, Config(), parse(path.read_bytes()), Source("s1", file=os.fspath(path)), now=NOW)
    before = memory(repo)
    while repo.mem("undo", "--yes", check=False).returncode == 0:
        assert memory(repo) != before
    assert memory(repo) == {}
    (outcome,) = bring(git, list_sessions([path]))
    assert [line.text for line in outcome.lines] == ["We decided that the crane is blue."]
    assert "crane is blue" in repo.read("memory/2026-02-05.md") and outcome.episode in memory(repo)


def test_an_import_after_undo_of_the_episode_alone_repeats_no_line(repo: Repo, git: Repository, tmp_path: Path) -> None:
    path = session_file(tmp_path / "t", "s1", NOW - timedelta(hours=1), ["We decided that the crane is blue."])
    _, episode = end_session(git, Config(), parse(path.read_bytes()), Source("s1", file=os.fspath(path)), now=NOW)
    repo.mem("undo", "--yes")
    assert episode not in memory(repo) and "crane is blue" in repo.read("memory/2026-02-05.md")
    (outcome,) = bring(git, list_sessions([path]))
    assert outcome.episode == episode and not outcome.lines
    assert repo.read("memory/2026-02-05.md").count("crane is blue") == 1


def test_a_session_that_goes_on_after_its_import_flushes_only_what_is_new(
    repo: Repo, git: Repository, tmp_path: Path
) -> None:
    at = NOW - timedelta(days=40)
    said = ["We decided that the crane is blue.", "We decided that the mast is made of oak."]
    session_file(tmp_path / "t", "s1", at, said[:1])
    bring(git, list_sessions(files_below(tmp_path / "t")))
    path = session_file(tmp_path / "t", "s1", at, said)
    assert [line.text for line in flush(git, Config(), parse(path.read_bytes()), now=NOW).kept] == said[1:]


def test_a_turn_that_was_said_twice_is_imported_and_then_read_no_more(
    repo: Repo, git: Repository, tmp_path: Path
) -> None:
    said = ["We decided that the crane is blue.", "yes", "yes"]
    path = session_file(tmp_path / "t", "s1", NOW - timedelta(days=1), said)
    bring(git, list_sessions([path]))
    state = load_state(git.common_dir, "s1")
    assert unread_turns(parse(path.read_bytes()).spoken(), state.turns) == []


def test_a_secret_is_never_written_and_the_rest_of_its_session_is(repo: Repo, git: Repository, tmp_path: Path) -> None:
    said = [f"We decided that the deploy token is {TOKEN} from now on.", "We decided that the crane is blue."]
    session_file(tmp_path / "t", "s1", datetime(2026, 1, 9, 9, tzinfo=UTC), said)
    (outcome,) = bring(git, list_sessions(files_below(tmp_path / "t")))
    assert [line.text for line in outcome.lines] == [said[1]] and len(outcome.skipped) == 1
    every = b"".join(path.read_bytes() for path in repo.path.rglob("*") if path.is_file())
    assert TOKEN.encode() not in every and TOKEN not in json.dumps(json_value(outcome))


def test_a_commit_names_the_hash_and_the_turns_of_each_transcript(repo: Repo, git: Repository, tmp_path: Path) -> None:
    found = some(tmp_path / "t", 3)
    bring(git, found, committing=True, agent="coder")
    message = repo.git("log", "-1", "--format=%B")
    assert message.startswith("memory: import 3 sessions of claude\n") and "Memory-Agent: coder" in message
    hashes = [session.read().sha256 for session in found.sessions]
    assert [f"Memory-Transcript: s{n:03} sha256:{digest} u0..u1" in message for n, digest in enumerate(hashes)] == [
        True
    ] * 3
    assert repo.git("status", "--porcelain") == "" and (repo.path / "memory/2026-01-01.coder.md").exists()


def test_what_holds_no_session_is_named_and_the_others_are_brought(repo: Repo, git: Repository, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    some(folder, 1)
    (folder / "notes.json").write_text('{"a": 1}')
    (folder / "broken.jsonl").write_bytes(b"\xff\0{{{\n")
    (folder / "readme.md").write_text("We decided that nothing is read here.")
    os.mkfifo(folder / "pipe.jsonl")
    found = list_sessions(files_below(folder))
    assert [Path(place).name for place, _ in found.left_out] == ["broken.jsonl", "notes.json"]
    assert states(bring(git, found)) == [ImportState.IMPORTED]


def test_a_file_that_is_gone_when_it_is_read_is_left_out(repo: Repo, git: Repository, tmp_path: Path) -> None:
    found = some(tmp_path / "t", 2)
    (tmp_path / "t/s000.jsonl").unlink()
    outcomes = bring(git, found)
    assert states(outcomes) == [ImportState.FAILED, ImportState.IMPORTED] and "cannot be read" in outcomes[0].problem


def test_only_the_beginning_of_a_long_transcript_is_read_to_list_it(tmp_path: Path) -> None:
    path = session_file(
        tmp_path / "t", "s1", datetime(2026, 1, 9, 9, tzinfo=UTC), ["x" * 1000] * (HEAD_BYTES // 500), cwd="/p"
    )
    (session,) = list_sessions([path]).sessions
    assert (session.name, session.project, session.start) == ("s1", "/p", datetime(2026, 1, 9, 9, tzinfo=UTC))
    assert len(session.read().transcript.turns) == HEAD_BYTES // 500


def test_a_first_turn_longer_than_the_beginning_is_read_whole(tmp_path: Path) -> None:
    path = session_file(tmp_path / "t", "s1", datetime(2026, 1, 9, 9, tzinfo=UTC), ["x" * 2 * HEAD_BYTES, "Good."])
    assert [session.name for session in list_sessions([path]).sessions] == ["s1"]


def test_sessions_of_one_project_are_told_from_others(tmp_path: Path) -> None:
    at = datetime(2026, 1, 9, 9, tzinfo=UTC)
    for name, folder in (("a", "/home/p"), ("b", "/home/p/inner"), ("c", "/home/other"), ("d", "/home/p2")):
        session_file(tmp_path / "t", name, at, ["Good."], cwd=folder)
    session_file(tmp_path / "t", "e", at, ["Good."])
    found = list_sessions(files_below(tmp_path / "t")).of_project(Path("/home/p"))
    assert [session.name for session in found.sessions] == ["a", "b"]


def test_hosts_keep_their_sessions_below_the_home_folder(tmp_path: Path) -> None:
    places = {
        "claude": ".claude/projects/-p/a.jsonl", "codex": ".codex/sessions/2026/01/09/rollout-a.jsonl",
        "gemini": ".gemini/tmp/h/chats/a.jsonl", "copilot": ".copilot/session-state/a/events.jsonl",
        "openclaw": ".openclaw/agents/main/sessions/a.jsonl",
    }  # fmt: skip
    for host, place in places.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True)
        path.write_text("{}\n")
        assert host in importable_hosts() and files_of_host(host, tmp_path) == [path]
    assert files_of_host("cursor", tmp_path) == []
