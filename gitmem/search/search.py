"""The flow of a search: which chunks, which of their lines, which passages; from one snapshot and nothing else.

Two lanes retrieve chunks: words (`lexical`) and meaning (`vector`). `scoring` weighs the
lines of the pooled chunks, `passages` reads the best from Git or the work tree and makes hits of them. The pool does
not depend on how many hits are asked for. Nothing here writes, prints or looks at a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from types import MappingProxyType
from unicodedata import normalize

from gitmem.config import Config
from gitmem.errors import GitMemError, IndexDamaged, UsageError
from gitmem.git.repository import Repository
from gitmem.index.db.values import Place, Snapshot
from gitmem.index.freshness import ready
from gitmem.index.index_file import IndexKeeper, OpenIndex, discard
from gitmem.light_typing import TYPE_CHECKING, NamedTuple
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.messages import Message
from gitmem.paths import Kind, file_name_words, kind, log_date
from gitmem.search import lexical, scoring, vector
from gitmem.search.hits import Hit, fitting
from gitmem.search.late_interaction import WordVectors, matches, question_words
from gitmem.search.lexical import Term
from gitmem.search.passages import Filters, Matcher, Passages, SearchedMemory, facts_of
from gitmem.search.question import Question, parse
from gitmem.search.scoring import Positions, ScoredLines, Strip
from gitmem.search.tuning import in_force
from gitmem.search.weights import Ranking
from gitmem.text.terms import terms

if TYPE_CHECKING:
    from typing import Any

    from gitmem.index.store import IndexReader

ALWAYS_SHOWN_HITS = 5  # hits that are shown whether or not they answer
PASTED = "the question has a pasted log in it: its numbers are not looked for, and words alone are compared"
EMPTY = "there is no memory here yet; 'git mem add TEXT' writes the first line"


Opener = Callable[[str], OpenIndex]  # a commit, "" for now -> the index to ask


class Lane(StrEnum):
    """Which lanes a search asks."""

    BOTH = "both"
    LEXICAL = "lexical"
    VECTOR = "vector"


class Query(NamedTuple):
    """What is asked. `commit` is "" for the work tree; `branches` are (name, commit) to look across instead."""

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
    min_score: float | None = None  # None: `mem.searchFloor`
    lane: Lane = Lane.BOTH
    budget: int = 0
    blame: bool = False
    explain: bool = False
    everything: bool = False  # more than `ALWAYS_SHOWN_HITS` hits where none of these comes near an answer
    history: str = ""  # "with": commits too, "known": where they are indexed or soon can be, "only": nothing else
    scope: str = ""  # only what holds for this folder or one below it (`memory/folder_scope`); "" for all
    promoted_lines: bool = False  # a line of a log that was promoted is a hit of its own, beside its fact
    forgotten: Forgotten = NOTHING  # texts that are given to nobody (`provenance/forgotten_texts`)


class Answer(NamedTuple):
    """`at` is "worktree", "branches" or a commit; `lanes` those that answered; `answered` whether one of the first
    `ALWAYS_SHOWN_HITS` hits takes up enough of the question (`evidence`); `notes` and `reason` (why stale) are for a
    person; `settings` are those in force, only where `Query.explain` asked for them; `chunks` how many memory has;
    `withheld` how many lines of its files hold a secret, and so are neither searched nor shown."""

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


class Evidence(NamedTuple):
    """What the lanes found. `lexical` and `vector` are chunk id -> score (0..1, a cosine); `terms` those looked for;
    `query_vector` and `table` as `vector.Vectors` has them; `lanes` those that answered; `notes` why one did not;
    `answered` as `Answer` has it; `model_vector` as `Vectors.model`."""

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
    """Search one snapshot, or several branches. Any text is a question; no hits is an answer. An index that is `kept`
    stays open for the next search; `opener` gives that of a commit ("": now) where it is not the repository's own.

    Raises GitMemError where the index is unusable or `--lane vector` has no embedder, UsageError for a type that is
    none and that no line has (a note's front matter may name its own).
    """
    if opener is None:

        def opener(commit: str) -> OpenIndex:
            return ready(repo, config, commit, kept=kept)

    if kept is not None:
        repo.stay_open()
    answer = (_across if query.branches else _search_one)(repo, config, query, now, opener)
    if query.types and not answer.hits:
        from gitmem.memory.fact import TYPES

        unknown = next((name for name in query.types if name not in TYPES), None)
        if unknown is not None:
            raise UsageError(
                Message("'{}' is no type of a fact", unknown[:40]), f"--type takes one of {', '.join(TYPES)}"
            )
    return answer


def _search_one(repo: Repository, config: Config, query: Query, now: datetime, opener: Opener) -> Answer:
    made = _opened(repo, config, query, opener)
    try:
        at = query.commit or "worktree"
        if query.commit:
            today = repo.commit(query.commit).commit_date.date()
        else:
            today = now.date()
        if made.index is None or made.snapshot is None:
            return Answer(query.text, at, (), made.freshness.stale, (), made.freshness.reason, made.notes)
        question = parse(query.text, today)
        ranking = in_force(config)
        try:
            with made.index.reading():
                hits, evidence = _answer(repo, config, made, query, question, today, ranking)
                withheld = made.index.withheld(made.snapshot)
        except IndexDamaged:
            made.close(damaged=True)
            discard(repo)
            made = _opened(repo, config, query, opener)
            if made.index is None or made.snapshot is None:
                raise
            with made.index.reading():
                hits, evidence = _answer(repo, config, made, query, question, today, ranking)
                withheld = made.index.withheld(made.snapshot)
        fresh = made.freshness
        empty = not hits and (made.snapshot is None or not made.snapshot.chunks)
        notes = (*made.notes, *evidence.notes, *((EMPTY,) if empty else ()))
        settings: dict[str, Any] = {}
        if query.explain:
            from gitmem.search.score_explanation import settings_in_force

            settings = settings_in_force(config, ranking)
        return Answer(
            query.text, at, evidence.lanes, fresh.stale, hits, fresh.reason, notes, settings, evidence.answered,
            made.chunks, withheld,
        )  # fmt: skip
    finally:
        made.close()


def _opened(repo: Repository, config: Config, query: Query, opener: Opener) -> OpenIndex:
    """What the question is asked of: the snapshot, with the history it reaches where that is asked for."""
    made = opener(query.commit)
    if not query.history:
        return made
    from gitmem.search.commit_hits import with_history

    try:
        return with_history(repo, config, made, query.history)
    except BaseException:
        made.close()
        raise


def _across(repo: Repository, config: Config, query: Query, now: datetime, opener: Opener) -> Answer:
    """The best of several branches: a passage that several have is shown once, under the first that has it."""
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


def _filters(
    query: Query, question: Question, today: date, floor: float, keep: Callable[[str], bool] | None
) -> Filters:
    """What a query asks of its hits; `floor` is the score it takes where it names none."""
    return Filters(
        types=query.types,
        tags=query.tags,
        since=query.since,
        until=query.until,
        expired=query.expired or question.past,
        min_score=floor if query.min_score is None else query.min_score,
        today=today,
        days=question.days,
        past=question.past,
        promoted=query.expired or bool(query.paths),
        keep=keep,
        forgotten=query.forgotten,
        promoted_lines=query.promoted_lines or question.only_days,
        scope=query.scope,
    )


def _answer(
    repo: Repository,
    config: Config,
    made: OpenIndex,
    query: Query,
    question: Question,
    today: date,
    ranking: Ranking,
) -> tuple[tuple[Hit, ...], Evidence]:
    index, snapshot = made.index, made.snapshot
    assert index is not None and snapshot is not None
    keep = _path_filter(query.paths)
    if keep:
        norms = index.select(snapshot, keep, everything=bool(query.paths))
    else:
        norms = snapshot.norms
    evidence = retrieve(index, norms, query, question, config, ranking)
    called = _named(index, snapshot, query, evidence, keep)
    if question.only_days and not query.paths and (logs := _logs_of(index, snapshot, question)):
        places, pool, whole = {}, [], {file: DAY for file in logs}  # what these days have is what is asked for
    else:
        pool = _pool(evidence, ranking.pool)
        places = index.places(snapshot, pool)
        whole = {file: NOTE for file in called.best}
        if question.days:
            whole |= {file: DAY for file in _logs_of(index, snapshot, question)}
    if not pool and not whole:
        return (), evidence
    strips = _strips(index, places, pool, question, keep, ranking.reach, whole, called)
    if not whole and _nothing(evidence, strips, ranking):
        return (), evidence
    chunks = [chunk for strip in strips for chunk, _, _, _ in strip.chunks]
    if evidence.model_vector is not None:
        near = index.cosines(evidence.model_vector, chunks)
    else:
        near = {}
    positions, trails = lexical.standing(evidence.terms, chunks)
    rare = [(term.rarity, bodies, trail) for term, bodies, trail in zip(evidence.terms, positions, trails, strict=True)]
    lines = scoring.score_lines(strips, question, rare, evidence.query_vector, ranking, near)
    exact = [bodies for term, bodies in zip(evidence.terms, positions, strict=True) if term.text in question.exact]
    _exact(lines, strips, exact, ranking.exact)
    filters = _filters(query, question, today, ranking.floor, keep)
    source = SearchedMemory(repo, config, index, made.commit, facts_of(index, snapshot))
    kind_of_passages: Callable[..., Passages] = made.passages or Passages
    passages = kind_of_passages(source, strips, lines, filters, ranking, _matcher(evidence, question), question)
    hits = passages.hits(query.limit, blame=query.blame)
    enough = config.context_evidence
    found = _evidence_of(hits[:ALWAYS_SHOWN_HITS], question, evidence.table, enough, made.chunks)
    answered = bool(hits) and found >= enough
    hits, left_out = fitting(
        hits if query.everything or found >= enough / 2 else hits[:ALWAYS_SHOWN_HITS], query.budget
    )
    evidence = evidence._replace(notes=(*evidence.notes, *left_out), answered=answered)
    if query.explain:
        from gitmem.search.score_explanation import explained

        lanes = {"lexical": evidence.lexical, "vector": evidence.vector}
        hits = tuple(hit._replace(explain=explained(hit, lanes, ranking)) for hit in hits)
    return hits, evidence


def _evidence_of(
    hits: Sequence[Hit], question: Question, table: WordVectors | None, enough: float, chunks: int
) -> float:
    """How likely one of the hits answers the question, 0..1 and seen no further than to `enough`; 1 for one of the days
    that it names."""
    if not hits or not enough:
        return 0.0
    if question.days and any(_of_these_days(hit.date, question) for hit in hits):
        return 1.0
    from gitmem.search.evidence import Asked, strongest

    texts = ((f"{hit.subject}\n{hit.text}" if hit.kind else hit.whole, hit.about) for hit in hits)
    return strongest(Asked(question, table, chunks), texts, enough)


def _of_these_days(day: str, question: Question) -> bool:
    when = None
    if day:
        when = date.fromisoformat(day)
    return when is not None and any(named.match(when) == 1.0 for named in question.days)


# -- retrieval -----------------------------------------------------------------------------------------------


def retrieve(
    index: IndexReader, norms: bytes, query: Query, question: Question, config: Config, ranking: Ranking
) -> Evidence:
    """Both lanes over the chunks of `norms`, as far as `query.lane` wants them.

    Where the lane of meaning cannot answer, `notes` says so; with `--lane vector` its GitMemError is raised.
    """
    notes: list[str] = []
    words = lexical.NOTHING
    lanes = []
    if query.lane is not Lane.VECTOR:
        words = lexical.retrieve(index, norms, question, ranking)
        lanes.append("lexical")
    near = vector.NOTHING
    if question.pasted and query.lane is Lane.BOTH:
        notes.append(PASTED)  # the meaning of pages of a log is that of the log
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
            near = vector.of_table(question, config)
        else:
            if near.query is not None or near.scores:
                lanes.append("vector")
    return Evidence(
        words.scores, near.scores, words.terms, near.query, near.table, tuple(lanes), tuple(notes),
        model_vector=near.model,
    )  # fmt: skip


def _matcher(evidence: Evidence, question: Question) -> Matcher | None:
    """What compares lines with the question word by word; None without the vector lane."""
    if evidence.table is None:
        return None
    table = evidence.table
    rarity = {term.text: term.rarity for term in evidence.terms}
    words = question_words(question.content, rarity, table)
    if not words:
        return None
    return lambda lines: matches(words, lines, table)


def _pool(evidence: Evidence, pool: int) -> list[int]:
    """The best chunks of each lane: neither can push the other's out."""
    near = evidence.vector
    return list(
        dict.fromkeys(
            [
                *lexical.best(evidence.lexical, evidence.terms, pool),
                *sorted(near, key=lambda chunk: (-near[chunk], chunk))[:pool],
            ]
        )
    )


def _nothing(evidence: Evidence, strips: Sequence[Strip], ranking: Ranking) -> bool:
    """No word of the question is there and nothing means anything like it, neither a chunk nor one of its lines."""
    if evidence.lexical or max(evidence.vector.values(), default=0.0) >= ranking.unrelated:
        return False
    return evidence.query_vector is None or scoring.nearest(strips, evidence.query_vector) < ranking.akin


def _path_filter(paths: Sequence[str]) -> Callable[[str], bool] | None:
    if not paths:
        return None
    globs = [path.rstrip("/") for path in paths]
    typed = not all(glob.isascii() for glob in globs)  # names may be made of other code points than what was typed
    if typed:
        globs = [normalize("NFC", glob) for glob in globs]

    def keep(path: str) -> bool:
        if typed:
            path = normalize("NFC", path)
        return any(fnmatchcase(path, glob) or path.startswith(glob + "/") for glob in globs)

    return keep


NOTE, DAY = 12, 40  # chunks of a file that are looked at because of its name, and of a log because of its day
LOGS = 14  # logs of the days that a question names, the newest
BEST_NAMES = 5  # files that a question names whose chunks are candidates whatever they say


class _Called(NamedTuple):
    """Which files' names have words of a question: (path, oid) -> the positions of these among its terms; `whole` are
    the files whose every word of the name is asked, `best` those whose chunks are candidates."""

    words: Mapping[tuple[str, str], frozenset[int]]
    whole: frozenset[tuple[str, str]]
    best: tuple[tuple[str, str], ...]


def _named(
    index: IndexReader, snapshot: Snapshot, query: Query, evidence: Evidence, keep: Callable[[str], bool] | None
) -> _Called:
    """The files that the question calls by their names."""
    if query.lane is Lane.VECTOR or not evidence.terms:
        return _Called({}, frozenset(), ())
    numbers = {term.text: number for number, term in enumerate(evidence.terms)}
    found = {file: words for file, words in index.named(snapshot, numbers).items() if keep is None or keep(file[0])}
    if not found:
        return _Called({}, frozenset(), ())
    mass = sum(term.rarity for term in evidence.terms) or 1.0
    share = {file: sum(evidence.terms[numbers[word]].rarity for word in words) / mass for file, words in found.items()}
    whole = frozenset(
        file
        for file, words in found.items()
        if kind(file[0]) is not Kind.SESSION  # whose name a program made of its words
        and words >= set(terms(file_name_words(file[0])))
    )
    likely = [file for file in found if file in whole or share[file] >= HALF_NAMED]
    best = sorted(likely, key=lambda file: (-share[file], file not in whole, file))[:BEST_NAMES]
    return _Called(
        {file: frozenset(numbers[word] for word in words) for file, words in found.items()}, whole, tuple(best)
    )


HALF_NAMED = 0.5  # share of a question's weight in a file's name from which its chunks are candidates


def _logs_of(index: IndexReader, snapshot: Snapshot, question: Question) -> list[tuple[str, str]]:
    """The logs of the days that a question names, in order: the newest `LOGS`."""
    dated = [(when, path, oid) for path, oid in index.files(snapshot) if (when := log_date(path)) is not None]
    wanted = [row for row in dated if any(named.match(row[0]) == 1.0 for named in question.days)]
    return [(path, oid) for _, path, oid in sorted(wanted)[-LOGS:]]


def _strips(
    index: IndexReader,
    places: dict[int, list[Place]],
    pool: Iterable[int],
    question: Question,
    keep: Callable[[str], bool] | None,
    reach: int,
    whole: Mapping[tuple[str, str], int],
    called: _Called,
) -> list[Strip]:
    """The pooled chunks with those around them, and the first chunks of the files that are asked for as such (`whole`:
    how many), as runs of consecutive chunks of one blob."""
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
    for (path, oid), count in whole.items():
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
        name, all_of_it = called.words.get((path, oid), frozenset()), (path, oid) in called.whole
        run: list[tuple[int, int, Any, int]] = []
        before = -2
        for ordinal in sorted(around):
            chunk, start, heading = around[ordinal]
            if ordinal != before + 1 and run:
                strips.append(Strip(path, oid, run, days, name, all_of_it))
                run = []
            before = ordinal
            try:
                run.append((chunk, start, records[chunk], heading))
            except KeyError:
                raise IndexDamaged(
                    Message("the index is damaged ({}).", "lines"), "'git mem index' builds it again."
                ) from None
        if run:
            strips.append(Strip(path, oid, run, days, name, all_of_it))
    return strips


def _exact(lines: ScoredLines, strips: Sequence[Strip], wanted: Sequence[Positions], exact: float) -> None:
    """A line with an identifier of the question (`wanted` says where they are), as a whole, comes before all lines
    without."""
    if not any(wanted):
        return
    holding: set[tuple[int, int]] = set()
    for number, strip in enumerate(strips):
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
