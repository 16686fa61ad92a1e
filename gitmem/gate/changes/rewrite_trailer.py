"""`Memory-Rewrite`: the trailer that gives the reason why a commit changes past lines of a log or deletes many
facts."""

from __future__ import annotations

import re

from gitmem.lazy_patterns import lazy

REWRITE_TRAILER = "Memory-Rewrite"
_REASON = lazy(rf"^{REWRITE_TRAILER}:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)


def rewrite_reason(message: str) -> str:
    """The reason in the message's `Memory-Rewrite:` line, "" when it has none.

    Any line of the message counts, since a squashed or edited message may have no paragraph of trailers at its end.
    """
    match = _REASON.search(message)
    if not match:
        return ""
    return match.group(1).strip()
