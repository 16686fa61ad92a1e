"""OpenID Connect: verifies the tokens of configured identity providers with PyJWT and maps their claims to grants.

A token is refused unless a key of its configured provider signed it for this audience and it is valid now. If the keys
cannot be fetched, every token of the provider is refused. The address of the keys comes from the configuration, never
from a token.
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
from gitmem.server.postgres.database import is_storable

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY_SECONDS = 30.0  # by which two clocks may differ
TIMEOUT_SECONDS = 5.0  # to fetch a provider's keys
MAX_TOKEN_CHARACTERS = 16_384
REQUIRED_CLAIMS = ["exp", "iat", "iss", "aud", "sub"]


@dataclass(frozen=True, slots=True)
class Grant:
    """A rule: a token whose claim `claim` is or contains `value` gets `scope` for `repositories`, by name; () for all
    of the tenant."""

    claim: str
    value: str
    scope: str
    repositories: tuple[str, ...] = ()

    def holds(self, claims: Mapping[str, Any]) -> bool:
        """Whether the claim is the value or a list that contains it."""
        claimed = claims.get(self.claim)
        if isinstance(claimed, list):
            return self.value in claimed
        return isinstance(claimed, str) and claimed == self.value


@dataclass(frozen=True, slots=True)
class Provider:
    """An identity provider of one tenant. `issuer`: the `iss` of its tokens. `audience`: the `aud` that they must have.
    `keys`: address of its JWKS. `tenant`: the tenant's name. `algorithms`: of valid signatures. `grants`: the rules
    that say what a token may do."""

    issuer: str
    audience: str
    keys: str
    tenant: str
    algorithms: tuple[str, ...]
    grants: tuple[Grant, ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """The person or program of a verified token. `subject`: its `sub`, at most 200 characters. `tenant`: that of the
    provider. `grants`: those that hold for the token's claims, at least one."""

    subject: str
    tenant: str
    grants: tuple[Grant, ...]


class Identities:
    """Verifies the tokens of the given providers. Safe for several threads.

    `cooldown`: minimum seconds between two fetches of a provider's keys. `wait`: seconds without another request to a
    provider that did not answer.
    """

    def __init__(self, providers: Sequence[Provider], *, cooldown: float = 30.0, wait: float = 5.0) -> None:
        self._wait = wait
        self._failed_at: dict[str, float] = {}  # issuer -> time of the last request that was not answered, monotonic
        self._providers = {provider.issuer: provider for provider in providers}
        self._keys = {
            provider.issuer: jwt.PyJWKClient(provider.keys, timeout=TIMEOUT_SECONDS, cooldown_duration=cooldown)
            for provider in providers
        }

    def identity(self, token: str) -> Identity:
        """The identity of a token. Raises Unauthorized for a token that is invalid, longer than MAX_TOKEN_CHARACTERS or
        has no grant, IndexUnusable if the provider's keys cannot be fetched; for some seconds after that the provider
        is not asked again."""
        refused = Unauthorized("no token that holds", "send 'Authorization: Bearer TOKEN'")
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise refused
        provider = self._provider_of(token)
        if provider is None:
            raise refused
        if time.monotonic() - self._failed_at.get(provider.issuer, -math.inf) < self._wait:
            raise IndexUnusable("the identity provider does not answer", "try again in a moment")
        try:
            key = self._keys[provider.issuer].get_signing_key_from_jwt(token)
            claims = jwt.decode(
                token, key, algorithms=list(provider.algorithms), audience=provider.audience, issuer=provider.issuer,
                leeway=LEEWAY_SECONDS, options={"require": REQUIRED_CLAIMS},
            )  # fmt: skip
        except jwt.PyJWKClientConnectionError:
            self._failed_at[provider.issuer] = time.monotonic()
            raise IndexUnusable("the identity provider does not answer", "try again in a moment") from None
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise refused from None
        grants = tuple(grant for grant in provider.grants if grant.holds(claims))
        subject = claims["sub"]
        if not grants or not isinstance(subject, str) or not subject.strip() or not is_storable(subject):
            raise refused
        return Identity(subject[:200], provider.tenant, grants)

    def _provider_of(self, token: str) -> Provider | None:
        """The configured provider whose issuer the token names, None for another. The token is not verified yet."""
        try:
            return self._providers.get(str(jwt.decode(token, options={"verify_signature": False}).get("iss")))
        except (jwt.PyJWTError, ValueError, RecursionError):
            return None


def providers_of(tables: Any) -> tuple[Provider, ...]:
    """The providers of the `[[oidc]]` tables of the configuration. Raises BadConfig for an invalid one."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BadConfig("'oidc' takes tables", "see docs/server.md")
    providers = tuple(_provider(table) for table in tables)
    if len({provider.issuer for provider in providers}) < len(providers):
        raise BadConfig("an issuer of 'oidc' is named twice", "see docs/server.md")
    return providers


def _provider(table: Mapping[str, Any]) -> Provider:
    """The provider of one `[[oidc]]` table. Raises BadConfig for a missing, unknown or invalid setting."""
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
    """The grant of one table in `grants`; the scope is "read" if it names none, and `repositories` is () for all of the
    tenant. Raises BadConfig for an unknown key, a missing claim or value, an unknown scope, and a list of repositories
    that is empty or has no names."""
    if not isinstance(table, dict) or set(table) - {"claim", "value", "scope", "repositories"}:
        raise BadConfig("a grant of 'oidc' has claim, value, scope and repositories", "see docs/server.md")
    claim, value, scope = table.get("claim"), table.get("value"), table.get("scope", "read")
    repositories = table.get("repositories", [])
    if not (isinstance(claim, str) and claim and isinstance(value, str) and value and scope in SCOPES):
        raise BadConfig("a grant of 'oidc' needs a claim, a value and one of the scopes", ", ".join(SCOPES))
    are_names = isinstance(repositories, list) and all(isinstance(name, str) and name for name in repositories)
    if not are_names or ("repositories" in table and not repositories):
        raise BadConfig("'repositories' of a grant takes names", "leave it out for all of the tenant's")
    return Grant(claim, value, scope, tuple(repositories))


def _is_safe(address: str) -> bool:
    """Whether keys may be fetched from an address: over https, or over http from a loopback IP address."""
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return True
    try:
        return parts.scheme == "http" and ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
