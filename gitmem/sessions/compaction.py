"""Shorten a transcript: decide when compaction is due, which turns to keep or drop, and cut old tool output. Pure.

A *spoken turn* is a turn of the person or the agent that is not tool output and not text inserted by the host. A tool
call and its result are kept or dropped together, because hosts refuse a transcript with only one of them.
`sessions/rolling_summary.py` summarises the dropped turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gitmem.hosts.transcript import By, Role, Turn
from gitmem.models.token_count import estimate

KEPT_TURNS = 8  # number of last spoken turns that are kept verbatim
TRIGGER_TURNS, TRIGGER_TOKENS = 12, 6_000  # from this size on compaction is worth its loss
MAX_RESULT_CHARS, HEAD_CHARS, TAIL_CHARS = 4_000, 1_500, 1_500  # a longer old tool result is cut to head and tail
UNPRUNED_ANSWERS = 3  # number of last answers of the agent whose tool results are not pruned
CLEARED = "[cleared: old tool output]"
RESERVED_TOKENS = 20_000  # of the context window, for the next answer
MARGIN_TOKENS = 4_000  # before the reserved ones, from which the window counts as nearly full
WINDOW_SHARE = 0.75  # of the window, from which it counts as nearly full
MAX_FREE_SHARE = 0.5  # of the window, for RESERVED_TOKENS and MARGIN_TOKENS: small local models have 8,192 tokens


def full_window_reason(
    turns: Sequence[Turn],
    window: int,
    reserve: int = RESERVED_TOKENS,
    soft: int = MARGIN_TOKENS,
    share: float = WINDOW_SHARE,
) -> str:
    """A sentence that says that the turns nearly fill a context window of `window` tokens; "" if they do not, or if
    `window` is 0 (unknown).

    The window is nearly full from `share` of its size on, or when fewer than `soft` tokens are free before the last
    `reserve` tokens. `reserve` and `soft` together count as at most MAX_FREE_SHARE of the window, so that a window that
    is smaller than both is not nearly full from the first turn on.
    """
    size = sum(estimate(turn.text) for turn in turns)
    free = min(reserve + soft, window * MAX_FREE_SHARE)
    full_at = min(window * share, window - free)
    if window > 0 and size >= full_at:
        return f"{size} tokens of a window of {window}"
    return ""


def compaction_reason(
    turns: Sequence[Turn],
    window: int = 0,
    reserve: int = RESERVED_TOKENS,
    soft: int = MARGIN_TOKENS,
    share: float = WINDOW_SHARE,
) -> str:
    """A sentence that says why compaction is due: a nearly full window, TRIGGER_TOKENS or more, or more than
    TRIGGER_TURNS spoken turns. "" if compaction is not due.

    `window`: size of the model's context in tokens, 0 if unknown. It is nearly full from `share` of its size on, or
    when fewer than `soft` tokens are free before the last `reserve` tokens (`full_window_reason`).
    """
    spoken = sum(1 for turn in turns if turn.role is not Role.TOOL and turn.by is By.SPEAKER)
    size = sum(estimate(turn.text) for turn in turns)
    if why := full_window_reason(turns, window, reserve, soft, share):
        return why
    if size >= TRIGGER_TOKENS:
        return f"{size} tokens"
    if spoken > TRIGGER_TURNS:
        return f"{spoken} turns"
    return ""


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of a compaction. `kept`: turns that stay verbatim. `dropped`: the other turns, for the summary. Both
    are in order."""

    kept: tuple[Turn, ...]
    dropped: tuple[Turn, ...]


def compact(turns: Sequence[Turn], *, keep: int = KEPT_TURNS) -> Compacted:
    """Keep the last `keep` (1 or more) spoken turns, everything after the first of them, and the tool calls and results
    that belong to kept turns. Drop the rest. With at most `keep` spoken turns nothing is dropped. Consecutive turns of
    one answer of the agent count as one."""
    spoken = [index for index, turn in enumerate(turns) if turn.role is not Role.TOOL and turn.by is By.SPEAKER]
    spoken = _answer_starts([index for index in spoken if turns[index].text or turns[index].calls], turns)
    start = spoken[-keep] if len(spoken) > keep else 0
    kept_indexes = set(range(start, len(turns)))
    callers = {call: index for index, turn in enumerate(turns) for call in turn.calls}
    results = {turn.answers: index for index, turn in enumerate(turns) if turn.answers}
    grown = True
    while grown:
        pairs = {callers[turns[index].answers] for index in kept_indexes if turns[index].answers in callers}
        pairs |= {results[call] for index in kept_indexes for call in turns[index].calls if call in results}
        grown = not pairs <= kept_indexes
        kept_indexes |= pairs
    kept = tuple(turn for index, turn in enumerate(turns) if index in kept_indexes)
    dropped = tuple(turn for index, turn in enumerate(turns) if index not in kept_indexes)
    return Compacted(kept, dropped)


def _answer_starts(places: Sequence[int], turns: Sequence[Turn]) -> list[int]:
    """The positions in `places` without those of turns that continue the same answer as the turn before."""
    answers = {index: turns[index].answer for index in places}
    return [index for index in places if not (index and answers[index] and answers[index] == turns[index - 1].answer)]


def prune(
    turns: Sequence[Turn], *, now: datetime, ttl: timedelta = timedelta(seconds=600), hard: bool = False
) -> list[Turn]:
    """The turns in order, with each old tool result cut to head and tail by `trim`, or replaced by CLEARED if `hard`.

    A tool result is old if it precedes the last UNPRUNED_ANSWERS answers of the agent and, when its turn has a time,
    was given more than `ttl` before `now`. With fewer answers than that no result is old.
    """
    assistants = _answer_starts([index for index, turn in enumerate(turns) if turn.role is Role.ASSISTANT], turns)
    recent = assistants[-UNPRUNED_ANSWERS] if len(assistants) >= UNPRUNED_ANSWERS else 0
    pruned = []
    for index, turn in enumerate(turns):
        is_old = index < recent and (turn.at is None or now - turn.at > ttl)
        if turn.role is Role.TOOL and is_old:
            pruned.append(replace(turn, text=CLEARED if hard else trim(turn.text)))
        else:
            pruned.append(turn)
    return pruned


def trim(text: str) -> str:
    """The first HEAD_CHARS and last TAIL_CHARS characters of a text, with the number of missing characters between
    them. A text of at most MAX_RESULT_CHARS is returned unchanged."""
    if len(text) <= MAX_RESULT_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}\n[... {len(text) - HEAD_CHARS - TAIL_CHARS} characters ...]\n{text[-TAIL_CHARS:]}"
