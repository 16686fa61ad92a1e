"""`git mem settle`: open pairs in order, an answer in Git, never asked again, taken back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitmem.memory.fact import fact_id
from tests.harness import Repo

OLD, NEW = "The orders service listens on port 8080", "The orders service listens on port 9090"
NOW = {"GITMEM_NOW": "2026-03-02T10:00:00+00:00"}
LOG = "memory/2026-03-01.md"


def pairs(repo: Repo) -> list[dict[str, Any]]:
    answer = json.loads(repo.mem("settle", "--json", env=NOW).stdout)
    return list(answer["pairs"])


def settle(repo: Repo, *options: str) -> dict[str, Any]:
    rows = json.loads(repo.mem("settle", *options, "--json", env=NOW).stdout)["settled"]
    return dict(rows[0])


@pytest.fixture
def memory(repo: Repo) -> Repo:
    """Two facts that disagree, the newer one above."""
    lines = [f"{NEW} <!-- mem type=fact from=2026-02-01 -->", f"{OLD} <!-- mem type=fact from=2026-01-01 -->"]
    repo.commit("first", {"MEMORY.md": "# Memory\n\n## Facts\n\n" + "".join(f"- {line}\n" for line in lines)})
    return repo


def test_the_open_pairs_are_listed_with_places_days_and_the_reason(memory: Repo) -> None:
    (pair,) = pairs(memory)
    assert (pair["number"], pair["relation"]) == (1, "replaces") and "8080 to 9090" in pair["reason"]
    assert (pair["earlier"]["text"], pair["earlier"]["line"], pair["earlier"]["day"]) == (OLD, 6, "2026-01-01")
    assert (pair["later"]["text"], pair["later"]["path"], pair["later"]["id"]) == (NEW, "MEMORY.md", fact_id(NEW))
    shown = memory.mem("settle", env=NOW)
    assert f"earlier  MEMORY.md:6  2026-01-01  {OLD}" in shown.stdout and "git mem settle 1" in shown.stderr


@pytest.mark.parametrize(("answer", "kept", "gone"), [("later", NEW, OLD), ("earlier", OLD, NEW)])
def test_what_no_longer_holds_goes_to_the_archive_and_the_pair_is_not_asked_again(
    memory: Repo, answer: str, kept: str, gone: str
) -> None:
    before = memory.read("MEMORY.md")
    done = settle(memory, "1", f"--{answer}", "--reason", "the new host")
    assert done["answer"] == answer and done["commit"] == memory.git("rev-parse", "HEAD").strip()
    assert f"supersedes={fact_id(gone)}" in memory.read("MEMORY.md") and gone not in memory.read("MEMORY.md")
    assert f"- {gone} <!-- mem" in memory.read("memory/archive/2026.md")
    assert f"superseded-by={fact_id(kept)}" in memory.read("memory/archive/2026.md")
    message = memory.git("log", "-1", "--format=%B")
    assert f"the {answer} one holds" in message and "Memory-Reason: the new host" in message and OLD not in message
    assert pairs(memory) == [] and not memory.git("status", "--porcelain")
    memory.mem("undo", env=NOW)
    assert memory.read("MEMORY.md") == before and len(pairs(memory)) == 1


def test_both_may_hold(memory: Repo) -> None:
    settle(memory, "MEMORY.md:5", "--both")
    assert f"beside={fact_id(OLD)}" in memory.read("MEMORY.md") and OLD in memory.read("MEMORY.md")
    assert pairs(memory) == []
    memory.git("checkout", "-q", "-b", "topic")
    memory.commit("x", {"MEMORY.md": memory.read("MEMORY.md") + "- Lunch is at noon\n"})
    assert json.loads(memory.mem("review", "main..HEAD", "--format", "json", env=NOW).stdout)["rivals"] == []


def test_of_two_that_say_the_same_the_one_with_a_source_is_kept(repo: Repo) -> None:
    texts = [f"{OLD}.", f"{OLD} <!-- mem src=memory/2026-01-01.md#L3 importance=.7 -->"]
    repo.commit("x", {"MEMORY.md": "# Memory\n\n" + "".join(f"- {text}\n" for text in texts)})
    assert [pair["relation"] for pair in pairs(repo)] == ["same"]
    settle(repo, "1", "--same")
    assert repo.read("MEMORY.md") == f"# Memory\n\n- {texts[1]}\n" and pairs(repo) == []
    assert f"- {OLD}. <!-- mem same-as={fact_id(OLD)} -->" in repo.read("memory/archive/2026.md")


@pytest.mark.parametrize("answer", ["later", "earlier", "same"])
def test_of_one_text_twice_one_is_kept_and_holds(repo: Repo, answer: str) -> None:
    repo.commit("x", {"MEMORY.md": f"# Memory\n\n- {OLD}\n- Lunch is at noon\n- {OLD}\n"})
    settle(repo, "1", f"--{answer}")
    assert repo.read("MEMORY.md").count(OLD) == 1 and "supersedes" not in repo.read("MEMORY.md")
    assert OLD in repo.mem("search", "which port has the orders service", env=NOW).stdout


def test_a_line_of_the_log_that_a_fact_says_too_is_no_pair_of_its_own(memory: Repo) -> None:
    memory.commit("x", {LOG: f"# 2026-03-01\n\n- {NEW}\n- {NEW}\n"})
    assert [pair["later"]["path"] for pair in pairs(memory)] == ["MEMORY.md"]


def test_the_pin_of_what_is_replaced_stays_and_what_is_below_it_too(repo: Repo) -> None:
    text = f"- {NEW}\n- {OLD} <!-- mem pinned=true -->\n  - behind the proxy\n"
    repo.commit("x", {"MEMORY.md": f"# Memory\n\n{text}"})
    settle(repo, "1", "--later")
    assert repo.read("MEMORY.md") == (
        f"# Memory\n\n- {NEW} <!-- mem supersedes={fact_id(OLD)} pinned=true -->\n  - behind the proxy\n"
    )


def test_a_line_of_a_recent_log_takes_the_place_of_a_fact_with_its_source(memory: Repo) -> None:
    memory.commit(
        "x",
        {
            "MEMORY.md": f"# Memory\n\n## Facts\n\n- {OLD} <!-- mem from=2026-01-01 -->\n",
            LOG: f"# 2026-03-01\n\n- {NEW}\n",
        },
    )
    (pair,) = pairs(memory)
    assert (pair["later"]["path"], pair["later"]["line"]) == (LOG, 3)
    settle(memory, "1", "--later")
    assert f"- {NEW} <!-- mem src={LOG}#L3@" in memory.read("MEMORY.md") and pairs(memory) == []
    assert memory.read(LOG) == f"# 2026-03-01\n\n- {NEW}\n" and OLD in memory.read("memory/archive/2026.md")
    assert memory.mem("verify", env=NOW).returncode == 0


@pytest.mark.parametrize(("answer", "key"), [("earlier", "supersedes"), ("both", "beside"), ("same", "beside")])
def test_a_log_is_never_changed(memory: Repo, answer: str, key: str) -> None:
    log = f"# 2026-03-01\n\n- {NEW}\n"
    memory.commit("x", {"MEMORY.md": f"# Memory\n\n## Facts\n\n- {OLD} <!-- mem from=2026-01-01 -->\n", LOG: log})
    settle(memory, "1", f"--{answer}")
    assert f"- {OLD} <!-- mem from=2026-01-01 {key}={fact_id(NEW)} -->" in memory.read("MEMORY.md")
    assert memory.read(LOG) == log and pairs(memory) == []


def test_lines_that_are_old_or_that_a_fact_cites_are_no_pair(memory: Repo) -> None:
    fact = f"- {OLD} <!-- mem src={LOG}#L3 -->\n"
    old = "memory/2026-01-05.md"
    memory.commit("x", {"MEMORY.md": f"# Memory\n\n{fact}", LOG: f"# d\n\n- {NEW}\n", old: f"# d\n\n- {NEW}\n"})
    assert pairs(memory) == []


def test_beside_edits_that_are_not_committed_the_answer_is_written_and_not_committed(memory: Repo) -> None:
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "- Lunch is at noon\n")
    head = memory.git("rev-parse", "HEAD")
    done = memory.mem("settle", "1", "--both", env=NOW)
    assert "not committed" in done.stderr and memory.git("rev-parse", "HEAD") == head
    assert f"beside={fact_id(OLD)}" in memory.read("MEMORY.md") and "Lunch" in memory.read("MEMORY.md")
    memory.mem("undo", env=NOW)
    assert "beside" not in memory.read("MEMORY.md") and "Lunch" in memory.read("MEMORY.md")


def test_what_was_answered_is_not_asked_of_the_same_words_elsewhere(memory: Repo) -> None:
    settle(memory, "1", "--both")
    found = json.loads(memory.mem("add", NEW, "--json", env=NOW).stdout)
    assert [rival["relation"] for rival in found["differs"]] == ["same"] and pairs(memory) == []


def test_what_was_replaced_is_neither_searched_nor_given_even_when_its_successor_is_forgotten(memory: Repo) -> None:
    settle(memory, "1", "--later")
    assert OLD not in memory.mem("search", "which port has the orders service", env=NOW).stdout
    old = memory.mem("search", "which port has the orders service", "--expired", env=NOW).stdout
    assert OLD in old and "SUPERSEDED" in old
    memory.mem("forget", "MEMORY.md:5", "--reason", "x", env=NOW)
    assert OLD not in memory.mem("context", "which port has the orders service", env=NOW).stdout


@pytest.mark.parametrize("answer", ["both", "later", "earlier", "same"])
def test_answers_about_promoted_facts_leave_their_provenance_whole(repo: Repo, answer: str) -> None:
    repo.commit("log", {"memory/2026-02-05.md": f"# 2026-02-05\n\n- Rule: {OLD}\n- Rule: {NEW}\n"})
    repo.mem("promote", env=NOW)
    assert len(pairs(repo)) == 1
    settle(repo, "1", f"--{answer}")
    assert repo.mem("verify", env=NOW).returncode == 0 and pairs(repo) == []
    assert repo.mem("review", "HEAD~1..HEAD", env=NOW).returncode == 0


def test_two_branches_that_answer_alike_merge(memory: Repo) -> None:
    memory.mem("install", env=NOW)
    memory.git("branch", "topic")
    settle(memory, "1", "--later")
    memory.git("switch", "-q", "topic")
    settle(memory, "1", "--later", "--reason", "there")
    memory.git("merge", "-q", "--no-edit", "main")
    assert pairs(memory) == [] and memory.read("memory/archive/2026.md").count(OLD) == 1


def test_an_agent_settles_nothing_and_a_dry_run_writes_nothing(memory: Repo) -> None:
    before = memory.read("MEMORY.md")
    asked = memory.mem("settle", "1", "--later", "--dry-run", env=NOW).stdout
    assert asked == "would settle MEMORY.md:6, MEMORY.md:5: the later one holds\n"
    memory.git("config", "--global", "mem.agent", "codex")
    refused = memory.mem("settle", "1", "--later", check=False, env=NOW)
    assert refused.returncode == 2 and "only a person" in refused.stderr and memory.read("MEMORY.md") == before


@pytest.mark.parametrize("given", [["7", "--both"], ["1"], ["--both"], ["MEMORY.md:99", "--both"]])
def test_what_names_no_pair_or_no_answer_is_refused(memory: Repo, given: list[str]) -> None:
    assert memory.mem("settle", *given, check=False, env=NOW).returncode == 2


def test_what_an_agent_proposes_comes_first(memory: Repo) -> None:
    log = f"# d\n\n- Deploys are frozen in December <!-- mem origin=agent proposes={fact_id(OLD)} -->\n"
    memory.commit("x", {LOG: log})
    assert pairs(memory)[0]["reason"] == "an agent proposes it"
    settle(memory, "1", "--earlier")
    assert len(pairs(memory)) == 1


def test_a_successor_without_a_day_amends_without_one(repo: Repo) -> None:
    repo.commit("x", {"MEMORY.md": f"# Memory\n\n- {NEW}\n- {OLD}\n"})
    settle(repo, "1", "--later")
    old = repo.mem("search", "which port has the orders service", "--expired", env=NOW).stdout
    assert "until :" not in old and OLD in old
