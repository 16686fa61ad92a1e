"""Measures search by questions whose answers are known: recall, hit rate, reciprocal rank and share by tokens.

Each question is searched once for HITS hits. A relevant line is covered by the first hit that contains it. `recall@N`
is the share of relevant lines in the first N hits; `hit@N` is 1 if there is one; `mrr` is 1 / the rank of the first hit
with a relevant line; `share@N` is the share of relevant lines within the first N tokens (characters / 4) of the hits'
texts. Never prints; the clock is a parameter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from gitmem.config import Config
from gitmem.config.loading import changed
from gitmem.config.settings import EMBEDDER_SETTINGS, SETTINGS, git_name, tunable
from gitmem.errors import BadConfig, UsageError
from gitmem.git.repository import Repository
from gitmem.json_values import parse_json
from gitmem.memory.similarity import terms
from gitmem.messages import Message
from gitmem.search import tuning
from gitmem.search.fact_places import FactPlaces
from gitmem.search.hits import Hit
from gitmem.search.query import Query
from gitmem.search.search import search

HITS = 50  # hits of one question
RANKS = (1, 5, 10)  # N of `recall@N` and `hit@N`
TOKENS = (500, 1000, 2000)  # N of `share@N`
# Part of the measure, not a count of tokens (models/token_count.py): the figures published so far are in these.
CHARACTERS_A_TOKEN = 4
MAX_PLACE_LINES = 100_000  # lines of one relevant passage
SHAPE = 'each line: {"query": ..., "category": ..., "relevant": [{"path": ..., "start_line": 1, "end_line": 2}]}'
FACT = re.compile("[0-9a-f]{12}")  # the id of a fact
MIN_COMMIT_SHARE = 0.8  # least share of a fact's terms in a commit message that answers in its place


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with its answers.

    `category`: a name for a group of questions, "" for none. `relevant`: (path, first line, last line) of the passages
    that answer it. `fact`: the id of the fact that it asks about, "" for none. Any line of `relevant` (the first line
    of the fact in each file), any line of `same` (the lines that the fact cites), or a commit with the words of `text`
    answers such a question.
    """

    query: str
    category: str
    relevant: tuple[tuple[str, int, int], ...]
    fact: str = ""
    same: tuple[tuple[str, int, int], ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The result of one question. `figures`: name (`recall@5`, `hit@1`, `mrr`, `share@500`) -> value, 0..1; the module
    says what they mean. `milliseconds`: duration of its search."""

    question: LabelledQuestion
    figures: Mapping[str, float]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over several questions. `questions`: their number. `figures`: name -> mean. `p50`, `p95`: median and 95th
    percentile of the durations, in milliseconds."""

    questions: int
    figures: Mapping[str, float]
    p50: float
    p95: float


def read_questions(text: str) -> list[LabelledQuestion]:
    """The questions of a QRELS file (JSON Lines). Facts without a question are left out.

    Raises UsageError with the number of a bad line and the reason, and if there is no question.
    """
    questions = [question for _, question in read_rows(text) if question.query]
    if not questions:
        raise UsageError("there is no question in the file", SHAPE)
    return questions


def read_rows(text: str) -> list[tuple[str, LabelledQuestion]]:
    """(line, question) for each line of a QRELS file that is not blank. A fact without a question has `query` "".

    Raises UsageError with the number of a bad line and the reason.
    """
    rows = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append((line, _labelled(parse_json(line))))
        except ValueError as error:
            if isinstance(error, json.JSONDecodeError):
                why = f"it is no JSON ({error.msg})"
            else:
                why = str(error)
            raise UsageError(Message("line {}: {}", number, why), SHAPE) from None
    return rows


def _labelled(row: Any) -> LabelledQuestion:
    """The question of one JSON object. Raises ValueError with the reason for any other value."""
    if not isinstance(row, dict):
        raise ValueError("it is no JSON object")
    query, relevant, fact = row.get("query"), row.get("relevant"), row.get("fact")
    of_fact = relevant is None and isinstance(fact, str) and FACT.fullmatch(fact) is not None
    if not isinstance(query, str) or not (query.strip() or (of_fact and not query)):
        raise ValueError("'query' is missing or no text")
    if of_fact:
        return LabelledQuestion(query, str(row.get("category") or ""), (), str(fact))
    if not isinstance(relevant, list) or not relevant:
        raise ValueError("'relevant' is missing or no list of places")
    places: list[tuple[str, int, int]] = []
    for place in relevant:
        if isinstance(place, dict):
            fields = [place.get(key) for key in ("path", "start_line", "end_line")]
        else:
            fields = []
        match fields:
            case [str(path), int(first), int(last)] if path:
                if not 1 <= first <= last or last - first > MAX_PLACE_LINES:
                    raise ValueError(f"lines {first} to {last} of '{path}' are no range of lines")
                places.append((path, first, last))
            case _:
                raise ValueError("a place of 'relevant' needs 'path', 'start_line' and 'end_line'")
    return LabelledQuestion(query, str(row.get("category") or ""), tuple(places))


def missing_files(repo: Repository, questions: Iterable[LabelledQuestion], commit: str) -> list[str]:
    """The sorted paths that the questions name and that do not exist in `commit` ("" for the work tree, in a bare
    repository for HEAD)."""
    named = sorted({path for question in questions for path, _, _ in question.relevant})
    if commit or repo.root is None:
        existing = {entry.path for entry in repo.entries(commit or "HEAD", named)}
        return [path for path in named if path not in existing]
    return [path for path in named if not (repo.root / path).is_file()]


def run_questions(
    repo: Repository,
    config: Config,
    questions: Iterable[LabelledQuestion],
    query: Query,
    now: datetime,
    clock: Callable[[], float],
) -> list[QuestionResult]:
    """Search each question and measure the answer. `query`: the options; its text and limit are replaced.

    A question about a fact that does not exist has no relevant line, so its figures are 0. `clock`: returns seconds.
    """
    results = []
    places = FactPlaces(repo, config, query.commit)
    for question in questions:
        place = places.find(question.fact) if question.fact else None
        if place:
            question = replace(question, relevant=place.own, same=place.cited, text=place.text)
        began = clock()
        answer = search(repo, config, query._replace(text=question.query, limit=HITS), now)
        results.append(QuestionResult(question, question_figures(question, answer.hits), (clock() - began) * 1000))
    return results


def question_figures(question: LabelledQuestion, hits: Iterable[Hit]) -> dict[str, float]:
    """Name -> value, 0..1, of all figures of one question. `hits`: best first; the texts of a hit's sources count as
    lines of the hit. All figures are 0 if the question has no answer."""
    answer_numbers = _answer_numbers(question)
    total = len(set(answer_numbers.values())) or 1
    fact_terms = terms(question.text) if question.text else set()
    covered: set[int] = set()
    within = dict.fromkeys(TOKENS, 0)
    recall: dict[int, float] = {}
    first_hit = 0
    characters = 0
    rank = 0
    for rank, hit in enumerate(hits, 1):
        lines = hit.text.split("\n")
        last_line = hit.start_line + len(lines) - 1
        shown = [(hit.path, number, line) for number, line in enumerate(lines, hit.start_line)]
        for source in hit.sources:  # which are read with the fact
            texts = source.text.split("\n") if source.text else []
            shown += [(source.path, number, line) for number, line in enumerate(texts, source.start_line)]
        for path, number, line in shown:
            characters += len(line) + 1
            answer = answer_numbers.get((path, number))
            if answer is None and number == last_line and _is_commit_of_fact(hit, fact_terms):
                answer = 0
            if answer is not None:
                first_hit = first_hit or rank
                if answer not in covered:
                    covered.add(answer)
                    for tokens in TOKENS:
                        within[tokens] += characters <= tokens * CHARACTERS_A_TOKEN
        if rank in RANKS:
            recall[rank] = len(covered) / total
    figures: dict[str, float] = {}
    for limit in RANKS:
        figures[f"recall@{limit}"] = recall.get(limit, len(covered) / total)
        figures[f"hit@{limit}"] = float(0 < first_hit <= limit)
    if first_hit:
        figures["mrr"] = 1 / first_hit
    else:
        figures["mrr"] = 0.0
    for tokens in TOKENS:
        figures[f"share@{tokens}"] = within[tokens] / total
    return figures


def _is_commit_of_fact(hit: Hit, fact_terms: set[str]) -> bool:
    """Whether a hit is a commit with MIN_COMMIT_SHARE of the terms of the fact that is asked for."""
    if not (hit.commit and hit.kind and fact_terms):
        return False
    return len(fact_terms & terms(f"{hit.subject} {hit.text}")) >= MIN_COMMIT_SHARE * len(fact_terms)


def _answer_numbers(question: LabelledQuestion) -> dict[tuple[str, int], int]:
    """(path, line) -> the number of its answer. Each relevant line has its own number; all lines of a fact share 0."""
    if question.fact:
        places = (*question.relevant, *question.same)
        return {(path, line): 0 for path, first, last in places for line in range(first, last + 1)}
    lines = dict.fromkeys((path, line) for path, first, last in question.relevant for line in range(first, last + 1))
    return {place: number for number, place in enumerate(lines)}


def summarise(results: Sequence[QuestionResult]) -> dict[str, Summary]:
    """ "all" -> the means over all questions; then each category, in alphabetical order, -> the means over its
    questions."""
    groups = {"all": list(results)}
    for category in sorted({result.question.category for result in results} - {""}):
        groups[category] = [result for result in results if result.question.category == category]
    return {name: _mean(group) for name, group in groups.items()}


def _mean(results: Sequence[QuestionResult]) -> Summary:
    """The means over these results; zeros and no figures for none."""
    count = len(results)
    names = results[0].figures if results else {}
    times = sorted(result.milliseconds for result in results)
    return Summary(
        count,
        {name: sum(result.figures[name] for result in results) / count for name in names},
        times[count // 2] if times else 0.0,
        times[min(count - 1, int(count * 0.95))] if times else 0.0,
    )


def gained_and_lost(old: Sequence[QuestionResult], new: Sequence[QuestionResult]) -> tuple[list[str], list[str]]:
    """(questions answered in the first 5 hits only in `new`, questions answered there only in `old`). Both sequences
    have the same questions in the same order."""
    name = "hit@5"
    pairs = list(zip(old, new, strict=True))
    gained = [after.question.query for before, after in pairs if after.figures[name] > before.figures[name]]
    lost = [after.question.query for before, after in pairs if after.figures[name] < before.figures[name]]
    return gained, lost


def variants(config: Config, texts: Sequence[str]) -> list[tuple[str, Config]]:
    """(name, settings) for each combination of the values in `texts`; [("", config)] if `texts` is empty.

    A text is `KEY=V1,V2`. KEY is a setting of search (`searchPool`, `chunkSize`, `embedder`) or a constant of ranking.
    Raises UsageError for an unknown KEY or a bad value.
    """
    configs = [("", config)]
    for text in texts:
        key, _, values = text.partition("=")
        name = f"mem.{key.lower().removeprefix('mem.')}"
        chosen = [git_name(field) for field in SETTINGS if tunable(field)]
        if not values or (not tuning.is_constant(key) and name not in [each.lower() for each in chosen]):
            known = f"{', '.join(each.removeprefix('mem.') for each in chosen)}, {tuning.constant_names()}"
            raise UsageError(f"'{text}' is no setting of search", f"KEY=V1,V2 with a KEY of {known}")
        made_configs = []
        for label, settings in configs:
            for value in values.split(","):
                try:
                    variant = changed(
                        settings, *(("searchWeight", f"{key}={value}") if tuning.is_constant(key) else (name, value))
                    )
                    tuning.configured_ranking(variant)
                except BadConfig as error:
                    raise UsageError(error.message, error.hint) from None
                made_configs.append((f"{label} {key}={value}".strip(), variant))
        configs = made_configs
    return configs


def same_index(config: Config, other: Config) -> bool:
    """Whether both settings lead to the same index: they have equal sizes of chunks and the same embedder."""
    names = ("chunk_size", "chunk_overlap", *EMBEDDER_SETTINGS)
    return all(getattr(config, name) == getattr(other, name) for name in names)


def parse_floors(texts: Sequence[str]) -> list[tuple[str, float]]:
    """(name, least value) for each text such as `recall@5=0.9`. Raises UsageError for an unknown figure or a value
    outside 0..1."""
    names = {
        *(f"{kind}@{rank}" for kind in ("recall", "hit") for rank in RANKS),
        *(f"share@{tokens}" for tokens in TOKENS),
        "mrr",
    }
    limits = []
    for text in texts:
        name, _, value = text.partition("=")
        try:
            number: float | None = float(value)
        except ValueError:
            number = None
        if name not in names or number is None or not 0 <= number <= 1:
            raise UsageError(f"'{text}' is no floor", f"one of {', '.join(sorted(names))}, as in recall@5=0.9")
        limits.append((name, number))
    return limits
