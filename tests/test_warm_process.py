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


def test_a_hook_runs_in_a_fork_and_refuses_as_in_the_usual_way(repo: Repo) -> None:
    warm = warm_process.started()
    assert warm is not None
    repo.mem("install")
    assert f"gitmem_python='{warm.python}'" in repo.read(".git/hooks/pre-commit")
    repo.write("memory/2026-11-20.md", "- password=hunter2-Xk9Q2\n")
    repo.git("add", "-A")
    done = [
        repo.run("git", "commit", "-qm", "x", check=False, env=env) for env in ({}, {"PYTHONUTF8": "1"})
    ]  # the second is started in the usual way
    assert done[0].returncode == 1 and "memory/2026-11-20.md:1" in done[0].stderr
    assert (done[0].stdout, done[0].stderr) == (done[1].stdout, done[1].stderr)


@pytest.mark.parametrize("end", ["raise SystemExit(7)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"])
def test_what_is_no_command_of_ours_is_run_by_the_interpreter(repo: Repo, end: str) -> None:
    warm = warm_process.started()
    assert warm is not None
    code = f"import sys; print(sys.executable); sys.stdout.flush(); {end}"
    results = [repo.run(python, "-P", "-c", code, check=False) for python in (sys.executable, str(warm.python))]
    assert results[0].stdout == results[1].stdout and results[0].returncode == results[1].returncode != 0


def test_a_hook_refuses_where_the_warm_process_breaks_down(repo: Repo) -> None:
    warm = warm_process.started()
    assert warm is not None
    broken = repo.write("python", warm.python.read_text().replace("marshal.dumps(", "bytes("))
    broken.chmod(0o700)
    done = repo.run(str(broken), "-m", "gitmem", "--version", check=False)
    assert done.returncode != 0 and done.stdout == ""
