"""A snapshot has all its files or is not there, whatever happens to it while it is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.config import Config
from gitmem.errors import IndexDamaged
from gitmem.git.opening import open_repository
from gitmem.index import db, freshness
from gitmem.index.db import snapshots
from gitmem.index.db.sqlite import Database
from gitmem.index.db.values import EntryRow, SnapshotRow
from tests.harness import Repo

CONFIG = Config()


def test_a_snapshot_that_is_missing_is_not_changed(tmp_path: Path) -> None:
    writer = db.open_writer(tmp_path / "gitmem")
    row = SnapshotRow("work:somewhere", 1)
    with pytest.raises(IndexDamaged, match="lacks a snapshot"), writer.writing():
        snapshots.change(writer.database, row, [], [EntryRow("MEMORY.md", "", -1)])
    assert writer.snapshot(row.key) is None and snapshots.keys(writer.database, "") == []
    with writer.writing():
        snapshots.put(writer.database, row, [])
        snapshots.change(writer.database, row, [], [EntryRow("MEMORY.md", "", -1)])
    assert list(snapshots.entries(writer.database, row.key)) == ["MEMORY.md"]
    writer.close()


def test_a_snapshot_that_disappears_during_its_update_is_built_again_with_all_its_files(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n", "memory/b.md": "- beta\n"})
    opened = open_repository(repo.path, os.environ)
    freshness.ready(opened, CONFIG).close()
    repo.write("memory/c.md", "- gamma\n")
    read = snapshots.file_stats

    def read_and_delete(database: Database, key: str) -> dict[str, tuple[str, int]] | None:
        stats = read(database, key)
        monkeypatch.undo()
        with database.writing():
            snapshots.delete(database, key)
        return stats

    monkeypatch.setattr(snapshots, "file_stats", read_and_delete)
    got = freshness.ready(opened, CONFIG)
    assert got.index is not None and got.snapshot is not None and not got.stale
    assert [path for path, _ in got.index.files(got.snapshot)] == ["memory/a.md", "memory/b.md", "memory/c.md"]
    assert any("lacks a snapshot" in note for note in got.notes)
    got.close()
    opened.close()
