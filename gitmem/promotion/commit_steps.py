"""The commits of a promotion: the new contents of MEMORY.md and its archives, and the words of each message.

Pure: `read` parameters return the bytes of files, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from gitmem.daily_logs import log_day
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.memory import archiving, facts
from gitmem.memory.archiving import ArchiveEntry
from gitmem.memory.fact import fact_id, render_span, text_hash
from gitmem.memory.facts import Memory
from gitmem.memory.rivals import MEMORY
from gitmem.plural import counted
from gitmem.promotion.plan import Approved, Plan, max_losses
from gitmem.promotion.proposal import Op
from gitmem.provenance.ledger import PROMOTES
from gitmem.provenance.trailers import CommitRecord, Link


@dataclass(frozen=True, slots=True)
class CommitStep:
    """One commit of a promotion. `contents`: path -> new bytes of each file that it writes. `approved`: the facts that
    it adds. `moved`: the facts that it archives because they have ended or do not fit; replaced facts are not among
    them."""

    contents: Mapping[str, bytes]
    approved: tuple[Approved, ...]
    moved: tuple[ArchiveEntry, ...] = ()


def commit_steps(
    memory: Memory, plan: Plan, today: date, read: Callable[[str], bytes], *, one_per_fact: bool, budget: int | None
) -> Iterator[CommitStep]:
    """The commits to make: one for all facts of the plan, or with `one_per_fact` one for every fact.

    `read`: returns the bytes of an archive, b"" for no file. `budget`: the last commit also archives facts that have
    ended, and facts that do not fit into so many lines; None for neither. Replaced facts and those that do not fit are
    together at most `max_losses`.
    """
    losses_left = max_losses(len(memory.facts)) - sum(item.operation.op is Op.SUPERSEDE for item in plan.approved)
    added_ids = [fact_id(item.operation.text) for item in plan.approved]
    groups = [plan.approved]
    if one_per_fact:
        groups = [(item,) for item in plan.approved]
    archives: dict[str, bytes] = {}  # path -> bytes after the earlier steps
    for number, group in enumerate(groups, 1):
        moved = []
        for item in group:
            if item.old is not None and item.operation.op is Op.SUPERSEDE and memory.find(item.old.id):
                moved.append(archiving.superseded_entry(item.old, fact_id(item.operation.text), today))
            memory = apply_operation(memory, item)
        tidied: list[ArchiveEntry] = []
        if number == len(groups) and budget is not None:
            memory, tidied = _tidied(memory, added_ids, today, budget, max(0, losses_left))
        moved += tidied
        archives = archiving.with_archives(archives, moved, read)
        contents = {MEMORY: memory.data(), **{item.path: archives[item.path] for item in moved}}
        yield CommitStep(contents, group, tuple(tidied))


def apply_operation(memory: Memory, item: Approved) -> Memory:
    """The memory after one approved operation. When the fact to replace is gone, the new one is added. Raises
    ValueError for a text that is empty, contains a comment mark or would not be one statement in that place."""
    text = item.operation.text
    entry = None
    if item.old is not None:
        entry = memory.find(item.old.id)
    if entry is None:
        return facts.add(memory, text, item.meta)
    if item.operation.op is Op.UPDATE:
        return facts.update(memory, entry, text, item.meta)
    return facts.supersede(memory, entry, text, item.meta)


def _tidied(
    memory: Memory, added_ids: list[str], today: date, budget: int, max_surplus: int
) -> tuple[Memory, list[ArchiveEntry]]:
    """(the memory without facts that have ended and at most `max_surplus` promoted facts that do not fit into `budget`
    lines, these facts). The facts with the ids `added_ids` stay."""
    memory, expired = archiving.remove_expired(memory, today)
    fitted, surplus = archiving.fit_promoted_to_budget(memory, today, budget, keep=added_ids)
    if len(surplus) > max_surplus:  # the facts that are too many leave over several runs
        staying = {item.fact.id for item in surplus[max_surplus:]}
        leaving = {item.fact.id for item in surplus[:max_surplus]} - staying
        keep = [fact.id for fact in memory.facts if fact.id not in leaving]
        fitted, surplus = archiving.fit_promoted_to_budget(memory, today, budget, keep=[*added_ids, *keep])
    return fitted, [*expired, *surplus]


# -- the message ---------------------------------------------------------------------------------------------


def message_body(step: CommitStep, daily: Iterable[str], *, quote: bool) -> str:
    """Subject and body of the message: the facts (their texts with `quote`, else their ids), their sources, how many
    were archived. `daily`: patterns of daily logs."""
    paths = {span.path for item in step.approved for span in item.operation.sources}
    days = sorted({str(log_day(path, daily)) for path in paths})
    period = days[0]
    if len(days) > 1:
        period = f"{days[0]} to {days[-1]}"
    lines = [f"{PROMOTES}{counted(len(step.approved), 'fact')} from {period}", ""]
    for item in step.approved:
        operation = item.operation
        text = operation.text if quote else fact_id(operation.text)
        words = operation.type
        if item.old:
            words += f", replaces {item.old.id}"
        lines.append(f"- {text} ({words})")
        lines += [f"  {render_span(span._replace(blob=''))}" for span in operation.sources]
    if step.moved:
        lines += ["", f"{len(step.moved)} moved to {', '.join(sorted({item.path for item in step.moved}))}"]
    return "\n".join(lines)


def record_of_step(step: CommitStep, model: str, agent: str, person: str) -> CommitRecord:
    """The trailers of a commit (docs/promotion.md) without the cursor, which only the last commit of a run has.
    `model`, `agent`: ids of the promotion model and of the agent. `person`: the one who reviewed the facts, "" for
    none."""
    links = [
        Link(span, MEMORY, text_hash(item.operation.text)) for item in step.approved for span in item.operation.sources
    ]
    reason = f"{len(step.approved)} facts that outlast their day"
    if len(step.approved) == 1:
        reason = step.approved[0].operation.reason or "it outlasts its day"
    rewrite = ""
    replaced_facts = sum(item.old is not None for item in step.approved)
    if len(step.moved) + replaced_facts >= BULK_LINES:
        rewrite = f"{replaced_facts} replaced, {len(step.moved)} archived by promotion"
    return CommitRecord(sources=tuple(links), model=model, agent=agent, reason=reason, rewrite=rewrite, reviewer=person)
