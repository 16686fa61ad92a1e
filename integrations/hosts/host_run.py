"""One host in an empty home and a project with a memory: how it is started, spoken to, and what of it is recorded.

Asserts nothing; `session.py` says what is asked and what holds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gitmem.errors import GitMemError
from gitmem.git.worktree import locked
from gitmem.hosts.registry import host_named
from gitmem.sessions.state import state_lock
from integrations.hosts.drivers import Driver, Scratch
from integrations.hosts.endpoint import Asked, Endpoint
from integrations.hosts.injections import Injection, text_of
from integrations.hosts.terminal import Terminal

SOURCE = Path(__file__).resolve().parents[2]
LIMIT = 420  # seconds for one command of a host
SCREEN_LIMIT = 120  # seconds for one turn on a host's screen
END_LIMIT = 100  # seconds for what the end of a session left behind: it waits one minute for a lock
SUBFOLDER = "docs/deep"


@dataclass(frozen=True)
class Call:
    """One call of our hook. `at`: when it began, nanoseconds since 1970. `given`: the host's JSON; `answer`: ours."""

    at: int
    event: str
    given: str
    answer: str
    done: bool

    @property
    def fields(self) -> dict[str, Any]:
        try:
            value = json.loads(self.given)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def injection(self) -> Injection | None:
        text = text_of(self.answer)
        return Injection(self.at, self.event, text) if text else None


def zone_of_day(number: int, began: datetime) -> str:
    """The time zone of day 0 or 1 of a run that began then: the same moment is the next day in a zone 24 hours
    further east. No clock is set and no file is dated otherwise. No day ends within the next two hours.
    """
    west = 10 if began.astimezone(UTC).hour in (10, 11) else 12
    return f"Etc/GMT{west - 24 * number:+d}"  # these names count the hours west of Greenwich


class HostRun:
    """The folders of one run of a host, and all that was recorded in it."""

    def __init__(self, driver: Driver, programs: Path, folder: Path, endpoint: Endpoint) -> None:
        self.driver, self.endpoint, self.folder = driver, endpoint, folder
        self.began = datetime.now(UTC)
        self.calls_folder, self.ours = folder / "calls", folder / "bin"
        self.scratch = Scratch(folder / "home", folder / "project", programs, endpoint.url)
        for path in (self.scratch.home, self.scratch.project, self.calls_folder, self.ours):
            path.mkdir(parents=True)

    # -- what is there before

    def prepare(self, memory: Mapping[str, str]) -> None:
        """An empty home, a project with a memory, and our program under its name, which keeps what a hook is given."""
        recorder = self.ours / "git-mem"
        start = f"{sys.executable} -m gitmem"
        recorder.write_text(f"""#!/bin/sh
export PYTHONPATH={SOURCE}
export TZ=$(cat {self.folder}/zone)
if [ "$1" = mcp ]; then date > {self.calls_folder}/mcp.txt; exec {start} "$@" 2>> {self.calls_folder}/mcp.txt; fi
if [ "$1" != session ]; then exec {start} "$@"; fi
call={self.calls_folder}/$(date +%s%N)
cat > $call.in
printf '%s\\n' "$*" > $call.args; pwd >> $call.args; env | grep _PROJECT_DIR >> $call.args
{start} "$@" < $call.in > $call.part
mv $call.part $call.out
cat $call.out
: > $call.done
""")
        recorder.chmod(0o755)
        self.scratch.write(".gitconfig", "[user]\n\tname = A person\n\temail = person@example.com\n")
        kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TERM") if name in os.environ}
        self.scratch.environ = {
            **kept, "HOME": str(self.scratch.home), "PATH": self._path(), "NO_COLOR": "1", "CI": "1",
            "NO_PROXY": "127.0.0.1", "npm_config_offline": "true",
        }  # fmt: skip
        self.begin_day(0)
        self.scratch.environ |= self.driver.prepare(self.scratch)
        for name, text in memory.items():
            target = self.scratch.project / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        self.run(["git", "init", "-q", "-b", "main"])
        self.commit("memory")

    def _path(self, ours: bool = True) -> str:
        """The PATH of the host; without `ours`, with no git-mem on it."""
        rest = [folder for folder in os.environ["PATH"].split(os.pathsep) if not (Path(folder) / "git-mem").exists()]
        return os.pathsep.join([*([str(self.ours)] if ours else []), str(self.scratch.programs), *rest])

    def begin_day(self, number: int) -> None:
        """Day 0 or the day after it, for the host, for Git and for us (`zone_of_day`)."""
        zone = zone_of_day(number, self.began)
        (self.folder / "zone").write_text(zone)
        self.scratch.environ["TZ"] = zone

    def commit(self, message: str) -> None:
        self.run(["git", "add", "-A"])
        self.run(["git", "commit", "-q", "-m", message])

    def version(self) -> str:
        package = self.scratch.programs.parent / self.driver.package / "package.json"
        return str(json.loads(package.read_text(encoding="utf-8")).get("version", ""))

    # -- speaking to it

    def run(
        self, command: Sequence[str], *, within: str = "", ours: bool = True
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """Run a command in the project (its folder `within`) to its end; without `ours` no git-mem is on its PATH."""
        environ = self.scratch.environ | {"PATH": self._path(ours)}
        try:
            done = subprocess.run(
                command, cwd=self.scratch.project / within, env=environ, text=True, errors="replace",
                capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            done = subprocess.CompletedProcess(list(command), 124, str(late.stdout or ""), str(late.stderr or ""))
        self._log(command, f"{done.stdout}{done.stderr}\n[{done.returncode}]\n".encode())
        return done

    def _log(self, command: Sequence[str], output: bytes) -> None:
        with open(self.folder / "output.txt", "ab") as log:
            log.write(f"$ {' '.join(command)}\n".encode() + output + b"\n")

    def prompt(self, text: str, resume: bool, *, within: str = "") -> list[Asked]:
        """The requests that one prompt led to, until what its session left behind has ended."""
        before = len(self.endpoint.asked)
        if self.driver.needs_screen:
            self._on_screen([self.driver.prompt(text, resume)], within=within)
        else:
            self.run(self.driver.prompt(text, resume), within=within)
        self.wait()
        return self.endpoint.asked[before:]

    def prompt_without_us(self, text: str) -> tuple[list[Asked], int, str]:
        """The requests of a prompt where no git-mem can be started, the exit status, and what was shown."""
        before = len(self.endpoint.asked)
        if self.driver.needs_screen:
            shown = self._on_screen([self.driver.prompt(text, False)], ours=False)
            return self.endpoint.asked[before:], 0, shown
        command = self.driver.bare(text) if self.driver.bare is not None else self.driver.prompt(text, False)
        done = self.run(command, ours=False)
        self.wait()
        return self.endpoint.asked[before:], done.returncode, done.stdout + done.stderr

    def new_session_between(self, first: str, second: str) -> list[Asked]:
        """One process of the host: a prompt, its own command for a new session, another prompt, the end."""
        before = len(self.endpoint.asked)
        if self.driver.messages is not None:
            self.run(self.driver.messages([*self.driver.new, first, *self.driver.new, second]))
        elif self.driver.screen is not None:
            self._on_screen([self.driver.screen(first), *self.driver.new, second])
        self.wait()
        return self.endpoint.asked[before:]

    def _on_screen(self, said: Sequence[Sequence[str] | str], *, within: str = "", ours: bool = True) -> str:
        """Start the host with the first prompt, type what follows, leave; a turn is over when our hook was called at
        its end, or, without `ours`, when the model was asked."""
        command, *typed = said
        environ = self.scratch.environ | {"PATH": self._path(ours)}
        before = self._turns(ours)
        terminal = Terminal(list(command), self.scratch.project / within, environ)
        try:
            self._turn_ends(terminal, before, ours)
            for line in typed:
                terminal.read_for(3)  # the screen shows the answer, and takes the next line then
                before = self._turns(ours)
                terminal.type(str(line))
                if line in self.driver.new:
                    terminal.read_for(5)
                else:
                    self._turn_ends(terminal, before, ours)
            terminal.read_for(3)
            terminal.type(self.driver.leave)
            terminal.read_until(lambda: terminal.has_ended, 60)
        finally:
            terminal.close()
            self._log(list(command), terminal.shown)
        return terminal.shown.decode("utf-8", "replace")

    def _turn_ends(self, terminal: Terminal, before: int, ours: bool) -> None:
        terminal.read_until(lambda: self._turns(ours) > before, SCREEN_LIMIT)

    def _turns(self, ours: bool) -> int:
        if not ours:
            return len(self.endpoint.asked)
        return sum(call.event == "Stop" and call.done for call in self.calls())

    def wait(self) -> None:
        """Until what a hook left behind has ended: the end of a session is written by a process of its own."""
        deadline = time.monotonic() + END_LIMIT
        while self._left_behind() and time.monotonic() < deadline:
            time.sleep(0.2)

    def _left_behind(self) -> bool:
        marker = str(self.scratch.home).encode()
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if b"SessionEnd" in (path / "cmdline").read_bytes() and marker in (path / "environ").read_bytes():
                    return True
            except OSError:
                continue
        return False

    # -- what was recorded

    def calls(self, since: int = 0) -> list[Call]:
        """The calls of our hook that began at or after `since`, in their order."""
        found = []
        for path in sorted(self.calls_folder.glob("*.args")):
            if int(path.stem) < since:
                continue
            out, words = path.with_suffix(".out"), path.read_text().split()
            given = path.with_suffix(".in").read_text(errors="replace")
            answer = out.read_text(errors="replace") if out.exists() else ""
            event = words[2] if len(words) > 2 else ""
            found.append(Call(int(path.stem), event, given, answer, path.with_suffix(".done").exists()))
        return found

    def fired(self, event: str) -> bool:
        return any(call.event == event for call in self.calls())

    def logs(self) -> str:
        files = sorted(self.scratch.project.glob("memory/2*.md"))
        return "\n".join(path.read_text(encoding="utf-8") for path in files)

    def episodes(self) -> dict[str, str]:
        """The text of each episode, by its name."""
        found = sorted(self.scratch.project.glob("memory/sessions/*.md"))
        return {path.name: path.read_text(encoding="utf-8") for path in found}

    # -- another git mem at work

    @contextmanager
    def locks_held(self) -> Iterator[None]:
        """While the block runs, the lock of every session that a hook names is held: by a thread of this process,
        which is another one than any git mem of the host."""
        over = threading.Event()
        thread = threading.Thread(target=self._hold, args=(time.time_ns(), over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _hold(self, since: int, over: threading.Event) -> None:
        common = self.scratch.project / ".git"
        held: set[str] = set()
        with ExitStack() as stack:
            while not over.wait(0.02):
                for name in self._sessions(since) - held:
                    try:
                        stack.enter_context(locked(common, state_lock(name), 0.0))
                    except GitMemError:
                        continue  # the hook has it at this moment: the next look comes soon
                    held.add(name)
        (self.folder / "held.txt").write_text("\n".join(sorted(held)))

    def _sessions(self, since: int) -> set[str]:
        """The ids of the sessions that our hooks were called for."""
        return {self.session_of(call) for call in self.calls(since)} - {""}

    def session_of(self, call: Call) -> str:
        """The id of the session that a call is about, "" where the host names none."""
        hooks = host_named(self.driver.name).hooks
        names = hooks.session_fields if hooks is not None else ()
        return next((str(call.fields[name]) for name in names if call.fields.get(name)), "")
