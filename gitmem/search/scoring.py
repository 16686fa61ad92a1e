"""How evidence becomes a score: the formula. Its constants are those of `ranking`.

Pure. Chunks are retrieved by two lanes and pooled; then each line of the pooled chunks is weighed by itself and with
its surroundings (`weights.SIZES` lines to either side), in both lanes, each kind of evidence brought to 0..1 within the
query (per-query min-max; reciprocal ranks were worse at every k), and summed with its weights.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import accumulate, compress
from math import log, sqrt
from operator import mul, sub

from gitmem.index.line_records import ASKS, FENCE, HAN_KANA, HANGUL, HEADING, NUMBER, TIME, Packed
from gitmem.light_typing import TYPE_CHECKING, NamedTuple
from gitmem.models.vectors import cosines
from gitmem.search.question import Question
from gitmem.search.weights import SHIPPED, SIZES, Ranking

if TYPE_CHECKING:
    from typing import TypeVar

    Value = TypeVar("Value", int, float)


class Strip(NamedTuple):
    """Consecutive chunks of one blob: (chunk id, its first line in the file, its lines, its heading evidence)."""

    path: str
    oid: str
    chunks: Sequence[tuple[int, int, Packed]]
    days: float  # how well the file's date matches the question's days, 0..1


class RankedLine(NamedTuple):
    """One scored unit. `evidence` is what each weight was multiplied with, in the order of the weights."""

    strip: int
    first: int
    last: int
    flags: int
    score: float
    evidence: tuple[float, ...]


class ScoredLines:
    """The scored units in order, as columns: a search reads a few dozen of thousands, and each is made a RankedLine
    when it is asked for. `scores`, `flags` and `strips` may be read by themselves; `add` changes a score."""

    __slots__ = ("_evidence", "_first", "_last", "flags", "scores", "strips")

    def __init__(self, columns: _Columns, scores: list[float], evidence: list[list[float]]) -> None:
        self._first, self._last, self._evidence = columns.first, columns.last, evidence
        self.strips, self.flags, self.scores = columns.strips, columns.flags, scores

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, at: int) -> RankedLine:
        evidence = tuple([column[at] for column in self._evidence])
        return RankedLine(self.strips[at], self._first[at], self._last[at], self.flags[at], self.scores[at], evidence)

    def __iter__(self) -> Iterator[RankedLine]:
        return map(self.__getitem__, range(len(self)))

    def add(self, holding: Container[tuple[int, int]], gain: float) -> None:
        """Raise the score of each unit whose (strip, first line) is among `holding`."""
        for at, place in enumerate(zip(self.strips, self._first, strict=True)):
            if place in holding:
                self.scores[at] += gain


Positions = dict[int, list[int]]  # chunk -> where in its body a term stands


def idf(chunks: int, frequency: int) -> float:
    """BM25's weight of a term in `frequency` of `chunks` chunks."""
    return log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


def _minmax(values: list[float], real: Sequence[bool], least: float = 0.0) -> list[float]:
    """To 0..1 over the real entries. `least` keeps a small range small: noise is not blown up to 1."""
    known = [*compress(values, real)]
    low = min(known, default=0.0)
    span = max(max(known, default=0.0) - low, least)
    return [(value - low) / span for value in values] if span > 1e-9 else [0.0] * len(values)


class _Columns:
    """The units of all strips in one row, a value a unit in each column.

    What is summed over windows of units has places for more: `max(SIZES)` empty ones before, between and after the
    strips, which keep their windows apart. `places` says where the units stand among these, and `base` is chunk -> (the
    place of its first unit, words of its units), for each place the chunk stands at.
    """

    def __init__(self) -> None:
        self.strips: list[int] = []
        self.first: list[int] = []
        self.last: list[int] = []
        self.flags: list[int] = []
        self.heading: list[float] = []
        self.places: list[int] = []
        # A value a place:
        self.words: list[int] = []
        self.labels: list[int] = []
        self.norms: list[float] = []
        self.vectors: list[bytes] = []
        self.base: dict[int, list[tuple[int, Sequence[int]]]] = {}

    def add_gap(self) -> None:
        """Empty places."""
        pad = max(SIZES)
        self.words.extend([0] * pad)
        self.labels.extend([0] * pad)
        self.norms.extend([0.0] * pad)
        self.vectors.extend([b""] * pad)

    def add_chunk(self, strip: int, chunk: int, line: int, packed: Packed, heading: float) -> None:
        """The units of a chunk that begins at `line` of its file."""
        count, place = len(packed.first), len(self.words)
        self.base.setdefault(chunk, []).append((place, packed.words))
        self.strips.extend([strip] * count)
        self.first.extend([line + n for n in packed.first])
        self.last.extend([line + n for n in packed.last])
        self.flags.extend(packed.flags)
        self.heading.extend([heading] * count)
        self.places.extend(range(place, place + count))
        self.words.extend(packed.words)
        self.labels.extend(packed.label)
        self.norms.extend(packed.norms)
        self.vectors.extend(packed.vectors)

    def of_units(self, column: Sequence[Value]) -> list[Value]:
        """Of a value a place that of each unit."""
        return list(map(column.__getitem__, self.places))


def score_lines(
    strips: Sequence[Strip],
    question: Question,
    terms: Sequence[tuple[float, Positions]],
    headings: dict[int, float],
    vector: Sequence[float] | None,
    ranking: Ranking = SHIPPED,
) -> ScoredLines:
    """Every unit of the strips with its score, in order. `terms` are (idf, positions) of the question's terms,
    `headings` the heading evidence of a chunk (0..1), `vector` the question's first `DIMS` numbers, of length 1.
    """
    columns = _columns(strips, headings)
    evidence = _evidence(columns, strips, question, terms, vector, ranking)
    scores = [0.0] * len(columns.flags)
    for name, weight in ranking.weights.items():
        if any(evidence[name]):
            scores = [score + weight * value for score, value in zip(scores, evidence[name], strict=True)]
    return ScoredLines(columns, scores, [evidence[name] for name in ranking.weights])


def _columns(strips: Sequence[Strip], headings: dict[int, float]) -> _Columns:
    columns = _Columns()
    columns.add_gap()
    for number, strip in enumerate(strips):
        for chunk, line, packed in strip.chunks:
            columns.add_chunk(number, chunk, line, packed, headings.get(chunk, 0.0))
        columns.add_gap()
    return columns


def _evidence(
    columns: _Columns,
    strips: Sequence[Strip],
    question: Question,
    terms: Sequence[tuple[float, Positions]],
    vector: Sequence[float] | None,
    ranking: Ranking,
) -> dict[str, list[float]]:
    """Each kind of evidence by the name of its weight: a value a unit, 0..1 but for `long` (0..3)."""
    flags, total = columns.flags, len(columns.flags)
    real = [not flag & HEADING for flag in flags]
    lexical, cover, (label, named) = _lexical(terms, columns, ranking)
    evidence: dict[str, list[float]] = {
        f"lexical{size}": _minmax(column, real, ranking.least) for size, column in zip(SIZES, lexical, strict=True)
    }
    evidence["cover0"], evidence["cover2"] = cover
    evidence["fence"] = _flagged(flags, FENCE)
    evidence["label"], evidence["named"] = label, named
    cosines_of_units = _vector(vector, columns, ranking.coherence)
    for size, column in zip(SIZES, cosines_of_units, strict=True):
        evidence[f"vector{size}"] = _minmax(column, real)
    _impute(evidence, flags, question, cosines_of_units[0], ranking)
    if vector is not None:
        _doubt(evidence, ranking.half)
    evidence["asks"] = _flagged(flags, ASKS)
    evidence["answer"] = _after_questions(evidence["lexical0"], columns)
    evidence["answer_vector"] = _after_questions(evidence["vector0"], columns)
    words = columns.of_units(columns.words)
    evidence["length"] = list(map({n: min(1.0, n / ranking.enough) for n in set(words)}.__getitem__, words))
    evidence["long"] = list(map({n: min(3.0, n / ranking.lengthy) for n in set(words)}.__getitem__, words))
    evidence["when"] = _flagged(flags, TIME * question.wants_time)
    evidence["number"] = _flagged(flags, NUMBER * question.wants_number)
    evidence["days"] = [strips[number].days for number in columns.strips]
    evidence["heading"] = columns.heading
    evidence["match0"] = evidence["match1"] = [0.0] * total  # by `with_matches`, once the best lines are read
    return evidence


def _flagged(flags: Sequence[int], wanted: int) -> list[float]:
    """1 for each unit with a flag that is wanted, else 0."""
    return [1.0 if flag & wanted else 0.0 for flag in flags] if wanted else [0.0] * len(flags)


def _after_questions(values: Sequence[float], columns: _Columns) -> list[float]:
    """For each unit the value of the one before it in its strip, where that asks, else 0."""
    after = [0.0] * len(values)
    asking = [at for at, flag in enumerate(columns.flags[:-1]) if flag & ASKS]
    for at in asking:
        if columns.strips[at] == columns.strips[at + 1]:
            after[at + 1] = values[at]
    return after


def with_matches(line: RankedLine, own: float, around: float, ranking: Ranking = SHIPPED) -> RankedLine:
    """The line with what its words, and those of its neighbours, are to the question's (`late_interaction.matches`)."""
    *evidence, _, _ = line.evidence  # they stand last in `weights.WEIGHTS`
    gain = ranking.weights["match0"] * own + ranking.weights["match1"] * around
    return RankedLine(line.strip, line.first, line.last, line.flags, line.score + gain, (*evidence, own, around))


def _lexical(
    terms: Sequence[tuple[float, Positions]], columns: _Columns, ranking: Ranking
) -> tuple[list[list[float]], tuple[list[float], list[float]], tuple[list[float], list[float]]]:
    """BM25 of each unit's window at each size; share of the terms' weight in the unit and within the middle window;
    share of it in the label, and whether the question has the whole label."""
    total = len(columns.words)
    lengths = _lengths(columns.words)
    flat, slope = ranking.k1 * (1 - ranking.b), ranking.k1 * ranking.b
    scores = [[0.0] * total for _ in SIZES]
    cover = [0.0] * total
    cover0 = [0.0] * total
    label = [0.0] * total
    label_words = [0] * total  # words of the label that the question has
    mass = sum(weight for weight, _ in terms) or 1.0
    for weight, positions in terms:
        gain = weight / mass
        counts, in_label = _occurrences(positions, columns)
        for at in in_label:
            label[at] += gain
            label_words[at] += 1
        for at in counts:
            cover0[at] += gain
        for size, (length, mean), column in zip(SIZES, lengths, scores, strict=True):
            near = _occurrences_near(counts, size, total) if size and counts else counts
            for at, count in near.items():
                column[at] += gain * count / (count + (flat + slope / mean * length[at]))
            if size == 2:
                for at in near:
                    cover[at] += gain
    wholes = zip(columns.of_units(label_words), columns.of_units(columns.labels), strict=True)
    named = [1.0 if count and count >= whole else 0.0 for count, whole in wholes]
    labelled = [min(1.0, value) if value else 0.0 for value in columns.of_units(label)]
    covers = columns.of_units(cover0), columns.of_units(cover)
    return [columns.of_units(column) for column in scores], covers, (labelled, named)


def _lengths(words: Sequence[int]) -> list[tuple[list[float], float]]:
    """For each size the words within the window of each unit, and their mean over windows that have any: what BM25 adds
    to a term's frequency below the line is k1 (1 - b + b length / mean)."""
    sums = list(accumulate(words, initial=0))
    windows = [_windows(sums, size, len(words)) for size in SIZES]
    return [(lengths, sum(lengths) / ((len(lengths) - lengths.count(0)) or 1) or 1.0) for lengths in windows]


def _occurrences(positions: Positions, columns: _Columns) -> tuple[dict[int, int], list[int]]:
    """Unit -> how often a term stands in it; and the unit of each occurrence that stands in its unit's label."""
    counts: dict[int, int] = {}
    in_label: list[int] = []
    for chunk, offsets in positions.items():
        for start, lengths in columns.base.get(chunk, ()):
            at, end = start, lengths[0] if lengths else 0
            for offset in offsets:
                while offset >= end and at - start + 1 < len(lengths):
                    at += 1
                    end += lengths[at - start]
                if offset >= end:
                    break  # past the last unit
                counts[at] = counts.get(at, 0) + 1
                if offset < end - lengths[at - start] + columns.labels[at]:
                    in_label.append(at)
    return counts, in_label


def _occurrences_near(positions: dict[int, int], size: int, total: int) -> dict[int, int]:
    """Unit -> occurrences within `size` units of it; by running sums where the term is frequent."""
    if len(positions) * (2 * size + 1) > 2 * total:
        column = [0] * total
        for at, count in positions.items():
            column[at] = count
        sums = _windows(list(accumulate(column, initial=0)), size, total)
        return {at: int(count) for at, count in enumerate(sums) if count}
    near: dict[int, int] = {}
    for at, count in positions.items():
        for other in range(at - size, at + size + 1):
            near[other] = near.get(other, 0) + count
    return near


def _vector(vector: Sequence[float] | None, columns: _Columns, coherence: float) -> list[list[float]]:
    """Cosine of the question with each unit's window at each size; zeros without a vector."""
    if vector is None:
        return [[0.0] * len(columns.places) for _ in SIZES]
    norms, total = columns.norms, len(columns.norms)
    there = [at for at, norm in enumerate(norms) if norm]
    line = [0.0] * total
    for at, cosine in zip(there, cosines(vector, [columns.vectors[at] for at in there]), strict=True):
        line[at] = cosine
    found = [columns.of_units(line)]
    sums = list(accumulate(map(mul, line, norms), initial=0.0))
    lengths = list(accumulate(norms, initial=0.0))
    squares = list(accumulate(map(mul, norms, norms), initial=0.0))
    for size in SIZES[1:]:
        dots, one, two = (columns.of_units(_windows(values, size, total)) for values in (sums, lengths, squares))
        found.append(
            [
                dot / sqrt(b + coherence * (c if (c := a * a - b) > 0 else 0.0)) if b > 1e-9 else 0.0
                for dot, a, b in zip(dots, one, two, strict=True)
            ]
        )
    return found


def nearest(strips: Sequence[Strip], vector: Sequence[float]) -> float:
    """The greatest cosine of the question and one line: a long chunk says little of what one of its lines means."""
    records = [packed for strip in strips for _, _, packed in strip.chunks]
    lines = [each for packed in records for each, norm in zip(packed.vectors, packed.norms, strict=True) if norm]
    return max(cosines(vector, lines), default=0.0) if lines else 0.0


def _windows(sums: Sequence[float], size: int, total: int) -> list[float]:
    """Sums over at-size..at+size from running sums (one longer than the column), cut at its ends."""
    middle = list(map(sub, sums[2 * size + 1 :], sums))
    if size == 0:
        return middle
    head = [sums[min(total, at + size + 1)] - sums[0] for at in range(min(size, total))]
    tail = [sums[total] - sums[max(0, at - size)] for at in range(max(size, total - size), total)]
    return [*head, *middle, *tail][:total]


def _doubt(evidence: dict[str, list[float]], enough: float) -> None:
    """Where no line has `enough` of the question in its words, what they share is chance, and meaning has to say more:
    brought to 0..1 the best of some chance matches looks as good as an answer."""
    share = min(1.0, max(evidence["cover0"], default=0.0) / enough)
    if share < 1:
        for size in SIZES:
            name = f"lexical{size}"
            evidence[name] = [share * value for value in evidence[name]]


def _impute(
    evidence: dict[str, list[float]],
    flags: Sequence[int],
    question: Question,
    cosine: Sequence[float],
    ranking: Ranking,
) -> None:
    """A line in another script than the question cannot share its words: that is no evidence against it.

    Such a line's lexical evidence is what its meaning says, where that is more, and the more so the less of the
    question any line has in its own words. Without this a chance word of a line in the question's own script outranks
    the note that answers it: of 40 English questions to 300 Korean notes among 300 English ones 9 are answered in the
    first five, with it 32; undamped, lines of code take the place of Korean ones (Korean hit@5 .883 -> .874). It has to
    be near by itself, too (`akin` to `translated`): the nearest of a pool always looks near beside the others.
    """
    share = ranking.imputed * max(0.0, 1 - max(evidence["cover0"], default=0.0))
    if not share or not any(evidence["cover2"]):
        return
    span = ranking.translated - ranking.akin
    for at, flag in enumerate(flags):
        other = flag & (HANGUL | HAN_KANA)
        if (question.latin_only if other else question.cjk_only) and cosine[at] > ranking.akin:
            believed = share * min(1.0, (cosine[at] - ranking.akin) / span)
            for size in SIZES:
                name = f"lexical{size}"
                evidence[name][at] = max(evidence[name][at], believed * evidence[f"vector{size}"][at])
            evidence["cover2"][at] = max(evidence["cover2"][at], believed * evidence["vector2"][at])
