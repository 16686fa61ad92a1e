"""Whether cited lines say a text word for word: whole sentences of theirs, in order, function words and marks aside.

Pure. Only such a text may be called a text of its source. A text that leaves out half a sentence, turns words round or
has one word more is something else, however many words it shares: `grounding` says what can be said of it.
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

# None of them denies, counts or sets a time.
FUNCTION_WORDS = frozenset(("a", "an", "the", "is", "are", "am", "be", "that"))
OPENING_WORDS = frozenset(  # what else may be left out where a sentence opens
    ["it", "they", "we", "this", "these", "those", "there", "because", "since", "reason", "so", "we've"]
)
MAX_SENTENCES = 400  # of the cited lines

_TOKEN = lazy(r"\w+(?:['’.,:/@+-]\w+)*|~~|[<>=≠≤≥%€$£¥+?]")
_END = lazy(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n")
_LABEL = lazy(r"[^:：]{1,40}[:：]\s+|[\[【(][^\])】]{1,40}[\])】]:?\s*")
_QUOTED = lazy(r"[\"“”«„「『]")
_TAKEN_BACK = lazy(  # a label after which the words do not hold, or are only what somebody said
    r"reject|wrong|myth|false|untrue|drop|avoid|instead of|if\b|unless|withdrawn"
    r"|propos|suggest|rumou?r|\bclaim|alleg|\boption\b|\bidea|question|\bsa(?:id|ys)\b|\bask(?:s|ed)?\b|\bthinks?\b"
    r"|기각|거짓|오해|반려|아님|제안|소문|却下|誤り|提案|噂|否决|错误|建议|提议|传闻",
    re.I,
)
_MARKER = lazy(r"^\s*(?:>\s*)*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_TIME = lazy(r"^\[?(?:[01]?\d|2[0-3]):[0-5]\d(?::\d\d)?\]?\s*(?:[aApP]\.?[mM]\.?)?\s*[-–—:|]?\s+")


@dataclass(frozen=True, slots=True)
class Wording:
    """How a text and the lines it cites differ: `missing` are words of the text that the lines have not, `left_out`
    words that the text has not of the sentence it shares most with; `same`: the text stands there word for word."""

    same: bool
    missing: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What is missing, without any text of memory; "" where nothing is."""
        if self.same:
            return ""
        parts = []
        if self.missing:
            parts.append(f"{len(self.missing)} of its words are not in the lines it cites")
        if self.left_out:
            parts.append(f"{len(self.left_out)} words of theirs are left out")
        return ", ".join(parts) or "its words stand in another order there"


def wording(text: str, lines: Sequence[str], days: Iterable[date]) -> Wording:
    """Compare a text with its cited lines; `days` are those of the logs, which the text may name beside their words."""
    told = {day.isoformat() for day in days}
    cited = [sentence for line in lines for sentence in _sentences(line)][:MAX_SENTENCES]
    there = [form for sentence in cited for form in _forms(sentence)[:1]]
    known = {word for words in there for word in words}
    own = tuple(word for sentence in _sentences(text) for word in _words(sentence) if word in known or word not in told)
    if not own:
        return Wording(False)
    if _covers(own, [_forms(sentence) for sentence in cited]):
        return Wording(True)
    missing = tuple(dict.fromkeys(word for word in own if word not in known))
    nearest = max(there, key=lambda words: len(set(words) & set(own)), default=())
    shares = not set(nearest).isdisjoint(own)
    if shares:
        left_out = tuple(dict.fromkeys(word for word in nearest if word not in own))
    else:
        left_out = ()
    return Wording(False, missing, left_out)


def _covers(own: tuple[str, ...], sentences: Sequence[Sequence[tuple[str, ...]]]) -> bool:
    """Whether the words are those of some of the sentences, each whole in one of its forms, in order."""
    reached = {0}
    for forms in sentences:
        reached |= {at + len(form) for at in reached for form in forms if form and own[at : at + len(form)] == form}
    return len(own) in reached


def _sentences(line: str) -> list[str]:
    bare = _TIME.sub("", _MARKER.sub("", normalise(line)))
    return [sentence for sentence in _END.split(bare) if sentence.strip()]


def _forms(sentence: str) -> list[tuple[str, ...]]:
    """The words of a sentence, and those without its label (`Decision: ...`, `We decided: ...`) or opening word."""
    forms = [_words(sentence)]
    label = _LABEL.match(sentence)
    quoted = label and _QUOTED.match(sentence, label.end())
    if label and not quoted and not denials(label[0]) and not _TAKEN_BACK.search(label[0]):
        forms.append(_words(sentence[label.end() :]))
    for form in list(forms):
        if len(form) > 1 and form[0] in OPENING_WORDS:
            forms.append(form[1:])
    return forms


def _words(text: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    tokens = (re.sub(r"^_+|_+$", "", token) for token in _TOKEN.findall(folded))
    return tuple(token for token in tokens if token and token not in FUNCTION_WORDS)
