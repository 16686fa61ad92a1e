"""Selects the statements of recent daily logs that are compared with the facts of MEMORY.md to ask a person. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from gitmem.memory.fact import Fact, cited_spans
from gitmem.memory.facts import fact_of
from gitmem.memory.rivals import PlacedFact
from gitmem.memory.statements import TEXT_FORMS, Statement

RECENT_DAYS = 14  # age of the daily logs, at most, whose lines are compared with the facts


class RecentLines:
    """The statements of the logs of the last RECENT_DAYS before `today` that no fact of `known` repeats or cites."""

    def __init__(self, facts: Iterable[Fact], today: date) -> None:
        facts = list(facts)
        self.ids = {fact.id for fact in facts}
        self.cited = [span for fact in facts for span in cited_spans(fact.meta)]
        self.today = today

    def are_in_log_of(self, day: date) -> bool:
        """Whether the log of a day is recent: at most RECENT_DAYS old, and not of a day after `today`."""
        return self.today - timedelta(days=RECENT_DAYS) <= day <= self.today

    def of_log(self, path: str, day: date, statements: Iterable[Statement]) -> Iterator[PlacedFact]:
        """Yield the items, paragraphs and quotations of one log, in order, each as the fact that it would be. Those
        that a known fact repeats or cites are left out; nothing is yielded for a log older than RECENT_DAYS."""
        if not self.are_in_log_of(day):
            return
        spans = [span for span in self.cited if span.path == path]
        for statement in statements:
            if not is_comparable(statement):
                continue
            fact = fact_of(statement)
            if fact.id not in self.ids and not any(span.overlaps(path, fact.line, fact.end) for span in spans):
                yield PlacedFact(path, fact, day.isoformat())


def is_comparable(statement: Statement) -> bool:
    """Whether a statement of a log can be compared with facts: it is an item, a paragraph or a quotation with text."""
    return statement.form in TEXT_FORMS and bool(statement.text)
