"""Lines that a later line takes back: in the same log, in a later one, or a fact of memory. Part of the `rules` model.

Pure. A line retracts another when it uses words of retraction and is about the same topic: they share content words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gitmem.memory.deciding_words import claim
from gitmem.memory.fact import Fact
from gitmem.promotion.cues import THRESHOLD, CueResult
from gitmem.promotion.lexicon import chinese, english, japanese, korean
from gitmem.promotion.log_lines import Candidate
from gitmem.promotion.proposal import Log
from gitmem.text.languages import LANGUAGES
from gitmem.text.terms import without_particle

RETRACTABLE = frozenset(("decision", "rule", "deadline", "constraint", "goal"))  # kinds that can be taken back
COMMON = 40  # lines a word may stand in and still tell which topic a later line is about
MATTER = 0.25  # share of both texts' content words from which a line can take a fact of memory back
ABOUT = 0.34  # share of the shorter line's content words that both must hold
# What a line names that it takes back whole: `the LaunchDarkly decision is cancelled`.
_A_DECISION = re.compile(r"\bdecisions?\b|\bplans?\b|결정|계획|決定|方針|决定|計画|计划", re.I)
# What a line names that goes while its matter stays: then it has every other word of what it takes back.
_IN_PLACE = re.compile(
    r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of|not)\b|대신|말고|아니라|代わりに|ではなく|而不是|不再", re.I
)

_VERBS = frozenset(("use", "uses", "go", "goes", "run", "runs", "keep", "keeps", "take", "takes"))  # of any decision
STEM = 3  # letters by which two forms of a word are one here: `use`, `uses`
_LEXICONS = (english, korean, japanese, chinese)
_WORD = re.compile(
    r"[A-Za-z][A-Za-z0-9_+#.-]*[A-Za-z0-9+#]|[가-힣]{2,}|[ァ-ヶー]{2,}|[\u3400-\u9fff]{2,}|\d[\d.,:/-]*\d|\d"
)
_STOP: frozenset[str] = frozenset().union(*(each.DECISION_FILLERS for each in LANGUAGES))


@dataclass(frozen=True, slots=True)
class ScoredLine:
    """A line, what its cues said, and the later line that retracted it ("on line 3"; empty for none)."""

    line: Candidate
    result: CueResult
    retracted: str = ""

    @property
    def keep(self) -> bool:
        return self.result.score >= THRESHOLD and not self.retracted


@lru_cache(maxsize=1 << 16)
def words(text: str) -> frozenset[str]:
    """The content words of a text, lower case, Korean particles taken off; of Han, which has no spaces, pairs."""
    content = set()
    for word in _WORD.findall(text):
        word = word.lower()
        if "\u3400" <= word[0] <= "\u9fff":
            content |= {word[at : at + 2] for at in range(len(word) - 1)} - _STOP
            continue
        if "가" <= word[-1] <= "힣" and len(word) > 2:
            word = without_particle(word)
        if word not in _STOP and (len(word) > 1 or word.isdigit()):
            content.add(word)
    return frozenset(content)


def mark_retracted(scored: Sequence[ScoredLine]) -> list[ScoredLine]:
    """Mark what a later line of the same log takes back: `오전: A로 결정`, `오후: B로 간다`; and the line that took a
    decision back which is said again further down."""
    result = list(scored)
    gone: dict[str, int] = {}  # claim of a line that was taken back -> place of the line that took it back
    for later, item in enumerate(scored):
        taker = None
        if _can_go(item):
            taker = gone.pop(_claimed(item), None)
        if taker is not None and _can_go(result[taker]):
            result[taker] = replace(scored[taker], retracted=_on_line(item))
        strength = retraction_strength(item.line)
        if not strength or (strength == 1 and not item.keep):
            continue
        topic = words(item.line.text)
        for earlier in range(later):
            old = scored[earlier]
            if result[earlier].retracted or not old.keep or old.result.kind not in RETRACTABLE:
                continue
            own = words(old.line.text)
            shared = own & topic
            # A bare "scratch that" is about the line before it; any other says what it is about.
            close = later - earlier == 1 and is_bare(item.line) and old.result.kind == "decision"
            paired = bool(old.line.period and item.line.period and shared) and item.keep
            told = len(shared) >= (1 if strength == 2 else max(2, ABOUT * min(len(own), len(topic))))
            if close or ((paired or told) and covers(item.line, topic, own, strength)):
                result[earlier] = replace(old, retracted=_on_line(item))
                gone[_claimed(old)] = later
    return result


def _can_go(item: ScoredLine) -> bool:
    """Whether a line is kept and of a kind that can be taken back."""
    return item.keep and item.result.kind in RETRACTABLE


def _on_line(item: ScoredLine) -> str:
    """What is said of a line that this one of the same log takes back."""
    return f"on line {item.line.number}"


def _claimed(item: ScoredLine) -> str:
    """What a line claims, in one spelling: lines that say it again are found by it."""
    return " ".join(claim(item.line.text).casefold().split()).rstrip(".。")


def covers(line: Candidate, topic: frozenset[str], own: frozenset[str], strength: int) -> bool:
    """Whether a line that takes something back, with the words `topic`, speaks of the matter of a line with the words
    `own`: `the design team uses Linear instead of Jira` is none of the mobile team's Jira.

    It lacks one word at most, the value that went; none where it names that itself (`instead of Jira`). A line that
    only takes back, or names the decision, may say less.
    """
    stems = {word[:STEM] for word in topic}
    missing = {word for word in own if word[:STEM] not in stems and word not in _VERBS and not word.endswith("다")}
    if _IN_PLACE.search(line.whole) and own & topic:
        return not missing
    if strength == 2:
        pairs = sum("\u3400" <= word[0] <= "\u9fff" for word in own)  # pairs of letters: a word that went takes three
        return (
            len(missing) <= max(1, ABOUT * 2 * pairs)
            or _A_DECISION.search(line.whole) is not None
            or len(topic) <= len(own & topic) + 1
        )
    return len(missing) <= 1 or len(missing) * 2 <= len(own)


def is_bare(line: Candidate) -> bool:
    """Whether a line takes something back and says nothing else: `Scratch that.`, `다시 생각해 보니 취소`."""
    text = line.whole.lower()
    for lexicon in _LEXICONS:
        text = lexicon.RETRACTION.pattern.sub(" ", text)
    return retraction_strength(line) == 2 and len(words(text)) <= 1


def retraction_strength(line: Candidate) -> int:
    """2 where a line has words that only a retraction has, 1 for words it often has, 0 for none."""
    text = line.whole.lower()
    if any(lexicon.RETRACTION.pattern.search(text) for lexicon in _LEXICONS):
        return 2
    if any(lexicon.WEAK_RETRACTION.pattern.search(text) for lexicon in _LEXICONS):
        return 1
    return 0


def mark_retracted_in_earlier_logs(logs: Sequence[Log], scored: Sequence[list[ScoredLine]]) -> list[list[ScoredLine]]:
    """Mark decisions of earlier logs that a later log takes back. `logs` are in order of days."""
    result = [list(notes) for notes in scored]
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    gone: dict[str, tuple[int, int]] = {}  # claim of a line that was taken back -> place of the line that took it back
    for at, (log, notes) in enumerate(zip(logs, scored, strict=True)):
        for place, item in enumerate(notes):
            if _can_go(item):
                then, row = gone.pop(_claimed(item), (at, -1))
            else:
                then, row = (at, -1)
            if then < at and _can_go(result[then][row]):
                result[then][row] = replace(result[then][row], retracted=f"by {log.path} line {item.line.number}")
            strength = retraction_strength(item.line)
            if strength == 0 or not (item.keep or strength == 2):
                continue
            topic = words(item.line.text)
            votes = Counter(place for word in topic if len(places[word]) <= COMMON for place in places[word])
            for (then, row), shared in votes.items():
                old = result[then][row]
                own = words(old.line.text)
                told = same_topic(shared, topic, own, strength) or (shared and _takes_back_whole(item, topic, own))
                if old.keep and told and covers(item.line, topic, words(claim(old.line.text)), strength):
                    where = f"by {log.path} line {item.line.number}"
                    result[then][row] = replace(old, retracted=where)
                    gone[_claimed(old)] = (at, place)
        for item in notes:
            taker = next((n for n, other in enumerate(notes) if item.retracted == _on_line(other)), None)
            if taker is not None:
                gone[_claimed(item)] = (at, taker)
        for row, item in enumerate(result[at]):
            if item.keep and item.result.kind in RETRACTABLE:
                for word in words(item.line.text):
                    places[word].append((at, row))
    return result


def _takes_back_whole(item: ScoredLine, topic: frozenset[str], own: frozenset[str]) -> bool:
    """Whether a line that decides nothing itself takes a decision back that it names, or all of whose words it has."""
    strong = not item.keep and retraction_strength(item.line) == 2
    return strong and (own <= topic or _A_DECISION.search(item.line.whole) is not None)


def retracted_fact(item: ScoredLine, existing: Sequence[Fact]) -> str:
    """The id of the fact that a line takes back, "" for none: the one it shares most with."""
    strength = retraction_strength(item.line)
    if strength == 0:
        return ""
    topic = words(item.line.text)
    best, best_fact = 0, ""
    for fact in existing:
        if fact.get("type", "decision") not in RETRACTABLE:
            continue
        own = words(fact.text)
        shared = len(topic & own)
        if shared > best and shared >= MATTER * len(topic | own) and same_topic(shared, topic, own, strength):
            best, best_fact = shared, fact.id
    return best_fact


def same_topic(shared: int, a: frozenset[str], b: frozenset[str], strength: int) -> bool:
    """Whether two lines share enough to be about one topic; weak words of retraction need one more.

    Not `alike` of memory/similarity.py: a line that takes another back often names it in two words of twenty.
    """
    return shared >= (2 if strength == 2 else 3) and shared >= ABOUT * min(len(a), len(b))
