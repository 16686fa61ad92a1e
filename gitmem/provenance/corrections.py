"""Corrections of committed memory: edit, supersede or forget one fact, revert all facts of a bad source.

Each correction is one commit. Its message names places, ids and hashes, never the removed text, and `Memory-Rejected`
trailers keep promotion from proposing that text again. History keeps the text: docs/leaked-secret.md says how to
rewrite it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from gitmem.config import Config
from gitmem.daily_logs import is_daily
from gitmem.errors import Refused, UnknownFact, UsageError
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.git.objects import Span
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit
from gitmem.json_values import json_keys
from gitmem.memory import archiving
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import MIN_ID_DIGITS, Fact, cited_spans, fact_id, id_digits, render_span, text_hash
from gitmem.memory.facts import BESIDE, SUPERSEDES, Entry, Memory
from gitmem.memory.files import ensure_memory
from gitmem.memory.percent_encoding import encode
from gitmem.memory.retention import with_until
from gitmem.memory.writing import one_line
from gitmem.messages import Message
from gitmem.paths import Kind, kind
from gitmem.plural import counted
from gitmem.provenance import trailers
from gitmem.provenance.cited_sources import facts_at
from gitmem.provenance.facts_of_source import Selector, facts_from
from gitmem.provenance.ledger import Ledger, read_ledger

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask, Redaction
    from gitmem.memory.rivals import Rival


@json_keys(
    "path line=fact.line end_line=fact.end id=fact.id text=fact.text trail=fact.trail below new_text?"
    " restored? sources=source_words"
)
@dataclass(frozen=True, slots=True)
class Removal:
    """A fact that a correction removes or replaces.

    JSON: `below`: the facts indented below it that went with it. `new_text`: the text that `edit` wrote.
    `restored`: the fact that `revert` gave back, because the removed fact had superseded it. `sources`: as its
    comment names them.
    """

    path: str
    fact: Fact
    sources: tuple[Span, ...]
    new_text: str = ""  # the text that replaces it
    restored: str = ""  # the text of the superseded fact that comes back in its place
    below: tuple[Fact, ...] = ()  # the facts indented below it, which are removed too

    @property
    def source_words(self) -> list[str]:
        """The sources as a comment writes them."""
        return [render_span(span) for span in self.sources]


@json_keys("commit? masked differs facts=removals")
@dataclass(frozen=True, slots=True)
class Correction:
    """The result of a correction.

    JSON: `commit`: null if nothing was done (`--dry-run`, no such fact). `masked`: how many places the gate masked,
    by rule. `differs`: as in `git mem add`. `facts`: the facts that were removed or replaced.
    """

    removals: tuple[Removal, ...]
    commit: str  # "" for a dry run, and when nothing was to be done
    masks: tuple[Mask, ...] = ()  # what the gate masked in a new text
    differs: tuple[Rival, ...] = ()  # facts that a new text repeats, replaces, ends or conflicts with

    @property
    def masked(self) -> dict[str, int]:
        """Rule -> number of masked values."""
        from gitmem.gate.redaction import mask_counts

        return mask_counts(self.masks)


Draft = CommitDraft[tuple[Removal, ...]]
Plan = Callable[[Reading], Draft]
CORRECTED, SUPERSEDED = "correct 1 fact", "supersede 1 fact"  # subjects of the commits of `edit` and `supersede`
# Keys of a comment that pass on to the superseding fact.
LASTING_KEYS = ("type", "about", "tags", "importance", "pinned")


def edit(repo: Repository, config: Config, place: tuple[str, int], text: str, reason: str, today: date) -> Correction:
    """Replace the text of the fact at `place` (path, line); its comment stays.

    Raises UsageError for an empty text, one with comment marks, or the text that the fact has already; Refused when the
    gate refuses the commit, or another fact of the file says it; GitFailed when a hook refuses the commit; Changed when
    another process wrote meanwhile; GitMemError when there is no such fact or its file has uncommitted edits. Nothing
    is written then.
    """
    path, line = place
    gated = gated_text(text, path, config)
    plan = edit_plan(config, path, line, gated.text, reason)
    return _with_rivals(repo, Correction(*commit(repo, plan), gated.masks), today)


def _with_rivals(repo: Repository, correction: Correction, today: date) -> Correction:
    """The correction with `differs`: the new texts compared with the other facts."""
    from gitmem.memory.new_statements import rivals_of_texts

    texts = [(removal.path, removal.new_text) for removal in correction.removals if removal.new_text]
    return replace(correction, differs=rivals_of_texts(repo, texts, today))


def gated_text(text: str, path: str, config: Config) -> Redaction:
    """A new text for a fact of `path`, normalised and masked by the gate. Raises UsageError for an empty text or one
    with comment marks, Refused when the gate refuses it."""
    from gitmem.gate.redaction import refuse_or_mask

    return refuse_or_mask(one_line(text), path, config)


def edit_plan(config: Config, path: str, line: int, text: str, reason: str) -> Plan:
    """A plan, for a commit or a preview, that replaces the text of the fact at `path`:`line`; its comment stays.
    `text`: the text of `gated_text`.

    The plan raises UsageError when the fact has that text already, Refused when the gate refuses the reason or another
    fact of the file says the text, GitMemError when there is no such fact or its file has uncommitted edits.
    """

    def plan(reading: Reading) -> Draft:
        memory, entry = _entry_to_replace(reading, config, path, line, text)
        removal = Removal(path, entry.fact, tuple(cited_spans(entry.fact.meta)), new_text=text)
        with as_usage_error(path, entry):
            # A new text was compared with no other fact, and does not supersede itself.
            meta = [pair for pair in entry.fact.meta if pair[0] != BESIDE and pair != (SUPERSEDES, fact_id(text))]
            edited = memory_facts.update(memory, entry, text, meta)
        return _draft(config, MessageParts(CORRECTED, reason), [removal], {path: edited})

    return plan


def supersede(
    repo: Repository, config: Config, place: tuple[str, int], text: str, reason: str, today: date
) -> Correction:
    """Replace the fact at `place` (path, line) with a new fact that names the old one (`supersedes`), begins today and
    cites no source, in one commit. An old fact of MEMORY.md goes to the archive.

    Raises UsageError, Refused, Changed and GitMemError for the reasons that `edit` has. Nothing is written then.
    """
    path, line = place
    gated = gated_text(text, path, config)
    plan = supersede_plan(config, path, line, gated.text, reason, today)
    return _with_rivals(repo, Correction(*commit(repo, plan), gated.masks), today)


def supersede_plan(config: Config, path: str, line: int, text: str, reason: str, today: date) -> Plan:
    """A plan, for a commit or a preview, that replaces the fact at `path`:`line` with a new fact `text`, a text of
    `gated_text`.

    The new fact names the old one (`supersedes`), begins today, and cites no source. An old fact of MEMORY.md goes to
    the archive. The plan raises UsageError, Refused and GitMemError for the reasons that `edit_plan` has.
    """

    def plan(reading: Reading) -> Draft:
        memory, entry = _entry_to_replace(reading, config, path, line, text)
        meta = [(key, value) for key, value in entry.fact.meta if key in LASTING_KEYS]
        meta.append(("from", today.isoformat()))
        meta = list(with_until(tuple(meta), config.retention, today))
        with as_usage_error(path, entry):
            superseding = memory_facts.supersede(memory, entry, text, meta)
            archived = archiving.superseded_entry(entry.fact, fact_id(text), today)
        removal = Removal(path, entry.fact, (), new_text=text)  # the sources of the old text do not say the new one
        memories = {path: superseding}
        if kind(path) is Kind.MEMORY:
            archive_data = b""
            if reading.read(archived.path) is not None:
                archive_data = reading.committed(archived.path)
            memories[archived.path] = memory_facts.parse(archiving.archive(archive_data, [archived]))
        return _draft(config, MessageParts(SUPERSEDED, reason), [removal], memories)

    return plan


def _entry_to_replace(reading: Reading, config: Config, path: str, line: int, text: str) -> tuple[Memory, Entry]:
    """The file and the fact at `path`:`line`. Raises as `fact_at`; UsageError when `text` is its text already; Refused
    when another fact of the file has the text and the trail."""
    memory, entry = fact_at(reading, config, path, line)
    if fact_id(text) == entry.fact.id:
        raise UsageError("that is what the line says already")
    if any(fact.id == fact_id(text) and fact.trail == entry.fact.trail for fact in memory.facts):
        raise Refused(Message("{} says that already, on another line", path))
    return memory, entry


def place_of_fact(repo: Repository, ident: str) -> tuple[str, int]:
    """(path, line) of the fact of long-term memory at HEAD whose id begins with `ident`.

    `ident`: MIN_ID_DIGITS to 12 hexadecimal digits. Raises UsageError for any other text, UnknownFact when no fact or
    several facts have such an id.
    """
    wanted = id_digits(ident)
    if not wanted:
        raise UsageError(
            Message("the id of a fact is {} to 12 hexadecimal digits", MIN_ID_DIGITS),
            "git mem search --json, edit, promote and receipts name it; or name the place",
        )
    rows = facts_at(repo, repo.head() or "")
    places = [(path, fact.line) for path, _, fact in rows if fact.id.startswith(wanted)]
    if not places:
        raise UnknownFact(
            Message("no committed fact has the id {}", wanted), "commit the file first, or name the place"
        )
    if len(places) > 1:
        shown = ", ".join(f"{path}:{line}" for path, line in places[:5])
        raise UnknownFact(
            Message("{} facts have the id {}: {}", len(places), wanted, shown), "name the place of one of them"
        )
    return places[0]


@contextmanager
def as_usage_error(path: str, entry: Entry) -> Iterator[None]:
    """In the `with` block, turn the ValueError for a text that cannot replace the fact into a UsageError that names its
    line."""
    try:
        yield
    except ValueError as error:
        raise UsageError(f"{path}:{entry.start}: {error}", "change the file in an editor, and commit it") from None


def forget(repo: Repository, config: Config, path: str, line: int, reason: str, *, dry_run: bool = False) -> Correction:
    """Remove the fact at `path`:`line` and the facts indented below it, in one commit. A dry run writes nothing.

    Raises MissingFile or UnknownFact when there is no such fact, GitMemError when its file has uncommitted edits,
    Refused when the gate refuses the reason, Changed when another process wrote meanwhile, GitFailed when a hook
    refuses. Nothing is written then.
    """
    plan = forget_plan(config, path, line, reason)
    if dry_run:
        return Correction(plan(Reading(repo)).result, "")
    return Correction(*commit(repo, plan))


def forget_plan(config: Config, path: str, line: int, reason: str) -> Plan:
    """A plan, for a commit or a preview, that removes the fact at `path`:`line` and the facts that are indented below
    it.

    The plan raises MissingFile or UnknownFact when there is no such fact, GitMemError when its file has uncommitted
    edits, Refused when the gate refuses the reason.
    """

    def plan(reading: Reading) -> Draft:
        memory, entry = fact_at(reading, config, path, line)
        removal = Removal(path, entry.fact, tuple(cited_spans(entry.fact.meta)), below=tuple(memory.below(entry)))
        subject = "forget 1 fact"
        if removal.below:
            subject += f" and {len(removal.below)} below it"
        return _draft(config, MessageParts(subject, reason), [removal], {path: memory_facts.remove(memory, entry)})

    return plan


def revert(
    repo: Repository, config: Config, selector: Selector, reason: str = "", *, dry_run: bool = False
) -> Correction:
    """Remove every fact of long-term memory that comes from what `selector` names, in one commit.

    When such a fact superseded one that stays, the superseded fact comes back. Nothing is committed when no fact is
    found. `reason`: "" for one that names the selector. A dry run writes nothing. Raises UnknownRevision for an unknown
    commit, MissingFile for a source that no fact cites and that is no file, GitMemError for uncommitted edits, Refused
    and GitFailed when the gate or a hook refuses, and Changed when another process wrote meanwhile.
    """
    if dry_run:
        return Correction(_facts_to_revert(repo, selector, Reading(repo))[0], "")

    def plan(reading: Reading) -> Draft:
        removals, memories = _facts_to_revert(repo, selector, reading)
        subject = f"revert {counted(len(removals), 'fact')} from {selector}"
        parts = MessageParts(subject, reason or f"taken back: {selector}", reverted=str(selector))
        return _draft(config, parts, removals, memories)

    return Correction(*commit(repo, plan))


def _facts_to_revert(
    repo: Repository, selector: Selector, reading: Reading
) -> tuple[tuple[Removal, ...], dict[str, Memory]]:
    """The facts that `selector` removes, in the order of `facts_from`, and the changed files by path. A fact indented
    below another one that is removed goes with it and is not listed again."""
    ledger = Ledger()
    if repo.head():
        ledger = read_ledger(repo, ["HEAD"])
    chosen = facts_from(repo, selector, ledger)
    removed_ids = {fact.id for _, fact in chosen}
    removals: list[Removal] = []
    memories: dict[str, Memory] = {}
    for path, fact in chosen:
        memory = memories.get(path) or memory_facts.parse(reading.committed(path))
        matches = [entry for entry in memory.entries if entry.fact.id == fact.id]
        if not matches:
            continue
        entry = next((entry for entry in matches if entry.fact.trail == fact.trail), matches[0])
        digest = text_hash(fact.text)
        spans = tuple(cited_spans(fact.meta) or dict.fromkeys(ledger.sources.get(digest, [])))
        superseded = _superseded_fact(repo, ledger.by_hash.get(digest, ""), path, fact, removed_ids)
        if superseded:
            removals.append(Removal(path, fact, spans, restored=superseded.text))
            memories[path] = memory_facts.update(memory, entry, superseded.text, superseded.meta)
            memories |= _without_archived(repo, reading, memories, superseded.id)
        else:
            removals.append(Removal(path, fact, spans, below=tuple(memory.below(entry))))
            memories[path] = memory_facts.remove(memory, entry)
    return tuple(removals), memories


def _superseded_fact(repo: Repository, oid: str, path: str, fact: Fact, removed_ids: set[str]) -> Fact | None:
    """The fact that `fact` superseded, as the file was before the promotion `oid`; None when there is none, when it is
    removed too, and when the commit before does not have it."""
    ident = fact.get(SUPERSEDES)
    if not ident or not oid or any(removed.startswith(ident) for removed in removed_ids):
        return None
    superseding = repo.commit(oid)
    if not superseding.parents:
        return None
    for entry in repo.entries(superseding.parents[0], [path]):
        superseded = memory_facts.parse(repo.read(entry.oid)).find(ident)
        if superseded:
            return superseded.fact
    return None


def _without_archived(
    repo: Repository, reading: Reading, memories: Mapping[str, Memory], ident: str
) -> dict[str, Memory]:
    """Path -> archive without the superseded fact `ident`, for each archive that has it. `memories`: files that are
    changed already."""
    entries = repo.entries(repo.head() or "", ["memory/archive"])
    changed_archives: dict[str, Memory] = {}
    for path in [entry.path for entry in entries if kind(entry.path) is Kind.ARCHIVE]:
        memory = memories.get(path) or memory_facts.parse(reading.committed(path))
        for entry in [candidate for candidate in memory.entries if candidate.fact.id == ident]:
            if entry.fact.get(memory_facts.SUPERSEDED_BY):
                changed_archives[path] = memory = memory_facts.remove(memory, memory.find(ident) or entry)
    return changed_archives


@dataclass(frozen=True, slots=True)
class MessageParts:
    """The parts of the message of a correction, beside the facts that it removes.

    `what`: the subject, without `memory: `. `reason`: why, one line. `reverted`: the selector of `revert`, "" for
    another correction. `lines`: further lines of the body; they hold no text of memory. `rewrites`: the correction
    changes past log lines, or many lines, which the gate asks a reason for. `sources`: sources of the facts that the
    correction adds.
    """

    what: str
    reason: str
    reverted: str = ""
    lines: tuple[str, ...] = ()
    rewrites: bool = False
    sources: tuple[trailers.Link, ...] = ()


def fact_at(reading: Reading, config: Config, path: str, line: int) -> tuple[Memory, Entry]:
    """The memory file, and the fact that has the line among its own. Raises MissingFile for a file that is not a
    memory, UnknownFact for a line of no fact, GitMemError for a file with uncommitted edits."""
    ensure_memory(reading.repo, config, path)
    memory = memory_facts.parse(reading.committed(path))
    entry = memory.at(line)
    if entry is None or line > entry.fact.end:
        raise UnknownFact(
            Message("there is no fact on {}:{}", path, line),
            "name a line of text: headings, comments and blank lines are no facts",
        )
    return memory, entry


def _draft(config: Config, parts: MessageParts, removals: Sequence[Removal], memories: Mapping[str, Memory]) -> Draft:
    """The commit of the files `memories`. Raises Refused when the gate refuses the reason."""
    message = message_of(config, parts, removals)
    return CommitDraft({path: memory.data() for path, memory in memories.items()}, tuple(removals), message)


def message_of(config: Config, parts: MessageParts, removals: Sequence[Removal]) -> str:
    """The message of the commit that removes the facts `removals`. Raises Refused when the gate refuses the reason."""
    from gitmem.gate.policy import MESSAGE
    from gitmem.gate.redaction import refuse_or_mask_text

    reason = refuse_or_mask_text(" ".join(parts.reason.split()), MESSAGE, config)
    lines = [f"memory: {parts.what}", ""]
    for removal in removals:
        row = f"- {encode(removal.path)}:{removal.fact.line} {removal.fact.id}"
        if fact_type := removal.fact.get("type"):
            row += f" ({encode(fact_type)})"
        lines.append(row)
        lines += [f"  {render_span(span)}" for span in removal.sources]
    lines += parts.lines
    sources = [
        trailers.Link(span, removal.path, text_hash(removal.new_text))
        for removal in removals
        if removal.new_text
        for span in removal.sources
    ]
    rewrite = ""
    changes_logs = any(is_daily(removal.path, config.memory_daily) for removal in removals)
    if parts.rewrites or len(removals) >= BULK_LINES or changes_logs:
        rewrite = reason or parts.what
    recorded = trailers.CommitRecord(
        rejected=tuple(_rejected_links(removals)),
        sources=(*sources, *parts.sources),
        reverted=parts.reverted,
        agent=config.agent,
        reason=reason,
        rewrite=rewrite,
    )
    return trailers.with_record("\n".join(lines), recorded)


def _rejected_links(removals: Sequence[Removal]) -> Iterator[trailers.Link]:
    """A link for each source of the removed facts, then of the facts below them; without a source one for the fact
    alone. They keep a promotion from proposing the texts again."""
    for removal in removals:
        for span in removal.sources or (None,):
            yield trailers.Link(span, removal.path, text_hash(removal.fact.text))
    for removal in removals:
        for fact in removal.below:
            for span in cited_spans(fact.meta) or (None,):
                yield trailers.Link(span, removal.path, text_hash(fact.text))
