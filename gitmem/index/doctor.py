"""Checks for `git mem doctor`: unfinished runs, and whether the index holds what it should.

`examine` reads every memory file again, derives the rows that should be stored, and compares them with the index. It
changes nothing.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from zlib import crc32

from gitmem.config import Config
from gitmem.errors import IndexDamaged, ModelUnavailable
from gitmem.gate.setup_checks import Check
from gitmem.git.commit import IN_PROGRESS
from gitmem.git.opening import Repository
from gitmem.git.recovery import RECORD
from gitmem.git.scratch_files import scratch_files
from gitmem.index import db
from gitmem.index.chunks import blob_row
from gitmem.index.db import inspection, snapshots
from gitmem.index.db.reader import Index
from gitmem.index.db.values import BlobRow, Cut, pack_shape
from gitmem.index.index_file import directory
from gitmem.index.parse_workers import codes
from gitmem.index.status import changed_files
from gitmem.memory.snapshot import read_hits, read_work_tree, tree_files, work_tree_key
from gitmem.messages import Message, joined
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from gitmem.plural import counted
from gitmem.shell_word import shell_word

FULL = "git mem index --full"
REPAIR = "git mem doctor --repair"


def unfinished(repo: Repository) -> list[Check]:
    """One failed check for each thing that a killed run or Git left: Git's lock, a record of writing, scratch files, a
    merge or rebase in progress. [] if there is none."""
    checks = []
    lock = repo.git_dir / "index.lock"
    if lock.exists():
        problem = "Git's index is locked: a git is at work here, or was killed"
        checks.append(Check("lock", problem, Message("if no git runs any more: {}", f"rm {shell_word(str(lock))}")))
    if (repo.git_dir / RECORD).exists():
        problem = "a git mem that was writing files was killed, or is at work"
        checks.append(Check("writing", problem, Message("{} puts back what is still as it wrote it", REPAIR)))
    elif files := scratch_files(repo):
        problem = Message(
            "{} of a git mem that was killed, or is at work, may hold text of memory", counted(len(files), "file")
        )
        checks.append(Check("writing", problem, Message("{} deletes what a killed one left", REPAIR)))
    for name, (operation, continue_command) in IN_PROGRESS.items():
        if (repo.git_dir / name).exists():
            hint = Message("{}, or {}", continue_command, continue_command.replace("--continue", "--abort"))
            checks.append(
                Check("in progress", Message("{} has not ended: git mem commits nothing meanwhile", operation), hint)
            )
    return checks


def examine(repo: Repository, config: Config) -> list[Check]:
    """Compare the files, chunks, words and vectors of the index with the files in Git and the work tree. A check that
    fails may end the later ones. Damage is a check that fails. Raises IndexUnusable for an index of a newer version, of
    another user or behind a symbolic link."""
    checks: list[Check] = []
    tracked = [e.path for e in repo.staged() if e.path.rsplit("/", 1)[-1].startswith(db.FILE)]
    if tracked:
        checks.append(
            Check("not tracked", Message("Git tracks {}", tracked[0]), f"git rm --cached -- {shell_word(tracked[0])}")
        )
    checks += _unwritable(repo)
    try:
        index = db.open_index(directory(repo))
    except IndexDamaged as error:
        return [*checks, Check("file", error.message, REPAIR)]
    if index is None:
        return [*checks, Check("file", "", "", "no index yet: the first search makes it")]
    try:
        checks += _compare(repo, config, index)
    except IndexDamaged as error:
        checks.append(Check("file", error.message, REPAIR))
    finally:
        index.close()
    return checks


def _unwritable(repo: Repository) -> list[Check]:
    """A check that names the folder of the index, or the file in it, that cannot be written; [] if all can be. It has
    failed unless the whole Git directory cannot be written, as on a read-only mount: searches work there too."""
    folder = directory(repo)
    places = [folder, *sorted(folder.glob("*.sqlite*"))]
    closed = [place for place in places if place.exists() and not os.access(place, os.W_OK)]
    if not os.access(repo.common_dir, os.W_OK):
        detail = Message("nothing can be written in {}: a search without a current index makes one", repo.common_dir)
        return [Check("writable", detail=detail)]
    if not closed:
        return []
    problem = Message("{} cannot be written, and so the index is not kept current", closed[0])
    return [Check("writable", problem, f"chmod -R u+rwX {shell_word(str(folder))}")]


def _compare(repo: Repository, config: Config, index: Index) -> Iterator[Check]:
    """Compare each part of the index with the files. A damaged database ends the checks after the first."""
    place = str(directory(repo) / db.FILE)
    damage = inspection.integrity(index.database)
    if damage:
        yield Check("file", Message("SQLite finds it damaged: {}", damage), REPAIR, place)
        return
    yield Check("file", "", "", place)
    wrong, later, files = _tree(repo, config, index)
    about = joined(", ", [counted(len(files), "file"), *later])
    yield _check("tree", wrong, "git mem index", about)
    rows = _derived(repo, config, files)
    wrong, chunks = _chunks(index, rows)
    yield _check("chunks", wrong, FULL, counted(len(chunks), "chunk"))
    wrong = _words(index, chunks)
    yield _check("words", wrong, REPAIR, f"of {counted(len(chunks), 'chunk')}, counted again")
    yield _vectors(config, index, chunks)


def _check(name: str, wrong: str, hint: str, about: str) -> Check:
    """A check, with the hint only if something is wrong."""
    if not wrong:
        hint = ""
    return Check(name, wrong, hint, about)


def _tree(repo: Repository, config: Config, index: Index) -> tuple[str, list[str], dict[str, tuple[str, str]]]:
    """Compare the list of files.

    Returns what is wrong ("" for nothing), phrases about files that the next search will read, and oid -> (path,
    commit or "" for the work tree) of every indexed blob.
    """
    listed: dict[str, tuple[str, str]] = {}
    problem = ""
    reasons_to_read: list[str] = []
    if repo.root is not None:
        key = work_tree_key(repo)
        work_tree = read_work_tree(repo, config.memory_paths)
        recorded = snapshots.entries(index.database, key)
        indexed = {path: row for path, row in recorded.items() if row.corpus >= 0}
        unchanged = read_hits(repo, [(path, row.oid) for path, row in indexed.items()])
        changed = changed_files(index, key, work_tree)
        differing = [path for path, row in indexed.items() if (path, row.oid) not in unchanged and path not in changed]
        differing += [path for path in work_tree.files if path not in recorded and path not in changed]
        if changed:
            reasons_to_read.append(f"{counted(len(changed), 'file')} changed since: the next search reads them")
        if differing:
            problem = f"not as indexed: {counted(len(differing), 'file')} of the work tree"
        listed.update({oid: (path, "") for path, oid in unchanged})
    commit = repo.head()
    if commit:
        files, _ = tree_files(repo, repo.tree(commit), config.memory_paths)
        missing = {oid for oid in files.values() if inspection.stored_blob(index.database, oid) is None}
        covered = snapshots.covered(index.database).values()
        if missing and any(covered_tree.split(":")[0] == repo.tree(commit) for covered_tree in covered):
            problem = problem or f"not indexed, though it says so: {counted(len(missing), 'file')} of HEAD"
        for path, oid in files.items():
            if oid not in missing:
                listed.setdefault(oid, (path, commit))
        if missing:
            reasons_to_read += [f"{len(missing)} of HEAD not indexed yet"]
    return problem, reasons_to_read, listed


def _derived(repo: Repository, config: Config, files: dict[str, tuple[str, str]]) -> Iterator[BlobRow]:
    """The rows that should be stored for these files, from their bytes."""
    cut = Cut(config.chunk_size, config.chunk_overlap)
    work = {(path, oid) for oid, (path, commit) in files.items() if not commit}
    for (_, oid), data in read_hits(repo, sorted(work)).items():
        yield blob_row(oid, data, cut)
    sizes = repo.sizes([oid for oid, (_, commit) in files.items() if commit])
    for oid, contents in repo.read_many([oid for oid, size in sizes.items() if size <= MAX_MEMORY_FILE_BYTES]):
        if contents is not None:
            yield blob_row(oid, contents, cut)


def _chunks(index: Index, rows: Iterator[BlobRow]) -> tuple[str, dict[int, tuple[int, str]]]:
    """Compare the stored blobs and chunks. Returns what is wrong and chunk -> (sum of its words, text to embed)."""
    chunks: dict[int, tuple[int, str]] = {}
    wrong = 0
    for row in rows:
        stored = inspection.stored_blob(index.database, row.oid)
        if stored is None:
            continue  # reported by the check of the tree
        right = (row.bytes, row.secrets, row.skipped, pack_shape(row.shape)) == stored[:4]
        expected = [(c.hash, c.length, c.start, c.end, c.heading) for c in row.chunks]
        if not right or [tuple(place[1:]) for place in stored.places] != expected:
            wrong += 1
            continue
        for place, chunk in zip(stored.places, row.chunks, strict=True):
            chunks[place[0]] = (_sum(chunk.heading_words, "heading") + _sum(chunk.body_words, "body"), chunk.text)
    if not wrong:
        return "", chunks
    return f"not stored as they are: {counted(wrong, 'file')}", chunks


def _sum(words: str, column: str) -> int:
    """A checksum of the words of a column with their positions."""
    return sum(crc32(f"{word}\0{column}\0{at}".encode()) for at, word in enumerate(words.split()))


def _words(index: Index, chunks: dict[int, tuple[int, str]]) -> str:
    """Compare the stored words with the sums in `chunks`. Returns what is wrong, "" for nothing."""
    sums: dict[int, int] = defaultdict(int)
    for term, chunk, column, offset in inspection.all_postings(index.database):
        if chunk in chunks:
            sums[chunk] += crc32(f"{term}\0{column}\0{offset}".encode())
    wrong = sum(sums[chunk] != total for chunk, (total, _) in chunks.items())
    if not wrong:
        return ""
    return f"other words than their text: {counted(wrong, 'chunk')}"


def _vectors(config: Config, index: Index, chunks: dict[int, tuple[int, str]]) -> Check:
    """Compare stored vectors with new ones. No text is sent to an endpoint."""
    from gitmem.models.embedding import is_remote, open_embedder_of_index

    vectors = {chunk: inspection.stored_vector(index.database, chunk) for chunk in chunks}
    stored = {chunk: vector for chunk, vector in vectors.items() if vector}
    about = counted(len(stored), "vector")
    in_force = index.in_force()
    bare = len(chunks) - len(stored)
    if bare and in_force is None:
        return _check("vectors", "no chunk has a vector", "git mem index", about)
    if bare:
        words = f"{counted(bare, 'chunk')} {'has' if bare == 1 else 'have'} no vector"
        return _check("vectors", words, "git mem index", about)
    if in_force is None or is_remote(in_force.spec):
        return _check("vectors", "", "", about)
    try:
        embedder = open_embedder_of_index(in_force.spec, config)
    except (ModelUnavailable, ImportError):
        return _check("vectors", "", "", about)
    if embedder is None or embedder.id != in_force.name:
        return _check("vectors", "the embedder that made the vectors has changed", "git mem index", about)
    wrong = 0
    numbers = list(chunks)
    for start in range(0, len(numbers), 256):
        batch = numbers[start : start + 256]
        for number, made in zip(batch, codes(embedder, [chunks[n][1] for n in batch]), strict=True):
            wrong += not _close(stored[number], made)
    words = ""
    if wrong:
        words = f"not of their text: {counted(wrong, 'vector')}"
    return _check("vectors", words, REPAIR, about)


def _close(stored: tuple[bytes, bytes], made: tuple[bytes, bytes]) -> bool:
    """Whether two vectors, each (sign bits, int8 numbers), are equal up to rounding: another machine may add sums in
    another order. No number may differ by more than 2, and at most one sign in 32 may differ. Vectors of different
    lengths are not equal."""
    if stored == made:
        return True
    if len(stored[1]) != len(made[1]) or len(stored[0]) != len(made[0]):
        return False
    far = sum(abs((x ^ 128) - (y ^ 128)) > 2 for x, y in zip(stored[1], made[1], strict=True))
    return far == 0 and (int.from_bytes(stored[0]) ^ int.from_bytes(made[0])).bit_count() <= len(stored[1]) // 32
