"""Makes the parts of a context, one function for each layer: `pinned_parts`, `memory_parts`, `rule_parts` and others.

`context/layer_limits.py` has the limits of each layer; `context/packing.py` decides which parts fit. A parameter `read`
returns the document of a path, None if it cannot be read; `count` returns the tokens of a text; `lapsed` has the
statements that ended, were replaced or were forgotten. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fnmatch import fnmatchcase
from typing import NamedTuple

from gitmem.context import pieces as pieces_
from gitmem.context.layer_limits import SOURCE_WEIGHT, Count, Layer, LayerLimits, Weights
from gitmem.context.pieces import LayoutLine, Piece, without_metadata
from gitmem.hosts.transcript import Turn
from gitmem.json_values import json_keys
from gitmem.memory import facts, state
from gitmem.memory.code_state import CitedCode
from gitmem.memory.document import Document
from gitmem.memory.fact import IMPORTANCE, fact_id
from gitmem.memory.front_matter import items_of
from gitmem.memory.rivals import OtherSide
from gitmem.memory.sections import CATEGORIES
from gitmem.memory.state import LapsedFacts, State, iso_day
from gitmem.memory.statements import Form, Statement, trail_step
from gitmem.memory.templates import is_unfilled
from gitmem.messages import Message
from gitmem.paths import Kind, kind

AmendedLines = tuple[tuple[int, str], ...]  # (line number, ISO day from which a later line replaces it)


class Place(NamedTuple):
    """The lines `start_line` to `end_line` of a file, both included, counted from 1."""

    path: str
    start_line: int
    end_line: int


@json_keys(
    "layer label path? start_line? end_line? scope trail relevance=shown_relevance tokens id sources [commit]"
    " [code=cited_code] [differs=other_sides] [reason]"
)
@dataclass(frozen=True, slots=True)
class Part:
    """One entry of a context: a file, one or more statements of a file, a turn, a working value or a commit.

    `label`: a name for a person. `content`: its text. `relevance`: 0..1. `path`, `start_line`, `end_line`: its place,
    "" and 0 for a turn, a working value or a commit. `scope`: the name of its memory. `trust`: "uncommitted" or "".
    `tokens`: of `content`, 0 until counted. `sources`: the places of the parts that it condenses.
    `until`: its lines that a later line replaces. `commit`: the id of a commit. `trail`: the headings and parent items
    that all its statements share, outermost first. `pieces`: its statements, empty for a whole file, a turn or a
    working value. `statement_ends`: lines of a whole file after which it may be cut. `cut_to_line`: the last line of
    the text that was cut off, 0 if nothing was. `code`: (first line of a statement, the changed code that it cites).
    `code_gone`: whether all its statements cite deleted code. `reason`: why it was left out, "" for a part of the text.
    `differs`: (first line of a statement, the statement that may not be true beside it). `said`: (first line of a
    statement, a mark of its origin and day: `said_marks`). `names`: the title, aliases and description of its note.
    `day`: of its text, None if unknown.

    JSON: `path`, `start_line`, `end_line`: null for turns of a transcript, working values and commits. `trail`:
    what the whole part is about, from the outside in (name of the note, headings, parent items, head of its table);
    empty if the part is no statement of a file. `tokens`: of its text. `id`: of a `memory` part the fact's.
    `sources`: the places that a `merged` part condenses. `commit`: of a `history` part. `code`: cited code that is
    not as it was. `differs`: statements that say otherwise, which `git mem settle` asks about. `reason`: why it was
    dropped.
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
    until: AmendedLines = ()
    commit: str = ""
    trail: tuple[str, ...] = ()
    pieces: tuple[Piece, ...] = ()
    statement_ends: tuple[int, ...] = ()
    cut_to_line: int = 0
    code: tuple[tuple[int, tuple[CitedCode, ...]], ...] = ()
    code_gone: bool = False
    reason: str = ""
    differs: tuple[tuple[int, OtherSide], ...] = ()
    said: tuple[tuple[int, str], ...] = ()
    names: tuple[str, ...] = ()
    day: date | None = None

    @property
    def other_sides(self) -> list[OtherSide]:
        """The other statements of its open pairs."""
        return [other for _, other in self.differs]

    @property
    def id(self) -> str:
        """The id that a fact with this text has (`fact_id`)."""
        return fact_id(self.content)

    @property
    def shown_relevance(self) -> float:
        """The relevance, rounded to four digits."""
        return round(self.relevance, 4)

    @property
    def cited_code(self) -> list[CitedCode]:
        """The cited code of all its statements that changed, moved or was deleted."""
        return [cited for _, all_cited in self.code for cited in all_cited]

    @property
    def text_with_trail(self) -> str:
        """The trail and the content as one text, `Deployment - Staging: The port is 8080`."""
        trail = " - ".join(self.trail)
        return f"{trail}: {self.content}" if trail else self.content


def with_pieces(part: Part, pieces: Sequence[Piece]) -> Part:
    """The part with `pieces` as its pieces, and with their content, trail and lines; its `tokens` are not counted
    again. `pieces` is not empty."""
    return replace(
        part, pieces=tuple(pieces), content=pieces_.short_markdown(pieces), trail=pieces_.shared_trail(pieces),
        start_line=min(piece.first for piece in pieces), end_line=max(piece.last for piece in pieces),
    )  # fmt: skip


def with_name(part: Part, name: str) -> Part:
    """The part with a name of its note as a heading above its statements; unchanged for "", and for a name that stands
    above them."""
    name = trail_step(" ".join(name.split()))
    if not name or not part.pieces or any(name == line.text.lstrip("# ") for line in part.pieces[0].above):
        return part
    line = LayoutLine(0, Form.HEADING, "# ", name, 1)
    return replace(part, pieces=tuple(piece._replace(above=(line, *piece.above)) for piece in part.pieces))


@dataclass(frozen=True, slots=True)
class RecalledHit:
    """A search hit as the layers use it: a passage of a file, or a commit.

    `heading`: the heading above the passage. `score`: 0..1. `day`: of the passage or commit, None if unknown.
    `importance`: 0..1. `commit`: the id of a commit, "" for a passage; `commit_line`: its author, day and subject as
    one line; `subject`: its subject alone. `until`: lines of the passage that a later line replaces. `code`: the
    changed code that the passage cites, filled only if the files of the memory cannot be read here. `names`: the title,
    aliases and description of its note.
    """

    path: str
    start_line: int
    end_line: int
    heading: str
    text: str
    score: float
    day: date | None = None
    importance: float = IMPORTANCE
    trust: str = ""
    commit: str = ""
    commit_line: str = ""
    until: AmendedLines = ()
    subject: str = ""
    code: tuple[CitedCode, ...] = ()
    names: tuple[str, ...] = ()


class Recalled(NamedTuple):
    """The hits of one memory for a question, best first. `chunks`: the number of chunks in the index of that memory."""

    hits: Sequence[RecalledHit] = ()
    chunks: int = 0


Read = Callable[[str], Document | None]


def fact_files(read: Read, paths: Iterable[str] = ()) -> list[str]:
    """The paths of long-term memory: the first path of MEMORY that can be read, if any, then those of folders
    (`packages/api/MEMORY.md`) among `paths`, sorted."""
    of_root = [path for path in MEMORY if read(path) is not None][:1]
    return of_root + sorted(path for path in paths if is_fact_file(path) and path not in MEMORY)


def is_fact_file(path: str) -> bool:
    """Whether a file is the long-term memory of a repository or of a folder in it."""
    return path in MEMORY or path.endswith("/MEMORY.md")


def lapsed_statements(read: Read, paths: Iterable[str], today: date, forgotten: Collection[str]) -> LapsedFacts:
    """The statements of a memory that ended, were replaced or were forgotten, by its MEMORY.md files and its archive.

    `paths`: the memory's files. `forgotten`: ids of forgotten texts.
    """
    paths = list(paths)
    memory = _statements_of(read, fact_files(read, paths))
    archive = _statements_of(read, [path for path in paths if kind(path) is Kind.ARCHIVE])
    return state.lapsed_facts(memory, archive, today, forgotten)


def _statements_of(read: Read, paths: Iterable[str]) -> list[Statement]:
    """The statements of all files that can be read, in order."""
    statements: list[Statement] = []
    for path in paths:
        document = read(path)
        if document is not None:
            statements += document.statements
    return statements


def pinned_parts(memory: ScopeMemory, instructions: Sequence[str], facts_in: Sequence[str]) -> list[Part]:
    """The parts that are always in a context: each file of `instructions` whole, and each pinned fact of `facts_in`.

    `instructions`: paths of instruction files such as SOUL.md, without those that the host loads. A file that is still
    as `git mem init` wrote it is left out. `facts_in`: paths of MEMORY.md files.
    """
    parts: list[Part] = []
    for path in instructions:
        document = memory.read(path)
        if document is not None:
            whole = _whole_file(Part(Layer.PINNED, path, "", 1.0, path, scope=memory.scope), document)
            filled = (part for part in whole if not is_unfilled(path, part.content))
            parts += [replace(part, statement_ends=_statement_ends(document)) for part in filled]
    for path, piece in _valid_facts(memory.read, memory.lapsed, facts_in):
        if facts.pinned(facts.fact_of(piece.statement)):
            parts.append(with_pieces(Part(Layer.PINNED, "pinned fact", "", 1.0, path, scope=memory.scope), [piece]))
    return parts


def _whole_file(part: Part, document: Document) -> list[Part]:
    """The part with the text of a file without its front matter; [] for a file without text there."""
    text, first, last = _body(document)
    if not text:
        return []
    return [replace(part, content=text, start_line=first, end_line=last)]


def _statement_ends(document: Document) -> tuple[int, ...]:
    """The last line of each statement. A file is cut after one of these, so that it never ends in a heading."""
    return tuple(statement.last for statement in document.statements if statement.has_content)


def _body(document: Document) -> tuple[str, int, int]:
    """(text, first line, last line) of a file without its front matter, outer blank lines and metadata comments."""
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


def _valid_facts(read: Read, lapsed: LapsedFacts, paths: Sequence[str]) -> Iterator[tuple[str, Piece]]:
    """(path, statement) for each statement of the files `paths` that is not lapsed."""
    for path in paths:
        document = read(path)
        if document is not None:
            yield from ((path, piece) for piece in valid_pieces(document, lapsed))


def valid_pieces(document: Document, lapsed: LapsedFacts) -> list[Piece]:
    """The statements of a document without those that ended, were replaced or were forgotten, and without the items
    below these; [] if the day in the document's front matter key `until` is over."""
    if state.has_ended(str(document.front_matter.get("until", "")), lapsed.day):
        return []
    pieces = pieces_.pieces(document)
    states = state.states_of([piece.statement for piece in pieces], lapsed, document.path)
    hidden = {piece.own for piece, status in zip(pieces, states, strict=True) if status is not State.HOLDS}
    if hidden:
        return [piece for piece in pieces if hidden.isdisjoint((*piece.above, piece.own))]
    return list(pieces)


def recent_parts(turns: Sequence[Turn], limits: LayerLimits, count: Count) -> list[Part]:
    """One part for each of the newest turns that have a text, oldest first: as many as the limits take, at least one if
    there is such a turn."""
    spoken = [turn for turn in turns if turn.text][-limits.max_parts or None :]
    chosen: list[Turn] = []
    remaining_tokens = limits.tokens
    for turn in reversed(spoken):
        remaining_tokens -= count(turn.text)
        if chosen and limits.tokens and remaining_tokens < 0:
            break
        chosen.append(turn)
    return [Part(Layer.RECENT, turn.role.value, turn.text, 0.99) for turn in reversed(chosen)]


def summary_parts(text: str) -> list[Part]:
    """One part with the summary of the older turns; none for an empty text."""
    if not text.strip():
        return []
    return [Part(Layer.SUMMARY, "earlier in this session", text.strip(), 0.9)]


def working_parts(
    values: Iterable[tuple[str, str]], limits: LayerLimits, count: Count, lapsed: LapsedFacts
) -> list[Part]:
    """One part for each working value (key, text) that is not lapsed, in order. A text is cut to `limits.part_tokens`
    tokens, or to 1,000 if there is no limit."""
    parts = []
    for key, value in values:
        if state.state_of_text(value, lapsed) is not State.HOLDS:
            continue
        text, token_limit = " ".join(value.split()), limits.part_tokens or 1_000
        if count(text) > token_limit:
            text = pieces_.shorten(text, token_limit, count)
        parts.append(Part(Layer.WORKING, key, f"{key}: {text}", 0.96, scope="session"))
    return parts


class ScopeMemory(NamedTuple):
    """The memory of a scope that parts are made of. `scope`: its name. `read`: returns the document of a path, None if
    it cannot be read. `lapsed`: its facts that no longer hold. `weights`: of the relevance of a part."""

    scope: str
    read: Read
    lapsed: LapsedFacts
    weights: Weights


class StatementLimits(NamedTuple):
    """The sizes of recalled parts. `part_tokens`: layer -> tokens of one part. `count`: returns the tokens of a text.
    `most`: tokens of one statement at most (`pieces.first_fitting`). `weight`: how many of the question's words a text
    has, None if nothing is asked."""

    part_tokens: Mapping[Layer, int]
    count: Count
    most: int
    weight: Callable[[str], float] | None = None

    def best_fitting(self, pieces: Sequence[Piece], layer: Layer) -> list[Piece]:
        """The statements that follow each other, fit a part of a layer, and have the most of the question's words
        (`pieces.first_fitting`)."""
        return pieces_.first_fitting(pieces, self.part_tokens.get(layer, 0), self.count, self.most, self.weight)


def memory_parts(
    memory: ScopeMemory,
    paths: Sequence[str],
    similarity: Mapping[tuple[str, int], float],
    until: Mapping[tuple[str, int], str],
) -> list[Part]:
    """One part for each fact of the files `paths` of long-term memory, most relevant first, without pinned facts and
    facts that no longer hold.

    `similarity`: (path, line) -> score of a search hit there, 0..1. `until`: (path, line) -> day from which a later
    line amends that line. A fact without a date counts as a year old.
    """
    parts = []
    today = memory.lapsed.day
    for path, piece in _valid_facts(memory.read, memory.lapsed, paths):
        fact = facts.fact_of(piece.statement)
        if facts.pinned(fact):
            continue
        said_on = iso_day(facts.fact_date(fact)) or today - timedelta(days=365)
        lines = range(piece.first, piece.last + 1)
        near = max(similarity.get((path, line), 0.0) for line in lines)
        weight = min(0.89, memory.weights.relevance(near, said_on, facts.importance(fact), today))
        amended = [(piece.first, until[path, line]) for line in lines if (path, line) in until][:1]
        part = Part(
            Layer.MEMORY, _label(piece) or "facts", "", weight, path, scope=memory.scope, until=tuple(amended),
            day=iso_day(facts.fact_date(fact)),
        )  # fmt: skip
        parts.append(with_pieces(part, [piece]))
    return sorted(parts, key=lambda part: (-part.relevance, part.start_line))


def _label(piece: Piece) -> str:
    """The nearest heading above a statement; "" without one."""
    return next((topic for topic in reversed(piece.statement.above)), "")


def rule_parts(memory: ScopeMemory, paths: Iterable[str], subjects: Sequence[str]) -> list[Part]:
    """One part for each rule file whose front matter key `paths` matches a subject or has `*`, or that lacks this key,
    by path. A file without text after its front matter makes no part.

    `subjects`: paths, names of entities, or `*` for all.
    """
    parts = []
    for path in sorted(paths):
        document = memory.read(path) if kind(path) is Kind.RULE else None
        if document is None:
            continue
        globs = items_of(document.front_matter.get("paths", ()))
        if not globs or "*" in (*globs, *subjects) or any(_matches(subject, globs) for subject in subjects):
            weight = 0.93 if globs else 0.9
            parts += _whole_file(Part(Layer.RULE, path, "", weight, path, scope=memory.scope), document)
    return parts


def _matches(subject: str, globs: Sequence[str]) -> bool:
    """Whether a path matches one of the globs (`*` matches `/` too), or a name equals one of them whatever its case."""
    plain = subject.strip().casefold()
    return any(
        fnmatchcase(subject, glob) or _matches_without_folder(subject, glob) or plain == glob.strip().casefold()
        for glob in globs
    )


def _matches_without_folder(subject: str, glob: str) -> bool:
    """Whether a path matches a glob if its `**/` is removed; in Git's patterns `**/` also stands for no folder."""
    return "**/" in glob and fnmatchcase(subject, glob.replace("**/", ""))


def skill_parts(memory: ScopeMemory, paths: Iterable[str], prompt: str) -> list[Part]:
    """One part for each skill file with a trigger that the prompt contains, by path; none for an empty prompt, and none
    for a file without text after its front matter.

    Triggers are the values of the front matter key `triggers`; for a SKILL.md without this key, its `name`, with spaces
    for its hyphens. Case is ignored. An ASCII trigger must begin a word of the prompt, and no digit may follow it.
    """
    parts = []
    lower_prompt = prompt.casefold()
    for path in sorted(paths):
        document = memory.read(path) if kind(path) is Kind.SKILL else None
        if document is None or not lower_prompt:
            continue
        stated = items_of(document.front_matter.get("triggers", ()))
        if not stated and path.endswith("/SKILL.md"):
            stated = tuple(name.replace("-", " ") for name in items_of(document.front_matter.get("name", ())))
        triggers = [trigger for trigger in stated if _is_triggered(lower_prompt, trigger.casefold())]
        if triggers:
            label, weight = f"{path} (trigger: {triggers[0]})", SOURCE_WEIGHT[Layer.PROCEDURE]
            parts += _whole_file(Part(Layer.PROCEDURE, label, "", weight, path, scope=memory.scope), document)
    return parts


def _is_triggered(lower_prompt: str, trigger: str) -> bool:
    """Whether a prompt in lower case contains a trigger.

    An ASCII trigger must begin a word, and no digit may follow it (`release` in `releases`). A trigger in another
    script may be anywhere, because particles are joined to it.
    """
    if not trigger:
        return False
    if trigger.isascii():
        return bool(re.search(rf"\b{re.escape(trigger)}(?!\d)", lower_prompt))
    return trigger in lower_prompt


def recalled_parts(hits: Iterable[RecalledHit], memory: ScopeMemory, limits: StatementLimits) -> list[Part]:
    """One part for each hit in a note, an episode, a log or a commit; hits in other files are ignored.

    A part has the whole statements that the lines of its hit belong to, without lapsed ones; a hit without any makes no
    part. If the file of a hit cannot be read, the hit's own text is used.
    """
    parts = []
    valid_by_path: dict[str, list[Piece]] = {}
    for hit in hits:
        layer = Layer.HISTORY if hit.commit else layer_of(hit.path)
        if layer is None:
            continue
        weight = memory.weights.relevance(hit.score, hit.day, hit.importance, memory.lapsed.day)
        weight *= SOURCE_WEIGHT.get(layer, SOURCE_WEIGHT[Layer.PROJECT])
        if hit.commit:
            parts += _commit_parts(hit, memory, weight, limits)
            continue
        if hit.path not in valid_by_path and (document := memory.read(hit.path)) is not None:
            valid_by_path[hit.path] = valid_pieces(document, memory.lapsed)
        part = Part(
            layer, hit.heading or hit.path, "", weight, hit.path, scope=memory.scope, trust=hit.trust, names=hit.names,
            day=hit.day,
        )  # fmt: skip
        if hit.path in valid_by_path:
            parts += _part_of_file(part, hit, valid_by_path[hit.path], limits)
        else:
            parts += _part_of_hit_text(part, hit, limits)
    return parts


def _part_of_file(part: Part, hit: RecalledHit, valid: Sequence[Piece], limits: StatementLimits) -> list[Part]:
    """The part with the statements of a file that the lines of a hit belong to, as far as they fit; [] without any.
    `valid`: the statements of the file that hold."""
    candidates = pieces_.pieces_at(valid, hit.start_line, hit.end_line)
    fitting = limits.best_fitting(candidates, part.layer)
    if not fitting:
        return []
    lines = {piece.first for piece in fitting}
    cut_to_line = 0
    if fitting[-1].last < candidates[-1].last:
        cut_to_line = candidates[-1].last
    until = tuple((line, day) for line, day in hit.until if line in lines)
    return [replace(with_pieces(part, fitting), until=until, cut_to_line=cut_to_line)]


def _part_of_hit_text(part: Part, hit: RecalledHit, limits: StatementLimits) -> list[Part]:
    """The part with the statements of a hit's own text, as far as they fit, for a memory whose files cannot be read
    here; [] without any."""
    fitting = limits.best_fitting(list(pieces_.pieces_of_text(hit.text, hit.heading)), part.layer)
    if not fitting:
        return []
    lines = {piece.first for piece in fitting}  # of the text, whose first line is line 1
    numbered = ((line - hit.start_line + 1, day) for line, day in hit.until)
    part = replace(
        with_pieces(part, fitting), until=tuple((line, day) for line, day in numbered if line in lines),
        start_line=hit.start_line, end_line=hit.end_line,
    )  # fmt: skip
    if hit.code:
        part = replace(part, code=((fitting[0].first, hit.code),))
    return [part]


def _commit_parts(hit: RecalledHit, memory: ScopeMemory, weight: float, limits: StatementLimits) -> list[Part]:
    """One part for a commit: its author, day and subject, then the lines of its message that the search found.

    Facts that no longer hold are left out. The list is empty if the subject is such a fact.
    """
    if state.state_of_text(hit.subject, memory.lapsed) is not State.HOLDS:
        return []
    holding = list(pieces_.pieces_of_text(hit.text))
    holding = [piece for piece in holding if state.state_of_text(piece.statement.text, memory.lapsed) is State.HOLDS]
    fitting = limits.best_fitting(holding, Layer.HISTORY)
    text = pieces_.as_markdown(fitting)
    if len(fitting) < len(holding):
        text += f"\n{pieces_.ELLIPSIS}"
    body = hit.commit_line if text in hit.commit_line else f"{hit.commit_line}\n{text}"
    return [
        Part(
            Layer.HISTORY, f"commit {hit.commit[:12]}", body, weight, scope=memory.scope, commit=hit.commit, day=hit.day
        )
    ]


def layer_of(path: str) -> Layer | None:
    """The layer of a file that a search found; None for MEMORY.md, rules, skills and instruction files, because other
    functions make their parts."""
    match kind(path):
        case Kind.SESSION | Kind.ARCHIVE:
            return Layer.EPISODE
        case Kind.DAILY:
            return Layer.DAILY
        case Kind.NOTE | Kind.OTHER:
            return Layer.PROJECT
    return None


def log_parts(memory: ScopeMemory, logs: Mapping[str, date], tokens: int, count: Count) -> list[Part]:
    """One part for each statement of today's and yesterday's daily logs, newest first within a log.

    `logs`: path -> day. `tokens`: tokens of one log; the newest statements that fit are taken, at least one; 0 for all.
    Today is `memory.lapsed.day`.
    """
    parts = []
    today = memory.lapsed.day
    for path in sorted(logs):
        day = logs[path]
        if day not in (today, today - timedelta(days=1)):
            continue
        document = memory.read(path)
        if document is None:
            continue
        newest = pieces_.first_fitting(valid_pieces(document, memory.lapsed)[::-1], tokens, count)
        relevance = 0.6 if day == today else 0.5
        part = Part(Layer.DAILY, f"log of {day.isoformat()}", "", relevance, path, scope=memory.scope, day=day)
        parts += [with_pieces(part, [piece]) for piece in newest]
    return parts


def narrowest_scopes(
    scopes: Sequence[tuple[str, Sequence[Part]]],
) -> tuple[list[Part], list[tuple[Part, str]]]:
    """(the parts of all scopes that remain, (part, reason) for each hidden part). `scopes`: (name, parts), broad to
    narrow.

    Of several parts with the same key (`override_key`) the part of the narrowest scope remains. A part with an
    empty value is in neither list and hides none. All parts returned are copies whose `scope` is their scope's name.
    """
    owner: dict[str, str] = {}
    keyed: list[tuple[str, Part]] = []
    for name, parts in scopes:
        for part in parts:
            key, value = override_key(part)
            if not value.strip():
                continue
            if key:
                owner[key] = name
            keyed.append((key, replace(part, scope=name)))
    hidden: list[tuple[Part, str]] = [
        (part, Message("the {} scope says it", owner[key])) for key, part in keyed if key and owner[key] != part.scope
    ]
    return [part for key, part in keyed if not key or owner[key] == part.scope], hidden


def override_key(part: Part) -> tuple[str, str]:
    """(key, value) of a part. A part of a narrower scope hides a part of a broader scope with the same key.

    The key is "" for a part that hides none. The value is the text after the colon for a fact with a key and for a
    working value, else the whole text. The key of a fact is its `topics` and the text before its colon (`Deploy window:
    before 11`); of a working value its own key; of a rule, a skill or an instruction its path; of a passage of a note
    its trail.
    """
    if part.layer is Layer.WORKING:
        value = part.content.partition(f"{part.label}: ")[2]
        return f"fact:{_plain_words(part.label)}", value
    if part.layer in (Layer.MEMORY, Layer.PINNED) and is_fact_file(part.path):
        text = part.content
        if len(part.pieces) == 1 and part.pieces[0].own.about:
            text = part.pieces[0].own.text
        head, colon, value = text.partition(":")
        if colon and 1 < len(head) <= 40 and "\n" not in head and not head.endswith(("http", "https")):
            return f"fact:{' '.join(map(_plain_words, (*topics(part), head)))}", value
    if part.layer in (Layer.PINNED, Layer.RULE, Layer.PROCEDURE) and not is_fact_file(part.path):
        return f"{part.layer}:{part.path}", part.content
    if part.layer is Layer.PROJECT and part.trail:
        return f"heading:{' > '.join(map(_plain_words, part.trail))}", part.content
    return "", part.content


def topics(part: Part) -> list[str]:
    """The headings and parent items of a fact and the topics in its comment (ABOUT), in lower case, without the file's
    title and categories of facts (CATEGORIES)."""
    lines = [line for piece in part.pieces for line in piece.above]
    titled = sum(1 for line in lines if line.level == 1) == 1
    headings = [line.text.lstrip("# ").casefold().rstrip(":") for line in lines if not (titled and line.level == 1)]
    abouts = [piece.own.about.casefold() for piece in part.pieces if piece.own.about]
    return [topic for topic in (*headings, *abouts) if topic not in CATEGORIES]


def _plain_words(text: str) -> str:
    """The words of a text in lower case with one space between them, for comparison."""
    return " ".join(re.findall(WORDS, text.casefold()))


WORDS = r"[^\W_]+"
