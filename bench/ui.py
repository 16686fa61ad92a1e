"""How long `git mem ui` takes: from the start of the process to the first answer, then each page, cold and warm.

    python -m bench ui [--facts 10000]

Makes a repository of that many invented facts, in MEMORY.md and the archive. Times a page as `curl` would: from the
request to the last byte. Wall time means little on a busy machine, so the server's processor time stands beside it
(Linux: /proc), and its memory. Exits 1 where processor time or memory misses its aim.
"""

from __future__ import annotations

import argparse
import http.client
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
TIMES = 7
WORDS = (SOURCE / "docs" / "search.md").read_text(encoding="utf-8").split()
PAGES = (
    "today", "facts", "facts?type=decision&page=3", "facts?q=deploy+before+eleven", "file?path=MEMORY.md", "health",
    "health?part=gate", "pictures", "pictures?part=gate", "timeline",
)  # fmt: skip
TYPES = ("decision", "rule", "fact", "preference", "lesson")
AIMS = {
    "start": 400,
    "today": 300,
    "facts": 300,
    "health": 300,
    "pictures": 300,
    "timeline": 300,
}  # milliseconds; the memory is AIM_MB
AIM_MB = 150
FORM = 250_000  # bytes of a form, about the most that is read
FIELD = re.compile(r'<input type="hidden" name="([a-z]+)" value="([^"]*)"')


def build(root: Path, facts: int) -> None:
    """A repository with that many facts of 8 to 20 words, 200 in MEMORY.md and the rest in the archive by year."""
    chance = random.Random(7)
    words = [word for word in WORDS if word.isalpha()]

    def lines(count: int, year: int) -> str:
        made = []
        for number in range(count):
            text = " ".join(chance.choices(words, k=chance.randint(8, 20)))
            day = f"{year}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
            made.append(f"- {text} {year}.{number} <!-- mem type={chance.choice(TYPES)} from={day} -->")
        return "\n".join(made) + "\n"

    (root / "memory/archive").mkdir(parents=True)
    (root / "MEMORY.md").write_text(f"# Memory\n\n## Facts\n\n{lines(min(200, facts), 2026)}", encoding="utf-8")
    years = range(2016, 2026)
    for year in years:
        text = f"# {year}\n\n{lines(max(0, facts - 200) // len(years), year)}"
        (root / f"memory/archive/{year}.md").write_text(text, encoding="utf-8")
    for command in (("init", "-q"), ("add", "-A"), ("-c", "user.name=B", "-c", "user.email=b@c", "commit", "-qm", "x")):
        subprocess.run(["git", *command], cwd=root, check=True)


class Server:
    """`git mem ui` in a process, with a connection of a browser that has entered."""

    def __init__(self, root: Path) -> None:
        env = {**os.environ, "PYTHONPATH": str(SOURCE)}
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gitmem", "ui", "--no-browser"], cwd=root, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=env,
        )  # fmt: skip
        assert self.process.stdout is not None
        address = self.process.stdout.readline().strip()
        _, _, host, self.base = address.rstrip("/").split("/")
        self.connection = http.client.HTTPConnection(host, timeout=60)
        entered = self._ask("")
        self.cookie = str(entered.getheader("set-cookie")).split(";")[0]
        entered.read()
        self.start = (time.perf_counter() - began) * 1000

    def _ask(self, page: str, cookie: str = "") -> http.client.HTTPResponse:
        self.connection.request("GET", f"/{self.base}/{page}", headers={"Cookie": cookie} if cookie else {})
        return self.connection.getresponse()

    def page(self, page: str) -> tuple[float, float, int]:
        """(wall milliseconds, processor milliseconds, bytes) of one page."""
        used, began = self.used, time.perf_counter()
        answer = self._ask(page, self.cookie)
        size = len(answer.read())
        assert answer.status == 200, (page, answer.status)
        return (time.perf_counter() - began) * 1000, self.used - used, size

    def form(self, address: str, size: int) -> tuple[int, float, float]:
        """(status, wall and processor milliseconds) of the form of the first fact, with a text of that size."""
        listed = self._read("facts")
        fact = re.findall(rf'href="/{self.base}/(fact/[^"]+)"', listed)[0].replace("&amp;", "&")
        fields = dict(FIELD.findall(self._read(fact).partition(f'/{address}"')[2]))
        words = " ".join(f"entry {number} of the list" for number in range(size // 16))
        body = urllib.parse.urlencode({**fields, "reason": "measured", "text": words})[:size]
        used, began = self.used, time.perf_counter()
        headers = {"Cookie": self.cookie, "Origin": f"http://{self.connection.host}:{self.connection.port}",
                   "Content-Type": "application/x-www-form-urlencoded"}  # fmt: skip
        self.connection.request("POST", f"/{self.base}/{address}", body, headers)
        answer = self.connection.getresponse()
        answer.read()
        return answer.status, (time.perf_counter() - began) * 1000, self.used - used

    def _read(self, page: str) -> str:
        return self._ask(page, self.cookie).read().decode()

    @property
    def used(self) -> float:
        """Processor milliseconds of the server and of what it ran."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """The most megabytes it ever held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024

    def close(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.wait()


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--facts", type=int, default=10_000)
    asked = parser.parse_args()
    print(f"{platform.platform()}, {os.cpu_count()} processors, {asked.facts} facts")
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repo"
        build(root, asked.facts)
        env = {**os.environ, "PYTHONPATH": str(SOURCE)}
        subprocess.run([sys.executable, "-m", "gitmem", "index"], cwd=root, check=True, capture_output=True, env=env)
        starts, used = [], []
        for _ in range(TIMES):
            server = Server(root)
            starts.append(server.start)
            used.append(server.used)
            server.close()
        print(f"start to first answer {min(starts):6.0f} ms at best, {statistics.median(starts):.0f} in the middle; "
              f"processor {min(used):.0f} (aim {AIMS['start']})")  # fmt: skip
        missed += ["start"] if min(used) > AIMS["start"] else []
        server = Server(root)
        for page in PAGES:
            first = server.page(page)
            walls, used_by_page, sizes = zip(*(server.page(page) for _ in range(TIMES)), strict=True)
            print(f"{page:30} first {first[0]:6.0f} ms (processor {first[1]:.0f}), then {min(walls):6.0f} at best, "
                  f"{statistics.median(walls):.0f} in the middle, processor {statistics.mean(used_by_page):.0f}; "
                  f"{sizes[-1] / 1000:.0f} kB")  # fmt: skip
            missed += [page] if statistics.mean(used_by_page) > AIMS.get(page, 1000) else []
        for action in ("edit", "supersede"):
            status, wall, processor = server.form(f"fact/{action}", FORM)
            print(f"{action}, {FORM // 1000} kB: answer {status} in {wall:.0f} ms, processor {processor:.0f}")
        memory = server.memory
        print(f"memory {memory:.0f} MB at most (aim {AIM_MB})")
        missed += ["memory"] if memory > AIM_MB else []
        server.close()
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
