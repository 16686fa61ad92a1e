"""Finds the code that candidates cite and that has changed since, and moves candidates of deleted code down."""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.memory.code_state import CitedCode, CodeState, changed_citations
from gitmem.search.candidates import Candidate, best_first
from gitmem.search.file_reading import FileReader
from gitmem.search.memory_file import FileKey

BEFORE_GONE_CODE = 5  # candidates that come before a candidate that cites deleted code


class ChangedCode:
    """The changed code that the candidates of one search cite. Each citation is checked once."""

    def __init__(self, reader: FileReader) -> None:
        self.reader = reader
        self._code: dict[FileKey, dict[str, CitedCode]] = {}  # file -> value of a `code` key -> its code, if changed
        self._checked: set[tuple[FileKey, str]] = set()  # (file, value of a `code` key)

    def check(self, candidates: Iterable[Candidate]) -> None:
        """Read the code that these candidates cite, all at once. Citations that were checked before are not read
        again."""
        fresh: dict[FileKey, list[str]] = {}
        for candidate in candidates:
            key = candidate.file.key
            values = [value for value in candidate.meta.get("code", ()) if (key, value) not in self._checked]
            if values:
                fresh.setdefault(key, []).extend(values)
                self._checked.update((key, value) for value in values)
        if fresh:
            for key, code in self.reader.cited_code(fresh).items():
                self._code.setdefault(key, {}).update(code)

    def of(self, candidate: Candidate) -> list[CitedCode]:
        """The changed code that a candidate cites, after `check` has read it; empty if none changed."""
        code = self._code.get(candidate.file.key)
        if not code or "code" not in candidate.meta:
            return []
        return changed_citations([(key, value) for key, values in candidate.meta.items() for value in values], code)

    def deleted_last(self, candidates: list[Candidate], limit: int) -> list[Candidate]:
        """All candidates, best first; one that cites deleted code comes after the first BEFORE_GONE_CODE others.

        A candidate that is moved gets the state "gone" if it had none. Only the first candidates, which may be among
        `limit` hits, are checked: each check reads the cited file.
        """
        checked = candidates[: limit + 2 * BEFORE_GONE_CODE]
        self.check(checked)
        present: list[Candidate] = []
        gone: list[Candidate] = []
        for candidate in checked:
            code = self.of(candidate)
            if code and code[0].state is CodeState.GONE:
                gone.append(candidate)
            else:
                present.append(candidate)
        if not gone:
            return candidates
        max_score = present[:BEFORE_GONE_CODE][-1].score - 1e-4 if present else 1.0
        gone = [cited._replace(score=min(cited.score, max_score), state=cited.state or "gone") for cited in gone]
        return best_first([*present, *gone, *candidates[len(checked) :]])
