"""Distil old episodes (the summaries of sessions) into one fact of MEMORY.md: a digest with their topics, their
decisions and a source link to each.

The episodes stay in place, marked `promoted: true` in their front matter, and searches leave them out by default. The
digest has only words of the episodes. Nothing is committed; a second run changes nothing.
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
MAX_EPISODES = 50  # of one digest, whose comment has a link to each
MAX_TOPIC_CHARS, MAX_DECISIONS, MAX_DIGEST_CHARS = 250, 5, 600


@dataclass(frozen=True, slots=True)
class Distilled:
    """The result of a run. `text`: the digest, "" if no episode is old enough. `line`: line number of the digest in
    MEMORY.md, 0 in a dry run. `episodes`: paths of the episodes in the digest. `skipped`: (path, reason) of the
    episodes that were left out."""

    text: str
    line: int
    episodes: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Episode:
    """An episode file: path, day of the session, bytes, parsed document."""

    path: str
    day: date
    data: bytes
    document: Document


def distill(repo: Repository, config: Config, *, now: datetime, older_than: int, dry_run: bool = False) -> Distilled:
    """Add one fact of type `episode-digest` to MEMORY.md for the episodes older than `older_than` days, and mark these
    episodes.

    Commits nothing; `dry_run` also writes nothing. At most MAX_EPISODES go into one digest; the others, and episodes
    that cannot be read or that the gate refuses, are skipped with a reason. Raises UsageError for a negative
    `older_than`, Refused if the gate refuses the digest, Locked if another process is writing memory, Changed if one of
    the files changes meanwhile, GitMemError in a bare repository.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files", "run it in a clone")
    if older_than < 0:
        raise UsageError("--older-than is a number of days", "git mem session distill --older-than 30")
    skipped: list[tuple[str, str]] = []
    episodes = _undigested(repo, config, now.date() - timedelta(days=older_than), skipped)
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
    line = entry.fact.line if entry else 0
    return Distilled(text, line, paths, tuple(skipped))


def _undigested(repo: Repository, config: Config, before: date, skipped: list[tuple[str, str]]) -> list[_Episode]:
    """The episodes of days before `before` that are not part of a digest yet, the oldest first. Adds (path, reason) to
    `skipped` for each episode that cannot be read or that the gate refuses."""
    assert repo.root is not None
    episodes = []
    for path in sorted(read_work_tree(repo, config.memory_paths).files):
        if kind(path) is not Kind.SESSION:
            continue
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
    """Whether an episode is part of a digest already: its front matter has `promoted: true` (or yes, or 1)."""
    return str(document.front_matter.get("promoted", "")).lower() in ("true", "yes", "1")


def digest(episodes: list[_Episode]) -> str:
    """The text of a digest, one line: number of sessions, days, topics, and at most MAX_DECISIONS decisions, the newest
    first. `episodes`: at least one, the oldest first.

    A decision that would bring the text above MAX_DIGEST_CHARS is skipped, and shorter ones may follow. The words and
    marks between the decisions are not counted.
    """
    days = episodes[0].day.isoformat()
    if episodes[0].day != episodes[-1].day:
        days = f"{days} to {episodes[-1].day.isoformat()}"
    text = f"{counted(len(episodes), 'session')}, {days}"
    if about := _digest_topics(episodes):
        text = f"{text}: {', '.join(about)}"
    decided: list[str] = []
    for episode in reversed(episodes):
        for line in _section(episode.document, "decisions"):
            if line not in decided and len(text) + sum(map(len, decided)) + len(line) < MAX_DIGEST_CHARS:
                decided.append(line)
    if decided:
        text = f"{text}. Decided: {'; '.join(line.rstrip('.') for line in decided[:MAX_DECISIONS])}"
    return normalise(text)


def _digest_topics(episodes: list[_Episode]) -> list[str]:
    """The topics of all episodes: the first topic of each episode, then the second of each, so that a search for some
    topic finds every episode.

    Topics that differ only in case are one, as first written. Joined by ", " they have at most MAX_TOPIC_CHARS: a topic
    that would exceed this is skipped, and shorter ones may follow. Beyond the limit an episode may have no topic here.
    """
    by_episode = [topics(_topic_lines(episode.document)) for episode in episodes]
    chosen: dict[str, str] = {}
    for row in zip_longest(*by_episode):
        for word in row:
            if word and sum(map(len, chosen)) + 2 * len(chosen) + len(word) <= MAX_TOPIC_CHARS:
                chosen.setdefault(word.casefold(), word)
    return list(chosen.values())


def _topic_lines(document: Document) -> list[str]:
    """The texts from which an episode's topics come: its section "Topics", or all its statements without one."""
    return _section(document, "topics") or [
        statement.text for statement in document.statements if statement.has_content
    ]


def _section(document: Document, name: str) -> list[str]:
    """The texts of the statements directly below the heading `name` (lower case; headings are compared without
    case)."""
    below = (statement for statement in document.statements if statement.has_content and statement.above)
    return [statement.text for statement in below if statement.above[-1].casefold() == name]


def marked(data: bytes) -> bytes:
    """The bytes of an episode with `promoted: true` in its front matter; front matter is added if there is none. All
    other bytes stay."""
    end = b"\r\n" if b"\r\n" in data[:4096] else b"\n"
    lines = data.split(b"\n")
    if lines[0].rstrip() == b"---":
        for index, line in enumerate(lines[1:], 1):
            if line.rstrip() in (b"---", b"..."):
                kept = [row for row in lines[1:index] if not row.startswith(b"promoted:")]
                return b"\n".join([lines[0], *kept, b"promoted: true" + end[:-1], *lines[index:]])
    return end.join([b"---", b"promoted: true", b"---", b""]) + data


def _span(repo: Repository, path: str, data: bytes) -> Span:
    """The span of an episode's text below its front matter, in the blob of `data`."""
    document = parse(data, path)
    last = len(document.lines)
    while last > document.front + 1 and not document.lines[last - 1].strip():
        last -= 1
    return Span(path, document.front + 1, max(last, document.front + 1), repo.hash_blob(data))
