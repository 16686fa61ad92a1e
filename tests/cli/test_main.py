"""The command line: what a person sees when things go wrong, and that nothing heavy is loaded early."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.cli import main
from gitmem.cli.command_registry import COMMANDS, MEANT
from gitmem.cli.exits import run_command
from gitmem.errors import GitFailed
from tests.harness import SOURCE, Repo


def test_a_typo_gets_the_nearest_command_and_exit_2(repo: Repo) -> None:
    done = repo.mem("conifg", check=False)
    assert done.returncode == 2 and "did you mean 'git mem config'" in done.stderr


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_works_with_both_flags(repo: Repo, flag: str) -> None:
    assert "Append TEXT" in repo.mem("add", flag).stdout
    assert "Commands" not in repo.mem(flag).stderr and "setup" in repo.mem(flag).stdout


def test_an_unknown_option_says_how_to_get_help(repo: Repo) -> None:
    done = repo.mem("add", "--nonsense", "x", check=False)
    assert done.returncode == 2 and "hint: 'git mem add -h'" in done.stderr and "Traceback" not in done.stderr
    lacking = repo.mem("eval", "--floor", check=False)
    assert lacking.returncode == 2 and "hint: 'git mem eval -h'" in lacking.stderr


def test_outside_a_repository_commands_exit_3_and_say_what_to_type(tmp_path: Path) -> None:
    place = Repo(tmp_path / "plain", init=False)
    done = place.mem("search", "x", check=False, env={"GIT_CEILING_DIRECTORIES": str(tmp_path)})
    assert done.returncode == 3 and done.stderr.count("\n") == 2 and "git mem init" in done.stderr


@pytest.mark.parametrize("words", ["status", "search crane", "add hello", "hook pre-commit"])
def test_a_current_folder_that_is_gone_is_said_and_no_bug(tmp_path: Path, words: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, '-m', 'gitmem', *sys.argv[1:]])"
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", code, *words.split()], cwd=gone, env=env, capture_output=True, text=True
    )
    assert done.returncode == 3 and done.stdout == ""
    assert (
        done.stderr
        == "git mem: the current folder is gone: it was removed or renamed\nhint: cd to a folder that is there\n"
    )


def test_outside_a_repository_config_shows_the_settings_of_the_person(tmp_path: Path) -> None:
    place = Repo(tmp_path / "plain", init=False)
    place.git("config", "--global", "mem.searchPool", "9")
    place.git("config", "--global", "mem.serchPool", "9")
    done = place.mem("config", "searchPool", env={"GIT_CEILING_DIRECTORIES": str(tmp_path)})
    assert done.stdout == "mem.searchPool  9  (global)\n"
    assert "not in a repository" in done.stderr and "'mem.serchpool' (global) is no setting" in done.stderr


def test_config_says_that_a_key_of_the_repository_itself_is_not_read(repo: Repo) -> None:
    repo.git("config", "mem.searchPool", "9")
    done = repo.mem("config", "searchPool")
    assert done.stdout == "mem.searchPool  28  (default)\n" and "mem.searchPool of this repository's own" in done.stderr
    assert "not read" not in repo.mem("config", "searchDecay").stderr


def test_a_bug_is_one_line_and_a_log_that_holds_no_text_of_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ValueError("my secret sentence")

    monkeypatch.setattr(main.main_command, "main", broken)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert main.run([]) == 4
    said = capsys.readouterr().err
    assert said.startswith("git mem: a bug: ValueError") and "secret" not in said
    (log,) = tmp_path.glob("git-mem-*.log")
    text = log.read_text()
    assert "secret" not in text and "Python" in text and "in broken" in text
    assert log.stat().st_mode & 0o777 == 0o600


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main.main_command, "main", stopped)
    assert main.run([]) == 130


@pytest.mark.parametrize(
    ("words", "module"),
    [
        ("status", "gitmem.cli.main"),
        ("status", "gitmem.cli.commands.status"),
        ("search crane", "gitmem.cli.fast_search"),
        ("hook pre-commit", "gitmem.cli.git_hooks"),
        ("hook post-commit", "gitmem.cli.index_hooks"),
        ("session hook claude", "gitmem.cli.host_hooks"),
    ],
)
def test_an_interrupt_while_python_imports_is_130_and_says_nothing(repo: Repo, words: str, module: str) -> None:
    code = f"""if True:
        import os, runpy, signal, sys
        class Interrupted:
            def find_spec(self, name, path=None, target=None):
                if name == {module!r}:
                    os.kill(os.getpid(), signal.SIGINT)
        sys.meta_path.insert(0, Interrupted())
        sys.argv[1:] = {words.split()!r}
        runpy.run_module("gitmem", run_name="__main__", alter_sys=False)
    """
    done = repo.run(sys.executable, "-c", code, input="", check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")


def test_a_reader_that_leaves_is_no_error(repo: Repo) -> None:
    command = f"{sys.executable} -m gitmem config --list | head -c 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=repo.path, capture_output=True)
    assert done.returncode in (0, 141) and b"Traceback" not in done.stderr and b"bug" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said_and_no_bug(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- We use Postgres 16\n"})
    for words in ("search Postgres", "status"):
        done = repo.run("sh", "-c", f"{sys.executable} -m gitmem {words} > /dev/full", check=False)
        assert done.returncode == 3
        assert done.stderr.splitlines() == [
            "git mem: cannot read or write: No space left on device", "hint: df -h shows what is free",
        ]  # fmt: skip


def test_the_help_of_the_whole_imports_no_heavy_library(repo: Repo) -> None:
    code = "import sys; from gitmem.cli.main import main_command; print(*sys.modules)"
    done = repo.run(sys.executable, "-c", code)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "pygit2", "detect_secrets", "llama_cpp", "yaml", "markdown_it", "apsw"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed_for_each_shell(repo: Repo, shell: str) -> None:
    script = repo.mem("completion", shell).stdout
    assert "_GIT_MEM_COMPLETE" in script and ("_git-mem()" if shell == "zsh" else "_git_mem") in script


def test_completion_knows_commands_and_options(repo: Repo) -> None:
    asked = {"_GIT_MEM_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    assert "plain,config" in repo.mem(env={**asked, "COMP_WORDS": "git-mem con"}).stdout
    asked["COMP_CWORD"] = "2"
    assert "plain,--dry-run" in repo.mem(env={**asked, "COMP_WORDS": "git-mem init --d"}).stdout


def test_the_bash_script_is_valid_and_completes_git_mem(repo: Repo) -> None:
    script = repo.mem("completion", "bash").stdout
    bash = f'{script}\nwords=(git mem con); cword=2; compopt() {{ :; }}; _git_mem; printf "%s\\n" "${{COMPREPLY[@]}}"'
    shim = repo.write("bin/git-mem", f'#!/bin/sh\nexec {sys.executable} -m gitmem "$@"\n')
    shim.chmod(0o755)
    path = {"PATH": f"{shim.parent}:{os.environ['PATH']}"}
    assert "config" in repo.run("bash", "-c", bash, env=path).stdout.split()


def test_dash_capital_c_runs_elsewhere(repo: Repo, tmp_path: Path) -> None:
    elsewhere = Repo(tmp_path / "other", init=False)
    assert "mem.agent" in elsewhere.mem("-C", str(repo.path), "config").stdout
    assert elsewhere.mem("-C", os.devnull, "config", check=False).returncode == 3


def test_a_path_as_our_answers_spell_it_works_in_a_subfolder(repo: Repo) -> None:
    repo.commit("one", {"memory/하위 폴더/규칙.md": "- one\n- two\n"})
    place = Repo(repo.path / "memory/하위 폴더", init=False)
    for typed in ("memory/하위 폴더/규칙.md:2", "규칙.md:2"):
        assert "- two" in place.mem("show", typed).stdout and "- one" not in place.mem("show", typed).stdout


@pytest.mark.parametrize("words", [(), ("session",), ("profile",)])
def test_a_group_alone_shows_its_help_and_nothing_else(repo: Repo, words: tuple[str, ...]) -> None:
    done = repo.mem(*words, check=False)
    assert done.returncode == 2 and done.stderr.startswith("Usage: git mem") and "hint:" not in done.stderr


def test_init_of_a_folder_says_how_to_get_there(repo: Repo, tmp_path: Path) -> None:
    assert "next: git mem install" in repo.mem("init").stdout
    assert f"next: cd '{tmp_path}/새 메모'; git mem install" in repo.mem("init", str(tmp_path / "새 메모")).stdout


@pytest.mark.parametrize("question", ["", "  "])
def test_an_empty_question_is_said_to_be_empty(repo: Repo, question: str) -> None:
    repo.commit("one", {"MEMORY.md": "- alpha\n"})
    done = repo.mem("search", question)
    assert done.stdout == "" and done.stderr.startswith("the question is empty")


@pytest.mark.parametrize("names", [(), ("search",), ("session", "end")])
def test_help_of_a_command_is_what_its_own_option_shows(tmp_path: Path, names: tuple[str, ...]) -> None:
    repo = Repo(tmp_path, init=False)
    assert repo.mem("help", *names).stdout == repo.mem(*names, "-h").stdout


@pytest.mark.parametrize("names", [("serch",), ("search", "x"), ("session", "enx")])
def test_help_of_no_command_says_so(tmp_path: Path, names: tuple[str, ...]) -> None:
    done = Repo(tmp_path, init=False).mem("help", *names, check=False)
    assert done.returncode == 2 and names[-1] in done.stderr and "-h" in done.stderr


@pytest.mark.parametrize(
    ("typed", "meant"), [("find", "search"), ("remember", "add"), ("Delete", "forget"), ("serach", "search")]
)
def test_a_command_of_another_tool_is_answered_with_the_one_that_is_meant(repo: Repo, typed: str, meant: str) -> None:
    done = repo.mem(typed, "x", check=False)
    assert done.returncode == 2 and f"there is no command '{typed}'; did you mean 'git mem {meant}'?" in done.stderr


def test_every_word_that_means_a_command_means_one_and_is_none() -> None:
    assert set(MEANT.values()) <= set(COMMANDS) and not set(MEANT) & set(COMMANDS)
    assert all(word == word.lower() for word in MEANT)


def test_the_entry_point_imports_nothing_before_it_can_catch_an_interrupt() -> None:
    code = "import sys; first = set(sys.modules); import gitmem.__main__; print(*sorted(set(sys.modules) - first))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["__future__", "gitmem", "gitmem.__main__"]


def test_a_full_disk_that_git_met_is_said_with_the_command_that_shows_what_is_free() -> None:
    def fail() -> None:
        raise GitFailed("git commit failed: unable to write loose object file: No space left on device")

    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gitmem.cli.terminal.say", said.append)
        patch.setattr("gitmem.cli.exits.say", said.append)
        assert run_command(fail) == 3
    assert said[-1] == "hint: df -h shows what is free"


@pytest.mark.parametrize("typed", ["serach", "frobnicate"])
def test_an_unknown_command_has_one_hint(repo: Repo, typed: str) -> None:
    done = repo.mem(typed, check=False)
    assert done.returncode == 2 and done.stderr.count("git mem -h") == 1
    assert done.stderr.splitlines()[-1] == "hint: 'git mem -h' lists the commands."
