"""Classes of words with similar meaning in four languages: `send`, `forward` and `보내` are in one class.

A pair of classes matches words that the training texts did not have. `tools/train.py word_classes` makes
word_classes.bin from the static embedder's table (k-means over its rows): `HEADER`, then for each of `BUCKETS` one
byte, the class of the words hashed to it, or `NONE`. Deterministic, no library, never learns.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from struct import Struct
from zlib import crc32

from gitmem.gate.detectors.injection.features import ADDRESSED, BUCKETS, MAX_CACHED_TOKENS, bucket, is_cjk, tokens

PATH = Path(__file__).with_name("word_classes.bin")
HEADER = Struct("<8sII")  # magic, version, CRC-32 of the rest of the file
MAGIC = b"gmclasse"
VERSION = 1
CLASS_COUNT = 250  # classes of the table
NUMBER, ADDRESS, NONE = 250, 251, 255
LONGEST_RUN = 4  # maximum CJK characters that the table has as one word
REACH = 3  # maximum distance of two classes that make a pair


@cache
def load() -> bytes:
    """The class of the words in each bucket, one byte for each of `BUCKETS`, NONE for no class; from the shipped file.
    Raises ValueError if the file is damaged."""
    return parse(PATH.read_bytes())


def parse(data: bytes) -> bytes:
    """The classes in a file's bytes. Raises ValueError for another format, version, size or checksum."""
    if len(data) != HEADER.size + BUCKETS:
        raise ValueError("the classes of words are damaged")
    magic, version, checksum = HEADER.unpack_from(data)
    classes = data[HEADER.size :]
    if (magic, version, checksum) != (MAGIC, VERSION, crc32(classes)):
        raise ValueError("the classes of words are damaged or of another version")
    return classes


@lru_cache(maxsize=MAX_CACHED_TOKENS)
def of_token(token: str) -> tuple[int, ...]:
    """The classes of the words in a token of folded text, in order; NUMBER for a number, () if none is known.

    A run of CJK characters is cut from its beginning into the longest known words.
    """
    if token[0].isdigit():
        return (NUMBER,)
    classes = load()
    if not is_cjk(token):
        word_class = classes[bucket(token)]
        if word_class == NONE:
            return ()
        return (word_class,)
    found_classes = []
    start = 0
    while start < len(token):
        for size in range(min(LONGEST_RUN, len(token) - start), 1, -1):
            word_class = classes[bucket(token[start : start + size])]
            if word_class != NONE:
                found_classes.append(word_class)
                start += size
                break
        else:
            start += 1
    return tuple(found_classes)


def class_buckets(sentence: str) -> set[int]:
    """The buckets of a sentence's word classes, and of ordered pairs of classes at most REACH apart."""
    row: list[int] = []
    for token in tokens(sentence):
        row += (ADDRESS,) if token == ADDRESSED else of_token(token)
    pairs = {(row[index], row[index + apart]) for apart in range(1, REACH + 1) for index in range(len(row) - apart)}
    return {bucket(f"@{word_class}") for word_class in row} | {_pair(*pair) for pair in pairs}


@lru_cache(maxsize=MAX_CACHED_TOKENS)
def _pair(first: int, second: int) -> int:
    return bucket(f"@{first}+{second}")
