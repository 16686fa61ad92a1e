"""Lists the memory files of a snapshot: of a commit's tree, or of the work tree with their stat data.

Listing uses names and stat data only. Only `read_hits` opens files, and it returns only those whose bytes have the oid
that the index has for them. No function follows a symbolic link or enters another repository (docs/threats.md, A19,
A21).
"""

from __future__ import annotations

import hashlib
import marshal
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from gitmem import system
from gitmem.config import Config
from gitmem.git.opening import Repository
from gitmem.git.sparse_checkout import left_out
from gitmem.git.unmerged import Ours, WorkTreeReader, our_versions
from gitmem.messages import Message, joined
from gitmem.paths import MAX_MEMORY_FILE_BYTES, PACKAGES, Kind, Layout, is_memory, kind, layout_of, matches
from gitmem.plural import counted
from gitmem.shell_word import shell_words

# Files of the work tree with rules for what Git ignores.
IGNORES = (".gitignore", "memory/.gitignore", ".claude/.gitignore")


FileStat = tuple[int, int, int, int]  # of a file: size in bytes, mtime in ns, ctime in ns, inode


class WorkTree:
    """The memory files of a work tree.

    `file_stats`: path -> FileStat. `scan`: a hash of the paths, their stat data, the layout and the ignore files; equal
    hashes mean that nothing changed. `scan_of_ignored`: a hash of the same and the stat data of Git's index, for a
    snapshot with ignored files, since Git no longer ignores a file that `git add --force` tracks. `ignores`: the stat
    data of the files with ignore rules, as text. `ours`: path -> the file in HEAD, for the files in conflict
    (`unmerged`): it is read in their place, and `file_stats` has numbers made of it. `conflicts`: the memory files
    among them.
    """

    __slots__ = ("_files", "conflicts", "file_stats", "ignores", "layout", "ours", "scan", "scan_of_ignored")

    def __init__(
        self,
        file_stats: dict[str, FileStat],
        layout: Layout,
        scan: bytes,
        scan_of_ignored: bytes,
        ignores: str,
        ours: Ours,
    ) -> None:
        self.file_stats = file_stats
        self.layout = layout
        self.scan = scan
        self.scan_of_ignored = scan_of_ignored
        self.ignores = ignores
        self.ours = ours
        self.conflicts = [path for path in ours if is_memory(path, layout)]
        self._files: dict[str, str] | None = None

    def is_recorded_as(self, scan: bytes | None) -> bool:
        """Whether nothing in the work tree has changed since the index recorded it. `scan`: the hash that the index
        recorded, None for none."""
        return scan in (self.scan, self.scan_of_ignored)

    @property
    def files(self) -> dict[str, str]:
        """Path -> stat data as text, as the index stores it. Made on first use: most searches compare only `scan`."""
        if self._files is None:
            self._files = {path: _text(file_stat) for path, file_stat in self.file_stats.items()}
        return self._files


def work_tree_key(repo: Repository) -> str:
    """The snapshot key of this work tree in the index. Linked work trees share an index, each with a key of its own."""
    return "work:" + os.fsencode(repo.git_dir).hex()


def work_tree_of(key: str) -> Path:
    """The Git directory of the work tree with this snapshot key."""
    return Path(os.fsdecode(bytes.fromhex(key.removeprefix("work:"))))


def tree_key(tree: str, extra: tuple[str, ...]) -> str:
    """The snapshot key of a tree: its oid, and a hash of `extra`, the globs of `[memory] paths`."""
    settings = ""
    if extra:
        settings = hashlib.sha256("\0".join(extra).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"tree:{tree}:{settings}"


def tree_files(repo: Repository, tree: str, extra: tuple[str, ...]) -> tuple[dict[str, str], Layout]:
    """The memory files of a tree (path -> oid), without links and submodules, and the layout of the tree.

    `extra`: the globs of `[memory] paths`.
    """
    entries = {entry.path: entry.oid for entry in repo.entries(tree) if entry.is_file}
    kinds = {path: kind(path) for path in entries if path.endswith(".md")}
    if not extra and any(file_kind not in (Kind.OTHER, Kind.INSTRUCTIONS, Kind.MEMORY) for file_kind in kinds.values()):
        # The same answer as `is_memory` gives in a memory repository, but each path's kind is looked up once.
        return {path: entries[path] for path, file_kind in kinds.items() if file_kind is not Kind.OTHER}, Layout()
    layout = layout_of(entries, extra)
    return {path: oid for path, oid in entries.items() if is_memory(path, layout)}, layout


def read_work_tree(repo: Repository, extra: tuple[str, ...]) -> WorkTree:
    """List the memory files of the work tree as they are now. `extra`: the globs of `[memory] paths`. `repo` must have
    a work tree."""
    root = repo.root
    assert root is not None
    files: dict[str, FileStat] = {}
    top = os.fspath(root)
    has_topics, has_others = False, False
    for entry in _scan(top):
        if entry.name.endswith(".md") and is_memory(entry.name, Layout()) and entry.is_file(follow_symlinks=False):
            files[entry.name] = _file_stat(entry.stat(follow_symlinks=False))
        elif entry.name.endswith(".md"):
            has_topics = True
        elif entry.name in ("memory", ".claude") and entry.is_dir(follow_symlinks=False):
            _walk(f"{top}/{entry.name}", f"{entry.name}/", files, entry.name == ".claude")
        elif not entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
            has_others = True
    layout = layout_of(files, extra)
    listed: set[str] = set()
    if layout.notes or (has_topics and not has_others and all("/" not in path for path in files)):
        listed = {*(entry.path for entry in repo.staged() if entry.is_file), *repo.untracked()}
        if not layout.notes:
            layout = layout_of(listed, extra)
    if layout.notes:
        files = {}
        for path in listed:
            if is_memory(path, layout):
                status = _lstat(f"{top}/{path}")
                if status is not None:
                    files[path] = _file_stat(status)
    for glob in extra:
        for path, status in _matching(top, glob):
            files[path] = _file_stat(status)
    ours = our_versions(repo)
    # Numbers of the version of HEAD, so that it is indexed again when the conflict is settled.
    sizes: dict[str, int] = {}
    if ours:
        sizes = repo.sizes([entry.oid for entry in ours.values() if entry is not None])
    for path, our in ours.items():
        files.pop(path, None)
        if our is not None and is_memory(path, layout):
            files[path] = sizes.get(our.oid, 0), 0, 0, int(our.oid[:15], 16)
    rules = [*(f"{top}/{name}" for name in IGNORES), os.fspath(repo.common_dir / "info" / "exclude")]
    statuses = map(_lstat, rules)
    ignores = "\n".join(_text(_file_stat(status)) if status else "" for status in statuses)
    # Not sorted: if a folder lists the same files in another order, the index only compares them one by one. Format 2
    # of marshal has no back references, so that equal numbers give equal bytes.
    text = "\n".join([*files, repr(layout), ignores])
    digest = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16)
    digest.update(marshal.dumps([*files.values()], 2))
    scan = digest.digest()
    if (status := _lstat(os.fspath(repo.git_dir / "index"))) is not None:
        digest.update(marshal.dumps(_file_stat(status), 2))
    return WorkTree(files, layout, scan, digest.digest(), ignores, ours)


def sparse_memory_paths(repo: Repository, extra: tuple[str, ...]) -> list[str]:
    """The sorted paths of the memory files that a sparse checkout leaves out of this work tree."""
    paths = left_out(repo)
    if not paths:
        return []
    layout = layout_of((entry.path for entry in repo.staged()), extra)
    return sorted(path for path in paths if is_memory(path, layout))


def words_on_sparse_checkout(files: int, *, whole: bool = False) -> str:
    """The note for the reader if a sparse checkout leaves out `files` memory files; `whole`: all of them, and HEAD is
    read in their place. "" for no files."""
    if not files:
        return ""
    if whole:
        return "memory is left out of this sparse checkout: it is read at HEAD"
    return Message(
        "left out of this sparse checkout, and not searched: {}; --at HEAD has them", counted(files, "memory file")
    )


def words_on_conflicts(paths: Sequence[str]) -> str:
    """The note for the reader if these memory files are in conflict; "" for none."""
    if not paths:
        return ""
    if len(paths) == 1:
        return Message("{} is in conflict, and is read as HEAD has it: git status shows it", paths[0])
    more = counted(len(paths) - 1, "other memory file")
    return Message("{} and {} are in conflict, and are read as HEAD has them: git status shows them", paths[0], more)


def words_on_ignored(paths: Sequence[str]) -> str:
    """The note for the reader that Git ignores these memory files, at least one."""
    return Message("Git ignores {}: not searched, and in no commit", ", ".join(paths))


def hint_for_ignored(paths: Sequence[str]) -> str:
    """What to type so that Git no longer ignores these files, at least one."""
    return Message("{}, or take the rule out of .gitignore", f"git add --force -- {shell_words(paths)}")


def joined_notes(*notes: str) -> str:
    """The notes that are not empty as one text, with "; " between them."""
    return joined("; ", filter(None, notes))


def _scan(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return  # deleted or unreadable: it has no files for us


def _walk(folder: str, prefix: str, files: dict[str, FileStat], only_memory: bool = False) -> None:
    """Add the Markdown files below `folder` to `files`, under `prefix` + name. `only_memory`: drop those that are not
    memory by their path."""
    # Every search runs this loop for every memory file: it makes no call that can be avoided.
    folders = []
    handle = -1
    if system.POSIX:
        # An open folder makes lookups shorter, and cannot be replaced by a link meanwhile.
        try:
            handle = os.open(folder, os.O_RDONLY | system.DIRECTORY | system.NOFOLLOW | system.RAW)
        except OSError:
            return  # deleted or unreadable: it has no files for us
    try:
        with os.scandir(handle if system.POSIX else folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".md"):
                    if entry.is_file(follow_symlinks=False):
                        try:
                            status = entry.stat(follow_symlinks=False)
                        except OSError:
                            continue  # deleted after the folder was listed
                        files[prefix + name] = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
                elif name != ".git" and entry.is_dir(follow_symlinks=False):
                    folders.append(name)
    except OSError:
        return
    finally:
        if handle >= 0:
            os.close(handle)
    for name in folders:
        if not os.path.lexists(f"{folder}/{name}/.git"):
            _walk(f"{folder}/{name}", f"{prefix}{name}/", files)
    if only_memory:
        for path in [path for path in files if path.startswith(prefix) and not is_memory(path, Layout())]:
            del files[path]


def _matching(top: str, glob: str) -> Iterator[tuple[str, os.stat_result]]:
    """(path, stat data) of the files that match a glob of `[memory] paths`.

    The walk begins at the last folder of the glob before a wildcard.
    """
    parts = glob.split("/")
    fixed = list(takewhile(lambda part: not set(part) & set("*?["), parts[:-1]))
    if ".." in fixed or "" in fixed or ".git" in fixed:
        return
    for depth in range(1, len(fixed) + 1):
        status = _lstat(f"{top}/" + "/".join(fixed[:depth]))
        if status is None or not stat.S_ISDIR(status.st_mode):
            return
    folders = ["/".join(fixed)]
    while folders:
        folder = folders.pop()
        for entry in _scan(f"{top}/{folder}"):
            path = f"{folder}/{entry.name}".lstrip("/")
            if entry.is_dir(follow_symlinks=False):
                skipped = entry.name == PACKAGES and PACKAGES not in parts  # large, and `matches` takes nothing in it
                if entry.name != ".git" and not skipped and not os.path.lexists(f"{top}/{path}/.git"):
                    folders.append(path)
            elif matches(path, glob) and entry.is_file(follow_symlinks=False):
                status = _lstat(f"{top}/{path}")
                if status is not None:
                    yield path, status


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _file_stat(status: os.stat_result) -> FileStat:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _text(file_stat: FileStat) -> str:
    return " ".join(map(str, file_stat))


# Nanoseconds within which a second change may leave the same time stamp: on a file system with time stamps of whole
# seconds, and on others.
COARSE, FINE = 2_000_000_000, 20_000_000


def racy(file_stat: str, began: int) -> bool:
    """Whether a file changed so shortly before a scan that a further change could leave its stat data equal.

    `file_stat`: its stat data as text. `began`: the time at which the scan began, in ns. Git has the same problem and
    solves it in the same way (Documentation/technical/racy-git.txt).
    """
    changed = int(file_stat.split(" ")[1])
    resolution = COARSE if changed % 1_000_000_000 == 0 else FINE
    return changed >= began - resolution


def read_hits(repo: Repository, files: Iterable[tuple[str, str]], commit: str = "") -> dict[tuple[str, str], bytes]:
    """The bytes of the files of search hits: (path, oid) -> bytes.

    With `commit` the tree of that commit must have `oid` at `path`; without it the work tree's file (of a file in
    conflict HEAD's version), or in a bare repository the tree of HEAD. Other pairs are left out: the file has changed,
    cannot be read, is a link or in the work tree larger than MAX_MEMORY_FILE_BYTES, or the index is damaged.
    """
    wanted = list(dict.fromkeys(files))
    texts: dict[tuple[str, str], bytes] = {}
    if commit or repo.root is None:
        tree = commit or repo.head()
        if tree is None or not wanted:
            return texts
        oids = {entry.path: entry.oid for entry in repo.entries(tree, sorted({path for path, _ in wanted}))}
        present = [(path, oid) for path, oid in wanted if oids.get(path) == oid]
        contents = dict(repo.read_many(dict.fromkeys(oid for _, oid in present)))
        data_of = {(path, oid): contents.get(oid) for path, oid in present}
        return {row: data for row, data in data_of.items() if data is not None}
    by_path: dict[str, list[str]] = {}
    for path, oid in sorted(wanted):
        by_path.setdefault(path, []).append(oid)
    for path, text in WorkTreeReader(repo).read_all(by_path, MAX_MEMORY_FILE_BYTES + 1):
        if isinstance(text, bytes) and (oid := repo.hash_blob(text)) in by_path[path]:
            texts[path, oid] = text
    return texts


def layout_at(repo: Repository, commit: str, config: Config) -> Layout:
    """The layout (which paths are memory) of a commit's tree, with the globs of `config`."""
    return layout_of((entry.path for entry in repo.entries(commit)), config.memory_paths)
