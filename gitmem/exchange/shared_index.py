"""Searches a shared index (`git mem server`) over REST, at the one address that the person named.

The token is sent to that address only: never through a redirect, never over plain HTTP except to this machine. No error
message contains it.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gitmem.errors import BadConfig, GitMemError, UsageError
from gitmem.http_request import NoResponse, Response, send
from gitmem.regular_file import read_regular
from gitmem.search.hits import Hit, SourceLine
from gitmem.search.search import Answer

MAX_ANSWER_BYTES = 16 << 20
MAX_REFUSAL_BYTES = 1 << 16  # of a response with an error status
TOKEN = "GITMEM_SERVER_TOKEN"  # the environment variable
TEXT_FIELDS = ("heading", "text", "date", "type", "origin", "trust", "blob", "id", "commit", "state")  # of a hit
COMMIT_FIELDS = ("kind", "subject", "author", "by")  # of a hit that is a commit


def token_of(environ: Mapping[str, str]) -> str:
    """The token in the variable GITMEM_SERVER_TOKEN of `environ`, or in the file that GITMEM_SERVER_TOKEN_FILE names.
    Raises BadConfig if neither is set or the file cannot be read."""
    if value := environ.get(TOKEN):
        return value.strip()
    if file := environ.get(f"{TOKEN}_FILE"):
        try:
            return read_regular(Path(file), 1 << 16).decode().strip()
        except (OSError, ValueError) as error:
            raise BadConfig(f"{TOKEN}_FILE cannot be read ({type(error).__name__})", "") from None
    raise BadConfig(f"{TOKEN} is not set", "git mem server token TENANT NAME makes one")


def search(address: str, token: str, fields: Mapping[str, Any]) -> tuple[Answer, dict[str, Any]]:
    """Send `fields` to `POST /v1/search` of the server at `address`. Returns (the answer, its JSON).

    Raises UsageError if the address is none for a token (`checked`), GitMemError if the server refuses, does not answer
    or answers in another form.
    """
    value = _post(f"{checked(address)}/v1/search", token, fields)
    try:
        hits = tuple(_hit(hit) for hit in list(value["hits"]))
        answered = bool(value.get("answered", hits))  # an older server does not send it
        lanes, stale = tuple(value["lanes"]), bool(value["stale"])
        withheld = int(value.get("withheld", 0))
        query, at = str(value["query"]), str(value["at"])
        notes = tuple(map(str, value.get("notes", ())))
        return Answer(query, at, lanes, stale, hits, notes=notes, answered=answered, withheld=withheld), value
    except (KeyError, TypeError, ValueError, AttributeError):
        raise GitMemError("the server's answer is none of a git mem server", "is the address right?") from None


def checked(address: str) -> str:
    """The address of a server, without a trailing slash, to which a token may be sent. Raises UsageError if it is no
    http(s) address of a host, if it holds a user name, a query or a fragment, and for plain HTTP to another machine."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise UsageError("--server takes an address", "--server https://memory.example.com")
    if parts.scheme == "http" and not _is_here(parts.hostname):
        raise UsageError("a token is not sent over plain HTTP", "use https")
    return address.rstrip("/")


def _is_here(host: str) -> bool:
    """Whether a host name or address is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _hit(value: Any) -> Hit:
    """One hit of an answer. Raises KeyError, TypeError, ValueError or AttributeError if it has another form."""
    is_commit = value.get("kind") == "commit"
    names = (*TEXT_FIELDS, *COMMIT_FIELDS) if is_commit else TEXT_FIELDS
    fields: dict[str, Any] = {name: value.get(name) or "" for name in names}
    repository, path = value["repository"], ""
    if is_commit:
        fields["repository"] = repository
    else:
        path = value["path"]
    trail = value.get("trail") or []
    texts = [*fields.values(), *value["tags"], *trail, repository, path]
    first, last, score = value["start_line"], value["end_line"], value["score"]
    if not all(isinstance(text, str) for text in texts) or not all(type(line) is int for line in (first, last)):
        raise ValueError("no hit")
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise ValueError("no score")
    if not is_commit:
        path = f"{repository}:{path}"
    tags = tuple(value["tags"])
    sources = tuple(_source(repository, row) for row in value.get("sources") or ())
    return Hit(
        path=path, start_line=first, end_line=last, score=float(score), tags=tags, trail=tuple(trail), sources=sources,
        **fields,
    )  # fmt: skip


def _source(repository: str, value: Any) -> SourceLine:
    """The lines that a fact of an answer was promoted from. Raises as `_hit`."""
    path, first, last, text = (value[name] for name in ("path", "start_line", "end_line", "text"))
    if not (isinstance(path, str) and isinstance(text, str) and type(first) is int and type(last) is int):
        raise ValueError("no source")
    return SourceLine(f"{repository}:{path}", first, last, text)


def _post(address: str, token: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Send JSON to an address and return the JSON object of the answer. Raises GitMemError if the server does not
    answer or refuses, or if the answer is no JSON object or above MAX_ANSWER_BYTES."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        response = send(
            "POST",
            address,
            headers,
            json.dumps(fields).encode(),
            limit=MAX_ANSWER_BYTES + 1,
            error_limit=MAX_REFUSAL_BYTES,
            # Plain HTTP is used to this machine only, and without a proxy, which could read the token.
            use_proxy=not address.startswith("http:"),
        )
    except NoResponse as problem:
        raise GitMemError(f"the server does not answer ({problem})", "is the address right?") from None
    if response.status >= 300:
        raise _refusal(response)
    value = None
    if len(response.data) <= MAX_ANSWER_BYTES:
        with suppress(ValueError):
            value = response.json()
    if not isinstance(value, dict):
        raise GitMemError("the server's answer is none of a git mem server", "is the address right?")
    return value


def _refusal(response: Response) -> GitMemError:
    """The error for a response with an error status."""
    try:
        problem = response.json()["error"]
        return GitMemError(f"the server says: {str(problem['message'])[:300]}", str(problem["hint"])[:300])
    except (ValueError, KeyError, TypeError):
        return GitMemError(f"the server refuses with status {response.status}", "is the address right?")
