"""Taking back: correct one fact, forget one, remove all that came from a bad source. One commit each, which says so.

The commit names places, ids and hashes, never the text that was taken out, and refuses it for later promotions
(`Memory-Rejected`). History keeps the old text: docs/leaked-secret.md says how to rewrite it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gitmem.config import Config
from gitmem.errors import GitMemError, Refused, UsageError
from gitmem.gate.change_rules import BULK_LINES
from gitmem.gate.change_rules import TRAILER as REWRITE
from gitmem.git.objects import Commit, Span
from gitmem.git.protocol import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, encode, fact_id, normalise, render_span, text_hash
from gitmem.memory.facts import Entry, Memory
from gitmem.paths import Kind, agent_of, kind
from gitmem.provenance import trailers
from gitmem.provenance.ledger import Ledger, read_ledger
from gitmem.provenance.sources import cited, facts_at


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
class Taken:
    """A fact that was taken out (or replaced by `new`), where it stood. `restored`: the fact it had superseded."""

    path: str
    fact: Fact
    sources: tuple[Span, ...]
    new: str = ""
    restored: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """What was done; `commit` is "" for a dry run and when there was nothing to do."""

    taken: tuple[Taken, ...]
    commit: str


def edit(repo: Repository, config: Config, path: str, line: int, text: str, reason: str) -> Correction:
    """Replace the text of the fact at `path`:`line`; its comment stays.

    Raises UsageError for a text that is none, Refused where the gate or a hook says no, Changed where somebody else
    wrote meanwhile, GitMemError where there is no such fact or the file has edits; nothing is written then.
    """
    from gitmem.gate.redaction import refuse_or_mask_text

    text = normalise(text)
    if not text or "<!--" in text or "-->" in text:
        raise UsageError("a fact is one line of text without comment marks")
    text = refuse_or_mask_text(text, path, config)

    def plan(reading: Reading) -> Draft:
        memory, entry = fact_at(reading, path, line)
        if fact_id(text) == entry.fact.id:
            raise UsageError("that is what the line says already")
        if memory.find(fact_id(text)):
            raise Refused(f"{path} says that already, on another line")
        taken = Taken(path, entry.fact, tuple(cited(entry.fact)), new=text)
        new = memory_facts.update(memory, entry, text, entry.fact.meta)
        return _draft(config, Account("correct 1 fact", reason), [taken], {path: new})

    return Correction(*commit(repo, plan))


def forget(repo: Repository, config: Config, path: str, line: int, reason: str, *, dry_run: bool = False) -> Correction:
    """Remove the fact at `path`:`line` with the lines that travel with it. Raises as `edit`. A dry run writes none."""

    def plan(reading: Reading) -> Draft:
        memory, entry = fact_at(reading, path, line)
        taken = Taken(path, entry.fact, tuple(cited(entry.fact)))
        return _draft(config, Account("forget 1 fact", reason), [taken], {path: memory_facts.remove(memory, entry)})

    if dry_run:
        return Correction(plan(Reading(repo)).result, "")
    return Correction(*commit(repo, plan))


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
        account = Account(what, reason or f"taken back: {selector}", ((trailers.REVERTED, str(selector)),))
        return _draft(config, account, taken, memories)

    return Correction(*commit(repo, plan))


def _taken_back(repo: Repository, selector: Selector, reading: Reading) -> tuple[tuple[Taken, ...], dict[str, Memory]]:
    """The facts that `selector` takes back, and the files without them."""
    known = read_ledger(repo, ["HEAD"]) if repo.head() else Ledger()
    chosen = derived(repo, selector, known)
    gone = {fact.id for _, fact in chosen}
    taken: list[Taken] = []
    memories: dict[str, Memory] = {}
    for path, fact in chosen:
        memory = memories.get(path) or memory_facts.parse(reading.committed(path))
        entry = memory.find(fact.id)
        if entry is None:
            continue
        digest = text_hash(fact.text)
        spans = tuple(cited(fact) or dict.fromkeys(known.sources.get(digest, [])))
        before = _superseded(repo, known.by_hash.get(digest, ""), path, fact, gone)
        taken.append(Taken(path, fact, spans, restored=before.text if before else ""))
        if before:
            memories[path] = memory_facts.update(memory, entry, before.text, before.meta)
        else:
            memories[path] = memory_facts.remove(memory, entry)
    return tuple(taken), memories


def derived(repo: Repository, selector: Selector, known: Ledger) -> list[tuple[str, Fact]]:
    """(path, fact) of long-term memory at HEAD that comes from what the selector names."""
    head = repo.head()
    if head is None:
        return []
    found = list(facts_at(repo, head))
    if selector.by is By.COMMIT:
        oid = repo.resolve(selector.value)
        return [(path, fact) for path, _, fact in found if _of_commit(repo, oid, fact, known)]
    authors = _authors(repo, head, [(path, data) for path, data, _ in found], selector)
    return [
        (path, fact) for path, _, fact in found if _matches(repo, selector, fact, known) or (path, fact.line) in authors
    ]


def _spans(fact: Fact, known: Ledger) -> list[Span]:
    return [*cited(fact), *known.sources.get(text_hash(fact.text), [])]


def _matches(repo: Repository, selector: Selector, fact: Fact, known: Ledger) -> bool:
    spans = _spans(fact, known)
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
            wrote = any(agent_of(span.path) == selector.value for span in spans)
            return wrote or _says(repo, fact, known, trailers.AGENT, selector.value)
        case By.SESSION:
            name = selector.value.removesuffix(".md").rsplit("/", 1)[-1]
            stems = [
                span.path.rsplit("/", 1)[-1].removesuffix(".md") for span in spans if kind(span.path) is Kind.SESSION
            ]
            own = fact.get("session") == selector.value or name in stems
            return own or _says(repo, fact, known, trailers.SESSION, selector.value)
        case By.COMMIT:
            return False


def _says(repo: Repository, fact: Fact, known: Ledger, key: str, value: str) -> bool:
    """Whether the promotion of this fact carries such a trailer."""
    digest = text_hash(fact.text)
    oid = known.by_hash.get(digest)
    if oid is None:
        return False
    block = trailers.block_with(repo.commit(oid).message, trailers.SOURCE, digest)
    return value in trailers.values(block, key)


def _authors(
    repo: Repository, head: str, files: Iterable[tuple[str, bytes]], selector: Selector
) -> set[tuple[str, int]]:
    """(path, line) whose last commit carries the agent's or session's trailer: facts it wrote without a promotion."""
    keys = {By.AGENT: trailers.AGENT, By.SESSION: trailers.SESSION}
    key = keys.get(selector.by)
    if key is None:
        return set()
    seen: dict[str, bool] = {}
    found = set()
    for path, data in dict(files).items():
        for row in repo.blame(path, 1, max(1, len(blob_lines(data))), head):
            if row.commit not in seen:
                rows = trailers.memory_trailers(repo.commit(row.commit).message)
                seen[row.commit] = selector.value in trailers.values(rows, key)
            if seen[row.commit]:
                found.add((path, row.line))
    return found


def _of_commit(repo: Repository, oid: str, fact: Fact, known: Ledger) -> bool:
    """Whether the commit promoted the fact, added it, or added a line it was taken from."""
    commit = repo.commit(oid)
    digest = text_hash(fact.text)
    links = trailers.links(trailers.memory_trailers(commit.message), trailers.SOURCE)
    if any(link.sha256 == digest for link in links):
        return True
    added = _added_lines(repo, commit)
    if any(memory_facts.parse(line.encode()).facts and normalise(line) == fact.text for line in added.get("", ())):
        return True
    for span in _spans(fact, known):
        lines = added.get(span.path)
        if not lines:
            continue
        data = next(iter(repo.read_many([span.blob])))[1] if span.blob else None
        cut = blob_lines(data)[span.start_line - 1 : span.end_line] if data else []
        if any(line.strip() and line in lines for line in cut):
            return True
    return False


def _added_lines(repo: Repository, commit: Commit) -> dict[str, frozenset[str]]:
    """The lines a commit added, by path; under "" those of long-term memory."""
    found: dict[str, frozenset[str]] = {}
    lasting: set[str] = set()
    for change in repo.changes(commit.parents[0] if commit.parents else "", commit.oid):
        if not change.path.endswith(".md") or not change.new_oid.strip("0"):
            continue
        old = blob_lines(repo.read(change.old_oid)) if change.old_oid.strip("0") else []
        new = frozenset(blob_lines(repo.read(change.new_oid))) - frozenset(old)
        found[change.path] = new
        if kind(change.path) in (Kind.MEMORY, Kind.ARCHIVE):
            lasting |= new
    return found | {"": frozenset(lasting)}


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


# -- one commit ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Account:
    """How a commit accounts for what it takes out: what it does, why, and trailers besides the usual ones. `lines`:
    rows of its body besides the facts, places and no text; `rewrites`: it changes past lines of logs."""

    what: str
    reason: str
    trailers: tuple[trailers.Trailer, ...] = ()
    lines: tuple[str, ...] = ()
    rewrites: bool = False


Draft = CommitDraft[tuple[Taken, ...]]


def fact_at(reading: Reading, path: str, line: int) -> tuple[Memory, Entry]:
    """The file and the fact that occupies the line. Raises GitMemError for none, and for a file with edits."""
    memory = memory_facts.parse(reading.committed(path))
    entry = memory.at(line)
    if entry is None:
        raise GitMemError(f"there is no fact on {path}:{line}", "a fact is a bullet at the left margin")
    return memory, entry


def _draft(config: Config, account: Account, taken: Sequence[Taken], new: Mapping[str, Memory]) -> Draft:
    """What is to be committed: these files alone. Raises Refused for a reason that the gate stops."""
    message = message_of(config, account, taken)
    return CommitDraft({path: memory.data() for path, memory in new.items()}, tuple(taken), message)


def message_of(config: Config, account: Account, taken: Sequence[Taken]) -> str:
    """The message of the commit that takes these facts out. Raises Refused for a reason that the gate stops."""
    from gitmem.gate.policy import MESSAGE
    from gitmem.gate.redaction import refuse_or_mask_text

    reason = refuse_or_mask_text(" ".join(account.reason.split()), MESSAGE, config)
    return _message(account, taken, reason, config.agent)


def _message(account: Account, taken: Sequence[Taken], reason: str, agent: str) -> str:
    lines = [f"memory: {account.what}", ""]
    for item in taken:
        kind_of = item.fact.get("type")
        lines.append(
            f"- {encode(item.path)}:{item.fact.line} {item.fact.id}" + (f" ({encode(kind_of)})" if kind_of else "")
        )
        lines += [f"  {render_span(span)}" for span in item.sources]
    lines += account.lines
    rows: list[trailers.Trailer] = []
    for item in taken:
        for span in item.sources or (None,):
            link = trailers.Link(span, item.path, text_hash(item.fact.text))
            rows.append((trailers.REJECTED, trailers.render_link(link)))
            if item.new and span:
                link = trailers.Link(span, item.path, text_hash(item.new))
                rows.append((trailers.SOURCE, trailers.render_link(link)))
    rows += account.trailers
    rows += [(trailers.REASON, reason)] if reason else []
    rows += trailers.of_agent(agent)
    if account.rewrites or len(taken) >= BULK_LINES or any(kind(item.path) is Kind.DAILY for item in taken):
        rows.append((REWRITE, reason or account.what))
    return trailers.append("\n".join(lines), rows)


def as_value(done: object) -> dict[str, object]:
    """The JSON of docs/json.md, "edit, forget, revert"."""
    from gitmem.memory.fact import render_span
    from gitmem.provenance.corrections import Correction

    assert isinstance(done, Correction)
    return {
        "commit": done.commit or None,
        "facts": [
            {
                "path": item.path,
                "line": item.fact.line,
                "id": item.fact.id,
                "text": item.fact.text,
                "new_text": item.new or None,
                "restored": item.restored or None,
                "sources": [render_span(span) for span in item.sources],
            }
            for item in done.taken
        ],
    }
