"""Print facts that changed between two commits as lines for a person; for `changes` and `bisect`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitmem.cli.terminal import escape, paint
from gitmem.review.fact_diff import FactChange, Op, author_words, is_archiving
from gitmem.review.statement_diff import Piece, has_nothing_common, statement_diff, text_diff

SIGNS = {  # op -> (sign, style)
    "added": ("+", "good"), "promoted": ("+", "good"), "changed": ("~", "warn"), "removed": ("-", "bad"),
    "moved": (">", "line"), "expired": ("x", "dim"),
}  # fmt: skip


def change_lines(changes: Sequence[FactChange], in_colour: bool) -> Iterator[str]:
    """One line for the path of each file and, below it, one for each change, with its author and commit. `in_colour`:
    in colour.

    The changed words of an edited fact are marked in its line; if old and new text have little in common, the old text
    is on a line of its own above. Changed keys of the fact's comment are named.
    """
    path = ""
    for change in changes:
        if change.path != path:
            path = change.path
            yield f"{paint(escape(path, ''), 'path', in_colour)}\n"
        sign = paint(*SIGNS[change.op], in_colour)
        tail = str(change.op)
        if is_archiving(change) and change.op is not Op.EXPIRED:
            tail = "archived"
        elif author_words(change):
            tail += f" by {change.who}"
        if change.commit:
            tail += f", {change.commit[:12]}"
        if change.fact.topic:
            tail += f" in {change.fact.topic}"
        text = escape(change.fact.text, "")
        if change.old and change.new and change.old.text != change.new.text:
            pieces = text_diff(change.old.text, change.new.text)
            if has_nothing_common(pieces):
                yield f"  {paint('-', 'dim', in_colour)} {paint(escape(change.old.text, ''), 'dim', in_colour)}\n"
            else:
                text = "".join(marked_piece(piece, in_colour) for piece in pieces)
        moved = f" (from {escape(change.old_path, '')})" if change.old_path not in ("", change.path) else ""
        if change.op is Op.CHANGED and change.old and change.new:
            keys = statement_diff(change.old, change.new).keys
            if keys:
                tail += f"; also {', '.join(key for key, _, _ in keys)}"
        yield f"  {sign} {text}{moved}  {paint(escape(tail, ''), 'dim', in_colour)}\n"


def marked_piece(piece: Piece, in_colour: bool) -> str:
    """A piece of a word difference, marked in the style of `git diff --word-diff`: `[-removed-]`, `{+added+}`.
    `in_colour`: in colour."""
    text = escape(piece.text, "")
    if piece.sign == "=":
        return text
    if piece.sign == "-":
        return paint(f"[-{text}-]", "bad", in_colour)
    return paint(f"{{+{text}+}}", "good", in_colour)
