"""A daily log as the statements a model may promote: list items, and sentences of paragraphs, without marker, time,
label or speaker.

Pure. What a document says, and under which headings and items, is read by `memory/statements`. Headings, fences,
tables, quotes, comments, front matter and anything machine-written are not candidates: a log that repeats what came
from memory must not feed it again (docs/promotion.md, "Lines that are never a source").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from gitmem.gate.detectors.masks import has_mask
from gitmem.memory.fact import parse_comment
from gitmem.memory.statements import Form, Statement, read
from gitmem.promotion.proposal import Log
from gitmem.promotion.topics import reports_work, topic_of
from gitmem.provenance.line_origins import statement_origins
from gitmem.text.heading_words import names_no_thing
from gitmem.text.sentences import sentences
from gitmem.text.terms import without_particle

LONGEST_ITEM = 300  # characters of a list item that is taken whole; of a longer one each sentence by itself
LONGEST_STATEMENT = 16_000  # characters of a statement that can hold a fact: each fact of it is held against all of it
LONGEST_READ = 4000  # characters of a statement whose sentences are read, from its beginning
WIDTHS = {"W": 2, "F": 2}  # columns of a letter by its East Asian width; any other has one

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_BOX = re.compile(r"^\[[ xX]\]\s+")
_ZONE = r"(?:UTC|GMT|CEST|CET|KST|JST|IST|BST|Z|[ECMP][SD]?T)"
_TIME = re.compile(
    r"^[\[(]?(?:[01]?\d|2[0-3]):[0-5]\d(?::\d\d)?\s*(?:[aApP]\.?[mM]\.?)?"
    rf"(?:\s*{_ZONE}(?:[+-]\d{{1,2}}(?::\d\d)?)?(?![\w-]))?[\])]?\s*[-–—:|]?\s+"
)
_PERIOD = re.compile(
    r"^(?:오전|오후|아침|저녁|morning|afternoon|evening|am|pm|later|update|최종|결론|final)\s*[:：]\s*"
    r"|^(?:(?:오전|오후|저녁|결국|나중)에?\s+)?(?:뒤집음|번복|변경|정정)\s*[:：]\s*",
    re.I,
)
_LABEL = re.compile(
    r"^(?:\*\*|__)?(?:\[(?P<a>[^\]\d][^\]]{0,20})\]|【(?P<c>[^】]{1,20})】"
    r"|(?P<b>[^\W\d][\w ]{0,18}?)(?:\*\*|__)?\s*[:：](?![/\w]))(?:\*\*|__)?\s*"
)
_SPEAKER = re.compile(r"^([^\W\d_][\w.'-]*(?: [^\W\d_][\w.'-]*)?): (?=\S)")
_THOUGHT_END = re.compile(r"[.!?。！？…]\W*$|(?:다|함|음|임|됨|요|た|る|です|ます|了)$")
_INNER_COLON = re.compile(r"[.!?。！？][\s*_]*\S[^.!?]{0,20}[:：]")
_HANGUL = re.compile(r"[가-힣]")
_WIDE = re.compile(r"([가-힣])|([\u3041-\u30ff])|([\u3400-\u9fff])")  # Hangul, Kana, Han
_LATIN = re.compile(r"[A-Za-z]+")
_MACHINE = re.compile(
    r"\b(?:promot(?:ed|ion)|dream(?:s|ing)?|(?:light|deep|rem)\ssleep|heartbeat|cron|consolidation|recall(?:ed)?|digest|auto-?generated|insights?|audit\s+(?:log|trail))\b"
    r"|자동\s*생성|승격|회상|크론|요약\s*봇",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate. `number`, `last`: its lines (`last` 0 for one line alone). `text` is the sentence; `whole` what
    stood there after its marker and time; `label` a leading `Decision:` or `[결정]` in lower case; `speaker` in a
    dialogue; `topic` what a fact of it has to begin with, "" where the text says what it is about; `under` the
    label that its heading is ("" for none), `under_kind` the kind of fact it speaks for ("none" where it speaks against
    any); `beside` how many candidates its log has; `prose`: it is a sentence among others; `typed` the type
    that the line's own comment states; `reported`: it stands under a heading of reports; `languages` those whose cues
    are read (`languages_of`); `near`: the nearest heading and parent item; `outer`: those above them; `file`: the
    words of the log's file name."""

    number: int
    text: str
    whole: str
    label: str = ""
    speaker: str = ""
    period: str = ""
    languages: tuple[str, ...] = ("en",)
    origin: str = ""
    last: int = 0
    topic: str = ""
    under: str = ""
    under_kind: str = ""
    beside: int = 0
    prose: bool = False
    typed: str = ""
    reported: bool = False
    near: tuple[str, ...] = ()
    outer: tuple[str, ...] = ()
    file: str = ""

    @property
    def end(self) -> int:
        """Its last line."""
        return max(self.number, self.last)

    def about(self, text: str) -> str:
        """A text of this candidate as a fact says it, with its topic in front."""
        if self.topic:
            return f"{self.topic}: {text}"
        return text


class Passage(NamedTuple):
    """A statement, or a part of one that says something by itself: its lines, its text as one line, the statement it
    is of, whose words it is."""

    first: int
    last: int
    text: str
    statement: Statement
    origin: str


def languages_of(text: str) -> tuple[str, ...]:
    """The languages of a text by its script: `ko`, `ja` or `zh`, and `en` if it is mostly or only Latin.

    A text with Hangul is Korean, one with kana Japanese, one with Han alone Chinese.
    """
    wide = _WIDE.findall(text)
    if not wide:
        return ("en",)
    hangul, kana = sum(bool(row[0]) for row in wide), any(row[1] for row in wide)
    if hangul:
        language = "ko"
    else:
        language = "zh"
        if kana:
            language = "ja"
    latin = sum(len(word) for word in _LATIN.findall(text))
    if latin > 2 * (hangul or len(wide)):
        return (language, "en")
    return (language,)


def passages_of(lines: Sequence[str]) -> Iterator[Passage]:
    """What may be promoted of a log's lines, in order: items and paragraphs, where a chosen line break ends a piece."""
    document = read(lines)
    for statement, origin in zip(document, statement_origins(document), strict=True):
        if statement.form not in (Form.ITEM, Form.PARAGRAPH) or any(map(_MACHINE.search, statement.above)):
            continue
        if any(key == "src" for key, _ in statement.meta):  # it came from memory
            continue
        text = statement.text
        if text.startswith((">", "|")) or len(text) > LONGEST_STATEMENT or not any(map(str.isalnum, text)):
            continue
        if statement.form is Form.ITEM:
            yield Passage(statement.first, statement.last, text, statement, origin)
        else:
            for first, last in _pieces(lines, statement):
                said = " ".join(" ".join(_visible(line) for line in lines[first - 1 : last]).split())
                if any(map(str.isalnum, said)):
                    yield Passage(first, last, unicodedata.normalize("NFC", said), statement, origin)


def _pieces(lines: Sequence[str], statement: Statement) -> list[tuple[int, int]]:
    """(first line, last line) of the pieces of a paragraph. Who writes a line a thought wraps nothing: a line break was
    chosen before a time, and where the next word had room and either side looks like the end of a thought."""
    texts = [_visible(line).strip() for line in lines[statement.first - 1 : statement.last]]
    widest = max(map(_columns, texts))
    pieces: list[tuple[int, int]] = []
    before = ""
    for number, text in enumerate(texts, statement.first):
        word = ""
        if text:
            word = text.split(maxsplit=1)[0]
        room = _columns(before) + 1 + (_columns(word) if word.isascii() or _HANGUL.search(word) else 2) <= widest
        thought = text[:1].isupper() or _THOUGHT_END.search(before) is not None
        chosen = not pieces or _TIME.match(text) is not None or (room and thought)
        pieces[len(pieces) if chosen else -1 :] = [(number if chosen else pieces[-1][0], number)]
        before = text
    return pieces


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(WIDTHS.get(unicodedata.east_asian_width(c), 1) for c in text)


def _visible(line: str) -> str:
    """A line without its metadata comment."""
    if line.rstrip().endswith("-->"):
        return parse_comment(line)[0]
    return line


def candidates_of(log: Log, labels: Mapping[str, tuple[str, float]]) -> list[Candidate]:
    """Every candidate of a log, new or not (the old ones are context for retractions)."""
    passages = [
        passage._replace(text=_TIME.sub("", _BOX.sub("", passage.text, count=1), count=1))
        for passage in passages_of(log.lines)
    ]
    speakers = _speakers([passage.text for passage in passages], labels)
    made = [
        each
        for passage in passages
        for each in _candidates(log.lines, passage, speakers, labels)
        if not has_mask(each.whole)  # what it said is hidden
    ]
    file = _DAY.sub("", PurePosixPath(log.path).stem)
    return [replace(each, beside=len(made), file=file) for each in made]


def _speakers(bodies: list[str], labels: Mapping[str, tuple[str, float]]) -> set[str]:
    """The names that take turns, when the log is a dialogue: two at least, saying most of its lines, none of them a
    word for a kind of line (`decision:`, `why:`, `이유:`)."""
    counts: dict[str, int] = {}
    for body in bodies:
        match = _SPEAKER.match(body)
        if match and len(match[1]) <= 24:
            counts[match[1]] = counts.get(match[1], 0) + 1
    turns = {name: count for name, count in counts.items() if count >= 2}
    if any(name.casefold() in labels or names_no_thing(name) for name in turns):
        return set()
    if len(turns) >= 2 and sum(turns.values()) >= 0.6 * len(bodies):
        return set(turns)
    return set()


def _candidates(
    lines: Sequence[str], passage: Passage, speakers: set[str], labels: Mapping[str, tuple[str, float]]
) -> Iterator[Candidate]:
    """The candidates of one passage: an item whole where it is short, else each sentence with the lines it is on."""
    match = None
    if speakers:
        match = _SPEAKER.match(passage.text)
    if match and match[1] in speakers:
        text = passage.text[match.end() : LONGEST_READ]
        yield Candidate(
            passage.first, text, passage.text, "", match[1], "", languages_of(text), passage.origin, passage.last
        )
        return
    for part in _parts(lines, passage, labels):
        text, label, period = part.text, "", ""
        opening = _PERIOD.match(text)
        if opening:
            period = opening[0].rstrip(" :：").lower()
            text = text[opening.end() :]
        if labelled := _labelled(text, labels):
            label, text = labelled
        if text.rstrip("*_ ").endswith((":", "：")):
            continue  # what it opens stands below it
        above = part.statement
        under = next((name for item in reversed(above.trail) for name in _labels_in(item, labels)), "")
        yield Candidate(
            part.first, text, part.text, label, "", period, languages_of(text), part.origin, part.last,
            topic_of(above, text), under, (labels[under][0] or "none") if under else "",
            0, part.text != passage.text, above.get("type"), reports_work(above),
            above.above[-1:] + above.parents[-1:], above.above[:-1] + above.parents[:-1],
        )  # fmt: skip


def _parts(lines: Sequence[str], passage: Passage, labels: Mapping[str, tuple[str, float]]) -> list[Passage]:
    """What of a passage can be a fact of its own: a short item whole, unless a label stands within it."""
    if passage.statement.form is Form.ITEM and len(passage.text) <= LONGEST_ITEM:
        if not _INNER_COLON.search(passage.text):
            return [passage]
        parts = list(_in_sentences(lines, passage))
        if any(_labelled(part.text, labels) for part in parts[1:]):
            return parts
        return [passage]
    return list(_in_sentences(lines, passage))


def _labelled(text: str, labels: Mapping[str, tuple[str, float]]) -> tuple[str, str] | None:
    """The label and the rest of a text that begins with a known label; None for any other text."""
    match = _LABEL.match(text)
    if not match:
        return None
    name = " ".join((match["a"] or match["b"] or match["c"] or "").lower().split())
    rest = text[match.end() :]
    if name in labels and rest.strip():
        return (name, rest)
    return None


def _labels_in(heading: str, labels: Mapping[str, tuple[str, float]]) -> Iterator[str]:
    """The labels that a heading or an item is, in one number or another: `Key decisions`, `결정 사항`."""
    words = heading.casefold().strip(" *_:：").split()
    for size in range(min(3, len(words)), 0, -1):
        for at in range(len(words) - size + 1):
            name = " ".join(words[at : at + size]).strip("*_:：()[]")
            for form in (name, name.removesuffix("s"), f"{name.removesuffix('ies')}y", without_particle(name)):
                if form in labels and names_no_thing(heading):
                    yield form


def _in_sentences(lines: Sequence[str], passage: Passage) -> Iterator[Passage]:
    """A passage sentence by sentence, each with the lines that hold a letter of it."""
    sizes = [len(_letters(_visible(line))) for line in lines[passage.first - 1 : passage.last]]
    parts = sentences(passage.text[:LONGEST_READ])
    if len(passage.text) > LONGEST_READ:
        parts = parts[:-1]  # it is cut there
    at = sum(sizes) - len(_letters(passage.text))  # the marker and the time in front
    for part in parts:
        start, at = at, at + len(_letters(part))
        first, last = _line_at(sizes, start), _line_at(sizes, at - 1)
        yield passage._replace(first=passage.first + first, last=passage.first + last, text=part)


def _letters(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).split())


def _line_at(sizes: Sequence[int], offset: int) -> int:
    """The line, from 0, that holds the letter at an offset into all lines' letters."""
    for number, size in enumerate(sizes):
        if offset < size:
            return number
        offset -= size
    return len(sizes) - 1
