"""`git mem uninstall`: what goes at once, what is asked about, and what never goes."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from gitmem.git.hooks import HOOKS
from gitmem.git.hooks.installation import SAVED
from tests.cli.test_host_registration import ANSWERS, files, on_path
from tests.cli.test_prompts import at_terminal
from tests.harness import Repo

LOG = "memory/2026-02-10.md"


@pytest.fixture
def lived_in(repo: Repo, isolated: Path) -> Repo:
    """A memory with hooks, three hosts, one of them for the person, an index, a write, and settings of the person."""
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=ANSWERS)}
    repo.commit("start", {"MEMORY.md": "# 기억\n\n- 포트는 8080\n", "AGENTS.md": "# Agents\n\nOurs.\n"})
    repo.mem("install")
    repo.mem("install", "--agent", "claude", "--agent", "codex", "--agent", "agents-md", env=env)
    repo.mem("install", "--agent", "claude", "--user", env=env)
    repo.mem("add", "the crane is blue", "--commit")
    repo.git("config", "--global", "mem.autoIndex", "true")
    repo.mem("search", "crane")
    return repo


def test_everything_that_acts_goes_together_and_the_rest_stays_and_is_named(lived_in: Repo, isolated: Path) -> None:
    tracked = lived_in.git("ls-files")
    done = lived_in.mem("uninstall")
    assert not any((lived_in.path / ".git/hooks" / name).exists() for name in HOOKS)
    assert not (lived_in.path / ".mcp.json").exists() and not (lived_in.path / ".codex").exists()
    assert lived_in.read("AGENTS.md") == "# Agents\n\nOurs.\n" and lived_in.git("ls-files") == tracked
    assert "merge.gitmem" not in lived_in.git("config", "--local", "--list")
    assert "git-mem" in (isolated / ".claude/settings.json").read_text()
    assert "kept: registrations, settings, index, state, undo; git mem uninstall --yes removes them" in done.stderr
    assert "crane" in lived_in.mem("search", "crane").stdout and "taken back" in lived_in.mem("undo").stderr


def test_a_dry_run_names_every_part_and_changes_nothing(lived_in: Repo, isolated: Path) -> None:
    everything = {path: path.read_bytes() for path in lived_in.path.rglob("*") if path.is_file()}
    home = files(isolated)
    said = lived_in.mem("uninstall", "--dry-run").stdout
    for words in (
        "pre-commit: removed",
        "would remove .mcp.json",
        "AGENTS.md",
        "search index",
        "mem.autoindex",
        "1 write",
    ):
        assert words in said, words
    assert "would ask about registrations in your home" in said and said.count(".mcp.json") == 1
    assert "would remove the search index" in lived_in.mem("uninstall", "--dry-run", "--purge").stdout
    assert {path: path.read_bytes() for path in lived_in.path.rglob("*") if path.is_file()} == everything
    assert files(isolated) == home


def test_yes_leaves_what_was_there_before_and_no_more(lived_in: Repo, isolated: Path) -> None:
    done = json.loads(lived_in.mem("uninstall", "--yes", "--json").stdout)
    assert set(done["rest"].values()) == {"removed"} and list(done["rest"])[-1] == "undo" and done["problems"] == []
    assert not (lived_in.path / ".git/gitmem").exists() and not (isolated / ".claude").exists()
    assert "mem.autoindex" not in lived_in.git("config", "--global", "--list")
    assert lived_in.read("MEMORY.md") == "# 기억\n\n- 포트는 8080\n" and lived_in.git("status", "--porcelain") == ""


def test_purge_leaves_what_serves_other_projects(lived_in: Repo, isolated: Path) -> None:
    assert "(it can still take back 1 write)" in lived_in.mem("uninstall", "--purge", "--dry-run").stdout
    removed = lived_in.mem("uninstall", "--purge").stdout
    assert "removed the record of git mem undo (1 write can no longer be taken back)" in removed
    assert not (lived_in.path / ".git/gitmem").exists()
    assert "git-mem" in (isolated / ".claude/settings.json").read_text()
    assert "mem.autoindex" in lived_in.git("config", "--global", "--list")
    lived_in.mem("uninstall", "--user")
    assert not (isolated / ".claude").exists() and "mem.autoindex" in lived_in.git("config", "--global", "--list")


def test_at_a_terminal_each_part_is_asked_about_and_undo_is_the_last(lived_in: Repo) -> None:
    code, shown = at_terminal(lived_in, "n\nn\n\nn\nn\n", "uninstall")
    asked = re.findall(r"remove ([^?]*)\? \[(y/N|Y/n)\]", shown)
    assert [words.split()[0] + words.split()[1] for words, _ in asked] == [
        "registrationsin", "yourown", "thesearch", "thestate", "therecord",
    ]  # fmt: skip
    assert code == 0 and not (lived_in.path / ".git/gitmem/index.sqlite").exists()
    assert "taken back" in lived_in.mem("undo").stderr
    code, _ = at_terminal(lived_in, "\x04", "uninstall")
    assert code != 0 and (lived_in.path / ".git/gitmem").exists()


def test_a_refused_file_is_said_and_keeps_the_record_of_undo(lived_in: Repo) -> None:
    theirs = "{ // mine\n" + lived_in.read(".mcp.json")[1:]
    lived_in.write(".mcp.json", theirs)
    done = lived_in.mem("uninstall", "--yes", check=False)
    assert done.returncode == 3 and "'.mcp.json' is not plain JSON and is left as it is" in done.stderr
    assert lived_in.read(".mcp.json") == theirs and not (lived_in.path / ".claude").exists()
    assert "taken back" in lived_in.mem("undo").stderr


def test_what_a_session_left_to_be_written_is_never_removed(lived_in: Repo) -> None:
    folder = lived_in.path / ".git/gitmem/sessions"
    folder.mkdir(exist_ok=True)
    note, other = folder / "x.pending", folder / "old.json"
    note.write_text('{"at": "2026-02-10T09:00:00+00:00", "session": "s"}\n')
    other.write_text("{}")
    late = lived_in.path / ".git/gitmem/late-0123456789ab-1"
    late.write_text("a line of somebody")
    done = lived_in.mem("uninstall", "--yes")
    assert note.exists() and late.exists() and not other.exists()
    assert str(note) in done.stderr and str(late) in done.stderr and "git mem session retry" in done.stderr


def test_lines_that_a_person_added_to_our_hook_stay(repo: Repo) -> None:
    hook = repo.write(".git/hooks/pre-commit", "#!/usr/bin/env python3\nprint('theirs')\n")
    hook.chmod(0o755)
    repo.mem("install")
    hook.write_text(hook.read_text().replace("# made by `git mem install`\n", "echo mine >&2\n"))
    done = repo.mem("uninstall")
    assert f"it has lines of yours and still calls pre-commit{SAVED}" in done.stdout
    assert "echo mine" in hook.read_text() and "git mem >>>" not in hook.read_text()
    repo.write("MEMORY.md", "- a\n")
    repo.git("add", "MEMORY.md")
    ran = repo.run("git", "commit", "-m", "x")
    assert "mine" in ran.stderr and "theirs" in ran.stdout + ran.stderr


def test_hooks_in_a_folder_that_git_no_longer_looks_into_go_too(repo: Repo) -> None:
    repo.mem("install")
    repo.git("config", "core.hooksPath", ".githooks")
    repo.mem("uninstall")
    assert not (repo.path / ".git/hooks/pre-commit").exists()


def test_a_link_in_the_place_of_our_state_is_refused_before_anything_changes(repo: Repo, tmp_path: Path) -> None:
    repo.mem("install")
    state = repo.path / ".git/gitmem"
    state.rename(tmp_path / "elsewhere")
    state.symlink_to(tmp_path / "elsewhere")
    done = repo.mem("uninstall", "--purge", check=False)
    assert done.returncode == 3 and "is a link and is not followed" in done.stderr
    assert (repo.path / ".git/hooks/pre-commit").exists() and (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["plain", "it's 한글 ($HOME)"])
def test_after_pip_uninstall_a_refused_commit_says_which_lines_to_delete_and_the_command_works(
    tmp_path: Path, name: str
) -> None:
    repo = Repo(tmp_path / name)
    theirs = repo.write(".git/hooks/commit-msg", "#!/bin/sh\necho checked >&2\n")
    theirs.chmod(0o755)
    repo.mem("install")
    without = tmp_path / "python"
    without.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    without.chmod(0o755)
    for hook in (repo.path / ".git/hooks").iterdir():
        hook.write_bytes(re.sub(rb"gitmem_python='.*'", f"gitmem_python='{without}'".encode(), hook.read_bytes()))
    repo.write("MEMORY.md", "- a\n")
    repo.git("add", "MEMORY.md")
    said = repo.run("git", "commit", "-m", "x", check=False)
    assert said.returncode == 1 and "git mem is gone from this machine" in said.stderr
    assert "delete the lines from '# >>> git mem >>>' to '# <<< git mem <<<' in:" in said.stderr
    for hook_name in HOOKS:
        assert f"  {repo.path}/.git/hooks/{hook_name}\n" in said.stderr
    command = said.stderr.splitlines()[-1].strip()
    assert command.startswith("(cd '")
    repo.run("sh", "-c", command, env={"PATH": os.environ["PATH"]})
    passed = repo.run("git", "commit", "-m", "x")
    assert "checked" in passed.stderr and "gone" not in passed.stderr
    assert (repo.path / ".git/hooks/commit-msg").read_text() == "#!/bin/sh\necho checked >&2\n"


def test_what_was_removed_is_said_when_the_merge_driver_cannot_be(repo: Repo) -> None:
    repo.mem("install")
    (repo.path / ".git/config.lock").write_text("")
    done = repo.mem("uninstall", check=False)
    assert done.returncode == 3 and "could not lock config file" in done.stderr
    assert "pre-commit: removed" in done.stdout and not (repo.path / ".git/hooks/pre-commit").exists()
    (repo.path / ".git/config.lock").unlink()
    assert "merge driver: removed" in repo.mem("uninstall").stdout
