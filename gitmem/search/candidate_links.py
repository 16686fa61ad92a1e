"""Links candidates: which of them replaces or ends which, and which say otherwise (`amendments` judges the pairs)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from gitmem.index.line_records import ASKS, FENCE
from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import fact_id, worst_origin
from gitmem.paths import Kind
from gitmem.search import amendments
from gitmem.search.amendments import Line, Link
from gitmem.search.candidates import Candidate, with_scores
from gitmem.search.file_reading import FileReader
from gitmem.search.hits import BY_COMMENT, LinkedLine, text_lines
from gitmem.search.memory_file import COMMIT
from gitmem.search.question import Question

DECISIONS = "Decisions"  # heading of an episode's section of decisions (`sessions/episode.py`)
_TIME = lazy(r"(?:^|> )((?:[01]\d|2[0-3]):[0-5]\d)\b")

Links = dict[int, list[tuple[Candidate, Link]]]  # index of a scored line -> (candidate at the other end, link)


class CandidateLinks:
    """The links between the candidates of one search, found by `newest_first`, which is called once.

    Four dicts map `Candidate.unit` of a line to [(candidate at the other end, link)]. `amended`: later lines that
    replace or end it. `amending`: earlier lines that it replaces or ends. `differing`: earlier lines that it
    contradicts. `contested`: later lines that contradict it.
    """

    def __init__(self, reader: FileReader, question: Question) -> None:
        self.reader = reader
        self.question = question
        self.amended: Links = {}
        self.amending: Links = {}
        self.differing: Links = {}
        self.contested: Links = {}

    def newest_first(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Find the links between the candidates and fill the four dicts. Returns all candidates; the score of a later
        statement is raised above the earlier statements that it amends, unless the question is about the past or names
        days."""
        lines = self._lines(candidates)
        links = [self._reviewed(link, candidates[link.new], lines) for link in amendments.find_links(lines)]
        for link in links:
            old, new = candidates[link.old], candidates[link.new]
            if link.marked:
                self.amended.setdefault(old.unit, []).append((new, link))
                self.amending.setdefault(new.unit, []).append((old, link))
            elif link.doubtful:
                self.differing.setdefault(new.unit, []).append((old, link))
                self.contested.setdefault(old.unit, []).append((new, link))
        if self.question.past or self.question.days:
            return candidates
        return with_scores(candidates, amendments.reordered_scores(lines, links))

    def has_link(self, candidate: Candidate, others: Iterable[Candidate]) -> bool:
        """Whether a candidate amends or contradicts one of the others, or one of the others amends or contradicts
        it."""
        all_links = (self.amended, self.amending, self.differing, self.contested)
        ends = {end.unit for links in all_links for end, _ in links.get(candidate.unit, ())}
        return any(other.unit in ends for other in others)

    def linked_lines(self, members: Sequence[Candidate], links: Links) -> tuple[LinkedLine, ...]:
        """The lines at the other ends of the members' links, newest first; only the best line of each file.

        `links`: one of the four. A later line without a day gets the day of the link.
        """
        linked_of_path: dict[str, LinkedLine] = {}
        for member in members:
            for other, link in sorted(links.get(member.unit, ()), key=lambda end: (end[1].proposed, -end[0].score)):
                day = other.iso_day
                if links is self.amended or links is self.contested:
                    day = day or link.day
                linked_of_path.setdefault(
                    other.file.path,
                    LinkedLine(
                        path=other.file.path,
                        start_line=other.line.first,
                        end_line=other.line.last,
                        date=day,
                        id=fact_id(other.text),
                        proposed=link.proposed,
                        reason=self.reader.forgotten(other.file).masked(link.reason) or BY_COMMENT,
                        passage_line=member.line.first,
                        later=links is self.contested,
                    ),
                )
        return tuple(sorted(linked_of_path.values(), key=lambda linked: linked.date, reverse=True))

    def _lines(self, candidates: Sequence[Candidate]) -> list[Line]:
        """The candidates as lines of `amendments`."""
        positions: dict[str, int] = {}
        if any("supersedes" in candidate.meta or "beside" in candidate.meta for candidate in candidates):
            positions = {fact_id(candidate.text): position for position, candidate in enumerate(candidates)}
        return [self._line(candidate, positions) for candidate in candidates]

    def _line(self, candidate: Candidate, positions: Mapping[str, int]) -> Line:
        """The candidate as a line of `amendments`. `positions`: fact id of a candidate -> its position among them."""
        file, line, meta = candidate.file, candidate.line, candidate.meta
        replaces_by_hand = None
        if "supersedes" in meta:
            replaces_by_hand = frozenset(positions[name] for name in meta["supersedes"] if name in positions)
        return Line(
            text=candidate.text,
            day=candidate.iso_day,
            score=candidate.score,
            time=_time_of_day(candidate),
            place=candidate.place,
            reviewed=file.kind is Kind.MEMORY,
            origin=worst_origin(*file.front.get("origin", ()), *meta.get("origin", ())),
            replaces_by_hand=replaces_by_hand,
            holds_beside=frozenset(positions[name] for name in meta.get("beside", ()) if name in positions),
            statement=partial(_statement, candidate),
            commit_time=partial(self.reader.commit_time, file, line.first),
            type=candidate.first("type"),
            may_replace=not line.flags & (ASKS | FENCE) and not candidate.repeats and _decides(candidate),
        )

    def _reviewed(self, link: Link, new: Candidate, lines: Sequence[Line]) -> Link:
        """The link, as a proposal if its old line is a reviewed fact and its new line is not committed."""
        repo = self.reader.memory.repo
        if link.proposed or self.reader.memory.commit or not lines[link.old].reviewed:
            return link
        oids: Mapping[str, str] = {}
        if repo.head():
            oids = repo.blobs("HEAD", [new.file.path])
        committed = {line for _, data in repo.read_many(oids.values()) for line in text_lines(data or b"")}
        if committed.issuperset(new.file.lines[new.line.first - 1 : new.line.last]):
            return link
        return link._replace(proposed=True)


def _statement(candidate: Candidate) -> tuple[str, tuple[str, ...]]:
    """(text of a candidate without its list marker, its trail); both empty for a line with a secret, because the reason
    of a link quotes words of both lines."""
    file, line = candidate.file, candidate.line
    if not file.hidden.isdisjoint(range(line.first, line.last + 1)):
        return "", ()
    statement = file.statement(line.first)
    if statement is None:
        return candidate.text, ()
    return statement.text, candidate.trail


def _time_of_day(candidate: Candidate) -> str:
    """The time of day, HH:MM, at the beginning of the nearest heading above a line of a daily log that begins with one
    (`## 14:05 ...`); "" without one and in any other file."""
    if candidate.file.kind is not Kind.DAILY:
        return ""
    return next(reversed(_TIME.findall(candidate.heading)), "")


def _decides(candidate: Candidate) -> bool:
    """Whether a line may replace an earlier line, by its place: in an episode only a decision may; in a commit or an
    archive no line may."""
    file = candidate.file
    if file.kind is Kind.SESSION:
        return candidate.heading.endswith(DECISIONS)
    return file.path != COMMIT and file.kind is not Kind.ARCHIVE
