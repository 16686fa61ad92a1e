"""The figures of an evaluation."""

from __future__ import annotations

import pytest

from gitmem.config import Config
from gitmem.errors import UsageError
from gitmem.search.evaluation import (
    LabelledQuestion,
    QuestionResult,
    gained_and_lost,
    parse_floors,
    question_figures,
    read_questions,
    same_index,
    summarise,
    variants,
)
from gitmem.search.hits import Hit
from gitmem.search.tuning import configured_ranking


def hit(path: str, first: int, text: str) -> Hit:
    last = first + text.count("\n")
    return Hit(path, first, last, "", text, 0.5, "", "", (), "", "committed", "0" * 40, "x")


QUESTION = LabelledQuestion("q", "c", (("a.md", 1, 2), ("b.md", 5, 5)))


def test_recall_counts_lines_covered_by_the_first_hits() -> None:
    figures = question_figures(QUESTION, [hit("x.md", 1, "no"), hit("a.md", 2, "yes"), hit("b.md", 5, "yes")])
    assert figures["recall@1"] == 0 and figures["recall@5"] == pytest.approx(2 / 3)
    assert figures["hit@1"] == 0 and figures["hit@5"] == 1 and figures["mrr"] == 0.5


def test_a_share_counts_lines_whole_within_the_tokens() -> None:
    figures = question_figures(
        QUESTION, [hit("x.md", 1, "a" * 1990), hit("a.md", 1, "short\n" + "b" * 100), hit("b.md", 5, "c" * 3000)]
    )
    assert figures["share@500"] == pytest.approx(1 / 3)
    assert figures["share@1000"] == pytest.approx(2 / 3)
    assert figures["share@2000"] == 1


def test_no_hits_score_nothing() -> None:
    assert set(question_figures(QUESTION, []).values()) == {0.0}


def test_the_summary_has_all_then_each_category() -> None:
    results = [
        QuestionResult(QUESTION, question_figures(QUESTION, []), 10.0),
        QuestionResult(QUESTION, question_figures(QUESTION, [hit("a.md", 1, "x\ny")]), 30.0),
    ]
    groups = summarise(results)
    assert list(groups) == ["all", "c"] and groups["all"].figures["hit@1"] == 0.5 and groups["all"].questions == 2
    assert gained_and_lost(results[:1], results[1:]) == (["q"], [])


PLACE = '{"path": "a.md", "start_line": 1, "end_line": 2}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no question"),
        ("{", "line 1: it is no JSON"),
        ("[]", "line 1: it is no JSON object"),
        ('{"query": 1}', "'query' is missing"),
        ('{"query": " ", "relevant": []}', "'query' is missing"),
        ('{"query": "x"}', "'relevant' is missing"),
        ('{"query": "x", "relevant": []}', "'relevant' is missing"),
        ('{"query": "x", "relevant": [{}]}', "needs 'path', 'start_line' and 'end_line'"),
        ('{"query": "x", "relevant": ["a.md"]}', "needs 'path'"),
        ('{"query": "x", "relevant": [{"path": "a.md", "start_line": "1", "end_line": 2}]}', "needs 'path'"),
        ('{"query": "x", "relevant": [{"path": "a.md", "start_line": 5, "end_line": 2}]}', "no range"),
        ('{"query": "x", "relevant": [{"path": "a.md", "start_line": 0, "end_line": 2}]}', "no range"),
        ('{"query": "x", "relevant": [{"path": "a.md", "start_line": 1, "end_line": 500000000}]}', "no range"),
        (f'{{"query": "x", "relevant": [{PLACE}]}}\n\nno', "line 3: it is no JSON"),
    ],
)
def test_a_bad_file_of_questions_is_said_to_be_one_and_where(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        read_questions(text)
    assert said in error.value.message and '"relevant"' in error.value.hint


def test_questions_are_read_with_a_byte_order_mark_and_odd_line_ends() -> None:
    (asked,) = read_questions(f'\ufeff{{"query": "a\u2028b", "relevant": [{PLACE}]}}\r\n')
    assert asked.query == "a\u2028b" and asked.category == "" and asked.relevant == (("a.md", 1, 2),)


def test_the_figures_stand_in_the_same_order_however_few_hits_there_are() -> None:
    assert list(question_figures(QUESTION, [hit("a.md", 1, "x")])) == list(
        question_figures(QUESTION, [hit("a.md", 1, "x")] * 12)
    )


def test_settings_are_compared_in_every_combination() -> None:
    named = variants(Config(), ["label=0,3", "searchPool=10", "mem.chunksize=80,90"])
    assert [name for name, _ in named][:2] == [
        "label=0 searchPool=10 mem.chunksize=80",
        "label=0 searchPool=10 mem.chunksize=90",
    ]
    assert len(named) == 4 and named[-1][1].chunk_size == 90 and named[-1][1].search_pool == 10
    assert configured_ranking(named[-1][1]).weights["label"] == 3 and variants(Config(), []) == [("", Config())]
    assert same_index(Config(), named[-1][1]) is False and same_index(Config(), variants(Config(), ["label=1"])[0][1])


@pytest.mark.parametrize("key", ["queryPrefix", "passagePrefix"])
def test_the_prefixes_of_an_embedder_are_compared_each_with_an_index_of_its_own(key: str) -> None:
    (_, plain), (_, prefixed) = variants(Config(), [f"{key}=none,query: "])
    assert "query: " in (prefixed.query_prefix, prefixed.passage_prefix) and "none" in plain
    assert not same_index(plain, prefixed)


@pytest.mark.parametrize(
    "text", ["nonsense=1", "label", "label=x", "searchPool=0", "maxFacts=1", "=", "label=", "searchPool=1,"]
)
def test_a_setting_that_cannot_be_compared_is_said_to_be_none(text: str) -> None:
    with pytest.raises(UsageError):
        variants(Config(), [text])


def test_a_floor_names_a_figure_and_a_share() -> None:
    assert parse_floors(["recall@5=0.9", "mrr=1"]) == [("recall@5", 0.9), ("mrr", 1.0)]
    for text in ("recall@5", "recall@7=0.5", "mrr=2", "mrr=x"):
        with pytest.raises(UsageError):
            parse_floors([text])


def test_any_line_of_a_fact_and_any_commit_that_says_it_answers_for_it() -> None:
    text = "The anchor chain is forged of steel"
    question = LabelledQuestion("q", "", (("MEMORY.md", 3, 3),), "a" * 12, (("memory/2026-01-01.md", 5, 5),), text)
    log = hit("memory/2026-01-01.md", 5, text)
    said = hit("", 1, "Because iron broke.")._replace(kind="commit", commit="c" * 40, subject=text)
    other = said._replace(subject="The mast is made of oak")
    assert question_figures(question, [log])["recall@1"] == question_figures(question, [said])["recall@1"] == 1.0
    assert question_figures(question, [log, hit("MEMORY.md", 3, text)])["recall@5"] == 1.0
    assert set(question_figures(question, [other, hit("MEMORY.md", 4, text)]).values()) == {0.0}
    assert set(question_figures(LabelledQuestion("q", "", (), "a" * 12), [log]).values()) == {0.0}


def test_a_question_may_name_a_fact_by_its_id_in_the_place_of_lines() -> None:
    (question,) = read_questions('{"query": "q", "fact": "0123456789ab"}')
    assert question == LabelledQuestion("q", "", (), "0123456789ab")
    for bad in (
        '{"query": "q", "fact": "xyz"}',
        '{"query": "q", "fact": 3}',
        '{"query": "q", "fact": "0123456789ab", "relevant": []}',
    ):
        with pytest.raises(UsageError):
            read_questions(bad)
