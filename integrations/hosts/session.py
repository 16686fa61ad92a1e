"""One host's session: two prompts with a tool call, compaction, resumption, end; and what of it can be asserted.

What reached the endpoint says what the host sent to its model; what Git holds says what was kept.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitmem.gate.quoting import LEAD
from gitmem.hosts.registry import HOSTS
from integrations.hosts.drivers import Driver, Scratch, program
from integrations.hosts.endpoint import Answer, Asked, Endpoint, serving
from integrations.hosts.terminal import Terminal

SOURCE = Path(__file__).resolve().parents[2]
MEMORY = {
    "MEMORY.md": "# Memory\n\n- Invoices are sent on Thursdays.\n",
    "AGENTS.md": "# Rules\n\n- Marmots are counted twice.\n",
    "memory/lift.md": "# The lighthouse lift\n\nThe lighthouse lift carries 400 kilos of coal.\n",
}
FIRST = "We decided that the harbour crane is painted blue. Look it up: on which day are invoices sent?"
SECOND = "How much coal does the lighthouse lift carry?"
THIRD = "We decided that the second mast is made of oak."
SUMMARY = "We decided that summaries are written by nobody."
CELLS = ("registration", "MCP", "start context", "prompt context", "flush", "episode", "compaction", "resume")
LIMIT = 240  # seconds for one prompt
LONG = 20_000  # tokens of a conversation before it is compacted
SUMMARISE = (  # what hosts ask for a summary with
    "create a detailed summary", "CONTEXT CHECKPOINT COMPACTION", "state_snapshot", "Summarize the conversation",
    "summary of the conversation so far", "anchored summary", "context summarization assistant",
    "Create a handoff summary",
)  # fmt: skip


@dataclass
class Row:
    """What one host did: a cell says "yes" or "no", `notes` what was seen; a missing cell was not run."""

    host: str
    version: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def summary(self) -> str:
        return ", ".join(f"{cell} {self.cells.get(cell, 'not run')}" for cell in CELLS)


def script(asked: Asked) -> Answer:
    """What the model says: a search where it is told to look something up, a summary where it is asked for one.

    A chat is long until it was summed up: else no host would keep the summary, or one would compact without end.
    """
    return replace(_answer(asked), tokens=100 if SUMMARY in asked.text else LONG)


def _answer(asked: Asked) -> Answer:
    search = next((name for name in asked.tools if name.endswith("memory_search")), "")
    if asked.is_result:
        return Answer("Noted.")
    if asks_for_summary(asked):
        return Answer(f"<summary>{SUMMARY}</summary>")
    if search and "Look it up" in asked.last:
        return Answer(tool=search, arguments={"query": "invoices sent day"})
    return Answer("Noted.")


def asks_for_summary(asked: Asked) -> bool:
    """Whether a host compacts: the words stand in the last message, or anywhere in a request without tools."""
    system = json.dumps([asked.body.get(name) for name in ("systemInstruction", "instructions", "system", "messages")])
    place = asked.last if asked.tools else asked.last + system
    return asked.path.endswith("/compact") or any(words in place for words in SUMMARISE)


def run_session(driver: Driver, programs: Path, keep: Path | None) -> Row:
    """Run one host; a row without cells where it is not installed or is none that we know."""
    row = Row(driver.name)
    if program(programs, driver.name) is None or driver.name not in HOSTS:
        return row
    folder = Path(tempfile.mkdtemp(prefix=f"git-mem-{driver.name}-")) if keep is None else keep / driver.name
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with serving(script) as endpoint:
            _Run(driver, programs, folder, endpoint, row).all()
            (folder / "requests.json").write_text(
                json.dumps([{"path": a.path, "body": a.body} for a in endpoint.asked], indent=1), encoding="utf-8"
            )
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    return row


class _Run:
    def __init__(self, driver: Driver, programs: Path, folder: Path, endpoint: Endpoint, row: Row) -> None:
        self.driver, self.endpoint, self.row = driver, endpoint, row
        self.folder, self.calls = folder, folder / "calls"
        self.scratch = Scratch(folder / "home", folder / "project", programs, endpoint.url)
        for path in (self.scratch.home, self.scratch.project, self.calls, folder / "bin"):
            path.mkdir(parents=True)

    def all(self) -> None:
        self._prepare()
        self._version()
        done = self._run(["git-mem", "install", "--agent", self.driver.name])
        self.row.cells["registration"] = "yes" if done.returncode == 0 else "no"
        if done.returncode:
            return
        first = self._prompt(FIRST, False)
        second = self._prompt(SECOND, True)
        self._assert_first(first)
        self._assert_second(second)
        self._compact()
        self._assert_resumed(self._prompt(THIRD, True))

    def _prepare(self) -> None:
        """An empty home, a project with a memory, and our program under its name, which keeps what a hook is given."""
        recorder = self.folder / "bin/git-mem"
        start = f"{sys.executable} -m gitmem"
        recorder.write_text(f"""#!/bin/sh
export PYTHONPATH={SOURCE}
if [ "$1" = mcp ]; then date > {self.calls}/mcp.txt; exec {start} "$@" 2>> {self.calls}/mcp.txt; fi
if [ "$1" != session ]; then exec {start} "$@"; fi
call={self.calls}/$(date +%s%N)
printf '%s\\n' "$*" > $call.args; pwd >> $call.args; env | grep _PROJECT_DIR >> $call.args
cat > $call.in
{start} "$@" < $call.in > $call.out
cat $call.out
: > $call.done
""")
        recorder.chmod(0o755)
        self.scratch.write(".gitconfig", "[user]\n\tname = A person\n\temail = person@example.com\n")
        path = os.pathsep.join([str(self.folder / "bin"), str(self.scratch.programs), os.environ["PATH"]])
        kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TERM") if name in os.environ}
        self.scratch.environ = {
            **kept, "HOME": str(self.scratch.home), "PATH": path, "NO_COLOR": "1", "CI": "1",
            "NO_PROXY": "127.0.0.1", "npm_config_offline": "true",
        }  # fmt: skip
        self.scratch.environ |= self.driver.prepare(self.scratch)
        for name, text in MEMORY.items():
            target = self.scratch.project / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        for args in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "memory"]):
            self._run(["git", *args])

    def _version(self) -> None:
        package = self.scratch.programs.parent / self.driver.package / "package.json"
        self.row.version = str(json.loads(package.read_text(encoding="utf-8")).get("version", ""))

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        with open(self.folder / "output.txt", "a", encoding="utf-8") as log:
            try:
                done = subprocess.run(
                    command, cwd=self.scratch.project, env=self.scratch.environ, text=True, errors="replace",
                    capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired as late:
                done = subprocess.CompletedProcess(command, 124, str(late.stdout or ""), str(late.stderr or ""))
            log.write(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}\n[{done.returncode}]\n")
        return done

    def _run_in_terminal(self, command: list[str]) -> None:
        """Run a host that has a screen: it is left once it has called our hook at the end of the turn."""
        turns = self._calls("Stop")
        terminal = Terminal(command, self.scratch.project, self.scratch.environ)
        try:
            terminal.read_until(lambda: self._calls("Stop") > turns, LIMIT)
            terminal.type(self.driver.leave)
            terminal.read_until(lambda: terminal.has_ended, 30)
        finally:
            terminal.close()
            with open(self.folder / "output.txt", "ab") as log:
                log.write(f"$ {' '.join(command)}\n".encode() + terminal.shown + b"\n")

    def _calls(self, event: str) -> int:
        """How many calls of our hook for the event have ended."""
        done = {path.stem for path in self.calls.glob("*.done")}
        return sum(path.stem in done and event in path.read_text().split() for path in self.calls.glob("*.args"))

    def _prompt(self, text: str, resume: bool) -> list[Asked]:
        """The requests that one prompt led to."""
        before = len(self.endpoint.asked)
        command = self.driver.prompt(text, resume)
        if self.driver.leave:
            self._run_in_terminal(command)
        else:
            self._run(command)
        self._wait()
        return self.endpoint.asked[before:]

    def _wait(self) -> None:
        """Until what a hook left behind has ended: the end of a session is written by a process of its own."""
        deadline = time.monotonic() + 60
        while self._left_behind() and time.monotonic() < deadline:
            time.sleep(0.1)

    def _left_behind(self) -> bool:
        marker = str(self.scratch.home).encode()
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if b"SessionEnd" in (path / "cmdline").read_bytes() and marker in (path / "environ").read_bytes():
                    return True
            except OSError:
                continue
        return False

    def _log(self) -> str:
        files = sorted(self.scratch.project.glob("memory/2*.md"))
        return "\n".join(path.read_text(encoding="utf-8") for path in files)

    def _episodes(self) -> list[Path]:
        return sorted(self.scratch.project.glob("memory/sessions/*.md"))

    def _say(self, cell: str, holds: bool, seen: str = "") -> None:
        if cell in self.driver.unseen:
            return
        self.row.cells[cell] = "yes" if holds else "no"
        if not holds and seen:
            self.row.notes.append(f"{cell}: {seen}")

    def _fired(self, event: str) -> bool:
        return any(event in path.read_text().split() for path in self.calls.glob("*.args"))

    def _assert_first(self, asked: list[Asked]) -> None:
        offered = any(name.endswith("memory_search") for a in asked for name in a.tools)
        answered = any(a.is_result and "Thursdays" in a.last for a in asked)
        self._say("MCP", offered and answered, f"offered {offered}, answered {answered}")
        if not self.driver.has_hooks:
            return
        told, ruled = (any(words in a.text for a in asked) for words in (LEAD, "Marmots"))
        self._say("start context", told and ruled, f"memory {told}, AGENTS.md {ruled}")
        log = self._log()
        self._say("flush", log.count("painted blue") == 1 and "Thursdays" not in log, f"{log!r}")
        self._say("episode", len(self._episodes()) == 1, f"{len(self._episodes())} episodes")

    def _assert_second(self, asked: list[Asked]) -> None:
        if self.driver.has_hooks:
            self._say("prompt context", any("400 kilos" in a.text for a in asked if SECOND in a.text))

    def _compact(self) -> None:
        if self.driver.compact is None or not self.driver.has_hooks:
            return
        before = len(self.endpoint.asked)
        self._run(self.driver.compact(self.scratch))
        self._wait()
        asked = self.endpoint.asked[before:]
        summed_up = any(map(asks_for_summary, asked))
        self._say(
            "compaction", summed_up and self._fired("PreCompact") and "by nobody" not in self._log(),
            f"asked for a summary {summed_up}, PreCompact {self._fired('PreCompact')}",
        )  # fmt: skip

    def _assert_resumed(self, asked: list[Asked]) -> None:
        if not self.driver.has_hooks:
            return
        log = self._log()
        kept = log.count("made of oak") == 1 and log.count("painted blue") == 1
        clean = not any(words in log for words in ("by nobody", "400 kilos", "Thursdays"))
        goes_on = any(FIRST in a.text or SUMMARY in a.text for a in asked)
        own = any("The last session (data)" in a.text for a in asked)
        one = len(self._episodes()) == (0 if "episode" in self.driver.unseen else 1)
        self._say(
            "resume", kept and clean and goes_on and one and not own,
            f"kept {kept}, clean {clean}, goes on {goes_on}, one episode {one}, own episode injected {own}",
        )  # fmt: skip
