"""What a context says of statements that cite code: a mark where the code changed, moved to another path or is gone.

What cites code that is gone is no longer pinned and is the least relevant of its scope; nothing is left out here. The
scope tells what became of the code; nothing is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part
from gitmem.memory.code_state import CitedCode, CodeState, of_code

Ask = Callable[[Iterable[str]], Mapping[str, CitedCode]]  # values of `code` keys -> those that are not as they were
MIN_RELEVANCE = 0.01  # relevance of what cites code that is gone


def marked(parts: Sequence[Part], ask: Ask) -> list[Part]:
    """The parts, each with what is to be said of the code that its statements cite; a part of a hit has that already
    where the search said it."""
    values = dict.fromkeys(
        value for part in parts for piece in part.pieces for key, value in piece.statement.meta if key == "code"
    )
    if values:
        code = ask(values)
    else:
        code = {}
    return [_marked(part, code) for part in parts]


def _marked(part: Part, code: Mapping[str, CitedCode]) -> Part:
    said = [(piece.first, tuple(found)) for piece in part.pieces if (found := of_code(piece.statement.meta, code))]
    said = said or list(part.code)
    if not said:
        return part
    part = replace(part, code=tuple(said))
    if len([each for _, each in said if each[0].state is CodeState.GONE]) < len(part.pieces):
        return part
    return replace(
        part, gone=True, relevance=MIN_RELEVANCE, layer=Layer.MEMORY if part.layer is Layer.PINNED else part.layer
    )


def mark(found: Iterable[CitedCode]) -> str:
    """What stands before a statement."""
    return "".join(f"[{each.words}] " for each in found)
