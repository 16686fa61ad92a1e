"""actions/promote with `consolidate: weekly`: one pull request of it, a week apart, and what is declined stays declined."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.actions.stage import Stage
from tests.harness import SOURCE
from tests.promotion.test_consolidation import EPISODES, TWICE

DISPATCH: dict[str, Any] = {"repository": {"default_branch": "main", "full_name": "team/memory"}}
BRANCH = "memory/consolidate"
LATER = """- Orders of the Incheon harbour are checked by two people <!-- mem type=rule src=memory/2026-02-05.md#L3-L3@aaaaaaaaaaaa -->
- Orders of the Incheon harbour are checked by two people. <!-- mem type=rule src=memory/2026-02-06.md#L4-L4@bbbbbbbbbbbb -->
"""


@pytest.fixture
def weeks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lets runs take place so many weeks after the commits of the test."""

    def later(count: int) -> None:
        monkeypatch.setenv("GITMEM_NOW", (datetime.now(UTC) + timedelta(weeks=count)).isoformat(timespec="seconds"))

    return later


def promote(stage: Stage, **inputs: str) -> Any:
    done = stage.run("promote", DISPATCH, event="schedule", ref="main", inputs={"consolidate": "weekly", **inputs})
    assert done.status == "success", done.log
    return done


def of_branch(stage: Stage) -> list[dict[str, Any]]:
    return [pull for pull in stage.rest.state.pulls if pull["head"]["ref"] == BRANCH]


def on_branch(stage: Stage) -> str:
    stage.repo.git("fetch", "-q", "origin")
    return stage.repo.git("show", f"origin/{BRANCH}:MEMORY.md")


def test_consolidation_is_one_pull_request_that_is_renewed_a_week_later(stage: Stage, weeks: Any) -> None:
    stage.repo.commit("memory", {"MEMORY.md": TWICE, **EPISODES})
    main = stage.push()
    first = promote(stage)
    (pull,) = of_branch(stage)
    assert first.outputs["consolidation"] == str(pull["number"]) and first.outputs["facts"] == "0"
    assert on_branch(stage).count("retries a failed payment") == 1
    assert stage.repo.git("ls-remote", "origin", "refs/heads/main").split()[0] == main
    stage.repo.commit("more", {"MEMORY.md": TWICE + LATER})
    stage.push()
    early = promote(stage)
    assert early.outputs["consolidation"] == "" and "is due a week after" in early.summary
    weeks(1)
    renewed = promote(stage)
    assert renewed.outputs["consolidation"] == str(pull["number"]) and len(of_branch(stage)) == 1
    assert on_branch(stage).count("Incheon") == 1 and "Incheon" in of_branch(stage)[0]["body"]


def test_a_declined_consolidation_is_not_proposed_again_and_a_new_one_is(stage: Stage, weeks: Any) -> None:
    stage.repo.commit("memory", {"MEMORY.md": TWICE, **EPISODES})
    stage.push()
    promote(stage)
    of_branch(stage)[0]["state"] = "closed"
    for week in (1, 2):
        weeks(week)
        again = promote(stage)
        assert again.outputs["consolidation"] == "" and len(of_branch(stage)) == 1, again.log
        assert on_branch(stage) == TWICE
    stage.repo.commit("more", {"MEMORY.md": TWICE + LATER})
    stage.push()
    weeks(3)
    new = promote(stage)
    assert new.outputs["consolidation"] == "2" and len(of_branch(stage)) == 2, new.log
    assert on_branch(stage).count("retries a failed payment") == 2 and on_branch(stage).count("Incheon") == 1
    assert "digests" not in stage.repo.git("ls-tree", "-r", "--name-only", f"origin/{BRANCH}")


def test_nothing_to_consolidate_is_no_pull_request(stage: Stage) -> None:
    done = promote(stage)
    assert done.outputs["consolidation"] == "" and stage.rest.state.pulls == []
    assert "nothing to consolidate" in done.summary


def test_without_the_input_nothing_is_consolidated_and_an_unknown_word_is_refused(stage: Stage) -> None:
    stage.repo.commit("memory", {"MEMORY.md": TWICE})
    stage.push()
    done = stage.run("promote", DISPATCH, event="schedule", ref="main")
    assert done.status == "success" and stage.rest.state.pulls == []
    wrong = stage.run("promote", DISPATCH, event="schedule", ref="main", inputs={"consolidate": "hourly"})
    assert wrong.status == "failure" and stage.rest.state.pulls == []


def test_the_example_workflow_consolidates_on_its_schedule_alone(stage: Stage) -> None:
    stage.repo.commit("memory", {"MEMORY.md": TWICE})
    stage.push()
    night = stage.run_workflow(SOURCE / "examples/workflows/consolidate.yml", DISPATCH, event="schedule")
    assert night["promote"].status == "success" and night["scan"].status == "skipped"
    assert len(of_branch(stage)) == 1
