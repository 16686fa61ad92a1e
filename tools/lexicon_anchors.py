#!/usr/bin/env python3
"""Write gitmem/detectors/anchors.txt: for each pattern of the lexicons, pieces one of which is in any match of it.

    python tools/lexicon_anchors.py          # after every change of gitmem/detectors/lexicon/; a test checks it

A pattern is only tried on a sentence that holds one of its pieces. The pieces are the possible beginnings (two or
three characters) of the part of the pattern where they are longest and fewest, read from the parsed expression;
a pattern without such a part has the empty piece and is always tried.
"""

from __future__ import annotations

import re._constants as sre
import re._parser as parser
from importlib import import_module
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent.parent / "gitmem" / "detectors" / "anchors.txt"
LANGUAGES = ("english", "korean", "japanese", "chinese", "european")
LONGEST, MOST = 3, 1500
Ends = set[tuple[str, bool]]  # (beginning so far, nothing may be appended)


def characters(items: Any) -> set[str] | None:
    found: set[str] = set()
    for kind, value in items:
        if kind is sre.LITERAL:
            found.add(chr(value))
        elif kind is sre.RANGE and value[1] - value[0] <= 12:
            found.update(map(chr, range(value[0], value[1] + 1)))
        else:
            return None
    return found if len(found) <= 16 else None


def one(node: Any) -> Ends:
    """The beginnings of what one node matches."""
    kind, value = node
    if kind is sre.LITERAL:
        return {(chr(value), False)}
    if kind is sre.IN:
        found = characters(value)
        return {("", True)} if found is None else {(char, False) for char in found}
    if kind is sre.BRANCH:
        return {end for branch in value[1] for end in beginnings(list(branch))}
    if kind is sre.SUBPATTERN:
        return beginnings(list(value[-1]))
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        least, most, part = value
        inside = beginnings(list(part))
        if most > 1:
            inside = {(text, True) for text, _ in inside}
        return inside | ({("", False)} if least == 0 else set())
    if kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
        return {("", False)}
    return {("", True)}


def beginnings(nodes: list[Any]) -> Ends:
    """The beginnings, cut to LONGEST, of what a sequence matches."""
    found: Ends = {("", False)}
    for node in nodes:
        if all(done or len(text) >= LONGEST for text, done in found) or len(found) > MOST:
            break
        after = one(node)
        found = {
            (text, done) if done or len(text) >= LONGEST else (text + more, stop)
            for text, done in found
            for more, stop in (after if not done and len(text) < LONGEST else {("", False)})
        }
    return {(text[:LONGEST], done or len(text) >= LONGEST) for text, done in found}


def worth(pieces: set[str]) -> tuple[int, int]:
    shortest = min(map(len, pieces), default=0)
    return (min(shortest, 2) if len(pieces) <= MOST else 0, -len(pieces))


def pieces_of(pattern: str) -> set[str]:
    """Strings one of which every match of the pattern holds; the empty string where there are none."""

    def best(nodes: list[Any]) -> set[str]:
        while len(nodes) == 1 and nodes[0][0] is sre.SUBPATTERN:
            nodes = list(nodes[0][1][-1])
        if len(nodes) == 1 and nodes[0][0] is sre.BRANCH:
            return {piece for branch in nodes[0][1][1] for piece in best(list(branch))}
        options = [{text for text, _ in beginnings(nodes[i:])} for i in range(len(nodes))] or [{""}]
        return max(options, key=worth)

    return best(list(parser.parse(pattern)))


def compute() -> str:
    table: dict[str, list[str]] = {}
    for language in LANGUAGES:
        for concept, pattern in import_module(f"gitmem.detectors.lexicon.{language}").LEXICON.items():
            pieces = pieces_of(pattern)
            # a pattern in Latin letters is worth an anchor of three, one of CJK characters of two
            if any(len(piece) < 2 for piece in pieces):
                pieces = {""}
            for piece in pieces:
                cut = piece[:2] if any("\u3040" <= char <= "\ud7a3" for char in piece[:2]) else piece
                table.setdefault(cut, []).append(f"{language[0]}{language[1]}.{concept.name}")
    lines = ["# Written by tools/lexicon_anchors.py. Do not edit."]
    lines += [f"{piece}\t{' '.join(dict.fromkeys(names))}" for piece, names in sorted(table.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    OUT.write_text(compute(), encoding="utf-8")
