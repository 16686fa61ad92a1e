"""Check digits, against numbers whose endings are published or worked out by hand."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors.personal import check_digits


@pytest.mark.parametrize(("digits", "right"), [("79927398713", True), ("79927398710", False), ("", False)])
def test_luhn_is_that_of_the_standard(digits: str, right: bool) -> None:
    assert check_digits.luhn(digits) is right


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
    assert check_digits.iban(value) is right


def test_a_resident_number_needs_a_date_that_exists_and_its_check_digit() -> None:
    right = next(f"900101123456{d}" for d in range(10) if check_digits.resident_number(f"900101123456{d}"))
    assert sum(check_digits.resident_number(right[:12] + str(d)) for d in range(10)) == 1
    assert not check_digits.resident_number("901301" + right[6:])
    assert not check_digits.resident_number("900230" + right[6:])
    assert check_digits.resident_number("2101013" + "123456"), "since October 2020 the last digits are random"
    assert not check_digits.resident_number("9" * 13)


def test_a_resident_number_given_out_since_october_2020_has_a_date_and_no_plain_pattern() -> None:
    assert check_digits.undigited_resident_number("8503155" + "704182")
    assert not check_digits.undigited_resident_number("8513155" + "704182")
    for pattern in ("111111", "123456", "654321", "000000", "121212"):
        assert not check_digits.undigited_resident_number("9001011" + pattern)
    assert not check_digits.undigited_resident_number("850315")


def test_a_business_number_has_one_right_check_digit() -> None:
    assert sum(check_digits.business_number(f"123456789{d}") for d in range(10)) == 1
    assert not check_digits.business_number("0000000000")


def test_chinese_and_japanese_numbers_have_one_right_ending() -> None:
    assert sum(check_digits.chinese_id(f"1101051990030712{d}") for d in "0123456789X") == 0, "17 characters are none"
    assert sum(check_digits.chinese_id(f"11010519900307123{d}") for d in "0123456789X") == 1
    assert sum(check_digits.my_number(f"12345678901{d}") for d in range(10)) == 1
