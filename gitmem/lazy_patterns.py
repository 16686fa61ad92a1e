"""Regular expressions that are compiled on first use. A leaf that every package may import.

The detectors have some two hundred patterns, and a scan of a note uses a few dozen: compiling them all took half of the
time that a commit waited for the gate.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Lazy:
    """Proxy of a compiled pattern: the first use of an attribute compiles the pattern and keeps the attribute."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pattern, flags = self._source
        value = getattr(re.compile(cast("Any", pattern), flags), name)
        setattr(self, name, value)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        return lazy, self._source


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile(pattern, flags)` on first use.

    The result has every method and attribute of a compiled pattern, and can be pickled. An invalid pattern raises
    `re.error` on first use.
    """
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, int(flags)))
