"""Invented secrets and numbers of persons, made at run time so that no file holds one: `fill` puts them into a text.

A text names what it wants in braces: `{hex:40}`, `{iban:GB}`, `{ssn}`. Numbers have valid check digits, computed here
and not by the detectors, which this measures. The same seed gives the same values.
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import string
from collections.abc import Callable
from functools import partial
from pathlib import Path

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = string.ascii_letters + DIGITS
SETS = {
    "hex": "0123456789abcdef",
    "hexd": "0123456789abcdef",
    "hexu": "0123456789ABCDEF",
    "alnum": ALNUM,
    "digits": DIGITS,
    "b64": ALNUM + "+/",
    "b64u": ALNUM + "-_",
    "base32": UPPER + "234567",
    "bech": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "b58": DIGITS[1:] + UPPER.replace("I", "").replace("O", "") + LOWER.replace("l", ""),
}
WORDS = Path(__file__).parent.parent / "gitmem/gate/detectors/secrets/seed_words.txt"  # the list of BIP-39
BANKS = {
    "GB": lambda pick: "NWBK" + some(pick, DIGITS, 14),
    "NL": lambda pick: "INGB" + some(pick, DIGITS, 10),
    "DE": lambda pick: some(pick, DIGITS, 18),
    "FR": lambda pick: some(pick, DIGITS, 23),
    "ES": lambda pick: some(pick, DIGITS, 20),
    "IT": lambda pick: "X" + some(pick, DIGITS, 22),
}
CARDS = {"visa": ("4539", 16), "mastercard": ("5391", 16), "amex": ("3719", 15), "unionpay": ("622202", 19)}


def some(pick: random.Random, alphabet: str, count: int) -> str:
    return "".join(pick.choice(alphabet) for _ in range(count))


def luhn(digits: str) -> str:
    """The last digit that makes `digits` valid."""
    total = 0
    for at, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 if at % 2 else 2)
        total += value // 10 + value % 10
    return str(-total % 10)


def weighted(digits: str, weights: list[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))


def iban(pick: random.Random, country: str) -> str:
    rest = BANKS[country](pick)
    number = "".join(str(int(sign, 36)) for sign in rest + country + "00")
    return f"{country}{98 - int(number) % 97:02}{rest}"


def card(pick: random.Random, name: str) -> str:
    start, length = CARDS[name]
    body = start + some(pick, DIGITS, length - len(start) - 1)
    return body + luhn(body)


def resident(pick: random.Random, kind: str) -> str:
    """A Korean resident's (rrn) or foreigner's (arc) number of someone born before the check digit was given up."""
    body = f"{pick.randrange(60, 99)}{pick.randrange(1, 13):02}{pick.randrange(1, 29):02}"
    body += pick.choice("12" if kind == "rrn" else "56") + some(pick, DIGITS[:9], 5)
    rest = (11 - weighted(body, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11) % 10
    return f"{body[:6]}-{body[6:]}{rest if kind == 'rrn' else (rest + 2) % 10}"


def chinese(pick: random.Random) -> str:
    body = f"1101{pick.choice(['01', '05', '08'])}19{pick.randrange(60, 99)}{pick.randrange(1, 13):02}"
    body += f"{pick.randrange(1, 29):02}{some(pick, DIGITS, 3)}"
    return body + "10X98765432"[weighted(body, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11]


def taiwanese(pick: random.Random) -> str:
    body = "1" + some(pick, DIGITS, 7)  # A is 10
    return f"A{body}{-(1 + weighted(body, [8, 7, 6, 5, 4, 3, 2, 1])) % 10}"


def japanese(pick: random.Random) -> str:
    body = some(pick, DIGITS, 11)
    rest = weighted(body, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11
    return body + str(0 if rest <= 1 else 11 - rest)


def dutch(pick: random.Random) -> str:
    while True:
        body = some(pick, DIGITS[1:], 8)
        rest = weighted(body, [9, 8, 7, 6, 5, 4, 3, 2]) % 11
        if rest < 10:
            return body + str(rest)


def british_health(pick: random.Random) -> str:
    while True:
        body = "4" + some(pick, DIGITS, 8)
        rest = 11 - weighted(body, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11
        if rest != 10:
            number = body + str(rest % 11)
            return f"{number[:3]} {number[3:6]} {number[6:]}"


def german_tax(pick: random.Random) -> str:
    order = pick.sample(DIGITS[1:], 9)
    body = "".join([*order, order[0]])  # one digit twice, the others once
    product = 10
    for digit in body:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return body + str((11 - product) % 10)


def german_pension(pick: random.Random) -> str:
    body = f"65{pick.randrange(1, 29):02}{pick.randrange(1, 13):02}{pick.randrange(50, 99)}J{pick.randrange(100):02}"
    digits = body[:8] + "10" + body[9:]
    total = sum(
        sum(map(int, str(int(digit) * weight)))
        for digit, weight in zip(digits, [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1], strict=True)
    )
    return f"{body}{total % 10}"


def french(pick: random.Random) -> str:
    body = f"1{pick.randrange(50, 99)}{pick.randrange(1, 13):02}75{some(pick, DIGITS[1:], 6)}"
    return f"{body}{97 - int(body) % 97:02}"


def spanish(pick: random.Random, kind: str) -> str:
    number = pick.randrange(10**6, 10**7) if kind == "nie" else pick.randrange(10**7, 10**8)
    return f"{'X' if kind == 'nie' else ''}{number:07}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def spanish_insurance(pick: random.Random) -> str:
    body = "28" + some(pick, DIGITS[1:], 8)
    return f"{body}{int(body) % 97:02}"


def canadian(pick: random.Random) -> str:
    body = "1" + some(pick, DIGITS, 7)
    number = body + luhn(body)
    return f"{number[:3]}-{number[3:6]}-{number[6:]}"


def machine_readable(second: bool) -> str:
    """The two lines of a passport of Utopia, after the sample of ICAO 9303."""

    def check(text: str) -> str:
        values = [0 if sign == "<" else int(sign, 36) for sign in text]
        return str(sum(value * (7, 3, 1)[at % 3] for at, value in enumerate(values)) % 10)

    if not second:
        return "P<GBRHOLLOWAY<<JANE".ljust(44, "<")
    number, born, ends = "533401372", "840312", "310611"
    fields = f"{number}{check(number)}", f"{born}{check(born)}", f"{ends}{check(ends)}"
    personal = "<" * 14 + "0"
    return f"{fields[0]}GBR{fields[1]}F{fields[2]}{personal}{check(fields[0] + fields[1] + fields[2] + personal)}"


def wallet(pick: random.Random) -> str:
    """A Bitcoin key in the wallet import format: version, key, compressed, check sum, in base 58."""
    body = b"\x80" + pick.randbytes(32) + b"\x01"
    body += hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4]
    number, text = int.from_bytes(body), ""
    while number:
        number, rest = divmod(number, 58)
        text = SETS["b58"][rest] + text
    return text


def mnemonic(pick: random.Random, words: int) -> list[str]:
    """The words of a seed with their check sum, after BIP-39."""
    seed = pick.randbytes(words * 4 // 3)
    bits = f"{int.from_bytes(seed):0{len(seed) * 8}b}{hashlib.sha256(seed).digest()[0]:08b}"[: words * 11]
    lines = WORDS.read_text(encoding="utf-8").splitlines()
    listed = " ".join(line for line in lines if not line.startswith("#")).split()
    return [listed[int(bits[at : at + 11], 2)] for at in range(0, len(bits), 11)]


def encoded(pick: random.Random, form: str) -> str:
    """A password, or the lines that hold it, in base 64 or as hexadecimal digits."""
    password = some(pick, ALNUM, 14)
    if form == "b64_password":
        return base64.b64encode(password.encode()).decode()
    if form == "b64_utf16":
        command = f"net use Z: /user:ops {password}; $password = '{password}'"
        return base64.b64encode(command.encode("utf-16-le")).decode()
    line = f"DB_PASSWORD={password}\n"
    if form == "hex_kv":
        return line.encode().hex()
    text = f"DB_HOST=db.int\nDB_USER=app\n{line}PORT=5432\n" if form == "b64_env" else line
    return base64.b64encode(text.encode()).decode()


def signed(pick: random.Random, payload: str) -> str:
    parts = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in ('{"alg":"HS256"}', payload)]
    return ".".join([*parts, some(pick, SETS["b64u"], 43)])


def grouped(digits: str, sign: str) -> str:
    return sign.join(digits[at : at + 4] for at in range(0, len(digits), 4))


def github(pick: random.Random) -> str:
    """A GitHub token with its check sum in base 62."""
    import zlib

    body, rest, text = some(pick, ALNUM, 30), 0, ""
    rest = zlib.crc32(body.encode())
    while rest:
        rest, digit = divmod(rest, 62)
        text = (DIGITS + UPPER + LOWER)[digit] + text
    return "gh" + "p_" + body + text.rjust(6, "0")


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "age": lambda pick: "AGE-SECRET" + "-KEY-1" + some(pick, SETS["bech"].upper(), 58),
    "aliyun": lambda pick: "LT" + "AI" + some(pick, ALNUM, 20),
    "amex": lambda pick: card(pick, "amex"),
    "arc": lambda pick: resident(pick, "arc"),
    "aws_id": lambda pick: "AK" + "IA" + some(pick, SETS["base32"], 16),
    **{form: partial(encoded, form=form) for form in ("b64_password", "b64_utf16", "b64_kv", "b64_env", "hex_kv")},
    "basic": lambda pick: base64.b64encode(f"deploy:{some(pick, ALNUM, 14)}".encode()).decode(),
    "bsn": dutch,
    "cnid": chinese,
    "dni": lambda pick: spanish(pick, "dni"),
    "es_ss": spanish_insurance,
    "ghp": github,
    "glpat_routable": lambda pick: (
        "gl" + "pat-" + some(pick, SETS["b64u"], 27) + ".01." + some(pick, DIGITS + LOWER, 9)
    ),
    "jwt": lambda pick: signed(pick, f'{{"sub":"{some(pick, DIGITS, 8)}","role":"admin"}}'),
    "jwtio": lambda pick: (
        "ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0"
        "IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
    ),
    "mastercard": lambda pick: card(pick, "mastercard"),
    "mrz1": lambda pick: machine_readable(second=False),
    "mrz2": lambda pick: machine_readable(second=True),
    "mynumber": japanese,
    "nhs": british_health,
    "nie": lambda pick: spanish(pick, "nie"),
    "nino": lambda pick: f"{pick.choice(['AB', 'CE', 'JM'])}{some(pick, DIGITS, 6)}{pick.choice('ABCD')}",
    "nir": french,
    "npm": lambda pick: "np" + "m_" + some(pick, ALNUM, 36),
    "openai": lambda pick: "sk-" + "proj-" + some(pick, ALNUM, 74) + "T3Blbk" + "FJ" + some(pick, ALNUM, 74),
    "rrn": lambda pick: resident(pick, "rrn"),
    "seed12": lambda pick: " ".join(mnemonic(pick, 12)),
    "seed24": lambda pick: " ".join(mnemonic(pick, 24)),
    "seedlist": lambda pick: "\n".join(f"{at}. {word}" for at, word in enumerate(mnemonic(pick, 12), 1)),
    "sendgrid": lambda pick: "S" + "G." + some(pick, ALNUM, 22) + "." + some(pick, ALNUM, 43),
    "sin": canadian,
    "slack": lambda pick: f"xo{'xb'}-{some(pick, DIGITS[1:], 12)}-{some(pick, DIGITS[1:], 12)}-{some(pick, ALNUM, 24)}",
    "ssn": lambda pick: f"{pick.randrange(300, 600)}-{pick.randrange(10, 99)}-{pick.randrange(1000, 9999)}",
    "steuerid": german_tax,
    "stripe": lambda pick: "sk_" + "live_" + some(pick, ALNUM, 24),
    "svnr": german_pension,
    "tailscale": lambda pick: "tskey-" + "auth-k" + some(pick, ALNUM, 10) + "CNTRL-" + some(pick, ALNUM, 32),
    "telegram": lambda pick: some(pick, DIGITS[1:], 10) + ":AA" + some(pick, SETS["b64u"], 33),
    "twid": taiwanese,
    "uk_licence": lambda pick: f"BECKE{pick.randrange(6, 9)}0{pick.randrange(1, 10)}128T99{some(pick, UPPER, 2)}",
    "unionpay": lambda pick: card(pick, "unionpay"),
    "vault": lambda pick: "hv" + "s." + some(pick, ALNUM, 24),
    "visa": lambda pick: card(pick, "visa"),
    "visa_dashed": lambda pick: grouped(card(pick, "visa"), "-"),
    "visa_spaced": lambda pick: grouped(card(pick, "visa"), " "),
    "wif": wallet,
}
_HALVES = re.compile(r"(\w+)_([ab])")
_FIELD = re.compile(r"\{(\w+)(?::(\w+))?\}")


def fill(text: str, seed: int) -> str:
    """`text` with every field of `MAKERS`, `SETS` (with a length) and `iban` (with a country) replaced.

    `{ghp_a}` and `{ghp_b}` are the halves of one value. Fields that are none of these stay.
    """
    pick = random.Random(seed)
    halves: dict[str, str] = {}

    def value(field: re.Match[str]) -> str:
        name, size = field[1], field[2]
        half = _HALVES.fullmatch(name)
        if half and half[1] in MAKERS:
            whole = halves.setdefault(half[1], MAKERS[half[1]](pick))
            return whole[: len(whole) // 2] if half[2] == "a" else whole[len(whole) // 2 :]
        if name == "iban" and size in BANKS:
            return iban(pick, size)
        if name == "base32s" and size:
            return grouped(some(pick, SETS["base32"], int(size)), " ").lower()
        if name in SETS and size:
            return some(pick, SETS[name], int(size))
        return MAKERS[name](pick) if name in MAKERS and not size else field[0]

    return _FIELD.sub(value, text)
