"""Decides whether a statement still holds. All code that gives memory to a model asks this module. Pure.

A statement has *ended* if the day of its `until` is over. It is *replaced* if a fact names it (`supersedes=ID`), or if
it is in the archive and names its successor (`superseded-by=ID`). It is *forgotten* if a person removed its text from
memory. The state of a fact also applies to its copies: statements with the same text, and the lines that the fact
cites, if these lines still say the fact and no fact that holds cites them too. A statement whose cited code has changed
is not left out but marked (`memory/code_state`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import cited_spans, fact_id, values_of
from gitmem.memory.forgotten import recorded_text
from gitmem.memory.statements import Statement
from gitmem.paths import Kind, kind, log_date

_WORDS = lazy(r"\w+")
MIN_FACT_CHARACTERS = 15  # a longer text repeats a fact of at least this length if it has all its words in a row
SAYS = 0.5  # least share of a fact's terms in the cited lines for these lines to say the fact
NO_MORE = 0.5  # least share of the lines' terms in that fact for the lines to say nothing else


class State(StrEnum):
    """Whether a statement holds, or why it does not. ENDED: its last day is over. REPLACED: another fact took its
    place. FORGOTTEN: a person removed its text."""

    HOLDS = "holds"
    ENDED = "ended"
    REPLACED = "replaced"
    FORGOTTEN = "forgotten"


class _Citation(NamedTuple):
    """Lines `first` to `last` of a file, which a fact cites, with the text and the state of this fact."""

    first: int
    last: int
    text: str
    state: State


class LapsedFacts(NamedTuple):
    """The facts of a memory that no longer hold on `day`.

    `texts`: fact id -> state, for facts that do not hold. `cited`: path -> the line ranges of it that facts cite.
    `since`: fact id -> the day from which the fact is replaced, if its successor has a `from`. `last`: fact id -> the
    last day of a fact that has an `until`. `repeated`: (words, fact id) of the facts in `texts` that are long enough to
    be found inside longer texts.
    """

    day: date
    texts: Mapping[str, State] = MappingProxyType({})
    cited: Mapping[str, Sequence[_Citation]] = MappingProxyType({})
    since: Mapping[str, date] = MappingProxyType({})
    last: Mapping[str, date] = MappingProxyType({})
    repeated: Sequence[tuple[str, str]] = ()


class LinesState(NamedTuple):
    """The state of some lines. `whole`: False if the lines also say something that does not have this state."""

    state: State
    whole: bool = True


_HOLDS = LinesState(State.HOLDS)


def may_lapse(line: str) -> bool:
    """A quick test: whether a line may have a key that ends a fact or replaces another one (`until`, `supersedes`). If
    no line of a file passes the test, `lapsed_facts` finds nothing in the file."""
    return "until=" in line or "supersede" in line


def lapsed_facts(
    memory: Sequence[Statement], archive: Iterable[Statement], today: date, forgotten: Collection[str] = ()
) -> LapsedFacts:
    """The facts that no longer hold, from the statements of MEMORY.md and of its archive.

    `forgotten`: ids of texts that a person removed. A fact that holds in MEMORY.md holds, whatever the archive says.
    """
    facts = _with_ids(memory)
    archived = _with_ids(archive)
    superseded = _superseded_ids(memory)
    # A fact of MEMORY.md with an archived copy was stated again after it was replaced: it holds.
    replaced_here = superseded - {ident for _, ident in archived}
    states: list[tuple[Statement, str, State]] = []
    for fact, ident in facts:
        state = _own_state(fact, today)
        if state is State.HOLDS and ident in replaced_here:
            state = State.REPLACED
        states.append((fact, ident, state))
    holding = {ident for _, ident, state in states if state is State.HOLDS}
    replaced = superseded | _superseded_ids(fact for fact, _ in archived)
    replaced |= {ident for fact, ident in archived if fact.get("superseded-by")}
    texts = dict.fromkeys(replaced, State.REPLACED) | dict.fromkeys(forgotten, State.FORGOTTEN)
    texts |= {ident: state for _, ident, state in states if state is not State.HOLDS}
    for fact, ident in archived:
        own_state = _own_state(fact, today)
        if own_state is not State.HOLDS:
            texts.setdefault(ident, own_state)
        states.append((fact, ident, texts.get(ident, State.HOLDS)))
    cited = _citations(states, holding)
    texts = {ident: state for ident, state in texts.items() if ident not in holding}
    all_facts = [*facts, *archived]
    last_days: dict[str, date] = {}
    repeated: list[tuple[str, str]] = []
    for fact, ident in all_facts:
        last_day = iso_day(fact.get("until"))
        if last_day:
            last_days[ident] = last_day
        if ident in texts:
            words = _plain(fact.text)
            if len(words) >= MIN_FACT_CHARACTERS:
                repeated.append((words, ident))
    return LapsedFacts(today, texts, cited, _replaced_since(fact for fact, _ in all_facts), last_days, repeated)


def _citations(states: Iterable[tuple[Statement, str, State]], holding: Collection[str]) -> dict[str, list[_Citation]]:
    """Path -> the line ranges of it that facts cite. `states`: (fact, its id, its state). `holding`: ids of facts that
    hold, whatever their state in `states`."""
    cited: dict[str, list[_Citation]] = {}
    for fact, ident, state in states:
        if ident in holding:
            state = State.HOLDS
        for span in cited_spans(fact.meta):
            citation = _Citation(span.start_line, span.end_line, fact.text, state)
            cited.setdefault(span.path, []).append(citation)
    return cited


def _with_ids(statements: Iterable[Statement]) -> list[tuple[Statement, str]]:
    """The statements with content, each with the id of its text."""
    return [(row, fact_id(row.text)) for row in statements if row.has_content and row.text]


def _plain(text: str) -> str:
    """The words of a text in lower case with single spaces between them; markup and punctuation are left out."""
    return " ".join(_WORDS.findall(text.casefold()))


def _replaced_since(facts: Iterable[Statement]) -> dict[str, date]:
    """Fact id -> the day from which the fact is replaced, where its successor has a `from`."""
    since: dict[str, date] = {}
    for fact in facts:
        if begin := iso_day(fact.get("from")):
            since |= dict.fromkeys(_superseded_ids([fact]), begin)
    return since


def _superseded_ids(facts: Iterable[Statement]) -> set[str]:
    """The ids in the `supersedes` keys of these facts."""
    return {value for fact in facts for value in values_of(fact.meta, "supersedes")}


def states_of(statements: Sequence[Statement], lapsed: LapsedFacts, path: str = "") -> list[State]:
    """The state of each statement of the file `path`, in order. `lapsed`: the facts that no longer hold."""
    day = log_date(path)
    rows = (MemoryLines(path, row.first, row.last, row.text, row.get("until"), day) for row in statements)
    return [state_of_lines(lines, lapsed).state for lines in rows]


class MemoryLines(NamedTuple):
    """Lines `first` to `last` of the file `path`; `text` is what they say.

    `until`: the last day that their own comment names, "" without one. `day`: the day on which they were written, None
    if unknown.
    """

    path: str
    first: int
    last: int
    text: str
    until: str = ""
    day: date | None = None


def state_of_lines(lines: MemoryLines, lapsed: LapsedFacts) -> LinesState:
    """The state of some lines: that of a fact with the same text, else of one whose words they have in a row, else of
    one that cites them and that they say. HOLDS if there is none, or if a fact that holds cites them too. Lines that
    repeat a fact after it ended or was replaced state it again, and hold."""
    path, first, last, text, until, day = lines
    if has_ended(until, lapsed.day):
        return LinesState(State.ENDED)
    if lapsed.texts and (ident := fact_id(text)) in lapsed.texts and not _said_again(ident, day, lapsed):
        return LinesState(lapsed.texts[ident])
    if lapsed.repeated and kind(path) not in (Kind.MEMORY, Kind.ARCHIVE):
        words = f" {_plain(text)} "
        for part, ident in lapsed.repeated:
            if f" {part} " in words and not _said_again(ident, day, lapsed):
                return LinesState(lapsed.texts[ident], whole=len(words) - 2 == len(part))
    citations = [cited for cited in lapsed.cited.get(path, ()) if cited.first <= last and first <= cited.last]
    if not citations or any(citation.state is State.HOLDS for citation in citations):
        return _HOLDS
    from gitmem.memory.similarity import terms  # few lines are cited by a fact that does not hold

    line_terms = terms(text)
    for citation in citations:
        fact_terms = terms(citation.text)
        shared = len(line_terms & fact_terms)
        if shared >= SAYS * len(fact_terms):
            return LinesState(citation.state, shared >= NO_MORE * len(line_terms))
    return _HOLDS


def _said_again(ident: str, day: date | None, lapsed: LapsedFacts) -> bool:
    """Whether `day` is after the day on which the fact ended or was replaced, so that the lines of that day state it
    again. False if one of the days is unknown."""
    ends = [end for end in (lapsed.last.get(ident), lapsed.since.get(ident)) if end is not None]
    return day is not None and bool(ends) and day > max(ends)


def state_of_text(text: str, lapsed: LapsedFacts) -> State:
    """The state of a copy of a fact: a working value, or a line of a commit's message (`recorded_text`). HOLDS for a
    text that is no copy of a fact in `known.texts`."""
    if not lapsed.texts:
        return State.HOLDS
    ids = {fact_id(words) for words in (text, recorded_text(text))}
    return next((lapsed.texts[ident] for ident in ids if ident in lapsed.texts), State.HOLDS)


def _own_state(statement: Statement, today: date) -> State:
    """ENDED after the day in `until`, otherwise HOLDS; other facts are not looked at."""
    return State.ENDED if has_ended(statement.get("until"), today) else State.HOLDS


def has_ended(until: str, today: date) -> bool:
    """Whether the day at the start of `until` (an ISO date or time) is before `today`; False if `until` is empty or
    begins with no date."""
    last_day = iso_day(until)
    return last_day is not None and last_day < today


def iso_day(text: str) -> date | None:
    """The day of the ISO date with which a text begins, whatever follows it; None for any other text."""
    if not text:
        return None
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None
