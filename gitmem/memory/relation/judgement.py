"""Judges two statements: the probability of each kind of relation, a reason, and whether to act or to ask a person.

The probabilities come from one linear model over `features`, with the weights of relation.tsv, which `tools/train.py
relation` writes. Rules then correct them. A pair with a feature of `_DOUBTS` (two similar names, a plan, two sources of
one time) is never acted on without a person, whatever its probability. The module changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from gitmem import linear_model
from gitmem.lazy_patterns import lazy
from gitmem.memory.deciding_words import without_deciding_words
from gitmem.memory.relation.alignment import VALUES, Alignment, align, classes_of, near, sameness, value_type
from gitmem.memory.relation.clauses import main_clauses
from gitmem.memory.relation.english import VERBS
from gitmem.memory.relation.features import Features, features_of, gives_replaced_value, stated_change
from gitmem.memory.relation.reading import LANGUAGES, Reading, cues_of, read
from gitmem.memory.relation.tokens import DATE, ID, NAME, NUMBER, TIME, WORD, Token
from gitmem.memory.sections import subject_steps
from gitmem.memory.similarity import exchange_values
from gitmem.memory.topics import Topic, TopicMatch, are_siblings, compare_topics, statement_topic
from gitmem.text.directions import is_way_back
from gitmem.text.heading_words import split_topic

MIN_OWN_WORDS = 2  # words behind a topic from which a text has a subject of its own
SAME_WORDS = 0.5  # least shared part of the earlier text for a denial to contradict it
SUBJECT_SHARED = 0.4  # least shared part of the earlier text for an automatic replacement
UNSHOWN = 0.11  # subtracted from the probability if the later text neither names the old value nor states a change
END_WORDS = 4  # most tokens that a later text may have alone to say that the thing of the earlier one is over
SAME_HEAD = 0.6  # least degree to which the first token of the earlier text is shared, for the same
PROVED = 0.95  # probability of a replacement whose text names the old value
SHOWN_WORDS = 4  # most words of a subject or a value in a reason
NOW = frozenset(("now", "currently", "이제", "이제는", "지금", "지금은", "현재", "今", "今は", "現在", "现在", "目前"))
SAME_VALUE = 0.7  # least degree for two values to be the same
BEGUN_ALIKE = 0.6  # degree of two words with the same beginning, which may be two things (grandpa, grandma)


# A longer text has more than one statement, and comparing it would take seconds.
MAX_COMPARED_CHARACTERS = 1_000


class Kind(StrEnum):
    """The effect of the later statement on the earlier one: it repeats it (SAME), adds a detail (ADDS), is about
    another thing (OTHER), gives another value (REPLACES), says that it is over (ENDS), or contradicts it (CONFLICTS).
    After SAME, ADDS and OTHER both statements hold."""

    SAME = "same"
    ADDS = "adds"
    OTHER = "other"
    REPLACES = "replaces"
    ENDS = "ends"
    CONFLICTS = "conflicts"


class Said(NamedTuple):
    """A statement to compare.

    `text`: its words. `trail`: note name, headings and parent items above it, from the outermost in. `day`: the ISO day
    on which it was written, "" if unknown. `kind`: its type, "" without one. `guarded`: a person pinned or wrote it, so
    that no program may replace it.
    """

    text: str
    trail: tuple[str, ...] = ()
    day: str = ""
    kind: str = ""
    guarded: bool = False


class Relation(NamedTuple):
    """The result of comparing two statements.

    `kind`: the most probable kind. `probability`: of this kind, 0 to 1. `probabilities`: of all kinds. `reason`: a
    sentence for a person. `automatic`: a program may act on it without a person. `asks`: a person should be asked; true
    if `automatic` is. `subject`: (earlier, later) words that name different things. `about`: words that both share.
    `old`, `new`: the values that differ, "" if none was found. `covers`: the later text has every word of the earlier
    one, apart from values.
    """

    kind: Kind
    probability: float
    probabilities: Mapping[Kind, float]
    reason: str
    automatic: bool
    asks: bool
    subject: tuple[tuple[str, str], ...] = ()
    about: tuple[str, ...] = ()
    old: str = ""
    new: str = ""
    covers: bool = False

    @property
    def disagreement(self) -> float:
        """The probability that the two statements do not both hold."""
        return sum(self.probabilities[kind] for kind in DISAGREE)


# A pair with one of these features is never automatic.
_DOUBT_NAMES = """
near near2 contrast kin_new sibling bare_before_head head_identity_swap arrow_not_from_old from_not_old
cue:plan cue_old:plan cue_both:plan cue:resume cue_both:resume cue:pause cue_both:pause
cue:at_once cue_both:at_once cue:kept cue_both:kept cue_old:event cross_language
"""
_DOUBTS = frozenset(_DOUBT_NAMES.split())


# Doubts that do not count if the later text names both the old and the new value: its verb differs then ("쓴다",
# "바꿨다").
_ANSWERED_BY_MOVE = frozenset(("from_not_old", "sibling"))


# Features of two names in one place. Without a word of change such a pair is never automatic.
_NAMES_SWAPPED = ("slot:tool", "slot:name", "slot:word", "slot:mixed", "tools")


def relation(earlier: Said | str, later: Said | str) -> Relation:
    """Judge the effect of the later statement on the earlier one. Any text is safe; the order of the two matters.

    A plain string counts as a `Said` without trail, day and type. A pair with a text of more than
    MAX_COMPARED_CHARACTERS is not compared: it is SAME if both have the same words and trail, else OTHER.
    """
    earlier_said, later_said = _as_said(earlier), _as_said(later)
    if max(len(earlier_said.text), len(later_said.text)) > MAX_COMPARED_CHARACTERS:
        if earlier_said.trail == later_said.trail and earlier_said.text.split() == later_said.text.split():
            return _REPEATED
        return _TOO_LONG
    earlier_said, later_said = _claims(earlier_said, later_said)
    if not _NOW_WORD.search(later_said.text):  # a "now" of the earlier text alone says nothing of the two
        earlier_said = earlier_said._replace(text=_NOW_WORD.sub("", earlier_said.text))
    topics = statement_topic(earlier_said.text, earlier_said.trail), statement_topic(later_said.text, later_said.trail)
    if compare_topics(*topics) is TopicMatch.ANOTHER:
        return _of_two_topics(earlier_said, later_said, topics)
    return _compared(earlier_said, later_said)


def _of_two_topics(earlier: Said, later: Said, topics: tuple[Topic, Topic]) -> Relation:
    """The relation of two statements about two topics; it is never automatic.

    If a person should be asked about the statements as they are, they are compared once more with the topics before
    their texts, so that a heading and words before a colon are compared alike. The result with less disagreement
    counts: the topics only tell things apart. Nobody is asked about two topics of one kind (`project falcon`,
    `project eagle`).
    """
    if are_siblings(*topics) and not _names_source(earlier, later):
        return _TWO_TOPICS
    without_topics = _compared(earlier, later)
    if not without_topics.asks:
        if without_topics.kind is Kind.SAME:
            return _TWO_TOPICS
        return without_topics
    with_topics = _compared(_after_topic(earlier, topics[0].name), _after_topic(later, topics[1].name))
    if with_topics.kind is Kind.SAME:
        return _TWO_TOPICS
    return min(with_topics, without_topics, key=lambda compared: compared.disagreement)._replace(automatic=False)


def _after_topic(statement: Said, topic: str) -> Said:
    """The statement with a topic before its claim, and without a trail."""
    leading, rest = split_topic(statement.text)
    if leading != topic:
        rest = statement.text
    return statement._replace(text=f"{topic}: {without_deciding_words(rest)}", trail=())


def _compared(earlier: Said, later: Said) -> Relation:
    """The relation of two statements whose lengths allow it, whatever their topics."""
    old, new = _with_trails(earlier, later)
    if nothing_shared(read(old), read(new)) or _only_trails_share(earlier.text, later.text):
        return _UNRELATED
    if _only_topics_share(earlier.text, later.text):
        return _UNRELATED
    whole_relation = _judged(earlier, later, old, new)
    main_old, main_new = main_clauses(old), main_clauses(new)
    if whole_relation.automatic or (main_old == old and main_new == new):
        return whole_relation
    has_value_aside = value_aside(old, new) or value_aside(new, old)
    main_relation = _judged(earlier, later, main_old, main_new)
    whole_disagrees_more = whole_relation.disagreement >= main_relation.disagreement
    if whole_relation.asks and not main_relation.automatic and (not has_value_aside or whole_disagrees_more):
        return whole_relation
    if main_relation.asks and (has_value_aside or _shows_old_value(main_old, main_new)):
        return main_relation
    if has_value_aside:
        return _never_same(whole_relation, main_relation)
    return whole_relation


_SPACED_NOW = "|".join(
    sorted((word for word in NOW if word.isascii() or "가" <= word[0] <= "힣"), key=len, reverse=True)
)
_NOW_WORD = lazy(rf"(?<!\w)(?:{_SPACED_NOW})\s+(?=\S)|今は|現在は?|现在|目前", re.I)


def _as_said(statement: Said | str) -> Said:
    return Said(statement) if isinstance(statement, str) else statement


def _of_two_things(chances: dict[Kind, float]) -> dict[Kind, float]:
    """The probabilities for two statements about two things: those of a disagreement are moved to OTHER."""
    lost = sum(chances[kind] for kind in DISAGREE)
    return {**chances, **dict.fromkeys(DISAGREE, 0.0), Kind.OTHER: chances[Kind.OTHER] + lost}


DISAGREE = (Kind.REPLACES, Kind.ENDS, Kind.CONFLICTS)


def names_old_value(old: str, new: str) -> bool:
    """Whether the later text says a change and names the value of the earlier one ("40 -> 60", "instead of 40")."""
    pair = align(old, new)
    return stated_change(pair) is not None or not _NAMING.isdisjoint(features_of(pair))


def _shows_old_value(old: str, new: str) -> bool:
    """Whether the later text names the old value, or has another value of its type."""
    pair = align(old, new)
    return stated_change(pair) is not None or not (_NAMING | {"value_same_unit"}).isdisjoint(features_of(pair))


def value_aside(text: str, other_text: str) -> bool:
    """Whether a value in the main clauses of `text` is in `other_text` too, but only in a side clause there.

    `other_text` does not state that value then ("port 8080"; "port 9090, because 8080 is taken").
    """
    main = main_clauses(other_text)
    if main == other_text:
        return False
    main_tokens, all_tokens = read(main).content, read(other_text).content
    values = (token for token in read(main_clauses(text)).content if token.kind in (*VALUES, ID, NAME))
    unstated = (value for value in values if not any(sameness(value, token) for token in main_tokens))
    return any(sameness(value, token) >= SAME_VALUE for value in unstated for token in all_tokens)


def _never_same(whole_relation: Relation, main_relation: Relation) -> Relation:
    """The relation of two statements if one has the other's value in a side clause: `whole_relation`, or if that is
    SAME, `main_relation` (the relation of the main clauses) with SAME turned into ADDS."""
    if whole_relation.kind is not Kind.SAME:
        return whole_relation
    if main_relation.kind is not Kind.SAME:
        return main_relation
    chances = {**main_relation.probabilities, Kind.SAME: 0.0, Kind.ADDS: main_relation.probabilities[Kind.SAME]}
    return main_relation._replace(kind=Kind.ADDS, probability=chances[Kind.ADDS], probabilities=chances, reason=_ADDS)


_ADDS = "the later one adds a detail or an exception"


def _judged(earlier: Said, later: Said, old: str, new: str) -> Relation:
    """Judge the effect of the later statement on the earlier one. `old`, `new`: the words of the two that are compared,
    either the texts that `_with_trails` makes or the main clauses of these."""
    pair = align(old, new)
    features = features_of(pair)
    model = linear_model.load(__file__, "relation.tsv")
    if pair.old.letters == pair.new.letters and old.split() == new.split():
        chances = {kind: float(kind is Kind.SAME) for kind in Kind}
    else:
        chances = {Kind(name): chance for name, chance in model.probabilities(features).items()}
        if exchange_values(old, new):  # "tabs, not spaces", "spaces, not tabs"
            chances = {**chances, Kind.SAME: 0.0, Kind.CONFLICTS: chances[Kind.CONFLICTS] + chances[Kind.SAME]}
        chances = _by_day(corrected(chances, features, pair), earlier, later, pair)
    if _no_shared_subject(pair) or _ends_nothing(pair) or _keys_differ(earlier, later):
        chances = _of_two_things(chances)
    kind = max(chances, key=lambda candidate: chances[candidate])
    over_chance = chances[Kind.REPLACES] + chances[Kind.ENDS]
    is_over = certainty(over_chance, features, pair) >= model.thresholds["automatic"]
    automatic = is_over and kind in (Kind.REPLACES, Kind.ENDS) and not doubted(features, earlier, later, pair)
    automatic = automatic and not says_more(pair, kind) and not says_less(pair, kind)
    asks = automatic or over_chance + chances[Kind.CONFLICTS] >= model.thresholds["asks"]
    chances = _in_order(chances, earlier, later, pair)
    kind = max(chances, key=lambda candidate: chances[candidate])
    if kind is Kind.SAME and is_way_back(old, new):  # both hold: the ferry goes there and back
        chances = {**chances, Kind.SAME: 0.0, Kind.OTHER: chances[Kind.OTHER] + chances[Kind.SAME]}
        kind = Kind.OTHER
    return _explained(kind, chances, pair, automatic, asks)


def nothing_shared(reading: Reading, other_reading: Reading) -> bool:
    """Whether two texts of one language have no value, word or pair of letters in common; they need no comparison.
    False for texts of two languages, and for a text without words and values."""
    return (
        reading.language == other_reading.language
        and reading.parts.isdisjoint(other_reading.parts)
        and bool(reading.parts and other_reading.parts)
    )


def _only_trails_share(text: str, other_text: str) -> bool:
    """Whether two texts with words of their own have nothing in common, so that only their trails name a common word.

    "32 photos imported" below "Images" does not speak of "Images: 30 (15.19GB)" below "Photo import". A text of values
    alone ("9090" below "Port") is about what its trail names.
    """
    reading, other_reading = read(text), read(other_text)
    worded = all(any(token.kind not in VALUES for token in side.content) for side in (reading, other_reading))
    return worded and nothing_shared(reading, other_reading)


def _only_topics_share(text: str, other_text: str) -> bool:
    """Whether two texts have only the topic before a colon in common, as "ferry: the crew is four" and "ferry: tickets
    are sold on board" have, and each has words of its own behind it.

    The words before a colon are the subject or the property of a short text ("Author: Mia Rolle") and of a text that
    begins with them ("the author is Jon Abara"). These are compared whole.
    """
    (topic, claim), (other_topic, other_claim) = split_topic(text), split_topic(other_text)
    if not topic and not other_topic:
        return False
    bare, other_bare = read(claim), read(other_claim)
    if not _has_own_subject(bare) or not _has_own_subject(other_bare):
        return False
    if topic.casefold() != other_topic.casefold():
        if topic and other_topic:
            return False
        words = [token.norm for token in read(topic or other_topic).content]
        others = [token.norm for token in (other_bare if topic else bare).content]
        if not set(words) <= set(others) or others[: len(words)] == words:
            return False
    return nothing_shared(bare, other_bare)


def _has_own_subject(reading: Reading) -> bool:
    """Whether a text has MIN_OWN_WORDS words, or a word before its verb ("the retention is 90 days")."""
    words = [token for token in reading.content if token.kind == WORD]
    return len(words) >= MIN_OWN_WORDS or any(token.start < reading.split for token in words)


def _no_shared_subject(pair: Alignment) -> bool:
    """Whether two statements share only values, and each has other words of its own ("three browsers", "three
    retries").

    They are then about two things, unless the later one names its sources or says that something ended.
    """
    if not _TELLS_OF_VALUE.isdisjoint(pair.new.cues):
        return False
    if any(pair.old.content[i].kind not in VALUES for i, _, _ in pair.pairs) or not pair.pairs:
        return False
    if any(pair.partial_old.values()) or any(pair.partial_new.values()) or pair.old.language != pair.new.language:
        return False
    unpaired = [pair.old.content[i] for i in pair.left_old], [pair.new.content[j] for j in pair.left_new]
    return all(any(token.kind not in VALUES for token in side) for side in unpaired)


def _keys_differ(earlier: Said, later: Said) -> bool:
    """Whether both statements begin with the key of a thing and the keys differ: two rows of one table by their first
    cells, two entries like "`invoice.paid` - close it" by their code, and two like "Monitor: a.md" by their labels,
    which differ if no word is in both."""
    if earlier.trail and later.trail and _CELL in earlier.trail[-1] and earlier.trail[-1] == later.trail[-1]:
        return _stems(earlier.text.partition(_CELL)[0]) != _stems(later.text.partition(_CELL)[0])
    code, code_other = _CODE_KEY.match(earlier.text), _CODE_KEY.match(later.text)
    if code and code_other:
        return _stems(code[1]) != _stems(code_other[1])
    label, label_other = split_topic(earlier.text)[0], split_topic(later.text)[0]
    if not label or not label_other or _names_source(earlier, later):
        return False
    return _stems(label).isdisjoint(_stems(label_other))


def _names_source(earlier: Said, later: Said) -> bool:
    """Whether a statement names a source or an end; the words before its colon may do so then, as in "Fixed: ..."."""
    return not _TELLS_OF_VALUE.isdisjoint(read(earlier.text).cues | read(later.text).cues)


def _stems(text: str) -> set[str]:
    return {token.stem or token.norm for token in read(text).content}


_CELL = " | "  # between the cells of a row and of a table's header
_CODE_KEY = lazy(r"[\W_]*`([^`\n]+)`[*_]*\s*(?:[-:=|]|[–—→：])")


def _ends_nothing(pair: Alignment) -> bool:
    """Whether the later text says no more than that something is not over: it stood still for a length of time
    ("paused for ten minutes"), or its end is denied or taken back ("not cancelled").

    Both hold then, unless it has a word of change or of an end too, or the earlier text has a length that may differ.
    """
    if not pair.new.no_end or not pair.new.cues.isdisjoint(("change", "ends")):
        return False
    return not any(token.dim == "time" for token in pair.old.content)


# With these cues a later text need only name the value: "3188 discontinued", "the slip says 20, the invoice 22".
_TELLS_OF_VALUE = frozenset(("at_once", "source", "ends"))


_UNRELATED = Relation(
    Kind.OTHER, 1.0, {kind: float(kind is Kind.OTHER) for kind in Kind}, "they have nothing in common",
    automatic=False, asks=False,
)  # fmt: skip
_TWO_TOPICS = _UNRELATED._replace(reason="they are about two topics")
_TOO_LONG = _UNRELATED._replace(reason="one of them is too long to be compared")
_REPEATED = _UNRELATED._replace(
    kind=Kind.SAME, probabilities={kind: float(kind is Kind.SAME) for kind in Kind}, reason="both say the same"
)


def about_health(text: str) -> bool:
    """Whether a text has a word about health. No program may replace such a statement without a person."""
    return "health" in read(text).cues


def _claims(earlier: Said, later: Said) -> tuple[Said, Said]:
    """Two decisions without their introductions ("We decided that") if both have one; else both as they are."""
    bare, bare_other = without_deciding_words(earlier.text), without_deciding_words(later.text)
    if bare == earlier.text or bare_other == later.text:
        return earlier, later
    return earlier._replace(text=bare), later._replace(text=bare_other)


def _with_trails(earlier: Said, later: Said) -> tuple[str, str]:
    """The two texts, each after the words of its trail that name its subject, if the trails differ.

    If only the last heading differs, the whole heading is put before each text. Otherwise a word of the trail is put
    there if it names a thing and the other statement has it too, or names another thing of its type.
    """
    steps, steps_other = subject_steps(earlier.trail), subject_steps(later.trail)
    if steps == steps_other:
        return earlier.text, later.text
    if len(steps) == len(steps_other) and steps[:-1] == steps_other[:-1]:
        heading, heading_other = steps[-1], steps_other[-1]
        if _names_subject(heading) and _names_subject(heading_other):
            return f"{heading}: {earlier.text}", f"{heading_other}: {later.text}"
    names, names_other = _names(steps), _names(steps_other)
    text_names, text_names_other = _names((earlier.text,)), _names((later.text,))
    return (
        _after_trail(earlier.text, names, {**names_other, **text_names_other}, text_names),
        _after_trail(later.text, names_other, {**names, **text_names}, text_names_other),
    )


def _names_subject(heading: str) -> bool:
    """Whether a heading names a subject; False for the day or the hour of a log."""
    content = read(heading).content
    return bool(content) and content[0].kind not in (DATE, TIME)


def _names(texts: tuple[str, ...]) -> dict[str, Token]:
    """The tokens of the texts that name a thing: norm of the token -> token."""
    tokens = [token for text in texts for token in read(text).content]
    return {token.norm: token for token in tokens if token.kind in (ID, NAME) or classes_of(token)}


def _after_trail(text: str, trail: dict[str, Token], others: dict[str, Token], text_names: dict[str, Token]) -> str:
    """A text with names of its trail before it: names that the other statement has too, or has another name of the same
    type for.

    `trail`: the names of the trail. `others`: those of the other statement. `text_names`: those of the text, which
    are not repeated.
    """
    types = {value_type(token) for token in others.values()}
    words = [
        token.norm.replace(":", " ") if token.designated else token.text
        for norm, token in trail.items()
        if norm not in text_names and (norm in others or value_type(token) in types)
    ]
    return f"{' '.join(words)}: {text}" if words else text


def corrected(chances: dict[Kind, float], features: Features, pair: Alignment) -> dict[Kind, float]:
    """The probabilities of the model, corrected by rules that are surer than it."""
    chances = _by_equal_value(_by_stated_change(_by_proof(chances, features, pair), pair), pair)
    return _by_denial(chances, features, pair)


def _by_equal_value(chances: dict[Kind, float], pair: Alignment) -> dict[Kind, float]:
    """The probabilities, without a replacement or a conflict if the later text is the earlier one with an equal value
    ("two minutes", "now 120 seconds") and at most a word of NOW."""
    new_indices = [j for _, j, _ in sorted(pair.pairs)]
    is_equal = not pair.left_old and all(degree >= 1.0 for *_, degree in pair.pairs)
    is_whole = is_equal and new_indices == sorted(new_indices)
    has_value = any(pair.old.content[i].kind in (NUMBER, TIME, DATE) for i, *_ in pair.pairs)
    flips = ("negation" in pair.old.cues) != ("negation" in pair.new.cues)
    if not is_whole or not has_value or flips or any(pair.new.content[j].norm not in NOW for j in pair.left_new):
        return chances
    moved_chance = chances[Kind.REPLACES] + chances[Kind.CONFLICTS]
    return {**chances, Kind.SAME: chances[Kind.SAME] + moved_chance, Kind.REPLACES: 0.0, Kind.CONFLICTS: 0.0}


def _by_stated_change(chances: dict[Kind, float], pair: Alignment) -> dict[Kind, float]:
    """The probabilities, with a proved replacement if the later text names the old and the new value and has all other
    words of the earlier one ("we use Stripe for cards", "we switched from Stripe to Adyen for cards")."""
    if stated_change(pair) and not _left_words(pair):
        return _proved(chances)
    return chances


def _proved(chances: dict[Kind, float]) -> dict[Kind, float]:
    """The probabilities with PROVED for REPLACES; the others keep their proportions."""
    other_chances = sum(chances[kind] for kind in Kind if kind is not Kind.REPLACES) or 1.0
    return {kind: PROVED if kind is Kind.REPLACES else (1 - PROVED) * chances[kind] / other_chances for kind in Kind}


def _left_words(pair: Alignment) -> list[Token]:
    """The tokens that only the earlier text has. Verbs are left out ("use"; in Korean and Japanese the last word)."""
    tokens = [pair.old.content[i] for i in pair.left_old]
    tokens += [pair.old.content[i] for i, _, degree in pair.pairs if degree <= BEGUN_ALIKE and pair.old.content[i].stem]
    if pair.old.language in ("ko", "ja") and tokens and tokens[-1] is pair.old.content[-1] and tokens[-1].kind == WORD:
        tokens = tokens[:-1]
    return [token for token in tokens if token.norm not in VERBS]


def _by_proof(chances: dict[Kind, float], features: Features, pair: Alignment) -> dict[Kind, float]:
    """The probabilities, with a proved replacement if the later text has all tokens of the earlier one, names its value
    as the old one and has another value of its type ("600 -> 900")."""
    names_old = "arrow_from_old" in features or "from_old" in features
    old_types = {value_type(pair.old.content[i]) for i, _, _ in pair.pairs if pair.old.content[i].kind in VALUES}
    new_types = {value_type(pair.new.content[j]) for j in pair.left_new if pair.new.content[j].kind in VALUES}
    particles = {token.end for token in pair.old.content if token.kind in VALUES}  # starts of particles after values
    unmatched = [i for i in pair.left_old if pair.old.content[i].start not in particles]
    is_marked = "change" in pair.new.cues or "arrow_from_old" in features
    if unmatched or not names_old or not old_types & new_types or not is_marked:
        return chances
    return _proved(chances)


def _by_denial(chances: dict[Kind, float], features: Features, pair: Alignment) -> dict[Kind, float]:
    """The probabilities, with a conflict for a statement and its denial in the same words ("使う", "使わない").

    It is a conflict too if the later text has the value that the earlier one calls replaced ("Thursdays instead of
    Tuesdays", "Tuesdays").
    """
    flips = ("negation" in pair.old.cues) != ("negation" in pair.new.cues)
    denied = flips and features.get("cover_old", 0.0) >= SAME_WORDS and pair.old.language == pair.new.language
    if not denied and not gives_replaced_value(pair):
        return chances
    return {**chances, Kind.SAME: 0.0, Kind.CONFLICTS: chances[Kind.CONFLICTS] + chances[Kind.SAME]}


def _by_day(chances: dict[Kind, float], earlier: Said, later: Said, pair: Alignment) -> dict[Kind, float]:
    """The probabilities for two statements of one day without a word of change: a conflict is then as likely as a
    replacement."""
    if not earlier.day or earlier.day != later.day or "change" in pair.new.cues:
        return chances
    half = chances[Kind.REPLACES] / 2
    return {**chances, Kind.REPLACES: half, Kind.CONFLICTS: chances[Kind.CONFLICTS] + half}


def _in_order(chances: dict[Kind, float], earlier: Said, later: Said, pair: Alignment) -> dict[Kind, float]:
    """The probabilities for statements of two days: a conflict counts as a replacement, since the later one holds,
    unless it names two sources or a plan. This changes only the kind that is shown, not whether a program may act."""
    if not earlier.day or later.day <= earlier.day or not _OPEN.isdisjoint(pair.new.cues):
        return chances
    replaced = chances[Kind.REPLACES] + chances[Kind.CONFLICTS]
    return {**chances, Kind.REPLACES: replaced, Kind.CONFLICTS: 0.0}


_OPEN = frozenset(("at_once", "plan"))  # cues of a later text that leave open which value holds


def certainty(probability: float, features: Features, pair: Alignment) -> float:
    """The probability that the earlier statement is over; UNSHOWN less if the later text does not show that it is.

    The later text shows it in three ways: it names the old value; it says in few words that the thing is over; or it
    has both a word of change and a value of the same type. A word of change alone may concern something else, and a
    second value alone may hold too (a service may have two ports).
    """
    names_old = not _NAMING.isdisjoint(features) or stated_change(pair) is not None
    is_over = "cue:ends" in features and len(pair.left_new) <= END_WORDS and features.get("first_old", 0.0) >= SAME_HEAD
    is_changed = _says_change(features, pair) and ("value_same_unit" in features or "slot" in features)
    if names_old or is_over or is_changed:
        return probability
    return probability - UNSHOWN


def _says_change(features: Features, pair: Alignment) -> bool:
    """Whether the later text has a word of change or of an end, or an arrow, and the earlier one has not."""
    return not (pair.new.cues - pair.old.cues).isdisjoint(("change", "ends")) or "arrow_from_old" in features


def doubted(features: Features, earlier: Said, later: Said, pair: Alignment) -> bool:
    """Whether a person must be asked whatever the probability is: for a guarded earlier statement, a later one of an
    older day, a feature of _DOUBTS, identifiers, health, little in common, a word that the later text lacks, and a swap
    that no words call a change."""
    is_stated = stated_change(pair) is not None and not _left_words(pair)
    doubts = _DOUBTS
    if is_stated:
        doubts -= _ANSWERED_BY_MOVE
    if earlier.guarded or not doubts.isdisjoint(features):
        return True
    if ("ordinal:both" in features or "id:both" in features) and "arrow_from_old" not in features:
        return True  # two identifiers name two things
    if "health" in pair.old.cues or "health" in pair.new.cues:
        return True
    if earlier.day and later.day and later.day < earlier.day:
        return True
    if features.get("cover_old", 0.0) < SUBJECT_SHARED:
        return True
    if is_stated:
        return False
    if not covers(pair):
        return True
    is_swap = any(features.get(name) for name in _NAMES_SWAPPED)
    return not _says_change(features, pair) and (is_swap or "value_same_unit" not in features)


def says_more(pair: Alignment, kind: Kind) -> bool:
    """Whether the later text has further words besides the new value and words of change.

    Such words may narrow its subject ("for uploads", "in production", 거래처와의) or name another thing. A replacement
    may have new words in one place, its new value; an end in none.
    """
    run_count = 0
    end: int | None = None
    for index in pair.left_new:
        token = pair.new.content[index]
        if _is_change_word(token, pair.new):
            continue
        run_count += end is None or any(map(str.isalnum, pair.new.text[end : token.start]))
        end = token.end
    return run_count > (kind is Kind.REPLACES)


def says_less(pair: Alignment, kind: Kind) -> bool:
    """Whether the later text ends only a part: it leaves out a name, an identifier or a number of the earlier text
    ("3.8과 3.9를 지원한다", "3.8 지원 종료"). A replacement leaves out the old value."""
    return kind is Kind.ENDS and any(pair.old.content[index].kind in (NAME, ID, NUMBER) for index in pair.left_old)


def _is_change_word(token: Token, reading: Reading) -> bool:
    """Whether a token is a word of change or of an end, or begins one in a language without spaces (改为)."""
    end = token.end
    if reading.language in ("zh", "ja"):
        end += 2
    return not cues_of(reading.text[token.start : end].lower(), reading.language).isdisjoint(("change", "ends"))


_NAMING = frozenset(("arrow_from_old", "from_old", "instead_of_old"))  # features: the later text names the old value


def covers(pair: Alignment) -> bool:
    """Whether the later text has every word of the earlier one, apart from values. A missing word may distinguish two
    things (webhooks, emails)."""
    old, new = pair.old.content, pair.new.content
    particles = {token.end for token in old if token.kind in VALUES}  # starts of particles after values
    unmatched = [old[i] for i in pair.left_old]
    unmatched += [old[i] for i, j, _ in pair.pairs if _ends_alike(old[i], new[j])]
    return all(token.kind in VALUES or token.start in particles for token in unmatched)


def _ends_alike(token: Token, other_token: Token) -> bool:
    """Whether one of two different words in another script than Latin ends with the other (배포하지, 하지)."""
    short, long = sorted((token.stem, other_token.stem), key=len)
    return short != long and not short.isascii() and long.endswith(short)


def _explained(kind: Kind, chances: dict[Kind, float], pair: Alignment, automatic: bool, asks: bool) -> Relation:
    """The relation of a kind, with its reason in words, the shared words, and the differing values."""
    subject = _different_subjects(pair)
    shared = [pair.old.content[i] for i, _, degree in pair.pairs if degree >= 0.6]
    about = tuple(token.text for token in shared if token.kind not in VALUES)[:SHOWN_WORDS]
    old, new = _values(pair)
    reason = _reason(kind, subject, _property(pair) or " ".join(about), old, new)
    return Relation(
        kind, chances[kind], chances, reason, automatic, asks, subject, about, old, new, covers(pair)
    )  # fmt: skip


def _different_subjects(pair: Alignment) -> tuple[tuple[str, str], ...]:
    """(earlier, later) pairs of words of one type that name two different things; a word is in one pair at most. ()
    without any."""
    pairs: list[tuple[str, str]] = []
    taken: set[int] = set()
    of_type: dict[str, list[int]] = {}
    for j in pair.left_new:
        of_type.setdefault(value_type(pair.new.content[j]), []).append(j)
    for i in pair.left_old:
        old_token = pair.old.content[i]
        if old_token.kind not in (ID, NAME) and old_token.stem.isascii() and not classes_of(old_token):
            continue  # such a word names no thing
        for j in of_type.get(value_type(old_token), ()):
            new_token = pair.new.content[j]
            if j not in taken and _are_two_things(old_token, new_token, i, j):
                pairs.append((old_token.text.strip(), new_token.text.strip()))
                taken.add(j)
                break
    return tuple(pairs)


def _are_two_things(old: Token, new: Token, old_index: int, new_index: int) -> bool:
    """Whether two tokens of one type name two things; `old_index`, `new_index`: their positions in their texts."""
    if old.kind == ID:
        return True
    if any(number == n and word != other for number, word in classes_of(old) for n, other in classes_of(new)):
        return True
    if old.kind == NAME:
        return near(old.stem, new.stem) or (old_index <= 1 and new_index <= 1)
    return old.kind == WORD and not old.stem.isascii() and near(old.stem, new.stem)


def _property(pair: Alignment) -> str:
    """The first shared noun of a property that has one value at a time, "" without one."""
    single = LANGUAGES[pair.old.language].SINGLE
    for i, _, degree in pair.pairs:
        token = pair.old.content[i]
        if degree >= 0.6 and (token.norm in single or token.stem in single):
            return token.norm
    return ""


def _values(pair: Alignment) -> tuple[str, str]:
    """(old, new): the values of a stated change, else the first two values or names of one type that differ; without
    such values, the words after the verb of each text that the other lacks."""
    if change := stated_change(pair):
        return change
    first: dict[str, Token] = {}
    for j in pair.left_new:
        first.setdefault(value_type(pair.new.content[j]), pair.new.content[j])
    for i in pair.left_old:
        old_token = pair.old.content[i]
        if old_token.kind in (*VALUES, NAME) and (new_token := first.get(value_type(old_token))):
            return old_token.text.strip(), new_token.text.strip()
    old = [pair.old.content[i] for i in pair.left_old if pair.old.content[i].start >= pair.old.split]
    new = [pair.new.content[j] for j in pair.left_new if pair.new.content[j].start >= pair.new.split]
    return " ".join(token.text for token in old[:SHOWN_WORDS]), " ".join(token.text for token in new[:SHOWN_WORDS])


def _reason(kind: Kind, subject: tuple[tuple[str, str], ...], about: str, old: str, new: str) -> str:
    """The reason for a relation, as a sentence for a person."""
    of_about = f" of '{about}'" if about else ""
    match kind:
        case Kind.SAME:
            return "both say the same"
        case Kind.OTHER if subject:
            return f"'{subject[0][0]}' and '{subject[0][1]}' are two things"
        case Kind.OTHER:
            return "they speak of two things, or of two properties of one"
        case Kind.ADDS:
            return f"the later one adds a detail or an exception{f' to {about!r}' if about else ''}"
        case Kind.REPLACES if old and new:
            return f"the value{of_about} changed from {old} to {new}"
        case Kind.REPLACES:
            return f"the later one gives another value{of_about}"
        case Kind.ENDS:
            if about:
                return f"the later one says that '{about}' is over"
            return "the later one says that it is over"
        case Kind.CONFLICTS if old and new:
            return f"two values{of_about} at one time: {old} and {new}"
        case Kind.CONFLICTS:
            return f"two sources disagree{f' about {about!r}' if about else ''}"
