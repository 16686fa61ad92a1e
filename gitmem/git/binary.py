"""The adapter over the git binary: it opens every repository format and starts in milliseconds.

One process reads objects (`git/cat_file.py`); every list takes a process of its own (`git/process.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from gitmem.errors import GitFailed, ObjectsLeftOut, UnknownRevision
from gitmem.git import parse
from gitmem.git.cat_file import HEX, CatFile
from gitmem.git.git_config import USER_SETTINGS, users_own
from gitmem.git.objects import ENCRYPTED, GITLINK, BlameLine, Change, Commit, Entry, LoggedCommit
from gitmem.git.place import Place
from gitmem.git.process import PATTERNS, PIECE_BYTES, Git, failure, read_environment
from gitmem.git.revision_name import is_revision_name
from gitmem.messages import Message

if TYPE_CHECKING:
    from gitmem.git.encryption import GitCrypt

MAX_UNFILTERED_PATHS = 32  # `ignored` drops tracked paths from a longer list before it asks Git
MAX_CACHED_COUNTS = 100_000  # trees whose number of files is cached
MAX_CACHED_LISTS = 2  # trees whose entries are cached: a review lists its base and its head eight times
MAX_CACHED_ENTRIES = 50_000  # entries of a tree that is cached, about 10 MB
RAW = ("--raw", "-z", "--no-abbrev", "--no-ext-diff", "--no-textconv")
NAMES = ("--name-only", "--no-renames", "--diff-merges=off", "--root", "--no-ext-diff", "--no-textconv")
MESSAGE = "%x00%x00%m%H%x00%an%x00%B"  # as `parse_messages` reads it


class BinaryRepository:
    """`gitmem.git.repository.Repository` over git processes. The protocol documents the methods."""

    def __init__(self, place: Place, environ: Mapping[str, str]) -> None:
        self.place = place
        self.root = place.root
        self.git_dir = place.git_dir
        self.common_dir = place.common_dir
        self.object_format = place.object_format
        self.environ: Mapping[str, str] = dict(environ)
        self._git = Git(place.root or place.git_dir, read_environment(environ))
        self._objects = CatFile(self._git)
        self._cached_entries: dict[str, list[Entry]] = {}  # oid of a tree -> its entries
        self._cached_counts: dict[str, int] = {}  # oid of a tree -> its number of files
        self._encrypted_oids: dict[str, str] = {}  # oid of a text -> oid of its encrypted blob in this clone

    def stay_open(self) -> None:
        self._objects.open()

    def close(self) -> None:
        self._objects.close()

    @property
    def left_out(self) -> frozenset[str]:
        return frozenset(self._objects.left_out)

    def add_left_out(self, oid: str) -> None:
        self._objects.left_out.add(oid)

    @contextmanager
    def skipping_left_out(self) -> Iterator[None]:
        before, self._objects.skips_left_out = self._objects.skips_left_out, True
        try:
            yield
        finally:
            self._objects.skips_left_out = before

    # -- revisions -------------------------------------------------------------------------------------------

    def resolve(self, rev: str) -> str:
        if is_revision_name(rev):
            oid, kind, _ = self._objects.info(f"{rev}^{{commit}}")
            if kind == "commit":
                return oid
        raise self._unknown(rev)

    def _unknown(self, rev: str) -> UnknownRevision:
        if not is_revision_name(rev):
            return UnknownRevision(
                Message("'{}' is not a revision", rev[:40]), "a branch, a tag or an oid, with ~N or ^N behind it"
            )
        hint = "git log --oneline --all shows what there is"
        if (self.common_dir / "shallow").exists():
            hint = "this clone is shallow: git fetch --unshallow; in a workflow, fetch-depth: 0 of actions/checkout"
        return UnknownRevision(Message("there is no commit '{}' here", rev), hint)

    def head(self) -> str | None:
        oid, kind, _ = self._objects.info("HEAD^{commit}")
        if kind == "commit":
            return oid
        # Before the first commit HEAD names no oid. If it names one, its commit is missing: the repository is damaged.
        head_oid = self._git.run(["rev-parse", "-q", "--verify", "HEAD"], ok=(0, 1)).decode().strip()
        if head_oid:
            raise GitFailed(
                Message("HEAD names {}, which is missing or no commit", head_oid[:12]), "git fsck says what is damaged"
            )
        return None

    def branch(self) -> str | None:
        name = os.fsdecode(self._git.run(["symbolic-ref", "-q", "--short", "HEAD"], ok=(0, 1))).strip()
        return name or None

    def refs(self, prefix: str = "refs/heads/") -> list[tuple[str, str]]:
        form = "--format=%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)"
        rows = os.fsdecode(self._git.run(["for-each-ref", form, prefix])).splitlines()
        refs = []
        for row in rows:
            name, kind, oid, peeled_kind, peeled = row.split("\0")
            if peeled_kind == "tag":  # older Git follows one tag only
                peeled, peeled_kind, _ = self._objects.info(f"{oid}^{{}}")
            if "commit" in (kind, peeled_kind):
                refs.append((name, oid if kind == "commit" else peeled))
        return refs

    def tree(self, commit: str) -> str:
        if is_revision_name(commit):
            oid, kind, _ = self._objects.info(f"{commit}^{{tree}}")
            if kind == "tree":
                return oid
        raise UnknownRevision(Message("'{}' has no tree here", commit))

    def merge_base(self, a: str, b: str) -> str | None:
        return self._git.run(["merge-base", "--end-of-options", a, b], ok=(0, 1)).decode().strip() or None

    def merge_bases(self, a: str, b: str) -> list[str]:
        return self._git.run(["merge-base", "--all", "--end-of-options", a, b], ok=(0, 1)).decode().split()

    def is_ancestor(self, a: str, b: str) -> bool:
        for rev in (a, b):
            if not is_revision_name(rev):
                raise self._unknown(rev)
        result = self._git.result(["merge-base", "--is-ancestor", a, b])
        if result.returncode == 0:
            return True
        if result.returncode == 1 and not result.stderr:  # with an error, Git before 2.44 could not read the history
            return False
        if not (self._is_commit(a) and self._is_commit(b)):
            return False
        raise failure("merge-base", result.stderr, result.returncode)

    def _is_commit(self, rev: str) -> bool:
        return self._objects.info(f"{rev}^{{commit}}").kind == "commit"

    # -- lists -----------------------------------------------------------------------------------------------

    def entries(self, treeish: str, paths: Sequence[str] = ()) -> list[Entry]:
        # Only the whole tree of an oid is cached: another name may mean another tree later.
        cacheable = not paths and len(treeish) in (40, 64) and HEX.issuperset(treeish)
        if cacheable and treeish in self._cached_entries:
            return list(self._cached_entries[treeish])
        entries = parse.parse_entries(
            self._git.listing(["ls-tree", "-r", "-z", "--full-tree", treeish, "--", *paths], 1)
        )
        if cacheable and len(entries) <= MAX_CACHED_ENTRIES:
            newest = list(self._cached_entries.items())[1 - MAX_CACHED_LISTS :]
            self._cached_entries = dict([*newest, (treeish, list(entries))])
        return entries

    def count_files(self, tree: str, most: int) -> int:
        return self._count_files(self.tree(tree), most)

    def _count_files(self, tree: str, most: int) -> int:
        """The number of files of a tree (oid), or one above `most`. A tree may be thousands of folders deep."""
        counts = self._cached_counts
        if tree in counts:
            return counts[tree]
        open_trees = [(tree, *self._read_tree(tree))]
        while True:
            oid, count, subtrees = open_trees.pop()
            if count > most:
                return count
            while subtrees and subtrees[-1] in counts:
                count += counts[subtrees.pop()]
            if subtrees:
                open_trees += [(oid, count, subtrees), (subtrees[-1], *self._read_tree(subtrees[-1]))]
                continue
            if len(counts) >= MAX_CACHED_COUNTS:
                counts.clear()
            counts[oid] = count
            if not open_trees:
                return count

    def _read_tree(self, oid: str) -> tuple[int, list[str]]:
        """(number of files, oids of the subtrees) of one tree, without the files of the subtrees. Raises GitFailed if
        the object is missing or no tree."""
        header, data = self._objects.contents(oid)
        if header.kind != "tree":
            raise GitFailed(Message("tree {} is missing", oid[:12]), "git fsck says what else is damaged")
        return parse.parse_tree(data, 32 if self.object_format == "sha256" else 20)

    def blobs(self, treeish: str, paths: Sequence[str]) -> dict[str, str]:
        # Git takes `./` and `../` as relative to the current folder; no path of a tree begins so.
        paths = [path for path in paths if not path.startswith(("./", "../")) and "\0" not in path]
        if not paths:
            return {}
        # Without a running cat-file, one `ls-tree` is as cheap; cat-file cannot take a name with a line break.
        if not self._objects.is_open or any("\n" in name for name in (treeish, *paths)):
            return self._listed_blobs(treeish, paths)
        try:
            headers = list(self._objects.infos(f"{treeish}:{path}" for path in paths))
        except ObjectsLeftOut:  # of the blob itself, which a list of the tree need not have
            return self._listed_blobs(treeish, paths)
        return {path: header.oid for path, header in zip(paths, headers, strict=True) if header.kind == "blob"}

    def _listed_blobs(self, treeish: str, paths: Sequence[str]) -> dict[str, str]:
        """`blobs` by a list of the tree."""
        path_set = set(paths)
        entries = (entry for entry in self.entries(treeish, paths) if entry.mode != GITLINK)
        return {entry.path: entry.oid for entry in entries if entry.path in path_set}

    def staged(self) -> list[Entry]:
        return parse.parse_staged(self._git.run(["ls-files", "-s", "-z", "--full-name"]))

    def staged_changes(self) -> list[Change]:
        against = self.head() or self.empty_tree
        return parse.parse_raw(self._git.run(["diff-index", "--cached", *RAW, "--no-renames", against]))

    def changes(self, old: str, new: str, renames: bool = False) -> list[Change]:
        rename_option = "-M" if renames else "--no-renames"
        return parse.parse_raw(
            self._git.listing(["diff-tree", "-r", *RAW, rename_option, old or self.empty_tree, new], 2)
        )

    def untracked(self, paths: Sequence[str] = ()) -> list[str]:
        output = self._git.run(["ls-files", "-o", "--exclude-standard", "-z", "--full-name", "--", *paths])
        return [os.fsdecode(path) for path in output.split(b"\0")[:-1]]

    def ignored(self, paths: Sequence[str]) -> set[str]:
        if len(paths) > MAX_UNFILTERED_PATHS:
            # A tracked path is never ignored. To list all tracked paths is cheaper than one lookup for each path.
            tracked = set(map(os.fsdecode, self._git.run(["ls-files", "-z", "--full-name"]).split(b"\0")))
            paths = [path for path in paths if path not in tracked]
        if not paths:
            return set()
        names = {_as_pattern(path): path for path in paths}
        git = self._git._replace(options=PATTERNS)  # check-ignore refuses --literal-pathspecs
        output = git.run(["check-ignore", "-z", "--stdin"], ok=(0, 1), stdin=_nul_ended(names))
        ignored_names = map(os.fsdecode, output.split(b"\0")[:-1])
        return {names[name] for name in ignored_names if name in names}

    def removals(self, rev: str, most: int) -> dict[str, str]:
        # No pathspec: matching each entry against some hundred pathspecs takes a hundred times as long.
        form = ["--diff-filter=D", *RAW, "--no-renames", "--diff-merges=off", f"--max-count={most}", "--format=%x00%H"]
        return parse.parse_removals(self._git.run(["log", *form, "--end-of-options", rev, "--"]))

    def reachable(self) -> Iterator[str]:
        command = ["rev-list", "--objects", "--no-object-names", "--all", "--indexed-objects"]
        with self._git.output(command, bounded=False) as output:
            yield from (line.decode().strip() for line in output)

    # -- objects ---------------------------------------------------------------------------------------------

    @property
    def empty_tree(self) -> str:
        """The oid of the tree without entries; Git knows it without storing it."""
        import hashlib  # loads OpenSSL: 9 ms that most commands need not wait for

        return hashlib.new(self.object_format, b"tree 0\0").hexdigest()

    def read(self, oid: str) -> bytes:
        for _, data in self.read_many([oid]):
            if data is not None:
                return data
        if oid in self._objects.left_out:
            raise self._objects.left_out_error()
        raise GitFailed(Message("object {} is missing or no blob", oid[:12]), "git fsck says what else is damaged")

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        for oid, data in self._objects.blobs(oids):
            yield oid, self._decrypted(data)

    def _decrypted(self, data: bytes | None) -> bytes | None:
        """The text of an encrypted blob if this clone can decrypt it, otherwise `data`, which may be None."""
        if data is None or not data.startswith(ENCRYPTED):
            return data
        git_crypt = self.git_crypt()
        if git_crypt is None:
            return data
        text = git_crypt.text(data)
        return text if text is not None else data

    def git_crypt(self) -> GitCrypt | None:
        return self._found_git_crypt

    @cached_property
    def _found_git_crypt(self) -> GitCrypt | None:
        folders = (self.common_dir, self.git_dir)
        if not any((folder / "git-crypt").is_dir() for folder in folders):
            return None
        from gitmem.git import encryption  # few clones need it

        kinds = ["", *(value for key, value, _ in self.user_config() if key.lower() == "mem.encryption")]
        return encryption.find(kinds[-1], folders, self.root, self.environ)

    def staged_filters(self, paths: Sequence[str]) -> dict[str, str]:
        if not paths:
            return {}
        output = self._git.run(["check-attr", "-z", "--stdin", "--cached", "filter"], stdin=_nul_ended(paths))
        fields = [os.fsdecode(field) for field in output.split(b"\0")]  # path, attribute, value; then the next
        return dict(zip(fields[::3], fields[2::3], strict=False))

    def stored(self, oids: Iterable[str]) -> Iterator[bytes | None]:
        return (data for _, data in self._objects.blobs(oids))

    def sizes(self, oids: Sequence[str]) -> dict[str, int]:
        return self._objects.sizes(oids)

    def hash_blob(self, data: bytes) -> str:
        plain = self._hash(data)
        git_crypt = self.git_crypt()
        if git_crypt is None or not data:  # git-crypt leaves an empty file as it is
            return plain
        if plain not in self._encrypted_oids:
            candidates = map(self._hash, git_crypt.encryptions(data))
            encrypted = next((oid for oid in candidates if self.sizes([oid])), "")
            if not encrypted:
                return plain
            self._encrypted_oids[plain] = encrypted
        return self._encrypted_oids[plain]

    def _hash(self, data: bytes) -> str:
        import hashlib

        digest = hashlib.new(self.object_format, b"blob %d\0" % len(data))
        digest.update(data)
        return digest.hexdigest()

    def commit(self, oid: str) -> Commit:
        header, data = self._objects.contents(oid)
        if not header.kind:
            raise UnknownRevision(Message("there is no commit '{}' here", oid))
        if header.kind != "commit":
            raise UnknownRevision(Message("'{}' is a {}, not a commit", oid, header.kind))
        return parse.parse_commit(header.oid, data)

    def find_blob(self, path: str, prefix: str, rev: str = "HEAD") -> str | None:
        if not prefix or not set(prefix) <= HEX:
            return None
        oid, kind, _ = self._objects.info(prefix)
        if kind == "blob":
            return oid
        if rev.startswith("-") or not self._is_commit(rev):
            return None
        output = self._git.run(["log", "--format=", *RAW, "--no-renames", "-m", rev, "--", path])
        return next((change.new_oid for change in parse.parse_raw(output) if change.new_oid.startswith(prefix)), None)

    def objects_with(self, prefix: str) -> list[str]:
        if len(prefix) < 4 or not set(prefix) <= HEX:
            return []
        oid, kind, _ = self._objects.info(prefix)
        if kind:
            return [oid]
        return self._git.run(["rev-parse", f"--disambiguate={prefix}"]).decode().split()

    # -- history ---------------------------------------------------------------------------------------------

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
        flags = {
            "--merges": merges, "--full-history": full_history, "--fixed-strings": bool(grep),
            "--first-parent": first_parent, "--reverse": reverse, f"--max-count={limit}": bool(limit),
        }  # fmt: skip
        options = [flag for flag, is_on in flags.items() if is_on] + [f"--grep={text}" for text in grep]
        command = ["rev-list", *options, "--end-of-options", *revs, "--", *paths]
        with self._git.output(command, bounded=False) as output:
            for line in output:
                yield self.commit(line.decode().strip())

    def messages(self, revs: Sequence[str], *, walk: bool = True) -> Iterator[LoggedCommit]:
        walk_option = "--left-right" if walk else "--no-walk=unsorted"
        command = ["log", walk_option, "-z", "--encoding=UTF-8", f"--format={MESSAGE}", *NAMES, "--stdin"]
        with self._git.output(command, revs) as output:
            yield from parse.parse_messages(iter(lambda: output.read(PIECE_BYTES), b""))

    def reaches(self, commit: str, *, first_parent: bool = False) -> Iterator[str]:
        command = ["rev-list", "--stdin"]
        if first_parent:
            command.append("--first-parent")
        with self._git.output(command, [commit]) as output:
            yield from (line.decode().strip() for line in output)

    def touched(self, commits: Sequence[str]) -> dict[str, list[str]]:
        if not commits:
            return {}
        return {commit.oid: commit.paths for commit in self.messages(commits, walk=False)}

    def blame(self, path: str, start: int, end: int, rev: str = "") -> list[BlameLine]:
        if rev:
            if self.git_crypt() is not None:
                from gitmem.git.blame import blame_encrypted

                # Blame is asked from several threads.
                with closing(BinaryRepository(self.place, self.environ)) as reader:
                    rows = blame_encrypted(reader, path, start, end, rev)
                if rows is not None:
                    return rows
            span = f"-L{start},{end}"
            output = self._git.run(["blame", "--porcelain", "-M", "--no-textconv", span, rev, "--", path])
            return parse.parse_blame(output)
        from gitmem.git.blame import blame_work_tree

        return blame_work_tree(self, path, start, end)

    def simplified_history(self, commit: str, path: str) -> dict[str, list[str]]:
        command = ["rev-list", "--parents", "--topo-order", "--end-of-options", commit, "--", path]
        rows = [line.split() for line in self._git.run(command).decode("ascii").splitlines()]
        return {row[0]: row[1:] for row in rows}

    def user_config(self) -> list[tuple[str, str, str]]:
        return users_own(self._git.run(["config", *USER_SETTINGS], ok=(0, 1)))


def _as_pattern(path: str) -> str:
    """A pathspec that matches this path alone: wildcards are escaped, and a leading `:` is no pathspec magic."""
    escaped = "".join("\\" + c if c in "*?[\\" else c for c in path)
    return "./" + escaped if escaped.startswith(":") else escaped


def _nul_ended(paths: Iterable[str]) -> bytes:
    return b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
