"""How long the MCP server takes, over real stdio with the SDK's own client: the first answer, then warm searches.

Beside them, in the same run and in turns, what a server of the SDK with one tool that does nothing takes.

    python bench/mcp.py 10000 [REPOSITORY]

Makes a repository of invented notes (as bench/search.py) unless one is named. The first answer counts from the start
of the process to the result of memory_search; what the client itself needs to import is not in it. Wall time means
little on a busy machine, so the server's processor time (Linux: /proc) stands beside it.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(SOURCE)]  # not this folder: a module `mcp` is in it

import anyio  # noqa: E402
from mcp import Client, StdioServerParameters  # noqa: E402

from bench.search import build  # noqa: E402

COLD, CLIENTS = 5, 8
WARMING = 12  # searches before those that count: the tenth opens the repository over libgit2, once
EMPTY = """
from mcp.server import MCPServer
server = MCPServer("empty")
@server.tool()
def memory_search(query: str) -> str:
    return query
server.run("stdio")
"""


def server(root: Path) -> StdioServerParameters:
    """What a host starts."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return StdioServerParameters(command=sys.executable, args=["-m", "gitmem", "mcp"], cwd=str(root), env=env)


def empty(root: Path) -> StdioServerParameters:
    """A server of the SDK with one tool that answers what it was asked."""
    return StdioServerParameters(command=sys.executable, args=["-c", EMPTY], cwd=str(root), env=dict(os.environ))


def processor() -> dict[int, float]:
    """Processor milliseconds of every child process of this one, its own finished children included."""
    found = {}
    tick = os.sysconf("SC_CLK_TCK")
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found[int(stat.parent.name)] = 1000 * sum(map(int, fields[11:15])) / tick
    return found


async def ask(client: Client, question: str) -> Any:
    """One search; raises where the server says no."""
    answer = await client.call_tool("memory_search", {"query": question})
    if answer.is_error:
        raise SystemExit(str(answer.content))
    return answer


async def first(started: StdioServerParameters, question: str) -> tuple[float, float]:
    """Wall and processor milliseconds from the start of a server to its first answer."""
    began = time.perf_counter()
    async with Client(started) as client:
        await ask(client, question)
        return (time.perf_counter() - began) * 1000, sum(processor().values())


async def warm_empty(root: Path, questions: list[str]) -> tuple[float, float]:
    """Median wall and mean processor milliseconds of a call of the empty server."""
    async with Client(empty(root)) as client:
        await ask(client, questions[0])
        before = sum(processor().values())
        walls = [await timed(ask(client, question)) for question in questions]
        return statistics.median(walls), (sum(processor().values()) - before) / len(questions)


async def warm(root: Path, questions: list[str]) -> tuple[float, float, float, float]:
    """Median wall milliseconds of a search and of memory_get, the median search's 95th percentile, and processor
    milliseconds a search."""
    async with Client(server(root)) as client:
        for question in questions[-WARMING:]:
            await ask(client, question)
        before = sum(processor().values())
        walls = [await timed(ask(client, question)) for question in questions]
        used = (sum(processor().values()) - before) / len(questions)
        reads = []
        for _ in questions:
            reads.append(await timed(client.call_tool("memory_get", {"path": "memory/note-00000.md", "lines": 5})))
    return statistics.median(walls), statistics.quantiles(walls, n=20)[-1], used, statistics.median(reads)


async def timed(call: Any) -> float:
    """Wall milliseconds of one call."""
    began = time.perf_counter()
    await call
    return (time.perf_counter() - began) * 1000


async def together(root: Path, questions: list[str]) -> tuple[float, float]:
    """Clients that each start a server and search ten times at once: wall seconds in all, median milliseconds of a
    search."""
    walls: list[float] = []

    async def one(at: int) -> None:
        async with Client(server(root)) as client:
            for question in questions[at : at + 10]:
                walls.append(await timed(ask(client, question)))

    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for at in range(CLIENTS):
            group.start_soon(one, at)
    return time.perf_counter() - began, statistics.median(walls)


def report(root: Path, questions: list[str]) -> None:
    """A line a figure, with what it should be."""
    starts, bare = [], []
    for question in questions[:COLD]:  # in turns: what else the machine does meets both
        starts.append(anyio.run(first, server(root), question))
        bare.append(anyio.run(first, empty(root), question))
    best, middle = min(wall for wall, _ in starts), statistics.median(wall for wall, _ in starts)
    used = min(used for _, used in starts)
    print(f"first answer      {best:7.0f} ms at best, {middle:.0f} in the middle; processor {used:.0f} ms")
    best_bare, used_bare = min(wall for wall, _ in bare), min(used for _, used in bare)
    print(f"  of an empty one {best_bare:7.0f} ms at best; processor {used_bare:.0f} ms")
    print(f"  over it         {best - best_bare:7.0f} ms; processor {used - used_bare:.0f} ms (aim 200)")
    median, late, used, reads = anyio.run(warm, root, questions)
    print(f"warm search       {median:7.1f} ms in the middle, 95 % within {late:.1f}; processor {used:.1f} ms (aim 20)")
    print(f"warm memory_get   {reads:7.1f} ms")
    median, used = anyio.run(warm_empty, root, questions)
    print(f"warm empty call   {median:7.1f} ms in the middle; processor {used:.1f} ms")
    whole, each = anyio.run(together, root, questions)
    print(
        f"{CLIENTS} clients at once {whole:7.1f} s for {CLIENTS} starts and {10 * CLIENTS} searches, {each:.0f} ms each"
    )


def main() -> None:
    """Measure."""
    print(f"{platform.platform()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    chunks = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    if len(sys.argv) > 2:
        report(Path(sys.argv[2]), [f"note {word}" for word in "ba ce di fo gu ha je ki lo mu na pe qui ro su".split()])  # noqa: SIM905
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repo"
        questions = build(root, chunks)
        env = {**os.environ, "PYTHONPATH": str(SOURCE)}
        subprocess.run([sys.executable, "-m", "gitmem", "index"], cwd=root, check=True, capture_output=True, env=env)
        report(root, questions)


if __name__ == "__main__":
    main()
