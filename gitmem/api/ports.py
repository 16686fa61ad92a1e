"""The three ports of memory for programs: what an organisation, a project and a session can be asked and told.

A program types its functions with these protocols, and hands in `api.open(...)`, its `organisation()` and its
`session(...)`, or objects of its own in tests. They hold signatures alone; docs/api.md says what each method does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from gitmem.api.values import Added, Corrected, Episode, Flushed, Insight, KeptValue, SessionValue, Turn, Value


@runtime_checkable
class OrganisationMemory(Protocol):
    """What holds for every project. It is read, never written."""

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
    """The working values of one session and agent, and what the session leaves in the project's memory."""

    def set(self, key: str, value: str, *, hours: float = 24.0) -> KeptValue: ...

    def get(self, key: str) -> SessionValue | None: ...

    def list(self, prefix: str = "") -> Sequence[SessionValue]: ...

    def context(self, prompt: str = "", *, entity: str | Sequence[str] = ()) -> Value: ...

    def flush(self, turns: str | Sequence[Turn]) -> Flushed: ...

    def end(self, turns: str | Sequence[Turn]) -> Episode: ...
