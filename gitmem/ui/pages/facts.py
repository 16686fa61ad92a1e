"""The page Facts: the facts of the snapshot by what is known of them, or the answer of a search with why it ranked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.memory.fact import ORIGINS
from gitmem.memory.writing import FACT_TYPES
from gitmem.provenance.present_facts import AGES, ORDERS, STATES, TRUST, Choice, PresentFact
from gitmem.search.hits import Hit
from gitmem.search.weights import MEANING, WORDS
from gitmem.ui.pages.first_steps import first_steps
from gitmem.ui.pages.notes import file_paths
from gitmem.ui.view import View

MAX_FACTS = 50  # facts of one page
HITS = 30
MORE = 120  # hits that are looked at where filters take some of them
FILTERS = ("type", "origin", "tag", "state", "trust", "age", "author", "path")  # of the address and of Choice

ORDERS_NAMED = {  # value of `sort` in the address -> what it is called
    "": "as in the files", "newest": "newest", "type": "type", "importance": "importance", "ending": "ending soon",
}  # fmt: skip

SAME_WORDS = "the same words"
AROUND = "words of the lines and headings around it"
OWN_WORDS = ("lexical0", "cover0")  # evidence of the line itself; a word of its headings counts there too
# What a score is made of, as a reader is told: the pieces of its bar, in the order of their colours.
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (SAME_WORDS, OWN_WORDS),
    ("a like meaning", MEANING),
    ("names", ("label", "named", "exact")),
    ("times and numbers", ("when", "number", "days", "period", "past")),
    ("where it stands", ("heading", "memory", "daily", "archive", "decided", "importance", "recent")),
    ("its length and form", ("length", "long", "fence", "asks", "duplicate", "amended")),
    (AROUND, tuple(name for name in WORDS if name not in OWN_WORDS)),
)
_PLACES = {title: number for number, (title, _) in enumerate(PARTS)}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a score: what it is called, what it adds (of 1), where its piece of the bar begins and how wide it is
    (of 100), its colour."""

    name: str
    value: float
    start: float
    width: float
    colour: int


def page(view: View) -> Response:
    """The list, or the answer where the address has `q`."""
    asked = view.fields.get("q", "").strip()
    choice = Choice(**{name: view.fields.get(name, "") for name in FILTERS})
    if asked:
        return _search_page(view, asked, choice)
    rows = view.facts.chosen(choice, view.today)
    if choice.author:
        rows = view.facts.by_author(view.repo, view.snapshot.commit, rows, choice.author)
    order = ""
    if view.fields.get("sort", "") in ORDERS:
        order = view.fields.get("sort", "")
    rows = view.facts.in_order(view.repo, view.snapshot.commit, rows, order, view.today)
    count = max(1, -(-len(rows) // MAX_FACTS))
    number = min(max(1, _page_number(view.fields.get("page", "1"))), count)
    shown = rows[(number - 1) * MAX_FACTS : number * MAX_FACTS]
    return view.render(
        "facts.html", rows=shown, total=len(rows), number=number, pages=count, asked="", choice=choice,
        options=options(view), hits=(), notes=(), answered=False, marks=None, order=order, orders=ORDERS_NAMED,
        kinds=FACT_TYPES,
        files=0 if view.facts.rows else len(file_paths(view)), steps=first_steps(view),
    )  # fmt: skip


def _page_number(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 7:
        return int(text)
    return 1


def options(view: View) -> list[tuple[str, list[tuple[str, int]]]]:
    """(filter, its values with how many facts have each, 0 for unknown): those in use."""
    counts = view.facts.counts

    def listed(name: str, values: Sequence[str]) -> tuple[str, list[tuple[str, int]]]:
        return name, [(value, counts[name][value]) for value in values if counts[name][value]]

    return [
        ("type", counts["type"].most_common(20)),
        listed("state", STATES),
        listed("trust", TRUST),
        listed("origin", (*ORIGINS, "none")),
        ("age", [(name, 0) for name in (*AGES, "older")]),
        ("tag", counts["tag"].most_common(40)),
        ("author", [*view.facts.author_names(view.repo, view.snapshot.commit)]),
        ("path", counts["path"].most_common(40)),
    ]


def _search_page(view: View, asked: str, choice: Choice) -> Response:
    """What `git mem search` answers: the same hits in the same order."""
    from gitmem.provenance.forgotten_texts import forgotten_texts
    from gitmem.search.results import marked_words
    from gitmem.search.search import Query, search

    others = replace(choice, type="", tag="", path="") != Choice()  # what a search cannot be asked
    query = Query(
        asked, limit=MORE if others else HITS, commit=view.snapshot.commit, types=(choice.type,) if choice.type else (),
        tags=(choice.tag,) if choice.tag else (), paths=(choice.path,) if choice.path else (), explain=True,
        everything=others, forgotten=forgotten_texts(view.repo),
    )  # fmt: skip
    answer = search(view.repo, view.config, query, view.now, view.opened.kept_index)
    rows = {(row.path, row.fact.line): row for row in view.facts.rows}
    if others:
        found = _hits_of_choice(view, answer.hits, rows, choice)
    else:
        found = answer.hits
    marks = marked_words(asked)
    hits = [(hit, _statement_of(view, hit, rows, marks), parts(hit, marks)) for hit in found]
    answered = bool(answer.lanes) or not answer.stale  # an index that cannot be read answers nothing
    uncertain = view.t("Nothing here seems to answer this; what is shown comes nearest.")
    notes = [
        *([] if answered else [view.t("No search is possible now.")]),
        *([uncertain] if hits and not answer.answered else []),
        *answer.notes,
        *([answer.reason] if answer.stale else []),
    ]
    return view.render(
        "facts.html", rows=(), total=len(hits), number=1, pages=1, asked=asked, choice=choice,
        options=options(view), hits=hits, notes=notes, answered=answered, marks=marks, files=0,
        order="", orders=ORDERS_NAMED, kinds=FACT_TYPES, steps=(),
    )  # fmt: skip


def _statement_of(
    view: View, hit: Hit, rows: Mapping[tuple[str, int], PresentFact], marks: re.Pattern[str] | None
) -> str:
    """The id of the statement that a hit leads to: the fact, or of the lines of a log or a note the one with most of
    the words that were asked for. "" for a commit and for lines that are in no statement."""
    if not hit.path:
        return ""
    if (row := rows.get((hit.path, hit.start_line))) is not None:
        return row.fact.id
    try:
        here = view.statements(hit.path)
    except GitMemError:
        return ""
    own = [row for row in here if row.fact.line <= hit.end_line and hit.start_line <= row.fact.end]
    found = [(len(marks.findall(row.fact.text)) if marks else 0, -row.fact.line, row.fact.id) for row in own]
    if not found:
        return ""
    return max(found)[2]


def _hits_of_choice(
    view: View, hits: Sequence[Hit], rows: Mapping[tuple[str, int], PresentFact], choice: Choice
) -> Sequence[Hit]:
    """The hits with a fact that is wanted, HITS at most; where only the age is asked for, other lines by their day."""
    aged = replace(choice, type="", tag="", path="", age="") == Choice()
    kept: dict[tuple[str, int], Hit] = {}
    for hit in hits:
        own = [row for line in range(hit.start_line, hit.end_line + 1) if (row := rows.get((hit.path, line)))]
        taken = [choice.matches(row, view.today) for row in own] or [aged and choice.ages(hit.date, view.today)]
        if any(taken):
            kept[hit.path, hit.start_line] = hit
    if choice.author:
        facts = [rows[key] for key in kept if key in rows]
        named = view.facts.by_author(view.repo, view.snapshot.commit, facts, choice.author)
        wanted = {(row.path, row.fact.line) for row in named}
        kept = {key: hit for key, hit in kept.items() if key in wanted}
    return list(kept.values())[:HITS]


def parts(hit: Hit, marks: re.Pattern[str] | None) -> list[Part]:
    """What adds to a hit's score, as pieces of a bar that is as long as the score; what takes from it shortens all.

    `marks`: what finds the words that were asked for. A text without any of them has its words from its headings and
    the lines around it, and no piece says that it has the same words.
    """
    explained = hit.explain or {}
    scale = explained.get("scale") or 1.0
    values = {name: value / scale for name, value in explained.get("evidence", {}).items()}
    for name, value in explained.get("priors", {}).items():
        values[name] = values.get(name, 0.0) + value
    sums = [sum(values.get(name, 0.0) for name in names) for _, names in PARTS]
    if marks is None or not marks.search(hit.text):
        own, around = _PLACES[SAME_WORDS], _PLACES[AROUND]
        sums[around], sums[own] = sums[around] + sums[own], 0.0
    whole = sum(value for value in sums if value > 0)
    pieces, start = [], 0.0
    for colour, ((title, _), value) in enumerate(zip(PARTS, sums, strict=True)):
        if value > 0:
            width = 100 * hit.score * value / whole
            pieces.append(Part(title, hit.score * value / whole, round(start, 1), round(width, 1), colour))
            start += width
    return pieces
