"""Whether a line of a log says what will hold: learned from log days of people who did not know the cues, and from the
logs of agents that their owners keep in public.

Two logistic regressions. The first reads what the line says: the sum of its cues, which of them match, its length and
its meaning (`static_embedder`). It decides in a short plain list, as people write a day down. The second decides in any
other log. It reads the cues, the line's form, its words, and the words of the headings, items and file name that it
stands under: in the long log of an agent most lines report work, and the headings say which. It was learned from lines
of 42 public repositories that readers judged. `tools/train.py lasting` writes the weights of both: `people_logs.tsv`,
where each number of the meaning's vector is a feature, and `agent_logs.tsv`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from math import log

from gitmem import linear_model
from gitmem.promotion.cues import THRESHOLD, CueResult
from gitmem.promotion.log_lines import Candidate
from gitmem.search.evidence import table_of_words, vector_of
from gitmem.text.terms import latin_length

SCALE = 0.5  # of the log-odds, which so have about the range of a sum of cues
MAX_CUE_SUM = 3.0  # of a sum of cues, either way
MAX_CUES = 4  # cues: more say no more
PEOPLES_LOG = 20  # candidates of a list that a person writes on a day; an agent's log has more
# Sum of cues from which a line of a person's log is kept: "we decided to use PostgreSQL" is short. In real short logs
# 30 lines are offered for that alone, of which 3 were worth keeping and 6 harmless; of 308 such lines of long logs,
# where it does not count, 37 and 50.
SETTLING_CUE_SUM = 2.0
FOUND_OUT = 1.0  # ... of a lesson ("it turned out that cron runs in local time"): short too, and seldom in log days
WORDS_READ = 300  # characters of a line whose words count
HEADING_READ = 200  # characters of headings and items whose words count
COLONS = frozenset(":：;；")
_WORD = re.compile(r"[a-zäöüßåéà]+|[가-힣]+|[\u4e00-\u9fff]|[ぁ-ん]+|[ァ-ヶー]+|[0-9]+|[^\w\s]")
_EMOJI = "[\U0001f300-\U0001faff\u2600-\u27bf]"
_FORMS = {  # of a line's text, by what it has: status and reports are written in other marks than what will hold
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
_OPENINGS = {  # of what stood there, before a label was taken off
    "a bold opening": re.compile(r"^\*\*"),
    "a bold label": re.compile(r"^\*\*[^*]{2,40}:?\*\*:?\s"),
    "all bold": re.compile(r"^\*\*[^*]+\*\*\W*$"),
    "an opening emoji": re.compile(rf"^[*_ \[]*{_EMOJI}"),
}
_MEANING = [f"meaning {at}" for at in range(256)]  # the numbers of a vector of the table of words
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
_NAMES = re.compile(r"(?<!^)\b[A-Z][a-z]+")


def features(text: str, result: CueResult) -> dict[str, float]:
    """What the first regression reads of a line, by name: its cues, length and meaning; about 0..1, sums of cues apart.
    The meaning is left out where the table of words cannot be read."""
    found = {
        "cues": max(-MAX_CUE_SUM, min(MAX_CUE_SUM, result.score)),
        "several": min(len(result.cues), MAX_CUES) / MAX_CUES,
        "length": log(1 + latin_length(text)) / 3,
        "value": float(not COLONS.isdisjoint(text)),
    }
    found.update((f"cue {name}", 1.0) for name in (*result.cues, *result.against))
    found.update(zip(_MEANING, vector_of(text, table_of_words()) or (), strict=False))
    return found


def forms(line: Candidate, result: CueResult) -> dict[str, float]:
    """What the second regression reads of a line, by name: its cues and its form (about 0..1), its words and those of
    its headings, items and file name (1 each)."""
    text, size = line.text, len(line.text)
    found = {
        "cues": max(-MAX_CUE_SUM, min(MAX_CUE_SUM, result.score)),
        "several": min(len(result.cues), MAX_CUES) / MAX_CUES,
        "size": min(1.0, size / 200),
        "size squared": min(1.0, size / 200) ** 2,
        "digits": min(1.0, 3 * sum(map(str.isdigit, text)) / max(8, size)),
        "code": min(1.0, text.count("`") / 4),
        "capitals": min(1.0, len(_CAPITALS.findall(text)) / 3),
        "names": min(1.0, len(_NAMES.findall(text)) / 4),
        "beside": log(1 + line.beside) / 6,
        f"in {line.languages[0]}": 1.0,
        f"kind {result.kind or 'none'}": 1.0,
        f"label {line.label or 'none'}": 1.0,
        f"under {line.under_kind or 'none'}": 1.0,
        f"origin {line.origin or 'none'}": 1.0,
    }
    told = {
        "tiny": size < 25, "short": size < 45, "long": size > 250,
        "a topic": bool(line.topic), "prose": line.prose, "reported": line.reported,
    }  # fmt: skip
    found.update((name, 1.0) for name, holds in told.items() if holds)
    found.update((f"cue {name}", 1.0) for name in (*result.cues, *result.against))
    found.update((f"form {name}", 1.0) for name, pattern in _FORMS.items() if pattern.search(text))
    found.update((f"form {name}", 1.0) for name, pattern in _OPENINGS.items() if pattern.search(line.whole))
    for place, words in (
        ("word", _words(text[:WORDS_READ])),
        ("near", _words_of(line.near)),
        ("outer", _words_of(line.outer)),
        ("file", _words(line.file[:HEADING_READ])),
    ):
        found.update((f"{place} {word}", 1.0) for word in words)
    return found


@cache
def _words_of(headings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_words(" ".join(headings)[:HEADING_READ]))


def _words(text: str) -> Iterator[str]:
    """The words and marks of a text in lower case, each pair of neighbours, and the last letters of Korean words;
    every number is `0`."""
    words = ["0" if word[0].isdigit() else word for word in _WORD.findall(text.lower())]
    yield from words
    yield from map(" ".join, pairwise(words))
    for word in words:
        if "가" <= word[0] <= "힣":
            yield f"-{word[-1:]}"
            yield f"-{word[-2:]}"


def score(line: Candidate, result: CueResult, *, named: bool = False) -> float:
    """The line's score: `cues.THRESHOLD` where it is just likely enough to be worth keeping, more where it is
    likelier. It is no less where the line is `named` by a label of a kind of fact (`Decision:`), nor for a line of a
    person's log whose cues decide alone."""
    peoples = is_peoples(line)
    if peoples and not (line.topic or line.prose):
        odds = linear_model.load(__file__, "people_logs.tsv").odds(features(line.text, result))
    else:
        odds = linear_model.load(__file__, "agent_logs.tsv").odds(forms(line, result))
    if named or (peoples and result.score >= (FOUND_OUT if result.kind == "lesson" else SETTLING_CUE_SUM)):
        odds = max(odds, 0.0)
    return THRESHOLD + SCALE * odds


def is_peoples(line: Candidate) -> bool:
    """Whether a line stands in a short list, or in a short text without headings, as people write a day down."""
    return line.beside <= PEOPLES_LOG and not line.reported and not (line.prose and line.topic)
