"""What one fact is attributed to: which commits recorded it, which sources support it, who edited it since.

One judgement serves `why`, `verify` and `review`. Reads only, committed history only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from gitmem.git.objects import Commit, Span
from gitmem.git.ranges import shallow
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, Meta, id_of_hash, text_hash
from gitmem.memory.similarity import likeness, terms
from gitmem.paths import log_date
from gitmem.provenance.authorship import by_machine, named
from gitmem.provenance.cited_sources import Source, SourceReader, cited, facts_at, file_meta, inherit, merged, verified
from gitmem.provenance.grounding import WORDS, Support, unsupported
from gitmem.provenance.ledger import Ledger, Record, span_key
from gitmem.provenance.wording import wording

STEPS = 20  # commits that touched a line and are followed for who changed its text
TEXT = "text"  # what an edit changed, beside the keys of the comment


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a fact after its promotion. `old` is the fact before (its text "" where no version of it is left),
    `changed` what differs: TEXT, keys of the comment. `recorded`: the commit says itself that it is an edit."""

    commit: Commit
    old: Fact
    changed: tuple[str, ...]
    recorded: bool = False

    @property
    def by(self) -> str:
        """Who made it, as `Name <e-mail>`."""
        return named(self.commit.author)

    @property
    def machine(self) -> bool:
        return by_machine(self.commit)

    def values(self, fact: Fact) -> list[tuple[str, str, str]]:
        """(what, before, now) of each difference to the fact as it is now."""
        if TEXT in self.changed:
            sides = [(TEXT, self.old.text, fact.text)]
        else:
            sides = []
        keys = [key for key in self.changed if key != TEXT]
        return sides + [(key, _values(self.old.meta, key), _values(fact.meta, key)) for key in keys]


@dataclass(frozen=True, slots=True)
class Attribution:
    """`problem` says in words why a text does not follow or which source is missing, "" where all is well. `records`
    are the commits that recorded the text, newest first; `promoted` whether one of them names the model that proposed
    it, as every promotion does."""

    support: Support
    sources: tuple[Source, ...]
    problem: str = ""
    records: tuple[Record, ...] = ()
    edit: Edit | None = None
    promoted: bool = False

    @property
    def words(self) -> str:
        """The one sentence that every command says of it."""
        if self.edit:
            return f"{WORDS[self.support]} by {self.edit.by}"
        return WORDS[self.support]


class Attributor:
    """Judges the facts of one commit (`at`, "" before the first); each file of history is read once."""

    def __init__(self, repo: Repository, at: str, known: Ledger, globs: Sequence[str] | None = None) -> None:
        self.repo, self.at, self.known = repo, at, known
        self.reader = SourceReader(repo, at, globs)
        self._facts: dict[str, list[Fact]] = {}

    @cached_property
    def present(self) -> frozenset[str]:
        """The ids of long-term memory's facts at the commit."""
        if not self.at:
            return frozenset()
        return frozenset(fact.id for _, _, fact in facts_at(self.repo, self.at))

    def attribution(self, path: str, fact: Fact, line_commit: Callable[[], Commit | None]) -> Attribution:
        """What the fact is attributed to. `line_commit` finds the commit that last touched its line, None for an
        uncommitted one; it is asked only where that matters."""
        digest = text_hash(fact.text)
        records = tuple(self.known.recorded.get(digest, ()))
        edit = self.edit_of(path, fact, records, line_commit)
        sources = [self.reader.read(fact, span, records) for span in self.spans(fact, records)]
        there = [source for source in sources if not source.problem]
        problem = next((source.problem for source in sources if source.problem), "")
        if there:
            told = [self.reader.says(source) for source in there]
            texts = [text for each in told for text in each.texts]
            days = [day for source in there if (day := log_date(source.recorded.path))]
            refuted = unsupported(fact.text, texts, days)
            about = [label for each in told for label in each.trail]
            said = wording(fact.text, [*about, *(text for each in told for text in each.said)], days)
            if edit:
                unlike = ""
            else:
                unlike = said.words
            problem = refuted or unlike or problem
            if said.same:
                support = Support.IN_SOURCE
            else:
                support = Support.SHARES_WORDS
            if refuted:
                support = Support.NOT_IN_SOURCE
        else:
            support = Support.NO_SOURCE
        if edit:
            support = Support.EDITED
        shown = tuple(verified(source, support is Support.IN_SOURCE) for source in sources)
        promoted = any(record.model(digest) for record in records)
        return Attribution(support, shown, problem, records, edit, promoted)

    def spans(self, fact: Fact, records: Sequence[Record]) -> list[Span]:
        """The sources in its comment, and those that its newest record names."""
        digest = text_hash(fact.text)
        linked = [link.source for record in records[:1] for link in record.sources if link.sha256 == digest]
        return merged(cited(fact), [span for span in linked if span])

    # -- edits -----------------------------------------------------------------------------------------------

    def edit_of(
        self, path: str, fact: Fact, records: Sequence[Record], line_commit: Callable[[], Commit | None]
    ) -> Edit | None:
        """How the fact was changed after its promotion; None where it was not, or where none promoted it."""
        digest = text_hash(fact.text)
        promotions = [record for record in records if not self._edits(record, digest)]
        if records and not promotions:
            return self._recorded_edit(path, records[0], digest)
        if promotions:
            return self._comment_edit(fact, promotions[0], line_commit)
        spans = cited(fact)
        if any(span_key(span) in self.known.by_span for span in spans):
            return self._edit_by_hand(fact, spans, line_commit)
        if not spans:
            return None
        return self._edit_after_squash(path, fact, line_commit)

    def _edits(self, record: Record, digest: str) -> bool:
        """Whether a record replaced a text that was there, or that was promoted, by `digest`."""
        old = record.replaced(digest)
        if not old or record.model(digest):
            return False
        return old in self.known.recorded or any(self._version(parent, record, old) for parent in record.commit.parents)

    def _recorded_edit(self, path: str, record: Record, digest: str) -> Edit:
        old = record.replaced(digest)
        versions = (self._version(parent, record, old) for parent in record.commit.parents)
        before = next((fact for fact in versions if fact), None) or self._promoted(old)
        return Edit(record.commit, before or Fact("", id_of_hash(old), 0), (TEXT,), recorded=True)

    def _comment_edit(self, fact: Fact, record: Record, line_commit: Callable[[], Commit | None]) -> Edit | None:
        """A change of the comment alone, since the commit that promoted the text."""
        before = self._version(record.commit.oid, record, text_hash(fact.text))
        if before:
            keys = differing(before.meta, fact.meta)
        else:
            keys = ()
        commit = None
        if keys:
            commit = line_commit()
        if before and commit:
            return Edit(commit, before, keys)
        return None

    def _edit_by_hand(self, fact: Fact, spans: Sequence[Span], line_commit: Callable[[], Commit | None]) -> Edit | None:
        """Another text under the source of a promoted one that is no longer there."""
        given = {digest for span in spans for digest in self.known.by_span.get(span_key(span), ())}
        lost = [digest for digest in sorted(given) if id_of_hash(digest) not in self.present]
        olds = [before for digest in lost if (before := self._promoted(digest))]
        commit = None
        if lost:
            commit = line_commit()
        if commit is None:
            return None
        words = terms(fact.text)
        # One of them it was: which is the nearest, whether or not they are alike.
        old = max(
            olds, key=lambda before: likeness(words, terms(before.text)), default=Fact("", id_of_hash(lost[0]), 0)
        )
        return Edit(commit, old, (TEXT, *differing(old.meta, fact.meta)) if olds else (TEXT,))

    def _edit_after_squash(self, path: str, fact: Fact, line_commit: Callable[[], Commit | None]) -> Edit | None:
        """Who changed the text of a fact whose trailers were lost: followed by its source through STEPS commits."""
        sources = {span_key(span) for span in cited(fact)}
        commit = line_commit()
        cut = shallow(self.repo)
        for _ in range(STEPS):
            if commit is None or not commit.parents or commit.oid in cut:
                return None
            parent = commit.parents[0]
            before = self.facts_in(parent, path)
            same = [old for old in before if sources & {span_key(span) for span in cited(old)}]
            if not same:
                return None
            old = next((old for old in same if old.id == fact.id), None)
            if old is None:
                return Edit(commit, same[0], (TEXT,))
            rows = self.repo.blame(path, old.line, old.end, parent)
            commit = newest(self.repo, [self.repo.commit(oid) for oid in dict.fromkeys(row.commit for row in rows)])
        return None

    def _promoted(self, digest: str) -> Fact | None:
        """A text as the newest commit that recorded it has it."""
        versions = (self._version(record.commit.oid, record, digest) for record in self.known.recorded.get(digest, ()))
        return next((fact for fact in versions if fact), None)

    def _version(self, commit: str, record: Record, digest: str) -> Fact | None:
        """The fact with this text in the files that a record speaks of, as they are at `commit`."""
        links = (*record.sources, *record.rejected)
        targets = dict.fromkeys(link.target for link in links if link.sha256 == digest and link.target)
        facts = (fact for target in targets for fact in self.facts_in(commit, target))
        return next((fact for fact in facts if fact.id == id_of_hash(digest)), None)

    def facts_in(self, commit: str, path: str) -> list[Fact]:
        """The facts of a file at a commit, none where it is not there."""
        oid = self.repo.blobs(commit, [path]).get(path, "")
        if oid not in self._facts:
            data = b""
            if oid:
                data = self.repo.read(oid)
            whole = file_meta(data)
            self._facts[oid] = [inherit(fact, whole) for fact in memory_facts.parse(data).facts]
        return self._facts[oid]


def newest(repo: Repository, commits: Sequence[Commit]) -> Commit:
    """The last of the commits (one at least) that touched the lines of one fact: by date, then the descendant."""
    last = commits[0]
    for commit in commits[1:]:
        later = commit.commit_date > last.commit_date
        if later or (commit.commit_date == last.commit_date and repo.is_ancestor(last.oid, commit.oid)):
            last = commit
    return last


def differing(old: Meta, new: Meta) -> tuple[str, ...]:
    """The keys of two comments whose values differ, in order."""
    keys = dict.fromkeys(key for key, _ in (*old, *new))
    return tuple(key for key in keys if _values(old, key) != _values(new, key))


def _values(meta: Meta, key: str) -> str:
    return " ".join(value for name, value in meta if name == key)
