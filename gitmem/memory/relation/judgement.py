"""The judgement of two statements: kinds, probabilities, a reason, and whether it is sure enough to act or to ask.

The probabilities are those of one linear model over `features`; `tools/train.py relation` writes its weights and
thresholds, `relation.tsv`. What no probability may overrule stands in `_DOUBTS`: two things that are told apart,
a plan, two sources of one time, health, an order of days that is not known. The module acts on nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from gitmem import linear_model
from gitmem.light_typing import NamedTuple
from gitmem.memory.deciding_words import claim
from gitmem.memory.relation.alignment import VALUES, Alignment, align, classes_of, near, sameness, value_type
from gitmem.memory.relation.clauses import main_clauses
from gitmem.memory.relation.english import VERBS
from gitmem.memory.relation.features import Features, features, gives_what_went, moved
from gitmem.memory.relation.reading import LANGUAGES, Reading, cues_of, read
from gitmem.memory.relation.tokens import DATE, ID, NAME, TIME, WORD, Token
from gitmem.memory.sections import naming_steps

SAME_WORDS = 0.5  # share of a text that another one has, from which a denial turns it into its contrary
SUBJECT_SHARED = 0.4  # share of the earlier text that the later one must have, to be acted on
UNSHOWN = 0.11  # taken off a probability where no value that went is shown or no word says that one went
END_WORDS = 4  # of a later text that the earlier one lacks, at most, where it says of the same thing that it is over
SAME_HEAD = 0.6  # degree to which the first words of two texts are the same
PROVED = 0.95  # probability of a replacement that names the value that went
SHOWN_WORDS = 4  # of a subject in a reason
SAME_VALUE = 0.7  # degree to which two values are the same
BEGUN_ALIKE = 0.6  # degree of two words that begin alike and may be two things (grandpa, grandma)


# Characters of a text that is compared: what is longer says more than one thing, and takes seconds.
MAX_COMPARED_CHARACTERS = 1_000


class Kind(StrEnum):
    """What the later statement does to the earlier one; both hold after the first three."""

    SAME = "same"
    ADDS = "adds"
    OTHER = "other"
    REPLACES = "replaces"
    ENDS = "ends"
    CONFLICTS = "conflicts"


class Said(NamedTuple):
    """A statement. `trail`: what it is about, from the outside in (note, headings, parent items). `day`: ISO day of the
    statement, "" if unknown. `kind`: the fact's type, "" for none. `guarded`: pinned, or written by a person."""

    text: str
    trail: tuple[str, ...] = ()
    day: str = ""
    kind: str = ""
    guarded: bool = False


class Relation(NamedTuple):
    """`probability`: that of `kind`. `automatic`: sure enough to act on without a person. `asks`: worth a question to a
    person; true wherever `automatic` is. `subject`: (earlier, later) words that name different things. `about`: words
    that both share. `old`, `new`: the values that differ, "" where none was found. `covers`: the later text has every
    word of the earlier, its values aside."""

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


# Features of a pair that no probability overrules: it is never automatic.
_DOUBTS = frozenset(
    [
        "near",
        "near2",
        "contrast",
        "kin_new",
        "sibling",
        "bare_before_head",
        "head_identity_swap",
        "arrow_not_from_old",
        "from_not_old",
        "cue:plan",
        "cue_old:plan",
        "cue_both:plan",
        "cue:at_once",
        "cue_both:at_once",
        "cue:kept",
        "cue_both:kept",
        "cue_old:event",
        "cross_language",
    ]
)


# Of these, what a text answers that names what went and what came: its verb is another one ("쓴다", "바꿨다").
_ANSWERED_BY_MOVE = frozenset(("from_not_old", "sibling"))


# Features of two names in one place: without a word of change they are never automatic, nor is what has no value.
_NAMES_SWAPPED = ("slot:tool", "slot:name", "slot:word", "slot:mixed", "tools")


def relation(earlier: Said | str, later: Said | str) -> Relation:
    """What the later of two statements does to the earlier one. Any strings are safe; the order matters."""
    if isinstance(earlier, str):
        one = Said(earlier)
    else:
        one = earlier
    if isinstance(later, str):
        other = Said(later)
    else:
        other = later
    if max(len(one.text), len(other.text)) > MAX_COMPARED_CHARACTERS:
        if one.trail == other.trail and one.text.split() == other.text.split():
            return _REPEATED
        return _TOO_LONG
    one, other = _claims(one, other)
    old, new = _with_trails(one, other)
    if nothing_shared(read(old), read(new)):
        return _UNRELATED
    found = _judged(one, other, old, new)
    main_old, main_new = main_clauses(old), main_clauses(new)
    if found.automatic or (main_old == old and main_new == new):
        return found
    aside = value_aside(old, new) or value_aside(new, old)
    bare = _judged(one, other, main_old, main_new)
    if found.asks and not bare.automatic and (not aside or _not_both(found) >= _not_both(bare)):
        return found
    if bare.asks and (aside or _shows_what_went(main_old, main_new)):
        return bare
    if aside:
        return _never_same(found, bare)
    return found


def _not_both(found: Relation) -> float:
    """The probability that the two statements do not both hold."""
    return sum(found.probabilities[kind] for kind in _DISAGREE)


def _of_two_things(chances: dict[Kind, float]) -> dict[Kind, float]:
    """The probabilities of two statements that cannot disagree, because they are of two things."""
    lost = sum(chances[kind] for kind in _DISAGREE)
    return {
        kind: 0.0 if kind in _DISAGREE else chance + lost * (kind is Kind.OTHER) for kind, chance in chances.items()
    }


_DISAGREE = (Kind.REPLACES, Kind.ENDS, Kind.CONFLICTS)


def _shows_what_went(old: str, new: str) -> bool:
    """Whether the later of two texts names the value that went, or gives another one of its type."""
    pair = align(old, new)
    return moved(pair) is not None or not (_NAMING | {"value_same_unit"}).isdisjoint(features(pair))


def value_aside(text: str, other: str) -> bool:
    """Whether a value of the main clauses of a text stands in the other text, and there in a side clause alone: the
    other text does not say it ("port 8080"; "port 9090, because 8080 is taken")."""
    main = main_clauses(other)
    if main == other:
        return False
    own, said = read(main).content, read(other).content
    return any(
        not any(sameness(token, each) for each in own) and any(sameness(token, each) >= SAME_VALUE for each in said)
        for token in read(main_clauses(text)).content
        if token.kind in (*VALUES, ID, NAME)
    )


def _never_same(found: Relation, bare: Relation) -> Relation:
    """The judgement of two statements of which one names the other's value in a side clause: they are not the same."""
    if found.kind is not Kind.SAME:
        return found
    if bare.kind is not Kind.SAME:
        return bare
    chances = {**bare.probabilities, Kind.SAME: 0.0, Kind.ADDS: bare.probabilities[Kind.SAME]}
    return bare._replace(kind=Kind.ADDS, probability=chances[Kind.ADDS], probabilities=chances, reason=_ADDS)


_ADDS = "the later one adds a detail or an exception"


def _judged(one: Said, other: Said, old: str, new: str) -> Relation:
    """The judgement of two statements whose texts, with what their trails say, are `old` and `new`."""
    pair = align(old, new)
    found = features(pair)
    model = linear_model.load(__file__, "relation.tsv")
    if pair.old.letters == pair.new.letters and old.split() == new.split():
        chances = {kind: float(kind is Kind.SAME) for kind in Kind}
    else:
        chances = {Kind(name): chance for name, chance in model.probabilities(found).items()}
        chances = _by_day(corrected(chances, found, pair), one, other, pair)
    if _no_shared_subject(pair):
        chances = _of_two_things(chances)
    kind = max(chances, key=lambda each: chances[each])
    gone = chances[Kind.REPLACES] + chances[Kind.ENDS]
    sure = certainty(gone, found, pair) >= model.thresholds["automatic"] and kind in (Kind.REPLACES, Kind.ENDS)
    automatic = sure and not doubted(found, one, other, pair) and not says_more(pair, kind)
    asks = automatic or gone + chances[Kind.CONFLICTS] >= model.thresholds["asks"]
    chances = _in_order(chances, one, other, pair)
    kind = max(chances, key=lambda each: chances[each])
    return _explained(kind, chances, pair, automatic, asks)


def nothing_shared(one: Reading, other: Reading) -> bool:
    """Whether two texts of one language have no value, word or pair of letters in common: they are not compared."""
    return one.language == other.language and one.parts.isdisjoint(other.parts) and bool(one.parts and other.parts)


def _no_shared_subject(pair: Alignment) -> bool:
    """Whether two statements, each with words of its own, have values alone in common ("three browsers", "three
    retries"): nothing says that they speak of one thing, but where the later one names its sources or an end."""
    if not _TELLS_OF_VALUE.isdisjoint(pair.new.cues):
        return False
    if any(pair.old.content[i].kind not in VALUES for i, _, _ in pair.pairs) or not pair.pairs:
        return False
    if any(pair.partial_old.values()) or any(pair.partial_new.values()) or pair.old.language != pair.new.language:
        return False
    own = [pair.old.content[i] for i in pair.left_old], [pair.new.content[j] for j in pair.left_new]
    return all(any(token.kind not in VALUES for token in side) for side in own)


# Cues of a later text that may name nothing but the value: "3188 discontinued", "the slip says 20, the invoice 22".
_TELLS_OF_VALUE = frozenset(("at_once", "source", "ends"))


_UNRELATED = Relation(
    Kind.OTHER,
    1.0,
    {kind: float(kind is Kind.OTHER) for kind in Kind},
    "they have nothing in common",
    automatic=False,
    asks=False,
)


_TOO_LONG = _UNRELATED._replace(reason="one of them is too long to be compared")
_REPEATED = _UNRELATED._replace(
    kind=Kind.SAME, probabilities={kind: float(kind is Kind.SAME) for kind in Kind}, reason="both say the same"
)


def about_health(text: str) -> bool:
    """Whether a text has a word of health: what no program may replace by itself."""
    return "health" in read(text).cues


def _claims(one: Said, other: Said) -> tuple[Said, Said]:
    """Two decisions without the words that say that they were decided, which tell nothing where both have them."""
    bare, bare_other = claim(one.text), claim(other.text)
    if bare == one.text or bare_other == other.text:
        return one, other
    return one._replace(text=bare), other._replace(text=bare_other)


def _with_trails(one: Said, other: Said) -> tuple[str, str]:
    """The two texts, each behind what its trail says of the subject where the trails differ.

    Words of a trail that name a thing stand before a text where the other side names one of that type, or has the very
    word; two sibling headings stand there as they are.
    """
    above, above_other = naming_steps(one.trail), naming_steps(other.trail)
    if above == above_other:
        return one.text, other.text
    if len(above) == len(above_other) and above[:-1] == above_other[:-1]:
        last, sibling = above[-1], above_other[-1]
        if _names_subject(last) and _names_subject(sibling):
            return f"{last}: {one.text}", f"{sibling}: {other.text}"
    mine, theirs = _naming(above), _naming(above_other)
    text_mine, text_theirs = _naming((one.text,)), _naming((other.text,))
    return (
        _led(one.text, mine, {**theirs, **text_theirs}, text_mine),
        _led(other.text, theirs, {**mine, **text_mine}, text_theirs),
    )


def _names_subject(heading: str) -> bool:
    """Whether a heading says what its statements are about, and not of which day or hour of a log they are."""
    content = read(heading).content
    return bool(content) and content[0].kind not in (DATE, TIME)


def _naming(texts: tuple[str, ...]) -> dict[str, Token]:
    """The tokens of texts that name a thing, by what is compared."""
    found = [token for text in texts for token in read(text).content]
    return {token.norm: token for token in found if token.kind in (ID, NAME) or classes_of(token)}


def _led(text: str, trail: dict[str, Token], others: dict[str, Token], own: dict[str, Token]) -> str:
    """A text behind the words of its trail that the other statement names, or names another one of their type."""
    types = {value_type(token) for token in others.values()}
    words = [
        f"{token.norm.replace(':', ' ')}" if token.designated else token.text
        for norm, token in trail.items()
        if norm not in own and (norm in others or value_type(token) in types)
    ]
    if words:
        return f"{' '.join(words)}: {text}"
    return text


def corrected(chances: dict[Kind, float], found: Features, pair: Alignment) -> dict[Kind, float]:
    """The model's probabilities with what a rule knows better."""
    return _by_denial(_by_move(_by_proof(chances, found, pair), pair), found, pair)


def _by_move(chances: dict[Kind, float], pair: Alignment) -> dict[Kind, float]:
    """Where the later text names what of the earlier one went, with what came in its place, and has all its other
    words ("we use Stripe for cards", "we switched from Stripe to Adyen for cards")."""
    if moved(pair) and not _left_words(pair):
        return _proved(chances)
    return chances


def _proved(chances: dict[Kind, float]) -> dict[Kind, float]:
    rest = sum(chances[kind] for kind in Kind if kind is not Kind.REPLACES) or 1.0
    return {kind: PROVED if kind is Kind.REPLACES else (1 - PROVED) * chances[kind] / rest for kind in Kind}


def _left_words(pair: Alignment) -> list[Token]:
    """The tokens that the earlier text has alone, verbs aside: "use"; of Korean and Japanese the last one ("쓴다")."""
    left = [pair.old.content[i] for i in pair.left_old]
    left += [pair.old.content[i] for i, _, degree in pair.pairs if degree <= BEGUN_ALIKE and pair.old.content[i].stem]
    if pair.old.language in ("ko", "ja") and left and left[-1] is pair.old.content[-1] and left[-1].kind == WORD:
        left = left[:-1]
    return [token for token in left if token.norm not in VERBS]


def _by_proof(chances: dict[Kind, float], found: Features, pair: Alignment) -> dict[Kind, float]:
    """Where all that the earlier text says stands in the later one, its value as the one that went ("600 -> 900")."""
    named = "arrow_from_old" in found or "from_old" in found
    old = {value_type(pair.old.content[i]) for i, _, _ in pair.pairs if pair.old.content[i].kind in VALUES}
    new = {value_type(pair.new.content[j]) for j in pair.left_new if pair.new.content[j].kind in VALUES}
    ends = {token.end for token in pair.old.content if token.kind in VALUES}  # where a particle stands, no word
    left = [i for i in pair.left_old if pair.old.content[i].start not in ends]
    if left or not named or not old & new or not ("change" in pair.new.cues or "arrow_from_old" in found):
        return chances
    return _proved(chances)


def _by_denial(chances: dict[Kind, float], found: Features, pair: Alignment) -> dict[Kind, float]:
    """A statement and its denial in the same words are not the same: "使う" and "使わない".

    Nor are two statements of which the later one gives the value that the earlier one calls gone: "Thursdays, not
    Tuesdays" and "Tuesdays".
    """
    flips = ("negation" in pair.old.cues) != ("negation" in pair.new.cues)
    denied = flips and found.get("cover_old", 0.0) >= SAME_WORDS and pair.old.language == pair.new.language
    if not denied and not gives_what_went(pair):
        return chances
    return {**chances, Kind.SAME: 0.0, Kind.CONFLICTS: chances[Kind.CONFLICTS] + chances[Kind.SAME]}


def _by_day(chances: dict[Kind, float], one: Said, other: Said, pair: Alignment) -> dict[Kind, float]:
    """Two values of one day, without a word of change, are a conflict as often as a replacement."""
    if not one.day or one.day != other.day or "change" in pair.new.cues:
        return chances
    moved = chances[Kind.REPLACES] / 2
    return {
        **chances,
        Kind.REPLACES: chances[Kind.REPLACES] - moved,
        Kind.CONFLICTS: chances[Kind.CONFLICTS] + moved,
    }


def _in_order(chances: dict[Kind, float], one: Said, other: Said, pair: Alignment) -> dict[Kind, float]:
    """Of two values of two days the later one holds, unless the text names two sources or a plan: no conflict is left
    that a person has to decide. It is shown so, and never acted on for it."""
    if not one.day or other.day <= one.day or not _OPEN.isdisjoint(pair.new.cues):
        return chances
    replaced = chances[Kind.REPLACES] + chances[Kind.CONFLICTS]
    return {**chances, Kind.REPLACES: replaced, Kind.CONFLICTS: 0.0}


_OPEN = frozenset(("at_once", "plan"))  # cues of a later text that leave open which value holds


def certainty(gone: float, found: Features, pair: Alignment) -> float:
    """The probability that the earlier statement is over, less where nothing shows which value went (a word of change
    may speak of something else) or nothing says that one went (a service may have two ports)."""
    named = not _NAMING.isdisjoint(found) or moved(pair) is not None
    over = "cue:ends" in found and len(pair.left_new) <= END_WORDS and found.get("first_old", 0.0) >= SAME_HEAD
    shown = named or over or (_says_change(found, pair) and ("value_same_unit" in found or "slot" in found))
    if shown:
        return gone
    return gone - UNSHOWN


def _says_change(found: Features, pair: Alignment) -> bool:
    """Whether the later text has a word of change or of an end that the earlier one lacks."""
    return not (pair.new.cues - pair.old.cues).isdisjoint(("change", "ends")) or "arrow_from_old" in found


def doubted(found: Features, one: Said, other: Said, pair: Alignment) -> bool:
    """Whether a person must be asked, however sure the model is."""
    identifiers = ("ordinal:both" in found or "id:both" in found) and "arrow_from_old" not in found
    health = "health" in pair.old.cues or "health" in pair.new.cues
    backwards = bool(one.day and other.day and other.day < one.day)
    surely_moved = moved(pair) is not None and not _left_words(pair)
    plain = (
        not _says_change(found, pair)
        and not surely_moved
        and (any(found.get(name) for name in _NAMES_SWAPPED) or "value_same_unit" not in found)
    )
    little = found.get("cover_old", 0.0) < SUBJECT_SHARED
    lacks = not surely_moved and not covers(pair)
    if surely_moved:
        doubts = _DOUBTS - _ANSWERED_BY_MOVE
    else:
        doubts = _DOUBTS
    return one.guarded or identifiers or health or backwards or little or lacks or plain or not doubts.isdisjoint(found)


def says_more(pair: Alignment, kind: Kind) -> bool:
    """Whether the later text has words that the earlier one lacks beside the new value, words of change aside: they may
    narrow what it speaks of ("for uploads", "in production", 거래처와의), or name another thing.

    A replacement has its new value in one place, an end has none.
    """
    places, end = 0, -1
    for at in pair.left_new:
        token = pair.new.content[at]
        if _tells_change(token, pair.new):
            continue
        places += end < 0 or any(map(str.isalnum, pair.new.text[end : token.start]))
        end = token.end
    return places > (kind is Kind.REPLACES)


def _tells_change(token: Token, reading: Reading) -> bool:
    """Whether a token is a word of change or of an end, or begins one in a language without spaces (改为)."""
    if reading.language in ("zh", "ja"):
        end = token.end + 2
    else:
        end = token.end
    return not cues_of(reading.text[token.start : end].lower(), reading.language).isdisjoint(("change", "ends"))


_NAMING = frozenset(("arrow_from_old", "from_old", "instead_of_old"))  # features: the later text names the old value


def covers(pair: Alignment) -> bool:
    """Whether the later text has every word of the earlier, its values aside: one that it lacks may be what tells two
    things apart (webhooks, emails)."""
    ends = {token.end for token in pair.old.content if token.kind in VALUES}  # where a particle stands, no word
    left = [pair.old.content[at] for at in pair.left_old]
    left += [pair.old.content[i] for i, j, _ in pair.pairs if _ends_alike(pair.old.content[i], pair.new.content[j])]
    return all(token.kind in VALUES or token.start in ends for token in left)


def _ends_alike(one: Token, other: Token) -> bool:
    """Whether two words of a script without English letters are alike in their endings alone: 배포하지, 하지."""
    short, long = sorted((one.stem, other.stem), key=len)
    return short != long and not short.isascii() and long.endswith(short)


def _explained(kind: Kind, chances: dict[Kind, float], pair: Alignment, automatic: bool, asks: bool) -> Relation:
    subject = _different_subjects(pair)
    shared = [pair.old.content[i] for i, _, degree in pair.pairs if degree >= 0.6]
    about = tuple(token.text for token in shared if token.kind not in VALUES)[:SHOWN_WORDS]
    old, new = _values(pair)
    reason = _reason(kind, subject, _property(pair) or " ".join(about), old, new)
    return Relation(
        kind, chances[kind], chances, reason, automatic, asks, subject, about, old, new, covers(pair)
    )  # fmt: skip


def _different_subjects(pair: Alignment) -> tuple[tuple[str, str], ...]:
    """(earlier, later) words of one type that name two things."""
    found: list[tuple[str, str]] = []
    taken: set[int] = set()
    of_type: dict[str, list[int]] = {}
    for j in pair.left_new:
        of_type.setdefault(value_type(pair.new.content[j]), []).append(j)
    for i in pair.left_old:
        one = pair.old.content[i]
        if one.kind not in (ID, NAME) and one.stem.isascii() and not classes_of(one):
            continue  # nothing is told apart from it
        for j in of_type.get(value_type(one), ()):
            other = pair.new.content[j]
            if j not in taken and _apart(one, other, i, j):
                found.append((one.text.strip(), other.text.strip()))
                taken.add(j)
                break
    return tuple(found)


def _apart(one: Token, other: Token, i: int, j: int) -> bool:
    if one.kind == ID:
        return True
    if any(n == m and a != b for n, a in classes_of(one) for m, b in classes_of(other)):
        return True
    if one.kind == NAME:
        return near(one.stem, other.stem) or (i <= 1 and j <= 1)
    return one.kind == WORD and not one.stem.isascii() and near(one.stem, other.stem)


def _property(pair: Alignment) -> str:
    """The shared noun of a property, "" where none is known."""
    single = LANGUAGES[pair.old.language].SINGLE
    for i, _, degree in pair.pairs:
        token = pair.old.content[i]
        if degree >= 0.6 and (token.norm in single or token.stem in single):
            return token.norm
    return ""


def _values(pair: Alignment) -> tuple[str, str]:
    """The first two values of one type that differ; the words behind the earlier one's verb where there is none."""
    if change := moved(pair):
        return change
    first: dict[str, Token] = {}
    for j in pair.left_new:
        first.setdefault(value_type(pair.new.content[j]), pair.new.content[j])
    for i in pair.left_old:
        one = pair.old.content[i]
        if one.kind in (*VALUES, NAME) and (other := first.get(value_type(one))):
            return one.text.strip(), other.text.strip()
    old = [pair.old.content[i] for i in pair.left_old if pair.old.content[i].start >= pair.old.split]
    new = [pair.new.content[j] for j in pair.left_new if pair.new.content[j].start >= pair.new.split]
    return " ".join(t.text for t in old[:SHOWN_WORDS]), " ".join(t.text for t in new[:SHOWN_WORDS])


def _reason(kind: Kind, subject: tuple[tuple[str, str], ...], about: str, old: str, new: str) -> str:
    """A sentence for a person."""
    of = ""
    if about:
        of = f" of '{about}'"
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
            return f"the value{of} changed from {old} to {new}"
        case Kind.REPLACES:
            return f"the later one gives another value{of}"
        case Kind.ENDS:
            if about:
                return f"the later one says that '{about}' is over"
            return "the later one says that it is over"
        case Kind.CONFLICTS if old and new:
            return f"two values{of} at one time: {old} and {new}"
        case Kind.CONFLICTS:
            return f"two sources disagree{f' about {about!r}' if about else ''}"
