"""`git mem eval`: how well search answers questions whose answers are known."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import escape, progress, say, write, write_json
from gitmem.environment import now
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gitmem.config import Config
    from gitmem.git.protocol import Repository
    from gitmem.search.evaluation import LabelledQuestion, Result, Summary


class EvalOptions(NamedTuple):
    """The file and options of one evaluation, as `git mem eval -h` has them."""

    qrels: Path | None
    at: str
    lane: str
    ab: tuple[str, ...]
    compare: str
    floor: tuple[str, ...]
    facts: Path | None
    model: str
    as_json: bool


@click.command()
@click.argument("qrels", type=click.Path(path_type=Path), required=False)
@click.option("--at", default="", metavar="REV|DATE", help="Search memory as it was there or then.")
@click.option("--lane", default="both", type=click.Choice(["both", "lexical", "vector"]), help="What to search by.")
@click.option("--ab", "ab", multiple=True, metavar="KEY=V1,V2", help="Compare settings of search; repeatable.")
@click.option("--compare", default="", metavar="REV", help="The same questions at another commit, side by side.")
@click.option("--floor", "floor", multiple=True, metavar="FIGURE=X", help="Exit 1 below it, as in recall@5=0.9.")
@click.option("--promote", "facts", type=click.Path(path_type=Path), metavar="FACTS", help="Measure promotion instead.")
@click.option("--model", default="", metavar="ID", help="With --promote: the model (mem.model).")
@json_option
def command(**given: Any) -> int:
    """Ask every question of QRELS and report recall, precision and time, over all and by category.

    QRELS has a JSON object a line: {"query", "category", "relevant": [{"path", "start_line", "end_line"}]}.

    \b
    recall@k   share of the relevant lines that the first k hits cover
    hit@k      whether the first k hits cover any
    share@N    share of the relevant lines within the first N tokens of text

    With --promote, FACTS has rows of logs with the lines people kept ({"path", "lines", "keep": [{"lines", "type"}]} or
    {"path", "facts": [{"text", "lines"}]}), and the figures are precision, recall and F1 of the lines that the
    promotion model picks and the precision of the five facts of highest importance in each log.
    """
    options = EvalOptions(**given)
    if options.facts is not None:
        if options.qrels is not None:
            raise UsageError("--promote goes without QRELS")
        return promotion(options.facts, options.model, options.as_json)
    if options.qrels is None:
        raise UsageError("name the questions: git mem eval QRELS, or --promote FACTS")
    return _evaluate(options.qrels, options)


def _evaluate(qrels: Path, options: EvalOptions) -> int:
    """Ask the questions of a file with each variant of the settings and print the figures; the exit code.

    Raises UsageError for what is no question, floor or setting, GitMemError for a file that cannot be read,
    UnknownRevision for a commit that is none.
    """
    from gitmem.memory.named_times import resolve_at
    from gitmem.search import evaluation
    from gitmem.search.search import Lane, Query

    floors = evaluation.floors(options.floor)
    questions = _questions(qrels)
    if options.compare and options.ab:
        raise UsageError("--compare and --ab do not go together")
    repo, config = open_here()
    variants = evaluation.variants(config, options.ab)
    moment = now()
    query = Query("", commit=resolve_at(repo, options.at, moment) if options.at else "", lane=Lane(options.lane))
    _say_missing(evaluation.missing(repo, questions, query.commit))

    def ask(query: Query, settings: Config, name: str) -> list[Result]:
        return evaluation.run(repo, settings, _shown(questions, name), query, moment, time.perf_counter)

    columns: dict[str, Mapping[str, Summary]] = {}
    if options.compare:
        old = ask(query._replace(commit=resolve_at(repo, options.compare, moment)), config, options.compare)
        columns[options.compare] = evaluation.summarise(old)
    runs = _each_variant(repo, config, variants, lambda name, settings: ask(query, settings, name))
    for (name, _), run in zip(variants, runs, strict=True):
        columns[name or options.at or "now"] = evaluation.summarise(run)
    gained, lost = evaluation.gained_and_lost(old, runs[0]) if options.compare else ([], [])
    _show(columns, gained, lost, options.as_json)
    below = [_below(run, name, floors) for (name, _), run in zip(variants, runs, strict=True)]
    return Exit.FINDINGS if any(below) else Exit.DONE


def _show(columns: Mapping[str, Mapping[str, Summary]], gained: list[str], lost: list[str], as_json: bool) -> None:
    if as_json:
        write_json(as_value(columns, gained, lost))
        return
    write(render(columns))
    for label, queries in (("gained", gained), ("lost", lost)):
        for text in queries:
            write(f"{label}: {escape(text)}\n")


def _questions(qrels: Path) -> list[LabelledQuestion]:
    """The questions of a file. Raises GitMemError where it cannot be read, UsageError for what is no question."""
    from gitmem.search import evaluation

    try:
        return evaluation.read(read_regular(qrels).decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise GitMemError(f"cannot read '{qrels}': {reason}") from None
    except UsageError as error:
        raise UsageError(f"{qrels}, {error.message}", error.hint) from None


def _shown(questions: Sequence[LabelledQuestion], name: str) -> Iterable[LabelledQuestion]:
    """The questions, one by one, with a bar of how many there are."""
    return progress(questions, len(questions), f"questions {name}".strip())


def _say_missing(paths: Sequence[str]) -> None:
    if paths:
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        say(f"note: not in this memory, so never found: {', '.join(paths[:3])}{more}")


def _each_variant(
    repo: Repository,
    config: Config,
    variants: Sequence[tuple[str, Config]],
    ask: Callable[[str, Config], list[Result]],
) -> list[list[Result]]:
    """The results of each (name, settings), each with an index of its own chunk size; in the end the index is as
    `config` has it, whatever happens."""
    from gitmem.index import indexer
    from gitmem.search.evaluation import same_index

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


def _below(run: list[Result], name: str, floors: Sequence[tuple[str, float]]) -> bool:
    """Whether a figure is below its floor; each that is is said."""
    from gitmem.search.evaluation import summarise

    figures = summarise(run)["all"].figures
    missed = [(figure, least) for figure, least in floors if figures[figure] < least]
    for figure, least in missed:
        say(f"{figure} is {figures[figure]:.3f}, below {least:g}" + (f" with {name}" if name else ""))
    return bool(missed)


def promotion(facts: Path, model: str, as_json: bool) -> int:
    """The figures of the promotion model on the rows of `facts`."""
    from dataclasses import asdict

    from gitmem.promotion.evaluation import TOP, evaluate_promotion
    from gitmem.promotion.registry import promotion_model

    repo, config = open_here({"model": model} if model else {})
    found, _ = promotion_model(repo, config, now().date(), os.environ)
    quality = evaluate_promotion(facts, found)
    if as_json:
        write_json({"model": found.id, **{k: round(v, 4) for k, v in asdict(quality).items()}})
        return Exit.DONE
    write(
        f"{found.id} on {quality.logs} logs, {quality.lines} lines, {quality.keep} of them worth keeping\n"
        f"lines     precision {quality.precision:.3f}  recall {quality.recall:.3f}  F1 {quality.f1:.3f}\n"
        f"top {TOP}     precision {quality.top_precision:.3f}\n"
        f"types     {quality.type_accuracy:.3f} right\nunsourced {quality.unsourced}\n"
    )
    return Exit.DONE


def as_value(columns: Mapping[str, Mapping[str, Summary]], gained: list[str], lost: list[str]) -> dict[str, Any]:
    """The JSON of docs/json.md, "eval"."""
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
    """A table with a row a category; of several runs, the rows of one category stand below each other."""
    first = next(iter(columns.values()))
    figures = list(first["all"].figures)
    several = len(columns) > 1
    rows = [
        (category if not several else f"{category if not at else '':<{max(map(len, first))}}  {name}", groups[category])
        for category in first
        for at, (name, groups) in enumerate(columns.items())
    ]
    width = max(len(escape(label)) for label, _ in rows) + 1
    head = [figure.replace("recall@", "R@").replace("share@", "T@") for figure in figures]
    out = [" " * width + "    n " + " ".join(f"{h:>6}" for h in head) + "   p50ms  p95ms"]
    for label, summary in rows:
        cells = " ".join(f"{summary.figures[figure]:6.3f}" for figure in figures)
        out.append(f"{escape(label):<{width}}{summary.questions:>5} {cells} {summary.p50:7.1f}{summary.p95:7.1f}")
    return "\n".join([*out, ""])
