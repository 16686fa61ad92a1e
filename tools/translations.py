#!/usr/bin/env python3
"""Write gitmem/index/korean_english.txt: Korean words of documentation with their English, from translated paragraphs.

    python tools/translations.py DIR          # DIR/ko.jsonl.gz: a row {"source", "en", "ko"} for each paragraph

A Korean word, without its particle or ending, goes with an English stem where the two stand in the same paragraphs:
Dice's coefficient of at least LIKE over paragraphs of at most LONGEST characters, TOGETHER of which have both. A word
that the Korean paragraph has in Latin letters translates nothing. Of a Korean word the KEPT best stems are kept.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gitmem.text.terms import HANGUL, OTHER, STOP, STOP_KOREAN, nfkc, stem, tokens, without_ending

OUT = Path(__file__).resolve().parent.parent / "gitmem" / "index" / "korean_english.txt"
LIKE, TOGETHER, LONGEST, KEPT = 0.3, 4, 600, 2
HEAD = """\
# Korean words and the English stems that stand for them in documentation, one tab between;
# written by tools/translations.py.
# Counted in the Korean translations of the documentation of openclaw, Astro, es-toolkit and FastAPI (MIT) and of React
# (CC BY 4.0, https://react.dev).
"""


def main() -> int:
    korean: Counter[str] = Counter()
    english: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    with gzip.open(Path(sys.argv[1]) / "ko.jsonl.gz", "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            if len(row["en"]) > LONGEST:
                continue
            words, latin = _korean(row["ko"])
            stems = _english(row["en"], latin)
            korean.update(words)
            english.update(stems)
            both.update((word, other) for word in words for other in stems)
    found: dict[str, list[tuple[float, str]]] = {}
    for (word, other), count in both.items():
        dice = 2 * count / (korean[word] + english[other])
        if count >= TOGETHER and dice >= LIKE:
            found.setdefault(word, []).append((-dice, other))
    lines = ["\t".join([word, *(other for _, other in sorted(known)[:KEPT])]) for word, known in sorted(found.items())]
    OUT.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} words, {OUT.stat().st_size} bytes")
    return 0


def _korean(text: str) -> tuple[set[str], set[str]]:
    """The Korean words of a text without their endings, and its words of Latin letters."""
    words, latin = set(), set()
    for token, script in tokens(nfkc(text)):
        if script == HANGUL:
            if STOP_KOREAN.isdisjoint((token, without_ending(token))):
                words.add(without_ending(token))
        elif script == OTHER:
            latin.add(token.lower())
    return words, latin


def _english(text: str, latin: set[str]) -> set[str]:
    """The stems of the words of a text that tell something and are not in its translation."""
    words = (token.lower() for token, script in tokens(text) if script == OTHER and token.isascii() and token.isalpha())
    return {stem(word) for word in words if len(word) > 1 and word not in STOP and word not in latin}


if __name__ == "__main__":
    sys.exit(main())
