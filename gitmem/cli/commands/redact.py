"""`git mem redact`: mask in place what `scan` finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import click

from gitmem.cli import completions
from gitmem.cli.options import json_option, open_here
from gitmem.cli.places import repository_path_of
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, Refused
from gitmem.gate import redaction_record
from gitmem.gate.blob_reading import BlobPlace, read_blobs
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.examine import Blob, decode, scan_blob
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import STRUCTURAL, STRUCTURAL_DETECTORS, Redaction, redaction
from gitmem.gate.remedies import remedy
from gitmem.gate.scan import scan_text
from gitmem.gate.tree_policies import staged_policy, worktree_policy
from gitmem.gate.work_tree_files import work_tree_files
from gitmem.git import undo_record
from gitmem.git.git_index import StagedText, is_committed
from gitmem.git.objects import LINKS, Entry
from gitmem.git.opening import Repository
from gitmem.git.transaction import write_over, writer
from gitmem.json_values import json_keys

COMMITS_KEEP_IT = "git mem scan --history names them, git rebase -i takes it out of those that are not pushed"
MAX_LISTED_MASKS = 20  # masks of one file that are listed; the others are counted


@click.command()
@click.argument("paths", nargs=-1, shell_complete=completions.paths, required=True)
@click.option("--staged", is_flag=True, help="Mask what is staged as well, so that the next commit has it masked.")
@click.option("--dry-run", is_flag=True, help="Say what would be masked, and do nothing.")
@click.option("--force", is_flag=True, help="Mask even where the masks take most of a file.")
@json_option
def command(paths: tuple[str, ...], staged: bool, dry_run: bool, force: bool, as_json: bool) -> int:
    """Mask what `git mem scan` finds in PATHS, in place.

    Masks secrets, personal data and whatever else a mask mends, and says what each mask replaced. What no mask mends
    (conflict markers, a file that cannot be read) stays, is named with what mends it, and ends with exit 1. Masks that
    take all of a file, or more than half of it and more than 400 characters, are refused before anything is written;
    --force masks it.

    Lines keep their numbers. A secret that was committed stays in history: rotate it first (docs/leaked-secret.md).
    A daily log that is masked needs a Memory-Rewrite trailer; the commit-msg hook adds it by itself.
    """
    repo, _ = open_here()
    if repo.root is None:
        raise GitMemError("a bare repository has no files", "run it in a clone")
    today = now().date()
    names = [repository_path_of(repo, path) for path in paths]
    planned: list[Plan] = []
    if staged:
        policy = staged_policy(repo, today)
        planned += _staged(repo, names, policy)
    else:
        policy = worktree_policy(repo, today)
    planned += _files(repo, names, policy, must_exist=not staged)
    masked = [plan for plan in planned if plan.rules]
    if not force and not dry_run:
        refuse_excessive(masked)
    committed = [p.path for p in masked if p.redaction.secret and is_committed(repo, p.path, p.before)]
    if not dry_run:
        _write(repo, masked, policy.daily)
    unmended = [(plan, finding) for plan in planned for finding in plan.left]
    if as_json:
        values = [_left_value(plan, finding) for plan, finding in unmended]
        write_json({"redacted": masked, "left": values, "dry_run": dry_run})
    else:
        _show(masked, unmended)
    if not dry_run and any(plan.redaction.secret for plan in masked):
        say("a real secret is rotated first: masking does not take it back (docs/leaked-secret.md)")
    if not dry_run and committed:
        say(f"commits hold the secret still, and a merge brings them along: {COMMITS_KEEP_IT}")
    return Exit.findings_if(unmended)


@json_keys("path where rules masks=redaction.masks characters=redaction.characters of=size")
@dataclass(frozen=True, slots=True)
class Plan:
    """How one file, or its staged content, is masked.

    `where`: "work tree" or "staged". `size`: characters of the text. `rules`: the rules whose findings are masked, ()
    if nothing is. `left`: findings that no mask can remove. `entry`: the staged entry, None for a file of the work
    tree. `before`: the bytes before the masks, b"" if nothing is masked.

    JSON: `where`: `staged` or `work tree`. `masks`: the parts that were replaced. `characters`: how many characters
    the masks replaced. `of`: how many characters the file had; line ends stay and do not count.
    """

    path: str
    where: str
    size: int
    redaction: Redaction
    rules: tuple[str, ...]
    left: tuple[Finding, ...] = ()
    entry: Entry | None = None
    before: bytes = b""

    @property
    def data(self) -> bytes:
        """The masked text as bytes."""
        return self.redaction.text.encode("utf-8", "replace")


def refuse_excessive(plans: Sequence[Plan]) -> None:
    """Raise Refused if the masks would take all of a file, or more than half of it and more than ALWAYS characters;
    --force allows that."""
    for plan in plans:
        if plan.redaction.excessive(plan.size):
            characters = "all" if plan.redaction.whole else f"{plan.redaction.characters:,}"
            raise Refused(
                f"nothing is masked: it would take {characters} of the {plan.size:,} characters of '{plan.path}'",
                "look first: git mem redact --dry-run shows each mask; --force masks it all the same",
            )


def _files(repo: Repository, names: list[str], policy: Policy, must_exist: bool) -> Iterator[Plan]:
    """The plans for files of the work tree. `names`: repository paths of files or folders. `must_exist`: a missing file
    is an error; else it is left out."""
    assert repo.root is not None
    present = [name for name in names if must_exist or (repo.root / name).exists()]
    if present:
        for blob in work_tree_files(repo, present, policy).blobs:
            yield _plan(blob, "work tree", None, policy)


def _staged(repo: Repository, names: list[str], policy: Policy) -> Iterator[Plan]:
    """The plans for the staged content of the files `names`, and of all files below the folders `names` that the gate
    scans; "" is the root."""
    entries = [e for e in repo.staged() if any(n in ("", e.path) or e.path.startswith(f"{n}/") for n in names)]
    for entry in entries:
        if entry.mode in LINKS or not (entry.path in names or policy.scans(entry.path)):
            continue
        for blob in read_blobs(repo, [BlobPlace(entry.path, entry.oid)], policy):
            yield _plan(blob, "staged", entry, policy)


def _plan(blob: Blob, where: str, entry: Entry | None, policy: Policy) -> Plan:
    """The plan for one version of a file. `where`, `entry`: as in `Plan`. A file that was not read, or is not text in a
    known encoding, is not masked and has a finding in `left`; the reason why it was not read is printed."""
    path, data = blob.path, blob.data
    if blob.skipped:
        say(f"{path}: {blob.skipped}")
        return Plan(path, where, 0, Redaction(""), (), tuple(scan_blob(blob, policy)), entry)
    text, problem = decode(data)
    structural = scan_text(text, path, replace(policy, detectors=STRUCTURAL_DETECTORS, rules=()))
    unmended = tuple(finding for finding in structural if finding.rule in STRUCTURAL)
    if problem and "\ufffd" in text:
        unread = Finding("not-text", Severity.BLOCK, path, 1, 1, 1, 1, problem)
        return Plan(path, where, len(text), Redaction(text), (), (*unmended, unread), entry)
    redacted = redaction(text, path, policy, leave=STRUCTURAL)
    rules = (*redacted.rules, "not-text") if problem else redacted.rules
    return Plan(path, where, len(text), redacted, rules, unmended, entry, data if rules else b"")


def _write(repo: Repository, plans: Sequence[Plan], daily: Sequence[str]) -> None:
    """Write the masked texts, and remove the unmasked ones from the record of `git mem undo`. Raises Changed if a file
    was changed since it was read."""
    files = [plan for plan in plans if plan.entry is None]
    staged = [StagedText(plan.entry, plan.data) for plan in plans if plan.entry is not None]
    write_over(
        repo,
        {plan.path: plan.before for plan in files},
        {plan.path: plan.data for plan in files},
        staged,
        undoable=False,
    )
    if plans:
        with writer(repo):
            undo_record.drop_texts(repo, mark=True)
        rewrites = [(plan.path, repo.hash_blob(plan.data)) for plan in plans]
        redaction_record.record_rewrites(repo, rewrites, daily)


def _show(masked: Sequence[Plan], unmended: Sequence[tuple[Plan, Finding]]) -> None:
    """Print the masks of each file, at most MAX_LISTED_MASKS and the number of the others, then the findings that no
    mask can remove."""
    for plan in masked:
        result = plan.redaction
        count = f"{result.characters:,} of {plan.size:,} characters"
        write(escape(f"{plan.path} ({plan.where}): {', '.join(plan.rules)}: {count}", keep="") + "\n")
        for mask in result.masks[:MAX_LISTED_MASKS]:
            write(f"  line {mask.line}: {mask.rule}, {mask.characters:,} characters\n")
        if len(result.masks) > MAX_LISTED_MASKS:
            write(f"  and {len(result.masks) - MAX_LISTED_MASKS} more\n")
    for plan, finding in unmended:
        place = f"{plan.path}:{finding.line} ({plan.where})"
        write(escape(f"{place}: not masked: {finding.rule}; {remedy(finding)}", keep="") + "\n")
    if not masked and not unmended:
        write("nothing to mask\n")


def _left_value(plan: Plan, finding: Finding) -> dict[str, object]:
    return {
        "path": plan.path, "where": plan.where, "rule": finding.rule, "line": finding.line, "then": remedy(finding),
    }  # fmt: skip
