"""Which fact a line of a log was promoted to: so that a search answers with the fact, and the log's line stands below.

Goes by the sources that facts cite in their comments, and by words: a line that says other things than the fact which
cites it stays an answer of its own. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.memory.fact import decode, parse_comment
from gitmem.text.terms import terms

SAYS = 0.5  # share of a fact's words that a line must have to be what the fact says
NO_MORE = 0.5  # share of a line's words that a fact must have for the line to say no more than the fact
_SOURCE = lazy(r"\bsrc=([^\s#]+)#L([0-9]{1,7})(?:-L([0-9]{1,7}))?")
_ITEM = lazy(r"\s*(?:[-*+]|[0-9]{1,9}[.)])\s")


class FactLine(NamedTuple):
    """The lines of a fact in its file (`key`: path and blob), and what it says."""

    key: tuple[str, str]
    first: int
    last: int
    text: str


class Citing(NamedTuple):
    """Lines that a fact cites, 1-based."""

    first: int
    last: int
    fact: FactLine


def citing(files: Iterable[tuple[tuple[str, str], Sequence[str]]], paths: Iterable[str]) -> dict[str, list[Citing]]:
    """Path -> the lines of it that facts of these files cite, for the paths that are wanted. `files` are (path and
    blob, lines) of long-term memory."""
    wanted = set(paths)
    found: dict[str, list[Citing]] = {}
    for key, lines in files:
        for number, line in enumerate(lines, 1):
            if "src=" not in line:
                continue
            for path, first, last in _sources(line):
                if path in wanted:
                    fact = _fact_at(key, lines, number)
                    found.setdefault(path, []).append(Citing(first, last, fact))
    return found


def _sources(line: str) -> Iterator[tuple[str, int, int]]:
    for match in _SOURCE.finditer(line):
        first = int(match[2])
        yield decode(match[1]) if "%" in match[1] else match[1], first, int(match[3] or first)


def _fact_at(key: tuple[str, str], lines: Sequence[str], last: int) -> FactLine:
    """The fact whose comment stands on line `last`: from the line with its marker, or below a blank one, to there."""
    first = last
    while first > 1 and not _ITEM.match(lines[first - 1]) and lines[first - 2].strip():
        first -= 1
    said = [parse_comment(line)[0] for line in lines[first - 1 : last]]
    return FactLine(key, first, last, " ".join(said))


def fact_of(here: Sequence[Citing], first: int, last: int, text: str) -> FactLine | None:
    """The fact among those that cite lines `first` to `last` that says what they say, the one with most of their words;
    None where they say something else."""
    own = set(terms(text))
    best, most = None, 0
    for one in here:
        if one.first > last or one.last < first:
            continue
        said = set(terms(one.fact.text))
        both = len(own & said)
        same = both >= SAYS * len(said) or both >= NO_MORE * len(own)
        if both > most and same:
            best, most = one.fact, both
    return best
