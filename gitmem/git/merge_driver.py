"""Sets up Git's merge driver `gitmem` in a clone and removes it, for `install` and `uninstall`.

Two keys of the clone's own configuration hold the command. The attribute `merge=gitmem` names the files that it merges.
`git mem init` writes the attribute to the tracked .gitattributes; for files that it does not name there, and for daily
notes of other programs, a marked block in `info/attributes` has it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence

from gitmem.daily_logs import daily_glob
from gitmem.errors import GitFailed, GitMemError
from gitmem.git.marked_block import BEGIN, BLOCK, END
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes, write_atomic
from gitmem.git.write import run_git
from gitmem.system import temporary_folder

SECTION = "merge.gitmem"
DRIVER = f"{SECTION}.driver"
FORMER = f"{SECTION}.recursive"  # of an earlier version: it left conflict markers in the base of criss-cross merges
MEMORY = ("MEMORY.md merge=gitmem", "memory/**/*.md merge=gitmem")
FORMER_PATTERN = "memory/*.md"  # of an earlier version: it left out the folders below memory/
ARCHIVE = "memory/archive/2000.md"  # a file that Git must merge by our driver; it need not exist
# A line of .gitattributes that sets or unsets a merge driver; the group is its pattern without `/` before it.
MERGE_ROW = re.compile(r"^/?([^\s#\"]\S*)[ \t](?:.*[ \t])?[-!]?merge(?:=\S*)?(?=\s|$)", re.MULTILINE)


def merge_driver_settings(python: str = "") -> tuple[tuple[str, str], ...]:
    """The two settings of a clone's configuration that define our merge driver, each as (key, value): its name and its
    command. `python`: the interpreter to run; "" for `git-mem` on PATH.

    If neither program can merge, the command runs `git merge-file`: a driver that fails without conflict markers would
    leave our side as it is, and the next commit would lose theirs.
    """
    words = "merge-driver -- %O %A %B %L %P"
    run = f"git-mem {words}"
    if python:
        quoted = "'" + python.replace("'", "'\\''") + "'"
        run = f'g={quoted}; if [ -x "$g" ]; then "$g" -E -P -m gitmem {words}; else git-mem {words}; fi'
    marked = "{ [ $r = 1 ] && grep -q '^<<<<<<<' %A; }"
    text = "git merge-file -q --diff3 --marker-size=%L -L ours -L base -L theirs %A %O %B"
    return (
        (f"{SECTION}.name", "memory, fact by fact (git mem)"),
        (f"{SECTION}.driver", f"{run}; r=$?; [ $r = 0 ] || {{ {marked} && exit 1; }} || {text}"),
    )


def is_set_up(repo: Repository) -> bool:
    """Whether this clone has a merge driver of our name, of any version."""
    return _setting(repo, DRIVER) is not None


def driver_problem(repo: Repository, python: str) -> str:
    """What is wrong with the merge driver of this clone; "" if it merges or was never set up.

    The driver is tried on three small texts if it is one that `set_up` would write, for `python` or for "". No other
    driver is run: it may be anybody's program.
    """
    value = _setting(repo, DRIVER)
    if value is None:
        return ""
    our_commands = {dict(merge_driver_settings(program))[DRIVER] for program in (python, "")}
    if value in our_commands:
        return _tried(repo, value) or _attribute_problem(repo)
    runs = re.match(r"g='([^']*)';", value)
    if runs is None or value != dict(merge_driver_settings(runs[1]))[DRIVER]:
        return "it is of another version"
    if os.access(runs[1], os.X_OK):
        return _attribute_problem(repo)
    return f"its Python is gone ({runs[1]}), and memory may be merged as text"


def _tried(repo: Repository, command: str) -> str:
    """Run a driver on two sides that each add a fact. Returns what is wrong with its result, "" for nothing."""
    base = b"# Memory\n\n- one fact\n"
    sides = {"%O": base, "%A": base + b"- ours\n", "%B": base + b"- theirs\n"}
    with temporary_folder() as folder:
        for name, data in sides.items():
            (folder / name[1:]).write_bytes(data)
            command = command.replace(name, name[1:])
        command = command.replace("%L", "7").replace("%P", "MEMORY.md")
        env = {name: value for name, value in repo.environ.items() if not name.startswith("GIT_")}
        result = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, env=env, check=False)
        merged = (folder / "A").read_bytes()
    if result.returncode == 0 and b"- ours\n" in merged and b"- theirs\n" in merged:
        return ""
    return "it cannot start, so that memory is merged as text"


def _attribute_problem(repo: Repository) -> str:
    """What is wrong if no attribute names a merge driver for the archive, so that Git merges it as text; else ""."""
    if repo.root is None:
        return ""
    value = run_git(repo, ["check-attr", "-z", "merge", "--", ARCHIVE]).split("\0")[2]
    if value != "unspecified":  # `union` or `unset` is what a person chose
        return ""
    return "no attribute names it for the files below memory/, so that memory/archive is merged as text"


def set_up(repo: Repository, python: str = "", daily: Iterable[str] = (), *, dry: bool = False) -> bool:
    """Make Git merge memory by our driver. Returns whether anything was changed, or with `dry` would be.

    `python`: as for `merge_driver_settings`. `daily`: patterns of daily logs that the driver merges as well; one with
    an unprintable character is left out. Raises GitFailed or GitMemError if the configuration or info/attributes cannot
    be written.
    """
    commands = [[key, value] for key, value in merge_driver_settings(python) if _setting(repo, key) != value]
    if _setting(repo, FORMER) is not None:
        commands.append(["--unset-all", FORMER])
    if not dry:
        for command in commands:
            run_git(repo, ["config", "--local", *command])
    old_data = _attributes(repo)
    new_data = BLOCK.sub(b"", old_data)
    rows = [f"{_attribute_of(pattern)} merge=gitmem" for pattern in daily if pattern.isprintable()]
    rows = [*_rows_to_add(repo), *rows]
    if rows:
        if new_data and not new_data.endswith(b"\n"):
            new_data += b"\n"
        new_data += "\n".join([BEGIN, *rows, END, ""]).encode()
    return bool(commands) | _write_attributes(repo, old_data, new_data, dry)


def take_out(repo: Repository, *, dry: bool = False) -> bool:
    """Undo `set_up`; with `dry` change nothing. Returns whether there was anything to remove. Raises GitFailed or
    GitMemError if the configuration or info/attributes cannot be written."""
    present = _setting(repo, f"{SECTION}.driver") is not None
    if present and not dry:
        run_git(repo, ["config", "--local", "--remove-section", SECTION])
    old_data = _attributes(repo)
    return present | _write_attributes(repo, old_data, BLOCK.sub(b"", old_data), dry)


def _attribute_of(pattern: str) -> str:
    """A pattern of daily logs in the syntax of gitattributes(5): from the top folder, in quotes."""
    literal = daily_glob(pattern).replace("\\", "\\\\")
    return '"/' + re.sub(r'(["\\])', r"\\\1", literal) + '"'


def _setting(repo: Repository, key: str) -> str | None:
    try:
        return run_git(repo, ["config", "--local", "--get", key]).removesuffix("\n")
    except GitFailed:
        return None


def _rows_to_add(repo: Repository) -> Sequence[str]:
    """The rows of MEMORY for files to which the .gitattributes of the work tree gives no merge driver. Another driver
    that it names for files below memory/ is what a person chose, and stays."""
    if repo.root is None:
        return MEMORY
    try:
        text = read_bytes(repo.root, ".gitattributes", 1 << 20).decode("utf-8", "replace")
    except (OSError, GitMemError):
        return MEMORY
    patterns = {match[1] for match in MERGE_ROW.finditer(text)} - {FORMER_PATTERN}
    rows = []
    if "MEMORY.md" not in patterns:
        rows.append(MEMORY[0])
    if not any(pattern.startswith("memory/") for pattern in patterns):
        rows.append(MEMORY[1])
    return rows


def _attributes(repo: Repository) -> bytes:
    try:
        return read_bytes(repo.common_dir, "info/attributes", 1 << 20)
    except OSError:
        return b""


def _write_attributes(repo: Repository, old_data: bytes, new_data: bytes, dry: bool) -> bool:
    if new_data == old_data:
        return False
    if dry:
        return True
    if new_data:
        write_atomic(repo.common_dir, "info/attributes", new_data)
    else:
        os.unlink(repo.common_dir / "info" / "attributes")
    return True
