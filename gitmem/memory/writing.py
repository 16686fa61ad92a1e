"""Appends a line to a memory file, for `git mem add`: chooses the file, scans the line, and writes or commits it.

Every line passes the gate. The write holds a lock and replaces the file atomically. No existing line is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from gitmem.config import Config
from gitmem.daily_logs import is_daily, log_path
from gitmem.errors import GitMemError, NotSigned, Refused, UsageError
from gitmem.git.git_index import is_committed
from gitmem.git.opening import Repository
from gitmem.git.transaction import CommitDraft, Draft, Reading, commit, write
from gitmem.git.worktree import relative
from gitmem.json_values import json_keys
from gitmem.memory import facts
from gitmem.memory.fact import ABOUT, Fact, Meta, fact_id, normalise, render_comment
from gitmem.memory.facts import Memory
from gitmem.memory.files import is_memory_path
from gitmem.memory.retention import with_until
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind
from gitmem.paths import kind as kind_of

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask, Redaction
    from gitmem.memory.rivals import Rival

MAX_LINE = 20_000  # characters of a new line; a long paragraph has about 2,000
# Types of statements that stay true until a person changes them. All other types are events of a day.
LASTING = frozenset(
    ("preference", "constraint", "decision", "deadline", "profile", "rule", "goal", "policy", "exception", "fact")
)
FACT_TYPES = ("fact", *sorted(LASTING - {"fact"}))  # the types that a form of a page offers


@dataclass(frozen=True, slots=True)
class NewLine:
    """A line to append to memory.

    `kind`: its type, "" without one. `to`: the file: "auto", "daily", "memory" or a path (`target_path`). `agent`: the
    agent whose daily log is used, "" for the configured one. `origin`: its author (one of ORIGINS), "" if unknown.
    `topic`: what the line is about, "" without one: in a daily log the topic in the heading of its section, in any
    other file the value of ABOUT in its comment. `more`: further pairs for its comment.
    """

    text: str
    kind: str = ""
    to: str = "auto"
    agent: str = ""
    origin: str = ""
    tags: tuple[str, ...] = ()
    topic: str = ""
    more: Meta = ()


@json_keys("path line text masked differs ignored")
@dataclass(frozen=True, slots=True)
class Added:
    """A line that was appended.

    `path`, `line`: its file and its first line, from 1. `text`: its text as written. `masks`: the secrets and personal
    data that the gate masked in it. `differs`: its rivals: facts that it repeats, replaces, ends or conflicts with.
    `ignored`: Git ignores the file, so the line is not searched and `git add` leaves it out.

    JSON: `line`: the first line that was written. `text`: the text that was written. `masked`: how many places the
    gate masked, by rule. `differs`: the facts of MEMORY.md that the new statement repeats, replaces, ends or
    conflicts with; all of them stay. `ignored`: whether Git ignores the file: then the line is not searched, and
    `git add` leaves it out.
    """

    path: str
    line: int
    text: str
    masks: tuple[Mask, ...] = ()
    differs: tuple[Rival, ...] = ()
    ignored: bool = False

    @property
    def masked(self) -> dict[str, int]:
        """Rule -> number of values that the gate masked."""
        from gitmem.gate.redaction import mask_counts

        return mask_counts(self.masks)


def target_path(to: str, kind: str, text: str, daily_path: str) -> str:
    """The path of the file for a new line. `to`: "daily", "memory", a path, or "auto". `daily_path`: the path of the
    daily log.

    "auto" chooses by type: MEMORY.md for the types of LASTING; AGENTS.md for a lesson, or TOOLS.md if its text has a
    backtick; the daily log for all others.
    """
    if to == "daily":
        return daily_path
    if to == "memory":
        return "MEMORY.md"
    if to != "auto":
        return to
    if kind == "lesson":
        if "`" in text:
            return "TOOLS.md"
        return "AGENTS.md"
    if kind in LASTING:
        return "MEMORY.md"
    return daily_path


def _ended_as(old: bytes, new: bytes) -> bytes:
    """The bytes `new` with CR LF line ends if all lines of `old` end with CR LF; else `new` as it is."""
    crlf_count = old.count(b"\r\n")
    if not crlf_count or crlf_count != old.count(b"\n"):
        return new
    return new.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def add(repo: Repository, config: Config, new_line: NewLine, *, now: datetime) -> Added:
    """Append a line and return where it is. For a fact that MEMORY.md has already nothing is written: the place is that
    of the old one.

    Raises GitMemError in a bare repository or if the file would become larger than MAX_MEMORY_FILE_BYTES, UsageError
    for an empty or too long text or a path that is not memory, Refused if the gate refuses the line, the agent's name
    or the name of a new file, OutsideRepository for a path that leaves the repository, and Locked if another process
    keeps the lock too long.
    """
    return _compared(repo, write(repo, plan_of_addition(repo, config, new_line, now=now)), now)


def _compared(repo: Repository, added: Added, now: datetime) -> Added:
    """`added` with its rivals among the facts of MEMORY.md, and whether Git ignores its file."""
    from gitmem.memory.new_statements import rivals_at_lines

    rivals = rivals_at_lines(repo, [(added.path, added.line)], now.date())
    return replace(added, differs=rivals, ignored=bool(repo.ignored([added.path])))


def add_and_commit(
    repo: Repository, config: Config, new_line: NewLine, message_of: Callable[[str], str], *, now: datetime
) -> tuple[Added, str, bool]:
    """Append a line and commit its file, with the message that `message_of` makes from its text.

    Returns the added line, the oid of the commit ("" if the line was there already), and whether the commit also
    contains other edits of the file that had not been committed. Raises what `add` raises, Changed and GitFailed if the
    commit fails (nothing is written then), and NotSigned: the line is then in the file, but not committed.
    """
    plan = plan_of_committed_addition(repo, config, new_line, message_of, now=now)
    try:
        (added, has_other_edits), oid = commit(repo, plan)
    except NotSigned as error:
        added = write(repo, plan_of_addition(repo, config, new_line, now=now))
        message = f"{error.message}; the line stands in {added.path}:{added.line}, not committed"
        raise NotSigned(message, error.hint) from None
    return _compared(repo, added, now), oid, has_other_edits


def plan_of_committed_addition(
    repo: Repository, config: Config, new_line: NewLine, message_of: Callable[[str], str], *, now: datetime
) -> Callable[[Reading], CommitDraft[tuple[Added, bool]]]:
    """The plan of `add_and_commit`, for a commit or a preview. The plan's result is (added line, whether the file has
    other edits that are not committed). If the line is there already, its draft has no files.

    Raises what `plan_of_addition` raises.
    """
    plan_of = plan_of_addition(repo, config, new_line, now=now)

    def plan(reading: Reading) -> CommitDraft[tuple[Added, bool]]:
        draft = plan_of(reading)
        before = {path: reading.raw(path) for path in draft.contents}
        has_other_edits = any(data is not None and not is_committed(repo, path, data) for path, data in before.items())
        return CommitDraft(draft.contents, (draft.result, has_other_edits), message_of(draft.result.text))

    return plan


def plan_of_addition(
    repo: Repository, config: Config, new_line: NewLine, *, now: datetime
) -> Callable[[Reading], Draft[Added]]:
    """The plan that appends a line, for `transaction.write` or a commit. If the line is there already, the draft has no
    files.

    Raises what `add` raises, except Locked; the plan itself raises only if the file would become too large, cannot be
    read, or is a new file with a name that the gate would block.
    """
    from gitmem.gate.file_names import ensure_new_name_passes
    from gitmem.gate.redaction import refuse_or_mask

    if repo.root is None:
        raise GitMemError("a bare repository has no memory files to write", "run it in a clone")
    ensure_short(new_line.text)
    ensure_agent_passes(new_line.agent or config.agent, config)
    text = normalise(new_line.text)
    if not text:
        raise UsageError("there is nothing to add", 'git mem add "what happened"')
    daily_path = log_path(now.date(), new_line.agent or config.agent, config.memory_daily)
    path = relative(repo.root, target_path(new_line.to, new_line.kind, text, daily_path))
    _ensure_memory_path(repo, config, path)
    in_log = is_daily(path, config.memory_daily)
    is_fact = kind_of(path) is Kind.MEMORY and not in_log
    topic, *tags = [refuse_or_mask(label, path, config) for label in (new_line.topic.strip(), *new_line.tags)]
    pairs = [("type", new_line.kind), ("origin", new_line.origin), ("tags", ",".join(tag.text for tag in tags))]
    if not in_log:  # no heading of a section can have the topic
        pairs.insert(1, (ABOUT, topic.text))
    meta: Meta = (*((key, value) for key, value in pairs if value), *new_line.more)
    if is_fact:
        meta = with_until(meta, config.retention, now.date())
    gated = _through_the_gate(text, meta, path, config)
    text = gated.text
    if is_fact:
        text = one_line(text)
    ensure_one_statement(text)
    masks = tuple(mask for redaction in (gated, topic, *tags) for mask in redaction.masks)

    def plan(reading: Reading) -> Draft[Added]:
        old_data = reading.read(path) or b""
        if reading.raw(path) is None:
            ensure_new_name_passes(path)
        match Kind.DAILY if in_log else kind_of(path):
            case Kind.MEMORY:
                new_text, line = _with_fact(old_data, text, meta)
            case Kind.DAILY:
                new_text, line = append_entry(old_data.decode("utf-8", "surrogateescape"), text, meta, now, topic.text)
            case _:
                new_text, line = append_bullet(old_data.decode("utf-8", "surrogateescape"), text, meta)
        data = _ended_as(old_data, new_text.encode("utf-8", "surrogateescape"))
        ensure_readable(path, data)
        added = Added(path, line, text, masks)
        if data == old_data:
            return Draft({}, added)
        return Draft({path: data}, added)

    return plan


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A line for a daily log.

    `kind`, `origin`, `more`: its type, its origin and further pairs for its comment. `at`: when it was said, None for
    now.
    """

    text: str
    kind: str = ""
    origin: str = ""
    more: Meta = ()
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class GatedEntry:
    """A line for a daily log that passed the gate. `path`: of the log. `at`: when it was said. `redaction`: its text
    with secrets and personal data masked. `meta`: the pairs for its comment."""

    path: str
    at: datetime
    redaction: Redaction
    meta: Meta


def gate_for_logs(
    repo: Repository, config: Config, entries: Sequence[LogEntry], *, now: datetime, agent: str = ""
) -> list[GatedEntry | Refused]:
    """Scan lines for the daily logs of their days, in order: each line as `append_to_logs` takes it, or the Refused of
    a line that the gate or the length limit rejected. Writes nothing. Raises GitMemError in a bare repository,
    OutsideRepository, and Refused if the gate refuses the agent's name."""
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files to write", "run it in a clone")
    if entries:
        ensure_agent_passes(agent or config.agent, config)
    gated: list[GatedEntry | Refused] = []
    for entry in entries:
        time = entry.at or now
        path = relative(repo.root, log_path(time.date(), agent or config.agent, config.memory_daily))
        try:
            ensure_short(entry.text)
            gated.append(GatedEntry(path, time, *gated_entry(entry, path, config)))
        except UsageError as error:
            gated.append(Refused(error.message, error.hint))
        except Refused as error:
            gated.append(error)
    return gated


def append_to_logs(repo: Repository, entries: Sequence[GatedEntry], *, topic: str = "") -> list[Added]:
    """Append lines to their daily logs in one write, in the order of `entries`; nothing is committed. Returns the added
    line of each entry, without `differs` and `ignored`.

    `topic`: for the headings; it is not scanned. Raises GitMemError in a bare repository, if a log would become too
    large and if one cannot be read (`Reading.read`), Changed, and Locked.
    """

    def plan(reading: Reading) -> Draft[list[Added]]:
        logs: dict[str, str] = {}
        added: list[Added] = []
        for entry in entries:
            path, gated = entry.path, entry.redaction
            if path not in logs:
                logs[path] = (reading.read(path) or b"").decode("utf-8", "surrogateescape")
            logs[path], line = append_entry(logs[path], gated.text, entry.meta, entry.at, topic)
            added.append(Added(path, line, gated.text, gated.masks))
        contents = {path: log.encode("utf-8", "surrogateescape") for path, log in logs.items()}
        for path, data in contents.items():
            ensure_readable(path, data)
        return Draft(contents, added)

    return write(repo, plan)


def gated_entry(entry: LogEntry, path: str, config: Config) -> tuple[Redaction, Meta]:
    """Scan a line for the log `path`: its text with secrets and personal data masked, and the pairs for its comment.
    Raises Refused if the gate refuses the line. The caller checks the length."""
    pairs = [("type", entry.kind), ("origin", entry.origin)]
    meta: Meta = (*((key, value) for key, value in pairs if value), *entry.more)
    return _through_the_gate(normalise(entry.text), meta, path, config), meta


def ensure_agent_passes(agent: str, config: Config) -> None:
    """Raise Refused if the gate finds a secret, personal data or an instruction in an agent's name: the name becomes
    part of a file's name and of trailers, where no mask is possible. The message never quotes the name."""
    from gitmem.gate.redaction import masked_rules, refuse_or_mask

    if not agent:
        return
    masks = refuse_or_mask(agent, "MEMORY.md", config._replace(on_secret="mask")).masks
    if masks:
        raise Refused(
            Message("not written: the agent's name has {}", masked_rules(masks)), "give the agent a name without it"
        )


def _ensure_memory_path(repo: Repository, config: Config, path: str) -> None:
    """Raise UsageError for the path of a file that is not Markdown or not memory."""
    if not path.endswith(".md"):
        raise UsageError(Message("'{}' is not a Markdown file", path), "memory files end in .md")
    if not is_memory_path(repo, config, path):
        raise UsageError(
            Message("'{}' is no file of memory", path), "name one below memory/; mem.memoryPaths adds files"
        )


def ensure_short(text: str) -> None:
    """Raise UsageError for a line that is longer than MAX_LINE."""
    if len(text) > MAX_LINE:
        raise UsageError(
            Message("a line of memory has at most {} characters, and this one {}", f"{MAX_LINE:,}", f"{len(text):,}"),
            "write a note below memory/, or several lines",
        )


def one_line(text: str) -> str:
    """The text of a fact, normalised. Raises UsageError when it is empty or has the marks of a comment."""
    text = normalise(text)
    if not text or "<!--" in text or "-->" in text:
        raise UsageError("a fact is one line of text without comment marks")
    return text


def ensure_one_statement(text: str) -> None:
    """Raise UsageError for a normalised text that is no statement as a list item: Markdown reads `# words` as a
    heading, and three backticks as the begin of a fenced block, so that no command would give the line back."""
    if [fact.text for fact in facts.parse_lines([f"- {text}\n"]).facts] != [text]:
        raise UsageError(
            "as Markdown the text would be a heading, a fenced block or a line across, and no statement",
            "begin it with a word",
        )


def ensure_readable(path: str, data: bytes) -> None:
    """Raise GitMemError if a file would become larger than MAX_MEMORY_FILE_BYTES, the limit for reading memory."""
    if len(data) > MAX_MEMORY_FILE_BYTES:
        raise GitMemError(
            Message("'{}' would be larger than {} MiB, which nobody reads", path, MAX_MEMORY_FILE_BYTES >> 20),
            "begin another file",
        )


def _with_fact(old: bytes, text: str, meta: Meta) -> tuple[str, int]:
    """(text of MEMORY.md with the fact, line of the fact). A fact that the file has already is not added. The same
    words about another thing (ABOUT) are another fact. Raises what `facts.add` raises."""
    memory = facts.parse(old)
    about = dict(meta).get(ABOUT, "")
    if _fact_about(memory, text, about) is None:
        memory = facts.add(memory, text, meta)
    fact = _fact_about(memory, text, about)
    if fact is None:
        raise GitMemError("the new line would be part of another statement", "add it in an editor")
    return memory.data().decode("utf-8", "surrogateescape"), fact.line


def _fact_about(memory: Memory, text: str, about: str) -> Fact | None:
    """The first fact with the words `text` and the value `about` of ABOUT; None without one."""
    ident = fact_id(text)
    return next((fact for fact in memory.facts if fact.id == ident and fact.get(ABOUT) == about), None)


def _through_the_gate(text: str, meta: Meta, path: str, config: Config) -> Redaction:
    """Scan a text for `path` and mask its secrets and personal data. Raises Refused as `refuse_or_mask`.

    The text is scanned twice: alone, because a rule that matches up to the end of a line finds less before a comment;
    and as the whole line with its comment, because the Git hook will scan that line.
    """
    from gitmem.gate.redaction import refuse_or_mask

    gated = refuse_or_mask(text, path, config)
    if meta:
        refuse_or_mask(f"- {gated.text} {render_comment(meta)}", path, config)
    return gated


def append_entry(old: str, text: str, meta: Meta, now: datetime, topic: str = "") -> tuple[str, int]:
    """(the text of a daily log with one more bullet, the line of this bullet). `old`: the text of the log now, "" for a
    new one. `topic`: for the heading, "" for none.

    The bullet goes below the last heading if that has the same minute and topic, else below a new heading. An empty log
    gets the day of `now` as its title.
    """
    heading = f"## {now:%H:%M}"
    if topic:
        heading += f" - {topic}"
    log = old
    if not old.strip():
        log = f"# {now.date().isoformat()}\n"
    if not log.endswith("\n"):
        log += "\n"
    last_heading = next((line for line in reversed(log.splitlines()) if line.startswith("#")), "")
    if last_heading != heading:
        log += f"\n{heading}\n\n"
    return _bullet(log, text, meta)


def append_bullet(old: str, text: str, meta: Meta) -> tuple[str, int]:
    """(the text `old` of a file with one more bullet at its end, the line of this bullet)."""
    new = old
    if stripped := old.rstrip("\n"):
        is_list = stripped.rsplit("\n", 1)[-1].lstrip().startswith(("-", "*", "+"))
        new = stripped + ("\n" if is_list else "\n\n")
    return _bullet(new, text, meta)


def _bullet(new: str, text: str, meta: Meta) -> tuple[str, int]:
    """The text with a new bullet appended, and the line number of the bullet. `new` has to be empty or end with a line
    break."""
    new += f"- {text} {render_comment(meta)}".rstrip() + "\n"
    return new, new.count("\n")
