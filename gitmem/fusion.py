"""How evidence becomes a score: every constant of ranking, with the measurement that set it, and the formula.

Pure. Chunks are retrieved by two lanes and pooled; then each line of the pooled chunks is weighed by itself and with
its surroundings (`SIZES` lines to either side), in both lanes, each kind of evidence brought to 0..1 within the
query (per-query min-max; reciprocal ranks were worse at every k), and summed with `WEIGHTS`.
The numbers come from `bench/quality.py`: five conversations (each tuned on the other four) and Korean notes; columns
are R@5, share of relevant lines in 500/1000/2000 tokens, Korean hit@1, hit@5. docs/search.md explains them in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from math import log, sqrt
from operator import mul, sub
from typing import NamedTuple

from gitmem.errors import UsageError
from gitmem.lines import ASKS, DIMS, FENCE, HAN_KANA, HANGUL, HEADING, LENGTH, NUMBER, TIME, Packed
from gitmem.question import Question

# BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
K1, B = 1.2, 0.6
HEADING_TERM = 1.0  # what a term in the heading counts in a chunk's BM25, one in its body counting 1

# The pool: this many of each lane's best chunks, whatever -n says, and `REACH` chunks to either side of each.
POOL = 28
REACH = 1
COMMON = 5000  # a term in more chunks than this is left out where rarer ones exist (time, not quality)

LINE_WORDS = 25  # words of a line, about: how rare a term is among lines is judged by its occurrences

SIZES = (0, 2, 8)  # lines to either side; with only 0: .567 R@5; 0,1,4: .724; 0,2,8: .737; five sizes: .734
COHERENCE = 0.2  # mean cosine of neighbouring lines: the length of a window's vector is estimated, not stored

WEIGHTS: dict[str, float] = {
    "lexical0": 0.85,
    "lexical2": 1.75,
    "lexical8": 2.2,
    "cover0": 1.6,  # share of the question's weight that the line itself has: Korean hit@1 .709 -> .728
    "cover2": 1.6,  # ... that the lines around it have
    "vector0": 3.3,
    "vector2": 1.0,
    "vector8": 0.1,
    "label": 2.6,  # the speaker or subject before the colon is in the question: R@5 .724 -> .737
    "answer": 1.6,  # the line before asks, and matches: the answer often shares no word with the question
    "answer_vector": 0.7,
    "asks": -0.9,  # a line that itself ends in a question mark
    "length": 1.5,  # up to ENOUGH words; unbounded it cost Korean hit@1 .796 -> .728
    "when": 1.8,  # the question wants a time and the line has one
    "number": 0.9,  # ... a number
    "days": 3.6,  # the line's log is of the days the question names
    "fence": -0.4,  # a block of code matches much by its length: Korean hit@1 .728 -> .767
    "heading": 1.0,  # the heading or the file's name has words of the question
}


ENOUGH = 20  # words from which a line is long enough to say something
LEAST = 0.0  # least spread of lexical evidence; 0.2: R@1 .467 -> .484, Korean hit@5 .874 -> .854, so none
IMPUTED = 0.8  # of a line's meaning, what stands in for words it cannot share (another script than the question's)
EXACT = 20.0  # a line with the question's identifier as a whole; more than all other evidence together
UNRELATED = 0.2  # cosine below which a chunk has nothing to do with a question it shares no word with
FULL = 12.0  # the sum that a score of 1.0 stands for, at least

# Added to the score (0..1). Too small to move a dev set by a point; they order what is else equal.
PRIORS: dict[str, float] = {
    "memory": 0.03,
    "daily": 0.0,
    "archive": -0.03,
    "decided": 0.01,
    "importance": 0.04,  # times (importance - 0.5)
    "recent": 0.02,  # halved each HALF_LIFE days; by the date in the file's name, never by mtime
    "duplicate": -0.05,
    "past": 0.1,  # expired or superseded, and the question is about the past
    "period": 0.2,  # ... and it held in the days the question names
}
HALF_LIFE = 90

READ, READ_MANY, FEW = 60, 150, 20  # lines whose text is read and judged: for at most FEW hits, for more
JOIN = 0.1  # a neighbour joins a passage when it is this share of the spread below it: R@5 .743 -> .767
JOINED = 3  # lines of a passage at most
SHORT = 100  # characters below which a passage takes a neighbour in anyway
TWINS = 0.9  # Jaccard of words from which the second of two passages is left out


class Strip(NamedTuple):
    """Consecutive chunks of one blob: (chunk id, its first line in the file, its lines, its heading evidence)."""

    path: str
    oid: str
    chunks: Sequence[tuple[int, int, Packed]]
    days: float  # how well the file's date matches the question's days, 0..1


class Line(NamedTuple):
    """One scored unit. `evidence` is what each weight was multiplied with, in the order of `WEIGHTS`."""

    strip: int
    first: int
    last: int
    flags: int
    score: float
    evidence: tuple[float, ...]


Positions = dict[int, list[int]]  # chunk -> where in its body a term stands


def idf(chunks: int, frequency: int) -> float:
    """BM25's weight of a term in `frequency` of `chunks` chunks."""
    return log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


def _minmax(values: list[float], real: Sequence[bool], least: float = 0.0) -> list[float]:
    """To 0..1 over the real entries. `least` keeps a small range small: noise is not blown up to 1."""
    known = [value for value, kept in zip(values, real, strict=True) if kept]
    low = min(known, default=0.0)
    span = max(max(known, default=0.0) - low, least)
    return [(value - low) / span for value in values] if span > 1e-9 else [0.0] * len(values)


def score_lines(
    strips: Sequence[Strip],
    question: Question,
    terms: Sequence[tuple[float, Positions]],
    headings: dict[int, float],
    vector: Sequence[float] | None,
) -> list[Line]:
    """Every unit of the strips with its score, in order. `terms` are (idf, positions) of the question's terms,
    `headings` the heading evidence of a chunk (0..1), `vector` the question's first `DIMS` numbers, of length 1.
    """
    pad = max(SIZES)
    owner: list[int] = []
    first: list[int] = []
    last: list[int] = []
    words: list[int] = []
    labels: list[int] = []
    flags: list[int] = []
    norms: list[float] = []
    vectors: list[bytes] = []
    head: list[float] = []
    base: dict[int, list[tuple[int, Sequence[int]]]] = {}  # chunk -> (index of its first unit, words of its units)

    def gap() -> None:
        owner.extend([-1] * pad)
        for column in (first, last, words, labels, flags):
            column.extend([0] * pad)
        norms.extend([0.0] * pad)
        vectors.extend([b""] * pad)
        head.extend([0.0] * pad)

    gap()
    for number, strip in enumerate(strips):
        for chunk, line, packed in strip.chunks:
            count = len(packed.first)
            base.setdefault(chunk, []).append((len(owner), packed.words))
            owner.extend([number] * count)
            first.extend([line + n for n in packed.first])
            last.extend([line + n for n in packed.last])
            words.extend(packed.words)
            labels.extend(packed.label)
            flags.extend(packed.flags)
            norms.extend(packed.norms)
            vectors.extend(packed.vectors)
            head.extend([headings.get(chunk, 0.0)] * count)
        gap()
    total = len(owner)
    real = [number >= 0 and not flag & HEADING for number, flag in zip(owner, flags, strict=True)]

    lexical, cover, label = _lexical(terms, base, words, labels, total, pad)
    evidence: dict[str, list[float]] = {
        f"lexical{size}": _minmax(column, real, LEAST) for size, column in zip(SIZES, lexical, strict=True)
    }
    evidence["cover0"], evidence["cover2"] = cover
    evidence["fence"] = [1.0 if flag & FENCE else 0.0 for flag in flags]
    evidence["label"] = label
    columns = _vector(vector, vectors, norms, total, pad)
    for size, column in zip(SIZES, columns, strict=True):
        evidence[f"vector{size}"] = _minmax(column, real)
    _impute(evidence, flags, question)
    asks = [1.0 if flag & ASKS else 0.0 for flag in flags]
    evidence["asks"] = asks
    evidence["answer"] = [0.0, *map(mul, evidence["lexical0"], asks)][:total]
    evidence["answer_vector"] = [0.0, *map(mul, evidence["vector0"], asks)][:total]
    evidence["length"] = [min(1.0, count / ENOUGH) for count in words]
    wants = TIME * question.wants_time
    evidence["when"] = [1.0 if flag & wants else 0.0 for flag in flags]
    wants = NUMBER * question.wants_number
    evidence["number"] = [1.0 if flag & wants else 0.0 for flag in flags]
    evidence["days"] = [strips[number].days if number >= 0 else 0.0 for number in owner]
    evidence["heading"] = head

    scores = [0.0] * total
    for name, weight in WEIGHTS.items():
        scores = [score + weight * value for score, value in zip(scores, evidence[name], strict=True)]
    rows = zip(*(evidence[name] for name in WEIGHTS), strict=True)
    return [
        Line(owner[at], first[at], last[at], flags[at], scores[at], row)
        for at, row in enumerate(rows)
        if owner[at] >= 0
    ]


def _lexical(
    terms: Sequence[tuple[float, Positions]],
    base: dict[int, list[tuple[int, Sequence[int]]]],
    words: list[int],
    labels: list[int],
    total: int,
    pad: int,
) -> tuple[list[list[float]], tuple[list[float], list[float]], list[float]]:
    """BM25 of each unit's window at each size; share of the terms' weight within the middle window; in the label."""
    lengths = [_windows(list(accumulate(words, initial=0)), size, total) for size in SIZES]
    floors = []
    for column in lengths:
        known = [n for n in column if n]
        mean = sum(known) / len(known) if known else 1.0
        floors.append([K1 * (1 - B + B * n / mean) for n in column])
    scores = [[0.0] * total for _ in SIZES]
    cover = [0.0] * total
    cover0 = [0.0] * total
    label = [0.0] * total
    mass = sum(weight for weight, _ in terms) or 1.0
    for weight, positions in terms:
        found: dict[int, int] = {}
        for chunk, offsets in positions.items():
            for start, counts in base.get(chunk, ()):
                at, end = start, counts[0] if counts else 0
                for offset in offsets:
                    while offset >= end:
                        at += 1
                        if at - start >= len(counts):
                            break
                        end += counts[at - start]
                    else:
                        found[at] = found.get(at, 0) + 1
                        if offset < end - counts[at - start] + labels[at]:
                            label[at] += weight / mass
                        continue
                    break
        if not found:
            continue
        for at in found:
            cover0[at] += weight / mass
        for size, floor, column in zip(SIZES, floors, scores, strict=True):
            near: dict[int, int] = found
            if size:
                near = _near(found, size, total)
            gain = weight / mass
            for at, count in near.items():
                column[at] += gain * count / (count + floor[at])
            if size == 2:
                for at in near:
                    cover[at] += weight / mass
    return scores, (cover0, cover), [min(1.0, value) for value in label]


def _near(found: dict[int, int], size: int, total: int) -> dict[int, int]:
    """Unit -> occurrences within `size` units of it; by running sums where the term is frequent."""
    if len(found) * (2 * size + 1) > 2 * total:
        column = [0] * total
        for at, count in found.items():
            column[at] = count
        sums = _windows(list(accumulate(column, initial=0)), size, total)
        return {at: int(count) for at, count in enumerate(sums) if count}
    near: dict[int, int] = {}
    for at, count in found.items():
        for other in range(at - size, at + size + 1):
            near[other] = near.get(other, 0) + count
    return near


def _vector(
    vector: Sequence[float] | None, vectors: list[bytes], norms: list[float], total: int, pad: int
) -> list[list[float]]:
    """Cosine of the question with each unit's window at each size; zeros without a vector."""
    if vector is None:
        return [[0.0] * total for _ in SIZES]
    cosines = [0.0] * total
    for at, packed in enumerate(vectors):
        if norms[at]:
            numbers = memoryview(packed).cast("b")
            cosines[at] = sum(map(mul, vector, numbers)) / LENGTH
    columns = [cosines]
    sums = list(accumulate(map(mul, cosines, norms), initial=0.0))
    lengths = list(accumulate(norms, initial=0.0))
    squares = list(accumulate(map(mul, norms, norms), initial=0.0))
    for size in SIZES[1:]:
        dots = _windows(sums, size, total)
        one = _windows(lengths, size, total)
        two = _windows(squares, size, total)
        columns.append(
            [
                dot / sqrt(b + COHERENCE * max(0.0, a * a - b)) if b > 1e-9 else 0.0
                for dot, a, b in zip(dots, one, two, strict=True)
            ]
        )
    return columns


def _windows(sums: Sequence[float], size: int, total: int) -> list[float]:
    """Sums over at-size..at+size from running sums (one longer than the column), cut at its ends."""
    middle = list(map(sub, sums[2 * size + 1 :], sums))
    if size == 0:
        return middle
    head = [sums[min(total, at + size + 1)] - sums[0] for at in range(min(size, total))]
    tail = [sums[total] - sums[max(0, at - size)] for at in range(max(size, total - size), total)]
    return [*head, *middle, *tail][:total]


def _impute(evidence: dict[str, list[float]], flags: list[int], question: Question) -> None:
    """A line in another script than the question cannot share its words: that is no evidence against it.

    Such a line's lexical evidence is what its meaning says, where that is more, and the more so the less of the
    question any line has in its own words. Without this a chance word of a line in the question's own script outranks
    the note that answers it: of 40 English questions to 300 Korean notes among 300 English ones 9 are answered in the
    first five, with it 32; undamped, lines of code take the place of Korean ones (Korean hit@5 .883 -> .874).
    """
    share = IMPUTED * max(0.0, 1 - max(evidence["cover0"], default=0.0))
    if not share or not any(evidence["cover2"]):
        return
    for at, flag in enumerate(flags):
        other = flag & (HANGUL | HAN_KANA)
        if question.latin_only if other else question.cjk_only:
            for size in SIZES:
                name = f"lexical{size}"
                evidence[name][at] = max(evidence[name][at], share * evidence[f"vector{size}"][at])
            evidence["cover2"][at] = max(evidence["cover2"][at], share * evidence["vector2"][at])


@contextmanager
def overridden(settings: Mapping[str, float]) -> Iterator[None]:
    """Other values for some constants while measuring (`git mem eval --ab`); a search never calls this."""
    saved = {name: globals()[name] for name in NUMBERS}
    weights, priors = dict(WEIGHTS), dict(PRIORS)
    try:
        for name, value in settings.items():
            if name in WEIGHTS:
                WEIGHTS[name] = value
            elif name in PRIORS:
                PRIORS[name] = value
            else:
                globals()[name.upper()] = type(saved[name.upper()])(value)
        yield
    finally:
        globals().update(saved)
        WEIGHTS.update(weights)
        PRIORS.update(priors)


NUMBERS = ("K1", "B", "POOL", "REACH", "COHERENCE", "LEAST", "IMPUTED", "JOIN", "JOINED", "SHORT", "LINE_WORDS")


def variants(texts: Sequence[str]) -> list[tuple[str, dict[str, float]]]:
    """`key=v1,v2` as named settings to compare, every combination; one without a name where there is none.

    Raises UsageError for a key that is no weight, prior or constant of this module.
    """
    found: list[tuple[str, dict[str, float]]] = [("", {})]
    for text in texts:
        key, _, values = text.partition("=")
        known = key in WEIGHTS or key in PRIORS or key.upper() in NUMBERS
        try:
            numbers = [float(value) for value in values.split(",")]
        except ValueError:
            known = False
        if not known:
            keys = ", ".join([*WEIGHTS, *PRIORS, *(name.lower() for name in NUMBERS)])
            raise UsageError(f"'{text}' is no setting", f"KEY=V1,V2 with a KEY of {keys}")
        found = [
            (f"{name} {key}={number:g}".strip(), {**settings, key: number})
            for name, settings in found
            for number in numbers
        ]
    return found


__all__ = ["DIMS", "POOL", "REACH", "WEIGHTS", "Line", "Strip", "idf", "score_lines"]
