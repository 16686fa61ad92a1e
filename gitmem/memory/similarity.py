"""Whether two texts say the same, speak of one matter, or contradict each other. Pure; reads four languages.

What counts as a near-duplicate or as a contradiction is decided here: for promotion, review and contexts. (Facts of one
id are one fact: `fact.fact_id`, which `promotion/plan` and `memory/writing` look for first.) `same` refuses a
near-duplicate, `contradicts` finds what a new fact replaces, `repeats` drops a part of a context that says nothing new.
All of them read a text as its terms, numbers, names and denials. Elsewhere texts are compared for other questions, each
with a comment that says which: which fact was edited, which lines take one back, which passages look the same.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from gitmem.lazy_patterns import lazy

SAME = 0.85  # likeness from which two texts that disagree in nothing are one (docs/promotion.md, "Thresholds")
ALIKE = 0.5  # likeness of the words, numbers aside, from which two texts speak of one matter
REPEATED = 0.8  # share of a text's words that another must hold to make a repetition of it
ROW_WORDS = 60  # of a text that may be a row of a table: longer ones are prose
CACHED = 1 << 13  # texts whose reading is kept

_TERM = lazy(r"[^\W_]+")
_WIDE_LETTER = "[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3]"
_WIDE = lazy(_WIDE_LETTER)
_DIGITS = r"\d+(?:[.,:/-]\d+)*"
_NUMBER = lazy(_DIGITS)
_TOKEN = lazy(rf"{_DIGITS}|{_WIDE_LETTER}|[^\W\d_]+")


def terms(text: str) -> set[str]:
    """What two texts can have in common: words and numbers, and pairs of letters where a script has no spaces."""
    parts = set()
    for word in _TERM.findall(text.casefold()):
        if _WIDE.search(word):
            parts |= {word[at : at + 2] for at in range(max(1, len(word) - 1))}
        else:
            parts.add(word)
    return parts


def likeness(a: set[str] | frozenset[str], b: set[str] | frozenset[str]) -> float:
    """Jaccard: the shared terms over all terms, 0..1; two empty sets have nothing in common."""
    both = len(a & b)
    return both / (len(a) + len(b) - both) if both else 0.0


def numbers(text: str) -> set[str]:
    """The numbers of a text, each as it stands and without leading zeros; no thousands separators."""
    spellings = set()
    for match in _NUMBER.findall(text):
        spellings |= {match.replace(",", ""), _value(match)}
    return spellings


def _value(number: str) -> str:
    return number.replace(",", "").lstrip("0") or "0"


# What only looks like a denial: "not only", "no later than", "끊임없이", "なければならない" (must), "不同" (different).
_NO_DENIAL = lazy(
    r"\bnot\s+only\b|\bno(?:t)?\s+(?:later|earlier|more|less|fewer|longer)\s+than\b|\bno\s+doubt\b|\bcan['’]?t\s+wait\b|\bno\.\s*(?=\d)"
    r"|끊임\s?없이|틀림\s?없이|빠짐\s?없이|예외\s?없이|관계\s?없이|지\s?않으면\s+안|지\s?않을\s수\s?없|아니면"
    r"|(?:なければ|なくては|ないと|ねば)(?:なら|いけ)な[いかく]|(?:間違い|違い|少|危|つ|繋)ない|やめ(?=る時|た時)|なしで?は済"
    r"|不得不|不可避免|不同|不仅|不僅|不过|不過|不断|不斷|不少|不错|不錯|不管|不论|不論|不但|不如|不动产|不動産|不具合|不思議"
    r"|未来|未來|[特级級类類区區识識个個差]别|[特级級類区區識個差]別|没收|沒收"
)
_DENIAL = lazy(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|avoid\w*|refrain\w*|\w+n['’]t|dont|wont|stop(?:s|ped)?|disabl\w+|forbid\w*"
    r"|forbidden|prohibit\w*|banned)\b|\b(?:turn|switch|shut|is|are|be|keep|stay)\w{0,3}\s+(?:\w+\s+)?off\b"
    r"|않|(?<![가-힣])안(?=\s|$|된|되|함|해|하|쓴|쓰)|(?<![가-힣])못|지\s?못|없|금지|말\s?것|말고|마세요|하지\s?마|아니|아닌|불가|제외"
    r"|중단|폐기|피하|피한|삼가"
    r"|(?<![少危])ない|ません|なし(?!ょ)|せず|禁止|無効|不要|廃止|廃棄|中止|やめ|停止|ず(?:に|、|。|$)"
    r"|不(?!足|正|便|安|満|良|幸|明)|没(?:有|法|用)?|沒(?:有)?|取消|停用|弃用|棄用|废弃|廢棄|无(?:需|法|须|效)|無(?:需|法|須)|勿"
    r"|别|別(?=再|用|把|去|让)|未|避免|避け",
    re.I,
)


_BESIDE_DENIAL = lazy(r"\b(?:any\s?more|longer)\b|더\s?이상|もう", re.I)  # stands beside a denial, says no more


def denials(text: str) -> frozenset[str]:
    """The words of a text that turn what it says into its contrary, in lower case: of four languages."""
    plain = _NO_DENIAL.sub(" ", unicodedata.normalize("NFC", text).lower())
    return frozenset(" ".join(match.split()) for match in _DENIAL.findall(plain))


_NAME = lazy(r"[A-Za-zÀ-ɏ][A-Za-zÀ-ɏ0-9_.+#/-]*[A-Za-zÀ-ɏ0-9_+#]|[A-Z]")
_MARKS = lazy(
    r"^[\s>]*(?:(?:[-*+]|\d{1,3}[.)])\s+(?=\D))?(?:\[[ xX]\]\s+)?[\"'“‘]?"
)  # of a list, a box to tick, a quotation
_IDENTIFIER = lazy(r"[_/\\.+#]|\d|[a-z][A-Z]|^[A-Z]{2,}$")
_COMMON = """the a an our we it this that these those there in on at for from by to of with and or if when after before
all no not never always do don't use uses keep user users is are has have must should prefer prefers only each every
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
october november december i he she they his her their my"""
OPENERS = frozenset(_COMMON.split())  # words that have a capital letter without being a name


def name_words(text: str) -> list[tuple[int, str]]:
    """(offset, word) of every Latin word that could be a name or an identifier."""
    return [(match.start(), match[0].rstrip(".-/")) for match in _NAME.finditer(text)]


def is_identifier(word: str) -> bool:
    """Whether a word is spelled like no word of a language: `rate_limits`, `v2`, `getUser`, `API`."""
    return bool(_IDENTIFIER.search(word))


def names(text: str) -> set[str]:
    """Identifiers, and capitalised words that do not open the text (behind the marks of a list), in lower case."""
    words = name_words(_MARKS.sub("", text))
    candidates = {word for start, word in words if is_identifier(word) or (word[:1].isupper() and start > 0)}
    return {word.casefold() for word in candidates} - OPENERS


class _Reading(NamedTuple):
    """One text, read once. `matter` is its terms without numbers and denials, `words` what stands between spaces."""

    matter: frozenset[str]
    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    denials: frozenset[str]


@lru_cache(CACHED)
def _read(text: str) -> _Reading:
    text = _MARKS.sub("", text)
    plain = _DENIAL.sub(" ", _BESIDE_DENIAL.sub(" ", text))
    return _Reading(
        frozenset(term for term in terms(plain) if not term.isdigit()),
        frozenset(re.findall(r"\w+", text.casefold())),
        frozenset(_value(match) for match in _NUMBER.findall(text)),
        frozenset(names(text)),
        denials(text),
    )


def matter(text: str) -> frozenset[str]:
    """The terms that say what a text speaks of: without its numbers and its denials."""
    return _read(text).matter


def alike(a: str, b: str) -> float:
    """How much two texts speak of one matter: the likeness of their terms, numbers and denials aside; 0 below ALIKE."""
    share = likeness(_read(a).matter, _read(b).matter)
    return share if share >= ALIKE else 0.0


def same(a: str, b: str) -> bool:
    """Whether two texts say the same: nearly the same terms, the same numbers and names, both or neither denying.

    `don't use` and `do not use` are the same, `1,000` and `1000` too.
    """
    one, other = _read(a), _read(b)
    if one.numbers != other.numbers or one.names != other.names or bool(one.denials) != bool(other.denials):
        return False
    return likeness(one.matter | one.numbers, other.matter | other.numbers) >= SAME


def contradicts(a: str, b: str) -> bool:
    """Whether two texts speak of one matter and cannot both hold: one number or name is another, or only one denies.

    Two rows of one table (`unit 7 uses 91`, `unit 8 uses 92`; `Seoul has 3 rooms`, `Busan has 4 rooms`) differ in more
    than one value: other matters.
    """
    return bool(alike(a, b)) and _disagree(_read(a), _read(b)) and not _are_rows(a, b)


def _are_rows(a: str, b: str) -> bool:
    """Whether two texts are rows of one table: more than one of their cells differs; or, in the same words, a number
    does and apart from it what it is the number of, a name or a word that stands before it."""
    from difflib import SequenceMatcher  # of the few pairs that are alike: not every search waits for it

    a, b = sorted((a, b))  # whose order makes no difference, and does to SequenceMatcher
    cells = [[" ".join(cell.split()) for cell in text.strip().strip("|").casefold().split("|")] for text in (a, b)]
    if len(cells[0]) == len(cells[1]) > 1:
        return len([cell for cell, other_cell in zip(*cells, strict=True) if cell != other_cell]) > 1
    one, other = (_TOKEN.findall(text) for text in (a, b))
    if max(len(one), len(other)) > ROW_WORDS:
        return False
    matcher = SequenceMatcher(None, [word.casefold() for word in one], [word.casefold() for word in other], False)
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    differing = [(one[i:j], other[k:m]) for _, i, j, k, m in codes]
    numbered = [all(any(map(_NUMBER.match, side)) for side in sides) for sides in differing]
    if any(code[0] != "replace" for code in codes) or numbered.count(True) != 1:
        return False
    place = numbered.index(True)
    named = [sides for sides in differing[place + 1 :] if sides[0][0][0].isupper() and sides[1][0][0].isupper()]
    return bool(place or named)


def _disagree(one: _Reading, other: _Reading) -> bool:
    if one.numbers != other.numbers:
        return len(one.numbers - other.numbers) <= 1 and len(other.numbers - one.numbers) <= 1
    return bool(one.denials) != bool(other.denials) or one.names != other.names


def repeats(a: str, b: str) -> bool:
    """Whether a text says nothing that another does not: `b` has nearly all words of `a`, every number and name of it,
    and no denial stands in one of them only. A text of three words and fewer is no repetition."""
    new, known = _read(a), _read(b)
    if len(new.words) <= 3 or len(new.words & known.words) < REPEATED * len(new.words):
        return False
    missing = new.words - known.words
    if new.denials != known.denials or not new.names <= known.names:
        return False
    return not any(c.isdigit() for word in missing for c in word)
