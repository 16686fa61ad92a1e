"""The state of code that a statement cites, as searches, contexts and pages report it. Pure, and quick to import.

`gitmem/claims/cited_code` finds the states. A statement whose code was renamed still holds. One whose code changed is
marked. One whose code is gone is marked too, loses its pin and comes last. For a decision, a lesson or an event the
state of its code does not matter, unless it was renamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from gitmem.json_values import json_keys

PAST = ("decision", "lesson", "timeline", "episode-digest", "todo")  # types of facts that outlive the code they cite


class CodeState(StrEnum):
    """How cited code differs from what was cited. RENAMED: its file has another path. CHANGED: its lines differ. GONE:
    the code is not there any more."""

    RENAMED = "renamed"
    CHANGED = "changed"
    GONE = "gone"


WORST_FIRST = (CodeState.GONE, CodeState.CHANGED, CodeState.RENAMED)


@json_keys("cites=place state now? commit?")
class CitedCode(NamedTuple):
    """A citation whose code has changed since it was cited.

    `state`: how the code differs from what was cited. `place`: the cited place as a person writes it. `now`: the new
    path of a renamed file, else "". `commit`: the commit that removed or renamed the file, "" if unknown.

    JSON: `cites`: the cited place.
    """

    state: CodeState
    place: str
    now: str = ""
    commit: str = ""

    @property
    def words(self) -> str:
        """The state as a sentence for a person."""
        if self.state is CodeState.RENAMED:
            return f"{self.place} is in {self.now} now"
        if self.state is CodeState.CHANGED:
            return f"code changed: {self.place}"
        words = f"not in the code any more: {self.place}"
        if self.commit:
            words += f", since {self.commit[:12]}"
        return words


def changed_citations(meta: Iterable[tuple[str, str]], code: Mapping[str, CitedCode]) -> list[CitedCode]:
    """The citations of a statement whose code has changed, the worst state first; [] if its code is unchanged.

    `meta`: the pairs of the statement's comment. `code`: value of a `code` key -> its state, only for changed code. Of
    a type in PAST only renamed code counts.
    """
    pairs = list(meta)
    changed = [code[value] for key, value in pairs if key == "code" and value in code]
    if any(key == "type" and value in PAST for key, value in pairs):
        changed = [cited for cited in changed if cited.state is CodeState.RENAMED]
    return sorted(changed, key=lambda cited: WORST_FIRST.index(cited.state))
