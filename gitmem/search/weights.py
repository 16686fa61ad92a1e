"""The weights and other constants of ranking, each with the measurement that set it.

A constant that is a setting (`mem.searchPool`) has its default in `config`. `tuning` replaces constants by a person's
settings.

The numbers come from `bench/quality.py`: five conversations (each tuned on the other four) and Korean notes; columns
are R@5, share of relevant lines in 500/1000/2000 tokens, Korean hit@1, hit@5. docs/search.md explains them in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from gitmem.config import Config

_DEFAULT = Config._field_defaults

SIZES = (0, 2, 8)  # lines to either side; with only 0: .567 R@5; 0,1,4: .724; 0,2,8: .737; five sizes: .734

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "lexical0": 0.45,
        "lexical2": 1.85,
        "lexical8": 2.35,
        "cover0": 1.25,  # share of the question's weight that the line itself has: Korean hit@1 .709 -> .728
        "cover2": 1.35,  # ... that the lines around it have
        "vector0": 3.4,
        "vector2": 1.4,
        "vector8": 0.05,
        "label": 2.2,  # the speaker or subject before the colon is in the question: R@5 .724 -> .737
        # ... and the question has the whole label, however frequent: in 1000 and 2000 tokens .864/.903 -> .871/.915
        "named": 2.8,
        "answer": 1.65,  # the line before asks, and matches: the answer often shares no word with the question
        "answer_vector": 0.9,
        "asks": -1.0,  # a line that itself ends in a question mark
        "length": 0.6,  # up to `enough` words; unbounded it cost Korean hit@1 .796 -> .728
        # A long line takes the tokens of several; with `match0`, `match1` and all weights fitted anew R@5 .769 -> .775,
        # .820/.871/.915 -> .828/.882/.916 (held out .776, .825/.880/.915), Korean hit@1 .796 -> .806.
        "long": -0.7,  # times words / `lengthy`, at most 3
        "when": 1.85,  # the question wants a time and the line has one
        "number": 0.95,  # ... a number
        "days": 3.75,  # the line's log is of the days the question names
        "fence": -1.15,  # a block of code matches much by its length: Korean hit@1 .728 -> .767
        "trail": 1.05,  # share of the question in what the line is about: note, headings, parents
        "titled": 8.0,  # a step of that is the whole question
        # The line's chunk by the model of `mem.embedder`; with the static table nothing. e5 on Korean notes: in 1000
        # tokens .879 -> .904, hit@5 .903 -> .922, hit@1 .835 -> .825; MiniLM on LoCoMo: R@5 .774 -> .784, hit@1
        # .567 -> .555; 1 and 2 gain less, 4 and 6 no more.
        "chunk": 3.0,
        "match0": 1.25,  # each word of the question met by the nearest word of the line (`late_interaction`)
        "match1": 1.7,  # ... of the line and its neighbours; without both R@5 .763, .823/.873/.915, Korean hit@1 same
    }
)
# The weights that `mem.searchLexical` and `mem.searchVector` scale; the other weights belong to neither lane.
WORDS = ("lexical0", "lexical2", "lexical8", "cover0", "cover2", "answer")
MEANING = ("vector0", "vector2", "vector8", "answer_vector", "match0", "match1")
BY_MODEL = ("chunk",)  # scaled with MEANING, but counted in no share: the static table gives 0 there

# Added to the score (0..1). Each is too small to move a development set by a point; they order equal lines.
PRIORS: Mapping[str, float] = MappingProxyType(
    {
        "memory": 0.03,
        "daily": 0.0,
        "archive": -0.03,
        "decided": 0.01,
        "importance": _DEFAULT["search_importance"],  # times (importance - 0.5)
        "recent": _DEFAULT[
            "search_recency"
        ],  # times exp(-decay x days); by the date in the file's name, never by mtime
        "duplicate": -0.05,
        "past": 0.1,  # the line is expired or superseded, and the question is about the past
        "period": 0.2,  # the line held in the days that the question names
        # Of commits (docs/adr/history-in-its-own-file.md): other texts say better what a merge or a bot says.
        "merge": -0.1,
        "bot": -0.1,
        "reverted": -0.05,
        "amended": -0.02,
    }
)


class Ranking(NamedTuple):
    """The constants of ranking. The defaults are the shipped values."""

    # BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009)
    k1: float = 1.2
    b: float = 0.6
    # The pool: this many of each lane's best chunks, whatever -n says, and `reach` chunks to either side of each.
    pool: int = _DEFAULT["search_pool"]
    reach: int = 1
    common: int = 5000  # a term in more chunks is not looked up if a rarer one exists, to save time
    line_words: int = 25  # mean words of a line, for the number of lines in the IDF over lines
    in_trail: float = 0.8  # what a word of the innermost step of the trail counts, as if the line had it
    outward: float = 0.8  # factor for each step farther out
    in_name: float = 0.9  # what a word of the file's name counts
    trail_vector: float = 0.25  # weight of the trail's vectors beside the line's own
    coherence: float = 0.2  # mean cosine of neighbouring lines, from which the length of a window's vector is estimated
    enough: int = 20  # words from which a line is long enough to say something
    lengthy: int = 30  # words of a line for which `long` is 1
    least: float = 0.0  # least spread of lexical evidence; 0.2: R@1 .467 -> .484, Korean hit@5 .874 -> .854, so none
    # Number of lines of which half the least evidence counts as chance: in a memory of two lines the worse one is not
    # worthless; no figure of a development set moves.
    chance_lines: int = 2
    imputed: float = 0.8  # share of its vector evidence that a line in another script gets as lexical evidence
    # Share of the question in the best line from which lexical evidence counts in full, below it in proportion: Korean
    # hit@5 .883 -> .893, R@5 .795 -> .807, paraphrase hit@5 .50 -> .55; R@5 .772 -> .775; 0.4 and 0.6 differ little
    half: float = 0.5
    exact: float = 20.0  # for a line with a whole identifier of the question; more than all other evidence
    unrelated: float = 0.2  # cosine below which a chunk that shares no word with the question is unrelated to it
    akin: float = 0.3  # the same for a line; chance lines of a small memory have 0.16 at most
    # Cosine of a line in another script that says the same, about; with `akin` .65 -> .69 of the decisions' words in
    # 1,000 tokens of a memory in four languages, the share of English questions answered in Korean notes unchanged
    translated: float = 0.5
    full: float = 15.0  # the least sum of evidence that becomes a score of 1.0
    similarity: float = _DEFAULT["search_similarity"]  # weight of the lines' own scores beside the priors
    decay: float = _DEFAULT["search_decay"]  # of recency, a day: half in 90 days
    floor: float = _DEFAULT["search_floor"]  # score below which a hit is left out
    read: int = 60  # lines whose text is read and judged, for at most `few` hits
    matched: int = 60  # lines that are matched word by word, whatever -n says; 100 are no better
    linked: int = 60  # best lines that are compared for amendments, whatever -n says
    read_many: int = 150  # the same for more hits
    few: int = 20
    join: float = 0.1  # a neighbour joins if it scores lower by at most this share of the spread: R@5 .743 -> .767
    joined: int = 3  # lines of a passage at most
    short: int = 100  # characters below which a passage takes a neighbour in anyway
    twins: float = 0.9  # Jaccard index of words from which the second of two passages is left out
    weights: Mapping[str, float] = WEIGHTS
    priors: Mapping[str, float] = PRIORS


SHIPPED = Ranking()
# The constants that `mem.searchWeight` may change by name, beside all weights and priors.
NUMBERS = (
    "k1", "b", "reach", "line_words", "coherence", "enough", "lengthy", "least", "imputed",
    "join", "joined", "short",
)  # fmt: skip


# The shipped shares of the two lanes; their sum is 1, and each is the rounded share of its names in WEIGHTS (tested).
LEXICAL: float = _DEFAULT["search_lexical"]
VECTOR: float = _DEFAULT["search_vector"]
