"""A search's answer as JSON and pages show it, and excerpts of passages for people and models."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.search.search import Answer


MAX_SHOWN_LINES = 12  # lines of a passage that a person sees
MAX_LINE_CHARACTERS = 500  # characters of a line that a person sees
MAX_PASSAGE_CHARACTERS = 4000  # characters of a passage that a tool's answer has whole, and of a line that JSON has


def shown(answer: Answer) -> Answer:
    """The answer as its JSON has it: the notes say why the index is stale and where else to look, and the long
    lines of hits are cut.

    Of a line longer than MAX_PASSAGE_CHARACTERS, `text` has the part that matches best; `cut` counts the characters
    left out.
    """
    notes = answer.notes
    if answer.stale and answer.reason:
        notes += (answer.reason,)
    if answer.hint:
        notes += (answer.hint,)
    hits = []
    for hit in answer.hits:
        text, cut = _without_long_lines(hit.text, answer.query)
        hits.append(hit._replace(text=text, cut=cut))
    return answer._replace(notes=notes, hits=tuple(hits))


def excerpt(text: str, query: str) -> list[str]:
    """The lines of a passage for a person: all of a short passage, else at most MAX_SHOWN_LINES.

    Of a long passage these are the lines around the one with most of the query's words, of a long line the part with
    most of them; the beginning if there are none. Lines in between tell how much was left out.
    """
    lines = text.split("\n")
    if len(lines) <= MAX_SHOWN_LINES + 2 and len(text) <= MAX_LINE_CHARACTERS:
        return lines
    marks = marked_words(query)
    lines_before = lines_after = 0
    if len(lines) > MAX_SHOWN_LINES + 2:
        words = [word.lower() for word in re.findall(r"\w+", query)]
        counts = [
            2 * sum(word in line.lower() for word in words) + len(marks.findall(line)) if marks else 0 for line in lines
        ]
        best = max(range(len(lines)), key=lambda number: (counts[number], -number))
        if counts[best]:
            lines_before = min(max(0, best - MAX_SHOWN_LINES // 2), len(lines) - MAX_SHOWN_LINES)
        lines_after = len(lines) - lines_before - MAX_SHOWN_LINES
    rows = [_narrow(line, marks) for line in lines[lines_before : len(lines) - lines_after]]
    if lines_before:
        rows.insert(0, f"... {lines_before} lines before")
    if lines_after:
        rows.append(f"... {lines_after} more lines")
    return rows


def shortened(text: str, query: str) -> str:
    """The text of a passage for a model: whole, or its `excerpt` if it has more than MAX_PASSAGE_CHARACTERS."""
    if len(text) <= MAX_PASSAGE_CHARACTERS:
        return text
    return "\n".join(excerpt(text, query))


def _narrow(line: str, marks: re.Pattern[str] | None) -> str:
    """A line cut to MAX_LINE_CHARACTERS around its best part."""
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    begin = _densest(line, marks, MAX_LINE_CHARACTERS)
    remaining = len(line) - begin - MAX_LINE_CHARACTERS
    return (
        ("... " if begin else "")
        + line[begin : begin + MAX_LINE_CHARACTERS]
        + (f" ... {remaining} more characters" if remaining > 0 else "")
    )


def _without_long_lines(text: str, query: str) -> tuple[str, int]:
    """A passage, each line of more than MAX_PASSAGE_CHARACTERS cut to its best part between ellipses, and the number of
    characters left out."""
    if len(text) <= MAX_PASSAGE_CHARACTERS:
        return text, 0
    marks = marked_words(query)
    lines, cut = [], 0
    for line in text.split("\n"):
        begin = 0
        if len(line) > MAX_PASSAGE_CHARACTERS:
            begin = _densest(line, marks, MAX_PASSAGE_CHARACTERS)
        end = begin + MAX_PASSAGE_CHARACTERS
        cut += max(0, len(line) - MAX_PASSAGE_CHARACTERS)
        part = line[begin:end]
        if begin:
            part = f"…{part}"
        if end < len(line):
            part += "…"
        lines.append(part)
    return "\n".join(lines), cut


def _densest(line: str, marks: re.Pattern[str] | None, width: int) -> int:
    """The offset of the part of `width` characters that has the most different words of the query; 0 without any.

    A quarter of the part stands before its first word.
    """
    if marks:
        matches = [(match.start(), match[0].lower()) for match in marks.finditer(line)]
    else:
        matches = []
    inside: Counter[str] = Counter()
    first, best, most_words = 0, 0, 0
    for offset, word in matches:
        inside[word] += 1
        while offset - matches[first][0] > width * 3 // 4:
            inside[matches[first][1]] -= 1
            first += 1
        different = sum(count > 0 for count in inside.values())
        if different > most_words:
            best, most_words = matches[first][0], different
    return max(0, min(best - width // 4, len(line) - width))


def marked_words(query: str) -> re.Pattern[str] | None:
    """A pattern that finds the query's words in a text, to mark them; of a Latin word its beginning, so that other
    forms are found too. None if the query has only stop words."""
    from gitmem.text.terms import STOP

    words = []
    for word in re.findall(r"\w+", query):
        if word.lower() in STOP:
            continue
        if word.isascii():
            words.append(rf"\b{re.escape(word[: max(4, len(word) - 3)])}\w*")
        else:
            words.append(re.escape(word[: max(2, len(word) - 1)]))
    return re.compile("|".join(words), re.IGNORECASE) if words else None
