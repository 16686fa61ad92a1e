"""Check digits of the numbers that states and banks give to people. Pure arithmetic, no judgement.

Sources: ISO/IEC 7812-1 (Luhn); ISO 13616 (IBAN, mod 97); ISO 7064 (China, Germany); the Korean resident registration
number (weights 2..9, 2..5) and business registration number (weights 1 3 7 1 3 7 1 3 5); the others as their
functions say.
"""

from __future__ import annotations

from datetime import date
from itertools import pairwise


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1: every second digit from the right doubled, the sum of digits a multiple of ten.

    False for an empty string. Raises ValueError for a character that is not a digit.
    """
    total = 0
    for place, char in enumerate(reversed(digits)):
        digit = int(char) * (1 + place % 2)
        total += digit // 10 + digit % 10
    return bool(digits) and total % 10 == 0


def iban(value: str) -> bool:
    """Whether a value is an IBAN (ISO 13616), spaces ignored: the first four characters moved to the end, letters as
    10..35, the remainder by 97 is 1. False for fewer than 15 characters. The country and its own form are not
    tested."""
    text = value.replace(" ", "").upper()
    if len(text) < 15 or not text.isascii() or not text.isalnum():
        return False
    return int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1


RANDOM_SINCE = date(2020, 10, 1)  # from this day on resident numbers are issued without a check digit


def resident_number(digits: str) -> bool:
    """Whether 13 digits are a Korean resident (or foreigner) registration number.

    The birth date must exist. Numbers that were issued since October 2020 end in random digits, so for birth dates from
    then on the check digit is not tested. `undigited_resident_number` tests such numbers of people who were born
    earlier.
    """
    born = _resident_birth(digits)
    if born is None:
        return False
    if born >= RANDOM_SINCE:
        return True
    total = sum(int(d) * w for d, w in zip(digits, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5), strict=False))
    check = (11 - total % 11) % 10
    checks = [check]
    if digits[6] in "5678":  # of a foreigner
        checks.append((check + 2) % 10)
    return int(digits[12]) in checks


def undigited_resident_number(digits: str) -> bool:
    """Whether 13 digits may be a Korean resident (or foreigner) registration number that was issued since October 2020
    to a person of any age: the birth date exists, and the digits after it are not a plain pattern (111111, 123456).

    Nothing in the digits proves it, so call it only where a word for such a number is before them.
    """
    random = digits[7:]
    if _resident_birth(digits) is None:
        return False
    steps = {int(after) - int(before) for before, after in pairwise(random)}
    return len(set(random)) > 2 and len(steps) > 1


def _resident_birth(digits: str) -> date | None:
    """The birth date in the first seven digits of a resident number; None if the date does not exist."""
    if len(digits) != 13 or not digits.isdigit() or digits[6] not in "12345678":
        return None
    century = 1900
    if digits[6] in "3478":
        century = 2000
    try:
        return date(century + int(digits[:2]), int(digits[2:4]), int(digits[4:6]))
    except ValueError:
        return None


def business_number(digits: str) -> bool:
    """Whether ten digits are a Korean business registration number. False for ten equal digits."""
    if len(digits) != 10 or not digits.isdigit() or len(set(digits)) == 1:
        return False
    total = sum(int(d) * w for d, w in zip(digits, (1, 3, 7, 1, 3, 7, 1, 3, 5), strict=False))
    total += int(digits[8]) * 5 // 10
    return (10 - total % 10) % 10 == int(digits[9])


def chinese_id(value: str) -> bool:
    """Whether 18 characters are a resident identity number (GB 11643: ISO 7064 MOD 11-2). The birth date in it is not
    tested."""
    if len(value) != 18 or not value[:17].isdigit():
        return False
    total = sum(int(d) * w for d, w in zip(value, (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2), strict=False))
    return "10X98765432"[total % 11] == value[17].upper()


def my_number(digits: str) -> bool:
    """Whether `digits` is a Japanese individual number: twelve digits, the last of which is the check digit of the
    others (weights 2..7 from the right). False for any other string, and for fewer than three different digits."""
    if len(digits) != 12 or not digits.isdigit() or len(set(digits)) < 3:
        return False
    remainder = sum(int(d) * ((place % 6) + 2) for place, d in enumerate(reversed(digits[:11]))) % 11
    check = 0
    if remainder > 1:
        check = 11 - remainder
    return int(digits[11]) == check


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def british_health(digits: str) -> bool:
    """Whether ten digits are a number of the British NHS: weights 10 to 2, the rest to eleven (10 is never given).
    False for fewer than three different digits."""
    if len(digits) != 10 or not digits.isdigit() or len(set(digits)) < 3:
        return False
    return (11 - _weighted(digits[:9], (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11) % 11 == int(digits[9])


def german_tax(digits: str) -> bool:
    """Whether eleven digits are a German tax identification number: one digit twice or thrice, ISO 7064 MOD 11,10."""
    if len(digits) != 11 or not digits.isdigit() or digits[0] == "0":
        return False
    if sorted(digits[:10].count(digit) for digit in set(digits[:10]))[-2:] not in ([1, 2], [1, 3]):
        return False
    product = 10
    for digit in digits[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def german_pension(value: str) -> bool:
    """Whether twelve characters are a German pension insurance number: the letter as two digits, digit sums of
    products."""
    if len(value) != 12 or not (value[:8] + value[9:]).isdigit() or not "A" <= value[8] <= "Z":
        return False
    digits = f"{value[:8]}{ord(value[8]) - 64:02d}{value[9:11]}"
    products = [int(digit) * weight for digit, weight in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True)]
    return sum(product // 10 + product % 10 for product in products) % 10 == int(value[11])


def not_american_sample(digits: str) -> bool:
    """Whether nine digits are no American social security number that manuals print; the numbers have no check
    digit."""
    return digits not in {"078051120", "219099999", "123456789", "111223333", "123121234", "987654321", "457555462"}


def french(value: str) -> bool:
    """Whether fifteen characters are a French social security number (NIR): 97 less the remainder; 2A is 19, 2B is
    18."""
    digits = value.upper().replace("2A", "19").replace("2B", "18")
    return len(digits) == 15 and digits.isdigit() and 97 - int(digits[:13]) % 97 == int(digits[13:])


def dutch(digits: str) -> bool:
    """Whether nine digits are a Dutch citizen service number: weights 9 to 2 and -1, a multiple of eleven. False for
    fewer than three different digits."""
    if len(digits) != 9 or not digits.isdigit() or len(set(digits)) < 3:
        return False
    return _weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def spanish(value: str) -> bool:
    """Whether nine characters are a Spanish DNI or NIE: the letter follows from the number modulo 23."""
    number = {"X": "0", "Y": "1", "Z": "2"}.get(value[:1], value[:1]) + value[1:-1]
    return len(value) == 9 and number.isdigit() and "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == value[-1]


def spanish_insurance(digits: str) -> bool:
    """Whether twelve digits are a Spanish social security number: the remainder of the first ten by 97."""
    if len(digits) != 12 or not digits.isdigit():
        return False
    body = digits[:10]
    if digits[2] == "0":
        body = digits[:2] + digits[3:10]
    return int(body) % 97 == int(digits[10:])


def taiwanese(value: str) -> bool:
    """Whether ten characters are a Taiwanese identity number: the letter as two digits, weights 1 9 8 7 6 5 4 3 2
    1 1."""
    letter = "ABCDEFGHJKLMNPQRSTUVXYWZIO".find(value[:1])
    if len(value) != 10 or letter < 0 or not value[1:].isdigit():
        return False
    return _weighted(f"{letter + 10}{value[1:]}", (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)) % 10 == 0


def routing_number(digits: str) -> bool:
    """Whether nine digits are a routing number of an American bank: weights 3 7 1, a multiple of ten."""
    return len(digits) == 9 and digits.isdigit() and _weighted(digits, (3, 7, 1) * 3) % 10 == 0
