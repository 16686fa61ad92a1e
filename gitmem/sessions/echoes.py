"""What an agent says again: of what memory holds, or of what its person said just before. It is no news, and is not
written back.

An agent answers from memory. Written to a log or an episode, its answer would be of today, and stand above whatever
replaced what it repeats. Asked only of what the agent said, and true only where one statement of memory says all that
a sentence says; a person's words always stay. Reads the work tree, writes nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, timedelta
from pathlib import Path

from gitmem.errors import OutsideRepository
from gitmem.git.worktree import read_bytes
from gitmem.memory.document import parse
from gitmem.memory.similarity import repeats, same, terms
from gitmem.sessions.log_files import log_files
from gitmem.text import japanese, korean
from gitmem.text.languages import LANGUAGES
from gitmem.text.sentences import sentences
from gitmem.text.telling import telling
from gitmem.text.terms import compatible, tokens

FILES = ("MEMORY.md", ".claude/MEMORY.md")
ARCHIVE = "memory/archive"
RECENT_DAYS = 30  # logs that an agent is likely to have been told of
KNOWN = 20_000  # statements that are compared, those of MEMORY.md and its archive first
TAKEN_UP = 0.6  # share of the telling terms of an acknowledgement that the person's turn has
ACKNOWLEDGES = re.compile("|".join(each.ACKNOWLEDGEMENT for each in LANGUAGES), re.I)
COMPLIES = re.compile(f"{korean.COMPLIANCE}|{japanese.COMPLIANCE}")
COMPARED = 20  # statements with the most words in common that a sentence is compared with


class Echoes:
    """The statements of memory that a session did not write itself, looked up by their words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts: list[str] = []
        self._holding: dict[str, list[int]] = defaultdict(list)
        for text in texts:
            for term in terms(text):
                self._holding[term].append(len(self.texts))
            self.texts.append(text)
            if len(self.texts) == KNOWN:
                break

    def hold(self, text: str) -> bool:
        """Whether each sentence of a text repeats a statement of memory; a question repeats nothing."""
        found = sentences(text)
        return bool(self.texts and found) and all(map(self._holds, found))

    def _holds(self, sentence: str) -> bool:
        if sentence.rstrip().endswith(("?", "？")):
            return False
        counts: dict[int, int] = defaultdict(int)
        for term in terms(sentence):
            for number in self._holding.get(term, ()):
                counts[number] += 1
        likest = sorted(counts, key=lambda number: -counts[number])[:COMPARED]
        return any(repeats(sentence, self.texts[one]) or same(sentence, self.texts[one]) for one in likest)


NOTHING_TOLD = Echoes(())


def echoes(root: Path, daily: Sequence[str], session: str, now: datetime) -> Echoes:
    """What memory says but for what `session` wrote; `daily` are patterns of more logs than those in memory/."""
    days = {now.date() - timedelta(days=back) for back in range(RECENT_DAYS)}
    return Echoes(_texts(root, daily, session, days))


def _texts(root: Path, daily: Sequence[str], session: str, days: AbstractSet[date]) -> Iterator[str]:
    archives = sorted((path.relative_to(root).as_posix() for path in (root / ARCHIVE).glob("*.md")), reverse=True)
    for path in (*FILES, *archives, *sorted(log_files(root, daily, days), reverse=True)):
        try:
            document = parse(read_bytes(root, path), path)
        except (OSError, OutsideRepository):
            continue
        for statement in document.statements:
            if statement.says and statement.text and statement.get("session") != session:
                yield statement.text


def acknowledges(sentence: str, turn: str, before: str) -> bool:
    """Whether a sentence of an agent's turn only takes up what the person's turn before it says: "Noted, short answers
    without bullet points." The turn begins with an acknowledgement, or the sentence says that the agent will comply;
    most of its telling words are the person's, and no number is new."""
    opening = ACKNOWLEDGES.match(turn) or COMPLIES.search(sentence)
    if not opening or not before:
        return False
    own = _telling_terms(ACKNOWLEDGES.sub("", sentence))
    said = _telling_terms(before)
    numbers = {term for term in own if term.isdigit()}
    return numbers <= said and len(own & said) >= TAKEN_UP * len(own)


def _telling_terms(text: str) -> frozenset[str]:
    """The terms of a text that say something of a subject."""
    found = (telling(token, script) for token, script in tokens(compatible(text)))
    return frozenset(term for parts, stop in found if not stop for term in parts)
