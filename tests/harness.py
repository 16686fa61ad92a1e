"""A real repository in a temporary folder, driven by the real git and the real command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests import warm_process

SOURCE = Path(__file__).parent.parent


def checked(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """The result of a command that must not fail. Raises AssertionError with what it printed."""
    if done.returncode != 0:
        raise AssertionError(f"{done.args} exited {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


class Repo:
    """A work tree. `git` and `mem` raise on failure unless `check=False`; output is text."""

    def __init__(self, path: Path, init: bool = True, *options: str) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        if init:
            self.git("init", "-q", "-b", "main", *options)

    def run(
        self, *command: str, input: str | None = None, check: bool = True, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, cwd=self.path, input=input, capture_output=True, text=True, encoding="utf-8",
            errors="surrogateescape", env={**os.environ, **(env or {})}, timeout=300,
        )  # fmt: skip
        return checked(done) if check else done

    def git(
        self, *args: str, input: str | None = None, check: bool = True, env: Mapping[str, str] | None = None
    ) -> str:
        return self.run("git", *args, input=input, check=check, env=env).stdout

    def mem(
        self, *args: str, input: str | None = None, check: bool = True, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run `git mem`, in a fork of a process that has imported its modules where the environment allows."""
        environ = {**os.environ, **(env or {})}
        warm = warm_process.started()
        if warm is None or not warm.can_run(environ):
            return self.run(sys.executable, "-m", "gitmem", *args, input=input, check=check, env=env)
        done = warm.run(args, cwd=self.path, environ=environ, input=input or "", timeout=300)
        return checked(done) if check else done

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def editor(self, script: str) -> str:
        """The path of an editor for Git: a shell script in which `$1` is the file to edit."""
        program = self.write(".git/editor", f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return str(program)

    def verbose_commit(self, script: str, files: Mapping[str, str], char: str) -> tuple[str, ...]:
        """Write and stage `files`; the `git` command that commits them with their diff below the message, which
        `script` edits. `char`: the value of core.commentChar."""
        self.git("config", "core.commentChar", char)
        for path, text in files.items():
            self.write(path, text)
        self.git("add", "-A")
        return ("-c", f"core.editor={self.editor(script)}", "commit", "-qv")

    def read(self, path: str) -> str:
        return (self.path / path).read_text(encoding="utf-8")

    def commit(self, message: str = "change", files: Mapping[str, str | bytes] | None = None, date: str = "") -> str:
        """Write `files`, stage everything, commit without hooks; the new oid. `date` is ISO 8601."""
        for path, text in (files or {}).items():
            self.write(path, text)
        self.git("add", "-A")
        env = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
        self.git("commit", "-q", "--no-verify", "--allow-empty", "-m", message, env=env)
        return self.git("rev-parse", "HEAD").strip()
