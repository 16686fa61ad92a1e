"""Reads the numbers of a text, with and without units, in English, Korean, Japanese and Chinese. Pure.

`numbers` returns spellings, by which one text is checked against another. `quantities` returns values in one base unit
for each kind of quantity, so that 90 s, 1.5 min, 90초 and 1분 30초 compare as equal. Dates, clock times and versions
are not quantities.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.text import chinese, english, japanese, korean
from gitmem.text.languages import LANGUAGES

DIGITS = r"\d+(?:[.,:/-]\d+)*"
NUMBER = lazy(DIGITS)
NUMBER_WORDS = english.NUMBERS | korean.NUMBERS
_UNITS = {unit: meant for each in LANGUAGES for unit, meant in each.UNITS.items()}
_POWERS = {word: power for each in LANGUAGES for word, power in each.POWERS.items()}
# Korean number words before hours, weeks and months (`두 시간`, `석 달`); before 분 they count people.
_NATIVE = tuple(word for word in korean.COUNTS if word not in ("일", "이", "삼"))
_NATIVE_UNITS = ("시간", "주", "주일", "달")
_HAN = {digit: value for value, digit in enumerate("一二三四五六七八九十", 1)} | {"两": 2, "兩": 2}
_MAX_DIGITS_BEFORE_LETTER = 5  # of a quantity whose unit is one letter: `8503061d` is a hash


def _any(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_AMOUNT = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?"
_LATIN_UNITS = [unit for unit in _UNITS if unit.isascii() and unit.isalpha()]
_KOREAN_END = rf"(?![가-힣])|(?=(?:{_any(particle for particle in korean.PARTICLES if particle != '과')})(?![가-힣]))"
# A unit of Latin letters ends with its letters. A Korean unit after a space ends with its word (`1.3 초과`).
_POWER = (
    rf"\s?(?:{_any(word for word in _POWERS if not word.isascii())})"
    rf"|\s?(?:{_any(word for word in _POWERS if word.isascii())})(?![A-Za-z])"
)
_UNIT = (
    rf"[ \u00a0-]?(?:{_any(_LATIN_UNITS)})(?![A-Za-z])|[ \u00a0](?:{_any(korean.UNITS)})(?:{_KOREAN_END})"
    rf"|(?:{_any(korean.UNITS)})|[ \u00a0]?(?:{_any({*_UNITS} - {*_LATIN_UNITS} - {*korean.UNITS})})"
)
_MONEY = "[$€£¥₩]"
_QUANTITY = lazy(
    rf"(?<![A-Za-zÀ-ɏ\d_.,:/#第제-])(?P<sign>[-−](?=\d))?(?P<money>{_MONEY})?"
    rf"(?P<low>{_AMOUNT})(?P<power>{_POWER})?(?P<unit>{_UNIT})?"
    rf"(?:\s?(?:[-–—~〜～]|\bto\b|에서|から|到|至)\s?{_MONEY}?(?P<high>{_AMOUNT})(?P<power2>{_POWER})?(?P<unit2>{_UNIT})?)?"
    r"(?![.,:/-]?\d|/|[A-Za-z_]|[.:][^\W_])",
    re.IGNORECASE,
)
_IN_WORDS = lazy(
    rf"(?<![\w-])(?P<word>{_any(english.NUMBERS)})[ \u00a0-](?P<unit>{_any(_LATIN_UNITS)})(?![A-Za-z])"
    rf"|(?<![가-힣])(?P<native>{_any(_NATIVE)})\s?(?P<unit2>{_any(_NATIVE_UNITS)})(?![가-힣]{{2}})"
    rf"|(?<![一-鿿\d])(?P<han>[{''.join(_HAN)}])(?P<unit3>{_any([*japanese.UNITS, *chinese.UNITS])})"
    rf"|(?<![가-힣])(?P<days>{_any(korean.DAYS)})(?![가-힣]{{2}})",
    re.IGNORECASE,
)
_CALENDAR = lazy(r"\d{4}\s?(?:년|年)|(?:\d{1,2}(?:월|月)\s?)\d{1,2}(?:일|日|号|號)|\d{1,2}/\d{1,2}")


class Quantity(NamedTuple):
    """A number with its unit. `start`, `end`: its offsets in the text. `value`: the number in the base unit.

    `unit`: `s` (time up to weeks), `month` (also for quarters and years), `byte`, `%`, `m`, `g`, `l`, or a currency's
    code in lower case; "" for none. `high`: the end of a range, None for a single number.
    """

    start: int
    end: int
    value: float
    unit: str
    high: float | None = None


def numbers(text: str) -> set[str]:
    """The numbers of a text as they are spelled (`3.5`, `10:30`, `2026-01-05`), without commas; a number with leading
    zeros is there with and without them."""
    spellings = set()
    for match in NUMBER.findall(text):
        spellings |= {match.replace(",", ""), plain_number(match)}
    return spellings


def plain_number(number: str) -> str:
    """A spelled number without its commas and leading zeros; "0" if nothing is left."""
    return number.replace(",", "").lstrip("0") or "0"


def quantities(text: str) -> list[Quantity]:
    """The quantities of a text in order, each in the base unit of its kind.

    Dates, clock times, versions, addresses and digits of identifiers are not quantities. `일` and `日` after a number
    count days.
    """
    dated = [match.span() for match in _CALENDAR.finditer(text)]  # in order, apart from each other
    candidates = sorted([*_in_digits(text), *_in_words(text)], key=lambda quantity: quantity.start)
    undated = []
    for quantity in candidates:
        before = bisect_left(dated, (quantity.end, 0)) - 1
        if before < 0 or dated[before][1] <= quantity.start:
            undated.append(quantity)
    return undated


def _in_digits(text: str) -> list[Quantity]:
    """The quantities written in digits, in order. A number of many digits before a single letter is no quantity."""
    result = []
    for match in _QUANTITY.finditer(text):
        # In a range an end without a unit or a power has that of the other end: "90 s to 2 min", "10 to 20 ms".
        low_unit = match["unit"] or match["unit2"] or match["money"] or ""
        high_unit = match["unit2"] or match["unit"] or match["money"] or ""
        is_letter = len(low_unit) == 1 and low_unit.isalpha() and low_unit.isascii()
        if is_letter and len(match["low"]) > _MAX_DIGITS_BEFORE_LETTER:
            continue
        unit, factor = _meant(low_unit)
        factor *= _power(match["power"] or match["power2"])
        low = _value(match["low"], bool(low_unit)) * factor * (-1 if match["sign"] else 1)
        high = None
        high_kind, high_factor = _meant(high_unit)
        if match["high"] and high_kind == unit:
            high_factor *= _power(match["power2"] or match["power"])
            high = _value(match["high"], bool(high_unit)) * high_factor
        result.append(Quantity(match.start(), match.end(), low, unit, high))
    return result


def _in_words(text: str) -> list[Quantity]:
    """The quantities written in words, in order."""
    result = []
    for match in _IN_WORDS.finditer(text):
        if match["days"]:
            count, spelled_unit = korean.DAYS[match["days"]], "일"
        elif match["native"]:
            count, spelled_unit = korean.COUNTS[match["native"]], match["unit2"]
        elif match["han"]:
            count, spelled_unit = _HAN[match["han"]], match["unit3"]
        else:
            count, spelled_unit = english.NUMBERS[match["word"].lower()], match["unit"]
        unit, factor = _meant(spelled_unit)
        result.append(Quantity(*match.span(), count * factor, unit))
    return result


def _meant(unit: str) -> tuple[str, float]:
    """(what a unit measures, factor to the base unit); ("", 1.0) for no unit or an unknown one."""
    measured, factor = _UNITS.get(unit.strip(" \u00a0-").lower(), ("", 1))
    return measured, float(factor)


def _power(word: str | None) -> float:
    """The factor of a word such as `thousand`; 1.0 without one. Raises KeyError for an unknown word."""
    return float(_POWERS[word.strip().lower()]) if word else 1.0


def _value(digits: str, has_unit: bool) -> float:
    """The value of spelled digits. A comma before one or two digits is a decimal sign if a unit follows (`has_unit`);
    any other comma is left out."""
    if re.fullmatch(r"\d+,\d{1,2}", digits) and has_unit:
        return float(digits.replace(",", "."))
    return float(digits.replace(",", ""))
