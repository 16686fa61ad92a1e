"""How long a fact stays: pinned, until a day, or over. One commit each; the text stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta

from gitmem.config import Config
from gitmem.errors import UsageError
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, Meta, encode
from gitmem.provenance.corrections import Account, Correction, Removal, as_usage_error, fact_at, message_of

Plan = Callable[[Reading], CommitDraft[Fact]]


def change(repo: Repository, path: str, plan: Plan) -> Correction:
    """Commit one of the plans below for a fact of `path`. Raises what the plan and `transaction.commit` raise."""
    fact, oid = commit(repo, plan)
    return Correction((Removal(path, fact, ()),), oid)


def pin_plan(config: Config, path: str, line: int, pinned: bool, reason: str = "") -> Plan:
    """The plan of pinning the fact at `path`:`line` (nothing archives it then), or of taking the pin out.

    A plan raises UsageError where that is so already, Refused for a reason that the gate stops, GitMemError where
    there is no such fact or the file has edits.
    """
    what = "unpin 1 fact"
    if pinned:
        what = "pin 1 fact"
    return _plan(config, path, line, {"pinned": "true" if pinned else ""}, Account(what, reason))


def until_plan(config: Config, path: str, line: int, last: date | None, reason: str = "") -> Plan:
    """The plan of saying on which day a fact is true for the last time, None for no such day. Raises as `pin_plan`."""
    what = "1 fact holds without an end"
    if last:
        what = f"1 fact holds until {last}"
    return _plan(config, path, line, {"until": last.isoformat() if last else ""}, Account(what, reason))


def over_plan(config: Config, path: str, line: int, today: date, reason: str) -> Plan:
    """The plan of saying that a fact is not true any more: yesterday was its last day. Search passes it over, and the
    next promotion archives it. Raises as `pin_plan`."""
    last = today - timedelta(days=1)
    return _plan(config, path, line, {"until": last.isoformat()}, Account("1 fact is not true any more", reason))


def _plan(config: Config, path: str, line: int, wanted: Mapping[str, str], account: Account) -> Plan:
    """The comment of the fact with other values of some keys, "" for none."""

    def plan(reading: Reading) -> CommitDraft[Fact]:
        memory, entry = fact_at(reading, config, path, line)
        meta = with_keys(entry.fact.meta, wanted)
        if meta == entry.fact.meta:
            raise UsageError("that is so already")
        row = f"- {encode(path)}:{entry.fact.line} {entry.fact.id}"
        message = message_of(config, Account(account.what, account.reason, lines=(row,)), ())
        with as_usage_error(path, entry):
            new = memory_facts.with_comment(memory, entry, meta)
        return CommitDraft({path: new.data()}, entry.fact, message)

    return plan


def with_keys(meta: Meta, wanted: Mapping[str, str]) -> Meta:
    """The keys of a comment with those of `wanted` in their place, or at the end; "" takes a key out."""
    kept = [(key, wanted.get(key, value)) for key, value in meta]
    known = {key for key, _ in meta}
    added = [(key, value) for key, value in wanted.items() if key not in known]
    return tuple((key, value) for key, value in (*kept, *added) if value)
