"""The rows of the static embedder's table as a matrix, for what is learned from it."""

from __future__ import annotations

import numpy as np

from gitmem.gate.detectors.injection import features
from tools.training.regression import Array


def unit_rows() -> tuple[list[tuple[str, int]], Array]:
    """(word, number of its row) of each piece that is a whole word, longest first; the rows, each of length 1.

    Row 0 is zeros: it stands for a word that the table does not know. A word may come twice; the last one counts.
    """
    from gitmem.models.static_embedder import shared

    embedder = shared()
    pieces = embedder.all_pieces()
    table = np.zeros((len(pieces) + 1, embedder.dims), np.float32)
    for number in pieces.values():
        table[number + 1] = embedder.row(number)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    table /= np.where(lengths == 0, 1, lengths)
    whole = []
    for piece, number in sorted(pieces.items(), key=lambda item: -len(item[0])):
        word = piece.replace("\u2581", "").removeprefix("##")
        if word and (features.is_cjk(word) or not piece.startswith("##")):
            whole.append((word, number + 1))
    return whole, table
