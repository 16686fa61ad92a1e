"""Receipts: one line for each context or search result that a session was given. The file is private, in the Git
directory, and has no text of memory.

A line has the time, the session, the ids of the parts, the tokens by layer (the kind of part, such as `facts`) and the
milliseconds. If the file is damaged or read-only, some receipts are missing and nothing fails.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.worktree import locked, read_bytes, state_dir, write_atomic
from gitmem.json_values import json_keys, json_object, parse_json
from gitmem.memory.fact import fact_id
from gitmem.regular_file import append_private

FILE = "receipts.jsonl"
MAX_FILE_BYTES = 1 << 20  # a larger file loses its older half
MAX_NAME_CHARS = 80  # of a session's name
MAX_PARTS = 200  # of one receipt
SEARCH = "search"  # the layer of a search's hits
LOCK_WAIT_SECONDS = 0.2


@json_keys("at session kind ms=milliseconds tokens parts")
class Receipt(NamedTuple):
    """The receipt of a context or a search. `at`: local time. `session`: name. `kind`: "start", "prompt" or "context"
    for what a session was given, or "search". `milliseconds`: how long it took. `tokens`: layer -> tokens. `parts`:
    fact ids of the parts.

    JSON: `kind`: `start`, `prompt`, `context` or `search`. `ms`: how long it took. `tokens`: layer -> tokens; those
    of a search are under `search`. `parts`: ids of the given texts.
    """

    at: datetime
    session: str
    kind: str
    milliseconds: int
    tokens: Mapping[str, int]
    parts: Sequence[str]

    @property
    def total(self) -> int:
        """The sum of the tokens of all layers."""
        return sum(self.tokens.values())


class Totals(NamedTuple):
    """Sums over receipts. `receipts`: their number. `tokens_a_day`: mean over the days that have receipts. `tokens`:
    layer -> tokens. `counts`: fact id -> number of receipts with that part."""

    receipts: int
    tokens_a_day: int
    tokens: Mapping[str, int]
    counts: Mapping[str, int]


def append(common_dir: Path, receipt: Receipt) -> None:
    """Append a receipt to the file, with MAX_PARTS parts at most. A file above MAX_FILE_BYTES loses its older half.
    Does nothing if the file cannot be written."""
    receipt = receipt._replace(
        at=receipt.at.replace(microsecond=0), session=receipt.session[:MAX_NAME_CHARS], parts=receipt.parts[:MAX_PARTS]
    )
    line = json.dumps(json_object(receipt), ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
    try:
        with locked(common_dir, "receipts", LOCK_WAIT_SECONDS):
            folder = state_dir(common_dir)
            size = append_private(folder / FILE, line)
            if size > MAX_FILE_BYTES:
                kept = read_bytes(folder, FILE, size + 1)[-MAX_FILE_BYTES // 2 :]
                write_atomic(folder, FILE, kept[kept.index(b"\n") + 1 :], private=True)
    except (OSError, GitMemError, ValueError):
        return


def read(common_dir: Path, session: str = "", since: date | None = None) -> list[Receipt]:
    """The receipts, the oldest first; [] if there are none. `session`: only receipts of this session, "" for all.
    `since`: only receipts of this day and later, None for all."""
    try:
        data = read_bytes(common_dir / "gitmem", FILE, 2 * MAX_FILE_BYTES)
    except (OSError, OutsideRepository):
        return []
    return [
        receipt
        for receipt in _receipts(data)
        if (not session or receipt.session == session[:MAX_NAME_CHARS])
        and (since is None or receipt.at.date() >= since)
    ]


def _receipts(data: bytes) -> Iterator[Receipt]:
    """The receipts of the lines; lines that are not receipts are left out."""
    for line in data.split(b"\n"):
        try:
            value = parse_json(line)
            at = datetime.fromisoformat(value["at"])
            tokens = {str(layer): int(count) for layer, count in value["tokens"].items()}
            parts = [str(part) for part in value["parts"]]
            yield Receipt(at.astimezone(), str(value["session"]), str(value["kind"]), int(value["ms"]), tokens, parts)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            continue


def by_session(receipts: Iterable[Receipt]) -> dict[str, list[Receipt]]:
    """Session -> its receipts in order. Sessions are in the order of their first receipt."""
    found: dict[str, list[Receipt]] = {}
    for receipt in receipts:
        found.setdefault(receipt.session, []).append(receipt)
    return found


def totals(receipts: Sequence[Receipt]) -> Totals:
    """The sums over the receipts. A text that one receipt names twice counts once. All are 0 or empty without
    receipts."""
    tokens: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for receipt in receipts:
        tokens.update(receipt.tokens)
        counts.update(set(receipt.parts))
    days = {receipt.at.date() for receipt in receipts}
    return Totals(len(receipts), round(tokens.total() / len(days)) if days else 0, dict(tokens), dict(counts))


def tokens_and_ids(given: Iterable[tuple[str, str, int]]) -> tuple[dict[str, int], list[str]]:
    """(layer -> tokens, fact ids in order) of parts. `given`: (layer, text, tokens) of each part."""
    tokens: dict[str, int] = {}
    ids = []
    for layer, text, count in given:
        tokens[layer] = tokens.get(layer, 0) + count
        ids.append(fact_id(text))
    return tokens, ids


def tokens_left(ceiling: int, common_dir: Path, session: str, budget: int) -> int:
    """The tokens that a session may still be given: `budget`, or fewer if all its receipts together would exceed
    `ceiling`; never below 0. `ceiling`: tokens of a whole session, 0 for no limit. A session without a name has no
    limit. Searches do not count."""
    if not ceiling or not session:
        return budget
    spent = sum(receipt.total for receipt in read(common_dir, session) if receipt.kind != SEARCH)
    return max(0, min(budget, ceiling - spent))
