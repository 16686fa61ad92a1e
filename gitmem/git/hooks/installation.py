"""Installs and removes our Git hooks: a marked block in each hook file, next to what a person has there.

A shell script keeps every byte and gets our block after its first line. Any other file (a binary, a Python script, a
link, a file that Git would not run) is renamed, called by our hook, and renamed back by `uninstall`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gitmem import system
from gitmem.errors import GitMemError
from gitmem.git.hooks import HOOKS, SERVER
from gitmem.git.hooks.block import HEADER, block, is_current, repositories, with_repositories
from gitmem.git.hooks.folder import is_husky
from gitmem.git.marked_block import BLOCK
from gitmem.messages import Message

SAVED = ".before-git-mem"  # suffix of a renamed hook that cannot hold our block
EXECUTABLE = 0o100
SHELL_SHEBANG = re.compile(
    rb"#!\s*(?:/\S*/)?(?:env\s+)?(?:-S\s+)?(?:/\S*/)?(?:sh|bash|dash|ash|ksh|zsh)(?:[ \t]+-\w+)*[ \t]*\n"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One change of a hook file. `what`: for the person to read. `make`: makes the change."""

    what: str
    path: Path
    make: Callable[[], None]


def install(
    folder: Path, python: str, names: Iterable[str] = HOOKS, promote: str = "", *, git_dir: str = "", former: str = "",
    dry: bool = False,
) -> list[Step]:  # fmt: skip
    """Write our block to each hook of `folder`, or update it. Returns the changes, made or (with `dry`) to be made.

    `python`: the interpreter that the hooks run, "" for `git-mem` on PATH. `promote`: the mode of a promotion after a
    commit, "" for none. `git_dir`: the Git directory for which the block acts, beside those that the block names
    already; "" if the folder belongs to one repository. `former`: the name of the same repository before it was moved,
    which the block names no longer; "" for none. Raises GitMemError if a file cannot be read or written; hooks before
    it are changed then.
    """
    steps = []
    try:
        if not dry:
            folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            path = folder / name
            git_dirs: tuple[str, ...] = ()
            if git_dir:
                earlier_dirs = (named_dir for named_dir in repositories(_content(path)) if named_dir != former)
                git_dirs = tuple(dict.fromkeys([*earlier_dirs, git_dir]))
            step = _installation(path, block(name, python, promote, git_dirs))
            if step is None:
                continue
            if not dry:
                step.make()
            steps.append(step)
    except OSError as error:
        raise GitMemError(
            Message("cannot write hooks in '{}': {}", folder, error.strerror),
            "a sandbox may forbid it: run it in your own shell",
        ) from None
    return steps


def uninstall(folder: Path, *, git_dir: str = "", former: str = "", dry: bool = False) -> list[Step]:
    """Remove our blocks. Every other byte, mode and link is then as it was before `install`. Returns the changes.

    A block that names other repositories beside `git_dir` and `former` (as in `install`) stays for those. With `dry`
    nothing is written. Raises GitMemError if a file cannot be read or changed; hooks before it are changed then.
    """
    steps = []
    for name in (*HOOKS, *SERVER):
        path = folder / name
        try:
            step = _removal(path, (git_dir, former))
            if step is None:
                continue
            if not dry:
                step.make()
        except OSError as error:
            raise GitMemError(
                Message("cannot change '{}': {}", path, error.strerror), "run it in your own shell"
            ) from None
        steps.append(step)
    return steps


def installed(folder: Path, git_dir: str = "") -> dict[str, str]:
    """Name of each hook -> its state for the repository `git_dir` (as in `install`).

    `current`, `old` (of another version), `missing`, `elsewhere` (it acts for other repositories), `not executable`
    (Git passes over it) or `not reached` (lines before ours may end the hook). Raises OSError if a file cannot be read.
    """
    states = {}
    for name in HOOKS:
        path = folder / name
        match = BLOCK.search(_content(path))
        if match is None:
            states[name] = "missing"
        elif git_dir and (named := repositories(match[0])) and git_dir not in named:
            states[name] = "elsewhere"
        elif not (_mode(path) & EXECUTABLE or is_husky(folder)):
            states[name] = "not executable"
        elif _has_code_before_block(_content(path)):
            states[name] = "not reached"
        elif is_current(match[0], name):
            states[name] = "current"
        else:
            states[name] = "old"
    return states


def is_ours(path: Path) -> bool:
    """Whether a hook file, or the file that it links to, has our block in its first 64 KiB."""
    return BLOCK.search(start_of(path)) is not None


def start_of(path: Path) -> bytes:
    """The first 64 KiB of a hook file, or of the file that it links to; b"" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(1 << 16)
    except OSError:
        return b""


def _installation(path: Path, text: str) -> Step | None:
    """The step that writes the block `text` to a hook file; None if the file has it already. Raises GitMemError if the
    file to which the old hook would be moved exists."""
    block_bytes = os.fsencode(text)
    file_bytes = os.fsencode(HEADER) + block_bytes
    if not os.path.lexists(path):
        return Step("new", path, partial(_write, path, file_bytes, 0o755))

    data, mode, husky = _content(path), _mode(path), is_husky(path.parent)
    if BLOCK.search(data):
        new_data = BLOCK.sub(lambda _: block_bytes, data, count=1)
        if _has_code_before_block(data):
            new_data = _with_block(BLOCK.sub(b"", data, count=1), block_bytes)
        new_mode = mode
        if not husky:
            new_mode |= EXECUTABLE  # Git passes over a hook that cannot be executed
        if (new_data, new_mode) == (data, mode):
            return None
        return Step("updated", path, partial(_write, path, new_data, new_mode))

    shebang = SHELL_SHEBANG.match(data)
    if (shebang and mode & EXECUTABLE) or (husky and _is_regular(path)):
        new_data = _with_block(data, block_bytes)
        return Step("added to the script that is there", path, partial(_write, path, new_data, mode))

    saved = _saved(path)
    if os.path.lexists(saved):
        raise GitMemError(f"'{saved}' is in the way", "an earlier install was cut short: look at both, keep one")
    return Step("new; what was there is called by it", path, partial(_move_aside, path, file_bytes + _call(path)))


def _with_block(data: bytes, block_bytes: bytes) -> bytes:
    """A script with our block after its first line, or before it if that names no shell."""
    start = 0
    if shebang := SHELL_SHEBANG.match(data):
        start = shebang.end()
    return data[:start] + block_bytes + data[start:]


def _has_code_before_block(data: bytes) -> bool:
    """Whether a hook file with our block has other lines before it than comments, which could end the hook."""
    match = BLOCK.search(data)
    assert match is not None
    lines = map(bytes.strip, data[: match.start()].split(b"\n"))
    return any(line and not line.startswith(b"#") for line in lines)


def _removal(path: Path, git_dirs: Sequence[str]) -> Step | None:
    """The step that removes our block from a hook file, or `git_dirs` from its repositories; None if nothing
    changes."""
    data, saved = _content(path), _saved(path)
    if not BLOCK.search(data):
        return None

    other_repositories = [repository for repository in repositories(data) if repository not in git_dirs]
    if other_repositories:
        new_data = with_repositories(data, other_repositories)
        if new_data == data:
            return None
        return Step("goes on for other repositories", path, partial(_write, path, new_data, _mode(path)))

    remaining_data = BLOCK.sub(b"", data, count=1)
    if remaining_data == os.fsencode(HEADER) + _call(path) and os.path.lexists(saved):
        return Step("what was there is back", path, partial(os.replace, saved, path))
    if remaining_data == os.fsencode(HEADER):
        return Step("removed", path, path.unlink)
    description = "our lines taken out"
    if _call(path) in remaining_data:
        description += f"; it has lines of yours and still calls {saved.name}"
    return Step(description, path, partial(_write, path, remaining_data, _mode(path)))


def _saved(path: Path) -> Path:
    """The name that a hook which cannot hold our block gets."""
    return path.with_name(path.name + SAVED)


def _call(path: Path) -> bytes:
    """The lines after our block that run the renamed hook."""
    return os.fsencode(
        f'gitmem_before="$(dirname -- "$0")/{path.name}{SAVED}"\n'
        '[ ! -x "$gitmem_before" ] || exec "$gitmem_before" "$@"\n'
    )


def _move_aside(path: Path, data: bytes) -> None:
    """Rename a hook and write `data` in its place."""
    saved = _saved(path)
    os.rename(path, saved)
    try:
        _write(path, data, 0o755)
    except BaseException:
        os.replace(saved, path)  # without our hook, the hook that was there must go on running
        raise


def _write(path: Path, data: bytes, mode: int) -> None:
    """Write a hook by a temporary file and a rename, so that Git never runs half of it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NOFOLLOW | system.RAW, 0o700)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _content(path: Path) -> bytes:
    """The bytes of a hook file; b"" if there is none, or a link or a folder in its place."""
    return path.read_bytes() if _is_regular(path) else b""


def _is_regular(path: Path) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)
