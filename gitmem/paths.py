"""Which paths are memory, and what each is. Pure: paths in, values out (docs/format.md has the table)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache, lru_cache

from gitmem.errors import UsageError
from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple
from gitmem.messages import Message


class Kind(Enum):
    """What a memory file is by its place."""

    MEMORY = "memory"
    DAILY = "daily"
    NOTE = "note"
    SESSION = "session"
    SKILL = "skill"
    RULE = "rule"
    ARCHIVE = "archive"
    INSTRUCTIONS = "instructions"
    OTHER = "other"


MAX_MEMORY_FILE_BYTES = 1 << 20  # bytes of a memory file; a larger one is not read, and what leaves it out says so
INSTRUCTIONS = ("SOUL.md", "USER.md", "AGENTS.md", "TOOLS.md")
AGENT = r"[^\W_][\w-]*"  # a letter or digit of any script, then those, "_" and "-"
AGENT_LIMIT = 60  # characters of a name; with four bytes each the log's name still fits in a file system's 255
DAILY = re.compile(rf"^(?:.*/)?memory/(\d{{4}})-(\d{{2}})-(\d{{2}})(?:\.({AGENT}))?\.md$")
DAY_NOTE = lazy(r"^(?:.*/)?(\d{4})([_./]?)(\d{2})\2(\d{2})\.md$")
FIELDS = {"YYYY": ("y", 4), "MM": ("m", 2), "DD": ("d", 2)}  # of a pattern of daily logs: its group, its digits
IN_FIELDS = r"(?:(?<![A-Za-z])|(?=YYYY))(?:YYYY|MM|DD)+(?![A-Za-z])"
PATTERN_LIMIT = 200  # characters
DATED = lazy(r"^(?:.*/)?(\d{4})-(\d{2})-(\d{2})(?:[.-][^/]*)?\.md$")
# What agents read besides memory, wherever it lies (gitmem/agent_paths.py): the gate scans it, the index does not know
# it. These lists serve the scanner, the shell filter of the hooks (git/hook_files) and .pre-commit-hooks.yaml.
AGENT_ENDINGS = (".md", ".mdc")  # of the files in their folders that are instructions
NOTE_ENDINGS = (  # and of other notes below memory/
    ".rst", ".org", ".adoc", ".html", ".htm", ".csv", ".tsv", ".log", ".text", ".xml", ".jsonl", ".tex",
)  # fmt: skip
TEXT_ENDINGS = (*AGENT_ENDINGS, ".mdx", ".txt", ".toml", ".json", ".yaml", ".yml")  # and of what an agent opens there
# Files of settings -> their keys whose strings name files that agents are given.
LEADING_SETTINGS = {
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
PACKAGES = "node_modules"  # large: nothing looks into it that is not asked to
# Folders of what others wrote or a program keeps, wherever they lie: installed packages, copies, skills of others.
AWAY = (
    PACKAGES, "site-packages", "vendor", "third_party", "third-party", "skills", "quarantine", "cache", "caches",
    "snapshots",
)  # fmt: skip
FOLDERS = {"sessions": Kind.SESSION, "skills": Kind.SKILL, "rules": Kind.RULE, "archive": Kind.ARCHIVE}


NOTHING_ELSE = "!*"  # among the globs of the settings: no other Markdown is memory, though there is no MEMORY.md


class Layout(NamedTuple):
    """What counts as memory here. `notes`: neither MEMORY.md nor memory/, so every *.md is taken.

    `extra` are globs of `[memory] paths` in .gitmem.toml; they only ever add (`matches` has what a glob takes), but for
    NOTHING_ELSE, with which a repository is none of notes.
    """

    notes: bool = False
    extra: tuple[str, ...] = ()


def layout_of(paths: Iterable[str], extra: Sequence[str] = ()) -> Layout:
    """The layout a set of paths has: a memory repository as soon as one path is MEMORY.md or below memory/.

    A folder that holds MEMORY.md and Markdown beside it, and nothing else, is one of notes: an agent's own memory
    folder keeps its topics there.
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
    """Whether all that is not hidden is Markdown side by side, some of it besides MEMORY.md, and none a README: no
    project."""
    shown = [name for name in names if not any(part.startswith(".") for part in name.split("/"))]
    topics = [name for name in shown if kind(name) is Kind.OTHER]
    plain = all(name.endswith(".md") and "/" not in name and name.lower() != "readme.md" for name in shown)
    return bool(topics) and plain


@lru_cache(maxsize=4096)  # asked for each fact, of a few paths
def kind(path: str) -> Kind:
    """The kind of a path by its spelling alone."""
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
    if DAILY.match(spelling(path)) and path.count("/") == 1:
        return Kind.DAILY
    head = path.split("/", 2)
    if len(head) == 3 and head[1] in FOLDERS:
        return FOLDERS[head[1]]
    if len(head) == 2 and DATED.match(path):
        return Kind.SESSION
    return Kind.NOTE


def is_memory(path: str, layout: Layout) -> bool:
    """Whether index, gate and CI look at this path."""
    if any(matches(path, glob) for glob in layout.extra if glob != NOTHING_ELSE):
        return True
    if layout.notes:
        return path.endswith(".md") and not aside(path)
    return kind(path) is not Kind.OTHER


def matches(path: str, glob: str) -> bool:
    """Whether a glob of `[memory] paths` takes a path: `*` and `?` match "/" too, `**/` also nothing, as Git has it;
    a name that begins with a dot, or a folder of AWAY, only where a part of the glob names it, as a shell has it."""
    if not fnmatchcase(path, glob) and not ("**/" in glob and fnmatchcase(path, glob.replace("**/", ""))):
        return False
    if not aside(path):
        return True
    parts = [part for part in glob.split("/") if part in AWAY or part.startswith(".")]
    folders = path.split("/")
    names = [name for name in folders if name.startswith(".")] + [name for name in folders[:-1] if name in AWAY]
    return all(any(fnmatchcase(name, part) for part in parts) for name in names)


def aside(path: str) -> bool:
    """Whether a path is hidden or lies in a folder of AWAY: nobody's notes."""
    return path.startswith(".") or "/." in path or _IN_AWAY.search(path) is not None


_IN_AWAY = lazy(rf"(?:^|/)(?:{'|'.join(map(re.escape, AWAY))})/")


def agents_read(path: str) -> bool:
    """Whether hosts give this file to their agents as instructions, in any folder and
    case: what a file system that folds case would open counts."""
    return bool(_agents_files().search(path))


def leads_to_instructions(path: str) -> bool:
    """Whether something that is no file at `path` (a link, a submodule) would stand for files that agents read."""
    last = path.rstrip("/")
    return agents_read(last) or bool(_agents_folders().search(last))


@cache
def _agents_files() -> re.Pattern[str]:
    from gitmem.agent_paths import FILES, FOLDERS

    folders = rf"(?:^|/)(?:{_either(FOLDERS)})/.*(?:{_either(TEXT_ENDINGS)})$"
    return re.compile(rf"(?:^|/)(?:{_either(FILES)})$|{folders}", re.IGNORECASE)


@cache
def _agents_folders() -> re.Pattern[str]:
    from gitmem.agent_paths import FOLDERS

    tops = sorted({folder.partition("/")[0] for folder in FOLDERS})
    return re.compile(rf"(?:^|/)(?:{_either([*FOLDERS, *tops])})$|(?:^|/)(?:{_either(FOLDERS)})/", re.IGNORECASE)


def _either(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in words)


def file_group(path: str) -> str:
    """The kind of a path for figures about many files: a kind of memory, of what agents read, or of document."""
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
    """Whether a search without --path looks at it: memory, but not the instruction files."""
    return is_memory(path, layout) and kind(path) is not Kind.INSTRUCTIONS


def holds_instructions(path: str) -> bool:
    """Whether instructions belong there: the injection detector only warns (docs/gate.md has the exceptions).

    What lies below memory/ is that by its folder alone: an AGENTS.md among notes is a note.
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
    """A file's name as words, without its date and ending: `memory/2026-02-05-oil-change.md` is `oil change`.

    Of a name that every folder has (README, index, SKILL) the folder's; "" where nothing is left.
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
    bare = _DATE_IN_NAME.sub(" ", name)
    if bare != name:  # what a daily log has behind its date is the agent that wrote it: `2026-02-05.coder`
        bare = bare.strip()
        if bare.startswith("."):
            return ""
    return " ".join(re.split(r"[\s_\-.]+", bare if bare.isascii() else unicodedata.normalize("NFC", bare))).strip()


def log_date(path: str) -> date | None:
    """The date in a file's name (a daily log, a dated episode, `2026_02_05.md`, `2026/02/05.md`), None where there is
    none or it does not exist."""
    match = DATED.match(path)
    if match is not None:
        return _date(match.group(1), match.group(2), match.group(3))
    match = None
    if path[-4:-3].isdigit():
        match = DAY_NOTE.match(path)
    if not match:
        return None
    return _date(match.group(1), match.group(3), match.group(4))


def _date(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def log_day(path: str, patterns: Iterable[str] = ()) -> date | None:
    """The day of which a path is a daily log: by its place below memory/, or by a pattern of `[memory] daily`
    (`daily_pattern`); None for any other path."""
    if kind(path) is Kind.DAILY:
        return log_date(path)
    found = (match for pattern in patterns if (match := daily_form(pattern).fullmatch(path)))
    return next((day for match in found if (day := _date(match["y"], match["m"], match["d"]))), None)


def is_daily(path: str, patterns: Iterable[str] = ()) -> bool:
    """Whether a path is a daily log, by its place below memory/ or by a pattern of `[memory] daily`."""
    return kind(path) is Kind.DAILY or log_day(path, patterns) is not None


def passes(path: str, patterns: Iterable[str] = ()) -> bool:
    """Whether a path holds what happened and no long-term memory: a daily log (`is_daily`) or a session's episode."""
    return kind(path) is Kind.SESSION or is_daily(path, patterns)


@cache
def daily_form(pattern: str) -> re.Pattern[str]:
    """The paths that a pattern of daily logs names: YYYY, MM and DD are digits, `*` what is no "/".

    Raises UsageError for a pattern without all three, one that names no Markdown, or one with `**`.
    """
    parts = _pattern_parts(pattern)
    whole = {"YYYY", "MM", "DD"} <= set(parts) and pattern.endswith(".md")
    if (
        not whole
        or set("[]?") & set(pattern)
        or "**" in pattern
        or pattern.count("*") > 2
        or len(pattern) > PATTERN_LIMIT
    ):
        raise UsageError(Message("'{}' is no pattern of daily logs", pattern), "as in journals/YYYY_MM_DD.md")
    seen: set[str] = set()
    form = ""
    for part in parts:
        name, digits = FIELDS.get(part, ("", 0))
        if part == "*":
            form += "[^/]*"
        elif not name:
            form += re.escape(part)
        elif part in seen:
            form += f"(?P={name})"
        else:
            form += rf"(?P<{name}>\d{{{digits}}})"
            seen.add(part)
    return re.compile(form, re.ASCII)


def daily_name(pattern: str, day: date) -> str:
    """The path that a pattern of daily logs without `*` names on a day."""
    fields = {"YYYY": f"{day.year:04}", "MM": f"{day.month:02}", "DD": f"{day.day:02}"}
    return "".join(fields.get(part, part) for part in _pattern_parts(pattern))


def daily_glob(pattern: str, day: date | None = None) -> str:
    """The glob of `[memory] paths` that takes what a pattern of daily logs names, of one `day` where it is given."""
    if day:
        fields = {"YYYY": f"{day.year:04}", "MM": f"{day.month:02}", "DD": f"{day.day:02}"}
    else:
        fields = {}
    return "".join(
        fields.get(part, "[0-9]" * len(part)) if part in FIELDS else part for part in _pattern_parts(pattern)
    )


def _pattern_parts(pattern: str) -> list[str]:
    """The fields of a pattern of daily logs, its stars and what stands between: MM in a word (`COMMON`) is no field."""
    pieces = re.split(rf"({IN_FIELDS}|\*)", pattern)
    return [
        part
        for piece in pieces
        for part in (re.findall("|".join(FIELDS), piece) if re.fullmatch(IN_FIELDS, piece) else [piece])
    ]


def agent_of(path: str) -> str:
    """The agent in `memory/YYYY-MM-DD.<agent>.md`, "" where there is none."""
    match = DAILY.match(spelling(path))
    if not match:
        return ""
    return match.group(4) or ""


def spelling(name: str) -> str:
    """The one spelling (Unicode's NFC) by which names are compared: a keyboard, a file system and a trailer may each
    write the same Korean name otherwise."""
    return unicodedata.normalize("NFC", name)


def agent_name(name: str) -> str:
    """The name of an agent as it is written everywhere: the spelling of `name` in Unicode's NFC; "" stays "".

    It becomes part of a file's name and of a trailer, so it is a letter or digit (of any script) and then letters,
    digits, "_" and "-". Raises UsageError for anything else: its log would be written, and never read.
    """
    whole = spelling(name)
    if whole and (not re.fullmatch(AGENT, whole) or len(whole) > AGENT_LIMIT):
        near = re.sub(r"[^\w-]+", "-", whole).strip("-_")[:AGENT_LIMIT]
        hint = f"letters, digits, '_' and '-', at most {AGENT_LIMIT}" + (f", as in '{near}'" if near else "")
        raise UsageError(Message("'{}' cannot name an agent", name), hint)
    return whole


def daily_path(day: date, agent: str = "") -> str:
    """Where the log of an agent is on a day. Raises UsageError for what cannot name an agent (`agent_name`)."""
    name = agent_name(agent)
    return f"memory/{day.isoformat()}{'.' + name if name else ''}.md"


def more_than_memory(paths: Iterable[str]) -> bool:
    """Whether a repository with these files holds more than memory: Markdown and what tools keep (a name with a dot in
    front) is nothing more."""
    return any(not path.endswith(".md") and not path.startswith(".") and "/." not in path for path in paths)
