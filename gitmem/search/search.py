"""Searches one snapshot: retrieves chunks, scores their lines, and makes hits of the best lines.

`retrieval` retrieves chunks by words and by meaning, `strips` chooses those whose lines `scoring` scores, and
`passages` reads the best lines from Git or the work tree. The scored chunks do not depend on the number of requested
hits. Nothing here writes, prints or looks at a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from gitmem.config import Config
from gitmem.errors import IndexDamaged, ObjectsLeftOut, UsageError
from gitmem.git.repository import Repository, words_on_left_out
from gitmem.index.freshness import ready
from gitmem.index.index_file import OpenIndex, discard
from gitmem.json_values import json_keys
from gitmem.memory.snapshot import read_work_tree
from gitmem.messages import Message
from gitmem.paths import INSTRUCTIONS
from gitmem.search import lexical, scoring
from gitmem.search.file_reading import SearchedMemory, fact_files_of
from gitmem.search.hits import Hit, first_within_budget
from gitmem.search.late_interaction import WordVectors, match_lines, question_words
from gitmem.search.passages import Matcher, Passages
from gitmem.search.query import Lane, ParsedQuery, Query, parse_query
from gitmem.search.question import Question
from gitmem.search.retrieval import RetrievedChunks, retrieve
from gitmem.search.strips import strips_to_score

if TYPE_CHECKING:
    from gitmem.index.kept_index import KeptIndex

ALWAYS_SHOWN_HITS = 5  # hits that are shown even if none of them answers the question
EMPTY = "there is no memory here yet; 'git mem add TEXT' writes the first line"
IGNORED = "Git ignores all memory files here, so none is searched; 'git check-ignore -v PATH' shows the rule"

Opener = Callable[[str], OpenIndex]  # a commit, "" for the work tree -> its index


@json_keys("query at lanes stale answered withheld notes hits [settings]")
class Answer(NamedTuple):
    """The hits of a search, best first.

    `at`: "worktree", "branches" or a commit. `lanes`: the lanes that answered. `stale`: the index is behind the files;
    `reason`: why, for a person. `notes`: sentences for a person. `settings`: the settings in force, empty without
    `Query.explain`. `answered`: whether one of the first ALWAYS_SHOWN_HITS hits is likely to answer the question
    (`evidence`). `chunks`: how many chunks memory has. `withheld`: lines with a secret, which are neither searched nor
    shown. `hint`: the instruction files to search with --path, if they seem to answer and no hit does; else "".

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
    hint: str = ""


def search(
    repo: Repository,
    config: Config,
    query: Query,
    now: datetime,
    kept: KeptIndex | None = None,
    opener: Opener | None = None,
) -> Answer:
    """Search one snapshot, or several branches. Any text is a question. If the index is not current, it is updated
    first.

    `now`: the time for relative days and for the age of lines. `kept`: keeps the index open for the next search, and
    `repo` too. `opener`: returns the index of a commit; default: the index of `repo`.

    Raises GitMemError if the index is unusable or `--lane vector` has no embedder, BadConfig for a setting of ranking
    that cannot be used, GitMemError if there is no hit and the history that was asked for cannot be read, UsageError if
    there is no hit and the query names an unknown type.
    """
    if opener is None:

        def opener(commit: str) -> OpenIndex:
            return ready(repo, config, commit, keeper=kept)

    if kept is not None:
        repo.stay_open()
    with repo.skipping_left_out():
        if query.branches:
            answer = _search_branches(repo, config, query, now, opener)
        else:
            answer = _search_one(repo, config, query, now, opener)
    if note := words_on_left_out(repo):
        answer = answer._replace(notes=(*answer.notes, note))
    if query.types and not answer.hits:
        from gitmem.memory.fact import TYPES

        unknown = next((name for name in query.types if name not in TYPES), None)
        if unknown is not None:
            raise UsageError(
                Message("'{}' is no type of a fact", unknown[:40]), f"--type takes one of {', '.join(TYPES)}"
            )
    return answer


def _search_one(repo: Repository, config: Config, query: Query, now: datetime, opener: Opener) -> Answer:
    """Search one snapshot. A damaged index is discarded, and the search is tried once more. Without a hit raises
    `OpenIndex.unread`, if there is one."""
    opened = _open_index(repo, config, query, opener)
    try:
        today = now.date()
        if query.commit:
            today = repo.commit(query.commit).commit_date.date()
        try:
            answer = _search_index(repo, config, query, today, opened)
        except IndexDamaged:
            opened.close(damaged=True)
            discard(repo)
            opened = _open_index(repo, config, query, opener)
            if opened.index is None:
                raise
            answer = _search_index(repo, config, query, today, opened)
        if opened.unread is not None and not answer.hits:
            raise opened.unread
        return answer
    finally:
        opened.close()


def _why_empty(repo: Repository, config: Config, commit: str) -> str:
    """Why nothing is indexed: there is no memory, or Git ignores all of its files. `commit`: as of an OpenIndex."""
    if not commit and repo.root is not None:
        paths = list(read_work_tree(repo, config.memory_paths).file_stats)
        if paths and len(repo.ignored(paths)) == len(paths):
            return IGNORED
    return EMPTY


def _search_index(repo: Repository, config: Config, query: Query, today: date, opened: OpenIndex) -> Answer:
    """The answer of an open index; an answer without hits if nothing is indexed."""
    searched = query.commit or "worktree"
    answer = Answer(query.text, searched, (), bool(opened.stale), (), opened.stale, opened.notes, chunks=opened.chunks)
    if opened.index is None or opened.snapshot is None:
        return answer
    parsed = parse_query(query, config, today)
    with opened.index.reading():
        norms = opened.snapshot.norms
        if parsed.keep:
            norms = opened.index.select(opened.snapshot, parsed.keep, everything=True)
        retrieved = retrieve(opened.index, norms, parsed, config)
        hits = _hits(repo, config, opened, parsed, retrieved)
        withheld = opened.index.withheld(opened.snapshot)
    min_evidence = config.context_evidence
    evidence = _evidence_of(hits[:ALWAYS_SHOWN_HITS], parsed.question, retrieved.table, min_evidence, opened.chunks)
    answered = bool(hits) and evidence >= min_evidence
    if not query.everything and evidence < min_evidence / 2:
        hits = hits[:ALWAYS_SHOWN_HITS]
    hits, left_out = first_within_budget(hits, query.budget)
    notes = (*opened.notes, *retrieved.notes, *left_out)
    if not hits and not opened.snapshot.chunks and not repo.left_out:
        notes += (_why_empty(repo, config, opened.commit),)
    hint = ""
    if query.instructions and not answered and not parsed.is_narrow and not query.paths and query.history != "only":
        hint = _words_on_instructions(repo, config, query, today, opened)
    settings: dict[str, Any] = {}
    if query.explain:
        from gitmem.search.score_explanation import explain_score, settings_in_force

        settings = settings_in_force(config, parsed.ranking)
        lanes = {"lexical": retrieved.lexical, "vector": retrieved.vector}
        hits = tuple(hit._replace(explain=explain_score(hit, lanes, parsed.ranking)) for hit in hits)
    return answer._replace(
        lanes=retrieved.lanes,
        hits=hits,
        notes=notes,
        settings=settings,
        answered=answered,
        withheld=withheld,
        hint=hint,
    )


def _words_on_instructions(repo: Repository, config: Config, query: Query, today: date, opened: OpenIndex) -> str:
    """A sentence that names the instruction files whose lines seem to answer the query; "" for none. Only a search with
    --path reads them, so the index is asked once more."""
    of_instructions = query._replace(paths=INSTRUCTIONS, everything=False, explain=False, budget=0)
    answer = _search_index(repo, config, of_instructions, today, opened)
    paths = sorted({hit.path for hit in answer.hits if not hit.kind})
    if not answer.answered or not paths:
        return ""
    options = " ".join(f"--path {path}" for path in paths)
    return Message(
        "{} may answer it, and is searched only by name: {}", ", ".join(paths), f"git mem search ... {options}"
    )


def _hits(
    repo: Repository, config: Config, opened: OpenIndex, parsed: ParsedQuery, retrieved: RetrievedChunks
) -> tuple[Hit, ...]:
    """The hits of a query in an open index, best first."""
    index, snapshot, query, ranking = opened.index, opened.snapshot, parsed.query, parsed.ranking
    assert index is not None and snapshot is not None
    strips = strips_to_score(index, snapshot, parsed, retrieved)
    if not strips:
        return ()
    chunks = [chunk for strip in strips for chunk, _, _, _ in strip.chunks]
    near: dict[int, float] = {}
    if retrieved.model_vector is not None:
        near = index.cosines(retrieved.model_vector, chunks)
    positions = lexical.term_positions(retrieved.terms, chunks)
    lines = scoring.score_lines(strips, parsed.question, positions, retrieved.query_vector, ranking, near)
    pairs = zip(retrieved.terms, positions, strict=True)
    identifiers = [found.bodies for term, found in pairs if term.text in parsed.question.exact]
    lines.raise_exact_matches(identifiers, ranking.exact)
    fact_files = fact_files_of(index, snapshot)
    memory = SearchedMemory(repo, config, index, opened.commit, fact_files, parsed.today, query.forgotten)
    kind_of_passages: Callable[..., Passages] = opened.passages or Passages
    passages = kind_of_passages(memory, parsed, lines, _matcher(retrieved, parsed.question))
    return passages.hits(query.limit, blame=query.blame)


def _open_index(repo: Repository, config: Config, query: Query, opener: Opener) -> OpenIndex:
    """The open index of the query's snapshot, together with the index of its history if the query asks for commits."""
    opened = opener(query.commit)
    if not query.history:
        return opened
    from gitmem.search.commit_hits import with_history

    try:
        return with_history(repo, config, opened, query.history)
    except BaseException:
        opened.close()
        raise


def _search_branches(repo: Repository, config: Config, query: Query, now: datetime, opener: Opener) -> Answer:
    """The best hits of the query's branches, by score.

    A passage (path and id) of several branches is shown once, with its highest score, for the first of its branches.
    """
    answers, unread = [], []
    for name, commit in query.branches:
        try:
            answer = _search_one(repo, config, query._replace(branches=(), commit=commit), now, opener)
        except ObjectsLeftOut as error:
            unread.append(Message("branch '{}' was not searched: {}; {}", name, error.message, error.hint))
            continue
        answers.append((name, answer))
    best: dict[tuple[str, str], Hit] = {}
    for name, answer in answers:
        for hit in answer.hits:
            known = best.setdefault((hit.path, hit.id), hit._replace(branch=name))
            if hit.score > known.score:
                best[hit.path, hit.id] = hit._replace(branch=known.branch)
    hits = sorted(best.values(), key=lambda hit: -hit.score)
    first = answers[0][1] if answers else Answer(query.text, "branches", (), False, ())
    hint = ""
    if not any(answer.answered for _, answer in answers):
        hint = first.hint
    return first._replace(
        at="branches",
        hint=hint,
        notes=(*first.notes, *unread),
        stale=any(answer.stale for _, answer in answers),
        reason=next((answer.reason for _, answer in answers if answer.reason), ""),
        answered=any(answer.answered for _, answer in answers),
        chunks=max((answer.chunks for _, answer in answers), default=0),
        withheld=max((answer.withheld for _, answer in answers), default=0),
        hits=tuple(hits[: query.limit]),
    )


def _evidence_of(
    hits: Sequence[Hit], question: Question, table: WordVectors | None, enough: float, chunks: int
) -> float:
    """How likely one of the hits answers the question, 0..1; 1 for a hit of a day that the question names.

    `enough`: the evidence at which the computation ends; 0 for no computation, the result is then 0. `chunks`: as in
    `Answer`.
    """
    if not hits or not enough:
        return 0.0
    if question.days and any(hit.date and question.names_day(date.fromisoformat(hit.date)) for hit in hits):
        return 1.0
    from gitmem.search.evidence import WeighedQuestion, strongest_evidence

    texts = ((f"{hit.subject}\n{hit.text}" if hit.kind else hit.text_with_sources, hit.trail_and_names) for hit in hits)
    return strongest_evidence(WeighedQuestion(question, table, chunks), texts, enough)


def _matcher(retrieved: RetrievedChunks, question: Question) -> Matcher | None:
    """The function that compares lines with the question word by word; None without word vectors, and if they have no
    word of the question."""
    if retrieved.table is None:
        return None
    table = retrieved.table
    rarity = {term.text: term.rarity for term in retrieved.terms}
    words = question_words(question.content, rarity, table)
    if not words:
        return None
    return lambda lines: match_lines(words, lines, table)


__all__ = ["Answer", "Lane", "Query", "search"]
