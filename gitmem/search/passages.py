"""From scored lines to hits: reads the text, judges expiry, adds the priors, joins neighbours, drops near-duplicates.

The text is that of the blob or the work-tree file the index names, checked by its hash: a damaged index can lose a
hit, never invent one. A fenced block is never cut. Never ranks by anything that is not in `ranking`.
"""

# Annotations are not postponed here: as text, each field of a named tuple is compiled when a search starts.
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from math import exp
from typing import NamedTuple

from gitmem.config import Config
from gitmem.git.protocol import Repository
from gitmem.index.db.reader import Index
from gitmem.index.db.values import Shape
from gitmem.index.line_records import ASKS, HEADING
from gitmem.memory.dates import Days
from gitmem.memory.fact import fact_id, parse_comment, parse_span, worst_origin
from gitmem.memory.snapshot import read
from gitmem.paths import Kind, kind, log_date
from gitmem.search.hits import Hit, blamed, text_lines, trusted
from gitmem.search.ranking import Ranking
from gitmem.search.scoring import RankedLine, Strip, with_matches
from gitmem.search.validity import Held, day, held, over, stood, superseded

_DECIDED = re.compile(r"(?i:decision|decided|constraint|policy)|결정|제약|정책|決定|制約|方針|决定|约束|政策")
_WORD = re.compile(r"\w+")
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

    @property
    def narrow(self) -> bool:
        """Whether lines of the pool may well be left out."""
        return bool(self.types or self.tags or self.since or self.until)


class Source:
    """Where passages are read: as of `commit`, "" for the work tree. A plain class: a search makes it when it starts,
    and a named tuple takes 0.2 ms."""

    __slots__ = ("commit", "config", "index", "repo")

    def __init__(self, repo: Repository, config: Config, index: Index, commit: str) -> None:
        self.repo = repo
        self.config = config
        self.index = index
        self.commit = commit


class _File(NamedTuple):
    """A file that was read: its lines, shape, date and front matter."""

    path: str
    oid: str
    lines: list[str]
    shape: Shape
    front: dict[str, list[str]]
    when: date | None
    kind: Kind


class _Candidate(NamedTuple):
    at: int  # index into the scored lines
    line: RankedLine
    file: _File
    score: float  # as it orders; shown as 0..1
    priors: tuple[tuple[str, float], ...]
    meta: dict[str, list[str]]
    state: str
    when: date | None
    scale: float


class Passages:
    """The hits of one answer. Lives as long as the search."""

    def __init__(
        self,
        source: Source,
        strips: Sequence[Strip],
        lines: Sequence[RankedLine],
        filters: Filters,
        ranking: Ranking,
        matcher: Matcher | None = None,
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
        self.files: dict[tuple[str, str], _File | None] = {}
        self.line_days: Mapping[tuple[str, str], Sequence[date]] = {}
        self.superseded: dict[str, date | None] = {}
        self.over = over(filters.days, filters.today)
        self.limit = 0

    def hits(self, limit: int, *, blame: bool = False) -> tuple[Hit, ...]:
        """At most `limit` hits, best first."""
        self.limit = limit
        candidates = self._candidates()
        made = self._join(candidates, limit)
        if not self.commit:
            made = trusted(self.repo, made, lambda hit: self._lines(hit.path, hit.blob))
        if blame:
            made = [blamed(self.repo, hit, self.commit) for hit in made]
        return tuple(made)

    # -- reading ---------------------------------------------------------------------------------------------

    def _read(self, keys: Iterable[tuple[str, str]]) -> None:
        wanted = [key for key in dict.fromkeys(keys) if key not in self.files]
        if not wanted:
            return
        contents = read(self.repo, wanted, self.commit)
        shapes = self.index.shapes({oid for _, oid in wanted})
        for path, oid in wanted:
            data = contents.get((path, oid))
            if data is None:
                self.files[path, oid] = None
                continue
            shape = shapes.get(oid, Shape())
            front: dict[str, list[str]] = {}
            for key, value in shape.keys:
                front.setdefault(key, []).append(value)
            self.files[path, oid] = _File(path, oid, text_lines(data), shape, front, log_date(path), kind(path))

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

    def _candidates(self) -> list[_Candidate]:
        """The best lines that may be hits, with their priors, best first. How many are read never depends on -n."""
        ranked = [
            at
            for at in sorted(range(len(self.lines)), key=lambda at: (-self.lines[at].score, at))
            if not self.lines[at].flags & HEADING
        ]
        ranking = self.ranking
        if not self.filters.narrow:
            ranked = ranked[: ranking.read if self.limit <= ranking.few else ranking.read_many]
        numbers = dict.fromkeys(self.lines[at].strip for at in ranked)
        self._read((self.strips[number].path, self.strips[number].oid) for number in numbers)
        self._read_line_days()
        self._gather_superseded()
        candidates = [candidate for at in ranked if (candidate := self._candidate(at)) is not None]
        best = set(ranked[: ranking.matched])
        # Never more for a larger -n; with filters all lines were read, and the best that passed are matched.
        first = [candidate for candidate in candidates if self.filters.narrow or candidate.at in best][
            : ranking.matched
        ]
        candidates[: len(first)] = self._matched(first)
        scale = max([ranking.full, *(candidate.line.score for candidate in candidates)])
        candidates = [self._scored(candidate, scale) for candidate in candidates]
        candidates.sort(key=lambda c: (-c.score, c.at))
        return candidates

    def _matched(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """The same, matched word by word."""
        if self.matcher is None or not candidates:
            return candidates
        lines = [(c.at, c.line.strip, "\n".join(c.file.lines[c.line.first - 1 : c.line.last])) for c in candidates]
        return [
            candidate._replace(line=with_matches(candidate.line, own, around, self.ranking))
            for candidate, (own, around) in zip(candidates, self.matcher(lines), strict=True)
        ]

    def _scored(self, candidate: _Candidate, scale: float) -> _Candidate:
        priors = sum(value for _, value in candidate.priors)
        score = self.ranking.similarity * candidate.line.score / scale + priors
        return candidate._replace(score=score, scale=scale)

    def _gather_superseded(self) -> None:
        for file in self.files.values():
            if file is not None and file.kind is Kind.MEMORY:
                self.superseded |= superseded(file.lines)

    def _candidate(self, at: int) -> _Candidate | None:
        """A line that may be a hit, not scored yet; None for one that may not."""
        line = self.lines[at]
        strip = self.strips[line.strip]
        file = self.files.get((strip.path, strip.oid))
        if file is None or line.last > len(file.lines):
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
        state = self._state(meta, file, line)
        filters = self.filters
        then = self._held(meta, file, line) if self.over or (state and filters.past) else Held()
        if state == "promoted":
            if not filters.promoted:
                return None
        elif state and not filters.expired and not (self.over and stood(then, when, self.over)):
            return None
        if filters.types and not set(filters.types) & set(meta.get("type", ())):
            return None
        if filters.tags and not set(filters.tags) & set(_tags(meta)):
            return None
        if filters.since or filters.until:
            when = when or self.line_days[file.path, file.oid][line.first - 1]
            if (filters.since and when < filters.since) or (filters.until and when > filters.until):
                return None
        priors = self._priors(meta, file, line, when, state, then)
        return _Candidate(at, line, file, 0.0, priors, meta, state, when, 1.0)

    def _state(self, meta: dict[str, list[str]], file: _File, line: RankedLine) -> str:
        until = day(next(iter(meta.get("until", ())), ""))
        if until is not None and until < self.filters.today:
            return "expired"
        if self.superseded and fact_id("\n".join(file.lines[line.first - 1 : line.last])) in self.superseded:
            return "superseded"
        if file.kind is Kind.SESSION and file.front.get("promoted", [""])[0].lower() in ("true", "yes", "1"):
            return "promoted"
        return ""

    def _held(self, meta: dict[str, list[str]], file: _File, line: RankedLine) -> Held:
        ended = (
            self.superseded.get(fact_id("\n".join(file.lines[line.first - 1 : line.last]))) if self.superseded else None
        )
        return held(meta, ended)

    def _priors(
        self, meta: dict[str, list[str]], file: _File, line: RankedLine, when: date | None, state: str, then: Held
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

    def _heading(self, file: _File, line: int) -> str:
        trail: list[tuple[int, int]] = []
        for number, level in file.shape.headings:
            if number > line:
                break
            while trail and trail[-1][1] >= level:
                trail.pop()
            trail.append((number, level))
        texts = [file.lines[n - 1].strip().strip("#").strip() for n, _ in trail if n <= len(file.lines)]
        return " > ".join(text for text in texts if text)

    # -- joining ---------------------------------------------------------------------------------------------

    def _join(self, candidates: list[_Candidate], limit: int) -> list[Hit]:
        """Each candidate, with neighbours that are nearly as good, once; near-duplicates of a better hit left out."""
        if not candidates:
            return []
        by_at = {candidate.at: candidate for candidate in candidates}
        top = candidates[0].score
        low = candidates[len(candidates) // 2].score if len(candidates) > 2 else 0.0
        slack = self.ranking.join * max(0.0, top - low)
        used: set[int] = set()
        hits: list[Hit] = []
        kept: list[frozenset[str]] = []
        for candidate in candidates:
            if candidate.at in used:
                continue
            if candidate.score < self.filters.min_score:
                break
            members = self._grow(candidate, by_at, used, slack)
            used.update(member.at for member in members)
            hit = self._hit(candidate, members)
            words = frozenset(_WORD.findall(hit.text.casefold()))
            if any(_twins(words, other, self.ranking.twins) for other in kept):
                continue
            kept.append(words)
            hits.append(hit)
            if len(hits) == limit:
                break
        return hits

    def _grow(self, centre: _Candidate, by_at: dict[int, _Candidate], used: set[int], slack: float) -> list[_Candidate]:
        members = [centre]
        size = sum(len(centre.file.lines[n - 1]) for n in range(centre.line.first, centre.line.last + 1))
        # A fact of MEMORY.md says all by itself; a short line elsewhere is often half of what was said.
        least = 0 if centre.file.kind is Kind.MEMORY else self.ranking.short
        while len(members) < self.ranking.joined:
            best = None
            for at in (members[0].at - 1, members[-1].at + 1):
                other = by_at.get(at)
                if (
                    other is None
                    or at in used
                    or other.line.strip != centre.line.strip
                    or other.state != centre.state
                    or _between(centre.file, members, other)
                ):
                    continue
                answers = at == members[-1].at + 1 and members[-1].line.flags & ASKS and size < self.ranking.short
                near = other.score >= centre.score - slack or answers or size < least
                if near and (best is None or other.score > best.score):
                    best = other
            if best is None:
                break
            members = [best, *members] if best.at < members[0].at else [*members, best]
            size += sum(len(best.file.lines[n - 1]) for n in range(best.line.first, best.line.last + 1))
        return members

    def _hit(self, best: _Candidate, members: list[_Candidate]) -> Hit:
        file = best.file
        first, last = members[0].line.first, members[-1].line.last
        text = "\n".join(_visible(line) for line in file.lines[first - 1 : last])
        if self.index.secrets(file.oid):
            text = _without_secrets(file.lines, first, last)
        meta = best.meta
        return Hit(
            path=file.path,
            start_line=first,
            end_line=last,
            heading=self._heading(file, best.line.first),
            text=text,
            score=round(min(1.0, max(0.0, best.score)), 4),
            date=best.when.isoformat() if best.when else "",
            type=next(iter(meta.get("type", ())), ""),
            tags=_tags(meta),
            origin=worst_origin(*file.front.get("origin", ()), *meta.get("origin", ())),
            trust="promoted" if "src" in meta else "committed",
            blob=file.oid,
            id=fact_id(text),
            state=best.state,
            chunk=self._chunk_of(best.line),
            raw=best.line.score,
            scale=best.scale,
            evidence=best.line.evidence,
            priors=best.priors,
        )

    def _chunk_of(self, line: RankedLine) -> int:
        containing = 0
        for chunk, start, _ in self.strips[line.strip].chunks:
            if start > line.first:
                break
            containing = chunk
        return containing


def _between(file: _File, members: list[_Candidate], other: _Candidate) -> bool:
    """Whether a heading lies between: a passage is of one section."""
    low = min(members[0].line.last, other.line.last)
    high = max(members[-1].line.first, other.line.first)
    return any(low < number <= high for number, _ in file.shape.headings)


def _without_secrets(lines: list[str], first: int, last: int) -> str:
    """The lines of a passage, those with a secret left out: the index has no words of them, an answer no text."""
    from gitmem.gate.detectors.secrets.secrets import secret_lines

    hidden = secret_lines("\n".join(lines))
    return "\n".join(
        "[a line with a secret]" if number in hidden else _visible(lines[number - 1])
        for number in range(first, last + 1)
    )


def _visible(line: str) -> str:
    return parse_comment(line)[0] if line.endswith("-->") else line


def _twins(words: frozenset[str], other: frozenset[str], share: float) -> bool:
    """Nearly the same words: Jaccard of at least `share`.

    What looks the same to a reader, not what says the same: two passages whose numbers differ are twins here. And a
    search does not pay for importing memory/similarity.py.
    """
    if not words or min(len(words), len(other)) < share * max(len(words), len(other)):
        return words == other
    both = len(words & other)
    return both >= share * (len(words) + len(other) - both)


def _tags(meta: dict[str, list[str]]) -> tuple[str, ...]:
    return tuple(tag.strip() for value in meta.get("tags", ()) for tag in value.split(",") if tag.strip())


def _when(meta: dict[str, list[str]], file: _File) -> date | None:
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
