"""What both adapters promise, over real repositories of every shape they can open."""

from __future__ import annotations

import io
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitmem.errors import GitFailed, NotARepository, UnknownRevision
from gitmem.git.binary import BinaryRepository
from gitmem.git.opening import discover, open_repository
from gitmem.git.process import read_in_thread
from gitmem.git.repository import Repository
from tests.harness import Repo

Opener = Callable[[Path], Repository]


def library(path: Path) -> Repository:
    from gitmem.git.library import open_library

    return open_library(path, os.environ)


@pytest.fixture(params=["binary", "library"])
def opened(request: pytest.FixtureRequest) -> Iterator[Opener]:
    repos: list[Repository] = []

    def open_(path: Path) -> Repository:
        repo = open_repository(path, os.environ) if request.param == "binary" else library(path)
        repos.append(repo)
        return repo

    yield open_
    for repo in repos:
        repo.close()


def test_a_commit_its_tree_and_its_blobs_are_read(repo: Repo, opened: Opener) -> None:
    oid = repo.commit("first\n\nbody", {"MEMORY.md": "- a\n", "memory/한글.md": "가\n", "HEAD": "not a ref\n"})
    git = opened(repo.path)
    assert git.root == repo.path and git.head() == oid == git.resolve("main") == git.resolve("HEAD")
    entries = {e.path: e for e in git.entries(oid)}
    assert set(entries) == {"MEMORY.md", "memory/한글.md", "HEAD"}
    assert git.read(entries["memory/한글.md"].oid) == "가\n".encode()
    assert git.hash_blob("가\n".encode()) == entries["memory/한글.md"].oid
    commit = git.commit(oid)
    assert commit.subject == "first" and commit.author.email == "test@example.com" and commit.parents == ()
    assert commit.tree == git.tree(oid)
    assert git.branch() == "main" and git.refs() == [("refs/heads/main", oid)]


def test_the_files_of_a_tree_are_counted_without_walking_what_unfolds_without_end(repo: Repo, opened: Opener) -> None:
    oid = repo.commit("some", {"MEMORY.md": "- a\n", "memory/한글.md": "가\n", "a/b/c.md": "c\n"})
    git = opened(repo.path)
    assert git.count_files(oid, 100) == 3
    blob = repo.git("rev-parse", "HEAD:MEMORY.md").strip()
    tree = repo.git("mktree", input="".join(f"100644 blob {blob}\tf{n}.md\n" for n in range(10))).strip()
    for _ in range(20):
        tree = repo.git("mktree", input="".join(f"040000 tree {tree}\td{n}\n" for n in range(10))).strip()
    assert git.count_files(tree, 1_000) > 1_000
    assert git.count_files(oid, 2) >= 3  # counted before, and still true


def test_a_linked_worktree_shares_the_common_directory(repo: Repo, opened: Opener, tmp_path: Path) -> None:
    repo.commit("one", {"MEMORY.md": "- a\n"})
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    main, linked = opened(repo.path), opened(tmp_path / "linked")
    assert linked.common_dir == main.common_dir and linked.git_dir != main.git_dir
    assert linked.branch() == "side" and linked.root == tmp_path / "linked"


def test_a_bare_repository_has_no_root(repo: Repo, opened: Opener, tmp_path: Path) -> None:
    oid = repo.commit("one", {"MEMORY.md": "- a\n"})
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    bare = opened(tmp_path / "bare.git")
    assert bare.root is None and bare.head() == oid and len(bare.entries(oid)) == 1


def test_a_shallow_clone_is_read(repo: Repo, opened: Opener, tmp_path: Path) -> None:
    repo.commit("one", {"MEMORY.md": "- a\n"})
    oid = repo.commit("two", {"MEMORY.md": "- b\n"})
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    shallow = opened(tmp_path / "shallow")
    assert [c.oid for c in shallow.log(["HEAD"])] == [oid]


def test_before_the_first_commit_there_is_no_head(repo: Repo, opened: Opener) -> None:
    repo.write("MEMORY.md", "- a\n")
    repo.git("add", "-A")
    git = opened(repo.path)
    assert git.head() is None
    assert [(c.status, c.path) for c in git.staged_changes()] == [("A", "MEMORY.md")]
    with pytest.raises(UnknownRevision):
        git.resolve("HEAD")


def test_staged_changes_and_differences_say_what_happened(repo: Repo, opened: Opener) -> None:
    first = repo.commit("one", {"a.md": "text that is long enough\n" * 5, "b.md": "b\n", "c.md": "c\n"})
    repo.git("mv", "a.md", "moved.md")
    repo.git("rm", "-q", "b.md")
    repo.write("c.md", "changed\n")
    repo.git("add", "-A")
    git = opened(repo.path)
    staged = {(c.status, c.path) for c in git.staged_changes()}
    assert staged == {("D", "a.md"), ("A", "moved.md"), ("D", "b.md"), ("M", "c.md")}
    second = repo.commit("two")
    renamed = {(c.status, c.path, c.old_path) for c in git.changes(first, second, renames=True)}
    assert renamed == {("R", "moved.md", "a.md"), ("D", "b.md", "b.md"), ("M", "c.md", "c.md")}
    assert {c.path for c in git.changes("", first)} == {"a.md", "b.md", "c.md"}


def test_symbolic_links_are_entries_and_never_followed(repo: Repo, opened: Opener) -> None:
    os.symlink("/etc/passwd", repo.path / "link.md")
    oid = repo.commit("link")
    git = opened(repo.path)
    (entry,) = git.entries(oid)
    assert entry.mode == 0o120000 and git.read(entry.oid) == b"/etc/passwd"


def test_line_endings_and_raw_bytes_come_through_unchanged(repo: Repo, opened: Opener) -> None:
    data = b"a\r\nb\r\n\0\xff"
    repo.write(".gitattributes", "*.md text eol=crlf\n")
    oid = git_hash(repo, data)
    assert opened(repo.path).read(oid) == data


def git_hash(repo: Repo, data: bytes) -> str:
    repo.write("raw", data)
    return repo.git("hash-object", "-w", "--no-filters", "raw").strip()


def test_missing_and_wrong_objects_are_told_apart_from_empty_ones(repo: Repo, opened: Opener) -> None:
    oid = repo.commit("one", {"empty.md": ""})
    git = opened(repo.path)
    (entry,) = git.entries(oid)
    missing = "1" * 40
    assert list(git.read_many([entry.oid, missing, git.tree(oid)])) == [
        (entry.oid, b""), (missing, None), (git.tree(oid), None),
    ]  # fmt: skip
    assert git.sizes([entry.oid, missing]) == {entry.oid: 0}
    with pytest.raises(GitFailed):
        git.read(missing)
    with pytest.raises(UnknownRevision):
        git.resolve("--all")
    with pytest.raises(UnknownRevision):
        git.resolve("no such\nrev")


def test_blame_names_the_commit_and_line_a_line_came_from(repo: Repo, opened: Opener) -> None:
    first = repo.commit("one", {"memory/é\t.md": "one\ntwo\n"})
    repo.commit("two", {"memory/é\t.md": "zero\none\ntwo\n"})
    repo.write("memory/é\t.md", "zero\none\nthree\n")
    git = opened(repo.path)
    (line,) = git.blame("memory/é\t.md", 2, 2)
    assert (line.commit, line.source_line, line.text) == (first, 1, "one")
    (line,) = git.blame("memory/é\t.md", 3, 3)
    assert not line.commit.strip("0")


def test_log_follows_paths_limits_and_exclusions(repo: Repo, opened: Opener) -> None:
    one = repo.commit("one", {"a.md": "1\n"})
    two = repo.commit("two", {"b.md": "1\n"})
    three = repo.commit("three", {"a.md": "2\n"})
    git = opened(repo.path)
    assert [c.oid for c in git.log(["HEAD"])] == [three, two, one]
    assert [c.oid for c in git.log(["HEAD"], ["a.md"])] == [three, one]
    assert [c.oid for c in git.log(["HEAD", f"^{one}"], reverse=True)] == [two, three]
    assert [c.oid for c in git.log(["HEAD"], limit=1)] == [three]
    assert git.merge_base(one, three) == one and git.is_ancestor(one, three) and not git.is_ancestor(three, one)


def test_a_failure_of_git_is_no_answer(repo: Repo, opened: Opener) -> None:
    """A commit that is not here is nobody's ancestor; a damaged history is an error, not a `no`."""
    one = repo.commit("one", {"a.md": "1\n"})
    two = repo.commit("two", {"a.md": "2\n"})
    three = repo.commit("three", {"a.md": "3\n"})
    git = opened(repo.path)
    assert not git.is_ancestor("1" * 40, three) and not git.is_ancestor(one, "1" * 40)
    assert git.find_blob("a.md", "1" * 12, "nothing") is None
    (repo.path / ".git/objects" / two[:2] / two[2:]).unlink()
    git = opened(repo.path)
    with pytest.raises(GitFailed):
        git.is_ancestor(one, three)
    with pytest.raises(GitFailed):
        git.find_blob("a.md", "1" * 12)


def test_a_lost_head_is_damage_and_not_a_repository_without_a_commit(repo: Repo, opened: Opener) -> None:
    assert opened(repo.path).head() is None
    one = repo.commit("one", {"a.md": "1\n"})
    (repo.path / ".git/objects" / one[:2] / one[2:]).unlink()
    with pytest.raises(GitFailed, match="missing"):
        opened(repo.path).head()


def test_a_blob_is_found_by_its_first_twelve_digits(repo: Repo, opened: Opener) -> None:
    first = repo.commit("one", {"a.md": "old\n"})
    repo.commit("two", {"a.md": "new\n"})
    git = opened(repo.path)
    (entry,) = git.entries(first)
    assert git.find_blob("a.md", entry.oid[:12]) == entry.oid
    assert git.find_blob("a.md", "0" * 12) is None and git.find_blob("a.md", "--all") is None


def test_the_objects_that_begin_with_some_digits_are_listed_without_a_history(repo: Repo, opened: Opener) -> None:
    first = repo.commit("one", {"a.md": "old\n"})
    git = opened(repo.path)
    (entry,) = git.entries(first)
    assert git.objects_with(entry.oid[:12]) == [entry.oid] and git.objects_with(first[:8]) == [first]
    assert git.objects_with("0" * 12) == git.objects_with("--all") == git.objects_with(entry.oid[:3]) == []


def test_a_path_that_git_would_read_from_the_current_folder_on_is_in_no_tree(repo: Repo, opened: Opener) -> None:
    first = repo.commit("one", {"a.md": "1\n", "memory/a.md": "2\n"})
    git = opened(repo.path)
    git.resolve("HEAD")
    odd = ["./a.md", "../a.md", "memory/./a.md", "memory/../a.md", "/a.md", "memory//a.md", "/memory/a.md", "a.md/a.md"]
    assert set(git.blobs(first, ["a.md", "memory/a.md", *odd, "memory/a.md/", ""])) == {"a.md", "memory/a.md"}


def test_untracked_files_leave_out_what_is_ignored(repo: Repo, opened: Opener) -> None:
    repo.commit("one", {".gitignore": "*.log\n"})
    repo.write("x.log", "")
    repo.write("memory/새 파일.md", "")
    assert opened(repo.path).untracked() == ["memory/새 파일.md"]


def test_ignored_files_are_those_git_ignores_and_does_not_track(repo: Repo, opened: Opener) -> None:
    repo.commit(files={".gitignore": "p*.md\n", "a.md": "x"})
    paths = ["a.md", "p.md", "p 1.md", 'pé\n".md', "p*.md", "-p.md", ":p.md", "p[x].md", "p\\.md", "pt.md"]
    for path in paths[1:]:
        repo.write(path, "x")
    repo.git("add", "-f", "pt.md")
    assert opened(repo.path).ignored(paths) == {"p.md", "p 1.md", 'pé\n".md', "p*.md", "p[x].md", "p\\.md"}
    many = [*paths, *(f"n{n}.md" for n in range(50))]
    assert opened(repo.path).ignored(many) == opened(repo.path).ignored(paths)
    assert opened(repo.path).ignored([]) == set() and opened(repo.path).ignored(["a.md"]) == set()


def test_reachable_is_what_refs_head_and_the_staged_files_hold(repo: Repo, opened: Opener) -> None:
    repo.commit(files={"a.md": "one\n"})
    repo.git("checkout", "-q", "--detach")
    repo.commit(files={"b.md": "two\n"})
    repo.write("c.md", "three\n")
    repo.git("add", "c.md")
    lost = repo.git("hash-object", "-w", "--stdin", input="four\n").strip()
    found = set(opened(repo.path).reachable())
    here = opened(repo.path)
    assert {here.hash_blob(data) for data in (b"one\n", b"two\n", b"three\n")} < found and lost not in found


def test_only_the_users_own_settings_are_believed(repo: Repo, opened: Opener, isolated: Path) -> None:
    repo.git("config", "mem.embedder", "http:evil")
    repo.git("config", "--global", "mem.agent", "coder")
    assert [(k, v) for k, v, _ in opened(repo.path).user_config()] == [("mem.agent", "coder")]


def test_sha256_repositories_are_read(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "wide", True, "--object-format=sha256")
    oid = repo.commit("one", {"MEMORY.md": "- a\n"})
    git = open_repository(repo.path, os.environ)
    (entry,) = git.entries(oid)
    assert len(oid) == 64 and git.object_format == "sha256" and git.hash_blob(b"- a\n") == entry.oid
    assert git.changes("", oid)[0].path == "MEMORY.md"
    git.close()


def test_no_program_named_in_the_clones_configuration_runs(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit("one", {"MEMORY.md": "- a\n", ".gitattributes": "*.md diff=evil filter=evil\n"})
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "diff.evil.textconv", "filter.evil.smudge", "core.sshCommand",
                "gpg.program", "diff.evil.command"):  # fmt: skip
        repo.git("config", key, str(trap))
    repo.git("config", "log.showSignature", "true")
    (tmp_path / "ran").unlink(missing_ok=True)
    git = open_repository(repo.path, os.environ)
    git.entries(first), git.staged(), git.staged_changes(), git.untracked(), git.changes("", first)
    list(git.log(["HEAD"])), git.blame("MEMORY.md", 1, 1, "HEAD"), git.find_blob("MEMORY.md", "0" * 12)
    git.close()
    assert not (tmp_path / "ran").exists()


def test_outside_a_repository_the_error_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(NotARepository) as error:
        discover(tmp_path, {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert "git mem init" in error.value.hint


def test_the_blobs_of_named_files_are_found_with_and_without_a_process_that_runs(repo: Repo, opened: Opener) -> None:
    repo.commit("one", {"MEMORY.md": "- a\n", "memory/한글.md": "가\n", "memory/a.md": "b\n"})
    git = opened(repo.path)
    wanted = ["MEMORY.md", "memory", "memory/no.md", "memory/한글.md", "a\nb.md"]
    first = git.blobs("HEAD", wanted[:1])
    git.head()
    there = {entry.path: entry.oid for entry in git.entries("HEAD")}
    assert git.blobs("HEAD", wanted[2:4]) == {"memory/한글.md": there["memory/한글.md"]}
    assert git.blobs("HEAD", wanted[:1]) == first == {"MEMORY.md": there["MEMORY.md"]}


def test_a_repository_that_stays_open_sees_what_is_committed_later(repo: Repo, opened: Opener) -> None:
    repo.commit("one", {"MEMORY.md": "- a\n"})
    git = opened(repo.path)
    git.stay_open()
    assert git.blobs("HEAD", ["MEMORY.md"]) == {"MEMORY.md": git.hash_blob(b"- a\n")}
    repo.commit("two", {"MEMORY.md": "- b\n"})
    repo.git("pack-refs", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert git.blobs("HEAD", ["MEMORY.md"]) == {"MEMORY.md": git.hash_blob(b"- b\n")}


def test_a_partial_clone_whose_remote_is_gone_names_it_and_what_to_type(repo: Repo, tmp_path: Path) -> None:
    repo.commit("one", {"MEMORY.md": "- one\n"})
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repo.path}", ".")
    blob = repo.git("rev-parse", "HEAD:MEMORY.md").strip()
    repo.path.rename(tmp_path / "gone")
    for ask in (lambda o: o.read(blob), lambda o: list(o.read_many([blob])), lambda o: o.sizes([blob])):
        with pytest.raises(GitFailed, match="promisor remote 'origin'") as error:
            ask(open_repository(clone.path, os.environ))
        assert "git fetch --refetch --no-filter origin" in error.value.hint


class _Gone:
    """The process of cat-file, ended by somebody since it was last looked at: its pipe is broken, `poll` says None."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        self.stdin, self.stdout = process.stdin, process.stdout

    def terminate(self) -> None: ...

    def wait(self) -> None: ...

    def poll(self) -> None:
        return None


@pytest.mark.parametrize("ask", ["read_many", "sizes", "read"])
def test_a_cat_file_that_ended_while_it_is_asked_is_said_in_a_sentence(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, ask: str
) -> None:
    repo.commit("one", {"MEMORY.md": "- one\n"})
    blob = repo.git("rev-parse", "HEAD:MEMORY.md").strip()
    git = BinaryRepository(discover(repo.path, os.environ), os.environ)
    git.read(blob)
    assert git._objects._process is not None
    with monkeypatch.context() as patched, pytest.raises(GitFailed, match="cat-file ended early"):
        patched.setattr(git._objects, "_process", _Gone(git._objects._process))
        list(getattr(git, ask)(blob if ask == "read" else [blob]))
    assert git.read(blob) == b"- one\n"  # a new process is started
    git.close()


@pytest.mark.parametrize(
    ("header", "body", "message"),
    [
        (b"undefined", b"we picked kafka", "we picked kafka"),
        (b"idna", b"we picked kafka", "we picked kafka"),
        (b"latin\0-1", b"we picked kafka", "we picked kafka"),
        (b"\xff", b"we picked kafka", "we picked kafka"),
        (b"x" * 5000, b"we picked kafka", "we picked kafka"),
        (b"unicode_escape", rb"\u0041", r"\u0041"),
        (b"rot13", b"we picked kafka", "we picked kafka"),
        (b"hex", b"41", "41"),
        (b"ISO-8859-1", b"caf\xe9", "caf\xe9"),
        (b"EUC-KR", "결정".encode("euc-kr"), "결정"),
        (b"ISO-2022-JP", "決定".encode("iso2022-jp"), "決定"),
    ],
)
def test_a_message_is_read_whatever_its_header_calls_the_encoding(
    repo: Repo, opened: Opener, header: bytes, body: bytes, message: str
) -> None:
    tree = repo.git("mktree", input="").strip()
    who = b"A <a@b.c> 1700000000 +0000\n"
    raw = b"tree %s\nauthor %scommitter %sencoding %s\n\n%s\n" % (tree.encode(), who, who, header, body)
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"], cwd=repo.path, input=raw,
        capture_output=True, check=True,
    )  # fmt: skip
    oid = done.stdout.decode().strip()
    git = opened(repo.path)
    assert git.commit(oid).message == f"{message}\n"
    assert git.sizes([oid]) == {oid: len(raw)}


def test_a_repository_below_a_folder_with_a_line_break_is_refused_with_the_reason(tmp_path: Path) -> None:
    root = tmp_path / "two\nlines"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    with pytest.raises(GitFailed, match="line break in its name"):
        discover(root, os.environ)


def test_a_reader_of_errors_ends_quietly_where_the_pipe_is_closed_early(monkeypatch: pytest.MonkeyPatch) -> None:
    problems: list[object] = []
    monkeypatch.setattr(threading, "excepthook", problems.append)

    class ClosedLater(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            piece = super().read(size)
            self.close()
            return piece

    assert read_in_thread(ClosedLater(b"fatal: one\n"))() == b"fatal: one\n"
    assert problems == []
