"""Killed, out of disk, failing writes, many at once: the index holds the old or the new state, and repairs itself."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from gitmem.config import Config
from gitmem.errors import GitMemError, IndexUnusable
from gitmem.git.opening import open_repository
from gitmem.index import blob_indexer, db, freshness, index_file, indexer
from gitmem.index.db import inspection
from gitmem.models import embedding
from tests.harness import SOURCE, Repo
from tests.words_embedder import WordsEmbedder

CONFIG = Config()
# What a child does: index with the stand-in embedder, in small transactions.
INDEX = """
import os, sys
from pathlib import Path
from gitmem.models import embedding as embedders; from gitmem.index import freshness, indexer, blob_indexer
from gitmem.config import Config
from gitmem.git.opening import open_repository
from tests.words_embedder import WordsEmbedder
embedders.open_embedder = lambda spec, config, state=None: WordsEmbedder()
blob_indexer.BATCH = 3
repo = open_repository(Path("."), os.environ)
"""


@pytest.fixture(autouse=True)
def embedder(monkeypatch: pytest.MonkeyPatch) -> WordsEmbedder:
    made = WordsEmbedder()
    monkeypatch.setattr(embedding, "open_embedder", lambda spec, config, state=None: made)
    return made


def fill(repo: Repo, files: int = 60) -> None:
    repo.commit(
        files={f"memory/n{n:03}.md": f"# note {n}\n- alpha {n}\n\n## more {n}\n- beta {n * 7}\n" for n in range(files)}
    )


def child(repo: Repo, code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", INDEX + code],
        cwd=repo.path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,  # a child that reads it waits, whatever the tests were started with
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def state(repo: Repo) -> dict[str, int]:
    """path -> number of chunks, of a snapshot brought up to date; every chunk has its words and its vector."""
    opened = open_repository(repo.path, os.environ)
    try:
        got = freshness.ready(opened, CONFIG, wait=30.0)
        assert got.index is not None and got.snapshot is not None and not got.stale, got
        chunks = [n for n, norm in enumerate(got.snapshot.norms) if norm]
        found: dict[str, int] = {}
        for places in got.index.places(got.snapshot, chunks).values():
            for place in places:
                found[place.path] = found.get(place.path, 0) + 1
                assert inspection.stored_vector(got.index.database, place.chunk) is not None
        worded = {c for c, _ in got.index.postings("alpha")} | {c for c, _ in got.index.postings("beta")}
        assert worded >= set(chunks)
        got.close()
        return found
    finally:
        opened.close()


def sound(repo: Repo) -> None:
    connection = apsw.Connection(str(repo.path / ".git/gitmem" / db.FILE))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_kill_at_fifty_random_moments_loses_nothing_and_the_next_run_repairs(repo: Repo) -> None:
    fill(repo)
    whole = state(repo)
    dice = random.Random(11)
    kills = 0
    code = (
        "print(1, flush=True)\nfor _ in range(50): indexer.refresh(repo, Config(), full=False); freshness.discard(repo)"
    )
    for _ in range(10):
        process = child(repo, code)
        assert process.stdout is not None
        process.stdout.readline()  # it is at work; from here any moment will do
        for _ in range(5):
            pause(dice.random() * 0.06)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
            assert state(repo) == whole
            sound(repo)
            if kills % 5:
                repo.write("memory/n000.md", f"# note 0\n- alpha 0\n\n## more {kills}\n- beta {kills}\n")
                process = child(repo, code)
                assert process.stdout is not None
                process.stdout.readline()
    assert kills == 50


def pause(seconds: float) -> None:
    """Let another process run; not a wait for something to become true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        os.sched_yield()


def test_copies_made_in_the_middle_of_writing_open_or_are_rebuilt(repo: Repo, tmp_path: Path) -> None:
    fill(repo, 30)
    folder = repo.path / ".git/gitmem"
    opened = open_repository(repo.path, os.environ)
    writer_seen = 0

    def copy(text: str) -> None:
        nonlocal writer_seen
        if not text.startswith("indexed "):  # on a slow machine it says too how many chunks have vectors
            return
        writer_seen += 1
        target = tmp_path / f"copy{writer_seen}"
        repo.git("clone", "-q", "--no-hardlinks", ".", str(target))
        (target / ".git/gitmem").mkdir(mode=0o700)
        for suffix in ("", "-wal"):
            source = folder / (db.FILE + suffix)
            if source.exists():
                place = target / ".git/gitmem" / (db.FILE + suffix)
                place.write_bytes(source.read_bytes())
                place.chmod(0o600)
        copied = Repo(target, init=False)
        assert len(state(copied)) == 30
        sound(copied)

    batch, blob_indexer.BATCH = blob_indexer.BATCH, 5
    try:
        indexer.refresh(opened, CONFIG, say=copy)
    finally:
        blob_indexer.BATCH = batch
        opened.close()
    assert writer_seen == 6


def test_ten_searchers_beside_one_indexer_meet_no_error(repo: Repo) -> None:
    fill(repo, 40)
    state(repo)
    searchers = [
        child(
            repo,
            "from gitmem.text.terms import terms\n"
            "for _ in range(15):\n"
            "    got = freshness.ready(repo, Config(), wait=0.05)\n"
            "    with got.index.reading():\n"
            "        snapshot = got.index.snapshot(got.snapshot.key)\n"
            "        found = {c for c, _ in got.index.postings('alpha') if snapshot.norms[c:c + 1] > b'\\0'}\n"
            "        assert len(found) >= 40, len(found)\n"
            "        assert all(got.index.places(snapshot, found).values())\n"
            "    got.close()\n",
        )
        for _ in range(10)
    ]
    writer = child(
        repo,
        "for n in range(12):\n"
        "    Path(f'memory/w{n}.md').write_text(f'# w\\n- alpha w{n}\\n')\n"
        "    indexer.refresh(repo, Config(), full=n % 4 == 3)\n",
    )
    for process in [*searchers, writer]:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors.decode()
    assert len(state(repo)) == 52


def test_a_stopped_writer_does_not_stop_readers(repo: Repo) -> None:
    fill(repo, 20)
    whole = state(repo)
    process = child(
        repo,
        "from gitmem.index import db\n"
        "from gitmem.git.worktree import locked\n"
        "with locked(repo.common_dir, 'index', 1):\n"
        "    writer = db.open_writer(freshness.directory(repo))\n"
        "    with writer.writing():\n"
        "        writer.set_meta('half', 'done')\n"
        "        print(1, flush=True)\n"
        "        sys.stdin.read()\n",
    )
    assert process.stdout is not None
    process.stdout.readline()
    os.kill(process.pid, signal.SIGSTOP)
    try:
        repo.write("memory/new.md", "- alpha new\n")
        opened = open_repository(repo.path, os.environ)
        got = freshness.ready(opened, CONFIG, wait=0.0)
        assert got.stale and got.index is not None and got.snapshot is not None
        assert len({c for c, _ in got.index.postings("alpha")}) == len(whole)
        got.close()
        opened.close()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert len(state(repo)) == 21


class Failing(apsw.VFS):
    """SQLite's own file system, until the n-th write from now: that one and all later ones fail."""

    def __init__(self, error: type[apsw.Error]) -> None:
        self.left = 1 << 30
        self.error = error
        super().__init__("failing", "", maxpathname=0)

    def xOpen(self, name, flags):  # type: ignore[no-untyped-def]
        return FailingFile(self, name, flags)

    def count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise self.error("as told")


class FailingFile(apsw.VFSFile):
    def __init__(self, vfs: Failing, name: object, flags: list[int]) -> None:
        self.vfs = vfs
        super().__init__("", name, flags)  # type: ignore[arg-type]

    def xWrite(self, data: bytes, offset: int) -> None:
        self.vfs.count()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self.vfs.count()
        super().xSync(flags)


@contextmanager
def failing(error: type[apsw.Error]) -> Iterator[Failing]:
    vfs = Failing(error)
    real = apsw.Connection

    def connect(filename: str, flags: int = 0, **more: object) -> apsw.Connection:
        return real(filename, flags=flags, vfs="failing")

    apsw.Connection = connect  # type: ignore[misc, assignment]
    try:
        yield vfs
    finally:
        apsw.Connection = real  # type: ignore[misc]
        vfs.unregister()


# A file that cannot be written cannot be closed tidily either.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("error", "words"), [(apsw.FullError, "disk is full"), (apsw.IOError, "cannot be")])
def test_the_nth_write_fails_for_every_n_and_no_fact_is_lost(repo: Repo, error: type[apsw.Error], words: str) -> None:
    fill(repo, 12)
    opened = open_repository(repo.path, os.environ)
    batch, blob_indexer.BATCH = blob_indexer.BATCH, 4
    said = set()
    try:
        n, step = 0, 1
        while True:
            index_file.discard(opened)
            passed = True
            with failing(error) as vfs:
                vfs.left = n
                try:
                    work = indexer.refresh(opened, CONFIG)
                    assert work.blobs == 12
                except IndexUnusable as problem:
                    passed = False
                    said.add(problem.message)
                # The clock of failures goes on: a search now must answer or say what is wrong, never crash.
                try:
                    freshness.ready(opened, CONFIG).close()
                except GitMemError as problem:
                    said.add(problem.message)
            assert len(state(repo)) == 12
            sound(repo)
            if passed:
                break
            n += step
            step = 1 if n < 40 else 7
    finally:
        blob_indexer.BATCH = batch
        opened.close()
    assert n > 10 and any(words in text for text in said), said


def test_a_full_disk_is_one_clear_line(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(repo, 3)
    opened = open_repository(repo.path, os.environ)
    with failing(apsw.FullError) as vfs:
        vfs.left = 12
        with pytest.raises(IndexUnusable) as caught:
            indexer.refresh(opened, CONFIG)
    opened.close()
    assert (
        caught.value.exit_code == 3 and "disk is full" in caught.value.message and "git mem index" in caught.value.hint
    )
