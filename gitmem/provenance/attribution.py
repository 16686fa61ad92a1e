"""Finds, for a fact, the commits that recorded it, the sources that support it, and the last edit since.

`why`, `verify` and `review` all use this module. Reads committed history only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from gitmem.git.objects import Commit, Span
from gitmem.git.repository import Repository
from gitmem.memory.fact import Fact, cited_spans, names_fact, text_hash
from gitmem.paths import log_date
from gitmem.provenance import cited_sources
from gitmem.provenance.cited_text import CitedText
from gitmem.provenance.fact_edits import MAX_STEPS, TEXT, Edit, EditFinder, FactHistory, newest_commit
from gitmem.provenance.grounding import WORDS, Support, support_problem
from gitmem.provenance.ledger import Ledger, Record
from gitmem.provenance.wording import wording


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where a fact comes from, and whether its sources support it.

    `support`: how its sources support it. `sources`: the lines that it comes from. `problem`: why the sources do not
    support the text, or which source is missing; "" when all is well. `records`: the commits that recorded the text,
    newest first. `edit`: the last change after the promotion, None without one. `promoted`: one of the records names
    the model that proposed the text, as every promotion does.
    """

    support: Support
    sources: tuple[cited_sources.Source, ...]
    problem: str = ""
    records: tuple[Record, ...] = ()
    edit: Edit | None = None
    promoted: bool = False

    @property
    def words(self) -> str:
        """The sentence that every command shows for the support of the fact."""
        if self.edit is None:
            return WORDS[self.support]
        words = f"{WORDS[self.support]} by {self.edit.by}"
        if TEXT in self.edit.changed:
            return words
        return f"its text is unchanged, its comment was {words}"


class Attributor:
    """Finds where the facts of `commit` come from, with caches for the files of its history. `commit` "": no commit
    yet."""

    def __init__(self, repo: Repository, commit: str, ledger: Ledger, globs: Sequence[str] | None = None) -> None:
        self.repo, self.commit, self.ledger = repo, commit, ledger
        self.reader = cited_sources.SourceReader(repo, commit, globs)
        self.history = FactHistory(repo)
        self.edits = EditFinder(self.history, commit, ledger)

    def attribution(self, path: str, fact: Fact, line_commit: Callable[[], Commit | None]) -> Attribution:
        """Where a fact comes from: the commits that recorded it, its sources and whether they support it, and its last
        edit. `line_commit` returns the commit that last touched its line, None for an uncommitted line; it is called
        only when it is needed, because it runs blame."""
        digest = text_hash(fact.text)
        records = tuple(self.ledger.recorded.get(digest, ()))
        edit = self.edits.edit(path, fact, records, line_commit)
        sources = [self.reader.read(fact, span, records) for span in self.cited_spans(fact, records)]
        support, problem = self._support(fact, sources, edited=edit is not None)
        shown = tuple(cited_sources.with_verification(source, support is Support.IN_SOURCE) for source in sources)
        promoted = any(record.model(digest) for record in records)
        return Attribution(support, shown, problem, records, edit, promoted)

    def _support(self, fact: Fact, sources: Sequence[cited_sources.Source], *, edited: bool) -> tuple[Support, str]:
        """(support, problem) of an attribution with these sources, by `support_verdict`."""
        missing = next((source.problem for source in sources if source.problem), "")
        sources_found = [source for source in sources if not source.problem]
        cited_texts = [self.reader.cited_text(source) for source in sources_found]
        days = list(filter(None, [log_date(source.recorded.path) for source in sources_found]))
        return support_verdict(fact.text, cited_texts, days, missing=missing, edited=edited)

    def cited_spans(self, fact: Fact, records: Sequence[Record]) -> list[Span]:
        """The sources that the fact's comment and its newest record name, without repeats."""
        digest = text_hash(fact.text)
        linked = [link.source for record in records[:1] for link in record.sources if link.sha256 == digest]
        return cited_sources.merge_spans(cited_spans(fact.meta), [span for span in linked if span])

    def commit_of_link(self, path: str, ident: str, key: str, linked: str) -> Commit | None:
        """The first commit in which the comment of the fact `ident`, in the file `path`, named the fact `linked` with
        `key`. None when no commit has such a comment, and when more than MAX_STEPS commits changed the line later."""
        later_commit, last_change = self.commit, None
        for _ in range(MAX_STEPS):
            facts = (fact for fact in self.history.facts_in(later_commit, path) if fact.id == ident)
            fact = next((fact for fact in facts if names_fact(fact.meta, (key,), linked)), None)
            if fact is None:
                return last_change
            last_change = newest_commit(self.repo, self.history.line_commits(later_commit, path, fact))
            if not last_change.parents:
                return last_change
            later_commit = last_change.parents[0]
        return None


def support_verdict(
    text: str, cited_texts: Sequence[CitedText], days: Sequence[date], *, missing: str, edited: bool
) -> tuple[Support, str]:
    """(how the sources of a fact support its text, why they do not or which source is missing, "" when all is well).

    `cited_texts`: what the sources say that were found. `days`: the days of the logs among them. `missing`: the problem
    of a source that was not found, "" if none. `edited`: the fact was edited since its promotion, be it only its
    comment; then it is EDITED, whatever its sources say. A fact without a source that was found is NO_SOURCE. Pure.
    """
    support, problem = Support.NO_SOURCE, missing
    if cited_texts:
        contradiction = support_problem(text, [source for cited in cited_texts for source in cited.texts], days)
        labels = [label for cited in cited_texts for label in cited.trail]
        statements = [statement for cited in cited_texts for statement in cited.statements]
        comparison = wording(text, [*labels, *statements], days)
        if contradiction:
            support = Support.NOT_IN_SOURCE
        elif comparison.same:
            support = Support.IN_SOURCE
        else:
            support = Support.SHARES_WORDS
        if contradiction or not edited:
            problem = contradiction or comparison.words or missing
    if edited:
        support = Support.EDITED
    return support, problem
