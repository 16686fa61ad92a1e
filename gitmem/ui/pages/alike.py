"""The page of facts that repeat or contradict each other, side by side: what `git mem review` tells of a change, of all
facts of MEMORY.md."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from gitmem.memory.facts import fact_date
from gitmem.paths import Kind, kind
from gitmem.provenance.present_facts import PresentFact
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.warnings.rival_facts import Rival, find_rivals
from gitmem.ui.rendering import fitting
from gitmem.ui.view import View

COMPARED = 2_000  # facts, the newest of them: each is held against those that share words with it
SHOWN = 20  # pairs
TEXT = 15_000  # bytes of their texts
LONGEST = 300  # characters of one of them


def waiting(view: View) -> int:
    """How many pairs there are."""
    return len(_rivals(_rows(view)[:COMPARED]))


def _rows(view: View) -> list[PresentFact]:
    """The facts that can repeat or contradict each other, the newest first."""
    rows = [row for row in view.facts.rows if kind(row.path) is Kind.MEMORY and row.state in ("current", "pinned")]
    return sorted(rows, key=lambda row: row.date, reverse=True)


def _rivals(newest: Sequence[PresentFact]) -> Sequence[Rival]:
    changes = [FactChange(Op.ADDED, row.path, None, row.fact) for row in newest]
    return find_rivals(changes, [(row.path, row.fact) for row in newest])


def page(view: View) -> Response:
    """The pairs, contradictions first; the older fact of each on the left."""
    rows = _rows(view)
    newest = rows[:COMPARED]
    known = {(row.path, row.fact.line): row for row in newest}
    rivals = _rivals(newest)
    pairs = [_pair(rival, known) for rival in rivals[:SHOWN]]
    shown = fitting(pairs, lambda pair: pair[1].fact.text[:LONGEST] + pair[2].fact.text[:LONGEST], TEXT)
    return view.render(
        "alike.html", pairs=[(against, view.mask(old), view.mask(new)) for against, old, new in shown],
        count=len(rivals), compared=len(newest), total=len(rows), longest=LONGEST,
    )  # fmt: skip


def _pair(rival: Rival, known: dict[tuple[str, int], PresentFact]) -> tuple[bool, PresentFact, PresentFact]:
    """(whether they contradict each other, the older, the newer)."""
    one, other = known[rival.path, rival.line], known[rival.other_path, rival.other_line]
    old, new = sorted((one, other), key=lambda row: (fact_date(row.fact), row.path, row.fact.line))
    return rival.contradicts, old, new
