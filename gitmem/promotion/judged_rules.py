"""The `rules` model together with a judge, a small language model that judges single statements.

The evidence of the judge is added to the log-odds of the rules. The sum may turn a proposed line into a skipped one, or
the other way round; the surer the rules are, the more evidence it takes. The judge has no say about retracted lines,
health, and lines whose comment states a type. It does not see a statement that the gate's redaction would change.
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
from gitmem.promotion.judge_agreement import MAX_LEFT_OUT_ODDS, MIN_AGREEMENT, Agreement
from gitmem.promotion.judge_calibration import LANGUAGES, MAX_LOG_ODDS, Scale, calibration, fit_scale, rubric
from gitmem.promotion.log_lines import languages_of
from gitmem.promotion.proposal import Log, Model, Op, Operation, Proposal
from gitmem.promotion.rules_model import importance_of, last_day_of

MIN_EVIDENCE = 1.0  # log-odds from which a judgement counts: 2.7 to 1
PROGRESS_SECONDS = 10.0  # between two messages about the progress


@dataclass(frozen=True, slots=True)
class Judgements:
    """What a judge says of the statements about which the rules are in doubt."""

    evidence: Mapping[str, float]  # text -> log-odds that it is a statement to keep; 0 if the judge is not trusted
    notes: tuple[str, ...] = ()  # sentences for a person
    complete: bool = True  # all statements were judged


class JudgedRules:
    """The rules and a judge as one promotion model; `id` names both."""

    def __init__(self, rules: Model, judge: Judge, setting: Setting) -> None:
        self.id = f"{rules.id}+{judge.id}"
        self._rules, self._judge, self._setting = rules, judge, setting

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """The operations of the rules; where the rules are in doubt, the judge may turn an addition into a skipped line
        or back. When its budget ends early, the operations that it has not judged are left out and the proposal is not
        complete. Raises ModelUnavailable when the model cannot judge at all."""
        proposal = self._rules.propose(logs, existing)
        days = {(log.path, log.blob): log.day for log in logs}
        shown = [item for item in proposal.operations if item.odds is not None and self._may_be_shown(item)]
        in_doubt = [item for item in shown if abs(item.odds or 0.0) <= MAX_LOG_ODDS]
        in_doubt.sort(key=lambda item: (item.op is Op.SKIP, -item.importance, -(item.odds or 0.0)))
        judged = Judgements({})
        if in_doubt:
            judged = self._judge_in_doubt(in_doubt, shown)
        unjudged: set[Operation] = set()
        if not judged.complete:
            unjudged = {item for item in in_doubt if item.text not in judged.evidence}
        operations = (self._with_judgement(item, judged, days) for item in proposal.operations if item not in unjudged)
        return replace(
            proposal, operations=tuple(operations), notes=(*proposal.notes, *judged.notes),
            complete=proposal.complete and judged.complete,
        )  # fmt: skip

    def _may_be_shown(self, operation: Operation) -> bool:
        """Whether the gate's redaction leaves the text as it is."""
        path = ""
        if operation.sources:
            path = operation.sources[0].path
        return self._setting.redact(operation.text, path) == operation.text

    def _judge_in_doubt(self, in_doubt: Sequence[Operation], shown: Sequence[Operation]) -> Judgements:
        """Judge the operations in doubt, one language after the other, until the budget is used up. In a language in
        which the model is not trusted the evidence is 0. `shown`: all operations that the model may see; the sure ones
        among them measure its agreement with the rules."""
        evidence: dict[str, float] = {}
        notes: list[str] = []
        by_language: dict[str, list[Operation]] = {}
        for operation in in_doubt:
            by_language.setdefault(languages_of(operation.text)[0], []).append(operation)
        problem = ""
        with self._judge.run() as judge:
            for language, operations in by_language.items():
                in_language = [operation for operation in shown if languages_of(operation.text)[0] == language]
                scale_of_language, doubt, problem = self._trusted_scale(judge, language, in_language)
                statements = list(dict.fromkeys(operation.text for operation in operations))
                if problem:
                    break
                if scale_of_language is None:
                    notes.append(f"{doubt} in {LANGUAGES[language]}: the rules alone decide there")
                    evidence |= dict.fromkeys(statements, 0.0)
                    continue
                numbers, problem = self._numbers(judge, language, statements)
                for statement, number in zip(statements, numbers, strict=False):
                    evidence[statement] = scale_of_language.evidence(number)
                if problem:
                    break
        if problem:
            remaining = len({operation.text for operation in in_doubt} - set(evidence))
            notes.append(f"{problem}; what was judged is kept; {counted(remaining, 'statement')} wait for the next run")
        return Judgements(evidence, tuple(notes), not problem)

    def _trusted_scale(
        self, judge: JudgeStatements, language: str, shown: Sequence[Operation]
    ) -> tuple[Scale | None, str, str]:
        """(scale of the model in a language, why it is not trusted, why the run ended early). The scale is None when
        one of the two sentences is not "". The model also judges some operations about which the rules are sure; the
        stored agreement gets the results."""
        examples = calibration(language)
        numbers, problem = self._numbers(judge, language, [example.text for example in examples])
        if problem:
            progress = f"{len(numbers)} of the {len(examples)} examples that calibrate the model are judged"
            return None, "", f"{problem}; {progress}"
        calibrated = fit_scale([(number, example.keep) for number, example in zip(numbers, examples, strict=True)])
        if not calibrated.trusted:
            return None, "the model does not know well enough what lasts", ""
        agreement = Agreement(self._setting.state, self._judge.id, language)
        sure = _sure_operations(shown, agreement.missing())
        numbers, problem = self._numbers(judge, language, [item.text for item in sure])
        agreement.add({item.text: (n, item.op is not Op.SKIP) for item, n in zip(sure, numbers, strict=False)})
        if problem:
            return None, "", problem
        area = agreement.area()
        if area is None:
            return None, "there are too few lines yet to see whether the model agrees with the rules", ""
        if area < MIN_AGREEMENT:
            return None, f"the model does not tell apart what the rules are clear about ({area:.2f} of 1)", ""
        return calibrated, "", ""

    def _numbers(self, judge: JudgeStatements, language: str, statements: Sequence[str]) -> tuple[list[float], str]:
        """(number of each statement in order, why the run ended early); the second is "" when all were judged."""
        numbers: list[float] = []
        start = last = monotonic()
        try:
            for number in judge(rubric(language), statements):
                numbers.append(number)
                if monotonic() - last >= PROGRESS_SECONDS:
                    last = monotonic()
                    words = f"{self._judge.id} judged {len(numbers)} of {len(statements)} statements"
                    self._setting.progress(f"{words} in {LANGUAGES[language]}, {last - start:.0f} s")
        except OutOfBudget as error:
            return numbers, str(error)
        return numbers, ""

    def _with_judgement(
        self, operation: Operation, judged: Judgements, days: Mapping[tuple[str, str], date]
    ) -> Operation:
        """The operation, turned from SKIP to ADD or back when the evidence is MIN_EVIDENCE or more and outweighs the
        rules; else unchanged."""
        evidence = judged.evidence.get(operation.text, 0.0)
        if operation.odds is None or abs(evidence) < MIN_EVIDENCE:
            return operation
        odds = operation.odds + evidence
        if operation.op is Op.SKIP and odds >= 0 and evidence > 0:
            span = operation.sources[0]
            return replace(
                operation, op=Op.ADD, importance=round(importance_of(operation.type, odds), 3), odds=odds,
                until=last_day_of(operation.text, operation.type, days[span.path, span.blob]),
                reason=f"judged by a model: {evidence:+.1f} beside {operation.odds:+.1f} of the rules",
            )  # fmt: skip
        if operation.op is not Op.SKIP and odds < 0 and evidence < 0:
            reason = f"a model judged against it: {evidence:+.1f} beside {operation.odds:+.1f} of the rules"
            return replace(operation, op=Op.SKIP, target="", importance=0.0, reason=reason)
        return operation


def _sure_operations(shown: Sequence[Operation], limit: int) -> list[Operation]:
    """At most `limit` operations that the rules propose, and as many that they surely leave out."""
    proposed = [item for item in shown if item.op is not Op.SKIP]
    left_out = [item for item in shown if item.op is Op.SKIP and (item.odds or 0.0) < MAX_LEFT_OUT_ODDS]
    return [*_evenly_chosen(proposed, limit), *_evenly_chosen(left_out, limit)]


def _evenly_chosen(operations: Sequence[Operation], limit: int) -> list[Operation]:
    """At most `limit` of the operations, at even distances."""
    count = min(limit, len(operations))
    return [operations[i * len(operations) // count] for i in range(count)]
