"""The page Sessions: what each session got from memory, by its receipts, and what it left there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from starlette.responses import Response

from gitmem.errors import MissingFile
from gitmem.provenance.ledger import read_ledger
from gitmem.sessions import receipts
from gitmem.sessions.receipts import SEARCH, Receipt
from gitmem.sessions.written_ids import stored_names, written_session
from gitmem.ui.charts import Piece, stacked_bar
from gitmem.ui.view import View

if TYPE_CHECKING:
    from gitmem.sessions.episode import EpisodeFile

MAX_SESSIONS = 40  # on the page
MAX_RECEIPTS = 30  # listed for one session
MAX_FACTS = 30  # listed for one session
LAYERS = (
    "pinned", "daily", "memory", "project", "quotation", "episode", "recent", "history", "working", "procedure", SEARCH,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Session:
    """One session, summed over its receipts. `first`, `last`: the times of its first and last receipt, None without
    receipts. `milliseconds`: the median time of an answer. `pieces`: its tokens by layer, as a bar. `path`: of its
    episode, "" if it has none."""

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
    """The sessions, the last one first, or the one `session` that the query names."""
    from gitmem.sessions.episode import list_episodes

    all_receipts = receipts.read(view.repo.common_dir)
    episode_of: dict[str, EpisodeFile] = {}
    if view.repo.root is not None:
        episode_of = {episode.session: episode for episode in list_episodes(view.repo.root)}
    if "session" in view.fields:
        return _session_page(view, view.fields["session"], all_receipts, episode_of)
    total = receipts.totals(all_receipts)
    by_session = receipts.by_session(all_receipts)
    full_bar = max((sum(receipt.total for receipt in rows) for rows in by_session.values()), default=0)
    sessions = [_session(name, rows, full_bar, _episode(name, episode_of)) for name, rows in by_session.items()]
    sessions.sort(key=lambda session: session.last.timestamp() if session.last else 0.0, reverse=True)
    heard = {stored for name in by_session for stored in stored_names(name)}
    silent = [episode for name, episode in reversed(episode_of.items()) if name not in heard]
    return view.render(
        "sessions.html", rows=sessions[:MAX_SESSIONS], count=len(sessions), total=total, silent=silent[:MAX_SESSIONS],
        pieces=stacked_bar(_by_size(total.tokens), sum(total.tokens.values()), LAYERS),
        budget=view.config.context_budget,
    )  # fmt: skip


def _episode(name: str, episode_of: Mapping[str, EpisodeFile]) -> EpisodeFile | None:
    """The episode of a session. `episode_of`: by the name that a file has for its session."""
    return next((episode_of[stored] for stored in stored_names(name) if stored in episode_of), None)


def _session(name: str, rows: Sequence[Receipt], full_bar: int, episode: EpisodeFile | None) -> Session:
    """The summary of the receipts of one session, in order of time. `full_bar`: the tokens of a full bar."""
    searches = sum(receipt.kind == SEARCH for receipt in rows)
    total = receipts.totals(rows)
    moments = [receipt.at for receipt in rows]
    durations = sorted(receipt.milliseconds for receipt in rows) or [0]
    path = episode.path if episode else ""
    return Session(
        name, min(moments, default=None), max(moments, default=None), len(rows) - searches, searches,
        sum(total.tokens.values()), durations[len(durations) // 2],
        tuple(stacked_bar(_by_size(total.tokens), full_bar, LAYERS)), path,
    )  # fmt: skip


def _by_size(tokens: Mapping[str, int]) -> dict[str, float]:
    """The tokens by layer, the largest layer first."""
    return dict(Counter(tokens).most_common())


def _session_page(view: View, name: str, logged: Sequence[Receipt], episode_of: Mapping[str, EpisodeFile]) -> Response:
    """One session: what it got by each of its newest MAX_RECEIPTS receipts, the newest first, and what it left. At most
    MAX_FACTS facts of each kind are shown. Raises MissingFile for an unknown name."""
    from gitmem.provenance.facts_of_source import By, Selector, facts_from

    rows = [receipt for receipt in logged if receipt.session == name]
    if not rows and name not in episode_of:
        raise MissingFile(view.t("No session of that name is known here"), view.t("Sessions lists those that are"))
    scale = max((receipt.total for receipt in rows), default=0)
    counts = Counter(part for receipt in rows for part in set(receipt.parts))
    facts = sorted((row for row in view.facts.rows if row.fact.id in counts), key=lambda row: -counts[row.fact.id])
    ledger = read_ledger(view.repo, list(filter(None, [view.repo.head()])))
    written = {
        (path, fact.id) for path, fact in facts_from(view.repo, Selector(By.SESSION, written_session(name)), ledger)
    }
    episode = _episode(name, episode_of)
    return view.render(
        "session.html", session=_session(name, rows, sum(row.total for row in rows), episode),
        rows=[(row, tuple(stacked_bar(_by_size(row.tokens), scale, LAYERS))) for row in reversed(rows[-MAX_RECEIPTS:])],
        count=len(rows), facts=facts[:MAX_FACTS], among=len(facts), parts=len(counts),
        came=[row for row in view.facts.rows if (row.path, row.fact.id) in written][:MAX_FACTS],
    )  # fmt: skip
