"""`git mem search`: find what memory says, in the work tree or at any commit."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from gitmem.commands._edge import colour_option, json_option, now, open_here
from gitmem.errors import UsageError
from gitmem.output import colour as coloured
from gitmem.output import escape, paint, say, write, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from gitmem.config import Config
    from gitmem.passages import Hit
    from gitmem.search import Answer


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--limit", default=6, show_default=True, type=click.IntRange(1, 1000), help="Hits at most.")
@click.option("--at", "at", default="", metavar="REV|DATE", help="Memory as it was there or then.")
@click.option("--all-branches", is_flag=True, help="Every local branch; each hit says which.")
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Only files that match; repeatable.")
@click.option("--type", "types", multiple=True, metavar="T", help="Only facts of this type; repeatable.")
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only lines with this tag; repeatable.")
@click.option("--since", default="", metavar="DATE", help="Only lines of this day or later.")
@click.option("--until", default="", metavar="DATE", help="Only lines of this day or earlier.")
@click.option("--expired", is_flag=True, help="Expired and superseded facts and digested episodes too, labelled.")
@click.option("--min-score", type=click.FloatRange(0, 1), metavar="X", help="Leave out hits below X (mem.searchFloor).")
@click.option("--lane", default="both", type=click.Choice(["both", "lexical", "vector"]), help="What to search by.")
@click.option("--budget", default=0, type=click.IntRange(0), metavar="N", help="Whole passages of at most N tokens.")
@click.option("--blame", is_flag=True, help="Who wrote each hit, in which commit.")
@click.option("--rerank", default="", metavar="gguf:PATH", help="Order the hits by a reranking model.")
@click.option("--explain", is_flag=True, help="How each score came about.")
@click.option("--jsonl", is_flag=True, help="One JSON object a hit, a line each.")
@colour_option
@json_option
def command(
    query: tuple[str, ...],
    limit: int,
    at: str,
    all_branches: bool,
    paths: tuple[str, ...],
    types: tuple[str, ...],
    tags: tuple[str, ...],
    since: str,
    until: str,
    expired: bool,
    min_score: float | None,
    lane: str,
    budget: int,
    blame: bool,
    rerank: str,
    explain: bool,
    jsonl: bool,
    colour: str,
    as_json: bool,
) -> None:
    """Find the lines of memory that answer QUERY, by words and by meaning.

    Edited files count as they are on disk; the index is brought up to date first. Any text is a query.

    \b
    git mem search "why did we choose webhooks"
    git mem search 배포 규칙 --at 2026-03-01
    git mem search ERR_1042 --json
    """
    from gitmem.search import Lane, Query, resolve_at, search

    if at and all_branches:
        raise UsageError("--at and --all-branches do not go together")
    repo, config = open_here()
    moment = now()
    branches: tuple[tuple[str, str], ...] = ()
    if all_branches:
        current = repo.branch()
        refs = [(name.removeprefix("refs/heads/"), oid) for name, oid in repo.refs()]
        branches = tuple(sorted(refs, key=lambda ref: (ref[0] != current, ref[0])))
    asked = Query(
        text=" ".join(query),
        limit=max(limit, config.rerank_hits) if rerank else limit,
        commit=resolve_at(repo, at, moment) if at else "",
        branches=branches,
        paths=paths,
        types=types,
        tags=tags,
        since=_day(since, "--since"),
        until=_day(until, "--until"),
        expired=expired,
        min_score=min_score,
        lane=Lane(lane),
        budget=0 if rerank else budget,
        blame=blame,
        explain=explain,
    )
    answer = search(repo, config, asked, moment)
    if rerank:
        answer = _reranked(answer, rerank, config, limit, budget)
    for note in answer.notes:
        say(f"note: {note}")
    if answer.stale:
        say(f"note: the answer may miss something: {answer.reason}")
    if jsonl:
        for hit in answer.hits:
            write_json(hit_value(hit), lines=True)
    elif as_json:
        write_json(as_value(answer))
    else:
        write(render(answer, asked.text, coloured(colour)))
        if answer.settings:
            write(settings_text(answer.settings))
        if not answer.hits:
            narrowed = bool(paths or types or tags or since or until or min_score)
            say("nothing fits; try a larger --budget." if budget and answer.notes else _hint(narrowed, bool(at)))


def _reranked(answer: Answer, spec: str, config: Config, limit: int, budget: int) -> Answer:
    """The first hits in the order a reranking model gives them; their score is the model's."""
    from gitmem.models.reranker import rerank
    from gitmem.passages import within

    texts = [hit.text for hit in answer.hits[: config.rerank_hits]]
    scores = rerank(spec, answer.query, texts, config.model_seconds, os.environ)
    order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    ranked = [answer.hits[at]._replace(score=round(scores[at], 4)) for at in order]
    # What the model did not read keeps its order and comes after; its score would be of another kind.
    ranked += [hit._replace(score=0.0) for hit in answer.hits[config.rerank_hits :]]
    hits, left_out = within(ranked[:limit], budget)
    return answer._replace(hits=hits, notes=(*answer.notes, *left_out))


def as_value(answer: Answer) -> dict[str, Any]:
    """The JSON of docs/json.md, "search"."""
    value: dict[str, Any] = {
        "query": answer.query,
        "at": answer.at,
        "lanes": list(answer.lanes),
        "stale": answer.stale,
        "hits": [hit_value(hit) for hit in answer.hits],
    }
    if answer.settings:
        value["settings"] = dict(answer.settings)
    return value


def hit_value(hit: Hit) -> dict[str, Any]:
    """One hit; `state`, `branch`, `commit`, `author` and `explain` only where there is something to say."""
    value: dict[str, Any] = {
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "heading": hit.heading,
        "text": hit.text,
        "score": hit.score,
        "date": hit.date or None,
        "type": hit.type or None,
        "tags": list(hit.tags),
        "origin": hit.origin or None,
        "trust": hit.trust,
        "blob": hit.blob,
        "id": hit.id,
    }
    for name in ("state", "branch", "commit", "author", "explain"):
        if getattr(hit, name):
            value[name] = getattr(hit, name)
    return value


def render(answer: Answer, query: str, on: bool) -> str:
    """For a person: where, under which heading, the text; matches marked on a terminal."""
    out = []
    marks = _marks(query) if on else None
    for hit in answer.hits:
        span = f"{hit.start_line}-{hit.end_line}" if hit.end_line != hit.start_line else f"{hit.start_line}"
        where = f"{paint(escape(hit.path, ''), 'path', on)}:{paint(span, 'line', on)}"
        about = [hit.heading] if hit.heading else []
        about += [hit.state.upper()] if hit.state else []
        about += [hit.trust] if hit.trust == "uncommitted" else []
        about += [f"branch {hit.branch}"] if hit.branch else []
        about += [f"{hit.commit[:12]} {hit.author}"] if hit.commit else []
        out.append(where + (paint(f"  {escape(' · '.join(about), '')}", "dim", on) if about else ""))
        lines = hit.text.split("\n")
        for line in lines if len(lines) <= 14 else [*lines[:12], f"... {len(lines) - 12} more lines"]:
            shown = escape(line, "\t")
            out.append("    " + (marks.sub(lambda m: paint(m[0], "match", on), shown) if marks else shown))
        if hit.explain:
            out += [paint(f"    {row}", "dim", on) for row in _explained(hit)]
        out.append("")
    return "\n".join(out[:-1]) + "\n" if out else ""


def _explained(hit: Hit) -> list[str]:
    found = hit.explain or {}
    lanes = [
        f"{lane} rank {found[lane]['rank']} ({found[lane]['score']:.3f})"
        for lane in ("lexical", "vector")
        if found.get(lane)
    ]
    return [
        f"score {hit.score:.3f} = " + " + ".join(f"{name} {value:.2f}" for name, value in found["evidence"].items()),
        f"chunk: {', '.join(lanes) or 'beside a found one'}"
        + "".join(f"; {name} {value:+.3f}" for name, value in found["priors"].items()),
    ]


def settings_text(settings: Mapping[str, Any]) -> str:
    """The settings in force for a person; `*` marks what is not as shipped."""
    changed = settings["changed"]

    def shown(value: Any) -> str:
        return (
            " ".join(value) or "-" if isinstance(value, list) else f"{value:g}" if isinstance(value, float) else value
        )

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


def _marks(query: str) -> re.Pattern[str] | None:
    """What to mark: the query's words; of Latin ones their beginning, so that other forms are marked too."""
    from gitmem.question import STOP

    words = []
    for word in re.findall(r"\w+", query):
        if word.lower() in STOP:
            continue
        if word.isascii():
            words.append(rf"\b{re.escape(word[: max(4, len(word) - 3)])}\w*")
        else:
            words.append(re.escape(word[: max(2, len(word) - 1)]))
    return re.compile("|".join(words), re.IGNORECASE) if words else None


def _hint(narrowed: bool, then: bool) -> str:
    if narrowed:
        return "nothing found; without the filters there may be more."
    where = "at that commit" if then else "here"
    return f"nothing found {where}; try other words, --expired, --all-branches, or 'git mem status'."


def _day(text: str, option: str) -> date | None:
    from datetime import date

    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} needs YYYY-MM-DD, not '{text}'") from None
