"""Every way out of a command as an exit code: a refusal in words, a reader that left, an interrupt, a bug.

The numbers are `errors.Exit`. Of a Git hook that we installed Git sees 0 or 1: its file (`git/hook_files`) makes 1 of
every refusal.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable

from gitmem.cli.terminal import say
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn

# What is wrong with the disk, or with a path that was typed: no bug.
SURROUNDINGS = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR,
     errno.EISDIR, errno.EACCES, errno.EPERM, errno.ENXIO, errno.ENODEV)
)  # fmt: skip
MAX_PATH_CHARACTERS = 200  # characters of a path in a message
# What to type next where the error says nothing of it.
FULL, FORBIDDEN = "df -h shows what is free", "ls -ld shows who may write there"
HINTS = {
    errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EFBIG: FULL, errno.EROFS: FORBIDDEN, errno.EACCES: FORBIDDEN,
    errno.EPERM: FORBIDDEN, errno.ENOENT: "ls shows what there is", errno.ENOTDIR: "ls shows what there is",
}  # fmt: skip


def ending(run: Callable[[], int | None], command: str = "git mem") -> int:
    """Run a command and return its exit code. Never raises. `command`: the command that a hint names."""
    try:
        code = run()
        sys.stdout.flush()
        return int(code or 0)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except GitMemError as error:
        say(f"git mem: {error.message}")
        if hint := error.hint or _hint(error, command):
            say(f"hint: {hint}")
        return error.exit_code
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not error.code:
            return Exit.DONE
        # The reader left (click turns that into SystemExit): end as a process that SIGPIPE ended, never as success.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - nothing more to say
        return 128 + 13
    except OSError as error:
        if error.errno not in SURROUNDINGS:
            return _bug(error)
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - what is left in its buffer would fail again
        name = ""
        if isinstance(error.filename, (str, bytes)):
            name = os.fsdecode(error.filename)
        say(f"git mem: cannot read or write{_quoted(name)}: {error.strerror}")
        if error.errno in HINTS:
            say(f"hint: {HINTS[error.errno]}")
        return Exit.CANNOT_RUN
    except Exception as error:  # noqa: BLE001 - the one place where a bug becomes exit 4
        return _bug(error)


def _quoted(path: str) -> str:
    """A space and the path in quotation marks, cut at `MAX_PATH_CHARACTERS`; "" for no path."""
    if not path:
        return ""
    if len(path) <= MAX_PATH_CHARACTERS:
        shown = path
    else:
        shown = f"{path[:MAX_PATH_CHARACTERS]}..."
    return f" '{shown}'"


def _hint(error: GitMemError, command: str) -> str:
    """What to type next after an error that does not say it; "" after a refusal, whose words do."""
    if isinstance(error, UsageError):
        return f"'{command} -h' shows its options."
    if isinstance(error.__context__, OSError) and error.__context__.errno in HINTS:
        return HINTS[error.__context__.errno]
    if error.exit_code is not Exit.CANNOT_RUN:
        return ""
    return "git mem doctor looks for what is wrong"


def _bug(error: Exception) -> int:
    from gitmem.cli.terminal import write_crash_log

    say(f"git mem: a bug: {type(error).__name__}; details in {write_crash_log(error)}")
    return Exit.BUG


def leave(code: int) -> NoReturn:
    """End the process now: what was opened is closed, and to take a whole interpreter apart takes 10 ms."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)
    os._exit(code)
