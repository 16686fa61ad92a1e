"""How much of what a session is given stands in it already: through the hook handler, as a host calls it.

    python -m bench repeats [HAND ...] [--show]

Each hand of bench/recall talks in one session a day; the logs are promoted by the rules. The day after, a session of
each of two hosts asks the hand's prompts, each with a second question behind it, and the agent answers with the
decision in words of its own. A statement that was given counts as repeated where an earlier statement of the same
session, of the same context or of the transcript says it: the same words, or nine tenths of them and all numbers.
`told` is the share of each decision's words that the session was given by the time it asked: leaving repeats out must
not leave answers out.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._sets import table
from bench.recall import Conversation, hands, share

HANDS = ("en-agency", "en-backend", "ko-backend", "ko-office", "en-library", "ko-infra")
HOSTS = ("claude", "openclaw")
PROMPTS = 6  # of a hand that the second session asks
ALIKE = 0.9  # share of a statement's words that an earlier one has which says it
WORD = re.compile(r"[A-Za-z0-9]+|[가-힣]+|[぀-ヿ一-鿿]")


@dataclass(slots=True)
class Session:
    """A session of a host: its events, what was said in it and what it was given. `repeated` and `given` count
    statements; `shown`: the repeated ones."""

    host: str
    name: str
    folder: Path
    clock: datetime
    turns: list[tuple[str, str, datetime]] = field(default_factory=list)
    known: list[frozenset[str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    text: str = ""
    given: int = 0
    repeated: int = 0
    tokens: int = 0
    shown: list[str] = field(default_factory=list)

    def say(self, role: str, text: str) -> None:
        self.clock += timedelta(minutes=1)
        self.turns.append((role, text, self.clock))
        self._hold(text)

    def fire(self, event: str, **fields: Any) -> None:
        """Let the handler carry out an event, and count what it gives."""
        value = {"session_id": self.name, "cwd": str(self.folder), **self._transcript(), **fields}
        text = _handled(event, self.host, value, self.clock)
        self.text += text
        self.tokens += len(text) // 4
        for statement in statements(text):
            self.given += 1
            if self._says(statement):
                self.repeated += 1
                self.shown.append(f"{event}: {statement}")
            self._hold(statement)

    def _transcript(self) -> dict[str, Any]:
        if self.host == "openclaw":
            rows = [{"role": r, "content": t, "timestamp": int(1000 * at.timestamp())} for r, t, at in self.turns]
            return {"messages": rows}
        path = self.folder.parent / f"{self.name}.jsonl"
        rows = [{"id": f"t{n}", "role": r, "text": t, "at": at.isoformat()} for n, (r, t, at) in enumerate(self.turns)]
        path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        return {"transcript_path": str(path)}

    def _hold(self, text: str) -> None:
        self.said.append(" ".join(text.casefold().split()))
        self.known += [frozenset(words) for each in re.split(r"\n|(?<=[.!?。])\s", text) if (words := _words(each))]
        self.known.append(frozenset(_words(text)))

    def _says(self, statement: str) -> bool:
        plain = " ".join(statement.casefold().split()).rstrip(".")
        if any(plain in text for text in self.said):
            return True
        own = _words(statement)
        numbers = {word for word in own if word.isdigit()}
        return any(len(own & each) >= ALIKE * len(own) and numbers <= each for each in self.known)


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.casefold()))


def statements(text: str) -> list[str]:
    """The sentences of a hook's answer that memory says: no marks, headings or names of fields."""
    try:
        context = json.loads(text)["hookSpecificOutput"]["additionalContext"] if text.strip() else ""
    except (ValueError, KeyError):
        context = ""
    found = []
    inside = False
    for line in context.split("\n"):
        if line.startswith("<") and line.endswith(">"):
            inside = not line.startswith("</")
            continue
        plain = re.sub(r"^\s*(?:[-*>] |\d+[.)] )?(?:until \S+: )?", "", line).removesuffix(" (agent)")
        if not inside or plain.startswith("#") or "|---" in plain:
            continue
        found += [each for each in re.split(r"(?<=[.!?。])\s+", plain) if len(_words(each)) > 3]
    return found


def _handled(event: str, host: str, value: dict[str, Any], clock: datetime) -> str:
    from gitmem.agents.host_events import handle
    from gitmem.config import Config
    from gitmem.git.opening import open_repository

    os.environ["GITMEM_NOW"] = clock.isoformat()
    written = io.BytesIO()
    out = io.TextIOWrapper(written, encoding="utf-8")
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(json.dumps(value).encode()))

    def opened() -> Any:
        repo = open_repository(Path.cwd(), os.environ)
        return repo, Config()

    try:
        with redirect_stdout(out):
            handle(event, host, opened)
    finally:
        sys.stdin = before
    out.flush()
    return written.getvalue().decode("utf-8")


@contextmanager
def memory(talks: Sequence[Conversation]) -> Iterator[tuple[Path, datetime]]:
    """A repository that the sessions of a hand, one a day, left their memory in; and the hour after the last."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "memory"
        root.mkdir()
        git = ["git", "-C", str(root), "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
        subprocess.run([*git, "init", "-q"], check=True)
        (root / "MEMORY.md").write_text("# Memory\n", encoding="utf-8")
        os.environ["GITMEM_DETACHED"] = "1"
        os.environ["CLAUDE_PROJECT_DIR"] = os.environ["OPENCLAW_PROJECT_DIR"] = str(root)
        when = talks[0].at
        for talk in talks:
            when = max(when, talk.at)
            session = Session("claude", f"{talk.hand}-{talk.title}".replace(" ", "-").replace("/", "-"), root, when)
            for role, text in talk.turns:
                session.say(role, text)
                if role == "assistant":
                    session.fire("Stop")
            session.fire("SessionEnd")
            when = session.clock
            subprocess.run([*git, "add", "-A"], check=True)
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "memory of a session"], check=True)
        environ = {**os.environ, "GITMEM_NOW": when.isoformat()}
        for key, name in (("user.name", "bench"), ("user.email", "bench@example.com")):
            subprocess.run(["git", "-C", str(root), "config", key, name], check=True)
        promote = [sys.executable, "-m", "gitmem", "promote", "--max", "200"]
        subprocess.run(promote, cwd=root, env=environ, check=False, stdout=subprocess.DEVNULL)
        yield root, when + timedelta(hours=1)


def measured(talks: Sequence[Conversation], host: str) -> tuple[Session, float]:
    """The second session of a hand, and the share of its decisions' words that it was given in time."""
    with memory(talks) as (root, when):
        session = Session(host, "second", root, when)
        session.fire("SessionStart", source="startup")
        shares = []
        for talk in [talk for talk in talks if talk.prompt and talk.decision][-PROMPTS:]:
            for prompt in (talk.prompt, f"Say again, what holds for {talk.title}?"):
                session.fire("UserPromptSubmit", prompt=prompt)
                session.say("user", prompt)
                shares.append(share(talk.decision, session.text))
                session.say("assistant", talk.decision if prompt is talk.prompt else "As I said above.")
                session.fire("Stop")
        return session, sum(shares) / max(1, len(shares))


def main() -> int:
    names = [word for word in sys.argv[1:] if not word.startswith("-")] or HANDS
    found = hands()
    rows = []
    given = repeated = 0
    for name in names:
        for host in HOSTS:
            session, told = measured(sorted(found[name], key=lambda talk: talk.at), host)
            given, repeated = given + session.given, repeated + session.repeated
            share_of = session.repeated / max(1, session.given)
            rows.append([name, host, str(session.given), str(session.repeated), f"{share_of:.2f}", f"{told:.2f}"])
            if "--show" in sys.argv:
                print(*session.shown, sep="\n")
    rows.append(["all", "", str(given), str(repeated), f"{repeated / max(1, given):.2f}", ""])
    print(table(["hand", "host", "statements given", "repeated", "share", "told"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
