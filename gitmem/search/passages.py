"""Turns scored lines into hits: reads their text, drops expired lines, adds priors, joins neighbours, drops repeats.

The text comes from the blob or work-tree file that the index names, and its hash is checked: a damaged index can lose a
hit but never invent one. A fenced block is never cut.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date
from functools import partial
from math import exp
from typing import TYPE_CHECKING, NamedTuple

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.index.db.values import Shape, Snapshot
from gitmem.index.line_records import ASKS, FENCE, HEADING, ROW
from gitmem.lazy_patterns import lazy
from gitmem.memory import state, statements
from gitmem.memory.fact import fact_id, parse_comment, parse_span, worst_origin
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.memory.snapshot import read_hits
from gitmem.memory.state import LapsedFacts, State
from gitmem.paths import Kind, kind, log_date, log_day
from gitmem.search import amendments, subjects
from gitmem.search.amendments import Line, Link
from gitmem.search.hits import BY_HAND, Hit, LinkedLine, SourceLine, text_lines, with_authors, with_trust
from gitmem.search.promoted_facts import Citation, citations_by_file, promoted_fact
from gitmem.search.question import Question
from gitmem.search.scoring import RankedLine, ScoredLines, Strip, with_matches
from gitmem.search.validity import Period, last_day, parse_day, past_periods, period_of, was_valid_during
from gitmem.search.weights import Ranking
from gitmem.text.day_spans import Days
from gitmem.text.languages import LANGUAGES

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader
    from gitmem.memory.code_state import CitedCode
    from gitmem.memory.statements import Statement

BEFORE_GONE_CODE = 5  # candidates that come before a candidate that cites deleted code
ANY_LEVEL = 1 << 30  # more than the level of any heading
WITHHELD = "[a line with a secret]"  # shown in place of such a line
MAX_PARENT_ITEMS = 8  # parent items of a line that are matched together with it
NAMES = ("title", "name", "aliases", "description")  # front matter keys that name a note
LAPSED_SHARE = 0.5  # share of its score that an expired or superseded line keeps if the question is about the present
MIN_LINES_BELOW = 64  # least number of lines below a line that are read for its statement
WINDOW_LINES = 400  # lines of a file that are read for statements at a time
EMPTY_SHAPE, NO_PERIOD = Shape(), Period()
STATES = {State.HOLDS: "", State.ENDED: "expired", State.REPLACED: "superseded", State.FORGOTTEN: "forgotten"}
COMMIT = "//commit"  # the path of lines of a commit message; no file has such a path
_DECIDED = lazy(f"(?i:{'|'.join(each.DECISION_NAMES for each in LANGUAGES)})")
_TIME = lazy(r"> ((?:[01]\d|2[0-3]):[0-5]\d)\b")
_WORD = lazy(r"\w+")
# Headings of an episode's sections (`sessions/episode.py`): its decisions, and its topics, which answer no question.
DECISIONS, WORD_LISTS = "Decisions", "Topics"
_DECIDED_TYPES = frozenset({"decision", "constraint", "policy"})


# (position, strip, text) of lines -> (score of each line, score with its neighbours), 0..1 (`late_interaction`).
Matcher = Callable[[Sequence[tuple[int, int, str]]], Sequence[tuple[float, float]]]


class Filters(NamedTuple):
    """The conditions that a line must meet to be a hit.

    `types`, `tags`, `since`, `until`, `expired`, `min_score`, `forgotten`, `promoted_lines`, `scope`: as in `Query`.
    `today`: the day of the search. `days`: the days that the question names. `past`: whether the question is about the
    past, so that expired facts count. `promoted`: whether episodes that a digest replaces count. `keep`: returns
    whether a path may be shown; it is called for the files of commits only, because other files were selected before.
    """

    types: tuple[str, ...]
    tags: tuple[str, ...]
    since: date | None
    until: date | None
    expired: bool
    min_score: float
    today: date
    days: tuple[Days, ...]
    past: bool
    promoted: bool = False
    keep: Callable[[str], bool] | None = None
    forgotten: Forgotten = NOTHING
    promoted_lines: bool = False
    scope: str = ""

    @property
    def narrow(self) -> bool:
        """Whether the query has a filter that leaves out many lines of the pool."""
        return bool(self.types or self.tags or self.since or self.until or self.scope)


class SearchedMemory:
    """The repository, index and snapshot in which a search reads its passages.

    `commit`: "" for the work tree. `memory`: (path, oid) of each MEMORY.md and archive, whose facts end or replace
    others.
    """

    __slots__ = ("commit", "config", "index", "memory", "repo")

    def __init__(
        self, repo: Repository, config: Config, index: IndexReader, commit: str, memory: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.repo = repo
        self.config = config
        self.index = index
        self.commit = commit
        self.memory = memory


def fact_files_of(index: IndexReader, snapshot: Snapshot) -> list[tuple[str, str]]:
    """(path, oid) of each MEMORY.md and each archive of a snapshot."""
    return [file for file in index.files(snapshot) if kind(file[0]) in (Kind.MEMORY, Kind.ARCHIVE)]


class File(NamedTuple):
    """A file that was read. `shape`: its headings and front matter as the index has them. `front`: key of its front
    matter -> values. `when`: the day in its name, None without one."""

    path: str
    oid: str
    lines: list[str]
    shape: Shape
    front: dict[str, list[str]]
    when: date | None
    kind: Kind


class Candidate(NamedTuple):
    """A line that may be a hit.

    `at`: its index among the scored lines. `score`: the final score, which may be outside 0..1. `priors`: (name,
    value). `meta`: keys of its file's front matter and of its comment -> values. `state`: as in `Hit`. `when`: its day,
    None if unknown. `scale`: the divisor of its own score. `repeats`: whether a line of a log has the same text, so
    that this line is not a hit.
    """

    at: int
    line: RankedLine
    file: File
    score: float
    priors: tuple[tuple[str, float], ...]
    meta: dict[str, list[str]]
    state: str
    when: date | None
    scale: float
    repeats: bool = False


class Passages:
    """Makes the hits of one search. Files, statements and times that it reads are cached until the search ends.

    `source`: the memory that is searched. `strips`, `lines`: the scored chunks and lines (`scoring`). `matcher`:
    compares lines with the question word by word; None without word vectors.
    """

    def __init__(
        self,
        source: SearchedMemory,
        strips: Sequence[Strip],
        lines: ScoredLines,
        filters: Filters,
        ranking: Ranking,
        matcher: Matcher | None = None,
        question: Question | None = None,
    ) -> None:
        self.repo = source.repo
        self.config = source.config
        self.index = source.index
        self.commit = source.commit
        self.strips = strips
        self.lines = lines
        self.filters = filters
        self.ranking = ranking
        self.matcher = matcher
        self.question = question
        self.files: dict[tuple[str, str], File | None] = {}
        self.line_days: Mapping[tuple[str, str], Sequence[date]] = {}
        self.memory = source.memory
        self.lapsed: dict[
            int, LapsedFacts
        ] = {}  # number of a repository -> facts that no longer hold; 0 is the only one
        # Index of a line -> the lines that replace or end it; the lines that it replaces or ends; those it contradicts.
        self.amended: dict[int, list[tuple[Candidate, Link]]] = {}
        self.amending: dict[int, list[tuple[Candidate, Link]]] = {}
        self.differing: dict[int, list[tuple[Candidate, Link]]] = {}
        self.hidden: dict[str, AbstractSet[int]] = {}
        self.moments: dict[tuple[str, str, int], str] = {}
        self.statements: dict[tuple[str, str, int], Statement | None] = {}
        # (path, oid, first line, window) -> (last line that was read, headings put in front, statements)
        self.windows: dict[tuple[str, str, int, int], tuple[int, int, Sequence[Statement]]] = {}
        # (path, oid) of a file that cites code -> value of a `code` key -> what became of that code, if it changed.
        self.code: dict[tuple[str, str], dict[str, CitedCode]] = {}
        self.checked_code: set[tuple[tuple[str, str], str]] = set()  # ((path, oid), value of a `code` key)
        self.past_periods = past_periods(filters.days, filters.today)
        self.sections: dict[tuple[str, str, int], Sequence[tuple[int, int, str]]] = {}
        self.headings: dict[tuple[str, str, int], str] = {}
        self.limit = 0

    def hits(self, limit: int, *, blame: bool = False) -> tuple[Hit, ...]:
        """At most `limit` hits, best first."""
        self.limit = limit
        candidates = self._candidates()
        return tuple(self._with_provenance(self._join(candidates, limit), blame))

    def _with_provenance(self, hits: list[Hit], blame: bool) -> list[Hit]:
        """All hits, with trust, date and author from Git.

        In a search of the work tree, hits that HEAD lacks get trust "uncommitted", and today's date if they have none.
        With `blame`, hits also get commit and author (`with_authors`).
        """
        if not self.commit:
            hits = with_trust(self.repo, hits, lambda hit: self._lines(hit.path, hit.blob))
            today = self.filters.today.isoformat()  # the day of a line that is in no commit yet, as in `line_days`
            for at, hit in enumerate(hits):
                if hit.trust == "uncommitted" and not hit.date:
                    hits[at] = hit._replace(date=today)
        if blame:
            return with_authors(self.repo, hits, self.commit)
        return hits

    # -- reading ---------------------------------------------------------------------------------------------

    def _read(self, keys: Iterable[tuple[str, str]]) -> None:
        """Read the files of these (path, oid) into `files`, None for a file that cannot be read."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self.files]
        if not wanted:
            return
        contents = self._contents(wanted)
        shapes = self.index.shapes({oid for _, oid in wanted})
        for path, oid in wanted:
            data = contents.get((path, oid))
            if data is None:
                self.files[path, oid] = None
                continue
            shape = shapes.get(oid, EMPTY_SHAPE)
            front: dict[str, list[str]] = {}
            for key, value in shape.keys:
                front.setdefault(key, []).append(value)
            if "stale_after" in front and "until" not in front:  # what the Open Knowledge Format calls `until`
                front["until"] = [last_day(front["stale_after"][0])]
            when = log_date(path)
            if log_day(path, self.config.memory_daily):
                of = Kind.DAILY
            else:
                of = kind(path)
            self.files[path, oid] = File(path, oid, text_lines(data), shape, front, when, of)

    def _contents(self, wanted: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], bytes]:
        """(path, oid) -> the bytes of the file, for files that are in the snapshot."""
        return read_hits(self.repo, wanted, self.commit)

    def _read_line_days(self) -> None:
        """Fill `line_days` with the days of the lines of files without a day in their name, if the query has `since` or
        `until`."""
        if not (self.filters.since or self.filters.until):
            return
        from gitmem.index.line_days import line_days

        undated = {key: len(file.lines) for key, file in self.files.items() if file is not None and file.when is None}
        self.line_days = line_days(self.repo, self.config, self.index, undated, self.commit, self.filters.today)

    def _lines(self, path: str, oid: str) -> list[str]:
        """The lines of a file that was read."""
        file = self.files[path, oid]
        assert file is not None
        return file.lines

    def _candidates(self) -> list[Candidate]:
        """The lines that may be hits, with final scores, best first."""
        flags, scores = self.lines.flags, self.lines.scores
        ranked = [at for at, flag in enumerate(flags) if not flag & HEADING]
        ranked.sort(key=scores.__getitem__, reverse=True)  # the sort is stable
        ranking = self.ranking
        if not self.filters.narrow and self.limit <= ranking.few:
            ranked = ranked[: ranking.read]
        elif not self.filters.narrow:
            ranked = ranked[: ranking.read_many]
        numbers = dict.fromkeys(self.lines.strips[at] for at in ranked)
        self._read((self.strips[number].path, self.strips[number].oid) for number in numbers)
        self._read_line_days()
        self._gather_lapsed()
        candidates = [candidate for at in ranked if (candidate := self._candidate(at)) is not None]
        best = set(ranked[: ranking.matched])
        # How many are matched does not depend on -n. With filters all lines were read; the best that passed count.
        first = [candidate for candidate in candidates if self.filters.narrow or candidate.at in best][
            : ranking.matched
        ]
        candidates[: len(first)] = self._matched(first)
        scale = max([ranking.full, *(candidate.line.score for candidate in candidates)])
        candidates = [self._scored(candidate, scale) for candidate in candidates]
        candidates = self._with_repeats_marked(candidates)
        if self.question is not None and self.question.only_days and any(strip.days == 1.0 for strip in self.strips):
            return self._day_by_day(candidates)
        candidates.sort(key=lambda c: (-c.score, c.at))
        placed = self._subject_first(self._newest_first(candidates[: ranking.linked]))
        ordered = sorted([*placed, *candidates[ranking.linked :]], key=lambda c: (-c.score, c.at))
        if any("code" in candidate.meta for candidate in ordered):
            return self._by_code(ordered)
        return ordered

    def _by_code(self, candidates: list[Candidate]) -> list[Candidate]:
        """All candidates, best first; one that cites deleted code comes after the first BEFORE_GONE_CODE others.

        Only the first candidates, which may be shown, are checked, because each check reads the cited file.
        """
        first = candidates[: self.limit + 2 * BEFORE_GONE_CODE]
        self._check_code(first)
        kept: list[Candidate] = []
        gone: list[Candidate] = []
        for candidate in first:
            said = self._code_of(candidate)
            if said and said[0].state == "gone":
                gone.append(candidate)
            else:
                kept.append(candidate)
        if not gone:
            return candidates
        least = 1.0
        if kept:
            least = kept[:BEFORE_GONE_CODE][-1].score - 1e-4
        gone = [each._replace(score=min(each.score, least), state=each.state or "gone") for each in gone]
        return sorted([*kept, *gone, *candidates[len(first) :]], key=lambda c: (-c.score, c.at))

    def _check_code(self, candidates: Iterable[Candidate]) -> None:
        """Fill `code` with the changed code that these candidates cite, without code that was checked before."""
        fresh: dict[tuple[str, str], list[str]] = {}
        for candidate in candidates:
            key = candidate.file.path, candidate.file.oid
            values = [value for value in candidate.meta.get("code", ()) if (key, value) not in self.checked_code]
            if values:
                fresh.setdefault(key, []).extend(values)
                self.checked_code.update((key, value) for value in values)
        if not fresh:
            return
        for key, code in self._cited_code(fresh).items():
            self.code.setdefault(key, {}).update(code)

    def _cited_code(
        self, cited: Mapping[tuple[str, str], Sequence[str]]
    ) -> Mapping[tuple[str, str], Mapping[str, CitedCode]]:
        """(path, oid) of a file -> value of its `code` key -> that code, if it changed."""
        from gitmem.claims.cited_code import changed_code

        values = dict.fromkeys(value for values in cited.values() for value in values)
        return dict.fromkeys(cited, changed_code(self.repo, values, self.commit))

    def _code_of(self, candidate: Candidate) -> list[CitedCode]:
        """The changed code that a candidate cites; empty if none changed."""
        code = self.code.get((candidate.file.path, candidate.file.oid))
        if not code or "code" not in candidate.meta:
            return []
        from gitmem.memory.code_state import changed_citations

        return changed_citations([(key, value) for key, values in candidate.meta.items() for value in values], code)

    def _day_by_day(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates from the logs of the days that the question names, in order of day and line."""
        found = [candidate for candidate in candidates if self.strips[candidate.line.strip].days == 1.0]
        found.sort(key=lambda c: (c.file.when or self.filters.today, c.file.path, c.line.first))
        return [candidate._replace(score=1.0 - at / (len(found) + 1) / 2) for at, candidate in enumerate(found)]

    def _with_repeats_marked(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates; a line of an episode gets `repeats` where a log's line of the same session has all its text.

        That log's line gets the better of both scores.
        """
        logged: dict[str, list[int]] = {}
        for number, candidate in enumerate(candidates):
            if candidate.file.kind is Kind.DAILY:
                for said in candidate.meta.get("session", ()):
                    logged.setdefault(said, []).append(number)
        if not logged:
            return candidates
        kept = list(candidates)
        for number, candidate in enumerate(candidates):
            if candidate.file.kind is Kind.SESSION:
                text = self._text(candidate).removeprefix("- ").rstrip()
                for said in candidate.meta.get("session", ()):
                    for line in logged.get(said, ()):
                        if text in self._text(candidates[line]):
                            kept[number] = candidate._replace(repeats=True)
                            kept[line] = kept[line]._replace(score=max(kept[line].score, candidate.score))
        return kept

    def _text(self, candidate: Candidate) -> str:
        lines = candidate.file.lines[candidate.line.first - 1 : candidate.line.last]
        return "\n".join(_visible(text) for text in lines)

    def _newest_first(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """All candidates; the score of a later statement is raised above the earlier statements that it amends, unless
        the question is about the past or names days. Fills `amended`, `amending` and `differing`."""
        if self.question is None:
            return candidates
        positions: dict[str, int] = {}
        if any("supersedes" in candidate.meta or "beside" in candidate.meta for candidate in candidates):
            positions = {fact_id(self._text(candidate)): at for at, candidate in enumerate(candidates)}
        lines = [self._line(candidate, positions) for candidate in candidates]
        found = [self._reviewed(link, candidates[link.new], lines) for link in amendments.find_links(lines)]
        if not found:
            return candidates
        for link in found:
            old, new = candidates[link.old], candidates[link.new]
            if link.marked:
                self.amended.setdefault(old.at, []).append((new, link))
                self.amending.setdefault(new.at, []).append((old, link))
            elif link.doubtful:
                self.differing.setdefault(new.at, []).append((old, link))
        if self.filters.past or self.filters.days:
            return candidates
        scores = amendments.reordered_scores(lines, found)
        return [candidate._replace(score=score) for candidate, score in zip(candidates, scores, strict=True)]

    def _subject_first(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """All candidates; scores are changed so that candidates about the thing that the question names come first."""
        if self.question is None:
            return candidates
        lines = [
            subjects.Line(self._text(one), one.score, partial(self._about, one.file, one.line.first))
            for one in candidates
        ]
        scores = subjects.reordered_scores(lines, self.question.text)
        return [candidate._replace(score=score) for candidate, score in zip(candidates, scores, strict=True)]

    def _reviewed(self, link: Link, new: Candidate, lines: Sequence[Line]) -> Link:
        """The link, as a proposal if its old line is a reviewed fact and its new line is not committed."""
        if link.proposed or self.commit or not lines[link.old].reviewed:
            return link
        if self.repo.head():
            oids = self.repo.blobs("HEAD", [new.file.path])
        else:
            oids = {}
        contents = dict(self.repo.read_many(oids.values()))
        there = {line for data in contents.values() for line in text_lines(data or b"")}
        own = new.file.lines[new.line.first - 1 : new.line.last]
        if there.issuperset(own):
            return link
        return link._replace(proposed=True)

    def _line(self, candidate: Candidate, positions: Mapping[str, int]) -> Line:
        """The candidate as a line of `amendments`. `positions`: fact id of a candidate -> its position among them."""
        file, meta = candidate.file, candidate.meta
        by_hand = meta.get("supersedes", ())
        stated = [*file.front.get("origin", ()), *meta.get("origin", ())]
        origin, named = "", None
        if stated:
            origin = worst_origin(*stated)
        if by_hand:
            named = frozenset(positions[name] for name in by_hand if name in positions)
        return Line(
            text=self._text(candidate),
            day=_iso(candidate.when),
            score=candidate.score,
            time=self._time(file, candidate.line.first),
            place=(file.path, candidate.line.first),
            reviewed=file.kind is Kind.MEMORY,
            origin=origin,
            replaces_by_hand=named,
            holds_beside=frozenset(positions[name] for name in meta.get("beside", ()) if name in positions),
            statement=partial(self._said, candidate),
            commit_time=partial(self._written, file, candidate.line.first),
            type=next(iter(meta.get("type", ())), ""),
            may_replace=not candidate.line.flags & (ASKS | FENCE)
            and not candidate.repeats
            and self._decides(candidate),
        )

    def _said(self, candidate: Candidate) -> tuple[str, tuple[str, ...]]:
        """(text of a candidate without its list marker, its trail); both empty for a line with a secret, because the
        reason of a link quotes words of both lines.
        """
        file, line = candidate.file, candidate.line
        if not self._hidden(file).isdisjoint(range(line.first, line.last + 1)):
            return "", ()
        statement = self._statement(file, line.first)
        if statement is None:
            return self._text(candidate), ()
        return statement.text, self._about(file, line.first)

    def _hidden(self, file: File) -> AbstractSet[int]:
        """The numbers of the lines of a file with a secret. The index has none of their words, and no hit shows
        them."""
        if not self.index.secrets(file.oid):
            return frozenset()
        if file.oid not in self.hidden:
            from gitmem.gate.detectors.secrets.secrets import secret_lines

            self.hidden[file.oid] = secret_lines("\n".join(file.lines))
        return self.hidden[file.oid]

    def _written(self, file: File, line: int) -> str:
        """The ISO time, in UTC, of the commit that last changed a line; the end of today for an uncommitted line; "" if
        Git cannot tell.
        """
        key = file.path, file.oid, line
        if key not in self.moments:
            self.moments[key] = self._committed(file, line)
        return self.moments[key]

    def _committed(self, file: File, line: int) -> str:
        return commit_time(self.repo, file.path, line, self.commit, self.filters.today)

    def _time(self, file: File, line: int) -> str:
        """The time of day, HH:MM, in the heading above a line of a log; "" without one."""
        found = None
        if file.kind is Kind.DAILY:
            found = _TIME.search(self._heading(file, line))
        if not found:
            return ""
        return found[1]

    def _decides(self, candidate: Candidate) -> bool:
        """Whether a line may replace an earlier line, by its place: in an episode only a decision may; in a commit or
        an archive no line may."""
        file = candidate.file
        if file.kind is Kind.SESSION:
            return self._heading(file, candidate.line.first).endswith(DECISIONS)
        return file.path != COMMIT and file.kind is not Kind.ARCHIVE

    def _matched(self, candidates: list[Candidate]) -> list[Candidate]:
        """All candidates, with the evidence of `late_interaction` if the search has a matcher."""
        if self.matcher is None or not candidates:
            return candidates
        lines = [(c.at, c.line.strip, self._with_trail(c)) for c in candidates]
        return [
            candidate._replace(line=with_matches(candidate.line, own, around, self.ranking))
            for candidate, (own, around) in zip(candidates, self.matcher(lines), strict=True)
        ]

    def _with_trail(self, candidate: Candidate) -> str:
        """The headings, parent items and lines of a candidate as one text."""
        file = candidate.file
        above: list[str] = []
        parent = candidate.line.parent
        while parent >= 0 and len(above) < MAX_PARENT_ITEMS:
            line = self.lines[parent]
            above.append("\n".join(file.lines[line.first - 1 : line.last]))
            parent = line.parent
        own = file.lines[candidate.line.first - 1 : candidate.line.last]
        return "\n".join([self._heading(file, candidate.line.first), *reversed(above), *own])

    def _scored(self, candidate: Candidate, scale: float) -> Candidate:
        """The candidate with its final score: its line's score divided by `scale`, weighted, plus its priors."""
        priors = sum(value for _, value in candidate.priors)
        score = self.ranking.similarity * candidate.line.score / scale + priors
        if candidate.state in (STATES[State.ENDED], STATES[State.REPLACED]) and not (
            self.filters.past or self.past_periods
        ):
            score *= LAPSED_SHARE
        return candidate._replace(score=score, scale=scale)

    def _gather_lapsed(self) -> None:
        """Fill `lapsed` from the facts of each repository's MEMORY.md and archives."""
        self._read(self.memory)
        files = [file for key in self.memory if (file := self.files[key]) is not None]
        if not any(state.may_lapse(line) for file in files for line in file.lines):
            return  # most memories have no such line, and then no file need be parsed for facts
        facts: dict[int, tuple[list[Statement], list[Statement]]] = {}
        for file in files:
            if file.kind is Kind.MEMORY or any(map(state.may_lapse, file.lines)):
                kinds = facts.setdefault(self._repository(file), ([], []))
                kinds[file.kind is not Kind.MEMORY].extend(statements.read(file.lines))
        self.lapsed = {
            repository: state.lapsed_facts(memory, archive, self.filters.today)
            for repository, (memory, archive) in facts.items()
        }

    def lapsed_of(self, file: File) -> LapsedFacts:
        """The facts that ended or were replaced in the repository of a file."""
        return self.lapsed.get(self._repository(file)) or LapsedFacts(self.filters.today)

    def _repository(self, file: File) -> int:
        """The number of the repository of a file, here always 0. A server searches several repositories, and a fact of
        one does not end lines of another."""
        return 0

    def _candidate(self, at: int) -> Candidate | None:
        """The candidate of a scored line, without its final score; None if the line cannot be a hit."""
        line = self.lines[at]
        strip = self.strips[line.strip]
        file = self.files.get((strip.path, strip.oid))
        if file is not None and line.last <= len(file.lines):
            return self._candidate_of(at, line, file)
        return None

    def _candidate_of(self, at: int, line: RankedLine, file: File) -> Candidate | None:
        """The candidate of lines of a file, without its final score; None if the lines do not meet the filters.

        `at`: the index of the scored line that the candidate takes the place of.
        """
        if file.kind is Kind.SESSION and self._heading(file, line.first).endswith(WORD_LISTS):
            return None
        if self._forgotten(file).is_removed_text("\n".join(file.lines[line.first - 1 : line.last])):
            return None
        meta: dict[str, list[str]] = {key: list(values) for key, values in file.front.items()}
        for number in range(line.first, line.last + 1):
            text = file.lines[number - 1]
            if text.endswith("-->"):
                own: dict[str, list[str]] = {}
                for key, value in parse_comment(text)[1]:
                    own.setdefault(key, []).append(value)
                meta.update(own)
        when = _day_of(meta, file)
        state, all_of_it = self._state(meta, file, line, when)
        filters = self.filters
        period = NO_PERIOD
        if self.past_periods or (state and filters.past):
            period = self._period(meta, file, line)
        if state == "promoted":
            if not filters.promoted:
                return None
        elif state and all_of_it and not filters.expired and not was_valid_during(period, when, self.past_periods):
            return None
        if filters.types and not set(filters.types) & set(meta.get("type", ())):
            return None
        if filters.scope and not _applies_to(filters.scope, meta, file.path):
            return None
        if filters.tags and not set(filters.tags) & set(_tags(meta)):
            return None
        if filters.since or filters.until:
            when = when or self.line_days[file.path, file.oid][line.first - 1]
            if (filters.since and when < filters.since) or (filters.until and when > filters.until):
                return None
        priors = self._priors(meta, file, line, when, state, period)
        return Candidate(at, line, file, 0.0, priors, meta, state, when, 1.0)

    def _forgotten(self, file: File) -> Forgotten:
        """The forgotten texts that are masked in a file: all those of the filters, but none in the MEMORY.md of the
        work tree, which people and hosts read anyway."""
        if file.kind is Kind.MEMORY and not self.commit:
            return NOTHING
        return self.filters.forgotten

    def _state(
        self, meta: dict[str, list[str]], file: File, line: RankedLine, when: date | None
    ) -> tuple[str, bool]:  # fmt: skip
        """(state of a line, as in `Hit`; whether the whole line is in that state)."""
        lapsed = self.lapsed_of(file)
        until = next(iter(meta.get("until", ())), "")
        lines = state.MemoryLines(file.path, line.first, line.last, _lines_of(file, line), until, when)
        judged = state.state_of_lines(lines, lapsed)
        if judged.state is not State.HOLDS:
            return STATES[judged.state], judged.whole
        if file.kind is Kind.SESSION and file.front.get("promoted", [""])[0].lower() in ("true", "yes", "1"):
            return "promoted", True
        return "", True

    def _period(self, meta: dict[str, list[str]], file: File, line: RankedLine) -> Period:
        """The period in which a line was valid."""
        return period_of(meta, self.lapsed_of(file).since.get(fact_id(_lines_of(file, line))))

    def _priors(
        self, meta: dict[str, list[str]], file: File, line: RankedLine, when: date | None, state: str, period: Period
    ) -> tuple[tuple[str, float], ...]:
        """(name, value) of each prior other than 0: the part of the score that depends on file, type, age and state."""
        weights = self.ranking.priors
        priors: list[tuple[str, float]] = []
        if file.kind is Kind.MEMORY:
            priors.append(("memory", weights["memory"]))
        elif file.kind is Kind.DAILY:
            priors.append(("daily", weights["daily"]))
        elif file.kind is Kind.ARCHIVE:
            priors.append(("archive", weights["archive"]))
        if _DECIDED_TYPES & set(meta.get("type", ())) or _DECIDED.search(self._heading(file, line.first)):
            priors.append(("decided", weights["decided"]))
        try:
            importance = float(meta.get("importance", ("0.5",))[0])
            priors.append(("importance", weights["importance"] * (min(1.0, max(0.0, importance)) - 0.5)))
        except ValueError:
            pass
        if when is not None and file.kind is not Kind.MEMORY:
            age = max(0, (self.filters.today - when).days)
            priors.append(("recent", weights["recent"] * exp(-self.ranking.decay * age)))
        if "duplicate_of" in meta:
            priors.append(("duplicate", weights["duplicate"]))
        if state and state != "promoted" and self.filters.past:
            priors.append(("past", weights["past"]))
        # A fact that holds now may have held in the period asked about: only a line that names a day is judged.
        if (period.start or period.end or state in ("expired", "superseded")) and was_valid_during(
            period, when, self.filters.days
        ):
            priors.append(("period", weights["period"]))
        elif (
            period.start
            and self.past_periods
            and all(named.last and period.start > named.last for named in self.past_periods)
        ):
            priors.append(("period", -weights["period"]))
        return tuple((name, value) for name, value in priors if value)

    def _heading(self, file: File, line: int) -> str:
        """The headings above a line as one text, the outermost first; "" without a heading."""
        above = bisect_right(file.shape.headings, (line, ANY_LEVEL))
        key = file.path, file.oid, above
        if key not in self.headings:
            texts = [text for _, _, text in self._open_headings(file, above) if text]
            self.headings[key] = " > ".join(self._screened(file, texts))
        return self.headings[key]

    def _open_headings(self, file: File, above: int) -> Sequence[tuple[int, int, str]]:
        """(line, level, text) of the headings that enclose the text after the first `above` headings of a file,
        outermost first."""
        key = file.path, file.oid, above
        if key not in self.sections:
            found: list[tuple[int, int, str]] = []
            for number, level in file.shape.headings[:above]:
                while found and found[-1][1] >= level:
                    found.pop()
                if number <= len(file.lines):
                    found.append((number, level, file.lines[number - 1].strip().strip("#").strip()))
            self.sections[key] = found
        return self.sections[key]

    def _screened(self, file: File, steps: Sequence[str]) -> tuple[str, ...]:
        """The steps of a trail; a step with a secret is replaced by WITHHELD."""
        if not steps or not self.index.secrets(file.oid):
            return tuple(steps)
        from gitmem.gate.detectors.secrets.secrets import secret_lines

        hidden = secret_lines("\n".join(steps))
        return tuple(WITHHELD if number in hidden else step for number, step in enumerate(steps, 1))

    def _about(self, file: File, line: int) -> tuple[str, ...]:
        """The trail of a line, outermost step first: the note's name, headings, parent items, table header."""
        statement = self._statement(file, line)
        if statement is None:
            return ()
        return self._screened(file, statement.trail)

    def _statement(self, file: File, line: int) -> Statement | None:
        """The statement that a line belongs to; None if it belongs to none."""
        key = file.path, file.oid, line
        if key not in self.statements:
            self.statements[key] = self._read_statement(file, line)
        return self.statements[key]

    def _read_statement(self, file: File, line: int) -> Statement | None:
        """The statement of a line. Its section is parsed in windows of WINDOW_LINES lines, with one more window above.

        Parsed windows are cached, because a long flat list would otherwise be parsed again for each hit.
        """
        above = self._open_headings(file, bisect_right(file.shape.headings, (line, ANY_LEVEL)))
        window = (line - 1) // WINDOW_LINES
        section = file.shape.front + 1
        if above:
            section = above[-1][0]
        first = max(section, (window - 1) * WINDOW_LINES + 1)
        lines = file.lines
        last = line
        most = max(line + MIN_LINES_BELOW, (window + 1) * WINDOW_LINES)
        while last < min(len(lines), most) and lines[last].strip():  # table headers and setext headings need it
            last += 1
        key = file.path, file.oid, first, window
        reach, titles, found = self.windows.get(key, (0, 0, ()))
        if reach < last:
            open_above = [f"{'#' * level} {text}" for number, level, text in above if number < first]
            front = {key: values[0] for key, values in file.front.items() if values}
            name = statements.note_name(file.path, front)
            reach, titles = last, len(open_above)
            found = statements.read([*open_above, "", *lines[first - 1 : last]], name=name)
            self.windows[key] = reach, titles, found
        at = titles + 1 + line - first + 1
        return next((one for one in found if one.first <= at <= one.last), None)

    # -- joining ---------------------------------------------------------------------------------------------

    def _join(self, candidates: list[Candidate], limit: int) -> list[Hit]:
        """At most `limit` hits, best first: each candidate joined with the neighbours that score nearly as high.

        A near-duplicate of a better hit is left out. A log line that was promoted becomes a source of its fact's hit.
        """
        if not candidates:
            return []
        by_at = {candidate.at: candidate for candidate in candidates}
        top = candidates[0].score
        low = 0.0
        if len(candidates) > 2:
            low = candidates[len(candidates) // 2].score
        slack = self.ranking.join * max(0.0, top - low)
        used: set[int] = set()
        hits: list[Hit] = []
        kept: list[frozenset[str]] = []
        facts = self._citing(candidates)
        if facts:
            places = {(one.file.path, one.line.first): one for one in candidates}
        else:
            places = {}
        placed: dict[tuple[str, int], int] = {}  # (path, line) of a fact -> its position in `hits`
        for candidate in candidates:
            if candidate.at in used or candidate.repeats:
                continue
            if candidate.score < self.filters.min_score:
                break
            promoted = self._promoted_to(candidate, facts, places)
            if promoted:
                members = [promoted]
            else:
                members = self._with_neighbours(candidate, by_at, used, slack)
            used.update([candidate.at, *(member.at for member in members)])
            own = [(one.file.path, one.line.first) for one in members]
            hit = self._hit(promoted or candidate, members)
            if promoted:
                said = self._hit(candidate, [candidate])
                if (at := placed.get(own[0])) is not None:
                    hits[at] = _with_source(hits[at], said)
                    continue
                hit = _with_source(hit, said)
            words = frozenset(_WORD.findall(hit.text.casefold()))
            if any(_nearly_equal(words, other, self.ranking.twins) for other in kept):
                continue
            kept.append(words)
            placed |= dict.fromkeys(own, len(hits))
            hits.append(hit)
            if len(hits) == limit:
                break
        return hits

    def _citing(self, candidates: Sequence[Candidate]) -> Mapping[str, Sequence[Citation]]:
        """Path of a log -> the citations of its lines by facts; empty with `Filters.promoted_lines`, which makes each
        line a hit of its own."""
        if self.filters.promoted_lines:
            return {}
        paths = {one.file.path for one in candidates if one.file.kind not in (Kind.MEMORY, Kind.ARCHIVE)}
        files = ((key, file.lines) for key in self.memory if (file := self.files.get(key)) is not None)
        if not paths:
            return {}
        return citations_by_file(files, paths)

    def _promoted_to(
        self, candidate: Candidate, facts: Mapping[str, Sequence[Citation]], places: Mapping[tuple[str, int], Candidate]
    ) -> Candidate | None:
        """The candidate of the fact that a log line was promoted to, with a score at least as high as the line's.

        None if the line was not promoted, or if that fact does not meet the filters. `facts`: from `_citing`. `places`:
        (path, first line) -> candidate.
        """
        file, line = candidate.file, candidate.line
        if not facts or file.kind in (Kind.MEMORY, Kind.ARCHIVE):
            return None
        if candidate.state == "promoted":  # a search for the episodes of a digest does not get the digest instead
            return None
        cited = facts.get(file.path, ())
        fact = None
        if cited:
            fact = promoted_fact(cited, line.first, line.last, self._text(candidate))
        if fact is None or (self.filters.keep is not None and not self.filters.keep(fact.key[0])):
            return None
        home = self.files[fact.key]
        assert home is not None
        if self._repository(home) != self._repository(file):
            return None
        known = places.get((home.path, fact.first))
        if known is None:
            where = line._replace(first=fact.first, last=fact.last, flags=0, parent=-1)
            made = self._candidate_of(candidate.at, where, home)
            known = made and made._replace(scale=candidate.scale)
        return known and known._replace(score=max(known.score, candidate.score))

    def _with_neighbours(
        self, centre: Candidate, by_at: dict[int, Candidate], used: set[int], slack: float
    ) -> list[Candidate]:
        """A candidate and the neighbours that form one passage with it, in file order, at most `Ranking.joined`.

        `by_at`: index of a scored line -> candidate. `used`: indexes of lines in other hits. `slack`: how much lower
        than the centre's the score of a neighbour may be.
        """
        members = [centre]
        size = sum(len(centre.file.lines[n - 1]) for n in range(centre.line.first, centre.line.last + 1))
        # A fact of MEMORY.md is complete; a short line elsewhere is often half of a statement.
        if centre.file.kind is Kind.MEMORY:
            least = 0
        else:
            least = self.ranking.short
        while len(members) < self.ranking.joined:
            best = None
            for at in (members[0].at - 1, members[-1].at + 1):
                other = by_at.get(at)
                if (
                    other is None
                    or at in used
                    or other.line.strip != centre.line.strip
                    or other.state != centre.state
                    or self._linked_to(other, members)
                    or not self._of_one_item(other, members)
                    or _heading_lies_between(centre.file, members, other)
                    or self._names_another(other)
                ):
                    continue
                answers = at == members[-1].at + 1 and members[-1].line.flags & ASKS and size < self.ranking.short
                near = other.score >= centre.score - slack or answers or size < least
                if near and (best is None or other.score > best.score):
                    best = other
            if best is None:
                break
            if best.at < members[0].at:
                members = [best, *members]
            else:
                members = [*members, best]
            size += sum(len(best.file.lines[n - 1]) for n in range(best.line.first, best.line.last + 1))
        return members

    def _names_another(self, other: Candidate) -> bool:
        """Whether a line names another thing than the question does; such a line is not joined."""
        return self.question is not None and subjects.names_other_thing(self._text(other), self.question.text)

    def _of_one_item(self, other: Candidate, members: Sequence[Candidate]) -> bool:
        """Whether a line may be joined with `members`: it is the parent or child of a member, or a sibling of all where
        none has sub-items. Rows of one table are never joined."""
        rows = [member for member in members if member.line.flags & other.line.flags & ROW]
        if any(row.line.parent == other.line.parent for row in rows):
            return False  # each row of a table is about another thing
        if any(other.at == member.line.parent or member.at == other.line.parent for member in members):
            return True
        beside = all(other.line.parent == member.line.parent for member in members)
        return beside and not any(self._has_others_below(one.at) for one in (other, *members))

    def _has_others_below(self, at: int) -> bool:
        """Whether the line at index `at` has sub-items."""
        return at + 1 < len(self.lines) and self.lines.parents[at + 1] == at

    def _linked_to(self, other: Candidate, members: Sequence[Candidate]) -> bool:
        """Whether a line amends a member or is amended by one; such a line is not joined."""
        ends = [*self.amended.get(other.at, ()), *self.amending.get(other.at, ())]
        return any(member.at == end.at for end, _ in ends for member in members)

    def _hit(self, best: Candidate, members: list[Candidate]) -> Hit:
        """The hit of consecutive candidates. Its text (secret parts masked), `id`, lines, code and links are those of
        all members, the other fields those of `best`; an empty `state` becomes "changed" if code that any member cites
        has changed."""
        file = best.file
        first, last = members[0].line.first, members[-1].line.last
        text = "\n".join(_visible(line) for line in file.lines[first - 1 : last])
        if hidden := self._hidden(file):
            lines = enumerate(text.split("\n"), first)
            text = "\n".join(WITHHELD if number in hidden else line for number, line in lines)
        mask = self._forgotten(file).masked
        text = mask(text)
        meta = best.meta
        self._check_code(members)
        code = tuple(dict.fromkeys(said for member in members for said in self._code_of(member)))
        state, trust = best.state, "committed"
        sources: tuple[SourceLine, ...] = ()
        if not state and any(said.state == "changed" for said in code):
            state = "changed"
        if "src" in meta:
            trust = "promoted"
        if file.kind in (Kind.MEMORY, Kind.ARCHIVE):
            sources = _sources(meta)
        return Hit(
            path=file.path,
            start_line=first,
            end_line=last,
            heading=mask(self._heading(file, best.line.first)),
            trail=tuple(map(mask, self._about(file, best.line.first))),
            names=tuple(
                mask(value) for key in ("title", "name", "aliases", "description") for value in file.front.get(key, ())
            ),
            text=text,
            score=round(min(1.0, max(0.0, best.score)), 4),
            date=_iso(best.when),
            type=next(iter(meta.get("type", ())), ""),
            tags=_tags(meta),
            origin=worst_origin(*file.front.get("origin", ()), *meta.get("origin", ())),
            trust=trust,
            blob=file.oid,
            id=fact_id(text),
            state=state,
            code=code,
            chunk=self._chunk_of(best.line),
            raw=best.line.score,
            scale=best.scale,
            evidence=best.line.evidence,
            priors=best.priors,
            amended_by=self._linked(members, self.amended, later=True),
            supersedes=self._linked(members, self.amending),
            differs=self._linked(members, self.differing),
            sources=sources,
        )

    def _linked(
        self, members: list[Candidate], links: Mapping[int, Sequence[tuple[Candidate, Link]]], later: bool = False
    ) -> tuple[LinkedLine, ...]:
        """The lines at the other ends of the members' links, newest first; only the best line of each file.

        `links`: index of a line -> (candidate at the other end, link). `later`: whether the other ends are the later
        lines; such a line without a day gets the day of the link.
        """
        made: dict[str, LinkedLine] = {}
        for member in members:
            for other, link in sorted(links.get(member.at, ()), key=lambda end: (end[1].proposed, -end[0].score)):
                day = ""
                if other.when:
                    day = other.when.isoformat()
                elif later:
                    day = link.day
                line, ident = other.line, fact_id(self._text(other))
                reason = self._forgotten(other.file).masked(link.reason) or BY_HAND
                made.setdefault(
                    other.file.path,
                    LinkedLine(
                        other.file.path, line.first, line.last, day, ident, link.proposed, reason, member.line.first
                    ),
                )
        return tuple(sorted(made.values(), key=lambda linked: linked.date, reverse=True))

    def _chunk_of(self, line: RankedLine) -> int:
        """The id of the chunk that contains a line."""
        containing = 0
        for chunk, start, _, _ in self.strips[line.strip].chunks:
            if start > line.first:
                break
            containing = chunk
        return containing


def commit_time(repo: Repository, path: str, line: int, commit: str, today: date) -> str:
    """The ISO time, in UTC, of the commit that last changed a line; the end of `today` for an uncommitted line; "" if
    Git cannot tell. `commit`: "" for the work tree."""
    try:
        (found,) = repo.blame(path, line, line, commit)
        if not found.commit.strip("0"):
            return f"{today.isoformat()}T24"
        return repo.commit(found.commit).author_date.astimezone(UTC).isoformat()
    except (GitMemError, ValueError):
        return ""


def _iso(day: date | None) -> str:
    """A day as ISO text, "" for None."""
    if day is None:
        return ""
    return day.isoformat()


def _lines_of(file: File, line: RankedLine) -> str:
    return "\n".join(file.lines[line.first - 1 : line.last])


def _heading_lies_between(file: File, members: list[Candidate], other: Candidate) -> bool:
    """Whether a heading is between the members and another line; a passage never spans two sections."""
    low = min(members[0].line.last, other.line.last)
    high = max(members[-1].line.first, other.line.first)
    return any(low < number <= high for number, _ in file.shape.headings)


def _visible(line: str) -> str:
    """A line without its metadata comment."""
    if line.endswith("-->"):
        return parse_comment(line)[0]
    return line


def _nearly_equal(words: frozenset[str], other: frozenset[str], share: float) -> bool:
    """Whether two sets of words are nearly the same: their Jaccard index is at least `share`.

    This compares letters, not meaning: two passages that differ in one number are nearly equal. `memory/similarity`,
    which compares meaning, would be slow to import.
    """
    if not words or min(len(words), len(other)) < share * max(len(words), len(other)):
        return words == other
    both = len(words & other)
    return both >= share * (len(words) + len(other) - both)


def _sources(meta: Mapping[str, Sequence[str]]) -> tuple[SourceLine, ...]:
    """The lines that the key `src` of a fact cites, with "" for their text."""
    spans = (parse_span(value) for value in meta.get("src", ()))
    return tuple(SourceLine(span.path, span.start_line, span.end_line) for span in spans if span is not None)


def _with_source(hit: Hit, found: Hit) -> Hit:
    """The hit of a fact with one more source, the log lines of the hit `found`. Sources with text come first."""
    source = SourceLine(found.path, found.start_line, found.end_line, found.text)
    others = [one for one in hit.sources if one.text or not _overlap(one, source)]
    before = [one for one in others if one.text]
    return hit._replace(sources=(*before, source, *(one for one in others if not one.text)))


def _overlap(one: SourceLine, other: SourceLine) -> bool:
    return one.path == other.path and one.start_line <= other.end_line and other.start_line <= one.end_line


def _applies_to(folder: str, meta: dict[str, list[str]], path: str) -> bool:
    """Whether lines with these metadata keys apply to `folder` or to a folder below it."""
    from gitmem.memory.folder_scope import folder_of_keys

    return f"{folder_of_keys(meta, path)}/".startswith(f"{folder}/")


def _tags(meta: dict[str, list[str]]) -> tuple[str, ...]:
    return tuple(tag.strip() for value in meta.get("tags", ()) for tag in value.split(",") if tag.strip())


def _day_of(meta: dict[str, list[str]], file: File) -> date | None:
    """The day of a line: in its file's name, else in its key `from` or `date`, else in the name of its source file;
    None if none of these has a day.
    """
    if file.when is not None:
        return file.when
    for key in ("from", "date"):
        for value in meta.get(key, ()):
            if (named := parse_day(value)) is not None:
                return named
    for value in meta.get("src", ()):
        span = parse_span(value)
        if span is not None and (named := log_date(span.path)) is not None:
            return named
    return None
