"""`git mem eval`: measure how well search answers questions whose answers are known."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from gitmem.cli.options import at_option, commit_at, json_option, open_here
from gitmem.cli.terminal import edit_text, escape, first_names, page, progress, say, say_progress, write, write_json
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.gate.tree_policies import worktree_policy
from gitmem.git.repository import Repository
from gitmem.git.worktree import state_dir, write_atomic
from gitmem.index import indexer
from gitmem.json_values import json_object
from gitmem.models.language import open_language_model
from gitmem.plural import counted
from gitmem.promotion import question_runs, questions
from gitmem.promotion.evaluation import TOP, evaluate_promotion
from gitmem.promotion.model_registry import model_setting, promotion_model
from gitmem.promotion.question_runs import QUESTIONS, RunDifferences, compare_and_save
from gitmem.promotion.questions import FactQuestion, questions_by_model
from gitmem.provenance import trends
from gitmem.regular_file import read_regular, writable_file
from gitmem.search import evaluation
from gitmem.search.evaluation import LabelledQuestion, QuestionResult, Summary, read_rows, same_index, summarise
from gitmem.search.fact_places import FactPlaces
from gitmem.search.search import Lane, Query
from gitmem.shell_word import shell_word

MAX_MISSING_PATHS = 3  # expected files that memory lacks, named in a note
Value = TypeVar("Value")


class EvalOptions(NamedTuple):
    """The file and options of one evaluation, as `git mem eval -h` has them.

    `qrels`: None for the person's own questions. `at`: "" for the work tree. `facts`: the file of `--promote`; None:
    search is measured. `edit`: None: the editor opens if the command runs on a terminal. `compare`, `model`: "" for
    none.
    """

    qrels: Path | None
    at: str
    lane: str
    ab: tuple[str, ...]
    compare: str
    floor: tuple[str, ...]
    facts: Path | None
    model: str
    make: bool
    edit: bool | None
    what_if: bool
    history: bool
    as_json: bool


@click.command()
@click.argument("qrels", type=click.Path(path_type=Path), required=False)
@at_option("Search memory as it was there or then.")
@click.option("--lane", default="both", type=click.Choice(["both", "lexical", "vector"]), help="What to search by.")
@click.option("--ab", "ab", multiple=True, metavar="KEY=V1,V2", help="Compare settings of search; repeatable.")
@click.option("--compare", default="", metavar="REV", help="The same questions at another commit, side by side.")
@click.option("--floor", "floor", multiple=True, metavar="FIGURE=X", help="Exit 1 below it, as in recall@5=0.9.")
@click.option("--promote", "facts", type=click.Path(path_type=Path), metavar="FACTS", help="Measure promotion instead.")
@click.option("--model", default="", metavar="ID", help="With --promote or --make: the model that is asked.")
@click.option("--make", is_flag=True, help="Make the questions of your own memory: one for each fact of MEMORY.md.")
@click.option("--edit/--no-edit", default=None, help="With --make: whether to go through them in the editor.")
@click.option("--what-if", is_flag=True, help="What words or meaning alone give, and the history of commits.")
@click.option("--history", is_flag=True, help="Search commits too.")
@json_option
def command(**arguments: Any) -> int:
    """Measure search by questions whose answers are known.

    --make writes questions of your own memory, from templates or by --model, and opens them in Git's editor on a
    terminal; they stay in the Git directory, or go into QRELS. Without QRELS these are asked, else those of the
    repository's .gitmem-questions.jsonl: a fact is known by its id, so that it may move, and what changed since the
    last run is said. --what-if compares words alone, meaning alone
    and the history with what is in force, and --ab other settings, an embedder among them; share@N is what a budget
    of N tokens gives.

    Reports recall, hits, rank, share and time, over all and by category.

    QRELS has a JSON object a line: {"query", "category", "relevant": [{"path", "start_line", "end_line"}]}, or "fact",
    the id of a fact, in the place of "relevant".

    \b
    recall@k   share of the relevant lines that the first k hits cover
    hit@k      whether the first k hits cover any
    mrr        1 / rank of the first hit that covers any, 0 without one
    share@N    share of the relevant lines within the first N tokens of text

    With --promote, FACTS has rows of logs with the lines people kept ({"path", "lines", "keep": [{"lines", "type"}]} or
    {"path", "facts": [{"text", "lines"}]}), and the figures are precision, recall and F1 of the lines that the
    promotion model picks and the precision of the five facts of highest importance in each log.
    """
    options = EvalOptions(**arguments)
    if options.facts is not None:
        if options.qrels is not None:
            raise UsageError("--promote goes without QRELS")
        return promotion(options.facts, options.model, options.as_json)
    if options.make:
        return _make(options)
    if options.edit is not None or options.model:
        raise UsageError("--edit goes with --make, --model with --make or --promote")
    return _evaluate(options)


def _make(options: EvalOptions) -> int:
    """Write a file of questions: those about other facts stay, and each fact of MEMORY.md that is not expired and has
    no secret gets one, from a template or from `options.model`, unless it has one. Returns 0.

    The file is `options.qrels`, or without it QUESTIONS in the Git directory. The editor opens with --edit, and on a
    terminal unless --no-edit is given. Raises GitMemError without a fact, or if the person did not save the questions
    in the editor.
    """
    repo, config = open_here()
    place = options.qrels or state_dir(repo.common_dir) / question_runs.QUESTIONS
    existing = _read(place, read_rows) if place.exists() else []
    known_queries = {question.fact: question.query for _, question in existing if question.fact}
    items = questions.fact_questions(FactPlaces(repo, config).facts, now().date(), known_queries)
    if not items:
        raise GitMemError("there is no fact to ask about", "git mem promote, or git mem add --to memory")
    if options.model:
        items = _by_model(repo, config, items, known_queries, options.model)
    edit = options.edit
    if edit is None:
        edit = sys.stdin.isatty() and sys.stdout.isatty()
    if edit:
        text = edit_text(repo, questions.review_text(items))
        if text is None:
            raise GitMemError("the questions were not saved; nothing was written", "git mem eval --make --no-edit")
        items = questions.parse_reviewed(text, items)
    kept_items = [item for item in items if item.question or edit or item.fact.id in known_queries]
    data = questions.file_text(kept_items, existing).encode()
    real = writable_file(place)
    write_atomic(real.parent, real.name, data, private=options.qrels is None)
    asked = [item for item in items if item.question]
    new_count = sum(item.fact.id not in known_queries for item in asked)
    if options.as_json:
        write_json({"questions": len(asked), "new": new_count, "path": str(place)})
    else:
        next_command = "git mem eval"
        if options.qrels is not None:
            next_command += f" {shell_word(str(options.qrels))}"
        write(escape(f"{counted(len(asked), 'question')}, {new_count} new, in {place}\nnext: {next_command}\n"))
    return Exit.DONE


def _by_model(
    repo: Repository, config: Config, items: Sequence[FactQuestion], known_queries: Mapping[str, str], name: str
) -> list[FactQuestion]:
    """The facts, those without a question in `known_queries` with one that a language model writes. Facts in which the
    gate would redact something are not shown to the model. What the model could not do is printed."""
    setting = model_setting(repo, config, worktree_policy(repo, now().date()), os.environ)
    new_items = [
        item
        for item in items
        if item.fact.id not in known_queries and setting.redact(item.fact.text, item.path) == item.fact.text
    ]
    written_items, problems = questions_by_model(new_items, open_language_model(name, setting))
    for problem in problems:
        say(f"git mem: {problem}")
    by_id = {item.fact.id: item for item in written_items}
    return [by_id.get(item.fact.id, item) for item in items]


def _own_questions(repo: Repository) -> Path:
    """The file of a person's own questions, else the file in the repository. Raises UsageError if there is neither."""
    candidates = [state_dir(repo.common_dir) / QUESTIONS, *([repo.root / trends.QUESTIONS] if repo.root else [])]
    place = next((file for file in candidates if file.is_file()), None)
    if place is None:
        raise UsageError("there are no questions yet", "git mem eval --make, or name a file: git mem eval QRELS")
    return place


def _answerable_questions(
    repo: Repository, config: Config, labelled: Sequence[LabelledQuestion], commit: str
) -> list[LabelledQuestion]:
    """The questions without those about a fact that `commit` ("" for the work tree) lacks; the number of removed ones
    is printed. Raises GitMemError if no question is left."""
    places = FactPlaces(repo, config, commit)
    answerable = [question for question in labelled if not question.fact or places.find(question.fact)]
    if len(answerable) < len(labelled):
        dropped = counted(len(labelled) - len(answerable), "question")
        say(f"{dropped} left out: the fact is there no more (git mem eval --make)")
    if not answerable:
        raise GitMemError("no question is about a fact that is there", "git mem eval --make")
    return answerable


def _evaluate(options: EvalOptions) -> int:
    """Search for the questions with each variant of the settings and print the figures. Returns 1 if a figure is below
    its floor, else 0.

    Raises UsageError for an invalid question, floor or setting, GitMemError for a file that cannot be read,
    UnknownRevision.
    """
    floors = evaluation.parse_floors(options.floor)
    if options.compare and (options.ab or options.what_if):
        raise UsageError("--compare goes without --ab and --what-if")
    repo, config = open_here()
    labelled = _read(options.qrels or _own_questions(repo), evaluation.read_questions)
    variants = evaluation.variants(config, options.ab)
    moment = now()
    query = Query(
        "", commit=commit_at(repo, options.at, moment), lane=Lane(options.lane),
        history="with" if options.history else "",
    )  # fmt: skip
    answerable = _answerable_questions(repo, config, labelled, query.commit)
    if missing := evaluation.missing_files(repo, answerable, query.commit):
        say(f"note: not in this memory, so never found: {first_names(missing, MAX_MISSING_PATHS)}")

    def ask(query: Query, settings: Config, name: str) -> list[QuestionResult]:
        with_progress = progress(answerable, len(answerable), f"questions {name}".strip())
        return evaluation.run_questions(repo, settings, with_progress, query, moment, time.perf_counter)

    columns: dict[str, Mapping[str, Summary]] = {}
    if options.compare:
        compared = ask(query._replace(commit=commit_at(repo, options.compare, moment)), config, options.compare)
        columns[options.compare] = evaluation.summarise(compared)
    runs = _each_variant(repo, config, variants, lambda name, settings: ask(query, settings, name))
    for (name, _), run in zip(variants, runs, strict=True):
        columns[name or options.at or "now"] = evaluation.summarise(run)
    if options.what_if:
        for name, changed in _what_if_queries(query).items():
            columns[name] = evaluation.summarise(ask(changed, config, name))
    gained: list[str] = []
    lost: list[str] = []
    if options.compare:
        gained, lost = evaluation.gained_and_lost(compared, runs[0])
    differences = None
    if query == Query("") and not (options.qrels or options.ab or options.compare):
        differences = compare_and_save(repo, config, runs[0], moment)
        if differences:
            gained, lost = list(differences.gained), list(differences.lost)
    _show(columns, gained, lost, differences, options.as_json)
    below = [_is_below_floor(run, name, floors) for (name, _), run in zip(variants, runs, strict=True)]
    return Exit.findings_if(any(below))


def _what_if_queries(query: Query) -> dict[str, Query]:
    """Name -> query of the searches that `--what-if` compares with `query`: by words or by meaning alone, with or
    without history."""
    return {
        "words alone": query._replace(lane=Lane.LEXICAL),
        "meaning alone": query._replace(lane=Lane.VECTOR),
        "without history" if query.history else "with history": query._replace(history="" if query.history else "with"),
    }


def _show(
    columns: Mapping[str, Mapping[str, Summary]],
    gained: list[str],
    lost: list[str],
    differences: RunDifferences | None,
    as_json: bool,
) -> None:
    """Print the figures of the runs, then the gained and lost questions. `columns`: run -> category -> figures."""
    if as_json:
        write_json({**as_value(columns, gained, lost), "since": differences})
        return
    rows: list[str] = []
    if differences and differences.figures:
        rows.append(f"{differences.sentence}\n")
    rows += [f"gained: {escape(text)}\n" for text in gained]
    rows += [f"lost: {escape(text)}\n" for text in lost]
    page(render(columns) + "".join(rows))


def _read(qrels: Path, parse: Callable[[str], list[Value]]) -> list[Value]:
    """Read and parse a file of questions. Raises GitMemError if it cannot be read, UsageError for an invalid question,
    with the name of the file."""
    try:
        return parse(read_regular(qrels).decode("utf-8"))
    except OSError as error:
        raise GitMemError(f"cannot read '{qrels}': {error.strerror}") from None
    except UnicodeDecodeError:
        raise GitMemError(f"cannot read '{qrels}': it is not UTF-8") from None
    except UsageError as error:
        raise UsageError(f"{qrels}, {error.message}", error.hint) from None


def _each_variant(
    repo: Repository,
    config: Config,
    variants: Sequence[tuple[str, Config]],
    ask: Callable[[str, Config], list[QuestionResult]],
) -> list[list[QuestionResult]]:
    """The results for each (name, settings). The index is built anew for settings that change it, and at the end, even
    after an error, it is that of `config` again."""
    indexed = config
    runs = []
    try:
        for name, settings in variants:
            if not same_index(settings, indexed):
                say(f"git mem: an index for {name}")
                indexer.refresh(repo, settings)
                indexed = settings
            runs.append(ask(name, settings))
    finally:
        if not same_index(config, indexed):
            indexer.refresh(repo, config)
    return runs


def _is_below_floor(run: list[QuestionResult], name: str, floors: Sequence[tuple[str, float]]) -> bool:
    """Whether a figure is below its floor; each such figure is printed. `name`: the variant of the settings, "" for
    none."""
    figures = summarise(run)["all"].figures
    missed = [(figure, least) for figure, least in floors if figures[figure] < least]
    variant = f" with {name}" if name else ""
    for figure, least in missed:
        say(f"{figure} is {figures[figure]:.3f}, below {least:g}{variant}")
    return bool(missed)


def promotion(facts: Path, model: str, as_json: bool) -> int:
    """Print how well the promotion model picks the lines that people kept, by the rows of the file `facts`: precision,
    recall and F1. Returns 0. `model`: "" for the configured one."""
    repo, config = open_here({"model": model})
    policy = worktree_policy(repo, now().date())
    proposer = promotion_model(repo, config, policy, os.environ, progress=say_progress)
    quality, notes = evaluate_promotion(facts, proposer)
    for note in notes:
        say(f"git mem: {note}")
    if as_json:
        write_json({"model": proposer.id, **{k: round(v, 4) for k, v in json_object(quality).items()}})
        return Exit.DONE
    write(
        f"{proposer.id} on {counted(quality.logs, 'log')}, {counted(quality.lines, 'line')}, "
        f"{quality.keep} of them worth keeping\n"
        f"lines     precision {quality.precision:.3f}  recall {quality.recall:.3f}  F1 {quality.f1:.3f}\n"
        f"top {TOP}     precision {quality.top_precision:.3f}\n"
        f"types     {quality.type_accuracy:.3f} right\nunsourced {quality.unsourced}\n"
    )
    return Exit.DONE


def as_value(columns: Mapping[str, Mapping[str, Summary]], gained: list[str], lost: list[str]) -> dict[str, Any]:
    """The figures as `git mem eval --json` prints them: {"runs": [{"name", "groups": [...]}], "gained", "lost"}.
    `columns`: run -> category -> figures. `gained`, `lost`: questions. No class lists these keys, because the figures'
    names are keys of a group."""
    return {
        "runs": [
            {
                "name": name,
                "groups": [
                    {
                        "category": category,
                        "questions": summary.questions,
                        **{figure: round(value, 4) for figure, value in summary.figures.items()},
                        "p50_ms": round(summary.p50, 1),
                        "p95_ms": round(summary.p95, 1),
                    }
                    for category, summary in groups.items()
                ],
            }
            for name, groups in columns.items()
        ],
        "gained": gained,
        "lost": lost,
    }


def render(columns: Mapping[str, Mapping[str, Summary]]) -> str:
    """A table with one row for each category and run, the runs of a category one below the other. `columns`: run ->
    category -> figures; at least one run, each with the same categories."""
    first_groups = next(iter(columns.values()))
    figures = list(first_groups["all"].figures)
    category_width = max(map(len, first_groups))
    rows = []
    for category in first_groups:
        for index, (name, groups) in enumerate(columns.items()):
            label = category
            if len(columns) > 1:
                label = f"{'' if index else category:<{category_width}}  {name}"
            rows.append((label, groups[category]))
    width = max(len(escape(label)) for label, _ in rows) + 1
    head = [figure.replace("recall@", "R@").replace("share@", "T@") for figure in figures]
    lines = [" " * width + "    n " + " ".join(f"{h:>6}" for h in head) + "   p50ms  p95ms"]
    for label, summary in rows:
        cells = " ".join(f"{summary.figures[figure]:6.3f}" for figure in figures)
        lines.append(f"{escape(label):<{width}}{summary.questions:>5} {cells} {summary.p50:7.1f}{summary.p95:7.1f}")
    return "\n".join([*lines, ""])
