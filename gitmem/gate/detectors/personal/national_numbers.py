"""Finds numbers that a state gives to a person, and numbers of documents, by the word for them and by their check
digits.

`NUMBERS` and `DOCUMENTS` have one row for each kind: its names in the languages where it is used, its form, and its
check. docs/detectors.md says which kinds block. Numbers that count without a word beside them (Korean, Chinese) are
in `pii.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gitmem.gate.detectors.personal import check_digits
from gitmem.gate.detectors.prefilter import places, present
from gitmem.lazy_patterns import lazy

_REACH = 110  # characters from the word on in which its number ends
# Between the word for a number and the number itself, without other nouns: `SSN of Mary Jones is`.
_NAMES_IT = (
    r"(?i:(?: security)?(?:[ -](?:no\.?|number|num))?(?: (?:of|for) (?:[a-z'.-]{1,20} ?){1,3})?[은는이가]?(?: ?(?:is|was|번호[는은]?))?[ :=#(]{0,3})"
    r"(?<![0-9A-Za-z])"
)
_OF = r"[^\n0-9A-Z]{0,40}?(?<![0-9A-Za-z])"


class Number(NamedTuple):
    """One kind of number. `hints`: lower-case literals, one of which begins what `pattern` matches. `check`: a
    test of the group `number` of the pattern, None for any."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None


def _row(hints: str, number: str, check: Callable[[str], bool] | None = None, between: str = _OF) -> Number:
    """A row of `hints`, written as alternatives; blanks in them are any one blank or hyphen. `number`, `between`:
    patterns of the number and of the text between a hint and the number. `check`: None for a number without a check
    digit."""
    words = tuple(hints.split("|"))
    names = "|".join(re.escape(word).replace(r"\ ", r"[ -]") for word in words)
    return Number(words, lazy(rf"(?i:{names}){between}(?P<number>{number})(?![0-9A-Za-z])"), check)


# National identity numbers with check digits (the American has none: its form and its name stand for them).
NUMBERS = (
    _row(
        "ssn|social security|사회보장", r"(?!000|666|9\d\d)\d{3}(?P<join>[ -])(?!00)\d{2}(?P=join)(?!0000)\d{4}(?!-)",
        check_digits.not_american_sample, r"[^\n0-9]{0,40}?(?<![0-9A-Za-z])",
    ),
    _row(
        "ssn|social security|사회보장", r"(?!000|666|9\d\d)\d{3}(?!00)\d{2}(?!0000)\d{4}", check_digits.not_american_sample, _NAMES_IT,
    ),
    _row("nhs n|nhs:|nhs ", r"\d{3}[ -]?\d{3}[ -]?\d{4}", check_digits.british_health),
    _row("steuer-id|steueridentifikation|steuerliche identifikation|steuernummer|idnr|tax id|tin", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", check_digits.german_tax),
    _row("sozialversicherung|rentenversicherung|versicherungsnummer|svnr|pension insurance", r"\d{2} ?\d{6} ?[A-Z] ?\d{3}", check_digits.german_pension),
    _row(
        "sécurité sociale|securite sociale|nir|numéro de sécu|n° sécu|n° de sécu|insee|social security",
        r"[12][ .]?\d{2}[ .]?(?:0[1-9]|1[0-2]|[2-9]\d)[ .]?(?:\d{2}|2[AB])[ .]?\d{3}[ .]?\d{3}[ .]?\d{2}",
        check_digits.french,
    ),
    _row("bsn|burgerservice|sofinummer|sofi-nummer|citizen service number", r"\d{3}[ .]?\d{3}[ .]?\d{3}", check_digits.dutch),
    _row("dni|nif|nie|identidad|documento nacional", r"(?:[XYZ][ -]?\d{7}|\d{8})[ -]?[A-Z]", check_digits.spanish),
    _row("seguridad social|nuss|afiliación|de la ss", r"\d{2}[ /]?\d{8}[ /]?\d{2}", check_digits.spanish_insurance),
    _row("sin|social insurance", r"\d{3}[ -]\d{3}[ -]\d{3}|\d{9}", check_digits.luhn),
    _row("身份证|身份證|身分證|统一编号|統一編號|national id|taiwan id", r"[A-Z][1289]\d{8}", check_digits.taiwanese),
    _row("マイナンバー|個人番号|my number", r"\d{4}[ -]?\d{4}[ -]?\d{4}", check_digits.my_number),
)  # fmt: skip

_MIXED = r"(?:\d{12}|(?=[A-Z]{0,3}[0-9])(?=(?:[A-Z]{0,9}[0-9]){3})[A-Z0-9]{7,10})"
# Papers: passports, licences, residence, health insurance, and numbers without check digits.
DOCUMENTS = (
    _row(
        "passport|여권|旅券|パスポート|护照|護照|reisepass|personalausweis|ausweisnummer|passeport|paspoort|pasaporte|carte d'identité|cni|通行证|通行證",
        _MIXED, None, r"(?:[^\n0-9A-Z]|\b(?:No|Nr|Nº|N°|Number)\b){0,40}?(?<![0-9A-Za-z.])",
    ),
    _row(
        "driver license|driver's licen|drivers licen|driving licen|driver licen|운전면허|면허번호|면허 번호|運転免許|驾驶证|驾照|führerschein"
        "|permis de conduire|rijbewijs|permiso de conducir|carnet de conducir",
        r"\d{2}-\d{2}-\d{6}-\d{2}|[A-Z9]{5}\d{6}[A-Z9]{2}[A-Z0-9]{3}|\d{17}[0-9X]|(?=(?:[A-Z]{0,9}[0-9]){5})[A-Z0-9]{7,13}", None,
        r"(?:[^\n0-9A-Z]|\b(?:No|Nr|Nº|N°|Number)\b){0,40}?(?<![0-9A-Za-z.])",
    ),
    _row(
        "medicare|health insurance|insurance member|insurance number|insurance no|insurance id|member id|policy number|policy no|건강보험|보험증권|증권번호|의료보험|健康保険証|保険証|被保険者|保険者番号|社保卡"
        "|社会保障卡|医保卡|krankenversicher|versichertennummer|zorgverzekering|tarjeta sanitaria|carte vitale",
        r"記号 ?\d{2,8} ?番号 ?\d{2,8}|\d[A-Z][A-Z0-9]\d-?[A-Z][A-Z0-9]\d-?[A-Z]{2}\d{2}|(?=(?:[A-Z]{0,4}[0-9-]){6})[A-Z]{0,4}\d[0-9-]{6,13}\d", None,
        r"(?:[^\n0-9A-Z記]|\b(?:ID|No|Nr|Number|[A-Z][a-z]{2,14})\b){0,40}?(?<![0-9A-Za-z.])",
    ),
    _row(
        "green card|residence permit|residence card|在留カード|외국인등록증|居留许可|居留證|aufenthaltstitel|titre de séjour|verblijfsvergunning",
        r"[A-Z]{2,3}\d{8,10}(?:[A-Z]{2})?",
    ),
    _row("基礎年金番号|年金番号", r"\d{4}-?\d{6}"),
    _row(
        "ni number|nino|national insurance|ni no", r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]", None,
        r"(?:[^\n0-9A-Z]|\b(?:No|Number)\b){0,40}?(?<![0-9A-Za-z])",
    ),
)  # fmt: skip
# The two lines of a passport that machines read (ICAO 9303); the sample of the standard is Utopia's.
_MACHINE_READABLE = lazy(
    r"P[A-Z<](?!UTO)[A-Z<]{3}[A-Z<]{20,39}\s{1,4}(?=[A-Z<]{0,8}[0-9])[A-Z0-9<]{9}[0-9][A-Z<]{3}\d{7}[MFX<]\d{7}[A-Z0-9<]{14,16}"
)
# Numbers that registers and manuals print: never a person's.
_PRINTED = frozenset(
    [
        "078-05-1120", "219-09-9999", "123-45-6789", "111-11-1111", "111-22-3333", "123-12-1234", "555-55-5555",
        "987-65-4321", "123456782", "111222333", "12345678Z", "A123456789",
    ]
)  # fmt: skip


def find(text: str, lowered: str, near: str, rows: tuple[Number, ...]) -> Iterator[tuple[int, int]]:
    """The spans of the numbers of these rows. `lowered`: the text in lower case. `near`: the part of it around numbers
    (`prefilter.numbered`)."""
    for row in rows:
        hints = present(near, row.hints)
        searched_end = 0
        for offset in places(lowered, hints):
            if offset < searched_end or (offset and lowered[offset - 1].isascii() and lowered[offset - 1].isalnum()):
                continue
            match = row.pattern.match(text, offset, offset + _REACH)
            if match is None:
                continue
            number = match.group("number")
            if (
                number in _PRINTED
                or len(set(number)) < 4
                or (row.check is not None and not row.check(plain_number(number)))
            ):
                continue
            searched_end = match.end()
            yield match.span("number")


def plain_number(number: str) -> str:
    """A number without the signs between its digits and letters."""
    return "".join([char for char in number if char.isalnum()])


def machine_readable(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the machine-readable lines of passports."""
    if "<<" in text:
        for match in _MACHINE_READABLE.finditer(text):
            yield match.span()
