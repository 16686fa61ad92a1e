"""What is refused is counted and audited, over REST and MCP alike, and what was read is audited."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from gitmem.server.operations import Operations
from tests.harness import Repo
from tests.server.conftest import NOW, Server

ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def filled(server: Server, tmp_path: Path) -> Server:
    """A server where `acme` has `notes` and `plans`."""
    for name in ("notes", "plans"):
        repo = Repo(tmp_path / name)
        repo.commit("memory", {"MEMORY.md": f"# Memory\n\n- The okapi sleeps in {name}\n"})
        server.numbers[name] = server.add("acme", name, repo)
    return server


def newest(server: Server, *names: str) -> tuple[Any, ...]:
    """These fields of the newest row of the audit log."""
    row = server.ask("acme admin", "GET", "/v1/audit").json()["audit"][0]
    return tuple(row[name] for name in names)


def call(server: Server, who: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a tool over MCP."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    answer = server.ask(who, "POST", "/mcp", json=body, headers=ACCEPT)
    result: dict[str, Any] = answer.json()["result"]
    return result


def limit(server: Server, most: int) -> None:
    server.owner._connection.execute(
        "UPDATE tenant SET searches_a_minute = %s WHERE id = %s", (most, server.enter("acme"))
    )


def test_a_context_of_all_repositories_is_audited_with_those_it_read(filled: Server) -> None:
    made = filled.ask("acme read", "POST", "/v1/context", json={"prompt": "where does the okapi sleep"})
    assert "okapi" in made.json()["text"]
    read = sorted((filled.numbers["notes"], filled.numbers["plans"]))
    assert newest(filled, "action", "repositories", "status") == ("context", read, 200)


def test_a_refusal_over_mcp_is_audited(filled: Server) -> None:
    with filled.client:
        for tool, given, row in (
            ("memory_get", {"repository": "absent", "path": "MEMORY.md"}, ("lines", 400)),
            ("memory_propose", {"repository": "notes", "text": "an ibex"}, ("propose", 403)),
            ("memory_search", {"query": "okapi", "maxResults": 1000}, ("search", 400)),
            ("memory_get", {"repository": "notes"}, ("lines", 400)),
            ("memory_context", {"repositories": ["notes"] * 6}, ("context", 400)),
            ("memory_search", {"query": "okapi", "colour": 1}, ("search", 400)),
            ("no_such_tool", {}, ("unknown", 400)),
        ):
            assert call(filled, "acme read", tool, **given)["isError"]
            assert newest(filled, "action", "status") == row


def test_a_call_that_fits_no_tool_takes_a_turn(filled: Server) -> None:
    limit(filled, 3)
    with filled.client:
        for given in ({}, {"query": 1, "maxResults": "x"}, {"query": "okapi"}):
            told = str(call(filled, "acme read", "memory_search", **given))
            assert "may ask" not in told
        assert "may ask 3 times a minute" in str(call(filled, "acme read", "memory_search", query="okapi"))


@pytest.mark.parametrize(
    "method, address, given, status",
    [
        ("POST", "/v1/search", {"json": {"query": ""}}, 400),
        ("POST", "/v1/search", {"content": b"["}, 400),
        ("GET", "/v1/audit", {}, 403),
    ],
)
def test_a_refused_request_takes_a_turn(
    filled: Server, method: str, address: str, given: dict[str, Any], status: int
) -> None:
    limit(filled, 2)
    statuses = [filled.ask("acme read", method, address, **given).status_code for _ in range(4)]
    assert statuses == [status, status, 429, 429]


def test_at_with_a_token_whose_repository_was_removed_has_no_hits(filled: Server) -> None:
    tenant, number = filled.enter("acme"), filled.numbers["notes"]
    token = filled.owner.new_token(tenant, "one", "read", ("notes",), 0, NOW)
    assert filled.search(token, "okapi", at="HEAD")["hits"]
    filled.running.operations.ingest.remove(tenant, number)
    assert filled.search(token, "okapi")["hits"] == filled.search(token, "okapi", at="HEAD")["hits"] == []


def test_at_with_a_repository_that_is_not_fetched_yet_has_no_hits(filled: Server, tmp_path: Path) -> None:
    filled.owner.add_repository(filled.enter("acme"), "later", str(tmp_path / "notes"))
    for given in ({"at": "HEAD"}, {}):
        answer = filled.search("acme read", "okapi", repository="later", **given)
        assert answer["hits"] == [] and answer["stale"]  # "nothing found" would be untrue
    filled.work()
    answer = filled.search("acme read", "okapi", repository="later")
    assert answer["hits"] and not answer["stale"]


def test_a_search_says_so_while_a_repository_is_added_and_while_an_index_is_made_anew(
    filled: Server, tmp_path: Path
) -> None:
    assert not filled.search("acme read", "okapi")["stale"]
    filled.owner.add_repository(filled.enter("acme"), "later", str(tmp_path / "notes"))
    assert filled.search("acme read", "okapi")["stale"]
    assert not filled.search("acme read", "okapi", repository="notes")["stale"]
    filled.work()
    assert not filled.search("acme read", "okapi")["stale"]
    filled.owner.forget_index(filled.enter("acme"))
    answer = filled.search("acme read", "okapi")
    assert answer["hits"] == [] and answer["stale"]
    filled.work()
    answer = filled.search("acme read", "okapi")
    assert answer["hits"] and not answer["stale"]


@pytest.mark.parametrize("field", ["query", "since", "until", "at", "ref", "type", "lane"])
def test_half_a_character_is_refused_in_every_field(filled: Server, field: str) -> None:
    content = json.dumps({"query": "x", field: "\ud800"})
    assert filled.ask("acme read", "POST", "/v1/search", content=content.encode()).status_code == 400


PIECES = [
    "HEAD", "@", "main", "notes", "refs/heads/main", "v1.0", "a" * 40, "1a2b3c4", "2026-02-30", "2026-01-01", "~", "^", "~1", "^2",
    "~99999999999", ":/(a|aa)+x", "^{/(a|aa)+x}", "^{commit}", "@{1}", "@{upstream}", "@{-1}", ":0:MEMORY.md", "..", "--all",
    "*", "[a-", "\0", "\n", " ", "\ud83d", "브랜치", "é", "%00", "../", "x" * 5_000,
]  # fmt: skip


@pytest.mark.parametrize("count", [60, pytest.param(100_000, marks=pytest.mark.stress)])
def test_random_revisions_of_requests_are_answered_or_refused_and_end_nothing(
    filled: Server, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Operations, "take_turn", lambda operations, caller: None)  # each request is to be looked at
    rng = random.Random(40)
    for number in range(count):
        words = "".join(rng.choices(PIECES, k=rng.randint(1, 4)))
        given = {rng.choice(["at", "ref"]): words, "repository": rng.choice(["notes", "plans", words])}
        body = json.dumps({"query": "okapi", **given})
        answer = filled.ask(
            "acme read", "POST", "/v1/search", content=body, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code in (200, 400, 404), (number, given, answer.status_code)
    assert filled.search("acme read", "okapi")["hits"]
