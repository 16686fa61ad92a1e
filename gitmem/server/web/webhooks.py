"""Reads the webhooks of forges: checks the signature of a push and finds the addresses of its repository.

GitHub (`X-Hub-Signature-256`), Forgejo and Gitea (`X-Forgejo-Signature`, `X-Gitea-Signature`) send an HMAC-SHA-256 of
the body in hexadecimal, GitLab (`X-Gitlab-Token`) the secret itself. Only the addresses of the body are used; an
administrator decides what is fetched, and from where.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, NamedTuple

from gitmem.json_values import parse_json_object

MAX_DELIVERY_BYTES = 5 << 20
ADDRESSES = ("clone_url", "ssh_url", "html_url", "git_url", "git_http_url", "git_ssh_url", "web_url", "url")


class Delivery(NamedTuple):
    """A push with a valid signature. `forge`: "github", "gitlab" or "forgejo". `ids`: each identifies the delivery; ()
    if GitLab sent none, so that a repeated delivery cannot be recognised. `addresses`: of the repository."""

    forge: str
    ids: tuple[str, ...]
    addresses: tuple[str, ...]


def signed(headers: Mapping[str, str], body: bytes, secret: str) -> str:
    """The forge whose signature of the delivery is valid: "github", "gitlab" (which sends the secret itself) or
    "forgejo"; "" if none is. `secret`: not empty, because anybody can sign with an empty one."""
    digest = hmac.digest(secret.encode(), body, "sha256").hex()
    for forge, header, expected in (
        ("github", "x-hub-signature-256", f"sha256={digest}"),
        ("forgejo", "x-forgejo-signature", digest),
        ("forgejo", "x-gitea-signature", digest),
        ("gitlab", "x-gitlab-token", secret),
    ):
        sent = headers.get(header, "")
        if sent and hmac.compare_digest(sent.encode("utf-8", "replace"), expected.encode()):
            return forge
    return ""


def delivery(headers: Mapping[str, str], body: bytes, secret: str) -> Delivery | None:
    """The push of a delivery; None without a valid signature. Raises ValueError for a body of another form."""
    forge = signed(headers, body, secret)
    if not forge:
        return None
    ids = {"github": "x-github-delivery", "gitlab": "idempotency-key", "forgejo": "x-forgejo-delivery"}
    forgejo_or_gitlab_id = headers.get("x-gitea-delivery") or headers.get("x-gitlab-event-uuid", "")
    number = headers.get(ids[forge]) or forgejo_or_gitlab_id
    value = parse_json_object(body)
    addresses: dict[str, None] = {}
    for part in ("repository", "project"):
        table: Any = value.get(part)
        if isinstance(table, dict):
            addresses.update({table[name]: None for name in ADDRESSES if _is_text(table.get(name))})
    return Delivery(forge, tuple(filter(None, (number[:200], _signed_id(forge, body)))), tuple(addresses))


def _signed_id(forge: str, body: bytes) -> str:
    """An id made of the body, because the number of a delivery is not signed: a replay could have another one.

    "" for GitLab, which signs nothing and where two pushes may have the same body.
    """
    if forge == "gitlab":
        return ""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def _is_text(value: Any) -> bool:
    """Whether a value is a text of printable characters, without NUL."""
    return isinstance(value, str) and "\0" not in value and value.isprintable()
