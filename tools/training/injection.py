"""The weights of the lexicon's concepts and words (concepts.tsv); or what the detectors find with weights that saw no
such row.

CORPUS has one JSON object a line with `text`, `label` (1 an attack), `kind`, `scope`, `source`, `licence`,
`cluster`; only rows under a licence of LICENCES are learned from. TEXTS are harmless paragraphs, plain or as
JSON lines, gzipped or not. The sentences of injection_seeds.txt are always learned from. A logistic
regression over the features of `structure.read`; of an attack of several sentences the one that scores
highest is taken (three rounds), and the harmless sentences that score highest are taken again.

`--evaluate` splits by cluster into five folds (rows that share a line count as one cluster) and runs all
detectors over each fold with weights learned from the other four; rows composed of others are measured with
weights that saw none of their lines.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import gzip
import itertools
import json
import random
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from gitmem.gate.detectors import registry
from gitmem.gate.detectors.injection import weights
from gitmem.gate.detectors.injection.structure import read, units
from gitmem.gate.detectors.text import Severity, Text
from gitmem.linear_model import LinearModel
from tools.training import regression

SEEDS = Path(__file__).parents[1] / "injection_seeds.txt"
OUT = Path(weights.__file__).with_name("concepts.tsv")
NAMES = ("injection", "invisible", "hidden", "encoded", "exfiltration", "terminal", "conflict")
LICENCES = re.compile(r"MIT|Apache-2\.0|BSD|CC0")
ENCODED = (
    "base64",
    "hex-wrapped",
    "rot13",
    "html-comment",
    "tag-smuggling",
)  # learned from in plain elsewhere
FOLDS = 5
L2, WORD_SCALE, SEED_WEIGHT, MIN_ROWS, MOST = 1.5, 1.0, 0.3, 3, 7800
WARN = -0.6
Row = dict[str, Any]


def expand(line: str, chance: random.Random, limit: int = 12) -> list[str]:
    """`{a|b} c` as `a c` and `b c`; of many combinations a sample."""
    parts = [p.split("|") if i % 2 else [p] for i, p in enumerate(re.split(r"\{([^{}]*)\}", line))]
    count = 1
    for part in parts:
        count *= len(part)
    if count <= limit:
        return ["".join(choice) for choice in itertools.product(*parts)]
    out: set[str] = set()
    while len(out) < limit:
        out.add("".join(chance.choice(part) for part in parts))
    return sorted(out)


def features(text: str) -> list[list[str]]:
    return [sorted(read(unit.text).features) for unit in units(Text(text).folded)]


def seeds() -> list[Row]:
    chance = random.Random(7)
    rows = []
    for line in SEEDS.read_text(encoding="utf-8").splitlines():
        if line[:2] in ("+ ", "- "):
            for text in expand(line[2:], chance):
                found = features(text)
                if line[0] == "+":
                    found = [max(found, key=len)]
                rows.append({"label": int(line[0] == "+"), "units": found, "weight": SEED_WEIGHT})
    return rows


def background(paths: list[Path], most: int) -> list[list[str]]:
    chance = random.Random(1)
    out: list[list[str]] = []
    for path in paths:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        texts = [line.strip() for line in raw.decode("utf-8").split("\n") if line.strip()]
        for text in chance.sample(texts, min(most, len(texts))):
            if ".jsonl" in path.name:
                found = json.loads(text)
                texts_here = [v for k, v in found.items() if k != "source" and (k != "en" or chance.random() < 0.3)]
            else:
                texts_here = [text]
            out += [unit for one in texts_here for unit in features(one[:1500]) if unit]
    return out


def lines_of(row: Row) -> set[str]:
    return {key for key in (re.sub(r"\W+", "", line.lower()) for line in row["text"].split("\n")) if len(key) >= 15}


def load(path: Path) -> list[Row]:
    """The rows, each with its features, fold and weight. Rows that share a line are in one fold."""
    rows: list[Row] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    parent: dict[str, str] = {}

    def find(key: str) -> str:
        while parent.setdefault(key, key) != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    owner: dict[str, str] = {}
    for row in rows:
        row["composed"] = "composed" in row["kind"]
        if not row["composed"]:
            for line in lines_of(row):
                parent[find(f"c{row['cluster']}")] = find(owner.setdefault(line, f"c{row['cluster']}"))
    for row in rows:
        row["fold"] = zlib.crc32(find(f"c{row['cluster']}").encode()) % FOLDS
        row["units"] = features(row["text"])
        row["weight"] = 0.25 if row["scope"] == "wide" else 0.7 if row["kind"].startswith("transform") else 1.0
        if not row["label"]:
            row["weight"] = 0.6
    return rows


def learnable(row: Row) -> bool:
    encoded = row["kind"].startswith("transform:") and any(word in row["kind"] for word in ENCODED)
    return bool(row["units"] and not row["composed"] and not encoded and LICENCES.search(row["licence"]))


def fit(sets: list[list[str]], labels: Any, weight: Any, names: dict[str, int], scale: Any, start: Any) -> Any:
    """Logistic regression with an L2 penalty by Adam, full batch; deterministic."""
    rows = np.array([i for i, unit in enumerate(sets) for f in unit if f in names], dtype=np.int32)
    columns = np.array([names[f] for unit in sets for f in unit if f in names], dtype=np.int32)
    size = len(names)
    theta = np.zeros(size + 1) if start is None else start.copy()
    mean, square = np.zeros(size + 1), np.zeros(size + 1)
    for step in range(1, 161):
        margin = np.bincount(rows, weights=(theta[:-1] * scale)[columns], minlength=len(sets)) + theta[-1]
        slope = weight * (1 / (1 + np.exp(-np.clip(margin, -30, 30))) - labels)
        gradient = np.append(
            np.bincount(columns, weights=slope[rows], minlength=size) * scale + L2 * theta[:-1], slope.sum()
        )
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        rate = 0.05 if step < 100 else 0.012
        theta -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return theta


def train(rows: list[Row], harmless: list[list[str]], rounds: int = 3) -> weights.Weights:
    count: collections.Counter[str] = collections.Counter()
    for row in rows:
        count.update({f for unit in row["units"] for f in unit})
    names = {f: i for i, f in enumerate(f for f, n in sorted(count.items()) if n >= MIN_ROWS and "\t" not in f)}
    scale = np.array([1.0 if f.startswith("=") else WORD_SCALE for f in names])
    attacks = [row for row in rows if row["label"]]
    plain = [(unit, row["weight"]) for row in rows if not row["label"] for unit in row["units"]]
    chance = random.Random(0)
    hard = chance.sample(harmless, min(6000, len(harmless)))
    chosen = [max(row["units"], key=len) for row in attacks]
    theta = None
    of: dict[str, float] = {}
    for turn in range(rounds):
        sets = chosen + [unit for unit, _ in plain] + hard
        labels = np.zeros(len(sets))
        labels[: len(attacks)] = 1
        weight = np.array([r["weight"] for r in attacks] + [w for _, w in plain] + [0.4] * len(hard))
        theta = fit(sets, labels, weight, names, scale, theta)
        of = {f: float(theta[i] * scale[i]) for f, i in names.items()}
        score = weights.Weights(float(theta[-1]), 0, of).score
        chosen = [max(row["units"], key=score) for row in attacks]
        if turn < rounds - 1:
            hard = sorted(harmless, key=score)[-5000:] + chance.sample(harmless, min(4000, len(harmless)))
    kept = sorted(of.items(), key=lambda item: (-abs(item[1]), item[0]))[:MOST]
    rounded = {f: round(w, 2) for f, w in sorted(kept) if abs(w) >= 0.02}
    assert theta is not None
    learned = weights.Weights(round(float(theta[-1]), 3), WARN, rounded)
    found = [unit for unit in chosen if learned.score(unit) >= WARN]
    plain = [learned.score(f for f in unit if not CONCEPT.match(f)) for unit in found]
    return dataclasses.replace(learned, slack=round(WARN - float(np.quantile(plain, MISSED)), 2))


CONCEPT = re.compile("='?[A-Z]")
MISSED = 0.002  # the share of the attacks learned from that may be missed for their words alone


def write(learned: weights.Weights, path: Path) -> None:
    thresholds = {"warn": learned.warn, "slack": learned.slack}
    regression.write(LinearModel(("instruction",), (learned.bias,), (learned.of,), thresholds), path, "injection")


def group(row: Row) -> str:
    kind = row["kind"]
    if row["label"]:
        if kind.startswith("memory:") or row["composed"]:
            return "attack: " + kind.split(":")[0]
        if kind.startswith("transform:"):
            return "attack: " + kind
        return f"attack: public {row['scope']} {row['lang'] if row['lang'] in ('en', 'ko') else 'other'}"
    return "harmless: " + kind.split(":")[0]


def measure(rows: list[Row]) -> None:
    """Set row['found'] to (blocked, warned or blocked, rules)."""
    for row in rows:
        found = registry.run(Text(row["text"], path="memory/note.md"), NAMES)
        blocked = any(match.severity is Severity.BLOCK for match in found)
        row["found"] = (
            blocked,
            bool(found),
            sorted({match.rule for match in found if match.severity is Severity.BLOCK}),
        )


def evaluate(rows: list[Row], extra: list[Row], harmless: list[list[str]]) -> None:
    def use(learned: weights.Weights) -> None:
        weights.load = lambda: learned  # type: ignore[assignment]

    for fold in range(FOLDS):
        use(train([r for r in rows if learnable(r) and r["fold"] != fold] + extra, harmless))
        measure([r for r in rows if r["fold"] == fold and not r["composed"]])
    composed = [row for row in rows if row["composed"]]
    parts = {line for row in composed for line in lines_of(row)}
    use(train([r for r in rows if learnable(r) and not lines_of(r) & parts] + extra, harmless))
    measure(composed)
    report(rows)


def report(rows: list[Row]) -> None:
    table: dict[str, list[tuple[bool, bool]]] = collections.defaultdict(list)
    for row in rows:
        mark = row["found"][:2]
        table[group(row)].append(mark)
        if row["label"] and row["kind"].startswith("transform"):
            table["attack: ALL disguised"].append(mark)
        elif row["label"] and row["scope"] == "core":
            table[f"attack: core {row['lang']}, not disguised"].append(mark)
        elif not row["label"] and row["scope"] == "core":
            table[f"harmless: core {row['lang']}"].append(mark)
    for name in sorted(table):
        marks = table[name]
        blocked = sum(b for b, _ in marks) / len(marks)
        flagged = sum(f for _, f in marks) / len(marks)
        print(f"{name:50s} {len(marks):5d}  blocked {blocked:.3f}  flagged {flagged:.3f}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--background", type=Path, nargs="*", default=[])
    parser.add_argument("--most", type=int, default=5000, help="paragraphs of each background file")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--evaluate", action="store_true")
    parser.add_argument("--scores", type=Path, help="write id and what was found of each row here, without text")


def run(options: argparse.Namespace) -> None:
    """Learn and write the weights, or measure."""
    rows = load(options.corpus)
    harmless = background(options.background, options.most)
    if options.evaluate:
        evaluate(rows, seeds(), harmless)
        if options.scores:
            options.scores.write_text(json.dumps([[r["id"], group(r), *r["found"]] for r in rows]))
    else:
        write(train([row for row in rows if learnable(row)] + seeds(), harmless), options.out)
