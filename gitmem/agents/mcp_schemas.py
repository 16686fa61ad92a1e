"""What the MCP tools answer, as the schemas they are listed with. Values only."""

from __future__ import annotations

from typing import (
    Any,
    NotRequired,  # pydantic reads this one on every Python we support
)

from pydantic import ConfigDict
from typing_extensions import TypedDict


class SourceLine(TypedDict):
    path: str
    start_line: int
    end_line: int
    snippet: str  # what the lines say, quoted, "" where the search did not find them


class Hit(TypedDict):
    path: str
    start_line: int
    end_line: int
    score: float
    heading: str
    snippet: str
    date: str
    type: str
    trust: str
    commit: NotRequired[str]  # of a commit, whose path is "" and whose heading is its subject
    author: NotRequired[str]
    sources: NotRequired[list[SourceLine]]  # of a fact, the lines of logs that it was promoted from
    state: NotRequired[str]  # "expired", "superseded", of cited code "changed" or "gone"; of a commit "reverted by OID"


class Found(TypedDict):
    hits: list[Hit]
    lanes: list[str]
    answered: bool
    withheld: int
    stale: bool
    reason: str


class Got(TypedDict):
    path: str
    start_line: int
    end_line: int
    lines: int
    text: str


class Cited(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # pydantic's own name for it
    path: str
    lines: NotRequired[str]  # `10` or `10-24`
    symbol: NotRequired[str]  # `Session.open`


class Differing(TypedDict):
    relation: str  # same, replaces, ends, conflicts
    reason: str
    path: str  # of the fact that is there
    line: int
    id: str
    text: str


class Added(TypedDict):
    path: str
    line: int
    masked: dict[str, int]  # how many values the gate masked, by rule
    differs: list[Differing]
    supersedes: str  # the fact that the next promotion replaces by it, "" for none
    proposed: str  # why a person decides whether it replaces the fact that was named, "" where none is asked


class Confirmed(TypedDict):
    path: str
    line: int
    cites: list[str]  # the places that the fact cites now
    commit: str


class Difference(TypedDict):
    what: str
    old: str
    new: str


class Edited(TypedDict):
    by: str
    commit: str
    changes: list[Difference]


class Why(TypedDict):
    path: str
    line: int
    text: str
    trail: list[str]
    commit: str
    author: str
    date: str
    session: str
    turn: str
    sources: list[dict[str, Any]]
    reviewers: list[str]
    support: str
    problem: str
    edited: Edited | None
    amended_by: list[dict[str, Any]]
    supersedes: list[dict[str, Any]]
    code: list[dict[str, Any]]  # that the fact cites: the place, what became of it, and the words for that


class Assembled(TypedDict):
    text: str
    tokens: int
    summary: str
    limits: list[str]
    withheld: int


class Changes(TypedDict):
    changes: list[dict[str, Any]]


class Value(TypedDict):
    key: str
    value: str
    until: str
    masked: dict[str, int]


class Values(TypedDict):
    values: list[Value]
