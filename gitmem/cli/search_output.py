"""Run `git mem search` for parsed options, and print the answer for a person or as JSON.

Imports nothing that parses command lines, because `cli/fast_search` runs without click.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from gitmem.cli.terminal import ProgressLine, escape, page, paint, say, uses_colour, write_json
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import GitMemError, UsageError
from gitmem.git.opening import Repository
from gitmem.plural import line_range
from gitmem.search.hits import Hit, LinkedLine, SourceLine
from gitmem.search.request import SearchRequest, history_mode, query_of
from gitmem.search.results import excerpt, marked_words, shown
from gitmem.search.search import EMPTY, Answer, search

MAX_SOURCE_LINES = 3  # lines of a source that are shown below its fact
UNCERTAIN = "nothing here seems to answer this; what is shown comes nearest"


class Display(NamedTuple):
    """How `git mem search` shows its answer, and which index it asks.

    `rerank`: the model that orders the hits, as `gguf:PATH`, "" for none. `jsonl`: one JSON object on each line.
    `colour`: "auto", "always" or "never". `server`: the address of a shared index, "" for the local index.
    `repositories`: names of repositories of that index, empty for all.
    """

    rerank: str = ""
    verbose: bool = False
    jsonl: bool = False
    colour: str = "auto"
    as_json: bool = False
    server: str = ""
    repositories: tuple[str, ...] = ()


def request_of(options: Mapping[str, Any]) -> tuple[SearchRequest, Display]:
    """The request and the display for the options of `git mem search`, by parameter name; a missing option has its
    default. Only `query`, the words of the question, must be there."""
    text = " ".join(options["query"])
    history = history_mode(options.get("history", False), options.get("history_only", False))
    fields = {name: options[name] for name in SearchRequest._fields if name in options}
    request = SearchRequest(**{**fields, "text": text, "history": history})
    return request, Display(**{name: options[name] for name in Display._fields if name in options})


def answer(request: SearchRequest, display: Display, repo: Repository, config: Config) -> None:
    """Search and print the hits. For a person, a hint is printed on standard error if nothing seems to answer.

    Raises ModelUnavailable for a reranking model that cannot be opened, and the errors of `query_of` and `search`.
    """
    from gitmem.index.freshness import ready
    from gitmem.provenance.forgotten_texts import forgotten_texts

    moment = now()
    searched = _with_display_needs(request, display, config)
    query = query_of(searched, moment, repo, forgotten_texts(repo), option_prefix="--")
    line = ProgressLine()
    try:
        answered = search(repo, config, query, moment, opener=lambda commit: ready(repo, config, commit, say=line.say))
    finally:
        line.clear()
    if display.rerank:
        from gitmem.search.reranking import rerank_answer

        answered = rerank_answer(
            answered, display.rerank, config, os.environ, limit=request.limit, budget=request.budget
        )
    for note in answered.notes:
        say(f"note: {note}")
    if answered.stale:
        say(f"note: the answer may miss something: {answered.reason}")
    if display.jsonl:
        for hit in shown(answered).hits:
            write_json(hit, lines=True)
    elif display.as_json:
        write_json(shown(answered))
    else:
        in_colour = uses_colour(display.colour)
        text = render(answered, query.text, in_colour, scored=display.verbose, explained=request.explain)
        page(text + (settings_text(answered.settings) if answered.settings and request.explain else ""), wrap=True)
        if hint := _hint(request, answered):
            say(hint)
        if (sys.stderr.isatty() or not answered.hits) and (words := _unindexed_files(request, repo)):
            say(f"{words}: git mem status")
        if answered.hint:
            say(f"hint: {answered.hint}")


def answer_of_server(request: SearchRequest, display: Display) -> None:
    """Search in a shared index and print the hits. The command needs no local repository.

    `--at` names a revision or a day of the server's repositories. Raises UsageError for an option that only a local
    index has, BadConfig without a token, and the errors of `shared_index.search`.
    """
    from gitmem.exchange.shared_index import search as search_server
    from gitmem.exchange.shared_index import token_of

    local_options = ("all_branches", "scope", "expired", "min_score", "budget", "blame")
    defaults = SearchRequest("")
    for name in local_options:
        if getattr(request, name) != getattr(defaults, name):
            raise UsageError(f"--{name.replace('_', '-')} does not go with --server")
    if display.rerank:
        raise UsageError("--rerank does not go with --server")
    parameters = {
        "query": request.text, "limit": request.limit, "at": request.at, "path": list(request.paths),
        "type": list(request.types), "tag": list(request.tags), "since": request.since or "",
        "until": request.until or "", "lane": request.lane, "repository": list(display.repositories),
        "explain": request.explain, "all": request.everything, "history": request.history,
    }  # fmt: skip
    answered, value = search_server(display.server, token_of(os.environ), parameters)
    for note in answered.notes:
        say(f"note: {note}")
    if answered.stale:
        say("note: the answer may miss something: the server is still indexing; ask again")
    if display.jsonl:
        for hit in value["hits"]:
            write_json(hit, lines=True)
    elif display.as_json:
        write_json(value)
    else:
        page(render(answered, request.text, uses_colour(display.colour), scored=display.verbose), wrap=True)
        if not answered.hits:
            say("nothing found")
        elif not answered.answered:
            say(_uncertain(request))


def _with_display_needs(request: SearchRequest, display: Display, config: Config) -> SearchRequest:
    """The request extended for its display: with scores for `--verbose`; for `--rerank` with more hits and no budget,
    because the model then selects the hits."""
    explain = request.explain or (display.verbose and not display.as_json and not display.jsonl)
    if not display.rerank:
        return request._replace(explain=explain)
    limit = max(request.limit, config.rerank_hits)
    return request._replace(explain=explain, limit=limit, budget=0, everything=True)


def _unindexed_files(request: SearchRequest, repo: Repository) -> str:
    """A sentence on files of the work tree that are not indexed; "" if there are none, and for other snapshots."""
    if request.at or request.all_branches or repo.root is None:
        return ""
    from gitmem.index.status import left_out

    try:
        return str(left_out(repo))
    except GitMemError:
        return ""  # the search answered: the index is replaced by somebody else just now


def render(result: Answer, query: str, in_colour: bool, *, scored: bool = False, explained: bool = True) -> str:
    """The hits for a person: place, topic and text; "" without hits. `query`: the question. `in_colour`: in colour,
    with matched words marked.

    `scored`: add the certainty of each hit. `explained`: add how each score was computed, if the hit has that.
    """
    rows = []
    marks = marked_words(query) if in_colour else None
    for hit in result.hits:
        lines = line_range(hit.start_line, hit.end_line)
        place = f"{paint(escape(hit.path, ''), 'path', in_colour)}:{paint(lines, 'line', in_colour)}"
        if hit.kind:
            place = f"commit {paint(hit.commit[:12], 'path', in_colour)}"
        about = _notes(hit, scored=scored)
        rows.append(place + (paint(f"  {escape(' · '.join(about), '')}", "dim", in_colour) if about else ""))
        rows += ["    " + _with_marks(escape(line, "\t"), marks, in_colour) for line in excerpt(hit.text, query)]
        for source in hit.sources:
            rows += _source(source, query, marks, in_colour)
        if hit.explain and explained:
            rows += [paint(f"    {row}", "dim", in_colour) for row in _explained(hit)]
        rows.append("")
    if not rows:
        return ""
    return "\n".join(rows[:-1]) + "\n"


def _notes(hit: Hit, *, scored: bool) -> list[str]:
    """What is said beside the place of a hit, in this order: topic, date, state, amendments, trust and commit.
    `scored`: with the certainty of the hit."""
    notes = list(filter(None, [hit.topic or hit.subject]))
    if hit.date and hit.date not in hit.heading + hit.path:
        notes.append(hit.date)
    if hit.origin_words:
        notes.append(hit.origin_words)
    if hit.code:
        notes += [comparison.words for comparison in hit.code]
    elif hit.state:
        notes.append(hit.state.upper() + (f" by {hit.by[:12]}" if hit.by else ""))
    notes += [_amendment_note(linked) for linked in hit.amended_by[:1]]
    notes += [_difference_note(linked) for linked in hit.differs[:1]]
    if hit.trust == "uncommitted":
        notes.append(hit.trust)
    if hit.branch:
        notes.append(f"branch {hit.branch}")
    if hit.kind:
        notes.append(hit.author)
    elif hit.commit:
        notes.append(f"{hit.commit[:12]} {hit.author}")
    if hit.repository:
        notes.append(f"in {hit.repository}")
    if scored:
        notes.append(_score_note(hit))
    return notes


def _source(source: SourceLine, query: str, marks: re.Pattern[str] | None, in_colour: bool) -> list[str]:
    """The place of a source of a fact and, if the search found it, an excerpt of its text, of MAX_SOURCE_LINES lines at
    most."""
    lines = line_range(source.start_line, source.end_line)
    rows = [paint(f"    from {escape(source.path, '')}:{lines}", "dim", in_colour)]
    lines_shown = excerpt(source.text, query)[:MAX_SOURCE_LINES] if source.text else []
    return rows + ["      " + _with_marks(escape(line, "\t"), marks, in_colour) for line in lines_shown]


def _with_marks(line: str, marks: re.Pattern[str] | None, in_colour: bool) -> str:
    """The line with the words of the question marked for a terminal. `marks`: pattern of these words, None to mark
    nothing."""
    if marks:
        return marks.sub(lambda match: paint(match[0], "match", in_colour), line)
    return line


def _score_note(hit: Hit) -> str:
    """The score, 0 to 1, and the lanes (words, meaning) that found the hit."""
    names = [name for lane, name in (("lexical", "words"), ("vector", "meaning")) if (hit.explain or {}).get(lane)]
    return f"score {hit.score:.2f}" + (f" by {' and '.join(names)}" if names else "")


def _amendment_note(linked: LinkedLine) -> str:
    """The note on a passage that a later line amends."""
    place = f"{linked.path}:{linked.start_line}"
    if linked.proposed:
        return f"perhaps amended by {place}"
    if linked.date:
        return f"until {linked.date}: amended by {place}"
    return f"amended by {place}"


def _difference_note(linked: LinkedLine) -> str:
    """The note on a passage that another line contradicts."""
    place = ", ".join(filter(None, (f"{linked.path}:{linked.start_line}", linked.date)))
    return f"{linked.otherwise}: {place}"


MIN_SHOWN = 0.0005  # smallest part of a score that is shown with three digits


def _explained(hit: Hit) -> list[str]:
    """The lines of `--explain` below a hit: how its score comes about, and the hit's ranks in the lanes. The hit must
    have `explain`; without it this raises KeyError."""
    evidence = hit.explain or {}
    lanes = [
        f"{lane} rank {evidence[lane]['rank']} ({evidence[lane]['score']:.3f})"
        for lane in ("lexical", "vector")
        if evidence.get(lane)
    ]
    priors = "".join(f" {name} {value:+.3f}" for name, value in evidence["priors"].items())
    order = f" order {evidence['order']:+.3f}" if abs(evidence["order"]) >= MIN_SHOWN else ""
    searched = evidence.get("searched", hit.score)
    return [
        *([f"reranked {hit.score:.3f}"] if "searched" in evidence else []),
        f"score {searched:.3f} = {evidence['fused']:.2f} / {evidence['scale']:.2f}{priors}{order}",
        f"{evidence['fused']:.2f} =" + "".join(f" {name} {value:+.2f}" for name, value in evidence["evidence"].items()),
        f"chunk: {', '.join(lanes) or 'beside a found one'}",
    ]


def settings_text(settings: Mapping[str, Any]) -> str:
    """The active settings for a person; `*` marks a setting that differs from the default."""
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
    """The sentence that says that no hit seems to answer the question."""
    return f"{UNCERTAIN}." if request.everything else f"{UNCERTAIN} (--all: more of it)."


def _hint(request: SearchRequest, answered: Answer) -> str:
    """What a person may try if nothing seems to answer the question; "" if something does, or if a note says so
    already."""
    if answered.hits:
        if answered.answered:
            return ""
        return _uncertain(request)
    if EMPTY in answered.notes:
        return ""
    if not request.text.strip():
        return "the question is empty: git mem search 'why webhooks?'"
    if request.budget and answered.notes:
        return "nothing fits; try a larger --budget."
    if any(
        (request.paths, request.types, request.tags, request.scope, request.since, request.until, request.min_score)
    ):
        return "nothing found; without the filters there may be more."
    scope = "at that commit" if request.at else "here"
    return f"nothing found {scope}; try other words, --expired, --all-branches, or 'git mem status'."
