"""Makes a folder of notes a memory: finds its Markdown files, and composes the .gitmem.toml that makes them memory.
Writes nothing.

In a folder without MEMORY.md and memory/ every `*.md` file is memory. The first memory file ends that. So `git mem
init`, which creates memory files, must list the notes in .gitmem.toml, or warn that they are not memory any more.
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
from gitmem.daily_logs import daily_form, log_day
from gitmem.errors import OutsideRepository, UsageError
from gitmem.git.opening import Repository, open_repository
from gitmem.git.worktree import read_bytes
from gitmem.git.write import init_repository
from gitmem.json_values import parse_json
from gitmem.memory.folder_scope import globs_of_folders
from gitmem.memory.new_repository import Place
from gitmem.paths import (
    FOREIGN_FOLDERS,
    MAX_MEMORY_FILE_BYTES,
    NOTHING_ELSE,
    Kind,
    agents_read,
    is_hidden_or_foreign,
    is_memory,
    kind,
    layout_of,
    log_date,
    matches,
)
from gitmem.system import temporary_folder

GLOB = "*.md"  # matches Markdown in any folder (`paths.matches`)
OBSIDIAN = ".obsidian/daily-notes.json"
DAY = re.compile(r"(?<![^/])(\d{4})([-_./]?)(\d{2})\2(\d{2})\.md$")
# Words in the name of a folder of daily logs.
_LOGS = re.compile(
    r"(?<![^\W_])(?:memory|logs?|journals?|daily|dailies|diary|diaries|days?|(?:daily|journal)[-_ ]?notes?)(?![^\W_])"
    r"|일일|일지|일기|데일리|日記|日誌|日报|日報|日志|日记|デイリー|tagebuch|diario|journal",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of a folder that `git mem init` may make memory.

    `notes`: sorted paths of the Markdown files that become memory only by adoption. `others`: (reason, number) of the
    files that stay outside ("hidden", "not Markdown", "in node_modules/"). `daily`: (pattern, number of notes) of daily
    logs, such as `journal/YYYY-MM-DD.md`. `hosts`: globs of the hidden folders in which agents' hosts keep memory.
    """

    notes: tuple[str, ...]
    others: tuple[tuple[str, int], ...]
    daily: tuple[tuple[str, int], ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def mostly_notes(self) -> bool:
        """Whether there are more notes than files that are not Markdown. `git mem init` then adopts the folder by
        default."""
        return len(self.notes) > dict(self.others).get(NO_MARKDOWN, 0)

    @property
    def is_code(self) -> bool:
        """Whether there are more files that are not Markdown (without hidden ones and those in FOREIGN_FOLDERS) than
        notes, so that the folder is a project and not an agent's workspace."""
        return dict(self.others).get(NO_MARKDOWN, 0) > len(self.notes)


HIDDEN, NO_MARKDOWN = "hidden", "not Markdown"
HOSTS_MEMORY = re.compile(r"(\.[\w-]+(?:/[\w-]+){0,3}?/(?:memory|memories|memory-bank))/.*\.md$")


def inspect_folder(repo: Repository) -> Folder:
    """Sort the files of a work tree into a `Folder`. Left out are files that Git ignores, files that are memory
    already, and files that agents' hosts read as instructions."""
    paths = {*(entry.path for entry in repo.staged()), *repo.untracked()}
    notes: list[str] = []
    left_out: Counter[str] = Counter()
    hosts = hosts_memory(paths)
    for path in sorted(paths):
        of_host = any(matches(path, glob) for glob in hosts)
        if kind(path) is not Kind.OTHER or (agents_read(path) and not of_host):
            continue  # memory, or scanned, without adoption too
        if not path.endswith(".md"):
            left_out[NO_MARKDOWN] += not is_hidden_or_foreign(path)
        elif of_host:
            notes.append(path)
        elif is_hidden_or_foreign(path):
            left_out[_reason(path)] += 1
        else:
            notes.append(path)
    return Folder(tuple(notes), tuple((+left_out).items()), daily_patterns(repo.root, notes), hosts)


def unread_folders(repo: Repository, extra: Sequence[str]) -> list[str]:
    """The globs for `[memory] paths` (`packages/api/memory/*.md`) of memory in folders that no glob covers yet.
    `extra`: the globs of `[memory] paths` in force."""
    paths = {*(entry.path for entry in repo.staged()), *repo.untracked()}
    layout = layout_of(paths, extra)
    return globs_of_folders(path for path in paths if not is_memory(path, layout))


def hosts_memory(paths: Iterable[str]) -> tuple[str, ...]:
    """The globs of the hidden folders in which agents' hosts keep the memory files among `paths`, sorted:
    `.claude/memory/*.md`."""
    host_matches = (HOSTS_MEMORY.match(path) for path in paths if path.startswith("."))
    return tuple(sorted({f"{match[1]}/*.md" for match in host_matches if match}))


def _reason(path: str) -> str:
    """Why a Markdown file is not a note: it is in a folder of other people's files, or it is hidden."""
    return next((f"in {name}/" for name in path.split("/")[:-1] if name in FOREIGN_FOLDERS), HIDDEN)


def daily_patterns(root: Path | None, notes: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """(pattern, number of notes) of the daily notes, sorted. The patterns come from the names of the notes, and from
    Obsidian's settings below `root` (None: no such settings)."""
    notes = list(notes)
    counts = Counter(filter(None, map(daily_pattern, notes)))
    stated = _of_obsidian(root) if root else ""
    if stated and stated not in counts:
        counts[stated] = sum(daily_form(stated).fullmatch(path) is not None for path in notes)
    return tuple(sorted(counts.items()))


def daily_pattern(path: str) -> str:
    """The pattern of a daily note: `journal/YYYY/YYYY-MM-DD.md` for `journal/2026/2026-02-05.md`.

    "" for a path whose name is no day or whose folder has no word for logs, as dated reports are plain notes.
    """
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
    """The pattern of `.obsidian/daily-notes.json`; "" if it cannot be read, or if its format has names of days or
    months."""
    try:
        settings = parse_json(read_bytes(root, OBSIDIAN, MAX_MEMORY_FILE_BYTES))
        folder, form = str(settings.get("folder") or "").strip("/"), settings.get("format") or ""
        pattern = f"{folder}/{form or 'YYYY-MM-DD'}.md".lstrip("/")
        has_names = re.search("[A-Za-z]", re.sub("YYYY|MM|DD", "", str(form)))
        if has_names or not pattern.isprintable() or not daily_form(pattern):
            return ""
        return pattern
    except (OSError, OutsideRepository, ValueError, AttributeError, UsageError):
        return ""


@contextmanager
def open_place(place: Place, environ: Mapping[str, str]) -> Iterator[Repository]:
    """Open the repository of a place, and close it at the end. For a new place it is an empty temporary repository that
    has the place's files as its work tree, so that Git applies its ignore rules to them."""
    with ExitStack() as stack:
        if place.new:
            folder = stack.enter_context(temporary_folder())
            init_repository(folder, environ)
            environ = {**environ, "GIT_DIR": str(folder / ".git"), "GIT_WORK_TREE": str(place.root)}
        repo = open_repository(place.root, environ)
        stack.callback(repo.close)
        yield repo


def settings_text(old_text: str, daily: Sequence[str] = (), hosts: Sequence[str] = ()) -> str:
    """The text of .gitmem.toml that makes all notes memory. `old_text`: that now, "" without one. `daily`: patterns of
    daily logs. `hosts`: further globs.

    Returns `old_text` if its `paths` have all these globs, even if it lacks patterns of `daily` (`lacking_patterns`
    finds them). Raises UsageError if a [memory] table lacks one of the globs, because a person must change it, and if
    `old_text` is not TOML.
    """
    memory = _memory_table(old_text)
    table = _as_table(memory)
    lacking = {"paths": _lacking(table, "paths", [GLOB, *hosts]), "daily": _lacking(table, "daily", daily)}
    if not lacking["paths"]:
        return old_text
    if memory is not None:
        additions = " and ".join(f"{values} to its {key}" for key, values in lacking.items() if values)
        raise UsageError(f"{TRACKED} has a [memory] table already", f"add {additions} by hand")
    globs = json.dumps([GLOB, *hosts], ensure_ascii=False)
    rows = [f"paths = {globs} # every note, in any folder; nothing else hidden, nothing of others"]
    if daily:
        rows.append(_daily_row(daily))
    return _with_memory_table(old_text, rows)


def folder_name(folder: str) -> str:
    """The normalised path of a folder that is to be memory, from the top of its repository.

    Raises UsageError if the folder is not below the top, if its first part begins with a dot (later parts may), if it
    is `memory` itself, or if it has a backslash, a character of a glob or an unprintable character.
    """
    name = posixpath.normpath(folder.strip("/"))
    odd = folder.startswith("/") or name in (".", "memory") or name.startswith(".") or "\\" in name
    if odd or not name.isprintable() or set(name) & set("*?[]"):
        raise UsageError(f"'{folder}' cannot be the folder of memory", "name one below the top: --in docs/memory")
    return name


def folder_settings_text(old_text: str, folder: str) -> str:
    """The text of .gitmem.toml that makes one folder, with its daily logs, the only memory. `old_text`: that
    now; returned unchanged if its [memory] table does that already.

    Raises UsageError if another [memory] table exists, which a person must change, and if `old_text` is not TOML.
    """
    globs = [f"{folder}/*.md", NOTHING_ELSE]
    memory = _memory_table(old_text)
    if memory is not None:
        if not _lacking(_as_table(memory), "paths", globs):
            return old_text
        hint = f"add {json.dumps(globs, ensure_ascii=False)} to its paths by hand"
        raise UsageError(f"{TRACKED} has a [memory] table already", hint)
    row = f"paths = {json.dumps(globs, ensure_ascii=False)} # this folder, and no other Markdown"
    return _with_memory_table(old_text, [row, _daily_row([f"{folder}/YYYY-MM-DD.md"])])


def daily_settings_text(old_text: str, daily: Sequence[str]) -> str:
    """The text of .gitmem.toml with these patterns as daily logs. `old_text`: that now; returned unchanged if it has a
    [memory] table, which a person must change (`lacking_patterns`). Raises UsageError if it is not TOML."""
    if _memory_table(old_text) is not None:
        return old_text
    return _with_memory_table(old_text, [_daily_row(daily)])


def _memory_table(text: str) -> object:
    """The value of `memory` in a TOML text, None without one. Raises UsageError if the text is not TOML."""
    try:
        return tomllib.loads(text).get("memory")
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{TRACKED} is not TOML: {error}", f"mend {TRACKED}") from None


def _daily_row(daily: Sequence[str]) -> str:
    return f"daily = {json.dumps(list(daily), ensure_ascii=False)} # daily logs: shown by git mem log, promoted from"


def _with_memory_table(old_text: str, rows: Sequence[str]) -> str:
    """The settings `old_text` with a `[memory]` table of `rows` at the end, after an empty line."""
    if old_text:
        old_text = old_text.removesuffix("\n") + "\n\n"
    return "\n".join([f"{old_text}[memory]", *rows, ""])


def lacking_patterns(text: str, daily: Sequence[str]) -> list[str]:
    """The patterns of `daily` that the text of .gitmem.toml lacks, in order. Raises TOMLDecodeError if it is not
    TOML."""
    return _missing(_as_table(tomllib.loads(text).get("memory")), "daily", daily)


def _as_table(value: object) -> Mapping[str, object]:
    """A TOML table; {} for any other value."""
    return value if isinstance(value, dict) else {}


def _lacking(table: Mapping[str, object], key: str, wanted: Sequence[str]) -> str:
    """The values of `wanted` that the list `key` of a table lacks, as TOML; "" if it has all of them."""
    missing = _missing(table, key, wanted)
    return json.dumps(missing, ensure_ascii=False) if missing else ""


def _missing(table: Mapping[str, object], key: str, wanted: Sequence[str]) -> list[str]:
    """The wanted values that the list at `key` lacks, in order; all of them if there is no list."""
    values = table.get(key)
    return [value for value in wanted if not (isinstance(values, list) and value in values)]
