"""Turns scored lines into hits: orders the candidates, joins neighbours to passages, and leaves out repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import ABOUT, fact_id, parse_span, worst_origin
from gitmem.paths import Kind
from gitmem.search import subjects
from gitmem.search.candidate_links import CandidateLinks
from gitmem.search.candidates import Candidate, CandidateMaker, best_first, with_scores
from gitmem.search.changed_code import ChangedCode
from gitmem.search.file_reading import FileReader, SearchedMemory
from gitmem.search.hits import Hit, SourceLine, with_source
from gitmem.search.memory_file import WITHHELD, FileKey
from gitmem.search.neighbours import NeighbourJoin
from gitmem.search.promoted_facts import Citation, citations_by_file, promoted_fact
from gitmem.search.query import ParsedQuery
from gitmem.search.scoring import ScoredLines, with_matches
from gitmem.text.heading_words import leading_topic

MAX_PARENT_ITEMS = 8  # parent items of a line that are matched together with it
NAMES = ("title", "name", "aliases", "description")  # front matter keys that name a note
_WORD = lazy(r"\w+")

# (position, strip, text) of lines -> (score of each line, score with its neighbours), 0..1 (`late_interaction`).
Matcher = Callable[[Sequence[tuple[int, int, str]]], Sequence[tuple[float, float]]]


class Passages:
    """Makes the hits of one search.

    `memory`: the memory that is searched. `lines`: its scored lines. `matcher`: compares lines with the question word
    by word; None without word vectors. `reader`: makes the reader of the files.
    """

    def __init__(
        self,
        memory: SearchedMemory,
        parsed: ParsedQuery,
        lines: ScoredLines,
        matcher: Matcher | None = None,
        reader: Callable[[SearchedMemory], FileReader] = FileReader,
    ) -> None:
        self.parsed = parsed
        self.ranking = parsed.ranking
        self.question = parsed.question
        self.lines = lines
        self.matcher = matcher
        self.reader = reader(memory)
        self.maker = CandidateMaker(self.reader, parsed)
        self.links = CandidateLinks(self.reader, parsed.question)
        self.code = ChangedCode(self.reader)

    def hits(self, limit: int, *, blame: bool = False) -> tuple[Hit, ...]:
        """At most `limit` hits, best first. `blame`: whether they get commit and author."""
        return tuple(self._with_provenance(self._join(self._candidates(limit), limit), blame))

    def _with_provenance(self, hits: list[Hit], blame: bool) -> list[Hit]:
        return self.reader.with_provenance(hits, blame)

    # -- candidates ------------------------------------------------------------------------------------------

    def _candidates(self, limit: int) -> list[Candidate]:
        """The lines that may be among `limit` hits, with final scores, best first."""
        ranking, narrow = self.ranking, self.parsed.is_narrow
        ranked = self.lines.ranked()
        if not narrow:
            ranked = ranked[: ranking.read if limit <= ranking.few else ranking.read_many]
        self._read(self.lines.strip_of(at).key for at in ranked)
        if self.parsed.query.since or self.parsed.query.until:
            self.reader.read_line_days()
        self.maker.read_facts()
        read = map(self._candidate, ranked)
        candidates = [candidate for candidate in read if candidate is not None]
        # How many are matched does not depend on -n. With filters all lines were read; the best that passed count.
        best = set(ranked[: ranking.matched])
        top = [candidate for candidate in candidates if narrow or candidate.unit in best][: ranking.matched]
        candidates[: len(top)] = self._matched(top)
        scale = max([ranking.full, *(candidate.line.score for candidate in candidates)])
        candidates = _with_repeats_marked([self.maker.scored(candidate, scale) for candidate in candidates])
        if self.question.only_days and any(strip.days == 1.0 for strip in self.lines.strips):
            return self._day_by_day(candidates)
        candidates = best_first(candidates)
        linked = self._subject_first(self.links.newest_first(candidates[: ranking.linked]))
        candidates = best_first([*linked, *candidates[ranking.linked :]])
        if any("code" in candidate.meta for candidate in candidates):
            return self.code.deleted_last(candidates, limit)
        return candidates

    def _read(self, keys: Iterable[FileKey]) -> None:
        """Read the files of these (path, oid)."""
        self.reader.read(keys)

    def _candidate(self, index: int) -> Candidate | None:
        """The candidate of a scored line, without its final score; None if the line cannot be a hit."""
        line = self.lines[index]
        file = self.reader.files.get(self.lines.strip_of(index).key)
        if file is not None and line.last <= len(file.lines):
            return self.maker.candidate(index, line, file)
        return None

    def _matched(self, candidates: list[Candidate]) -> list[Candidate]:
        """All candidates, with the evidence of `late_interaction` if the search has a matcher."""
        if self.matcher is None or not candidates:
            return candidates
        lines = [(c.unit, c.line.strip, self._with_headings(c)) for c in candidates]
        matched = []
        for candidate, (line_match, window_match) in zip(candidates, self.matcher(lines), strict=True):
            if self.lines.meaning:
                share = self.lines.meaning[candidate.unit]
                line_match, window_match = share * line_match, share * window_match
            line = with_matches(candidate.line, line_match, window_match, self.ranking)
            matched.append(candidate._replace(line=line))
        return matched

    def _with_headings(self, candidate: Candidate) -> str:
        """The headings, parent items and lines of a candidate as one text."""
        above: list[str] = []
        parent = candidate.line.parent
        while parent is not None and len(above) < MAX_PARENT_ITEMS:
            line = self.lines[parent]
            above.append(candidate.file.text(line.first, line.last))
            parent = line.parent
        return "\n".join([candidate.heading, *reversed(above), candidate.source_text])

    def _day_by_day(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates from the logs of the days that the question names, in order of day and line."""
        named = [candidate for candidate in candidates if self.lines.strip_of(candidate.unit).days == 1.0]
        named.sort(key=lambda candidate: (candidate.file.when or self.parsed.today, *candidate.place))
        return [candidate._replace(score=1.0 - rank / (len(named) + 1) / 2) for rank, candidate in enumerate(named)]

    def _subject_first(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """All candidates; scores are changed so that candidates about the thing that the question names come first."""
        lines = [subjects.Line(c.text, c.score, partial(c.file.trail, c.line.first)) for c in candidates]
        return with_scores(candidates, subjects.reordered_scores(lines, self.question.text))

    # -- hits ------------------------------------------------------------------------------------------------

    def _join(self, candidates: list[Candidate], limit: int) -> list[Hit]:
        """At most `limit` hits, best first: each candidate joined with the neighbours that score nearly as high.

        A near-duplicate of a better hit is left out unless both have topics and are about two things. A log line that
        was promoted becomes a source of its fact's hit.
        """
        if not candidates:
            return []
        neighbours = NeighbourJoin(self.lines, self.links, self.parsed)
        by_index = {candidate.unit: candidate for candidate in candidates}
        middle_score = candidates[len(candidates) // 2].score if len(candidates) > 2 else 0.0
        slack = self.ranking.join * max(0.0, candidates[0].score - middle_score)
        citations = self._citations(candidates)
        by_place = {candidate.place: candidate for candidate in candidates}
        used: set[int] = set()
        hits: list[Hit] = []
        shown: list[tuple[frozenset[str], str]] = []  # the words of each hit, and its topic
        placed: dict[tuple[str, int], int] = {}  # (path, line) of a fact -> its position in `hits`
        for candidate in candidates:
            if candidate.unit in used or candidate.repeats:
                continue
            if candidate.score < self.parsed.min_score:
                break
            fact = self._promoted_to(candidate, citations, by_place)
            if fact is None:
                members = neighbours.passage(candidate, by_index, used, slack)
            else:
                members = [fact]
            used.update([candidate.unit, *(member.unit for member in members)])
            hit = self._hit(fact or candidate, members)
            if fact is not None:
                source = self._hit(candidate, [candidate])
                if (position := placed.get(fact.place)) is not None:
                    hits[position] = with_source(hits[position], source)
                    continue
                hit = with_source(hit, source)
            words, topic = _words(hit.text), _topic(fact or candidate, hit)
            if any(
                _nearly_equal(words, other, self.ranking.twins) and not _are_two_things(topic, other_topic)
                for other, other_topic in shown
            ):
                continue
            shown.append((words, topic))
            placed |= dict.fromkeys([member.place for member in members], len(hits))
            hits.append(hit)
            if len(hits) == limit:
                break
        return hits

    def _citations(self, candidates: Sequence[Candidate]) -> Mapping[str, Sequence[Citation]]:
        """Path of a log -> the citations of its lines by facts; empty if each such line is a hit of its own."""
        if self.parsed.wants_promoted_lines:
            return {}
        paths = {candidate.file.path for candidate in candidates if not candidate.file.has_facts}
        if not paths:
            return {}
        files = {key: self.reader.files.get(key) for key in self.reader.memory.fact_files}
        return citations_by_file(((key, file.lines) for key, file in files.items() if file is not None), paths)

    def _promoted_to(
        self,
        candidate: Candidate,
        citations: Mapping[str, Sequence[Citation]],
        by_place: Mapping[tuple[str, int], Candidate],
    ) -> Candidate | None:
        """The candidate of the fact that a log line was promoted to, with a score at least as high as the line's.

        None if the line was not promoted, if the query's filters leave out the fact, or for an episode of a digest.
        `citations`: from `_citations`. `by_place`: (path, first line) -> candidate.
        """
        file, line = candidate.file, candidate.line
        if file.has_facts or candidate.state == "promoted" or file.path not in citations:
            return None
        fact = promoted_fact(citations[file.path], line.first, line.last, candidate.text)
        if fact is None or (self.parsed.keep is not None and not self.parsed.keep(fact.key[0])):
            return None
        fact_file = self.reader.files[fact.key]
        assert fact_file is not None
        if self.reader.repository(fact_file) != self.reader.repository(file):
            return None
        promoted = by_place.get((fact_file.path, fact.first))
        if promoted is None:
            fact_line = line._replace(first=fact.first, last=fact.last, flags=0, parent=None)
            promoted = self.maker.candidate(candidate.unit, fact_line, fact_file)
            if promoted is None:
                return None
            promoted = promoted._replace(scale=candidate.scale)
        return promoted._replace(score=max(promoted.score, candidate.score))

    def _hit(self, best: Candidate, members: list[Candidate]) -> Hit:
        """The hit of consecutive candidates. Its text (secret parts masked), `id`, lines, code, worst origin and links
        are those of all members, the other fields those of `best`; an empty `state` becomes "changed" if code that any
        member cites has changed."""
        file, meta = best.file, best.meta
        first, last = members[0].line.first, members[-1].line.last
        text = file.visible_text(first, last)
        if file.hidden:
            lines = enumerate(text.split("\n"), first)
            text = "\n".join(WITHHELD if number in file.hidden else line for number, line in lines)
        mask = self.reader.forgotten(file).masked
        text = mask(text)
        self.code.check(members)
        code = tuple(dict.fromkeys(changed for member in members for changed in self.code.of(member)))
        state, trust = best.state, "committed"
        if not state and any(changed.state == "changed" for changed in code):
            state = "changed"
        if "src" in meta:
            trust = "promoted"
        return Hit(
            path=file.path,
            start_line=first,
            end_line=last,
            heading=mask(best.heading),
            trail=tuple(map(mask, best.trail)),
            names=tuple(mask(value) for key in NAMES for value in file.front.get(key, ())),
            text=text,
            score=round(min(1.0, max(0.0, best.score)), 4),
            date=best.iso_day,
            type=best.first("type"),
            tags=best.tags,
            origin=worst_origin(
                *file.front.get("origin", ()), *(value for member in members for value in member.meta.get("origin", ()))
            ),
            trust=trust,
            blob=file.oid,
            id=fact_id(text),
            state=state,
            code=code,
            chunk=self.lines.strip_of(best.unit).chunk_of_line(best.line.first),
            raw=best.line.score,
            scale=best.scale,
            evidence=best.line.evidence,
            priors=best.priors,
            amended_by=self.links.linked_lines(members, self.links.amended),
            supersedes=self.links.linked_lines(members, self.links.amending),
            differs=(
                *self.links.linked_lines(members, self.links.contested),
                *self.links.linked_lines(members, self.links.differing),
            ),
            sources=_sources(best),
        )


def _with_repeats_marked(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates; a line of an episode gets `repeats` where a log's line of the same session has all its text.

    That log's line gets the better of both scores.
    """
    logged: dict[str, list[int]] = {}  # session -> positions of the lines of logs
    for number, candidate in enumerate(candidates):
        if candidate.file.kind is Kind.DAILY:
            for session in candidate.meta.get("session", ()):
                logged.setdefault(session, []).append(number)
    if not logged:
        return candidates
    marked = list(candidates)
    for number, candidate in enumerate(candidates):
        if candidate.file.kind is Kind.SESSION:
            text = candidate.text.removeprefix("- ").rstrip()
            for session in candidate.meta.get("session", ()):
                for line in logged.get(session, ()):
                    if text in candidates[line].text:
                        marked[number] = candidate._replace(repeats=True)
                        marked[line] = marked[line]._replace(score=max(marked[line].score, candidate.score))
    return marked


def _nearly_equal(words: frozenset[str], other: frozenset[str], share: float) -> bool:
    """Whether two sets of words are nearly the same: their Jaccard index is at least `share`.

    This compares letters, not meaning: two passages that differ in one number are nearly equal. `memory/similarity`,
    which compares meaning, would be slow to import.
    """
    if not words or min(len(words), len(other)) < share * max(len(words), len(other)):
        return words == other
    shared = len(words & other)
    return shared >= share * (len(words) + len(other) - shared)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _topic(candidate: Candidate, hit: Hit) -> str:
    """The topic of a hit of one line: that of its comment (ABOUT), else the one before its text; "" for none."""
    if hit.start_line == hit.end_line and (about := candidate.first(ABOUT)):
        return about
    return leading_topic(hit.text)


def _are_two_things(topic: str, other: str) -> bool:
    """Whether two hits have topics, and neither names the other's."""
    from gitmem.memory.topics import may_be_one_topic, statement_topic  # needed for few pairs, and slow to import

    return not may_be_one_topic(statement_topic("", about=topic), statement_topic("", about=other))


def _sources(candidate: Candidate) -> tuple[SourceLine, ...]:
    """The lines that a fact cites with its key `src`, with "" for their text."""
    if not candidate.file.has_facts:
        return ()
    spans = (parse_span(value) for value in candidate.meta.get("src", ()))
    return tuple(SourceLine(span.path, span.start_line, span.end_line) for span in spans if span is not None)
