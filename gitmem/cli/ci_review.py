"""The review of a pull request in CI: make it, and write it as a comment, suggestions and a check run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gitmem.cli.ci_job import commits_of, with_pull_request
from gitmem.cli.options import open_here
from gitmem.cli.terminal import say
from gitmem.environment import now
from gitmem.errors import GitMemError
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.reports.finding_words import order
from gitmem.gate.scan import Report
from gitmem.memory.snapshot import layout_at
from gitmem.plural import counted
from gitmem.review.forges.event import Event
from gitmem.review.forges.forge import Client, ForgeError
from gitmem.review.forges.github import Annotation, GitHubClient
from gitmem.review.markup import escaped_message
from gitmem.review.review import Review, review_commits
from gitmem.review.suggestions import suggestions

MARKER = "<!-- git-mem:review -->"  # in our comment of a review; the next review replaces the comment that has it


@contextmanager
def _without_if_refused(label: str) -> Iterator[None]:
    """Go on without a comment, suggestion or check run that the forge refuses or cannot store: print why on stderr. The
    verdict of the run does not depend on what can be shown there."""
    try:
        yield
    except ForgeError as error:
        say(f"git mem: no {label}: {error.message}")
        if error.hint:
            say(f"hint: {error.hint}")


def put_check(client: Client | None, name: str, head: str, result: Report, summary: str, failed: bool) -> None:
    """Write a check run of the commit `head` with each finding in a file on its line, and the Markdown `summary`, if
    the variable GITMEM_CHECK asks for it. If it cannot be written, a line is printed on stderr and the command goes on.
    `client`: None without a token. `failed`: the check run fails."""
    if os.environ.get("GITMEM_CHECK", "") != "true":
        return
    if not isinstance(client, GitHubClient):
        say("git mem: no check run: there is no token for one")
        return
    # GitHub can show no line of a commit message, whose path is MESSAGE.
    annotations = [_annotation(finding) for finding in order(result.findings) if finding.path != MESSAGE]
    title = counted(len(result.findings), "finding") if result.findings else "nothing found"
    with _without_if_refused("check run"):
        client.put_check(name, head, failed=failed, title=title, summary=summary, annotations=annotations)


def _annotation(finding: Finding) -> Annotation:
    return Annotation(
        path=finding.path,
        first=finding.line,
        last=max(finding.line, finding.end_line),
        title=finding.rule,
        message=finding.message,
        fails=finding.severity is Severity.BLOCK,
    )


def review_event(event: Event, client: Client | None) -> tuple[Event, Review | None]:
    """(the event with its pull request, the review of its commits). The review is None after another workflow's run
    whose head no open pull request has any more. Raises GitMemError if the commits of the event are not in this clone
    or the forge does not answer."""
    repo, config = open_here()
    completed = with_pull_request(repo, event, client)
    if completed.name == "workflow_run" and not completed.head:
        return completed, None
    commits = commits_of(repo, completed)
    layout = layout_at(repo, commits.tip, config)
    return completed, review_commits(repo, config, commits, layout, now(), time.perf_counter)


def link_to_run(markdown: str | None) -> str:
    """Markdown with a link to the whole review on this run's page; "" outside of GitHub Actions. `markdown`: the file
    of the artifact, None if there is none."""
    server = os.environ.get("GITHUB_SERVER_URL", "")
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    run = os.environ.get("GITHUB_RUN_ID", "")
    if not (server and repository and run.isdigit()):
        return ""
    places = "the step summary and the artifact `memory-review`" if markdown else "the step summary"
    return f"All of it: {places} of [this run]({server}/{repository}/actions/runs/{run})"


def failure_comment(event: Event, error: GitMemError) -> str:
    """The Markdown of the comment that says that the review could not be made, because of `error`."""
    head = event.head[:12] or "the head"
    text = f"### ❌ Memory review: not done\n\nNothing was checked in `{head}`: {escaped_message(error.message)}."
    if error.hint:
        text += f"\n\n{escaped_message(error.hint)}"
    return text + "\n"


def put_comment(client: Client | None, event: Event, text: str) -> str:
    """Write our comment, or replace the one of an earlier run, and return its id. "" without a token, without a pull
    request, and if the pull request of a fork started this run (`Event.of_fork`; a `workflow_run` for it may comment);
    also, with a line on stderr, if the forge refuses."""
    if client is None or not event.may_comment:
        return ""
    with _without_if_refused("comment"):
        return str(client.put_comment(event.number, MARKER, text))
    return ""


def put_suggestions(client: Client | None, event: Event, review: Review) -> None:
    """Suggest the masked lines in the pull request, if there is one that is not of a fork, and a token. If that fails,
    a line is printed on stderr and the command goes on."""
    if client is None or not event.may_comment:
        return
    with _without_if_refused("suggestion"):
        client.put_suggestions(event.number, review.head, suggestions(review))
