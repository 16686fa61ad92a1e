"""`git mem forget --everywhere`: removes the text of a fact from all memory files of HEAD, in one commit.

The commit keeps only the place, the source and the hash of the fact (`Memory-Rejected`), no text. An episode (the note
of a session) also loses the sentences that surely say the same in other words; lines that may say it are named.
History, other branches and other clones are not changed. A line that another fact cites is never removed: the command
refuses, or leaves the line and names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace

from gitmem.config import Config
from gitmem.errors import GitMemError, Refused
from gitmem.git import undo_record
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit, writer
from gitmem.json_values import json_object
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, cited_spans, fact_id, normalise, text_hash
from gitmem.memory.facts import parse_lines
from gitmem.memory.forgotten import pattern_of, unlabelled
from gitmem.memory.percent_encoding import encode
from gitmem.memory.rivals import PlacedFact
from gitmem.memory.snapshot import read_work_tree, tree_files
from gitmem.memory.state import SAYS
from gitmem.messages import Message
from gitmem.paths import ISO_DAY, MAX_MEMORY_FILE_BYTES, Kind, kind
from gitmem.plural import counted
from gitmem.provenance.cited_sources import facts_at, lines_of_span, merge_spans
from gitmem.provenance.corrections import Correction, MessageParts, Removal, fact_at, message_of
from gitmem.provenance.erased_lines import (
    GUARDED_KINDS,
    Change,
    LineChange,
    Target,
    is_lasting,
    line_changes,
    with_changes,
)
from gitmem.provenance.ledger import Ledger, read_ledger
from gitmem.provenance.remaining_copies import source_texts
from gitmem.text.terms import terms

RENAMED_KINDS = (Kind.SESSION, Kind.NOTE, Kind.OTHER)  # files whose names are made of words of their text
MIN_WORDS_OF_NOTE = 2  # words of the forgotten text in the name of a note that make it change its name
_DAY = re.compile(rf"{ISO_DAY}-?")
_TOPICS = re.compile(r"(?m)^## Topics\n\n(?P<words>[^\n]*)\n?\Z")


@dataclass(frozen=True, slots=True)
class Erasure:
    """What `forget_everywhere` changes, or has changed.

    `correction`: the facts that have the text. `lines`: the other changed lines, in the order of paths and lines.
    `left`: the lines that stay as they are. `renamed`: (old, new) paths of files whose names had words of the text.
    `texts`: the forms of the text that were searched for. `unsure`: lines of episodes that may say it in other words,
    with their numbers after the commit.
    """

    correction: Correction
    lines: tuple[LineChange, ...]
    left: tuple[LineChange, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    texts: tuple[str, ...] = field(default=(), repr=False)
    unsure: tuple[LineChange, ...] = ()


def forget_everywhere(
    repo: Repository, config: Config, path: str, line: int, reason: str, *, dry_run: bool = False
) -> Erasure:
    """Remove the fact at `path`:`line`, every line of memory that says the same, its source lines, and the sentences of
    episodes that surely say it in other words, in one commit.

    On a line that says more, only the text is masked. Lines of episodes that may say it stay and are named in
    `Erasure.unsure`. Three kinds of lines stay and are named in `Erasure.left`: other facts that say more, source lines
    of other facts, and lines of instruction files. A session file or note whose name has words of the text is renamed.
    Raises MissingFile or UnknownFact when there is no such fact, GitMemError for uncommitted edits in one of the files,
    Refused when the gate refuses the reason or another fact cites a line that has the text, Changed when another
    process wrote meanwhile, GitFailed when a hook refuses. Nothing is written then. A dry run writes nothing.
    """
    plan = everywhere_plan(config, path, line, reason)
    if dry_run:
        return plan(Reading(repo)).result
    erasure, oid = commit(repo, plan)
    drop_kept_texts(repo)
    unsure = tuple(_after_changes(row, erasure) for row in erasure.unsure)
    return replace(erasure, correction=Correction(erasure.correction.removals, oid), unsure=unsure)


def _after_changes(row: LineChange, erasure: Erasure) -> LineChange:
    """A line that stays, with the path and the line number that it has after the commit."""
    removed = [removal for removal in erasure.lines if removal.path == row.path and removal.change is Change.REMOVED]
    removed_above = sum(removal.line < row.line for removal in removed)
    return replace(row, path=dict(erasure.renamed).get(row.path, row.path), line=row.line - removed_above)


def everywhere_plan(config: Config, path: str, line: int, reason: str) -> Callable[[Reading], CommitDraft[Erasure]]:
    """A plan, for a commit or a dry run, of all that `forget_everywhere` changes; it raises as that does. Whoever
    commits it calls `drop_kept_texts` afterwards."""
    return lambda reading: _erase(reading, config, path, line, reason)


def drop_kept_texts(repo: Repository) -> None:
    """Delete the texts that `git mem undo` keeps: they may have what was forgotten."""
    with writer(repo):
        undo_record.drop_texts(repo)


def erasure_value(erasure: Erasure) -> dict[str, object]:
    """The JSON that `git mem forget --everywhere --json` prints (docs/json.md)."""
    rows = [json_object(row, "path line change text") for row in erasure.lines]
    left = [json_object(row, "path line") for row in erasure.left]
    unsure = [json_object(row, "path line text") for row in erasure.unsure]
    renamed = [{"path": new_path} for _, new_path in erasure.renamed]
    return {**json_object(erasure.correction), "lines": rows, "remaining": left, "unsure": unsure, "renamed": renamed}


def _erase(reading: Reading, config: Config, path: str, line: int, reason: str) -> CommitDraft[Erasure]:
    """The commit of `forget_everywhere`. Raises as `forget_everywhere`."""
    repo = reading.repo
    memory, entry = fact_at(reading, config, path, line)
    ledger = read_ledger(repo, ["HEAD"])
    chosen = replace(_removal_of(path, entry.fact, ledger), below=tuple(memory.below(entry)))
    target = _target_of(repo, chosen)
    files = _files_with_text(reading, config, target, path)
    facts: list[Removal] = [chosen]
    for name, data in files.items():
        for candidate in memory_facts.parse(data).entries:
            same_text = is_lasting(name, candidate.fact) and candidate.fact.text.casefold() in target.texts
            if same_text and (name, candidate.start) != (path, entry.start):
                facts.append(_removal_of(name, candidate.fact, ledger))
    places = {(item.path, item.fact.line) for item in facts}
    changes = [row for name, data in files.items() for row in line_changes(name, data, target, places)]
    changes = _spare_sources_of_others(repo, ledger, changes, places)
    lines = tuple(row for row in changes if row.change not in (Change.LEFT, Change.UNSURE))
    remaining = tuple(row for row in changes if row.change is Change.LEFT)
    unsure = _unsure_lines(reading, config, target, {(row.path, row.line) for row in (*lines, *remaining)})
    contents: dict[str, bytes | None] = {}
    for name, data in files.items():
        new_data = with_changes(data, name, lines, target)
        if new_data != data:
            contents[name] = new_data
    renamed = _rename(reading, _files_to_rename(reading, config, target, contents), files, contents, chosen.fact.text)
    contents |= _with_new_links(reading, config, renamed, contents)
    # The message has the new name of a renamed file, since the old one has words of the text.
    rows = [
        f"- {encode(renamed.get(row.path, row.path))}:{row.line} {row.change}"
        for row in lines
        if (row.path, row.line) not in places
    ]
    rows += [f"- {encode(new_name)} renamed" for new_name in renamed.values()]
    title = f"forget {counted(len(facts), 'fact')} everywhere"
    account = MessageParts(title, reason, rewrites=True, lines=tuple(rows))
    forms = text_forms(chosen.fact.text, target.sources)
    erasure = Erasure(Correction(tuple(facts), ""), lines, remaining, tuple(renamed.items()), forms, unsure)
    return CommitDraft(contents, erasure, message_of(config, account, facts))


def _committed_files(reading: Reading, config: Config) -> Mapping[str, str]:
    """Path -> oid of the memory files at HEAD; empty without a commit."""
    head = reading.repo.head()
    if not head:
        return {}
    return tree_files(reading.repo, reading.repo.tree(head), config.memory_paths)[0]


def _rename(
    reading: Reading, names: Iterable[str], files: Mapping[str, bytes], contents: dict[str, bytes | None], text: str
) -> dict[str, str]:
    """Take the words of `text` out of the names and topics of the files `names`: changes `contents`, the bytes after
    the commit, and returns old path -> new path. `files`: bytes before the commit, where they are read already."""
    renamed = {}
    for name in names:
        data = contents.get(name)
        if data is None:  # an empty file stays empty
            data = files.get(name)
        if data is None:
            data = reading.committed(name)
        new_name, new_data = _without_words(name, data, text, reading.raw)
        if new_name != name:
            renamed[name] = new_name
            contents[name] = None
        contents[new_name] = new_data
    return renamed


def _with_new_links(
    reading: Reading, config: Config, renamed: Mapping[str, str], contents: Mapping[str, bytes | None]
) -> dict[str, bytes | None]:
    """Path -> bytes of each memory file that contains the name of a renamed file, with the new name. Files with
    uncommitted edits and instructions (GUARDED_KINDS) keep the old one. `renamed`: old path -> new path. `contents`:
    the files that change already."""
    names = {_stem(old_path).encode(): _stem(new_path).encode() for old_path, new_path in renamed.items()}
    changed: dict[str, bytes | None] = {}
    if not names:
        return changed
    for path in _committed_files(reading, config):
        if path in renamed or kind(path) in GUARDED_KINDS:
            continue
        try:
            data = contents.get(path) or reading.committed(path)
        except GitMemError:
            continue
        new_data = data
        for old_name, new_name in names.items():
            new_data = new_data.replace(old_name, new_name)
        if new_data != data:
            changed[path] = new_data
    return changed


def _files_to_rename(
    reading: Reading, config: Config, target: Target, contents: Mapping[str, bytes | None]
) -> list[str]:
    """The files of RENAMED_KINDS that change (`contents`), and those whose name has the whole text, by path."""
    paths = {path for path in contents if kind(path) in RENAMED_KINDS}
    for path in _committed_files(reading, config):
        if kind(path) in RENAMED_KINDS and target.pattern.search(re.sub(r"[-_.]+", " ", path.rpartition("/")[2])):
            paths.add(path)
    return sorted(paths)


def _stem(path: str) -> str:
    """The file name without its ending, as links have it."""
    return path.rpartition("/")[2].rpartition(".")[0]


def _without_words(path: str, data: bytes, text: str, read_file: Callable[[str], bytes | None]) -> tuple[str, bytes]:
    """(path, bytes) of a file without the words of `text` in its name and its list of topics.

    Words that the rest of the file has too may stay. The name of an episode changes for one such word, that of a note
    for MIN_WORDS_OF_NOTE. `read_file` returns the file at a path, None for no file: a path in use is not taken.
    """
    is_episode = kind(path) is Kind.SESSION
    content = data.decode("utf-8", "surrogateescape")
    topics = None
    text_above_topics = content
    if is_episode and (topics := _TOPICS.search(content)):
        text_above_topics = content[: topics.start()]
    forgotten = set(terms(text)) - set(terms(text_above_topics))

    def is_forgotten(word: str) -> bool:
        return not forgotten.isdisjoint(terms(word))

    if topics:
        kept_topics = [word for word in topics["words"].split(", ") if word and not is_forgotten(word)]
        if kept_topics:
            text_above_topics += f"## Topics\n\n{', '.join(kept_topics)}\n"
        content = text_above_topics.rstrip("\n") + "\n"
    folder, slash, name = path.rpartition("/")
    name, dot, ending = name.rpartition(".")
    day = ""
    if match := _DAY.match(name):
        day = match[0]
    words = re.split(r"[-_ ]+", name[len(day) :])
    kept_words = [word for word in words if not is_forgotten(word)]
    if len(words) - len(kept_words) >= (1 if is_episode else MIN_WORDS_OF_NOTE):
        new_stem = day + ("-".join(kept_words) or ("session" if is_episode else "note"))
        path = f"{folder}{slash}{new_stem}{dot}{ending}"
        if read_file(path) is not None:
            path = f"{folder}{slash}{new_stem}-{fact_id(text)[:6]}{dot}{ending}"
    return path, content.encode("utf-8", "surrogateescape")


def _removal_of(path: str, fact: Fact, ledger: Ledger) -> Removal:
    """The removal of a fact, with the sources that its comment and its records name."""
    return Removal(path, fact, tuple(merge_spans(cited_spans(fact.meta), ledger.sources.get(text_hash(fact.text), []))))


def _target_of(repo: Repository, removal: Removal) -> Target:
    """The texts and source lines of a removed fact."""
    sources = frozenset(source_texts(repo, removal))
    texts = text_forms(removal.fact.text, sources)
    statements = [PlacedFact(removal.path, Fact(text, fact_id(text), 0, "", removal.fact.meta)) for text in texts]
    own_terms = set(terms(removal.fact.text))
    for fact in (fact for span in removal.sources for fact in parse_lines(lines_of_span(repo, span)).facts):
        # A cited line may be about another thing.
        if len(own_terms & set(terms(fact.text))) >= SAYS * max(1, len(own_terms)):
            statements.append(PlacedFact("", Fact(fact.text, fact.id, 0, "", fact.meta)))
    return Target(tuple(text.casefold() for text in texts), pattern_of(texts), sources, tuple(statements))


def text_forms(text: str, sources: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The text; and the text without its label (`Bakery: ` before it) too, when a source line has the bare text.
    `sources`: (path, case-folded text of a source line)."""
    bare = unlabelled(text)
    if bare and any(bare.casefold() in line for _, line in sources):
        return (text, bare)
    return (text,)


def _files_with_text(reading: Reading, config: Config, target: Target, fact_path: str) -> dict[str, bytes]:
    """Path -> bytes of each file with a line to change or to name; `fact_path` is the file of the fact. Raises
    GitMemError for one with uncommitted edits."""
    repo = reading.repo
    committed = _committed_files(reading, config)
    files: dict[str, bytes] = {}
    for path in sorted({*read_work_tree(repo, config.memory_paths).files, *committed, fact_path}):
        versions = []
        with suppress(GitMemError, OSError):
            versions.append(reading.read(path))
        if path in committed:
            versions.append(repo.read(committed[path]))
        small = (data for data in versions if data and len(data) <= MAX_MEMORY_FILE_BYTES)
        changes = (row for data in small for row in line_changes(path, data, target, set()))
        if any(row.change is not Change.UNSURE for row in changes):
            files[path] = reading.committed(path)
    return files


def _unsure_lines(
    reading: Reading, config: Config, target: Target, known_places: AbstractSet[tuple[str, int]]
) -> tuple[LineChange, ...]:
    """The lines of episodes in the work tree that may say the text in other words, by path and line. `known_places`:
    (path, line) of the lines that change or are named already."""
    unsure = []
    for path in sorted(read_work_tree(reading.repo, config.memory_paths).files):
        data = None
        if kind(path) is Kind.SESSION:
            with suppress(GitMemError, OSError):
                data = reading.read(path)
        if data and len(data) <= MAX_MEMORY_FILE_BYTES:
            rows = line_changes(path, data, target, set())
            unsure += [row for row in rows if row.change is Change.UNSURE and (path, row.line) not in known_places]
    return tuple(unsure)


def _spare_sources_of_others(
    repo: Repository, ledger: Ledger, changes: list[LineChange], places: set[tuple[str, int]]
) -> list[LineChange]:
    """The changes, without those of lines that other facts cite. Raises Refused when such a line has the text."""
    citing = _sources_of_others(repo, ledger, {row.path for row in changes}, places)
    result = []
    for row in changes:
        fact = citing.get((row.path, normalise(row.text).casefold()))
        if fact is None or row.change is Change.LEFT:
            result.append(row)
        elif row.verbatim:
            raise Refused(
                Message("{}:{} says it and is also the source of {}; nothing was changed", row.path, row.line, fact),
                Message("{} first, or without --everywhere", f"git mem forget {fact}"),
            )
        else:
            result.append(LineChange(row.path, row.line, Change.LEFT, row.text, verbatim=False))
    return result


def _sources_of_others(
    repo: Repository, ledger: Ledger, paths: set[str], places: set[tuple[str, int]]
) -> Mapping[tuple[str, str], str]:
    """(path, text) of a source line in `paths` -> PATH:LINE of a fact that cites it and is not at one of `places`."""
    citing: dict[tuple[str, str], str] = {}
    for path, _, fact in facts_at(repo, repo.head() or ""):
        removal = _removal_of(path, fact, ledger)
        if (path, fact.line) in places or not any(span.path in paths for span in removal.sources):
            continue
        for key in source_texts(repo, removal):
            citing.setdefault(key, f"{path}:{fact.line}")
    return citing
