"""The topic that a statement of a log needs as a fact of MEMORY.md: `Bakery: we decided to close on Mondays`. Pure.

In its log a statement is read below its headings and parent items. As a fact it stands alone, so that their words are
put before it unless it has them. Headings that name no thing (`Decisions`, `Notes`, `오늘 한 일`) are never a topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gitmem.memory.similarity import terms
from gitmem.memory.statements import Statement
from gitmem.memory.topics import as_topic
from gitmem.text.english import NOT_NAMES
from gitmem.text.heading_words import GENERIC_WORDS
from gitmem.text.names import is_identifier, name_words

MAX_BOTH_CHARS = 60  # characters of a heading and a parent item together; beyond them the item alone is the topic
MAX_TIMED_WORDS = 4  # words of a heading with a time that names a thing; longer ones tell what happened
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


def topic_of(statement: Statement, text: str) -> str:
    """The topic to put before `text`, a text of the statement; "" for none.

    It is the nearest heading and the nearest parent item that name a thing, without those whose words `text` has. A
    heading with a time is an occasion; it counts only when there is no parent item and `text` has no name.
    """
    parent = next((topic for item in reversed(statement.parents) if (topic := as_topic(item))), "")
    headings = [topic for heading in statement.above if (topic := as_topic(heading))]
    heading = ""
    if headings:
        heading = headings[-1]
    if statement.time and (parent or _has_name(text)):
        heading = ""
    if heading and parent and (has_topic(parent, heading) or len(heading) + len(parent) > MAX_BOTH_CHARS):
        heading = ""
    return ", ".join(topic for topic in (heading, parent) if topic and not has_topic(text, topic))


def timed_topic(statement: Statement, text: str) -> str:
    """The nearest heading with a topic, at most MAX_TIMED_WORDS words, of a statement below a heading with a time; ""
    for any other statement, and if `text` has the topic's words."""
    topics = [topic for heading in statement.above if (topic := as_topic(heading))]
    if not statement.time or not topics:
        return ""
    topic = topics[-1]
    if len(topic.split()) > MAX_TIMED_WORDS or has_topic(text, topic):
        return ""
    return topic


def timed_topics(document: Iterable[Statement]) -> dict[int, str]:
    """Line number -> the `timed_topic` of the statement in that line, whatever its text; lines without one are left
    out."""
    found: dict[int, str] = {}
    for statement in document:
        if statement.has_content and (topic := timed_topic(statement, "")):
            found |= dict.fromkeys(range(statement.first, statement.last + 1), topic)
    return found


def reports_work(statement: Statement) -> bool:
    """Whether the nearest heading (without a time) or parent item is one of reports: work done, status, next steps."""
    above = list(statement.parents[-1:])
    if not statement.time:
        above += statement.above[-1:]
    return any(map(_REPORTS.search, above))


def has_topic(text: str, topic: str) -> bool:
    """Whether a text has more than MIN_TOPIC_SHARE of the words of a topic."""
    own = _stems(topic) - GENERIC_WORDS - NOT_NAMES
    return not own or len(own & _stems(text)) > MIN_TOPIC_SHARE * len(own)


def _stems(text: str) -> set[str]:
    return {term[:5] if term.isascii() else term for term in terms(text)}


def _has_name(text: str) -> bool:
    """Whether a text has an identifier, or a capitalised Latin word that is not its first."""
    return any(
        is_identifier(word) or (offset > 0 and word[:1].isupper() and word.casefold() not in NOT_NAMES and word != "I")
        for offset, word in name_words(text)
    )
