"""Personal data: believed by a checksum or by its place, a warning, never shown."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.personal import check_digits
from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.text import Scope, Text
from tests.detector_examples.personal import personal_examples

MAIL = "minji.kim" + "@" + "naver.com"


def found(text: str, scope: Scope = Scope.MEMORY) -> dict[str, str]:
    return {match.rule: text[match.start : match.end] for match in load("pii")(Text(text, scope=scope))}


BLOCKING = {"resident-number", "card-number", "iban", "national-id", "bank-account", "security-answer"}


def test_what_identifies_a_person_blocks_the_rest_warns_and_nothing_is_shown() -> None:
    for table in personal_examples().values():
        for text in table.flag:
            for match in load("pii")(Text(text)):
                assert match.secret and (match.severity is Severity.BLOCK) is (match.rule in BLOCKING)
                assert match.mask is not None and match.mask.startswith("[")
                assert text[match.start : match.end] not in match.message


def test_an_address_glued_to_hangul_ends_where_it_ends() -> None:
    assert found(f"담당자는{MAIL}입니다") == {"email": MAIL}


UNDIGITED = "850315-" + "5704182"  # its check digit would be another


@pytest.mark.parametrize(
    "text",
    ["주민등록번호는 {} 이다", "주민번호: {}", "외국인 등록번호 {}", "국내거소신고번호({})", "RRN {}", "his resident registration number is {}",
     "Alien registration no. {}"],
)  # fmt: skip
def test_a_resident_number_without_a_check_digit_is_found_by_its_name(text: str) -> None:
    assert not check_digits.resident_number(UNDIGITED.replace("-", ""))
    assert found(text.format(UNDIGITED)) == {"resident-number": UNDIGITED}
    assert "resident-number" in found(text.format(UNDIGITED.replace("-", "")))
    assert "resident-number" in found(normalize("NFD", text.format(UNDIGITED)))


@pytest.mark.parametrize(
    "text",
    [f"order {UNDIGITED}", f"법인등록번호 {UNDIGITED}", f"등록번호 {UNDIGITED}", "주민등록번호 형식은 900101-1234567", "주민번호 900101-1******",
     f"주민등록번호는 적지 않는다. 대신 사번을 쓰며 그 형식은 {UNDIGITED} 이다"],
)  # fmt: skip
def test_a_number_that_only_has_the_form_of_a_resident_number_passes(text: str) -> None:
    assert "resident-number" not in found(text)


def test_addresses_in_a_commit_message_pass() -> None:
    assert found(f"fix\n\nSigned-off-by: Minji <{MAIL}>", Scope.MESSAGE) == {}


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:acme/notes.git", "you@example.com", "noreply@acme.io", "icon@2x.png", "left-pad@1.2.3", "ssh deploy@10.0.3.7",
        "support@acme.io", "2026-02-05 10:30:15", "v2.10.1-20240101", "epoch 1770000000000", "0.123456789012", "ISBN 979-11-6224-123-4",
        "4111-****-****-1111", "order 1234 5678 9012 3456", "192.168.100.200:8080", "서울 리전 로그 152건", "1600x1200", "123-45-67890",
        "commit 1234567890123456", "+1 000", "tel: none", "010 is the prefix",
    ],
)  # fmt: skip
def test_what_only_looks_personal_passes(text: str) -> None:
    assert found(text) == {}


@pytest.mark.parametrize(
    ("phone", "text"),
    [
        ("010-2745-" + "8190", "{}로 전화"),
        ("+82 10-2745-" + "8190", "{}"),
        ("090-2745-" + "8190", "{}です"),
        ("138" + "27459190", "手机{}"),
    ],
)
def test_mobile_numbers_of_three_countries_are_found(phone: str, text: str) -> None:
    assert found(text.format(phone)) == {"phone-number": phone}
