"""Changes how long a fact is kept or true: pins it, sets its last day, or ends it, in one commit. The text stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta

from gitmem.config import Config
from gitmem.errors import UsageError
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, Meta
from gitmem.memory.percent_encoding import encode
from gitmem.provenance.corrections import Correction, MessageParts, Removal, as_usage_error, fact_at, message_of

Plan = Callable[[Reading], CommitDraft[Fact]]


def commit_change(repo: Repository, path: str, plan: Plan) -> Correction:
    """Commit one of the plans below for a fact of `path`. The result names the fact as it was before. Raises what the
    plan raises, Changed when somebody wrote meanwhile, GitFailed when a hook refuses."""
    fact, oid = commit(repo, plan)
    return Correction((Removal(path, fact, ()),), oid)


def pin_plan(config: Config, path: str, line: int, pinned: bool, reason: str = "") -> Plan:
    """A plan that pins the fact at `path`:`line`, or unpins it. A pinned fact is never archived.

    The plan raises UsageError when the fact is in that state or cannot have a comment, Refused when the gate refuses
    the reason, GitMemError when there is no such fact or its file has uncommitted edits.
    """
    if pinned:
        return _plan(config, path, line, {"pinned": "true"}, MessageParts("pin 1 fact", reason))
    return _plan(config, path, line, {"pinned": ""}, MessageParts("unpin 1 fact", reason))


def until_plan(config: Config, path: str, line: int, last: date | None, reason: str = "") -> Plan:
    """A plan that sets the last day on which the fact at `path`:`line` is true; None removes that day. The plan raises
    UsageError, Refused and GitMemError for the reasons that `pin_plan` has."""
    if last is None:
        return _plan(config, path, line, {"until": ""}, MessageParts("1 fact holds without an end", reason))
    return _plan(config, path, line, {"until": last.isoformat()}, MessageParts(f"1 fact holds until {last}", reason))


def end_plan(config: Config, path: str, line: int, today: date, reason: str) -> Plan:
    """A plan that ends the fact at `path`:`line`: yesterday becomes its last day. Search then leaves it out, and the
    next promotion archives it. The plan raises UsageError, Refused and GitMemError for the reasons that `pin_plan`
    has."""
    day = today - timedelta(days=1)
    return _plan(config, path, line, {"until": day.isoformat()}, MessageParts("1 fact is not true any more", reason))


def _plan(config: Config, path: str, line: int, values: Mapping[str, str], account: MessageParts) -> Plan:
    """The plan of changing keys of the comment of the fact at `path`:`line`. `values`: key -> new value, "" to remove
    the key. The plan raises as `fact_at`, UsageError if the comment has these values already or cannot have them, and
    Refused when the gate refuses the reason."""

    def plan(reading: Reading) -> CommitDraft[Fact]:
        memory, entry = fact_at(reading, config, path, line)
        meta = with_keys(entry.fact.meta, values)
        if meta == entry.fact.meta:
            raise UsageError("that is so already")
        row = f"- {encode(path)}:{entry.fact.line} {entry.fact.id}"
        message = message_of(config, replace(account, lines=(row,)), ())
        with as_usage_error(path, entry):
            new = memory_facts.with_comment(memory, entry, meta)
        return CommitDraft({path: new.data()}, entry.fact, message)

    return plan


def with_keys(meta: Meta, values: Mapping[str, str]) -> Meta:
    """The keys of a comment with the new `values` in place; new keys come last, and keys with the value "" go."""
    present = [(key, values.get(key, value)) for key, value in meta]
    keys = {key for key, _ in meta}
    added = [(key, value) for key, value in values.items() if key not in keys]
    return tuple((key, value) for key, value in (*present, *added) if value)
