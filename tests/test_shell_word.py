"""A command that a message tells a person to type is one line, and a shell reads the same words from it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitmem.shell_word import shell_command, shell_word, shell_words
from tests.harness import SOURCE, Repo

# Scripts that a shell runs keep a line break as it is; no person reads them.
WRITE_SCRIPTS = {"gitmem/git/signing.py", "gitmem/exchange/sync_timer.py"}


@pytest.mark.parametrize(
    "text", ["", "a b", "it's", "two\nlines", "a\x1b[31mb", "é 한글", "$HOME", "~/x", "back\\slash"]
)
def test_a_shell_reads_the_text_back_from_one_line(text: str) -> None:
    word = shell_word(text)
    assert word.isprintable()
    assert subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, text=True).stdout == text


def test_a_path_with_a_dash_is_no_option_and_an_option_stays_one() -> None:
    assert shell_words(["-rf", "a b"]) == "./-rf 'a b'"
    assert shell_command(["git", "add", "--force", "a b"]) == "git add --force 'a b'"


def test_no_message_quotes_a_word_in_another_way() -> None:
    modules = (path for path in (SOURCE / "gitmem").rglob("*.py") if "shlex" in path.read_text(encoding="utf-8"))
    assert {path.relative_to(SOURCE).as_posix() for path in modules} == WRITE_SCRIPTS


def test_an_export_prints_its_folder_on_one_line(repo: Repo, tmp_path: Path) -> None:
    repo.commit("o", {"MEMORY.md": "# Memory\n\n- We deploy with rsync\n"})
    done = repo.mem("export", "okf", str(tmp_path / "a\nb"))
    assert len(done.stdout.splitlines()) == 1
