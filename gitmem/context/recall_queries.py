"""What a context is recalled by: the prompt, and behind it what the session is about. Pure.

The prompt alone decides what ranks first. What the conversation names otherwise (its turns and their summary, recent
output of tools, the working values, who the person is) is asked separately and counts for less, so that a short "and
why does it fail?" finds what it is about, and a clear question is not diluted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.hosts.transcript import Role, Turn
from gitmem.search.keywords import topics

BEHIND = 0.6  # of a hit's score when only the background asked for it
MAX_QUESTION_CHARACTERS = 2_000  # characters of a question
WORDS = 24  # of the background
TURNS, TOOLS, TAIL = 8, 3, 1_500  # recent turns, tool results and characters of one that are read
# What names a thing: a path or dotted name, an identifier, CamelCase, something in backticks or quotes, `CODE-17`.
ENTITY = re.compile(
    r"`([^`\n]{2,60})`|\"([^\"\n]{2,40})\"|"
    r"([A-Za-z_][\w-]*(?:[./:][\w-]+)+|[A-Za-z]+_\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[A-Z]{2,}[-_]?\d*|[a-z]+-[a-z-]+)"
)


class Question(NamedTuple):
    """One question and what a hit of it counts."""

    text: str
    weight: float = 1.0


def questions(
    prompt: str, subjects: Sequence[str] = (), turns: Sequence[Turn] = (), summary: str = "",
    values: Iterable[tuple[str, str]] = (), profile: str = "",
) -> list[Question]:  # fmt: skip
    """What to recall by, the prompt first; without one, the last two things a person said.

    The background is asked where there is one: turns, a summary or working values.
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
    """Entities of the session, then the words it and its summary come back to, then a few of the profile's."""
    recent = [*reversed(turns), *reversed(tools), *values]
    rows = [entities(recent), topics([*turns, summary])[:10], topics(tools)[:4], topics([profile])[:4]]
    known = prompt.casefold()
    words: dict[str, None] = {}
    for row, most in zip(rows, (12, 8, 4, 4), strict=True):
        new = [word for word in row if word.casefold() not in known and word not in words][:most]
        words.update(dict.fromkeys(new))
    return list(words)[:WORDS]


def entities(texts: Iterable[str]) -> list[str]:
    """Names in the texts, those that come up most first, each once."""
    counts: dict[str, int] = {}
    for text in texts:
        for match in ENTITY.finditer(text):
            name = next(group for group in match.groups() if group)
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: -counts[name])
