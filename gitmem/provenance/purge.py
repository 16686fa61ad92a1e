"""`git mem forget --purge`: a fact leaves every file of HEAD (`erasure`), then every commit, and nothing in the Git
directory says it any more.

The record that refuses it for later stays, with its hash. Where something cannot be rewritten, nothing is changed.
Other clones and forges are beyond reach: the caller says what they must do.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import GitFailed, MissingFile, Refused
from gitmem.git import history_rewrite
from gitmem.git.history_filter import Masking
from gitmem.git.history_rewrite import Found, Rewrite, as_words
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository
from gitmem.git.transaction import Reading, writer
from gitmem.index import history_indexer, index_file
from gitmem.index.db import connection
from gitmem.json_values import json_object
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import text_hash
from gitmem.memory.files import read_memory_file
from gitmem.memory.forgotten import MASK, pattern_of
from gitmem.memory.similarity import terms
from gitmem.memory.state import SAYS
from gitmem.provenance.cited_sources import cited
from gitmem.provenance.corrections import Removal
from gitmem.provenance.erasure import Change, Erasure, everywhere_plan, forget_everywhere, forms_of
from gitmem.provenance.remaining_copies import source_texts

STATE = "gitmem"  # the folder of our state in the Git directory
SQLITE = b"SQLite format 3\0"
RECORDS = r"^Memory-Source: [^\n]*sha256:(?:%s)[^\n]*\n?"


@dataclass(frozen=True, slots=True)
class Target:
    """The fact at `path`:`line`, of HEAD, or of the commit `at` where it was forgotten before."""

    path: str
    line: int
    reason: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class Purge:
    """What a purge does, or did. `erasure`: the commit that takes the fact out of HEAD, None where it was forgotten
    before; counts of objects that say the text; `paths`: files of any commit that do; `signed` commits and tags, which
    lose their signatures; `remotes`: refs of remotes, which are deleted; `dropped`: files of the Git directory that
    went; `left`: places below it that still say it, and `head` the new commit."""

    erasure: Erasure | None
    blobs: int
    commits: int
    tags: int
    paths: tuple[str, ...]
    signed: int
    remotes: int = 0
    dropped: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    head: str = ""
    texts: tuple[str, ...] = field(default=(), repr=False)


def plan(repo: Repository, config: Config, target: Target) -> Purge:
    """What `purge` would do. Raises as `purge`; writes nothing."""
    history_rewrite.ensure_can_purge(repo)
    if target.at:
        done = None
    else:
        done = everywhere_plan(config, target.path, target.line, target.reason)(Reading(repo)).result
    texts = _texts(repo, config, target, done)
    found = history_rewrite.said_in(repo, _masking(texts, done))
    _ensure_rewritable(repo, texts, found)
    remotes = sum(1 for _ in repo.refs("refs/remotes/"))
    paths = _paths(repo, found)
    return Purge(
        done, len(found.blobs), len(found.commits), len(found.tags), paths, found.signed, remotes, texts=texts,
    )  # fmt: skip


def purge(repo: Repository, config: Config, target: Target, rebuild: Callable[[Repository], object]) -> Purge:
    """Take the text out of HEAD, then out of history, then out of the Git directory; `rebuild` makes the search index
    anew. `Purge.left` is empty where nothing below the Git directory says it any more.

    Raises Refused where something stands in the way, as `forget_everywhere` does too, with nothing purged; GitFailed
    where Git or git-filter-repo failed: the hint says how to go on.
    """
    planned = plan(repo, config, target)
    before = repo.head() or ""
    try:
        return _purge(repo, config, target, planned, rebuild)
    except GitFailed as error:
        again = f"--at {(target.at or before)[:12]}"
        raise GitFailed(
            error.message, f"the history may be rewritten in part: run the same command with {again}"
        ) from None


def _purge(
    repo: Repository, config: Config, target: Target, planned: Purge, rebuild: Callable[[Repository], object]
) -> Purge:
    done = None
    if not target.at:
        done = forget_everywhere(repo, config, target.path, target.line, target.reason)
    texts = planned.texts
    masking = _masking(texts, done)
    found = history_rewrite.said_in(repo, masking)
    had_index = (index_file.directory(repo) / connection.FILE).exists()
    with writer(repo):
        index_file.discard(repo)
        history_indexer.discard(repo)
        history_rewrite.rewrite(repo, Rewrite(masking, found.changed, RECORDS % "|".join(map(text_hash, texts))))
        repo.close()
        remotes = history_rewrite.remove_old_history(repo)
    fresh = open_repository(repo.root or repo.git_dir, repo.environ)
    try:
        dropped = _drop_state(fresh.common_dir, masking)
        if had_index:
            rebuild(fresh)
        left = _left(fresh, masking)
        head = fresh.head() or ""
    finally:
        fresh.close()
    return Purge(
        done, len(found.blobs), len(found.commits), len(found.tags), planned.paths, found.signed, remotes, dropped,
        left, head, texts,
    )  # fmt: skip


def _texts(repo: Repository, config: Config, target: Target, done: Erasure | None) -> tuple[str, ...]:
    """What is purged: the fact, and the log lines it was taken from that say it in other words."""
    if done is None:
        data = read_memory_file(repo, config, target.path, target.at)
        entry = memory_facts.parse(data).at(target.line)
        if entry is None:
            raise MissingFile(f"there is no fact at {target.path}:{target.line} in that commit", "git mem show --at")
        taken = Removal(target.path, entry.fact, tuple(cited(entry.fact)))
        return forms_of(entry.fact.text, source_texts(repo, taken))
    fact = done.correction.taken[0].fact.text
    wanted = terms(fact)
    removed = {row.text for row in done.lines if not row.verbatim and row.change is Change.REMOVED}
    sources = [text for text in sorted(removed) if len(wanted & terms(text)) >= SAYS * max(1, len(wanted))]
    facts = (
        each.text for text in sources for each in memory_facts.parse(text.encode("utf-8", "surrogateescape")).facts
    )
    return tuple(dict.fromkeys((*done.texts, *facts)))


def _masking(texts: Sequence[str], done: Erasure | None) -> Masking:
    return Masking(pattern_of(texts).pattern, MASK, done.renamed if done else ())


def _ensure_rewritable(repo: Repository, texts: Sequence[str], found: Found) -> None:
    """Raise Refused where the text stands where no rewrite reaches it."""
    pattern = pattern_of(texts)
    for name, _ in repo.refs("refs/"):
        if pattern.search(as_words(name)):
            raise Refused("the name of a branch or tag says it", "first: git branch -m, or git tag -d")
    if found.binary:
        where = ", ".join(_paths(repo, found, frozenset(found.binary))) or "an object of no commit"
        raise Refused(f"a file that is no text says it: {where}", "take it out first: git filter-repo --path")


def _paths(repo: Repository, found: Found, blobs: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The paths that these blobs have in any commit."""
    wanted = blobs or found.blobs
    return tuple(sorted({path for oid, path in history_rewrite.named_objects(repo) if path and oid in wanted}))


def _drop_state(common: Path, masking: Masking) -> tuple[str, ...]:
    """Remove every file of our state that says the text, and all that keep texts in a form that is not searched:
    databases, and what `git mem undo` knows. The names of those that said it."""
    folder = common / STATE
    said = []
    for file in history_rewrite.files_that_say_it(folder, masking) if folder.is_dir() else ():
        said.append(file.relative_to(common).as_posix())
        file.unlink(missing_ok=True)
    for file in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if file.is_file() and not file.is_symlink() and (file.name.startswith("undo-") or _is_database(file)):
            file.unlink(missing_ok=True)
    shutil.rmtree(folder / "writing", ignore_errors=True)
    return tuple(said)


def _is_database(file: Path) -> bool:
    if file.name.endswith(("-wal", "-shm", "-journal")):
        return True
    try:
        with file.open("rb") as data:
            return data.read(len(SQLITE)) == SQLITE
    except OSError:
        return False


def _left(repo: Repository, masking: Masking) -> tuple[str, ...]:
    """What below the Git directory says the text still: objects by kind and oid, files by name."""
    found = history_rewrite.said_in(repo, masking)
    objects = [
        f"{kind} {oid[:12]}" for kind, oids in (
            ("blob", found.blobs), ("commit", found.commits), ("tag", found.tags), ("tree", found.trees)
        ) for oid in sorted(oids)
    ]  # fmt: skip
    files = history_rewrite.files_that_say_it(repo.common_dir, masking)
    return (*objects, *(file.relative_to(repo.common_dir).as_posix() for file in files))


def as_value(done: Purge) -> dict[str, object]:
    """The JSON of docs/json.md, "git mem forget --purge"."""
    return json_object(done, "blobs commits tags paths signed remotes dropped left head?")


__all__ = ["Purge", "Target", "as_value", "plan", "purge"]
