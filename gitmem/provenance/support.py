"""Whether a text follows from the lines it cites, and the words that `why`, `verify` and `review` say it in. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from enum import StrEnum

from gitmem.memory.fact import normalise
from gitmem.memory.similarity import terms
from gitmem.provenance import grounding


class Support(StrEnum):
    """What holds a fact up. Only IN_SOURCE was checked to follow."""

    IN_SOURCE = "in-source"
    NOT_IN_SOURCE = "not-in-source"
    EDITED = "edited"
    NO_SOURCE = "no-source"


WORDS = {
    Support.IN_SOURCE: "text is in the source",
    Support.NOT_IN_SOURCE: "source exists but does not say it",
    Support.EDITED: "edited after promotion",
    Support.NO_SOURCE: "no source",
}
JUDGES = (grounding.undated, grounding.uncounted, grounding.unnamed, grounding.unsaid, grounding.denied)


def unsupported(text: str, lines: Sequence[str], days: Iterable[date]) -> str:
    """Why `text` does not follow from `lines`, "" where it does: a date, number or name they have not, another matter,
    a denial on one side. `days` are the dates of the logs the lines stand in. The words hold no text of memory."""
    cited = "\n".join(normalise(line) for line in lines)
    known = list(days)
    own, there = terms(text), {term[:5] for term in terms(cited)}
    if own and not any(term[:5] in there for term in own):
        return "the lines it cites speak of something else"
    for judge, words in zip(JUDGES, JUDGED, strict=True):
        if judge(text, cited, known):
            return words
    return ""


JUDGED = (
    "a date in it is not in the lines it cites",
    "a number in it is not in the lines it cites",
    "a name in it is not in the lines it cites",
    "most of what it says is not in the lines it cites",
    "it denies what the lines it cites say, or says what they deny",
)
