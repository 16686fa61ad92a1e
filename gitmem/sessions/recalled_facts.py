"""Which facts of MEMORY.md sessions were given most often, and which never; for `receipts` and `status`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gitmem.json_values import json_value
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


def as_value(repo: Repository, config: Config, found: Sequence[Receipt]) -> dict[str, object]:
    """The JSON of docs/json.md, "receipts"."""
    total = totals(found)
    most, never = shown(repo, config, total.counts)
    return {
        "receipts": json_value(found),
        "tokens_a_day": total.tokens_a_day,
        "tokens": dict(total.tokens),
        "most": [{**_value(fact), "times": total.counts[fact.id]} for fact in most],
        "never": [_value(fact) for fact in never],
    }


def _value(fact: Fact) -> dict[str, object]:
    return {"id": fact.id, "path": "MEMORY.md", "line": fact.line, "text": fact.text}
