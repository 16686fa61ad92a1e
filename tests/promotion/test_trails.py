"""What a promoted fact keeps of its headings and parent items, so that the same words about another thing are two."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date

import pytest

from gitmem.memory.fact import ABOUT
from gitmem.memory.facts import parse
from gitmem.memory.statements import read
from gitmem.promotion.proposal import Log, Op, Operation
from gitmem.promotion.rules_model import RulesModel
from gitmem.promotion.topics import things
from tests.harness import Repo

Form = Callable[..., str]
DAYS = ("2026-11-10", "2026-11-20")


def nested(*steps: str) -> str:
    """A list in which each step is below the one before it."""
    return "\n".join(f"{'  ' * depth}- {step}" for depth, step in enumerate(steps))


def below(*steps: str) -> str:
    """The last step as an item below headings of the others."""
    *headings, text = steps
    return "\n\n".join((*(f"{'#' * depth} {heading}" for depth, heading in enumerate(headings, 2)), f"- {text}"))


def log_of(text: str, day: str = DAYS[0]) -> Log:
    """A log with this text, all of it new."""
    lines = tuple(text.splitlines())
    return Log(f"memory/{day}.md", day * 4, date.fromisoformat(day), lines, frozenset(range(1, len(lines) + 1)))


def proposed(*logs: Log) -> list[Operation]:
    """The operations of `rules` for all lines of logs, without those that it skips."""
    return [each for each in RulesModel().propose(logs, []).operations if each.op is not Op.SKIP]


def promote(repo: Repo, logs: Sequence[str], *, one_run: bool) -> dict[str, str]:
    """Promote logs of DAYS; text -> value of ABOUT of each fact of MEMORY.md."""
    for day, log in zip(DAYS, logs, strict=True):
        repo.commit(f"log {day}", {f"memory/{day}.md": f"# {day}\n\n{log}\n"})
        if not one_run or day == DAYS[-1]:
            repo.mem("promote", env={"GITMEM_NOW": f"{day}T10:00:00+00:00"})
    assert "no statements" in repo.mem("settle", env={"GITMEM_NOW": "2026-11-21T10:00:00+00:00"}).stderr
    return {fact.text: fact.get(ABOUT) for fact in parse(repo.read("MEMORY.md").encode()).facts}


OIL = ("Decision: the oil is changed at 90 hours", "Decision: the oil is changed at 140 hours now")
TWO_LOGS = [
    tuple(nested(thing, "engine", text) for thing, text in zip(("Kestrel", "Plover"), OIL, strict=True)),
    tuple(below(thing, "Engine", text) for thing, text in zip(("Kestrel", "Plover"), OIL, strict=True)),
    tuple(below(f"09:00 - {thing}", "Engine", text) for thing, text in zip(("Kestrel", "Plover"), OIL, strict=True)),
    tuple(
        nested(thing, "난방", text)
        for thing, text in zip(
            ("서울점", "부산점"), ("결정: 온도는 19도로 한다", "결정: 온도는 이제 21도로 한다"), strict=True
        )
    ),
    tuple(nested(thing, "engine", OIL[0]) for thing in ("Kestrel", "Plover")),
    tuple(
        below(f"The {thing} of the harbour company", "Engine", text)
        for thing, text in zip(("old Kestrel", "new Plover"), OIL, strict=True)
    ),
    tuple(nested(thing, "pump", "valve", OIL[0]) for thing in ("Greenhouse of the north", "Greenhouse of the south")),
]


@pytest.mark.parametrize("one_run", [False, True])
@pytest.mark.parametrize("logs", TWO_LOGS)
def test_a_fact_about_the_same_part_of_another_thing_replaces_nothing(
    repo: Repo, logs: tuple[str, str], one_run: bool
) -> None:
    assert len(promote(repo, logs, one_run=one_run)) == 2
    assert repo.mem("verify").returncode == 0


def test_the_same_part_of_the_same_thing_is_replaced(repo: Repo) -> None:
    logs = [nested("Kestrel", "engine", text) for text in OIL]
    assert promote(repo, logs, one_run=False) == {"Kestrel, engine: the oil is changed at 140 hours now": ""}


def test_the_same_words_in_one_log_are_a_fact_of_each_thing(repo: Repo) -> None:
    log = "\n".join(nested(thing, "heating", "Decision: the office is kept at 19 degrees") for thing in ("Bern", "Zug"))
    expected = {f"{thing}, heating: the office is kept at 19 degrees" for thing in ("Bern", "Zug")}
    assert set(promote(repo, ("", log), one_run=True)) == expected


def test_a_line_that_says_the_same_of_another_thing_is_read_after_a_promotion(repo: Repo) -> None:
    first, second = (
        nested(thing, "heating", "Decision: the office is kept at 19 degrees") for thing in ("Bern", "Zug")
    )
    promote(repo, ("", first), one_run=True)
    repo.commit("more", {f"memory/{DAYS[1]}.md": f"# {DAYS[1]}\n\n{first}\n{second}\n"})
    repo.mem("promote", env={"GITMEM_NOW": f"{DAYS[1]}T10:00:00+00:00"})
    assert "Zug, heating" in repo.read("MEMORY.md")


def test_the_outer_steps_that_do_not_fit_are_in_the_comment(repo: Repo) -> None:
    logs = [
        nested(fleet, "Kestrel", "engine", "oil", text.replace("the oil", "it"))
        for fleet, text in zip(("Fleet north", "Fleet south"), OIL, strict=True)
    ]
    assert promote(repo, logs, one_run=False) == {
        "Kestrel, engine, oil: it is changed at 90 hours": "Fleet north",
        "Kestrel, engine, oil: it is changed at 140 hours now": "Fleet south",
    }
    hits = json.loads(repo.mem("search", "--json", "Fleet south oil").stdout)["hits"]
    assert "140 hours" in next(hit for hit in hits if hit["path"] == "MEMORY.md")["text"]
    assert "Fleet south" in repo.mem("context", "when is the oil of the Kestrel changed").stdout


@pytest.mark.parametrize(
    ("outer", "expected"),
    [
        ("Kestrel", "Kestrel, engine: "),
        ("Morning session", "engine: "),
        ("Session with Anna about the Kestrel", "engine: "),
        ("Deployment status", "engine: "),
        ("배포 완료", "engine: "),
        ("Kestrel 2026-11-10", "engine: "),
        ("Kestrel (Mar 16 evening)", "Kestrel, engine: "),
        ("Kestrel log", "engine: "),
        ("engine room", "engine room, engine: "),
        ("an engine", "engine: "),
    ],
)
@pytest.mark.parametrize("form", [nested, below])
def test_an_outer_step_that_names_no_thing_is_left_out(form: Form, outer: str, expected: str) -> None:
    (found,) = proposed(log_of(form(outer, "engine", OIL[0])))
    assert found.text == f"{expected}the oil is changed at 90 hours"


BLUE = ("we decided to paint it blue", "we decided to paint it green instead of blue")
COPIES = ("we decided to print 300 copies", "we decided to print 500 copies instead of 300")
KOREAN_COPIES = ("300부 인쇄하기로 결정했다", "300부 대신 500부 인쇄하기로 결정했다")


@pytest.mark.parametrize(
    ("form", "things_", "texts"),
    [
        (nested, ("Kestrel", "Plover"), BLUE),
        (below, ("Kestrel", "Plover"), BLUE),
        (below, ("09:00 - annual report", "10:00 - newsletter"), COPIES),
        (nested, ("연보", "소식지"), KOREAN_COPIES),
        (nested, ("annual report north", "annual report south"), COPIES),
    ],
)
def test_a_decision_about_another_thing_takes_nothing_back(
    form: Form, things_: tuple[str, str], texts: tuple[str, str]
) -> None:
    logs = [form(thing, text) for thing, text in zip(things_, texts, strict=True)]
    expected = [
        f"{thing.removeprefix('09:00 - ').removeprefix('10:00 - ')}: {text}"
        for thing, text in zip(things_, texts, strict=True)
    ]
    assert [each.text for each in proposed(log_of("\n\n".join(logs)))] == expected
    assert [each.text for each in proposed(*map(log_of, logs, DAYS))] == expected


def test_a_fact_of_another_thing_is_not_taken_back() -> None:
    known = parse(b"- Kestrel: we decided to paint it blue <!-- mem type=decision -->\n").facts
    for thing, op in (("Kestrel", Op.SUPERSEDE), ("Plover", Op.ADD)):
        assert RulesModel().propose([log_of(nested(thing, BLUE[1]))], known).operations[-1].op is op


@pytest.mark.parametrize(
    ("first", "second"),
    [("Kestrel", "Kestrel"), ("Kestrel", "Kestrel hull"), ("Kestrel", "evening review"), ("standup", "Kestrel")],
)
def test_a_decision_about_the_same_thing_takes_the_earlier_back(first: str, second: str) -> None:
    (found,) = proposed(log_of(f"{below(first, BLUE[0])}\n\n{below(second, BLUE[1])}"))
    assert found.text.endswith(BLUE[1])


def test_a_thing_is_named_once() -> None:
    (statement,) = [each for each in read(["## Kestrel", "- Kestrel", "  - x"]) if each.text == "x"]
    assert things(statement) == ("Kestrel",)
