"""The interface of a review warning: the result of one check, and every form in which the review shows it.

A warning does not fail the review, unless a setting says so or an agent forged a record (`fails`). Findings of the gate
and broken provenance are not warnings: they always fail the review.
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
    """Where the section of a warning stands: before the findings, before the facts, or at the end."""

    FIRST = "first"
    MIDDLE = "middle"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Range:
    """The reviewed commits, and what the checks share. `base`: "" for an empty tree. `changes`: the changed facts.
    `existing`: (path, fact) of all long-term memory at the head. `daily`: the path patterns of daily logs. `target`:
    the tip of the target branch, "" if unknown. `since`: (path, fact) of long-term memory that the target branch has
    gained since the base, and that the head lacks.
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
    target: str = ""
    since: Sequence[tuple[str, Fact]] = ()


class CheckRow(NamedTuple):
    """A row of the table of checks, in Markdown. `good`: there is nothing to look at. `what`: what was examined."""

    good: bool
    what: str
    result: str


class Remark(NamedTuple):
    """A warning at a line, for SARIF and annotations. `words` quote no memory text. `fails`: it fails the review."""

    path: str
    line: int
    rule: str
    words: str
    fails: bool = False


class ReviewWarning(ABC):
    """The result of one check. Each subclass is a frozen dataclass, whose strings `masking.py` masks.

    `key`: its key in the JSON, whose value is `found`. `title`: the title of its section. `noun`, `plural`: what its
    rows are called in a count. `place`: where its section stands. `notes`: what could not be checked. `fails`: the
    review fails.
    """

    __slots__ = ()
    key: ClassVar[str]
    title: ClassVar[str]
    noun: ClassVar[str]
    plural: ClassVar[str] = ""
    place: ClassVar[Place] = Place.MIDDLE
    notes: tuple[str, ...] = ()
    fails: bool = False

    @property
    @abstractmethod
    def found(self) -> Any:
        """What it found, for the JSON."""

    def points(self) -> int:
        """How many points a person should look at."""
        return len(self.found)

    def old_points(self) -> int:
        """How many points the base has already; `points` does not count them."""
        return 0

    @abstractmethod
    def checked(self) -> Iterable[CheckRow]:
        """Its rows in the table of checks; none when nothing was examined."""

    @abstractmethod
    def rows(self, links: Links) -> Iterator[Row]:
        """The rows of its section."""

    @abstractmethod
    def remarks(self) -> Iterator[Remark]:
        """Its remarks for SARIF and annotations."""

    def suggestions(self) -> Iterable[Suggestion]:
        """Replacement texts for lines, which a forge can offer to apply."""
        return ()

    def section(self, links: Links) -> Section:
        """Its section of the page. A section that stands first is risky: it gets space before the others."""
        return Section(self.title, tuple(self.rows(links)), self.noun, self.plural, risky=self.place is Place.FIRST)
