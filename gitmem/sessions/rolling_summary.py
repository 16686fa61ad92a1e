"""The rolling summary of a session: what was said before the recent turns, a turn at a time, in bounded space. Pure.

Extractive: it says only sentences that were said, and none of a line with a secret. A turn is folded in once and the
state after n turns depends on those turns alone, so a summary kept between runs is the one a fresh start would make,
and it still knows what a host has since dropped from its transcript. `sessions/state.py` keeps it.
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
from gitmem.text.telling import STOP, STOP_KOREAN
from gitmem.text.terms import cut
from gitmem.text.terms import tokens as words

SUMMARY_TOKENS = 400
SHORTEST, LONGEST = 8, 400  # characters of a sentence that can tell something
LINES = 80  # sentences that are kept in the running; cut back to these whenever there are twice as many
TERMS = 600  # terms that are counted; cut back whenever there are twice as many
SAME = 0.75  # share of the shorter sentence's terms that the longer one has, from which they say the same
MARKS = 16  # turns by which the place in a transcript is found again


class SummaryLine(NamedTuple):
    """A sentence, who said it, and its place among all sentences of the session."""

    number: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Rolling:
    """The summary so far: sentences worth keeping in order, how often terms came up, and which turns are in it.

    `turns` counts the turns folded in, `first` and `marks` are keys of the first and of the last of them.
    """

    lines: tuple[SummaryLine, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    turns: int = 0
    said: int = 0
    first: str = ""
    marks: tuple[str, ...] = ()


def fold(state: Rolling, turns: Iterable[Turn]) -> Rolling:
    """The summary with these turns in it as well; tool output says nothing here. Folding in two steps is one step."""
    lines, counts = list(state.lines), dict(state.counts)
    known = {line.text for line in lines}
    own = {line.text: _terms(line.text) for line in lines}
    count, said, first, marks = state.turns, state.said, state.first, list(state.marks)
    for turn in turns:
        if turn.role is Role.TOOL or not turn.text:
            continue
        count, first, marks = count + 1, first or key(turn), [*marks[-MARKS + 1 :], key(turn)]
        for role, text in sentences(turn):
            said += 1
            own.setdefault(text, _terms(text))
            for term in own[text]:
                counts[term] = counts.get(term, 0) + 1
            if text not in known:
                known.add(text)
                lines.append(SummaryLine(said, role, text))
        if len(counts) > 2 * TERMS:
            counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:TERMS])
        if len(lines) > 2 * LINES:
            lines.sort(key=lambda line: (-weight(own[line.text], line.text, counts), line.number))
            lines = sorted(lines[:LINES])
            known = {line.text for line in lines}
            own = {line.text: own[line.text] for line in lines}
    return Rolling(tuple(lines), counts, count, said, first, tuple(marks))


def sentences(turn: Turn) -> list[tuple[str, str]]:
    """(who, sentence) of a turn, without lines that hold a secret and without what the turn quotes or was given; an
    earlier summary's lines name who said them."""
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
            if SHORTEST <= len(part) <= LONGEST and part != HIDDEN:
                parts.append((role, part))
    return parts


def weight(own: Collection[str], text: str, counts: Mapping[str, int], focus: Collection[str] = ()) -> float:
    """How much a sentence tells: the mean log frequency of its terms in the whole (a word used throughout tells what
    the conversation is about), more where it shares words with `focus`, damped for questions."""
    if not own:
        return 0.0
    mean = sum(math.log1p(counts.get(term, 0)) for term in own) / math.sqrt(len(own) + 4)
    shared = sum(1 for term in focus if term in own) / max(1, len(focus))
    return mean * (1 + 2 * shared) * (0.6 if text.endswith(("?", "？")) else 1)


def render(state: Rolling, budget: int = SUMMARY_TOKENS, focus: str = "") -> str:
    """`best` as `- who: sentence` lines, "" when there are none."""
    return "\n".join(f"- {line.role}: {line.text}" for line in best(state, budget, focus))


def best(state: Rolling, budget: int, focus: str = "") -> list[SummaryLine]:
    """The most telling sentences within `budget` tokens in the order they were said, none that says nearly what
    another says, those that share words with `focus` first."""
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
    """The terms of a text without the words that say nothing of a subject."""
    kept = ((token, script) for token, script in words(text) if token.lower() not in STOP and token not in STOP_KOREAN)
    return frozenset(term for token, script in kept for term in cut(token, script))


def _adds_little(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the shorter of two sentences of a summary adds little. `repeats` of memory/similarity.py asks more, since
    what it drops is a fact; here the terms are kept as a turn is folded in, so that the words need not be."""
    least = min(len(one), len(other))
    if least > 2:
        return len(one & other) >= SAME * least
    return one == other


def resume(state: Rolling, turns: Sequence[Turn], keep: int = KEEP) -> Rolling:
    """The summary of a transcript without its last `keep` spoken turns, going on from what `state` has of it.

    A transcript whose first turn is another one was cut by its host: what is left is newer, and earlier summaries in
    it are used only where nothing is remembered.
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
        if keys[: state.turns][-MARKS:] == list(state.marks):
            return fold(state, older[state.turns :])
        return fold(Rolling(), older)  # turns were edited or fewer are asked for: begin again, all are here
    if not state.turns:
        return fold(Rolling(), [turn for turn in turns if turn.by is By.SUMMARY] + older)
    return fold(state, older[after(keys, state.marks) :])


def after(keys: Sequence[str], marks: Sequence[str]) -> int:
    """How many of `keys` are in the summary already: those up to where its last marks end."""
    for at in range(len(keys), 0, -1):
        length = min(at, len(marks))
        if length and tuple(keys[at - length : at]) == tuple(marks[-length:]):
            return at
    return 0


def key(turn: Turn) -> str:
    """What tells a turn apart, by its text: line numbers change when a transcript is compacted."""
    return hashlib.sha256(f"{turn.role}\0{turn.text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def numbered(keys: Iterable[str]) -> list[str]:
    """The keys of turns in their order, the second and later ones of one text with their number: said again, it is
    another turn."""
    counts: Counter[str] = Counter()
    found = []
    for each in keys:
        counts[each] += 1
        found.append(each if counts[each] == 1 else f"{each}.{counts[each]}")
    return found


def dump(state: Rolling) -> bytes:
    """A state as JSON; `load` reads it."""
    value = {"version": 1, "lines": [list(line) for line in state.lines], "counts": dict(state.counts)}
    value |= {"turns": state.turns, "said": state.said, "first": state.first, "marks": list(state.marks)}
    return json.dumps(value).encode()


def load(data: bytes) -> Rolling:
    """The state, an empty one when it is damaged or of another version."""
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
