"""A passage as it is answered: its value, whether it is committed and by whom, and which of many fit a budget.

Finds and orders nothing; shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.json_values import json_object
from gitmem.light_typing import TYPE_CHECKING, NamedTuple
from gitmem.plural import line_range

if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory.code_state import CitedCode

BY_HAND = "by hand"  # why a line replaces another that its `supersedes` names


class Linked(NamedTuple):
    """A line that amends a passage, or that a passage amends, the day it is of, and for what `reason` the two are
    linked; `proposed` where it takes a review to hold. `of` is the line of the passage."""

    path: str
    start_line: int
    end_line: int
    date: str
    id: str
    proposed: bool = False
    reason: str = ""
    of: int = 0

    def as_value(self) -> dict[str, Any]:
        """The JSON of docs/json.md, "search"."""
        return json_object(self, "path start_line end_line date? id proposed reason")


class SourceLine(NamedTuple):
    """The lines of a log that a fact was promoted from: `text` what they say, "" where the search did not find them."""

    path: str
    start_line: int
    end_line: int
    text: str = ""


class Hit(NamedTuple):
    """A passage. `trail` is what it is about, from the outside in: the note's name, headings, parent items, a table's
    header. `score` is 0..1, comparable within one answer; `state` "", "expired", "superseded", "promoted", or of one
    that cites code "changed" or "gone", with what became of it in `code`; `amended_by`, `supersedes` and `differs`
    (earlier lines that say otherwise, and nobody can say which holds) as far as the lines that answer tell, newest
    first; `commit`, `author` only when blame was asked for, `branch` only across
    branches.

    Of a fact that was promoted `sources` are the lines that it was promoted from, those that the search found first.

    Of a commit (`kind` "commit") `path` and `blob` are "", the lines those of its message; `state` is "reverted",
    "amended" or "", `by` the commit that says so, `repository` the clone it is of where that is another."""

    path: str
    start_line: int
    end_line: int
    heading: str
    text: str
    score: float
    date: str
    type: str
    tags: tuple[str, ...]
    origin: str
    trust: str
    blob: str
    id: str
    state: str = ""
    branch: str = ""
    commit: str = ""
    author: str = ""
    amended_by: tuple[Linked, ...] = ()
    supersedes: tuple[Linked, ...] = ()
    differs: tuple[Linked, ...] = ()
    chunk: int = 0
    raw: float = 0.0  # the line's own sum, and what it is divided by
    scale: float = 1.0
    evidence: tuple[float, ...] = ()
    priors: tuple[tuple[str, float], ...] = ()
    explain: dict[str, Any] | None = None
    kind: str = ""
    subject: str = ""
    by: str = ""
    repository: str = ""
    trail: tuple[str, ...] = ()
    code: tuple[CitedCode, ...] = ()  # that it cites and that is not as it was
    names: tuple[str, ...] = ()  # what else its note is called: aliases, description
    sources: tuple[SourceLine, ...] = ()

    @property
    def where(self) -> str:
        """What it is about, as a person reads it: its headings, then parent items and a table's header."""
        above = max((at for at, step in enumerate(self.trail, 1) if step in self.heading), default=0)
        return " > ".join([*([self.heading] if self.heading else []), *self.trail[above:]])

    @property
    def about(self) -> str:
        """All that says what it is about, as one text."""
        return " ".join((*self.trail, *self.names))

    @property
    def whole(self) -> str:
        """Its text, and below it what the lines say that it was promoted from, where the search found them."""
        return "\n".join([self.text, *(source.text for source in self.sources if source.text)])

    @property
    def until(self) -> tuple[tuple[int, str], ...]:
        """Each line that a later one surely replaces or ends -> the day of that one; without proposals."""
        return tuple(sorted({one.of: one.date for one in reversed(self.amended_by) if not one.proposed}.items()))

    @property
    def note(self) -> str:
        """What a model must know before it believes a passage: which lines hold no longer, and who says otherwise."""
        said = [one.words for one in self.code] or ([self.state] if self.state else [])
        said += [f"line {line} until {day}" for line, day in self.until]
        said += [f"an earlier line says otherwise, {one.path} line {one.start_line}" for one in self.differs[:1]]
        return "; ".join(said)


def trusted(repo: Repository, hits: list[Hit], lines: Callable[[Hit], list[str]]) -> list[Hit]:
    """Hits of the work tree, `uncommitted` where HEAD's version of the file has not their text. `lines` are those of
    a hit's file as it was searched."""
    if not hits:
        return hits
    try:  # one process; `head()` would start another
        there = repo.blobs("HEAD", sorted({hit.path for hit in hits}))
    except GitMemError:
        return [hit._replace(trust="uncommitted") for hit in hits]
    changed = {hit.path: there[hit.path] for hit in hits if there.get(hit.path, hit.blob) != hit.blob}
    if changed:
        contents = dict(repo.read_many(dict.fromkeys(changed.values())))
    else:
        contents = {}
    old = {path: set(text_lines(contents.get(oid) or b"")) for path, oid in changed.items()}
    made = []
    for hit in hits:
        own = [line for line in lines(hit)[hit.start_line - 1 : hit.end_line] if line.strip()]
        if hit.path not in there or (hit.path in old and not set(own) <= old[hit.path]):
            hit = hit._replace(trust="uncommitted")
        made.append(hit)
    return made


def blamed(repo: Repository, hits: Sequence[Hit], commit: str) -> list[Hit]:
    """The hits with who wrote them, as of `commit` ("": the work tree): of a fact the commit that first brought it, of
    other lines the newest one that changed them."""
    from gitmem.memory.arrivals import LASTING, first_commits
    from gitmem.memory.fact import Fact, normalise
    from gitmem.paths import kind

    facts = [Fact(normalise(hit.text), hit.id, hit.start_line) for hit in hits if kind(hit.path) in LASTING]
    if facts:
        first = first_commits(repo, commit or repo.head() or "", facts)
    else:
        first = {}
    made = []
    for hit in hits:
        if hit.id in first and kind(hit.path) in LASTING:
            oids = [first[hit.id]]
        else:
            oids = _touching(repo, hit, commit)
        if not oids:
            made.append(hit)
            continue
        newest = max((repo.commit(oid) for oid in dict.fromkeys(oids)), key=lambda written: written.author_date)
        author, day = f"{newest.author.name} <{newest.author.email}>", newest.author_date.date().isoformat()
        made.append(hit._replace(commit=newest.oid, author=author, date=hit.date or day))
    return made


def _touching(repo: Repository, hit: Hit, commit: str) -> list[str]:
    """The commits that changed the lines of a hit last; none of lines that are in no commit."""
    return [row.commit for row in repo.blame(hit.path, hit.start_line, hit.end_line, commit) if row.commit.strip("0")]


def fitting(hits: Sequence[Hit], budget: int) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """The first hits whose texts have `budget` tokens at most, all where it is 0; notes on those that alone have more.

    A passage is whole or not there: cut, it would be half a fence or half a row.
    """
    if not budget:
        return tuple(hits), ()
    from gitmem.models.token_count import estimate

    kept: list[Hit] = []
    notes = []
    left = budget
    for hit in hits:
        size = estimate(hit.text)
        if size > budget:
            lines = line_range(hit.start_line, hit.end_line)
            notes.append(f"{hit.path}:{lines} has about {size} tokens and is left out")
        elif size > left:
            break
        else:
            left -= size
            kept.append(hit)
    return tuple(kept), tuple(notes)


def text_lines(data: bytes) -> list[str]:
    """The lines of a file as the index counted them. `document` is imported only for bytes that are not plain UTF-8."""
    if b"\0" not in data and b"\r" not in data and not data.startswith(b"\xef\xbb\xbf"):
        try:
            if not data:
                return []
            return data.decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError:
            pass
    from gitmem.memory.document import decode, split_lines

    return split_lines(decode(data)[0])
