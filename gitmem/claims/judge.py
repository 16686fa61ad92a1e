"""One tree and what it says of claims: paths, commands, names, versions, each asked once.

`standing` is the one question. A name (symbol, environment variable, port) stands where code has it; whether it also
defines it is known beside that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.claims import versions
from gitmem.claims.claim import DRAWN, Claim, Kind
from gitmem.claims.code_words import BlobWords, Names, names_in
from gitmem.claims.manifests import Manifests
from gitmem.claims.path_resolution import ELSEWHERE, EXACT, NOWHERE, DiagramRoots, Standing, standing
from gitmem.claims.tree import Tree
from gitmem.git.objects import Entry
from gitmem.git.repository import Repository

NAMED_KINDS = (Kind.SYMBOL, Kind.ENVIRONMENT, Kind.PORT)
MOST_STATING = 200  # files that state versions


class Said(NamedTuple):
    """A claim and the file that makes it."""

    path: str
    claim: Claim

    @property
    def text(self) -> str:
        return self.claim.text


class Judge:
    """Answers for one commit. `names` limits the search of names: those beyond it count as standing. Where `beside`
    judges another commit, files that both have are not searched again; `entries` is the listing of this one. Without
    `defining` a name is never defined. `words`: who searches names instead, for several commits at once."""

    def __init__(
        self, repo: Repository, commit: str, said: Iterable[Said], names: frozenset[str] | None = None,
        *, beside: Judge | None = None, defining: bool = True, entries: Sequence[Entry] | None = None,
        words: BlobWords | None = None,
    ) -> None:  # fmt: skip
        self.repo, self.commit = repo, commit
        self.beside, self.defining, self.words = beside, defining, words
        self.drawn: Judge | None = None  # who says where drawings begin: another tree, from which a change took some
        self.said = list(said)
        near: Tree | None = None
        if beside:
            near = beside.tree
        self.tree: Tree = Tree(repo, commit, entries, near)
        self.manifests = Manifests(self.tree)
        claimed = {one.claim.token for one in self.said if one.claim.kind in NAMED_KINDS}
        self.asked = frozenset(claimed if names is None else claimed & names)
        self._names: Names | None = None
        self._roots: dict[str, DiagramRoots] = {}
        self._versions: dict[str, list[tuple[str, str]]] | None = None
        self._known: dict[tuple[str, Claim], Standing] = {}

    @property
    def names(self) -> Names:
        """Which of the names asked for the code has."""
        if self._names is None:
            entries, beside = self.tree.entries, self.beside
            if self.words is not None:
                if self.asked:
                    self._names = self.words.names(entries)
                else:
                    self._names = Names(frozenset(), frozenset())
            elif beside is None or not self.asked <= beside.asked:
                self._names = names_in(self.repo, entries, self.asked, defining=self.defining)
            else:
                shared = set(beside.tree.oids.values())
                entries = [entry for entry in entries if entry.oid not in shared]
                used, defined = names_in(self.repo, entries, self.asked, defining=self.defining)
                self._names = Names(used | (beside.names.used & self.asked), defined)
        return self._names

    def standing(self, one: Said) -> Standing:
        """Where a claim stands in this tree."""
        known = self._known.get((one.path, one.claim))
        if known is None:
            known = self._known[one.path, one.claim] = self._judged(one)
        return known

    def _judged(self, one: Said) -> Standing:
        claim = one.claim
        if claim.kind in NAMED_KINDS:
            if claim.token not in self.asked:
                return Standing(EXACT, unknown=True)
            if claim.token in self.names.defined:
                return Standing(EXACT)
            return Standing(ELSEWHERE if claim.token in self.names.used else NOWHERE)
        if claim.kind is Kind.COMMAND:
            return self.manifests.standing(claim, one.path)
        if claim.kind is Kind.VERSION:
            return self._version(claim, one.path)
        if claim.tool == DRAWN:
            return (self.drawn or self).diagrams(one.path).standing(claim, self.tree)
        return standing(claim, one.path, self.tree)

    def diagrams(self, path: str) -> DiagramRoots:
        """The drawings of a file."""
        if path not in self._roots:
            drawn = [one.claim for one in self.said if one.path == path and one.claim.tool == DRAWN]
            self._roots[path] = DiagramRoots(path, drawn, self.tree)
        return self._roots[path]

    def _version(self, claim: Claim, document: str) -> Standing:
        tool = versions.NAMES.get(claim.tool, claim.tool)
        if self._versions is None:
            self._versions = self._stated()
        found = self._versions.get(tool, [])
        own = document.rpartition("/")[0]
        near = [(path, spec) for path, spec in found if path.rpartition("/")[0] in (own, "")] or found
        least = versions.at_least(claim.text, claim.line.text)
        answers = [versions.agrees(claim.token, spec, least) for _, spec in near]
        if True in answers or None in answers or not answers:
            return Standing(EXACT if True in answers else NOWHERE, unknown=True not in answers)
        return Standing(NOWHERE, f"{near[0][0]} has {near[0][1]}")

    def _stated(self) -> dict[str, list[tuple[str, str]]]:
        tools = {one.claim.tool for one in self.said if one.claim.kind is Kind.VERSION}
        packages = tuple(sorted({versions.NAMES.get(tool, tool) for tool in tools}))
        paths = [
            path for path in self.tree.oids if path.rpartition("/")[2] in versions.FILES and "node_modules/" not in path
        ]
        if packages:
            paths = sorted(paths, key=lambda path: path.count("/"))[:MOST_STATING]
        else:
            paths = []
        stated: dict[str, list[tuple[str, str]]] = {}
        for path, (_, data) in zip(paths, self.repo.read_many([self.tree.oids[path] for path in paths]), strict=True):
            for tool, spec in versions.stated(
                path.rpartition("/")[2], (data or b"").decode("utf-8", "replace"), packages
            ):
                stated.setdefault(tool, []).append((path, spec))
        return stated
