"""The layers of a context, one function for each: it reads what it may of memory and returns parts. Pure.

`context/layer_limits.py` has the limits of each layer; `context/packing.py` decides which parts fit. `count` returns
the tokens of a text and is used where a text must be cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple

from gitmem.context import pieces as pieces_
from gitmem.context.layer_limits import SOURCE_WEIGHT, Count, Layer, Share, Weights
from gitmem.context.pieces import Piece, without_metadata
from gitmem.hosts.transcript import Turn
from gitmem.json_values import json_keys
from gitmem.memory import facts, state
from gitmem.memory.code_state import CitedCode
from gitmem.memory.document import Document
from gitmem.memory.fact import fact_id
from gitmem.memory.sections import CATEGORIES
from gitmem.memory.state import Lapsed, State
from gitmem.memory.templates import is_blank
from gitmem.messages import Message
from gitmem.paths import Kind, kind
from gitmem.search import validity

Lines = tuple[tuple[int, str], ...]  # (line, ISO day from which a later line replaces it)


class Place(NamedTuple):
    """Lines of a file."""

    path: str
    start_line: int
    end_line: int


@json_keys(
    "layer label path? start_line? end_line? scope trail relevance=shown_relevance tokens id sources [commit]"
    " [code=cited_code] [reason]"
)
@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a context.

    `label`: a name for a person. `relevance`: 0..1. `path`, `start_line`, `end_line`: its place, "" and 0 for a turn, a
    working value or a commit. `tokens`: of its text, 0 until counted. `sources`: the places of
    what it condenses. `until`: its lines that a later line replaces. `trail`: what all of it is about, outermost first.
    `pieces`: its statements, empty for a whole file, a turn or a working value. `ends`: lines of a file after which it
    may be cut. `goes_on`: last line of the text that was cut off, 0 if none was. `code`: (first line of a statement,
    what became of the code it cites). `gone`: all its statements cite deleted code. `reason`: why it was left out, ""
    for a part that is there.
    """

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
    sources: tuple[Place, ...] = ()
    until: Lines = ()
    commit: str = ""
    trail: tuple[str, ...] = ()
    pieces: tuple[Piece, ...] = ()
    ends: tuple[int, ...] = ()
    goes_on: int = 0
    code: tuple[tuple[int, tuple[CitedCode, ...]], ...] = ()
    gone: bool = False
    reason: str = ""

    @property
    def id(self) -> str:
        """The fact's id of its text."""
        return fact_id(self.content)

    @property
    def shown_relevance(self) -> float:
        return round(self.relevance, 4)

    @property
    def cited_code(self) -> list[CitedCode]:
        """What became of the code that its statements cite."""
        return [cited for _, all_cited in self.code for cited in all_cited]

    @property
    def said(self) -> str:
        """Its trail and its content as one text."""
        trail = " - ".join(self.trail)
        if trail:
            return f"{trail}: {self.content}"
        return self.content


def of(part: Part, found: Sequence[Piece]) -> Part:
    """The part with the content, trail and lines of these pieces."""
    return replace(
        part, pieces=tuple(found), content=pieces_.content(found), trail=pieces_.trail(found),
        start_line=min(piece.first for piece in found), end_line=max(piece.last for piece in found),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecalledHit:
    """A search hit as the layers use it.

    `score`: 0..1. `commit`: of a commit its oid; `said`: its author, day and subject as one line; `subject`: alone.
    `until`: its lines that a later line replaces. `code`: what became of the code it cites, filled only if the files of
    the memory cannot be read here.
    """

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
    until: Lines = ()
    subject: str = ""
    code: tuple[CitedCode, ...] = ()


class Recalled(NamedTuple):
    """What one memory recalls for a question. `chunks`: how many chunks that memory has."""

    hits: Sequence[RecalledHit] = ()
    chunks: int = 0


Read = Callable[[str], Document | None]


def fact_files(read: Read, paths: Iterable[str] = ()) -> list[str]:
    """The files of long-term memory: the repository's, then those of its folders (`packages/api/MEMORY.md`)."""
    own = [path for path in MEMORY if read(path) is not None][:1]
    return own + sorted(path for path in paths if is_fact_file(path) and path not in MEMORY)


def is_fact_file(path: str) -> bool:
    """Whether a file is the long-term memory of a repository or of a folder in it."""
    return path in MEMORY or path.endswith("/MEMORY.md")


def lapsed(read: Read, paths: Iterable[str], today: date, forgotten: Collection[str] = ()) -> Lapsed:
    """What no longer holds in a memory, by its MEMORY.md files, its archive, and the ids of forgotten texts."""
    paths = list(paths)
    found = [document for path in fact_files(read, paths) if (document := read(path)) is not None]
    archives = [document for path in paths if kind(path) is Kind.ARCHIVE and (document := read(path)) is not None]
    archive = [statement for document in archives for statement in document.statements]
    memory = [statement for document in found for statement in document.statements]
    return state.lapsed(memory, archive, today, forgotten)


def pinned(
    read: Read, instructions: Sequence[str], known: Lapsed, scope: str = "project", facts_in: Sequence[str] = ()
) -> list[Part]:
    """SOUL.md, USER.md (and what else the host does not load), and facts of `facts_in` marked `pinned`; always in.

    A USER.md or TOOLS.md that is as `init` laid it out says nothing yet, and is left out.
    """
    parts: list[Part] = []
    for path in instructions:
        document = read(path)
        if document is not None:
            text, first, last = _body(document)
            if text and not is_blank(path, text):
                ends = _ends(document)
                parts.append(Part(Layer.PINNED, path, text, 1.0, path, first, last, scope, ends=ends))
    for path, piece in _facts(read, known, facts_in):
        if facts.pinned(facts.fact_of(piece.statement)):
            parts.append(of(Part(Layer.PINNED, "pinned fact", "", 1.0, path, scope=scope), [piece]))
    return parts


def _ends(document: Document) -> tuple[int, ...]:
    """The lines that end a statement. A file is cut after one of them, so that it never ends in a heading."""
    return tuple(statement.last for statement in document.statements if statement.says)


def _body(document: Document) -> tuple[str, int, int]:
    """(text, first line, last line) of a file without its front matter and outer blank lines."""
    first = document.front + 1
    lines = list(document.lines)
    last = len(lines)
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    return "\n".join(map(without_metadata, lines[first - 1 : last])), first, last


MEMORY = ("MEMORY.md", ".claude/MEMORY.md")
MAX_FACTS = 300  # statements of MEMORY.md that are considered; the layer's default limit is lower


def _facts(read: Read, known: Lapsed, paths: Sequence[str]) -> Iterator[tuple[str, Piece]]:
    """(path, statement) for each statement of these files that still holds."""
    for path in paths:
        document = read(path)
        if document is not None:
            yield from ((path, piece) for piece in holding(document, known))


def holding(document: Document, known: Lapsed) -> list[Piece]:
    """The statements of a document that hold: none that ended, was replaced or forgotten, and none below such a one."""
    if state.has_ended(str(document.front_matter.get("until", "")), known.day):
        return []
    found = pieces_.pieces(document)
    states = state.states([piece.statement for piece in found], known, document.path)
    gone = {piece.own for piece, each in zip(found, states, strict=True) if each is not State.HOLDS}
    if gone:
        return [piece for piece in found if gone.isdisjoint((*piece.above, piece.own))]
    return list(found)


def recent(turns: Sequence[Turn], share: Share, count: Count) -> list[Part]:
    """The last turns, word for word: as many of the newest as the share's budget takes, at least one."""
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
    """The summary of what was said before the recent turns."""
    if not text.strip():
        return []
    return [Part(Layer.SUMMARY, "earlier in this session", text.strip(), 0.9)]


def working(values: Iterable[tuple[str, str]], share: Share, count: Count, known: Lapsed | None = None) -> list[Part]:
    """The working values of the session, one part each, without values that no longer hold."""
    parts = []
    for key, value in values:
        if known is not None and state.of_text(value, known) is not State.HOLDS:
            continue
        text, most = " ".join(value.split()), share.item or 1_000
        if count(text) > most:
            text = pieces_.cut(text, most, count)
        parts.append(Part(Layer.WORKING, key, f"{key}: {text}", 0.96, scope="session"))
    return parts


def memory(
    read: Read, paths: Sequence[str], similarity: Mapping[tuple[str, int], float], weights: Weights, known: Lapsed,
    scope: str = "project", until: Mapping[tuple[str, int], str] = MappingProxyType({}),
) -> list[Part]:  # fmt: skip
    """The facts of these files of long-term memory, most relevant first, without pinned ones.

    `similarity`: (path, line) -> score of a search hit there, 0..1. `until`: (path, line) -> day from which a later
    line amends it. A fact without a date counts as a year old.
    """
    parts = []
    today = known.day
    for path, piece in _facts(read, known, paths):
        fact = facts.fact_of(piece.statement)
        if facts.pinned(fact):
            continue
        when = validity.day(facts.fact_date(fact)) or today - timedelta(days=365)
        own = range(piece.first, piece.last + 1)
        near = max(similarity.get((path, line), 0.0) for line in own)
        weight = min(0.89, weights.relevance(near, when, facts.importance(fact), today))
        over = [(piece.first, until[path, line]) for line in own if (path, line) in until][:1]
        part = Part(
            Layer.MEMORY, _label(piece) or "facts", "", weight, path, scope=scope, until=tuple(over)
        )  # fmt: skip
        parts.append(of(part, [piece]))
    return sorted(parts, key=lambda part: (-part.relevance, part.start_line))


def _label(piece: Piece) -> str:
    """The nearest heading above a statement; "" without one."""
    return next((topic for topic in reversed(piece.statement.above)), "")


def rules(paths: Iterable[str], read: Read, subjects: Sequence[str], scope: str = "project") -> list[Part]:
    """The rules whose key `paths` matches a subject, and those without that key.

    `subjects`: paths, names of entities, or `*` for all.
    """
    parts = []
    for path in sorted(paths):
        document = None
        if kind(path) is Kind.RULE:
            document = read(path)
        if document is None:
            continue
        globs = _words(document, "paths")
        matched = not globs or "*" in (*globs, *subjects) or any(_matches(subject, globs) for subject in subjects)
        text, first, last = _body(document)
        if matched and text:
            weight = 0.9
            if globs:
                weight = 0.93
            parts.append(Part(Layer.RULE, path, text, weight, path, first, last, scope))
    return parts


def _matches(subject: str, globs: Sequence[str]) -> bool:
    plain = subject.strip().casefold()
    return any(fnmatchcase(subject, glob) or _deep(subject, glob) or plain == glob.strip().casefold() for glob in globs)


def _deep(subject: str, glob: str) -> bool:
    """Whether a path matches a glob whose `**/` stands for no folder, as in Git's patterns."""
    return "**/" in glob and fnmatchcase(subject, glob.replace("**/", ""))


def procedures(paths: Iterable[str], read: Read, prompt: str, scope: str = "project") -> list[Part]:
    """The skills of which one of `triggers` stands in the prompt; a SKILL.md without that key is triggered by its
    name."""
    parts = []
    asked = prompt.casefold()
    for path in sorted(paths):
        document = None
        if kind(path) is Kind.SKILL:
            document = read(path)
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
    """Whether the question has the trigger.

    An ASCII trigger must begin a word (`release` in `releases`). A trigger in another script may stand anywhere,
    because particles are joined to it.
    """
    if not trigger:
        return False
    if trigger.isascii():
        return bool(re.search(rf"\b{re.escape(trigger)}(?!\d)", asked))
    return trigger in asked


def _words(document: Document, key: str) -> tuple[str, ...]:
    """The values of a key of the front matter; empty without it."""
    value = document.front_matter.get(key, ())
    if isinstance(value, str):
        return (value,)
    return tuple(value)


def recalled(
    hits: Iterable[RecalledHit], read: Read, weights: Weights, lapsed: Lapsed, items: Mapping[Layer, int], count: Count,
    most: int = 0, scope: str = "project",
) -> list[Part]:  # fmt: skip
    """The notes, episodes, logs and commits that a search found, as whole statements.

    A part has the statements that a hit's lines belong to, as many as `items` allows for its layer. `most`: tokens of
    one statement at most (`pieces.within`), 0 for no limit.
    """
    parts = []
    known: dict[str, list[Piece]] = {}
    for hit in hits:
        layer = layer_of(hit.path)
        if hit.commit:
            layer = Layer.HISTORY
        if layer is None:
            continue
        weight = weights.relevance(hit.score, hit.day, hit.importance, lapsed.day)
        weight *= SOURCE_WEIGHT.get(layer, SOURCE_WEIGHT[Layer.PROJECT])
        if hit.commit:
            parts += _of_commit(hit, lapsed, weight, items.get(layer, 0), count, most, scope)
            continue
        if hit.path in known:
            document = None
        else:
            document = read(hit.path)
        if document is not None:
            known[hit.path] = holding(document, lapsed)
        if hit.path in known:
            found = pieces_.touched(known[hit.path], hit.start_line, hit.end_line)
        else:  # the files of this memory cannot be read here
            found = list(pieces_.pieces_of_text(hit.text, hit.heading))
        kept = pieces_.within(found, items.get(layer, 0), count, most)
        if not kept:
            continue
        part = of(Part(layer, hit.heading or hit.path, "", weight, hit.path, scope=scope, trust=hit.trust), kept)
        if hit.path in known:
            offset = 0
        else:
            offset = 1 - hit.start_line
        lines = {piece.first for piece in kept}
        part = replace(part, until=tuple((at + offset, day) for at, day in hit.until if at + offset in lines))
        if hit.path not in known:
            part = replace(part, start_line=hit.start_line, end_line=hit.end_line)
            if hit.code:
                part = replace(part, code=((kept[0].first, hit.code),))
        elif len(kept) < len(found):
            part = replace(part, goes_on=found[-1].last)
        parts.append(part)
    return parts


def _of_commit(
    hit: RecalledHit, known: Lapsed, weight: float, item: int, count: Count, most: int, scope: str
) -> list[Part]:  # fmt: skip
    """The part of a commit: author, day and subject, then the lines of its message that were found.

    Facts in it that no longer hold are left out; empty if its subject is such a fact.
    """
    if state.of_text(hit.subject, known) is not State.HOLDS:
        return []
    found = list(pieces_.pieces_of_text(hit.text))
    found = [piece for piece in found if state.of_text(piece.statement.text, known) is State.HOLDS]
    kept = pieces_.within(found, item, count, most)
    text = pieces_.layout(kept)
    if len(kept) < len(found):
        text += f"\n{pieces_.GOES_ON}"
    if text in hit.said:
        said = hit.said
    else:
        said = f"{hit.said}\n{text}"
    return [Part(Layer.HISTORY, f"commit {hit.commit[:12]}", said, weight, scope=scope, commit=hit.commit)]


def layer_of(path: str) -> Layer | None:
    """The layer of a file that a search found; None for MEMORY.md, rules, skills and instructions, which other
    functions read."""
    match kind(path):
        case Kind.SESSION | Kind.ARCHIVE:
            return Layer.EPISODE
        case Kind.DAILY:
            return Layer.DAILY
        case Kind.NOTE | Kind.OTHER:
            return Layer.PROJECT
    return None


def days(
    logs: Mapping[str, date], read: Read, known: Lapsed, item: int, count: Count, scope: str = "project"
) -> list[Part]:
    """The statements of today's and yesterday's logs, one part each.

    `logs`: path -> day. `item`: tokens for one log; the newest statements that fit are taken.
    """
    parts = []
    today = known.day
    for path in sorted(logs):
        day = logs[path]
        if day not in (today, today - timedelta(days=1)):
            continue
        document = read(path)
        if document is None:
            continue
        newest = pieces_.within(holding(document, known)[::-1], item, count)
        part = Part(Layer.DAILY, f"log of {day.isoformat()}", "", 0.6 if day == today else 0.5, path, scope=scope)
        parts += [of(part, [piece]) for piece in newest]
    return parts


def narrower(
    scopes: Sequence[tuple[str, Sequence[Part]]],
) -> tuple[list[Part], list[tuple[Part, str]]]:
    """The parts of all scopes that count, and (part, reason) for the hidden ones. `scopes`: broad to narrow.

    Of parts with one key the narrowest scope's wins, unless its value is empty (`key_of`).
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
    hidden: list[tuple[Part, str]] = [
        (part, Message("the {} scope says it", owner[key])) for key, part in kept if key and owner[key] != part.scope
    ]
    return [part for key, part in kept if not key or owner[key] == part.scope], hidden


def key_of(part: Part) -> tuple[str, str]:
    """(key, value) of a part; the key is "" if it has none. The value is the text after the colon for a fact with a key
    and for a working value, else the whole text.

    The key of a fact is the text before its colon (`Deploy window: before 11`) with its headings other than categories;
    of a working value its own key; of a rule, a skill or an instruction its path; of a passage of a note its trail.
    """
    if part.layer is Layer.WORKING:
        value = part.content.partition(f"{part.label}: ")[2]
        return f"fact:{_spelled(part.label)}", value
    if part.layer in (Layer.MEMORY, Layer.PINNED) and is_fact_file(part.path):
        head, colon, value = part.content.partition(":")
        if colon and 1 < len(head) <= 40 and "\n" not in head and not head.endswith(("http", "https")):
            return f"fact:{' '.join(map(_spelled, (*topics(part), head)))}", value
    if part.layer in (Layer.PINNED, Layer.RULE, Layer.PROCEDURE) and not is_fact_file(part.path):
        return f"{part.layer}:{part.path}", part.content
    if part.layer is Layer.PROJECT and part.trail:
        return f"heading:{' > '.join(map(_spelled, part.trail))}", part.content
    return "", part.content


def topics(part: Part) -> list[str]:
    """The headings above a fact that are neither the file's title nor a category of facts."""
    lines = [line for piece in part.pieces for line in piece.above]
    titled = sum(1 for line in lines if line.level == 1) == 1
    headings = [line.text.lstrip("# ").casefold().rstrip(":") for line in lines if not (titled and line.level == 1)]
    return [heading for heading in headings if heading not in CATEGORIES]


def _spelled(text: str) -> str:
    """The words of a text in lower case, for comparison."""
    return " ".join(re.findall(WORDS, text.casefold()))


WORDS = r"[^\W_]+"
