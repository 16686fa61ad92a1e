"""Imports documents into memory: each goes through the gate, none replaces a file, and all are written or none.

MEMORY.md and the archive get the facts that they lack. Existing text stays, so the same import again writes nothing. A
file that still is as `git mem init` wrote it counts as missing. Nothing is committed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from gitmem.config import Config
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.gate.file_names import masked_name
from gitmem.gate.redaction import Mask
from gitmem.git.opening import Repository
from gitmem.git.transaction import Draft, Reading, write
from gitmem.git.worktree import read_bytes
from gitmem.json_values import json_keys
from gitmem.memory import facts
from gitmem.memory.fact import Fact, text_hash
from gitmem.memory.importing import pass_gate, problem_of_new_name
from gitmem.memory.sections import HEADINGS
from gitmem.memory.templates import template_versions
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, agents_read, kind
from gitmem.plural import counted
from gitmem.provenance.ledger import read_ledger, rejections

STEERS = "tells agents what to do: --instructions imports it too"
WITH_FACTS = (Kind.MEMORY, Kind.ARCHIVE)  # kinds of files to which missing facts are added
GUIDES = (Kind.INSTRUCTIONS, Kind.RULE, Kind.SKILL)  # kinds of files that tell agents what to do


@json_keys("from=name path")
@dataclass(frozen=True, slots=True)
class Arrival:
    """A document to import. `name`: its name at its origin. `path`: the file of memory that it shall become. `data`:
    its bytes. `over`: the bytes of the existing file at `path`, None if there is none or before `import_plan`."""

    name: str
    path: str
    data: bytes
    over: bytes | None = None


@json_keys("from=name reason")
class LeftOut(NamedTuple):
    """A document that is not imported."""

    name: str
    reason: str


@json_keys("files left=left_out same masked=masked_names notes")
@dataclass(frozen=True, slots=True)
class DocumentImport:
    """What an import does.

    `files`: written. `left`: (name, reason) of documents that are not imported. `same`: paths whose file has the text
    already. `masked`: (name, masks) of documents in which secrets or personal data were masked. `notes`: for the
    person.

    JSON: `files`: what was written. `left`: what was not imported. `same`: files that are there already. `masked`:
    files in which personal data or secrets were masked. `notes`: what was not taken over from a bundle.
    """

    files: tuple[Arrival, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    same: tuple[str, ...] = ()
    masked: tuple[tuple[str, tuple[Mask, ...]], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def left_out(self) -> list[LeftOut]:
        return [LeftOut(*each) for each in self.left]

    @property
    def masked_names(self) -> list[str]:
        return [name for name, _ in self.masked]


def import_plan(
    repo: Repository,
    config: Config,
    arrivals: Iterable[Arrival],
    unread: Iterable[tuple[str, str]] = (),
    notes: Iterable[str] = (),
    *,
    instructions: bool = False,
) -> DocumentImport:
    """What an import of these documents would write; nothing is written yet. Each document passes the gate, which may
    mask or refuse it. None replaces a file with another text; MEMORY.md and the archive get the facts that they lack.

    `unread`, `notes`: from the reader of the documents, and passed on. `instructions`: also import files that tell
    agents what to do. Raises GitMemError in a bare repository.
    """
    if repo.root is None:
        raise GitMemError("a bare repository holds no memory files", "run it in a clone")
    files: list[Arrival] = []
    left_out, unchanged, all_notes = list(unread), list[str](), list(notes)
    masked: list[tuple[str, tuple[Mask, ...]]] = []
    for arrival in arrivals:
        if not instructions and (kind(arrival.path) in GUIDES or agents_read(arrival.path)):
            left_out.append((arrival.name, STEERS))
            continue
        safe_data, reason, masks = pass_gate(arrival.data, arrival.path, config)
        if reason:
            left_out.append((arrival.name, reason))
            continue
        try:
            present_data = read_bytes(repo.root, arrival.path, MAX_MEMORY_FILE_BYTES + 1)
        except FileNotFoundError:
            present_data = None
        except (OSError, OutsideRepository) as error:
            left_out.append((arrival.name, f"'{arrival.path}' cannot be written: {error}"))
            continue
        if present_data is None and (reason := problem_of_new_name(arrival.path)):
            left_out.append((masked_name(arrival.name), reason))
            continue
        if present_data == safe_data:
            unchanged.append(arrival.path)
            continue
        if present_data is not None and present_data not in template_versions(arrival.path):
            if kind(arrival.path) not in WITH_FACTS:
                left_out.append((arrival.name, f"'{arrival.path}' is there already and says something else"))
                continue
            safe_data, note = _with_facts(repo, present_data, safe_data)
            all_notes.append(f"{arrival.path} {note}")
            if safe_data == present_data:
                unchanged.append(arrival.path)
                continue
        if masks:
            masked.append((arrival.name, masks))
        files.append(Arrival(arrival.name, arrival.path, safe_data, present_data))
    return DocumentImport(tuple(files), tuple(left_out), tuple(unchanged), tuple(masked), tuple(all_notes))


def _with_facts(repo: Repository, present: bytes, new: bytes) -> tuple[bytes, str]:
    """The file of facts `present` with the facts of `new` that it lacks, and a note about what was added.

    Each fact comes with the lines indented below it, under its heading. A fact that somebody removed here is not added.
    """
    memory, arriving = facts.parse(present), facts.parse(new)
    present_ids = {fact.id for fact in memory.facts}
    lacking = [entry for entry in arriving.items if entry.fact.id not in present_ids]
    head = repo.head()
    removed = frozenset[str]()
    if head and lacking:
        removed = rejections(repo, read_ledger(repo, [head])).hashes
    added = [entry for entry in lacking if text_hash(entry.fact.text) not in removed]
    groups: dict[tuple[str, ...], list[tuple[list[str], Fact]]] = {}
    for entry in added:
        fact = entry.fact
        names = (fact.heading,) if fact.heading else HEADINGS.get(fact.get("type"), HEADINGS["fact"])
        block = [line.rstrip("\r\n") + memory.newline for line in arriving.lines[entry.start - 1 : entry.end]]
        groups.setdefault(names, []).append((block, fact))
    present_details = {fact.id: _details(fact) for fact in memory.facts}
    arriving_facts = [entry.fact for entry in arriving.items]
    changed = sum(present_details.get(fact.id, _details(fact)) != _details(fact) for fact in arriving_facts)
    for names, rows in groups.items():
        memory = facts.insert_all(memory, rows, names)
    words = f"gets {counted(len(added), 'fact')}, {len(arriving_facts) - len(lacking)} there already"
    left_out = len(lacking) - len(added)
    if left_out:
        words += f", {left_out} taken out here before stay out"
    if changed == 1:
        words += "; 1 fact differs in type, tags or last day and stays as it is here"
    elif changed:
        words += f"; {counted(changed, 'fact')} differ in type, tags or last day and stay as they are here"
    return memory.data(), words


def _details(fact: Fact) -> tuple[str, ...]:
    """The type, tags and last day of a fact, which an imported document may state otherwise."""
    return tuple(fact.get(key) for key in ("type", "tags", "until"))


def write_import(repo: Repository, plan: DocumentImport) -> None:
    """Write the files of an import to the work tree; nothing is committed. Raises Changed or GitMemError if somebody
    wrote one of them meanwhile; nothing is written then."""

    def draft(reading: Reading) -> Draft[None]:
        contents: dict[str, bytes | None] = {}
        for file in plan.files:
            if reading.raw(file.path) != file.over:
                raise GitMemError(f"'{file.path}' was written meanwhile; nothing was imported", "run it again")
            contents[file.path] = file.data
        return Draft(contents, None)

    if plan.files:
        write(repo, draft)
