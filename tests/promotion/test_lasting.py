"""What was learned of lines that last: its features, its floor, and that it is of the cues that there are."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from gitmem import linear_model
from gitmem.promotion import lasting
from gitmem.promotion.cues import THRESHOLD, CueResult
from gitmem.promotion.lexicon import chinese, english, japanese, korean
from gitmem.promotion.log_lines import LABELS, Candidate, languages_of
from gitmem.promotion.rules_model import cues_of_line, score_line


def line(text: str) -> Candidate:
    return Candidate(1, text, text, languages=languages_of(text))


@pytest.mark.parametrize(
    "text",
    ["We decided to use PostgreSQL 16.", "I prefer tabs.", "Never deploy on Fridays.", "페니실린 알레르기가 있음"],
)
def test_a_short_line_whose_cues_decide_alone_is_kept(text: str) -> None:
    assert cues_of_line(line(text)).score >= lasting.SETTLING_CUE_SUM and score_line(line(text)).score >= THRESHOLD


@pytest.mark.parametrize("text", ["Lunch was late.", "점심은 순댓국", "昨日は会議だった", "下午开会了"])
def test_a_line_about_a_day_is_not_kept(text: str) -> None:
    assert score_line(line(text)).score < THRESHOLD


def test_a_score_without_the_table_is_made_of_the_other_features(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting, "word_table", lambda: None)
    found = lasting.person_log_features("The staging database listens on port 5433.", CueResult(0.0, "", (), ()))
    assert not [name for name in found if name.startswith("meaning")]
    assert score_line(line("Never run migrations by hand in production.")).score >= THRESHOLD


def test_a_letter_counts_by_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting, "word_table", lambda: None)
    latin, hangul, han = (
        lasting.person_log_features(text, CueResult(0.0, "", (), ()))["length"] for text in ("aabb", "가나", "水")
    )
    assert latin == hangul and han < latin
    assert lasting.person_log_features("x: y", CueResult(9.0, "", tuple("abcdef"), ("late",))) == {
        "cues": lasting.MAX_CUE_SUM, "several": 1.0, "length": pytest.approx(0.536, abs=0.001), "value": 1.0, "cue late": 1.0,
        **{f"cue {name}": 1.0 for name in "abcdef"},
    }  # fmt: skip


def test_each_learned_cue_is_one_that_there_is() -> None:
    (learned,) = linear_model.load(lasting.__file__, "people_logs.tsv").weights
    cues = {cue.name for module in (english, korean, japanese, chinese) for cue in module.CUES}
    cues |= {f"label '{name}'" for name in LABELS}
    assert {name.removeprefix("cue ") for name in learned if name.startswith("cue ")} <= cues
    assert {name for name in learned if name.startswith("meaning ")} <= set(
        lasting.person_log_features("a", cues_of_line(line("a")))
    )


def test_the_headings_above_a_line_tell_what_lasts_from_what_was_done() -> None:
    text = "Scripts in `tools/` are run with the system Python, not the one of the virtual environment."
    place = Candidate(1, text, text, languages=("en",), log_candidates=80, topic="Scripts")
    under_learnings, under_today = (
        score_line(replace(place, near=(near,), outer=(outer,))).score
        for near, outer in (("Key learnings", "Setup"), ("Today, 14:02 UTC", "Session 2026-03-01"))
    )
    assert under_learnings > under_today


def test_a_heading_of_other_words_with_the_same_meaning_counts() -> None:
    text = "The importer reads `data/` first."
    place = Candidate(1, text, text, languages=("en",), log_candidates=80, topic="Importer")
    found = lasting.agent_log_features(replace(place, near=("Learnings",)), cues_of_line(line(text)))
    assert sum(value**2 for name, value in found.items() if name.startswith(lasting.NEAR_MEANING)) == pytest.approx(1)


def test_a_heading_counts_by_its_words_without_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting, "word_table", lambda: None)
    place = Candidate(1, "a", "a", near=("A heading that no other test has",))
    found = lasting.agent_log_features(place, cues_of_line(line("a")))
    assert "near heading" in found and not [name for name in found if name.startswith(lasting.NEAR_MEANING)]


def test_a_label_of_a_decision_is_worth_as_much_as_such_labels_were_in_real_logs() -> None:
    text = "Decision: the script in `tools/` was run by hand at 14:02 (done)"
    odds = (
        score_line(replace(line(text), label="decision", reported=True)).score - THRESHOLD
    ) / lasting.SCORE_PER_LOG_ODDS
    assert odds >= lasting.NAMED_ODDS - 0.01


def test_each_feature_that_was_learned_of_agents_logs_is_one_that_a_line_can_have() -> None:
    (learned,) = linear_model.load(lasting.__file__, "agent_logs.tsv").weights
    text = "**Rule:** never deploy on Fridays → see `docs/deploy.md` (the build is slow, 14:00)"
    found = lasting.agent_log_features(
        Candidate(1, text, text, languages=("en",), near=("Key decisions",), outer=("Setup",), file="daily-notes"),
        cues_of_line(line(text)),
    )
    assert set(found) & set(learned) >= {"form a path", "form an arrow", "word never", "near decisions"}
    heads = {"word", "near", "outer", "file", "form", "cue", "kind", "label", "under", "origin", "in"}
    heads |= {name.split()[0] for name in found}
    heads |= {"tiny", "short", "long", "a", "prose", "reported"}
    assert {name.split()[0] for name in learned} <= heads


def test_weights_of_features_that_no_line_has_are_an_error_that_names_them() -> None:
    for weights_file in (lasting.PEOPLE_WEIGHTS, lasting.AGENT_WEIGHTS):
        (learned,) = linear_model.load(lasting.__file__, weights_file).weights
        lasting.check_features(weights_file, learned)
        with pytest.raises(ValueError, match=f"{weights_file} has weights .*: form a smell"):
            lasting.check_features(weights_file, [*learned, "form a smell"])
    with pytest.raises(ValueError, match="near meaning 256"):
        lasting.check_features(lasting.AGENT_WEIGHTS, ["near meaning 255", "near meaning 256"])


@pytest.mark.parametrize("score", [lasting.SETTLING_CUE_SUM, 0.0])
def test_a_label_counts_before_the_cues_and_the_cues_only_for_a_person(score: float) -> None:
    result = CueResult(score, "rule", (), ())
    persons, agents = line("never"), replace(line("never"), log_candidates=500, topic="Deploys")
    assert lasting.scoring_of(persons, result, named=True) == (lasting.PEOPLE_WEIGHTS, lasting.NAMED_ODDS)
    expected = {lasting.SETTLING_CUE_SUM: 0.0, 0.0: -inf}[score]
    assert lasting.scoring_of(persons, result, named=False) == (lasting.PEOPLE_WEIGHTS, expected)
    assert lasting.scoring_of(agents, result, named=False) == (lasting.AGENT_WEIGHTS, -inf)
