"""The provenance verdict of each changed line of memory: its origin, and whether the review fails for it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gitmem.git.objects import Commit
from gitmem.provenance import trailers
from gitmem.provenance.authorship import by_machine, shown_name
from gitmem.provenance.grounding import Support
from gitmem.provenance.verify import CheckedFact, Verdict


class State(StrEnum):
    """The origin of a changed line of memory. PROMOTED: a promotion recorded it, and its source says it. SHARED: a
    promotion recorded it, and it shares words and numbers with its source. EDITED: it was changed after it was
    recorded. PERSON: a person wrote it. AGENT: an agent wrote it, and no promotion recorded it. BROKEN: its source or
    its record does not hold."""

    PROMOTED = "promoted"
    SHARED = "shared"
    PERSON = "person"
    AGENT = "agent"
    EDITED = "edited"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class LineVerdict:
    """A changed line (1-based) and its provenance verdict.

    `message`: the flaws of a fact, each as `rule: words`, without `unrecorded`; "" for none. `support`: the value of
    the fact's `Support`, "" for a line that is not a fact; `words`: that support as a phrase. `edits`: (key, old value,
    new value) of each edit since the fact was recorded; `editor`: who made the edits, "" for none. `promoted`: a
    promotion, or an edit of a promoted fact, recorded the fact. `fails`: the line fails the review.
    """

    path: str
    line: int
    text: str
    state: State
    message: str
    commit: str
    author: str
    support: str = ""
    words: str = ""
    edits: tuple[tuple[str, str, str], ...] = ()
    editor: str = ""
    fails: bool = False
    promoted: bool = False


def line_verdicts(verdict: Verdict) -> list[LineVerdict]:
    """A row for each fact and each other line that `verify` checked, in order of path and line."""
    lines = [_fact_verdict(row) for row in verdict.facts]
    for row in verdict.prose:
        commit = row.commit
        if row.flaws:
            state = State.AGENT
        elif row.text.startswith("#") and _is_promotion(commit):
            state = State.PROMOTED
        elif by_machine(commit):
            state = State.AGENT
        else:
            state = State.PERSON
        text, author = row.text.strip(), shown_name(commit.author)
        lines.append(LineVerdict(row.path, row.line, text, state, "", commit.oid, author, fails=bool(row.flaws)))
    return sorted(lines, key=lambda line: (line.path, line.line))


def _fact_verdict(row: CheckedFact) -> LineVerdict:
    """The verdict of a fact that `verify` checked."""
    rules = {flaw.rule for flaw in row.flaws}
    attribution = row.attribution
    if rules - {"unrecorded", "edited"}:
        state = State.BROKEN
    elif rules:
        state = State.AGENT
    elif attribution.edit:
        state = State.EDITED
    elif attribution.promoted and attribution.support is Support.IN_SOURCE:
        state = State.PROMOTED
    elif attribution.promoted and attribution.support is Support.SHARES_WORDS:
        state = State.SHARED
    else:
        state = State.PERSON
    commit = row.commit
    assert commit is not None  # with a policy every fact has its commit
    edits: tuple[tuple[str, str, str], ...] = ()
    editor = ""
    if attribution.edit:
        edits, editor = tuple(attribution.edit.values(row.fact)), attribution.edit.by
    return LineVerdict(
        row.path, row.fact.line, row.fact.text, state,
        message="; ".join(f"{flaw.rule}: {flaw.message}" for flaw in row.flaws if flaw.rule != "unrecorded"),
        commit=commit.oid,
        author=shown_name(commit.author),
        support=attribution.support.value,
        words=attribution.words,
        edits=edits,
        editor=editor,
        fails=bool(rules),
        promoted=bool(attribution.records),
    )  # fmt: skip


def _is_promotion(commit: Commit) -> bool:
    """Whether a commit is a promotion: the headings in it were written for the promoted facts."""
    return bool(trailers.values(trailers.memory_trailers(commit.message), trailers.SOURCE))
