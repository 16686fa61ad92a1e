"""What a sentence consists of, for the learned score: features, each hashed by CRC-32 into one of `BUCKETS` numbers.

Feature hashing: Weinberger et al., 2009. A feature is a word, a word's beginning or end, a run of two to four CJK
characters, two words in a row or with one between them, a word of a neighbouring line or a concept of the lexicon;
`word_classes.py` has those of classes of words. Deterministic, no library.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from gitmem.lazy_patterns import lazy

BUCKETS = 1 << 19
NEIGHBOURS = 24  # tokens of a neighbouring line that count
NEIGHBOUR_CHARACTERS = 200  # characters of it that are looked at
MAX_CACHED_TOKENS = 1 << 14  # tokens remembered

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_ADDRESS = lazy(
    r"(?:https?|ftp)://\S+|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w.+-]{1,64}@[\w.-]+\b"
    r"|(?<![.])\b[\w-]{1,64}(?:\.[\w-]{1,64}){0,8}\.(?:com|net|org|io|dev|example|test|ai|app|sh)\b[^\s)\"'`]*"
)
_DOTTED = lazy(r"\.(?<=[\w-]\.)\w")
ADDRESSED = "zurlz"  # stands for an address
_TOKEN = lazy(rf"[{_CJK}]+|[a-zà-ɏа-я_][a-zà-ɏа-я0-9_'’]*|\d+|[^\s\w]")
_ASCII_TOKEN = lazy(r"[a-z_][a-z0-9_']*|\d+|[^\s\w]")  # the same in a text that is ASCII


def bucket(feature: str) -> int:
    """The bucket of a feature."""
    return crc32(feature.encode("utf-8", "replace")) & BUCKETS - 1


def is_cjk(token: str) -> bool:
    """Whether a token begins with a character of Chinese, Japanese or Korean."""
    return "\u3040" <= token[0] <= "\ud7a3"


def own_buckets(sentence: str) -> set[int]:
    """The buckets of a sentence's own words: each, each two in a row and each two with one between them.

    None where it has no word but addresses: where something is says nothing of what to do with it.
    """
    words = tokens(sentence)
    if not _has_word(words):
        return set()
    row = [_BEGIN, *map(_token, words), _END]
    sums, after, after_next, singles = zip(*row, strict=True)
    pairs = [*map(crc32, after[1:], sums), *map(crc32, after_next[2:], sums)]
    return set().union([pair & BUCKETS - 1 for pair in pairs], *singles)


def _has_word(words: list[str]) -> bool:
    return any(token[0].isalpha() and token != ADDRESSED for token in words)


def neighbour_buckets(line: str, prefix: str) -> set[int]:
    """The buckets of the line before ("p:") or after ("n:") a sentence: those of its nearest tokens."""
    near = tokens(line)
    if prefix == "p:":
        near = near[-NEIGHBOURS:]
    else:
        near = near[:NEIGHBOURS]
    buckets: set[int] = set()
    for token in near:
        if is_cjk(token):
            buckets.update([bucket(f"{prefix}{one}{other}") for one, other in pairwise(token)])
        elif len(token) > 1 or not token.isalnum():
            buckets.add(bucket(prefix + token))
    return buckets


def concept_buckets(names: Collection[str]) -> list[int]:
    """The buckets of concepts and of each two of them."""
    ordered = sorted(names)
    single = [bucket(f"={name}") for name in ordered]
    return single + [bucket(f"={name}+{other}") for i, name in enumerate(ordered) for other in ordered[i + 1 :]]


def tokens(text: str) -> list[str]:
    """The words, numbers, single signs and CJK runs of folded text, in order. The word ADDRESSED replaces each URL, domain,
    IP address and e-mail address."""
    if _may_address(text):
        text = " ".join([_ADDRESS.sub(f" {ADDRESSED} ", part) if _may_address(part) else part for part in text.split()])
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def _may_address(text: str) -> bool:
    """Whether a text has a part that each address has, in which no space is."""
    return "@" in text or "://" in text or ("." in text and _DOTTED.search(text) is not None)


class _Joined(NamedTuple):
    """A token as it stands beside others: its checksum, what its bytes are after one space and after two, and the
    buckets that it has by itself."""

    sum: int
    after: bytes
    after_next: bytes
    single: tuple[int, ...]


def _joined(word: str, single: Iterable[str] = ()) -> _Joined:
    data = word.encode("utf-8", "replace")
    return _Joined(crc32(data), b" " + data, b"  " + data, tuple(map(bucket, single)))


@lru_cache(maxsize=MAX_CACHED_TOKENS)
def _token(token: str) -> _Joined:
    """A token beside others."""
    if is_cjk(token):
        # its ending says what it does in the sentence
        if len(token) <= 3:
            word = token
        else:
            word = token[-2:]
        single = [*_runs(token), word]
    elif token[0].isdigit():
        word = "#"
        single = [word]
    else:
        word = token
        if len(token) > 5:
            single = [word, "g" + token[:5], "e" + token[-4:]]
        else:
            single = [word]
    return _joined(word, single)


_BEGIN, _END = _joined("^"), _joined("$")


def _runs(token: str) -> Iterator[str]:
    if len(token) == 1:
        yield "x" + token
    for letter, size in (("x", 2), ("y", 3), ("z", 4)):
        for start in range(len(token) - size + 1):
            yield letter + token[start : start + size]
