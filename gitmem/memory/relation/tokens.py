"""Split a text into tokens that can be compared: numbers with units, dates, times, identifiers, names and words.

Pure, for four languages. Numbers are read in digits and in words, and a unit becomes a dimension and a factor, so that
"a week" and "7d" are equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.memory.relation import amounts, chinese, english, japanese, korean
from gitmem.memory.relation.tools import CLASSES, ENGLISH_TOO, TWO_WORDS
from gitmem.text import japanese as text_japanese
from gitmem.text import korean as text_korean
from gitmem.text.languages import languages_in

NUMBER, DATE, TIME, ID, NAME, WORD, MARK, ARROW = "number", "date", "time", "id", "name", "word", "mark", "arrow"


class Token(NamedTuple):
    """One token.

    `text`: as written. `norm`: the form that is compared. `kind`: NUMBER, DATE, TIME, ID, NAME, WORD, MARK or ARROW.
    `start`, `end`: its offsets in the text. `dim`: the dimension of a number (time, length, ...), "" without a unit.
    `value`: the amount in the first unit of this dimension. `stem`: a word without endings. `designated`: whether a
    noun before it or a counter after it makes it the name of a thing (room 12, 12번). `content`: False for stop words
    and marks.
    """

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


_COUNTERS = "|".join(
    map(re.escape, sorted((unit for unit in amounts.UNITS if not unit.isascii()), key=len, reverse=True))
)
_LONGEST_UNIT = max(len(unit) for unit in amounts.UNITS if not unit.isascii())
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
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
_EN_SMALL = (  # a number below 100
    rf"(?:{_TENS}(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)"
)
_EN_POWERS = "(?:[ -](?:hundred|thousand|million)){1,3}"
# A number below 100 goes on with a number only before a power: `five thousand two hundred`, not `five thousand two`.
_EN_NUMBER = (
    rf"(?:(?:{_EN_SMALL}|half an?|dozen|zero)(?:{_EN_POWERS}(?:(?:(?: and)? {_EN_SMALL}{_EN_POWERS})*)"
    rf"(?: and (?:{_TENS}|\w+teen|ten)\b)?)?)"
)
_HAN_COUNTER = rf"(?:{_COUNTERS}|号|班|级|室|栋|組|号機|号炉|床|番|年生|年级|条|章|节|款)"
# Letters after a number that may be a unit; `_unit` decides.
_LATIN_UNIT = r"[$%]|[a-z]+(?:/s)?(?![a-z])"
_WIDE_UNIT = rf"{_LATIN_UNIT}|[^\W\d_a-z]{{1,{_LONGEST_UNIT}}}|[€£×°％℃][cf]?"
# A sign behind a letter or a digit is the dash of a range: `9:00-18:00`.
_FIGURES = r"(?P<figures>(?:[$€£¥]|(?<!\w)[+-])?\d+(?:,\d{3})+(?:\.\d+)?|[$€£¥]?(?:(?<!\w)[-+])?\d*\.?\d+)"
# A compound number: figures before powers from the highest down, as in `1억 2천만` and `3만 5천`. Its last part may be
# without a figure or in words (`5만 천 원`), or four figures behind a space (`3만 5000원`), where a counter follows.
_FIGURE = r"\d+(?:,\d{3})*"
_COUNTED = "(?:원|명|개|건|장|권|톤|달러|유로|엔|위안|円|元|人)"
_ENDING = (  # the particles that may follow a counter, up to the end of the word
    "(?:이다|이었다|였다|이라|이라고|이며|이고|이지만|이나|입니다|이에요|예요|인데|짜리|정도|쯤|씩|까지|부터|에서|에|으로|마다|보다"
    r"|은|는|이|가|을|를|의|과|와|도|만)?(?![^\W\da-z])"
)
_KO_DIGIT = "[일이삼사오육칠팔구]"
_KO_THOUSANDS = "[일이삼사오육칠팔구십백천]"  # the letters of a number below 10^4
_LOWER_POWER = r"\s?[천백십千百十](?:\d+|\s\d(?=\s?[백십百十]))?"
_NO_POWER = r"(?!\d|[.,]\d|[십백천만억조十百千万萬億亿兆])"
_BEFORE_POWER = rf"{_FIGURE}(?:{_LOWER_POWER})*(?:(?<=\d)\s)?"
_COMPOUND = (
    rf"(?={_FIGURE}\s?(?:[만억조천万萬億亿兆千백百]{{1,2}}\s?[\d일이삼사오육칠팔구십백천]|[십백](?:만|\s?{_COUNTED})|조\s?(?:원|달러)))"
    rf"(?:{_BEFORE_POWER}[조兆](?=\s?(?:{_FIGURE}\s?[만억천万億千]|원|달러)))?(?:\s?{_BEFORE_POWER}[억億亿])?"
    rf"(?:\s?(?:{_BEFORE_POWER}[만万萬]|{_KO_THOUSANDS}+만(?=\s?(?:{_COUNTED}|{_KO_DIGIT}?[천백십]))))?"
    rf"(?:\s?{_FIGURE}(?:{_LOWER_POWER})+{_NO_POWER}|\d{{1,4}}{_NO_POWER}|\s(?:\d{{4}}|\d,\d{{3}})(?=\s?{_COUNTED})"
    rf"|\s?{_KO_DIGIT}?[천백십]{_KO_THOUSANDS}*(?=\s?{_COUNTED}{_ENDING}))?(?!\d)"
)
# A number in Korean words with a power, before a counter with or without a particle: `만 이천 원이다`. Some counters
# need a space before them, because they make another word without it: `만개` is "full bloom", `천장` a ceiling.
_KO_POWERS = (
    rf"(?<!\w)(?!천명)(?={_KO_THOUSANDS}*[십백천만억])"
    rf"(?:{_KO_THOUSANDS}*억\s?)?(?:{_KO_THOUSANDS}*만\s?)?"
    rf"(?:{_KO_DIGIT}?천\s?)?(?:{_KO_DIGIT}?백\s?)?(?:{_KO_DIGIT}?십\s?)?{_KO_DIGIT}?"
)
_KO_COUNTED = r"(?:원|명|달러|유로|엔|위안|(?<=\s)(?:개|건|장|권|톤))"
_SMALL_POWER = r"k\b|m\b(?= (?:users|rows|dollars|euros))"
_UNIT_BEHIND_HYPHEN = r"-(?P<unit2>day|week|month|year|hour|minute|second)s?\b"

# (group, where, pattern) of each form of a token, in the order in which they are tried, for text in lower case.
# `where`: "" any text, "a" text of ASCII only, "w" any other text, "k" text with Hangul, "j" text with Kana or Han. A
# group name is the kind of token, with a suffix after `_` for its scripts. Forms are chosen by script because a range
# of all Hangul or Han takes half a millisecond to compile.
_FORMS: tuple[tuple[str, str, str], ...] = (
    ("date_iso", "", r"\b\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?\b(?![-\w])"),
    ("wideday_k", "k", r"(?:\d{4}\s*년\s*)?\d{1,2}\s*월\s*\d{1,2}\s*일"),
    ("wideday_j", "j", r"(?:\d{4}\s*年\s*)?\d{1,2}\s*月\s*\d{1,2}\s*[日号]"),
    ("widemonth_k", "k", r"\d{1,2}\s*월(?!요)(?:\s*(?:초|말|중순|하순|상순))?"),
    (
        "widemonth_j",
        "j",
        r"(?:\d{1,2}|十[一二]?|[一二三四五六七八九])\s*月(?!曜)(?:\s*(?:上旬|中旬|下旬|初|末|底|份))?",
    ),
    ("dmy", "", rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})\b\.?(?:,? \d{{4}})?"),
    ("mdy", "", rf"\b(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? \d{{4}})?"),
    ("clock", "", r"\b\d{1,2}:\d{2}(?::\d\d)?(?:\s*[ap]\.?m\b\.?)?"),
    ("clock_short", "", r"\b\d{1,2}(?:\.\d\d)?\s*[ap]\.?m\b"),
    (
        "clock_k",
        "k",
        r"(?:(?:오전|오후|새벽|아침|저녁|밤|낮)\s*)?"
        rf"(?:\b\d{{1,2}}:\d{{2}}|(?:\d{{1,2}}|{amounts.KOREAN_HOUR})\s*시(?!간|스|험|작|설|장|정|도)(?:\s*반|\s*\d{{1,2}}\s*분)?)",
    ),
    (
        "clock_j",
        "j",
        rf"{_PART_OF_DAY}?(?:\b\d{{1,2}}:\d{{2}}"
        rf"|(?:\d{{1,2}}|{amounts.HAN_NUMBER}{{1,3}})\s*(?:時(?!間|点|刻)|点(?!钟?内))(?:\s*半|\s*\d{{1,2}}\s*分)?)",
    ),
    ("clock_noon", "", r"\bnoon\b|\bmidnight\b"),
    ("clock_noon_k", "k", "정오|자정"),
    ("clock_noon_j", "j", "正午"),
    ("weekday", "", r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?)?\b"),
    ("weekday_k", "k", r"\w요일"),
    ("weekday_j", "j", r"[月火水木金土日]曜日?|(?:周|星期|礼拜)[一二三四五六日天]"),
    ("month", "", r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"),
    ("quarter", "", r"\bq[1-4]\b"),
    ("quarter_k", "k", "[1-4]분기"),
    ("quarter_j", "j", "第[一二三四]季度|第[1-4]四半期"),
    ("arrow", "", r"->|=>|-->"),
    ("arrow_w", "w", r"→|⇒|➜"),
    ("kodays", "k", rf"(?:{'|'.join(amounts.KOREAN_DAYS)})(?!\w\w)"),
    ("slash", "", r"(?<![\w/.])\d{1,2}/\d{1,2}(?![\d/\w])"),
    ("id_k", "k", r"\d+가[단합소]\d+"),
    (
        "id",
        "",
        r"#\d+|v\d+(?:\.\d+)*\b|(?:https?://|/)[\w./:@%?=&-]+"
        r"|[a-z_]\w*(?:[-./:@_][\w*]+)*\d\w*(?:[-./:@_]\w+)*|\d+(?:[-:]?[a-z]{1,5}[-:]?\d+)[\w-]*|\d+\.\d+\.\d+[\d.]*"
        r"|\d{2,4}-\d{2,}(?:-\d+)*|[a-z]+(?:[._/@:][a-z_*]+)+(?:\(\))?|[a-z]+_[a-z_]+|\w+\(\)",
    ),
    ("compound", "w", rf"(?P<sign>[$€£¥]|(?<!\w)[-+])?(?P<parts>{_COMPOUND})(?:\s?(?P<partsunit>{_WIDE_UNIT}))?"),
    ("number", "a", rf"{_FIGURES}(?P<big>{_SMALL_POWER})?(?:\s?(?P<unit>{_LATIN_UNIT})|{_UNIT_BEHIND_HYPHEN})?"),
    (
        "number_w",
        "w",
        rf"{_FIGURES}(?P<big>\s?(?:[만억천]{{1,2}}(?:(?={_COUNTED})|(?![^\W\d]{{3}}))|[万萬億亿千百]{{1,2}})"
        rf"|{_SMALL_POWER})?"
        rf"(?:\s?(?P<unit>{_WIDE_UNIT})|{_UNIT_BEHIND_HYPHEN})?",
    ),
    ("enword", "", rf"\b{_EN_NUMBER}\b(?:[- ](?P<enunit>[a-z]+)\b)?"),
    (
        "period",
        "",
        r"\b(?:a )?fortnight(?:ly)?\b|\b(?:a|each|every|per) (?:second|minute|hour|day|week|month|year)\b"
        r"|\b(?:hourly|daily|nightly|weekly|monthly|yearly|annually)\b",
    ),
    (
        "native",
        "k",
        rf"(?:{_NATIVE})\s*(?P<nativeunit>명|사람|개월|개|시간|번|권|달|살|주|가지|곳|마리|대|장|배|차례|상자|킬로|분|팀|조|병|잔)",
    ),
    (
        "sino",
        "k",
        rf"{_KO_NUMBER}{{1,6}}\s?(?P<sinounit>만 ?원|원|퍼센트|개월|분|년|일간|층|회|명|기가바이트|기가|시간|도)"
        r"(?![^\W\da-z])",
    ),
    ("powers", "k", rf"{_KO_POWERS}\s?(?P<powersunit>{_KO_COUNTED})(?={_ENDING})"),
    ("share", "j", rf"百分之(?:{amounts.HAN_NUMBER}+|\d+(?:\.\d+)?)"),
    ("han", "j", rf"(?P<hanfigures>第?{amounts.HAN_NUMBER}+)\s?(?P<hanunit>{_HAN_COUNTER})"),
    ("latin", "a", "[a-z][a-z0-9'+#]*(?:-[a-z0-9]+)*"),
    ("latin_w", "w", r"[a-z\u00c0-\u024f][a-z\u00c0-\u024f0-9'’+#]*(?:-[a-z\u00c0-\u024f0-9]+)*"),
    ("hangul", "k", r"[가-힣]+"),
    ("kata", "j", "[ァ-ヴー]+"),
    (
        "run",
        "j",
        rf"[一-鿿々](?:(?!{_PART_OF_DAY}?第?{amounts.HAN_NUMBER}+\s?(?:{_HAN_COUNTER}|時|点|分之))[一-鿿々])*",
    ),
    ("hira", "j", "[ぁ-ん]+"),
    ("mark", "", "[:=|]| - "),
    ("mark_w", "w", "[：–—]"),
)


@cache
def _scanner(where: str) -> re.Pattern[str]:
    """One pattern for all forms of `_FORMS` whose `where` is among the letters of `where`."""
    return re.compile("|".join(f"(?P<{group}>{form})" for group, of, form in _FORMS if of in where))


def _where(text: str) -> str:
    """The letters of the `where` column of `_FORMS` that apply to a text."""
    if text.isascii():
        return "a"
    languages = languages_in(text)
    return "w" + "k" * (text_korean in languages) + "j" * (text_japanese in languages)


def _lower(text: str) -> str:
    """The text in lower case with the same length, so that offsets stay valid."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(one.lower()[:1] for one in text)


def _unit(letters: str | None) -> str:
    """The unit of a number, in `letters`, those after it; "" if there is none. Latin letters must be a unit as a
    whole (a final "/s" is dropped: km/s gives km); other letters need only begin with one, and the longest is taken."""
    if not letters or letters in amounts.UNITS:
        return letters or ""
    if letters.isascii():
        unit = letters.removesuffix("/s")
        if unit in amounts.UNITS:
            return unit
        return ""
    prefixes = (letters[:length] for length in range(len(letters), 0, -1))
    return next((prefix for prefix in prefixes if prefix in amounts.UNITS and not prefix.isascii()), "")


_DIGITS, _NO_DIGIT, _NO_FIGURE = lazy(r"\d+"), lazy(r"\D"), lazy(r"[^\d.]")
_ORDINAL = lazy(rf"\s?(?:{'|'.join((*korean.ORDINALS, *japanese.ORDINALS, *chinese.ORDINALS))})")
_PARTICLE_WORDS = """
으로부터 에서는 에게는 으로는 까지는 부터는 이라고 입니다만 입니다 합니다 했습니다 됩니다 되었습니다 하였습니다 에서
에게 께서는 께서 까지 부터 으로 라고 이며 이고 에는 에도 로는 처럼 보다 마다 하고 이나 조차 밖에 만은 은 는 이 가 을
를 의 에 와 과 도 로 만 나 씩 께 며 고
"""
_PARTICLES = sorted(_PARTICLE_WORDS.split(), key=len, reverse=True)
_ENDINGS = ("ies", "ing", "ed", "es", "'s", "’s", "ly", "s")
_ZH_SPLIT = lazy("|".join(sorted(chinese.STOP, key=len, reverse=True)))


def stem(word: str) -> str:
    """An English word without up to two endings, a last `e` or `y`, and a doubled last consonant; at least three
    letters stay."""
    for _ in range(2):
        ending = next((each for each in _ENDINGS if word.endswith(each)), "")
        if not ending or len(word) - len(ending) < 3:
            break
        word = word.removesuffix(ending)
    if len(word) > 4 and word[-1] in "ey":
        word = word[:-1]
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiou":
        return word[:-1]
    return word


def stem_korean(word: str) -> str:
    """A Korean word without its particle; at least two letters stay, or one of a word with two."""
    shorter = word.removesuffix(next((each for each in _PARTICLES if word.endswith(each)), ""))
    if len(shorter) >= 2 or (len(shorter) == 1 and len(word) == 2 and word[-1] in "은는을를의에"):
        return shorter
    return word


_HAN_TOOLS = tuple(name for name in CLASSES if "一" <= name[0] <= "鿿")
_TITLES_EASTERN = (
    *japanese.TITLES,
    *["女士", "先生", "老师", "同学", "医生", "小姐", "教授", "经理", "主任", "律师"],
)
_TITLE_EN = frozenset(
    ("mr", "mrs", "ms", "dr", "prof", "father", "judge", "sister", "brother", "st", "sir", "lady", "aunt")
)
_DESIGNATOR_STEMS = frozenset(stem(word) for word in english.DESIGNATORS)
# Units that also count ordinals: 3度 is a temperature, 3度目 ("the third time") is not.
_UNIT_OR_ORDINAL = frozenset(
    ["도", "度", "인", "부", "部", "次", "回", "장", "条", "本", "台", "大", "位", "周", "년", "年"]
)
_SIZES = {"m": 1e6, "g": 1e9, "t": 1e12}
_LETTER_FACTORS = {"k": 1000.0, "m": 1e6} | amounts.POWERS | amounts.MYRIADS


def _opens_sentence(before: str) -> bool:
    """Whether a word opens a text or a sentence. `before`: the text before it."""
    head = before.rstrip(" \t\n>*#`'\"“([-")
    return not head or (head[-1] in ".:;" and before[len(head) : len(head) + 1] == " ")


def _latin(match: re.Match[str], raw: str) -> list[Token]:
    """The token of a Latin word: a NAME if it is a known tool, in capitals, or has a capital inside a sentence; an ID
    if it mixes cases, has a hyphen in capitals, or is a single capital; otherwise a WORD."""
    start, end = match.span()
    base = raw.lower().replace("’", "'").removesuffix("'s")
    first = _opens_sentence(match.string[max(0, start - 12) : start])
    if len(raw) == 1 and raw.isupper() and raw != "I" and not (first and raw == "A"):
        return [Token(raw, base, ID, start, end, stem=base, designated=True)]
    if base in CLASSES and (base not in ENGLISH_TOO or (raw[:1].isupper() and not first)):
        return [Token(raw, base, NAME, start, end, stem=base)]
    if base in english.STOP:
        return [Token(raw, base, WORD, start, end, stem=stem(base), content=False)]
    if raw.isupper():
        return [Token(raw, base, ID if "-" in raw else NAME, start, end, stem=base)]
    if any(one.islower() and other.isupper() for one, other in pairwise(raw)):
        return [Token(raw, base, ID, start, end, stem=base)]
    capital = raw[0].isupper() and base not in _TITLE_EN
    if capital and not first:
        return [Token(raw, base, NAME, start, end, stem=base)]
    return [Token(raw, base, WORD, start, end, stem=stem(base))]


def _hangul(match: re.Match[str], raw: str) -> list[Token]:
    """The token of a Korean word without its particle: a NAME for a known tool, for three letters that begin with a
    surname and name no property, and for two or three such letters with a title; otherwise a WORD."""
    start, end = match.span()
    base = stem_korean(raw)
    content = base not in korean.STOP and raw not in _PARTICLES
    if base in CLASSES:
        return [Token(raw, base, NAME, start, end, stem=base)]
    titles = (title for title in korean.TITLES if base.endswith(title))
    bare = next((base.removesuffix(title) for title in titles if 2 <= len(base) - len(title) <= 3), base)
    titled = bare != base or match.string[end : end + 6].lstrip().startswith(korean.TITLES)
    if (
        2 <= len(bare) <= 3
        and bare[0] in korean.SURNAMES
        and (titled or (len(bare) == 3 and bare not in korean.SINGLE))
    ):
        return [Token(raw, bare, NAME, start, end, stem=bare, content=content)]
    return [Token(raw, base, WORD, start, end, stem=base, content=content)]


def _han(match: re.Match[str], raw: str) -> list[Token]:
    """The tokens of a run of Han characters, cut at stop words and around the name of a tool."""
    start = match.start()
    if tool := next((name for name in _HAN_TOOLS if name in raw), ""):
        low = raw.index(tool)
        left, right = raw[:low], raw[low + len(tool) :]
        named = Token(tool, tool, NAME, start + low, start + low + len(tool), stem=tool)
        return [*_cut(left, start, match.string), named, *_cut(right, named.end, match.string)]
    return _cut(raw, start, match.string)


def _cut(raw: str, start: int, text: str) -> list[Token]:
    """The words of a run of Han characters, cut at function words, which are dropped; `start`: its offset in `text`. A
    word before a title is a NAME."""
    found = []
    at = 0
    for low, high in [*(stop.span() for stop in _ZH_SPLIT.finditer(raw)), (len(raw), len(raw))]:
        if piece := raw[at:low]:
            is_name = 1 < len(piece) <= 4 and text.startswith(_TITLES_EASTERN, start + low)
            kind = NAME if is_name else WORD
            found.append(Token(piece, piece, kind, start + at, start + low, stem=piece))
        at = high
    return found


def _kana(match: re.Match[str], raw: str) -> list[Token]:
    """The token of a Japanese word in kana; only katakana is content."""
    if match.lastgroup == "kata":
        return [Token(raw, raw, WORD, *match.span(), stem=raw.rstrip("ー"))]
    return [Token(raw, raw, WORD, *match.span(), stem=raw, content=False)]


_WORDS: dict[str, Callable[[re.Match[str], str], list[Token]]] = {
    "latin": _latin, "hangul": _hangul, "run": _han, "kata": _kana, "hira": _kana,
}  # fmt: skip


def _number(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The token of a number in digits: an identifier if it designates a thing, else an amount with its unit."""
    start, figures = match.start(), match["figures"]
    unit = _unit(match["unit"])
    end = max(match.end("figures"), match.end("big"))
    if unit:
        end = match.start("unit") + len(unit)
    if match["unit2"]:
        unit, end = match["unit2"], match.end()
    raw = raw[: end - start]
    if unit == "m" and raw.endswith(" m"):
        unit = "metre"  # behind a blank, as units of length are written; `512m` and `512 M` are a size
    dim, factor = _measure(unit, figures[0])
    for letter in (match["big"] or "").strip():
        factor *= _LETTER_FACTORS.get(letter, 1)
    value = float(_NO_FIGURE.sub("", figures).rstrip(".") or 0)
    if figures[0] == "-" and match.string[start - 1 : start] in ("", " "):
        value = -value
    counted = dim != "money" and (not unit or unit in _UNIT_OR_ORDINAL)
    if counted and (ordinal := _ordinal(match.string, end - len(unit))):
        return Token(raw, f":{value:.12g}", ID, start, ordinal, "ordinal", value, designated=True)
    if not unit and _designates(match, before):
        noun = stem(before.norm) if before else ""
        return Token(raw, f"{noun}:{value:.12g}", ID, start, end, dim, value, designated=True)
    return Token(raw, f"{value * factor:.12g}", NUMBER, start, end, dim, value * factor)


def _compound(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The token of a number of figures and powers (`3만 5천`) with its unit."""
    start, sign, unit = match.start(), match["sign"] or "", _unit(match["partsunit"])
    end = match.end("parts")
    if unit:
        end = match.start("partsunit") + len(unit)
    dim, factor = _measure(unit, sign)
    value = amounts.compound_number(match["parts"]) * factor
    if sign == "-" and match.string[start - 1 : start] in ("", " "):
        value = -value
    return Token(raw[: end - start], f"{value:.12g}", NUMBER, start, end, dim, value)


def _measure(unit: str, sign: str) -> tuple[str, float]:
    """(dimension, factor) of a unit behind a number; a currency sign before the number makes it money."""
    if unit in _SIZES:
        return "size", _SIZES[unit]
    dim, factor = amounts.UNITS.get(unit, ("", 1.0))
    if sign and sign in "$€£¥":
        return "money", factor
    return dim, factor


def _ordinal(text: str, at: int) -> int:
    """The end of a counter at offset `at` that makes the number before it the name of a thing; 0 without one."""
    if text[at : at + 2].isascii():
        return 0
    found = _ORDINAL.match(text, at)
    return found.end() if found else 0


def _designates(match: re.Match[str], before: Token | None) -> bool:
    """Whether the word or sign before a number makes it the name of a thing: room 12, §4."""
    if match.string[max(0, match.start() - 1) : match.start()] in ("第", "제", "§"):
        return True
    if before is None or before.kind not in (WORD, NAME) or before.end < match.start() - 2:
        return False
    return before.stem in _DESIGNATOR_STEMS or before.norm in english.DESIGNATORS


def _iso(match: re.Match[str]) -> tuple[str, str, float]:
    """(norm, "date", 0.0) of a date in digits. The norm of a date with a day is `MM-DD`, without the year; `2026-03`
    stays."""
    _, *parts = re.split(r"[-/.]", match[0])
    if len(parts) == 2:
        month, day = parts
        return _day(int(month), day)
    return match[0], "date", 0.0


def _day(month: int, day: str) -> tuple[str, str, float]:
    return f"{month:02d}-{int(day):02d}", "date", 0.0


def _wide_month(match: re.Match[str]) -> tuple[str, str, float]:
    """(norm, "month", 0.0) of a month in CJK, in figures or words: `m3`, and a part of the month after it."""
    figures, _, part = match[0].replace("월", "月").partition("月")
    number = int(figures) if figures.strip().isdigit() else int(amounts.sino_number(figures))
    return f"m{number}{part.strip().removesuffix('份')}", "month", 0.0


def _wide_day(match: re.Match[str]) -> tuple[str, str, float]:
    """(`MM-DD`, "date", 0.0) of a month and day in CJK; a year is ignored."""
    month, day = _DIGITS.findall(match[0])[-2:]
    return _day(int(month), day)


_DATES: dict[str, Callable[[re.Match[str]], tuple[str, str, float]]] = {
    "date": _iso,
    "wideday": _wide_day,
    "dmy": lambda match: _day(amounts.month_number(match["m1"]), match["d1"]),
    "mdy": lambda match: _day(amounts.month_number(match["m2"]), match["d2"]),
    "slash": lambda match: _day(*_split_slash(match[0])),
    "widemonth": _wide_month,
    "month": lambda match: (f"m{amounts.month_number(match[0])}", "month", 0.0),
    "weekday": lambda match: (f"wd{amounts.weekday_number(match[0])}", "weekday", 0.0),
    "quarter": lambda match: (_NO_DIGIT.sub("", match[0]) or match[0], "quarter", 0.0),
}


def _split_slash(text: str) -> tuple[int, str]:
    month, _, day = text.partition("/")
    return int(month), day


def _amount(match: re.Match[str], raw: str, value: float, unit: str) -> Token:
    """The number token of an amount that is written in words."""
    dim, factor = amounts.UNITS.get(unit, ("", 1.0))
    return Token(raw, f"{value * factor:.12g}", NUMBER, *match.span(), dim, value * factor)


def _english_amount(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The number token of an amount in English words. A following word that is no unit is left out. `at nine` is a
    time; `one` without a unit is a word."""
    found = match["enunit"] or ""
    unit, end = found, match.end()
    if found and found not in amounts.UNITS:
        unit, end = "", match.start("enunit") - 1
    raw = raw[: end - match.start()]
    value = amounts.english_number(raw[: len(raw) - len(unit)])
    if not unit and before is not None and before.text.lower() == "at" and value <= 12:
        return Token(raw, f"{value:.12g}h", TIME, match.start(), end, "clock", value)
    if not unit and value == 1:
        return Token(raw, "one", WORD, match.start(), end, stem="one", content=False)
    return _amount(match, raw, value, unit)._replace(end=end)


def _period(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The number token, in seconds, of a period such as `a week`; a fortnight if the unit is unknown. The period of a
    rate (`per minute`) is no length of time."""
    seconds = float(amounts.SECONDS.get(match[0].split()[-1], 1_209_600))
    if match[0].startswith("per "):
        return Token(raw, f"per {seconds:.12g}", NUMBER, *match.span(), "per", seconds)
    return Token(raw, f"{seconds:.12g}", NUMBER, *match.span(), "time", seconds)


def _korean_days(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The number token, in seconds, of a Korean word for some days (`사흘`)."""
    seconds = amounts.KOREAN_DAYS[match[0]] * 86400.0
    return Token(raw, f"{seconds:.12g}", NUMBER, *match.span(), "time", seconds)


def _native_amount(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The number token of an amount in native Korean numbers; a unit without a dimension counts things."""
    unit = match["nativeunit"]
    token = _amount(match, raw, amounts.native_number(match[0].removesuffix(unit).strip()), unit)
    return token._replace(dim=token.dim or "count")


def _sino_amount(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The number token of an amount in Sino-Korean numbers; a unit that begins with 만 is money, times 10,000."""
    unit = match["sinounit"]
    value = amounts.sino_number(match[0].removesuffix(unit))
    if unit.startswith("만"):
        return _amount(match, raw, value * 10_000, "원")
    return _amount(match, raw, value, unit)


def _amount_in_powers(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The number token of an amount in Korean words with powers, with spaces among them."""
    unit = match["powersunit"]
    return _amount(match, raw, amounts.compound_number(match[0].removesuffix(unit)), unit)


def _share(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The number token, in percent, of a percentage in Chinese characters (三 of 百分之三)."""
    rest = match[0][3:]
    value = float(rest) if rest[0].isdigit() else amounts.sino_number(rest)
    return Token(raw, f"{value:.12g}", NUMBER, *match.span(), "percent", value)


def _han_amount(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The number token of an amount in Chinese characters, or an ordinal ID if the unit names a thing (第三, 三次)."""
    unit = match["hanunit"]
    value = amounts.sino_number(match["hanfigures"].lstrip("第"))
    if unit not in amounts.UNITS or unit in ("年", "部", "次", "条", "組", "位") or match[0][0] == "第":
        return Token(raw, f":{value:.12g}", ID, *match.span(), "ordinal", value, designated=True)
    return _amount(match, raw, value, unit)


def _identifier(match: re.Match[str], raw: str, before: Token | None) -> Token:
    """The ID token of an identifier, without backticks and dots around it."""
    lower = match[0].strip("`.")
    return Token(raw, lower, ID, *match.span(), stem=lower)


_AMOUNTS: dict[str, Callable[[re.Match[str], str, Token | None], Token]] = {
    "number": _number, "enword": _english_amount, "period": _period, "kodays": _korean_days, "native": _native_amount,
    "sino": _sino_amount, "powers": _amount_in_powers, "compound": _compound, "share": _share, "han": _han_amount,
    "id": _identifier,
}  # fmt: skip


def _joined(tokens_of_text: list[Token]) -> list[Token]:
    """The tokens, with a tool's name of two words ("GitHub Actions") and a name with its version ("Postgres 16") joined
    into one token each."""
    joined: list[Token] = []
    for token, following in zip(tokens_of_text, [*tokens_of_text[1:], None], strict=False):
        if not joined or not _may_join(joined[-1], token):
            joined.append(token)
            continue
        last = joined[-1]
        text = f"{last.text} {token.text}"
        names = (f"{last.norm} {token.stem or token.norm}", f"{last.norm} {token.norm}")
        if tool := next((name for name in names if name in TWO_WORDS), ""):
            joined[-1] = Token(text, tool, NAME, last.start, token.end, stem=tool)
        elif _is_version(last, token, following):
            joined[-1] = Token(text, names[1], NAME, last.start, token.end, "version", token.value, stem=last.norm)
        else:
            joined.append(token)
    return joined


def _may_join(last: Token, token: Token) -> bool:
    """Whether one character separates two tokens, of which the first is a name, a word or an identifier that is not
    `designated`."""
    return 0 < token.start - last.end <= 1 and last.kind in (NAME, WORD, ID) and not last.designated


def _is_version(name: Token, number: Token, following: Token | None) -> bool:
    """Whether a number is the version of the name before it, and does not count the word after it."""
    if number.kind not in (NUMBER, ID) or number.dim or not (number.norm[:1].isdigit() or number.norm[:1] == "v"):
        return False
    if name.kind == WORD or name.dim:
        return False
    return following is None or following.start - number.end != 1 or not following.content


@lru_cache(maxsize=1 << 12)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text in order. Marks (`:`, `=`, `|`, ` - `) and arrows are among them."""
    found: list[Token] = []
    lower = _lower(text)
    search, at = _scanner(_where(text)).search, 0
    while match := search(lower, at):
        start, end = match.span()
        at = end
        if found and found[-1].end > start:  # the counter of a number belongs to its token
            continue
        raw, group = text[start:end], (match.lastgroup or "").partition("_")[0]
        if group in _DATES:
            norm, dim, value = _DATES[group](match)
            found.append(Token(raw, norm, DATE, start, end, dim, value))
        elif group in _AMOUNTS:
            token = _AMOUNTS[group](match, raw, found[-1] if found else None)
            found.append(token)
            at = min(end, token.end)  # the letters after a number need not be its unit
        elif group == "clock":
            found.append(
                Token(raw, f"{amounts.clock_hours(raw):.12g}h", TIME, start, end, "clock", amounts.clock_hours(raw))
            )
        elif group == "arrow":
            found.append(Token(raw, "->", ARROW, start, end, content=False))
        elif group == "mark":
            found.append(Token(raw, raw.strip(), MARK, start, end, content=False))
        else:
            found += _WORDS[group](match, raw)
    return tuple(_joined(found))
