"""The six file commands of Anthropic's memory tool (`memory_20250818`) over a memory repository.

One function without dependencies, for whoever runs the API loop: `memory_tool(repo, config, command) -> text`. The
strings are those the tool's documentation gives, because models are trained on them. `/memories` is the repository's
memory: `/memories/MEMORY.md`, `/memories/memory/2026-02-05.md`, and no other file. What is read leaves with its markup
spelled out, as in a quotation (`gate.quoting`). Every write passes the gate; nothing is committed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitmem.config import Config
from gitmem.errors import GitMemError, MissingFile, OutsideRepository, Refused
from gitmem.gate.quoting import neutral, plain, without_secrets
from gitmem.gate.redaction import refuse_or_mask_text
from gitmem.git.opening import Repository
from gitmem.git.transaction import Draft, Reading, write
from gitmem.git.worktree import resolve
from gitmem.memory.files import in_work_tree, read_memory_file
from gitmem.memory.snapshot import read_work_tree
from gitmem.paths import is_memory, layout_of

ROOT = "/memories"
MAX_LINES = 999_999
MISSING = "The path {} does not exist. Please provide a valid path."


class _Answer(Exception):
    """An error the model is told about, in the documented words."""


def memory_tool(repo: Repository, config: Config, command: Mapping[str, Any], *, read_only: bool = False) -> str:
    """Carry out one command of the tool and return the answer for the model, in the documented words.

    Errors and refusals are answers that begin with `Error:`, or what the documentation gives; nothing is raised. No
    answer holds a tag, a chat template's marker or an invisible character.
    """
    return neutral(_answer(repo, config, command, read_only))


def _answer(repo: Repository, config: Config, command: Mapping[str, Any], read_only: bool) -> str:
    if repo.root is None:
        return "Error: the repository is bare and has no memory files"
    tool = _Tool(repo, repo.root, config)
    try:
        match command.get("command"):
            case "view":
                return tool.view(_text(command, "path"), command.get("view_range"))
            case "create" | "str_replace" | "insert" | "delete" | "rename" if read_only:
                return "Error: this memory is read-only"
            case "create":
                return tool.create(_text(command, "path"), _text(command, "file_text"))
            case "str_replace":
                return tool.replace(
                    _text(command, "path"), _text(command, "old_str"), str(command.get("new_str") or "")
                )
            case "insert":
                return tool.insert(_text(command, "path"), command.get("insert_line"), _text(command, "insert_text"))
            case "delete":
                return tool.delete(_text(command, "path"))
            case "rename":
                return tool.rename(_text(command, "old_path"), _text(command, "new_path"))
            case other:
                return f"Error: Unknown command {other!r}"
    except _Answer as answer:
        return str(answer)
    except OutsideRepository:
        return f"Error: Path must stay within {ROOT}"
    except Refused as error:
        return f"Error: {error.message}"
    except GitMemError as error:
        return f"Error: {error.message}"
    except OSError as error:
        return f"Error: {error.strerror}"
    except UnicodeError:
        return "Error: the path or the text is no Unicode text"


def _text(command: Mapping[str, Any], key: str) -> str:
    value = command.get(key)
    if not isinstance(value, str):
        raise _Answer(f"Error: missing or invalid parameter `{key}`")
    return value


class _Tool:
    """One repository's files under `/memories`."""

    def __init__(self, repo: Repository, root: Path, config: Config) -> None:
        self.repo, self.root, self.config = repo, root, config

    def inside(self, path: str) -> str:
        """The repository-relative path of `/memories/...`; "" for the root itself."""
        if path != ROOT and not path.startswith(ROOT + "/"):
            raise _Answer(f"Error: Path must start with {ROOT}")
        relative = path[len(ROOT) :].strip("/")
        if relative:
            resolve(self.root, relative)
        return relative

    def writable(self, path: str) -> str:
        relative = self.inside(path)
        if not relative or not in_work_tree(self.repo, self.config, relative):
            raise _Answer(f"Error: {path} is not a memory file; use {ROOT}/MEMORY.md or {ROOT}/memory/<name>.md")
        return relative

    def lines(self, path: str, relative: str, missing: str = MISSING) -> list[str]:
        """The lines of a memory file; any other file is `missing`."""
        if not relative:
            raise _Answer(missing.format(path))
        try:
            data = read_memory_file(self.repo, self.config, relative)
        except MissingFile:
            raise _Answer(missing.format(path)) from None
        return data.decode("utf-8", "surrogateescape").split("\n")

    def view(self, path: str, view_range: object) -> str:
        relative = self.inside(path)
        if not relative or (self.root / relative).is_dir():
            return self.listing(path, relative)
        lines = self.lines(path, relative)
        if len(lines) > MAX_LINES:
            raise _Answer(f"File {path} exceeds maximum line limit of {MAX_LINES:,} lines.")
        first, last = 1, len(lines)
        if (
            isinstance(view_range, (list, tuple))
            and len(view_range) == 2
            and all(isinstance(n, int) for n in view_range)
        ):
            first, last = max(1, view_range[0]), len(lines) if view_range[1] == -1 else min(len(lines), view_range[1])
        shown = without_secrets([line.removesuffix("\r") for line in lines])
        body = "\n".join(f"{number:>6}\t{shown[number - 1]}" for number in range(first, last + 1))
        return f"Here's the content of {path} with line numbers:\n{body}"

    def listing(self, path: str, relative: str) -> str:
        """The memory files and their folders below a folder, two levels deep, with their sizes."""
        base = path.rstrip("/")
        sizes: dict[str, int] = {base: 0}
        inside = self.sizes(f"{relative}/" if relative else "")
        if relative and not inside:
            raise _Answer(MISSING.format(path))
        for below, size in inside.items():
            parts = below.split("/")
            for depth in range(min(len(parts), 2)):
                name = f"{base}/{'/'.join(parts[: depth + 1])}"
                sizes[name] = sizes.get(name, 0) + size
            sizes[base] += size
        head = (
            f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:"
        )
        return "\n".join([head, *(f"{_human(size)}\t{_one_line(name)}" for name, size in sorted(sizes.items()))])

    def sizes(self, prefix: str) -> dict[str, int]:
        """Bytes of the memory files below `prefix`, by the rest of their path; hidden and ignored ones are left out."""
        found = read_work_tree(self.repo, self.config.memory_paths).file_stats
        shown = [path for path in found if path.startswith(prefix) and not _hidden(path)]
        ignored = self.repo.ignored(shown) if shown else set()
        return {path[len(prefix) :]: found[path][0] for path in shown if path not in ignored}

    def create(self, path: str, text: str) -> str:
        relative = self.writable(path)

        def plan(reading: Reading) -> Draft[str]:
            if (self.root / relative).exists():
                raise _Answer(f"Error: File {path} already exists")
            reading.raw(relative)
            return Draft({relative: self.gated(relative, text)}, f"File created successfully at: {path}")

        return write(self.repo, plan)

    def replace(self, path: str, old: str, new: str) -> str:
        relative = self.writable(path)

        def plan(reading: Reading) -> Draft[tuple[str, int]]:
            text = self.text(reading, path, relative, "Error: " + MISSING)
            start, new_text = _only_place(path, text, old, new)
            changed = text[: start[0]] + new_text + text[start[1] :]
            return Draft({relative: self.gated(relative, changed)}, (changed, start[0]))

        changed, start = write(self.repo, plan)
        first = changed.count("\n", 0, start)
        lines = without_secrets(changed.split("\n"))
        near = range(max(0, first - 4), min(len(lines), first + new.count("\n") + 5))
        return "The memory file has been edited.\n" + "\n".join(f"{n + 1:>6}\t{lines[n]}" for n in near)

    def insert(self, path: str, line: object, text: str) -> str:
        relative = self.writable(path)

        def plan(reading: Reading) -> Draft[str]:
            lines = self.text(reading, path, relative, "Error: The path {} does not exist").split("\n")
            count = len(lines) - (lines[-1] == "")
            if not isinstance(line, int) or isinstance(line, bool) or not 0 <= line <= count:
                raise _Answer(
                    f"Error: Invalid `insert_line` parameter: {line}. "
                    f"It should be within the range of lines of the file: [0, {count}]"
                )
            lines[line:line] = text.removesuffix("\n").split("\n")
            return Draft({relative: self.gated(relative, "\n".join(lines))}, f"The file {path} has been edited.")

        return write(self.repo, plan)

    def delete(self, path: str) -> str:
        relative = self.inside(path)
        if not relative:
            raise _Answer(f"Error: {ROOT} itself cannot be deleted")
        target = self.root / relative
        if target.is_dir():
            names = [name for name, _ in _walk(self.root, relative)]
            layout = layout_of(["MEMORY.md"], self.config.memory_paths)
            if not names or not all(is_memory(name, layout) or name.endswith(".gitkeep") for name in names):
                raise _Answer(f"Error: {path} holds files that are not memory")
        else:
            relative = self.writable(path)
            names = [relative]
        if not target.exists():
            raise _Answer(f"Error: The path {path} does not exist")
        return write(self.repo, lambda _: Draft(dict.fromkeys(names), f"Successfully deleted {path}"))

    def rename(self, old: str, new: str) -> str:
        source, target = self.writable(old), self.writable(new)

        def plan(reading: Reading) -> Draft[str]:
            data = reading.raw(source) if (self.root / source).is_file() else None
            if data is None:
                raise _Answer(f"Error: The path {old} does not exist")
            if (self.root / target).exists():
                raise _Answer(f"Error: The destination {new} already exists")
            refuse_or_mask_text(data.decode("utf-8", "replace"), target, self.config)
            return Draft({target: data, source: None}, f"Successfully renamed {old} to {new}")

        return write(self.repo, plan)

    def text(self, reading: Reading, path: str, relative: str, missing: str) -> str:
        """The text of a memory file that is to be changed; any other file is `missing`."""
        data = reading.read(relative) if (self.root / relative).is_file() else None
        if data is None:
            raise _Answer(missing.format(path))
        return data.decode("utf-8", "surrogateescape")

    def gated(self, relative: str, text: str) -> bytes:
        return refuse_or_mask_text(text, relative, self.config).encode("utf-8", "surrogateescape")


def _only_place(path: str, text: str, old: str, new: str) -> tuple[tuple[int, int], str]:
    """Where `old` stands in a text, from and to, and what replaces it. Raises _Answer unless it stands there once."""
    if old and old not in text and plain(old) in text:
        old, new = plain(old), plain(new)  # copied from a view, where markup is spelled out
    count = text.count(old) if old else 0
    if count == 0:
        raise _Answer(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        numbers = ", ".join(str(text.count("\n", 0, start) + 1) for start in _places(text, old))
        raise _Answer(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
            "Please ensure it is unique"
        )
    start = text.index(old)
    return (start, start + len(old)), new


def _walk(root: Path, relative: str) -> list[tuple[str, int]]:
    """(path, size) of the regular files below; hidden ones, node_modules and links are left out."""
    found = []
    for folder, folders, names in os.walk(root / relative if relative else root, followlinks=False):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "node_modules")
        for name in sorted(names):
            path = Path(folder) / name
            status = path.lstat()
            if not name.startswith(".") and stat.S_ISREG(status.st_mode):
                found.append((path.relative_to(root).as_posix(), status.st_size))
    return found


def _hidden(path: str) -> bool:
    return any(part.startswith(".") or part == "node_modules" for part in path.split("/"))


def _one_line(name: str) -> str:
    """The name of a file, whose own line breaks begin no line of a listing."""
    return name.replace("\n", "\\n").replace("\t", "\\t")


def _places(text: str, old: str) -> list[int]:
    at, found = text.find(old), []
    while at >= 0:
        found.append(at)
        at = text.find(old, at + len(old))
    return found


def _human(size: int) -> str:
    """As `du -h`: 1.5K, 12K."""
    value = float(size)
    for unit in ("", "K", "M"):
        if value < 1024:
            return f"{value:.1f}{unit}" if value < 10 and unit else f"{value:.0f}{unit}"
        value /= 1024
    return f"{value:.1f}G"
