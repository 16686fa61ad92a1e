"""`git mem review`: show what a change does to memory, for the person who has to approve it."""

from __future__ import annotations

import os
import time

import click

from gitmem import __version__
from gitmem.cli import completions
from gitmem.cli.options import default_span, open_here
from gitmem.cli.terminal import escape, page, write_json
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError
from gitmem.gate.reports.github import as_annotations
from gitmem.gate.reports.sarif import as_sarif
from gitmem.git.opening import Repository
from gitmem.git.revision import split_range
from gitmem.memory.snapshot import layout_at
from gitmem.review.comment import comment_markdown
from gitmem.review.forges.forge import Forge
from gitmem.review.forges.location import forge_of
from gitmem.review.publish import remote_url
from gitmem.review.rendering import as_markdown
from gitmem.review.review import review_commits
from gitmem.review.review_value import as_report, as_value


@click.command()
@click.argument("span", metavar="[BASE..HEAD]", default="", shell_complete=completions.ranges)
@click.option(
    "--format", "form", type=click.Choice(["md", "comment", "json", "sarif", "github"]), default="md",
    help="Markdown, a pull request's comment, JSON (docs/json.md), SARIF 2.1.0, or annotations of a workflow.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(span: str, form: str, as_json: bool) -> int:
    """Review what BASE..HEAD changes in memory.

    Shows facts that change, findings, provenance, contradictions and sizes. Exit 1 when the gate blocks a version in
    the range, the provenance of a changed line does not hold, an agent's commit message records what the commit did
    not do, or, with mem.checkGone=block, a line became false. Without a range, what the current branch has and its
    upstream (else the default branch) has not.

    \b
    git mem review
    git mem review main..HEAD
    git mem review origin/main..HEAD --format sarif > review.sarif
    """
    repo, config = open_here()
    chosen = split_range(repo, span or default_span(repo), needs_base=True)
    layout = layout_at(repo, chosen.tip, config)
    result = review_commits(repo, config, chosen, layout, now(), time.perf_counter)
    if as_json:
        form = "json"
    match form:
        case "json":
            write_json(as_value(result, _forge(repo)))
        case "comment":
            page(comment_markdown(result, _forge(repo)))
        case "sarif":
            page(as_sarif(as_report(result), __version__))
        case "github":
            page(as_annotations(as_report(result), escape))
        case _:
            page(as_markdown(result, _forge(repo)))
    return Exit.findings_if(result.failed)


def _forge(repo: Repository) -> Forge | None:
    """The forge that the links of the review lead to: that of the remote `origin`, else that of the CI job. None
    without one; the review then has no links."""
    try:
        return forge_of(remote_url(repo, "origin"), os.environ)
    except GitMemError:
        return forge_of("", os.environ)
