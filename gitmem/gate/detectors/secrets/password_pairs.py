"""Finds passwords without a word for one beside them: pairs, addresses, command lines.

`admin / ...`, `postgres://user:...@host`, `curl -u user:...`. `commands.txt` has the commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitmem.gate.detectors.prefilter import DIGIT, kinds_table, places, plain, present
from gitmem.gate.detectors.secrets.candidates import end_of_password
from gitmem.gate.detectors.secrets.decision import Candidate, Place, is_secret
from gitmem.gate.detectors.secrets.features import kind_of
from gitmem.gate.detectors.secrets.rule_tables import commands, patterns, word_list
from gitmem.lazy_patterns import lazy

_NUMBERS = kinds_table({b"1": b"0123456789", b".": b"."}, b"-")  # `1`: a digit; `.`: itself; `-`: the rest
_DOTTED = lazy(rb"1{1,3}\.1{1,3}\.1{1,3}\.1")  # an address of four numbers, in `_NUMBERS`
_DASH = lazy(rb"[ \t]--?[A-Za-z]")
_OPTIONS = ("-pass", "-pwd")
_OPTION_LETTERS = "abcdefghijklmnopqrstuvwxyz_-"
_READ_FROM_INPUT = word_list("reads from input")
_LOGIN_HINTS = word_list("login hint")
_LONGEST_COMMAND, _LONGEST_QUOTED, _LINES = 500, 80, 6
MAX_LOGIN_CHARACTERS = 100  # characters before a password that are read for an e-mail address
_FAR = 3 + 64 + 1 + 128 + 61 + 1 + 90  # what `_URL` may reach behind the scheme
Finds = Iterator[tuple[str, int, int]]  # (rule, start, end)


def pairs(text: str, lowered: str) -> Finds:
    """(rule, start, end) of each password beside a user on one line (`admin / ...`, `admin:...`); `lowered`: the text
    in lower case."""
    yield from _logins(text, lowered)
    digits = plain(text).translate(DIGIT)
    if b"1" not in digits:
        return  # each of these values has one
    yield from _colon_pairs(text, digits)
    dotted = _DOTTED.search(plain(text).translate(_NUMBERS)) is not None
    if dotted:
        for match in patterns.ip_triple.finditer(text):
            candidate = _in_match(Place.LOOK, text, match)
            if kind_of(match["user"], "server_user") and is_secret(candidate):
                yield "user-password-pair", candidate.start, candidate.end
    if "/" in text or "／" in text:
        yield from _slash_pairs(text, lowered, digits)
        if dotted:
            for match in patterns.ip_pair.finditer(text):
                candidate = _in_match(Place.HOST_PAIR, text, match)
                if is_secret(candidate):
                    yield "user-password-pair", candidate.start, candidate.end


def _in_match(place: Place, text: str, match: re.Match[str]) -> Candidate:
    """The value of a match of a pair, as a candidate without quotation marks and with `known` set."""
    start = match.start("value")
    return Candidate(place, text, start, end_of_password(text, start, match.end("value"), "")[0], known=True)


def _line(text: str, offset: int) -> str:
    """The line around an offset, cut behind its first 400 characters."""
    last = text.find("\n", offset)
    return text[text.rfind("\n", 0, offset) + 1 : last if last >= 0 else len(text)][:400]


def _slash_pairs(text: str, lowered: str, digits: bytes) -> Finds:
    """`admin / ...`; `digits`: the text with `1` for each digit."""
    for match in patterns.slash_pair.finditer(text):
        if digits.find(b"1", match.start("value"), match.end()) < 0:
            continue
        candidate = _in_match(Place.PAIR, text, match)
        start, end, value = candidate.start, candidate.end, candidate.value
        host = patterns.at_host.search(text, start, end)
        if host:
            end = host.start()
            value = text[start:end]
        join = text[match.start("marks") - 1]
        starred = join == " " and value[-1:] == "*" and _line(text, start).count("*") == 1
        candidate = candidate._replace(end=end, join=join, starred=starred)
        if join == " " and _is_mixed(value) and _is_mail(text, match.start()):
            yield "user-password-pair", start, end
            continue
        if not is_secret(candidate):
            continue
        user = patterns.user_before_slash.search(text[max(0, match.start() - 34) : match.start()])
        if user is not None:
            is_login = (
                kind_of(user["user"], "server_user") != ""
                or patterns.login_word.search(_line(lowered, start)) is not None
                or (_is_mail(text, match.start()) and patterns.mail_password.match(value) is not None)
            )
            if is_secret(candidate._replace(label=user["user"], known=is_login)):
                yield "user-password-pair", start, end


def _is_mail(text: str, start: int) -> bool:
    """Whether an e-mail address stands right before the sign before an offset: `ops@corp.io:`, `ops@corp.io / `."""
    before = text[max(0, start - MAX_LOGIN_CHARACTERS) : start]
    return patterns.mail_before.search(before) is not None


def _is_mixed(value: str) -> bool:
    """Whether a value has digits and letters of both cases, mixed otherwise than in `Team2024`."""
    return patterns.mail_mixed_password.match(value) is not None


def _logins(text: str, lowered: str) -> Finds:
    """Words joined by signs beside a user, on a line about logging in: `login: ops / Bulrush_77`, `as admin with
    Pewter.Mug5`."""
    searched_end = 0
    for offset in places(lowered, present(lowered, _LOGIN_HINTS)):
        if offset < searched_end:
            continue
        line_start = lowered.rfind("\n", searched_end, offset) + 1 or searched_end
        searched_end = lowered.find("\n", offset) + 1 or len(lowered)
        if patterns.line_asks.search(lowered, offset, searched_end):
            searched_end = lowered.find("\n", searched_end) + 1 or len(lowered)  # what answers it
        for match in patterns.user_and_value.finditer(text, line_start, min(searched_end, line_start + 600)):
            start = match.start("value")
            end = end_of_password(text, start, match.end("value"), match["quote"])[0]
            if is_secret(Candidate(Place.LOGIN, text, start, end, match["user"], match["sign"])):
                yield "user-password-pair", start, end


def _colon_pairs(text: str, digits: bytes) -> Finds:
    """`admin:...` outside addresses; `digits`: the text with `1` for each digit."""
    for match in patterns.colon_pair.finditer(text):
        if digits.find(b"1", match.start("value"), match.end()) < 0:
            continue
        candidate = _in_match(Place.LOOK, text, match)
        if _is_mixed(candidate.value) and _is_mail(text, match.start()):
            yield "user-password-pair", candidate.start, candidate.end
            continue
        if not is_secret(candidate) or patterns.at_host.search(text, candidate.start, candidate.end):
            continue
        user = patterns.user_before_colon.search(text[max(0, match.start() - 24) : match.start()])
        by_mail = _is_mail(text, match.start()) and patterns.mail_password.match(candidate.value)
        if by_mail or (user and kind_of(user.group(), "server_user")):
            yield "user-password-pair", candidate.start, candidate.end


def addresses(text: str, lowered: str) -> Finds:
    """(rule, start, end) of each password in an address, `scheme://user:password@host`, in a connection string or on a
    command line; `lowered`: the text in lower case."""
    for match in _urls(text):
        after = text[match.end() : match.end() + 60]
        if is_secret(Candidate(Place.ADDRESS, text, *match.span("value"), match["user"], match["scheme"], after=after)):
            yield "credentials-in-address", *match.span("value")
    for match in _on_command_lines(text, lowered):
        start = match.start("value")
        quote = match["quote"] or match.groupdict().get("lead") or ""
        limit = max(match.end("value"), _closing(text, start, quote))
        end, closed = end_of_password(text, start, limit, quote)
        if is_secret(Candidate(Place.COMMAND, text, start, end, quote=quote, closed=closed)):
            yield "password-on-command-line", start, end
    if "={" in text or "jdbc:" in text:
        for form in (patterns.braced_password, patterns.oracle_address):
            for match in form.finditer(text):
                if is_secret(Candidate(Place.CONNECTION, text, *match.span("value"))):
                    yield "password-on-command-line", *match.span("value")
    yield from _oracle_logins(text)
    yield from _behind_users(text, lowered)
    if present(lowered, _LOGIN_SETTINGS):
        for match in patterns.login_setting.finditer(text):
            candidate = _in_match(Place.OPTION, text, match)
            if is_secret(candidate):
                yield "password-on-command-line", candidate.start, candidate.end
    if patterns.port_field.search(text):
        for match in patterns.pgpass_row.finditer(text):
            if is_secret(Candidate(Place.PASSWORD_FILE, text, *match.span("value"), match.group())):
                yield "credentials-in-address", *match.span("value")


def _oracle_logins(text: str) -> Finds:
    """`app/...@//db:1521/ORCL`, in any tool, setting or sentence."""
    offset = text.find("@")
    while offset >= 0:
        login = None
        if text.find("/", max(0, offset - 66), offset) >= 0:
            login = patterns.oracle_login_before.search(text, max(0, offset - 96), offset)
        if login is not None:
            place = None
            if patterns.oracle_address_behind.match(text, offset):
                place = Place.CONNECTION
            elif patterns.oracle_tool_before.search(text, max(0, login.start() - 200), login.start()):
                place = Place.OPTION
            if place is not None and is_secret(Candidate(place, text, *login.span("value"))):
                yield "password-on-command-line", *login.span("value")
        offset = text.find("@", offset + 1)


def _behind_users(text: str, lowered: str) -> Finds:
    """`-u bot -p ...` on any command line; `lowered`: the text in lower case."""
    for offset in places(lowered, _PASSWORD_OPTIONS):
        if patterns.user_option_before.search(text, max(0, offset - 160), offset) is None:
            continue
        match = patterns.option_value.match(text, offset + len(_PASSWORD_OPTIONS[0]))
        if match is not None:
            end, _ = end_of_password(text, *match.span("value"), match["quote"])
            if is_secret(Candidate(Place.OPTION, text, match.start("value"), end)):
                yield "password-on-command-line", match.start("value"), end


_PASSWORD_OPTIONS = (" -p ", " -p=")
_LOGIN_SETTINGS = ("bundle_", "userpwd", 'user = "', 'user="', 'user: "', "user = '", "user='", "user: '", "-user=")


def _urls(text: str) -> Iterator[re.Match[str]]:
    """The matches of `login_url`, searched only where an `@` stands near behind the `://`."""
    searched_end = 0
    offset = text.find("://")
    while offset >= 0:
        limit = offset + _FAR
        if offset >= searched_end and text.find("@", offset, limit) >= 0:
            match = patterns.login_url.search(text, max(searched_end, offset - 25), limit)
            if match is not None and match.end("scheme") == offset:
                yield match
                searched_end = match.end()
        offset = text.find("://", offset + 3)


def _closing(text: str, start: int, quote: str) -> int:
    """The offset of the quotation mark that closes the value at `start` on its line; `start` when there is none."""
    close = -1
    if quote:
        close = text.find(quote, start, start + _LONGEST_QUOTED)
    if close > 0 and "\n" not in text[start:close]:
        return close
    return start


def _on_command_lines(text: str, lowered: str) -> Iterator[re.Match[str]]:
    """The matches of commands that take a password, up to the end of the command."""
    if "echo " in lowered or "printf " in lowered:
        for offset in places(lowered, _READ_FROM_INPUT):
            piped = patterns.piped_password.search(text, max(0, offset - 240), offset + 1)
            if piped is not None:
                yield piped
    for start, end in _with_option(text):
        for word, pattern in commands("options"):
            offset = lowered.find(word, start, end)
            while offset >= 0:
                match = pattern.match(text, offset, min(end, offset + _LONGEST_COMMAND))
                if match is not None:
                    yield match
                offset = lowered.find(word, offset + 1, end)
    words_present = present(lowered, tuple([word for word, _ in commands("anywhere")]))
    for word, pattern in commands("anywhere"):
        if word not in words_present:
            continue
        for offset in places(lowered, (word,)):
            match = pattern.match(text, offset, _end_of_command(text, offset))
            if match is not None:
                yield match
    for offset in places(lowered, _OPTIONS):  # `--some-pass`: from its first dash
        option_letters = lowered[max(0, offset - 18) : offset]
        for dash in range(offset - len(option_letters) + len(option_letters.rstrip(_OPTION_LETTERS)), offset + 1):
            match = None
            if lowered[dash] == "-":
                match = patterns.password_option.match(text, dash, _end_of_command(text, offset))
            if match is not None:
                yield match
                break


def _with_option(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each line with an option, with the lines that a backslash joins to it."""
    end = 0
    for option in _DASH.finditer(plain(text)):
        if option.start() < end:
            continue
        start = text.rfind("\n", end, option.start()) + 1 or end
        for _ in range(_LINES):
            if text[start - 2 : start] == "\\\n":
                start = text.rfind("\n", end, start - 1) + 1 or end
        end = option.end() - 1
        for _ in range(_LINES):
            end = text.find("\n", end + 1)
            if end < 0 or text[end - 1] != "\\":
                break
        if end < 0:
            end = len(text)
        yield start, end


def _end_of_command(text: str, offset: int) -> int:
    """The end of the command at `offset`: of its line, or of the next when that is indented (.netrc) or continued by a
    backslash; at most _LONGEST_COMMAND characters behind `offset`."""
    limit = min(len(text), offset + _LONGEST_COMMAND)
    line_end = text.find("\n", offset, limit)
    if line_end >= 0 and (text[line_end + 1 : line_end + 2] in (" ", "\t") or text[line_end - 1 : line_end] == "\\"):
        line_end = text.find("\n", line_end + 1, limit)
    if line_end < 0:
        return limit
    return line_end
