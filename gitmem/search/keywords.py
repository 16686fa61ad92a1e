"""Finds the topics of a conversation by the frequency of its words; they name its episode file. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gitmem.text import english, korean
from gitmem.text.terms import STOP, STOP_KOREAN, terms, without_particle

WORD = re.compile(
    r"[A-Za-z](?:[A-Za-z0-9_.'’-]*[A-Za-z0-9])"
    r"|(?<![A-Za-z0-9_])[가-힣]{2,}|[\u4e00-\u9fff\u30a0-\u30ff]{2,}"
)
NO_SLUG = re.compile(r"[^0-9a-z\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u4e00-\u9fff\uac00-\ud7af]+")
COMMON = english.TOPIC_FILLERS | english.FUNCTION_WORDS | korean.TOPIC_FILLERS | korean.COURTESY | STOP_KOREAN
# Ends of Korean words: a noun loses a copula and particles; a word with the ending of a predicate is no noun.
COPULA = re.compile(rf"(?:{korean.COPULA})$")
PREDICATE = re.compile(rf"(?:{korean.PREDICATE_ENDINGS})$")
MORE_PARTICLES = re.compile(rf"(?:{korean.TOPIC_PARTICLES})$")
UNSURE_NOUN_WEIGHT = 0.5  # weight of a Korean word that may not be a noun
SHORT_PARTICLES = ("를", "는", "에")  # few nouns of two syllables end in one of these


def topics(texts: Iterable[str]) -> list[str]:
    """All topic words of the texts, the most frequent first, each in its first spelling.

    Words with one stem, or that differ in a Korean particle only, count as one.
    """
    counts: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    nouns: set[str] = set()  # Korean words that were seen with a particle: verbs and adverbs take none
    for text in texts:
        for word in WORD.findall(text):
            bare = _noun(word) if word[0] >= "가" else _word(word)
            stems = terms(bare)
            if stems and len(bare) > 1 and bare.lower() not in COMMON and bare.lower() not in STOP:
                key = stems[0] if bare.isascii() else bare
                counts[key] += 1
                if bare != word:
                    nouns.add(key)
                spelling.setdefault(key, bare)

    def weight(key: str) -> float:
        # A syllable of Hangul or Han says about as much as three letters.
        length = len(spelling[key]) * (1 if spelling[key].isascii() else 3)
        unsure = "가" <= key[0] <= "힣" and counts[key] == 1 and key not in nouns
        return counts[key] * min(length, 8) * (UNSURE_NOUN_WEIGHT if unsure else 1.0)

    ranked = sorted(counts, key=lambda key: (-weight(key), key))
    return [spelling[key] for key in ranked]


def _noun(word: str) -> str:
    """A Korean word without its particle or copula; "" for a common word, a verb, an adjective or a single syllable."""
    if word in COMMON:
        return ""
    noun = COPULA.sub("", word)
    if noun == word:
        if PREDICATE.search(word):
            return ""
        if len(word) > 2 or word.endswith(SHORT_PARTICLES):
            noun = without_particle(word)
        else:
            noun = word
        if len(noun) > 2:
            noun = MORE_PARTICLES.sub("", noun)
    return noun if len(noun) > 1 and not PREDICATE.search(noun) else ""


def _word(word: str) -> str:
    """An English word without `'s`, "" for a contraction (`don't`, `we're`); any other word as it is."""
    word = word.replace("’", "'")
    head, mark, tail = word.partition("'")
    if not mark:
        return word
    if tail in ("s", "S") and head.lower() not in COMMON and head.lower() not in STOP:
        return head
    return ""


def slug(texts: Iterable[str]) -> str:
    """Up to three topics of the texts in lower case, joined with `-` for a file name and cut to 60 characters;
    "session" without any."""
    words = [NO_SLUG.sub("-", word.lower()).strip("-") for word in topics(texts)]
    return "-".join([word for word in words if word][:3])[:60] or "session"
