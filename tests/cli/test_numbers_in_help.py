"""The help of a command is a docstring, which can hold no constant: each number in it is compared with its own here."""

from __future__ import annotations

from importlib import import_module

import pytest

from gitmem.gate.redaction import ALWAYS
from gitmem.git.undo_record import MAX_ENTRIES
from gitmem.memory.insights import MAX_INSIGHTS
from gitmem.memory.recent_lines import RECENT_DAYS
from gitmem.memory.retention import SOON_DAYS
from gitmem.promotion.lowered_importance import MIN_RECEIPT_DAYS
from gitmem.sessions.compaction import UNPRUNED_ANSWERS

NUMBER_WORDS = {3: "three", 20: "twenty"}


@pytest.mark.parametrize(
    ("command", "sentence", "number"),
    [
        ("undo", "{} at most", NUMBER_WORDS.get(MAX_ENTRIES)),
        ("session prune", "The last {} turns of the assistant", NUMBER_WORDS.get(UNPRUNED_ANSWERS)),
        ("doctor", "which facts end in the next {} days", SOON_DAYS),
        ("insight", "The newest {} stay", MAX_INSIGHTS),
        ("settle", "the daily logs of the last {} weeks", {14: "two"}.get(RECENT_DAYS)),
        ("consolidate", "no session was given in {} days", MIN_RECEIPT_DAYS),
        ("redact", "more than {} characters, are refused", ALWAYS),
    ],
)
def test_a_number_in_the_help_of_a_command_is_its_constant(command: str, sentence: str, number: object) -> None:
    name, *names = command.split()
    found = import_module(f"gitmem.cli.commands.{name}").command
    for sub in names:
        found = found.commands[sub]
    assert sentence.format(number) in " ".join(found.help.split())
