"""Which facts of MEMORY.md sessions were given most often, and which never; for `receipts` and `status`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitmem.json_values import json_keys
from gitmem.sessions.receipts import Receipt, totals

if TYPE_CHECKING:
    from gitmem.config import Config
    from gitmem.git.opening import Repository
    from gitmem.memory.fact import Fact


def recalled(repo: Repository, config: Config, counts: Mapping[str, int]) -> tuple[list[Fact], list[Fact]]:
    """(facts of MEMORY.md that sessions were given, the most often first; facts that no session was given, by line).

    `counts`: fact id -> number of receipts with it (`receipts.totals`). Two empty lists without MEMORY.md.
    """
    from gitmem.errors import MissingFile
    from gitmem.memory.facts import parse_lines
    from gitmem.memory.show import read

    try:
        facts = parse_lines(read(repo, config, "MEMORY.md", "").lines).facts
    except MissingFile:
        return [], []
    given = sorted((fact for fact in facts if fact.id in counts), key=lambda fact: (-counts[fact.id], fact.line))
    return given, [fact for fact in facts if fact.id not in counts]


def shown(repo: Repository, config: Config, counts: Mapping[str, int]) -> tuple[list[Fact], list[Fact]]:
    """The result of `recalled`, with the texts replaced that the gate would block."""
    from gitmem.gate.withholding import without_blocked

    most, never = recalled(repo, config, counts)
    texts = iter(without_blocked([fact.text for fact in (*most, *never)], "MEMORY.md"))
    return [fact._replace(text=next(texts)) for fact in most], [fact._replace(text=next(texts)) for fact in never]


@json_keys("id path line text [times]")
class RecalledFact(NamedTuple):
    """A fact of MEMORY.md as it stands now. `times`: how often sessions were given it, 0 for never."""

    id: str
    path: str
    line: int
    text: str
    times: int = 0


class Recall(NamedTuple):
    """What sessions were given of memory. `tokens_a_day`: the mean over days with a receipt. `tokens`: layer -> tokens.
    `most`, `never`: the facts that sessions were given, the most often first, and those that none was given.

    JSON: `most`: the facts that sessions were given, the most often first. `never`: those that none was given.
    """

    receipts: Sequence[Receipt]
    tokens_a_day: int
    tokens: Mapping[str, int]
    most: list[RecalledFact]
    never: list[RecalledFact]


def recall(repo: Repository, config: Config, found: Sequence[Receipt]) -> Recall:
    """What the sessions of these receipts were given."""
    total = totals(found)
    most, never = (
        [RecalledFact(fact.id, "MEMORY.md", fact.line, fact.text, total.counts.get(fact.id, 0)) for fact in facts]
        for facts in shown(repo, config, total.counts)
    )
    return Recall(found, total.tokens_a_day, total.tokens, most, never)
