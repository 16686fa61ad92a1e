"""Estimates how likely a piece of memory answers a question, 0..1 ("evidence"). Pure.

The estimate is a logistic regression over four kinds of feature: how much of the question's telling words the text has,
as they are or as similar words; the cosine of both; the length of the text; and the number of chunks of the memory,
because in a large memory some text resembles any question. A telling word is a word that is not grammar or courtesy.
Its weight is the length of its vector, up to that of an ordinary noun, because frequent words have short vectors
(`static_embedder`). A text in another script cannot share words: there the cosine alone counts. `tools/train.py
evidence` writes the weights, `evidence.tsv`. The same question, text and number of chunks always give the same value.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Sequence
from datetime import date
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
from gitmem.text import japanese, korean
from gitmem.text.languages import LANGUAGES
from gitmem.text.terms import STOP, STOP_KOREAN, STOP_PAIRS, meaningful_pairs, other_kana, terms, without_ending

# The length of a word's vector from which its weight is 1, in the table's unit: about that of `account` (127,000) and
# `customer` (138,000). `write` and `show` have .65 of it, `the` .17.
NOUN_LENGTH = 130_000


def _normalized(lists: Iterable[Iterable[str]]) -> frozenset[str]:
    """All words of several lists, in Unicode form NFKC, as `words` returns them."""
    return frozenset(normalize("NFKC", word) for word_list in lists for word in word_list)


# Words that a person says to an agent between two requests, such as thanks.
COURTESY = _normalized(language.COURTESY for language in LANGUAGES)
# Words of greeting, praise and excuse if a prompt has no other word: `good night`, but not `the night shift`.
GREETING = _normalized(language.GREETING for language in LANGUAGES)
SHORT_NUMBER_WEIGHT = 0.1  # weight of a number of one or two digits, which occurs in many texts by chance
IDENTIFIER_WEIGHT = 2.0  # weight of an identifier, which a text seldom has by chance
# The least evidence of an answer to a prompt. docs/context.md has the measurement with prompts by other people.
ENOUGH: float = Config._field_defaults["context_evidence"]
STRONG = 0.8  # the least evidence for a later prompt of a session
# Cosine of two words above which one counts as the other in part, and from which it counts in full.
MIN_SIMILAR_COSINE, FULL_SIMILAR_COSINE = 0.4, 0.9
MIN_HIRAGANA = 3  # least number of letters of a word in Hiragana; two letters are often grammar
MAX_WEIGHT = 3.0  # largest sum of weights that counts
# Least sum of weights of a question of several words that looks for these (`works for me` has less).
MIN_LOOKUP_WEIGHT = 0.8
MIN_TEXT_WORDS, MAX_TEXT_WORDS = 5, 100  # a text's number of words is raised or lowered to this range
# A cosine with a text in another script is lowered by CHANCE_COSINE for each e-fold of the memory above USUAL_CHUNKS
# chunks, because among more texts one is nearer by chance.
CHANCE_COSINE, USUAL_CHUNKS = 0.02, 100
MIN_CHUNKS, MAX_CHUNKS = 10, 1000  # a memory's number of chunks is raised or lowered to this range, which was measured


class Word(NamedTuple):
    """A telling word of a question. `terms`: its index terms. `weight`: 0 for courtesy, else up to 1, IDENTIFIER_WEIGHT
    for an identifier. `signs`: the signs of its vector, for similar words; 0 if only the word itself counts."""

    terms: tuple[str, ...]
    weight: float
    signs: int = 0


class WeighedQuestion:
    """A question with the weights of its words.

    `table`: the static word vectors, None if they are missing. `words`: its telling words. `runs`: its runs of Kana and
    Han. `kana`: its runs of Hiragana without grammar, each as its pairs of letters; they count only if a text has them.
    `in_runs`: the weight of all runs. `total`: the weight of all words and runs. `is_lookup`: whether it looks for its
    words, unlike small talk. `vector`: of its text, None without a table. `size`: the logarithm of the number of chunks
    of the memory (`chunks`; 0 if unknown, which counts as MAX_CHUNKS). `chance`: how much a cosine with a text in
    another script is lowered.
    """

    __slots__ = (
        "chance", "in_runs", "is_lookup", "kana", "question", "runs", "size", "table", "total", "vector", "words",
    )  # fmt: skip

    def __init__(self, question: Question, table: WordVectors | None, chunks: int = 0) -> None:
        self.question = question
        self.table = table
        self.words, self.runs, self.kana = _telling_words(question, table)
        self.in_runs = sum(_run_weight(run, None) for run in self.runs)
        self.total = sum(word.weight for word in self.words) + self.in_runs
        content = [word for word in words(question.content) if not word.startswith(korean.EXISTS)]
        self.is_lookup = self.total >= MIN_LOOKUP_WEIGHT or len(content) == 1
        self.vector = vector_of(question.content, table)
        self.size = log(max(MIN_CHUNKS, min(MAX_CHUNKS, chunks or MAX_CHUNKS)))
        self.chance = CHANCE_COSINE * max(0.0, self.size - log(USUAL_CHUNKS))

    @property
    def has_telling_words(self) -> bool:
        """Whether the question has a telling word, a run of Kana and Han, or a word of courtesy."""
        return bool(self.words or self.runs)


def word_table() -> WordVectors | None:
    """The static table of word vectors that ships in the package; None if it is missing or damaged."""
    from gitmem.models.static_embedder import shared

    try:
        return shared()
    except ModelUnavailable:
        return None


def evidence(asked: WeighedQuestion, text: str, about: str = "", day: date | None = None) -> float:
    """How likely a text, or its best line, answers the question, 0..1; 0 if no word of the question has a weight.

    `about`: the trail of the text (its headings and parent items); its words count as words of the text and of each
    line. `day`: the day of the text; the value is 1 if the question only asks for days and this is one of them. Without
    a table the value is the share of the question's weight that the text has.
    """
    if asked.question.only_days and asked.question.names_day(day):
        return 1.0
    whole = f"{about}\n{text}" if about else text
    best = _evidence(asked, whole, is_foreign(asked.question, text))
    if "\n" not in whole:
        return best
    lines = lines_of(text)
    if about and "\n" in text:  # one line below what it is about has the words of the whole
        lines += [f"{about} {line}" for line in lines]
    return max([best, *(_evidence(asked, line, foreign=False) for line in lines)])


def lines_of(text: str) -> list[str]:
    """The lines of a text that are not blank and not headings."""
    return [line for line in text.split("\n") if line.strip() and not _is_heading(line)]


def _is_heading(line: str) -> bool:
    return line[0] == "#" and line.lstrip("#")[:1] == " "


def _evidence(asked: WeighedQuestion, text: str, foreign: bool) -> float:
    """The evidence of a text as a whole. `foreign`: whether it is in another script, so that its cosine counts."""
    if not asked.total and not asked.kana:
        return 0.0
    found_words = find_words(asked, text)
    if not found_words.total:
        return 0.0
    if asked.table is None or asked.vector is None:
        return found_words.weight / found_words.total
    text_cosine = cosine(asked, text)
    learned = linear_model.load(__file__, "evidence.tsv").probability(features(asked, text, found_words, text_cosine))
    return max(unlearned_evidence(asked, found_words, text_cosine if foreign else 0.0), learned)


def unlearned_evidence(asked: WeighedQuestion, found_words: FoundWords, foreign_cosine: float) -> float:
    """The evidence that does not come from the regression: ENOUGH if the text has all words of a lookup, or the cosine
    of a text in another script less `chance`, whichever is more. `foreign_cosine`: that cosine; 0 for a text in the
    same script."""
    return max(ENOUGH if found_words.has_all and asked.is_lookup else 0.0, foreign_cosine - asked.chance)


def cosine(asked: WeighedQuestion, text: str) -> float:
    """The cosine of the question and a text, at least 0; 0 without a table."""
    if asked.table is None or asked.vector is None:
        return 0.0
    return max(0.0, asked.table.cosine(asked.vector, text))


class FoundWords(NamedTuple):
    """The telling words of a question that a text has. `words`: for each word of the question, whether the text has it.
    `weight`: the sum of their weights and of the runs. `has_all`: whether the text has each word and run. `total`: the
    weight of all words and runs of the question, with the Hiragana that the text has."""

    words: tuple[bool, ...]
    weight: float
    has_all: bool
    total: float


def find_words(asked: WeighedQuestion, text: str) -> FoundWords:
    """Find the words and runs of a question in a text, without similar words. A text has a word if it has more than
    half of the word's terms."""
    text_terms = frozenset(terms(text))
    if asked.question.prefixes:  # a single letter is in a text that has a pair which begins with it
        text_terms |= asked.question.prefixes.intersection(term[0] for term in text_terms)
    is_found = tuple(2 * len(text_terms.intersection(word.terms)) > len(word.terms) for word in asked.words)
    if asked.runs or asked.kana:
        text_terms |= {kana for term in text_terms if (kana := other_kana(term))}
    in_kana = sum(1.0 for pairs in asked.kana if text_terms.issuperset(pairs))
    in_runs = sum(_run_weight(run, text_terms) for run in asked.runs)
    has_all = in_runs == asked.in_runs and all(text_terms.issuperset(word.terms) for word in asked.words if word.weight)
    weight = sum(word.weight for word, found in zip(asked.words, is_found, strict=True) if found)
    return FoundWords(is_found, weight + in_runs + in_kana, has_all, asked.total + in_kana)


def features(asked: WeighedQuestion, text: str, found_words: FoundWords, text_cosine: float) -> dict[str, float]:
    """Name -> value of each feature of the regression. `found_words`: the result of `find_words`. `text_cosine`: the
    `cosine` of the text. Only the first MAX_WORDS words of the text are searched for similar words."""
    text_words = words(text)
    weight = found_words.weight + _similar_weight(asked, text_words[:MAX_WORDS], found_words.words)
    return {
        "share": weight / found_words.total,
        "near": min(MAX_WEIGHT, weight),
        "shared": min(MAX_WEIGHT, found_words.weight),
        "length": log(max(MIN_TEXT_WORDS, min(MAX_TEXT_WORDS, len(text_words)))),
        "size": asked.size,
        "cosine": text_cosine,
    }


def _similar_weight(asked: WeighedQuestion, text_words: Sequence[str], is_found: Sequence[bool]) -> float:
    """The weight of the question's words that a text lacks but has similar words for. `text_words`: those of the
    text. `is_found`: for each word of the question, whether the text has it."""
    table = asked.table
    missed = [word for word, found in zip(asked.words, is_found, strict=True) if word.signs and not found]
    if table is None or not missed:
        return 0.0
    signs = table.signs
    text_signs = [signs[word] for word in dict.fromkeys(text_words) if not _is_run(word)]
    text_signs = [sign for sign in text_signs if sign]
    if not text_signs:
        return 0.0
    total = 0.0
    for word in missed:
        bits = min([(word.signs ^ sign).bit_count() for sign in text_signs])
        likeness = (probable_cosine(bits, table.dims) - MIN_SIMILAR_COSINE) / (FULL_SIMILAR_COSINE - MIN_SIMILAR_COSINE)
        total += word.weight * min(1.0, max(0.0, likeness))
    return total


def strongest_evidence(asked: WeighedQuestion, texts: Iterable[tuple[str, str]], enough: float) -> float:
    """The greatest evidence of a text, 0 for no texts. `texts`: (text, trail). The search ends at the first text with
    `enough` evidence."""
    greatest = 0.0
    for text, about in texts:
        greatest = max(greatest, evidence(asked, text, about))
        if greatest >= enough:
            break
    return greatest


Run = list[tuple[str, float]]  # (pair of letters, weight) of a run of Kana and Han, in order


def _run_weight(run: Run, text_terms: Container[str] | None) -> float:
    """The weight of a run of Kana and Han in a text with these terms (None for all of it). Each letter counts half the
    weight of its heaviest pair in the text."""
    letters = [0.0] * (len(run) + 1)
    for index, (pair, weight) in enumerate(run):
        if text_terms is None or pair in text_terms:
            letters[index], letters[index + 1] = max(letters[index], weight), weight
    return sum(letters) / 2


def _telling_words(
    question: Question, table: WordVectors | None
) -> tuple[list[Word], list[Run], list[tuple[str, ...]]]:
    """(the telling words of a question, its runs of Kana and Han, the pairs of each of its runs of Hiragana without
    grammar). Words of courtesy have weight 0."""
    weighted = [Word((term,), IDENTIFIER_WEIGHT) for term in sorted(question.exact)]
    runs: list[Run] = []
    kana: list[tuple[str, ...]] = []
    content = dict.fromkeys(words(question.content))
    courtesy = COURTESY
    if not question.exact and all(word in COURTESY or word in GREETING or word in STOP for word in content):
        courtesy = COURTESY | GREETING
    for word in content:
        if word in STOP or word.startswith(korean.EXISTS) or not STOP_KOREAN.isdisjoint((word, without_ending(word))):
            continue
        if word in korean.ASKING_WORDS:
            continue
        if word in courtesy:
            weighted.append(Word((word,), 0.0))
            continue
        if _is_run(word) and len(word) > 1:
            runs.append(_run(word, table))
            if not runs[-1][0][1] and (pairs := _hiragana_pairs(word)):
                kana.append(pairs)
            continue
        word_terms = tuple(term for term in terms(without_ending(word)) if len(term) > 1) or tuple(terms(word))
        if word_terms and not question.exact.intersection(word_terms):
            weighted.append(Word(word_terms, _word_weight(word, table), table.signs[word] if table is not None else 0))
    return weighted, runs, kana


def _hiragana_pairs(word: str) -> tuple[str, ...]:
    """The pairs of a run of at least MIN_HIRAGANA letters of Hiragana without a pair of grammar; empty for any other
    run."""
    pairs = tuple(map(add, word, word[1:]))
    if len(word) < MIN_HIRAGANA or not all("ぁ" <= letter <= "ゖ" or letter == "ー" for letter in word):
        return ()
    if any(pair in japanese.GRAMMAR_PAIRS or pair in STOP_PAIRS for pair in pairs):
        return ()
    return pairs


def _is_run(word: str) -> bool:
    """Whether a word begins with Kana or Han, which are written without spaces."""
    return "\u3041" <= word[0] <= "\u9fff"


def _run(word: str, table: WordVectors | None) -> Run:
    """(pair of letters, weight) for each pair of a run of Kana and Han, in order; weight 0 for grammar."""
    telling, none = meaningful_pairs(word)
    return [
        (pair, _word_weight(pair, table) if pair in telling and not none else 0.0) for pair in map(add, word, word[1:])
    ]


def _word_weight(word: str, table: WordVectors | None) -> float:
    """The weight of a word, 0..1; 1 for a word that the table does not have, because such a word is rare."""
    if word.isdigit() and len(word) < 3:
        return SHORT_NUMBER_WEIGHT
    length = table.length(word) if table is not None else 0.0
    return min(1.0, length / NOUN_LENGTH) if length else 1.0


def is_foreign(question: Question, text: str) -> bool:
    """Whether a question in Latin letters meets a text with Kana, Han or Hangul, or a question in these a text without.
    False for a question in both."""
    if not (question.latin_only or question.cjk_only) or (question.latin_only and text.isascii()):
        return False
    wide = any("\u3041" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3" for letter in text)
    return wide if question.latin_only else not wide


def vector_of(text: str, table: WordVectors | None) -> Sequence[float] | None:
    """The vector of a text at length 1, zeros if no word is known; None without a table."""
    if table is None:
        return None
    numbers = array("f")
    numbers.frombytes(table.embed_query(text))
    return numbers.tolist()
