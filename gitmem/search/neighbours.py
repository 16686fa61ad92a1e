"""Joins a candidate with the neighbours that form one passage with it. A passage never spans two sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from gitmem.index.line_records import ASKS, ROW
from gitmem.memory.fact import ABOUT
from gitmem.paths import Kind
from gitmem.search import subjects
from gitmem.search.candidate_links import CandidateLinks
from gitmem.search.candidates import Candidate
from gitmem.search.query import ParsedQuery
from gitmem.search.scoring import ScoredLines


class NeighbourJoin:
    """Joins the lines of one search that stand next to each other to passages."""

    def __init__(self, lines: ScoredLines, links: CandidateLinks, parsed: ParsedQuery) -> None:
        self.lines = lines
        self.links = links
        self.question = parsed.question
        self.ranking = parsed.ranking

    def passage(
        self, centre: Candidate, others: Mapping[int, Candidate], used: AbstractSet[int], slack: float
    ) -> list[Candidate]:
        """A candidate and the neighbours that form one passage with it, in file order, at most `Ranking.joined`.

        `others`: index of a scored line -> candidate. `used`: indexes of lines in other hits. `slack`: how much lower
        than the centre's the score of a neighbour may be. Below `Ranking.short` characters a neighbour may have any
        score, but in MEMORY.md only if it is the line after a question.
        """
        members = [centre]
        # A fact of MEMORY.md is complete; a short line elsewhere is often half of a statement.
        min_size = self.ranking.short if centre.file.kind is not Kind.MEMORY else 0
        while len(members) < self.ranking.joined:
            before, after = others.get(members[0].unit - 1), others.get(members[-1].unit + 1)
            size = sum(map(_characters, members))
            best = None
            for other in (before, after):
                if other is None or other.unit in used or not self._may_join(other, members):
                    continue
                answers = other is after and members[-1].line.flags & ASKS and size < self.ranking.short
                may_join = other.score >= centre.score - slack or answers or size < min_size
                if may_join and (best is None or other.score > best.score):
                    best = other
            if best is None:
                break
            members = sorted([*members, best], key=lambda member: member.unit)
        return members

    def _may_join(self, other: Candidate, members: Sequence[Candidate]) -> bool:
        """Whether a line belongs to the same section, state, item and thing as `members`, and neither amends one of
        them nor names another thing than the question does."""
        first = members[0]
        return (
            other.line.strip == first.line.strip
            and other.state == first.state
            and other.first(ABOUT) == first.first(ABOUT)
            and not self.links.has_link(other, members)
            and self._is_of_one_item(other, members)
            and not _heading_lies_between(members, other)
            and not subjects.names_other_thing(other.text, self.question.text)
        )

    def _is_of_one_item(self, other: Candidate, members: Sequence[Candidate]) -> bool:
        """Whether a line may be joined with `members`: it is the parent or child of a member, or a sibling of all where
        none has sub-items. Rows of one table are never joined."""
        rows = [member for member in members if member.line.flags & other.line.flags & ROW]
        if any(row.line.parent == other.line.parent for row in rows):
            return False  # each row of a table is about another thing
        if any(other.unit == member.line.parent or member.unit == other.line.parent for member in members):
            return True
        beside = all(other.line.parent == member.line.parent for member in members)
        return beside and not any(self._has_sub_items(line.unit) for line in (other, *members))

    def _has_sub_items(self, index: int) -> bool:
        """Whether the line at `index` has sub-items."""
        return index + 1 < len(self.lines) and self.lines.parents[index + 1] == index


def _characters(candidate: Candidate) -> int:
    """The number of characters of a candidate's lines, without line ends."""
    return sum(map(len, candidate.file.lines[candidate.line.first - 1 : candidate.line.last]))


def _heading_lies_between(members: Sequence[Candidate], other: Candidate) -> bool:
    """Whether a heading is between the members and another line."""
    last_before = min(members[0].line.last, other.line.last)
    first_after = max(members[-1].line.first, other.line.first)
    return any(last_before < number <= first_after for number, _ in members[0].file.shape.headings)
