"""The embedder that ships in the package: one table of piece vectors, a text is a weighted sum of its pieces' rows.

A word that comes k times counts sqrt(k) times: on every set we measure that finds more than counting k times.

It reads a mapped file and touches only the rows it needs, imports nothing outside the standard library, and
never learns, downloads or writes. `tools/distill.py` makes the table; `static/MODEL_CARD.md` says from what.

A row is 256 offset-binary bytes and an integer scale, so a sum of rows is exact in integers. Sums run in two
Python `int`s with a 32-bit lane per dimension: adding two words' vectors is two additions of half a KB, which
makes bulk embedding as fast as an array library would, and both paths give the same bytes.
"""

import mmap
import os
import sys
import weakref
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from math import hypot, isqrt
from operator import mul
from pathlib import Path
from struct import Struct
from zlib import crc32

from gitmem.errors import ModelUnavailable
from gitmem.models.vectors import DIMS, LENGTH, unit
from gitmem.models.wordpiece import CONTINUED, PIECES_PER_LETTER, Find, FindLongest, longest, rows_of, words

TABLE = Path(__file__).parent / "static" / "table.bin"

MAGIC = b"gmstatic"
VERSION = 1
# magic, version, dims, rows, slots (a power of two), bytes of the pieces' text, 0, SHA-256 of all that follows
HEADER = Struct("<8s6I32s")
ZERO = 128  # the byte that stands for 0 in a row
SCALE_LIMIT = 511  # the largest scale of a row

_U16 = Struct("<H")
_LANE = 1 << 31  # added to every lane before unpacking, so that lanes of negative sums do not borrow
_ONCE = 4  # the weight of a word that comes once; whole numbers keep sums exact
_MAX_WORD_COUNT = 100  # a word counts no more often than this, so that one word can never overflow a lane
# Letters times weight that can never overflow a lane, whatever they are.
_LETTERS_A_SUM = _LANE // (SCALE_LIMIT * ZERO * PIECES_PER_LETTER)
_SIGNS = bytes(ord("0") if n < 128 else ord("1") for n in range(256))
_MIDDLE = 1 << 15
_ABOVE = bytes(ord("1") if n > ZERO else ord("0") for n in range(256))  # of a row's byte
_FLIPPED = bytes(n ^ 128 for n in range(256))  # n - 128 as a signed byte
_CACHED_WORDS = 20_000  # about 1.1 KB each; a corpus's frequent words come back at once
_CACHED_ROWS = 5_000
_MIN_TEXTS_FOR_DICT = 256  # from so many texts on, reading all pieces into a dict (20 ms) pays


@cache
def shared() -> "StaticEmbedder":
    """The shipped table, opened once a process: what was read of it for one question is there for the next."""
    return StaticEmbedder()


def open(rest: str, config: object) -> "StaticEmbedder":
    """The shipped table: no setting changes it, and nothing stands behind its name."""
    return shared()


class StaticEmbedder:
    """Embeds text in English, Korean, Japanese and Chinese into one space. Safe to share between threads.

    Raises `ModelUnavailable` where the table is missing or is not what it says.
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
        known = magic == MAGIC and version == VERSION and dims and dims % 8 == 0 and slots & slots - 1 == 0 < slots
        if not known or self._rows + rows * dims != size:
            raise _damaged()
        self._mask = slots - 1
        self._table = self._integers(self._slots, self._offsets)
        self._ends = self._integers(self._offsets, self._text)  # of each piece in their text; the first is of none
        if 0 not in self._table:  # a piece is looked for up to an empty slot
            raise _damaged()
        self.dims: int = dims
        self.id = f"static:{digest.hex()[:12]}"
        self.digest: bytes = digest
        half = min(DIMS, dims // 2)
        self._halves = _Half(self, 0, half), _Half(self, half, dims - half)
        self._find: Find = self._find_mapped
        self._find_longest: FindLongest | None = self._find_longest_mapped
        self._signs = _Signs(self)
        self._pairs = int.from_bytes(b"\1\0" * dims, "little")

    def _integers(self, start: int, end: int) -> Sequence[int]:
        """What is stored between two bytes, 32 bits each."""
        integers = memoryview(self._map)[start:end].cast("I")
        if sys.byteorder == "little":
            return integers
        swapped = array("I", integers)
        swapped.byteswap()
        return swapped

    def pieces(self, text: str) -> list[int]:
        """The rows of the table that make the text's vector, in order, repeated as they recur."""
        return [row for word in words(text) for row in self.rows(word)]

    def rows(self, word: str) -> list[int]:
        """The rows of one of `words`."""
        return rows_of(word, self._find, self._find_longest)

    @property
    def signs(self) -> Mapping[str, int]:
        """Of each of `words` the signs of its vector, a bit a dimension; 0 where the table knows no piece of it.

        Quick rather than exact: where a word has several pieces their scales are taken to a sixteenth.
        """
        return self._signs

    def _read(self, row: int) -> bytes:
        """A row's bytes, read and not mapped: the words of sixty lines stand in a thousand places of the file, and
        each place mapped is 64 KB of a search's memory."""
        start = self._rows + row * self.dims
        if self._file is None:
            return self._map[start : start + self.dims]
        return os.pread(self._file, self.dims, start)

    def _joined(self, rows: list[int]) -> bytes:
        """A byte a dimension, 128 and more where the sum of the rows is above zero: in lanes of 16 bits, a third of
        the work, as long as the sum fits."""
        scales = [(int(_U16.unpack_from(self._map, self._scales + 2 * row)[0]) + 15) >> 4 for row in rows]
        if sum(scales) >= 128:
            return b"".join([half.signs(sum(map(half.row, rows))) for half in self._halves])
        total, lanes = (_MIDDLE - ZERO * sum(scales) - 1) * self._pairs, bytearray(2 * self.dims)
        for row, scale in zip(rows, scales, strict=True):
            lanes[::2] = self._read(row)
            total += scale * int.from_bytes(lanes, "little")
        return total.to_bytes(2 * self.dims, "little")[1::2]

    def length(self, word: str) -> float:
        """The length of the vector of one of `words`, in the table's own unit: frequent words have short ones."""
        low, high = (half.words[word] for half in self._halves)
        return hypot(*self._lanes((low, high)))

    def find(self, piece: str) -> int:
        """The row of a piece, -1 where there is none."""
        return self._find(piece)

    def embed_query(self, text: str) -> bytes:
        """The text's unit vector, float32 little-endian; zeros where the table knows no piece of it."""
        return unit(self._lanes(self._sums(text)))

    def cosine(self, vector: Sequence[float], text: str) -> float:
        """The cosine of a unit vector and the text's; 0 where the table knows no piece of it. The same as with
        `embed_query`, but for the rounding of its numbers, in half the time."""
        lanes = self._lanes(self._sums(text))
        length = hypot(*lanes)
        if not length:
            return 0.0
        dot: float = sum(map(mul, vector, lanes))
        return dot / length

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of many texts, each the same bytes as `embed_query` gives."""
        if len(texts) >= _MIN_TEXTS_FOR_DICT:
            self.read_all()
        return [self.embed_query(text) for text in texts]

    def codes(self, texts: Sequence[str]) -> list[tuple[bytes, bytes]]:
        """(a bit, a signed byte) a dimension of each text's vector: what the index stores of it.

        The bits are the signs, eight a byte; of the bytes the largest is 127 (`db.values.bits`, `.int8`).
        """
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
        """The sum of the text's rows, in two halves; of a text too long for its lanes a fraction of it."""
        pieces = words(text)
        counts = Counter(pieces)
        if sum(map(len, pieces)) * _ONCE <= _LETTERS_A_SUM:
            low, high = (half.sum(counts) for half in self._halves)
            return low, high
        groups = _groups(counts)
        parts = [[half.lanes(half.sum(group)) for group in groups] for half in self._halves]
        lanes = [[sum(lane) for lane in zip(*part, strict=True)] for part in parts]
        over = max(0, max(map(abs, chain(*lanes))).bit_length() - 31)
        low, high = (_packed([lane >> over for lane in part]) for part in lanes)
        return low, high

    def read_all(self) -> None:
        """Get ready for very many texts: all pieces into a dict (20 ms), where a question looks up its few."""
        if self._find_longest is not None:
            self._find, self._find_longest = _finder(self.all_pieces()), None

    def lines(self, texts: Sequence[str]) -> list[tuple[float, bytes]]:
        """(length, `DIMS` signed bytes of length `LENGTH`) of the sum of each text's rows: what `lines.pack` stores.

        Only the first `DIMS` numbers count; (0.0, b"") for a text with no piece in the table.
        """
        vectors: list[tuple[float, bytes]] = []
        half = self._halves[0]
        for text in texts:
            cut = words(text)
            if (
                len(set(cut)) == len(cut) and 4 * len(text) * _ONCE <= _LETTERS_A_SUM
            ):  # NFKC makes three letters of some
                total = _ONCE * sum(map(half.words.__getitem__, cut))
            else:
                counts: dict[str, int] = Counter(cut)
                if sum(map(len, cut)) * _ONCE > _LETTERS_A_SUM:
                    counts = _groups(counts)[0]
                total = half.sum(counts)
            length = hypot(*half.lanes(total))
            vectors.append((length, half.scaled(total, length, LENGTH)) if length else (0.0, b""))
        return vectors

    def row(self, number: int) -> Sequence[int]:
        """One row of the table, in the table's own unit."""
        low, high = (half.row(number) for half in self._halves)
        return self._lanes((low, high))

    def _lanes(self, sums: tuple[int, int]) -> "array[int]":
        low, high = (half.lanes(total) for half, total in zip(self._halves, sums, strict=True))
        return low + high

    def all_pieces(self) -> dict[str, int]:
        """Every piece of the vocabulary -> its row in the table."""
        text = self._map[self._text : self._scales]
        return {text[a:b].decode(): row for row, (a, b) in enumerate(pairwise(self._ends))}

    def _find_mapped(self, piece: str) -> int:
        key = piece.encode("utf-8", "replace")
        return self._row(key, crc32(key) & self._mask)

    def _find_longest_mapped(self, word: str, start: int) -> tuple[int, int]:
        if not word.isascii():
            return longest(word, start, self._find)
        text = (CONTINUED + word[start:] if start else word).encode()
        least = 0
        if start:
            least = len(CONTINUED)
        table, mask = self._table, self._mask
        for end in range(len(text), least, -1):
            key = text[:end]
            slot = crc32(key) & mask
            if table[slot] and (row := self._row(key, slot)) >= 0:
                return row, start + end - least
        return -1, start + 1

    def _row(self, key: bytes, slot: int) -> int:
        """The row of the piece with these bytes, which stands in this slot or in one behind it before an empty one; -1
        where it does not."""
        table, ends, size = self._table, self._ends, len(key)
        while row := table[slot]:
            end = ends[row]
            if end - ends[row - 1] == size and self._map[self._text + end - size : self._text + end] == key:
                return row - 1
            slot = slot + 1 & self._mask
        return -1


class _Signs(dict[str, int]):
    """A word -> its signs."""

    def __init__(self, table: StaticEmbedder) -> None:
        self._table = table

    def __missing__(self, word: str) -> int:
        table = self._table
        rows = table.rows(word)
        if len(rows) == 1:  # most words: the signs stand in the row
            known = int(table._read(rows[0]).translate(_ABOVE), 2)
        else:
            known = 0
            if rows:
                known = int(table._joined(rows).translate(_SIGNS), 2)
        if len(self) >= _CACHED_WORDS:
            self.clear()
        self[word] = known
        return known


class _Half:
    """Some of the table's dimensions, and sums over them: one Python int, a lane of 32 bits a dimension.

    In two halves, since the vector of a line wants the first only, and half as much memory is passed through.
    """

    def __init__(self, table: StaticEmbedder, first: int, count: int) -> None:
        self.count = count
        self.words: dict[str, int] = _Words(table)
        self.rows: dict[int, int] = _Rows(self)
        self._table = table
        self._first = first
        self._ones = int.from_bytes(b"\1\0\0\0" * count, "little")
        self._bias = _LANE * self._ones
        self._masks: dict[int, int] = {}

    def row(self, number: int) -> int:
        """One row of the table."""
        table = self._table
        (scale,) = _U16.unpack_from(table._map, table._scales + 2 * number)
        start = table._rows + number * table.dims + self._first
        lanes = bytearray(4 * self.count)
        lanes[::4] = table._map[start : start + self.count]
        return int(scale) * (int.from_bytes(lanes, "little") - ZERO * self._ones)

    def sum(self, counts: Mapping[str, int]) -> int:
        """The words' vectors, each as often as its weight says."""
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
        """A byte a dimension, 128 and more where its number is above zero."""
        return (total + self._bias - self._ones).to_bytes(4 * self.count, "little")[3::4]

    def scaled(self, total: int, length: float, to: int) -> bytes:
        """The numbers times to / length as signed bytes, all at once: cut to 14 bits, multiplied, read off.

        None may be larger than `length`; one that comes out above 127 is cut there.
        """
        if not length:
            return bytes(self.count)
        shift = max(0, int(length).bit_length() - 13)
        low = self._masks.get(shift)
        if low is None:
            low = self._masks[shift] = self._ones * (0xFFFF_FFFF >> shift)
        factor = round(to * (1 << shift + 16) / length)
        # Times the factor, the result + 256 + 128 stands in a lane's upper half: its fourth byte is 1 unless it must be
        # cut. What lanes borrow from each other on the way is given back by the end.
        data = ((total + self._bias) >> shift & low) * factor
        data += self._ones * ((384 << 16) + (1 << 15) - (_LANE >> shift) * factor)
        all_bytes = data.to_bytes(4 * self.count, "little")
        signed, over = all_bytes[2::4].translate(_FLIPPED), all_bytes[3::4]
        if over.count(1) < self.count:
            cut = bytearray(signed)
            for at, high in enumerate(over):
                if high != 1:
                    if high == 0:
                        cut[at] = 129
                    else:
                        cut[at] = 127
            signed = bytes(cut)
        return signed


class _Words(dict[str, int]):
    """Word -> its pieces' rows added up, in each half."""

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


class _Rows(dict[int, int]):
    """The number of a row -> the row."""

    def __init__(self, half: _Half) -> None:
        self._half = half

    def __missing__(self, number: int) -> int:
        row = self._half.row(number)
        if len(self) >= _CACHED_ROWS:
            self.clear()
        self[number] = row
        return row


def _packed(lanes: Sequence[int]) -> int:
    """The reverse of `_Half.lanes`."""
    return sum(lane << 32 * at for at, lane in enumerate(lanes))


def _finder(pieces: dict[str, int]) -> Find:
    return lambda piece: pieces.get(piece, -1)


@lru_cache(1000)
def _weight(count: int) -> int:
    """4 sqrt(count), rounded: 4, 6, 7, 8, 9, 10 ..."""
    return (isqrt(64 * min(count, _MAX_WORD_COUNT)) + 1) // 2


def _groups(counts: dict[str, int]) -> list[dict[str, int]]:
    groups: list[dict[str, int]] = []
    left = 0
    for word, count in counts.items():
        cost = len(word) * _weight(count)
        if cost > left:
            groups.append({})
            left = _LETTERS_A_SUM
        groups[-1][word] = count
        left -= cost
    return groups


def _damaged() -> ModelUnavailable:
    return ModelUnavailable(
        "the table of the static embedder is damaged or of another version",
        "reinstall git-mem, or search with --lane lexical",
    )
