"""Finds live sessions: cookies, `Authorization` headers, session ids. A copied one is a login until it expires.

Reads the names that frameworks and large sites use for their sessions, and the HTTP headers that carry credentials; a
cookie of any other name passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitmem.gate.detectors import readings
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.secrets.candidates import candidates
from gitmem.gate.detectors.secrets.decision import REASONS, Candidate, Place, is_secret
from gitmem.gate.detectors.secrets.features import is_uuid
from gitmem.gate.detectors.secrets.rule_tables import patterns, word_list
from gitmem.gate.detectors.text import Match, Text, mask
from gitmem.lazy_patterns import lazy

# Lower-case names of session cookies: servers and frameworks, then sites.
_SESSION = word_list("session cookie")
_NAMES = lazy(
    r"(?<![\w.-])(?P<name>"
    + "|".join(re.escape(n) for n in sorted(_SESSION, key=len, reverse=True))
    + r")(?P<op>[\"']?\s{0,2}[=:]\s{0,2}[\"']?)(?P<secret>[0-9A-Za-z._%+/=|~:*-]{12,4096})"
)
_COOKIES_ALONE = ("jsessionid", "phpsessid", "asp.net_sessionid", "connect.sid")  # what nothing but a cookie is named


def _is_numbered(value: str) -> bool:
    """Whether a value is a UUID or another number that programs give to their conversations."""
    return is_uuid(value) or patterns.conversation_number.fullmatch(value) is not None


def _is_cookie(text: str, match: re.Match[str], first: int) -> bool:
    """Whether a name and its value stand in a cookie: by the name, or by what stands before it from `first` on."""
    name, before = text[slice(*match.span("name"))], text[max(first, match.start() - 200) : match.start()]
    if name.lower() in _COOKIES_ALONE or (name == "sessionid" and match["op"] == "="):
        return True
    return "cookie" in before.lower() or patterns.cookie_option.search(before) is not None


def _matches(text: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of session cookies and authorization headers; the same value may come twice."""
    spots = candidates(text)
    for first, last in spots.near:
        if patterns.session_hint.search(spots.low, first, last):
            for match in _NAMES.finditer(spots.low, first, last):
                start, end = match.span("secret")
                if _is_numbered(text[start:end]) and not _is_cookie(text, match, first):
                    continue  # the number of a conversation, in the log of an agent or a server
                if is_secret(Candidate(Place.SESSION, text, start, end)):
                    yield "session-cookie", start, end
        if patterns.header_hint.search(spots.low, first, last):
            yield from _headers(text, first, last)


def _headers(text: str, first: int, last: int) -> Iterator[tuple[str, int, int]]:
    for form in (patterns.credential_header, patterns.bearer_value):
        for match in form.finditer(text, first, last):
            scheme = match.groupdict("").get("scheme", "bearer value").lower()
            if is_secret(Candidate(Place.HEADER, text, *match.span("secret"), scheme)):
                yield "authorization-header", *match.span("secret")


def detect(text: Text) -> Iterator[Match]:
    """Every session cookie and credential header of the text, in the raw text and in the readings of
    `readings.of_secrets` (normalised, strings joined, as a page shows it). Of two that overlap the longer one
    counts."""
    for rule, start, end in readings.rules_in_all(_matches, text, readings.of_secrets(text)):
        yield Match(rule, Severity.BLOCK, start, end, REASONS[rule], secret=True, mask=mask(text.raw[start:end]))
