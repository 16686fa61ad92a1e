"""`git mem allow`: one reviewed exception more."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from itertools import chain

import click

from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, write, write_json
from gitmem.environment import now
from gitmem.errors import Changed, GitMemError, OutsideRepository, UsageError
from gitmem.gate import exceptions, sources
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob, Source
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.scan import scan_source
from gitmem.git.opening import Repository
from gitmem.git.transaction import Draft, Reading
from gitmem.git.transaction import write as write_files

Place = tuple[Policy, Callable[[], Source]]

LEAST = 8  # hex digits of a fingerprint that may stand for it


@click.command()
@click.argument("fingerprint")
@click.option("--reason", required=True, help="Why this is no danger, for whoever reviews it.")
@click.option("--until", metavar="DATE", help="Its last day, YYYY-MM-DD; 180 days from now when not given.")
@click.option("--range", "span", metavar="A..B", help="Look for the finding in these commits too.")
@click.option("--history", is_flag=True, help="Look for it in all of history too.")
@json_option
def command(fingerprint: str, reason: str, until: str | None, span: str | None, history: bool, as_json: bool) -> None:
    """Except the finding FINGERPRINT (as `git mem scan` prints it) from the gate, in .gitmem-allow.toml.

    The exception covers that rule at that path and nothing else. Commit it on its own, before what it excepts: CI
    honours the exceptions of the base branch only. `git mem scan --audit` lists them all.
    """
    repo, _ = open_here()
    if repo.root is None:
        raise GitMemError("a bare repository has no files", "run it in a clone")
    wanted = fingerprint.lower()
    if len(wanted) < LEAST or set(wanted) - set("0123456789abcdef"):
        raise UsageError(f"'{fingerprint}' is no fingerprint", "git mem scan prints one below each finding")
    if not reason.strip():
        raise UsageError("an exception needs a reason", "--reason 'why this is no danger'")
    today = now().date()
    last = exceptions.parse_date(until) if until else today + exceptions.LIFETIME
    if last < today:
        raise UsageError(f"{last} has passed", "--until takes a day to come")
    places = _places(repo, today, span, history)
    made = _excepted(repo, wanted, places, reason.strip(), last)
    if as_json:
        row = {"fingerprint": made.fingerprint, "rule": made.rule, "path": made.path, "reason": made.reason}
        write_json({**row, "until": last.isoformat()})
    else:
        write(escape(f"{exceptions.FILE}: {made.rule} in {made.path} is excepted until {last}", keep="") + "\n")
        write(f"next: git add {exceptions.FILE} && git commit -m 'gate: except ...' -- {exceptions.FILE}\n")


def _excepted(repo: Repository, wanted: str, places: list[Place], reason: str, until: date) -> exceptions.Entry:
    """Write the exception for the finding that `wanted` names; the exception.

    The finding is looked for before the file is locked: a history takes its time. Raises Changed where somebody gave
    the file another salt meanwhile, and as `_entry`.
    """
    text = _text(Reading(repo))
    known = exceptions.parse(text).salt
    salt = known if text.strip() else secrets.token_hex(16)
    found = _entry(wanted, places, dict.fromkeys([known, exceptions.NO_SALT]), salt)
    made = replace(found, reason=reason, until=until)

    def plan(reading: Reading) -> Draft[exceptions.Entry]:
        current = _text(reading)
        if (exceptions.parse(current).salt, bool(current.strip())) != (known, bool(text.strip())):
            raise Changed(f"somebody else wrote {exceptions.FILE} meanwhile; nothing was written", "run it again")
        return Draft({exceptions.FILE: exceptions.with_entry(current, made, salt).encode()}, made)

    return write_files(repo, plan)


def _text(reading: Reading) -> str:
    """The exceptions file's text, "" where there is none. Raises GitMemError where it cannot be read."""
    try:
        return (reading.raw(exceptions.FILE) or b"").decode("utf-8")
    except (OSError, OutsideRepository, UnicodeDecodeError):
        raise GitMemError(f"{exceptions.FILE} cannot be read", "it must be a plain UTF-8 file") from None


def _entry(wanted: str, places: list[Place], printed: Iterable[str], salt: str) -> exceptions.Entry:
    """The exception for the finding that `wanted` names, with its fingerprint under `salt`.

    `printed` are the salts under which a scan may have printed it: that of the file as it is, and the one of a
    repository without a file, so that what a scan printed before the first exception can be excepted after it.
    Raises UsageError for the beginning of several, GitMemError where nothing has it.
    """
    for policy, read in places:
        for known in printed:
            named = _named(wanted, replace(policy, allow=exceptions.Allowlist(known)), read())
            if known != salt:
                salted = replace(policy, allow=exceptions.Allowlist(salt))
                named = [_same_finding(finding, salted, read()) for finding in named]
            if named:  # the same text in several files has one fingerprint: the next that no exception covers
                found = next((f for f in named if policy.allow.covers(f) is None), named[0])
                return exceptions.Entry(found.fingerprint, found.rule, found.path, "", None)
    raise GitMemError(
        f"nothing here has the fingerprint '{wanted}'",
        "git mem scan --staged and git mem scan print them; for committed ones add --range A..B or --history",
    )


def _named(wanted: str, policy: Policy, source: Source) -> list[Finding]:
    """The findings whose fingerprint begins with `wanted`, the first of each rule and path."""
    named = [f for f in scan_source(source, policy).findings if f.fingerprint.startswith(wanted)]
    if len({(f.rule, f.path) for f in named}) > 1 and len(wanted) < exceptions.LENGTH:
        raise UsageError(f"'{wanted}' is the beginning of several", "give all of the fingerprint")
    return list({(f.rule, f.path): f for f in reversed(named)}.values())[::-1]


def _same_finding(finding: Finding, policy: Policy, source: Source) -> Finding:
    """The same finding as another policy's salt names it."""
    blobs = (blob for blob in source.blobs if (blob.path, blob.commit) == (finding.path, finding.commit))
    report = scan_source(replace(source, blobs=blobs), policy)
    return next(f for f in report.findings if _same(f, finding))


def _same(a: Finding, b: Finding) -> bool:
    return (a.rule, a.path, a.line, a.column, a.message) == (b.rule, b.path, b.line, b.column, b.message)


def _places(repo: Repository, today: date, span: str | None, history: bool) -> list[Place]:
    """Where a finding may be: staged, in the message being written, in the work tree, in a range, in history."""
    staged, work = sources.staged_policy(repo, today), sources.worktree_policy(repo, today)

    def staged_now() -> Source:
        source = sources.staged(repo, staged)
        return replace(source, blobs=chain(source.blobs, _message(repo)))

    found: list[Place] = [(staged, staged_now), (work, lambda: sources.paths(repo, [], work))]
    if span:
        base, tip = sources.span(repo, span)
        ranged = sources.base_policy(repo, base, tip, today)
        found.append((ranged, lambda: sources.commits_beyond(repo, base, tip, ranged)))
    if history and repo.head():
        found.append((work, lambda: sources.commits(repo, sources.everything(repo), work)))
    return found


def _message(repo: Repository) -> list[Blob]:
    try:
        return [Blob(MESSAGE, (repo.git_dir / "COMMIT_EDITMSG").read_bytes())]
    except OSError:
        return []
