"""Whether real memories answer by what they are about: questions with their answers, titles, headings, sections.

    GITMEM_BENCH_DATA=DIR GITMEM_BENCH_REAL=CHECKOUTS python bench/real_memories.py

DIR has `real-memories/questions.tsv` (repository, question, pattern of the answer). CHECKOUTS has a clone OWNER+NAME of
each of these repositories, and of others: of every one a sample of its notes is asked by file name and by heading.
Nothing of their text is kept. The last rows need neither: one section a thing, in English and Korean.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._sets import table
from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.memory.statements import Form, read
from gitmem.paths import file_name_words, in_default_corpus, layout_of
from gitmem.search.hits import Hit
from gitmem.search.search import Query, search

NOW = datetime(2026, 8, 1, tzinfo=UTC)
SAMPLE = 25  # titles, and headings, asked of a repository
Right = Callable[[Hit], bool]
BOATS = (("Heron", 90, "teak"), ("Gannet", 140, "ash"), ("Siskin", 75, "oak"), ("Wren", 60, "elm"))
SERVICES = (("배송", 45, "물류"), ("결제", 8, "정산"), ("검색", 3, "플랫폼"), ("알림", 20, "운영"))
THINGS = {
    "English": [
        (name, f"## {name}\n\n- oil is changed at {hours} hours\n- planks are of {wood}\n", {
            f"when is the oil of the {name} changed": f"{hours} hours",
            f"what wood are the planks of the {name}": f"of {wood}",
        })
        for name, hours, wood in BOATS
    ],
    "Korean": [
        (name, f"## {name}\n\n- 타임아웃은 {seconds}초\n- 담당은 {team} 팀\n", {
            f"{name} 타임아웃은 몇 초야?": f"{seconds}초", f"{name} 담당 팀이 어디지": f"{team} 팀",
        })
        for name, seconds, team in SERVICES
    ],
}  # fmt: skip


def main() -> int:
    """A row a repository and kind of question: how many, right first, right in five."""
    rows: list[list[object]] = []
    checkouts = Path(os.environ.get("GITMEM_BENCH_REAL", ""))
    if os.environ.get("GITMEM_BENCH_REAL") and checkouts.is_dir():
        for root in sorted(path for path in checkouts.iterdir() if (path / ".git").exists()):
            rows += [
                [f"{root.name} {kind}", *_figures(root, list(asked))]
                for kind, asked in (
                    ("questions", _questions(root)),
                    ("titles", _titles(root)),
                    ("headings", _headings(root)),
                )
            ]
    else:
        print("GITMEM_BENCH_REAL names no folder: no real memory asked")
    for language, things in THINGS.items():
        with tempfile.TemporaryDirectory() as folder:
            root = _made(Path(folder), "".join(text + "\n" for _, text, _ in things))
            asked = [(question, _has(re.escape(part))) for _, _, of in things for question, part in of.items()]
            rows.append([f"one section a thing, {language}", *_figures(root, asked)])
    rows = [row for row in rows if row[1]]
    for kind in ("questions", "titles", "headings"):
        some = [row for row in rows if str(row[0]).endswith(kind)]
        if some:
            total = sum(int(str(row[1])) for row in some)
            means = [sum(float(str(row[at])) * int(str(row[1])) for row in some) / total for at in (2, 3)]
            rows.append([f"all {kind}", total, *means])
    print(table(["memory", "n", "first", "in five"], rows))
    return 0


def _figures(root: Path, asked: list[tuple[str, Right]]) -> tuple[int, float, float]:
    first = five = 0
    repo = open_repository(root, os.environ)
    for question, right in asked:
        hits = [right(hit) for hit in search(repo, Config(), Query(question, limit=5), NOW).hits]
        first += hits[:1] == [True]
        five += any(hits)
    repo.close()
    return len(asked), first / max(1, len(asked)), five / max(1, len(asked))


def _has(pattern: str) -> Right:
    return lambda hit: bool(re.search(pattern, "\n".join((hit.text, hit.heading, *hit.trail)), re.IGNORECASE))


def _questions(root: Path) -> Iterator[tuple[str, Right]]:
    source = Path(os.environ.get("GITMEM_BENCH_DATA", "")) / "real-memories" / "questions.tsv"
    for row in source.read_text(encoding="utf-8").splitlines() if source.exists() else ():
        repository, question, pattern = row.split("\t")
        if repository.replace("/", "+") == root.name:
            yield question, _has(pattern)


def _notes(root: Path) -> list[str]:
    done = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=True)
    paths = [path for path in done.stdout.decode("utf-8", "surrogateescape").split("\0") if path]
    layout = layout_of(paths, ())
    return [path for path in paths if in_default_corpus(path, layout) and (root / path).exists()]


def _titles(root: Path) -> Iterator[tuple[str, Right]]:
    named = {path: file_name_words(path) for path in _notes(root)}
    often = Counter(named.values())
    once = [path for path, words in named.items() if len(words) > 6 and often[words] == 1]
    random.Random(7).shuffle(once)
    for path in once[:SAMPLE]:
        yield named[path], _in_lines(path)


def _headings(root: Path) -> Iterator[tuple[str, Right]]:
    places: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for path in _notes(root):
        found = read((root / path).read_text(encoding="utf-8", errors="replace").split("\n"))
        titles = [at for at, one in enumerate(found) if one.form is Form.HEADING and one.text]
        for at, until in zip(titles, [*titles[1:], len(found)], strict=True):
            if any(one.has_content for one in found[at:until]):
                places[found[at].text].append((path, found[at].first, found[until - 1].last))
    once = [(text, of[0]) for text, of in places.items() if len(of) == 1 and 8 < len(text) < 70]
    random.Random(7).shuffle(once)
    for text, (path, first, last) in once[:SAMPLE]:
        yield text, _in_lines(path, first, last)


def _in_lines(path: str, first: int = 1, last: int = sys.maxsize) -> Right:
    """A hit is right where it begins in these lines of the file."""
    return lambda hit: hit.path == path and first <= hit.start_line <= last


def _made(folder: Path, text: str) -> Path:
    (folder / "memory").mkdir()
    (folder / "memory/things.md").write_text("# Things\n\n" + text, encoding="utf-8")
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "memory"]):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())
