"""What commands say where there is nothing, where a name is wrong, and where a setting is."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.harness import Repo

LOG = "# 2026-02-05\n\n## 10:00\n\n- We decided to use Postgres for billing because of row locks.\n"


@pytest.mark.parametrize("command", [("search", "billing"), ("status",), ("log",), ("add", "a line"), ("scan",)])
def test_every_command_warns_of_a_setting_that_is_none(repo: Repo, command: tuple[str, ...]) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG, ".gitmem.toml": "[promot]\nmax-facts = 3\n"})
    done = repo.mem(*command)
    assert done.stderr.count("'promot.max-facts' is unknown") == 1
    assert "promot" not in done.stdout


def test_what_is_in_a_setting_cannot_steer_the_terminal(repo: Repo) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG, ".gitmem.toml": '["a\\u001b[31m"]\nb = 1\n'})
    assert "\x1b" not in repo.mem("search", "billing").stderr


def test_accepting_a_fact_that_is_none_is_an_error(repo: Repo) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    done = repo.mem("promote", "--accept", "zzzz", check=False)
    assert done.returncode == 2 and "no fact 'zzzz' to accept" in done.stderr
    assert repo.git("status", "--porcelain") == "" and repo.git("rev-list", "--count", "HEAD").strip() == "1"


def test_taking_back_a_source_that_never_was_is_an_error(repo: Repo) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    done = repo.mem("revert", "--source", "memory/typo.md", check=False)
    assert done.returncode == 3 and "no file 'memory/typo.md'" in done.stderr
    assert repo.mem("revert", "--source", "memory/2026-02-05.md").returncode == 0


def test_empty_lists_say_so(repo: Repo) -> None:
    assert "no profiles" in repo.mem("profile", "list").stderr
    assert "no working values" in repo.mem("session", "list").stderr


@pytest.mark.parametrize("budget", [1, 5, 60])
def test_a_budget_that_holds_nothing_names_the_smallest_that_does(repo: Repo, budget: int) -> None:
    repo.commit(
        "memory", {"MEMORY.md": "# Memory\n\n- We use REST webhooks in phase 1\n", "SOUL.md": "# Soul\n\nBe kind.\n"}
    )
    done = repo.mem("context", "webhooks", "--budget", str(budget))
    left_out = "Left out for lack of room: SOUL.md, 1 fact of MEMORY.md.\n"  # where there is room for the sentence
    assert done.stdout in ("", left_out) and "memory has nothing" not in done.stderr
    named = re.search(r"the smallest budget that does is (\d+)$", done.stderr, re.M)
    assert named is not None
    least = int(named[1])
    assert "<memory>" in repo.mem("context", "webhooks", "--budget", str(least)).stdout
    assert repo.mem("context", "webhooks", "--budget", str(least - 1)).stdout in ("", left_out)


def test_a_base_that_the_remote_does_not_have_is_an_error_before_anything_is_pushed(repo: Repo) -> None:
    Repo(repo.path.parent / "hub.git", True, "--bare")
    repo.git("remote", "add", "origin", "../hub.git")
    repo.commit("memory", {"MEMORY.md": "# Memory\n"})
    repo.git("push", "-q", "origin", "main")
    repo.git("switch", "-q", "-c", "memory/march")
    done = repo.mem("publish", "--base", "nope", check=False)
    assert done.returncode == 3 and done.stdout == "" and "no branch 'nope' at 'origin'" in done.stderr
    assert "memory/march" not in repo.git("ls-remote", "origin")
    assert repo.mem("publish", "--base", "main").stdout == "git mem review main..memory/march\n"


def test_hooks_that_may_be_tracked_hold_no_path_of_this_machine(repo: Repo) -> None:
    repo.write(".githooks/pre-commit", "#!/bin/sh\necho theirs\n").chmod(0o755)
    repo.git("config", "core.hooksPath", ".githooks")
    folder = repo.path / ".githooks"
    said = repo.mem("install", env={"PATH": "/usr/bin:/bin"}).stderr
    assert "may be tracked" in said and "PATH" in said
    for hook in folder.iterdir():
        assert sys.prefix not in hook.read_text() and sys.executable not in hook.read_text()
    shim = repo.write(".git/bin/git-mem", f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    shim.chmod(0o755)
    env = {"PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}"}
    repo.write("memory/x.md", "- token ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw\n")
    repo.git("add", "memory")
    refused = repo.run("git", "commit", "-qm", "x", check=False, env=env)
    assert refused.returncode == 1 and "github-token" in refused.stderr
    gone = repo.run("git", "commit", "-qm", "x", check=False, env={"PATH": "/usr/bin:/bin"})
    assert gone.returncode == 1 and "git mem is gone" in gone.stderr
    repo.git("config", "--unset", "core.hooksPath")
    repo.mem("install")
    assert sys.executable in repo.read(".git/hooks/pre-commit")


def test_an_empty_setting_is_shown_as_one(repo: Repo) -> None:
    assert not [line for line in repo.mem("config", "--list").stdout.splitlines() if len(line.split()) < 3]


def test_a_profile_in_force_says_where_a_line_went(repo: Repo, isolated: Path) -> None:
    repo.mem("profile", "add", "alice")
    repo.mem("profile", "switch", "alice")
    home = isolated / ".local/share/git-mem/alice"
    added = repo.mem("add", "a line of alice")
    assert f"in the memory of profile 'alice': {home}" in added.stderr and "profile" not in added.stdout
    assert "profile" not in Repo(home, init=False).mem("add", "another line").stderr
    assert "profile" not in repo.mem("--profile", "alice", "add", "a third line").stderr
    assert "profile" not in repo.mem("search", "line").stderr


def test_status_says_current_only_where_all_is_indexed(repo: Repo) -> None:
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- We deploy on Tuesdays\n"})
    repo.mem("index")
    assert ", current\n" in repo.mem("status").stdout
    repo.git("switch", "-q", "-c", "other")
    repo.commit("more", {"MEMORY.md": "# Memory\n\n- We deploy on Fridays\n"})
    repo.git("switch", "-q", "main")
    repo.mem("search", "deploy")
    shown = repo.mem("status").stdout
    assert "not indexed" in shown and ", current" not in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("completion",), "Missing argument, one of bash, zsh, fish."),
        (("completion", "zs"), "'zs' is not one of bash, zsh, fish. Did you mean 'zsh'?"),
    ],
)
def test_the_choices_of_an_argument_are_named_once_in_one_line(repo: Repo, words: tuple[str, ...], said: str) -> None:
    done = repo.mem(*words, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [f"git mem: {said}", "hint: 'git mem completion -h' shows its options."]


def test_a_fact_that_is_not_committed_is_not_edited_and_the_ways_on_are_said(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    repo.mem("add", "--type", "decision", "We deploy on Fridays")
    line = next(n for n, text in enumerate(repo.read("MEMORY.md").splitlines(), 1) if "Fridays" in text)
    done = repo.mem("edit", f"MEMORY.md:{line}", "We deploy on Tuesdays", check=False)
    assert "hint: add --reason WHY; 'git mem edit -h'" in done.stderr
    done = repo.mem("edit", f"MEMORY.md:{line}", "We deploy on Tuesdays", "--reason", "wrong day", check=False)
    assert done.returncode == 3 and "git add MEMORY.md && git commit -- MEMORY.md" in done.stderr
    assert "git mem undo takes them back" in done.stderr
    repo.mem("undo")
    assert "Fridays" not in repo.read("MEMORY.md")


def test_that_nothing_is_committed_yet_is_said_in_the_same_words_for_head_and_for_a_day(repo: Repo) -> None:
    repo.write("MEMORY.md", "# Memory\n\n- Port 80.\n")
    for at in ("HEAD", "@", "yesterday", "2026-01-01"):
        done = repo.mem("search", "port", "--at", at, check=False)
        assert done.returncode == 2 and "there is no commit yet" in done.stderr and "git commit" in done.stderr
    assert "git add -A && git commit" in repo.mem("promote", check=False).stderr


def test_a_choice_that_is_mistyped_is_answered_with_the_one_that_is_meant(repo: Repo) -> None:
    done = repo.mem("add", "--type", "desicion", "Use REST", check=False)
    assert done.returncode == 2 and done.stderr.splitlines()[0].endswith("Did you mean 'decision'?")
    assert "Did you mean" not in repo.mem("add", "--type", "xyz", "Use REST", check=False).stderr


def test_install_and_uninstall_say_what_became_of_the_merge_driver(repo: Repo) -> None:
    assert "\nmerge driver: set (merge.gitmem " in repo.mem("install").stdout
    assert "\nmerge driver: removed (merge.gitmem " in repo.mem("uninstall").stdout


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (("import", "okf", "nosuch"), "there is no folder 'nosuch'", "git mem import okf FOLDER --dry-run"),
        (("import", "notes", "nosuch"), "there is no folder 'nosuch'", "git mem import notes FOLDER --dry-run"),
        (("profile", "switch", "work"), "there is no profile 'work'", "git mem profile add work makes it"),
        (("session", "get", "person:kim"), "there is no value of 'person:kim'", ""),
    ],
)
def test_what_is_not_there_is_said(repo: Repo, words: tuple[str, ...], said: str, hint: str) -> None:
    repo.commit("first", {"MEMORY.md": "# Memory\n"})
    done = repo.mem(*words, check=False)
    assert done.returncode and done.stdout == ""
    assert done.stderr.splitlines() == [f"git mem: {said}", *([f"hint: {hint}"] if hint else [])]


def test_what_mends_a_file_that_is_no_text_says_that_the_command_takes_a_file(repo: Repo) -> None:
    repo.mem("install")
    repo.write("memory/note.md", b"caf\xe9\n")
    repo.git("add", "-A")
    refused = repo.run("git", "commit", "-m", "notes", check=False)
    assert refused.returncode and "keep it out of memory: git rm --cached FILE\n" in refused.stdout + refused.stderr


def test_one_fact_that_is_taken_back_is_spoken_of_as_one(repo: Repo) -> None:
    log = "# 2026-02-05\n\n## 10:00\n\n- Decision: we deploy on Monday, because support is staffed then.\n"
    repo.commit("log", {"memory/2026-02-05.md": log, "MEMORY.md": "# Memory\n"})
    repo.mem("promote")
    assert "; it will not be promoted again" in repo.mem("revert", "--source", "memory/2026-02-05.md").stderr
