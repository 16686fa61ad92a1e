"""`git mem install --agent`: write a host's registration, or say what would be written."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.git.worktree import read_bytes, resolve, write_atomic
from gitmem.hosts import host_named, registration


def register(repo: Repository, host: str, *, dry_run: bool, as_json: bool, remove: bool = False) -> None:
    """Register with (or leave) a host: only our own entries change; files of others are kept."""
    if repo.root is None:
        raise GitMemError("an agent works in a work tree, and the repository is bare", "run it in a clone")
    known = host_named(host)
    texts = {path: _read(repo.root, path) for path in known.paths}
    changes = registration.plan(known, texts, root=str(repo.root), remove=remove)
    if not dry_run:
        for change in changes:
            _write(repo.root, change)
    if as_json:
        files = [{"path": change.path, "text": change.text or None} for change in changes]
        write_json({"agent": host, "dry_run": dry_run, "files": files})
        return
    for change in changes:
        verb = "write" if change.text else "remove"
        write(escape(f"{'would ' if dry_run else ''}{verb} {change.path}\n"))
        if dry_run and change.text:
            write("".join(escape(f"    {line}\n") for line in change.text.splitlines()))
    if not remove:
        for problem in _problems():
            say(escape(f"note: {problem}"))
    if changes and not remove and not dry_run:
        write(f"next: start {host} in this folder again; it may ask whether you trust the server and the hooks\n")
    if not changes:
        write(f"{host} is {'not registered' if remove else 'registered already'}\n")


def _problems() -> list[str]:
    """Why the host would not be able to start what was registered, each with what to do."""
    found = []
    if shutil.which("git-mem") is None:
        folder = Path(sys.executable).parent
        found.append(f"a host starts 'git-mem', which is not on the PATH; add {folder} to it, or install with pipx")
    if importlib.util.find_spec("mcp") is None:
        found.append("the MCP server needs the extra: pip install 'git-mem[mcp]'")
    return found


def _place(root: Path, path: str) -> tuple[Path, str]:
    """(folder, path in it): home for `~/`, else the work tree. Neither is left through a link."""
    return (Path(os.path.expanduser("~")), path[2:]) if path.startswith("~/") else (root, path)


def _read(root: Path, path: str) -> str:
    folder, name = _place(root, path)
    try:
        return read_bytes(folder, name).decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        raise GitMemError(f"'{path}' cannot be read and is left as it is") from None


def _write(root: Path, change: registration.Change) -> None:
    folder, name = _place(root, change.path)
    if change.text:
        write_atomic(folder, name, change.text.encode())
    else:
        place = resolve(folder, name)
        place.unlink(missing_ok=True)
        if place.parent != folder:
            with suppress(OSError):  # a folder that holds something else stays
                place.parent.rmdir()
