"""Questions about a person's own facts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date

import pytest

from gitmem.memory import facts
from gitmem.models.language import Complete, OutOfBudget, Prompt, Reply
from gitmem.promotion.questions import (
    MAX_QUESTION_CHARS,
    FactQuestion,
    fact_questions,
    file_text,
    parse_reviewed,
    questions_by_model,
    review_text,
    template,
)
from gitmem.search.evaluation import read_questions

MEMORY = """# Memory

- Deploy window: before 11 on weekdays <!-- mem type=rule -->
- We decided that phase 1 uses REST webhooks: easier to debug. <!-- mem type=decision -->
- Gone by now <!-- mem until=2020-01-01 -->
"""
TODAY = date(2026, 2, 5)


def asked() -> list[FactQuestion]:
    return fact_questions([("MEMORY.md", fact) for fact in facts.parse(MEMORY.encode()).facts], TODAY, {})


@pytest.mark.parametrize(
    ("text", "of", "question"),
    [
        ("Deploy window: before 11 on weekdays", "rule", "What is known about Deploy window?"),
        ("We decided that phase 1 uses REST webhooks: easier to debug.", "decision", "What was decided about phase 1?"),
        (
            "결제 콜백 멱등키는 order_id + pg_tid 조합으로 하기로 했다",
            "decision",
            "결제 콜백 멱등키에 대해 무엇을 정했나?",
        ),
        ("デプロイは火曜日の午前に行う", "rule", "デプロイはどうなっている？"),
        ("Ship 2.0 by 2026-12-24", "deadline", "When is Ship 2.0 due?"),
        ("", "", ""),
    ],
)
def test_a_template_asks_for_what_comes_after_the_topic(text: str, of: str, question: str) -> None:
    assert template(text, of) == question and len(question) <= MAX_QUESTION_CHARS


def test_a_fact_that_holds_is_asked_once_and_a_question_that_was_reviewed_stays() -> None:
    first, second = asked()
    assert second.question == "What was decided about phase 1?"
    twice = [("MEMORY.md", first.fact), ("MEMORY.md", first.fact), ("memory/a.md", second.fact)]
    assert [item.question for item in fact_questions(twice, TODAY, {first.fact.id: "when?"})] == ["when?"]
    secret = "- the token is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert fact_questions([("MEMORY.md", fact) for fact in facts.parse(secret.encode()).facts], TODAY, {}) == []


def test_what_a_person_leaves_in_the_editor_is_kept() -> None:
    items = asked()
    text = review_text(items)
    assert [item.question for item in parse_reviewed(text, items)] == [item.question for item in items]
    edited = text.replace("What was decided about phase 1?", "How do we call back?").replace(
        "What is known about Deploy window?\n", ""
    )
    left = parse_reviewed(edited + "\nno fact below me\n    ffffffffffff x\n", items)
    kept = next(item for item in left if item.question)
    assert [item.question for item in left].count("") == len(items) - 1
    assert kept.question == "How do we call back?" and kept.fact == items[1].fact
    (question,) = read_questions(file_text([kept]))
    assert (question.query, question.fact, question.category) == ("How do we call back?", kept.fact.id, "decision")


class Scripted:
    """A language model with one answer."""

    id = "scripted"

    def __init__(self, answer: str) -> None:
        self.answer, self.prompts = answer, list[Prompt]()

    @contextmanager
    def run(self) -> Iterator[Complete]:
        yield self.complete

    def complete(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        return Reply(self.answer)


def test_a_model_writes_questions_for_the_facts_it_was_shown_and_no_others() -> None:
    rows = [
        {"line": "L2", "question": "How do\nwe call back? " + "x" * 500},
        {"line": "L9", "question": "evil"},
        {"line": "L1", "question": 3},
    ]
    model = Scripted(json.dumps({"facts": rows}))
    items, problems = questions_by_model(asked(), model)
    assert problems == [] and items[0].question == "What is known about Deploy window?"
    assert items[1].question.startswith("How do we call back? xxx") and len(items[1].question) == MAX_QUESTION_CHARS
    assert model.prompts[0].origins == (("MEMORY.md", ""),)
    items, problems = questions_by_model(asked(), Scripted("nonsense"))
    assert problems and [item.question for item in items] == [item.question for item in asked()]


def test_a_run_without_time_leaves_the_questions_of_the_template() -> None:
    class Late(Scripted):
        @contextmanager
        def run(self) -> Iterator[Complete]:
            def late(prompt: Prompt) -> Reply:
                raise OutOfBudget("the model took longer than mem.modelSeconds allows")

            yield late

    items, problems = questions_by_model(asked(), Late(""))
    assert items == asked() and problems == [
        "the model took longer than mem.modelSeconds allows; the other 2 questions are of the template"
    ]
