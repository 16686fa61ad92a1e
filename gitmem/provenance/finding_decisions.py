"""What a person decides about a finding of the gate in a committed file, as a commit: masked, or excepted a while."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from gitmem.config import Config
from gitmem.errors import Refused, UsageError
from gitmem.gate import exceptions, sources
from gitmem.gate.examine import decode
from gitmem.gate.new_exception import entry_of, exceptions_text, with_exceptions
from gitmem.gate.policy import MESSAGE
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
    if until < today:
        raise UsageError(Message("{} has passed", until), "choose a day to come")
    fingerprint, path = finding
    reason = refuse_or_mask_text(" ".join(reason.split()), MESSAGE, config)
    text = exceptions_text(Reading(repo))
    known = exceptions.parse(text).salt
    salt = known if text.strip() else salt
    policy = sources.worktree_policy(repo, today)
    named = entry_of(
        fingerprint, [(policy, lambda: sources.paths(repo, [path], policy))], [known, exceptions.NO_SALT], salt
    )
    entry = exceptions.Entry(named.fingerprint, named.rule, named.path, reason, until)

    def plan(reading: Reading) -> CommitDraft[None]:
        if reading.raw(exceptions.FILE) is not None:
            reading.committed(exceptions.FILE)
        recorded = trailers.Recorded(reason=reason)
        message = trailers.with_record(f"gate: except {entry.rule} in {encode(path)}", recorded)
        return CommitDraft({exceptions.FILE: with_exceptions(reading, text, [entry], salt)}, None, message)

    return plan
