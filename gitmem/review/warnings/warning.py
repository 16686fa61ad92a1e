"""What a warning of a review is: one check, and all that is said of what it found. The form of the modules beside it.

A warning refuses nothing, unless a setting says so or an agent forged a record (`fails`): what blocks is a finding of
the gate or a line whose provenance does not hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

from gitmem.config import Config
from gitmem.git.repository import Repository
from gitmem.memory.fact import Fact
from gitmem.review.fact_diff import FactChange
from gitmem.review.forges.forge import Suggestion
from gitmem.review.markup import Links
from gitmem.review.page import Row, Section

Clock = Callable[[], float]


class Place(StrEnum):
    """Where the section of a warning stands: before what is wrong, before the facts, or after all of the rest."""

    FIRST = "first"
    MIDDLE = "middle"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Range:
    """The commits that are reviewed (`base` may be "", for nothing) and what was read of them.

    `changes` are the facts that came, went or say something else; `standing` the facts of long-term memory at the head,
    each with its path; `daily` the patterns of daily logs.
    """

    repo: Repository
    config: Config
    base: str
    head: str
    changes: Sequence[FactChange]
    existing: Sequence[tuple[str, Fact]]
    daily: tuple[str, ...]
    now: datetime
    clock: Clock


class Checked(NamedTuple):
    """A row of the table of checks: whether it has nothing to say, what was looked at, what came of it (Markdown)."""

    good: bool
    what: str
    result: str


class Remark(NamedTuple):
    """A warning at a line, for SARIF and annotations: `words` hold no text of memory."""

    path: str
    line: int
    rule: str
    words: str


class ReviewWarning(ABC):
    """What one check found, a frozen dataclass. Every text of it is masked (`review/masking.py`).

    `key` names it in the JSON; `title` its section, whose rows `noun` and `plural` count; `notes` are what could not be
    checked; `fails`: the review fails for it.
    """

    __slots__ = ()
    key: ClassVar[str]
    title: ClassVar[str]
    noun: ClassVar[str]
    plural: ClassVar[str] = ""
    place: ClassVar[Place] = Place.MIDDLE
    notes: tuple[str, ...] = ()
    fails: bool = False

    @abstractmethod
    def points(self) -> int:
        """How many points a person should look at."""

    def old_points(self) -> int:
        """How many points were there before the change; none of them is in `points`."""
        return 0

    @abstractmethod
    def checked(self) -> Iterable[Checked]:
        """Its rows in the table of checks, none where nothing was looked at."""

    @abstractmethod
    def rows(self, links: Links) -> Iterator[Row]:
        """What its section says."""

    @abstractmethod
    def remarks(self) -> Iterator[Remark]:
        """The same for SARIF and annotations."""

    def suggestions(self) -> Iterable[Suggestion]:
        """The lines that it would have say something else, for forges that can put them there."""
        return ()

    @abstractmethod
    def as_value(self) -> Any:
        """The value of `key` in the JSON of docs/json.md."""

    def section(self, links: Links) -> Section:
        """The section of the page; one that stands first is never left out for others."""
        return Section(self.title, tuple(self.rows(links)), self.noun, self.plural, risky=self.place is Place.FIRST)
