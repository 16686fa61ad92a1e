"""Makes the rows of the table `posting` from the words of chunks: keyed word -> its packed occurrences.

An occurrence is chunk << PLACE_BITS | position << 1 | is_in_heading, 64 bits little-endian.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gitmem.index.db.values import PLACE_BITS
from gitmem.server.keys import Keys

CODE = "<i8"


class Words(NamedTuple):
    """The words of one chunk, those of its headings and those of its lines, separated by spaces (`ChunkRow`)."""

    chunk: int
    heading: str
    body: str


class Posting(NamedTuple):
    """The occurrences of one word. `term`: the keyed hash of the word. `chunks`: number of chunks with it. `rows`: its
    packed occurrences, 8 bytes each."""

    term: int
    chunks: int
    rows: bytes


class _Numbers(dict[str, int]):
    """Word -> its number, in the order of first use."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def postings(chunks: Iterable[Words], keys: Keys) -> list[Posting]:
    """The occurrences of each word of these chunks, ascending by keyed hash of the word; [] if the chunks have no
    words.

    A word that does not begin with an ASCII character has its occurrences under its first character too, because a
    query may be a single character of Hangul, Kana or Han.
    """
    words = _Numbers()
    ids, lengths, bases = array("i"), array("i"), array("q")
    for chunk, *texts in chunks:
        for heading, text in zip((1, 0), texts, strict=True):
            some = text.split()
            ids.extend(map(words.__getitem__, some))
            lengths.append(len(some))
            bases.append(chunk << PLACE_BITS | heading)
    if not ids:
        return []
    counts = np.frombuffer(lengths, dtype=np.int32)
    places = np.arange(len(ids), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    occurrences = np.repeat(np.frombuffer(bases, dtype=np.int64), counts) + (places << 1)
    initials = _Numbers()
    initial_of_word = np.array([-1 if word[0].isascii() else initials[word[0]] for word in words], dtype=np.int32)
    terms = [*map(keys.term, words), *map(keys.beginning, initials)]
    word_numbers = np.frombuffer(ids, dtype=np.int32)
    initial_numbers = initial_of_word[word_numbers]
    has_initial = initial_numbers >= 0
    numbers = np.concatenate([word_numbers, initial_numbers[has_initial] + len(words)])
    return _grouped(np.array(terms, dtype=np.int64), numbers, np.concatenate([occurrences, occurrences[has_initial]]))


def _grouped(
    terms: np.ndarray[Any, Any], numbers: np.ndarray[Any, Any], occurrences: np.ndarray[Any, Any]
) -> list[Posting]:
    """The postings of `occurrences`. `numbers`: for each occurrence the index of its word in `terms`; each word has at
    least one."""
    # NumPy sorts 16-bit integers by radix, which is faster.
    order = np.argsort(numbers.astype(np.uint16) if len(terms) < 1 << 16 else numbers, kind="stable")
    sizes = np.bincount(numbers, minlength=len(terms))
    ends = np.cumsum(sizes)
    starts = ends - sizes
    ordered = occurrences[order]
    chunks = _distinct(ordered >> PLACE_BITS, starts)
    data = ordered.astype(CODE, copy=False).tobytes()
    return [
        Posting(int(terms[index]), int(chunks[index]), data[8 * starts[index] : 8 * ends[index]])
        for index in np.argsort(terms).tolist()
    ]


def without(rows: Sequence[tuple[int, bytes]], gone: Collection[int]) -> list[Posting]:
    """The postings of a segment that change when the chunks `gone` are removed, as they are then. `rows`: (keyed hash
    of the word, packed occurrences) of the segment. The `rows` of a result are b"" if nothing is left."""
    if not rows or not gone:
        return []
    occurrences = np.frombuffer(b"".join(packed for _, packed in rows), dtype=CODE)
    dropped = np.isin(occurrences >> PLACE_BITS, np.fromiter(gone, dtype=np.int64, count=len(gone)))
    sizes = np.array([len(packed) // 8 for _, packed in rows])
    starts = np.cumsum(sizes) - sizes
    changed = []
    for index in np.flatnonzero(np.add.reduceat(dropped, starts)).tolist():
        occurrences_of_word = slice(starts[index], starts[index] + sizes[index])
        remaining = occurrences[occurrences_of_word][~dropped[occurrences_of_word]]
        changed.append(Posting(rows[index][0], len(np.unique(remaining >> PLACE_BITS)), remaining.tobytes()))
    return changed


def _distinct(chunks: np.ndarray[Any, Any], starts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The number of different chunks in each slice from a start to the next one; equal chunks are adjacent."""
    is_new = np.empty(len(chunks), dtype=np.int64)
    is_new[0] = 1
    is_new[1:] = chunks[1:] != chunks[:-1]
    is_new[starts] = 1
    counts: np.ndarray[Any, Any] = np.add.reduceat(is_new, starts)
    return counts
