"""`git mem settle`: asks a person about two statements that may not both be true, and records the answer.

The open pairs come from `memory/rivals`: pairs of facts of MEMORY.md, and of a fact with a line of a recent daily log.
The answer is recorded in the comments of the facts: `supersedes=ID` on the one that is true, `beside=ID` when both are.
A fact that is no longer true goes to the archive (`superseded-by=ID`), and so does a repetition (`same-as=ID`). Nothing
is deleted, no log is changed, and a pair with an answer is not asked about again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import islice
from typing import NamedTuple, assert_never

from gitmem.config import Config
from gitmem.daily_logs import log_day
from gitmem.errors import Changed, GitMemError, UsageError
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.git.blame import blame_work_tree
from gitmem.git.git_index import is_committed
from gitmem.git.objects import Span
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit, write
from gitmem.json_values import json_keys
from gitmem.memory import archiving, facts
from gitmem.memory.archiving import ArchiveEntry
from gitmem.memory.fact import ABOUT, Fact, Meta, fact_id, render_span, text_hash
from gitmem.memory.facts import BESIDE, SAME_AS, SUPERSEDED_BY, SUPERSEDES, Entry, Memory, fact_date, fact_of
from gitmem.memory.files import memory_paths
from gitmem.memory.new_statements import file_bytes, memory_bytes
from gitmem.memory.percent_encoding import encode
from gitmem.memory.recent_lines import RecentLines, is_comparable
from gitmem.memory.rivals import (
    MEMORY,
    PROPOSES,
    UNCOMMITTED,
    KnownFacts,
    PlacedFact,
    Progress,
    Rival,
    is_settled,
    proposed_rivals,
    rivals,
    without_secrets,
)
from gitmem.memory.statements import Statement, read
from gitmem.messages import Message
from gitmem.promotion.repetitions import is_preferred
from gitmem.promotion.topics import about_topic, topic_of
from gitmem.provenance import trailers
from gitmem.provenance.corrections import LASTING_KEYS, MessageParts, as_usage_error, gated_text, message_of

MAX_COMPARED = 2_000  # newest facts, and newest lines of logs, that are compared with all facts
ID_DIGITS = 8  # hex digits of the id of a pair


class Answer(StrEnum):
    """Which of two statements is true. `same`: they say the same, and one of them is enough."""

    LATER = "later"
    EARLIER = "earlier"
    BOTH = "both"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """A recorded answer. `commit`: "" when MEMORY.md had uncommitted edits, so that the answer is only in the file, and
    for a dry run."""

    pair: Rival
    answer: Answer
    commit: str = ""


# -- the open pairs ------------------------------------------------------------------------------------------


def open_pairs(repo: Repository, config: Config, today: date, told: Progress = lambda *_: None) -> list[Rival]:
    """The pairs of the work tree without an answer: proposed ones (PROPOSES), then disagreements, then repetitions.

    Their order depends only on the files, their history and `today`. `told` is called with the numbers of compared and
    of all facts. Raises GitMemError in a bare repository.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files to write", "run it in a clone")
    known = dated_facts(repo, MEMORY, work_tree_facts(repo), today)
    lines = list(islice(_recent_lines(repo, config, [row.fact for row in known], today), MAX_COMPARED))
    disagreeing = [rival for rival in rivals(lines, KnownFacts(known, today)) if rival.later and not rival.repeats]
    proposed = proposed_rivals(lines, known)
    pairs = [*proposed, *open_fact_pairs(known, today, told), *_without(disagreeing, proposed)]
    return sorted(pairs, key=lambda rival: rival.repeats)


def open_fact_pairs(rows: Sequence[PlacedFact], today: date, told: Progress = lambda *_: None) -> list[Rival]:
    """The open pairs among facts, in the order of `open_pairs`. `rows`: the facts, newest first."""
    rows = [row for row in rows if not facts.expired(row.fact, today)]
    proposed = proposed_rivals(rows, rows)
    return [*proposed, *_without(rivals(rows[:MAX_COMPARED], KnownFacts(rows, today), told), proposed)]


def _without(pairs: Iterable[Rival], others: Iterable[Rival]) -> Iterator[Rival]:
    """The pairs whose two places are not those of one of `others`."""
    known = {_places(pair) for pair in others}
    return (pair for pair in pairs if _places(pair) not in known)


def _places(pair: Rival) -> frozenset[tuple[str, int]]:
    return frozenset((row.path, row.fact.line) for row in (pair.new, pair.old))


def dated_facts(repo: Repository, path: str, found: Iterable[Fact], today: date) -> list[PlacedFact]:
    """The facts of a file of the work tree, newest first: by the day in their comment, else by the commit that wrote
    their line. An uncommitted line is of today. Of two facts of one time the upper one comes first, since new facts are
    added above old ones."""
    found = list(found)
    times = _times(repo, path, [fact.line for fact in found])
    rows = []
    for fact in found:
        seconds, day = times.get(fact.line, (UNCOMMITTED, today.isoformat()))
        day = fact_date(fact) or day
        rows.append((day, seconds, -fact.line, PlacedFact(path, fact, day, seconds)))
    return [row for *_, row in sorted(rows, key=lambda row: row[:3], reverse=True)]


def _times(repo: Repository, path: str, lines: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Line -> (seconds, ISO day) of the commit that wrote it, for committed lines; {} in a bare repository and for a
    file that no commit has."""
    if repo.root is None or not lines or repo.head() is None:
        return {}
    try:
        blamed = blame_work_tree(repo, path, min(lines), max(lines))
    except GitMemError:  # no commit has the file
        return {}
    times: dict[str, tuple[int, str]] = {}
    for row in blamed:
        if row.commit.strip("0") and row.commit not in times:
            written = repo.commit(row.commit).author_date
            times[row.commit] = (int(written.timestamp()), written.date().isoformat())
    return {row.line: times[row.commit] for row in blamed if row.commit in times}


def work_tree_facts(repo: Repository) -> list[Fact]:
    """The facts of MEMORY.md in the work tree."""
    return facts.parse(memory_bytes(repo)).facts


def _recent_lines(repo: Repository, config: Config, known: Sequence[Fact], today: date) -> Iterator[PlacedFact]:
    """The lines of `RecentLines` in the daily logs of the work tree, newest first, each text once."""
    recent = RecentLines(known, today)
    seen: set[str] = set()
    dated = [(log_day(path, config.memory_daily), path) for path in memory_paths(repo, config)]
    logs = [(day, path) for day, path in dated if day is not None]
    for day, path in sorted(logs, reverse=True):
        if not recent.are_in_log_of(day):
            continue
        lines = read(facts.split_lines(file_bytes(repo, path)))
        for row in reversed(list(recent.of_log(path, day, lines))):
            if row.fact.id not in seen:
                seen.add(row.fact.id)
                yield row


def statement_facts(lines: Sequence[str]) -> list[Fact]:
    """The statements of a log that are compared with facts, each as the fact that it would be. `lines`: of the log."""
    return [fact_of(statement) for statement in _statements(lines)]


def _statements(lines: Sequence[str]) -> list[Statement]:
    """The items, paragraphs and quotations of a log that have text."""
    return [each for each in read(lines) if is_comparable(each)]


def pair_id(pair: Rival) -> str:
    """The id by which a person names a pair: ID_DIGITS hex digits of a hash of the earlier and the later statement.

    The path, the text and the trail of each count, its line does not: an answer moves lines, and the other pairs keep
    their ids. A pair whose texts, headings or order of days have changed has another id.
    """
    sides = [[row.path, row.fact.id, *row.fact.trail] for row in pair.earlier_first]
    return hashlib.sha256(json.dumps(sides).encode("ascii")).hexdigest()[:ID_DIGITS]


def pair_with_id(pairs: Iterable[Rival], ident: str) -> Rival | None:
    """The pair with the id `ident`; None when there is none."""
    return next((pair for pair in pairs if pair_id(pair) == ident), None)


def pair_named(pairs: Sequence[Rival], given: str, other: str = "") -> Rival:
    """The open pair that `given` names by the place (`MEMORY.md:9`) or the id of one of its statements, of which six
    characters are enough. `other`: names the second statement, "" for any. A place is right only for the files that the
    person saw: the caller makes sure of that. Raises UsageError when not exactly one pair matches."""
    names = [name for name in (given, other) if name]
    found = [pair for pair in pairs if all(any(_is_named(row, name) for row in (pair.new, pair.old)) for name in names)]
    if len(found) == 1:
        return found[0]
    message = Message("no open pair of {}", " and ".join(names))
    if found:
        message = Message("{} open pairs of {}", len(found), " and ".join(names))
    raise UsageError(message, "git mem settle lists them")


def _is_named(row: PlacedFact, given: str) -> bool:
    return f"{row.path}:{row.fact.line}" == given or (len(given) >= 6 and row.fact.id.startswith(given))


# -- the answer ----------------------------------------------------------------------------------------------


def ensure_person(config: Config) -> None:
    """Raise UsageError when an agent runs the command."""
    if config.agent:
        raise UsageError("only a person says which of two facts holds", "unset mem.agent, or ask one")


def settle(
    repo: Repository, config: Config, pair: Rival, answer: Answer, today: date, reason: str = ""
) -> RecordedAnswer:
    """Record an answer in one commit. When MEMORY.md or the archive has uncommitted edits, only the files are written.

    Raises UsageError for an agent and for a text that no fact can have, Changed when a statement is gone or the pair
    has an answer, Refused when the gate or a hook refuses the commit, and Locked. Nothing is written then.
    """
    ensure_person(config)
    plan = settle_plan(config, pair, answer, today, reason)
    reading = Reading(repo)
    if all(is_committed(repo, path, reading.raw(path)) for path in plan(reading).contents):
        _, oid = commit(repo, committed_plan(config, pair, answer, today, reason))
        return RecordedAnswer(pair, answer, oid)
    write(repo, plan)
    return RecordedAnswer(pair, answer)


def committed_plan(config: Config, pair: Rival, answer: Answer, today: date, reason: str = "") -> Plan:
    """The plan of `settle_plan` that raises GitMemError when one of its files has uncommitted edits."""

    def plan(reading: Reading) -> CommitDraft[Rival]:
        draft = settle_plan(config, pair, answer, today, reason)(reading)
        for path in draft.contents:
            if not is_committed(reading.repo, path, reading.raw(path)):
                raise GitMemError(Message("'{}' has edits that are not committed", path), "commit or stash them first")
        return draft

    return plan


Plan = Callable[[Reading], CommitDraft[Rival]]


def settle_plan(config: Config, pair: Rival, answer: Answer, today: date, reason: str = "") -> Plan:
    """The plan of `settle`, for a commit or a preview. The plan raises Changed when a statement is gone or the pair has
    an answer by now, UsageError for a text or comment that cannot be there, Refused when the gate stops the text of a
    log line."""

    def plan(reading: Reading) -> CommitDraft[Rival]:
        memory = facts.parse(reading.read(MEMORY) or b"")
        earlier, later = pair.earlier_first
        if later.path == MEMORY:
            change = _between_facts(memory, earlier, later, answer, today)
        else:
            change = _with_line(reading, config, memory, pair, answer, today)
        contents = {MEMORY: change.memory.data()}
        for moved in change.moved:
            old = contents.get(moved.path, reading.read(moved.path) or b"")
            contents[moved.path] = archiving.archive(old, [moved])
        rows = [f"- {encode(row.path)}:{row.fact.line} {row.fact.id}" for row in (earlier, later)]
        lost = sum(moved.fact.end - moved.fact.line + 1 for moved in change.moved)
        account = MessageParts(
            f"settle 1 pair: {WORDS[answer]}", reason, lines=tuple(rows), rewrites=lost >= BULK_LINES,
            sources=change.sources,
        )  # fmt: skip
        return CommitDraft(contents, pair, message_of(config, account, ()))

    return plan


WORDS = {
    Answer.LATER: "the later one holds",
    Answer.EARLIER: "the earlier one holds",
    Answer.BOTH: "both hold",
    Answer.SAME: "they say the same",
}


@dataclass(frozen=True, slots=True)
class Change:
    """The new MEMORY.md."""

    memory: Memory
    moved: tuple[ArchiveEntry, ...] = ()  # facts that go to the archive
    sources: tuple[trailers.Link, ...] = ()  # log lines that a new fact comes from


def _between_facts(memory: Memory, earlier: PlacedFact, later: PlacedFact, answer: Answer, today: date) -> Change:
    """The change for an answer about two facts of MEMORY.md. For `same` the pinned fact stays, else the one with a
    source, else the earlier one. Raises Changed and UsageError as `put_in_place`, and as `_ensure_open`."""
    _ensure_open(_entry(memory, earlier).fact, _entry(memory, later).fact, later)
    match answer:
        case Answer.BOTH:
            return Change(_with_key(memory, later, BESIDE, earlier.fact.id))
        case Answer.LATER:
            return put_in_place(memory, later, earlier, today)
        case Answer.EARLIER:
            return put_in_place(memory, earlier, later, today)
        case Answer.SAME:
            if is_preferred(later.fact, earlier.fact):
                return put_in_place(memory, later, earlier, today, same=True)
            return put_in_place(memory, earlier, later, today, same=True)
    assert_never(answer)


def _entry(memory: Memory, row: PlacedFact) -> Entry:
    """The entry of a fact, on its line or on another one. Of facts with one text below several headings it is the one
    with the trail of `row`. Raises Changed when the fact is gone."""
    found = [entry for entry in memory.entries if entry.fact.id == row.fact.id]
    if len(found) > 1:
        found = [entry for entry in found if entry.fact.trail == row.fact.trail]
    if not found:
        raise _changed(row)
    return next((entry for entry in found if entry.fact.line == row.fact.line), found[0])


def _ensure_open(earlier: Fact, later: Fact, row: PlacedFact) -> None:
    """Raise Changed when the pair has an answer: another process may have written one since this pair was read.
    `earlier`, `later`: as they are in the files now. `row`: the later one as it was read."""
    if is_settled(earlier, later):
        raise Changed(
            Message("{}:{} is in a pair that has an answer by now", row.path, row.fact.line),
            "git mem settle lists the open pairs",
        )


def _changed(row: PlacedFact) -> Changed:
    return Changed(Message("{}:{} is not what it was", row.path, row.fact.line), "git mem settle lists the open pairs")


def _with_key(memory: Memory, row: PlacedFact, key: str, value: str) -> Memory:
    """The memory with the pair added to the comment of the fact `row`, and without the proposal that the answer
    settles.

    Other pairs with the same key stay. Raises Changed when the fact is gone, UsageError when it cannot have a comment.
    """
    entry = _entry(memory, row)
    meta: Meta = tuple(dict.fromkeys((*_without_proposal(entry.fact), (key, value))))
    with as_usage_error(row.path, entry):
        return facts.with_comment(memory, entry, meta)


def _without_proposal(fact: Fact) -> Iterator[tuple[str, str]]:
    """The keys of a fact's comment without the proposal that an answer settles."""
    return (pair for pair in fact.meta if pair[0] != PROPOSES)


def put_in_place(memory: Memory, kept: PlacedFact, gone: PlacedFact, today: date, *, same: bool = False) -> Change:
    """The change that keeps one fact in the place of both and archives the other. The comment of the kept fact gets
    `supersedes` (not with `same`, nor for two facts with one text), and a pin that only the other had. Items below the
    archived fact stay, below the kept one.

    Raises Changed when a fact is gone, UsageError when items are below both or the text cannot be there.
    """
    entry, other = _entry(memory, kept), _entry(memory, gone)
    more, archive_key = [(SUPERSEDES, gone.fact.id)], SUPERSEDED_BY
    if same or kept.fact.id == gone.fact.id:  # a fact does not supersede its own text
        more, archive_key = [], SAME_AS
    if facts.pinned(other.fact) and not facts.pinned(entry.fact):
        more.append(("pinned", "true"))
    meta: Meta = tuple(dict.fromkeys((*_without_proposal(entry.fact), *more)))
    with as_usage_error(gone.path, other):
        moved = archiving.superseded_entry(other.fact, kept.fact.id, today, archive_key)
        if not memory.below(other):
            memory = facts.with_comment(memory, entry, meta)
            return Change(facts.remove(memory, _entry(memory, gone)), (moved,))
        if [fact for fact in memory.below(entry) if fact.line != other.start]:
            raise ValueError("facts stand below both, and only a person can say where these go")
        text = entry.fact.text
        memory = facts.remove(memory, entry)
        return Change(facts.update(memory, _entry(memory, gone), text, meta), (moved,))


def _with_line(reading: Reading, config: Config, memory: Memory, pair: Rival, answer: Answer, today: date) -> Change:
    """The change for an answer about a fact and a later line of a log. The log is not changed. When the line is true,
    it becomes a fact in place of the earlier one; any other answer only adds the line's id to the comment of the fact.

    Raises Changed if a statement is gone and as `_ensure_open`, Refused if the gate refuses the text of the line,
    UsageError if the text cannot stand in place of the earlier one.
    """
    earlier, later = pair.earlier_first
    data = reading.read(later.path) or b""
    line = next((each for each in _statements(facts.split_lines(data)) if fact_id(each.text) == later.fact.id), None)
    if line is None:
        raise _changed(later)
    entry = _entry(memory, earlier)
    _ensure_open(entry.fact, fact_of(line), later)
    match answer:
        case Answer.BOTH | Answer.SAME:
            return Change(_with_key(memory, earlier, BESIDE, later.fact.id))
        case Answer.EARLIER:
            return Change(_with_key(memory, earlier, SUPERSEDES, later.fact.id))
        case Answer.LATER:
            pass
        case _:
            assert_never(answer)
    text = line.text
    if topic := topic_of(line, text):
        text = f"{topic}: {text}"
    text = gated_text(text, MEMORY, config).text
    meta = [(key, value) for key, value in entry.fact.meta if key in LASTING_KEYS]
    if about := about_topic(line, text):
        meta = [*((key, value) for key, value in meta if key != ABOUT), (ABOUT, about)]
    links: tuple[trailers.Link, ...] = ()
    if is_committed(reading.repo, later.path, data):
        span = Span(later.path, line.first, line.last, reading.repo.hash_blob(data))
        meta.append(("src", render_span(span)))
        links = (trailers.Link(span, MEMORY, text_hash(text)),)
    meta += [(key, value) for key, value in line.meta if key == "origin"]
    if later.day:
        meta.append(("from", later.day))
    with as_usage_error(earlier.path, entry):
        new = facts.supersede(memory, entry, text, meta)
        moved = archiving.superseded_entry(entry.fact, fact_id(text), today)
    return Change(new, (moved,), links)


# -- JSON ----------------------------------------------------------------------------------------------------


@json_keys("path line=fact.line id=fact.id text=fact.text trail=fact.trail day?")
class Side(NamedTuple):
    """One of two statements. `day`: "" if it is not known."""

    path: str
    fact: Fact
    day: str


@json_keys("id relation reason earlier later")
class ShownPair(NamedTuple):
    """A pair as its JSON has it. `relation`: `same`, `replaces`, `ends` or `conflicts`.

    JSON: `id`: what `git mem settle` takes; it stays while the texts, headings and days of the pair stay.
    """

    id: str
    relation: str
    reason: str
    earlier: Side
    later: Side


def shown_pair(pair: Rival) -> ShownPair:
    """The JSON of a pair; a text that holds a secret is hidden."""
    shown = without_secrets(pair)
    earlier, later = (Side(row.path, row.fact, row.day) for row in shown.earlier_first)
    return ShownPair(pair_id(pair), shown.kind, shown.reason, earlier, later)
