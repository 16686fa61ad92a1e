"""Finds, among the lines that answer a question, the pairs of a later line and an earlier line that it replaces or
ends.

`memory/relation` judges the relation of two lines, unless a person decided it: the key `supersedes=ID` in a line's
comment names the fact that the line replaces, and such a line is not judged (`supersedes=nothing`: it replaces none).
Links depend on the answering lines, their trails, days and origins only: one snapshot and question give the same links
after a rebuild and in every clone. Nothing is stored.

A link deletes and hides no line. If two lines are about one property of one thing, the later line comes first; the
older line is marked only if the judgement is nearly sure (MIN_MARKED). Only a reviewed line replaces a reviewed line;
any other link to a reviewed line is a proposal. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text.terms import STOP, terms

if TYPE_CHECKING:
    from gitmem.memory.relation import Said

MIN_MARKED = 0.85  # least probability that the older line no longer holds, for it to be marked
MIN_TAKEN_BACK = 0.5  # least probability that a turn and a later turn that takes it back disagree
MIN_RELATED = 0.25  # least probability that both are about one property of one thing, for the later to come first
MIN_SCORE_SHARE = 0.3  # least share of the older line's score that the later line has in a link
MIN_SHARED_WORDS = 0.2  # least share of the shorter line's words in the other line, for the two to be judged
MIN_SHARED_WORDS_UNDATED = 0.5  # the same for two lines of which one has no day
MAX_UNDATED_PAIRS = 4  # pairs of lines without a day that Git is asked about
MAX_PAIRS = 16  # pairs of lines that are judged
MAX_REPLACED = 20  # lines that may be replaced: the best ones
EARLY, LATE = "0001-01-01", "9999-12-31"  # stand for days that are not known yet
STEP = 1e-6  # difference of score that orders two lines
_SPEAKER = lazy(r"\W*\w+(?: \w+)?[:：]\s")  # begins a turn of a conversation


class Line(NamedTuple):
    """One line that answers the question of a search.

    `day`, `time`: ISO day and time of the line, "" if unknown. `score`: of the search. `place`: (path, line number).
    `reviewed`: whether it is a fact of MEMORY.md, which a person reviewed. `origin`: "", "user", "agent", "tool" or
    "web". `replaces_by_hand`: positions in the list of lines that it replaces according to a person, None if no person
    decided. `holds_beside`: positions of the lines that hold together with it according to a person. `statement`:
    returns (text, "" for a secret; trail: its headings and parent items). `commit_time`: returns the ISO time of its
    commit. `type`: of the fact, "" if not stated. `may_replace`: whether it may replace other lines; a question, a
    block of code or a repeated line may not.
    """

    text: str
    day: str
    score: float
    time: str = ""
    place: tuple[str, int] = ("", 0)
    reviewed: bool = False
    origin: str = ""
    replaces_by_hand: frozenset[int] | None = None
    holds_beside: frozenset[int] = frozenset()
    statement: Callable[[], tuple[str, tuple[str, ...]]] = lambda: ("", ())
    commit_time: Callable[[], str] = str
    type: str = ""
    may_replace: bool = True


class Link(NamedTuple):
    """The line at position `new` is later than the line at position `old`, and both are about the same property.

    `proposed`: whether the link counts only after a review. `replaced_probability`: how likely it is, 0..1, that the
    older line no longer holds. `asks`: whether `relation` finds that a person should be asked which of the two holds.
    `reason`: why the two are linked, for a person. `day`: of the later line, "" if a person made the link.
    """

    new: int
    old: int
    proposed: bool
    replaced_probability: float = 1.0
    asks: bool = True
    reason: str = ""
    day: str = ""

    @property
    def marked(self) -> bool:
        """Whether a search shall mark the older line as replaced: `replaced_probability` is MIN_MARKED or more."""
        return self.replaced_probability >= MIN_MARKED

    @property
    def doubtful(self) -> bool:
        """Whether a search shall mark both lines as contradicting each other: a person should be asked which one holds
        (`asks`), and `replaced_probability` is too low to mark the older one as replaced."""
        return not self.marked and self.asks


def find_links(lines: Sequence[Line]) -> list[Link]:
    """All links between the lines: first those that a person made, then those that `memory/relation` judged. `lines`:
    best first."""
    links = []
    for new, later in enumerate(lines):
        if later.replaces_by_hand is not None and later.may_replace:
            links += [Link(new, old, _proposed(later, lines[old])) for old in sorted(later.replaces_by_hand)]
    words = [frozenset(_words(line)) for line in lines]
    for new, old, later, earlier in [*_pairs(lines, words), *_undated_pairs(lines, words)]:
        judged = _judge(later, earlier)
        if judged is not None:
            links.append(judged._replace(new=new, old=old, proposed=_proposed(later, earlier), day=later.day[:10]))
    return links


# (position of the later line, position of the earlier line, later line, earlier line).
Pair = tuple[int, int, Line, Line]


def _pairs(lines: Sequence[Line], words: Sequence[frozenset[str]]) -> Iterator[Pair]:
    """Yield the MAX_PAIRS pairs of a line and a later one that share the most words, at least MIN_SHARED_WORDS. Both
    have a day, and the later line has MIN_SCORE_SHARE of the earlier one's score. Pairs that a person decided are left
    out."""
    pairs: list[tuple[float, int, int]] = []
    for old, earlier in enumerate(lines[:MAX_REPLACED]):
        for new, later in enumerate(lines):
            if not earlier.day or not later.day or later.replaces_by_hand is not None or not _is_later(later, earlier):
                continue
            if old in later.holds_beside or new in earlier.holds_beside:
                continue
            shared = _shared(words[old], words[new])
            if shared >= MIN_SHARED_WORDS and later.score >= MIN_SCORE_SHARE * earlier.score:
                pairs.append((-shared, new, old))
    for _, new, old in sorted(pairs)[:MAX_PAIRS]:
        earlier, later = lines[old], lines[new]
        if earlier.day == later.day:  # `_is_later` knows the order within the day
            earlier, later = earlier._replace(day=f"{earlier.day}T00"), later._replace(day=f"{later.day}T01")
        yield new, old, later, earlier


def _undated_pairs(lines: Sequence[Line], words: Sequence[frozenset[str]]) -> Iterator[Pair]:
    """Yield pairs in which a line has no day; the times of their commits tell which line is later.

    This starts a Git process, so only MAX_UNDATED_PAIRS pairs that share the most words (MIN_SHARED_WORDS_UNDATED at
    least) are examined, and of these only pairs in which a line may replace the other.
    """
    pairs: list[tuple[float, int, int]] = []
    for index, line in enumerate(lines[:MAX_REPLACED]):
        for other in range(index):
            if (line.day and lines[other].day) or other in line.holds_beside or index in lines[other].holds_beside:
                continue
            if (shared := _shared(words[index], words[other])) >= MIN_SHARED_WORDS_UNDATED:
                pairs.append((-shared, index, other))
    for _, index, other in sorted(pairs)[:MAX_UNDATED_PAIRS]:
        as_early = [line._replace(day=line.day or EARLY) for line in (lines[index], lines[other])]
        as_late = [line._replace(day=LATE) for line in as_early]
        if not _judge(as_late[1], as_early[0]) and not _judge(as_late[0], as_early[1]):
            continue
        time, other_time = (lines[position].day or lines[position].commit_time() for position in (index, other))
        if not time or not other_time or time[: len(other_time)] == other_time[: len(time)]:
            continue
        (early_time, old), (late_time, new) = sorted(((time, index), (other_time, other)))
        if lines[new].replaces_by_hand is None and lines[new].score >= MIN_SCORE_SHARE * lines[old].score:
            yield new, old, _at_time(lines[new], late_time), _at_time(lines[old], early_time)


def _at_time(line: Line, moment: str) -> Line:
    """The line with the ISO time `moment` as its day."""
    return line._replace(day=moment, time=line.time or moment[10:])


def _shared(words: frozenset[str], other_words: frozenset[str]) -> float:
    """The share of the shorter line's words that the other line has; 0..1."""
    return len(words & other_words) / min(len(words), len(other_words)) if words and other_words else 0.0


def _words(line: Line) -> Iterator[str]:
    """The terms of a line without stop words, numbers and single letters; none for a line that may not replace
    others."""
    if not line.may_replace:
        return
    for term in terms(line.text.lower()):
        if len(term) > 1 and term not in STOP and not term.isdigit():
            yield term


def _judge(later: Line, earlier: Line) -> Link | None:
    """The link of two lines by `memory/relation`, with 0 for both positions; None if the lines are not about the same
    property or do not disagree enough."""
    from gitmem.memory.relation import Kind, Said, relation

    old, new = [Said(*line.statement(), line.day, line.type) for line in (earlier, later)]
    if not (old.text and new.text):
        return None
    same_time = earlier.place[0] == later.place[0] and earlier.day[:10] == later.day[:10] and later.time == earlier.time
    judged = relation(old, new)
    probabilities = judged.probabilities
    replaced_probability = probabilities[Kind.REPLACES] + probabilities[Kind.ENDS]
    differs = replaced_probability + probabilities[Kind.CONFLICTS]
    if not judged.automatic:  # not sure enough to mark the older line
        replaced_probability = min(replaced_probability, MIN_MARKED - STEP)
    if same_time or _are_turns(earlier, old, new, differs):  # such lines rarely replace each other
        if differs >= MIN_MARKED:
            return Link(0, 0, False, replaced_probability, judged.asks, judged.reason)
        return None
    if differs + probabilities[Kind.SAME] < MIN_RELATED:
        return None
    return Link(0, 0, False, replaced_probability, judged.asks, judged.reason)


def _are_turns(earlier: Line, old: Said, new: Said, differs: float) -> bool:
    """Whether two lines are turns of a conversation. They are not if the later one takes back the earlier one, and the
    two more likely disagree than not. `differs`: the probability that they disagree."""
    if earlier.reviewed or not (speaker := _SPEAKER.match(old.text)) or not (later_speaker := _SPEAKER.match(new.text)):
        return False
    return speaker[0] != later_speaker[0] or differs < MIN_TAKEN_BACK or not _takes_back(new.text, old.text)


def _takes_back(text: str, earlier: str) -> bool:
    """Whether a line says a change and names the value of an earlier line with the same label ("hire: 60 euro instead
    of 40"). Then the label is a topic, or the same speaker takes back what was said."""
    from gitmem.memory.relation.judgement import names_old_value
    from gitmem.memory.relation.reading import read

    return "change" in read(text).cues and names_old_value(earlier, text)


def _is_later(line: Line, other: Line) -> bool:
    """Whether `line` is later than `other`: by day; on one day by line number in the same file (False for a reviewed
    line), else by time."""
    if line.day != other.day:
        return line.day > other.day
    if line.place[0] and line.place[0] == other.place[0]:
        return line.place[1] > other.place[1] and not line.reviewed
    return bool(other.time) and line.time > other.time


def _proposed(later: Line, earlier: Line) -> bool:
    """Whether the link of two lines counts only after a review.

    It does not if the later line has an origin at least as good (_ORIGINS, best first) and, for a reviewed earlier
    line, is reviewed too. An earlier line that is not reviewed is also replaced by a later line of a person or an
    agent.
    """
    worse = _ORIGINS.index(later.origin) > _ORIGINS.index(earlier.origin)
    if earlier.reviewed:
        return worse or not later.reviewed
    return worse and later.origin in ("tool", "web")


_ORIGINS = ("", "user", "agent", "tool", "web")


def reordered_scores(lines: Sequence[Line], links: Iterable[Link]) -> list[float]:
    """The new score of each line, raised so that a later line comes before the line it replaces, or right after it if
    the link is a proposal.

    Links are followed oldest first, so that the latest of several lines comes before all others. A line whose link to
    another line is a proposal, directly or through other links, stays below that line unless its own score is better.
    """
    scores = [line.score for line in lines]
    in_order = sorted(links, key=lambda link: (_time_key(lines[link.new]), _time_key(lines[link.old])))
    bounds = _bounds(lines, in_order)
    for link in in_order:
        target = scores[link.old] + STEP
        if link.proposed:
            target = scores[link.old] - STEP
        bound = min((scores[index] - STEP * steps for index, steps in bounds.get(link.new, ())), default=target)
        answers = lines[link.new].score / MIN_SCORE_SHARE  # a chain of links does not raise it above much better lines
        scores[link.new] = max(scores[link.new], min(target, bound, answers))
    return scores


def _time_key(line: Line) -> tuple[str, str, int]:
    """Sort key of lines by time."""
    return line.day, line.time, line.place[1]


def _bounds(lines: Sequence[Line], links: Sequence[Link]) -> dict[int, list[tuple[int, int]]]:
    """Position of a line -> [(position of a line that it must stay below, how many STEPs below it stays)].

    The number of steps keeps several such lines in the order of their times.
    """
    if not any(link.proposed for link in links):
        return {}
    reached: dict[int, set[int]] = {link.new: set() for link in links}
    has_grown = True
    while has_grown:  # once or twice: the links are in the order of days but for those set by hand
        has_grown = False
        for link in links:
            count = len(reached[link.new])
            reached[link.new] |= {link.old, *reached.get(link.old, ())} - {link.new}
            has_grown |= len(reached[link.new]) > count
    below: dict[int, list[int]] = {}
    for new, olds in reached.items():
        for old in olds:
            if lines[new].score < lines[old].score and _proposed(lines[new], lines[old]):
                below.setdefault(old, []).append(new)
    bounds: dict[int, list[tuple[int, int]]] = {}
    for old, new_lines in below.items():
        for new in new_lines:
            later = sum(_time_key(lines[other_new]) > _time_key(lines[new]) for other_new in new_lines)
            bounds.setdefault(new, []).append((old, 1 + later))
    return bounds
