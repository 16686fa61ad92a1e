"""Looks up claims in the tree of one commit: paths, commands, names of code, versions. Each claim is looked up once.

A name (symbol, environment variable, port) is found if some code file has it; its grade is EXACT if code also defines
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.claims import versions
from gitmem.claims.claim import DIAGRAM_TOOL, Claim, Kind
from gitmem.claims.code_words import BlobWords, Names, names_in
from gitmem.claims.manifests import Manifests
from gitmem.claims.path_resolution import ELSEWHERE, EXACT, NOWHERE, DiagramRoots, Resolution, resolve
from gitmem.claims.tree import Tree
from gitmem.git.objects import Entry
from gitmem.git.repository import Repository

NAMED_KINDS = (Kind.SYMBOL, Kind.ENVIRONMENT, Kind.PORT)
MAX_VERSION_FILES = 200  # files with versions that are read, those nearest the root first


class FileClaim(NamedTuple):
    """A claim, with the path of the file that makes it."""

    path: str
    claim: Claim

    @property
    def text(self) -> str:
        return self.claim.text


class NameSearch(NamedTuple):
    """How a lookup searches code for names (symbols, environment variables, ports).

    `names`: only these names are searched for, and all others get an unknown result; None for all claimed names.
    `find_definitions`: False saves time, and no name then counts as defined. `blobs`: a search that lookups in the
    trees of several commits share; None for a search of one tree.
    """

    names: frozenset[str] | None = None
    find_definitions: bool = True
    blobs: BlobWords | None = None


ALL_NAMES = NameSearch()


class ClaimLookup:
    """Looks up claims in the tree of `commit`.

    `claims`: all claims that will be looked up. `similar`: the lookup of a similar commit; files that both trees have
    are not searched again. `entries`: the listing of the tree, if the caller has it.
    """

    def __init__(
        self,
        repo: Repository,
        commit: str,
        claims: Iterable[FileClaim],
        search: NameSearch = ALL_NAMES,
        *,
        similar: ClaimLookup | None = None,
        entries: Sequence[Entry] | None = None,
    ) -> None:
        self.repo, self.commit = repo, commit
        self.similar, self.search = similar, search
        self.diagram_lookup: ClaimLookup | None = None  # the lookup whose tree gives the roots of diagrams
        self.claims = list(claims)
        self.tree: Tree = Tree(repo, commit, entries, similar.tree if similar else None)
        self.manifests = Manifests(self.tree)
        claimed = {file_claim.claim.token for file_claim in self.claims if file_claim.claim.kind in NAMED_KINDS}
        if search.names is not None:
            claimed &= search.names
        self.searched = frozenset(claimed)
        self._names: Names | None = None
        self._roots: dict[str, DiagramRoots] = {}
        self._versions: dict[str, list[tuple[str, str]]] | None = None
        self._resolutions: dict[tuple[str, Claim], Resolution] = {}

    @property
    def names(self) -> Names:
        """The searched names that code of the tree uses, and those that it defines. With `similar`, definitions in
        files that both trees have may be missing; without `find_definitions` the second set may be empty."""
        if self._names is None:
            entries, similar = self.tree.entries, self.similar
            find_definitions = self.search.find_definitions
            if self.search.blobs is not None:
                self._names = self.search.blobs.names(entries)
            elif similar is None or not self.searched <= similar.searched:
                self._names = names_in(self.repo, entries, self.searched, defining=find_definitions)
            else:
                shared = set(similar.tree.oids.values())
                entries = [entry for entry in entries if entry.oid not in shared]
                used, defined = names_in(self.repo, entries, self.searched, defining=find_definitions)
                self._names = Names(used | (similar.names.used & self.searched), defined)
        return self._names

    def resolve(self, file_claim: FileClaim) -> Resolution:
        """Look up a claim in the tree: whether and where it has the named thing (`Resolution`). Each claim is looked up
        once; the result is cached."""
        resolution = self._resolutions.get((file_claim.path, file_claim.claim))
        if resolution is None:
            resolution = self._resolutions[file_claim.path, file_claim.claim] = self._resolved(file_claim)
        return resolution

    def _resolved(self, file_claim: FileClaim) -> Resolution:
        """The place of a claim: of a name by the search of the code, of another claim by the files of its kind. A name
        that was not searched has an unknown place."""
        claim = file_claim.claim
        if claim.kind in NAMED_KINDS:
            if claim.token not in self.searched:
                return Resolution(EXACT, unknown=True)
            if claim.token in self.names.defined:
                return Resolution(EXACT)
            if claim.token in self.names.used:
                return Resolution(ELSEWHERE)
            return Resolution(NOWHERE)
        if claim.kind is Kind.COMMAND:
            return self.manifests.resolve(claim, file_claim.path)
        if claim.kind is Kind.VERSION:
            return self._version(claim, file_claim.path)
        if claim.tool == DIAGRAM_TOOL:
            return (self.diagram_lookup or self).diagrams(file_claim.path).resolve(claim, self.tree)
        return resolve(claim, file_claim.path, self.tree)

    def diagrams(self, path: str) -> DiagramRoots:
        """The diagrams of folders in the file `path`, with the folder of the tree that each one shows."""
        if path not in self._roots:
            entries = [claim for document, claim in self.claims if document == path and claim.tool == DIAGRAM_TOOL]
            self._roots[path] = DiagramRoots(path, entries, self.tree)
        return self._roots[path]

    def _version(self, claim: Claim, document: str) -> Resolution:
        """Look up a version: compare it with those in configuration files beside the document or at the root, else with
        all others.

        The result is unknown if none of these files states a comparable version.
        """
        tool = versions.NAMES.get(claim.tool, claim.tool)
        if self._versions is None:
            self._versions = self._stated()
        stated = self._versions.get(tool, [])
        folder = document.rpartition("/")[0]
        near = [(path, spec) for path, spec in stated if path.rpartition("/")[0] in (folder, "")] or stated
        is_minimum = versions.at_least(claim.text, claim.line.text)
        answers = [versions.agrees(claim.token, spec, is_minimum) for _, spec in near]
        if True in answers:
            return Resolution(EXACT)
        if None in answers or not answers:
            return Resolution(NOWHERE, unknown=True)
        return Resolution(NOWHERE, f"{near[0][0]} has {near[0][1]}")

    def _stated(self) -> dict[str, list[tuple[str, str]]]:
        """Tool -> (path, version or range) of each configuration file that states a version of the tool. Of more than
        MAX_VERSION_FILES such files those nearest to the top are read, and none below node_modules/."""
        stated: dict[str, list[tuple[str, str]]] = {}
        tools = {file_claim.claim.tool for file_claim in self.claims if file_claim.claim.kind is Kind.VERSION}
        packages = tuple(sorted({versions.NAMES.get(tool, tool) for tool in tools}))
        if not packages:
            return stated
        oids = self.tree.oids
        paths = [path for path in oids if path.rpartition("/")[2] in versions.FILES and "node_modules/" not in path]
        paths = sorted(paths, key=lambda path: path.count("/"))[:MAX_VERSION_FILES]
        for path, (_, data) in zip(paths, self.repo.read_many([oids[path] for path in paths]), strict=True):
            text = (data or b"").decode("utf-8", "replace")
            for tool, spec in versions.stated_versions(path.rpartition("/")[2], text, packages):
                stated.setdefault(tool, []).append((path, spec))
        return stated
