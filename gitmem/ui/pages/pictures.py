"""The page Pictures: charts of the number of facts, their sources, the gate's findings, and the recall of search."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from gitmem.errors import UsageError
from gitmem.provenance import trends
from gitmem.provenance.trends import Period
from gitmem.sessions import receipts
from gitmem.ui.charts import Chart, column_chart, line_chart
from gitmem.ui.rendering import Unmasked
from gitmem.ui.view import View

if TYPE_CHECKING:
    from gitmem.search.evaluation import LabelledQuestion


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, and the table with the same numbers. `name`: its title. `words`: a sentence that says what it shows;
    both are translated when they are shown. `keys`: the names of the chart's fills, () for a chart of one series.
    `heads`: the columns of the table. `rows`: the cells of each measured period, the last one first; "-" for no
    number."""

    name: str
    words: str
    chart: Chart
    keys: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def page(view: View) -> Response:
    """The charts of the snapshot's history. `measure=recall` in the query adds the recall.

    The gate's findings are loaded after the page is shown (`part=gate`), or with it when they are cached or the query
    has `whole`.
    """
    head = view.snapshot.commit or view.repo.head() or ""
    periods = tuple(trends.periods(view.repo, head))
    only = view.fields.get("part") == "gate"
    whole = only or view.static or bool(view.fields.get("whole"))
    pictures: list[Picture] = []
    questions: Sequence[LabelledQuestion] = ()
    problem = ""
    if not only:
        questions, problem = _questions(view)
        if periods:
            pictures = [*_growth(view, periods), *_token_pictures(view, periods)]
    later = not whole and bool(periods) and not view.site.cache.has("findings", (head, periods, view.today))
    if periods and not later:
        pictures.append(_gate(view, head, periods))
    measured = bool(questions) and view.fields.get("measure") == "recall"
    if measured:
        pictures.append(_recall(view, questions, periods))
    return view.render(
        "pictures.html", pictures=pictures, questions=len(questions), measured=measured, file=trends.QUESTIONS,
        commits=min(trends.MAX_MEASURED, len(periods)), later=later, only=only, problem=problem,
    )  # fmt: skip


def _questions(view: View) -> tuple[Sequence[LabelledQuestion], str]:
    """(the questions of the tests file, what is wrong with the file, "" for nothing)."""
    try:
        return trends.questions_at(view.repo, view.snapshot.commit), ""
    except UsageError as error:
        return [], error.message


def _names(periods: Sequence[Period]) -> list[str]:
    return [Unmasked(period.last.isoformat()) for period in periods]


def _growth(view: View, periods: Sequence[Period]) -> list[Picture]:
    """The charts of the facts, of their share with a source, and of the tokens."""
    key = (periods, view.config)
    sizes = view.site.cache.get("sizes", key, lambda: tuple(trends.measure_sizes(view.repo, view.config, periods)))
    names = _names(periods)
    facts = [(size.sourced, size.facts - size.sourced) for size in sizes]
    shares = [100 * size.sourced / size.facts if size.facts else None for size in sizes]
    tokens = [float(size.tokens) for size in sizes]
    return [
        Picture(
            "Facts", "Facts at the end of each period, with a source and without one.", column_chart(names, facts),
            ("with a source", "without"), ("until", "with a source", "without"),
            tuple((name, _cell(a), _cell(b)) for name, (a, b) in zip(names, facts, strict=True)),
        ),
        Picture(
            "Share with a source", "Of a hundred facts, those that cite the lines they come from.",
            line_chart(names, shares, 100), (), ("until", "%"),
            tuple((n, _cell(share)) for n, share in zip(names, shares, strict=True)),
        ),
        Picture(
            "Size", "Tokens of all memory files, estimated.", line_chart(names, tokens), (),
            ("until", "files", "tokens"),
            tuple((n, _cell(size.files), _cell(size.tokens)) for n, size in zip(names, sizes, strict=True)),
        ),
    ]  # fmt: skip


def _token_pictures(view: View, periods: Sequence[Period]) -> list[Picture]:
    """The chart of the tokens that sessions got, by receipts; none without receipts and in an export."""
    if view.static:
        return []
    counts: Counter[Period] = Counter()
    for receipt in receipts.read(view.repo.common_dir):
        for period in periods:
            if period.first <= receipt.at.date() <= period.last:
                counts[period] += receipt.total
                break
    if not counts:
        return []
    names = _names(periods)
    rows = [(float(counts[period]),) for period in periods]
    return [
        Picture(
            "Tokens given", "Tokens of memory that sessions were given, by their records.", column_chart(names, rows),
            (), ("until", "tokens"), tuple((name, _cell(row[0])) for name, row in zip(names, rows, strict=True)),
        )
    ]  # fmt: skip


def _gate(view: View, head: str, periods: Sequence[Period]) -> Picture:
    """The chart of the gate's findings in each period; `-` in the table for a period that was not scanned."""
    key = (head, periods, view.today)
    per_period = view.site.cache.get(
        "findings", key, lambda: tuple(trends.count_findings(view.repo, head, periods, view.today))
    )
    names = _names(periods)
    counts, rows = [], []
    for name, row in zip(names, per_period, strict=True):
        if row:
            counts.append((row.blocking, row.warnings))
            rows.append((name, _cell(row.blocking), _cell(row.warnings)))
        else:
            counts.append((0, 0))
            rows.append((name, "-", "-"))
    return Picture(
        "Gate findings", "What the gate finds in what each period brought.", column_chart(names, counts),
        ("blocking", "warnings"), ("until", "blocking", "warnings"), tuple(rows),
    )  # fmt: skip


def _recall(view: View, questions: Sequence[LabelledQuestion], periods: Sequence[Period]) -> Picture:
    """The chart of recall@5 at the end of each measured period."""
    values = trends.measure_recall(view.repo, view.config, questions, periods, view.now, time.perf_counter)
    measured = [(name, 100 * value) for name, value in zip(_names(periods), values, strict=True) if value is not None]
    return Picture(
        "Recall", "Of a hundred lines that answer the questions, those among the first five hits.",
        line_chart([name for name, _ in measured], [share for _, share in measured], 100), (), ("until", "recall@5 %"),
        tuple((name, _cell(share)) for name, share in measured),
    )  # fmt: skip


def _cell(value: float | None) -> str:
    """A number in a table, `-` for None."""
    if value is None:
        return Unmasked("-")
    return Unmasked(f"{value:,.0f}")
