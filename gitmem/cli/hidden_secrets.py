"""Hides the lines with secrets in what a command prints, and says so on stderr.

What a terminal shows is read by agents too, and stays in their transcripts.
"""

from __future__ import annotations

from typing import TypeVar

from gitmem.cli.terminal import say
from gitmem.review.masking import hide_secrets

Value = TypeVar("Value")


def without_secret_lines(value: Value) -> Value:
    """A copy of a command's answer in which lines with a secret are replaced by a remark (`hide_secrets`); a note on
    stderr says so if there are any."""
    hidden = hide_secrets(value)
    if hidden != value:
        say_hidden()
    return hidden


def say_hidden() -> None:
    """Say on stderr that lines are hidden, and which command names them."""
    say("note: lines with a secret are hidden; git mem scan names them (docs/leaked-secret.md)")
