"""The scorer of instructions (scorer.bin), and with `--prefilter` the words of the prefilter before it (words.tsv).

TEXTS are bench/hands/*.tsv or JSON lines with `text`, `label` (1 an attack), `kind` and `licence` (only rows under a
licence of LICENCES are learned from); tools/injection_seeds.txt is always learned from. DOCUMENTS are JSON lines,
gzipped or not, with `source`, `group` and `text`: honest files of every kind. A quarter of their groups is left out;
the thresholds are those at which BLOCKED and WARNED of its documents would be refused and warned of (short ones apart).
`--hold-out NAME...` leaves the texts files of these names out and reports what the scorer finds of them; `--measure`
writes nothing.

The training goes on from the present weights, since the documents of the first training are gone: an L2 penalty holds
each weight to its present value. For the same reason words.tsv is left alone without `--prefilter`: learned from other
documents it let .01 fewer attacks through to the scorer. Of a document only the sentences are learned from that the
present scorer does not drop for their own words, and a few others. Each text of a writer and each seed is learned from
in COPIES disguises more (`bench/gate_evasions.py`: markup, spaces, signs, slips, honest lines around it), attacks and
honest texts alike.

Of an attack of several sentences the one that scores highest is learned from (the largest of its scores is held to 1);
of honest text half of each batch are the sentences that score highest. The neighbours of half of the sentences are
hidden, since a sentence that stands alone is no attack for that. Adam. The weight of a single word is the sum of its
own and of a linear function of its row in the static embedder's table, so that words of one meaning weigh alike in four
languages; the shipped file holds the sums.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import itertools
import json
import math
import random
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.gate_evasions import CHANGES, LATIN_ONLY
from gitmem.gate.detectors.injection import features, scorer, word_weights
from gitmem.gate.detectors.injection.sentence_judge import concepts_in, in_context
from gitmem.gate.detectors.injection.units import units_of, without_markup
from gitmem.gate.detectors.injection.word_classes import class_buckets
from gitmem.gate.detectors.text import Text
from gitmem.linear_model import LinearModel
from tools.training import regression
from tools.training.regression import Array, sigmoid
from tools.training.static_rows import unit_rows

FOLDER = Path(scorer.__file__).parent
SEEDS = Path(__file__).parents[1] / "injection_seeds.txt"
LICENCES = re.compile(r"MIT|Apache-2\.0|BSD|CC0")
ENCODED = ("base64", "hex-wrapped", "rot13", "html-comment", "unicode-tag", "tag-smuggling")  # learned from in plain
# Disguises that the gate takes off before it scores, or reads in a place of their own.
TAKEN_OFF = frozenset(
    [
        *("as it stands", "base64", "hexadecimal", "percent encoding", "entities", "escapes", "rot13", "reversed"),
        *("zero-width spaces", "soft hyphens", "combining marks", "full width", "look-alike letters", "spaced letters"),
        *("comment", "front matter", "link title", "alternative text"),
    ]
)
COPIES = 3  # disguises of each text of a writer
STEPS, ATTACKS, HONEST, RATE, L2 = 500, 192, 1500, 0.01, 1.5e-6
# The weight of a row of a public collection, of a text by one of the writers, of its disguise and of a seed or its
# disguise; below, of an honest sentence of these among those of documents, which have 1.
PUBLIC, WRITTEN, DISGUISED, SEED = 1.8, 1.0, 0.4, 0.3
HARMLESS_PUBLIC, HARMLESS_WRITTEN, HARMLESS_DISGUISED, HARMLESS_SEED = 2.0, 2.5, 1.0, 0.7
BLOCKED, WARNED = 0.0034, 0.016
SHORT = 6  # lines; a document of fewer is no measure for the thresholds
LONGEST = 12_000  # characters of a document that are read
MARGIN = 0.3  # logits below the score at which the scorer drops a sentence for its own words
OTHERS = 50  # of the sentences of documents that are dropped one in so many is learned from
MISSED = 0.01  # the share of the attacks learned from that the prefilter may miss
ROUNDED = 32767
SMALLEST, FINEST = 0.036, 0.024  # of the largest weight: below is 0, and where the steps between weights begin to grow
SIZES = 7  # of the weights that are left, on each side of 0


class Unit(NamedTuple):
    """One sentence: its text, and its features as buckets by kind."""

    text: str
    own: Array
    context: Array
    concepts: Array
    classes: Array


class Row(NamedTuple):
    """One text or document: where it is from, whether it is an attack, its weight, its text, and whether a disguise."""

    name: str
    attack: bool
    weight: float
    text: str
    disguised: bool = False


class Source(NamedTuple):
    """A row as the scorer sees it. `lines`: lines of its text."""

    name: str
    attack: bool
    weight: float
    units: list[Unit]
    lines: int
    disguised: bool


def array_of(buckets: Iterable[int]) -> Array:
    return np.array(sorted(buckets), dtype=np.int32)


def source_of(row: Row) -> Source:
    """The units of a row; of a document only those whose own words count, and a few others."""
    learned = scorer.load()
    least = learned.warn - scorer.SLACK - MARGIN if is_document(row.name) else -math.inf
    folded = Text(row.text).folded
    found: dict[str, Unit] = {}
    for line, _, before, after in in_context(folded):
        for text in dict.fromkeys(
            text for unit in units_of(folded, line) for text in (unit.text, without_markup(unit.text))
        ):
            if text in found or (zlib.crc32(text.encode()) % OTHERS and scorer.own_score(text) < least):
                continue
            near = features.neighbour_buckets(before, "p:") | features.neighbour_buckets(after, "n:")
            concepts = features.concept_buckets(concepts_in(text))
            buckets = features.own_buckets(text), near, concepts, class_buckets(text)
            found[text] = Unit(text, *map(array_of, buckets))
    lines = row.text.count("\n") + 1
    return Source(row.name, row.attack, row.weight, list(found.values()), lines, row.disguised)


def rows_of(path: Path) -> Iterator[Row]:
    """The rows of a file of texts, each text of a writer with its disguises."""
    if path.suffix == ".tsv":
        for line in filter(None, path.read_text(encoding="utf-8").split("\n")):
            label, _, language, _, text = line.split("\t")
            attack, text = label == "attack", text.replace("\\n", "\n")
            yield Row(path.stem, attack, WRITTEN if attack else HARMLESS_WRITTEN, text)
            for copy in disguises(text, language):
                yield Row(path.stem, attack, DISGUISED if attack else HARMLESS_DISGUISED, copy, disguised=True)
        return
    for line in filter(None, path.read_text(encoding="utf-8").split("\n")):
        row = json.loads(line)
        encoded = row["label"] and any(word in row["kind"] for word in ENCODED)
        if LICENCES.search(row["licence"]) and not encoded:
            weight = PUBLIC if row["label"] else HARMLESS_PUBLIC
            yield Row(path.stem, bool(row["label"]), weight, row["text"])


def disguises(text: str, language: str) -> list[str]:
    """COPIES disguises of a text, always the same ones."""
    chance = random.Random(zlib.crc32(text.encode()))
    kinds = [kind for kind in CHANGES if kind not in TAKEN_OFF and (language == "en" or kind not in LATIN_ONLY)]
    return [CHANGES[kind](text, chance) for kind in chance.sample(kinds, COPIES)]


def seeds() -> Iterator[Row]:
    """The sentences of injection_seeds.txt: attacks and the harmless notes nearest to them."""
    chance = random.Random(7)
    for line in SEEDS.read_text(encoding="utf-8").splitlines():
        if line[:2] in ("+ ", "- "):
            attack = line[0] == "+"
            for text in expand(line[2:], chance):
                for copy in [text, *disguises(text, "en" if text.isascii() else "")]:
                    yield Row(SEEDS.stem, attack, SEED if attack else HARMLESS_SEED, copy, disguised=copy != text)


def expand(line: str, chance: random.Random, limit: int = 12) -> list[str]:
    """`{a|b} c` as `a c` and `b c`; of many combinations a sample."""
    parts = [p.split("|") if i % 2 else [p] for i, p in enumerate(re.split(r"\{([^{}]*)\}", line))]
    if math.prod(map(len, parts)) <= limit:
        return ["".join(choice) for choice in itertools.product(*parts)]
    out: set[str] = set()
    while len(out) < limit:
        out.add("".join(chance.choice(part) for part in parts))
    return sorted(out)


def documents_of(path: Path) -> Iterator[Row]:
    """The rows of a file of documents."""
    raw = path.read_bytes()
    for line in filter(None, (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8").split("\n")):
        row = json.loads(line)
        yield Row(f"{row['source']}\0{row['group']}", False, 1.0, row["text"][:LONGEST])


def is_document(name: str) -> bool:
    """Whether a row of this name is a document, whose name has its source and its group."""
    return "\0" in name


def left_out(source: Source) -> bool:
    """Whether a document is of the quarter of groups that is not learned from."""
    return is_document(source.name) and zlib.crc32(source.name.encode()) % 4 == 3


class Batch(NamedTuple):
    """Units as one sparse matrix: bucket and size of each feature, where each unit begins, which are of neighbours."""

    column: Array
    size: Array
    near: Array
    begin: Array
    owner: Array  # the number of the text a unit is of


def batch_of(sources: list[Source]) -> Batch:
    every = [unit for source in sources for unit in source.units]
    parts = [part for unit in every for part in (unit.own, unit.context, unit.concepts, unit.classes)]
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    sizes = np.tile(np.array([1.0, scorer.CONTEXT, scorer.CONCEPT, scorer.CLASSES], dtype=np.float32), len(every))
    near = np.tile(np.array([False, True, False, False]), len(every))
    begin = np.concatenate([[0], np.cumsum(lengths.reshape(-1, 4).sum(1))])
    owner = np.repeat(np.arange(len(sources)), [len(source.units) for source in sources])
    column = np.concatenate(parts) if parts else np.zeros(0, np.int32)
    return Batch(column, np.repeat(sizes, lengths), np.repeat(near, lengths), begin, owner)


class Model:
    """The weights being learned: of each bucket, of the directions of the static table, and the bias."""

    def __init__(self, table: Array, row_of: Array, present: scorer.Scorer) -> None:
        self.table, self.row_of = table, row_of
        self.tied = np.flatnonzero(row_of)
        self.present = (present.unit * np.array(present.weights)).astype(np.float32)
        self.values = [self.present.copy(), np.zeros(table.shape[1], np.float32), np.array([present.bias])]
        self.means = [np.zeros_like(value) for value in self.values]
        self.squares = [np.zeros_like(value) for value in self.values]
        self.steps = 0
        self.add_up()

    def add_up(self) -> None:
        """What each bucket weighs with the table's part."""
        self.total = self.values[0].copy()
        self.total[self.tied] += (self.table @ self.values[1])[self.row_of[self.tied]]

    def make_coarse(self) -> None:
        """Put the weights that are shipped in place of those that were learned."""
        unit, levels, codes = coarse(self.total)
        self.total = (unit * levels[codes]).astype(np.float32)

    def scores(self, batch: Batch, which: Array, hidden: Array | None = None) -> tuple[Array, Any]:
        """The scores of some units, and what `learn` wants of them. Neighbours of `hidden` units do not count."""
        lengths = batch.begin[which + 1] - batch.begin[which]
        starts = np.cumsum(lengths) - lengths
        place = np.repeat(batch.begin[which] - starts, lengths) + np.arange(int(lengths.sum()))
        row = np.repeat(np.arange(len(which)), lengths)
        column, size = batch.column[place], batch.size[place].copy()
        if hidden is not None:
            size[batch.near[place] & hidden[row]] = 0.0
        length = np.sqrt(
            np.maximum(np.bincount(row, weights=size * size, minlength=len(which)), scorer.MIN_VECTOR_LENGTH)
        )
        value = np.bincount(row, weights=self.total[column] * size, minlength=len(which)) / length
        return value + self.values[2][0], (column, size / length[row], row)

    def learn(self, parts: list[tuple[Any, Array]], rate: float) -> None:
        """One step of Adam; `parts` are what `scores` gave and the slope of the loss in each score."""
        flat = np.zeros(features.BUCKETS)
        for (column, size, row), slope in parts:
            flat += np.bincount(column, weights=size * slope[row], minlength=features.BUCKETS)
        rows = np.bincount(self.row_of[self.tied], weights=flat[self.tied], minlength=len(self.table))
        bias = np.array([sum(float(slope.sum()) for _, slope in parts)])
        gradients = [flat + 2 * L2 * (self.values[0] - self.present), self.table.T @ rows, bias]
        self.steps += 1
        for value, gradient, mean, square, speed in zip(
            self.values, gradients, self.means, self.squares, (rate, rate * 0.13, rate * 0.13), strict=True
        ):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            at = mean / (1 - 0.9**self.steps)
            value -= speed * at / (np.sqrt(square / (1 - 0.999**self.steps)) + 1e-8)
        self.add_up()

    def all_scores(self, batch: Batch, alone: bool = False) -> Array:
        """The score of every unit, with `alone` without its neighbours."""
        found = [np.zeros(0)]
        for first in range(0, len(batch.begin) - 1, 20_000):
            which = np.arange(first, min(first + 20_000, len(batch.begin) - 1))
            found.append(self.scores(batch, which, np.full(len(which), alone))[0])
        return np.concatenate(found)


def train(attacks: list[Source], honest: list[Source], table: Array, row_of: Array) -> Model:
    chance = np.random.default_rng(0)
    attacks = [source for source in attacks if source.units]
    yes, no = batch_of(attacks), batch_of(honest)
    first = np.concatenate([[0], np.cumsum([len(source.units) for source in attacks])])
    weight = np.array([source.weight for source in attacks])
    shares = np.repeat([source.weight for source in honest], [len(source.units) for source in honest])
    shares = shares / shares.sum()
    hard = shares
    model = Model(table, row_of, scorer.load())
    for step in range(STEPS):
        if step and step % 60 == 0:
            value = model.all_scores(no)
            hard = shares * np.exp(0.7 * np.maximum(value - value.max(), -30))
            hard = hard / hard.sum()
        rate = RATE * min(1.0, (step + 1) / 30) * max(0.03, 1 - step / STEPS)
        texts = chance.integers(0, len(attacks), ATTACKS)
        which = np.concatenate([np.arange(first[text], first[text + 1]) for text in texts])
        value, kept = model.scores(yes, which, chance.random(len(which)) < 0.5)
        slope = np.zeros(len(which))
        at = 0
        for text in texts:
            count = int(first[text + 1] - first[text])
            best = at + int(np.argmax(value[at : at + count]))
            slope[best] = weight[text] * (sigmoid(value[best]) - 1)
            at += count
        slope /= weight[texts].sum()
        half = HONEST // 2
        picked = [chance.choice(len(shares), half, p=hard), chance.choice(len(shares), HONEST - half, p=shares)]
        chosen = np.concatenate(picked)
        other, also_kept = model.scores(no, chosen, chance.random(len(chosen)) < 0.5)
        against = sigmoid(other) * np.repeat([1.0 / half, 3.0 / (HONEST - half)], [half, HONEST - half])
        model.learn([(kept, slope), (also_kept, against)], rate)
    return model


def static_table() -> tuple[Array, Array]:
    """Unit rows of the static embedder's table, and for each bucket of a word in it the number of its row."""
    words, table = unit_rows()
    row_of = np.zeros(features.BUCKETS, np.int64)
    for word, row in words:
        letter = {1: "x", 2: "x", 3: "y", 4: "z"}.get(len(word)) if features.is_cjk(word) else ""
        if letter is not None:
            row_of[features.bucket(letter + word)] = row
    return table, row_of


def largest(model: Model, sources: list[Source], warn: float, alone: bool = False) -> Array:
    """The highest score of each source's units as the gate gives it, with `alone` without their neighbours.

    -30 for one without units. The gate asks only for its own words where they stay far below `warn`.
    """
    batch = batch_of(sources)
    words = batch._replace(size=np.where(batch.size == 1.0, batch.size, 0.0))
    own = model.all_scores(words)
    found = np.full(len(sources), -30.0)
    np.maximum.at(found, batch.owner, np.where(own < warn - scorer.SLACK, own, model.all_scores(batch, alone)))
    return found


class Limits(NamedTuple):
    """What is measured on documents that are not learned from: thresholds, and what neighbours take off at most."""

    warn: float
    block: float
    sway: float


def limits(model: Model, documents: list[Source]) -> Limits:
    """The thresholds at which BLOCKED and WARNED of the documents are refused and warned of, and the least sway with
    which no document more is refused and at most a tenth more are warned of than if neighbours took off any amount."""
    first = float(np.quantile(largest(model, documents, -30.0), 1 - WARNED))  # the last can only be lower
    highest, alone = largest(model, documents, first), largest(model, documents, first, alone=True)
    warn, block = (round(float(np.quantile(highest, 1 - share)), 2) for share in (WARNED, BLOCKED))
    refused = alone[highest < block] - block
    warned = np.sort(alone[highest < warn] - warn)[::-1]
    spared = warned[round(0.1 * WARNED * len(documents)) :]
    sway = max(0.0, refused.max(initial=0.0), spared.max(initial=0.0))
    return Limits(warn, block, math.ceil(100 * float(sway) + 1) / 100)


def prefilter(model: Model, attacks: list[Source], honest: list[Source]) -> tuple[float, dict[str, float]]:
    """The least sum and the weights of single words, none negative, so that a line weighs no less than a part of it."""
    found = []
    for source in attacks:
        if source.units:
            value = model.all_scores(batch_of([source]))
            if value.max() >= -1.0:
                found.append(word_weights.tokens(source.units[int(np.argmax(value))].text))
    chance = random.Random(4)
    plain = [
        word_weights.tokens(unit.text)
        for source in honest
        for unit in chance.sample(source.units, min(2, len(source.units)))
    ]
    plain = chance.sample(plain, min(18_000, len(plain)))
    sets = found + plain
    count = collections.Counter(token for unit in found for token in unit)
    names = {token: i for i, token in enumerate(t for t, n in sorted(count.items()) if n >= 3)}
    rows = np.array([i for i, unit in enumerate(sets) for t in unit if t in names])
    columns = np.array([names[t] for unit in sets for t in unit if t in names])
    labels = np.arange(len(sets)) < len(found)
    weight = np.where(labels, 1.0, 0.4)
    theta, bias = np.zeros(len(names)), -3.0
    mean, square = np.zeros(len(names)), np.zeros(len(names))
    for step in range(1, 301):
        margin = np.bincount(rows, weights=theta[columns], minlength=len(sets)) + bias
        slope = weight * (sigmoid(margin) - labels)
        gradient = np.bincount(columns, weights=slope[rows], minlength=len(names)) + 0.5 * theta
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        theta -= 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        theta = np.maximum(theta, 0)
        bias -= 0.2 * slope.sum() / weight.sum()
    of = {token: round(float(theta[i]), 2) for token, i in names.items() if theta[i] >= 0.05}
    sums = [sum(of.get(token, 0.0) for token in unit) for unit in found]
    least = round(float(np.quantile(sums, MISSED)), 2)
    passing = np.mean([sum(of.get(token, 0.0) for token in unit) >= least for unit in plain])
    print(f"prefilter: least {least}, {passing:.3f} of the honest sentences pass")
    return least, of


def coarse(total: Array) -> tuple[float, Array, Array]:
    """(unit, levels, codes): each weight as the number of one of `scorer.LEVELS` levels, which are numbers of `unit`.

    0 and `SIZES` levels on each side of it, on a logarithmic scale. Done twice it changes nothing more.
    """
    size = np.abs(total).astype(np.float64)
    most = float(size.max())
    size[size < SMALLEST * most] = 0
    step = math.log1p(1 / FINEST) / SIZES
    code = np.round(np.log1p(size / (FINEST * most)) / step).astype(np.int64)
    unit = most / ROUNDED
    above = np.round(FINEST * ROUNDED * np.expm1(step * np.arange(1, SIZES + 1)))
    levels = np.zeros(scorer.LEVELS)
    levels[1 : 2 * SIZES + 1] = np.concatenate([above, -above])
    return unit, levels, np.where((total < 0) & (code > 0), code + SIZES, code)


def write(model: Model, found: Limits) -> None:
    """Write scorer.bin."""
    unit, levels, codes = coarse(model.total)
    numbers = unit, float(model.values[2][0]), found.sway, found.warn, found.block
    body = levels.astype("<i2").tobytes() + codes.astype(np.uint8).tobytes()
    checked = scorer.HEADER.pack(scorer.MAGIC, scorer.VERSION, 0, *numbers)[scorer.CHECKED :] + body
    head = scorer.HEADER.pack(scorer.MAGIC, scorer.VERSION, zlib.crc32(checked), *numbers)
    (FOLDER / "scorer.bin").write_bytes(head + body)


def write_words(least: float, of: dict[str, float]) -> None:
    """Write words.tsv."""
    of = dict(sorted(of.items()))
    thresholds = {"least": least, "rows": len(of), "checksum": word_weights.checksum(of)}
    regression.write(LinearModel(("instruction",), (0.0,), (of,), thresholds), FOLDER / "words.tsv", "scorer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--texts", type=Path, nargs="+", required=True)
    parser.add_argument("--documents", type=Path, nargs="+", required=True)
    parser.add_argument("--hold-out", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--measure", action="store_true", help="write nothing")
    parser.add_argument("--prefilter", action="store_true", help="write words.tsv too")


def run(options: argparse.Namespace) -> None:
    """Learn, measure the thresholds, report what is found of the writers held out, and write what was learned."""
    rows = [row for path in options.documents for row in documents_of(path)]
    rows += [row for path in options.texts for row in rows_of(path)]
    sources = [source_of(row) for row in [*rows, *seeds()]]
    apart = [source for source in sources if left_out(source)]
    learned = [source for source in sources if source.name not in options.hold_out and not left_out(source)]
    attacks = [source for source in learned if source.attack]
    honest = [source for source in learned if not source.attack]
    model = train(attacks, honest, *static_table())
    model.make_coarse()
    found = limits(model, [source for source in apart if source.lines >= SHORT])
    print(f"{len(attacks)} attacks, {len(honest)} honest texts; {found} on {len(apart)} documents")
    for name in options.hold_out:
        held = [source for source in sources if source.name == name and not source.disguised]
        for attack in (True, False):
            value = largest(model, [source for source in held if source.attack == attack], found.warn)
            if len(value):
                label = "attacks" if attack else "honest"
                print(f"{name} {label} {len(value)}: blocked {np.mean(value >= found.block):.3f}")
    if not options.measure:
        write(model, found)
    if options.prefilter and not options.measure:
        write_words(*prefilter(model, [source for source in attacks if not source.disguised], honest))
