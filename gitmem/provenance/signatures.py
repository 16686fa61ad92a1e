"""The signatures of commits as Git judges them: parses the output of `git log` with the placeholder %G?."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.json_values import json_keys
from gitmem.plural import counted

UNSIGNED = "unsigned"
STATES = {  # letter that `git log --format=%G?` prints -> words of ours
    "G": "good",
    "U": "good, of a key whose owner nobody vouched for",
    "X": "good, and expired since",
    "Y": "good, by a key that has expired",
    "R": "by a key that was revoked",
    "B": "BAD: the commit is not what was signed",
    "E": "not to be checked here (no such key)",
    "N": UNSIGNED,
}
FORMAT = "%H%x00%G?%x00%GS%x00%GK"


@json_keys("commit state signer? key?")
@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of one commit.

    JSON: `state`: what Git says of the signature. `signer`: null if Git does not know the key.
    """

    commit: str
    state: str  # a value of STATES; a letter that STATES lacks stands for itself
    signer: str  # "" when Git does not know
    key: str


def parse_signatures(text: str) -> tuple[Signature, ...]:
    """The signatures in `text`, the output of `git log --format=FORMAT`."""
    signatures = []
    for line in text.split("\n"):
        oid, _, rest = line.partition("\0")
        state, _, signer_and_key = rest.partition("\0")
        signer, _, key = signer_and_key.partition("\0")
        if oid:
            signatures.append(Signature(oid, STATES.get(state, state), _one_line(signer), _one_line(key)))
    return tuple(signatures)


def signature_summary(signatures: Sequence[Signature]) -> str:
    """One line that counts the signatures by state and signer; "" when no commit is signed."""
    signed = [signature for signature in signatures if signature.state != UNSIGNED]
    if not signed:
        return ""
    rows = []
    counts = Counter((signature.state, signature.signer or signature.key) for signature in signed)
    for (state, signer), count in sorted(counts.items()):
        rows.append(f"{count} {state} ({signer})" if signer else f"{count} {state}")
    if unsigned := len(signatures) - len(signed):
        rows.append(f"{unsigned} unsigned")
    return f"signatures of {counted(len(signatures), 'commit')}: " + "; ".join(rows)


def _one_line(text: str) -> str:
    """The first 200 characters of a name that the owner of a key chose, unprintable ones as spaces."""
    return "".join(c if c.isprintable() else " " for c in text)[:200]
