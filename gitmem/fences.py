"""Where a fenced block of Markdown opens and where it closes (CommonMark 0.31, section 4.5): one rule for every reader
of lines. Pure. White space and list markers before a block are the caller's to judge.
"""

from __future__ import annotations

import re

_MARK = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")  # backticks with another one behind them are code within a sentence


def around(*texts: str) -> str:
    """A run of backticks that opens a block which none of these texts closes."""
    return "`" * max(3, 1 + max((len(run) for text in texts for run in re.findall("`+", text)), default=0))


def opening(text: str) -> str:
    """The run of marks with which a line opens a fenced block, "" where it opens none.

    `text` is one line without its end, from where the block would begin.
    """
    match = _MARK.match(text)
    if not match:
        return ""
    return match[0]


def closes(text: str, fence: str) -> bool:
    """Whether a line closes the block of `fence`: a run of its own mark, as long at least, and nothing else."""
    bare = text.strip(" \t\r")
    return bare.startswith(fence) and not bare.strip(fence[0])


def open_after(fence: str, text: str) -> str:
    """The fence that is open after a line, given the one that was open before it ("" for none)."""
    if fence:
        if closes(text, fence):
            return ""
        return fence
    return opening(text)
