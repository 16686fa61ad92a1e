"""Profiles keep memories apart: nobody searches, reads, writes or is promoted into another's by accident."""

from __future__ import annotations

import json
import os
import sys
from itertools import permutations
from pathlib import Path

import pytest

from gitmem import api
from gitmem.errors import GitMemError
from tests.harness import Repo

NOW = "2026-02-06T10:00:00+00:00"
NAMES = ("alice", "bob")


@pytest.fixture
def people(tmp_path: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> dict[str, Repo]:
    """Two profiles, each with a fact only it knows, and a project that is nobody's."""
    monkeypatch.setenv("GITMEM_NOW", NOW)
    found = {}
    for name in NAMES:
        root = tmp_path / name
        repo.mem("profile", "add", name, str(root), "--name", name.title(), "--email", f"{name}@example.com")
        own = Repo(root, init=False)
        own.write("MEMORY.md", f"# Memory\n\n## Decisions\n\n- The zebra word of {name} is only-{name}.\n")
        log = f"# 2026-02-05\n\n## 09:00 - zebra\n\n- We decided that the zebra of {name} sleeps at noon in zone-{name}.\n"
        own.commit("one", {"memory/2026-02-05.md": log})
        found[name] = own
    repo.commit("project", {"MEMORY.md": "- The zebra word of the project is only-project.\n"})
    return {**found, "project": repo}


def everything(repo: Repo) -> dict[str, bytes]:
    files = (path for path in repo.path.rglob("*") if path.is_file() and "gitmem" not in path.parts)
    return {str(path): path.read_bytes() for path in files}


@pytest.mark.parametrize("switched", [True, False], ids=["switched", "named"])
@pytest.mark.parametrize(("me", "other"), list(permutations(NAMES)))
def test_no_command_reaches_another_profile(people: dict[str, Repo], me: str, other: str, switched: bool) -> None:
    project = people["project"]
    if switched:
        project.mem("profile", "switch", me)
    who = () if switched else ("--profile", me)
    before = {name: everything(people[name]) for name in (other, "project")}
    secret, theirs = f"only-{other}", people[other].path

    for args in (("search", "zebra word"), ("context", "zebra word"), ("session", "start"), ("log",), ("status",)):
        told = project.mem(*who, *args).stdout
        assert secret not in told and "only-project" not in told and f"zone-{other}" not in told
    assert f"only-{me}" in project.mem(*who, "search", "zebra word").stdout
    assert "zone" not in project.mem(*who, "search", "zebra", "--all-branches", "--path", f"*{other}*").stdout

    for path in (str(theirs / "MEMORY.md"), f"../{other}/MEMORY.md"):
        for args in (("show", path), ("add", "mine now", "--to", path), ("why", f"{path}:5")):
            done = project.mem(*who, *args, check=False)
            assert done.returncode == 3 and secret not in done.stdout + done.stderr
    included = project.mem(*who, "context", "--include", f"../{other}/MEMORY.md:1-9", "--json", "x").stdout
    assert secret not in included

    project.mem(*who, "add", "I fed the zebra")
    assert "I fed the zebra" in people[me].read(f"memory/2026-02-06.{me}.md")
    project.mem(*who, "session", "set", "zebra:state", "asleep")
    people[me].commit("log")
    project.mem(*who, "promote")
    assert f"zone-{me}" in people[me].read("MEMORY.md")
    assert people[me].git("log", "-1", "--format=%an <%ae>").strip() == f"{me.title()} <{me}@example.com>"
    assert {name: everything(people[name]) for name in (other, "project")} == before
    assert project.mem("--profile", other, "session", "get", "zebra:state", check=False).returncode == 1 or switched


def test_the_memory_of_another_profile_is_refused_where_one_is_in_force(people: dict[str, Repo]) -> None:
    people["project"].mem("profile", "switch", "alice")
    refused = people["bob"].mem("search", "zebra", check=False)
    assert refused.returncode == 3 and "bob" in refused.stderr and "only-" not in refused.stdout
    assert "only-bob" in people["bob"].mem("--profile", "bob", "search", "zebra word").stdout
    scanned = people["project"].mem("scan", "--json")
    assert "only-alice" not in scanned.stdout and scanned.returncode == 0
    people["project"].mem("profile", "switch", "--none")
    assert "only-bob" in people["bob"].mem("search", "zebra word").stdout
    assert "only-project" in people["project"].mem("search", "zebra word").stdout


def test_a_switch_clears_working_values_and_works_from_any_folder(people: dict[str, Repo], tmp_path: Path) -> None:
    anywhere = Repo(tmp_path / "anywhere", init=False)
    assert anywhere.mem("search", "x", check=False).returncode == 3
    anywhere.mem("profile", "switch", "alice")
    anywhere.mem("session", "set", "zebra:state", "asleep")
    assert anywhere.mem("session", "get", "zebra:state").stdout == "asleep\n"
    anywhere.mem("profile", "switch", "bob")
    assert anywhere.mem("session", "get", "zebra:state", check=False).returncode == 1
    anywhere.mem("profile", "switch", "alice")
    assert anywhere.mem("session", "get", "zebra:state", check=False).returncode == 1


def test_another_profile_is_no_personal_memory(people: dict[str, Repo]) -> None:
    project, bob = people["project"], people["bob"].path
    linked = bob.parent / "linked"
    people["bob"].git("worktree", "add", "-q", str(linked))
    places = (bob, bob / ".git", bob / "memory", linked, os.path.relpath(bob, people["alice"].path))
    for place in (*map(str, places), bob.as_uri(), (bob / ".git").as_uri(), f"file://localhost{bob}"):
        for key in ("mem.personal", "mem.organisation"):
            project.git("config", "--global", key, place)
            found = json.loads(project.mem("--profile", "alice", "context", "zebra word", "--json").stdout)
            assert not {"user", "organisation"} & {scope["name"] for scope in found["scopes"]}, place
            assert "only-bob" not in found["text"]
            project.git("config", "--global", "--unset", key)


def test_a_repository_the_environment_names_is_refused_where_it_is_another_profiles(people: dict[str, Repo]) -> None:
    project, bob = people["project"], people["bob"].path
    project.mem("profile", "switch", "alice")
    for env in ({"GIT_DIR": str(bob / ".git")}, {"GIT_DIR": str(bob / ".git"), "GIT_WORK_TREE": str(bob)}):
        for args in (("search", "zebra word"), ("context", "zebra word"), ("add", "I was here"), ("session", "start")):
            done = project.mem(*args, env=env, check=False)
            assert done.returncode == 3 and "only-bob" not in done.stdout + done.stderr
        assert project.mem("session", "hook", "SessionStart", input="{}", env=env).stdout == ""
        assert project.mem("scan", env=env, check=False).returncode == 0  # the gate speaks of where it stands
    own = {"GIT_DIR": str(people["alice"].path / ".git"), "GIT_WORK_TREE": str(people["alice"].path)}
    assert "only-alice" in project.mem("search", "zebra word", env=own).stdout


def test_no_memory_lies_in_another(people: dict[str, Repo]) -> None:
    alice = people["alice"].path
    for place in (alice / "memory/carol", alice.parent):
        done = people["project"].mem("profile", "add", "carol", str(place), check=False)
        assert done.returncode == 2 and "lie in each other" in done.stderr


def test_a_switch_carries_no_session_over(people: dict[str, Repo], tmp_path: Path) -> None:
    project = people["project"]
    rows = [("2026-02-06T09:00:00Z", "We decided that the word of the zebra said-to-alice is blue.")]
    rows += [("2026-02-06T11:00:00Z", "We decided that the word of the zebra said-to-bob is green.")]
    entries = [
        {"type": "user", "uuid": f"u{n}", "sessionId": "s1", "timestamp": at, "message": {"role": "user", "content": text}}
        for n, (at, text) in enumerate(rows)
    ]  # fmt: skip
    path = tmp_path / "t.jsonl"
    given = json.dumps({"session_id": "s1", "transcript_path": str(path)})
    project.mem("profile", "switch", "alice", env={"GITMEM_NOW": "2026-02-06T08:00:00+00:00"})
    path.write_text(json.dumps(entries[0]) + "\n")
    project.mem("session", "hook", "Stop", input=given)
    project.mem("profile", "switch", "bob")
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    for event in ("Stop", "PreCompact", "SessionEnd"):
        project.mem("session", "hook", event, input=given, env={"GITMEM_DETACHED": "1"})
    alice, bob = (people[name].git("grep", "--untracked", "-h", "said-to", check=False) for name in NAMES)
    assert "said-to-alice" in alice and "said-to-bob" not in alice
    assert "said-to-bob" in bob and "said-to-alice" not in bob


def test_the_api_without_a_path_is_where_a_command_would_be(
    people: dict[str, Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(people["project"].path)
    with api.open() as memory:
        assert "only-project" in json.dumps(memory.search("zebra word"))
    people["project"].mem("profile", "switch", "alice")
    with api.open() as memory:
        assert "only-alice" in json.dumps(memory.search("zebra word")) and memory.config.profile == "alice"
    monkeypatch.chdir(people["bob"].path)
    with pytest.raises(GitMemError):
        api.open()


def test_a_hook_and_the_tools_of_an_agent_stay_in_the_profile(people: dict[str, Repo]) -> None:
    project = people["project"]
    project.mem("profile", "switch", "alice")
    started = project.mem("session", "hook", "SessionStart", input="{}").stdout
    assert "only-alice" in started and "only-bob" not in started and "only-project" not in started
    with api.open(profile="bob") as memory:
        assert memory.config.profile == memory.config.agent == "bob"
        assert "only-alice" not in json.dumps(memory.search("zebra word")) and memory.search("zebra")["hits"]
    with pytest.raises(GitMemError):
        api.open(profile="carol")


def test_profiles_are_added_listed_and_removed(repo: Repo, tmp_path: Path, isolated: Path) -> None:
    made = json.loads(repo.mem("profile", "add", "carol", "--json").stdout)
    assert made["root"] == str(isolated / ".local/share/git-mem/carol") and made["agent"] == "carol"
    assert os.path.exists(made["root"] + "/MEMORY.md")
    assert repo.mem("profile", "add", "carol", check=False).returncode == 2
    assert repo.mem("profile", "add", "Bad Name", check=False).returncode == 2
    assert "is the memory of profile 'carol'" in repo.mem("profile", "add", "dave", made["root"], check=False).stderr
    linked = tmp_path / "linked"
    carol = Repo(Path(made["root"]), init=False)
    carol.commit("one")
    carol.git("worktree", "add", "-q", str(linked))
    assert repo.mem("profile", "add", "dave", str(linked), check=False).returncode == 2
    inside = repo.path / "folder"
    inside.mkdir()
    assert repo.mem("profile", "add", "dave", str(inside), check=False).returncode == 2
    repo.mem("profile", "switch", "carol")
    assert repo.mem("profile", "list").stdout == f"* carol  {made['root']}\n"
    repo.mem("profile", "remove", "carol")
    assert json.loads(repo.mem("profile", "list", "--json").stdout) == {"profiles": []}
    assert os.path.exists(made["root"] + "/MEMORY.md")
    assert repo.mem("--profile", "carol", "status", check=False).returncode == 3
    assert repo.mem("profile", "switch", "carol", check=False).returncode == 3


def test_a_clone_cannot_choose_a_profile(people: dict[str, Repo]) -> None:
    project = people["project"]
    project.git("config", "--local", "mem.profile", "alice")
    project.write(".gitmem.toml", 'profile = "alice"\n')
    assert "only-alice" not in project.mem("search", "zebra word").stdout


def test_no_tool_of_an_agent_reaches_another_profile(people: dict[str, Repo]) -> None:
    import anyio
    from mcp import Client

    from gitmem.agents.mcp_server import build
    from tests.mcp_client import in_memory

    alice, bob = people["alice"].path, people["bob"].path
    (alice / "memory/link.md").symlink_to(bob / "MEMORY.md")
    (alice / "memory/dir").symlink_to(bob)
    before = everything(people["bob"])
    calls = (
        ("memory_search", {"query": "zebra word", "maxResults": 50}),
        ("memory_search", {"query": "zebra word", "path": f"{bob}/*"}),
        ("memory_get", {"path": "memory/link.md"}),
        ("memory_get", {"path": "memory/dir/MEMORY.md"}),
        ("memory_get", {"path": str(bob / "MEMORY.md")}),
        ("memory_get", {"path": "../bob/MEMORY.md"}),
        ("memory_why", {"path": "../bob/MEMORY.md", "line": 5}),
        ("memory_context", {"prompt": "zebra word", "paths": ["../bob/MEMORY.md"]}),
        ("memory_session_get", {}),
        ("memory", {"command": "view", "path": "/memories/memory/link.md"}),
        ("memory", {"command": "view", "path": "/memories/../bob/MEMORY.md"}),
        ("memory", {"command": "create", "path": "/memories/../../bob/x.md", "file_text": "x"}),
        ("memory", {"command": "rename", "old_path": "/memories/MEMORY.md", "new_path": "/memories/memory/dir/x.md"}),
    )
    people["bob"].mem("--profile", "bob", "session", "set", "zebra:state", "only-bob knows")

    async def main() -> None:
        async with Client(in_memory(build(alice))) as client:
            for tool, arguments in calls:
                told = await client.call_tool(tool, arguments)
                assert "only-bob" not in str(told), (tool, arguments)

    anyio.run(main)
    assert everything(people["bob"]) == before


def test_watching_and_editing_speak_of_the_profile_in_force(people: dict[str, Repo]) -> None:
    project = people["project"]
    project.mem("profile", "switch", "alice")
    code = (
        "import gitmem.cli.commands.watch as w\n"
        "w._changes = lambda root, debounce: iter([['MEMORY.md']])\n"
        "from gitmem.cli.main import run\nraise SystemExit(run(['watch']))"
    )
    told = project.run(sys.executable, "-c", code).stdout
    assert told.startswith(f"watching {people['alice'].path}\n")
    assert not (people["bob"].path / ".git/gitmem/index.sqlite").exists()
    assert not (project.path / ".git/gitmem/index.sqlite").exists()


def test_a_switch_leaves_no_setting_that_config_does_not_know(people: dict[str, Repo]) -> None:
    people["project"].mem("profile", "switch", "alice")
    people["project"].mem("profile", "switch", "--none")
    assert people["project"].mem("config").stderr == ""


def test_a_profile_whose_agent_has_no_writable_name_is_refused(repo: Repo, tmp_path: Path) -> None:
    refused = repo.mem("profile", "add", "carol", str(tmp_path / "carol"), "--agent", "a/b", check=False)
    assert refused.returncode == 2 and "cannot name an agent" in refused.stderr and not (tmp_path / "carol").exists()
    repo.mem("profile", "add", "carol", str(tmp_path / "carol"), "--agent", "캐롤")
    repo.mem("--profile", "carol", "add", "fed the zebra")
    logs = json.loads(repo.mem("--profile", "carol", "log", "--agent", "캐롤", "--json").stdout)
    assert logs and "fed the zebra" in json.dumps(logs)
    repo.git("config", "--global", "mem.profile.carol.agent", "a/b")
    refused = repo.mem("--profile", "carol", "add", "x y", check=False)
    assert refused.returncode == 3 and "cannot name an agent" in refused.stderr
