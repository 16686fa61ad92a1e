"""Finds passwords without a word for one beside them: pairs, addresses, command lines.

`admin / ...`, `postgres://user:...@host`, `curl -u user:...`. The look of the value and the text beside it decide
(`chosen_passwords.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from gitmem.gate.detectors.joined_words import is_coined, is_joined, is_numbered, is_odd, is_place, is_told
from gitmem.gate.detectors.prefilter import DIGIT, kinds_table, places, plain, present
from gitmem.gate.detectors.secrets.chosen_passwords import classes, end_of, is_server_user, looks_chosen
from gitmem.gate.detectors.secrets.placeholders import is_code, is_placeholder
from gitmem.gate.detectors.secrets.rule_tables import rows, word_list
from gitmem.lazy_patterns import lazy

_URL = lazy(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,24})://(?P<user>[^\s:/@\"'`<>"
    r"|]{0,64}):(?P<value>[^\s\"'`<>|/]{1,128}?(?:@[^\s\"'`<>"
    r"|/@]{1,60}?)??)@(?=[A-Za-z0-9\[$%{(<*.-])(?![^\s\"'`<>|/]{0,80}@)"
)
# Users and passwords that servers are shipped with: the same word twice is not a secret.
_SHIPPED = frozenset(word_list("shipped password"))
_PAIR = lazy(r"(?://?|／) ?(?P<value>[!-~]{6,40})")
_CAMEL = lazy(
    r"[A-Z]?[a-z]{2,12}(?:[A-Z][a-z]{2,12}){1,3}\d{2,4}|[A-Z][a-z]{2,12}\d{2,4}[A-Z][a-z]{2,12}"
)  # `BicycleShed77`
_BEFORE_PAIR = lazy(r"(?:(?<![\w/.@:-])|(?<=[^\x00-\x7f]:))(?P<user>[A-Za-z][A-Za-z0-9_.@-]{1,30}) ?$")
_LINK = lazy(
    r"[\w./-]+\.md(?:#L\d+(?:-L\d+)?)?(?:@[0-9a-f]{0,64})?[,.;)]?"
    r"|[\w./%-]+#[\w$.:-]+@[0-9a-f]{12}~[0-9a-f]{8}"
)  # `memory/2026-02-05.md#L12`, as our commits name lines, and `auth.py#L3-L9@1a2b3c4d5e6f~0a1b2c3d`, as facts name code
_AT_HOST = lazy(r"@[A-Za-z0-9-]{1,40}(?:\.[A-Za-z0-9-]{1,40}){1,5}(?::\d{2,5})?$")
_COLON_PAIR = lazy(r":(?P<value>[!-~]{6,40})")
_BEFORE_COLON = lazy(r"(?<![0-9A-Za-z_/.@:-])[A-Za-z][A-Za-z0-9-]{1,20}$")
_NUMBERS = kinds_table({b"1": b"0123456789", b".": b"."}, b"-")  # `1`: a digit; `.`: itself; `-`: the rest
_DOTTED = lazy(rb"1{1,3}\.1{1,3}\.1{1,3}\.1")  # an address of four numbers, in `_NUMBERS`
_IP_PAIR = lazy(
    r"\d{1,3}(?:\.\d{1,3}){3}\)?[^\n]{0,24}?[( ,:](?P<user>[A-Za-z][\w.-]{1,20})/(?P<value"
    r">[!-~]{6,40})"
)
_IP_TRIPLE = lazy(
    r"\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?[ ,/|(]{1,3}(?P<user>[A-Za-z][\w.-]{1,20})[ ,/|]{1,3}(?P<value>[!-~]{6,40})"
)
_SHORT_FORMS = {
    "<args>": r"\b(?:\\\n|[^\n|;]){0,200}?\s",
    "<user>": r"(?P<lead>[\"']?)[^\s:\"'$<]{1,60}:",
    "<string>": r"[\"'][^\"'\n]{0,80}[\"']\s{0,3},\s{0,3}",
    "<word>": r"(?:\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|[^\s\"']{1,80})\s{1,3}",
}


@cache
def commands(where: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The rows of `commands.txt` of one place (`options`, `anywhere`): each word in lower case, and the pattern from
    it to the end of a password. Read once a process.

    Raises OSError or ValueError where the table cannot be read or has a malformed row.
    """
    found: list[tuple[str, re.Pattern[str]]] = []
    for words, place, leads in rows("commands.txt", 3, keys=2):
        if place not in ("options", "anywhere") or words != words.lower():
            raise ValueError(f"commands.txt: the words or the place of '{words}' cannot be found in a text")
        for short, full in _SHORT_FORMS.items():
            leads = leads.replace(short, full)
        value = r"(?P<quote>[\"'`]?)(?P<value>[!-~]{3,128})"
        if place == where:
            for word in words.split(", "):
                found.append((word, lazy(rf"(?<!\w)(?i:{re.escape(word)})(?:{leads}){value}")))
    return tuple(found)


_DASH = lazy(rb"[ \t]--?[A-Za-z]")
_OPTIONS = ("-pass", "-pwd")
_OPTION = lazy(
    r"(?:(?<=\s)-(?:password|passwd|pwd|db-?pass|pass)\s{1,3}|--[a-z_-]{0,16}pass(?:word|wd|phrase)?[ =]{1,2})"
    r"(?P<quote>[\"'`]?)(?P<value>[!-~]{3,128})",
    re.IGNORECASE,
)
# Commands that read a password from what is piped into them.
_READ_FROM_INPUT = (
    "sudo -s", "-password-stdin", "| chpasswd", "| sudo chpasswd", "| passwd", "| sudo passwd", "| smbpasswd", "| kinit", "| cryptsetup",
)  # fmt: skip
_PIPED = lazy(
    r"\b(?:echo|printf)\s{1,3}(?:-[ne]{1,2}\s{1,3})?(?P<quote>[\"']?)(?P<value>[^\s\"'|$`\\]{4,128})(?:\\n[^\s\"'|]{0,128})?(?P=quote)"
    r"\s{0,3}\|[^\n|]{0,100}\Z"
)
_PORT = lazy(r":(?:[0-9]{2,5}|\*):")
_PGPASS = lazy(
    r"(?<![\w/])[\w.*-]{1,60}:(?:\d{3,5}"
    r"|\*):[\w*-]{1,60}:[\w.*-]{1,60}:(?P<value>[!-~]{4,60})"
)
_ANY_HOST = lazy(r"\*(?:[:'\"]|$)")  # in the settings of a shell: `zstyle ':completion:*:*:ssh:*:hosts'`
_IPV6 = lazy(r"^[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7}(?![\w:])")
# A user and, behind a sign or a word, what may be a password.
_BESIDE = lazy(
    r"(?<![\w@./-])[`*\"']{0,2}(?P<user>[A-Za-z][\w.@-]{1,40})[`*\"']{0,2}\)?(?P<sign> ?/ ?|:|,| (?:and|with|using)(?: the)?(?= ))"
    r"[ \t]{0,2}(?P<quote>[\"'`]?)(?P<value>[A-Za-z][!-~]{5,40})"
)
_LOGIN_HINTS = (
    "login", "log in", "logged in", "creds", "credential", "account", "user (", "router", "jenkins", "grafana", "nas:", "ssh ", "로그인", "계정", "접속", "ログイン", "アカウント",
    "登录", "账号", "zugang", "anmeld", "identifiant", "acceso", "accesso",
)  # fmt: skip
_TWO_NAMES = lazy(r"[A-Z][a-z]{2,}(?:[_&+;!*#@]|\.(?=[A-Z]))|[A-Za-z]{3,}\d*[_&+;!*#@]|[^-.]+[-.]\w+\d$")
_ASKS = lazy(r"\?[ \t\"'”*]{0,4}\n")
_LOGIN = lazy(
    r"wi-?fi|ssid|vpn|log(?:ged)?[ -]?in|sign[ -]?in|credential|account|\bid\s?/|/\s?pw|jenkins"
    r"|grafana|계정|로그인|접속|아이디|ログイン|アカウント|接続|登录|登入|账号|帳號|账户"
)


def _line(text: str, at: int) -> str:
    """The line around an offset, cut behind its first 400 characters."""
    last = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : last if last >= 0 else len(text)][:400]


def pairs(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of each password beside a user on one line; `low`: the text in lower case."""
    yield from _logins(text, low)
    digits = plain(text).translate(DIGIT)
    if b"1" not in digits:
        return  # each of these values has one
    yield from colons(text, digits)
    dotted = _DOTTED.search(plain(text).translate(_NUMBERS)) is not None
    if dotted:
        for match in _IP_TRIPLE.finditer(text):
            start = match.start("value")
            end, _ = end_of(text, start, match.end("value"), "")
            if is_server_user(match.group("user")) and looks_chosen(text[start:end], True):
                yield "user-password-pair", start, end
    if "/" in text or "／" in text:
        for match in _PAIR.finditer(text):
            start = match.start("value")
            if digits.find(b"1", start, match.end()) < 0:
                continue
            end, _ = end_of(text, start, match.end("value"), "")
            host = _AT_HOST.search(text, start, end)
            if host:
                end = host.start()
            value = text[start:end]
            spaced = text[start - 1] == " "
            starred = spaced and value[-1:] == "*" and _line(text, start).count("*") == 1
            joined = spaced and (is_joined(value, 2) or _CAMEL.fullmatch(value) is not None)
            if not joined and not looks_chosen(value, True, starred=starred):
                continue
            user = _BEFORE_PAIR.search(text[max(0, match.start() - 34) : match.start()])
            if user is None:
                continue
            if joined and _LOGIN.search(user.group("user").lower()):
                continue  # `Login / SignUp2`: both are names of pages
            known = is_server_user(user.group("user")) or _LOGIN.search(_line(low, start)) is not None
            chosen = (joined and known) or looks_chosen(value, known, starred=starred)
            if chosen and not _LINK.fullmatch(text, start, end):
                yield "user-password-pair", start, end
        if dotted:
            yield from _beside_addresses(text)


def _beside_addresses(text: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of each password in a pair `user/password` after an IP address."""
    for match in _IP_PAIR.finditer(text):
        start = match.start("value")
        end, _ = end_of(text, start, match.end("value"), "")
        value = text[start:end]
        if len(value) >= 6 and classes(value) >= 3 and not is_placeholder(value) and not set("/.") & set(value):
            yield "user-password-pair", start, end


def _logins(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """Words joined by signs beside a user, on a line about logging in: `login: ops / Bulrush_77`, `as admin with
    Pewter.Mug5`."""
    done = 0
    for at in places(low, present(low, _LOGIN_HINTS)):
        if at < done:
            continue
        first = low.rfind("\n", done, at) + 1 or done
        done = low.find("\n", at) + 1 or len(low)
        if _ASKS.search(low, at, done):
            done = low.find("\n", done) + 1 or len(low)  # what answers it
        for match in _BESIDE.finditer(text, first, min(done, first + 600)):
            start = match.start("value")
            end = end_of(text, start, match.end("value"), match["quote"])[0]
            value, user = text[start:end], match["user"]
            if "@" in user or is_server_user(user):
                is_password = (
                    is_joined(value, 2) or is_numbered(value) or (is_coined(value) and _TWO_NAMES.match(value))
                )
            else:
                is_password = match["sign"] == " / " and (is_joined(value, 2) or (is_coined(value) and is_odd(value)))
            if is_password and not _LOGIN.search(user.lower()):
                yield "user-password-pair", start, end


def colons(text: str, digits: bytes) -> Iterator[tuple[str, int, int]]:
    """`admin:...` outside addresses; `digits`: the text with `1` for each digit."""
    for match in _COLON_PAIR.finditer(text):
        start = match.start("value")
        if digits.find(b"1", start, match.end()) < 0:
            continue
        end, _ = end_of(text, start, match.end("value"), "")
        if not looks_chosen(text[start:end], True) or _AT_HOST.search(text, start, end):
            continue
        user = _BEFORE_COLON.search(text[max(0, match.start() - 24) : match.start()])
        if user and is_server_user(user.group()):
            yield "user-password-pair", start, end


def addresses(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of each password in an address, `scheme://user:password@host`, or on a command line;
    `low`: the text in lower case."""
    if "://" in text:
        for match in _urls(text):
            value = match.group("value")
            least = 3
            if match["scheme"].lower().startswith("http"):
                least = 4  # `https://u:pwd@` is an example of manuals
            if value.lower() in _SHIPPED and value == match.group("user"):
                continue
            if _FOR_ALL.issuperset(value.lower().split(":")) or _SHOWN.fullmatch(value):
                continue
            if value == match["user"] and _LOCAL.match(text, match.end()):
                continue  # `postgres://shop:shop@localhost`: the name twice, on one's own machine or one to be filled in
            if (
                not is_placeholder(value)
                and len(value) >= least
                and len(set(value)) > 1
                and not re.match(r"^\d{2,5}/|^[\[{(\\]|.*\[\^", value)
            ):
                yield "credentials-in-address", match.start("value"), match.end("value")
    for match in _on_command_lines(text, low):
        start = match.start("value")
        quote = match["quote"] or match.groupdict().get("lead") or ""
        limit = max(match.end("value"), _closing(text, start, quote))
        end, closed = end_of(text, start, limit, quote)
        value = text[start:end]
        if (
            len(value) >= 3
            and not is_placeholder(value)
            and not re.match(r"^[-$%<{(:=]|^(?:[\d.]{7,15}:)?\d{1,5}(?::\d{1,5})?$", value)  # `-p 8081:8081`
            and (closed or not is_code(value) or is_coined(value))
            and value.lower() not in _PLAIN
            and not is_place(value)
            and not _VARIABLE.fullmatch(value)
            and (closed or text[start - 1] in "=:p" or not (value.isalpha() and value.islower()))
            and not (" " in value and (quote == "`" or is_told(value)))
        ):
            yield "password-on-command-line", start, end
    forms: list[re.Pattern[str]] = []
    if "={" in text or "jdbc:" in text:
        forms = [_BRACED, _ORACLE]
    for form in forms:
        for match in form.finditer(text):
            value = match["value"]
            if not is_placeholder(value) and (looks_chosen(value, True) or (classes(value) >= 3 and len(value) >= 8)):
                yield "password-on-command-line", *match.span("value")
    if _PORT.search(text):
        for match in _PGPASS.finditer(text):
            value = match.group("value")
            if (
                not is_placeholder(value)
                and classes(value) >= 2
                and not _ANY_HOST.match(value)
                and not _IPV6.match(match.group())
            ):
                yield "credentials-in-address", match.start("value"), match.end("value")


def _urls(text: str) -> Iterator[re.Match[str]]:
    """The matches of `_URL`, searched only where an `@` stands near behind the `://`."""
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


def _closing(text: str, start: int, quote: str) -> int:
    """The offset of the quotation mark that closes the value at `start` on its line; `start` when there is none."""
    close = -1
    if quote:
        close = text.find(quote, start, start + _LONGEST_QUOTED)
    if close > 0 and "\n" not in text[start:close]:
        return close
    return start


def _on_command_lines(text: str, low: str) -> Iterator[re.Match[str]]:
    """The matches of commands that take a password, up to the end of the command."""
    if "echo " in low or "printf " in low:
        for at in places(low, _READ_FROM_INPUT):
            piped = _PIPED.search(text, max(0, at - 240), at + 1)
            if piped is not None:
                yield piped
    for first, last in _with_option(text):
        for word, pattern in commands("options"):
            at = low.find(word, first, last)
            while at >= 0:
                match = pattern.match(text, at, min(last, at + _LONGEST_COMMAND))
                if match is not None:
                    yield match
                at = low.find(word, at + 1, last)
    words_present = present(low, tuple([word for word, _ in commands("anywhere")]))
    for word, pattern in commands("anywhere"):
        if word not in words_present:
            continue
        for at in places(low, (word,)):
            match = pattern.match(text, at, _end_of_command(text, at))
            if match is not None:
                yield match
    for at in places(low, _OPTIONS):  # `--some-pass`: from its first dash
        before = low[max(0, at - 18) : at]
        for first in range(at - len(before) + len(before.rstrip(_OPTION_LETTERS)), at + 1):
            match = None
            if low[first] == "-":
                match = _OPTION.match(text, first, _end_of_command(text, at))
            if match is not None:
                yield match
                break


def _with_option(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each line with an option, with the lines that a backslash joins to it."""
    last = 0
    for option in _DASH.finditer(plain(text)):
        if option.start() < last:
            continue
        first = text.rfind("\n", last, option.start()) + 1 or last
        for _ in range(_LINES):
            if text[first - 2 : first] == "\\\n":
                first = text.rfind("\n", last, first - 1) + 1 or last
        last = option.end() - 1
        for _ in range(_LINES):
            last = text.find("\n", last + 1)
            if last < 0 or text[last - 1] != "\\":
                break
        if last < 0:
            last = len(text)
        yield first, last


def _end_of_command(text: str, at: int) -> int:
    """The end of the command at `at`: of its line, or of the next when that is indented (.netrc) or continued by a
    backslash."""
    limit = min(len(text), at + _LONGEST_COMMAND)
    last = text.find("\n", at, limit)
    if last >= 0 and (text[last + 1 : last + 2] in (" ", "\t") or text[last - 1 : last] == "\\"):
        last = text.find("\n", last + 1, limit)
    if last < 0:
        return limit
    return last


_ORACLE = lazy(r"(?i)jdbc:oracle:(?:thin|oci\d?):[^\s/@\"']{1,40}/(?P<value>[^\s@\"'<>${}]{4,64})@")
# A value in braces, as ODBC has it: `UID=app;PWD={...};`.
_BRACED = lazy(r"(?i)(?<![\w$-])(?:pwd|password)=\{(?P<value>[^{}\s]{6,64})\}(?=[;\"'\s]|\Z)")
_LONGEST_COMMAND, _LONGEST_QUOTED, _LINES = 500, 80, 6
_OPTION_LETTERS = "abcdefghijklmnopqrstuvwxyz_-"
_FAR = 3 + 64 + 1 + 128 + 61 + 1 + 90  # what `_URL` may reach behind the scheme
# `DB_PASSWORD`, `ROOTPW`: the name of a variable that a manual leaves out the `$` of.
_VARIABLE = lazy(r"[A-Z_]{0,30}(?:PASS(?:WORD|WD|PHRASE)?|PWD|PW|SECRET|TOKEN|KEY|AUTH|USER)(?:_[A-Z_]{1,30})?")
# Passwords of public archives, and what stands before them in an address of CVS.
_FOR_ALL = frozenset(["anonymous", "anoncvs", "anonsvn", "anon", "guest", "pserver", "ext", ""])
_SHOWN = lazy(r"(?i:p(?:%[0-9a-f]{2}|[@:/]){1,2}ss(?:w[o0]rd)?\d{0,3})")  # how manuals show what is to be encoded
_LOCAL = lazy(r"(?:localhost|127\.0\.0\.1|\[::1\])(?![\w.-])|\$\{?\w{1,40}\}?(?=[:/])")
_PLAIN = frozenset(
    ["and/or", "stdin", "prompt", "file", "from", "with", "and", "or", "the", "required", "option", "flag"]
)
