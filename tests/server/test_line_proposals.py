"""What is proposed becomes a branch and a merge request; the branch it is proposed to is never written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.server.line_proposals import Proposals
from gitmem.server.startup import CONFIG
from tests.harness import Repo
from tests.review.forges.gitlab_server import GitLabServer
from tests.server.conftest import Server

MEMORY = "# Memory\n\n## Decisions\n\n- The okapi eats leaves\n"


@pytest.fixture
def forge() -> Iterator[GitLabServer]:
    with GitLabServer() as made:
        yield made


@pytest.fixture
def proposed(server: Server, forge: GitLabServer, isolated: Path, tmp_path: Path) -> Server:
    """`notes` lies at a GitLab on loopback; a hook of the repository would tell if anything of it ran."""
    remote = Repo(tmp_path / "remote")
    remote.commit("memory", {"MEMORY.md": MEMORY})
    remote.git("config", "receive.denyCurrentBranch", "refuse")
    address = "https://gitlab.example/team/sub/memory.git"
    with open(isolated / ".gitconfig", "a") as config:
        config.write(f'[url "{remote.path}"]\n\tinsteadOf = {address}\n')
    number = server.owner.add_repository(server.enter("acme"), "notes", address)
    server.work()
    environ = {
        "HOME": str(isolated), "PATH": os.environ["PATH"], "CI_SERVER_URL": "https://gitlab.example",
        "CI_API_V4_URL": f"{forge.url}/api/v4", "GITLAB_TOKEN": forge.token, "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip
    server.running.operations.proposals = Proposals(server.running.mirrors, CONFIG, environ)
    assert number
    return server


def test_a_proposal_is_a_branch_and_a_merge_request(proposed: Server, forge: GitLabServer, tmp_path: Path) -> None:
    remote = Repo(tmp_path / "remote", init=False)
    before = remote.git("rev-parse", "main")
    given = {"repository": "notes", "text": "Deploy on Fridays only", "type": "decision", "reason": "as agreed"}
    answer = proposed.ask("acme propose", "POST", "/v1/propose", json=given)
    assert answer.status_code == 200, answer.text
    value = answer.json()
    assert value["path"] == "MEMORY.md" and value["base"] == "main" and value["number"] == 1
    assert remote.git("rev-parse", "main") == before
    shown = remote.git("show", f"{value['branch']}:MEMORY.md")
    assert "Deploy on Fridays only" in shown and MEMORY.splitlines()[4] in shown
    assert remote.git("log", "-1", "--format=%an", value["branch"]).strip() == "propose"
    (merge_request,) = forge.merge_requests
    assert merge_request["source_branch"] == value["branch"] and "Fridays" in merge_request["description"]
    rows = proposed.ask("acme admin", "GET", "/v1/audit").json()["audit"]
    assert rows[0]["action"] == "propose" and "Fridays" not in str(rows)


def test_a_secret_is_not_proposed(proposed: Server, forge: GitLabServer, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    given = {"repository": "notes", "text": f"the token is {token[:40]}"}
    answer = proposed.ask("acme propose", "POST", "/v1/propose", json=given)
    assert answer.status_code == 403 and token[4:20] not in answer.text
    assert forge.merge_requests == []
    assert Repo(tmp_path / "remote", init=False).git("branch", "--format=%(refname)").split() == ["refs/heads/main"]


def test_what_is_there_already_and_what_has_no_forge_is_refused(proposed: Server, tmp_path: Path) -> None:
    there = {"repository": "notes", "text": "The okapi eats leaves", "to": "memory"}
    answer = proposed.ask("acme propose", "POST", "/v1/propose", json=there)
    assert answer.status_code == 400 and "already" in answer.text
    local = Repo(tmp_path / "local")
    local.commit("memory", {"MEMORY.md": MEMORY})
    proposed.add("acme", "local", local)
    answer = proposed.ask("acme propose", "POST", "/v1/propose", json={"repository": "local", "text": "a line"})
    assert answer.status_code == 400 and "takes no proposals" in answer.text


@pytest.mark.parametrize("to", ["../x.md", "src/app.py", ".git/config", "AGENTS.md", "nonsense"])
def test_no_other_file_is_proposed(proposed: Server, forge: GitLabServer, to: str) -> None:
    given = {"repository": "notes", "text": "a line", "to": to}
    assert proposed.ask("acme propose", "POST", "/v1/propose", json=given).status_code == 400
    assert forge.merge_requests == []
