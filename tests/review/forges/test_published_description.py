"""Every request of GitHub's adapter against the description GitHub publishes of its API, where that is at hand.

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
    GITMEM_GITHUB_DESCRIPTION=package/generated/api.github.com.json pytest tests/review/forges

GitLab's and Forgejo's adapters are held to what their servers on loopback take (gitlab_server.py, test_forgejo.py),
which is written after their documentation.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gitmem.review.forges.github import Annotation, GitHub, GitHubClient
from gitmem.review.forges.protocol import ForgeError, Pull
from tests.actions.rest import RestServer

DESCRIPTION = os.environ.get("GITMEM_GITHUB_DESCRIPTION", "")


class Description:
    """An OpenAPI 3 document: which requests there are, and what each takes."""

    def __init__(self, path: Path) -> None:
        self.whole = json.loads(path.read_text(encoding="utf-8"))
        self.paths = {
            re.compile(re.sub(r"\{[^}]+\}", "[^/]+", template)): value
            for template, value in sorted(self.whole["paths"].items(), key=lambda row: row[0].count("{"))
        }

    def resolved(self, value: Any) -> Any:
        while isinstance(value, dict) and "$ref" in value:
            found = self.whole
            for part in value["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            value = found
        return value

    def complaints(self, method: str, target: str, body: Any) -> list[str]:
        """What is wrong with one request; nothing for one that is described."""
        from jsonschema import Draft202012Validator

        parts = urlsplit(target)
        for pattern, operations in self.paths.items():
            if pattern.fullmatch(parts.path) and method.lower() in operations:
                operation = operations[method.lower()]
                break
        else:
            return [f"{method} {parts.path} is not described"]
        known = [self.resolved(row) for row in [*operations.get("parameters", []), *operation.get("parameters", [])]]
        questions = {row["name"] for row in known if row["in"] == "query"}
        found = [f"{method} {parts.path} takes no {name}" for name in set(parse_qs(parts.query)) - questions]
        if body is not None:
            schema = self.resolved(operation["requestBody"])["content"]["application/json"]["schema"]
            schema = self.resolved(schema)
            unknown = set(body) - set(schema.get("properties", body))
            found += [f"{method} {parts.path} has no field {name}" for name in unknown]
            checker = Draft202012Validator({**schema, "components": self.whole["components"]})
            found += [f"{method} {parts.path}: {error.message}" for error in checker.iter_errors(body)]
        return found


def asked_of_everything(rest: RestServer) -> None:
    """Call every method once, whatever it answers."""
    here = GitHubClient(GitHub("https://github.com", rest.url, rest.repository), "write", lambda seconds: None)
    calls: dict[str, tuple[Any, ...] | dict[str, Any]] = {
        "pulls": {"head": "topic", "base": "main", "state": "all"},
        "open_or_update": {"head": "topic", "base": "main", "title": "t", "body": "b"},
        "create_pull": {"head": "topic", "base": "main", "title": "t", "body": "b"},
        "edit_pull": {"number": 1, "title": "t", "body": "b"},
        "label": (1, "memory"), "put_comment": (1, "<!-- m -->", "b"), "pull": (1,), "comment": (100,),
        "add_comment": (1, "b"), "edit_comment": (1, 100, "b"), "may_write": ("dana",), "comments": (1,),
        "default_branch": (), "login": (), "react": (100, "+1"), "pull_at": ("team/memory", "topic", "a" * 40),
        "head_at": (Pull(1, "", False, branch="topic", head_repository="team/memory"), "2026-02-05T12:00:00Z"),
        "put_check": {
            "name": "memory scan", "head": "a" * 40, "failed": True, "title": "t", "summary": "s",
            "annotations": [Annotation("MEMORY.md", number, number, "rule", "words", True) for number in range(1, 120)],
        },
        "rules": ("main",), "owners_errors": (),
    }  # fmt: skip
    methods = {name for name in dir(here) if not name.startswith("_")} - {
        "forge",
        "token",
        "words",
        "page",
        "connection",
    }
    assert methods == set(calls), "a method that no call here checks"
    for name, given in calls.items():
        with contextlib.suppress(ForgeError):
            done = getattr(here, name)(**given) if isinstance(given, dict) else getattr(here, name)(*given)
            if name == "comments":
                list(done)


@pytest.mark.skipif(not DESCRIPTION, reason="GITMEM_GITHUB_DESCRIPTION names no OpenAPI document")
def test_every_request_is_one_that_github_describes() -> None:
    rest = RestServer()
    try:
        asked_of_everything(rest)
    finally:
        rest.close()
    described = Description(Path(DESCRIPTION))
    found = [
        text for method, target, body in rest.state.requests for text in described.complaints(method, target, body)
    ]
    assert found == [] and len(rest.state.requests) >= 15


def test_every_method_has_a_call_that_checks_it() -> None:
    rest = RestServer()
    try:
        asked_of_everything(rest)
    finally:
        rest.close()
    assert {method for method, _, _ in rest.state.requests} == {"GET", "POST", "PATCH"}
