"""The six file commands of Anthropic's memory tool (`memory_20250818`) over a memory repository.

One function without dependencies, for whoever runs the API loop: `memory_tool(repo, config, command) -> Answer`. It
answers what the file system tool of Anthropic's SDK answers, word for word, because models are trained on it;
docs/agents.md, "The memory tool", has the differences. `/memories` is the repository's memory: `/memories/MEMORY.md`,
`/memories/memory/2026-02-05.md`, and no other file. What is read leaves with its markup spelled out, as in a quotation
(`gate.quoting`). Every write passes the gate; nothing is committed.
"""

from __future__ import annotations

import os
import posixpath
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import GitMemError, MissingFile, OutsideRepository
from gitmem.gate.quoting import allowed_name, neutral, plain, without_secrets
from gitmem.gate.redaction import masked_rules, refuse_or_mask, refuse_or_mask_change
from gitmem.git.opening import Repository
from gitmem.git.transaction import Draft, Reading, write
from gitmem.git.worktree import resolve
from gitmem.memory.files import in_work_tree, read_memory_file
from gitmem.memory.new_statements import since
from gitmem.memory.rivals import placed_sentence
from gitmem.memory.snapshot import read_work_tree
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind
from gitmem.provenance.forgotten_texts import forgotten_texts

ROOT = "/memories"
MAX_LINES = 999_999
# Characters of a file that one answer holds; the reference advises a bound and names none.
MAX_ANSWER_CHARACTERS = 100_000
RIVALS = 3  # facts that an answer names beside what was written
AROUND = 2  # lines shown before and after the line that str_replace changed first
MISSING = "The path {} does not exist"
ESCAPES = f"Path {{}} would escape {ROOT} directory"
ASK_AGAIN = MISSING + ". Please provide a valid path."


class Answer(NamedTuple):
    """What the model is told, and whether it is an error (`is_error` of a tool result)."""

    text: str
    is_error: bool = False


class _Gated(NamedTuple):
    """What may be written of a text, and the line of the answer that says what was masked of it, "" for nothing."""

    data: bytes
    said: str


class _Failure(Exception):
    """An error the model is told about."""


def memory_tool(repo: Repository, config: Config, command: Mapping[str, Any], *, read_only: bool = False) -> Answer:
    """Carry out one command of the tool and return the answer for the model.

    Errors and refusals are answers with `is_error`; nothing is raised. No answer holds a tag, a chat template's marker
    or an invisible character.
    """
    try:
        return Answer(neutral(_answer(repo, config, command, read_only)))
    except _Failure as failure:
        words = str(failure)
    except OutsideRepository:
        words = ESCAPES.format(command.get("path") or command.get("old_path"))
    except GitMemError as error:
        words = error.message
    except OSError as error:
        words = str(error.strerror)
    except UnicodeError:
        words = "the path or the text is no Unicode text"
    return Answer(neutral(words), is_error=True)


def _answer(repo: Repository, config: Config, command: Mapping[str, Any], read_only: bool) -> str:
    if repo.root is None:
        raise _Failure("the repository is bare and has no memory files")
    tool = _Tool(repo, repo.root, config)
    match command.get("command"):
        case "view":
            return tool.view(_text(command, "path"), command.get("view_range"))
        case "create" | "str_replace" | "insert" | "delete" | "rename" if read_only:
            raise _Failure("this memory is read-only")
        case "create":
            return tool.create(_text(command, "path"), _text(command, "file_text"))
        case "str_replace":
            return tool.replace(_text(command, "path"), _text(command, "old_str"), _text(command, "new_str", ""))
        case "insert":
            return tool.insert(_text(command, "path"), command.get("insert_line"), _text(command, "insert_text"))
        case "delete":
            return tool.delete(_text(command, "path"))
        case "rename":
            return tool.rename(_text(command, "old_path"), _text(command, "new_path"))
        case other:
            raise _Failure(f"Unknown command: {other}")


def _text(command: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """A parameter that is a text; `default` where it is not given."""
    value = command.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise _Failure(f"missing or invalid parameter `{key}`")
    return value


class _Tool:
    """One repository's files under `/memories`."""

    def __init__(self, repo: Repository, root: Path, config: Config) -> None:
        self.repo, self.root, self.config = repo, root, config

    def inside(self, path: str) -> str:
        """The repository-relative path of `/memories/...`; "" for the root itself."""
        if path != ROOT and not path.startswith(ROOT + "/"):
            raise _Failure(f"Path must start with {ROOT}, got: {path}")
        relative = posixpath.normpath(path[len(ROOT) :].lstrip("/"))
        if relative == ".":
            return ""
        try:
            resolve(self.root, relative)
        except OutsideRepository:
            raise _Failure(ESCAPES.format(path)) from None
        return relative

    def is_file(self, relative: str) -> bool:
        """Whether there is a memory file at a path."""
        return (self.root / relative).is_file() and in_work_tree(self.repo, self.config, relative)

    def writable(self, path: str, relative: str) -> None:
        """Raise _Failure where no memory file may be written."""
        if not relative or not in_work_tree(self.repo, self.config, relative):
            raise _Failure(f"{path} is not a memory file; use {ROOT}/MEMORY.md or a .md file below {ROOT}/memory")
        if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in relative):
            raise _Failure(f"{path} holds a line break or another control character, or is no Unicode text")

    def view(self, path: str, view_range: object) -> str:
        relative = self.inside(path)
        if not relative or (self.root / relative).is_dir():
            return self.listing(path, relative)
        try:
            data = read_memory_file(self.repo, self.config, relative)
        except MissingFile:
            raise _Failure(ASK_AGAIN.format(path)) from None
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        if len(lines) > MAX_LINES:
            raise _Failure(f"File {path} exceeds maximum line limit of {MAX_LINES:,} lines.")
        first, end = _window(view_range, len(lines))
        lines = [line.removesuffix("\r") for line in lines]
        if kind(relative) is not Kind.MEMORY:
            lines = forgotten_texts(self.repo).lines(lines)
        shown = without_secrets(lines)[first:end]
        return f"Here's the content of {path} with line numbers:\n{_bounded(shown, first + 1)}"

    def listing(self, path: str, relative: str) -> str:
        """The memory files and their folders below a folder, two levels deep, with their sizes."""
        sizes = self.sizes(f"{relative}/" if relative else "")
        if relative and not sizes:
            raise _Failure(ASK_AGAIN.format(path))
        rows: dict[tuple[str, ...], str] = {}
        for below, size in sizes.items():
            parts = tuple(below.split("/"))
            for folder in (parts[:1], parts[:2]):
                if folder == parts:
                    rows[folder] = _row(size, path, folder)
                else:
                    rows[folder] = self.folder_row(path, relative, folder)
        head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        top = f"{_human((self.root / relative).stat().st_size)}\t{path}"
        return "\n".join([head, top, *(row for _, row in sorted(rows.items()))])

    def folder_row(self, path: str, relative: str, folder: Sequence[str]) -> str:
        return _row(self.root.joinpath(relative, *folder).stat().st_size, path, folder) + "/"

    def sizes(self, prefix: str, *, hidden: bool = False) -> dict[str, int]:
        """Bytes of the memory files below `prefix`, by the rest of their path; ignored ones are left out."""
        stats = read_work_tree(self.repo, self.config.memory_paths).file_stats
        below = [path for path in stats if path.startswith(prefix) and (hidden or not _hidden(path[len(prefix) :]))]
        if below:
            ignored = self.repo.ignored(below)
        else:
            ignored = set()
        return {path[len(prefix) :]: stats[path][0] for path in below if path not in ignored}

    def create(self, path: str, text: str) -> str:
        relative = self.inside(path)
        self.writable(path, relative)

        def plan(reading: Reading) -> Draft[str]:
            if (self.root / relative).exists():
                raise _Failure(f"File {path} already exists")
            reading.raw(relative)
            gated = self.gated(relative, text)
            return Draft({relative: gated.data}, f"File created successfully at: {path}{gated.said}")

        return write(self.repo, plan) + self.differs(relative, b"")

    def replace(self, path: str, old: str, new: str) -> str:
        relative = self.inside(path)

        before = b""

        def plan(reading: Reading) -> Draft[tuple[int, _Gated]]:
            nonlocal before
            text = self.text(reading, path, relative)
            before = reading.raw(relative) or b""
            start, end, put = _only_place(path, text, old, new)
            changed = text[:start] + put + text[end:]
            gated = self.gated(relative, changed, text)
            return Draft({relative: gated.data}, (changed.count("\n", 0, start), gated))

        line, gated = write(self.repo, plan)
        first = max(0, line - AROUND)
        written = gated.data.decode("utf-8", "surrogateescape").split("\n")
        lines = without_secrets([line.removesuffix("\r") for line in written])[first : line + AROUND + 1]
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + _numbered(lines, first + 1)
            + gated.said
            + self.differs(relative, before)
        )

    def insert(self, path: str, line: object, text: str) -> str:
        relative = self.inside(path)

        before = b""

        def plan(reading: Reading) -> Draft[str]:
            nonlocal before
            old = self.text(reading, path, relative)
            before = reading.raw(relative) or b""
            lines = old.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not isinstance(line, int) or isinstance(line, bool) or not 0 <= line <= len(lines):
                raise _Failure(
                    f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
                )
            lines.insert(line, text.rstrip("\n"))
            changed = "\n".join(lines)
            changed += "" if changed.endswith("\n") else "\n"
            gated = self.gated(relative, changed, old)
            return Draft({relative: gated.data}, f"The file {path} has been edited.{gated.said}")

        return write(self.repo, plan) + self.differs(relative, before)

    def differs(self, relative: str, before: bytes) -> str:
        """Lines of an answer that say which facts the new statements of a file repeat, replace or conflict with."""
        found = since(self.repo, before, now().date(), relative)
        return "".join(f"\n{placed_sentence(rival)}" for rival in found[:RIVALS])

    def delete(self, path: str) -> str:
        relative = self.inside(path)
        if not relative:
            raise _Failure(f"Cannot delete the {ROOT} directory itself")
        names = self.files_of(path, relative)
        write(self.repo, lambda _: Draft(dict.fromkeys(names), None))
        self.drop_empty_folders(relative)
        return f"Successfully deleted {path}"

    def rename(self, old: str, new: str) -> str:
        source, target = self.inside(old), self.inside(new)
        if not source:
            raise _Failure(f"Cannot rename the {ROOT} directory itself")
        if target.startswith(f"{source}/"):
            raise _Failure(f"Cannot rename {old} into itself, {new}")
        names = self.files_of(old, source)
        places = {name: target + name[len(source) :] for name in names}
        for place in places.values():  # before a look whether it is there: of what is no memory nothing is told
            self.writable(new if len(names) == 1 else f"{ROOT}/{place}", place)
        if (self.root / target).exists():
            raise _Failure(f"The destination {new} already exists")

        def plan(reading: Reading) -> Draft[None]:
            contents = {name: reading.raw(name) for name in names}
            if None in contents.values():
                raise _Failure(MISSING.format(old))
            for name, place in places.items():
                refuse_or_mask((contents[name] or b"").decode("utf-8", "replace"), place, self.config)
            if any((self.root / place).exists() for place in places.values()):
                raise _Failure(f"The destination {new} already exists")
            moved = {place: contents[name] for name, place in places.items()}
            return Draft({**moved, **dict.fromkeys(names)}, None)

        write(self.repo, plan)
        self.drop_empty_folders(source)
        return f"Successfully renamed {old} to {new}"

    def files_of(self, path: str, relative: str) -> list[str]:
        """The memory file at a path, or all files below a folder. Raises _Failure where one of these is not memory."""
        if self.is_file(relative):
            return [relative]
        names = [f"{relative}/{name}" for name in self.sizes(f"{relative}/", hidden=True)]
        if not names:
            raise _Failure(MISSING.format(path))
        if set(_all_below(self.root, relative)) - set(names):
            raise _Failure(f"{path} holds files that are not memory")
        return names

    def drop_empty_folders(self, relative: str) -> None:
        """Remove a folder and those below it where no file is left in them, as a deletion of the folder would."""
        top = self.root / relative
        if top.is_dir() and not top.is_symlink():
            for folder, _, _ in os.walk(top, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:  # somebody wrote a file into it meanwhile
                    return

    def text(self, reading: Reading, path: str, relative: str) -> str:
        """The text of a memory file that is to be changed."""
        if not self.is_file(relative):
            is_folder = not relative or self.sizes(f"{relative}/")
            raise _Failure(f"The path {path} is not a file." if is_folder else ASK_AGAIN.format(path))
        data = reading.read(relative)
        if data is None:
            raise _Failure(ASK_AGAIN.format(path))
        return data.decode("utf-8", "surrogateescape")

    def gated(self, relative: str, text: str, old: str = "") -> _Gated:
        """What may be written of a text that was `old`. Raises Refused, _Failure for one too large to be read."""
        size = len(text.encode("utf-8", "surrogateescape"))
        if size > MAX_MEMORY_FILE_BYTES and size > len(old.encode("utf-8", "surrogateescape")):
            raise _Failure(
                f"{ROOT}/{relative} would hold {size:,} bytes; a memory file holds at most {MAX_MEMORY_FILE_BYTES:,}. "
                "Nothing was written: split it into several files"
            )
        done = refuse_or_mask_change(text, old, relative, self.config)
        data = done.text.encode("utf-8", "surrogateescape")
        return _Gated(data, f"\nmasked: {masked_rules(done.masks)}" if done.masks else "")


def _window(view_range: object, count: int) -> tuple[int, int]:
    """The slice of `count` lines that a `view_range` names: both ends 1-based, -1 the last line; else all."""
    if (
        isinstance(view_range, (list, tuple))
        and len(view_range) == 2
        and all(isinstance(number, int) for number in view_range)
    ):
        first, last = view_range
        return max(1, first) - 1, count if last == -1 else last
    return 0, count


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def _bounded(lines: Sequence[str], first: int) -> str:
    """The lines with their numbers, as far as one answer goes, and a sentence that says how to see the rest."""
    taken, size = 0, 0
    for line in lines:
        size += len(line) + 1
        if size > MAX_ANSWER_CHARACTERS:
            break
        taken += 1
    if taken == len(lines):
        return _numbered(lines, first)
    parts = [_numbered(lines[:taken] or [lines[0][:MAX_ANSWER_CHARACTERS]], first)]
    if not taken:
        parts.append(f"Line {first} has {len(lines[0]):,} characters; the rest of it is not shown.")
    following, last = first + max(taken, 1), first + len(lines) - 1
    if following <= last:
        parts.append(f"Lines {following} to {last} are not shown: view them with view_range [{following}, {last}].")
    return "\n".join(parts)


def _only_place(path: str, text: str, old: str, new: str) -> tuple[int, int, str]:
    """Where `old` stands in a text, from and to, and what replaces it. Raises _Failure unless it stands there once."""
    for spelled in (str, plain, _with_returns, lambda value: _with_returns(plain(value))):
        if spelled(old) in text:  # what was copied from a view: markup is spelled out there, returns are not shown
            old, new = spelled(old), spelled(new)
            break
    count = text.count(old)
    if count == 0:
        raise _Failure(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        numbers = ", ".join(map(str, _line_numbers(text, old)))
        raise _Failure(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
            "Please ensure it is unique"
        )
    start = text.index(old)
    return start, start + len(old), new


def _with_returns(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _line_numbers(text: str, old: str) -> list[int]:
    """The line of each place where `old` begins, one for each place."""
    numbers, line, counted_to = [], 1, 0
    at = text.find(old)
    while at >= 0:
        line += text.count("\n", counted_to, at)
        counted_to = at
        numbers.append(line)
        at = text.find(old, at + 1)
    return numbers


def _all_below(root: Path, relative: str) -> list[str]:
    """Every file and link below a folder, none of them followed."""
    paths = []
    for folder, folders, names in os.walk(root / relative, followlinks=False):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        paths += [Path(folder, name).relative_to(root).as_posix() for name in [*names, *links]]
    return paths


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _row(size: int, path: str, parts: Sequence[str]) -> str:
    """A line of a listing; the line breaks in the name of a file begin no line of it."""
    name = allowed_name("/".join([path, *parts])).replace("\n", "\\n").replace("\t", "\\t")
    return f"{_human(size)}\t{name}"


def _human(size: int) -> str:
    """1.5K, 12K, 0B: one digit behind the point where the number is not whole."""
    step = min(max(size.bit_length() - 1, 0) // 10, 3)
    value = size / 1024**step
    if value == int(value):
        return f"{value:.0f}{'BKMG'[step]}"
    return f"{value:.1f}{'BKMG'[step]}"
