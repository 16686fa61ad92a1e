"""The layers of a context: what of memory a model should see, each an independent function. Pure.

A layer takes what it may read and returns parts; an empty one is left out. `context/layer_limits.py` says what each
may take, `context/packing.py` what fits. Where a text has to be cut, `count` says how many tokens it takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple

from gitmem.context.layer_limits import SOURCE_WEIGHT, Count, Layer, Share, Weights
from gitmem.hosts.transcript import Turn
from gitmem.memory import facts
from gitmem.memory.document import Document
from gitmem.memory.fact import Fact, parse_comment
from gitmem.memory.templates import LANGUAGES
from gitmem.paths import Kind, kind
from gitmem.search import validity


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of context with its place, or of a `commit`. `relevance` is 0..1; `tokens` what the text takes, once
    counted; `sources` the places of what it condenses, with their first and last lines; `until` the day from which
    a later line amends it."""

    layer: Layer
    label: str
    content: str
    relevance: float
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    scope: str = "project"
    trust: str = ""
    tokens: int = 0
    sources: tuple[tuple[str, int, int], ...] = ()
    until: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a layer needs of a search hit; `score` 0..1. `said` is who wrote a commit, when, and its subject;
    `until` the day from which a later line amends it."""

    path: str
    start_line: int
    end_line: int
    heading: str
    text: str
    score: float
    day: date | None = None
    importance: float = facts.IMPORTANCE
    trust: str = ""
    commit: str = ""
    said: str = ""
    until: str = ""


class Found(NamedTuple):
    """What a memory has for a question, and how many chunks it was chosen from."""

    hits: Sequence[Hit] = ()
    chunks: int = 0


Read = Callable[[str], Document | None]


def pinned(read: Read, instructions: Sequence[str], today: date, scope: str = "project") -> list[Part]:
    """SOUL.md, USER.md (and what else the host does not load), and facts marked `pinned`; always in.

    A USER.md or TOOLS.md that is as `init` laid it out says nothing yet, and is left out.
    """
    parts: list[Part] = []
    for path in instructions:
        document = read(path)
        if document is not None:
            text, first, last = _body(document)
            blank = path in BLANK and any(text == files.get(path, "").strip() for files in LANGUAGES.values())
            if text and not blank:
                parts.append(Part(Layer.PINNED, path, text, 1.0, path, first, last, scope))
    path, known = _facts(read)
    for fact in known:
        if facts.pinned(fact) and not facts.expired(fact, today):
            parts.append(Part(Layer.PINNED, "pinned fact", fact.text, 1.0, path, fact.line, fact.line, scope))
    return parts


def _body(document: Document) -> tuple[str, int, int]:
    """The lines of a file without front matter and outer blank lines, and where they stand."""
    first = document.front + 1
    lines = list(document.lines)
    last = len(lines)
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    return "\n".join(map(without_metadata, lines[first - 1 : last])), first, last


def without_metadata(line: str) -> str:
    """A line without the comment that is metadata."""
    return parse_comment(line)[0] if line.rstrip().endswith("-->") else line


MEMORY = ("MEMORY.md", ".claude/MEMORY.md")
MAX_FACTS = 200  # facts of MEMORY.md, whatever a setting says
BLANK = ("USER.md", "TOOLS.md")  # instruction files whose template has nothing but places to fill in


def _facts(read: Read) -> tuple[str, tuple[Fact, ...]]:
    """The file of long-term memory and its facts."""
    for path in MEMORY:
        document = read(path)
        if document is not None:
            return path, document.facts
    return MEMORY[0], ()


def recent(turns: Sequence[Turn], share: Share, count: Count) -> list[Part]:
    """The last turns verbatim, newest kept first when the budget is short; never less than the last one."""
    spoken = [turn for turn in turns if turn.text][-share.limit or None :]
    chosen: list[Turn] = []
    left = share.budget
    for turn in reversed(spoken):
        left -= count(turn.text)
        if chosen and share.budget and left < 0:
            break
        chosen.append(turn)
    return [Part(Layer.RECENT, turn.role.value, turn.text, 0.99) for turn in reversed(chosen)]


def summary(text: str) -> list[Part]:
    """What was said before the recent turns."""
    return [Part(Layer.SUMMARY, "earlier in this session", text.strip(), 0.9)] if text.strip() else []


def working(values: Iterable[tuple[str, str]], share: Share, count: Count) -> list[Part]:
    """The working values of the session, each on a line of its own."""
    parts = []
    for key, value in values:
        text, _ = clipped(" ".join(value.split()), 1, share.item or 1_000, count)
        parts.append(Part(Layer.WORKING, key, f"{key}: {text}", 0.96, scope="session"))
    return parts


def memory(
    read: Read, similarity: Mapping[int, float], weights: Weights, today: date, scope: str = "project",
    until: Mapping[int, str] = MappingProxyType({}),
) -> list[Part]:  # fmt: skip
    """Facts of MEMORY.md, newest and most relevant first; `similarity` is by line, as is `until`, the day from which a
    later line amends it. Expired and pinned ones are out.

    A fact without a date counts as a year old; no more than MAX_FACTS are taken.
    """
    parts = []
    path, known = _facts(read)
    for fact in known:
        if facts.expired(fact, today) or facts.pinned(fact):
            continue
        when = validity.day(facts.fact_date(fact)) or today - timedelta(days=365)
        weight = weights.relevance(similarity.get(fact.line, 0.0), when, facts.importance(fact), today)
        label = fact.heading or "facts"
        ended, line = until.get(fact.line, ""), fact.line
        parts.append(Part(Layer.MEMORY, label, fact.text, min(0.89, weight), path, line, line, scope, until=ended))
    return sorted(parts, key=lambda part: (-part.relevance, part.start_line))[:MAX_FACTS]


def rules(paths: Iterable[str], read: Read, subjects: Sequence[str], scope: str = "project") -> list[Part]:
    """Rules whose `paths:` match a subject (a path, an entity's name, `*` for all), and those that name none."""
    parts = []
    for path in sorted(paths):
        document = read(path) if kind(path) is Kind.RULE else None
        if document is None:
            continue
        globs = _words(document, "paths")
        matched = not globs or "*" in (*globs, *subjects) or any(_matches(subject, globs) for subject in subjects)
        text, first, last = _body(document)
        if matched and text:
            parts.append(Part(Layer.RULE, path, text, 0.93 if globs else 0.9, path, first, last, scope))
    return parts


def _matches(subject: str, globs: Sequence[str]) -> bool:
    plain = subject.strip().casefold()
    return any(fnmatchcase(subject, glob) or _deep(subject, glob) or plain == glob.strip().casefold() for glob in globs)


def _deep(subject: str, glob: str) -> bool:
    """`**/` also stands for no folder at all, as in Git's own patterns."""
    return "**/" in glob and fnmatchcase(subject, glob.replace("**/", ""))


def procedures(paths: Iterable[str], read: Read, prompt: str, scope: str = "project") -> list[Part]:
    """Skills whose `triggers:` stand in the prompt; of a SKILL.md without any, its name."""
    parts = []
    asked = prompt.casefold()
    for path in sorted(paths):
        document = read(path) if kind(path) is Kind.SKILL else None
        if document is None or not asked:
            continue
        stated = _words(document, "triggers")
        if not stated and path.endswith("/SKILL.md"):
            stated = tuple(name.replace("-", " ") for name in _words(document, "name"))
        triggers = [trigger for trigger in stated if _is_triggered(asked, trigger.casefold())]
        text, first, last = _body(document)
        if triggers and text:
            label = f"{path} (trigger: {triggers[0]})"
            parts.append(Part(Layer.PROCEDURE, label, text, SOURCE_WEIGHT[Layer.PROCEDURE], path, first, last, scope))
    return parts


def _is_triggered(asked: str, trigger: str) -> bool:
    """A Latin trigger where a word begins (`release` in `releases`); one in another script anywhere, as particles are
    glued to it."""
    if not trigger:
        return False
    return bool(re.search(rf"\b{re.escape(trigger)}(?!\d)", asked)) if trigger.isascii() else trigger in asked


def _words(document: Document, key: str) -> tuple[str, ...]:
    value = document.front_matter.get(key, ())
    return (value,) if isinstance(value, str) else tuple(value)


def recalled(
    hits: Iterable[Hit], weights: Weights, today: date, items: Mapping[Layer, int], count: Count, scope: str = "project"
) -> list[Part]:
    """Notes, episodes, logs and commits that a search found, none longer than its layer's item."""
    parts = []
    for hit in hits:
        layer = Layer.HISTORY if hit.commit else layer_of(hit.path)
        if layer is None:
            continue
        text, last = clipped(hit.text, hit.start_line, items.get(layer, 0), count)
        weight = weights.relevance(hit.score, hit.day, hit.importance, today)
        weight *= SOURCE_WEIGHT.get(layer, SOURCE_WEIGHT[Layer.PROJECT])
        if hit.commit:
            text = f"{hit.said}\n{text}" if text not in hit.said else hit.said
            parts.append(Part(layer, f"commit {hit.commit[:12]}", text, weight, scope=scope, commit=hit.commit))
            continue
        label = hit.heading or hit.path
        parts.append(
            Part(layer, label, text, weight, hit.path, hit.start_line, last, scope, hit.trust, until=hit.until)
        )
    return parts


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


def days(
    logs: Mapping[str, date], read: Read, today: date, item: int, count: Count, scope: str = "project"
) -> list[Part]:
    """Today's and yesterday's logs (path -> day), today's first, each cut to its newest lines."""
    parts = []
    for path in sorted(logs):
        day = logs[path]
        if day not in (today, today - timedelta(days=1)):
            continue
        document = read(path)
        if document is None:
            continue
        _, first, last = _body(document)
        chosen: list[str] = []
        left = item
        for line in reversed(document.lines[first - 1 : last]):
            if "until=" in line and facts.expired(Fact("", "", 0, meta=parse_comment(line)[1]), today):
                chosen.insert(0, "")
                continue
            line = without_metadata(line)
            left -= count(line)
            if chosen and item and left < 0:
                break
            chosen.insert(0, line)
        weight = 0.6 if day == today else 0.5
        body = "\n".join(chosen).strip()
        if any(line.strip() and not line.startswith("#") for line in chosen):
            first = last - len(chosen) + 1
            parts.append(Part(Layer.DAILY, f"log of {day.isoformat()}", body, weight, path, first, last, scope))
    return parts


def clipped(text: str, first: int, budget: int, count: Count) -> tuple[str, int]:
    """As many whole lines as the budget takes (0: all), at least a part of the first; and the last line's number.

    How long one item may be is a matter of what it says, not of what it costs: a syllable of Hangul, Kana or Han is
    one token here, whatever `count` fears it takes.
    """
    lines = text.split("\n")
    if not budget:
        return text, first + len(lines) - 1
    wide = sum(1 for character in text if character >= "\u1100")
    budget += budget * wide // (2 * max(1, len(text)))
    kept: list[str] = []
    left = budget
    for line in lines:
        left -= count(line)
        if kept and left < 0:
            break
        kept.append(line)
    if count(kept[0]) > budget:
        kept = [cut(kept[0], budget, count)]
    return "\n".join(kept), first + len(kept) - 1


def cut(line: str, budget: int, count: Count) -> str:
    """The beginning of a line that takes so many tokens at most, at a word where there is one, with an ellipsis."""
    end = len(line)
    while end > 1 and count(line[:end]) > max(1, budget - 3):
        end = min(end - 1, end * max(1, budget - 3) // count(line[:end]))
    head = line[:end]
    return (head.rsplit(" ", 1)[0] if " " in head[end // 2 :] else head) + " ..."


def narrower(
    scopes: Sequence[tuple[str, Sequence[Part]]],
) -> tuple[list[Part], list[tuple[Part, str]]]:
    """Parts of all scopes, broad to narrow, and those that are hidden with the reason.

    For the same key or heading the narrower scope wins, unless its value is empty. The key of a fact is what stands
    before its colon (`Deploy window: before 11`), of a working value its own, of a rule, a skill or an instruction
    its file's name; a note's passage has its heading.
    """
    owner: dict[str, str] = {}
    kept: list[tuple[str, Part]] = []
    for name, parts in scopes:
        for part in parts:
            key, value = key_of(part)
            if not value.strip():
                continue
            if key:
                owner[key] = name
            kept.append((key, replace(part, scope=name)))
    hidden = [(part, f"the {owner[key]} scope says it") for key, part in kept if key and owner[key] != part.scope]
    return [part for key, part in kept if not key or owner[key] == part.scope], hidden


def key_of(part: Part) -> tuple[str, str]:
    """What a part is about, "" where it has no key, and what it says of it."""
    if part.layer is Layer.WORKING:
        value = part.content.partition(f"{part.label}: ")[2]
        return f"fact:{' '.join(re.findall(WORDS, part.label.casefold()))}", value
    if part.layer in (Layer.MEMORY, Layer.PINNED) and part.path in MEMORY:
        head, colon, value = part.content.partition(":")
        if colon and 1 < len(head) <= 40 and "\n" not in head and not head.endswith(("http", "https")):
            return f"fact:{' '.join(re.findall(WORDS, head.casefold()))}", value
    if part.layer in (Layer.PINNED, Layer.RULE, Layer.PROCEDURE) and part.path not in MEMORY:
        return f"{part.layer}:{part.path}", part.content
    if part.layer is Layer.PROJECT and part.label != part.path:
        return f"heading:{' '.join(part.label.casefold().split())}", part.content
    return "", part.content


WORDS = r"[^\W_]+"
