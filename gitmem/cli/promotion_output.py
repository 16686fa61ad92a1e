"""A promotion in words, for the commands that run one: `promote`, `session compact`, the action that proposes."""

from __future__ import annotations

from collections.abc import Container, Sequence

from gitmem.cli.places import place_of
from gitmem.cli.terminal import escape
from gitmem.memory.fact import fact_id
from gitmem.memory.rivals import placed_sentence
from gitmem.plural import counted
from gitmem.promotion.outcome import not_repeatable
from gitmem.promotion.plan import Refused, Why
from gitmem.promotion.promote import Mode, Outcome

EXAMPLES = 10  # candidates of one reason that `--explain` shows
WIDTH = 300  # characters of a candidate's text there
MAX_NAMED_FACTS = 5  # facts that wait for a person, whose ids are said without `--explain`
WAITING = 50  # ... that wait for a person, who has to see their ids


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
    lines += [placed_sentence(rival) for rival in outcome.differs]
    lines += [f"note: {note}" for note in outcome.notes]
    lines += [f"not read: {item.path} ({item.reason})" for item in outcome.skipped]
    if explain:
        hidden = not_repeatable(outcome)
        lines += explanation(outcome.plan.refused, hidden)
    count = len(outcome.plan.approved)
    if not count:
        lines.append(f"nothing to promote: {outcome.why_nothing}")
    elif outcome.mode is Mode.NOTHING:
        lines.append(f"would promote {count} of {counted(outcome.lines, 'new line')}")
    elif outcome.mode is Mode.STAGE:
        lines.append(f"staged {counted(count, 'fact')}; commit with: git commit")
    else:
        where = ""
        if outcome.branch:
            where = f" on {outcome.branch}"
        facts = counted(count, "fact")
        lines.append(f"promoted {facts}{where}: {', '.join(oid[:12] for oid in outcome.commits)}")
    over = len(outcome.plan.stopped(Why.LIMIT))
    if over and count:
        lines.append(f"{over} more wait for the next run: git mem promote")
    held = outcome.plan.stopped(Why.ORIGIN)
    if held and not explain:
        idents = " ".join(fact_id(item.operation.text) for item in held[:MAX_NAMED_FACTS])
        more = ""
        if len(held) > MAX_NAMED_FACTS:
            more = f" and {len(held) - MAX_NAMED_FACTS} more (--json has all)"
        lines.append(
            f"{len(held)} from the web or a tool wait for a person, who lets one in with --accept ID: {idents}{more}"
        )
    return escape("\n".join(lines) + "\n")


def explanation(refused: Sequence[Refused], hidden: Container[str]) -> list[str]:
    """What was not promoted, by the check that stopped it and its reason: how many, and EXAMPLES of each."""
    groups: dict[tuple[str, str], list[Refused]] = {}
    for item in refused:
        reason = ""
        if item.why is Why.MODEL:
            reason = item.reason.partition(":")[0]
        groups.setdefault((str(item.why), reason), []).append(item)
    lines = []
    for (why, reason), items in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        if why == Why.ORIGIN:
            shown = WAITING
        else:
            shown = EXAMPLES
        lines.append(f"{why}{f', {reason}' if reason else ''}: {counted(len(items), 'candidate')}")
        lines += [explained(item, item.operation.text not in hidden) for item in items[:shown]]
        if len(items) > shown:
            lines.append(f"          and {len(items) - shown} more: --json has all")
    return lines


def explained(item: Refused, shown: bool = True) -> str:
    """One candidate and the check that stopped it."""
    span = None
    if item.operation.sources:
        span = item.operation.sources[0]
    where = "-"
    if span:
        where = place_of(span)
    text = "[not shown]"
    if shown and item.operation.text:
        text = item.operation.text
    if len(text) <= WIDTH:
        text = text
    else:
        text = f"{text[:WIDTH]} ..."
    return f"skipped   {text}\n          {where}\n          {item.why}: {item.reason}"
