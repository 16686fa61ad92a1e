"""What a model proposed, judged: which operations may change MEMORY.md, and why each of the others may not.

Pure, and the only door: whatever a model says, nothing reaches MEMORY.md but what `decide` let through. Every check
has its own `Why`, its own sentence and its own test; the first that fails names the reason. Knows no model and no Git.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from functools import cache

from gitmem.memory.fact import (
    TYPES,
    UNSEEN_ORIGINS,
    Fact,
    fact_id,
    normalise,
    render_span,
    text_hash,
    worst_origin,
)  # fmt: skip
from gitmem.memory.facts import Memory, fact_date
from gitmem.memory.similarity import likeness, terms
from gitmem.promotion.log_lines import line_origins
from gitmem.promotion.protocol import Log, Op, Operation
from gitmem.provenance.grounding import differs, uncounted, undated, unnamed, unreasoned, unsaid

TEXT_LIMIT = 600  # characters of a fact: one line that a person can read
SOURCE_LINES = 12  # lines one operation may cite in one span
SPANS = 4  # spans one operation may cite
SAME = 0.85  # likeness from which two texts are one fact
ALIKE = 0.5  # likeness from which two texts speak of the same matter (docs/promotion.md, "Thresholds")
LOSS, LOSS_SHARE = 3, 0.25  # prior facts one run may take away: the larger of the two


class Why(StrEnum):
    """Why an operation was not let through."""

    MODEL = "model"
    SHAPE = "shape"
    SOURCE = "source"
    COVERED = "covered"
    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    UNSAID = "unsaid"
    REASON = "reason"
    TARGET = "target"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"
    ORIGIN = "origin"
    OVER = "over"
    GATE = "gate"
    RETENTION = "retention"
    LIMIT = "limit"
    SIZE = "size"


@dataclass(frozen=True, slots=True)
class Refused:
    """An operation that may not be applied."""

    operation: Operation
    why: Why
    reason: str


@dataclass(frozen=True, slots=True)
class Approved:
    """An operation that may. `meta` is the comment its fact will carry; `old` the fact it replaces."""

    operation: Operation
    meta: tuple[tuple[str, str], ...]
    old: Fact | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done and what not, both in order of importance."""

    approved: tuple[Approved, ...] = ()
    refused: tuple[Refused, ...] = ()

    def stopped(self, why: Why) -> list[Refused]:
        return [item for item in self.refused if item.why is why]


@dataclass(frozen=True, slots=True)
class Rules:
    """What `decide` holds operations to.

    `gate` returns the rule that blocks a text, "" for none. `covered` are spans already promoted or refused, as
    (path, normalised line text); `refused` hashes (64 hex) of texts a person took out; `accepted` ids of facts of
    origin web or tool a person let in; `room` the lines MEMORY.md may still grow by.
    """

    today: date
    gate: Callable[[str], str]
    limit: int = 20
    covered: frozenset[tuple[str, str]] = frozenset()
    refused: frozenset[str] = frozenset()
    accepted: frozenset[str] = frozenset()
    archived: Mapping[str, Fact] = field(default_factory=dict)
    room: bool = True


def decide(operations: Iterable[Operation], logs: Sequence[Log], memory: Memory, rules: Rules) -> Plan:
    """Judge every operation; the most important first, because the limit stops the rest."""
    found = {(log.path, log.blob): log for log in logs}
    ordered = sorted(enumerate(operations), key=lambda pair: (-_number(pair[1].importance), pair[0]))
    approved: list[Approved] = []
    refused: list[Refused] = []
    facts = memory.facts
    known = [(fact, terms(fact.text)) for fact in facts]
    taken: dict[str, tuple[str, set[str]]] = {}
    targets: set[str] = set()
    losses = max(LOSS, int(LOSS_SHARE * len(facts)))
    origins = cache(lambda key: line_origins(found[key].lines))  # once a log, however many operations cite it
    for _, proposed in ordered:
        full = len(approved) >= rules.limit  # the rest is looked at in earnest by a later run
        verdict = _judge(proposed, found, origins, known, taken, rules, full)
        if isinstance(verdict, Refused):
            refused.append(verdict)
            continue
        operation, old = verdict.operation, verdict.old
        if old is not None and old.id in targets:
            refused.append(Refused(operation, Why.TARGET, f"the fact {old.id} was replaced in this run already"))
        elif operation.op is Op.SUPERSEDE and losses <= 0:
            words = f"a run replaces at most {max(LOSS, int(LOSS_SHARE * len(facts)))} facts"
            refused.append(Refused(operation, Why.RETENTION, words))
        elif old is None and not rules.room:
            refused.append(Refused(operation, Why.SIZE, "MEMORY.md is full and nothing in it can be archived"))
        elif blocked := rules.gate("\n".join([operation.text, operation.reason, *_cited(operation, found)])):
            hidden = replace(operation, text="", reason="")
            refused.append(Refused(hidden, Why.GATE, f"the gate stops it: {blocked}"))
        else:
            approved.append(verdict)
            taken[fact_id(operation.text)] = (operation.text, terms(operation.text))
            if old is not None:
                targets.add(old.id)
                losses -= operation.op is Op.SUPERSEDE
    return Plan(tuple(approved), tuple(refused))


def _judge(
    proposed: Operation,
    logs: Mapping[tuple[str, str], Log],
    origins: Callable[[tuple[str, str]], list[str]],
    known: Sequence[tuple[Fact, set[str]]],
    taken: Mapping[str, tuple[str, set[str]]],
    rules: Rules,
    full: bool,
) -> Approved | Refused:
    if proposed.op is Op.SKIP:
        return Refused(proposed, Why.MODEL, proposed.reason or "the model skipped it")
    problem = shape(proposed)
    if problem:
        return Refused(_short(proposed), Why.SHAPE, problem)
    operation = replace(proposed, text=normalise(proposed.text))
    problem = sources(operation, logs)
    if problem:
        return Refused(operation, Why.SOURCE, problem)
    for why, problem in (
        (Why.COVERED, _covered(operation, logs, rules)),
        (Why.REJECTED, _rejected(operation, rules)),
    ):
        if problem:
            return Refused(operation, why, problem)
    if full:
        same = any(fact.id == fact_id(operation.text) for fact, _ in known) or fact_id(operation.text) in taken
        if same:
            return Refused(operation, Why.DUPLICATE, "it is there already")
        words = f"over the limit of {rules.limit} facts a run; the next run takes it up"
        return Refused(operation, Why.LIMIT, words)
    lines = _cited(operation, logs)
    log = logs[operation.sources[0].path, operation.sources[0].blob]
    days = {logs[span.path, span.blob].day for span in operation.sources}
    cited = "\n".join(normalise(line) for line in lines)
    for why, check in ((Why.DATE, undated), (Why.NUMBER, uncounted), (Why.NAME, unnamed), (Why.UNSAID, unsaid)):
        problem = check(operation.text, cited, days)
        if problem:
            return Refused(operation, why, problem)
    problem = unreasoned(operation.text, cited) if operation.type == "decision" else ""
    if problem:
        return Refused(operation, Why.REASON, problem)
    origin = _origin(operation, logs, origins)
    if origin in UNSEEN_ORIGINS and not _accepted(operation, rules):
        words = f"from {origin}: a person lets it in with --accept {fact_id(operation.text)}"
        return Refused(replace(operation, origin=origin), Why.ORIGIN, words)
    operation = replace(operation, origin=origin)
    if operation.until and operation.until < rules.today.isoformat():
        return Refused(operation, Why.OVER, f"it ended on {operation.until}")
    return _against(operation, log, known, taken, rules)


def _against(
    operation: Operation,
    log: Log,
    known: Sequence[tuple[Fact, set[str]]],
    taken: Mapping[str, tuple[str, set[str]]],
    rules: Rules,
) -> Approved | Refused:
    """The operation held against what is there: the same is refused, what it contradicts is replaced."""
    ident, own = fact_id(operation.text), terms(operation.text)
    target = next((fact for fact, _ in known if operation.target and fact.id.startswith(operation.target)), None)
    if operation.op in (Op.UPDATE, Op.SUPERSEDE) and target is None:
        return Refused(operation, Why.TARGET, "the fact it would change is not in MEMORY.md")
    same = ident in taken or any(fact.id == ident for fact, _ in known) or ident in rules.archived
    if same:
        return Refused(operation, Why.DUPLICATE, f"it is there already ({ident})")
    for fact, words in known:
        if fact is not target and likeness(own, words) >= SAME and not differs(operation.text, fact.text):
            return Refused(operation, Why.DUPLICATE, f"it says the same as {fact.id}")
    for text, words in taken.values():
        if likeness(own, words) >= SAME and not differs(operation.text, text):
            return Refused(operation, Why.DUPLICATE, "it says the same as another fact of this run")
    if target is None:
        rival = _rival(operation, log, own, known)
        if rival is not None:
            operation, target = replace(operation, op=Op.SUPERSEDE, target=rival.id), rival
    elif operation.op is Op.UPDATE and likeness(own, terms(target.text)) < ALIKE / 2:
        # An update keeps the matter and corrects the words; anything else takes a fact away, and counts as that.
        operation = replace(operation, op=Op.SUPERSEDE)
    return Approved(operation, meta_of(operation, log, target), target)


def _rival(operation: Operation, log: Log, own: set[str], known: Sequence[tuple[Fact, set[str]]]) -> Fact | None:
    """The fact an addition contradicts: the same matter with another value, and not newer than the log."""
    best: tuple[float, Fact] | None = None
    for fact, words in known:
        alike = likeness(_plain(own), _plain(words))
        if alike < ALIKE or not differs(operation.text, fact.text) or fact_date(fact) > log.day.isoformat():
            continue
        if best is None or alike > best[0]:
            best = (alike, fact)
    return best[1] if best else None


def meta_of(operation: Operation, log: Log, old: Fact | None) -> tuple[tuple[str, str], ...]:
    """The comment of the fact: what the old one said of itself and is still so, then what is known now."""
    meta: list[tuple[str, str]] = [("type", operation.type)]
    meta += [("src", render_span(span)) for span in operation.sources]
    meta.append(("importance", f"{_number(operation.importance):.2f}".rstrip("0").rstrip(".") or "0"))
    if operation.type in ("decision", "policy", "rule"):
        meta.append(("from", log.day.isoformat()))
    if operation.until:
        meta.append(("until", operation.until))
    if operation.origin:
        meta.append(("origin", operation.origin))
    if operation.pinned:
        meta.append(("pinned", "true"))
    if old is not None:
        ours = {key for key, _ in meta}
        if operation.op is Op.UPDATE and (origin := worst_origin(operation.origin, old.origin)):
            meta = [pair for pair in meta if pair[0] != "origin"] + [("origin", origin)]
            ours.add("origin")
        kept = [(key, value) for key, value in old.meta if key not in ours | {"supersedes", "until", "confidence"}]
        if operation.op is Op.UPDATE:
            kept += [pair for pair in old.meta if pair[0] == "src" and pair not in meta]
        meta += kept
        if operation.op is Op.SUPERSEDE:
            meta.append(("supersedes", old.id))
    return tuple(meta)


# -- the checks ----------------------------------------------------------------------------------------------


_CONTROL = re.compile(r"[\x00-\x1f]")


def shape(operation: Operation) -> str:
    """Whether it can be a fact at all: one line, not too long, a type, an importance and a date that exist."""
    text = operation.text
    if not isinstance(text, str) or not normalise(text):
        return "it has no text"
    if len(text) > TEXT_LIMIT:
        return f"it is longer than {TEXT_LIMIT} characters"
    if "<!--" in text or "-->" in text or _CONTROL.search(text):
        return "it is not one line of plain text"
    if text.lstrip().startswith(("#", "|", ">", "```", "~~~")):
        return "it would be read as markup, not as a fact"
    if operation.type not in TYPES:
        return "its type is unknown"
    if _number(operation.importance) != operation.importance:
        return "its importance is not within 0 and 1"
    if operation.until:
        try:
            if date.fromisoformat(operation.until).isoformat() != operation.until:
                return "its last day is not a date"
        except ValueError:
            return "its last day is not a date"
    return ""


def sources(operation: Operation, logs: Mapping[tuple[str, str], Log]) -> str:
    """Whether every line it cites stands in the blob it names, and says something."""
    if not operation.sources:
        return "it cites no source"
    if len(operation.sources) > SPANS:
        return f"it cites more than {SPANS} places"
    for span in operation.sources:
        log = logs.get((span.path, span.blob))
        if log is None:
            return "it cites a file that was not read"
        if not 1 <= span.start_line <= span.end_line <= len(log.lines):
            return "it cites lines that are not there"
        if span.end_line - span.start_line >= SOURCE_LINES:
            return f"it cites more than {SOURCE_LINES} lines at once"
        if not any(normalise(line) for line in log.lines[span.start_line - 1 : span.end_line]):
            return "the lines it cites are empty"
        if not log.new & set(range(span.start_line, span.end_line + 1)):
            return "the lines it cites are not new"
    return ""


def _covered(operation: Operation, logs: Mapping[tuple[str, str], Log], rules: Rules) -> str:
    for span in operation.sources if rules.covered else ():
        log = logs[span.path, span.blob]
        lines = [normalise(line) for line in log.lines[span.start_line - 1 : span.end_line]]
        if any(line and (span.path, line) not in rules.covered for line in lines):
            return ""
    return "its source was promoted or refused before" if rules.covered else ""


def _rejected(operation: Operation, rules: Rules) -> str:
    return "a person took it out before" if text_hash(operation.text) in rules.refused else ""


def _plain(found: set[str]) -> set[str]:
    return {term for term in found if not term.isdigit()}


def _origin(
    operation: Operation, logs: Mapping[tuple[str, str], Log], origins: Callable[[tuple[str, str]], list[str]]
) -> str:
    """The worst origin of what the operation says of itself, of the lines it cites and of every log they stand in."""
    stated = [operation.origin]
    for span in operation.sources:
        key = (span.path, span.blob)
        stated += [logs[key].origin, *origins(key)[span.start_line - 1 : span.end_line]]
    return worst_origin(*stated)


def _accepted(operation: Operation, rules: Rules) -> bool:
    ident = fact_id(operation.text)
    return any(len(given) >= 4 and ident.startswith(given) for given in rules.accepted)


def _cited(operation: Operation, logs: Mapping[tuple[str, str], Log]) -> list[str]:
    return [
        line
        for span in operation.sources
        for line in logs[span.path, span.blob].lines[span.start_line - 1 : span.end_line]
    ]


def _short(operation: Operation) -> Operation:
    text = operation.text if isinstance(operation.text, str) else ""
    return replace(operation, text=normalise(text[:TEXT_LIMIT]), reason=str(operation.reason)[:TEXT_LIMIT])


def _number(value: float) -> float:
    return min(1.0, max(0.0, value)) if value == value else 0.0
