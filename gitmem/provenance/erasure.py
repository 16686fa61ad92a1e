"""Forgetting a fact everywhere: its text leaves all memory files of HEAD, in one commit that keeps only its hash.

What stays as a record is the `Memory-Rejected` trailer of the fact: place, source and hash, no text. History, other
branches and other clones are not touched. A line that another fact rests on is never taken out silently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby

from gitmem.config import Config
from gitmem.errors import GitMemError, Refused
from gitmem.git import undo_record
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit, writer
from gitmem.json_values import json_object
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, encode, normalise, text_hash
from gitmem.memory.forgotten import MASK, pattern_of, unlabelled
from gitmem.memory.snapshot import read_work_tree, tree_files
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind
from gitmem.provenance.cited_sources import cited, facts_at, merged
from gitmem.provenance.corrections import Account, Correction, Removal, as_value, fact_at, message_of
from gitmem.provenance.forgotten_names import stem, without_words
from gitmem.provenance.ledger import Ledger, read_ledger
from gitmem.provenance.remaining_copies import source_texts

LASTING = (Kind.MEMORY, Kind.ARCHIVE)
RENAMED = (Kind.SESSION, Kind.NOTE, Kind.OTHER)  # whose file names are words of what they say
GUARDED = (Kind.INSTRUCTIONS, Kind.RULE, Kind.SKILL)  # people's instructions: named, never changed


class Change(StrEnum):
    """What becomes of a line that says what is forgotten."""

    REMOVED = "removed"
    MASKED = "masked"  # the line says more: only the text is replaced
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line of a file as it was, 1-based. `verbatim`: the text itself stands on it, or in the statement it is part of;
    else the fact was taken from it."""

    path: str
    line: int
    change: Change
    text: str
    verbatim: bool = True


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was done: the facts, the lines besides them, in order of path and line, the lines that are left, and the
    files whose names said it (old, new). `texts`: what was looked for."""

    correction: Correction
    lines: tuple[LineChange, ...]
    left: tuple[LineChange, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    texts: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to go: the text, with and without its label, and (path, text) of the lines it was taken from."""

    texts: tuple[str, ...]  # normalised, case folded
    pattern: re.Pattern[str]
    sources: frozenset[tuple[str, str]]


def forget_everywhere(
    repo: Repository, config: Config, path: str, line: int, reason: str, *, dry_run: bool = False
) -> Erasure:
    """Remove the fact at `path`:`line` and every line of memory that says the same or that it was taken from.

    A line that says more keeps the rest (`Change.MASKED`). Left, and named, are other facts that say more, source lines
    of other facts, and instruction files. Raises as `forget`, for an edit in any of these files too, and Refused where
    another fact rests on a line that says the text; nothing is written then. A dry run writes nothing.
    """
    plan = everywhere_plan(config, path, line, reason)
    if dry_run:
        return plan(Reading(repo)).result
    done, oid = commit(repo, plan)
    drop_kept_texts(repo)
    return Erasure(Correction(done.correction.taken, oid), done.lines, done.left, done.renamed, done.texts)


def everywhere_plan(config: Config, path: str, line: int, reason: str) -> Callable[[Reading], CommitDraft[Erasure]]:
    """The plan of `forget_everywhere`; who commits it calls `drop_kept_texts` then."""
    return lambda reading: _plan(reading, config, path, line, reason)


def drop_kept_texts(repo: Repository) -> None:
    """Have `git mem undo` keep no text that may say what was forgotten."""
    with writer(repo):
        undo_record.drop_texts(repo)


def erasure_value(done: Erasure) -> dict[str, object]:
    """The JSON of docs/json.md, "git mem forget --everywhere"."""
    rows = [json_object(row, "path line change text") for row in done.lines]
    left = [json_object(row, "path line") for row in done.left]
    renamed = [{"path": new} for _, new in done.renamed]
    return {**as_value(done.correction), "lines": rows, "remaining": left, "renamed": renamed}


def _plan(reading: Reading, config: Config, path: str, line: int, reason: str) -> CommitDraft[Erasure]:
    repo = reading.repo
    memory, entry = fact_at(reading, config, path, line)
    known = read_ledger(repo, ["HEAD"])
    first = replace(_removal_of(path, entry.fact, known), below=tuple(memory.below(entry)))
    wanted = _forms_of(repo, first)
    files = _files_that_say_it(reading, config, wanted, path)
    facts: list[Removal] = [first]
    for name, data in files.items():
        for other in memory_facts.parse(data).entries:
            again = _lasts(name, other.fact) and other.fact.text.casefold() in wanted.texts
            if again and (name, other.start) != (path, entry.start):
                facts.append(_removal_of(name, other.fact, known))
    places = {(item.path, item.fact.line) for item in facts}
    changes = [row for name, data in files.items() for row in _line_changes(name, data, wanted, places)]
    changes = _spare_sources_of_others(repo, known, changes, places)
    lines = tuple(row for row in changes if row.change is not Change.LEFT)
    left = tuple(row for row in changes if row.change is Change.LEFT)
    elsewhere = [row for row in lines if (row.path, row.line) not in places]
    count = f"{len(facts)} fact{'s' if len(facts) > 1 else ''}"
    account = Account(f"forget {count} everywhere", reason, rewrites=True)
    contents: dict[str, bytes | None] = {name: _without(data, name, lines, wanted) for name, data in files.items()}
    contents = {name: data for name, data in contents.items() if data != files[name]}
    renamed = {}
    taken = {path: files[path] for path in files} | contents
    for name in _named_after_it(reading, config, wanted, contents):
        said = taken.get(name)
        # an empty file has nothing left to say
        if said is None:
            said = reading.committed(name)
        new, data = without_words(name, said, first.fact.text, reading.raw)
        if new != name:
            renamed[name] = new
            contents[name] = None
        contents[new] = data
    contents |= _linking_to(reading, config, renamed, contents)
    # A name that says the text is not written down again.
    rows = tuple(f"- {encode(renamed.get(row.path, row.path))}:{row.line} {row.change}" for row in elsewhere)
    rows += tuple(f"- {encode(new)} renamed" for new in renamed.values())
    account = replace(account, lines=rows)
    forms = forms_of(first.fact.text, wanted.sources)
    erasure = Erasure(Correction(tuple(facts), ""), lines, left, tuple(renamed.items()), forms)
    return CommitDraft(contents, erasure, message_of(config, account, facts))


def _linking_to(
    reading: Reading, config: Config, renamed: Mapping[str, str], contents: Mapping[str, bytes | None]
) -> dict[str, bytes | None]:
    """The files that name one that gets another name, with the new one; what has edits is left as it is."""
    names = {stem(old).encode(): stem(new).encode() for old, new in renamed.items()}
    repo, head = reading.repo, reading.repo.head()
    linking: dict[str, bytes | None] = {}
    for path in tree_files(repo, repo.tree(head), config.memory_paths)[0] if names and head else ():
        if path in renamed or kind(path) in GUARDED:
            continue
        try:
            data = contents.get(path) or reading.committed(path)
        except GitMemError:
            continue
        new = data
        for old, name in names.items():
            new = new.replace(old, name)
        if new != data:
            linking[path] = new
    return linking


def _named_after_it(
    reading: Reading, config: Config, wanted: _Wanted, contents: Mapping[str, bytes | None]
) -> list[str]:
    """The episodes and notes that said it, and the notes whose name says it."""
    named = {path for path in contents if kind(path) in RENAMED}
    repo, head = reading.repo, reading.repo.head()
    for path in tree_files(repo, repo.tree(head), config.memory_paths)[0] if head else ():
        if kind(path) in RENAMED and wanted.pattern.search(re.sub(r"[-_.]+", " ", path.rpartition("/")[2])):
            named.add(path)
    return sorted(named)


def _removal_of(path: str, fact: Fact, known: Ledger) -> Removal:
    return Removal(path, fact, tuple(merged(cited(fact), known.sources.get(text_hash(fact.text), []))))


def _forms_of(repo: Repository, taken: Removal) -> _Wanted:
    sources = frozenset(source_texts(repo, taken))
    texts = forms_of(taken.fact.text, sources)
    return _Wanted(tuple(text.casefold() for text in texts), pattern_of(texts), sources)


def forms_of(text: str, sources: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """A text, and what of it stands behind its label where a source line says that: (path, text case folded)."""
    bare = unlabelled(text)
    if bare and any(bare.casefold() in said for _, said in sources):
        return (text, bare)
    return (text,)


def _lasts(path: str, fact: Fact) -> bool:
    return kind(path) in LASTING or bool(fact.get("src"))


def _files_that_say_it(reading: Reading, config: Config, wanted: _Wanted, first: str) -> dict[str, bytes]:
    """The files, by path, in which a line is to change or is named. Raises GitMemError for one with edits."""
    repo, head = reading.repo, reading.repo.head()
    assert head is not None  # the fact's own file is committed
    committed, _ = tree_files(repo, repo.tree(head), config.memory_paths)
    files: dict[str, bytes] = {}
    for path in sorted({*read_work_tree(repo, config.memory_paths).files, *committed, first}):
        try:
            now = reading.read(path)
        except (GitMemError, OSError):
            now = None
        before = None
        if path in committed:
            before = repo.read(committed[path])
        if any(data and len(data) <= MAX_MEMORY_FILE_BYTES and _has_text(path, data, wanted) for data in (now, before)):
            files[path] = reading.committed(path)
    return files


def _has_text(path: str, data: bytes, wanted: _Wanted) -> bool:
    return any(True for _ in _line_changes(path, data, wanted, set()))


def _line_changes(path: str, data: bytes, wanted: _Wanted, places: set[tuple[str, int]]) -> Iterator[LineChange]:
    """Every line of a file that is to change, or to be named: those of a statement that says the text, others that say
    it, and the source lines. What is indented below a statement goes with it."""
    memory = memory_facts.parse(data)
    lines = [line.rstrip("\r\n") for line in memory.lines]
    entries = {entry.start: entry for entry in memory.entries}
    at = 1
    while at <= len(lines):
        entry = entries.get(at)
        if entry:
            last = entry.fact.end
        else:
            last = at
        text = (entry.fact.text if entry else normalise(lines[at - 1])).casefold()
        says = (
            any(each in text for each in wanted.texts)
            or wanted.pattern.search("\n".join(lines[at - 1 : last])) is not None
        )
        if not says and (path, at) not in places:
            for number in range(at, last + 1):
                own = normalise(lines[number - 1]).casefold()
                if (path, own) in wanted.sources:
                    change = _change_of_source(path, lines[number - 1], entry.fact if entry else None)
                    yield LineChange(path, number, change, lines[number - 1], verbatim=False)
            at = last + 1
            continue
        change = _change_of(path, text, wanted, entry.fact if entry else None)
        numbers = [at]
        if change is Change.REMOVED and entry:
            last = entry.end
            numbers = list(range(at, last + 1))
        elif change is Change.MASKED:
            said = _lines_saying("\n".join(lines[at - 1 : last]), wanted)
            numbers = [at + n for n in said] or numbers
            if not said:
                change = Change.LEFT
        for number in numbers:
            yield LineChange(path, number, change, lines[number - 1])
        at = last + 1


def _lines_saying(text: str, wanted: _Wanted) -> list[int]:
    """Which lines of a statement, from 0, hold the text word for word."""
    found = [(match.start(), match.end()) for match in wanted.pattern.finditer(text)]
    return sorted({n for start, end in found for n in range(text.count("\n", 0, start), text.count("\n", 0, end) + 1)})


def _change_of(path: str, text: str, wanted: _Wanted, fact: Fact | None) -> Change:
    """What becomes of a statement, or of another line, that says what is forgotten."""
    if kind(path) in GUARDED:
        return Change.LEFT
    if text in wanted.texts:
        return Change.REMOVED
    # Another fact, which says more, is not ours to change.
    if fact and _lasts(path, fact):
        return Change.LEFT
    return Change.MASKED


def _change_of_source(path: str, line: str, fact: Fact | None) -> Change:
    """What becomes of a line that the fact was taken from: a heading holds other entries too."""
    kept = kind(path) in GUARDED or (fact and _lasts(path, fact)) or line.startswith("#")
    if kept:
        return Change.LEFT
    return Change.REMOVED


def _spare_sources_of_others(
    repo: Repository, known: Ledger, changes: list[LineChange], places: set[tuple[str, int]]
) -> list[LineChange]:
    """Leave the lines that a fact which stays was taken from. Raises Refused where such a line says the text."""
    rests = _rests_on(repo, known, {row.path for row in changes}, places)
    result = []
    for row in changes:
        holder = rests.get((row.path, normalise(row.text).casefold()))
        if holder is None or row.change is Change.LEFT:
            result.append(row)
        elif row.verbatim:
            raise Refused(
                Message("{}:{} says it and is also the source of {}; nothing was changed", row.path, row.line, holder),
                Message("{} first, or without --everywhere", f"git mem forget {holder}"),
            )
        else:
            result.append(LineChange(row.path, row.line, Change.LEFT, row.text, verbatim=False))
    return result


def _rests_on(
    repo: Repository, known: Ledger, paths: set[str], places: set[tuple[str, int]]
) -> Mapping[tuple[str, str], str]:
    """(path, text) of the source lines in `paths` of the facts that stay -> PATH:LINE of one of these facts."""
    resting: dict[tuple[str, str], str] = {}
    head = repo.head()
    for path, _, fact in facts_at(repo, head) if head else ():
        taken = _removal_of(path, fact, known)
        if (path, fact.line) in places or not any(span.path in paths for span in taken.sources):
            continue
        for key in source_texts(repo, taken):
            resting.setdefault(key, f"{path}:{fact.line}")
    return resting


def _without(data: bytes, path: str, changes: tuple[LineChange, ...], wanted: _Wanted) -> bytes:
    what = {row.line: row.change for row in changes if row.path == path}
    result = []
    rows = enumerate(memory_facts.split_lines(data), 1)
    for change, group in groupby(rows, key=lambda row: what.get(row[0])):
        text = "".join(raw for _, raw in group)
        if change is Change.MASKED:  # the text may go over several lines
            text = wanted.pattern.sub(MASK, text)
        if change is not Change.REMOVED:
            result.append(text)
    return "".join(result).encode("utf-8", "surrogateescape")
