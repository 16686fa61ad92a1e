"""What reaches a terminal or a CI log cannot command it."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.cli.terminal import ProgressLine, escape, paint, printable, uses_colour
from tests.harness import Repo


def test_terminal_commands_are_spelled_out() -> None:
    assert escape("a\x1b]52;c;aGk=\x07b") == "a\\x1b]52;c;aGk=\\x07b"
    assert escape("over\rwrite") == "over\\x0dwrite" and escape("\x9b2J") == "\\x9b2J"
    assert escape("ab\u202ecd\u200b") == "ab\\u202ecd\\u200b" and escape("한글 é\n\t") == "한글 é\n\t"
    assert escape("a\u061cb\u180e\ufffb") == "a\\u061cb\\u180e\\ufffb"
    assert escape("\U000e0041") == "\\U000e0041" and escape("\udc80") == "\\udc80"


@given(st.text())
def test_nothing_hostile_survives_and_everything_encodes(text: str) -> None:
    shown = escape(text)
    assert not any((ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 for c in shown)
    assert printable(shown).decode() == shown


def test_colour_obeys_the_option_and_no_color(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    assert uses_colour("always") and not uses_colour("never") and not uses_colour("auto")
    assert paint("x", "bad", True) == "\x1b[31mx\x1b[m" and paint("x", "bad", False) == "x"


@given(st.text())
def test_json_holds_nothing_a_terminal_obeys_and_means_the_same(text: str) -> None:
    import io
    import json
    import sys
    from unittest.mock import patch

    from gitmem.cli.terminal import write_json

    class Out(io.TextIOWrapper):
        pass

    raw = io.BytesIO()
    with patch.object(sys, "stdout", Out(raw, encoding="utf-8")):
        write_json({"text": text})
        shown = raw.getvalue().decode()
    assert json.loads(shown) == {"text": text}
    assert not any(
        c not in "\n" and (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066\ufeff") for c in shown
    )


# Runs a command on a terminal of so many rows, and prints what appears there.
ON_TERMINAL = """
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", int(sys.argv[1]), 80, 0, 0))
    os.execv(sys.executable, [sys.executable, "-m", "gitmem", *sys.argv[2:]])
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    sys.stdout.buffer.write(data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
READING = (
    ("search", "webhooks"), ("show", "MEMORY.md"), ("log",), ("changes", "HEAD~1..HEAD"), ("why", "MEMORY.md:3"),
    ("context", "webhooks"), ("scan", "--format", "sarif"), ("verify", "--json"), ("review", "HEAD~1..HEAD"),
    ("status",), ("doctor",), ("config", "--list"), ("help", "search"), ("session", "start"),
    ("promote", "--dry-run", "--explain"),
)  # fmt: skip


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("first", {"SOUL.md": "# Soul\n"})
    facts = "".join(f"- We chose webhooks number {number} for the invoices\n" for number in range(9))
    log = "# 2026-02-05\n\n## 10:00\n\n" + "".join(f"- We decided to print report {n} on paper\n" for n in range(9))
    repo.commit("facts", {"MEMORY.md": f"# Memory\n\n{facts}", "memory/2026-02-05.md": log})
    repo.mem("index")
    return repo


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_what_does_not_fit_the_terminal_goes_through_the_pager(memory: Repo, command: tuple[str, ...]) -> None:
    pager = {"GIT_PAGER": "tee paged"}
    done = memory.run(sys.executable, "-c", ON_TERMINAL, "4", *command, env=pager, check=False)
    paged = memory.read("paged")
    assert done.returncode in (0, 1) and paged.count("\n") >= 4
    assert paged.splitlines()[0] in done.stdout
    (memory.path / "paged").unlink()
    memory.run(sys.executable, "-c", ON_TERMINAL, "900", *command, env=pager, check=False)
    assert not (memory.path / "paged").exists()


def test_a_promotion_that_is_made_prints_as_it_goes(memory: Repo) -> None:
    done = memory.run(sys.executable, "-c", ON_TERMINAL, "4", "promote", env={"GIT_PAGER": "tee paged"})
    assert "promoted" in done.stdout and not (memory.path / "paged").exists()


def test_a_pager_that_is_left_early_is_no_failure(memory: Repo) -> None:
    memory.write("memory/long.md", "".join(f"line {number} of a long note\n" for number in range(20_000)))
    done = memory.run(sys.executable, "-c", ON_TERMINAL, "4", "show", "memory/long.md", env={"GIT_PAGER": "head -1"})
    assert done.stdout.count("\n") == 1


def test_no_pager_where_the_output_is_no_terminal(memory: Repo) -> None:
    memory.mem("log", env={"GIT_PAGER": "tee paged"})
    assert not (memory.path / "paged").exists()


def test_progress_is_one_line_of_a_terminal_after_a_second_and_is_taken_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter((0.0, 0.5, 1.0, 2.0))
    line = ProgressLine(lambda: next(times))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    line.say("64 chunks embedded")
    line.clear()
    assert capsys.readouterr().err == ""
    line.say("128 chunks embedded")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    line.say("192 chunks embedded")
    line.clear()
    line.clear()
    assert capsys.readouterr().err == "\r\x1b[K128 chunks embedded\r\x1b[K"
