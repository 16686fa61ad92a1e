"""What language models answered in this run of the server: each is asked when a person says so, and once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.promotion.proposal_review import Recorded


class Answers:
    """The kept answer of each model, by its name in the settings."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Recorded] = {}

    def get(self, model: str) -> Recorded | None:
        """The answer of a model, None where it was not asked."""
        with self._lock:
            return self._kept.get(model)

    def keep(self, model: str, recorded: Recorded) -> None:
        """Keep an answer in the place of an earlier one."""
        with self._lock:
            self._kept[model] = recorded
