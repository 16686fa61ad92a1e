"""Characters that a terminal obeys: escape sequences, operating-system commands, a carriage return that lets
later text overwrite earlier text, backspaces. A memory file has no use for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from gitmem.gate.detectors.prefilter import has_byte, table
from gitmem.gate.detectors.text import Examples, Match, Severity, Text
from gitmem.lazy_patterns import lazy

_CONTROL = lazy(
    r"\x1b(?:\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]{0,400}(?:\x1b\\)?|\[[0-9;:?<=>]{0,40}[ -/]{0,4}[@-~]?|.)?"
    r"|\x9b[0-9;?]{0,40}[@-~]?|[^\n]?\x08|\r(?![\n\r]|$)|[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]"
)
_MOST = 50  # sequences that are reported of one text
# The control characters, and the first byte of U+009B.
_BYTES = table(bytes([*range(9), *range(14, 32), 127, 0xC2]))
_NAMES = {
    "\x1b": "a terminal escape sequence",
    "\x9b": "a terminal escape sequence",
    "\r": "a carriage return inside a line",
}


def detect(text: Text) -> Iterator[Match]:
    """Each control character or sequence; the first fifty of a text unless all are wanted."""
    raw = text.raw
    returns = raw.count("\r")
    if not has_byte(raw, _BYTES) and (not returns or returns == raw.count("\r\n")):
        return
    for match in islice(_CONTROL.finditer(raw), None if text.exhaustive else _MOST):
        char = match.group()[0]
        kind = _NAMES.get(char, "a backspace" if "\x08" in match.group() else "a control character")
        if match.group().startswith("\x1b]"):
            kind = "a command to the terminal (clipboard, link or title)"
        yield Match("terminal-control", Severity.BLOCK, *match.span(), kind)


EXAMPLES: dict[str, Examples] = {
    "terminal-control": Examples(
        flag=("note \x1b]52;c;cm0gLXJm\x07 end", "\x1b[8m숨은 글\x1b[0m", "rm -rf build\rls            "),
        allow=("colour codes such as \\x1b[31m in the source", "줄 끝이 CRLF\r\n다음 줄\r\n"),
    ),
}
