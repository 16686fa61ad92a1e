"""Which sentences of a talk belong to a decision (gitmem/sessions/decision_turns.tsv), from bench/recall.

Each talk of bench/recall has its decision written down by its author; a sentence is worth learning where it adds more
of the decision's words than others. The hands of `bench/recall.HELD_OUT` are left out. Prints how much of the
decisions' words would be kept with each hand left out in turn.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.recall import HELD_OUT, Conversation, hands, mean, share, transcript, words
from gitmem.linear_model import LinearModel
from gitmem.sessions import decision_turns
from gitmem.sessions.selection import cues_of_sentences, select, sentences
from tools.training import regression

FILE = Path(decision_turns.__file__).with_name("decision_turns.tsv")
# What a sentence must add: words of the decision, less a quarter of those that it does not have.
LEAST, STRANGE = 0.8, 0.25


class Row(NamedTuple):
    """A sentence of a hand's talk: what is known of it, and whether it is worth keeping."""

    hand: str
    features: dict[str, float]
    kept: bool


def worth(texts: Sequence[str], decision: str) -> set[int]:
    """The places of the texts that say the decision, the one that adds most first."""
    wanted, found = words(decision), set[int]()
    left, own = set(wanted), [words(text) for text in texts]
    while True:
        gain, at = max(
            (len(own[at] & left) - STRANGE * len(own[at] - wanted), -at) for at in range(len(own)) if at not in found
        ) if len(found) < len(own) else (0.0, 0)  # fmt: skip
        if gain <= LEAST:
            return found
        found.add(-at)
        left -= own[-at]


def rows() -> list[Row]:
    """The sentences to learn from."""
    found = []
    for hand, talks in hands().items():
        if hand in HELD_OUT:
            continue
        for talk in talks:
            turns = transcript(talk).turns
            said = sentences(turns)
            kept = worth([sentence.text for sentence in said], talk.decision) if talk.decision else set()
            before = {id(turn): earlier for earlier, turn in zip((None, *turns), turns, strict=False)}
            for at, (sentence, cues) in enumerate(zip(said, cues_of_sentences(said), strict=True)):
                of_turn = decision_turns.features_of_turn(sentence.turn, before[id(sentence.turn)])
                known = {**of_turn, **decision_turns.features(sentence, cues)}
                found.append(Row(hand, known, at in kept))
    return found


def learned(known: Sequence[Row]) -> LinearModel:
    """What these sentences teach."""
    names = sorted({name for row in known for name in row.features})
    weights = regression.fit(
        regression.matrix([row.features for row in known], names), np.array([row.kept for row in known], float)
    )
    return regression.model(names, weights, ["decision"])


def kept_of(talks: Sequence[Conversation]) -> tuple[float, float, float]:
    """Of the decisions' words the share that is kept, lines a turn, characters kept of a talk that decides nothing."""
    shares, idle, lines = [], [], 0
    for talk in talks:
        texts = [item.text for item in select(transcript(talk).turns, "memory/2026-03-09.md", talk.at)[0]]
        lines += len(texts)
        if talk.decision:
            shares.append(share(talk.decision, " ".join(texts)))
        else:
            idle.append(len(" ".join(texts)))
    return mean(shares), lines / sum(len(talk.turns) for talk in talks), mean(idle)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true")


def run(options: argparse.Namespace) -> None:
    """Learn, and print what each hand would keep by what was learned from the others."""
    known = rows()
    figures = []
    for hand, talks in hands().items():
        with regression.in_place_of(FILE.name, learned([row for row in known if row.hand != hand])):
            figures.append(kept_of(talks))
        held = ", held out" if hand in HELD_OUT else ""
        print(f"{hand}{held}: {figures[-1][0]:.3f} at {figures[-1][1]:.3f} lines a turn, {figures[-1][2]:.0f} idle")
    print("in the mean: {:.3f} at {:.3f} lines a turn, {:.0f} idle".format(*map(mean, zip(*figures, strict=True))))
    if options.write:
        regression.write(learned(known), FILE, "decision_turns")
