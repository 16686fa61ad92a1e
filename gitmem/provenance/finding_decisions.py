"""Plans the commits that settle a finding of the gate: mask the text, or except the finding until a day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from gitmem.config import Config
from gitmem.errors import Changed, Refused, UsageError
from gitmem.gate import exceptions
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import decode
from gitmem.gate.new_exception import entry_of, exceptions_text, with_exceptions
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.redaction import redaction, refuse_or_mask_text
from gitmem.gate.tree_policies import worktree_policy
from gitmem.gate.work_tree_files import work_tree_files
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading
from gitmem.memory.percent_encoding import encode
from gitmem.messages import Message
from gitmem.provenance import trailers

Plan = Callable[[Reading], CommitDraft[None]]


class Decision(NamedTuple):
    """A person's decision to allow a finding. `until`: the last day of the exception. `salt`: of a new file of
    exceptions; a salt keeps texts from being guessed by the fingerprints there."""

    reason: str
    until: date
    today: date
    salt: str


def mask_plan(repo: Repository, path: str, today: date) -> Plan:
    """A plan that masks the secrets and personal data that the gate finds in a committed file.

    Commit it with `undoable=False`: an undo would write the secrets again. The plan raises GitMemError for a file with
    uncommitted edits, UsageError when a mask removes no finding, Refused when the masks would cover too much of the
    file (`Redaction.excessive`).
    """
    policy = worktree_policy(repo, today)

    def plan(reading: Reading) -> CommitDraft[None]:
        text, _ = decode(reading.committed(path))
        masked = redaction(text, path, policy, only_secrets=True)
        if masked.excessive(len(text)):
            raise Refused("the masks would take more than half of the file", f"git mem redact --dry-run {encode(path)}")
        if not masked.masks:
            raise UsageError("no mask mends what is found there", "git mem scan says what does")
        rules = ", ".join(sorted({mask.rule for mask in masked.masks}))
        recorded = trailers.CommitRecord(rewrite=f"masked: {rules}")
        message = trailers.with_record(f"memory: mask what the gate finds in {encode(path)}", recorded)
        return CommitDraft({path: masked.text.encode("utf-8", "replace")}, None, message)

    return plan


def allow_plan(repo: Repository, config: Config, fingerprint: str, path: str, decision: Decision) -> Plan:
    """A plan that writes an exception to the file of exceptions: the gate lets the finding with this fingerprint in the
    file `path` pass until the last day of `decision`.

    This function raises UsageError for a past day, GitMemError when no finding of the work tree has the fingerprint,
    Refused when the gate refuses the reason. The plan raises GitMemError when the file of exceptions has uncommitted
    edits."""

    def entries(text: str, policy: Policy, salt: str) -> list[exceptions.Entry]:
        places = [(policy, lambda: work_tree_files(repo, [path], policy))]
        return [entry_of(fingerprint, places, [exceptions.parse(text).salt, exceptions.NO_SALT], salt)]

    return _exceptions_plan(repo, config, entries, path, decision)


def allow_found_plan(
    repo: Repository, config: Config, find: Callable[[Policy], Sequence[Finding]], path: str, decision: Decision
) -> Plan:
    """A plan that writes exceptions for all findings in a text for `path` that is not in the work tree.

    `find`: scans the text under a policy. This function raises Changed when `find` finds nothing, UsageError for a past
    day, Refused when the gate refuses the reason. The plan raises GitMemError when the file of exceptions has
    uncommitted edits."""

    def entries(text: str, policy: Policy, salt: str) -> list[exceptions.Entry]:
        if not text.strip():
            policy = replace(policy, allow=exceptions.Allowlist(salt))
        rows = dict.fromkeys((finding.fingerprint, finding.rule) for finding in find(policy) if finding.fingerprint)
        if not rows:
            raise Changed("This finding is not as it was shown any more", "look at it as it is now")
        return [exceptions.Entry(fingerprint, rule, path, "") for fingerprint, rule in rows]

    return _exceptions_plan(repo, config, entries, path, decision)


def _exceptions_plan(
    repo: Repository,
    config: Config,
    entries_of: Callable[[str, Policy, str], Sequence[exceptions.Entry]],
    path: str,
    decision: Decision,
) -> Plan:
    """The plan of adding entries to the file of exceptions. `entries_of`: returns them, without reason and last day,
    for (text of the file, policy of the work tree, salt). Raises UsageError for a last day before today, Refused if the
    gate refuses the reason, and as `entries_of`."""
    if decision.until < decision.today:
        raise UsageError(Message("{} has passed", decision.until), "choose a day to come")
    reason = refuse_or_mask_text(" ".join(decision.reason.split()), MESSAGE, config)
    text = exceptions_text(Reading(repo))
    salt = decision.salt
    if text.strip():
        salt = exceptions.parse(text).salt
    policy = worktree_policy(repo, decision.today)
    entries = [replace(entry, reason=reason, until=decision.until) for entry in entries_of(text, policy, salt)]

    def plan(reading: Reading) -> CommitDraft[None]:
        reading.committed_or_new(exceptions.FILE)
        recorded = trailers.CommitRecord(reason=reason)
        rules = ", ".join(dict.fromkeys(entry.rule for entry in entries))
        message = trailers.with_record(f"gate: except {rules} in {encode(path)}", recorded)
        return CommitDraft({exceptions.FILE: with_exceptions(reading, text, entries, salt)}, None, message)

    return plan
