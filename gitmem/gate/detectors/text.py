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
    """What a text is for, which decides what may stand in it.

    MEMORY: facts, logs, notes. INSTRUCTIONS: SOUL, USER, AGENTS, TOOLS, rules and skills, where an order to the agent
    is at home and only warns. MESSAGE: a commit message or a file name, where an e-mail address is no finding.
    """

    MEMORY = "memory"
    INSTRUCTIONS = "instructions"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Match:
    """What one rule matched, at `raw[start:end]` of the text: offsets in characters, half-open.

    `message` names the parts that matched in words of ours and never quotes a secret. `secret` says that the
    matched characters themselves must not be shown; `mask` is what to write in their place (None: the mask that
    `gate/redaction.py` makes of the rule's name). `context`: the characters behind it that were judged with it. `unread`:
    the detector read no further, so that an exception for it is one for this very text. A detector gives matches in any
    order; they may overlap.
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
    """Why a rule judges `raw[start:end]` as it does: named values, such as a score beside the line it is held to.

    The values quote nothing of the text. What a detector weighs without blocking is evidence too.
    """

    rule: str
    start: int
    end: int
    values: tuple[tuple[str, str | float], ...]


def mask(secret: str) -> str:
    """The first four to six characters of a secret and never more than a quarter, then `…`; short ones show nothing."""
    shown = min(6, len(secret) // 4)
    return (secret[:shown] if shown >= 4 else "") + "…"


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts a rule must flag and texts it must let pass; a rule without both fails the build."""

    flag: tuple[str, ...]
    allow: tuple[str, ...]


class Text:
    """The input of a detector. Immutable for its users; what is derived from `raw` is computed on first use.

    `raw` is the decoded text with its byte-order mark, `norm` its normalised form, `folded` that in lower
    case and with digits for letters read back, at the same offsets as `norm`. `path` is repository-relative, "" for a
    text of no file (a decoded stretch); `kind` the value of `paths.Kind` for it.

    `exhaustive`: every place is wanted, at its smallest, because each will be masked. Otherwise a detector may report
    equal sentences once, stop after some tens of matches and prefer the place that says most, as a person reads them.
    `most`: how many matches of one detector will be read, None for all; a detector need not look for more. `scores`:
    what detectors keep of a sentence between looks at versions of one text, as `(sentence, before, after)` -> score.
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
        """Whether every place is wanted. That a detector asked is kept in `asked`: one that does not finds the same."""
        self.asked = True
        return self._exhaustive

    def exhaustively(self) -> Text:
        """The same text with every place wanted; what was derived from it and scored of it is shared."""
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
