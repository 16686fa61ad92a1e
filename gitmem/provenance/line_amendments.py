"""Which lines amend a line, and which it amends: what a search for its own text links it with, and what it says itself.

A link is what `search/amendments` makes of the lines that answer, so that `why` explains what `search` marks. A fact
may also name what it supersedes (`<!-- mem supersedes=ID -->`); where that is no longer in memory, the commit that
wrote the fact has it. Reads only; text with a secret is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.gate.quoting import without_secrets
from gitmem.git.objects import Commit
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import parse_comment
from gitmem.memory.files import read_memory_file
from gitmem.search.hits import BY_HAND, Linked
from gitmem.search.search import Query, search

HITS = 20  # of the search for the line's own text


@dataclass(frozen=True, slots=True)
class Amendment:
    """The other end of a link: its place and text, the day it is of ("" for none), and for what `reason` the two are
    linked; `proposed` where that takes a review to hold. `commit` is "" for a line that is there, else the last commit
    that had it."""

    path: str
    start_line: int
    end_line: int
    date: str
    id: str
    text: str
    reason: str
    proposed: bool = False
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Amendments:
    """Newest first; `problem` says why no search could be made."""

    amended_by: tuple[Amendment, ...] = ()
    supersedes: tuple[Amendment, ...] = ()
    problem: str = ""

    def as_value(self) -> dict[str, object]:
        """The keys `amended_by` and `supersedes` of docs/json.md, "why"."""

        def values(ends: Iterable[Amendment]) -> list[dict[str, object]]:
            return [{**asdict(end), "date": end.date or None, "commit": end.commit or None} for end in ends]

        return {"amended_by": values(self.amended_by), "supersedes": values(self.supersedes)}


def amendments(
    repo: Repository, config: Config, place: tuple[str, int], text: str, at: str, now: datetime
) -> Amendments:
    """The links of the line of `text` at `place`, as of the commit `at`, "" for the work tree."""
    path, line = place
    try:
        hits = search(repo, config, Query(text, limit=HITS, commit=at, expired=True, promoted_lines=True), now).hits
        hit = next((hit for hit in hits if hit.path == path and hit.start_line <= line <= hit.end_line), None)
        if hit is None:
            return Amendments()
    except GitMemError as error:
        return Amendments(problem=f"what amends it is not known: {error.message}")

    def ends(linked: Sequence[Linked]) -> tuple[Amendment, ...]:
        return tuple(_read(repo, config, end, at) for end in linked if end.of in (0, line))

    return Amendments(ends(hit.amended_by), ends(hit.supersedes))


def _read(repo: Repository, config: Config, end: Linked, at: str) -> Amendment:
    """A link with the text of its other end, as its file has it without comments."""
    lines = memory_facts.split_lines(read_memory_file(repo, config, end.path, at))
    own = [parse_comment(line.rstrip())[0] for line in lines[end.start_line - 1 : end.end_line]]
    text = "\n".join(without_secrets(own))
    return Amendment(end.path, end.start_line, end.end_line, end.date, end.id, text, end.reason, end.proposed)


def replaced(repo: Repository, path: str, idents: Sequence[str], commit: Commit | None) -> tuple[Amendment, ...]:
    """The facts of these ids that the file at `path` had before `commit`, which wrote the line that names them."""
    if commit is None or not commit.parents or not idents:
        return ()
    parent = commit.parents[0]
    oid = repo.blobs(parent, [path]).get(path)
    if oid is None:
        return ()
    known = [entry.fact for entry in memory_facts.parse(repo.read(oid)).entries]
    return tuple(
        Amendment(path, fact.line, fact.line, "", fact.id, without_secrets([fact.text])[0], BY_HAND, False, parent)
        for fact in known
        if fact.id in idents
    )
