"""How fast the index is built and kept: first build, one changed file, a branch switch, old commits, a tree.

    python bench/index.py [--files 10000] [--commits 30] [--json]

A chunk is what the index finds and embeds as one: a section of a file, or a piece of one of at most `mem.chunkSize`
tokens (200). Only distinct ones that were parsed, embedded and stored count.

Aims, on two slow cores: 3,000 chunks a second at first; the refresh hook adds at most 0.15 s to a commit (what it
starts may take longer: "refresh, all of it"); an index of at most four times the text; a branch switch embeds
nothing; `--at` an indexed commit at most twice HEAD's time; looking at 10,000 files at most 50 ms.
Times are wall clock, the best of a few runs where a run can be repeated; CPU time is said too, for busy machines.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from pathlib import Path

SOURCE = Path(__file__).parent.parent
sys.path.insert(0, str(SOURCE))

AIMS = {
    "chunks a second": 3000.0,
    "index / text": 4.0,
    "hook adds ms": 150.0,
    "look ms": 50.0,
    "at / head": 2.0,
    "switch embeds": 0.0,
}


def sentences() -> list[str]:
    """Lines of the example workspace: English and Korean, as people write logs."""
    found = []
    for path in sorted((SOURCE / "examples").rglob("*.md")):
        found += [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]
    assert found
    return found


def build(root: Path, files: int, commits: int) -> None:
    """`files` daily logs of one section each, then `commits` commits that append to one and rewrite MEMORY.md."""
    dice, lines = random.Random(1), sentences()

    def line(number: int) -> str:
        words = f"{dice.choice(lines)} {dice.choice(lines)[2:]}".split()
        return " ".join(words[: dice.randint(8, 20)]) + f" ({number * 7919 % 100_003})"

    memory = root / "memory"
    memory.mkdir(parents=True)
    for number in range(files):
        day = (date(1990, 1, 1) + timedelta(number)).isoformat()
        body = [f"# {day}", "", f"## {9 + number % 9:02}:00 - {line(number)[2:40]}"]
        body += [line(number * 10 + n) for n in range(dice.randint(3, 7))]
        (memory / f"{day}.md").write_text("\n".join(body) + "\n", encoding="utf-8")
    git(root, "init", "-q", "-b", "main", ".")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "logs")
    for number in range(commits):
        day = (date(1990, 1, 1) + timedelta(number * 17 % files)).isoformat()
        with (memory / f"{day}.md").open("a", encoding="utf-8") as file:
            file.write(line(number) + "\n")
        facts = "\n".join(line(n) for n in range(number // 2, number // 2 + 40))
        (root / "MEMORY.md").write_text(f"# Memory\n\n## Facts\n{facts}\n", encoding="utf-8")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", f"day {number}")


def git(root: Path, *args: str) -> str:
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "gc.auto=0")
    done = subprocess.run(["git", "-C", str(root), *identity, *args], check=True, capture_output=True, text=True)
    return done.stdout


def timed(run: Callable[[], object], times: int = 1) -> float:
    """Milliseconds of the best run."""
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - began)
    return best * 1000


def cpu() -> float:
    """Seconds of CPU this process and its ended children have used."""
    rows = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(row.ru_utime + row.ru_stime for row in rows)


def commit(root: Path) -> float:
    """Milliseconds of a commit of what is staged. Comes back when all that its hook started has ended as well."""
    ours, theirs = os.pipe()
    with os.fdopen(ours) as pipe:
        command = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "gc.auto=0", "commit"]
        began = time.perf_counter()
        env = {**os.environ, "PYTHONPATH": str(SOURCE)}
        subprocess.run([*command, "-q", "-m", "one file"], cwd=root, check=True, pass_fds=[theirs], env=env)
        spent = time.perf_counter() - began
        os.close(theirs)
        pipe.read()
    return spent * 1000


def refresh(root: Path) -> None:
    """What the hook starts, in the foreground."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "GITMEM_FOREGROUND": "1"}
    subprocess.run([sys.executable, "-P", "-m", "gitmem", "hook", "post-commit"], cwd=root, check=True, env=env)


def measure(root: Path, commits: int) -> dict[str, float]:
    from gitmem.config import Config
    from gitmem.git.hooks.block import shim
    from gitmem.git.opening import open_repository
    from gitmem.index import freshness, index_file, indexer
    from gitmem.index.blob_indexer import Work
    from gitmem.memory.snapshot import read_work_tree

    config = Config()
    repo = open_repository(root, os.environ)
    found: dict[str, float] = {}
    began = cpu()
    works: list[Work] = []
    spent = timed(lambda: works.append(indexer.refresh(repo, config)))
    work = works[0]
    found["chunks"] = work.chunks
    found["first build s"] = spent / 1000
    found["chunks a second"] = work.chunks / spent * 1000
    found["chunks a CPU second"] = work.chunks / (cpu() - began)
    text = sum(path.stat().st_size for path in root.rglob("*.md"))
    found["index / text"] = sum(f.stat().st_size for f in index_file.directory(repo).glob("index.sqlite*")) / text
    old = time.time_ns() - 3_600_000_000_000
    for path in root.rglob("*.md"):
        os.utime(path, ns=(old, old))
    indexer.refresh(repo, config)
    found["look ms"] = timed(lambda: read_work_tree(repo, ()), 5)
    found["current ms"] = timed(lambda: freshness.ready(repo, config).close(), 5)

    bare = timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), 5)
    runs: list[float] = []
    plain: list[float] = []
    hooked: list[float] = []
    for number in range(15):
        hook = root / ".git" / "hooks" / "post-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.unlink(missing_ok=True)
        if number % 3 == 2:
            hook.write_text(shim("post-commit", sys.executable))
            hook.chmod(0o755)
        with (root / "MEMORY.md").open("a", encoding="utf-8") as file:
            file.write(f"- one more fact, number {number}\n")
        git(root, "add", "-A")
        spent = commit(root)
        (hooked if number % 3 == 2 else plain).append(spent)
        if number % 3 == 0:
            runs.append(timed(lambda: refresh(root)))
    found["hook adds ms"] = min(hooked) - min(plain)
    found["hook adds, median ms"] = statistics.median(hooked) - statistics.median(plain)
    found["refresh, all of it ms"] = min(runs)
    found["python start ms"] = bare

    git(root, "checkout", "-q", "-b", "old", f"HEAD~{commits // 2}")
    indexer.refresh(repo, config)
    git(root, "checkout", "-q", "main")
    works.clear()
    found["switch ms"] = timed(lambda: works.append(indexer.refresh(repo, config)))
    found["switch embeds"] = works[0].embedded

    head, *past = git(root, "rev-list", f"--max-count={commits // 2}", "HEAD").split()

    def at(oid: str) -> None:
        freshness.ready(repo, config, oid).close()

    at(head)
    found["head ms"] = timed(partial(at, head), 5)
    for oid in past:
        indexer.refresh(repo, config, revs=[oid])
    fresh = [timed(partial(at, oid)) for oid in past[:8]]
    found["at, first time ms"] = statistics.median(fresh)
    found["at, again ms"] = statistics.median([timed(partial(at, oid), 3) for oid in past[:8]])
    found["at / head"] = found["at, again ms"] / found["head ms"]
    repo.close()
    return {name: round(value, 3) for name, value in found.items()}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="git-mem-bench-") as folder:
        root = Path(folder) / "memory-repository"
        root.mkdir()
        build(root, options.files, options.commits)
        found = measure(root, options.commits)
    load = os.getloadavg()[0]
    if options.json:
        print(json.dumps({"machine": platform.platform(), "cores": os.cpu_count(), "load": load, **found}))
        return
    print(f"{platform.platform()}, {os.cpu_count()} cores, load {load:.1f}")
    for name, value in found.items():
        aim = AIMS.get(name)
        print(f"{name:22} {value:12,.1f}" + (f"   aim {aim:,.0f}" if aim is not None else ""))


if __name__ == "__main__":
    main()
