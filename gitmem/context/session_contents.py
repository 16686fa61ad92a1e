"""Finds the statements of memory that a session has already, so that a context does not repeat them. Pure.

A session has what its transcript says since the last compaction, what its host loaded, and what memory gave it before.
It has a statement if one of these texts says all of it: nearly all of its words, with every number, name and denial
(`memory/similarity.repeats`). Questions do not count. A statement is repeated if it differs in a number, a name or in
what it is about.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gitmem.context import layers
from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part
from gitmem.context.pieces import Piece
from gitmem.hosts.transcript import By, Role, Transcript
from gitmem.memory.fact import parse_span
from gitmem.memory.forgotten import recorded_text
from gitmem.memory.similarity import repeats, same, terms
from gitmem.memory.statements import Form
from gitmem.paths import log_date
from gitmem.sessions.rolling_summary import key
from gitmem.sessions.written_ids import spellings
from gitmem.text.sentences import sentences

# Layers whose statements may be copies of each other. Of two copies the one in the earlier layer of this list is kept.
COPIES = (Layer.PINNED, Layer.MEMORY, Layer.DAILY, Layer.PROJECT, Layer.EPISODE, Layer.HISTORY)
GIVEN_ONCE = frozenset((*COPIES, Layer.RULE, Layer.PROCEDURE))
MAX_COMPARED = 20  # known statements that a sentence is compared with: those that share the most words
MAX_SENTENCES = 20_000  # last sentences of the transcript and of loaded files that are compared
MAX_CHARACTERS = 4 << 20  # last characters of a transcript that are read
MAX_SENTENCE_CHARACTERS = 600  # longer sentences are not compared, since they contain nearly any words
OWN_TOPIC = "session"  # the topic that a flush gives a section of a log
QUESTION_MARKS = ("?", "？")
# The date or time at the beginning of a heading in a log.
_CLOCK = re.compile(r"^[\d:./\s–—-]*(?:[AaPp]\.?[Mm]\.?(?![A-Za-z]))?[\s–—-]*")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a session has.

    `keys`: of the statements it was given (`keys_of_part`). `places`: (scope, path) of the files of these statements.
    `texts`: what was said in it and what its host loaded. `session`: its name if it has no transcript, so that lines it
    wrote to a log count too; else "". `loaded`: paths, and folders with "/" at the end, that the host loads whole.
    """

    keys: frozenset[str] = frozenset()
    places: frozenset[tuple[str, str]] = frozenset()
    texts: tuple[str, ...] = ()
    session: str = ""
    loaded: tuple[str, ...] = ()

    def is_loaded(self, part: Part) -> bool:
        """Whether the host loads the file of a part. Only files of the project are loaded."""
        if part.scope != "project" or not part.path:
            return False
        folders = tuple(path for path in self.loaded if path.endswith("/"))
        return part.path in self.loaded or part.path.startswith(folders)


class Said(NamedTuple):
    """One statement that the session has. `about`: the terms of its text and of its trail. `cited`: (path, first line,
    last line) of the lines that it was taken from."""

    text: str
    about: frozenset[str]
    cited: tuple[tuple[str, int, int], ...] = ()


def texts_of(transcript: Transcript) -> tuple[str, ...]:
    """The texts of a transcript that the session still has: the last summary of older turns, and all turns after it."""
    first = max((at for at, turn in enumerate(transcript.turns) if turn.by is By.SUMMARY), default=0)
    texts: list[str] = []
    left = MAX_CHARACTERS
    for turn in reversed(transcript.turns[first:]):
        left -= len(turn.text)
        if left < 0:
            break
        texts.append(turn.text)
    return tuple(reversed(texts))


def mark_of(transcript: Transcript) -> str:
    """A mark that changes when a transcript loses older turns: the number of its summaries and the key of its first
    turn.

    "" for a transcript without a turn.
    """
    first = next((turn for turn in transcript.turns if turn.text and turn.role is not Role.TOOL), None)
    summaries = sum(turn.by is By.SUMMARY for turn in transcript.turns)
    if first is None:
        return ""
    return f"{summaries}:{key(first)}"


def keys_of_part(part: Part) -> list[str]:
    """A hash for each statement of a part, which identifies it without its text."""
    texts = [piece.said for piece in part.pieces] or [part.content]
    return [_key(f"{part.scope}\0{part.path}\0{text}") for text in texts]


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


class KnownStatements:
    """The statements that a session has, indexed by their words."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._said: list[Said] = []
        self._by_term: dict[str, list[int]] = defaultdict(list)
        told = dict.fromkeys(one for text in texts for one in _told(text))
        for one in list(told)[-MAX_SENTENCES:]:
            self.add(Said(one, frozenset(terms(one))))

    def add(self, said: Said) -> range:
        """Add a statement as a whole and each of its sentences, so that a denial in one does not count for the others.

        Returns the numbers of the added entries.
        """
        first = len(self._said)
        found = sentences(said.text)
        for text in (said.text, *(found if len(found) > 1 else ())):
            for term in terms(text):
                self._by_term[term].append(len(self._said))
            self._said.append(said._replace(text=text))
        return range(first, len(self._said))

    def add_part(self, part: Part) -> None:
        """Add the statements of a part."""
        for piece in part.pieces:
            self.add(said_of(piece))

    def says(self, text: str, about: frozenset[str] = frozenset(), place: tuple[str, int, int] = ("", 0, 0)) -> bool:
        """Whether the session has all sentences of a text. `about`: the terms of its trail. `place`: its lines."""
        return bool(self.saying(text, about, place))

    def saying(self, text: str, about: frozenset[str], place: tuple[str, int, int]) -> list[int]:
        """For each sentence of a text the number of a statement that says it; empty if the session lacks one
        sentence."""
        found = [self._saying(sentence, about, place) for sentence in sentences(text)]
        if None in found:
            return []
        return [number for number in found if number is not None]

    def _saying(self, sentence: str, about: frozenset[str], place: tuple[str, int, int]) -> int | None:
        counts: dict[int, int] = defaultdict(int)
        for term in terms(sentence):
            for number in self._by_term.get(term, ()):
                counts[number] += 1
        for number in sorted(counts, key=lambda number: -counts[number])[:MAX_COMPARED]:
            said = self._said[number]
            if (about <= said.about or _cites(said, place)) and (
                repeats(sentence, said.text) or same(sentence, said.text)
            ):
                return number
        return None


def _told(text: str) -> list[str]:
    """The sentences of a text that are not questions and not too long."""
    found = [one for line in text.split("\n") for one in sentences(line)]
    return [one for one in found if len(one) <= MAX_SENTENCE_CHARACTERS and not one.rstrip().endswith(QUESTION_MARKS)]


def _cites(said: Said, place: tuple[str, int, int]) -> bool:
    """Whether a statement was taken from lines at a place."""
    path, first, last = place
    return any(path == where and first <= end and begin <= last for where, begin, end in said.cited)


def said_of(piece: Piece) -> Said:
    """A statement of memory as an entry of KnownStatements."""
    spans = [parse_span(value) for key, value in piece.statement.meta if key == "src"]
    cited = tuple((span.path, span.start_line, span.end_line) for span in spans if span is not None)
    return Said(piece.own.text, frozenset(terms(piece.said)), cited)


def about(part: Part, piece: Piece) -> frozenset[str]:
    """The terms of what a statement is about.

    Headings that only name a day, a time or a category of facts do not count, so that a fact, the line of the log that
    it was taken from, and an episode are comparable.
    """
    words = [line.text for line in piece.above if not line.level]
    headings = [line.text for line in piece.above if line.level]
    if layers.is_fact_file(part.path):
        words += layers.topics(replace(part, pieces=(piece,)))
    elif part.layer is Layer.DAILY or (part.layer is not Layer.EPISODE and log_date(part.path)):
        topics = (_CLOCK.sub("", heading.lstrip("# ")).strip() for heading in headings)
        words += [topic for topic in topics if topic != OWN_TOPIC]
    elif part.layer is not Layer.EPISODE:
        words += piece.statement.trail
    return frozenset(term for text in words for term in terms(text))


def fresh_of(part: Part, contents: Contents, known: KnownStatements) -> Part | None:
    """The part without statements that the session has; None if it has all of them.

    Recent turns, summaries, working values and included lines are returned unchanged.
    """
    if part.layer not in GIVEN_ONCE:
        return part
    if contents.is_loaded(part):
        return None
    keys = keys_of_part(part)
    if not part.pieces:
        said = part.layer is Layer.HISTORY and _commit_is_said(part, known)
        if said or not contents.keys.isdisjoint(keys):
            return None
        return part
    own = spellings(contents.session)
    fresh = [
        piece
        for piece, key in zip(part.pieces, keys, strict=True)
        if key not in contents.keys
        and not (contents.session and piece.statement.get("session") in own)
        and not _saying(part, piece, known)
    ]
    if len(fresh) == len(part.pieces):
        return part
    if not fresh:
        return None
    return layers.of(part, fresh)


def _saying(part: Part, piece: Piece, known: KnownStatements) -> list[int]:
    """The numbers of known statements that together say a statement; empty for code and for layers outside COPIES."""
    if piece.own.form is Form.CODE or part.layer not in COPIES:
        return []
    return known.saying(piece.own.text, about(part, piece), (part.path, piece.first, piece.last))


def _commit_is_said(part: Part, known: KnownStatements) -> bool:
    """Whether the session has every line of a commit's message below its subject, such as facts that were promoted."""
    lines = [recorded_text(line.strip().removeprefix("- ")) for line in part.content.split("\n")[1:] if line.strip()]
    return bool(lines) and all(known.says(line) for line in lines)


def each_once(parts: Sequence[Part]) -> list[tuple[Part, Part | None]]:
    """Remove repeated statements: pairs of each part and its rest, None when nothing of it remains.

    A repeated statement stays in the part of the narrowest scope; within a scope in the fact, else in the newest line
    of a log, else in a note, an episode or a commit. It gets the highest relevance of its copies. `parts`: ordered from
    the broadest scope to the narrowest. A part that a later line amends is not changed, because its copies do not say
    until when it was true.
    """
    known = KnownStatements()
    owners: dict[int, int] = {}
    left: dict[int, Part | None] = {}
    relevance = {at: part.relevance for at, part in enumerate(parts)}
    scopes = list(dict.fromkeys(part.scope for part in parts))
    copies_at = [at for at, part in enumerate(parts) if part.layer in COPIES]
    for at in sorted(copies_at, key=lambda at: (-scopes.index(parts[at].scope), *_rank(parts[at]))):
        part = parts[at]
        if not part.pieces:
            if _commit_is_said(part, known):
                left[at] = None
            else:
                left[at] = part
            continue
        fresh = []
        for piece in part.pieces:
            if part.until:
                copies = []
            else:
                copies = _saying(part, piece, known)
            for number in copies:
                relevance[owners[number]] = max(relevance[owners[number]], part.relevance)
            if not copies:
                owners |= dict.fromkeys(known.add(said_of(piece)), at)
                fresh.append(piece)
        if len(fresh) == len(part.pieces):
            left[at] = part
        else:
            if fresh:
                left[at] = layers.of(part, fresh)
            else:
                left[at] = None
    found = [(part, left.get(at, part)) for at, part in enumerate(parts)]
    result = []
    for at, (part, rest) in enumerate(found):
        if rest is not None and rest.relevance != relevance[at]:
            rest = replace(rest, relevance=relevance[at])
        result.append((part, rest))
    return result


def _rank(part: Part) -> tuple[int, int, int, str]:
    """Sort key of parts with copies: by layer, then the newest file, then the longest text."""
    day = log_date(part.path)
    return COPIES.index(part.layer), -day.toordinal() if day else 0, -len(part.content), part.path
