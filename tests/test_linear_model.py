"""The linear model: what a file says, what it refuses, and what a score and a probability are."""

from __future__ import annotations

from math import exp
from pathlib import Path

import pytest

from gitmem import linear_model

ONE = "# Written by hand.\nclasses\tgood\nbias\t-1.0\nfloor\t0.25\n\na word\t2.0\n#\t0.5\n"
SEVERAL = "classes\tyes\tno\tperhaps\nbias\t0.0\t1.0\t0.0\n\nlong\t3.0\t-1.0\t0.0\n"


def test_a_score_is_the_bias_and_the_weights_of_the_features_that_have_one() -> None:
    model = linear_model.parse(ONE)
    assert model.classes == ("good",) and model.thresholds == {"floor": 0.25}
    assert model.odds({}) == -1.0 and model.odds({"a word": 0.5, "#": 2.0, "unknown": 9.0}) == 1.0
    assert model.probability({"a word": 0.5}) == 0.5


def test_the_probabilities_of_several_classes_add_up_to_one() -> None:
    found = linear_model.parse(SEVERAL).probabilities({"long": 1.0})
    assert found == pytest.approx({"yes": exp(3) / (exp(3) + 2), "no": 1 / (exp(3) + 2), "perhaps": 1 / (exp(3) + 2)})
    assert linear_model.parse(SEVERAL).probabilities({"long": 1e4})["yes"] == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        ONE.replace("classes\tgood\n", ""),
        ONE.replace("bias\t-1.0\n", ""),
        ONE.replace("bias\t-1.0", "bias\tmuch"),
        ONE.replace("\t0.5", ""),
        ONE.replace("\t0.25", "\t0.25\t1"),
        SEVERAL.replace("\t0.0\n", "\n"),
        SEVERAL.replace("\tperhaps", ""),
    ],
)
def test_what_is_no_such_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        linear_model.parse(text)


def test_each_shipped_table_is_sorted_and_has_no_feature_twice() -> None:
    package = Path(linear_model.__file__).parent
    shipped = [
        path
        for path in package.rglob("*.tsv")
        if path.read_text(encoding="utf-8").startswith("# Written by tools/train.py")
    ]
    assert len(shipped) >= 5
    for path in shipped:
        rows = path.read_text(encoding="utf-8").partition("\n\n")[2].rstrip("\n").split("\n")
        names = [row.split("\t")[0] for row in rows]
        assert names == sorted(set(names)), path.name
        model = linear_model.load(str(path.parent / "__init__.py"), path.name)
        assert all(len(weights) == len(names) for weights in model.weights)
