"""Finds personal data: e-mail, telephone, national and business numbers, cards, bank accounts, addresses, health,
birth.

A number counts by its check digits or its place: thirteen digits with a date and a right check digit are a Korean
resident number, sixteen that pass Luhn behind the word "card" are a card. Data that identifies a person to a state or
a bank blocks; the rest warns in a hand edit (`RULES`; docs/detectors.md has the policy). All of it is masked when one
of our commands writes, and no character of it is shown. Addresses of examples, bots and version-control hosts pass,
and so do all e-mail addresses in commit messages, since Git stores authors anyway.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache, partial

from gitmem.gate.detectors import readings
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.personal import (
    bank_accounts,
    check_digits,
    national_numbers,
    personal_facts,
    security_answers,
)
from gitmem.gate.detectors.prefilter import CJK, class_of, has_byte, kinds_table, numbered, plain, runs, table
from gitmem.gate.detectors.secrets.candidates import candidates
from gitmem.gate.detectors.spans import line_around
from gitmem.gate.detectors.text import Match, Scope, Text
from gitmem.lazy_patterns import lazy
from gitmem.messages import Message

_EMAIL = lazy(
    r"(?<![0-9A-Za-z_.+/:-])(?P<user>[A-Za-z0-9](?:[A-Za-z0-9._%+-]{0,62}[A-Za-z0-9_])?)@("
    r"?P<host>[A-Za-z0-9](?:[A-Za-z0-9.-]{0,80})\.(?P<tld>[A-Za-z]{2,12}))(?![A-Za-z0-9@/-"
    r"]|\.\w)"
)
_HOST = lazy(r"[A-Za-z0-9][A-Za-z0-9.-]{0,80}\.[A-Za-z]{2}")
_SAFE_HOST = lazy(
    r"(?:^|\.)(?:example|test|invalid|localhost|internal|local)(?:\.[a-z]{2,3})?$|(?:^"
    r"|\.)example\.(?:com|org|net|co\.kr|jp|io)$|noreply\.|^(?:github|gitlab"
    r"|bitbucket)\.(?:com|org)$|^(?:domain|company|acme|yourdomain|mail|email|host"
    r"|server)\.(?:com|org|net)$",
    re.IGNORECASE,
)
_SAFE_USER = lazy(
    r"^(?:git|no-?reply|do-?not-?reply|support|info|security|help|admin|contact|hello"
    r"|user(?:name)?|you|me|your[._-]?\w*|name|someone|foo|bar|test|bot|postmaster|root)$",
    re.IGNORECASE,
)
_FILE_END = frozenset(
    [
        "png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "py", "md", "txt", "json", "yaml", "yml",
        "toml", "sh", "go", "rs", "html", "whl", "tgz", "gz", "zip", "so", "dll",
    ]
)  # fmt: skip

_PHONE = lazy(
    r"(?<![0-9A-Za-z_.+-])(?:(?P<kr>(?:\+82[ -]?|0)1[016789][ .-]?\d{3,4}[ .-]?\d{4})"
    r"|(?P<land>(?:\(0(?:2|[3-6][1-5]|70|50\d)\)|0(?:2|[3-6][1-5]|70|50\d))[ -]\d{3,4}-\d{4})"
    r"|(?P<jp>(?:\+81[ -]?|0)[789]0[ -]\d{4}[ -]\d{4})"
    r"|(?P<intl>\+[1-9]\d{0,2}(?:[ .-]?\(?\d{1,4}\)?){2,5}\d)|(?P<us>(?:\([2-9]\d\d\) ?"
    r"|[2-9]\d\d[-.])[2-9]\d\d[-.]\d{4})|(?P<cn>1[3-9]\d{9})"
    r"|(?P<uk>07\d{3} ?\d{3} ?\d{3})|(?P<de>01[5-7]\d[ /-]?\d{7,8})|(?P<fr>0[1-9](?:[ .]\d\d){4})|(?P<es>[67]\d\d(?: \d\d){3})"
    r"|(?P<tokyo>0\d{1,3}-\d{2,4}-\d{4}))(?![0-9A-Za-z_-]|\.\d)"
)
# A number with the code of a country and as many digits as numbers have there (ITU-T E.164): no word need name it.
_WITH_COUNTRY = lazy(
    r"[17]\d{10}|(?:20(?=1[0125])|27|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])\d{8,11}"
    r"|(?:2[1-689]|3[578]|42|5[09]|6[789]|8[05789]|9[679])\d{8,11}"
)
_PHONE_WORD = lazy(
    r"phone|tel|call|mobile|cell|contact|fax|sms|whatsapp|handy|móvil|movil|tél|portable|mobiel|number is|reach|전화|휴대|연락|핸드폰"
    r"|電話|携帯|电话|手机|联系|支付宝|微信",
    re.IGNORECASE,
)
_RESIDENT = lazy(r"(?<![\d-])(?P<a>\d{6})(?P<dash>\s?[-–]\s?|)(?P<b>[1-8]\d{6})(?![\d-])")
_RESIDENT_WORD = lazy(r"주민|외국인\s?등록|등록\s?번호|\brrn\b|resident", re.IGNORECASE)
# Right before a number that has no check digit: what else is a registration number (법인등록번호) has the same form.
_NAMES_RESIDENT = lazy(
    r"(?:주민|외국인|거소)[ \t]?(?:등록|신고)?[ \t]?번호[^\n\d]{0,8}\Z|\brrn\b[^\n\d\w]{0,5}\Z"
    r"|(?:resident|alien|foreigner)[- ]registration (?:number|no\.?)[^\n\d\w]{0,2}(?:is )?[^\n\d\w]{0,3}\Z",
    re.IGNORECASE,
)
MAX_CHARACTERS_TO_NAME = 48  # characters before a number in which its name is looked for
_BUSINESS = lazy(r"(?<![\d-])\d{3}(?P<dash>-?)\d{2}(?P=dash)\d{5}(?![\d-])")
_BUSINESS_WORD = lazy(r"사업자|business (?:registration )?(?:no|number)|brn", re.IGNORECASE)
_CARD = lazy(
    r"(?<![0-9A-Za-z_.-])(?:\d{4}(?P<sep>[ -])\d{4}(?P=sep)\d{4}(?P=sep)\d{1,7}"
    r"|3\d{3}(?P<amex>[ -])\d{6}(?P=amex)\d{5}|\d{13,19})(?![0-9A-Za-z_-]|\.\d)"
)
_CARD_WORD = lazy(
    r"card|visa|master|amex|\b(?:paid|pays?|payment|charged?)\b|결제|支払|付款|\bpan\b|银行|银联|카드|カード|卡号|信用卡|银行卡",
    re.IGNORECASE,
)
_CARD_CODE = lazy(r"(?i:cvv2?|cvc2?|cid)[\"']?[ :=]{1,3}[\"']?(?P<code>\d{3,4})(?![0-9A-Za-z])")
_BRAND = lazy(
    r"^(?:4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]"
    r"|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}|62\d{14,17}|9\d{15})$"
)
_TEST_CARDS = frozenset(
    prefix + tail
    for prefix, tail in (
        ("4111111", "111111111"), ("4242424", "242424242"), ("4000056", "655665556"), ("5555555", "555554444"),
        ("3782822", "46310005"), ("6011111", "111111117"), ("4012888", "888881881"), ("5105105", "105105100"),
    )
)  # fmt: skip
_IBAN = lazy(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,4})?(?![A-Za-"
    r"z0-9])"
)
# What the register of IBANs prints for each country.
_PRINTED_IBANS = frozenset(
    ["DE89370400440532013000", "GB29NWBK60161331926819", "GB82WEST12345698765432", "NL91ABNA0417164300", "ES9121000418450200051332",
     "FR1420041010050500013M02606", "FR7630006000011234567890189", "IT60X0542811101000000123456", "CH9300762011623852957",
     "BE68539007547034", "AT611904300234573201", "GB33BUKB20201555555555", "NL02ABNA0123456789"]
)  # fmt: skip
_CHINESE_ID = lazy(
    r"(?<![\dA-Za-z])[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d"
    r"|3[01])\d{3}[\dXx](?![\dA-Za-z])"
)
_ACCOUNT = lazy(r"(?<![\d-])\d{2,6}-\d{2,6}-\d{2,7}(?:-\d{1,3})?(?![\d-])")
_ACCOUNT_WORD = lazy(r"계좌|입금|송금|口座|账号|账户|bank account|account (?:no|number)", re.IGNORECASE)
# With what each needs: a road and a number in Korean, a prefecture or 〒 in Japanese, a number and 号 in Chinese.
_ADDRESSES = (
    (lazy(r"[로길]\s?\d|번지"), lazy(
        r"(?:서울|부산|대구|인천|광주|대전|울산|세종|경기|강원|충청?[북남]|전라?[북남]|경상?[북남]"
        r"|제주)[가-힣]{0,6}\s?(?:[가-힣]{1,6}[시군구]\s?){1,2}[가-힣0-9]{1,14}(?:로"
        r"|길)\s?\d{1,4}(?:-\d{1,4})?(?:번?길\s?\d{1,3})?(?!\s?(?:번|차|주|개))"
        r"(?:,?\s?(?:지하\s?)?\d{1,4}(?:동|호|층)){0,3}"
        r"|[가-힣]{1,6}[시군구]\s[가-힣]{1,8}[동읍면리]\s\d{1,4}-\d{1,4}\s?번지"
    )),
    (lazy(r"〒|[都道府県]"), lazy(
        r"〒\s?\d{3}-\d{4}|(?:東京都|北海道|(?:京都|大阪)府"
        r"|[一-龥]{2,3}県)[一-龥ぁ-んァ-ヶ]{1,12}[市区町村郡][一-龥ぁ-んァ-ヶ]{0,14}\d{1,3}(?:丁目"
        r"|[-−]\d{1,3}){1,3}(?:[ \u3000][一-龥ァ-ヶーA-Za-z・]{1,16}[ \u3000]?\d{1,4}(?:号室|号|階))?"
    )),
    (lazy(r"\d号"), lazy(r"(?:(?<![一-龥])(?!.{0,3}[住在到址于])|(?<=[住在到址于]))[一-龥]{2,8}[省市][一-龥]{1,8}[市区县][一-龥]{1,14}[路街道巷弄]\d{1,5}号(?:院?\d{1,4}(?:号楼|栋|幢|座|单元|层|室)){0,4}")),
)  # fmt: skip
_STREETS = (
    " Street", " St", " Avenue", " Ave", " Road", " Rd", " Lane", " Ln", " Boulevard",
    " Blvd", " Drive", " Court", " Place",
)  # fmt: skip
_STREET = lazy(
    r"\b\d{1,5} (?:[NSEW]\.? )?[A-Z][a-z]{2,15}(?: [A-Z][a-z]{2,15}){0,2} "
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Boulevard|Blvd|Drive|Court|Ct|Place|Terrace)\b\.?"
    r"(?:,? (?:Apt|Apartment|Unit|Suite|Ste|#)\.? ?[0-9A-Z-]{1,6}\b)?(?:,? [A-Z][a-z]{2,15}(?: [A-Z][a-z]{2,15})?,? (?:[A-Z]{2} \d{5}(?:-\d{4})?(?!\d)|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b))?"
)
_LIVES = lazy(
    r"\b(?:(?:home|postal|mailing|my|her|his|their) address|home:|lives? (?:at|in)|(?:ship|deliver|mail|mov)[a-z]{0,4} (?:[a-z]{1,8} ){0,2}to|delivery address)",
    re.IGNORECASE,
)
_BRITISH = lazy(r"\b[A-Z][a-z]{2,15}(?: [A-Z][a-z]{2,15}){0,3},? [A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b")
# A home without the name of a street, beside a word for a home: (parts of which it has one, its form, the word).
_HOMES = (
    (("호",), lazy(r"(?:\d{1,2}(?:단지|차) ?)?\d{1,4}동 ?\d{1,4}호(?![가-힣]{0,4}[선기관])"), lazy(
        r"집(?=[은이에 :]|$)|주소|거주|자택|배송|택배|이사|사는 ?곳|살[아고았]")),
    (("号室",), lazy(r"[一-龥ァ-ヶーA-Za-z]{2,16}[ \u3000]?\d{2,4}号室"), lazy(r"住所|自宅|届け先|送付先|住んで|引っ?越")),
    (("号楼", "栋", "幢"), lazy(r"[一-龥]{0,12}\d{1,3}(?:号楼|栋|幢)(?:\d{1,2}单元)?\d{2,4}(?:室|号|房)?"), lazy(r"[我他她]家|住[在址]|地址|收货|寄到")),
    ((" Box ", "Flat ", "Apt "), lazy(
        r"\bP\.? ?O\.? Box \d{1,6}\b|\b(?:Apt|Flat)\.? #?\d{1,4}[A-Z]?,? [A-Z][a-z]{2,15}(?: [A-Z][a-z]{2,15}){0,2}"), _LIVES),
)  # fmt: skip
_ADDRESS_WORD = lazy(r"address|lives|home|ship|deliver|mail to|moved to", re.IGNORECASE)
_REACH = 200  # characters of a line on each side of a place in which a context word may stand
_WORDS_BEFORE, _WORDS_AFTER = 110, 60  # characters around a number in which the words for it stand
_BEFORE = 10  # characters before a long number that can belong to it: `GB29NWBK` and a blank or two
_FEWEST = 9  # digits of the shortest number of a rule
_DIGIT = lazy(r"\d")
_NO_DIGIT = lazy(r"[^0-9]+")
_OTHER_DIGIT = lazy(r"[^\D0-9]")
_OTHERS = table(b"\xd9\xdb\xdf\xe0\xe1\xea\xef\xf0")  # the first bytes of other scripts' digits
# `1`: a digit; `A`: a capital letter; a space: itself; `-`: the rest. A house number is read in these marks.
_NUMBERED = kinds_table({b"1": string.digits.encode(), b"A": string.ascii_uppercase.encode(), b" ": b" "}, b"-")
_NUMERIC = class_of("0-9", *" ().-")
_LONG_NUMBER = lazy(r"\d[\d ().-]{6,60}\d")


def _has_context_word(word: re.Pattern[str], raw: str, at: int) -> bool:
    """Whether a match of the pattern `word` is on the line of the offset `at`."""
    first, last = line_around(raw, at, at, _REACH, _REACH)
    starts, ends = _places(word, raw)
    nearest = bisect_left(starts, first)
    return nearest < len(starts) and ends[nearest] <= last


@lru_cache(maxsize=8)
def _places(word: re.Pattern[str], raw: str) -> tuple[list[int], list[int]]:
    """(starts, ends) of all matches of `word`, cached, since many numbers ask for the same word."""
    spans = [match.span() for match in word.finditer(raw)]
    return [start for start, _ in spans], [end for _, end in spans]


def _digits(value: str) -> str:
    return _NO_DIGIT.sub("", value)


def _emails(raw: str) -> Iterator[tuple[int, int]]:
    for match in _mails(raw):
        user, host, end = match.group("user"), match.group("host"), match.group("tld").lower()
        if (
            not _SAFE_HOST.search(host)
            and not _SAFE_USER.match(user)
            and end not in _FILE_END
            and "noreply" not in user
        ):
            yield match.span()


def _mails(raw: str) -> Iterator[re.Match[str]]:
    """The matches of `_EMAIL`, searched only around each `@` that stands before a host."""
    done = 0
    at = raw.find("@")
    while at >= 0:
        if at > done and _HOST.match(raw, at + 1):
            match = _EMAIL.search(raw, max(done, at - 64), at + 100)
            if match is not None and match.start("host") == at + 1:
                yield match
                done = match.end()
        at = raw.find("@", at + 1)


def _is_of_a_country(raw: str, at: int, digits: str) -> bool:
    """Whether the `digits` behind the `+` at `at` are a telephone number by their form. A line that begins with `+` is
    one of a patch; numbers with 555 in North America are those of films."""
    if at == 0 or raw[at - 1] == "\n" or len(set(digits)) < 5:
        return False
    return _WITH_COUNTRY.fullmatch(digits) is not None and not (
        digits[0] == "1" and "555" in (digits[1:4], digits[4:7])
    )


def _phones(raw: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    for match in _PHONE.finditer(raw, first, last):
        digits = _digits(match.group())
        sure = match.lastgroup in ("kr", "jp", "fr") or (
            bool(match["intl"]) and _is_of_a_country(raw, match.start(), digits)
        )
        if not sure and not _has_context_word(_PHONE_WORD, raw, match.start()):
            continue
        if 9 <= len(digits) <= 15 and len(set(digits[-8:])) > 2 and not digits.endswith("12345678"):
            yield match.span()


def _numbers(raw: str, first: int, last: int) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of numbers of persons and accounts in `raw[first:last]`, by their form and check digits, some
    only beside a word for them. Grouped by kind, so not in order; spans may overlap."""
    for match in _RESIDENT.finditer(raw, first, last):
        dated = match.group("a")[:2] >= "20" or match.group("b")[0] not in "3478"  # else without a check digit
        digits, named = (
            match.group("a") + match.group("b"),
            raw[max(0, match.start() - MAX_CHARACTERS_TO_NAME) : match.start()],
        )
        right = check_digits.resident_number(digits) and (
            (match.group("dash") and dated) or _has_context_word(_RESIDENT_WORD, raw, match.start())
        )
        if right or (_NAMES_RESIDENT.search(named) and check_digits.undigited_resident_number(digits)):
            yield "resident-number", *match.span()
    for match in _BUSINESS.finditer(raw, first, last):
        if check_digits.business_number(_digits(match.group())) and (
            match.group("dash") or _has_context_word(_BUSINESS_WORD, raw, match.start())
        ):
            yield "business-number", *match.span()
    for match in _CARD.finditer(raw, first, last):
        digits = _digits(match.group())
        if (
            _BRAND.match(digits)
            and check_digits.luhn(digits)
            and digits not in _TEST_CARDS
            and len(set(digits)) > 3
            and (match.group("sep") or match.group("amex") or _has_context_word(_CARD_WORD, raw, match.start()))
        ):
            yield "card-number", *match.span()
            yield from (
                ("card-number", *code.span("code"))
                for code in _CARD_CODE.finditer(raw, *line_around(raw, match.start(), match.start(), _REACH, _REACH))
            )
    for match in _CHINESE_ID.finditer(raw, first, last):
        if check_digits.chinese_id(match.group()):
            yield "national-id", *match.span()
    for match in _ACCOUNT.finditer(raw, first, last):
        if 10 <= len(_digits(match.group())) <= 16 and _has_context_word(_ACCOUNT_WORD, raw, match.start()):
            yield "bank-account", *match.span()


def _worded(raw: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of the personal data that the words around it identify."""
    low = candidates(raw).low
    near = numbered(low, _WORDS_BEFORE, _WORDS_AFTER)
    if near:
        yield from (("national-id", *span) for span in national_numbers.find(raw, low, near, national_numbers.NUMBERS))
        yield from (("bank-account", *span) for span in bank_accounts.find(raw, low, near))
        yield from (
            ("identity-document", *span) for span in national_numbers.find(raw, low, near, national_numbers.DOCUMENTS)
        )
        yield from (("identity-document", *span) for span in national_numbers.machine_readable(raw))
        yield from (("birth-date", *span) for span in personal_facts.births(raw, low, near))
        yield from (("postal-address", *span) for span in personal_facts.addresses(raw, low, near))
    yield from (("health", *span) for span in personal_facts.health(raw, low))
    yield from (("security-answer", *span) for span in security_answers.find(raw, low))


def _matches(raw: str, scope: Scope) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of personal data in a text. Grouped by kind, so not in order; spans may overlap. In a commit
    message addresses of mail, and what only the words around it identify, are left out."""
    if "@" in raw and scope is not Scope.MESSAGE:
        for start, end in _emails(raw):
            yield "email", start, end
    windows = list(_windows(raw))
    for first, last, enough in windows:
        if enough:
            yield from _numbers(raw, first, last)
    if scope is not Scope.MESSAGE:
        yield from _worded(raw)
    for first, last, enough in windows:
        if enough:
            for start, end in _phones(raw, first, last):
                yield "phone-number", start, end
        for match in _IBAN.finditer(raw, first, last):
            if check_digits.iban(match.group()) and match.group().replace(" ", "") not in _PRINTED_IBANS:
                yield "iban", *match.span()
    if has_byte(raw, CJK):
        for hint, pattern in _ADDRESSES:
            if hint.search(raw):
                yield from (("postal-address", *match.span()) for match in pattern.finditer(raw))
    marks = plain(raw).translate(_NUMBERED)
    if b"1 A" in marks and any([word in raw for word in _STREETS]):
        for match in _STREET.finditer(raw):
            if _has_context_word(_ADDRESS_WORD, raw, match.start()):
                yield "postal-address", *match.span()
    yield from (("postal-address", *span) for span in _homes(raw, marks))


def _homes(raw: str, marks: bytes) -> Iterator[tuple[int, int]]:
    """The spans of homes without the name of a street: a flat in an estate, a post office box, a British postcode.
    `marks`: the text in the marks of `_NUMBERED`."""
    forms = [(form, word) for parts, form, word in _HOMES if any([part in raw for part in parts])]
    if b" 1AA" in marks:
        forms.append((_BRITISH, _LIVES))
    for form, word in forms:
        for match in form.finditer(raw):
            if _has_context_word(word, raw, match.start()):
                yield match.span()


def _long_numbers(raw: str) -> Iterator[re.Match[str]]:
    """The matches of `_LONG_NUMBER`, searched only in runs of its characters."""
    if raw.isascii() or not has_byte(raw, _OTHERS) or not _OTHER_DIGIT.search(raw):
        done = 0
        for start, end in runs(raw, _NUMERIC, 8):
            for match in _LONG_NUMBER.finditer(raw, max(start, done), end):
                yield match
                done = match.end()
    else:
        yield from _LONG_NUMBER.finditer(raw)


def _windows(raw: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, whether it has _FEWEST digits) of the text around each long number, joined where they overlap."""
    first, last, has_number = -1, -1, False
    for number in _long_numbers(raw):
        start, end = number.span()
        many = end - start > 40 or len(_DIGIT.findall(number.group())) >= _FEWEST
        if start - _BEFORE > last:
            if last >= 0:
                yield first, last, has_number
            first, has_number = max(0, start - _BEFORE), False
        last, has_number = end + 36, has_number or many
    if last >= 0:
        yield first, last, has_number


BLOCK, WARN = Severity.BLOCK, Severity.WARN
# What each is, what is written in its place, whether it blocks.
RULES = {
    "email": ("an e-mail address of a person", "[email]", WARN),
    "phone-number": ("a telephone number", "[phone]", WARN),
    "resident-number": (
        "a Korean resident number: its date is right, and its check digit or its name",
        "[resident number]",
        BLOCK,
    ),
    "business-number": ("a Korean business number: its check digit is right", "[business number]", WARN),
    "card-number": ("a payment card: its check digit is right", "[card]", BLOCK),
    "iban": ("a bank account (IBAN): its check digits are right", "[iban]", BLOCK),
    "national-id": ("a national identity number", "[national id]", BLOCK),
    "bank-account": ("a bank account number beside a bank or an account's name", "[account]", BLOCK),
    "identity-document": ("the number of a passport, licence or insurance", "[document number]", WARN),
    "security-answer": ("the answer to a security question", "[answer]", BLOCK),
    "birth-date": ("a date of birth", "[birth date]", WARN),
    "health": ("the health of a person", "[health]", WARN),
    "postal-address": ("a postal address", "[address]", WARN),
}


def detect(text: Text) -> Iterator[Match]:
    """Personal data of a text, each place once, by the first rule that matches; with markup inside it, the longest
    match."""
    found = partial(_matches, scope=text.scope)
    for rule, start, end in readings.rules_in_all(found, text, readings.of_personal_data(text)):
        message, mask, severity = RULES[rule]
        yield Match(rule, severity, start, end, Message("this looks like {}", message), secret=True, mask=mask)
