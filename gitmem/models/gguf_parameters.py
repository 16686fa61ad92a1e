"""Counts the parameters of a GGUF file from its table of tensors, without llama.cpp.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (little-endian, versions 2 and 3). Only the header
of the file is read. A file whose sizes are over the limits is refused.
"""

from __future__ import annotations

import struct
from math import prod
from pathlib import Path
from typing import BinaryIO

from gitmem.errors import ModelUnavailable
from gitmem.messages import Message

STRING, ARRAY = 8, 9  # types of metadata values
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # other type -> bytes of a value
MAX_ENTRIES = 1 << 24  # entries of a list; a text has at most 8 times as many bytes
MAX_DIMENSIONS = 8


def parameters(file: Path) -> int:
    """The number of weights in a model file. Raises ModelUnavailable if it is not a readable GGUF file."""
    try:
        with file.open("rb") as data:
            return _count(data)
    except (OSError, struct.error, ValueError):
        raise ModelUnavailable(
            Message("'{}' is no GGUF file that can be read", file.name), "is it a whole model?"
        ) from None


def _count(data: BinaryIO) -> int:
    """The number of parameters of a GGUF file. Raises ValueError for a file that is malformed or too large."""
    if data.read(4) != b"GGUF":
        raise ValueError
    version, tensors, pairs = _unpack(data, "<IQQ")
    if version not in (2, 3) or tensors > MAX_ENTRIES or pairs > MAX_ENTRIES:
        raise ValueError
    for _ in range(pairs):
        _skip(data, *_unpack(data, "<Q"))
        _skip_value(data, *_unpack(data, "<I"))
    total = 0
    for _ in range(tensors):
        _skip(data, *_unpack(data, "<Q"))
        (dimensions,) = _unpack(data, "<I")
        if dimensions > MAX_DIMENSIONS:
            raise ValueError
        total += prod(_unpack(data, f"<{dimensions}Q"))
        _unpack(data, "<IQ")  # type and offset
    return total


def _skip_value(data: BinaryIO, kind: int) -> None:
    if kind == STRING:
        _skip(data, *_unpack(data, "<Q"))
    elif kind == ARRAY:
        inner, count = _unpack(data, "<IQ")
        if count > MAX_ENTRIES or inner == ARRAY:
            raise ValueError
        if inner == STRING:
            for _ in range(count):
                _skip(data, *_unpack(data, "<Q"))
        else:
            _skip(data, count * _size(inner))
    else:
        _skip(data, _size(kind))


def _size(kind: int) -> int:
    """The size in bytes of a kind of value. Raises ValueError for an unknown kind."""
    if kind not in SIZES:
        raise ValueError
    return SIZES[kind]


def _unpack(data: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(form, data.read(struct.calcsize(form)))


def _skip(data: BinaryIO, count: int) -> None:
    """Skip `count` bytes, also beyond the end. Raises ValueError for an implausible count."""
    if count > 8 * MAX_ENTRIES:
        raise ValueError
    data.seek(count, 1)
