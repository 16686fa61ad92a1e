"""Taking back: correct one fact, forget one, remove all that came from a bad source. One commit each, which says so.

The commit names places, ids and hashes, never the text that was taken out, and refuses it for later promotions
(`Memory-Rejected`). History keeps the old text: docs/leaked-secret.md says how to rewrite it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from gitmem.config import Config
from gitmem.errors import MissingFile, Refused, UnknownFact, UsageError
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.git.objects import Commit, Span
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit
from gitmem.json_values import json_object, json_value
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, encode, fact_id, normalise, render_span, text_hash
from gitmem.memory.facts import BESIDE, SUPERSEDES, Entry, Memory
from gitmem.memory.files import ensure_memory
from gitmem.memory.retention import with_until
from gitmem.messages import Message
from gitmem.paths import Kind, agent_of, is_daily, kind, spelling
from gitmem.provenance import trailers
from gitmem.provenance.cited_sources import cited, facts_at
from gitmem.provenance.ledger import Ledger, read_ledger
from gitmem.provenance.writers import writers

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask, Redaction
    from gitmem.memory.rivals import Rival


class By(StrEnum):
    """What `revert` goes by."""

    SOURCE = "source"
    COMMIT = "commit"
    AGENT = "agent"
    SESSION = "session"
    ORIGIN = "origin"


@dataclass(frozen=True, slots=True)
class Selector:
    """One of them. `lines` narrow a source: (0, 0) is the whole file."""

    by: By
    value: str
    lines: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        first, last = self.lines
        return f"{self.by} {encode(self.value)}" + (f"#L{first}-L{last}" if first else "")


@dataclass(frozen=True, slots=True)
class Removal:
    """A fact that was taken out (or replaced by `new`), where it stood. `restored`: the fact it had superseded;
    `below`: the facts that are indented below it, which went with it."""

    path: str
    fact: Fact
    sources: tuple[Span, ...]
    new: str = ""
    restored: str = ""
    below: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Correction:
    """What was done; `commit` is "" for a dry run and when there was nothing to do."""

    taken: tuple[Removal, ...]
    commit: str
    masks: tuple[Mask, ...] = ()  # what the gate masked of a new text
    differs: tuple[Rival, ...] = ()  # what a new text repeats, replaces, ends or conflicts with


Draft = CommitDraft[tuple[Removal, ...]]
Plan = Callable[[Reading], Draft]
CORRECTED, SUPERSEDED = "correct 1 fact", "supersede 1 fact"  # what `edit` and `supersede` say that they did
MIN_ID = 8  # hexadecimal digits of an id that name a fact
LASTING_KEYS = ("type", "tags", "importance", "pinned")  # of a comment: what its successor keeps


def edit(repo: Repository, config: Config, place: tuple[str, int], text: str, reason: str, today: date) -> Correction:
    """Replace the text of the fact at (path, line); its comment stays.

    Raises UsageError for a text that is none, Refused where the gate or a hook says no, Changed where somebody else
    wrote meanwhile, GitMemError where there is no such fact or the file has edits; nothing is written then.
    """
    path, line = place
    gated = gated_text(text, path, config)
    plan = edit_plan(config, path, line, gated.text, reason)
    return _compared(repo, Correction(*commit(repo, plan), gated.masks), today)


def _compared(repo: Repository, done: Correction, today: date) -> Correction:
    """What was done, with what the new texts are to the facts that are there."""
    from gitmem.memory.new_statements import of_texts

    return replace(done, differs=of_texts(repo, [(item.path, item.new) for item in done.taken if item.new], today))


def gated_text(text: str, path: str, config: Config) -> Redaction:
    """The text a person gave for a fact, as it may stand in `path`. Raises UsageError for none, Refused."""
    from gitmem.gate.redaction import refuse_or_mask

    return refuse_or_mask(one_line(text), path, config)


def one_line(text: str) -> str:
    """The text of a fact as it is written. Raises UsageError for none, and for one with the marks of a comment."""
    text = normalise(text)
    if not text or "<!--" in text or "-->" in text:
        raise UsageError("a fact is one line of text without comment marks")
    return text


def edit_plan(config: Config, path: str, line: int, text: str, reason: str) -> Plan:
    """The plan of `edit`, for a commit or a preview; `text` is one of `gated_text`."""

    def plan(reading: Reading) -> Draft:
        memory, entry = _to_replace(reading, config, path, line, text)
        taken = Removal(path, entry.fact, tuple(cited(entry.fact)), new=text)
        with as_usage_error(path, entry):
            # A new text is settled with none, and never names itself as what it replaced.
            meta = [pair for pair in entry.fact.meta if pair[0] != BESIDE and pair != (SUPERSEDES, fact_id(text))]
            new = memory_facts.update(memory, entry, text, meta)
        return _draft(config, Account(CORRECTED, reason), [taken], {path: new})

    return plan


def supersede(
    repo: Repository, config: Config, place: tuple[str, int], text: str, reason: str, today: date
) -> Correction:
    """Put a new fact in the place of the one at (path, line), as `supersede_plan` says. Raises as `edit`."""
    path, line = place
    gated = gated_text(text, path, config)
    plan = supersede_plan(config, path, line, gated.text, reason, today)
    return _compared(repo, Correction(*commit(repo, plan), gated.masks), today)


def supersede_plan(config: Config, path: str, line: int, text: str, reason: str, today: date) -> Plan:
    """The plan of putting `text`, one of `gated_text`, in the place of the fact at `path`:`line`, which held until
    now: the new fact names it (`supersedes`), is from today, and has no source but its author. Raises as `edit`."""

    def plan(reading: Reading) -> Draft:
        memory, entry = _to_replace(reading, config, path, line, text)
        meta = [(key, value) for key, value in entry.fact.meta if key in LASTING_KEYS]
        meta.append(("from", today.isoformat()))
        meta = list(with_until(tuple(meta), config.retention, today))
        with as_usage_error(path, entry):
            new = memory_facts.supersede(memory, entry, text, meta)
            moved = memory_facts.superseded(entry.fact, fact_id(text), today)
        taken = Removal(path, entry.fact, (), new=text)  # without sources: those of the old one do not say the new
        memories = {path: new}
        if kind(path) is Kind.MEMORY:
            old = b""
            if reading.read(moved.path) is not None:
                old = reading.committed(moved.path)
            memories[moved.path] = memory_facts.parse(memory_facts.archive(old, [moved]))
        return _draft(config, Account(SUPERSEDED, reason), [taken], memories)

    return plan


def _to_replace(reading: Reading, config: Config, path: str, line: int, text: str) -> tuple[Memory, Entry]:
    """The fact at `path`:`line`, where `text` may take its place."""
    memory, entry = fact_at(reading, config, path, line)
    if fact_id(text) == entry.fact.id:
        raise UsageError("that is what the line says already")
    same = [each.fact for each in memory.entries if each.fact.id == fact_id(text)]
    if any(fact.trail == entry.fact.trail for fact in same):
        raise Refused(Message("{} says that already, on another line", path))
    return memory, entry


def place_of(repo: Repository, ident: str) -> tuple[str, int]:
    """(path, line) of the fact of long-term memory at HEAD whose id is `ident`, or begins with it.

    `ident`: hex, MIN_ID to 12 characters. Raises UsageError for anything else, UnknownFact where no fact has it, or
    several have.
    """
    wanted = ident.strip().casefold()
    if not re.fullmatch(rf"[0-9a-f]{{{MIN_ID},12}}", wanted):
        raise UsageError(
            Message("the id of a fact is {} to 12 hexadecimal digits", MIN_ID),
            "results of edit, promote and receipts name it; or name the place",
        )
    head = repo.head()
    rows = facts_at(repo, head) if head else ()
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
    """Raise what a memory says of a text that cannot stand in the place of a fact as UsageError."""
    try:
        yield
    except ValueError as error:
        raise UsageError(f"{path}:{entry.start}: {error}", "change the file in an editor, and commit it") from None


def forget(repo: Repository, config: Config, path: str, line: int, reason: str, *, dry_run: bool = False) -> Correction:
    """Remove the fact at `path`:`line` with the lines that belong to it. Raises as `edit`. A dry run writes none."""
    plan = forget_plan(config, path, line, reason)
    if dry_run:
        return Correction(plan(Reading(repo)).result, "")
    return Correction(*commit(repo, plan))


def forget_plan(config: Config, path: str, line: int, reason: str) -> Plan:
    """The plan of `forget`."""

    def plan(reading: Reading) -> Draft:
        memory, entry = fact_at(reading, config, path, line)
        taken = Removal(path, entry.fact, tuple(cited(entry.fact)), below=tuple(memory.below(entry)))
        what = "forget 1 fact" + (f" and {len(taken.below)} below it" if taken.below else "")
        return _draft(config, Account(what, reason), [taken], {path: memory_facts.remove(memory, entry)})

    return plan


def revert(
    repo: Repository, config: Config, selector: Selector, reason: str = "", *, dry_run: bool = False
) -> Correction:
    """Remove every fact of long-term memory that derives from what `selector` names.

    A fact that had superseded one from elsewhere is replaced by that one. Nothing found: nothing is committed. A dry
    run writes nothing and repairs nothing. Raises as `edit`.
    """
    if dry_run:
        return Correction(_taken_back(repo, selector, Reading(repo))[0], "")

    def plan(reading: Reading) -> Draft:
        taken, memories = _taken_back(repo, selector, reading)
        what = f"revert {len(taken)} fact{'s' if len(taken) > 1 else ''} from {selector}"
        account = Account(what, reason or f"taken back: {selector}", reverted=str(selector))
        return _draft(config, account, taken, memories)

    return Correction(*commit(repo, plan))


def _taken_back(
    repo: Repository, selector: Selector, reading: Reading
) -> tuple[tuple[Removal, ...], dict[str, Memory]]:
    """The facts that `selector` takes back, and the files without them."""
    if repo.head():
        known = read_ledger(repo, ["HEAD"])
    else:
        known = Ledger()
    chosen = derived(repo, selector, known)
    gone = {fact.id for _, fact in chosen}
    taken: list[Removal] = []
    memories: dict[str, Memory] = {}
    for path, fact in chosen:
        memory = memories.get(path) or memory_facts.parse(reading.committed(path))
        same = [each for each in memory.entries if each.fact.id == fact.id]
        entry = next((each for each in same if each.fact.trail == fact.trail), same[0] if same else None)
        if entry is None:
            continue
        digest = text_hash(fact.text)
        spans = tuple(cited(fact) or dict.fromkeys(known.sources.get(digest, [])))
        before = _superseded(repo, known.by_hash.get(digest, ""), path, fact, gone)
        below = () if before else tuple(memory.below(entry))
        taken.append(Removal(path, fact, spans, restored=before.text if before else "", below=below))
        if before:
            memories[path] = memory_facts.update(memory, entry, before.text, before.meta)
            memories |= _taken_out_of_archive(repo, reading, memories, before.id)
        else:
            memories[path] = memory_facts.remove(memory, entry)
    return tuple(taken), memories


def derived(repo: Repository, selector: Selector, known: Ledger) -> list[tuple[str, Fact]]:
    """(path, fact) of long-term memory at HEAD that comes from what the selector names. Raises UnknownRevision,
    MissingFile for a source that is no file at HEAD and that no fact cites."""
    head = repo.head()
    if head is None:
        return []
    rows = list(facts_at(repo, head))
    evidence = _read_evidence(repo, head, selector, known, rows)
    chosen = [(path, fact) for path, _, fact in rows if comes_from(selector, path, fact, evidence)]
    if not chosen and selector.by is By.SOURCE and not _is_known_source(repo, head, selector.value, known):
        raise MissingFile(
            Message("there is no file '{}' at HEAD, and no fact cites one", selector.value), "git mem log"
        )
    return chosen


def _is_known_source(repo: Repository, head: str, path: str, known: Ledger) -> bool:
    cites = any(span.path == path for spans in known.sources.values() for span in spans)
    return cites or bool(repo.entries(head, [path]))


# -- what a selector names: pure -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Evidence:
    """What Git says of where facts come from, as far as one selector goes by it.

    `sources` are the lines of a fact that its promotion cites, and `promotions` that promotion's trailers, both by the
    hash of the fact's text. `writers` are the trailers of the commit that wrote a fact, by its id. Of a
    commit that is selected: `linked` are the hashes of the facts it promoted, `added` the lines it added by path (under
    "" the texts of the facts of long-term memory that these belong to), `blobs` the lines of the sources in these paths
    by oid.
    """

    sources: Mapping[str, Sequence[Span]]
    promotions: Mapping[str, Sequence[trailers.Trailer]] = field(default_factory=dict)
    writers: Mapping[str, Sequence[trailers.Trailer]] = field(default_factory=dict)
    linked: frozenset[str] = frozenset()
    added: Mapping[str, frozenset[str]] = field(default_factory=dict)
    blobs: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def spans(self, fact: Fact) -> list[Span]:
        """The lines that a fact comes from: those it cites itself, then those of its promotion."""
        return [*cited(fact), *self.sources.get(text_hash(fact.text), [])]

    def says(self, fact: Fact, key: str, value: str) -> bool:
        """Whether the commit that promoted the fact, or wrote it, has such a trailer."""
        rows = (self.promotions.get(text_hash(fact.text), ()), self.writers.get(fact.id, ()))
        said = (spelling(each) for block in rows for each in trailers.values(block, key))
        return spelling(value) in said


def comes_from(selector: Selector, path: str, fact: Fact, evidence: Evidence) -> bool:
    """Whether the fact of `path` derives from what the selector names. Reads nothing."""
    spans = evidence.spans(fact)
    match selector.by:
        case By.SOURCE:
            first, last = selector.lines
            return any(
                span.path == selector.value and (not first or (span.start_line <= last and first <= span.end_line))
                for span in spans
            )
        case By.ORIGIN:
            return fact.origin == selector.value.casefold()
        case By.AGENT:
            wrote = any(agent_of(span.path) == spelling(selector.value) for span in spans)
            return wrote or evidence.says(fact, trailers.AGENT, selector.value)
        case By.SESSION:
            name = selector.value.removesuffix(".md").rsplit("/", 1)[-1]
            stems = [
                span.path.rsplit("/", 1)[-1].removesuffix(".md") for span in spans if kind(span.path) is Kind.SESSION
            ]
            own = fact.get("session") == selector.value or name in stems
            return own or evidence.says(fact, trailers.SESSION, selector.value)
        case By.COMMIT:
            return _comes_from_commit(fact, spans, evidence)


def _comes_from_commit(fact: Fact, spans: Iterable[Span], evidence: Evidence) -> bool:
    """Whether the commit promoted the fact, added it, or added a line it was taken from."""
    if text_hash(fact.text) in evidence.linked:
        return True
    if fact.text in evidence.added.get("", ()):
        return True
    return any(
        line.strip() and line in evidence.added.get(span.path, ())
        for span in spans
        for line in evidence.blobs.get(span.blob, ())[span.start_line - 1 : span.end_line]
    )


# -- what Git says of it -------------------------------------------------------------------------------------


def _read_evidence(
    repo: Repository, head: str, selector: Selector, known: Ledger, rows: Sequence[tuple[str, bytes, Fact]]
) -> Evidence:
    """The evidence about the facts `rows`, (path, bytes of the file, fact). Raises UnknownRevision."""
    match selector.by:
        case By.SOURCE | By.ORIGIN:
            return Evidence(known.sources)
        case By.AGENT | By.SESSION:
            promotions = _promotions(repo, {text_hash(fact.text) for _, _, fact in rows}, known)
            return Evidence(known.sources, promotions, _writers(repo, head, [fact for _, _, fact in rows]))
        case By.COMMIT:
            commit = repo.commit(repo.resolve(selector.value))
            links = trailers.links(trailers.memory_trailers(commit.message), trailers.SOURCE)
            added = _added_lines(repo, commit)
            evidence = Evidence(known.sources, linked=frozenset(link.sha256 for link in links), added=added)
            spans = (span for _, _, fact in rows for span in evidence.spans(fact))
            oids = dict.fromkeys(span.blob for span in spans if span.blob and added.get(span.path))
            texts = zip(oids, repo.read_many(oids), strict=True)  # as they were asked: a fact may cite a shortened oid
            return replace(evidence, blobs={oid: blob_lines(data) for oid, (_, data) in texts if data})


def _promotions(repo: Repository, digests: Iterable[str], known: Ledger) -> dict[str, list[trailers.Trailer]]:
    """The trailers of the promotion of each fact that was promoted, by the hash of its text."""
    promoted = {digest: known.by_hash[digest] for digest in digests if digest in known.by_hash}
    messages = {oid: repo.commit(oid).message for oid in dict.fromkeys(promoted.values())}
    return {digest: trailers.block_with(messages[oid], trailers.SOURCE, digest) for digest, oid in promoted.items()}


def _writers(repo: Repository, head: str, facts: Iterable[Fact]) -> dict[str, Sequence[trailers.Trailer]]:
    """Fact id -> the trailers of the commit that wrote it."""
    found = writers(repo, head, facts)
    rows = {ident: trailers.memory_trailers(writer.commit.message) for ident, writer in found.items()}
    return {ident: block for ident, block in rows.items() if block}


def _added_lines(repo: Repository, commit: Commit) -> dict[str, frozenset[str]]:
    """The lines a commit added, by path; under "" the texts of the facts of long-term memory that they belong to,
    without the facts that it only moved, as to the archive."""
    added: dict[str, frozenset[str]] = {}
    lasting: set[str] = set()
    before: set[str] = set()
    for change in repo.changes(commit.parents[0] if commit.parents else "", commit.oid):
        if not change.path.endswith(".md") or not change.new_oid.strip("0"):
            continue
        if change.old_oid.strip("0"):
            old = blob_lines(repo.read(change.old_oid))
        else:
            old = []
        lines = blob_lines(repo.read(change.new_oid))
        new = frozenset(lines) - frozenset(old)
        added[change.path] = new
        if kind(change.path) in (Kind.MEMORY, Kind.ARCHIVE):
            facts = memory_facts.parse_lines(lines).facts
            lasting |= {fact.text for fact in facts if new.intersection(lines[fact.line - 1 : fact.end])}
            before |= {fact.text for fact in memory_facts.parse_lines(old).facts}
    return added | {"": frozenset(lasting - before)}


def _superseded(repo: Repository, oid: str, path: str, fact: Fact, gone: set[str]) -> Fact | None:
    """The fact this one replaced, as it was before the promotion `oid`, unless it is taken out too."""
    ident = fact.get("supersedes")
    if not ident or not oid or any(known.startswith(ident) for known in gone):
        return None
    commit = repo.commit(oid)
    if not commit.parents:
        return None
    for entry in repo.entries(commit.parents[0], [path]):
        before = memory_facts.parse(repo.read(entry.oid)).find(ident)
        if before:
            return before.fact
    return None


def _taken_out_of_archive(
    repo: Repository, reading: Reading, memories: Mapping[str, Memory], ident: str
) -> dict[str, Memory]:
    """The archives without the copy of a superseded fact that is given back."""
    entries = repo.entries(repo.head() or "", ["memory/archive"])
    found: dict[str, Memory] = {}
    for path in [entry.path for entry in entries if kind(entry.path) is Kind.ARCHIVE]:
        memory = memories.get(path) or memory_facts.parse(reading.committed(path))
        for entry in [each for each in memory.entries if each.fact.id == ident]:
            if entry.fact.get(memory_facts.SUPERSEDED_BY):
                found[path] = memory = memory_facts.remove(memory, memory.find(ident) or entry)
    return found


# -- one commit ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Account:
    """How a commit accounts for what it takes out: what it does and why. `reverted`: what it takes back by; `lines`:
    rows of its body besides the facts, places and no text; `rewrites`: it changes past lines of logs, or many lines;
    `sources`: the lines of logs that a fact it adds comes from."""

    what: str
    reason: str
    reverted: str = ""
    lines: tuple[str, ...] = ()
    rewrites: bool = False
    sources: tuple[trailers.Link, ...] = ()


def fact_at(reading: Reading, config: Config, path: str, line: int) -> tuple[Memory, Entry]:
    """The memory file and the fact that the line, any of its own, belongs to. Raises MissingFile for a file that is not
    memory, UnknownFact for a line of no fact, GitMemError for a file with edits."""
    ensure_memory(reading.repo, config, path)
    memory = memory_facts.parse(reading.committed(path))
    entry = memory.at(line)
    if entry is None or line > entry.fact.end:
        raise UnknownFact(
            Message("there is no fact on {}:{}", path, line),
            "name a line of text: headings, comments and blank lines are no facts",
        )
    return memory, entry


def _draft(config: Config, account: Account, taken: Sequence[Removal], new: Mapping[str, Memory]) -> Draft:
    """What is to be committed: these files alone. Raises Refused for a reason that the gate stops."""
    message = message_of(config, account, taken)
    return CommitDraft({path: memory.data() for path, memory in new.items()}, tuple(taken), message)


def message_of(config: Config, account: Account, taken: Sequence[Removal]) -> str:
    """The message of the commit that takes these facts out. Raises Refused for a reason that the gate stops."""
    from gitmem.gate.policy import MESSAGE
    from gitmem.gate.redaction import refuse_or_mask_text

    reason = refuse_or_mask_text(" ".join(account.reason.split()), MESSAGE, config)
    return _message(account, taken, reason, config)


def _message(account: Account, taken: Sequence[Removal], reason: str, config: Config) -> str:
    lines = [f"memory: {account.what}", ""]
    for item in taken:
        kind_of = item.fact.get("type")
        lines.append(
            f"- {encode(item.path)}:{item.fact.line} {item.fact.id}" + (f" ({encode(kind_of)})" if kind_of else "")
        )
        lines += [f"  {render_span(span)}" for span in item.sources]
    lines += account.lines
    rejected = [
        trailers.Link(span, item.path, text_hash(item.fact.text)) for item in taken for span in item.sources or (None,)
    ]
    rejected += [
        trailers.Link(span, item.path, text_hash(fact.text))
        for item in taken for fact in item.below for span in cited(fact) or (None,)
    ]  # fmt: skip
    sources = [
        trailers.Link(span, item.path, text_hash(item.new)) for item in taken if item.new for span in item.sources
    ]
    logs = any(is_daily(item.path, config.memory_daily) for item in taken)
    rewrites = account.rewrites or len(taken) >= BULK_LINES or logs
    recorded = trailers.Recorded(
        rejected=tuple(rejected),
        sources=(*sources, *account.sources),
        reverted=account.reverted,
        agent=config.agent,
        reason=reason,
        rewrite=(reason or account.what) if rewrites else "",
    )
    return trailers.with_record("\n".join(lines), recorded)


def as_value(done: object) -> dict[str, object]:
    """The JSON of docs/json.md, "edit, forget, revert"."""
    from gitmem.gate.redaction import mask_counts
    from gitmem.memory.fact import render_span
    from gitmem.provenance.corrections import Correction

    assert isinstance(done, Correction)
    return {
        "commit": done.commit or None,
        "masked": mask_counts(done.masks),
        "differs": json_value(done.differs),
        "facts": [
            {
                "path": item.path,
                "line": item.fact.line,
                "end_line": item.fact.end,
                "id": item.fact.id,
                "text": item.fact.text,
                "trail": list(item.fact.trail),
                "below": [json_object(fact, "line id text") for fact in item.below],
                "new_text": item.new or None,
                "restored": item.restored or None,
                "sources": [render_span(span) for span in item.sources],
            }
            for item in done.taken
        ],
    }
