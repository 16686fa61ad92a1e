"""The Python API answers as the commands do."""

from __future__ import annotations

import inspect
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from gitmem import api
from gitmem.errors import Incomplete, MissingFile, NotARepository, Refused, UnknownFact, UsageError
from gitmem.json_schema import keys
from gitmem.memory.fact import fact_id
from gitmem.memory.insights import Recorded
from gitmem.memory.writing import Added
from gitmem.provenance.corrections import Correction
from gitmem.sessions.working_memory import Value
from tests.harness import Repo

NOW = datetime(2026, 2, 6, 10, 0, tzinfo=UTC)
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_NOW", NOW.isoformat())
    text = "# Memory\n\n## Decisions\n\n- PoC phase 1 uses REST webhooks: easier to debug.\n- Invoices are in UTC.\n"
    repo.commit("one", {"MEMORY.md": text}, date="2026-02-05T09:00:00+00:00")
    repo.commit("two", {"memory/2026-02-05.md": "# 2026-02-05\n\n## 09:00 - api\n\n- Webhook retries back off.\n"})
    return repo


def told(repo: Repo, *args: str) -> Any:
    return json.loads(repo.mem(*args, "--json").stdout)


@pytest.mark.parametrize(
    ("typed", "printed"),
    [(api.Added, Added), (api.Corrected, Correction), (api.Insight, Recorded), (api.SessionValue, Value)],
)
def test_the_types_of_the_api_have_the_keys_that_commands_print(typed: type, printed: type) -> None:
    assert [key.name for key in keys(typed)] == [key.name for key in keys(printed)]


def test_every_method_returns_what_its_command_prints(memory: Repo) -> None:
    with api.open(memory.path) as opened:
        assert opened.search("why webhooks", limit=3) == told(memory, "search", "why webhooks", "-n", "3")
        assert opened.search("retries", at="HEAD~1") == told(memory, "search", "retries", "--at", "HEAD~1")
        assert opened.search("invoices", paths=["MEMORY.md"], since="2026-01-01") == told(
            memory, "search", "invoices", "--path", "MEMORY.md", "--since", "2026-01-01"
        )
        assert opened.get("MEMORY.md", 5, 6) == told(memory, "show", "MEMORY.md:5-6")
        assert opened.get("MEMORY.md", at="HEAD~1") == told(memory, "show", "MEMORY.md", "--at", "HEAD~1")
        assert opened.why("MEMORY.md", 5) == told(memory, "why", "MEMORY.md:5")
        assert opened.context("webhook retries", budget=900) == told(
            memory, "context", "webhook retries", "--budget", "900"
        )
        more = opened.context(
            "webhook", subjects=["MEMORY.md"], include=["MEMORY.md:5-5"], loaded=["SOUL.md"], without_layers=["daily"],
            without_paths=["memory/x*"], without_agents=["coder"], preset="compact", max_age=60, at="HEAD",
        )  # fmt: skip
        assert more == told(
            memory, "context", "webhook", "--for", "MEMORY.md", "--include", "MEMORY.md:5-5", "--loaded", "SOUL.md",
            "--exclude-layer", "daily", "--exclude-path", "memory/x*", "--exclude-agent", "coder", "--preset", "compact",
            "--max-age", "60", "--at", "HEAD",
        )  # fmt: skip


def test_what_is_written_is_what_the_commands_write(memory: Repo, tmp_path: Any) -> None:
    twin = Repo(tmp_path / "twin", init=False)
    twin.run("git", "clone", "-q", str(memory.path), str(twin.path / "clone"))
    twin = Repo(tmp_path / "twin/clone", init=False)
    with api.open(memory.path, settings={"agent": "coder"}) as opened:
        added = opened.add("Deployed v2.3.0", tags=["deploy"], topic="ops")
        lasting = opened.add("Use UTC everywhere", type="decision")
        assert added == told(twin, "add", "Deployed v2.3.0", "--tag", "deploy", "--topic", "ops", "--agent", "coder")
        assert lasting == told(twin, "add", "Use UTC everywhere", "--type", "decision", "--agent", "coder")
        assert memory.read(added["path"]) == twin.read(added["path"]) and added["path"].endswith(".coder.md")
        memory.commit("more")
        twin.commit("more")
        gone = opened.forget("MEMORY.md", 6, reason="moved to settings")
        there = told(twin, "forget", "MEMORY.md:6", "--reason", "moved to settings")
        assert gone["facts"] == there["facts"] and memory.read("MEMORY.md") == twin.read("MEMORY.md")
        assert memory.git("log", "-1", "--format=%H").strip() == gone["commit"]


@pytest.mark.parametrize("words", [[], ["--everywhere"]])
def test_forgetting_is_shown_before_it_is_done_and_done_everywhere(
    memory: Repo, tmp_path: Any, words: list[str]
) -> None:
    memory.commit("again", {"memory/2026-02-06.md": "# 2026-02-06\n\n## 09:00 - api\n\n- Invoices are in UTC.\n"})
    twin = Repo(tmp_path / "twin", init=False)
    twin.git("clone", "-q", str(memory.path), ".")
    typed = ["forget", "MEMORY.md:6", "--reason", "moved", *words]
    with api.open(memory.path) as opened:
        shown = opened.forget("MEMORY.md", 6, reason="moved", everywhere=bool(words), dry_run=True)
        assert shown == told(twin, *typed, "--dry-run") and memory.git("status", "--porcelain") == ""
        done = opened.forget("MEMORY.md", 6, reason="moved", everywhere=bool(words))
    assert {**done, "commit": ""} == {**told(twin, *typed), "commit": ""}
    assert ("UTC" in memory.git("show", "HEAD:memory/2026-02-06.md")) == (not words)


def test_errors_are_values_with_a_hint_and_quote_no_secret(memory: Repo, tmp_path: Any) -> None:
    with api.open(memory.path, now=lambda: NOW) as opened:
        with pytest.raises(Refused) as refused:
            opened.add(f"the token is {TOKEN}")
        assert TOKEN not in refused.value.message + refused.value.hint and refused.value.hint
        with pytest.raises(MissingFile):
            opened.get("memory/none.md")
        for wrong in (
            lambda: opened.add("x", type="nonsense"), lambda: opened.search("x", since="soon"),
            lambda: opened.context("x", without_layers=["nonsense"]), lambda: opened.context("x", preset="none"),
            lambda: opened.edit("MEMORY.md", 5, reason="why"), lambda: opened.edit("MEMORY.md", 5, text="x", reason=" "),
            lambda: opened.edit("MEMORY.md", 5, text="x", over=True, reason="why"), lambda: opened.promote(mode="none"),
            lambda: opened.forget(reason="why"), lambda: opened.forget("MEMORY.md", 5, id="0" * 12, reason="why"),
            lambda: opened.forget(id="zebra", reason="why"), lambda: opened.revert(), lambda: opened.session(" "),
            lambda: opened.session("s1").set("a:b:c:d:e", "x"), lambda: opened.session("s1").flush([{"role": "user"}]),
            lambda: opened.context("x", budget=0), lambda: opened.forget("MEMORY.md", 5, reason=" "), lambda: opened.get("MEMORY.md", 99),
        ):  # fmt: skip
            with pytest.raises(UsageError):
                wrong()
    with pytest.raises(NotARepository):
        api.open(tmp_path)


def test_a_pipeline_writes_its_insight_or_is_told_what_is_missing(memory: Repo, tmp_path: Any) -> None:
    twin = Repo(tmp_path / "twin", init=False)
    twin.git("clone", "-q", str(memory.path), ".")
    with api.open(memory.path) as opened:
        planned = opened.insight("에이스", "마진이 3 %로 내렸다", dry_run=True)
        assert (
            planned == told(twin, "insight", "--dry-run", "[에이스] 마진이 3 %로 내렸다")
            and planned["written"] is False
        )
        assert memory.git("status", "--porcelain") == ""
        done = opened.insight("에이스", "마진이 3 %로 내렸다")
        assert done == told(twin, "insight", "[에이스] 마진이 3 %로 내렸다") and memory.read("MEMORY.md") == twin.read(
            "MEMORY.md"
        )
        with pytest.raises(Incomplete) as refused:
            opened.insight("Globex", "margin: ?, revenue 0.00, 출시일 미정")
        assert refused.value.missing == ("'?' behind 'margin'", "'0.00' behind 'revenue'", "'미정' behind '출시일'")
        with pytest.raises(Refused):
            opened.insight("Globex", f"the token is {TOKEN}")
        with pytest.raises(UsageError):
            opened.insight("Glo]bex", "orders doubled")
        with pytest.raises(UsageError, match="no brackets"):
            opened.insight("Globex] Q3", "orders doubled")
    assert "Globex" not in memory.read("MEMORY.md")


def test_a_fact_is_corrected_by_its_place_or_its_id(memory: Repo) -> None:
    old, new = "Invoices are in UTC.", "Invoices are in local time."
    with api.open(memory.path, settings={"agent": "coder"}, now=lambda: NOW) as opened:
        done = opened.edit(id=fact_id(old)[:8], text=new, reason="decided in May")
        assert done["facts"][0]["new_text"] == new and memory.git("log", "-1", "--format=%H").strip() == done["commit"]
        assert opened.edit(id=fact_id(new), pinned=True, reason="it is law")["commit"]
        assert opened.edit("MEMORY.md", 6, until="2026-12-31", reason="a year")["commit"]
        line = memory.read("MEMORY.md").splitlines()[5]
        assert new in line and "pinned" in line and "until=2026-12-31" in line
        with pytest.raises(UnknownFact):
            opened.edit(id=fact_id(old), text="x y z", reason="it is gone")
        with pytest.raises(UnknownFact):
            opened.forget("MEMORY.md", 1, reason="a heading")
        shown = opened.forget(id=fact_id(new), reason="over", dry_run=True)
        assert shown["commit"] is None and shown["facts"][0]["id"] == fact_id(new)
        opened.forget(id=fact_id(new), reason="over")
    assert new not in memory.read("MEMORY.md")


def test_two_facts_of_one_text_are_not_corrected_by_their_id(memory: Repo) -> None:
    memory.commit("twice", {"MEMORY.md": "# Memory\n\n## Paris\n\n- We rent it.\n\n## Seoul\n\n- We rent it.\n"})
    with api.open(memory.path) as opened, pytest.raises(UnknownFact) as unknown:
        opened.forget(id=fact_id("We rent it."), reason="over")
    assert "MEMORY.md:5, MEMORY.md:9" in unknown.value.message


def test_promoting_and_taking_back_are_the_commands(memory: Repo) -> None:
    said = "# 2026-02-06\n\n## 09:00 - api\n\n- We decided to use PostgreSQL 16 for the ledger because it has row security.\n"
    memory.commit("log", {"memory/2026-02-06.md": said})
    with api.open(memory.path) as opened:
        planned = opened.promote(dry_run=True)
        assert planned == told(memory, "promote", "--dry-run") and planned["commits"] == [] and planned["facts"]
        done = opened.promote()
        assert len(done["commits"]) == 1 and "PostgreSQL 16" in memory.read("MEMORY.md")
        shown = opened.revert(source="memory/2026-02-06.md", dry_run=True)
        assert shown == told(memory, "revert", "--source", "memory/2026-02-06.md", "--dry-run") and shown["facts"]
        opened.revert(source="memory/2026-02-06.md", reason="it was a test")
        assert "PostgreSQL 16" not in memory.read("MEMORY.md")
        assert opened.receipts() == told(memory, "receipts")


def test_a_session_keeps_its_values_flushes_and_ends(memory: Repo) -> None:
    turns: list[api.Turn] = [
        {"role": "user", "text": "We use REST webhooks for the ledger, because gRPC is not allowed.", "at": NOW.isoformat()},
        {"role": "assistant", "text": "Noted.", "at": NOW.isoformat()},
        {"role": "user", "text": "Thanks.", "at": NOW.isoformat()},
    ]  # fmt: skip
    with api.open(memory.path) as opened:
        opened.session("s1", agent="coder").set("task:deploy", f"half done; token {TOKEN}")
        kept = opened.session("s1").set("acme:plan", "call 010-9482-7315")
        assert sum(kept["masked"].values()) == 1 and "9482" not in kept["value"] and kept["session"] == "s1"
        assert [row["key"] for row in opened.session("s1", agent="coder").list()] == ["acme:plan", "task:deploy"]
        assert [row["key"] for row in opened.session("s1").list("acme")] == ["acme:plan"]
        assert opened.session("s2").get("acme:plan") is None
        assert "call" in opened.session("s1").context("Acme?")["text"]
        assert "call" not in opened.session("s1").context("Globex?", entity="globex")["text"]
        opened.session("s1").set("acme:plan", "")
        assert opened.session("s1").get("acme:plan") is None
        flushed = opened.session("s1", agent="coder").flush(turns)
        assert "REST webhooks for the ledger" in flushed["kept"][0]["text"] and "episode" not in flushed
        assert opened.session("s1", agent="coder").flush(turns)["kept"] == []
        ended = opened.session("s1", agent="coder").end(turns)
        assert ended["episode"] and "REST webhooks" in memory.read(ended["episode"])
        assert memory.read("memory/2026-02-06.coder.md").count("REST webhooks for the ledger") == 1


def test_the_organisation_is_read_at_what_is_pinned_and_closed_with_the_memory(memory: Repo, tmp_path: Any) -> None:
    other = Repo(tmp_path / "organisation")
    first = other.commit("one", {"MEMORY.md": "# Memory\n\n- Every service logs in UTC.\n"})
    other.commit("two", {"MEMORY.md": "# Memory\n\n- Every service logs in local time.\n"})
    with api.open(memory.path) as opened:
        assert opened.organisation() is None
    with api.open(memory.path, settings={"organisation": f"{other.path}#{first}"}) as opened:
        organisation = opened.organisation()
        assert organisation is not None
        assert "UTC" in organisation.search("how do services log?", limit=1)["hits"][0]["text"]
        assert "local time" not in organisation.get("MEMORY.md")["text"]
        with pytest.raises(MissingFile):
            organisation.get("memory/none.md")


@pytest.mark.parametrize(
    ("port", "implementation"),
    [
        (api.OrganisationMemory, api.Organisation), (api.ProjectMemory, api.Memory), (api.SessionMemory, api.Session),
        (api.OrganisationMemory, api.Memory),
    ],
)  # fmt: skip
def test_an_implementation_takes_whatever_its_port_promises(port: type, implementation: type) -> None:
    methods = [name for name, value in vars(port).items() if inspect.isfunction(value) and not name.startswith("_")]
    assert methods
    for name in methods:
        promised = inspect.signature(getattr(port, name)).parameters
        given = inspect.signature(getattr(implementation, name)).parameters
        for key, parameter in promised.items():
            assert key in given and given[key].default == parameter.default, f"{implementation.__name__}.{name}({key})"
