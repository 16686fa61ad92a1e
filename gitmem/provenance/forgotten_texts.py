"""Finds the texts that people removed from memory; no command may show them, not even as of an earlier commit.

Everything that shows memory asks this module. The result is cached in the Git directory as hashes, never as text; the
history is walked again when HEAD has new removals, or when the cache cannot be written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from gitmem.errors import GitMemError, ObjectsLeftOut
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes, state_dir, write_atomic
from gitmem.json_values import parse_json
from gitmem.memory.fact import Fact
from gitmem.memory.forgotten import NOTHING, Forgotten, is_identifying, make_forgotten, pattern_of, unlabelled

FILE = "forgotten.json"  # cache in the folder of our state
MAX_FILE_BYTES = 8 << 20
VERSION = 2
MEMORY = ("MEMORY.md", ".claude/MEMORY.md")  # a text that one of these files has again is not forgotten


def forgotten_texts(repo: Repository, commit: str = "") -> Forgotten:
    """The texts that people removed in the history of `commit` (HEAD for ""), without those that another text replaced
    and those that its MEMORY.md has again. Without a commit there are none. The answer for HEAD is cached on disk.
    A text of a version that a partial clone left out is missing; `repo.left_out` then names the version.
    Raises GitMemError when HEAD is broken and no commit is given."""
    head = None
    try:
        head = repo.head()
    except GitMemError:
        if not commit:  # with a commit given, a broken HEAD does not matter
            raise
    if commit and commit != head:
        with repo.skipping_left_out():
            return _parse(_read(repo, commit, sorted(repo.blobs(commit, MEMORY).values())))
    if not head:
        return NOTHING
    cached = _load(repo)
    if cached.get("head") == head:
        return _parse(cached)
    with repo.skipping_left_out():
        return _of_head(repo, head, cached)


def _of_head(repo: Repository, head: str, cached: dict[str, Any]) -> Forgotten:
    """The forgotten texts of HEAD, read from the history, and cached if no object of it is left out. `cached`: the JSON
    of the cache, {} for none."""
    blobs = sorted(repo.blobs(head, MEMORY).values())
    if cached and cached["memory"] == blobs and not _has_new_records(repo, cached["head"], head):
        value = {**cached, "head": head}
    else:
        value = {"version": VERSION, "head": head, "memory": blobs, **_read(repo, head, blobs)}
    if repo.left_out:  # a partial clone has not all texts, and may have them later
        return _parse(value)
    with suppress(OSError, GitMemError):
        write_atomic(state_dir(repo.common_dir), FILE, json.dumps(value).encode("ascii"), private=True)
    return _parse(value)


def _load(repo: Repository) -> dict[str, Any]:
    """The JSON of the cache; {} when it is missing, damaged or of another version."""
    try:
        value: dict[str, Any] = parse_json(read_bytes(repo.common_dir / "gitmem", FILE, MAX_FILE_BYTES))
        _parse(value)
        if value["version"] == VERSION and isinstance(value["memory"], list) and isinstance(value["head"], str):
            return value
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, GitMemError):
        return {}


def _parse(value: dict[str, Any]) -> Forgotten:
    """The forgotten texts in the JSON of the cache. Raises KeyError, TypeError, ValueError or AttributeError for JSON
    of another shape."""
    forms = {
        str(beginning): frozenset((int(length), str(digest)) for length, digest in rows)
        for beginning, rows in value["forms"].items()
    }
    return Forgotten(frozenset(map(str, value["ids"])), frozenset(map(str, value["taken"])), forms)


def _has_new_records(repo: Repository, read_head: str, head: str) -> bool:
    """Whether commits since `read_head` have trailers of a ledger, or `head` does not descend from `read_head`. True
    when Git cannot tell."""
    from gitmem.provenance.ledger import matching_commits

    try:
        if not repo.is_ancestor(read_head, head):
            return True
        return any(True for _ in matching_commits(repo, [head, f"^{read_head}"]))
    except GitMemError:
        return True


def _read(repo: Repository, head: str, memory: list[str]) -> dict[str, Any]:
    """The forgotten texts of the history of `head`, as the JSON of the cache. `memory`: oids of its MEMORY files.

    The ledger has hashes only; the texts are read from the files before the commits that removed them.
    """
    from gitmem.memory import facts as memory_facts
    from gitmem.memory.document import blob_lines
    from gitmem.memory.fact import id_of_hash, normalise, text_hash
    from gitmem.provenance.commit_effects import CommitEffects
    from gitmem.provenance.corrections import CORRECTED, SUPERSEDED
    from gitmem.provenance.ledger import read_ledger, refusals

    try:
        refused = refusals(repo, read_ledger(repo, [head]))
    except ObjectsLeftOut:
        repo.add_left_out(head)
        refused = {}
    removed = {digest: each.commit for digest, each in refused.items() if not each.edited and not each.declined}
    present: list[str] = []
    if removed:
        for _, data in repo.read_many(memory):
            present += (fact.text for fact in memory_facts.parse(data or b"").facts)
        for text in present:
            removed.pop(text_hash(text), None)
    texts: dict[str, str] = {}
    parts: set[str] = set()
    effects = CommitEffects(repo)
    for oid in dict.fromkeys(removed.values()):
        commit = repo.commit(oid)
        if commit.subject in (f"memory: {CORRECTED}", f"memory: {SUPERSEDED}"):  # another text replaced it
            removed = {digest: by for digest, by in removed.items() if by != oid}
            continue
        for file in effects.files(commit):
            if not file.old:
                continue
            data = next(iter(repo.read_many([file.old])))[1] or b""
            facts = memory_facts.parse(data).facts
            for text in (*(fact.text for fact in facts), *map(normalise, blob_lines(data))):
                digest = text_hash(text)
                if digest in removed:
                    texts[digest] = text
            for fact in facts:
                if text_hash(fact.text) in removed:
                    parts.update(_cited_parts(repo, fact))
    bare = list(filter(None, map(unlabelled, texts.values())))
    own = [part for part in parts if not any(map(pattern_of([part]).search, present))]
    value = make_forgotten(map(id_of_hash, refused), removed, [*texts.values(), *bare, *own])
    return {
        "ids": sorted(value.ids), "taken": sorted(value.removed_ids),
        "forms": {beginning: sorted(rows) for beginning, rows in value.forms.items()},
    }  # fmt: skip


def _cited_parts(repo: Repository, fact: Fact) -> Iterator[str]:
    """The parts of a fact's text that its source lines say word for word, with or without their label. A promotion
    joins a statement and its reason, and a topic and its statement, so that no line says the whole text."""
    from gitmem.memory import statements
    from gitmem.memory.document import blob_lines
    from gitmem.memory.fact import cited_spans
    from gitmem.provenance.cited_text import cited_text
    from gitmem.text.sentences import sentences

    for span in cited_spans(fact.meta):
        oid = span.blob and repo.find_blob(span.path, span.blob)
        if not oid:
            continue
        lines = blob_lines(next(iter(repo.read_many([oid])))[1] or b"")
        cited = cited_text(statements.read(lines), lines, span.start_line, span.end_line).statements
        for said in (*cited, *(sentence for statement in cited for sentence in sentences(statement))):
            for part in (said, unlabelled(said)):
                if is_identifying(part) and pattern_of([part]).search(fact.text):
                    yield part
