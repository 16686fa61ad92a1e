"""`git mem action`: what the composite actions run. They hold no logic; everything they decide is decided here.

Reads GITHUB_* and the event's payload, writes annotations, the step summary and outputs. Hidden: people use the
commands behind it (`scan`, `index`, `review`, `promote`, `publish`).
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import click

from gitmem import __version__
from gitmem.cli.commands.consolidate import as_text as consolidation_text
from gitmem.cli.options import open_here
from gitmem.cli.promotion_output import as_text
from gitmem.cli.terminal import escape, say, write
from gitmem.config import TRACKED
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, ModelUnavailable, UnknownRevision
from gitmem.gate import exceptions, gitlab_report, report, sources
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.registry import WITH_PLUGINS
from gitmem.gate.policy import MESSAGE
from gitmem.gate.report import code, order, workflow_command
from gitmem.gate.scan import Report, once_each, scan_source
from gitmem.git import merge_driver
from gitmem.git.opening import Repository
from gitmem.git.revision import CommitRange, towards
from gitmem.git.worktree import write_atomic
from gitmem.index.indexer import cache_key
from gitmem.memory.snapshot import layout_at
from gitmem.plural import counted
from gitmem.promotion import consolidation
from gitmem.promotion.model_registry import promotion_model
from gitmem.promotion.past_consolidations import last_consolidation
from gitmem.promotion.promote import Mode, Request, promote
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.regular_file import writable_file
from gitmem.review import comment_commands, proposals, publish
from gitmem.review.comment import as_comment
from gitmem.review.commit_diff import fact_changes
from gitmem.review.forges import github_events, gitlab_ci
from gitmem.review.forges.event import Event
from gitmem.review.forges.forge import Client, Forge, ForgeError, push_environment
from gitmem.review.forges.github import Annotation, GitHubClient
from gitmem.review.forges.location import client_of, forge_of, token_of
from gitmem.review.markup import plain
from gitmem.review.rendering import as_markdown
from gitmem.review.review import Review, as_report, review, suggestions
from gitmem.review.review_value import as_value
from gitmem.system import make_folder, remove_folder

WEEK = timedelta(days=6, hours=12)  # between two consolidations: a schedule that starts a little early still runs
SUMMARY_LIMIT = 1_000_000  # GitHub takes 1 MiB a step


class _Actions(click.Group):
    """Commands whose refusals are annotations as well: the page of a run shows those, and not what stderr says."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except GitMemError as error:
            write(error_annotation(error))
            raise


def error_annotation(error: GitMemError) -> str:
    """A refusal as a workflow command of GitHub.

    When the message names our settings or exceptions file, the command points at that file and at the line in the
    message (line 1 when the message has none).
    """
    if error.hint:
        words = f"{error.message} (hint: {error.hint})"
    else:
        words = error.message
    file = next((name for name in (exceptions.FILE, TRACKED) if name in words), "")
    line = re.search(r"\bline (\d{1,6})\b", words)
    fields = {"title": "git mem"}
    if file:
        fields |= {"file": file, "line": line[1] if line else "1"}
    return workflow_command("error", fields, words, escape) + "\n"


@click.group(hidden=True, cls=_Actions)
def command() -> None:
    """What the composite actions run."""


def read_event() -> Event:
    """The event of this run. Raises GitMemError outside GitHub Actions and GitLab CI."""
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    if not path and os.environ.get("GITLAB_CI") == "true":
        return gitlab_ci.parse(os.environ)
    try:
        if path:
            payload = json.loads(Path(path).read_bytes())
        else:
            payload = {}
    except (OSError, ValueError):
        raise GitMemError("the event's payload cannot be read", "this command runs inside GitHub Actions") from None
    return github_events.parse(os.environ, payload if isinstance(payload, dict) else {})


def commits_of(repo: Repository, event: Event) -> CommitRange:
    """What to look at, judged by the tip of the branch that takes it; base "" for all of history. Raises GitMemError
    when the clone is too shallow.

    `base` and `head` inputs win. Where the event names no base (a new branch) or a base that a force-push took away,
    it is where the default branch was left; on the default branch itself, or where no branch is named, all of history:
    never nothing. Whether a shallow clone holds all of the range is the scan's to say.
    """
    head = os.environ.get("GITMEM_HEAD") or event.head or "HEAD"
    tip = _have(repo, head)
    given = os.environ.get("GITMEM_BASE", "")
    base = given or event.base
    if event.number and base:
        return towards(repo, _have(repo, base), tip)
    if given or (event.name == "merge_group" and base):
        start = _have(repo, given or base)
        return CommitRange(start, tip, start)
    if base:
        try:
            start = repo.resolve(base)
            return CommitRange(start, tip, start)
        except UnknownRevision:
            say(f"git mem: the former tip {base[:12]} is gone; looking from the default branch")
    if event.branch and event.branch != event.default_branch:
        for ref in (f"refs/remotes/origin/{event.default_branch}", f"refs/heads/{event.default_branch}"):
            try:
                return towards(repo, repo.resolve(ref), tip)
            except UnknownRevision:
                continue
    return CommitRange("", tip)


def _have(repo: Repository, rev: str) -> str:
    try:
        return repo.resolve(rev)
    except UnknownRevision:
        raise GitMemError(
            f"commit {rev[:12]} is not in this clone", "let actions/checkout fetch all of history: fetch-depth: 0"
        ) from None


def output(**values: str) -> None:
    """Write step outputs, each behind a random delimiter, so that no value can name another output."""
    path = os.environ.get("GITHUB_OUTPUT")
    if not path:
        return
    with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
        for name, value in values.items():
            end = f"end-{secrets.token_hex(16)}"
            file.write(f"{name}<<{end}\n{value}\n{end}\n")


def summarise(markdown: str) -> None:
    """Append to the step summary, within its limit."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    data = markdown.encode("utf-8", "backslashreplace")
    if len(data) > SUMMARY_LIMIT:
        data = data[:SUMMARY_LIMIT].rsplit(b"\n", 1)[0] + b"\n\n(cut: the summary holds 1 MiB)\n"
    with open(path, "ab") as file:
        file.write(data + b"\n")


@command.command("scan")
@click.option("--sarif", metavar="FILE", help="Write SARIF here too.")
@click.option("--code-quality", metavar="FILE", help="Write GitLab's code quality report here too.")
@click.option("--sast", metavar="FILE", help="Write GitLab's SAST report here too.")
@click.option("--severity", type=click.Choice(["block", "warn"]), default="block", help="What fails the check.")
@click.option("--plugins", is_flag=True, help="Ask the plugins of detect-secrets too.")
def scan_command(sarif: str | None, code_quality: str | None, sast: str | None, severity: str, plugins: bool) -> int:
    """Scan every version of every memory file that the event brings, and the commit messages."""
    repo, _ = open_here()
    started = now()
    brought = commits_of(repo, read_event())
    base, tip, _ = brought
    policy = sources.range_policy(repo, brought, started.date())
    if plugins:
        policy = replace(policy, detectors=WITH_PLUGINS)
    result = once_each(scan_source(sources.commits_beyond(repo, base, tip, policy), policy, workers=2))
    write(report.as_text(result, escape) if in_gitlab() else report.as_annotations(result, escape))
    text = report.as_markdown(result, escape, f"Memory scan of {base[:12] or 'the beginning'}..{tip[:12]}")
    summarise(text)
    if sarif:
        write_report(sarif, report.as_sarif(result, __version__))
    if code_quality:
        write_report(code_quality, gitlab_report.as_code_quality(result))
    if sast:
        times = (started.astimezone(UTC), now().astimezone(UTC))
        write_report(sast, gitlab_report.as_sast(result, __version__, *times))
    if severity == "warn":
        failed = bool(result.findings)
    else:
        failed = result.blocked
    if os.environ.get("GITMEM_CHECK") == "true":
        put_check(forge_and_client()[1], "memory scan", tip, result, text, failed)
    where = ""
    if sarif:
        where = os.path.relpath(sarif, os.environ.get("GITHUB_WORKSPACE") or ".")
    output(findings=str(len(result.findings)), sarif=where, result="failed" if failed else "clean")
    if failed:
        return Exit.FINDINGS
    return Exit.DONE


def in_gitlab() -> bool:
    """Whether this is a job of GitLab CI, whose log has no annotations."""
    return os.environ.get("GITLAB_CI") == "true" and not os.environ.get("GITHUB_ACTIONS")


def write_report(path: str, text: str) -> None:
    """Write a report to a file that a caller named. Raises GitMemError where it cannot be written."""
    try:
        writable_file(Path(path)).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise GitMemError(f"cannot write '{path}': {error.strerror}") from None


@command.command("cache-key")
def cache_key_command() -> int:
    """Name the cache of the index: schema, embedder, memory tree; and whether this event may save it."""
    repo, config = open_here()
    event = read_event()
    prefix, tree = cache_key(repo, config)
    output(
        key=f"{prefix}-{tree}", prefix=f"{prefix}-", path=str(Path(repo.common_dir) / "gitmem"),
        save=str(event.on_default_branch).lower(),
    )  # fmt: skip
    return Exit.DONE


def with_pull(repo: Repository, event: Event, client: Client | None) -> Event:
    """The event with its proposal, where it names one by the `pull-request` input or is the end of another workflow's
    run on one. Its commits are fetched as data: nothing of them is checked out or run.

    An event of another kind comes back as it is, and so does a run whose proposal has gone or moved on meanwhile (with
    no head: there is nothing to look at). Raises GitMemError for an input that is no number, ForgeError.
    """
    asked = os.environ.get("GITMEM_PULL_REQUEST", "").strip()
    if not asked and event.name != "workflow_run":
        return event
    if client is None:
        raise GitMemError("a pull request is asked of the API, and there is no token", "give the action a token")
    if asked:
        if not asked.isdecimal() or not asked.isascii():
            raise GitMemError("pull-request is no number", "pull-request: ${{ inputs.number }}, for example")
        pull = client.pull(int(asked))
    else:
        assert isinstance(client, GitHubClient)
        at_head = None
        if event.head:
            at_head = client.pull_at(event.source, event.source_branch, event.head)
        if at_head is None:
            say("git mem: no open pull request has the head of that run; a newer run looks at it")
            return replace(event, head="", base="")
        pull = at_head
    proposals.fetch_pull(repo, client, pull, os.environ)
    fork = pull.head_repository != client.forge.repository
    return replace(event, number=pull.number, base=pull.start, head=pull.head, fork=fork)


MARKER = "<!-- git-mem:review -->"
DEFAULT_TOKEN = (
    "Pushes with the default token of Actions start no checks. This proposal was scanned before it was pushed; give "
    "the action a `token` of a GitHub App or a fine-grained one for checks of its own."
)


def forge_and_client() -> tuple[Forge, Client | None]:
    """The forge whose CI this is, and its API when there is a token. Raises GitMemError outside CI."""
    forge = forge_of("", os.environ)
    if forge is None:
        raise GitMemError("neither GITHUB_REPOSITORY nor CI_PROJECT_PATH is set", "this command runs inside CI")
    return forge, client_of(forge, token_of(forge, os.environ), time.sleep)


def identity() -> None:
    """Commits of an action are the bot's, unless the workflow says otherwise."""
    for role in ("AUTHOR", "COMMITTER"):
        os.environ.setdefault(f"GIT_{role}_NAME", "github-actions[bot]")
        os.environ.setdefault(f"GIT_{role}_EMAIL", "41898282+github-actions[bot]@users.noreply.github.com")


@command.command("review")
@click.option("--markdown", metavar="FILE", help="Write the whole review here, as Markdown.")
@click.option("--json", "json_file", metavar="FILE", help="Write it here too, as JSON.")
def review_command(markdown: str | None, json_file: str | None) -> int:
    """Review what the event brings: one comment on the pull request, the whole of it in the step summary and in files.

    When the review cannot be made, the comment that is there says so: an older one never stands for it.
    """
    forge, client = forge_and_client()
    event = read_event()
    try:
        event, review = _reviewed(event, client)
    except GitMemError as error:
        _comment(client, event, _no_review(event, error))
        raise
    if review is None:
        output(verdict="", comment="")
        return Exit.DONE
    told = as_report(review)
    write(report.as_text(told, escape) if in_gitlab() else report.as_annotations(told, escape))
    whole = as_markdown(review, forge)
    if markdown:
        write_report(markdown, whole)
    if json_file:
        write_report(json_file, json.dumps(as_value(review, forge), ensure_ascii=True, indent=1) + "\n")
    text = as_comment(review, forge, elsewhere=_elsewhere(markdown))
    comment = _comment(client, event, text)
    _suggest(client, event, review)
    summarise(as_comment(review, forge, limit=SUMMARY_LIMIT, elsewhere=_elsewhere(markdown), size=_bytes))
    if in_gitlab() and not comment:
        write(escape(whole))
    put_check(client, "memory review", review.head, told, text, review.failed)
    output(verdict="failed" if review.failed else "clean", comment=comment)
    if review.failed:
        return Exit.FINDINGS
    return Exit.DONE


def put_check(client: Client | None, name: str, head: str, result: Report, summary: str, failed: bool) -> None:
    """A check run with each finding on its line, where the action is asked for one (GITMEM_CHECK). Nobody's check fails
    because this one could not be written: that is said."""
    if os.environ.get("GITMEM_CHECK", "") != "true":
        return
    if not isinstance(client, GitHubClient):
        say("git mem: no check run: there is no token for one")
        return
    rows = [
        Annotation(
            row.path, row.line, max(row.line, row.end_line), row.rule, row.message, row.severity is Severity.BLOCK
        )
        for row in order(result.findings)
        if row.path != MESSAGE
    ]
    title = "nothing found"
    if result.findings:
        title = counted(len(result.findings), "finding")
    try:
        client.put_check(name, head, failed=failed, title=title, summary=summary, annotations=rows)
    except ForgeError as error:
        say(f"git mem: no check run: {error.message}")
        if error.hint:
            say(f"hint: {error.hint}")


@command.command("comment")
def comment_command() -> int:
    """Do what a comment on a pull request asks: `/mem accept`, `/mem reject ID reason`, `/mem settle ID later`."""
    identity()
    repo, config = open_here()
    event = read_event()
    _, client = forge_and_client()
    if not isinstance(client, GitHubClient):
        raise GitMemError(
            "commands in comments are asked of GitHub's API, and there is no token", "give the action one"
        )
    if not event.comment:
        say("git mem: this is no new comment on a pull request")
        output(result="ignored")
        return Exit.DONE
    run = comment_commands.CommandRun(repo, config, client, os.environ, now().date())
    done = comment_commands.carry_out(run, event.number, event.comment)
    say(escape(f"git mem: {done.state}: {done.words}", ""))
    if done.state is not comment_commands.State.IGNORED:
        client.react(event.comment, "confused" if done.state is comment_commands.State.REFUSED else "+1")
    if done.answer:
        marker = f"<!-- git-mem:command {event.comment} -->"
        client.put_comment(event.number, marker, f"`/mem`: {code(done.words)}")
    output(result=done.state.value)
    return Exit.DONE


def _reviewed(event: Event, client: Client | None) -> tuple[Event, Review | None]:
    """The event with its proposal, and the review of what it brings: None for a run of another workflow whose proposal
    has gone or moved on. Raises GitMemError."""
    repo, config = open_here()
    event = with_pull(repo, event, client)
    if event.name == "workflow_run" and not event.head:
        return event, None
    brought = commits_of(repo, event)
    layout = layout_at(repo, brought.tip, config)
    return event, review(repo, config, brought, layout, now(), time.perf_counter)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))


def _elsewhere(markdown: str | None) -> str:
    """Markdown that says where the whole review is: this run's page, with its summary and artifact."""
    server, repository, run = (os.environ.get(f"GITHUB_{key}", "") for key in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    if not (server and repository and run.isdigit()):
        return ""
    kept = "the step summary"
    if markdown:
        kept = "the step summary and the artifact `memory-review`"
    return f"All of it: {kept} of [this run]({server}/{repository}/actions/runs/{run})"


def _no_review(event: Event, error: GitMemError) -> str:
    """The comment in place of a review that could not be made."""
    hint = ""
    if error.hint:
        hint = f"\n\n{plain(error.hint)}"
    head = event.head[:12] or "the head"
    return f"### ❌ Memory review: not done\n\nNothing was checked in `{head}`: {plain(error.message)}.{hint}\n"


def _comment(client: Client | None, event: Event, text: str) -> str:
    """Put the comment where there is a proposal and a token; its id, "" with a word on stderr where that fails."""
    if client is None or not event.may_comment:
        return ""
    try:
        return str(client.put_comment(event.number, MARKER, text))
    except ForgeError as error:
        say(f"git mem: no comment: {error.message}")
        if error.hint:
            say(f"hint: {error.hint}")
        return ""


def _suggest(client: Client | None, event: Event, review: Review) -> None:
    """Suggest the lines that a mask mends, where there is a proposal and a token. Nobody's check fails because that
    could not be done: that is said."""
    if client is None or not event.may_comment:
        return
    try:
        client.put_suggestions(event.number, review.head, suggestions(review))
    except ForgeError as error:
        say(f"git mem: no suggestion: {error.message}")


@command.command("promote")
@click.option("--branch", default="memory/promote", help="The branch of the proposal.")
@click.option("--max", "limit", type=click.IntRange(1), default=20, help="Facts at most.")
@click.option("--model", "model_name", default="", help="rules, gguf:<path> or http:<url>#<model> (mem.model).")
@click.option("--consolidate", "often", type=click.Choice(("never", "weekly")), default="never", help="How often.")
def promote_command(branch: str, limit: int, model_name: str, often: str) -> int:
    """Promote on a branch of its own and keep one pull request of it, until it is merged or closed.

    With `--consolidate` the same for a consolidation, on another branch.

    The key of an `http:` model is read from GITMEM_API_KEY; no process that this one starts sees it. A pull request of
    a fork gets no secrets and no token that may push: nothing is promoted for it.
    """
    key = os.environ.pop("GITMEM_API_KEY", "").strip()
    if read_event().of_fork:
        said = "nothing is promoted for a fork's pull request: it gets no secrets, and its token may not push"
        say(f"git mem: {said}")
        summarise(f"### Promotion\n\n{said[:1].upper()}{said[1:]}.\n")
        output(facts="0", declined="0", consolidation="", **{"pull-request": ""})
        return Exit.DONE
    try:
        _propose(branch, limit, model_name, key)
        output(consolidation=_propose_consolidation(branch, model_name, key) if often == "weekly" else "")
        return Exit.DONE
    except ModelUnavailable as error:
        hint = error.hint
        if not key and model_name.startswith("http:"):
            hint = "api-key: ${{ secrets.NAME }}, where the endpoint wants one; forks and Dependabot get no secrets"
        raise ModelUnavailable(_without(key, error.message), _without(key, hint)) from None


def _propose(branch: str, limit: int, model_name: str, key: str) -> None:
    """The promotion of `promote_command`, outside of forks."""
    identity()
    repo, config = open_here({"model": model_name} if model_name else {})
    forge, client = forge_and_client()
    if client is None:
        raise GitMemError("there is no token to push and open a pull request with", "give the action a token")
    base = client.default_branch()
    if branch == base:
        raise GitMemError(f"'{branch}' is the default branch, which is never pushed to", "name another branch")
    start = _have(repo, f"refs/remotes/origin/{base}")
    merge_driver.set_up(repo, sys.executable, config.memory_daily)  # the branch takes in what its base gained
    declined = 0
    if proposals.fetch(repo, client, branch, os.environ):
        declined = proposals.record_rejection(repo, config, client, branch, start)
    with _key_file(key) as file:  # read when the model is opened
        if file:
            opened = config._replace(http_key_file=file)
        else:
            opened = config
        model, policy = promotion_model(repo, opened, now().date(), os.environ)
    outcome = promote(repo, config, model, policy, Request(mode=Mode.BRANCH, limit=limit, branch=branch), now())
    told = _without(key, escape(as_text(outcome, True))).replace("```", chr(39) * 3)
    summarise(f"### Promotion\n\n```text\n{told}```\n")
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    facts, number = 0, ""
    layout = layout_at(repo, tip or start, config)
    if tip and not repo.is_ancestor(tip, start):
        meeting = repo.merge_base(start, tip) or ""
        facts = len(fact_changes(repo, meeting, tip, layout, now().date(), authors=False))
    if facts:
        title = f"memory: {counted(facts, 'fact')} from the daily logs"
        proposal = publish.Proposal(branch, base, title=title, notes=(DEFAULT_TOKEN,))
        done = publish.publish(repo, forge, client, proposal, layout=layout, today=now().date(), environ=os.environ)
        number = ""
        if done.pull:
            number = str(done.pull.number)
        say(f"git mem: {counted(facts, 'fact')} on '{branch}', pull request #{number}")
    elif declined:
        publish.push(repo, "origin", branch, base, push_environment(client, os.environ))
    output(facts=str(facts), **{"pull-request": number, "declined": str(declined)})


def _propose_consolidation(promotion: str, model_name: str, key: str) -> str:
    """Consolidate on `memory/consolidate` where the last consolidation is a week old, and keep one pull request of it;
    its number, "" for none. `promotion`: the branch of the promotion, which must be another one."""
    branch = consolidation.BRANCH
    repo, config = open_here({"model": model_name} if model_name else {})
    forge, client = forge_and_client()
    assert client is not None  # the promotion needed it too, and set the merge driver up
    base = client.default_branch()
    if branch in (promotion, base):
        raise GitMemError(f"'{branch}' is the branch of consolidations", "branch: memory/promote")
    start = _have(repo, f"refs/remotes/origin/{base}")
    tip = proposals.fetch(repo, client, branch, os.environ)
    last = last_consolidation(repo, [start, *([tip] if tip else [])])
    if last is not None and now() - last < WEEK:
        summarise(f"### Consolidation\n\nThe last one was on {last.date()}: the next one is due a week after it.\n")
        return ""
    declined = 0
    if tip:
        declined = proposals.take_back_declined_consolidations(repo, client, branch, start)
    with _key_file(key) as file:
        if file:
            opened = config._replace(http_key_file=file)
        else:
            opened = config
        model, policy = promotion_model(repo, opened, now().date(), os.environ)
    outcome = consolidation.consolidate(repo, config, model, policy, consolidation.Request(branch=branch), now())
    told = forgotten_texts(repo).masked(_without(key, consolidation_text(outcome, False))).replace("```", chr(39) * 3)
    summarise(f"### Consolidation\n\n```text\n{told}```\n")
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    meeting = ""
    if tip:
        meeting = repo.merge_base(start, tip) or ""
    if not tip or not any(repo.changes(meeting, tip)):
        if declined:
            publish.push(repo, "origin", branch, base, push_environment(client, os.environ))
        return ""
    layout, today = layout_at(repo, tip, config), now().date()
    facts = len(fact_changes(repo, meeting, tip, layout, today, authors=False))
    title = f"memory: consolidate {counted(facts, 'fact') if facts else 'episodes'}"
    proposal = publish.Proposal(branch, base, title=title, notes=(DEFAULT_TOKEN,))
    done = publish.publish(repo, forge, client, proposal, layout=layout, today=today, environ=os.environ)
    number = ""
    if done.pull:
        number = str(done.pull.number)
    say(f"git mem: a consolidation on '{branch}', pull request #{number}")
    return number


@contextmanager
def _key_file(key: str) -> Iterator[str]:
    """A file only this user can read that holds the key as long as the block runs; "" for no key."""
    if not key:
        yield ""
        return
    folder = make_folder()
    try:
        write_atomic(folder, "key", key.encode(), private=True)
        yield str(folder / "key")
    finally:
        remove_folder(folder)


def _without(key: str, text: str) -> str:
    """A text in which the key, which a server may repeat in its answer, is masked."""
    if key:
        return text.replace(key, "***")
    return text


@command.command("merge")
def merge_command() -> int:
    """Merge the default branch into the open memory pull requests, fact by fact."""
    identity()
    repo, config = open_here()
    _, client = forge_and_client()
    if client is None:
        raise GitMemError("there is no token to push with", "give the action a token")
    base = _have(repo, f"refs/remotes/origin/{client.default_branch()}")
    merge = proposals.BaseMerge(config, client, base, os.environ, now().date())
    done = proposals.merge_into_open(repo, merge, sys.executable)
    lines = [f"- #{row.number}: {row.state}" + (f", {row.why}" if row.why else "") for row in done]
    summarise("### Open memory pull requests\n\n" + ("\n".join(lines) or "none") + "\n")
    for row in done:
        say(f"git mem: #{row.number} {row.branch}: {row.state} {row.why}".rstrip())
    output(
        merged=",".join(str(row.number) for row in done if row.state == "merged"),
        conflicts=",".join(str(row.number) for row in done if row.state == "conflict"),
    )
    return Exit.DONE
