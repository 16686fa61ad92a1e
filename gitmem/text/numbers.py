"""Numbers in a text, as they stand and with their units, in English, Korean, Japanese and Chinese. Pure.

`numbers` gives the spellings by which one text is checked against another. `quantities` gives values that can be
compared: 90 s, 1.5 min, 90초 and 1분 30초 are told apart or put together by whoever asks, from values in one unit.
Neither reads a date, a clock or a version as a quantity.
"""

from __future__ import annotations

import re

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.text import chinese, english, japanese, korean
from gitmem.text.languages import LANGUAGES

DIGITS = r"\d+(?:[.,:/-]\d+)*"
NUMBER = lazy(DIGITS)
NUMBER_WORDS = english.NUMBERS | korean.NUMBERS
_UNITS = {unit: meant for each in LANGUAGES for unit, meant in each.UNITS.items()}
_POWERS = {word: power for each in LANGUAGES for word, power in each.POWERS.items()}
# Numbers in words: those that count nothing but time (`한 시간`, `三天`) stand before a unit of time.
_WORDS = NUMBER_WORDS | {word: count for word, count in korean.COUNTS.items() if word not in ("일", "이", "삼")}
_HAN = {digit: value for value, digit in enumerate("一二三四五六七八九十", 1)} | {"两": 2, "兩": 2}


def _any(words: list[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_AMOUNT = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?"
# A unit or power of Latin letters ends where they end; another ends where its word does, whatever particle follows.
_POWER = (
    rf"(?:\s?(?:{_any([word for word in _POWERS if not word.isascii()])})"
    rf"|\s?(?:{_any([word for word in _POWERS if word.isascii()])})(?![A-Za-z]))"
)
_UNIT = (
    rf"(?:[ \u00a0]?(?:{_any([unit for unit in _UNITS if not unit.isascii() or not unit.isalpha()])})"
    rf"|[ \u00a0-]?(?:{_any([unit for unit in _UNITS if unit.isascii() and unit.isalpha()])})(?![A-Za-z]))"
)
_MONEY = "[$€£¥₩]"
_QUANTITY = lazy(
    rf"(?<![A-Za-zÀ-ɏ\d_.,:/#第제-])(?P<sign>[-−](?=\d))?(?P<money>{_MONEY})?(?P<low>{_AMOUNT})(?P<power1>{_POWER})?(?P<unit1>{_UNIT})?"
    rf"(?:\s?(?:[-–—~〜～]|\bto\b|에서|から|到|至)\s?{_MONEY}?(?P<high>{_AMOUNT}))?(?![.,:/-]?\d)"
    rf"(?P<power>{_POWER})?(?P<unit>{_UNIT})?(?![\d/]|[A-Za-z_]|[.:][^\W_])",
    re.IGNORECASE,
)
_IN_WORDS = lazy(
    rf"(?<![\w-])(?P<word>{_any(list(_WORDS))})(?P<unit>[ \u00a0-]?(?:{_any(list(_UNITS))}))(?![A-Za-z])"
    rf"|(?<![一-鿿\d])(?P<han>[{''.join(_HAN)}])(?P<unit2>{_any([*japanese.UNITS, *chinese.UNITS])})"
    rf"|(?<![가-힣])(?P<days>{_any(list(korean.DAYS))})(?![가-힣]{{2}})",
    re.IGNORECASE,
)
_CALENDAR = lazy(r"\d{4}(?:년|年)|(?:\d{1,2}(?:월|月)\s?)\d{1,2}(?:일|日|号|號)|\d{1,2}/\d{1,2}")


class Quantity(NamedTuple):
    """A number with what it counts: where it stands, its value, and its unit, "" for none.

    `unit`: `s` (time up to weeks), `month` (quarters and years too), `byte`, `%`, `m`, `g`, `l`, or a currency's code
    in lower case. `high` is the end of a range, None where the number is no range.
    """

    start: int
    end: int
    value: float
    unit: str
    high: float | None = None


def numbers(text: str) -> set[str]:
    """The numbers of a text, each as it stands and without leading zeros; no thousands separators."""
    spellings = set()
    for match in NUMBER.findall(text):
        spellings |= {match.replace(",", ""), plain_number(match)}
    return spellings


def plain_number(number: str) -> str:
    """A spelled number without thousands separators and leading zeros."""
    return number.replace(",", "").lstrip("0") or "0"


def quantities(text: str) -> list[Quantity]:
    """The quantities of a text in order, each in the first unit of what it measures. Days of a calendar, clocks,
    versions, addresses and digits of an identifier are none; `일` and `日` behind a number count days."""
    dated = [match.span() for match in _CALENDAR.finditer(text)]
    found = [*_in_digits(text), *_in_words(text)]
    plain = [each for each in found if not any(start < each.end and each.start < end for start, end in dated)]
    return sorted(plain, key=lambda each: each.start)


def _in_digits(text: str) -> list[Quantity]:
    found = []
    for match in _QUANTITY.finditer(text):
        said = match["unit"] or match["unit1"] or match["money"] or ""
        unit, factor = _meant(said)
        factor *= _power(match["power"] or match["power1"])
        low = _value(match["low"], bool(said)) * factor * (-1 if match["sign"] else 1)
        high = _value(match["high"], bool(said)) * factor if match["high"] else None
        found.append(Quantity(match.start(), match.end(), low, unit, high))
    return found


def _in_words(text: str) -> list[Quantity]:
    found = []
    for match in _IN_WORDS.finditer(text):
        if match["days"]:
            found.append(Quantity(*match.span(), korean.DAYS[match["days"]] * 86400.0, "s"))
            continue
        count = _HAN[match["han"]] if match["han"] else _WORDS[match["word"].lower()]
        unit, factor = _meant(match["unit2"] or match["unit"])
        found.append(Quantity(*match.span(), count * factor, unit))
    return found


def _meant(unit: str) -> tuple[str, float]:
    measured, factor = _UNITS.get(unit.strip(" \u00a0-").lower(), ("", 1)) if unit else ("", 1)
    return measured, float(factor)


def _power(word: str | None) -> float:
    return float(_POWERS[word.strip().lower()]) if word else 1.0


def _value(digits: str, has_unit: bool) -> float:
    """The value of digits: a comma before three of them separates thousands, else it is a decimal sign, where a unit
    says that this is one number."""
    if re.fullmatch(r"\d+,\d{1,2}", digits) and has_unit:
        return float(digits.replace(",", "."))
    return float(digits.replace(",", ""))
