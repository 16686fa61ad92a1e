"""A host's hook writes where it was installed, nowhere else (docs/threats.md, A45)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import Repo

NOW = "2026-02-05T14:30:00+00:00"
SAID = "We decided to use REST webhooks for the PoC because they are easier to debug."
LOG = "memory/2026-02-05.md"
MEMORY = {"MEMORY.md": "# Memory\n\n- The invoice date is UTC.\n"}


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_NOW", NOW)
    monkeypatch.setenv("GITMEM_DETACHED", "1")  # the end of a session in the process that is waited for
    repo.commit("memory", MEMORY)
    return repo


def fire(
    event: str, where: Path, transcript: Path, *, host: str = "claude", root: Path | None = None, **more: object
) -> str:
    given = {
        "session_id": "s1",
        "transcript_path": str(transcript),
        "cwd": str(where),
        "prompt": "invoice date?",
        **more,
    }
    env = {"CLAUDE_PROJECT_DIR": str(root)} if root is not None else {}
    done = Repo(where, init=False).mem("session", "hook", event, "--host", host, input=json.dumps(given), env=env)
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"id": "t1", "role": "user", "text": SAID}) + "\n")
    return path


def files(repo: Repo) -> set[str]:
    """Everything below a repository but Git's own index, which a status refreshes."""
    return {str(p.relative_to(repo.path)) for p in repo.path.rglob("*") if p.name != "index"}


def session_in(where: Path, talk: Path, root: Path | None, host: str = "claude") -> None:
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"):
        fire(event, where, talk, host=host, root=root)


@pytest.mark.parametrize("with_memory", [False, True])
def test_an_agent_in_a_nested_or_a_foreign_repository_writes_to_the_project(
    project: Repo, talk: Path, tmp_path: Path, with_memory: bool
) -> None:
    nested, foreign = Repo(project.path / "vendor/lib"), Repo(tmp_path / "foreign")
    for other in (nested, foreign):
        other.commit("theirs", MEMORY if with_memory else {"README.md": "# Theirs\n"})
        before = files(other)
        session_in(other.path, talk, project.path)
        assert files(other) == before
    assert project.read(LOG).count("REST webhooks") == 1
    assert len(list((project.path / "memory/sessions").glob("*.md"))) == 1


def test_a_submodule_is_not_the_project(project: Repo, talk: Path, tmp_path: Path) -> None:
    theirs = Repo(tmp_path / "theirs")
    theirs.commit("theirs", MEMORY)
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(theirs.path), "sub")
    session_in(project.path / "sub", talk, project.path)
    assert "REST webhooks" in project.read(LOG)
    assert not (project.path / "sub" / LOG).exists() and not (project.path / ".git/modules/sub/gitmem").exists()


def test_a_linked_work_tree_is_the_project(project: Repo, talk: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    project.git("worktree", "add", "-q", str(linked))
    (linked / "deep").mkdir()
    session_in(linked / "deep", talk, project.path)
    assert "REST webhooks" in (linked / LOG).read_text() and not (project.path / LOG).exists()


@pytest.mark.parametrize("stated", [True, False])
def test_an_agent_in_the_git_directory_writes_to_the_project(project: Repo, talk: Path, stated: bool) -> None:
    project.mem("install", "--agent", "claude")
    fire("Stop", project.path / ".git/hooks", talk, root=project.path if stated else None)
    assert SAID in project.read(LOG)


def test_a_host_without_a_root_of_its_own_belongs_to_where_it_was_installed(
    project: Repo, talk: Path, tmp_path: Path
) -> None:
    project.mem("install", "--agent", "codex")
    nested, foreign = Repo(project.path / "vendor/lib"), Repo(tmp_path / "foreign")
    for other in (nested, foreign):
        other.commit("theirs", {"README.md": "# Theirs\n"})
        before = files(other)
        session_in(other.path, talk, None, host="codex")
        assert files(other) == before
        if other is nested:
            assert "REST webhooks" in project.read(LOG)
            kept = files(project)
    assert files(project) == kept


def test_a_hook_in_the_settings_of_a_person_makes_no_project_of_home(
    isolated: Path, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_DETACHED", "1")
    home = Repo(isolated)
    home.write(".codex/hooks.json", '{"hooks": {"Stop": [{"hooks": [{"command": "git-mem session hook Stop"}]}]}}')
    inside = home.path / "work"
    inside.mkdir()
    before = files(home)
    session_in(inside, talk, None, host="codex")
    assert files(home) == before


def test_the_events_own_field_names_the_project(project: Repo, talk: Path, tmp_path: Path) -> None:
    foreign = Repo(tmp_path / "foreign")
    foreign.commit("theirs", MEMORY)
    before = files(foreign)
    fire("Stop", foreign.path, talk, host="cursor", workspace_roots=[str(project.path)])
    assert files(foreign) == before and "REST webhooks" in project.read(LOG)


def test_a_repository_that_the_environment_names_is_not_written(
    project: Repo, talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = Repo(tmp_path / "foreign")
    foreign.commit("theirs", MEMORY)
    before = files(foreign)
    monkeypatch.setenv("GIT_DIR", str(foreign.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(foreign.path))
    fire("Stop", project.path, talk, root=project.path)
    assert files(foreign) == before and "REST webhooks" in project.read(LOG)


def test_a_folder_that_is_gone_costs_nothing_where_the_root_is_known(project: Repo, talk: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"rmdir {gone}; exec {sys.executable} -m gitmem session hook Stop"
    given = json.dumps({"session_id": "s1", "transcript_path": str(talk)})
    done = subprocess.run(
        ["sh", "-c", command], cwd=gone, input=given, text=True, capture_output=True,
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(project.path)}, check=True,
    )  # fmt: skip
    assert done.stderr == "" and "REST webhooks" in project.read(LOG)


def test_a_root_that_is_no_folder_or_no_repository_creates_nothing(project: Repo, talk: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    before = files(project)
    session_in(project.path, talk, plain)
    assert files(project) == before and list(plain.iterdir()) == []


def test_a_repository_without_memory_is_left_alone_where_nothing_was_installed(talk: Path, tmp_path: Path) -> None:
    foreign = Repo(tmp_path / "foreign")
    foreign.commit("theirs", {"README.md": "# Theirs\n"})
    before = files(foreign)
    session_in(foreign.path, talk, None)
    session_in(foreign.path, talk, foreign.path)  # hooks in a person's own settings run in every project of theirs
    assert files(foreign) == before


def test_a_plugins_hook_works_where_memory_is_and_nowhere_a_second_time(
    project: Repo, tmp_path: Path, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", str(tmp_path))
    other = Repo(tmp_path / "other")
    before = files(other)
    session_in(other.path, talk, other.path)
    assert files(other) == before
    assert "invoice date" in fire("SubagentStart", project.path, talk, root=project.path)
    fire("Stop", project.path, talk, root=project.path)
    assert SAID in project.read(LOG)
    project.mem("install", "--agent", "claude")
    assert fire("SessionStart", project.path, talk, root=project.path) == ""


def test_an_agent_that_works_in_a_folder_is_given_what_holds_for_it(project: Repo, talk: Path) -> None:
    facts = "# Memory\n\n- The api listens on 7000. <!-- mem scope=packages/api pinned=true -->\n"
    project.commit("facts", {"MEMORY.md": facts, "packages/api/a.go": "", "packages/web/a.ts": ""})
    for folder, there in (("packages/api", True), ("packages/web", False), (".", False)):
        where = project.path / folder
        told = fire("SessionStart", where, talk, root=project.path, session_id=folder.replace("/", "-"))
        assert ("listens on 7000" in told) is there
