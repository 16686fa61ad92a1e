"""Git's hooks, as the lines in the hook files call them. A gate ends with 0 or refuses; the hook file makes
every refusal 1. The rest exit with 0.

Starts without click: every commit waits for this. `cli/commands/hook.py` is the same for `git mem hook`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from gitmem.cli import index_hooks
from gitmem.cli.exits import ending
from gitmem.cli.terminal import escape, printable
from gitmem.config import Config, load
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.scan import Report
from gitmem.git.hook_files import GATES, HOOKS, REFRESH, SERVER, WRITING
from gitmem.git.objects import Change
from gitmem.git.opening import Repository, open_repository

if TYPE_CHECKING:
    from gitmem.gate.policy import Policy

FRAMEWORK = "--pre-commit"  # the word by which pre-commit's hook for pushes says that standard input is not Git's
GONE = "--gone"  # the word by which post-commit asks to be told whether the gates still stand
CITED = "--cited"  # the word by which post-commit asks which facts cite what the commit touches
MOST_CITED = 5  # facts that are named after a commit; the others are counted
STAGED = ("pre-commit", "pre-merge-commit", "pre-applypatch")
MESSAGES = ("commit-msg", "applypatch-msg")
# Below the scissors line that Git shows; core.commentChar and core.commentString say what it begins with.
SHOWN_DIFF = re.compile(r"^(\S+) -{24} >8 -{24}\n(?:\1[^\n]*\n)*diff ", re.MULTILINE)


def main(argv: list[str]) -> NoReturn:
    """`python -m gitmem hook NAME [WORD...]`: every way out is an exit code, as in `gitmem.cli.main`."""
    sys.exit(run(argv))


def run(argv: list[str]) -> int:
    """Run one hook and return its exit code. Never raises."""

    def named() -> int:
        if not argv or argv[0] not in (*HOOKS, *SERVER):
            raise UsageError("there is no such hook", f"one of {', '.join((*HOOKS, *SERVER))}")
        return run_hook(argv[0], tuple(word for word in argv[1:] if word != "--"))

    return ending(named)


def run_hook(name: str, words: tuple[str, ...]) -> int:
    """One hook's exit code: a gate returns 1 for findings and raises where it could not run; others log their errors.

    Raises UsageError for an unknown name.
    """
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
    if name not in WRITING:
        raise UsageError("there is no such hook", f"one of {', '.join((*HOOKS, *SERVER))}")
    try:
        prepare(words)
    except Exception as error:  # noqa: BLE001 - a commit that exists must not look failed
        index_hooks.log(name, error)
    return Exit.DONE


def hook_repository() -> Repository:
    """The repository Git runs the hook in."""
    return open_repository(Path.cwd(), os.environ)


def settings(repo: Repository) -> Config:
    """The user's own settings: what a hook needs of them is nothing a clone may set."""
    return load(repo.user_config())


def gate(name: str, words: tuple[str, ...]) -> int:
    """Scan what the hook is about; say what was found on stderr, and remember a refusal for who did not see it."""
    from gitmem.gate import last_refusal
    from gitmem.gate.report import blocking_words, hook_lines
    from gitmem.gate.scan import once_each

    repo = hook_repository()
    try:
        name, report = gated(repo, name, words)
    except GitMemError as error:
        last_refusal.record(repo.common_dir, name, error.message, now())
        raise
    finally:
        repo.close()
    for line in hook_lines(once_each(report), name, escape):
        sys.stderr.write(printable(line + "\n").decode())
    if report.blocked:
        last_refusal.record(repo.common_dir, name, blocking_words(report), now())
    else:
        last_refusal.passed(repo.common_dir, name)
    if report.blocked:
        return Exit.FINDINGS
    return Exit.DONE


def gated(repo: Repository, name: str, words: tuple[str, ...]) -> tuple[str, Report]:
    """The report of what a hook is about, and which hook it was for: pre-commit runs that of a push as another."""
    today = now().date()
    if name in STAGED:
        report = scan_staged(repo, words, today, merging=name == "pre-merge-commit")
        if os.environ.get("PRE_COMMIT_TO_REF"):  # the framework's pre-push stage, or somebody who says it is
            pushed = scan_named_range(repo, today)
            if pushed.blocked:
                name = "pre-push"
            report = merged_reports([report, pushed])
    elif name in MESSAGES:
        report = scan_message(repo, words, today)
        if name == "commit-msg" and "pre-commit" in say_gone(repo):  # its work is done here
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
    """Say on stderr which of the hooks that were installed here are gone, and return it; "" where all of them stand."""
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
    """Say on stderr which facts cite code that the commit at HEAD changed, moved or took away."""
    from gitmem.claims.touched_citations import touched_facts
    from gitmem.plural import counted

    parents = repo.commit("HEAD").parents
    if parents:
        found = touched_facts(repo, parents[0], repo.head() or "", settings(repo).memory_daily)
    else:
        found = []
    lines = [f"git mem: {one.path}:{one.fact.line}: {'; '.join(each.words for each in one.code)}" for one in found]
    if len(lines) > MOST_CITED:
        lines[MOST_CITED:] = [f"git mem: {counted(len(lines) - MOST_CITED, 'more fact')} cite what this commit touches"]
    if lines:
        lines.append("hint: what is still true: git mem confirm PATH:LINE; what is not: git mem edit PATH:LINE")
    for line in lines:
        sys.stderr.write(printable(escape(line) + "\n").decode())


def scan_staged(repo: Repository, names: tuple[str, ...], today: date, *, merging: bool = False) -> Report:
    """What is staged; with `names` (the framework's --all-files) the staged content of those too."""
    from gitmem.gate import sources
    from gitmem.gate.changes.staging import merge_heads
    from gitmem.gate.scan import held_before, scan_source, set_apart

    policy = sources.staged_policy(repo, today, merging=merging)
    report = scan_source(sources.staged(repo, policy, names, merging=merging), policy, workers=2)
    head = repo.head()
    if not head or not report.findings:
        return report
    before = sources.before_of(repo, (head, *merge_heads(repo, merging=merging)), ())
    return set_apart(report, held_before(report.findings, before, policy))


def scan_message(repo: Repository, words: tuple[str, ...], today: date) -> Report:
    """The message, and what needs it: the rules about the past, which a trailer answers."""
    from gitmem.gate import redaction_record, sources
    from gitmem.gate.changes.staging import change_findings, staged_change, staged_history
    from gitmem.gate.detectors.registry import DETECTORS
    from gitmem.gate.examine import Blob
    from gitmem.gate.policy import MESSAGE
    from gitmem.gate.scan import scan

    if not words:
        raise UsageError("commit-msg needs the message's file")
    file = Path(words[0])
    try:
        data = file.read_bytes()
    except OSError as error:
        raise GitMemError(f"cannot read the message: {error.strerror}") from None
    user_config = repo.user_config()  # each question of Git is a process
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
    """The message without the diff that `git commit --verbose` shows below it.

    Git takes it out again only where an editor was opened (`edited`; where none is, Git sets GIT_EDITOR to `:` for its
    hooks, githooks(5)). What stands below a scissors line otherwise stays in the commit, and so is part of the message.
    A diff may be made up, and stay: of one only the lines go that stand in the files before or after (`staged`).
    """
    shown = None
    if edited:
        shown = SHOWN_DIFF.search(message)
    if shown is None:
        return message
    known = staged()
    above, below = message[: shown.start()], message[shown.start() :].split("\n")
    return above + "\n".join(line for line in below if line[:1] not in ("+", "-", " ") or line[1:] not in known)


def staged_lines(repo: Repository, changes: Iterable[Change]) -> frozenset[str]:
    """The lines of the files that a commit changes, as they were and as they will be."""
    oids = {oid for change in changes for oid in (change.old_oid, change.new_oid) if oid.strip("0")}
    texts = (data.decode("utf-8", "replace") for _, data in repo.read_many(sorted(oids)) if data is not None)
    return frozenset(line for text in texts for line in text.split("\n"))


def scan_push(repo: Repository, words: tuple[str, ...], today: date) -> Report:
    """Every commit the push brings that the remote has not, its annotated tags and its notes."""
    from gitmem.gate import sources, tags_and_notes
    from gitmem.gate.scan import scan, scan_source

    lines = sys.stdin.read().splitlines()
    reports = [scan(tags_and_notes.pushed(repo, sources.push_updates(lines)), policy_of_head(repo, today))]
    for base, tip, revs in sources.pushed(repo, lines, words[0] if words else ""):
        policy = sources.pushed_policy(repo, base, tip, today)
        reports.append(scan_source(sources.commits(repo, revs, policy, base), policy, workers=2))
    return merged_reports(reports)


def scan_framework_push(repo: Repository, today: date) -> Report:
    """The range that pre-commit names, and whatever else the remote lacks of the local branches.

    pre-commit hands over the first ref of a push, and none of a remote's first push.
    """
    from gitmem.gate import sources
    from gitmem.gate.scan import scan_source

    named = os.environ.get("PRE_COMMIT_TO_REF", "")
    if named:
        reports = [scan_named_range(repo, today)]
    else:
        reports = []
    tip = ""
    if named:
        tip = repo.resolve(named)
    start = os.environ.get("PRE_COMMIT_FROM_REF", "")
    remote = os.environ.get("PRE_COMMIT_REMOTE_NAME", "")
    base = sources.default_branch(repo, remote)
    for branch, revs in sources.lacking(repo, remote, tip, start):
        policy = sources.pushed_policy(repo, base, branch, today)
        reports.append(scan_source(sources.commits(repo, revs, policy, base), policy, workers=2))
    return merged_reports(reports)


def scan_named_range(repo: Repository, today: date) -> Report:
    """The range that pre-commit names; one that does not start anywhere known is everything up to its end."""
    from gitmem.gate import sources
    from gitmem.gate.scan import scan_source

    tip = repo.resolve(os.environ["PRE_COMMIT_TO_REF"])
    start = os.environ.get("PRE_COMMIT_FROM_REF", "")
    base = ""
    if start.strip("0"):
        base = repo.resolve(start)
    policy = sources.pushed_policy(repo, base, tip, today)
    return scan_source(sources.commits_beyond(repo, base, tip, policy), policy, workers=2)


def scan_received(repo: Repository, today: date) -> Report:
    """On the server: what was pushed, held to what the ref was before. Nothing in a push can except itself."""
    from gitmem.gate import sources, tags_and_notes
    from gitmem.gate.scan import scan, scan_source
    from gitmem.git.revision import CommitRange

    lines = sys.stdin.read().splitlines()
    reports = [scan(tags_and_notes.pushed(repo, sources.received_updates(lines)), policy_of_head(repo, today))]
    for base, tip, revs in sources.received(repo, lines):
        policy = sources.range_policy(repo, CommitRange(base, tip, base), today)
        reports.append(scan_source(sources.commits(repo, revs, policy, base), policy, workers=2))
    return merged_reports(reports)


def policy_of_head(repo: Repository, today: date) -> Policy:
    """What the texts beside commits are held to: they belong to no tree of their own."""
    from gitmem.gate import sources
    from gitmem.gate.policy import Policy

    head = repo.head()
    if head:
        return sources.tree_policy(repo, head, today)
    return Policy(today=today)


def merged_reports(reports: list[Report]) -> Report:
    """Several refs' reports as one, each finding once."""
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
    """What the message of an agent's memory change lacks."""
    from gitmem.provenance import agent_trailers

    return agent_trailers.check(repo, config, message)


def prepare(words: tuple[str, ...]) -> None:
    """prepare-commit-msg: who the agent is and why it writes, as trailers."""
    from gitmem.provenance import agent_trailers

    repo = hook_repository()
    if words:
        agent_trailers.prepare(repo, settings(repo), Path(words[0]))
