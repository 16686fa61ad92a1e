"""Finds numbers of bank accounts beside the name of a bank, of a branch or of a holder, as people write them in each
country.

Account numbers have no check digit that all banks share, so the words beside a number have to name it. IBANs, which
have check digits, are in `pii.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gitmem.gate.detectors.personal import check_digits
from gitmem.gate.detectors.prefilter import places, present
from gitmem.lazy_patterns import lazy

_REACH = 110  # characters from the word on in which its number ends


class Account(NamedTuple):
    """One way to write an account. `hints`: lower-case literals, one of which begins what `pattern` matches.
    `check`: a test of the digits of the group `number`, None for any."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None


_KOREAN = r"(?P<number>\d{2,6}(?:-\d{2,8}){2,3})(?![\d-])"
_ROWS = (
    Account(
        ("은행", "뱅크", "농협", "신한", "국민", "새마을금고", "신협", "수협", "우체국", "예금주", "계좌", "입금", "송금"),
        lazy(rf"(?:[가-힣]{{0,4}}은행|[가-힣]{{0,4}}뱅크|농협|신한|국민|새마을금고|신협|수협|우체국|예금주|계좌|입금|송금)[^\n\d]{{0,24}}{_KOREAN}"),
        lambda digits: 10 <= len(digits) <= 16,
    ),
    Account(
        ("普通", "当座", "口座番号", "総合口座"),
        lazy(r"(?:普通|当座|口座番号|総合口座)(?:預金|口座)?[ 　:：]{0,3}(?P<number>\d{7})(?!\d)"),
    ),
    Account(("ゆうちょ",), lazy(r"ゆうちょ[^\n\d]{0,16}(?P<number>\d{5} ?[-－ ]? ?(?:番号 ?)?\d{6,8})(?!\d)")),
    Account(
        ("银行", "账号", "账户", "卡号", "帐号", "銀行帳號", "户名", "开户"),
        lazy(r"(?:银行|账号|账户|卡号|帐号|銀行帳號|户名|开户行?)[^\n\d]{0,24}(?P<number>\d{16,19}|\d{4}(?: \d{4}){3,4}(?: \d{1,3})?)(?!\d)"),
    ),
    Account(
        ("sort", "sort code"),
        lazy(r"(?i:sort(?: code)?)[^\n\d]{0,12}\d\d-?\d\d-?\d\d[^\n\d]{0,40}(?P<number>\d{8})(?!\d)"),
    ),
    Account(
        ("account", "acct", "a/c"),
        lazy(r"(?i:account|acct|a/c)[^\n\d]{0,24}(?P<number>\d{8})[^\n\d]{1,24}(?i:sort)(?: code)?[^\n\d]{0,12}\d\d-?\d\d-?\d\d(?!\d)"),
    ),
    Account(
        ("routing", "aba "),
        lazy(r"(?i:routing|aba)[^\n\d]{0,24}(?=(?P<routing>\d{9})(?!\d))\d{9}[^\n\d]{1,40}(?P<number>\d{6,17})(?!\d)"),
    ),
    Account(
        ("account", "acct", "a/c"),
        lazy(r"(?i:account|acct|a/c)[^\n\d]{0,24}(?P<number>\d{6,17})[^\n\d]{1,24}(?i:routing|aba)[^\n\d]{0,24}(?P<routing>\d{9})(?!\d)"),
    ),
    Account(("kontonummer", "konto-nr", "konto nr"), lazy(r"(?i:konto(?:nummer|[- ]nr\.?))[^\n\d]{0,12}(?P<number>\d{6,10})(?=[^\n]{0,40}(?i:blz|bank))")),
)  # fmt: skip
_PLACEHOLDER = ("123456", "000000", "111111")


def find(text: str, lowered: str, near: str) -> Iterator[tuple[int, int]]:
    """The spans of the account numbers of a text. `lowered`: the text in lower case. `near`: the part of it around
    numbers (`prefilter.numbered`)."""
    for row in _ROWS:
        hints = present(near, row.hints)
        searched_end = 0
        for offset in places(lowered, hints):
            if offset < searched_end:
                continue
            match = row.pattern.search(text, max(searched_end, offset - 4), offset + _REACH)
            if match is None:
                continue
            digits = "".join(filter(str.isdigit, match.group("number")))
            routing = match.groupdict().get("routing")
            if (
                len(set(digits)) < 4
                or digits.startswith(_PLACEHOLDER)
                or (row.check is not None and not row.check(digits))
                or (routing is not None and not check_digits.routing_number(routing))
            ):
                continue
            searched_end = match.end()
            yield match.span("number")
