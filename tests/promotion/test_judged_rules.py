"""A judge beside the rules: what it may turn, what it may not, and what a run that is stopped keeps."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gitmem.config import Config
from gitmem.models.judging import JudgeStatements, Rubric
from gitmem.models.language import OutOfBudget, Setting
from gitmem.promotion.judge_calibration import LANGUAGES, MAX_LOG_ODDS, calibration, fit_scale, rubric
from gitmem.promotion.judged_rules import JudgedRules
from gitmem.promotion.model_registry import is_judge, open_model
from gitmem.promotion.proposal import Log, Op, Operation, Proposal
from gitmem.promotion.rules_model import RulesModel
from tests.promotion.sample import log_of

KNOWN = {one.text: one.keep for language in LANGUAGES for one in calibration(language)}


THINGS = ("archive", "billing", "camera", "depot", "export", "forum", "gallery", "harbour", "import")
CLEARLY_KEPT = tuple(f"Never restart the {thing} server before noon" for thing in THINGS)
CLEARLY_NOT = tuple(f"Looked at the {thing} page" for thing in THINGS)
KNOWN |= dict.fromkeys(CLEARLY_KEPT, True) | dict.fromkeys(CLEARLY_NOT, False)


class FakeJudge:
    """Right about every example of the package and what the rules are clear about; `of` gives the number of any other
    statement, 2 being surely yes."""

    id = "fake:judge@1"

    def __init__(self, of: Callable[[str], float], most: int = 1000, knows: bool = True) -> None:
        self.of, self.most, self.knows = of, most, knows
        self.shown: list[str] = []
        self.rubrics: list[Rubric] = []

    @contextmanager
    def run(self) -> Iterator[JudgeStatements]:
        yield self._judge

    def _judge(self, told: Rubric, statements: Sequence[str]) -> Iterator[float]:
        self.rubrics.append(told)
        chance = random.Random(5)
        for statement in statements:
            if len(self.shown) >= self.most:
                raise OutOfBudget("the model took longer than mem.modelSeconds allows and was stopped")
            self.shown.append(statement)
            known = (2.0 if KNOWN[statement] else -2.0) + chance.uniform(-0.3, 0.3) if statement in KNOWN else None
            yield chance.random() if not self.knows else self.of(statement) if known is None else known


def setting(redact: Callable[[str, str], str] = lambda text, path: text, **more: Any) -> Setting:
    return Setting(Config(), os.environ, None, redact, **more)


def logs_of(lines: Sequence[str]) -> list[Log]:
    """A log of these lines, then logs of lines that the rules are clear about: short ones, as a person writes them."""
    clear = list(zip(CLEARLY_KEPT, CLEARLY_NOT, strict=True))
    return [log_of(lines), *(log_of(pair, f"memory/2026-01-{day:02}.md") for day, pair in enumerate(clear, 1))]


def proposed(judge: FakeJudge, *lines: str, given: Setting | None = None) -> Proposal:
    """What comes of these lines beside some that the rules are clear about."""
    return JudgedRules(RulesModel(), judge, given or setting()).propose(logs_of(lines), [])


def by_rules(*lines: str) -> Proposal:
    return RulesModel().propose(logs_of(lines), [])


def by_line(proposal: Proposal) -> dict[int, Operation]:
    """The operations of the log in question by their first lines."""
    own = [one for one in proposal.operations if one.sources[0].path == "memory/2026-02-05.md"]
    return {one.sources[0].start_line: one for one in own}


LEFT_OUT = "Backups are on the small server"
OFFERED = "We decided to use REST webhooks in phase 1"
BESIDE = ("Read mail", "Had lunch with Ben")


def test_the_lines_of_these_tests_are_what_the_rules_make_of_them() -> None:
    found = by_line(by_rules(LEFT_OUT, OFFERED, *BESIDE))
    assert [found[number].op for number in (1, 2, 3, 4)] == [Op.SKIP, Op.ADD, Op.SKIP, Op.SKIP]
    clear = {one.text: one.op for one in by_rules(*BESIDE).operations}
    assert {clear[text] for text in CLEARLY_KEPT} == {Op.ADD} and {clear[text] for text in CLEARLY_NOT} == {Op.SKIP}
    odds = {number: found[number].odds for number in (1, 2)}
    assert all(value is not None and abs(value) < MAX_LOG_ODDS for value in odds.values()), odds


def test_what_the_rules_left_out_and_the_judge_is_sure_of_is_offered_with_the_reason() -> None:
    found = by_line(proposed(FakeJudge(lambda text: 2.5 if text == LEFT_OUT else -2.5), LEFT_OUT, *BESIDE))
    assert (found[1].op, found[1].text) == (Op.ADD, LEFT_OUT) and found[1].importance > 0.3
    assert found[1].reason.startswith("judged by a model: +")
    assert found[2].op is Op.SKIP and found[3].op is Op.SKIP


def test_what_the_rules_offer_and_the_judge_is_sure_against_is_vetoed_with_the_reason() -> None:
    found = by_line(proposed(FakeJudge(lambda text: -2.5), OFFERED, *BESIDE))
    assert found[1].op is Op.SKIP and found[1].reason.startswith("a model judged against it: -")


def test_a_judge_that_is_not_sure_changes_nothing() -> None:
    lines = (OFFERED, LEFT_OUT, *BESIDE)
    judge = FakeJudge(lambda text: 0.0)
    assert proposed(judge, *lines).operations == by_rules(*lines).operations
    assert OFFERED in judge.shown


@pytest.mark.parametrize(
    "line",
    ["Mina has a severe allergy to penicillin", "We use tabs in Makefiles <!-- mem type=rule -->"],
    ids=["health", "its own comment says its type"],
)
def test_health_and_typed_lines_are_the_rules_alone(line: str) -> None:
    judge = FakeJudge(lambda text: -2.5)
    found = by_line(proposed(judge, line, *BESIDE))
    assert found[1].op is Op.ADD and found[1].text not in judge.shown


def test_what_a_later_line_takes_back_is_never_offered() -> None:
    lines = (
        "We decided to use Kafka for billing events",
        "Billing events: Kafka is cancelled, we decided to use Postgres instead",
    )
    judge = FakeJudge(lambda text: 2.5)
    found = by_line(proposed(judge, *lines))
    assert found[1].op is Op.SKIP and found[1].reason.startswith("taken back")
    assert found[1].text not in judge.shown


def test_what_the_gate_would_mask_is_never_shown() -> None:
    judge = FakeJudge(lambda text: 2.5)
    hidden = setting(lambda text, path: text.replace("small server", "[hidden]"))
    found = by_line(proposed(judge, LEFT_OUT, OFFERED, *BESIDE, given=hidden))
    assert found[1].op is Op.SKIP and LEFT_OUT not in judge.shown and OFFERED in judge.shown


def test_a_run_that_is_stopped_keeps_what_was_judged_and_the_rest_waits() -> None:
    lines = (OFFERED, "The VPN gateway is at 10.0.0.1", LEFT_OUT, *BESIDE)
    whole = FakeJudge(lambda text: 0.0)
    assert proposed(whole, *lines).complete
    before = len(whole.shown) - whole.shown[::-1].index(LEFT_OUT) - 1
    found = proposed(FakeJudge(lambda text: 0.0, most=before), *lines)
    texts = [one.text for one in found.operations]
    assert not found.complete and OFFERED in texts and lines[1] in texts and LEFT_OUT not in texts
    assert "what was judged is kept" in found.notes[0] and "wait for the next run" in found.notes[0]


def test_a_run_that_is_stopped_in_the_calibration_says_how_far_it_came() -> None:
    found = proposed(FakeJudge(lambda text: 0.0, most=3), OFFERED, *BESIDE)
    assert not found.complete and f"3 of the {len(calibration('en'))} examples" in found.notes[0]
    assert OFFERED not in [one.text for one in found.operations]


def test_a_model_that_knows_no_better_than_chance_is_not_believed_and_that_is_said() -> None:
    judge = FakeJudge(lambda text: -2.5, knows=False)
    lines = (OFFERED, *BESIDE)
    found = proposed(judge, *lines)
    assert found.operations == by_rules(*lines).operations and found.complete
    assert found.notes == ("the model does not know well enough what lasts in English: the rules alone decide there",)
    assert OFFERED not in judge.shown


class Contrary(FakeJudge):
    """Right about the examples, and contrary about the logs."""

    def _judge(self, told: Rubric, statements: Sequence[str]) -> Iterator[float]:
        for statement, number in zip(statements, super()._judge(told, statements), strict=True):
            yield -number if statement in CLEARLY_KEPT + CLEARLY_NOT else number


def test_a_model_that_does_not_see_what_the_rules_are_clear_about_is_not_believed() -> None:
    lines = (OFFERED, *BESIDE)
    found = proposed(Contrary(lambda text: -2.5), *lines)
    assert found.operations == by_rules(*lines).operations
    assert "does not tell apart what the rules are clear about (0.17 of 1) in English" in found.notes[0]


def test_lines_of_several_days_add_up_until_it_is_seen_whether_the_model_agrees(tmp_path: Path) -> None:
    kept = Setting(Config(), os.environ, tmp_path, lambda text, path: text)
    judge = FakeJudge(lambda text: -2.5)
    model = JudgedRules(RulesModel(), judge, kept)
    first = model.propose([log_of((OFFERED, *CLEARLY_KEPT[:5], *CLEARLY_NOT[:5]))], [])
    assert by_line(first)[1].op is Op.ADD and "too few lines yet" in first.notes[0]
    second = model.propose([log_of((OFFERED, *CLEARLY_KEPT[5:], *CLEARLY_NOT[5:]), "memory/2026-02-06.md")], [])
    assert second.operations[0].op is Op.SKIP and second.notes == ()
    (file,) = (tmp_path / "judgements").iterdir()
    assert "server" not in file.read_text() and file.stat().st_mode & 0o077 == 0


def test_statements_are_judged_after_examples_in_their_own_language() -> None:
    judge = FakeJudge(lambda text: 0.0)
    proposed(judge, OFFERED, "창고 열쇠는 서랍 안에 있다", *BESIDE)
    assert {rubric("en"), rubric("ko")} == set(judge.rubrics)


def test_progress_is_said_while_it_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.promotion.judged_rules.PROGRESS_SECONDS", 0.0)
    said: list[str] = []
    proposed(FakeJudge(lambda text: 0.0), OFFERED, *BESIDE, given=setting(progress=said.append))
    assert said[0] == f"fake:judge@1 judged 1 of {len(calibration('en'))} statements in English, 0 s"


def test_both_are_named() -> None:
    assert JudgedRules(RulesModel(), FakeJudge(lambda text: 0.0), setting()).id == "rules/1+fake:judge@1"


def test_who_judges_is_the_settings_word() -> None:
    assert is_judge("http:https://api.example.org/v1#m", "judge") and not is_judge(
        "http:https://api.example.org/v1#m", "auto"
    )
    assert not is_judge("gguf:/no/such", "list")
    assert open_model("rules", setting()).id == "rules/1"


# -- calibration ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_are_as_many_of_either_kind_and_none_is_told_twice(language: str) -> None:
    examples = calibration(language)
    told = {text for text, _ in rubric(language).examples}
    assert len(examples) == 32 and sum(one.keep for one in examples) == 16
    assert len({one.text for one in examples} | told) == 32 + len(told)
    assert 2 * sum(keep for _, keep in rubric(language).examples) == len(told)


def test_a_scale_turns_numbers_into_evidence_of_either_sign_and_no_more_than_it_may() -> None:
    made = fit_scale([(number / 10 + (3 if keep else 0), keep) for number in range(16) for keep in (True, False)])
    assert made.area > 0.99 and made.evidence(20) == MAX_LOG_ODDS and made.evidence(-20) == -MAX_LOG_ODDS
    assert made.evidence(3.0) > 0 > made.evidence(0.5)


def test_equal_numbers_are_no_evidence() -> None:
    made = fit_scale([(1.0, number % 2 == 0) for number in range(32)])
    assert made.area == 0.5 and not made.trusted and made.evidence(5.0) == 0.0
