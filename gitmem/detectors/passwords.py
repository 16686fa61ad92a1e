"""Passwords and PINs that people wrote down: `운영 DB 비번은 ...`, `admin / ...`, `postgres://user:...@host`.

A word for a password and what follows it, in English, Korean, Japanese and Chinese; pairs of user and password;
credentials in addresses and on command lines. A chosen password need not look random, so the shape of the
sentence has to carry more, and a plain word behind a plain `is` passes ("the password is required"). Nothing of
a password is ever shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitmem.detectors.placeholders import is_code, is_digest, is_placeholder, is_words
from gitmem.detectors.text import Match, Text
from gitmem.detectors.tokens import lowered
from gitmem.types import Severity

if TYPE_CHECKING:
    from gitmem.detectors.text import Examples

MASK = "[password]"

# On lower-case text. `pass`, `pw`, `pin` are words of their own only.
_WORD = re.compile(
    r"passw(?:or)?d|passwort|passphrase|passcode|pwd|(?<![a-z])pass(?![a-z])"
    r"|(?<![a-z])pw(?![a-z])|(?<![a-z])pin(?![a-z])|_pw(?![a-z])"
    r"|비밀\s?번호|비번|패스워드|암호|패스프레이즈|핀\s?번호|パスワード|パスフレーズ|パスコード|暗証番号|合言葉|密码|密碼|口令|通行码"
)
_NAME_REST = re.compile(r"[A-Za-z0-9_.$]{0,32}(?:-[A-Za-z]{1,12}(?![A-Za-z0-9])){0,2}")
# What may stand between the word and the value; the groups say how strong it is.
_STRONG_OP = (
    r"[ \t]{0,20}(?:(?:::?:?|[?+.!|=]{0,3})=[=>~]{0,2}|=>|->|→|:|：|＝|[ \t](?:is|was"
    r"|are|to|set to|changed to|now|=)(?=[ \t]))"
    r"|[ \t]{0,2}(?:문구)?(?:은|는|이|가|을|를|로|도|は|が|を|に|も|是|为|為|改为|改成"
    r"|变更为|设为|设置为|になりました)(?:[ \t]{0,2}(?:지금|현재|새로|그냥|今|现在"
    r"|現在)?)(?=[ \t「『“\"'`(!-~])"
)
_JOIN = re.compile(
    r"(?P<mark>[\"'`*\])]{0,4})(?P<aside>[ \t]{0,3}(?:\([^()\n]{1,24}\)|（[^（）\n]{1,24}）))?"
    rf"(?P<op>(?:[ \t]{{1,2}}(?:for|of|to|on|in|at|used)\b[^\n:=\"'`]{{1,40}}?"
    rf"|[ \t]?[^\x00-\x7f\n「『“]{{1,12}}?)(?:{_STRONG_OP})|{_STRONG_OP}"
    r"|[ \t]{0,3}[,(]|[ \t]{1,3}|(?=[「『“\"'`]))"
    r"(?:[ \t]{0,3}(?:is|now|string|str)\b)?[ \t]{0,20}(?P<quote>[\"'`「『“‘(*]{0,3})"
    r"(?P<value>[!-~]{1,128})"
)
_LONG_VALUE = 80
_CLOSE = {"「": "」", "『": "』", "“": "”", "‘": "’", "(": ")"}
_HARD_END = re.compile(r"[\"'`<>]|,(?=\s|$|[A-Za-z]+[:/])|;|[)\]}](?=[\s.,;)}\]]|$)|\\(?=[nrt\"'])")
_COUNTED = re.compile(
    r"\s?(?:년|월|일|자|회|번|개|시|분|초|명|글자|문자|位|个|個|年|月|日|文字|回|桁|字|chars?"
    r"|characters?|digits?|times?|days?|hours?|minutes?|attempts?|letters?"
    r"|or |and |to |-digit)"
)
_NO_SECRET_NAME = re.compile(
    r"hash|hashed|_id$|length|min|max|policy|reset|field|input|type|rule|hint|confirm"
    r"|strength|expire|expiry|file|path|url|manager|prompt|placeholder|label|validator"
    r"|encoder|less",
    re.IGNORECASE,
)
_ALGORITHM = re.compile(
    r"^(?:sha-?\d|md5|bcrypt|argon2|scrypt|pbkdf2|aes|rsa|base64|utf-?8|oauth|1password"
    r"|bitwarden|keepass|2fa|mfa|totp)",
    re.IGNORECASE,
)
_DATE = re.compile(r"^(?:19|20)\d\d[-./]\d{1,2}(?:[-./]\d{1,2})?$|^\d{1,2}:\d{2}")
_SYMBOL = re.compile(r"[!@#$%^&*?~+|<>{}\[\]()=;\"'`]")
_STRONG_SYMBOL = re.compile(r"[!@#$%^&*?~]")
_WEAK = frozenset(
    [
        "letmein",
        "qwerty",
        "iloveyou",
        "sunshine",
        "dragon",
        "monkey",
        "welcome",
        "football",
        "princess",
        "logmein",
        "trustno1",
        "hunter2",
    ]
)

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,24})://(?P<user>[^\s:/@\"'`<>"
    r"|]{0,64}):(?P<value>[^\s\"'`<>|/]{1,128}?(?:@[^\s\"'`<>"
    r"|/@]{1,60}?)??)@(?=[A-Za-z0-9\[$%{(<*.-])(?![^\s\"'`<>|/]{0,80}@)"
)
_PAIR = re.compile(r"(?<![\w/.@:-])(?P<user>[A-Za-z][A-Za-z0-9_.@-]{1,30})\s?/\s?(?P<value>[!-~]{6,40})")
_IP_PAIR = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}\)?[^\n]{0,24}?[( ,:](?P<user>[A-Za-z][\w.-]{1,20})/(?P<value"
    r">[!-~]{6,40})"
)
_LINK = re.compile(r"[\w./-]+\.md(?:#L\d+(?:-L\d+)?)?[,.;)]?")  # `memory/2026-02-05.md#L12`, as our commits name lines
_CELL = re.compile(r"[^|\n]*")
_USER_CELL = re.compile(r"^`?[A-Za-z][A-Za-z0-9_.@-]{1,40}`?$")
_COMMAND = re.compile(
    r"(?:sshpass\s{1,3}-p\s{0,2}|mysql(?:dump|admin)?\b[^\n|]{0,60}?\s-p(?=\S)|(?:curl"
    r"|wget|http)\b[^\n]{0,200}?\s(?:-u|--user|--proxy-user"
    r"|-U)[ =]{1,2}[\"']?[^\s:\"'$<]{1,60}:"
    r"|docker\s{1,3}login\b[^\n]{0,100}?\s(?:-p|--password)[ =]"
    r"|redis-cli\b[^\n]{0,60}?\s-a\s{1,3}|--(?:password|passwd|passphrase|http-password"
    r"|db-password|admin-password)[ =]{1,2}"
    r"|\bIDENTIFIED\s{1,3}(?:WITH\s{1,3}\w{1,30}\s{1,3})?BY\s{1,3}(?:PASSWORD\s{1,3})?"
    r"|NetworkCredential\(\s{0,3}[\"'][^\"'\n]{1,60}[\"']\s{0,3},\s{0,3}"
    r"|net\s{1,3}user\s{1,3}\w{1,20}\s{1,3}"
    r"|(?:ldapsearch|ldapadd|ldapmodify)\b[^\n]{0,200}?\s-w\s{1,3}"
    r"|login\s{1,3}\S{1,40}\s{1,3}password\s{1,3}"
    r"|chpasswd\s{0,3}<<<\s{0,3}[\"']?\w{1,20}:|zip\s[^\n]{0,40}?-P\s{1,3})"
    r"(?P<quote>[\"'`]?)(?P<value>[!-~]{3,128})",
    re.IGNORECASE,
)
_COMMAND_HINT = re.compile(
    r"sshpass|mysql|curl|wget|http|docker|redis-cli|--passw|--passphrase|-password"
    r"|identified|networkcredential|net user|ldap|chpasswd|zip |login "
)
_PGPASS = re.compile(
    r"(?<![\w/])[\w.*-]{1,60}:(?:\d{2,5}"
    r"|\*):[\w*-]{1,60}:[\w.*-]{1,60}:(?P<value>[!-~]{4,60})"
)


def classes(value: str) -> int:
    """How many of lower case, upper case, digits and symbols a value has."""
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + bool(_STRONG_SYMBOL.search(value))
    )


_USERS = re.compile(
    r"^`?(?:admin\w*|administrator|root|user\d*|app|master|deploy\w*|test\w*|dev|ops"
    r"|guest|sa|postgres|mysql|oracle|ubuntu|ec2-user|operator|manager|service|svc\w*"
    r"|readonly|ro|rw|jenkins|gitlab|backup)`?$",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"log[ -]?in|sign[ -]?in|credential|account|\bid\s?/|/\s?pw|jenkins"
    r"|grafana|계정|로그인|접속|아이디|ログイン|アカウント|接続|登录|登入|账号|帳號|账户"
)
_REFERENCE = re.compile(r"[@#](?:v?\d[\d.]*|[0-9a-f]{6,40}|[a-z][\w.-]*)$")


def looks_chosen(value: str, known: bool) -> bool:
    """Whether a value has the look of a password with no word for one beside it.

    `known` says that a user name or a word for logging in stands there; else all four kinds of character are
    asked for, and what reads as a reference (`repo#12`, `tool@v3`, `#0B0A10`) is none.
    """
    if not 6 <= len(value) <= 40 or is_placeholder(value) or value[0] in "#~.-" or value.endswith("*"):
        return False
    if re.search(r"[(){}<>\[\]=;:/\\,|`\"']|\.\w{1,4}$|@\w+\.\w|@sha", value) or not any(c.isdigit() for c in value):
        return False
    kinds = classes(value)
    if not _STRONG_SYMBOL.search(value[1:]) or not any(c.isalpha() for c in value):
        return False
    return kinds >= 3 if known else kinds == 4 and _REFERENCE.search(value) is None


def _line(text: str, at: int) -> str:
    last = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : last if last >= 0 else len(text)][:400]


def _end(text: str, start: int, limit: int, quote: str) -> tuple[int, bool]:
    """End of the value and whether its closing quote was there."""
    if quote:
        close = _CLOSE.get(quote[-1], quote[-1])
        end = text.find(close, start, min(len(text), limit + 1))
        if end >= 0 and close != ")":
            return end, True
    stop = _HARD_END.search(text, start, limit)
    end = stop.start() if stop else limit
    while (end - start > 1 and text[end - 1] in ".,:)") or (end - start > 1 and text[end - 1] == "*" and "*" in quote):
        end -= 1
    return end, False


def _chosen(value: str, after: str, strength: int, quoted: bool) -> bool:
    """Whether a value is a password: `strength` 2 for `=`, `:` and CJK particles, 1 for words, 0 for a space."""
    if (
        not 4 <= len(value) <= 128
        or is_placeholder(value)
        or is_digest(value)
        or _ALGORITHM.match(value)
        or _DATE.match(value)
    ):
        return False
    lower = value.lower()
    if lower in _WEAK:
        return strength > 0
    if value.isdigit():
        return strength > 0 and len(value) <= 12 and _COUNTED.match(after) is None
    if not quoted and (is_code(value) or re.search(r"^[\[{(]|\.(?:md|py|js|ts|txt|json|ya?ml|toml|com|io|go)$", value)):
        return False
    kinds = classes(value)
    has_digit, has_letter = any(c.isdigit() for c in value), any(c.isalpha() for c in value)
    if not has_letter:
        return strength == 2 and (has_digit or quoted) and len(value) >= 6
    inner = value[1:-1]
    if kinds >= 3 or (kinds == 2 and has_digit and strength > 0 and not (is_words(value) and "-" in value)):
        return len(value) >= (4 if strength else 6) and (strength > 0 or bool(_SYMBOL.search(value)) or len(value) >= 8)
    if strength == 2 and quoted and len(value) >= 6:
        return (
            bool(_SYMBOL.search(value))
            or not is_words(value)
            or (value.isalpha() and len(value) >= 8 and not value.islower() and not value.isupper())
        )
    return strength == 2 and bool(_STRONG_SYMBOL.search(inner))


def _named(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    done = 0
    for match in _WORD.finditer(low):
        if match.start() < done:
            continue
        rest = _NAME_REST.match(text, match.end())
        name_end = rest.end() if rest and text[match.start()].isascii() else match.end()
        head = match.start()
        while (
            head > 0
            and match.start() - head < 24
            and text[head - 1].isascii()
            and (text[head - 1].isalnum() or text[head - 1] == "_")
        ):
            head -= 1
        name = text[head:name_end]
        if _NO_SECRET_NAME.search(name.removeprefix("min").removeprefix("max")) and text[match.start()].isascii():
            continue
        join = _JOIN.match(text, name_end)
        if join is None:
            continue
        op = join.group("op")
        quote = join.group("quote").rstrip("*") or join.group("quote")
        start = join.start("value")
        end, closed = _end(text, start, join.end("value"), quote)
        if quote[-1:] in ('"', "'", "`") and not closed:
            long_end = text.find(quote[-1], start, start + 200)
            if long_end > 0 and "\n" not in text[start:long_end] and " " not in text[start:long_end]:
                end, closed = long_end, True
        value = text[start:end]
        bare = op.strip()
        strength = (
            2
            if re.search(r"[=:：＝→]|->", bare) or re.search(r"[은는이가을를로도はがをにも是为為成]$", bare)
            else 1
            if bare and bare not in ",("
            else 0
        )
        if closed and strength < 2:
            strength += 1
        if match.group() in ("pass", "pw", "pin") and strength < 1 + (bare == ","):
            continue
        if op.strip() in ("==", "!=", "===", "!==") and not closed:
            continue
        if text[end + 1 : end + 2] == ":" and closed:
            continue
        if _chosen(value, text[end : end + 14], strength, closed):
            done = end
            yield "password-note", start, end
        elif end - start > _LONG_VALUE:
            done = end - _LONG_VALUE // 2  # or each word for a password in one long value would read it again


def _pairs(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    if "/" in text:
        for match in _PAIR.finditer(text):
            start = match.start("value")
            end, _ = _end(text, start, match.end("value"), "")
            value = text[start:end]
            known = _USERS.match(match.group("user")) is not None or _LOGIN.search(_line(low, start)) is not None
            if looks_chosen(value, known) and not _LINK.fullmatch(value):
                yield "user-password-pair", start, end
        for match in _IP_PAIR.finditer(text):
            start = match.start("value")
            end, _ = _end(text, start, match.end("value"), "")
            value = text[start:end]
            if (
                classes(value) >= 3
                and len(value) >= 6
                and not is_placeholder(value)
                and "/" not in value
                and "." not in value
            ):
                yield "user-password-pair", start, end


def _cells(text: str) -> Iterator[tuple[str, int, int]]:
    if "|" not in text:
        return
    secret_column: int | None = None
    for line in re.finditer(r"(?m)^[ \t>]{0,8}\|(?P<row>[^\n]{3,2000})$", text):
        at = line.start("row")
        cells: list[tuple[int, str]] = []
        for cell in line.group("row").split("|"):
            cells.append((at, cell))
            at += len(cell) + 1
        header = next((i for i, (_, c) in enumerate(cells) if _WORD.search(c.lower()) and len(c) < 40), None)
        if header is not None and not any(classes(c.strip()) >= 3 and _STRONG_SYMBOL.search(c) for _, c in cells):
            secret_column = header
            continue
        if all(set(c.strip()) <= set("-: ") for _, c in cells):
            continue
        users = sum(1 for _, c in cells if _USER_CELL.match(c.strip()))
        for index, (place, cell) in enumerate(cells):
            value = cell.strip().strip("`*")
            if not 4 <= len(value) <= 64 or " " in value or not value.isascii() or is_placeholder(value):
                continue
            inside = index == secret_column and (
                classes(value) >= 3 or (classes(value) == 2 and not is_words(value)) or value.isdigit()
            )
            shaped = users >= 1 and looks_chosen(value, any(_USERS.match(c.strip()) for _, c in cells))
            if inside or shaped:
                start = place + cell.index(value)
                yield "password-in-table", start, start + len(value)


def _addresses(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    if "://" in text:
        for match in _URL.finditer(text):
            value = match.group("value")
            if not is_placeholder(value) and len(set(value)) > 1 and not re.match(r"^\d{2,5}/|^[\[{(]", value):
                yield "credentials-in-address", match.start("value"), match.end("value")
    if _COMMAND_HINT.search(low):
        for match in _COMMAND.finditer(text):
            start = match.start("value")
            end, closed = _end(text, start, match.end("value"), match.group("quote"))
            value = text[start:end]
            if (
                len(value) >= 3
                and not is_placeholder(value)
                and not re.match(r"^[-$%<{(:=]", value)
                and (closed or not is_code(value))
                and value.lower() not in _PLAIN
            ):
                yield "password-on-command-line", start, end
    if low.count(":") >= 4:
        for match in _PGPASS.finditer(text):
            if not is_placeholder(match.group("value")) and classes(match.group("value")) >= 2:
                yield "credentials-in-address", match.start("value"), match.end("value")


_PLAIN = frozenset(["stdin", "prompt", "file", "from", "with", "and", "or", "the", "required", "option", "flag"])


def _found(text: str) -> Iterator[tuple[str, int, int]]:
    low = lowered(text)
    taken: list[tuple[int, int]] = []
    for rule, start, end in (*_addresses(text, low), *_named(text, low), *_pairs(text, low), *_cells(text)):
        if end > start and not any(a < end and start < b for a, b in taken):
            taken.append((start, end))
            yield rule, start, end


_MESSAGES = {
    "password-note": "a password or PIN stands next to a word for it",
    "user-password-pair": "a user name and a password stand side by side",
    "password-in-table": "a cell of this table reads as a password",
    "credentials-in-address": "an address carries a password",
    "password-on-command-line": "a command carries a password",
}


def detect(text: Text) -> Iterator[Match]:
    """Every password of the text, in the raw text and, where it differs, in the normalised one."""
    seen: set[tuple[int, int]] = set()
    for rule, start, end in _found(text.raw):
        seen.add((start, end))
        yield Match(rule, Severity.BLOCK, start, end, _MESSAGES[rule], secret=True, mask=MASK)
    if text.norm != text.raw:
        for rule, first, last in _found(text.norm):
            start, end = text.to_raw(first, last)
            if not any(a < end and start < b for a, b in seen):
                seen.add((start, end))
                yield Match(rule, Severity.BLOCK, start, end, _MESSAGES[rule], secret=True, mask=MASK)


def __getattr__(name: str) -> dict[str, Examples]:
    if name == "EXAMPLES":
        from gitmem.detectors.samples import password_examples

        return password_examples()
    raise AttributeError(name)
