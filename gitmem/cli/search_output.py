"""What `git mem search` does once its words are read, and how an answer looks to a person and to a program.

Imports nothing that reads command lines: `search.py` does, and `cli/fast_search.py` goes without.
"""

from __future__ import annotations

import os
import sys

from gitmem.cli.terminal import ProgressLine, escape, page, paint, say, write_json
from gitmem.cli.terminal import colour as coloured
from gitmem.environment import now
from gitmem.errors import GitMemError, UsageError
from gitmem.light_typing import TYPE_CHECKING, NamedTuple
from gitmem.plural import line_range
from gitmem.search.results import as_value, excerpt, hit_value, marked_words

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from gitmem.config import Config
    from gitmem.git.opening import Repository
    from gitmem.search.hits import Hit, Linked, SourceLine
    from gitmem.search.search import Answer, Query


SOURCE_LINES = 3  # of a source below its fact
UNCERTAIN = "nothing here seems to answer this; what is shown comes nearest"


class SearchRequest(NamedTuple):
    """The words and options of one search, as `git mem search -h` has them."""

    query: tuple[str, ...]
    limit: int = 6
    at: str = ""
    all_branches: bool = False
    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scope: str = ""
    since: str = ""
    until: str = ""
    expired: bool = False
    min_score: float | None = None
    lane: str = "both"
    budget: int = 0
    everything: bool = False
    history: bool = False
    history_only: bool = False
    blame: bool = False
    rerank: str = ""
    explain: bool = False
    verbose: bool = False
    jsonl: bool = False
    colour: str = "auto"
    as_json: bool = False
    server: str = ""
    repositories: tuple[str, ...] = ()


def answer(request: SearchRequest, repo: Repository, config: Config) -> None:
    """Search and print. Nothing found is an answer, with a hint on standard error.

    Raises UsageError for options that do not go together or are no days, UnknownRevision, ModelUnavailable, and what
    `search` raises.
    """
    from gitmem.index.freshness import ready
    from gitmem.search.search import search

    moment = now()
    query = query_of(request, repo, config, moment)
    line = ProgressLine()
    try:
        answered = search(repo, config, query, moment, opener=lambda commit: ready(repo, config, commit, say=line.say))
    finally:
        line.clear()
    if request.rerank:
        from gitmem.search.reranking import reranked

        answered = reranked(answered, request.rerank, config, os.environ, limit=request.limit, budget=request.budget)
    for note in answered.notes:
        say(f"note: {note}")
    if answered.stale:
        say(f"note: the answer may miss something: {answered.reason}")
    if request.jsonl:
        for hit in answered.hits:
            write_json(hit_value(hit, answered.query), lines=True)
    elif request.as_json:
        write_json(as_value(answered))
    else:
        on = coloured(request.colour)
        text = render(answered, query.text, on, scored=request.verbose, explained=request.explain)
        page(text + (settings_text(answered.settings) if answered.settings and request.explain else ""), wrap=True)
        if hint := _hint(request, answered):
            say(hint)
        if (sys.stderr.isatty() or not answered.hits) and (words := _left_out(request, repo)):
            say(f"{words}: git mem status")


def answer_of_server(request: SearchRequest) -> None:
    """Ask a shared index and print its answer. The command needs no local repository.

    `--at` takes a revision or a day of the repositories named. Raises UsageError for an option that only a local index
    has, BadConfig without a token, GitMemError.
    """
    from gitmem.exchange.shared_index import search, token_of

    only_here = SearchRequest(request.query)._asdict()
    taken = {"query", "limit", "at", "paths", "types", "tags", "since", "until", "lane", "verbose", "explain", "jsonl"}
    for name, value in request._asdict().items():
        if (
            name not in taken | {"everything", "colour", "as_json", "server", "repositories", "history", "history_only"}
            and value != only_here[name]
        ):
            raise UsageError(f"--{name.replace('_', '-')} does not go with --server")
    words = " ".join(request.query)
    asked = {
        "query": words, "limit": request.limit, "at": request.at, "path": list(request.paths),
        "type": list(request.types), "tag": list(request.tags), "since": request.since, "until": request.until,
        "lane": request.lane, "repository": list(request.repositories), "explain": request.explain,
        "all": request.everything, "history": _history_mode(request),
    }  # fmt: skip
    answered, value = search(request.server, token_of(os.environ), asked)
    for note in answered.notes:
        say(f"note: {note}")
    if answered.stale:
        say("note: the answer may miss something: the server is still indexing; ask again")
    if request.jsonl:
        for hit in value["hits"]:
            write_json(hit, lines=True)
    elif request.as_json:
        write_json(value)
    else:
        page(render(answered, words, coloured(request.colour), scored=request.verbose), wrap=True)
        if not answered.hits:
            say("nothing found")
        elif not answered.answered:
            say(_uncertain(request))


def _history_mode(request: SearchRequest) -> str:
    """`Query.history` of a request: "only" commits, "with" commits, or "" for none."""
    if request.history_only:
        return "only"
    if not request.history:
        return ""
    return "with"


def query_of(request: SearchRequest, repo: Repository, config: Config, moment: datetime) -> Query:
    """The query for the words and options of a request.

    With `--rerank` the query asks for more hits and has no budget, because the model then selects.
    """
    from gitmem.provenance.forgotten_texts import forgotten_texts
    from gitmem.search.search import Lane, Query

    if request.at and request.all_branches:
        raise UsageError("--at and --all-branches do not go together")
    since = until = None
    commit = ""
    if request.since or request.until or request.at:
        from gitmem.git.revision import resolve_at
        from gitmem.text.named_times import first_day, last_day

        since, until = first_day(request.since, moment), last_day(request.until, moment)
        commit = ""
        if request.at:
            commit = resolve_at(repo, request.at, moment)
    if since and until and since > until:
        raise UsageError(f"--since {request.since} is later than --until {request.until}")
    branches: tuple[tuple[str, str], ...] = ()
    if request.all_branches:
        current = repo.branch()
        refs = [(name.removeprefix("refs/heads/"), oid) for name, oid in repo.refs()]
        branches = tuple(sorted(refs, key=lambda ref: (ref[0] != current, ref[0])))
    return Query(
        text=" ".join(request.query),
        limit=max(request.limit, config.rerank_hits) if request.rerank else request.limit,
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
        budget=0 if request.rerank else request.budget,
        blame=request.blame,
        everything=request.everything or bool(request.rerank),
        explain=request.explain or (request.verbose and not request.as_json and not request.jsonl),
        history=_history_mode(request),
        forgotten=forgotten_texts(repo),
    )


def _folder(scope: str) -> str:
    """The folder that `--scope` names, "" for none. Raises UsageError for what cannot be one."""
    if not scope:
        return ""
    from gitmem.memory.folder_scope import folder_name

    name = folder_name(scope)
    if name is None:
        raise UsageError("--scope names no folder of this repository", "as in --scope packages/api")
    return name


def _left_out(request: SearchRequest, repo: Repository) -> str:
    """What no words of a person could have found in the work tree, "" for nothing and for other snapshots."""
    if request.at or request.all_branches or repo.root is None:
        return ""
    from gitmem.index.status import left_out

    try:
        return str(left_out(repo))
    except GitMemError:
        return ""  # the search answered: the index is replaced by somebody else just now


def render(answer: Answer, query: str, on: bool, *, scored: bool = False, explained: bool = True) -> str:
    """The hits for a person: place, topic and text; matched words are marked on a terminal.

    `scored`: add the certainty of each hit. `explained`: add how each score was computed, if the hit has that.
    """
    out = []
    marks = None
    if on:
        marks = marked_words(query)
    for hit in answer.hits:
        lines = line_range(hit.start_line, hit.end_line)
        where = f"{paint(escape(hit.path, ''), 'path', on)}:{paint(lines, 'line', on)}"
        if hit.kind:
            where = f"commit {paint(hit.commit[:12], 'path', on)}"
        if hit.where or hit.subject:
            about = [hit.where or hit.subject]
        else:
            about = []
        if hit.date and hit.date not in hit.heading + hit.path:
            about += [hit.date]
        if hit.code:
            about += [said.words for said in hit.code]
        elif hit.state:
            about += [hit.state.upper() + (f" by {hit.by[:12]}" if hit.by else "")]
        about += [_amended(linked) for linked in hit.amended_by[:1]]
        about += [f"an earlier line says otherwise: {one.path}:{one.start_line}" for one in hit.differs[:1]]
        if hit.trust == "uncommitted":
            about += [hit.trust]
        if hit.branch:
            about += [f"branch {hit.branch}"]
        if hit.kind:
            about.append(hit.author)
        elif hit.commit:
            about.append(f"{hit.commit[:12]} {hit.author}")
        if hit.repository:
            about += [f"in {hit.repository}"]
        if scored:
            about += [_sureness(hit)]
        out.append(where + (paint(f"  {escape(' · '.join(about), '')}", "dim", on) if about else ""))
        for line in excerpt(hit.text, query):
            out.append("    " + _marked(escape(line, "\t"), marks, on))
        for source in hit.sources:
            out += _source(source, query, marks, on)
        if hit.explain and explained:
            out += [paint(f"    {row}", "dim", on) for row in _explained(hit)]
        out.append("")
    if not out:
        return ""
    return "\n".join(out[:-1]) + "\n"


def _source(source: SourceLine, query: str, marks: re.Pattern[str] | None, on: bool) -> list[str]:
    """The place of the lines a fact comes from and, if the search found them, an excerpt of their text."""
    lines = line_range(source.start_line, source.end_line)
    rows = [paint(f"    from {escape(source.path, '')}:{lines}", "dim", on)]
    for line in excerpt(source.text, query)[:SOURCE_LINES] if source.text else []:
        rows.append("      " + _marked(escape(line, "\t"), marks, on))
    return rows


def _marked(line: str, marks: re.Pattern[str] | None, on: bool) -> str:
    """The line with the words of the question marked for a terminal. `marks`: these words; None marks nothing."""
    if marks:
        return marks.sub(lambda m: paint(m[0], "match", on), line)
    return line


def _sureness(hit: Hit) -> str:
    """The score, 0 to 1, and which lanes found the chunk of the hit."""
    names = [name for lane, name in (("lexical", "words"), ("vector", "meaning")) if (hit.explain or {}).get(lane)]
    return f"score {hit.score:.2f}" + (f" by {' and '.join(names)}" if names else "")


def _amended(linked: Linked) -> str:
    """What a person reads of a passage that a later line amends."""
    where = f"{linked.path}:{linked.start_line}"
    if linked.proposed:
        return f"perhaps amended by {where}"
    if linked.date:
        return f"until {linked.date}: amended by {where}"
    return f"amended by {where}"


SHOWN_FROM = 0.0005  # of a score that a person sees with three digits


def _explained(hit: Hit) -> list[str]:
    evidence = hit.explain or {}
    lanes = [
        f"{lane} rank {evidence[lane]['rank']} ({evidence[lane]['score']:.3f})"
        for lane in ("lexical", "vector")
        if evidence.get(lane)
    ]
    priors = "".join(f" {name} {value:+.3f}" for name, value in evidence["priors"].items())
    order = ""
    if abs(evidence["order"]) >= SHOWN_FROM:
        order = f" order {evidence['order']:+.3f}"
    searched = evidence.get("searched", hit.score)
    return [
        *([f"reranked {hit.score:.3f}"] if "searched" in evidence else []),
        f"score {searched:.3f} = {evidence['fused']:.2f} / {evidence['scale']:.2f}{priors}{order}",
        f"{evidence['fused']:.2f} =" + "".join(f" {name} {value:+.2f}" for name, value in evidence["evidence"].items()),
        f"chunk: {', '.join(lanes) or 'beside a found one'}",
    ]


def settings_text(settings: Mapping[str, Any]) -> str:
    """The settings in force for a person; `*` marks a setting that differs from the default."""
    changed = settings["changed"]

    def shown(value: Any) -> str:
        if isinstance(value, list):
            return " ".join(value) or "-"
        if isinstance(value, float):
            return f"{value:g}"
        return str(value)

    rows = [
        f"{title}: "
        + "  ".join(
            f"{name.removeprefix('mem.')} {shown(value)}{'*' * (name in changed)}"
            for name, value in settings[title].items()
        )
        for title in ("keys", "weights", "priors")
    ]
    about = [f"{name.removeprefix('mem.')} {shown(value)}" for name, value in changed.items()]
    return "\n".join(["", *rows, *([f"* as shipped: {'  '.join(about)}"] if about else []), ""])


def _uncertain(request: SearchRequest) -> str:
    if request.everything:
        return f"{UNCERTAIN}."
    return f"{UNCERTAIN} (--all: more of it)."


def _hint(request: SearchRequest, answered: Answer) -> str:
    """What a person should know whom nothing answers; "" where something does, or where the notes say it already."""
    from gitmem.search.search import EMPTY

    if answered.hits:
        if answered.answered:
            return ""
        return _uncertain(request)
    if EMPTY in answered.notes:
        return ""
    if not " ".join(request.query).strip():
        return "the question is empty: git mem search 'why webhooks?'"
    if request.budget and answered.notes:
        return "nothing fits; try a larger --budget."
    if any(
        (request.paths, request.types, request.tags, request.scope, request.since, request.until, request.min_score)
    ):
        return "nothing found; without the filters there may be more."
    where = "here"
    if request.at:
        where = "at that commit"
    return f"nothing found {where}; try other words, --expired, --all-branches, or 'git mem status'."
