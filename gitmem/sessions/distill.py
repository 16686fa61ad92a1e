"""Old episodes become one long-term fact: what they were about and decided, with a source link to each.

The episodes stay where they are, marked `promoted: true` in their front matter, and later searches leave them out
unless asked. Extractive: the digest says only what the episodes say. Nothing is committed; twice is the same as once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import zip_longest

from gitmem.config import Config
from gitmem.errors import GitMemError, OutsideRepository, Refused, UsageError
from gitmem.gate.redaction import refuse_or_mask_text
from gitmem.git.objects import Span
from gitmem.git.opening import Repository
from gitmem.git.transaction import Reading, write_over
from gitmem.git.worktree import read_bytes
from gitmem.memory import facts
from gitmem.memory.document import Document, parse
from gitmem.memory.fact import fact_id, normalise, render_span
from gitmem.memory.retention import with_until
from gitmem.memory.snapshot import read_work_tree
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind, log_date
from gitmem.plural import counted
from gitmem.search.keywords import topics

MEMORY = "MEMORY.md"
MAX_EPISODES = 50  # episodes of one digest: its comment holds a link to each
TOPICS, DECIDED, CHARACTERS = 250, 5, 600  # how much a digest says: characters, decisions, characters in all


@dataclass(frozen=True, slots=True)
class Distilled:
    """The digest and where it stands (line 0 in a dry run, text "" when nothing is old enough), and what was left."""

    text: str
    line: int
    episodes: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Episode:
    path: str
    day: date
    data: bytes
    document: Document


def distill(repo: Repository, config: Config, *, now: datetime, older_than: int, dry_run: bool = False) -> Distilled:
    """Make one `episode-digest` fact of MEMORY.md of the episodes older than `older_than` days, and mark those.

    An episode that the gate refuses is left as it is, with the reason. Raises UsageError, Refused, Locked.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files", "run it in a clone")
    if older_than < 0:
        raise UsageError("--older-than is a number of days", "git mem session distill --older-than 30")
    skipped: list[tuple[str, str]] = []
    episodes = _old(repo, config, now.date() - timedelta(days=older_than), skipped)
    skipped += [(episode.path, "more than one digest holds; run it again") for episode in episodes[MAX_EPISODES:]]
    episodes = episodes[:MAX_EPISODES]
    if not episodes:
        return Distilled("", 0, (), tuple(skipped))
    text = refuse_or_mask_text(digest(episodes), MEMORY, config)
    paths = tuple(episode.path for episode in episodes)
    if dry_run:
        return Distilled(text, 0, paths, tuple(skipped))
    after = {episode.path: marked(episode.data) for episode in episodes}
    reading = Reading(repo)
    memory = facts.parse(reading.read(MEMORY) or b"")
    if memory.find(fact_id(text)) is None:
        links = [("src", render_span(_span(repo, path, data))) for path, data in after.items()]
        meta = [("type", "episode-digest"), ("from", episodes[0].day.isoformat()), *links, ("origin", "agent")]
        memory = facts.add(memory, text, with_until(tuple(meta), config.retention, now.date()))
    entry = facts.parse(memory.data()).find(fact_id(text))
    noted = {**reading.noted, **{episode.path: episode.data for episode in episodes}}
    write_over(repo, noted, {MEMORY: memory.data(), **after})
    return Distilled(text, entry.fact.line if entry else 0, paths, tuple(skipped))


def _old(repo: Repository, config: Config, before: date, skipped: list[tuple[str, str]]) -> list[_Episode]:
    """The episodes of days before `before` that are in no digest yet, oldest first."""
    assert repo.root is not None
    episodes = []
    for path in sorted(read_work_tree(repo, config.memory_paths).files):
        day = None
        if kind(path) is Kind.SESSION:
            day = log_date(path)
        if day is None or day >= before:
            continue
        try:
            data = read_bytes(repo.root, path, MAX_MEMORY_FILE_BYTES)
        except (OSError, OutsideRepository):
            skipped.append((path, "cannot be read"))
            continue
        document = parse(data, path)
        if is_promoted(document):
            continue
        try:
            refuse_or_mask_text(data.decode("utf-8", "replace"), path, config)
        except Refused as error:
            skipped.append((path, error.message))
            continue
        episodes.append(_Episode(path, day, data, document))
    return sorted(episodes, key=lambda episode: (episode.day, episode.path))


def is_promoted(document: Document) -> bool:
    """Whether an episode is in a digest already."""
    return str(document.front_matter.get("promoted", "")).lower() in ("true", "yes", "1")


def digest(episodes: list[_Episode]) -> str:
    """One line: the days, how many sessions, what they were about, what was decided (the newest decisions first)."""
    first, last = episodes[0].day.isoformat(), episodes[-1].day.isoformat()
    if first == last:
        days = first
    else:
        days = f"{first} to {last}"
    about = _about(episodes)
    count = counted(len(episodes), "session")
    text = f"{count}, {days}" + (f": {', '.join(about)}" if about else "")
    decided: list[str] = []
    for episode in reversed(episodes):
        for line in _section(episode.document, "decisions"):
            if line not in decided and len(text) + sum(map(len, decided)) + len(line) < CHARACTERS:
                decided.append(line)
    return normalise(text + (f". Decided: {'; '.join(d.rstrip('.') for d in decided[:DECIDED])}" if decided else ""))


def _about(episodes: list[_Episode]) -> list[str]:
    """Topics of all episodes in turn, each one's first before any one's second: each can be found by its own."""
    own = [topics(_topic_lines(episode.document)) for episode in episodes]
    chosen: dict[str, str] = {}
    for row in zip_longest(*own):
        for word in row:
            if word and sum(map(len, chosen)) + 2 * len(chosen) + len(word) <= TOPICS:
                chosen.setdefault(word.casefold(), word)
    return list(chosen.values())


def _topic_lines(document: Document) -> list[str]:
    """The texts an episode's topics come from: its own topics where it names them, else all it says."""
    return _section(document, "topics") or [statement.text for statement in document.statements if statement.says]


def _section(document: Document, name: str) -> list[str]:
    """The texts of the statements below a heading."""
    below = (statement for statement in document.statements if statement.says and statement.above)
    return [statement.text for statement in below if statement.above[-1].casefold() == name]


def marked(data: bytes) -> bytes:
    """An episode with `promoted: true` in its front matter; every other byte as it was."""
    end = b"\n"
    if b"\r\n" in data[:4096]:
        end = b"\r\n"
    lines = data.split(b"\n")
    if lines[0].rstrip() == b"---":
        for at, line in enumerate(lines[1:], 1):
            if line.rstrip() in (b"---", b"..."):
                kept = [row for row in lines[1:at] if not row.startswith(b"promoted:")]
                return b"\n".join([lines[0], *kept, b"promoted: true" + end[:-1], *lines[at:]])
    return end.join([b"---", b"promoted: true", b"---", b""]) + data


def _span(repo: Repository, path: str, data: bytes) -> Span:
    """The whole text of an episode as it will be committed."""
    document = parse(data, path)
    last = len(document.lines)
    while last > document.front + 1 and not document.lines[last - 1].strip():
        last -= 1
    return Span(path, document.front + 1, max(last, document.front + 1), repo.hash_blob(data))
