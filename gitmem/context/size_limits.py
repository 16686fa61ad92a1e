"""Renders the parts of a context and lowers their budget until the text fits. `layer_limits` has the limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gitmem.context import packing
from gitmem.context.context_request import ContextRequest, Scope
from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part
from gitmem.context.pieces import without_metadata
from gitmem.context.rendering import Detail, missing_line, render, render_group
from gitmem.messages import Message

CUT_LAST = frozenset((Layer.PINNED, Layer.INCLUDED))  # layers that are cut last


UNCOMMITTED = "uncommitted"  # the only kind of trust that a context shows


Fit = Callable[[Sequence[Part], int, int], packing.Selection]  # parts, tokens, the hard limit of characters or 0


Render = Callable[[packing.Selection, Detail], str]


def fit_limits(
    parts: Sequence[Part], remaining_tokens: int, request: ContextRequest, select: Fit, render_selection: Render
) -> tuple[packing.Selection, str]:
    """(the selection that fits the request's budget of tokens and its hard limit of characters, its text).

    `remaining_tokens`: tokens for the parts. If no part fits beside the line about missing parts, that line is
    shortened (Detail). If no part fits even then, the selection keeps none and the text is that line alone, "" if it
    does not fit either.
    """
    for detail in Detail:
        selection, text = _shrink(parts, remaining_tokens, request, select, detail, render_selection)
        if selection.kept or not parts:
            return selection, text
    for detail in Detail:
        text = missing_line(selection, detail)
        if request.count_tokens(text) <= request.budget and not 0 < request.max_characters < len(text):
            break
    return selection, text


class _Attempt(NamedTuple):
    """A selection and its text. `too_large`: the text has too many tokens. `too_long`: it has too many characters."""

    selection: packing.Selection
    text: str
    too_large: bool
    too_long: bool

    @property
    def fits(self) -> bool:
        """Whether the text fits both limits."""
        return not (self.too_large or self.too_long)


def _shrink(
    parts: Sequence[Part], remaining_tokens: int, request: ContextRequest, select: Fit, detail: Detail,
    render_selection: Render,
) -> tuple[packing.Selection, str]:  # fmt: skip
    """(the selection that fits both limits, its text). The text is rendered and measured again with fewer and fewer
    tokens for the parts.

    Parts of layers outside CUT_LAST are dropped first; then, under the hard limit, the recent turns, oldest first; then
    parts of CUT_LAST.
    """
    turns = [part for part in parts if part.layer is Layer.RECENT]

    def attempt(total: int, recent: int, characters: int) -> _Attempt:
        """The selection for `total` tokens beside the last `recent` turns."""
        dropped = turns[: len(turns) - recent]
        dropped_ids = set(map(id, dropped))
        selection = select([part for part in parts if id(part) not in dropped_ids], total, characters)
        selection.dropped += [(part, packing.OVER_CHARACTERS) for part in dropped]
        if dropped:
            selection.limits.append(
                Message("limit of {} characters: {} of {} recent turns left out", characters, len(dropped), len(turns))
            )
        text = render_selection(selection, detail) if selection.kept else ""
        return _measured(selection, text, request)

    tried = attempt(remaining_tokens, len(turns), 0)
    if tried.fits:
        return tried.selection, tried.text
    hard = request.max_characters if tried.too_long else 0
    must = _tokens_cut_last(tried.selection, request, remaining_tokens)
    steps = [(must, remaining_tokens, len(turns))]
    if hard:
        steps += [(must, must + 1, recent) for recent in range(len(turns) - 1, -1, -1)]
    steps += [(0, must, 0 if hard else len(turns))]
    for fitting, exceeding, recent in steps:
        best = attempt(fitting, recent, hard)
        if not best.fits:
            if best.too_long:
                hard = request.max_characters
            continue
        while fitting + 1 < exceeding:
            middle = (fitting + exceeding) // 2
            tried = attempt(middle, recent, hard)
            if tried.fits:
                fitting, best = middle, tried
            else:
                exceeding = middle
        return best.selection, best.text
    last = attempt(0, 0, request.max_characters)
    return last.selection, last.text


def _measured(selection: packing.Selection, text: str, request: ContextRequest) -> _Attempt:
    """The selection with its text, measured by the limits of the request. Recent turns count no tokens."""
    frame = request.count_tokens('<recent who="user">\n</recent>')
    turns = [part for part in selection.kept if part.layer is Layer.RECENT]
    beside = sum(part.tokens + frame for part in turns)
    has_others = len(turns) < len(selection.kept)
    too_large = has_others and request.count_tokens(text) - beside > request.budget
    return _Attempt(selection, text, too_large, 0 < request.max_characters < len(text))


def _tokens_cut_last(selection: packing.Selection, request: ContextRequest, remaining_tokens: int) -> int:
    """The tokens of the selected parts of CUT_LAST, at most `remaining_tokens`."""
    measure = packing.Measure(
        request.layer_limits, request.count_tokens, lambda part: render_group([part], {}, bare=True)
    )
    must = packing.cost_of((part for part in selection.kept if part.layer in CUT_LAST), measure)
    return max(0, min(must, remaining_tokens))


def renderer(scopes: Sequence[Scope], commits: Mapping[str, str]) -> Render:
    """The result is a function that renders a selection to the text of the context. It also changes the selection: in
    `kept`, each part with an uncommitted line gets the trust UNCOMMITTED. It caches the quotations that it rendered and
    the comparisons with the commits. `commits`: scope name -> commit, as for `rendering.render`."""
    quoted: dict[tuple[Part, ...], str] = {}
    changed: dict[tuple[str, str], frozenset[str] | None] = {}

    def rendered(done: packing.Selection, detail: Detail) -> str:
        done.kept = _marked_uncommitted(done.kept, scopes, changed)
        return render(done.kept, commits, quoted, missing_line(done, detail))

    return rendered


def _marked_uncommitted(
    parts: Sequence[Part], scopes: Sequence[Scope], cache: dict[tuple[str, str], frozenset[str] | None]
) -> list[Part]:
    """All parts in order; a part with a line that its scope's commit lacks has `trust` UNCOMMITTED.

    `cache`: a cache that is filled here: (scope, path) -> the lines of the file in the commit, None if the file is
    unchanged.
    """
    marked = list(parts)
    for scope in scopes:
        paths = sorted({part.path for part in marked if part.scope == scope.name and part.path})
        unread_paths = [path for path in paths if (scope.name, path) not in cache]
        changed = scope.committed_lines(unread_paths) if unread_paths and not scope.error else {}
        cache.update({(scope.name, path): changed.get(path) for path in unread_paths})
        for index, part in enumerate(marked):
            lines = None
            if part.scope == scope.name:
                lines = cache.get((scope.name, part.path))
            if lines is not None and not part.trust:
                committed = {without_metadata(line).strip() for line in lines}
                if not committed.issuperset(_lines_of(part, scope)):
                    marked[index] = replace(part, trust=UNCOMMITTED)
    return marked


def _lines_of(part: Part, scope: Scope) -> list[str]:
    """The lines of a part as its file has them, without metadata comments and empty lines."""
    document = scope.read(part.path) if part.pieces else None
    if document is not None:
        lines = [line for piece in part.pieces for line in document.lines[piece.first - 1 : piece.last]]
    else:
        lines = part.content.split("\n")
    bare = [without_metadata(line).strip() for line in lines]
    return [line for line in bare if line]
