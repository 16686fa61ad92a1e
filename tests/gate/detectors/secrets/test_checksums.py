"""Checksums, against numbers whose check digits are published or worked out by hand."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors.secrets import checksums


def test_a_github_checksum_is_the_crc_in_base_62() -> None:
    body = "0123456789abcdefghijABCDEFGHIJ"
    token = f"ghp_{body}{checksums.base62_crc(body)}"
    assert checksums.github(token) and not checksums.github(token[:-1] + ("0" if token[-1] != "0" else "1"))


def test_a_grafana_checksum_is_the_crc_in_hex() -> None:
    from zlib import crc32

    body = "glsa_" + "a1" * 16
    assert checksums.grafana(f"{body}_{crc32(body.encode()):08x}") and not checksums.grafana(f"{body}_00000000")


@pytest.mark.parametrize(("digits", "right"), [("79927398713", True), ("79927398710", False), ("", False)])
def test_luhn_is_that_of_the_standard(digits: str, right: bool) -> None:
    assert checksums.luhn(digits) is right


@pytest.mark.parametrize(
    ("value", "right"),
    [
        ("GB82 WEST 1234 5698 7654 32", True),
        ("GB83 WEST 1234 5698 7654 32", False),
        ("GB82", False),
        ("한글한글한글한글한글", False),
    ],
)
def test_iban_is_mod_97(value: str, right: bool) -> None:
    assert checksums.iban(value) is right


def test_a_resident_number_needs_a_date_that_exists_and_its_check_digit() -> None:
    right = next(f"900101123456{d}" for d in range(10) if checksums.resident_number(f"900101123456{d}"))
    assert sum(checksums.resident_number(right[:12] + str(d)) for d in range(10)) == 1
    assert not checksums.resident_number("901301" + right[6:])
    assert not checksums.resident_number("900230" + right[6:])
    assert checksums.resident_number("2101013" + "123456"), "since October 2020 the last digits are random"
    assert not checksums.resident_number("9" * 13)


def test_a_business_number_has_one_right_check_digit() -> None:
    assert sum(checksums.business_number(f"123456789{d}") for d in range(10)) == 1
    assert not checksums.business_number("0000000000")


def test_chinese_and_japanese_numbers_have_one_right_ending() -> None:
    assert sum(checksums.chinese_id(f"1101051990030712{d}") for d in "0123456789X") == 0, "17 characters are none"
    assert sum(checksums.chinese_id(f"11010519900307123{d}") for d in "0123456789X") == 1
    assert sum(checksums.my_number(f"12345678901{d}") for d in range(10)) == 1
