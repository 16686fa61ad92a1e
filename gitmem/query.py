"""Words: how text becomes the terms of the index.

Pure. The same rules cut documents and questions, so that what is written one way is found the other way.
`question.py` says which terms of a question matter. Never sees a file or an index.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

HANGUL = "가-힣ㄱ-ㆎ"
HAN_KANA = "々〆〇ぁ-ゖァ-ヺー㐀-䶿一-鿿豈-﫿\U00020000-\U0002fa1d\U00030000-\U0003134a"
TOKEN = re.compile(
    rf"(?P<hangul>[{HANGUL}]+)|(?P<cj>[{HAN_KANA}]+)"
    rf"|[^\W_{HANGUL}{HAN_KANA}]+(?:[^\W{HANGUL}{HAN_KANA}]|(?:[.\-/:@'’]|::)(?=[^\W{HANGUL}{HAN_KANA}]))*"
    rf"|_[^\W{HANGUL}{HAN_KANA}]+"
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[^\W\dA-Z_]+|[A-Z]+|\d+")
_SEPARATORS = re.compile(r"[\W_]+")
LONGEST = 64  # characters of a term; what is longer (base64, URLs) is cut there

_known: dict[str, tuple[str, ...]] = {}


def terms(text: str) -> list[str]:
    """The terms of `text` in order, as often as they occur; each is letters, digits and `_` only.

    Latin words are lower-cased and stemmed. Identifiers (`POSTGRES_URL`, `v2.3.0`, `memory/notes.md`,
    `camelCase`) give themselves, lower-cased with every separator as `_`, and their parts. Runs of Hangul,
    and of Kana and Han together, give overlapping pairs, then their last character alone: so a single
    character X is found by the pairs that begin with X and by X itself.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    found: list[str] = []
    for match in TOKEN.finditer(text):
        token = match[0]
        known = _known.get(token)
        if known is None:
            if len(_known) > 200_000:
                _known.clear()
            known = _known[token] = cut(token, match.lastgroup)
        found += known
    return found


def cut(token: str, script: str | None) -> tuple[str, ...]:
    """The terms of one match of `TOKEN`, whose group says its script: None for everything but `hangul` and `cj`."""
    if script is not None:
        return (*(a + b for a, b in pairwise(token)), token[-1])
    token = token.replace("’", "'")
    if token[-2:] in ("'s", "'S"):
        token = token[:-2]
    if "'" in token:  # don't, we're, o'clock
        token = token.replace("'", "")
    token = fold(token) if not token.isascii() else token
    whole = _SEPARATORS.sub("_", token).strip("_").lower()[:LONGEST]
    parts = _PARTS.findall(token)
    if len(parts) <= 1:
        return (stem(whole),) if whole else ()
    words = [stem(part.lower()[:LONGEST]) for part in parts[:LONGEST]]
    return (whole, *words)


def fold(text: str) -> str:
    """Without diacritics: `résumé` as `resume`."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


# The stemmer: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with -y kept after a
# first consonant (sky, by) and irregular plurals left alone.
_VOWELS = frozenset("aeiou")
_STEP2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
    "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
    "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "ion", "al", "er", "ic", "ou",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a lower-case English word; anything else comes back as it is."""
    if len(word) <= 2 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("s"):
        if word.endswith("sses") or word.endswith("ies"):
            word = word[:-2]
        elif not word.endswith("ss") and not word.endswith("us"):
            word = word[:-1]
    if word.endswith("eed"):
        if _measure(word[:-3]) > 0:
            word = word[:-1]
    else:
        for suffix in ("ed", "ing"):
            if word.endswith(suffix) and _has_vowel(word[: -len(suffix)]):
                word = word[: -len(suffix)]
                if word.endswith(("at", "bl", "iz")):
                    word += "e"
                elif len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
                    word = word[:-1]
                elif _measure(word) == 1 and _ends_cvc(word):
                    word += "e"
                break
    if word.endswith("y") and len(word) > 2 and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    for length in (7, 6, 5, 4, 3):
        ending = _STEP2.get(word[-length:])
        if ending is not None and len(word) > length:
            if _measure(word[:-length]) > 0:
                word = word[:-length] + ending
            break
    for length in (5, 4, 3):
        ending = _STEP3.get(word[-length:])
        if ending is not None and len(word) > length:
            if _measure(word[:-length]) > 0:
                word = word[:-length] + ending
            break
    for suffix in _STEP4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t"))):
                word = rest
            break
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_cvc(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _shape(word: str) -> str:
    shape = ""
    for c in word:
        vowel = c in _VOWELS or (c == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _ends_cvc(word: str) -> bool:
    return _shape(word[-3:]) == "cvc" and word[-1] not in "wxy"
