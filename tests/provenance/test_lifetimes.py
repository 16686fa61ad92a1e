"""How long a fact stays, as `git mem edit` says it: pinned, until a day, over, or superseded from today."""

from __future__ import annotations

import json

import pytest

from gitmem.memory.fact import fact_id
from gitmem.provenance.lifetimes import with_keys
from tests.harness import Repo

FACT = "PoC phase 1 uses REST webhooks"
NOW = {"GITMEM_NOW": "2026-03-02T10:00:00+00:00"}


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit(
        "first", {"MEMORY.md": f"# Memory\n\n- {FACT} <!-- mem type=decision src=memory/2026-02-05.md#L3 -->\n"}
    )
    return repo


def line(repo: Repo) -> str:
    return repo.read("MEMORY.md").splitlines()[2]


@pytest.mark.parametrize(
    ("options", "keys", "subject"),
    [(["--pin"], " pinned=true", "memory: pin 1 fact"), (["--until", "2026-04-01"], " until=2026-04-01",
      "memory: 1 fact holds until 2026-04-01"), (["--over"], " until=2026-03-01", "memory: 1 fact is not true any more")],
)  # fmt: skip
def test_a_key_of_the_comment_is_set_in_one_commit(memory: Repo, options: list[str], keys: str, subject: str) -> None:
    done = memory.mem("edit", "MEMORY.md:3", *options, "--reason", "because", "--json", env=NOW)
    assert line(memory) == f"- {FACT} <!-- mem type=decision src=memory/2026-02-05.md#L3{keys} -->"
    assert json.loads(done.stdout)["facts"][0]["id"] == fact_id(FACT)
    assert memory.git("log", "-1", "--format=%s").strip() == subject and not memory.git("status", "--porcelain")
    message = memory.git("log", "-1", "--format=%B")
    assert "Memory-Reason: because" in message and "Memory-Rejected" not in message


def test_a_key_is_taken_out_and_what_is_so_already_makes_no_commit(memory: Repo) -> None:
    for options in (["--pin"], ["--unpin"], ["--until", "2026-04-01"], ["--until", "never"]):
        memory.mem("edit", "MEMORY.md:3", *options, "--reason", "x", env=NOW)
    assert line(memory) == f"- {FACT} <!-- mem type=decision src=memory/2026-02-05.md#L3 -->"
    again = memory.mem("edit", "MEMORY.md:3", "--unpin", "--reason", "x", check=False)
    assert again.returncode == 2 and "that is so already" in again.stderr
    assert memory.git("rev-list", "--count", "HEAD").strip() == "5"


def test_a_successor_names_what_it_replaces_and_has_no_source(memory: Repo) -> None:
    memory.mem("edit", "MEMORY.md:3", "PoC phase 2 uses gRPC", "--supersede", "--reason", "phase 2", env=NOW)
    assert (
        line(memory) == f"- PoC phase 2 uses gRPC <!-- mem type=decision from=2026-03-02 supersedes={fact_id(FACT)} -->"
    )
    message = memory.git("log", "-1", "--format=%B")
    assert "Memory-Rejected: MEMORY.md sha256:" in message and "Memory-Source" not in message


@pytest.mark.parametrize("options", [[], ["--pin", "--over"], ["text", "--pin"], ["--supersede"], ["--until", "soon"]])
def test_one_thing_at_a_time_is_asked_for(memory: Repo, options: list[str]) -> None:
    done = memory.mem("edit", "MEMORY.md:3", *options, "--reason", "x", check=False)
    assert done.returncode == 2 and memory.git("rev-list", "--count", "HEAD").strip() == "1"


def test_keys_keep_their_places() -> None:
    meta = (("type", "rule"), ("until", "2026-01-01"), ("tags", "a"))
    assert with_keys(meta, {"until": "2027-01-01"}) == (("type", "rule"), ("until", "2027-01-01"), ("tags", "a"))
    assert with_keys(meta, {"until": "", "pinned": "true"}) == (("type", "rule"), ("tags", "a"), ("pinned", "true"))


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_every_byte_but_the_comment_stays(repo: Repo, end: str) -> None:
    text = "*  run `make  it` and e\u0301  then\ttab"
    repo.commit("first", {"MEMORY.md": f"# Memory\n\n{text}{end}"})
    for options, comment in ((["--pin"], " <!-- mem pinned=true -->"), (["--unpin"], "")):
        repo.mem("edit", "MEMORY.md:3", *options, "--reason", "x")
        data = (repo.path / "MEMORY.md").read_bytes().decode()
        assert data == f"# Memory\n\n{text}{comment}{end}"
