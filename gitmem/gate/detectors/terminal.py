"""Finds characters that control a terminal: escape sequences, operating-system commands, a carriage return that
lets later text overwrite earlier text, backspaces. A memory file needs none of them."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.gate.detectors.prefilter import has_byte, table
from gitmem.gate.detectors.text import Examples, Match, Severity, Text
from gitmem.lazy_patterns import lazy

_CONTROL = lazy(
    r"\x1b(?:\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]{0,400}(?:\x1b\\)?|\[[0-9;:?<=>]{0,40}[ -/]{0,4}[@-~]?|.)?"
    r"|\x9b[0-9;?]{0,40}[@-~]?|[^\n]?\x08|\r(?![\n\r]|$)|[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]"
)
# Characters that no terminal obeys or answers. ESC and a space only announce the character code.
_INERT = lazy(r"[\x01-\x04\x06\x10-\x1a\x1c-\x1f\x7f]|\x1b ")
# The control characters, and the first byte of U+009B.
_BYTES = table(bytes([*range(9), *range(14, 32), 127, 0xC2]))
_NAMES = {
    "\x1b": "a terminal escape sequence",
    "\x9b": "a terminal escape sequence",
    "\r": "a carriage return inside a line",
}


def detect(text: Text) -> Iterator[Match]:
    """A match for each escape sequence, each carriage return inside a line, and each ASCII control character except BEL
    and white space. One that no terminal obeys only warns, unless it is inside a word."""
    raw = text.raw
    returns = raw.count("\r")
    if not has_byte(raw, _BYTES) and (not returns or returns == raw.count("\r\n")):
        return
    for match in _CONTROL.finditer(raw):
        char = match.group()[0]
        kind = _NAMES.get(char, "a control character")
        if match.group().startswith("\x1b]"):
            kind = "a command to the terminal (clipboard, link or title)"
        elif char not in _NAMES and "\x08" in match.group():
            kind = "a backspace"
        blocks = _INERT.fullmatch(match.group()) is None or _in_a_word(raw, match.start())
        yield Match("terminal-control", Severity.of(blocks=blocks), *match.span(), kind)


def _in_a_word(raw: str, place: int) -> bool:
    return raw[place - 1 : place].isalnum() and raw[place + 1 : place + 2].isalnum()


EXAMPLES: dict[str, Examples] = {
    "terminal-control": Examples(
        flag=("note \x1b]52;c;cm0gLXJm\x07 end", "\x1b[8m숨은 글\x1b[0m", "rm -rf build\rls            "),
        allow=("colour codes such as \\x1b[31m in the source", "줄 끝이 CRLF\r\n다음 줄\r\n"),
    ),
}
