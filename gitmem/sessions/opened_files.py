"""Propose citations of code that a session read or edited just before a statement.

A line of code is proposed only if the statement names an identifier, a path or a number of that line, and also names
the file or an identifier. A proposal is unconfirmed and does not make the statement a cited one; `git mem confirm`
turns it into a citation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from gitmem.claims.anchoring import make_citation
from gitmem.claims.citations import PROPOSED, compose
from gitmem.claims.cited_facts import own_words
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes
from gitmem.hosts.transcript import FileRead, Turn
from gitmem.memory.document import blob_lines
from gitmem.paths import MAX_MEMORY_FILE_BYTES

MAX_LINE_CHARS = 500  # of a line of code; the rest is ignored
MAX_FILES = 20  # the last files that the session opened before the statement
MAX_PROPOSED = 2  # places for one log line


class OpenedFiles:
    """The files that the turns of a session read or edited, with the opened lines."""

    def __init__(self, repo: Repository, turns: Sequence[Turn]) -> None:
        self.repo = repo
        self._read = [(turn.line, file) for turn in turns for file in turn.files]
        self._lines: dict[str, list[str]] = {}

    def propose(self, text: str, line: int) -> list[tuple[str, str]]:
        """The proposed citations for a statement, at most MAX_PROPOSED, as (PROPOSED, citation) for a log line's
        comment, the best first.

        `text`: the statement. `line`: its line in the transcript; of the files that were opened up to there the last
        MAX_FILES count.
        """
        words = own_words(text)
        opened = [file for read_at, file in self._read if read_at <= line][-MAX_FILES:]
        if not words or not opened:
            return []
        word_counts: dict[str, int] = {}  # place -> number of words of the text in it
        for file in reversed(opened):
            path = self._path(file)
            if path:
                number, count = self._best(path, file, words, text)
            else:
                number, count = (0, 0)
            if count:
                word_counts.setdefault(f"{path}:{number}", count)
        best = sorted(word_counts, key=lambda place: -word_counts[place])[:MAX_PROPOSED]
        anchored = filter(None, map(self._anchored, best))
        return [(PROPOSED, value) for value in anchored]

    def _path(self, file: FileRead) -> str:
        """The path of a file in the repository; "" for a file outside of it, and for Markdown files, which may be
        memory."""
        root = self.repo.root
        if root is None:
            return ""
        spelled = PurePosixPath(file.path.replace("\\", "/"))
        try:
            path = Path(spelled).resolve().relative_to(root.resolve()) if spelled.is_absolute() else spelled
        except (ValueError, OSError):
            return ""
        return "" if str(path).lower().endswith(".md") else str(path)

    def _best(self, path: str, file: FileRead, words: set[str], text: str) -> tuple[int, int]:
        """(line number, number of words of the text in it) of the opened line with most of `words`, the first of
        several; (0, 0) if no line is specific enough. Of a line the first MAX_LINE_CHARS are read. A file above
        MAX_MEMORY_FILE_BYTES has no lines. Caches the lines of the file."""
        if path not in self._lines:
            try:
                assert self.repo.root is not None
                data = read_bytes(self.repo.root, path, MAX_MEMORY_FILE_BYTES + 1)
                if len(data) <= MAX_MEMORY_FILE_BYTES and b"\0" not in data:
                    self._lines[path] = blob_lines(data)
                else:
                    self._lines[path] = []
            except (OSError, OutsideRepository):
                self._lines[path] = []
        lines = self._lines[path]
        first, last = file.first or 1, min(file.last or len(lines), len(lines))
        is_named = PurePosixPath(path).name in text or path in text
        forms = {word: re.compile(rf"(?<![\w.]){re.escape(word)}(?!\w)") for word in words}
        best_number, best_count = 0, 0
        for number in range(first, last + 1):
            shared_words = {word for word, form in forms.items() if form.search(lines[number - 1][:MAX_LINE_CHARS])}
            tells = is_named or any(not word.replace(".", "").isdigit() for word in shared_words)
            if tells and len(shared_words) > best_count:
                best_number, best_count = number, len(shared_words)
        return best_number, best_count

    def _anchored(self, place: str) -> str:
        """The value of a citation of `place` (`path:line`), "" if the file is untracked or its name says that it has
        secrets."""
        try:
            return compose(make_citation(self.repo, place))
        except GitMemError:  # the file is untracked, or its name says that it has secrets
            return ""
