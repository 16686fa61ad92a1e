"""The CI job that runs a command of `git mem action`: its event and commits, its forge, and where its results go.

Reads GITHUB_* and CI_* variables and the event's payload; writes step outputs, the step summary, findings and files.
"""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import replace
from pathlib import Path

from gitmem.cli.terminal import escape, say, write
from gitmem.errors import GitFailed, GitMemError, UnknownRevision
from gitmem.gate.reports.github import as_annotations
from gitmem.gate.reports.text import as_text as scan_text
from gitmem.gate.scan import Report
from gitmem.git.opening import Repository
from gitmem.git.revision import CommitRange, towards
from gitmem.json_values import parse_json
from gitmem.regular_file import writable_file
from gitmem.review import proposals
from gitmem.review.forges import github_events, gitlab_ci
from gitmem.review.forges.event import Event
from gitmem.review.forges.forge import Client, Forge
from gitmem.review.forges.github import GitHubClient
from gitmem.review.forges.location import client_of, forge_of, token_of

MAX_SUMMARY_BYTES = 1_000_000  # of a step summary; GitHub's limit is 1 MiB for a step


def read_event() -> Event:
    """The event that started this run; outside of CI an event whose texts are empty. Raises GitMemError if its payload
    cannot be read."""
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    if not path and os.environ.get("GITLAB_CI") == "true":
        return gitlab_ci.parse(os.environ)
    payload = {}
    if path:
        try:
            payload = parse_json(Path(path).read_bytes())
        except (OSError, ValueError):
            raise GitMemError("the event's payload cannot be read", "this command runs inside GitHub Actions") from None
    if not isinstance(payload, dict):
        payload = {}
    return github_events.parse(os.environ, payload)


def commits_of(repo: Repository, event: Event) -> CommitRange:
    """The commits that the event adds, and the commit whose settings judge them (`CommitRange`). Base "" stands for all
    of history.

    GITMEM_BASE and GITMEM_HEAD (the inputs `base` and `head`) replace those of the event; a given base judges. Without
    it the commits of a proposal are judged by the tip of its target branch in this clone if that is newer than the base
    that the event names, else by that base; those of a push by the commit before it. If the event names no base (a new
    branch), or one that a force-push removed, the range begins where the branch left the default branch, whose tip
    judges; on the default branch, or without a branch, it is all of history. Raises GitMemError if the clone lacks a
    named commit. The scan checks whether a shallow clone has the whole range.
    """
    head = os.environ.get("GITMEM_HEAD") or event.head or "HEAD"
    tip = resolve_commit(repo, head)
    given_base = os.environ.get("GITMEM_BASE", "")
    base = given_base or event.base
    if event.number and given_base:
        return towards(repo, resolve_commit(repo, given_base), tip)
    if event.number and base:
        range_start = resolve_commit(repo, base)
        if in_gitlab() and event.target:
            _fetch_target(repo, event.target)
        return proposals.proposed_range(repo, event.repository, event.target, range_start, tip)
    if given_base or (event.name == "merge_group" and base):
        range_start = resolve_commit(repo, given_base or base)
        return CommitRange(range_start, tip, range_start)
    if base:
        try:
            range_start = repo.resolve(base)
            return CommitRange(range_start, tip, range_start)
        except UnknownRevision:
            say(f"git mem: the former tip {base[:12]} is gone; looking from the default branch")
    if event.branch and event.branch != event.default_branch:
        for ref in (f"refs/remotes/origin/{event.default_branch}", f"refs/heads/{event.default_branch}"):
            try:
                return towards(repo, repo.resolve(ref), tip)
            except UnknownRevision:
                continue
    return CommitRange("", tip)


def _fetch_target(repo: Repository, branch: str) -> None:
    """Fetch the branch that a merge request is for, which a runner of GitLab does not fetch. If that fails, a line is
    printed and the settings of the merge request's base count."""
    try:
        proposals.fetch_target(repo, branch)
    except GitFailed:
        say("git mem: the target branch cannot be fetched; the settings of the merge request's base count")


def resolve_commit(repo: Repository, rev: str) -> str:
    """The oid of the commit that a revision names. Raises GitMemError if the clone does not have it."""
    try:
        return repo.resolve(rev)
    except UnknownRevision:
        raise GitMemError(
            f"commit {rev[:12]} is not in this clone", "let actions/checkout fetch all of history: fetch-depth: 0"
        ) from None


def write_outputs(**values: str) -> None:
    """Append step outputs (name -> value) to the file of GITHUB_OUTPUT, each between random delimiters, so that a value
    cannot set another output. Does nothing without that variable, as outside of GitHub Actions."""
    path = os.environ.get("GITHUB_OUTPUT")
    if not path:
        return
    with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
        for name, value in values.items():
            end = f"end-{secrets.token_hex(16)}"
            file.write(f"{name}<<{end}\n{value}\n{end}\n")


def append_summary(markdown: str) -> None:
    """Append Markdown to the step summary, cut after MAX_SUMMARY_BYTES with a note. Does nothing without the variable
    GITHUB_STEP_SUMMARY, as outside of GitHub Actions."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    data = markdown.encode("utf-8", "backslashreplace")
    if len(data) > MAX_SUMMARY_BYTES:
        data = data[:MAX_SUMMARY_BYTES].rsplit(b"\n", 1)[0] + b"\n\n(cut: the summary holds 1 MiB)\n"
    with open(path, "ab") as file:
        file.write(data + b"\n")


def in_gitlab() -> bool:
    """Whether this is a job of GitLab CI, whose log has no annotations."""
    return os.environ.get("GITLAB_CI") == "true" and not os.environ.get("GITHUB_ACTIONS")


def write_findings(result: Report) -> None:
    """Print the findings: as annotations of GitHub, or as text in GitLab CI."""
    if in_gitlab():
        write(scan_text(result, escape))
    else:
        write(as_annotations(result, escape))


def write_report(path: str, text: str) -> None:
    """Write a report to a file that an option names. Raises GitMemError if it cannot be written."""
    try:
        writable_file(Path(path)).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise GitMemError(f"cannot write '{path}': {error.strerror}") from None


def with_pull_request(repo: Repository, event: Event, client: Client | None) -> Event:
    """The event with the number, base and head of its pull request: the one that GITMEM_PULL_REQUEST (the input
    `pull-request`) names, or the one that another workflow ran on (a `workflow_run` event).

    The pull request's commits are fetched; none of them is checked out or run. Every other event is returned unchanged.
    If no open pull request has the other workflow's head any more, the event is returned without base and head. Raises
    GitMemError for an input that is not a number or without a token, ForgeError if the forge fails.
    """
    number = os.environ.get("GITMEM_PULL_REQUEST", "").strip()
    if not number and event.name != "workflow_run":
        return event
    if client is None:
        raise GitMemError("a pull request is asked of the API, and there is no token", "give the action a token")
    if number:
        if not number.isdecimal() or not number.isascii():
            raise GitMemError("pull-request is no number", "pull-request: ${{ inputs.number }}, for example")
        pull = client.pull(int(number))
    else:
        assert isinstance(client, GitHubClient)
        at_head = client.pull_at(event.source, event.source_branch, event.head) if event.head else None
        if at_head is None:
            say("git mem: no open pull request has the head of that run; a newer run looks at it")
            return replace(event, head="", base="")
        pull = at_head
    proposals.fetch_pull(repo, client, pull, os.environ)
    fork = pull.head_repository != client.forge.repository
    return replace(event, number=pull.number, base=pull.start, head=pull.head, fork=fork, target=pull.base)


def forge_and_client() -> tuple[Forge, Client | None]:
    """(the forge whose CI runs this, the client for its API or None without a token). Raises GitMemError outside of
    CI."""
    forge = forge_of("", os.environ)
    if forge is None:
        raise GitMemError("neither GITHUB_REPOSITORY nor CI_PROJECT_PATH is set", "this command runs inside CI")
    return forge, client_of(forge, token_of(forge, os.environ), time.sleep)


def set_bot_identity() -> None:
    """Make the bot of GitHub Actions the author and committer of later commits, by variables in this process's
    environment, unless the workflow sets them."""
    for role in ("AUTHOR", "COMMITTER"):
        os.environ.setdefault(f"GIT_{role}_NAME", "github-actions[bot]")
        os.environ.setdefault(f"GIT_{role}_EMAIL", "41898282+github-actions[bot]@users.noreply.github.com")
