"""Makes the search questions of a context: the prompt, and a second question from the background of the session. Pure.

The background is words from the turns and their summary, the output of tools, working values, and the person's profile.
Hits of this second question count less (BACKGROUND_WEIGHT). So a short "and why does it fail?" finds its subject, and a
clear prompt is not diluted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.hosts.transcript import Role, Turn
from gitmem.search.keywords import topics

BACKGROUND_WEIGHT = 0.6  # factor of the scores of hits for the background
MAX_QUESTION_CHARACTERS = 2_000  # characters of a question
MAX_WORDS = 24  # words of the background
MAX_TURNS, MAX_TOOL_RESULTS, MAX_TOOL_CHARACTERS = (
    8,
    3,
    1_500,
)  # that are read: the last ones of each
# A name: a path or dotted name, an identifier, CamelCase, text in backticks or quotes, `CODE-17`.
NAME = re.compile(
    r"`([^`\n]{2,60})`|\"([^\"\n]{2,40})\"|"
    r"([A-Za-z_][\w-]*(?:[./:][\w-]+)+|[A-Za-z]+_\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[A-Z]{2,}[-_]?\d*|[a-z]+-[a-z-]+)"
)


class Question(NamedTuple):
    """The text of one search. `weight`: factor of the scores of its hits."""

    text: str
    weight: float = 1.0


def questions(
    prompt: str, subjects: Sequence[str] = (), turns: Sequence[Turn] = (), summary: str = "",
    values: Iterable[tuple[str, str]] = (), profile: str = "",
) -> list[Question]:  # fmt: skip
    """At most two questions: the prompt (or the person's last two turns if it is empty) with the first five `subjects`,
    then the background.

    The background is missing without turns, summary and working values; an empty question is left out. `values`: (key,
    text) of working values. `profile`: the text of USER.md.
    """
    spoken = [turn.text for turn in turns if turn.role is not Role.TOOL and turn.text]
    own = [turn.text for turn in turns if turn.role is Role.USER and turn.text][-2:]
    words = [prompt or " ".join(own), *subjects[:5]]
    queries = [Question(" ".join(word for word in words if word and word != "*")[:MAX_QUESTION_CHARACTERS])]
    tools = [turn.text[-MAX_TOOL_CHARACTERS:] for turn in turns if turn.role is Role.TOOL][-MAX_TOOL_RESULTS:]
    working = [f"{key} {value}" for key, value in values]
    if spoken or summary or working:
        queries.append(
            Question(
                " ".join(_background_words(queries[0].text, spoken[-MAX_TURNS:], tools, working, summary, profile)),
                BACKGROUND_WEIGHT,
            )
        )
    return [question for question in queries if question.text.strip()]


def _background_words(
    prompt: str, turns: Sequence[str], tools: Sequence[str], values: Sequence[str], summary: str, profile: str
) -> list[str]:
    """At most MAX_WORDS words that `prompt` lacks: names, then frequent words of turns and summary, of tool output, and
    of the profile."""
    recent = [*reversed(turns), *reversed(tools), *values]
    rows = [names_by_frequency(recent), topics([*turns, summary])[:10], topics(tools)[:4], topics([profile])[:4]]
    known = prompt.casefold()
    words: dict[str, None] = {}
    for row, most in zip(rows, (12, 8, 4, 4), strict=True):
        new = [word for word in row if word.casefold() not in known and word not in words][:most]
        words.update(dict.fromkeys(new))
    return list(words)[:MAX_WORDS]


def names_by_frequency(texts: Iterable[str]) -> list[str]:
    """The names (NAME) in the texts, each once, most frequent first."""
    counts: dict[str, int] = {}
    for text in texts:
        for match in NAME.finditer(text):
            name = next(group for group in match.groups() if group)
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: -counts[name])
