"""The topic that a statement of a log needs as a fact of MEMORY.md: `Bakery: we decided to close on Mondays`. Pure.

In its log a statement is read below its headings and parent items. As a fact it stands alone, so that their words are
put before it unless it has them. The steps for which the text has no room go to its comment (`about_topic`). Headings
that name no thing (`Decisions`, `Notes`, `오늘 한 일`) are never a topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gitmem.memory.similarity import terms
from gitmem.memory.statements import Statement
from gitmem.memory.topics import as_topic
from gitmem.text.english import NOT_NAMES
from gitmem.text.heading_words import GENERIC_WORDS, begins_with_generic_label, leading_topic
from gitmem.text.names import is_identifier, name_words

MAX_BOTH_CHARS = 60  # characters of a heading and a parent item together; beyond them the item alone is the topic
MAX_THING_WORDS = 4  # words of a heading with a time that names a thing; longer ones tell what happened
MAX_OUTER_WORDS = 7  # words of any other heading or item that names a thing
MAX_ABOUT_CHARS = 60  # characters of the topic in a fact's comment, beyond the nearest step
MIN_TOPIC_SHARE = 0.5  # share of a topic's words from which a text has the topic itself

# Words of headings of reports. Of 239 judged lines of agents' logs below such headings 13 were worth keeping, of 695
# other lines 127.
_REPORTS = re.compile(
    r"\b(?:status|checks?|blockers?|notifications?|stats|progress|created|modified|commits?|delivered|completed?|done|next"
    r"|todo|pending|actions?|timeline|phase|milestone|steps?|ideas?|questions?|suggestions?|proposed|research"
    r"|erledigt|nächste|offene\s+punkte|erstellte?|stand|nästa|skapade?)\b"
    r"|상태|진행|시도|다음|완료|현황|進捗|次回|予定|状況|ステータス|完了|实施|状态|进展|下一步|待办|完成",
    re.I,
)

# Words of a heading that names an occasion and no thing.
_OCCASIONS = re.compile(r"\bsessions?\b|\bhand-?over\b|세션|사항", re.I)  # and particulars (`권장사항`)
_LETTERS = re.compile(r"[^\W_]+")
_ASIDE = re.compile(r"[(（\[][^)）\]]*[)）\]]")  # `Orders (2)`
# A day or an hour in a heading: it says when something was written, and names no thing.
_DAY_OR_HOUR = re.compile(
    r"\d{4}[-/.]\d{1,2}|\b\d{1,2}/\d{1,2}\b|\d{1,2}:\d\d|\d\s*[년월일年月日時时시분]|\d(?:am|pm)\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d",
    re.I,
)


def topic_of(statement: Statement, text: str) -> str:
    """The topic to put before `text`, a text of the statement; "" for none.

    It is the nearest heading and the nearest parent item that name a thing, without those whose words `text` has. A
    heading with a time is an occasion; it counts only when there is no parent item and `text` has no name, or begins
    with the label of a kind of line (`Fix: ...`): such a line is about what its heading names. Outer steps
    that name a thing (`things`) come before it, the nearest first, while the whole is still read as a topic
    (`leading_topic`); the others are part of `about_topic`.
    """
    parents = list(filter(None, map(as_topic, statement.parents)))
    parent = parents[-1] if parents else ""
    headings = list(filter(None, map(as_topic, statement.above)))
    heading = ""
    is_occasion = bool(statement.time and (parent or (not begins_with_generic_label(text) and _has_name(text))))
    if headings and not is_occasion:
        heading = headings[-1]
    if heading and parent and (has_topic(parent, heading) or len(heading) + len(parent) > MAX_BOTH_CHARS):
        heading = ""
    nearest_steps = [topic for topic in (heading, parent) if topic and not has_topic(text, topic)]
    if not nearest_steps:
        return ""
    steps = things(statement)
    if is_occasion:
        steps = things(statement._replace(above=()))
    return _with_outer_steps(nearest_steps, steps, text)


def _with_outer_steps(nearest_steps: list[str], outer_steps: tuple[str, ...], text: str) -> str:
    """The topic of `nearest_steps`, with those of `outer_steps` before it that it and `text` lack, while they fit."""
    order = {step: position for position, step in enumerate(outer_steps)}
    chosen = nearest_steps
    for step in reversed(outer_steps):
        if has_topic("\n".join((text, *chosen)), step):
            continue
        # A nearest step that is no thing is one of the two nearest, which come last.
        longer_topic = sorted((*chosen, step), key=lambda name: order.get(name, len(order)))
        if leading_topic(f"{', '.join(longer_topic)}: {text}") != ", ".join(longer_topic):
            break
        chosen = longer_topic
    return ", ".join(chosen)


def things(statement: Statement) -> tuple[str, ...]:
    """The steps of a statement's trail that name a thing, from the outermost in. Left out are steps of more than
    MAX_OUTER_WORDS words (below a heading with a time: headings of more than MAX_THING_WORDS), with a date or a time,
    and kinds of lines and occasions (`Morning session`, `배포 완료`)."""
    max_heading_words = MAX_OUTER_WORDS
    if statement.time:
        max_heading_words = MAX_THING_WORDS
    headings = map(as_topic, statement.above)
    short_headings = [heading for heading in headings if len(heading.split()) <= max_heading_words]
    topics = (*short_headings, *map(as_topic, statement.parents))
    return tuple(dict.fromkeys(topic for topic in topics if topic and _names_thing(topic)))


def _names_thing(topic: str) -> bool:
    words = _LETTERS.findall(_ASIDE.sub(" ", topic).casefold())
    if not words or len(topic.split()) > MAX_OUTER_WORDS:
        return False
    if any(pattern.search(topic) for pattern in (_DAY_OR_HOUR, _REPORTS, _OCCASIONS)):
        return False
    return words[-1] not in GENERIC_WORDS


def about_topic(statement: Statement, text: str) -> str:
    """The value of ABOUT for a fact with `text`, which rests on the statement: the `things` that `text` lacks, and
    below a heading with a time its nearest heading of at most MAX_THING_WORDS words; "" for none. Outer steps that
    make it longer than MAX_ABOUT_CHARS are left out."""
    steps = things(statement)
    headings = list(filter(None, map(as_topic, statement.above)))
    if statement.time and headings and len(headings[-1].split()) <= MAX_THING_WORDS:
        parents = things(statement._replace(above=()))
        outer = things(statement._replace(parents=()))
        steps = tuple(dict.fromkeys((*outer, headings[-1], *parents)))
    about = ""
    for step in reversed(steps):
        if has_topic(f"{text}\n{about}", step):
            continue
        longer = ", ".join(filter(None, (step, about)))
        if about and len(longer) > MAX_ABOUT_CHARS:
            break
        about = longer
    return about


def about_topics(document: Iterable[Statement]) -> dict[int, str]:
    """Line number -> the topic (`about_topic`) of the statement in that line, whatever its text; lines without one are
    left out."""
    topics: dict[int, str] = {}
    for statement in document:
        if statement.has_content and (topic := about_topic(statement, "")):
            topics |= dict.fromkeys(range(statement.first, statement.last + 1), topic)
    return topics


def reports_work(statement: Statement) -> bool:
    """Whether the nearest heading (without a time) or parent item is one of reports: work done, status, next steps."""
    nearest_steps = list(statement.parents[-1:])
    if not statement.time:
        nearest_steps += statement.above[-1:]
    return any(map(_REPORTS.search, nearest_steps))


def has_topic(text: str, topic: str) -> bool:
    """Whether a text has more than MIN_TOPIC_SHARE of the telling words of a topic; True for a topic without such
    words."""
    topic_stems = _stems(topic) - GENERIC_WORDS - NOT_NAMES
    return not topic_stems or len(topic_stems & _stems(text)) > MIN_TOPIC_SHARE * len(topic_stems)


def _stems(text: str) -> set[str]:
    return {term[:5] if term.isascii() else term for term in terms(text)}


def _has_name(text: str) -> bool:
    """Whether a text has an identifier, or a capitalised Latin word that is not its first."""
    return any(
        is_identifier(word) or (offset > 0 and word[:1].isupper() and word.casefold() not in NOT_NAMES and word != "I")
        for offset, word in name_words(text)
    )
