"""The rolling summary of a session: its older turns in bounded space, updated turn by turn. Pure.

The summary consists of sentences of the session, none from a line with a secret. Each turn is added once, and the state
after n turns depends on these turns only. So a stored summary equals one made from the start, and it also covers turns
that the host has removed from its transcript. `sessions/state.py` stores it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gitmem.hosts.pasted_text import without_pasted_text
from gitmem.hosts.transcript import By, Role, Turn
from gitmem.models.token_count import estimate
from gitmem.sessions.compaction import KEEP
from gitmem.text.sentences import sentences as split_sentences
from gitmem.text.subject_terms import STOP, STOP_KOREAN
from gitmem.text.terms import split_token
from gitmem.text.terms import tokens as words

SUMMARY_TOKENS = 400
MIN_SENTENCE_CHARS, MAX_SENTENCE_CHARS = 8, 400
KEPT_SENTENCES = 80  # cut back to this number when there are twice as many
KEPT_TERMS = 600  # with counts; cut back to this number when there are twice as many
SAME_SHARE = 0.75  # of the shorter sentence's terms in the longer one, from which they say the same
MARK_TURNS = 16  # the last turns whose keys find the place in a transcript again


class SummaryLine(NamedTuple):
    """A sentence with its speaker and its number among all sentences of the session."""

    number: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Rolling:
    """The state of a summary: the kept sentences in order, and the counts of terms.

    `turns`: the number of turns in the summary. `said`: the number of sentences of these turns. `first`, `marks`: the
    keys of the first and of the last of them.
    """

    lines: tuple[SummaryLine, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    turns: int = 0
    said: int = 0
    first: str = ""
    marks: tuple[str, ...] = ()


def fold(state: Rolling, turns: Iterable[Turn]) -> Rolling:
    """The summary with these turns added, without tool output. Adding in two steps gives the same as in one."""
    lines, counts = list(state.lines), dict(state.counts)
    known = {line.text for line in lines}
    own = {line.text: _terms(line.text) for line in lines}
    count, said, first, marks = state.turns, state.said, state.first, list(state.marks)
    for turn in turns:
        if turn.role is Role.TOOL or not turn.text:
            continue
        count, first, marks = count + 1, first or key(turn), [*marks[-MARK_TURNS + 1 :], key(turn)]
        for role, text in sentences(turn):
            said += 1
            own.setdefault(text, _terms(text))
            for term in own[text]:
                counts[term] = counts.get(term, 0) + 1
            if text not in known:
                known.add(text)
                lines.append(SummaryLine(said, role, text))
        if len(counts) > 2 * KEPT_TERMS:
            counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:KEPT_TERMS])
        if len(lines) > 2 * KEPT_SENTENCES:
            lines.sort(key=lambda line: (-weight(own[line.text], line.text, counts), line.number))
            lines = sorted(lines[:KEPT_SENTENCES])
            known = {line.text for line in lines}
            own = {line.text: own[line.text] for line in lines}
    return Rolling(tuple(lines), counts, count, said, first, tuple(marks))


def sentences(turn: Turn) -> list[tuple[str, str]]:
    """(speaker, sentence) of a turn, without lines with a secret, quotations and inserted text.

    The lines of an earlier summary name their speakers.
    """
    from gitmem.gate.quoting import HIDDEN, without_secrets

    parts = []
    own = turn.text
    if turn.by is By.SPEAKER:
        own = "\n".join(passage.text for passage in without_pasted_text(turn.text) if not passage.doubtful)
    for text in without_secrets(own.split("\n")):
        for part in split_sentences(text):
            role, part = turn.role.value, part.strip()
            if turn.by is By.SUMMARY:
                head, colon, rest = part.removeprefix("- ").partition(": ")
                if colon and head in ("user", "assistant"):
                    role, part = (head, rest)
                else:
                    role, part = ("assistant", part)
            if MIN_SENTENCE_CHARS <= len(part) <= MAX_SENTENCE_CHARS and part != HIDDEN:
                parts.append((role, part))
    return parts


def weight(own: Collection[str], text: str, counts: Mapping[str, int], focus: Collection[str] = ()) -> float:
    """The weight of a sentence: the mean log count of its terms, since frequent words are the topic of a session.

    Words of `focus` add to it; a question gets less.
    """
    if not own:
        return 0.0
    mean = sum(math.log1p(counts.get(term, 0)) for term in own) / math.sqrt(len(own) + 4)
    shared = sum(1 for term in focus if term in own) / max(1, len(focus))
    return mean * (1 + 2 * shared) * (0.6 if text.endswith(("?", "？")) else 1)


def render(state: Rolling, budget: int = SUMMARY_TOKENS, focus: str = "") -> str:
    """The sentences of `best` as lines `- speaker: sentence`; "" if there are none."""
    return "\n".join(f"- {line.role}: {line.text}" for line in best(state, budget, focus))


def best(state: Rolling, budget: int, focus: str = "") -> list[SummaryLine]:
    """The sentences of most weight within `budget` tokens, in the order of the session, without near-repetitions.

    Sentences that share words with `focus` are chosen first.
    """
    wanted = _terms(focus)
    own = {line: _terms(line.text) for line in state.lines}
    ranked = sorted(
        state.lines, key=lambda line: (-weight(own[line], line.text, state.counts, wanted), line.number)
    )  # fmt: skip
    chosen: list[SummaryLine] = []
    left = budget
    for line in ranked:
        cost = estimate(line.text) + 4
        if cost <= left and not any(_adds_little(own[line], own[other]) for other in chosen):
            chosen.append(line)
            left -= cost
    return sorted(chosen)


def _terms(text: str) -> frozenset[str]:
    """The terms of a text without stop words."""
    kept = ((token, script) for token, script in words(text) if token.lower() not in STOP and token not in STOP_KOREAN)
    return frozenset(term for token, script in kept for term in split_token(token, script))


def _adds_little(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the shorter of two sentences repeats the longer one. Works on stored terms. `repeats` of
    memory/similarity.py is stricter, since it drops facts."""
    least = min(len(one), len(other))
    if least > 2:
        return len(one & other) >= SAME_SHARE * least
    return one == other


def resume(state: Rolling, turns: Sequence[Turn], keep: int = KEEP) -> Rolling:
    """The summary of a transcript without its last `keep` spoken turns, continued from `state`.

    If the first turn differs, the host has cut the transcript and the rest is newer. Summaries of the host in the
    transcript are used only if `state` is empty.
    """
    spoken = [turn for turn in turns if turn.role is not Role.TOOL and turn.text and turn.by is By.SPEAKER]
    if keep:
        older = spoken[:-keep]
    else:
        older = spoken
    if not older and not state.turns:
        return fold(state, [turn for turn in turns if turn.by is By.SUMMARY])
    keys = [key(turn) for turn in older]
    if state.turns and keys and keys[0] == state.first:
        if keys[: state.turns][-MARK_TURNS:] == list(state.marks):
            return fold(state, older[state.turns :])
        return fold(Rolling(), older)  # turns were edited, or `keep` is larger: start again, since all turns are here
    if not state.turns:
        return fold(Rolling(), [turn for turn in turns if turn.by is By.SUMMARY] + older)
    return fold(state, older[after(keys, state.marks) :])


def after(keys: Sequence[str], marks: Sequence[str]) -> int:
    """The number of `keys` that the summary contains: those up to its last mark."""
    for at in range(len(keys), 0, -1):
        length = min(at, len(marks))
        if length and tuple(keys[at - length : at]) == tuple(marks[-length:]):
            return at
    return 0


def key(turn: Turn) -> str:
    """The key of a turn, made from its text, since line numbers change when a transcript is compacted."""
    return hashlib.sha256(f"{turn.role}\0{turn.text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def numbered(keys: Iterable[str]) -> list[str]:
    """The keys of turns in order; repeated keys get a number, since a repeated text is another turn."""
    counts: Counter[str] = Counter()
    found = []
    for each in keys:
        counts[each] += 1
        found.append(each if counts[each] == 1 else f"{each}.{counts[each]}")
    return found


def dump(state: Rolling) -> bytes:
    """The state as JSON for `load`."""
    value = {"version": 1, "lines": [list(line) for line in state.lines], "counts": dict(state.counts)}
    value |= {"turns": state.turns, "said": state.said, "first": state.first, "marks": list(state.marks)}
    return json.dumps(value).encode()


def load(data: bytes) -> Rolling:
    """The state from its JSON; an empty one for damaged data or another version."""
    try:
        value = json.loads(data)
        if value["version"] != 1:
            return Rolling()
        lines = tuple(SummaryLine(int(number), str(role), str(text)) for number, role, text in value["lines"])
        counts = {str(term): int(count) for term, count in value["counts"].items()}
        marks = tuple(map(str, value["marks"]))
        return Rolling(lines, counts, int(value["turns"]), int(value["said"]), str(value["first"]), marks)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return Rolling()
