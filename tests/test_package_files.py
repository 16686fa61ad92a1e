"""A hash of the package's own files tells a cache that the code has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem import package_files


def test_the_hash_changes_with_a_table_and_with_code_but_not_with_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package_files, "PACKAGE", tmp_path)
    (tmp_path / "memory").mkdir()
    state = package_files.state_of.__wrapped__
    (tmp_path / "memory" / "weights.tsv").write_text("a\t1\n")
    first = state("memory")
    (tmp_path / "memory" / "notes.txt").write_text("no code")
    assert state("memory") == first and first
    (tmp_path / "memory" / "weights.tsv").write_text("a\t1.5\n")
    second = state("memory")
    (tmp_path / "memory" / "code.py").write_text("")
    assert len({first, second, state("memory")}) == 3
