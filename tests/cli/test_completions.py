"""Completion, asked in the shells themselves."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import click
import pytest

from tests.harness import Repo

BIN = str(Path(sys.executable).parent)


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit(
        "o",
        {
            "MEMORY.md": "# Memory\n\n- Deploys are on Monday. <!-- mem type=rule tags=release,배포 -->\n",
            "memory/2026-02-05.coder.md": "# 2026-02-05\n\n- one\n",
            "memory/회의록.md": "# 회의록\n",
            "memory/두 단어.md": "# 두 단어\n",
        },
    )
    repo.git("branch", "memory/proposal")
    repo.git("tag", "v1.0")
    return repo


def offered(repo: Repo, *words: str, env: Mapping[str, str] | None = None) -> list[str]:
    """What click is told to offer for the last word, by the protocol of its bash script."""
    asked = {
        "COMP_WORDS": " ".join(("git-mem", *words)),
        "COMP_CWORD": str(len(words)),
        "_GIT_MEM_COMPLETE": "bash_complete",
    }
    done = repo.mem(env={**asked, **(env or {})})
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("show", "ME"), ["MEMORY.md"]),
        (("why", "memory/회"), ["memory/회의록.md"]),
        (("search", "--at", "mem"), ["memory/proposal"]),
        (("search", "--at", "v"), ["v1.0"]),
        (("search", "--at", "어"), ["어제"]),
        (("search", "--since", "2026"), ["2026-02-05"]),
        (("search", "--type", "ru"), ["rule"]),
        (("search", "--tag", ""), ["release", "배포"]),
        (("changes", "ma"), ["main.."]),
        (("changes", "main..memory/p"), ["main..memory/proposal"]),
        (("config", "mem.search"), []),
        (("add", "--agent", "co"), ["coder"]),
        (("publish", "--branch", "memo"), ["memory/proposal"]),
        (("insta",), ["install"]),
        (("install", "--agent", "cl"), ["claude", "cline"]),
    ],
)
def test_words_are_offered(memory: Repo, words: tuple[str, ...], wanted: list[str]) -> None:
    found = offered(memory, *words)
    assert found == wanted or (not wanted and all(name.startswith("mem.search") for name in found) and found)


def test_what_a_command_does_is_offered_as_a_whole_sentence(memory: Repo) -> None:
    env = {"_GIT_MEM_COMPLETE": "zsh_complete", "COMP_WORDS": "git-mem ", "COMP_CWORD": "1"}
    rows = memory.mem(env=env).stdout.splitlines()
    summaries = rows[2::3]
    assert len(summaries) > 30 and all(said.endswith(".") and not said.endswith("...") for said in summaries), summaries


def test_in_a_folder_and_elsewhere(memory: Repo, tmp_path: Path) -> None:
    inner = Repo(memory.path / "memory", init=False)
    assert offered(inner, "show", "../ME") == ["../MEMORY.md"]
    assert offered(Repo(tmp_path / "none", init=False), "show", "ME") == []
    assert offered(Repo(tmp_path / "none", init=False), "-C", str(memory.path), "show", "ME") == ["MEMORY.md"]


def script_of(repo: Repo, shell: str) -> str:
    path = repo.path / ".git" / f"completion.{shell}"
    path.write_text(repo.mem("completion", shell).stdout, encoding="utf-8")
    return str(path)


def shell_environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "TERM": "xterm"}


TYPED = [
    ("git-mem show ME", "MEMORY.md"),
    ("git mem sea", "rch "),
    ("git mem why memory/회", "memory/회의록.md"),
    ("git mem show memory/두", r"memory/두\ 단어.md"),
    ("git-mem show memory/두\\ 단", r"단어.md"),
    ("git mem changes mai", "main.."),
]
GIT_BASH = "/usr/share/bash-completion/completions/git"


@pytest.mark.skipif(not os.path.exists(GIT_BASH), reason="Git's completion for bash is not installed here")
@pytest.mark.parametrize(("line", "wanted"), TYPED)
def test_bash_completes(memory: Repo, line: str, wanted: str) -> None:
    first = f"source {GIT_BASH}; source {script_of(memory, 'bash')}"
    assert wanted in completed(memory, ["bash", "--norc", "-i"], first, line, wanted)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed here")
@pytest.mark.parametrize(("line", "wanted"), TYPED)
@pytest.mark.parametrize("autoloaded", [True, False])
def test_zsh_completes(memory: Repo, line: str, wanted: str, autoloaded: bool) -> None:
    script = Path(script_of(memory, "zsh"))
    folder = script.with_name("functions")
    folder.mkdir()
    script.rename(folder / "_git-mem")
    load = "autoload -Uz compinit; compinit -u -D"
    first = f"fpath=({folder} $fpath); {load}" if autoloaded else f"{load}; source {folder}/_git-mem"
    assert wanted in completed(memory, ["zsh", "-f", "-i"], first, line, wanted)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed here")
def test_fish_completes(memory: Repo) -> None:
    asked = "; ".join(f"complete -C '{line}'" for line, _ in TYPED).replace("\\", "\\\\")
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {script_of(memory, 'fish')}; {asked}"], cwd=memory.path,
        env=shell_environment(), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    words = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert words == [
        "MEMORY.md", "search", "memory/회의록.md", "memory/두 단어.md", "memory/두 단어.md", "main..",
    ], done.stderr  # fmt: skip


def completed(repo: Repo, shell: list[str], first: str, line: str, wanted: str) -> str:
    """What a shell shows on its terminal once `line` and a tab were typed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        shell, cwd=repo.path, env={**shell_environment(), "LC_ALL": "C.UTF-8"}, stdin=theirs, stdout=theirs,
        stderr=theirs, start_new_session=True,
    )  # fmt: skip
    try:
        os.write(ours, f"{first}; PS1='REA''DY '\n".encode())
        assert "READY" in _shown(ours, "READY")
        os.write(ours, line.encode() + b"\t")
        return _shown(ours, wanted)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)


def _shown(terminal: int, until: str, seconds: float = 60) -> str:
    """What a terminal shows, without its control sequences, until `until` is there or the time is over."""
    data, text = b"", ""
    end = time.monotonic() + seconds
    while until not in text and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            data += os.read(terminal, 1 << 16)
            text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", data.decode("utf-8", "replace"))
    return text


def test_whatever_fails_nothing_is_offered_and_nothing_raised(memory: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    from gitmem.cli import completions

    def fails(repo: object, config: object) -> list[str]:
        raise RecursionError

    monkeypatch.chdir(memory.path)
    context = click.Context(click.Command("show"))
    parameter = click.Argument(["path"])
    assert completions.paths(context, parameter, "ME") == ["MEMORY.md"]
    monkeypatch.setattr(completions, "_files", fails)
    assert completions.paths(context, parameter, "ME") == []
