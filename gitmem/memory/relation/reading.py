"""A text read once for comparing: its tokens, its language, its words of change, where its value part begins. Pure."""

from __future__ import annotations

from functools import lru_cache

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.memory.relation import chinese, english, japanese, korean
from gitmem.memory.relation.tokens import ARROW, MARK, Token, tokens

READ_TEXTS = 1 << 12  # texts whose reading is kept

LANGUAGES = {"en": english, "ko": korean, "ja": japanese, "zh": chinese}
CUE_NAMES = tuple(english.CUES)
_CUES = {
    language: {name: lazy(pattern) for name, pattern in module.CUES.items()} for language, module in LANGUAGES.items()
}
_LENT = ("ends", "settled")  # English cues that are looked for in texts of every language: "v2 deprecated, 완료"
_SCRIPTS = {"ko": lazy("[가-힣]"), "ja": lazy("[ぁ-んァ-ヴ]"), "zh": lazy("[一-鿿]")}
_COPULA = lazy(
    r"\b(?:is|are|was|were|has|have|uses?|runs?|listens?|lives?|returns?|keeps?|costs?|takes?|meets?|starts?|begins?|ends?|opens?"
    r"|closes?|serves?|belongs?|equals?|goes|lasts?|accepts?|holds?|works?|sits?|plays?|likes?|prefers?|speaks?|drinks?|eats?"
    r"|represents?|handles?|contains?|may|must|will|can|should|do(?:es)?)\b"
    r"|(?<=[가-힣])(?:은|는|이|가)(?=\s)|は|が(?![っら])|是|为|在|由|从|须|不得|监听|使用"
)
_NO_LETTER = lazy(r"[\W_]+")


class Reading(NamedTuple):
    """`content`: the tokens that say something. `cues`: names of the kinds of cue words in the text. `split`: the
    offset of the first mark or verb, behind which the value stands; -1 where there is none. `letters`: its
    letters and digits, in lower case."""

    text: str
    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    language: str
    cues: frozenset[str]
    split: int
    letters: str


def language_of(text: str) -> str:
    """The language whose words are looked for in a text, by its script."""
    return next((name for name, script in _SCRIPTS.items() if script.search(text)), "en")


@lru_cache(maxsize=READ_TEXTS)
def read(text: str) -> Reading:
    """The reading of a text; the last `READ_TEXTS` are kept."""
    found = tokens(text)
    language = language_of(text)
    lower = text.lower()
    cues = {name for name, pattern in _CUES[language].items() if pattern.search(lower)}
    if language != "en":
        cues |= {name for name in _LENT if _CUES["en"][name].search(lower)}
    split = next((token.start for token in found if token.kind in (MARK, ARROW) and token.start > 0), -1)
    if split < 0 and (verb := _COPULA.search(text, 1)):
        split = verb.start()
    content = tuple(token for token in found if token.content)
    return Reading(text, found, content, language, frozenset(cues), split, _NO_LETTER.sub("", lower))
