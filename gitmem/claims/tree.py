"""The tree of one commit as claims ask it: its files, its folders, what has a name, what Git would ignore.

Built from one listing; blobs are read only for rules of what is ignored.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from gitmem.claims.path_words import parts_of
from gitmem.errors import GitFailed
from gitmem.git.objects import GITLINK, SYMLINK, Entry
from gitmem.git.repository import Repository

MOST_RULES = 200  # files of ignore rules that are read
RULES_SIZE = 1 << 16  # bytes of one
MOST_ENDS = 50  # folders with one name that are looked below


class Tree:
    """What stands at a commit. `entries` is its listing where that is at hand; where the tree of a commit `near` this
    one is, only what differs is listed."""

    def __init__(
        self, repo: Repository, commit: str, entries: Sequence[Entry] | None = None, near: Tree | None = None
    ) -> None:
        self.repo, self.commit = repo, commit
        self.entries: Sequence[Entry] = entries if entries is not None else _listed(repo, commit, near)
        self.oids = {entry.path: entry.oid for entry in self.entries}
        self._verdicts: dict[str, bool] = {}
        self.closed = {entry.path for entry in self.entries if entry.mode in (GITLINK, SYMLINK)}

    @cached_property
    def folders(self) -> set[str]:
        """Every folder, "" for the root too."""
        found = {""}
        for path in self.oids:
            while path := path.rpartition("/")[0]:
                if path in found:
                    break
                found.add(path)
        return found

    @cached_property
    def named(self) -> dict[str, list[str]]:
        """The files and folders of each last name."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in (*self.oids, *self.folders):
            found[path.rpartition("/")[2]].append(path)
        return dict(found)

    @cached_property
    def stems(self) -> dict[str, list[str]]:
        """The files of each last name without its endings."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self.oids:
            name = path.rpartition("/")[2]
            found[name.partition(".")[0] or name].append(path)
        return dict(found)

    @cached_property
    def folded(self) -> set[str]:
        """Every path and folder, without case."""
        return {path.casefold() for path in (*self.oids, *self.folders)}

    def has(self, path: str) -> bool:
        """Whether a file or folder stands at exactly this path."""
        return path in self.oids or path in self.folders

    def beyond(self, path: str) -> bool:
        """Whether what lies at a path is not this repository's to say: below a submodule or a link."""
        at = path
        while at := at.rpartition("/")[0]:
            if at in self.closed:
                return True
        return False

    def below_ends(self, path: str) -> list[str]:
        """The places that a path which stands nowhere would have below the folders that end as its own does: a package
        may be meant that is not named."""
        folder, _, leaf = path.rstrip("/").rpartition("/")
        while folder:
            ends = [f for f in self.named.get(folder.rpartition("/")[2], ()) if f"/{f}".endswith(f"/{folder}")]
            if found := [f"{end}/{leaf}" for end in ends[:MOST_ENDS] if end in self.folders]:
                return found
            folder, _, inner = folder.rpartition("/")
            leaf = f"{inner}/{leaf}"
        return []

    @cached_property
    def _rules(self) -> list[tuple[str, re.Pattern[str], bool]]:
        """(folder, expression, whether it ignores), those of outer folders first: the last that fits decides."""
        files = sorted((path for path in self.named.get(".gitignore", ()) if path in self.oids), key=_depth)
        files = files[:MOST_RULES]
        rules: list[tuple[str, re.Pattern[str], bool]] = []
        for path, (_, data) in zip(files, self.repo.read_many([self.oids[path] for path in files]), strict=True):
            folder = path.rpartition("/")[0]
            for row in (data or b"")[:RULES_SIZE].decode("utf-8", "replace").splitlines():
                kept = row.startswith("!")
                if (row := row.removeprefix("!").strip()) and not row.startswith("#") and row.strip("/*"):
                    rules.append((folder, _rule(row), not kept))
        return rules

    def ignored(self, path: str) -> bool:
        """Whether a rule of the tree keeps a path, or a folder above it, out of Git."""
        parts = path.rstrip("/").split("/")
        return any(self._ignored("/".join(parts[:depth])) for depth in range(1, len(parts) + 1))

    def _ignored(self, path: str) -> bool:
        found = self._verdicts.get(path)
        if found is None:
            found = False
            for folder, rule, ignores in self._rules:
                if folder and not path.startswith(f"{folder}/"):
                    continue
                if rule.fullmatch(path[len(folder) + 1 :] if folder else path):
                    found = ignores
            self._verdicts[path] = found
        return found


def _listed(repo: Repository, commit: str, near: Tree | None) -> Sequence[Entry]:
    if near is None or not commit:
        if not commit:
            return []
        return repo.entries(commit)
    try:
        changes = repo.changes(near.commit, commit)
    except GitFailed:  # an object that a partial clone has not
        return repo.entries(commit)
    found = {entry.path: entry for entry in near.entries}
    for change in changes:
        if change.status == "D":
            found.pop(change.path, None)
        else:
            found[change.path] = Entry(change.path, change.new_mode, change.new_oid, -1)
    return list(found.values())


def _depth(path: str) -> tuple[int, str]:
    return path.count("/"), path


def _rule(row: str) -> re.Pattern[str]:
    """The expression of one ignore rule, for a path from its folder on."""
    anchored = "/" in row.rstrip("/")
    body = row.strip("/")
    form = ""
    for piece in re.findall(r"\*\*/|/\*\*|\*|\?|\[[^\]/]*\]|[^*?\[]+|.", body):
        if piece == "**/":
            form += "(?:.*/)?"
        elif piece == "/**":
            form += "(?:/.*)?"
        elif piece in ("*", "?"):
            form += "[^/]" + ("*" if piece == "*" else "")
        elif piece.startswith("[") and len(piece) > 2:
            form += "[" + piece[1:-1].replace("!", "^", 1).replace("\\", "").replace("[", "\\[") + "]"
        else:
            form += re.escape(piece)
    try:
        return re.compile(form if anchored else f"(?:.*/)?{form}")
    except re.error:
        return re.compile(re.escape(body))


def joined(folder: str, path: str) -> str:
    """`path` seen from a folder, `..` walked; "" where it leaves the repository."""
    parts: list[str] = parts_of(folder)
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
