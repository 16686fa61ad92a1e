"""Which facts a statement repeats, replaces, ends or conflicts with: candidates are picked and judged here alone.

Candidates are the facts that share most words with the statement; `relation` judges them, with the trails, days and
types of both. A pair that a person settled (`supersedes=ID` or `beside=ID` in the comment of either) is never named
again. Pure: the module reads and changes no file and decides nothing; what may act is `Rival.automatic`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from heapq import nlargest
from itertools import islice
from math import log
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from gitmem.memory.deciding_words import claim
from gitmem.memory.fact import Fact, Meta
from gitmem.memory.facts import BESIDE, SUPERSEDES, expired, fact_date, parse, pinned
from gitmem.memory.sections import naming_steps
from gitmem.memory.similarity import gone_value, same, terms
from gitmem.paths import Kind, kind
from gitmem.text.english import STOP_WORDS

if TYPE_CHECKING:
    from gitmem.memory.relation import Relation, Said

MEMORY = "MEMORY.md"
Told = Callable[[int, int], object]  # is called with how many of how many statements were held against the others
POSTINGS = 1000  # facts that are looked up by the words of one statement: thousands alike have most words in common
JUDGED = 6  # facts with the heaviest words in common, itself among them, that `relation` judges for one statement
# Share of the shorter text's terms, stop words apart, that both must have. Of the replacements, ends, conflicts and
# repetitions that `relation` sees in 1,766 pairs of eight hands a quarter keeps .77, .92, .97 and .86; of the facts of
# 14 public memories .06 are asked about, .08 without it, .05 with a third, which keeps .66 of the replacements.
SHARED = 0.25
SETTLES = (SUPERSEDES, BESIDE)  # keys of a comment that answer for the fact and the one with that id
PROPOSES = "proposes"  # key of a comment: its writer, an agent or a model, says that it replaces the fact with this id
JUDGEMENTS = 1 << 14  # pairs of statements whose relation a process keeps
LOOKED_AT = 500  # new statements of one write: an import of years is not held against everything
MAX_NAMED_RIVALS = 3  # rivals of one statement that are named


class Placed(NamedTuple):
    """A statement in its file, as a fact. `day`: ISO day it was said, "" for unknown."""

    path: str
    fact: Fact
    day: str = ""


@dataclass(frozen=True, slots=True)
class Rival:
    """A statement and a fact it disagrees with or repeats.

    `kind`: "same", "replaces", "ends" or "conflicts" (`relation.Kind`), what the later of the two does to the earlier.
    `later`: whether the statement is the later one. `reason`: a sentence for a person. `automatic`: sure enough to act
    without a person, and neither a person's words nor about health.
    """

    new: Placed
    old: Placed
    kind: str
    reason: str
    later: bool = True
    automatic: bool = False

    def as_value(self) -> dict[str, Any]:
        """One of `differs` of docs/json.md: the new statement, the fact that is there, and what relates them."""
        return {
            "relation": self.kind, "reason": self.reason, "later": self.later, "new": statement_value(self.new),
            "fact": statement_value(self.old),
        }  # fmt: skip

    @property
    def repeats(self) -> bool:
        return self.kind == "same"

    @property
    def earlier_first(self) -> tuple[Placed, Placed]:
        """The two, the earlier one first."""
        if self.later:
            return (self.old, self.new)
        return (self.new, self.old)


class Standing:
    """The facts that a statement is held against, looked up by their words; none that is archived or over."""

    def __init__(self, rows: Iterable[Placed], today: date) -> None:
        first: dict[tuple[str, tuple[str, ...]], Placed] = {}  # of equal facts one is named
        for row in rows:
            if kind(row.path) is not Kind.ARCHIVE and not expired(row.fact, today):
                first.setdefault((row.fact.id, row.fact.trail), row)
        self.rows = list(first.values())
        self.words = [_words(row.fact.text) for row in self.rows]
        self.answered = {
            frozenset((row.fact.id, value)) for row in self.rows for key, value in row.fact.meta if key in SETTLES
        }
        self._holding: dict[str, list[int]] = defaultdict(list)  # term -> places in `rows`
        for number, words in enumerate(self.words):
            for term in words:
                self._holding[term].append(number)

    def nearest(self, fact: Fact) -> Iterator[Placed]:
        """At most JUDGED facts that share words with this one, those with the most and the rarest first; itself is none
        of them."""
        own = _words(fact.text)
        for number in self._sharing(own):
            if _share(own, self.words[number]):
                yield self.rows[number]

    def _sharing(self, own: Iterable[str]) -> list[int]:
        """The places of the JUDGED facts with the heaviest words in common, a word weighing more the fewer facts have
        it; of words that thousands of facts have, the rarest count, and POSTINGS of their facts at most."""
        weights: dict[int, float] = defaultdict(float)
        left = POSTINGS
        found = (self._holding[term] for term in own if term in self._holding)
        for places in sorted(found, key=lambda places: (len(places), places)):
            if left <= 0:
                break
            weight = log(1 + len(self.rows) / len(places))
            for number in places[:left]:
                weights[number] += weight
            left -= len(places)
        return nlargest(JUDGED, weights, key=lambda number: (weights[number], -number))


def _words(text: str) -> set[str]:
    """The terms of a text that say something of its subject; all of them where none does."""
    found = terms(text)
    return found - STOP_WORDS or found


def _share(one: set[str], other: set[str]) -> bool:
    """Whether two texts have enough terms in common; a single word says nothing of anything."""
    shorter = min(len(one), len(other))
    return shorter > 1 and len(one & other) >= max(1, SHARED * shorter)


def of_one_matter(one: str, other: str) -> bool:
    """Whether two texts share enough words to be judged at all."""
    return _share(_words(one), _words(other))


def placed(path: str, facts: Iterable[Fact], day: str = "") -> list[Placed]:
    """Facts of one file, each from its own day, else from `day`."""
    return [Placed(path, fact, fact_date(fact) or day) for fact in facts]


def _untold(_done: int, _whole: int) -> None:
    """Nobody wants to know how far it is."""


def rivals(statements: Sequence[Placed], standing: Standing, told: Told = _untold) -> list[Rival]:
    """The open pairs of these statements with the facts that are there: at most MAX_NAMED_RIVALS of each statement,
    disagreements first.

    Of two days the later one says which is later; of one day, or where both have none, the statement is.
    """
    found: list[Rival] = []
    seen: set[frozenset[tuple[str, int]]] = set()
    for number, new in enumerate(statements):
        told(number, len(statements))
        named = 0
        for old in standing.nearest(new.fact):
            pair = frozenset(((new.path, new.fact.line), (old.path, old.fact.line)))
            answered = frozenset((new.fact.id, old.fact.id)) in standing.answered or settled(new.fact, old.fact)
            if len(pair) < 2 or pair in seen or answered:
                continue
            rival = judged(new, old)
            if rival is not None:
                seen.add(pair)
                found.append(rival)
                named += 1
            if named == MAX_NAMED_RIVALS:
                break
    return sorted(found, key=lambda rival: rival.repeats)


def judged(new: Placed, old: Placed) -> Rival | None:
    """What two statements are to each other, None where both hold and neither repeats the other."""
    about, about_old = naming_steps(new.fact.trail), naming_steps(old.fact.trail)
    later = not old.day or new.day >= old.day
    if same(new.fact.text, old.fact.text):  # in the same words no value differs: below two things they say two
        if about != about_old:
            return None
        return Rival(new, old, "same", "both say the same", later)
    from gitmem.memory.relation import Kind as Of

    if later:
        found = judge(old, new)
    else:
        found = judge(new, old)
    if found.asks:
        chances = found.probabilities
        likely = max((Of.REPLACES, Of.ENDS, Of.CONFLICTS), key=lambda each: chances[each])
        reason = "they may not both hold"
        if found.kind == likely:
            reason = found.reason
        return Rival(new, old, str(likely), reason, later, found.automatic)
    if found.kind is Of.SAME:
        return Rival(new, old, "same", found.reason, later)
    return None


def judge(earlier: Placed, later: Placed, *, as_if_derived: bool = False) -> Relation:
    """`relation` of two statements, each with its trail, day and type; the earlier one is guarded where it is a
    person's. `as_if_derived`: ask what the answer would be if no person had written or pinned either."""
    texts = (earlier.fact.text, later.fact.text)
    bare = (claim(texts[0]), claim(texts[1]))
    if (texts[0] == bare[0]) != (texts[1] == bare[1]):  # "We decided that" of one alone is no difference
        texts = bare
    said = [_said(row, text) for row, text in zip((earlier, later), texts, strict=True)]
    if as_if_derived:
        said = [each._replace(guarded=False) for each in said]
    found = _relation(said[0], said[1])
    if found.automatic:
        return found
    return _changed_back(said[0], said[1]) or found


def _changed_back(earlier: Said, later: Said) -> Relation | None:
    """`relation` of a decision and a later one that takes it back: "painted blue", which is what the earlier one had
    replaced, or "painted blue instead of red", after "painted red instead of blue". None for any other two.
    """
    from gitmem.memory.relation import Kind as Of

    if earlier.kind != "decision" or later.kind != "decision":
        return None
    words, before = _words(later.text), _words(earlier.text)
    if words == before:
        gone, went = gone_value(later.text), gone_value(earlier.text)
        if not (gone and went and gone != went and gone in earlier.text.casefold() and went in later.text.casefold()):
            return None
        return _taken_back(_relation(earlier, later), earlier, gone, went)
    if not words < before:
        return None
    first = later._replace(day=earlier.day, guarded=False)
    turned = _relation(first, earlier._replace(day=later.day, guarded=False))
    sure = turned.automatic and turned.kind is Of.REPLACES and turned.covers
    back = turned._replace(reason=TAKEN_BACK, automatic=not earlier.guarded, old=turned.new, new=turned.old)
    if not sure:
        return None
    return back


TAKEN_BACK = "it takes back what that had put in its place"


def _taken_back(found: Relation, earlier: Said, old: str, new: str) -> Relation:
    """The answer for two decisions in the same words that put each other's value in its place."""
    from gitmem.memory.relation import Kind as Of
    from gitmem.memory.relation import about_health

    sure = not earlier.guarded and not about_health(earlier.text)
    return found._replace(
        kind=Of.REPLACES, automatic=sure, asks=True, reason=TAKEN_BACK, old=old, new=new, covers=True
    )  # fmt: skip


def surely_over(earlier: Placed, later: Placed, *, as_if_derived: bool = False) -> bool:
    """Whether the later statement replaces or ends the earlier one so surely that no person need be asked;
    `as_if_derived` as in `judge`."""
    from gitmem.memory.relation import Kind as Of

    judged = judge(earlier, later, as_if_derived=as_if_derived)
    return judged.automatic and judged.kind in (Of.REPLACES, Of.ENDS)


@lru_cache(JUDGEMENTS)
def _relation(earlier: Said, later: Said) -> Relation:
    """`relation`, which depends on nothing but the two: after an answer all other pairs are as they were."""
    from gitmem.memory.relation import relation

    return relation(earlier, later)


def _said(row: Placed, text: str) -> Said:
    from gitmem.memory.relation import Said

    return Said(text, naming_steps(row.fact.trail), row.day, row.fact.get("type"), by_person(row.fact))


def by_person(fact: Fact) -> bool:
    """Whether a person pinned a fact, or wrote it by hand: it cites no log."""
    return pinned(fact) or not fact.get("src")


def settled(one: Fact, other: Fact) -> bool:
    """Whether a person said of two facts which one holds, or that both do."""
    return _names(one.meta, other.id) or _names(other.meta, one.id)


def _names(meta: Meta, ident: str) -> bool:
    return any(key in SETTLES and value and ident.startswith(value) for key, value in meta)


# -- new statements ----------------------------------------------------------------------------------------


def against(
    new: Iterable[Placed], memory: bytes, today: date, days: Mapping[str, str] = MappingProxyType({})
) -> tuple[Rival, ...]:
    """What new statements are to the facts of MEMORY.md; of a line of a log, to those that it is not older than.
    `days`: id of a fact that says no day of its own -> its ISO day."""
    known = [row._replace(day=row.day or days.get(row.fact.id, "")) for row in placed(MEMORY, parse(memory).facts)]
    standing = Standing(known, today)
    return tuple(
        rival for rival in rivals(list(islice(new, LOOKED_AT)), standing) if rival.later or rival.new.path == MEMORY
    )


def came(before: bytes, after: bytes) -> list[Fact]:
    """The facts of a file that it did not have before, each text once."""
    known = {fact.id for fact in parse(before).facts}
    found = {fact.id: fact for fact in reversed(parse(after).facts) if fact.id not in known}
    return list(reversed(found.values()))


HINT = "git mem settle"
VERBS = {"same": "repeats", "replaces": "differs from", "conflicts": "differs from", "ends": "ends"}
MAX_QUOTED_CHARACTERS = 80  # characters of the fact that a sentence quotes


def sentence(rival: Rival) -> str:
    """`differs from MEMORY.md:6 'We use MySQL 8 for orders': git mem settle`; a line of a log may repeat a fact, and
    nobody is asked about that."""
    text = rival.old.fact.text
    if len(text) <= MAX_QUOTED_CHARACTERS:
        quoted = text
    else:
        quoted = text[: MAX_QUOTED_CHARACTERS - 1].rstrip() + "…"
    if rival.repeats and rival.new.path != MEMORY:
        hint = ""
    else:
        hint = f": {HINT}"
    return f"{VERBS[rival.kind]} {rival.old.path}:{rival.old.fact.line} '{quoted}'{hint}"


def placed_sentence(rival: Rival) -> str:
    """The same behind the place of the statement, for an answer about several."""
    return f"{rival.new.path}:{rival.new.fact.line} {sentence(rival)}"


def statement_value(row: Placed) -> dict[str, Any]:
    return {"path": row.path, "line": row.fact.line, "id": row.fact.id, "text": row.fact.text}


def without_secrets(rival: Rival) -> Rival:
    """A pair as it may be shown: a text with a secret is hidden, and the reason, which may quote it or its trail."""
    from gitmem.gate.quoting import without_secrets as shown

    rows = (rival.new, rival.old)
    texts = shown([row.fact.text for row in rows])
    trails = [step for row in rows for step in row.fact.trail]
    if texts == [row.fact.text for row in rows] and shown(trails) == trails:
        return rival
    new, old = (row._replace(fact=row.fact._replace(text=text)) for row, text in zip(rows, texts, strict=True))
    return replace(rival, new=new, old=old, reason="")
