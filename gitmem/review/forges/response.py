"""Reads a forge's HTTP responses: their JSON, the fields of it that an adapter needs, and the reason of a refusal.

Responses are untrusted: a field of another type than expected is an error or absent, never passed on.
"""

from __future__ import annotations

from typing import Any

from gitmem.http_request import Response
from gitmem.review.forges.forge import ForgeError

MAX_REASON_CHARS = 300  # of a forge's own words in an error
MAX_MEMBERS = 5  # members of one list or object in an error whose texts are read


def reason(response: Response) -> str:
    """The forge's own words in a refusal, cut to MAX_REASON_CHARS; a sentence of ours for a web page; "" when there are
    none.

    Known shapes: `message` as text, list or object of lists (GitLab); `errors` as texts or as objects with `message` or
    with `resource`, `field` and `code` (GitHub); `error` with `error_description` (OAuth).
    """
    try:
        value = response.json()
    except ValueError:
        if not response.is_web_page:
            return ""
        return "it answered with a web page"
    if not isinstance(value, dict):
        return ""
    parts = [text for key in ("message", "errors", "error", "error_description") for text in _texts(value.get(key))]
    text = "; ".join(dict.fromkeys(filter(None, parts)))
    return "".join(c if c.isprintable() else " " for c in text)[:MAX_REASON_CHARS]


def _texts(value: Any) -> list[str]:
    """The texts in one field of an error, with at most MAX_MEMBERS members of a list or object."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for row in value[:MAX_MEMBERS] for text in _texts(row)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("message"), str) and value["message"]:
        return [value["message"]]
    if isinstance(value.get("code"), str):
        names = ".".join(value[key] for key in ("resource", "field") if isinstance(value.get(key), str))
        return [": ".join(filter(None, (names, value["code"])))]
    return [f"{key}: {text}" for key, member in list(value.items())[:MAX_MEMBERS] for text in _texts(member)]


def number_of(value: Any, key: str, forge: str) -> int:
    """The integer under a key of a response's JSON. `forge`: the forge's name. Raises ForgeError when there is none."""
    number = object_of(value, forge).get(key)
    if not isinstance(number, int) or isinstance(number, bool):
        raise ForgeError(f"{forge}'s answer has no '{key}'")
    return number


def object_of(value: Any, forge: str) -> dict[str, Any]:
    """A response's JSON as an object. `forge`: the forge's name. Raises ForgeError when it is none."""
    if not isinstance(value, dict):
        raise ForgeError(f"{forge}'s answer is no object")
    return value


def member_object(value: Any, key: str) -> dict[str, Any]:
    """The object under a key of a response's JSON; {} when there is none (a deleted user or fork)."""
    if isinstance(value, dict) and isinstance(value.get(key), dict):
        return dict(value[key])
    return {}
