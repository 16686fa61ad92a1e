"""The page Sessions: what each session was given of memory, by its receipts, and what it left there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from starlette.responses import Response

from gitmem.errors import MissingFile
from gitmem.sessions import receipts
from gitmem.sessions.receipts import SEARCH, Receipt
from gitmem.ui.charts import Piece, stacked
from gitmem.ui.view import View

if TYPE_CHECKING:
    from gitmem.sessions.episode import EpisodeFile

MAX_SESSIONS = 40  # sessions
RECEIPTS = 30  # of one session
GIVEN = 30  # facts that are listed
LAYERS = (
    "pinned",
    "daily",
    "memory",
    "project",
    "quotation",
    "episode",
    "recent",
    "history",
    "working",
    "procedure",
    SEARCH,
)


@dataclass(frozen=True, slots=True)
class Session:
    """One session by its receipts: how many contexts and searches, tokens in all and by layer, the median time."""

    name: str
    first: datetime | None
    last: datetime | None
    contexts: int
    searches: int
    tokens: int
    milliseconds: int
    pieces: tuple[Piece, ...]
    path: str


def page(view: View) -> Response:
    """The sessions, the last one first; one of them where the address names it."""
    from gitmem.sessions.episode import episodes

    found = receipts.read(view.repo.common_dir)
    if view.repo.root is not None:
        left = {episode.session: episode for episode in episodes(view.repo.root)}
    else:
        left = {}
    if "session" in view.fields:
        return _session_page(view, view.fields["session"], found, left)
    total = receipts.totals(found)
    own = receipts.by_session(found)
    most = max((sum(receipt.total for receipt in rows) for rows in own.values()), default=0)
    rows = [session_of(name, rows, most, left.get(name)) for name, rows in own.items()]
    rows.sort(key=lambda row: row.last.timestamp() if row.last else 0.0, reverse=True)
    silent = [episode for name, episode in reversed(left.items()) if name not in own]
    return view.render(
        "sessions.html", rows=rows[:MAX_SESSIONS], count=len(rows), total=total, silent=silent[:MAX_SESSIONS],
        pieces=stacked(_by_size(total.tokens), sum(total.tokens.values()), LAYERS), budget=view.config.context_budget,
    )  # fmt: skip


def session_of(name: str, rows: Sequence[Receipt], most: int, episode: EpisodeFile | None) -> Session:
    """What the receipts of one session come to; its bar is as long as its tokens are of `most`."""
    searches = sum(receipt.kind == SEARCH for receipt in rows)
    total = receipts.totals(rows)
    times = sorted(receipt.milliseconds for receipt in rows)
    return Session(
        name, min((r.at for r in rows), default=None), max((r.at for r in rows), default=None), len(rows) - searches,
        searches, sum(total.tokens.values()), times[len(times) // 2] if times else 0,
        tuple(stacked(_by_size(total.tokens), most, LAYERS)), episode.path if episode else "",
    )  # fmt: skip


def _by_size(tokens: object) -> dict[str, float]:
    return dict(Counter(tokens).most_common())  # type: ignore[call-overload]


def _session_page(view: View, name: str, found: Sequence[Receipt], left: dict[str, EpisodeFile]) -> Response:
    """One session: each thing it was given, and what it left. Raises MissingFile for a name that nothing has."""
    from gitmem.provenance.corrections import By, Selector, derived
    from gitmem.provenance.ledger import read_ledger

    rows = [receipt for receipt in found if receipt.session == name]
    if not rows and name not in left:
        raise MissingFile(view.t("No session of that name is known here"), view.t("Sessions lists those that are"))
    most = max((receipt.total for receipt in rows), default=0)
    given = Counter(part for receipt in rows for part in set(receipt.parts))
    facts = sorted((row for row in view.facts.rows if row.fact.id in given), key=lambda row: -given[row.fact.id])
    known = read_ledger(view.repo, [head] if (head := view.repo.head()) else [])
    came = {(path, fact.id) for path, fact in derived(view.repo, Selector(By.SESSION, name), known)}
    return view.render(
        "session.html", session=session_of(name, rows, sum(r.total for r in rows), left.get(name)),
        rows=[(row, tuple(stacked(_by_size(row.tokens), most, LAYERS))) for row in reversed(rows[-RECEIPTS:])],
        count=len(rows),
        facts=facts[:GIVEN], among=len(facts), parts=len(given),
        came=[row for row in view.facts.rows if (row.path, row.fact.id) in came][:GIVEN],
    )  # fmt: skip
