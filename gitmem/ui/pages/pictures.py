"""The page Pictures: how memory grew, how much of it has a source, what the gate found, how well search answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from gitmem.errors import UsageError
from gitmem.sessions import receipts
from gitmem.ui.charts import Chart, columns, line
from gitmem.ui.rendering import Ours
from gitmem.ui.view import View

if TYPE_CHECKING:
    from gitmem.provenance.trends import Period
    from gitmem.search.evaluation import LabelledQuestion


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with its table: `keys` the names of its fills, `rows` a cell for each of `heads`, a period a row."""

    name: str
    words: str
    chart: Chart
    keys: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def page(view: View) -> Response:
    """The pictures of the snapshot's history; recall is measured where the address asks for it.

    What the gate finds is worked out once the page is shown (`part=gate`), or with it where the address says `whole`.
    """
    from gitmem.provenance import trends

    head = view.snapshot.commit or view.repo.head() or ""
    among = tuple(trends.periods(view.repo, head))
    only = view.fields.get("part") == "gate"
    whole = only or view.static or bool(view.fields.get("whole"))
    if only or not among:
        pictures = []
    else:
        pictures = [*_growth(view, among), *_token_pictures(view, among)]
    later = not whole and bool(among) and not view.site.kept.has("findings", (head, among, view.today))
    if among and not later:
        pictures.append(_gate(view, head, among))
    asked, problem = ([], "") if only else _asked(view)
    measured = bool(asked) and view.fields.get("measure") == "recall"
    if measured:
        pictures.append(_recall(view, asked, among))
    return view.render(
        "pictures.html", pictures=pictures, questions=len(asked), measured=measured, file=trends.QUESTIONS,
        commits=min(trends.MAX_MEASURED, len(among)), later=later, only=only,
        problem=problem,
    )  # fmt: skip


def _asked(view: View) -> tuple[Sequence[LabelledQuestion], str]:
    """(the questions, what is wrong with their file): one that cannot be read takes away the recall alone."""
    from gitmem.provenance import trends

    try:
        return trends.questions(view.repo, view.snapshot.commit), ""
    except UsageError as error:
        return [], error.message


def _names(among: Sequence[Period]) -> list[str]:
    return [Ours(period.last.isoformat()) for period in among]


def _growth(view: View, among: Sequence[Period]) -> list[Picture]:
    from gitmem.provenance import trends

    key = (among, view.config)
    sizes = view.site.kept.of("sizes", key, lambda: tuple(trends.sizes(view.repo, view.config, among)))
    names = _names(among)
    facts = [(size.sourced, size.facts - size.sourced) for size in sizes]
    shares = [100 * size.sourced / size.facts if size.facts else None for size in sizes]
    tokens = [float(size.tokens) for size in sizes]
    return [
        Picture(
            "Facts", "Facts at the end of each period, with a source and without one.", columns(names, facts),
            ("with a source", "without"), ("until", "with a source", "without"),
            tuple((name, _cell(a), _cell(b)) for name, (a, b) in zip(names, facts, strict=True)),
        ),
        Picture(
            "Share with a source", "Of a hundred facts, those that cite the lines they come from.",
            line(names, shares, 100), (), ("until", "%"),
            tuple((n, _cell(share)) for n, share in zip(names, shares, strict=True)),
        ),
        Picture(
            "Size", "Tokens of all memory files, estimated.", line(names, tokens), (), ("until", "files", "tokens"),
            tuple((n, _cell(size.files), _cell(size.tokens)) for n, size in zip(names, sizes, strict=True)),
        ),
    ]  # fmt: skip


def _token_pictures(view: View, among: Sequence[Period]) -> list[Picture]:
    """Tokens that sessions were given, by receipts; nothing where there are none."""
    counts: Counter[int] = Counter()
    for receipt in () if view.static else receipts.read(view.repo.common_dir):
        day = receipt.at.date()
        at = next((at for at, period in enumerate(among) if period.first <= day <= period.last), None)
        if at is not None:
            counts[at] += receipt.total
    if not counts:
        return []
    names = _names(among)
    rows = [(float(counts[at]),) for at in range(len(among))]
    return [
        Picture(
            "Tokens given", "Tokens of memory that sessions were given, by their records.", columns(names, rows), (),
            ("until", "tokens"), tuple((name, _cell(row[0])) for name, row in zip(names, rows, strict=True)),
        )
    ]  # fmt: skip


def _gate(view: View, head: str, among: Sequence[Period]) -> Picture:
    from gitmem.provenance import trends

    key = (head, among, view.today)
    found = view.site.kept.of("findings", key, lambda: tuple(trends.findings(view.repo, head, among, view.today)))
    names = _names(among)
    rows = [(row.blocking, row.warnings) if row else (0, 0) for row in found]
    words = "What the gate finds in what each period brought."
    return Picture(
        "Gate findings", words, columns(names, rows), ("blocking", "warnings"), ("until", "blocking", "warnings"),
        tuple(
            (name, _cell(row.blocking), _cell(row.warnings)) if row else (name, "-", "-")
            for name, row in zip(names, found, strict=True)
        ),
    )  # fmt: skip


def _recall(view: View, asked: Sequence[LabelledQuestion], among: Sequence[Period]) -> Picture:
    from gitmem.provenance import trends

    values = trends.recall(view.repo, view.config, asked, among, view.now, time.perf_counter)
    names = _names(among)
    shares = [None if value is None else 100 * value for value in values]
    chosen = [at for at, share in enumerate(shares) if share is not None]
    return Picture(
        "Recall", "Of a hundred lines that answer the questions, those among the first five hits.",
        line([names[at] for at in chosen], [shares[at] for at in chosen], 100), (), ("until", "recall@5 %"),
        tuple((names[at], _cell(shares[at])) for at in chosen),
    )  # fmt: skip


def _cell(value: float | None) -> str:
    return Ours("-" if value is None else f"{value:,.0f}")
