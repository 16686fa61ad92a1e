"""A search with parsed options (`Query`), and what the search reads from it (`ParsedQuery`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple
from unicodedata import normalize

from gitmem.config import Config
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.search.question import Question, parse
from gitmem.search.tuning import configured_ranking
from gitmem.search.weights import Ranking

Keep = Callable[[str], bool]  # whether a path may be shown


class Lane(StrEnum):
    """The lanes that a search uses: LEXICAL compares words, VECTOR compares meaning."""

    BOTH = "both"
    LEXICAL = "lexical"
    VECTOR = "vector"


class Query(NamedTuple):
    """A search with parsed options (`request.query_of` makes it).

    `limit`: hits at most. `commit`: "" for the work tree. `branches`: (name, commit) of each branch to search instead.
    `paths`: globs, whose `*` matches `/` too, and folders. `types`, `tags`: a hit has one of each. `since`, `until`:
    first and last day of the hits. `expired`: expired and superseded facts too. `min_score`: None for
    `mem.searchFloor`. `budget`: tokens of all hits, 0 for no limit. `blame`: add author and commit to each hit.
    `explain`: add the parts of each score. `everything`: return more than ALWAYS_SHOWN_HITS hits even if none is likely
    to answer. `history`: "with" commits too, "known" those already indexed or indexed soon, "only" nothing else, ""
    none. `scope`: only lines that apply to this folder or one below it, "" for all. `promoted_lines`: a line of a log
    that was promoted is a hit of its own beside its fact. `forgotten`: texts that no hit shows.
    `instructions`: where no hit answers, name the instruction files that do (`Answer.hint`).
    """

    text: str
    limit: int = 6
    commit: str = ""
    branches: tuple[tuple[str, str], ...] = ()
    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    expired: bool = False
    min_score: float | None = None
    lane: Lane = Lane.BOTH
    budget: int = 0
    blame: bool = False
    explain: bool = False
    everything: bool = False
    history: str = ""
    scope: str = ""
    promoted_lines: bool = False
    forgotten: Forgotten = NOTHING
    instructions: bool = False


class ParsedQuery(NamedTuple):
    """A query with its question, the constants of ranking, and the filter of its paths.

    `keep`: returns whether a path may be shown; None without globs. `today`: the day of the search.
    """

    query: Query
    question: Question
    ranking: Ranking
    keep: Keep | None
    today: date

    @property
    def is_narrow(self) -> bool:
        """Whether the query has a filter (type, tag, day, scope) that leaves out many of the scored lines."""
        query = self.query
        return bool(query.types or query.tags or query.since or query.until or query.scope)

    @property
    def min_score(self) -> float:
        """The least score of a hit."""
        if self.query.min_score is None:
            return self.ranking.floor
        return self.query.min_score

    @property
    def wants_expired(self) -> bool:
        """Whether the search also finds expired and superseded facts, as it does for a question about the past."""
        return self.query.expired or self.question.past

    @property
    def wants_promoted_episodes(self) -> bool:
        """Whether the search also finds session files (episodes) whose lines a digest has taken over."""
        return self.query.expired or bool(self.query.paths)

    @property
    def wants_promoted_lines(self) -> bool:
        """Whether a line of a log that was promoted is a hit of its own beside its fact."""
        return self.query.promoted_lines or self.question.only_days

    def has_day(self, when: date) -> bool:
        """Whether a day is neither before `since` nor after `until`."""
        since, until = self.query.since, self.query.until
        return (not since or when >= since) and (not until or when <= until)


def parse_query(query: Query, config: Config, today: date) -> ParsedQuery:
    """The query with its parsed question, its path filter and the constants of ranking in the settings. Raises
    BadConfig for a setting of ranking that cannot be used."""
    return ParsedQuery(query, parse(query.text, today), configured_ranking(config), _path_filter(query.paths), today)


def _path_filter(paths: Sequence[str]) -> Keep | None:
    """A function that returns whether a path matches one of the globs (`*` matches `/` too) or is below a folder that
    one names; None without globs."""
    if not paths:
        return None
    globs = [path.rstrip("/") for path in paths]
    normalised = not all(glob.isascii() for glob in globs)  # a name on disk may spell a letter in other code points
    if normalised:
        globs = [normalize("NFC", glob) for glob in globs]

    def keep(path: str) -> bool:
        if normalised:
            path = normalize("NFC", path)
        return any(fnmatchcase(path, glob) or path.startswith(glob + "/") for glob in globs)

    return keep
