"""The page Facts: the facts of the snapshot with filters, or the hits of a search with the parts of their scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.memory.fact import ORIGINS
from gitmem.memory.writing import FACT_TYPES
from gitmem.provenance.present_facts import AGES, STATES, TRUST_STATES, FactFilter, PresentFact
from gitmem.search.hits import Hit
from gitmem.search.query import Query
from gitmem.search.results import marked_words
from gitmem.search.search import search
from gitmem.search.weights import MEANING, WORDS
from gitmem.ui.charts import Piece, stacked_bar
from gitmem.ui.pages.first_steps import Step, first_steps
from gitmem.ui.pages.notes import file_paths, page_of
from gitmem.ui.view import View

MAX_FACTS = 50  # on one page
MAX_HITS = 30  # on one page
MAX_HITS_BEFORE_FILTERS = 120  # that are searched when filters may remove some
MAX_TYPES = 20  # in the choice of a filter, the most frequent ones
MAX_TAGS = 40
MAX_PATHS = 40

FILTERS = tuple(field.name for field in fields(FactFilter))  # fields of the query
SEARCH_FILTERS = frozenset({"type", "tag", "path"})  # filters that a search applies itself (`_query`)

ORDER_TITLES = {  # value of `sort` in the query -> title
    "": "as in the files", "newest": "newest", "type": "type", "importance": "importance", "ending": "ending soon",
}  # fmt: skip


class ScorePart(NamedTuple):
    """A kind of evidence that a score is made of. `evidence`: its names in `Hit.explain`."""

    title: str
    evidence: tuple[str, ...]


SAME_WORDS = "the same words"
AROUND = "words of the lines and headings around it"
OWN_WORDS = ("lexical0", "cover0")  # evidence of the line itself, including the words of its headings
PARTS = (  # in the order of the bar's colours
    ScorePart(SAME_WORDS, OWN_WORDS),
    ScorePart("a like meaning", MEANING),
    ScorePart("names", ("label", "named", "exact")),
    ScorePart("times and numbers", ("when", "number", "days", "period", "past")),
    ScorePart("where it stands", ("heading", "memory", "daily", "archive", "decided", "importance", "recent")),
    ScorePart("its length and form", ("length", "long", "fence", "asks", "duplicate", "amended")),
    ScorePart(AROUND, tuple(name for name in WORDS if name not in OWN_WORDS)),
)


class FileLine(NamedTuple):
    """A line of a memory file, counted from 1."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class FilterValue:
    """A value that a filter can have. `facts`: the number of facts with it, 0 if it is not known."""

    value: str
    facts: int


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """The values among which a person chooses for one filter. `name`: of the filter, one of FILTERS."""

    name: str
    choices: Sequence[FilterValue]


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of the list of facts.

    `total`: the number of facts on all pages. `number`: of this page, from 1. `pages`: the number of pages. `order`: a
    key of ORDER_TITLES. `files`: the number of memory files, if none of them has a fact, else 0. `steps`: the first
    steps for a new memory, empty for any other.
    """

    rows: Sequence[PresentFact]
    total: int
    number: int
    pages: int
    order: str
    files: int
    steps: Sequence[Step]


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit, the id of the statement that it links to ("" for none), and the parts of its score."""

    hit: Hit
    statement: str
    parts: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The hits of a search. `notes`: sentences for the person. `searched`: whether there was an index to search.
    `marks`: finds the words of the question; None if it has only stop words."""

    question: str
    hits: Sequence[ShownHit]
    notes: Sequence[str]
    searched: bool
    marks: re.Pattern[str] | None


def page(view: View) -> Response:
    """The list of facts, or the hits of the question `q`."""
    question = view.fields.get("q", "").strip()
    choice = FactFilter(**{name: view.fields.get(name, "") for name in FILTERS})
    listing: Listing | None = None
    results: SearchResults | None = None
    if question:
        results = _search(view, question, choice)
    else:
        listing = _listing(view, choice)
    return view.render(
        "facts.html", listing=listing, results=results, choice=choice, options=options(view), orders=ORDER_TITLES,
        kinds=FACT_TYPES,
    )  # fmt: skip


def options(view: View) -> list[FilterOptions]:
    """The choice of each filter, in the order of the page: the values in use, of types, tags and paths the most
    frequent ones."""
    counts = view.facts.counts
    authors = view.facts.author_names(view.repo, view.snapshot.commit)
    return [
        _options("type", counts["type"].most_common(MAX_TYPES)),
        _options("state", _in_use(STATES, counts["state"])),
        _options("trust", _in_use(TRUST_STATES, counts["trust"])),
        _options("origin", _in_use((*ORIGINS, "none"), counts["origin"])),
        _options("age", [(age, 0) for age in (*AGES, "older")]),
        _options("tag", counts["tag"].most_common(MAX_TAGS)),
        _options("author", authors),
        _options("path", counts["path"].most_common(MAX_PATHS)),
    ]


def _options(name: str, counts: Iterable[tuple[str, int]]) -> FilterOptions:
    """The choice of a filter. `counts`: (value, number of facts with it)."""
    return FilterOptions(name, [FilterValue(value, facts) for value, facts in counts])


def _in_use(values: Sequence[str], counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """(value, number of facts with it) for those of `values` that a fact has, in their order."""
    return [(value, counts[value]) for value in values if counts[value]]


def _matching_facts(view: View, choice: FactFilter) -> Sequence[PresentFact]:
    """The facts of the snapshot that pass every filter."""
    facts = view.facts.filtered(choice, view.today)
    if choice.author:  # apart from the others, since it reads the history of the files
        facts = view.facts.by_author(view.repo, view.snapshot.commit, facts, choice.author)
    return facts


def _listing(view: View, choice: FactFilter) -> Listing:
    """The page of the list that the query names: MAX_FACTS of the facts that pass the filters."""
    order = view.fields.get("sort", "")
    if order not in ORDER_TITLES:
        order = ""
    facts = _matching_facts(view, choice)
    ordered = view.facts.in_order(view.repo, view.snapshot.commit, facts, order, view.today)
    number, pages, rows = page_of(view, ordered, MAX_FACTS)
    files = 0
    if not view.facts.rows:
        files = len(file_paths(view))
    return Listing(
        rows=rows, total=len(ordered), number=number, pages=pages, order=order, files=files, steps=first_steps(view)
    )


def _search(view: View, question: str, choice: FactFilter) -> SearchResults:
    """The hits of `git mem search` in the same order, without those that the filters exclude."""
    own_filters = {name for name in FILTERS if getattr(choice, name)} - SEARCH_FILTERS
    query = _query(view, question, choice, filters_follow=bool(own_filters))
    answer = search(view.repo, view.config, query, view.now, view.opened.kept_index)
    hits: Sequence[Hit] = answer.hits
    if own_filters:
        # Lines that are no facts have a date and nothing else that a filter could ask for.
        hits = _filtered_hits(view, hits, choice, by_date=own_filters == {"age"})

    searched = bool(answer.lanes) or not answer.stale
    notes = list(answer.notes)
    if hits and not answer.answered:
        notes.insert(0, view.t("Nothing here seems to answer this; what is shown comes nearest."))
    if not searched:
        notes.insert(0, view.t("No search is possible now."))
    if answer.stale:
        notes.append(answer.reason)

    marks = marked_words(question)
    fact_at = {FileLine(fact.path, fact.fact.line): fact for fact in view.facts.rows}
    shown = [ShownHit(hit, _statement_of(view, hit, fact_at, marks), parts(hit, marks)) for hit in hits]
    return SearchResults(question=question, hits=shown, notes=notes, searched=searched, marks=marks)


def _query(view: View, question: str, choice: FactFilter, *, filters_follow: bool) -> Query:
    """The search for a question, with the SEARCH_FILTERS of `choice`. `filters_follow`: other filters will remove some
    of the hits, so that more of them are needed."""
    limit = MAX_HITS
    if filters_follow:
        limit = MAX_HITS_BEFORE_FILTERS
    return Query(
        question,
        limit=limit,
        commit=view.snapshot.commit,
        types=_values_of(choice.type),
        tags=_values_of(choice.tag),
        paths=_values_of(choice.path),
        explain=True,
        everything=filters_follow,
        forgotten=view.forgotten,
    )


def _values_of(value: str) -> tuple[str, ...]:
    """The values that a Query allows for a filter of the page; () allows all."""
    if not value:
        return ()
    return (value,)


def _filtered_hits(view: View, hits: Sequence[Hit], choice: FactFilter, *, by_date: bool) -> Sequence[Hit]:
    """The first MAX_HITS hits in which a fact begins that passes the filters. `by_date`: hits without a fact pass if
    their own date passes the filter of the age; else they never pass."""
    with_fact = {FileLine(row.path, row.fact.line) for row in view.facts.rows}
    matching = {FileLine(row.path, row.fact.line) for row in _matching_facts(view, choice)}
    passing: list[Hit] = []
    for hit in hits:
        lines = {FileLine(hit.path, line) for line in range(hit.start_line, hit.end_line + 1)}
        if lines & with_fact:
            passes = bool(lines & matching)
        else:
            passes = by_date and choice.has_age(hit.date, view.today)
        if passes:
            passing.append(hit)
    return passing[:MAX_HITS]


def _statement_of(view: View, hit: Hit, fact_at: Mapping[FileLine, PresentFact], marks: re.Pattern[str] | None) -> str:
    """The id of the statement that a hit links to: the fact at its first line, else the statement in its lines with
    the most words of the question (`marks`), the first of equals. "" for a commit and for lines without a statement."""
    if not hit.path:
        return ""
    fact = fact_at.get(FileLine(hit.path, hit.start_line))
    if fact is not None:
        return fact.fact.id
    try:
        statements = view.statements(hit.path)
    except GitMemError:
        return ""
    in_hit = [row for row in statements if row.fact.line <= hit.end_line and hit.start_line <= row.end]
    best = max(in_hit, key=lambda row: _count(marks, row.fact.text), default=None)  # the first of equals
    if best is None:
        return ""
    return best.fact.id


def _count(marks: re.Pattern[str] | None, text: str) -> int:
    """The number of words of the question in a text; 0 for a question of stop words (None)."""
    if marks is None:
        return 0
    return len(marks.findall(text))


def parts(hit: Hit, marks: re.Pattern[str] | None) -> list[Piece]:
    """The parts that add to a hit's score, as pieces of a bar as long as the score. Negative parts shorten the others.

    `marks`: finds the words of the question. When the text has none of them, its lexical evidence comes from headings
    and lines around it, so it counts as AROUND.
    """
    values = _score_values(hit)
    sums = {part.title: sum(values.get(name, 0.0) for name in part.evidence) for part in PARTS}
    if _count(marks, hit.text) == 0:
        sums[AROUND] += sums[SAME_WORDS]
        sums[SAME_WORDS] = 0.0
    total = sum(value for value in sums.values() if value > 0)
    shares = {title: hit.score * value / total for title, value in sums.items() if value > 0}
    return stacked_bar(shares, 1, list(sums), shades=len(PARTS))


def _score_values(hit: Hit) -> dict[str, float]:
    """Name of an evidence or a prior -> what it adds to the score. Evidence is divided by the scale of the search;
    priors are parts of the score as they are."""
    explained = hit.explain or {}
    scale = explained.get("scale") or 1.0
    values = {name: value / scale for name, value in explained.get("evidence", {}).items()}
    for name, value in explained.get("priors", {}).items():
        values[name] = values.get(name, 0.0) + value
    return values
