"""The protocol by which all other code reads a Git repository. Two adapters: `git/binary.py`, `git/library.py`.

It only reads. `git/write.py` writes, always by the git binary, so that hooks, signing and the user's configuration
apply. Paths are relative to the repository; bytes that are not UTF-8 are surrogate escapes. Oids are opaque hex.
Nothing here follows symbolic links or runs filters. `file_at` and `read_small_blobs` read files of a commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from gitmem.git.objects import BlameLine, Change, Commit, Entry, LoggedCommit
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from gitmem.plural import counted

if TYPE_CHECKING:
    from gitmem.git.encryption import GitCrypt

Key = TypeVar("Key")


class Repository(Protocol):
    """An open repository; `close()` ends its helper process. Every method raises `GitFailed` if Git fails."""

    @property
    def root(self) -> Path | None:
        """The top folder of the work tree; None in a bare repository."""

    @property
    def git_dir(self) -> Path:
        """The Git directory of this work tree."""

    @property
    def common_dir(self) -> Path:
        """The Git directory that all work trees share. The state folder `gitmem/` lies in it."""

    @property
    def object_format(self) -> str:
        """`sha1` or `sha256`."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment that the repository was opened with. `git/write.py` derives the environment of its commands
        from it."""

    @property
    def left_out(self) -> frozenset[str]:
        """The oids of the objects that were asked for within `skipping_left_out` and that a partial clone left out."""

    def add_left_out(self, oid: str) -> None:
        """Add an object to `left_out`, for a caller that catches ObjectsLeftOut."""

    def skipping_left_out(self) -> AbstractContextManager[None]:
        """A context manager in which `read_many`, `stored` and `sizes` take a blob that a partial clone left out as
        missing, and add it to `left_out`. Outside of it they raise ObjectsLeftOut: a scan must not call it clean.
        All other methods raise ObjectsLeftOut in any case. Nothing is fetched."""

    def resolve(self, rev: str) -> str:
        """The oid of the commit that `rev` names.

        Raises UnknownRevision if there is no such commit, or if `rev` is not a name or an oid, with or without `~N` and
        `^N` after it (`git/revision_name.py`).
        """

    def head(self) -> str | None:
        """The commit of HEAD; None before the first commit. Raises GitFailed if the commit is missing."""

    def branch(self) -> str | None:
        """The short name of the current branch, also before its first commit; None if HEAD is detached."""

    def refs(self, prefix: str = "refs/heads/") -> list[tuple[str, str]]:
        """(full name, commit oid) of every ref below `prefix` that names a commit, also one that names it through
        tags."""

    def tree(self, commit: str) -> str:
        """The oid of the tree of `commit`: a name as for `resolve`, also of a tree. Raises UnknownRevision if there is
        no such tree."""

    def entries(self, treeish: str, paths: Sequence[str] = ()) -> list[Entry]:
        """Every blob, symbolic link and submodule of `treeish` (a commit or a tree) and its subtrees, only below
        `paths` if given (literal).

        Raises TooManyFiles above MAX_FILES.
        """

    def count_files(self, tree: str, most: int) -> int:
        """The number of files of a tree, symbolic links and submodules too; if it is above `most`, some number above
        `most`.

        Stops above `most`: a few small trees that name each other can stand for any number of files.
        """

    def blobs(self, treeish: str, paths: Sequence[str]) -> dict[str, str]:
        """path -> oid of its blob, for those of `paths` that `treeish` (a commit or a tree) has as a file or a symbolic
        link."""

    def staged(self) -> list[Entry]:
        """The entries of Git's index (of GIT_INDEX_FILE if set) at stage 0; for an unmerged path the entry of our side
        (stage 2), if it has one."""

    def staged_changes(self) -> list[Change]:
        """The difference between HEAD, or the empty tree before the first commit, and Git's index; no renames."""

    def changes(self, old: str, new: str, renames: bool = False) -> list[Change]:
        """The difference of two tree-ishes; `old` is "" for the empty tree. `renames`: a removed and an added file that
        are alike are one change of status R. Raises TooManyFiles above MAX_FILES."""

    def untracked(self, paths: Sequence[str] = ()) -> list[str]:
        """Paths in the work tree that are neither tracked nor ignored, only below `paths` if given."""

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Those of `paths` that are not tracked and that Git ignores."""

    def removals(self, rev: str, most: int) -> dict[str, str]:
        """Removed path -> the newest commit that removed it, in the history of `rev`; merges are left out.

        Reads the newest `most` commits with a removal.
        """

    def reachable(self) -> Iterator[str]:
        """The oid of every object that a ref, HEAD or Git's index reaches."""

    def read(self, oid: str) -> bytes:
        """The bytes of a blob. Raises GitFailed if it is missing or not a blob.

        A blob that git-crypt encrypted is decrypted if the user's `mem.encryption` asks for it and the clone is
        unlocked; otherwise the stored bytes are returned (`objects.is_encrypted`).
        """

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """(oid, bytes as from `read`) in the order of `oids`; None for an object that is missing or no blob."""

    def staged_filters(self, paths: Sequence[str]) -> dict[str, str]:
        """path -> its `filter` attribute by the staged .gitattributes, `unspecified` if it has none. No filter runs."""

    def git_crypt(self) -> GitCrypt | None:
        """The git-crypt that decrypts blobs of this clone; None if the user's settings do not ask for it, if the
        program is not installed or if the clone is locked."""

    def simplified_history(self, commit: str, path: str) -> dict[str, list[str]]:
        """Commit -> its nearest ancestors in this dict, for the commits up to `commit` that changed `path`; each comes
        before its ancestors. Git leaves out sides of a merge that do not explain the file at `commit`."""

    def stored(self, oids: Iterable[str]) -> Iterator[bytes | None]:
        """The bytes of blobs as Git stores them, not decrypted, in the order of `oids`; None for an object that is
        missing or no blob."""

    def sizes(self, oids: Sequence[str]) -> dict[str, int]:
        """oid -> size in bytes, for each object that exists; no object is read."""

    def hash_blob(self, data: bytes) -> str:
        """The oid of `data` as a blob; stores nothing.

        In a clone that git-crypt unlocked: the oid of the encrypted blob with this text, if the clone has one.
        """

    def commit(self, oid: str) -> Commit:
        """The commit with the oid `oid`. Raises UnknownRevision if it is missing or no commit."""

    def log(
        self,
        revs: Sequence[str],
        paths: Sequence[str] = (),
        *,
        first_parent: bool = False,
        limit: int = 0,
        reverse: bool = False,
        grep: Sequence[str] = (),
        merges: bool = False,
        full_history: bool = False,
    ) -> Iterator[Commit]:
        """The commits of `git log REVS -- PATHS`, newest first; `revs` may hold `^oid` exclusions.

        `first_parent`: follow only the first parent of a merge. `limit`: commits at most, 0 for all. `reverse`: the
        oldest of these first. `grep`: only commits whose message holds one of these fixed strings. `merges`: only
        merges. `full_history`: also commits whose change a merge dropped. Git starts at once and works while the caller
        does something else; it ends with the iterator. The iterator raises GitFailed at its end if Git failed; this
        call does not.
        """

    def messages(self, revs: Sequence[str], *, walk: bool = True) -> Iterator[LoggedCommit]:
        """Authors, messages and paths of commits, newest first. `revs`: as in `log`, or `A...B`; without `walk` these
        commits alone, in this order."""

    def reaches(self, commit: str, *, first_parent: bool = False) -> Iterator[str]:
        """The oids of `commit` and all its ancestors, newest first; of first parents only with `first_parent`."""

    def touched(self, commits: Sequence[str]) -> dict[str, list[str]]:
        """Commit -> the first paths that it changed against its only parent (a root commit: all its paths), 12 at most;
        [] for a merge."""

    def blame(self, path: str, start: int, end: int, rev: str = "") -> list[BlameLine]:
        """Blame of the lines `start` to `end` at `rev`, or of the work tree if "". Follows lines that moved inside the
        file.

        A change of white space counts as a change. Raises GitFailed if there is no such file.
        """

    def merge_base(self, a: str, b: str) -> str | None:
        """The best common ancestor; None if there is none."""

    def merge_bases(self, a: str, b: str) -> list[str]:
        """The best common ancestors; several if two branches merged each other, [] if there is none."""

    def is_ancestor(self, a: str, b: str) -> bool:
        """Whether `b` is commit `a` or reaches it; False if one of them is not here (shallow or rewritten history).

        Raises GitFailed if Git cannot tell.
        """

    def find_blob(self, path: str, prefix: str, rev: str = "HEAD") -> str | None:
        """The full oid of a blob that begins with `prefix` (lower-case hex, 12 digits as a rule); None without one.

        All objects here are asked first; only if they give no blob, the history of `path` up to `rev` is searched.
        """

    def objects_with(self, prefix: str) -> list[str]:
        """The oids of all objects here that begin with `prefix`, lower-case hex of at least 4 digits; [] for any other
        text. Reads no history."""

    def user_config(self) -> list[tuple[str, str, str]]:
        """(key, value, scope) of the user's `mem.*` settings. `scope`: "system", "global" or "command" (`git -c` or
        variables). Settings in the clone's own configuration are left out."""

    def stay_open(self) -> None:
        """Start the helper process that answers `blobs`, if the adapter has one. Worth it for frequent calls."""

    def close(self) -> None:
        """End the helper process."""


def file_at(repo: Repository, commit: str, path: str) -> bytes | None:
    """The bytes of a file at a commit; None if the commit has no such file, and for the commit ""."""
    oid = repo.blobs(commit, [path]).get(path) if commit else None
    return repo.read(oid) if oid else None


def read_small_blobs(repo: Repository, blobs: Iterable[tuple[Key, str]]) -> Iterator[tuple[Key, bytes]]:
    """(key, bytes) for each (key, oid), in order; the key is any value of the caller. Left out are objects that are
    missing or no blob, and blobs above MAX_MEMORY_FILE_BYTES, which the gate refuses."""
    pairs = list(blobs)
    sizes = repo.sizes([oid for _, oid in pairs])
    small = [(key, oid) for key, oid in pairs if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
    for (key, _), (_, data) in zip(small, repo.read_many([oid for _, oid in small]), strict=True):
        if data is not None:
            yield key, data


def words_on_left_out(repo: Repository) -> str:
    """The note for the reader if objects that a partial clone left out were not read (`skipping_left_out`); "" for
    none."""
    if not repo.left_out:
        return ""
    return Message(
        "not read, because this partial clone left it out: {}; git fetch --refetch --no-filter gets all",
        counted(len(repo.left_out), "object"),
    )
