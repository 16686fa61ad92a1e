"""Chooses the chunks whose lines are scored, and joins consecutive ones to strips.

These are the best chunks of each lane with their neighbours, and the first chunks of the files that the question names
by their name or their day.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from gitmem.errors import IndexDamaged
from gitmem.index.db.values import Place, Snapshot
from gitmem.messages import Message
from gitmem.paths import Kind, file_name_words, kind, log_date
from gitmem.search.memory_file import FileKey
from gitmem.search.query import Keep, Lane, ParsedQuery
from gitmem.search.question import Question
from gitmem.search.retrieval import RetrievedChunks
from gitmem.search.scoring import Strip, greatest_cosine
from gitmem.search.weights import Ranking
from gitmem.text.terms import terms

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader

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

    words: Mapping[FileKey, frozenset[int]] = {}
    complete: frozenset[FileKey] = frozenset()
    likely: tuple[FileKey, ...] = ()


def strips_to_score(
    index: IndexReader, snapshot: Snapshot, parsed: ParsedQuery, retrieved: RetrievedChunks
) -> list[Strip]:
    """The runs of consecutive chunks whose lines shall be scored; none if memory has nothing related to the question.
    Raises IndexDamaged if the index lacks the record of a chunk."""
    question, ranking = parsed.question, parsed.ranking
    named_files = _named_files(index, snapshot, parsed, retrieved)
    logs: list[FileKey] = _logs_of(index, snapshot, question) if question.days else []
    whole_files = dict.fromkeys(logs, MAX_LOG_CHUNKS)
    chunks: dict[FileKey, dict[int, tuple[int, int, int]]] = {}  # file -> ordinal -> (chunk, first line, heading)
    if not (question.only_days and logs and not parsed.query.paths):  # else these days are the question
        whole_files = dict.fromkeys(named_files.likely, MAX_NAMED_FILE_CHUNKS) | whole_files
        pool = retrieved.best(ranking.pool)
        places = index.places(snapshot, pool)
        for place in filter(None, (_shown_place(places.get(chunk, ()), parsed.keep) for chunk in pool)):
            around = chunks.setdefault((place.path, place.oid), {})
            if not around.keys() >= {place.ordinal - 1, place.ordinal, place.ordinal + 1}:
                around.update(_neighbours(index, place.oid, place.ordinal, ranking.reach))
    for file, count in whole_files.items():
        chunks.setdefault(file, {}).update(_neighbours(index, file[1], 0, count))
    strips = list(_strips(index, chunks, question, named_files))
    if not whole_files and _is_unrelated(retrieved, strips, ranking):
        return []
    return strips


def _shown_place(places: Sequence[Place], keep: Keep | None) -> Place | None:
    """The place of a chunk that a hit shows, MEMORY.md before other files; None if no place may be shown."""
    shown = [place for place in places if (keep(place.path) if keep and place.path[:2] != "//" else place.corpus)]
    return min(shown, key=lambda place: (place.path != "MEMORY.md", place.path), default=None)


def _neighbours(index: IndexReader, oid: str, ordinal: int, reach: int) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Yield (ordinal, (chunk, first line, line of its heading)) of the chunks of a blob from `reach` before to `reach`
    after an ordinal."""
    rows = index.neighbours(oid, ordinal, reach)
    for number, (chunk, start, _, heading) in enumerate(rows, max(0, ordinal - reach)):
        yield number, (chunk, start, heading)


def _strips(
    index: IndexReader,
    chunks: Mapping[FileKey, Mapping[int, tuple[int, int, int]]],
    question: Question,
    named_files: _NamedFiles,
) -> Iterator[Strip]:
    """Yield the runs of consecutive chunks of each file. `chunks`: file -> ordinal of a chunk -> (chunk, first line,
    line of its heading). Raises IndexDamaged if the index lacks a record of a chunk."""
    records = index.lines({chunk for of_file in chunks.values() for chunk, _, _ in of_file.values()})
    for (path, oid), of_file in chunks.items():
        days = 0.0
        if (when := log_date(path)) is not None:
            days = max((named.match(when) for named in question.days), default=0.0)
        name, is_complete = named_files.words.get((path, oid), frozenset()), (path, oid) in named_files.complete
        # Consecutive ordinals have the same difference from their positions in the sorted list.
        for _, run in groupby(enumerate(sorted(of_file)), lambda pair: pair[1] - pair[0]):
            rows = [of_file[ordinal] for _, ordinal in run]
            try:
                packed = [(chunk, start, records[chunk], heading) for chunk, start, heading in rows]
            except KeyError:
                raise IndexDamaged(
                    Message("the index is damaged ({}).", "lines"), "'git mem index' builds it again."
                ) from None
            yield Strip(path, oid, packed, days, name, is_complete)


def _is_unrelated(retrieved: RetrievedChunks, strips: list[Strip], ranking: Ranking) -> bool:
    """Whether memory has no word of the question, and no chunk or line with a near vector (`Ranking.unrelated`,
    `akin`)."""
    if retrieved.lexical or max(retrieved.vector.values(), default=0.0) >= ranking.unrelated:
        return False
    return retrieved.query_vector is None or greatest_cosine(strips, retrieved.query_vector) < ranking.akin


def _named_files(
    index: IndexReader, snapshot: Snapshot, parsed: ParsedQuery, retrieved: RetrievedChunks
) -> _NamedFiles:
    """The result has the files whose name has a word of the question and that the query's paths allow; none in the
    vector lane. `likely` has at most MAX_NAMED_FILES of them, the best first. A file is likely if the question has
    every word of its name (for a session's file this does not count), or if its words have at least MIN_NAME_SHARE of
    the weight of the question."""
    if parsed.query.lane is Lane.VECTOR or not retrieved.terms:
        return _NamedFiles()
    numbers = {term.text: number for number, term in enumerate(retrieved.terms)}
    named = index.named(snapshot, numbers)
    found = {file: words for file, words in named.items() if parsed.keep is None or parsed.keep(file[0])}
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
    wanted = []
    for path, oid in index.files(snapshot):
        day = log_date(path)
        if day is not None and any(named.match(day) == 1.0 for named in question.days):
            wanted.append((day, path, oid))
    return [(path, oid) for _, path, oid in sorted(wanted)[-MAX_LOGS:]]
