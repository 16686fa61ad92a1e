"""Whether memory has anything to say to a prompt: how much of the prompt a piece of memory takes up. Pure.

The evidence of a text is the number of the prompt's telling words that stand in it, times the cosine of the two: a
word alone may be chance, and nearness alone may be a manner of speaking. A word tells as much as its vector is long,
up to that of an ordinary noun, since frequent words have short vectors (`static_embedder`). Neither part depends on how
large a memory is, nor on what else is in it, so that the same prompt and fact give the same figure everywhere.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from gitmem.config import Config
from gitmem.errors import ModelUnavailable
from gitmem.index.terms import terms, without_ending
from gitmem.models.wordpiece import words
from gitmem.search.question import STOP, STOP_KOREAN, parse

# The length from which a word tells as much as any, in the table's unit: that of `account` (127,000) and `customer`
# (138,000). `write` and `show` have .65 of it, `the` .17.
NOUN = 130_000
# What is said to an agent between one request and the next, and of no subject.
COURTESY = frozenset(
    "thanks thank thx ok okay yes yep yeah sure please hello hi hey bye morning good great nice fine cool perfect "  # noqa: SIM905
    "sounds continue go ahead next again done right 네 응 예 아니 고마워 고마워요 감사 감사해요 감사합니다 안녕 "
    "안녕하세요 좋아 좋아요 계속 계속해줘 알겠어 ㅇㅋ はい ありがとう どうも 谢谢 謝謝 好的 你好".split()
)
EXACT = 2.0  # an identifier of the prompt is as good as two words: it is seldom there by chance
# Evidence from which memory answers a prompt at all: a word and a half of it in a passage that is a third like it, or
# more of one and less of the other. Set on bench/recall's en-backend, en-data and ko-backend; `python -m bench recall`
# has the other hands.
ENOUGH: float = Config._field_defaults["context_evidence"]
FEW = 1.5  # telling words; a prompt with fewer asks by all it has
STRONG = 2 * ENOUGH  # ... from which it is worth interrupting a session that goes on


class Table(Protocol):
    """What the static embedder knows of words and texts."""

    def length(self, word: str) -> float: ...

    def embed_query(self, text: str) -> bytes: ...


class WeightedWord(NamedTuple):
    """A word of a prompt: its terms and how much it tells, 0..1 (0 for courtesy, `EXACT` for an identifier)."""

    terms: tuple[str, ...]
    weight: float


class Prompt(NamedTuple):
    """A prompt as evidence is counted: its telling words, the vector of their text, None without a table."""

    words: tuple[WeightedWord, ...]
    vector: Sequence[float] | None
    table: Table | None


def table_of_words() -> Table | None:
    """The table that ships in the package; None where it is missing or damaged."""
    from gitmem.models.static_embedder import shared

    try:
        return shared()
    except ModelUnavailable:
        return None


def prompt_of(text: str, table: Table | None) -> Prompt:
    """The telling words of any text; none for one that only thanks or agrees."""
    from datetime import date

    question = parse(text, date.min)
    weighted: list[WeightedWord] = [WeightedWord((term,), EXACT) for term in sorted(question.exact)]
    for word in dict.fromkeys(words(question.content)):
        if word in STOP or not STOP_KOREAN.isdisjoint((word, without_ending(word))):
            continue
        if word in COURTESY:
            weighted.append(WeightedWord((word,), 0.0))
            continue
        own = tuple(term for term in terms(without_ending(word)) if len(term) > 1) or tuple(terms(word))
        if own and not question.exact.intersection(own):
            length = table.length(word) if table is not None else 0.0
            # A word the table does not know is no frequent one.
            weighted.append(WeightedWord(own, min(1.0, length / NOUN) if length else 1.0))
    return Prompt(tuple(weighted), _vector(question.content, table), table)


def evidence(prompt: Prompt, text: str) -> float:
    """How much of the prompt a text takes up, 0 for nothing; without a table the share of the prompt's words."""
    there = frozenset(terms(text))
    shared = sum(word.weight for word in prompt.words if 2 * len(there.intersection(word.terms)) > len(word.terms))
    if not shared:
        return 0.0
    total = sum(word.weight for word in prompt.words)
    if prompt.table is None or prompt.vector is None:
        return shared / total
    other = _vector(text, prompt.table)
    return shared / min(1.0, total / FEW) * max(0.0, sum(map(float.__mul__, prompt.vector, other or ())))


def _vector(text: str, table: Table | None) -> list[float] | None:
    """The text's vector, of length 1 or 0; None without a table."""
    if table is None:
        return None
    numbers = array("f")
    numbers.frombytes(table.embed_query(text))
    return numbers.tolist()
