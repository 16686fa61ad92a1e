"""`static`: the embedder that ships in the package. The vector of a text is a weighted sum of the rows of its pieces.

A word that occurs k times has the weight sqrt(k): on every evaluation set that finds more than the weight k.

The embedder reads the needed rows of a mapped file, imports only the standard library, and never learns, downloads or
writes. `tools/distill.py` makes the table; `static/MODEL_CARD.md` names its sources.

A row is 256 bytes, each the number plus 128, and an integer scale, so that sums of rows are exact integers. A sum is
two Python `int`s with a 32-bit lane for each dimension: adding two vectors is two additions of half a KB, as fast as
with an array library.
"""

import mmap
import os
import sys
import weakref
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from math import hypot, isqrt
from operator import mul
from pathlib import Path
from struct import Struct
from typing import TypeVar
from zlib import crc32

from gitmem.errors import ModelUnavailable
from gitmem.models.vectors import DIMS, SCALED_LENGTH, unit
from gitmem.models.wordpiece import CONTINUED, PIECES_PER_LETTER, Find, FindLongest, longest_piece, rows_of, words

TABLE = Path(__file__).parent / "static" / "table.bin"

MAGIC = b"gmstatic"
VERSION = 1
# magic, version, dims, rows, slots (a power of two), bytes of the pieces' text, 0, SHA-256 of the rest of the file
HEADER = Struct("<8s6I32s")
ZERO = 128  # the byte for the number 0 in a row
SCALE_LIMIT = 511  # largest scale of a row

_U16 = Struct("<H")
_LANE = 1 << 31  # added to every lane before unpacking, so that lanes of negative sums do not borrow
_ONCE = 4  # weight of a word that occurs once; integer weights keep sums exact
_MAX_WORD_COUNT = 100  # largest count of a word, so that one word can never overflow a lane
_LETTERS_A_SUM = _LANE // (SCALE_LIMIT * ZERO * PIECES_PER_LETTER)  # letters times weight that never overflow a lane
_SIGNS = b"0" * 128 + b"1" * 128  # byte -> digit of its top bit
_MIDDLE = 1 << 15
_ABOVE = b"0" * (ZERO + 1) + b"1" * (255 - ZERO)  # a row's byte -> digit of its sign
_FLIPPED = bytes(n ^ 128 for n in range(256))  # n - 128 as a signed byte
_CACHED_WORDS = 20_000  # about 1.1 KB each; a full cache is cleared, and frequent words soon return
_CACHED_ROWS = 5_000
_MIN_TEXTS_FOR_DICT = 256  # texts from which reading all pieces into a dict (20 ms) is faster


_Key = TypeVar("_Key")


@cache
def shared() -> "StaticEmbedder":
    """The embedder over the shipped table, opened once for the process with its caches. Raises ModelUnavailable if the
    table is missing or damaged."""
    return StaticEmbedder()


def open(argument: str, config: object, state: object = None) -> "StaticEmbedder":
    """The embedder over the shipped table; it has no settings, and no argument is used. Raises ModelUnavailable if the
    table is missing or damaged."""
    return shared()


class StaticEmbedder:
    """Embeds text in English, Korean, Japanese and Chinese into one space. Safe for several threads.

    `path`: a table file, default the shipped one. Raises ModelUnavailable if it is missing or damaged.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path: Path = path or TABLE
        try:
            with self.path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                self._file = os.dup(file.fileno()) if hasattr(os, "pread") else None
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                "the table of the static embedder cannot be read", "reinstall git-mem, or search with --lane lexical"
            ) from error
        if self._file is not None:
            weakref.finalize(self, os.close, self._file)
        size = len(self._map)
        if size < HEADER.size:
            raise _damaged()
        magic, version, dims, rows, slots, text, _, digest = HEADER.unpack_from(self._map)
        self._slots = HEADER.size
        self._offsets = self._slots + 4 * slots
        self._text = self._offsets + 4 * (rows + 1)
        self._scales = self._text + (text + 3 & ~3)
        self._rows = self._scales + (2 * rows + 3 & ~3)
        valid = magic == MAGIC and version == VERSION and dims and dims % 8 == 0 and slots & slots - 1 == 0 < slots
        if not valid or self._rows + rows * dims != size:
            raise _damaged()
        self._mask = slots - 1
        self._table = self._integers(self._slots, self._offsets)
        self._ends = self._integers(self._offsets, self._text)  # offsets between the pieces in their text, from 0
        if 0 not in self._table:  # `_row` searches up to an empty slot and would never end
            raise _damaged()
        self.dims: int = dims
        self.id = f"static:{digest.hex()[:12]}"
        self.digest: bytes = digest
        half = min(DIMS, dims // 2)
        self._halves = _Half(self, 0, half), _Half(self, half, dims - half)
        self._find: Find = self._find_mapped
        self._find_longest: FindLongest | None = self._find_longest_mapped
        self._signs = _Cache(self._signs_of, _CACHED_WORDS)
        self._pairs = int.from_bytes(b"\1\0" * dims, "little")

    def _integers(self, start: int, end: int) -> Sequence[int]:
        """The little-endian 32-bit integers between two offsets of the file."""
        integers = memoryview(self._map)[start:end].cast("I")
        if sys.byteorder == "little":
            return integers
        swapped = array("I", integers)
        swapped.byteswap()
        return swapped

    def rows(self, word: str) -> list[int]:
        """The numbers of the table's rows for the pieces of one word, as `wordpiece.words` cuts words."""
        return rows_of(word, self._find, self._find_longest)

    @property
    def signs(self) -> Mapping[str, int]:
        """Word -> the signs of its vector, one bit for each dimension; 0 if no piece of the word is known.

        Approximate for a word of several pieces: their scales are rounded to multiples of 16.
        """
        return self._signs

    def _signs_of(self, word: str) -> int:
        rows = self.rows(word)
        if len(rows) == 1:  # most words: the row's own signs
            return int(self._read(rows[0]).translate(_ABOVE), 2)
        if rows:
            return int(self._joined(rows).translate(_SIGNS), 2)
        return 0

    def _read(self, row: int) -> bytes:
        """A row's bytes. Read instead of mapped where the system can: rows of one search are at about a thousand places
        of the file, and each mapped place takes 64 KB of memory."""
        start = self._rows + row * self.dims
        if self._file is None:
            return self._map[start : start + self.dims]
        return os.pread(self._file, self.dims, start)

    def _joined(self, rows: list[int]) -> bytes:
        """One byte for each dimension: 128 or more if the sum of the rows is above zero there. Lanes of 16 bits are
        used if the sum fits, which is three times as fast."""
        scales = [(int(_U16.unpack_from(self._map, self._scales + 2 * row)[0]) + 15) >> 4 for row in rows]
        if sum(scales) >= 128:
            return b"".join([half.signs(sum(map(half.row, rows))) for half in self._halves])
        total, lanes = (_MIDDLE - ZERO * sum(scales) - 1) * self._pairs, bytearray(2 * self.dims)
        for row, scale in zip(rows, scales, strict=True):
            lanes[::2] = self._read(row)
            total += scale * int.from_bytes(lanes, "little")
        return total.to_bytes(2 * self.dims, "little")[1::2]

    def length(self, word: str) -> float:
        """The length of a word's vector, in the unit of the table; frequent words have short vectors. 0.0 if no piece
        of the word is known."""
        first, second = (half.words[word] for half in self._halves)
        return hypot(*self._lanes((first, second)))

    def find(self, piece: str) -> int:
        """The number of the table's row for a piece, -1 for an unknown piece."""
        return self._find(piece)

    def embed_query(self, text: str) -> bytes:
        """The text's unit vector, float32 little-endian; zeros if no piece of the text is known."""
        return unit(self._lanes(self._sums(text)))

    def cosine(self, vector: Sequence[float], text: str) -> float:
        """The cosine of `vector` (numbers, of length 1) and the text's vector; 0 if no piece of the text is known. As
        with `embed_query` except for rounding, in half the time."""
        lanes = self._lanes(self._sums(text))
        length = hypot(*lanes)
        if not length:
            return 0.0
        dot: float = sum(map(mul, vector, lanes))
        return dot / length

    def embed(self, texts: Sequence[str], origins: Sequence[tuple[str, str]] = ()) -> list[bytes]:
        """The vector of each text, the same bytes as `embed_query`."""
        if len(texts) >= _MIN_TEXTS_FOR_DICT:
            self.read_all()
        return [self.embed_query(text) for text in texts]

    def codes(self, texts: Sequence[str]) -> list[tuple[bytes, bytes]]:
        """(signs, numbers) of each text's vector, as the index stores them: one bit and one signed byte for each
        dimension. The numbers are scaled so that the largest is 127 (`db.values.bits`, `.int8`)."""
        codes = []
        for text in texts:
            sums = self._sums(text)
            lanes = self._lanes(sums).tolist()
            top = max(max(lanes), -min(lanes))
            high = b"".join([half.signs(total) for half, total in zip(self._halves, sums, strict=True)])
            small = b"".join([half.scaled(total, top, 127) for half, total in zip(self._halves, sums, strict=True)])
            codes.append((int(high.translate(_SIGNS), 2).to_bytes(self.dims // 8, "big"), small))
        return codes

    def _sums(self, text: str) -> tuple[int, int]:
        """The weighted sum of the text's rows, in two halves. If the sum of a long text does not fit into the lanes,
        all its numbers are divided by the same power of two."""
        pieces = words(text)
        counts = Counter(pieces)
        if sum(map(len, pieces)) * _ONCE <= _LETTERS_A_SUM:
            first, second = (half.sum(counts) for half in self._halves)
            return first, second
        groups = _groups(counts)
        parts = [[half.lanes(half.sum(group)) for group in groups] for half in self._halves]
        lanes = [[sum(lane) for lane in zip(*part, strict=True)] for part in parts]
        shift = max(0, max(map(abs, chain(*lanes))).bit_length() - 31)
        first, second = (_packed([lane >> shift for lane in part]) for part in lanes)
        return first, second

    def read_all(self) -> None:
        """Read all pieces into a dict (20 ms), which makes the embedding of many texts faster."""
        if self._find_longest is not None:
            self._find, self._find_longest = _finder(self.all_pieces()), None

    def lines(self, texts: Sequence[str]) -> list[tuple[float, bytes]]:
        """(length, DIMS signed bytes) of the vector of each text, for `index.units.pack`. (0.0, b"") if no piece is
        known.

        Only the first DIMS numbers of the vector count; the bytes are scaled to the length SCALED_LENGTH.
        """
        vectors: list[tuple[float, bytes]] = []
        half = self._halves[0]
        for text in texts:
            cut = words(text)
            # 4: NFKC makes several letters of some.
            if len(set(cut)) == len(cut) and 4 * len(text) * _ONCE <= _LETTERS_A_SUM:
                total = _ONCE * sum(map(half.words.__getitem__, cut))
            else:
                counts: dict[str, int] = Counter(cut)
                if sum(map(len, cut)) * _ONCE > _LETTERS_A_SUM:
                    counts = _groups(counts)[0]
                total = half.sum(counts)
            length = hypot(*half.lanes(total))
            numbers = half.scaled(total, length, SCALED_LENGTH) if length else b""
            vectors.append((length, numbers))
        return vectors

    def row(self, number: int) -> Sequence[int]:
        """The numbers in one row of the table, in the table's unit. `number`: which row, from 0."""
        first, second = (half.row(number) for half in self._halves)
        return self._lanes((first, second))

    def _lanes(self, sums: tuple[int, int]) -> "array[int]":
        first, second = (half.lanes(total) for half, total in zip(self._halves, sums, strict=True))
        return first + second

    def all_pieces(self) -> dict[str, int]:
        """Every piece of the vocabulary -> its row in the table."""
        text = self._map[self._text : self._scales]
        return {text[a:b].decode(): row for row, (a, b) in enumerate(pairwise(self._ends))}

    def _find_mapped(self, piece: str) -> int:
        """The row of a piece in the mapped table; -1 without one."""
        key = piece.encode("utf-8", "replace")
        return self._row(key, crc32(key) & self._mask)

    def _find_longest_mapped(self, word: str, start: int) -> tuple[int, int]:
        """(row, end) of the longest known piece of a word from `start` on; (-1, start + 1) without one."""
        if not word.isascii():
            return longest_piece(word, start, self._find)
        text = (CONTINUED + word[start:] if start else word).encode()
        least = len(CONTINUED) if start else 0
        table, mask = self._table, self._mask
        for end in range(len(text), least, -1):
            key = text[:end]
            slot = crc32(key) & mask
            if table[slot] and (row := self._row(key, slot)) >= 0:
                return row, start + end - least
        return -1, start + 1

    def _row(self, key: bytes, slot: int) -> int:
        """The row of the piece `key`, searched from this slot up to the next empty one; -1 if it is not there."""
        table, ends, size = self._table, self._ends, len(key)
        while row := table[slot]:
            end = ends[row]
            if end - ends[row - 1] == size and self._map[self._text + end - size : self._text + end] == key:
                return row - 1
            slot = slot + 1 & self._mask
        return -1


class _Cache(dict[_Key, int]):
    """A cache of what `compute` returns for a key; it is cleared when it has `size` values."""

    def __init__(self, compute: Callable[[_Key], int], size: int) -> None:
        self._compute, self._size = compute, size

    def __missing__(self, key: _Key) -> int:
        value = self._compute(key)
        if len(self) >= self._size:
            self.clear()
        self[key] = value
        return value


class _Half:
    """`count` of the table's dimensions from `first` on. A sum is a Python int with a 32-bit lane for each dimension.

    The dimensions are in two halves because the vector of a line needs the first half only.
    """

    def __init__(self, table: StaticEmbedder, first: int, count: int) -> None:
        self.count = count
        self.words: dict[str, int] = _Words(table)
        self.rows = _Cache(self.row, _CACHED_ROWS)  # number of a row -> the row as lanes
        self._table = table
        self._first = first
        self._ones = int.from_bytes(b"\1\0\0\0" * count, "little")
        self._bias = _LANE * self._ones
        self._masks: dict[int, int] = {}

    def row(self, number: int) -> int:
        """One row of the table, times its scale."""
        table = self._table
        (scale,) = _U16.unpack_from(table._map, table._scales + 2 * number)
        start = table._rows + number * table.dims + self._first
        lanes = bytearray(4 * self.count)
        lanes[::4] = table._map[start : start + self.count]
        return int(scale) * (int.from_bytes(lanes, "little") - ZERO * self._ones)

    def sum(self, counts: Mapping[str, int]) -> int:
        """The weighted sum of the words' vectors. `counts`: word -> how often it occurs."""
        vectors = self.words
        total = _ONCE * sum(map(vectors.__getitem__, counts))
        for word, count in [(word, count) for word, count in counts.items() if count > 1]:
            total += (_weight(count) - _ONCE) * vectors[word]
        return total

    def lanes(self, total: int) -> "array[int]":
        """The numbers of a sum."""
        # Biased lanes hold no borrow; flipping their top bit then leaves each in two's complement.
        lanes = array("i", ((total + self._bias) ^ self._bias).to_bytes(4 * self.count, "little"))
        if sys.byteorder == "big":
            lanes.byteswap()
        return lanes

    def signs(self, total: int) -> bytes:
        """One byte for each dimension of a sum, 128 or more if its number is above zero."""
        return (total + self._bias - self._ones).to_bytes(4 * self.count, "little")[3::4]

    def scaled(self, total: int, length: float, to: int) -> bytes:
        """The numbers of a sum times to / length, as signed bytes; a result above 127 is clipped.

        All lanes are cut to 14 bits and multiplied at once. No number may be larger than `length`.
        """
        if not length:
            return bytes(self.count)
        shift = max(0, int(length).bit_length() - 13)
        mask = self._masks.get(shift)
        if mask is None:
            mask = self._masks[shift] = self._ones * (0xFFFF_FFFF >> shift)
        factor = round(to * (1 << shift + 16) / length)
        # After the multiplication a lane's upper half has the result + 256 + 128: its fourth byte is 1 unless the
        # result must be clipped. Borrows between lanes cancel in the sum.
        data = ((total + self._bias) >> shift & mask) * factor
        data += self._ones * ((384 << 16) + (1 << 15) - (_LANE >> shift) * factor)
        all_bytes = data.to_bytes(4 * self.count, "little")
        signed, overflows = all_bytes[2::4].translate(_FLIPPED), all_bytes[3::4]
        if overflows.count(1) < self.count:
            clipped = bytearray(signed)
            for index, overflow in enumerate(overflows):
                if overflow != 1:
                    clipped[index] = 127 if overflow else 129
            signed = bytes(clipped)
        return signed


class _Words(dict[str, int]):
    """A cache: word -> the sum of its pieces' rows. Filled for both halves at once."""

    def __init__(self, table: StaticEmbedder) -> None:
        self._table = table

    def __missing__(self, word: str) -> int:
        table = self._table
        rows = table.rows(word)
        for half in table._halves:
            if len(half.words) >= _CACHED_WORDS:
                half.words.clear()
            half.words[word] = sum(map(half.rows.__getitem__, rows))
        return self[word]


def _packed(lanes: Sequence[int]) -> int:
    """The sum with these lanes, the reverse of `_Half.lanes`."""
    return sum(lane << 32 * index for index, lane in enumerate(lanes))


def _finder(pieces: dict[str, int]) -> Find:
    return lambda piece: pieces.get(piece, -1)


@lru_cache(1000)
def _weight(count: int) -> int:
    """4 sqrt(count), rounded: 4, 6, 7, 8, 9, 10 ..."""
    return (isqrt(64 * min(count, _MAX_WORD_COUNT)) + 1) // 2


def _groups(counts: dict[str, int]) -> list[dict[str, int]]:
    """The counts split into groups whose sums cannot overflow a lane."""
    groups: list[dict[str, int]] = []
    remaining = 0
    for word, count in counts.items():
        cost = len(word) * _weight(count)
        if cost > remaining:
            groups.append({})
            remaining = _LETTERS_A_SUM
        groups[-1][word] = count
        remaining -= cost
    return groups


def _damaged() -> ModelUnavailable:
    return ModelUnavailable(
        "the table of the static embedder is damaged or of another version",
        "reinstall git-mem, or search with --lane lexical",
    )
