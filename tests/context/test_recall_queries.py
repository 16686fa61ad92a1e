"""What a context is recalled by: the prompt as it is, and behind it what the session names."""

from __future__ import annotations

import pytest

from gitmem.context.recall_queries import (
    BACKGROUND_WEIGHT,
    LONG_PROMPT,
    MAX_SPOKEN,
    names_by_frequency,
    questions,
    spoken_ends,
)
from gitmem.hosts.transcript import Role, Turn


def turns(*said: tuple[Role, str]) -> list[Turn]:
    return [Turn(f"t{n}", role, text, n) for n, (role, text) in enumerate(said)]


def test_a_prompt_alone_is_asked_as_it_is() -> None:
    assert [tuple(q) for q in questions("why webhooks?", ["src/app.py", "*"])] == [("why webhooks? src/app.py", 1.0)]
    assert questions("") == []


LOG = "\n".join(f"2026-03-02T10:00:{n:02} INFO worker.{n} finished job {37 * n} in {n} ms ok=1" for n in range(40))
ASKED = "who renews the ferry permit?"


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (ASKED, []),  # short
        (f"{LOG}\n\n{ASKED}\n", [ASKED]),
        (f"{LOG}\n{ASKED}", [ASKED]),
        (f"This is our log:\n{LOG}\n\n{ASKED}", [ASKED, "This is our log:"]),
        (f"{ASKED}\n\n```\n{LOG}\n```", [ASKED]),
        ('[\n {"id": 1, "tags": ["a", "b"]},\n' * 60 + "]\n\n소방 점검은 누가 하나?", ["소방 점검은 누가 하나?"]),
        (LOG, []),
        ("word " * LONG_PROMPT, []),
        (f"{'x' * (MAX_SPOKEN + 1)} y\n\n{LOG}", []),
    ],
)
def test_of_a_long_prompt_what_is_said_after_and_before_a_pasted_text_is_asked_too(
    prompt: str, said: list[str]
) -> None:
    assert spoken_ends(prompt) == said
    assert [question.text for question in questions(prompt)][1:] == said
    assert {question.weight for question in questions(prompt)} == {1.0}


def test_a_session_is_asked_behind_the_prompt_with_its_entities_summary_tools_and_profile() -> None:
    said = turns(
        (Role.USER, "The `payments-api` fails since the move to PaymentGateway."), (Role.ASSISTANT, "Looking."),
        (Role.TOOL, "psycopg.OperationalError: connection to server at 10.0.0.7 refused"), (Role.USER, "and why?"),
    )  # fmt: skip
    first, behind = questions(
        "", (), said, "- user: We migrate the ledger database.", [("service:ledger:phase", "cutover")],
        "- Prefers Terraform.",
    )  # fmt: skip
    assert first.text.endswith("and why?") and first.weight == 1.0 and behind.weight == BACKGROUND_WEIGHT
    for word in ("psycopg.OperationalError", "ledger", "Terraform"):
        assert word in behind.text
    assert "payments-api" in first.text and "payments-api" not in behind.text  # asked already
    clear = questions("how do I roll back?", (), said)
    assert clear[0].text == "how do I roll back?" and "payments-api" in clear[1].text


def test_entities_are_paths_identifiers_and_quoted_names_those_that_recur_first() -> None:
    found = names_by_frequency(
        ["see memory/notes.md and OrderService", "OrderService calls `bill run` (INV-17)", '"blue lamp"']
    )
    assert found[0] == "OrderService" and {"memory/notes.md", "bill run", "INV-17", "blue lamp"} <= set(found)
    assert names_by_frequency(["plain words only here"]) == []
