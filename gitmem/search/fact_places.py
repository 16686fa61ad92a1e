"""Finds the lines of facts that the questions of `git mem eval` name by id. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from gitmem.config import Config
from gitmem.git.repository import Repository
from gitmem.git.unmerged import WorkTreeReader
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, cited_spans
from gitmem.memory.files import memory_paths
from gitmem.memory.similarity import terms
from gitmem.memory.snapshot import tree_files
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind

MIN_SHARE = 0.5  # least share of a fact's terms in the lines it cites that answer in its place
Place = tuple[str, int, int]  # path, first line, last line


class FactPlace(NamedTuple):
    """The lines that answer for a fact. `own`: the first line of the fact, in each file that has it. `cited`: the log
    lines it cites that have MIN_SHARE of its terms. `text`: of the fact."""

    own: tuple[Place, ...]
    cited: tuple[Place, ...]
    text: str


class FactPlaces:
    """Finds facts of MEMORY.md files and archives by their id (12 hex digits). `commit`: "" for the work tree. Files
    are read at first use."""

    def __init__(self, repo: Repository, config: Config, commit: str = "") -> None:
        self._repo, self._config, self._commit = repo, config, commit

    @cached_property
    def facts(self) -> list[tuple[str, Fact]]:
        """(path, fact) for all facts, in order of path and line."""
        wanted = (Kind.MEMORY, Kind.ARCHIVE)
        contents = self._contents(lambda path: kind(path) in wanted)
        return [(path, fact) for path, data in contents for fact in memory_facts.parse(data).facts]

    def find(self, ident: str) -> FactPlace | None:
        """The place of the fact with this id; None if there is none."""
        copies = self._by_id.get(ident)
        if not copies:
            return None
        facts = tuple((path, fact.line, fact.line) for path, fact in copies)
        return FactPlace(facts, tuple(place for _, fact in copies for place in self._sources(fact)), copies[0][1].text)

    @cached_property
    def _by_id(self) -> dict[str, list[tuple[str, Fact]]]:
        """Id of a fact -> (path, fact) for each file that has it."""
        by_id: dict[str, list[tuple[str, Fact]]] = {}
        for path, fact in self.facts:
            by_id.setdefault(fact.id, []).append((path, fact))
        return by_id

    @cached_property
    def _lines(self) -> Mapping[str, Sequence[str]]:
        """Path -> lines of each file that a fact cites."""
        cited = {span.path for _, fact in self.facts for span in cited_spans(fact.meta)}
        return {path: blob_lines(data) for path, data in self._contents(lambda path: path in cited)}

    def _sources(self, fact: Fact) -> list[Place]:
        """The lines that a fact cites and that have MIN_SHARE of its terms."""
        wanted = terms(fact.text)
        places = []
        for span in cited_spans(fact.meta):
            cited_lines = self._lines.get(span.path, ())[span.start_line - 1 : span.end_line]
            if wanted and len(wanted & terms(" ".join(cited_lines))) >= MIN_SHARE * len(wanted):
                places.append((span.path, span.start_line, span.end_line))
        return places

    def _contents(self, is_wanted: Callable[[str], bool]) -> list[tuple[str, bytes]]:
        """(path, bytes) of the memory files whose path `is_wanted` accepts, ordered by path."""
        repo = self._repo
        if self._commit or repo.root is None:
            tree = repo.tree(self._commit or repo.resolve("HEAD"))
            files, _ = tree_files(repo, tree, self._config.memory_paths)
            chosen = {path: oid for path, oid in sorted(files.items()) if is_wanted(path)}
            data = dict(repo.read_many(sorted(set(chosen.values()))))
            contents = {path: data[oid] for path, oid in chosen.items()}
            return [(path, content) for path, content in contents.items() if content is not None]
        paths = [path for path in memory_paths(repo, self._config) if is_wanted(path)]
        return [
            (path, data)
            for path, data in WorkTreeReader(repo).read_all(paths, MAX_MEMORY_FILE_BYTES)
            if isinstance(data, bytes)
        ]
