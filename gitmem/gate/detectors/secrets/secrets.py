"""Secrets made by machines: tokens, keys, signed URLs, private keys, and random values named as such.

Finds them in prose of any language: a token ends where its characters end, so `토큰은ghp_...를` needs no space.
Says nothing of passwords that people choose (`gate/detectors/secrets/passwords.py`) or of live sessions (`gate/detectors/secrets/cookies.py`), and never asks a
network whether a secret is still good. `secret_lines` is the same for the indexer, without offsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from gitmem.gate.detectors import readings
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.secrets import assignments, encoded_logins, tokens
from gitmem.gate.detectors.secrets.candidates import candidates
from gitmem.gate.detectors.spans import Spans
from gitmem.gate.detectors.text import Match, Text, mask
from gitmem.lazy_patterns import lazy
from gitmem.messages import Message

if TYPE_CHECKING:
    from gitmem.gate.detectors.text import Examples


_PIECES = 6  # of one secret that a source or a terminal has cut
_OF_A_SERVICE = lazy(r"(an?) (.+) (token|key|webhook)")


def _found(text: str, most: int | None = None) -> Iterator[tokens.Found]:
    """What is found in one string, `most` at most, overlapping finds of lesser rules left out."""
    seen = candidates(text)
    taken = Spans()
    found_first = chain(
        tokens.find(text, seen), encoded_logins.find(text, seen.low), assignments.find(text, seen, taken)
    )
    apart = (secret for secret in found_first if taken.claim(secret.start, secret.end))
    finds = list(islice(apart, most))
    for secret in finds:
        for _ in range(_PIECES):
            rest = tokens.continued(text, secret.end)
            if rest is None or not taken.claim(*rest):
                break
            secret = secret._replace(end=rest[1])
        yield secret


def detect(text: Text) -> Iterator[Match]:
    """Every secret of the text: in the raw text and, where they differ, in the normalised one, without seams and as rendered.

    Of two finds that overlap the longer one counts: a character nobody sees must not cut a token in two.
    """
    others = readings.of_secrets(text)
    found = partial(_found, most=text.most)
    for start, end, secret in readings.find_in_all(found, text, others, lambda secret: (secret.start, secret.end)):
        yield _match(text.raw, secret, start, end)


def _match(raw: str, secret: tokens.Found, start: int, end: int) -> Match:
    what = _named(secret.what)
    if secret.certain:
        what = Message("{}, its checksum is right", what)
    return Match(
        secret.rule,
        Severity.BLOCK,
        start,
        end,
        Message("this looks like {}", what),
        secret=True,
        mask=mask(raw[start:end]),
    )


def _named(what: str) -> str:
    """What a secret is: `a Stripe key` as a message whose value is the name of the service."""
    named = _OF_A_SERVICE.fullmatch(what)
    if named:
        return Message(f"{named[1]} {{}} {named[3]}", named[2])
    return what


def secret_lines(text: str) -> set[int]:
    """1-based numbers of the lines that hold (a part of) a secret, a password or a session, for the indexer.

    The same rules as the gate's, on the text as it is and on the normalised one. Plain text costs a few scans.
    """
    from gitmem.gate.detectors.secrets import cookies, passwords

    looked = Text(text)
    spans = [(match.start, match.end) for find in (detect, passwords.detect, cookies.detect) for match in find(looked)]
    lines: set[int] = set()
    for start, end in spans:
        first = text.count("\n", 0, start) + 1
        lines.update(range(first, first + text.count("\n", start, end) + 1))
    return lines


def __getattr__(name: str) -> dict[str, Examples]:
    if name == "EXAMPLES":  # made on request: a commit does not pay for them
        from gitmem.gate.detectors.secrets.examples import secret_examples

        return secret_examples()
    raise AttributeError(name)
