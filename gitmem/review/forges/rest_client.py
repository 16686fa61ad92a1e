"""The part of a forge's client that is the same for every REST API: its connections, default branch and user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from gitmem.review.forges.forge import Client, Forge, ForgeError
from gitmem.review.forges.response import object_of
from gitmem.review.forges.rest import Connection, ForgeText


class RestClient(Client):
    """A client that sends requests to a forge's REST API.

    `text`: the words of its errors. `login_field`: the field of the response to `/user` with the user name.
    `connection`: to the API of the repository. `server_connection`: to the API of the whole server.
    """

    text: ClassVar[ForgeText]
    login_field: ClassVar[str]
    page_size_parameter: ClassVar[str] = "per_page"
    max_page_size: ClassVar[int] = 100

    def __init__(self, forge: Forge, token: str, wait: Callable[[float], None], root: str) -> None:
        """`wait`: sleeps for a number of seconds. `root`: the URL of the repository's API."""
        super().__init__(forge, token)
        self.connection = Connection(
            self.text, root, self._headers(token), wait, self.page_size_parameter, self.max_page_size
        )
        self.server_connection = replace(self.connection, root=forge.api)

    def _headers(self, token: str) -> Mapping[str, str]:
        """The headers of each request."""
        return {"Accept": "application/json", "Authorization": f"Bearer {token}"}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.forge!r})"

    def default_branch(self) -> str:
        name = object_of(self.connection.call("GET", ""), self.text.name).get("default_branch")
        if not isinstance(name, str) or not name:
            raise ForgeError(f"{self.text.name}'s answer names no default branch")
        return name

    def login(self) -> str:
        try:
            user = object_of(self.server_connection.call("GET", "/user"), self.text.name)
        except ForgeError as error:
            if error.status in (401, 403, 404):
                return ""
            raise
        return str(user.get(self.login_field, ""))

    def _object_if_found(self, path: str) -> dict[str, Any] | None:
        """The JSON object at `path` below the repository; None for status 404."""
        try:
            return object_of(self.connection.call("GET", path), self.text.name)
        except ForgeError as error:
            if error.status == 404:
                return None
            raise
