"""Decides from a path which files are memory, and of which kind. Pure (docs/format.md has the table)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import NamedTuple

from gitmem.errors import UsageError
from gitmem.lazy_patterns import lazy
from gitmem.messages import Message


class Kind(Enum):
    """The kind of a memory file, by its path."""

    MEMORY = "memory"
    DAILY = "daily"
    NOTE = "note"
    SESSION = "session"
    SKILL = "skill"
    RULE = "rule"
    ARCHIVE = "archive"
    INSTRUCTIONS = "instructions"
    OTHER = "other"


MAX_MEMORY_FILE_BYTES = 1 << 20  # a larger memory file is not read, and the report names it
INSTRUCTIONS = ("SOUL.md", "USER.md", "AGENTS.md", "TOOLS.md")
AGENT = r"[^\W_][\w-]*"  # an agent's name: a letter or digit of any script, then letters, digits, "_" and "-"
MAX_AGENT_CHARS = 60  # four UTF-8 bytes each still fit in a file name of 255 bytes
DAILY = re.compile(rf"^(?:.*/)?memory/(\d{{4}})-(\d{{2}})-(\d{{2}})(?:\.({AGENT}))?\.md$")
DAY_NOTE = lazy(r"^(?:.*/)?(\d{4})([_./]?)(\d{2})\2(\d{2})\.md$")
ISO_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"  # a regular expression; it also matches days that no calendar has
ISO_DAY_IN_NAME = lazy(rf"({ISO_DAY})[^/]*$")
DATED = lazy(r"^(?:.*/)?(\d{4})-(\d{2})-(\d{2})(?:[.-][^/]*)?\.md$")
# Agents read more files than memory (gitmem/agent_paths.py). The gate scans those files; the index leaves them out.
# The scanner, the shell filter of the hooks (git/hooks) and .pre-commit-hooks.yaml use these endings.
AGENT_ENDINGS = (".md", ".mdc")  # instruction files in agents' folders
NOTE_ENDINGS = (  # other notes below memory/
    ".rst", ".org", ".adoc", ".html", ".htm", ".csv", ".tsv", ".log", ".text", ".xml", ".jsonl", ".tex",
)  # fmt: skip
TEXT_ENDINGS = (
    *AGENT_ENDINGS,
    ".mdx",
    ".txt",
    ".toml",
    ".json",
    ".yaml",
    ".yml",
)  # text files that an agent opens in its folders
# Settings file -> the keys whose values name further files that the host hands to its agent.
LEADING_SETTINGS = {
    ".opencode/opencode.json": ("instructions",),
    ".opencode/opencode.jsonc": ("instructions",),
    "opencode.json": ("instructions",),
    "opencode.jsonc": ("instructions",),
    ".gemini/settings.json": ("contextFileName", "fileName"),
    ".qwen/settings.json": ("contextFileName", "fileName"),
    ".codex/config.toml": (
        "project_doc_fallback_filenames",
        "model_instructions_file",
        "experimental_instructions_file",
    ),
    ".aider.conf.yml": ("read",),
}
LEADING_KEYS = tuple(dict.fromkeys(key for keys in LEADING_SETTINGS.values() for key in keys))
PACKAGES = "node_modules"  # large: read only when a setting names it
# Folders, at any depth, whose files nobody here wrote: installed packages, caches, downloaded skills.
FOREIGN_FOLDERS = (
    PACKAGES, "site-packages", "vendor", "third_party", "third-party", "skills", "quarantine", "cache", "caches",
    "snapshots",
)  # fmt: skip
FOLDERS = {"sessions": Kind.SESSION, "skills": Kind.SKILL, "rules": Kind.RULE, "archive": Kind.ARCHIVE}


NOTHING_ELSE = "!*"  # a glob of `[memory] paths`: other Markdown is not memory, even without a MEMORY.md


class Layout(NamedTuple):
    """The rule for which files of a repository are memory.

    `notes`: whether every *.md file is memory, because the repository has neither MEMORY.md nor memory/. `extra`: the
    globs of `[memory] paths` in .gitmem.toml. They add files (`matches`); only NOTHING_ELSE removes some: it turns
    `notes` off.
    """

    notes: bool = False
    extra: tuple[str, ...] = ()


def layout_of(paths: Iterable[str], extra: Sequence[str] = ()) -> Layout:
    """The layout of a repository that has files at these paths. `extra`: the globs of `[memory] paths`.

    `notes` is True for a repository with neither MEMORY.md nor Markdown below memory/ or .claude/rules/. Exception: a
    folder with nothing but MEMORY.md and other Markdown beside it (hidden files do not count, and none is a README) is
    a folder of notes too, since agents' own memory folders keep topics there. With NOTHING_ELSE in `extra` it is False.
    """
    names = list(paths)
    memory = False
    for path in names:  # every search asks: one file below memory/ answers for thousands
        match kind(path):
            case Kind.MEMORY:
                memory = True
            case Kind.OTHER | Kind.INSTRUCTIONS:
                pass
            case _:
                return Layout(notes=False, extra=tuple(extra))
    notes = (not memory or ("MEMORY.md" in names and _only_topics(names))) and NOTHING_ELSE not in extra
    return Layout(notes=notes, extra=tuple(extra))


def _only_topics(names: Sequence[str]) -> bool:
    """Whether all visible files are Markdown in one folder, at least one of them besides MEMORY.md, and none is a
    README."""
    shown = [name for name in names if not any(part.startswith(".") for part in name.split("/"))]
    topics = [name for name in shown if kind(name) is Kind.OTHER]
    plain = all(name.endswith(".md") and "/" not in name and name.lower() != "readme.md" for name in shown)
    return bool(topics) and plain


@lru_cache(maxsize=4096)  # asked for each fact, of a few paths
def kind(path: str) -> Kind:
    """The kind of the file at a path, by its spelling alone. OTHER for a path that does not end with `.md`, or that is
    in no place where memory is kept; NOTE for a Markdown file below memory/ without a more special kind."""
    if not path.endswith(".md"):
        return Kind.OTHER
    if path == "MEMORY.md" or path == ".claude/MEMORY.md":
        return Kind.MEMORY
    if path in INSTRUCTIONS:
        return Kind.INSTRUCTIONS
    if path.startswith(".claude/rules/"):
        return Kind.RULE
    if not path.startswith("memory/"):
        return Kind.OTHER
    if DAILY.match(nfc_name(path)) and path.count("/") == 1:
        return Kind.DAILY
    head = path.split("/", 2)
    if len(head) == 3 and head[1] in FOLDERS:
        return FOLDERS[head[1]]
    if len(head) == 2 and DATED.match(path):
        return Kind.SESSION
    return Kind.NOTE


def is_memory(path: str, layout: Layout) -> bool:
    """Whether a file is memory under a layout, so that the index, the gate and CI read it."""
    if any(matches(path, glob) for glob in layout.extra if glob != NOTHING_ELSE):
        return True
    if layout.notes:
        return path.endswith(".md") and not is_hidden_or_foreign(path)
    return kind(path) is not Kind.OTHER


def matches(path: str, glob: str) -> bool:
    """Whether a glob of `[memory] paths` matches a path.

    `*` and `?` match "/" too, and `**/` matches no folder as well, as in Git. A hidden name or a folder of
    FOREIGN_FOLDERS matches only where a part of the glob names it, as in a shell.
    """
    if not fnmatchcase(path, glob) and not ("**/" in glob and fnmatchcase(path, glob.replace("**/", ""))):
        return False
    if not is_hidden_or_foreign(path):
        return True
    parts = [part for part in glob.split("/") if part in FOREIGN_FOLDERS or part.startswith(".")]
    folders = path.split("/")
    names = [name for name in folders if name.startswith(".")] + [
        name for name in folders[:-1] if name in FOREIGN_FOLDERS
    ]
    return all(any(fnmatchcase(name, part) for part in parts) for name in names)


def is_hidden_or_foreign(path: str) -> bool:
    """Whether a path is hidden or lies in one of FOREIGN_FOLDERS, so that nobody of this repository wrote it as a
    note."""
    return path.startswith(".") or "/." in path or _IN_FOREIGN_FOLDER.search(path) is not None


_IN_FOREIGN_FOLDER = lazy(rf"(?:^|/)(?:{'|'.join(map(re.escape, FOREIGN_FOLDERS))})/")


def agents_read(path: str) -> bool:
    """Whether hosts give this file to their agents as instructions, in any folder.

    Case is ignored: a file system that folds case would open `agents.md` for AGENTS.md.
    """
    return bool(_agents_files().search(path))


def leads_to_instructions(path: str) -> bool:
    """Whether a symbolic link or a submodule at `path` would take the place of files that agents read as instructions:
    of such a file, of a folder of them, or of anything inside."""
    last = path.rstrip("/")
    return agents_read(last) or bool(_agents_folders().search(last))


@cache
def _agents_files() -> re.Pattern[str]:
    """The pattern of paths of files that agents read, by name or as text in one of their folders; letter case does not
    matter."""
    from gitmem.agent_paths import FILES, FOLDERS

    folders = rf"(?:^|/)(?:{_either(FOLDERS)})/.*(?:{_either(TEXT_ENDINGS)})$"
    return re.compile(rf"(?:^|/)(?:{_either(FILES)})$|{folders}", re.IGNORECASE)


@cache
def _agents_folders() -> re.Pattern[str]:
    """The pattern of folders of agents, of folders above them, and of any path inside; letter case does not matter."""
    from gitmem.agent_paths import FOLDERS

    tops = sorted({folder.partition("/")[0] for folder in FOLDERS})
    return re.compile(rf"(?:^|/)(?:{_either([*FOLDERS, *tops])})$|(?:^|/)(?:{_either(FOLDERS)})/", re.IGNORECASE)


def _either(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in words)


def file_group(path: str) -> str:
    """The name under which statistics count a path: the value of its `Kind` ("daily"), or for a path of Kind.OTHER a
    kind of agent file ("skill", "rule", "agent", "command", "prompt", "instructions"), "readme", "changelog" or
    "document"."""
    of = kind(path)
    if of is not Kind.OTHER:
        return str(of.value)
    parts = path.lower().split("/")
    name = parts[-1]
    if agents_read(path):
        words = {"skills": "skill", "rules": "rule", "agents": "agent", "commands": "command", "prompts": "prompt"}
        if name == "skill.md":
            group = "skill"
        else:
            group = next((words[part] for part in parts[:-1] if part in words), "")
        return group or str(Kind.INSTRUCTIONS.value)
    stem = re.split(r"[._-]", name)[0]
    if stem in ("readme", "changelog"):
        return stem
    return "document"


def in_default_corpus(path: str, layout: Layout) -> bool:
    """Whether a search without --path reads this path: memory, without the instruction files."""
    return is_memory(path, layout) and kind(path) is not Kind.INSTRUCTIONS


def holds_instructions(path: str) -> bool:
    """Whether the file is meant to hold instructions, so that the injection detector warns and does not block.

    docs/gate.md has the orders that block all the same. Below memory/ only the Markdown files of memory/skills/ and
    memory/rules/ hold instructions; any other file there is a note whatever its name, also `memory/AGENTS.md`.
    """
    of = kind(path)
    if of is Kind.OTHER:
        return agents_read(path) and not path.startswith("memory/")
    return of in (Kind.INSTRUCTIONS, Kind.RULE, Kind.SKILL)


_NAMELESS = frozenset({
    "memory", "readme", "index", "notes", "note", "skill", "claude", "agents", "soul", "user", "tools", "gemini",
    "todo", "log", "changelog", "main",
})  # fmt: skip
_DATE_IN_NAME = lazy(r"(?<!\d)\d{4}[-_.]?\d{2}[-_.]?\d{2}(?:[T_-]?\d{4,6})?(?!\d)")


def file_name_words(path: str) -> str:
    """A file's name as words, without its date and ending: `oil change` for `memory/2026-02-05-oil-change.md`.

    A name that every folder has (README, index, SKILL) gives the folder's words; "" when no word is left.
    """
    parts = [part for part in path.split("/") if part]
    stem = ""
    if parts:
        stem = parts.pop().rsplit(".", 1)[0]
    words = _words_of_name(stem)
    if words.casefold() in _NAMELESS and parts:
        words = _words_of_name(parts.pop())
    if words.casefold() in _NAMELESS:
        return ""
    return words


def _words_of_name(name: str) -> str:
    """The words of a file name, without a date in it. "" if nothing but an ending is left."""
    bare = _DATE_IN_NAME.sub(" ", name)
    if bare != name:  # a daily log has its agent's name after the date, which is not a topic: `2026-02-05.coder`
        bare = bare.strip()
        if bare.startswith("."):
            return ""
    return " ".join(re.split(r"[\s_\-.]+", nfc_name(bare))).strip()


def log_date(path: str) -> date | None:
    """The date with which the name of a Markdown file begins (`2026-02-05-oil.md`), or which is the whole name
    (`20260205.md`, `2026_02_05.md`) or the folders with it (`2026/02/05.md`).

    None for any other path, also if a date stands later in the name, and for a day that no calendar has.
    """
    match = DATED.match(path)
    if match is not None:
        return date_of(match.group(1), match.group(2), match.group(3))
    match = None
    if path[-4:-3].isdigit():
        match = DAY_NOTE.match(path)
    if not match:
        return None
    return date_of(match.group(1), match.group(3), match.group(4))


def day_in_path(path: str) -> str:
    """The day in the name of a file, YYYY-MM-DD: the date of `log_date`, or an ISO day anywhere in the name
    (`logs/sync-2026-02-05.md`); "" for none. A day that `log_date` does not give need not be in the calendar."""
    day = log_date(path)
    if day is not None:
        return day.isoformat()
    match = ISO_DAY_IN_NAME.search(path)
    if match is not None:
        return match[1]
    return ""


def date_of(year: str, month: str, day: str) -> date | None:
    """The date of three numbers as text; None for text that is no number, and for a day that no calendar has."""
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def nfc_name(name: str) -> str:
    """A name in Unicode's NFC, in which names are compared: a keyboard, a file system and a trailer may encode the same
    Korean name differently."""
    return unicodedata.normalize("NFC", name)


def agent_name(name: str) -> str:
    """An agent's name in Unicode's NFC; "" stays "".

    The name becomes part of a file name and of a trailer. So it begins with a letter or digit of any script and goes on
    with letters, digits, "_" and "-", MAX_AGENT_CHARS characters at most. Raises UsageError for any other name: its log
    would be written and never read.
    """
    whole = nfc_name(name)
    if whole and (not re.fullmatch(AGENT, whole) or len(whole) > MAX_AGENT_CHARS):
        near = re.sub(r"[^\w-]+", "-", whole).strip("-_")[:MAX_AGENT_CHARS]
        hint = f"letters, digits, '_' and '-', at most {MAX_AGENT_CHARS}"
        if near:
            hint += f", as in '{near}'"
        raise UsageError(Message("'{}' cannot name an agent", name), hint)
    return whole


def more_than_memory(paths: Iterable[str]) -> bool:
    """Whether a repository with these files holds more than memory. Markdown and hidden files count as memory."""
    return any(not path.endswith(".md") and not path.startswith(".") and "/." not in path for path in paths)
