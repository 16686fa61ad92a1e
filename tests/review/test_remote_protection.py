"""`git mem doctor --remote` reads back what GitHub keeps: rulesets and CODEOWNERS, as the examples give them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from gitmem.git.opening import open_repository
from gitmem.review.forges.github import GitHub, GitHubClient
from gitmem.review.remote_protection import OWNED, examine, owners_of
from tests.actions.rest import RestServer
from tests.harness import SOURCE, Repo

RULES: list[dict[str, Any]] = json.loads((SOURCE / "examples/github/ruleset.json").read_text(encoding="utf-8"))["rules"]
OWNERS = (SOURCE / "examples/github/CODEOWNERS").read_text(encoding="utf-8")


@pytest.fixture
def rest() -> Iterator[RestServer]:
    server = RestServer()
    yield server
    server.close()


def wrong(repo: Repo, rest: RestServer) -> dict[str, str]:
    """What is wrong by the name of its check; what is right has nothing to type next."""
    client = GitHubClient(GitHub("https://github.com", rest.url, rest.repository), "read", lambda seconds: None)
    checks = examine(open_repository(repo.path, os.environ), client, repo.git("rev-parse", "HEAD").strip())
    assert all(bool(check.hint) is bool(check.wrong) for check in checks)
    return {check.name: check.wrong for check in checks}


def test_the_recipe_is_read_back_as_kept(repo: Repo, rest: RestServer) -> None:
    repo.commit("owners", {".github/CODEOWNERS": OWNERS})
    rest.state.rules = RULES
    assert set(wrong(repo, rest).values()) == {""}


def test_a_repository_without_rules_is_told_each_that_is_missing(repo: Repo, rest: RestServer) -> None:
    repo.commit("start", {"MEMORY.md": "- a\n"})
    found = wrong(repo, rest)
    assert len(found) == 4 and all(found.values()) and "no check is required" in found["required checks"]


@pytest.mark.parametrize("kind", ["non_fast_forward", "pull_request", "required_status_checks"])
def test_each_rule_counts(repo: Repo, rest: RestServer, kind: str) -> None:
    repo.commit("owners", {"CODEOWNERS": OWNERS})
    rest.state.rules = [rule for rule in RULES if rule["type"] != kind]
    assert len([words for words in wrong(repo, rest).values() if words]) == 1


def test_an_owner_that_github_does_not_know_is_told(repo: Repo, rest: RestServer) -> None:
    repo.commit("owners", {"CODEOWNERS": OWNERS})
    rest.state.rules, rest.state.owners_errors = RULES, [{"line": 2, "kind": "Unknown owner", "path": "CODEOWNERS"}]
    assert wrong(repo, rest)["CODEOWNERS"] == "line 2: Unknown owner"


def test_the_last_line_that_matches_says_who_owns_a_file() -> None:
    assert all(owners_of("* @a\n", path) == ["@a"] for path in OWNED)
    assert owners_of("* @a\n/MEMORY.md # nobody\n", "MEMORY.md") == [] and owners_of("docs/ @a\n", "MEMORY.md") == []
    assert owners_of("/.gitmem* @b @c # both\n", ".gitmem.toml") == ["@b", "@c"] and owners_of("", "SOUL.md") == []
