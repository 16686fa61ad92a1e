"""Reads the lists of words by which statements are compared: `words/english.words` and those of three other languages.

A line such as `[single]` begins a list. Its words stand below it with `|` between them, on any number of lines; a blank
at the end of a word is part of it. A line that begins with `#` says what the list below is for. `[cue change]` begins
the list of a cue: in English `switch*` stands for all words that begin with `switch`; in the other languages a text has
the cue if it has one of the words anywhere.
"""

from __future__ import annotations

import os.path
from typing import NamedTuple

FOLDER = os.path.join(os.path.dirname(__file__), "words")
_CUE = "cue "  # begins the name of a list that is one of a cue


class WordLists(NamedTuple):
    """The lists of a language. `cues`: cue -> its words. `contrasts`: the lines of the list `contrasts`; two statements
    with different members of one line are about different things. `others`: name of any other list -> its words."""

    cues: dict[str, tuple[str, ...]]
    contrasts: tuple[tuple[str, ...], ...]
    others: dict[str, tuple[str, ...]]


def read_lists(language: str) -> WordLists:
    """The word lists of a language: `english`, `korean`, `japanese` or `chinese`."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    name = ""
    with open(os.path.join(FOLDER, f"{language}.words"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    for line in lines:
        if line.startswith("["):
            name = line.strip("[]")
            rows[name] = []
        elif line and not line.startswith("#"):
            rows[name].append(tuple(filter(None, line.split("|"))))
    contrasts = tuple(rows.pop("contrasts"))
    lists = {name: tuple(word for row in listed for word in row) for name, listed in rows.items()}
    cues = {name.removeprefix(_CUE): words for name, words in lists.items() if name.startswith(_CUE)}
    others = {name: words for name, words in lists.items() if not name.startswith(_CUE)}
    return WordLists(cues, contrasts, others)
