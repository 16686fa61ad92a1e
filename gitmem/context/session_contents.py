"""Finds the statements of memory that a session has already, so that a context does not repeat them. Pure.

A session has three kinds of text: its transcript since the last compaction, the files that its host loaded, and the
statements that earlier contexts gave it. It has a statement if one of these texts contains nearly all words of the
statement, with each number, name and denial (`similarity.adds_nothing`, `similarity.is_near_duplicate`); a question
does not count. A statement that differs in a number, in a name or in its topic is given again.
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
from gitmem.git.objects import Span
from gitmem.hosts.transcript import By, Role, Transcript
from gitmem.memory.fact import cited_spans
from gitmem.memory.forgotten import recorded_text
from gitmem.memory.similarity import adds_nothing, is_near_duplicate, terms
from gitmem.memory.statements import Form
from gitmem.paths import log_date
from gitmem.sessions.rolling_summary import turn_key
from gitmem.sessions.written_ids import stored_names
from gitmem.text.heading_words import leading_topic
from gitmem.text.sentences import sentences

# Layers whose statements may be copies of each other. The copy in the earlier layer of this list is kept.
COPIES = (Layer.PINNED, Layer.MEMORY, Layer.DAILY, Layer.PROJECT, Layer.EPISODE, Layer.HISTORY)
NOT_REPEATED = frozenset((*COPIES, Layer.RULE, Layer.PROCEDURE))  # layers without what the session has
MAX_COMPARED = 20  # known statements that a sentence is compared with: those that share the most words
MAX_SENTENCES = 20_000  # last sentences of the transcript and of loaded files that are compared
MAX_CHARACTERS = 4 << 20  # last characters of a transcript that are read
MAX_SENTENCE_CHARACTERS = 600  # longer sentences are not compared, since they contain nearly any words
OWN_TOPIC = "session"  # heading of the log sections that git mem writes for a session
QUESTION_MARKS = ("?", "？")
# The date or time at the beginning of a heading in a log.
_CLOCK = re.compile(r"^[\d:./\s–—-]*(?:[AaPp]\.?[Mm]\.?(?![A-Za-z]))?[\s–—-]*")


@dataclass(frozen=True, slots=True)
class SessionContents:
    """The texts and statements that a session has.

    `keys`: hashes of the statements that earlier contexts gave (`keys_of_part`). `files`: (scope, path) of the files of
    these statements. `texts`: texts of its turns and of the files that its host loaded. `session`: the id of a session
    without a transcript, so that the log lines it wrote count too; else "". `loaded`: paths, and folders with "/" at
    the end, that the host loads whole.
    """

    keys: frozenset[str] = frozenset()
    files: frozenset[tuple[str, str]] = frozenset()
    texts: tuple[str, ...] = ()
    session: str = ""
    loaded: tuple[str, ...] = ()

    def is_loaded(self, part: Part) -> bool:
        """Whether the host loads the file of a part. Only files of the project are loaded."""
        if part.scope != "project" or not part.path:
            return False
        folders = tuple(path for path in self.loaded if path.endswith("/"))
        return part.path in self.loaded or part.path.startswith(folders)


class KnownStatement(NamedTuple):
    """One statement that the session has: a piece of memory that it was given, or a text or sentence of the session.

    `topic_terms`: the terms of its text and of its trail. `sources`: the log lines that it was taken from.
    """

    text: str
    topic_terms: frozenset[str]
    sources: tuple[Span, ...] = ()


def present_texts(transcript: Transcript) -> tuple[str, ...]:
    """The texts of a transcript from its last summary of older turns on, oldest first; of these the last ones, up to
    MAX_CHARACTERS characters."""
    start = max((index for index, turn in enumerate(transcript.turns) if turn.by is By.SUMMARY), default=0)
    texts: list[str] = []
    remaining_characters = MAX_CHARACTERS
    for turn in reversed(transcript.turns[start:]):
        remaining_characters -= len(turn.text)
        if remaining_characters < 0:
            break
        texts.append(turn.text)
    return tuple(reversed(texts))


def compaction_mark(transcript: Transcript) -> str:
    """A string that changes when a host compacts a transcript: the number of its summaries and the key of its first
    turn.

    "" for a transcript without a spoken turn.
    """
    first = next((turn for turn in transcript.turns if turn.text and turn.role is not Role.TOOL), None)
    summaries = sum(turn.by is By.SUMMARY for turn in transcript.turns)
    return f"{summaries}:{turn_key(first)}" if first is not None else ""


def keys_of_part(part: Part) -> list[str]:
    """A hash (16 hexadecimal digits) for each piece of a part, in order; one hash for a part without pieces."""
    texts = [piece.text_with_trail for piece in part.pieces] or [part.content]
    return [_key(f"{part.scope}\0{part.path}\0{text}") for text in texts]


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


class KnownStatements:
    """The statements that a session has, indexed by their words. `texts`: texts whose sentences are added, without
    questions and sentences over MAX_SENTENCE_CHARACTERS; only the last MAX_SENTENCES are."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._said: list[KnownStatement] = []
        self._by_term: dict[str, list[int]] = defaultdict(list)
        compared = dict.fromkeys(sentence for text in texts for sentence in _compared_sentences(text))
        for sentence in list(compared)[-MAX_SENTENCES:]:
            self.add(KnownStatement(sentence, frozenset(terms(sentence))))

    def add(self, statement: KnownStatement) -> range:
        """Add a statement as a whole and each of its sentences, so that a denial in one sentence does not count for
        others.

        Returns the range of entry numbers that were added, which `find_all` returns.
        """
        first = len(self._said)
        parts = sentences(statement.text)
        for text in (statement.text, *(parts if len(parts) > 1 else ())):
            for term in terms(text):
                self._by_term[term].append(len(self._said))
            self._said.append(statement._replace(text=text))
        return range(first, len(self._said))

    def add_part(self, part: Part) -> None:
        """Add the statements of a part."""
        for piece in part.pieces:
            self.add(known_statement(piece))

    def says(self, text: str) -> bool:
        """Whether the session has all sentences of a text; False for a text without sentences."""
        return bool(self.find_all(text, frozenset()))

    def find_all(self, text: str, topic: frozenset[str], place: tuple[str, int, int] | None = None) -> list[int]:
        """For each sentence of a text the number of an entry that says it; empty if the session lacks a sentence.

        An entry counts if it has all terms of `topic` (the topic of the text), or was taken from the lines of `place`
        (path, first line, last line).
        """
        numbers = [self._find(sentence, topic, place) for sentence in sentences(text)]
        if None in numbers:
            return []
        return [number for number in numbers if number is not None]

    def _find(self, sentence: str, topic: frozenset[str], place: tuple[str, int, int] | None) -> int | None:
        """The number of an entry that says a sentence, among the MAX_COMPARED that share the most terms with it; None
        if none of them does."""
        counts: dict[int, int] = defaultdict(int)
        for term in terms(sentence):
            for number in self._by_term.get(term, ()):
                counts[number] += 1
        for number in sorted(counts, key=lambda number: -counts[number])[:MAX_COMPARED]:
            known = self._said[number]
            is_cited = place is not None and any(span.overlaps(*place) for span in known.sources)
            if (is_cited or topic <= known.topic_terms) and (
                adds_nothing(sentence, known.text) or is_near_duplicate(sentence, known.text)
            ):
                return number
        return None


def _compared_sentences(text: str) -> list[str]:
    """The sentences of each line of a text, without questions and without those over MAX_SENTENCE_CHARACTERS. A
    sentence that goes over a line break counts as one for each line."""
    candidates = (sentence for line in text.split("\n") for sentence in sentences(line))
    short = (sentence for sentence in candidates if len(sentence) <= MAX_SENTENCE_CHARACTERS)
    return [sentence for sentence in short if not sentence.rstrip().endswith(QUESTION_MARKS)]


def known_statement(piece: Piece) -> KnownStatement:
    """A piece of memory as a KnownStatement, with the sources that its metadata names."""
    cited = tuple(cited_spans(piece.statement.meta))
    return KnownStatement(piece.own.text, frozenset(terms(piece.text_with_trail)), cited)


def topic_terms(part: Part, piece: Piece) -> frozenset[str]:
    """The terms of the topic of a statement: of its parent items and headings, and of the topics in its comment and
    before its text.

    Headings that only name a day, a time or a category of facts do not count, so that a fact, the log line that it was
    taken from, and an episode are comparable.
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
    if part.layer is not Layer.EPISODE:  # in an episode a name before a colon is that of a speaker
        words.append(leading_topic(piece.own.text))
    return frozenset(term for text in words for term in terms(text))


def without_known(part: Part, contents: SessionContents, known: KnownStatements) -> Part | None:
    """The part without the statements that the session has; None if no statement is left.

    None too for a part of a file that the host loads. A part of a layer outside NOT_REPEATED, such as a recent turn, is
    returned unchanged.
    """
    if part.layer not in NOT_REPEATED:
        return part
    if contents.is_loaded(part):
        return None
    keys = keys_of_part(part)
    if not part.pieces:
        is_known_commit = part.layer is Layer.HISTORY and _commit_is_said(part, known)
        if is_known_commit or not contents.keys.isdisjoint(keys):
            return None
        return part
    session_names = stored_names(contents.session)
    fresh = [
        piece
        for piece, key in zip(part.pieces, keys, strict=True)
        if key not in contents.keys
        and not (contents.session and piece.statement.get("session") in session_names)
        and not _known_numbers(part, piece, known)
    ]
    if len(fresh) == len(part.pieces):
        return part
    if not fresh:
        return None
    return layers.with_pieces(part, fresh)


def _known_numbers(part: Part, piece: Piece, known: KnownStatements) -> list[int]:
    """The numbers of the known entries that say the sentences of a piece; empty if one is not said, for code, and for
    layers outside COPIES."""
    if piece.own.form is Form.CODE or part.layer not in COPIES:
        return []
    return known.find_all(piece.own.text, topic_terms(part, piece), (part.path, piece.first, piece.last))


def _commit_is_said(part: Part, known: KnownStatements) -> bool:
    """Whether the session has each line below the subject of a commit's message; False if there is no such line."""
    lines = [recorded_text(line.strip().removeprefix("- ")) for line in part.content.split("\n")[1:] if line.strip()]
    return bool(lines) and all(known.says(line) for line in lines)


def without_copies(parts: Sequence[Part]) -> list[tuple[Part, Part | None]]:
    """Remove repeated statements: (part, the rest of it, None if nothing remains) for each part, in order. Code and
    parts of layers outside COPIES stay as they are.

    `parts`: ordered from the broadest scope to the narrowest. A repeated statement stays in the part of the narrowest
    scope; within a scope it stays in the earliest layer of COPIES, and in the newest file of that layer. That part gets
    the highest relevance of the copies. A part that a later line amends loses no statement, because its copies do not
    say until when it was true. A commit is removed if each line below its subject is said.
    """
    known = KnownStatements()
    owners: dict[int, int] = {}
    remainders: dict[int, Part | None] = {}
    relevance = {index: part.relevance for index, part in enumerate(parts)}
    scopes = list(dict.fromkeys(part.scope for part in parts))
    copies_at = [index for index, part in enumerate(parts) if part.layer in COPIES]
    for index in sorted(copies_at, key=lambda index: (-scopes.index(parts[index].scope), *_copy_order(parts[index]))):
        part = parts[index]
        if not part.pieces:
            if _commit_is_said(part, known):
                remainders[index] = None
            else:
                remainders[index] = part
            continue
        fresh = []
        for piece in part.pieces:
            copies = [] if part.until else _known_numbers(part, piece, known)
            for number in copies:
                relevance[owners[number]] = max(relevance[owners[number]], part.relevance)
            if not copies:
                owners |= dict.fromkeys(known.add(known_statement(piece)), index)
                fresh.append(piece)
        if len(fresh) == len(part.pieces):
            remainders[index] = part
        elif fresh:
            remainders[index] = layers.with_pieces(part, fresh)
        else:
            remainders[index] = None
    pairs = [(part, remainders.get(index, part)) for index, part in enumerate(parts)]
    result = []
    for index, (part, remainder) in enumerate(pairs):
        if remainder is not None and remainder.relevance != relevance[index]:
            remainder = replace(remainder, relevance=relevance[index])
        result.append((part, remainder))
    return result


def _copy_order(part: Part) -> tuple[int, int, int, str]:
    """Sort key of parts with copies: by layer, then the newest file, then the longest text."""
    day = log_date(part.path)
    return COPIES.index(part.layer), -day.toordinal() if day else 0, -len(part.content), part.path
