"""The Python API answers as the commands do."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from gitmem import api
from gitmem.errors import MissingFile, NotARepository, Refused, UsageError
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
            lambda: opened.context("x", budget=0), lambda: opened.forget("MEMORY.md", 5, reason=" "), lambda: opened.get("MEMORY.md", 99),
        ):  # fmt: skip
            with pytest.raises(UsageError):
                wrong()
    with pytest.raises(NotARepository):
        api.open(tmp_path)
