"""A small language model beside the rules: it judges single statements, vetoes what it is sure against and offers what
the rules left out and it is sure of.

Its evidence is added to the rules' own log-odds, so that much of it is needed where the rules are sure. What the rules
struck (taken back further down), health, and lines whose comment states a type are theirs alone. No statement reaches
the model that the gate's redaction would change. What is promoted is decided by `promotion/plan`, as for any model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from time import monotonic

from gitmem.memory.fact import Fact
from gitmem.models.judging import Judge, JudgeStatements
from gitmem.models.language import OutOfBudget, Setting
from gitmem.plural import counted
from gitmem.promotion.judge_agreement import AGREES, CLEAR, Agreement
from gitmem.promotion.judge_calibration import LANGUAGES, MAX_LOG_ODDS, Scale, calibration, rubric, scale
from gitmem.promotion.log_lines import languages_of
from gitmem.promotion.proposal import Log, Model, Op, Operation, Proposal
from gitmem.promotion.rules_model import importance_of, last_day_of

SURE = 1.0  # log-odds of evidence from which a judgement counts: 2.7 to 1
EVERY = 10.0  # seconds between two words about how far it is


@dataclass(frozen=True, slots=True)
class Judged:
    """The evidence for each statement that was judged, by its text, and what a person should know about it."""

    evidence: Mapping[str, float]
    notes: tuple[str, ...] = ()
    whole: bool = True


class JudgedRules:
    """The rules and a judge as one promotion model; `id` names both."""

    def __init__(self, rules: Model, judge: Judge, setting: Setting) -> None:
        self.id = f"{rules.id}+{judge.id}"
        self._rules, self._judge, self._setting = rules, judge, setting

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """The rules' operations after the judge. Raises ModelUnavailable where the model cannot judge at all."""
        proposal = self._rules.propose(logs, existing)
        days = {(log.path, log.blob): log.day for log in logs}
        shown = [one for one in proposal.operations if one.odds is not None and self._may_be_shown(one)]
        in_doubt = [one for one in shown if abs(one.odds or 0.0) <= MAX_LOG_ODDS]
        in_doubt.sort(key=lambda one: (one.op is Op.SKIP, -one.importance, -(one.odds or 0.0)))
        if in_doubt:
            judged = self._judged(in_doubt, shown)
        else:
            judged = Judged({})
        if not judged.whole:
            waiting = {one for one in in_doubt if one.text not in judged.evidence}
        else:
            waiting = set()
        operations = (self._after(one, judged, days) for one in proposal.operations if one not in waiting)
        return replace(
            proposal, operations=tuple(operations), notes=(*proposal.notes, *judged.notes),
            whole=proposal.whole and judged.whole,
        )  # fmt: skip

    def _may_be_shown(self, operation: Operation) -> bool:
        path = ""
        if operation.sources:
            path = operation.sources[0].path
        return self._setting.redact(operation.text, path) == operation.text

    def _judged(self, in_doubt: Sequence[Operation], shown: Sequence[Operation]) -> Judged:
        """Judge what is in doubt, language by language, each in order, until the time is used up. `shown` are all
        operations that may be, by which it is seen whether the model agrees with the rules."""
        evidence: dict[str, float] = {}
        notes: list[str] = []
        by_language: dict[str, list[Operation]] = {}
        for operation in in_doubt:
            by_language.setdefault(languages_of(operation.text)[0], []).append(operation)
        problem = ""
        with self._judge.run() as judge:
            for language, own in by_language.items():
                others = [one for one in shown if languages_of(one.text)[0] == language]
                known, doubt, problem = self._believed(judge, language, others)
                statements = list(dict.fromkeys(one.text for one in own))
                if problem:
                    break
                if known is None:
                    notes.append(f"{doubt} in {LANGUAGES[language]}: the rules alone decide there")
                    evidence |= dict.fromkeys(statements, 0.0)
                    continue
                numbers, problem = self._numbers(judge, language, statements)
                evidence |= {one: known.evidence(number) for one, number in zip(statements, numbers, strict=False)}
                if problem:
                    break
        if problem:
            left = len({one.text for one in in_doubt} - set(evidence))
            notes.append(f"{problem}; what was judged is kept; {counted(left, 'statement')} wait for the next run")
        return Judged(evidence, tuple(notes), not problem)

    def _believed(
        self, judge: JudgeStatements, language: str, shown: Sequence[Operation]
    ) -> tuple[Scale | None, str, str]:
        """What the model's numbers mean in a language, None where it is not believed; why it is not; why the run ended
        before that was known, "" where it did not."""
        examples = calibration(language)
        numbers, problem = self._numbers(judge, language, [example.text for example in examples])
        if problem:
            done = f"{len(numbers)} of the {len(examples)} examples that calibrate the model are judged"
            return None, "", f"{problem}; {done}"
        known = scale([(number, one.keep) for number, one in zip(numbers, examples, strict=True)])
        if not known.trusted:
            return None, "the model does not know well enough what lasts", ""
        agreement = Agreement(self._setting.state, self._judge.id, language)
        asked = _clear(shown, agreement.missing())
        numbers, problem = self._numbers(judge, language, [one.text for one in asked])
        agreement.add({one.text: (n, one.op is not Op.SKIP) for one, n in zip(asked, numbers, strict=False)})
        if problem:
            return None, "", problem
        agrees = agreement.area()
        if agrees is None:
            return None, "there are too few lines yet to see whether the model agrees with the rules", ""
        if agrees < AGREES:
            return None, f"the model does not tell apart what the rules are clear about ({agrees:.2f} of 1)", ""
        return known, "", ""

    def _numbers(self, judge: JudgeStatements, language: str, statements: Sequence[str]) -> tuple[list[float], str]:
        """The model's number of each statement in order, and why that stopped before the end, "" where it did not."""
        numbers: list[float] = []
        start = last = monotonic()
        try:
            for number in judge(rubric(language), statements):
                numbers.append(number)
                if monotonic() - last >= EVERY:
                    last = monotonic()
                    words = f"{self._judge.id} judged {len(numbers)} of {len(statements)} statements"
                    self._setting.progress(f"{words} in {LANGUAGES[language]}, {last - start:.0f} s")
        except OutOfBudget as error:
            return numbers, str(error)
        return numbers, ""

    def _after(self, operation: Operation, judged: Judged, days: Mapping[tuple[str, str], date]) -> Operation:
        """The operation, with its verdict turned where the judge is sure and outweighs the rules."""
        evidence = judged.evidence.get(operation.text, 0.0)
        if operation.odds is None or abs(evidence) < SURE:
            return operation
        together = operation.odds + evidence
        if operation.op is Op.SKIP and together >= 0 and evidence > 0:
            span = operation.sources[0]
            return replace(
                operation, op=Op.ADD, importance=round(importance_of(operation.type, together), 3),
                until=last_day_of(operation.text, operation.type, days[span.path, span.blob]),
                reason=f"judged by a model: {evidence:+.1f} beside {operation.odds:+.1f} of the rules",
            )  # fmt: skip
        if operation.op is not Op.SKIP and together < 0 and evidence < 0:
            why = f"a model judged against it: {evidence:+.1f} beside {operation.odds:+.1f} of the rules"
            return replace(operation, op=Op.SKIP, target="", importance=0.0, reason=why)
        return operation


def _clear(shown: Sequence[Operation], most: int) -> list[Operation]:
    """Up to `most` statements that the rules offer and as many that they are clear about leaving out, from all over."""
    offered = [one for one in shown if one.op is not Op.SKIP]
    left_out = [one for one in shown if one.op is Op.SKIP and (one.odds or 0.0) < CLEAR]
    return [*_spread(offered, most), *_spread(left_out, most)]


def _spread(operations: Sequence[Operation], most: int) -> list[Operation]:
    """At most that many, at even distances."""
    count = min(most, len(operations))
    return [operations[at * len(operations) // count] for at in range(count)]
