"""The rule against a change after which the notes of a folder are not memory any more.

In a repository without MEMORY.md and memory/ all Markdown is memory. The first such file ends that, even an empty one:
notes that .gitmem.toml does not name are neither searched nor scanned afterwards. Reads paths and settings, no notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitmem.config import TRACKED
from gitmem.config.loading import load
from gitmem.errors import BadConfig
from gitmem.gate import exceptions
from gitmem.gate.changes.rules import RULES, change_finding
from gitmem.gate.changes.text_rules import settings_text
from gitmem.gate.detectors.finding import Finding
from gitmem.git.objects import LINKS, Entry
from gitmem.git.repository import Repository
from gitmem.messages import Message
from gitmem.paths import Kind, Layout, agents_read, is_hidden_or_foreign, is_memory, kind, layout_of

MAX_NAMED_PATHS = 3  # paths that a finding names
README = "readme.md"  # describes a project, and does not count as a note


def may_narrow(layouts: Iterable[Layout]) -> bool:
    """Whether the layouts of a policy differ in `Layout.notes`. They come from the trees before and after a change, so
    only then notes can be lost."""
    return len({layout.notes for layout in layouts}) > 1


def layout_loss(repo: Repository, before: str, after: str, commit: str = "") -> Iterator[Finding]:
    """A finding when notes that are memory in commit `before` are still in commit `after`, but are not memory there. No
    finding when `before` is "". Raises BadConfig when the settings of `after` cannot be read."""
    if before:
        yield from check_layout(repo, repo.entries(before), repo.entries(after), commit)


def check_layout(
    repo: Repository, before: Sequence[Entry], after: Sequence[Entry], commit: str = ""
) -> Iterator[Finding]:
    """A finding when notes that are memory in the tree `before` are still in the tree `after`, but are not memory
    there. Its path is the file that caused the loss. Raises BadConfig when the settings of `after` cannot be read.

    The finding blocks when the tree before has more notes than other files (`git mem init` adopts such a tree) or has
    our settings. Else it warns, since nobody used the repository as a folder of notes. `commit`: the oid that the
    finding has, "" outside scans of commits.
    """
    old_layout = layout_of((entry.path for entry in before), _paths_in(settings_text(repo, before)))
    paths = [entry.path for entry in after]
    if not old_layout.notes:
        return
    new_layout = layout_of(paths, load(repo.user_config(), settings_text(repo, after)).memory_paths)
    if new_layout.notes:
        return
    lost = _paths_lost([entry for entry in before if _is_note(entry.path, old_layout)], after, new_layout)
    if not lost:
        return
    others = sum(not entry.path.endswith(".md") and not is_hidden_or_foreign(entry.path) for entry in before)
    notes = sum(_is_note(entry.path, old_layout) for entry in before)
    has_settings = any(entry.path in (TRACKED, exceptions.FILE) for entry in before)
    more = ""
    if len(lost) > MAX_NAMED_PATHS:
        more = f" and {len(lost) - MAX_NAMED_PATHS} more"
    words = Message(RULES["layout-narrowed"] + ": {}", f"{', '.join(lost[:MAX_NAMED_PATHS])}{more}")
    had = {entry.path for entry in before}
    cause = next((path for path in paths if path not in had and _begins_memory(path)), TRACKED)
    yield change_finding("layout-narrowed", cause, words, warn=notes <= others and not has_settings, commit=commit)


def _paths_in(settings: str) -> tuple[str, ...]:
    """The globs of memory in a text of settings; () when it cannot be read."""
    try:
        return load((), settings).memory_paths
    except BadConfig:
        return ()


def _paths_lost(notes: Iterable[Entry], after: Sequence[Entry], layout: Layout) -> list[str]:
    """The paths, sorted, at which the tree `after` has the notes (at their old path, or moved) and `layout` does not
    make them memory."""
    files = {entry.path for entry in after if entry.mode not in LINKS}
    outside = {path for path in files if not is_memory(path, layout)}
    outside_by_oid = {entry.oid: entry.path for entry in after if entry.path in outside}
    lost: set[str] = set()
    for note in notes:
        path = note.path
        if path not in files:
            path = outside_by_oid.get(note.oid, "")
        if path in outside:
            lost.add(path)
    return sorted(lost)


def _is_note(path: str, layout: Layout) -> bool:
    """Whether a path is memory under this layout only: its name has no kind of its own, agents do not read it, and it
    is no README."""
    is_other = kind(path) is Kind.OTHER and not agents_read(path) and path.rpartition("/")[2].lower() != README
    return is_other and is_memory(path, layout)


def _begins_memory(path: str) -> bool:
    return kind(path) not in (Kind.OTHER, Kind.INSTRUCTIONS)
