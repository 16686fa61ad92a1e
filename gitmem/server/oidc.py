"""People by their organisation's identity provider: tokens of OpenID Connect, verified with PyJWT against its keys, and
what their claims permit.

Closed: a token that is not signed by a key of the provider that is named, for this audience and for now, is none; keys
that cannot be had are no reason to believe one. The configuration names the provider and its keys; a token never does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import jwt

from gitmem.errors import BadConfig, IndexUnusable
from gitmem.server.caller import SCOPES, Unauthorized

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY = 30.0  # seconds by which two clocks may differ
TIMEOUT = 5.0  # seconds for the provider's keys
MAX_TOKEN_CHARACTERS = 16_384  # characters of a token
NEEDED = ["exp", "iat", "iss", "aud", "sub"]


@dataclass(frozen=True, slots=True)
class Grant:
    """Who has `value` in (or as) `claim` may do what `scope` says, with these repositories (none named: all)."""

    claim: str
    value: str
    scope: str
    repositories: tuple[str, ...] = ()

    def holds(self, claims: Mapping[str, Any]) -> bool:
        """Whether the claim has the value, or is a list with the value."""
        claimed = claims.get(self.claim)
        if isinstance(claimed, list):
            return self.value in claimed
        return isinstance(claimed, str) and claimed == self.value


@dataclass(frozen=True, slots=True)
class Provider:
    """An identity provider, of one tenant."""

    issuer: str
    audience: str
    keys: str
    tenant: str
    algorithms: tuple[str, ...]
    grants: tuple[Grant, ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a token names, and what it permits."""

    subject: str
    tenant: str
    grants: tuple[Grant, ...]


class Identities:
    """The tokens of some providers. Safe for several threads."""

    def __init__(self, providers: Sequence[Provider], *, cooldown: float = 30.0, wait: float = 5.0) -> None:
        self._wait = wait  # seconds for which a provider that did not answer is not asked again
        self._away: dict[str, float] = {}
        self._providers = {provider.issuer: provider for provider in providers}
        self._keys = {
            provider.issuer: jwt.PyJWKClient(provider.keys, timeout=TIMEOUT, cooldown_duration=cooldown)
            for provider in providers
        }

    def identity(self, token: str) -> Identity:
        """Whom a token names. Raises Unauthorized, and IndexUnusable where the provider's keys cannot be had."""
        refused = Unauthorized("no token that holds", "send 'Authorization: Bearer TOKEN'")
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise refused
        provider = self._provider_of(token)
        if provider is None:
            raise refused
        if time.monotonic() - self._away.get(provider.issuer, -math.inf) < self._wait:
            raise IndexUnusable("the identity provider does not answer", "try again in a moment")
        try:
            key = self._keys[provider.issuer].get_signing_key_from_jwt(token)
            claims = jwt.decode(
                token, key, algorithms=list(provider.algorithms), audience=provider.audience, issuer=provider.issuer,
                leeway=LEEWAY, options={"require": NEEDED},
            )  # fmt: skip
        except jwt.PyJWKClientConnectionError:
            self._away[provider.issuer] = time.monotonic()
            raise IndexUnusable("the identity provider does not answer", "try again in a moment") from None
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise refused from None
        grants = tuple(grant for grant in provider.grants if grant.holds(claims))
        if not grants or not _is_subject(claims["sub"]):
            raise refused
        return Identity(claims["sub"][:200], provider.tenant, grants)

    def _provider_of(self, token: str) -> Provider | None:
        """The provider that a token names, of those that are configured; nothing of it is believed yet."""
        try:
            return self._providers.get(str(jwt.decode(token, options={"verify_signature": False}).get("iss")))
        except (jwt.PyJWTError, ValueError, RecursionError):
            return None


def _is_subject(value: Any) -> bool:
    """Whether a `sub` names anyone, in text that the audit log can hold."""
    if not isinstance(value, str) or not value.strip():
        return False
    return not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in value)


def providers_of(tables: Any) -> tuple[Provider, ...]:
    """The providers of the configuration's `[[oidc]]`. Raises BadConfig."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BadConfig("'oidc' takes tables", "see docs/server.md")
    made = tuple(_provider(table) for table in tables)
    if len({provider.issuer for provider in made}) < len(made):
        raise BadConfig("an issuer of 'oidc' is named twice", "see docs/server.md")
    return made


def _provider(table: Mapping[str, Any]) -> Provider:
    unknown = sorted(set(table) - {"issuer", "audience", "jwks", "tenant", "algorithms", "grants"})
    if unknown:
        raise BadConfig(f"'{unknown[0]}' is no setting of 'oidc'", "see docs/server.md")
    words = {name: table.get(name) for name in ("issuer", "audience", "jwks", "tenant")}
    for name, value in words.items():
        if not isinstance(value, str) or not value:
            raise BadConfig(f"'oidc' needs '{name}'", "see docs/server.md")
    if not _is_safe(str(words["jwks"])):
        raise BadConfig("'jwks' of 'oidc' takes an https address", "the 'jwks_uri' that the issuer publishes")
    algorithms = table.get("algorithms", ["RS256", "ES256"])
    if not isinstance(algorithms, list) or not algorithms or not set(map(str, algorithms)) <= set(ALGORITHMS):
        raise BadConfig("'algorithms' of 'oidc' takes some of " + ", ".join(ALGORITHMS), "the default is RS256, ES256")
    grants = table.get("grants")
    if not isinstance(grants, list) or not grants:
        raise BadConfig("'oidc' needs 'grants'", "see docs/server.md")
    return Provider(
        str(words["issuer"]), str(words["audience"]), str(words["jwks"]), str(words["tenant"]), tuple(algorithms),
        tuple(_grant(grant) for grant in grants),
    )  # fmt: skip


def _grant(table: Any) -> Grant:
    if not isinstance(table, dict) or set(table) - {"claim", "value", "scope", "repositories"}:
        raise BadConfig("a grant of 'oidc' has claim, value, scope and repositories", "see docs/server.md")
    claim, value, scope = table.get("claim"), table.get("value"), table.get("scope", "read")
    repositories = table.get("repositories", [])
    if not (isinstance(claim, str) and claim and isinstance(value, str) and value and scope in SCOPES):
        raise BadConfig("a grant of 'oidc' needs a claim, a value and one of the scopes", ", ".join(SCOPES))
    named = isinstance(repositories, list) and all(isinstance(name, str) and name for name in repositories)
    if not named or ("repositories" in table and not repositories):
        raise BadConfig("'repositories' of a grant takes names", "leave it out for all of the tenant's")
    return Grant(claim, value, scope, tuple(repositories))


def _is_safe(address: str) -> bool:
    """Whether keys may come from there: over TLS, or from this machine."""
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return True
    try:
        return parts.scheme == "http" and ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
