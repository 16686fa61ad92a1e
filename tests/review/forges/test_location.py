"""A token goes to the host that the environment or the user named, never to one read from a clone."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.review.forges.forge import push_environment
from gitmem.review.forges.github import GitHub, GitHubClient
from gitmem.review.forges.location import forge_of, may_be_at, token_of
from tests.harness import SOURCE

CORP = "https://git.corp.example"


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/team/memory.git", "git@evil.example:team/memory.git", "https://gitlab.com/team/memory",
        "https://github.com.evil.example/team/memory", "https://github.com@evil.example/team/memory",
        "ssh://git@evil.example:22/team/memory", "https://evil.example/https://github.com/team/memory",
    ],
)  # fmt: skip
def test_a_clone_names_no_host_that_gets_the_token(url: str) -> None:
    for environ in (
        {},
        {"GITHUB_API_URL": f"{CORP}/api/v3"},
        {"GITHUB_SERVER_URL": CORP},
        {"GH_HOST": "git.corp.example"},
    ):
        found = forge_of(url, environ)
        assert not isinstance(found, GitHub), environ


def test_the_address_of_the_api_tells_the_server_and_the_other_way_round() -> None:
    here = "git@git.corp.example:team/memory.git"
    whole = GitHub(CORP, f"{CORP}/api/v3", "team/memory")
    assert forge_of(here, {"GITHUB_API_URL": f"{CORP}/api/v3/"}) == whole
    assert forge_of(here, {"GITHUB_SERVER_URL": CORP}) == whole == forge_of(here, {"GH_HOST": "git.corp.example"})
    cloud = GitHub("https://octo.ghe.com", "https://api.octo.ghe.com", "team/memory")
    for environ in ({"GITHUB_API_URL": cloud.api}, {"GITHUB_SERVER_URL": cloud.server}):
        assert forge_of("https://octo.ghe.com/team/memory", environ) == cloud


def test_a_token_for_another_server_does_not_go_to_github() -> None:
    assert forge_of("https://github.com/team/memory", {"GITHUB_API_URL": f"{CORP}/api/v3"}) is None


def test_git_is_told_the_token_for_the_named_server_alone() -> None:
    forge = forge_of(
        "https://evil.example/team/memory",
        {"GITHUB_API_URL": "https://api.github.com", "GITHUB_REPOSITORY": "team/memory"},
    )
    assert isinstance(forge, GitHub)
    env = push_environment(GitHubClient(forge, "t", lambda seconds: None), {})
    assert env["GIT_CONFIG_KEY_0"] == "http.https://github.com/.extraheader"


def test_the_environments_token_wins_and_gh_is_asked_for_the_host_of_the_forge() -> None:
    forge = GitHub(CORP, f"{CORP}/api/v3", "team/memory")
    asked: list[str] = []

    def ask(host: str) -> str:
        asked.append(host)
        return "of-gh"

    assert token_of(forge, {"GITHUB_TOKEN": "a", "GH_TOKEN": "b"}, ask) == "a"
    assert token_of(forge, {"GITHUB_TOKEN": "", "GH_TOKEN": "b"}, ask) == "b" and asked == []
    assert token_of(forge, {}, ask) == "of-gh" and asked == ["git.corp.example"]
    assert token_of(forge, {}) == ""


def test_gh_is_asked_at_a_terminal_only(tmp_path: Path) -> None:
    gh = tmp_path / "gh"
    gh.write_text('#!/bin/sh\n[ "$*" = "auth token --hostname github.com" ] && echo gho_of_the_person\n')
    gh.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(SOURCE)}
    code = "from gitmem.cli.forge_access import gh_token; open(0, 'rb', closefd=False); print(repr(gh_token('github.com')))"
    command = [sys.executable, "-c", code]
    piped = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert piped.stdout.strip() == "''"
    person, terminal = pty.openpty()
    try:
        done = subprocess.run(command, env=env, stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, text=True)
    finally:
        os.close(person)
        os.close(terminal)
    assert done.stdout.strip() == "'gho_of_the_person'"


def test_a_checkout_of_a_fork_is_not_the_repository_of_the_event() -> None:
    ours = ["https://github.com/team/memory", "git@github.com:Team/memory.git", "http://127.0.0.1:8/sub/team/memory"]
    assert all(may_be_at(url, "team/memory") for url in [*ours, "/srv/clone", "file:///srv/clone", ""])
    for url in (
        "https://github.com/stranger/memory",
        "ssh://git@github.com/x-team/memory",
        "git@a.b:their-team/memory",
    ):
        assert not may_be_at(url, "team/memory")
