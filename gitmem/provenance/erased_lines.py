"""The lines of a memory file that say a text which is to be forgotten, and what happens to each of them. Pure.

A line that says nothing else is removed, and on a line that says more the text is masked. Other facts that say more,
headings and instructions stay. The statements of an episode are also compared with the text in other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from gitmem.memory import facts as memory_facts
from gitmem.memory.deciding_words import without_deciding_words
from gitmem.memory.fact import Fact, fact_id, normalise
from gitmem.memory.facts import Entry
from gitmem.memory.forgotten import MASK, pattern_of
from gitmem.memory.relation import Kind as Relates
from gitmem.memory.rivals import PlacedFact, judge, share_enough_words
from gitmem.memory.similarity import adds_nothing, is_near_duplicate
from gitmem.paths import Kind, kind
from gitmem.text.sentences import sentences

LONG_TERM_KINDS = (Kind.MEMORY, Kind.ARCHIVE)
GUARDED_KINDS = (Kind.INSTRUCTIONS, Kind.RULE, Kind.SKILL)  # instructions by people, which are never changed
TOPICS = "topics"  # heading of an episode's list of words, which is no statement
MIN_SAME_CHANCE = 0.1  # that two statements say the same, from which a person is told of the line; it stays as it is


class Change(StrEnum):
    """What happens to a line that has the forgotten text, or that is a source of it."""

    REMOVED = "removed"
    MASKED = "masked"  # only the text on the line is replaced
    LEFT = "left"
    UNSURE = "unsure"  # a sentence of an episode may say the same in other words; the line stays


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line of a file before the commit, and what happens to it.

    `line`: its number, from 1. `text`: the line. `verbatim`: the line or its statement has the forgotten text; False
    for one in other words. `said`: the sentences of an episode's statement that say it in other words.
    """

    path: str
    line: int
    change: Change
    text: str
    verbatim: bool = True
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """The text to forget, and the source lines of its fact.

    `texts`: the text with and without its label, normalised and case-folded. `pattern`: finds the texts. `sources`:
    (path, text) of the source lines. `said`: the text and its source lines as statements, which an episode's are
    compared with.
    """

    texts: tuple[str, ...]
    pattern: re.Pattern[str]
    sources: frozenset[tuple[str, str]]
    said: tuple[PlacedFact, ...]


def line_changes(path: str, data: bytes, target: Target, places: set[tuple[str, int]]) -> Iterator[LineChange]:
    """What happens to each line of a file that has the text, is one of its sources, or is of an episode's statement
    that says or may say it in other words. `places`: (path, line) of the facts to remove.

    Everything indented below a removed statement is removed with it.
    """
    memory = memory_facts.parse(data)
    lines = [line.rstrip("\r\n") for line in memory.lines]
    entries = {entry.start: entry for entry in memory.entries}
    first = 1
    while first <= len(lines):
        entry = entries.get(first)
        fact, last, text = None, first, normalise(lines[first - 1])
        if entry:
            fact, last, text = entry.fact, entry.fact.end, entry.fact.text
        text = text.casefold()
        block = "\n".join(lines[first - 1 : last])
        has_text = any(forgotten in text for forgotten in target.texts) or target.pattern.search(block)
        if not has_text and (path, first) not in places:
            cited = False
            for number in range(first, last + 1):
                line = lines[number - 1]
                if (path, normalise(line).casefold()) in target.sources:
                    yield LineChange(path, number, _change_of_source(path, line, fact), line, verbatim=False)
                    cited = True
            if entry and not cited and kind(path) is Kind.SESSION and entry.fact.heading.casefold() != TOPICS:
                yield from _changes_in_other_words(path, entry, lines, target)
            first = last + 1
            continue
        change = _change_of(path, text, target, fact)
        numbers = [first]
        if change is Change.REMOVED and entry:
            last = entry.end
            numbers = list(range(first, last + 1))
        elif change is Change.MASKED:
            numbers = [first + offset for offset in _offsets_with_text(block, target)]
            if not numbers:
                numbers, change = [first], Change.LEFT
        for number in numbers:
            yield LineChange(path, number, change, lines[number - 1])
        first = last + 1


def _changes_in_other_words(path: str, entry: Entry, lines: Sequence[str], target: Target) -> Iterator[LineChange]:
    """The changes of a statement of an episode that says the text in other words: it is removed if each of its
    sentences surely does and nothing stands below it, else these sentences are masked. A statement that only may say it
    is UNSURE. Nothing for any other statement."""
    fact = entry.fact
    all_sentences = sentences(fact.text)
    matching = tuple(sentence for sentence in all_sentences if _says_it(sentence, target))
    numbers = range(fact.line, fact.end + 1)
    if matching and not is_lasting(path, fact):
        change = Change.MASKED
        if len(matching) == len(all_sentences) and entry.end == fact.end:
            change = Change.REMOVED
        for number in numbers:
            yield LineChange(path, number, change, lines[number - 1], verbatim=False, said=matching)
    elif matching or any(_may_say_it(sentence, target) for sentence in all_sentences):
        yield LineChange(path, fact.line, Change.UNSURE, lines[fact.line - 1], verbatim=False)


def _says_it(sentence: str, target: Target) -> bool:
    """Whether a sentence surely says the text or one of its source lines: it is a near-duplicate of it, with or without
    words like `we decided that`."""
    bare = without_deciding_words(sentence)
    return any(
        is_near_duplicate(sentence, row.fact.text) or is_near_duplicate(bare, without_deciding_words(row.fact.text))
        for row in target.said
    )


def _may_say_it(sentence: str, target: Target) -> bool:
    """Whether a sentence may say the text in other words: `relation` gives that a chance of at least MIN_SAME_CHANCE,
    or the sentence has nearly all words of the text."""
    row = PlacedFact("", Fact(sentence, fact_id(sentence), 0, "", ()))
    similar = [forgotten for forgotten in target.said if share_enough_words(forgotten.fact.text, sentence)]
    return any(
        adds_nothing(forgotten.fact.text, sentence)
        or judge(forgotten, row, as_if_derived=True).probabilities[Relates.SAME] >= MIN_SAME_CHANCE
        for forgotten in similar
    )


def _offsets_with_text(block: str, target: Target) -> list[int]:
    """The numbers, from 0 and ascending, of the lines of a statement that have part of the text word for word."""
    offsets: set[int] = set()
    for match in target.pattern.finditer(block):
        offsets.update(range(block.count("\n", 0, match.start()), block.count("\n", 0, match.end()) + 1))
    return sorted(offsets)


def _change_of(path: str, text: str, target: Target, fact: Fact | None) -> Change:
    """The change of a statement or line that has the forgotten text: LEFT in an instruction file and for another fact
    that says more, REMOVED when it says nothing else, else MASKED. `fact` is None for a line of no statement."""
    if kind(path) in GUARDED_KINDS:
        return Change.LEFT
    if text in target.texts:
        return Change.REMOVED
    if fact and is_lasting(path, fact):  # another fact, which says more
        return Change.LEFT
    return Change.MASKED


def _change_of_source(path: str, line: str, fact: Fact | None) -> Change:
    """The change of a source line in other words: LEFT in an instruction file, for a lasting fact and for a heading,
    since other entries are below it; else REMOVED."""
    if kind(path) in GUARDED_KINDS or (fact and is_lasting(path, fact)) or line.startswith("#"):
        return Change.LEFT
    return Change.REMOVED


def is_lasting(path: str, fact: Fact) -> bool:
    """Whether the statement is a fact of long-term memory, and no line of a log."""
    return kind(path) in LONG_TERM_KINDS or bool(fact.get("src"))


def with_changes(data: bytes, path: str, changes: tuple[LineChange, ...], target: Target) -> bytes:
    """The bytes of the file after the changes of its lines."""
    change_of_line = {row.line: row.change for row in changes if row.path == path}
    result = []
    other_words = pattern_of(sentence for row in changes if row.path == path for sentence in row.said)
    rows = enumerate(memory_facts.split_lines(data), 1)
    for change, group in groupby(rows, key=lambda row: change_of_line.get(row[0])):
        text = "".join(raw for _, raw in group)
        if change is Change.MASKED:  # the text may go over several lines
            text = other_words.sub(MASK, target.pattern.sub(MASK, text))
        if change is not Change.REMOVED:
            result.append(text)
    return "".join(result).encode("utf-8", "surrogateescape")
