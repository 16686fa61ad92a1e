"""Makes the search questions of a context: the prompt, what a person says around a text pasted into it, and a question
from the background of the session. Pure.

Of a long prompt its first and its last words are asked for themselves too, because a pasted log or document has so many
words that a short question beside it is lost in them. The background is words from the turns and their summary, the
output of tools, working values, and the person's profile. Hits of this last question count less (BACKGROUND_WEIGHT). So
a short "and why does it fail?" finds its subject, and a clear prompt is not diluted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.hosts.transcript import Role, Turn
from gitmem.search.keywords import topics

BACKGROUND_WEIGHT = 0.6  # factor of the scores of hits for the background
MAX_QUESTION_CHARACTERS = 2_000  # characters of a question
LONG_PROMPT, MAX_SPOKEN = 1_000, 400  # characters from which a prompt may have a pasted text; of what is said beside it
MIN_SPOKEN_SHARE = 0.7  # least share of letters and spaces of what is said; a line of a log or of JSON has less
MAX_WORDS = 24  # words of the background
MAX_TURNS, MAX_TOOL_RESULTS, MAX_TOOL_CHARACTERS = 8, 3, 1_500  # that are read: the last ones of each
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
    """At most four questions: the prompt (or the person's last two turns if it is empty) with the first five
    `subjects`, then the last and first words of a long one (`spoken_ends`), then the background.

    The background is missing without turns, summary and working values; an empty question is left out. `values`: (key,
    text) of working values. `profile`: the text of USER.md.
    """
    spoken = [turn.text for turn in turns if turn.role is not Role.TOOL and turn.text]
    user_texts = [turn.text for turn in turns if turn.role is Role.USER and turn.text][-2:]
    words = [prompt or " ".join(user_texts), *subjects[:5]]
    queries = [Question(" ".join(word for word in words if word and word != "*")[:MAX_QUESTION_CHARACTERS])]
    queries += [Question(text) for text in spoken_ends(words[0])]
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


def spoken_ends(prompt: str) -> list[str]:
    """What a person may have said after and before a text pasted into the prompt, in this order: its last and its first
    paragraph, or of a longer one its last and its first line. Empty for a short prompt, and for one that is all said by
    these.

    A paragraph or line of more than MAX_SPOKEN characters, or with few letters (MIN_SPOKEN_SHARE), is not said.
    """
    if len(prompt) < LONG_PROMPT:
        return []
    paragraphs = [paragraph.strip() for paragraph in re.split(r"\n\s*\n", prompt.strip())]
    ends: dict[str, None] = {}
    for end in (-1, 0):
        for text in (paragraphs[end], paragraphs[end].splitlines()[end]):
            letters = sum(letter.isalpha() or letter.isspace() for letter in text)
            if len(text) <= MAX_SPOKEN and letters >= MIN_SPOKEN_SHARE * len(text):
                ends[text] = None
                break
    return list(ends)


def _background_words(
    prompt: str, turns: Sequence[str], tools: Sequence[str], values: Sequence[str], summary: str, profile: str
) -> list[str]:
    """At most MAX_WORDS words that `prompt` lacks: names, then frequent words of turns and summary, of tool output, and
    of the profile."""
    recent = [*reversed(turns), *reversed(tools), *values]
    rows = [names_by_frequency(recent), topics([*turns, summary])[:10], topics(tools)[:4], topics([profile])[:4]]
    lower_prompt = prompt.casefold()
    words: dict[str, None] = {}
    for row, limit in zip(rows, (12, 8, 4, 4), strict=True):
        fresh = [word for word in row if word.casefold() not in lower_prompt and word not in words][:limit]
        words.update(dict.fromkeys(fresh))
    return list(words)[:MAX_WORDS]


def names_by_frequency(texts: Iterable[str]) -> list[str]:
    """The names (NAME) in the texts, each once, most frequent first."""
    counts: dict[str, int] = {}
    for text in texts:
        for match in NAME.finditer(text):
            name = next(group for group in match.groups() if group)
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: -counts[name])
