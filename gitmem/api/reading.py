"""Searching and reading for the Python API, of any opened repository at any commit. Writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from gitmem.api.values import Value
from gitmem.config import Config
from gitmem.git.opening import Repository


def search(
    repo: Repository,
    config: Config,
    query: str,
    moment: datetime,
    *,
    commit: str = "",
    limit: int = 6,
    paths: Sequence[str] = (),
    types: Sequence[str] = (),
    tags: Sequence[str] = (),
    since: str | date | None = None,
    until: str | date | None = None,
    expired: bool = False,
    min_score: float | None = None,
    history: str = "",
    everything: bool = False,
) -> Value:
    """The JSON of docs/json.md, "search". `history`: "", "with" or "only". Raises UsageError for a day that is none."""
    from gitmem.provenance.forgotten_texts import forgotten_texts
    from gitmem.search.results import as_value
    from gitmem.search.search import Query
    from gitmem.search.search import search as found
    from gitmem.text.named_times import first_day, last_day

    asked = Query(
        query, limit=limit, commit=commit, paths=tuple(paths), types=tuple(types), tags=tuple(tags),
        since=since if isinstance(since, date) else first_day(since or "", moment, "since"),
        until=until if isinstance(until, date) else last_day(until or "", moment, "until"), expired=expired,
        min_score=min_score, history=history, everything=everything, forgotten=forgotten_texts(repo),
    )  # fmt: skip
    return as_value(found(repo, config, asked, moment))


def read_lines(repo: Repository, config: Config, path: str, first: int, last: int, commit: str) -> Value:
    """The JSON of docs/json.md, "show": lines `first` to `last`, the whole file for 0. Raises MissingFile."""
    from gitmem.memory.show import as_value, read
    from gitmem.provenance.forgotten_texts import forgotten_texts

    return as_value(read(repo, config, path, commit, forgotten_texts(repo)), first, last)
