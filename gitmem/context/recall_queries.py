"""The questions by which a context recalls memory: the prompt, and a question on the background of the session. Pure.

The background is made of turns and their summary, output of tools, working values, and the person's profile. It is a
question of its own whose hits count less, so that a short "and why does it fail?" finds its subject, and a clear prompt
is not diluted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.hosts.transcript import Role, Turn
from gitmem.search.keywords import topics

BEHIND = 0.6  # factor of the score of a hit for the background
MAX_QUESTION_CHARACTERS = 2_000  # characters of a question
MAX_WORDS = 24  # words of the background
TURNS, TOOLS, TAIL = 8, 3, 1_500  # last turns, last tool results, last characters of a tool result that are read
# A name: a path or dotted name, an identifier, CamelCase, text in backticks or quotes, `CODE-17`.
ENTITY = re.compile(
    r"`([^`\n]{2,60})`|\"([^\"\n]{2,40})\"|"
    r"([A-Za-z_][\w-]*(?:[./:][\w-]+)+|[A-Za-z]+_\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[A-Z]{2,}[-_]?\d*|[a-z]+-[a-z-]+)"
)


class Question(NamedTuple):
    """One question. `weight`: factor of the scores of its hits."""

    text: str
    weight: float = 1.0


def questions(
    prompt: str, subjects: Sequence[str] = (), turns: Sequence[Turn] = (), summary: str = "",
    values: Iterable[tuple[str, str]] = (), profile: str = "",
) -> list[Question]:  # fmt: skip
    """The questions of a context: the prompt, or without one the person's last two turns; then the background.

    There is a background only with turns, a summary or working values.
    """
    spoken = [turn.text for turn in turns if turn.role is not Role.TOOL and turn.text]
    own = [turn.text for turn in turns if turn.role is Role.USER and turn.text][-2:]
    words = [prompt or " ".join(own), *subjects[:5]]
    queries = [Question(" ".join(word for word in words if word and word != "*")[:MAX_QUESTION_CHARACTERS])]
    tools = [turn.text[-TAIL:] for turn in turns if turn.role is Role.TOOL][-TOOLS:]
    working = [f"{key} {value}" for key, value in values]
    if spoken or summary or working:
        queries.append(
            Question(" ".join(_background(queries[0].text, spoken[-TURNS:], tools, working, summary, profile)), BEHIND)
        )
    return [question for question in queries if question.text.strip()]


def _background(
    prompt: str, turns: Sequence[str], tools: Sequence[str], values: Sequence[str], summary: str, profile: str
) -> list[str]:
    """Words of the background: names, frequent words of turns and summary, of tools, and of the profile."""
    recent = [*reversed(turns), *reversed(tools), *values]
    rows = [entities(recent), topics([*turns, summary])[:10], topics(tools)[:4], topics([profile])[:4]]
    known = prompt.casefold()
    words: dict[str, None] = {}
    for row, most in zip(rows, (12, 8, 4, 4), strict=True):
        new = [word for word in row if word.casefold() not in known and word not in words][:most]
        words.update(dict.fromkeys(new))
    return list(words)[:MAX_WORDS]


def entities(texts: Iterable[str]) -> list[str]:
    """The names in the texts, most frequent first, each once."""
    counts: dict[str, int] = {}
    for text in texts:
        for match in ENTITY.finditer(text):
            name = next(group for group in match.groups() if group)
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: -counts[name])
