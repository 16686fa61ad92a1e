"""What a person decides about a finding of the gate in a committed file, as a commit: masked, or excepted a while."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from gitmem.config import Config
from gitmem.errors import Changed, Refused, UsageError
from gitmem.gate import exceptions, sources
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import decode
from gitmem.gate.new_exception import entry_of, exceptions_text, with_exceptions
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.redaction import redaction, refuse_or_mask_text
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading
from gitmem.memory.fact import encode
from gitmem.messages import Message
from gitmem.provenance import trailers

Plan = Callable[[Reading], CommitDraft[None]]


def mask_plan(repo: Repository, path: str, today: date) -> Plan:
    """The plan of masking the secrets and personal data that the gate finds in a committed file. History keeps what was
    there, so that a commit of it must not be taken back by itself: `undoable=False`.

    A plan raises GitMemError for a file with edits, UsageError where no mask mends anything, Refused where the masks
    would take more than half of it.
    """
    policy = sources.worktree_policy(repo, today)

    def plan(reading: Reading) -> CommitDraft[None]:
        text, _ = decode(reading.committed(path))
        done = redaction(text, path, policy, only_secrets=True)
        if done.excessive(len(text)):
            raise Refused("the masks would take more than half of the file", f"git mem redact --dry-run {encode(path)}")
        if not done.masks:
            raise UsageError("no mask mends what is found there", "git mem scan says what does")
        rules = ", ".join(sorted({mask.rule for mask in done.masks}))
        recorded = trailers.Recorded(rewrite=f"masked: {rules}")
        message = trailers.with_record(f"memory: mask what the gate finds in {encode(path)}", recorded)
        return CommitDraft({path: done.text.encode("utf-8", "replace")}, None, message)

    return plan


def allow_plan(
    repo: Repository, config: Config, finding: tuple[str, str], reason: str, until: date, today: date, salt: str
) -> Plan:
    """The plan of excepting the finding (fingerprint, path) of the work tree until a day; `salt` is for a new file of
    exceptions. Raises UsageError for a day that has passed, GitMemError where nothing has the fingerprint, Refused for
    a reason that the gate stops."""
    fingerprint, path = finding

    def named(text: str, policy: Policy, salt: str) -> list[exceptions.Entry]:
        places = [(policy, lambda: sources.paths(repo, [path], policy))]
        return [entry_of(fingerprint, places, [exceptions.parse(text).salt, exceptions.NO_SALT], salt)]

    return _exceptions_plan(repo, config, named, path, (reason, until, today, salt))


def allow_found_plan(
    repo: Repository,
    config: Config,
    found: Callable[[Policy], Sequence[Finding]],
    path: str,
    decision: tuple[str, date, date, str],
) -> Plan:
    """The plan of excepting what a scan finds in a text of the file `path` that is not in the work tree: `found` gives
    the findings under a policy. `decision`: reason, last day, today, salt of a new file of exceptions. Raises Changed
    where nothing is found any more, and what `allow_plan` raises."""

    def named(text: str, policy: Policy, salt: str) -> list[exceptions.Entry]:
        if text.strip():
            held = policy
        else:
            held = replace(policy, allow=exceptions.Allowlist(salt))
        rows = {(each.fingerprint, each.rule): each for each in found(held) if each.fingerprint}
        if not rows:
            raise Changed("This finding is not as it was shown any more", "look at it as it is now")
        return [exceptions.Entry(each.fingerprint, each.rule, path, "") for each in rows.values()]

    return _exceptions_plan(repo, config, named, path, decision)


def _exceptions_plan(
    repo: Repository,
    config: Config,
    named: Callable[[str, Policy, str], Sequence[exceptions.Entry]],
    path: str,
    decision: tuple[str, date, date, str],
) -> Plan:
    """The plan of writing exceptions: `named` gives them, without reason and end, for the text of the file of
    exceptions, the policy of the work tree and the salt."""
    reason, until, today, salt = decision
    if until < today:
        raise UsageError(Message("{} has passed", until), "choose a day to come")
    reason = refuse_or_mask_text(" ".join(reason.split()), MESSAGE, config)
    text = exceptions_text(Reading(repo))
    if text.strip():
        salt = exceptions.parse(text).salt
    policy = sources.worktree_policy(repo, today)
    entries = [replace(entry, reason=reason, until=until) for entry in named(text, policy, salt)]

    def plan(reading: Reading) -> CommitDraft[None]:
        if reading.raw(exceptions.FILE) is not None:
            reading.committed(exceptions.FILE)
        recorded = trailers.Recorded(reason=reason)
        rules = ", ".join(dict.fromkeys(entry.rule for entry in entries))
        message = trailers.with_record(f"gate: except {rules} in {encode(path)}", recorded)
        return CommitDraft({exceptions.FILE: with_exceptions(reading, text, entries, salt)}, None, message)

    return plan
