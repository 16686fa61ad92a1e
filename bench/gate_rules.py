"""Whether any rule of the secret detectors can be made slow, and how fast the detectors read ordinary text.

    python bench/gate_rules.py [--size 200000] [--text FOLDER_OR_FILE]

Every row of the two tables gets texts written against it: its beginning over and over, its beginning and one endless
run, its sample all but complete, over and over. Aim: under 100 ms for each rule on 200 KB, and at least 5 MB/s for the
secrets pass on ordinary text. Exit 1 when a rule misses the aim. Times are of the process, so other work on the
machine does not count.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from re import Pattern
from types import ModuleType

SOURCE = Path(__file__).parent.parent
sys.path.insert(0, str(SOURCE))

from gitmem.gate.detectors.personal import pii  # noqa: E402
from gitmem.gate.detectors.secrets import cookies, passwords, secrets, tokens  # noqa: E402
from gitmem.gate.detectors.secrets.candidates import candidates  # noqa: E402
from gitmem.gate.detectors.secrets.rule_tables import shapes  # noqa: E402
from gitmem.gate.detectors.secrets.rule_tables import tokens as vendor_tokens  # noqa: E402
from gitmem.gate.detectors.text import Text  # noqa: E402
from tests.detector_examples.secrets import fake  # noqa: E402

AIM = 0.100


def seconds(work: Callable[[], object], runs: int = 2) -> float:
    """The best of some runs, in seconds of process time."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def hostile(beginning: str, sample: str, size: int) -> Iterator[str]:
    """Texts written against one rule."""
    cut = sample[:-1]
    for unit in (beginning, beginning + "1", beginning + " ", cut + ".", cut + "\n", sample + " ", sample):
        yield unit * (size // max(1, len(unit)))
    for filler in ("a1B2c3D4", "-", "a.", "0/", "A"):
        yield (beginning + filler * size)[:size]


def rules(size: int) -> Iterator[tuple[str, float]]:
    """(rule, seconds for the worst text written against it), for each row of the tables alone."""
    for row, (rule, _, starts, rest) in enumerate(vendor_tokens()):
        start = starts.split()[0]
        escaped = start.replace("$", "\\$").replace("|", "\\|")
        pattern = tokens._token_pattern(row, start)
        worst = 0.0
        for text in hostile(start, fake(escaped + rest), size):

            def look(text: str = text, pattern: Pattern[str] = pattern, start: str = start) -> None:
                at = text.find(start)
                seen = 0
                while at >= 0 and seen < tokens._MAX_OCCURRENCES:
                    seen += 1
                    pattern.match(text, at)
                    at = text.find(start, at + 1)

            worst = max(worst, seconds(look, 1))
        yield rule, worst
    for row, shape in enumerate(shapes()):
        literals = shape.literals
        pattern = tokens._shape_pattern(row)
        worst = 0.0
        for text in hostile(literals[0] if literals else "a1", fake(shape.sample), size):
            seen_ = candidates(text)
            places = [run for run in seen_.runs if run[1] - run[0] >= 32]
            if literals:
                places = list(tokens._windows(seen_.low, literals))

            def run(text: str = text, pattern: Pattern[str] = pattern, places: list[tuple[int, int]] = places) -> None:
                for first, last in places:
                    for _ in pattern.finditer(text, first, last):
                        pass

            worst = max(worst, seconds(run, 1))
        yield shape.rule, worst


def throughput(documents: list[str]) -> Iterator[tuple[str, float]]:
    """(what, megabytes a second) over the documents."""
    size = sum(len(document.encode()) for document in documents) / 1e6
    for room in (secrets, passwords, cookies, pii):
        texts = [Text(document) for document in documents]
        for text in texts:
            text.norm  # noqa: B018  (shared by all detectors, measured elsewhere)

        def work(texts: list[Text] = texts, room: ModuleType = room) -> None:
            candidates.cache_clear()
            for text in texts:
                list(room.detect(text))

        yield room.__name__.rpartition(".")[2], size / seconds(work)
    yield "secret_lines", size / seconds(lambda: [secrets.secret_lines(document) for document in documents])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=200_000)
    parser.add_argument("--text", type=Path, default=SOURCE)
    options = parser.parse_args()
    worst = sorted(rules(options.size), key=lambda pair: -pair[1])
    print(f"{len(worst)} rules on {options.size} bytes written against each; slowest:")
    for rule, took in worst[:8]:
        print(f"  {rule:34} {took * 1000:7.1f} ms")
    path: Path = options.text
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*.md") if ".git" not in p.parts)
    documents = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    print(f"{len(documents)} documents:")
    for what, speed in throughput(documents):
        print(f"  {what:34} {speed:7.1f} MB/s")
    return 1 if worst[0][1] > AIM else 0


if __name__ == "__main__":
    raise SystemExit(main())
