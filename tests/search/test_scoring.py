"""Evidence and how it is summed."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.index.line_records import HANGUL, unpack
from gitmem.index.units import pack, split
from gitmem.search import scoring
from gitmem.search.question import parse
from gitmem.search.scoring import Strip, TermPositions, score_lines
from gitmem.search.weights import SHIPPED, SIZES
from gitmem.text.terms import terms

TODAY = date(2026, 3, 1)


def scored(text: str, question: str) -> scoring.ScoredLines:
    units = split(text.split("\n"))
    packed = unpack(pack(units, [(0.0, b"")] * len(units)))
    words = [word for unit in units for word in unit.words]
    asked = parse(question, TODAY)
    places = [[at for at, word in enumerate(words) if word == term] for term in asked.terms]
    found = [TermPositions(1.0, {1: at} if at else {}, {}) for at in places]
    return score_lines([Strip("memory/x.md", "0" * 40, [(1, 1, packed, 0)], 0.0)], asked, found, None)


def best(text: str, question: str) -> int:
    return max(scored(text, question), key=lambda line: line.score).first


LOG = (
    "- Ann: I sold the car.\n- Bob: what did you buy?\n- Ann: A blue kayak, it is a dream.\n- Bob: nice weather today."
)


def test_the_line_with_the_words_wins() -> None:
    assert best(LOG, "who talked about weather") == 4


def test_the_line_after_a_matching_question_is_preferred_to_the_question() -> None:
    assert best(LOG, "what did Ann buy") == 3


def test_of_two_lines_alike_that_of_the_speaker_asked_about_is_first() -> None:
    said = "- Bob: I went to the sea, as Ann did.\n- Ann: I went to the sea, as Bob did."
    assert best(said, "where did Ann go") == 2
    assert best(said, "where did Bob go") == 1


def test_a_label_of_which_the_question_has_a_part_is_not_named() -> None:
    at = list(SHIPPED.weights).index("named")
    lines = scored("- Ann Lee: went out\n- Ann: stayed\n- no label at all", "Ann")
    assert [line.evidence[at] for line in lines] == [0.0, 1.0, 0.0]


def test_every_unit_is_scored_once_in_order() -> None:
    lines = scored(LOG, "kayak")
    assert [line.first for line in lines] == [1, 2, 3, 4]
    assert all(len(line.evidence) == len(SHIPPED.weights) for line in lines)


def test_a_score_is_the_sum_of_its_evidence() -> None:
    for line in scored(LOG, "when did Ann buy the kayak"):
        total = sum(weight * value for weight, value in zip(SHIPPED.weights.values(), line.evidence, strict=True))
        assert abs(total - line.score) < 1e-9


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("places", "total"), [(range(20, 40, 9), 60), (range(0, 60, 1), 60), (range(1, 60, 2), 60)])
def test_frequent_and_rare_terms_are_spread_alike(
    size: int, places: range, total: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums: list[int] = []
    windows = scoring._windows
    monkeypatch.setattr(scoring, "_windows", lambda *given: sums.append(1) or windows(*given))
    found = {at: 1 + at % 3 for at in places}
    slow: dict[int, int] = {}
    for at, count in found.items():
        for other in range(at - size, at + size + 1):
            slow[other] = slow.get(other, 0) + count
    near = scoring._occurrences_near(found, size, total)
    assert {at: near.get(at, 0) for at in range(total)} == {at: slow.get(at, 0) for at in range(total)}
    assert bool(sums) == (len(places) * (2 * size + 1) > 2 * total), "frequent terms go by running sums"


def test_both_ways_of_spreading_a_term_are_tried_above() -> None:
    assert any(60 * (2 * size + 1) > 120 for size in SIZES) and any(3 * (2 * size + 1) <= 120 for size in SIZES)


def test_words_that_are_hardly_shared_are_doubted_where_there_is_meaning_to_go_by() -> None:
    evidence = {"cover0": [0.1, 0.25], "lexical0": [0.0, 1.0], "lexical2": [0.5, 1.0], "lexical8": [1.0, 1.0]}
    scoring._lower_lexical(evidence, 0.5)
    assert evidence["lexical0"] == [0.0, 0.5] and evidence["lexical8"] == [0.5, 0.5]
    scoring._lower_lexical(evidence | {"cover0": [0.6]}, 0.5)
    assert evidence["lexical0"] == [0.0, 0.5]


def test_no_question_scores_nothing_and_fails_nowhere() -> None:
    assert all(line.score <= 3 for line in scored(LOG, ""))
    assert list(score_lines([], parse("x", TODAY), [], None)) == []


def test_words_are_cut_for_the_index_as_for_the_question() -> None:
    assert set(parse("메모리 POSTGRES_URL", TODAY).terms) <= set(terms("메모리는 POSTGRES_URL을 쓴다"))


def test_a_line_in_another_script_counts_for_words_as_far_as_it_is_near_by_itself() -> None:
    """The nearest of some unrelated lines is the best of them (1.0 within the question), and still says nothing."""
    names = [f"{kind}{size}" for kind in ("lexical", "vector") for size in SIZES]
    asked = parse("who approves refunds", TODAY)

    def words_of(cosine: float) -> float:
        evidence = {name: [1.0, 0.0] if name.startswith("vector") else [0.0, 0.2] for name in names}
        evidence |= {"cover0": [0.0, 0.2], "cover2": [0.0, 0.2]}
        scoring._raise_other_scripts(evidence, [HANGUL, 0], asked, [cosine, 0.1], SHIPPED)
        return evidence["lexical0"][0]

    assert words_of(SHIPPED.akin) == 0.0
    assert words_of(SHIPPED.translated) == words_of(0.9) == SHIPPED.imputed * 0.8
    assert 0 < words_of((SHIPPED.akin + SHIPPED.translated) / 2) < words_of(SHIPPED.translated)


def test_a_line_of_a_chunk_that_a_model_finds_near_is_raised_and_without_a_model_nothing_is() -> None:
    units = split(["- the first line", "- the second line"])
    packed = unpack(pack(units, [(0.0, b"")] * len(units)))
    strips = [
        Strip("memory/x.md", "0" * 40, [(1, 1, packed, 0)], 0.0),
        Strip("memory/y.md", "1" * 40, [(2, 1, packed, 0)], 0.0),
    ]
    asked = parse("asked in other words", TODAY)
    at = list(SHIPPED.weights).index("chunk")
    near = score_lines(strips, asked, [], None, near={1: 0.2, 2: 0.6})
    assert [line.evidence[at] for line in near] == [0.0, 0.0, 1.0, 1.0]
    assert near[2].score - near[0].score == pytest.approx(SHIPPED.weights["chunk"])
    assert not any(line.evidence[at] for line in score_lines(strips, asked, [], None))


def test_the_worse_of_two_lines_alike_keeps_most_of_its_evidence() -> None:
    few = scored("- the club meets in the barn\n- the club now meets in the chapel and not in the barn", "club meets")
    assert min(line.score for line in few) > 0.7 * max(line.score for line in few)
    assert scoring.lowest([0.4, 0.5]) == 0.2 and scoring.lowest([0.4] * 300) > 0.39
    assert scoring.lowest([-0.1, 0.5]) == -0.1 and scoring.lowest([]) == 0.0
    assert scoring.lowest([0.4, 0.5], half_count=0) == 0.4
