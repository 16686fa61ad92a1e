"""The protocol over libgit2 (pygit2), for long-lived processes: objects without a helper process.

Importing pygit2 costs 110 ms, so nothing on a short command's path comes here, and libgit2 cannot open SHA-256,
reftable or sparse-index repositories. What libgit2 has no answer for (rename-aware history, user configuration
scopes, worktree listings) is asked of the binary adapter, so that both give the same answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pygit2

from gitmem.errors import GitFailed, NotARepository, UnknownRevision
from gitmem.git.binary import BinaryRepository, Place, discover, too_many_files
from gitmem.git.objects import MAX_FILES, Commit, Entry
from gitmem.git.parse import parse_commit, parse_tree
from gitmem.git.repository import Repository
from gitmem.git.revision_name import is_revision_name
from gitmem.messages import Message

_Stored = TypeVar("_Stored", pygit2.Tree, pygit2.Blob)
BLOB_MODES = {0o100644, 0o100755, 0o100664, 0o120000, 0o160000}


class LibraryRepository(BinaryRepository):
    """`gitmem.git.repository.Repository` whose objects, trees and revisions come from libgit2."""

    def __init__(self, opened: pygit2.Repository, inner: BinaryRepository) -> None:
        super().__init__(inner.place, inner.environ)
        self._opened = opened

    def resolve(self, rev: str) -> str:
        try:
            if not is_revision_name(rev):
                raise KeyError(rev)
            return str(self._opened.revparse_single(rev).peel(pygit2.Commit).id)
        except (KeyError, ValueError, pygit2.GitError):
            raise self._unknown(rev) from None

    def head(self) -> str | None:
        if self._opened.head_is_unborn:
            return None
        try:
            return str(self._opened.head.peel(pygit2.Commit).id)
        except pygit2.GitError:
            raise GitFailed("HEAD names a commit that is missing", "git fsck says what is damaged") from None

    def tree(self, commit: str) -> str:
        try:
            if not is_revision_name(commit):
                raise KeyError(commit)
            return str(self._opened.revparse_single(commit).peel(pygit2.Tree).id)
        except (KeyError, ValueError, pygit2.GitError):
            raise UnknownRevision(Message("'{}' has no tree here", commit)) from None

    def entries(self, treeish: str, paths: Sequence[str] = ()) -> list[Entry]:
        if paths:
            return super().entries(treeish, paths)
        entries: list[Entry] = []
        self._walk(self._opened[self.tree(treeish)].peel(pygit2.Tree), b"", entries)
        return sorted(entries, key=lambda entry: entry.path.encode("utf-8", "surrogateescape"))

    def _walk(self, tree: pygit2.Tree, prefix: bytes, entries: list[Entry]) -> None:
        import os

        for item in tree:
            path = prefix + (item.raw_name or b"")
            if len(entries) > MAX_FILES:
                raise too_many_files()
            if item.filemode in BLOB_MODES:
                entries.append(Entry(os.fsdecode(path), item.filemode, str(item.id)))
            elif isinstance(item, pygit2.Tree):
                self._walk(item, path + b"/", entries)

    def _read_tree(self, oid: str) -> tuple[int, list[str]]:
        stored = self._opened.get(oid)
        if not isinstance(stored, pygit2.Tree):
            raise GitFailed(Message("tree {} is missing", oid[:12]), "git fsck says what else is damaged")
        return parse_tree(stored.read_raw(), 20)

    def stay_open(self) -> None:
        """Nothing to start: libgit2 answers in this process."""

    def blobs(self, treeish: str, paths: Sequence[str]) -> dict[str, str]:
        try:
            for path in paths:
                path.encode()
        except UnicodeEncodeError:  # a name that is not UTF-8, which libgit2 cannot be asked for
            return super().blobs(treeish, paths)
        # A large tree is in no cache of libgit2's (4 KiB at most): each folder is read once a call, not for each path.
        folders: dict[str, pygit2.Tree | None] = {"": self._opened[self.tree(treeish)].peel(pygit2.Tree)}
        blobs = {}
        for path in paths:
            folder, slash, name = path.rpartition("/")
            if folder.endswith("/") or (slash and not folder):
                continue
            if folder not in folders:
                folders[folder] = _within(folders[""], folder, pygit2.Tree)
            item = _within(folders[folder], name, pygit2.Blob)
            if item is not None:
                blobs[path] = str(item.id)
        return blobs

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        for oid in oids:
            try:
                kind, data = self._opened.read(oid)
            except KeyError:
                yield oid, None
                continue
            except pygit2.GitError:
                raise GitFailed(
                    Message("object {} cannot be read", oid[:12]), "git fsck says what is damaged"
                ) from None
            yield oid, self._readable(data) if kind == pygit2.enums.ObjectType.BLOB else None

    def sizes(self, oids: Sequence[str]) -> dict[str, int]:
        sizes = {}
        for oid in oids:
            stored = self._opened.get(oid)
            if stored is not None:
                if isinstance(stored, pygit2.Blob):
                    sizes[oid] = stored.size
                else:
                    sizes[oid] = len(stored.read_raw())
        return sizes

    def commit(self, oid: str) -> Commit:
        stored = self._opened.get(oid)
        if not isinstance(stored, pygit2.Commit):
            raise UnknownRevision(Message("there is no commit '{}' here", oid))
        return parse_commit(str(stored.id), stored.read_raw())

    def merge_base(self, a: str, b: str) -> str | None:
        base = self._opened.merge_base(self.resolve(a), self.resolve(b))
        if not base:
            return None
        return str(base)

    def is_ancestor(self, a: str, b: str) -> bool:
        try:
            a, b = self.resolve(a), self.resolve(b)
        except UnknownRevision:
            return False
        try:
            return a == b or bool(self._opened.descendant_of(b, a))
        except pygit2.GitError as error:
            raise GitFailed(Message("libgit2: {}", error)) from None


def _within(tree: pygit2.Tree | None, path: str, kind: type[_Stored]) -> _Stored | None:
    """What a tree has at a path, None where that is nothing or not of that kind."""
    try:
        item = None
        if tree is not None and path:
            item = tree[path]
    except (KeyError, ValueError, pygit2.GitError):
        return None
    if not isinstance(item, kind):
        return None
    return item


def limit_windows(size: int, most: int) -> None:
    """Have packs be read through windows of some bytes, and keep open at most that many bytes of them, in this process.
    libgit2's own are 1 GiB and 8 GiB: whole packs of all repositories that are open."""
    pygit2.settings.mwindow_size = size
    pygit2.settings.mwindow_mapped_limit = most


def open_library(start: Path, environ: Mapping[str, str]) -> Repository:
    """The repository that holds `start`, over libgit2. Raises NotARepository; GitFailed for formats it cannot read."""
    return _open(discover(start, environ), environ)


def open_bare(folder: Path, environ: Mapping[str, str]) -> Repository:
    """The bare repository at `folder`, as `open_library`, without asking git where it is."""
    return _open(Place(folder, folder, None, "sha1"), environ)  # libgit2 says where the format is another


def _open(place: Place, environ: Mapping[str, str]) -> Repository:
    if place.object_format != "sha1":
        raise GitFailed(Message("libgit2 cannot open a {} repository", place.object_format))
    try:
        opened = pygit2.Repository(str(place.git_dir))
    except pygit2.GitError as error:
        raise NotARepository(Message("libgit2 cannot open the repository: {}", error)) from None
    if any(entry.name == "extensions.partialclone" or entry.name.endswith(".promisor") for entry in opened.config):
        raise GitFailed("libgit2 fetches nothing that a partial clone leaves out")
    return LibraryRepository(opened, BinaryRepository(place, environ))
