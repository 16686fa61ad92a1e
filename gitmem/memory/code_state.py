"""What became of the code that a statement cites, as every outlet says it. Pure, and light: a search waits for it.

What makes it so is for `gitmem/claims/cited_code` to find. A statement whose code moved holds; one whose code changed
is marked; one whose code is gone is marked, pinned no more and last. Of a decision, lesson or event the code being gone
is history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from gitmem.json_values import json_object
from gitmem.light_typing import NamedTuple

PAST = ("decision", "lesson", "timeline", "episode-digest", "todo")  # types of facts that outlive the code they cite


class CodeState(StrEnum):
    """What became of the code that a statement cites."""

    RENAMED = "renamed"
    CHANGED = "changed"
    GONE = "gone"


WORST_FIRST = (CodeState.GONE, CodeState.CHANGED, CodeState.RENAMED)


class CitedCode(NamedTuple):
    """Code that a statement cites and that is not as it was: its `place` when it was cited, the path it has `now` where
    that is another, and the `commit` that took it away, "" where none is known."""

    state: CodeState
    place: str
    now: str = ""
    commit: str = ""

    def as_value(self) -> dict[str, str | None]:
        """The JSON of docs/json.md, "search"."""
        return {"cites": self.place} | json_object(self, "state now? commit?")

    @property
    def words(self) -> str:
        """What a reader of the statement is told."""
        if self.state is CodeState.RENAMED:
            return f"{self.place} is in {self.now} now"
        if self.state is CodeState.CHANGED:
            return f"code changed: {self.place}"
        return f"not in the code any more: {self.place}" + (f", since {self.commit[:12]}" if self.commit else "")


def of_code(meta: Iterable[tuple[str, str]], code: Mapping[str, CitedCode]) -> list[CitedCode]:
    """What is to be said of the code that a statement cites, what is gone first; `code` tells, by the value of a `code`
    key, what is not as it was."""
    pairs = list(meta)
    found = [code[value] for key, value in pairs if key == "code" and value in code]
    if any(key == "type" and value in PAST for key, value in pairs):
        found = [each for each in found if each.state is CodeState.RENAMED]
    return sorted(found, key=lambda each: WORST_FIRST.index(each.state))
