"""The newest word on a matter: which of the lines that answer a question a later one replaces or ends.

What two lines are to each other is judged by `memory/relation`, and by nothing else, unless a person decided:
`supersedes=ID` in the later line's comment names what it replaces, and nothing else is then asked of that line
(`supersedes=nothing`: it replaces nothing). A link is made of the lines that answer, their trails, days and origins:
the same snapshot and question have the same links after a rebuild and in every clone, and nothing is stored.

Nothing is deleted or hidden by a link. Of two lines on one property of one thing the later comes first; only where the
judgement is nearly sure (`MARKED`) the older one is marked. What was reviewed is only replaced by what was reviewed;
other links of it are proposed, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.text.telling import STOP
from gitmem.text.terms import terms

MARKED = 0.85  # probability that the older line is over, from which it is marked
LIKELY = 0.25  # ... that both are of one property of one thing, from which the later comes first
EVEN = 0.5  # ... that the two do not agree, from which the later one says so
SCORE = 0.3  # share of the older line's score that the later one needs: it answers the question too
SHARED = 0.2  # share of the words of the line that has fewer that the other needs to be judged
ALIKE = 0.5  # ... and for Git to be asked when they were written, where they say no day
UNDATED = 4  # pairs of such lines, those that share most
JUDGED = 16  # pairs of lines that are judged, those that share most
BEST = 20  # lines that may be replaced
EARLY, LATE = "0001-01-01", "9999-12-31"  # days of lines of which it is not known yet which is the later
STEP = 1e-6
_SPEAKER = lazy(r"\W*\w+(?: \w+)?[:：]\s")  # opens a turn of a talk, which tells what else happened


class Line(NamedTuple):
    """A line that answers, as far as links need it.

    `day`: of the line, "" where nobody knows; `time`: of that day, "" where nobody knows. `place`: its file and line
    number. `reviewed`: a person saw it. `named`: the positions of the lines that a person said it replaces, None where
    nobody decided. `beside`: the positions of the lines that a person said hold beside it. `said`: what its statement
    says, "" where that may not be told, and its trail. `written`: the ISO moment at which it was committed, asked of a
    line of no day. `deciding`: it can be the last word on something; a question, a block of code and what repeats
    another line cannot."""

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
    """`new` is the later word on the matter of `old` (positions among the lines); `proposed` where it takes a review
    to hold. `over` is the probability that the older line is over, `differs` that the two do not agree. `day` is
    that of the later line, "" where it is by hand and unknown."""

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
        """Whether an earlier line says otherwise, and nobody can say which holds."""
        return not self.marked and self.differs >= EVEN


def links(lines: Sequence[Line]) -> list[Link]:
    """Which line is the later word on the matter of which. `lines` are the best first."""
    made = []
    for new, later in enumerate(lines):
        if later.named is not None and later.deciding:
            made += [Link(new, old, _proposed(later, lines[old])) for old in sorted(later.named)]
    words = [frozenset(_words(line)) if line.deciding else frozenset() for line in lines]
    for new, old, later, earlier in [*_pairs(lines, words), *_undated_pairs(lines, words)]:
        found = _judged(later, earlier)
        if found is not None:
            made.append(found._replace(new=new, old=old, proposed=_proposed(later, earlier), day=later.day[:10]))
    return made


Pair = tuple[int, int, Line, Line]  # the positions of the later line and of the earlier, and both as they are judged


def _pairs(lines: Sequence[Line], words: Sequence[frozenset[str]]) -> Iterator[Pair]:
    """Lines that share enough words to be compared, those that share most."""
    found: list[tuple[float, int, int]] = []
    for old, earlier in enumerate(lines[:BEST]):
        for new, later in enumerate(lines):
            if not earlier.day or not later.day or later.named is not None or not _is_later(later, earlier):
                continue
            if old in later.beside or new in earlier.beside:
                continue
            shared = _shared(words[old], words[new])
            if shared >= SHARED and later.score >= SCORE * earlier.score:
                found.append((-shared, new, old))
    for _, new, old in sorted(found)[:JUDGED]:
        earlier, later = lines[old], lines[new]
        if earlier.day == later.day:  # the order within the day is known
            earlier, later = earlier._replace(day=f"{earlier.day}T00"), later._replace(day=f"{later.day}T01")
        yield new, old, later, earlier


def _undated_pairs(lines: Sequence[Line], words: Sequence[frozenset[str]]) -> Iterator[Pair]:
    """The same of lines of which one or both are of no day: of those that share most, Git says which was written later,
    which takes a process each and is asked where one may be the later word on the other."""
    found: list[tuple[float, int, int]] = []
    for at, line in enumerate(lines[:BEST]):
        for other in range(at):
            if (line.day and lines[other].day) or other in line.beside or at in lines[other].beside:
                continue
            if (shared := _shared(words[at], words[other])) >= ALIKE:
                found.append((-shared, at, other))
    for _, at, other in sorted(found)[:UNDATED]:
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
    """A line as of an ISO moment; of two of one day the times tell which is later."""
    return line._replace(day=moment, time=line.time or moment[10:])


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words of the line that has fewer that the other has too."""
    if one and other:
        return len(one & other) / min(len(one), len(other))
    return 0.0


def _words(line: Line) -> Iterator[str]:
    """The words of a line that tell it from others."""
    for term in terms(line.text.lower()):
        if len(term) > 1 and term not in STOP and not term.isdigit():
            yield term


def _judged(later: Line, earlier: Line) -> Link | None:
    """What the later line does to the earlier one; None where they are of two things, or both hold."""
    from gitmem.memory.relation import Kind, Said, relation

    said = [Said(*line.said(), line.day, line.type) for line in (earlier, later)]
    if not (said[0].text and said[1].text):
        return None
    beside = earlier.place[0] == later.place[0] and earlier.day[:10] == later.day[:10] and later.time == earlier.time
    judged = relation(*said)
    chances = judged.probabilities
    over = chances[Kind.REPLACES] + chances[Kind.ENDS]
    differs = over + chances[Kind.CONFLICTS]
    if not judged.automatic:  # likely is not sure: the later line comes first, and the older one is not called over
        over = min(over, MARKED - STEP)
    turns = _SPEAKER.match(said[0].text) and _SPEAKER.match(said[1].text)
    if beside or turns:  # items of one list say different things, and turns of a talk tell what else happened
        if differs >= MARKED:
            return Link(0, 0, False, over, differs, judged.reason)
        return None
    if differs + chances[Kind.SAME] < LIKELY:
        return None
    return Link(0, 0, False, over, differs, judged.reason)


def _is_later(one: Line, other: Line) -> bool:
    """Whether a line is of a later day than another, of a later time of it, or stands below it in the log of it."""
    if one.day != other.day:
        return one.day > other.day
    if one.place[0] and one.place[0] == other.place[0]:
        return one.place[1] > other.place[1] and not one.reviewed
    return bool(other.time) and one.time > other.time


def _proposed(later: Line, earlier: Line) -> bool:
    """Whether a link only proposes: a reviewed line is replaced by one that is reviewed and of no worse origin, any
    other by whatever a person or their agent said."""
    worse = _ORIGINS.index(later.origin) > _ORIGINS.index(earlier.origin)
    if earlier.reviewed:
        return worse or not later.reviewed
    return worse and later.origin in ("tool", "web")


_ORIGINS = ("", "user", "agent", "tool", "web")


def ordered(lines: Sequence[Line], made: Iterable[Link]) -> list[float]:
    """The score of each line, a later word above that of what it is the later word on; that of a proposed one right
    below it. The oldest first, so that the last word of several is above them all.

    What may only propose to replace a line, itself or through others that it replaces, does not come before it but by
    a better score of its own.
    """
    scores = [line.score for line in lines]
    in_order = sorted(made, key=lambda link: (_moment(lines[link.new]), _moment(lines[link.old])))
    bounds = _bounds(lines, in_order)
    for link in in_order:
        wanted = scores[link.old] + (-STEP if link.proposed else STEP)
        bound = min((scores[at] - STEP * room for at, room in bounds.get(link.new, ())), default=wanted)
        answers = lines[link.new].score / SCORE  # above nothing that answers so much better, by no chain of links
        scores[link.new] = max(scores[link.new], min(wanted, bound, answers))
    return scores


def _moment(line: Line) -> tuple[str, str, int]:
    """What the order of lines in time goes by."""
    return line.day, line.time, line.place[1]


def _bounds(lines: Sequence[Line], made: Sequence[Link]) -> dict[int, list[tuple[int, int]]]:
    """The lines before which each may not come by its links, and how many steps below: one more than there are later
    lines that may not either, which so keep their order."""
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
