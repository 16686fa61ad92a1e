"""Shorten a transcript: which turns to keep, which to drop, which tool output to trim.

Pure: turns in, turns out. A tool call and its result are kept or dropped together, because hosts refuse a transcript
with only one of them. `sessions/rolling_summary.py` summarises the dropped turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gitmem.hosts.transcript import By, Role, Turn
from gitmem.models.token_count import estimate

KEEP = 8  # spoken turns that are kept verbatim
TRIGGER_TURNS, TRIGGER_TOKENS = 12, 6_000  # from this size on compaction is worth its loss
SOFT_LIMIT, HEAD, TAIL = 4_000, 1_500, 1_500  # characters; a longer old tool result is cut to its head and tail
KEEP_ASSISTANT = 3  # the last assistant turns whose tool results are not pruned
CLEARED = "[cleared: old tool output]"


RESERVE, SOFT, SHARE = 20_000, 4_000, 0.75  # tokens for the answer, tokens before these, share of the window


def full(turns: Sequence[Turn], window: int, reserve: int = RESERVE, soft: int = SOFT, share: float = SHARE) -> str:
    """Why a context window of `window` tokens is nearly full; "" if it is not, or its size is unknown (0).

    It is nearly full from `share` of the window on, and from `soft` tokens before the `reserve` at its end.
    """
    size = sum(estimate(turn.text) for turn in turns)
    full_at = min(window * share, max(0, window - reserve - soft))
    if window > 0 and size >= full_at:
        return f"{size} tokens of a window of {window}"
    return ""


def due(turns: Sequence[Turn], window: int = 0, reserve: int = RESERVE, soft: int = SOFT, share: float = SHARE) -> str:
    """Why compaction is due; "" if it is not. `window`: the model's context in tokens, 0 if unknown."""
    spoken = sum(1 for turn in turns if turn.role is not Role.TOOL and turn.by is By.SPEAKER)
    size = sum(estimate(turn.text) for turn in turns)
    if why := full(turns, window, reserve, soft, share):
        return why
    if size >= TRIGGER_TOKENS:
        return f"{size} tokens"
    if spoken > TRIGGER_TURNS:
        return f"{spoken} turns"
    return ""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compacted transcript. `kept`: turns that stay verbatim. `dropped`: earlier turns, to be summarised."""

    kept: tuple[Turn, ...]
    dropped: tuple[Turn, ...]


def compact(turns: Sequence[Turn], *, keep: int = KEEP) -> Compacted:
    """Keep the last `keep` spoken turns with their tool calls and results, and all later turns; drop the rest."""
    spoken = [at for at, turn in enumerate(turns) if turn.role is not Role.TOOL and turn.by is By.SPEAKER]
    spoken = _answers([at for at in spoken if turns[at].text or turns[at].calls], turns)
    cut = 0
    if len(spoken) > keep:
        cut = spoken[-keep]
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
    return Compacted(kept, dropped)


def _answers(places: Sequence[int], turns: Sequence[Turn]) -> list[int]:
    """The positions of turns without those that continue the answer before them."""
    return [at for at in places if not (at and turns[at].answer and turns[at].answer == turns[at - 1].answer)]


def prune(
    turns: Sequence[Turn], *, now: datetime, ttl: timedelta = timedelta(seconds=600), hard: bool = False
) -> list[Turn]:
    """The turns with old tool results cut to head and tail, or cleared with `hard`.

    A result is old if it is older than `ttl` (when its turn has a time) and stands before the last KEEP_ASSISTANT
    assistant turns.
    """
    assistants = _answers([at for at, turn in enumerate(turns) if turn.role is Role.ASSISTANT], turns)
    recent = 0
    if len(assistants) >= KEEP_ASSISTANT:
        recent = assistants[-KEEP_ASSISTANT]
    out = []
    for at, turn in enumerate(turns):
        old = at < recent and (turn.at is None or now - turn.at > ttl)
        if turn.role is Role.TOOL and old:
            out.append(replace(turn, text=CLEARED if hard else trim(turn.text)))
        else:
            out.append(turn)
    return out


def trim(text: str) -> str:
    """The head and tail of a long text, with the number of missing characters between them."""
    if len(text) <= SOFT_LIMIT:
        return text
    return f"{text[:HEAD]}\n[... {len(text) - HEAD - TAIL} characters ...]\n{text[-TAIL:]}"
