"""Pushes as forges tell of them: whose signature holds, which repository it is, and once only.

GitHub (`X-Hub-Signature-256`), Forgejo and Gitea (`X-Forgejo-Signature`, `X-Gitea-Signature`): HMAC-SHA-256 of the
body, in hexadecimal. GitLab (`X-Gitlab-Token`): the secret itself. Of the body only the addresses are used; what is
fetched, and from where, is what an administrator set.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

LARGEST = 5 << 20  # bytes of a delivery
ADDRESSES = ("clone_url", "ssh_url", "html_url", "git_url", "git_http_url", "git_ssh_url", "web_url", "url")


class Delivery(NamedTuple):
    """A push that holds: `ids` name the delivery, each of them alone, `addresses` the repository."""

    forge: str
    ids: tuple[str, ...]
    addresses: tuple[str, ...]


def signed(headers: Mapping[str, str], body: bytes, secret: str) -> str:
    """Which forge signed a delivery ("github", "gitlab", "forgejo"), "" where no signature holds."""
    digest = hmac.digest(secret.encode(), body, "sha256").hex()
    for forge, header, expected in (
        ("github", "x-hub-signature-256", f"sha256={digest}"),
        ("forgejo", "x-forgejo-signature", digest),
        ("forgejo", "x-gitea-signature", digest),
        ("gitlab", "x-gitlab-token", secret),
    ):
        given = headers.get(header, "")
        if given and hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode()):
            return forge
    return ""


def delivery(headers: Mapping[str, str], body: bytes, secret: str) -> Delivery | None:
    """The push of a delivery; None where no signature holds or it is no push. Raises ValueError for a body that is not
    what the forge sends."""
    forge = signed(headers, body, secret)
    if not forge:
        return None
    ids = {"github": "x-github-delivery", "gitlab": "idempotency-key", "forgejo": "x-forgejo-delivery"}
    other = headers.get("x-gitea-delivery") or headers.get("x-gitlab-event-uuid", "")
    number = headers.get(ids[forge]) or other
    try:
        value = json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("no object")
    addresses: dict[str, None] = {}
    for part in ("repository", "project"):
        table: Any = value.get(part)
        if isinstance(table, dict):
            addresses.update({table[name]: None for name in ADDRESSES if _is_text(table.get(name))})
    return Delivery(forge, tuple(filter(None, (number[:200], _signed_id(forge, body)))), tuple(addresses))


def _signed_id(forge: str, body: bytes) -> str:
    """What names a delivery where its number is not signed: who sends it again may give it another. Two pushes have the
    same body at GitLab alone, where nothing is signed but the secret is sent along."""
    if forge == "gitlab":
        return ""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def _is_text(value: Any) -> bool:
    """Whether a value is a text that the database can compare with."""
    return isinstance(value, str) and "\0" not in value and value.isprintable()
