"""Nobody sees another tenant's memory, whatever they ask and however they spell it (docs/threats.md, A48)."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gitmem.errors import IndexUnusable, UsageError
from gitmem.server.administration import hash_of
from gitmem.server.postgres.database import Database, ensure_safe
from gitmem.server.web.openapi import description
from tests.harness import Repo
from tests.server.conftest import NOW, Server

SCOPES = ("read", "propose", "admin")
TABLES = (
    "repository",
    "removed",
    "ref",
    "meta",
    "embedder",
    "blob",
    "chunk",
    "place",
    "segment",
    "posting",
    "snapshot",
    "entry",
    "audit",
)
WORD = {"acme": "pangolin", "rival": "narwhal"}


@pytest.fixture
def both(server: Server, tmp_path: Path) -> Server:
    """Two tenants with a repository of the same name, and one each that the other has not."""
    for tenant, word in WORD.items():
        for name in ("notes", f"{tenant}-own"):
            repo = Repo(tmp_path / tenant / name)
            repo.commit("memory", {"MEMORY.md": f"# Memory\n\n- The {word} sleeps in {name}\n"})
            server.add(tenant, name, repo)
    return server


@pytest.fixture
def live(both: Server) -> Iterator[Server]:
    """The same with what MCP needs running."""
    with both.client:
        yield both


def requests_of(tenant: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every address with every repository that there is, and some that there is not."""
    names = ["notes", "acme-own", "rival-own", "absent", "", "../notes", "1", "%", "notes'--"]
    for name in names:
        for query in WORD.values():
            yield "POST", "/v1/search", {"json": {"query": query, "repository": [name] if name else []}}
        yield "GET", "/v1/lines", {"params": {"repository": name, "path": "MEMORY.md"}}
        yield "POST", "/v1/context", {"json": {"prompt": "who sleeps", "repository": [name] if name else []}}
        yield "POST", "/v1/seen", {"json": {"alert": "who sleeps", "repository": [name] if name else []}}
        yield "POST", "/v1/propose", {"json": {"repository": name, "text": "it sleeps"}}
    yield "GET", "/v1/repositories", {}
    yield "GET", "/v1/audit", {}


def test_every_address_is_in_the_matrix() -> None:
    asked = {(method.lower(), address) for method, address, _ in requests_of("acme")}
    described = {(method, path) for path, methods in description()["paths"].items() for method in methods}
    assert asked == described


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("tenant", list(WORD))
def test_no_answer_has_anything_of_another_tenant(both: Server, tenant: str, scope: str) -> None:
    other = next(name for name in WORD if name != tenant)
    seen = []
    for method, address, given in requests_of(tenant):
        answer = both.ask(f"{tenant} {scope}", method, address, **given)
        text = answer.text if "json" not in given else str(answer.json().get("hits", answer.json()))
        assert WORD[other] not in text and f"{other}-own" not in text
        needed = {"/v1/audit": 2, "/v1/propose": 1}.get(address, 0)
        assert answer.status_code in ((200, 400) if SCOPES.index(scope) >= needed else (403, 400))
        seen += [WORD[tenant] in text]
    assert any(seen)


def test_only_the_scope_admin_reads_the_audit_log(both: Server) -> None:
    assert [both.ask(f"acme {scope}", "GET", "/v1/audit").status_code for scope in SCOPES] == [403, 403, 200]


def tool_calls(tenant: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every tool of MCP with every repository that there is, and some that there is not."""
    for name in ("notes", "acme-own", "rival-own", "absent", "../notes", "1", "%"):
        for query in WORD.values():
            yield "memory_search", {"query": query, "repository": name}
        yield "memory_get", {"repository": name, "path": "MEMORY.md"}
        yield "memory_context", {"prompt": "who sleeps", "repositories": [name]}
        yield "memory_propose", {"repository": name, "text": "it sleeps"}
    yield "memory_search", {"query": " ".join(WORD.values())}
    yield "memory_context", {"prompt": "who sleeps"}


def call(server: Server, who: str, tool: str, arguments: dict[str, Any]) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"Accept": "application/json, text/event-stream"}
    return server.ask(who, "POST", "/mcp", json=body, headers=headers)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("tenant", list(WORD))
def test_no_tool_has_anything_of_another_tenant(live: Server, tenant: str, scope: str) -> None:
    other, seen, used = next(name for name in WORD if name != tenant), [], set()
    for tool, arguments in tool_calls(tenant):
        answer = call(live, f"{tenant} {scope}", tool, arguments)
        assert answer.status_code == 200 and WORD[other] not in answer.text and f"{other}-own" not in answer.text
        seen.append(WORD[tenant] in answer.text)
        used.add(tool)
    listed = live.ask(
        f"{tenant} {scope}", "POST", "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        headers={"Accept": "application/json, text/event-stream"},
    ).json()["result"]["tools"]  # fmt: skip
    assert any(seen) and used == {tool["name"] for tool in listed}


FOREIGN = pytest.mark.parametrize(
    "method, address, key",
    [
        ("POST", "/v1/search", "json"), ("GET", "/v1/lines", "params"), ("POST", "/v1/context", "json"),
        ("POST", "/v1/propose", "json"), ("POST", "memory_search", ""), ("POST", "memory_get", ""),
        ("POST", "memory_propose", ""),
    ],
)  # fmt: skip


def named(both: Server, method: str, address: str, key: str, name: str) -> tuple[int, bytes]:
    """The answer to a request that names a repository."""
    given = {"query": "sleeps", "prompt": "sleeps", "repository": name, "path": "MEMORY.md", "text": "it sleeps"}
    if key:
        answer = both.ask("acme propose", method, address, **{key: given})
    else:
        fields = {"memory_search": ("query",), "memory_get": ("path",), "memory_propose": ("text",)}[address]
        answer = call(both, "acme propose", address, {field: given[field] for field in ("repository", *fields)})
    return answer.status_code, answer.content


@FOREIGN
def test_foreign_and_absent_names_give_the_same_bytes(live: Server, method: str, address: str, key: str) -> None:
    foreign, absent = (named(live, method, address, key, name) for name in ("rival-own", "absent"))
    assert foreign == absent and (b"no such repository" in absent[1])


@FOREIGN
def test_foreign_and_absent_names_run_the_same_statements(
    live: Server, method: str, address: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they take is the same for that: whether a name is somebody's shows in no statement more."""
    run: list[str] = []
    execute = psycopg.Connection.execute

    def recorded(connection: Any, query: Any, *given: Any, **more: Any) -> Any:
        run.append(str(query))
        return execute(connection, query, *given, **more)

    monkeypatch.setattr(psycopg.Connection, "execute", recorded)
    statements = []
    for name in ("rival-own", "absent"):
        run.clear()
        named(live, method, address, key, name)
        statements.append(list(run))
    assert statements[0] == statements[1] and len(statements[0]) > 3


def test_a_token_for_one_repository_sees_no_other_of_its_tenant(both: Server) -> None:
    token = both.owner.new_token(both.enter("acme"), "narrow", "read", ["acme-own"], 0, NOW)
    assert {hit["repository"] for hit in both.search(token, "pangolin")["hits"]} == {"acme-own"}
    assert both.ask(token, "GET", "/v1/repositories").json()["repositories"][0]["name"] == "acme-own"
    assert len(both.ask(token, "GET", "/v1/repositories").json()["repositories"]) == 1
    for method, address, given in (
        ("POST", "/v1/search", {"json": {"query": "pangolin", "repository": "notes"}}),
        ("GET", "/v1/lines", {"params": {"repository": "notes", "path": "MEMORY.md"}}),
    ):
        foreign = both.ask(token, method, address, **given)
        assert foreign.status_code == 400 and "pangolin" not in foreign.text


def test_expired_revoked_and_made_up_tokens_are_the_same(both: Server) -> None:
    tenant = both.enter("acme")
    expired = both.owner.new_token(tenant, "old", "read", (), 1, NOW - timedelta(days=4000))
    revoked = both.owner.new_token(tenant, "gone", "read", (), 0, NOW)
    assert both.ask(revoked, "GET", "/v1/repositories").status_code == 200
    both.owner.revoke(tenant, "gone")
    answers = [both.ask(token, "GET", "/v1/repositories") for token in (expired, revoked, "gitmem_made-up", "x" * 5000)]
    assert {answer.status_code for answer in answers} == {401} and len({answer.content for answer in answers}) == 1
    assert both.ask("", "GET", "/v1/repositories").content == answers[0].content


def test_a_token_is_rotated_without_a_gap(both: Server) -> None:
    """The old one holds for a while beside the new one, which sees and may do the same; then the new one alone."""
    tenant, owner = both.enter("acme"), both.owner
    old = owner.new_token(tenant, "service", "propose", ["acme-own"], 0, NOW)
    new = owner.rotate(tenant, "service", 90, 24, datetime.now(UTC))

    def seen(token: str) -> tuple[int, bytes]:
        answer = both.ask(token, "GET", "/v1/repositories")
        return answer.status_code, answer.content

    assert seen(old) == seen(new) and seen(new)[0] == 200 and b"notes" not in seen(new)[1]
    rows = owner._connection.execute(
        "SELECT scope, expires FROM token WHERE tenant = %s AND name = 'service' ORDER BY id", (tenant,)
    ).fetchall()
    assert [scope for scope, _ in rows] == ["propose", "propose"] and rows[0][1] < rows[1][1]
    owner._connection.execute("UPDATE token SET expires = now() WHERE hash = %s", (hash_of(old),))  # the day after
    assert (seen(old)[0], seen(new)[0]) == (401, 200)
    at_once = owner.rotate(tenant, "service", 0, 0, NOW)
    assert (seen(new)[0], seen(at_once)[0]) == (401, 200)
    owner.revoke(tenant, "service")
    with pytest.raises(UsageError, match="no token 'service' holds"):
        owner.rotate(tenant, "service", 0, 24, NOW)


def test_the_server_sees_no_row_without_a_tenant_and_none_of_another(both: Server) -> None:
    database = both.running.database
    for table in TABLES:
        with database.anyone() as connection:
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
        with database.tenant(both.numbers["acme"]) as connection:
            row = connection.execute(
                f"SELECT count(*) FROM {table} WHERE tenant <> %s", (both.numbers["acme"],)
            ).fetchone()
            assert row == (0,), table


@pytest.mark.parametrize("table", ["token", "job", "tenant"])
def test_the_server_reads_no_table_of_all_tenants(both: Server, table: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege), both.running.database.anyone() as connection:
        connection.execute(f"SELECT * FROM {table}")


def test_the_server_writes_no_row_of_another_tenant(both: Server) -> None:
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege),
        both.running.database.tenant(both.numbers["acme"]) as connection,
    ):
        connection.execute("INSERT INTO meta VALUES (%s, 'a', 'b')", (both.numbers["rival"],))


def test_the_server_does_not_start_as_a_role_that_sees_everything(both: Server) -> None:
    database = Database(both.owner_url, connections=1)
    try:
        with pytest.raises(IndexUnusable, match="bypasses"):
            ensure_safe(database)
    finally:
        database.close()


def test_the_audit_log_has_no_text_and_is_only_ever_added_to(both: Server) -> None:
    both.search("acme read", "where does the pangolin sleep")
    rows = both.ask("acme admin", "GET", "/v1/audit").json()["audit"]
    assert rows[0]["action"] == "search" and rows[0]["hits"] > 0
    assert "pangolin" not in str(rows)
    for change in ("UPDATE audit SET hits = 0", "DELETE FROM audit", "TRUNCATE audit"):
        with pytest.raises(psycopg.Error), both.owner._connection.transaction():
            both.owner._connection.execute(change)


def test_a_dump_of_the_database_has_no_word_of_memory(both: Server) -> None:
    """Every column of every table, as bytes and as text."""
    connection = both.owner._connection
    names = [name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    for word, table in itertools.product((*WORD.values(), "sleeps"), names):
        rows = connection.execute(
            f"SELECT count(*) FROM {table} AS row WHERE row::text ILIKE %s", (f"%{word}%",)
        ).fetchone()
        assert rows == (0,), (word, table)
        rows = connection.execute(
            f"SELECT count(*) FROM {table} AS row WHERE row::text LIKE %s", (f"%{word.encode().hex()}%",)
        ).fetchone()
        assert rows == (0,), (word, table)


def test_two_tenants_hashes_of_one_word_have_nothing_in_common(both: Server) -> None:
    connection = both.owner._connection
    query = "SELECT term FROM posting WHERE tenant = %s"
    terms = [{term for (term,) in connection.execute(query, (both.numbers[tenant],))} for tenant in WORD]
    assert all(terms) and not terms[0] & terms[1]  # "the", "in", "Memory" are in both


def test_random_requests_cross_nothing(live: Server) -> None:
    live.owner._connection.execute("UPDATE tenant SET searches_a_minute = 100000 WHERE id = %s", (live.enter("acme"),))
    fuzzed(live, 19, 40)


@pytest.mark.stress
def test_many_random_requests_cross_nothing(live: Server) -> None:
    live.owner._connection.execute("UPDATE tenant SET searches_a_minute = 1e6 WHERE id = %s", (live.enter("acme"),))
    for seed in range(20):
        fuzzed(live, seed, 200)


def fuzzed(both: Server, seed: int, rounds: int) -> None:
    """Requests to every address and tool with random fields: none fails, none tells of the other tenant."""
    rng = random.Random(seed)
    words = ["pangolin", "narwhal", "rival-own", "acme-own", "notes", "MEMORY.md", "main", "refs/heads/main", "HEAD", "\0", "'", "é", "*", 1, None, True, [], {}, [["x"]], ["rival-own"], ["notes", "rival-own"], "x" * 300, -1, 2**70]  # fmt: skip
    names = ["query", "prompt", "text", "repository", "repositories", "path", "ref", "at", "type", "tag", "since", "until", "lane", "limit", "explain", "history", "all", "budget", "first", "count", "to", "title"]  # fmt: skip
    tools = ["memory_search", "memory_get", "memory_context", "memory_propose", "memory_none"]
    for _ in range(rounds):
        given = {name: rng.choice(words) for name in rng.sample(names, rng.randrange(1, 8))}
        texts = {name: str(value) for name, value in given.items()}
        answers = [
            *(both.ask("acme propose", "POST", f"/v1/{at}", json=given) for at in ("search", "context", "propose")),
            *(both.ask("acme admin", "GET", f"/v1/{at}", params=texts) for at in ("lines", "audit", "repositories")),
            call(both, "acme propose", rng.choice(tools), given),
        ]
        for answer in answers:
            assert answer.status_code < 500, (given, answer.text)
            assert "narwhal sleeps" not in answer.text and "sleeps in rival-own" not in answer.text


def test_a_tenant_has_a_number_of_searches_a_minute(both: Server) -> None:
    tenant = both.enter("acme")
    both.owner._connection.execute("UPDATE tenant SET searches_a_minute = 3 WHERE id = %s", (tenant,))
    statuses = [both.ask("acme read", "POST", "/v1/search", json={"query": "a"}).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert both.ask("rival read", "POST", "/v1/search", json={"query": "a"}).status_code == 200


def test_the_owner_of_the_tables_is_no_role_for_the_server(both: Server) -> None:
    connection = both.owner._connection
    name = f"owner_{both.numbers['acme']}"
    connection.execute(f"CREATE ROLE {name} LOGIN")
    connection.execute(f"GRANT SELECT ON token TO {name}")
    database = Database(both.owner_url.replace("postgres:@", f"{name}:@"), connections=1)
    try:
        with pytest.raises(IndexUnusable, match="owner"):
            ensure_safe(database)
    finally:
        database.close()


def test_no_temporary_table_takes_the_place_of_one_of_ours(both: Server) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege), both.running.database.anyone() as connection:
        connection.execute("CREATE TEMPORARY TABLE job (id int)")
    paths = both.owner._connection.execute(
        "SELECT proname, array_to_string(proconfig, ' ') FROM pg_proc WHERE prosecdef"
        " AND pronamespace = 'public'::regnamespace"
    ).fetchall()
    assert len(paths) == 12 and all(path.endswith("public, pg_temp") for _, path in paths)


def test_searches_as_of_a_day_leave_the_other_tenant_its_answers(both: Server, tmp_path: Path) -> None:
    """An ingest under way holds the tenant's lock: those that wait for it take no connection of the others."""
    repo = Repo(tmp_path / "acme" / "notes", init=False)
    repo.commit("next", {"MEMORY.md": "# Memory\n\n- The pangolin moved\n"})
    both.running.operations.ingest.fetch(both.numbers["acme"], both.owner.repository(both.enter("acme"), "notes"))
    given = {"query": "a", "repository": "notes", "at": "HEAD~1"}
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(both.ask("acme read", "POST", "/v1/search", json=given).status_code)

    with both.running.writers.ingesting(both.numbers["acme"]):
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        answers = [both.ask("rival read", "POST", "/v1/search", json={"query": "narwhal"}) for _ in range(3)]
        for thread in threads:
            thread.join()
    assert {answer.status_code for answer in answers} == {200} and set(statuses) == {503}
    assert both.ask("acme read", "POST", "/v1/search", json=given).status_code == 200


def test_a_removed_repository_is_told_from_one_that_never_was(both: Server) -> None:
    both.search("acme read", "pangolin", repository="acme-own")
    both.owner.remove_repository(both.enter("acme"), "acme-own")
    both.work()
    proof = both.owner.audit(both.numbers["acme"], "acme-own")
    assert not proof["there"] and proof["removed"] and not any(proof["rows"].values())
    assert [(row["action"], row["subject"]) for row in proof["asked"]] == [("search", "")]
    assert isinstance(proof["asked"][0]["token"], int)
    with pytest.raises(UsageError, match="never was"):
        both.owner.audit(both.numbers["acme"], "no-such")


def test_an_administrator_of_one_repository_reads_the_log_of_that_one(both: Server) -> None:
    both.search("acme read", "pangolin", repository="notes")
    token = both.owner.new_token(both.enter("acme"), "narrow", "admin", ["acme-own"], 0, NOW)
    both.search(token, "pangolin")
    number = both.owner.repository(both.numbers["acme"], "acme-own")
    rows = both.ask(token, "GET", "/v1/audit").json()["audit"]
    assert rows and all(number in row["repositories"] for row in rows)


def test_a_branch_is_taken_before_a_tag_of_its_name(both: Server, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "twice")
    repo.commit("old", {"MEMORY.md": "# Memory\n\n- The pangolin was a tag\n"})
    repo.git("tag", "v1")
    repo.commit("new", {"MEMORY.md": "# Memory\n\n- The pangolin is a branch\n"})
    repo.git("branch", "v1")
    both.add("acme", "twice", repo)
    hits = both.search("acme read", "pangolin", ref="v1", repository="twice")["hits"]
    assert hits and all("branch" in hit["text"] for hit in hits)
    shown = both.ask("acme read", "GET", "/v1/lines", params={"repository": "twice", "path": "MEMORY.md", "ref": "v1"})
    assert "is a branch" in shown.text and shown.json()["commit"] == hits[0]["commit"]


@pytest.mark.parametrize("field", ["query", "repository", "ref", "type", "path", "at"])
@pytest.mark.parametrize("text", ["\ud800", "a\0b"])
def test_a_text_that_is_none_is_one_sentence(both: Server, field: str, text: str) -> None:
    given = {"query": "a", "repository": "notes", field: text}
    answer = both.ask("acme read", "POST", "/v1/search", content=json.dumps(given).encode())
    assert answer.status_code == 400


def test_long_globs_are_refused(both: Server) -> None:
    for path in ("[a" * 15_000, ["a"] * 21):
        assert both.ask("acme read", "POST", "/v1/search", json={"query": "a", "path": path}).status_code == 400


def test_a_file_larger_than_what_is_indexed_is_not_read(both: Server, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "large")
    repo.commit("large", {"memory/large.md": "# Large\n" + "a" * (2 << 20)})
    both.add("acme", "large", repo)
    answer = both.ask("acme read", "GET", "/v1/lines", params={"repository": "large", "path": "memory/large.md"})
    assert answer.status_code == 400 and "1 MiB" in answer.text
