"""Splits a Markdown file into lines, each with its headings, its parent list items and its fenced block. Pure.

Front matter and HTML comments are left out, as they say nothing about the tree. Nothing inside a line is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gitmem.fences import closes_fence, opening_fence

MAX_LINE_CHARACTERS = 2_000  # a longer line is data, and left out
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_ITEM = re.compile(r"^([ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(.*)$")


class MarkedLine(NamedTuple):
    """One line.

    `number`: its number, from 1. `text`: the line with its HTML comments blanked. `block`: the number of its fenced
    block in the file, from 1; 0 outside a block. `language`: the language of that block in lower case, "" without.
    `trail`: the headings above it, `parents`: the list items it is below, both from the outermost in.
    """

    number: int
    text: str
    block: int = 0
    language: str = ""
    trail: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()


def marked_lines(text: str) -> Iterator[MarkedLine]:
    """The lines of a file in order, without the front matter, blank lines, the marks of fences, and lines over
    MAX_LINE_CHARACTERS."""
    lines = text.split("\n")
    headings: list[tuple[int, str]] = []
    items: list[tuple[int, str]] = []
    fence = language = ""
    block, comment = 0, False
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r")
        if number <= _front_matter(lines) or not line.strip() or len(line) > MAX_LINE_CHARACTERS:
            continue
        if fence:
            if closes_fence(line, fence):
                fence = ""
            else:
                yield MarkedLine(number, line, block, language, _words(headings), _words(items))
            continue
        line, comment = without_comments(line, comment)
        bare = line.lstrip(" \t")
        item = _ITEM.match(line)
        content = item[2] if item else bare
        if mark := opening_fence(content):
            fence, block = mark, block + 1
            language = content[len(mark) :].strip().split(" ")[0].strip("{}").lower()
            continue
        if heading := _HEADING.match(line):
            level = len(heading[1])
            headings = [*[pair for pair in headings if pair[0] < level], (level, heading[2])]
            items = []
            yield MarkedLine(number, line, 0, "", _words(headings[:-1]))
            continue
        indent = len(line) - len(bare)
        if item:
            items = [pair for pair in items if pair[0] < indent]
        elif indent == 0:
            items = []
        if line.strip():
            yield MarkedLine(number, line, 0, "", _words(headings), _words(items))
        if item:
            items.append((indent, item[2]))


def _words(pairs: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(words for _, words in pairs)


def _front_matter(lines: Sequence[str]) -> int:
    """The number of the line that closes the front matter; 0 without front matter, or if it is longer than 60 lines."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((number for number, line in enumerate(lines[1:60], 2) if line.rstrip() == "---"), 0)


def without_comments(line: str, inside: bool) -> tuple[str, bool]:
    """(the line with its HTML comments replaced by spaces, whether a comment is open at its end). `inside`: whether a
    comment is open at its start."""
    shown = ""
    while line:
        if inside:
            before, end, line = line.partition("-->")
            shown += " " * len(before + end)
            inside = not end
        else:
            before, begin, line = line.partition("<!--")
            shown += before + " " * len(begin)
            inside = bool(begin)
    return shown, inside
