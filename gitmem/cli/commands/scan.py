"""`git mem scan`: find secrets, personal data, instructions to the model and hidden text in memory files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import click

from gitmem import __version__
from gitmem.cli import completions
from gitmem.cli.options import open_here, range_option
from gitmem.cli.places import repository_path_of
from gitmem.cli.terminal import escape, json_text, page, paint_severities, write_json
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.gate import explanation, trial
from gitmem.gate.blob_reading import files_before_commit
from gitmem.gate.commit_files import files_of_history, files_of_last_commits, files_of_new_commits, parse_range
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.registry import WITH_PLUGINS
from gitmem.gate.detectors.rule_file import Rule, parse_rules
from gitmem.gate.examine import Blob, FilesBefore, Source, decode, finding_of_non_text
from gitmem.gate.exceptions import Entry
from gitmem.gate.existing_findings import baseline_rows
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.reports.github import as_annotations
from gitmem.gate.reports.sarif import as_sarif
from gitmem.gate.reports.text import as_text
from gitmem.gate.reports.value import result_of
from gitmem.gate.scan import Report, scan, without_repeats
from gitmem.gate.staged_files import staged_files
from gitmem.gate.tree_policies import range_policy, staged_policy, tree_policy, worktree_policy
from gitmem.gate.work_tree_files import work_tree_files
from gitmem.git.opening import Repository
from gitmem.json_values import json_value
from gitmem.plural import counted
from gitmem.regular_file import read_input, read_regular

WORKERS = 2  # processes that scan
TRIAL_COMMITS = 200  # commits of --trial without a number
COUNTER_STEP = 50  # versions of files between two updates of the counter

# Name of the format -> the function that renders a report for stdout.
FORMATS: dict[str, Callable[[Report], str]] = {
    "text": lambda report: as_text(report, escape),
    "json": lambda report: json_text(json_value(result_of(report))),
    "sarif": lambda report: as_sarif(report, __version__),
    "github": lambda report: as_annotations(report, escape),
}


class ScanOptions(NamedTuple):
    """The paths and options of one scan, as `git mem scan -h` has them.

    `span`: `--range`, "" without it. `message`: a file, "-" for standard input, None for no message. `severity`: None:
    warnings are shown and pass. `rules_file`: None for no further rules. `trial`: a number of commits, None for no
    trial. `explain`: `FILE:LINE`, "" for none. `everything`: `--all`.
    """

    paths: tuple[str, ...]
    staged: bool
    span: str
    history: bool
    message: str | None
    form: str
    as_json: bool
    severity: str | None
    rules_file: str | None
    plugins: bool
    audit: bool
    trial: int | None
    explain: str
    everything: bool


@click.command()
@click.argument("paths", nargs=-1, shell_complete=completions.paths)
@click.option("--staged", is_flag=True, help="What is staged, exactly as it would be committed.")
@range_option("Every version of every memory file, and the messages.")
@click.option("--history", is_flag=True, help="The same for all of history.")
@click.option("--message", metavar="FILE", help="A commit message; - reads standard input.")
@click.option("--format", "form", type=click.Choice(tuple(FORMATS)), default="text", help="How to answer.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--severity", type=click.Choice(["block", "warn"]), default=None,
    help="block: leave warnings out. warn: warnings fail too. Otherwise they are shown and pass.",
)  # fmt: skip
@click.option("--rules", "rules_file", metavar="FILE", help="More token rules: a gitleaks.toml.")
@click.option(
    "--plugins", is_flag=True, help="Ask the plugins of detect-secrets too; slower. In hooks: mem.detectSecrets."
)
@click.option("--audit", is_flag=True, help="List the exceptions; exit 1 when one has ended.")
@click.option(
    "--trial", is_flag=False, flag_value=TRIAL_COMMITS, type=click.IntRange(1), metavar="[N]", default=None,
    help=f"Of the last N commits ({TRIAL_COMMITS}), which the gate would have refused, and why. Always exits 0.",
)  # fmt: skip
@click.option(
    "--explain", metavar="FILE:LINE", default="",
    help="Of one line: what was read, which evidence counted, what would make it pass.",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Show what stood here at adoption and is accepted, too.")
def command(**arguments: Any) -> int:
    """Scan memory for what must not be there.

    Ends with 1 when something is. PATH names files or folders of the work tree; without PATH or option, all memory
    files of the work tree. With --range, exceptions and settings are those of A: nothing in a range can except itself.

    \b
    git mem scan --staged
    git mem scan --range origin/main..HEAD
    """
    options = ScanOptions(**arguments)
    given_sources = (options.paths, options.staged, options.span, options.history, options.trial or options.explain)
    if sum(map(bool, given_sources)) > 1:
        raise UsageError(
            "PATH, --staged, --range, --history, --trial and --explain are different questions", "ask one at a time"
        )
    repo, _ = open_here()
    form = "json" if options.as_json else options.form
    if options.audit:
        return show_audit(repo, form)
    if options.explain:
        return show_explanation(repo, options.explain, form)
    if options.trial:
        return show_trial(repo, options.trial, form)
    policy, source = choose_source(repo, options)
    if options.rules_file:
        policy = replace(policy, rules=read_rules(options.rules_file))
    if options.plugins:
        policy = replace(policy, detectors=WITH_PLUGINS)
    if options.message:
        source = replace(source, blobs=_with_message(source.blobs, options.message))
    if options.history:
        source = replace(source, blobs=_counted(source.blobs))
    report = without_repeats(scan(source, policy, workers=WORKERS))
    if options.severity == "block":
        report = replace(report, findings=tuple(f for f in report.findings if f.severity is Severity.BLOCK))
    render(report, form, accepted=options.everything)
    return Exit.findings_if(report.blocked or (options.severity == "warn" and report.findings))


def choose_source(repo: Repository, options: ScanOptions) -> tuple[Policy, Source]:
    """(policy, source) that the options name. Without options: all memory files of the work tree."""
    today = now().date()
    if options.staged:
        policy = staged_policy(repo, today)
        source = staged_files(repo, policy)
    elif options.span:
        chosen = parse_range(repo, options.span)
        policy = range_policy(repo, chosen, today)
        source = files_of_new_commits(repo, chosen.base, chosen.tip, policy)
    elif options.history:
        policy = _policy_of_head(repo, today)
        source = files_of_history(repo, policy)
    elif options.message and not options.paths:
        policy = staged_policy(repo, today)
        source = Source(())
    else:
        policy = worktree_policy(repo, today)
        source = work_tree_files(repo, [repository_path_of(repo, path) for path in options.paths], policy)
    return policy, source


def _policy_of_head(repo: Repository, today: date) -> Policy:
    """The policy of HEAD's tree; the default policy if there is no commit."""
    head = repo.head()
    if head:
        return tree_policy(repo, head, today)
    return Policy(today=today)


def _with_message(blobs: Iterable[Blob], name: str) -> Iterator[Blob]:
    """The commit message in the file `name` ("-": standard input), then the blobs."""
    yield Blob(MESSAGE, read_input(Path(name), sys.stdin.buffer))
    yield from blobs


def _counted(blobs: Iterable[Blob]) -> Iterator[Blob]:
    """Yield the blobs, with a counter on stderr if that is a terminal."""
    show = sys.stderr.isatty()
    for number, blob in enumerate(blobs, 1):
        if show and number % COUNTER_STEP == 0:
            sys.stderr.write(f"\rscanned {number}")
            sys.stderr.flush()
        yield blob
    if show:
        sys.stderr.write("\r\x1b[K")


def read_rules(name: str) -> tuple[Rule, ...]:
    """The token rules in a file that the user named. Raises GitMemError if the file cannot be read."""
    try:
        return tuple(parse_rules(read_regular(Path(name)).decode("utf-8")))
    except (OSError, UnicodeDecodeError):
        raise GitMemError(f"cannot read the rules in '{name}'", "it must be a gitleaks.toml") from None


def render(report: Report, form: str, *, accepted: bool = False) -> None:
    """Print the report on stdout. `form`: a key of FORMATS. `accepted`: include the findings that the baseline accepts
    in text (JSON always includes them)."""
    if form == "text":
        page(paint_severities(as_text(report, escape, accepted=accepted)), wrap=True)
    else:
        page(FORMATS[form](report))


def show_explanation(repo: Repository, place: str, form: str) -> int:
    """Print why the gate judges the line FILE:LINE of the work tree (`place`) as it does. Returns 1 if the line would
    be blocked, else 0. Raises UsageError for a place of another form and for a `form` other than "text" and "json",
    GitMemError for a file that the gate does not read."""
    name, _, number = place.rpartition(":")
    if not name or not number.isdecimal() or form not in ("text", "json"):
        raise UsageError(f"'{place}' is not a line of a file", "git mem scan --explain FILE:LINE, as text or --json")
    policy = worktree_policy(repo, now().date())
    blobs = list(work_tree_files(repo, [repository_path_of(repo, name)], policy).blobs)
    (blob,) = blobs or [Blob(name, b"", skipped="no file")]
    if blob.skipped:
        raise GitMemError(f"'{name}' is not read: {blob.skipped}")
    text, problem = decode(blob.data)
    extra_findings: list[Finding] = []
    if problem:
        extra_findings.append(finding_of_non_text(blob, problem, policy))
    explained = explanation.explain(text, blob.path, int(number), policy, extra_findings)
    if form == "json":
        write_json(explained)
    else:
        page(explanation.as_text(explained, escape), wrap=True)
    return Exit.findings_if(explained.blocks)


def show_trial(repo: Repository, number: int, form: str) -> int:
    """Print which of the last `number` commits the gate would have refused, and why. Always returns 0. Raises
    UsageError for a format without trials."""
    if form not in ("text", "json"):
        raise UsageError(f"a trial has no format '{form}'", "--format text or --json")
    policy = _policy_of_head(repo, now().date())
    source, commits = files_of_last_commits(repo, number, policy)
    report = scan(replace(source, blobs=_counted(source.blobs)), policy, workers=WORKERS)
    before = FilesBefore(lambda path: ())
    if commits:
        before = files_before_commit(repo, commits[0])
    paths = {finding.path for finding in report.findings if finding.path != MESSAGE}
    found_before = {row for path in paths for row in baseline_rows(path, before.texts(path), policy)}
    result = trial.trial_of(report, commits, found_before)
    if form == "json":
        write_json(result)
    else:
        page(trial.as_text(result, escape), wrap=True)
    return Exit.DONE


def show_audit(repo: Repository, form: str) -> int:
    """Print every exception with its state, active or ended. Returns 1 if one has ended, else 0. `form`: "json", or any
    other for text."""
    today = now().date()
    policy = worktree_policy(repo, today) if repo.root else _policy_of_head(repo, today)
    rows = [(entry, "ended" if entry.expired(today) else "active") for entry in policy.allow.entries]
    if form == "json":
        write_json({"exceptions": [_audit_value(entry, state) for entry, state in rows]})
    else:
        lines = []
        for entry, state in rows:
            last_day = entry.until.isoformat() if entry.until else "no end"
            texts = entry.fingerprint or f"{counted(len(entry.fingerprints), 'text')} of the file:"
            line = f"{state} {last_day} {texts} {entry.rule} {entry.path}: {entry.reason}"
            lines.append(escape(line, keep="") + "\n")
        page("".join(lines) or "no exceptions\n", wrap=True)
    return Exit.findings_if(any(state == "ended" for _, state in rows))


def _audit_value(entry: Entry, state: str) -> dict[str, object]:
    """An item of `exceptions` of docs/json.md, "scan --audit"."""
    value: dict[str, object] = {
        "fingerprint": entry.fingerprint, "rule": entry.rule, "path": entry.path, "reason": entry.reason,
        "until": entry.until.isoformat() if entry.until else None, "state": state,
    }  # fmt: skip
    if entry.for_file:
        value["fingerprints"] = list(entry.fingerprints)
    return value
