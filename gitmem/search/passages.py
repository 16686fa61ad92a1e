"""From scored lines to hits: reads the text, judges expiry, adds the priors, joins neighbours, drops near-duplicates.

The text is that of the blob or the work-tree file the index names, checked by its hash: a damaged index can lose a
hit, never invent one. A fenced block is never cut. Never ranks by anything that is not in `ranking`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date
from functools import partial
from math import exp

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.index.db.values import Shape, Snapshot
from gitmem.index.line_records import ASKS, FENCE, HEADING, ROW
from gitmem.lazy_patterns import lazy
from gitmem.light_typing import TYPE_CHECKING, NamedTuple
from gitmem.memory import state, statements
from gitmem.memory.fact import fact_id, parse_comment, parse_span, worst_origin
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.memory.snapshot import read
from gitmem.memory.state import Lapsed, State
from gitmem.paths import Kind, kind, log_date, log_day
from gitmem.search import amendments, subjects
from gitmem.search.amendments import Line, Link
from gitmem.search.hits import BY_HAND, Hit, Linked, SourceLine, blamed, text_lines, trusted
from gitmem.search.promoted_facts import Citing, citing, fact_of
from gitmem.search.question import Question
from gitmem.search.scoring import RankedLine, ScoredLines, Strip, with_matches
from gitmem.search.validity import Held, day, held, last_day, over, stood
from gitmem.search.weights import Ranking
from gitmem.text.dates import Days
from gitmem.text.languages import LANGUAGES

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader
    from gitmem.memory.code_state import CitedCode
    from gitmem.memory.statements import Statement

GONE_AFTER = 5  # candidates that stand and come before what cites code that is gone
DEEPEST = 1 << 30  # no heading is of a deeper level
WITHHELD = "[a line with a secret]"
DEEPEST_SHOWN = 8  # items above a line that are read with it
NAMES = ("title", "name", "aliases", "description")  # front matter that says what a note is called
LAPSED = 0.5  # of the score of a line that no longer holds, where the question is about now
BELOW = 64  # lines below a line that its statement may have at least
SECTION = 400  # lines above a passage that are read for what it is about
PLAIN, UNSAID = Shape(), Held()
STATES = {State.HOLDS: "", State.ENDED: "expired", State.REPLACED: "superseded", State.FORGOTTEN: "forgotten"}
COMMIT = "//commit"  # the path of a commit's lines among those of files: no tree has one like it
_DECIDED = lazy(f"(?i:{'|'.join(each.DECISION_NAMES for each in LANGUAGES)})")
_TIME = lazy(r"> ((?:[01]\d|2[0-3]):[0-5]\d)\b")
_WORD = lazy(r"\w+")
# Sections of an episode (`sessions/episode.py`): what was decided, and words that find it and answer nothing.
DECISIONS, WORD_LISTS = "Decisions", "Topics"
_DECIDED_TYPES = frozenset({"decision", "constraint", "policy"})


# (position, strip, text) of some lines -> how well each has the question's words, alone and with its neighbours.
Matcher = Callable[[Sequence[tuple[int, int, str]]], Sequence[tuple[float, float]]]


class Filters(NamedTuple):
    """Which lines may be hits. `past`: the question is about the past, so expired facts count."""

    types: tuple[str, ...]
    tags: tuple[str, ...]
    since: date | None
    until: date | None
    expired: bool
    min_score: float
    today: date
    days: tuple[Days, ...]
    past: bool
    promoted: bool = False  # episodes that are in a digest count too
    keep: Callable[[str], bool] | None = None  # which paths: those of files were chosen already, a commit's were not
    forgotten: Forgotten = NOTHING
    promoted_lines: bool = False  # as `Query` has it
    scope: str = ""  # only what holds for this folder or one below it; "" for all

    @property
    def narrow(self) -> bool:
        """Whether lines of the pool may well be left out."""
        return bool(self.types or self.tags or self.since or self.until or self.scope)


class SearchedMemory:
    """Where passages are read: as of `commit`, "" for the work tree. `memory`: (path, oid) of the snapshot's MEMORY.md
    and archives, which say what no longer holds."""

    __slots__ = ("commit", "config", "index", "memory", "repo")

    def __init__(
        self, repo: Repository, config: Config, index: IndexReader, commit: str, memory: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.repo = repo
        self.config = config
        self.index = index
        self.commit = commit
        self.memory = memory


def facts_of(index: IndexReader, snapshot: Snapshot) -> list[tuple[str, str]]:
    """(path, oid) of a snapshot's MEMORY.md and archives."""
    return [file for file in index.files(snapshot) if kind(file[0]) in (Kind.MEMORY, Kind.ARCHIVE)]


class File(NamedTuple):
    """A file that was read: its lines, shape, date and front matter."""

    path: str
    oid: str
    lines: list[str]
    shape: Shape
    front: dict[str, list[str]]
    when: date | None
    kind: Kind


class Candidate(NamedTuple):
    """A line that may be a hit."""

    at: int  # index into the scored lines
    line: RankedLine
    file: File
    score: float  # as it orders; shown as 0..1
    priors: tuple[tuple[str, float], ...]
    meta: dict[str, list[str]]
    state: str
    when: date | None
    scale: float
    repeats: bool = False  # a part of what another candidate says


class Passages:
    """The hits of one answer. Lives as long as the search."""

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
        self.lapsed: dict[int, Lapsed] = {}  # by repository, 0 for the only one
        # An older line -> what replaces or ends it; the other way round; a later line -> what it does not agree with.
        self.amended: dict[int, list[tuple[Candidate, Link]]] = {}
        self.amending: dict[int, list[tuple[Candidate, Link]]] = {}
        self.differing: dict[int, list[tuple[Candidate, Link]]] = {}
        self.hidden: dict[str, AbstractSet[int]] = {}
        self.moments: dict[tuple[str, str, int], str] = {}
        self.statements: dict[tuple[str, str, int], Statement | None] = {}
        # (last line that was read, headings put in front, statements) of a part of a file
        self.windows: dict[tuple[str, str, int, int], tuple[int, int, Sequence[Statement]]] = {}
        # Of the files that cite code, by the value of a `code` key what is not as it was when it was cited.
        self.code: dict[tuple[str, str], dict[str, CitedCode]] = {}
        self.asked: set[tuple[tuple[str, str], str]] = set()  # files and `code` values
        self.over = over(filters.days, filters.today)
        self.sections: dict[tuple[str, str, int], Sequence[tuple[int, int, str]]] = {}
        self.headings: dict[tuple[str, str, int], str] = {}
        self.limit = 0

    def hits(self, limit: int, *, blame: bool = False) -> tuple[Hit, ...]:
        """At most `limit` hits, best first."""
        self.limit = limit
        candidates = self._candidates()
        return tuple(self._with_provenance(self._join(candidates, limit), blame))

    def _with_provenance(self, hits: list[Hit], blame: bool) -> list[Hit]:
        """The hits with whether they are committed and, with `blame`, by whom."""
        if not self.commit:
            hits = trusted(self.repo, hits, lambda hit: self._lines(hit.path, hit.blob))
            today = self.filters.today.isoformat()  # of a line in no commit yet, as `line_days` has it
            hits = [hit._replace(date=today) if hit.trust == "uncommitted" and not hit.date else hit for hit in hits]
        if blame:
            return blamed(self.repo, hits, self.commit)
        return hits

    # -- reading ---------------------------------------------------------------------------------------------

    def _read(self, keys: Iterable[tuple[str, str]]) -> None:
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
            shape = shapes.get(oid, PLAIN)
            front: dict[str, list[str]] = {}
            for key, value in shape.keys:
                front.setdefault(key, []).append(value)
            if "stale_after" in front and "until" not in front:  # the Open Knowledge Format's word for it
                front["until"] = [last_day(front["stale_after"][0])]
            when = log_date(path)
            if log_day(path, self.config.memory_daily):
                of = Kind.DAILY
            else:
                of = kind(path)
            self.files[path, oid] = File(path, oid, text_lines(data), shape, front, when, of)

    def _contents(self, wanted: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], bytes]:
        """The bytes of files, by (path, oid), of those that are in the snapshot."""
        return read(self.repo, wanted, self.commit)

    def _read_line_days(self) -> None:
        """When the lines of files without a day in their name were written, if `--since` or `--until` asks for it."""
        if not (self.filters.since or self.filters.until):
            return
        from gitmem.index.line_days import line_days

        undated = {key: len(file.lines) for key, file in self.files.items() if file is not None and file.when is None}
        self.line_days = line_days(self.repo, self.config, self.index, undated, self.commit, self.filters.today)

    def _lines(self, path: str, oid: str) -> list[str]:
        file = self.files[path, oid]
        assert file is not None
        return file.lines

    def _candidates(self) -> list[Candidate]:
        """The best lines that may be hits, with their priors, best first. How many are read never depends on -n."""
        flags, scores = self.lines.flags, self.lines.scores
        ranked = [at for at, flag in enumerate(flags) if not flag & HEADING]
        ranked.sort(key=scores.__getitem__, reverse=True)  # equal ones stay in their order
        ranking = self.ranking
        if not self.filters.narrow:
            ranked = ranked[: ranking.read if self.limit <= ranking.few else ranking.read_many]
        numbers = dict.fromkeys(self.lines.strips[at] for at in ranked)
        self._read((self.strips[number].path, self.strips[number].oid) for number in numbers)
        self._read_line_days()
        self._gather_lapsed()
        candidates = [candidate for at in ranked if (candidate := self._candidate(at)) is not None]
        best = set(ranked[: ranking.matched])
        # Never more for a larger -n; with filters all lines were read, and the best that passed are matched.
        first = [candidate for candidate in candidates if self.filters.narrow or candidate.at in best][
            : ranking.matched
        ]
        candidates[: len(first)] = self._matched(first)
        scale = max([ranking.full, *(candidate.line.score for candidate in candidates)])
        candidates = [self._scored(candidate, scale) for candidate in candidates]
        candidates = self._whole(candidates)
        if self.question is not None and self.question.only_days and any(strip.days == 1.0 for strip in self.strips):
            return self._day_by_day(candidates)
        candidates.sort(key=lambda c: (-c.score, c.at))
        placed = self._asked_first(self._newest_first(candidates[: ranking.linked]))
        ordered = sorted([*placed, *candidates[ranking.linked :]], key=lambda c: (-c.score, c.at))
        if any("code" in candidate.meta for candidate in ordered):
            return self._by_code(ordered)
        return ordered

    def _by_code(self, candidates: list[Candidate]) -> list[Candidate]:
        """The same, what cites code that is gone behind the first that do not. Only what may be shown is asked of the
        code: the file of each citation is read."""
        first = candidates[: self.limit + 2 * GONE_AFTER]
        self._ask_code(first)
        kept: list[Candidate] = []
        gone: list[Candidate] = []
        for candidate in first:
            said = self._code_of(candidate)
            (gone if said and said[0].state == "gone" else kept).append(candidate)
        if not gone:
            return candidates
        least = 1.0
        if kept:
            least = kept[:GONE_AFTER][-1].score - 1e-4
        gone = [each._replace(score=min(each.score, least), state=each.state or "gone") for each in gone]
        return sorted([*kept, *gone, *candidates[len(first) :]], key=lambda c: (-c.score, c.at))

    def _ask_code(self, candidates: Iterable[Candidate]) -> None:
        """Ask what became of the code that these cite, where it is not known."""
        fresh: dict[tuple[str, str], list[str]] = {}
        for candidate in candidates:
            key = candidate.file.path, candidate.file.oid
            values = [value for value in candidate.meta.get("code", ()) if (key, value) not in self.asked]
            if values:
                fresh.setdefault(key, []).extend(values)
                self.asked.update((key, value) for value in values)
        for key, code in self._cited_code(fresh).items() if fresh else ():
            self.code.setdefault(key, {}).update(code)

    def _cited_code(
        self, cited: Mapping[tuple[str, str], Sequence[str]]
    ) -> Mapping[tuple[str, str], Mapping[str, CitedCode]]:
        """What became of the code that files cite, by (path, oid)."""
        from gitmem.claims.cited_code import cited_code

        values = dict.fromkeys(value for values in cited.values() for value in values)
        return dict.fromkeys(cited, cited_code(self.repo, values, self.commit))

    def _code_of(self, candidate: Candidate) -> list[CitedCode]:
        """What is to be said of the code that a candidate cites."""
        code = self.code.get((candidate.file.path, candidate.file.oid))
        if not code or "code" not in candidate.meta:
            return []
        from gitmem.memory.code_state import of_code

        return of_code([(key, value) for key, values in candidate.meta.items() for value in values], code)

    def _day_by_day(self, candidates: list[Candidate]) -> list[Candidate]:
        """What the asked days' logs say, in order."""
        found = [candidate for candidate in candidates if self.strips[candidate.line.strip].days == 1.0]
        found.sort(key=lambda c: (c.file.when or self.filters.today, c.file.path, c.line.first))
        return [candidate._replace(score=1.0 - at / (len(found) + 1) / 2) for at, candidate in enumerate(found)]

    def _whole(self, candidates: list[Candidate]) -> list[Candidate]:
        """The same; the lines of episodes that repeat what a log has of the same conversation, whole, only stand beside
        others from here on: the log's line answers for them."""
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
        """The same, the later word on a matter above the earlier, unless the question is about the past or
        about certain days."""
        if self.question is None:
            return candidates
        positions: dict[str, int] = {}
        if any("supersedes" in candidate.meta or "beside" in candidate.meta for candidate in candidates):
            positions = {fact_id(self._text(candidate)): at for at, candidate in enumerate(candidates)}
        lines = [self._line(candidate, positions) for candidate in candidates]
        found = [self._reviewed(link, candidates[link.new], lines) for link in amendments.links(lines)]
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
        scores = amendments.ordered(lines, found)
        return [candidate._replace(score=score) for candidate, score in zip(candidates, scores, strict=True)]

    def _asked_first(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """The same, what is about the thing that was asked for above what is about another."""
        if self.question is None:
            return candidates
        lines = [
            subjects.Line(self._text(one), one.score, partial(self._about, one.file, one.line.first))
            for one in candidates
        ]
        scores = subjects.ordered(lines, self.question.text)
        return [candidate._replace(score=score) for candidate, score in zip(candidates, scores, strict=True)]

    def _reviewed(self, link: Link, new: Candidate, lines: Sequence[Line]) -> Link:
        """The link, only proposed where a reviewed fact would be amended by one that is in no commit."""
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
        """What links need of a candidate; `positions` are those of the ids that a line may name."""
        file, meta = candidate.file, candidate.meta
        by_hand = meta.get("supersedes", ())
        stated = [*file.front.get("origin", ()), *meta.get("origin", ())]
        return Line(
            text=self._text(candidate),
            day=candidate.when.isoformat() if candidate.when else "",
            score=candidate.score,
            time=self._time(file, candidate.line.first),
            place=(file.path, candidate.line.first),
            reviewed=file.kind is Kind.MEMORY,
            origin=worst_origin(*stated) if stated else "",
            named=frozenset(positions[name] for name in by_hand if name in positions) if by_hand else None,
            beside=frozenset(positions[name] for name in meta.get("beside", ()) if name in positions),
            said=partial(self._said, candidate),
            written=partial(self._written, file, candidate.line.first),
            type=next(iter(meta.get("type", ())), ""),
            deciding=not candidate.line.flags & (ASKS | FENCE) and not candidate.repeats and self._decides(candidate),
        )

    def _said(self, candidate: Candidate) -> tuple[str, tuple[str, ...]]:
        """What a candidate says, without its marker, and its trail. Nothing of lines with a secret, nor of such steps:
        a reason quotes words of both."""
        file, line = candidate.file, candidate.line
        if not self._hidden(file).isdisjoint(range(line.first, line.last + 1)):
            return "", ()
        statement = self._statement(file, line.first)
        if statement is None:
            return self._text(candidate), ()
        return statement.text, self._about(file, line.first)

    def _hidden(self, file: File) -> AbstractSet[int]:
        """The lines of a file with a secret: the index has no words of them, an answer no text."""
        if not self.index.secrets(file.oid):
            return frozenset()
        if file.oid not in self.hidden:
            from gitmem.gate.detectors.secrets.secrets import secret_lines

            self.hidden[file.oid] = secret_lines("\n".join(file.lines))
        return self.hidden[file.oid]

    def _written(self, file: File, line: int) -> str:
        """The moment at which a line was committed, in UTC, the end of today for one that is in no commit; "" where Git
        cannot say."""
        key = file.path, file.oid, line
        if key not in self.moments:
            self.moments[key] = self._committed(file, line)
        return self.moments[key]

    def _committed(self, file: File, line: int) -> str:
        return written(self.repo, file.path, line, self.commit, self.filters.today)

    def _time(self, file: File, line: int) -> str:
        """The time of day in the heading above a line of a log, "" where there is none."""
        found = None
        if file.kind is Kind.DAILY:
            found = _TIME.search(self._heading(file, line))
        if not found:
            return ""
        return found[1]

    def _decides(self, candidate: Candidate) -> bool:
        """Whether a line can be the last word on something: of an episode what was decided, of a commit nothing."""
        file = candidate.file
        if file.kind is Kind.SESSION:
            return self._heading(file, candidate.line.first).endswith(DECISIONS)
        return file.path != COMMIT and file.kind is not Kind.ARCHIVE

    def _matched(self, candidates: list[Candidate]) -> list[Candidate]:
        """The same, matched word by word."""
        if self.matcher is None or not candidates:
            return candidates
        lines = [(c.at, c.line.strip, self._with_trail(c)) for c in candidates]
        return [
            candidate._replace(line=with_matches(candidate.line, own, around, self.ranking))
            for candidate, (own, around) in zip(candidates, self.matcher(lines), strict=True)
        ]

    def _with_trail(self, candidate: Candidate) -> str:
        """The lines of a candidate below those that say what it is about."""
        file = candidate.file
        above: list[str] = []
        parent = candidate.line.parent
        while parent >= 0 and len(above) < DEEPEST_SHOWN:
            line = self.lines[parent]
            above.append("\n".join(file.lines[line.first - 1 : line.last]))
            parent = line.parent
        own = file.lines[candidate.line.first - 1 : candidate.line.last]
        return "\n".join([self._heading(file, candidate.line.first), *reversed(above), *own])

    def _scored(self, candidate: Candidate, scale: float) -> Candidate:
        priors = sum(value for _, value in candidate.priors)
        score = self.ranking.similarity * candidate.line.score / scale + priors
        if candidate.state in (STATES[State.ENDED], STATES[State.REPLACED]) and not (self.filters.past or self.over):
            score *= LAPSED
        return candidate._replace(score=score, scale=scale)

    def _gather_lapsed(self) -> None:
        """What no longer holds, by the facts of each repository and its archives."""
        self._read(self.memory)
        files = [file for key in self.memory if (file := self.files[key]) is not None]
        if not any(state.may_lapse(line) for file in files for line in file.lines):
            return  # as in most memories, where no file need be read as facts
        facts: dict[int, tuple[list[Statement], list[Statement]]] = {}
        for file in files:
            if file.kind is Kind.MEMORY or any(map(state.may_lapse, file.lines)):
                kinds = facts.setdefault(self._repository(file), ([], []))
                kinds[file.kind is not Kind.MEMORY].extend(statements.read(file.lines))
        self.lapsed = {
            repository: state.lapsed(memory, archive, self.filters.today)
            for repository, (memory, archive) in facts.items()
        }

    def known(self, file: File) -> Lapsed:
        """What no longer holds of the repository of a file."""
        return self.lapsed.get(self._repository(file)) or Lapsed(self.filters.today)

    def _repository(self, file: File) -> int:
        """Which repository a file is of, where there are several: facts of one say nothing of another's lines."""
        return 0

    def _candidate(self, at: int) -> Candidate | None:
        """A scored line that may be a hit, not scored with its priors yet; None for one that may not."""
        line = self.lines[at]
        strip = self.strips[line.strip]
        file = self.files.get((strip.path, strip.oid))
        if file is not None and line.last <= len(file.lines):
            return self._candidate_of(at, line, file)
        return None

    def _candidate_of(self, at: int, line: RankedLine, file: File) -> Candidate | None:
        """The same of the lines of a file; `at` is the scored line that led there."""
        if file.kind is Kind.SESSION and self._heading(file, line.first).endswith(WORD_LISTS):
            return None
        if self._forgotten(file).says_only("\n".join(file.lines[line.first - 1 : line.last])):
            return None
        meta: dict[str, list[str]] = {key: list(values) for key, values in file.front.items()}
        for number in range(line.first, line.last + 1):
            text = file.lines[number - 1]
            if text.endswith("-->"):
                own: dict[str, list[str]] = {}
                for key, value in parse_comment(text)[1]:
                    own.setdefault(key, []).append(value)
                meta.update(own)
        when = _when(meta, file)
        state, whole = self._state(meta, file, line, when)
        filters = self.filters
        if self.over or (state and filters.past):
            then = self._held(meta, file, line)
        else:
            then = UNSAID
        if state == "promoted":
            if not filters.promoted:
                return None
        elif state and whole and not filters.expired and not (self.over and stood(then, when, self.over)):
            return None
        if filters.types and not set(filters.types) & set(meta.get("type", ())):
            return None
        if filters.scope and not _holds_for(filters.scope, meta, file.path):
            return None
        if filters.tags and not set(filters.tags) & set(_tags(meta)):
            return None
        if filters.since or filters.until:
            when = when or self.line_days[file.path, file.oid][line.first - 1]
            if (filters.since and when < filters.since) or (filters.until and when > filters.until):
                return None
        priors = self._priors(meta, file, line, when, state, then)
        return Candidate(at, line, file, 0.0, priors, meta, state, when, 1.0)

    def _forgotten(self, file: File) -> Forgotten:
        """The texts that are masked in a file. MEMORY.md as it is now is what people and hosts read in any case."""
        if file.kind is Kind.MEMORY and not self.commit:
            return NOTHING
        return self.filters.forgotten

    def _state(
        self, meta: dict[str, list[str]], file: File, line: RankedLine, when: date | None
    ) -> tuple[str, bool]:  # fmt: skip
        """The state of a line as `Hit` has it, and whether all of the line has it."""
        known = self.known(file)
        until = next(iter(meta.get("until", ())), "")
        judged = state.of_lines(file.path, line.first, line.last, _lines_of(file, line), until, known, when)
        if judged.state is not State.HOLDS:
            return STATES[judged.state], judged.whole
        if file.kind is Kind.SESSION and file.front.get("promoted", [""])[0].lower() in ("true", "yes", "1"):
            return "promoted", True
        return "", True

    def _held(self, meta: dict[str, list[str]], file: File, line: RankedLine) -> Held:
        return held(meta, self.known(file).since.get(fact_id(_lines_of(file, line))))

    def _priors(
        self, meta: dict[str, list[str]], file: File, line: RankedLine, when: date | None, state: str, then: Held
    ) -> tuple[tuple[str, float], ...]:
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
        # A fact that stands now may have stood then: only one whose line says since when, or until when, is judged.
        if (then.start or then.end or state in ("expired", "superseded")) and stood(then, when, self.filters.days):
            priors.append(("period", weights["period"]))
        elif then.start and self.over and all(named.last and then.start > named.last for named in self.over):
            priors.append(("period", -weights["period"]))
        return tuple((name, value) for name, value in priors if value)

    def _heading(self, file: File, line: int) -> str:
        """The headings above a line, the outer first: those of a section are put together once."""
        above = bisect_right(file.shape.headings, (line, DEEPEST))
        key = file.path, file.oid, above
        if key not in self.headings:
            texts = [text for _, _, text in self._open_headings(file, above) if text]
            self.headings[key] = " > ".join(self._screened(file, texts))
        return self.headings[key]

    def _open_headings(self, file: File, above: int) -> Sequence[tuple[int, int, str]]:
        """(line, level, text) of those of a file's first `above` headings that the line after them stands under."""
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
        """What a passage is about, without the steps that hold a secret: it is shown as its text is."""
        if not steps or not self.index.secrets(file.oid):
            return tuple(steps)
        from gitmem.gate.detectors.secrets.secrets import secret_lines

        hidden = secret_lines("\n".join(steps))
        return tuple(WITHHELD if number in hidden else step for number, step in enumerate(steps, 1))

    def _about(self, file: File, line: int) -> tuple[str, ...]:
        """What a line is about, from the outside in: the note's name, headings, parent items, its table's header."""
        statement = self._statement(file, line)
        if statement is None:
            return ()
        return self._screened(file, statement.trail)

    def _statement(self, file: File, line: int) -> Statement | None:
        """The statement of a line, without its comment; None where none is read."""
        key = file.path, file.oid, line
        if key not in self.statements:
            self.statements[key] = self._read_statement(file, line)
        return self.statements[key]

    def _read_statement(self, file: File, line: int) -> Statement | None:
        """Read the section of a line once, in windows of SECTION lines with as many above: a long flat list would
        otherwise be read anew for each hit."""
        above = self._open_headings(file, bisect_right(file.shape.headings, (line, DEEPEST)))
        window = (line - 1) // SECTION
        first = max(above[-1][0] if above else file.shape.front + 1, (window - 1) * SECTION + 1)
        lines = file.lines
        last = line
        most = max(line + BELOW, (window + 1) * SECTION)
        while last < min(len(lines), most) and lines[last].strip():  # a table's head and a setext line need the next
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
        """Each candidate, with neighbours that are nearly as good, once; near-duplicates of a better hit left out."""
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
        placed: dict[tuple[str, int], int] = {}  # where the hit of a fact is among `hits`
        for candidate in candidates:
            if candidate.at in used or candidate.repeats:
                continue
            if candidate.score < self.filters.min_score:
                break
            promoted = self._promoted_to(candidate, facts, places)
            if promoted:
                members = [promoted]
            else:
                members = self._grow(candidate, by_at, used, slack)
            used.update([candidate.at, *(member.at for member in members)])
            own = [(one.file.path, one.line.first) for one in members]
            hit = self._hit(members[0] if promoted else candidate, members)
            if promoted:
                said = self._hit(candidate, [candidate])
                if (at := placed.get(own[0])) is not None:
                    hits[at] = _with_source(hits[at], said)
                    continue
                hit = _with_source(hit, said)
            words = frozenset(_WORD.findall(hit.text.casefold()))
            if any(_twins(words, other, self.ranking.twins) for other in kept):
                continue
            kept.append(words)
            placed |= dict.fromkeys(own, len(hits))
            hits.append(hit)
            if len(hits) == limit:
                break
        return hits

    def _citing(self, candidates: Sequence[Candidate]) -> Mapping[str, Sequence[Citing]]:
        """The lines of logs that facts cite, by path; none where a line that was promoted may answer by itself."""
        if self.filters.promoted_lines:
            return {}
        paths = {one.file.path for one in candidates if one.file.kind not in (Kind.MEMORY, Kind.ARCHIVE)}
        files = ((key, file.lines) for key in self.memory if (file := self.files.get(key)) is not None)
        if not paths:
            return {}
        return citing(files, paths)

    def _promoted_to(
        self, candidate: Candidate, facts: Mapping[str, Sequence[Citing]], places: Mapping[tuple[str, int], Candidate]
    ) -> Candidate | None:
        """The fact that a line of a log was promoted to, as good an answer as the line; None where the line is none, or
        where that fact may be no hit."""
        file, line = candidate.file, candidate.line
        if not facts or file.kind in (Kind.MEMORY, Kind.ARCHIVE):
            return None
        if candidate.state == "promoted":  # who asks for the episodes of a digest gets them, and not the digest again
            return None
        cited = facts.get(file.path, ())
        fact = None
        if cited:
            fact = fact_of(cited, line.first, line.last, self._text(candidate))
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

    def _grow(self, centre: Candidate, by_at: dict[int, Candidate], used: set[int], slack: float) -> list[Candidate]:
        members = [centre]
        size = sum(len(centre.file.lines[n - 1]) for n in range(centre.line.first, centre.line.last + 1))
        # A fact of MEMORY.md says all by itself; a short line elsewhere is often half of what was said.
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
        """Whether a line names another thing than the one that was asked for: it stands in no passage about that."""
        return self.question is not None and subjects.names_another(self._text(other), self.question.text)

    def _of_one_item(self, other: Candidate, members: Sequence[Candidate]) -> bool:
        """Whether a line may stand in one passage with these: it stands beside them below the same, or one of them is
        what the other is about. Parts of two items are not joined."""
        if other.line.flags & ROW:
            rows = [member for member in members if member.line.flags & ROW]
        else:
            rows = []
        if any(row.line.parent == other.line.parent for row in rows):
            return False  # each row of a table is of a thing of its own
        if any(other.at == member.line.parent or member.at == other.line.parent for member in members):
            return True
        beside = all(other.line.parent == member.line.parent for member in members)
        return beside and not any(self._has_others_below(one.at) for one in (other, *members))

    def _has_others_below(self, at: int) -> bool:
        return at + 1 < len(self.lines) and self.lines.parents[at + 1] == at

    def _linked_to(self, other: Candidate, members: Sequence[Candidate]) -> bool:
        """Whether a line amends one of these or the other way round: they do not stand in one passage."""
        ends = [*self.amended.get(other.at, ()), *self.amending.get(other.at, ())]
        return any(member.at == end.at for end, _ in ends for member in members)

    def _hit(self, best: Candidate, members: list[Candidate]) -> Hit:
        file = best.file
        first, last = members[0].line.first, members[-1].line.last
        text = "\n".join(_visible(line) for line in file.lines[first - 1 : last])
        if hidden := self._hidden(file):
            lines = enumerate(text.split("\n"), first)
            text = "\n".join(WITHHELD if number in hidden else line for number, line in lines)
        mask = self._forgotten(file).masked
        text = mask(text)
        meta = best.meta
        self._ask_code(members)
        code = tuple(dict.fromkeys(said for member in members for said in self._code_of(member)))
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
            date=best.when.isoformat() if best.when else "",
            type=next(iter(meta.get("type", ())), ""),
            tags=_tags(meta),
            origin=worst_origin(*file.front.get("origin", ()), *meta.get("origin", ())),
            trust="promoted" if "src" in meta else "committed",
            blob=file.oid,
            id=fact_id(text),
            state=best.state or ("changed" if any(said.state == "changed" for said in code) else ""),
            code=code,
            chunk=self._chunk_of(best.line),
            raw=best.line.score,
            scale=best.scale,
            evidence=best.line.evidence,
            priors=best.priors,
            amended_by=self._linked(members, self.amended, later=True),
            supersedes=self._linked(members, self.amending),
            differs=self._linked(members, self.differing),
            sources=_sources(meta) if file.kind in (Kind.MEMORY, Kind.ARCHIVE) else (),
        )

    def _linked(
        self, members: list[Candidate], links: Mapping[int, Sequence[tuple[Candidate, Link]]], later: bool = False
    ) -> tuple[Linked, ...]:
        """The other ends of the links of these lines, which are the `later` ones or the earlier; newest first, of one
        file the best."""
        made: dict[str, Linked] = {}
        for member in members:
            for other, link in sorted(links.get(member.at, ()), key=lambda end: (end[1].proposed, -end[0].score)):
                # of a line of no day, as Git has it
                unsaid = ""
                if later:
                    unsaid = link.day
                if other.when:
                    day = other.when.isoformat()
                else:
                    day = unsaid
                line, ident = other.line, fact_id(self._text(other))
                reason = self._forgotten(other.file).masked(link.reason) or BY_HAND
                made.setdefault(
                    other.file.path,
                    Linked(
                        other.file.path, line.first, line.last, day, ident, link.proposed, reason, member.line.first
                    ),
                )
        return tuple(sorted(made.values(), key=lambda linked: linked.date, reverse=True))

    def _chunk_of(self, line: RankedLine) -> int:
        containing = 0
        for chunk, start, _, _ in self.strips[line.strip].chunks:
            if start > line.first:
                break
            containing = chunk
        return containing


def written(repo: Repository, path: str, line: int, commit: str, today: date) -> str:
    """The moment at which a line was written, as of a commit, "" for the work tree: as `Passages._written` has it."""
    try:
        (found,) = repo.blame(path, line, line, commit)
        if not found.commit.strip("0"):
            return f"{today.isoformat()}T24"
        return repo.commit(found.commit).author_date.astimezone(UTC).isoformat()
    except (GitMemError, ValueError):
        return ""


def _lines_of(file: File, line: RankedLine) -> str:
    return "\n".join(file.lines[line.first - 1 : line.last])


def _heading_lies_between(file: File, members: list[Candidate], other: Candidate) -> bool:
    """Whether a heading lies between: a passage is of one section."""
    low = min(members[0].line.last, other.line.last)
    high = max(members[-1].line.first, other.line.first)
    return any(low < number <= high for number, _ in file.shape.headings)


def _visible(line: str) -> str:
    if line.endswith("-->"):
        return parse_comment(line)[0]
    return line


def _twins(words: frozenset[str], other: frozenset[str], share: float) -> bool:
    """Nearly the same words: Jaccard of at least `share`.

    What looks the same to a reader, not what says the same: two passages whose numbers differ are twins here. And a
    search does not pay for importing memory/similarity.py.
    """
    if not words or min(len(words), len(other)) < share * max(len(words), len(other)):
        return words == other
    both = len(words & other)
    return both >= share * (len(words) + len(other) - both)


def _sources(meta: Mapping[str, Sequence[str]]) -> tuple[SourceLine, ...]:
    """The lines that a fact cites."""
    spans = (parse_span(value) for value in meta.get("src", ()))
    return tuple(SourceLine(span.path, span.start_line, span.end_line) for span in spans if span is not None)


def _with_source(hit: Hit, found: Hit) -> Hit:
    """The hit of a fact with the lines of a log that led to it, before those that were not found."""
    source = SourceLine(found.path, found.start_line, found.end_line, found.text)
    others = [one for one in hit.sources if one.text or not _overlap(one, source)]
    before = [one for one in others if one.text]
    return hit._replace(sources=(*before, source, *(one for one in others if not one.text)))


def _overlap(one: SourceLine, other: SourceLine) -> bool:
    return one.path == other.path and one.start_line <= other.end_line and other.start_line <= one.end_line


def _holds_for(folder: str, meta: dict[str, list[str]], path: str) -> bool:
    """Whether lines with these keys hold for a folder or one below it."""
    from gitmem.memory.folder_scope import folder_of_keys

    return f"{folder_of_keys(meta, path)}/".startswith(f"{folder}/")


def _tags(meta: dict[str, list[str]]) -> tuple[str, ...]:
    return tuple(tag.strip() for value in meta.get("tags", ()) for tag in value.split(",") if tag.strip())


def _when(meta: dict[str, list[str]], file: File) -> date | None:
    """The day a line is of: the one in the file's name, else its own `from` or `date`, else the one in its source's
    name; None where none of these has one."""
    if file.when is not None:
        return file.when
    for key in ("from", "date"):
        for value in meta.get(key, ()):
            if (named := day(value)) is not None:
                return named
    for value in meta.get("src", ()):
        span = parse_span(value)
        if span is not None and (named := log_date(span.path)) is not None:
            return named
    return None
