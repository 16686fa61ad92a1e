"""One host's trial: four sessions over two days, and what of them can be asserted.

What reached the endpoint says what the host sent to its model; what Git holds says what was kept; what our hooks
answered says what was injected.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitmem.gate.quoting import END, LEAD
from gitmem.hosts.registry import HOSTS
from gitmem.models.token_count import BUILT_IN, count_of
from integrations.hosts.drivers import Driver, program
from integrations.hosts.endpoint import Answer, Asked, Endpoint, serving
from integrations.hosts.host_run import SUBFOLDER, Call, HostRun
from integrations.hosts.injections import Repeats, arrived, in_force, measured

MEMORY = {
    "MEMORY.md": "# Memory\n\n- Invoices are sent on Thursdays.\n",
    "AGENTS.md": "# Rules\n\n- Marmots are counted twice.\n",
    "memory/lift.md": "# The lighthouse lift\n\nThe lighthouse lift carries 400 kilos of coal.\n",
    f"{SUBFOLDER}/plan.txt": "Nothing yet.\n",
}
# The first session, on the first day.
FIRST = "We decided that the harbour crane is painted blue. Look it up: on which day are invoices sent?"
SECOND = "How much coal does the lighthouse lift carry?"
THIRD = "We decided that the second mast is made of oak."
# The second, on the same day: two conversations, the host's own command for a new session between them.
KOREAN = "등대 문은 초록색으로 칠하기로 결정했습니다."
AFTER_NEW = "We decided that the fog bell is rung at noon."
# One more, whose end finds another git mem at work.
LOCKED = "We decided that the ferry leaves at seven."
# The third, on the second day.
CHANGE = "We decided that the harbour crane is painted red instead of blue."
KOREAN_CHANGE = "등대 문은 초록색 대신 노란색으로 칠하기로 결정했습니다."
# The fourth.
ASKED = "Which colour is the harbour crane painted?"
KOREAN_ASKED = "등대 문은 무슨 색으로 칠하나요?"
# And three short ones.
SMALL_TALK = ("hi", "고마워요")
WITHOUT_US = "Say that you are there."
BELOW = "We decided that the lamp is cleaned on Mondays. Look it up: on which day are invoices sent?"

SUMMARY = "We decided that summaries are written by nobody."
CELLS = (
    "registration", "MCP", "start context", "prompt context", "flush", "episode", "compaction", "resume", "new session",
    "lock held", "changed decision", "small talk", "no git-mem", "subfolder",
)  # fmt: skip
FIGURES = ("repeats", "tokens")
OF_HOOKS = frozenset(CELLS) - {"registration", "MCP", "no git-mem"}  # cells of hosts that have hooks
# What we put beside a prompt: an episode in it may quote an earlier prompt.
OURS = re.compile(rf"{re.escape(LEAD)}.*?(?:{re.escape(END)}|\Z)|The last session \(data\):.*?(?:</memory>|\Z)", re.S)
LONG = 20_000  # tokens of a conversation before it is compacted
SUMMARISE = (  # what hosts ask for a summary with
    "create a detailed summary", "CONTEXT CHECKPOINT COMPACTION", "state_snapshot", "Summarize the conversation",
    "summary of the conversation so far", "anchored summary", "context summarization assistant",
    "Create a handoff summary",
)  # fmt: skip


@dataclass
class Row:
    """What one host did. `cells`: "yes", "no", or "-" where the host has none; a cell that was not run is missing.
    `figures`: the measured values by name. `notes`: what was seen where a cell does not say yes."""

    host: str
    version: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def summary(self) -> str:
        said = [f"{cell} {self.cells.get(cell, 'not run')}" for cell in CELLS]
        return ", ".join([*said, *(f"{name} {value}" for name, value in self.figures.items())])

    def values(self) -> list[str]:
        """What stands in the table, in the order of its columns."""
        return [self.cells.get(cell, "not run") for cell in CELLS] + [
            self.figures.get(name, "not run") for name in FIGURES
        ]


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
    if search and "Look it up" in OURS.sub("", asked.last):
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
            try:
                _Trial(HostRun(driver, programs, folder, endpoint), endpoint, row).all()
            finally:
                (folder / "requests.json").write_text(
                    json.dumps([{"path": a.path, "body": a.body} for a in endpoint.asked], indent=1), encoding="utf-8"
                )
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    return row


@dataclass
class _Session:
    """One of the four sessions: what our hooks were called for, and the requests."""

    calls: list[Call] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    @property
    def injected(self) -> list[str]:
        return [call.injection.text for call in self.calls if call.injection is not None]


class _Trial:
    def __init__(self, run: HostRun, endpoint: Endpoint, row: Row) -> None:
        self.host, self.endpoint, self.row = run, endpoint, row
        self.driver = run.driver
        self.sessions: dict[int, _Session] = {}

    def all(self) -> None:
        self.host.prepare(MEMORY)
        self.row.version = self.host.version()
        done = self.host.run(["git-mem", "install", "--agent", self.driver.name])
        self._say("registration", done.returncode == 0, done.stderr)
        if done.returncode:
            return
        self._first_session()
        self._second_session()
        self._session_under_a_lock()
        self._end_of_day()
        self._third_session()
        self._fourth_session()
        self._small_talk()
        self._without_us()
        self._in_a_subfolder()
        self._figures()

    # -- the first day

    def _first_session(self) -> None:
        asked = self._in_session(1, lambda: self.host.prompt(FIRST, False))
        offered = any(name.endswith("memory_search") for a in asked for name in a.tools)
        answered = any(a.is_result and "Thursdays" in a.last for a in asked)
        self._say("MCP", offered and answered, f"offered {offered}, answered {answered}")
        told, ruled = (any(words in a.text for a in asked) for words in (LEAD, "Marmots"))
        self._say("start context", told and ruled, f"memory {told}, AGENTS.md {ruled}")
        once, own = self._kept("painted blue"), "origin=agent" not in self._line("painted blue")
        self._say("flush", once and own and "Thursdays" not in self.host.logs(),
                  f"once {once}, the person's word {own}: {self._line('painted blue')}")  # fmt: skip
        self._say("episode", len(self.host.episodes()) == 1, f"{len(self.host.episodes())} episodes")
        asked = self._in_session(1, lambda: self.host.prompt(SECOND, True))
        self._say("prompt context", any("400 kilos" in a.text for a in asked if SECOND in a.text))
        self._compact()
        self._resumed(self._in_session(1, lambda: self.host.prompt(THIRD, True)))

    def _compact(self) -> None:
        if self.driver.compact is None:
            return
        before = len(self.endpoint.asked)
        self.host.run(self.driver.compact(self.host.scratch))
        self.host.wait()
        self.host.scratch.restore()
        summed_up = any(map(asks_for_summary, self.endpoint.asked[before:]))
        fired = self.host.fired("PreCompact")
        self._say("compaction", summed_up and fired and "by nobody" not in self.host.logs(),
                  f"asked for a summary {summed_up}, PreCompact {fired}")  # fmt: skip

    def _resumed(self, asked: list[Asked]) -> None:
        log = self.host.logs()
        kept = self._kept("made of oak") and self._kept("painted blue")
        clean = not any(words in log for words in ("by nobody", "400 kilos", "Thursdays"))
        goes_on = any(FIRST in a.text or SUMMARY in a.text for a in asked)
        own = any("The last session (data)" in a.text for a in asked)
        one = len(self.host.episodes()) == (0 if "episode" in self.driver.unseen else 1)
        self._say(
            "resume", kept and clean and goes_on and one and not own,
            f"kept {kept}, clean {clean}, goes on {goes_on}, one episode {one}, own episode injected {own}",
        )  # fmt: skip

    def _second_session(self) -> None:
        """Two conversations in one process: each leaves its decision and its episode, and the ones before stay."""
        if self.driver.screen is None and self.driver.messages is None:
            return
        before = self.host.episodes()
        asked = self._in_session(2, lambda: self.host.new_session_between(KOREAN, AFTER_NEW))
        if not any(AFTER_NEW in a.text for a in asked):
            self._say("new session", False, "the second conversation never reached the model")
            return
        apart = not any(AFTER_NEW in a.text and KOREAN in _said_by_people(a) for a in asked)
        kept = self._kept("초록색으로 칠하기로") and self._kept("rung at noon")
        after = self.host.episodes()
        stayed = all(after.get(name) == text for name, text in before.items())
        new = [text for name, text in after.items() if name not in before]
        two = (
            len(new) == 2 and sum("초록색" in text for text in new) == 1 and sum("at noon" in text for text in new) == 1
        )
        self._say(
            "new session", apart and kept and stayed and two,
            f"apart {apart}, kept {kept}, earlier episodes as they were {stayed}, one episode each {two}",
        )  # fmt: skip

    def _session_under_a_lock(self) -> None:
        with self.host.locks_held():
            self.host.prompt(LOCKED, False)

    def _end_of_day(self) -> None:
        """What a person does in the evening: commit the logs, promote what they say. The next day begins."""
        self.host.commit("the day's logs")
        self.host.run(["git-mem", "promote"])
        self.host.begin_day(1)

    # -- the second day

    def _third_session(self) -> None:
        self._in_session(3, lambda: self.host.prompt(CHANGE, False))
        self._say("lock held", self._kept("ferry leaves at seven"), f"in the log: {self._line('ferry')!r}")
        self._in_session(3, lambda: self.host.prompt(KOREAN_CHANGE, True))

    def _fourth_session(self) -> None:
        self._in_session(4, lambda: self.host.prompt(ASKED, False))
        self._in_session(4, lambda: self.host.prompt(KOREAN_ASKED, True))
        session = self.sessions[4]
        texts = arrived(session.injected, [a.text for a in session.asked])
        told, stale = in_force(texts, "red", "blue")
        korean, korean_stale = in_force(texts, "노란색", "초록색")
        self._say("changed decision", told and korean and not stale and not korean_stale,
                  f"red told {told}, blue as if it held {len(stale)} times; "
                  f"노란색 told {korean}, 초록색 as if it held {len(korean_stale)} times")  # fmt: skip

    def _small_talk(self) -> None:
        episodes, log = self.host.episodes(), self.host.logs()
        for number, text in enumerate(SMALL_TALK):
            self.host.prompt(text, number > 0)
        same, new = log == self.host.logs(), sorted(self.host.episodes().keys() - episodes.keys())
        self._say("small talk", same and episodes == self.host.episodes(), f"log as it was {same}, new episodes {new}")

    def _without_us(self) -> None:
        asked, status, shown = self.host.prompt_without_us(WITHOUT_US)
        reached, answered = any(WITHOUT_US in a.text for a in asked), "Noted." in shown
        self._say("no git-mem", reached and answered and status == 0,
                  f"asked the model {reached}, answer shown {answered}, exit status {status}")  # fmt: skip

    def _in_a_subfolder(self) -> None:
        asked = self.host.prompt(BELOW, False, within=SUBFOLDER)
        tools = any(a.is_result and "Thursdays" in a.last for a in asked)
        told, kept = any(LEAD in a.text for a in asked), self._kept("cleaned on Mondays")
        self._say("subfolder", tools and told and kept, f"tools {tools}, context {told}, decision kept {kept}")

    # -- what was measured

    def _figures(self) -> None:
        count = count_of(BUILT_IN)
        found: dict[int, Repeats] = {}
        for number, session in self.sessions.items():
            requests = [a.text for a in session.asked]
            total = Repeats()
            for calls in self._conversations(session.calls):
                given = [call.injection for call in calls if call.injection is not None]
                total += measured(given, requests, count)
            found[number] = total
        later = sum((found.get(number, Repeats()) for number in (2, 3, 4)), Repeats())
        share = f"{100 * later.had / later.statements:.0f} %" if later.statements else "-"
        self.row.figures["repeats"] = f"{later.had} of {later.statements} ({share})"
        self.row.figures["tokens"] = " + ".join(str(found.get(n, Repeats()).tokens) for n in (1, 2, 3, 4))

    def _in_session(self, number: int, speak: Callable[[], list[Asked]]) -> list[Asked]:
        """The requests of what is said, which belongs to the session of that number."""
        since = time.time_ns()
        asked = speak()
        session = self.sessions.setdefault(number, _Session())
        session.calls += self.host.calls(since)
        session.asked += asked
        return asked

    def _conversations(self, calls: Sequence[Call]) -> list[list[Call]]:
        """The calls of each conversation. Another one begins with another id, after a compaction, and, for a host that
        keeps its id over its command for a new session, with the start before the first prompt of that one."""
        first = next((at for at, call in enumerate(calls) if AFTER_NEW in call.given), -1)
        again = max((at for at in range(first) if calls[at].event == "SessionStart"), default=-1)
        parts: dict[tuple[str, int], list[Call]] = {}
        number = 0
        for at, call in enumerate(calls):
            number += call.event == "PreCompact" or at == again
            parts.setdefault((self.host.session_of(call), number), []).append(call)
        return list(parts.values())

    def _kept(self, words: str) -> bool:
        """Whether exactly one line of the logs says it."""
        return self.host.logs().count(words) == 1

    def _line(self, words: str) -> str:
        return next((line for line in self.host.logs().split("\n") if words in line), "")

    def _say(self, cell: str, holds: bool, seen: str = "") -> None:
        """Fill a cell: what a host has none of is "-" with the reason, but for one that holds all the same."""
        if cell in self.driver.unseen:
            return
        reason = self.driver.none.get(cell, "")
        self.row.cells[cell] = "yes" if holds else "-" if reason else "no"
        if not holds:
            self.row.notes.append(f"{cell}: {'; '.join(filter(None, (reason, ' '.join(seen.split()))))}")


def _said_by_people(asked: Asked) -> str:
    """The messages of a request without what we injected: every text that holds no context of ours."""
    texts: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, str):
            texts.append(value if LEAD not in value else "")
        elif isinstance(value, dict):
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(asked.body)
    return "\n".join(texts)
