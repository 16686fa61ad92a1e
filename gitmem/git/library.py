"""The adapter over libgit2 (pygit2), for long-lived processes: it reads objects without a helper process.

Importing pygit2 costs 110 ms, so no short command uses it. libgit2 cannot open SHA-256, reftable or sparse-index
repositories. Methods that libgit2 has no function for (history with renames, scopes of the configuration, lists of the
work tree) are those of the binary adapter, so that both give the same answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pygit2

from gitmem.errors import GitFailed, NotARepository, UnknownRevision
from gitmem.git.binary import BinaryRepository
from gitmem.git.objects import MAX_FILES, Commit, Entry
from gitmem.git.parse import parse_commit, parse_tree
from gitmem.git.place import Place, discover
from gitmem.git.process import too_many_files
from gitmem.git.repository import Repository
from gitmem.git.revision_name import is_revision_name
from gitmem.messages import Message

_Stored = TypeVar("_Stored", pygit2.Tree, pygit2.Blob)
BLOB_MODES = {0o100644, 0o100755, 0o100664, 0o120000, 0o160000}


class LibraryRepository(BinaryRepository):
    """`gitmem.git.repository.Repository` whose objects, trees and revisions come from libgit2."""

    def __init__(self, opened: pygit2.Repository, place: Place, environ: Mapping[str, str]) -> None:
        super().__init__(place, environ)
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
        # libgit2 caches no tree above 4 KiB, so each folder is read once per call and not once per path.
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
            yield oid, self._decrypted(data) if kind == pygit2.enums.ObjectType.BLOB else None

    def sizes(self, oids: Sequence[str]) -> dict[str, int]:
        sizes = {}
        for oid in oids:
            stored = self._opened.get(oid)
            if isinstance(stored, pygit2.Blob):
                sizes[oid] = stored.size
            elif stored is not None:
                sizes[oid] = len(stored.read_raw())
        return sizes

    def commit(self, oid: str) -> Commit:
        stored = self._opened.get(oid)
        if not isinstance(stored, pygit2.Commit):
            raise UnknownRevision(Message("there is no commit '{}' here", oid))
        return parse_commit(str(stored.id), stored.read_raw())

    def merge_base(self, a: str, b: str) -> str | None:
        base = self._opened.merge_base(self.resolve(a), self.resolve(b))
        return str(base) if base else None

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
    """The object of a tree at `path`; None if there is none or it is of another kind."""
    if tree is None or not path:
        return None
    try:
        item = tree[path]
    except (KeyError, ValueError, pygit2.GitError):
        return None
    return item if isinstance(item, kind) else None


def limit_windows(size: int, most: int) -> None:
    """Make libgit2 map pack files in windows of `size` bytes, and at most `most` bytes in all, in this process.

    libgit2's own limits, 1 GiB and 8 GiB, hold whole packs of all open repositories in memory.
    """
    pygit2.settings.mwindow_size = size
    pygit2.settings.mwindow_mapped_limit = most


def open_library(start: Path, environ: Mapping[str, str]) -> Repository:
    """The repository that contains the folder `start`. Raises the errors of `place.discover`, NotARepository if libgit2
    cannot open it, GitFailed for a SHA-256 repository and for a partial clone."""
    return _open(discover(start, environ), environ)


def open_bare(folder: Path, environ: Mapping[str, str]) -> Repository:
    """The bare repository at `folder`; git is not asked where it lies. Raises as `open_library`."""
    return _open(Place(folder, folder, root=None, object_format="sha1"), environ)  # libgit2 refuses another format


def _open(place: Place, environ: Mapping[str, str]) -> Repository:
    if place.object_format != "sha1":
        raise GitFailed(Message("libgit2 cannot open a {} repository", place.object_format))
    try:
        opened = pygit2.Repository(str(place.git_dir))
    except pygit2.GitError as error:
        raise NotARepository(Message("libgit2 cannot open the repository: {}", error)) from None
    if any(entry.name == "extensions.partialclone" or entry.name.endswith(".promisor") for entry in opened.config):
        raise GitFailed("libgit2 fetches nothing that a partial clone leaves out")
    return LibraryRepository(opened, place, environ)
