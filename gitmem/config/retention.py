"""Entries of `mem.retention`: how many days new facts of a type last."""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.errors import UsageError
from gitmem.messages import Message

MIN_TRACKED_LIFE_DAYS = 30  # the shortest life that .gitmem.toml can give: a hostile one could make facts vanish
MAX_LIFE_DAYS = 36_500


def life_form(text: str) -> str:
    """The canonical form of a retention entry: `note=180d` for `Note = 180d` or `note=180`.

    Raises UsageError for any other text and for a life outside of 1 to MAX_LIFE_DAYS days.
    """
    kind, _, life = ("".join(text.casefold().split())).partition("=")
    days = life.removesuffix("d")
    name = kind.replace("-", "")
    is_valid = name.isascii() and name.isalpha() and days.isascii() and days.isdigit() and len(days) <= 6
    if not is_valid or not 1 <= int(days) <= MAX_LIFE_DAYS:
        raise UsageError(
            Message("'{}' is no life of a type", text),
            Message("TYPE=DAYSd, 1 to {} days, as in note=180d", MAX_LIFE_DAYS),
        )
    return f"{kind}={int(days)}d"


def lives(entries: Iterable[str]) -> dict[str, int]:
    """Fact type -> days that its facts last, from entries such as `note=180d` (`life_form`). The last entry of a type
    counts."""
    pairs = (entry.partition("=") for entry in entries)
    return {kind: int(life.removesuffix("d")) for kind, _, life in pairs}
