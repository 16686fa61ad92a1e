"""Alerts as questions: the shapes that programs send, and what a hostile one may not do."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.alerts import (
    MAX_ALERTS,
    MAX_DETAIL_CHARACTERS,
    MAX_NAMES,
    MAX_TITLE_CHARACTERS,
    MAX_VALUE_CHARACTERS,
    Alert,
    parse_alerts,
)


def read(value: object) -> list[Alert]:
    return parse_alerts(json.dumps(value).encode())


def test_alertmanager_gives_each_alert_that_goes_on_with_what_its_group_says() -> None:
    found = read({
        "version": "4", "status": "firing", "commonLabels": {"cluster": "eu-1"}, "externalURL": "http://a.example",
        "alerts": [
            {"status": "firing", "labels": {"alertname": "High5xxRate", "service": "checkout"},
             "annotations": {"summary": "checkout returns 502", "description": "12% of requests fail"},
             "startsAt": "2026-04-01T00:00:00Z", "fingerprint": "0123456789abcdef"},
            {"status": "resolved", "labels": {"alertname": "DiskFull"}},
        ],
    })  # fmt: skip
    assert found == [Alert("checkout returns 502", "High5xxRate 12% of requests fail", ("checkout", "eu-1"))]
    assert found[0].questions[0] == "checkout returns 502"


def test_the_api_of_alertmanager_and_grafana_are_read_too() -> None:
    listed = read([{"labels": {"alertname": "KafkaLagHigh", "topic": "orders"}, "status": {"state": "active"}}])
    assert listed == [Alert("KafkaLagHigh", "", ("orders",))]
    assert listed[0].questions[0] == "Kafka Lag High"
    grafana = {"receiver": "n8n", "title": "[FIRING:1] Disk", "alerts": [
        {"status": "firing", "labels": {"alertname": "디스크 부족", "instance": "build-3"},
         "annotations": {"summary": "디스크가 95% 찼습니다"}, "values": {"B": 95.2}}]}  # fmt: skip
    assert read(grafana) == [Alert("디스크가 95% 찼습니다", "디스크 부족", ("build-3",))]


def test_pagerduty_and_sentry_are_read_by_the_names_of_their_keys() -> None:
    pagerduty = {"event": {"id": "01ABC", "event_type": "incident.triggered", "data": {
        "type": "incident", "title": "Replica is behind", "service": {"summary": "postgres", "type": "service_reference"},
        "html_url": "https://x.example/i"}}}  # fmt: skip
    (alert,) = read(pagerduty)
    assert alert.title == "Replica is behind" and "postgres" in alert.names
    sentry = {"action": "created", "data": {"issue": {
        "title": "TimeoutError: pool exhausted", "culprit": "checkout.pay", "project": {"name": "shop"},
        "metadata": {"type": "TimeoutError", "value": "pool exhausted"}}}}  # fmt: skip
    (alert,) = read(sentry)
    assert alert.title == "TimeoutError: pool exhausted" and "shop" in alert.names and "checkout.pay" in alert.detail


def test_an_object_with_keys_of_nobodys_form_is_read_by_its_sentences() -> None:
    (found,) = parse_alerts(b'{"severity": "critical", "alert": "payment queue stuck", "service": "checkout", "n": 3}')
    assert (found.title, found.names) == ("payment queue stuck", ("checkout",)) and "critical" in found.detail
    (found,) = parse_alerts('{"등급": "높음", "제목": "결제 대기열이 멈춤"}'.encode())
    assert found.title == "결제 대기열이 멈춤" and found.detail == "높음"
    assert parse_alerts(b'{"severity": "critical"}')[0].title == "critical"
    assert parse_alerts(b'{"at": "2026-02-05T10:00:00Z", "n": 3, "on": true}') == []


def test_a_text_is_its_first_line_and_the_rest() -> None:
    assert parse_alerts("\n\n결제 지연\n응답 8초\n".encode()) == [Alert("결제 지연", "응답 8초")]
    assert parse_alerts(b"{ not json") == [Alert("{ not json")]
    assert parse_alerts(b"") == parse_alerts(b" \n\0\n") == parse_alerts(b"{}") == parse_alerts(b"[1, 2]") == []


def test_a_huge_nested_or_odd_alert_is_bounded_and_shows_no_control_character() -> None:
    assert parse_alerts(b"[" * 100_000) and not parse_alerts(b"[" * 500 + b"]" * 500)
    wide = {"title": "x " * 9000, "labels": {f"service{n}": "a" for n in range(5000)}, "msg": ["y " * 900] * 5000}
    (alert,) = read(wide)
    assert (
        len(alert.title) <= MAX_TITLE_CHARACTERS
        and len(alert.detail) <= MAX_DETAIL_CHARACTERS
        and len(alert.names) <= MAX_NAMES
    )
    many = read({"alerts": [{"title": f"alert {n}"} for n in range(10_000)]})
    assert len(many) == MAX_ALERTS
    (odd,) = parse_alerts(b'{"title": "a\\u001b[31m\\u202e\\u0000b", "msg": "\\ud800c"}')
    assert odd == Alert("a [31m b", "c")
    assert parse_alerts(b"\xff\xfe broken \x1b]8;;x\x07") == [Alert("\ufffd\ufffd broken ]8;;x")]


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=40),
    lambda below: (
        st.lists(below, max_size=4)
        | st.dictionaries(st.sampled_from(["alerts", "labels", "title", "msg", "service", "x"]), below, max_size=4)
    ),
    max_leaves=20,
)


@given(json_values | st.binary(max_size=200))
def test_any_bytes_and_any_json_are_read_without_a_fault(value: object) -> None:
    found = parse_alerts(value if isinstance(value, bytes) else json.dumps(value).encode())
    for alert in found:
        assert alert.title and alert.questions
        assert all(len(text) <= MAX_VALUE_CHARACTERS for text in (*alert.names, alert.title))
        assert not any(ord(c) < 32 for text in alert.questions for c in text)


@pytest.mark.parametrize("key", ["title", "message", "summary", "alertname", "description"])
def test_each_name_of_a_title_is_one(key: str) -> None:
    assert read({key: "queue is stuck", "id": "0123456789abcdef"}) == [Alert("queue is stuck")]
