"""A text as tokens that can be compared: numbers with units, dates, times, identifiers, names and words.

Pure, for four languages. A number is read in digits and in words, and its unit becomes a dimension and a factor, so
that "a week", "7d" and "14일의 절반" are compared by what they say, not by their spelling. The module judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.memory.relation import chinese, english, japanese, korean
from gitmem.memory.relation.amounts import (
    HAN_NUMBER,
    KOREAN_DAYS,
    KOREAN_HOUR,
    MYRIADS,
    POWERS,
    SECONDS,
    UNITS,
    any_unit,
    clock_hours,
    english_number,
    month_number,
    native_number,
    sino_number,
    weekday_number,
)

NUMBER, DATE, TIME, ID, NAME, WORD, MARK, ARROW = "number", "date", "time", "id", "name", "word", "mark", "arrow"


class Token(NamedTuple):
    """`norm`: what is compared. `dim`: the dimension of a number ("" without unit). `value`: its amount in that
    dimension's first unit. `stem`: the part of a word that its endings leave. `designated`: a number or a name that a
    noun before it or a counter behind it makes the name of a thing (room 12, 12번). `content`: says something."""

    text: str
    norm: str
    kind: str
    start: int
    end: int
    dim: str = ""
    value: float = 0.0
    stem: str = ""
    designated: bool = False
    content: bool = True


_LATIN_UNIT, _WIDE_UNIT = any_unit(ascii_only=True), any_unit(ascii_only=False)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = (
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?)?\b"
    r"|[월화수목금토일]요일|[月火水木金土日]曜日?|(?:周|星期|礼拜)[一二三四五六日天]"
)
_KO_NUMBER = "[일이삼사오육칠팔구영십백천만억]"
_NATIVE = (
    "(?:열|스물|서른|마흔|쉰|예순|일흔|여든|아흔)?(?:다섯|여섯|일곱|여덟|아홉|하나|한|두|세|네)"
    "|스무|열|서른|마흔|쉰|예순|일흔|여든|아흔"
)
_PART_OF_DAY = (
    r"(?:(?:오전|오후|새벽|아침|저녁|밤|낮|午前|午後|早朝|朝|夜|夕方|上午|下午|晚上|早上|凌晨|中午|晚|早)の?\s*)"
)
_TENS = "(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
_EN_NUMBER = (
    rf"(?:(?:{_TENS}(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    rf"|half an?|dozen|zero)(?:[ -](?:hundred|thousand|million)(?: and (?:{_TENS}|\w+teen|ten)\b)?)?)"
)
_HAN_COUNTER = rf"(?:{_WIDE_UNIT}|号|班|级|室|栋|組|号機|号炉|床|番|年生|年级|条|章|节|款)"

_SCAN = lazy(
    r"(?P<iso>\b\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?\b(?![-\w]))"
    r"|(?P<cjkdate>(?:\d{4}\s*[年년]\s*)?(?P<cm>\d{1,2})\s*[月월]\s*(?P<cd>\d{1,2})\s*[日일号])"
    r"|(?P<cjkmonth>(?P<om>\d{1,2}|十[一二]?|[一二三四五六七八九])\s*(?:月(?!曜)|월(?!요))"
    r"(?:\s*(?:초|말|중순|하순|상순|上旬|中旬|下旬|初|末|底|份))?)"
    rf"|(?P<dmy>\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})\b\.?(?:,? \d{{4}})?)"
    rf"|(?P<mdy>\b(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? \d{{4}})?)"
    rf"|(?P<clock>{_PART_OF_DAY}?\b\d{{1,2}}:\d{{2}}(?::\d\d)?(?:\s*[ap]\.?m\b\.?)?)"
    r"|(?P<ampm>\b\d{1,2}(?:\.\d\d)?\s*[ap]\.?m\b)"
    rf"|(?P<wideclock>{_PART_OF_DAY}?(?:(?:\d{{1,2}}|{KOREAN_HOUR})\s*시(?!간|스|험|작|설|장|정|도)"
    rf"|(?:\d{{1,2}}|{HAN_NUMBER}{{1,3}})\s*(?:時(?!間|点|刻)|点(?!钟?内)))(?:\s*(?:반|半)|\s*\d{{1,2}}\s*[분分])?)"
    r"|(?P<noon>\bnoon\b|\bmidnight\b|정오|자정|正午)"
    rf"|(?P<weekday>{_WEEKDAY})"
    r"|(?P<month>\b(?:january|february|march|april|june|july|august|september|october|november|december)\b)"
    r"|(?P<quarter>\bq[1-4]\b|[1-4]분기|第[一二三四]季度|第[1-4]四半期)"
    r"|(?P<arrow>->|=>|→|⇒|➜|-->)"
    r"|(?P<kodays>하루|이틀|사흘|나흘|닷새|엿새|열흘|보름)(?![가-힣]{2})"
    r"|(?P<slash>(?<![\w/.])\d{1,2}/\d{1,2}(?![\d/\w]))"
    r"|(?P<id>#\d+|v\d+(?:\.\d+)*\b|(?:https?://|/)[\w./:@%?=&-]+"
    r"|[a-z_]\w*(?:[-./:@_][\w*]+)*\d\w*(?:[-./:@_]\w+)*|\d+(?:[-:]?[a-z]{1,5}[-:]?\d+)[\w-]*|\d+\.\d+\.\d+[\d.]*"
    r"|\d+가[단합소]\d+|\d{2,4}-\d{2,}(?:-\d+)*|[a-z]+(?:[._/@:][a-z_*]+)+(?:\(\))?|[a-z]+_[a-z_]+|\w+\(\))"
    r"|(?P<number>[$€£¥+-]?\d+(?:,\d{3})+(?:\.\d+)?|[$€£¥]?[-+]?\d*\.?\d+)"
    r"(?:(?P<big>\s?[만억万萬億亿千천백]{1,2}(?![가-힣]{3})|k\b|m\b(?= (?:users|rows|dollars|euros)))?)"
    rf"(?:\s?(?P<unit>(?:{_LATIN_UNIT})(?![a-z])|{_WIDE_UNIT})"
    r"|[- ](?P<unit2>day|week|month|year|hour|minute|second)s?\b)?"
    rf"|(?P<enword>\b{_EN_NUMBER}\b)(?:[- ](?P<enunit>{_LATIN_UNIT})\b)?"
    r"|(?P<period>\b(?:a )?fortnight(?:ly)?\b|\b(?:a|each|every|per) (?:second|minute|hour|day|week|month|year)\b"
    r"|\b(?:hourly|daily|nightly|weekly|monthly|yearly|annually)\b)"
    rf"|(?P<native>(?:{_NATIVE})\s*"
    "(?P<nativeunit>명|사람|개월|개|시간|번|권|달|살|주|가지|곳|마리|대|장|배|차례|상자|킬로|분|팀|조|병|잔))"
    rf"|(?P<sino>{_KO_NUMBER}{{1,6}}\s?"
    "(?P<sinounit>만 ?원|원|퍼센트|개월|분|년|일간|층|회|명|기가바이트|기가|시간|도))(?![가-힣])"
    rf"|(?P<share>百分之(?:{HAN_NUMBER}+|\d+(?:\.\d+)?))"
    rf"|(?P<han>第?{HAN_NUMBER}+)\s?(?P<hanunit>{_HAN_COUNTER})"
    r"|(?P<latin>[a-z\u00c0-\u024f][a-z\u00c0-\u024f0-9'’+#]*(?:-[a-z\u00c0-\u024f0-9]+)*)"
    r"|(?P<hangul>[가-힣]+)"
    r"|(?P<kata>[ァ-ヴー]+)"
    rf"|(?P<run>[一-鿿々](?:(?!{_PART_OF_DAY}?第?{HAN_NUMBER}+\s?(?:{_HAN_COUNTER}|時|点|分之))[一-鿿々])*)"
    r"|(?P<hira>[ぁ-ん]+)"
    r"|(?P<mark>[:：=|–—]| - )",
    re.I,
)
# Pattern group -> the group of the whole, where another one of it matched last.
_OUTER = {"unit": "number", "unit2": "number", "big": "number", "enunit": "enword", "hanunit": "han"}
_NO_DIGIT = lazy(r"\D")
_NOT_PART_OF_MONTH = lazy(r"[\d\s月월份一二三四五六七八九十]")
_ORDINAL = lazy(rf"\s?(?:{korean.ORDINALS}|{japanese.ORDINALS}|{chinese.ORDINALS})")
_PARTICLE = lazy(
    r"(?:으로부터|에서는|에게는|으로는|까지는|부터는|이라고|입니다만|입니다|합니다|했습니다|됩니다|되었습니다|하였습니다|에서|에게"
    r"|께서는|께서|까지|부터|으로|라고|이며|이고|에는|에도|로는|처럼|보다|마다|하고|이나|조차|밖에|만은"
    r"|은|는|이|가|을|를|의|에|와|과|도|로|만|나|씩|께|며|고)$"
)
_ENDING = lazy(r"(?:ies|ing|ed|es|s|ly|['’]s)$")
_ZH_SPLIT = lazy("|".join(sorted(chinese.STOP, key=len, reverse=True)))


def stem(word: str) -> str:
    """An English word without its endings, at least three letters of it."""
    for _ in range(2):
        shorter = _ENDING.sub("", word)
        if len(shorter) < 3 or shorter == word:
            break
        word = shorter
    word = word[:-1] if len(word) > 4 and word[-1] in "ey" else word
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiou" else word


def stem_korean(word: str) -> str:
    """A Korean word without its particle, at least two letters of it (one where the word has two)."""
    shorter = _PARTICLE.sub("", word)
    if len(shorter) >= 2 or (len(shorter) == 1 and len(word) == 2 and word[-1] in "은는을를의에"):
        return shorter
    return word


_NAME_KO = lazy(rf"^[{korean.SURNAMES}][가-힣]{{1,2}}$")
_TITLE_KO = lazy(rf"^\s?(?:{korean.TITLES})")
_TITLE_WIDE = lazy(rf"^(?:{japanese.TITLES}|女士|先生|老师|同学|医生|小姐|教授|经理|主任|律师)")
_TITLE_EN = frozenset(
    ("mr", "mrs", "ms", "dr", "prof", "father", "judge", "sister", "brother", "st", "sir", "lady", "aunt")
)
_CAMEL = lazy("[a-z][A-Z]")
_BEFORE_FIRST = lazy(r"(?:^|[.:;] )[\s>*#`'\"“(\[-]*$")  # what stands before a word that opens a text or a sentence
_DESIGNATOR_STEMS = frozenset(stem(word) for word in english.DESIGNATORS)
# Units that are counters of ordinals too: 3度 is a temperature, 3度目 is none.
_UNIT_OR_ORDINAL = frozenset(
    ["도", "度", "인", "부", "部", "次", "回", "장", "条", "本", "台", "大", "位", "周", "년", "年"]
)
_LETTER_FACTORS = {"k": 1000.0, "m": 1e6} | POWERS | MYRIADS


def _latin(match: re.Match[str]) -> list[Token]:
    raw, (start, end) = match[0], match.span()
    base = raw.lower().replace("’", "'").removesuffix("'s")
    first = bool(_BEFORE_FIRST.search(match.string[max(0, start - 12) : start]))
    if len(raw) == 1 and raw.isupper() and raw != "I" and not (first and raw == "A"):
        return [Token(raw, base, ID, start, end, stem=base, designated=True)]
    if base in english.STOP:
        return [Token(raw, base, WORD, start, end, stem=stem(base), content=False)]
    if raw.isupper():
        return [Token(raw, base, ID if "-" in raw else NAME, start, end, stem=base)]
    if _CAMEL.search(raw):
        return [Token(raw, base, ID, start, end, stem=base)]
    capital = raw[0].isupper() and base not in _TITLE_EN
    if capital and not first:
        return [Token(raw, base, NAME, start, end, stem=base)]
    return [Token(raw, base, WORD, start, end, stem=stem(base))]


def _hangul(match: re.Match[str]) -> list[Token]:
    raw, (start, end) = match[0], match.span()
    base = stem_korean(raw)
    titles = (title for title in korean.TITLES.split("|") if base.endswith(title))
    bare = next((base.removesuffix(title) for title in titles if 2 <= len(base) - len(title) <= 3), base)
    titled = bare != base or bool(_TITLE_KO.match(match.string[end : end + 6]))
    if _NAME_KO.match(bare) and (titled or (len(bare) == 3 and bare not in korean.SINGLE)):
        return [Token(raw, bare, NAME, start, end, stem=bare, content=base not in korean.STOP)]
    return [Token(raw, base, WORD, start, end, stem=base, content=base not in korean.STOP)]


def _han(match: re.Match[str]) -> list[Token]:
    """A run of Han characters, cut at words that say nothing."""
    raw, (start, _) = match[0], match.span()
    found = []
    at = 0
    for low, high in [*(stop.span() for stop in _ZH_SPLIT.finditer(raw)), (len(raw), len(raw))]:
        if piece := raw[at:low]:
            titled = _TITLE_WIDE.match(match.string[start + low : start + low + 3])
            kind = NAME if 1 < len(piece) <= 4 and titled else WORD
            found.append(Token(piece, piece, kind, start + at, start + low, stem=piece))
        at = high
    return found


def _kana(match: re.Match[str]) -> list[Token]:
    raw = match[0]
    if match.lastgroup == "kata":
        return [Token(raw, raw, WORD, *match.span(), stem=raw.rstrip("ー"))]
    return [Token(raw, raw, WORD, *match.span(), stem=raw, content=False)]


_WORDS: dict[str, Callable[[re.Match[str]], list[Token]]] = {
    "latin": _latin, "hangul": _hangul, "run": _han, "kata": _kana, "hira": _kana,
}  # fmt: skip


def _number(match: re.Match[str], before: Token | None) -> Token:
    start, end = match.span()
    unit = (match["unit"] or match["unit2"] or "").lower()
    dim, factor = UNITS.get(unit, ("", 1.0))
    if unit in ("m", "g", "t"):
        dim, factor = "size", {"m": 1e6, "g": 1e9, "t": 1e12}[unit]
    elif match["number"][0] in "$€£¥":
        dim = "money"
    for letter in (match["big"] or "").strip().lower():
        factor *= _LETTER_FACTORS.get(letter, 1)
    value = float(re.sub(r"[^\d.]", "", match["number"]).rstrip(".") or 0)
    if match["number"][0] == "-" and match.string[start - 1 : start] in ("", " "):
        value = -value
    counted = dim != "money" and (not unit or unit in _UNIT_OR_ORDINAL)
    if counted and (ordinal := _ORDINAL.match(match.string, end - len(unit))):
        return Token(match[0], f":{value:g}", ID, start, ordinal.end(), "ordinal", value, designated=True)
    if not unit and _designates(match, before):
        return Token(
            match[0], f"{before.stem if before else ''}:{value:g}", ID, start, end, dim, value, designated=True
        )
    return Token(match[0], f"{value * factor:.6g}", NUMBER, start, end, dim, value * factor)


def _designates(match: re.Match[str], before: Token | None) -> bool:
    """Whether the word or sign before a number makes it the name of a thing: room 12, §4."""
    if match.string[max(0, match.start() - 1) : match.start()] in ("第", "제", "§"):
        return True
    if before is None or before.kind not in (WORD, NAME) or before.end < match.start() - 2:
        return False
    return before.stem in _DESIGNATOR_STEMS or before.norm in english.DESIGNATORS


def _iso(match: re.Match[str]) -> tuple[str, str, float]:
    parts = [int(part) for part in re.split(r"[-/.]", match[0])]
    norm = "-".join(f"{part:02d}" for part in parts[1:]) if len(parts) == 3 else match[0]
    return norm, "date", 0.0


def _day(month: int, day: str) -> tuple[str, str, float]:
    return f"{month:02d}-{int(day):02d}", "date", 0.0


def _wide_month(match: re.Match[str]) -> tuple[str, str, float]:
    number = int(match["om"]) if match["om"].isdigit() else int(sino_number(match["om"]))
    return f"m{number}{_NOT_PART_OF_MONTH.sub('', match[0])}", "month", 0.0


_DATES: dict[str, Callable[[re.Match[str]], tuple[str, str, float]]] = {
    "iso": _iso,
    "cjkdate": lambda match: _day(int(match["cm"]), match["cd"]),
    "dmy": lambda match: _day(month_number(match["m1"]), match["d1"]),
    "mdy": lambda match: _day(month_number(match["m2"]), match["d2"]),
    "slash": lambda match: _day(*_split_slash(match[0])),
    "cjkmonth": _wide_month,
    "month": lambda match: (f"m{month_number(match[0])}", "month", 0.0),
    "weekday": lambda match: (f"wd{weekday_number(match[0])}", "weekday", 0.0),
    "quarter": lambda match: (_NO_DIGIT.sub("", match[0]) or match[0], "quarter", 0.0),
}


def _split_slash(text: str) -> tuple[int, str]:
    month, _, day = text.partition("/")
    return int(month), day


def _amount(match: re.Match[str], value: float, unit: str) -> Token:
    """The number token of an amount that is written in words."""
    dim, factor = UNITS.get(unit.lower(), ("", 1.0)) if unit else ("", 1.0)
    return Token(match[0], f"{value * factor:.6g}", NUMBER, *match.span(), dim, value * factor)


def _english_amount(match: re.Match[str], before: Token | None) -> Token:
    value = english_number(match["enword"])
    unit = match["enunit"] or ""
    if not unit and before is not None and before.text.lower() == "at" and value <= 12:
        return Token(match[0], f"{value:.3g}h", TIME, *match.span(), "clock", value)
    if not unit and value == 1:
        return Token(match[0], "one", WORD, *match.span(), stem="one", content=False)
    return _amount(match, value, unit)


def _period(match: re.Match[str], before: Token | None) -> Token:
    seconds = float(SECONDS.get(match[0].lower().split()[-1], 1_209_600))
    return Token(match[0], f"{seconds:.6g}", NUMBER, *match.span(), "time", seconds)


def _korean_days(match: re.Match[str], before: Token | None) -> Token:
    seconds = KOREAN_DAYS[match[0]] * 86400.0
    return Token(match[0], f"{seconds:.6g}", NUMBER, *match.span(), "time", seconds)


def _native_amount(match: re.Match[str], before: Token | None) -> Token:
    unit = match["nativeunit"]
    token = _amount(match, native_number(match[0].removesuffix(unit).strip()), unit)
    return token if token.dim else token._replace(dim="count")


def _sino_amount(match: re.Match[str], before: Token | None) -> Token:
    unit = match["sinounit"]
    value = sino_number(match[0].removesuffix(unit))
    return _amount(match, value * 10_000, "원") if unit.startswith("만") else _amount(match, value, unit)


def _share(match: re.Match[str], before: Token | None) -> Token:
    rest = match[0][3:]
    value = float(rest) if rest[0].isdigit() else sino_number(rest)
    return Token(match[0], f"{value:.6g}", NUMBER, *match.span(), "percent", value)


def _han_amount(match: re.Match[str], before: Token | None) -> Token:
    unit = match["hanunit"]
    value = sino_number(match["han"].lstrip("第"))
    if unit not in UNITS or unit in ("年", "部", "次", "条", "組", "位") or match[0][0] == "第":
        return Token(match[0], f":{value:g}", ID, *match.span(), "ordinal", value, designated=True)
    return _amount(match, value, unit)


def _identifier(match: re.Match[str], before: Token | None) -> Token:
    lower = match[0].lower().strip("`.")
    return Token(match[0], lower, ID, *match.span(), stem=lower)


_AMOUNTS: dict[str, Callable[[re.Match[str], Token | None], Token]] = {
    "number": _number, "enword": _english_amount, "period": _period, "kodays": _korean_days, "native": _native_amount,
    "sino": _sino_amount, "share": _share, "han": _han_amount, "id": _identifier,
}  # fmt: skip


@lru_cache(maxsize=1 << 12)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text in order; marks that divide it and arrows are tokens too."""
    found: list[Token] = []
    for match in _SCAN.finditer(text):
        start, end = match.span()
        if found and found[-1].end > start:  # a counter behind a number was read with it
            continue
        raw, group = match[0], _OUTER.get(match.lastgroup or "", match.lastgroup or "")
        if group in _DATES:
            norm, dim, value = _DATES[group](match)
            found.append(Token(raw, norm, DATE, start, end, dim, value))
        elif group in _AMOUNTS:
            found.append(_AMOUNTS[group](match, found[-1] if found else None))
        elif group in ("clock", "ampm", "wideclock", "noon"):
            found.append(Token(raw, f"{clock_hours(raw):.3g}h", TIME, start, end, "clock", clock_hours(raw)))
        elif group == "arrow":
            found.append(Token(raw, "->", ARROW, start, end, content=False))
        elif group == "mark":
            found.append(Token(raw, raw.strip(), MARK, start, end, content=False))
        else:
            found += _WORDS[group](match)
    return tuple(found)
