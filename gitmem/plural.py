"""Spells a count (`1 file`, `2 files`) and a range of lines (`5`, `5-7`) for messages."""

from __future__ import annotations

from gitmem.messages import Message


def counted(number: int, noun: str, plural: str = "") -> str:
    """The number with its noun: `1 file`, `2 files`. `plural`: the plural where it is not the noun with an s. The
    result for several is a `Message`, which pages translate."""
    if number == 1:
        return f"1 {noun}"
    return Message(f"{{}} {plural or noun + 's'}", number)


def line_range(first: int, last: int) -> str:
    """The lines from `first` to `last`: `5-7`, or `5` for one line."""
    if last > first:
        return f"{first}-{last}"
    return str(first)
