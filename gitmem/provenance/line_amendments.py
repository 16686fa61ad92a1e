"""Finds the lines that amend a line of memory, and the lines that it amends, for `git mem why`.

The links come from a search for the text of the line, so that `why` explains the marks that `search` shows
(`search/amendments`). A fact may also name what it supersedes (`<!-- mem supersedes=ID -->`); when that fact is no
longer in memory, it is read from the parent of the commit that wrote the line. Reads only; text with a secret is left
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.gate.quoting import without_secrets
from gitmem.git.objects import Commit
from gitmem.git.repository import Repository, file_at
from gitmem.json_values import json_keys
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import parse_comment
from gitmem.memory.files import read_memory_file
from gitmem.search.hits import BY_COMMENT, LinkedLine
from gitmem.search.search import Query, search

MAX_HITS = 20  # results of the search for the text of the line


@json_keys("path start_line end_line date? id text reason proposed commit?")
@dataclass(frozen=True, slots=True)
class Amendment:
    """The line at the other end of a link.

    JSON: `date`: its day. `reason`: why the two lines are linked. `proposed`: the link waits for a review.
    `commit`: null for a line that is there, else the last commit that had it.
    """

    path: str
    start_line: int
    end_line: int
    date: str  # day of the line, "" for none
    id: str
    text: str
    reason: str  # why the two lines are linked
    proposed: bool = False  # the link needs a review
    commit: str = ""  # the last commit with the line, when it is no longer in memory; else ""


@dataclass(frozen=True, slots=True)
class Amendments:
    """The lines that amend a line (correct, replace or add to it), and the lines that it amends, newest first.
    `problem`: why the search for them failed, a sentence; "" when it did not."""

    amended_by: tuple[Amendment, ...] = ()
    supersedes: tuple[Amendment, ...] = ()
    problem: str = ""


def amendments(
    repo: Repository, config: Config, place: tuple[str, int], text: str, rev: str, now: datetime
) -> Amendments:
    """The lines that amend the line with `text` at `place` (path, line), and those that it amends. `rev`: a commit,
    "" for the work tree. Empty when the search for the text does not find that line; a search that fails raises nothing
    and is named in `problem`."""
    path, line = place
    try:
        query = Query(text, limit=MAX_HITS, commit=rev, expired=True, promoted_lines=True)
        hits = search(repo, config, query, now).hits
        hit = next((hit for hit in hits if hit.path == path and hit.start_line <= line <= hit.end_line), None)
        if hit is None:
            return Amendments()
    except GitMemError as error:
        return Amendments(problem=f"what amends it is not known: {error.message}")

    def ends(linked: Sequence[LinkedLine]) -> tuple[Amendment, ...]:
        return tuple(_read_amendment(repo, config, end, rev) for end in linked if end.passage_line in (0, line))

    return Amendments(ends(hit.amended_by), ends(hit.supersedes))


def _read_amendment(repo: Repository, config: Config, end: LinkedLine, rev: str) -> Amendment:
    """The amendment for one end of a link, with the text of its lines without comments."""
    lines = memory_facts.split_lines(read_memory_file(repo, config, end.path, rev))
    texts = [parse_comment(line.rstrip())[0] for line in lines[end.start_line - 1 : end.end_line]]
    text = "\n".join(without_secrets(texts))
    return Amendment(end.path, end.start_line, end.end_line, end.date, end.id, text, end.reason, end.proposed)


def replaced_facts(repo: Repository, path: str, idents: Sequence[str], commit: Commit | None) -> tuple[Amendment, ...]:
    """The facts with the ids `idents` as they were in the file at `path` before `commit`, which wrote the fact that
    supersedes them. () for no commit, for one without a parent, and when the file was not there."""
    if commit is None or not commit.parents or not idents:
        return ()
    parent = commit.parents[0]
    data = file_at(repo, parent, path)
    if data is None:
        return ()
    return tuple(
        Amendment(path, fact.line, fact.line, "", fact.id, without_secrets([fact.text])[0], BY_COMMENT, False, parent)
        for fact in memory_facts.parse(data).facts
        if fact.id in idents
    )
