"""What Git says of the signatures of commits: the judgement of `git verify-commit`, asked for by `git log`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.plural import counted

UNSIGNED = "unsigned"
STATES = {  # of `git log --format=%G?`
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


@dataclass(frozen=True, slots=True)
class Signature:
    """What Git says of a commit's signature: a value of STATES, who signed ("" where Git does not know), the key."""

    commit: str
    state: str
    signer: str
    key: str

    def as_value(self) -> dict[str, object]:
        """The JSON of docs/json.md, "verify"."""
        return {"commit": self.commit, "state": self.state, "signer": self.signer or None, "key": self.key or None}


def parse_signatures(text: str) -> tuple[Signature, ...]:
    """The lines of `git log --format=FORMAT`. A state that Git invents later is told as it is written."""
    signatures = []
    for line in text.split("\n"):
        oid, _, rest = line.partition("\0")
        state, _, named = rest.partition("\0")
        signer, _, key = named.partition("\0")
        if oid:
            signatures.append(Signature(oid, STATES.get(state, state), _flat(signer), _flat(key)))
    return tuple(signatures)


def summary(signatures: Sequence[Signature]) -> str:
    """One line about the signatures of commits, by what Git says and who signed; "" where none is signed."""
    signed = [one for one in signatures if one.state != UNSIGNED]
    if not signed:
        return ""
    counts = Counter((one.state, one.signer or one.key) for one in signed)
    rows = [f"{count} {state}" + (f" ({who})" if who else "") for (state, who), count in sorted(counts.items())]
    rest = len(signatures) - len(signed)
    return (
        f"signatures of {counted(len(signatures), 'commit')}: "
        + "; ".join(rows)
        + (f"; {rest} unsigned" if rest else "")
    )


def _flat(text: str) -> str:
    """A name out of a key, which its owner chose, as one line."""
    return "".join(c if c.isprintable() else " " for c in text)[:200]
