"""`git mem merge-driver`: merge one memory file. Git runs it for files with `merge=gitmem` in .gitattributes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitmem.cli.terminal import say
from gitmem.environment import open_environment
from gitmem.errors import Exit, GitMemError, NotARepository
from gitmem.git.merge_file import merge_text
from gitmem.git.objects import is_encrypted
from gitmem.git.worktree import write_atomic
from gitmem.paths import Kind, kind
from gitmem.plural import counted
from gitmem.regular_file import read_regular
from gitmem.review.merge.fact_merge import merge_memory
from gitmem.review.merge.line_merge import MARK, Labels, resolve_to_base
from gitmem.review.merge.rival_confirms import without_rival_citations

if TYPE_CHECKING:
    from gitmem.git.encryption import GitCrypt

# The marker size with which Git merges two merge bases (a criss-cross merge); it grows by two for each further level.
# The result becomes the base of another merge, so it must have no conflict markers.
MIN_VIRTUAL_MARKER = 9
MAX_MERGED_BYTES = 1 << 18  # bytes of a version; a larger one is merged as text, not fact by fact


@click.command()
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("marker", type=click.IntRange(1, 1000), default=7, metavar="[MARKER_SIZE]")
@click.argument("path", default="MEMORY.md", metavar="[PATH]")
def command(base: Path, ours: Path, theirs: Path, marker: int, path: str) -> int:
    """Merge THEIRS into OURS, both made from BASE, fact by fact.

    The result is written to OURS. Ends with 1 where OURS holds marked conflicts. Git runs this; `git mem install` sets
    it up as: git-mem merge-driver -- %O %A %B %L %P
    """

    try:
        stored = [read_regular(file) for file in (base, ours, theirs)]
    except OSError as error:
        raise GitMemError(f"cannot read a version to merge: {error.strerror}") from None
    texts = _texts(stored, path)
    base_text, our_text, their_text = texts
    labels = Labels(size=marker)
    if max(map(len, texts)) > MAX_MERGED_BYTES:
        merged, clean = merge_text(os.environ, our_text, base_text, their_text, marker=marker)
        conflicts = 0 if clean else 1
    else:
        result = merge_memory(
            base_text, our_text, their_text, path,
            lambda b, o, t: merge_text(os.environ, o, b, t, marker=MARK), labels, _daily(path),
        )  # fmt: skip
        merged, conflicts = result.data, result.conflicts
        if b" code=" in merged and not conflicts and marker < MIN_VIRTUAL_MARKER:
            merged = _settled(merged, texts)
    if marker >= MIN_VIRTUAL_MARKER:
        merged, conflicts = resolve_to_base(merged, labels), 0
    merged = _stored_as(merged, texts, stored, path)
    real = ours.resolve()
    write_atomic(real.parent, real.name, merged)  # no transaction: OURS is a temporary file of Git, not memory
    if conflicts:
        say(f"{path}: {counted(conflicts, 'conflict')}, both texts are marked")
    return Exit.findings_if(conflicts)


def _texts(stored: Sequence[bytes], path: str) -> list[bytes]:
    """The versions, decrypted: Git gives a merge driver the bytes that git-crypt encrypted. Raises GitMemError if a
    version cannot be decrypted."""
    if not any(map(is_encrypted, stored)):
        return list(stored)
    git_crypt = _git_crypt()
    texts = [git_crypt.text(data) if git_crypt and is_encrypted(data) else data for data in stored]
    readable = [data for data in texts if data is not None and not is_encrypted(data)]
    if len(readable) != len(stored):
        raise GitMemError(
            f"'{path}' is encrypted, so its two versions cannot be merged here",
            "git-crypt unlock; git config --global mem.encryption git-crypt; then merge again",
        )
    return readable


def _stored_as(merged: bytes, texts: Sequence[bytes], stored: Sequence[bytes], path: str) -> bytes:
    """The merged text in the form that Git stores: encrypted with the key of the first encrypted version; plain if no
    version was encrypted or the text is empty. `stored`: the versions as Git gave them; `texts`: the same ones
    decrypted, in the same order. `path`: for the error. Raises GitMemError if the text cannot be encrypted."""
    encrypted = next((data for data in stored if is_encrypted(data)), None)
    if encrypted is None or not merged:
        return merged
    if merged in texts and is_encrypted(stored_version := stored[texts.index(merged)]):
        return stored_version
    git_crypt = _git_crypt()
    data = git_crypt.encrypted_as(merged, encrypted) if git_crypt else None
    if data is None:
        raise GitMemError(f"git-crypt did not encrypt the merged text of '{path}'", "git-crypt status")
    return data


@cache
def _git_crypt() -> GitCrypt | None:
    """git-crypt of this repository; None if it is not unlocked or not allowed."""
    repo, _ = open_environment(stay=True)
    repo.close()
    return repo.git_crypt()


def _settled(merged: bytes, versions: Sequence[bytes]) -> bytes:
    """`merged` without the citations of one side that do not hold in the merged code. Unchanged if Git does not name
    the commit that is merged (GITHEAD_*)."""
    heads = [name.removeprefix("GITHEAD_") for name in os.environ if name.startswith("GITHEAD_")]
    if len(heads) != 1:
        return merged
    repo, _ = open_environment(stay=True)

    def contents(path: str) -> bytes | None:
        head, base = repo.head(), repo.merge_base("HEAD", heads[0])
        sides = [repo.blobs(commit, [path]).get(path, "") for commit in (base or "", head or "", heads[0]) if commit]
        if len(sides) != 3 or not all(sides) or max(repo.sizes(sides).values()) > MAX_MERGED_BYTES:
            return None
        base_oid, ours_oid, theirs_oid = sides
        if theirs_oid in (base_oid, ours_oid):
            return repo.read(ours_oid)
        if ours_oid == base_oid:
            return repo.read(theirs_oid)
        return merge_text(os.environ, repo.read(ours_oid), repo.read(base_oid), repo.read(theirs_oid), marker=7)[0]

    try:
        return without_rival_citations(merged, versions[0], versions[1], versions[2], contents)
    finally:
        repo.close()


def _daily(path: str) -> Sequence[str]:
    """The configured patterns of daily logs; () if the path's folder already determines its kind, or outside a
    repository."""
    if kind(path) is not Kind.OTHER:
        return ()
    try:
        repo, config = open_environment(stay=True)
    except NotARepository:
        return ()
    repo.close()
    return config.memory_daily
