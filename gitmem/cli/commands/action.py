"""`git mem action`: what the composite actions run. They hold no logic; everything they decide is decided here.

Reads GITHUB_* and the event's payload, writes annotations, the step summary and outputs. Hidden: people use the
commands behind it (`scan`, `index`, `review`, `promote`, `publish`).
"""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitmem.cli.options import open_here
from gitmem.cli.terminal import escape, say, write
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UnknownRevision
from gitmem.git.opening import Repository
from gitmem.review.forges import github_events

if TYPE_CHECKING:
    from gitmem.review.forges.protocol import Client, Forge

SUMMARY_LIMIT = 1_000_000  # GitHub takes 1 MiB a step


@click.group(hidden=True)
def command() -> None:
    """What the composite actions run."""


def event() -> github_events.Event:
    """The event of this run. Raises GitMemError outside GitHub Actions."""
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    try:
        payload = json.loads(Path(path).read_bytes()) if path else {}
    except (OSError, ValueError):
        raise GitMemError("the event's payload cannot be read", "this command runs inside GitHub Actions") from None
    return github_events.parse(os.environ, payload if isinstance(payload, dict) else {})


def commits_of(repo: Repository, event: github_events.Event) -> tuple[str, str]:
    """(base, head) to look at; base "" for all of history. Raises GitMemError when the clone is too shallow.

    `base` and `head` inputs win. Where the event names no base (a new branch) or a base that a force-push took away,
    it is where the default branch was left; on the default branch itself all of history: never nothing. Whether a
    shallow clone holds all of the range is the scan's to say.
    """
    head = os.environ.get("GITMEM_HEAD") or event.head or "HEAD"
    tip = _have(repo, head)
    given = os.environ.get("GITMEM_BASE", "")
    base = given or event.base
    if event.number and base:
        return repo.merge_base(_have(repo, base), tip) or "", tip
    if given:
        return _have(repo, given), tip
    if base:
        try:
            return repo.resolve(base), tip
        except UnknownRevision:
            say(f"git mem: the former tip {base[:12]} is gone; looking from the default branch")
    if event.branch != event.default_branch:
        for ref in (f"refs/remotes/origin/{event.default_branch}", f"refs/heads/{event.default_branch}"):
            try:
                return repo.merge_base(repo.resolve(ref), tip) or "", tip
            except UnknownRevision:
                continue
    return "", tip


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
@click.option("--severity", type=click.Choice(["block", "warn"]), default="block", help="What fails the check.")
def scan_command(sarif: str | None, severity: str) -> int:
    """Scan every version of every memory file that the event brings, and the commit messages."""
    from gitmem import __version__
    from gitmem.gate import report, sources
    from gitmem.gate.scan import once_each, scan_source
    from gitmem.regular_file import writable_file

    repo, _ = open_here()
    base, tip = commits_of(repo, event())
    policy = sources.base_policy(repo, base, tip, now().date())
    found = once_each(scan_source(sources.commits_beyond(repo, base, tip, policy), policy, workers=2))
    write(report.as_annotations(found, escape))
    span = f"{base[:12] or 'the beginning'}..{tip[:12]}"
    summarise(report.as_markdown(found, escape, f"Memory scan of {span}"))
    if sarif:
        try:
            writable_file(Path(sarif)).write_text(report.as_sarif(found, __version__), encoding="utf-8")
        except OSError as error:
            raise GitMemError(f"cannot write '{sarif}': {error.strerror}") from None
    failed = bool(found.findings) if severity == "warn" else found.blocked
    output(findings=str(len(found.findings)), sarif=sarif or "", result="failed" if failed else "clean")
    return Exit.FINDINGS if failed else Exit.DONE


@command.command("cache-key")
def cache_key_command() -> int:
    """Name the cache of the index: schema, embedder, memory tree; and whether this event may save it."""
    from gitmem.index.indexer import cache_key

    repo, config = open_here()
    found_event = event()
    prefix, tree = cache_key(repo, config)
    output(
        key=f"{prefix}-{tree}", prefix=f"{prefix}-", path=str(Path(repo.common_dir) / "gitmem"),
        save=str(found_event.on_default_branch).lower(),
    )  # fmt: skip
    return Exit.DONE


MARKER = "<!-- git-mem:review -->"
DEFAULT_TOKEN = (
    "Pushes with the default token of Actions start no checks. This proposal was scanned before it was pushed; give "
    "the action a `token` of a GitHub App or a fine-grained one for checks of its own."
)


def forge_and_client() -> tuple[Forge, Client | None]:
    """Where we are on GitHub, and its API when there is a token. Raises GitMemError outside GitHub Actions."""
    import time

    from gitmem.review.forges.location import client_of, forge_of, token_of

    forge = forge_of("", os.environ)
    if forge is None:
        raise GitMemError(
            "GITHUB_SERVER_URL and GITHUB_REPOSITORY are not set", "this command runs inside GitHub Actions"
        )
    return forge, client_of(forge, token_of(forge, os.environ), time.sleep)


def identity() -> None:
    """Commits of an action are the bot's, unless the workflow says otherwise."""
    for role in ("AUTHOR", "COMMITTER"):
        os.environ.setdefault(f"GIT_{role}_NAME", "github-actions[bot]")
        os.environ.setdefault(f"GIT_{role}_EMAIL", "41898282+github-actions[bot]@users.noreply.github.com")


@command.command("review")
def review_command() -> int:
    """Review what the event brings: one comment on the pull request, or the step summary where it may not comment."""
    import time

    from gitmem.gate import report
    from gitmem.memory.snapshot import layout_at
    from gitmem.review.forges.protocol import ForgeError
    from gitmem.review.rendering import as_markdown
    from gitmem.review.review import as_report, review

    repo, config = open_here()
    found_event = event()
    base, tip = commits_of(repo, found_event)
    forge, client = forge_and_client()
    found = review(repo, config, base, tip, layout_at(repo, tip, config), now(), time.perf_counter)
    text = as_markdown(found, forge)
    write(report.as_annotations(as_report(found), escape))
    comment = ""
    if client is not None and found_event.number and not found_event.fork:
        try:
            comment = str(client.put_comment(found_event.number, MARKER, text))
        except ForgeError as error:
            say(f"git mem: no comment: {error.message}")
            if error.hint:
                say(f"hint: {error.hint}")
    summarise(text)
    output(verdict="failed" if found.failed else "clean", comment=comment)
    return Exit.FINDINGS if found.failed else Exit.DONE


@command.command("promote")
@click.option("--branch", default="memory/promote", help="The branch of the proposal.")
@click.option("--max", "limit", type=click.IntRange(1), default=20, help="Facts at most.")
def promote_command(branch: str, limit: int) -> int:
    """Promote on a branch of its own and keep one pull request of it, until it is merged or closed."""
    from gitmem.cli.promotion_output import as_text
    from gitmem.memory.snapshot import layout_at
    from gitmem.promotion.promote import Mode, Request, promote
    from gitmem.promotion.registry import promotion_model
    from gitmem.review import proposals, publish
    from gitmem.review.forges.protocol import push_environment

    identity()
    repo, config = open_here()
    forge, client = forge_and_client()
    if client is None:
        raise GitMemError("there is no token to push and open a pull request with", "give the action a token")
    base = client.default_branch()
    if branch == base:
        raise GitMemError(f"'{branch}' is the default branch, which is never pushed to", "name another branch")
    start = _have(repo, f"refs/remotes/origin/{base}")
    declined = 0
    if proposals.fetch(repo, client, branch, os.environ):
        declined = proposals.record_rejection(repo, config, client, branch, start)
    model, policy = promotion_model(repo, config, now().date(), os.environ)
    outcome = promote(repo, config, model, policy, Request(mode=Mode.BRANCH, limit=limit, branch=branch), now())
    summarise(f"### Promotion\n\n```text\n{escape(as_text(outcome, True)).replace('```', chr(39) * 3)}```\n")
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    facts, number = 0, ""
    layout = layout_at(repo, tip or start, config)
    if tip and not repo.is_ancestor(tip, start):
        from gitmem.review.commit_diff import fact_changes

        meeting = repo.merge_base(start, tip) or ""
        facts = len(fact_changes(repo, meeting, tip, layout, now().date(), authors=False))
    if facts:
        title = f"memory: {facts} facts from the daily logs"
        proposal = publish.Proposal(branch, base, title=title, notes=(DEFAULT_TOKEN,))
        done = publish.publish(repo, forge, client, proposal, layout=layout, today=now().date(), environ=os.environ)
        number = str(done.pull.number) if done.pull else ""
        say(f"git mem: {facts} facts on '{branch}', pull request #{number}")
    elif declined:
        publish.push(repo, "origin", branch, base, push_environment(client, os.environ))
    output(facts=str(facts), **{"pull-request": number, "declined": str(declined)})
    return Exit.DONE


@command.command("merge")
def merge_command() -> int:
    """Merge the default branch into the open memory pull requests, fact by fact."""
    import sys

    from gitmem.review import proposals

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
