"""The layers of a context: what of memory a model should see, each an independent function. Pure.

A layer takes what it may read and returns parts; an empty one is left out. `context.py` weighs and cuts them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase

from gitmem import facts
from gitmem.compaction import tokens
from gitmem.document import Document
from gitmem.files import Kind, kind, log_date
from gitmem.rolling import summarise
from gitmem.transcript import Turn
from gitmem.types import Fact


class Layer(StrEnum):
    PINNED = "pinned"
    RECENT = "recent"
    SUMMARY = "summary"
    INCLUDED = "included"
    RULE = "rule"
    PROCEDURE = "procedure"
    MEMORY = "memory"
    PROJECT = "project"
    EPISODE = "episode"
    DAILY = "daily"


# How much a hit in each kind of source weighs: a procedure was written to be followed, an episode is one talk.
SOURCE_WEIGHT = {Layer.PROCEDURE: 0.95, Layer.PROJECT: 0.85, Layer.DAILY: 0.8, Layer.EPISODE: 0.70}
ITEM_TOKENS = 150  # the most one recalled item may take
DECAY = 0.002  # per day: half after a year
TURNS = 8


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of context with its place. `relevance` is 0..1; `tokens` what the text takes, unquoted."""

    layer: Layer
    label: str
    content: str
    relevance: float
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    scope: str = "project"

    @property
    def tokens(self) -> int:
        return tokens(self.content)


@dataclass(frozen=True, slots=True)
class Hit:
    """What a layer needs of a search hit; `score` 0..1."""

    path: str
    start_line: int
    end_line: int
    heading: str
    text: str
    score: float
    day: date | None = None
    importance: float = facts.IMPORTANCE


@dataclass(frozen=True, slots=True)
class Weights:
    """How similarity, recency and importance make a relevance (mem.contextSimilarity and its siblings)."""

    similarity: float = 0.7
    recency: float = 0.2
    importance: float = 0.1
    decay: float = DECAY

    def relevance(self, hit: Hit, today: date) -> float:
        """similarity, exp(-decay x days) and importance, weighed."""
        age = max(0, (today - hit.day).days) if hit.day else 0
        recency = math.exp(-self.decay * age)
        total = self.similarity + self.recency + self.importance
        mixed = self.similarity * hit.score + self.recency * recency + self.importance * hit.importance
        return mixed / total if total else 0.0


Read = Callable[[str], Document | None]


def pinned(read: Read, instructions: Sequence[str], today: date, scope: str = "project") -> list[Part]:
    """SOUL.md, USER.md (and what else the host does not load), and facts marked `pinned`; always in."""
    found: list[Part] = []
    for path in instructions:
        document = read(path)
        if document is not None:
            text, first, last = _body(document)
            if text:
                found.append(Part(Layer.PINNED, path, text, 1.0, path, first, last, scope))
    for fact in _facts(read):
        if facts.pinned(fact) and not facts.expired(fact, today):
            found.append(Part(Layer.PINNED, "pinned fact", fact.text, 1.0, "MEMORY.md", fact.line, fact.line, scope))
    return found


def _body(document: Document) -> tuple[str, int, int]:
    """The lines of a file without front matter and outer blank lines, and where they stand."""
    first = document.front + 1
    lines = list(document.lines)
    last = len(lines)
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    return "\n".join(lines[first - 1 : last]), first, last


def _facts(read: Read) -> tuple[Fact, ...]:
    document = read("MEMORY.md") or read(".claude/MEMORY.md")
    return document.facts if document is not None else ()


def recent(turns: Sequence[Turn], budget: int) -> list[Part]:
    """The last turns verbatim, newest kept first when the budget is short; never less than the last one."""
    spoken = [turn for turn in turns if turn.text][-TURNS:]
    chosen: list[Turn] = []
    left = budget
    for turn in reversed(spoken):
        if chosen and tokens(turn.text) > left:
            break
        chosen.append(turn)
        left -= tokens(turn.text)
    return [Part(Layer.RECENT, turn.role.value, turn.text, 0.99) for turn in reversed(chosen)]


def summary(turns: Sequence[Turn], previous: str, budget: int) -> list[Part]:
    """What was said before the recent turns; `previous` is the summary so far, which only grows by what is new."""
    spoken = [turn for turn in turns if turn.text][:-TURNS]
    fresh = summarise(spoken, budget=budget)
    old = [line for line in previous.splitlines() if line and line not in fresh]
    text = "\n".join([*old, fresh]).strip()
    while tokens(text) > budget and "\n" in text:
        text = text.split("\n", 1)[1]
    return [Part(Layer.SUMMARY, "earlier in this session", text, 0.9)] if text else []


def memory(read: Read, relevance: Mapping[int, float], today: date, limit: int, scope: str = "project") -> list[Part]:
    """Facts of MEMORY.md, newest and most relevant first; `relevance` is by line. Expired and pinned ones are out."""
    found = []
    for fact in _facts(read):
        if facts.expired(fact, today) or facts.pinned(fact):
            continue
        day = _day(facts.fact_date(fact))
        age = (today - day).days if day else 365
        weight = (
            0.5 * relevance.get(fact.line, 0.0) + 0.3 * facts.importance(fact) + 0.2 * math.exp(-DECAY * max(0, age))
        )
        found.append((weight, fact))
    found.sort(key=lambda pair: (-pair[0], pair[1].line))
    return [
        Part(
            Layer.MEMORY,
            fact.heading or "facts",
            fact.text,
            min(0.89, weight),
            "MEMORY.md",
            fact.line,
            fact.line,
            scope,
        )
        for weight, fact in found[:limit]
    ]


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def rules(paths: Iterable[str], read: Read, subjects: Sequence[str], scope: str = "project") -> list[Part]:
    """Rules whose `paths:` match a subject (a path, an entity's name, `*` for all), and those that name none."""
    found = []
    for path in sorted(paths):
        document = read(path) if kind(path) is Kind.RULE else None
        if document is None:
            continue
        globs = _words(document, "paths")
        matched = not globs or "*" in subjects or any(_matches(subject, globs) for subject in subjects)
        text, first, last = _body(document)
        if matched and text:
            found.append(Part(Layer.RULE, path, text, 0.93 if globs else 0.9, path, first, last, scope))
    return found


def _matches(subject: str, globs: Sequence[str]) -> bool:
    plain = subject.strip().casefold()
    return any(fnmatchcase(subject, glob) or _deep(subject, glob) or plain == glob.strip().casefold() for glob in globs)


def _deep(subject: str, glob: str) -> bool:
    """`**/` also stands for no folder at all, as in Git's own patterns."""
    return "**/" in glob and fnmatchcase(subject, glob.replace("**/", ""))


def procedures(paths: Iterable[str], read: Read, prompt: str, scope: str = "project") -> list[Part]:
    """Skills whose `triggers:` stand in the prompt."""
    found = []
    asked = prompt.casefold()
    for path in sorted(paths):
        document = read(path) if kind(path) is Kind.SKILL else None
        if document is None or not asked:
            continue
        triggers = [trigger for trigger in _words(document, "triggers") if _says(asked, trigger.casefold())]
        text, first, last = _body(document)
        if triggers and text:
            label = f"{path} (trigger: {triggers[0]})"
            found.append(Part(Layer.PROCEDURE, label, text, SOURCE_WEIGHT[Layer.PROCEDURE], path, first, last, scope))
    return found


def _says(asked: str, trigger: str) -> bool:
    """A Latin trigger as whole words, one in another script anywhere (particles are glued to it)."""
    if not trigger:
        return False
    return bool(re.search(rf"\b{re.escape(trigger)}", asked)) if trigger.isascii() else trigger in asked


def _words(document: Document, key: str) -> tuple[str, ...]:
    value = document.front_matter.get(key, ())
    return (value,) if isinstance(value, str) else tuple(value)


def recalled(hits: Iterable[Hit], weights: Weights, today: date, scope: str = "project") -> list[Part]:
    """Project and topic notes, episodes and recent logs that a search found, each at most ITEM_TOKENS."""
    found = []
    for hit in hits:
        layer = layer_of(hit.path)
        if layer is None:
            continue
        text, last = clipped(hit.text, hit.start_line, ITEM_TOKENS)
        weight = weights.relevance(hit, today) * SOURCE_WEIGHT.get(layer, SOURCE_WEIGHT[Layer.PROJECT])
        label = hit.heading or hit.path
        found.append(Part(layer, label, text, weight, hit.path, hit.start_line, last, scope))
    return found


def layer_of(path: str) -> Layer | None:
    """The layer a searched file belongs to; MEMORY.md, rules, skills and instructions have layers of their own."""
    match kind(path):
        case Kind.SESSION | Kind.ARCHIVE:
            return Layer.EPISODE
        case Kind.DAILY:
            return Layer.DAILY
        case Kind.NOTE | Kind.OTHER:
            return Layer.PROJECT
    return None


def days(paths: Iterable[str], read: Read, today: date, scope: str = "project") -> list[Part]:
    """Today's and yesterday's logs, today's first, each cut to its newest lines."""
    found = []
    for path in sorted(paths):
        day = log_date(path) if kind(path) is Kind.DAILY else None
        if day is None or day not in (today, today - timedelta(days=1)):
            continue
        document = read(path)
        if document is None:
            continue
        text, first, last = _body(document)
        lines = text.split("\n")
        while len(lines) > 1 and tokens("\n".join(lines)) > ITEM_TOKENS:
            lines.pop(0)
            first += 1
        label = f"log of {day.isoformat()}"
        weight = 0.6 if day == today else 0.5
        found.append(Part(Layer.DAILY, label, "\n".join(lines), weight, path, first, last, scope))
    return found


def clipped(text: str, first: int, budget: int) -> tuple[str, int]:
    """As many whole lines as the budget takes, at least a part of the first; and the last line's number."""
    kept: list[str] = []
    for line in text.split("\n"):
        if kept and tokens("\n".join([*kept, line])) > budget:
            break
        kept.append(line)
    if tokens(kept[0]) > budget:
        kept[0] = kept[0][: budget * 3] + " ..."
    return "\n".join(kept), first + len(kept) - 1


def distinct(parts: Iterable[Part]) -> list[Part]:
    """Parts without those that say what a better one says: the same lines, or nearly the same words."""
    kept: list[Part] = []
    seen: list[set[str]] = []
    for part in parts:
        words = set(re.findall(r"\w+", part.content.casefold()))
        same = any(
            part.path and part.path == other.path and part.scope == other.scope
            and part.start_line <= other.end_line and other.start_line <= part.end_line
            for other in kept
        )  # fmt: skip
        close = any(len(words & other) >= 0.8 * max(1, min(len(words), len(other))) for other in seen if len(words) > 3)
        if same or (close and part.layer not in (Layer.PINNED, Layer.RECENT, Layer.SUMMARY)):
            continue
        kept.append(part)
        seen.append(words)
    return kept


def narrower(scopes: Sequence[tuple[str, Sequence[Part]]]) -> list[Part]:
    """Parts of all scopes, broad to narrow; for the same key the narrower scope wins, unless its value is empty.

    The key of a fact is what stands before its colon (`Deploy window: before 11`), else of a file its name.
    """
    chosen: dict[str, Part] = {}
    for name, parts in scopes:
        for number, part in enumerate(parts):
            key, value = _key(part)
            if not value.strip():
                continue
            place = key or f"{name}:{number}:{part.path}:{part.start_line}"
            if place in chosen and chosen[place].scope != name:
                del chosen[place]
            chosen.setdefault(place if place not in chosen else f"{place}#{number}", replace(part, scope=name))
    return list(chosen.values())


def _key(part: Part) -> tuple[str, str]:
    if part.layer in (Layer.MEMORY, Layer.PINNED) and part.path.endswith("MEMORY.md"):
        head, colon, value = part.content.partition(":")
        if colon and 1 < len(head) <= 40 and "\n" not in head and not head.endswith(("http", "https")):
            return f"fact:{head.strip().casefold()}", value
    if part.layer in (Layer.PINNED, Layer.RULE, Layer.PROCEDURE):
        return f"{part.layer}:{part.path}", part.content
    return "", part.content
