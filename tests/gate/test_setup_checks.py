"""What `git mem doctor` says of the gate."""

from __future__ import annotations

import json

import pytest

from tests.harness import Repo


def wrong(repo: Repo) -> dict[str, str]:
    """Name -> what is wrong, of the gate's checks."""
    done = repo.mem("doctor", "--json", check=False)
    assert done.returncode in (0, 1), done.stderr
    rows = json.loads(done.stdout)["checks"]
    names = ("hooks", "hook revision", "modes", "exceptions", "settings")
    return {row["name"]: row["wrong"] for row in rows if row["name"] in names and row["wrong"]}


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": "- a\n"})
    return repo


def test_no_hooks_is_a_choice_and_hooks_as_installed_are_well(memory: Repo) -> None:
    assert wrong(memory) == {}
    memory.mem("install")
    assert wrong(memory) == {}


def test_loosened_hooks_are_named(memory: Repo) -> None:
    memory.mem("install")
    hook = memory.path / ".git/hooks/pre-commit"
    hook.write_text(hook.read_text().replace("|| gitmem_refuse", "|| :"))
    (memory.path / ".git/hooks/commit-msg").unlink()
    (memory.path / ".git/hooks/pre-push").chmod(0o644)
    said = wrong(memory)["hooks"]
    assert "pre-commit" in said and "commit-msg" in said and "pre-push" in said


def test_status_says_that_hooks_of_an_older_version_are_to_be_installed_again(memory: Repo) -> None:
    missing = "hooks     none of ours are installed, so no commit is scanned here; git mem install\n"
    assert missing in memory.mem("status").stdout
    memory.mem("install")
    assert "hooks" not in memory.mem("status").stdout
    hook = memory.path / ".git/hooks/pre-merge-commit"
    hook.write_text(hook.read_text().replace(" MERGE_HEAD", " HEAD"))
    (memory.path / ".git/hooks/pre-push").unlink()
    line = "hooks     changed or of another version: pre-merge-commit; missing: pre-push; git mem install\n"
    assert line in memory.mem("status").stdout
    assert json.loads(memory.mem("status", "--json").stdout)["hooks"].startswith("changed or of another version")
    memory.mem("install")
    assert json.loads(memory.mem("status", "--json").stdout)["hooks"] == ""


@pytest.mark.parametrize(
    ("rev", "fine"), [("main", False), ("v1", False), ("v1.2.3", True), ("a" * 40, True), ("HEAD", False)]
)
def test_a33_a_revision_that_can_be_moved_is_named(memory: Repo, rev: str, fine: bool) -> None:
    memory.write(
        ".pre-commit-config.yaml",
        f"repos:\n- repo: https://example.com/git-mem\n  rev: {rev}\n  hooks:\n  - id: git-mem-scan\n",
    )
    assert ("hook revision" not in wrong(memory)) is fine


def test_a33_dependencies_of_a_hook_are_pinned(memory: Repo) -> None:
    memory.write(
        ".pre-commit-config.yaml",
        "repos:\n- repo: https://example.com/git-mem\n  rev: v1.2.3\n  hooks:\n  - id: git-mem-scan\n"
        "    additional_dependencies: [promptshield]\n",
    )
    assert "promptshield" in wrong(memory)["hook revision"]


@pytest.mark.parametrize(
    "text", ["git-mem: [", "git-mem", "repos: git-mem", "repos:\n- git-mem\n", "a: &a [*a]\n# git-mem\n"]
)
def test_any_framework_configuration_is_survived(memory: Repo, text: str) -> None:
    memory.write(".pre-commit-config.yaml", text)
    wrong(memory)


def test_open_modes_and_ended_exceptions_are_named(memory: Repo) -> None:
    state = memory.path / ".git/gitmem"
    state.mkdir(mode=0o700, exist_ok=True)
    (state / "hooks.log").touch(0o644)
    (state / "hooks.log").chmod(0o644)
    memory.write(
        ".gitmem-allow.toml",
        'salt = "x"\n[[allow]]\nfingerprint = "ab"\nrule = "r"\npath = "p"\nreason = "w"\nuntil = 2020-01-01\n',
    )
    said = wrong(memory)
    assert "hooks.log" in said["modes"]
    assert said["exceptions"] == "1 of 1 have ended"


def test_settings_that_would_loosen_are_named(memory: Repo) -> None:
    memory.write(".gitmem.toml", '[gate]\non-secret = "mask"\n')
    assert "ignored" in wrong(memory)["settings"]


def test_what_github_cannot_be_asked_is_one_wrong_check_beside_those_of_the_clone(memory: Repo) -> None:
    done = memory.mem("doctor", "--remote", check=False)
    assert done.returncode == 1
    assert "wrong  remote: there is no remote 'origin'" in done.stdout and "ok     hooks: " in done.stdout
    memory.git("remote", "add", "origin", "https://github.com/team/memory.git")
    done = memory.mem("doctor", "--remote", check=False)
    assert done.returncode == 1 and "set GITHUB_TOKEN" in done.stdout
