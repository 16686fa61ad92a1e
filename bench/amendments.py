"""Whether the newest word on a matter comes first: statements of many trades that a later one amends.

    python -m bench amendments

bench/amendments has a file a hand: `-` a statement, `+` what amends it, `?` the question; `=` a statement and `~` a
later one that looks alike and amends nothing, with the question that the first still answers; `.` other lines. Each
line goes into the log of its day. The hands of HELD_OUT were written before the rules and not looked at for them.
Then which of the questions a context answers, and which of the prompts of bench/small_talk.txt, which ask nothing of
any memory: those below its mark were not looked at.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._sets import table
from bench.recall import context, hits, mean, recalled

SETS = Path(__file__).resolve().parent / "amendments"
HEAD = ["memory", "amended", "within five", "before the old", "alike", "kept first", "wrong links of 100"]
HELD_OUT = (
    "en-harbour", "en-law", "ja-bank", "ja-ryokan", "ko-broadcast", "ko-pharmacy", "zh-museum", "zh-teahouse",
    "en-brewery", "en-choir", "en-devops", "en-shelter", "ja-cafe", "ja-devteam", "ko-bakery", "ko-farm", "ko-startup",
    "zh-devteam", "zh-factory", "en-library", "en-platform", "ko-realestate", "zh-hospital",
)  # fmt: skip


class Statement(NamedTuple):
    """What was said on a day."""

    day: date
    text: str


class Matter(NamedTuple):
    """Two statements and a question; `amended` where the later one changes what the earlier says."""

    old: Statement
    new: Statement
    question: str
    amended: bool


class Hand(NamedTuple):
    """One hand's matters, and its other lines."""

    name: str
    matters: tuple[Matter, ...]
    others: tuple[Statement, ...]


def read(path: Path) -> Hand:
    """One file."""
    matters: list[Matter] = []
    others: list[Statement] = []
    said: dict[str, Statement] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "?":
            amended = "-" in said
            matters.append(Matter(said["-" if amended else "="], said["+" if amended else "~"], rest, amended))
            said = {}
        elif mark == ".":
            others.append(_statement(rest))
        elif mark:
            said[mark] = _statement(rest)
    return Hand(path.stem, tuple(matters), tuple(others))


def _statement(text: str) -> Statement:
    day, _, said = text.partition(" ")
    return Statement(date.fromisoformat(day), said)


def memory(hands: Sequence[Hand], root: Path, one_day: bool = False) -> Any:
    """A repository with a log for each day on which something was said; with `one_day` what amends or resembles another
    statement is of the afternoon of that one's day."""
    from gitmem.git.opening import open_repository

    days: dict[date, list[str]] = {}
    later: dict[date, list[str]] = {}
    for hand in hands:
        for said in (*hand.others, *(one for matter in hand.matters for one in (matter.old, matter.new))):
            if not one_day or said not in [matter.new for matter in hand.matters]:
                days.setdefault(said.day, []).append(f"- {said.text}")
        for matter in hand.matters if one_day else ():
            later.setdefault(matter.old.day, []).append(f"- {matter.new.text}")
    (root / "memory").mkdir(parents=True)
    for day, lines in days.items():
        afternoon = ["", "## 16:00 - notes", "", *later[day]] if day in later else []
        text = "\n".join([f"# {day}", "", "## 10:00 - notes", "", *lines, *afternoon]) + "\n"
        (root / "memory" / f"{day}.md").write_text(text, encoding="utf-8")
    git = ["git", "-C", str(root), "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "memory"]):
        subprocess.run([*git, *command], check=True)
    return open_repository(root, os.environ)


def place(found: Sequence[str], said: Statement) -> int:
    """The first hit that holds a statement; after all others where none does."""
    return next((at for at, text in enumerate(found) if said.text in text), len(found))


def measured(repo: Any, matters: Sequence[Matter]) -> list[object]:
    """Amendments within five hits and before the old; statements that stay before one that looks alike; of 100 pairs of
    lines on two matters among the hits those where one is marked as amended by the other."""
    within, before, kept = [], [], []
    pairs = wrong = 0
    for matter in matters:
        answer = hits(repo, matter.question, limit=20)
        found = [hit.text for hit in answer]
        marked, unrelated = _between_matters(answer, matters)
        wrong, pairs = wrong + marked, pairs + unrelated
        old, new = place(found, matter.old), place(found, matter.new)
        if matter.amended:
            within.append(new < 5)
            before.append(new < old)
        else:
            kept.append(old < new or old == new < len(found))
    return [len(within), mean(within), mean(before), len(kept), mean(kept), 100 * wrong / max(1, pairs)]


def _between_matters(answer: Sequence[Any], matters: Sequence[Matter]) -> tuple[int, int]:
    """How many of the links of an answer are between two of the matters, and the pairs of its hits that could be."""
    from gitmem.memory.fact import fact_id

    of = {fact_id(f"- {said.text}"): at for at, matter in enumerate(matters) for said in (matter.old, matter.new)}
    known = [(of[hit.id], hit) for hit in answer if hit.id in of]
    wrong = sum(of.get(end.id, at) != at for at, hit in known for end in hit.amended_by)
    return wrong, sum(one != other for at, (one, _) in enumerate(known) for other, _ in known[:at])


def silence(hands: Sequence[Hand], root: Path) -> list[list[object]]:
    """The share of questions and of unrelated prompts that get anything, for the hands made on and for the others."""
    prompts = (SETS.parent / "small_talk.txt").read_text(encoding="utf-8").split("= held out\n")
    rows: list[list[object]] = []
    for (name, held_out), unrelated in zip((("made on", False), ("held out", True)), prompts, strict=True):
        some = [hand for hand in hands if (hand.name in HELD_OUT) is held_out]
        repo = memory(some, root / name)
        asked = [matter.question for hand in some for matter in hand.matters]
        both = (asked, unrelated.splitlines())
        shares = [mean(bool(recalled(context(repo, prompt))) for prompt in own) for own in both]
        rows.append([name, len(asked), *shares])
        repo.close()
    return rows


def main() -> int:
    """A row a hand in a memory of its own, then all in one memory: those the rules were made on, and the others."""
    hands = [read(path) for path in sorted(SETS.glob("*.txt"))]
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for hand in hands:
            repo = memory([hand], Path(temporary) / hand.name)
            rows.append([hand.name + (" (held out)" if hand.name in HELD_OUT else ""), *measured(repo, hand.matters)])
            repo.close()
        for which in ("all", "all, one day"):
            repo = memory(hands, Path(temporary) / which, one_day=which != "all")
            for name, held_out in (("made on", False), ("held out", True)):
                matters = [matter for hand in hands if (hand.name in HELD_OUT) is held_out for matter in hand.matters]
                rows.append([f"{which}: {name}", *measured(repo, matters)])
            repo.close()
        quiet = silence(hands, Path(temporary))
    print(table(HEAD, rows))
    print(table(["memory", "questions", "answered", "unrelated prompts that get something"], quiet))
    return 0


if __name__ == "__main__":
    sys.exit(main())
