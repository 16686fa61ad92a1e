"""What people took out of memory and do not want promoted again. Reads commit messages only."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitmem.errors import GitMemError
from gitmem.git.objects import Commit, Span
from gitmem.git.protocol import Repository
from gitmem.provenance import trailers


@dataclass(frozen=True, slots=True)
class Rejections:
    """What must not be promoted again: texts by hash (64 hex), and the source lines they came from."""

    hashes: frozenset[str] = frozenset()
    spans: tuple[Span, ...] = ()


def rejections(repo: Repository, rev: str = "HEAD") -> Rejections:
    """Facts a person took out, by `Memory-Rejected` or by `git revert` of a promotion, and did not put back.

    Read oldest first: a later promotion or edit that records the same text again (`Memory-Source`) lifts its refusal.
    """
    refused: dict[str, tuple[str, dict[Span, None]]] = {}
    for commit in repo.log([rev], grep=[f"{trailers.REJECTED}:", "This reverts commit "], reverse=True):
        for link in _undone(repo, commit):
            _, spans = refused.get(link.sha256, ("", {}))
            refused[link.sha256] = (commit.oid, spans | ({link.source: None} if link.source else {}))
    for commit in repo.log([rev], grep=[f"{trailers.SOURCE}:"]) if refused else ():
        for link in trailers.links(trailers.memory_trailers(commit.message), trailers.SOURCE):
            refusal, _ = refused.get(link.sha256, ("", {}))
            if refusal and refusal != commit.oid and repo.is_ancestor(refusal, commit.oid):
                del refused[link.sha256]
    spans = dict.fromkeys(span for _, found in refused.values() for span in found)
    return Rejections(frozenset(refused), tuple(spans))


_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{40,64})\b")


def _undone(repo: Repository, commit: Commit) -> list[trailers.Link]:
    """The facts a commit refuses: named by it, or promoted by a commit it reverts."""
    found = trailers.links(trailers.memory_trailers(commit.message), trailers.REJECTED)
    for oid in _REVERTS.findall(commit.message):
        try:
            undone = repo.commit(oid)
        except GitMemError:
            continue
        found += trailers.links(trailers.memory_trailers(undone.message), trailers.SOURCE)
    return found
