"""Makes candidates of scored lines: reads the metadata and the state of each line, drops lines that a search must not
show, and adds priors to the score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from math import exp
from typing import TYPE_CHECKING, NamedTuple

from gitmem.index.line_records import HEADING
from gitmem.lazy_patterns import lazy
from gitmem.memory import state, statements
from gitmem.memory.fact import IMPORTANCE, fact_id, importance_of, parse_comment, parse_span
from gitmem.memory.state import LapsedFacts, State, iso_day
from gitmem.paths import Kind, log_date
from gitmem.search.file_reading import FileReader
from gitmem.search.memory_file import MemoryFile
from gitmem.search.query import ParsedQuery
from gitmem.search.scoring import RankedLine
from gitmem.search.validity import Period, past_periods, period_of, was_valid_during
from gitmem.text.languages import LANGUAGES

if TYPE_CHECKING:
    from gitmem.memory.statements import Statement

LAPSED_SHARE = 0.5  # share of its score that an expired or superseded line keeps if the question is about the present
NO_PERIOD = Period()
STATES = {State.HOLDS: "", State.ENDED: "expired", State.REPLACED: "superseded", State.FORGOTTEN: "forgotten"}
WORD_LISTS = "Topics"  # heading of an episode's section of words (`sessions/episode.py`), which answers no question
_LAPSED = (STATES[State.ENDED], STATES[State.REPLACED])
_KIND_PRIORS = {Kind.MEMORY: "memory", Kind.DAILY: "daily", Kind.ARCHIVE: "archive"}
_DECIDED = lazy(f"(?i:{'|'.join(each.DECISION_NAMES for each in LANGUAGES)})")
_DECIDED_TYPES = frozenset({"decision", "constraint", "policy"})


class Candidate(NamedTuple):
    """A line that may be a hit.

    `unit`: its index among the scored lines. `meta`: key of its file's front matter or of its comment -> values.
    `when`: its day, None if unknown. `state`: why it is not current ("expired", "superseded", "promoted"; see
    `Hit.state`), "" if it is. `priors`: (name, amount that it adds to the score). `score`: the final score, which may
    be outside 0..1. `scale`: the divisor of its own score. `repeats`: whether a line of a log has the same text, so
    that this line is not a hit.
    """

    unit: int
    line: RankedLine
    file: MemoryFile
    meta: Mapping[str, Sequence[str]]
    when: date | None
    state: str = ""
    priors: tuple[tuple[str, float], ...] = ()
    score: float = 0.0
    scale: float = 1.0
    repeats: bool = False

    @property
    def source_text(self) -> str:
        """The text of its lines with their comments."""
        return self.file.text(self.line.first, self.line.last)

    @property
    def text(self) -> str:
        """The text of its lines without their comments."""
        return self.file.visible_text(self.line.first, self.line.last)

    @property
    def heading(self) -> str:
        """The headings above it, joined by " > "."""
        return self.file.heading(self.line.first)

    @property
    def trail(self) -> tuple[str, ...]:
        """What it is about, outermost first: the note's name, headings, parent items, the table's header
        (`MemoryFile.trail`)."""
        return self.file.trail(self.line.first)

    @property
    def place(self) -> tuple[str, int]:
        """(path, first line): where it is."""
        return self.file.path, self.line.first

    @property
    def iso_day(self) -> str:
        """Its day as ISO text, "" if it is unknown."""
        return self.when.isoformat() if self.when is not None else ""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags in its file's front matter and in its own comment."""
        return tuple(tag.strip() for value in self.meta.get("tags", ()) for tag in value.split(",") if tag.strip())

    def first(self, key: str) -> str:
        """The first value of a metadata key, "" without one."""
        return next(iter(self.meta.get(key, ())), "")


def best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates with the highest score first; those with equal scores in the order of their lines."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.unit))


def with_scores(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    """The candidates, each with the score at its position in `scores`."""
    return [candidate._replace(score=score) for candidate, score in zip(candidates, scores, strict=True)]


class CandidateMaker:
    """Makes the candidates of one search. `lapsed`: number of a repository -> its facts that no longer hold.
    `read_facts` fills it, and is called before the first candidate is made."""

    def __init__(self, reader: FileReader, parsed: ParsedQuery) -> None:
        self.reader = reader
        self.parsed = parsed
        self.ranking = parsed.ranking
        self.question = parsed.question
        self.today = parsed.today
        self.past_periods = past_periods(parsed.question.days, parsed.today)
        self.lapsed: dict[int, LapsedFacts] = {}

    def read_facts(self) -> None:
        """Fill `lapsed` from the facts of each repository's MEMORY.md and archives."""
        keys = self.reader.memory.fact_files
        self.reader.read(keys)
        read = [self.reader.files[key] for key in keys]
        files = [file for file in read if file is not None]
        lapsing = [file for file in files if any(map(state.may_lapse, file.lines))]
        if not lapsing:
            return  # most memories have no such line, and then no file need be parsed for facts
        facts: dict[int, tuple[list[Statement], list[Statement]]] = {}
        for file in files:
            if file.kind is Kind.MEMORY or file in lapsing:
                kinds = facts.setdefault(self.reader.repository(file), ([], []))
                kinds[file.kind is not Kind.MEMORY].extend(statements.read(file.lines))
        self.lapsed = {
            repository: state.lapsed_facts(memory, archive, self.today)
            for repository, (memory, archive) in facts.items()
        }

    def lapsed_of(self, file: MemoryFile) -> LapsedFacts:
        """The facts that ended or were replaced in the repository of a file."""
        return self.lapsed.get(self.reader.repository(file)) or LapsedFacts(self.today)

    def candidate(self, unit: int, line: RankedLine, file: MemoryFile) -> Candidate | None:
        """The candidate of lines of a file, with its state and priors but without its final score; None if the lines do
        not meet the query's filters, are no longer current (unless the query wants such lines), or were forgotten.

        `unit`: that of the scored line that the candidate takes the place of. For a query with `since` or `until`
        the reader must have filled its `line_days`.
        """
        query = self.parsed.query
        if file.kind is Kind.SESSION and file.heading(line.first).endswith(WORD_LISTS):
            return None
        if line.flags & HEADING and not statements.heading_topic(file.lines[line.first - 1].lstrip("# ")):
            return None
        if self.reader.forgotten(file).is_removed_text(file.text(line.first, line.last)):
            return None
        meta = _meta(file, line)
        candidate = Candidate(unit, line, file, meta, _day_of(meta, file))
        if (
            (query.types and not set(query.types) & set(meta.get("type", ())))
            or (query.scope and not _applies_to(query.scope, meta, file.path))
            or (query.tags and not set(query.tags) & set(candidate.tags))
        ):
            return None
        candidate, whole = self._with_state(candidate)
        period = NO_PERIOD
        if self.past_periods or (candidate.state and self.question.past):
            period = period_of(meta, self.lapsed_of(file).since.get(fact_id(candidate.source_text)))
        if candidate.state == "promoted":
            shown = self.parsed.wants_promoted_episodes
        else:
            valid = was_valid_during(period, candidate.when, self.past_periods)
            shown = valid or self.parsed.wants_expired or not (candidate.state and whole)
        if not shown:
            return None
        if query.since or query.until:
            when = candidate.when or self.reader.line_days[file.key][line.first - 1]
            if not self.parsed.has_day(when):
                return None
            candidate = candidate._replace(when=when)
        return candidate._replace(priors=self._priors(candidate, period))

    def scored(self, candidate: Candidate, scale: float) -> Candidate:
        """The candidate with its final score: its line's score divided by `scale`, weighted, plus its priors; lowered
        for an expired or superseded line unless the question is about the past."""
        priors = sum(value for _, value in candidate.priors)
        score = self.ranking.similarity * candidate.line.score / scale + priors
        if candidate.state in _LAPSED and not (self.question.past or self.past_periods):
            score *= LAPSED_SHARE
        return candidate._replace(score=score, scale=scale)

    def _with_state(self, candidate: Candidate) -> tuple[Candidate, bool]:
        """(the candidate with its state, whether all of its lines are in that state)."""
        file, line, until = candidate.file, candidate.line, candidate.first("until")
        lines = state.MemoryLines(file.path, line.first, line.last, candidate.source_text, until, candidate.when)
        judged = state.state_of_lines(lines, self.lapsed_of(file))
        if judged.state is not State.HOLDS:
            return candidate._replace(state=STATES[judged.state]), judged.whole
        if file.kind is Kind.SESSION and file.front.get("promoted", [""])[0].lower() in ("true", "yes", "1"):
            return candidate._replace(state="promoted"), True
        return candidate, True

    def _priors(self, candidate: Candidate, period: Period) -> tuple[tuple[str, float], ...]:
        """(name, value) of each prior other than 0: the part of the score that depends on file, type, age and state.
        `period`: in which the line was valid."""
        weights = self.ranking.priors
        shares: dict[str, float] = {}  # name of a prior -> the share of it that the line gets
        if candidate.file.kind in _KIND_PRIORS:
            shares[_KIND_PRIORS[candidate.file.kind]] = 1
        if _DECIDED_TYPES & set(candidate.meta.get("type", ())) or _DECIDED.search(candidate.heading):
            shares["decided"] = 1
        shares["importance"] = importance_of(candidate.meta.get("importance", ("",))[0]) - IMPORTANCE
        if candidate.when is not None and candidate.file.kind is not Kind.MEMORY:
            shares["recent"] = exp(-self.ranking.decay * max(0, (self.today - candidate.when).days))
        if "duplicate_of" in candidate.meta:
            shares["duplicate"] = 1
        if candidate.state and candidate.state != "promoted" and self.question.past:
            shares["past"] = 1
        days = self.question.days
        # A fact that holds now may have held in the period asked about: only a line that names a day is judged.
        has_period = period.start or period.end or candidate.state in _LAPSED
        past_ends = [named.last for named in self.past_periods if named.last]
        if has_period and was_valid_during(period, candidate.when, days):
            shares["period"] = 1
        elif period.start and self.past_periods and all(period.start > end for end in past_ends):
            shares["period"] = -1
        priors = ((name, weights[name] * share) for name, share in shares.items())
        return tuple((name, value) for name, value in priors if value)


def _meta(file: MemoryFile, line: RankedLine) -> dict[str, list[str]]:
    """The metadata of lines: key of the file's front matter or of their comments -> values. A later line's key
    replaces an earlier one's."""
    meta = {key: list(values) for key, values in file.front.items()}
    for text in file.lines[line.first - 1 : line.last]:
        if text.endswith("-->"):
            comment_keys: dict[str, list[str]] = {}
            for key, value in parse_comment(text)[1]:
                comment_keys.setdefault(key, []).append(value)
            meta.update(comment_keys)
    return meta


def _applies_to(folder: str, meta: dict[str, list[str]], path: str) -> bool:
    """Whether lines with these metadata keys apply to `folder` or to a folder below it."""
    from gitmem.memory.folder_scope import folder_of_keys

    return f"{folder_of_keys(meta, path)}/".startswith(f"{folder}/")


def _day_of(meta: Mapping[str, Sequence[str]], file: MemoryFile) -> date | None:
    """The day of a line: in its file's name, else in its key `from` or `date`, else in the name of its source file;
    None if none of these has a day.
    """
    if file.when is not None:
        return file.when
    for key in ("from", "date"):
        for value in meta.get(key, ()):
            if (day := iso_day(value)) is not None:
                return day
    for value in meta.get("src", ()):
        span = parse_span(value)
        if span is not None and (day := log_date(span.path)) is not None:
            return day
    return None
