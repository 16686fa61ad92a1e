"""The gate in real commits, merges and pushes: native hooks, real git, real processes."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from gitmem.cli import git_hooks
from gitmem.errors import UsageError
from gitmem.git.hooks import GATES, SERVER
from tests.harness import Repo
from tests.samples import AWS, GITHUB

CLEAN = "- 오늘 배포했다\n"
BAD = f"- 토큰은{GITHUB}를 쓴다\n"


@pytest.fixture
def gated(repo: Repo) -> Repo:
    """A memory repository with our hooks and one commit."""
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- one fact\n", "src/app.py": "print()\n"})
    repo.mem("install")
    return repo


def refused(repo: Repo, *args: str, **env: str) -> str:
    """Run git, which must refuse; what it said."""
    before = repo.git("rev-parse", "HEAD")
    done = repo.run("git", *args, check=False, env=env)
    assert done.returncode == 1, done.stderr
    assert repo.git("rev-parse", "HEAD") == before
    assert GITHUB not in done.stderr + done.stdout
    return done.stderr


def test_a_staged_secret_refuses_the_commit_and_says_what_to_do(gated: Repo) -> None:
    gated.write("memory/a.md", BAD)
    gated.git("add", "-A")
    said = refused(gated, "commit", "-m", "note")
    assert "memory/a.md:1:6: block github" in said
    assert "git mem redact --staged memory/a.md" in said
    assert "git mem allow " in said
    assert "--no-verify" in said
    assert len(said.splitlines()) <= 20


def test_a_merge_left_unfinished_is_told_how_it_ends_and_not_to_be_masked(gated: Repo) -> None:
    gated.write("MEMORY.md", "# Memory\n\n<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> topic\n")
    gated.git("add", "-A")
    said = refused(gated, "commit", "-m", "merge")
    assert "git mem redact" not in said
    assert "mend:   conflict-marker: finish the merge" in said


def test_redact_as_told_then_the_commit_passes(gated: Repo) -> None:
    gated.write("memory/a.md", BAD)
    gated.git("add", "-A")
    refused(gated, "commit", "-m", "note")
    gated.mem("redact", "--staged", "memory/a.md")
    gated.git("commit", "-qm", "note")
    assert GITHUB not in gated.git("show", "HEAD:memory/a.md")
    assert GITHUB not in gated.read("memory/a.md")


def test_allow_as_told_then_the_commit_passes_and_only_there(gated: Repo) -> None:
    gated.write("memory/a.md", BAD)
    gated.git("add", "-A")
    said = refused(gated, "commit", "-m", "note")
    fingerprint = next(line.split()[1] for line in said.splitlines() if line.strip().startswith("fingerprint"))
    gated.mem("allow", fingerprint, "--reason", "a sample of the vendor's documentation")
    gated.git("add", ".gitmem-allow.toml")
    gated.git("commit", "-qm", "note")
    gated.write("memory/b.md", BAD)
    gated.git("add", "-A")
    refused(gated, "commit", "-m", "the same secret at another place")
    audit = gated.mem("scan", "--audit").stdout
    assert "active" in audit and "memory/a.md" in audit and "vendor" in audit


def test_a_finding_of_history_can_be_excepted(gated: Repo) -> None:
    gated.commit("past the hooks", {"memory/a.md": BAD})
    gated.commit("taken out", {"memory/a.md": CLEAN})
    told = json.loads(gated.mem("scan", "--history", "--json", check=False).stdout)["findings"]
    assert len(told) == 1
    assert "--history" in gated.mem("allow", told[0]["fingerprint"], "--reason", "rotated", check=False).stderr
    gated.mem("allow", told[0]["fingerprint"], "--reason", "rotated", "--history")
    gated.commit("except it")
    assert gated.mem("scan", "--history", check=False).returncode == 0


def test_commit_all_scans_the_temporary_index(gated: Repo) -> None:
    gated.write("MEMORY.md", BAD)
    refused(gated, "commit", "-am", "note")


def test_commit_with_path_scans_the_temporary_index(gated: Repo) -> None:
    gated.commit("a", {"memory/a.md": CLEAN, "memory/b.md": CLEAN})
    gated.write("memory/a.md", BAD)
    gated.write("memory/b.md", CLEAN + "- more\n")
    gated.git("add", "memory/b.md")
    refused(gated, "commit", "-m", "note", "memory/a.md")
    gated.git("commit", "-qm", "note", "memory/b.md")


def test_a_commit_of_one_path_is_not_refused_for_another_staged_one(gated: Repo) -> None:
    gated.write("memory/a.md", BAD)
    gated.write("memory/b.md", CLEAN)
    gated.git("add", "-A")
    gated.git("commit", "-qm", "note", "memory/b.md")
    refused(gated, "commit", "-m", "rest")


def test_a_linked_work_tree_is_gated_too(gated: Repo, tmp_path: Path) -> None:
    gated.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Repo(tmp_path / "side", init=False)
    side.write("memory/a.md", BAD)
    side.git("add", "-A")
    refused(side, "commit", "-m", "note")
    side.write("memory/a.md", CLEAN)
    side.git("commit", "-qam", "note")


def test_a_commit_from_a_subfolder_is_gated(gated: Repo) -> None:
    gated.write("memory/a.md", BAD)
    done = gated.run("git", "-C", "memory", "commit", "-qm", "x", "a.md", check=False)
    assert done.returncode == 1 or "did not match" in done.stderr
    gated.git("add", "-A")
    assert gated.run("git", "-C", "memory", "commit", "-qm", "x", check=False).returncode == 1


def test_the_first_commit_is_gated(repo: Repo) -> None:
    repo.mem("install")
    repo.write("memory/a.md", BAD)
    repo.git("add", "-A")
    assert repo.run("git", "commit", "-m", "first", check=False).returncode == 1


def test_a_merge_is_gated(gated: Repo) -> None:
    gated.git("checkout", "-qb", "side")
    gated.commit("bad, past the hooks", {"memory/a.md": BAD})
    gated.git("checkout", "-q", "main")
    gated.commit("other", {"memory/b.md": CLEAN})
    refused(gated, "merge", "-q", "--no-edit", "side")


def test_a_secret_in_the_message_refuses_whatever_is_staged(gated: Repo) -> None:
    refused(gated, "commit", "--allow-empty", "-m", f"deploy with {AWS} and {GITHUB}")
    gated.write("src/app.py", "print(1)\n")
    refused(gated, "commit", "-am", f"토큰 {GITHUB}")
    gated.git("commit", "-qam", "plain words")


def test_am_is_gated(gated: Repo, tmp_path: Path) -> None:
    gated.git("checkout", "-qb", "side")
    gated.commit("bad, past the hooks", {"memory/a.md": BAD})
    patch = tmp_path / "one.patch"
    patch.write_text(gated.git("format-patch", "--stdout", "-1"), encoding="utf-8")
    gated.git("checkout", "-q", "main")
    assert gated.run("git", "am", "-q", str(patch), check=False).returncode != 0
    gated.git("am", "--abort")


def test_a_push_of_what_the_remote_has_already_passes(gated: Repo, tmp_path: Path) -> None:
    remote = Repo(tmp_path / "remote.git", True, "--bare")
    gated.git("push", "-q", str(remote.path), "main")
    done = gated.run("git", "push", str(remote.path), "main", check=False)
    assert done.returncode == 0 and "Everything up-to-date" in done.stderr


def test_a_push_of_what_was_committed_past_the_hooks_is_refused(gated: Repo, tmp_path: Path) -> None:
    remote = Repo(tmp_path / "remote.git", True, "--bare")
    gated.git("remote", "add", "origin", str(remote.path))
    gated.git("push", "-q", "origin", "main")
    gated.commit("bad", {"memory/a.md": BAD})
    gated.commit("and away", {"memory/a.md": CLEAN})
    done = gated.run("git", "push", "origin", "main", check=False)
    assert done.returncode == 1
    assert "memory/a.md:1:6: block github" in done.stderr
    assert GITHUB not in done.stderr
    gated.git("push", "-q", "--no-verify", "origin", "main")
    gated.git("push", "-q", "origin", "main:other")


def test_deleting_a_branch_on_the_remote_is_no_scan(gated: Repo, tmp_path: Path) -> None:
    remote = Repo(tmp_path / "remote.git", True, "--bare")
    gated.git("push", "-q", str(remote.path), "main", "main:gone")
    gated.git("push", "-q", str(remote.path), ":gone")


def test_past_lines_of_a_daily_log_need_a_reason(gated: Repo) -> None:
    log = "memory/2026-02-05.md"
    gated.commit("log", {log: "# 2026-02-05\n\n- one\n- two\n"})
    gated.write(log, "# 2026-02-05\n\n- one\n- two\n- three\n")
    gated.git("commit", "-qam", "grows")
    gated.write(log, "# 2026-02-05\n\n- one\n- TWO\n- three\n")
    said = refused(gated, "commit", "-am", "rewrites")
    assert "log-rewritten" in said and "Memory-Rewrite" in said
    gated.git("commit", "-qam", "rewrites\n\nMemory-Rewrite: a name was wrong")


def test_past_lines_of_an_adopted_daily_note_are_a_warning_that_a_reason_answers(gated: Repo) -> None:
    note = "journals/2026_02_05.md"
    settings = '[memory]\ndaily = ["journals/YYYY_MM_DD.md"]\n'
    gated.commit("notes", {".gitmem.toml": settings, note: "# 2026-02-05\n\n- [ ] call Kim\n"})
    gated.write(note, "# 2026-02-05\n\n- [x] call Kim\n")
    done = gated.run("git", "commit", "-qam", "done")
    assert "warn log-rewritten" in done.stderr and note in done.stderr
    assert "(1 line)" in done.stderr
    gated.write(note, "# 2026-02-05\n")
    done = gated.run("git", "commit", "-qam", "away\n\nMemory-Rewrite: done and over")
    assert "log-rewritten" not in done.stderr
    assert "log-rewritten" in gated.mem("scan", "--range", "HEAD~2..HEAD~1").stdout


def test_redact_of_a_daily_log_brings_its_reason_along(gated: Repo) -> None:
    log = "memory/2026-02-05.md"
    gated.commit("log, past the hooks", {log: f"# 2026-02-05\n\n- one\n{BAD}"})
    gated.mem("redact", log)
    gated.git("commit", "-qam", "mask a token")
    assert "Memory-Rewrite: masked with git mem redact" in gated.git("log", "-1", "--format=%(trailers)")
    gated.write(log, "# 2026-02-05\n")
    refused(gated, "commit", "-am", "anything else")


def test_a_protected_file_is_refused_and_its_exception_is_for_that_blob(gated: Repo) -> None:
    gated.commit("protect", {"SOUL.md": "# Soul\n", ".gitmem.toml": '[gate]\nprotected = ["SOUL.md"]\n'})
    gated.write("SOUL.md", "# Soul\n\nchanged\n")
    said = refused(gated, "commit", "-am", "change")
    assert "protected-file" in said
    gated.write(".gitmem.toml", "")
    refused(gated, "commit", "-am", "change, and drop the protection in the same commit")


def test_a_broken_exceptions_file_refuses(gated: Repo) -> None:
    gated.write(".gitmem-allow.toml", "not toml")
    gated.write("memory/a.md", CLEAN)
    gated.git("add", "-A")
    assert "not valid TOML" in refused(gated, "commit", "-m", "note")


def test_a_gate_that_cannot_start_refuses_and_a_refresh_that_cannot_does_not(gated: Repo) -> None:
    for name in ("pre-commit", "commit-msg", "post-commit"):
        hook = gated.path / ".git/hooks" / name
        lines = hook.read_text().splitlines(keepends=True)
        hook.write_text(
            "".join("gitmem_python=/no/python\n" if line.startswith("gitmem_python=") else line for line in lines)
        )
    gated.write("memory/a.md", CLEAN)
    gated.git("add", "-A")
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not (Path(p) / "git-mem").exists())
    done = gated.run("git", "commit", "-m", "note", check=False, env={"PATH": path})
    assert done.returncode == 1
    done = gated.run("git", "commit", "--no-verify", "-m", "note", check=False, env={"PATH": path})
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_gate_whose_python_lost_git_mem_says_so_and_a_finding_does_not(gated: Repo, tmp_path: Path) -> None:
    gated.write("memory/a.md", BAD)
    gated.git("add", "memory")
    assert "is gone" not in refused(gated, "commit", "-m", "note")
    without = tmp_path / "python"
    without.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    without.chmod(0o755)
    hook = gated.path / ".git/hooks/pre-commit"
    hook.write_text(re.sub("gitmem_python='.*'", f"gitmem_python='{without}'", hook.read_text()))
    said = refused(gated, "commit", "-m", "note")
    assert "git mem is gone" in said and "git mem install" in said


def test_installing_gates_in_a_bare_repository_points_to_the_server_hook(tmp_path: Path) -> None:
    bare = Repo(tmp_path / "bare.git", True, "--bare")
    assert "--server" in bare.mem("install").stderr
    assert "--server" not in bare.mem("install", "--server").stderr


def test_a_file_that_is_called_like_a_word_of_ours_is_scanned(repo: Repo) -> None:
    repo.commit("past the hooks", {"--promote=a.md": BAD})
    done = repo.mem("hook", "pre-commit", "--", "--promote=a.md", check=False)
    assert done.returncode == 1 and "github" in done.stderr


def test_code_in_the_repository_is_never_imported(gated: Repo) -> None:
    for name in ("gitmem", "click", "json"):
        gated.write(f"{name}.py", "import pathlib\npathlib.Path('ran').touch()\n")
    gated.write("memory/a.md", CLEAN)
    gated.git("add", "-A")
    gated.git("commit", "-qm", "note")
    assert not (gated.path / "ran").exists()


def test_a_commit_without_memory_does_not_start_python(gated: Repo) -> None:
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit"):
        hook = gated.path / ".git/hooks" / name
        text = hook.read_text()
        hook.write_text(text.replace("gitmem() {", "gitmem() { touch ran;"))
    gated.write("src/app.py", "print(2)\n")
    gated.git("commit", "-qam", "update code")
    assert not (gated.path / "ran").exists()
    gated.write("memory/a.md", CLEAN)
    gated.git("add", "-A")
    gated.git("commit", "-qm", "note")
    assert (gated.path / "ran").exists()


@pytest.mark.parametrize(
    "name", ["GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"]
)
def test_no_pathspec_setting_of_the_environment_blinds_the_shim(gated: Repo, name: str) -> None:
    gated.write("docs/deep/AGENTS.md", "x\n")
    gated.write("memory/sub/a.md", BAD)
    gated.git("add", "-A")
    assert gated.run("git", "commit", "-m", "x", check=False, env={name: "1"}).returncode == 1


def test_foreign_hooks_run_with_their_arguments_and_input(repo: Repo, tmp_path: Path) -> None:
    repo.commit("start", {"MEMORY.md": "- a\n"})
    remote = Repo(tmp_path / "remote.git", True, "--bare")
    hooks = repo.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-push", "commit-msg", "pre-commit"):
        (hooks / name).write_text(f'#!/bin/sh\necho "$@" > ../{name}.args\ncat > ../{name}.input\n')
        (hooks / name).chmod(0o755)
    (hooks / "post-commit").write_text("#!/usr/bin/env python3\nopen('../post-commit.ran', 'w').close()\n")
    (hooks / "post-commit").chmod(0o755)
    repo.mem("install")
    repo.write("memory/a.md", CLEAN)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "note", input="")
    repo.git("push", "-q", str(remote.path), "main")
    assert (tmp_path / "commit-msg.args").read_text().strip().endswith("COMMIT_EDITMSG")
    assert (tmp_path / "pre-push.input").read_text().startswith("refs/heads/main ")
    assert str(remote.path) in (tmp_path / "pre-push.args").read_text()
    assert (tmp_path / "post-commit.ran").exists()


def test_core_hookspath_is_respected(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "- a\n"})
    repo.git("config", "core.hooksPath", ".githooks")
    repo.mem("install")
    assert (repo.path / ".githooks/pre-commit").exists()
    assert not (repo.path / ".git/hooks/pre-commit").exists()
    repo.write("memory/a.md", BAD)
    repo.git("add", "memory")
    refused(repo, "commit", "-m", "note")
    repo.mem("uninstall")
    assert not (repo.path / ".githooks/pre-commit").exists()


def test_a_server_refuses_a_push_with_pre_receive(gated: Repo, tmp_path: Path) -> None:
    remote = Repo(tmp_path / "remote.git", True, "--bare")
    gated.git("push", "-q", "--no-verify", str(remote.path), "main")
    remote.mem("install", "--server")
    gated.commit("bad", {"memory/a.md": BAD})
    done = gated.run("git", "push", "--no-verify", str(remote.path), "main", check=False)
    assert done.returncode == 1
    assert "block github" in done.stderr and GITHUB not in done.stderr
    new = gated.run("git", "push", "--no-verify", str(remote.path), "main:new", check=False)
    assert new.returncode == 1
    gated.git("reset", "-q", "--hard", "HEAD^")
    gated.commit("good", {"memory/a.md": CLEAN})
    gated.git("push", "-q", "--no-verify", str(remote.path), "main", "main:new")


def test_an_exception_in_the_push_itself_does_not_help_on_the_server(gated: Repo, tmp_path: Path) -> None:
    remote = Repo(tmp_path / "remote.git", True, "--bare")
    gated.git("push", "-q", "--no-verify", str(remote.path), "main")
    remote.mem("install", "--server")
    gated.write("memory/a.md", BAD)
    found = gated.mem("scan", check=False).stdout
    fingerprint = next(line.split()[1] for line in found.splitlines() if line.strip().startswith("fingerprint"))
    gated.mem("allow", fingerprint, "--reason", "sample")
    gated.commit("bad, excepted by itself")
    assert gated.mem("scan", "--staged", check=False).returncode == 0
    assert gated.run("git", "push", "--no-verify", str(remote.path), "main", check=False).returncode == 1


def test_install_and_uninstall_answer_in_json(repo: Repo) -> None:
    import json

    planned = json.loads(repo.mem("install", "--dry-run", "--json").stdout)
    assert planned["dry_run"] is True
    assert "pre-commit" in {row["hook"] for row in planned["hooks"]}
    repo.mem("install", "--promote")
    assert "gitmem_promote='branch'" in (repo.path / ".git/hooks/post-commit").read_text()
    repo.mem("install")
    assert "gitmem_promote='branch'" in (repo.path / ".git/hooks/post-commit").read_text()
    (repo.path / ".git/gitmem").mkdir(exist_ok=True)
    repo.mem("uninstall", "--purge")
    assert not (repo.path / ".git/gitmem").exists()


def test_a_tag_of_a_bare_tree_is_not_let_through(gated: Repo, tmp_path: Path) -> None:
    remote = Repo(tmp_path / "remote.git", True, "--bare")
    gated.git("push", "-q", str(remote.path), "main")
    remote.mem("install", "--server")
    gated.git("tag", "tree", "HEAD^{tree}")
    gated.git("tag", "-a", "-m", "v1", "v1", "HEAD")
    for options in ([], ["--no-verify"]):
        done = gated.run("git", "push", *options, str(remote.path), "tree", check=False)
        assert done.returncode == 1
        assert "names no commit" in done.stderr
    gated.git("push", "-q", str(remote.path), "v1")


def test_a_path_of_the_users_own_settings_is_scanned(gated: Repo) -> None:
    gated.git("config", "--global", "mem.memoryPaths", "notes/*.txt")
    gated.write("notes/a.txt", BAD)
    gated.git("add", "-A")
    assert "notes/a.txt:1:6: block github" in refused(gated, "commit", "-m", "note")


def test_settings_cannot_be_removed_in_passing(gated: Repo) -> None:
    gated.commit("settings", {".gitmem.toml": "[memory]\npaths = ['notes/*.txt']\n", "MEMORY.md": "# Memory\n"})
    gated.git("rm", "-q", ".gitmem.toml")
    said = refused(gated, "commit", "-m", "tidy")
    assert "settings-loosened" in said and "notes/*.txt" in said and "mend:   settings-loosened: put them back" in said
    gated.git("reset", "-q", "--hard")
    gated.write(".gitmem.toml", "[memory]\npaths = ['notes/*.txt', 'more/*.md']\n")
    gated.git("commit", "-qam", "more paths")


def test_the_frameworks_range_in_the_environment_does_not_replace_what_is_staged(gated: Repo) -> None:
    gated.commit("start", {"MEMORY.md": "# Memory\n"})
    gated.write("memory/a.md", BAD)
    gated.git("add", "-A")
    done = gated.run("git", "commit", "-m", "note", check=False, env={"PRE_COMMIT_TO_REF": "HEAD"})
    assert done.returncode == 1 and "memory/a.md:1:6: block github" in done.stderr


SCISSORS = "# ------------------------ >8 ------------------------"


@pytest.mark.parametrize("below", [f"{GITHUB}", f"# Everything below is ignored.\ndiff --git a/x b/x\n+{GITHUB}"])
def test_what_a_message_keeps_below_a_scissors_line_is_scanned(gated: Repo, below: str) -> None:
    gated.commit("start", {"MEMORY.md": "# Memory\n"})
    refused(gated, "commit", "--allow-empty", "-m", f"note\n\n{SCISSORS}\n{below}")
    refused(gated, "commit", "--allow-empty", "-m", f"note\n\n# {GITHUB}")


def test_the_diff_of_a_verbose_commit_is_no_part_of_its_message(gated: Repo) -> None:
    gated.commit("start", {"MEMORY.md": "# Memory\n", "memory/a.md": "- x " + BAD})
    gated.write("memory/a.md", "- clean\n")
    gated.git("add", "-A")
    editor = 'sh -c \'printf "note\\n" | cat - "$0" >m && mv m "$0"\''
    gated.git("commit", "-qv", env={"GIT_EDITOR": editor})
    assert GITHUB not in gated.git("log", "-1", "--format=%B")


@pytest.mark.parametrize("made_up", [f"+{GITHUB}", f" {GITHUB}", f"@@ -1 +1 @@ {GITHUB}", f"+++ b/{GITHUB}"])
def test_a_diff_that_is_made_up_below_a_scissors_line_is_scanned(gated: Repo, made_up: str) -> None:
    gated.commit("start", {"MEMORY.md": "# Memory\n"})
    message = f"note\n\n{SCISSORS}\n# below\ndiff --git a/x b/x\n{made_up}\n"
    gated.write(".git/message", message)
    refused(gated, "commit", "--allow-empty", "-e", "-F", ".git/message", GIT_EDITOR="true")


def test_an_unknown_hook_is_refused_and_never_taken_for_another() -> None:
    for call in (git_hooks.run_hook, git_hooks.gate):
        with pytest.raises(UsageError):
            call("pre-recieve", ())


def test_every_hook_that_gates_has_its_gate() -> None:
    assert set(git_hooks.GATE_OF_HOOK) == {*GATES, *SERVER}
