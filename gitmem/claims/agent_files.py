"""Chooses the files of a tree whose claims are checked: files that agents read, and lasting memory. Pure.

Daily logs and sessions are records of a day and are not checked. Neither are files that only people read, nor templates
and fixtures, which describe another tree than their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gitmem.agent_paths import IMPORTING
from gitmem.daily_logs import is_daily
from gitmem.git.objects import EXECUTABLE, LINKS, REGULAR, Entry
from gitmem.paths import PACKAGES, Kind, agents_read, kind, log_date

ENDINGS = (".md", ".mdc", ".cursorrules", ".windsurfrules")
LASTING = (Kind.MEMORY, Kind.NOTE, Kind.SKILL, Kind.RULE, Kind.INSTRUCTIONS)
_RECORDS = re.compile(
    r"(?:^|/)\.[^/]+/(?:.*/)?(?:plans?|reports?|tasks?|todos?|sessions?|logs?|research|history|reviews?|audits?|"
    r"handoffs?|scratch|worktrees|issues|proposals?|spikes?|retros?|postmortems?|archives?)/",
    re.IGNORECASE,
)
_DATED = re.compile(r"(?<!\d)20\d\d-?[01]\d-?[0-3]\d(?!\d)")
_SPELLED = {name.lower(): name for name in IMPORTING}
MAX_FILES = 400  # files of one tree that are checked; a note names the number of the others
ELSEWHERE = {  # folders, in lower case, whose files describe another tree
    PACKAGES, "vendor", "third_party", "third-party", "fixtures", "__fixtures__", "testdata", "test-data", "templates",
    "template", "snapshots", "archive", "archived", "assets", "boilerplate", "boilerplates", "scaffold", "scaffolds",
    "skeleton", "skeletons", "stubs",
}  # fmt: skip


def is_checked(path: str, daily: Iterable[str] = ()) -> bool:
    """Whether the claims of the file at `path` are checked: it is a Markdown or rule file that agents read
    (instructions, a skill, a rule) or lasting memory (MEMORY.md, a note). False for daily logs, dated notes, plans and
    reports, a README, templates and fixtures. `daily`: patterns of daily logs; an invalid one raises UsageError."""
    if not path.lower().endswith(ENDINGS) or ELSEWHERE.intersection(path.lower().split("/")[:-1]):
        return False
    if is_daily(path, daily):
        return False
    file_kind = kind(path)
    if file_kind is Kind.OTHER and (_RECORDS.search(path) or _DATED.search(path.rpartition("/")[2])):
        return False  # a plan, a report, a review: a record of its day
    if file_kind is not Kind.OTHER:
        return file_kind in LASTING and not (file_kind is Kind.NOTE and log_date(path))
    name = path.rsplit("/", 1)[-1]
    if name.lower().startswith("readme"):
        return False  # written for people, about the folder
    if _SPELLED.get(name.lower(), name) != name and "/" in path.lstrip("."):
        return False  # `docs/agents.md` is a page about agents
    return agents_read(path) or name == "MEMORY.md" or f"/{path}".find("/.claude/") >= 0


def checked_files(entries: Iterable[Entry], daily: Iterable[str] = ()) -> list[Entry]:
    """The files among `entries` that are checked (`is_checked`), those nearest the root first. `daily`: patterns of
    daily logs.

    Links are left out, as their targets are checked. Of files with equal bytes in one folder, which a tool copied for
    several hosts, one is checked.
    """
    patterns = tuple(daily)
    seen: set[tuple[str, str]] = set()
    chosen: list[Entry] = []
    for entry in sorted(entries, key=lambda entry: (entry.path.count("/"), entry.path)):
        if entry.mode in LINKS or entry.mode not in (REGULAR, EXECUTABLE) or not is_checked(entry.path, patterns):
            continue
        place = (entry.path.rpartition("/")[0], entry.oid)
        if place not in seen:
            seen.add(place)
            chosen.append(entry)
    return chosen


def is_procedure(path: str) -> bool:
    """Whether a file is a procedure by its path: it is below a folder such as `skills`, `commands`, `agents` or
    `prompts`, or its name ends in `skill.md`. A path in such a file often names a file that the reader is to create."""
    folders = set(path.lower().split("/")[:-1])
    in_folder = folders & {"skills", "commands", "command", "workflows", "agents", "agent", "prompts"}
    return bool(in_folder) or path.lower().endswith("skill.md")


def is_about_change(path: str) -> bool:
    """Whether a file's name has `migrat`, `upgrad`, `changelog` or `deprecat`, in any case. Such a file names old files
    as well as new ones."""
    return bool(re.search(r"migrat|upgrad|changelog|deprecat", path.rpartition("/")[2].lower() or path, re.IGNORECASE))


def skill_folder(path: str) -> str:
    """The folder `skills/NAME`, with the folders above it, that a file is in; the path itself if the file is in
    none."""
    parts = path.split("/")
    index = next((index for index, part in enumerate(parts[:-2]) if part.lower() == "skills"), None)
    return "/".join(parts[: index + 2]) if index is not None else path
