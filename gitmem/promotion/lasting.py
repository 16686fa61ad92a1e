"""Scores a log line by how likely it is worth keeping in long-term memory.

Two logistic regressions, whose weights `tools/train.py lasting` writes. `people_logs.tsv` scores the lines of a short
plain list, as people write a day down: by the sum of a line's cues, which cues match, its length and its vector
(`static_embedder`). `agent_logs.tsv` scores the lines of any other log: by the cues, the line's form, its words, the
words of the headings, list items and file name above it, and the vector of the nearest of these. In the long log of an
agent most lines report work, and the headings say which. The first was learned from log days by people who did not know
the cues, the second from lines of 60 public repositories that readers judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from math import inf, log
from typing import NamedTuple

from gitmem import linear_model
from gitmem.linear_model import LinearModel
from gitmem.promotion.cues import THRESHOLD, CueResult
from gitmem.promotion.log_lines import Candidate
from gitmem.search.evidence import vector_of, word_table
from gitmem.text.terms import latin_length

SCORE_PER_LOG_ODDS = 0.5  # score per unit of log-odds: gives log-odds about the range of a sum of cues
MAX_CUE_SUM = 3.0  # largest absolute sum of cues that counts
MAX_CUES = 4  # number of matching cues above which more make no difference
MAX_PERSON_CANDIDATES = 20  # most candidates in a list that counts as written by a person; agents' logs have more
# Sum of cues from which a line of a person's log is kept whatever the regression says, since a short line ("we decided
# to use PostgreSQL") has low log-odds. In real short logs 30 lines were offered for this alone: 3 worth keeping, 6
# harmless. Long logs do not use it: of 308 such lines 37 were worth keeping and 50 harmless.
SETTLING_CUE_SUM = 2.0
LESSON_CUE_SUM = 1.0  # the same for a lesson ("it turned out that cron runs in local time"), which log days seldom have
MAX_LINE_CHARS = 300  # characters at the start of a line whose words are features
MAX_HEADING_CHARS = 200  # characters of the headings and items above a line whose words are features
MAX_CACHED_HEADINGS = 256  # whose vectors are cached; about 25 KB each
PEOPLE_WEIGHTS, AGENT_WEIGHTS = "people_logs.tsv", "agent_logs.tsv"
MEANING = "meaning"  # how the names of the features of a line's vector begin
NEAR_MEANING = "near meaning"  # how the names of the features of the nearest heading's vector begin
# Scales that bring a feature to about 0..1. The weights were learned with them: after a change `tools/train.py lasting`
# has to learn anew.
LENGTH_SCALE = 3.0  # of the logarithm of a line's Latin length
FULL_LINE_CHARS = 200  # characters from which a longer line makes no difference to `size`
TINY_CHARS, SHORT_CHARS, LONG_CHARS = 25, 45, 250  # characters of a line: below, below, above
DIGITS_SCALE = 3  # a line of which one third is digits counts fully
MIN_DIGITS_CHARS = 8  # a shorter line counts as one of that length, so that one digit is not half of it
MAX_CODE_MARKS = 4  # backquotes from which more make no difference
MAX_CAPITAL_WORDS = 3  # the same of words in capitals
MAX_NAMES = 4  # the same of words with a capital letter inside a line
LOG_SIZE_SCALE = 6.0  # of the logarithm of the candidates of a log: 1 for about 400
# Least log-odds of a line that a label names a kind of fact (`Decision:`): of 73 such lines in agents' logs .49 were
# worth keeping and .86 that or harmless, as of the lines of these log-odds.
NAMED_ODDS = 0.75
COLONS = frozenset(":：;；")
_WORD = re.compile(r"[a-zäöüßåéà]+|[가-힣]+|[\u4e00-\u9fff]|[ぁ-ん]+|[ァ-ヶー]+|[0-9]+|[^\w\s]")
_EMOJI = "[\U0001f300-\U0001faff\u2600-\u27bf]"
_FORMS = {  # feature name -> pattern of the line's text: reports of work use other marks than lasting statements
    "an emoji": re.compile(_EMOJI),
    "a path": re.compile(r"[\w.-]/[\w.-]"),
    "a link": re.compile(r"https?://"),
    "a share": re.compile(r"\d\s?%"),
    "money": re.compile(r"[$€₩¥]\s?\d|\d\s?[원元円]"),
    "a clock": re.compile(r"\b\d{1,2}:\d\d\b"),
    "a date": re.compile(r"\b20\d\d-\d\d-\d\d\b"),
    "an arrow": re.compile(r"→|->|⇒"),
    "a hash": re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|#\d+\b"),
    "brackets": re.compile(r"[(（]"),
    "a dash": re.compile(r" [—–-] "),
    "a colon": re.compile(r"[:：]"),
    "an opening label": re.compile(r"^[\w /&'-]{2,40}[:：]\s"),
    "a question": re.compile(r"[?？]"),
    "an exclamation": re.compile(r"[!！]"),
    "a stop at its end": re.compile(r"[.!。！]\W*$"),
    "cut off": re.compile(r"(?:\.\.\.|…)\s*$"),
    "a past opening": re.compile(r"^\W*(?:[Rr]e)?[A-Za-z]+ed\b"),
    "an opening in -ing": re.compile(r"^\W*[A-Za-z]+ing\b"),
    "a small opening": re.compile(r"^[a-z]"),
    "of me": re.compile(r"\b(?:I|I'm|my|me)\b"),
    "of us": re.compile(r"\b(?:we|our|us)\b", re.I),
    "of you": re.compile(r"\byour?\b", re.I),
    "a speaker": re.compile(r"\b(?:assistant|user|system):"),
    "a message's stamp": re.compile(r"message_id|GMT[+-]\d|UTC\]"),
    "a quotation": re.compile(r"[\"“「『]"),
}
_OPENINGS = {  # feature name -> pattern of the whole line, its label included
    "a bold opening": re.compile(r"^\*\*"),
    "a bold label": re.compile(r"^\*\*[^*]{2,40}:?\*\*:?\s"),
    "all bold": re.compile(r"^\*\*[^*]+\*\*\W*$"),
    "an opening emoji": re.compile(rf"^[*_ \[]*{_EMOJI}"),
}
_FLAGS = ("tiny", "short", "long", "a topic", "prose", "reported")  # names of features that a line has or lacks
# First words of the features of agents' logs whose rest is a word, a cue, a label or another open choice.
_OPEN_ENDED = frozenset(["word", "near", "outer", "file", "cue", "kind", "label", "under", "origin", "in"])
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
_NAMES = re.compile(r"(?<!^)\b[A-Z][a-z]+")


def person_log_features(text: str, result: CueResult) -> dict[str, float]:
    """The features of a line in a person's log, by name: its cues, its length and the numbers of its vector, about 0..1
    except the sum of cues. Without the static embedder's table there are no numbers of the vector."""
    return {
        **_cue_sums(result),
        "length": log(1 + latin_length(text)) / LENGTH_SCALE,
        "value": float(not COLONS.isdisjoint(text)),
        **_cue_names(result),
        **_vector_features(MEANING, text),
    }


def agent_log_features(line: Candidate, result: CueResult) -> dict[str, float]:
    """The features of a line in an agent's log, by name: its cues and its form (about 0..1), its words and the words of
    the headings, items and file name above it (1 each), and the numbers of the vector of the nearest heading and item
    (none without the static embedder's table)."""
    return {
        **_cue_sums(result),
        **_size_features(line.text),
        **_mark_features(line.text),
        **_place_features(line, result),
        **_flag_features(line),
        **_cue_names(result),
        **_form_features(line),
        **_word_features(line),
        **_near_features(line.near),
    }


def _cue_sums(result: CueResult) -> dict[str, float]:
    return {
        "cues": max(-MAX_CUE_SUM, min(MAX_CUE_SUM, result.score)),
        "several": min(len(result.cues), MAX_CUES) / MAX_CUES,
    }


def _cue_names(result: CueResult) -> dict[str, float]:
    return {f"cue {name}": 1.0 for name in (*result.cues, *result.against)}


def _size_features(text: str) -> dict[str, float]:
    """How long a line is, as a share of FULL_LINE_CHARS."""
    share = min(1.0, len(text) / FULL_LINE_CHARS)
    return {"size": share, "size squared": share**2}


def _mark_features(text: str) -> dict[str, float]:
    """How much of a line is digits, code, words in capitals and names, each 0..1."""
    return {
        "digits": min(1.0, DIGITS_SCALE * sum(map(str.isdigit, text)) / max(MIN_DIGITS_CHARS, len(text))),
        "code": min(1.0, text.count("`") / MAX_CODE_MARKS),
        "capitals": min(1.0, len(_CAPITALS.findall(text)) / MAX_CAPITAL_WORDS),
        "names": min(1.0, len(_NAMES.findall(text)) / MAX_NAMES),
    }


def _place_features(line: Candidate, result: CueResult) -> dict[str, float]:
    """Where a line is in its log, and its kind and label."""
    return {
        "beside": log(1 + line.log_candidates) / LOG_SIZE_SCALE,
        f"in {line.languages[0]}": 1.0,
        f"kind {result.kind or 'none'}": 1.0,
        f"label {line.label or 'none'}": 1.0,
        f"under {line.under_kind or 'none'}": 1.0,
        f"origin {line.origin or 'none'}": 1.0,
    }


def _flag_features(line: Candidate) -> dict[str, float]:
    """Which of the flags of _FLAGS hold: three of a line's length, three of its place."""
    size = len(line.text)
    flags = (
        size < TINY_CHARS, size < SHORT_CHARS, size > LONG_CHARS, bool(line.topic), line.prose, line.reported
    )  # fmt: skip
    return _held(dict(zip(_FLAGS, flags, strict=True)))


def _form_features(line: Candidate) -> dict[str, float]:
    forms = {f"form {name}": pattern.search(line.text) is not None for name, pattern in _FORMS.items()}
    openings = {f"form {name}": pattern.search(line.whole) is not None for name, pattern in _OPENINGS.items()}
    return _held({**forms, **openings})


def _word_features(line: Candidate) -> dict[str, float]:
    """The words of a line, of the nearest heading, of the headings above that, and of the file's name."""
    features: dict[str, float] = {}
    for prefix, words in (
        ("word", _words(line.text[:MAX_LINE_CHARS])),
        ("near", _words_of(line.near)),
        ("outer", _words_of(line.outer)),
        ("file", _words(line.file[:MAX_HEADING_CHARS])),
    ):
        features.update((f"{prefix} {word}", 1.0) for word in words)
    return features


@lru_cache(MAX_CACHED_HEADINGS)
def _near_features(headings: tuple[str, ...]) -> Mapping[str, float]:
    """The numbers of the vector of headings, each with the name of its feature."""
    return _vector_features(NEAR_MEANING, " ".join(headings))


def _vector_features(prefix: str, text: str) -> dict[str, float]:
    """The numbers of the vector of a text, by the names of their features; {} without the static embedder's table."""
    vector = vector_of(text, word_table()) or ()
    return dict(zip(_vector_names(prefix, len(vector)), vector, strict=True))


@cache
def _vector_names(prefix: str, dimensions: int) -> tuple[str, ...]:
    return tuple(f"{prefix} {index}" for index in range(dimensions))


def _held(flags: Mapping[str, bool]) -> dict[str, float]:
    """The flags that hold, as features of 1."""
    return {name: 1.0 for name, holds in flags.items() if holds}


@cache
def _words_of(headings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_words(" ".join(headings)[:MAX_HEADING_CHARS]))


def _words(text: str) -> Iterator[str]:
    """The words and punctuation marks of a text in lower case, each pair of neighbours, and the last one and two
    letters of each Korean word. Every number becomes `0`."""
    words = ["0" if word[0].isdigit() else word for word in _WORD.findall(text.lower())]
    yield from words
    yield from map(" ".join, pairwise(words))
    for word in words:
        if "가" <= word[0] <= "힣":
            yield f"-{word[-1:]}"
            yield f"-{word[-2:]}"


class Scoring(NamedTuple):
    """How a line is scored. `weights_file`: the model that gives its log-odds. `least_odds`: the log-odds that the line
    has at least."""

    weights_file: str
    least_odds: float


def scoring_of(line: Candidate, result: CueResult, *, named: bool) -> Scoring:
    """The model of a line and its least log-odds. `named`: a label of a kind of fact (`Decision:`) is before it.

    PEOPLE_WEIGHTS judges a line of a plain list that a person wrote, AGENT_WEIGHTS every other line. Of three cases for
    the least log-odds the first that holds counts:

    1. The line is `named`: NAMED_ODDS, as such lines had in real logs.
    2. A person wrote it, and its cues come to SETTLING_CUE_SUM (a lesson's to LESSON_CUE_SUM): 0, so that it is kept; a
       short line has low log-odds by its length alone.
    3. Any other line: none, the model alone decides.
    """
    is_persons = is_from_person(line)
    weights_file = AGENT_WEIGHTS
    if is_persons and not (line.topic or line.prose):
        weights_file = PEOPLE_WEIGHTS
    settling_sum = SETTLING_CUE_SUM
    if result.kind == "lesson":
        settling_sum = LESSON_CUE_SUM
    if named:
        return Scoring(weights_file, NAMED_ODDS)
    if is_persons and result.score >= settling_sum:
        return Scoring(weights_file, 0.0)
    return Scoring(weights_file, -inf)


def line_score(line: Candidate, result: CueResult, *, named: bool = False) -> float:
    """The line's score: `cues.THRESHOLD` at log-odds 0, SCORE_PER_LOG_ODDS more for each unit of log-odds. The model
    and the least log-odds are those of `scoring_of`."""
    weights_file, least_odds = scoring_of(line, result, named=named)
    if weights_file == PEOPLE_WEIGHTS:
        features = person_log_features(line.text, result)
    else:
        features = agent_log_features(line, result)
    return THRESHOLD + SCORE_PER_LOG_ODDS * max(least_odds, _checked_model(weights_file).odds(features))


@cache
def _checked_model(weights_file: str) -> LinearModel:
    """The model in a file of weights. Raises ValueError when it has weights for features that no line has, and as
    `linear_model.load`."""
    model = linear_model.load(__file__, weights_file)
    check_features(weights_file, model.weights[0])
    return model


def check_features(weights_file: str, names: Iterable[str]) -> None:
    """Raise ValueError when one of `names` is no feature that `person_log_features` (for PEOPLE_WEIGHTS) or
    `agent_log_features` (for AGENT_WEIGHTS) makes: its weight would never count."""
    nothing = CueResult(0.0, "", (), ())
    if weights_file == PEOPLE_WEIGHTS:
        vectors, open_ended = MEANING, frozenset(["cue"])
        made = set(person_log_features("", nothing))
    else:
        vectors, open_ended = NEAR_MEANING, _OPEN_ENDED
        made = {*agent_log_features(Candidate(1, "", ""), nothing), *_FLAGS}
        made |= {f"form {name}" for name in (*_FORMS, *_OPENINGS)}
    number = re.compile(rf"{vectors} \d+")
    has_table = word_table() is not None
    unknown = []
    for name in names:
        is_open_ended = name.partition(" ")[0] in open_ended
        if number.fullmatch(name):  # without the table there is no vector to compare with
            is_open_ended = not has_table
        if name not in made and not is_open_ended:
            unknown.append(name)
    if unknown:
        raise ValueError(f"{weights_file} has weights of features that no line has: {', '.join(sorted(unknown)[:5])}")


def is_from_person(line: Candidate) -> bool:
    """Whether a line is in a short list, or in a short text without headings, as people write a day down."""
    return line.log_candidates <= MAX_PERSON_CANDIDATES and not line.reported and not (line.prose and line.topic)
