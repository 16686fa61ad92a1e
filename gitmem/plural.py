"""How messages spell a count: `1 file`, `2 files`."""

from __future__ import annotations

from gitmem.messages import Message


def counted(number: int, noun: str, plural: str = "") -> str:
    """The number with its noun; `plural` where it is not the noun with an s. A page can say it in another language."""
    return f"1 {noun}" if number == 1 else Message(f"{{}} {plural or noun + 's'}", number)
