"""A promotion in words, for the commands that run one: `promote`, `session compact`, the action that proposes."""

from __future__ import annotations

from gitmem.cli.places import place_of
from gitmem.cli.terminal import escape
from gitmem.plural import counted
from gitmem.promotion.outcome import not_repeatable
from gitmem.promotion.plan import Refused
from gitmem.promotion.promote import Mode, Outcome


def as_text(outcome: Outcome, explain: bool) -> str:
    """For a person: what was promoted, then (with --explain) what was not and why."""
    lines = []
    for item in outcome.plan.approved:
        operation = item.operation
        lines.append(f"{operation.op:<9} {operation.text} ({operation.type}, {operation.importance:g})")
        lines += [f"          from {place_of(span)}" for span in operation.sources]
        if item.old:
            lines.append(f"          replaces {item.old.id}: {item.old.text}")
    lines += [f"archived  {moved.fact.text} -> {moved.path}" for moved in outcome.archived]
    lines += [f"note: {note}" for note in outcome.notes]
    lines += [f"not read: {item.path} ({item.reason})" for item in outcome.skipped]
    if explain:
        hidden = not_repeatable(outcome)
        lines += [explained(item, item.operation.text not in hidden) for item in outcome.plan.refused]
    count = len(outcome.plan.approved)
    if not count:
        lines.append(f"nothing to promote: {outcome.why_nothing}")
    elif outcome.mode is Mode.NOTHING:
        lines.append(f"would promote {count} of {counted(outcome.lines, 'new line')}")
    elif outcome.mode is Mode.STAGE:
        lines.append(f"staged {counted(count, 'fact')}; commit with: git commit")
    else:
        where = f" on {outcome.branch}" if outcome.branch else ""
        facts = counted(count, "fact")
        lines.append(f"promoted {facts}{where}: {', '.join(oid[:12] for oid in outcome.commits)}")
    held = [item for item in outcome.plan.refused if str(item.why) == "origin"]
    if held and not explain:
        lines.append(f"{len(held)} from the web or a tool wait for a person: --explain, then --accept ID")
    return escape("\n".join(lines) + "\n")


def explained(item: Refused, shown: bool = True) -> str:
    """One candidate and the check that stopped it."""
    span = item.operation.sources[0] if item.operation.sources else None
    where = place_of(span) if span else "-"
    text = item.operation.text if shown and item.operation.text else "[not shown]"
    return f"skipped   {text}\n          {where}\n          {item.why}: {item.reason}"
