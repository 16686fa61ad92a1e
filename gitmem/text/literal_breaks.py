"""Divides a text at line breaks that a program wrote as the two characters backslash and n, having quoted them twice.

Pure. A backslash and n in code, in a quotation (`"\\n".join`) and in a path (`C:\\new`) divide nothing.
"""

from __future__ import annotations

import re

# What follows must begin as a line of text does: a list marker, bold text, a heading, a capital, Hangul, Kana or Han.
_BREAK = re.compile(
    r"(?<![A-Za-z]:)(?:\\r)?(?:\\n)+\s*(?=[-*+]\s|\*\*|#{1,6}\s|\d{1,2}[.)]\s|[A-ZÀ-Þ가-힣\u3041-\u30ff\u3400-\u9fff])"
)
_CODE = re.compile(r"`[^`]*`")


def between_literal_breaks(text: str) -> list[str]:
    """The parts of a text of one line between its literal line breaks, without white space around them; the text alone
    if it has none."""
    if "\\n" not in text:
        return [text]
    bare = _CODE.sub(lambda code: "`" * len(code[0]), text)
    parts: list[str] = []
    start = 0
    for match in _BREAK.finditer(bare):
        if bare.count('"', 0, match.start()) % 2:
            continue
        parts.append(text[start : match.start()].strip())
        start = match.end()
    return [*parts, text[start:].strip()]
