"""Read a text for comparison: its tokens, its language, its cue words, and where its value begins. Pure; cached."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.memory.relation import chinese, english, japanese, korean
from gitmem.memory.relation.amounts import NUMBER_WORDS
from gitmem.memory.relation.tokens import ARROW, ID, MARK, Token, tokens
from gitmem.text.denials import denials
from gitmem.text.languages import language_of

MAX_CACHED_TEXTS = 1 << 12
PREFIX_LETTERS = 5  # two forms of one Latin word have the same first letters

LANGUAGES = {"en": english, "ko": korean, "ja": japanese, "zh": chinese}
CUE_NAMES = (*english.CUES, "negation")
_PATTERNS = {
    language: [(name, part, lazy(pattern)) for name, (part, pattern) in module.CUE_PATTERNS.items()]
    for language, module in LANGUAGES.items()
}
_LENT = frozenset(("ends", "settled"))  # English cues that count in texts of every language: "v2 deprecated, 완료"
_NEW_IN_NAME = lazy(r"(?<=\w )New (?=[A-Z])")  # part of a name (in New York), not a word of change
_NO_ENDS = {language: lazy(module.NO_END) for language, module in LANGUAGES.items()}
_WORD = lazy(r"\w+")
_TOPIC = "은는이가"  # Korean particles at the end of a word, after which the value stands
_EASTERN_VERB = lazy(r"は|が(?![っら])|是|为|在|由|从|须|不得|监听|使用")
# The noun before a number of people or things, with its particle: 회원은 12명, 会員は12名.
_COUNTED = lazy(
    r"[^\W\d]{1,6}\s*(?=(?:\d[\d,]*|[가-힣]{1,4}\s|[一二三四五六七八九十百千]+)\s*(?:명|곳|개|건|대|가지|마리|名|人|社|件|個|个|位|家|台)(?!월))"
)
_NO_LETTER = lazy(r"[\W_]+")


class Reading(NamedTuple):
    """A text, prepared for comparison.

    `tokens`: all tokens. `content`: those without stop words and marks. `language`: "en", "ko", "ja" or "zh". `cues`:
    the kinds of cue words in the text, without those of what is no end (`NO_END`). `no_end`: whether it says that
    something is not over: that it stood still for a length of time, or that its end is denied. `split`: the offset of
    the first mark or verb, after which the value is expected; -1 without one. `letters`: its letters and digits in
    lower case. `parts`: words, prefixes and letter pairs; two texts of one language without a common part have nothing
    in common.
    """

    text: str
    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    language: str
    cues: frozenset[str]
    no_end: bool
    split: int
    letters: str
    parts: frozenset[str]


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def read(text: str) -> Reading:
    """The tokens, language and cue words of a text, prepared for comparison. The result is cached."""
    all_tokens = tokens(text)
    language = language_of(text)
    lower = text.lower()
    content = tuple(token for token in all_tokens if token.content)
    plain = _NEW_IN_NAME.sub("", text).lower() if "New " in text else lower
    plain, denied = _NO_ENDS[language].subn("", plain)
    cues = cues_of(plain, language)
    letters = _NO_LETTER.sub("", lower)
    split = _split(text, all_tokens, language)
    return Reading(text, all_tokens, content, language, cues, denied > 0, split, letters, _parts_of(content))


def _parts_of(content: tuple[Token, ...]) -> frozenset[str]:
    """`Reading.parts`: values, words, prefixes of words, and letter pairs of words in other scripts than Latin."""
    parts: set[str] = set()
    for token in content:
        word = token.stem or token.norm
        parts |= {token.norm, word[:PREFIX_LETTERS]}
        if token.kind == ID:
            parts.update(_NO_LETTER.split(token.norm))
            parts.add(f"{token.value:.12g}")
        elif not word.isascii():
            parts.update(map("".join, pairwise(word)))
    return frozenset(parts)


def _split(text: str, all_tokens: tuple[Token, ...], language: str) -> int:
    """The offset of the first mark or arrow of a text, else of its first verb or Korean topic particle; -1 without
    any."""
    mark = next((token.start for token in all_tokens if token.kind in (MARK, ARROW) and token.start > 0), -1)
    if mark >= 0:
        return mark
    places = [token.start for token in all_tokens if token.start and token.norm in english.VERBS]
    if language == "ko":
        ends = (token.end for token in all_tokens)
        places += [end - 1 for end in ends if end > 1 and text[end - 1] in _TOPIC and text[end : end + 1].isspace()]
    elif language != "en" and (verb := _EASTERN_VERB.search(text, 1)):
        places.append(verb.start())
    return min(places, default=-1)


class _Words(NamedTuple):
    """The English cues. `whole`: word -> cues. `begun`: first three letters -> (prefix, cue). `phrases`: first word ->
    (following words, cue)."""

    whole: dict[str, set[str]]
    begun: dict[str, list[tuple[str, str]]]
    phrases: dict[str, list[tuple[list[str], str]]]


@cache
def _english_words() -> _Words:
    """The English cues by form: whole words, beginnings of words, and phrases by their first word."""
    words = _Words({}, {}, {})
    for name, entries in english.CUES.items():
        for entry in entries:
            first_word, *following = entry.split(" ")
            if following:
                words.phrases.setdefault(first_word, []).append((following, name))
            elif first_word.endswith("*"):
                words.begun.setdefault(first_word[:3], []).append((first_word[:-1], name))
            else:
                words.whole.setdefault(first_word, set()).add(name)
    return words


def cues_of(lower: str, language: str) -> frozenset[str]:
    """The kinds of cue words ("change", "ends", "negation", ...) in a text. `lower`: the text in lower case.
    `language`: "en", "ko", "ja" or "zh"."""
    cues = _english_cues(lower)
    if language != "en":
        cues &= _LENT
        words = LANGUAGES[language].CUES
        cues |= {name for name, parts in words.items() if any(part in lower for part in parts)}
        if "many" in cues and not any(part in _COUNTED.sub("", lower) for part in words["many"]):
            cues.remove("many")  # "회원은 13명": their number is one value
    cues |= {name for name, part, form in _PATTERNS[language] if part in lower and form.search(lower)}
    if denials(lower):
        cues.add("negation")
    return frozenset(cues)


def _english_cues(lower: str) -> set[str]:
    """The names of the cues in a lower-case text."""
    forms, words = _english_words(), _WORD.findall(lower)
    cues: set[str] = set()
    for end, word in enumerate(words, 1):
        word_cues = {*forms.whole.get(word, ())}
        word_cues.update(name for begin, name in forms.begun.get(word[:3], ()) if word.startswith(begin))
        if end > 1 and (words[end - 2].isdecimal() or words[end - 2] in NUMBER_WORDS):
            word_cues.discard("many")  # "13 members": their number is one value
        cues |= word_cues
        cues.update(name for tail, name in forms.phrases.get(word, ()) if _follows(words[end : end + len(tail)], tail))
    return cues


def _follows(words: list[str], phrase: list[str]) -> bool:
    """Whether words equal those of a phrase; its last one may be a prefix (`switch*`)."""
    if len(words) < len(phrase) or words[:-1] != phrase[:-1]:
        return False
    last_word = phrase[-1]
    if last_word.endswith("*"):
        return words[-1].startswith(last_word[:-1])
    return words[-1] == last_word
