"""Searches one snapshot: retrieves chunks, scores their lines, and makes hits of the best lines.

Two lanes retrieve chunks: `lexical` by words and `vector` by meaning. `scoring` scores the lines of these chunks, and
`passages` reads the best lines from Git or the work tree. The scored chunks do not depend on the number of requested
hits. Nothing here writes, prints or looks at a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from gitmem.config import Config
from gitmem.errors import GitMemError, IndexDamaged, UsageError
from gitmem.git.repository import Repository
from gitmem.index.db.values import Place, Snapshot
from gitmem.index.freshness import ready
from gitmem.index.index_file import IndexKeeper, OpenIndex, discard
from gitmem.json_values import json_keys
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.messages import Message
from gitmem.paths import Kind, file_name_words, kind, log_date
from gitmem.search import lexical, scoring, vector
from gitmem.search.candidates import Filters
from gitmem.search.file_reading import SearchedMemory, fact_files_of
from gitmem.search.hits import Hit, first_within_budget
from gitmem.search.late_interaction import WordVectors, match_lines, question_words
from gitmem.search.lexical import Term
from gitmem.search.passages import Matcher, Passages
from gitmem.search.question import Question, parse
from gitmem.search.scoring import Positions, ScoredLines, Strip
from gitmem.search.tuning import configured_ranking
from gitmem.search.weights import Ranking
from gitmem.text.terms import terms

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader

ALWAYS_SHOWN_HITS = 5  # hits that are shown even if none of them answers the question
PASTED = "the question has a pasted log in it: its numbers are not looked for, and words alone are compared"
EMPTY = "there is no memory here yet; 'git mem add TEXT' writes the first line"


Opener = Callable[[str], OpenIndex]  # a commit, "" for the work tree -> its index


class Lane(StrEnum):
    """The lanes that a search uses."""

    BOTH = "both"
    LEXICAL = "lexical"
    VECTOR = "vector"


class Query(NamedTuple):
    """A search with parsed options (`request.query_of` makes it).

    `limit`: hits at most. `commit`: "" for the work tree. `branches`: (name, commit) of each branch to search instead.
    `paths`: globs. `types`, `tags`: a hit has one of each. `since`, `until`: first and last day of the hits. `expired`:
    expired and superseded facts too. `min_score`: None for `mem.searchFloor`. `budget`: tokens of all hits, 0 for no
    limit. `blame`: add author and commit to each hit. `explain`: add the parts of each score. `everything`: return
    more than ALWAYS_SHOWN_HITS hits even if none is likely to answer. `history`: "with" commits too, "known" those
    already indexed or indexed soon, "only" nothing else, "" none. `scope`: only lines that apply to this folder or one
    below it, "" for all. `promoted_lines`: a line of a log that was promoted is a hit of its own beside its fact.
    `forgotten`: texts that no hit shows.
    """

    text: str
    limit: int = 6
    commit: str = ""
    branches: tuple[tuple[str, str], ...] = ()
    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    expired: bool = False
    min_score: float | None = None
    lane: Lane = Lane.BOTH
    budget: int = 0
    blame: bool = False
    explain: bool = False
    everything: bool = False
    history: str = ""
    scope: str = ""
    promoted_lines: bool = False
    forgotten: Forgotten = NOTHING


@json_keys("query at lanes stale answered withheld notes hits [settings]")
class Answer(NamedTuple):
    """The hits of a search, best first.

    `at`: "worktree", "branches" or a commit. `lanes`: the lanes that answered. `stale`: the index is behind the files;
    `reason`: why, for a person. `notes`: sentences for a person. `settings`: the settings in force, empty without
    `Query.explain`. `answered`: whether one of the first ALWAYS_SHOWN_HITS hits is likely to answer the question
    (`evidence`). `chunks`: how many chunks memory has. `withheld`: lines with a secret, which are neither searched nor
    shown.

    JSON: `at`: `worktree`, a commit's oid, or `branches` with `--all-branches`. `answered`: false if nothing seems
    to answer the question; there are then five hits at most without `--all`. `withheld`: how many lines of the
    searched files hold a secret; such lines are neither searched nor shown. `notes`: what a person should know of
    the answer: why only words were searched, why it is stale. `hits`: the passages, best first. `settings`: with
    `--explain`, the settings in force.
    """

    query: str
    at: str
    lanes: tuple[str, ...]
    stale: bool
    hits: tuple[Hit, ...]
    reason: str = ""
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = MappingProxyType({})
    answered: bool = False
    chunks: int = 0
    withheld: int = 0


class RetrievedChunks(NamedTuple):
    """The results of both lanes.

    `lexical`: chunk id -> score, 0..1. `vector`: chunk id -> cosine. `terms`: the terms that were looked for.
    `query_vector`, `table`, `model_vector`: `query`, `table` and `model` of `vector.Vectors`. `lanes`: the lanes that
    answered. `notes`: why a lane did not. `answered`: as in `Answer`.
    """

    lexical: dict[int, float]
    vector: dict[int, float]
    terms: list[Term]
    query_vector: list[float] | None
    table: WordVectors | None
    lanes: tuple[str, ...]
    notes: tuple[str, ...]
    answered: bool = False
    model_vector: bytes | None = None


def search(
    repo: Repository,
    config: Config,
    query: Query,
    now: datetime,
    kept: IndexKeeper | None = None,
    opener: Opener | None = None,
) -> Answer:
    """Search one snapshot, or several branches. Any text is a question.

    `kept`: keeps the index open for the next search. `opener`: returns the index of a commit; default: the index of
    `repo`.

    Raises GitMemError if the index is unusable or `--lane vector` has no embedder, UsageError if there is no hit and
    the query names an unknown type.
    """
    if opener is None:

        def opener(commit: str) -> OpenIndex:
            return ready(repo, config, commit, kept=kept)

    if kept is not None:
        repo.stay_open()
    if query.branches:
        answer = _search_branches(repo, config, query, now, opener)
    else:
        answer = _search_one(repo, config, query, now, opener)
    if query.types and not answer.hits:
        from gitmem.memory.fact import TYPES

        unknown = next((name for name in query.types if name not in TYPES), None)
        if unknown is not None:
            raise UsageError(
                Message("'{}' is no type of a fact", unknown[:40]), f"--type takes one of {', '.join(TYPES)}"
            )
    return answer


def _search_one(repo: Repository, config: Config, query: Query, now: datetime, opener: Opener) -> Answer:
    """Search one snapshot. A damaged index is discarded, and the search is tried once more."""
    made = _open_index(repo, config, query, opener)
    try:
        at = query.commit or "worktree"
        if query.commit:
            today = repo.commit(query.commit).commit_date.date()
        else:
            today = now.date()
        if made.index is None or made.snapshot is None:
            return Answer(query.text, at, (), made.freshness.stale, (), made.freshness.reason, made.notes)
        question = parse(query.text, today)
        ranking = configured_ranking(config)
        try:
            with made.index.reading():
                hits, retrieved = _search_index(repo, config, made, query, question, today, ranking)
                withheld = made.index.withheld(made.snapshot)
        except IndexDamaged:
            made.close(damaged=True)
            discard(repo)
            made = _open_index(repo, config, query, opener)
            if made.index is None or made.snapshot is None:
                raise
            with made.index.reading():
                hits, retrieved = _search_index(repo, config, made, query, question, today, ranking)
                withheld = made.index.withheld(made.snapshot)
        fresh = made.freshness
        empty = not hits and (made.snapshot is None or not made.snapshot.chunks)
        notes = (*made.notes, *retrieved.notes)
        if empty:
            notes += (EMPTY,)
        settings: dict[str, Any] = {}
        if query.explain:
            from gitmem.search.score_explanation import settings_in_force

            settings = settings_in_force(config, ranking)
        return Answer(
            query.text, at, retrieved.lanes, fresh.stale, hits, fresh.reason, notes, settings, retrieved.answered,
            made.chunks, withheld,
        )  # fmt: skip
    finally:
        made.close()


def _open_index(repo: Repository, config: Config, query: Query, opener: Opener) -> OpenIndex:
    """The open index of the query's snapshot, together with the index of its history if the query asks for commits."""
    made = opener(query.commit)
    if not query.history:
        return made
    from gitmem.search.commit_hits import with_history

    try:
        return with_history(repo, config, made, query.history)
    except BaseException:
        made.close()
        raise


def _search_branches(repo: Repository, config: Config, query: Query, now: datetime, opener: Opener) -> Answer:
    """The best hits of the query's branches, by score.

    A passage (path and id) of several branches is shown once, for the branch with its highest score; at equal scores
    for the branch named first.
    """
    answers = []
    for name, commit in query.branches:
        answer = _search_one(repo, config, query._replace(branches=(), commit=commit), now, opener)
        answers.append((name, answer))
    seen: set[tuple[str, str]] = set()
    hits: list[Hit] = []
    ranked = sorted(
        ((hit, name, order) for order, (name, answer) in enumerate(answers) for hit in answer.hits),
        key=lambda item: (-item[0].score, item[2]),
    )
    for hit, name, _ in ranked:
        if (hit.path, hit.id) not in seen:
            seen.add((hit.path, hit.id))
            hits.append(hit._replace(branch=name))
    if answers:
        first = answers[0][1]
    else:
        first = Answer(query.text, "branches", (), False, ())
    return first._replace(
        at="branches",
        stale=any(answer.stale for _, answer in answers),
        reason=next((answer.reason for _, answer in answers if answer.reason), ""),
        answered=any(answer.answered for _, answer in answers),
        chunks=max((answer.chunks for _, answer in answers), default=0),
        withheld=max((answer.withheld for _, answer in answers), default=0),
        hits=tuple(hits[: query.limit]),
    )


def _filters(query: Query, question: Question, floor: float, keep: Callable[[str], bool] | None) -> Filters:
    """The filters of a query. `floor`: the least score of a hit if the query has none. `keep`: returns whether a path
    may be shown."""
    return Filters(
        question=question,
        types=query.types,
        tags=query.tags,
        since=query.since,
        until=query.until,
        expired=query.expired or question.past,
        min_score=floor if query.min_score is None else query.min_score,
        promoted=query.expired or bool(query.paths),
        keep=keep,
        promoted_lines=query.promoted_lines or question.only_days,
        scope=query.scope,
    )


def _search_index(
    repo: Repository,
    config: Config,
    made: OpenIndex,
    query: Query,
    question: Question,
    today: date,
    ranking: Ranking,
) -> tuple[tuple[Hit, ...], RetrievedChunks]:
    """(hits of the query in an open index, best first; the results of the lanes)."""
    index, snapshot = made.index, made.snapshot
    assert index is not None and snapshot is not None
    keep = _path_filter(query.paths)
    if keep:
        norms = index.select(snapshot, keep, everything=bool(query.paths))
    else:
        norms = snapshot.norms
    retrieved = retrieve(index, norms, query, question, config, ranking)
    named_files = _named_files(index, snapshot, query, retrieved, keep)
    if question.only_days and not query.paths and (logs := _logs_of(index, snapshot, question)):
        places, pool, whole_files = {}, [], {file: MAX_LOG_CHUNKS for file in logs}  # these days are the question
    else:
        pool = _pool(retrieved, ranking.pool)
        places = index.places(snapshot, pool)
        whole_files = {file: MAX_NAMED_FILE_CHUNKS for file in named_files.likely}
        if question.days:
            whole_files |= {file: MAX_LOG_CHUNKS for file in _logs_of(index, snapshot, question)}
    if not pool and not whole_files:
        return (), retrieved
    strips = _strips(index, places, pool, question, keep, ranking.reach, whole_files, named_files)
    if not whole_files and _is_unrelated(retrieved, strips, ranking):
        return (), retrieved
    chunks = [chunk for strip in strips for chunk, _, _, _ in strip.chunks]
    near: dict[int, float] = {}
    if retrieved.model_vector is not None:
        near = index.cosines(retrieved.model_vector, chunks)
    positions = lexical.term_positions(retrieved.terms, chunks)
    lines = scoring.score_lines(strips, question, positions, retrieved.query_vector, ranking, near)
    exact = [own.bodies for term, own in zip(retrieved.terms, positions, strict=True) if term.text in question.exact]
    _raise_exact_matches(lines, exact, ranking.exact)
    memory = SearchedMemory(repo, config, index, made.commit, fact_files_of(index, snapshot), today, query.forgotten)
    filters = _filters(query, question, ranking.floor, keep)
    kind_of_passages: Callable[..., Passages] = made.passages or Passages
    passages = kind_of_passages(memory, lines, filters, ranking, _matcher(retrieved, question))
    hits = passages.hits(query.limit, blame=query.blame)
    enough = config.context_evidence
    found = _evidence_of(hits[:ALWAYS_SHOWN_HITS], question, retrieved.table, enough, made.chunks)
    answered = bool(hits) and found >= enough
    if not query.everything and found < enough / 2:
        hits = hits[:ALWAYS_SHOWN_HITS]
    hits, left_out = first_within_budget(hits, query.budget)
    retrieved = retrieved._replace(notes=(*retrieved.notes, *left_out), answered=answered)
    if query.explain:
        from gitmem.search.score_explanation import explain_score

        lanes = {"lexical": retrieved.lexical, "vector": retrieved.vector}
        hits = tuple(hit._replace(explain=explain_score(hit, lanes, ranking)) for hit in hits)
    return hits, retrieved


def _evidence_of(
    hits: Sequence[Hit], question: Question, table: WordVectors | None, enough: float, chunks: int
) -> float:
    """How likely one of the hits answers the question, 0..1; 1 for a hit of a day that the question names.

    `enough`: the evidence at which the computation ends; 0 for no computation, the result is then 0. `chunks`: as in
    `Answer`.
    """
    if not hits or not enough:
        return 0.0
    if question.days and any(_of_these_days(hit.date, question) for hit in hits):
        return 1.0
    from gitmem.search.evidence import WeighedQuestion, strongest_evidence

    texts = ((f"{hit.subject}\n{hit.text}" if hit.kind else hit.text_with_sources, hit.trail_and_names) for hit in hits)
    return strongest_evidence(WeighedQuestion(question, table, chunks), texts, enough)


def _of_these_days(day: str, question: Question) -> bool:
    """Whether an ISO day is one that the question names; False for ""."""
    when = None
    if day:
        when = date.fromisoformat(day)
    return when is not None and any(named.match(when) == 1.0 for named in question.days)


# -- retrieval -----------------------------------------------------------------------------------------------


def retrieve(
    index: IndexReader, norms: bytes, query: Query, question: Question, config: Config, ranking: Ranking
) -> RetrievedChunks:
    """The chunks of `norms` that the lanes of `query.lane` find.

    If the vector lane cannot answer, `notes` says so; with `--lane vector` its GitMemError is raised.
    """
    notes: list[str] = []
    words = lexical.NOTHING
    lanes = []
    if query.lane is not Lane.VECTOR:
        words = lexical.retrieve(index, norms, question, ranking)
        lanes.append("lexical")
    near = vector.NOTHING
    if question.pasted and query.lane is Lane.BOTH:
        notes.append(PASTED)  # the meaning of a pasted log is not that of the question
    elif query.lane is not Lane.LEXICAL:
        try:
            near = vector.retrieve(index, norms, question, config, ranking.pool)
        except GitMemError as error:
            if query.lane is Lane.VECTOR:
                raise
            hint = ""
            if error.hint:
                hint = f" ({error.hint})"
            notes.append(Message("words only: {}", f"{error.message}{hint}"))
            near = vector.table_vectors(question, config)
        else:
            if near.query is not None or near.scores:
                lanes.append("vector")
    return RetrievedChunks(
        words.scores, near.scores, words.terms, near.query, near.table, tuple(lanes), tuple(notes),
        model_vector=near.model,
    )  # fmt: skip


def _matcher(retrieved: RetrievedChunks, question: Question) -> Matcher | None:
    """The function that compares lines with the question word by word; None without the vector lane."""
    if retrieved.table is None:
        return None
    table = retrieved.table
    rarity = {term.text: term.rarity for term in retrieved.terms}
    words = question_words(question.content, rarity, table)
    if not words:
        return None
    return lambda lines: match_lines(words, lines, table)


def _pool(retrieved: RetrievedChunks, pool: int) -> list[int]:
    """The ids of the best `pool` chunks of each lane, so that neither lane displaces the other's chunks."""
    near = retrieved.vector
    return list(
        dict.fromkeys(
            [
                *lexical.best_chunks(retrieved.lexical, retrieved.terms, pool),
                *sorted(near, key=lambda chunk: (-near[chunk], chunk))[:pool],
            ]
        )
    )


def _is_unrelated(retrieved: RetrievedChunks, strips: Sequence[Strip], ranking: Ranking) -> bool:
    """Whether memory has no word of the question, and no chunk or line with a near vector (`Ranking.unrelated`,
    `akin`)."""
    if retrieved.lexical or max(retrieved.vector.values(), default=0.0) >= ranking.unrelated:
        return False
    return retrieved.query_vector is None or scoring.greatest_cosine(strips, retrieved.query_vector) < ranking.akin


def _path_filter(paths: Sequence[str]) -> Callable[[str], bool] | None:
    """A function that returns whether a path matches one of the globs or lies below one; None without globs."""
    if not paths:
        return None
    globs = [path.rstrip("/") for path in paths]
    normalised = not all(glob.isascii() for glob in globs)  # a name on disk may spell a letter in other code points
    if normalised:
        globs = [normalize("NFC", glob) for glob in globs]

    def keep(path: str) -> bool:
        if normalised:
            path = normalize("NFC", path)
        return any(fnmatchcase(path, glob) or path.startswith(glob + "/") for glob in globs)

    return keep


MAX_NAMED_FILE_CHUNKS = 12  # chunks of a file that are scored because the question names the file
MAX_LOG_CHUNKS = 40  # chunks of a log that are scored because the question names its day
MAX_LOGS = 14  # newest logs of the days that a question names
MAX_NAMED_FILES = 5  # files that a question names whose chunks are scored, whatever these say
MIN_NAME_SHARE = 0.5  # share of the weight of a question that a file's name must have for its chunks to be scored


class _NamedFiles(NamedTuple):
    """The files whose names have words of a question.

    `words`: (path, oid) -> the positions of these words among the question's terms. `complete`: the files for which the
    question has each word of the name. `likely`: the files whose first chunks are scored.
    """

    words: Mapping[tuple[str, str], frozenset[int]]
    complete: frozenset[tuple[str, str]]
    likely: tuple[tuple[str, str], ...]


def _named_files(
    index: IndexReader, snapshot: Snapshot, query: Query, retrieved: RetrievedChunks, keep: Callable[[str], bool] | None
) -> _NamedFiles:
    """The files that the question names; none with `--lane vector`."""
    if query.lane is Lane.VECTOR or not retrieved.terms:
        return _NamedFiles({}, frozenset(), ())
    numbers = {term.text: number for number, term in enumerate(retrieved.terms)}
    found = {file: words for file, words in index.named(snapshot, numbers).items() if keep is None or keep(file[0])}
    if not found:
        return _NamedFiles({}, frozenset(), ())
    mass = sum(term.rarity for term in retrieved.terms) or 1.0
    share = {file: sum(retrieved.terms[numbers[word]].rarity for word in words) / mass for file, words in found.items()}
    complete = frozenset(
        file
        for file, words in found.items()
        if kind(file[0]) is not Kind.SESSION  # a program made its name of the words of the conversation
        and words >= set(terms(file_name_words(file[0])))
    )
    likely = [file for file in found if file in complete or share[file] >= MIN_NAME_SHARE]
    likely.sort(key=lambda file: (-share[file], file not in complete, file))
    return _NamedFiles(
        {file: frozenset(numbers[word] for word in words) for file, words in found.items()},
        complete,
        tuple(likely[:MAX_NAMED_FILES]),
    )


def _logs_of(index: IndexReader, snapshot: Snapshot, question: Question) -> list[tuple[str, str]]:
    """(path, oid) of the newest MAX_LOGS logs of the days that a question names, in order of their days."""
    dated = [(when, path, oid) for path, oid in index.files(snapshot) if (when := log_date(path)) is not None]
    wanted = [row for row in dated if any(named.match(row[0]) == 1.0 for named in question.days)]
    return [(path, oid) for _, path, oid in sorted(wanted)[-MAX_LOGS:]]


def _strips(
    index: IndexReader,
    places: dict[int, list[Place]],
    pool: Iterable[int],
    question: Question,
    keep: Callable[[str], bool] | None,
    reach: int,
    whole_files: Mapping[tuple[str, str], int],
    named_files: _NamedFiles,
) -> list[Strip]:
    """The chunks to be scored, as strips: runs of consecutive chunks of one blob.

    These are the chunks of `pool` with `reach` chunks to either side, and the first chunks of `whole_files`: (path,
    oid) -> number of chunks.
    """
    blobs: dict[tuple[str, str], dict[int, tuple[int, int, int]]] = {}
    for chunk in pool:
        shown = [
            place
            for place in places.get(chunk, ())
            if (keep(place.path) if keep and place.path[:2] != "//" else place.corpus)
        ]
        if not shown:
            continue
        place = min(shown, key=lambda place: (place.path != "MEMORY.md", place.path))
        around = blobs.setdefault((place.path, place.oid), {})
        if place.ordinal in around and place.ordinal - 1 in around and place.ordinal + 1 in around:
            continue
        rows = index.neighbours(place.oid, place.ordinal, reach)
        first = max(0, place.ordinal - reach)
        for number, (neighbour, start, _, heading) in enumerate(rows, first):
            around[number] = (neighbour, start, heading)
    for (path, oid), count in whole_files.items():
        around = blobs.setdefault((path, oid), {})
        for number, (chunk, start, _, heading) in enumerate(index.neighbours(oid, 0, count)):
            around[number] = (chunk, start, heading)
    records = index.lines({chunk for around in blobs.values() for chunk, _, _ in around.values()})
    strips = []
    for (path, oid), around in blobs.items():
        when = log_date(path)
        days = 0.0
        if when:
            days = max((named.match(when) for named in question.days), default=0.0)
        name, is_complete = named_files.words.get((path, oid), frozenset()), (path, oid) in named_files.complete
        run: list[tuple[int, int, Any, int]] = []
        before = -2
        for ordinal in sorted(around):
            chunk, start, heading = around[ordinal]
            if ordinal != before + 1 and run:
                strips.append(Strip(path, oid, run, days, name, is_complete))
                run = []
            before = ordinal
            try:
                run.append((chunk, start, records[chunk], heading))
            except KeyError:
                raise IndexDamaged(
                    Message("the index is damaged ({}).", "lines"), "'git mem index' builds it again."
                ) from None
        if run:
            strips.append(Strip(path, oid, run, days, name, is_complete))
    return strips


def _raise_exact_matches(lines: ScoredLines, wanted: Sequence[Positions], exact: float) -> None:
    """Add `exact` to the score of each line that has an identifier of the question as a whole.

    `wanted`: the positions of each identifier. `exact`: `Ranking.exact`.
    """
    if not any(wanted):
        return
    holding: set[tuple[int, int]] = set()
    for number, strip in enumerate(lines.strips):
        for chunk, start, packed, _ in strip.chunks:
            offsets = sorted({offset for positions in wanted for offset in positions.get(chunk, ())})
            if not offsets:
                continue
            end = 0
            for first, count in zip(packed.first, packed.words, strict=True):
                begin, end = end, end + count
                if any(begin <= offset < end for offset in offsets):
                    holding.add((number, start + first))
    lines.add(holding, exact)


__all__ = ["Answer", "Filters", "Lane", "Query", "search"]
