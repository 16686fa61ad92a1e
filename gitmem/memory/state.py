"""Whether a statement holds: the one answer for everything that gives memory to a model. Pure.

A statement has ended where its own line says so (`until`), was replaced where a fact names it (`supersedes=ID`) or,
in the archive, where it names that fact (`superseded-by=ID`), and was forgotten where a person took its text out. What
a fact is, its copies are: statements of the same text, and the lines that it cites and that still say it, unless a fact
that holds cites them too. A statement that cites code holds as far as that code stands (`memory/code_state`); it is
marked, not left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from types import MappingProxyType

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.memory.fact import fact_id, parse_span
from gitmem.memory.forgotten import recorded_text
from gitmem.memory.statements import Statement
from gitmem.paths import Kind, kind, log_date

_WORDS = lazy(r"\w+")
MIN_FACT_CHARACTERS = 15  # characters of a fact from which a longer text that has all its words in a row says it
SAYS = 0.5  # share of a fact's terms that the lines it cites must have to say it still
NO_MORE = 0.5  # share of a line's terms that such a fact must have for the line to say no more than the fact


class State(StrEnum):
    """Whether a statement holds, and why it does not."""

    HOLDS = "holds"
    ENDED = "ended"
    REPLACED = "replaced"
    FORGOTTEN = "forgotten"


class _Citation(NamedTuple):
    """Lines that a fact cites, and the fact's text."""

    first: int
    last: int
    said: str
    state: State


class Lapsed(NamedTuple):
    """What no longer holds of a memory on a day.

    `texts`: its state by the id of a text. `cited`: the lines of each path that facts cite. `since`: the day from which
    a text is replaced, where the fact that replaces it says so. `last`: the last day of a text that has ended. `said`:
    (words of a fact, its id), by which longer texts that say it are known."""

    day: date
    texts: Mapping[str, State] = MappingProxyType({})
    cited: Mapping[str, Sequence[_Citation]] = MappingProxyType({})
    since: Mapping[str, date] = MappingProxyType({})
    last: Mapping[str, date] = MappingProxyType({})
    said: Sequence[tuple[str, str]] = ()


class Judged(NamedTuple):
    """The state of some lines; `whole` is false where they also say something that has not that state."""

    state: State
    whole: bool = True


_HOLDS = Judged(State.HOLDS)


def may_lapse(line: str) -> bool:
    """Whether a line has the keys of a comment by which a fact is over or says that another is. Quick; a file of which
    no line has them lets nothing lapse."""
    return "until=" in line or "supersede" in line


def lapsed(
    memory: Sequence[Statement], archive: Iterable[Statement], today: date, forgotten: Collection[str] = ()
) -> Lapsed:
    """What no longer holds, by the statements of MEMORY.md and of its archive; `forgotten` are the ids of texts that a
    person took out. A text that stands in MEMORY.md and holds there, holds."""
    facts = _with_ids(memory)
    archived = _with_ids(archive)
    named = _replaced_by(memory)
    moved = {ident for _, ident in archived}  # what stands in MEMORY.md beside its archived copy was said again
    states = [(each, ident, _own_state(each, today)) for each, ident in facts]
    gone = named - moved
    states = [(each, ident, _or(state, State.REPLACED, ident in gone)) for each, ident, state in states]
    holding = {ident for _, ident, state in states if state is State.HOLDS}
    replaced = named | _replaced_by(each for each, _ in archived)
    replaced |= {ident for each, ident in archived if each.get("superseded-by")}
    texts = dict.fromkeys(replaced, State.REPLACED) | dict.fromkeys(forgotten, State.FORGOTTEN)
    texts |= {ident: state for _, ident, state in states if state is not State.HOLDS}
    for each, ident in archived:
        own = _own_state(each, today)
        if own is not State.HOLDS:
            texts.setdefault(ident, own)
        states.append((each, ident, texts.get(ident, State.HOLDS)))
    cited: dict[str, list[_Citation]] = {}
    for each, ident, state in states:
        for value in (value for key, value in each.meta if key == "src"):
            if (span := parse_span(value)) is not None:
                if ident in holding:
                    now = State.HOLDS
                else:
                    now = state
                lines = _Citation(span.start_line, span.end_line, each.text, now)
                cited.setdefault(span.path, []).append(lines)
    texts = {ident: state for ident, state in texts.items() if ident not in holding}
    known = [*facts, *archived]
    last = {ident: day for each, ident in known if (day := _day(each.get("until")))}
    said = [
        (words, ident)
        for each, ident in known
        if ident in texts and len(words := _plain(each.text)) >= MIN_FACT_CHARACTERS
    ]
    return Lapsed(today, texts, cited, _replaced_since(each for each, _ in known), last, said)


def _with_ids(found: Iterable[Statement]) -> list[tuple[Statement, str]]:
    """The statements that say something, each with the id of its text."""
    return [(each, fact_id(each.text)) for each in found if each.says and each.text]


def _plain(text: str) -> str:
    """The words of a text in lower case, without markup, a space between two."""
    return " ".join(_WORDS.findall(text.casefold()))


def _replaced_since(facts: Iterable[Statement]) -> dict[str, date]:
    """The day from which each fact is replaced, where the one that names it says since when it holds."""
    since: dict[str, date] = {}
    for each in facts:
        if (names := [value for key, value in each.meta if key == "supersedes"]) and (begin := _day(each.get("from"))):
            since |= dict.fromkeys(names, begin)
    return since


def _replaced_by(facts: Iterable[Statement]) -> set[str]:
    """The ids of the facts that these name as replaced."""
    return {value for each in facts for key, value in each.meta if key == "supersedes"}


def _or(state: State, other: State, applies: bool) -> State:
    if applies and state is State.HOLDS:
        return other
    return state


def states(found: Sequence[Statement], known: Lapsed, path: str = "") -> list[State]:
    """The state of each statement of a file: what its own line says, what its text is, what facts cite its lines."""
    day = log_date(path)
    return [of_lines(path, one.first, one.last, one.text, one.get("until"), known, day).state for one in found]


def of_lines(
    path: str, first: int, last: int, text: str, until: str, known: Lapsed, day: date | None = None
) -> Judged:  # fmt: skip
    """The state of lines of a file that say `text`; `until` is the last day that their comment names, "" for none. What
    was said on a `day` after a fact ended or was replaced was said again, and holds."""
    if has_ended(until, known.day):
        return Judged(State.ENDED)
    if known.texts and (ident := fact_id(text)) in known.texts and not _said_again(ident, day, known):
        return Judged(known.texts[ident])
    if known.said and kind(path) not in (Kind.MEMORY, Kind.ARCHIVE):
        words = f" {_plain(text)} "
        for part, ident in known.said:
            if f" {part} " in words and not _said_again(ident, day, known):
                return Judged(known.texts[ident], whole=len(words) - 2 == len(part))
    here = [each for each in known.cited.get(path, ()) if each.first <= last and first <= each.last]
    if not here or any(each.state is State.HOLDS for each in here):
        return _HOLDS
    from gitmem.memory.similarity import terms  # few lines are cited by a fact that does not hold

    own = terms(text)
    for each in here:
        said = terms(each.said)
        both = len(own & said)
        if both >= SAYS * len(said):
            return Judged(each.state, both >= NO_MORE * len(own))
    return _HOLDS


def _said_again(ident: str, day: date | None, known: Lapsed) -> bool:
    """Whether a text was said on a day after the fact of the same text ended or was replaced."""
    over = [end for end in (known.last.get(ident), known.since.get(ident)) if end is not None]
    return day is not None and bool(over) and day > max(over)


def of_text(text: str, known: Lapsed) -> State:
    """The state of a text that is copied: a working value, a line of a commit's message (`- TEXT (type)` with its
    sources, `memory: TEXT`)."""
    ids = {fact_id(each) for each in (text, recorded_text(text))} if known.texts else ()
    return next((known.texts[ident] for ident in ids if ident in known.texts), State.HOLDS)


def _own_state(statement: Statement, today: date) -> State:
    if has_ended(statement.get("until"), today):
        return State.ENDED
    return State.HOLDS


def has_ended(until: str, today: date) -> bool:
    """Whether the day of `until` is over; no day never is."""
    last = _day(until)
    return last is not None and last < today


def _day(text: str) -> date | None:
    """The day an ISO date or time begins with; None for another text."""
    try:
        if not text:
            return None
        return date.fromisoformat(text[:10])
    except ValueError:
        return None
