"""What about 260 commands answer is what tests/recorded_answers.txt says; tools/record.py types them."""

from __future__ import annotations

import subprocess
import sys

from gitmem.cli.command_registry import COMMANDS
from tests.harness import SOURCE

COMMANDS_TYPED = SOURCE / "tools/record_commands.txt"
ANSWERS = SOURCE / "tests/recorded_answers.txt"
# Commands that are not recorded, and why.
NOT_RECORDED = {
    "action": "is what actions/ run; tests/actions",
    "watch": "runs until it is interrupted; tests/cli/commands/test_watch.py",
}


def lines_typed() -> list[str]:
    lines = COMMANDS_TYPED.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_the_commands_answer_as_they_are_recorded() -> None:
    command = [sys.executable, "tools/record.py", "--check"]
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, encoding="utf-8", timeout=1800)
    assert done.returncode == 0, f"{done.stdout[-30_000:]}\n{done.stderr[-5_000:]}"


def test_every_command_is_recorded() -> None:
    words = {word for line in lines_typed() if "git mem" in line for word in line.split()}
    absent = {name for name in COMMANDS if name not in words}
    assert absent == NOT_RECORDED.keys()


def test_no_recorded_command_fails_by_a_bug() -> None:
    recorded = ANSWERS.read_text(encoding="utf-8")
    assert "git mem: a bug" not in recorded and "Traceback" not in recorded
    codes = {line for line in recorded.splitlines() if line.startswith("  = ")}
    assert codes == {"  = 0", "  = 1", "  = 2", "  = 3"}


def test_a_recorded_answer_names_nothing_of_the_machine_and_no_secret() -> None:
    recorded = ANSWERS.read_text(encoding="utf-8")
    for word in (str(SOURCE), "git-mem-record-", sys.executable, "ghp_R8kQ"):
        assert word not in recorded, word
