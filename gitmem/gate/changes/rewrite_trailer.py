"""`Memory-Rewrite`: the trailer by which a commit says why it changes past lines of a log, or takes out many facts."""

from __future__ import annotations

import re

from gitmem.lazy_patterns import lazy

REWRITE_TRAILER = "Memory-Rewrite"
_REASON = lazy(rf"^{REWRITE_TRAILER}:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)


def rewrite_reason(message: str) -> str:
    """The value of the message's `Memory-Rewrite:` line, "" where there is none.

    Any line of the body counts: squashed and edited messages lose the trailer paragraph, never the intent.
    """
    match = _REASON.search(message)
    if not match:
        return ""
    return match.group(1).strip()
