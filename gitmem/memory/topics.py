"""Compares the topics of two statements: one topic, two topics, or unknown (`compare_topics`). Pure.

The topic of a statement is the thing of its comment (ABOUT) with the thing before its first colon (`Billing: ...`),
else the last step of its trail that names a thing. So a heading, a comment and words before a colon are compared alike.
Headings that name no thing (`Decisions`, `오늘 한 일`), dates and titles of files are no topics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from gitmem.lazy_patterns import lazy
from gitmem.memory.sections import subject_steps
from gitmem.text.english import MONTHS, NOT_NAMES, WEEKDAYS
from gitmem.text.heading_words import GENERIC_WORDS, is_generic_heading, leading_topic
from gitmem.text.sentences import sentences

MIN_SHARED = 0.6  # share of a topic's words from which a statement names it: `Ferry Tern` and `Ferry Lark` differ
MAX_TOPIC_CHARS = 90  # characters of a heading or a parent item that can be a topic
STEM_LETTERS = 5  # first letters of two Latin words that may be forms of one word
MAX_CACHED_TOPICS = 1 << 13

# Words that say whose or which log it is, beside the word for a log: `Dev Log`, `개발 일지`.
_KIND_OF_LOG = lazy(
    r"\b(?:dev(?:elopment)?|engineering|personal|project|team|agent|coding)\s+(?=(?:log|journal|diary|notes?)\b)"
    r"|(?:개발|업무|프로젝트|팀|개인)\s*(?=(?:일지|일기|로그|노트|기록))",
    re.I,
)
# Words of a date in a title; its numbers are no words anyway.
_MONTH_NAMES = "|".join((*MONTHS, *(f"{name[:3]}t?" for name in MONTHS)))
_DATE_WORDS = lazy(
    rf"\b(?:{_MONTH_NAMES}|{'|'.join(name[:3] for name in WEEKDAYS)})\b\.?|(?<=\d)(?:st|nd|rd|th)\b"
    r"|(?<=\d)\s*(?:년|월|일|주차?)(?![가-힣])|[월화수목금토일]요일|[(（][월화수목금토일月火水木金土日][)）]"
    r"|(?<=\d)\s*[年月日号號周週]|[月火水木金土日]曜日?|(?:星期|周|週)[一二三四五六日天]|第(?=\s*\d)",
    re.I,
)
# A numbered step or problem: the number orders the log, and what stands behind it is what was done.
_NUMBERED_STEP = lazy(
    r"(?:step|phase|stage|problem|issue|bug|fix|task)\s*[#№]?\s*\d+[a-z]?\b(?=\W*$|\s*[-–—:.)])"
    r"|\d+\s*(?:단계|번째)(?=\W*$|\s*[-–—:：.)])|(?:단계|문제|이슈|버그)\s*\d+\b|(?:手順|ステップ|段階|問題|步骤|阶段|问题)\s*\d+|第\s*\d+\s*[步阶段]",
    re.I,
)
_DAY = lazy(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}")
# A box, signs, and a number or letter that orders: `3.`, `(2)`, `B)`, `나.`.
_MARKS = lazy(
    r"^(?:(?:\[[ xX]\]\s*)?[^\w\[(「『【<`\"'“‘@#$&]+)?"
    r"(?:(?:\d{1,3}[.)]|\((?:\d{1,3}|[A-Za-z가나다라마바사아자차카타파하])\)|[A-Za-z]\)|[가나다라마바사아자차카타파하][.)])\s+)?"
)
_TRAILING = lazy(r"[\s:：;,.。、*_~\-–—]+$")
_EMPHASIS = lazy(r"\*\*|__|~~|(?<!\w)\*|\*(?!\w)")
_LINK = lazy(r"\[([^\]]+)\]\([^)]*\)")
# A part of a heading before a dash or colon, or in brackets at its end: it may say when.
_OPENING_PART = lazy(r"^(?P<part>[^—–:：]{1,40}?)(?:\s+[-–—]\s+|\s*[:：]\s+)(?=\S)")
_CLOSING_PART = lazy(r"(?<=\S)\s*[(（](?P<part>[^()（）]{1,40})[)）]$")
# Words of the title of a memory file: the first heading `Acme memory` names the file, not the topic of a fact.
_FILE_TITLE = lazy(
    r"\b(?:memory|memories|notes?|notebook|log)\b|메모리|기억|노트|메모|기록|メモ|記録|记忆|笔记|记录", re.I
)
_WORD = lazy(r"[^\W_]+")
_WIDE_LETTER = lazy("[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3]")


class TopicMatch(StrEnum):
    """How the topic of a later statement compares with that of an earlier one.

    `SAME`: the earlier statement names the topic of the later one. `RELATED`: they have words in common, but the
    later topic may be narrower or another one (`Falcon`, then `Falcon API`). `ANOTHER`: neither statement names the
    topic of the other, or two topics with a common word have one each that the other statement lacks (`Fleet north
    base`, `Fleet south base`). `UNKNOWN`: one of them has no topic.
    """

    SAME = "same"
    RELATED = "related"
    ANOTHER = "another"
    UNKNOWN = "unknown"


class Topic(NamedTuple):
    """The topic of a statement. `name`: its words, "" for none. `context`: the text in which the statement may name the
    topic of another one: its trail, and its text or, if the text begins with a topic, this topic."""

    name: str
    context: str


@lru_cache(MAX_CACHED_TOPICS)
def statement_topic(text: str, trail: tuple[str, ...] = (), about: str = "") -> Topic:
    """The topic of a statement. `about`: the value of ABOUT in its comment; it may be in `trail` too.

    A text that begins with a topic names no other topic: the words behind its colon are not searched for one.
    """
    leading = leading_topic(text)
    steps = _topic_steps(trail)
    name = ", ".join(filter(None, (about, leading)))
    if not name and steps:
        name = steps[-1]
    return Topic(name, "\n".join((about, leading or text, *steps)))


def compare_topics(earlier: Topic, later: Topic) -> TopicMatch:
    """Compare the topics of two statements. The order of the two matters only between SAME and RELATED."""
    if not _words(earlier.name) or not _words(later.name):
        return TopicMatch.UNKNOWN
    if are_siblings(earlier, later):
        return TopicMatch.ANOTHER
    if _names(earlier.context, later.name):
        return TopicMatch.SAME
    if _may_name(earlier.context, later.name) or _may_name(later.context, earlier.name):
        return TopicMatch.RELATED
    return TopicMatch.ANOTHER


def may_be_one_topic(first: Topic, second: Topic) -> bool:
    """Whether a statement may stand for the other one: a topic is unknown, or one statement names the topic of the
    other word for word. False for topics that are only RELATED by forms of a word (`order`, `orders`)."""
    matches = {compare_topics(first, second), compare_topics(second, first)}
    return not matches.isdisjoint((TopicMatch.SAME, TopicMatch.UNKNOWN))


def as_topic(text: str) -> str:
    """A heading or an item as a topic, without the parts at its ends that only say when. "" when it names no thing, is
    a numbered step, is too long or is a sentence."""
    topic = _LINK.sub(r"\1", _EMPHASIS.sub("", text))
    topic = _TRAILING.sub("", _MARKS.sub("", topic.strip())).strip()
    if _names_nothing(topic) or _NUMBERED_STEP.match(topic):
        return ""
    for pattern in (_OPENING_PART, _CLOSING_PART):
        match = pattern.search(topic)
        if match and any(map(str.isdigit, match["part"])) and _names_nothing(match["part"]):
            topic = topic[: match.start()] + topic[match.end() :]
    if len(topic) > MAX_TOPIC_CHARS or topic.endswith(("!", "?", "！", "？")) or len(sentences(topic)) > 1:
        return ""
    return topic


def _names_nothing(text: str) -> bool:
    """Whether a text names a kind of line, a day, a time or a log only."""
    return is_generic_heading(_DATE_WORDS.sub(" ", _KIND_OF_LOG.sub("", text)))


def _topic_steps(trail: tuple[str, ...]) -> list[str]:
    """The steps of a trail that are topics, without the header row of a table.

    The first of several steps is left out: it is the title of the file in most, and names what all statements of the
    file are about. A single one is left out if it is such a title (`Acme memory`).
    """
    if len(trail) > 1 or any(map(_FILE_TITLE.search, trail)):
        trail = trail[1:]
    return list(filter(None, [as_topic(step) for step in subject_steps(trail) if " | " not in step]))


def _names(context: str, topic: str) -> bool:
    """Whether a text has more than MIN_SHARED of the words of a topic as they are. Longer words of Hangul, Kana and Han
    count more, since they may be several words."""
    topic_words, context_words, squeezed = _words(topic), frozenset(_words(context)), _squeezed(context)
    named = [
        word for word in topic_words if word in context_words or (_is_wide(word) and len(word) > 1 and word in squeezed)
    ]
    return len(named) > MIN_SHARED * len(topic_words) and _weight(named) > MIN_SHARED * _weight(topic_words)


def _may_name(context: str, topic: str) -> bool:
    """Whether a text has more than MIN_SHARED of the telling words of a topic, in any form."""
    telling_words, squeezed = _telling_words(topic), _squeezed(context)
    stems = {_stem(word) for word in _words(context)}
    named = [word for word in telling_words if _stem(word) in stems or (_is_wide(word) and word in squeezed)]
    return len(named) > MIN_SHARED * len(telling_words)


def are_siblings(first: Topic, second: Topic) -> bool:
    """Whether two topics have a word in common, and each has a telling word that the other statement lacks in any form,
    as `project falcon` and `project eagle`. Days are no such words."""
    first_stems, second_stems = ([*map(_stem, _telling_words(_DAY.sub(" ", topic.name)))] for topic in (first, second))
    if set(first_stems).isdisjoint(second_stems):
        return False
    return _lacks_one(second.context, first_stems) and _lacks_one(first.context, second_stems)


def _lacks_one(context: str, stems: Iterable[str]) -> bool:
    """Whether a text lacks one of the words, given by their stems."""
    squeezed, context_stems = _squeezed(context), {_stem(word) for word in _words(context)}
    return any(stem not in context_stems and not (_is_wide(stem) and stem in squeezed) for stem in stems)


def _words(text: str) -> list[str]:
    """The words and numbers of a text in lower case, each once."""
    return list(dict.fromkeys(_WORD.findall(text.casefold())))


def _telling_words(topic: str) -> list[str]:
    """The words of a topic that can tell it from another one; all its words if none can."""
    words = _words(topic)
    return [word for word in words if word not in GENERIC_WORDS and word not in NOT_NAMES] or words


def _squeezed(text: str) -> str:
    """A text in lower case without white space: `결제 팀` and `결제팀` are one word."""
    return "".join(text.casefold().split())


def _stem(word: str) -> str:
    return word[:STEM_LETTERS] if word.isascii() and word.isalpha() else word


def _is_wide(word: str) -> bool:
    """Whether a word has Hangul, Kana or Han."""
    return _WIDE_LETTER.search(word) is not None


def _weight(words: Iterable[str]) -> int:
    """The number of words; a word of Hangul, Kana or Han counts as its pairs of letters."""
    return sum(max(1, len(word) - 1) if _is_wide(word) else 1 for word in words)
