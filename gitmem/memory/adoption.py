"""Adopting a folder of notes: which of its Markdown stays searched and gated once it is a memory repository.

A folder without MEMORY.md and memory/ is taken as notes, every `*.md` of it. The first memory file ends that, so
`git mem init` either names the notes in .gitmem.toml or says that they are memory no more. Writes nothing.
"""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitmem.config import TRACKED
from gitmem.errors import OutsideRepository, UsageError
from gitmem.git.opening import Repository, open_repository
from gitmem.git.worktree import read_bytes
from gitmem.git.write import init_repository
from gitmem.memory.folder_scope import globs_of_folders
from gitmem.memory.new_repository import Place
from gitmem.paths import (
    FOREIGN_FOLDERS,
    MAX_MEMORY_FILE_BYTES,
    NOTHING_ELSE,
    Kind,
    agents_read,
    aside,
    daily_form,
    is_memory,
    kind,
    layout_of,
    log_date,
    log_day,
    matches,
)
from gitmem.system import temporary_folder

GLOB = "*.md"  # of every folder (`paths.matches`)
OBSIDIAN = ".obsidian/daily-notes.json"
DAY = re.compile(r"(?<![^/])(\d{4})([-_./]?)(\d{2})\2(\d{2})\.md$")
# A folder of daily logs, by a word of its name.
_LOGS = re.compile(
    r"(?<![^\W_])(?:memory|logs?|journals?|daily|dailies|diary|diaries|days?|(?:daily|journal)[-_ ]?notes?)(?![^\W_])"
    r"|일일|일지|일기|데일리|日記|日誌|日报|日報|日志|日记|デイリー|tagebuch|diario|journal",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of a folder, by what adopting it makes of them.

    `notes` are Markdown that only adoption keeps in memory, `others` how many files of which reason stay out. Paths are
    relative to the folder, sorted. `daily` are patterns of daily logs (`paths.daily_form`), and how many notes each
    names. `hosts` are globs of the hidden folders in which agents' hosts keep memory.
    """

    notes: tuple[str, ...]
    others: tuple[tuple[str, int], ...]
    daily: tuple[tuple[str, int], ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def mostly_notes(self) -> bool:
        """Whether there are more notes than files of another kind: what nobody decides is decided by this."""
        return len(self.notes) > dict(self.others).get(NO_MARKDOWN, 0)

    @property
    def is_code(self) -> bool:
        """Whether files of another kind are more than the notes: nobody's workspace of an agent."""
        return dict(self.others).get(NO_MARKDOWN, 0) > len(self.notes)


HIDDEN, NO_MARKDOWN = "hidden", "not Markdown"
HOSTS_MEMORY = re.compile(r"(\.[\w-]+(?:/[\w-]+){0,3}?/(?:memory|memories|memory-bank))/.*\.md$")


def look_at_folder(repo: Repository) -> Folder:
    """The files of a work tree as Git sees them: tracked, or neither tracked nor ignored."""
    paths = {*(entry.path for entry in repo.staged()), *repo.untracked()}
    notes: list[str] = []
    others: Counter[str] = Counter()
    hosts = hosts_memory(paths)
    for path in sorted(paths):
        of_host = any(matches(path, glob) for glob in hosts)
        if kind(path) is not Kind.OTHER or (agents_read(path) and not of_host):
            continue  # memory or scanned already, adopted or not
        if not path.endswith(".md"):
            others[NO_MARKDOWN] += not aside(path)
        elif of_host:
            notes.append(path)
        elif aside(path):
            others[_where(path)] += 1
        else:
            notes.append(path)
    return Folder(tuple(notes), tuple((+others).items()), daily_patterns(repo.root, notes), hosts)


def unread_folders(repo: Repository, extra: Sequence[str]) -> list[str]:
    """The globs of folders' memory that nothing reads (`globs_of_folders`). `extra`: the globs in force."""
    paths = {*(entry.path for entry in repo.staged()), *repo.untracked()}
    layout = layout_of(paths, extra)
    return globs_of_folders(path for path in paths if not is_memory(path, layout))


def hosts_memory(paths: Iterable[str]) -> tuple[str, ...]:
    """The globs of the hidden folders in which agents' hosts keep memory: `.claude/memory/*.md`."""
    found = (HOSTS_MEMORY.match(path) for path in paths if path.startswith("."))
    return tuple(sorted({f"{match[1]}/*.md" for match in found if match}))


def _where(path: str) -> str:
    """Why a path that is nobody's note is none: the folder of others it lies in, or that it is hidden."""
    return next((f"in {name}/" for name in path.split("/")[:-1] if name in FOREIGN_FOLDERS), HIDDEN)


def daily_patterns(root: Path | None, notes: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The patterns of daily notes below `root`, and how many of `notes` each names: of those whose whole name is a day,
    and the one that Obsidian's own settings say."""
    found: Counter[str] = Counter()
    for path in notes:
        pattern = daily_pattern(path)
        if pattern:
            found[pattern] += 1
    stated = ""
    if root:
        stated = _of_obsidian(root)
    if stated and stated not in found:
        found[stated] = sum(daily_form(stated).fullmatch(path) is not None for path in notes)
    return tuple(sorted(found.items()))


def daily_pattern(path: str) -> str:
    """The pattern that names a daily note and its like: `journal/YYYY/YYYY-MM-DD.md` for
    `journal/2026/2026-02-05.md`. "" for a path whose name is no day, and for one in no folder of logs: dated digests
    and reports are notes."""
    day = log_date(path)
    match = DAY.search(path)
    if day is None or match is None or not any(map(_LOGS.search, path.split("/")[:-1])):
        return ""
    separator = match[2]
    above = path[: match.start()].split("/")
    parts = {f"{day:%Y}": "YYYY", f"{day:%m}": "MM", f"{day:%Y-%m}": "YYYY-MM", f"{day:%Y_%m}": "YYYY_MM"}
    pattern = "/".join(parts.get(part, part) for part in above) + f"YYYY{separator}MM{separator}DD.md"
    try:
        if pattern.isprintable() and log_day(path, [pattern]) == day:
            return pattern
        return ""
    except UsageError:
        return ""


def _of_obsidian(root: Path) -> str:
    """The pattern of `.obsidian/daily-notes.json`, where its format has digits only; "" for none."""
    try:
        said = json.loads(read_bytes(root, OBSIDIAN, MAX_MEMORY_FILE_BYTES))
        pattern = f"{str(said.get('folder') or '').strip('/')}/{said.get('format') or 'YYYY-MM-DD'}.md".lstrip("/")
        left = re.sub("YYYY|MM|DD", "", str(said.get("format") or ""))
        if re.search("[A-Za-z]", left) or not pattern.isprintable() or not daily_form(pattern):
            return ""
        return pattern
    except (OSError, OutsideRepository, ValueError, RecursionError, AttributeError, UsageError):
        return ""


@contextmanager
def opened(place: Place, environ: Mapping[str, str]) -> Iterator[Repository]:
    """The repository of a place; for one that is yet to be made an empty one elsewhere, over the files that are there,
    so that Git's own rules say what it ignores."""
    with ExitStack() as stack:
        if place.new:
            folder = stack.enter_context(temporary_folder())
            init_repository(folder, environ)
            environ = {**environ, "GIT_DIR": str(folder / ".git"), "GIT_WORK_TREE": str(place.root)}
        repo = open_repository(place.root, environ)
        stack.callback(repo.close)
        yield repo


def settings_text(old: str, daily: Sequence[str] = (), hosts: Sequence[str] = ()) -> str:
    """The text of .gitmem.toml that takes every note, `hosts` (globs) besides, and these patterns as daily logs, from
    the one it has ("" for none).

    `old` where it takes them all already, whatever patterns it lacks (`lacking_patterns`).
    Raises UsageError where a table of that name is there and has to be changed by hand.
    """
    memory = _memory_table(old)
    if isinstance(memory, dict):
        there = memory
    else:
        there = {}
    lacking = {"paths": _lacking(there, "paths", [GLOB, *hosts]), "daily": _lacking(there, "daily", daily)}
    if not lacking["paths"]:
        return old
    if memory is not None:
        what = " and ".join(f"{values} to its {key}" for key, values in lacking.items() if values)
        raise UsageError(f"{TRACKED} has a [memory] table already", f"add {what} by hand")
    globs = json.dumps([GLOB, *hosts], ensure_ascii=False)
    rows = [f"paths = {globs} # every note, in any folder; nothing else hidden, nothing of others"]
    return _with_memory_table(old, [*rows, *([_daily_row(daily)] if daily else [])])


def folder_name(folder: str) -> str:
    """The path of a folder that is to be memory, from the top of its repository. Raises UsageError for one that is not
    below it, is hidden, or is memory's own."""
    name = posixpath.normpath(folder.strip("/"))
    odd = folder.startswith("/") or name in (".", "memory") or name.startswith(".") or "\\" in name
    if odd or not name.isprintable() or set(name) & set("*?[]"):
        raise UsageError(f"'{folder}' cannot be the folder of memory", "name one below the top: --in docs/memory")
    return name


def folder_settings_text(old: str, folder: str) -> str:
    """The text of .gitmem.toml with which memory is what lies in one folder, daily logs there too, and nothing else.

    Raises UsageError where a table of that name is there and has to be changed by hand.
    """
    globs = [f"{folder}/*.md", NOTHING_ELSE]
    memory = _memory_table(old)
    if memory is not None:
        if isinstance(memory, dict):
            there = memory
        else:
            there = {}
        if not _lacking(there, "paths", globs):
            return old
        what = f"add {json.dumps(globs, ensure_ascii=False)} to its paths by hand"
        raise UsageError(f"{TRACKED} has a [memory] table already", what)
    row = f"paths = {json.dumps(globs, ensure_ascii=False)} # this folder, and no other Markdown"
    return _with_memory_table(old, [row, _daily_row([f"{folder}/YYYY-MM-DD.md"])])


def daily_settings_text(old: str, daily: Sequence[str]) -> str:
    """The text of .gitmem.toml that takes these patterns as daily logs, from the one it has; `old` where a [memory]
    table is there, which a person changes (`lacking_patterns`). Raises UsageError for what is not TOML."""
    if _memory_table(old) is not None:
        return old
    return _with_memory_table(old, [_daily_row(daily)])


def _memory_table(text: str) -> object:
    try:
        return tomllib.loads(text).get("memory")
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{TRACKED} is not TOML: {error}", f"mend {TRACKED}") from None


def _daily_row(daily: Sequence[str]) -> str:
    return f"daily = {_lacking({}, 'daily', daily)} # daily logs: shown by git mem log, promoted from"


def _with_memory_table(old: str, rows: Sequence[str]) -> str:
    """The settings `old` with a `[memory]` table of `rows` after an empty line."""
    gap = ""
    if old:
        gap = "\n\n"
        if old.endswith("\n"):
            gap = "\n"
    return "\n".join([f"{old}{gap}[memory]", *rows, ""])


def lacking_patterns(text: str, daily: Sequence[str]) -> list[str]:
    """Those of some patterns of daily logs that the text of .gitmem.toml lacks."""
    memory = tomllib.loads(text).get("memory")
    there = None
    if isinstance(memory, dict):
        there = memory.get("daily")
    return [pattern for pattern in daily if not (isinstance(there, list) and pattern in there)]


def _lacking(table: Mapping[str, object], key: str, wanted: Sequence[str]) -> str:
    """Those of `wanted` that a list of a table lacks, as TOML; "" for none."""
    there = table.get(key)
    missing = [value for value in wanted if not (isinstance(there, list) and value in there)]
    if not missing:
        return ""
    return json.dumps(missing, ensure_ascii=False)
