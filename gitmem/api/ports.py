"""Three protocols for programs: the memory of an organisation, of a project, and of a session.

A program types its functions with these protocols and passes `api.open(...)`, its `organisation()` and `session(...)`,
or its own objects in tests. docs/api.md describes the methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from gitmem.api.values import Added, Corrected, Episode, Flushed, Insight, KeptValue, SessionValue, Turn, Value


@runtime_checkable
class OrganisationMemory(Protocol):
    """The memory that holds for every project. It can be read only."""

    def search(self, query: str, *, limit: int = 6) -> Value: ...

    def get(self, path: str, first: int = 0, last: int = 0) -> Value: ...


@runtime_checkable
class ProjectMemory(Protocol):
    """The long-term memory of one repository. Every write passes the gate."""

    def search(self, query: str, *, limit: int = 6) -> Value: ...

    def get(self, path: str, first: int = 0, last: int = 0) -> Value: ...

    def context(self, prompt: str = "", *, session: str = "", entity: str | Sequence[str] = ()) -> Value: ...

    def why(self, path: str, line: int) -> Value: ...

    def add(self, text: str, *, type: str = "") -> Added: ...

    def insight(self, entity: str, text: str, *, dry_run: bool = False) -> Insight: ...

    def promote(self, *, dry_run: bool = False) -> Value: ...

    def edit(self, path: str = "", line: int = 0, *, id: str = "", text: str = "", reason: str) -> Corrected: ...

    def forget(
        self, path: str = "", line: int = 0, *, id: str = "", reason: str, dry_run: bool = False
    ) -> Corrected: ...

    def revert(self, *, session: str = "", reason: str = "", dry_run: bool = False) -> Corrected: ...


@runtime_checkable
class SessionMemory(Protocol):
    """The working values of one session and agent, and the writing of its conversation to the project's memory."""

    def set(self, key: str, value: str, *, hours: float = 24.0) -> KeptValue: ...

    def get(self, key: str) -> SessionValue | None: ...

    def list(self, prefix: str = "") -> Sequence[SessionValue]: ...

    def context(self, prompt: str = "", *, entity: str | Sequence[str] = ()) -> Value: ...

    def flush(self, turns: str | Sequence[Turn]) -> Flushed: ...

    def end(self, turns: str | Sequence[Turn]) -> Episode: ...
