"""Units, and numbers and times in words, of four languages: "forty seconds", "마흔 명", "오후 세 시 반". Pure."""

from __future__ import annotations

import re

from gitmem.memory.relation import english

_EN_NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_EN_TENS = {
    word: 10 * n
    for n, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
_EN_POWERS = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}
_KO_NATIVE = {
    "하나": 1, "한": 1, "두": 2, "둘": 2, "세": 3, "셋": 3, "네": 4, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7,
    "여덟": 8, "아홉": 9, "열": 10, "스무": 20, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60,
    "일흔": 70, "여든": 80, "아흔": 90,
}  # fmt: skip
_KO_TENS = ("스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔", "스무", "열")
KOREAN_DAYS = {"하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "열흘": 10, "보름": 15}
_DIGITS = {
    "일": 1, "이": 2, "삼": 3, "사": 4, "오": 5, "육": 6, "칠": 7, "팔": 8, "구": 9, "영": 0, "공": 0,
    "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "〇": 0, "零": 0, "两": 2, "兩": 2,
}  # fmt: skip
POWERS = {"십": 10, "백": 100, "천": 1000, "十": 10, "百": 100, "千": 1000}
MYRIADS = {"만": 10_000, "억": 100_000_000, "万": 10_000, "萬": 10_000, "億": 100_000_000, "亿": 100_000_000}

_UNIT_LINES: tuple[tuple[str, float, str], ...] = (  # dimension, factor, its words
    ("time", 0.001, "ms millisecond milliseconds 밀리초 ミリ秒 毫秒"),
    ("time", 1, "s sec secs second seconds 초 秒 秒間 秒钟"),
    ("time", 60, "min mins minute minutes 분 分 分間 分钟 분간"),
    ("time", 3600, "h hr hrs hour hours 시간 時間 小时 小時"),
    ("time", 86400, "d day days 일간 日間 天 일 night nights"),
    ("time", 604800, "w wk wks week weeks 주 주일 週間 週 周 주간 星期"),
    ("time", 2592000, "month months 개월 달 か月 ヶ月 カ月 ヵ月 个月 個月 mo"),
    ("time", 31536000, "y yr yrs year years 년 年間 年"),
    ("bytes", 1e3, "kb 킬로바이트"),
    ("bytes", 1e6, "mb m 메가 메가바이트 メガ"),
    ("bytes", 1e9, "gb g gig 기가 기가바이트 gigabyte gigabytes ギガ gi gib"),
    ("bytes", 1e12, "tb t 테라"),
    ("percent", 1, "% percent 퍼센트 パーセント 프로 ％ pct"),
    ("money", 1, "$ usd dollar dollars € eur euro euros £ gbp pounds 원 円 元 yen won krw jpy cny rmb 块 pesos chf"),
    ("length", 0.001, "mm 밀리 毫米 ミリ"),
    ("length", 0.01, "cm 센티 厘米 センチ"),
    ("length", 1, "metre metres meter meters 미터 メートル 米"),
    ("length", 1000, "km 킬로미터 公里 キロ kilometres kilometers"),
    ("mass", 0.001, "mg 밀리그램 毫克"),
    ("mass", 1, "gram grams 그램 グラム 克"),
    ("mass", 1000, "kg 킬로 公斤 kilo kilos 千克"),
    ("mass", 1e6, "ton tons tonne tonnes 톤 吨 トン"),
    ("temperature", 1, "°c °f degrees 도 度 ℃ 摄氏度"),
    ("volume", 1, "l litre litres liter liters 리터 升 リットル"),
    ("volume", 0.001, "ml 밀리리터 毫升"),
    ("pressure", 1, "bar psi pa kpa"),
    ("rate", 1, "rps qps req/s rpm mbps gbps nm hz khz mhz ghz fps"),
    (
        "count",
        1,
        "명 인 名 人 개 個 个 件 건 회 回 次 권 冊 本 枚 장 마리 頭 头 只 대 台 부 部 세트 곳 가지 つ 例 位 팩 상자",
    ),
    (
        "count",
        1,
        "세 歳 岁 살 페이지 条 张 项 项目 份 句 호봉 items pcs people persons guests users seats pods replicas copies",
    ),
    (
        "count",
        1,
        "times x × characters chars lines rows employees students pages ppl reviewers approvals attempts retries kinds",
    ),
)
UNITS = {word: (dim, factor) for dim, factor, words in _UNIT_LINES for word in words.split()}


HAN_NUMBER = "[一二三四五六七八九十百千万〇零两兩億亿]"
KOREAN_HOUR = "열두|열한|열|한|두|세|네|다섯|여섯|일곱|여덟|아홉"
SECONDS = {
    "second": 1, "minute": 60, "hour": 3600, "hourly": 3600, "day": 86400, "daily": 86400, "nightly": 86400,
    "week": 604800, "weekly": 604800, "fortnight": 1209600, "fortnightly": 1209600, "month": 2592000,
    "monthly": 2592000, "year": 31536000, "yearly": 31536000, "annually": 31536000,
}  # fmt: skip


def sino_number(text: str) -> float:
    """The number of Han or Sino-Korean numerals."""
    total = section = digit = 0.0
    for letter in text:
        if letter in _DIGITS:
            digit = digit * 10 if digit and not _DIGITS[letter] else _DIGITS[letter]
        elif letter in POWERS:
            section += (digit or 1) * POWERS[letter]
            digit = 0
        elif letter in MYRIADS:
            total += ((section + digit) or 1) * MYRIADS[letter]
            section = digit = 0
    return total + section + digit


def english_number(words: str) -> float:
    """The number of English numerals; "half" is 0.5."""
    value = 0.0
    for word in re.split(r"[\s-]+", words.lower()):
        if word == "half":
            value = 0.5
        elif word in _EN_POWERS:
            value = (value or 1) * _EN_POWERS[word]
        else:
            value += _EN_NUMBERS.get(word, _EN_TENS.get(word, 0))
    return value


def native_number(text: str) -> float:
    """The number of native Korean numerals."""
    for tens in _KO_TENS:
        if text.startswith(tens):
            return _KO_NATIVE[tens] + _KO_NATIVE.get(text[len(tens) :], 0)
    return _KO_NATIVE.get(text, 0)


def clock_hours(text: str) -> float:
    """The time of day of an expression, in hours since midnight."""
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
    """1 to 12 of an English month's name, whole or short."""
    return english.MONTHS.index(word[:3].lower()) + 1


def weekday_number(word: str) -> int:
    """0 (Monday) to 6 of a weekday's name."""
    lower = word.lower()
    if lower[:3] in english.WEEKDAYS:
        return english.WEEKDAYS.index(lower[:3])
    letters = re.sub("曜日?|요일|星期|礼拜|周", "", lower)
    for week in ("월화수목금토일", "月火水木金土日", "一二三四五六日"):
        if letters[:1] and letters[:1] in week:
            return week.index(letters[:1])
    return 6
