"""Facts that changed between two commits, as lines for a person: of `changes` and `bisect`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gitmem.cli.terminal import escape, paint
from gitmem.review.fact_diff import Op, archives, doer

if TYPE_CHECKING:
    from gitmem.review.fact_diff import FactChange

SIGNS = {"added": "+", "promoted": "+", "changed": "~", "removed": "-", "moved": ">", "expired": "x"}
STYLE = {
    "added": "good",
    "promoted": "good",
    "changed": "warn",
    "removed": "bad",
    "moved": "line",
    "expired": "dim",
}


def lines_of(changes: Sequence[FactChange], on: bool) -> Iterator[str]:
    """Each file's path, then its changes with who made them; in colour where that is `on`."""
    path = ""
    for change in changes:
        if change.path != path:
            path = change.path
            yield f"{paint(escape(path, ''), 'path', on)}\n"
        sign = paint(SIGNS[change.op], STYLE[change.op], on)
        who = f" by {change.who}" if doer(change) else ""
        archived = archives(change) and change.op is not Op.EXPIRED
        tail = ("archived" if archived else f"{change.op}{who}") + (f", {change.commit[:12]}" if change.commit else "")
        tail += f" in {' > '.join(change.fact.trail)}" if change.fact.trail else ""
        if change.old and change.new and change.old.text != change.new.text:
            yield f"  {paint('-', 'dim', on)} {paint(escape(change.old.text, ''), 'dim', on)}\n"
        moved = f" (from {escape(change.old_path, '')})" if change.old_path not in ("", change.path) else ""
        yield f"  {sign} {escape(change.fact.text, '')}{moved}  {paint(escape(tail, ''), 'dim', on)}\n"
