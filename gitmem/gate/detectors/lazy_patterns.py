"""Regular expressions that are compiled when they are first used.

The detectors have some two hundred; a note needs a few dozen of them, and compiling all took half of the time a
commit waited for its gate.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Lazy:
    """Stands for a pattern: its methods are the pattern's own, kept after the first use."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._words = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pattern, flags = self._words
        value = getattr(re.compile(cast("Any", pattern), flags), name)
        setattr(self, name, value)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        return lazy, self._words


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile(pattern, flags)`, later. What is wrong with a pattern shows when it is first used."""
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, int(flags)))
