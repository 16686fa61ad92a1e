"""Writing memory by hand: where a line belongs, and how it is appended. The flow behind `git mem add`.

Appends under a lock, through the gate, with an atomic replace; never rewrites a line that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from gitmem.config import Config
from gitmem.errors import GitMemError, NotSigned, Refused, UsageError
from gitmem.git.opening import Repository
from gitmem.git.transaction import CommitDraft, Draft, Reading, commit, is_committed, write
from gitmem.git.worktree import relative
from gitmem.memory import facts
from gitmem.memory.fact import Meta, fact_id, normalise, render_comment
from gitmem.memory.files import is_memory_path
from gitmem.memory.retention import with_until
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, daily_glob, daily_path, is_daily
from gitmem.paths import kind as kind_of

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask, Redaction
    from gitmem.memory.rivals import Rival

MAX_LINE = 20_000  # characters of a line that is added: a long paragraph has a tenth of it
# Types that stay true until somebody changes them; the others are what happened today.
LASTING = frozenset(
    ("preference", "constraint", "decision", "deadline", "profile", "rule", "goal", "policy", "exception", "fact")
)
FACT_TYPES = ("fact", *sorted(LASTING - {"fact"}))  # of which a form of a page offers one
LESSONS = {"lesson": "AGENTS.md"}


@dataclass(frozen=True, slots=True)
class NewLine:
    """A line of memory to append, as its writer gives it.

    `kind` is its type and `to` a place, as `place` reads them; `agent` whose daily log ("": the configured one);
    `origin` whose words; `topic` the heading of the log's section; `more` further keys of its comment.
    """

    text: str
    kind: str = ""
    to: str = "auto"
    agent: str = ""
    origin: str = ""
    tags: tuple[str, ...] = ()
    topic: str = ""
    more: Meta = ()


@dataclass(frozen=True, slots=True)
class Added:
    """Where a line went: the first line of what was added, 1-based; `masks`: what the gate masked of what was said;
    `differs`: the facts that it repeats, replaces, ends or conflicts with."""

    path: str
    line: int
    text: str
    masks: tuple[Mask, ...] = ()
    differs: tuple[Rival, ...] = ()


def place(to: str, kind: str, text: str, day: str) -> str:
    """The file `--to` names: daily, memory, a path, or `auto` by type (lasting facts to MEMORY.md, lessons to
    AGENTS.md or, where they speak of a command, TOOLS.md; the rest to the daily log `day`)."""
    if to == "daily":
        return day
    if to == "memory":
        return "MEMORY.md"
    if to != "auto":
        return to
    if kind in LESSONS:
        if "`" in text:
            return "TOOLS.md"
        return LESSONS[kind]
    if kind in LASTING:
        return "MEMORY.md"
    return day


def log_path(config: Config, day: date, agent: str = "") -> str:
    """The daily log of a day: an agent's own below memory/, else where adopted logs lie (the first pattern of
    `[memory] daily` that says the whole path), else below memory/."""
    agent = agent or config.agent
    pattern = next((pattern for pattern in config.memory_daily if "*" not in pattern), "")
    if agent or not pattern:
        return daily_path(day, agent)
    return daily_glob(pattern, day)


def _ended_as(old: bytes, new: bytes) -> bytes:
    """New bytes of a file with the line ends of the old ones, where all of these end in CR LF."""
    ends = old.count(b"\r\n")
    if not ends or ends != old.count(b"\n"):
        return new
    return new.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def add(repo: Repository, config: Config, new_line: NewLine, *, now: datetime) -> Added:
    """Append a line and return where it stands.

    Raises UsageError for an empty text, Refused when the gate says no (unless `mem.onSecret` is `mask`),
    OutsideRepository for a path that leaves the repository, Locked when another writer holds on.
    """
    return _compared(repo, write(repo, addition(repo, config, new_line, now=now)), now)


def _compared(repo: Repository, added: Added, now: datetime) -> Added:
    """What was added, with what it is to the facts that are there."""
    from gitmem.memory.new_statements import at_lines

    return replace(added, differs=at_lines(repo, [(added.path, added.line)], now.date()))


def add_and_commit(
    repo: Repository, config: Config, new_line: NewLine, message_of: Callable[[str], str], *, now: datetime
) -> tuple[Added, str, bool]:
    """Append a line and commit its file with `message_of` its text: where it stands, the commit ("" where the line was
    there already), and whether the commit has other edits of the file, which were not committed.

    Raises as `add`, and what `transaction.commit` raises. Where it is NotSigned the line stands there, not committed.
    """
    plan = committed_addition(repo, config, new_line, message_of, now=now)
    try:
        (added, others), made = commit(repo, plan)
    except NotSigned as error:
        kept = write(repo, addition(repo, config, new_line, now=now))
        message = f"{error.message}; the line stands in {kept.path}:{kept.line}, not committed"
        raise NotSigned(message, error.hint) from None
    return _compared(repo, added, now), made, others


def committed_addition(
    repo: Repository, config: Config, new_line: NewLine, message_of: Callable[[str], str], *, now: datetime
) -> Callable[[Reading], CommitDraft[tuple[Added, bool]]]:
    """The plan of `add_and_commit`, for a commit or a preview: where the line stands, and whether its file has other
    edits that are not committed. Raises as `addition`."""
    plan_of = addition(repo, config, new_line, now=now)

    def plan(reading: Reading) -> CommitDraft[tuple[Added, bool]]:
        draft = plan_of(reading)
        others = any(
            data is not None and not is_committed(repo, path, data)
            for path, data in ((path, reading.raw(path)) for path in draft.contents)
        )
        return CommitDraft(draft.contents, (draft.result, others), message_of(draft.result.text))

    return plan


def addition(
    repo: Repository, config: Config, new_line: NewLine, *, now: datetime
) -> Callable[[Reading], Draft[Added]]:
    """The plan of adding a line, for `transaction.write` or a commit; no contents where the line is there already.

    Raises as `add`, but for the lock.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files to write", "run it in a clone")
    ensure_short(new_line.text)
    text = normalise(new_line.text)
    if not text:
        raise UsageError("there is nothing to add", 'git mem add "what happened"')
    path = relative(repo.root, place(new_line.to, new_line.kind, text, log_path(config, now.date(), new_line.agent)))
    if not path.endswith(".md"):
        raise UsageError(Message("'{}' is not a Markdown file", path), "memory files end in .md")
    if not is_memory_path(repo, config, path):
        raise UsageError(
            Message("'{}' is no file of memory", path), "name one below memory/; mem.memoryPaths adds files"
        )
    own = [("type", new_line.kind), ("origin", new_line.origin), ("tags", ",".join(new_line.tags))]
    meta: Meta = (*((key, value) for key, value in own if value), *new_line.more)
    if kind_of(path) is Kind.MEMORY and not is_daily(path, config.memory_daily):
        meta = with_until(meta, config.retention, now.date())
    gated = _through_the_gate(text, meta, path, config)
    text = gated.text

    def plan(reading: Reading) -> Draft[Added]:
        old = reading.read(path) or b""
        match Kind.DAILY if is_daily(path, config.memory_daily) else kind_of(path):
            case Kind.MEMORY:
                new, line = _with_fact(old, text, meta)
            case Kind.DAILY:
                new, line = append_entry(old.decode("utf-8", "surrogateescape"), text, meta, now, new_line.topic)
            case _:
                new, line = append_bullet(old.decode("utf-8", "surrogateescape"), text, meta)
        data = _ended_as(old, new.encode("utf-8", "surrogateescape"))
        ensure_readable(path, data)
        return Draft({} if data == old else {path: data}, Added(path, line, text, gated.masks))

    return plan


@dataclass(frozen=True, slots=True)
class Entry:
    """A line for the daily log, with what stands in its comment, and when it was said (None: now)."""

    text: str
    kind: str = ""
    origin: str = ""
    more: Meta = ()
    at: datetime | None = None


def log(
    repo: Repository, config: Config, entries: Sequence[Entry], *, now: datetime, agent: str = "", topic: str = ""
) -> list[Added | Refused]:
    """Append lines to the daily logs of their own days in one write: for each where it stands, or why the gate refused
    it.

    Raises as `add` does for what concerns a log itself.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files to write", "run it in a clone")
    root = repo.root
    times = [entry.at or now for entry in entries]
    paths = [relative(root, daily_path(when.date(), agent or config.agent)) for when in times]

    def plan(reading: Reading) -> Draft[list[Added | Refused]]:
        logs: dict[str, str] = {}
        done: list[Added | Refused] = []
        for entry, when, path in zip(entries, times, paths, strict=True):
            try:
                ensure_short(entry.text)
                gated, meta = gated_entry(entry, path, config)
            except UsageError as error:
                done.append(Refused(error.message, error.hint))
                continue
            except Refused as error:
                done.append(error)
                continue
            if path in logs:
                old = logs[path]
            else:
                old = (reading.read(path) or b"").decode("utf-8", "surrogateescape")
            logs[path], line = append_entry(old, gated.text, meta, when, topic)
            done.append(Added(path, line, gated.text, gated.masks))
        contents = {path: new.encode("utf-8", "surrogateescape") for path, new in logs.items()}
        for path, data in contents.items():
            ensure_readable(path, data)
        return Draft(contents, done)

    return write(repo, plan)


def gated_entry(entry: Entry, path: str, config: Config) -> tuple[Redaction, Meta]:
    """The text, with what was masked of it, and the comment's keys of a line as they may stand in the log `path`.

    Raises Refused.
    """
    own = [("type", entry.kind), ("origin", entry.origin)]
    meta: Meta = (*((key, value) for key, value in own if value), *entry.more)
    return _through_the_gate(normalise(entry.text), meta, path, config), meta


def ensure_short(text: str) -> None:
    """Raise UsageError for a line that is longer than MAX_LINE."""
    if len(text) > MAX_LINE:
        raise UsageError(
            Message("a line of memory has at most {} characters, and this one {}", f"{MAX_LINE:,}", f"{len(text):,}"),
            "write a note below memory/, or several lines",
        )


def ensure_readable(path: str, data: bytes) -> None:
    """Raise GitMemError where a file would become larger than what is read of memory."""
    if len(data) > MAX_MEMORY_FILE_BYTES:
        raise GitMemError(
            Message("'{}' would be larger than {} MiB, which nobody reads", path, MAX_MEMORY_FILE_BYTES >> 20),
            "begin another file",
        )


def _with_fact(old: bytes, text: str, meta: Meta) -> tuple[str, int]:
    memory = facts.parse(old)
    known = memory.find(fact_id(text))
    if known is None:
        memory = facts.add(memory, text, meta)
        known = facts.parse(memory.data()).find(fact_id(text))
    assert known is not None
    return memory.data().decode("utf-8", "surrogateescape"), known.fact.line


def _through_the_gate(text: str, meta: Meta, path: str, config: Config) -> Redaction:
    """The text, masked where it must be, as it may stand before its comment in `path`. Raises Refused.

    It is read alone, since behind a comment a rule that reads up to the end of a line finds less, and as the line that
    will stand there, since that is what the hook reads.
    """
    from gitmem.gate.redaction import refuse_or_mask

    gated = refuse_or_mask(text, path, config)
    if meta:
        refuse_or_mask(f"- {gated.text} {render_comment(meta)}", path, config)
    return gated


def append_entry(old: str, text: str, meta: Meta, now: datetime, topic: str = "") -> tuple[str, int]:
    """A daily log with one more bullet: under its last section when that has this minute and topic, else a new one."""
    heading = f"## {now:%H:%M}" + (f" - {topic}" if topic else "")
    if old.strip():
        new = old
    else:
        new = f"# {now.date().isoformat()}\n"
    if not new.endswith("\n"):
        new = new + "\n"
    last = next((line for line in reversed(new.splitlines()) if line.startswith("#")), "")
    if last != heading:
        new += f"\n{heading}\n\n"
    return _bullet(new, text, meta)


def append_bullet(old: str, text: str, meta: Meta) -> tuple[str, int]:
    """A file with one more bullet at its end: under `## Lessons` when it closes with that section."""
    if not old or old.endswith("\n"):
        new = old
    else:
        new = old + "\n"
    stripped = new.rstrip("\n")
    last = stripped.rsplit("\n", 1)[-1]
    if stripped and not last.lstrip().startswith(("-", "*", "+")):
        new = stripped + "\n\n"
    elif stripped:
        new = stripped + "\n"
    return _bullet(new, text, meta)


def _bullet(new: str, text: str, meta: Meta) -> tuple[str, int]:
    comment = render_comment(meta)
    new += f"- {text}" + (f" {comment}" if comment else "") + "\n"
    return new, new.count("\n")


def as_value(added: Added) -> dict[str, object]:
    """The JSON of docs/json.md, "add"."""
    from gitmem.gate.redaction import mask_counts
    from gitmem.memory.rivals import as_value as rival_value

    return {
        "path": added.path, "line": added.line, "text": added.text, "masked": mask_counts(added.masks),
        "differs": [rival_value(rival) for rival in added.differs],
    }  # fmt: skip
