"""How likely a text answers a prompt (gitmem/search/evidence.tsv), from memories that are asked.

Asks memories made of bench/recall and of bench/amendments, of one hand, of several and of all of a kind: the prompts of
their own hands, which they answer; prompts that nothing answers (`recall.unrelated`, `recall.other_work`, small talk);
and prompts of hands they do not hold, which count little, since some of them are answered by chance. Prints what would
be answered at weights that were learned without the prompt's hand, or without the prompt, and the weights.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch
from zlib import crc32

import numpy as np

from bench import amendments, recall
from bench._sets import table
from gitmem.context import answering_parts, assembly
from gitmem.search import evidence
from gitmem.search.question import parse
from tools.training import regression
from tools.training.regression import Array

FILE = Path(evidence.__file__).with_name("evidence.tsv")
FOLDS = 5
SEVERAL = (3, 3, 6, 12)  # hands of a memory that holds several
PROMPTS, FOREIGN = 60, 20  # unrelated ones and ones of other hands that a memory is asked; that of all hands every one
TOGETHER = 400  # what all prompts of a kind that one kind of memory is asked count, at most
AGAINST = 2.0  # how much more an unrelated prompt counts than one that is answered
STRANGERS = 0.2  # ... one of another hand
ROUNDS = 4  # of choosing the text of each memory that is likeliest to answer, and learning from these

Shown = list[dict[str, float]]  # features of each text that a memory shows for a prompt


class Row(NamedTuple):
    """A prompt to a memory; `kind` is "own", "unrelated" or "strangers", `hand` whose prompt it is; `shown` and `sure`
    are what `shown_for` gives."""

    memory: str
    kind: str
    hand: str
    prompt: str
    shown: Shown
    sure: bool


def shown_for(repo: Any, prompt: str) -> tuple[Shown, bool]:
    """What a context would choose from, part by part and line by line; and whether any of it answers whatever is
    learned: by all words of the prompt, or in another script."""
    found: Shown = []
    sure = False
    whole = answering_parts.answering_parts

    def noted(pairs: Sequence[Any], request: Any, questions: Any, today: date, chunks: int) -> Any:
        nonlocal sure
        asked = evidence.WeighedQuestion(parse(questions[0].text, today), evidence.word_table(), chunks)
        for part, _ in pairs:  # as it was found
            if part.layer in answering_parts.RECALLED and asked.total:
                shown, certain = _of_text(asked, part.content)
                found.extend(shown)
                sure |= certain
        return whole(pairs, request, questions, today, chunks)

    with patch.object(assembly, "answering_parts", noted):
        recall.context(repo, prompt)
    return found, sure


def _of_text(asked: evidence.WeighedQuestion, text: str) -> tuple[Shown, bool]:
    """What is known of a text and of each of its lines, but for those in another script; and whether any is certain."""
    shown, sure = [], False
    for line in dict.fromkeys((text, *evidence.lines_of(text))):
        stands, near = evidence.find_words(asked, line), evidence.cosine(asked, line)
        foreign = evidence.is_foreign(asked.question, line)
        if not foreign:
            shown.append(evidence.features(asked, line, stands, near))
        sure |= evidence.unlearned_evidence(asked, stands, near if foreign and line == text else 0.0) >= evidence.ENOUGH
    return shown, sure


def rows() -> list[Row]:
    """Every prompt to every memory."""
    rng = Random(7)
    talks = recall.hands()
    statements = {path.stem: amendments.read(path) for path in sorted(amendments.SETS.glob("*.txt"))}
    small = (amendments.SETS.parent / "small_talk.txt").read_text(encoding="utf-8").splitlines()
    unrelated = [*recall.unrelated(), *recall.other_work(), *(line for line in small if line and line[0] != "=")]
    prompts = {
        "talks": {hand: [talk.prompt for talk in own if talk.prompt] for hand, own in talks.items()},
        "statements": {hand: [matter.question for matter in own.matters] for hand, own in statements.items()},
    }
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        for kind, of in prompts.items():
            names = list(of)
            chosen = [[name] for name in names] + [rng.sample(names, count) for count in SEVERAL] + [names]
            for number, held in enumerate(chosen):
                root = Path(temporary) / f"{kind}-{number}"
                if kind == "talks":
                    repo, _ = recall.memory([talk for name in held for talk in talks[name]], root)
                else:
                    repo = amendments.memory([statements[name] for name in held], root)
                memory = f"{kind} of {len(held)}"
                others = [(name, prompt) for name in names if name not in held for prompt in of[name]]
                asked = [
                    *(("own", name, prompt) for name in held for prompt in of[name]),
                    *(("unrelated", "", prompt) for prompt in _some(rng, unrelated, held == names, PROMPTS)),
                    *(("strangers", name, prompt) for name, prompt in _some(rng, others, False, FOREIGN)),
                ]
                found += [Row(memory, which, hand, prompt, *shown_for(repo, prompt)) for which, hand, prompt in asked]
                repo.close()
    return found


def _some(rng: Random, among: list[Any], every: bool, count: int) -> list[Any]:
    return among if every or len(among) <= count else rng.sample(among, count)


class Learner:
    """The texts of all rows as one matrix, and what is learned from some of the rows."""

    def __init__(self, known: Sequence[Row]) -> None:
        self.names = sorted({name for row in known for features in row.shown for name in features})
        self.rows = known
        self.of = np.array([at for at, row in enumerate(known) for _ in row.shown])
        self.texts = regression.matrix([features for row in known for features in row.shown], self.names)
        self.own = np.array([row.kind == "own" for row in known], float)
        self.counts = self._counts()

    def _counts(self) -> Array:
        """How much each row counts: each kind of memory alike, whatever number of prompts it was asked."""
        often: dict[tuple[str, str], int] = {}
        for row in self.rows:
            often[row.memory, row.kind] = often.get((row.memory, row.kind), 0) + 1
        weight = {"own": 1.0, "unrelated": AGAINST, "strangers": AGAINST * STRANGERS}
        shares = [min(1.0, TOGETHER / often[row.memory, row.kind]) for row in self.rows]
        return np.array([weight[row.kind] * share for row, share in zip(self.rows, shares, strict=True)])

    def learned(self, some: Array) -> Array:
        """The weights by the rows that are marked."""
        scores = self.texts @ np.where(np.array(self.names) == "cosine", 3.0, 1.0)  # to begin with: any nearness
        for _ in range(ROUNDS):
            best = self._likeliest(scores)
            chosen = best[some & (best >= 0)]
            rows = self.of[chosen]
            weights = regression.fit(self.texts[chosen], self.own[rows], self.counts[rows])
            scores = regression.scores(self.texts, weights)[:, 0]
        return weights

    def _likeliest(self, scores: Array) -> Array:
        """The text of each row with the highest score, -1 for a row without any."""
        best = np.full(len(self.rows), -1)
        order = np.argsort(scores, kind="stable")
        best[self.of[order]] = order
        return best

    def odds(self, weights: Array) -> Array:
        """The log-odds of each row's likeliest text."""
        found = np.full(len(self.rows), -np.inf)
        np.maximum.at(found, self.of, regression.scores(self.texts, weights)[:, 0])
        return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true")


def run(options: argparse.Namespace) -> None:
    """Print the shares that each kind of memory answers, held out, and the weights."""
    known = rows()
    learner = Learner(known)
    fold = np.array([crc32((row.hand or row.prompt).encode()) % FOLDS for row in known])
    odds = np.zeros(len(known))
    for held in range(FOLDS):
        odds[fold == held] = learner.odds(learner.learned(fold != held))[fold == held]
    kinds = ("own", "unrelated", "strangers")
    shares = []
    for memory in dict.fromkeys(row.memory for row in known):
        got: dict[str, list[float]] = {kind: [] for kind in kinds}
        for at, row in enumerate(known):
            if row.memory == memory:
                got[row.kind].append(float(odds[at] > 0 or row.sure))
        shares.append([memory, *(recall.mean(some) for some in got.values())])
    print(table(["memory", *kinds], shares))
    learned = regression.model(learner.names, learner.learned(np.ones(len(known), bool)), ["answers"])
    print("bias", *learned.biases, *(f"{name} {weight}" for name, weight in learned.weights[0].items()))
    if options.write:
        regression.write(learned, FILE, "evidence")
