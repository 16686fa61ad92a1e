"""Making a transcript shorter without losing its thread: what to keep, what to sum up, what tool output to trim.

Pure: turns in, turns out. A tool call and its result are kept or left together, because hosts refuse a transcript in
which they are not. The summary is extractive (sentences that were said, most telling first): no model is needed, and
it can say nothing that was not said.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gitmem.query import terms
from gitmem.transcript import Role, Turn

KEEP = 8  # spoken turns that stay verbatim
TRIGGER_TURNS, TRIGGER_TOKENS = 12, 6_000  # compaction is worth its loss from here
SOFT_LIMIT, HEAD, TAIL = 4_000, 1_500, 1_500  # characters of an old tool result: trimmed to head and tail
KEEP_ASSISTANT = 3  # assistant turns whose tool results are not pruned
SUMMARY_TOKENS = 400
CLEARED = "[cleared: old tool output]"
SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def tokens(text: str) -> int:
    """A model's tokens, about: characters / 4, but Hangul, Kana and Han count one each."""
    wide = sum(1 for c in text if c >= "\u1100")
    return math.ceil((len(text) - wide) / 4) + wide


RESERVE, SOFT, SHARE = 20_000, 4_000, 0.75  # tokens a model keeps for its answer, those before them, share of a window


def full(turns: Sequence[Turn], window: int, reserve: int = RESERVE, soft: int = SOFT, share: float = SHARE) -> str:
    """Why a window of so many tokens is nearly full, "" when it is not or its size is unknown (0).

    It is from `share` of it on, and from `soft` tokens before the `reserve` at its end.
    """
    size = sum(tokens(turn.text) for turn in turns)
    full_at = min(window * share, max(0, window - reserve - soft))
    return f"{size} tokens of a window of {window}" if window > 0 and size >= full_at else ""


def due(turns: Sequence[Turn], window: int = 0, reserve: int = RESERVE, soft: int = SOFT, share: float = SHARE) -> str:
    """Why compaction is due, "" when it is not. `window` is the model's context in tokens, 0 when unknown."""
    spoken = sum(1 for turn in turns if turn.role is not Role.TOOL)
    size = sum(tokens(turn.text) for turn in turns)
    if why := full(turns, window, reserve, soft, share):
        return why
    if size >= TRIGGER_TOKENS:
        return f"{size} tokens"
    return f"{spoken} turns" if spoken > TRIGGER_TURNS else ""


@dataclass(frozen=True, slots=True)
class Compacted:
    """`kept` verbatim, after `summary` of the `dropped`."""

    summary: str
    kept: tuple[Turn, ...]
    dropped: tuple[Turn, ...]


def compact(turns: Sequence[Turn], *, keep: int = KEEP, focus: str = "", budget: int = SUMMARY_TOKENS) -> Compacted:
    """Keep the last `keep` spoken turns with their tool calls and results; sum up the rest in at most `budget` tokens.

    `focus` names words whose sentences come first.
    """
    spoken = [at for at, turn in enumerate(turns) if turn.role is not Role.TOOL and (turn.text or turn.calls)]
    cut = spoken[-keep] if len(spoken) > keep else 0
    wanted = set(range(cut, len(turns)))
    callers = {call: at for at, turn in enumerate(turns) for call in turn.calls}
    results = {turn.answers: at for at, turn in enumerate(turns) if turn.answers}
    grown = True
    while grown:
        pairs = {callers[turns[at].answers] for at in wanted if turns[at].answers in callers}
        pairs |= {results[call] for at in wanted for call in turns[at].calls if call in results}
        grown = not pairs <= wanted
        wanted |= pairs
    kept = tuple(turn for at, turn in enumerate(turns) if at in wanted)
    dropped = tuple(turn for at, turn in enumerate(turns) if at not in wanted)
    return Compacted(summarise(dropped, focus=focus, budget=budget), kept, dropped)


def summarise(turns: Sequence[Turn], *, focus: str = "", budget: int = SUMMARY_TOKENS) -> str:
    """The most telling sentences of what was said, in the order they were said, within `budget` tokens.

    A sentence's weight is the mean rarity-free frequency of its terms in the whole (a word used throughout tells what
    the talk is about), doubled where it shares words with `focus`, and damped for questions.
    """
    sentences = [
        (turn, part.strip())
        for turn in turns
        if turn.role is not Role.TOOL
        for part in SENTENCE.split(turn.text)
        if 8 <= len(part.strip()) <= 400
    ]
    counts = Counter(term for _, text in sentences for term in set(terms(text)))
    wanted = set(terms(focus))

    def weight(text: str) -> float:
        own = set(terms(text))
        if not own:
            return 0.0
        mean = sum(math.log1p(counts[term]) for term in own) / math.sqrt(len(own) + 4)
        return mean * (1 + 2 * len(own & wanted) / max(1, len(wanted))) * (0.6 if text.endswith(("?", "？")) else 1)

    ranked = sorted(range(len(sentences)), key=lambda at: (-weight(sentences[at][1]), at))
    chosen: list[int] = []
    seen: set[str] = set()
    left = budget
    for at in ranked:
        text = sentences[at][1]
        cost = tokens(text) + 4
        if cost <= left and text not in seen:
            chosen.append(at)
            seen.add(text)
            left -= cost
    return "\n".join(f"- {sentences[at][0].role.value}: {sentences[at][1]}" for at in sorted(chosen))


def prune(
    turns: Sequence[Turn], *, now: datetime, ttl: timedelta = timedelta(seconds=600), hard: bool = False
) -> list[Turn]:
    """Old tool results trimmed to head and tail (or, with `hard`, cleared); everything else as it is.

    Old is: older than `ttl` where the turn has a time, and before the last KEEP_ASSISTANT assistant turns.
    """
    assistants = [at for at, turn in enumerate(turns) if turn.role is Role.ASSISTANT]
    recent = assistants[-KEEP_ASSISTANT] if len(assistants) >= KEEP_ASSISTANT else 0
    out = []
    for at, turn in enumerate(turns):
        old = at < recent and (turn.at is None or now - turn.at > ttl)
        if turn.role is Role.TOOL and old:
            out.append(replace(turn, text=CLEARED if hard else trim(turn.text)))
        else:
            out.append(turn)
    return out


def trim(text: str) -> str:
    """Head and tail of a long text, with what is missing counted."""
    if len(text) <= SOFT_LIMIT:
        return text
    return f"{text[:HEAD]}\n[... {len(text) - HEAD - TAIL} characters ...]\n{text[-TAIL:]}"
