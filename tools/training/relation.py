"""What a later statement does to an earlier one (gitmem/memory/relation/relation.tsv), from labelled pairs.

PAIRS have the form of bench/relations (JSON lines: old, new, relation, accept, hand, domain); the pairs of that folder
and those of made_relations are always read too. REAL are pairs of lines of real memories (old, new, lang; hand and
domain are the part of the repositories): similar lines of one snapshot, of which nearly all hold, and lines of memory
with what they were edited into (relation: replaces), both with little weight. Two rows of one hand that have nothing to
do with each other are learned as `other`. The model is a multinomial logistic regression. Every pair is scored by one
that saw neither its hand nor its domain; the thresholds are taken from the pairs that people wrote. Prints the held-out
figures.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.relations import FOLDER, GONE, HOLD, curve, read_own, read_rows
from gitmem.memory.relation import judgement
from gitmem.memory.relation.alignment import Alignment, align
from gitmem.memory.relation.features import features_of
from gitmem.memory.relation.judgement import Kind, Said, certainty, corrected, doubted, nothing_shared
from tools.training import made_relations, regression

Row = dict[str, Any]
KINDS = tuple(Kind)
FILE = Path(judgement.__file__).with_name("relation.tsv")
PENALTY = 8.0  # of the squares of the weights
SEEN_AT_LEAST = 6  # pairs that have a feature, else it is left out
ALIKE_WEIGHT = 0.15  # of a pair of similar real lines
MADE_WEIGHT = 0.12  # of a pair of made_relations
REAL_WEIGHT = 0.25  # of a line of a real memory and what it was edited into
UNRELATED_WEIGHT = 0.2  # of a pair of two rows that have nothing to do with each other
UNRELATED_EACH = 1  # such pairs for each row
UNRELATED_SEED = 5
ALIKE = (0.08, 0.17, 0.75, 0.0, 0.0, 0.0)  # what such a pair is taken for, in the order of KINDS
ACCEPTED = 0.3  # the share of a second answer that a fair reader could give
ACTED_ON = 0.0045  # share of pairs that hold, written or real, above the threshold of `automatic`; the aim is .005
ASKED_ABOUT = 0.0985  # the same of `asks`; the aim is .10


def unrelated(rows: list[Row]) -> list[Row]:
    """Pairs of two rows of one hand, language and fold that have nothing to do with each other: what a caller that
    compares any two lines of a memory gives most often."""
    dice = random.Random(UNRELATED_SEED)
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["hand"], row["lang"], fold_of(row)), []).append(row)
    made = []
    for group in groups.values():
        for row in group:
            for other in dice.sample(group, min(UNRELATED_EACH, len(group))):
                if other["old"] != row["old"]:
                    made.append({**row, "new": other["new"], "relation": "other", "accept": [], "unrelated": True})
    return made


def fold_of(row: Row) -> int:
    """One of three folds, by domain: pairs of one domain are never learned from and scored at once."""
    domain = row.get("domain", "").split("-")[0]
    return int(hashlib.sha256(domain.encode()).hexdigest(), 16) % 3


def targets(rows: list[Row]) -> np.ndarray:
    wanted = np.zeros((len(rows), len(KINDS)))
    for at, row in enumerate(rows):
        if "relation" not in row:
            wanted[at] = ALIKE
            continue
        wanted[at, KINDS.index(Kind(row["relation"]))] = 1 - ACCEPTED * bool(row["accept"])
        for other in row["accept"]:
            wanted[at, KINDS.index(Kind(other))] += ACCEPTED / len(row["accept"])
    return wanted


def splits(rows: list[Row]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Which pairs are learned from, and which pairs of another hand and another domain are scored."""
    hands = np.array([row.get("hand", "") for row in rows])
    fold = np.array([fold_of(row) for row in rows])
    for hand in sorted(set(hands) - {""}):
        for number in range(3):
            yield (hands != hand) & ((fold != number) | (hands == "")), (hands == hand) & (fold == number)


def held_out(rows: list[Row], pairs: list[Alignment], table: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """The probabilities of every pair with a hand by a model that saw neither its hand nor its domain, corrected as
    `relation` does."""
    scores = regression.held_out(table, targets(rows), splits(rows), worth, PENALTY)
    chances = regression.probabilities(scores)
    for at, row in enumerate(rows):
        if not row.get("hand"):
            continue
        if nothing_shared(pairs[at].old, pairs[at].new):
            chances[at] = [kind is Kind.OTHER for kind in KINDS]
        else:
            found = features_of(pairs[at])
            kinds = corrected(dict(zip(KINDS, map(float, chances[at]), strict=True)), found, pairs[at])
            chances[at] = [kinds[kind] for kind in KINDS]
    return chances


def is_labelled(row: Row) -> bool:
    """Whether a person wrote and labelled the pair: the aims are measured on these."""
    return bool(row.get("hand")) and not (row.get("unrelated") or row.get("made") or row.get("real"))


def worth_of(row: Row) -> float:
    """How much a pair counts in learning."""
    if row.get("unrelated"):
        return UNRELATED_WEIGHT
    if row.get("real"):
        return REAL_WEIGHT if "relation" in row else ALIKE_WEIGHT
    if row.get("hand") and not row.get("made"):
        return 1.0
    return MADE_WEIGHT if "relation" in row else ALIKE_WEIGHT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pairs", nargs="+", type=Path, metavar="PAIRS.jsonl")
    parser.add_argument("--real", type=Path, metavar="REAL.jsonl")
    parser.add_argument("--write", action="store_true")


def run(options: argparse.Namespace) -> None:
    """Learn, and print what would be acted on and asked about of the pairs of hands and domains that were left out."""
    rows = [row for path in options.pairs for row in read_rows(path)] + read_own(FOLDER)
    rows += unrelated(rows)
    rows += made_relations.rows()
    if options.real:
        rows += [{**row, "accept": row.get("accept", []), "real": True} for row in read_rows(options.real)]
    pairs = [align(row["old"], row["new"]) for row in rows]
    found = [features_of(pair) for pair in pairs]
    labelled = np.array([is_labelled(row) for row in rows])
    seen: dict[str, int] = {}
    for row, one in zip(rows, found, strict=True):
        if row.get("hand") and not row.get("unrelated"):
            for name in one:
                seen[name] = seen.get(name, 0) + 1
    names = sorted(name for name, count in seen.items() if count >= SEEN_AT_LEAST)
    table, worth = regression.matrix(found, names), np.array([worth_of(row) for row in rows])
    print(f"{labelled.sum()} pairs, {len(rows) - labelled.sum()} more, {len(names)} features")
    chances = held_out(rows, pairs, table, worth)
    gone, asked = chances[:, 3] + chances[:, 4], chances[:, 3:].sum(1)
    alone = [Said("")] * len(rows)
    clear = ~np.array([doubted(*each) for each in zip(found, alone, alone, pairs, strict=True)])
    hold = labelled & np.array([row.get("relation") in HOLD for row in rows])
    over = labelled & np.array([row.get("relation") in GONE for row in rows])
    conflict = labelled & np.array([row.get("relation") == "conflicts" for row in rows])
    apart = np.array([bool(row.get("unrelated")) for row in rows])
    sure = np.array([certainty(*each) for each in zip(map(float, gone), found, pairs, strict=True)]) * clear
    lines = np.array([bool(row.get("real")) and "relation" not in row for row in rows])
    automatic = max(above(sure[one], ACTED_ON) for one in (hold, lines) if one.any())
    asks = above(asked[hold], ASKED_ABOUT)
    acts, questions = sure >= automatic, asked >= asks
    print(f"thresholds {automatic:.3f} {asks:.3f}")
    languages = sorted({row["lang"] for row in rows if "lang" in row})
    spoken = np.array([row.get("lang", "") for row in rows])
    for name, there in [("all", spoken != ""), *((language, spoken == language) for language in languages)]:
        acted = [share(acts, there & one) for one in (hold, over, apart)]
        asking = [share(questions, there & one) for one in (hold, over, conflict, apart)]
        print(
            f"{name}: acted on (hold, gone, unrelated)",
            *acted,
            "asked about (hold, gone, conflicts, unrelated)",
            *asking,
        )
    for name in ("made", "real"):
        there = np.array([bool(row.get(name)) and bool(row.get("hand")) for row in rows])
        for language in languages:
            here = there & (spoken == language)
            gone_here = here & np.array([row.get("relation") in GONE for row in rows])
            for what, chosen in (("hold", here & ~gone_here), ("gone", gone_here)):
                of = f"{name} {language}: {chosen.sum()} {what}"
                print(f"{of}, acted on {share(acts, chosen)}, asked about {share(questions, chosen)}")
    scored = [row for row, is_one in zip(rows, labelled, strict=True) if is_one]
    print(*curve(scored, gone[labelled].tolist(), asked[labelled].tolist(), chances[labelled, 0].tolist()), sep="\n")
    if options.write:
        weights = regression.fit(table, targets(rows), worth, PENALTY)
        thresholds = {"automatic": round(automatic, 3), "asks": round(asks, 3)}
        learned = regression.model(names, weights, [kind.value for kind in KINDS], thresholds)
        regression.write(learned, FILE, "relation")


def share(chosen: np.ndarray, among: np.ndarray) -> str:
    return f"{chosen[among].sum() / max(1, among.sum()):.4f}"


def above(scores: np.ndarray, share: float) -> float:
    """The threshold above which this share of the scores lies."""
    ordered = np.sort(scores)[::-1]
    return float(ordered[int(share * len(ordered))]) + 1e-4
