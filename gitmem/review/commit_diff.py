"""Finds the changed facts between two commits, each with the commit and author of its change, for `git mem changes`
and `git mem review`, and the renamed files. Only reads the repository."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from gitmem.git.objects import EXECUTABLE, REGULAR, Change, Commit
from gitmem.git.ranges import PathChange, touched
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.memory import facts as memory_facts
from gitmem.memory.arrivals import LASTING, AddingCommits, adding_commits
from gitmem.memory.fact import Fact, text_hash
from gitmem.memory.facts import expired
from gitmem.memory.forgotten import Forgotten
from gitmem.paths import Kind, Layout, holds_instructions, is_memory, kind
from gitmem.provenance.authorship import agent_of_commit, shown_name
from gitmem.provenance.cited_sources import facts_at
from gitmem.provenance.ledger import read_ledger
from gitmem.review.fact_diff import FactChange, Op, compare_facts

FILE_MODES = (REGULAR, EXECUTABLE)

MAX_REMOVER_COMMITS = 500  # commits of one file, and merges, that are searched for the one that removed a fact


def changed_files(repo: Repository, base: str, head: str, layout: Layout) -> list[Change]:
    """The memory files that differ between two commits; `base` is "" for an empty tree. A rename is a removal and an
    addition."""
    return [change for change in repo.changes(base, head) if is_memory(change.path, layout)]


def range_revisions(base: str, head: str) -> list[str]:
    """The revision arguments that make Git list the commits of `head` that `base` ("" for none) does not contain."""
    if base:
        return [head, f"^{base}"]
    return [head]


def facts_by_path(repo: Repository, oids: Mapping[str, str]) -> dict[str, list[Fact]]:
    """The facts by path, for blobs by path. A blob with NUL bytes has no facts; a blob that is missing or above
    MAX_MEMORY_FILE_BYTES is left out."""
    facts = {}
    for path, data in read_small_blobs(repo, oids.items()):
        text = data if b"\0" not in data else b""
        facts[path] = memory_facts.reviewed_facts(path, memory_facts.parse(text))
    return facts


def fact_changes(
    repo: Repository, base: str, head: str, layout: Layout, today: date, *, authors: bool = True
) -> list[FactChange]:
    """The changed facts from `base` ("" for an empty tree) to `head`, in order of path and line.

    An added fact is PROMOTED when a promotion in the range recorded it. A fact of MEMORY.md that stands in its place
    but whose last day passed between the dates of the two commits is EXPIRED, and so is a removed fact whose last day
    is before `today`. `authors`: look up the commit of each change.
    """
    files = changed_files(repo, base, head, layout)
    old = {c.old_path or c.path: c.old_oid for c in files if c.status != "A" and c.old_mode in FILE_MODES}
    new = {c.path: c.new_oid for c in files if c.status != "D" and c.new_mode in FILE_MODES}
    changes = compare_facts(facts_by_path(repo, old), facts_by_path(repo, new), today, renames(repo, base, head, files))
    if base:
        changes += _newly_expired(repo, base, head, {(change.path, change.fact.id) for change in changes})
    changes.sort(key=lambda change: (change.path, change.fact.line))
    commits: list[Commit] = []
    if files:
        commits = list(repo.log(range_revisions(base, head)))
        recorded = read_ledger(repo, range_revisions(base, head)).recorded
        promoted = {digest for digest, rows in recorded.items() if not all(row.replaced_text(digest) for row in rows)}
        for number, change in enumerate(changes):
            if change.op is Op.ADDED and kind(change.path) in LASTING and text_hash(change.fact.text) in promoted:
                changes[number] = replace(change, op=Op.PROMOTED)
    if authors:
        return Authors(repo, commits, base, head).attribute(changes)
    return changes


def without_forgotten(changes: Sequence[FactChange], forgotten: Forgotten) -> list[FactChange]:
    """The changes with every forgotten text masked in facts and trails; ids stay as they are."""

    def masked(fact: Fact | None) -> Fact | None:
        return fact and fact._replace(text=forgotten.masked(fact.text), trail=tuple(map(forgotten.masked, fact.trail)))

    if not forgotten:
        return list(changes)
    return [replace(change, old=masked(change.old), new=masked(change.new)) for change in changes]


class MergeBases(NamedTuple):
    """The further merge bases of the branch tip `head` and the `target` it is merged into, without the base that the
    review compares with. Empty unless the two branches merged each other."""

    bases: tuple[str, ...]
    head: str
    target: str


def with_facts_removed_by_merge(
    repo: Repository, changes: Sequence[FactChange], merges: MergeBases, layout: Layout, today: date
) -> list[FactChange]:
    """`changes` and the facts of the target that the merge would remove or edit by another merge base, in order of path
    and line.

    Git merges against all merge bases at once, so the merge also removes a fact that another base and the target have
    but `head` has not. An edit found this way replaces the addition of the same line in `changes`. An addition that
    another base has already is left out.
    """
    rows = list(changes)
    for base in merges.bases:
        known_facts = {(change.old_path or change.path, change.old.id) for change in rows if change.old}
        since = fact_changes(repo, base, merges.head, layout, today)
        old = {(c.old_path or c.path, c.old.id): c for c in since if c.old and (c.new is None or c.new.id != c.old.id)}
        changed = {(change.path, change.new.line) for change in since if change.new}
        rows = [row for row in rows if row.op is not Op.ADDED or not row.new or (row.path, row.new.line) in changed]
        if not old:
            continue
        target_facts = facts_by_path(repo, repo.blobs(merges.target, sorted({path for path, _ in old})))
        in_target = {(path, fact.id) for path, facts in target_facts.items() for fact in facts}
        lost = [change for key, change in old.items() if key in in_target - known_facts]
        edited = {(change.path, change.new.line) for change in lost if change.new}
        rows = [c for c in rows if c.old or not c.new or (c.path, c.new.line) not in edited] + lost
    return sorted(rows, key=lambda change: (change.path, change.fact.line))


def _newly_expired(repo: Repository, base: str, head: str, known_facts: set[tuple[str, str]]) -> list[FactChange]:
    """The facts of MEMORY.md at `head` that expired between the commit dates of `base` and `head`, without the (path,
    id) in `known_facts`."""
    since, now = (repo.commit(oid).commit_date.date() for oid in (base, head))
    if since >= now:
        return []
    return [
        FactChange(Op.EXPIRED, path, fact, fact, path)
        for path, _, fact in facts_at(repo, head, ("MEMORY.md", ".claude/MEMORY.md"))
        if expired(fact, now) and not expired(fact, since) and (path, fact.id) not in known_facts
    ]


class Authors:
    """Finds the commit of each change in a range.

    A fact that exists belongs to the first commit that brought its text, or else its comment, to its place. A removed
    fact belongs to the newest commit that removed it. A fact that only expired in its place belongs to no commit.
    """

    def __init__(self, repo: Repository, commits: Sequence[Commit], base: str, head: str) -> None:
        self.repo, self.base, self.head = repo, base, head
        self.commits = {commit.oid: commit for commit in commits}
        self.versions: dict[str, list[tuple[Commit, PathChange]]] = defaultdict(list)  # newest first
        for oid, items in touched(repo, self.commits):
            for item in items:
                self.versions[item.path].append((self.commits[oid], item))
        self.merges = [commit for commit in commits if len(commit.parents) > 1]
        self.ids: dict[str, frozenset[str]] = {}  # blob -> ids of its facts

    def attribute(self, changes: Sequence[FactChange]) -> list[FactChange]:
        """The changes in the same order, each with its commit, author and date; unchanged where no commit is found."""
        placed = [(change.path, change.new) for change in changes if change.new]
        brought = adding_commits(self.repo, self.base, self.head, placed)
        removed: dict[str, set[str]] = defaultdict(set)  # path -> ids
        for change in changes:
            if not change.new:
                removed[change.path].add(change.fact.id)
        removers = {path: self._removing_commits(path, idents) for path, idents in removed.items()}
        attributed = []
        for change in changes:
            if change.new:
                commits = self._adding_commits(change, brought)
            else:
                commits = removers[change.path].get(change.fact.id, [])
            attributed.append(_with_author(change, commits))
        return attributed

    def _adding_commits(self, change: FactChange, brought: AddingCommits) -> list[Commit]:
        """The commits that brought a fact to its place, oldest first; of a fact with a new comment only the newest."""
        new = change.new
        if new is None or has_lapsed(change):
            return []
        oids = brought.texts[change.path, new.id] or brought.comments[change.path, new.id, new.meta][-1:]
        return [self.commits.get(oid) or self.repo.commit(oid) for oid in oids]

    def _removing_commits(self, path: str, idents: set[str]) -> dict[str, list[Commit]]:
        """Fact id -> [the newest commit that removed the fact from the file, else the merge that took the side without
        it], among the MAX_REMOVER_COMMITS newest of each. An id whose commit is not found has no row."""
        removers: dict[str, list[Commit]] = {}
        for commit, item in self.versions[path][:MAX_REMOVER_COMMITS]:
            if len(removers) == len(idents):
                return removers
            for ident in self._lost_ids(item.olds, item.new_oid) & idents:
                removers.setdefault(ident, [commit])
        for commit in self.merges[:MAX_REMOVER_COMMITS]:
            if len(removers) == len(idents):
                break
            new, *olds = (self.repo.blobs(oid, [path]).get(path, "") for oid in (commit.oid, *commit.parents))
            for ident in self._lost_ids(olds, new) & idents:
                removers.setdefault(ident, [commit])
        return removers

    def _lost_ids(self, olds: Iterable[str], new: str) -> frozenset[str]:
        """The ids of the facts that one of the blobs `olds` has and the blob `new` lacks."""
        return frozenset[str]().union(*map(self._ids_in, olds)) - self._ids_in(new)

    def _ids_in(self, oid: str) -> frozenset[str]:
        """The ids of the facts in a blob; none for "" and for a blob above MAX_MEMORY_FILE_BYTES. Cached in
        `self.ids`."""
        if oid and oid not in self.ids:
            blobs = read_small_blobs(self.repo, [("", oid)])
            self.ids[oid] = frozenset(fact.id for _, data in blobs for fact in memory_facts.parse(data).facts)
        return self.ids.get(oid, frozenset())


def _with_author(change: FactChange, commits: Sequence[Commit]) -> FactChange:
    """The change with the first of `commits` as its commit; unchanged when there is none.

    `by_machine` is set when any of the commits is by an agent: a fact that a person removed and an agent put back
    counts as the agent's.
    """
    if not commits:
        return change
    first = commits[0]
    return replace(
        change, commit=first.oid, author=shown_name(first.author), date=first.author_date,
        by_machine=any(map(agent_of_commit, commits)), agent=agent_of_commit(first),
    )  # fmt: skip


def has_lapsed(change: FactChange) -> bool:
    """Whether the last day of an unchanged fact passed (`Op.EXPIRED`), so that no commit made the change."""
    return change.op is Op.EXPIRED and change.old is change.new


def renames(repo: Repository, base: str, head: str, files: Sequence[Change]) -> Mapping[str, str]:
    """Path at `head` -> path at `base` of each renamed file among `files` that is of the same kind as before. `files`:
    the changes from `base` to `head`, in which a rename is a removal and an addition. Empty when `base` is ""."""
    removed = {change.path for change in files if change.status == "D" and change.old_mode in FILE_MODES}
    added = {change.path for change in files if change.status == "A" and change.new_mode in FILE_MODES}
    if not base or not removed or not added:
        return {}
    return {
        change.path: change.old_path
        for change in repo.changes(base, head, renames=True)
        if change.status == "R" and change.path in added and change.old_path in removed and _keeps_role(change)
    }


def _keeps_role(change: Change) -> bool:
    """Whether a renamed file is of the same kind as before, and holds instructions if and only if it did before.
    MEMORY.md may also become a note."""
    old_kind, new_kind = kind(change.old_path), kind(change.path)
    same_kind = old_kind is new_kind or (new_kind is Kind.NOTE and old_kind is Kind.MEMORY)
    return same_kind and holds_instructions(change.old_path) == holds_instructions(change.path)
