"""A command in a fork of the warm process is the command that starts in the usual way."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests import warm_process
from tests.harness import Repo

pytestmark = pytest.mark.skipif(not warm_process.is_wanted(), reason="commands are started in the usual way here")


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (("--version",), ""),
        (("search", "없는 말"), ""),
        (("serach", "x"), ""),  # a typing error: status 2, and the hint goes to standard error
        (("add", "-"), "- 배포는 화요일\n"),
        (("scan", "memory/2026-11-20.md"), ""),
        (("scan", "memory/no.md"), ""),
        (("config", "--list"), ""),
    ],
)
def test_output_and_exit_code_are_those_of_a_command_started_in_the_usual_way(
    repo: Repo, arguments: tuple[str, ...], given: str
) -> None:
    repo.commit("first", {"memory/2026-11-20.md": "- password=hunter2-Xk9Q2\r\n- plain\n"})
    results = [run(arguments, repo, given, warm) for warm in (None, warm_process.started())]
    assert results[0] == results[1]


def run(
    arguments: tuple[str, ...], repo: Repo, given: str, warm: warm_process.WarmProcess | None
) -> tuple[int, str, str]:
    if warm is None:
        command = [sys.executable, "-m", "gitmem", *arguments]
        done = subprocess.run(command, cwd=repo.path, input=given, capture_output=True, text=True, encoding="utf-8")
    else:
        done = warm.run(arguments, cwd=repo.path, environ=os.environ, input=given, timeout=60)
    repo.git("reset", "-q", "--hard")
    repo.git("clean", "-qfd")
    return done.returncode, done.stdout, done.stderr


def test_a_command_gets_the_environment_and_the_settings_of_its_own_home(repo: Repo) -> None:
    repo.commit("first", {"MEMORY.md": "# Memory\n"})
    home = repo.path.parent / "other home"
    home.mkdir()
    (home / ".gitconfig").write_text("[mem]\n\tdistillAfter = 17\n")
    listed = repo.mem("config", "--list", env={"HOME": str(home), "XDG_CONFIG_HOME": ""}).stdout
    assert [line.split()[:2] for line in listed.splitlines() if "distillAfter" in line] == [["mem.distillAfter", "17"]]


def test_another_start_of_the_interpreter_is_not_taken_from_the_warm_process(repo: Repo) -> None:
    warm = warm_process.started()
    assert warm is not None
    assert warm.can_run(os.environ) and not warm.can_run({**os.environ, "PYTHONUTF8": "0"})


def test_a_command_that_takes_too_long_is_ended_and_its_test_fails(repo: Repo) -> None:
    warm = warm_process.started()
    assert warm is not None
    with pytest.raises(subprocess.TimeoutExpired):
        warm.run(("status",), cwd=repo.path, environ=os.environ, input="", timeout=0.0001)
