"""What a person whose memory is empty or new can do next, each step with the command to type: Today and Facts show it.

A step is done once memory says so: an agent asked (receipts), a session left an episode, a fact is there. Reads only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.paths import Kind, kind
from gitmem.sessions import receipts
from gitmem.sessions.episode import FOLDER
from gitmem.ui.view import View

FEW = 5  # facts of MEMORY.md below which a memory is a new one


@dataclass(frozen=True, slots=True)
class Step:
    """`title` and `words` are phrases; `commands` what to type, each with what it does; `form`: a form stands below."""

    title: str
    words: str
    commands: tuple[str, ...]
    done: bool
    form: bool = False


def first_steps(view: View) -> Sequence[Step]:
    """The steps of a new memory; none where there are FEW facts, and where nothing can be changed."""
    count = sum(kind(row.path) is Kind.MEMORY for row in view.facts.rows)
    if count >= FEW or not view.changes:
        return ()
    root = view.repo.root
    folder = None
    if root is not None:
        folder = root / FOLDER
    remembered = folder is not None and folder.is_dir() and any(folder.glob("*.md"))
    return (
        Step(
            "Connect an agent", "It asks memory by itself then, and writes down what was decided.", ("git mem setup",),
            bool(receipts.read(view.repo.common_dir)),
        ),
        Step(
            "Import old sessions",
            "What an agent or a chat service kept becomes daily logs. The first command only lists it.",
            ("git mem import claude", "git mem import claude --yes", "git mem import chatgpt export.zip"), remembered,
        ),
        Step(
            "Add a fact", "Here, or in a terminal:",
            ('git mem add --type decision "we deploy before 11:00" --commit',), count > 0, form=True,
        ),
    )  # fmt: skip
