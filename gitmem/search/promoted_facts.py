"""Finds the fact that a log line was promoted to, so that a search shows the fact with the line below it.

A fact cites its sources in its comment. A cited line that shares too few words with the fact stays a hit of its own.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import parse_comment
from gitmem.memory.percent_encoding import decode
from gitmem.text.terms import terms

MIN_FACT_SHARE = 0.5  # least share of a fact's words in a line that says the same
MIN_LINE_SHARE = 0.5  # least share of a line's words in a fact that says the same
_SOURCE = lazy(r"\bsrc=([^\s#]+)#L([0-9]{1,7})(?:-L([0-9]{1,7}))?")
_ITEM = lazy(r"\s*(?:[-*+]|[0-9]{1,9}[.)])\s")


class FactLine(NamedTuple):
    """A fact in its file. `key`: (path, blob oid). `first`, `last`: its lines, from 1. `text`: without its comment."""

    key: tuple[str, str]
    first: int
    last: int
    text: str


class Citation(NamedTuple):
    """Lines that a fact cites as its source (`src=` in its comment). `first`, `last`: lines of the cited file, from 1.
    `fact`: the citing fact."""

    first: int
    last: int
    fact: FactLine


def citations_by_file(
    files: Iterable[tuple[tuple[str, str], Sequence[str]]], paths: Iterable[str]
) -> dict[str, list[Citation]]:
    """Path of a cited file -> the citations of its lines as the source of a fact (`src=`). `files`: ((path, blob oid),
    lines) of each file with facts. `paths`: the cited files that are of interest; others are left out."""
    wanted = set(paths)
    citations: dict[str, list[Citation]] = {}
    for key, lines in files:
        for number, line in enumerate(lines, 1):
            if "src=" not in line:
                continue
            for path, first, last in _sources(line):
                if path in wanted:
                    fact = _fact_at(key, lines, number)
                    citations.setdefault(path, []).append(Citation(first, last, fact))
    return citations


def _sources(line: str) -> Iterator[tuple[str, int, int]]:
    """Yield (path, first line, last line) for each `src` in a line."""
    for match in _SOURCE.finditer(line):
        first = int(match[2])
        yield decode(match[1]) if "%" in match[1] else match[1], first, int(match[3] or first)


def _fact_at(key: tuple[str, str], lines: Sequence[str], last: int) -> FactLine:
    """The fact whose comment is in line `last`. It begins at its list marker or after a blank line."""
    first = last
    while first > 1 and not _ITEM.match(lines[first - 1]) and lines[first - 2].strip():
        first -= 1
    texts = [parse_comment(line)[0] for line in lines[first - 1 : last]]
    return FactLine(key, first, last, " ".join(texts))


def promoted_fact(citations: Sequence[Citation], first: int, last: int, text: str) -> FactLine | None:
    """The fact that cites one of lines `first` to `last` and says the same: the lines have MIN_FACT_SHARE of its words,
    or it has MIN_LINE_SHARE of theirs. Of several it is the one with most words in common; None without one.

    `citations`: those of the file with these lines. `text`: of the lines.
    """
    line_terms = set(terms(text))
    best, most_shared = None, 0
    for citation in citations:
        if citation.first > last or citation.last < first:
            continue
        fact_terms = set(terms(citation.fact.text))
        shared = len(line_terms & fact_terms)
        says_same = shared >= MIN_FACT_SHARE * len(fact_terms) or shared >= MIN_LINE_SHARE * len(line_terms)
        if shared > most_shared and says_same:
            best, most_shared = citation.fact, shared
    return best
