"""Hooks beside programs that write hook files themselves: ours stay, or it is said that they are gone."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.harness import Repo
from tests.samples import GITHUB

BAD = f"- the key is {GITHUB}\n"
SHIM = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n'
RUNNER = '#!/usr/bin/env sh\nn=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\n'
NAMES = ("pre-commit", "commit-msg", "post-commit", "pre-push")


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """`git-mem` by its name, as tracked hooks call it."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("begin", {"MEMORY.md": "# Memory\n"})
    return repo


def husky(repo: Repo, folder: str = ".husky") -> None:
    """What husky's `prepare` script does."""
    for name in NAMES:
        repo.write(f"{folder}/_/{name}", SHIM).chmod(0o755)
    repo.write(f"{folder}/_/h", RUNNER)
    repo.git("config", "core.hooksPath", f"{folder}/_")


def tried(repo: Repo, text: str = BAD, message: str = "x") -> tuple[int, str]:
    repo.write("memory/a.md", text)
    repo.git("add", "-A")
    done = repo.run("git", "commit", "-qm", message, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("folder", [".husky", ".config/husky"])
def test_hooks_beside_husky_stand_in_the_files_that_it_runs(memory: Repo, folder: str) -> None:
    husky(memory, folder)
    memory.write(f"{folder}/pre-commit", "echo theirs >&2\n")
    said = memory.mem("install").stderr
    assert "husky" in said
    shutil.rmtree(memory.path / folder / "_")
    husky(memory, folder)
    code, said = tried(memory)
    assert code == 1 and "github-token" in said
    assert tried(memory, "- fine\n") == (0, "theirs\n")
    assert "wrong  hooks" not in memory.mem("doctor", check=False).stdout
    memory.mem("uninstall")
    assert memory.read(f"{folder}/pre-commit") == "echo theirs >&2\n"
    assert sorted(path.name for path in (memory.path / folder).iterdir()) == ["_", "pre-commit"]


def test_what_still_runs_does_the_work_of_a_gate_that_lefthook_moved_away(memory: Repo) -> None:
    memory.mem("install")
    hook = memory.path / ".git/hooks/pre-commit"
    hook.rename(hook.with_name("pre-commit.old"))
    hook.write_text('#!/bin/sh\ncall_lefthook run "$0"\n:\n')
    hook.chmod(0o755)
    code, said = tried(memory)
    assert code == 1 and "lefthook has written them" in said and "github-token" in said
    assert "wrong  hooks: missing: pre-commit" in memory.mem("doctor", check=False).stdout
    assert "missing: pre-commit" in memory.mem("status").stdout


@pytest.mark.parametrize("hook", ["pre-commit", "pre-merge-commit"])
@pytest.mark.parametrize("how", ["exit 0 first", "not executable"])
def test_commit_msg_does_the_work_of_a_gate_that_git_does_not_run_or_reach(memory: Repo, hook: str, how: str) -> None:
    memory.mem("install")
    path = memory.path / ".git/hooks" / hook
    if how == "not executable":
        path.chmod(0o644)
    else:
        path.write_text(path.read_text().replace("#!/bin/sh\n", "#!/bin/sh\nexit 0\n", 1))
    assert hook in hooks_wrong(memory)
    memory.git("checkout", "-qb", "side")
    memory.commit("bad", {"memory/a.md": BAD})
    memory.git("checkout", "-q", "main")
    if hook == "pre-commit":
        code, said = tried(memory)
    else:
        memory.commit("ours", {"memory/b.md": "- b\n"})
        done = memory.run("git", "merge", "-m", "x", "side", check=False)
        code, said = done.returncode, done.stderr
    assert code == 1 and "github-token" in said and hook in said
    memory.mem("install")
    assert hooks_wrong(memory) == ""


def test_gates_that_git_cannot_run_are_told_by_post_commit(memory: Repo) -> None:
    memory.mem("install")
    for name in ("pre-commit", "commit-msg"):
        (memory.path / ".git/hooks" / name).chmod(0o644)
    code, said = tried(memory)
    assert code == 0 and "not executable: pre-commit, commit-msg" in said


def test_with_both_gates_gone_post_commit_says_so(memory: Repo) -> None:
    memory.mem("install")
    for name in ("pre-commit", "commit-msg"):
        (memory.path / ".git/hooks" / name).unlink()
    code, said = tried(memory)
    assert code == 0 and "git mem: hooks are missing: pre-commit, commit-msg" in said


def test_hooks_that_all_went_away_are_an_error_until_they_are_taken_out_on_purpose(memory: Repo) -> None:
    memory.mem("install")
    memory.git("config", "core.hooksPath", ".other")
    assert "wrong  hooks: missing: pre-commit" in memory.mem("doctor", check=False).stdout
    memory.git("config", "--unset", "core.hooksPath")
    memory.mem("uninstall")
    assert "none of ours are installed" in memory.mem("doctor").stdout


def test_install_offers_lefthook_a_configuration_and_accepts_it(memory: Repo) -> None:
    memory.write("lefthook.yml", "pre-commit:\n  jobs:\n    - run: true\n")
    said = memory.mem("install").stderr
    assert "run: git-mem hook pre-commit" in said and "run: git-mem hook commit-msg {1}" in said
    memory.write("lefthook.yml", "pre-commit:\n  jobs:\n    - run: git-mem hook pre-commit\n")
    assert "hook pre-commit\n" not in memory.mem("install").stderr
    (memory.path / ".git/hooks/pre-commit").write_text("#!/bin/sh\ncall_lefthook\n")
    assert "wrong  hooks" not in memory.mem("doctor", check=False).stdout


def test_a_folder_of_hooks_for_all_repositories_gates_those_where_install_was_run(
    memory: Repo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hooks")
    theirs = folder / "pre-commit"
    theirs.write_bytes(b"#!/bin/sh\n:\n")
    theirs.chmod(0o755)
    other, third = Repo(tmp_path_factory.mktemp("other")), Repo(tmp_path_factory.mktemp("third"))
    for repo in (memory, other, third):
        repo.git("config", "core.hooksPath", str(folder))
    assert "serves all repositories" in memory.mem("install").stderr
    third.mem("install")
    assert tried(other)[0] == 0 and not (other.path / ".git/gitmem").exists()
    assert tried(memory)[0] == tried(third)[0] == 1
    memory.mem("uninstall")
    assert tried(memory)[0] == 0 and tried(third)[0] == 1
    third.mem("uninstall")
    assert [path.name for path in folder.iterdir()] == ["pre-commit"]
    assert theirs.read_bytes() == b"#!/bin/sh\n:\n"


@pytest.mark.parametrize("char", ["#", ";", "auto"])
def test_the_diff_of_a_verbose_commit_is_no_message_whatever_character_comments_have(memory: Repo, char: str) -> None:
    memory.commit("bad", {"memory/a.md": BAD})
    memory.mem("install")
    prepend = 'printf "mask it\\n" | cat - "$1" > "$1.n" && mv "$1.n" "$1"'
    memory.git(*memory.verbose_commit(prepend, {"memory/a.md": "- masked\n"}, char))


def test_messages_of_tags_and_notes_are_scanned_where_they_are_published(
    memory: Repo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bare = Repo(tmp_path_factory.mktemp("bare"), True, "--bare")
    memory.git("remote", "add", "origin", str(bare.path))
    memory.git("push", "-q", "origin", "main")
    memory.mem("install")
    memory.git("tag", "-a", "fine", "-m", "a release")
    memory.git("push", "-q", "origin", "fine")
    memory.git("tag", "-a", "inner", "-m", f"deploy with {GITHUB}")
    memory.git("tag", "-a", "outer", "-m", "a tag of a tag", "inner")
    memory.git("notes", "add", "-m", f"reviewed with {GITHUB}")
    for ref in ("inner", "outer", "refs/notes/commits"):
        done = memory.run("git", "push", "-q", "origin", ref, check=False)
        assert done.returncode == 1 and "github-token" in done.stderr
    found = memory.mem("scan", "--history", check=False)
    assert found.returncode == 1 and found.stdout.count("block github-token") == 2
    memory.run("git", "-C", str(bare.path), "mem", "install", "--server")
    for ref in ("inner", "refs/notes/commits"):
        assert memory.run("git", "push", "-q", "--no-verify", "origin", ref, check=False).returncode == 1


@pytest.mark.parametrize(
    "what", ["a tag of a tag", "a tag of a blob", "a tag of a tree", "a light tag on a blob", "a file"]
)
def test_a_scan_of_history_reads_every_tag(memory: Repo, what: str) -> None:
    message = f"deploy with {GITHUB}"
    if what == "a tag of a tag":
        memory.git("tag", "-a", "inner", "-m", "fine")
        memory.git("tag", "-a", "outer", "-m", message, "inner")
        memory.git("tag", "-d", "inner")
    elif what == "a light tag on a blob":
        memory.git("tag", "key", memory.git("hash-object", "-w", "--stdin", input=message).strip())
    elif what == "a file":
        (blob,) = memory.git("hash-object", "-w", "--stdin", input=f"- {message}\n").split()
        memory.git("tag", "-a", "x", "-m", "x", memory.git("mktree", input=f"100644 blob {blob}\tMEMORY.md\n").strip())
    else:
        named = "HEAD:MEMORY.md" if what.endswith("blob") else "HEAD^{tree}"
        memory.git("tag", "-a", "x", "-m", message, named)
    found = memory.mem("scan", "--history", check=False)
    assert found.returncode == 1 and found.stdout.count("block github-token") == 1 and GITHUB not in found.stdout


def test_names_of_refs_and_taggers_are_scanned_when_they_are_pushed(
    memory: Repo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bare = Repo(tmp_path_factory.mktemp("bare"), True, "--bare")
    memory.git("remote", "add", "origin", str(bare.path))
    memory.mem("install")
    head = memory.git("rev-parse", "HEAD").strip()
    names = ["main", "feature/password-reset-v2", "user/kim/api-key-rotation-2026", "release/2026.11.30"]
    names += [f"gh-readonly-queue/main/pr-104-{head}", "dependabot/npm_and_yarn/lodash-4.17.21"]
    for name in names:
        memory.git("push", "-q", "origin", f"HEAD:refs/heads/{name}")
    memory.git("tag", GITHUB)
    memory.git("tag", "-a", "v1", "-m", "x", env={"GIT_COMMITTER_NAME": GITHUB})
    for ref in (GITHUB, f"HEAD:refs/heads/feat/{GITHUB}", "v1"):
        done = memory.run("git", "push", "-q", "origin", ref, check=False)
        assert done.returncode == 1 and "github-token" in done.stderr and GITHUB not in done.stderr, ref
    memory.run("git", "-C", str(bare.path), "mem", "install", "--server")
    assert memory.run("git", "push", "-q", "--no-verify", "origin", GITHUB, check=False).returncode == 1


def test_a_scan_of_history_reads_commits_that_a_tag_of_a_tag_alone_has(memory: Repo) -> None:
    memory.git("checkout", "-qb", "side")
    memory.commit("bad", {"memory/a.md": BAD})
    memory.git("tag", "-a", "inner", "-m", "x")
    memory.git("tag", "-a", "outer", "-m", "x", "inner")
    memory.git("tag", "-d", "inner")
    memory.git("checkout", "-q", "main")
    memory.git("branch", "-D", "side")
    assert memory.mem("scan", "--history", check=False).returncode == 1


@pytest.fixture
def shared(memory: Repo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of hooks for all repositories, with our lines for `memory`."""
    folder = tmp_path_factory.mktemp("hooks") / "all"
    memory.git("config", "--global", "core.hooksPath", str(folder))
    memory.mem("install")
    return folder


def hooks_wrong(repo: Repo) -> str:
    rows = json.loads(repo.mem("doctor", "--json", check=False).stdout)["checks"]
    return next(row["wrong"] for row in rows if row["name"] == "hooks")


def test_a59_a_moved_repository_is_told_that_the_shared_hooks_do_not_name_it(memory: Repo, shared: Path) -> None:
    moved = Repo(memory.path.rename(memory.path.with_name("moved")), init=False)
    assert "name other repositories and not this one" in hooks_wrong(moved)
    assert "hooks " in moved.mem("status").stdout
    moved.mem("install")
    assert hooks_wrong(moved) == "" and tried(moved)[0] == 1
    assert str(memory.path) + "/.git" not in (shared / "pre-commit").read_text()


def test_a59_uninstall_of_a_moved_repository_takes_its_lines_out(memory: Repo, shared: Path) -> None:
    moved = Repo(memory.path.rename(memory.path.with_name("moved")), init=False)
    moved.mem("uninstall")
    assert list(shared.iterdir()) == []


def test_a59_a_copy_and_a_clone_are_told_and_leave_the_lines_of_the_first(memory: Repo, shared: Path) -> None:
    copy = Repo(memory.path.with_name("copy"), init=False)
    shutil.copytree(memory.path, copy.path, dirs_exist_ok=True, symlinks=True)
    assert "moved or copied" in hooks_wrong(copy)
    clone = Repo(memory.path.with_name("clone"), init=False)
    clone.git("clone", "-q", str(memory.path), ".")
    assert hooks_wrong(clone) == "" and "for other repositories, none for this one" in clone.mem("doctor").stdout
    for repo in (copy, clone):
        assert "none for this one" in repo.mem("uninstall").stdout
    assert tried(memory)[0] == 1 and hooks_wrong(memory) == ""
