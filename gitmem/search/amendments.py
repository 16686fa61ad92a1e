# ruff: noqa: E501 - lists of a hundred quoted words, one a line, would not be read
"""The newest word on a matter: which of the lines that answer a question amends which.

A link is made of the lines that answer, their text, day and origin: the same snapshot and question have the same links
after a rebuild and in every clone, and nothing is stored that could go stale. Two lines speak of one matter where they
share words, meaning or a value; the later one amends the earlier where it says so (`changes`) or contradicts it
(`memory/similarity`), and comes first where it answers nearly as well. `supersedes=ID` in the later line's comment is
what a person decided, and nothing else is then asked of that line; `supersedes=nothing` says that it amends nothing.

Nothing is deleted or hidden by a link: the amendment is put first and the older line is marked. What was reviewed is
only amended by what was reviewed; other links of it are proposed, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, takewhile
from math import hypot, sqrt
from operator import mul, sub

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.text import chinese, english
from gitmem.text.languages import EASTERN, LANGUAGES
from gitmem.text.telling import STOP
from gitmem.text.terms import terms

# A number with what it counts behind it or, where nothing is, before it.
_VALUE = lazy(r"(\d+(?:[.,:]\d+)*|[一二三四五六七八九十两]+)[ \u00a0]?([%°€$£¥₩]|[^\W\d_]*)")
_BEFORE = lazy(r"([a-z]+|[^\W\d_a-z]+|[€$£¥₩])[ \u00a0]?$")
COUNTS = frozenset(chinese.COUNTS)
NUMBERS = {word: str(number) for word, number in english.NUMBERS.items() if 1 < number <= 10}
# Quantities that are said in words: each word of a row is another value of the same one.
NAMED = (
    ("monday", (*chain.from_iterable(each.WEEKDAYS for each in LANGUAGES), *chinese.WEEKDAYS_IN_FULL)),
    ("hourly", tuple(chain.from_iterable(each.FREQUENCIES for each in LANGUAGES))),
)
WIDE_PAST = tuple(chain.from_iterable(each.PAST_ENDINGS for each in EASTERN))
_WORD = lazy(r"\w+")
_SPEAKER = lazy(r"\W*\w+(?: \w+)?[:：]\s")
_KANA = lazy(r"[\u3040-\u30ff]")
_PIECE = lazy(r"[\u3040-\u9fff]+|[^\W\u3040-\u9fff]+")  # a word, cut where letters without spaces begin or end

# What the later of two lines needs to come first: a share of the older line's score, and evidence that the two speak of
# one matter, more where both are turns of a talk, which tells what else happened. The evidence is shared words, how much
# of the question both have, cosine, and ...
SCORE = 0.3
MATTER = 0.8
TURNS = 0.6
QUOTED = 0.6  # that the later line names a value or an identifier of the earlier one as it says what changed
NUMBER = 0.2  # that it gives one quantity another number
ALIKE = 0.4  # share of all words of two lines from which they may contradict each other
SAMPLE = 20  # lines that may be amended, and whose mean stands for that of all
MANY = 9  # lines from which what many of them share says nothing
BEST = 8  # lines among which a later one comes first though it says nothing of a change


class Line(NamedTuple):
    """A line that answers, as far as links need it: its text, the day it is of ("" where nobody knows), the `score` of
    the answer, its `time` of that day ("" where nobody knows), the conversation it is of (`said`), whether a person saw it (`reviewed`). `named` are the positions of
    those it amends by hand, None where nobody decided; `vector` gives its meaning, empty for none. One that asks, is a
    block of code or repeats what stands elsewhere (not `deciding`) neither amends nor is amended. One that `changes` says
    that something is no longer as it was (`text/change_words`)."""

    text: str
    day: str
    score: float
    time: str = ""
    said: str = ""
    reviewed: bool = False
    origin: str = ""
    named: frozenset[int] | None = None
    vector: Callable[[], Sequence[float]] = tuple
    deciding: bool = True
    changes: bool = False


class Link(NamedTuple):
    """`new` amends `old` (positions among the lines); `proposed` where that takes a review to hold; not `shown` where
    the later line only comes first: it is the later word on the matter, and does not say that anything changed."""

    new: int
    old: int
    proposed: bool
    shown: bool = True


def _values(lower: str) -> frozenset[tuple[str, str]]:
    """The quantities of a text, in lower case: (what is counted or the word before, number)."""
    values: set[tuple[str, str]] = set()
    for match in _VALUE.finditer(lower):
        number, unit = match[1].replace(",", ""), match[2]
        if ":" in number:
            unit = ":"
        elif not unit and (before := _BEFORE.search(lower, 0, match.start())):
            unit = before[1]
        values.add((_unit(unit), number))
    words = _WORD.findall(lower)
    for word in NUMBERS.keys() & set(words):
        at = words.index(word) + 1
        values.add((_unit(words[at] if at < len(words) else ""), NUMBERS[word]))
    for kind, names in NAMED:
        values.update((kind, name) for name in names if name in lower)
    return frozenset(values)


def _unit(word: str) -> str:
    """What a number counts, short: `minutes` and `min`, 분 and 분마다 are one; "" for a word that counts nothing."""
    if word in STOP:
        return ""
    if not word[:1].isascii():
        return word[:1]
    return "".join(takewhile(str.isascii, word))[:3]


def links(lines: Sequence[Line], asked: Iterable[str], when: bool = False) -> list[Link]:
    """Which line amends which, for a question of the words `asked`; a link for each pair. A question that asks `when`
    is answered by each of several days: there the later line does not come first for being later.

    `lines` are the best first. What most of them share is what the question is about, and says nothing of any two of
    them: words that stand in a third of them do not count, and meaning is what differs from the mean of all. A line
    that does not say that anything changed is compared with the best ones only.
    """
    made = []
    judge = _Judge(lines, list(asked))
    for new, later in enumerate(lines):
        if not later.deciding or not later.day:
            continue
        if later.named is not None:
            made += [Link(new, old, _proposed(later, lines[old])) for old in sorted(later.named)]
            continue
        if not later.changes and (when or new >= BEST):
            continue
        for old, earlier in enumerate(lines[: SAMPLE if later.changes else BEST]):
            if not earlier.deciding or not earlier.day or not _is_later(later, earlier):
                continue
            if later.said and later.said == earlier.said:
                continue
            if judge.amends(new, old):
                made.append(Link(new, old, _proposed(later, earlier), shown=judge.openly(new, old)))
    return made


def _is_later(one: Line, other: Line) -> bool:
    """Whether a line is of a later day than another, or says at a later time of the same day that something changed."""
    if one.day != other.day:
        return one.day > other.day
    return one.changes and bool(other.time) and one.time > other.time


class _Judge:
    """Whether a line amends another, among lines that answer one question. Lives as long as the question."""

    def __init__(self, lines: Sequence[Line], asked: Sequence[str]) -> None:
        self.lines = lines
        self.asked = asked
        self.lower = [line.text.lower() for line in lines]
        self.whole: dict[int, frozenset[str]] = {}
        self.known: dict[int, frozenset[str]] = {}
        self.counted: dict[int, frozenset[tuple[str, str]]] = {}
        self.vectors: dict[int, Sequence[float]] = {}
        self.common: dict[str, bool] = {}
        self.mean: list[float] | None = None

    def terms(self, at: int) -> frozenset[str]:
        """The words of a line."""
        if at not in self.whole:
            own = terms(self.lower[at])
            self.whole[at] = frozenset(t for t in own if len(t) > 1 and t not in STOP and not t.isdigit())
        return self.whole[at]

    def words(self, at: int) -> frozenset[str]:
        """The words of a line that are not in many of them."""
        if at not in self.known:
            self.known[at] = frozenset(term for term in self.terms(at) if not self._common(term))
        return self.known[at]

    def _common(self, term: str) -> bool:
        if term not in self.common:
            many = len(self.lines) // 3 if len(self.lines) >= MANY else len(self.lines)
            self.common[term] = len([text for text in self.lower if term in text]) > many
        return self.common[term]

    def values(self, at: int) -> frozenset[tuple[str, str]]:
        if at not in self.counted:
            self.counted[at] = _values(self.lower[at])
        return self.counted[at]

    def vector(self, at: int) -> Sequence[float]:
        if at not in self.vectors:
            self.vectors[at] = self.lines[at].vector()
        return self.vectors[at]

    def shared(self, new: int, old: int) -> float:
        """Of the words of the line that has fewer, those the other has too."""
        if all(map(self._common, self.terms(new) & self.terms(old))):  # of most pairs
            return 0.0
        one, other = self.words(new), self.words(old)
        return len(one & other) / min(len(one), len(other))

    def amends(self, new: int, old: int) -> bool:
        """Whether the later line is the later word on the matter of the earlier, and answers the question as well."""
        cue, shared = self.lines[new].changes, self.shared(new, old)
        if not shared or self.lines[new].score < SCORE * self.lines[old].score:
            return False
        one, other = self.values(new), self.values(old)
        named = cue and any("_" in word for word in self.words(new) & self.words(old))
        quoted = named or (cue and (any(unit for unit, _ in one & other) or _replaced(one, other)))
        evidence = shared + self.answering(new, old) + self.cosine(new, old)
        evidence += QUOTED * quoted + NUMBER * _other_number(one, other)
        if evidence < MATTER + TURNS * bool(_SPEAKER.match(self.lower[new]) and _SPEAKER.match(self.lower[old])):
            return False
        if named:
            return True
        if one - other and other - one and _another_subject(self.lower[new], self.lower[old]):
            return False
        lacking = self.lacking(new, old)
        return not (lacking and _of_another(self.lower[new], self.lower[old], lacking))

    def openly(self, new: int, old: int) -> bool:
        """Whether a line that amends another says so, or gives another value of the same thing."""
        if self.lines[new].changes:
            return True
        one, other = self.words(new), self.words(old)
        if len(one & other) < ALIKE * len(one | other):
            return False
        one, other = _without_values(self.lower[new]), _without_values(self.lower[old])
        return (one <= other or other <= one) and _contradicts(self.lines[new].text, self.lines[old].text)

    def answering(self, new: int, old: int) -> float:
        """How near what both lines have of the question is to all of it: the cosine of the words of the earlier one's
        that both have and the question's. Without a question the earlier line is what is asked."""
        asked = self.asked or self.words(old)
        has = [word for word in asked if word in self.lower[old]]
        both = sum(word in self.lower[new] for word in has)
        return both / sqrt(len(has) * len(asked)) if both else 0.0

    def lacking(self, new: int, old: int) -> list[str]:
        """The words of the question that only the earlier line has."""
        return [word for word in self.asked if word in self.lower[old] and word not in self.lower[new]]

    def cosine(self, new: int, old: int) -> float:
        """Of what two lines mean beside what all of them mean."""
        if self.mean is None:
            known = [vector for at in range(min(SAMPLE, len(self.lines))) if (vector := self.vector(at))]
            enough = len(known) if len(known) >= MANY else 0
            self.mean = [sum(column) / enough for column in zip(*known, strict=True)] if enough else []
        a, b = self.vector(new), self.vector(old)
        if not a or not b:
            return 0.0
        if self.mean:
            a, b = list(map(sub, a, self.mean)), list(map(sub, b, self.mean))
        lengths = hypot(*a) * hypot(*b)
        return sum(map(mul, a, b)) / lengths if lengths else 0.0


def _proposed(later: Line, earlier: Line) -> bool:
    """Whether a link only proposes: a reviewed line is amended by one that is reviewed and of no worse origin, any
    other by whatever a person or their agent said."""
    worse = _ORIGINS.index(later.origin) > _ORIGINS.index(earlier.origin)
    if earlier.reviewed:
        return worse or not later.reviewed
    return worse and later.origin in ("tool", "web")


_ORIGINS = ("", "user", "agent", "tool", "web")


def _other_number(new: frozenset[tuple[str, str]], old: frozenset[tuple[str, str]]) -> bool:
    """Whether both name one quantity, the later with a number of its own."""
    units = {unit for unit, _ in old if unit}
    return any(unit in units and (unit, number) not in old for unit, number in new)


def _replaced(new: frozenset[tuple[str, str]], old: frozenset[tuple[str, str]]) -> bool:
    """Whether the later line gives a quantity of the earlier another number, and names the number it had without saying
    again what it counts: `three times instead of five`."""
    named = {number for unit, number in new if (unit, number) not in old}
    return any(
        unit and (unit, number) not in new and number in named and any(unit == own for own, _ in new)
        for unit, number in old
    )


def _without_values(lower: str) -> frozenset[str]:
    """The words of a text in lower case that are no values. Where each of two lines has one that the other lacks, they
    may be of two things: `40 for cars`, `5 for bicycles`."""
    for _, names in NAMED:
        for name in names:
            lower = lower.replace(name, " ")
    return frozenset(t for t in terms(lower) if len(t) > 1 and t not in STOP and not any(map(str.isdigit, t)))


def _contradicts(new: str, old: str) -> bool:
    """Whether two lines on one matter cannot both hold. Imported here: few searches come as far."""
    from gitmem.memory.similarity import contradicts

    return contradicts(new, old)


def _of_another(new: str, old: str, lacking: Sequence[str]) -> bool:
    """Whether two lines say the same of two things, and the question is about the earlier one's: a word of it, which
    the later line lacks, stands where that has a word of its own, before the same word (the `beach` map has 40 of them,
    the `harbour` map 24) or, with a particle between, behind it (permits for `cars`, permits for `bicycles`)."""
    theirs = _triples(old)
    known = STOP.union(own for _, own, _ in theirs)
    rows = [(left, right) for left, own, right in _triples(new) if own not in known and not own.isdigit()]
    after, before = {left for left, _ in rows if " " in left}, {right for _, right in rows if right}
    return any(
        own.startswith(word) and (left in after or right in before) for left, own, right in theirs for word in lacking
    )


def _another_subject(new: str, old: str) -> bool:
    """Whether two lines that give a quantity two numbers give them of two things: between the same neighbours, or before
    the same one at the beginning, each has a word that the other lacks and that is no value."""
    theirs, ours = _triples(old), _triples(new)
    known, said = {own for _, own, _ in theirs} | STOP, {own for _, own, _ in ours} | STOP
    places = {(left, right) for left, own, right in theirs if right and own not in said and not _is_value(own)}
    return any((left, right) in places for left, own, right in ours if own not in known and not _is_value(own))


def _is_value(word: str) -> bool:
    if word in NUMBERS or not word.isalpha() or not COUNTS.isdisjoint(word):
        return True
    return any(name in word or word in name for _, names in NAMED for name in names)


def _triples(text: str) -> list[tuple[str, str, str]]:
    """Each word of a text, without its ending, and what stands before and behind it: a word, or two where the nearer
    one says nothing. Of Kana and Han each pair of letters between pairs."""
    from gitmem.text.terms import without_ending

    pieces = _PIECE.findall(text.replace("'s", "").replace("’s", ""))
    values = []
    for at, own in enumerate(pieces):
        if "\u3040" < own[0] < "\ua000":
            pairs = [own[n : n + 2] for n in range(len(own) - 1)]
            values += [
                ("" if n < 2 else pairs[n - 2], pair, "" if n + 2 >= len(pairs) else pairs[n + 2])
                for n, pair in enumerate(pairs)
                if not _grammar(pair)
            ]
        else:
            left, right = pieces[max(0, at - 2) : at], pieces[at + 1 : at + 3]
            values.append((_words_beside(left[::-1]), without_ending(own), _words_beside(right)))
    return values


def _words_beside(words: Sequence[str]) -> str:
    """What stands beside a word, the nearest first; "" where both say nothing."""
    if not words or words[0] not in STOP:
        return words[0] if words else ""
    return " ".join(words) if len(words) > 1 and words[1] not in STOP else ""


def _grammar(pair: str) -> bool:
    """Whether a pair of letters has one of Hiragana: an ending, or a particle between two words."""
    return any("\u3040" < letter < "\u30a0" for letter in pair)


def ordered(lines: Sequence[Line], made: Iterable[Link]) -> list[float]:
    """The score of each line, an amendment's above that of what it amends and of the conversation it stands in; that of
    a proposed one right below it. The oldest first, so that the last word of several is above them all.

    What may only propose to amend a line, itself or through others that it amends, does not come before it but by a
    better score of its own.
    """
    scores = [line.score for line in lines]
    in_order = sorted(made, key=lambda link: (_moment(lines[link.new]), _moment(lines[link.old])))
    bounds = _bounds(lines, in_order)
    for link in in_order:
        old = lines[link.old]
        if link.proposed:
            wanted = scores[link.old] - STEP
        else:
            talk = (at for at, line in enumerate(lines) if old.said and line.said == old.said and not line.reviewed)
            wanted = max(scores[at] for at in (link.old, *talk)) + STEP
        bound = min((scores[at] - STEP * room for at, room in bounds.get(link.new, ())), default=wanted)
        scores[link.new] = max(scores[link.new], min(wanted, bound))
    return scores


def _moment(line: Line) -> tuple[str, str]:
    """What the order of lines in time goes by."""
    return line.day, line.time


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


STEP = 1e-6


def of_an_event(text: str) -> bool:
    """Whether a question that wants a time asks when something happened, not when something is to happen."""
    words = text.casefold().split()
    return not english.PAST_AUXILIARIES.isdisjoint(words) or any(word in text for word in WIDE_PAST)


def words_of(text: str) -> list[str]:
    """The words of a question by which two lines that are alike are told apart, as they stand in lines."""
    from gitmem.text.telling import STOP_KOREAN
    from gitmem.text.terms import HANGUL, tokens, without_ending

    stems: list[str] = []
    light = chinese.LIGHT_LETTERS if not _KANA.search(text) else frozenset()
    for token, script in tokens(text):
        word = token.casefold()
        if script == HANGUL:
            word = without_ending(word)
            if len(word) > 1 and not STOP_KOREAN.intersection((word, token)):
                stems.append(word)
        elif word.isascii():
            if word not in STOP and word not in english.LIGHT_WORDS and not word.isdigit() and len(word) > 2:
                stems.append(word[: max(4, len(word) - 3)])
        else:
            pairs = (word[at : at + 2] for at in range(len(word) - 1))
            stems += [pair for pair in pairs if not _grammar(pair) and light.isdisjoint(pair)]
    return stems
