"""Reads annotated tags, Git's notes (git-notes(1)) and names of refs, which are published with the commits.

All are scanned like commit messages: as blobs with the path MESSAGE, whose `commit` is the oid of the tag object or of
the commit of the notes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from gitmem.gate.blob_reading import BlobPlace, read_blobs
from gitmem.gate.examine import Blob
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.pushed_commits import RefUpdate
from gitmem.git.objects import LINKS
from gitmem.git.ranges import ref_objects, tag_objects, touched
from gitmem.git.repository import Repository
from gitmem.paths import MAX_MEMORY_FILE_BYTES

PREFIX = re.compile(r"^refs/(?:heads|tags|notes)/")
TAGGER = re.compile(rb"^tagger (?P<name>[^\n<]*)<(?P<email>[^\n>]*)>", re.MULTILINE)
NOTES, TAGS = "refs/notes/", "refs/tags/"


def tags_and_notes_of(repo: Repository, commits: Collection[str]) -> Iterator[Blob]:
    """The messages of the annotated tags of these commits (oids), and every version of the notes to them."""
    yield from _tag_messages(repo, [row.oid for row in ref_objects(repo, TAGS) if row.is_tag and row.peeled in commits])
    tips = [oid for name, oid in repo.refs(NOTES) if name.startswith(NOTES)]
    for commit, path, oid in _versions_of_notes(repo, tips):
        if path.replace("/", "") in commits:
            yield from _note(repo, commit, oid)


def tags_without_commit(repo: Repository, policy: Policy) -> Iterator[Blob]:
    """What refs publish that name no commit: the messages of their tags, their blobs like messages, and the files of
    their trees that the gate scans. A push of such a ref is refused."""
    rows = [row for row in ref_objects(repo, "refs/") if row.kind != "commit"]
    yield from _tag_messages(repo, [row.oid for row in rows if row.is_tag])
    blobs = dict.fromkeys(row.peeled for row in rows if row.kind == "blob")
    yield from read_blobs(repo, (BlobPlace(MESSAGE, oid, oid) for oid in blobs), policy)
    for tree in dict.fromkeys(row.peeled for row in rows if row.kind == "tree"):
        listed = (entry for entry in repo.entries(tree) if entry.mode not in LINKS and policy.scans(entry.path))
        yield from read_blobs(repo, (BlobPlace(entry.path, entry.oid, tree) for entry in listed), policy)


def pushed_tags_and_notes(repo: Repository, updates: Iterable[RefUpdate]) -> Iterator[Blob]:
    """The names of the refs, the annotated tags, and the versions of notes, that a push adds. `updates`: the pushed
    refs."""
    added = [update for update in updates if update.new.strip("0")]
    for update in added:
        if not update.old.strip("0"):  # a name that the other side has is published already
            name = PREFIX.sub("", update.ref)
            yield Blob(MESSAGE, name.encode("utf-8", "surrogateescape"), commit=update.new)
    yield from _tag_messages(repo, [update.new for update in added])
    for update in added:
        if update.ref.startswith(NOTES):
            revs = [update.new]
            if update.old.strip("0") and repo.sizes([update.old]):
                revs.append(f"^{update.old}")
            for commit, _, oid in _versions_of_notes(repo, revs):
                yield from _note(repo, commit, oid)


def _tag_messages(repo: Repository, oids: Iterable[str]) -> Iterator[Blob]:
    """The messages and the taggers' names and addresses of the oids that are annotated tags, and of the tags that such
    a tag points to."""
    waiting = list(dict.fromkeys(oids))
    seen = set(waiting)
    while waiting:
        tags = list(tag_objects(repo, waiting))
        waiting = []
        for oid, data in tags:
            head, _, message = data.partition(b"\n\n")
            yield Blob(MESSAGE, message, commit=oid)
            if tagger := TAGGER.search(head):
                yield from (Blob(MESSAGE, text.strip(), commit=oid) for text in tagger.groups())
            target = head.split(b"\n", 1)[0].removeprefix(b"object ").decode("ascii", "replace")
            if target not in seen and b"\ntype tag\n" in head + b"\n":
                seen.add(target)
                waiting.append(target)


def _versions_of_notes(repo: Repository, revs: list[str]) -> Iterator[tuple[str, str, str]]:
    """(commit, path, oid) of every version of a note that the commits of `revs` add; none for no `revs`."""
    if not revs:
        return
    for commit, changes in touched(repo, [commit.oid for commit in repo.log(revs)]):
        for change in changes:
            if change.new_oid:
                yield commit, change.path, change.new_oid


def _note(repo: Repository, commit: str, oid: str) -> Iterator[Blob]:
    if repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES + 1) > MAX_MEMORY_FILE_BYTES:
        yield Blob(MESSAGE, b"", commit=commit, skipped=f"a note of more than {MAX_MEMORY_FILE_BYTES} bytes")
    else:
        yield Blob(MESSAGE, repo.read(oid), commit=commit)
