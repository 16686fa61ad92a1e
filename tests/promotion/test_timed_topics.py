"""A log's heading with a time, `## 09:00 - billing`: what is promoted below it stays a fact about billing."""

from __future__ import annotations

import json

import pytest

from gitmem.git.objects import Span
from gitmem.memory import facts
from gitmem.promotion.plan import comment_keys
from gitmem.promotion.proposal import Op, Operation
from tests.harness import Repo
from tests.promotion.sample import log_of

LOG = log_of(["the port is 9090"])

PORTS = ("We decided that the API port is 8080", "We decided that the API port is now 9090")
TIMEOUTS = ("API 타임아웃은 30초로 하기로 했다", "API 타임아웃은 이제 60초로 하기로 했다")


def say(repo: Repo, day: str, heading: str, text: str) -> None:
    repo.commit(f"log {day}", {f"memory/{day}.md": f"# {day}\n\n## 09:00 - {heading}\n\n- {text}\n"})


def promote(repo: Repo, day: str = "2026-11-21") -> list[str]:
    """Promote; the facts of MEMORY.md."""
    repo.mem("promote", env={"GITMEM_NOW": f"{day}T10:00:00+00:00"})
    return [line.partition(" <!--")[0] for line in repo.read("MEMORY.md").splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("one_run", [False, True])
@pytest.mark.parametrize(("things", "texts"), [(("Falcon", "Eagle"), PORTS), (("결제팀", "검색팀"), TIMEOUTS)])
def test_what_is_said_of_another_thing_replaces_nothing(
    repo: Repo, things: tuple[str, str], texts: tuple[str, str], one_run: bool
) -> None:
    for day, heading, text in zip(("2026-11-10", "2026-11-20"), things, texts, strict=True):
        say(repo, day, heading, text)
        if not one_run:
            promote(repo, day)
    assert set(promote(repo)) == {f"- {text}" for text in texts}
    assert all(f"about={heading}" in repo.read("MEMORY.md") for heading in things)
    assert repo.mem("verify").returncode == 0
    assert "no statements" in repo.mem("settle").stderr


def test_a_context_and_a_search_say_what_a_fact_is_about(repo: Repo) -> None:
    for day, heading, text in zip(("2026-11-10", "2026-11-20"), ("Falcon", "Eagle"), PORTS, strict=True):
        say(repo, day, heading, text)
        promote(repo, day)
    asked = repo.mem("context", "what is the API port").stdout
    assert f"- Falcon: {PORTS[0]}" in asked and f"- Eagle: {PORTS[1]}" in asked and "until" not in asked
    hits = json.loads(repo.mem("search", "--json", "API port").stdout)["hits"]
    assert {(hit["trail"][-1], hit["text"]) for hit in hits if hit["path"] == "MEMORY.md"} == {
        ("Falcon", f"- {PORTS[0]}"),
        ("Eagle", f"- {PORTS[1]}"),
    }
    assert json.loads(repo.mem("search", "--json", "falcon port").stdout)["hits"][0]["text"] == f"- {PORTS[0]}"


@pytest.mark.parametrize(
    "headings", [("standup", "evening review"), ("Falcon", "Falcon"), ("A long day on which much was done", "Falcon")]
)
def test_what_is_said_on_another_occasion_or_of_the_same_thing_replaces(repo: Repo, headings: tuple[str, str]) -> None:
    for day, heading, text in zip(("2026-11-10", "2026-11-20"), headings, PORTS, strict=True):
        say(repo, day, heading, text)
        promote(repo, day)
    assert promote(repo) == [f"- {PORTS[1]}"]


@pytest.mark.parametrize(("text", "about"), [("Falcon: the port is 9090", ""), ("the port is 9090", "Falcon")])
def test_a_fact_that_names_its_thing_says_it_once(text: str, about: str) -> None:
    old = facts.parse(b"- the port is 8080 <!-- mem type=fact about=Falcon -->\n").facts[0]
    operation = Operation(Op.SUPERSEDE, text, (Span(LOG.path, 1, 1, LOG.blob),), "fact")
    assert dict(comment_keys(operation, LOG, old)).get("about", "") == about


SAME_PORT = "We decided the API port is 8080"
LATER_PORT = "We decided that the API port is now 9090"
SAME_LIMIT = "We decided that the API retry limit of all calls to the outside world is {} in each region"
SAME_RETRIES = "API 재시도 횟수는 {}회로 하기로 결정했다"


@pytest.mark.parametrize("one_run", [False, True])
@pytest.mark.parametrize(
    ("things", "same", "later"),
    [
        (("Falcon", "Eagle"), SAME_PORT, LATER_PORT),
        (("billing", "shipping"), SAME_LIMIT.format(3), SAME_LIMIT.format("now 5")),
        (("결제팀", "검색팀"), SAME_RETRIES.format("3"), SAME_RETRIES.format("이제 5")),
    ],
)
def test_the_same_words_about_another_thing_are_another_fact(
    repo: Repo, things: tuple[str, str], same: str, later: str, one_run: bool
) -> None:
    for day, heading in zip(("2026-11-10", "2026-11-11"), things, strict=True):
        say(repo, day, heading, same)
        if not one_run:
            promote(repo, day)
    found = promote(repo)
    first, second = things
    if one_run:  # the newest line is decided first
        second, first = things
    assert set(found) == {f"- {same}", f"- {second}: {same}"} and f"about={first}" in repo.read("MEMORY.md")
    say(repo, "2026-11-12", second, same)  # once more: it is there already
    assert promote(repo) == found
    assert repo.mem("verify").returncode == 0
    say(repo, "2026-11-20", first, later)
    assert set(promote(repo)) == {f"- {later}", f"- {second}: {same}"}
    assert "no statements" in repo.mem("settle").stderr
    asked = repo.mem("context", "what is the API port, retry limit, 재시도 횟수").stdout
    assert f"- {first}: {later}" in asked and f"- {second}: {same}" in asked
    say(repo, "2026-11-21", second, later)
    assert set(promote(repo)) == {f"- {later}", f"- {second}: {later}"}


def test_a_log_says_the_same_of_another_thing_after_a_promotion(repo: Repo) -> None:
    say(repo, "2026-11-10", "Falcon", SAME_PORT)
    assert promote(repo, "2026-11-10") == [f"- {SAME_PORT}"]
    log = repo.read("memory/2026-11-10.md")
    repo.commit("log", {"memory/2026-11-10.md": f"{log}\n## 10:00 - Eagle\n\n- {SAME_PORT}\n"})
    found = promote(repo, "2026-11-10")
    assert set(found) == {f"- {SAME_PORT}", f"- Eagle: {SAME_PORT}"}
    say(repo, "2026-11-20", "Eagle", LATER_PORT)
    expected = {f"- {SAME_PORT}", f"- {LATER_PORT}"}
    assert set(promote(repo)) == expected
    repo.mem("promote", "--since", "2026-11-01", env={"GITMEM_NOW": "2026-11-21T10:00:00+00:00"})
    assert set(promote(repo)) == expected


@pytest.mark.parametrize("headings", [("Falcon", "standup"), ("standup", "Falcon"), ("Falcon", "Falcon API")])
def test_the_same_words_about_no_other_thing_are_a_duplicate(repo: Repo, headings: tuple[str, str]) -> None:
    for day, heading in zip(("2026-11-10", "2026-11-11"), headings, strict=True):
        say(repo, day, heading, SAME_PORT)
        promote(repo, day)
    assert promote(repo) == [f"- {SAME_PORT}"]


@pytest.mark.parametrize("title", ["# Memory", "# Acme memory"])
@pytest.mark.parametrize("line", ["- {text}", "- {topic}\n  - {text}", "- {topic}: {text}"])
def test_a_fact_below_a_heading_is_over_only_for_its_own_topic(repo: Repo, title: str, line: str) -> None:
    source = "src=memory/2026-01-01.md#L3 from=2026-01-01"
    fact = f"We decided the retry limit is 3 <!-- mem type=decision {source} -->"
    repo.commit("memory", {"MEMORY.md": f"{title}\n\n## Services\n\n### Orders\n\n- {fact}\n"})
    text = line.format(topic="Billing", text="We decided that the retry limit is now 7")
    say(repo, "2026-11-20", "Billing", text.removeprefix("- "))
    asked = repo.mem("context", "what is the retry limit").stdout
    assert "the retry limit is 3" in asked and "until" not in asked
    found = promote(repo)
    assert "- We decided the retry limit is 3" in found and len(found) == 2
    assert "no statements" in repo.mem("settle", env={"GITMEM_NOW": "2026-11-21T10:00:00+00:00"}).stderr


def test_the_same_words_below_a_heading_of_another_thing_are_another_fact(repo: Repo) -> None:
    source = "src=memory/2026-01-01.md#L3 from=2026-01-01"
    fact = f"- {SAME_PORT} <!-- mem type=decision {source} -->"
    repo.commit("memory", {"MEMORY.md": f"# Memory\n\n## Falcon\n\n{fact}\n"})
    say(repo, "2026-11-10", "Falcon", SAME_PORT)
    assert promote(repo) == [f"- {SAME_PORT}"]
    say(repo, "2026-11-11", "Eagle", SAME_PORT)
    assert set(promote(repo)) == {f"- {SAME_PORT}", f"- Eagle: {SAME_PORT}"}
