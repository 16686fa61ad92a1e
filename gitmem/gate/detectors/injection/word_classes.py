"""Classes of words that mean alike, in four languages: `send`, `forward` and `보내` are of one class.

With them a pair of words says what it says in words that no text learned from had. `tools/train_word_classes.py` makes
word_classes.bin from the static embedder's table (k-means over its rows): `HEADER`, then one byte for each of `SLOTS`
CRC-32 values of a word, which is its class, or `NONE`. Deterministic, no library, never learns.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from struct import Struct
from zlib import crc32

PATH = Path(__file__).with_name("word_classes.bin")
HEADER = Struct("<8sII")  # magic, version, CRC-32 of all that follows
MAGIC = b"gmclasse"
VERSION = 1
SLOTS = 1 << 19
COUNT = 250  # classes of the table
NUMBER, ADDRESS, NONE = 250, 251, 255
LONGEST_RUN = 4  # characters of Chinese, Japanese and Korean that the table knows as one word
KEPT = 1 << 14  # tokens remembered


def slot(word: str) -> int:
    """The place of a word in the file."""
    return crc32(word.encode("utf-8", "replace")) & SLOTS - 1


@cache
def load() -> bytes:
    """The class of each slot, as shipped. Raises ValueError where the file is not what it should be."""
    return parse(PATH.read_bytes())


def parse(data: bytes) -> bytes:
    """Read the classes. Raises ValueError for another format, version, size or checksum."""
    if len(data) != HEADER.size + SLOTS:
        raise ValueError("the classes of words are damaged")
    magic, version, checksum = HEADER.unpack_from(data)
    classes = data[HEADER.size :]
    if (magic, version, checksum) != (MAGIC, VERSION, crc32(classes)):
        raise ValueError("the classes of words are damaged or of another version")
    return classes


@lru_cache(maxsize=KEPT)
def of_token(token: str) -> tuple[int, ...]:
    """The classes of a token of folded text, in order; none where its words are not known.

    A run of CJK characters is cut into the longest words known, from its beginning.
    """
    if token[0].isdigit():
        return (NUMBER,)
    classes = load()
    if not "\u3040" <= token[0] <= "\ud7a3":
        known = classes[slot(token)]
        return () if known == NONE else (known,)
    found = []
    start = 0
    while start < len(token):
        for size in range(min(LONGEST_RUN, len(token) - start), 1, -1):
            known = classes[slot(token[start : start + size])]
            if known != NONE:
                found.append(known)
                start += size
                break
        else:
            start += 1
    return tuple(found)
