"""Read units, and numbers and times in words, in four languages: "forty seconds", "마흔 명", "오후 세 시 반". Pure."""

from __future__ import annotations

import re

from gitmem.text import english, korean
from gitmem.text.languages import LANGUAGES

NUMBER_WORDS = english.NUMBERS | {
    "zero": 0, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_EN_POWERS = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}
_KO_NATIVE = korean.COUNTS | korean.NUMBERS | {
    "스무": 20, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90,
}  # fmt: skip
_KO_TENS = ("스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔", "스무", "열")
KOREAN_DAYS = korean.DAYS
_MONTHS = [name[:3] for name in english.MONTHS]
_WEEKDAYS = [name[:3] for name in english.WEEKDAYS]
_DIGITS = {
    "일": 1, "이": 2, "삼": 3, "사": 4, "오": 5, "육": 6, "칠": 7, "팔": 8, "구": 9, "영": 0, "공": 0,
    "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "〇": 0, "零": 0, "两": 2, "兩": 2,
}  # fmt: skip
POWERS = {"십": 10, "백": 100, "천": 1000, "十": 10, "百": 100, "千": 1000}
MYRIADS = {
    "만": 10_000, "万": 10_000, "萬": 10_000, "억": 100_000_000, "億": 100_000_000, "亿": 100_000_000,
    "조": 1_000_000_000_000, "兆": 1_000_000_000_000,
}  # fmt: skip

# (dimension, factor, words) of units that `text/numbers` lacks: it counts no people and no pieces.
_MORE_UNITS: tuple[tuple[str, float, str], ...] = (
    ("time", 60, "분간"),
    ("time", 86400, "일간 night nights"),
    ("time", 604800, "w"),
    ("time", 2592000, "ヵ月 mo"),
    ("time", 31536000, "y"),
    ("bytes", 1000, "킬로바이트"),
    ("bytes", 1e6, "m"),
    ("bytes", 1e9, "g gig gi"),
    ("bytes", 1e12, "t"),
    ("money", 1, "pesos"),
    ("length", 0.001, "밀리"),
    ("length", 1000, "キロ"),
    ("mass", 0.001, "밀리그램 毫克"),
    ("mass", 1000, "킬로 kilo kilos"),
    ("mass", 1e6, "ton tons tonne tonnes 톤 吨 トン"),
    ("day", 1, "st nd rd th"),
    ("temperature", 1, "°c °f degrees 도 度 ℃ 摄氏度"),
    ("volume", 0.001, "毫升"),
    ("pressure", 1, "bar psi pa kpa"),
    ("rate", 1, "rps qps req/s rpm mbps gbps nm hz khz mhz ghz fps"),
    ("count", 1, "명 인 名 人 개 個 个 件 건 회 回 次 권 冊 本 枚 장 마리 頭 头 只 대 台 부 部 세트 곳 가지"),
    ("count", 1, "つ 例 位 팩 상자 세 歳 岁 살 페이지 条 张 项 项目 份 句 호봉 items pcs people persons"),
    ("count", 1, "guests users seats pods replicas copies times x × characters chars lines rows employees"),
    ("count", 1, "students pages ppl reviewers approvals attempts retries kinds"),
)
# Unit of `text/numbers` -> (dimension, factor). Units that are missing here are currencies.
_MEASURES = {
    "s": ("time", 1), "month": ("time", 2_592_000), "byte": ("bytes", 1), "%": ("percent", 1), "m": ("length", 1),
    "g": ("mass", 1), "l": ("volume", 1),
}  # fmt: skip


def _units() -> dict[str, tuple[str, float]]:
    """Word -> (dimension, factor). Without `日`, which names days of a month, and `b`, which stands for billions."""
    units: dict[str, tuple[str, float]] = {}
    for language in LANGUAGES:
        for word, (unit, factor) in language.UNITS.items():
            dim, size = _MEASURES.get(unit, ("money", 0))
            units[word] = (dim, size * factor or 1)
    del units["日"], units["b"]
    return units | {word: (dim, factor) for dim, factor, words in _MORE_UNITS for word in words.split()}


UNITS = _units()


HAN_NUMBER = "[一二三四五六七八九十百千万〇零两兩億亿]"
KOREAN_HOUR = "열두|열한|열|한|두|세|네|다섯|여섯|일곱|여덟|아홉"
SECONDS = {
    "second": 1, "minute": 60, "hour": 3600, "hourly": 3600, "day": 86400, "daily": 86400, "nightly": 86400,
    "week": 604800, "weekly": 604800, "fortnight": 1209600, "fortnightly": 1209600, "month": 2592000,
    "monthly": 2592000, "year": 31536000, "yearly": 31536000, "annually": 31536000,
}  # fmt: skip


def sino_number(text: str) -> float:
    """The number that Han or Sino-Korean numerals write: by powers (`二百五`, `이십오`, `3만5천`), or place by place
    with three digits and more (`二〇二四`). 0 for a text without any; other letters are ignored."""
    if len(text) > 2 and all(letter in _DIGITS for letter in text):
        return float("".join(str(_DIGITS[letter]) for letter in text))
    total = section = digit = 0.0
    for letter in re.findall(r"\d+|\D", text):
        if letter.isdecimal():
            digit = float(letter)
        elif letter in _DIGITS:
            digit = _DIGITS[letter] or digit * 10
        elif letter in POWERS:
            section += (digit or 1) * POWERS[letter]
            digit = 0
        elif letter in MYRIADS:
            total += ((section + digit) or 1) * MYRIADS[letter]
            section = digit = 0
    return total + section + digit


def compound_number(text: str) -> float:
    """The number that figures and powers write together, with spaces and commas: 35,000 for `3만 5천`. Thousands that
    end a number of 10^8 are counted in 10^4, as they are said: `1억 5천` is `1억 5천만`."""
    plain = re.sub(r"[\s,]", "", text)
    if match := re.fullmatch(r"(.*[억億亿])([^만万萬]*[천백千百])", plain):
        return sino_number(match[1]) + sino_number(match[2]) * 10_000
    return sino_number(plain)


def english_number(words: str) -> float:
    """The number that English numerals write; "half" is 0.5, unknown words count 0. `hundred` and `dozen` multiply the
    number before them; `thousand` and `million` multiply it and end a group, to which the next one is added."""
    groups = value = 0.0
    for word in re.split(r"[\s-]+", words.lower()):
        power = _EN_POWERS.get(word)
        if word == "half":
            value = 0.5
        elif power is None:
            value += NUMBER_WORDS.get(word, 0)
        else:
            value = (value or 1) * power
            if power >= 1000:
                groups, value = groups + value, 0.0
    return groups + value


def native_number(text: str) -> float:
    """The number that native Korean numerals write; 0 for any other text. After the tens, a rest that is no numeral is
    ignored."""
    for tens in _KO_TENS:
        if text.startswith(tens):
            return _KO_NATIVE[tens] + _KO_NATIVE.get(text[len(tens) :], 0)
    return _KO_NATIVE.get(text, 0)


def clock_hours(text: str) -> float:
    """The time of day in hours since midnight: 15.5 for "오후 세 시 반"; 24 for "midnight"; 0 for a text without a
    time."""
    lower = text.lower()
    if any(word in lower for word in ("noon", "정오", "正午")):
        return 12.0
    if "midnight" in lower or "자정" in lower:
        return 24.0
    hour = minute = 0.0
    if digits := re.search(r"(\d{1,2})(?:[:.](\d\d))?", lower):
        tail = re.search(r"[시時点]\s*(\d{1,2})\s*[분分]", lower)
        hour, minute = float(digits[1]), float(tail[1] if tail else digits[2] or 0)
    elif native := re.search(KOREAN_HOUR, lower):
        hour = native_number(native[0])
    elif han := re.search(f"{HAN_NUMBER}+", lower):
        hour = sino_number(han[0])
    if "반" in lower or "半" in lower:
        minute = 30.0
    if hour < 12 and re.search(r"오후|저녁|밤|午後|下午|晚|夜|夕|\dp\.?m|\sp\.?m", lower):
        hour += 12
    return hour + minute / 60


def month_number(word: str) -> int:
    """The number of a month, 1 to 12, by the first three letters of its English name; further letters are ignored.
    Raises ValueError if no month begins so."""
    return _MONTHS.index(word[:3].lower()) + 1


def weekday_number(word: str) -> int:
    """The number of a weekday, 0 (Monday) to 6, by the first three letters of its English name, or by its Korean,
    Japanese or Chinese name; 6 for an unknown name."""
    lower = word.lower()
    if lower[:3] in _WEEKDAYS:
        return _WEEKDAYS.index(lower[:3])
    letters = re.sub("曜日?|요일|星期|礼拜|周", "", lower)
    for week in ("월화수목금토일", "月火水木金土日", "一二三四五六日"):
        if letters[:1] and letters[:1] in week:
            return week.index(letters[:1])
    return 6
