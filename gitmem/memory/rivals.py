"""Finds the rivals of a statement: the facts that it repeats, replaces, ends or conflicts with.

The candidates for a statement are the facts that share most words with it. `relation` judges each pair from the texts,
trails, days and types of both. A pair that a person settled (`supersedes=ID` or `beside=ID` in the comment of either)
is not reported again. Pure: the module reads and changes no file. A caller may act on a rival without asking a person
only if `Rival.automatic` is true.
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
from typing import TYPE_CHECKING, NamedTuple

from gitmem.json_values import json_keys
from gitmem.lazy_patterns import lazy
from gitmem.memory.deciding_words import without_deciding_words
from gitmem.memory.fact import ABOUT, Fact, names_fact
from gitmem.memory.facts import BESIDE, SUPERSEDES, by_person, expired, fact_date, parse
from gitmem.memory.sections import subject_steps
from gitmem.memory.similarity import is_near_duplicate, replaced_value, terms
from gitmem.memory.topics import may_be_one_topic, statement_topic
from gitmem.paths import Kind, kind
from gitmem.text.english import STOP_WORDS
from gitmem.text.heading_words import is_generic_heading, leading_topic

if TYPE_CHECKING:
    from gitmem.memory.relation import Relation, Said

MEMORY = "MEMORY.md"
Progress = Callable[[int, int], object]  # reports progress: called with the number of statements done, and of all
MAX_POSTINGS = 1000  # entries of the word index that are read for one statement, beginning with the rarest words
MAX_JUDGED_FACTS = 6  # candidates for one statement that `relation` judges; the statement itself may be one of them
# Least share of the shorter text's terms, without stop words, that a candidate must share. Measured with `relation` on
# 1,766 pairs from eight authors: 0.25 keeps .77 of the replacements, .92 of the ends, .97 of the conflicts and .86 of
# the repetitions. Of the facts of 14 public memories it asks about .06; without this limit .08; a limit of a third asks
# about .05, but keeps only .66 of the replacements.
MIN_SHARED_TERMS = 0.25  # share of the shorter text's terms
# Chance of a disagreement from which a person is asked about two facts that one commit wrote below one heading of a
# thing: in 26 public memories (3,400 facts) 15 of 27 questions were about such facts, and one of the 15 was real.
MIN_CHANCE_SIDE_BY_SIDE = 0.9
# Chance that both say the same from which a person is told so: 14 of the 26 such pairs of these memories were real, 11
# of the 13 with this chance; of 1,766 labelled pairs .78 and all.
MIN_CHANCE_SAME = 0.6
UNCOMMITTED = 1 << 62  # `PlacedFact.seconds` of a line that no commit has: later than any commit
SETTLES = (SUPERSEDES, BESIDE)  # keys of a comment with which a person settles a pair of facts
PROPOSES = "proposes"  # key of a comment: its writer, an agent or a model, says that it replaces the fact with this id
_BOLD_LABEL = lazy(r"\*\*[^*]+\*\*\s*[:：]?")  # a parent item that is a label alone
MAX_CACHED_RELATIONS = 1 << 14  # pairs of statements
MAX_CACHED_TEXTS = 1 << 12  # texts whose words are cached
MAX_NEW_STATEMENTS = 500  # new statements of one write that are compared; an import may have many thousands
MAX_NAMED_RIVALS = 3  # rivals that are reported for one statement


@json_keys("path line=fact.line id=fact.id text=fact.text")
class PlacedFact(NamedTuple):
    """A fact with the path of its file. `day`: the ISO day on which it was written, "" if unknown. `seconds`: when it
    was written, since 1970, 0 if unknown; they order facts of one day."""

    path: str
    fact: Fact
    day: str = ""
    seconds: int = 0

    def may_follow(self, other: PlacedFact) -> bool:
        """Whether this fact is the later of the two, or may be because nothing tells."""
        if self.day == other.day and self.seconds and other.seconds:
            return self.seconds >= other.seconds
        return not other.day or self.day >= other.day


@json_keys("relation=kind reason later new fact=old")
@dataclass(frozen=True, slots=True)
class Rival:
    """Two facts that repeat each other or disagree: a new one (`new`) and one that memory has (`old`).

    `kind`: "same", "replaces", "ends" or "conflicts" (`relation.Kind`), for the effect of the later fact on the earlier
    one. `reason`: a sentence for a person. `later`: whether `new` is the later of the two. `automatic`: whether a
    program may act on it without a person: the score is high, the earlier fact is neither pinned nor written by hand,
    and none is about health.

    JSON: `relation`: `same`, `replaces`, `ends` or `conflicts`. `later`: whether the new statement is the later
    one. `new`: the new statement. `fact`: the fact that is there. A text that holds a secret is hidden.
    """

    new: PlacedFact
    old: PlacedFact
    kind: str
    reason: str
    later: bool = True
    automatic: bool = False

    @property
    def repeats(self) -> bool:
        """Whether both facts say the same."""
        return self.kind == "same"

    @property
    def earlier_first(self) -> tuple[PlacedFact, PlacedFact]:
        """Both statements, the earlier one first."""
        if self.later:
            return self.old, self.new
        return self.new, self.old


@json_keys("path line day? later")
class OtherSide(NamedTuple):
    """Where the other statement of an open pair is: its file and line, without its text. `day`: its ISO day, "" if
    unknown. `later`: whether it is the later of the two, None if their days do not tell.

    JSON: `later`: whether it is the later of the two, null if that is not known.
    """

    path: str
    line: int
    day: str
    later: bool | None

    @property
    def words(self) -> str:
        """The mark to show beside the statement: `a later line says otherwise: MEMORY.md:7, 2026-11-20`."""
        where = ", ".join(filter(None, (f"{self.path}:{self.line}", self.day)))
        return f"{_WHICH[self.later]} line says otherwise: {where}"


_WHICH = {True: "a later", False: "an earlier", None: "another"}
Judged = Callable[[PlacedFact, PlacedFact], Rival | None]  # (a statement, a fact that memory has) -> their rival


class KnownFacts:
    """The facts with which statements are compared, indexed by their words. Archived and expired facts are left out.

    `rows`: the facts; of several with equal id and trail only the first. `words`: the terms of each row.
    """

    def __init__(self, rows: Iterable[PlacedFact], today: date) -> None:
        first_rows: dict[tuple[str, tuple[str, ...]], PlacedFact] = {}
        for row in rows:
            if kind(row.path) is not Kind.ARCHIVE and not expired(row.fact, today):
                first_rows.setdefault((row.fact.id, row.fact.trail), row)
        self.rows = list(first_rows.values())
        self.words = [_words(row.fact.text) for row in self.rows]
        self.settled = {
            frozenset((row.fact.id, value)) for row in self.rows for key, value in row.fact.meta if key in SETTLES
        }
        self._postings: dict[str, list[int]] = defaultdict(list)  # term -> positions in `rows`
        for number, words in enumerate(self.words):
            for term in words:
                self._postings[term].append(number)

    def nearest(self, fact: Fact) -> Iterator[PlacedFact]:
        """The candidates for a statement: at most MAX_JUDGED_FACTS facts that share enough words, the best first.

        If the statement is itself one of the rows, it comes among them.
        """
        words = _words(fact.text)
        for number in self._best(words):
            if _share(words, self.words[number]):
                yield self.rows[number]

    def _best(self, words: Iterable[str]) -> list[int]:
        """The positions of the MAX_JUDGED_FACTS rows with the greatest summed weight of shared terms.

        A term weighs more the fewer rows have it. Rare terms are looked up first, until MAX_POSTINGS are read.
        """
        weights: dict[int, float] = defaultdict(float)
        remaining = MAX_POSTINGS
        postings = (self._postings[term] for term in words if term in self._postings)
        for places in sorted(postings, key=lambda places: (len(places), places)):
            if remaining <= 0:
                break
            weight = log(1 + len(self.rows) / len(places))
            for number in places[:remaining]:
                weights[number] += weight
            remaining -= len(places)
        return nlargest(MAX_JUDGED_FACTS, weights, key=lambda number: (weights[number], -number))


@lru_cache(MAX_CACHED_TEXTS)
def _words(text: str) -> frozenset[str]:
    """The terms of a text without stop words; all its terms if they are all stop words."""
    all_terms = frozenset(terms(text))
    return all_terms - STOP_WORDS or all_terms


def _share(words: frozenset[str], other_words: frozenset[str]) -> bool:
    """Whether two texts share at least MIN_SHARED_TERMS of the shorter one's terms. False if one has a single term."""
    shorter = min(len(words), len(other_words))
    return shorter > 1 and len(words & other_words) >= max(1, MIN_SHARED_TERMS * shorter)


def share_enough_words(text: str, other_text: str) -> bool:
    """Whether two texts share enough words (MIN_SHARED_TERMS) to be compared as candidates for each other."""
    return _share(_words(text), _words(other_text))


def with_days(path: str, facts: Iterable[Fact], day: str = "") -> list[PlacedFact]:
    """The facts of one file as `PlacedFact`s. `day`: the day of a fact that has no date of its own."""
    return [PlacedFact(path, fact, fact_date(fact) or day) for fact in facts]


def rivals(
    statements: Sequence[PlacedFact], standing: KnownFacts, report: Progress = lambda *_: None,
    judged: Judged | None = None,
) -> list[Rival]:  # fmt: skip
    """The rivals of `statements` among the `standing` facts: disagreements first, at most MAX_NAMED_RIVALS for each
    statement. Settled pairs are left out.

    `report` is called before each statement. The later of a pair is the one with the later day; the statement, if the
    days are equal or the fact has none. `judged`: returns the rival of a statement and a fact in place of `rival_of`.
    """
    judged = judged or rival_of
    all_rivals: list[Rival] = []
    seen_pairs: set[frozenset[tuple[str, int]]] = set()
    for number, new in enumerate(statements):
        report(number, len(statements))
        count = 0
        for old in standing.nearest(new.fact):
            pair = frozenset(((new.path, new.fact.line), (old.path, old.fact.line)))
            if len(pair) < 2 or pair in seen_pairs:
                continue
            if frozenset((new.fact.id, old.fact.id)) in standing.settled or is_settled(new.fact, old.fact):
                continue
            rival = judged(new, old)
            if rival is not None:
                seen_pairs.add(pair)
                all_rivals.append(rival)
                count += 1
            if count == MAX_NAMED_RIVALS:
                break
    return sorted(all_rivals, key=lambda rival: rival.repeats)


def rival_of(new: PlacedFact, old: PlacedFact) -> Rival | None:
    """The rival that two facts make; None if both hold and neither repeats the other. Equal words below headings of two
    subjects are no repetition."""
    later = new.may_follow(old)
    if is_near_duplicate(new.fact.text, old.fact.text):
        if subject_steps(new.fact.trail) != subject_steps(old.fact.trail):
            return None
        return Rival(new, old, "same", "both say the same", later)
    from gitmem.memory.relation import DISAGREE
    from gitmem.memory.relation import Kind as Of

    relation = judge(old, new) if later else judge(new, old)
    chances = relation.probabilities
    asks = relation.asks
    if asks and _were_written_side_by_side(new, old):
        asks = relation.disagreement >= MIN_CHANCE_SIDE_BY_SIDE
    if asks:
        likely = max(DISAGREE, key=lambda outcome: chances[outcome])
        reason = relation.reason if relation.kind == likely else "they may not both hold"
        return Rival(new, old, str(likely), reason, later, relation.automatic)
    if relation.kind is Of.SAME and chances[Of.SAME] >= MIN_CHANCE_SAME:
        return Rival(new, old, "same", relation.reason, later)
    return None


def _were_written_side_by_side(row: PlacedFact, other: PlacedFact) -> bool:
    """Whether one commit wrote both facts, of one day, below the same heading of a thing, so that its author saw them
    together."""
    if (row.path, row.day, row.seconds) != (other.path, other.day, other.seconds):
        return False
    if not 0 < row.seconds < UNCOMMITTED:  # not committed, or not known
        return False
    section = _section(row.fact.trail)
    return section != () and section == _section(other.fact.trail)


def _section(trail: tuple[str, ...]) -> tuple[str, ...]:
    """The trail up to the last step that names a thing: without headings of a kind of line ("Notes") and labels of an
    item (`**Cause**:`) at its end. () if only the title of the file is left of a longer trail."""
    end = len(trail)
    while end and (is_generic_heading(trail[end - 1]) or _BOLD_LABEL.fullmatch(trail[end - 1])):
        end -= 1
    if end == 1 < len(trail):
        return ()
    return trail[:end]


def judge(earlier: PlacedFact, later: PlacedFact, *, as_if_derived: bool = False) -> Relation:
    """The relation of two facts, judged from their texts, trails, days and types.

    A fact that a person pinned or wrote by hand is guarded: a program may not replace it. `as_if_derived`: True judges
    as if both were derived from logs, so that neither is guarded.
    """
    earlier, later = _in_form_of(earlier, later), _in_form_of(later, earlier)
    texts = (earlier.fact.text, later.fact.text)
    bare = (without_deciding_words(texts[0]), without_deciding_words(texts[1]))
    if (texts[0] == bare[0]) != (texts[1] == bare[1]):  # only one begins with "We decided that": compare without it
        texts = bare
    sides = [_said(row, text) for row, text in zip((earlier, later), texts, strict=True)]
    if as_if_derived:
        sides = [side._replace(guarded=False) for side in sides]
    relation = _relation(sides[0], sides[1])
    if relation.automatic:
        return relation
    return _changed_back(sides[0], sides[1]) or relation


def _in_form_of(row: PlacedFact, other: PlacedFact) -> PlacedFact:
    """The fact with the topic of its comment (ABOUT) before its text if the text of `other` begins with that topic;
    else the fact as it is."""
    about, topic = row.fact.get(ABOUT), leading_topic(other.fact.text)
    if not about or not topic or other.fact.get(ABOUT):
        return row
    if not may_be_one_topic(statement_topic("", about=about), statement_topic("", about=topic)):
        return row
    return row._replace(fact=row.fact._replace(text=f"{about}: {row.fact.text}", trail=row.fact.trail[:-1]))


def _changed_back(earlier: Said, later: Said) -> Relation | None:
    """The relation of a decision and a later decision that reverses it; None for any other two statements.

    After "painted red instead of blue" the later decision is "painted blue instead of red", or only "painted blue".
    """
    from gitmem.memory.relation import Kind as Of
    from gitmem.memory.relation import about_health

    if earlier.kind != "decision" or later.kind != "decision":
        return None
    later_words, earlier_words = _words(later.text), _words(earlier.text)
    if later_words == earlier_words:
        # The same words: each decision must call replaced what the other one decides.
        old, new = replaced_value(later.text), replaced_value(earlier.text)
        if not (old and new and old != new and old in earlier.text.casefold() and new in later.text.casefold()):
            return None
        automatic = not earlier.guarded and not about_health(earlier.text)
        return _relation(earlier, later)._replace(
            kind=Of.REPLACES, automatic=automatic, asks=True, reason=TAKEN_BACK, old=old, new=new, covers=True
        )
    if not later_words < earlier_words:
        return None
    # Fewer words: judged in the opposite order, the longer decision must surely replace the shorter one.
    as_earlier = later._replace(day=earlier.day, guarded=False)
    turned = _relation(as_earlier, earlier._replace(day=later.day, guarded=False))
    if not (turned.automatic and turned.kind is Of.REPLACES and turned.covers):
        return None
    return turned._replace(reason=TAKEN_BACK, automatic=not earlier.guarded, old=turned.new, new=turned.old)


TAKEN_BACK = "it takes back what that had put in its place"


def surely_supersedes(earlier: PlacedFact, later: PlacedFact, *, as_if_derived: bool = False) -> bool:
    """Whether the later fact replaces or ends the earlier one with a score high enough to act without a person.
    `as_if_derived`: True judges as if neither was written or pinned by a person."""
    from gitmem.memory.relation import Kind as Of

    relation = judge(earlier, later, as_if_derived=as_if_derived)
    return relation.automatic and relation.kind in (Of.REPLACES, Of.ENDS)


@lru_cache(MAX_CACHED_RELATIONS)
def _relation(earlier: Said, later: Said) -> Relation:
    """`relation`, cached: its result depends on the two statements only."""
    from gitmem.memory.relation import relation

    return relation(earlier, later)


def _said(row: PlacedFact, text: str) -> Said:
    """The fact with another text, as `relation` takes it: with its trail, day, type, and whether a person said it."""
    from gitmem.memory.relation import Said

    return Said(text, row.fact.trail, row.day, row.fact.get("type"), by_person(row.fact))


def proposed_rivals(lines: Iterable[PlacedFact], facts: Sequence[PlacedFact]) -> list[Rival]:
    """A pair for each statement of `lines` whose comment proposes that it replaces one of `facts` (PROPOSES, at
    least four characters of the id). A pair that a person settled is left out."""
    proposed = []
    for row in lines:
        for ident in [value for key, value in row.fact.meta if key == PROPOSES and len(value) >= 4]:
            old = next((candidate for candidate in facts if candidate.fact.id.startswith(ident)), None)
            if old is not None and not is_settled(row.fact, old.fact):
                proposed.append(Rival(row, old, "replaces", _proposer(row)))
    return proposed


def _proposer(row: PlacedFact) -> str:
    """A sentence on who proposes that the statement replaces a fact: the promotion for a statement with `src`, an agent
    for one of origin `agent`, else only its comment."""
    if row.fact.get("src"):
        return "the promotion that added it proposes it"
    if row.fact.origin == "agent":
        return "an agent proposes it"
    return "its comment proposes it"


def is_settled(fact: Fact, other: Fact) -> bool:
    """Whether a person settled the pair: the comment of one of the two facts names the other in `supersedes` or
    `beside`."""
    return names_fact(fact.meta, SETTLES, other.id) or names_fact(other.meta, SETTLES, fact.id)


# -- new statements ----------------------------------------------------------------------------------------


def rivals_in_memory(
    new: Iterable[PlacedFact], memory: bytes, today: date, days: Mapping[str, str] = MappingProxyType({})
) -> tuple[Rival, ...]:
    """The rivals of new statements among the facts of MEMORY.md. `memory`: its bytes.

    Only the first MAX_NEW_STATEMENTS of `new` are compared. A line of a log has no rivals among facts that are newer
    than it. `days`: fact id -> ISO day, for facts whose comment names no day.
    """
    facts = [row._replace(day=row.day or days.get(row.fact.id, "")) for row in with_days(MEMORY, parse(memory).facts)]
    found_rivals = rivals(list(islice(new, MAX_NEW_STATEMENTS)), KnownFacts(facts, today))
    return tuple(rival for rival in found_rivals if rival.later or rival.new.path == MEMORY)


def added_facts(before: bytes, after: bytes) -> list[Fact]:
    """The facts of a file whose text it did not have before, each text once."""
    known_ids = {fact.id for fact in parse(before).facts}
    added = {fact.id: fact for fact in reversed(parse(after).facts) if fact.id not in known_ids}
    return list(reversed(added.values()))


HINT = "git mem settle"
VERBS = {"same": "repeats", "replaces": "differs from", "conflicts": "differs from", "ends": "ends"}
MAX_QUOTED_CHARACTERS = 80  # a longer fact is cut in a sentence


def sentence(rival: Rival) -> str:
    """The rival for a person: `differs from MEMORY.md:6 'We use MySQL 8 for orders': git mem settle`.

    The hint is left out for a line of a log that repeats a fact: a person need not decide anything.
    """
    quoted = rival.old.fact.text
    if len(quoted) > MAX_QUOTED_CHARACTERS:
        quoted = quoted[: MAX_QUOTED_CHARACTERS - 1].rstrip() + "…"
    hint = f": {HINT}"
    if rival.repeats and rival.new.path != MEMORY:
        hint = ""
    return f"{VERBS[rival.kind]} {rival.old.path}:{rival.old.fact.line} '{quoted}'{hint}"


def placed_sentence(rival: Rival) -> str:
    """The path and the line of the new statement, then what `sentence` says about the rival."""
    return f"{rival.new.path}:{rival.new.fact.line} {sentence(rival)}"


def without_secrets(rival: Rival) -> Rival:
    """The rival as it may be shown. If a text or a trail has a secret, the texts are masked and the reason is "", since
    the reason may quote them."""
    from gitmem.gate.quoting import without_secrets as shown

    rows = (rival.new, rival.old)
    texts = shown([row.fact.text for row in rows])
    trails = [step for row in rows for step in row.fact.trail]
    if texts == [row.fact.text for row in rows] and shown(trails) == trails:
        return rival
    new, old = (row._replace(fact=row.fact._replace(text=text)) for row, text in zip(rows, texts, strict=True))
    return replace(rival, new=new, old=old, reason="")
