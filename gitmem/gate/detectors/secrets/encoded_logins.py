"""Logins and secrets in base64 where their label says so: `_auth=`, `BASIC_AUTH=`, `npmAuthIdent`, `data:` of a Secret.

The base64 of `user:password` reads as text, so that the rules about random values pass it; here it is decoded, and a
password of a manual or a placeholder passes.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator

from gitmem.gate.detectors.secrets.candidates import Found
from gitmem.gate.detectors.secrets.decision import is_encoded_login, is_encoded_secret
from gitmem.gate.detectors.secrets.rule_tables import patterns

RULE = "encoded-login"
_HINTS = ("_auth", "basicauth", "basic-auth", "authident", "kind: secret")
_REACH = 2_000  # characters from `kind: Secret` within which its data stands, before or behind


def find(text: str, lowered: str) -> Iterator[Found]:
    """The encoded logins of a text; `lowered`: the text in lower case."""
    if not any([hint in lowered for hint in _HINTS]):
        return
    for match in patterns.login_label.finditer(text):
        value = match["value"]
        if is_encoded_login(value if ":" in value else _decoded(value)):
            yield Found(RULE, *match.span("value"), "a login in base64 or beside its label")
    for kind in patterns.kubernetes_secret.finditer(text):
        for block in patterns.kubernetes_data.finditer(text, max(0, kind.start() - _REACH), kind.end() + _REACH):
            for row in patterns.kubernetes_row.finditer(text, *block.span("rows")):
                if is_encoded_secret(_decoded(row["value"]).strip()):
                    yield Found(RULE, *row.span("value"), "a secret in base64")


def _decoded(value: str) -> str:
    """The text that base64 encodes; "" when it is no base64 of UTF-8."""
    try:
        return b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), altchars=b"-_").decode()
    except ValueError:
        return ""
