"""`git mem allow`: write an exception from the gate, with a reason, to .gitmem-allow.toml."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import click

from gitmem.cli.options import json_option, open_here, range_option
from gitmem.cli.places import repository_path_of
from gitmem.cli.terminal import escape, write, write_json
from gitmem.environment import now
from gitmem.errors import Changed, GitMemError, UsageError
from gitmem.gate import adoption_baseline, baseline, exceptions
from gitmem.gate.baseline import Outcome
from gitmem.gate.blob_reading import BlobPlace, read_blobs
from gitmem.gate.commit_files import files_of_commits, files_of_new_commits, parse_range
from gitmem.gate.detectors.registry import EXCEPTED_FOR_FILES
from gitmem.gate.examine import Blob, Inspection, Source, decode, inspect
from gitmem.gate.new_exception import Place, entry_of, exceptions_text, with_exceptions
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.pushed_commits import oids_of_all_refs
from gitmem.gate.scan import scan
from gitmem.gate.staged_files import staged_files
from gitmem.gate.tree_policies import range_policy, staged_policy, worktree_policy
from gitmem.gate.work_tree_files import work_tree_files
from gitmem.git import transaction
from gitmem.git.objects import LINKS
from gitmem.git.opening import Repository
from gitmem.git.worktree import relative
from gitmem.plural import counted
from gitmem.regular_file import read_regular
from gitmem.shell_word import shell_word

MIN_FINGERPRINT_DIGITS = 8  # hex digits of a fingerprint that have to be given


class AllowOptions(NamedTuple):
    """The argument and options of one exception, as `git mem allow -h` has them.

    `until`: a day as text, None for EXCEPTION_LIFETIME from now. `span`: `--range`, "" without it. `baseline`: the
    file of `--import`. A text that was not given is "".
    """

    fingerprint: str
    reason: str
    until: str | None
    span: str
    history: bool
    rule: str
    file: str
    baseline: str
    standing: bool
    prune: bool
    dry_run: bool
    as_json: bool


@click.command()
@click.argument("fingerprint", required=False, default="")
@click.option("--reason", default="", help="Why this is no danger, for whoever reviews it.")
@click.option(
    "--until",
    metavar="DATE",
    help=f"Its last day, YYYY-MM-DD; {exceptions.EXCEPTION_LIFETIME.days} days from now when not given.",
)
@range_option("Look for the finding in these commits too.")
@click.option("--history", is_flag=True, help="Look for it in all of history too.")
@click.option("--rule", default="", help="With --file: except all that this rule finds in one file now.")
@click.option("--file", "file", default="", metavar="PATH", help="The file that --rule is excepted in.")
@click.option("--import", "baseline", default="", metavar="FILE", help="Except what a .secrets.baseline names.")
@click.option("--standing", is_flag=True, help="Accept all that HEAD has now, and drop what it has no more.")
@click.option("--prune", is_flag=True, help="Drop the rows of the baseline whose finding HEAD has no more.")
@click.option("--dry-run", is_flag=True, help="Write nothing, show what would be excepted.")
@json_option
def command(**arguments: Any) -> None:
    """Except the finding FINGERPRINT from the gate, with a reason.

    `git mem scan` prints fingerprints; .gitmem-allow.toml holds the exceptions. One covers that rule at that path and
    nothing else. Commit it on its own, before what it excepts: CI honours the exceptions of the base branch only. `git
    mem scan --audit` lists them all.

    --rule and --file except what a rule finds in one file, for a page that discusses attacks; what comes into the file
    later warns. Secrets, exfiltration and what hides are excepted one by one. --import reads the baseline of
    detect-secrets: what both find there is excepted, unless somebody marked it as real.

    --standing writes the baseline anew, as `git mem init --adopt` wrote it: what HEAD has is accepted where it stands,
    and what a commit adds is not. --prune drops the rows of the baseline whose finding HEAD has no more, and adds none.
    """
    options = AllowOptions(**arguments)
    repo, _ = open_here()
    if repo.root is None:
        raise GitMemError("a bare repository has no files", "run it in a clone")
    targets = (options.fingerprint, options.rule or options.file, options.baseline, options.standing, options.prune)
    if sum(map(bool, targets)) != 1:
        hint = "give a FINGERPRINT, or --rule with --file, or --import FILE, or --standing, or --prune"
        raise UsageError("what is to be excepted?", hint)
    today = now().date()
    if options.standing:
        _accept_standing(repo, options, today)
        return
    if options.prune:
        _prune(repo, options, today)
        return
    if not options.reason.strip() and not options.baseline:
        raise UsageError("an exception needs a reason", "--reason 'why this is no danger'")
    last_day = exceptions.parse_date(options.until) if options.until else today + exceptions.EXCEPTION_LIFETIME
    if last_day < today:
        raise UsageError(f"{last_day} has passed", "--until takes a day to come")
    if options.baseline:
        _import(repo, options, today, last_day)
    elif options.fingerprint:
        _except_finding(repo, options, today, last_day)
    else:
        _except_rule_in_file(repo, options, today, last_day)


def _except_finding(repo: Repository, options: AllowOptions, today: date, last_day: date) -> None:
    """Write the exception for the finding that FINGERPRINT names. `last_day`: last day of the exception. Raises
    UsageError if FINGERPRINT has fewer than MIN_FINGERPRINT_DIGITS hexadecimal digits or several findings match it,
    GitMemError if none does."""
    digits = options.fingerprint.lower()
    if len(digits) < MIN_FINGERPRINT_DIGITS or set(digits) - set("0123456789abcdef"):
        raise UsageError(f"'{options.fingerprint}' is no fingerprint", "git mem scan prints one below each finding")
    places = _places(repo, today, options.span, options.history)

    def find(known_salt: str, salt: str) -> list[exceptions.Entry]:
        entry = entry_of(digits, places, [known_salt, exceptions.NO_SALT], salt)
        return [replace(entry, reason=options.reason.strip(), until=last_day)]

    (row,) = _write_exceptions(repo, find, options.dry_run)
    if options.as_json:
        value = {"fingerprint": row.fingerprint, "rule": row.rule, "path": row.path}
        write_json({**value, "reason": row.reason, "until": last_day.isoformat()})
    else:
        write(escape(f"{exceptions.FILE}: {row.rule} in {row.path} is excepted until {last_day}", keep="") + "\n")
        _say_next(options.dry_run)


def _except_rule_in_file(repo: Repository, options: AllowOptions, today: date, last_day: date) -> None:
    """Write the exception for all findings of a rule in one file, staged and in the work tree. `last_day`: last day of
    the exception.

    Raises UsageError without a rule or a file, and for a rule that is not in EXCEPTED_FOR_FILES; GitMemError if the
    file has no such finding.
    """
    rule = options.rule
    if not rule or not options.file:
        words = "a rule is excepted in one file, never everywhere"
        raise UsageError(words, f"--rule and --file go together: git mem allow --rule {rule or 'RULE'} --file PATH")
    if rule not in EXCEPTED_FOR_FILES:
        hint = f"except its findings one by one; whole files: {', '.join(EXCEPTED_FOR_FILES)}"
        raise UsageError(f"'{rule}' cannot be excepted in a whole file", hint)
    path = repository_path_of(repo, options.file)

    def find(known_salt: str, salt: str) -> list[exceptions.Entry]:
        prints: dict[str, None] = {}
        for policy, source in _versions(repo, path, today):
            findings = scan(source, replace(policy, allow=exceptions.Allowlist(salt))).findings
            prints.update((f.fingerprint, None) for f in findings if (f.rule, f.path) == (rule, path))
        if not prints:
            raise GitMemError(f"the gate finds no {rule} in '{path}'", f"git mem scan {shell_word(path)}")
        return [exceptions.Entry("", rule, path, options.reason.strip(), last_day, tuple(prints))]

    (entry,) = _write_exceptions(repo, find, options.dry_run)
    if options.as_json:
        value = {"fingerprints": list(entry.fingerprints), "rule": rule, "path": path, "reason": entry.reason}
        write_json({**value, "until": last_day.isoformat()})
    else:
        texts = counted(len(entry.fingerprints), "text")
        words = f"{rule} in {path} is excepted until {last_day}: {texts} there now; what comes later warns"
        write(escape(f"{exceptions.FILE}: {words}", keep="") + "\n")
        _say_next(options.dry_run)


def _versions(repo: Repository, path: str, today: date) -> Iterator[tuple[Policy, Source]]:
    """(policy, source) of the file in the work tree, and of its staged version if there is one."""
    work, staged = worktree_policy(repo, today), staged_policy(repo, today)
    yield work, work_tree_files(repo, [path], work)
    entry = next((entry for entry in repo.staged() if entry.path == path and entry.mode not in LINKS), None)
    if entry is not None:
        yield staged, Source(read_blobs(repo, [BlobPlace(path, entry.oid)], staged))


def _import(repo: Repository, options: AllowOptions, today: date, last_day: date) -> None:
    """Write exceptions for the rows of a detect-secrets baseline that our detectors find too, and print what became of
    each row. `last_day`: last day of the exceptions. Raises GitMemError if the baseline cannot be read."""
    try:
        rows = baseline.parse(read_regular(Path(options.baseline)).decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        raise GitMemError(f"cannot read '{options.baseline}'", "it must be a baseline of detect-secrets") from None
    policy = worktree_policy(repo, today)
    outcomes: list[Outcome] = []

    def find(known_salt: str, salt: str) -> list[exceptions.Entry]:
        salted = replace(policy, allow=exceptions.Allowlist(salt))
        outcomes.extend(baseline.outcomes(rows, lambda path: _inspected(repo, path, policy), policy, salted))
        entries: dict[str, exceptions.Entry] = {}
        for outcome in outcomes:
            reason = options.reason.strip() or f"imported from {Path(options.baseline).name} ({outcome.row.type})"
            for f in outcome.findings:
                entry = exceptions.Entry(f.fingerprint, f.rule, f.path, reason, last_day)
                entries.setdefault(f"{f.rule} {f.path} {f.fingerprint}", entry)
        return list(entries.values())

    exceptions_made = _write_exceptions(repo, find, options.dry_run)
    if options.as_json:
        write_json(baseline.as_value(outcomes, options.dry_run))
        return
    _show_import(outcomes)
    write(f"{counted(len(exceptions_made), 'exception')} until {last_day}\n")
    if exceptions_made:
        _say_next(options.dry_run)


def _accept_standing(repo: Repository, options: AllowOptions, today: date) -> None:
    """Replace the baseline by the findings of HEAD, and print what was added and dropped; with --dry-run write nothing.
    Nothing is committed."""
    policy = worktree_policy(repo, today)
    text = exceptions_text(transaction.Reading(repo))
    new_text, rows = adoption_baseline.with_baseline_of_head(repo, policy, text, secrets.token_hex(16))
    _replace_file(repo, text, new_text, options.dry_run)
    added = sorted(set(rows) - policy.allow.baseline)
    gone_count = 0
    if exceptions.parse(text).salt == exceptions.parse(new_text).salt:
        gone_count = len(policy.allow.baseline - set(rows))
    if options.as_json:
        write_json({"accepted": rows, "added": len(added), "gone": gone_count})
        return
    for row in added:
        write(escape(f"accepted {row.path}: {row.rule} {row.fingerprint}", keep="") + "\n")
    write(f"{counted(len(rows), 'finding')} of HEAD accepted, {len(added)} of them new; {gone_count} gone since\n")
    if options.dry_run:
        write("nothing is written: --dry-run\n")


def _prune(repo: Repository, options: AllowOptions, today: date) -> None:
    """Drop the rows of the baseline whose finding HEAD no longer has, and print them; with --dry-run write nothing.
    Nothing is committed."""
    policy = worktree_policy(repo, today)
    text = exceptions_text(transaction.Reading(repo))
    outdated = sorted(adoption_baseline.outdated_rows(repo, policy))
    remaining = policy.allow.baseline.difference(outdated)
    if outdated:
        _replace_file(repo, text, exceptions.with_baseline(text, remaining, policy.allow.salt), options.dry_run)
    if options.as_json:
        write_json({"gone": outdated, "accepted": len(remaining)})
        return
    for row in outdated:
        write(escape(f"dropped {row.path}: {row.rule} {row.fingerprint}", keep="") + "\n")
    write(f"{counted(len(outdated), 'row')} of the baseline dropped, {len(remaining)} left\n")
    if options.dry_run:
        write("nothing is written: --dry-run\n")


def _replace_file(repo: Repository, text: str, new_text: str, dry_run: bool) -> None:
    """Write `new_text` as the text of the exceptions file; a dry run writes nothing, nor does a `new_text` that equals
    `text`. Raises Changed, and writes nothing, if the file's whole text is not `text` any more."""
    if new_text == text or dry_run:
        return

    def plan(reading: transaction.Reading) -> transaction.Draft[None]:
        if exceptions_text(reading) != text:
            raise Changed(f"somebody else wrote {exceptions.FILE} meanwhile; nothing was written", "run it again")
        return transaction.Draft({exceptions.FILE: new_text.encode()}, None)

    transaction.write(repo, plan)


def _inspected(repo: Repository, path: str, policy: Policy) -> Inspection | str:
    """The findings in a file of the work tree, or the reason why the file was not scanned."""
    if not policy.scans(path):
        return "the gate does not read that file"
    try:
        assert repo.root is not None
        (blob,) = work_tree_files(repo, [relative(repo.root, path)], policy).blobs
    except (GitMemError, ValueError):
        return "there is no such file here"
    return blob.skipped or inspect(decode(blob.data)[0], blob.path, policy)


def _show_import(outcomes: Iterable[Outcome]) -> None:
    """Print each row of the baseline: the findings that were excepted, or why it was left out."""
    for outcome in outcomes:
        row = outcome.row
        for f in outcome.findings:
            write(escape(f"excepted {f.path}:{f.line}: {f.rule} ({row.type})", keep="") + "\n")
        if outcome.why:
            write(escape(f"left     {row.path}:{row.line}: {row.type}: {outcome.why}", keep="") + "\n")


def _say_next(dry_run: bool) -> None:
    """Print the command that commits the exceptions, or that a dry run wrote nothing."""
    if dry_run:
        write("nothing is written: --dry-run\n")
    else:
        write(f"next: git add {exceptions.FILE} && git commit -m 'gate: except ...' -- {exceptions.FILE}\n")


def _write_exceptions(
    repo: Repository, find: Callable[[str, str], list[exceptions.Entry]], dry_run: bool
) -> list[exceptions.Entry]:
    """Write the exceptions that `find(known salt, new salt)` returns, and return them. `known salt` is the salt of
    earlier scans; the new salt differs only for a new file.

    `find` runs before the file is locked, because scanning a history takes long. Raises Changed if the file got another
    salt meanwhile, and the errors of `find`.
    """
    text = exceptions_text(transaction.Reading(repo))
    known_salt = exceptions.parse(text).salt
    salt = known_salt if text.strip() else secrets.token_hex(16)
    entries = find(known_salt, salt)
    if dry_run or not entries:
        return entries

    def plan(reading: transaction.Reading) -> transaction.Draft[list[exceptions.Entry]]:
        return transaction.Draft({exceptions.FILE: with_exceptions(reading, text, entries, salt)}, entries)

    return transaction.write(repo, plan)


def _places(repo: Repository, today: date, span: str, history: bool) -> list[Place]:
    """The places where a finding is searched: the staged content and the message being written, the work tree, the
    range `span` ("" for none), and all of history if `history`."""
    staged, work = staged_policy(repo, today), worktree_policy(repo, today)

    def staged_now() -> Source:
        source = staged_files(repo, staged)
        return replace(source, blobs=chain(source.blobs, _message(repo)))

    places: list[Place] = [(staged, staged_now), (work, lambda: work_tree_files(repo, [], work))]
    if span:
        chosen = parse_range(repo, span)
        ranged = range_policy(repo, chosen, today)
        places.append((ranged, lambda: files_of_new_commits(repo, chosen.base, chosen.tip, ranged)))
    if history and repo.head():
        places.append((work, lambda: files_of_commits(repo, oids_of_all_refs(repo), work)))
    return places


def _message(repo: Repository) -> list[Blob]:
    """The commit message being written, [] if there is none."""
    try:
        return [Blob(MESSAGE, (repo.git_dir / "COMMIT_EDITMSG").read_bytes())]
    except OSError:
        return []
