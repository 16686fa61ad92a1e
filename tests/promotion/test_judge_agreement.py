"""The judged statements by which a model's agreement with the rules is measured."""

from __future__ import annotations

import json
from pathlib import Path

from gitmem.promotion.judge_agreement import MAX_STATEMENTS, Agreement


def test_of_each_kind_the_statements_judged_last_stay(tmp_path: Path) -> None:
    agreement = Agreement(tmp_path, "judge", "en")
    agreement.add({f"statement {n}": (0.1, True) for n in range(MAX_STATEMENTS)})
    agreement.add({"statement 0": (0.9, True), "a new one": (0.5, True)})
    (file,) = tmp_path.rglob("agreement-*.json")
    numbers = [number for number, _ in json.loads(file.read_text()).values()]
    assert len(numbers) == MAX_STATEMENTS and numbers[-2:] == [0.9, 0.5]
