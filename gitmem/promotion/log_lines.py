"""The candidate lines of a daily log, which a promotion model may propose: list items and sentences of paragraphs,
without marker, time, label and speaker; sections that a program writes (`Cron Log`) have none. Pure.

`memory/statements` parses the log. Headings, fences, tables, quotes, comments, front matter and machine-written lines
are not candidates: a log that repeats memory must not be promoted again (docs/promotion.md, "What is never a source").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

from gitmem.gate.detectors.masks import has_mask
from gitmem.memory.fact import parse_comment
from gitmem.memory.statements import Form, Statement, read
from gitmem.paths import ISO_DAY
from gitmem.promotion.cues import DECIDING_WEIGHT
from gitmem.promotion.lexicon import chinese, english, japanese, korean
from gitmem.promotion.proposal import Log
from gitmem.promotion.topics import reports_work, things, topic_of
from gitmem.provenance.line_origins import statement_origins
from gitmem.text.additions import without_addition
from gitmem.text.heading_words import is_generic_heading
from gitmem.text.literal_breaks import between_literal_breaks
from gitmem.text.sentences import sentences
from gitmem.text.terms import without_particle

MAX_ITEM_CHARS = 300  # characters of a list item that is one candidate; a longer one is split into sentences
MAX_STATEMENT_CHARS = 16_000  # characters of a statement that has candidates; each is compared with all of it later
MAX_WRAP_COLUMNS = 160  # columns at which an editor breaks lines
MAX_READ_CHARS = 4000  # first characters of a statement that are split into sentences
WIDTHS = {"W": 2, "F": 2}  # columns of a character by its East Asian width; all others have one

_DAY = re.compile(ISO_DAY)
_BOX = re.compile(r"^\[[ xX]\]\s+")
_ZONE = r"(?:UTC|GMT|CEST|CET|KST|JST|IST|BST|Z|[ECMP][SD]?T)"
# The time of an entry at the beginning of a line: `14:05`, `[9:30 PM KST] -`. It is no part of the text.
_TIME = re.compile(
    r"^[\[(]?(?:[01]?\d|2[0-3]):[0-5]\d(?::\d\d)?\s*(?:[aApP]\.?[mM]\.?)?"
    rf"(?:\s*{_ZONE}(?:[+-]\d{{1,2}}(?::\d\d)?)?(?![\w-]))?[\])]?\s*[-–—:|]?\s+"
)
# Words at the beginning of a line that say when of the day, or that it corrects an earlier one: `저녁:`, `최종:`.
_PERIOD = re.compile(
    r"^(?:오전|오후|아침|저녁|morning|afternoon|evening|am|pm|later|update|최종|결론|final)\s*[:：]\s*"
    r"|^(?:(?:오전|오후|저녁|결국|나중)에?\s+)?(?:뒤집음|번복|변경|정정)\s*[:：]\s*",
    re.I,
)
# What may be a label at the beginning of a line (LABELS has those that are): `Decision:`, `**Rule**:`, `【决定】`.
_LABEL = re.compile(
    r"^(?:\*\*|__)?(?:\[(?P<a>[^\]\d][^\]]{0,20})\]|【(?P<c>[^】]{1,20})】"
    r"|(?P<b>[^\W\d][\w ]{0,18}?)(?:\*\*|__)?\s*[:：](?![/\w]))(?:\*\*|__)?\s*"
)
# Words before a colon at the beginning of a line, whose last one may be a label: `Ferry provider decision:`.
_LABEL_PHRASE = re.compile(r"^(?:\*\*|__)?(?P<words>[^\W\d][\w'’ /-]{2,38}?)(?:\*\*|__)?\s*[:：](?![/\w])(?=[\s*_]*\S)")
# Kinds that a label says of a line although other words stand before it. `NullPointer exception:` and `Fun fact:` say
# none.
_PHRASE_KINDS = frozenset(("decision", "rule", "policy", "constraint", "preference", "lesson"))
MIN_PHRASE_WEIGHT = 2.5  # least weight of such a label
# The name before what somebody says: `Ann Lee: I moved`.
_SPEAKER = re.compile(r"^([^\W\d_][\w.'-]*(?: [^\W\d_][\w.'-]*)?): (?=\S)")
# The end of a sentence: its mark, or a final syllable of Korean, Japanese or Chinese, which need no mark.
_THOUGHT_END = re.compile(r"[.!?。！？…]\W*$|(?:다|함|음|임|됨|요|た|る|です|ます|了)$")
# A new sentence that begins with a label: the item may hold more than one fact.
_INNER_COLON = re.compile(r"[.!?。！？][\s*_]*\S[^.!?]{0,20}[:：]")
_CODE = re.compile(r"`[^`]*`")
_BOLD = re.compile(r"(?<!\*)\*\*(?![*/])")  # a mark of a bold part; no glob (`src/**/a.py`)
_MARKER = re.compile(r"^(?:[-*+]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?")
_HANGUL = re.compile(r"[가-힣]")
_WIDE = re.compile(r"([가-힣])|([\u3041-\u30ff])|([\u3400-\u9fff])")  # Hangul, Kana, Han
_LATIN = re.compile(r"[A-Za-z]+")
# What opens the list below a line: a colon, with the words that say that reasons follow.
_LIST_OPENING = re.compile(
    r"[_ ]*[,，]?\s*(?:(?:based\s+on|because(?:\s+of)?|due\s+to|for\s+(?:these|the\s+following)\s+reasons"
    r"|as\s+follows)\s*)?[*_]*[:：][*_\s]*$",
    re.I,
)
# Label in lower case (`decision`) -> (kind of fact, weight).
LABELS = {**english.LABELS, **korean.LABELS, **japanese.LABELS, **chinese.LABELS}
_DECISIONS = [
    each
    for lexicon in (english, korean, japanese, chinese)
    for each in lexicon.CUES
    if each.kind == "decision" and each.weight >= DECIDING_WEIGHT
]
# The name of a section that a program writes into a log: OpenClaw's dreams and what it promoted, a heartbeat, a trail
# of commands. A heading that says more ("Heartbeat script v2.2", "Cron delivery failure") is about that thing.
_MACHINE_SECTION = re.compile(
    r"\b(?:(?:light|deep|rem)\s+sleep|dream(?:s|ing)?|heartbeats?|audit\s+(?:log|trail)|auto-?generated"
    r"|promot(?:ion|ed(?:\s+from\s+short-term\s+memory)?)|recalled)\b|자동\s*생성(?:됨|된)?|승격|회상",
    re.I,
)
_CLOCK = re.compile(r"\b\d{1,2}:\d\d\b")
_ASIDE = re.compile(r"[(（][^()（）]*[)）]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One line of a log, or one sentence of a line, that a model may propose as a fact."""

    number: int  # first line, from 1
    text: str  # the sentence, without marker, time, period and label
    whole: str  # the same with period and label, in a dialogue with the speaker too, and not cut
    label: str = ""  # a label at its beginning, `Decision:` or `[결정]`, in lower case
    speaker: str = ""  # in a dialogue
    period: str = ""  # a word such as `오전` or `update` at its beginning
    languages: tuple[str, ...] = ("en",)  # languages whose cues are matched (`languages_of`)
    origin: str = ""  # the worst origin stated for it, "" for none
    last: int = 0  # last line, 0 for one line alone
    topic: str = ""  # the topic that a fact of it needs (`topics.topic_of`)
    under: str = ""  # the label that its heading or parent item is, "" for none
    under_kind: str = ""  # the kind of fact of that label; "none" for a label that speaks against a fact
    log_candidates: int = 0  # number of candidates of the log
    prose: bool = False  # it is one of several sentences of its statement
    typed: str = ""  # the type that the comment of the line states
    reported: bool = False  # it is below a heading of reports (`topics.reports_work`)
    near: tuple[str, ...] = ()  # the nearest heading and parent item
    outer: tuple[str, ...] = ()  # the headings and items above these
    file: str = ""  # name of the log's file, without the date
    things: tuple[str, ...] = ()  # the steps of its trail that name a thing (`topics.things`)

    @property
    def end(self) -> int:
        """Its last line, from 1."""
        return max(self.number, self.last)

    def with_topic(self, text: str) -> str:
        """`text` with the candidate's topic before it (`Billing: ...`); `text` itself without a topic."""
        if self.topic:
            return f"{self.topic}: {text}"
        return text


class Passage(NamedTuple):
    """A statement, or a part of one that can be read alone. `first`, `last`: its lines. `text`: one line of text.
    `statement`: the whole statement. `origin`: the worst origin stated for it, "" for none."""

    first: int
    last: int
    text: str
    statement: Statement
    origin: str


def languages_of(text: str) -> tuple[str, ...]:
    """The languages of a text by its script: `ko` with Hangul, `ja` with kana, `zh` with Han alone; `en` when it has
    none of these, or in addition when it is mostly Latin."""
    wide = _WIDE.findall(text)
    if not wide:
        return ("en",)
    hangul = sum(bool(row[0]) for row in wide)
    language = "zh"
    if hangul:
        language = "ko"
    elif any(row[1] for row in wide):
        language = "ja"
    latin = sum(len(word) for word in _LATIN.findall(text))
    if latin > 2 * (hangul or len(wide)):
        return (language, "en")
    return (language,)


def machine_section(statement: Statement) -> str:
    """The heading that a statement stands below and that a program writes; "" for none. Such a heading has the name of
    a section of a machine and besides it nothing but times and words for a kind of line: `Heartbeat — 22:26 ET`. With
    a time of day, what is in parentheses is about that run: `Heartbeat Session - 4:35 AM (Europe/Berlin)`."""
    timed = bool(statement.time)
    return next((heading for heading in statement.above if _is_machine_heading(heading, timed)), "")


@cache
def _is_machine_heading(heading: str, timed: bool) -> bool:
    if timed or _CLOCK.search(heading):
        heading = _ASIDE.sub(" ", heading)
    remaining_heading, count = _MACHINE_SECTION.subn(" ", heading)
    return count > 0 and is_generic_heading(remaining_heading)


def machine_statements(lines: Sequence[str]) -> Iterator[tuple[Statement, str]]:
    """The items and paragraphs in sections that a program writes into a log (`Heartbeat`, `Dreams`), each with the
    heading that says so (`machine_section`)."""
    for statement in read(lines):
        if statement.form in (Form.ITEM, Form.PARAGRAPH) and (heading := machine_section(statement)):
            yield statement, heading


def passages_of(lines: Sequence[str]) -> Iterator[Passage]:
    """The items and paragraphs of a log that may be promoted, in order. A paragraph is divided at line breaks that its
    writer chose.

    Statements in a section of a machine (`machine_section`), with a key `src` in their comment, longer than
    MAX_STATEMENT_CHARS, or without a letter or digit are left out, and so are lines of quotations and tables.
    """
    document = read(lines)
    for statement, origin in zip(document, statement_origins(document), strict=True):
        if statement.form not in (Form.ITEM, Form.PARAGRAPH) or machine_section(statement):
            continue
        if any(key == "src" for key, _ in statement.meta):  # it came from memory
            continue
        text = statement.text
        if text.startswith((">", "|")) or len(text) > MAX_STATEMENT_CHARS or not any(map(str.isalnum, text)):
            continue
        if statement.form is Form.ITEM:
            yield from _between_literal_breaks(Passage(statement.first, statement.last, text, statement, origin))
        else:
            for first, last in _pieces(lines, statement):
                piece = " ".join(" ".join(_without_comment(line) for line in lines[first - 1 : last]).split())
                if any(map(str.isalnum, piece)):
                    text = unicodedata.normalize("NFC", piece)
                    yield from _between_literal_breaks(Passage(first, last, text, statement, origin))


def _between_literal_breaks(passage: Passage) -> Iterator[Passage]:
    """The parts of a passage of one line between its literal line breaks, without list markers and without headings."""
    first, *others = between_literal_breaks(passage.text)
    if not others or passage.first != passage.last:
        yield passage
        return
    for part in (first, *(_MARKER.sub("", other, count=1) for other in others)):
        if not part.startswith("#") and any(map(str.isalnum, part)):
            yield passage._replace(text=part)


def _pieces(lines: Sequence[str], statement: Statement) -> list[tuple[int, int]]:
    """(first line, last line) of each piece of a paragraph. A piece ends at a line break that the writer chose: before
    a time or a sign (`✅`), or where the next word had room in the line and a sentence seems to end or begin. Nobody
    wraps lines at more than MAX_WRAP_COLUMNS: in a paragraph with a longer line every break is one that the writer
    chose."""
    texts = [_without_comment(line).strip() for line in lines[statement.first - 1 : statement.last]]
    width = max(map(_columns, texts))
    pieces: list[tuple[int, int]] = []
    previous_text = ""
    for number, text in enumerate(texts, statement.first):
        word = "".join(text.split(maxsplit=1)[:1])
        word_columns = 2  # a line of Kana or Han breaks after any character
        if word.isascii() or _HANGUL.search(word):
            word_columns = _columns(word)
        has_room = width > MAX_WRAP_COLUMNS or _columns(previous_text) + 1 + word_columns <= width
        is_sentence = text[:1].isupper() or _THOUGHT_END.search(previous_text) is not None
        is_marked = unicodedata.category(text[:1] or " ") == "So"  # an item with a sign as its marker: `✅ sent`
        if not pieces or _TIME.match(text) or is_marked or (has_room and is_sentence):
            pieces.append((number, number))
        else:
            pieces[-1] = (pieces[-1][0], number)
        previous_text = text
    return pieces


def _columns(text: str) -> int:
    """The width of a text in columns of a fixed-width font."""
    if text.isascii():
        return len(text)
    return sum(WIDTHS.get(unicodedata.east_asian_width(character), 1) for character in text)


def _without_comment(line: str) -> str:
    """A line without the metadata comment at its end."""
    if line.rstrip().endswith("-->"):
        return parse_comment(line)[0]
    return line


def candidates_of(log: Log) -> list[Candidate]:
    """All candidates of a log, in order, except those that hold a mask of the gate. Candidates of old lines are
    included, because a new line may retract them."""
    passages = [
        passage._replace(text=_TIME.sub("", _BOX.sub("", passage.text, count=1), count=1))
        for passage in passages_of(log.lines)
    ]
    speakers = _speakers([passage.text for passage in passages])
    candidates = [
        candidate
        for passage in passages
        for candidate in _candidates(log.lines, passage, speakers)
        if not has_mask(candidate.whole)
    ]
    file = _DAY.sub("", PurePosixPath(log.path).stem)
    return [replace(candidate, log_candidates=len(candidates), file=file) for candidate in candidates]


def _speakers(texts: list[str]) -> set[str]:
    """The names of the speakers of a dialogue; empty when the log is none. A dialogue has two or more names, each at
    the beginning of two lines or more, that together begin 60 % of its lines; none of them is a label (`decision:`,
    `why:`, `이유:`)."""
    counts: dict[str, int] = {}
    for text in texts:
        match = _SPEAKER.match(text)
        if match and len(match[1]) <= 24:
            counts[match[1]] = counts.get(match[1], 0) + 1
    turns = {name: count for name, count in counts.items() if count >= 2}
    if any(name.casefold() in LABELS or is_generic_heading(name) for name in turns):
        return set()
    if len(turns) >= 2 and sum(turns.values()) >= 0.6 * len(texts):
        return set(turns)
    return set()


def _candidates(lines: Sequence[str], passage: Passage, speakers: set[str]) -> Iterator[Candidate]:
    """The candidates of one passage: a turn of a dialogue (cut at MAX_READ_CHARS), a short item, or each sentence. A
    text that ends in a colon, as before a list, is left out, unless it states a decision itself: `Ann chose the ferry
    because:`. The decision is then read without what opens the list."""
    match = None
    if speakers:
        match = _SPEAKER.match(passage.text)
    if match and match[1] in speakers:
        text = passage.text[match.end() : MAX_READ_CHARS]
        yield Candidate(
            passage.first, text, passage.text, speaker=match[1], languages=languages_of(text), origin=passage.origin,
            last=passage.last,
        )  # fmt: skip
        return
    for part in _parts(lines, passage):
        text, label, period = part.text, "", ""
        opening = _PERIOD.match(text)
        if opening:
            period = opening[0].rstrip(" :：").lower()
            text = text[opening.end() :]
        if labelled := _labelled(text):
            label, text = labelled
        else:
            label = _label_of_phrase(text)
        text = without_addition(text)
        if before_list := _LIST_OPENING.search(text):
            text = text[: before_list.start()]
            is_labelled = bool(label) and LABELS[label][0] == "decision"
            if not is_labelled and not any(cue.pattern.search(text.lower()) for cue in _DECISIONS):
                continue
        text = _without_half_bold(text)
        statement = part.statement
        section_label = next((name for item in reversed(statement.trail) for name in _labels_in(item)), "")
        section_kind = ""
        if section_label:
            section_kind = LABELS[section_label][0] or "none"
        yield Candidate(
            part.first, text, part.text, label, period=period, languages=languages_of(text), origin=part.origin,
            last=part.last, topic=topic_of(statement, text), under=section_label, under_kind=section_kind,
            prose=part.text != passage.text, typed=statement.get("type"), reported=reports_work(statement),
            near=statement.above[-1:] + statement.parents[-1:],
            outer=statement.above[:-1] + statement.parents[:-1], things=things(statement),
        )  # fmt: skip


def _without_half_bold(text: str) -> str:
    """The text without the mark of a bold part whose other mark was cut off with a label or another sentence."""
    marks = list(_BOLD.finditer(_CODE.sub(lambda code: "`" * len(code[0]), text)))
    if len(marks) % 2 == 0:
        return text
    unpaired = marks[-1]
    if text[: marks[0].start()].rstrip() == text[: marks[0].start()] != "":  # the first mark closes
        unpaired = marks[0]
    return text[: unpaired.start()] + text[unpaired.end() :]


def _parts(lines: Sequence[str], passage: Passage) -> list[Passage]:
    """The parts of a passage that can be facts: a short item whole, unless a label is within it; else each sentence."""
    if passage.statement.form is Form.ITEM and len(passage.text) <= MAX_ITEM_CHARS:
        if not _INNER_COLON.search(passage.text):
            return [passage]
        parts = list(_in_sentences(lines, passage))
        if any(_labelled(part.text) for part in parts[1:]):
            return parts
        return [passage]
    return list(_in_sentences(lines, passage))


def _labelled(text: str) -> tuple[str, str] | None:
    """(label, rest) of a text that begins with one of LABELS; None for any other text, and when nothing follows the
    label."""
    match = _LABEL.match(text)
    if not match:
        return None
    name = " ".join((match["a"] or match["b"] or match["c"] or "").lower().split())
    rest = text[match.end() :]
    if name in LABELS and rest.strip():
        return (name, rest)
    return None


def _label_of_phrase(text: str) -> str:
    """The label in the words before the colon that a text begins with, which are no label themselves: the last of them
    (`New rule: ...`, `요금 규칙: ...`), or any if all of them name a kind of line (`Lesson learned: ...`). "" for none.
    The words stay in the text, since they say what it is about."""
    match = _LABEL_PHRASE.match(text)
    if not match:
        return ""
    words = match["words"].casefold()
    names = list(_labels_in(words))
    if any(LABELS[name][1] < 0 for name in names):  # `Decision pending: ...`
        return ""
    for name in (*names, words.split()[-1]):
        kind, weight = LABELS.get(name, ("", 0.0))
        if kind in _PHRASE_KINDS and weight >= MIN_PHRASE_WEIGHT:
            return name
    return ""


def _labels_in(heading: str) -> Iterator[str]:
    """The labels among the words of a generic heading or item, in singular or plural: `Key decisions`, `결정 사항`. The
    longest come first. None for a heading that names a thing (`is_generic_heading`)."""
    words = heading.casefold().strip(" *_:：").split()
    for size in range(min(3, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            name = " ".join(words[start : start + size]).strip("*_:：()[]")
            for form in (name, name.removesuffix("s"), f"{name.removesuffix('ies')}y", without_particle(name)):
                if form in LABELS and is_generic_heading(heading):
                    yield form


def _in_sentences(lines: Sequence[str], passage: Passage) -> Iterator[Passage]:
    """The sentences of a passage, each with its own lines. Only the first MAX_READ_CHARS characters are read; a
    sentence cut there is left out."""
    sizes = [_letter_count(_without_comment(line)) for line in lines[passage.first - 1 : passage.last]]
    parts = sentences(passage.text[:MAX_READ_CHARS])
    if len(passage.text) > MAX_READ_CHARS:
        parts = parts[:-1]  # the last one is cut
    end = sum(sizes) - _letter_count(passage.text)  # letters of the marker and the time before the text
    for part in parts:
        start, end = end, end + _letter_count(part)
        first_index, last_index = _line_at(sizes, start), _line_at(sizes, end - 1)
        yield passage._replace(first=passage.first + first_index, last=passage.first + last_index, text=part)


def _letter_count(text: str) -> int:
    """The number of characters without white space, in NFC."""
    return len("".join(unicodedata.normalize("NFC", text).split()))


def _line_at(sizes: Sequence[int], offset: int) -> int:
    """The index of the line that has the character at `offset`. `sizes`: the number of characters of each line."""
    for index, size in enumerate(sizes):
        if offset < size:
            return index
        offset -= size
    return len(sizes) - 1
