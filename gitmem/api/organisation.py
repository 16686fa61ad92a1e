"""The organisation's memory for programs: search and read at the pinned commit. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from gitmem.api.reading import read_lines, search
from gitmem.api.values import Value
from gitmem.config import Config
from gitmem.git.opening import Repository


@dataclass(frozen=True, slots=True)
class Organisation:
    """The memory that `mem.organisation` names. `Memory.organisation` opens it, and closing that Memory closes it.

    `note`: a remark on its copy ("last copy, 30 hours old"), "" for none.
    """

    repo: Repository
    config: Config
    now: Callable[[], datetime]
    commit: str
    note: str = ""

    def search(self, query: str, *, limit: int = 6) -> Value:
        """`git mem search` there; {"query", "at", "lanes", "stale", "answered", "hits": [...]}, best hit first.
        `limit`: hits at most."""
        from gitmem.search.request import SearchRequest

        return search(self.repo, self.config, SearchRequest(query, limit, at=self.commit), self.now())

    def get(self, path: str, first: int = 0, last: int = 0) -> Value:
        """`git mem show` there: lines `first` to `last`, 0 for the file's ends. Raises MissingFile if the memory has no
        such file, UsageError if `first` is past its end."""
        return read_lines(self.repo, self.config, path, first, last, self.commit)
