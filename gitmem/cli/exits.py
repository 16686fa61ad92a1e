"""Run a command and return its exit code (`errors.Exit`): a refusal, an interrupt, a closed pipe or a bug each has one.

Git sees only 0 or 1 from a hook that we installed: the hook file (`git/hooks`) turns every other code into 1.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable
from typing import NoReturn

from gitmem.cli.terminal import say, say_lines, write_crash_log
from gitmem.errors import Exit, GitMemError, UsageError

# Errors of the disk or of a path that a person typed. Every other OSError counts as a bug.
EXTERNAL_ERRORS = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR,
     errno.EISDIR, errno.EACCES, errno.EPERM, errno.ENXIO, errno.ENODEV)
)  # fmt: skip
MAX_PATH_CHARACTERS = 200  # characters of a path in a message
DISK_FULL = "df -h shows what is free"
NO_PERMISSION = "ls -ld shows who may write there"
NO_FILE = "ls shows what there is"
SHORTER_NAME = "a shorter name fits"
DISK_FULL_WORDS = re.compile("no space left|disk quota exceeded|out of diskspace", re.IGNORECASE)  # as git prints them
HINTS = {  # errno -> the hint to print where the error has none
    errno.ENOSPC: DISK_FULL, errno.EDQUOT: DISK_FULL, errno.EFBIG: DISK_FULL,
    errno.EROFS: NO_PERMISSION, errno.EACCES: NO_PERMISSION, errno.EPERM: NO_PERMISSION,
    errno.ENOENT: NO_FILE, errno.ENOTDIR: NO_FILE, errno.ENAMETOOLONG: SHORTER_NAME,
}  # fmt: skip


def run_command(run: Callable[[], int | None], command: str = "git mem") -> int:
    """Run a command, print its error if it fails, and return its exit code, 141 if the reader of its output closed the
    pipe. Never raises.

    `command`: the command that a hint names, such as "git mem add".
    """
    try:
        code = run()
        sys.stdout.flush()
        return int(code or 0)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except GitMemError as error:
        say(f"git mem: {error.message}")
        if hint := error.hint or _hint(error, command):
            say_lines(f"hint: {hint}")
        return error.exit_code
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not error.code:
            return Exit.DONE
        # The reader closed the pipe (click turns that into SystemExit): return the status of a process that SIGPIPE
        # ended, never success.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it stays open until the process ends
        return 128 + 13
    except OSError as error:
        if error.errno == errno.ENOENT and _is_folder_gone():
            say("git mem: the current folder is gone: it was removed or renamed")
            say("hint: cd to a folder that is there")
            return Exit.CANNOT_RUN
        if error.errno not in EXTERNAL_ERRORS:
            return _bug(error)
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - writing the rest of the buffer would fail again
        name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
        say(f"git mem: cannot read or write{_quoted(name)}: {error.strerror}")
        if error.errno in HINTS:
            say(f"hint: {HINTS[error.errno]}")
        return Exit.CANNOT_RUN
    except Exception as error:  # noqa: BLE001 - the one place where a bug becomes exit 4
        return _bug(error)


def _is_folder_gone() -> bool:
    """Whether the folder in which this process was started no longer exists."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _quoted(path: str) -> str:
    """A space and the path in quotation marks, cut after MAX_PATH_CHARACTERS; "" for no path."""
    if len(path) > MAX_PATH_CHARACTERS:
        path = f"{path[:MAX_PATH_CHARACTERS]}..."
    if path:
        return f" '{path}'"
    return ""


def _hint(error: GitMemError, command: str) -> str:
    """The hint for an error that has no hint of its own; `command -h` for a usage error, "" for a refusal, whose
    message is enough."""
    if isinstance(error, UsageError):
        return f"'{command} -h' shows its options."
    if isinstance(error.__context__, OSError) and error.__context__.errno in HINTS:
        return HINTS[error.__context__.errno]
    if error.exit_code is not Exit.CANNOT_RUN:
        return ""
    if DISK_FULL_WORDS.search(error.message):
        return DISK_FULL
    return "git mem doctor looks for what is wrong"


def _bug(error: Exception) -> int:
    """Print that a bug occurred, with the path of the crash log; returns the exit code."""
    say(f"git mem: a bug: {type(error).__name__}; details in {write_crash_log(error)}")
    return Exit.BUG


def exit_now(code: int) -> NoReturn:
    """Flush the output and end the process at once, without the interpreter's own shutdown, which takes 10 ms."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)
    os._exit(code)
