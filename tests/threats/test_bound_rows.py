"""Bounds where bytes and entries are read (docs/threats.md, A53 to A56, A60): a sentence, and the rest is served."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime

import pygit2
import pytest

from gitmem.errors import TooManyFiles
from gitmem.git import library, process, ranges
from gitmem.git.library import open_library
from gitmem.git.opening import open_repository
from gitmem.git.ranges import touched
from gitmem.memory import rivals
from gitmem.memory.fact import Fact, fact_id
from gitmem.memory.writing import MAX_LINE
from gitmem.review.fact_diff import compare_facts
from gitmem.review.warnings.rival_facts import find_rivals
from tests.harness import Repo


def bomb(repo: Repo, depth: int = 9) -> str:
    """A branch whose tree has 10 ** depth files below memory/, in as many objects; its commit."""
    blob = repo.git("hash-object", "-w", "--stdin", input="# x\n\n- cat\n").strip()
    tree = repo.git("mktree", input=f"100644 blob {blob}\ta.md\n").strip()
    for _ in range(depth):
        tree = repo.git("mktree", input="".join(f"040000 tree {tree}\td{n}\n" for n in range(10))).strip()
    top = repo.git("mktree", input=f"040000 tree {tree}\tmemory\n").strip()
    commit = repo.git("commit-tree", "-p", "HEAD", "-m", "bomb", top).strip()
    repo.git("branch", "bomb", commit)
    return commit


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (process, library, ranges):
        monkeypatch.setattr(module, "MAX_FILES", 500)
    monkeypatch.setattr(process, "MAX_MEMORY", 60 << 20)


def test_a54_no_list_of_a_tree_or_a_change_grows_without_end(repo: Repo, few: None) -> None:
    head = repo.commit("start", {"MEMORY.md": "- one\n"})
    commit = bomb(repo)
    for opened in (open_repository(repo.path, os.environ), open_library(repo.path, os.environ)):
        for read in (
            lambda o: o.entries(commit), lambda o: o.changes(head, commit), lambda o: list(touched(o, [commit])),
        ):  # fmt: skip
            with pytest.raises(TooManyFiles, match="files"):
                read(opened)
        assert [entry.path for entry in opened.entries(head)] == ["MEMORY.md"]
        opened.close()


def test_a54_a_scan_of_commits_and_a_check_end_at_a_tree_without_end(repo: Repo) -> None:
    head = repo.commit("start", {"MEMORY.md": "- one\n"})
    commit = bomb(repo)
    after = repo.git("commit-tree", "-p", commit, "-m", "gone", f"{head}^{{tree}}").strip()
    repo.git("branch", "-f", "bomb", after)
    for args in (["scan", "--history"], ["scan", "--range", "main..bomb"]):
        done = repo.mem(*args, check=False)
        assert done.returncode == 3 and "more than 1,000,000 files" in done.stderr, args
    done = repo.mem("check", "main..bomb", check=False)
    assert done.returncode == 2 and "is no file or folder" in done.stderr


def test_a54_a_branch_of_too_many_files_is_left_out_of_the_index_and_named(repo: Repo, few: None) -> None:
    from gitmem.config.loading import load
    from gitmem.index.indexer import refresh

    repo.commit("start", {"MEMORY.md": "# Memory\n\n- Webhooks are easier to debug.\n"})
    bomb(repo)
    opened = open_repository(repo.path, os.environ)
    work = refresh(opened, load(()))
    assert [note for note in work.notes if note.startswith("bomb is left out")]


def test_a54_a_line_is_bounded_and_so_is_its_file(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    done = repo.mem("add", "x" * (MAX_LINE + 1), check=False)
    assert done.returncode == 2 and "at most 20,000 characters" in done.stderr
    repo.write("memory/notes.md", "x\n" * (1 << 19))
    done = repo.mem("add", "--to", "memory/notes.md", "one more", check=False)
    assert done.returncode == 3 and "larger than 1 MiB" in done.stderr


def test_a54_writers_that_come_at_once_queue(repo: Repo) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from gitmem.config.loading import load
    from gitmem.memory.writing import NewLine, add

    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    now = datetime(2026, 2, 5, 10, 0, tzinfo=UTC)

    def one(number: int) -> None:
        add(open_repository(repo.path, os.environ), load(()), NewLine(f"line {number}", to="memory/notes.md"), now=now)

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(one, range(20)))
    assert sorted(repo.read("memory/notes.md").splitlines()) == sorted(f"- line {n}" for n in range(20))


def test_a54_a_change_of_thousands_of_alike_facts_is_compared_in_steps_that_grow_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def facts(count: int, more: int) -> list[Fact]:
        texts = [f"Service {n} of the office keeps its backups for {n + more} days." for n in range(count)]
        return [Fact(text, fact_id(text), n + 1) for n, text in enumerate(texts)]

    asked = 0

    def counted(*pair: object) -> None:
        nonlocal asked
        asked += 1

    monkeypatch.setattr(rivals, "rival_of", counted)
    changes = compare_facts({"MEMORY.md": facts(1000, 0)}, {"MEMORY.md": facts(1000, 1)}, date(2026, 2, 5))
    assert len(changes) == 1000
    find_rivals(changes, [("MEMORY.md", fact) for fact in facts(1000, 1)], date(2026, 2, 5))
    assert 0 < asked <= 1000 * rivals.MAX_JUDGED_FACTS


def test_a54_a_path_too_long_for_the_file_system_stops_no_command(repo: Repo) -> None:
    """Git warns of each folder of such a path when it looks for renames: more than a pipe holds."""
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- one\n"})
    blob = repo.git("hash-object", "-w", "--stdin", input="# x\n\n- two\n").strip()
    written = pygit2.Repository(str(repo.path))
    folder = written.TreeBuilder()
    folder.insert("a.md", blob, pygit2.enums.FileMode.BLOB)
    tree = folder.write()
    for _ in range(2_500):
        builder = written.TreeBuilder()
        builder.insert("d", tree, pygit2.enums.FileMode.TREE)
        tree = builder.write()
    top = written.TreeBuilder(repo.git("rev-parse", "HEAD^{tree}").strip())
    top.insert("memory", tree, pygit2.enums.FileMode.TREE)
    deep = repo.git("commit-tree", "-p", "HEAD", "-m", "deep", str(top.write())).strip()
    repo.git("branch", "deep", deep)
    for args in (["review", "main..deep"], ["scan", "--range", "main..deep"], ["verify", "main..deep"]):
        done = repo.mem(*args, check=False)
        assert done.returncode in (0, 1, 3) and "a bug" not in done.stderr, args
