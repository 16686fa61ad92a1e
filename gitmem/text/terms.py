"""Turns text into index terms: splits it into words, stems English words and removes Korean particles. Pure.

Documents and questions are split by the same rules, and questions and headings have one rule for the words that say
what they are about, without stop words. `search/question.py` chooses the terms of a question that matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, groupby, pairwise

from gitmem.text import chinese, english, japanese, korean

# A word with the signs that join the parts of an identifier. Scripts are compared by code points, since a character
# class of the ideographs would cost `re` 2 ms at each start of a search.
_WORD = re.compile(r"\w+(?:(?:[.\-/:@'’]|::)\w+)*")
_PARTS = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[^\W\dA-Z_]+|[A-Z]+|\d+")
_SEPARATORS = re.compile(r"[\W_]+")
MAX_TERM_CHARACTERS = 64  # longer terms (base64, URLs) are cut
EDGES = "!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~"  # ignored at both ends of a word
MAX_CACHED_WORDS = 30_000
MAX_CACHED_TEXTS = 4_000
MAX_CACHED_TOKENS = 8_000  # the lines of a search share most of their words
# Words without a subject; letter pairs for scripts without spaces.
STOP = english.STOP_WORDS
STOP_KOREAN = korean.STOP_WORDS
STOP_PAIRS = chinese.STOP_PAIRS | japanese.STOP_PAIRS

HANGUL, HAN_KANA, OTHER, JOINT = "hangul", "han-kana", "other", "joint"


class _Terms(dict[str, tuple[str, ...]]):
    """A cache: text without white space -> its terms. A term never spans white space, and most words are repeated."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        bare = piece.strip(EDGES)
        if is_number(bare):
            return (bare[:MAX_TERM_CHARACTERS],)
        if bare != piece:
            own_terms = self[bare]
        elif piece.isascii() and piece.isalpha() and (piece.islower() or piece.istitle()):
            own_terms = (stem(piece.lower()[:MAX_TERM_CHARACTERS]),)
        else:
            own_terms = tuple(term for token, script in tokens(nfkc(piece)) for term in split_token(token, script))
        if len(piece) <= MAX_TERM_CHARACTERS:
            if len(self) >= MAX_CACHED_WORDS:
                self.clear()
            self[piece] = own_terms
        return own_terms


_known = _Terms()


def terms(text: str) -> list[str]:
    """The terms of `text` in order, with repetitions; each has letters, digits and `_` only.

    Latin words are lower-cased and stemmed. Identifiers (`POSTGRES_URL`, `v2.3.0`, `memory/notes.md`,
    `camelCase`) give themselves, lower-cased with every separator as `_`, and their parts. Runs of Hangul,
    and of Kana and Han together, give overlapping pairs, then their last character alone: so a single
    character X is found by the pairs that begin with X and by X itself.
    """
    return list(chain.from_iterable(map(_known.__getitem__, text.split())))


def latin_length(text: str) -> int:
    """The length of a text, counted in Latin letters: a Hangul syllable counts two, a Kana or Han character three."""
    return len(text) + sum(1 if letter >= "\uac00" else 2 for letter in text if letter >= "\u1100")


def is_number(word: str) -> bool:
    """Whether a word has ASCII digits only. Such words rarely repeat, so they are not cached."""
    return word.isdigit() and word.isascii()


def nfkc(text: str) -> str:
    """The text in Unicode's NFKC: full-width letters become ASCII; decomposed Hangul and half-width Kana are
    composed."""
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFKC", text)


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """(token, script) for each token of a text in NFKC: a run of Hangul (HANGUL), a run of Kana and Han (HAN_KANA), or
    a word or identifier of another script (OTHER)."""
    for word in _WORD.findall(text):
        yield from _runs(word)


def _runs(word: str) -> Iterator[tuple[str, str]]:
    """(run, script) of a word where its script changes; joining signs are dropped at the ends of runs and kept between
    two runs of OTHER."""
    if word.isascii():
        yield word, OTHER
        return
    runs = [("".join(part), script) for script, part in groupby(word, _script)]
    index = 0
    while index < len(runs):
        token, script = runs[index]
        index += 1
        if script == OTHER:
            while index + 1 < len(runs) and runs[index][1] == JOINT and runs[index + 1][1] == OTHER:
                token += runs[index][0] + runs[index + 1][0]
                index += 2
        if script != JOINT:
            yield token, script


def _script(c: str) -> str:
    """The script of a character: HANGUL, HAN_KANA, OTHER for other letters, digits and `_`, or JOINT for signs."""
    if "가" <= c <= "힣" or "ㄱ" <= c <= "ㆎ":
        return HANGUL
    if "ぁ" <= c <= "ヺ" or "一" <= c <= "鿿" or "㐀" <= c <= "䶿" or c in "ー々〆〇" or "豈" <= c <= "\ufaff":
        return HAN_KANA
    if "\U00020000" <= c <= "\U0003ffff":
        return HAN_KANA
    if c.isalnum() or c == "_":
        return OTHER
    return JOINT


def split_token(token: str, script: str) -> tuple[str, ...]:
    """The terms of one token: (token, script) is one pair that `tokens` yields. () for a token without letters and
    digits."""
    if script != OTHER:
        return (*(a + b for a, b in pairwise(token)), token[-1])
    token = token.replace("’", "'")
    if token[-2:] in ("'s", "'S"):
        token = token[:-2]
    if "'" in token:  # don't, we're, o'clock
        token = token.replace("'", "")
    if not token.isascii():
        token = without_diacritics(token)
    whole = _SEPARATORS.sub("_", token).strip("_").lower()[:MAX_TERM_CHARACTERS]
    parts = _PARTS.findall(token)
    if len(parts) <= 1:
        if not whole:
            return ()
        return (stem(whole),)
    words = [stem(part.lower()[:MAX_TERM_CHARACTERS]) for part in parts[:MAX_TERM_CHARACTERS]]
    return (whole, *words)


def other_kana(term: str) -> str:
    """A Hiragana term in Katakana, or a Katakana term in Hiragana: `リン` for `りん`.

    "" for a term of another script or of both, and for Hiragana grammar (`ます`), since in Katakana that is another
    word.
    """
    bare = term.replace("ー", "")
    if not bare or not "ぁ" <= bare[0] <= "ヶ":
        return ""
    if all("ァ" <= letter <= "ヶ" for letter in bare):
        hiragana = "".join(letter if letter == "ー" else chr(ord(letter) - _KATAKANA_OFFSET) for letter in term)
        if hiragana in japanese.GRAMMAR_PAIRS:
            return ""
        return hiragana
    if all("ぁ" <= letter <= "ゖ" for letter in bare) and term not in japanese.GRAMMAR_PAIRS:
        return "".join(letter if letter == "ー" else chr(ord(letter) + _KATAKANA_OFFSET) for letter in term)
    return ""


_KATAKANA_OFFSET = 0x60  # code point of a Katakana letter minus that of its Hiragana


def without_diacritics(text: str) -> str:
    """The text in NFKD without combining marks: `resume` for `résumé`. Not for Hangul or Kana, which stay
    decomposed."""
    import unicodedata

    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


# -- Korean --------------------------------------------------------------------------------------------------

_PARTICLES = tuple(sorted(korean.PARTICLES, key=len, reverse=True))
_LONGEST_ENDING = max(map(len, korean.ENDINGS))


def without_particle(word: str) -> str:
    """A Korean noun without its particle; the word itself if it has none, or nothing would be left."""
    ending = next((particle for particle in _PARTICLES if word.endswith(particle)), "")
    return word.removesuffix(ending) or word


def without_ending(word: str) -> str:
    """A Korean word without its particle or ending, if at least two syllables are left; else the word itself."""
    for size in range(min(_LONGEST_ENDING, len(word) - 2), 0, -1):
        if word[-size:] in korean.ENDINGS:
            return word[:-size]
    return word


# -- English -------------------------------------------------------------------------------------------------

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
    """The stem of a lower-case English word. A word of one or two letters, or with anything but ASCII letters, is
    returned unchanged."""
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
            if word.endswith(suffix) and "v" in _shape(word[: -len(suffix)]):
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
    for endings in (_STEP2, _STEP3):
        for length in (7, 6, 5, 4, 3):
            ending = endings.get(word[-length:])
            if ending is not None and len(word) > length:
                if _measure(word[:-length]) > 0:
                    word = word[:-length] + ending
                break
    for suffix in _STEP4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            if _measure(base) > 1 and (suffix != "ion" or base.endswith(("s", "t"))):
                word = base
            break
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_cvc(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _shape(word: str) -> str:
    """A lower-case word as vowels and consonants: `v` or `c` for each letter. `y` is a vowel after a consonant."""
    shape = ""
    for c in word:
        vowel = c in _VOWELS or (c == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_cvc(word: str) -> bool:
    return _shape(word[-3:]) == "cvc" and word[-1] not in "wxy"


# -- the words that say what a text is about -----------------------------------------------------------------


def terms_of_token(token: str, script: str) -> tuple[tuple[str, ...], bool]:
    """(search terms of a token, whether it is a stop word; a stop word has terms too). `token`, `script`: one pair that
    `tokens` yields. The terms are those of `split_token`, but of Hangul without its ending, and of Kana and Han only
    the `meaningful_pairs`. Cached."""
    if len(token) <= MAX_TERM_CHARACTERS:
        return _remembered_telling(token, script)
    return _telling(token, script)


def _telling(token: str, script: str) -> tuple[tuple[str, ...], bool]:
    """`terms_of_token` without its cache: (search terms of a token, whether it is a stop word). A stop word has its
    terms too. They are fewer than those of `split_token`: of Hangul without its ending, of Kana and Han as
    `meaningful_pairs`."""
    if script == HANGUL:
        word = without_ending(token)
        return tuple(a + b for a, b in pairwise(word)) or (word,), token in STOP_KOREAN
    if script == HAN_KANA:
        return meaningful_pairs(token)
    return split_token(token, script), token.lower().replace("'", "").replace("’", "") in STOP


_remembered_telling = lru_cache(maxsize=MAX_CACHED_TOKENS)(_telling)


def meaningful_pairs(token: str) -> tuple[tuple[str, ...], bool]:
    """(letter pairs of a run of Kana and Han that carry meaning, True if there are none). Pairs of Hiragana only and
    pairs of STOP_PAIRS carry none. If no other pair is left, all pairs are returned instead. A single letter counts as
    a pair."""
    pairs = [a + b for a, b in pairwise(token)] or [token]
    useful = [
        pair for pair in pairs if not all("ぁ" <= c <= "ゖ" or c == "ー" for c in pair) and pair not in STOP_PAIRS
    ]
    return tuple(useful or pairs), not useful


def telling_terms(text: str) -> frozenset[str]:
    """The search terms of a text, without those of its stop words."""
    terms_and_stops = (terms_of_token(token, script) for token, script in tokens(nfkc(text)))
    return frozenset(term for parts, stop in terms_and_stops if not stop for term in parts)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def distinct_term_count(text: str) -> int:
    """The number of different search terms of a text, read as a question; of a text with stop words only, the number of
    these."""
    telling: set[str] = set()
    dropped: set[str] = set()
    for token, script in tokens(nfkc(text)):
        parts, stop = terms_of_token(token, script)
        (dropped if stop else telling).update(parts)
    return len(telling or dropped)
