"""The day each line was written: Git is asked once a file, and of a file that did not change not again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date

import pytest

from gitmem.config import Config
from gitmem.git.binary import BinaryRepository
from gitmem.git.objects import BlameLine
from gitmem.git.opening import Repository, open_repository
from gitmem.index import freshness
from gitmem.index.db import snapshots
from gitmem.index.db.values import pack_days, unpack_days
from gitmem.index.line_days import line_days
from tests.harness import Repo

TODAY = date(2026, 6, 1)
JANUARY, FEBRUARY, MARCH = (date(2026, month, 5) for month in (1, 2, 3))


@pytest.fixture
def opened(repo: Repo) -> Iterator[Repository]:
    found = open_repository(repo.path, os.environ)
    yield found
    found.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths blame was asked for."""
    paths: list[str] = []
    blame = BinaryRepository.blame

    def counted(self: BinaryRepository, path: str, start: int, end: int, rev: str = "") -> list[BlameLine]:
        paths.append(path)
        return blame(self, path, start, end, rev)

    monkeypatch.setattr(BinaryRepository, "blame", counted)
    return paths


def days(opened: Repository, commit: str = "", config: Config = Config()) -> dict[str, list[date]]:  # noqa: B008
    """Path -> the days of its lines, of all that is indexed."""
    made = freshness.ready(opened, config, commit)
    assert made.index is not None and made.snapshot is not None
    rows = snapshots.entries(made.index.database, made.snapshot.key).values()
    files = {(row.path, row.oid): 0 for row in rows}
    for path, oid in files:
        where = (opened.root or opened.git_dir) / path
        data = opened.read(oid) if made.commit else where.read_bytes()
        files[path, oid] = len(data.splitlines())
    with made.index.reading():
        found = line_days(opened, config, made.index, files, made.commit, TODAY)
    made.close()
    return {path: list(found[path, oid]) for path, oid in files}


def commit(repo: Repo, when: date, files: dict[str, str]) -> str:
    return repo.commit(str(when), files, date=f"{when}T12:00:00Z")


def test_blame_is_asked_once_a_file_and_then_only_for_what_changed(
    repo: Repo, opened: Repository, asked: list[str]
) -> None:
    lines = [f"- line {n}\n" for n in range(30)]
    paths = [f"memory/{name}.md" for name in "abcd"]
    commit(repo, JANUARY, dict.fromkeys(paths, "".join(lines[:20])))
    commit(repo, FEBRUARY, dict.fromkeys(paths[:2], "".join(lines)))
    first = days(opened)
    assert sorted(asked) == paths
    assert first["memory/a.md"] == [JANUARY] * 20 + [FEBRUARY] * 10 and first["memory/d.md"] == [JANUARY] * 20
    asked.clear()
    assert days(opened) == first and asked == []
    commit(repo, MARCH, {"memory/c.md": "- new\n" + "".join(lines[:20])})
    assert days(opened) == {**first, "memory/c.md": [MARCH] + [JANUARY] * 20} and asked == ["memory/c.md"]
    asked.clear()
    assert days(opened)["memory/a.md"] == first["memory/a.md"] and asked == []


def test_lines_of_the_work_tree_that_are_in_no_commit_are_of_today(
    repo: Repo, opened: Repository, asked: list[str]
) -> None:
    commit(repo, JANUARY, {"memory/a.md": "- one\n- two\n", "memory/b.md": "- three\n"})
    days(opened)
    repo.write("memory/a.md", "- zero\n- one\n- two\n")
    repo.write("memory/new.md", "- four\n")
    asked.clear()
    assert days(opened) == {
        "memory/a.md": [TODAY, JANUARY, JANUARY], "memory/b.md": [JANUARY], "memory/new.md": [TODAY],
    }  # fmt: skip
    assert "memory/b.md" not in asked
    repo.git("checkout", "-q", "memory/a.md")
    assert days(opened)["memory/a.md"] == [JANUARY, JANUARY]


def test_the_same_bytes_have_the_days_of_the_commit_that_is_searched(repo: Repo, opened: Repository) -> None:
    """A line that was taken out and came back is of the day it came back, and was of another before."""
    old = commit(repo, JANUARY, {"memory/a.md": "- one\n- two\n"})
    commit(repo, FEBRUARY, {"memory/a.md": "- one\n"})
    new = commit(repo, MARCH, {"memory/a.md": "- one\n- two\n"})
    for _ in range(2):
        assert days(opened, new) == {"memory/a.md": [JANUARY, MARCH]}
        assert days(opened, old) == {"memory/a.md": [JANUARY, JANUARY]}


def test_after_a_merge_blame_is_asked_for_what_the_merge_changed_and_no_more(
    repo: Repo, opened: Repository, asked: list[str]
) -> None:
    commit(repo, JANUARY, {"memory/a.md": "- one\n", "memory/d.md": "- four\n"})
    repo.git("checkout", "-q", "-b", "side")
    commit(repo, FEBRUARY, {"memory/b.md": "- two\n", "memory/d.md": "- zero\n- four\n"})
    repo.git("checkout", "-q", "main")
    commit(repo, MARCH, {"memory/c.md": "- three\n"})
    days(opened)
    repo.git("merge", "-q", "--no-edit", "side")
    asked.clear()
    assert days(opened) == {
        "memory/a.md": [JANUARY], "memory/b.md": [FEBRUARY], "memory/c.md": [MARCH], "memory/d.md": [FEBRUARY, JANUARY],
    }  # fmt: skip
    assert sorted(asked) == ["memory/b.md", "memory/d.md"]
    asked.clear()
    days(opened)
    assert asked == []


def test_what_was_said_on_a_branch_does_not_hold_where_it_is_merged_into_another(
    repo: Repo, opened: Repository, asked: list[str]
) -> None:
    """On the branch the line was taken out and put back; where it is merged, Git follows the side that never lost it."""
    commit(repo, JANUARY, {"memory/a.md": "- one\n- two\n"})
    repo.git("checkout", "-q", "-b", "side")
    commit(repo, FEBRUARY, {"memory/a.md": "- one\n"})
    commit(repo, MARCH, {"memory/a.md": "- one\n- two\n"})
    assert days(opened) == {"memory/a.md": [JANUARY, MARCH]}
    repo.git("checkout", "-q", "main")
    commit(repo, FEBRUARY, {"memory/b.md": "- three\n"})
    repo.git("merge", "-q", "--no-edit", "side")
    assert days(opened)["memory/a.md"] == [JANUARY, JANUARY]


def test_without_auto_index_and_in_a_shallow_clone_nothing_is_kept(
    repo: Repo, opened: Repository, asked: list[str]
) -> None:
    commit(repo, JANUARY, {"memory/a.md": "- one\n"})
    freshness.ready(opened, Config()).close()
    for _ in range(2):
        assert days(opened, config=Config(auto_index=False)) == {"memory/a.md": [JANUARY]}
    assert asked == ["memory/a.md"] * 2
    asked.clear()
    (repo.path / ".git/shallow").write_text("")
    for _ in range(2):
        assert days(opened) == {"memory/a.md": [JANUARY]}
    assert asked == ["memory/a.md"] * 2


def test_what_is_kept_of_old_versions_goes_when_these_are_pruned(repo: Repo, opened: Repository) -> None:
    commit(repo, JANUARY, {"memory/a.md": "- one\n"})
    days(opened)
    repo.git("commit", "-q", "--amend", "--no-edit", "--allow-empty")
    repo.write("memory/a.md", "- other\n")
    repo.git("commit", "-q", "-a", "--amend", "-m", "other")
    repo.git("reflog", "expire", "--expire=now", "--all")
    days(opened)
    repo.mem("index", "--prune")
    made = freshness.ready(opened, Config())
    assert made.index is not None
    kept = made.index.database.rows("SELECT count(*) FROM line_day")
    made.close()
    assert kept == [(1,)]


def test_days_come_back_as_they_were_stored() -> None:
    some = (JANUARY, JANUARY, MARCH, JANUARY)
    assert unpack_days(pack_days(some)) == some and unpack_days(pack_days(())) == ()
    for broken in (b"123", b"\1\0\0\0", b"\xff" * 8, b"\1\0\0\0\0\0\0\0"):
        with pytest.raises((ValueError, OverflowError)):
            unpack_days(broken)
