"""The script that Git runs in place of a signing program."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.git.signing import Signing, script_text

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the script is a POSIX shell's")


def script(folder: Path, command: str, watched: int | None = None) -> Path:
    path = folder / "gpg"
    path.write_text(script_text("gpg", command, folder / "it's running", watched))
    path.chmod(0o700)
    return path


def test_the_script_passes_words_input_output_and_exit_code_of_the_program(tmp_path: Path) -> None:
    program = script(tmp_path, "sh -c 'echo \"$1\"; cat; exit 7' sh")
    done = subprocess.run([program, "two words"], input=b"text", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (7, b"two words\ntext", b"")


def test_the_program_is_named_while_it_runs_and_not_afterwards(tmp_path: Path) -> None:
    signing = Signing({}, tmp_path / "it's running", at_terminal=True)
    assert signing.program() == ""
    done = subprocess.run([script(tmp_path, f"cat {shlex.quote(str(signing.running))}")], capture_output=True)
    assert (done.stdout, signing.program()) == (b"gpg\n", "")


def test_without_a_watched_process_the_script_is_only_the_program(tmp_path: Path) -> None:
    assert script_text("gpg", "'/usr/bin/gpg' --batch", tmp_path / "signing", None) == (
        f"#!/bin/sh\necho gpg > {tmp_path}/signing\n'/usr/bin/gpg' --batch \"$@\"\n"
        f"ended=$?\nrm -f {tmp_path}/signing\nexit $ended\n"
    )


def test_the_script_ends_its_process_group_once_the_watched_process_is_gone(tmp_path: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as watched:
        program = script(tmp_path, "tail -f /dev/null", watched.pid)
        with subprocess.Popen([program], start_new_session=True) as signs:
            watched.communicate()
            assert signs.wait(timeout=120) == -signal.SIGTERM
