"""The rule about a change after which Markdown that was memory by lying in a folder of notes is none any more.

A folder without MEMORY.md and memory/ has all of its Markdown as memory. The first file of memory ends that, however
empty: what .gitmem.toml does not name is neither searched nor scanned from then on. Reads names and settings, no notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitmem.config import TRACKED, load
from gitmem.errors import BadConfig
from gitmem.gate import exceptions
from gitmem.gate.changes.rules import RULES, finding
from gitmem.gate.changes.text_rules import settings_text
from gitmem.gate.detectors.finding import Finding
from gitmem.git.objects import LINKS, Entry
from gitmem.git.repository import Repository
from gitmem.messages import Message
from gitmem.paths import Kind, Layout, agents_read, aside, is_memory, kind, layout_of

MAX_NAMED_PATHS = 3  # paths that a finding names
README = "readme.md"  # says what a project is, and is nobody's note


def may_narrow(layouts: Iterable[Layout]) -> bool:
    """Whether these layouts, of a policy that unites before and after, leave room for such a loss."""
    return len({layout.notes for layout in layouts}) > 1


def layout_loss(repo: Repository, before: str, after: str, commit: str = "") -> Iterator[Finding]:
    """What is memory in commit `before` ("" for none), still there in `after`, and memory no more."""
    if before:
        yield from check_layout(repo, repo.entries(before), repo.entries(after), commit)


def staged_layout_loss(repo: Repository, head: str) -> Iterator[Finding]:
    """As `layout_loss`, of what is staged against HEAD."""
    yield from check_layout(repo, repo.entries(head), repo.staged(), "")


def check_layout(repo: Repository, before: Sequence[Entry], after: Sequence[Entry], commit: str) -> Iterator[Finding]:
    """The finding about two trees, at the file that ended the notes, where that can be told.

    It blocks where the first tree holds more notes than other files (`git mem init` adopts those) or settings of ours;
    in any other, which nobody took for a folder of notes, it warns.
    """
    was = layout_of((entry.path for entry in before), _paths_in(settings_text(repo, before)))
    paths = [entry.path for entry in after]
    if not was.notes:
        return
    now = layout_of(paths, load(repo.user_config(), settings_text(repo, after)).memory_paths)
    if now.notes:
        return
    lost = _paths_lost([entry for entry in before if _is_note(entry.path, was)], after, now)
    if not lost:
        return
    others = sum(not entry.path.endswith(".md") and not aside(entry.path) for entry in before)
    notes = sum(_is_note(entry.path, was) for entry in before)
    ours = any(entry.path in (TRACKED, exceptions.FILE) for entry in before)
    more = ""
    if len(lost) > MAX_NAMED_PATHS:
        more = f" and {len(lost) - MAX_NAMED_PATHS} more"
    words = Message(RULES["layout-narrowed"] + ": {}", f"{', '.join(lost[:MAX_NAMED_PATHS])}{more}")
    had = {entry.path for entry in before}
    cause = next((path for path in paths if path not in had and _begins_memory(path)), TRACKED)
    yield finding("layout-narrowed", cause, words, warn=notes <= others and not ours, commit=commit)


def _paths_in(settings: str) -> tuple[str, ...]:
    """The globs of memory in a text of settings, none in one that cannot be read."""
    try:
        return load((), settings).memory_paths
    except BadConfig:
        return ()


def _paths_lost(notes: Iterable[Entry], after: Sequence[Entry], now: Layout) -> list[str]:
    """Where the notes are, in place or moved as they are, that `now` does not take."""
    there = {entry.path for entry in after if entry.mode not in LINKS}
    left = {path for path in there if not is_memory(path, now)}
    moved = {entry.oid: entry.path for entry in after if entry.path in left}
    found = (note.path if note.path in there else moved.get(note.oid, "") for note in notes)
    return sorted({path for path in found if path in left})


def _is_note(path: str, layout: Layout) -> bool:
    own = kind(path) is Kind.OTHER and not agents_read(path) and path.rpartition("/")[2].lower() != README
    return own and is_memory(path, layout)


def _begins_memory(path: str) -> bool:
    return kind(path) not in (Kind.OTHER, Kind.INSTRUCTIONS)
