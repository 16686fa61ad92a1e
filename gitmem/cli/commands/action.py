"""`git mem action`: the commands that the composite actions run. The actions themselves hold no logic.

Each command reads GITHUB_* and the event's payload, and writes annotations, the step summary and step outputs. The
group is hidden: people use `scan`, `index`, `review`, `promote` and `publish`.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
import time
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
from gitmem.config import TRACKED, Config
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, ModelUnavailable, UnknownRevision
from gitmem.gate import exceptions
from gitmem.gate.commit_files import files_of_new_commits
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.registry import WITH_PLUGINS
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.reports import gitlab
from gitmem.gate.reports.finding_words import order
from gitmem.gate.reports.github import as_annotations, workflow_command
from gitmem.gate.reports.markdown import as_markdown as scan_markdown
from gitmem.gate.reports.markdown import code
from gitmem.gate.reports.sarif import as_sarif
from gitmem.gate.reports.text import as_text as scan_text
from gitmem.gate.scan import Report, scan
from gitmem.gate.tree_policies import range_policy
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
from gitmem.promotion.proposal import Model
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

# The least time between two weekly consolidations; half a day under a week, since a schedule may start early.
WEEK = timedelta(days=6, hours=12)
MAX_SUMMARY_BYTES = 1_000_000  # bytes of a step summary; GitHub's limit is 1 MiB a step


class _Actions(click.Group):
    """Commands that print their errors as annotations too, since the page of a run shows annotations and no stderr."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except GitMemError as error:
            write(error_annotation(error))
            raise


def error_annotation(error: GitMemError) -> str:
    """An error as a workflow command of GitHub, which the page of a run shows.

    If the message names our settings or exceptions file, the annotation points at that file, at the line that the
    message names, else at line 1.
    """
    words = error.message
    if error.hint:
        words += f" (hint: {error.hint})"
    fields = {"title": "git mem"}
    file = next((name for name in (exceptions.FILE, TRACKED) if name in words), "")
    if file:
        line = re.search(r"\bline (\d{1,6})\b", words)
        fields |= {"file": file, "line": line[1] if line else "1"}
    return workflow_command("error", fields, words, escape) + "\n"


@click.group(hidden=True, cls=_Actions)
def command() -> None:
    """What the composite actions run."""


def read_event() -> Event:
    """The event that started this run. Raises GitMemError if its payload cannot be read, or outside of CI."""
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    if not path and os.environ.get("GITLAB_CI") == "true":
        return gitlab_ci.parse(os.environ)
    payload = {}
    if path:
        try:
            payload = json.loads(Path(path).read_bytes())
        except (OSError, ValueError):
            raise GitMemError("the event's payload cannot be read", "this command runs inside GitHub Actions") from None
    if not isinstance(payload, dict):
        payload = {}
    return github_events.parse(os.environ, payload)


def commits_of(repo: Repository, event: Event) -> CommitRange:
    """The commits that the event brings, with the settings of the branch that they go to; base "" for all of history.

    GITMEM_BASE and GITMEM_HEAD (the inputs `base` and `head`) come before the event. If the event names no base (a new
    branch), or one that a force-push removed, the range begins where the branch left the default branch. On the default
    branch, or without a branch, it is all of history; it is never empty. Raises GitMemError if the clone lacks a named
    commit; whether a shallow clone holds the whole range is checked by the scan.
    """
    head = os.environ.get("GITMEM_HEAD") or event.head or "HEAD"
    tip = _resolve(repo, head)
    given = os.environ.get("GITMEM_BASE", "")
    base = given or event.base
    if event.number and base:
        return towards(repo, _resolve(repo, base), tip)
    if given or (event.name == "merge_group" and base):
        start = _resolve(repo, given or base)
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


def _resolve(repo: Repository, rev: str) -> str:
    """The oid of a commit. Raises GitMemError if the clone lacks it."""
    try:
        return repo.resolve(rev)
    except UnknownRevision:
        raise GitMemError(
            f"commit {rev[:12]} is not in this clone", "let actions/checkout fetch all of history: fetch-depth: 0"
        ) from None


def output(**values: str) -> None:
    """Write step outputs, each between random delimiters, so that a value cannot set another output."""
    path = os.environ.get("GITHUB_OUTPUT")
    if not path:
        return
    with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
        for name, value in values.items():
            end = f"end-{secrets.token_hex(16)}"
            file.write(f"{name}<<{end}\n{value}\n{end}\n")


def summarise(markdown: str) -> None:
    """Append Markdown to the step summary, cut at MAX_SUMMARY_BYTES."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    data = markdown.encode("utf-8", "backslashreplace")
    if len(data) > MAX_SUMMARY_BYTES:
        data = data[:MAX_SUMMARY_BYTES].rsplit(b"\n", 1)[0] + b"\n\n(cut: the summary holds 1 MiB)\n"
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
    from gitmem.gate.scan import without_repeats

    repo, _ = open_here()
    started = now()
    brought = commits_of(repo, read_event())
    base, tip, _ = brought
    policy = range_policy(repo, brought, started.date())
    if plugins:
        policy = replace(policy, detectors=WITH_PLUGINS)
    result = without_repeats(scan(files_of_new_commits(repo, base, tip, policy), policy, workers=2))
    write(scan_text(result, escape) if in_gitlab() else as_annotations(result, escape))
    text = scan_markdown(result, escape, f"Memory scan of {base[:12] or 'the beginning'}..{tip[:12]}")
    summarise(text)
    if sarif:
        write_report(sarif, as_sarif(result, __version__))
    if code_quality:
        write_report(code_quality, gitlab.as_code_quality(result))
    if sast:
        times = (started.astimezone(UTC), now().astimezone(UTC))
        write_report(sast, gitlab.as_sast(result, __version__, *times))
    failed = result.blocked or (severity == "warn" and bool(result.findings))
    if os.environ.get("GITMEM_CHECK") == "true":
        put_check(forge_and_client()[1], "memory scan", tip, result, text, failed)
    where = ""
    if sarif:
        where = os.path.relpath(sarif, os.environ.get("GITHUB_WORKSPACE") or ".")
    output(findings=str(len(result.findings)), sarif=where, result=_result(failed))
    if failed:
        return Exit.FINDINGS
    return Exit.DONE


def _result(failed: bool) -> str:
    """The word of a step output for a check."""
    if failed:
        return "failed"
    return "clean"


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
    """The event with the number, base and head of its pull request: the one that GITMEM_PULL_REQUEST (the input
    `pull-request`) names, or the one that another workflow ran on (a `workflow_run` event).

    The pull request's commits are fetched; nothing of them is checked out or run. Every other event is returned
    unchanged. If no open pull request has the other workflow's head any more, the event is returned without base and
    head. Raises GitMemError for an input that is not a number or without a token, ForgeError.
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


MARKER = "<!-- git-mem:review -->"  # in our comment of a review; the next review replaces the comment that has it
DEFAULT_TOKEN = (  # a note in the text of a pull request
    "Pushes with the default token of Actions start no checks. This proposal was scanned before it was pushed; give "
    "the action a `token` of a GitHub App or a fine-grained one for checks of its own."
)


def forge_and_client() -> tuple[Forge, Client | None]:
    """The forge whose CI runs this, and the client for its API (None without a token). Raises GitMemError outside of
    CI."""
    forge = forge_of("", os.environ)
    if forge is None:
        raise GitMemError("neither GITHUB_REPOSITORY nor CI_PROJECT_PATH is set", "this command runs inside CI")
    return forge, client_of(forge, token_of(forge, os.environ), time.sleep)


def identity() -> None:
    """Make the bot of GitHub Actions the author and committer, unless the workflow sets them."""
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
    findings = as_report(review)
    write_findings(findings)
    whole = as_markdown(review, forge)
    if markdown:
        write_report(markdown, whole)
    if json_file:
        write_report(json_file, json.dumps(as_value(review, forge), ensure_ascii=True, indent=1) + "\n")
    text = as_comment(review, forge, elsewhere=_elsewhere(markdown))
    comment = _comment(client, event, text)
    _suggest(client, event, review)
    summarise(as_comment(review, forge, limit=MAX_SUMMARY_BYTES, elsewhere=_elsewhere(markdown), size=_bytes))
    if in_gitlab() and not comment:
        write(escape(whole))
    put_check(client, "memory review", review.head, findings, text, review.failed)
    output(verdict=_result(review.failed), comment=comment)
    if review.failed:
        return Exit.FINDINGS
    return Exit.DONE


def put_check(client: Client | None, name: str, head: str, result: Report, summary: str, failed: bool) -> None:
    """Write a check run with each finding on its line, if the action has to (GITMEM_CHECK). If it cannot be written,
    that is printed on stderr, and the command goes on."""
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
        refused = done.state is comment_commands.State.REFUSED
        client.react(event.comment, "confused" if refused else "+1")
    if done.answer:
        marker = f"<!-- git-mem:command {event.comment} -->"
        client.put_comment(event.number, marker, f"`/mem`: {code(done.words)}")
    output(result=done.state.value)
    return Exit.DONE


def _reviewed(event: Event, client: Client | None) -> tuple[Event, Review | None]:
    """(the event with its pull request, the review of its commits). The review is None after another workflow's run
    whose head no open pull request has any more. Raises GitMemError."""
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
    """Markdown with a link to the whole review on this run's page; "" outside of GitHub Actions. `markdown`: the file
    of the artifact, None without one."""
    server, repository, run = (os.environ.get(f"GITHUB_{key}", "") for key in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    if not (server and repository and run.isdigit()):
        return ""
    places = "the step summary"
    if markdown:
        places = "the step summary and the artifact `memory-review`"
    return f"All of it: {places} of [this run]({server}/{repository}/actions/runs/{run})"


def _no_review(event: Event, error: GitMemError) -> str:
    """The text of the comment if the review could not be made."""
    hint = ""
    if error.hint:
        hint = f"\n\n{plain(error.hint)}"
    head = event.head[:12] or "the head"
    return f"### ❌ Memory review: not done\n\nNothing was checked in `{head}`: {plain(error.message)}.{hint}\n"


def _comment(client: Client | None, event: Event, text: str) -> str:
    """Write the comment and return its id. "" without a pull request or a token, and, with a line on stderr, if writing
    fails."""
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
    """Suggest the masked lines in the pull request, if there is one and a token. If that fails, a line is printed on
    stderr, and the command goes on."""
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
        reason = "nothing is promoted for a fork's pull request: it gets no secrets, and its token may not push"
        say(f"git mem: {reason}")
        summarise(f"### Promotion\n\n{reason[:1].upper()}{reason[1:]}.\n")
        output(facts="0", declined="0", consolidation="", **{"pull-request": ""})
        return Exit.DONE
    try:
        _propose(branch, limit, model_name, key)
        number = ""
        if often == "weekly":
            number = _propose_consolidation(branch, model_name, key)
        output(consolidation=number)
        return Exit.DONE
    except ModelUnavailable as error:
        hint = error.hint
        if not key and model_name.startswith("http:"):
            hint = "api-key: ${{ secrets.NAME }}, where the endpoint wants one; forks and Dependabot get no secrets"
        raise ModelUnavailable(_without(key, error.message), _without(key, hint)) from None


def _propose(branch: str, limit: int, model_name: str, key: str) -> None:
    """Promote on a branch and keep one pull request of it. `key`: the key for an `http:` model, "" without one."""
    identity()
    repo, config = open_here({"model": model_name})
    forge, client = forge_and_client()
    if client is None:
        raise GitMemError("there is no token to push and open a pull request with", "give the action a token")
    base = client.default_branch()
    if branch == base:
        raise GitMemError(f"'{branch}' is the default branch, which is never pushed to", "name another branch")
    start = _resolve(repo, f"refs/remotes/origin/{base}")
    merge_driver.set_up(repo, sys.executable, config.memory_daily)  # for the merge of the base into the branch
    declined = 0
    if proposals.fetch(repo, client, branch, os.environ):
        declined = proposals.record_rejection(repo, config, client, branch, start)
    model, policy = _model(repo, config, key)
    outcome = promote(repo, config, model, policy, Request(mode=Mode.BRANCH, limit=limit, branch=branch), now())
    text = _without(key, escape(as_text(outcome, True))).replace("```", chr(39) * 3)
    summarise(f"### Promotion\n\n```text\n{text}```\n")
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
        if done.pull:
            number = str(done.pull.number)
        say(f"git mem: {counted(facts, 'fact')} on '{branch}', pull request #{number}")
    elif declined:
        publish.push(repo, "origin", branch, base, push_environment(client, os.environ))
    output(facts=str(facts), **{"pull-request": number, "declined": str(declined)})


def _propose_consolidation(promotion: str, model_name: str, key: str) -> str:
    """Consolidate on the branch `memory/consolidate` if the last consolidation is a week old, and keep one pull request
    of it. Returns its number, "" without one. `promotion`: the branch of the promotion, which must be another one."""
    branch = consolidation.BRANCH
    repo, config = open_here({"model": model_name})
    forge, client = forge_and_client()
    assert client is not None  # the promotion needed it too, and set the merge driver up
    base = client.default_branch()
    if branch in (promotion, base):
        raise GitMemError(f"'{branch}' is the branch of consolidations", "branch: memory/promote")
    start = _resolve(repo, f"refs/remotes/origin/{base}")
    tip = proposals.fetch(repo, client, branch, os.environ)
    last = last_consolidation(repo, list(filter(None, (start, tip))))
    if last is not None and now() - last < WEEK:
        summarise(f"### Consolidation\n\nThe last one was on {last.date()}: the next one is due a week after it.\n")
        return ""
    declined = 0
    if tip:
        declined = proposals.take_back_declined_consolidations(repo, client, branch, start)
    model, policy = _model(repo, config, key)
    outcome = consolidation.consolidate(repo, config, model, policy, consolidation.Request(branch=branch), now())
    text = forgotten_texts(repo).masked(_without(key, consolidation_text(outcome, False))).replace("```", chr(39) * 3)
    summarise(f"### Consolidation\n\n```text\n{text}```\n")
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


def _model(repo: Repository, config: Config, key: str) -> tuple[Model, Policy]:
    """The model and policy of a promotion. The model reads its key, "" for none, from a file that only this user can
    read, and that is removed once the model is open."""
    if not key:
        return promotion_model(repo, config, now().date(), os.environ)
    folder = make_folder()
    try:
        write_atomic(folder, "key", key.encode(), private=True)
        return promotion_model(repo, config._replace(http_key_file=str(folder / "key")), now().date(), os.environ)
    finally:
        remove_folder(folder)


def _without(key: str, text: str) -> str:
    """`text` with the key masked, since a server may repeat it in its answer."""
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
    base = _resolve(repo, f"refs/remotes/origin/{client.default_branch()}")
    merge = proposals.BaseMerge(config, client, base, os.environ, now().date())
    done = proposals.merge_into_open(repo, merge, sys.executable)
    lines = [f"- #{row.number}: {', '.join(filter(None, (row.state, row.why)))}" for row in done]
    summarise("### Open memory pull requests\n\n" + ("\n".join(lines) or "none") + "\n")
    for row in done:
        say(f"git mem: #{row.number} {row.branch}: {row.state} {row.why}".rstrip())
    output(
        merged=",".join(str(row.number) for row in done if row.state == "merged"),
        conflicts=",".join(str(row.number) for row in done if row.state == "conflict"),
    )
    return Exit.DONE
