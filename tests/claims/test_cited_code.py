"""The state of cited code beside a shown fact: read cheaply from the snapshot, and silent if it is unknown."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.claims.anchoring import make_citation
from gitmem.claims.citations import compose
from gitmem.claims.cited_code import changed_code
from gitmem.git.opening import Repository, open_repository
from gitmem.memory.code_state import changed_citations
from tests.harness import Repo

CODE = (
    "import os\n\n\ndef limit(user):\n    tries = 30\n    for attempt in range(tries):\n        check(user, attempt)\n"
)


@pytest.fixture
def opened(repo: Repo) -> Iterator[Repository]:
    repo.commit("o", {"src/limit.py": CODE, ".gitignore": "build/\n"})
    opened = open_repository(repo.path, os.environ)
    yield opened
    opened.close()


def words(opened: Repository, value: str, commit: str = "") -> list[str]:
    return [one.words for one in changed_code(opened, [value], commit).values()]


@pytest.mark.parametrize("place", ["src/limit.py:4-7", "src/limit.py#limit"])
def test_the_work_tree_and_each_commit_have_their_own_answer(repo: Repo, opened: Repository, place: str) -> None:
    value = compose(make_citation(opened, place))
    assert words(opened, value) == []
    repo.write("src/limit.py", "# first\n" + CODE)
    assert words(opened, value) == []
    changed = repo.commit("changed", {"src/limit.py": CODE.replace("30", "20")})
    assert words(opened, value) == words(opened, value, changed) == [f"code changed: {place}"]
    assert words(opened, value, f"{changed}~1") == []
    repo.git("mv", "src/limit.py", "src/bound.py")
    repo.commit("renamed", {"src/bound.py": CODE})
    assert words(opened, value) == [f"{place} is in src/bound.py now"]
    repo.git("rm", "-q", "src/bound.py")
    gone = repo.commit("away")
    assert "not in the code any more" in words(opened, value)[0]
    assert words(opened, value) == words(opened, value, gone)


def test_a_removal_that_is_not_committed_and_an_edit_of_what_is_in_no_commit_say_nothing(
    repo: Repo, opened: Repository
) -> None:
    value = compose(make_citation(opened, "src/limit.py:4-7"))
    (repo.path / "src/limit.py").unlink()
    assert words(opened, value) == []
    repo.write("src/new.py", CODE)
    repo.git("add", "src/new.py")
    fresh = compose(make_citation(opened, "src/new.py:4-7"))
    repo.write("src/new.py", "x = 1\n")
    assert words(opened, fresh) == []


def test_what_never_was_in_this_history_and_what_lies_behind_a_link_are_unknown(repo: Repo, opened: Repository) -> None:
    value = compose(make_citation(opened, "src/limit.py:4-7"))
    assert words(opened, value.replace("src/limit.py", "src/other.py")) == []
    repo.git("mv", "src", "code")
    repo.commit("moved")
    (repo.path / "src").symlink_to("code")
    assert words(opened, value) == []


def test_departures_are_cached_and_a_damaged_cache_is_made_again(repo: Repo, opened: Repository) -> None:
    value = compose(make_citation(opened, "src/limit.py:4-7"))
    folder = Path(repo.path / ".git/gitmem")
    folder.mkdir(exist_ok=True)
    repo.git("rm", "-q", "src/limit.py")
    gone = repo.commit("away")
    expected = [f"not in the code any more: src/limit.py:4-7, since {gone[:12]}"]
    for spoiled in (b"", b"[1]", b'{"src/limit.py": 3}', b'{"src/limit.py": ["x", "y", "z"]}', b"\xff{"):
        if spoiled:
            (folder / "departures.json").write_bytes(spoiled)
        assert words(opened, value) == expected
        repo.commit("other", {"x": spoiled.hex()})
        assert words(opened, value) == expected


def test_a_decision_outlives_its_code(repo: Repo, opened: Repository) -> None:
    value = compose(make_citation(opened, "src/limit.py:4-7"))
    repo.git("rm", "-q", "src/limit.py")
    repo.commit("away")
    code = changed_code(opened, [value])
    assert changed_citations([("type", "decision"), ("code", value)], code) == []
    assert len(changed_citations([("type", "rule"), ("code", value)], code)) == 1
