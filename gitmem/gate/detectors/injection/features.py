"""The features of a sentence for the learned score, each hashed by CRC-32 into one of `BUCKETS` numbers.

Feature hashing: Weinberger et al., 2009. A feature is a word, a word's beginning or end, a run of two to four CJK
characters, a pair of words (adjacent, or with one word between them), a word of a neighbouring line, or a concept of
the lexicon; `word_classes.py` has the features of word classes. Deterministic, no library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from gitmem.lazy_patterns import lazy

BUCKETS = 1 << 19
NEIGHBOUR_TOKENS = 24  # nearest tokens of a neighbouring line that are features
NEIGHBOUR_CHARACTERS = 200  # nearest characters of a neighbouring line that are read
MAX_CACHED_TOKENS = 1 << 14

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_ADDRESS = lazy(
    r"(?:https?|ftp)://\S+|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w.+-]{1,64}@[\w.-]+\b"
    r"|(?<![.])\b[\w-]{1,64}(?:\.[\w-]{1,64}){0,8}\.(?:com|net|org|io|dev|example|test|ai|app|sh)\b[^\s)\"'`]*"
)
_DOTTED = lazy(r"\.(?<=[\w-]\.)\w")
ADDRESSED = "zurlz"  # the token that replaces an address
_TOKEN = lazy(rf"[{_CJK}]+|[a-zà-ɏа-я_][a-zà-ɏа-я0-9_'’]*|\d+|[^\s\w]")
_ASCII_TOKEN = lazy(r"[a-z_][a-z0-9_']*|\d+|[^\s\w]")  # the same tokens, faster, for ASCII text


def bucket(feature: str) -> int:
    """The number of the bucket into which a feature is hashed, from 0 to BUCKETS - 1."""
    return crc32(feature.encode("utf-8", "replace")) & BUCKETS - 1


def is_cjk(token: str) -> bool:
    """Whether a token begins with a Chinese, Japanese or Korean character."""
    return "\u3040" <= token[0] <= "\ud7a3"


def own_buckets(sentence: str) -> set[int]:
    """The buckets of a sentence's words, of adjacent pairs, and of pairs with one word between them. Empty for a
    sentence that has no words except addresses, because an address alone orders nothing."""
    words = tokens(sentence)
    if not any(token[0].isalpha() and token != ADDRESSED for token in words):
        return set()
    row = [_BEGIN, *map(_hashed_token, words), _END]
    sums, after, after_next, singles = zip(*row, strict=True)
    pairs = [*map(crc32, after[1:], sums), *map(crc32, after_next[2:], sums)]
    return set().union([pair & BUCKETS - 1 for pair in pairs], *singles)


def neighbour_buckets(line: str, prefix: str) -> set[int]:
    """The buckets of the NEIGHBOUR_TOKENS nearest tokens of the line before (prefix "p:") or after ("n:") a
    sentence."""
    near = tokens(line)
    near = near[-NEIGHBOUR_TOKENS:] if prefix == "p:" else near[:NEIGHBOUR_TOKENS]
    buckets: set[int] = set()
    for token in near:
        if is_cjk(token):
            buckets.update([bucket(f"{prefix}{first}{second}") for first, second in pairwise(token)])
        elif len(token) > 1 or not token.isalnum():
            buckets.add(bucket(prefix + token))
    return buckets


def concept_buckets(names: Iterable[str]) -> list[int]:
    """The buckets of the concepts with these names, and of each pair of them."""
    ordered = sorted(names)
    single = [bucket(f"={name}") for name in ordered]
    return single + [bucket(f"={name}+{other}") for i, name in enumerate(ordered) for other in ordered[i + 1 :]]


def tokens(text: str) -> list[str]:
    """The words, numbers, signs and CJK runs of folded text; an address becomes the token ADDRESSED."""
    if _may_address(text):
        text = " ".join([_ADDRESS.sub(f" {ADDRESSED} ", part) if _may_address(part) else part for part in text.split()])
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def _may_address(text: str) -> bool:
    """Whether a text may contain an address: a fast test that is true for every text with one."""
    return "@" in text or "://" in text or ("." in text and _DOTTED.search(text) is not None)


class _HashedToken(NamedTuple):
    """A token prepared for hashing. `sum`: CRC-32 of its word in a pair. `after`, `after_next`: the word's bytes behind
    one space and two, for an adjacent pair and one with a word between. `single`: buckets of the token alone."""

    sum: int
    after: bytes
    after_next: bytes
    single: tuple[int, ...]


def _hashed(word: str, single: Iterable[str] = ()) -> _HashedToken:
    data = word.encode("utf-8", "replace")
    return _HashedToken(crc32(data), b" " + data, b"  " + data, tuple(map(bucket, single)))


@lru_cache(maxsize=MAX_CACHED_TOKENS)
def _hashed_token(token: str) -> _HashedToken:
    """A token with its features: a CJK token stands in pairs for its last two characters, which are its grammatical
    ending; a number stands as "#"; a long word has its beginning and end as features of their own."""
    if is_cjk(token):
        word = token if len(token) <= 3 else token[-2:]
        return _hashed(word, [*_runs(token), word])
    if token[0].isdigit():
        return _hashed("#", ["#"])
    if len(token) > 5:
        return _hashed(token, [token, "g" + token[:5], "e" + token[-4:]])
    return _hashed(token, [token])


_BEGIN, _END = _hashed("^"), _hashed("$")


def _runs(token: str) -> Iterator[str]:
    """The features of a CJK token: its runs of two, three and four characters after the letter x, y or z; for a single
    character "x" and the token itself."""
    if len(token) == 1:
        yield "x" + token
    for letter, size in (("x", 2), ("y", 3), ("z", 4)):
        for start in range(len(token) - size + 1):
            yield letter + token[start : start + size]
