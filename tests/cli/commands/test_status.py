"""`git mem status`: rows of labels and texts."""

from __future__ import annotations

from gitmem.cli.terminal import aligned
from tests.harness import Repo


def test_the_texts_begin_in_one_column_whatever_the_longest_label_is() -> None:
    rows = [("index", "a"), ("consolidation", "b")]
    assert aligned(rows, 9) == ["index         a", "consolidation b"]
    assert aligned(rows[:1], 9) == ["index     a"]
    assert aligned([], 9) == []


def test_without_an_index_it_says_how_one_is_made_and_still_shows_the_gate(repo: Repo) -> None:
    repo.commit("memory", {"MEMORY.md": "- one\n"})
    first, *rows = repo.mem("status").stdout.splitlines()
    assert first.startswith("no index yet; 1 memory file;")
    assert any(row.startswith("gate      standard: ") for row in rows)


def test_a_clone_without_our_hooks_says_so_and_what_installs_them(repo: Repo) -> None:
    repo.commit("memory", {"MEMORY.md": "- one\n"})
    line = "hooks     none of ours are installed, so no commit is scanned here; git mem install"
    assert line in repo.mem("status").stdout.splitlines()
    repo.mem("install")
    assert "hooks" not in repo.mem("status").stdout
