"""Searches and reads an opened repository for the Python API, and the organisation's memory at its pinned commit.

Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gitmem.api.values import Value
from gitmem.config import Config
from gitmem.git.opening import Repository
from gitmem.json_values import json_object

if TYPE_CHECKING:
    from gitmem.search.request import SearchRequest


def search(repo: Repository, config: Config, request: SearchRequest, moment: datetime) -> Value:
    """Search the memory of `repo`; the answer as `git mem search --json` prints it (docs/json.md), without texts that
    people had forgotten. Raises UsageError for an invalid day or other value of `request`, UnknownRevision if its `at`
    names no commit."""
    from gitmem.provenance.forgotten_texts import forgotten_texts
    from gitmem.search.request import query_of
    from gitmem.search.results import shown
    from gitmem.search.search import search as search_memory

    query = query_of(request, moment, repo, forgotten_texts(repo))
    return json_object(shown(search_memory(repo, config, query, moment)))


def read_lines(repo: Repository, config: Config, path: str, first: int, last: int, commit: str) -> Value:
    """Lines `first` to `last` of a memory file, 0 for its ends, as `git mem show --json` prints them: {"path", "at",
    "blob", "start_line", "end_line", "text"}, with texts that people had forgotten masked. `commit`: "" for the work
    tree. Raises MissingFile if memory has no such file, UsageError if `first` is past its end."""
    from gitmem.memory.show import lines_of, read
    from gitmem.provenance.forgotten_texts import forgotten_texts

    return json_object(lines_of(read(repo, config, path, commit, forgotten_texts(repo)), first, last))


@dataclass(frozen=True, slots=True)
class Organisation:
    """The memory that `mem.organisation` names. `Memory.organisation` opens it, and closing that Memory closes it.

    `commit`: the commit that is read. `note`: a remark on its copy ("last copy, 30 hours old"), "" for none.
    """

    repo: Repository
    config: Config
    now: Callable[[], datetime]
    commit: str
    note: str = ""

    def search(self, query: str, *, limit: int = 6) -> Value:
        """Search the organisation's memory at `commit`, as `git mem search`: {"query", "at", "lanes", "stale",
        "answered", "hits": [...]}, best hit first. `limit`: hits at most."""
        from gitmem.search.request import SearchRequest

        return search(self.repo, self.config, SearchRequest(query, limit, at=self.commit), self.now())

    def get(self, path: str, first: int = 0, last: int = 0) -> Value:
        """Lines `first` to `last` of a memory file at `commit`, 0 for its ends, as `git mem show`. Raises MissingFile
        if memory has no such file, UsageError if `first` is past its end."""
        return read_lines(self.repo, self.config, path, first, last, self.commit)
