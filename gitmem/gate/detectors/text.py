"""What a detector is given and what it gives back: a text with its normalised form, and a match.

Normalisation is done once for all detectors and only when one asks for it: `Text.norm` is what a model
would read where a person sees nothing odd (zero-width characters gone, look-alike letters folded, Hangul
recomposed, letters set apart joined again), and `Text.to_raw` leads back to the characters as they stand
in the file. This module knows nothing of rules, severity policy or files on disk.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from gitmem.gate.detectors import folding
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.key_words import unleet

__all__ = ["Evidence", "Examples", "Match", "Scope", "Severity", "Text", "mask"]


class Scope(StrEnum):
    """What a text is for, which decides how severe a match in it is.

    MEMORY: facts, logs, notes. INSTRUCTIONS: SOUL, USER, AGENTS, TOOLS, rules and skills, where an instruction to the
    agent only warns. MESSAGE: a commit message or a file name, where an e-mail address is not a finding.
    """

    MEMORY = "memory"
    INSTRUCTIONS = "instructions"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Match:
    """What one rule matched, at `raw[start:end]` of the text: offsets in characters, half-open.

    `message`: what was found, in our own words; it never quotes a secret. `secret`: whether the matched characters
    must not be shown. `mask`: what to write in their place; None for the mask that `gate/redaction.py` makes of the
    rule's name. `context`: how many characters behind the match were judged with it. `unread`: whether the detector
    stopped reading here, so that an exception for the match holds for exactly this text. A detector yields matches in
    any order; they may overlap.
    """

    rule: str
    severity: Severity
    start: int
    end: int
    message: str
    secret: bool = False
    mask: str | None = None
    context: int = 0
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a rule judges `raw[start:end]` as it does: named values, such as a score and its threshold.

    The values quote nothing of the text. A detector also gives evidence for what it weighed and let pass.
    """

    rule: str
    start: int
    end: int
    values: tuple[tuple[str, str | float], ...]


def mask(secret: str) -> str:
    """The first four to six characters of a secret and never more than a quarter, then `…`; below 16 characters only
    `…`."""
    shown = min(6, len(secret) // 4)
    if shown < 4:
        return "…"
    return secret[:shown] + "…"


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts that a rule must flag and texts that it must let pass; a test fails for a rule without both."""

    flag: tuple[str, ...]
    allow: tuple[str, ...]


class Text:
    """The input of a detector. Immutable for its users; what is derived from `raw` is computed on first use.

    `raw`: the decoded text with its byte-order mark. `norm`: its normalised form. `folded`: `norm` in lower case and
    with digits that stand for letters replaced by these, at the same offsets. `path`: repository-relative, "" for a
    text that is not a file (a decoded part of one). `kind`: the value of `paths.Kind` of the path.

    `exhaustive`: whether every match is needed, each at its smallest, because all will be masked. Otherwise a
    detector may report equal sentences once, stop after some tens of matches and report the longer place, for a
    person to read. `most`: how many matches of one detector will be used, None for all; a detector may stop there.
    `scores`: cache of sentence scores across versions of one text, `(sentence, before, after)` -> score. `asked`:
    whether a detector has read `exhaustive`.
    """

    __slots__ = (
        *("_exhaustive", "_folded", "_line_starts", "_map", "_norm"),
        *("asked", "kind", "most", "path", "raw", "scope", "scores"),
    )

    def __init__(
        self,
        raw: str,
        path: str = "",
        scope: Scope = Scope.MEMORY,
        kind: str = "",
        *,
        exhaustive: bool = False,
        most: int | None = None,
        scores: dict[tuple[str, str, str], float] | None = None,
    ) -> None:
        self.raw = raw
        self.path = path
        self.scope = scope
        self.kind = kind
        self.asked = False
        self.most = most
        if scores is None:
            self.scores = {}
        else:
            self.scores = scores
        self._exhaustive = exhaustive
        self._norm: str | None = None
        self._folded: str | None = None
        self._map: folding.OffsetMap | None = None
        self._line_starts: list[int] | None = None

    @property
    def exhaustive(self) -> bool:
        """Whether every match is needed. Reading it sets `asked`: the matches of a detector that never reads it do
        not depend on it, and can be reused."""
        self.asked = True
        return self._exhaustive

    def exhaustively(self) -> Text:
        """The same text with `exhaustive` true; both share what was derived and the scores."""
        other = Text(self.raw, self.path, self.scope, self.kind, exhaustive=True, most=self.most, scores=self.scores)
        other._norm, other._map, other._folded, other._line_starts = (
            self._norm, self._map, self._folded, self._line_starts,
        )  # fmt: skip
        return other

    @property
    def norm(self) -> str:
        if self._norm is None:
            self._norm, self._map = folding.normalise(self.raw)
        return self._norm

    @property
    def folded(self) -> str:
        if self._folded is None:
            lowered = self.norm.lower()
            if len(lowered) != len(self.norm):  # a few letters grow in lower case: keep the offsets
                lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in self.norm)
            self._folded = unleet(lowered)
        return self._folded

    @property
    def changed(self) -> bool:
        """Whether normalisation moved any character (a sign of disguise or only of typography)."""
        return self.norm is not self.raw and self._map is not None

    def to_raw(self, start: int, end: int) -> tuple[int, int]:
        """The half-open range of `raw` behind the half-open range of `norm`."""
        self.norm  # noqa: B018  (computes the map)
        if self._map is None:
            return start, end
        return self._map.to_raw(start, end)

    @property
    def line_starts(self) -> list[int]:
        """Offset in `raw` of the first character of each line (lines end with LF, as Git counts them)."""
        if self._line_starts is None:
            self._line_starts = [0, *(m.end() for m in re.finditer("\n", self.raw))]
        return self._line_starts

    @property
    def lines(self) -> Iterator[tuple[int, str]]:
        """(offset, line without its end) for each line of `raw`."""
        starts = self.line_starts
        for index, start in enumerate(starts):
            if index + 1 < len(starts):
                end = starts[index + 1] - 1
            else:
                end = len(self.raw)
            yield start, self.raw[start:end].removesuffix("\r")

    def line_of(self, offset: int) -> tuple[int, int]:
        """1-based (line, column) of an offset of `raw`."""
        starts = self.line_starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1
