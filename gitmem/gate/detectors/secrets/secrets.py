"""Finds secrets made by machines: tokens, keys, signed URLs, private keys, and random values with a name that says
so.

Works in prose of any language: a token ends where its characters end, so `토큰은ghp_...를` needs no space. Passwords that
people choose are for `passwords.py`, live sessions for `cookies.py`. No network is asked whether a secret is still
valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain, islice

from gitmem.gate.detectors import readings
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.secrets import assignments, encoded_logins, tokens
from gitmem.gate.detectors.secrets.candidates import Found, candidates
from gitmem.gate.detectors.secrets.decision import REASONS
from gitmem.gate.detectors.secrets.rule_tables import patterns
from gitmem.gate.detectors.spans import Spans
from gitmem.gate.detectors.text import Match, Text, mask
from gitmem.messages import Message

_PIECES = 6  # further pieces of one secret that a program or a terminal has cut


def _found(text: str, most: int | None = None) -> Iterator[Found]:
    """The secrets in one string, at most `most` of them. Of two that overlap the one of the rule that runs first
    counts."""
    spots = candidates(text)
    claimed = Spans()
    all_finds = chain(
        tokens.find(text, spots), encoded_logins.find(text, spots.low), assignments.find(text, spots, claimed)
    )
    distinct = (secret for secret in all_finds if claimed.claim(secret.start, secret.end))
    finds = list(islice(distinct, most))
    for secret in finds:
        for _ in range(_PIECES):
            continuation = tokens.continued(text, secret.end)
            if continuation is None or not claimed.claim(*continuation):
                break
            secret = secret._replace(end=continuation[1])
        yield secret


def detect(text: Text) -> Iterator[Match]:
    """Every secret of a text: in the raw text, and in the readings of `readings.of_secrets` where they differ from
    it.

    Of two finds that overlap the longer one counts, so that an invisible character cannot cut a token in two.
    """
    others = readings.of_secrets(text)
    find = partial(_found, most=text.most)
    for start, end, secret in readings.find_in_all(find, text, others, lambda secret: (secret.start, secret.end)):
        yield _match(text.raw, secret, start, end)


def _match(raw: str, secret: Found, start: int, end: int) -> Match:
    """The blocking match of a secret at `raw[start:end]`, with its words and its mask."""
    name = _named(secret.what or REASONS[secret.rule])
    if secret.certain:
        name = Message("{}, its checksum is right", name)
    return Match(
        secret.rule,
        Severity.BLOCK,
        start,
        end,
        Message("this looks like {}", name),
        secret=True,
        mask=mask(raw[start:end]),
    )


def _named(name: str) -> str:
    """The name of a secret; `a Stripe key` becomes a message with the service as its value, which catalogs can
    translate."""
    match = patterns.of_a_service.fullmatch(name)
    if match:
        return Message(f"{match[1]} {{}} {match[3]}", match[2])
    return name


def secret_lines(text: str) -> set[int]:
    """The line numbers, from 1, that hold a secret, a password or a session, or a part of one, by the rules of the
    gate. Plain text costs a few scans."""
    from gitmem.gate.detectors.secrets import cookies, passwords

    subject = Text(text)
    spans = [(match.start, match.end) for find in (detect, passwords.detect, cookies.detect) for match in find(subject)]
    lines: set[int] = set()
    for start, end in spans:
        first = text.count("\n", 0, start) + 1
        lines.update(range(first, first + text.count("\n", start, end) + 1))
    return lines
