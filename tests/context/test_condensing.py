"""Condensing: a line stands only for parts that bear it out, and loses no number and no denial of theirs."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from gitmem.context.condensing import Condensed, Note, condense
from gitmem.models.language import OutOfBudget, Prompt, Reply

DAY = date(2026, 2, 5)
TEXTS = [
    "The payments worker retries 3 times before it gives up on a charge.",
    "When the payments worker gives up on a charge it writes to the dead letter queue.",
    "Never deploy the payments worker on Fridays.",
    "The office has a coffee machine.",
]
NOTES = [Note(n, text, "MEMORY.md", n + 1, DAY) for n, text in enumerate(TEXTS)]
GOOD = {
    "topic": "payments",
    "lines": ["L1", "L2"],
    "text": "The payments worker retries a charge 3 times, then dead letter queue.",
}


def asked(*rows: Any, text: str = "") -> Condensed:
    def complete(prompt: Prompt) -> Reply:
        assert '"items": {"enum": ["L1"' in json.dumps(prompt.schema) and TEXTS[0] in prompt.user
        return Reply(text or json.dumps({"facts": list(rows)}))

    return condense(NOTES, complete, lambda text: len(text.split()))


def test_a_line_that_is_borne_out_and_shorter_stands_for_what_it_cites() -> None:
    done = asked(GOOD)
    assert [(line.topic, line.keys) for line in done.lines] == [("payments", (0, 1))] and not done.notes


def test_a_line_that_invents_loses_or_cites_wrongly_does_not_stand() -> None:
    wrong = [
        {**GOOD, "text": "The payments worker retries 5 times, then the dead letter queue."},
        {**GOOD, "text": "The payments worker retries, then the dead letter queue."},
        {**GOOD, "text": "The payments worker at Initech retries 3 times."},
        {**GOOD, "text": "The weather was fine 3 times and everybody went home happy."},
        {**GOOD, "lines": ["L1", "L9"]},
        {**GOOD, "lines": []},
        {**GOOD, "lines": ["L3"], "text": "Deploy the payments worker on Fridays."},
        {**GOOD, "text": " ".join(TEXTS[:2]) + " again and again"},
        {"topic": 3, "lines": "L1", "text": None},
    ]
    for row in wrong:
        done = asked(row)
        assert not done.lines, row
        assert "do not stand" in done.notes[0], row
    assert len(asked(GOOD, {**GOOD, "topic": "again"}).lines) == 1  # a part is in one line at most


def test_whatever_the_reply_is_nothing_breaks() -> None:
    assert asked(text="no json").notes and not asked(text="no json").lines
    cut = json.dumps({"facts": [GOOD, GOOD]})[:-40]
    assert len(asked(text=cut).lines) == 1

    def spent(prompt: Prompt) -> Reply:
        raise OutOfBudget("the run's tokens are used up")

    assert "used up" in condense(NOTES, spent, len).notes[0]
    assert condense(NOTES[:1], spent, len) == Condensed(())
