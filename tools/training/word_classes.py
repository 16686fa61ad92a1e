"""Classes of words of the static embedder's table (word_classes.bin): k-means over its rows.

The mean row is taken off first, since rows of one language lie on one side of it. Run it when the table changed, and
`scorer` after it.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path

import numpy as np

from gitmem.gate.detectors.injection import features, word_classes
from tools.training.regression import Array
from tools.training.static_rows import unit_rows

FILE = Path(word_classes.__file__).with_name("word_classes.bin")
ROUNDS = 12
AT_ONCE = 8192  # rows compared with every class at once


def cluster(rows: Array, count: int) -> Array:
    """The class of each row, of `count`: spherical k-means (Dhillon and Modha, 2001) over centred rows."""
    rows = rows - rows.mean(axis=0)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    centres = rows[np.random.default_rng(0).choice(len(rows), count, replace=False)]
    nearest = np.zeros(len(rows), np.int64)
    for _ in range(ROUNDS):
        parts = [np.argmax(rows[at : at + AT_ONCE] @ centres.T, axis=1) for at in range(0, len(rows), AT_ONCE)]
        nearest = np.concatenate(parts)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, rows)
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return nearest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(options: argparse.Namespace) -> None:
    """Write the classes."""
    words, table = unit_rows()
    words = [
        (word, row) for word, row in words if not features.is_cjk(word) or 2 <= len(word) <= word_classes.LONGEST_RUN
    ]
    used = np.unique([row for _, row in words])
    class_of = dict(zip(used.tolist(), cluster(table[used], word_classes.CLASS_COUNT).tolist(), strict=True))
    classes = bytearray([word_classes.NONE]) * features.BUCKETS
    for word, row in words:
        classes[features.bucket(word)] = class_of[row]
    head = word_classes.HEADER.pack(word_classes.MAGIC, word_classes.VERSION, zlib.crc32(classes))
    FILE.write_bytes(head + bytes(classes))
    print(f"{len(words)} words in {word_classes.CLASS_COUNT} classes")
