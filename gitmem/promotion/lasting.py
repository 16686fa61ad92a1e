"""Whether a line of a log says what will hold: learned from log days of people who did not know the cues, and from the
logs of agents that their owners keep in public.

Two logistic regressions. The first reads what the line says: the sum of its cues, which of them match, its length and
its meaning (`static_embedder`). The second reads the answer of the first beside the form of the line and of its log: in
the long log of an agent, most of it reports, a line that only sounds lasting seldom is. A person's log has the first
alone. `tools/train_lasting.py` makes
`lasting.json`: a weight for each feature by its name, and for each number of a vector.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from math import log
from operator import mul

from gitmem.promotion.cues import THRESHOLD, CueResult
from gitmem.promotion.log_lines import Candidate
from gitmem.search.evidence import table_of_words, vector_of
from gitmem.text.terms import latin_length

SCALE = 0.5  # of the log-odds, which so have about the range of a sum of cues
MOST = 3.0  # of a sum of cues, either way
MANY = 4  # cues: more say no more
SURE = 4.0  # log-odds of the first regression: more say no more
PEOPLES_LOG, AGENTS_LOG = 16, 90  # candidates of a day that a person writes down, and of one that is an agent's whole
ALONE = 2.0  # sum of cues from which a line of a person's log is kept: "we decided to use PostgreSQL" is short
ALONE_AMONG_REPORTS = 3.0  # ... of an agent's log: of 49 such lines in real ones 21 were worth keeping, 13 harmless
FOUND_OUT = 1.0  # ... of a lesson ("it turned out that cron runs in local time"): short too, and seldom in log days
FIRM = 2.0  # sum of cues from which a line of such a log, or a sentence of its prose, is looked at at all
SHORT = 16  # letters (as `latin_length` counts them) below which a line seldom says a whole thing
MUCH = 160  # characters above which a line says more than one thing
COLONS = frozenset(":：;；")


SOME_MORE = 4  # candidates of a person's long day
# Cues of what passes, said in the form of a line too.
_PASSING = frozenset(("today", "did something", "in progress", "hedge", "looks so", "한 일", "status"))
# Words and letters of European languages that have no cues: what is learned of their meaning has to do.
_FOREIGN = re.compile(
    r"[äöüßåéãçñø]|\b(?:der|die|das|und|nicht|mit|für|ist|ein|eine|auf|von|den|dem|zum|zur|wird|och|att|är|på|för|som|med"
    r"|ett|inte|till|les|des|est|une|pour|dans|avec|não|uma|para|que|por|los|las|una)\b",
    re.I,
)
_FORMS = {  # of a line, by what it has: status and reports are written in other marks than what will hold
    "a mark of work": re.compile(r"^(?:\W{0,2}[✅☑❌⚠🔴🟡🟢🚧⏳✔✓])"),
    "bold opening": re.compile(r"^\*\*"),
    "a file or code": re.compile(r"`[^`]+`"),
    "a link": re.compile(r"https?://"),
    "a share": re.compile(r"\d\s?%"),
    "a clock": re.compile(r"\b\d{1,2}:\d{2}\b"),
    "an arrow": re.compile(r"→|->|⇒"),
    "a hash": re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|#\d+\b"),
    "an approximation": re.compile(r"[~≈]\s?\d"),
    "brackets": re.compile(r"\([^)]{12,}\)"),
    "a stop at its end": re.compile(r"[.!?。！？]\W*$"),
    "a past opening": re.compile(r"^\W*(?:re)?[A-Za-z]+ed\b"),
    "a small opening": re.compile(r"^[a-z]"),
    "of us": re.compile(r"\b(?:I|me|my|we|our|us)\b"),
    "a quotation": re.compile(r"[\"“「『][^\"”」』]{4,}[\"”」』]"),
    "many commas": re.compile(r"(?:[,、，][^,、，]+){4}"),
}


def features(text: str, result: CueResult) -> dict[str, float]:
    """What a line says, by name: about 0..1, sums of cues apart; what is not there is 0."""
    found = {
        "cues": max(-MOST, min(MOST, result.score)),
        "several": min(len(result.cues), MANY) / MANY,
        "length": log(1 + latin_length(text)) / 3,
        "value": float(not COLONS.isdisjoint(text)),
    }
    found.update((f"cue {name}", 1.0) for name in (*result.cues, *result.against))
    return found


def forms(line: Candidate, result: CueResult, odds: float) -> dict[str, float]:
    """What the first regression says of a line and in which form it stands where, by name; each twice: `long` is how
    much the log is an agent's."""
    text = line.text
    found = {
        "odds": max(-SURE, min(SURE, odds)),
        "cues": max(-MOST, min(MOST, result.score)),
        "many cues": max(0.0, min(MOST + FIRM, result.score) - FIRM),
        "length": log(1 + latin_length(text)) / 3,
        "value": float(not COLONS.isdisjoint(text)),
        "digits": min(1.0, sum(map(str.isdigit, text)) / 8),
        "short": float(latin_length(text) < SHORT),
        "much": float(len(text) > MUCH),
        "prose": float(line.prose),
        "a topic": float(bool(line.topic)),
        "a label": float(bool(line.label)),
        f"kind {result.kind or 'none'}": 1.0,
    }
    if line.under_kind:
        found[f"under {line.under_kind}"] = 1.0
    found.update((f"form {name}", 1.0) for name, pattern in _FORMS.items() if pattern.search(text))
    found.update((f"cue {name}", 1.0) for name in _PASSING.intersection((*result.cues, *result.against)))
    long = _of_agents(line)
    both = {**found, **{f"long {name}": long * value for name, value in found.items()}}
    return {**both, "long": long, f"in {line.languages[0]}": 1.0}


def mixed(line: Candidate, first: float, second: float) -> float:
    """The answers of both as one: in a person's log the first's alone; in an agent's, in one that is written under
    headings of its own, and of prose, the second's."""
    share = 1.0 if line.prose or line.topic else min(1.0, 2 * _of_agents(line))
    return first + share * (second - first)


def _of_agents(line: Candidate) -> float:
    """0 for a line of a log as short as a person's, 1 for one of a log that only an agent writes."""
    short, long = log(1 + PEOPLES_LOG), log(1 + AGENTS_LOG)
    return max(0.0, min(1.0, (log(1 + line.beside) - short) / (long - short)))


def meaning(text: str) -> Sequence[float]:
    """What a line means, a vector of length 1; empty where the table cannot be read."""
    return vector_of(text, table_of_words()) or ()


def first_odds(text: str, result: CueResult) -> float:
    """The log-odds of what a line says."""
    weights, of_numbers, _ = _weights()
    odds = sum(weights.get(name, 0.0) * value for name, value in features(text, result).items())
    odds += sum(map(mul, of_numbers, meaning(text)))
    return float(odds + weights["any"])


def score(line: Candidate, result: CueResult) -> float:
    """The line's score: `cues.THRESHOLD` where it is about as likely as not to be worth keeping, more where it is
    likelier, and no less for a line whose cues decide alone."""
    weights = _weights()[2]
    first = first_odds(line.text, result)
    second = weights["any"] + sum(weights.get(name, 0.0) * value for name, value in forms(line, result, first).items())
    odds = mixed(line, first, second)
    learned: float = THRESHOLD + SCALE * decided(line, result, odds)
    return learned


def decided(line: Candidate, result: CueResult, odds: float) -> float:
    """The log-odds of a line after what its cues decide alone: no less than even where they do, clearly less where an
    agent's log says nothing for it, and under a heading of reports."""
    peoples = line.beside <= PEOPLES_LOG + SOME_MORE and not line.reported
    if result.score >= (FOUND_OUT if result.kind == "lesson" else ALONE if peoples else ALONE_AMONG_REPORTS):
        return max(odds, 0.0)
    return min(odds, -1.0) if line.reported or not is_firm(line, result) else odds


def is_firm(line: Candidate, result: CueResult) -> bool:
    """Whether enough speaks for a line to look at it: in a person's log and in a language without cues always, in an
    agent's, and in prose, where its cues or its label do."""
    if not line.prose and line.beside <= PEOPLES_LOG + SOME_MORE:
        return True
    if result.score >= (FOUND_OUT if line.label or result.kind == "lesson" else FIRM):
        return True
    return line.languages == ("en",) and not result.cues and _FOREIGN.search(line.text) is not None


@cache
def _weights() -> tuple[dict[str, float], Sequence[float], dict[str, float]]:
    text = resources.files("gitmem.promotion").joinpath("lasting.json").read_text(encoding="utf-8")
    learned = json.loads(text)
    return learned["features"], learned["meaning"], learned["forms"]
