"""Reads the lines that have markup inside a value as a rendered page shows them.

The markup can be a backslash before a sign, an entity, a comment, a tag, emphasis, code, a footnote, an image or a
link: `ghp\\_...`, `ghp&#95;...`, `gh<!-- -->p_...`, `gh**p_**...`. A page shows one value there, which a reader can
copy. Only markup between the characters of an unbroken run with a digit is read; most notes have none. Markup around a
value hides nothing.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from gitmem.gate.detectors import folding
from gitmem.gate.detectors.escapes import Plain, Spelling, as_read
from gitmem.gate.detectors.prefilter import DIGIT, UNBROKEN, has_byte, kinds_table, plain, table
from gitmem.lazy_patterns import lazy

_MAX_SIGN_CHARACTERS = 400  # characters of one piece of markup, and of the run on each side of it
_MIN_VALUE_CHARACTERS = 10  # characters of a run that can be a value
# Elements that end a line or a cell: what stands on both sides of one is not one value. Any other breaks no word.
_APART = (
    "address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame"
    "|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary"
    "|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_SIGN = lazy(
    r"\\(?P<plain>[!-/:-@\[-`{-~])|&(?P<entity>#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});"
    r"|<(?P<long>!---?>|!--|!\[CDATA\[|\?)"  # goes on to its end, however far
    rf"|<!(?![-\[])[^<>]{{0,{_MAX_SIGN_CHARACTERS}}}>|</?(?!(?i:{_APART})[\s/>])(?:(?P<break>(?i:br))(?![\w:-])|[A-Za-z][\w:-]{{0,40}})(?:\s[^<>]{{0,{_MAX_SIGN_CHARACTERS}}})?/?>"
    r"|\*{1,3}|~~|`{1,3}|\[\^[\w-]{1,32}\]|!\[[^\[\]\n]{0,200}\](?:\((?:[^()\n]|\([^()\n]{0,100}\)){0,400}\)|\[[^\[\]\n]{0,100}\])"
    r"|\[(?=[^\[\]\n]{1,200}\][(\[])"
    r"|(?<=[^\s\[])\](?:\((?:[^()\s<>]|\([^()\s<>]{0,100}\)){0,400}(?:\s+(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'))?\)|\[[^\[\]\n]{0,100}\])"
)
# What ends a sign that shows nothing, by its beginning; one without its end is none.
_ENDS = {"!--": "-->", "![CDATA[": "]]>", "?": "?>"}
_FAR = tuple("<" + begin for begin in _ENDS)
# `a`: a character of a value; `m`: the first character of a sign of Markdown or HTML; `&`: itself, because an entity may
# begin a value; a space: white space and control characters; `-`: the rest.
_VALUE = (string.digits + string.ascii_letters).encode() + b"_+/=@%#$-"
_KINDS = kinds_table({b"a": _VALUE, b"m": b"\\<*~`[]!", b"&": b"&", b" ": bytes(range(33))}, b"-")
_PLACE = re.compile(rb"(?<=a)m(?! |\Z)|&")
_BEGINS = table(b"\\<&*`[~!")


class _Sign(NamedTuple):
    """One piece of markup at start..end. `shown`: what a page shows for it. `of_value`: whether it is an entity
    that stands for a letter or digit of a value."""

    start: int
    end: int
    shown: str
    of_value: bool


class _Signs:
    """Reads the markup of a text; offsets must be asked for in increasing order."""

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._absent: set[str] = set()  # ends that do not come again

    def at(self, place: int) -> _Sign | None:
        """The piece of markup that begins at an offset. None without one, and for markup that does not end."""
        sign = _SIGN.match(self._raw, place)
        if sign is None:
            return None
        end, shown = sign.end(), sign["plain"] or ""
        if sign["break"]:
            shown = "\n"
        if sign["long"] in _ENDS:
            closing_end = self._end(_ENDS[sign["long"]], end)
            if closing_end is None:
                return None
            end = closing_end
        elif sign["entity"]:
            from html import unescape

            shown = folding.normalise(unescape(sign.group()))[0]
            return _Sign(place, end, shown, of_value=shown.isalnum())
        return _Sign(place, end, shown, of_value=False)

    def _end(self, closing: str, place: int) -> int | None:
        """The offset behind the next `closing` from `place` on; None without one."""
        if closing in self._absent:
            return None
        start = self._raw.find(closing, place)
        if start < 0:
            self._absent.add(closing)
            return None
        return start + len(closing)


class _Run(NamedTuple):
    """Pieces of markup without a gap, at start..end, which may stand inside a value. `before`: the characters of the
    value that other markup splits off before this one."""

    signs: list[_Sign]
    start: int
    end: int
    before: int


def _runs(raw: str, kinds: bytes, digits: bytes) -> Iterator[_Run]:
    """The runs of markup that stand between characters of a value, in order. `kinds`: the text in _KINDS. `digits`: the
    text with `1` for each digit."""
    signs = _Signs(raw)
    read_end, line_end, before = 0, -1, 0
    previous_end = -1  # where the markup before this one ended
    for place in _PLACE.finditer(kinds):
        start = place.start()
        if start < read_end:
            continue
        if start > line_end:
            line_end = _end_of_line(raw, start)
            first, last = max(read_end, start - _MAX_SIGN_CHARACTERS), line_end + _MAX_SIGN_CHARACTERS
            if digits.find(b"1", first, last) < 0 and not raw.startswith(_FAR, start):
                read_end = line_end  # a value has a digit
                continue
        run: list[_Sign] = []
        end = start
        while sign := signs.at(end):
            run.append(sign)
            end = sign.end
        read_end = end
        if previous_end >= 0 and not kinds[previous_end:start].strip(b"a"):
            before += start - previous_end
        else:
            before = 0
        previous_end = end
        if (
            run
            and (kinds[start - 1 : start] == b"a" or run[0].of_value)
            and (kinds[end : end + 1] == b"a" or run[-1].of_value)
        ):
            yield _Run(run, start, end, before)


def _signs(raw: str) -> list[_Sign]:
    """The result has the pieces of markup inside values, in order. If any markup of a line splits a long value (at
    least _MIN_VALUE_CHARACTERS characters) or stands for a digit of it, the result has all of the line's pieces, else
    none."""
    kinds, marked, digits = [plain(raw).translate(table) for table in (_KINDS, UNBROKEN, DIGIT)]
    value_signs: list[_Sign] = []
    of_line: list[_Sign] = []
    is_value, line_end = False, -1
    for run in _runs(raw, kinds, digits):
        if run.start > line_end:
            if is_value:
                value_signs += of_line
            of_line, is_value = [], False
        if run.end > line_end:
            line_end = _end_of_line(raw, run.end)
        of_line += run.signs
        is_digit = any([sign.of_value and sign.shown.isdigit() for sign in run.signs])
        is_long = run.before >= _MIN_VALUE_CHARACTERS or _is_long(marked, digits, run.start, run.end)
        is_value = is_value or is_digit or is_long
    if is_value:
        value_signs += of_line
    return value_signs


def _end_of_line(raw: str, place: int) -> int:
    """The offset of the next line feed from `place` on, or of the end of the text."""
    end = raw.find("\n", place)
    if end < 0:
        return len(raw)
    return end


def _is_long(marked: bytes, digits: bytes, start: int, end: int) -> bool:
    """Whether the text before `start` and behind `end` is part of an unbroken run with a digit and at least
    _MIN_VALUE_CHARACTERS characters. `marked`, `digits`: the text with `1` for each unbroken character and each
    digit."""
    first = marked.rfind(b"0", max(0, start - _MAX_SIGN_CHARACTERS), start) + 1 or max(0, start - _MAX_SIGN_CHARACTERS)
    last = marked.find(b"0", end, end + _MAX_SIGN_CHARACTERS)
    if last < 0:
        last = min(len(marked), end + _MAX_SIGN_CHARACTERS)
    return start - first + last - end >= _MIN_VALUE_CHARACTERS and (
        digits.find(b"1", first, start) >= 0 or digits.find(b"1", end, last) >= 0
    )


@lru_cache(maxsize=4)
def as_rendered(raw: str) -> Plain | None:
    """The lines of `raw` with markup inside values, as a page shows them; None when it has none. Linear in the
    text."""
    if not has_byte(raw, _BEGINS):
        return None
    return as_read(raw, [Spelling(sign.start, sign.end, sign.shown) for sign in _signs(raw)])
