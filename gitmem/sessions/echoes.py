"""Find echoes: sentences of an agent that only repeat memory, or only acknowledge what the person said just before.

Echoes are not written to a log or an episode: a repeated statement would get today's date and seem newer than the
statement that replaced the original. Callers test only an agent's sentences. A sentence repeats memory only if one
statement of memory says all of it. Reads the work tree, writes nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, timedelta
from pathlib import Path

from gitmem.daily_logs import log_files
from gitmem.errors import OutsideRepository
from gitmem.git.worktree import read_bytes
from gitmem.memory.document import parse
from gitmem.memory.similarity import adds_nothing, is_near_duplicate, terms
from gitmem.text import japanese, korean
from gitmem.text.languages import LANGUAGES
from gitmem.text.sentences import sentences
from gitmem.text.terms import telling_terms

FILES = ("MEMORY.md", ".claude/MEMORY.md")
ARCHIVE = "memory/archive"
RECENT_DAYS = 30  # days whose logs an agent is likely to have in its context
MAX_STATEMENTS = 20_000  # statements that are compared: first those of MEMORY.md and its archive, then of the logs
MIN_SHARED_TERMS = 0.6  # share of an acknowledgement's telling terms that are in the person's turn
ACKNOWLEDGES = re.compile("|".join(each.ACKNOWLEDGEMENT for each in LANGUAGES), re.I)
COMPLIES = re.compile(f"{korean.COMPLIANCE}|{japanese.COMPLIANCE}")
MAX_COMPARED = 20  # statements with the most words in common, with which a sentence is compared


class MemoryStatements:
    """The texts of statements of memory, at most MAX_STATEMENTS, indexed by their terms."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts: list[str] = []
        self._postings: dict[str, list[int]] = defaultdict(list)  # term -> indexes of `texts`
        for text in texts:
            for term in terms(text):
                self._postings[term].append(len(self.texts))
            self.texts.append(text)
            if len(self.texts) == MAX_STATEMENTS:
                break

    def has(self, text: str) -> bool:
        """Whether every sentence of `text` repeats one of the statements. False for an empty text and for a text with a
        question."""
        parts = sentences(text)
        return bool(self.texts and parts) and all(map(self._has_sentence, parts))

    def _has_sentence(self, sentence: str) -> bool:
        """Whether one of the MAX_COMPARED statements with most of its terms says all of the sentence; False for a
        question."""
        if sentence.rstrip().endswith(("?", "？")):
            return False
        counts: dict[int, int] = defaultdict(int)
        for term in terms(sentence):
            for number in self._postings.get(term, ()):
                counts[number] += 1
        nearest = sorted(counts, key=lambda number: -counts[number])[:MAX_COMPARED]
        return any(
            adds_nothing(sentence, self.texts[number]) or is_near_duplicate(sentence, self.texts[number])
            for number in nearest
        )


NO_STATEMENTS = MemoryStatements(())


def memory_statements(root: Path, daily: Sequence[str], session: str, now: datetime) -> MemoryStatements:
    """The statements of MEMORY.md, of its archive and of the daily logs of the last RECENT_DAYS, without those whose
    comment names `session`. `session`: the session's name as `written_ids` makes it safe for a comment. `daily`:
    patterns of daily logs outside memory/. Files that cannot be read are left out."""
    days = {now.date() - timedelta(days=back) for back in range(RECENT_DAYS)}
    return MemoryStatements(_texts(root, daily, session, days))


def _texts(root: Path, daily: Sequence[str], session: str, days: AbstractSet[date]) -> Iterator[str]:
    """The texts of statements that `session` did not write: first MEMORY.md and its archive, then the logs of `days`,
    the newest first. Files that cannot be read are left out."""
    archives = sorted((path.relative_to(root).as_posix() for path in (root / ARCHIVE).glob("*.md")), reverse=True)
    for path in (*FILES, *archives, *sorted(log_files(root, daily, days), reverse=True)):
        try:
            document = parse(read_bytes(root, path), path)
        except (OSError, OutsideRepository):
            continue
        for statement in document.statements:
            if statement.has_content and statement.text and statement.get("session") != session:
                yield statement.text


def acknowledges(sentence: str, turn: str, before: str) -> bool:
    """Whether `sentence`, of an agent's turn with the text `turn`, only acknowledges the person's turn `before`:
    "Noted, short answers without bullet points."

    True if the turn begins with an acknowledgement or the sentence says that the agent will comply (in Korean or
    Japanese), all numbers of the sentence are in `before`, and so is at least the share MIN_SHARED_TERMS of its terms
    that are not stop words. False if `before` is "".
    """
    opening = ACKNOWLEDGES.match(turn) or COMPLIES.search(sentence)
    if not opening or not before:
        return False
    agents, persons = telling_terms(ACKNOWLEDGES.sub("", sentence)), telling_terms(before)
    numbers = {term for term in agents if term.isdigit()}
    return numbers <= persons and len(agents & persons) >= MIN_SHARED_TERMS * len(agents)
