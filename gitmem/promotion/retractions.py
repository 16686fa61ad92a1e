"""Finds lines and facts that a later line retracts ("scratch that", "we use X instead"). Part of the `rules` model.

Pure. A line retracts an earlier one, in its own log or in an earlier log, when it has words of retraction and shares
enough content words with it, unless the two are about two topics (`memory/topics`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gitmem.memory.deciding_words import without_deciding_words
from gitmem.memory.fact import ABOUT, Fact
from gitmem.memory.topics import Topic, may_be_one_topic, statement_topic
from gitmem.promotion.cues import THRESHOLD, CueResult
from gitmem.promotion.lexicon import chinese, english, japanese, korean
from gitmem.promotion.log_lines import Candidate
from gitmem.promotion.proposal import Log
from gitmem.text.heading_words import leading_topic
from gitmem.text.languages import LANGUAGES
from gitmem.text.terms import without_particle

RETRACTABLE = frozenset(("decision", "rule", "deadline", "constraint", "goal"))  # kinds that can be retracted
MAX_LINES_OF_WORD = 40  # lines with a word from which it is too common to find retracted lines by
MIN_FACT_SHARE = 0.25  # share of the content words of both texts that a line and the fact it retracts have in common
MIN_SHARED = 0.34  # share of the content words of the shorter line that two lines of one topic have in common
# Words for a whole decision: `the LaunchDarkly decision is cancelled`.
_A_DECISION = re.compile(r"\bdecisions?\b|\bplans?\b|결정|계획|決定|方針|决定|計画|计划", re.I)
# Words before the value that a line replaces: the line then has every other word of the line that it retracts.
_IN_PLACE = re.compile(
    r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of|not)\b|대신|말고|아니라|代わりに|ではなく|而不是|不再", re.I
)

_VERBS = frozenset(("use", "uses", "go", "goes", "run", "runs", "keep", "keeps", "take", "takes"))  # any decision
STEM = 3  # first letters that make two words the same word here: `use`, `uses`
_LEXICONS = (english, korean, japanese, chinese)
_WORD = re.compile(
    r"[A-Za-z][A-Za-z0-9_+#.-]*[A-Za-z0-9+#]|[가-힣]{2,}|[ァ-ヶー]{2,}|[\u3400-\u9fff]{2,}|\d[\d.,:/-]*\d|\d"
)
_STOP: frozenset[str] = frozenset().union(*(each.DECISION_FILLERS for each in LANGUAGES))


@dataclass(frozen=True, slots=True)
class ScoredLine:
    """A candidate line with its cues and score. `retracted`: where it is retracted, such as "on line 3"; "" when it is
    not."""

    line: Candidate
    result: CueResult
    retracted: str = ""

    @property
    def keep(self) -> bool:
        """Whether the line is worth proposing: its score reaches THRESHOLD and no later line retracts it."""
        return self.result.score >= THRESHOLD and not self.retracted

    @property
    def is_retractable(self) -> bool:
        """Whether the line is worth proposing and of a kind that can be retracted."""
        return self.keep and self.result.kind in RETRACTABLE


@lru_cache(maxsize=1 << 16)
def content_words(text: str) -> frozenset[str]:
    """The content words of a text in lower case, without Korean particles. Han text, which has no spaces, gives pairs
    of characters."""
    content = set()
    for word in _WORD.findall(text):
        word = word.lower()
        if "\u3400" <= word[0] <= "\u9fff":
            content |= {word[start : start + 2] for start in range(len(word) - 1)} - _STOP
            continue
        if "가" <= word[-1] <= "힣" and len(word) > 2:
            word = without_particle(word)
        if word not in _STOP and (len(word) > 1 or word.isdigit()):
            content.add(word)
    return frozenset(content)


def mark_retracted(scored: Sequence[ScoredLine]) -> list[ScoredLine]:
    """The lines of one log, with `retracted` set for those that a later line retracts, as `오후: B로 간다` does
    `오전: A로 결정`. When a retracted decision is made again further down, the line that retracted it is retracted."""
    result = list(scored)
    retracted_by: dict[str, int] = {}  # claim of a retracted line -> index of the line that retracted it
    for later, item in enumerate(scored):
        retractor = None
        if item.is_retractable:
            retractor = retracted_by.pop(_claim_key(item), None)
        if retractor is not None and result[retractor].is_retractable:
            result[retractor] = replace(scored[retractor], retracted=_on_line(item))
        strength = retraction_strength(item.line)
        if not strength or (strength == 1 and not item.keep):
            continue
        topic = content_words(item.line.text)
        for earlier in range(later):
            old = scored[earlier]
            if result[earlier].retracted or not old.is_retractable:
                continue
            if not may_be_one_topic(_line_topic(old.line), _line_topic(item.line)):
                continue
            words = content_words(old.line.text)
            shared = words & topic
            # A bare "scratch that" is about the line before it; any other line says what it is about.
            is_next = later - earlier == 1 and is_bare(item.line) and old.result.kind == "decision"
            is_paired = bool(old.line.period and item.line.period and shared) and item.keep
            needed: float = 1
            if strength == 1:
                needed = max(2, MIN_SHARED * min(len(words), len(topic)))
            if is_next or ((is_paired or len(shared) >= needed) and covers_matter(item.line, topic, words, strength)):
                result[earlier] = replace(old, retracted=_on_line(item))
                retracted_by[_claim_key(old)] = later
    return result


def _line_topic(line: Candidate) -> Topic:
    """The topic of a line: all things of its trail, or the thing before its own first colon."""
    leading = leading_topic(line.text)
    return Topic(", ".join(line.things) or leading, "\n".join((leading or line.text, *line.things)))


def _on_line(item: ScoredLine) -> str:
    """`ScoredLine.retracted` for a line that `item` of the same log retracts."""
    return f"on line {item.line.number}"


def _claim_key(item: ScoredLine) -> str:
    """A key that is equal for lines that make the same claim."""
    return " ".join(without_deciding_words(item.line.text).casefold().split()).rstrip(".。")


def covers_matter(line: Candidate, topic: frozenset[str], words: frozenset[str], strength: int) -> bool:
    """Whether the retracting `line`, with the words `topic`, is about the matter of a line with these `words`: `the
    design team uses Linear instead of Jira` does not retract the mobile team's Jira.

    The line may lack one word of `words`, the replaced value, and none when it names that value (`instead of Jira`). A
    line that only retracts, or that names the decision, may lack more. `strength`: its `retraction_strength`.
    """
    stems = {word[:STEM] for word in topic}
    missing = {word for word in words if word[:STEM] not in stems and word not in _VERBS and not word.endswith("다")}
    if _IN_PLACE.search(line.whole) and words & topic:
        return not missing
    if strength == 2:
        pairs = sum("\u3400" <= word[0] <= "\u9fff" for word in words)  # a missing word of Han is in three pairs
        return (
            len(missing) <= max(1, MIN_SHARED * 2 * pairs)
            or _A_DECISION.search(line.whole) is not None
            or len(topic) <= len(words & topic) + 1
        )
    return len(missing) <= 1 or len(missing) * 2 <= len(words)


def is_bare(line: Candidate) -> bool:
    """Whether a line retracts and has at most one content word besides the words of retraction: `Scratch that.`, `다시
    생각해 보니 취소`."""
    text = line.whole.lower()
    for lexicon in _LEXICONS:
        text = lexicon.RETRACTION.pattern.sub(" ", text)
    return retraction_strength(line) == 2 and len(content_words(text)) <= 1


def retraction_strength(line: Candidate) -> int:
    """2 when a line has words that only retractions have, 1 for words that retractions often have, else 0."""
    text = line.whole.lower()
    if any(lexicon.RETRACTION.pattern.search(text) for lexicon in _LEXICONS):
        return 2
    if any(lexicon.WEAK_RETRACTION.pattern.search(text) for lexicon in _LEXICONS):
        return 1
    return 0


def mark_retracted_in_earlier_logs(logs: Sequence[Log], scored: Sequence[list[ScoredLine]]) -> list[list[ScoredLine]]:
    """The lines of each log, with `retracted` set for those that a line of a later log retracts. When a retracted
    decision is made again in a later log, the line that retracted it is retracted. `logs`: in the order of days;
    `scored`: the lines of each, after `mark_retracted`."""
    result = [list(notes) for notes in scored]
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)  # word -> (log, line) of retractable lines with it
    retracted_by: dict[str, tuple[int, int]] = {}  # claim of a retracted line -> (log, line) that retracted it
    for number, (log, notes) in enumerate(zip(logs, scored, strict=True)):
        for row, item in enumerate(notes):
            retracted_by_line = f"by {log.path} line {item.line.number}"
            if item.is_retractable:  # a retracted decision is made again: its retraction is retracted
                old_log, index = retracted_by.pop(_claim_key(item), (number, -1))
                if old_log < number and result[old_log][index].is_retractable:
                    result[old_log][index] = replace(result[old_log][index], retracted=retracted_by_line)
            strength = retraction_strength(item.line)
            if strength == 0 or not (item.keep or strength == 2):
                continue
            topic = content_words(item.line.text)
            votes = Counter(place for word in topic if len(places[word]) <= MAX_LINES_OF_WORD for place in places[word])
            for (old_log, index), shared in votes.items():
                old = result[old_log][index]
                words = content_words(old.line.text)
                is_same = same_topic(shared, topic, words, strength) or _retracts_whole(item, topic, words)
                if (
                    old.keep
                    and is_same
                    and may_be_one_topic(_line_topic(old.line), _line_topic(item.line))
                    and covers_matter(item.line, topic, content_words(without_deciding_words(old.line.text)), strength)
                ):
                    result[old_log][index] = replace(old, retracted=retracted_by_line)
                    retracted_by[_claim_key(old)] = (number, row)
        row_of: dict[str, int] = {}  # `retracted` of the lines that a line of this log retracts -> row of that line
        for row, item in enumerate(notes):
            row_of.setdefault(_on_line(item), row)
        for item in notes:
            retractor = row_of.get(item.retracted)
            if retractor is not None:
                retracted_by[_claim_key(item)] = (number, retractor)
        for row, item in enumerate(result[number]):
            if item.is_retractable:
                for word in content_words(item.line.text):
                    places[word].append((number, row))
    return result


def _retracts_whole(item: ScoredLine, topic: frozenset[str], words: frozenset[str]) -> bool:
    """Whether a line has words that only retractions have, is not worth keeping itself, and either names a decision or
    plan or has all words of the earlier line. `topic`: content words of the line. `words`: those of the earlier
    line."""
    only_retracts = not item.keep and retraction_strength(item.line) == 2
    return only_retracts and (words <= topic or _A_DECISION.search(item.line.whole) is not None)


def retracted_fact(item: ScoredLine, existing: Sequence[Fact]) -> str:
    """The id of the fact of `existing` that the line retracts, the one with most shared words. "" for none, and for a
    line without words of retraction. A fact without a type counts as a decision; other types than RETRACTABLE are left
    out."""
    strength = retraction_strength(item.line)
    if strength == 0:
        return ""
    topic = content_words(item.line.text)
    best, best_fact = 0, ""
    for fact in existing:
        if fact.get("type", "decision") not in RETRACTABLE:
            continue
        fact_words = content_words(fact.text)
        shared = len(topic & fact_words)
        is_enough = shared >= MIN_FACT_SHARE * len(topic | fact_words)
        fact_topic = statement_topic(fact.text, fact.trail, fact.get(ABOUT))
        if (
            shared > best
            and is_enough
            and same_topic(shared, topic, fact_words, strength)
            and may_be_one_topic(fact_topic, _line_topic(item.line))
        ):
            best, best_fact = shared, fact.id
    return best_fact


def same_topic(shared: int, words: frozenset[str], other_words: frozenset[str], strength: int) -> bool:
    """Whether a retracting line and another one share enough words to be about one topic. `shared`: their number;
    `words`, `other_words`: the words of both. They must share two words (three for a retraction of strength 1) and
    MIN_SHARED of the shorter one's words.

    Not `is_near_duplicate` of memory/similarity.py: a retracting line often names the other in two words of twenty.
    """
    return shared >= (2 if strength == 2 else 3) and shared >= MIN_SHARED * min(len(words), len(other_words))
