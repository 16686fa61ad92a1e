"""`git mem search`: find what memory says, in the work tree or at any commit.

Declares the options; `cli/search_output` runs the search. Plain spellings are read by `cli/fast_search` instead.
"""

from __future__ import annotations

from typing import Any

import click

from gitmem.cli import completions
from gitmem.cli.fast_search import LIMITS
from gitmem.cli.options import Decorator, at_option, colour_option, day_option, json_option, open_here
from gitmem.errors import UsageError


def filter_option(name: str, parameter: str, completer: completions.Completer, metavar: str, help: str) -> Decorator:
    """Decorator for an option that narrows the search and may be repeated, () without it."""
    return click.option(name, parameter, multiple=True, shell_complete=completer, metavar=metavar, help=help)


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-n", "--limit", default=6, show_default=True, type=click.IntRange(*LIMITS["limit"]), help="Hits at most."
)
@at_option("Memory as it was there or then.")
@click.option("--all-branches", is_flag=True, help="Every local branch; each hit says which.")
@filter_option("--path", "paths", completions.paths, "GLOB", "Only files that match; repeatable.")
@filter_option("--type", "types", completions.types, "T", "Only facts of this type; repeatable.")
@filter_option("--tag", "tags", completions.tags, "T", "Only lines with this tag; repeatable.")
@click.option("--scope", default="", metavar="FOLDER", help="Only what holds for this folder or one below it.")
@day_option("--since", "Only lines of this day or later.")
@day_option("--until", "Only lines of this day or earlier.")
@click.option("--expired", is_flag=True, help="Expired and superseded facts and digested episodes too, labelled.")
@click.option("--all", "everything", is_flag=True, help="More than five hits also where nothing seems to answer.")
@click.option("--min-score", type=click.FloatRange(0, 1), metavar="X", help="Leave out hits below X (mem.searchFloor).")
@click.option("--lane", default="both", type=click.Choice(["both", "lexical", "vector"]), help="What to search by.")
@click.option("--budget", default=0, type=click.IntRange(0), metavar="N", help="Whole passages of at most N tokens.")
@click.option("--history", is_flag=True, help="Commits too: what their messages say.")
@click.option("--history-only", is_flag=True, help="Commits and nothing else.")
@click.option("--blame", is_flag=True, help="Who wrote each hit, in which commit.")
@click.option("--rerank", default="", metavar="gguf:PATH", help="Order the hits by a reranking model.")
@click.option("--server", default="", metavar="URL", help="Ask a shared index instead (git mem server).")
@click.option(
    "--repository", "repositories", multiple=True, metavar="NAME", help="With --server: only this repository."
)
@click.option("-v", "--verbose", is_flag=True, help="How sure each hit is, and by what it was found.")
@click.option("--explain", is_flag=True, help="How each score came about.")
@click.option("--jsonl", is_flag=True, help="One JSON object a hit, a line each.")
@colour_option
@json_option
def command(**arguments: Any) -> None:
    """Find the lines that answer QUERY, by words and by meaning.

    Edited files count as they are on disk; the index is brought up to date first. Any text is a query.

    \b
    git mem search "why did we choose webhooks"
    git mem search 배포 규칙 --at 2026-03-01
    git mem search ERR_1042 --json
    """
    from gitmem.cli.search_output import answer, answer_of_server, request_of

    request, display = request_of(arguments)
    if display.server:
        answer_of_server(request, display)
        return
    if display.repositories:
        raise UsageError("--repository goes with --server")
    answer(request, display, *open_here())
