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
from gitmem.gate.detectors.secrets.rule_tables import patterns, rows, word_list
from gitmem.lazy_patterns import lazy

# Users and passwords that servers are shipped with: the same word twice is not a secret.
_SHIPPED = frozenset(word_list("shipped password"))
_NUMBERS = kinds_table({b"1": b"0123456789", b".": b"."}, b"-")  # `1`: a digit; `.`: itself; `-`: the rest
_DOTTED = lazy(rb"1{1,3}\.1{1,3}\.1{1,3}\.1")  # an address of four numbers, in `_NUMBERS`
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
# Commands that read a password from what is piped into them.
_READ_FROM_INPUT = word_list("reads from input")
_LOGIN_HINTS = word_list("login hint")


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
        for match in patterns.ip_triple.finditer(text):
            start = match.start("value")
            end, _ = end_of(text, start, match.end("value"), "")
            if is_server_user(match.group("user")) and looks_chosen(text[start:end], True):
                yield "user-password-pair", start, end
    if "/" in text or "／" in text:
        for match in patterns.slash_pair.finditer(text):
            start = match.start("value")
            if digits.find(b"1", start, match.end()) < 0:
                continue
            end, _ = end_of(text, start, match.end("value"), "")
            host = patterns.at_host.search(text, start, end)
            if host:
                end = host.start()
            value = text[start:end]
            spaced = text[start - 1] == " "
            starred = spaced and value[-1:] == "*" and _line(text, start).count("*") == 1
            joined = spaced and (is_joined(value, 2) or patterns.camel_password.fullmatch(value) is not None)
            if not joined and not looks_chosen(value, True, starred=starred):
                continue
            user = patterns.user_before_slash.search(text[max(0, match.start() - 34) : match.start()])
            if user is None:
                continue
            if joined and patterns.login_word.search(user.group("user").lower()):
                continue  # `Login / SignUp2`: both are names of pages
            known = is_server_user(user.group("user")) or patterns.login_word.search(_line(low, start)) is not None
            chosen = (joined and known) or looks_chosen(value, known, starred=starred)
            if chosen and not patterns.memory_link.fullmatch(text, start, end):
                yield "user-password-pair", start, end
        if dotted:
            yield from _beside_addresses(text)


def _beside_addresses(text: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of each password in a pair `user/password` after an IP address."""
    for match in patterns.ip_pair.finditer(text):
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
        if patterns.line_asks.search(low, at, done):
            done = low.find("\n", done) + 1 or len(low)  # what answers it
        for match in patterns.user_and_value.finditer(text, first, min(done, first + 600)):
            start = match.start("value")
            end = end_of(text, start, match.end("value"), match["quote"])[0]
            value, user = text[start:end], match["user"]
            if "@" in user or is_server_user(user):
                is_password = (
                    is_joined(value, 2) or is_numbered(value) or (is_coined(value) and patterns.two_names.match(value))
                )
            else:
                is_password = match["sign"] == " / " and (is_joined(value, 2) or (is_coined(value) and is_odd(value)))
            if is_password and not patterns.login_word.search(user.lower()):
                yield "user-password-pair", start, end


def colons(text: str, digits: bytes) -> Iterator[tuple[str, int, int]]:
    """`admin:...` outside addresses; `digits`: the text with `1` for each digit."""
    for match in patterns.colon_pair.finditer(text):
        start = match.start("value")
        if digits.find(b"1", start, match.end()) < 0:
            continue
        end, _ = end_of(text, start, match.end("value"), "")
        if not looks_chosen(text[start:end], True) or patterns.at_host.search(text, start, end):
            continue
        user = patterns.user_before_colon.search(text[max(0, match.start() - 24) : match.start()])
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
            if _FOR_ALL.issuperset(value.lower().split(":")) or patterns.shown_password.fullmatch(value):
                continue
            if value == match["user"] and patterns.local_host.match(text, match.end()):
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
            and not patterns.password_variable.fullmatch(value)
            and (closed or text[start - 1] in "=:p" or not (value.isalpha() and value.islower()))
            and not (" " in value and (quote == "`" or is_told(value)))
        ):
            yield "password-on-command-line", start, end
    forms: list[re.Pattern[str]] = []
    if "={" in text or "jdbc:" in text:
        forms = [patterns.braced_password, patterns.oracle_address]
    for form in forms:
        for match in form.finditer(text):
            value = match["value"]
            if not is_placeholder(value) and (looks_chosen(value, True) or (classes(value) >= 3 and len(value) >= 8)):
                yield "password-on-command-line", *match.span("value")
    if patterns.port_field.search(text):
        for match in patterns.pgpass_row.finditer(text):
            value = match.group("value")
            if (
                not is_placeholder(value)
                and classes(value) >= 2
                and not patterns.any_host.match(value)
                and not patterns.ipv6.match(match.group())
            ):
                yield "credentials-in-address", match.start("value"), match.end("value")


def _urls(text: str) -> Iterator[re.Match[str]]:
    """The matches of `_URL`, searched only where an `@` stands near behind the `://`."""
    done = 0
    at = text.find("://")
    while at >= 0:
        limit = at + _FAR
        if at >= done and text.find("@", at, limit) >= 0:
            match = patterns.login_url.search(text, max(done, at - 25), limit)
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
            piped = patterns.piped_password.search(text, max(0, at - 240), at + 1)
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
                match = patterns.password_option.match(text, first, _end_of_command(text, at))
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


_LONGEST_COMMAND, _LONGEST_QUOTED, _LINES = 500, 80, 6
_OPTION_LETTERS = "abcdefghijklmnopqrstuvwxyz_-"
_FAR = 3 + 64 + 1 + 128 + 61 + 1 + 90  # what `_URL` may reach behind the scheme
# Passwords of public archives, and what stands before them in an address of CVS.
_FOR_ALL = frozenset(["anonymous", "anoncvs", "anonsvn", "anon", "guest", "pserver", "ext", ""])
_PLAIN = frozenset(word_list("no option value"))
