"""The six file commands of Anthropic's memory tool (`memory_20250818`) over a memory repository.

A program that runs the API loop calls `memory_tool(repo, config, command) -> Answer`. The answers are those of the file
system tool of Anthropic's SDK, word for word, because models are trained on them; docs/agents.md, "The memory tool",
lists the differences. `/memories` contains the repository's memory files (`/memories/MEMORY.md`,
`/memories/memory/2026-02-05.md`) and no others. Markup in an answer is escaped, as in a quotation (`gate.quoting`).
Every write passes the gate; nothing is committed.
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
from gitmem.gate.file_names import ensure_new_name_passes
from gitmem.gate.quoting import allowed_name, escaped, unescaped, without_secrets
from gitmem.gate.redaction import masked_rules, refuse_or_mask, refuse_or_mask_change
from gitmem.git.opening import Repository
from gitmem.git.transaction import Draft, Reading, write
from gitmem.git.worktree import resolve
from gitmem.memory.files import in_work_tree, read_memory_file
from gitmem.memory.new_statements import rivals_since
from gitmem.memory.rivals import placed_sentence
from gitmem.memory.snapshot import read_work_tree
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind
from gitmem.provenance.forgotten_texts import forgotten_texts

ROOT = "/memories"
MAX_LINES = 999_999  # lines of a file that `view` shows; the SDK's limit
MAX_ANSWER_CHARACTERS = 100_000  # characters of a file in one answer; the SDK advises a limit and names none
MAX_RIVALS = 3  # facts that an answer names because the new text repeats or contradicts them
CONTEXT_LINES = 2  # lines shown before and after the first line that `str_replace` changed
MISSING = "The path {} does not exist"
ESCAPES = f"Path {{}} would escape {ROOT} directory"
ASK_AGAIN = MISSING + ". Please provide a valid path."


class Answer(NamedTuple):
    """The text for the model, and whether it is an error (`is_error` of a tool result)."""

    text: str
    is_error: bool = False


class _Gated(NamedTuple):
    """`data`: the bytes to write, with masks. `note`: a line for the answer that names the masks, "" if there are
    none."""

    data: bytes
    note: str


class _Failure(Exception):
    """An error whose message is the answer for the model."""


def memory_tool(repo: Repository, config: Config, command: Mapping[str, Any]) -> Answer:
    """Run one command of the tool and return the answer for the model.

    Errors and refusals are answers with `is_error`; nothing is raised. No answer contains a tag, a chat template's
    marker or an invisible character.
    """
    try:
        return Answer(escaped(_answer(repo, config, command)))
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
    return Answer(escaped(words), is_error=True)


def _answer(repo: Repository, config: Config, command: Mapping[str, Any]) -> str:
    """Run one command and return the text of its answer, not escaped yet. A command that writes changes files of the
    work tree and commits nothing.

    Raises _Failure for an unknown command, in a bare repository, and as the command itself does; GitMemError, OSError
    and UnicodeError.
    """
    if repo.root is None:
        raise _Failure("the repository is bare and has no memory files")
    tool = _Tool(repo, repo.root, config)
    match command.get("command"):
        case "view":
            return tool.view(_text(command, "path"), command.get("view_range"))
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
    """The text in the parameter `key`, or `default` if it is missing. Raises _Failure if the parameter is missing and
    has no default, or is not a text."""
    value = command.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise _Failure(f"missing or invalid parameter `{key}`")
    return value


class _Tool:
    """The memory files of one repository, with a method for each command that returns the text of its answer. In all
    methods `path` is the path as the model wrote it, and `relative` the path in the repository. They raise _Failure,
    GitMemError, OSError."""

    def __init__(self, repo: Repository, root: Path, config: Config) -> None:
        self.repo, self.root, self.config = repo, root, config

    def repository_path(self, path: str) -> str:
        """The path in the repository of `/memories/...`; "" for `/memories` itself. Raises _Failure for a path outside
        of `/memories`."""
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
        """Whether there is a memory file at the path."""
        return (self.root / relative).is_file() and in_work_tree(self.repo, self.config, relative)

    def require_memory_path(self, path: str, relative: str) -> None:
        """Raise _Failure if a memory file cannot have this path."""
        if not relative or not in_work_tree(self.repo, self.config, relative):
            raise _Failure(f"{path} is not a memory file; use {ROOT}/MEMORY.md or a .md file below {ROOT}/memory")
        if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in relative):
            raise _Failure(f"{path} holds a line break or another control character, or is no Unicode text")

    def view(self, path: str, view_range: object) -> str:
        """The numbered lines of a file, without secrets and forgotten texts, or the listing of a folder. `view_range`:
        as in `_line_slice`. Raises _Failure if memory has no such file, or if it has more than MAX_LINES lines."""
        relative = self.repository_path(path)
        if not relative or (self.root / relative).is_dir():
            return self.listing(path, relative)
        try:
            data = read_memory_file(self.repo, self.config, relative)
        except MissingFile:
            raise _Failure(ASK_AGAIN.format(path)) from None
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        if len(lines) > MAX_LINES:
            raise _Failure(f"File {path} exceeds maximum line limit of {MAX_LINES:,} lines.")
        first, end = _line_slice(view_range, len(lines))
        lines = [line.removesuffix("\r") for line in lines]
        if kind(relative) is not Kind.MEMORY:
            lines = forgotten_texts(self.repo).lines(lines)
        shown = without_secrets(lines)[first:end]
        return f"Here's the content of {path} with line numbers:\n{_shown_lines(shown, first + 1)}"

    def listing(self, path: str, relative: str) -> str:
        """The memory files and folders below a folder, two levels deep, with their sizes. Raises _Failure if there are
        none."""
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
                    rows[folder] = _row(self.root.joinpath(relative, *folder).stat().st_size, path, folder) + "/"
        head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        top = f"{_readable_size((self.root / relative).stat().st_size)}\t{path}"
        return "\n".join([head, top, *(row for _, row in sorted(rows.items()))])

    def sizes(self, prefix: str, *, hidden: bool = False) -> dict[str, int]:
        """Path below `prefix` -> size in bytes, for the memory files there. Files that Git ignores are left out, and
        hidden files unless `hidden`."""
        stats = read_work_tree(self.repo, self.config.memory_paths).file_stats
        below = [path for path in stats if path.startswith(prefix) and (hidden or not _is_hidden(path[len(prefix) :]))]
        if not below:
            return {}
        ignored = self.repo.ignored(below)
        return {path[len(prefix) :]: stats[path][0] for path in below if path not in ignored}

    def create(self, path: str, text: str) -> str:
        """Write a new file with this text. Raises _Failure if there is a file, or if a memory file cannot have this
        path; Refused by the gate."""
        relative = self.repository_path(path)
        self.require_memory_path(path, relative)

        def plan(reading: Reading) -> Draft[str]:
            if (self.root / relative).exists():
                raise _Failure(f"File {path} already exists")
            reading.raw(relative)
            ensure_new_name_passes(relative)
            gated = self.gate(relative, text)
            return Draft({relative: gated.data}, f"File created successfully at: {path}{gated.note}")

        return write(self.repo, plan) + self.rival_lines(relative, b"")

    def replace(self, path: str, old: str, new: str) -> str:
        """Replace the only occurrence of `old` in a file by `new`. The answer shows the changed lines. Raises _Failure
        if there is no such file, or not exactly one occurrence; Refused by the gate."""
        relative = self.repository_path(path)
        before = b""

        def plan(reading: Reading) -> Draft[tuple[int, _Gated]]:
            nonlocal before
            text = self.read_text(reading, path, relative)
            before = reading.raw(relative) or b""
            start, end, replacement = _find_once(path, text, old, new)
            changed = text[:start] + replacement + text[end:]
            gated = self.gate(relative, changed, text)
            return Draft({relative: gated.data}, (changed.count("\n", 0, start), gated))

        line, gated = write(self.repo, plan)
        first = max(0, line - CONTEXT_LINES)
        new_lines = gated.data.decode("utf-8", "surrogateescape").split("\n")
        lines = without_secrets([line.removesuffix("\r") for line in new_lines])[first : line + CONTEXT_LINES + 1]
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + _numbered(lines, first + 1)
            + gated.note
            + self.rival_lines(relative, before)
        )

    def insert(self, path: str, line: object, text: str) -> str:
        """Insert a text after the line number `line` of a file; 0 inserts it before the first line. Raises _Failure if
        there is no such file or line; Refused by the gate."""
        relative = self.repository_path(path)
        before = b""

        def plan(reading: Reading) -> Draft[str]:
            nonlocal before
            old_text = self.read_text(reading, path, relative)
            before = reading.raw(relative) or b""
            lines = old_text.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not isinstance(line, int) or isinstance(line, bool) or not 0 <= line <= len(lines):
                raise _Failure(
                    f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
                )
            lines.insert(line, text.rstrip("\n"))
            changed = "\n".join(lines).removesuffix("\n") + "\n"
            gated = self.gate(relative, changed, old_text)
            return Draft({relative: gated.data}, f"The file {path} has been edited.{gated.note}")

        return write(self.repo, plan) + self.rival_lines(relative, before)

    def rival_lines(self, relative: str, before: bytes) -> str:
        """Lines for the answer that name up to MAX_RIVALS facts of memory that new statements of a file repeat, replace
        or contradict; "" if there are none. `before`: the file's bytes before the write."""
        rivals = rivals_since(self.repo, before, now().date(), relative)
        return "".join(f"\n{placed_sentence(rival)}" for rival in rivals[:MAX_RIVALS])

    def delete(self, path: str) -> str:
        """Delete a file, or all files below a folder, hidden ones too, and the folders that become empty. Raises
        _Failure for `/memories` itself, and as `files_of`."""
        relative = self.repository_path(path)
        if not relative:
            raise _Failure(f"Cannot delete the {ROOT} directory itself")
        names = self.files_of(path, relative)
        write(self.repo, lambda _: Draft(dict.fromkeys(names), None))
        self.remove_empty_folders(relative)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Rename a file, or all files below a folder. The moved texts pass the gate again, for their new paths. Raises
        _Failure for the folder ROOT itself, a target within the source, a target that exists or is no memory, and as
        `files_of`; Refused if the gate refuses a text or a new path. Nothing is moved then."""
        source, target = self.repository_path(old_path), self.repository_path(new_path)
        if not source:
            raise _Failure(f"Cannot rename the {ROOT} directory itself")
        if target.startswith(f"{source}/"):
            raise _Failure(f"Cannot rename {old_path} into itself, {new_path}")
        names = self.files_of(old_path, source)
        places = {name: target + name[len(source) :] for name in names}
        for place in places.values():  # checked first, so that no answer tells whether a file that is not memory exists
            self.require_memory_path(new_path if len(names) == 1 else f"{ROOT}/{place}", place)
        if (self.root / target).exists():
            raise _Failure(f"The destination {new_path} already exists")

        def plan(reading: Reading) -> Draft[None]:
            contents = {name: reading.raw(name) for name in names}
            if None in contents.values():
                raise _Failure(MISSING.format(old_path))
            for name, place in places.items():
                ensure_new_name_passes(place)
                refuse_or_mask((contents[name] or b"").decode("utf-8", "replace"), place, self.config)
            if any((self.root / place).exists() for place in places.values()):
                raise _Failure(f"The destination {new_path} already exists")
            moved = {place: contents[name] for name, place in places.items()}
            return Draft({**moved, **dict.fromkeys(names)}, None)

        write(self.repo, plan)
        self.remove_empty_folders(source)
        return f"Successfully renamed {old_path} to {new_path}"

    def files_of(self, path: str, relative: str) -> list[str]:
        """The repository paths of the memory file at `relative`, or of all memory files below that folder.

        Raises _Failure if there are none, or if the folder also has a file that is not memory or that Git ignores.
        """
        if self.is_file(relative):
            return [relative]
        names = [f"{relative}/{name}" for name in self.sizes(f"{relative}/", hidden=True)]
        if not names:
            raise _Failure(MISSING.format(path))
        if set(_all_below(self.root, relative)) - set(names):
            raise _Failure(f"{path} holds files that are not memory")
        return names

    def remove_empty_folders(self, relative: str) -> None:
        """Remove a folder and its subfolders if no file is left in them."""
        top = self.root / relative
        if top.is_dir() and not top.is_symlink():
            for folder, _, _ in os.walk(top, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:  # another process wrote a file into it meanwhile
                    return

    def read_text(self, reading: Reading, path: str, relative: str) -> str:
        """The text of a memory file that will be changed. Raises _Failure if there is none, with other words for a
        folder of memory files."""
        is_file = self.is_file(relative)
        if not is_file and (not relative or self.sizes(f"{relative}/")):
            raise _Failure(f"The path {path} is not a file.")
        data = reading.read(relative) if is_file else None
        if data is None:
            raise _Failure(ASK_AGAIN.format(path))
        return data.decode("utf-8", "surrogateescape")

    def gate(self, relative: str, text: str, old_text: str = "") -> _Gated:
        """The bytes to write for a new text of a file; `old_text`: its text before. Raises Refused, and _Failure if the
        text grows beyond MAX_MEMORY_FILE_BYTES."""
        size = len(text.encode("utf-8", "surrogateescape"))
        if size > MAX_MEMORY_FILE_BYTES and size > len(old_text.encode("utf-8", "surrogateescape")):
            raise _Failure(
                f"{ROOT}/{relative} would hold {size:,} bytes; a memory file holds at most {MAX_MEMORY_FILE_BYTES:,}. "
                "Nothing was written: split it into several files"
            )
        masked = refuse_or_mask_change(text, old_text, relative, self.config)
        note = f"\nmasked: {masked_rules(masked.masks)}" if masked.masks else ""
        return _Gated(masked.text.encode("utf-8", "surrogateescape"), note)


def _line_slice(view_range: object, count: int) -> tuple[int, int]:
    """(start, end) of the slice of `count` lines that a `view_range` selects, 0-based with an exclusive end; all lines
    if it is not a pair of numbers. In a `view_range` both ends are 1-based and inclusive, and -1 is the last line."""
    match view_range:
        case [int(first), int(last)]:
            return max(1, first) - 1, count if last == -1 else last
    return 0, count


def _numbered(lines: Sequence[str], first: int) -> str:
    """The lines with their numbers, the first of which is `first`."""
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def _shown_lines(lines: Sequence[str], first_number: int) -> str:
    """The numbered lines, cut after MAX_ANSWER_CHARACTERS, and a sentence that says how to view the others.
    `first_number`: the number of the first line."""
    shown_count, size = 0, 0
    for line in lines:
        size += len(line) + 1
        if size > MAX_ANSWER_CHARACTERS:
            break
        shown_count += 1
    if shown_count == len(lines):
        return _numbered(lines, first_number)
    parts = [_numbered(lines[:shown_count] or [lines[0][:MAX_ANSWER_CHARACTERS]], first_number)]
    if not shown_count:
        parts.append(f"Line {first_number} has {len(lines[0]):,} characters; the rest of it is not shown.")
    following, last = first_number + max(shown_count, 1), first_number + len(lines) - 1
    if following <= last:
        parts.append(f"Lines {following} to {last} are not shown: view them with view_range [{following}, {last}].")
    return "\n".join(parts)


def _find_once(path: str, text: str, old: str, new: str) -> tuple[int, int, str]:
    """(start, end, new text) for the only occurrence of `old` in a text. Raises _Failure if there is none or more than
    one.

    A model copies `old` from an answer of `view`, where markup is escaped and carriage returns are missing; so the
    search is repeated with unescaped markup, with carriage returns, and with both. `new` is converted in the same way.
    """
    for spell in (str, unescaped, _with_returns, lambda value: _with_returns(unescaped(value))):
        if spell(old) in text:
            old, new = spell(old), spell(new)
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
    """The text with CRLF line ends."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _line_numbers(text: str, old: str) -> list[int]:
    """The line number of each occurrence of `old`."""
    numbers, line, counted_to = [], 1, 0
    index = text.find(old)
    while index >= 0:
        line += text.count("\n", counted_to, index)
        counted_to = index
        numbers.append(line)
        index = text.find(old, index + 1)
    return numbers


def _all_below(root: Path, relative: str) -> list[str]:
    """The paths, relative to `root`, of all files and symbolic links below a folder. Links are not followed."""
    paths = []
    for folder, folders, names in os.walk(root / relative, followlinks=False):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        paths += [Path(folder, name).relative_to(root).as_posix() for name in [*names, *links]]
    return paths


def _is_hidden(path: str) -> bool:
    """Whether a part of the path begins with a full stop."""
    return any(part.startswith(".") for part in path.split("/"))


def _row(size: int, path: str, parts: Sequence[str]) -> str:
    """A line of a listing. Line breaks and tabs in a name are escaped."""
    name = allowed_name("/".join([path, *parts])).replace("\n", "\\n").replace("\t", "\\t")
    return f"{_readable_size(size)}\t{name}"


def _readable_size(size: int) -> str:
    """A size as 1.5K, 12K or 0B, with one decimal if the number is not whole."""
    step = min(max(size.bit_length() - 1, 0) // 10, 3)
    value = size / 1024**step
    digits = 0 if value == int(value) else 1
    return f"{value:.{digits}f}{'BKMG'[step]}"
