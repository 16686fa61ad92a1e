"""Run one Git hook; the lines in Git's hook files call this. A gate hook returns 0 or refuses the commit or push, and
the hook file turns every refusal into exit code 1. All other hooks return 0.

The module starts without click, since every commit waits for it, and each hook imports inside its function what the
other hooks do not need. `git mem hook` (`commands/hook.py`) calls the same `run`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import NoReturn

from gitmem.cli import index_hooks
from gitmem.cli.exits import run_command
from gitmem.cli.terminal import escape, printable, say
from gitmem.config import Config
from gitmem.config.loading import load
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.gate.detectors.registry import DETECTORS
from gitmem.gate.examine import Blob, Source
from gitmem.gate.existing_findings import findings_before
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.pushed_commits import NewCommits, RefUpdate
from gitmem.gate.scan import Report, scan, without_repeats
from gitmem.git.hooks import GATES, HOOKS, REFRESH, SERVER, WRITING
from gitmem.git.hooks.folder import hooks_folder
from gitmem.git.hooks.record import remembered
from gitmem.git.objects import Change
from gitmem.git.opening import Repository, open_repository

FRAMEWORK = "--pre-commit"  # word of a pre-push hook that the pre-commit framework runs: stdin does not come from Git
MISSING_HOOKS = "--gone"  # word of a post-commit hook: report which of our hooks are missing
CITED_FACTS = "--cited"  # word of a post-commit hook: report which facts cite code that the commit changes
MAX_CITED_FACTS = 5  # facts that are named after a commit; the others are counted
WORKERS = 2  # processes that scan many blobs


def main(argv: list[str]) -> NoReturn:
    """Run `python -m gitmem hook NAME [WORD...]` and end the process with the hook's exit code."""
    sys.exit(run(argv))


def run(argv: list[str]) -> int:
    """Run one hook and return its exit code. `argv`: the hook's name and its words. Never raises."""
    name = argv[0] if argv else ""
    words = tuple(word for word in argv[1:] if word != "--")
    return run_command(lambda: run_hook(name, words))


def run_hook(name: str, words: tuple[str, ...]) -> int:
    """Run one hook and return its exit code: 1 if a finding of a gate blocks, else 0.

    Raises GitMemError if a gate or the report of missing hooks (`--gone`) could not run, and UsageError for an unknown
    name. Every other hook logs its errors.
    """
    if name not in (*HOOKS, *SERVER):
        raise UsageError("there is no such hook", f"one of {', '.join((*HOOKS, *SERVER))}")
    if name in GATES or name in SERVER:
        return gate(name, words)
    if MISSING_HOOKS in words:
        repo = hook_repository()
        report_broken_hooks(repo, broken_hooks(repo))
    elif CITED_FACTS in words:
        with index_hooks.errors_logged(name):
            report_cited_facts(hook_repository())
    elif name in REFRESH:
        index_hooks.run(name, words)
    else:
        assert name in WRITING, name
        with index_hooks.errors_logged(name):
            add_trailers(words)
    return Exit.DONE


def hook_repository() -> Repository:
    """The repository in which Git runs the hook: that of the current folder. Raises as `open_repository`."""
    return open_repository(Path.cwd(), os.environ)


def settings(repo: Repository) -> Config:
    """The user's own settings. A clone's tracked settings (.gitmem.toml) are not read: no hook needs one of them."""
    return load(repo.user_config())


@dataclass(frozen=True, slots=True)
class GateRun:
    """One run of a gate. `hook`: the hook's name. `words`: the arguments that Git gives the hook. `today`: the day by
    which exceptions expire."""

    repo: Repository
    hook: str
    words: tuple[str, ...]
    today: date


@dataclass(frozen=True, slots=True)
class GateResult:
    """The report of a gate. `hook`: the hook that the output names, which may differ from the hook that ran."""

    hook: str
    report: Report


def gate(name: str, words: tuple[str, ...]) -> int:
    """Scan the content that the hook guards and print the findings on stderr. Returns 1 if a finding blocks, else 0.

    A refusal is recorded, so that `git mem status` can show it. Raises UsageError for an unknown name, GitMemError if
    the scan could not run.
    """
    from gitmem.gate import last_refusal
    from gitmem.gate.reports.finding_words import blocking_words
    from gitmem.gate.reports.hook import hook_lines

    if name not in GATE_OF_HOOK:
        raise UsageError("there is no such gate", f"one of {', '.join(GATE_OF_HOOK)}")
    repo = hook_repository()
    try:
        result = GATE_OF_HOOK[name](GateRun(repo, name, words, now().date()))
    except GitMemError as error:
        last_refusal.record(repo.common_dir, name, error.message, now())
        raise
    finally:
        repo.close()
    for line in hook_lines(without_repeats(result.report), result.hook, escape):
        sys.stderr.write(printable(line + "\n").decode())
    if result.report.blocked:
        last_refusal.record(repo.common_dir, result.hook, blocking_words(result.report), now())
        return Exit.FINDINGS
    last_refusal.delete_after_success(repo.common_dir, result.hook)
    return Exit.DONE


def gate_staged(gate_run: GateRun) -> GateResult:
    """Scan the staged content, and the pushed commits if the pre-commit framework runs the hook at its pre-push stage.

    The result then names the hook "pre-push" if a finding in the pushed commits blocks.
    """
    report = scan_staged(
        gate_run.repo, gate_run.today, paths=gate_run.words, merging=gate_run.hook == "pre-merge-commit"
    )
    if not os.environ.get("PRE_COMMIT_TO_REF"):
        return GateResult(gate_run.hook, report)
    pushed = scan_named_range(gate_run.repo, gate_run.today)
    hook = "pre-push" if pushed.blocked else gate_run.hook
    return GateResult(hook, merged_reports([report, pushed]))


def gate_message(gate_run: GateRun) -> GateResult:
    """Scan the commit message. The hook commit-msg also scans the staged content if the hook pre-commit or
    pre-merge-commit may not run.

    Raises UsageError if Git names no file of the message.
    """
    if not gate_run.words:
        raise UsageError("commit-msg needs the message's file")
    report = scan_message(gate_run.repo, gate_run.today, file=Path(gate_run.words[0]))
    if gate_run.hook == "commit-msg":
        broken = broken_hooks(gate_run.repo)
        report_broken_hooks(gate_run.repo, broken)
        if not broken.isdisjoint(("pre-commit", "pre-merge-commit")):
            report = merged_reports([report, scan_staged(gate_run.repo, gate_run.today, merging=True)])
    return GateResult(gate_run.hook, report)


def gate_push(gate_run: GateRun) -> GateResult:
    """Scan the commits of a push, and print which hooks are broken. As for `scan_push`, Git names the pushed refs on
    standard input; if the pre-commit framework runs the hook, its variables name them (`scan_framework_push`)."""
    report_broken_hooks(gate_run.repo, broken_hooks(gate_run.repo))
    if FRAMEWORK in gate_run.words:
        return GateResult(gate_run.hook, scan_framework_push(gate_run.repo, gate_run.today))
    remote = next(iter(gate_run.words), "")
    return GateResult(gate_run.hook, scan_push(gate_run.repo, gate_run.today, remote=remote))


def gate_received(gate_run: GateRun) -> GateResult:
    """Scan the pushed commits, on the server; Git names the pushed refs on standard input."""
    return GateResult(gate_run.hook, scan_received(gate_run.repo, gate_run.today))


GATE_OF_HOOK: dict[str, Callable[[GateRun], GateResult]] = {
    "pre-commit": gate_staged,
    "pre-merge-commit": gate_staged,
    "commit-msg": gate_message,
    "pre-push": gate_push,
    "pre-applypatch": gate_staged,
    "applypatch-msg": gate_message,
    "pre-receive": gate_received,
}


def broken_hooks(repo: Repository) -> frozenset[str]:
    """The names of the installed hooks that are missing, that Git does not run or reach, or that were changed. Empty if
    some were only changed, and if git-mem installed no hooks here."""
    from gitmem.gate.setup_checks import hook_faults

    if not remembered(repo.common_dir):
        return frozenset()
    faults = hook_faults(repo, hooks_folder(repo))
    if not faults.missing and not faults.idle:
        return frozenset()
    return frozenset((*faults.changed, *faults.idle, *faults.missing))


def report_broken_hooks(repo: Repository, broken: frozenset[str]) -> None:
    """Print on stderr which hooks are broken; nothing if `broken` is empty."""
    if not broken:
        return
    from gitmem.gate.setup_checks import hook_check

    check = hook_check(repo, hooks_folder(repo))
    say(f"git mem: hooks are {check.wrong}; {check.hint}")


def report_cited_facts(repo: Repository) -> None:
    """Print on stderr which facts cite code that the commit at HEAD changed, moved or removed: at most MAX_CITED_FACTS,
    and the number of the others. Prints nothing for the first commit."""
    from gitmem.claims.touched_citations import touched_facts
    from gitmem.plural import counted

    parents = repo.commit("HEAD").parents
    if not parents:
        return
    facts = touched_facts(repo, parents[0], repo.head() or "", settings(repo).memory_daily)
    lines = [f"git mem: {row.path}:{row.fact.line}: {'; '.join(code.words for code in row.code)}" for row in facts]
    if len(lines) > MAX_CITED_FACTS:
        lines[MAX_CITED_FACTS:] = [
            f"git mem: {counted(len(lines) - MAX_CITED_FACTS, 'more fact')} cite what this commit touches"
        ]
    if lines:
        lines.append("hint: what is still true: git mem confirm PATH:LINE; what is not: git mem edit PATH:LINE")
    for line in lines:
        say(line)


def scan_staged(repo: Repository, today: date, *, merging: bool, paths: Sequence[str] = ()) -> Report:
    """Scan the staged content. `paths`: files whose staged content is scanned too, changed or not (the framework's
    --all-files). `merging`: the commit will be a merge."""
    from gitmem.gate.blob_reading import files_before
    from gitmem.gate.changes.staging import merge_heads
    from gitmem.gate.staged_files import staged_files
    from gitmem.gate.tree_policies import staged_policy

    policy = staged_policy(repo, today, merging=merging)
    report = scan(staged_files(repo, policy, paths, merging=merging), policy, workers=WORKERS)
    head = repo.head()
    if not head or not report.findings:
        return report
    before = files_before(repo, (head, *merge_heads(repo, merging=merging)), ())
    return report.with_before(findings_before(report.findings, before, policy))


def scan_message(repo: Repository, today: date, *, file: Path) -> Report:
    """Scan the message in `file`, and check the rules that a trailer of the message can satisfy, such as changes of old
    daily logs. Raises GitMemError if the file cannot be read."""
    from gitmem.gate import redaction_record
    from gitmem.gate.changes.staging import change_findings, staged_change, staged_history
    from gitmem.gate.tree_policies import staged_policy
    from gitmem.provenance import agent_trailers

    try:
        data = file.read_bytes()
    except OSError as error:
        raise GitMemError(f"cannot read the message: {error.strerror}") from None
    user_config = repo.user_config()  # read once, since each call starts git
    policy = staged_policy(repo, today, user_config=user_config)
    staging = staged_change(repo, policy)
    edited = os.environ.get("GIT_EDITOR") != ":"
    text = without_diff(
        data.decode("utf-8", "replace"), edited=edited, staged=lambda: staged_lines(repo, staging.changes)
    )
    recorded = text  # the part of which Git keeps the trailers
    if edited:
        recorded = agent_trailers.split_comments(text)[0]
    findings = redaction_record.without_recorded_rewrites(repo, file, staged_history(repo, staging, recorded, policy))
    findings += change_findings(repo, staging, policy)
    findings += agent_trailers.check_trailers(repo, load(user_config), recorded)
    quick = tuple(name for name, detector in DETECTORS.items() if detector.in_messages)
    policy = replace(policy, detectors=quick)
    return scan(Source([Blob(MESSAGE, text.encode("utf-8", "replace"))], tuple(findings)), policy)


def without_diff(message: str, *, edited: bool, staged: Callable[[], frozenset[str]]) -> str:
    """The message without the diff that `git commit --verbose` puts below it.

    `edited`: an editor was opened (else Git sets GIT_EDITOR to `:` for its hooks, githooks(5)); only then does Git
    remove the diff from the message, so otherwise the text is returned unchanged. `staged`: returns the lines of the
    changed files, old and new. A line of the diff is removed only if it is one of these, since a person can write a
    false diff into a message.
    """
    from gitmem.provenance.trailers import VERBOSE_DIFF

    match = VERBOSE_DIFF.search(message) if edited else None
    if match is None:
        return message
    file_lines = staged()
    above, below = message[: match.start()], message[match.start() :].split("\n")
    return above + "\n".join(line for line in below if line[:1] not in ("+", "-", " ") or line[1:] not in file_lines)


def staged_lines(repo: Repository, changes: Iterable[Change]) -> frozenset[str]:
    """The lines of the files that a commit changes, of the old and of the new versions."""
    oids = {oid for change in changes for oid in (change.old_oid, change.new_oid) if oid.strip("0")}
    texts = (data.decode("utf-8", "replace") for _, data in repo.read_many(sorted(oids)) if data is not None)
    return frozenset(line for text in texts for line in text.split("\n"))


def scan_push(repo: Repository, today: date, *, remote: str) -> Report:
    """Scan the commits of a push that the remote does not have, and its annotated tags and notes. Reads the pushed refs
    from standard input, as Git writes them. `remote`: the remote's name or address, "" if Git gives none."""
    from gitmem.gate.pushed_commits import push_updates, pushed_commits
    from gitmem.gate.tree_policies import pushed_policy

    updates = push_updates(sys.stdin.read().splitlines())
    reports = [scan_tags_and_notes(repo, today, updates)]
    new_commits = pushed_commits(repo, updates, remote)
    reports += scan_new_commits(repo, new_commits, lambda base, tip: pushed_policy(repo, base, tip, today))
    return merged_reports(reports)


def scan_new_commits(
    repo: Repository, refs: Iterable[NewCommits], policy_of: Callable[[str, str], Policy]
) -> list[Report]:
    """Scan the new commits of each ref; one report for each ref. `policy_of`: returns the policy for a base and a
    tip."""
    from gitmem.gate.commit_files import files_of_commits

    reports = []
    for base, tip, revs in refs:
        policy = policy_of(base, tip)
        reports.append(scan(files_of_commits(repo, revs, policy, base), policy, workers=WORKERS))
    return reports


def scan_tags_and_notes(repo: Repository, today: date, updates: list[RefUpdate]) -> Report:
    """Scan the annotated tags and the notes of a push by the policy of HEAD's tree, since they have no tree of their
    own; by the default policy if there is no HEAD. `updates`: as in `push_updates`."""
    from gitmem.gate.tags_and_notes import pushed_tags_and_notes
    from gitmem.gate.tree_policies import tree_policy

    texts = pushed_tags_and_notes(repo, updates)
    policy = Policy(today=today)
    if head := repo.head():
        policy = tree_policy(repo, head, today)
    return scan(Source(texts), policy)


def scan_framework_push(repo: Repository, today: date) -> Report:
    """Scan the range that the pre-commit framework names, and all other commits of local branches that the remote does
    not have: the framework names only the first ref of a push, and none at the first push to a remote.
    PRE_COMMIT_REMOTE_NAME names the remote. Raises UnknownRevision as `scan_named_range`."""
    from gitmem.gate.pushed_commits import unpushed_commits
    from gitmem.gate.tree_policies import pushed_policy

    tip_name = os.environ.get("PRE_COMMIT_TO_REF", "")
    reports, tip = [], ""
    if tip_name:
        reports, tip = [scan_named_range(repo, today)], repo.resolve(tip_name)
    base_name = os.environ.get("PRE_COMMIT_FROM_REF", "")
    remote = os.environ.get("PRE_COMMIT_REMOTE_NAME", "")
    new_commits = unpushed_commits(repo, remote, tip, base_name)
    reports += scan_new_commits(repo, new_commits, lambda base, tip: pushed_policy(repo, base, tip, today))
    return merged_reports(reports)


def scan_named_range(repo: Repository, today: date) -> Report:
    """Scan the commits from PRE_COMMIT_FROM_REF to PRE_COMMIT_TO_REF; the pre-commit framework sets both variables. If
    the first is unset or all zeros, all commits up to the second are scanned. The second must be set. Raises
    UnknownRevision if a variable names no commit."""
    from gitmem.gate.commit_files import files_of_new_commits
    from gitmem.gate.tree_policies import pushed_policy

    tip = repo.resolve(os.environ["PRE_COMMIT_TO_REF"])
    base_name = os.environ.get("PRE_COMMIT_FROM_REF", "")
    base = repo.resolve(base_name) if base_name.strip("0") else ""
    policy = pushed_policy(repo, base, tip, today)
    return scan(files_of_new_commits(repo, base, tip, policy), policy, workers=WORKERS)


def scan_received(repo: Repository, today: date) -> Report:
    """Scan the pushed commits, on the server, with the settings and exceptions of the ref before the push, so that a
    push cannot add an exception for itself. Reads the pushed refs from standard input, as Git writes them."""
    from gitmem.gate.pushed_commits import received_commits, received_updates
    from gitmem.gate.tree_policies import range_policy
    from gitmem.git.revision import CommitRange

    updates = received_updates(sys.stdin.read().splitlines())
    reports = [scan_tags_and_notes(repo, today, updates)]
    pushed = received_commits(repo, updates)
    reports += scan_new_commits(repo, pushed, lambda base, tip: range_policy(repo, CommitRange(base, tip, base), today))
    return merged_reports(reports)


def merged_reports(reports: list[Report]) -> Report:
    """The reports of several refs as one, with each finding once."""
    merged = Report()
    for report in reports:
        merged = replace(
            merged,
            findings=tuple(dict.fromkeys((*merged.findings, *report.findings))),
            skipped=tuple(dict.fromkeys((*merged.skipped, *report.skipped))),
            blobs=merged.blobs + report.blobs,
            bytes=merged.bytes + report.bytes,
            excepted=(*merged.excepted, *report.excepted),
            accepted=tuple(dict.fromkeys((*merged.accepted, *report.accepted))),
            before=tuple(dict.fromkeys((*merged.before, *report.before))),
        )
    return merged


def add_trailers(words: tuple[str, ...]) -> None:
    """Run prepare-commit-msg: add trailers with the agent's name and reason to the message file `words[0]`. Does
    nothing without words."""
    from gitmem.provenance import agent_trailers

    if words:
        repo = hook_repository()
        agent_trailers.add_trailers(repo, settings(repo), Path(words[0]))
