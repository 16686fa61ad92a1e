"""Marks the statements of a context that cite code which changed, moved to another path, or was deleted.

A part that cites only deleted code loses its pin and gets the least relevance; nothing is left out. The scope tells
what became of the code; this module reads nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part
from gitmem.memory.code_state import CitedCode, CodeState, of_code

Ask = Callable[[Iterable[str]], Mapping[str, CitedCode]]  # values of `code` keys -> what became of changed code
MIN_RELEVANCE = 0.01  # relevance of a part that cites deleted code only


def marked(parts: Sequence[Part], ask: Ask) -> list[Part]:
    """The parts with `code` set for statements whose cited code changed. A part may have that from its search."""
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
    """The marks before a statement."""
    return "".join(f"[{each.words}] " for each in found)
