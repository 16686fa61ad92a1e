"""What git mem put into the sessions of one host: which statements, which of them the session had, how many tokens.

Read from the answers that our hooks gave and from the requests that reached the model. Pure.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitmem.gate.quoting import END, LEAD

FEWEST_WORDS = 3  # of a statement that counts: fewer are a topic or a heading
FIELD = "additionalContext"  # of a hook's answer, whatever the form of its host
FRAME = re.compile(r"^(?:<|#{1,6} |---$|…|The last session \(data\)|Open from the last session|A session that was)")
MARKED = re.compile(r"\buntil \d{4}-\d\d-\d\d|\breplaced\b|\bsuperseded\b|\bended\b|\bno longer\b")
SENTENCE = re.compile(r"(?<=[.!?。])\s+")
BULLET = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+|\s*<!--.*?-->")
CITED = re.compile(r"\s*\(\w+\)\s+\S+#L\d+(?:-L?\d+)?$")  # behind a fact in the message of a promotion's commit
TOPICS = "## Topics"


@dataclass(frozen=True)
class Injection:
    """One text that a hook of git mem added to a session. `at`: nanoseconds since 1970, of the call."""

    at: int
    event: str
    text: str


@dataclass(frozen=True)
class Repeats:
    """Of all injected statements, how many the session had already; `tokens` of all injections."""

    statements: int = 0
    had: int = 0
    tokens: int = 0

    def __add__(self, other: Repeats) -> Repeats:
        return Repeats(self.statements + other.statements, self.had + other.had, self.tokens + other.tokens)


def text_of(answer: str) -> str:
    """The context in a hook's answer, "" where it adds none."""
    try:
        value = json.loads(answer)
    except ValueError:
        return ""
    return "\n".join(dict.fromkeys(_fields(value)))  # Copilot CLI and VS Code are given it in a field each


def _fields(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name == FIELD and isinstance(item, str):
                yield item
            else:
                yield from _fields(item)


def statements(text: str) -> list[str]:
    """The statements of an injection, a sentence each; without the marks, headings and topics around them."""
    found: list[str] = []
    in_topics = False
    for line in text.split("\n"):
        if line.startswith("#") or line.startswith("<"):
            in_topics = line.strip() == TOPICS
        if in_topics or FRAME.match(line) or line.startswith((LEAD, END)):
            continue
        said = CITED.sub("", BULLET.sub("", line).strip())
        found += [part for part in SENTENCE.split(said) if len(words(part)) >= FEWEST_WORDS]
    return found


def words(text: str) -> list[str]:
    """The words of a text, lower case, without signs."""
    return re.findall(r"\w+", text.lower())


def as_words(text: str) -> str:
    return f" {' '.join(words(text))} "


def unescaped(text: str) -> str:
    """A text without the escapes of markup: Gemini CLI writes `&lt;` for the `<` of a context that it hands on."""
    plain = html.unescape(text)
    while plain != text:
        text, plain = plain, html.unescape(plain)
    return text


def arrived(texts: Sequence[str], requests: Sequence[str]) -> list[str]:
    """The injections that stand in a request, escaped or not."""
    plain = [unescaped(request) for request in requests]
    return [text for text in texts if any(unescaped(text) in request for request in plain)]


def measured(given: Sequence[Injection], requests: Sequence[str], count: Callable[[str], int]) -> Repeats:
    """How much of what one session was given it had: in its transcript, in the host's own files, in an earlier
    injection of the session, or earlier in the same injection.

    `given`: its injections in their order. `requests`: the texts of its requests in their order. The first request that
    holds an injection shows what the session had, without that injection and those that came with or after it.
    """
    total = Repeats()
    given = [replace(injection, text=unescaped(injection.text)) for injection in given]
    requests = [unescaped(text) for text in requests]
    for place, injection in enumerate(given):
        had = " ".join(as_words(earlier.text) for earlier in given[:place])
        request = next((text for text in requests if injection.text in text), "")
        for later in given[place:]:
            request = request.replace(later.text, "\n")
        had += as_words(request)
        repeated = 0
        found = statements(injection.text)
        for statement in found:
            repeated += as_words(statement) in had
            had += as_words(statement)
        total += Repeats(len(found), repeated, count(injection.text))
    return total


def in_force(texts: Sequence[str], new: str, old: str) -> tuple[bool, list[str]]:
    """Whether a session was given the changed decision, and the statements that say the old one as if it held.

    A statement that holds both words tells of the change; one with a mark (`until DAY`, `replaced`) says that it ended.
    """
    lines = [line for text in texts for line in text.split("\n")]
    told = any(new in line for line in lines)
    return told, [line for line in lines if old in line and new not in line and not MARKED.search(line)]
