"""What the flows may ask of Git: one protocol, two adapters (`git/binary.py`, `git/library.py`).

Reads only; writing is `git/write.py`, always through the git binary, so that hooks, signing and the user's
configuration apply. Paths are str (undecodable bytes as surrogate escapes), repository-relative. Oids are
opaque hex. Nothing here follows symbolic links or runs filters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gitmem.git.objects import BlameLine, Change, Commit, Entry
from gitmem.light_typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gitmem.git.encryption import GitCrypt


class Repository(Protocol):
    """An open repository; `close()` ends its helper process. Raises `GitFailed` where Git refuses."""

    @property
    def root(self) -> Path | None:
        """The work tree's top folder, None in a bare repository."""

    @property
    def git_dir(self) -> Path:
        """This work tree's Git directory."""

    @property
    def common_dir(self) -> Path:
        """The Git directory all work trees share: where `gitmem/` lives."""

    @property
    def object_format(self) -> str:
        """`sha1` or `sha256`."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment the process was started in; `git/write.py` derives its own from it."""

    def resolve(self, rev: str) -> str:
        """The commit oid that `rev` names. Raises UnknownRevision, also for what is neither a name, an oid nor one of
        these with `~N` and `^N` behind it (`git/revision_name.py`)."""

    def head(self) -> str | None:
        """HEAD's commit, None before the first commit. Raises GitFailed where HEAD names a commit that is lost."""

    def branch(self) -> str | None:
        """The current branch's short name, None when detached."""

    def refs(self, prefix: str = "refs/heads/") -> list[tuple[str, str]]:
        """(full name, commit oid) of every ref below `prefix` that names a commit."""

    def tree(self, commit: str) -> str:
        """The oid of the commit's tree."""

    def entries(self, treeish: str, paths: Sequence[str] = ()) -> list[Entry]:
        """Every blob, symlink and gitlink of the tree, recursively; below `paths` (literal) where given. Raises
        TooManyFiles, as `changes` does."""

    def count_files(self, tree: str, most: int) -> int:
        """How many files a tree has, links and submodules too; any number above `most` for one that has more, found
        without walking all of it: a few trees that name each other can stand for any number of files."""

    def blobs(self, treeish: str, paths: Sequence[str]) -> dict[str, str]:
        """The oids of these files of the tree, of those that are there."""

    def staged(self) -> list[Entry]:
        """Git's index, stage 0, of GIT_INDEX_FILE where Git set it. Unmerged paths: their `ours`."""

    def staged_changes(self) -> list[Change]:
        """What the next commit changes against HEAD (against the empty tree before the first), no renames."""

    def changes(self, old: str, new: str, renames: bool = False) -> list[Change]:
        """The difference of two tree-ishes; `old` may be "" for the empty tree."""

    def untracked(self, paths: Sequence[str] = ()) -> list[str]:
        """Paths in the work tree that are neither tracked nor ignored."""

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Those of these work-tree paths that are not tracked and that Git ignores."""

    def removals(self, rev: str, most: int) -> dict[str, str]:
        """Every path that a commit of this history took away, with the last commit that did; merges are not looked at.
        Of the newest commits with a removal, `most` at most."""

    def reachable(self) -> Iterator[str]:
        """The oid of every object that a ref, HEAD or Git's index reaches."""

    def read(self, oid: str) -> bytes:
        """A blob's bytes. Raises GitFailed when it is missing or no blob.

        Of a blob that git-crypt encrypted the text, where the user's `mem.encryption` says so and the clone is
        unlocked; elsewhere the bytes as they are stored (`objects.is_encrypted`).
        """

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """(oid, bytes as of `read`) in the order asked; None for a missing object."""

    def staged_filters(self, paths: Sequence[str]) -> dict[str, str]:
        """The `filter` attribute of these paths by the staged .gitattributes; runs no filter."""

    def git_crypt(self) -> GitCrypt | None:
        """What decrypts blobs here; None where the user's settings do not ask for it or the clone is locked."""

    def simplified_history(self, commit: str, path: str) -> dict[str, list[str]]:
        """The commits up to `commit` that changed a path, newest first, each with those of them that come before it."""

    def stored(self, oids: Iterable[str]) -> Iterator[bytes | None]:
        """The bytes of blobs as Git stores them, still encrypted, in the order asked; None for a missing one."""

    def sizes(self, oids: Sequence[str]) -> dict[str, int]:
        """Size in bytes of each object that exists, without reading it."""

    def hash_blob(self, data: bytes) -> str:
        """The oid `data` would have as a blob; writes nothing. In a clone that git-crypt unlocked, that of the
        encrypted blob which stands for `data`, where there is one."""

    def commit(self, oid: str) -> Commit:
        """One commit."""

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
        """Commits reachable as `git log REVS -- PATHS` has them; `revs` may hold `^oid` exclusions. With `full_history`
        those too that a merge made void by taking the files of another parent.

        Git begins to look at once, while the caller does something else, and ends with the iterator. With `grep` only
        those whose message holds one of these fixed strings, with `merges` only merges.
        """

    def messages(self, revs: Sequence[str], *, walk: bool = True) -> Iterator[tuple[str, str, str, str, list[str]]]:
        """(side, oid, author's name, message, some of the paths it changed) of commits, newest first.

        Of `revs` as `log` takes them, or of these commits alone without `walk`. `side` is `<` for what only the left of
        `A...B` reaches, else `>`. A merge names no paths.
        """

    def reaches(self, commit: str, *, first_parent: bool = False) -> Iterator[str]:
        """The oids of all commits that `commit` reaches, itself too, newest first; by first parents alone if asked."""

    def touched(self, commits: Sequence[str]) -> dict[str, list[str]]:
        """The paths each of these commits changed against its first parent, in order; a merge's are none."""

    def blame(self, path: str, start: int, end: int, rev: str = "") -> list[BlameLine]:
        """Blame of lines start..end at `rev`, the work tree's file when empty; moves followed. A change of white space
        is a change."""

    def merge_base(self, a: str, b: str) -> str | None:
        """The best common ancestor."""

    def merge_bases(self, a: str, b: str) -> list[str]:
        """The common ancestors of which none is better than another: several where two branches merged each other."""

    def is_ancestor(self, a: str, b: str) -> bool:
        """Whether commit `a` is reachable from `b`; False where one of them is not here (a shallow clone, a rewritten
        history). Raises GitFailed where Git cannot tell."""

    def find_blob(self, path: str, prefix: str, rev: str = "HEAD") -> str | None:
        """The full oid of the blob starting with `prefix` (12 hex): any that is here, else one that `path` had in the
        history of `rev`. None where there is none or `rev` names no commit; raises GitFailed where Git fails."""

    def objects_with(self, prefix: str) -> list[str]:
        """The oids of the objects that are here and begin with `prefix` (at least 4 hex): no history is read."""

    def user_config(self) -> list[tuple[str, str, str]]:
        """(key, value, origin) of `mem.*` at system, global and command scope; never the clone's own file."""

    def stay_open(self) -> None:
        """Start the helper process that answers `blobs`, where one is needed: for who asks often."""

    def close(self) -> None:
        """End the helper process."""
