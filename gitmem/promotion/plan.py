"""What a model proposed, judged: which operations may change MEMORY.md, and why each of the others may not.

Pure, and the only way in: whatever a model says, nothing reaches MEMORY.md but what `decide` let through. Every check
has its own `Why`, its own sentence and its own test; the first that fails names the reason. Knows no model and no Git.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from gitmem.gate.detectors.masks import has_mask
from gitmem.git.objects import Span
from gitmem.memory.deciding_words import claim
from gitmem.memory.fact import (
    TYPES,
    UNSEEN_ORIGINS,
    Fact,
    fact_id,
    normalise,
    parse_comment,
    render_span,
    text_hash,
    worst_origin,
)  # fmt: skip
from gitmem.memory.facts import SUPERSEDES, Memory
from gitmem.memory.retention import with_until
from gitmem.memory.rivals import MEMORY, PROPOSES, Placed, Standing, judge, of_one_matter, placed, surely_over
from gitmem.memory.similarity import ALIKE, likeness, same, terms
from gitmem.memory.statements import read
from gitmem.memory.successor import why_not
from gitmem.messages import Message
from gitmem.promotion.proposal import Log, Op, Operation
from gitmem.provenance.cited_text import CitedText, cited_text
from gitmem.provenance.grounding import denied, uncounted, undated, unnamed, unreasoned, unsaid
from gitmem.provenance.line_origins import line_origins
from gitmem.text.heading_words import names_no_thing

if TYPE_CHECKING:
    from gitmem.memory.relation import Relation

TEXT_LIMIT = 600  # characters of a fact: one line that a person can read
SOURCE_LINES = 12  # lines one operation may cite in one span
CITED = 3  # places in code that a fact cites
SPANS = 4  # spans one operation may cite
# Likeness from which a text corrects the fact that a model names: half of what tells one matter where none is named.
UPDATED = ALIKE / 2
TOPIC_SHARE = 0.6  # of a topic's words from which a fact speaks of it: `Ferry Tern` and `Ferry Lark` are two
MAX_LATER = 200  # additions of one run, the newest, that are held against each other
SAID_AGAIN = 0.5  # probability from which a statement says what another says in other words
LOSS, LOSS_SHARE = 3, 0.25  # prior facts one run may take away: the larger of the two


class Why(StrEnum):
    """Why an operation was not let through."""

    MODEL = "model"
    SHAPE = "shape"
    SOURCE = "source"
    MASKED = "masked"
    COVERED = "covered"
    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    UNSAID = "unsaid"
    DENIED = "denied"
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


WAITS = (Why.LIMIT, Why.SIZE, Why.RETENTION)  # what stops a candidate today and may not tomorrow
# In this order: the first that fails names the reason. A check answers with a sentence, "" where the lines bear it out.
GROUNDING: tuple[tuple[Why, Callable[[str, str, Iterable[date]], str]], ...] = (
    (Why.DATE, undated), (Why.NUMBER, uncounted), (Why.NAME, unnamed), (Why.UNSAID, unsaid), (Why.DENIED, denied),
)  # fmt: skip


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
        """The operations that this check refused, [] for none."""
        return [item for item in self.refused if item.why is why]


@dataclass(frozen=True, slots=True)
class Rules:
    """What `decide` holds operations to.

    `gate` returns the rule that blocks a text, "" for none. `covered` are spans already promoted or refused, as
    (path, normalised line text); `refused` hashes (64 hex) of texts a person took out; `accepted` ids of facts of
    origin web or tool a person let in; `may_grow` says whether MEMORY.md has space for one more. `retention`: how
    long facts of a type last (`Config.retention`).
    """

    today: date
    gate: Callable[[str], str]
    limit: int = 20
    covered: frozenset[tuple[str, str]] = frozenset()
    refused: frozenset[str] = frozenset()
    accepted: frozenset[str] = frozenset()
    archived: Mapping[str, Fact] = field(default_factory=dict)
    may_grow: bool = True
    retention: tuple[str, ...] = ()


def decide(operations: Iterable[Operation], logs: Sequence[Log], memory: Memory, rules: Rules) -> Plan:
    """Judge every operation; the most important first, of several the newest, because the limit stops the rest.

    Every operation ends in one of the two lists. Nothing raises: whatever a model proposed is a value to be judged.
    """
    run = _Run(logs, memory, rules)
    days = {(log.path, log.blob): log.day.toordinal() for log in logs}

    def place(operation: Operation) -> tuple[float, int]:
        newest = max((days.get((span.path, span.blob), 0) for span in operation.sources), default=0)
        return -_number(operation.importance), -newest

    verdicts = run.decide_all(sorted(operations, key=place))
    approved = tuple(verdict for verdict in verdicts if isinstance(verdict, Approved))
    return Plan(approved, tuple(verdict for verdict in verdicts if isinstance(verdict, Refused)))


class _Run:
    """What the operations of one run are held against: the logs, the facts there are, and what was let through."""

    def __init__(self, logs: Sequence[Log], memory: Memory, rules: Rules) -> None:
        self.rules = rules
        self.logs = {(log.path, log.blob): log for log in logs}
        self.facts = {fact.id: fact for fact in reversed(memory.facts)}
        self.claims = {ident: claim(fact.text) for ident, fact in self.facts.items()}
        self.standing = Standing(placed(MEMORY, self.facts.values()), rules.today)
        self.approved: dict[str, str] = {}  # id -> text
        self.additions: list[Placed] = []  # what was let through, as it will stand in MEMORY.md
        self.replaced: set[str] = set()
        self.losses = self.losses_left = max(LOSS, int(LOSS_SHARE * len(memory.facts)))
        # once a log, however many operations cite it
        self.documents = cache(lambda path, blob: read(self.logs[path, blob].lines))
        self.origins = cache(lambda path, blob: line_origins(self.documents(path, blob)))

    def decide_all(self, operations: Sequence[Operation]) -> list[Approved | Refused]:
        """The verdicts on operations, in their order. Of two lines of which the later surely replaces the earlier, the
        later is judged first, and where it is let through the earlier is refused."""
        later = self._later_words(operations)
        verdicts: dict[int, Approved | Refused] = {}

        def settle(at: int) -> Approved | Refused:
            if at in verdicts:
                return verdicts[at]
            for other in later.get(at, ()):  # a later line is of a later place: no operation waits for itself
                if isinstance(settle(other), Approved):
                    span = operations[other].sources[0]
                    words = Message("a later line replaces it: {}", f"{span.path}:{span.start_line}")
                    verdicts[at] = Refused(operations[at], Why.OVER, words)
                    return verdicts[at]
            verdicts[at] = self.decide(operations[at])
            return verdicts[at]

        return [settle(at) for at in range(len(operations))]

    def _later_words(self, operations: Sequence[Operation]) -> dict[int, list[int]]:
        """The positions of the additions that surely replace or end an earlier one, by the position of that: the newest
        first. No word of a tool or of a page replaces another one."""
        rows: list[tuple[int, tuple[str, int], Placed]] = []
        for at, operation in enumerate(operations):
            if operation.op is not Op.ADD or shape(operation) or sources(operation, self.logs):
                continue
            span = operation.sources[0]
            log = self.logs[span.path, span.blob]
            placed_there = _placed(replace(operation, text=normalise(operation.text)), log)
            fact = placed_there.fact._replace(line=at)
            rows.append((at, (log.day.isoformat(), span.start_line), placed_there._replace(fact=fact)))
        rows = sorted(rows, key=lambda row: row[1], reverse=True)[:MAX_LATER]
        places = {at: (place, operations[at].sources[0].path) for at, place, _ in rows}
        standing = Standing([row for *_, row in rows], self.rules.today)
        found: dict[int, list[int]] = {}
        for at, place, new in rows:
            if self._origin(operations[at]) in UNSEEN_ORIGINS:
                continue
            for old in standing.nearest(new.fact):
                before, path = places[old.fact.line]
                earlier = before[0] < place[0] or (path == places[at][1] and before < place)
                if earlier and surely_over(old, new, as_if_derived=True):
                    found.setdefault(old.fact.line, []).append(at)
        return found

    def decide(self, proposed: Operation) -> Approved | Refused:
        """The verdict on one operation, which later ones are held against."""
        verdict = self._judge(proposed)
        if isinstance(verdict, Approved):
            verdict = self._bounded(verdict)
        if isinstance(verdict, Approved):
            self.approved[fact_id(verdict.operation.text)] = verdict.operation.text
            source = verdict.operation.sources[0]
            self.additions.append(_placed(verdict.operation, self.logs[source.path, source.blob]))
            if verdict.old is not None:
                self.replaced.add(verdict.old.id)
                self.losses_left -= verdict.operation.op is Op.SUPERSEDE
        return verdict

    def _bounded(self, verdict: Approved) -> Approved | Refused:
        """What a whole run may do at most, and last, because it is dear, the gate."""
        operation, old = verdict.operation, verdict.old
        if old is not None and old.id in self.replaced:
            return Refused(operation, Why.TARGET, Message("the fact {} was replaced in this run already", old.id))
        if operation.op is Op.SUPERSEDE and self.losses_left <= 0:
            return Refused(operation, Why.RETENTION, Message("a run replaces at most {} facts", self.losses))
        if old is None and not self.rules.may_grow:
            return Refused(operation, Why.SIZE, "MEMORY.md is full and nothing in it can be archived")
        blocked = self.rules.gate("\n".join([operation.text, operation.reason, *_cited(operation, self.logs)]))
        if blocked:
            return Refused(replace(operation, text="", reason=""), Why.GATE, Message("the gate stops it: {}", blocked))
        return verdict

    def _judge(self, proposed: Operation) -> Approved | Refused:
        """The operation by itself: its form, its sources, whether they bear it out, whose words it is."""
        if proposed.op is Op.SKIP:
            return Refused(proposed, Why.MODEL, proposed.reason or "the model skipped it")
        if problem := shape(proposed):
            return Refused(_short(proposed), Why.SHAPE, problem)
        operation = replace(proposed, text=normalise(proposed.text))
        if problem := sources(operation, self.logs):
            return Refused(operation, Why.SOURCE, problem)
        if has_mask("\n".join([operation.text, *_cited(operation, self.logs)])):
            return Refused(operation, Why.MASKED, "its line holds a mask: what stood there is hidden")
        if problem := _covered(operation, self.logs, self.rules):
            return Refused(operation, Why.COVERED, problem)
        if problem := _rejected(operation, self.rules):
            return Refused(operation, Why.REJECTED, problem)
        if len(self.approved) >= self.rules.limit:
            return self._over_limit(operation)
        if refused := self._ungrounded(operation):
            return refused
        operation = replace(operation, origin=self._origin(operation))
        if operation.origin in UNSEEN_ORIGINS and not _accepted(operation, self.rules):
            words = f"from {operation.origin}: a person lets it in with --accept {fact_id(operation.text)}"
            return Refused(operation, Why.ORIGIN, words)
        if operation.until and operation.until < self.rules.today.isoformat():
            return Refused(operation, Why.OVER, Message("it ended on {}", operation.until))
        return self._against_known(operation)

    def _over_limit(self, operation: Operation) -> Refused:
        """What a later run looks at in earnest; what is there already need not come back."""
        ident = fact_id(operation.text)
        if ident in self.facts or ident in self.approved:
            return Refused(operation, Why.DUPLICATE, "it is there already")
        words = f"over the limit of {self.rules.limit} facts a run; the next run takes it up"
        return Refused(operation, Why.LIMIT, words)

    def _ungrounded(self, operation: Operation) -> Refused | None:
        """The first thing it claims that its lines do not bear out, None where they bear out all."""
        texts = [self._cited_text(span) for span in operation.sources]
        cited = "\n".join(text for each in texts for text in each.texts)
        days = {self.logs[span.path, span.blob].day for span in operation.sources}
        for why, check in GROUNDING:
            if problem := check(operation.text, cited, days):
                return Refused(operation, why, problem)
        said = "\n".join(text for each in texts for text in each.statements)
        problem = ""
        if operation.type == "decision":
            problem = unreasoned(operation.text, said)
        if not problem:
            return None
        return Refused(operation, Why.REASON, problem)

    def _cited_text(self, span: Span) -> CitedText:
        lines = self.logs[span.path, span.blob].lines
        return cited_text(self.documents(span.path, span.blob), lines, span.start_line, span.end_line)

    def _topic(self, operation: Operation) -> tuple[str, str]:
        """(topic, rest) of a text that begins with what only the trail of its lines says; ("", the text) of another."""
        topic, colon, rest = operation.text.partition(": ")
        said = " ".join(text for span in operation.sources for text in self._cited_text(span).statements).casefold()
        if colon and rest and topic.casefold() not in said:
            return (topic, rest)
        return ("", operation.text)

    def _origin(self, operation: Operation) -> str:
        """The worst origin of what it says of itself, of the lines it cites and of the logs they stand in."""
        stated = [operation.origin]
        for span in operation.sources:
            lines = self.origins(span.path, span.blob)[span.start_line - 1 : span.end_line]
            stated += [self.logs[span.path, span.blob].origin, *lines]
        return worst_origin(*stated)

    def _against_known(self, operation: Operation) -> Approved | Refused:
        """The operation held against what is there: the same is refused; only what it surely replaces is replaced."""
        text, ident = operation.text, fact_id(operation.text)
        topic, bare = self._topic(operation)
        by_line = self._named(operation)
        named, operation = by_line is not operation, by_line
        target = next((f for f in self.facts.values() if operation.target and f.id.startswith(operation.target)), None)
        if operation.op in (Op.UPDATE, Op.SUPERSEDE) and target is None:
            return Refused(operation, Why.TARGET, "the fact it would change is not in MEMORY.md")
        if ident in self.approved or ident in self.facts or ident in self.rules.archived:
            return Refused(operation, Why.DUPLICATE, Message("it is there already ({})", ident))
        claimed, claimed_bare = claim(text), claim(bare)
        for fact in self.facts.values():
            if fact is target:
                continue
            known = self.claims[fact.id]
            if same(claimed, known) or (bare != text and same(claimed_bare, known) and _speaks_of(fact, topic)):
                return Refused(operation, Why.DUPLICATE, Message("it says the same as {}", fact.id))
        if any(same(claim(text), claim(other)) for other in self.approved.values()):
            return Refused(operation, Why.DUPLICATE, "it says the same as another fact of this run")
        log = self.logs[operation.sources[0].path, operation.sources[0].blob]
        new = _placed(operation, log)
        near = [(row, judge(row, new)) for row in self.standing.nearest(new.fact) if _speaks_of(row.fact, topic)]
        if operation.op is Op.ADD and (said := self._said_in_other_words(new, topic, near)):
            return Refused(operation, Why.DUPLICATE, said)
        proposes = ""
        if target is not None and why_not(target, new, corrects=operation.op is Op.UPDATE, named=named):
            proposes = ""
            if of_one_matter(text, target.text):
                proposes = target.id
            operation, target = replace(operation, op=Op.ADD, target=""), None
        if target is None:
            # The fact, not newer than the log, that an addition surely replaces or ends; of several the most alike.
            target = next((row.fact for row, found in near if row.day <= new.day and found.automatic), None)
            if target is not None:
                operation = replace(operation, op=Op.SUPERSEDE, target=target.id)
        elif operation.op is Op.UPDATE and likeness(terms(text), terms(target.text)) < UPDATED:
            # An update keeps the matter and corrects the words; anything else takes a fact away, and counts as that.
            operation = replace(operation, op=Op.SUPERSEDE)
        meta = with_until(meta_of(operation, log, target), self.rules.retention, self.rules.today)
        if proposes and target is None:
            meta += ((PROPOSES, proposes),)
        return Approved(operation, meta, target)

    def _said_in_other_words(self, new: Placed, topic: str, near: Iterable[tuple[Placed, Relation]]) -> str:
        """Why an addition is no news: a fact, or another of this run, surely says the same; "" where none does. `near`:
        the facts that may, each with what the addition is to it."""
        for row, found in near:
            if _surely_same(found):
                return Message("it says the same as {} in other words", row.fact.id)
        words = terms(new.fact.text)
        for other in self.additions:
            alike = likeness(words, terms(other.fact.text)) >= UPDATED
            if alike and _speaks_of(other.fact, topic) and _surely_same(judge(other, new)):
                return Message("it says the same as {} of this run in other words", other.fact.id)
        return ""

    def _named(self, operation: Operation) -> Operation:
        """The operation, with the fact that the line it cites says it supersedes where it names none itself."""
        if operation.target or operation.op is not Op.ADD:
            return operation
        said = (pair for line in _cited(operation, self.logs) for pair in parse_comment(line)[1])
        ident = next((value for key, value in said if key in (SUPERSEDES, PROPOSES) and value), "")
        known = any(ident and fact.id.startswith(ident) for fact in self.facts.values())
        if known:
            return replace(operation, op=Op.SUPERSEDE, target=ident)
        return operation


def _placed(operation: Operation, log: Log) -> Placed:
    """The fact of an operation, as it would stand in MEMORY.md, from the day of its log."""
    fact = Fact(operation.text, fact_id(operation.text), 0, meta=(("type", operation.type),))
    return Placed(MEMORY, fact, log.day.isoformat())


def _surely_same(found: Relation) -> bool:
    """Whether two statements surely say the same: of 1,766 labelled pairs 1 in 1,600 that do not are taken for it."""
    from gitmem.memory.relation import Kind

    return found.kind is Kind.SAME and found.probability >= SAID_AGAIN


def _speaks_of(fact: Fact, topic: str) -> bool:
    """Whether a fact, or what it stands under, has most words of a topic; one that stands under nothing
    and begins with no topic of its own may."""
    own = terms(topic)
    trail = [above for above in fact.trail if not names_no_thing(above)]
    if not own or (not trail and ": " not in fact.text):
        return True
    return len(own & terms(" ".join((fact.text, *trail)))) > TOPIC_SHARE * len(own)


def meta_of(operation: Operation, log: Log, old: Fact | None) -> tuple[tuple[str, str], ...]:
    """The comment of the fact: what the old one said of itself and is still so, then what is known now."""
    meta: list[tuple[str, str]] = [("type", operation.type)]
    meta += [("src", render_span(span)) for span in operation.sources]
    meta += _code_of(operation, log)
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
        if operation.op is Op.SUPERSEDE:
            ours |= {"code", "read"}
        kept = [
            (key, value) for key, value in old.meta if key not in ours | {SUPERSEDES, PROPOSES, "until", "confidence"}
        ]
        if operation.op is Op.UPDATE:
            kept += [pair for pair in old.meta if pair[0] == "src" and pair not in meta]
        meta += kept
        if operation.op is Op.SUPERSEDE:
            meta.append((SUPERSEDES, old.id))
    return tuple(meta)


def _code_of(operation: Operation, log: Log) -> list[tuple[str, str]]:
    """The code that the source lines cite, as who wrote them had read it, and what their session read of it."""
    spans = [span for span in operation.sources if span.path == log.path and span.blob == log.blob]
    lines = [line for span in spans for line in log.lines[span.start_line - 1 : span.end_line]]
    pairs = dict.fromkeys(pair for line in lines for pair in parse_comment(line)[1])
    return [pair for name in ("code", "read") for pair in [one for one in pairs if one[0] == name][:CITED]]


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
    if not rules.covered:
        return ""
    return "its source was promoted or refused before"


def _rejected(operation: Operation, rules: Rules) -> str:
    if text_hash(operation.text) not in rules.refused:
        return ""
    return "a person took it out before"


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
    text = ""
    if isinstance(operation.text, str):
        text = operation.text
    return replace(operation, text=normalise(text[:TEXT_LIMIT]), reason=str(operation.reason)[:TEXT_LIMIT])


def _number(value: float) -> float:
    if value != value:
        return 0.0
    return min(1.0, max(0.0, value))
