"""Near-duplicates and repetitions of texts in four languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.memory.relation import Kind, relation
from gitmem.memory.similarity import adds_nothing, exchange_values, is_near_duplicate
from gitmem.text.directions import is_way_back
from gitmem.text.names import names

REVERSALS = [  # one text and what takes it back
    ("We use Redis for the session cache", "We do not use Redis for the session cache"),
    ("We deploy on Fridays after review", "We no longer deploy on Fridays after review"),
    ("Refunds need approval by finance", "Refunds never need approval by finance"),
    ("Retries are allowed in the payment job", "Retries aren’t allowed in the payment job"),
    ("세션 캐시는 Redis를 쓴다", "세션 캐시는 Redis를 쓰지 않는다"),
    ("배포는 금요일에 진행한다", "배포는 금요일에 진행하지 않는다"),
    ("결제 콜백은 웹훅을 사용한다", "결제 콜백은 더 이상 웹훅을 사용하지 않는다"),
    ("운영 서버에 직접 배포를 허용한다", "운영 서버에 직접 배포를 금지한다"),
    ("本番環境ではキャッシュを使う", "本番環境ではキャッシュを使わない"),
    ("デプロイには承認が必要です", "デプロイには承認が不要です"),
    ("会議は金曜日に行います", "会議は金曜日に行いません"),
    ("我们使用 REST webhooks", "我们不再使用 REST webhooks"),
    ("我们在生产环境使用缓存", "我们在生产环境不再使用缓存"),
    ("部署需要审批", "部署不需要审批"),
    ("部署到生產環境需要審批", "部署到生產環境無需審批"),
]
OTHER_VALUES = [
    ("Rate limit is 300 requests per minute", "Rate limit is 600 requests per minute"),
    ("We use Postgres for billing data", "We use MySQL for billing data"),
    ("결제 타임아웃은 30초로 정했다", "결제 타임아웃은 45초로 정했다"),
    ("決済のタイムアウトは30秒です", "決済のタイムアウトは45秒です"),
    ("支付超时时间是30秒", "支付超时时间是45秒"),
    ("Deploy window is Monday 9:00 at the office", "Deploy window is Tuesday 10:00 at the office"),
    ("Rate limit is 300 requests per minute", "Rate limit is 600 requests every minute"),
    ("The API limit was 300 requests", "The API limit is 600 requests"),
    ("| retry limit | payments | 3 |", "| retry limit | payments | 5 |"),
]
THE_SAME = [
    ("Rate limit is 600 requests per minute", "rate limit is 600 requests per  minute."),
    ("Invoices above 1,000 USD need two approvals", "Invoices above 1000 USD need two approvals"),
    ("We do not use Redis for the session cache", "We don't use Redis for the session cache"),
    ("보안 정책은 분기마다 검토한다", "보안 정책은 분기마다 검토한다."),
    ("本番環境ではキャッシュを使わない", "本番環境では、キャッシュを使わない。"),
    ("我们不再使用缓存", "我们不再使用缓存。"),
    (
        "Decision: the retry limit of all calls to the outside world is 3 in each of our regions",
        "Note: the retry limit of all calls to the outside world is 3 in each of our regions",
    ),
]
OTHER_MATTERS = [
    ("unit 7 uses 91 litres of water a day", "unit 8 uses 92 litres of water a day"),
    ("Office in Seoul has 3 rooms.", "Office in Busan has 4 rooms."),
    ("seoul office has 3 rooms", "busan office has 4 rooms"),
    ("Kafka runs 3 brokers in Seoul.", "Kafka runs 4 brokers in Busan."),
    ("The retry limit of payments is 3.", "The retry limit of orders is 5."),
    ("| retry limit | payments | 3 |", "| retry limit | orders | 5 |"),
    ("| Owner of the api | Dana |", "| Owner of the web | Robin |"),
    ("서울 지사 직원은 3명이다", "부산 지사 직원은 4명이다"),
    ("東京支店の従業員は3名です", "名古屋支店の従業員は4名です"),
    ("上海分公司有3名员工", "北京分公司有4名员工"),
    ("We use Redis for the session cache", "The office in Berlin closes at six"),
    ("배포는 금요일에 진행한다", "회의실 예약은 하지 않는다"),
    ("会議は金曜日に行います", "ログは保存しない"),
    ("我们使用缓存", "会议室周五不开放"),
    (
        "billing: the retry limit of all calls to the outside world is 3 in each of our regions",
        "shipping: the retry limit of all calls to the outside world is 3 in each of our regions",
    ),
    (
        "결제: 외부 호출 재시도 횟수는 3회로 하고 간격은 10초로 한다",
        "정산: 외부 호출 재시도 횟수는 3회로 하고 간격은 10초로 한다",
    ),
    (
        "billing service: the retry limit of all calls to the outside world is 3 in each of our regions",
        "shipping service: the retry limit of all calls to the outside world is 3 in each of our regions",
    ),
    (
        "결제 서비스: 외부 호출 재시도 횟수는 3회로 하고 간격은 10초로 한다",
        "정산 서비스: 외부 호출 재시도 횟수는 3회로 하고 간격은 10초로 한다",
    ),
]


@pytest.mark.parametrize(("old", "new"), REVERSALS + OTHER_VALUES)
def test_a_reversal_or_another_value_is_never_the_same(old: str, new: str) -> None:
    assert not is_near_duplicate(old, new) and not adds_nothing(old, new)


@pytest.mark.parametrize(("one", "other"), THE_SAME)
def test_other_spelling_of_one_text_is_the_same(one: str, other: str) -> None:
    assert is_near_duplicate(one, other) and is_near_duplicate(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER_MATTERS)
def test_texts_about_other_matters_neither_repeat_nor_equal_each_other(one: str, other: str) -> None:
    assert not is_near_duplicate(one, other) and not adds_nothing(one, other)


def test_a_part_repeats_one_that_holds_all_it_says() -> None:
    long = "The vendor sends webhooks for every paid order and retries three times on failure"
    assert adds_nothing("The vendor sends webhooks for every paid order", long)
    assert not adds_nothing(long, "The vendor sends webhooks for every paid order")  # it says more
    assert not adds_nothing("The vendor sends no webhooks for every paid order", long)
    assert not adds_nothing("The vendor sends webhooks for every paid order 7 times", long)
    assert not adds_nothing("The vendor sends", long), "three words say too little"


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_are_compared_alike_in_both_orders(one: str, other: str) -> None:
    assert is_near_duplicate(one, other) == is_near_duplicate(other, one)
    assert adds_nothing(one, other) == adds_nothing(other, one)


@pytest.mark.parametrize("marks", ["- ", "* ", "  - ", "1. ", "12) ", "- [ ] ", "- [x] ", "> ", '"'])
def test_marks_in_front_of_a_text_say_nothing(marks: str) -> None:
    text = "Alice prefers short meetings in the morning."
    assert names(marks + text) == names(text) and is_near_duplicate(marks + text, text)
    assert not is_near_duplicate(marks + text, text.replace("prefers", "does not like"))


def test_a_part_whose_value_is_in_a_reason_of_another_one_is_no_repetition() -> None:
    reasoned = "- the gateway is at port 7200, because 7100 is taken by Grafana."
    assert not adds_nothing("- The gateway is at port 7100.", reasoned)
    assert adds_nothing("- The gateway is at port 7200.", reasoned)
    korean = "게이트웨이는 7200 포트를 쓴다. 7100은 그라파나가 쓰므로"
    assert adds_nothing("게이트웨이는 7200 포트를 쓴다", korean)
    assert not adds_nothing("게이트웨이는 7100 포트를 쓴다. 7100은", korean)


WAYS_BACK = [
    ("The ferry goes from Hals to Kiel", "The ferry goes from Kiel to Hals"),
    ("Orders flow: shop → billing → ledger", "Orders flow: ledger → billing → shop"),
    ("Sync: the A server -> the B server, hourly", "Sync: the B server -> the A server, hourly"),
    ("데이터는 서울에서 부산으로 복제된다", "데이터는 부산에서 서울로 복제된다"),
    ("サーバーのデータは東京から大阪へ送る", "サーバーのデータは大阪から東京へ送る"),
    ("数据每天从上海到北京复制一次", "数据每天从北京到上海复制一次"),
]


@pytest.mark.parametrize(("there", "back"), WAYS_BACK)
def test_the_way_back_is_another_statement(there: str, back: str) -> None:
    assert is_way_back(there, back)
    assert not is_near_duplicate(there, back) and not adds_nothing(there, back)
    assert relation(there, back).kind is not Kind.SAME and relation(back, there).kind is not Kind.SAME
    assert is_near_duplicate(there, there) and not is_way_back(there, there)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The ferry goes from Hals to Kiel", "The ferry goes from Hals to Kiel at night"),
        (
            "The ferry goes from Hals to Kiel and from Kiel to Hals",
            "The ferry goes from Kiel to Hals and from Hals to Kiel",
        ),
        ("A → B → A", "A → B → A"),
        ("Moved from Hals to Kiel", "Moved from Kiel to Oslo"),
        ("The port was raised from 8080 to 9090", "The port is 9090"),
        ("", "→ from to"),
    ],
)
def test_the_same_or_a_further_way_is_no_way_back(one: str, other: str) -> None:
    assert not is_way_back(one, other) and not is_way_back(other, one)


EXCHANGED = [
    ("We use tabs, not spaces", "We use spaces, not tabs"),
    ("The proxy uses a GitHub App, not a PAT", "The proxy uses a PAT, no GitHub App"),
    ("Backups go to Hals and not to Kiel", "Backups go to Kiel and not to Hals"),
    ("배포는 서울이 아니라 부산에서 한다", "배포는 부산이 아니라 서울에서 한다"),
    ("タブではなくスペースを使う", "スペースではなくタブを使う"),
    ("使用空格而不是制表符", "使用制表符而不是空格"),
]


@pytest.mark.parametrize(("one", "other"), EXCHANGED)
def test_two_texts_that_deny_each_others_value_are_not_the_same(one: str, other: str) -> None:
    assert not is_near_duplicate(one, other) and not is_near_duplicate(other, one)
    assert not adds_nothing(one, other) and not adds_nothing(other, one)
    assert relation(one, other).kind is Kind.CONFLICTS and relation(one, other).asks
    assert not relation(one, other).automatic


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use tabs, not spaces", "we use tabs, not spaces."),
        ("We use tabs, not any spaces", "we use tabs, not any spaces"),
        ("배포는 서울이 아니라 부산에서 한다", "배포는 서울이 아니라 부산에서 한다."),
    ],
)
def test_the_same_value_denied_twice_is_the_same(one: str, other: str) -> None:
    assert not exchange_values(one, other) and is_near_duplicate(one, other)
