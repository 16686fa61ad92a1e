"""Two commits compared by their facts, each change with who made it: behind `changes` and `review`. Reads only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from gitmem.git.objects import EXECUTABLE, REGULAR, Change, Commit
from gitmem.git.ranges import PathChange, touched
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.arrivals import LASTING, Arrivals, arrivals
from gitmem.memory.fact import Fact, text_hash
from gitmem.memory.facts import expired
from gitmem.memory.forgotten import Forgotten
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Layout, is_memory, kind
from gitmem.provenance.authorship import agent_of_commit, named
from gitmem.provenance.cited_sources import facts_at
from gitmem.provenance.ledger import read_ledger
from gitmem.review.fact_diff import FactChange, Op, compare
from gitmem.review.renames import renames

FILES = (REGULAR, EXECUTABLE)
WALK = 500  # commits of one file looked at for who removed a fact


def changed_files(repo: Repository, base: str, head: str, layout: Layout) -> list[Change]:
    """Memory files that differ between two commits (`base` "" for nothing), renames as removal and addition."""
    return [change for change in repo.changes(base, head) if is_memory(change.path, layout)]


def facts_of(repo: Repository, oids: Mapping[str, str]) -> dict[str, list[Fact]]:
    """path -> facts, for path -> blob; blobs beyond LIMIT and those with NUL bytes, which are no text, have none."""
    sizes = repo.sizes(list(oids.values()))
    small = {
        path: oid for path, oid in oids.items() if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES
    }
    facts = {}
    for path, (_, data) in zip(small, repo.read_many(list(small.values())), strict=True):
        text = b""
        if data and b"\0" not in data:
            text = data
        facts[path] = memory_facts.reviewed_facts(path, memory_facts.parse(text))
    return facts


def fact_changes(
    repo: Repository, base: str, head: str, layout: Layout, today: date, *, authors: bool = True
) -> list[FactChange]:
    """The changes of facts from `base` to `head`; `base` is "" for none. `authors`: add the commit of each change."""
    files = changed_files(repo, base, head, layout)
    old = facts_of(repo, {c.old_path or c.path: c.old_oid for c in files if c.status != "A" and c.old_mode in FILES})
    new = facts_of(repo, {c.path: c.new_oid for c in files if c.status != "D" and c.new_mode in FILES})
    changes = compare(old, new, today, renames(repo, base, head, files))
    if base:
        changes += _newly_expired(repo, base, head, {(change.path, change.fact.id) for change in changes})
    changes.sort(key=lambda change: (change.path, change.fact.line))
    if base:
        revisions = [head, f"^{base}"]
    else:
        revisions = [head]
    if files:
        commits = list(repo.log(revisions))
    else:
        commits = []
    if files:
        recorded = read_ledger(repo, revisions).recorded
    else:
        recorded = {}
    promoted = {digest for digest, rows in recorded.items() if not all(row.replaced(digest) for row in rows)}
    for at, change in enumerate(changes):
        if change.op is Op.ADDED and kind(change.path) in LASTING and text_hash(change.fact.text) in promoted:
            changes[at] = replace(change, op=Op.PROMOTED)
    if authors:
        return Authors(repo, commits, base, head).attribute(changes)
    return changes


def without_forgotten(changes: Sequence[FactChange], forgotten: Forgotten) -> list[FactChange]:
    """The changes as they are told once a person took texts out: the ids stay, the texts do not."""

    def masked(fact: Fact | None) -> Fact | None:
        return fact and fact._replace(text=forgotten.masked(fact.text), trail=tuple(map(forgotten.masked, fact.trail)))

    if not forgotten:
        return list(changes)
    return [replace(change, old=masked(change.old), new=masked(change.new)) for change in changes]


class MergeBases(NamedTuple):
    """Of two branches that merged each other, `head` and `target`, which takes it, the merge bases but the first."""

    bases: tuple[str, ...]
    head: str
    target: str


def with_facts_removed_by_merge(
    repo: Repository, changes: Sequence[FactChange], merges: MergeBases, layout: Layout, today: date
) -> list[FactChange]:
    """`changes`, and those since each of the merge bases that take out or edit a fact of the target; by path and line.

    Git merges against all of them at once; where a review compares with one, what another and the target have and the
    head has not is taken out too. An edit takes the place of the addition that the first comparison had for it.
    """
    told = list(changes)
    for base in merges.bases:
        known = {(change.old_path or change.path, change.old.id) for change in told if change.old}
        since = fact_changes(repo, base, merges.head, layout, today)
        old = {(c.old_path or c.path, c.old.id): c for c in since if c.old and (c.new is None or c.new.id != c.old.id)}
        if old:
            oids = repo.blobs(merges.target, sorted({path for path, _ in old}))
        else:
            oids = {}
        standing = {(path, fact.id) for path, facts in facts_of(repo, oids).items() for fact in facts}
        more = [change for key, change in old.items() if key in standing - known]
        edited = {(change.path, change.new.line) for change in more if change.new}
        told = [c for c in told if c.old or not c.new or (c.path, c.new.line) not in edited] + more
    return sorted(told, key=lambda change: (change.path, change.fact.line))


def _newly_expired(repo: Repository, base: str, head: str, known: set[tuple[str, str]]) -> list[FactChange]:
    """Facts of MEMORY.md that still stand at `head` and whose `until` passed since `base`."""
    since, now = (repo.commit(oid).commit_date.date() for oid in (base, head))
    if since >= now:
        return []
    rows = [(path, fact) for path, _, fact in facts_at(repo, head, ("MEMORY.md", ".claude/MEMORY.md"))]
    return [
        FactChange(Op.EXPIRED, path, fact, fact, path)
        for path, fact in rows
        if expired(fact, now) and not expired(fact, since) and (path, fact.id) not in known
    ]


class Authors:
    """Who made each change of a range: the first commit that brought the fact, or its comment, to where it is now; of
    what is gone, the newest commit that took it out. What only lapsed (its last day passed) nobody did.
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
        """The same changes, each with its commit where that can be told."""
        placed = [(change.path, change.new) for change in changes if change.new]
        brought = arrivals(self.repo, self.base, self.head, placed)
        removers: dict[tuple[str, str], Commit] = {}
        for path in dict.fromkeys(change.path for change in changes if not change.new):
            removers |= self._removers(path, _removed_ids(change for change in changes if change.path == path))
        return [self._attributed(change, brought, removers) for change in changes]

    def _attributed(
        self, change: FactChange, brought: Arrivals, removers: Mapping[tuple[str, str], Commit]
    ) -> FactChange:
        new = change.new
        if new is None:
            remover = removers.get((change.path, change.fact.id))
            if remover:
                return _with_author(change, [remover])
            return change
        if lapsed(change):
            return change
        made = brought.texts[change.path, new.id]
        if not made:  # its comment alone is another
            made = brought.comments[change.path, new.id, new.meta][-1:]
        commits = [self.commits.get(oid) or self.repo.commit(oid) for oid in made]
        if commits:
            return _with_author(change, commits)
        return change

    def _removers(self, path: str, wanted: set[str]) -> dict[tuple[str, str], Commit]:
        """(path, fact id) -> the newest commit whose version lacks a fact that its parent's has, else the merge that
        took the side without it."""
        removers: dict[tuple[str, str], Commit] = {}
        for commit, item in self.versions[path][:WALK]:
            if len(removers) == len(wanted):
                return removers
            for ident in self._lost_ids(item.olds, item.new_oid) & wanted:
                removers.setdefault((path, ident), commit)
        for commit in self.merges[:WALK]:
            if len(removers) == len(wanted):
                break
            new, *olds = (self.repo.blobs(oid, [path]).get(path, "") for oid in (commit.oid, *commit.parents))
            for ident in self._lost_ids(olds, new) & wanted:
                removers.setdefault((path, ident), commit)
        return removers

    def _lost_ids(self, olds: Iterable[str], new: str) -> frozenset[str]:
        """The ids of the facts that one of the blobs `olds` has and `new` has not."""
        return frozenset[str]().union(*map(self._facts, olds)) - self._facts(new)

    def _facts(self, oid: str) -> frozenset[str]:
        if oid and oid not in self.ids:
            small = self.repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES
            if small:
                facts = memory_facts.parse(self.repo.read(oid)).facts
            else:
                facts = []
            self.ids[oid] = frozenset(fact.id for fact in facts)
        return self.ids.get(oid, frozenset())


def _removed_ids(changes: Iterable[FactChange]) -> set[str]:
    """The ids of the facts that are no more."""
    return {change.old.id for change in changes if change.old and not change.new}


def _with_author(change: FactChange, commits: Sequence[Commit]) -> FactChange:
    """The change, made by the first of the commits; by a machine where one of them is, which so takes no person's name:
    what an agent puts back after a person took it out is the agent's."""
    first = commits[0]
    machine = next((agent for commit in commits if (agent := agent_of_commit(commit))), "")
    return replace(
        change, commit=first.oid, author=named(first.author), date=first.author_date, by_machine=bool(machine),
        agent=agent_of_commit(first),
    )  # fmt: skip


def lapsed(change: FactChange) -> bool:
    """Whether the last day of a fact passed while it stood where it stands: nobody did that."""
    return change.op is Op.EXPIRED and change.old is change.new


def as_value(change: object) -> dict[str, object]:
    """The JSON of docs/json.md, "changes"."""
    from gitmem.review.fact_diff import FactChange

    assert isinstance(change, FactChange)
    return {
        **change.event_value(),
        "sources": [value for key, value in change.fact.meta if key == "src"],
        "commit": change.commit or None,
        "author": change.author or None,
        "date": change.date.isoformat() if change.date else None,
    }
