"""Computes the score of each line of the retrieved chunks from evidence. `Ranking` has the constants.

Two lanes retrieve chunks. Each line of these chunks is then compared with the question in both lanes, by itself and
together with its neighbours (`weights.SIZES` lines to either side). Each kind of evidence is scaled to 0..1 within the
query (min-max; reciprocal ranks were worse at every k), multiplied with its weight, and summed. Pure.

A *unit* is a line, an item or a paragraph; each gets a score. A *strip* is a run of consecutive chunks of one blob. The
*trail* of a unit is its context: the note's name, headings and parent items. *Evidence* is a number, 0..1, for one way
in which a unit matches the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, compress
from math import log, sqrt
from operator import mul, sub
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gitmem.index.line_records import ASKS, FENCE, HAN_KANA, HANGUL, HEADING, NUMBER, TIME, Packed
from gitmem.models.vectors import cosines
from gitmem.paths import log_date
from gitmem.search.question import Question
from gitmem.search.weights import SHIPPED, SIZES, Ranking

if TYPE_CHECKING:
    Value = TypeVar("Value", int, float)


class Strip(NamedTuple):
    """A run of consecutive chunks of one blob.

    `path`, `oid`: of the file. `chunks`: (chunk id, its first line in the file, its units, the line of its heading).
    `days`: how well the file's date matches the question's days, 0..1. `name`: positions, among the question's terms,
    of the terms in the file's name. `whole_name`: whether the question has each word of the name.
    """

    path: str
    oid: str
    chunks: Sequence[tuple[int, int, Packed, int]]
    days: float
    name: frozenset[int] = frozenset()
    whole_name: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """(path, oid)."""
        return self.path, self.oid

    def chunk_of_line(self, line: int) -> int:
        """The id of the last chunk that begins at or above a line; 0 without one."""
        return next((chunk for chunk, start, _, _ in reversed(self.chunks) if start <= line), 0)


class RankedLine(NamedTuple):
    """A scored unit (a line, an item or a paragraph).

    `strip`: the number of its strip. `first`, `last`: its lines in the file. `flags`: bits such as HEADING and FENCE.
    `score`: the weighted sum of its evidence. `evidence`: one value for each weight, in the order of the weights.
    `parent`: the number of its parent unit, None without one.
    """

    strip: int
    first: int
    last: int
    flags: int
    score: float
    evidence: tuple[float, ...]
    parent: int | None = None


class ScoredLines:
    """The scored units in order, as columns.

    A search uses a few dozen of thousands of units, so a RankedLine is made only when a unit is indexed. `scores` and
    `parents` have one entry for each unit. `strips`: the strips whose units these are. `meaning`: for each unit the
    share, 0..1, of its vector evidence that counts; empty if all counts. It is below 1 for lines of logs of other days
    than those that the question names.
    """

    __slots__ = ("_columns", "_evidence", "meaning", "parents", "scores", "strips")

    def __init__(
        self, columns: _Columns, scores: list[float], evidence: list[list[float]], meaning: Sequence[float] = ()
    ) -> None:
        self._columns, self._evidence, self.meaning = columns, evidence, meaning
        self.strips, self.parents, self.scores = columns.strips, columns.parents, scores

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, index: int) -> RankedLine:
        units, evidence = self._columns, tuple([column[index] for column in self._evidence])
        return RankedLine(
            units.strip_numbers[index], units.first[index], units.last[index], units.flags[index], self.scores[index],
            evidence, units.parents[index],
        )  # fmt: skip

    def __iter__(self) -> Iterator[RankedLine]:
        return map(self.__getitem__, range(len(self)))

    def strip_of(self, index: int) -> Strip:
        """The strip (run of consecutive chunks) that has the unit at `index`."""
        return self.strips[self._columns.strip_numbers[index]]

    def ranked(self) -> list[int]:
        """The indexes of the units by score, highest first; equal scores in the order of the lines. Headings are left
        out, except one that is all its strip has."""
        lines = list(compress(range(len(self.scores)), self._columns.stating))
        return sorted(lines, key=self.scores.__getitem__, reverse=True)

    def raise_exact_matches(self, identifiers: Sequence[Positions], gain: float) -> None:
        """Add `gain` to the score of each unit that has an identifier of the question as a whole. `identifiers`: the
        positions of each in the bodies of chunks."""
        if not any(identifiers):
            return
        matches: set[tuple[int, int]] = set()  # (strip number, first line)
        for number, strip in enumerate(self.strips):
            for chunk, start, packed, _ in strip.chunks:
                offsets = {offset for positions in identifiers for offset in positions.get(chunk, ())}
                if not offsets:
                    continue
                end = 0
                for first, count in zip(packed.first, packed.words, strict=True):
                    begin, end = end, end + count
                    if any(begin <= offset < end for offset in offsets):
                        matches.add((number, start + first))
        for unit, place in enumerate(zip(self._columns.strip_numbers, self._columns.first, strict=True)):
            if place in matches:
                self.scores[unit] += gain


NOTHING_NEAR: Mapping[int, float] = MappingProxyType({})
Positions = dict[int, list[int]]  # chunk -> the positions of a term in its body or trail


class TermPositions(NamedTuple):
    """The positions of a term of the question. `rarity`: its IDF over lines. `bodies`, `trails`: its positions in the
    bodies and in the trails of chunks."""

    rarity: float
    bodies: Positions
    trails: Positions


def idf(chunks: int, frequency: int) -> float:
    """The inverse document frequency of BM25 for a term that `frequency` of `chunks` chunks have."""
    return log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


def lowest(values: Sequence[float], half_count: int = SHIPPED.chance_lines) -> float:
    """The value that becomes 0 when evidence is scaled: the least of many, but of few lines nearer to 0, because the
    worse of two similar lines is not one that matches by chance. `half_count`: the number of lines for which
    half the least value is taken."""
    least = min(values, default=0.0)
    return least * len(values) / (len(values) + half_count) if least > 0 else least


def _minmax(
    values: list[float], real: Sequence[bool], min_span: float = 0.0, half_count: int = SHIPPED.chance_lines
) -> list[float]:
    """All values, scaled so that 0 is the `lowest` of those marked in `real` and 1 the greatest; zeros if both are one.

    `min_span`: the smallest span that becomes 1, so that noise stays small.
    """
    real_values = [*compress(values, real)]
    zero = lowest(real_values, half_count)
    span = max(max(real_values, default=0.0) - zero, min_span)
    if span > 1e-9:
        return [(value - zero) / span for value in values]
    return [0.0] * len(values)


_PAD = max(SIZES)
GAP = Packed((), (), [0] * _PAD, [0] * _PAD, (), [0.0] * _PAD, [b""] * _PAD)  # the empty places that end a window


class _Columns:
    """The units of all strips, as columns. `strip_numbers`: the number of the strip of each unit.

    Columns that are summed over windows have a *place* for each unit, and `max(SIZES)` empty places wherever a window
    must end: before and after a strip, between sections, and around an item with children. `places`: the place of each
    unit. `stating`: whether each unit states something: each but a heading, and a heading that is all its strip has.
    `records`, `units_of`: one entry for each occurrence of a chunk: its record, and the places of its units.
    `occurrences`: chunk -> the indexes of its occurrences. `below` and `above`: place -> (place, distance) of its
    descendants and ancestors.
    """

    def __init__(self, strips: Sequence[Strip]) -> None:
        self.strips = strips
        self.strip_numbers: list[int] = []
        self.first: list[int] = []
        self.last: list[int] = []
        self.flags: list[int] = []
        self.stating: list[bool] = []
        self.places: list[int] = []
        self.parents: list[int | None] = []  # number of the parent unit, None without one
        # One value for each place:
        self.words: list[int] = []
        self.labels: list[int] = []
        self.norms: list[float] = []
        self.vectors: list[bytes] = []
        self.record_of: list[int] = []  # index of the place's chunk in `records`, -1 for an empty place
        self.below: dict[int, list[tuple[int, int]]] = {}
        self.above: dict[int, list[tuple[int, int]]] = {}
        self.records: list[Packed] = []
        self.units_of: list[list[int]] = []
        self.occurrences: dict[int, list[int]] = {}
        self.add_gap()
        for number, strip in enumerate(strips):
            heading_before = -1
            for chunk, line, packed, heading in strip.chunks:
                if heading_before not in (-1, heading):
                    self.add_gap()
                heading_before = heading
                self.add_chunk(number, chunk, line, packed)
            self.add_gap()
            flags = self.flags[len(self.stating) :]
            self.stating += [not flag & HEADING or len(flags) == 1 for flag in flags]

    def add_gap(self) -> None:
        """Append the empty places that end a window."""
        self._add_places(GAP, 0, _PAD, -1)

    def _add_places(self, packed: Packed, begin: int, end: int, record: int) -> None:
        """Append a place for each of the units `begin` to `end` of a chunk; `record`: its index in `records`."""
        self.words.extend(packed.words[begin:end])
        self.labels.extend(packed.label[begin:end])
        self.norms.extend(packed.norms[begin:end])
        self.vectors.extend(packed.vectors[begin:end])
        self.record_of.extend([record] * (end - begin))

    def add_chunk(self, strip: int, chunk: int, line: int, packed: Packed) -> None:
        """Append the units of a chunk that begins at `line` of its file."""
        count, first_unit, record = len(packed.first), len(self.places), len(self.records)
        places: list[int] = []
        for begin, end in _groups(packed.up) if any(packed.up) else ((0, count),):
            if begin:
                self.add_gap()
            place = len(self.words)
            places.extend(range(place, place + end - begin))
            self._add_places(packed, begin, end, record)
        self.occurrences.setdefault(chunk, []).append(record)
        self.records.append(packed)
        self.units_of.append(places)
        self.strip_numbers.extend([strip] * count)
        self.first.extend([line + offset for offset in packed.first])
        self.last.extend([line + offset for offset in packed.last])
        self.flags.extend(packed.flags)
        self.places.extend(places)
        self.parents.extend([first_unit + n - up if up else None for n, up in enumerate(packed.up)])
        for unit in range(first_unit, len(self.parents)):
            distance, parent = 1, self.parents[unit]
            while parent is not None and distance <= MAX_ANCESTORS:
                self.below.setdefault(self.places[parent], []).append((self.places[unit], distance))
                self.above.setdefault(self.places[unit], []).append((self.places[parent], distance))
                distance, parent = distance + 1, self.parents[parent]

    def of_units(self, column: Sequence[Value]) -> list[Value]:
        """The entries of a column of places that belong to units, in the order of the units."""
        return list(map(column.__getitem__, self.places))


MAX_ANCESTORS = 8  # ancestors of a unit that are followed


def _groups(parent_distances: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(begin, end) of runs of units whose windows do not overlap: an item with its descendants, and the units between
    such items. `parent_distances`: how many units before it the parent of a unit stands, 0 without."""
    begin, index, count = 0, 0, len(parent_distances)
    while index < count:
        end = index + 1
        while end < count and parent_distances[end] and end - parent_distances[end] >= index:
            end += 1
        if end > index + 1:  # an item with others below it
            if begin < index:
                yield begin, index
            yield index, end
            begin = end
        index = end
    if begin < count:
        yield begin, count


def score_lines(
    strips: Sequence[Strip],
    question: Question,
    terms: Sequence[TermPositions],
    vector: Sequence[float] | None,
    ranking: Ranking = SHIPPED,
    near: Mapping[int, float] = NOTHING_NEAR,
) -> ScoredLines:
    """Score all units of the strips, in order.

    `terms`: the terms of the question. `vector`: the first DIMS numbers of the question's vector, at length 1; None
    without the vector lane. `near`: chunk -> cosine with the question by the embedder in force, empty if that is the
    static table.
    """
    columns = _Columns(strips)
    evidence, meaning = _evidence(columns, question, terms, vector, ranking)
    evidence["chunk"] = _chunk_evidence(columns, near)
    if meaning:
        evidence["chunk"] = list(map(mul, evidence["chunk"], meaning))
    scores = [0.0] * len(columns.flags)
    for name, weight in ranking.weights.items():
        if any(evidence[name]):
            scores = [score + weight * value for score, value in zip(scores, evidence[name], strict=True)]
    return ScoredLines(columns, scores, [evidence[name] for name in ranking.weights], meaning)


def _chunk_evidence(columns: _Columns, near: Mapping[int, float]) -> list[float]:
    """For each unit the result has the cosine of its chunk (0.0 for a chunk that `near` lacks), scaled so that the
    units that state something span 0..1; a heading's value may be outside. All values are 0.0 if `near` is empty or
    the values of these units are equal."""
    if not near:
        return [0.0] * len(columns.flags)
    chunks = (entry for strip in columns.strips for entry in strip.chunks)
    values = [near.get(chunk, 0.0) for chunk, _, packed, _ in chunks for _ in packed.first]
    return _minmax(values, columns.stating, half_count=0)  # a model finds any two texts near


def _evidence(
    columns: _Columns,
    question: Question,
    terms: Sequence[TermPositions],
    vector: Sequence[float] | None,
    ranking: Ranking,
) -> tuple[dict[str, list[float]], Sequence[float]]:
    """(name of a weight -> its evidence: one value for each unit, 0..1, for `long` 0..3; `_meaning_shares`)."""
    flags = columns.flags
    real = columns.stating
    evidence = _lexical(terms, columns, ranking)
    for size in SIZES:
        evidence[f"lexical{size}"] = _minmax(evidence[f"lexical{size}"], real, ranking.least)
    cosines_of_units = _vector(vector, columns, ranking)
    for size, column in zip(SIZES, cosines_of_units, strict=True):
        evidence[f"vector{size}"] = _minmax(column, real)
    meaning = _meaning_shares(columns, evidence["cover0"])
    if meaning:
        for size in SIZES:
            evidence[f"vector{size}"] = list(map(mul, evidence[f"vector{size}"], meaning))
    _raise_other_scripts(evidence, flags, question, cosines_of_units[0], ranking)
    if vector is not None:
        _lower_lexical(evidence, ranking.half)
    evidence["asks"], evidence["fence"] = _flagged(flags, ASKS), _flagged(flags, FENCE)
    evidence["answer"] = _after_questions(evidence["lexical0"], columns)
    evidence["answer_vector"] = _after_questions(evidence["vector0"], columns)
    words = columns.of_units(columns.words)
    evidence["length"] = list(map({count: min(1.0, count / ranking.enough) for count in set(words)}.__getitem__, words))
    evidence["long"] = list(map({count: min(3.0, count / ranking.lengthy) for count in set(words)}.__getitem__, words))
    evidence["when"] = _flagged(flags, TIME * question.wants_time)
    evidence["number"] = _flagged(flags, NUMBER * question.wants_number)
    evidence["days"] = [columns.strips[number].days for number in columns.strip_numbers]
    evidence["match0"] = evidence["match1"] = [0.0] * len(flags)  # `with_matches` sets these for the best lines
    return evidence, meaning


def _meaning_shares(columns: _Columns, cover: Sequence[float]) -> Sequence[float]:
    """The share of its meaning that counts as evidence for each unit, 0..1; empty if all counts for all units.

    If memory has a log of a day that the question names, a line of another day's log must share a word with the
    question: a verb is guessed ("what did we repair yesterday?"), and the line nearest to the guess is not an answer. A
    log soon after the named days counts as `Strip.days` says. `cover`: the evidence `cover0`.
    """
    strips = columns.strips
    if not any(strip.days == 1.0 for strip in strips):
        return ()
    shares = [strip.days if log_date(strip.path) is not None else 1.0 for strip in strips]
    return [1.0 if covered else shares[number] for covered, number in zip(cover, columns.strip_numbers, strict=True)]


def _flagged(flags: Sequence[int], mask: int) -> list[float]:
    """1 for each unit with one of the flags of `mask`, else 0."""
    if not mask:
        return [0.0] * len(flags)
    return [1.0 if flag & mask else 0.0 for flag in flags]


def _after_questions(values: Sequence[float], columns: _Columns) -> list[float]:
    """For each unit that follows a question in its strip the value of that question, else 0."""
    question_values = [0.0] * len(values)
    asking = [index for index, flag in enumerate(columns.flags[:-1]) if flag & ASKS]
    for index in asking:
        if columns.strip_numbers[index] == columns.strip_numbers[index + 1]:
            question_values[index + 1] = values[index]
    return question_values


def with_matches(line: RankedLine, line_match: float, window_match: float, ranking: Ranking = SHIPPED) -> RankedLine:
    """The line with the two scores of `late_interaction.match_lines` (0..1) as its evidence `match0`
    (`line_match`) and `match1` (`window_match`: with neighbours), and with its score raised by them times the weights
    of `ranking`. To be called once for a line: a second call would raise the score again."""
    *evidence, _, _ = line.evidence  # match0 and match1 are the last two of `weights.WEIGHTS`
    gain = ranking.weights["match0"] * line_match + ranking.weights["match1"] * window_match
    return line._replace(score=line.score + gain, evidence=(*evidence, line_match, window_match))


def _lexical(terms: Sequence[TermPositions], columns: _Columns, ranking: Ranking) -> dict[str, list[float]]:
    """The lexical evidence, one value for each unit.

    `lexical0`, `lexical2`, `lexical8`: BM25 of the window around the unit, for each size of SIZES. `cover0`, `cover2`:
    share of the question's weight in the unit, and within two units of it. `label`: that share in the unit's label.
    `named`: 1 if the question has the whole label or a whole step of the trail. `trail`: that share in the trail.
    `titled`: 1 if a step of the trail is the whole question. A word of the trail counts as a word of the unit; it
    counts less, the farther out its step is.
    """
    total = len(columns.words)
    lengths = _lengths(columns.words)
    flat, slope = ranking.k1 * (1 - ranking.b), ranking.k1 * ranking.b
    scores = [[0.0] * total for _ in SIZES]
    cover2, cover0, label, trail = [0.0] * total, [0.0] * total, [0.0] * total, [0.0] * total
    label_words = [0] * total  # words of the label that are in the question
    steps = _Steps(columns)
    total_weight = sum(weight for weight, _, _ in terms) or 1.0
    names = _file_name_places(columns)
    for number, (weight, bodies, trails) in enumerate(terms):
        gain = weight / total_weight
        counts, in_label = _occurrences(bodies, columns)
        for place in in_label:
            label[place] += gain
            label_words[place] += 1
        from_trail = steps.of_term(gain, counts, trails, ranking)
        for place in names.get(number, ()):
            from_trail[place] = max(from_trail.get(place, 0.0), ranking.in_name)
        for place in counts:
            cover0[place] += gain
        for place, share in from_trail.items():
            trail[place] += gain * share
            if place not in counts:
                cover0[place] += gain * share
        for size, (length, mean), column in zip(SIZES, lengths, scores, strict=True):
            windows: dict[int, float] = dict(_occurrences_near(counts, size, total) if size and counts else counts)
            for place, share in from_trail.items():
                windows[place] = windows.get(place, 0.0) + share
            for place, count in windows.items():
                column[place] += gain * count / (count + (flat + slope / mean * length[place]))
            if size == 2:
                for place, count in windows.items():
                    cover2[place] += gain * min(1.0, count)
    whole_step, whole_question = steps.whole()
    for place, count in enumerate(label_words):
        if count and count >= columns.labels[place]:
            whole_step[place] = 1.0
    evidence = {f"lexical{size}": column for size, column in zip(SIZES, scores, strict=True)}
    evidence |= {"cover0": cover0, "cover2": cover2, "label": [min(1.0, value) for value in label]}
    evidence |= {"named": whole_step, "trail": trail, "titled": whole_question}
    return {name: columns.of_units(column) for name, column in evidence.items()}


def _file_name_places(columns: _Columns) -> dict[int, list[int]]:
    """Position of a term -> the places of all units of files with this term in their name."""
    places: dict[int, list[int]] = {}
    if any(strip.name for strip in columns.strips):
        for place, strip in zip(columns.places, columns.strip_numbers, strict=True):
            for number in columns.strips[strip].name:
                places.setdefault(number, []).append(place)
    return places


class _Steps:
    """Counts, term by term, which words of a question the steps of the units' trails have."""

    def __init__(self, columns: _Columns) -> None:
        self.columns = columns
        self.matched: dict[tuple[int, int], int] = {}  # (index in `records`, step) -> words of the question in the step
        self.share: dict[tuple[int, int], float] = {}  # (index in `records`, step) -> share of the question's weight
        self.in_unit: dict[int, int] = {}  # place of a unit with descendants -> words of the question in it
        self.share_in_unit: dict[int, float] = {}
        self.gains: list[float] = []  # of each term so far: its share of the question's weight

    def of_term(self, gain: float, counts: dict[int, int], trails: Positions, ranking: Ranking) -> dict[int, float]:
        """Add one term. Returns place of a unit -> what the term in its trail counts, 0..1: most in its parent item or
        innermost heading.

        `gain`: the term's share of the question's weight. `counts`: place -> occurrences in the unit. `trails`:
        positions in trails.
        """
        columns = self.columns
        self.gains.append(gain)
        shares: dict[int, float] = {}
        for chunk, offsets in trails.items():
            for record in columns.occurrences.get(chunk, ()):
                words = columns.records[record].steps
                share = 0.0
                for step in _steps_of(words, offsets):
                    self.matched[record, step] = self.matched.get((record, step), 0) + 1
                    self.share[record, step] = self.share.get((record, step), 0.0) + gain
                    share = max(share, ranking.in_trail * ranking.outward ** (len(words) - 1 - step))
                for place in columns.units_of[record]:
                    shares[place] = share
        for parent in columns.below.keys() & counts.keys():
            self.in_unit[parent] = self.in_unit.get(parent, 0) + counts[parent]
            self.share_in_unit[parent] = self.share_in_unit.get(parent, 0.0) + gain
            for place, distance in columns.below[parent]:
                shares[place] = max(shares.get(place, 0.0), ranking.in_trail * ranking.outward ** (distance - 1))
        return shares

    def whole(self) -> tuple[list[float], list[float]]:
        """Two columns of 0 and 1, one value for each place: whether the question has a whole step of the trail; whether
        such a step is the whole question."""
        columns = self.columns
        whole, titled = [0.0] * len(columns.words), [0.0] * len(columns.words)
        for (record, step), matched_words in self.matched.items():
            if matched_words >= columns.records[record].telling[step]:
                self._mark(columns.units_of[record], self.share[record, step], whole, titled)
        for parent, matched_words in self.in_unit.items():
            if matched_words >= WHOLE_ITEM_SHARE * columns.words[parent]:
                self._mark([place for place, _ in columns.below[parent]], self.share_in_unit[parent], whole, titled)
        shares = [sum(self.gains[number] for number in strip.name) for strip in columns.strips]
        for place, strip in zip(columns.places, columns.strip_numbers, strict=True):
            if columns.strips[strip].whole_name:
                whole[place] = 1.0
                titled[place] = max(titled[place], 1.0 if shares[strip] > WHOLE_QUESTION_SHARE else 0.0)
        return whole, titled

    def _mark(self, places: Iterable[int], share: float, whole: list[float], titled: list[float]) -> None:
        """Set `whole` to 1 at these places, and `titled` too if the step has the whole question's weight."""
        for place in places:
            whole[place] = 1.0
            if share > WHOLE_QUESTION_SHARE:
                titled[place] = 1.0


WHOLE_ITEM_SHARE = 0.6  # least share of an item's words in a question that has the whole item; the rest is grammar
WHOLE_QUESTION_SHARE = 0.99  # least share of a question's weight in a step that is the whole question


def _steps_of(words: Sequence[int], offsets: Sequence[int]) -> set[int]:
    """The indexes of the steps of a trail that contain these positions. `words`: number of words of each step."""
    steps: set[int] = set()
    step = end = 0
    for offset in offsets:
        while step < len(words) and offset >= end + words[step]:
            end += words[step]
            step += 1
        if step < len(words):
            steps.add(step)
    return steps


def _lengths(words: Sequence[int]) -> list[tuple[list[float], float]]:
    """For each size of SIZES (length of each window in words, mean length of the windows that are not empty).

    BM25's denominator is frequency + k1 (1 - b + b length / mean).
    """
    sums = list(accumulate(words, initial=0))
    windows = [_windows(sums, size, len(words)) for size in SIZES]
    return [(lengths, sum(lengths) / ((len(lengths) - lengths.count(0)) or 1) or 1.0) for lengths in windows]


def _occurrences(positions: Positions, columns: _Columns) -> tuple[dict[int, int], list[int]]:
    """(place of a unit -> number of occurrences of a term in it, the unit's place for each occurrence in its label).
    The list has a place once for each such occurrence. `positions`: of the term."""
    counts: dict[int, int] = {}
    in_label: list[int] = []
    for chunk, offsets in positions.items():
        for record in columns.occurrences.get(chunk, ()):
            places, lengths = columns.units_of[record], columns.records[record].words
            unit, end = 0, lengths[0] if lengths else 0
            for offset in offsets:
                while offset >= end and unit + 1 < len(lengths):
                    unit += 1
                    end += lengths[unit]
                if offset >= end:
                    break  # past the last unit
                place = places[unit]
                counts[place] = counts.get(place, 0) + 1
                if offset < end - lengths[unit] + columns.labels[place]:
                    in_label.append(place)
    return counts, in_label


def _occurrences_near(positions: dict[int, int], size: int, total: int) -> dict[int, int]:
    """Place -> occurrences within `size` places of it. Frequent terms are counted by running sums."""
    if len(positions) * (2 * size + 1) > 2 * total:
        column = [0] * total
        for place, count in positions.items():
            column[place] = count
        sums = _windows(list(accumulate(column, initial=0)), size, total)
        return {place: int(count) for place, count in enumerate(sums) if count}
    near: dict[int, int] = {}
    for place, count in positions.items():
        for neighbour in range(place - size, place + size + 1):
            near[neighbour] = near.get(neighbour, 0) + count
    return near


def _vector(vector: Sequence[float] | None, columns: _Columns, ranking: Ranking) -> list[list[float]]:
    """The cosine of the question and the window around each unit, with its trail: one column for each window size.

    `vector`: the embedded question; None gives zeros.
    """
    if vector is None:
        return [[0.0] * len(columns.places) for _ in SIZES]
    norms, total = columns.norms, len(columns.norms)
    places = [place for place, norm in enumerate(norms) if norm]
    place_cosines = [0.0] * total
    for place, cosine in zip(places, cosines(vector, [columns.vectors[place] for place in places]), strict=True):
        place_cosines[place] = cosine
    trail_sums = _trail_sums(vector, columns, place_cosines, ranking)
    summed = (map(mul, place_cosines, norms), norms, map(mul, norms, norms))
    running_sums = [list(accumulate(column, initial=0.0)) for column in summed]
    coherence = ranking.coherence
    cosines_of_sizes = []
    for size in SIZES:
        dots, lengths, squares = (columns.of_units(_windows(sums, size, total)) for sums in running_sums)
        column = []
        for dot, length, square, trail in zip(dots, lengths, squares, trail_sums, strict=True):
            trail_dot, trail_length, trail_square = trail
            length, square = length + trail_length, square + trail_square
            if square <= 1e-9:
                column.append(0.0)
                continue
            apart = length * length - square
            column.append((dot + trail_dot) / sqrt(square + coherence * (apart if apart > 0 else 0.0)))
        cosines_of_sizes.append(column)
    return cosines_of_sizes


def _trail_sums(
    vector: Sequence[float], columns: _Columns, place_cosines: Sequence[float], ranking: Ranking
) -> list[tuple[float, float, float]]:
    """For each unit the amounts that its trail adds to its window: (sum of products, of lengths, of squared
    lengths)."""
    weight = ranking.trail_vector
    with_trail = [record for record, packed in enumerate(columns.records) if packed.trail_norm]
    trail_cosines: dict[int, float] = {}
    if with_trail:
        trail_vectors = [columns.records[record].trail_vector for record in with_trail]
        trail_cosines = dict(zip(with_trail, cosines(vector, trail_vectors), strict=True))
    sums = []
    for place in columns.places:
        unit_norm = columns.norms[place]
        if not unit_norm or not weight:
            sums.append((0.0, 0.0, 0.0))
            continue
        max_length = weight * unit_norm  # so that a long trail does not outweigh a short line
        parts = [(place_cosines[parent], columns.norms[parent]) for parent, _ in columns.above.get(place, ())]
        record = columns.record_of[place]
        if record in trail_cosines:
            parts.insert(0, (trail_cosines[record], columns.records[record].trail_norm))
        lengths = [min(max_length, weight * norm) for _, norm in parts]
        dots = sum([cosine * length for (cosine, _), length in zip(parts, lengths, strict=True)])
        sums.append((dots, sum(lengths), sum([length * length for length in lengths])))
    return sums


def greatest_cosine(strips: Sequence[Strip], vector: Sequence[float]) -> float:
    """The greatest cosine of the question with any line; 0.0 if no line has a vector. The vector of a long chunk says
    little about one line."""
    records = [packed for strip in strips for _, _, packed, _ in strip.chunks]
    lines = [line for packed in records for line, norm in zip(packed.vectors, packed.norms, strict=True) if norm]
    return max(cosines(vector, lines), default=0.0) if lines else 0.0


def _windows(sums: Sequence[float], size: int, total: int) -> list[float]:
    """For each index the sum of the entries index-size..index+size. `sums`: running sums of the column, from 0."""
    middle = list(map(sub, sums[2 * size + 1 :], sums))
    if size == 0:
        return middle
    head = [sums[min(total, index + size + 1)] - sums[0] for index in range(min(size, total))]
    tail = [sums[total] - sums[max(0, index - size)] for index in range(max(size, total - size), total)]
    return [*head, *middle, *tail][:total]


def _lower_lexical(evidence: dict[str, list[float]], enough: float) -> None:
    """Lower the lexical evidence in place if no line has the share `enough` of the question's weight.

    Shared words are chance then, but scaled to 0..1 the best of some chance matches would look like an answer.
    """
    share = min(1.0, max(evidence["cover0"], default=0.0) / enough)
    if share < 1:
        for size in SIZES:
            name = f"lexical{size}"
            evidence[name] = [share * value for value in evidence[name]]


def _raise_other_scripts(
    evidence: dict[str, list[float]],
    flags: Sequence[int],
    question: Question,
    cosine: Sequence[float],
    ranking: Ranking,
) -> None:
    """Raise, in place, the lexical evidence of lines in another script than the question's, which cannot share its
    words.

    Such a line gets its vector evidence as lexical evidence, if that is more. The less of the question any line has in
    its words, the more of it. Without this, a chance word of a line in the question's script outranks the note that
    answers: of 40 English questions to 300 Korean notes among 300 English ones 9 are answered in the first five hits,
    with it 32. Undamped, lines of code take the place of Korean ones (Korean hit@5 .883 -> .874). The line's cosine
    itself must lie above `akin`, and counts in full from `translated` on, because the nearest line of a pool always
    looks near beside the others.
    """
    share = ranking.imputed * max(0.0, 1 - max(evidence["cover0"], default=0.0))
    if not share or not any(evidence["cover2"]):
        return
    span = ranking.translated - ranking.akin
    for unit, flag in enumerate(flags):
        is_cjk = flag & (HANGUL | HAN_KANA)
        if (question.latin_only if is_cjk else question.cjk_only) and cosine[unit] > ranking.akin:
            factor = share * min(1.0, (cosine[unit] - ranking.akin) / span)
            for size in SIZES:
                name = f"lexical{size}"
                evidence[name][unit] = max(evidence[name][unit], factor * evidence[f"vector{size}"][unit])
            evidence["cover2"][unit] = max(evidence["cover2"][unit], factor * evidence["vector2"][unit])
