"""`git mem settle`: open pairs in order, an answer in Git, never asked again, taken back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import closing
from datetime import date
from typing import Any

import pytest

from gitmem.config import Config
from gitmem.errors import Changed
from gitmem.git.opening import open_repository
from gitmem.memory.fact import fact_id
from gitmem.promotion import settlement
from gitmem.promotion.open_pairs import open_pairs
from gitmem.promotion.settlement import Answer
from tests.harness import Repo

OLD, NEW = "The orders service listens on port 8080", "The orders service listens on port 9090"
NOW = {"GITMEM_NOW": "2026-03-02T10:00:00+00:00"}
LOG = "memory/2026-03-01.md"


def pairs(repo: Repo) -> list[dict[str, Any]]:
    answer = json.loads(repo.mem("settle", "--json", env=NOW).stdout)
    return list(answer["pairs"])


def settle(repo: Repo, *options: str) -> dict[str, Any]:
    """Answer the first open pair."""
    rows = json.loads(repo.mem("settle", pairs(repo)[0]["id"], *options, "--json", env=NOW).stdout)["settled"]
    return dict(rows[0])


@pytest.fixture
def memory(repo: Repo) -> Repo:
    """Two facts that disagree, the newer one above."""
    lines = [f"{NEW} <!-- mem type=fact from=2026-02-01 -->", f"{OLD} <!-- mem type=fact from=2026-01-01 -->"]
    repo.commit("first", {"MEMORY.md": "# Memory\n\n## Facts\n\n" + "".join(f"- {line}\n" for line in lines)})
    return repo


def test_the_open_pairs_are_listed_with_places_days_and_the_reason(memory: Repo) -> None:
    (pair,) = pairs(memory)
    assert len(pair["id"]) == 8 and pair["relation"] == "replaces" and "8080 to 9090" in pair["reason"]
    assert (pair["earlier"]["text"], pair["earlier"]["line"], pair["earlier"]["day"]) == (OLD, 6, "2026-01-01")
    assert (pair["later"]["text"], pair["later"]["path"], pair["later"]["id"]) == (NEW, "MEMORY.md", fact_id(NEW))
    shown = memory.mem("settle", env=NOW)
    assert f"earlier  MEMORY.md:6  2026-01-01  {OLD}" in shown.stdout and shown.stdout.startswith(pair["id"])
    assert f"git mem settle {pair['id']} --later" in shown.stderr


@pytest.mark.parametrize(("answer", "kept", "gone"), [("later", NEW, OLD), ("earlier", OLD, NEW)])
def test_what_no_longer_holds_goes_to_the_archive_and_the_pair_is_not_asked_again(
    memory: Repo, answer: str, kept: str, gone: str
) -> None:
    before = memory.read("MEMORY.md")
    done = settle(memory, f"--{answer}", "--reason", "the new host")
    assert done["answer"] == answer and done["commit"] == memory.git("rev-parse", "HEAD").strip()
    assert f"supersedes={fact_id(gone)}" in memory.read("MEMORY.md") and gone not in memory.read("MEMORY.md")
    assert f"- {gone} <!-- mem" in memory.read("memory/archive/2026.md")
    assert f"superseded-by={fact_id(kept)}" in memory.read("memory/archive/2026.md")
    message = memory.git("log", "-1", "--format=%B")
    assert f"the {answer} one holds" in message and "Memory-Reason: the new host" in message and OLD not in message
    assert pairs(memory) == [] and not memory.git("status", "--porcelain")
    memory.mem("undo", env=NOW)
    assert memory.read("MEMORY.md") == before and len(pairs(memory)) == 1


SERVICES = {"API": (8080, 9090), "database": (5432, 5433), "cache": (6379, 6380)}


@pytest.fixture
def services(repo: Repo) -> Repo:
    """Three services whose ports changed, one pair each."""
    for number in (0, 1):
        for name, ports in SERVICES.items():
            repo.mem("add", "--type", "decision", f"The {name} listens on port {ports[number]}", env=NOW)
        repo.git("add", "-A")
        repo.git("commit", "-qm", "ports")
    return repo


def ids(repo: Repo) -> dict[str, str]:
    """Service -> the id of its pair."""
    return {name: pair["id"] for pair in pairs(repo) for name in SERVICES if name in pair["later"]["text"]}


def test_an_answer_settles_the_pair_that_was_listed_with_that_id(services: Repo) -> None:
    listed = ids(services)
    services.mem("settle", listed["cache"], "--later", env=NOW)
    services.mem("settle", listed["database"], "--earlier", env=NOW)
    assert ids(services) == {"API": listed["API"]}
    text = services.read("MEMORY.md")
    assert [port for port in ("6379", "6380", "5432", "5433") if f"port {port}" in text] == ["6380", "5432"]
    again = services.mem("settle", listed["cache"], "--earlier", check=False, env=NOW)
    assert again.returncode == 2 and "there is no open pair" in again.stderr and services.read("MEMORY.md") == text


def in_log(repo: Repo) -> None:
    """A fact, and a later line of a log that disagrees with it."""
    fact = f"# Memory\n\n## Facts\n\n- {OLD} <!-- mem type=fact from=2026-01-01 -->\n"
    repo.commit("first", {"MEMORY.md": fact, LOG: f"# 2026-03-01\n\n- {NEW}\n"})


def in_memory(repo: Repo) -> None:
    """Two facts that disagree."""
    lines = [f"{NEW} <!-- mem type=fact from=2026-02-01 -->", f"{OLD} <!-- mem type=fact from=2026-01-01 -->"]
    repo.commit("first", {"MEMORY.md": "# Memory\n\n## Facts\n\n" + "".join(f"- {line}\n" for line in lines)})


@pytest.mark.parametrize("second", list(Answer))
@pytest.mark.parametrize("first", list(Answer))
@pytest.mark.parametrize("disagreeing", [in_log, in_memory])
def test_of_two_answers_at_once_only_the_first_is_written(
    repo: Repo, disagreeing: Callable[[Repo], None], first: Answer, second: Answer
) -> None:
    disagreeing(repo)
    with closing(open_repository(repo.path, os.environ)) as git:
        day = date(2026, 3, 2)
        (pair,) = open_pairs(git, Config(), day)
        settlement.settle(git, Config(), pair, first, day)
        before = repo.git("rev-parse", "HEAD")
        with pytest.raises(Changed):
            settlement.settle(git, Config(), pair, second, day)
    assert repo.git("rev-parse", "HEAD") == before and repo.git("status", "--porcelain") == ""


def test_a_pair_that_somebody_closed_meanwhile_is_an_error_and_the_other_answers_stay(services: Repo) -> None:
    listed = ids(services)
    hook = services.write(".git/hooks/post-commit", "#!/bin/sh\nsed -i s/6380/6381/ MEMORY.md\n")
    hook.chmod(0o755)
    done = services.mem("settle", listed["API"], listed["cache"], "--later", env=NOW, check=False)
    assert done.returncode == 3 and "error: 1 pair no longer open as listed" in done.stderr
    assert len(done.stdout.splitlines()) == 1 and "API" not in ids(services)


def test_a_pair_that_an_answer_of_the_same_command_closed_is_no_error(repo: Repo) -> None:
    ports = [
        f"- {OLD.replace('8080', port)} <!-- mem from=2026-0{n}-01 -->\n" for n, port in ((2, "9090"), (1, "8080"))
    ]
    repo.commit("x", {"MEMORY.md": "# Memory\n\n" + "".join(ports), LOG: f"# d\n\n- {OLD.replace('8080', '7070')}\n"})
    listed = [pair["id"] for pair in pairs(repo)]
    assert len(listed) > 1
    done = repo.mem("settle", *listed, "--later", env=NOW)
    assert "note: " in done.stderr and "no longer open as listed" in done.stderr


def test_a_fact_names_the_only_pair_that_it_is_in(services: Repo) -> None:
    cache = next(pair for pair in pairs(services) if "cache" in pair["later"]["text"])
    services.mem("settle", cache["earlier"]["id"], "--later", env=NOW)
    assert set(ids(services)) == {"API", "database"}


def test_after_an_edit_the_ids_of_other_pairs_stay_and_a_changed_pair_has_another(services: Repo) -> None:
    listed = ids(services)
    text = services.read("MEMORY.md").replace("port 6380", "port 6381")
    services.commit("edit", {"MEMORY.md": text.replace("## Decisions\n\n", "## Decisions\n\n- Lunch is at noon\n")})
    now = ids(services)
    assert (now["API"], now["database"]) == (listed["API"], listed["database"])
    assert now["cache"] != listed["cache"]
    assert services.mem("settle", listed["cache"], "--later", check=False, env=NOW).returncode == 2


def test_a_pair_whose_later_statement_became_the_earlier_one_has_another_id(memory: Repo) -> None:
    ident = pairs(memory)[0]["id"]
    memory.commit("days", {"MEMORY.md": memory.read("MEMORY.md").replace("from=2026-01-01", "from=2026-02-20")})
    assert pairs(memory)[0]["id"] != ident


def test_the_same_two_texts_below_two_headings_are_two_pairs(repo: Repo) -> None:
    section = f"- {NEW} <!-- mem from=2026-02-01 -->\n- {OLD} <!-- mem from=2026-01-01 -->\n"
    repo.commit("x", {"MEMORY.md": f"# Memory\n\n## Berlin\n\n{section}\n## Seoul\n\n{section}"})
    listed = {pair["later"]["trail"][-1]: pair["id"] for pair in pairs(repo)}
    assert set(listed) == {"Berlin", "Seoul"} and listed["Berlin"] != listed["Seoul"]
    repo.mem("settle", listed["Seoul"], "--later", env=NOW)
    berlin = repo.read("MEMORY.md").partition("## Seoul")[0]
    assert section in berlin and repo.read("MEMORY.md").count(OLD) == 1


def test_several_pairs_are_settled_at_once(services: Repo) -> None:
    done = services.mem("settle", *ids(services).values(), "--later", "--json", env=NOW)
    assert len(json.loads(done.stdout)["settled"]) == 3 and pairs(services) == []


def test_both_may_hold(memory: Repo) -> None:
    settle(memory, "--both")
    assert f"beside={fact_id(OLD)}" in memory.read("MEMORY.md") and OLD in memory.read("MEMORY.md")
    assert pairs(memory) == []
    memory.git("checkout", "-q", "-b", "topic")
    memory.commit("x", {"MEMORY.md": memory.read("MEMORY.md") + "- Lunch is at noon\n"})
    assert json.loads(memory.mem("review", "main..HEAD", "--format", "json", env=NOW).stdout)["rivals"] == []


def test_of_two_that_say_the_same_the_one_with_a_source_is_kept(repo: Repo) -> None:
    texts = [f"{OLD}.", f"{OLD} <!-- mem src=memory/2026-01-01.md#L3 importance=.7 -->"]
    repo.commit("x", {"MEMORY.md": "# Memory\n\n" + "".join(f"- {text}\n" for text in texts)})
    assert [pair["relation"] for pair in pairs(repo)] == ["same"]
    settle(repo, "--same")
    assert repo.read("MEMORY.md") == f"# Memory\n\n- {texts[1]}\n" and pairs(repo) == []
    assert f"- {OLD}. <!-- mem same-as={fact_id(OLD)} -->" in repo.read("memory/archive/2026.md")


@pytest.mark.parametrize("answer", ["later", "earlier", "same"])
def test_of_one_text_twice_one_is_kept_and_holds(repo: Repo, answer: str) -> None:
    repo.commit("x", {"MEMORY.md": f"# Memory\n\n- {OLD}\n- Lunch is at noon\n- {OLD}\n"})
    settle(repo, f"--{answer}")
    assert repo.read("MEMORY.md").count(OLD) == 1 and "supersedes" not in repo.read("MEMORY.md")
    assert OLD in repo.mem("search", "which port has the orders service", env=NOW).stdout


def test_a_line_of_the_log_that_a_fact_says_too_is_no_pair_of_its_own(memory: Repo) -> None:
    memory.commit("x", {LOG: f"# 2026-03-01\n\n- {NEW}\n- {NEW}\n"})
    assert [pair["later"]["path"] for pair in pairs(memory)] == ["MEMORY.md"]


def test_the_pin_of_what_is_replaced_stays_and_what_is_below_it_too(repo: Repo) -> None:
    text = f"- {NEW}\n- {OLD} <!-- mem pinned=true -->\n  - behind the proxy\n"
    repo.commit("x", {"MEMORY.md": f"# Memory\n\n{text}"})
    settle(repo, "--later")
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
    settle(memory, "--later")
    assert f"- {NEW} <!-- mem src={LOG}#L3@" in memory.read("MEMORY.md") and pairs(memory) == []
    assert memory.read(LOG) == f"# 2026-03-01\n\n- {NEW}\n" and OLD in memory.read("memory/archive/2026.md")
    assert memory.mem("verify", env=NOW).returncode == 0


@pytest.mark.parametrize(("answer", "key"), [("earlier", "supersedes"), ("both", "beside"), ("same", "beside")])
def test_a_log_is_never_changed(memory: Repo, answer: str, key: str) -> None:
    log = f"# 2026-03-01\n\n- {NEW}\n"
    memory.commit("x", {"MEMORY.md": f"# Memory\n\n## Facts\n\n- {OLD} <!-- mem from=2026-01-01 -->\n", LOG: log})
    settle(memory, f"--{answer}")
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
    done = memory.mem("settle", pairs(memory)[0]["id"], "--both", env=NOW)
    assert "not committed" in done.stderr and memory.git("rev-parse", "HEAD") == head
    assert f"beside={fact_id(OLD)}" in memory.read("MEMORY.md") and "Lunch" in memory.read("MEMORY.md")
    memory.mem("undo", env=NOW)
    assert "beside" not in memory.read("MEMORY.md") and "Lunch" in memory.read("MEMORY.md")


def test_what_was_answered_is_not_asked_of_the_same_words_elsewhere(memory: Repo) -> None:
    settle(memory, "--both")
    found = json.loads(memory.mem("add", NEW, "--json", env=NOW).stdout)
    assert [rival["relation"] for rival in found["differs"]] == ["same"] and pairs(memory) == []


def test_what_was_replaced_is_neither_searched_nor_given_even_when_its_successor_is_forgotten(memory: Repo) -> None:
    settle(memory, "--later")
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
    settle(repo, f"--{answer}")
    assert repo.mem("verify", env=NOW).returncode == 0 and pairs(repo) == []
    assert repo.mem("review", "HEAD~1..HEAD", env=NOW).returncode == 0


def test_two_branches_that_answer_alike_merge(memory: Repo) -> None:
    memory.mem("install", env=NOW)
    memory.git("branch", "topic")
    settle(memory, "--later")
    memory.git("switch", "-q", "topic")
    settle(memory, "--later", "--reason", "there")
    memory.git("merge", "-q", "--no-edit", "main")
    assert pairs(memory) == [] and memory.read("memory/archive/2026.md").count(OLD) == 1


def test_an_agent_settles_nothing_and_a_dry_run_writes_nothing(memory: Repo) -> None:
    before = memory.read("MEMORY.md")
    ident = pairs(memory)[0]["id"]
    asked = memory.mem("settle", ident, "--later", "--dry-run", env=NOW).stdout
    assert asked == "would settle MEMORY.md:6, MEMORY.md:5: the later one holds\n"
    memory.git("config", "--global", "mem.agent", "codex")
    refused = memory.mem("settle", ident, "--later", check=False, env=NOW)
    assert refused.returncode == 2 and "only a person" in refused.stderr and memory.read("MEMORY.md") == before


@pytest.mark.parametrize("given", [["1", "--both"], ["0a1b2c3d"], ["--both"], ["MEMORY.md:5", "--both"]])
def test_what_names_no_pair_or_no_answer_is_refused(memory: Repo, given: list[str]) -> None:
    assert memory.mem("settle", *given, check=False, env=NOW).returncode == 2


def test_what_an_agent_proposes_comes_first(memory: Repo) -> None:
    log = f"# d\n\n- Deploys are frozen in December <!-- mem origin=agent proposes={fact_id(OLD)} -->\n"
    memory.commit("x", {LOG: log})
    assert pairs(memory)[0]["reason"] == "an agent proposes it"
    settle(memory, "--earlier")
    assert len(pairs(memory)) == 1


@pytest.mark.parametrize(
    ("meta", "words"), [("src=memory/2026-01-05.md#L3 ", "the promotion that added it"), ("", "its comment")]
)
def test_nobody_is_called_an_agent_who_is_none(memory: Repo, meta: str, words: str) -> None:
    fact = f"- Deploys are frozen in December <!-- mem {meta}proposes={fact_id(OLD)} -->\n"
    memory.commit("x", {"MEMORY.md": memory.read("MEMORY.md") + fact})
    assert pairs(memory)[0]["reason"] == f"{words} proposes it"


def test_a_successor_without_a_day_amends_without_one(repo: Repo) -> None:
    repo.commit("x", {"MEMORY.md": f"# Memory\n\n- {NEW}\n- {OLD}\n"})
    settle(repo, "--later")
    old = repo.mem("search", "which port has the orders service", "--expired", env=NOW).stdout
    assert "until :" not in old and OLD in old


TWO_TOPICS = [
    ("Orders", "retry limit 3", "Billing", "the retry limit is now 7"),
    ("주문", "재시도 한도 3", "결제", "재시도 한도는 이제 7"),
]


@pytest.mark.parametrize("heading", ["## {}", "## Services\n\n### {}"])
@pytest.mark.parametrize(("topic", "old", "other", "new"), TWO_TOPICS)
def test_a_fact_below_a_heading_is_asked_about_only_for_lines_of_its_topic(
    repo: Repo, topic: str, old: str, other: str, new: str, heading: str
) -> None:
    fact = f"{old} <!-- mem type=fact from=2026-01-01 -->"
    repo.commit("fact", {"MEMORY.md": f"# Acme memory\n\n{heading.format(topic)}\n\n- {fact}\n"})
    for name, expected in ((other, []), (topic, [f"{topic}: {new}"])):
        repo.commit("log", {LOG: f"# 2026-03-01\n\n- {name}: {new}\n"})
        assert [pair["later"]["text"] for pair in pairs(repo)] == expected
    for name, expected in ((other, []), (topic, [new])):
        repo.commit("log", {LOG: f"# 2026-03-01\n\n## 09:00 - {name}\n\n- {new}\n"})
        assert [pair["later"]["text"] for pair in pairs(repo)] == expected
