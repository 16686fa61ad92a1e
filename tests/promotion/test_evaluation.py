"""The figures of promotion: what counts as right, and rows that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitmem.errors import GitMemError
from gitmem.git.objects import Span
from gitmem.memory.fact import Fact
from gitmem.promotion.evaluation import evaluate_promotion
from gitmem.promotion.proposal import Log, Op, Operation, Proposal
from tests.harness import Repo


class Fixed:
    """A model that proposes given lines, the first the most important."""

    id = "fixed"

    def __init__(self, *lines: int) -> None:
        self.lines = lines

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        return Proposal(
            tuple(
                Operation(Op.ADD, f"t{n}", (Span(logs[0].path, n, n, logs[0].blob),), "rule", importance=1 - i / 100)
                for i, n in enumerate(self.lines)
            )
        )


def rows(tmp_path: Path, *values: object) -> Path:
    file = tmp_path / "facts.jsonl"
    file.write_text("".join(json.dumps(value) + "\n" for value in values))
    return file


ROW = {
    "path": "memory/2026-02-05.md",
    "lines": ["a", "b", "c", "d", "e", "f", "g"],
    "keep": [{"lines": [1, 2], "type": "rule"}, {"lines": [7], "type": "fact"}],
}


def test_lines_and_the_five_most_important_are_measured(tmp_path: Path) -> None:
    found, _ = evaluate_promotion(rows(tmp_path, ROW), Fixed(3, 1, 2, 4, 5, 7))
    assert (found.precision, found.recall) == (0.5, 1.0)
    assert found.f1 == pytest.approx(2 / 3)
    assert found.top_precision == pytest.approx(2 / 5)
    assert found.type_accuracy == pytest.approx(2 / 3)
    assert found.unsourced == 0


def test_a_row_without_lines_reads_the_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/2026-02-05.md").write_text("x\ny\n")
    file = rows(tmp_path, {"path": "memory/2026-02-05.md", "facts": [{"text": "y", "lines": [2]}]})
    assert evaluate_promotion(file, Fixed(2))[0].f1 == 1.0
    assert evaluate_promotion(file, Fixed(9))[0].unsourced == 1


def test_a_row_may_have_a_line_separator_in_its_text(tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text(json.dumps({**ROW, "lines": ["a\u2028b", *ROW["lines"][1:]]}, ensure_ascii=False) + "\n")
    assert evaluate_promotion(file, Fixed(1, 2, 7))[0].f1 == 1.0


class Counting(Fixed):
    """One that says how often it was asked, and proposes line 1 of every log."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        self.asked.append(len(logs))
        made = (Operation(Op.ADD, "t", (Span(log.path, 1, 1, log.blob),), "rule") for log in logs)
        return Proposal(tuple(made), ("the time is used up",))


def test_a_model_is_asked_for_all_logs_in_one_run_and_its_notes_come_back(tmp_path: Path) -> None:
    model = Counting()
    other = {**ROW, "keep": [{"lines": [3], "type": "fact"}]}
    found, notes = evaluate_promotion(rows(tmp_path, ROW, other), model)
    assert model.asked == [2] and notes == ("the time is used up",)
    assert (found.logs, found.proposed, found.precision, found.recall) == (2, 2, 0.5, 0.25)


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"path": "memory/x.md"},
        {"path": "memory/none.md", "facts": []},
        {"path": "../../etc/passwd", "facts": []},
        [],
        {"path": "memory/x.md", "lines": ["a"], "keep": [{"lines": ["q"]}]},
    ],
)
def test_a_row_that_cannot_be_read_says_which(tmp_path: Path, row: object) -> None:
    with pytest.raises(GitMemError):
        evaluate_promotion(rows(tmp_path, row), Fixed())


def test_the_command_reports_the_rules_model(repo: Repo, tmp_path: Path) -> None:
    file = rows(
        tmp_path,
        {
            "path": "memory/2026-02-05.md",
            "lines": ["- We decided to use REST", "- lunch"],
            "keep": [{"lines": [1], "type": "decision"}],
        },
    )
    found = json.loads(repo.mem("eval", "--promote", str(file), "--json").stdout)
    assert (found["model"], found["f1"], found["type_accuracy"]) == ("rules/1", 1.0, 1.0)
    assert repo.mem("eval", check=False).returncode == 2
