"""Passwords with no word for one beside them: pairs, table cells, addresses, command lines.

`admin / ...`, `| grafana | admin | ... |`, `postgres://user:...@host`, `curl -u user:...`. The look of the value
and of what stands beside it decides (`gate/detectors/secrets/chosen_passwords.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitmem.gate.detectors.masks import without_masks
from gitmem.gate.detectors.prefilter import DIGIT, places, plain
from gitmem.gate.detectors.secrets.chosen_passwords import WORD, classes, end_of, looks_chosen
from gitmem.gate.detectors.secrets.placeholders import is_code, is_placeholder, is_words
from gitmem.lazy_patterns import lazy

_URL = lazy(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,24})://(?P<user>[^\s:/@\"'`<>"
    r"|]{0,64}):(?P<value>[^\s\"'`<>|/]{1,128}?(?:@[^\s\"'`<>"
    r"|/@]{1,60}?)??)@(?=[A-Za-z0-9\[$%{(<*.-])(?![^\s\"'`<>|/]{0,80}@)"
)
# What servers are shipped with: the same word twice is nobody's secret.
_SHIPPED = frozenset(
    {"postgres", "guest", "anonymous", "mysql", "elastic", "airflow", "rabbitmq", "minioadmin", "neo4j"}
)
_PAIR = lazy(r"/ ?(?P<value>[!-~]{6,40})")
_BEFORE_PAIR = lazy(r"(?:(?<![\w/.@:-])|(?<=[^\x00-\x7f]:))(?P<user>[A-Za-z][A-Za-z0-9_.@-]{1,30}) ?$")
_LINK = lazy(
    r"[\w./-]+\.md(?:#L\d+(?:-L\d+)?)?(?:@[0-9a-f]{0,64})?[,.;)]?"
)  # `memory/2026-02-05.md#L12`, as our commits name lines
_AT_HOST = lazy(r"@[A-Za-z0-9-]{1,40}(?:\.[A-Za-z0-9-]{1,40}){1,5}(?::\d{2,5})?$")
_COLON_PAIR = lazy(r":(?P<value>[!-~]{6,40})")
_BEFORE_COLON = lazy(r"(?<![0-9A-Za-z_/.@:-])[A-Za-z][A-Za-z0-9-]{1,20}$")
_NUMBERS = bytes(49 if 48 <= code < 58 else 46 if code == 46 else 45 for code in range(256))
_DOTTED = lazy(rb"1{1,3}\.1{1,3}\.1{1,3}\.1")  # an address of four numbers, in `_NUMBERS`
_IP_PAIR = lazy(
    r"\d{1,3}(?:\.\d{1,3}){3}\)?[^\n]{0,24}?[( ,:](?P<user>[A-Za-z][\w.-]{1,20})/(?P<value"
    r">[!-~]{6,40})"
)
_SHAPED = lazy(r"[!@#$%^&*?~]")
_ANY_DIGIT = lazy(r"[0-9]")
_USER_CELL = lazy(r"^`?[A-Za-z][A-Za-z0-9_.@-]{1,40}`?$")
_IP_TRIPLE = lazy(
    r"\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?[ ,/|(]{1,3}(?P<user>[A-Za-z][\w.-]{1,20})[ ,/|]{1,3}(?P<value>[!-~]{6,40})"
)
_COMMAND = lazy(
    r"(?:psexec\b[^\n]{0,120}?\s-p\s{1,3}|\benable (?:password|secret) (?:\d )?|snmp-server community "
    r"|(?<=\s)-(?:password|passwd|pwd|db-?pass|pass)\s{1,3}|--[a-z-]{0,16}pass(?:word|wd|phrase)?[ =]{1,2}"
    r"|username \S{1,30} (?:privilege \d{1,2} )?(?:password|secret) \d |sshpass\s{1,3}-p\s{0,2}|ConvertTo-SecureString\s{1,3}(?:-String\s{1,3})?(?![$(-])|mysql(?:dump|admin)?\b[^\n|]{0,60}?\s-p(?=\S)|(?:curl"
    r"|wget)\b[^\n]{0,200}?\s(?:-u|--user|--proxy-user"
    r"|-U)[ =]{1,2}[\"']?[^\s:\"'$<]{1,60}:"
    r"|docker\s{1,3}login\b[^\n]{0,100}?\s(?:-p|--password)[ =]"
    r"|redis-cli\b[^\n]{0,60}?\s-a\s{1,3}|--(?:password|passwd|passphrase|http-password"
    r"|db-password|admin-password)[ =]{1,2}"
    r"|(?:\bUSER\b[^\n]{0,80}?\s)?\bIDENTIFIED\s{1,3}(?:WITH\s{1,3}\w{1,30}\s{1,3})?BY\s{1,3}(?:PASSWORD\s{1,3})?(?=['\"])"
    r"|\bUSER\s[^\n]{1,80}?\sIDENTIFIED\s{1,3}BY\s{1,3}(?=[^\s'\"`])"
    r"|NetworkCredential\(\s{0,3}[\"'][^\"'\n]{1,60}[\"']\s{0,3},\s{0,3}"
    r"|net\s{1,3}user\s{1,3}\w{1,20}\s{1,3}(?!/)|net\s{1,3}use\s[^\n]{0,80}?/user:\S{1,40}\s{1,3}(?!/)"
    r"|sudo\s{1,3}-S\s{0,3}<<<\s{0,3}"
    r"|(?:ldapsearch|ldapadd|ldapmodify)\b[^\n]{0,200}?\s-w\s{1,3}"
    r"|login\s{1,3}\S{1,40}\s{1,3}password\s{1,3}"
    r"|chpasswd\s{0,3}<<<\s{0,3}[\"']?\w{1,20}:|zip\s[^\n]{0,40}?-P\s{1,3})"
    r"(?P<quote>[\"'`]?)(?P<value>[!-~]{3,128})",
    re.IGNORECASE,
)
# A part of each command, in lower case: where none stands, no command does.
_COMMANDS = (
    "sshpass", "securestring", "psexec", "enable pass", "enable secr", "snmp-server", "-pass", "-pwd", "username ",
    "mysql", "curl", "wget", "docker", "redis-cli", "identified", "networkcredential", "net use", "ldap", "sudo -s", "chpasswd",
    "zip ", "login ",
)  # fmt: skip
_PORT = lazy(r":(?:[0-9]{2,5}|\*):")
_PGPASS = lazy(
    r"(?<![\w/])[\w.*-]{1,60}:(?:\d{3,5}"
    r"|\*):[\w*-]{1,60}:[\w.*-]{1,60}:(?P<value>[!-~]{4,60})"
)
_IPV6 = lazy(r"^[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7}(?![\w:])")
_USERS = lazy(
    r"^`?(?:admin\w*|administrator|root|user\d*|app|master|deploy\w*|test\w*|dev|ops"
    r"|guest|sa|postgres|mysql|oracle|ubuntu|ec2-user|operator|manager|service|svc\w*"
    r"|readonly|ro|rw|jenkins|gitlab|backup)`?$",
    re.IGNORECASE,
)
_LOGIN = lazy(
    r"wi-?fi|ssid|vpn|log[ -]?in|sign[ -]?in|credential|account|\bid\s?/|/\s?pw|jenkins"
    r"|grafana|계정|로그인|접속|아이디|ログイン|アカウント|接続|登录|登入|账号|帳號|账户"
)


def _line(text: str, at: int) -> str:
    last = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : last if last >= 0 else len(text)][:400]


def pairs(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    digits = plain(text).translate(DIGIT)
    if b"1" not in digits:
        return  # each of these values has one
    yield from colons(text, digits)
    dotted = _DOTTED.search(plain(text).translate(_NUMBERS)) is not None
    for match in _IP_TRIPLE.finditer(text) if dotted else ():
        start = match.start("value")
        end, _ = end_of(text, start, match.end("value"), "")
        if _USERS.match(match.group("user")) and looks_chosen(text[start:end], True):
            yield "user-password-pair", start, end
    if "/" in text:
        for match in _PAIR.finditer(text):
            start = match.start("value")
            if digits.find(b"1", start, match.end()) < 0:
                continue
            end, _ = end_of(text, start, match.end("value"), "")
            host = _AT_HOST.search(text, start, end)
            end = host.start() if host else end
            if not looks_chosen(text[start:end], True):
                continue
            user = _BEFORE_PAIR.search(text[max(0, match.start() - 34) : match.start()])
            if user is None:
                continue
            known = _USERS.match(user.group("user")) is not None or _LOGIN.search(_line(low, start)) is not None
            if looks_chosen(text[start:end], known) and not _LINK.fullmatch(text, start, end):
                yield "user-password-pair", start, end
        for match in _IP_PAIR.finditer(text) if dotted else ():
            start = match.start("value")
            end, _ = end_of(text, start, match.end("value"), "")
            value = text[start:end]
            if (
                classes(value) >= 3
                and len(value) >= 6
                and not is_placeholder(value)
                and "/" not in value
                and "." not in value
            ):
                yield "user-password-pair", start, end


def colons(text: str, digits: bytes) -> Iterator[tuple[str, int, int]]:
    """`admin:...`, outside an address."""
    for match in _COLON_PAIR.finditer(text):
        start = match.start("value")
        if digits.find(b"1", start, match.end()) < 0:
            continue
        end, _ = end_of(text, start, match.end("value"), "")
        if not looks_chosen(text[start:end], True) or _AT_HOST.search(text, start, end):
            continue
        user = _BEFORE_COLON.search(text[max(0, match.start() - 24) : match.start()])
        if user and _USERS.match(user.group()):
            yield "user-password-pair", start, end


def cells(text: str) -> Iterator[tuple[str, int, int]]:
    if "|" not in text:
        return
    secret_column: int | None = None
    after = -1
    for line in re.finditer(r"(?m)^[ \t>]{0,8}\|(?P<row>[^\n]{3,2000})$", text):
        at = line.start("row")
        row = line.group("row")
        if line.start() != after:
            secret_column = None  # another table
        after = line.end() + 1
        worded = WORD.search(row.lower()) is not None
        if secret_column is None and not (worded or _SHAPED.search(row)):
            continue
        cells: list[tuple[int, str]] = []
        for cell in row.split("|"):
            cells.append((at, cell))
            at += len(cell) + 1
        label = next((i for i, (_, c) in enumerate(cells) if _names_one(c)), None) if worded else None
        if label is not None:
            beside = label + 1 if label + 1 < len(cells) else label
            place, cell = cells[beside]
            value = cell.strip().strip("`*")
            if beside != label and _in_column(value):
                start = place + cell.index(value)
                yield "password-in-table", start, start + len(value)
                continue
            if not _SHAPED.search(row):
                secret_column = label
                continue
        for index, (place, cell) in enumerate(cells):
            value = cell.strip().strip("`*")
            inside = index == secret_column and _in_column(value)
            if inside or (
                " " not in value and value.isascii() and looks_chosen(value, True) and _beside_user(value, cells)
            ):
                start = place + cell.index(value)
                yield "password-in-table", start, start + len(value)


def _beside_user(value: str, cells: list[tuple[int, str]]) -> bool:
    """Whether a value that looks chosen stands in a row with the name of a user."""
    others = [cell.strip() for _, cell in cells]
    if not any([_USER_CELL.match(other) for other in others]):
        return False
    return looks_chosen(value, any([_USERS.match(other) for other in others]))


def _names_one(cell: str) -> bool:
    """Whether a cell is a heading or label for passwords (a column "Pass" counts tests)."""
    word = WORD.search(without_masks(cell.lower())) if len(cell) < 40 else None
    return word is not None and word.group() not in ("pass", "pin")


def _in_column(value: str) -> bool:
    """Whether a cell reads as a password where its column or its label says that one stands there."""
    if not 4 <= len(value) <= 64 or " " in value or not value.isascii() or is_placeholder(value):
        return False
    kinds = classes(value)
    digits = _ANY_DIGIT.search(value) is not None
    return value.isdigit() or kinds >= 3 or (kinds == 2 and digits and not is_words(value))


def addresses(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    if "://" in text:
        for match in _urls(text):
            value = match.group("value")
            if value.lower() in _SHIPPED and value == match.group("user"):
                continue
            if not is_placeholder(value) and len(set(value)) > 1 and not re.match(r"^\d{2,5}/|^[\[{(]", value):
                yield "credentials-in-address", match.start("value"), match.end("value")
    done = 0
    for match in _commands(text, low):
        start = match.start("value")
        end, closed = end_of(text, start, match.end("value"), match.group("quote"))
        value = text[start:end]
        if (
            match.start() >= done
            and len(value) >= 3
            and not is_placeholder(value)
            and not re.match(r"^[-$%<{(:=]", value)
            and (closed or not is_code(value))
            and value.lower() not in _PLAIN
            and (closed or text[start - 1] in "=:p" or not (value.isalpha() and value.islower()))
        ):
            done = match.end()
            yield "password-on-command-line", start, end
    if _PORT.search(text):
        for match in _PGPASS.finditer(text):
            value = match.group("value")
            if not is_placeholder(value) and classes(value) >= 2 and not _IPV6.match(match.group()):
                yield "credentials-in-address", match.start("value"), match.end("value")


def _urls(text: str) -> Iterator[re.Match[str]]:
    """The addresses with a password: looked for where an `@` stands not far behind the `://`."""
    done = 0
    at = text.find("://")
    while at >= 0:
        limit = at + _FAR
        if at >= done and text.find("@", at, limit) >= 0:
            match = _URL.search(text, max(done, at - 25), limit)
            if match is not None and match.end("scheme") == at:
                yield match
                done = match.end()
        at = text.find("://", at + 3)


def _commands(text: str, low: str) -> Iterator[re.Match[str]]:
    """What follows a command that takes a password, to the end of its line and of one that continues it."""
    last = -1
    for hint in places(low, _COMMANDS):
        if hint >= last:
            last = text.find("\n", hint)
            last = len(text) if last < 0 else last
            if text[last + 1 : last + 2] in (" ", "\t") or text[last - 1 : last] == "\\":  # .netrc, a shell's \
                last = text.find("\n", last + 1)
                last = len(text) if last < 0 else last
        first = hint
        if low[hint] == "-":  # `--some-pass`: from its first dash
            first -= len(low[max(0, hint - 18) : hint]) - len(low[max(0, hint - 18) : hint].rstrip(_OPTION))
        elif low.startswith("securestring", hint):
            first = max(0, hint - len("ConvertTo-"))
        for at in range(first, hint + 1):
            match = _COMMAND.match(text, at, last) if at in (first, hint) or low[at] == "-" else None
            if match is not None:
                yield match
                break


_OPTION = "abcdefghijklmnopqrstuvwxyz-"
_FAR = 3 + 64 + 1 + 128 + 61 + 1 + 90  # what `_URL` may reach behind the scheme
_PLAIN = frozenset(["stdin", "prompt", "file", "from", "with", "and", "or", "the", "required", "option", "flag"])
