"""Links between the lines that answer a question: which later line replaces or ends which earlier one.

`memory/relation` alone judges what two lines are to each other, unless a person decided it: the key `supersedes=ID` in
a line's comment names what the line replaces, and that line is then not judged (`supersedes=nothing`: it replaces
nothing). Links depend on the answering lines, their trails, days and origins only: one snapshot and question give the
same links after a rebuild and in every clone. Nothing is stored.

A link deletes and hides nothing. Of two lines about one property of one thing the later comes first; the older one is
marked only if the judgement is nearly sure (MARKED). Only a reviewed line replaces a reviewed line; any other link to a
reviewed line is a proposal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text.subject_terms import STOP
from gitmem.text.terms import terms

MARKED = 0.85  # probability that the older line no longer holds, from which it is marked
LIKELY = 0.25  # probability that both are about one property of one thing, from which the later comes first
EVEN = 0.5  # probability that the two disagree, from which the later one says so
SCORE = 0.3  # share of the older line's score that the later line needs for a link
SHARED = 0.2  # share of the shorter line's words that the other line needs for the two to be judged
ALIKE = 0.5  # the same share, for Git to be asked when lines without a day were written
MAX_UNDATED_PAIRS = 4  # pairs of lines without a day that Git is asked about
MAX_PAIRS = 16  # pairs of lines that are judged
MAX_REPLACED = 20  # lines that may be replaced: the best ones
EARLY, LATE = "0001-01-01", "9999-12-31"  # stand for days that are not known yet
STEP = 1e-6
_SPEAKER = lazy(r"\W*\w+(?: \w+)?[:：]\s")  # begins a turn of a conversation


class Line(NamedTuple):
    """A line that answers the question, as links need it.

    `day`, `time`: when it was said, ISO, "" if unknown. `place`: its file and line number. `reviewed`: a person
    reviewed it. `named`: positions of the lines that a person said it replaces, None if nobody did. `beside`: positions
    of lines that a person said hold together with it. `said`: returns the text of its statement ("" for a secret) and
    its trail. `written`: returns the ISO time of its commit. `deciding`: it may replace others; a question, a block of
    code or a repeated line may not.
    """

    text: str
    day: str
    score: float
    time: str = ""
    place: tuple[str, int] = ("", 0)
    reviewed: bool = False
    origin: str = ""
    named: frozenset[int] | None = None
    beside: frozenset[int] = frozenset()
    said: Callable[[], tuple[str, tuple[str, ...]]] = lambda: ("", ())
    written: Callable[[], str] = str
    type: str = ""
    deciding: bool = True


class Link(NamedTuple):
    """The line at position `new` is later than the one at `old` and about the same.

    `proposed`: it takes a review to hold. `over`: probability that the older line no longer holds. `differs`:
    probability that the two disagree. `day`: of the later line, "" if a person made the link.
    """

    new: int
    old: int
    proposed: bool
    over: float = 1.0
    differs: float = 1.0
    reason: str = ""
    day: str = ""

    @property
    def marked(self) -> bool:
        return self.over >= MARKED

    @property
    def doubtful(self) -> bool:
        """Whether the two disagree and it is not known which of them holds."""
        return not self.marked and self.differs >= EVEN


def links(lines: Sequence[Line]) -> list[Link]:
    """The links between these lines. `lines`: best first."""
    made = []
    for new, later in enumerate(lines):
        if later.named is not None and later.deciding:
            made += [Link(new, old, _proposed(later, lines[old])) for old in sorted(later.named)]
    words = [frozenset(_words(line)) for line in lines]
    for new, old, later, earlier in [*_pairs(lines, words), *_undated_pairs(lines, words)]:
        found = _judged(later, earlier)
        if found is not None:
            made.append(found._replace(new=new, old=old, proposed=_proposed(later, earlier), day=later.day[:10]))
    return made


Pair = tuple[int, int, Line, Line]  # position of the later line, of the earlier line, and both as they are judged


def _pairs(lines: Sequence[Line], words: Sequence[frozenset[str]]) -> Iterator[Pair]:
    """The MAX_PAIRS pairs of dated lines that share the most words."""
    found: list[tuple[float, int, int]] = []
    for old, earlier in enumerate(lines[:MAX_REPLACED]):
        for new, later in enumerate(lines):
            if not earlier.day or not later.day or later.named is not None or not _is_later(later, earlier):
                continue
            if old in later.beside or new in earlier.beside:
                continue
            shared = _shared(words[old], words[new])
            if shared >= SHARED and later.score >= SCORE * earlier.score:
                found.append((-shared, new, old))
    for _, new, old in sorted(found)[:MAX_PAIRS]:
        earlier, later = lines[old], lines[new]
        if earlier.day == later.day:  # `_is_later` knows the order within the day
            earlier, later = earlier._replace(day=f"{earlier.day}T00"), later._replace(day=f"{later.day}T01")
        yield new, old, later, earlier


def _undated_pairs(lines: Sequence[Line], words: Sequence[frozenset[str]]) -> Iterator[Pair]:
    """Pairs of which at least one line has no day; Git says which line was written later.

    Asking Git takes a process, so this is done for MAX_UNDATED_PAIRS pairs that share the most words, and only if one
    line may replace the other.
    """
    found: list[tuple[float, int, int]] = []
    for at, line in enumerate(lines[:MAX_REPLACED]):
        for other in range(at):
            if (line.day and lines[other].day) or other in line.beside or at in lines[other].beside:
                continue
            if (shared := _shared(words[at], words[other])) >= ALIKE:
                found.append((-shared, at, other))
    for _, at, other in sorted(found)[:MAX_UNDATED_PAIRS]:
        pair = [line._replace(day=line.day or EARLY) for line in (lines[at], lines[other])]
        later = [line._replace(day=LATE) for line in pair]
        if not _judged(later[1], pair[0]) and not _judged(later[0], pair[1]):
            continue
        one, two = (lines[each].day or lines[each].written() for each in (at, other))
        if not one or not two or one[: len(two)] == two[: len(one)]:
            continue
        (first, old), (last, new) = sorted(((one, at), (two, other)))
        if lines[new].named is None and lines[new].score >= SCORE * lines[old].score:
            yield new, old, _of_moment(lines[new], last), _of_moment(lines[old], first)


def _of_moment(line: Line, moment: str) -> Line:
    """A line with an ISO time as its day."""
    return line._replace(day=moment, time=line.time or moment[10:])


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the shorter line's words that the other line has; 0..1."""
    if one and other:
        return len(one & other) / min(len(one), len(other))
    return 0.0


def _words(line: Line) -> Iterator[str]:
    """The words of a line without stop words, numbers and single letters; none of a line that decides nothing."""
    if not line.deciding:
        return
    for term in terms(line.text.lower()):
        if len(term) > 1 and term not in STOP and not term.isdigit():
            yield term


def _judged(later: Line, earlier: Line) -> Link | None:
    """The link of two lines, with positions 0; None if they are about different things, or if both hold."""
    from gitmem.memory.relation import Kind, Said, relation

    said = [Said(*line.said(), line.day, line.type) for line in (earlier, later)]
    if not (said[0].text and said[1].text):
        return None
    beside = earlier.place[0] == later.place[0] and earlier.day[:10] == later.day[:10] and later.time == earlier.time
    judged = relation(*said)
    chances = judged.probabilities
    over = chances[Kind.REPLACES] + chances[Kind.ENDS]
    differs = over + chances[Kind.CONFLICTS]
    if not judged.automatic:  # not sure enough to mark the older line
        over = min(over, MARKED - STEP)
    turns = _SPEAKER.match(said[0].text) and _SPEAKER.match(said[1].text)
    if beside or turns:  # items of one list and turns of a conversation rarely replace each other
        if differs >= MARKED:
            return Link(0, 0, False, over, differs, judged.reason)
        return None
    if differs + chances[Kind.SAME] < LIKELY:
        return None
    return Link(0, 0, False, over, differs, judged.reason)


def _is_later(one: Line, other: Line) -> bool:
    """Whether a line is later than another one: by day, by time, or by its place in one log."""
    if one.day != other.day:
        return one.day > other.day
    if one.place[0] and one.place[0] == other.place[0]:
        return one.place[1] > other.place[1] and not one.reviewed
    return bool(other.time) and one.time > other.time


def _proposed(later: Line, earlier: Line) -> bool:
    """Whether the link of two lines is only a proposal.

    A reviewed line is replaced only by a reviewed line of an origin no worse; any other line also by what a person or
    an agent said.
    """
    worse = _ORIGINS.index(later.origin) > _ORIGINS.index(earlier.origin)
    if earlier.reviewed:
        return worse or not later.reviewed
    return worse and later.origin in ("tool", "web")


_ORIGINS = ("", "user", "agent", "tool", "web")


def ordered(lines: Sequence[Line], made: Iterable[Link]) -> list[float]:
    """The score of each line, raised so that a later line comes before the line it replaces, a proposed one right
    after.

    Links are taken oldest first, so that the latest of several lines comes before all of them. A line that may only
    propose to replace another one, directly or through others, comes before it only by a better score of its own.
    """
    scores = [line.score for line in lines]
    in_order = sorted(made, key=lambda link: (_moment(lines[link.new]), _moment(lines[link.old])))
    bounds = _bounds(lines, in_order)
    for link in in_order:
        wanted = scores[link.old] + STEP
        if link.proposed:
            wanted = scores[link.old] - STEP
        bound = min((scores[at] - STEP * room for at, room in bounds.get(link.new, ())), default=wanted)
        answers = lines[link.new].score / SCORE  # a chain of links does not raise it above much better lines
        scores[link.new] = max(scores[link.new], min(wanted, bound, answers))
    return scores


def _moment(line: Line) -> tuple[str, str, int]:
    """Sort key of lines by time."""
    return line.day, line.time, line.place[1]


def _bounds(lines: Sequence[Line], made: Sequence[Link]) -> dict[int, list[tuple[int, int]]]:
    """Position of a line -> (position of a line it must not pass by its links, how many STEPs below that it stays).

    The steps keep the order of several such lines by time.
    """
    if not any(link.proposed for link in made):
        return {}
    reached: dict[int, set[int]] = {link.new: set() for link in made}
    grown = True
    while grown:  # once or twice: the links are in the order of days but for those set by hand
        grown = False
        for link in made:
            before = len(reached[link.new])
            reached[link.new] |= {link.old, *reached.get(link.old, ())} - {link.new}
            grown |= len(reached[link.new]) > before
    below: dict[int, list[int]] = {}
    for new, olds in reached.items():
        for old in olds:
            if lines[new].score < lines[old].score and _proposed(lines[new], lines[old]):
                below.setdefault(old, []).append(new)
    bounds: dict[int, list[tuple[int, int]]] = {}
    for old, some in below.items():
        for new in some:
            later = sum(_moment(lines[other]) > _moment(lines[new]) for other in some)
            bounds.setdefault(new, []).append((old, 1 + later))
    return bounds
