"""Nothing is asked where nobody is at a terminal, and a command that changes memory acts there at once."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tests.harness import Repo

NOW = {"GITMEM_NOW": "2026-02-10T09:00:00+00:00"}
LOG = "# 2026-02-05\n\n## 10:00\n\n- We decided to use REST webhooks.\n"
MEMORY = "# Memory\n\n## Decisions\n\n- Port 80. <!-- mem type=decision -->\n"


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": MEMORY, "memory/2026-02-05.md": LOG})
    repo.mem("add", "the crane is blue", "--type", "fact", "--commit", env=NOW)
    return repo


def state(repo: Repo) -> tuple[str, str, str]:
    return repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain"), repo.git("diff")


@pytest.mark.parametrize(
    "words",
    [
        ("undo",),
        ("add", "the mast is oak"),
        ("edit", "MEMORY.md:5", "Port 81.", "--reason", "moved"),
        ("forget", "MEMORY.md:5", "--reason", "gone"),
        ("promote", "--commit"),
        ("import", "notes", "../notes"),
    ],
)
def test_without_a_terminal_a_change_is_made_at_once_and_nothing_is_asked(memory: Repo, words: tuple[str, ...]) -> None:
    (memory.path.parent / "notes").mkdir(exist_ok=True)
    (memory.path.parent / "notes/winch.md").write_text("# Winch\n\nIt lifts four tons.\n")
    before = state(memory)
    done = memory.mem(*words, env=NOW, check=False)
    assert "?" not in done.stderr and "[y/N]" not in done.stdout
    assert done.returncode == 0 and state(memory) != before, (done.stdout, done.stderr)


@pytest.mark.parametrize("words", [("setup",), ("import", "claude")])
def test_what_concerns_more_than_this_memory_waits_for_yes(memory: Repo, words: tuple[str, ...]) -> None:
    before = state(memory)
    done = memory.mem(*words, env=NOW)
    assert state(memory) == before and "[y/N]" not in done.stdout + done.stderr
    assert "--yes" in done.stdout + done.stderr or "no session" in done.stderr


def at_terminal(repo: Repo, keys: str, *words: str) -> tuple[int, str]:
    """The exit code and standard error of a command at a terminal at which a person types `keys`."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, keys.encode())
        done = subprocess.run(
            [sys.executable, "-m", "gitmem", *words], cwd=repo.path, stdin=theirs, stderr=theirs,
            stdout=subprocess.PIPE, timeout=120, env={**os.environ, **NOW},
        )  # fmt: skip
        os.set_blocking(ours, False)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 1 << 16)
            except (BlockingIOError, OSError):
                return done.returncode, shown.decode()
    finally:
        os.close(ours)
        os.close(theirs)


def test_undo_asks_a_person_and_takes_no_for_an_answer(memory: Repo) -> None:
    before = state(memory)
    code, shown = at_terminal(memory, "n\n", "undo")
    assert (code, state(memory)) == (1, before) and "take this back? [y/N]" in shown
    code, shown = at_terminal(memory, "", "undo", "--yes")
    assert code == 0 and state(memory) != before and "take this back?" not in shown


def test_end_of_input_at_a_question_changes_nothing(memory: Repo) -> None:
    before = state(memory)
    code, shown = at_terminal(memory, "\x04", "undo")
    assert code != 0 and state(memory) == before and "Traceback" not in shown
