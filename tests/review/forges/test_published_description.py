"""Every request of each adapter against the description that its forge publishes of its API, where that is at hand.

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz    # GitHub's
    GITMEM_GITHUB_DESCRIPTION=package/generated/api.github.com.json
    GITMEM_GITLAB_DESCRIPTION=openapi_v3.yaml                     # doc/api/openapi of GitLab's repository
    GITMEM_FORGEJO_DESCRIPTION=swagger.v1.json                    # of any server, or templates/swagger/v1_json.tmpl
    pytest tests/review/forges

Without them the adapters are held to what our servers on loopback take, which is written after the same descriptions.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from gitmem.review.forges.forge import Client, ForgeError, Pull, Suggestion
from gitmem.review.forges.forgejo import Forgejo, ForgejoClient
from gitmem.review.forges.github import Annotation, GitHub, GitHubClient
from gitmem.review.forges.gitlab import GitLab, GitLabClient
from tests.actions.rest import RestServer
from tests.review.forges.gitlab_server import GitLabServer
from tests.review.forges.test_forgejo import ForgejoServer

Asked = tuple[str, str, Any]  # method, path with its query, body


class Description:
    """An OpenAPI 3 or Swagger 2 document, in JSON or YAML: which requests there are, and what each takes."""

    def __init__(self, path: Path) -> None:
        text = re.sub(r"\{\{[^}]*\}\}", "", path.read_text(encoding="utf-8"))  # of a template
        self.whole = json.loads(text) if text.lstrip().startswith("{") else yaml.load(text, Loader=yaml.CSafeLoader)
        root = self.whole.get("basePath", "")
        self.paths = {
            re.compile(re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(root + template))): value
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
            schema = self.resolved(self.body(operation, known))
            unknown = set(body) - set(schema.get("properties", body))
            found += [f"{method} {parts.path} has no field {name}" for name in unknown]
            parts_of_it = {key: self.whole[key] for key in ("components", "definitions") if key in self.whole}
            checker = Draft202012Validator({**schema, **parts_of_it})
            found += [f"{method} {parts.path}: {error.message}" for error in checker.iter_errors(body)]
        return found

    def body(self, operation: Any, parameters: list[Any]) -> Any:
        """The schema of a request's body: of OpenAPI 3, else of Swagger 2."""
        if "requestBody" in operation:
            return self.resolved(operation["requestBody"])["content"]["application/json"]["schema"]
        return next(row["schema"] for row in parameters if row["in"] == "body")


CALLS: dict[str, tuple[Any, ...] | dict[str, Any]] = {
    "pulls": {"head": "topic", "base": "main", "state": "all"},
    "open_or_update": {"head": "topic", "base": "main", "title": "t", "body": "b"},
    "create_pull": {"head": "topic", "base": "main", "title": "t", "body": "b"},
    "edit_pull": {"number": 1, "title": "t", "body": "b"},
    "label": (1, "memory"), "put_comment": (1, "<!-- m -->", "b"), "pull": (1,),
    "line_comments": (1,), "add_line_comment": (1, "b" * 40, "MEMORY.md", 3, "b"),
    "put_suggestions": (1, "b" * 40, [Suggestion("MEMORY.md", 4, "b")]),
    "add_comment": (1, "b"), "edit_comment": (1, 100, "b"), "may_write": ("dana",), "comments": (1,),
    "default_branch": (), "login": (),
}  # fmt: skip
OF_GITHUB: dict[str, tuple[Any, ...] | dict[str, Any]] = {
    "comment": (100,), "react": (100, "+1"), "pull_at": ("team/memory", "topic", "a" * 40),
    "head_at": (Pull(1, "", False, branch="topic", head_repository="team/memory"), "2026-02-05T12:00:00Z"),
    "put_check": {
        "name": "memory scan", "head": "a" * 40, "failed": True, "title": "t", "summary": "s",
        "annotations": [Annotation("MEMORY.md", number, number, "rule", "words", True) for number in range(1, 120)],
    },
    "rules": ("main",), "owners_errors": (),
}  # fmt: skip
# Of GitHub alone: `git mem action comment`, check runs and `doctor --remote` refuse every other forge. What Forgejo's
# adapter inherits of them is asked of nobody.
VALUES = {
    "login_field",
    "server_connection",
    "forge",
    "token",
    "text",
    "page_size_parameter",
    "max_page_size",
    "connection",
    "whole",
}


def asked_of_everything(client: Client, calls: Mapping[str, tuple[Any, ...] | dict[str, Any]]) -> None:
    """Call every method once, whatever it answers."""
    methods = {name for name in dir(client) if not name.startswith("_")} - VALUES
    assert methods - set(OF_GITHUB) == set(calls) - set(OF_GITHUB), "a method that no call here checks"
    for name, given in calls.items():
        with contextlib.suppress(ForgeError):
            done = getattr(client, name)(**given) if isinstance(given, dict) else getattr(client, name)(*given)
            if isinstance(done, Iterator):
                list(done)


def github() -> list[Asked]:
    """What GitHub's adapter asks."""
    rest = RestServer()
    try:
        forge = GitHub("https://github.com", rest.url, rest.repository)
        asked_of_everything(GitHubClient(forge, "write", lambda seconds: None), CALLS | OF_GITHUB)
    finally:
        rest.close()
    return rest.state.requests


def gitlab() -> list[Asked]:
    """What GitLab's adapter asks."""
    server = GitLabServer()
    try:
        server.merge_request("topic", "main", "x")
        forge = GitLab("https://gitlab.com", f"{server.url}/api/v4", server.project)
        asked_of_everything(GitLabClient(forge, "write", lambda seconds: None), CALLS)
    finally:
        server.close()
    return [row.whole for row in server.requests]


def forgejo() -> list[Asked]:
    """What Forgejo's adapter asks."""
    server = ForgejoServer()
    try:
        server.add("topic")
        forge = Forgejo("https://codeberg.org", f"{server.url}/api/v1", "team/memory")
        asked_of_everything(ForgejoClient(forge, "write", lambda seconds: None), CALLS)
    finally:
        server.close()
    return [row.whole for row in server.requests]


ASKED: dict[str, Callable[[], list[Asked]]] = {"GITHUB": github, "GITLAB": gitlab, "FORGEJO": forgejo}
DESCRIPTIONS = {forge: os.environ.get(f"GITMEM_{forge}_DESCRIPTION", "") for forge in ASKED}  # before it is isolated
VERBS = {
    "GITHUB": {"GET", "POST", "PATCH"}, "GITLAB": {"GET", "POST", "PUT"}, "FORGEJO": {"GET", "POST", "PATCH"},
}  # fmt: skip


@pytest.mark.parametrize("forge", ASKED)
def test_every_request_is_one_that_the_forge_describes(forge: str) -> None:
    if not DESCRIPTIONS[forge]:
        pytest.skip(f"GITMEM_{forge}_DESCRIPTION names no description")
    described = Description(Path(DESCRIPTIONS[forge]))
    requests = ASKED[forge]()
    found = [text for method, target, body in requests for text in described.complaints(method, target, body)]
    assert found == [] and len(requests) >= 12


@pytest.mark.parametrize("forge", ASKED)
def test_every_method_has_a_call_that_checks_it(forge: str) -> None:
    assert {method for method, _, _ in ASKED[forge]()} == VERBS[forge]
