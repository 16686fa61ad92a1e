"""How much longer `claude -p` takes with our hooks and MCP server than without: real program, scripted model, in turns.

    python bench/host_time.py PROGRAMS [PAIRS] [--before FOLDER]

PROGRAMS is the folder of the installed hosts' programs (`make hosts` makes `.hosts/node_modules/.bin`), FOLDER another
copy of our sources. Each pair runs one prompt that calls memory_search, without us and with us (and with the other
copy), in the same project with an empty home. Wall time, and processor time of the host and all it started and waited
for. On a busy machine the ratios of a turn mean more than the times.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(SOURCE)]  # not this folder: a module `mcp` is in it

from integrations.hosts.drivers import DRIVERS, Driver, Scratch  # noqa: E402
from integrations.hosts.endpoint import serving  # noqa: E402
from integrations.hosts.session import FIRST, MEMORY, script  # noqa: E402

HOST = "claude"


def prepare(driver: Driver, folder: Path, programs: Path, url: str, source: Path | None) -> Scratch:
    """A project with memory and an empty home; registered with the host where `source` is a copy of our sources."""
    scratch = Scratch(folder / "home", folder / "project", programs, url)
    for place in (scratch.home, scratch.project, folder / "bin"):
        place.mkdir(parents=True)
    scratch.write(".gitconfig", "[user]\n\tname = A person\n\temail = person@example.com\n")
    path = os.pathsep.join([str(folder / "bin"), str(programs), os.environ["PATH"]])
    scratch.environ = {"HOME": str(scratch.home), "PATH": path, "NO_COLOR": "1", "CI": "1", "NO_PROXY": "127.0.0.1"}
    scratch.environ |= driver.prepare(scratch)
    for name, text in MEMORY.items():
        (scratch.project / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch.project / name).write_text(text, encoding="utf-8")
    commands = [["git", "init", "-q"], ["git", "add", "-A"], ["git", "commit", "-q", "-m", "memory"]]
    if source is not None:
        program = folder / "bin/git-mem"
        program.write_text(f'#!/bin/sh\nexport PYTHONPATH={source}\nexec {sys.executable} -m gitmem "$@"\n')
        program.chmod(0o755)
        commands += [["git-mem", "index"], ["git-mem", "install", "--agent", HOST]]
    for command in commands:
        subprocess.run(command, cwd=scratch.project, env=scratch.environ, check=True, capture_output=True)
    return scratch


def run(driver: Driver, scratch: Scratch) -> tuple[float, float]:
    """Wall and processor seconds of one prompt."""
    began = time.perf_counter()
    started = subprocess.Popen(
        driver.prompt(FIRST, False), cwd=scratch.project, env=scratch.environ, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, used = os.wait4(started.pid, 0)
    wall = time.perf_counter() - began
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise SystemExit(f"{HOST} exited {started.returncode}")
    return wall, used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, a line a pair and the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("pairs", type=int, nargs="?", default=5)
    parser.add_argument("--before", type=Path)
    given = parser.parse_args()
    driver = next(driver for driver in DRIVERS if driver.name == HOST)
    sources: dict[str, Path | None] = {"without": None, "with": SOURCE}
    if given.before is not None:
        sources["before"] = given.before.resolve()
    with tempfile.TemporaryDirectory() as folder, serving(script) as endpoint:
        made = {
            name: prepare(driver, Path(folder) / name, given.programs.resolve(), endpoint.url, source)
            for name, source in sources.items()
        }
        ratios: dict[str, list[tuple[float, float]]] = {name: [] for name in list(sources)[1:]}
        for name in sources:  # the first run of each makes caches
            run(driver, made[name])
        for pair in range(given.pairs):
            times = {name: run(driver, made[name]) for name in sources}
            words = ", ".join(f"{name} {wall:.2f} s ({used:.2f})" for name, (wall, used) in times.items())
            print(f"{pair + 1}: {words}; load {os.getloadavg()[0]:.1f}", flush=True)
            for name, rows in ratios.items():
                rows.append((times[name][0] / times["without"][0], times[name][1] / times["without"][1]))
    for name, rows in ratios.items():
        wall, used = (statistics.median(row[at] for row in rows) for at in (0, 1))
        print(f"{name}: {wall:.2f} times the time without, processor {used:.2f} times")


if __name__ == "__main__":
    main()
