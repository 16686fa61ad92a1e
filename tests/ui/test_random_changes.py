"""Seeded random use of the inspector, in two tabs, with an agent that writes meanwhile: no action is a bug, every change
is one commit, and nothing is left uncommitted. And a server that is killed in the middle of a change leaves nothing half."""

from __future__ import annotations

import http.client
import random
import re
import signal
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, suppress
from html import unescape

import pytest

from gitmem import api
from gitmem.memory.fact import fact_id
from gitmem.memory.writing import NewLine, add_and_commit
from tests.harness import Repo
from tests.ui.conftest import PORT, Browse, Browser
from tests.ui.forms import Form, forms
from tests.ui.test_local_server import opened, running

WORDS = [
    "webhooks",
    "queue",
    "deploy",
    "cache",
    "Tuesday",
    "SQLite",
    "REST",
    "invoices",
    "11:00",
    "배포",
    "webhook-7",
    "`make`",
    "rounding",
]
ODD = [
    "",
    " ",
    "\u202eright\u202c",
    "<script>x</script>",
    "a <!-- b",
    "-->",
    "x" * 5_000,
    "\x00\x01",
    "../../etc",
    "%2e%2e",
    "- - -",
]
OWN = f"http://127.0.0.1:{PORT}"
HERE = r'href="(/[^"#?]+(?:\?[^"#]*)?)'


def fill(repo: Repo, rng: random.Random) -> None:
    """Thirty facts, some pinned, some over, some alike, and a log that has more."""
    lines = [
        f"- {' '.join(rng.sample(WORDS, 5))} {n} <!-- mem type=fact from=2026-01-{n % 27 + 1:02} -->" for n in range(30)
    ]
    log = [f"- we decided to use {rng.choice(WORDS)} {n} because {rng.choice(WORDS)} is cheaper" for n in range(20)]
    repo.commit(
        "first",
        {"MEMORY.md": "# Memory\n\n## Facts\n\n" + "\n".join(lines) + "\n",
         "memory/2026-02-05.md": "# 2026-02-05\n\n## 10:00 - plans\n\n" + "\n".join(log) + "\n"},
    )  # fmt: skip
    repo.git("switch", "-q", "-c", "memory/other")
    text = repo.read("MEMORY.md")
    repo.commit("theirs", {"MEMORY.md": text.replace(" 3 <!--", " three <!--") + "- a fact of theirs\n"})
    repo.git("switch", "-q", "main")
    leak = {"memory/2026-02-07.md": "# 2026-02-07\n\n- the key is AKIA" + "Z7QK3M2PXW5LR8TD\n- deploy on Tuesdays\n"}
    repo.commit("ours", {"MEMORY.md": text.replace(" 3 <!--", " iii <!--"), **leak})


class Tab:
    """One tab: the page it shows, which may be an old one, and what a person does there."""

    def __init__(self, browser: Browser, rng: random.Random) -> None:
        self.browser, self.rng = browser, rng
        self.base = browser.site.keys.base
        self.text = browser.get("facts")

    def act(self) -> tuple[str, int, bool]:
        """What was done, the status, and whether a commit is said to be made."""
        found: list[Form] = forms(self.browser, self.text)
        if found and self.rng.random() < 0.7:
            chosen = self.rng.choice(found)
            address = self.rng.choice([chosen.address, *chosen.buttons])
            fields = {name: self.value(name, value) for name, value in chosen.fields.items()}
            fields |= {"reason": self.value("reason", "")} if "shown" not in fields else {}
            if address == "branches/merge" and "shown" not in fields:
                fields["choice-0"] = self.value("choice-0", "")
            fields["csrf"] = chosen.fields["csrf"]
            answer = self.browser.client.post(
                f"{self.base}/{address}", content=urllib.parse.urlencode(fields, errors="replace"),
                headers={"origin": OWN, "content-type": "application/x-www-form-urlencoded"},
            )  # fmt: skip
        else:
            links = [unescape(link) for link in re.findall(HERE, self.text) if link.startswith(f"{self.base}/fact/")]
            pages = [
                f"{self.base}/{name}"
                for name in (
                    "facts",
                    "review",
                    "undo",
                    "today",
                    "findings",
                    "alike",
                    "branches",
                    "branches?branch=memory/other",
                )
            ]
            address = self.rng.choice(links if links and self.rng.random() < 0.7 else pages)
            answer = self.browser.client.get(address)
        self.text = answer.text
        return (
            address.replace(self.base, ""),
            answer.status_code,
            re.search("done=", str(answer.url)) is not None,
        )

    def value(self, name: str, value: str) -> str:
        if name in ("text", "reason"):
            if self.rng.random() < 0.2:
                return self.rng.choice(ODD)
            return " ".join(self.rng.sample(WORDS, 4)) if self.rng.random() < 0.6 or not value else value
        if name.startswith("choice-"):
            return self.rng.choice(["ours", "theirs", "both", "own", ""])
        if name == "until":
            return self.rng.choice(["", "2027-01-01", "2020-02-30", "soon"])
        return self.rng.choice(ODD) if self.rng.random() < 0.03 else value


def an_agent_writes(repo: Repo, rng: random.Random) -> None:
    with api.open(repo.path) as memory:
        to = rng.choice(["memory", "daily"])
        line = NewLine(f"the agent noticed {rng.choice(WORDS)} {rng.random():.6f}", "fact", to=to)
        add_and_commit(memory.repo, memory.config, line, lambda text: f"memory: {text}", now=memory.now())


def commits(repo: Repo) -> int:
    return int(repo.git("rev-list", "--count", "--first-parent", "HEAD"))


def play(repo: Repo, browse: Browse, seed: int, actions: int) -> dict[str, int]:
    """How often each address made a commit."""
    rng = random.Random(seed)
    fill(repo, rng)
    tabs = [Tab(browse(repo), rng), Tab(browse(repo), rng)]
    made: dict[str, int] = {}
    for number in range(actions):
        if rng.random() < 0.05:
            an_agent_writes(repo, rng)
        before = commits(repo)
        address, status, done = rng.choice(tabs).act()
        said = f"seed {seed}, action {number}: {address} -> {status}"
        assert status < 500, said
        assert not repo.git("status", "--porcelain", "-uall"), said
        grown = commits(repo) - before
        assert grown in (0, 1) and (grown == 0 or done), said
        if grown:
            made[address] = made.get(address, 0) + 1
    repo.git("fsck", "--strict")
    return made


def test_random_actions_are_pages_and_whole_commits(repo: Repo, browse: Browse) -> None:
    made = play(repo, browse, 18, 150)
    assert sum(made.values()) >= 10, made


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(4))
def test_two_thousand_random_actions_are_pages_and_whole_commits(repo: Repo, browse: Browse, seed: int) -> None:
    made = play(repo, browse, seed, 500)
    assert sum(made.values()) >= 50 and len(made) >= 6, made


# -- a server that is killed ---------------------------------------------------------------------------------

KILLS = 25
FIELD = re.compile(r'<input type="hidden" name="([a-z]+)" value="([^"]*)"')


def test_a_server_killed_in_the_middle_of_a_change_leaves_nothing_half(memory: Repo) -> None:
    rng = random.Random(25)
    outcomes = set()
    with ExitStack() as servers:
        process, address = servers.enter_context(running(memory))
        for number in range(KILLS):
            before = memory.read("MEMORY.md")
            text = re.findall(r"^- (.*?) <!--", before, re.M)[0]
            send = ready_to_commit(address, text, f"PoC phase {number} uses REST webhooks")
            thread = threading.Thread(target=send)
            thread.start()
            time.sleep(rng.random() * 0.25)
            process.send_signal(signal.SIGKILL)
            process.wait()
            thread.join()
            settle(memory)
            head = commits(memory)
            # The next start puts back what is to be put back, and is the next to be killed.
            process, address = servers.enter_context(running(memory, "--port", "0"))
            opened(address)
            after = memory.read("MEMORY.md")
            outcomes.add(after == before)
            assert not memory.git("status", "--porcelain", "-uall"), number
            assert commits(memory) == head and after in (
                before,
                before.replace(text, f"PoC phase {number} uses REST webhooks"),
            )
    memory.git("fsck", "--strict")
    assert outcomes == {
        True,
        False,
    }  # some were killed before the commit, some after: the moment in between was among them


def ready_to_commit(address: str, text: str, new: str) -> Callable[[], None]:
    """What presses "Commit this" for an edit that was looked at."""
    browser, _ = opened(address)
    with browser.open(f"{address}fact/{fact_id(text)}", timeout=60) as answer:
        page = answer.read().decode()
    first = page[page.index("/fact/edit") :]
    fields = {name: unescape(value) for name, value in FIELD.findall(first[: first.index("</form>")])}

    def post(values: dict[str, str]) -> str:
        origin = address.rsplit("/", 2)[0]
        request = urllib.request.Request(
            f"{address}fact/edit", urllib.parse.urlencode(values).encode(), {"Origin": origin}
        )
        with browser.open(request, timeout=60) as answer:
            return str(answer.read().decode())

    shown = post({**fields, "text": new, "reason": "measured"})
    form = shown[shown.index('class="change"') :]
    confirmed = {name: unescape(value) for name, value in FIELD.findall(form)}

    def send() -> None:
        with suppress(OSError, http.client.HTTPException):  # it was killed
            post(confirmed)

    return send


def settle(repo: Repo) -> None:
    """Wait for a `git commit` that the killed server had begun."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        here = subprocess.run(["pgrep", "-f", f"git.*-C {repo.path} commit"], capture_output=True, check=False)
        if here.returncode:
            return
        time.sleep(0.02)
