"""What a statement of a log is about, as a fact of MEMORY.md has to say it: `Bakery: we decided to close on Mondays`.

Pure. In its log a statement is read under its headings and its parent items; alone it has to begin with what they say,
where it does not say so itself. Headings that name no thing (`Decisions`, `Notes`, `오늘 한 일`) are never a topic.
"""

from __future__ import annotations

import re

from gitmem.memory.similarity import terms
from gitmem.memory.statements import Statement
from gitmem.text.english import NOT_NAMES
from gitmem.text.heading_words import KINDS_OF_LINE, names_no_thing
from gitmem.text.names import is_identifier, name_words

LONGEST_TOPIC = 90  # characters of a heading or a parent item that can stand in front of a fact
LONGEST_TOGETHER = 60  # characters of a heading and a parent item that stand there both
MIN_TOPIC_SHARE = 0.5  # share of a topic's words from which a text says the topic itself

# Words of headings under which work is reported. Of 239 judged lines of agents' logs under such 13 were worth keeping,
# of 695 others 127.
_REPORTS = re.compile(
    r"\b(?:status|checks?|blockers?|notifications?|stats|progress|created|modified|commits?|delivered|completed?|done|next"
    r"|todo|pending|actions?|timeline|phase|milestone|steps?|ideas?|questions?|suggestions?|proposed|research"
    r"|erledigt|nächste|offene\s+punkte|erstellte?|stand|nästa|skapade?)\b"
    r"|상태|진행|시도|다음|완료|현황|進捗|次回|予定|状況|ステータス|完了|实施|状态|进展|下一步|待办|完成",
    re.I,
)
_MARKS = re.compile(r"^(?:\[[ xX]\]\s*)?[^\w\[(「『【<`\"'“‘@#$&]+|^\d{1,3}[.)]\s+")
_TRAILING = re.compile(r"[\s:：;,.。、*_~\-–—]+$")
_EMPHASIS = re.compile(r"\*\*|__|~~|(?<!\w)\*|\*(?!\w)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_SENTENCE_END = re.compile(r"[.!?。！？](?:\s|$)")


def topic_of(statement: Statement, text: str) -> str:
    """What has to stand in front of `text`, a text of the statement, for it to say what it is about; "" for nothing.

    A parent item, or a heading that is a thing's own, stands there unless the text says it. A heading with a time is
    an occasion: it stands there only where there is no parent item and the text has no name of its own.
    """
    parent = next((topic for item in reversed(statement.parents) if (topic := _as_topic(item))), "")
    headings = [topic for heading in statement.above if (topic := _as_topic(heading))]
    heading = ""
    if headings:
        heading = headings[-1]
    if statement.time and (parent or _has_name(text)):
        heading = ""
    if heading and parent and (_says(parent, heading) or len(heading) + len(parent) > LONGEST_TOGETHER):
        heading = ""
    return ", ".join(topic for topic in (heading, parent) if topic and not _says(text, topic))


def reports_work(statement: Statement) -> bool:
    """Whether a statement stands under a heading or an item of reports: what was done, how things stand, what comes
    next. One with a time is an occasion."""
    heading = () if statement.time else statement.above[-1:]
    return any(map(_REPORTS.search, (*heading, *statement.parents[-1:])))


def _as_topic(text: str) -> str:
    """A heading or an item as a topic; "" when it names no thing, is too long or is a sentence."""
    bare = _LINK.sub(r"\1", _EMPHASIS.sub("", text))
    bare = _TRAILING.sub("", _MARKS.sub("", bare.strip())).strip()
    if names_no_thing(bare) or len(bare) > LONGEST_TOPIC or _SENTENCE_END.search(bare):
        return ""
    return bare


def _says(text: str, topic: str) -> bool:
    """Whether a text holds the topic's words itself, most of them."""
    own = {term[:5] if term.isascii() else term for term in terms(topic)} - KINDS_OF_LINE - NOT_NAMES
    there = {term[:5] if term.isascii() else term for term in terms(text)}
    return not own or len(own & there) > MIN_TOPIC_SHARE * len(own)


def _has_name(text: str) -> bool:
    """Whether a text has a Latin name or an identifier of its own, behind its first word."""
    return any(
        is_identifier(word) or (at > 0 and word[:1].isupper() and word.casefold() not in NOT_NAMES and word != "I")
        for at, word in name_words(text)
    )
