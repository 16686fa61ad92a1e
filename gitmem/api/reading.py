"""Searches and reads an opened repository for the Python API. Writes nothing."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from gitmem.api.values import Value
from gitmem.config import Config
from gitmem.git.opening import Repository
from gitmem.json_values import json_object

if TYPE_CHECKING:
    from gitmem.search.request import SearchRequest


def search(repo: Repository, config: Config, request: SearchRequest, moment: datetime) -> Value:
    """The JSON of docs/json.md, "search". Raises what `query_of` raises."""
    from gitmem.provenance.forgotten_texts import forgotten_texts
    from gitmem.search.request import query_of
    from gitmem.search.results import shown
    from gitmem.search.search import search as search_memory

    query = query_of(request, moment, repo, forgotten_texts(repo))
    return json_object(shown(search_memory(repo, config, query, moment)))


def read_lines(repo: Repository, config: Config, path: str, first: int, last: int, commit: str) -> Value:
    """The JSON of docs/json.md, "show": lines `first` to `last`, 0 for the file's ends. `commit`: "" for the work tree.
    Raises MissingFile if memory has no such file, UsageError if `first` is past its end."""
    from gitmem.memory.show import lines_of, read
    from gitmem.provenance.forgotten_texts import forgotten_texts

    return json_object(lines_of(read(repo, config, path, commit, forgotten_texts(repo)), first, last))
