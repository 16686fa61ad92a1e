"""A tiny deterministic embedder that counts what it is asked: hashed words, 64 dimensions."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from zlib import crc32

from gitmem.text.terms import terms


class WordsEmbedder:
    """`embedded` grows by each text; `name` makes another space."""

    dims = 64

    def __init__(self, name: str = "words") -> None:
        self.id = name
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str], origins: Sequence[tuple[str, str]] = ()) -> list[bytes]:
        self.embedded += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> bytes:
        vector = array("f", [0.0] * self.dims)
        for term in terms(text):
            vector[crc32((self.id + term).encode()) % self.dims] += 1.0
        length = math.sqrt(sum(x * x for x in vector)) or 1.0
        return array("f", [x / length for x in vector]).tobytes()
