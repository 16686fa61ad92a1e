"""Read a memory file by its path, and list all that may be read (`paths` says which paths are memory). Never writes.

Every command and tool that takes a path from outside (`show`, `why`, the MCP tools, the memory tool) calls this
module. A path is a memory file under the same rules as for search: the layout or a glob of `[memory] paths` names it,
and it is a plain file that Git does not ignore, in this repository and not in a repository inside it. Symbolic links
are never followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePosixPath
from unicodedata import normalize

from gitmem.config import Config
from gitmem.errors import GitMemError, MissingFile
from gitmem.git.opening import Repository
from gitmem.git.unmerged import WorkTreeReader
from gitmem.git.worktree import resolve
from gitmem.memory.snapshot import read_work_tree, sparse_memory_paths, tree_files
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Layout, is_memory
from gitmem.plural import counted
from gitmem.shell_word import shell_word

HINT = "git mem search finds lines"


def read_memory_file(repo: Repository, config: Config, path: str, commit: str = "") -> bytes:
    """The bytes of the memory file `path` (from the top of the repository) at `commit`; "" means the work tree,
    where a file in conflict is read as HEAD has it.

    In a bare repository "" means HEAD. Raises MissingFile if there is no such file or it is not memory (the message
    does not say which of the two), OutsideRepository for a path that leaves the repository or goes through a link, and
    GitMemError for a file of more than MAX_MEMORY_FILE_BYTES.
    """
    if repo.root is None:
        commit = commit or repo.head() or ""
    if commit or repo.root is None:
        data = _in_commit(repo, config, path, commit)
    else:
        data = _in_work_tree(repo, config, path)
    if len(data) > MAX_MEMORY_FILE_BYTES:
        raise GitMemError(
            Message("'{}' is larger than {}", path, counted(MAX_MEMORY_FILE_BYTES, "byte")),
            "a memory file is short: split it",
        )
    return data


def memory_paths(repo: Repository, config: Config) -> list[str]:
    """The sorted paths of all memory files that `read_memory_file` reads without a commit; [] in a bare repository
    without one."""
    if repo.root is None:
        head = repo.head()
        if not head:
            return []
        return sorted(tree_files(repo, repo.tree(head), config.memory_paths)[0])
    paths = set(read_work_tree(repo, config.memory_paths).files)
    if paths:
        paths -= repo.ignored(sorted(paths))
    return sorted(paths)


def _in_commit(repo: Repository, config: Config, path: str, commit: str) -> bytes:
    """The bytes of a memory file in a commit. Raises MissingFile if the commit is "" or does not have it as memory."""
    files: dict[str, str] = {}
    if commit:
        files, _ = tree_files(repo, repo.tree(commit), config.memory_paths)
    oid = files.get(as_stored(path, files))
    if oid is None:
        raise MissingFile(
            Message("there is no memory file '{}' at {}", path, commit[:12] or "HEAD"), _nearest(path, files)
        )
    return repo.read(oid)


def _in_work_tree(repo: Repository, config: Config, path: str) -> bytes:
    """The bytes of a memory file in the work tree, at most one more than MAX_MEMORY_FILE_BYTES. Raises MissingFile if
    it is missing, unreadable, not memory or left out of a sparse checkout."""
    assert repo.root is not None
    if in_work_tree(repo, config, path):
        with suppress(OSError):
            return WorkTreeReader(repo).read(path, MAX_MEMORY_FILE_BYTES + 1)
    left_out = sparse_memory_paths(repo, config.memory_paths)
    if as_stored(path, left_out) in left_out:
        hint = f"git mem show {shell_word(path)} --at HEAD"
        raise MissingFile(Message("'{}' is left out of this sparse checkout", path), hint)
    raise MissingFile(Message("there is no memory file '{}'", path), _nearest(path, memory_paths(repo, config)))


def as_stored(path: str, paths: Iterable[str]) -> str:
    """The entry of `paths` that is the same text as `path`, perhaps in other code points (a Mac stores a Korean name in
    parts of syllables); `path` itself if there is none."""
    if path.isascii():
        return path
    typed = normalize("NFC", path)
    same = [name for name in paths if normalize("NFC", name) == typed]
    if same and path not in same:
        return min(same)
    return path


def stored_path(repo: Repository, config: Config, path: str, commit: str) -> str:
    """The path of a memory file as `commit` has it, for a typed path (`as_stored`); `path` itself without a commit."""
    if path.isascii() or not commit:
        return path
    return as_stored(path, tree_files(repo, repo.tree(commit), config.memory_paths)[0])


def _nearest(path: str, paths: Iterable[str]) -> str:
    """The hint for a path that names no memory file.

    It suggests the entry of `paths` with the most similar spelling, else the only entry with that file name.
    """
    import difflib  # takes 6 ms and is needed only after a mistake

    spelled = {name.casefold(): name for name in sorted(paths)}
    wanted = path.casefold()
    same_name = [name for folded, name in spelled.items() if PurePosixPath(folded).name == PurePosixPath(wanted).name]
    similar = difflib.get_close_matches(wanted, spelled, n=1, cutoff=0.75)
    if similar:
        return f"did you mean '{spelled[similar[0]]}'?"
    if len(same_name) == 1:
        return f"did you mean '{same_name[0]}'?"
    return HINT


def is_memory_path(repo: Repository, config: Config, path: str) -> bool:
    """Whether the layout or a glob of the settings makes `path` memory; a file that Git ignores counts too, and one
    that does not exist.

    `repo` must have a work tree. Raises OutsideRepository if the path leaves it or goes through a link.
    """
    assert repo.root is not None
    resolve(repo.root, path)
    return is_memory(path, Layout(extra=tuple(config.memory_paths))) or is_memory(
        path, read_work_tree(repo, config.memory_paths).layout
    )


def ensure_memory(repo: Repository, config: Config, path: str) -> None:
    """Raise MissingFile if `path` is not memory (`is_memory_path`), OutsideRepository if it leaves the repository.
    `repo` must have a work tree."""
    if not is_memory_path(repo, config, path):
        raise MissingFile(Message("there is no memory file '{}'", path), HINT)


def in_work_tree(repo: Repository, config: Config, path: str) -> bool:
    """Whether `path` is memory and not ignored by Git; the file need not exist yet.

    False for a path inside another repository and for a path that is not spelled in its shortest form. `repo` must have
    a work tree. Raises OutsideRepository if the path leaves it or goes through a link.
    """
    assert repo.root is not None
    resolve(repo.root, path)
    if str(PurePosixPath(path)) != path:
        return False
    if any(os.path.lexists(repo.root / folder / ".git") for folder in list(PurePosixPath(path).parents)[:-1]):
        return False  # a repository inside this one
    # The path alone decides, except in a repository of notes, where the layout depends on all files.
    is_named = is_memory(path, Layout(extra=tuple(config.memory_paths)))
    if not is_named and path not in read_work_tree(repo, config.memory_paths).files:
        return False
    return path not in repo.ignored([path])
