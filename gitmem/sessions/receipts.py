"""Receipts: one line for each context or search result that a session was given. The file is private, in the Git
directory, and has no text of memory.

A line has the time, the session, the ids of the parts, the tokens by layer (the kind of part, such as `facts`) and the
milliseconds. `recall` says which facts of MEMORY.md were given most often, and which never. If the file is damaged or
read-only, some receipts are missing and nothing fails.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.worktree import locked, read_bytes, state_dir, write_atomic
from gitmem.json_values import json_keys, json_object, parse_json
from gitmem.regular_file import append_private

if TYPE_CHECKING:
    from gitmem.config import Config
    from gitmem.git.opening import Repository
    from gitmem.memory.fact import Fact

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
                tail = read_bytes(folder, FILE, size + 1)[-MAX_FILE_BYTES // 2 :]
                write_atomic(folder, FILE, tail[tail.index(b"\n") + 1 :], private=True)
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
            time = datetime.fromisoformat(value["at"])
            tokens = {str(layer): int(count) for layer, count in value["tokens"].items()}
            parts = [str(part) for part in value["parts"]]
            yield Receipt(time.astimezone(), str(value["session"]), str(value["kind"]), int(value["ms"]), tokens, parts)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            continue


def by_session(receipts: Iterable[Receipt]) -> dict[str, list[Receipt]]:
    """Session -> its receipts in order. Sessions are in the order of their first receipt."""
    grouped: dict[str, list[Receipt]] = {}
    for receipt in receipts:
        grouped.setdefault(receipt.session, []).append(receipt)
    return grouped


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


def tokens_left(ceiling: int, common_dir: Path, session: str, budget: int) -> int:
    """The tokens that a session may still be given: `budget`, or fewer if all its receipts together would exceed
    `ceiling`; never below 0. `ceiling`: tokens of a whole session, 0 for no limit. A session without a name has no
    limit. Searches do not count."""
    if not ceiling or not session:
        return budget
    spent = sum(receipt.total for receipt in read(common_dir, session) if receipt.kind != SEARCH)
    return max(0, min(budget, ceiling - spent))


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
    given_facts = sorted((fact for fact in facts if fact.id in counts), key=lambda fact: (-counts[fact.id], fact.line))
    return given_facts, [fact for fact in facts if fact.id not in counts]


def recalled_without_blocked(
    repo: Repository, config: Config, counts: Mapping[str, int]
) -> tuple[list[Fact], list[Fact]]:
    """(facts of MEMORY.md that sessions were given, facts that no session was given) as `recalled` orders them; a text
    that the gate would block is replaced. `counts`: fact id -> number of receipts with it."""
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


def recall(repo: Repository, config: Config, receipts: Sequence[Receipt]) -> Recall:
    """What the sessions of these receipts were given of memory; a text of a fact that the gate would block is
    replaced."""
    total = totals(receipts)
    most, never = (
        [RecalledFact(fact.id, "MEMORY.md", fact.line, fact.text, total.counts.get(fact.id, 0)) for fact in facts]
        for facts in recalled_without_blocked(repo, config, total.counts)
    )
    return Recall(receipts, total.tokens_a_day, total.tokens, most, never)
