"""Who asks, and what they may: scopes, each with the repositories it is for."""

from __future__ import annotations

from dataclasses import dataclass

from gitmem.errors import GitMemError

SCOPES = ("read", "propose", "admin")  # each contains those before it


class Unauthorized(GitMemError):
    """No token, or none that holds."""


class Forbidden(GitMemError):
    """A token of another scope."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `grants` are (scope, numbers of the repositories, None for all of the tenant's); `token` is 0 for a
    person whom an identity provider vouches for, `subject` who that is."""

    token: int
    tenant: int
    name: str
    grants: tuple[tuple[str, tuple[int, ...] | None], ...]
    subject: str = ""

    def repositories(self, scope: str = "read") -> list[int] | None:
        """The repositories for which the caller has a scope, None for all. Raises Forbidden where there is none."""
        given = [numbers for own, numbers in self.grants if SCOPES.index(own) >= SCOPES.index(scope)]
        if not given:
            raise Forbidden(f"that takes the scope {scope}", f"git mem server token TENANT NAME --scope {scope}")
        if None in given:
            return None
        return sorted({number for numbers in given for number in numbers or ()})
