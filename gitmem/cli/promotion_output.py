"""The outcome of a promotion in words, for `promote`, `session flush` and the action that proposes a promotion."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from gitmem.cli.places import place_text
from gitmem.cli.terminal import escape
from gitmem.memory.fact import fact_id
from gitmem.memory.rivals import HINT, Rival, placed_sentence
from gitmem.plural import counted
from gitmem.promotion.plan import Check, Refused
from gitmem.promotion.promote import Mode, Outcome, not_repeatable

MAX_EXAMPLES = 10  # refused candidates of one reason that `--explain` shows
MAX_WAITING_EXAMPLES = 50  # the same for candidates that wait for a person, who needs their ids
MAX_TEXT_CHARS = 300  # characters of a refused candidate's text
MAX_WAITING_IDS = 5  # ids of waiting candidates that are shown without `--explain`


def as_text(outcome: Outcome, explain: bool) -> str:
    """The outcome for a person: the promoted facts, then the notes; with `explain` also the refused candidates, each
    with the check that stopped it. Without `explain` also at most MAX_WAITING_IDS ids of the facts that wait for a
    person, and the number of the others."""
    lines = []
    for item in outcome.plan.approved:
        operation = item.operation
        lines.append(f"{operation.op:<9} {operation.text} ({operation.type}, {operation.importance:g})")
        lines += [f"          from {place_text(span)}" for span in operation.sources]
        if item.old:
            lines.append(f"          replaces {item.old.id}: {item.old.text}")
    lines += [f"archived  {moved.fact.text} -> {moved.path}" for moved in outcome.archived]
    lines += [_difference(outcome, rival) for rival in outcome.differs]
    lines += [f"note: {note}" for note in outcome.notes]
    lines += [f"not read: {item.path} ({item.reason})" for item in outcome.skipped]
    if explain:
        lines += explanation(outcome.plan.refused, not_repeatable(outcome))
    count = len(outcome.plan.approved)
    if not count:
        lines.append(f"nothing to promote: {outcome.why_nothing}")
    elif outcome.mode is Mode.NOTHING:
        lines.append(f"would promote {count} of {counted(outcome.lines, 'new line')}")
    elif outcome.mode is Mode.STAGE:
        lines.append(f"staged {counted(count, 'fact')}; commit with: git commit")
    else:
        branch_note = f" on {outcome.branch}" if outcome.branch else ""
        facts = counted(count, "fact")
        lines.append(f"promoted {facts}{branch_note}: {', '.join(oid[:12] for oid in outcome.commits)}")
    lines += held_back(outcome)
    waiting = outcome.plan.refused_by(Check.ORIGIN)
    if waiting and not explain:
        idents = " ".join(fact_id(item.operation.text) for item in waiting[:MAX_WAITING_IDS])
        if len(waiting) > MAX_WAITING_IDS:
            idents += f" and {len(waiting) - MAX_WAITING_IDS} more (--json has all)"
        lines.append(
            f"{len(waiting)} from the web or a tool wait for a person, who lets one in with --accept ID: {idents}"
        )
    return escape("\n".join(lines) + "\n")


def _difference(outcome: Outcome, rival: Rival) -> str:
    """`placed_sentence`. If one of the facts is new in this run, its hint, `git mem settle`, names the branch that has
    the fact, and is left out of a dry run, which wrote none."""
    text = placed_sentence(rival)
    promoted = {item.operation.text for item in outcome.plan.approved}
    if promoted.isdisjoint((rival.new.fact.text, rival.old.fact.text)):
        return text
    if outcome.mode is Mode.NOTHING:
        return text.removesuffix(f": {HINT}")
    if outcome.branch and text.endswith(HINT):
        return f"{text} on {outcome.branch}"
    return text


def held_back(outcome: Outcome) -> Iterator[str]:
    """A sentence for each limit of a run that held candidates back. They are not lost: the cursor stays before their
    lines, and the next run reads them again."""
    over_limit = len(outcome.plan.refused_by(Check.LIMIT))
    if over_limit and outcome.plan.approved:
        yield f"{over_limit} more wait for the next run: git mem promote"
    replacing = outcome.plan.refused_by(Check.RETENTION)
    if replacing:
        facts = counted(len(replacing), "fact that replaces another waits", "facts that replace others wait")
        yield f"{facts} for the next run, since {replacing[0].reason}: git mem promote"


def explanation(refused: Sequence[Refused], hidden: Container[str]) -> list[str]:
    """The refused candidates by check and reason, the most frequent first: their number and at most MAX_EXAMPLES of
    each (MAX_WAITING_EXAMPLES of those that wait for a person). `hidden`: texts of candidates that must not be
    shown."""
    groups: dict[tuple[str, str], list[Refused]] = {}
    for item in refused:
        reason = item.reason.partition(":")[0] if item.why is Check.MODEL else ""
        groups.setdefault((str(item.why), reason), []).append(item)
    lines = []
    for (check, reason), items in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        limit = MAX_WAITING_EXAMPLES if check == Check.ORIGIN else MAX_EXAMPLES
        lines.append(f"{', '.join(filter(None, (check, reason)))}: {counted(len(items), 'candidate')}")
        lines += [refusal_text(item, item.operation.text not in hidden) for item in items[:limit]]
        if len(items) > limit:
            lines.append(f"          and {len(items) - limit} more: --json has all")
    return lines


def refusal_text(item: Refused, is_shown: bool) -> str:
    """One refused candidate in three lines, joined by LF and not escaped: its text, cut to MAX_TEXT_CHARS ("[not
    shown]" if not `is_shown` or without text); its first source, "-" without one; the check that stopped it and why."""
    source = next(map(place_text, item.operation.sources), "-")
    text = "[not shown]"
    if is_shown and item.operation.text:
        text = item.operation.text
    if len(text) > MAX_TEXT_CHARS:
        text = f"{text[:MAX_TEXT_CHARS]} ..."
    return f"skipped   {text}\n          {source}\n          {item.why}: {item.reason}"
