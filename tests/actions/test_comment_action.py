"""actions/comment, run as GitHub runs it: who may say what, and on which commit it holds."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gitmem.memory.facts import parse as facts_of
from gitmem.review.comment_commands import Command, Verb, parse
from tests.actions.runner import Result
from tests.actions.stage import PUSHED, Stage
from tests.harness import SOURCE

FACT = "The licence is MIT."


def proposal(stage: Stage) -> str:
    """An open pull request that brings one fact; its head."""
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.git("checkout", "-q", "-b", "change")
    stage.repo.commit("fact", {"MEMORY.md": stage.repo.read("MEMORY.md") + f"- {FACT}\n"})
    head = stage.push("change")
    stage.open_pull(base, head)
    return head


def fact_id(stage: Stage) -> str:
    memory = facts_of((stage.repo.path / "MEMORY.md").read_bytes())
    return next(entry.fact.id for entry in memory.entries if entry.fact.text == FACT)


def run(stage: Stage, body: str, **more: Any) -> Result:
    return stage.run("comment", stage.comment(body, **more), event="issue_comment", ref="main")


def answers(stage: Stage) -> list[str]:
    return [row["body"] for row in stage.rest.state.comments[1] if "git-mem:command" in row["body"]]


def test_accept_marks_the_commit_that_was_looked_at(stage: Stage) -> None:
    head = proposal(stage)
    done = run(stage, "/mem accept\r\n\r\nThank you!")
    assert done.outputs["result"] == "accepted", done.log
    (check,) = stage.rest.state.checks
    assert (check["name"], check["head_sha"], check["conclusion"]) == ("memory accepted", head, "success")
    assert "dana" in check["output"]["title"] and stage.rest.state.reactions[0][1] == "+1" and stage.server.pushes == 0


def test_reject_takes_one_fact_out_and_says_who_and_why(stage: Stage) -> None:
    head = proposal(stage)
    done = run(stage, f"/mem reject {fact_id(stage)[:8]} it is $(touch x) Apache `now`")
    assert done.outputs["result"] == "rejected", done.log
    stage.repo.git("fetch", "-q", "origin")
    assert FACT not in stage.repo.git("show", "origin/change:MEMORY.md")
    message = stage.repo.git("log", "-1", "--format=%B", "origin/change")
    assert "Memory-Rejected" in message and "dana" in message and "Apache" in message
    assert stage.repo.git("rev-parse", "origin/change~1").strip() == head and len(answers(stage)) == 1


def test_settle_records_on_the_branch_which_of_two_facts_holds(stage: Stage) -> None:
    old, new = "The orders service listens on port 8080", "The orders service listens on port 9090"
    stage.repo.commit("old", {"MEMORY.md": stage.repo.read("MEMORY.md") + f"- {old} <!-- mem from=2026-01-01 -->\n"})
    base = stage.push("main")
    stage.repo.git("checkout", "-q", "-b", "change")
    stage.repo.commit("fact", {"MEMORY.md": stage.repo.read("MEMORY.md") + f"- {new} <!-- mem from=2026-02-01 -->\n"})
    head = stage.push("change")
    stage.open_pull(base, head)
    place = 1 + next(at for at, line in enumerate(stage.repo.read("MEMORY.md").splitlines()) if new in line)
    done = run(stage, "/mem settle MEMORY.md:1 later")
    assert done.outputs["result"] == "refused" and "no open pair of MEMORY.md:1" in answers(stage)[-1]
    done = run(stage, f"/mem settle MEMORY.md:{place} later the new host")
    assert done.outputs["result"] == "settled", done.log
    stage.repo.git("fetch", "-q", "origin")
    memory = stage.repo.git("show", "origin/change:MEMORY.md")
    assert old not in memory and "supersedes=" in memory
    assert old in stage.repo.git("show", "origin/change:memory/archive/2026.md")
    message = stage.repo.git("log", "-1", "--format=%B", "origin/change")
    assert "the later one holds" in message and "Memory-Reason: the new host (dana, pull request 1)" in message


def test_reject_takes_the_place_that_the_review_shows(stage: Stage) -> None:
    proposal(stage)
    lines = stage.repo.read("MEMORY.md").splitlines()
    place = next(number for number, line in enumerate(lines, 1) if FACT in line)
    done = run(stage, "/mem reject MEMORY.md:1 no fact")
    assert done.outputs["result"] == "refused" and "stands at MEMORY.md:1" in answers(stage)[-1]
    done = run(stage, f"/mem reject MEMORY.md:{place} it is wrong")
    assert done.outputs["result"] == "rejected", done.log
    stage.repo.git("fetch", "-q", "origin")
    assert FACT not in stage.repo.git("show", "origin/change:MEMORY.md")


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({"author": "eve"}, "ignored"), ({"author": "dana[bot]"}, "ignored"), ({"author": ""}, "ignored"),
        ({"edited": "2026-02-05T12:06:00Z"}, "ignored"), ({"written": PUSHED}, "refused"),
        ({"written": "2026-02-05T11:00:00Z"}, "refused"),
    ],
    ids=["no writer", "program", "nobody", "edited", "in the second of the push", "before the push"],
)  # fmt: skip
def test_a_command_of_no_writer_of_an_editor_or_of_another_commit_does_nothing(
    stage: Stage, more: dict[str, str], state: str
) -> None:
    proposal(stage)
    for body in ("/mem accept", f"/mem reject {fact_id(stage)[:8]} no"):
        done = run(stage, body, **more)
        assert done.status == "success" and done.outputs["result"] == state, done.log
    assert stage.rest.state.checks == [] and stage.server.pushes == 0
    assert len(answers(stage)) == (2 if state == "refused" else 0), "strangers are not answered"


def test_a_push_after_the_comment_takes_the_command_back(stage: Stage) -> None:
    proposal(stage)
    stage.repo.commit("more", {"MEMORY.md": stage.repo.read("MEMORY.md") + "- And one more thing.\n"})
    head = stage.push("change")
    stage.rest.state.pulls[0]["head"]["sha"] = head
    stage.rest.state.pushes.append({"ref": "refs/heads/change", "after": head, "timestamp": "2026-02-05T12:07:00Z"})
    done = run(stage, "/mem accept")
    assert done.outputs["result"] == "refused" and stage.rest.state.checks == []
    assert "the branch has moved" in answers(stage)[0] and stage.rest.state.reactions[0][1] == "confused"


def test_the_branch_of_a_fork_is_not_pushed_to(stage: Stage) -> None:
    proposal(stage)
    stage.rest.state.pulls[0]["head"]["repo"]["full_name"] = "stranger/memory"
    done = run(stage, f"/mem reject {fact_id(stage)[:8]} no")
    assert done.outputs["result"] == "refused" and stage.server.pushes == 0 and "fork" in answers(stage)[0]
    assert run(stage, "/mem accept").outputs["result"] == "accepted"


def test_a_fact_that_the_pull_request_does_not_bring_is_not_touched(stage: Stage) -> None:
    proposal(stage)
    memory = facts_of((stage.repo.path / "MEMORY.md").read_bytes())
    old = next(entry.fact.id for entry in memory.entries if entry.fact.text == "The sky is blue.")
    done = run(stage, f"/mem reject {old[:8]} no")
    assert done.outputs["result"] == "refused" and stage.server.pushes == 0 and "no fact" in answers(stage)[0]


def test_when_github_cannot_say_who_may_write_nothing_is_done(stage: Stage) -> None:
    proposal(stage)
    stage.rest.state.faults += [("GET", "/permission$", 403, {}, {"message": "Resource not accessible"})]
    done = run(stage, "/mem accept")
    assert done.status == "failure" and stage.rest.state.checks == []


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("/mem accept", Command(Verb.ACCEPT)), ("\n /mem accept \nfine", Command(Verb.ACCEPT)),
        ("/mem reject 0a1b2c3d it is wrong", Command(Verb.REJECT, "0a1b2c3d", "it is wrong")),
        ("/mem reject MEMORY.md:4 it is wrong", Command(Verb.REJECT, "MEMORY.md:4", "it is wrong")),
        ("/mem reject `MEMORY.md:4` it is wrong", Command(Verb.REJECT, "MEMORY.md:4", "it is wrong")),
        ("/mem reject memory/my notes.md:3 at 10:30 too", Command(Verb.REJECT, "memory/my notes.md:3", "at 10:30 too")),
        ("/mem reject `memory/내 메모.md:3` 틀렸다", Command(Verb.REJECT, "memory/내 메모.md:3", "틀렸다")),
        ("/mem reject `MEMORY.md` no", None), ("/mem reject `MEMORY.md:4`", None),
        ("/mem reject MEMORY.md:0 no", None), ("/mem reject MEMORY.md no", None),
        ("/mem settle MEMORY.md:9 later", Command(Verb.SETTLE, "MEMORY.md:9", answer="later")),
        ("/mem settle 0a1b2c3d `MEMORY.md:4` both  it is", Command(Verb.SETTLE, "0a1b2c3d", "it is", "MEMORY.md:4", "both")),
        ("/mem settle later", None), ("/mem settle MEMORY.md:9", None), ("/mem settle MEMORY.md:9 never", None),
        ("please /mem accept", None), ("> /mem accept", None), ("/mem accept now", None), ("/mem", None), ("", None),
        ("/mem reject 0a1b2c3d", None), ("/mem reject zz wrong", None), ("/mem reject 0a1 short", None),
        ("/mem accept\n/mem reject 0a1b2c3d no", None), ("/memaccept", None), ("`/mem accept`", None),
    ],
)  # fmt: skip
def test_a_command_stands_alone_on_the_first_line(body: str, command: Command | None) -> None:
    assert parse(body) == command


def test_the_example_listens_for_new_comments_only() -> None:
    text = (SOURCE / "examples/workflows/comments.yml").read_text(encoding="utf-8")
    assert "types: [created]" in text and not re.search(r"edited|deleted", text)


@pytest.mark.parametrize(("author", "told"), [("dana", 1), ("guest", 0)])
def test_who_may_give_commands_is_told_how_they_are_written(stage: Stage, author: str, told: int) -> None:
    proposal(stage)
    done = run(stage, "/mem reject MEMORY.md it is wrong", author=author)
    assert done.outputs["result"] == ("refused" if told else "ignored") and stage.server.pushes == 0
    assert ["/mem reject MEMORY.md:4 reason" in text for text in answers(stage)] == [True] * told
