"""Whether memory has anything to say to a question: how likely a piece of memory answers it. Pure.

A logistic regression of how much of the question's telling words stand in the text or have a word like them there, how
near the two are as a whole, how long the text is, and how large the memory is that it was found in: a word alone may be
chance, nearness alone may be a manner of speaking, and among many texts one resembles any question. A word tells as
much as its vector is long, up to that of an ordinary noun, since frequent words have short vectors (`static_embedder`).
A text in another script cannot share words: there the cosine is enough. `tools/train.py evidence` writes the weights,
`evidence.tsv`. The same question, text and size give the same figure everywhere.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Sequence
from math import log
from operator import add
from typing import NamedTuple
from unicodedata import normalize

from gitmem import linear_model
from gitmem.config import Config
from gitmem.errors import ModelUnavailable
from gitmem.models.wordpiece import words
from gitmem.search.late_interaction import MAX_WORDS, WordVectors, probable_cosine
from gitmem.search.question import Question
from gitmem.text.languages import LANGUAGES
from gitmem.text.subject_terms import STOP, STOP_KOREAN, meaningful_pairs
from gitmem.text.terms import other_kana, terms, without_ending

# The length from which a word tells as much as any, in the table's unit: that of `account` (127,000) and `customer`
# (138,000). `write` and `show` have .65 of it, `the` .17.
NOUN = 130_000


def _spelled(lists: Iterable[Iterable[str]]) -> frozenset[str]:
    """The words of some lists as `words` spells them: of ㅇㅇ it makes other letters."""
    return frozenset(normalize("NFKC", word) for words in lists for word in words)


# What is said to an agent between one request and the next, and of no subject.
COURTESY = _spelled(each.COURTESY for each in LANGUAGES)
# What greets, parts, praises and excuses where a prompt has no other word: `good night`, but not `the night shift`.
GREETING = _spelled(each.GREETING for each in LANGUAGES)
SHORT = 0.1  # what a number of one or two digits tells: such numbers stand anywhere
EXACT = 2.0  # an identifier of the prompt is as good as two words: it is seldom there by chance
# Evidence from which memory answers a prompt at all. docs/context.md has what came of it with prompts of other hands.
ENOUGH: float = Config._field_defaults["context_evidence"]
STRONG = 0.8  # ... from which it is worth interrupting a session that goes on
# Cosine of two words from which one stands in for the other a little, and wholly.
AKIN, SAME = 0.4, 0.9
MAX_TELLING_WORDS = 3.0  # telling words that count
LOOKUP = 0.8  # of telling words: a prompt of several words that tells less looks for none of them (`works for me`)
FEWEST, WORDS = 5, 100  # of a text: a shorter one says little, a longer one has a word by chance no more often
# What the cosine of a text in another script must be more, for each e-fold of the memory above USUAL chunks: among more
# texts one is nearer by chance.
CHANCE, USUAL = 0.02, 100
SMALLEST, LARGEST = 10, 1000  # chunks of a memory; what a larger one does was not measured


class Word(NamedTuple):
    """A telling word of a question: its terms, how much it tells, the signs of its vector (0: looked for only as it
    is)."""

    terms: tuple[str, ...]
    tells: float
    signs: int = 0


class Asked:
    """A question as evidence is counted: its telling words (telling 0 for courtesy, `EXACT` for an identifier), its
    runs of Kana and Han as pairs of letters in order with what they tell, the vector of their text, None without a
    table. `chunks` is how many the memory has that is asked; 0, where nobody knows, is as many as count."""

    __slots__ = ("chance", "in_runs", "is_lookup", "question", "runs", "size", "table", "total", "vector", "words")

    def __init__(self, question: Question, table: WordVectors | None, chunks: int = 0) -> None:
        self.question = question
        self.table = table
        self.words, self.runs = _weighted(question, table)
        self.in_runs = sum(_covered(run, None) for run in self.runs)
        self.total = sum(word.tells for word in self.words) + self.in_runs
        self.is_lookup = self.total >= LOOKUP or len(words(question.content)) == 1
        self.vector = vector_of(question.content, table)
        self.size = log(max(SMALLEST, min(LARGEST, chunks or LARGEST)))
        self.chance = CHANCE * max(0.0, self.size - log(USUAL))

    @property
    def tells(self) -> bool:
        """Whether the question has a word at all that may tell something, courtesies among them."""
        return bool(self.words or self.runs)


def table_of_words() -> WordVectors | None:
    """The table that ships in the package; None where it is missing or damaged."""
    from gitmem.models.static_embedder import shared

    try:
        return shared()
    except ModelUnavailable:
        return None


def evidence(asked: Asked, text: str, about: str = "") -> float:
    """How likely a text answers the question, or one of its lines does, 0..1: what stands beside a fact in a passage
    takes nothing from it. What the text is `about` (its trail) counts as its own words, with the text as a whole and
    with each line. Without a table the share of the question's words."""
    if about:
        whole = f"{about}\n{text}"
    else:
        whole = text
    best = _evidence(asked, whole, is_foreign(asked.question, text))
    if "\n" not in whole:
        return best
    lines = lines_of(text)
    if about and "\n" in text:  # one line below what it is about has the words of the whole
        lines += [f"{about} {line}" for line in lines]
    return max([best, *(_evidence(asked, line, foreign=False) for line in lines)])


def lines_of(text: str) -> list[str]:
    """The lines of a text that may answer by themselves: a heading alone says nothing."""
    return [line for line in text.split("\n") if line.strip() and not _is_heading(line)]


def _is_heading(line: str) -> bool:
    return line[0] == "#" and line.lstrip("#")[:1] == " "


def _evidence(asked: Asked, text: str, foreign: bool) -> float:
    if not asked.total:
        return 0.0
    stands = standing(asked, text)
    if asked.table is None or asked.vector is None:
        return stands.tells / asked.total
    near = cosine(asked, text)
    learned = linear_model.load(__file__, "evidence.tsv").probability(features(asked, text, stands, near))
    return max(certain(asked, stands, near if foreign else 0.0), learned)


def certain(asked: Asked, stands: Standing, foreign: float) -> float:
    """The evidence that is not learned. A text that has each of the words answers who looked for just these, however
    little else the table sees in common; for one in another script its cosine counts (`foreign`, else 0)."""
    return max(ENOUGH if stands.whole and asked.is_lookup else 0.0, foreign - asked.chance)


def cosine(asked: Asked, text: str) -> float:
    """How near a text is to the question, 0..1; 0 without a table."""
    if asked.table is None or asked.vector is None:
        return 0.0
    return max(0.0, asked.table.cosine(asked.vector, text))


class Standing(NamedTuple):
    """Which of the telling words stand in a text, how much these and the runs tell together, and whether each does."""

    words: tuple[bool, ...]
    tells: float
    whole: bool


def standing(asked: Asked, text: str) -> Standing:
    """What of a question a text has as it is."""
    there = frozenset(terms(text))
    found = tuple(2 * len(there.intersection(word.terms)) > len(word.terms) for word in asked.words)
    if asked.runs:
        there |= {other for term in there if (other := other_kana(term))}
    in_runs = sum(_covered(run, there) for run in asked.runs)
    whole = in_runs == asked.in_runs and all(there.issuperset(word.terms) for word in asked.words if word.tells)
    tells = sum(word.tells for word, stands in zip(asked.words, found, strict=True) if stands)
    return Standing(found, tells + in_runs, whole)


def features(asked: Asked, text: str, stands: Standing, near: float) -> dict[str, float]:
    """What the regression reads of a text, by name; `near` is its `cosine`. Needs a table."""
    said = words(text)
    tells = stands.tells + _alike(asked, said[:MAX_WORDS], stands.words)
    return {
        "share": tells / asked.total,
        "near": min(MAX_TELLING_WORDS, tells),
        "shared": min(MAX_TELLING_WORDS, stands.tells),
        "length": log(max(FEWEST, min(WORDS, len(said)))),
        "size": asked.size,
        "cosine": near,
    }


def _alike(asked: Asked, said: Sequence[str], found: Sequence[bool]) -> float:
    """How much the telling words tell that are not in a text but have a word like them there."""
    table = asked.table
    missed = [word for word, stands in zip(asked.words, found, strict=True) if word.signs and not stands]
    if table is None or not missed:
        return 0.0
    signs = table.signs
    known = [signs[word] for word in dict.fromkeys(said) if not _is_run(word)]
    known = [sign for sign in known if sign]
    if not known:
        return 0.0
    total = 0.0
    for word in missed:
        bits = min([(word.signs ^ sign).bit_count() for sign in known])
        alike = (probable_cosine(bits, table.dims) - AKIN) / (SAME - AKIN)
        total += word.tells * min(1.0, max(0.0, alike))
    return total


def strongest(asked: Asked, texts: Iterable[tuple[str, str]], enough: float) -> float:
    """The most evidence that one of the texts has, each with what it is about; those after one that has `enough` are
    not looked at."""
    most = 0.0
    for text, about in texts:
        most = max(most, evidence(asked, text, about))
        if most >= enough:
            break
    return most


Run = list[tuple[str, float]]


def _covered(run: Run, there: Container[str] | None) -> float:
    """How much of a run of Kana and Han stands in a text with these terms (None: all of it), as words of two letters:
    each letter counts once, by the pair of it that tells most."""
    letters = [0.0] * (len(run) + 1)
    for at, (pair, weight) in enumerate(run):
        if there is None or pair in there:
            letters[at], letters[at + 1] = max(letters[at], weight), weight
    return sum(letters) / 2


def _weighted(question: Question, table: WordVectors | None) -> tuple[list[Word], list[Run]]:
    """The telling words of a question, and its runs of Kana and Han; none for one that only thanks or agrees."""
    weighted = [Word((term,), EXACT) for term in sorted(question.exact)]
    runs: list[Run] = []
    content = dict.fromkeys(words(question.content))
    courtesy = COURTESY
    if not question.exact and all(word in COURTESY or word in GREETING or word in STOP for word in content):
        courtesy = COURTESY | GREETING
    for word in content:
        if word in STOP or not STOP_KOREAN.isdisjoint((word, without_ending(word))):
            continue
        if word in courtesy:
            weighted.append(Word((word,), 0.0))
            continue
        if _is_run(word) and len(word) > 1:
            runs.append(_run(word, table))
            continue
        own = tuple(term for term in terms(without_ending(word)) if len(term) > 1) or tuple(terms(word))
        if own and not question.exact.intersection(own):
            weighted.append(Word(own, _tells(word, table), table.signs[word] if table is not None else 0))
    return weighted, runs


def _is_run(word: str) -> bool:
    """Whether a word is of Kana and Han, which stand without spaces."""
    return "\u3041" <= word[0] <= "\u9fff"


def _run(word: str, table: WordVectors | None) -> Run:
    """The pairs of a run of Kana and Han with how much each tells: 0 for grammar."""
    telling, none = meaningful_pairs(word)
    return [(pair, _tells(pair, table) if pair in telling and not none else 0.0) for pair in map(add, word, word[1:])]


def _tells(word: str, table: WordVectors | None) -> float:
    """How much a word tells, 0..1; one that the table does not know is no frequent one."""
    if word.isdigit() and len(word) < 3:
        return SHORT
    length = 0.0
    if table is not None:
        length = table.length(word)
    if length:
        return min(1.0, length / NOUN)
    return 1.0


def is_foreign(question: Question, text: str) -> bool:
    """Whether the text is written in letters that the question has none of."""
    if not (question.latin_only or question.cjk_only) or (question.latin_only and text.isascii()):
        return False
    wide = any("\u3041" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3" for letter in text)
    if question.latin_only:
        return wide
    return not wide


def vector_of(text: str, table: WordVectors | None) -> Sequence[float] | None:
    """The text's vector, of length 1 or 0; None without a table."""
    if table is None:
        return None
    numbers = array("f")
    numbers.frombytes(table.embed_query(text))
    return numbers.tolist()
