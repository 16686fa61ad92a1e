"""Which facts of MEMORY.md sessions were given most often, and which never: for `receipts` and `status`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.config import Config
    from gitmem.git.opening import Repository
    from gitmem.memory.fact import Fact


def recalled(repo: Repository, config: Config, counts: Mapping[str, int]) -> tuple[list[Fact], list[Fact]]:
    """The facts of MEMORY.md that were given most often, best first, and those that never were."""
    from gitmem.errors import MissingFile
    from gitmem.memory.facts import parse_lines
    from gitmem.memory.show import read

    try:
        facts = parse_lines(read(repo, config, "MEMORY.md", "").lines).facts
    except MissingFile:
        return [], []
    given = sorted((fact for fact in facts if fact.id in counts), key=lambda fact: (-counts[fact.id], fact.line))
    return given, [fact for fact in facts if fact.id not in counts]
