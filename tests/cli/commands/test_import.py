"""`git mem import` as a real process: what is found is shown first, and what is written is said."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.harness import Repo
from tests.sessions.test_session_import import session_file

AT = datetime(2026, 1, 9, 9, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    projects = home / ".claude/projects"
    session_file(projects / "-p-one", "s1", AT, ["We decided that the crane is blue."], cwd="/p/one")
    session_file(projects / "-p-two", "s2", AT, ["We decided that the mast is made of oak."], cwd="/p/two")
    monkeypatch.setenv("HOME", str(home))
    return home


def test_without_a_path_the_sessions_are_shown_and_nothing_is_written(repo: Repo, home: Path) -> None:
    shown = repo.mem("import", "claude").stdout
    assert "/p/one" in shown and "/p/two" in shown and "git mem import claude --yes" in shown
    value = json.loads(repo.mem("import", "claude", "--json").stdout)
    assert value == {
        "source": "claude", "left": [],
        "projects": [{"project": f"/p/{name}", "sessions": 1, "first": "2026-01-09", "last": "2026-01-09"}
                     for name in ("one", "two")],
    }  # fmt: skip
    assert not (repo.path / "memory").exists()


def test_yes_imports_what_was_shown_and_a_project_only_its_own(repo: Repo, home: Path) -> None:
    done = repo.mem("import", "claude", "--project", "/p/two", "--yes")
    assert done.stdout.startswith("imported 1 session, 1 line of daily logs\n") and "git add memory" in done.stdout
    assert "oak" in repo.read("memory/2026-01-09.md") and "crane" not in repo.read("memory/2026-01-09.md")
    done = repo.mem("import", "claude", "--yes", "-v")
    assert "memory/sessions/2026-01-09-" in done.stdout and "1 session: there already" in done.stdout


def test_a_dry_run_names_each_session_and_writes_nothing(repo: Repo, home: Path) -> None:
    done = repo.mem("import", "claude", str(home / ".claude"), "--dry-run")
    assert done.stdout.count("would write memory/sessions/") == 2 and "would import 2 sessions, 2 lines" in done.stdout
    assert not (repo.path / "memory").exists()


def test_the_json_has_each_session_and_the_totals(repo: Repo, home: Path) -> None:
    path = home / ".claude/projects/-p-one/s1.jsonl"
    value = json.loads(repo.mem("import", "claude", str(path), "--json").stdout)
    (session,) = value["sessions"]
    assert value["source"] == "claude" and value["left"] == [] and value["dry_run"] is False
    assert value["totals"] == {
        "imported": 1, "there already": 0, "nothing was said": 0, "left out": 0, "lines": 1, "refused": 0, "masked": {},
    }  # fmt: skip
    assert session == {
        "session": "s1", "from": str(path), "day": "2026-01-09", "project": "/p/one", "state": "imported",
        "episode": session["episode"], "skipped": [], "problem": None,
        "lines": [{"path": "memory/2026-01-09.md", "text": "We decided that the crane is blue.", "turn": "u0"}],
    }  # fmt: skip
    assert (repo.path / session["episode"]).exists()


def test_a_path_that_is_not_there_and_a_host_without_sessions_say_what_to_type(repo: Repo, home: Path) -> None:
    done = repo.mem("import", "claude", "/nowhere", check=False)
    assert done.returncode == 2 and "there is no file or folder '/nowhere'" in done.stderr
    done = repo.mem("import", "codex")
    assert done.stdout == "" and "no session of codex is on this machine" in done.stderr
    assert repo.mem("import", "claude", "--yes", "--commit", "--dry-run", check=False).returncode == 2


def test_a_file_that_is_no_transcript_is_counted(repo: Repo, home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "transcripts"
    folder.mkdir()
    (folder / "broken.jsonl").write_text("no transcript\n")
    session_file(folder, "a", AT, ["We decided that the crane is blue."])
    done = repo.mem("import", "claude", str(folder))
    assert done.returncode == 0 and "1 file left out: holds no turn of a known host" in done.stdout


@pytest.mark.parametrize("source", ["claude", "codex", "chatgpt", "claude-export", "okf", "skills", "notes"])
def test_what_holds_nothing_to_import_is_an_error_that_says_what_to_type(
    repo: Repo, tmp_path: Path, source: str
) -> None:
    empty, file = tmp_path / "empty", tmp_path / "file.json"
    empty.mkdir()
    file.write_text('{"a": 1}\n')
    for path in (empty, file):
        done = repo.mem("import", source, str(path), check=False)
        assert done.returncode == 2 and "hint:" in done.stderr and done.stdout == "", (path, done)


def test_a_service_wants_its_archive(repo: Repo, tmp_path: Path) -> None:
    done = repo.mem("import", "chatgpt", check=False)
    assert done.returncode == 2 and "git mem import chatgpt ARCHIVE.zip --dry-run" in done.stderr
    said = {"uuid": "m1", "sender": "human", "text": "We decided that the crane is blue.", "created_at": AT.isoformat()}
    archive = tmp_path / "conversations.json"
    archive.write_text(json.dumps([{"uuid": "k1", "chat_messages": [said]}, {"uuid": "k2", "chat_messages": []}]))
    done = repo.mem("import", "claude-export", str(archive))
    assert (
        done.stdout.startswith("imported 1 session, 1 line")
        and "1 conversation left out: nothing was said in it" in done.stdout
    )
    assert "crane is blue" in repo.read("memory/2026-01-09.md")


def test_notes_that_a_layout_leaves_out_come_with_the_command_that_takes_them(repo: Repo, tmp_path: Path) -> None:
    repo.commit("o", {"MEMORY.md": "# Memory\n"})
    notes = tmp_path / "our notes"
    (notes / "docs").mkdir(parents=True)
    (notes / "AGENTS.md").write_text("# Agents\n\nuse make\n")
    (notes / "docs/deploy.md").write_text("# Deploy\n\nwith rsync\n")
    done = repo.mem("import", "notes", str(notes))
    command = f"git mem import notes '{notes}' --into notes"
    assert "is no memory file" in done.stdout and command in done.stdout
    repo.mem("import", "notes", str(notes), "--into", "notes")
    assert "rsync" in (repo.path / "memory/notes/docs/deploy.md").read_text()
