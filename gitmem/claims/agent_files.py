"""Which files of a tree say something about it that is checked: what agents read, and lasting memory.

Pure. Daily logs and sessions are records of a day and are never judged; neither are files that only people read, nor
templates and fixtures, which describe another tree than the one that they lie in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gitmem.agent_paths import IMPORTING
from gitmem.git.objects import EXECUTABLE, LINKS, REGULAR, Entry
from gitmem.paths import PACKAGES, Kind, agents_read, is_daily, kind, log_date

ENDINGS = (".md", ".mdc", ".cursorrules", ".windsurfrules")
LASTING = (Kind.MEMORY, Kind.NOTE, Kind.SKILL, Kind.RULE, Kind.INSTRUCTIONS)
_RECORDS = re.compile(
    r"(?:^|/)\.[^/]+/(?:.*/)?(?:plans?|reports?|tasks?|todos?|sessions?|logs?|research|history|reviews?|audits?|"
    r"handoffs?|scratch|worktrees|issues|proposals?|spikes?|retros?|postmortems?|archives?)/",
    re.IGNORECASE,
)
_DATED = re.compile(r"(?<!\d)20\d\d-?[01]\d-?[0-3]\d(?!\d)")
_SPELLED = {name.lower(): name for name in IMPORTING}
MOST_FILES = 400  # of one tree that are judged; a tree with more says so
ELSEWHERE = {
    PACKAGES, "vendor", "third_party", "third-party", "fixtures", "__fixtures__", "testdata", "test-data", "templates",
    "template", "snapshots", "archive", "archived", "assets", "boilerplate", "boilerplates", "scaffold", "scaffolds",
    "skeleton", "skeletons", "stubs",
}  # fmt: skip


def judged(path: str, daily: Iterable[str] = ()) -> bool:
    """Whether the lines of the file at `path` are claims about the tree that it lies in."""
    if not path.lower().endswith(ENDINGS) or ELSEWHERE.intersection(path.lower().split("/")[:-1]):
        return False
    if is_daily(path, daily):
        return False
    of = kind(path)
    if of is Kind.OTHER and (_RECORDS.search(path) or _DATED.search(path.rpartition("/")[2])):
        return False  # a plan, a report, a review: a record of its day
    if of is not Kind.OTHER:
        return of in LASTING and not (of is Kind.NOTE and log_date(path))
    name = path.rsplit("/", 1)[-1]
    if name.lower().startswith("readme"):
        return False  # it tells people what the folder is for
    if _SPELLED.get(name.lower(), name) != name and "/" in path.lstrip("."):
        return False  # `docs/agents.md` is a page about agents
    return agents_read(path) or name == "MEMORY.md" or f"/{path}".find("/.claude/") >= 0


def files_of(entries: Iterable[Entry], daily: Iterable[str] = ()) -> list[Entry]:
    """The files to judge, shortest path first. A link is not read: what it leads to is judged where it lies. Of files
    with the same bytes, which a tool copied for several hosts, those in the same folder are judged once."""
    patterns = tuple(daily)
    seen: set[tuple[str, str]] = set()
    chosen: list[Entry] = []
    for entry in sorted(entries, key=lambda entry: (entry.path.count("/"), entry.path)):
        if entry.mode in LINKS or entry.mode not in (REGULAR, EXECUTABLE) or not judged(entry.path, patterns):
            continue
        place = (entry.path.rpartition("/")[0], entry.oid)
        if place not in seen:
            seen.add(place)
            chosen.append(entry)
    return chosen


def procedure(path: str) -> bool:
    """Whether a file says how something is done, anywhere: a skill, a command, an agent, a prompt. What such a file
    names is as often what a reader will make as what is here."""
    folders = set(path.lower().split("/")[:-1])
    return bool(
        folders & {"skills", "commands", "command", "workflows", "agents", "agent", "prompts"}
    ) or path.lower().endswith("skill.md")


def about_change(path: str) -> bool:
    """Whether a file is about what is left behind, by its name: a migration or an upgrade names the old and the new."""
    return bool(re.search(r"migrat|upgrad|changelog|deprecat", path.rpartition("/")[2].lower() or path, re.IGNORECASE))


def procedure_of(path: str) -> str:
    """The folder of a skill that a procedure's file belongs to, with all that the skill brings along; the file itself
    where it is no part of a skill."""
    parts = path.split("/")
    at = next((at for at, part in enumerate(parts[:-2]) if part.lower() == "skills"), -1)
    if at >= 0:
        return "/".join(parts[: at + 2])
    return path
