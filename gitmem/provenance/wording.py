"""Checks whether a text repeats whole sentences of its cited lines word for word, in order. Pure.

Function words and punctuation do not count. A text that leaves out half a sentence, changes the order of words or adds
one is not word for word, however many words it shares; `grounding` decides what else can be said of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import normalise
from gitmem.text.denials import denials

FUNCTION_WORDS = frozenset(("a", "an", "the", "is", "are", "am", "be", "that"))  # ignored everywhere
OPENING_WORDS = frozenset(  # words that a text may leave out at the beginning of a sentence
    ["it", "they", "we", "this", "these", "those", "there", "because", "since", "reason", "so", "we've"]
)
MAX_SENTENCES = 400  # sentences of the cited lines that are compared

_TOKEN = lazy(r"\w+(?:['’.,:/@+-]\w+)*|~~|[<>=≠≤≥%€$£¥+?]")
_END = lazy(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n")
_LABEL = lazy(r"[^:：]{1,40}[:：]\s+|[\[【(][^\])】]{1,40}[\])】]:?\s*")
_QUOTED = lazy(r"[\"“”«„「『]")
_DOUBTFUL_LABEL = lazy(  # words of a label that say that the sentence is not true, or only somebody's opinion
    r"reject|wrong|myth|false|untrue|drop|avoid|instead of|if\b|unless|withdrawn"
    r"|propos|suggest|rumou?r|\bclaim|alleg|\boption\b|\bidea|question|\bsa(?:id|ys)\b|\bask(?:s|ed)?\b|\bthinks?\b"
    r"|기각|거짓|오해|반려|아님|제안|소문|却下|誤り|提案|噂|否决|错误|建议|提议|传闻",
    re.I,
)
_MARKER = lazy(r"^\s*(?:>\s*)*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_TIME = lazy(r"^\[?(?:[01]?\d|2[0-3]):[0-5]\d(?::\d\d)?\]?\s*(?:[aApP]\.?[mM]\.?)?\s*[-–—:|]?\s+")


@dataclass(frozen=True, slots=True)
class Wording:
    """The difference between a text and the lines that it cites.

    `same`: whether the text repeats whole sentences of the lines word for word. `missing`: words of the text that the
    lines lack. `left_out`: words that the text lacks, of the sentence that shares most words with it.
    """

    same: bool
    missing: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The difference as a phrase that holds no text of memory; "" when there is none."""
        if self.same:
            return ""
        parts = []
        if self.missing:
            parts.append(f"{len(self.missing)} of its words are not in the lines it cites")
        if self.left_out:
            parts.append(f"{len(self.left_out)} words of theirs are left out")
        return ", ".join(parts) or "its words stand in another order there"


def wording(text: str, lines: Sequence[str], days: Iterable[date]) -> Wording:
    """Compare a text with its cited lines; a text without words is never the same. `days`: the days of their logs,
    which the text may add as ISO dates. Only the first MAX_SENTENCES sentences of the lines are compared."""
    dates = {day.isoformat() for day in days}
    cited = [_forms(sentence) for line in lines for sentence in _sentences(line)][:MAX_SENTENCES]
    whole_sentences = [forms[0] for forms in cited]
    cited_words = {word for words in whole_sentences for word in words}
    text_words = tuple(word for sentence in _sentences(text) for word in _words(sentence))
    text_words = tuple(word for word in text_words if word in cited_words or word not in dates)
    if not text_words:
        return Wording(False)
    if _is_whole_sentences(text_words, cited):
        return Wording(True)
    missing = tuple(dict.fromkeys(word for word in text_words if word not in cited_words))
    nearest = max(whole_sentences, key=lambda words: len(set(words) & set(text_words)), default=())
    left_out: tuple[str, ...] = ()
    if not set(nearest).isdisjoint(text_words):
        left_out = tuple(dict.fromkeys(word for word in nearest if word not in text_words))
    return Wording(False, missing, left_out)


def _is_whole_sentences(text_words: tuple[str, ...], sentences: Sequence[Sequence[tuple[str, ...]]]) -> bool:
    """Whether the words are a sequence of whole sentences, in order. A sentence may be left out, and each may have any
    of its forms (`_forms`)."""
    reached = {0}  # numbers of words that the sentences so far can cover
    for forms in sentences:
        for start in sorted(reached):
            for form in filter(None, forms):
                end = start + len(form)
                if text_words[start:end] == form:
                    reached.add(end)
    return len(text_words) in reached


def _sentences(line: str) -> list[str]:
    """The sentences of a line without list marker and time."""
    bare = _TIME.sub("", _MARKER.sub("", normalise(line)))
    return [sentence for sentence in _END.split(bare) if sentence.strip()]


def _forms(sentence: str) -> list[tuple[str, ...]]:
    """The words of a sentence, whole and without a label such as `We decided:`, each also without an opening word."""
    forms = [_words(sentence)]
    label = _LABEL.match(sentence)
    quoted = label and _QUOTED.match(sentence, label.end())
    if label and not quoted and not denials(label[0]) and not _DOUBTFUL_LABEL.search(label[0]):
        forms.append(_words(sentence[label.end() :]))
    for form in list(forms):
        if len(form) > 1 and form[0] in OPENING_WORDS:
            forms.append(form[1:])
    return forms


def _words(text: str) -> tuple[str, ...]:
    """The words of a text, case-folded, without FUNCTION_WORDS."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    tokens = (re.sub(r"^_+|_+$", "", token) for token in _TOKEN.findall(folded))
    return tuple(token for token in tokens if token and token not in FUNCTION_WORDS)
