"""A context gives what a search calls an answer: found by a note's names, by a day, in a long statement, beside a paste."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness import Repo

NOTES = {f"memory/n{n}.md": f"The tram number {n} leaves depot {n} at dawn.\n" for n in range(1, 9)}
RECALLED = {"memory", "project", "daily", "episode", "history"}
LOG = "\n".join(f"2026-03-02T10:00:{n:02} INFO worker.{n} finished job {37 * n} in {n} ms status=ok" for n in range(40))
JSON = json.dumps([{"id": n, "tags": ["alpha", "beta"], "value": 3 * n} for n in range(300)], indent=1)
PROSE = " ".join(
    f"The {part} of house {n} was painted in a light colour." for n in range(30) for part in ("door", "roof")
)


def context(repo: Repo, *args: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(repo.mem("context", "--json", *args).stdout)
    return made


@pytest.mark.parametrize(
    ("front", "prompts"),
    [
        (
            "description: How the Svartisen crossing is booked",
            ("Svartisen crossing", "how do I book the Svartisen crossing?"),
        ),
        ("aliases: [Skagerrak tour, Kattegat]", ("Skagerrak tour", "what belongs to the Kattegat?")),
        ("name: tour-rules\ndescription: How the Svartisen crossing is booked", ("Svartisen crossing",)),
        ("description: 회사 차량을 빌리는 방법", ("회사 차량을 빌리는 방법", "회사 차량은 어떻게 빌리나요?")),
    ],
)
def test_a_note_is_given_by_its_description_and_aliases_which_are_said(
    repo: Repo, front: str, prompts: tuple[str, ...]
) -> None:
    repo.commit("notes", {**NOTES, "memory/tour.md": f"---\n{front}\n---\n\nBoots are lent for free.\n"})
    for prompt in prompts:
        text = context(repo, prompt)["text"]
        head, boots, _ = text.partition("Boots are lent for free.")
        assert boots and "# " in head.rpartition("<from memory/tour.md")[2], prompt
    for prompt in ("zebra stripes", "thanks, that was great!", "how do I centre a div?"):
        assert not RECALLED & set(context(repo, prompt)["layers"]), prompt


@pytest.mark.parametrize(
    ("prompt", "given"),
    [
        ("what did I do yesterday?", "waxed the floor"),
        ("어제 한 일", "waxed the floor"),
        ("what happened on 2026-01-22?", "painted the gate"),
    ],
)
def test_a_day_that_is_asked_for_is_given(repo: Repo, prompt: str, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_NOW", "2026-04-02T12:00:00")
    days = {"2026-04-01": "waxed the floor", "2026-03-02": "fixed the kiosk", "2026-01-22": "painted the gate"}
    repo.commit("logs", {f"memory/{day}.md": f"# {day}\n\n- {text}\n" for day, text in days.items()})
    text = context(repo, prompt)["text"]
    assert given in text.partition("fixed the kiosk")[0]
    for other in ("thanks, see you tomorrow", "write a test for yesterday's date parser", "오늘 날씨 어때?"):
        assert not RECALLED & set(context(repo, other)["layers"]), other


@pytest.mark.parametrize("sentences", [45, 700])
def test_of_a_long_statement_the_sentences_that_answer_are_given(repo: Repo, sentences: int) -> None:
    english = " ".join(f"Sentence {n} speaks of pallet {n}." for n in range(sentences))
    korean = " ".join(f"문장 {n}은 화물 {n}에 대해 말한다." for n in range(sentences))
    files = {
        "memory/long.md": f"# Notes\n\n- {english} The tannery inspection is led by Wilhelmina. {english}\n",
        "memory/ko.md": f"# 메모\n\n- {korean} 가죽 공장 점검은 빌헬미나가 이끈다.\n",
    }
    repo.commit("long", {**NOTES, **files})
    for prompt, answer in (("who leads the tannery inspection?", "Wilhelmina"), ("가죽 공장 점검 누가", "빌헬미나")):
        made = context(repo, prompt)
        assert answer in made["text"] and made["tokens"] <= made["budget"]
        assert max(part["tokens"] for part in made["parts"] if part["layer"] == "project") <= 250
    assert not RECALLED & set(context(repo, "zebra stripes")["layers"])


@pytest.mark.parametrize("pasted", [LOG, JSON, PROSE], ids=["log", "json", "prose"])
def test_a_question_is_answered_after_and_before_a_pasted_text(repo: Repo, pasted: str) -> None:
    files = {
        "memory/boats.md": "# Boats\n\n- The ferry permit is renewed by Ottoline every May.\n",
        "memory/ko.md": "# 회의\n\n- 소방 점검은 5월에 오승현이 한다.\n",
    }
    repo.commit("notes", {**NOTES, **files})
    for asked, answer in (("who renews the ferry permit?", "Ottoline"), ("소방 점검은 누가 하나?", "오승현")):
        for prompt in (f"{pasted}\n\n{asked}", f"{pasted}\n{asked}", f"{asked}\n\n{pasted}"):
            assert answer in context(repo, prompt)["text"], (prompt[:40], prompt[-40:])
    for asked in ("what colour is a zebra?", "thanks!"):
        assert not RECALLED & set(context(repo, f"{pasted}\n\n{asked}")["layers"]), asked
