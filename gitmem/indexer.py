"""The index as a projection of Git: finds the blobs it lacks, parses and embeds each once, records snapshots.

`bring` is what a search calls (through `freshness.ready`) when the index is not current: brought up to date, and
`stale` with a reason when that could not be done in time. `refresh` is what `git mem index` and the hooks call.
Never ranks, never shows text.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from gitmem import db
from gitmem.config import Config
from gitmem.db.index import Index
from gitmem.db.values import BlobRow, Cut, EntryRow, Shape
from gitmem.db.writer import Writer
from gitmem.errors import GitMemError, IndexDamaged, IndexUnusable, Locked, ModelUnavailable, OutsideRepository
from gitmem.files import in_default_corpus
from gitmem.freshness import LIMIT, Freshness, Ready, cut_as_set, directory, discard, read
from gitmem.git import Repository
from gitmem.snapshot import WorkTree, look, racy, tree_files, tree_key, work_tree_key, work_tree_of
from gitmem.worktree import locked, read_bytes

BATCH = 128  # blobs to a transaction
RETRIES = 3  # looks at an index that others are just making
FIRST_WAIT = 20.0  # seconds a search waits for another process when there is nothing to answer from
BUSY = "another git mem is indexing"
MANY = 400  # blobs from which parsing in other processes pays for their start
KEPT_TREES = 32  # snapshots of trees that stay recorded
IGNORED, LARGE, UNREADABLE = -1, -2, -3  # `corpus` of a work-tree entry that has no blob in the index
Say = Callable[[str], None]


class Wanted(NamedTuple):
    """The snapshot to bring up to date: `commit` and `tree` are "" for the work tree, `seen` is how that looked to a
    scan that began at `began` (ns)."""

    key: str
    commit: str
    tree: str
    seen: WorkTree | None
    began: int


@dataclass(slots=True)
class Work:
    """What a refresh did, counted."""

    blobs: int = 0
    chunks: int = 0
    embedded: int = 0
    removed_blobs: int = 0
    removed_chunks: int = 0
    notes: list[str] = field(default_factory=list)
    unfinished: str = ""


def bring(
    repo: Repository, config: Config, wanted: Wanted, budget: float, wait: float, clock: Callable[[], float]
) -> Ready:
    """What `freshness.ready` promises, for an index that is not there, damaged or not current."""
    return _Refresh(repo, config, clock, budget, wait).ready(wanted)


def refresh(
    repo: Repository,
    config: Config,
    *,
    full: bool = False,
    revs: Sequence[str] = (),
    budget: float = float("inf"),
    wait: float = 30.0,
    clock: Callable[[], float] = time.monotonic,
    say: Say = lambda text: None,
) -> Work:
    """Bring the index up to date with the work tree, HEAD, the local branches and `revs`.

    `full` parses everything again (vectors of unchanged text are kept). Raises Locked when another process writes
    for longer than `wait`, IndexUnusable when the file cannot be written.
    """
    return _Refresh(repo, config, clock, budget, wait, say).everything(full, revs)


def prune(repo: Repository, config: Config, *, wait: float = 30.0) -> Work:
    """Drop what no ref and no work tree reaches, and what replaced embedders left."""
    work = Work()
    with locked(repo.common_dir, "index", wait):
        writer = db.open_writer(directory(repo))
        try:
            keep = set(repo.reachable())
            with writer.writing():
                for key in writer.keys("work:"):
                    if work_tree_of(key).is_dir():
                        keep.update(oid for _, oid, _ in writer.recorded(key).values() if oid)
                    else:
                        writer.drop_snapshot(key)
                work.removed_blobs, work.removed_chunks = writer.prune(keep)
            writer.compact()
        finally:
            writer.close()
    return work


def cache_key(repo: Repository, config: Config) -> tuple[str, str]:
    """(what makes two indexes interchangeable, HEAD's tree): the name of an index kept between runs of CI."""
    from gitmem.schema import VERSION

    head = repo.head()
    cut = Cut(config.chunk_size, config.chunk_overlap).id.replace("/", ".")
    words = "".join(c if c.isalnum() else "-" for c in config.embedder)
    return f"git-mem-{VERSION}-{cut}-{words}", repo.tree(head) if head else "empty"


class _Refresh:
    """One run. Holds no lock and no connection between its calls."""

    def __init__(
        self,
        repo: Repository,
        config: Config,
        clock: Callable[[], float],
        budget: float,
        wait: float,
        say: Say = lambda text: None,
    ) -> None:
        self.repo = repo
        self.config = config
        self.clock = clock
        self.deadline = clock() + budget
        self.wait = wait
        self.say = say
        self.work = Work()
        self.extra = config.memory_paths
        self.names: dict[str, str] = {}  # oid -> a path it has, for the egress log

    # -- for a search ----------------------------------------------------------------------------------------

    def ready(self, wanted: Wanted) -> Ready:
        key, commit, tree, seen, began = wanted
        index, reason = self._open()
        if index is not None:
            if self._current(index, key, seen):
                return Ready(index, index.snapshot(key), Freshness(), commit, tuple(self.work.notes))
            if index.frozen:
                reason = "the index cannot be written here"
            elif not self.config.auto_index:
                reason = "mem.autoIndex is off; 'git mem index' brings it up to date"
        elif not reason and not self.config.auto_index:
            reason = "there is no index; 'git mem index' builds it"
        if not reason:
            if index is not None:
                index.close()
                index = None
            reason = self._update(key, commit, tree, seen, began)
            index, _ = self._open()
            if reason == BUSY and (index is None or index.snapshot(key) is None):
                # There is nothing older to answer from: wait for the one that builds it.
                if index is not None:
                    index.close()
                self.wait = max(self.wait, FIRST_WAIT)
                reason = self._update(key, commit, tree, seen, began)
                index, _ = self._open()
            for _ in range(RETRIES):
                if reason or (index is not None and index.snapshot(key) is not None):
                    break
                # Another process made the file anew between our writing and our opening: look again.
                if index is not None:
                    index.close()
                reason = self._update(key, commit, tree, seen, began)
                index, _ = self._open()
            if index is None and not reason:
                reason = BUSY
        snapshot = index.snapshot(key) if index is not None else None
        fresh = Freshness(bool(reason), reason)
        return Ready(index, snapshot, fresh, commit, tuple(self.work.notes))

    def _open(self) -> tuple[Index | None, str]:
        """The index, or why there is none; a damaged one is deleted, to be built again."""
        try:
            return db.open_index(directory(self.repo)), ""
        except IndexDamaged as error:
            self.work.notes.append(f"{error.message} It is built again.")
            try:
                discard(self.repo, self.wait)
            except Locked:
                self.work.notes.pop()  # not damaged: another process is just making it
            except (GitMemError, OSError) as second:
                return None, f"{error.message} {second}"
            return None, ""

    def _current(self, index: Index, key: str, seen: WorkTree | None) -> bool:
        scan = index.scan(key)
        return scan is not None and (seen is None or scan == seen.scan) and cut_as_set(index, self.config)

    def _update(self, key: str, commit: str, tree: str, seen: WorkTree | None, began: int, again: bool = False) -> str:
        """Bring one snapshot up to date; why it could not, or ""."""
        try:
            with locked(self.repo.common_dir, "index", self.wait):
                writer = self._writer()
                try:
                    if commit:
                        self._tree(writer, key, tree)
                    else:
                        assert seen is not None
                        self._work_tree(writer, key, seen, began)
                finally:
                    writer.close()
        except Locked:
            return BUSY
        except IndexDamaged as error:
            if again:
                return error.message
            self.work.notes.append(f"{error.message} It is built again.")
            discard(self.repo, self.wait)
            return self._update(key, commit, tree, seen, began, again=True)
        except PermissionError as error:
            return f"the index cannot be written here ({error.strerror})"
        except IndexUnusable as error:
            if "another user" in error.message or "symbolic link" in error.message or "newer" in error.message:
                raise
            return error.message
        except GitMemError as error:
            if os.access(self.repo.common_dir, os.W_OK):
                raise
            return f"the index cannot be written here ({error.message})"
        return self.work.unfinished

    def _writer(self) -> Writer:
        try:
            writer = db.open_writer(directory(self.repo))
        except IndexDamaged as error:
            self.work.notes.append(f"{error.message} It is built again.")
            db.remove(directory(self.repo))
            writer = db.open_writer(directory(self.repo))
        self.cut = Cut(self.config.chunk_size, self.config.chunk_overlap)
        if writer.meta("cut") != self.cut.id:
            with writer.writing():
                if writer.meta("cut"):
                    writer.forget_blobs()
                writer.set_meta("cut", self.cut.id)
        self._embedders(writer)
        return writer

    # -- for `git mem index` ---------------------------------------------------------------------------------

    def everything(self, full: bool, revs: Sequence[str]) -> Work:
        try:
            return self._everything(full, revs)
        except IndexDamaged as error:
            self.work = Work(notes=[f"{error.message} It is built again."])
            discard(self.repo, self.wait)
            return self._everything(False, revs)

    def _everything(self, full: bool, revs: Sequence[str]) -> Work:
        began = time.time_ns()
        seen = look(self.repo, self.extra) if self.repo.root is not None else None
        with locked(self.repo.common_dir, "index", self.wait):
            writer = self._writer()
            try:
                if full:
                    # One transaction for all of it: searches keep the old index until the new one is whole.
                    with writer.writing():
                        writer.forget_blobs()
                        self._all(writer, seen, began, revs, inside=True)
                else:
                    self._all(writer, seen, began, revs, inside=False)
                self._switch(writer)
            finally:
                writer.close()
        return self.work

    def _all(self, writer: Writer, seen: WorkTree | None, began: int, revs: Sequence[str], inside: bool) -> None:
        self.inside = inside
        if seen is not None:
            self._work_tree(writer, work_tree_key(self.repo), seen, began, trust=False)
        covered = writer.covered()
        trees = {name: self.repo.tree(oid) for name, oid in self.repo.refs("refs/heads/")}
        head = self.repo.head()
        if head:
            trees["HEAD"] = self.repo.tree(head)
        for rev in revs:
            trees[rev] = self.repo.tree(self.repo.resolve(rev))
        mark = ":" + tree_key("", self.extra)
        done = set(covered.values())
        for name in sorted(trees, key=lambda name: name != "HEAD"):
            if trees[name] + mark in done:
                continue
            if not self._cover(writer, trees[name], covered.get(name, covered.get("HEAD", "")).partition(":")[0]):
                return
            done.add(trees[name] + mark)
        now = {name: tree + mark for name, tree in trees.items()}
        if now != covered:
            with self._transaction(writer):
                writer.cover(now)
                for key in writer.keys("work:"):
                    if not work_tree_of(key).is_dir():
                        writer.drop_snapshot(key)

    def _cover(self, writer: Writer, tree: str, known: str) -> bool:
        """Index the memory blobs of a tree, given that those of `known` are; whether that was finished."""
        oids: Iterable[str]
        if known and known != tree and not self.extra:
            from gitmem.files import Kind, Layout, is_memory, kind

            changes = self.repo.changes(known, tree)
            # A change of these may turn notes into a memory repository or back: then look at all of it.
            if all(is_memory(c.path, Layout()) == (kind(c.path) is not Kind.OTHER) for c in changes):
                memory = [c for c in changes if is_memory(c.path, Layout())]
                oids = [c.new_oid for c in memory if c.status != "D" and c.new_mode in (0o100644, 0o100755)]
                self.names.update({c.new_oid: c.path for c in memory})
                if len(memory) == len(changes) or not any(c.path.endswith(".md") for c in changes if c not in memory):
                    return self._objects(writer, oids)
        files, _ = tree_files(self.repo, tree, self.extra)
        self.names.update({oid: path for path, oid in files.items()})
        return self._objects(writer, files.values())

    inside = False

    def _transaction(self, writer: Writer):  # type: ignore[no-untyped-def]
        from contextlib import nullcontext

        return nullcontext() if self.inside else writer.writing()

    # -- snapshots -------------------------------------------------------------------------------------------

    def _tree(self, writer: Writer, key: str, tree: str) -> None:
        files, layout = tree_files(self.repo, tree, self.extra)
        self.names.update({oid: path for path, oid in files.items()})
        if not self._objects(writer, files.values()):
            return
        # Of what is memory, only the instructions at the top are outside the default corpus.
        rows = [EntryRow(path, oid, int("/" in path or in_default_corpus(path, layout))) for path, oid in files.items()]
        with writer.writing():
            writer.put_snapshot(key, rows, time.time_ns(), b"whole")
            writer.evict("tree:", KEPT_TREES)

    def _work_tree(self, writer: Writer, key: str, seen: WorkTree, began: int, trust: bool = True) -> None:
        """Record how the work tree is; `trust` skips all of it when nothing seems to have changed."""
        if trust and writer.scan(key) == seen.scan:
            return  # another process was quicker
        recorded = writer.looks(key)
        changed = [path for path, looks in seen.files.items() if path not in recorded or recorded[path][0] != looks]
        gone = [path for path in recorded if path not in seen.files]
        ignored = self._ignored(writer, key, seen, recorded, changed)
        finished = True
        ordered = sorted(changed, key=_first_things_first)
        for at in range(0, len(ordered), 4096):
            # A slice at a time: what is read and not yet indexed stays small.
            finished = self._files(writer, key, seen, ordered[at : at + 4096], ignored, recorded, began) and finished
            if not finished:
                break
        unread = self._late
        scan = seen.scan if finished and not unread else b""
        if gone or changed or writer.scan(key) != scan:
            with self._transaction(writer):
                writer.change_snapshot(key, gone, [], time.time_ns(), scan)
                if len(changed) > 2000:
                    writer.sort_entries(key)
                writer.set_meta("ignores:" + key, seen.ignores)

    _late = False

    def _files(
        self,
        writer: Writer,
        key: str,
        seen: WorkTree,
        paths: Sequence[str],
        ignored: set[str],
        recorded: Mapping[str, tuple[str, int]],
        began: int,
    ) -> bool:
        assert self.repo.root is not None
        rows: list[EntryRow] = []
        texts: dict[str, bytes] = {}
        for path in paths:
            looks = seen.files[path]
            corpus = int(in_default_corpus(path, seen.layout))
            if racy(looks, began):
                self._late = True
                looks = "? " + looks
            if path in ignored:
                rows.append(EntryRow(path, "", IGNORED, looks))
            elif int(looks.split(" ")[-4]) > LIMIT:
                rows.append(EntryRow(path, "", LARGE, looks))
            else:
                try:
                    data = read_bytes(self.repo.root, path, LIMIT + 1)
                except FileNotFoundError:
                    self._late = True
                    continue
                except (OSError, OutsideRepository):
                    rows.append(EntryRow(path, "", UNREADABLE, looks))
                    continue
                oid = self.repo.hash_blob(data)
                rows.append(EntryRow(path, oid, corpus, looks))
                texts[oid] = data
        missing = set(writer.missing(row.oid for row in rows if row.oid))
        self.names.update({row.oid: row.path for row in rows})
        by_oid = [(oid, texts[oid]) for oid in texts if oid in missing]
        waiting = {row.path: row for row in rows}
        ready_now = [row for row in rows if row.oid not in missing]
        if ready_now:
            with self._transaction(writer):
                writer.change_snapshot(key, [], ready_now, time.time_ns(), b"")
            for row in ready_now:
                del waiting[row.path]
        after: dict[str, list[EntryRow]] = {}
        for row in waiting.values():
            after.setdefault(row.oid, []).append(row)

        def publish(oids: Sequence[str]) -> None:
            entries = [row for oid in oids for row in after.get(oid, ())]
            writer.change_snapshot(key, [], entries, time.time_ns(), b"")

        return self._parse(writer, iter(by_oid), len(by_oid), publish)

    def _ignored(
        self,
        writer: Writer,
        key: str,
        seen: WorkTree,
        recorded: Mapping[str, tuple[str, int]],
        changed: list[str],
    ) -> set[str]:
        """Which files Git ignores: asked for new ones, and for all when the rules changed. Adds to `changed`."""
        if seen.layout.notes and not self.extra:
            return set()
        if writer.meta("ignores:" + key) != seen.ignores:
            asked = list(seen.files)
        else:
            asked = [path for path in seen.files if path not in recorded or recorded[path][1] == IGNORED]
        ignored = self.repo.ignored(asked) if asked else set()
        known = {path for path, row in recorded.items() if row[1] == IGNORED and path in seen.files}
        more = (ignored ^ (known & set(asked))) - set(changed)
        changed.extend(more)
        return ignored | (known - set(asked))

    # -- blobs -----------------------------------------------------------------------------------------------

    def _objects(self, writer: Writer, oids: Iterable[str]) -> bool:
        """Index those of these blobs that are missing, read from Git; whether all of it was done."""
        missing = writer.missing(oids)
        if not missing:
            return True
        sizes = self.repo.sizes(missing)
        large = [
            BlobRow(oid, sizes[oid], 0, 1, f"larger than 1 MiB ({sizes[oid] / LIMIT:.1f} MiB)", Shape(), ())
            for oid in missing
            if sizes.get(oid, 0) > LIMIT
        ]
        if large:
            with self._transaction(writer):
                writer.add_blobs(large)
        wanted = [oid for oid in missing if 0 <= sizes.get(oid, -1) <= LIMIT]
        found = ((oid, data) for oid, data in self.repo.read_many(wanted) if data is not None)
        return self._parse(writer, found, len(wanted), lambda done: None)

    def _parse(
        self,
        writer: Writer,
        blobs: Iterator[tuple[str, bytes]],
        total: int,
        publish: Callable[[Sequence[str]], None],
    ) -> bool:
        """Parse, embed and add blobs, a batch to a transaction; `publish` is called inside each with its oids."""
        if not total:
            return True
        from gitmem.worker import Workers, count, work

        done = 0
        children = count() if total >= MANY else 0
        workers = Workers(children) if children else None
        # Only the table's vectors are made beside the parsing; `full` makes none before it knows which are missing.
        embeds = self.static and not self.inside
        try:
            if workers is not None:
                writer.bulk()
                results = workers.run(_batches(blobs), self.cut, embeds)
            else:
                made = self.embedder if total >= 8 and embeds else None
                results = (work(batch, self.cut, made) for batch in _batches(blobs))
            for rows, vectors in results:
                with self._transaction(writer):
                    fresh = writer.add_blobs(rows)
                    self.work.blobs += len(rows)
                    self.work.chunks += len(fresh)
                    home = {chunk.hash: row.oid for row in rows for chunk in row.chunks}
                    texts = {number: (row.hash, row.text, home[row.hash]) for number, row in fresh.items()}
                    self._embed(writer, texts, vectors)
                    publish([row.oid for row in rows])
                done += len(rows)
                self.say(f"indexed {done} of {total} files")
                if self.clock() > self.deadline and done < total:
                    self.work.unfinished = f"{total - done} files are not indexed yet"
                    return False
        finally:
            if workers is not None:
                workers.close()
        return True

    # -- vectors ---------------------------------------------------------------------------------------------

    def _embedders(self, writer: Writer) -> None:
        """The embedder whose vectors are made: that in force, or the configured one for a new index."""
        from gitmem.embedders import open_embedder, open_in_force

        self.embedder = None
        self.static = self.missing = False
        force = writer.in_force()
        try:
            if force is None:
                self.embedder = open_embedder(self.config.embedder, self.config, directory(self.repo))
                self.static = self.config.embedder == "static"
                dims = self.embedder.dims
                with writer.writing():
                    self.number = writer.embedder(self.embedder.id, self.config.embedder, dims)
                return
            made = open_in_force(force[1], self.config, directory(self.repo))
            if made is not None and made.id == force[0]:
                self.embedder = made
                self.static = force[1] == "static"
                self.number = writer.embedder_number(force[0])
            else:
                self.work.notes.append("the embedder has changed; 'git mem index' makes its vectors")
        except (ModelUnavailable, ImportError) as error:
            self.missing = True
            self.work.notes.append(f"no vectors: {error}")

    def _embed(
        self, writer: Writer, fresh: Mapping[int, tuple[bytes, str, str]], made: Mapping[bytes, tuple[bytes, bytes]]
    ) -> None:
        """Vectors for chunks (hash, text, blob) that have none: those a child made, the rest here."""
        if not fresh:
            return
        if self.embedder is None:
            writer.set_meta("lacking", "yes")
            return
        from gitmem.worker import codes

        wanted = writer.unembedded(self.number, fresh)
        rows = [(number, made[fresh[number][0]]) for number in wanted if fresh[number][0] in made]
        rest = [number for number in wanted if fresh[number][0] not in made]
        if rest:
            try:
                if hasattr(self.embedder, "origins"):
                    self.embedder.origins = [(self.names.get(fresh[n][2], ""), fresh[n][2]) for n in rest]
                rows += zip(rest, codes(self.embedder, [fresh[number][1] for number in rest]), strict=True)
            except ModelUnavailable as error:
                self.work.notes.append(f"no vectors: {error.message}")
                self.embedder = None
                writer.set_meta("lacking", "yes")
                return
        writer.add_vectors(self.number, rows)
        self.work.embedded += len(rows)

    def _switch(self, writer: Writer) -> None:
        """Make the configured embedder's vectors for every chunk that lacks them; then put it in force."""
        from gitmem.embedders import open_embedder

        if self.config.embedder == "static" and self.missing:
            return  # said already: there is no table
        with suppress(ImportError):
            wanted = open_embedder(self.config.embedder, self.config, directory(self.repo))
            force = writer.in_force()
            if force is not None and force[0] == wanted.id and not writer.meta("lacking"):
                return  # every transaction that added a chunk added its vector
            dims = wanted.dims
            with writer.writing():
                number = writer.embedder(wanted.id, self.config.embedder, dims)
            lacking = writer.blobs_without_vectors(number)
            if lacking:
                self.names.update({oid: path for path, oid in self._all_names(writer)})
                self.embedder, self.number = wanted, number
                self._fill(writer, lacking)
                if writer.blobs_without_vectors(number):
                    return
            with writer.writing():
                writer.put_in_force(number)
                writer.set_meta("lacking", "")

    def _fill(self, writer: Writer, oids: Sequence[str]) -> None:
        from gitmem.chunks import digest

        for batch in _batches(self._contents(writer, oids)):
            rows = [digest(oid, data, self.cut) for oid, data in batch]
            texts: dict[int, tuple[bytes, str, str]] = {}
            for row in rows:
                chunks = writer.chunks_of(row.oid)
                if len(chunks) == len(row.chunks):
                    texts.update({n: (c.hash, c.text, row.oid) for n, c in zip(chunks, row.chunks, strict=True)})
            with writer.writing():
                self._embed(writer, texts, {})
            self.say(f"{self.work.embedded} chunks embedded")

    def _all_names(self, writer: Writer) -> Iterator[tuple[str, str]]:
        keys = writer.keys()
        for key in keys:
            for path, (_, oid, _) in writer.recorded(key).items():
                yield path, oid

    def _contents(self, writer: Writer, oids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Blobs from Git; those Git has not, from the work tree."""
        lost = []
        for oid, data in self.repo.read_many(oids):
            if data is None:
                lost.append(oid)
            else:
                yield oid, data
        if lost and self.repo.root is not None:
            paths = {oid: path for path, (_, oid, _) in writer.recorded(work_tree_key(self.repo)).items()}
            for (_, oid), data in read(self.repo, [(paths[oid], oid) for oid in lost if oid in paths]).items():
                yield oid, data


def _batches(blobs: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    size = 0
    for oid, data in blobs:
        batch.append((oid, data))
        size += len(data)
        if len(batch) >= BATCH or size > LIMIT:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _first_things_first(path: str) -> tuple[bool, list[int]]:
    """MEMORY.md, then the latest logs: what a search that runs out of time should have."""
    return (path != "MEMORY.md", [-ord(c) for c in path])
