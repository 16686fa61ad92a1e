"""What a person decides about two statements that may not both hold: which one holds, that both do, or are the same.

The open pairs are those of `memory/rivals` among the facts of MEMORY.md, and of these facts with the lines of recent
daily logs. An answer is recorded in Git, in the comments of the facts: `supersedes=ID` on the one that holds,
`beside=ID` where both do. What no longer holds goes to the archive (`superseded-by=ID`), and so does what another fact
says too (`same-as=ID`). Nothing is deleted, no log is changed, and a pair that has an answer is not asked about again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any, assert_never

from gitmem.config import Config
from gitmem.errors import Changed, GitMemError, UsageError
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.git.blame import blame_work_tree
from gitmem.git.objects import Span
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit, is_committed, write
from gitmem.memory import facts
from gitmem.memory.fact import Fact, Meta, encode, fact_id, parse_span, render_span, text_hash
from gitmem.memory.facts import BESIDE, SAME_AS, SUPERSEDED_BY, SUPERSEDES, Entry, Memory, Moved, fact_date, fact_of
from gitmem.memory.files import memory_paths
from gitmem.memory.new_statements import file_bytes, memory_bytes
from gitmem.memory.rivals import MEMORY, PROPOSES, Placed, Rival, Standing, Told, rivals, settled, statement_value
from gitmem.memory.statements import Form, Statement, read
from gitmem.messages import Message
from gitmem.paths import log_day
from gitmem.promotion.topics import topic_of
from gitmem.provenance import trailers
from gitmem.provenance.corrections import Account, as_usage_error, gated_text, message_of

COMPARED = 2_000  # facts, and lines of logs, the newest, that are held against the others
RECENT_DAYS = 14  # of daily logs whose lines are held against the facts: older ones had their chance
_UNCOMMITTED = 1 << 62  # seconds: later than any commit


class Answer(StrEnum):
    """Which of two statements holds; `same`: they say the same, and one of them is enough."""

    LATER = "later"
    EARLIER = "earlier"
    BOTH = "both"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Settled:
    """What an answer did: the statements (earlier, later), and the commit, "" where MEMORY.md had edits that were not
    committed (the answer stands in the file then) and for a dry run."""

    pair: Rival
    answer: Answer
    commit: str = ""


# -- the open pairs ------------------------------------------------------------------------------------------


def open_pairs(repo: Repository, config: Config, today: date, told: Told = lambda *_: None) -> list[Rival]:
    """The pairs of the work tree that wait for a person: those that an agent proposes, disagreements, repetitions.

    Their order, and so their numbers, depend on the files, their history and the day alone. Raises GitMemError in a
    bare repository. `told` hears how many facts were compared.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files to write", "run it in a clone")
    known = dated(repo, MEMORY, facts_here(repo), today)
    lines = list(islice(_recent_lines(repo, config, [row.fact for row in known], today), COMPARED))
    standing = Standing(known, today)
    asked = [rival for rival in rivals(lines, standing) if rival.later and not rival.repeats]
    proposed = _proposed(lines, known)
    found = [rival for rival in asked if not any(_same_pair(rival, other) for other in proposed)]
    return sorted([*proposed, *pairs_of(known, today, told), *found], key=lambda rival: rival.repeats)


def pairs_of(rows: Sequence[Placed], today: date, told: Told = lambda *_: None) -> list[Rival]:
    """The open pairs among facts, of which the newest stand first. What an agent proposes comes before disagreements,
    and these before repetitions."""
    rows = [row for row in rows if not facts.expired(row.fact, today)]
    proposed = _proposed(rows, rows)
    found = rivals(rows[:COMPARED], Standing(rows, today), told)
    return [*proposed, *(rival for rival in found if not any(_same_pair(rival, other) for other in proposed))]


def _same_pair(one: Rival, other: Rival) -> bool:
    return {(row.path, row.fact.line) for row in (one.new, one.old)} == {
        (row.path, row.fact.line) for row in (other.new, other.old)
    }


def dated(repo: Repository, path: str, found: Iterable[Fact], today: date) -> list[Placed]:
    """The facts of a file of the work tree, the newest first: by the day each says it is from, else by the commit that
    wrote its line; of one time the upper one, since new facts go above older ones."""
    found = list(found)
    times = _times(repo, path, [fact.line for fact in found])
    rows = []
    for fact in found:
        at, day = times.get(fact.line, (_UNCOMMITTED, today.isoformat()))
        rows.append((fact_date(fact) or day, at, -fact.line, Placed(path, fact, fact_date(fact) or day)))
    return [row for *_, row in sorted(rows, key=lambda row: row[:3], reverse=True)]


def _times(repo: Repository, path: str, lines: Sequence[int]) -> dict[int, tuple[int, str]]:
    """(seconds, ISO day) of the commit that wrote each line; none for a line that is not committed."""
    if repo.root is None or not lines or repo.head() is None:
        return {}
    try:
        blamed = blame_work_tree(repo, path, min(lines), max(lines))
    except GitMemError:  # no commit has the file
        return {}
    when: dict[str, tuple[int, str]] = {}
    for row in blamed:
        if row.commit.strip("0") and row.commit not in when:
            written = repo.commit(row.commit).author_date
            when[row.commit] = (int(written.timestamp()), written.date().isoformat())
    return {row.line: when[row.commit] for row in blamed if row.commit in when}


def facts_here(repo: Repository) -> list[Fact]:
    """The facts of MEMORY.md in the work tree."""
    return facts.parse(memory_bytes(repo)).facts


def _recent_lines(repo: Repository, config: Config, known: Sequence[Fact], today: date) -> Iterator[Placed]:
    """The statements of the logs of the last days, each text once, the newest first; none that a fact says or cites."""
    seen = {fact.id for fact in known}
    first = today - timedelta(days=RECENT_DAYS)
    spans = [span for fact in known for key, value in fact.meta if key == "src" and (span := parse_span(value))]
    logs = [(day, path) for path in memory_paths(repo, config) if (day := log_day(path, config.memory_daily))]
    for day, path in sorted(logs, reverse=True):
        if not first <= day <= today:
            continue
        cited = [(span.start_line, span.end_line) for span in spans if span.path == path]
        for statement in reversed(_statements(file_bytes(repo, path))):
            fact = fact_of(statement)
            if fact.id in seen or any(start <= fact.end and fact.line <= end for start, end in cited):
                continue
            seen.add(fact.id)
            yield Placed(path, fact, day.isoformat())


def _statements(data: bytes) -> list[Statement]:
    """What a log says, but for code and tables."""
    found = read(facts.split_lines(data))
    return [each for each in found if each.form in (Form.ITEM, Form.PARAGRAPH, Form.QUOTE) and each.text]


def _proposed(lines: Iterable[Placed], known: Sequence[Placed]) -> list[Rival]:
    """The statements whose writer, an agent or a model, says that they replace a fact."""
    found = []
    for row in lines:
        for ident in [value for key, value in row.fact.meta if key == PROPOSES and len(value) >= 4]:
            old = next((each for each in known if each.fact.id.startswith(ident)), None)
            if old is not None and not settled(row.fact, old.fact):
                found.append(Rival(row, old, "replaces", "an agent proposes it"))
    return found


def chosen(pairs: Sequence[Rival], given: str, other: str = "") -> Rival:
    """The open pair with this number (from 1), or the only one of the fact with this id or at this place
    (`MEMORY.md:9`), and of the fact `other`. Raises UsageError."""
    if re.fullmatch(r"[0-9]{1,5}", given):
        if not 1 <= int(given) <= len(pairs):
            raise UsageError(Message("there is no open pair {}", given), "git mem settle lists them")
        return pairs[int(given) - 1]
    named = [name for name in (given, other) if name]
    found = [pair for pair in pairs if all(any(_is_named(row, name) for row in (pair.new, pair.old)) for name in named)]
    if len(found) != 1:
        which = " and ".join(named)
        if found:
            message = Message("{} open pairs of {}", len(found), which)
        else:
            message = Message("no open pair of {}", which)
        raise UsageError(message, "git mem settle lists them")
    return found[0]


def _is_named(row: Placed, given: str) -> bool:
    return f"{row.path}:{row.fact.line}" == given or (len(given) >= 6 and row.fact.id.startswith(given))


# -- the answer ----------------------------------------------------------------------------------------------


def ensure_person(config: Config) -> None:
    """Raise UsageError for an agent."""
    if config.agent:
        raise UsageError("only a person says which of two facts holds", "unset mem.agent, or ask one")


def settle(repo: Repository, config: Config, pair: Rival, answer: Answer, today: date, reason: str = "") -> Settled:
    """Record an answer: one commit, or, where MEMORY.md or the archive has edits, their files alone.

    Raises UsageError for an agent and for a text that cannot stand there, Changed where a statement is gone, Refused
    where the gate or a hook says no; nothing is written then.
    """
    ensure_person(config)
    plan = settle_plan(config, pair, answer, today, reason)
    reading = Reading(repo)
    if all(is_committed(repo, path, reading.raw(path)) for path in plan(reading).contents):
        _, oid = commit(repo, committed_plan(config, pair, answer, today, reason))
        return Settled(pair, answer, oid)
    write(repo, plan)
    return Settled(pair, answer)


def committed_plan(config: Config, pair: Rival, answer: Answer, today: date, reason: str = "") -> Plan:
    """The plan of `settle_plan` on files that are as HEAD has them. Raises GitMemError where one has edits."""

    def plan(reading: Reading) -> CommitDraft[Rival]:
        draft = settle_plan(config, pair, answer, today, reason)(reading)
        for path in draft.contents:
            if not is_committed(reading.repo, path, reading.raw(path)):
                raise GitMemError(Message("'{}' has edits that are not committed", path), "commit or stash them first")
        return draft

    return plan


Plan = Callable[[Reading], CommitDraft[Rival]]


def settle_plan(config: Config, pair: Rival, answer: Answer, today: date, reason: str = "") -> Plan:
    """The plan of `settle`, for a commit or a preview."""

    def plan(reading: Reading) -> CommitDraft[Rival]:
        memory = facts.parse(reading.read(MEMORY) or b"")
        earlier, later = pair.earlier_first
        if later.path == MEMORY:
            done = _between_facts(memory, earlier, later, answer, today)
        else:
            done = _with_line(reading, config, memory, pair, answer, today)
        contents = {MEMORY: done.memory.data()}
        for moved in done.moved:
            old = contents.get(moved.path, reading.read(moved.path) or b"")
            contents[moved.path] = facts.archive(old, [moved])
        rows = [f"- {encode(row.path)}:{row.fact.line} {row.fact.id}" for row in (earlier, later)]
        lost = sum(moved.fact.end - moved.fact.line + 1 for moved in done.moved)
        account = Account(
            f"settle 1 pair: {WORDS[answer]}", reason, lines=tuple(rows), rewrites=lost >= BULK_LINES,
            sources=done.sources,
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
    """What becomes of MEMORY.md, what goes to the archive, and the log lines that a new fact comes from."""

    memory: Memory
    moved: tuple[Moved, ...] = ()
    sources: tuple[trailers.Link, ...] = ()


def _between_facts(memory: Memory, earlier: Placed, later: Placed, answer: Answer, today: date) -> Change:
    """The answer about two facts of MEMORY.md."""
    match answer:
        case Answer.BOTH:
            return Change(_with_key(memory, later, BESIDE, earlier.fact.id))
        case Answer.LATER:
            return put_in_place(memory, later, earlier, today)
        case Answer.EARLIER:
            return put_in_place(memory, earlier, later, today)
        case Answer.SAME:
            if _better(later.fact, earlier.fact):
                kept, other = (later, earlier)
            else:
                kept, other = (earlier, later)
            return put_in_place(memory, kept, other, today, same=True)
    assert_never(answer)


def _better(fact: Fact, than: Fact) -> bool:
    """Whether of two facts that say the same this one stays: the pinned one, else the one that cites its source."""
    return (facts.pinned(fact), bool(fact.get("src"))) > (facts.pinned(than), bool(than.get("src")))


def _entry(memory: Memory, row: Placed) -> Entry:
    """Where a fact stands. Raises Changed where it does not any more."""
    same = [entry for entry in memory.entries if entry.fact.id == row.fact.id]
    found = next((entry for entry in same if entry.fact.line == row.fact.line), same[0] if same else None)
    if found is None:
        raise Changed(
            Message("{}:{} is not what it was", row.path, row.fact.line), "git mem settle lists the open pairs"
        )
    return found


def _with_key(memory: Memory, row: Placed, key: str, value: str) -> Memory:
    entry = _entry(memory, row)
    meta: Meta = tuple(dict.fromkeys((*_answered(entry.fact), (key, value))))
    with as_usage_error(row.path, entry):
        return facts.with_comment(memory, entry, meta)


def _answered(fact: Fact) -> Iterator[tuple[str, str]]:
    """The keys of a fact's comment without the question that an answer settles."""
    return (pair for pair in fact.meta if pair[0] != PROPOSES)


def put_in_place(memory: Memory, kept: Placed, gone: Placed, today: date, *, same: bool = False) -> Change:
    """The fact `kept` in the place of both; the other in the archive. What is indented below the other stays, below the
    one that is kept."""
    entry, other = _entry(memory, kept), _entry(memory, gone)
    same = same or kept.fact.id == gone.fact.id  # a fact does not replace its own words
    if same:
        more = []
    else:
        more = [(SUPERSEDES, gone.fact.id)]
    if facts.pinned(other.fact) and not facts.pinned(entry.fact):
        more.append(("pinned", "true"))
    meta: Meta = tuple(dict.fromkeys((*_answered(entry.fact), *more)))
    with as_usage_error(gone.path, other):
        moved = facts.superseded(other.fact, kept.fact.id, today, SAME_AS if same else SUPERSEDED_BY)
        if not memory.below(other):
            memory = facts.with_comment(memory, entry, meta)
            return Change(facts.remove(memory, _entry(memory, gone)), (moved,))
        if [fact for fact in memory.below(entry) if fact.line != other.start]:
            raise ValueError("facts stand below both, and only a person can say where these go")
        text = entry.fact.text
        memory = facts.remove(memory, entry)
        return Change(facts.update(memory, _entry(memory, gone), text, meta), (moved,))


def _with_line(reading: Reading, config: Config, memory: Memory, pair: Rival, answer: Answer, today: date) -> Change:
    """The answer about a fact and a later line of a log: the log stays as it is."""
    earlier, later = pair.earlier_first
    match answer:
        case Answer.BOTH | Answer.SAME:
            return Change(_with_key(memory, earlier, BESIDE, later.fact.id))
        case Answer.EARLIER:
            return Change(_with_key(memory, earlier, SUPERSEDES, later.fact.id))
        case Answer.LATER:
            pass
        case _:
            assert_never(answer)
    data = reading.read(later.path) or b""
    line = next((each for each in _statements(data) if fact_id(each.text) == later.fact.id), None)
    if line is None:
        raise Changed(
            Message("{}:{} is not what it was", later.path, later.fact.line), "git mem settle lists the open pairs"
        )
    committed = is_committed(reading.repo, later.path, data)
    span = Span(later.path, line.first, line.last, reading.repo.hash_blob(data) if committed else "")
    topic = topic_of(line, line.text)
    text = gated_text(f"{topic}: {line.text}" if topic else line.text, MEMORY, config).text
    entry = _entry(memory, earlier)
    meta = [(key, value) for key, value in entry.fact.meta if key in ("type", "tags", "importance", "pinned")]
    if committed:
        meta += [("src", render_span(span))]
    meta += [(key, value) for key, value in line.meta if key == "origin"]
    if later.day:
        meta += [("from", later.day)]
    with as_usage_error(earlier.path, entry):
        new = facts.supersede(memory, entry, text, meta)
        moved = facts.superseded(entry.fact, fact_id(text), today)
    return Change(new, (moved,), (trailers.Link(span, MEMORY, text_hash(text)),) if committed else ())


# -- what it is as JSON --------------------------------------------------------------------------------------


def as_value(pair: Rival, number: int = 0) -> dict[str, Any]:
    """One pair of docs/json.md, "settle"."""
    earlier, later = pair.earlier_first
    rows = {"earlier": _row(earlier), "later": _row(later)}
    return ({"number": number} if number else {}) | {"relation": pair.kind, "reason": pair.reason, **rows}


def _row(row: Placed) -> dict[str, Any]:
    return statement_value(row) | {"trail": list(row.fact.trail), "day": row.day or None}
