"""`git mem action`: the commands that the composite actions run. The actions themselves hold no logic.

Each command reads GITHUB_* and the event's payload, and writes annotations, the step summary and step outputs. The
group is hidden: people use `scan`, `index`, `review`, `promote` and `publish`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import click

from gitmem import __version__
from gitmem.cli import ci_job, ci_review
from gitmem.cli.ci_proposals import propose_consolidation, propose_promotion, without_key
from gitmem.cli.options import open_here
from gitmem.cli.terminal import escape, say, write
from gitmem.config import TRACKED
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, ModelUnavailable
from gitmem.gate import exceptions
from gitmem.gate.commit_files import files_of_new_commits
from gitmem.gate.detectors.registry import WITH_PLUGINS
from gitmem.gate.reports import gitlab
from gitmem.gate.reports.github import workflow_command
from gitmem.gate.reports.markdown import as_markdown as scan_markdown
from gitmem.gate.reports.markdown import code
from gitmem.gate.reports.sarif import as_sarif
from gitmem.gate.scan import scan, without_repeats
from gitmem.gate.tree_policies import range_policy
from gitmem.index.indexer import cache_key
from gitmem.review import comment_commands, proposals
from gitmem.review.comment import comment_markdown
from gitmem.review.forges.github import GitHubClient
from gitmem.review.rendering import as_markdown
from gitmem.review.review_value import as_report, as_value


class _Actions(click.Group):
    """Commands that print their errors as annotations too, since the page of a run shows annotations and no stderr."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print an error as an annotation before it is raised on."""
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


def _utf8_length(text: str) -> int:
    """The length of a text in bytes, in which GitHub limits step summaries."""
    return len(text.encode("utf-8", "backslashreplace"))


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
    brought = ci_job.commits_of(repo, ci_job.read_event())
    base, tip, _ = brought
    policy = range_policy(repo, brought, started.date())
    if plugins:
        policy = replace(policy, detectors=WITH_PLUGINS)
    result = without_repeats(scan(files_of_new_commits(repo, base, tip, policy), policy, workers=2))
    ci_job.write_findings(result)
    text = scan_markdown(result, escape, f"Memory scan of {base[:12] or 'the beginning'}..{tip[:12]}")
    ci_job.append_summary(text)
    if sarif:
        ci_job.write_report(sarif, as_sarif(result, __version__))
    if code_quality:
        ci_job.write_report(code_quality, gitlab.as_code_quality(result))
    if sast:
        times = (started.astimezone(UTC), now().astimezone(UTC))
        ci_job.write_report(sast, gitlab.as_sast(result, __version__, *times))
    failed = result.blocked or (severity == "warn" and bool(result.findings))
    if os.environ.get("GITMEM_CHECK") == "true":
        ci_review.put_check(ci_job.forge_and_client()[1], "memory scan", tip, result, text, failed=failed)
    sarif_path = os.path.relpath(sarif, os.environ.get("GITHUB_WORKSPACE") or ".") if sarif else ""
    ci_job.write_outputs(findings=str(len(result.findings)), sarif=sarif_path, result="failed" if failed else "clean")
    return Exit.findings_if(failed)


@command.command("cache-key")
def cache_key_command() -> None:
    """Name the cache of the index: schema, embedder, memory tree; and whether this event may save it."""
    repo, config = open_here()
    event = ci_job.read_event()
    prefix, tree = cache_key(repo, config)
    ci_job.write_outputs(
        key=f"{prefix}-{tree}", prefix=f"{prefix}-", path=str(Path(repo.common_dir) / "gitmem"),
        save=str(event.on_default_branch).lower(),
    )  # fmt: skip


@command.command("review")
@click.option("--markdown", metavar="FILE", help="Write the whole review here, as Markdown.")
@click.option("--json", "json_file", metavar="FILE", help="Write it here too, as JSON.")
def review_command(markdown: str | None, json_file: str | None) -> int:
    """Review what the event brings: one comment on the pull request, the whole of it in the step summary and in files.

    When the review cannot be made, the comment that is there says so: an older one never stands for it.
    """
    forge, client = ci_job.forge_and_client()
    event = ci_job.read_event()
    try:
        event, review = ci_review.review_event(event, client)
    except GitMemError as error:
        ci_review.put_comment(client, event, ci_review.failure_comment(event, error))
        raise
    if review is None:
        ci_job.write_outputs(verdict="", comment="")
        return Exit.DONE
    findings = as_report(review)
    ci_job.write_findings(findings)
    full_text = as_markdown(review, forge)
    if markdown:
        ci_job.write_report(markdown, full_text)
    if json_file:
        ci_job.write_report(json_file, json.dumps(as_value(review, forge), ensure_ascii=True, indent=1) + "\n")
    link = ci_review.link_to_run(markdown)
    text = comment_markdown(review, forge, elsewhere=link)
    comment = ci_review.put_comment(client, event, text)
    ci_review.put_suggestions(client, event, review)
    ci_job.append_summary(
        comment_markdown(review, forge, limit=ci_job.MAX_SUMMARY_BYTES, elsewhere=link, size=_utf8_length)
    )
    if ci_job.in_gitlab() and not comment:
        write(escape(full_text))
    ci_review.put_check(client, "memory review", review.head, findings, text, failed=review.failed)
    ci_job.write_outputs(verdict="failed" if review.failed else "clean", comment=comment)
    return Exit.findings_if(review.failed)


@command.command("comment")
def comment_command() -> None:
    """Do what a comment on a pull request asks: `/mem accept`, `/mem reject ID reason`, `/mem settle ID later`.

    Needs GitHub and a token. The step output `result` says what became of it.
    """
    ci_job.set_bot_identity()
    repo, config = open_here()
    event = ci_job.read_event()
    _, client = ci_job.forge_and_client()
    if not isinstance(client, GitHubClient):
        raise GitMemError(
            "commands in comments are asked of GitHub's API, and there is no token", "give the action one"
        )
    if not event.comment:
        say("git mem: this is no new comment on a pull request")
        ci_job.write_outputs(result="ignored")
        return
    run = comment_commands.CommandRun(repo, config, client, os.environ, now().date())
    outcome = comment_commands.run_command(run, event.number, event.comment)
    say(escape(f"git mem: {outcome.state}: {outcome.words}", ""))
    if outcome.state is not comment_commands.State.IGNORED:
        refused = outcome.state is comment_commands.State.REFUSED
        client.react(event.comment, "confused" if refused else "+1")
    if outcome.answer:
        marker = f"<!-- git-mem:command {event.comment} -->"
        client.put_comment(event.number, marker, f"`/mem`: {code(outcome.words)}")
    ci_job.write_outputs(result=outcome.state.value)


@command.command("promote")
@click.option("--branch", default="memory/promote", help="The branch of the proposal.")
@click.option("--max", "limit", type=click.IntRange(0), default=0, help="Facts at most (0: mem.maxFacts).")
@click.option("--model", "model_name", default="", help="rules, gguf:<path> or http:<url>#<model> (mem.model).")
@click.option("--consolidate", "often", type=click.Choice(("never", "weekly")), default="never", help="How often.")
def promote_command(branch: str, limit: int, model_name: str, often: str) -> None:
    """Promote on a branch of its own and keep one pull request of it, until it is merged or closed.

    With `--consolidate` the same for a consolidation, on another branch.

    The key of an `http:` model is read from GITMEM_API_KEY; no process that this one starts sees it. A pull request of
    a fork gets no secrets and no token that may push: nothing is promoted for it.
    """
    key = os.environ.pop("GITMEM_API_KEY", "").strip()
    if ci_job.read_event().of_fork:
        reason = "nothing is promoted for a fork's pull request: it gets no secrets, and its token may not push"
        say(f"git mem: {reason}")
        ci_job.append_summary(f"### Promotion\n\n{reason[:1].upper()}{reason[1:]}.\n")
        ci_job.write_outputs(facts="0", declined="0", consolidation="", **{"pull-request": ""})
        return
    try:
        propose_promotion(branch, limit, model_name, key)
        number = propose_consolidation(branch, model_name, key) if often == "weekly" else ""
        ci_job.write_outputs(consolidation=number)
        return
    except ModelUnavailable as error:
        hint = error.hint
        if not key and model_name.startswith("http:"):
            hint = "api-key: ${{ secrets.NAME }}, where the endpoint wants one; forks and Dependabot get no secrets"
        raise ModelUnavailable(without_key(key, error.message), without_key(key, hint)) from None


@command.command("merge")
def merge_command() -> None:
    """Merge the default branch into the open memory pull requests, fact by fact.

    What merges without a conflict is pushed. The step outputs `merged` and `conflicts` have the numbers.
    """
    ci_job.set_bot_identity()
    repo, config = open_here()
    _, client = ci_job.forge_and_client()
    if client is None:
        raise GitMemError("there is no token to push with", "give the action a token")
    base = ci_job.resolve_commit(repo, f"refs/remotes/origin/{client.default_branch()}")
    merge = proposals.BaseMerge(config, client, base, os.environ, now().date())
    results = proposals.merge_into_open(repo, merge, sys.executable)
    lines = [f"- #{row.number}: {', '.join(filter(None, (row.state, row.why)))}" for row in results]
    ci_job.append_summary("### Open memory pull requests\n\n" + ("\n".join(lines) or "none") + "\n")
    for row in results:
        say(f"git mem: #{row.number} {row.branch}: {row.state} {row.why}".rstrip())
    ci_job.write_outputs(
        merged=",".join(str(row.number) for row in results if row.state == "merged"),
        conflicts=",".join(str(row.number) for row in results if row.state == "conflict"),
    )
