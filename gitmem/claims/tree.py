"""The tree of one commit, indexed for checking claims: files, folders, names, and paths that Git would ignore.

It is built from one listing. The only blobs that are read are the `.gitignore` files.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from gitmem.claims.path_words import parts_of
from gitmem.errors import GitFailed
from gitmem.git.objects import GITLINK, SYMLINK, Entry
from gitmem.git.repository import Repository

MAX_RULE_FILES = 200  # `.gitignore` files that are read
MAX_RULE_FILE_BYTES = 1 << 16  # the rest of a larger one is ignored
MAX_SAME_NAMED_FOLDERS = 50
_WILDCARDS = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "*": "[^/]*", "?": "[^/]"}  # of a rule -> of a regular expression


class _Rule(NamedTuple):
    """One rule of a .gitignore file. `folder`: of the file, "" for the root. `pattern`: of paths below it. `ignores`:
    False for a negated rule. `folders_only`: the rule ends with `/`."""

    folder: str
    pattern: re.Pattern[str]
    ignores: bool
    folders_only: bool


class Tree:
    """The files of the tree of `commit`; "" for an empty tree.

    `entries`: its listing, if the caller has it. `near`: the tree of a similar commit, if the caller has one; then only
    the difference between the two is listed. `oids`: path -> oid. `closed`: the paths of submodules and links.
    """

    def __init__(
        self, repo: Repository, commit: str, entries: Sequence[Entry] | None = None, near: Tree | None = None
    ) -> None:
        self.repo, self.commit = repo, commit
        if entries is None:
            entries = _listed(repo, commit, near)
        self.entries: Sequence[Entry] = entries
        self.oids = {entry.path: entry.oid for entry in self.entries}
        self._verdicts: dict[tuple[str, bool], bool] = {}
        self.closed = {entry.path for entry in self.entries if entry.mode in (GITLINK, SYMLINK)}

    @cached_property
    def folders(self) -> set[str]:
        """All folders, with "" for the root."""
        all_folders = {""}
        for path in self.oids:
            while path := path.rpartition("/")[0]:
                if path in all_folders:
                    break
                all_folders.add(path)
        return all_folders

    @cached_property
    def named(self) -> dict[str, list[str]]:
        """Last part of a path -> the files and folders that have it."""
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in (*self.oids, *self.folders):
            by_name[path.rpartition("/")[2]].append(path)
        return dict(by_name)

    @cached_property
    def stems(self) -> dict[str, list[str]]:
        """File name up to its first dot -> the files that have it."""
        by_stem: dict[str, list[str]] = defaultdict(list)
        for path in self.oids:
            name = path.rpartition("/")[2]
            by_stem[name.partition(".")[0] or name].append(path)
        return dict(by_stem)

    @cached_property
    def folded(self) -> set[str]:
        """All files and folders, case-folded."""
        return {path.casefold() for path in (*self.oids, *self.folders)}

    def has(self, path: str) -> bool:
        """Whether the tree has a file or folder at exactly this path."""
        return path in self.oids or path in self.folders

    def is_behind_link(self, path: str) -> bool:
        """Whether a path is below a submodule or a link, so that this repository does not know whether it exists."""
        folder = path
        while folder := folder.rpartition("/")[0]:
            if folder in self.closed:
                return True
        return False

    def below_ends(self, path: str) -> list[str]:
        """The paths that a missing path may mean if it is relative to a folder that the line does not name; [] if there
        is none.

        Folders of the tree are looked for that end with the leading folders of the path, as many of these as possible.
        Each of them, at most MAX_SAME_NAMED_FOLDERS, gives one path: it is put in the place of the leading folders.
        """
        folder, _, leaf = path.rstrip("/").rpartition("/")
        while folder:
            named = self.named.get(folder.rpartition("/")[2], ())
            ends = [place for place in named if f"/{place}".endswith(f"/{folder}")]
            if paths := [f"{end}/{leaf}" for end in ends[:MAX_SAME_NAMED_FOLDERS] if end in self.folders]:
                return paths
            folder, _, inner = folder.rpartition("/")
            leaf = f"{inner}/{leaf}"
        return []

    @cached_property
    def _rules(self) -> list[_Rule]:
        """The ignore rules. Those of outer folders come first; the last rule that matches a path decides."""
        files = [path for path in self.named.get(".gitignore", ()) if path in self.oids]
        files = sorted(files, key=lambda path: (path.count("/"), path))[:MAX_RULE_FILES]
        rules: list[_Rule] = []
        for path, (_, data) in zip(files, self.repo.read_many([self.oids[path] for path in files]), strict=True):
            folder = path.rpartition("/")[0]
            for row in (data or b"")[:MAX_RULE_FILE_BYTES].decode("utf-8", "replace").splitlines():
                negated = row.startswith("!")
                if (row := row.removeprefix("!").strip()) and not row.startswith("#") and row.strip("/*"):
                    rules.append(_Rule(folder, _rule(row), not negated, row.endswith("/")))
        return rules

    def ignored(self, path: str, *, is_file: bool = False) -> bool:
        """Whether the ignore rules of the tree ignore a path or a folder above it. `is_file`: a rule for folders
        (`build/`) does not fit the path itself; else a path that the tree lacks may be a folder."""
        parts = path.rstrip("/").split("/")
        if any(self._ignored("/".join(parts[:depth]), is_folder=True) for depth in range(1, len(parts))):
            return True
        return self._ignored("/".join(parts), is_folder=not is_file)

    def _ignored(self, path: str, *, is_folder: bool) -> bool:
        """Whether the .gitignore files of the tree ignore this path itself, not a folder above it; the last rule that
        fits decides. `path`: without `/` at its end."""
        is_ignored = self._verdicts.get((path, is_folder))
        if is_ignored is None:
            is_ignored = False
            for rule in self._rules:
                if rule.folders_only and not is_folder:
                    continue
                if rule.folder and not path.startswith(f"{rule.folder}/"):
                    continue
                if rule.pattern.fullmatch(path.removeprefix(f"{rule.folder}/")):
                    is_ignored = rule.ignores
            self._verdicts[path, is_folder] = is_ignored
        return is_ignored


def _listed(repo: Repository, commit: str, near: Tree | None) -> Sequence[Entry]:
    """The listing of a commit, if possible by changing that of the tree `near`."""
    if not commit:
        return []
    if near is None:
        return repo.entries(commit)
    try:
        changes = repo.changes(near.commit, commit)
    except GitFailed:  # a partial clone lacks an object
        return repo.entries(commit)
    entries = {entry.path: entry for entry in near.entries}
    for change in changes:
        if change.status == "D":
            entries.pop(change.path, None)
        else:
            entries[change.path] = Entry(change.path, change.new_mode, change.new_oid)
    return list(entries.values())


def _rule(row: str) -> re.Pattern[str]:
    """One ignore rule as a regular expression for paths relative to the folder of its file."""
    anchored = "/" in row.rstrip("/")
    body = row.strip("/")
    form = ""
    for piece in re.findall(r"\*\*/|/\*\*|\*|\?|\[[^\]/]*\]|[^*?\[]+|.", body):
        if piece in _WILDCARDS:
            form += _WILDCARDS[piece]
        elif piece.startswith("[") and len(piece) > 2:
            form += "[" + piece[1:-1].replace("!", "^", 1).replace("\\", "").replace("[", "\\[") + "]"
        else:
            form += re.escape(piece)
    if not anchored:
        form = f"(?:.*/)?{form}"
    try:
        return re.compile(form)
    except re.error:
        return re.compile(re.escape(body))


def joined(folder: str, path: str) -> str:
    """`path`, which is relative to `folder`, as a path from the root, with `..` resolved; "" if it is the root or
    leaves the repository."""
    parts: list[str] = parts_of(folder)
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
