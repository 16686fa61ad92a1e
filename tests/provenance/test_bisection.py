"""Which commit lost or won an answer: by the trial of few commits, and through the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.provenance.bisection import last_answer_change
from tests.harness import Repo


@given(st.integers(2, 400), st.data())
def test_the_only_change_is_found_with_few_trials(count: int, data: st.DataObject) -> None:
    turn = data.draw(st.integers(1, count - 1))
    commits = [str(number) for number in range(count)]
    found = last_answer_change(commits, lambda oid: int(oid) < turn)
    assert (found.at, found.before) == (str(turn - 1), str(turn))
    assert len(found.ranks) <= 2 * count.bit_length() + 1
    lost = last_answer_change(commits, lambda oid: int(oid) >= turn)
    assert (lost.at, lost.before) == (str(turn - 1), str(turn))


def test_commits_that_answer_alike_have_no_turn() -> None:
    assert last_answer_change(["a", "b", "c"], lambda _: 0)[:2] == ("", "")
    assert last_answer_change(["a"], lambda _: 1)[:2] == ("", "")
    assert last_answer_change([], lambda _: 1)[:2] == ("", "")


def test_an_answer_that_was_there_for_a_while_only_is_found() -> None:
    commits = [str(number) for number in range(200)]
    turn = last_answer_change(commits, lambda oid: 90 <= int(oid) < 110)
    assert (turn.at, turn.before) == ("89", "90")


def bisect(repo: Repo, *args: str, code: int = 0) -> dict[str, Any]:
    done = repo.mem("bisect", "--json", *args, check=False)
    assert done.returncode == code, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value


@pytest.fixture
def memory(repo: Repo) -> Repo:
    """Twelve commits; `won` adds the answer, `lost` rewrites it, other facts come with each."""
    facts = ["Alice owns the release checklist."]
    for number in range(12):
        facts.append(f"Service {number} listens on port {9000 + number}.")
        if number == 3:
            facts.append("Deploys happen on Tuesdays.")
        if number == 8:
            facts[facts.index("Deploys happen on Tuesdays.")] = "Deploys happen on Mondays."
        text = "# Facts\n\n" + "".join(f"- {fact}\n" for fact in facts)
        repo.commit(f"Facts {number}", {"MEMORY.md": text}, f"2026-03-{number + 1:02}T10:00:00Z")
        if number in (3, 8):
            repo.git("tag", "won" if number == 3 else "lost")
    return repo


ASKED = "on which day do deploys happen?"


def test_the_commit_that_lost_the_answer_is_named_with_the_fact_it_changed(memory: Repo) -> None:
    found = bisect(memory, ASKED, "--expect", "on tuesdays")
    assert (found["outcome"], found["commit"]) == ("lost", memory.git("rev-parse", "lost").strip())
    assert found["subject"] == "Facts 8" and len(found["tried"]) < 12
    changed = [fact for fact in found["facts"] if fact["op"] == "changed"]
    assert [fact["text"] for fact in changed] == ["Deploys happen on Mondays."]


def test_the_commit_that_won_the_answer_is_named(memory: Repo) -> None:
    found = bisect(memory, ASKED, "--expect", "on Tuesdays", "--to", "lost~1")
    assert (found["outcome"], found["commit"]) == ("won", memory.git("rev-parse", "won").strip())


def test_a_line_of_the_first_commit_can_be_what_is_expected(memory: Repo) -> None:
    lines = memory.git("show", "won:MEMORY.md").split("\n")
    place = f"MEMORY.md:{lines.index('- Deploys happen on Tuesdays.') + 1}"
    found = bisect(memory, ASKED, "--expect", place, "--from", "won")
    assert (found["outcome"], found["commit"]) == ("lost", memory.git("rev-parse", "lost").strip())


def test_nothing_is_checked_out_and_no_file_is_touched(memory: Repo) -> None:
    memory.write("MEMORY.md", "edited")
    bisect(memory, ASKED, "--expect", "on Tuesdays")
    assert memory.read("MEMORY.md") == "edited"
    assert memory.git("symbolic-ref", "HEAD").strip() == "refs/heads/main"


def test_an_answer_that_never_was_ends_with_1_and_says_so(memory: Repo) -> None:
    assert bisect(memory, ASKED, "--expect", "on Sundays", code=1)["outcome"] == "unchanged"
    done = memory.mem("bisect", ASKED, "--expect", "on Sundays", check=False)
    assert done.returncode == 1 and "no commit that was tried answers so" in done.stderr
    there = memory.mem("bisect", ASKED, "--expect", "Mondays", "--from", "lost", check=False)
    assert "at every commit" in there.stderr


def test_what_the_gate_would_block_is_not_shown(memory: Repo) -> None:
    token = "ghp_" + "R8vN2kQ7xW4mZ9pT3bL6cY1dF5gH0jSaKeUi"
    text = memory.read("MEMORY.md")
    fact = f"- The token of the wiki is {token}.\n"
    memory.commit(f"Deploy on Sundays, {token}", {"MEMORY.md": text.replace("Mondays", "Sundays") + fact})
    found = bisect(memory, ASKED, "--expect", "on Mondays")
    assert found["outcome"] == "lost" and any("Sundays" in fact["text"] for fact in found["facts"] if fact["text"])
    shown = memory.mem("bisect", ASKED, "--expect", "on Mondays").stdout
    assert token not in json.dumps(found) + shown and "the gate would block" in shown
    line = memory.read("MEMORY.md").split("\n").index(fact.strip()) + 1
    done = memory.mem("bisect", ASKED, "--expect", f"MEMORY.md:{line}", check=False)
    assert done.returncode == 2 and token not in done.stderr + done.stdout


def test_a_person_sees_commit_author_and_facts(memory: Repo) -> None:
    shown = memory.mem("bisect", ASKED, "--expect", "on Tuesdays").stdout
    rows = dict(row.split(maxsplit=1) for row in shown.split("\n")[2:6])
    assert shown.startswith("The answer was lost\n") and rows["subject"] == "Facts 8"
    assert rows["commit"].startswith(memory.git("rev-parse", "lost")[:12]) and "until then" in rows["hit"]
    assert shown.partition("Facts changed in it\n")[2] and "~ Deploys happen on [-Tuesdays-]{+Mondays+}." in shown


@pytest.mark.parametrize(
    "args",
    [("--expect", " "), ("--expect", "MEMORY.md:999"), ("--expect", "x", "--from", "lost", "--to", "won"), ()],
)
def test_what_cannot_be_asked_is_refused(memory: Repo, args: tuple[str, ...]) -> None:
    assert memory.mem("bisect", ASKED, *args, check=False).returncode == 2


def test_a_commit_of_a_merged_branch_is_no_beginning(memory: Repo) -> None:
    memory.git("checkout", "-q", "-b", "side", "won")
    memory.commit("Aside", {"aside.txt": "x\n"})
    memory.git("checkout", "-q", "main")
    memory.git("merge", "-q", "--no-edit", "side")
    done = memory.mem("bisect", ASKED, "--expect", "Mondays", "--from", "side", check=False)
    assert done.returncode == 2 and "first parents" in done.stderr
