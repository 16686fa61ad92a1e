"""An index that stays open answers as one that is opened for each search, whatever others do to it meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitmem.config import Config
from gitmem.errors import IndexUnusable
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository
from gitmem.index.index_file import directory
from gitmem.index.kept_index import KeptIndex
from gitmem.search.search import Answer, Query, search
from tests.harness import Repo

TOOLS = ("hammer", "drill", "ladder", "lathe", "saw", "vice")
NOW = datetime(2026, 2, 5, tzinfo=UTC)


@pytest.fixture
def git(repo: Repo) -> Iterator[Repository]:
    repo.commit(
        "memory", {"MEMORY.md": "# Memory\n\n- The crane is blue.\n", "memory/a.md": "# A\n\n- A mast of oak.\n"}
    )
    opened = open_repository(repo.path, os.environ)
    yield opened
    opened.close()


@pytest.fixture
def kept() -> Iterator[KeptIndex]:
    index = KeptIndex()
    yield index
    index.close()


def ask(git: Repository, text: str, kept: KeptIndex | None = None) -> Answer:
    return search(git, Config(), Query(text), NOW, kept)


def twice(git: Repository, kept: KeptIndex, text: str) -> list[str]:
    """The texts of the answer, which is the same from an index that was opened for it alone."""
    answer = ask(git, text, kept)
    assert answer == ask(git, text) and answer == ask(git, text, kept)
    return [hit.text for hit in answer.hits]


def test_the_index_stays_open_and_what_is_written_is_found_at_once(
    repo: Repo, git: Repository, kept: KeptIndex
) -> None:
    assert twice(git, kept, "crane")
    first = kept.open(directory(git))
    repo.write("memory/a.md", "# A\n\n- A mast of oak.\n- The anchor weighs two tons.\n")
    assert "anchor" in "".join(twice(git, kept, "anchor"))
    repo.mem("add", "The rudder is new.")
    assert "rudder" in "".join(twice(git, kept, "rudder"))
    (repo.path / "memory/a.md").unlink()
    assert not [text for text in twice(git, kept, "anchor mast oak") if "anchor" in text]
    assert first is not None and kept.open(directory(git)) is first


def test_what_was_remembered_is_forgotten_when_another_process_writes(
    repo: Repo, git: Repository, kept: KeptIndex
) -> None:
    twice(git, kept, "crane")
    repo.mem("index", "--full")
    assert "crane" in "".join(twice(git, kept, "crane"))
    repo.write("memory/b.md", "# B\n\n" + "\n".join(f"- Rope {n} is worn." for n in range(80)) + "\n")
    repo.mem("index", "--prune")
    assert "Rope 7 is worn" in "".join(twice(git, kept, "rope 7"))


def test_an_index_that_is_deleted_or_replaced_is_opened_anew(repo: Repo, git: Repository, kept: KeptIndex) -> None:
    twice(git, kept, "crane")
    first = kept.open(directory(git))
    for path in directory(git).glob("index.sqlite*"):
        path.unlink()
    assert "crane" in "".join(twice(git, kept, "crane"))
    assert kept.open(directory(git)) is not first


def test_an_index_that_is_damaged_while_it_is_open_is_built_again(repo: Repo, git: Repository, kept: KeptIndex) -> None:
    twice(git, kept, "crane")
    place = directory(git) / "index.sqlite"
    with open(place, "r+b") as file:
        file.write(b"no index" * 4096)
    for suffix in ("-wal", "-shm"):
        Path(f"{place}{suffix}").unlink(missing_ok=True)
    repo.write("memory/c.md", "# C\n\n- The keel is steel.\n")
    assert "keel" in "".join(hit.text for hit in ask(git, "keel", kept).hits)
    assert "keel" in "".join(twice(git, kept, "keel"))


def test_a_link_in_the_place_of_an_open_index_is_refused(
    repo: Repo, git: Repository, kept: KeptIndex, tmp_path: Path
) -> None:
    twice(git, kept, "crane")
    place = directory(git) / "index.sqlite"
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IndexUnusable):
        ask(git, "crane", kept)


def test_a_large_index_that_stays_open_compares_signs_in_memory_and_answers_the_same(
    repo: Repo, git: Repository, kept: KeptIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.index.db.reader.MIN_COMPARED_FOR_TABLE", 0)
    notes = {f"memory/n{n}.md": f"# Note {n}\n\n- The {name} is kept in hall {n}.\n" for n, name in enumerate(TOOLS)}
    repo.commit("notes", notes)
    for name in TOOLS:
        assert f"The {name} is kept" in twice(git, kept, f"where do we keep the {name}?")[0]
    index = kept.open(directory(git))
    assert index is not None and index._cache is not None and index._cache.signs is not None
    repo.write("memory/a.md", "# A\n\n- A mast of oak.\n- The anchor weighs two tons.\n")
    assert "anchor" in twice(git, kept, "anchor")[0]
    assert twice(git, kept, "crane") and not twice(git, kept, "zzz qqq xxx")
