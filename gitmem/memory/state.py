"""Whether a statement holds: the one answer for everything that gives memory to a model. Pure.

A statement has ended where its own line says so (`until`), was replaced where a fact names it (`supersedes=ID`), and
was forgotten where a person took its text out. What a fact is, its copies are: statements of the same text, and the
lines that it cites and that still say it, unless a fact that holds cites them too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum

from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import fact_id, parse_span
from gitmem.memory.similarity import terms
from gitmem.memory.statements import Statement

_RECORDED = lazy(r" \([a-z-]+\)(?: \S+#L\d\S*)*$")  # behind a fact in the message of its commit
SAYS = 0.5  # share of a fact's terms that the lines it cites must have to say it still


class State(StrEnum):
    """Whether a statement holds, and why it does not."""

    HOLDS = "holds"
    ENDED = "ended"
    REPLACED = "replaced"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class _Citation:
    """Lines that a fact cites, and the terms of its text."""

    first: int
    last: int
    said: frozenset[str]
    state: State

    def holding(self) -> _Citation:
        return replace(self, state=State.HOLDS)


@dataclass(frozen=True, slots=True)
class Lapsed:
    """What no longer holds of a memory on a day: texts by their id, and the lines of each path that facts cite."""

    day: date
    texts: Mapping[str, State] = field(default_factory=dict)
    cited: Mapping[str, Sequence[_Citation]] = field(default_factory=dict)


def lapsed(
    memory: Sequence[Statement], archive: Iterable[Statement], today: date, forgotten: Collection[str] = ()
) -> Lapsed:
    """What no longer holds, by the statements of MEMORY.md and of its archive; `forgotten` are the ids of texts that a
    person took out. A text that stands in MEMORY.md and holds there, holds."""
    replaced = _replaced_by(memory)
    states = [(each, fact_id(each.text), _own_state(each, today)) for each in memory if each.says and each.text]
    states = [(each, ident, _or(state, State.REPLACED, ident in replaced)) for each, ident, state in states]
    holding = {ident for _, ident, state in states if state is State.HOLDS}
    archive = [each for each in archive if each.says and each.text]
    replaced |= _replaced_by(archive)
    texts = dict.fromkeys(replaced, State.REPLACED) | dict.fromkeys(forgotten, State.FORGOTTEN)
    texts |= {ident: state for _, ident, state in states if state is not State.HOLDS}
    for each in archive:
        ident, own = fact_id(each.text), _own_state(each, today)
        if own is not State.HOLDS:
            texts.setdefault(ident, own)
        states.append((each, ident, texts.get(ident, State.HOLDS)))
    cited: dict[str, list[_Citation]] = {}
    for each, ident, state in states:
        for value in (value for key, value in each.meta if key == "src"):
            if (span := parse_span(value)) is not None:
                lines = _Citation(span.start_line, span.end_line, frozenset(terms(each.text)), state)
                cited.setdefault(span.path, []).append(lines if ident not in holding else lines.holding())
    return Lapsed(today, {ident: state for ident, state in texts.items() if ident not in holding}, cited)


def _replaced_by(facts: Iterable[Statement]) -> set[str]:
    """The ids of the facts that these name as replaced."""
    return {value for each in facts for key, value in each.meta if key == "supersedes"}


def _or(state: State, other: State, applies: bool) -> State:
    return other if applies and state is State.HOLDS else state


def states(found: Sequence[Statement], known: Lapsed, path: str = "") -> list[State]:
    """The state of each statement of a file: what its own line says, what its text is, what facts cite its lines."""
    cited = known.cited.get(path, ())
    return [_state(statement, known, cited) for statement in found]


def _state(statement: Statement, known: Lapsed, cited: Sequence[_Citation]) -> State:
    own = _own_state(statement, known.day)
    if own is not State.HOLDS:
        return own
    if known.texts and (state := known.texts.get(fact_id(statement.text))) is not None:
        return state
    here = [each for each in cited if each.first <= statement.last and statement.first <= each.last]
    if any(each.state is State.HOLDS for each in here):
        return State.HOLDS
    words = terms(statement.text) if here else set()
    return next((each.state for each in here if len(words & each.said) >= SAYS * len(each.said)), State.HOLDS)


def of_text(text: str, known: Lapsed) -> State:
    """The state of a text that is copied: a working value, a line of a commit's message (`- TEXT (type)` with its
    sources, `memory: TEXT`)."""
    bare = _RECORDED.sub("", text.removeprefix("memory: "))
    ids = {fact_id(each) for each in (text, bare)} if known.texts else ()
    return next((known.texts[ident] for ident in ids if ident in known.texts), State.HOLDS)


def _own_state(statement: Statement, today: date) -> State:
    return State.ENDED if has_ended(statement.get("until"), today) else State.HOLDS


def has_ended(until: str, today: date) -> bool:
    """Whether the day of `until` is over; no day never is."""
    try:
        return date.fromisoformat(until[:10]) < today
    except ValueError:
        return False
