"""How messages spell a count: `1 file`, `2 files`."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """The number with its noun; `plural` where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
