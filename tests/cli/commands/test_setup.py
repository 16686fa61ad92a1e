"""`git mem setup`: the commands it prints are the ones it runs; nothing asked without a terminal; again changes nothing."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness import SOURCE, Repo
from tests.samples import GITHUB


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, str]:
    """A PATH with git and one agent's host on it, and no other host."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "sh", "sed", "cat", "env", "uname", "basename", "dirname"):
        found = next(
            (Path(part) / name for part in os.environ["PATH"].split(os.pathsep) if (Path(part) / name).exists()), None
        )
        if found:
            (folder / name).symlink_to(found)
    (folder / "claude").write_text("#!/bin/sh\n")
    (folder / "claude").chmod(0o755)
    return {"PATH": str(folder)}


def setup(at: Path, *words: str, env: dict[str, str], ends: int = 0) -> Any:
    at.mkdir(exist_ok=True)
    done = Repo(at, init=False).mem("setup", "--json", *words, env=env, check=False)
    assert done.returncode == ends, done.stdout + done.stderr
    return {step["step"]: step for step in json.loads(done.stdout)["steps"]}


def test_a_new_folder_is_set_up_and_again_nothing_is_to_be_done(tmp_path: Path, tools: dict[str, str]) -> None:
    folder = tmp_path / "내 기억"
    done = setup(folder, "--yes", "--fact", "Invoices are in UTC", env=tools)
    assert {name: step["state"] for name, step in done.items()} == {
        "repository": "done", "hooks": "done", "commit": "done", "agents": "done",
        "memories": "nothing to do", "fact": "done", "check": "done",
    }  # fmt: skip
    made = Repo(folder, init=False)
    assert "Invoices are in UTC" in made.read("MEMORY.md") and (folder / ".mcp.json").exists()
    assert ">>> git mem >>>" in made.read(".git/hooks/pre-commit") and made.git("rev-list", "--count", "HEAD") == "1\n"
    again = setup(folder, "--yes", env=tools)
    states = [step["state"] for name, step in again.items() if name != "check"]
    assert set(states) == {"nothing to do"} and again["check"]["state"] == "done"


@pytest.mark.parametrize("fact", [(), ("--fact", "Invoices are in UTC")])
def test_it_says_nothing_that_a_later_step_does_or_that_nobody_asked(
    tmp_path: Path, tools: dict[str, str], fact: tuple[str, ...]
) -> None:
    done = Repo(tmp_path / "m").mem("setup", "--yes", "--skip", "agents", *fact, env=tools)
    assert "write MEMORY.md" in done.stdout and "next:" not in done.stdout
    assert "nothing found" not in done.stdout + done.stderr
    assert ("Invoices are in UTC" in done.stdout.split("/7 check")[1]) == bool(fact)


def test_without_a_terminal_it_prints_the_commands_and_runs_none(tmp_path: Path, tools: dict[str, str]) -> None:
    tmp_path.joinpath("m").mkdir()
    done = Repo(tmp_path / "m", init=False).mem("setup", "--fact", "x y", env=tools)
    assert "git mem init" in done.stdout and "git mem add --to memory -- 'x y'" in done.stdout
    assert "git mem setup --yes" in done.stderr and list((tmp_path / "m").iterdir()) == []
    assert {step["state"] for step in setup(tmp_path / "m", "--dry-run", "--yes", env=tools).values()} <= {
        "would run", "nothing to do",
    }  # fmt: skip


def test_a_memory_is_cloned_and_a_folder_of_notes_adopted(tmp_path: Path, tools: dict[str, str]) -> None:
    source = Repo(tmp_path / "source")
    source.commit("o", {"MEMORY.md": "# Memory\n\n- Deploys are on Monday.\n"})
    done = setup(tmp_path / "m", "--yes", "--clone", str(source.path), "--skip", "agents", env=tools)
    assert done["repository"]["state"] == "done" and done["agents"]["state"] == "skipped"
    assert "Monday" in (tmp_path / "m" / "MEMORY.md").read_text()
    notes = Repo(tmp_path / "notes")
    notes.commit("o", {"회의.md": "# 회의\n\n결제는 30초\n"})
    setup(notes.path, "--yes", "--adopt", env=tools)
    assert "회의.md" in notes.mem("search", "결제").stdout


def test_skipped_steps_are_not_run(tmp_path: Path, tools: dict[str, str]) -> None:
    skips = [word for name in ("commit", "hooks", "agents", "fact") for word in ("--skip", name)]
    done = setup(tmp_path / "m", "--yes", "--fact", "x", *skips, env=tools)
    assert [name for name, step in done.items() if step["state"] == "done"] == ["repository", "check"]
    assert ">>> git mem >>>" not in "".join(p.read_text() for p in (tmp_path / "m/.git/hooks").glob("pre-commit"))


def test_a_step_that_fails_ends_it_and_says_so(tmp_path: Path, tools: dict[str, str]) -> None:
    done = setup(tmp_path / "m", "--yes", "--clone", str(tmp_path / "nowhere"), env=tools, ends=3)
    assert [step["state"] for step in done.values()] == ["failed"]


def test_on_a_terminal_each_step_is_asked_for(tmp_path: Path, tools: dict[str, str]) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    ours, theirs = pty.openpty()
    try:
        os.write(
            ours, b"y\nn\nn\nn\nSeoul opens at nine\ny\ny\n"
        )  # repository, hooks, commit, agents, fact: its text, run, check
        command = [sys.executable, "-m", "gitmem", "setup"]
        env = {**os.environ, **tools, "PYTHONPATH": str(SOURCE)}
        done = subprocess.run(
            command, cwd=folder, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, env=env, timeout=120
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0 and "Seoul opens at nine" in (folder / "MEMORY.md").read_text(encoding="utf-8")
    assert not (folder / ".mcp.json").exists() and not (folder / ".git/hooks/pre-commit").exists()


def test_where_no_repository_is_made_nothing_is_done_to_the_one_a_person_stands_in(
    tmp_path: Path, tools: dict[str, str]
) -> None:
    other = Repo(tmp_path / "other")
    hooks = sorted((other.path / ".git/hooks").iterdir())
    done = other.mem(
        "setup", "../m", "--yes", "--json", "--skip", "repository", "--fact", "Seoul opens at nine",
        "--agent", "claude", env=tools,
    )  # fmt: skip
    assert {step["state"] for step in json.loads(done.stdout)["steps"]} == {"skipped", "nothing to do"}
    assert sorted((other.path / ".git/hooks").iterdir()) == hooks and not (tmp_path / "m").exists()
    assert [path.name for path in other.path.iterdir()] == [".git"]


def test_a_new_memory_is_committed_whole(tmp_path: Path, tools: dict[str, str]) -> None:
    setup(tmp_path / "m", "--yes", "--skip", "agents", env=tools)
    assert Repo(tmp_path / "m", init=False).git("status", "--porcelain") == ""


def test_what_it_commits_is_scanned(tmp_path: Path, tools: dict[str, str]) -> None:
    folder = tmp_path / "m"
    Repo(folder).write("memory/keys.md", f"# Keys\n\n- the token is {GITHUB}\n")
    done = setup(folder, "--yes", "--skip", "agents", env=tools, ends=3)
    assert list(done)[:3] == ["repository", "hooks", "commit"] and done["commit"]["state"] == "failed"
    assert Repo(folder, init=False).git("rev-list", "--all") == ""


def test_a_folder_inside_a_repository_is_refused_with_what_to_type(tmp_path: Path, tools: dict[str, str]) -> None:
    outer = Repo(tmp_path / "a project")
    for folder in ("notes", "notes/new"):
        done = outer.mem("setup", "--yes", folder, env=tools, check=False)
        assert done.returncode == 2 and "is inside the repository" in done.stderr
        assert f"git mem setup '{outer.path}'" in done.stderr
        (outer.path / "notes").mkdir(exist_ok=True)
    assert outer.git("status", "--porcelain") == "" and not (outer.path / "MEMORY.md").exists()


@pytest.mark.parametrize("form", ["--json", "--dry-run"])
def test_the_token_of_an_address_is_not_shown(tmp_path: Path, tools: dict[str, str], form: str) -> None:
    (tmp_path / "at").mkdir()
    words = ("setup", form, "--clone", "https://me:not-a-real-token@example.com/me/memory.git", "m")
    done = Repo(tmp_path / "at", init=False).mem(*words, env=tools)
    assert "not-a-real-token" not in done.stdout + done.stderr and "https://example.com/me/memory.git" in done.stdout


@pytest.mark.parametrize("form", ["--json", "--yes"])
def test_a_fact_that_is_refused_as_a_secret_is_not_shown(tmp_path: Path, tools: dict[str, str], form: str) -> None:
    (tmp_path / "at").mkdir()
    words = ("setup", "--yes", form, "--fact", f"token is {GITHUB}", "m")
    done = Repo(tmp_path / "at", init=False).mem(*words, env=tools, check=False)
    assert GITHUB not in done.stdout + done.stderr and "git mem add --to memory" in done.stdout


def test_a_commit_that_was_refused_is_made_with_what_was_mended_the_next_time(
    tmp_path: Path, tools: dict[str, str]
) -> None:
    folder = tmp_path / "my notes"
    folder.mkdir()
    (folder / "deploy.md").write_text("- on Monday\n")
    (folder / "keys.md").write_text(f"- token {GITHUB}\n")
    refused = setup(folder, "--yes", env=tools, ends=3)
    assert refused["commit"]["state"] == "failed" and "fact" not in refused
    (folder / "keys.md").write_text("- none\n")
    again = setup(folder, "--yes", env=tools)
    assert again["commit"]["state"] == "done"
    made = Repo(folder, init=False)
    assert made.git("show", "HEAD:keys.md") == "- none\n" and made.git("ls-files", "deploy.md")
