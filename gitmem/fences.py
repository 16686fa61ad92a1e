"""Finds out where a fenced block of Markdown opens and closes (CommonMark 0.31, section 4.5), for every module that
reads lines.

Pure. The caller strips white space and list markers before it calls.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")  # backticks followed by another backtick are inline code


def fence_around(*texts: str) -> str:
    """A fence of backticks for a block that shall contain these texts: at least three, and longer than any run of
    backticks inside them."""
    return "`" * max(3, 1 + max((len(run) for text in texts for run in re.findall("`+", text)), default=0))


def opening_fence(text: str) -> str:
    """The fence (``` or ~~~, any length from three) with which a line opens a block; "" when it opens none. `text`: one
    line without its line end, stripped of indentation."""
    match = _FENCE.match(text)
    if not match:
        return ""
    return match[0]


def closes_fence(text: str, fence: str) -> bool:
    """Whether a line closes the block that `fence` opened: it repeats the same character at least as often, and has
    nothing else but white space around it."""
    bare = text.strip(" \t\r")
    return bare.startswith(fence) and not bare.strip(fence[0])


def open_fence_after(fence: str, text: str) -> str:
    """The fence that is open after the line `text`; "" for none. `fence`: the fence that was open before the line, ""
    for none."""
    if fence:
        if closes_fence(text, fence):
            return ""
        return fence
    return opening_fence(text)
