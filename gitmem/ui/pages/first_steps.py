"""The first steps for a new memory, each with its commands. The pages Today and Facts show them.

A step is done when there is a sign of it: a receipt of an agent, an episode of a session, a fact. This module only
reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.paths import Kind, kind
from gitmem.sessions import receipts
from gitmem.sessions.episode import FOLDER
from gitmem.ui.view import View

MIN_FACTS = 5  # in MEMORY.md; a memory with fewer is a new one


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `title`, `words`: phrases to translate. `commands`: what to type. `form`: the page shows a form
    below."""

    title: str
    words: str
    commands: tuple[str, ...]
    done: bool
    form: bool = False


def first_steps(view: View) -> Sequence[Step]:
    """The steps of a new memory; none when it has MIN_FACTS facts, or when the page cannot make changes."""
    count = sum(kind(row.path) is Kind.MEMORY for row in view.facts.rows)
    if count >= MIN_FACTS or not view.changes:
        return ()
    root = view.repo.root
    has_episode = root is not None and any((root / FOLDER).glob("*.md"))
    return (
        Step(
            "Connect an agent", "It asks memory by itself then, and writes down what was decided.", ("git mem setup",),
            bool(receipts.read(view.repo.common_dir)),
        ),
        Step(
            "Import old sessions",
            "What an agent or a chat service kept becomes daily logs. The first command only lists it.",
            ("git mem import claude", "git mem import claude --yes", "git mem import chatgpt export.zip"), has_episode,
        ),
        Step(
            "Add a fact", "Here, or in a terminal:",
            ('git mem add --type decision "we deploy before 11:00" --commit',), count > 0, form=True,
        ),
    )  # fmt: skip
