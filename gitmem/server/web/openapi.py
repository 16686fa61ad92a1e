"""The OpenAPI 3.1 description of the REST addresses, served at `/v1/openapi.json`. A test checks answers against it."""

from __future__ import annotations

from typing import Any

from gitmem import __version__

TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": 100}]}
TEXT, INTEGER, OBJECT = {"type": "string"}, {"type": "integer"}, {"type": "object"}
OBJECTS = {"type": "array", "items": OBJECT}
NULLABLE = {"type": ["string", "null"]}
# Fields of a hit that are left out when empty.
HIT_WORDS = ("kind", "subject", "state", "by", "branch", "author")
HIT_LISTS = ("amended_by", "supersedes", "differs", "sources")


def description() -> dict[str, Any]:
    """The OpenAPI description."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "git mem server", "version": __version__},
        "security": [{"token": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {**_request_bodies(), **_found(), **_answer_bodies()},
        },
    }


def _paths() -> dict[str, Any]:
    return {
        "/v1/search": {
            "post": _operation("search", "Search the repositories you may see.", "Answer", body="Question")
        },
        "/v1/repositories": {
            "get": _operation("repositories", "The repositories you may see.", "Repositories")
        },
        "/v1/lines": {
            "get": _operation(
                "lines", "Lines of a memory file at the tip of a branch or tag.", "Lines",
                parameters=[
                    _parameter("repository", True), _parameter("path", True), _parameter("ref"),
                    _parameter("first", kind="integer"), _parameter("count", kind="integer"),
                ],
            )
        },
        "/v1/context": {
            "post": _operation("context", "A context for a prompt, within a budget.", "Context", body="Prompt")
        },
        "/v1/seen": {
            "post": _operation("seen", "Past incidents like an alert, and what was done.", "Seen", body="Alert")
        },
        "/v1/propose": {
            "post": _operation(
                "propose", "Propose a line of memory as a pull request (scope propose).", "Proposed", body="Proposal"
            )
        },
        "/v1/audit": {
            "get": _operation(
                "audit", "Who asked (scope admin).", "Audit", parameters=[_parameter("limit", kind="integer")]
            )
        },
    }  # fmt: skip


def _request_bodies() -> dict[str, Any]:
    """The bodies of requests."""
    return {
        "Question": _object(
            {
                "query": {"type": "string", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                **dict.fromkeys(("repository", "path", "type", "tag"), TEXTS),
                **{key: {"type": "string"} for key in ("ref", "at", "since", "until", "lane")},
                "explain": {"type": "boolean"}, "all": {"type": "boolean"},
                "history": {"enum": ["", "with", "only"]},
            },
            ["query"],
        ),
        "Prompt": _object(
            {"prompt": {"type": "string"}, "repository": TEXTS, "budget": {"type": "integer", "minimum": 0}}, []
        ),
        "Alert": _object(
            {"alert": {"anyOf": [{"type": "string"}, OBJECT, {"type": "array"}]}, "repository": TEXTS}, ["alert"]
        ),
        "Proposal": _object(
            {
                **{key: {"type": "string"} for key in ("repository", "text", "type", "title", "reason")},
                "to": {"enum": ["auto", "memory", "daily"]}, "tag": TEXTS,
            },
            ["repository", "text"],
        ),
    }  # fmt: skip


def _found() -> dict[str, Any]:
    """The body of a search's answer."""
    return {
        "Answer": _object(
            {
                "query": {"type": "string"}, "at": {"type": "string"}, "stale": {"type": "boolean"},
                "answered": {"type": "boolean"}, "withheld": INTEGER,
                "lanes": {"type": "array", "items": {"type": "string"}},
                "notes": {"type": "array", "items": {"type": "string"}},
                "hits": {"type": "array", "items": {"$ref": "#/components/schemas/Hit"}},
                "settings": {"type": "object"},
            },
            without=("settings",),
        ),
        "Hit": _object(
            {
                "repository": {"type": "string"}, "path": NULLABLE, "commit": {"type": "string"},
                "start_line": {"type": "integer"}, "end_line": {"type": "integer"},
                "heading": TEXT, "trail": {"type": "array", "items": TEXT}, "text": TEXT, "score": {"type": "number"},
                "date": NULLABLE, "type": NULLABLE, "tags": {"type": "array", "items": {"type": "string"}},
                "origin": NULLABLE, "trust": {"type": "string"}, "blob": NULLABLE,
                "id": {"type": "string"},
                **dict.fromkeys(HIT_WORDS, TEXT),
                **dict.fromkeys(HIT_LISTS, OBJECTS),
                "explain": {"type": "object"},
            },
            without=(*HIT_WORDS, *HIT_LISTS, "explain"),
        ),
    }  # fmt: skip


def _answer_bodies() -> dict[str, Any]:
    """The bodies of other answers."""
    return {
        "Repositories": _object(
            {
                "repositories": {
                    "type": "array", "items": _object({"name": {"type": "string"}, "fetched": NULLABLE}),
                }
            }
        ),
        "Lines": _object(
            {
                **{key: {"type": "string"} for key in ("repository", "path", "commit", "text")},
                **{key: {"type": "integer"} for key in ("first", "last", "count")},
            }
        ),
        "Context": _object(
            {
                **dict.fromkeys(("text", "tokenizer", "summary", "hash", "assembled_at"), TEXT),
                **dict.fromkeys(("tokens", "budget", "withheld"), INTEGER),
                **dict.fromkeys(("layers", "keys"), OBJECT),
                **dict.fromkeys(("parts", "dropped", "scopes"), OBJECTS),
                "limits": {"type": "array", "items": {"type": "string"}},
            }
        ),
        "Seen": _object(
            {
                "seen": {"type": "boolean"},
                "incidents": {
                    "type": "array",
                    "items": _object(
                        {
                            **dict.fromkeys(("repository", "title", "path", "alert"), TEXT),
                            **dict.fromkeys(("date", "outcome"), NULLABLE),
                            **dict.fromkeys(("start_line", "end_line"), INTEGER),
                            "evidence": {"type": "number"}, "outcome_line": {"type": ["integer", "null"]},
                            "actions": OBJECTS,
                        }
                    ),
                },
            }
        ),
        "Proposed": _object(
            {
                **{key: {"type": "string"} for key in ("branch", "base", "commit", "url", "path")},
                "number": {"type": "integer"},
            }
        ),
        "Audit": _object(
            {
                "audit": {
                    "type": "array",
                    "items": _object(
                        {
                            **dict.fromkeys(("at", "subject", "action"), TEXT),
                            **dict.fromkeys(("hits", "status"), INTEGER),
                            "token": {"type": ["integer", "null"]},
                            "repositories": {"type": "array", "items": {"type": "integer"}},
                        }
                    ),
                }
            }
        ),
        "Error": _object(
            {"error": _object({key: {"type": "string"} for key in ("code", "message", "hint")})}
        ),
    }  # fmt: skip


def _object(
    properties: dict[str, Any], required: list[str] | None = None, without: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The schema of an object. `required`: its required properties; default: all but those in `without`."""
    if required is None:
        required = [name for name in properties if name not in without]
    return {"type": "object", "properties": properties, "required": required}


def _parameter(name: str, required: bool = False, kind: str = "string") -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": {"type": kind}}


def _content(schema: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _operation(
    name: str, summary: str, answer: str, *, body: str = "", parameters: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    errors = {
        str(status): {"description": what, "content": _content("Error")}
        for status, what in ((400, "bad request"), (401, "no token that holds"), (403, "another scope"),
                             (413, "too large a request"), (429, "too many requests"),
                             (500, "the server could not answer"), (503, "the database does not answer"))
    }  # fmt: skip
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": "the answer", "content": _content(answer)}, **errors},
    }
    if body:
        operation["requestBody"] = {"required": True, "content": _content(body)}
    if parameters:
        operation["parameters"] = parameters
    return operation
