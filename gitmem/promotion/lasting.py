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
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from math import log

from gitmem import linear_model
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
NEAR_MEANING = "near meaning"  # how the names of the features of the nearest heading's vector begin
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
# Feature names of the numbers of a vector: of the line, and of the nearest heading and list item together.
_MEANING = [f"meaning {index}" for index in range(256)]
_NEAR_MEANING = [f"{NEAR_MEANING} {index}" for index in range(256)]
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
_NAMES = re.compile(r"(?<!^)\b[A-Z][a-z]+")


def person_log_features(text: str, result: CueResult) -> dict[str, float]:
    """The features of a line in a person's log, by name: its cues, its length and the numbers of its vector, about 0..1
    except the sum of cues. Without the static embedder's table there are no numbers of the vector."""
    features = {
        "cues": max(-MAX_CUE_SUM, min(MAX_CUE_SUM, result.score)),
        "several": min(len(result.cues), MAX_CUES) / MAX_CUES,
        "length": log(1 + latin_length(text)) / 3,
        "value": float(not COLONS.isdisjoint(text)),
    }
    features.update((f"cue {name}", 1.0) for name in (*result.cues, *result.against))
    features.update(zip(_MEANING, vector_of(text, word_table()) or (), strict=False))
    return features


def agent_log_features(line: Candidate, result: CueResult) -> dict[str, float]:
    """The features of a line in an agent's log, by name: its cues and its form (about 0..1), its words and the words of
    the headings, items and file name above it (1 each), and the numbers of the vector of the nearest heading and item
    (none without the static embedder's table)."""
    text, size = line.text, len(line.text)
    features = {
        "cues": max(-MAX_CUE_SUM, min(MAX_CUE_SUM, result.score)),
        "several": min(len(result.cues), MAX_CUES) / MAX_CUES,
        "size": min(1.0, size / 200),
        "size squared": min(1.0, size / 200) ** 2,
        "digits": min(1.0, 3 * sum(map(str.isdigit, text)) / max(8, size)),
        "code": min(1.0, text.count("`") / 4),
        "capitals": min(1.0, len(_CAPITALS.findall(text)) / 3),
        "names": min(1.0, len(_NAMES.findall(text)) / 4),
        "beside": log(1 + line.log_candidates) / 6,
        f"in {line.languages[0]}": 1.0,
        f"kind {result.kind or 'none'}": 1.0,
        f"label {line.label or 'none'}": 1.0,
        f"under {line.under_kind or 'none'}": 1.0,
        f"origin {line.origin or 'none'}": 1.0,
    }
    flags = {
        "tiny": size < 25, "short": size < 45, "long": size > 250,
        "a topic": bool(line.topic), "prose": line.prose, "reported": line.reported,
    }  # fmt: skip
    features.update((name, 1.0) for name, holds in flags.items() if holds)
    features.update((f"cue {name}", 1.0) for name in (*result.cues, *result.against))
    features.update((f"form {name}", 1.0) for name, pattern in _FORMS.items() if pattern.search(text))
    features.update((f"form {name}", 1.0) for name, pattern in _OPENINGS.items() if pattern.search(line.whole))
    for prefix, words in (
        ("word", _words(text[:MAX_LINE_CHARS])),
        ("near", _words_of(line.near)),
        ("outer", _words_of(line.outer)),
        ("file", _words(line.file[:MAX_HEADING_CHARS])),
    ):
        features.update((f"{prefix} {word}", 1.0) for word in words)
    features.update(_near_meaning(line.near))
    return features


@lru_cache(MAX_CACHED_HEADINGS)
def _near_meaning(headings: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    """The numbers of the vector of headings, each with the name of its feature."""
    return tuple(zip(_NEAR_MEANING, vector_of(" ".join(headings), word_table()) or (), strict=False))


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


def line_score(line: Candidate, result: CueResult, *, named: bool = False) -> float:
    """The line's score: `cues.THRESHOLD` at log-odds 0, SCORE_PER_LOG_ODDS more for each unit of log-odds. The log-odds
    are at least NAMED_ODDS for a line that is `named` by a label of a kind of fact (`Decision:`), and at least 0 for a
    line of a person's log whose cues come to SETTLING_CUE_SUM (a lesson's to LESSON_CUE_SUM)."""
    is_persons = is_from_person(line)
    if is_persons and not (line.topic or line.prose):
        odds = linear_model.load(__file__, "people_logs.tsv").odds(person_log_features(line.text, result))
    else:
        odds = linear_model.load(__file__, "agent_logs.tsv").odds(agent_log_features(line, result))
    settling_sum = LESSON_CUE_SUM if result.kind == "lesson" else SETTLING_CUE_SUM
    if named:
        odds = max(odds, NAMED_ODDS)
    elif is_persons and result.score >= settling_sum:
        odds = max(odds, 0.0)
    return THRESHOLD + SCORE_PER_LOG_ODDS * odds


def is_from_person(line: Candidate) -> bool:
    """Whether a line is in a short list, or in a short text without headings, as people write a day down."""
    return line.log_candidates <= MAX_PERSON_CANDIDATES and not line.reported and not (line.prose and line.topic)
