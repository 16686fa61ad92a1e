"""Whether a small language model beside the rules promotes better than the rules alone, and what a line costs.

    python bench/judge.py MODEL.gguf [--facts FILE.jsonl ...] [--statements FILE.jsonl ...] [--most 100] [--days 25]

A set is a sample of what the rules say of bench/log_days, of each `--facts` (rows as `git mem eval --promote` reads
them) and of each `--statements`: a JSON object a line with `text`, `language`, `keep`, `offered`, `odds` (of the rules,
in the log it stood in; null where nothing may change them) and `weight` (how many such statements it stands for). Of a
set at most `--most` statements a language are judged, of the log days `--days`. `judge` is the model alone, where its
evidence is above 0; `both` is what `git mem promote` does. `--state` keeps what was judged.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE))

from bench._sets import table  # noqa: E402
from bench.promote import DAYS  # noqa: E402
from gitmem.config import Config  # noqa: E402
from gitmem.git.objects import Span  # noqa: E402
from gitmem.memory.fact import Fact  # noqa: E402
from gitmem.models.gguf_judge import GgufJudge  # noqa: E402
from gitmem.models.language import Setting  # noqa: E402
from gitmem.promotion.evaluation import NO_BLOB, read_rows  # noqa: E402
from gitmem.promotion.judge_agreement import Agreement  # noqa: E402
from gitmem.promotion.judge_calibration import Scale, area_under_curve, calibration, fit_scale, rubric  # noqa: E402
from gitmem.promotion.judged_rules import JudgedRules  # noqa: E402
from gitmem.promotion.log_lines import languages_of  # noqa: E402
from gitmem.promotion.proposal import Log, Op, Operation, Proposal  # noqa: E402
from gitmem.promotion.rules_model import RulesModel  # noqa: E402

SECONDS = 3600  # of one run of the model


@dataclass(frozen=True, slots=True)
class Case:
    """What the rules say of a statement, whether people found it worth keeping, and for how many it stands."""

    operation: Operation
    keep: bool
    language: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Given:
    """Rules that say what they said before."""

    operations: tuple[Operation, ...]
    id: str = "rules/1"

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        return Proposal(self.operations)


def cases_of(logs: Iterable[tuple[Log, frozenset[int]]]) -> list[Case]:
    """A case for each operation of the rules, each log by itself."""
    return [
        Case(one, not keep.isdisjoint(range(span.start_line, span.end_line + 1)), languages_of(one.text)[0])
        for log, keep in logs
        for one in RulesModel().propose([log], []).operations
        for span in one.sources[:1]
    ]


def log_days() -> list[Case]:
    """The log days of bench/log_days."""
    logs = []
    for path in sorted(DAYS.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").removeprefix("# ").split("\n# "):
            day, *lines = block.strip().split("\n")
            texts = tuple(f"- {line[2:]}" for line in lines)
            log = Log(f"memory/{day}.md", NO_BLOB, date.fromisoformat(day), texts, frozenset(range(1, len(texts) + 1)))
            logs.append((log, frozenset(at for at, line in enumerate(lines, 1) if line.startswith("+"))))
    return cases_of(logs)


def statements(file: Path) -> list[Case]:
    """The labelled statements of a file."""
    span = Span("memory/2026-01-01.md", 1, 1, NO_BLOB)
    made = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        op = Op.ADD if row["offered"] else Op.SKIP
        operation = Operation(op, row["text"], (span,), importance=0.5 * row["offered"], odds=row["odds"])
        made.append(Case(operation, bool(row["keep"]), row["language"], float(row["weight"])))
    return made


def sample(cases: Sequence[Case], most: int) -> list[Case]:
    """At most that many cases a language, at even distances."""
    chosen = []
    for language in dict.fromkeys(case.language for case in cases):
        own = [case for case in cases if case.language == language]
        count = min(most, len(own))
        chosen += [own[at * len(own) // count] for at in range(count)]
    return chosen


def quality(cases: Sequence[Case], offered: Sequence[bool]) -> list[float]:
    """Precision, recall and F1 of what is offered, each case with its weight."""
    good = sum(case.weight for case, yes in zip(cases, offered, strict=True) if yes and case.keep)
    precision = good / max(1e-9, sum(case.weight for case, yes in zip(cases, offered, strict=True) if yes))
    recall = good / max(1e-9, sum(case.weight for case in cases if case.keep))
    return [precision, recall, 2 * precision * recall / max(1e-9, precision + recall)]


def numbers_of(judge: GgufJudge, cases: Sequence[Case]) -> tuple[dict[str, float], dict[str, Scale]]:
    """The model's number of each statement, and the scale of each language."""
    numbers: dict[str, float] = {}
    scales: dict[str, Scale] = {}
    with judge.run() as judged:
        for language in dict.fromkeys(languages_of(case.operation.text)[0] for case in cases):
            told = calibration(language)
            answers = list(judged(rubric(language), [one.text for one in told]))
            scales[language] = fit_scale([(number, one.keep) for number, one in zip(answers, told, strict=True)])
            texts = [case.operation.text for case in cases if languages_of(case.operation.text)[0] == language]
            numbers.update(zip(texts, judged(rubric(language), texts), strict=True))
    return numbers, scales


def measured(name: str, cases: Sequence[Case], judge: GgufJudge) -> list[list[object]]:
    """The rows of one set, by language."""
    out: list[list[object]] = []
    numbers, scales = numbers_of(judge, cases)
    for language in dict.fromkeys(case.language for case in cases):
        own = [case for case in cases if case.language == language]
        with tempfile.TemporaryDirectory() as folder:  # agreement is seen anew in each set
            setting = Setting(judge.setting.config, os.environ, Path(folder), lambda text, path: text)
            logs = [
                Log(span.path, span.blob, date(2026, 1, 1), (), frozenset())
                for case in own
                for span in case.operation.sources
            ]
            model = JudgedRules(Given(tuple(case.operation for case in own)), judge, setting)
            both = model.propose(logs, []).operations
            agrees = Agreement(Path(folder), judge.id, language).area()
        alone = []
        for case in own:
            text = case.operation.text
            alone.append(scales[languages_of(text)[0]].evidence(numbers[text]) > 0)
        rules = [case.operation.op is not Op.SKIP for case in own]
        told = area_under_curve(
            [numbers[case.operation.text] for case in own if case.keep],
            [numbers[case.operation.text] for case in own if not case.keep],
        )
        together = [one.op is not Op.SKIP for one in both]
        turned = [case.keep is yes for case, before, yes in zip(own, rules, together, strict=True) if before is not yes]
        figures = [quality(own, offered)[2] for offered in (rules, alone, together)]
        out.append(
            [f"{name}, {language}", len(own), told, "-" if agrees is None else agrees, *figures,
             f"{sum(turned)} of {len(turned)}"]
        )  # fmt: skip
    return out


def sets(wanted: argparse.Namespace) -> Mapping[str, list[Case]]:
    """The sets by name."""
    found = {DAYS.name: log_days()}
    for file in map(Path, wanted.facts):
        name = file.resolve().parent.name
        found[name] = found.get(name, []) + cases_of((log, keep) for log, keep, _ in read_rows(file))
    found.update((file.stem, statements(file)) for file in map(Path, wanted.statements))
    return found


def main() -> None:
    """Print a table a model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--facts", nargs="*", default=[])
    parser.add_argument("--statements", nargs="*", default=[])
    parser.add_argument("--most", type=int, default=100)
    parser.add_argument("--days", type=int, default=25)
    parser.add_argument("--state", default="")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        state = Path(wanted.state or folder)
        setting = Setting(Config(model_seconds=SECONDS), os.environ, state, lambda text, path: text)
        judge = GgufJudge(Path(wanted.model).resolve(), setting)
        out, lines = [], 0
        for name, cases in sets(wanted).items():
            chosen = sample(cases, wanted.days if name == DAYS.name else wanted.most)
            lines += len(chosen)
            out += measured(name, chosen, judge)
        print(judge.id)
        print(table(["set", "lines", "AUC", "agreement", "rules F1", "judge F1", "both F1", "turned rightly"], out))
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{lines} lines, {spent.ru_utime + spent.ru_stime:.0f} s of processor, examples and rubrics included")


if __name__ == "__main__":
    main()
