"""The index follows Git: each blob and each text once, whatever happens to branches, names and work trees."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.config import Config
from gitmem.errors import IndexUnusable, Locked
from gitmem.git.opening import Repository, open_repository
from gitmem.git.worktree import locked
from gitmem.index import blob_indexer, freshness, index_file, indexer, parse_workers, search_update
from gitmem.index.db import inspection, snapshots
from gitmem.index.index_file import OpenIndex
from gitmem.memory.snapshot import read_hits, read_work_tree, work_tree_key
from gitmem.models import embedding
from gitmem.text.terms import terms
from tests.harness import Repo
from tests.words_embedder import WordsEmbedder

CONFIG = Config(embedder="static")


@pytest.fixture(autouse=True)
def embedder(monkeypatch: pytest.MonkeyPatch) -> WordsEmbedder:
    """Stands where the static table does, and counts."""
    made = WordsEmbedder()
    monkeypatch.setattr(embedding, "open_embedder", lambda spec, config, state=None: made)
    return made


@pytest.fixture
def opened(repo: Repo) -> Iterator[Repository]:
    found = open_repository(repo.path, os.environ)
    yield found
    found.close()


def age(repo: Repo) -> None:
    """Put every memory file's time stamps an hour back, so that none of them counts as written just now."""
    for path in repo.path.rglob("*.md"):
        found = path.stat()
        os.utime(path, ns=(found.st_mtime_ns - 3_600_000_000_000,) * 2)


def paths_with(ready: OpenIndex, word: str) -> list[str]:
    """The files of the snapshot in which a word stands."""
    assert ready.index is not None and ready.snapshot is not None
    norms = ready.snapshot.norms
    chunks = {c for t in terms(word) for c, _ in ready.index.postings(t) if c < len(norms) and norms[c]}
    found = {p.path for places in ready.index.places(ready.snapshot, chunks).values() for p in places}
    ready.close()
    return sorted(found)


def find(repo: Repository, word: str, commit: str = "", config: Config = CONFIG) -> list[str]:
    got = freshness.ready(repo, config, commit)
    assert not got.stale, got.stale
    return paths_with(got, word)


LOG = "# 2026-02-05\n\n## 10:00 - deploy\n- deployed alpha to staging\n- used POSTGRES_URL\n"


def test_the_first_question_builds_the_index(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"memory/2026-02-05.md": LOG, "MEMORY.md": "# M\n- beta decision\n", "README.md": "alpha\n"})
    assert find(opened, "alpha") == ["memory/2026-02-05.md"]
    assert find(opened, "beta") == ["MEMORY.md"]
    assert find(opened, "POSTGRES_URL") == ["memory/2026-02-05.md"]


def test_what_was_just_written_is_found_without_a_commit(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    assert find(opened, "gamma") == []
    repo.write("memory/b.md", "- gamma\n")
    assert find(opened, "gamma") == ["memory/b.md"]
    repo.write("memory/b.md", "- delta\n")
    assert find(opened, "gamma") == [] and find(opened, "delta") == ["memory/b.md"]
    (repo.path / "memory/b.md").unlink()
    assert find(opened, "delta") == []


def test_a_change_of_equal_length_within_one_clock_tick_is_seen(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    for word in ("gamma", "delta", "kappa", "omega", "sigma"):
        repo.write("memory/a.md", f"- {word}\n")
        assert find(opened, word) == ["memory/a.md"]


def test_nothing_outside_the_snapshot_is_in_it(repo: Repo, opened: Repository) -> None:
    first = repo.commit(files={"memory/a.md": "- alpha\n", "memory/c.md": "- constant\n"})
    second = repo.commit(files={"memory/a.md": "- beta\n"})
    assert find(opened, "alpha") == [] and find(opened, "beta") == ["memory/a.md"]
    assert find(opened, "alpha", first) == ["memory/a.md"] and find(opened, "beta", first) == []
    assert find(opened, "alpha", second) == [] and find(opened, "constant", first) == ["memory/c.md"]


def test_a_fact_on_another_branch_is_invisible_until_the_merge(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit(files={"memory/t.md": "- topical\n"})
    repo.git("checkout", "-q", "main")
    indexer.refresh(opened, CONFIG)
    assert find(opened, "topical") == []
    repo.git("merge", "-q", "topic")
    assert find(opened, "topical") == ["memory/t.md"]


def test_edit_rename_revert_and_branch_switch_embed_only_new_text(
    repo: Repo, opened: Repository, embedder: WordsEmbedder
) -> None:
    sections = "".join(f"## s{n}\n- text of section {n}\n\n" for n in range(20))
    repo.commit(files={"memory/a.md": "# A\n" + sections, "memory/b.md": "# B\n- b\n"})
    indexer.refresh(opened, CONFIG)
    assert len(embedder.embedded) == 21
    embedder.embedded.clear()

    repo.commit("edit", {"memory/a.md": "# A\n" + sections.replace("section 7", "section seven")})
    indexer.refresh(opened, CONFIG)
    assert len(embedder.embedded) == 1 and "seven" in embedder.embedded.pop()

    repo.git("mv", "memory/a.md", "memory/z.md")
    repo.commit("rename")
    indexer.refresh(opened, CONFIG)
    repo.git("revert", "--no-edit", "HEAD")
    repo.git("revert", "--no-edit", "HEAD~2")
    indexer.refresh(opened, CONFIG)
    repo.git("checkout", "-q", "-b", "side", "HEAD~3")
    indexer.refresh(opened, CONFIG)
    repo.git("checkout", "-q", "main")
    indexer.refresh(opened, CONFIG, full=True)
    assert embedder.embedded == []
    repo.write("memory/a.md", repo.read("memory/a.md") + "## new\n- one more\n")
    assert find(opened, "more") == ["memory/a.md"]
    assert embedder.embedded == ["A new\n- one more"]


def sections(files: int) -> dict[str, str]:
    """Notes of 17 sections each."""
    return {
        f"memory/n{n:02}.md": f"# n{n}\n" + "".join(f"## s{s}\n- section {s} of note {n}\n\n" for s in range(17))
        for n in range(files)
    }


@pytest.mark.parametrize("many", [blob_indexer.MIN_BLOBS_FOR_PROCESSES, 8])
def test_a_branch_switch_embeds_only_new_text_however_many_files_change(
    repo: Repo, opened: Repository, embedder: WordsEmbedder, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    """In this process as in others: ten files of 17 chunks, of each of which one is new."""
    files = sections(10)
    repo.commit("main", files)
    indexer.refresh(opened, CONFIG)
    assert len(embedder.embedded) == 170
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("side", {path: text + "## new\n- one more here\n" for path, text in files.items()})
    embedder.embedded.clear()
    lines: list[str] = []

    def counted(texts: list[str]) -> list[tuple[float, bytes]]:
        lines.extend(texts)
        return [(0.0, b"")] * len(texts)

    monkeypatch.setattr(parse_workers, "line_vectors", lambda: counted)
    monkeypatch.setattr(blob_indexer, "MIN_BLOBS_FOR_PROCESSES", many)
    monkeypatch.setattr(parse_workers, "usable_cores", lambda: 2)
    monkeypatch.setattr(parse_workers, "Workers", InThisProcess)

    work = indexer.refresh(opened, CONFIG)
    assert work.chunks == work.embedded == 10
    assert len(embedder.embedded) == 10 and all("one more" in text for text in embedder.embedded)
    assert len(lines) == 30  # the heading, the line and the trail of each new section

    repo.git("checkout", "-q", "main")
    indexer.refresh(opened, CONFIG)
    repo.git("checkout", "-q", "side")
    assert indexer.refresh(opened, CONFIG, full=True).embedded == 0
    assert len(embedder.embedded) == 10


class InThisProcess(parse_workers.Workers):
    """What the children do, where it can be counted: they know nothing of an embedder that stands in."""

    def __init__(self, count: int) -> None:
        self._children = []

    def run(self, batches: Any, task: parse_workers.Task) -> Any:
        assert task.embeds
        table = embedding.open_embedder("static", CONFIG)
        for batch in batches:
            made = parse_workers.parsed(batch, task.cut, task.stored.intersection)
            yield made, parse_workers.embedded(made, table, task.embedded)


def rows(repo: Repository, commit: str = "") -> object:
    """What the index says of a snapshot, without its own numbers."""
    got = freshness.ready(repo, CONFIG, commit)
    index, snapshot = got.index, got.snapshot
    assert index is not None and snapshot is not None
    chunks = [n for n, norm in enumerate(snapshot.norms) if norm]
    places = index.places(snapshot, chunks)
    found = sorted(
        (
            p.path,
            p.oid,
            p.start,
            p.end,
            p.heading,
            p.ordinal,
            p.corpus,
            snapshot.norms[p.chunk],
            inspection.stored_vector(index.database, p.chunk),
        )
        for some in places.values()
        for p in some
    )
    got.close()
    return found


def test_an_index_that_has_seen_everything_says_the_same_as_a_fresh_one(
    repo: Repo, opened: Repository, tmp_path: Path
) -> None:
    commits = []
    for n in range(6):
        files = {f"memory/{n % 3}.md": f"# n{n}\n- fact number {n}\n- common\n", "MEMORY.md": f"# M\n- line {n // 2}\n"}
        commits.append(repo.commit(str(n), files))
        indexer.refresh(opened, CONFIG)
    for commit in commits:
        clone = tmp_path / commit
        repo.git("clone", "-q", ".", str(clone))
        fresh = Repo(clone, init=False)
        fresh.git("checkout", "-q", commit)
        other = open_repository(clone, os.environ)
        assert rows(opened, commit) == rows(other) == rows(other, commit)
        other.close()


def test_linked_work_trees_share_one_index(
    repo: Repo, opened: Repository, tmp_path: Path, embedder: WordsEmbedder
) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    assert find(opened, "alpha") == ["memory/a.md"]
    embedder.embedded.clear()
    repo.git("worktree", "add", "-q", "-b", "two", str(tmp_path / "two"))
    second = Repo(tmp_path / "two", init=False)
    other = open_repository(second.path, os.environ)
    assert other.common_dir == opened.common_dir
    assert find(other, "alpha") == ["memory/a.md"] and embedder.embedded == []
    second.write("memory/b.md", "- beta\n")
    assert find(other, "beta") == ["memory/b.md"] and find(opened, "beta") == []
    other.close()
    repo.git("worktree", "remove", "--force", str(tmp_path / "two"))
    repo.commit(files={"memory/c.md": "- c\n"})
    indexer.refresh(opened, CONFIG)
    with open_index(opened) as index:
        assert snapshots.keys(index.database, "work:") == [work_tree_key(opened)]


class open_index:
    def __init__(self, repo: Repository) -> None:
        from gitmem.index import db

        index = db.open_index(index_file.directory(repo))
        assert index is not None
        self.index = index

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self.index

    def __exit__(self, *_: object) -> None:
        self.index.close()


def test_files_git_ignores_are_not_indexed_until_they_are_tracked(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n", ".gitignore": "memory/private*\n"})
    repo.write("memory/private.md", "- hidden\n")
    assert find(opened, "hidden") == []
    repo.write(".gitignore", "nothing\n")
    assert find(opened, "hidden") == ["memory/private.md"]
    repo.write(".gitignore", "memory/private*\n")
    assert find(opened, "hidden") == []
    repo.git("add", "-f", "memory/private.md")
    assert find(opened, "hidden") == ["memory/private.md"]


def test_an_index_with_ignored_files_is_current_until_a_file_is_tracked(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n", ".gitignore": "memory/private*\n"})
    repo.write("memory/private.md", "- hidden\n")
    age(repo)
    indexer.refresh(opened, CONFIG)
    assert not indexer.refresh(opened, CONFIG).blobs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_update, "SearchUpdate", None)
        assert find(opened, "alpha") == ["memory/a.md"]


def test_links_submodules_and_nested_repositories_are_not_entered(
    repo: Repo, opened: Repository, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("- outsider\n")
    repo.write("memory/a.md", "- alpha\n")
    (repo.path / "memory/link.md").symlink_to(outside / "x.md")
    (repo.path / "memory/folder").symlink_to(outside)
    inner = Repo(repo.path / "memory/inner")
    inner.commit(files={"y.md": "- outsider\n"})
    repo.git("add", "memory/link.md", "memory/folder")
    repo.git("commit", "-q", "-m", "links")
    assert find(opened, "outsider") == []
    assert find(opened, "outsider", repo.git("rev-parse", "HEAD").strip()) == []


def test_notes_without_memory_are_every_markdown_file(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"a.md": "- alpha\n", "deep/b.md": "- beta\n", "c.txt": "alpha\n", ".gitignore": "skip/\n"})
    repo.write("skip/d.md", "- alpha\n")
    repo.write("new.md", "- alpha\n")
    assert find(opened, "alpha") == ["a.md", "new.md"]
    assert find(opened, "beta") == ["deep/b.md"]
    head = repo.commit(files={"MEMORY.md": "- now a memory repository\n"})
    assert find(opened, "alpha") == [] and find(opened, "alpha", head) == []
    assert find(opened, "beta", repo.git("rev-parse", "HEAD~1").strip()) == ["deep/b.md"]


def test_more_paths_of_the_tracked_settings_are_memory(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"MEMORY.md": "- m\n", "docs/notes/x.txt": "- alpha\n", "docs/y.txt": "- beta\n"})
    config = Config(memory_paths=("docs/notes/*.txt", "../*", "/etc/*"))
    assert find(opened, "alpha", config=config) == ["docs/notes/x.txt"]
    assert find(opened, "beta", config=config) == []
    assert find(opened, "alpha", repo.git("rev-parse", "HEAD").strip(), config) == ["docs/notes/x.txt"]


def test_instructions_are_indexed_but_not_in_the_default_corpus(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"SOUL.md": "- gentle\n", "MEMORY.md": "- m\n"})
    assert find(opened, "gentle") == []
    got = freshness.ready(opened, CONFIG)
    assert got.index is not None and got.snapshot is not None
    norms = got.index.select(got.snapshot, lambda path: path == "SOUL.md", everything=True)
    assert sum(map(bool, norms)) == 1
    assert set(snapshots.entries(got.index.database, got.snapshot.key)) == {"MEMORY.md", "SOUL.md"}
    got.close()


def test_a_bare_repository_is_searched_at_head(repo: Repo, tmp_path: Path) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    bare = open_repository(tmp_path / "bare.git", os.environ)
    assert find(bare, "alpha") == ["memory/a.md"]
    indexer.refresh(bare, CONFIG)
    bare.close()


def test_a_repository_without_a_commit_is_searched_too(repo: Repo, opened: Repository) -> None:
    assert find(opened, "alpha") == []
    repo.write("memory/a.md", "- alpha\n")
    assert find(opened, "alpha") == ["memory/a.md"]
    indexer.refresh(opened, CONFIG)


def test_a_second_writer_waits_briefly_then_searches_what_is_there(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    assert find(opened, "alpha") == ["memory/a.md"]
    repo.write("memory/b.md", "- beta\n")
    with locked(opened.common_dir, "index", 0):
        got = freshness.ready(opened, CONFIG, wait=0.0)
        assert "indexing" in got.stale
        assert paths_with(got, "alpha") == ["memory/a.md"]
        with pytest.raises(Locked):
            indexer.refresh(opened, CONFIG, bounds=indexer.Bounds(wait=0.0))
    assert find(opened, "beta") == ["memory/b.md"]


def test_a_bounded_refresh_says_what_it_left_and_goes_on_later(repo: Repo, opened: Repository) -> None:
    repo.commit(files={f"memory/n{n:03}.md": f"- note {n}\n" for n in range(300)})
    ticks = iter(range(1000))
    got = freshness.ready(opened, CONFIG, budget=0.5, clock=lambda: float(next(ticks)))
    assert "not indexed yet" in got.stale
    some = len(paths_with(got, "note"))
    assert 0 < some < 300
    assert len(find(opened, "note")) == 300


def test_an_index_that_was_only_being_made_is_not_thrown_away(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    indexer.refresh(opened, CONFIG)
    file = index_file.directory(opened) / "index.sqlite"
    whole = file.read_bytes()
    file.write_bytes(b"half of it")
    kept: list[bool] = []
    waiting = threading.Thread(target=lambda: kept.append(index_file.discard(opened, 30.0, unless_mended=True)))
    with locked(opened.common_dir, "index", 0):  # another process makes it
        waiting.start()
        file.write_bytes(whole)
    waiting.join()
    assert kept == [False] and find(opened, "alpha") == ["memory/a.md"]
    file.write_bytes(b"damaged")
    assert index_file.discard(opened, unless_mended=True) and not file.exists()


def test_without_auto_index_the_index_is_left_alone(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    got = freshness.ready(opened, Config(auto_index=False))
    assert got.index is None and got.stale
    indexer.refresh(opened, CONFIG)
    repo.write("memory/b.md", "- beta\n")
    got = freshness.ready(opened, Config(auto_index=False))
    assert got.stale and paths_with(got, "beta") == []


def test_prune_drops_what_nothing_reaches(repo: Repo, opened: Repository) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    repo.git("checkout", "-q", "-b", "side")
    side = repo.commit(files={"memory/s.md": "- sideways\n"})
    repo.write("memory/draft.md", "- drafted\n")
    indexer.refresh(opened, CONFIG)
    find(opened, "sideways", side)
    (repo.path / "memory/draft.md").rename(repo.path / "memory/kept.md")
    repo.git("checkout", "-q", "main")
    repo.git("branch", "-q", "-D", "side")
    indexer.refresh(opened, CONFIG)
    work = indexer.prune(opened)
    assert (work.removed_blobs, work.removed_chunks) == (1, 1)
    assert find(opened, "drafted") == ["memory/kept.md"] and find(opened, "alpha") == ["memory/a.md"]
    with open_index(opened) as index:
        assert index.frequency("sidewai") == 0 and inspection.counts(index.database).vectors == 2
    again = indexer.prune(opened)
    assert (again.removed_blobs, again.removed_chunks) == (0, 0)


def test_changing_embedder_keeps_the_old_vectors_until_the_new_set_is_complete(
    repo: Repo, opened: Repository, monkeypatch: pytest.MonkeyPatch, embedder: WordsEmbedder
) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n", "memory/b.md": "- beta\n"})
    indexer.refresh(opened, CONFIG)
    other = WordsEmbedder("other")
    monkeypatch.setattr(
        embedding, "open_embedder", lambda spec, config, state=None: embedder if spec == "static" else other
    )
    new = Config(embedder="gguf:other")
    repo.write("memory/c.md", "- gamma\n")
    assert find(opened, "gamma", config=new) == ["memory/c.md"]
    with open_index(opened) as index:
        assert index.in_force() == ("words", "static") and other.embedded == []
        assert [c for c, _ in index.nearest(embedder.embed_query("gamma"), b"\1" * 9, 1)] == [3]
    indexer.refresh(opened, new)
    with open_index(opened) as index:
        assert index.in_force() == ("other", "gguf:other") and len(other.embedded) == 3
        (wanted,) = [c for c, _ in index.postings("beta")]
        assert [c for c, _ in index.nearest(other.embed_query("beta"), b"\1" * 9, 1)] == [wanted]
        assert index.nearest(other.embed_query("beta"), bytes(9), 1) == []
    embedder.embedded.clear()
    indexer.refresh(opened, CONFIG)
    assert embedder.embedded == []


def test_another_table_under_the_same_name_makes_new_vectors(
    repo: Repo, opened: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    indexer.refresh(opened, CONFIG)
    newer = WordsEmbedder("newer")
    monkeypatch.setattr(embedding, "open_embedder", lambda spec, config, state=None: newer)
    assert find(opened, "alpha") == ["memory/a.md"] and newer.embedded == []
    indexer.refresh(opened, CONFIG)
    with open_index(opened) as index:
        assert index.in_force() == ("newer", "static") and len(newer.embedded) == 1


def test_a_line_with_a_secret_is_never_in_the_index(repo: Repo, opened: Repository) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    repo.write("memory/a.md", f"# head\n- harmless\n- 토큰은{token}를 쓴다\n- after\n")
    repo.write("memory/b.md", f"# {token}\n- below\n")
    indexer.refresh(opened, CONFIG)
    assert find(opened, "harmless") == ["memory/a.md"] and find(opened, "after") == ["memory/a.md"]
    assert find(opened, token) == []
    for file in index_file.directory(opened).iterdir():
        data = file.read_bytes().lower()
        assert token.lower().encode() not in data and token[4:20].lower().encode() not in data
    out = repo.mem("status", "--json").stdout
    assert '"secret_lines": 2' in out and token not in out


def test_files_that_cannot_be_indexed_are_named_with_a_reason(repo: Repo, opened: Repository) -> None:
    repo.write("memory/a.md", "- alpha\n")
    repo.write("memory/large.md", b"x" * ((1 << 20) + 1))
    repo.write("memory/korean.md", "- 결정: 배포는 금요일\n".encode("cp949"))
    repo.write("memory/nul.md", b"- a\0b\n")
    repo.write("memory/big.md", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "odd files")
    indexer.refresh(opened, CONFIG)
    out = repo.mem("status").stdout
    assert "memory/large.md: larger than 1 MiB, skipped" in out
    assert "memory/korean.md: is CP949" in out and "iconv -f CP949 -t UTF-8 -- memory/korean.md" in out
    assert "memory/nul.md: line 1: holds NUL characters" in out
    assert "memory/big.md: is a pointer of Git LFS: its text is not here, skipped" in out
    assert find(opened, "alpha") == ["memory/a.md"] and find(opened, "oid sha256 size") == []


def test_hits_are_read_only_where_they_are_what_the_index_says(repo: Repo, opened: Repository) -> None:
    head = repo.commit(files={"memory/a.md": "- alpha\n", "secret.txt": "x\n"})
    oid = repo.git("rev-parse", "HEAD:memory/a.md").strip()
    other = repo.git("rev-parse", "HEAD:secret.txt").strip()
    assert read_hits(opened, [("memory/a.md", oid)]) == {("memory/a.md", oid): b"- alpha\n"}
    assert read_hits(opened, [("memory/a.md", other), ("../x", oid), ("gone.md", oid)]) == {}
    assert read_hits(opened, [("memory/a.md", oid), ("memory/a.md", other)], head) == {
        ("memory/a.md", oid): b"- alpha\n"
    }
    repo.write("memory/a.md", "- changed\n")
    assert read_hits(opened, [("memory/a.md", oid)]) == {}
    assert read_hits(opened, [("memory/a.md", oid)], head) == {("memory/a.md", oid): b"- alpha\n"}


def test_git_failing_for_a_foreign_index_folder_is_said(repo: Repo, opened: Repository, tmp_path: Path) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (repo.path / ".git/gitmem").symlink_to(elsewhere)
    with pytest.raises(IndexUnusable):
        freshness.ready(opened, CONFIG)
    assert list(elsewhere.iterdir()) == []


def test_many_files_are_parsed_by_other_processes_with_the_same_result(
    repo: Repo, opened: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(files={f"memory/n{n:03}.md": f"# n{n}\n- note {n} of many\n" for n in range(40)})
    one = rows(opened)
    shutil.rmtree(index_file.directory(opened))
    monkeypatch.setattr(blob_indexer, "MIN_BLOBS_FOR_PROCESSES", 10)
    monkeypatch.setattr(blob_indexer, "BATCH", 7)
    monkeypatch.setattr("gitmem.index.parse_workers.usable_cores", lambda: 2)
    # The children know nothing of the embedder that stands in here: it embeds in this process.
    monkeypatch.setattr("gitmem.index.parse_workers.Workers.run", without_vectors)
    assert rows(opened) == one


def without_vectors(self, batches, task):  # type: ignore[no-untyped-def]
    return RUN(self, batches, task._replace(embeds=False))


RUN = __import__("gitmem.index.parse_workers", fromlist=["Workers"]).Workers.run


def test_a_scan_of_the_work_tree_changes_with_every_file(repo: Repo, opened: Repository) -> None:
    repo.write("memory/a.md", "- alpha\n")
    first = read_work_tree(opened, ())
    age(repo)
    second = read_work_tree(opened, ())
    assert first.scan != second.scan == read_work_tree(opened, ()).scan


def test_a_moved_repository_that_cannot_be_written_is_searched_as_it_was(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("one", {"memory/a.md": "- alpha\n", "memory/b.md": "- beta\n"})
    entries = [(path, repo.git("rev-parse", f"HEAD:{path}").strip()) for path in ("memory/a.md", "memory/b.md")]
    first = open_repository(repo.path, os.environ)
    indexer.refresh(first, CONFIG)
    first.close()
    moved = repo.path.rename(tmp_path / "elsewhere")
    (moved / "memory/b.md").write_text("- other\n")
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and real(path, mode))
    opened = open_repository(moved, os.environ)
    got = freshness.ready(opened, CONFIG)
    assert got.index is not None and got.snapshot is not None and got.stale
    assert list(read_hits(opened, entries)) == entries[:1]  # what changed since is not shown
    got.close()
