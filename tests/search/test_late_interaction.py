"""Words of a question and the words of lines they are nearest to."""

from __future__ import annotations

from gitmem.models.static_embedder import shared
from gitmem.search.late_interaction import MAX_WORDS, match_lines, question_words

TABLE = shared()


def best(question: str, *lines: str, rarity: dict[str, float] | None = None) -> int:
    found = question_words(question, rarity or {}, TABLE)
    assert found is not None
    scores = match_lines(found, [(2 * at, 0, line) for at, line in enumerate(lines)], TABLE)
    return max(range(len(lines)), key=lambda at: scores[at][0])


def test_one_word_that_answers_is_found_among_many_others() -> None:
    long = "we talked for a while about this and that and then, on the way home, she bought a puppy from the shelter"
    assert best("which dog", "we talked for a while about this and that", long) == 1


def test_a_word_is_met_by_its_neighbour_in_meaning_in_either_language() -> None:
    assert best("배포 주기", "- 점심은 김밥을 먹었다", "- 릴리스는 매주 한다") == 1
    assert best("deploy schedule", "- 점심은 김밥을 먹었다", "- 배포 일정은 매주 화요일") == 1


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    lines = ("the kayak", "the sister")
    assert best("kayak sister", *lines, rarity={"kayak": 9.0, "sister": 0.1}) == 0
    assert best("kayak sister", *lines, rarity={"kayak": 0.1, "sister": 9.0}) == 1


def test_neighbours_count_only_within_their_strip_and_next_to_the_line() -> None:
    found = question_words("kayak", {}, TABLE)
    assert found is not None
    lines = [(0, 0, "kayak"), (1, 0, "weather"), (2, 0, "weather"), (3, 1, "weather")]
    around = [near for _, near in match_lines(found, lines, TABLE)]
    assert around[0] == around[1] == 1.0
    assert around[2] == around[3] == 0.0


def test_what_has_no_word_matches_nothing_and_fails_nowhere() -> None:
    assert question_words("", {}, TABLE) is None
    assert question_words("?! …", {}, TABLE) is None
    found = question_words("kayak", {}, TABLE)
    assert found is not None
    assert match_lines(found, [], TABLE) == []
    assert match_lines(found, [(0, 0, ""), (1, 0, "```\n```")], TABLE) == [(0.0, 0.0), (0.0, 0.0)]


def test_of_a_very_long_line_the_beginning_is_compared() -> None:
    found = question_words("kayak", {}, TABLE)
    assert found is not None
    scores = match_lines(found, [(0, 0, "weather " * MAX_WORDS + "kayak"), (2, 0, "weather today")], TABLE)
    assert scores[0][0] <= scores[1][0]
