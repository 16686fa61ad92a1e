"""Regular expressions that are compiled when they are first used: a leaf that every package may import.

The detectors have some two hundred and a note needs a few dozen of them: compiling all took half of the time a commit
waited for its gate. A search reads days and questions, and starts in a few milliseconds.
"""

from __future__ import annotations

import re

from gitmem.light_typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import Any, AnyStr


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
    """`re.compile(pattern, flags)`, later.

    The value behaves as a compiled pattern does: every method and attribute, and it can be pickled. `re.error`, of a
    pattern that is none, is raised when it is first used.
    """
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, int(flags)))
