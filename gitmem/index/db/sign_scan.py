"""The first step of a vector search in SQLite: the chunks whose vectors have the signs nearest to those of a question.

A long-lived process keeps the signs in memory and compares them there (`sign_table`).
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.index.db.sqlite import Database

TIE_FACTOR = 2  # times as many chunks if more are as near as the last, so that a chunk's number does not decide
MIN_SPARE = 64  # chunks that a scan of the whole index fetches to make up for those outside the snapshot


def nearest(database: Database, first_id: int, signs: bytes, norms: bytes, count: int) -> list[int]:
    """The ids of the `count` chunks whose vectors have the signs that differ least from `signs`, and of those that
    differ as much as the last; nearest first.

    `norms`: a byte for each chunk id; only chunks where it is above 0 count. At most `TIE_FACTOR * count` in all; of
    equally near chunks those with the lowest ids. `first_id`: the id of the vector of chunk 0 of the embedder in force.
    The caller has loaded sqlite-vec.
    """
    max_found = TIE_FACTOR * count
    outside = norms.count(0, 1)  # no chunk has the number 0
    inside = len(norms) - 1 - outside
    if outside * 4 < inside:
        # The lookup of a chunk in `norms` costs as much as its comparison: scan all, fetch more, drop the others.
        spare = count * outside // inside * 2 + MIN_SPARE if outside else 0
        rows = database.rows(_SCAN.format(""), first_id, len(norms), signs, max_found + spare)
        inside_rows = [row for row in rows if norms[row[0]]]
        if len(inside_rows) >= max_found or len(rows) < max_found + spare:
            return _with_ties(inside_rows[:max_found], count)
    inside_only = "AND substr(?5, id - ?1 + 1, 1) > x'00'"
    return _with_ties(database.rows(_SCAN.format(inside_only), first_id, len(norms), signs, max_found, norms), count)


_SCAN = """
    SELECT id - ?1, vec_distance_hamming(vec_bit(bits), vec_bit(?3)) AS distance FROM code
    WHERE id >= ?1 AND id < ?1 + ?2 {} ORDER BY distance, id LIMIT ?4
"""


def _with_ties(rows: Sequence[tuple[int, int]], count: int) -> list[int]:
    """The chunks of the first `count` rows and of every other row with the distance of the last of them.

    `rows`: (chunk, distance), ordered by distance.
    """
    if len(rows) <= count:
        return [chunk for chunk, _ in rows]
    farthest = rows[count - 1][1]
    return [chunk for chunk, distance in rows if distance <= farthest]
