"""For each pattern of the lexicons of gitmem/gate/detectors/injection, pieces one of which is in any match of it
(anchors.txt). Run it after every change of a lexicon; a test compares.

A pattern is only tried on a sentence that holds one of its pieces. The pieces are the possible beginnings (two to
six characters) of the part of the pattern where they are longest and fewest, read from the parsed expression;
a pattern without such a part has the empty piece and is always tried.

A language has a heading, `[english]`, and a line for each beginning of a piece (three characters, two of CJK) and
concept: beginning, concept, what the pieces go on with; between tabs.
"""

from __future__ import annotations

import argparse
import re._constants as sre
import re._parser as parser
from importlib import import_module
from pathlib import Path
from typing import Any

from gitmem.gate.detectors.injection import structure

OUT = Path(structure.__file__).with_name("anchors.txt")
LANGUAGES = ("english", "korean", "japanese", "chinese", "european")
LONGEST, KEY, MOST = 6, 3, 3000
Ends = set[tuple[str, bool]]  # (beginning so far, nothing may be appended)


def characters(items: Any) -> set[str] | None:
    found: set[str] = set()
    for kind, value in items:
        if kind is sre.LITERAL:
            found.add(chr(value))
        elif kind is sre.RANGE and value[1] - value[0] <= 12:
            found.update(map(chr, range(value[0], value[1] + 1)))
        elif kind is sre.CATEGORY and value is sre.CATEGORY_DIGIT:
            found.update("0123456789")
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
    return (min(shortest, 5) if len(pieces) <= MOST else 0, -len(pieces))


def pieces_of(pattern: str) -> set[str]:
    """Strings one of which every match of the pattern holds; the empty string where there are none."""

    def best(nodes: list[Any]) -> set[str]:
        options = [{text for text, _ in beginnings(nodes[i:])} for i in range(len(nodes))] or [{""}]
        for kind, value in nodes:  # whatever matches holds a match of each of its parts
            if kind is sre.SUBPATTERN:
                options.append(best(list(value[-1])))
            elif kind is sre.BRANCH:
                options.append({piece for branch in value[1] for piece in best(list(branch))})
            elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT) and value[0] > 0:
                options.append(best(list(value[2])))
        return max(options, key=worth)

    return best(list(parser.parse(pattern)))


def key_of(piece: str) -> str:
    """A pattern in Latin letters is worth a key of three, one of CJK characters of two."""
    return piece[:2] if any("\u3040" <= char <= "\ud7a3" for char in piece[:2]) else piece[:KEY]


def compute() -> str:
    lines = ["# Written by tools/train.py lexicon_anchors. Do not edit."]
    for language in LANGUAGES:
        table: dict[tuple[str, str], set[str]] = {}
        for concept, pattern in import_module(f"gitmem.gate.detectors.injection.lexicon.{language}").LEXICON.items():
            pieces = pieces_of(pattern)
            if any(len(piece) < 2 and (not piece or piece.isalnum()) for piece in pieces):
                pieces = {""}
            for piece in pieces:
                key = key_of(piece)
                table.setdefault((key, concept.name), set()).add(piece[len(key) :])
        lines.append(f"[{language}]")
        for (key, name), rests in sorted(table.items()):
            lines.append("\t".join([key, name, *(sorted(rests) if "" not in rests else ())]))
    return "\n".join(lines) + "\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(options: argparse.Namespace) -> None:
    """Write the pieces."""
    OUT.write_text(compute(), encoding="utf-8")
