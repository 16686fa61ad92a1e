"""`git mem action`: what the composite actions run. They hold no logic; everything they decide is decided here.

Reads GITHUB_* and the event's payload, writes annotations, the step summary and outputs. Hidden: people use the
commands behind it (`scan`, `index`, `review`, `promote`, `publish`).
"""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

import click

from gitmem import events
from gitmem.commands._edge import now, open_here
from gitmem.errors import Exit, GitMemError, UnknownRevision
from gitmem.git import Repository
from gitmem.output import escape, say, write

SUMMARY_LIMIT = 1_000_000  # GitHub takes 1 MiB a step


@click.group(hidden=True)
def command() -> None:
    """What the composite actions run."""


def event() -> events.Event:
    """The event of this run. Raises GitMemError outside GitHub Actions."""
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    try:
        payload = json.loads(Path(path).read_bytes()) if path else {}
    except (OSError, ValueError):
        raise GitMemError("the event's payload cannot be read", "this command runs inside GitHub Actions") from None
    return events.parse(os.environ, payload if isinstance(payload, dict) else {})


def commits_of(repo: Repository, event: events.Event) -> tuple[str, str]:
    """(base, head) to look at; base "" for all of history. Raises GitMemError when the clone is too shallow.

    `base` and `head` inputs win. Where the event names no base (a new branch) or a base that a force-push took away,
    it is where the default branch was left; on the default branch itself all of history: never nothing.
    """
    head = os.environ.get("GITMEM_HEAD") or event.head or "HEAD"
    tip = _have(repo, head)
    base = os.environ.get("GITMEM_BASE") or event.base
    if event.number and base:
        return repo.merge_base(_have(repo, base), tip) or "", tip
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
    from gitmem import __version__, report, sources
    from gitmem.scan import scan

    repo, _ = open_here()
    base, tip = commits_of(repo, event())
    policy = sources.base_policy(repo, base, tip, now().date())
    source = sources.commits(repo, [tip, *([f"^{base}"] if base else [])], policy)
    found = scan(source.blobs, policy, source.findings, workers=2)
    write(report.as_annotations(found, escape))
    span = f"{base[:12] or 'the beginning'}..{tip[:12]}"
    summarise(report.as_markdown(found, escape, f"Memory scan of {span}"))
    if sarif:
        Path(sarif).write_text(report.as_sarif(found, __version__), encoding="utf-8")
    failed = bool(found.findings) if severity == "warn" else found.blocked
    output(findings=str(len(found.findings)), sarif=sarif or "", result="failed" if failed else "clean")
    return Exit.FINDINGS if failed else Exit.DONE


@command.command("cache-key")
def cache_key_command() -> int:
    """Name the cache of the index: schema, embedder, memory tree; and whether this event may save it."""
    from gitmem.indexer import cache_key

    repo, config = open_here()
    here = event()
    prefix, tree = cache_key(repo, config)
    output(
        key=f"{prefix}-{tree}", prefix=f"{prefix}-", path=str(Path(repo.common_dir) / "gitmem"),
        save=str(here.on_default_branch).lower(),
    )  # fmt: skip
    return Exit.DONE


Values = dict[str, Any]
