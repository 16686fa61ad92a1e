"""`git mem settle`: records which of two statements (a pair of `open_pairs`) is true, as a person answered.

The answer is recorded in the comments of the facts: `supersedes=ID` on the one that is true, `beside=ID` when both are.
A fact that is no longer true goes to the archive (`superseded-by=ID`), and so does a repetition (`same-as=ID`). Nothing
is deleted, no log is changed, and a pair with an answer is not asked about again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import assert_never

from gitmem.config import Config
from gitmem.errors import Changed, UsageError
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.git.git_index import is_committed
from gitmem.git.objects import Span
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit, uncommitted_edits, write
from gitmem.memory import archiving, facts
from gitmem.memory.archiving import ArchiveEntry
from gitmem.memory.fact import ABOUT, Fact, Meta, fact_id, render_span, text_hash
from gitmem.memory.facts import BESIDE, SAME_AS, SUPERSEDED_BY, SUPERSEDES, Entry, Memory, fact_of
from gitmem.memory.percent_encoding import encode
from gitmem.memory.rivals import MEMORY, PROPOSES, PlacedFact, Rival, is_settled
from gitmem.messages import Message
from gitmem.promotion.open_pairs import comparable_statements
from gitmem.promotion.repetitions import is_preferred
from gitmem.promotion.topics import about_topic, topic_of
from gitmem.provenance import trailers
from gitmem.provenance.corrections import LASTING_KEYS, MessageParts, as_usage_error, gated_text, message_of


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


def ensure_person(config: Config) -> None:
    """Raise UsageError if the settings name an agent (`mem.agent`): only a person says which of two facts holds."""
    if config.agent:
        raise UsageError("only a person says which of two facts holds", "unset mem.agent, or ask one")


def settle(
    repo: Repository, config: Config, pair: Rival, answer: Answer, today: date, reason: str = ""
) -> RecordedAnswer:
    """Record an answer of a person in one commit. When MEMORY.md or the archive has uncommitted edits, only the files
    are written. `reason`: for the message of the commit, "" for none.

    Raises UsageError for an agent and for a text that no fact can have, Changed when a statement is gone or the pair
    has an answer, Refused when the gate stops the text of a log line, GitFailed when a hook refuses the commit, and
    Locked. Nothing is written then.
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
    """A plan for `transaction.commit` that records an answer, as `settle_plan`; it raises GitMemError when one of its
    files has uncommitted edits."""

    def plan(reading: Reading) -> CommitDraft[Rival]:
        draft = settle_plan(config, pair, answer, today, reason)(reading)
        for path in draft.contents:
            if not is_committed(reading.repo, path, reading.raw(path)):
                raise uncommitted_edits(path)
        return draft

    return plan


Plan = Callable[[Reading], CommitDraft[Rival]]


def settle_plan(config: Config, pair: Rival, answer: Answer, today: date, reason: str = "") -> Plan:
    """A plan that records an answer, for a commit or a preview. The plan raises Changed when a statement is gone or the
    pair has an answer by now, UsageError for a text or comment that cannot be there, Refused when the gate stops the
    text of a log line."""

    def plan(reading: Reading) -> CommitDraft[Rival]:
        memory = facts.parse(reading.read(MEMORY) or b"")
        earlier, later = pair.earlier_first
        if later.path == MEMORY:
            change = _between_facts(memory, earlier, later, answer, today)
        else:
            change = _with_line(reading, config, memory, pair, answer, today)
        contents = archiving.with_archives(
            {MEMORY: change.memory.data()}, change.moved, lambda path: reading.read(path) or b""
        )
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
    """The new MEMORY.md after an answer, and what goes with it."""

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
    entries = [entry for entry in memory.entries if entry.fact.id == row.fact.id]
    if len(entries) > 1:
        entries = [entry for entry in entries if entry.fact.trail == row.fact.trail]
    if not entries:
        raise _changed(row)
    return next((entry for entry in entries if entry.fact.line == row.fact.line), entries[0])


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
    entry, gone_entry = _entry(memory, kept), _entry(memory, gone)
    added_keys, archive_key = [(SUPERSEDES, gone.fact.id)], SUPERSEDED_BY
    if same or kept.fact.id == gone.fact.id:  # a fact does not supersede its own text
        added_keys, archive_key = [], SAME_AS
    if facts.pinned(gone_entry.fact) and not facts.pinned(entry.fact):
        added_keys.append(("pinned", "true"))
    meta: Meta = tuple(dict.fromkeys((*_without_proposal(entry.fact), *added_keys)))
    with as_usage_error(gone.path, gone_entry):
        moved = archiving.superseded_entry(gone_entry.fact, kept.fact.id, today, archive_key)
        if not memory.below(gone_entry):
            memory = facts.with_comment(memory, entry, meta)
            return Change(facts.remove(memory, _entry(memory, gone)), (moved,))
        if [fact for fact in memory.below(entry) if fact.line != gone_entry.start]:
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
    statements = comparable_statements(facts.split_lines(data))
    line = next((statement for statement in statements if fact_id(statement.text) == later.fact.id), None)
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
        new_memory = facts.supersede(memory, entry, text, meta)
        moved = archiving.superseded_entry(entry.fact, fact_id(text), today)
    return Change(new_memory, (moved,), links)
