"""Which texts people took out of a history: asked by everything that shows memory, now or as of an earlier commit.

The history is walked once for each HEAD that records something new; what came of it is kept in the Git directory by
hash, never as text. Where nothing can be kept there, it is walked again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes, state_dir, write_atomic
from gitmem.memory.forgotten import NOTHING, Forgotten, forgotten_of, unlabelled

if TYPE_CHECKING:
    from typing import Any

FILE = "forgotten.json"  # in the folder of our state: hashes, and the commit that they are of
MAX_FILE_BYTES = 8 << 20  # bytes of it
VERSION = 1
MEMORY = ("MEMORY.md", ".claude/MEMORY.md")  # a text that stands there, with whoever wrote it, is not forgotten


def forgotten_texts(repo: Repository, commit: str = "") -> Forgotten:
    """What the records that `commit` (HEAD for "") reaches took out, and what does not stand in its MEMORY.md again."""
    head = None
    with suppress(*((GitMemError,) if commit else ())):  # HEAD may be broken where another commit is asked for
        head = repo.head()
    if commit and commit != head:
        return _value(_read(repo, commit, sorted(repo.blobs(commit, MEMORY).values())))
    if not head:
        return NOTHING
    kept = _load(repo)
    if kept.get("head") == head:
        return _value(kept)
    blobs = sorted(repo.blobs(head, MEMORY).values())
    if kept and kept["memory"] == blobs and not _records_more(repo, kept["head"], head):
        value = {**kept, "head": head}
    else:
        value = {"version": VERSION, "head": head, "memory": blobs, **_read(repo, head, blobs)}
    with suppress(OSError, GitMemError):
        write_atomic(state_dir(repo.common_dir), FILE, json.dumps(value).encode("ascii"), private=True)
    return _value(value)


def _load(repo: Repository) -> dict[str, Any]:
    """What was kept; empty where there is nothing of ours."""
    try:
        value: dict[str, Any] = json.loads(read_bytes(repo.common_dir / "gitmem", FILE, MAX_FILE_BYTES))
        _value(value)
        if value["version"] == VERSION and isinstance(value["memory"], list):
            return value
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, GitMemError):
        return {}


def _value(kept: dict[str, Any]) -> Forgotten:
    forms = {
        str(begins): frozenset((int(length), str(digest)) for length, digest in rows)
        for begins, rows in kept["forms"].items()
    }
    return Forgotten(frozenset(map(str, kept["ids"])), frozenset(map(str, kept["taken"])), forms)


def _records_more(repo: Repository, old: str, head: str) -> bool:
    """Whether commits since `old` record something, or the history is another one."""
    from gitmem.provenance.ledger import matching_commits

    try:
        if not repo.is_ancestor(old, head):
            return True
        return any(True for _ in matching_commits(repo, [head, f"^{old}"]))
    except GitMemError:
        return True


def _read(repo: Repository, head: str, memory: list[str]) -> dict[str, Any]:
    from gitmem.memory import facts as memory_facts
    from gitmem.memory.document import blob_lines
    from gitmem.memory.fact import id_of_hash, normalise, text_hash
    from gitmem.provenance.commit_effects import CommitEffects
    from gitmem.provenance.corrections import CORRECTED, SUPERSEDED
    from gitmem.provenance.ledger import read_ledger, refusals

    known = read_ledger(repo, [head])
    if known.records:
        refused = refusals(repo, known)
    else:
        refused = {}
    gone = {digest: each.commit for digest, each in refused.items() if not each.edited and not each.declined}
    if gone:
        for _, data in repo.read_many(memory):
            for fact in memory_facts.parse(data or b"").facts:
                gone.pop(text_hash(fact.text), None)
    texts: dict[str, str] = {}
    effects = CommitEffects(repo)
    for oid in dict.fromkeys(gone.values()):
        commit = repo.commit(oid)
        if commit.subject in (f"memory: {CORRECTED}", f"memory: {SUPERSEDED}"):  # another text took its place
            gone = {digest: by for digest, by in gone.items() if by != oid}
            continue
        for file in effects.files(commit):
            data = None
            if file.old:
                data = next(iter(repo.read_many([file.old])))[1]
            facts = (fact.text for fact in memory_facts.parse(data).facts) if data else ()
            lines = (normalise(line) for line in blob_lines(data)) if data else ()
            texts.update((digest, text) for text in (*facts, *lines) if (digest := text_hash(text)) in gone)
    bare = [rest for text in texts.values() if (rest := unlabelled(text))]
    value = forgotten_of(map(id_of_hash, refused), gone, [*texts.values(), *bare])
    return {
        "ids": sorted(value.ids), "taken": sorted(value.taken),
        "forms": {begins: sorted(rows) for begins, rows in value.forms.items()},
    }  # fmt: skip
