"""Which files a snapshot has: those of a commit's tree, or those of the work tree with how they look on disk;
and their bytes, for one who has a hit.

What a snapshot has is told by names and stat data alone; only `read` opens files, and it gives none that is not what
the index says. Follows no symbolic link and enters no other repository (docs/threats.md, A19, A21).
"""

from __future__ import annotations

import hashlib
import marshal
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from gitmem import system
from gitmem.config import Config
from gitmem.git.objects import EXECUTABLE, REGULAR
from gitmem.git.opening import Repository
from gitmem.git.sparse_checkout import left_out
from gitmem.git.worktree import read_files
from gitmem.paths import MAX_MEMORY_FILE_BYTES, PACKAGES, Kind, Layout, is_memory, kind, layout_of, matches

# Files whose change can change what Git ignores.
IGNORES = (".gitignore", "memory/.gitignore", ".claude/.gitignore")


FileStat = tuple[int, int, int, int]  # how a file is to `stat`: size, when changed (ns, twice), inode


class WorkTree:
    """The memory files of a work tree with the FileStat of each. `scan` is a hash of all of it; `ignores` stands for
    the files that say what Git ignores."""

    __slots__ = ("_files", "file_stats", "ignores", "layout", "scan")

    def __init__(self, file_stats: dict[str, FileStat], layout: Layout, scan: bytes, ignores: str) -> None:
        self.file_stats = file_stats
        self.layout = layout
        self.scan = scan
        self.ignores = ignores
        self._files: dict[str, str] | None = None

    @property
    def files(self) -> dict[str, str]:
        """path -> stat data as text, as the index records it: made when something changed, which `scan` says."""
        if self._files is None:
            self._files = {path: _text(file_stat) for path, file_stat in self.file_stats.items()}
        return self._files


def work_tree_key(repo: Repository) -> str:
    """The snapshot key of this work tree: one for each linked work tree, all in the one index."""
    return "work:" + os.fsencode(repo.git_dir).hex()


def work_tree_of(key: str) -> Path:
    """The Git directory a work tree's key names."""
    return Path(os.fsdecode(bytes.fromhex(key.removeprefix("work:"))))


def tree_key(tree: str, extra: tuple[str, ...]) -> str:
    """The snapshot key of a tree: its oid, and the settings that say what is memory."""
    settings = ""
    if extra:
        settings = hashlib.sha256("\0".join(extra).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"tree:{tree}:{settings}"


def tree_files(repo: Repository, tree: str, extra: tuple[str, ...]) -> tuple[dict[str, str], Layout]:
    """path -> oid of the memory files of a tree; links and submodules are none."""
    entries = {entry.path: entry.oid for entry in repo.entries(tree) if entry.mode in (REGULAR, EXECUTABLE)}
    kinds = {path: kind(path) for path in entries if path.endswith(".md")}
    if not extra and any(of not in (Kind.OTHER, Kind.INSTRUCTIONS, Kind.MEMORY) for of in kinds.values()):
        # What `is_memory` says of a memory repository, each path's kind looked up once.
        return {path: entries[path] for path, of in kinds.items() if of is not Kind.OTHER}, Layout()
    layout = layout_of(entries, extra)
    return {path: oid for path, oid in entries.items() if is_memory(path, layout)}, layout


def read_work_tree(repo: Repository, extra: tuple[str, ...]) -> WorkTree:
    """The memory files of the work tree as they are now."""
    root = repo.root
    assert root is not None
    files: dict[str, FileStat] = {}
    top = os.fspath(root)
    topics, others = False, False
    for entry in _scan(top):
        if entry.name.endswith(".md") and is_memory(entry.name, Layout()) and entry.is_file(follow_symlinks=False):
            files[entry.name] = _file_stat(entry.stat(follow_symlinks=False))
        elif entry.name.endswith(".md"):
            topics = True
        elif entry.name in ("memory", ".claude") and entry.is_dir(follow_symlinks=False):
            _walk(f"{top}/{entry.name}", f"{entry.name}/", files, entry.name == ".claude")
        elif not entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
            others = True
    layout = layout_of(files, extra)
    known: set[str] = set()
    if layout.notes or (topics and not others and all("/" not in path for path in files)):
        known = {*(e.path for e in repo.staged() if e.mode in (REGULAR, EXECUTABLE)), *repo.untracked()}
        if not layout.notes:
            layout = layout_of(known, extra)
    if layout.notes:
        files = {}
        for path in known:
            if is_memory(path, layout):
                status = _lstat(f"{top}/{path}")
                if status is not None:
                    files[path] = _file_stat(status)
    for glob in extra:
        for path, status in _matching(top, glob):
            files[path] = _file_stat(status)
    rules = [*(f"{top}/{name}" for name in IGNORES), os.fspath(repo.common_dir / "info" / "exclude")]
    ignores = "\n".join(_text(_file_stat(status)) if (status := _lstat(path)) else "" for path in rules)
    # In the folders' own order: another order of the same files only costs a closer look. Format 2 has no references,
    # so equal numbers are equal bytes.
    text = "\n".join([*files, repr(layout), ignores])
    digest = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16)
    digest.update(marshal.dumps([*files.values()], 2))
    return WorkTree(files, layout, digest.digest(), ignores)


def left_out_memory(repo: Repository, extra: tuple[str, ...]) -> list[str]:
    """The memory files that a sparse checkout leaves out of this work tree, in order; [] where there are none."""
    paths = left_out(repo)
    if not paths:
        return []
    layout = layout_of((entry.path for entry in repo.staged()), extra)
    return sorted(path for path in paths if is_memory(path, layout))


def _scan(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return  # gone, or not ours to read: its files are not there


def _walk(folder: str, prefix: str, files: dict[str, FileStat], picky: bool = False) -> None:
    # The one loop a search pays for each memory file: no call in it that can be spared.
    inside = []
    try:
        # Through the open folder: shorter to look up, and it cannot become a link meanwhile.
        flags = os.O_RDONLY | system.DIRECTORY | system.NOFOLLOW | system.RAW
        if system.POSIX:
            handle = os.open(folder, flags)
        else:
            handle = -1
    except OSError:
        return  # gone, or not ours to read: its files are not there
    try:
        with os.scandir(handle if system.POSIX else folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".md"):
                    if entry.is_file(follow_symlinks=False):
                        try:
                            status = entry.stat(follow_symlinks=False)
                        except OSError:
                            continue  # deleted since it was listed
                        files[prefix + name] = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
                elif name != ".git" and entry.is_dir(follow_symlinks=False):
                    inside.append(name)
    except OSError:
        return
    finally:
        if handle >= 0:
            os.close(handle)
    for name in inside:
        if not os.path.lexists(f"{folder}/{name}/.git"):
            _walk(f"{folder}/{name}", f"{prefix}{name}/", files)
    if picky:
        for path in [path for path in files if path.startswith(prefix) and not is_memory(path, Layout())]:
            del files[path]


def _matching(top: str, glob: str) -> Iterator[tuple[str, os.stat_result]]:
    """Files that match a glob of `[memory] paths`; looked for below its folders without wildcards."""
    parts = glob.split("/")
    fixed = []
    for part in parts[:-1]:
        if any(c in part for c in "*?["):
            break
        fixed.append(part)
    if ".." in fixed or "" in fixed or ".git" in fixed:
        return
    for at in range(1, len(fixed) + 1):
        status = _lstat(f"{top}/" + "/".join(fixed[:at]))
        if status is None or not stat.S_ISDIR(status.st_mode):
            return
    folders = ["/".join(fixed)]
    while folders:
        folder = folders.pop()
        for entry in _scan(f"{top}/{folder}" if folder else top):
            if folder:
                path = f"{folder}/{entry.name}"
            else:
                path = entry.name
            if entry.is_dir(follow_symlinks=False):
                unnamed = entry.name == PACKAGES and PACKAGES not in parts  # large, and `matches` takes nothing in it
                if entry.name != ".git" and not unnamed and not os.path.lexists(f"{top}/{path}/.git"):
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


COARSE, FINE = 2_000_000_000, 20_000_000  # ns within which a second change may leave the same time stamp


def racy(file_stat: str, began: int) -> bool:
    """Whether a file could change again without its stat data showing it, as seen by a scan begun at `began` (ns).

    Git's own problem and answer (Documentation/technical/racy-git.txt); a time stamp of whole seconds says that
    the file system has no finer ones.
    """
    changed = int(file_stat.split(" ")[1])
    return changed >= began - (COARSE if changed % 1_000_000_000 == 0 else FINE)


def read(repo: Repository, files: Iterable[tuple[str, str]], commit: str = "") -> dict[tuple[str, str], bytes]:
    """The bytes of hits, by (path, oid): only of files that are what the index says they are in this snapshot.

    For the work tree ("" as commit) the file at `path` must hash to `oid`; for a commit its tree must have `oid` at
    `path`. What a damaged index made up, or what changed since, is not in the answer.
    """
    wanted = list(dict.fromkeys(files))
    texts: dict[tuple[str, str], bytes] = {}
    if commit or repo.root is None:
        tree = commit or repo.head()
        if tree is None or not wanted:
            return texts
        there = {entry.path: entry.oid for entry in repo.entries(tree, sorted({path for path, _ in wanted}))}
        true = [(path, oid) for path, oid in wanted if there.get(path) == oid]
        contents = dict(repo.read_many(dict.fromkeys(oid for _, oid in true)))
        return {(path, oid): data for path, oid in true if (data := contents.get(oid)) is not None}
    by_path: dict[str, list[str]] = {}
    for path, oid in sorted(wanted):
        by_path.setdefault(path, []).append(oid)
    for path, text in read_files(repo.root, by_path, MAX_MEMORY_FILE_BYTES + 1):
        if isinstance(text, bytes) and (oid := repo.hash_blob(text)) in by_path[path]:
            texts[path, oid] = text
    return texts


def layout_at(repo: Repository, commit: str, config: Config) -> Layout:
    """What counts as memory in the tree of a commit, with the globs in force here."""
    from gitmem.paths import layout_of

    return layout_of((entry.path for entry in repo.entries(commit)), config.memory_paths)
