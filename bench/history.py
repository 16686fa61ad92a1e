"""What the history costs, and whether questions find the commits that answer them.

    python bench/history.py [--commits 100000] [--json]
    python bench/history.py --repo ~/src/ripgrep --questions bench/history_questions/ripgrep.tsv

Without `--repo` a history is made: messages of about 300 bytes of this project's words, one to three files a commit. A
row of a questions file is an oid (or its beginning), a tab and a question that paraphrases what only that commit's
message says; commits after the questions were written can only make it harder.

Aims, on two cores: 100,000 commits in 40 s, one more commit in 5 ms. Times are processor time of this process and its
children, which says less of a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

SOURCE = Path(__file__).parent.parent
sys.path.insert(0, str(SOURCE))

ASKED = ("why is the index built again", "which hook runs before the commit", "how long are daily logs kept")


def words() -> list[str]:
    """Words of the pages of this project."""
    text = " ".join(path.read_text(encoding="utf-8") for path in sorted((SOURCE / "docs").glob("*.md")))
    return [word for word in text.split() if word.isalnum()]


def build(root: Path, commits: int) -> None:
    """A branch of so many commits, by `git fast-import`."""
    dice, known = random.Random(1), words()
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    git = subprocess.Popen(["git", "-C", str(root), "fast-import", "--quiet"], stdin=subprocess.PIPE)
    assert git.stdin is not None
    with git.stdin as stream:
        for number in range(1, commits + 1):
            lines = [" ".join(dice.choices(known, k=7)) + f" {number}", ""]
            while sum(map(len, lines)) < 280:
                lines.append(" ".join(dice.choices(known, k=11)))
            message = "\n".join(lines).encode()[:300]
            who = f"A U{number % 40} <a@b.c> {1_600_000_000 + number * 60} +0000"
            head = f"commit refs/heads/main\nmark :{number}\ncommitter {who}\n"
            stream.write(head.encode() + b"data %d\n" % len(message) + message + b"\n")
            stream.write(b"from :%d\n" % (number - 1) if number > 1 else b"")
            for _ in range(dice.randint(1, 3)):
                path = f"src/mod{dice.randint(0, 60)}/file{dice.randint(0, 40)}.py"
                stream.write(f"M 100644 inline {path}\ndata {len(str(number))}\n{number}\n".encode())
    if git.wait():
        raise SystemExit("git fast-import failed")


def processor() -> float:
    """Seconds this process and its ended children have used."""
    rows = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(row.ru_utime + row.ru_stime for row in rows)


def spent(run: Callable[[], object]) -> float:
    """Processor seconds of a run."""
    began = processor()
    run()
    return processor() - began


def costs(root: Path) -> dict[str, float]:
    """Building, one more commit, a search, an old commit."""
    from gitmem.config import Config
    from gitmem.git.opening import open_repository
    from gitmem.index import history_indexer
    from gitmem.index.history_tips import Bounds
    from gitmem.search.search import Query, search

    config, bounds, now = Config(), Bounds(3_600, 5), datetime.now(UTC)
    found: dict[str, float] = {}

    def refresh() -> float:
        repo = open_repository(root, os.environ)
        repo.head()
        took = spent(lambda: history_indexer.refresh(repo, config, bounds))
        repo.close()
        return took

    began = time.perf_counter()
    found["build, processor s"] = refresh()
    found["build, wall s"] = time.perf_counter() - began
    more = []
    for number in range(15):
        message = f"Ping the gateway {number}\n\nIt drops connections that are idle for {number} seconds."
        commit = ["-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-q", "--allow-empty", "-m", message]
        subprocess.run(["git", "-C", str(root), *commit], check=True)
        more.append(refresh() - refresh())
    found["one more commit, ms"] = 1000 * statistics.median(more)
    repo = open_repository(root, os.environ)
    count = int(subprocess.check_output(["git", "-C", str(root), "rev-list", "--count", "HEAD"]))
    old = repo.resolve(f"HEAD~{count * 2 // 5}")
    queries = [Query(text, history="only") for text in ASKED] * 4
    searches = [spent(partial(search, repo, config, query, now)) for query in queries]
    found["search, ms"] = 1000 * statistics.median(searches)
    at = Query(ASKED[0], history="only", commit=old)
    found["first --at, ms"] = 1000 * spent(lambda: search(repo, config, at, now))
    found["second --at, ms"] = 1000 * spent(lambda: search(repo, config, at, now))
    found["rev-list, ms"] = 1000 * spent(lambda: sum(1 for _ in repo.reaches(old)))
    repo.close()
    return found


def answers(root: Path, questions: Path) -> dict[str, float]:
    """The share of questions whose commit is first, and among the first five."""
    from gitmem.config import Config
    from gitmem.git.opening import open_repository
    from gitmem.search.search import Query, search

    repo, first, five, total = open_repository(root, os.environ), 0, 0, 0
    for row in questions.read_text(encoding="utf-8").splitlines():
        oid, question = row.split("\t")
        hits = search(repo, Config(), Query(question, limit=5, history="only"), datetime.now(UTC)).hits
        places = [place for place, hit in enumerate(hits, 1) if hit.commit.startswith(oid)]
        first, five, total = first + (1 in places), five + bool(places), total + 1
    repo.close()
    return {"questions": total, "hit@1": first / total, "hit@5": five / total}


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    reader.add_argument("--commits", type=int, default=100_000)
    reader.add_argument("--repo", type=Path)
    reader.add_argument("--questions", type=Path)
    reader.add_argument("--json", action="store_true")
    given = reader.parse_args()
    if given.repo is not None:
        found = answers(given.repo, given.questions)
    else:
        with tempfile.TemporaryDirectory() as folder:
            build(Path(folder) / "r", given.commits)
            found = costs(Path(folder) / "r")
    if given.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:24} {value:10.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
