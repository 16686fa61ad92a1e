"""A text read once for comparing: its tokens, its language, its words of change, where its value part begins. Pure."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.memory.relation import chinese, english, japanese, korean
from gitmem.memory.relation.tokens import ARROW, ID, MARK, Token, tokens
from gitmem.text.denials import denials
from gitmem.text.languages import language_of

READ_TEXTS = 1 << 12  # texts whose reading is kept
BEGINNING = 5  # letters by which two forms of one Latin word are known

LANGUAGES = {"en": english, "ko": korean, "ja": japanese, "zh": chinese}
CUE_NAMES = (*english.CUES, "negation")
_PATTERNS = {
    language: [(name, part, lazy(pattern)) for name, (part, pattern) in module.CUE_PATTERNS.items()]
    for language, module in LANGUAGES.items()
}
_LENT = frozenset(("ends", "settled"))  # English cues that texts of every language have: "v2 deprecated, 완료"
_NEW_IN_NAME = lazy(r"(?<=\w )New (?=[A-Z])")  # no word of change: in New York
_WORD = lazy(r"\w+")
_TOPIC = "은는이가"  # Korean particles behind which the value stands, at the end of a word
_EASTERN_VERB = lazy(r"は|が(?![っら])|是|为|在|由|从|须|不得|监听|使用")
_NO_LETTER = lazy(r"[\W_]+")


class Reading(NamedTuple):
    """`content`: the tokens that say something. `cues`: names of the kinds of cue words in the text. `split`: the
    offset of the first mark or verb, behind which the value stands; -1 where there is none. `letters`: its
    letters and digits, in lower case. `parts`: what another text must have one of to say anything of the same."""

    text: str
    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    language: str
    cues: frozenset[str]
    split: int
    letters: str
    parts: frozenset[str]


@lru_cache(maxsize=READ_TEXTS)
def read(text: str) -> Reading:
    """The reading of a text; the last `READ_TEXTS` are kept."""
    found = tokens(text)
    language = language_of(text)
    lower = text.lower()
    content = tuple(token for token in found if token.content)
    cues = cues_of(_NEW_IN_NAME.sub("", text).lower() if "New " in text else lower, language)
    letters = _NO_LETTER.sub("", lower)
    return Reading(text, found, content, language, cues, _split(text, found, language), letters, _compared(content))


def _compared(content: tuple[Token, ...]) -> frozenset[str]:
    """The values and words of tokens, the beginnings of long Latin words, and the pairs of letters of other scripts."""
    parts: set[str] = set()
    for token in content:
        word = token.stem or token.norm
        parts |= {token.norm, word[:BEGINNING]}
        if token.kind == ID:
            parts.update(_NO_LETTER.split(token.norm))
            parts.add(f"{token.value:.6g}")
        elif not word.isascii():
            parts.update(map("".join, pairwise(word)))
    return frozenset(parts)


def _split(text: str, found: tuple[Token, ...], language: str) -> int:
    """Where the value part of a text begins: its first mark or arrow, else its first verb; -1 where it has neither."""
    mark = next((token.start for token in found if token.kind in (MARK, ARROW) and token.start > 0), -1)
    if mark >= 0:
        return mark
    places = [token.start for token in found if token.start and token.norm in english.VERBS]
    if language == "ko":
        ends = (token.end for token in found)
        places += [end - 1 for end in ends if end > 1 and text[end - 1] in _TOPIC and text[end : end + 1].isspace()]
    elif language != "en" and (verb := _EASTERN_VERB.search(text, 1)):
        places.append(verb.start())
    return min(places, default=-1)


class _Words(NamedTuple):
    """The cues of English words: of whole words, of how words begin (first three letters -> beginnings), and of phrases
    (first word -> the words behind it)."""

    whole: dict[str, set[str]]
    begun: dict[str, list[tuple[str, str]]]
    phrases: dict[str, list[tuple[list[str], str]]]


@cache
def _english_words() -> _Words:
    found = _Words({}, {}, {})
    for name, listed in english.CUES.items():
        for entry in listed.split("|"):
            first, *rest = entry.split(" ")
            if rest:
                found.phrases.setdefault(first, []).append((rest, name))
            elif first.endswith("*"):
                found.begun.setdefault(first[:3], []).append((first[:-1], name))
            else:
                found.whole.setdefault(first, set()).add(name)
    return found


@cache
def _parts(language: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The cues of a language without spaces, or with endings: what stands anywhere in a text."""
    return tuple((name, tuple(listed.split("|"))) for name, listed in LANGUAGES[language].CUES.items())


def cues_of(lower: str, language: str) -> frozenset[str]:
    found = _english_cues(lower)
    if language != "en":
        found &= _LENT
        found |= {name for name, parts in _parts(language) if any(part in lower for part in parts)}
    found |= {name for name, part, form in _PATTERNS[language] if part in lower and form.search(lower)}
    return frozenset(found | {"negation"} if denials(lower) else found)


def _english_cues(lower: str) -> set[str]:
    known, words = _english_words(), _WORD.findall(lower)
    found: set[str] = set()
    for at, word in enumerate(words, 1):
        found.update(known.whole.get(word, ()))
        found.update(name for begin, name in known.begun.get(word[:3], ()) if word.startswith(begin))
        found.update(name for rest, name in known.phrases.get(word, ()) if _follows(words[at : at + len(rest)], rest))
    return found


def _follows(words: list[str], phrase: list[str]) -> bool:
    """Whether words are those of a phrase, whose last one may be the beginning of a word."""
    if len(words) < len(phrase) or words[:-1] != phrase[:-1]:
        return False
    last = phrase[-1]
    if last.endswith("*"):
        return words[-1].startswith(last[:-1])
    return words[-1] == last
