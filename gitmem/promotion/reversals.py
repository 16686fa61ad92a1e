"""What a later line takes back: in the same log, in a later one, or of what memory holds. Part of the `rules` model.

Pure. A line reverses another when it uses the words of a reversal and speaks of the same matter: shares content words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gitmem.memory.fact import Fact
from gitmem.promotion import lexicon_en, lexicon_ko
from gitmem.promotion.cues import THRESHOLD, Reading
from gitmem.promotion.log_lines import Line
from gitmem.promotion.protocol import Log

SETTLED = frozenset(("decision", "rule", "deadline", "constraint", "goal"))  # kinds that can be taken back
COMMON = 40  # lines a word may stand in and still tell which matter a later line is about
ABOUT = 0.34  # share of the shorter line's content words that both must hold

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_+#.-]*[A-Za-z0-9+#]|[가-힣]{2,}|\d[\d.,:/-]*\d|\d")
_PARTICLE = re.compile(
    r"(?:에서는|에게는|으로는|에서|에게|으로|까지|부터|이나|라고|하고|이랑|에는|로는|은|는|이|가|을|를|에|의|도|만|로|와|과)$"
)
_STOP_WORDS = """the a an and or of to in on for with we i it is are was were be this that from at by as not no our my
    so then now will all any more than 하기로 결정 확정 이제 그냥 다시 오후 오전 최종 으로 로 결국"""
_STOP = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class Judged:
    """A line, what its cues said, and the later line that overruled it ("on line 3"; empty for none)."""

    line: Line
    reading: Reading
    overruled: str = ""

    @property
    def keep(self) -> bool:
        return self.reading.score >= THRESHOLD and not self.overruled


@lru_cache(maxsize=1 << 16)
def words(text: str) -> frozenset[str]:
    """The content words of a text, lower case, Korean particles taken off."""
    found = set()
    for word in _WORD.findall(text):
        word = word.lower()
        if "가" <= word[-1] <= "힣" and len(word) > 2:
            word = _PARTICLE.sub("", word) or word
        if word not in _STOP and (len(word) > 1 or word.isdigit()):
            found.add(word)
    return frozenset(found)


def overrule(judged: Sequence[Judged]) -> list[Judged]:
    """Mark what a later line of the same log takes back: `오전: A로 결정`, `오후: B로 간다`."""
    result = list(judged)
    for later, item in enumerate(judged):
        strength = reverses(item.line)
        if not strength or (strength == 1 and not item.keep):
            continue
        topic = words(item.line.text)
        for earlier in range(later):
            old = judged[earlier]
            if result[earlier].overruled or not old.keep or old.reading.kind not in SETTLED:
                continue
            shared = words(old.line.text) & topic
            # A bare "scratch that" is about the line before it; one that settles something says what it is about.
            close = later - earlier == 1 and strength == 2 and not item.keep and old.reading.kind == "decision"
            paired = bool(old.line.period and item.line.period and shared) and item.keep
            if close or paired or len(shared) >= (1 if strength == 2 else 2):
                result[earlier] = replace(old, overruled=f"on line {item.line.number}")
    return result


def reverses(line: Line) -> int:
    """2 for words that only a reversal has, 1 for words it often has, 0 for none."""
    text = line.whole.lower()
    if any(item.pattern.search(text) for item in (lexicon_en.REVERSAL, lexicon_ko.REVERSAL)):
        return 2
    if any(item.pattern.search(text) for item in (lexicon_en.TURN, lexicon_ko.TURN)):
        return 1
    return 0


def overrule_earlier(logs: Sequence[Log], judged: Sequence[list[Judged]]) -> list[list[Judged]]:
    """Mark decisions of earlier logs that a later log takes back. `logs` are in order of days."""
    result = [list(notes) for notes in judged]
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for at, (log, notes) in enumerate(zip(logs, judged, strict=True)):
        for item in notes:
            strength = reverses(item.line) if item.keep else 0
            if strength == 0:
                continue
            topic = words(item.line.text)
            votes = Counter(place for word in topic if len(places[word]) <= COMMON for place in places[word])
            for (then, row), shared in votes.items():
                old = result[then][row]
                if old.keep and same_matter(shared, topic, words(old.line.text), strength):
                    where = f"by {log.path} line {item.line.number}"
                    result[then][row] = replace(old, overruled=where)
        for row, item in enumerate(result[at]):
            if item.keep and item.reading.kind in SETTLED:
                for word in words(item.line.text):
                    places[word].append((at, row))
    return result


def overruled_fact(item: Judged, existing: Sequence[Fact]) -> str:
    """The id of the fact that a line takes back, "" for none: the one it shares most with."""
    strength = reverses(item.line)
    if strength == 0:
        return ""
    topic = words(item.line.text)
    best, found = 0, ""
    for fact in existing:
        if fact.get("type", "decision") not in SETTLED:
            continue
        own = words(fact.text)
        shared = len(topic & own)
        if shared > best and same_matter(shared, topic, own, strength):
            best, found = shared, fact.id
    return found


def same_matter(shared: int, a: frozenset[str], b: frozenset[str], strength: int) -> bool:
    """Whether two lines share enough to be about one matter; weak words of reversal need one more."""
    return shared >= (2 if strength == 2 else 3) and shared >= ABOUT * min(len(a), len(b))
