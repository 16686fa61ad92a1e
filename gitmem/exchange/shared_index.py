"""Asking a shared index (`git mem server`) over REST: the question goes to the one address the person named.

The token goes there alone: never through a redirect, never over plain HTTP except to this machine, never into an error.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gitmem.errors import BadConfig, GitMemError, UsageError
from gitmem.http_request import HttpAnswer, NoAnswer, send
from gitmem.regular_file import read_regular
from gitmem.search.hits import Hit, SourceLine
from gitmem.search.search import Answer

LARGEST = 16 << 20  # bytes of an answer
TOKEN = "GITMEM_SERVER_TOKEN"


def token_of(environ: Mapping[str, str]) -> str:
    """The token of the environment, or of the file it names. Raises BadConfig where there is none."""
    if value := environ.get(TOKEN):
        return value.strip()
    if file := environ.get(f"{TOKEN}_FILE"):
        try:
            return read_regular(Path(file), 1 << 16).decode().strip()
        except (OSError, ValueError) as error:
            raise BadConfig(f"{TOKEN}_FILE cannot be read ({type(error).__name__})", "") from None
    raise BadConfig(f"{TOKEN} is not set", "git mem server token TENANT NAME makes one")


def search(address: str, token: str, asked: Mapping[str, Any]) -> tuple[Answer, dict[str, Any]]:
    """The answer of the server at `address` to the fields of `POST /v1/search`: as a value, and its JSON as it came.

    Raises UsageError for an address a token may not be sent to, GitMemError for a server that refuses or is not there.
    """
    value = _post(f"{checked(address)}/v1/search", token, asked)
    try:
        hits = tuple(_hit(hit) for hit in list(value["hits"]))
        answered = bool(value.get("answered", hits))  # an older server does not say
        lanes, stale = tuple(value["lanes"]), bool(value["stale"])
        withheld = int(value.get("withheld", 0))
        query, at = str(value["query"]), str(value["at"])
        notes = tuple(map(str, value.get("notes", ())))
        return Answer(query, at, lanes, stale, hits, notes=notes, answered=answered, withheld=withheld), value
    except (KeyError, TypeError, ValueError, AttributeError):
        raise GitMemError("the server's answer is none of a git mem server", "is the address right?") from None


def checked(address: str) -> str:
    """An address a token may be sent to, without a trailing slash. Raises UsageError."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise UsageError("--server takes an address", "--server https://memory.example.com")
    if parts.scheme == "http" and not _is_here(parts.hostname):
        raise UsageError("a token is not sent over plain HTTP", "use https")
    return address.rstrip("/")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


WORDS = ("heading", "text", "date", "type", "origin", "trust", "blob", "id", "commit", "state")
OF_COMMITS = ("kind", "subject", "author", "by")


def _hit(value: Any) -> Hit:
    """A hit of an answer. Raises KeyError, TypeError or ValueError for one of another form: a server is foreign."""
    commit = isinstance(value, dict) and value.get("kind") == "commit"
    names = (*WORDS, *OF_COMMITS) if commit else WORDS
    words: dict[str, Any] = {}
    if isinstance(value, dict):
        words = {name: value.get(name) or "" for name in names}
    trail = value.get("trail") or []
    texts = [*words.values(), *value["tags"], *trail, value["repository"], "" if commit else value["path"]]
    first, last, score = value["start_line"], value["end_line"], value["score"]
    if not all(isinstance(text, str) for text in texts) or not all(type(line) is int for line in (first, last)):
        raise ValueError("no hit")
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise ValueError("no score")
    if commit:
        words["repository"] = value["repository"]
    if commit:
        path = ""
    else:
        path = f"{value['repository']}:{value['path']}"
    tags = tuple(value["tags"])
    sources = tuple(_source(value["repository"], one) for one in value.get("sources") or ())
    return Hit(
        path=path, start_line=first, end_line=last, score=float(score), tags=tags, trail=tuple(trail), sources=sources,
        **words,
    )  # fmt: skip


def _source(repository: str, value: Any) -> SourceLine:
    """The lines that a fact of an answer was promoted from. Raises as `_hit`."""
    path, first, last, text = (value[name] for name in ("path", "start_line", "end_line", "text"))
    if not (isinstance(path, str) and isinstance(text, str) and type(first) is int and type(last) is int):
        raise ValueError("no source")
    return SourceLine(f"{repository}:{path}", first, last, text)


def _post(address: str, token: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    # Over plain HTTP only this machine is asked: a proxy would read the token.
    proxy = not address.startswith("http:")
    try:
        answer = send("POST", address, headers, json.dumps(asked).encode(), limit=LARGEST + 1, proxy=proxy)
    except NoAnswer as problem:
        raise GitMemError(f"the server does not answer ({problem})", "is the address right?") from None
    if answer.status >= 300:
        raise _refusal(answer)
    try:
        value = None
        if len(answer.data) <= LARGEST:
            value = answer.value()
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise GitMemError("the server's answer is none of a git mem server", "is the address right?")
    return value


def _refusal(answer: HttpAnswer) -> GitMemError:
    try:
        problem = answer.value()["error"]
        return GitMemError(f"the server says: {str(problem['message'])[:300]}", str(problem["hint"])[:300])
    except (ValueError, KeyError, TypeError):
        return GitMemError(f"the server refuses with status {answer.status}", "is the address right?")
