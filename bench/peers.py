"""This project beside other ways to search the same notes: quality, time and memory of one run, as ratios.

    GITMEM_BENCH_DATA=DIR python bench/peers.py [--questions N] [--all]

`git grep` is always there, and SQLite's FTS5 (BM25 over lines) as a floor; ripgrep, qmd and memsearch where they are
on the PATH. Each indexes the same repository and is asked the same N questions (30, evenly drawn; of one conversation
and the Korean notes, or of all with --all). Cold is a whole process; warm the middle of searches in one process, where
there is such a thing. Without GITMEM_BENCH_DATA invented notes are searched, and no quality is measured.
A program that only finds words (git grep, ripgrep) gets the question's words joined by OR, and its lines are ranked by
how many of them they have.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._sets import NONE, SOURCE, models, repository, sets, table
from bench.quality import NOW
from bench.search import build
from gitmem.search.hits import Hit

HITS = 50
COLD = 5  # processes whose middle is the cold time
FIGURES = ("recall@5", "hit@5", "share@500", "share@1000")
STOP = re.compile(
    "(?i)(an?|and|are|as|at|be|by|did|do|does|for|from|had|has|have|how|in|is|it|of|on|or|that|the|their|they|this|to|"
    "was|were|what|when|where|which|who|why|will|with|would|you)"
)


def passage(path: str, start_line: int, text: str) -> Hit:
    """A hit of a search that tells no more than where it is and what it says."""
    return Hit(path, start_line, start_line + text.count("\n"), "", text, 0.0, "", "", (), "", "", "", "")


class Run(NamedTuple):
    """A process that ended: its output, seconds, seconds of processor, largest resident megabytes."""

    out: bytes
    wall: float
    cpu: float
    megabytes: float


Ask = Callable[[str], list[Hit]]


@dataclass
class Peer:
    """One way to search a repository. `cold` is the command of one search; `ask` answers in this process or by one;
    `warm` is whether `ask` is a search in a process that is already there."""

    name: str
    index: Callable[[Path, Path], None]
    cold: Callable[[Path, Path, str], list[str]]
    asking: Callable[[Path, Path], AbstractContextManager[Ask]]
    warm: bool = False
    environ: dict[str, str] = field(default_factory=dict)


# A process of its own starts the command: a child is said to be as large as the process it was forked from.
START = """
import json, os, sys, time
began = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
wall = time.perf_counter() - began
with open(sys.argv[1], "w") as out:
    json.dump([os.waitstatus_to_exitcode(status), wall, used.ru_utime + used.ru_stime, used.ru_maxrss], out)
"""
LIMIT = 300  # seconds of one command


def run(command: Sequence[str], root: Path, environ: dict[str, str] | None = None) -> Run:
    """Run to the end, measured. Raises RuntimeError for an exit other than 0 and 1 (nothing found)."""
    name = Path(command[0]).name
    with tempfile.NamedTemporaryFile() as figures:
        try:
            done = subprocess.run(
                [sys.executable, "-S", "-E", "-c", START, figures.name, *command], cwd=root, stdin=subprocess.DEVNULL,
                capture_output=True, env={**os.environ, **(environ or {})}, check=False, timeout=LIMIT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{name} took longer than {LIMIT} s") from None
        if done.returncode:
            raise RuntimeError(f"{name} cannot be run")
        code, wall, cpu, kilobytes = json.loads(figures.read())
    if code not in (0, 1):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RuntimeError(f"{name} exited {code}: {said[-1] if said else ''}")
    return Run(done.stdout, wall, cpu, kilobytes / 1024)


def words(question: str) -> list[str]:
    """The question's words as a person would grep for them."""
    found = [word for word in re.findall(r"\w+", question) if not STOP.fullmatch(word)]
    return list(dict.fromkeys(found)) or [question]


# -- git mem -------------------------------------------------------------------------------------------------


def ours() -> Peer:
    environ = {"PYTHONPATH": str(SOURCE)}

    @contextmanager
    def asking(root: Path, scratch: Path) -> Iterator[Ask]:
        from gitmem.config import Config
        from gitmem.git.opening import open_repository
        from gitmem.search.search import Query, search

        repo = open_repository(root, os.environ)
        try:
            yield lambda question: list(search(repo, Config(), Query(question, limit=HITS), NOW).hits)
        finally:
            repo.close()

    return Peer(
        "git mem",
        lambda root, scratch: run([sys.executable, "-m", "gitmem", "index"], root, environ) and None,
        lambda root, scratch, question: [sys.executable, "-m", "gitmem", "search", question],
        asking,
        True,
        environ,
    )


# -- words in lines ------------------------------------------------------------------------------------------


def grep(name: str, command: Sequence[str]) -> Peer:
    """A program that prints PATH:LINE:TEXT for each line with any of the words."""

    def cold(root: Path, scratch: Path, question: str) -> list[str]:
        return [*command, *(part for word in words(question) for part in ("-e", word)), "--", "memory"]

    @contextmanager
    def asking(root: Path, scratch: Path) -> Iterator[Ask]:
        def ask(question: str) -> list[Hit]:
            wanted = [word.lower() for word in words(question)]
            found = []
            for line in run(cold(root, scratch, question), root).out.decode("utf-8", "replace").splitlines():
                path, number, text = line.split(":", 2)
                found.append(passage(path, int(number), text))
            return sorted(found, key=lambda hit: -sum(word in hit.text.lower() for word in wanted))[:HITS]

        yield ask

    return Peer(name, lambda root, scratch: None, cold, asking)


# -- FTS5 ----------------------------------------------------------------------------------------------------

FTS = """
import sys, apsw
for row in apsw.Connection(sys.argv[1]).execute(
    "SELECT path, line, text FROM lines WHERE lines MATCH ? ORDER BY bm25(lines) LIMIT 50", (sys.argv[2],)
):
    print(*row, sep=":")
"""


def fts5() -> Peer:
    """A table of lines with SQLite's own tokenizer and ranking; the question's words quoted and joined by OR."""

    def match(question: str) -> str:
        return " OR ".join('"' + word.replace('"', "") + '"' for word in words(question))

    def index(root: Path, scratch: Path) -> None:
        import apsw

        db = apsw.Connection(str(scratch / "fts.sqlite"))
        db.execute(
            "DROP TABLE IF EXISTS lines; CREATE VIRTUAL TABLE lines"
            " USING fts5(path UNINDEXED, line UNINDEXED, text, tokenize = 'porter unicode61')"
        )
        rows = [
            (path.relative_to(root).as_posix(), number, line)
            for path in sorted((root / "memory").rglob("*.md"))
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        ]
        with db:
            db.executemany("INSERT INTO lines VALUES (?, ?, ?)", rows)
        db.close()

    @contextmanager
    def asking(root: Path, scratch: Path) -> Iterator[Ask]:
        import apsw

        db = apsw.Connection(str(scratch / "fts.sqlite"))
        order = "SELECT path, line, text FROM lines WHERE lines MATCH ? ORDER BY bm25(lines) LIMIT 50"
        try:
            yield lambda question: [passage(*row) for row in db.execute(order, (match(question),))]
        finally:
            db.close()

    return Peer(
        "FTS5 BM25, lines",
        index,
        lambda root, scratch, question: [sys.executable, "-c", FTS, str(scratch / "fts.sqlite"), match(question)],
        asking,
        True,
    )


# -- qmd -----------------------------------------------------------------------------------------------------


def qmd(program: str, scratch: Path) -> Peer:
    """Its keyword search: its hybrid needs models that it downloads."""
    environ = {name: str(scratch / "qmd") for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}

    def index(root: Path, scratch: Path) -> None:
        shutil.rmtree(scratch / "qmd", ignore_errors=True)
        (scratch / "qmd").mkdir()
        run([program, "collection", "add", str(root), "--name", "bench", "--mask", "**/*.md"], root, environ)

    def cold(root: Path, scratch: Path, question: str) -> list[str]:
        return [program, "search", question, "-c", "bench", "-n", str(HITS), "--format", "json", "--full-path"]

    @contextmanager
    def asking(root: Path, scratch: Path) -> Iterator[Ask]:
        def ask(question: str) -> list[Hit]:
            found = []
            for hit in json.loads(run(cold(root, scratch, question), root, environ).out or b"[]"):
                # "@@ -11,4 @@ (10 before, 8 after)" begins the snippet: four lines from line 11.
                span = re.match(r"@@ -(\d+),(\d+) @@", hit["snippet"])
                first, count = (int(span[1]), int(span[2])) if span else (int(hit["line"]), 1)
                path = Path(os.path.normpath(root / hit["file"])).relative_to(root)
                lines = (root / path).read_text(encoding="utf-8").split("\n")
                found.append(passage(path.as_posix(), first, "\n".join(lines[first - 1 : first - 1 + count])))
            return found

        yield ask

    return Peer("qmd search", index, cold, asking, False, environ)


# -- memsearch -----------------------------------------------------------------------------------------------

MEMSEARCH = """
import asyncio, json, sys, time
from memsearch import MemSearch
async def main():
    root, db, url, model = sys.argv[1:5]
    memory = MemSearch([root + "/memory"], embedding_provider="openai", embedding_model=model, embedding_base_url=url,
                       embedding_api_key="none", milvus_uri=db, collection="bench")
    for line in sys.stdin:
        began = time.perf_counter()
        hits = await memory.search(json.loads(line), top_k=50)
        spent = time.perf_counter() - began
        print(json.dumps([spent, [[hit["source"], hit["start_line"], hit["end_line"]] for hit in hits]]), flush=True)
asyncio.run(main())
"""


def memsearch(program: str, url: str, model: str, scratch: Path) -> Peer:
    """Its hybrid search with the embeddings of a model that this program serves on the loopback interface."""
    python = Path(program).read_text(encoding="utf-8", errors="replace").split("\n", 1)[0].removeprefix("#!").strip()
    environ = {"HOME": str(scratch)}  # its settings and its index are not a person's

    def options(scratch: Path) -> list[str]:
        return ["--provider", "openai", "--base-url", url, "--api-key", "none", "--model", model,
                "--milvus-uri", str(scratch / "milvus.db"), "--collection", "bench"]  # fmt: skip

    def index(root: Path, scratch: Path) -> None:
        for old in scratch.glob("milvus*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        run([program, "index", str(root / "memory"), *options(scratch)], root, environ)

    @contextmanager
    def asking(root: Path, scratch: Path) -> Iterator[Ask]:
        child = subprocess.Popen(
            [python, "-c", MEMSEARCH, str(root), str(scratch / "milvus.db"), url, model], cwd=root,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **environ},
        )  # fmt: skip
        assert child.stdin is not None and child.stdout is not None
        pipes = child.stdin, child.stdout

        def ask(question: str) -> list[Hit]:
            pipes[0].write(json.dumps(question) + "\n")
            pipes[0].flush()
            _, hits = json.loads(pipes[1].readline())
            found = []
            for source, first, last in hits:
                lines = Path(source).read_text(encoding="utf-8").split("\n")
                path = Path(source).resolve().relative_to(root.resolve()).as_posix()
                found.append(passage(path, first, "\n".join(lines[first - 1 : last])))
            return found

        try:
            yield ask
        finally:
            child.stdin.close()
            child.wait(timeout=30)

    return Peer(
        f"memsearch, {model}",
        index,
        lambda root, scratch, question: [program, "search", question, "--top-k", "6", "-j", *options(scratch)],
        asking,
        True,
        environ,
    )


@contextmanager
def embeddings(model: Path) -> Iterator[str]:
    """An OpenAI-compatible endpoint with the vectors of a GGUF model, on the loopback interface."""
    from gitmem.config import Config
    from gitmem.models.embedding import open_embedder

    embedder = open_embedder(f"gguf:{model}", Config())
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            with lock:
                made = embedder.embed([asked] if isinstance(asked, str) else asked)
            rows = [{"object": "embedding", "index": at, "embedding": list(array("f", v))} for at, v in enumerate(made)]
            body = json.dumps(
                {"object": "list", "data": rows, "model": model.stem, "usage": {"prompt_tokens": 0, "total_tokens": 0}}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


# -- the comparison ------------------------------------------------------------------------------------------


def measured(peer: Peer, root: Path, scratch: Path, asked: Sequence[Any], quality: bool) -> dict[str, float]:
    """Seconds to index, cold and warm times, memory, and the figures of every question."""
    from gitmem.search.evaluation import question_figures

    began = time.perf_counter()
    peer.index(root, scratch)
    found = {"index": time.perf_counter() - began}
    with peer.asking(root, scratch) as ask:
        ask(asked[0].query)
        figures, times = [], []
        for each in asked:
            began = time.perf_counter()
            hits = ask(each.query)
            times.append((time.perf_counter() - began) * 1000)
            figures.append(question_figures(each, hits))
    runs = [run(peer.cold(root, scratch, each.query), root, peer.environ) for each in asked[:COLD]]
    found |= {
        "cold": statistics.median(done.wall for done in runs),
        "cpu": statistics.median(done.cpu for done in runs),
        "megabytes": max(done.megabytes for done in runs),
    }
    if peer.warm:
        found["warm"] = statistics.median(times)
    if quality:
        found |= {name: statistics.fmean(each[name] for each in figures) for name in FIGURES}
    return found


def ratio(over: float | None, under: float | None) -> str:
    return f"{over / under:.2f}" if over is not None and under else "-"


def report(title: str, found: dict[str, dict[str, float]], quality: bool) -> str:
    """A row a peer; the last columns are ratios: git mem's quality over the peer's, the peer's time over git mem's."""
    base = found["git mem"]
    head = [title, *(FIGURES if quality else ()), "index s", "cold s", "cpu s", "warm ms", "MB"]
    head += [*(["x R@5", "x 500"] if quality else []), "x cold", "x cpu", "x warm", "x MB"]
    rows = []
    for name, row in found.items():
        warm = row.get("warm")
        cells: list[object] = [name, *(row[f] for f in FIGURES if quality)]
        cells += [f"{row['index']:.1f}", f"{row['cold']:.3f}", f"{row['cpu']:.3f}"]
        cells += [f"{warm:.1f}" if warm is not None else "-", f"{row['megabytes']:.0f}"]
        if quality:
            cells += [ratio(base[f], row[f]) for f in ("recall@5", "share@500")]
        cells += [ratio(row.get(k), base.get(k)) for k in ("cold", "cpu", "warm", "megabytes")]
        rows.append(cells)
    return table(head, rows)


def machine() -> str:
    """The machine, its load and the versions that matter."""
    import apsw

    name = platform.processor() or platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") if os.path.exists("/proc/cpuinfo") else open(os.devnull) as file:
        named = re.search(r"^model name\s*:\s*(.+)$", file.read(), re.MULTILINE)
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return ", ".join([
        named[1] if named else name, f"{os.cpu_count()} processors", load, platform.platform(),
        f"Python {platform.python_version()}", git, f"SQLite {apsw.sqlite_lib_version()}",
    ])  # fmt: skip


def corpora(folder: Path, everything: bool, count: int) -> Iterator[tuple[str, Path, list[Any], bool]]:
    """(title, repository, questions, whether their answers are known)."""
    from gitmem.search.evaluation import LabelledQuestion, read_questions

    if not sets():
        print(NONE)
        root = folder / "invented"
        asked = [LabelledQuestion(text, "", ()) for text in build(root, 2000)]
        yield "2,000 invented chunks", root, asked[:count], False
    for name, sources in sets().items():
        if not sources:
            print(f"{name}: not in GITMEM_BENCH_DATA: skipped")
        for source in sources if everything else sources[:1]:
            questions = read_questions((source / "qrels.jsonl").read_text(encoding="utf-8"))
            step = max(1, len(questions) // count)
            chosen = questions if everything else questions[::step][:count]
            yield f"{name}: {source.name}, {len(chosen)} questions", repository(source, folder), chosen, True


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--all", action="store_true", help="every conversation and every question")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(temporary) / "scratch"
        scratch.mkdir()
        peers = [ours(), fts5(), grep("git grep", ["git", "grep", "-n", "-i", "-F", "-I", "--no-color"])]
        if program := shutil.which("rg"):
            plain = ["-n", "-i", "-F", "--no-heading", "--with-filename", "--color=never", "--sort=path"]
            peers.append(grep("ripgrep", [program, *plain]))
        else:
            print("ripgrep: not installed: skipped")
        if program := shutil.which("qmd"):
            peers.append(qmd(program, scratch))
        else:
            print("qmd: not installed: skipped")
        stack = serve = None
        if not (program := shutil.which("memsearch")):
            print("memsearch: not installed: skipped")
        elif not models():
            print("memsearch: no GGUF model in 'models' beside GITMEM_BENCH_DATA to embed with: skipped")
        else:
            stack = embeddings(models()[0])
            serve = stack.__enter__()
            peers.append(memsearch(program, serve, models()[0].stem, scratch))
        try:
            for title, root, asked, quality in corpora(Path(temporary), options.all, options.questions):
                found: dict[str, dict[str, float]] = {}
                for peer in peers:
                    try:
                        found[peer.name] = measured(peer, root, scratch, asked, quality)
                    except (RuntimeError, OSError, ValueError, KeyError) as error:
                        if peer is peers[0]:
                            raise
                        print(f"{peer.name}: could not be measured ({error}): skipped")
                print(report(title, found, quality), "\n", flush=True)
        finally:
            if stack is not None:
                stack.__exit__(None, None, None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
