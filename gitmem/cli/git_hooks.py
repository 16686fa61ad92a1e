"""Run one Git hook; the lines in Git's hook files call this. A gate returns 0 or refuses the commit or push, and the
hook file turns every refusal into exit code 1. All other hooks return 0.

It starts without click, since every commit waits for it, and each hook imports inside its function what the other hooks
do not need. `git mem hook` (`commands/hook.py`) calls the same `run`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import NoReturn

from gitmem.cli import index_hooks
from gitmem.cli.exits import ending
from gitmem.cli.terminal import escape, printable
from gitmem.config import Config
from gitmem.config.loading import load
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.detectors.registry import DETECTORS
from gitmem.gate.examine import Blob
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.scan import Report, scan, scan_source
from gitmem.git.hook_files import GATES, HOOKS, REFRESH, SERVER, WRITING
from gitmem.git.objects import Change
from gitmem.git.opening import Repository, open_repository

FRAMEWORK = "--pre-commit"  # word of a pre-push hook that the pre-commit framework runs: stdin does not come from Git
GONE = "--gone"  # word of a post-commit hook: say which of our hooks are missing
CITED = "--cited"  # word of a post-commit hook: say which facts cite code that the commit changes
MAX_CITED_FACTS = 5  # facts that are named after a commit; the others are counted
STAGED = ("pre-commit", "pre-merge-commit", "pre-applypatch")  # hooks that scan staged content
MESSAGES = ("commit-msg", "applypatch-msg")  # hooks that scan the commit message
# The scissors line of `git commit --verbose` and the diff below it. core.commentChar or core.commentString begins it.
VERBOSE_DIFF = re.compile(r"^(\S+) -{24} >8 -{24}\n(?:\1[^\n]*\n)*diff ", re.MULTILINE)


def main(argv: list[str]) -> NoReturn:
    """Run `python -m gitmem hook NAME [WORD...]` and end the process with the hook's exit code."""
    sys.exit(run(argv))


def run(argv: list[str]) -> int:
    """Run one hook and return its exit code. `argv`: the hook's name and its words. Never raises."""
    name = ""
    if argv:
        name = argv[0]
    words = tuple(word for word in argv[1:] if word != "--")
    return ending(lambda: run_hook(name, words))


def run_hook(name: str, words: tuple[str, ...]) -> int:
    """Run one hook and return its exit code: 1 if a gate found something, else 0.

    Raises GitMemError if a gate could not run, UsageError for an unknown name. Other hooks log their errors.
    """
    if name not in (*HOOKS, *SERVER):
        raise UsageError("there is no such hook", f"one of {', '.join((*HOOKS, *SERVER))}")
    if name in GATES or name in SERVER:
        return gate(name, words)
    if GONE in words:
        say_gone(hook_repository())
        return Exit.DONE
    if CITED in words:
        try:
            say_cited(hook_repository())
        except Exception as error:  # noqa: BLE001 - a commit that exists must not look failed
            index_hooks.log(name, error)
        return Exit.DONE
    if name in REFRESH:
        index_hooks.run(name, words)
        return Exit.DONE
    assert name in WRITING, name
    try:
        prepare(words)
    except Exception as error:  # noqa: BLE001 - a commit that exists must not look failed
        index_hooks.log(name, error)
    return Exit.DONE


def hook_repository() -> Repository:
    """The repository in which Git runs the hook."""
    return open_repository(Path.cwd(), os.environ)


def settings(repo: Repository) -> Config:
    """The user's own settings. A clone's tracked settings (.gitmem.toml) are not read: no hook needs one of them."""
    return load(repo.user_config())


def gate(name: str, words: tuple[str, ...]) -> int:
    """Scan what the hook guards and print the findings on stderr. Returns 1 if one of them blocks, else 0.

    A refusal is recorded, so that `git mem status` can show it. Raises GitMemError if the scan could not run.
    """
    from gitmem.gate import last_refusal
    from gitmem.gate.reports.finding_words import blocking_words
    from gitmem.gate.reports.hook import hook_lines
    from gitmem.gate.scan import without_repeats

    repo = hook_repository()
    try:
        name, report = gated(repo, name, words)
    except GitMemError as error:
        last_refusal.record(repo.common_dir, name, error.message, now())
        raise
    finally:
        repo.close()
    for line in hook_lines(without_repeats(report), name, escape):
        sys.stderr.write(printable(line + "\n").decode())
    if report.blocked:
        last_refusal.record(repo.common_dir, name, blocking_words(report), now())
        return Exit.FINDINGS
    last_refusal.passed(repo.common_dir, name)
    return Exit.DONE


def gated(repo: Repository, name: str, words: tuple[str, ...]) -> tuple[str, Report]:
    """(the hook's name, its report). The name becomes "pre-push" where a blocking finding is in commits that the
    pre-commit framework pushes: it runs its pre-push stage as another hook. Raises UsageError for an unknown name."""
    today = now().date()
    if name in STAGED:
        report = scan_staged(repo, words, today, merging=name == "pre-merge-commit")
        if os.environ.get("PRE_COMMIT_TO_REF"):  # the framework's pre-push stage
            pushed = scan_named_range(repo, today)
            if pushed.blocked:
                name = "pre-push"
            report = merged_reports([report, pushed])
    elif name in MESSAGES:
        report = scan_message(repo, words, today)
        if name == "commit-msg" and "pre-commit" in say_gone(repo):  # commit-msg does the work of a missing pre-commit
            report = merged_reports([report, scan_staged(repo, (), today)])
    elif name == "pre-push":
        say_gone(repo)
        if FRAMEWORK in words:
            report = scan_framework_push(repo, today)
        else:
            report = scan_push(repo, words, today)
    elif name in SERVER:
        report = scan_received(repo, today)
    else:
        raise UsageError("there is no such gate", f"one of {', '.join((*GATES, *SERVER))}")
    return name, report


def say_gone(repo: Repository) -> str:
    """Print on stderr which of the installed hooks are missing, and return that text; "" if none is missing."""
    from gitmem.gate.setup_checks import hook_check
    from gitmem.git.hook_files import hooks_folder, remembered

    if not remembered(repo.common_dir):
        return ""
    check = hook_check(repo, hooks_folder(repo))
    if "missing" not in check.wrong:
        return ""
    sys.stderr.write(printable(escape(f"git mem: hooks are {check.wrong}; {check.hint}") + "\n").decode())
    return check.wrong


def say_cited(repo: Repository) -> None:
    """Print on stderr which facts cite code that the commit at HEAD changed, moved or removed."""
    from gitmem.claims.touched_citations import touched_facts
    from gitmem.plural import counted

    parents = repo.commit("HEAD").parents
    if not parents:
        return
    found = touched_facts(repo, parents[0], repo.head() or "", settings(repo).memory_daily)
    lines = [f"git mem: {one.path}:{one.fact.line}: {'; '.join(each.words for each in one.code)}" for one in found]
    if len(lines) > MAX_CITED_FACTS:
        lines[MAX_CITED_FACTS:] = [
            f"git mem: {counted(len(lines) - MAX_CITED_FACTS, 'more fact')} cite what this commit touches"
        ]
    if lines:
        lines.append("hint: what is still true: git mem confirm PATH:LINE; what is not: git mem edit PATH:LINE")
    for line in lines:
        sys.stderr.write(printable(escape(line) + "\n").decode())


def scan_staged(repo: Repository, names: tuple[str, ...], today: date, *, merging: bool = False) -> Report:
    """Scan what is staged. `names`: paths whose staged content is scanned too, changed or not (the framework's
    --all-files). `merging`: the commit will be a merge."""
    from gitmem.gate import sources
    from gitmem.gate.changes.staging import merge_heads
    from gitmem.gate.scan import findings_before, scan_source, with_before

    policy = sources.staged_policy(repo, today, merging=merging)
    report = scan_source(sources.staged(repo, policy, names, merging=merging), policy, workers=2)
    head = repo.head()
    if not head or not report.findings:
        return report
    before = sources.before_of(repo, (head, *merge_heads(repo, merging=merging)), ())
    return with_before(report, findings_before(report.findings, before, policy))


def scan_message(repo: Repository, words: tuple[str, ...], today: date) -> Report:
    """Scan the message in the file `words[0]`, and check the rules that a trailer of the message can satisfy, such as
    changes of old daily logs. Raises UsageError without a file, GitMemError if it cannot be read."""
    from gitmem.gate import redaction_record, sources
    from gitmem.gate.changes.staging import change_findings, staged_change, staged_history

    if not words:
        raise UsageError("commit-msg needs the message's file")
    file = Path(words[0])
    try:
        data = file.read_bytes()
    except OSError as error:
        raise GitMemError(f"cannot read the message: {error.strerror}") from None
    user_config = repo.user_config()  # read once, since each call starts git
    policy = sources.staged_policy(repo, today, user_config=user_config)
    staging = staged_change(repo, policy)
    edited = os.environ.get("GIT_EDITOR") != ":"
    text = without_diff(
        data.decode("utf-8", "replace"), edited=edited, staged=lambda: staged_lines(repo, staging.changes)
    )
    more = redaction_record.drop_explained(repo, file, staged_history(repo, staging, text, policy))
    more += change_findings(repo, staging, policy)
    more += agent_findings(repo, load(user_config), text)
    quick = tuple(name for name, detector in DETECTORS.items() if detector.in_messages)
    policy = replace(policy, detectors=quick)
    return scan([Blob(MESSAGE, text.encode("utf-8", "replace"))], policy, more)


def without_diff(message: str, *, edited: bool, staged: Callable[[], frozenset[str]]) -> str:
    """The message without the diff that `git commit --verbose` puts below it.

    `edited`: an editor was opened (else Git sets GIT_EDITOR to `:` for its hooks, githooks(5)); only then does Git
    remove the diff from the message, so otherwise the text is returned unchanged. `staged`: returns the lines of the
    changed files, old and new. A line of the diff is removed only if it is one of these, since a person can write a
    false diff into a message.
    """
    shown = None
    if edited:
        shown = VERBOSE_DIFF.search(message)
    if shown is None:
        return message
    known = staged()
    above, below = message[: shown.start()], message[shown.start() :].split("\n")
    return above + "\n".join(line for line in below if line[:1] not in ("+", "-", " ") or line[1:] not in known)


def staged_lines(repo: Repository, changes: Iterable[Change]) -> frozenset[str]:
    """The lines of the files that a commit changes, of the old and of the new versions."""
    oids = {oid for change in changes for oid in (change.old_oid, change.new_oid) if oid.strip("0")}
    texts = (data.decode("utf-8", "replace") for _, data in repo.read_many(sorted(oids)) if data is not None)
    return frozenset(line for text in texts for line in text.split("\n"))


def scan_push(repo: Repository, words: tuple[str, ...], today: date) -> Report:
    """Scan the commits of a push that the remote lacks, and its annotated tags and notes. `words[0]`: the remote."""
    from gitmem.gate import sources, tags_and_notes

    lines = sys.stdin.read().splitlines()
    remote = ""
    if words:
        remote = words[0]
    reports = [scan(tags_and_notes.pushed(repo, sources.push_updates(lines)), policy_of_head(repo, today))]
    for base, tip, revs in sources.pushed(repo, lines, remote):
        policy = sources.pushed_policy(repo, base, tip, today)
        reports.append(scan_source(sources.commits(repo, revs, policy, base), policy, workers=2))
    return merged_reports(reports)


def scan_framework_push(repo: Repository, today: date) -> Report:
    """Scan the range that the pre-commit framework names, and all other commits of local branches that the remote
    lacks: the framework names only the first ref of a push, and none at the first push to a remote."""
    from gitmem.gate import sources

    named = os.environ.get("PRE_COMMIT_TO_REF", "")
    reports, tip = [], ""
    if named:
        reports, tip = [scan_named_range(repo, today)], repo.resolve(named)
    start = os.environ.get("PRE_COMMIT_FROM_REF", "")
    remote = os.environ.get("PRE_COMMIT_REMOTE_NAME", "")
    base = sources.default_branch(repo, remote)
    for branch, revs in sources.lacking(repo, remote, tip, start):
        policy = sources.pushed_policy(repo, base, branch, today)
        reports.append(scan_source(sources.commits(repo, revs, policy, base), policy, workers=2))
    return merged_reports(reports)


def scan_named_range(repo: Repository, today: date) -> Report:
    """Scan the range that the pre-commit framework names; without a start, all commits up to its end."""
    from gitmem.gate import sources

    tip = repo.resolve(os.environ["PRE_COMMIT_TO_REF"])
    start = os.environ.get("PRE_COMMIT_FROM_REF", "")
    base = ""
    if start.strip("0"):
        base = repo.resolve(start)
    policy = sources.pushed_policy(repo, base, tip, today)
    return scan_source(sources.commits_beyond(repo, base, tip, policy), policy, workers=2)


def scan_received(repo: Repository, today: date) -> Report:
    """On the server: scan what was pushed, with the settings and exceptions of the ref before the push, so that a push
    cannot add an exception for itself."""
    from gitmem.gate import sources, tags_and_notes
    from gitmem.git.revision import CommitRange

    lines = sys.stdin.read().splitlines()
    reports = [scan(tags_and_notes.pushed(repo, sources.received_updates(lines)), policy_of_head(repo, today))]
    for base, tip, revs in sources.received(repo, lines):
        policy = sources.range_policy(repo, CommitRange(base, tip, base), today)
        reports.append(scan_source(sources.commits(repo, revs, policy, base), policy, workers=2))
    return merged_reports(reports)


def policy_of_head(repo: Repository, today: date) -> Policy:
    """The policy of HEAD's tree, for tags and notes, which have no tree of their own; the default one without HEAD."""
    from gitmem.gate import sources

    head = repo.head()
    if head:
        return sources.tree_policy(repo, head, today)
    return Policy(today=today)


def merged_reports(reports: list[Report]) -> Report:
    """The reports of several refs as one, with each finding once."""
    whole = Report()
    for report in reports:
        whole = replace(
            whole,
            findings=tuple(dict.fromkeys((*whole.findings, *report.findings))),
            skipped=tuple(dict.fromkeys((*whole.skipped, *report.skipped))),
            blobs=whole.blobs + report.blobs,
            bytes=whole.bytes + report.bytes,
            allowed=(*whole.allowed, *report.allowed),
            accepted=tuple(dict.fromkeys((*whole.accepted, *report.accepted))),
            before=tuple(dict.fromkeys((*whole.before, *report.before))),
        )
    return whole


def agent_findings(repo: Repository, config: Config, message: str) -> list[Finding]:
    """Findings for the trailers that the message of an agent's memory change lacks."""
    from gitmem.provenance import agent_trailers

    return agent_trailers.check(repo, config, message)


def prepare(words: tuple[str, ...]) -> None:
    """Run prepare-commit-msg: add trailers with the agent's name and reason to the message file `words[0]`."""
    from gitmem.provenance import agent_trailers

    if words:
        repo = hook_repository()
        agent_trailers.prepare(repo, settings(repo), Path(words[0]))
