"""`tools/train.py`: each model has its module; a regression is the best one and is written as the package reads it."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from gitmem import linear_model
from gitmem.git.opening import open_repository
from tests.harness import Repo
from tools.train import NAMES, main
from tools.training import regression

FOUND = [{"long": 1.0, "late": 0.5}, {"long": 0.2}, {"late": 1.0}, {"long": 0.9, "new": 1.0}, {"new": 0.4}]
NAMED = ["long", "new", "late"]


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_a_module_with_arguments_and_a_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = import_module(f"tools.training.{name}")
    with pytest.raises(SystemExit, match="0"):
        main([name, "-h"])
    assert module.__doc__.split("\n")[0] in capsys.readouterr().out and callable(module.run)


@pytest.mark.parametrize(
    "wanted", [[1.0, 0.0, 0.4, 1.0, 0.0], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.7, 0.3, 0], [0, 1, 0]]]
)
def test_no_other_weights_lose_less(wanted: list[float] | list[list[float]]) -> None:
    table, worth = regression.matrix(FOUND, NAMED), np.array([1.0, 1.0, 2.0, 1.0, 0.5])
    goal = np.array(wanted, float).reshape(len(FOUND), -1)
    weights = regression.fit(table, goal, worth, penalty=0.5)
    off = worth[:, None] * (regression.probabilities(regression.scores(table, weights)) - goal)
    slope = np.vstack([off.sum(0), table.T @ off + 0.5 * weights[1:]])
    assert np.abs(slope).max() < 1e-4


def test_examples_are_scored_by_what_the_others_taught() -> None:
    table, wanted = regression.matrix(FOUND, NAMED), np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    first = np.arange(len(FOUND)) < 2
    scores = regression.held_out(table, wanted, [(~first, first)])
    assert scores[:2] == pytest.approx(regression.scores(table[:2], regression.fit(table[2:], wanted[2:])))
    assert not scores[2:].any()


def test_what_is_written_is_what_the_package_reads(tmp_path: Path) -> None:
    weights = np.array([[0.25, -1.0], [1.23456, 0.0], [0.0001, 0.0002], [-0.5, 2.0]])
    learned = regression.model(NAMED, weights, ["yes", "no"], {"asks": 0.75}, least=0.01)
    regression.write(learned, tmp_path / "made.tsv", "relation")
    assert linear_model.load(str(tmp_path / "module.py"), "made.tsv") == learned
    assert learned.weights == ({"late": -0.5, "long": 1.235}, {"late": 2.0, "long": 0.0})
    assert learned.probabilities({"late": 1.0, "new": 9.0})["no"] > 0.7


def test_another_model_is_read_in_place_of_a_shipped_one_for_a_while() -> None:
    learned = regression.model(["long"], np.array([[0.0], [1.0]]), ["lasting"])
    shipped = linear_model.load
    with regression.in_place_of("people_logs.tsv", learned):
        assert linear_model.load("anywhere.py", "people_logs.tsv") is learned
        assert linear_model.load(str(Path(linear_model.__file__).parent / "search/x.py"), "evidence.tsv").classes
    assert linear_model.load is shipped


def test_the_trainer_of_evidence_sees_the_parts_that_a_context_chooses_from(repo: Repo) -> None:
    repo.commit("start", {"memory/2026-02-05.md": "# 2026-02-05\n\n- The ferry to Hals leaves at nine\n"})
    opened = open_repository(repo.path, os.environ)
    shown, _ = import_module("tools.training.evidence").shown_for(opened, "when does the ferry to Hals leave?")
    opened.close()
    assert shown and {"share", "cosine"} <= shown[0].keys()
