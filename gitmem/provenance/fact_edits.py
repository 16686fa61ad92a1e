"""Finds the last edit of a fact after its promotion.

The first case that holds decides. A commit is an edit if its trailers say that the text replaces another one.

| the commits that recorded the text | the fact | the edit |
|---|---|---|
| one of them is no edit | has another comment than there | of the comment, by the commit of its line |
| all are edits | | the newest of them, which its trailers record |
| none | cites the source of promoted texts that are gone from memory | by hand, by the commit of its line |
| none | cites a source of no record | after a squash: the commit of its line that changed its text |
| none | cites no source | none |

No edit (None) also means that the commits here do not tell: the line is not committed, the promotion is not here, or
the history is shallow. Every caller treats the two alike. Reads committed history only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from gitmem.git.objects import Commit, Span
from gitmem.git.ranges import shallow
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, Meta, cited_spans, id_of_hash, text_hash
from gitmem.memory.similarity import likeness, terms
from gitmem.provenance import cited_sources
from gitmem.provenance.authorship import actor, by_machine, shown_name
from gitmem.provenance.ledger import Ledger, Record, span_key

MAX_STEPS = 20  # commits that touched a line and that are searched for an edit of its text
TEXT = "text"  # in `Edit.changed`: the text of the fact, beside the keys of its comment


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a fact after its promotion, by the commit `commit`.

    `old`: the fact before the edit; its text is "" when no commit here has it. `changed`: TEXT if the text differs, and
    the keys of the comment that differ. `recorded`: the trailers of the commit say that it is an edit.
    """

    commit: Commit
    old: Fact
    changed: tuple[str, ...]
    recorded: bool = False

    @property
    def by(self) -> str:
        """Who made the edit, for people to read: the author as `Name <e-mail>`. For an edit of the comment alone also
        the model or the agent that acted, if there is one (`actor`)."""
        if TEXT in self.changed:
            return shown_name(self.commit.author)
        return actor(self.commit)

    @property
    def machine(self) -> bool:
        return by_machine(self.commit)

    def values(self, fact: Fact) -> list[tuple[str, str, str]]:
        """(TEXT or key, value before, value now) for each changed part. `fact`: the fact as it is now."""
        rows = []
        if TEXT in self.changed:
            rows.append((TEXT, self.old.text, fact.text))
        keys = [key for key in self.changed if key != TEXT]
        return rows + [(key, _values(self.old.meta, key), _values(fact.meta, key)) for key in keys]


class FactHistory:
    """The facts of a repository's files at any commit, with a cache by blob, and the commits of their lines."""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo
        self._facts: dict[str, list[Fact]] = {}

    def line_commits(self, commit: str, path: str, fact: Fact) -> list[Commit]:
        """The commits that last touched the lines of a fact of the file as it is at `commit`, without
        repeats."""
        rows = self.repo.blame(path, fact.line, fact.end, commit)
        return [self.repo.commit(oid) for oid in dict.fromkeys(row.commit for row in rows)]

    def facts_in(self, commit: str, path: str) -> list[Fact]:
        """The facts of a file at a commit, each with the keys of the file's front matter; [] when the commit has no
        such file."""
        oid = self.repo.blobs(commit, [path]).get(path, "")
        if not oid:
            return []
        if oid not in self._facts:
            data = self.repo.read(oid)
            of_file = cited_sources.file_meta(data)
            self._facts[oid] = [cited_sources.with_file_keys(fact, of_file) for fact in memory_facts.parse(data).facts]
        return self._facts[oid]


class EditFinder:
    """Finds the edits of the facts of `commit`. `commit` "": no commit yet."""

    def __init__(self, history: FactHistory, commit: str, ledger: Ledger) -> None:
        self.history, self.commit, self.ledger = history, commit, ledger

    @cached_property
    def present_ids(self) -> frozenset[str]:
        """The ids of the facts of long-term memory at `commit`."""
        return frozenset(fact.id for _, _, fact in cited_sources.facts_at(self.history.repo, self.commit))

    def edit(
        self, path: str, fact: Fact, records: Sequence[Record], line_commit: Callable[[], Commit | None]
    ) -> Edit | None:
        """The change of the fact after its promotion, by the table of the module. None when it was not changed, was
        never promoted, or the commits here do not tell. `records`: the commits that recorded its text, newest first.
        `line_commit`: as in `Attributor.attribution`."""
        digest = text_hash(fact.text)
        promotions = [record for record in records if not self._is_edit(record, digest)]
        if promotions:
            return self._comment_edit(fact, promotions[0], line_commit)
        if records:
            return self._recorded_edit(records[0], digest)
        spans = cited_spans(fact.meta)
        if any(span_key(span) in self.ledger.by_span for span in spans):
            return self._edit_by_hand(fact, spans, line_commit)
        if not spans:
            return None
        return self._edit_after_squash(path, fact, line_commit)

    def _is_edit(self, record: Record, digest: str) -> bool:
        """Whether the record added the text `digest` in place of a text that was promoted, or that a parent has."""
        replaced_digest = record.replaced_text(digest)
        if not replaced_digest or record.model(digest):
            return False
        return replaced_digest in self.ledger.recorded or self._version_before(record, replaced_digest) is not None

    def _recorded_edit(self, record: Record, digest: str) -> Edit:
        """The edit that the trailers of a commit record."""
        old = record.replaced_text(digest)
        fact = self._version_before(record, old) or self._promoted_fact(old) or Fact("", id_of_hash(old), 0)
        return Edit(record.commit, fact, (TEXT,), recorded=True)

    def _comment_edit(self, fact: Fact, record: Record, line_commit: Callable[[], Commit | None]) -> Edit | None:
        """The edit of the fact's comment since the commit that promoted its text. None when the comment is the same,
        when that commit lacks the fact and when the line is not committed."""
        recorded_fact = self._version(record.commit.oid, record, text_hash(fact.text))
        if recorded_fact is None:
            return None
        keys = differing_keys(recorded_fact.meta, fact.meta)
        if not keys or (commit := line_commit()) is None:
            return None
        return Edit(commit, recorded_fact, keys)

    def _edit_by_hand(self, fact: Fact, spans: Sequence[Span], line_commit: Callable[[], Commit | None]) -> Edit | None:
        """The edit of a fact that cites the source of a promoted text which is no longer in memory; of several such
        texts the likest one counts. None when all of them are still in memory, or the line is not committed."""
        promoted = {digest for span in spans for digest in self.ledger.by_span.get(span_key(span), ())}
        lost = [digest for digest in sorted(promoted) if id_of_hash(digest) not in self.present_ids]
        lost_facts = list(filter(None, map(self._promoted_fact, lost)))
        if not lost or (commit := line_commit()) is None:
            return None
        if not lost_facts:
            return Edit(commit, Fact("", id_of_hash(lost[0]), 0), (TEXT,))
        words = terms(fact.text)
        likest = max(lost_facts, key=lambda lost_fact: likeness(words, terms(lost_fact.text)))
        return Edit(commit, likest, (TEXT, *differing_keys(likest.meta, fact.meta)))

    def _edit_after_squash(self, path: str, fact: Fact, line_commit: Callable[[], Commit | None]) -> Edit | None:
        """The edit of a fact whose trailers a squash lost. Follows the line with blame through MAX_STEPS commits, until
        a fact of the same source has another text. None if the text was never another, as far as these commits tell."""
        sources = {span_key(span) for span in cited_spans(fact.meta)}
        commit = line_commit()
        shallow_commits = shallow(self.history.repo)
        for _ in range(MAX_STEPS):
            if commit is None or not commit.parents or commit.oid in shallow_commits:
                return None
            parent = commit.parents[0]
            facts = self.history.facts_in(parent, path)
            same_source = [old for old in facts if sources & {span_key(span) for span in cited_spans(old.meta)}]
            if not same_source:
                return None
            fact_before = next((old for old in same_source if old.id == fact.id), None)
            if fact_before is None:
                return Edit(commit, same_source[0], (TEXT,))
            commit = newest_commit(self.history.repo, self.history.line_commits(parent, path, fact_before))
        return None

    def _promoted_fact(self, digest: str) -> Fact | None:
        """The fact with the text `digest` in the newest commit that recorded it and still has it; None if there is
        none."""
        versions = (self._version(record.commit.oid, record, digest) for record in self.ledger.recorded.get(digest, ()))
        return next(filter(None, versions), None)

    def _version_before(self, record: Record, digest: str) -> Fact | None:
        """The fact with the text `digest` in the first parent of the record's commit that has it; None if none has
        it."""
        versions = (self._version(parent, record, digest) for parent in record.commit.parents)
        return next(filter(None, versions), None)

    def _version(self, commit: str, record: Record, digest: str) -> Fact | None:
        """The fact with the text `digest` at `commit`, in the files that the record names for it; None without one."""
        links = (*record.sources, *record.rejected)
        targets = dict.fromkeys(link.target for link in links if link.sha256 == digest and link.target)
        facts = (fact for target in targets for fact in self.history.facts_in(commit, target))
        return next((fact for fact in facts if fact.id == id_of_hash(digest)), None)


def newest_commit(repo: Repository, commits: Sequence[Commit]) -> Commit:
    """The newest of the commits (at least one) by commit date; of two of the same second, the descendant."""
    newest = commits[0]
    for commit in commits[1:]:
        later = commit.commit_date > newest.commit_date
        if later or (commit.commit_date == newest.commit_date and repo.is_ancestor(newest.oid, commit.oid)):
            newest = commit
    return newest


def differing_keys(old: Meta, new: Meta) -> tuple[str, ...]:
    """The keys whose values differ between two comments, also keys that only one of them has, in order."""
    keys = dict.fromkeys(key for key, _ in (*old, *new))
    return tuple(key for key in keys if _values(old, key) != _values(new, key))


def _values(meta: Meta, key: str) -> str:
    return " ".join(value for name, value in meta if name == key)
