"""A secret that somebody committed without the gate is in no answer of the commands that print memory as it stands."""

from __future__ import annotations

import json

import pytest

from gitmem.gate.quoting import HIDDEN
from gitmem.review.masking import hide_secrets
from tests.harness import Repo
from tests.samples import GITHUB

KEY = ["-----BEGIN RSA PRIVATE KEY-----", *("MIIEpAIBAAKCAQEA" + "x7Qz" * 12,) * 3, "-----END RSA PRIVATE KEY-----"]
LOG = "memory/2026-02-05.md"
ANSWERS = {
    "show": ("show", "MEMORY.md"),
    "a statement": ("show", "MEMORY.md:3"),
    "a log": ("show", LOG),
    "an older state": ("show", "MEMORY.md", "--at", "HEAD"),
    "log": ("log",),
    "why": ("why", "MEMORY.md:3"),
    "why, of a log": ("why", f"{LOG}:5"),
    "changes": ("changes", "HEAD~1..HEAD"),
}


@pytest.fixture
def leaked(repo: Repo) -> Repo:
    """A fact and a log with a token and a key, committed past the hooks."""
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    log = "\n".join(
        ["# 2026-02-05", "", "## 09:00", "", f"- The harbour uses {GITHUB}", "- It opens at six", "", *KEY, ""]
    )
    repo.commit(
        f"the token {GITHUB}", {"MEMORY.md": f"# Memory\n\n- The harbour uses {GITHUB}\n- It opens at six\n", LOG: log}
    )
    return repo


@pytest.mark.parametrize("answer", ANSWERS)
def test_no_command_prints_a_committed_secret(leaked: Repo, answer: str) -> None:
    done = leaked.mem(*ANSWERS[answer])
    assert HIDDEN in done.stdout and "git mem scan names them" in done.stderr
    assert GITHUB not in done.stdout + done.stderr and KEY[1] not in done.stdout + done.stderr


@pytest.mark.parametrize("answer", ANSWERS)
def test_no_json_has_a_committed_secret(leaked: Repo, answer: str) -> None:
    done = leaked.mem(*ANSWERS[answer], "--json")
    assert json.loads(done.stdout) and HIDDEN in done.stdout
    assert GITHUB not in done.stdout and KEY[1] not in done.stdout


def test_the_command_that_the_note_names_finds_the_secret(leaked: Repo) -> None:
    found = leaked.mem("scan", check=False)
    assert found.returncode == 1 and "MEMORY.md:3" in found.stdout + found.stderr


def test_what_has_no_secret_is_printed_as_it_is(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- It opens at six\n"})
    done = repo.mem("show", "MEMORY.md")
    assert "It opens at six" in done.stdout and not done.stderr


def test_each_text_is_hidden_by_itself() -> None:
    texts = ("password of the harbour:", "six o'clock", f"a\n{GITHUB}\nb", "", GITHUB)
    assert hide_secrets(texts) == ("password of the harbour:", "six o'clock", f"a\n{HIDDEN}\nb", "", HIDDEN)
    assert hide_secrets([]) == []
