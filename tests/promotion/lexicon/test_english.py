"""English cues: the type of a fact comes from what its sentence says, not from a word that it contains."""

from __future__ import annotations

import pytest

from gitmem.promotion.rules_model import RulesModel
from tests.promotion.sample import log_of, propose


@pytest.mark.parametrize(
    "line",
    [
        "The office VPN uses WireGuard.",
        "The VPN server is in Frankfurt.",
        "VPN Status: Working",
        "The VPN concentrators are Cisco ASA 5525 boxes.",
        "The policy team sits in Berlin.",
        "The credentials service is written in Go.",
        "Key rotation drill: 41 of 44 services OK",
        "정책실 서버는 서울에 있다.",
        "보안팀은 5층에 있다.",
        "개인정보 처리 담당은 이서연이다.",
    ],
)
def test_a_statement_about_a_thing_of_security_is_no_policy(line: str) -> None:
    assert propose(line)[1].type != "policy"


@pytest.mark.parametrize(
    "line",
    [
        "VPN access requires MFA.",
        "The retention policy is seven years for invoices.",
        "University policy: raw data goes to the institutional archive.",
        "Root login is disabled on all hosts.",
        "2026-01-16 Log retention: 90 days.",
        "정책: 외부 공유 전에는 승인을 받는다",
    ],
)
def test_a_rule_of_security_is_a_policy(line: str) -> None:
    assert propose(line)[1].type == "policy"


@pytest.mark.parametrize(
    "line",
    [
        "The office is on the 3rd floor.",
        "The status page updates every 30 min during an incident.",
        "The health check runs every 5 min.",
        "Max is the owner of the billing service.",
        "The competence log is up to date.",
        "The ceiling lamps are LED.",
        "The brewery sells a limited edition.",
        "회의실 세탁기에서 이상한 소리가 난다.",
        "API 호출 최소화가 목적이다.",
        "최대 고객은 삼성전자다.",
        "최대의 거래처는 부산에 있다.",
        "최소영은 부산 지사에 있다.",
        "한도윤은 서울 지사에 있다.",
        "最大の取引先は大阪の会社です。",
    ],
)
def test_a_word_that_is_no_limit_is_no_constraint(line: str) -> None:
    assert propose(line)[1].type != "constraint"


@pytest.mark.parametrize(
    "line",
    [
        "The price floor is 3 euros.",
        "Labels have max. 320 characters.",
        "The minimum order is 20 kg.",
        "The min. order is 20 kg.",
        "Berth 6 takes draughts up to 9.5 m.",
        "2 sentences max for a summary.",
        "업로드는 최대 10MB다.",
        "2층 객실에 한해 10kg 이하 반려견 동반 가능",
        "월 한도는 300만 원이다.",
        "添付は最大 25 MB",
    ],
)
def test_a_limit_is_a_constraint(line: str) -> None:
    assert propose(line)[1].type == "constraint"


@pytest.mark.parametrize(
    ("line", "guessed"),
    [
        ("The rate limit of the public API is now 500 per minute.", True),
        ("Log retention is 90 days.", True),
        ("We decided to use PostgreSQL.", False),
        ("Constraint: the API takes 500 requests per minute.", False),
        ("Never push to main.", False),
    ],
)
def test_a_type_is_guessed_unless_a_label_or_a_deciding_cue_states_it(line: str, guessed: bool) -> None:
    (operation,) = RulesModel().propose([log_of([line])], []).operations

    assert operation.type_guessed == guessed
