"""The input and the output of a detector: a text with its normalised form, and a match.

`Text.norm` is the text as a model would read it where a person sees nothing odd: zero-width characters removed,
look-alike letters folded, Hangul recomposed, letters with blanks between them joined. It is made once for all
detectors, when the first one asks for it. `Text.to_raw` maps its offsets back to the file's characters. This module
knows nothing of rules, policies or files on disk.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from gitmem.gate.detectors import folding
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.key_words import unleet
from gitmem.json_values import json_keys

__all__ = ["Evidence", "Examples", "Match", "Scope", "Severity", "Text", "mask"]


class Scope(StrEnum):
    """The purpose of a text, on which the severity of a match depends.

    MEMORY: facts, logs, notes. INSTRUCTIONS: SOUL, USER, AGENTS, TOOLS, rules and skills, where an instruction to the
    agent only warns. MESSAGE: a commit message or a file name, where an e-mail address is not a finding.
    """

    MEMORY = "memory"
    INSTRUCTIONS = "instructions"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Match:
    """One match of a rule, at `raw[start:end]` of the text: offsets in characters, half-open.

    `message`: a description in our own words; it never quotes a secret. `secret`: whether the matched characters must
    not be shown. `mask`: the text to write in their place; None for the mask that `gate/redaction.py` makes of the
    rule's name. `context`: the number of characters after the match that the rule judged with it. `unread`: whether the
    detector stopped reading here, so that an exception for the match must be for exactly this text. A detector yields
    matches in any order; they may overlap.
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


@json_keys("rule values=by_name")
@dataclass(frozen=True, slots=True)
class Evidence:
    """The reason why a rule judges `raw[start:end]` as it does: named values, such as a score and its threshold.
    `start`, `end`: offsets in characters, half-open.

    The values quote nothing of the text. A detector also gives evidence for text that it judged and let pass: evidence
    alone does not say whether the text was flagged.
    """

    rule: str
    start: int
    end: int
    values: tuple[tuple[str, str | float], ...]

    @property
    def by_name(self) -> dict[str, str | float]:
        return dict(self.values)


def mask(secret: str) -> str:
    """The first four to six characters of a secret, never more than a quarter of it, then `…`; for a secret under 16
    characters only `…`."""
    shown = min(6, len(secret) // 4)
    if shown < 4:
        return "…"
    return secret[:shown] + "…"


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts that a rule must flag and texts that it must let pass; every rule has both."""

    flag: tuple[str, ...]
    allow: tuple[str, ...]


class Text:
    """The input of a detector. Its users do not change it; values derived from `raw` are computed on first use.

    `raw`: the decoded text with its byte-order mark. `norm`: its normalised form. `folded`: `norm` in lower case, with
    digits that stand for letters replaced by the letters, at the same offsets. `path`: repository-relative, "" for a
    text that is not a file (a decoded part of one).

    `exhaustive`: whether every match is needed, each as small as possible, because all will be masked. Otherwise a
    detector may report equal sentences once, stop after some tens of matches and report a longer place, for a person to
    read. `most`: the number of matches of one detector that will be used, None for all; a detector may stop there.
    `scores`: a cache of sentence scores across versions of one text, `(sentence, before, after)` -> score. `asked`:
    whether a detector has read `exhaustive`.
    """

    def __init__(
        self,
        raw: str,
        path: str = "",
        scope: Scope = Scope.MEMORY,
        *,
        exhaustive: bool = False,
        most: int | None = None,
        scores: dict[tuple[str, str, str], float] | None = None,
    ) -> None:
        self.raw = raw
        self.path = path
        self.scope = scope
        self.asked = False
        self.most = most
        self.scores: dict[tuple[str, str, str], float] = {}
        if scores is not None:
            self.scores = scores
        self._exhaustive = exhaustive

    @property
    def exhaustive(self) -> bool:
        """Whether every match is needed. Reading this property sets `asked`: a detector that never reads it gives the
        same matches in both modes, so that they can be reused."""
        self.asked = True
        return self._exhaustive

    def exhaustively(self) -> Text:
        """The same text with `exhaustive` true. Both share the derived values and the scores."""
        other = copy(self)
        other._exhaustive = True
        return other

    @cached_property
    def _normalised(self) -> tuple[str, list[folding.Rewriting]]:
        return folding.normalise(self.raw)

    @property
    def norm(self) -> str:
        """The normalised text, made when it is first asked for."""
        return self._normalised[0]

    @cached_property
    def folded(self) -> str:
        """The normalised text in lower case with leetspeak undone. It has the length, and so the offsets, of `norm`."""
        lowered = self.norm.lower()
        if len(lowered) != len(self.norm):  # a few letters grow in lower case: keep the offsets
            lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in self.norm)
        return unleet(lowered)

    def to_raw(self, start: int, end: int) -> tuple[int, int]:
        """The half-open range of `raw` from which the half-open range start..end of `norm` was made."""
        for rewriting in reversed(self._normalised[1]):
            start, end = rewriting.offsets.to_raw(start, end)
        return start, end

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset in `raw` of the first character of each line (lines end with LF, as Git counts them)."""
        return [0, *(m.end() for m in re.finditer("\n", self.raw))]

    @property
    def lines(self) -> Iterator[tuple[int, str]]:
        """(offset, line without its LF or CRLF) for each line of `raw`. As in `line_starts`, only LF ends a line, and
        one more line follows the last LF: an empty `raw` has one line."""
        for start, following in pairwise([*self.line_starts, len(self.raw) + 1]):
            yield start, self.raw[start : following - 1].removesuffix("\r")

    def line_of(self, offset: int) -> tuple[int, int]:
        """1-based (line, column) of an offset of `raw`."""
        starts = self.line_starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1
