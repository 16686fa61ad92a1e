"""The scan and the review as GitLab CI runs them: its variables, its reports, one note on the merge request."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import warm_process
from tests.harness import SOURCE, Repo
from tests.review.forges.gitlab_server import GitLabServer

TEMPLATE = SOURCE / "examples/gitlab/memory.gitlab-ci.yml"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"


@pytest.fixture
def server() -> Iterator[GitLabServer]:
    made = GitLabServer()
    made.merge_request("change", "main", "change")
    yield made
    made.close()


def job(repo: Repo, name: str, base: str, server: GitLabServer, **more: str) -> Any:
    """Run the script of a job of the template on a merge request's pipeline."""
    (script,) = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))[name]["script"]
    words = script.replace("/opt/git-mem/bin/git-mem", f"{warm_process.interpreter()} -m gitmem")
    variables = {
        "GITLAB_CI": "true", "CI": "true", "CI_SERVER_URL": "https://gitlab.com", "CI_API_V4_URL": f"{server.url}/api/v4",
        "CI_PROJECT_PATH": server.project, "CI_DEFAULT_BRANCH": "main", "CI_PIPELINE_SOURCE": "merge_request_event",
        "CI_MERGE_REQUEST_IID": "1", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_MERGE_REQUEST_PROJECT_ID": "11",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "11", "CI_COMMIT_SHA": repo.git("rev-parse", "HEAD").strip(), **more,
    }  # fmt: skip
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GITHUB_", "CI", "GITLAB"))}
    env = {**kept, "PYTHONPATH": str(SOURCE), **variables}
    return subprocess.run(["sh", "-ec", words], cwd=repo.path, env=env, capture_output=True, text=True)


def test_the_template_is_one_that_gitlab_takes() -> None:
    check = Path(sys.executable).parent / "check-jsonschema"
    done = subprocess.run(
        [str(check), "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", str(TEMPLATE)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    text = TEMPLATE.read_text(encoding="utf-8")
    scripts = [
        line for value in yaml.safe_load(text).values() if isinstance(value, dict) for line in value.get("script", [])
    ]
    assert scripts and not re.search(r"\$", "".join(scripts)), "no variable that somebody else typed is in a script"


def test_a_secret_fails_the_scan_and_stands_masked_in_both_reports(repo: Repo, server: GitLabServer) -> None:
    base = repo.commit("start", {"MEMORY.md": "- a\n"})
    repo.commit("oops", {"memory/x.md": f"- use {TOKEN}\n"})
    repo.commit(f"use {TOKEN}", {"memory/x.md": "- in the vault\n"})
    done = job(repo, "memory-scan", base, server)
    assert done.returncode == 1 and "::error" not in done.stdout, done.stderr
    quality = json.loads(repo.read("gl-code-quality-report.json"))
    sast = json.loads(repo.read("gl-sast-report.json"))
    assert {row["severity"] for row in quality} == {"blocker"} and len({row["fingerprint"] for row in quality}) == len(
        quality
    )
    assert {row["location"]["path"] for row in quality} == {"memory/x.md", ".git/COMMIT_EDITMSG"}
    for row in quality:
        assert set(row) == {"check_name", "description", "fingerprint", "severity", "location"}
        assert row["location"]["lines"]["begin"] >= 1
    assert len(sast["vulnerabilities"]) == len(quality) and sast["scan"]["type"] == "sast"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", sast["scan"]["start_time"])
    for found in sast["vulnerabilities"]:
        assert {"id", "identifiers", "location"} <= set(found) and found["severity"] == "Critical"
    everything = done.stdout + done.stderr + json.dumps(quality) + json.dumps(sast)
    assert TOKEN not in everything and TOKEN[10:] not in everything


def test_a_clean_push_leaves_empty_reports(repo: Repo, server: GitLabServer) -> None:
    base = repo.commit("start", {"MEMORY.md": "- a\n"})
    repo.commit("log", {"memory/x.md": "- deployed\n"})
    push = {
        "CI_PIPELINE_SOURCE": "push",
        "CI_MERGE_REQUEST_IID": "",
        "CI_COMMIT_BEFORE_SHA": base,
        "CI_COMMIT_BRANCH": "main",
    }
    done = job(repo, "memory-scan", base, server, **push)
    assert done.returncode == 0 and json.loads(repo.read("gl-code-quality-report.json")) == [], done.stderr
    assert json.loads(repo.read("gl-sast-report.json"))["vulnerabilities"] == []


def test_the_review_is_one_note_with_gitlabs_links(repo: Repo, server: GitLabServer) -> None:
    base = repo.commit("start", {"MEMORY.md": "# Memory\n\n- a\n"})
    head = repo.commit("fact", {"MEMORY.md": "# Memory\n\n- a\n- The licence is MIT.\n"})
    for _ in range(2):
        done = job(repo, "memory-review", base, server, GITLAB_TOKEN="write")
        assert done.returncode == 0, done.stderr
    (note,) = server.notes
    assert (
        "The licence is MIT." in note["body"] and f"{server.project}/-/blob/{head}/MEMORY.md?plain=1#L4" in note["body"]
    )


def test_a_forks_pipeline_has_no_token_and_says_nothing_on_the_merge_request(repo: Repo, server: GitLabServer) -> None:
    base = repo.commit("start", {"MEMORY.md": "- a\n"})
    repo.commit("fact", {"MEMORY.md": "- a\n- The licence is MIT.\n"})
    done = job(repo, "memory-review", base, server, CI_MERGE_REQUEST_SOURCE_PROJECT_ID="99")
    assert done.returncode == 0 and server.notes == [] and server.requests == []
    assert "The licence is MIT." in done.stdout, "it stands in the log of the job"
