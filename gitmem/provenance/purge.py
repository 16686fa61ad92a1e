"""`git mem forget --purge`: removes a fact from every file of HEAD (`erasure`), then from every commit, then from the
rest of the Git directory.

The `Memory-Rejected` trailer with the hash of the fact stays, so that it is not promoted again. When something cannot
be rewritten, nothing is changed. Other clones and forges keep the text; the caller says what to do there.
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
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository
from gitmem.git.transaction import Reading, writer
from gitmem.index import history_indexer, index_file
from gitmem.index.db import connection
from gitmem.json_values import json_keys
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import cited_spans, text_hash
from gitmem.memory.files import read_memory_file
from gitmem.memory.forgotten import MASK, pattern_of
from gitmem.memory.similarity import terms
from gitmem.memory.state import SAYS
from gitmem.provenance.corrections import Removal
from gitmem.provenance.erased_lines import Change
from gitmem.provenance.erasure import Erasure, everywhere_plan, forget_everywhere, text_forms
from gitmem.provenance.remaining_copies import source_texts

STATE = "gitmem"  # the folder of our state in the Git directory
SQLITE_HEADER = b"SQLite format 3\0"
SOURCE_TRAILERS = r"^Memory-Source: [^\n]*sha256:(?:%s)[^\n]*\n?"  # those of the hashes in place of %s


@dataclass(frozen=True, slots=True)
class Target:
    """The fact at `path`:`line` to purge. `at`: a commit that has it, when HEAD does not have it any more; else ""."""

    path: str
    line: int
    reason: str
    at: str = ""


@json_keys("blobs commits tags paths signed remotes dropped left head?")
@dataclass(frozen=True, slots=True)
class Purge:
    """What a purge will do, or has done. `erasure`: the removal from HEAD, None when HEAD did not have the fact.
    `texts`: the texts that are purged.

    JSON: `blobs`, `commits`, `tags`: how many of each said it. `paths`: the files in any commit. `signed`: how many
    commits and tags had a signature. `remotes`: how many refs of remotes were deleted. `dropped`, `left`: what went,
    and what still says it, below the Git directory. `head`: null for a dry run.
    """

    erasure: Erasure | None
    blobs: int  # objects with the text, as are `commits` and `tags`
    commits: int
    tags: int
    paths: tuple[str, ...]  # files with the text, in any commit
    signed: int  # commits and tags that lose their signature
    remotes: int = 0  # refs of remotes, which are deleted
    dropped: tuple[str, ...] = ()  # deleted files of the Git directory
    left: tuple[str, ...] = ()  # objects and files of the Git directory that still have the text
    head: str = ""  # the new commit
    texts: tuple[str, ...] = field(default=(), repr=False)


def plan_purge(repo: Repository, config: Config, target: Target) -> Purge:
    """What `purge` would do. Writes nothing. Raises Refused when the text is where no rewrite reaches it (the name of a
    ref, a file that is no text), MissingFile or UnknownFact when there is no such fact, GitMemError for uncommitted
    edits."""
    history_rewrite.ensure_can_purge(repo)
    erasure = None
    if not target.at:
        erasure = everywhere_plan(config, target.path, target.line, target.reason)(Reading(repo)).result
    texts = _texts(repo, config, target, erasure)
    found = history_rewrite.said_in(repo, _masking(texts, erasure))
    _ensure_rewritable(repo, texts, found)
    remotes = sum(1 for _ in repo.refs("refs/remotes/"))
    paths = _paths(repo, found)
    return Purge(
        erasure, blobs=len(found.blobs), commits=len(found.commits), tags=len(found.tags), paths=paths,
        signed=found.signed, remotes=remotes, texts=texts,
    )  # fmt: skip


def purge(repo: Repository, config: Config, target: Target, rebuild: Callable[[Repository], object]) -> Purge:
    """Remove the text from HEAD, from the history and from the Git directory. `rebuild`: builds the search index again.

    Raises Refused, with nothing changed, when the text is where no rewrite reaches it or another fact cites a line with
    it; MissingFile or UnknownFact when there is no such fact, GitMemError for uncommitted edits. Raises GitFailed when
    Git or git-filter-repo fails; its hint says how to go on.
    """
    planned = plan_purge(repo, config, target)
    old_head = repo.head() or ""
    try:
        return _purge(repo, config, target, planned, rebuild)
    except GitFailed as error:
        again = f"--at {(target.at or old_head)[:12]}"
        raise GitFailed(
            error.message, f"the history may be rewritten in part: run the same command with {again}"
        ) from None


def _purge(
    repo: Repository, config: Config, target: Target, planned: Purge, rebuild: Callable[[Repository], object]
) -> Purge:
    """Carry out a planned purge."""
    erasure = None
    if not target.at:
        erasure = forget_everywhere(repo, config, target.path, target.line, target.reason)
    texts = planned.texts
    masking = _masking(texts, erasure)
    found = history_rewrite.said_in(repo, masking)
    had_index = (index_file.directory(repo) / connection.FILE).exists()
    with writer(repo):
        index_file.discard(repo)
        history_indexer.discard(repo)
        records = SOURCE_TRAILERS % "|".join(map(text_hash, texts))
        history_rewrite.rewrite(repo, history_rewrite.Rewrite(masking, found.changed, records))
        repo.close()
        remotes = history_rewrite.remove_old_history(repo)
    reopened = open_repository(repo.root or repo.git_dir, repo.environ)
    try:
        dropped = _drop_state(reopened.common_dir, masking)
        if had_index:
            rebuild(reopened)
        remaining = _remaining(reopened, masking)
        head = reopened.head() or ""
    finally:
        reopened.close()
    return Purge(
        erasure, blobs=len(found.blobs), commits=len(found.commits), tags=len(found.tags), paths=planned.paths,
        signed=found.signed, remotes=remotes, dropped=dropped, left=remaining, head=head, texts=texts,
    )  # fmt: skip


def _texts(repo: Repository, config: Config, target: Target, erasure: Erasure | None) -> tuple[str, ...]:
    """The texts to purge: the fact, and its source lines that say it in other words. Raises MissingFile if no fact is
    at the line of `target`."""
    if erasure is None:
        data = read_memory_file(repo, config, target.path, target.at)
        entry = memory_facts.parse(data).at(target.line)
        if entry is None:
            raise MissingFile(f"there is no fact at {target.path}:{target.line} in that commit", "git mem show --at")
        removal = Removal(target.path, entry.fact, tuple(cited_spans(entry.fact.meta)))
        return text_forms(entry.fact.text, source_texts(repo, removal))
    fact_terms = terms(erasure.correction.removals[0].fact.text)
    removed = {row.text for row in erasure.lines if not row.verbatim and row.change is Change.REMOVED}
    texts = list(erasure.texts)
    texts += [sentence for row in erasure.lines for sentence in row.said]  # an episode's own words for it
    for line in sorted(removed):
        if len(fact_terms & terms(line)) >= SAYS * max(1, len(fact_terms)):
            facts = memory_facts.parse(line.encode("utf-8", "surrogateescape")).facts
            texts += [fact.text for fact in facts]
    return tuple(dict.fromkeys(texts))


def _masking(texts: Sequence[str], erasure: Erasure | None) -> Masking:
    return Masking(pattern_of(texts).pattern, MASK, erasure.renamed if erasure else ())


def _ensure_rewritable(repo: Repository, texts: Sequence[str], objects: history_rewrite.Found) -> None:
    """Raise Refused when the text is in the name of a ref or in a binary file, which a rewrite does not change."""
    pattern = pattern_of(texts)
    for name, _ in repo.refs("refs/"):
        if pattern.search(history_rewrite.as_words(name)):
            raise Refused("the name of a branch or tag says it", "first: git branch -m, or git tag -d")
    if objects.binary:
        where = ", ".join(_paths(repo, objects, frozenset(objects.binary))) or "an object of no commit"
        raise Refused(f"a file that is no text says it: {where}", "take it out first: git filter-repo --path")


def _paths(repo: Repository, objects: history_rewrite.Found, blobs: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The paths of `blobs`, or of all blobs found, in any commit, sorted."""
    oids = blobs or objects.blobs
    return tuple(sorted({path for oid, path in history_rewrite.named_objects(repo) if path and oid in oids}))


def _drop_state(common: Path, masking: Masking) -> tuple[str, ...]:
    """Delete the files of our state that have the text, and those that cannot be searched for it: databases and the
    files of `git mem undo`. Returns the names of those that have it, relative to the Git directory."""
    folder = common / STATE
    if not folder.is_dir():
        return ()
    names = []
    for file in history_rewrite.files_that_say_it(folder, masking):
        names.append(file.relative_to(common).as_posix())
        file.unlink(missing_ok=True)
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink() and (file.name.startswith("undo-") or _is_database(file)):
            file.unlink(missing_ok=True)
    shutil.rmtree(folder / "writing", ignore_errors=True)
    return tuple(names)


def _is_database(file: Path) -> bool:
    """Whether a file is an SQLite database or belongs to one; False for an unreadable file."""
    if file.name.endswith(("-wal", "-shm", "-journal")):
        return True
    try:
        with file.open("rb") as data:
            return data.read(len(SQLITE_HEADER)) == SQLITE_HEADER
    except OSError:
        return False


def _remaining(repo: Repository, masking: Masking) -> tuple[str, ...]:
    """The objects (kind and oid) and files of the Git directory that still have the text."""
    objects = history_rewrite.said_in(repo, masking)
    names = [
        f"{kind} {oid[:12]}" for kind, oids in (
            ("blob", objects.blobs), ("commit", objects.commits), ("tag", objects.tags), ("tree", objects.trees)
        ) for oid in sorted(oids)
    ]  # fmt: skip
    files = history_rewrite.files_that_say_it(repo.common_dir, masking)
    return (*names, *(file.relative_to(repo.common_dir).as_posix() for file in files))
