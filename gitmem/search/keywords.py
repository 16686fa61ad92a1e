"""The words a conversation is about: what an episode is called and filed under. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gitmem.text import english, korean
from gitmem.text.telling import STOP
from gitmem.text.terms import terms, without_particle

WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]+[A-Za-z0-9]|[가-힣]{2,}|[\u4e00-\u9fff\u30a0-\u30ff]{2,}")
NO_SLUG = re.compile(r"[^0-9a-z\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u4e00-\u9fff\uac00-\ud7af]+")
COMMON = english.TOPIC_FILLERS | korean.TOPIC_FILLERS


def topics(texts: Iterable[str]) -> list[str]:
    """The words that come up most, told apart by their stem or without their particle, in their first spelling."""
    counts: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    for text in texts:
        for word in WORD.findall(text):
            bare = without_particle(word) if word[0] >= "가" and len(word) > 2 else word
            stems = terms(bare)
            if stems and len(bare) > 1 and bare.lower() not in COMMON and bare.lower() not in STOP:
                key = stems[0] if bare.isascii() else bare
                counts[key] += 1
                spelling.setdefault(key, bare)

    def weight(key: str) -> float:
        # A syllable of Hangul or Han says about as much as three letters.
        length = len(spelling[key]) * (1 if spelling[key].isascii() else 3)
        return counts[key] * min(length, 8)

    ranked = sorted(counts, key=lambda key: (-weight(key), key))
    return [spelling[key] for key in ranked]


def slug(texts: Iterable[str]) -> str:
    """Three of them, safe in a file name; "session" when there are none."""
    words = [NO_SLUG.sub("-", word.lower()).strip("-") for word in topics(texts)]
    return "-".join([word for word in words if word][:3])[:60] or "session"
