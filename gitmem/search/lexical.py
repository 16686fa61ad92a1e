"""Finds the chunks of a snapshot that have terms of a question (the lexical lane), and the positions of these terms.

The score is BM25 with the statistics of the snapshot, not of the whole index, so that an answer does not depend on
other indexed snapshots. Positions are computed only for the chunks whose lines are scored. Only reads the index.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from gitmem.index.db.values import LENGTH_STEP, PLACE_BITS
from gitmem.search.question import Question
from gitmem.search.scoring import TermPositions, idf
from gitmem.search.weights import Ranking

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader


class Term(NamedTuple):
    """A term that was looked up.

    `weight`: its share of the sum of the IDFs over chunks, 0..1. `rarity`: its IDF over lines. `rows`: its occurrences
    in the snapshot, sorted, each as one number: the chunk id times 2 ** PLACE_BITS, plus twice the position in the
    chunk, plus 1 for an occurrence in the chunk's trail. `counts`: chunk id -> number of occurrences.
    """

    text: str
    weight: float
    rarity: float
    rows: list[int]
    counts: Mapping[int, int]


class Lexical(NamedTuple):
    """The result of the lexical lane. `scores`: chunk id -> score, 0..1, for each chunk that has a term. `terms`: the
    terms that were looked up."""

    scores: dict[int, float]
    terms: list[Term]


NOTHING = Lexical({}, [])


def retrieve(index: IndexReader, norms: bytes, question: Question, ranking: Ranking) -> Lexical:
    """Score the chunks that have a term of the question; NOTHING for no chunks or no terms.

    `norms`: one byte for each chunk id: 0 for a chunk outside the snapshot, else 1 plus its words divided by
    LENGTH_STEP.
    """
    chunks = len(norms) - norms.count(0)
    if not chunks or not question.terms:
        return NOTHING
    words = (sum(norms) - chunks) * LENGTH_STEP
    lines = max(chunks, round(words / ranking.line_words))
    whole = chunks == len(norms) - 1
    postings: list[tuple[str, list[int], Counter[int], float]] = []
    total_weight = 0.0
    wanted = _terms_to_look_up(index, question, chunks, ranking.common)
    index.expect([term for term in wanted if term not in question.prefixes])
    for term in wanted:
        rows = _rows(index, term, norms, prefix=term in question.prefixes, whole=whole)
        for other in question.alternatives.get(term, ()):
            if other not in question.terms and (chunks <= ranking.common or index.frequency(other) <= ranking.common):
                rows = sorted({*rows, *_rows(index, other, norms, prefix=False, whole=whole)})
        counts = Counter([row >> PLACE_BITS for row in rows])
        if question.pasted and not counts:
            continue  # memory has few words of a pasted log, and lacking them is no evidence
        weight = idf(chunks, len(counts))
        total_weight += weight
        postings.append((term, rows, counts, weight))
    # What one occurrence adds, by the byte of the chunk's length: nearly every chunk has a term just once.
    floor = ranking.k1 * (1 - ranking.b)
    slope = ranking.k1 * ranking.b * LENGTH_STEP / max(1.0, words / chunks)
    lengths = [floor + slope * (norm - 1) for norm in range(256)]
    once = [1 / (1 + length) for length in lengths]
    scores: dict[int, float] = {}
    terms = []
    for term, rows, counts, weight in postings:
        share = weight / (total_weight or 1.0)
        shares = [share * part for part in once]
        for chunk, count in counts.items():
            norm = norms[chunk]
            if count == 1:
                part = shares[norm]
            else:
                part = share * (count / (count + lengths[norm]))
            scores[chunk] = scores.get(chunk, 0.0) + part
        bodies = len(rows) - sum([row & 1 for row in rows])
        terms.append(Term(term, share, idf(lines, min(bodies, lines)), rows, counts))
    return Lexical(scores, terms)


def _terms_to_look_up(index: IndexReader, question: Question, chunks: int, common: int) -> list[str]:
    """The terms to look up: all for at most `common` chunks; else those without terms in more than `common` chunks if a
    rarer term is in memory; else the two rarest."""
    terms = list(question.terms)
    if chunks <= common:
        return terms
    frequencies = index.frequencies([term for term in terms if term not in question.prefixes])
    rare = [term for term in terms if frequencies.get(term, 0) <= common]
    if any(frequencies.get(term, 1) for term in rare):
        return rare
    return sorted(terms, key=lambda term: frequencies.get(term, 0))[:2]


def _rows(index: IndexReader, term: str, norms: bytes, *, prefix: bool, whole: bool) -> list[int]:
    """The sorted occurrences of a term in the chunks of `norms`. `prefix`: whether words that begin with the term count
    too. `whole`: whether the snapshot has each chunk of the index, so that most rows need no check."""
    if prefix:
        rows = [row for word, _ in index.starting(term, 200) for row in index.occurrences(word)]
        rows.sort()
    else:
        rows = index.occurrences(term)
    end = len(norms) << PLACE_BITS
    if rows and not (whole and rows[0] >= 1 << PLACE_BITS and max(rows) < end and min(rows) > 0):
        rows = [row for row in rows if 0 < row < end and norms[row >> PLACE_BITS]]
    return rows


def best_chunks(scores: dict[int, float], terms: Iterable[Term], count: int) -> list[int]:
    """The ids of the `count` chunks with the highest scores, best first.

    Of chunks with equal scores at the end of the list, those with earlier positions of the terms are taken.
    """
    if len(scores) <= count:
        return sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
    from heapq import nlargest

    least = nlargest(count, scores.values())[-1]
    above = sorted((c for c, score in scores.items() if score > least), key=lambda c: (-scores[c], c))
    equal = sorted(chunk for chunk, score in scores.items() if score == least)
    if len(above) + len(equal) > count:
        rows = [term.rows for term in terms]
        equal.sort(key=lambda chunk: [_first_position(term_rows, chunk) for term_rows in rows])
    return [*above, *equal][:count]


def _first_position(rows: list[int], chunk: int) -> int:
    """The first position of a term in a chunk; 1 << PLACE_BITS if the chunk lacks it. `rows`: `Term.rows`."""
    index = bisect_left(rows, chunk << PLACE_BITS)
    if index < len(rows):
        return min(rows[index] - (chunk << PLACE_BITS), 1 << PLACE_BITS)
    return 1 << PLACE_BITS


def term_positions(terms: Iterable[Term], chunks: Iterable[int]) -> list[TermPositions]:
    """The positions of each term in these chunks, in the order of the terms."""
    wanted = sorted(set(chunks))
    all_positions = []
    for term in terms:
        positions = TermPositions(term.rarity, {}, {})
        for chunk in filter(term.counts.__contains__, wanted):
            base = chunk << PLACE_BITS
            index = bisect_left(term.rows, base)
            chunk_rows = term.rows[index : index + term.counts[chunk]]
            offsets = [(row - base) >> 1 for row in chunk_rows if not row & 1]
            if offsets:
                positions.bodies[chunk] = offsets
            if len(offsets) < len(chunk_rows):
                positions.trails[chunk] = [(row - base) >> 1 for row in chunk_rows if row & 1]
        all_positions.append(positions)
    return all_positions
