"""Logins and secrets in base64 where their label says so: `_auth=`, `BASIC_AUTH=`, `npmAuthIdent`, `data:` of a Secret.

The base64 of `user:password` reads as text, so that the rules about random values pass it; here it is decoded, and a
password of a manual or a placeholder passes.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Iterator

from gitmem.gate.detectors.secrets.placeholders import is_placeholder, is_words
from gitmem.gate.detectors.secrets.rule_tables import patterns
from gitmem.gate.detectors.secrets.tokens import Found

RULE = "encoded-login"
_HINTS = ("_auth", "basicauth", "basic-auth", "authident", "kind: secret")
_REACH = 2_000  # characters from `kind: Secret` within which its data stands, before or behind


def find(text: str, low: str) -> Iterator[Found]:
    """The encoded logins of a text; `low`: the text in lower case."""
    if not any([hint in low for hint in _HINTS]):
        return
    for match in patterns.login_label.finditer(text):
        value = match["value"]
        if _is_login(value if ":" in value else _decoded(value)):
            yield Found(RULE, "a login in base64 or beside its label", *match.span("value"))
    for kind in patterns.kubernetes_secret.finditer(text):
        for block in patterns.kubernetes_data.finditer(text, max(0, kind.start() - _REACH), kind.end() + _REACH):
            for row in patterns.kubernetes_row.finditer(text, *block.span("rows")):
                plain = _decoded(row["value"]).strip()
                if len(plain) >= 6 and plain.isprintable() and not is_placeholder(plain) and not is_words(plain):
                    yield Found(RULE, "a secret in base64", *row.span("value"))


def _decoded(value: str) -> str:
    """The text that base64 encodes; "" when it is no base64 of UTF-8."""
    try:
        return b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), altchars=b"-_").decode()
    except (Error, ValueError):
        return ""


def _is_login(plain: str) -> bool:
    """Whether a text is `user:password` with a password that is not a placeholder."""
    user, colon, password = plain.partition(":")
    sure = bool(colon) and bool(user) and len(password) >= 6 and plain.isprintable() and " " not in plain
    return sure and not is_placeholder(password) and not password.startswith("//")
