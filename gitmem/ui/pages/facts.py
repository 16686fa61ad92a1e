"""The page Facts: the facts of the snapshot with filters, or the hits of a search with the parts of their scores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.memory.origin import ORIGINS
from gitmem.memory.writing import FACT_TYPES
from gitmem.provenance.present_facts import AGES, ORDERS, STATES, TRUST_STATES, FactFilter, PresentFact
from gitmem.search.hits import Hit
from gitmem.search.weights import MEANING, WORDS
from gitmem.ui.pages.first_steps import first_steps
from gitmem.ui.pages.notes import file_paths, page_of
from gitmem.ui.view import View

MAX_FACTS = 50  # on one page
MAX_HITS = 30  # on one page
MAX_HITS_BEFORE_FILTERS = 120  # that are searched when filters may remove some
FILTERS = ("type", "origin", "tag", "state", "trust", "age", "author", "path")  # fields of the query and of Choice

ORDER_TITLES = {  # value of `sort` in the query -> title
    "": "as in the files", "newest": "newest", "type": "type", "importance": "importance", "ending": "ending soon",
}  # fmt: skip

SAME_WORDS = "the same words"
AROUND = "words of the lines and headings around it"
OWN_WORDS = ("lexical0", "cover0")  # evidence of the line itself, including the words of its headings
# (title, names of the evidence) of each part of a score, in the order of the bar's colours.
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (SAME_WORDS, OWN_WORDS),
    ("a like meaning", MEANING),
    ("names", ("label", "named", "exact")),
    ("times and numbers", ("when", "number", "days", "period", "past")),
    ("where it stands", ("heading", "memory", "daily", "archive", "decided", "importance", "recent")),
    ("its length and form", ("length", "long", "fence", "asks", "duplicate", "amended")),
    (AROUND, tuple(name for name in WORDS if name not in OWN_WORDS)),
)
_PART_NUMBERS = {title: number for number, (title, _) in enumerate(PARTS)}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a hit's score. `value`: its share of the score, 0..1. `start`, `width`: its piece of the bar, in
    percent."""

    name: str
    value: float
    start: float
    width: float
    colour: int


def page(view: View) -> Response:
    """The list of facts, or the hits of the question `q`."""
    question = view.fields.get("q", "").strip()
    choice = FactFilter(**{name: view.fields.get(name, "") for name in FILTERS})
    if question:
        return _search_page(view, question, choice)
    rows = view.facts.filtered(choice, view.today)
    if choice.author:
        rows = view.facts.by_author(view.repo, view.snapshot.commit, rows, choice.author)
    order = view.fields.get("sort", "")
    if order not in ORDERS:
        order = ""
    rows = view.facts.in_order(view.repo, view.snapshot.commit, rows, order, view.today)
    number, count, shown = page_of(view, rows, MAX_FACTS)
    files = 0 if view.facts.rows else len(file_paths(view))
    return view.render(
        "facts.html", rows=shown, total=len(rows), number=number, pages=count, asked="", choice=choice,
        options=options(view), hits=(), notes=(), answered=False, marks=None, order=order, orders=ORDER_TITLES,
        kinds=FACT_TYPES, files=files, steps=first_steps(view),
    )  # fmt: skip


def options(view: View) -> list[tuple[str, list[tuple[str, int]]]]:
    """(name of a filter, (value, number of facts with that value) of each value in use), for each filter. The number is
    0 if it is not known."""
    counts = view.facts.counts

    def in_use(name: str, values: Sequence[str]) -> tuple[str, list[tuple[str, int]]]:
        return name, [(value, counts[name][value]) for value in values if counts[name][value]]

    return [
        ("type", counts["type"].most_common(20)),
        in_use("state", STATES),
        in_use("trust", TRUST_STATES),
        in_use("origin", (*ORIGINS, "none")),
        ("age", [(name, 0) for name in (*AGES, "older")]),
        ("tag", counts["tag"].most_common(40)),
        ("author", [*view.facts.author_names(view.repo, view.snapshot.commit)]),
        ("path", counts["path"].most_common(40)),
    ]


def _search_page(view: View, question: str, choice: FactFilter) -> Response:
    """The hits of `git mem search` in the same order, without those that the filters exclude."""
    from gitmem.search.results import marked_words
    from gitmem.search.search import Query, search

    has_filters = replace(choice, type="", tag="", path="") != FactFilter()  # filters that a Query does not have
    limit = MAX_HITS_BEFORE_FILTERS if has_filters else MAX_HITS
    types, tags, paths = (tuple(filter(None, (value,))) for value in (choice.type, choice.tag, choice.path))
    query = Query(
        question, limit=limit, commit=view.snapshot.commit, types=types, tags=tags, paths=paths, explain=True,
        everything=has_filters, forgotten=view.forgotten,
    )  # fmt: skip
    answer = search(view.repo, view.config, query, view.now, view.opened.kept_index)
    rows = {(row.path, row.fact.line): row for row in view.facts.rows}
    found: Sequence[Hit] = answer.hits
    if has_filters:
        found = _filtered_hits(view, answer.hits, rows, choice)
    marks = marked_words(question)
    hits = [(hit, _statement_of(view, hit, rows, marks), parts(hit, marks)) for hit in found]
    has_index = bool(answer.lanes) or not answer.stale
    notes = [*answer.notes]
    if hits and not answer.answered:
        notes.insert(0, view.t("Nothing here seems to answer this; what is shown comes nearest."))
    if not has_index:
        notes.insert(0, view.t("No search is possible now."))
    if answer.stale:
        notes.append(answer.reason)
    return view.render(
        "facts.html", rows=(), total=len(hits), number=1, pages=1, asked=question, choice=choice,
        options=options(view), hits=hits, notes=notes, answered=has_index, marks=marks, files=0,
        order="", orders=ORDER_TITLES, kinds=FACT_TYPES, steps=(),
    )  # fmt: skip


def _statement_of(
    view: View, hit: Hit, rows: Mapping[tuple[str, int], PresentFact], marks: re.Pattern[str] | None
) -> str:
    """The id of the statement that a hit links to: the fact at its first line, else the statement in its lines with
    the most words of the question (`marks`). "" for a commit and for lines without a statement."""
    if not hit.path:
        return ""
    if (row := rows.get((hit.path, hit.start_line))) is not None:
        return row.fact.id
    try:
        statements = view.statements(hit.path)
    except GitMemError:
        return ""
    own = [row for row in statements if row.fact.line <= hit.end_line and hit.start_line <= row.fact.end]
    if not own:
        return ""
    return max(own, key=lambda row: (len(marks.findall(row.fact.text)) if marks else 0, -row.fact.line)).fact.id


def _filtered_hits(
    view: View, hits: Sequence[Hit], rows: Mapping[tuple[str, int], PresentFact], choice: FactFilter
) -> Sequence[Hit]:
    """The first MAX_HITS hits with a fact that passes the filters. When `age` is the only filter that a Query does not
    have, hits without a fact pass by their own date."""
    age_only = replace(choice, type="", tag="", path="", age="") == FactFilter()
    kept: dict[tuple[str, int], Hit] = {}
    for hit in hits:
        lines = range(hit.start_line, hit.end_line + 1)
        own = list(filter(None, [rows.get((hit.path, line)) for line in lines]))
        passes = any(choice.matches(row, view.today) for row in own)
        if not own:
            passes = age_only and choice.has_age(hit.date, view.today)
        if passes:
            kept[hit.path, hit.start_line] = hit
    if choice.author:
        facts = [rows[key] for key in kept if key in rows]
        by_author = view.facts.by_author(view.repo, view.snapshot.commit, facts, choice.author)
        wanted = {(row.path, row.fact.line) for row in by_author}
        kept = {key: hit for key, hit in kept.items() if key in wanted}
    return list(kept.values())[:MAX_HITS]


def parts(hit: Hit, marks: re.Pattern[str] | None) -> list[Part]:
    """The parts that add to a hit's score, as pieces of a bar as long as the score. Negative parts shorten the others.

    `marks`: finds the words of the question. When the text has none of them, its lexical evidence comes from headings
    and lines around it, so it counts as AROUND.
    """
    explained = hit.explain or {}
    scale = explained.get("scale") or 1.0
    values = {name: value / scale for name, value in explained.get("evidence", {}).items()}
    for name, value in explained.get("priors", {}).items():
        values[name] = values.get(name, 0.0) + value
    sums = [sum(values.get(name, 0.0) for name in names) for _, names in PARTS]
    if marks is None or not marks.search(hit.text):
        own, around = _PART_NUMBERS[SAME_WORDS], _PART_NUMBERS[AROUND]
        sums[around], sums[own] = sums[around] + sums[own], 0.0
    whole = sum(value for value in sums if value > 0)
    pieces, start = [], 0.0
    for colour, ((title, _), value) in enumerate(zip(PARTS, sums, strict=True)):
        if value > 0:
            share = hit.score * value / whole
            pieces.append(Part(title, share, round(start, 1), round(100 * share, 1), colour))
            start += 100 * share
    return pieces
