"""Finds live sessions: cookies, `Authorization` headers, session ids. A copied one is a login until it expires.

Reads the names that frameworks and large sites use for their sessions, and the HTTP headers that carry credentials; a
cookie of any other name passes.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitmem.gate.detectors import readings
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.secrets.candidates import candidates
from gitmem.gate.detectors.secrets.placeholders import (
    entropy,
    is_placeholder,
    is_readable_base64,
    is_uuid,
    is_varied,
    is_words,
)
from gitmem.gate.detectors.secrets.rule_tables import patterns, word_list
from gitmem.gate.detectors.text import Match, Text, mask
from gitmem.lazy_patterns import lazy

if TYPE_CHECKING:
    from gitmem.gate.detectors.text import Examples

# Lower-case names of session cookies: servers and frameworks, then sites.
_SESSION = word_list("session cookie")
_NAMES = lazy(
    r"(?<![\w.-])(?P<name>"
    + "|".join(re.escape(n) for n in sorted(_SESSION, key=len, reverse=True))
    + r")(?P<op>[\"']?\s{0,2}[=:]\s{0,2}[\"']?)(?P<secret>[0-9A-Za-z._%+/=|~:*-]{12,4096})"
)
_COOKIES_ALONE = ("jsessionid", "phpsessid", "asp.net_sessionid", "connect.sid")  # what nothing but a cookie is named


def _is_session(value: str) -> bool:
    return (
        not is_placeholder(value)
        and not value.startswith(("20", "19", "s-1-", "S-1-", "Stmt"))
        and is_varied(value)
        and not is_words(value)
        and not is_readable_base64(
            value.rstrip(".")
        )  # the head of a token, cut behind it: `Bearer eyJhbGciOiJSUzI1NiJ9...`
        and entropy(value) > 2.7
    )


def _is_basic(value: str) -> bool:
    """Whether base64 of `user:password` stands here, with a password that is none of a manual."""
    try:
        plain = b64decode(value + "=" * (-len(value) % 4)).decode()
    except (Error, ValueError):
        return False
    user, colon, password = plain.partition(":")
    return bool(colon) and bool(user or password) and plain.isprintable() and not is_placeholder(password or user)


def _is_numbered(value: str) -> bool:
    """Whether a value is how programs number their conversations."""
    return is_uuid(value) or patterns.conversation_number.fullmatch(value) is not None


def _is_cookie(text: str, match: re.Match[str], first: int) -> bool:
    """Whether a name and its value stand in a cookie: by the name, or by what stands before it from `first` on."""
    name, before = text[slice(*match.span("name"))], text[max(first, match.start() - 200) : match.start()]
    if name.lower() in _COOKIES_ALONE or (name == "sessionid" and match["op"] == "="):
        return True
    return "cookie" in before.lower() or patterns.cookie_option.search(before) is not None


def _matches(text: str) -> Iterator[tuple[str, int, int]]:
    seen = candidates(text)
    for first, last in seen.near:
        if patterns.session_hint.search(seen.low, first, last):
            for match in _NAMES.finditer(seen.low, first, last):
                start, end = match.span("secret")
                if _is_numbered(text[start:end]) and not _is_cookie(text, match, first):
                    continue  # the number of a conversation, in the log of an agent or a server
                if _is_session(text[start:end]) and patterns.digit.search(text, start, end):
                    yield "session-cookie", start, end
        if patterns.header_hint.search(seen.low, first, last):
            yield from _headers(text, first, last)


def _headers(text: str, first: int, last: int) -> Iterator[tuple[str, int, int]]:
    for match in patterns.credential_header.finditer(text, first, last):
        start, end = match.span("secret")
        value, scheme = match.group("secret"), (match.group("scheme") or "").lower()
        if scheme == "basic":
            if _is_basic(value):
                yield "authorization-header", start, end
        elif len(value) >= (12 if scheme else 16) and _is_session(value) and patterns.digit.search(value):
            yield "authorization-header", start, end
    for match in patterns.bearer_value.finditer(text, first, last):
        if _is_session(match.group("secret")) and len(patterns.digit.findall(match.group("secret"))) >= 2:
            yield "authorization-header", *match.span("secret")


_MESSAGES = {
    "session-cookie": "the cookie of a live session",
    "authorization-header": "a header that carries a credential",
}


def detect(text: Text) -> Iterator[Match]:
    """Every session cookie and credential header of the text, read as `readings.of_secrets` says; the longer of
    two counts."""
    for rule, start, end in readings.rules_in_all(_matches, text, readings.of_secrets(text)):
        yield Match(rule, Severity.BLOCK, start, end, _MESSAGES[rule], secret=True, mask=mask(text.raw[start:end]))


def __getattr__(name: str) -> dict[str, Examples]:
    if name == "EXAMPLES":
        from gitmem.gate.detectors.secrets.examples import session_examples

        return session_examples()
    raise AttributeError(name)
