"""What is about the thing that was asked for comes before what is about another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitmem.search.subjects import MIN_SCORE_SHARE, STEP, Line, reordered_scores
from tests.harness import Repo

ASKED = [
    (
        "what does ticket 4711 ask for?",
        "Ticket 4711: a refund of 30 euros.",
        "Ticket 4712: a refund, a voucher, a call.",
    ),
    (
        "what is patient 12 allergic to?",
        "Patient 12 reacts to penicillin.",
        "Patient 13 is allergic to latex, allergic.",
    ),
    ("환자 12번 알레르기는?", "환자 12번은 페니실린 알레르기가 있다.", "환자 13번은 알레르기가 있다, 알레르기 주의."),
    ("계약 4711 담당자 누구?", "계약 4711은 수진이 맡는다.", "계약 4712의 담당자는 민호이다. 담당자 변경 없음."),
    ("which port does service 10 run on?", "Service 10: 8080.", "Service 11 runs on port 8081, in Docker, port open."),
    ("how many seats has room A12?", "Room A12 seats 30.", "Room A14 has 40 seats, the seats are new."),
]


@pytest.mark.parametrize(("question", "asked", "other"), ASKED)
def test_a_line_with_the_asked_identifier_comes_before_one_with_another(question: str, asked: str, other: str) -> None:
    scores = reordered_scores([Line(other, 0.9), Line("lunch was good", 0.8), Line(asked, 0.5)], question)
    assert scores[2] == 0.5 > scores[0] > scores[1]


def test_a_full_name_is_an_identifier_and_a_single_capitalised_word_is_none() -> None:
    lines = [Line("The author of Silent Bridge is unknown", 0.9), Line("Golden River was written in Porto", 0.5)]
    assert reordered_scores(lines, "Who is the author of Golden River?") == [0.5 - STEP, 0.5]
    assert reordered_scores(lines, "Who wrote in Porto?") == [0.9, 0.5]


def test_an_identifier_in_what_a_line_stands_below_is_its_own() -> None:
    lines = [
        Line("- port 8081", 0.9, lambda: ("services", "Service 11")),
        Line("- port 80", 0.6, lambda: ("Service 10",)),
    ]
    one, other = reordered_scores(lines, "which port has service 10?")
    assert other > one


def test_what_hardly_answers_comes_first_for_no_identifier() -> None:
    scores = reordered_scores(
        [Line("the port is 80", 1.0), Line("service 10 was painted", MIN_SCORE_SHARE / 2)], "port of service 10?"
    )
    assert scores == [1.0, MIN_SCORE_SHARE / 2]


@pytest.mark.parametrize(
    "question", ["top 10 lists of the year", "what changed in 2026?", "is a timeout of 30 seconds long?", "who pays?"]
)
def test_a_number_that_names_no_thing_orders_nothing(question: str) -> None:
    lines = [Line("we meet at noon", 0.9), Line("10 things, 30 seconds, 2026", 0.8)]
    assert reordered_scores(lines, question) == [0.9, 0.8]


def test_of_two_lines_that_say_nearly_the_same_the_one_with_more_of_the_questions_words_is_first() -> None:
    lines = [Line("Globex pays in 60 days", 0.9), Line("Acme pays in 30 days", 0.6)]
    one, other = reordered_scores(lines, "when does Acme pay?")
    assert other > one
    below = [Line("- pays in 60 days", 0.9, lambda: ("Globex",)), Line("- pays in 30 days", 0.6, lambda: ("Acme",))]
    one, other = reordered_scores(below, "when does Acme pay?")
    assert other > one
    assert reordered_scores(lines, "who pays in days?") == [0.9, 0.6]


def test_the_score_of_a_hit_is_what_its_explanation_adds_up_to(repo: Repo) -> None:
    files = {"memory/2026-03-02.md": "# 2026-03-02\n\n- Ticket 4711: a refund of 30 euros\n- Lunch was late\n"}
    files["memory/2026-03-09.md"] = (
        "# 2026-03-09\n\n- Ticket 4712: a refund by mail, which they ask for, a refund of 45 euros\n- The office moves\n"
    )
    repo.commit("logs", files)
    asked = ("search", "--json", "--explain", "which refund by mail does the ticket 4711 ask for?")
    found: list[dict[str, Any]] = json.loads(repo.mem(*asked).stdout)["hits"]
    assert "4711" in found[0]["text"] and any(hit["explain"]["order"] for hit in found)
    for hit in found:
        told = hit["explain"]
        total = told["fused"] / told["scale"] + sum(told["priors"].values()) + told["order"]
        assert total == pytest.approx(hit["score"], abs=0.001)


def test_a_line_about_another_thing_stands_in_no_passage_about_the_asked_one(repo: Repo) -> None:
    log = "# 2026-11-28\n\n- Ticket 4712: the export button crashes on Firefox\n- Ticket 4711: the export button crashes on Safari\n"
    repo.commit("log", {"memory/2026-11-28.md": log})
    first = json.loads(repo.mem("search", "--json", "ticket 4711").stdout)["hits"][0]
    assert "4711" in first["text"] and "4712" not in first["text"]
