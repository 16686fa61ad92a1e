"""The caller of an operation and its permissions: scopes, each for certain repositories."""

from __future__ import annotations

from dataclasses import dataclass

from gitmem.errors import GitMemError

SCOPES = ("read", "propose", "admin")  # each includes the ones before it


class Unauthorized(GitMemError):
    """The request has no valid token."""


class Forbidden(GitMemError):
    """The token does not have the needed scope."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller. `token`: number of its token, 0 for a person of an identity provider. `tenant`: number
    of its tenant. `name`: the name of the token, or `subject`. `grants`: (scope, numbers of the repositories or None
    for all of the tenant). `subject`: the person at the identity provider, "" for a token."""

    token: int
    tenant: int
    name: str
    grants: tuple[tuple[str, tuple[int, ...] | None], ...]
    subject: str = ""

    def repositories(self, scope: str = "read") -> list[int] | None:
        """The numbers of the repositories for which the caller has the scope, None for all of the tenant. Raises
        Forbidden if the caller does not have the scope."""
        granted = [numbers for name, numbers in self.grants if SCOPES.index(name) >= SCOPES.index(scope)]
        if not granted:
            raise Forbidden(f"that takes the scope {scope}", f"git mem server token TENANT NAME --scope {scope}")
        if None in granted:
            return None
        return sorted({number for numbers in granted for number in numbers or ()})
