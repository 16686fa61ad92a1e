"""Turns a search request, with days, revisions and folders as text, into a `Query`.

The command line, the Python API, the MCP tools and the server all use this module, so that a day, a revision or a
folder means the same in each of them.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import NamedTuple

from gitmem.errors import UsageError
from gitmem.git.repository import Repository
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.search.query import Lane, Query

HISTORY = ("", "with", "only")  # values of `SearchRequest.history`


class SearchRequest(NamedTuple):
    """A search as a person or program states it.

    `at`: a revision or a day, "" for the work tree. `all_branches`: search the local branches. `scope`: a folder.
    `since`, `until`: a day as text ("last week") or a date, "" or None for no limit. `lane`: the name of a `Lane`.
    `history`: "with" finds commits too, "only" finds only commits. The other fields are those of `Query`.
    """

    text: str
    limit: int = 6
    at: str = ""
    all_branches: bool = False
    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scope: str = ""
    since: str | date | None = ""
    until: str | date | None = ""
    expired: bool = False
    min_score: float | None = None
    lane: str = Lane.BOTH.value
    budget: int = 0
    everything: bool = False
    history: str = ""
    blame: bool = False
    explain: bool = False


def query_of(
    request: SearchRequest,
    now: datetime,
    repo: Repository | None = None,
    forgotten: Forgotten = NOTHING,
    *,
    option_prefix: str = "",
) -> Query:
    """The query of a request. `now`: for relative days.

    `repo`: None ignores `at` and `all_branches`. `forgotten`: texts that no hit shall show. `option_prefix`: text
    before the name of an option in an error, such as "--".

    Raises UsageError for a text that is not UTF-8 (no document has its words), an invalid day, folder, lane or history
    and for options that exclude each other, UnknownRevision if `at` names no commit.
    """
    try:
        request.text.encode()
    except UnicodeEncodeError:
        raise UsageError("the question is no UTF-8 text", "write it as UTF-8") from None
    if request.at and request.all_branches:
        raise UsageError("--at and --all-branches do not go together")
    if request.lane not in list(Lane):
        raise UsageError("'lane' is one of " + ", ".join(Lane), "leave it out for both")
    if request.history not in HISTORY:
        raise UsageError("'history' is 'with' or 'only'", "leave it out for memory alone")
    since, until = _days(request, now, option_prefix)
    commit = ""
    branches: tuple[tuple[str, str], ...] = ()
    if repo is not None and request.at:
        from gitmem.git.revision import resolve_at

        commit = resolve_at(repo, request.at, now)
    if repo is not None and request.all_branches:
        branches = _branches(repo)
    return Query(
        text=request.text,
        limit=request.limit,
        commit=commit,
        branches=branches,
        paths=request.paths,
        types=request.types,
        tags=request.tags,
        scope=_folder(request.scope),
        since=since,
        until=until,
        expired=request.expired,
        min_score=request.min_score,
        lane=Lane(request.lane),
        budget=request.budget,
        blame=request.blame,
        explain=request.explain,
        everything=request.everything,
        history=request.history,
        forgotten=forgotten,
        instructions=repo is not None,
    )


def history_mode(history: bool, history_only: bool = False) -> str:
    """The value of `SearchRequest.history` for the switches `--history` and `--history-only`: "with", "only" or "" for
    neither; the second switch wins."""
    if history_only:
        return "only"
    if history:
        return "with"
    return ""


def _days(request: SearchRequest, now: datetime, option_prefix: str) -> tuple[date | None, date | None]:
    """(`since`, `until`) of a request as dates, None for no limit. Raises UsageError for a text that is not a day, or
    if `since` is later."""
    since, until = request.since or None, request.until or None
    if isinstance(since, str) or isinstance(until, str):
        from gitmem.text.named_times import first_day, last_day

        if isinstance(since, str):
            since = first_day(since, now, f"{option_prefix}since")
        if isinstance(until, str):
            until = last_day(until, now, f"{option_prefix}until")
    if since and until and since > until:
        raise UsageError(f"{option_prefix}since {request.since} is later than {option_prefix}until {request.until}")
    return since, until


def _branches(repo: Repository) -> tuple[tuple[str, str], ...]:
    """(name, commit) of each local branch: the current one first, then by name."""
    current = repo.branch()
    refs = [(name.removeprefix("refs/heads/"), oid) for name, oid in repo.refs()]
    return tuple(sorted(refs, key=lambda ref: (ref[0] != current, ref[0])))


def _folder(scope: str) -> str:
    """The normalised folder that `--scope` names, "" for "". Raises UsageError for a text that cannot be a folder."""
    if not scope:
        return ""
    from gitmem.memory.folder_scope import folder_name

    name = folder_name(scope)
    if name is None:
        raise UsageError("--scope names no folder of this repository", "as in --scope packages/api")
    return name
