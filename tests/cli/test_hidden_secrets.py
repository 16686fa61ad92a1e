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


CORRECTIONS = {
    "forget": ("forget", "MEMORY.md:3", "--reason", "rotated"),
    "forget a line of a log": ("forget", f"{LOG}:5", "--reason", "rotated"),
    "forget everywhere": ("forget", "MEMORY.md:3", "--everywhere", "--reason", "rotated"),
    "revert": ("revert", "--commit", "HEAD"),
}


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_a_preview_of_a_correction_hides_the_secret(leaked: Repo, correction: str, form: tuple[str, ...]) -> None:
    done = leaked.mem(*CORRECTIONS[correction], "--dry-run", *form)
    assert HIDDEN in done.stdout and "git mem scan names them" in done.stderr
    assert GITHUB not in done.stdout + done.stderr


def test_what_a_correction_did_is_told_without_the_secret(leaked: Repo) -> None:
    edited = leaked.mem("edit", "MEMORY.md:3", "The harbour uses a vault", "--reason", "rotated", "--json")
    assert HIDDEN in edited.stdout and GITHUB not in edited.stdout + edited.stderr
    shown = leaked.mem("undo", "--dry-run"), leaked.mem("undo", "--dry-run", "--json")
    for done in shown:
        assert "- The harbour uses a vault" in done.stdout and GITHUB not in done.stdout + done.stderr
        assert f"+ {HIDDEN}" in done.stdout and "git mem scan names them" in done.stderr
    leaked.mem("undo", "--yes")
    assert GITHUB in (leaked.path / "MEMORY.md").read_text(), "the preview hides the line, and the undo brings it back"
    forgotten = leaked.mem("forget", "MEMORY.md:3", "--reason", "rotated", "--json")
    assert HIDDEN in forgotten.stdout and GITHUB not in forgotten.stdout


def test_a_finding_about_a_source_hides_its_secret(leaked: Repo) -> None:
    cited = f"# Memory\n\n- It opens at six <!-- mem src=memory/{GITHUB}.md#L1-L2@1a2b3c4d5e6f -->\n"
    leaked.commit("cite", {"MEMORY.md": cited})
    for form in ((), ("--json",)):
        done = leaked.mem("verify", *form, check=False)
        assert "source-missing" in done.stdout and GITHUB not in done.stdout + done.stderr


def test_the_trail_of_a_context_hides_a_heading_with_a_secret(leaked: Repo) -> None:
    note = f"---\ntitle: ferry {GITHUB}\n---\n# Ferries\n\n## Ferry {GITHUB}\n\n- The ferry sails at nine\n"
    leaked.commit("note", {"memory/ferry.md": note})
    done = leaked.mem("context", "when does the ferry sail", "--json")
    assert "The ferry sails at nine" in done.stdout and HIDDEN in done.stdout
    assert GITHUB not in done.stdout + done.stderr


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
