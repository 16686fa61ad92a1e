"""Marks the statements of a context that cite code which changed, moved to another path, or was deleted.

A part whose statements all cite deleted code loses its pin and gets MIN_RELEVANCE; no part is left out. The caller
passes a function that looks up the code; this module reads no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part
from gitmem.memory.code_state import CitedCode, CodeState, changed_citations
from gitmem.memory.fact import values_of

CodeLookup = Callable[
    [Iterable[str]], Mapping[str, CitedCode]
]  # values of the metadata key `code` -> the code that changed
MIN_RELEVANCE = 0.01  # relevance of a part whose statements all cite deleted code


def with_cited_code(parts: Sequence[Part], lookup: CodeLookup) -> list[Part]:
    """All parts in order, with `code` set on those whose statements cite code that changed, moved or was deleted. If
    all statements of a part cite deleted code, it gets `code_gone` and MIN_RELEVANCE too, and a pinned one moves to the
    layer MEMORY.

    A part that has `code` already (from its search) and no statement here that cites changed code keeps it. `lookup`:
    returns the cited code that changed.
    """
    values = dict.fromkeys(
        value for part in parts for piece in part.pieces for value in values_of(piece.statement.meta, "code")
    )
    code = lookup(values) if values else {}
    return [_part_with_code(part, code) for part in parts]


def _part_with_code(part: Part, code: Mapping[str, CitedCode]) -> Part:
    """The part with the changed code that its statements cite (`changed_citations`) as its `code`; without any, with
    the `code` that it has already. If each of its statements cites some deleted code, the part also has `code_gone` and
    MIN_RELEVANCE, and a pinned part moves to the layer MEMORY. `code`: from the lookup of `with_cited_code`."""
    states = [(piece.first, tuple(changed_citations(piece.statement.meta, code))) for piece in part.pieces]
    cited = [(line, citations) for line, citations in states if citations] or list(part.code)
    if not cited:
        return part
    part = replace(part, code=tuple(cited))
    if len([citations for _, citations in cited if citations[0].state is CodeState.GONE]) < len(part.pieces):
        return part
    return replace(
        part, code_gone=True, relevance=MIN_RELEVANCE, layer=Layer.MEMORY if part.layer is Layer.PINNED else part.layer
    )


def code_mark(cited_code: Iterable[CitedCode]) -> str:
    """The marks before a statement, such as `[code changed: a.py] `, joined; "" without cited code."""
    return "".join(f"[{cited.words}] " for cited in cited_code)
