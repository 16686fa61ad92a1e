"""The lines of a text in which markup stands inside a value, as a rendered page shows them.

`ghp\\_...`, `ghp&#95;...`, `gh<!-- -->p_...`, `gh**p_**...`: backslashes before signs, entities, comments, inline tags, emphasis,
code, footnotes and links. A page shows one value there, and who copies it has it. Only markup between the characters of an
unbroken stretch with a digit in it is read, which most notes have none of; markup around a value hides nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gitmem.gate.detectors import folding
from gitmem.gate.detectors.escapes import Plain, PlainLines
from gitmem.gate.detectors.prefilter import DIGIT, UNBROKEN, has_byte, plain, table
from gitmem.lazy_patterns import lazy

_LONGEST = 400  # characters of one sign, and of a stretch on each side of it
_SHORTEST = 10  # characters of a stretch that can be a value
# Tags that break no word. `br` ends a line there.
_TAGS = (
    "a|abbr|acronym|b|bdi|bdo|big|br|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|nobr|output|q|ruby|s|samp|small|span"
    "|img|input|math|script|strike|strong|sub|sup|time|tt|u|var|wbr"
)
_SIGN = lazy(
    r"\\(?P<plain>[!-/:-@\[-`{-~])|&(?P<entity>#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});"
    rf"|<!---?>|<!--(?:(?!-->)[\s\S]){{0,{_LONGEST}}}-->|</?(?P<tag>(?i:{_TAGS}))(?:\s[^<>]{{0,{_LONGEST}}})?/?>"
    r"|\*{1,3}|~~|`{1,3}|\[\^[\w-]{1,32}\]|\[(?=[^\[\]\n]{1,200}\][(\[])"
    r"|(?<=[^\s\[])\](?:\((?:[^()\s<>]|\([^()\s<>]{0,100}\)){0,400}(?:\s+(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'))?\)|\[[^\[\]\n]{0,100}\])"
)
# One byte a character: what goes on in a value, what a sign begins with, white space, all else. An entity may begin a value.
_VALUE = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_+/=@%#$-")
_KINDS = bytes(
    97 if code in _VALUE else 109 if code in b"\\<*~`[]" else 38 if code == 38 else 32 if code <= 32 else 45
    for code in range(256)
)
_PLACE = re.compile(rb"(?<=a)m(?! |\Z)|&")
_BEGINS = table(b"\\<&*`[~")


def _shown(sign: re.Match[str]) -> str:
    """What a page shows for a sign."""
    if sign["plain"]:
        return sign["plain"]
    if sign["entity"]:
        from html import unescape

        return folding.normalise(unescape(sign.group()))[0]
    return "\n" if (sign["tag"] or "").lower() == "br" else ""


def _signs(raw: str) -> list[re.Match[str]]:
    """The signs of markup inside values, in order: of a line all or none."""
    bytes_of = plain(raw)
    kinds, marked, digits = [bytes_of.translate(each) for each in (_KINDS, UNBROKEN, DIGIT)]
    found: list[re.Match[str]] = []
    of_line: list[re.Match[str]] = []
    worth, done, line_end, looked = False, 0, -1, -1
    joined = 0  # characters of the value before a sign, where other signs part it
    last = -1  # where the sign before ended
    for place in _PLACE.finditer(kinds):
        if place.start() < done:
            continue
        if place.start() > looked:
            looked = bytes_of.find(b"\n", place.start())
            looked = len(raw) if looked < 0 else looked
            if digits.find(b"1", max(done, place.start() - _LONGEST), looked + _LONGEST) < 0:
                done = looked  # no value has no digit
                continue
        run: list[re.Match[str]] = []
        at = place.start()
        while sign := _SIGN.match(raw, at):
            run.append(sign)
            at = sign.end()
        start, done = place.start(), at
        joined = joined + start - last if last >= 0 and not kinds[last:start].strip(b"a") else 0
        last = at
        if not (
            run
            and (kinds[start - 1 : start] == b"a" or _is_of_value(run[0]))
            and (kinds[at : at + 1] == b"a" or _is_of_value(run[-1]))
        ):
            continue
        if start > line_end:
            found += of_line if worth else ()
            of_line, worth = [], False
        if at > line_end:
            line_end = bytes_of.find(b"\n", at)
            line_end = len(raw) if line_end < 0 else line_end
        of_line += run
        worth = worth or _is_long(marked, digits, start, at) or any(map(_is_digit, run)) or joined >= _SHORTEST
    return found + of_line if worth else found


def _is_digit(sign: re.Match[str]) -> bool:
    """Whether a sign stands for a digit."""
    return sign["entity"] is not None and sign["entity"][0] == "#" and _shown(sign).isdigit()


def _is_of_value(sign: re.Match[str]) -> bool:
    """Whether a sign stands for a character of a value."""
    return sign["entity"] is not None and _shown(sign).isalnum()


def _is_long(marked: bytes, digits: bytes, start: int, end: int) -> bool:
    """Whether an unbroken stretch with a digit in it stands around start..end, that itself not counted."""
    first = marked.rfind(b"0", max(0, start - _LONGEST), start) + 1 or max(0, start - _LONGEST)
    last = marked.find(b"0", end, end + _LONGEST)
    last = min(len(marked), end + _LONGEST) if last < 0 else last
    return start - first + last - end >= _SHORTEST and (
        digits.find(b"1", first, start) >= 0 or digits.find(b"1", end, last) >= 0
    )


@lru_cache(maxsize=4)
def as_rendered(raw: str) -> Plain | None:
    """The lines of `raw` with markup inside values, as they are shown; None where it has none. Linear in the text."""
    if not has_byte(raw, _BEGINS):
        return None
    signs = _signs(raw)
    lines = PlainLines(raw)
    done = 0
    for number, sign in enumerate(signs):
        at = raw.rfind("\n", done, sign.start()) + 1 or done
        if 0 < done < at:
            lines.part(done)
        following = signs[number + 1].start() if number + 1 < len(signs) else len(raw)
        last = raw.find("\n", sign.end(), following)
        done = following if last < 0 else last + 1
        lines.take(raw[at : sign.start()], at)
        lines.take(_shown(sign), sign.start(), sign.end())
        lines.take(raw[sign.end() : done], sign.end())
    return lines.read(done)
