"""What `rules` found out about a log is kept by its blob and the rules, holds no text, and changes no answer."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

import pytest

from gitmem.config import Config
from gitmem.gate.tree_policies import worktree_policy
from gitmem.git.opening import open_repository
from gitmem.promotion import rules_model, score_cache
from gitmem.promotion.log_lines import Candidate
from gitmem.promotion.model_registry import promotion_model
from gitmem.promotion.proposal import Log
from gitmem.promotion.rules_model import RulesModel
from gitmem.promotion.score_cache import FILE, ScoreCache
from tests.harness import Repo

SECRET = "AKIA" + "Z7QK3M2PXW5LR8TD"


def logs(lines: int = 120) -> list[Log]:
    made = []
    for number in range(2):
        texts = [f"- Decision: 배포 {at} uses port {9000 + at} and {SECRET}" for at in range(lines)]
        day = date(2026, 2, 5 + number)
        made.append(Log(f"memory/{day}.md", f"{number}" * 40, day, tuple(texts), frozenset(range(1, lines + 1))))
    return made


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lines were scored, call by call."""
    made: list[int] = []
    real = rules_model.score_line

    def score_line(line: Candidate) -> object:
        made.append(line.number)
        return real(line)

    monkeypatch.setattr(rules_model, "score_line", score_line)
    return made


def test_a_log_is_scored_once_for_all_processes_with_the_same_answer(tmp_path: Path, counted: list[int]) -> None:
    first = RulesModel(scores=ScoreCache(tmp_path)).propose(logs(), [])
    assert len(counted) == 240
    again = RulesModel(scores=ScoreCache(tmp_path)).propose(logs(), [])
    assert again == first == RulesModel().propose(logs(), []) and len(counted) == 480  # the last one without a cache


def test_the_file_is_private_and_holds_no_text_of_a_log(tmp_path: Path) -> None:
    RulesModel(scores=ScoreCache(tmp_path)).propose(logs(), [])
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    assert SECRET not in text and "memory/" not in text and "9000" not in text and "\\ubc30" not in text
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "damage", ["", "[]", "{", '{"rules": "x", "names": [], "logs": {}}', "LOGS", "NAMES", "ROWS", "\ufffd"]
)
def test_a_damaged_file_or_one_of_other_rules_is_no_cache(tmp_path: Path, damage: str) -> None:
    expected = RulesModel(scores=ScoreCache(tmp_path)).propose(logs(), [])
    value = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    changed = {
        "LOGS": {**value, "logs": 3}, "NAMES": {**value, "names": []},
        "ROWS": {**value, "logs": {key: rows[:-1] for key, rows in value["logs"].items()}},
    }  # fmt: skip
    text = json.dumps(changed[damage]) if damage in changed else damage
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert RulesModel(scores=ScoreCache(tmp_path)).propose(logs(), []) == expected


def test_other_rules_score_anew(tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    RulesModel(scores=ScoreCache(tmp_path)).propose(logs(), [])
    monkeypatch.setattr(score_cache, "rules_state", lambda: "other")
    RulesModel(scores=ScoreCache(tmp_path)).propose(logs(), [])
    assert len(counted) == 480


def test_a_few_lines_are_not_written_and_a_folder_that_is_none_changes_nothing(tmp_path: Path) -> None:
    RulesModel(scores=ScoreCache(tmp_path)).propose(logs(20), [])
    assert not (tmp_path / FILE).exists()
    expected = RulesModel().propose(logs(), [])
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert RulesModel(scores=ScoreCache(tmp_path / "file")).propose(logs(), []) == expected


def test_the_last_logs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_cache, "MAX_LOGS", 1)
    RulesModel(scores=ScoreCache(tmp_path)).propose(logs(), [])
    old, new = logs()
    kept = ScoreCache(tmp_path)
    assert kept.get(old, 120) is None and kept.get(new, 120) is not None and kept.get(new, 119) is None


def test_how_far_it_is_is_told_in_lines_until_all_are_read() -> None:
    told: list[tuple[int, int]] = []
    RulesModel(progress=lambda done, whole: told.append((done, whole))).propose(logs(250), [])
    assert told == [(0, 500), (200, 500), (250, 500), (450, 500), (500, 500)]


def test_a_command_tells_how_many_lines_the_rules_have_read(repo: Repo) -> None:
    repo.commit("logs", {"memory/2026-02-05.md": "# 2026-02-05\n\n- Decision: the crane is blue\n"})
    told: list[tuple[int, int]] = []
    opened = open_repository(repo.path, os.environ)
    policy = worktree_policy(opened, date(2026, 2, 6))
    model = promotion_model(
        opened, Config(), policy, os.environ, reading=lambda done, count: told.append((done, count))
    )
    opened.close()
    model.propose(logs(1), [])
    assert told[0] == (0, 2) and told[-1] == (2, 2)
