"""The OpenAPI 3.1 description of the REST addresses, served at `/v1/openapi.json`. A test checks answers against it.

The schemas come from the classes of requests and answers; only addresses and sentences are written here.
"""

from __future__ import annotations

from typing import Any

from gitmem import __version__
from gitmem.context.assembly import Context
from gitmem.json_schema import Schema, result_schema
from gitmem.search.search import Answer
from gitmem.server.line_proposals import Proposed
from gitmem.server.operations import Lines
from gitmem.server.web import bodies

ERRORS = {
    400: "bad request", 401: "no token that holds", 403: "another scope", 413: "too large a request",
    429: "too many requests", 500: "the server could not answer", 503: "the database does not answer",
}  # fmt: skip
SCHEMAS = "#/components/schemas/"


def description() -> dict[str, Any]:
    """The OpenAPI description of the REST addresses, as a JSON object."""
    schemas: dict[str, Schema] = {}

    def reference(cls: type) -> Schema:
        """A reference to the schema of an answer, which is added to `schemas`."""
        if cls.__name__ not in schemas:
            schemas[cls.__name__] = {}
            schemas[cls.__name__] = result_schema(cls, reference)
        return {"$ref": SCHEMAS + cls.__name__}

    def operation(name: str, summary: str, answer: type) -> dict[str, Any]:
        errors = {
            str(status): {"description": meaning, "content": _content(reference(bodies.Error))}
            for status, meaning in ERRORS.items()
        }
        good = {"description": "the answer", "content": _content(reference(answer))}
        return {"operationId": name, "summary": summary, "responses": {"200": good, **errors}}

    def asked(name: str, summary: str, answer: type, request: type | None = None) -> dict[str, Any]:
        """An operation by GET: the fields of its request are parameters. `request`: None for an operation without
        parameters."""
        described = operation(name, summary, answer)
        if request is not None:
            described["parameters"] = _parameters(request)
        return {"get": described}

    def sent(name: str, summary: str, answer: type, request: type) -> dict[str, Any]:
        """An operation by POST."""
        schemas[request.__name__] = bodies.REQUESTS[request]
        body = {"required": True, "content": _content({"$ref": SCHEMAS + request.__name__})}
        return {"post": {**operation(name, summary, answer), "requestBody": body}}

    paths = {
        "/v1/search": sent("search", "Search the repositories you may see.", Answer, bodies.Question),
        "/v1/repositories": asked("repositories", "The repositories you may see.", bodies.Repositories),
        "/v1/lines": asked("lines", "Lines of a memory file at the tip of a branch or tag.", Lines, bodies.Place),
        "/v1/context": sent("context", "A context for a prompt, within a budget.", Context, bodies.Prompt),
        "/v1/seen": sent("seen", "Past incidents like an alert, and what was done.", bodies.Seen, bodies.Alert),
        "/v1/propose": sent(
            "propose", "Propose a line of memory as a pull request (scope propose).", Proposed, bodies.Proposal
        ),
        "/v1/audit": asked("audit", "Who asked (scope admin).", bodies.Audit, bodies.Rows),
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "git mem server", "version": __version__},
        "security": [{"token": []}],
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}, "schemas": schemas},
    }


def _content(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _parameters(request: type) -> list[dict[str, Any]]:
    schema = bodies.REQUESTS[request]
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": kind}
        for name, kind in schema["properties"].items()
    ]
