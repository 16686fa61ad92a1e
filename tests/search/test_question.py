"""What a question means: words, days, the kind of answer."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.question import parse
from gitmem.text.day_spans import Days

TODAY = date(2026, 5, 20)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("What did we decide about webhooks?", ("decid", "webhook")),
        ("메모리는 언제 만료되나요", ("메모", "모리", "만료")),
        ("데이터베이스를 쓰는 이유", ("데이", "이터", "터베", "베이", "이스", "쓰는")),
        ("락", ("락",)),
        (
            "バックアップの手順は何ですか",
            ("バッ", "ック", "クア", "アッ", "ップ", "プの", "の手", "手順", "順は", "は何"),
        ),
        ("the what", ("the", "what")),
        ("", ()),
        ('!!! "', ()),
    ],
)
def test_only_telling_words_are_searched(text: str, terms: tuple[str, ...]) -> None:
    assert parse(text, TODAY).terms == terms


@pytest.mark.parametrize(
    ("text", "day", "found"),
    [
        ("what happened in March 2023", date(2023, 3, 9), 1.0),
        ("what happened in March 2023", date(2024, 3, 9), 0.0),
        ("in July", date(2019, 7, 1), 1.0),
        ("5월에 정한 규칙", date(2026, 5, 2), 1.0),
        ("2023년 3월 5일", date(2023, 3, 5), 1.0),
        ("3月に決めたこと", date(2026, 3, 5), 1.0),
        ("last week's decision", date(2026, 5, 12), 1.0),
        ("지난주 회의", date(2026, 5, 18), 0.5),
        ("what did I do yesterday", date(2026, 5, 19), 1.0),
        ("작년엔 왜 예외였지?", date(2025, 7, 1), 1.0),
        ("3 months ago", date(2026, 2, 3), 1.0),
        ("on 7 May 2023", date(2023, 5, 7), 1.0),
        ("2026-02-05", date(2026, 2, 5), 1.0),
        ("what did we decide last Tuesday?", date(2026, 5, 19), 1.0),
        ("what did we decide last Tuesday?", date(2026, 5, 12), 0.0),
        ("who was on call on Friday", date(2026, 5, 15), 1.0),
        ("who was on call on Friday", date(2026, 5, 22), 0.5),
        ("what is due by Friday", date(2026, 5, 22), 1.0),
        ("what happens next Monday", date(2026, 5, 25), 1.0),
        ("지난주 화요일 회의", date(2026, 5, 12), 1.0),
        ("지난주 화요일 회의", date(2026, 5, 11), 0.0),
        ("화요일에 뭐라고 했지?", date(2026, 5, 19), 1.0),
        ("금요일까지 할 일", date(2026, 5, 22), 1.0),
        ("先週の火曜に決めたこと", date(2026, 5, 12), 1.0),
        ("火曜日の会議", date(2026, 5, 19), 1.0),
        ("上周二的会议", date(2026, 5, 12), 1.0),
        ("周二说了什么", date(2026, 5, 19), 1.0),
        ("what do we do on Mondays", date(2026, 5, 18), 0.0),
    ],
)
def test_days_a_question_names(text: str, day: date, found: float) -> None:
    assert max((named.match(day) for named in parse(text, TODAY).days), default=0.0) == found


@pytest.mark.parametrize("text", ["what may we do", "march on", "versions 2.3.0 and 10.1", "99월", "in 0 days"])
def test_what_is_no_date_names_none(text: str) -> None:
    assert parse(text, TODAY).days == ()


def test_impossible_days_match_nothing() -> None:
    assert Days(month=2, day=30).match(date(2024, 2, 28)) == 0.0


@pytest.mark.parametrize("text", ["what did we use before?", "작년엔 왜 예외였지?", "以前はどう決めた?", "之前用什么"])
def test_a_question_about_the_past_is_known(text: str) -> None:
    assert parse(text, TODAY).past


def test_an_identifier_is_told_from_a_word() -> None:
    found = parse("why does ERR_1042 happen in getUser with h2.bindAddress and ISR today", TODAY)
    assert found.exact == {"err_1042", "getuser", "h2_bindaddress", "isr"}
    assert not parse("a well-known way", TODAY).exact
    assert parse("where is net::http::Client made", TODAY).exact == {"net_http_client"}


@pytest.mark.parametrize("text", ["when did it break", "언제 바꿨지", "いつ決めた", "什么时候上线"])
def test_a_question_for_a_time_is_known(text: str) -> None:
    assert parse(text, TODAY).wants_time


@given(st.text(max_size=100))
def test_any_text_is_a_question(text: str) -> None:
    parse(text, TODAY)


@pytest.mark.parametrize(
    "text",
    [
        "what was our previous limit", "what did we originally use", "two years ago", "which tool was used at first",
        "재작년에는", "그때 왜 그랬지", "以前は何を使っていた", "最初用的是什么",
    ],
)  # fmt: skip
def test_a_question_about_the_past_is_seen_as_one(text: str) -> None:
    assert parse(text, TODAY).past


@pytest.mark.parametrize("text", ["which database do we use?", "지금 담당자는 누구지"])
def test_a_question_about_now_is_none_about_the_past(text: str) -> None:
    assert not parse(text, TODAY).past


@pytest.mark.parametrize(
    ("text", "year"), [("재작년에", -2), ("작년에", -1), ("一昨年", -2), ("去年", -1), ("昨年", -1)]
)
def test_the_year_before_last_is_not_last_year(text: str, year: int) -> None:
    (named,) = parse(text, TODAY).days
    assert named.first is not None and named.first.year == TODAY.year + year


def test_the_day_before_yesterday_is_not_yesterday_in_japanese() -> None:
    (named,) = parse("一昨日の会議", TODAY).days
    assert named.first is not None and (TODAY - named.first).days == 2


def test_a_few_lines_of_a_log_beside_a_question_lend_it_no_times_and_numbers() -> None:
    log = [
        "[2026-11-29T10:00:01] ERROR code=1042 id=99812 ERR_77 v2.3.0",
        "Nov 29 10:00:02 host relay: took 88 ms, 3.5 MB",
        "10:00:03.123 INFO 배치 지연",
    ]
    asked = parse("\n".join(["왜 결제 42건이 재시도되나요?", "", *log]), TODAY)
    assert "결제" in asked.terms and "42" in asked.terms and {"relay", "err_77"} & set(asked.terms) and not asked.days
    assert not {"1042", "99812", "88", "10", "00", "nov", "2026", "29"} & set(asked.terms)
    assert "ERR_77" in asked.text and "v2.3.0" in asked.text
    for text in ("\n".join(log), "\n".join(["what is 1042?", *log[:1]])):  # a log alone; a line that is asked about
        assert "1042" in parse(text, TODAY).terms


def test_the_numbers_of_a_pasted_log_are_no_terms_and_those_of_a_question_are() -> None:
    log = " ".join(f"[{at:05}] job {at * 7919 % 100003} retried" for at in range(200))
    asked = parse(f"who locks the zinc wharf? {log}", TODAY)
    assert asked.pasted and asked.terms == ("lock", "zinc", "wharf", "job", "retri")
    assert not [word for word in asked.content.split() if word.isdigit()]
    prose = " ".join(f"word{'abcdefghij'[at // 10]}{'abcdefghij'[at % 10]}" for at in range(100))
    for text in (f"{prose} port 8080 or 9090", "is it 17, 42 or 99?", " ".join(map(str, range(1000, 1200)))):
        asked = parse(text, TODAY)
        assert not asked.pasted and any(term.isdigit() for term in asked.terms)
