"""REST as it is described, MCP with the SDK's own client, the command line, health and metrics."""

from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
import yaml
from jsonschema import Draft202012Validator
from prometheus_client.parser import text_string_to_metric_families

from gitmem.errors import BadConfig
from gitmem.server.settings import KNOWN_KEYS, read
from gitmem.server.web.openapi import description
from tests.harness import SOURCE, Repo
from tests.server.conftest import Server

SEARCHED = {"operation": "search", "status": "200"}


@pytest.fixture
def filled(server: Server, tmp_path: Path) -> Server:
    repo = Repo(tmp_path / "notes")
    repo.commit(
        "memory", {"MEMORY.md": "# Memory\n\n- The okapi eats leaves <!-- mem type=fact -->\n- 기린은 키가 크다\n"}
    )
    server.add("acme", "notes", repo)
    return server


def test_an_alert_finds_the_incident_of_a_repository_with_its_actions(server: Server, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "ops")
    log = "# 2026-02-03\n\n## 14:05 - pump failure in hall 4\n\n- The pump stopped.\n- Restarted the pump.\n- 정상화됐다.\n"
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- Invoices are in UTC\n", "memory/2026-02-03.md": log})
    server.add("acme", "ops", repo)
    alert = {"alerts": [{"labels": {"alertname": "PumpFailure"}, "annotations": {"summary": "pump failure in hall 4"}}]}
    value = server.ask("acme read", "POST", "/v1/seen", json={"alert": alert}).json()
    (one,) = value["incidents"]
    assert value["seen"] and (one["repository"], one["path"]) == ("ops", "memory/2026-02-03.md")
    assert [(action["text"], action["line"]) for action in one["actions"]] == [("Restarted the pump.", 6)]
    Draft202012Validator({**description(), "$ref": "#/components/schemas/Seen"}).validate(value)
    none = server.ask("acme read", "POST", "/v1/seen", json={"alert": "프린터 용지 부족"}).json()
    assert none == {"seen": False, "incidents": []}
    other = server.ask("rival read", "POST", "/v1/seen", json={"alert": alert}).json()
    assert other["incidents"] == []


@pytest.fixture
def address(filled: Server) -> Iterator[str]:
    """The server on a real socket of this machine."""
    config = uvicorn.Config(filled.running.application(), host="127.0.0.1", port=8470, log_level="critical")
    config.port = 0
    served = uvicorn.Server(config)
    thread = threading.Thread(target=served.run, daemon=True)
    thread.start()
    while not served.started:
        time.sleep(0.01)
    port = served.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    served.should_exit = True
    thread.join(timeout=10)


def strict(schema: Any) -> Any:
    """The same, without the leave to have more than is described."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return {**{key: strict(value) for key, value in schema.items()}, **closed}


def conforms(value: Any, schema: str) -> None:
    Draft202012Validator({**strict(description()), "$ref": f"#/components/schemas/{schema}"}).validate(value)


def test_the_description_is_one_of_openapi() -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator

    OpenAPIV31SpecValidator(description()).validate()


@pytest.mark.parametrize(
    "method, address, given, schema",
    [
        ("POST", "/v1/search", {"json": {"query": "okapi"}}, "Answer"),
        ("POST", "/v1/search", {"json": {"query": "okapi", "explain": True, "all": True}}, "Answer"),
        ("POST", "/v1/search", {"json": {"query": "memory", "repository": "notes", "history": "with"}}, "Answer"),
        ("POST", "/v1/search", {"json": {"query": ""}}, "Error"),
        ("GET", "/v1/repositories", {}, "Repositories"),
        ("GET", "/v1/lines", {"params": {"repository": "notes", "path": "MEMORY.md"}}, "Lines"),
        ("GET", "/v1/lines", {"params": {"repository": "notes", "path": "nope.md"}}, "Error"),
        ("GET", "/v1/audit", {}, "Audit"),
        ("POST", "/v1/context", {"json": {"prompt": "okapi"}}, "Context"),
        ("POST", "/v1/context", {"json": {"prompt": "okapi", "repository": "notes", "budget": 400}}, "Context"),
        ("POST", "/v1/context", {"json": {"prompt": "okapi", "repository": "absent"}}, "Error"),
        ("POST", "/v1/seen", {"json": {"alert": {"title": "okapi"}}}, "Seen"),
        ("POST", "/v1/seen", {"json": {"alert": 7}}, "Error"),
        ("POST", "/v1/seen", {"json": {"alert": "okapi", "repository": "absent"}}, "Error"),
        ("POST", "/v1/propose", {"json": {"repository": "notes", "text": "an ibex"}}, "Error"),
        ("GET", "/v1/nothing", {}, "Error"),
        ("PUT", "/v1/search", {}, "Error"),
        ("POST", "/v1/search", {"content": b"["}, "Error"),
        ("POST", "/v1/search", {"content": b"[1]"}, "Error"),
        ("POST", "/v1/search", {"content": b" " * 70_000}, "Error"),
        ("POST", "/v1/search", {"json": {"query": "a", "since": "no day"}}, "Error"),
        ("POST", "/v1/search", {"json": {"query": "a", "type": "nonsense"}}, "Error"),
    ],
)
def test_answers_are_as_described(
    filled: Server, method: str, address: str, given: dict[str, Any], schema: str
) -> None:
    filled.search("acme read", "okapi")  # a row of the audit log
    answer = filled.ask("acme admin", method, address, **given)
    conforms(answer.json(), schema)
    assert (answer.status_code == 200) == (schema != "Error")
    described = description()["paths"].get(address, {}).get(method.lower())
    if described:  # else there is no such address
        assert str(answer.status_code) in described["responses"]
        body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if body and schema != "Error":
            conforms(given["json"], body["$ref"].rpartition("/")[2])


def test_the_description_is_served_without_a_token(filled: Server) -> None:
    assert filled.ask("", "GET", "/v1/openapi.json").json() == description()


def test_a_file_outside_memory_is_not_read(filled: Server, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "code")
    repo.commit(
        "code", {"MEMORY.md": "# Memory\n\n- a\n", "src/app.py": "PRIVATE = 1\n", "memory/a.md": "# A\n\n- b\n"}
    )
    filled.add("acme", "code", repo)
    for path in (
        "src/app.py",
        "../notes/MEMORY.md",
        "/etc/passwd",
        ".git/config",
        "",
        "memory",
        "memory/../src/app.py",
    ):
        answer = filled.ask("acme read", "GET", "/v1/lines", params={"repository": "code", "path": path})
        assert answer.status_code == 400 and "PRIVATE" not in answer.text, path


def test_health_readiness_and_metrics(filled: Server) -> None:
    filled.search("acme read", "okapi")
    assert filled.ask("", "GET", "/healthz").text == filled.ask("", "GET", "/readyz").text == "ok\n"
    metrics = filled.ask("", "GET", "/metrics").text
    families = {family.name: family for family in text_string_to_metric_families(metrics)}
    asked = [one.value for one in families["gitmem_requests"].samples if one.labels == SEARCHED and "total" in one.name]
    assert asked and asked[0] >= 1
    stages = {one.labels["stage"] for one in families["gitmem_stage_seconds"].samples}
    assert {"request", "authenticate", "search", "statement", "git", "audit", "fetch"} <= stages
    assert families["gitmem_returned_tokens"].samples[0].value > 0
    named = {
        "gitmem_jobs",
        "gitmem_queue_age_seconds",
        "gitmem_repositories",
        "gitmem_oldest_fetch_seconds",
        "gitmem_cache",
    }
    assert named <= set(families)
    assert "okapi" not in metrics and "notes" not in metrics and "acme" not in metrics


def test_mcp_over_http_with_the_sdks_client(filled: Server, address: str) -> None:
    import httpx
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async def talk(token: str) -> tuple[Any, ...]:
        headers = {"Authorization": f"Bearer {token}", "Host": "127.0.0.1:8470"}
        async with (
            httpx.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            names = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("memory_search", {"query": "okapi"})
            got = await client.call_tool("memory_get", {"repository": "notes", "path": "MEMORY.md"})
            wrong = await client.call_tool("memory_get", {"repository": "absent", "path": "MEMORY.md"})
            made = await client.call_tool("memory_context", {"prompt": "okapi"})
            refused = await client.call_tool("memory_propose", {"repository": "notes", "text": "an ibex"})
            unknown = await client.call_tool("memory_search", {"query": "okapi", "colour": 1})
            spelled = await client.call_tool("memory_search", {"q": "okapi", "limit": "1"})
            assert not spelled.is_error and len(spelled.structured_content["hits"]) == 1
            return names, found, got, wrong, made, refused, unknown

    names, found, got, wrong, made, refused, unknown = anyio.run(talk, filled.tokens["acme read"])
    assert sorted(names) == ["memory_context", "memory_get", "memory_propose", "memory_search"]
    assert "okapi" in made.structured_content["text"] and refused.is_error and "scope propose" in str(refused.content)
    hit = found.structured_content["hits"][0]
    assert hit["repository"] == "notes" and "okapi" in hit["snippet"] and hit["snippet"].startswith("<memory")
    assert "기린은" in got.structured_content["text"]
    assert wrong.is_error and "no such repository" in str(wrong.content)
    assert unknown.is_error and "unknown: 'colour' (memory_search takes query, maxResults" in str(unknown.content)


def test_mcp_without_a_token_is_refused(filled: Server) -> None:
    answer = filled.ask("", "POST", "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"


def test_search_asks_a_server_and_prints_as_ever(filled: Server, address: str, tmp_path: Path) -> None:
    here = Repo(tmp_path / "empty", init=False)
    token = {"GITMEM_SERVER_TOKEN": filled.tokens["acme read"]}
    done = here.mem("search", "--server", address, "okapi", env=token)
    assert "notes:MEMORY.md:3" in done.stdout and "eats leaves" in done.stdout
    value = json.loads(here.mem("search", "--server", address, "기린", "--json", env=token).stdout)
    assert value["hits"][0]["repository"] == "notes"
    commits = ["--repository", "notes", "--history-only", "--json"]
    value = json.loads(here.mem("search", "--server", address, "memory", *commits, env=token).stdout)
    assert {hit["kind"] for hit in value["hits"]} == {"commit"}
    refused = here.mem("search", "--server", address, "okapi", check=False, env={"GITMEM_SERVER_TOKEN": "gitmem_x"})
    assert refused.returncode and "no token that holds" in refused.stderr and "gitmem_x" not in refused.stderr


@pytest.mark.parametrize(
    "options, words",
    [
        (["--server", "http://192.0.2.1", "x"], "plain HTTP"),
        (["--server", "ftp://x", "x"], "takes an address"),
        (["--server", "http://127.0.0.1:9", "x"], "does not answer"),
        (["--server", "http://127.0.0.1:9", "--blame", "x"], "--blame does not go"),
        (["--repository", "a", "x"], "--repository goes with"),
    ],
)
def test_what_a_server_cannot_be_asked_is_an_error(tmp_path: Path, options: list[str], words: str) -> None:
    done = Repo(tmp_path / "r").mem("search", *options, check=False, env={"GITMEM_SERVER_TOKEN": "gitmem_x"})
    assert done.returncode in (2, 3) and words in done.stderr and "gitmem_x" not in done.stderr + done.stdout


def test_without_a_token_it_says_how_to_get_one(tmp_path: Path) -> None:
    done = Repo(tmp_path / "r").mem("search", "--server", "http://127.0.0.1:9", "x", check=False)
    assert done.returncode and "GITMEM_SERVER_TOKEN" in done.stderr


def test_dev_is_one_command_from_a_folder_to_an_answer(tmp_path: Path, unused: int) -> None:
    repo = Repo(tmp_path / "notes")
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- The okapi eats leaves\n"})
    command = [
        sys.executable,
        "-m",
        "gitmem",
        "server",
        "dev",
        str(tmp_path / "try"),
        "--repository",
        ".",
        "--port",
        str(unused),
    ]
    child = subprocess.Popen(command, cwd=repo.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        address = child.stdout.readline().split()[1]
        token = child.stdout.readline().split()[1]
        env = {"GITMEM_SERVER_TOKEN": token}
        for _ in range(200):
            done = repo.mem("search", "--server", address, "okapi", check=False, env=env)
            if "eats leaves" in done.stdout:
                break
            time.sleep(0.1)
        assert "notes:MEMORY.md" in done.stdout, done.stderr
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
    assert oct(os.stat(tmp_path / "try" / "secret").st_mode)[-3:] == "600"
    assert child.returncode in (0, 130, -2)


@pytest.fixture
def unused() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_an_administrator_works_from_the_command_line(filled: Server, tmp_path: Path) -> None:
    env = {"GITMEM_OWNER_DATABASE_URL": filled.owner_url, "GITMEM_SECRET": "s" * 40}
    here = Repo(tmp_path / "any", init=False)
    name = f"command-line-{os.getpid()}-{tmp_path.name.replace('_', '-').lower()}"[:60]
    listed = here.mem("server", "repositories", name, "notes", str(tmp_path / "notes"), env=env)
    assert "notes" in listed.stdout
    assert here.mem("server", "token", name, "ci", env=env).stdout.startswith("gitmem_")
    rotated = here.mem("server", "token", name, "ci", "--rotate", "--overlap", "1", env=env)
    assert rotated.stdout.startswith("gitmem_") and "end in 1 hour" in rotated.stderr
    both = here.mem("server", "token", name, "ci", "--rotate", "--scope", "admin", env=env, check=False)
    assert both.returncode == 2 and "keeps scope" in both.stderr
    assert "2 tokens revoked" in here.mem("server", "token", name, "ci", "--revoke", env=env).stdout
    assert json.loads(here.mem("server", "jobs", "--json", env=env).stdout)[0]["kind"] == "fetch"
    assert "no vectors yet" in here.mem("server", "approximate", name, env=env, check=False).stderr
    assert json.loads(here.mem("server", "approximate", name, "--drop", "--json", env=env).stdout) == {"dropped": 0}
    assert "notes: there" in here.mem("server", "audit", name, "notes", env=env).stdout
    assert "1 repository to be" in here.mem("server", "rebuild", name, env=env).stdout
    assert "0 steps" in here.mem("server", "migrate", env=env).stdout
    missing = here.mem("server", "audit", "no-such-tenant", "x", check=False, env=env)
    assert missing.returncode == 2 and "no tenant" in missing.stderr
    unset = here.mem("server", "jobs", check=False)
    assert unset.returncode and "GITMEM_OWNER_DATABASE_URL is not set" in unset.stderr


@pytest.mark.parametrize("text", ["listen = 5", "workers = -1", "nonsense = 1", "= broken", 'listen = "nowhere"'])
def test_a_wrong_configuration_is_one_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "server.toml"
    file.write_text(text)
    with pytest.raises(BadConfig):
        read(file, {})


def test_the_example_for_compose_names_files_that_are_read(tmp_path: Path) -> None:
    file = SOURCE / "packaging/compose.yaml"
    validated = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", os.fspath(file)]
    subprocess.run(validated, check=True, capture_output=True)
    whole = yaml.safe_load(file.read_text(encoding="utf-8"))
    environ = {}
    for service in ("migrate", "server"):
        served = whole["services"][service]
        for name, place in served["environment"].items():
            secret = place.removeprefix("/run/secrets/")
            assert secret in served["secrets"] and secret in whole["secrets"]
            (tmp_path / secret).write_text(f"value of {secret}\n")
            environ[name] = os.fspath(tmp_path / secret)
    settings = read(None, environ)
    assert settings.secret("DATABASE_URL") == "value of database_url"
    assert settings.secret("OWNER_DATABASE_URL") == "value of owner_url"
    assert "GITMEM_OWNER_DATABASE_URL_FILE" not in whole["services"]["server"]["environment"]
    assert settings.forge_tokens == {"GITHUB_TOKEN": "value of forge_token"}
    with pytest.raises(BadConfig, match="GITLAB_TOKEN_FILE cannot be read"):
        read(None, {"GITLAB_TOKEN_FILE": os.fspath(tmp_path)})


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd")
def test_the_example_for_systemd_is_one_that_systemd_reads(tmp_path: Path) -> None:
    text = (SOURCE / "packaging/git-mem-server.service").read_text(encoding="utf-8")
    file = tmp_path / "git-mem-server.service"
    file.write_text(text.replace("/usr/local/bin/git-mem", sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_example_for_systemd_names_files_that_are_read(tmp_path: Path) -> None:
    rows = [
        line.split("=", 1)
        for line in (SOURCE / "packaging/git-mem-server.service").read_text(encoding="utf-8").splitlines()
        if line[:1] not in ("", "#", "[")
    ]
    loaded = [value.partition(":")[0] for name, value in rows if name == "LoadCredential"]
    for one in loaded:
        (tmp_path / one).write_text(f"value of {one}\n")
    given = [part.split("=", 1) for name, value in rows if name == "Environment" for part in value.split()]
    assert sorted(value for _, value in given) == sorted(f"%d/{one}" for one in loaded)
    settings = read(None, {name: value.replace("%d", os.fspath(tmp_path)) for name, value in given})
    assert settings.secret("DATABASE_URL") == "value of database_url"
    assert settings.forge_tokens == {"GITHUB_TOKEN": "value of forge_token"}


def test_every_setting_of_the_documentation_is_read(tmp_path: Path) -> None:
    page = (SOURCE / "docs/server.md").read_text(encoding="utf-8")
    general, people = re.findall(r"```toml\n(.*?)```", page, re.S)
    file = tmp_path / "server.toml"
    file.write_text(general + people)
    settings = read(file, {})
    assert set(tomllib.loads(general + people)) == KNOWN_KEYS
    assert settings.processes == 2 and settings.public_hosts == ("memory.example.com",)
    assert settings.providers[0].grants[0].repositories == ("notes", "runbooks")


def test_a_secret_comes_from_a_file_too_and_is_never_shown(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("k" * 40 + "\n")
    settings = read(
        None, {"GITMEM_SECRET_FILE": str(tmp_path / "secret"), "GITMEM_DATABASE_URL": "postgresql://a:b@c/d"}
    )
    assert settings.key == b"k" * 40 and "kkk" not in repr(settings) and "a:b" not in repr(settings)
    with pytest.raises(BadConfig, match="fewer than 32"):
        _ = read(None, {"GITMEM_SECRET": "short"}).key


@pytest.mark.parametrize(
    "hit",
    [
        "text", {"start_line": "\x1b]0;x\x07"}, {"text": 7}, {"score": None}, {"score": 10**400}, {"tags": 5}, {"path": []},
    ],
)  # fmt: skip
def test_a_hostile_answer_is_no_answer(tmp_path: Path, hit: Any) -> None:
    whole = {
        "path": "a.md", "repository": "r", "start_line": 1, "end_line": 1, "heading": "", "text": "t", "score": 0.5,
        "date": None, "type": None, "tags": [], "origin": None, "trust": "committed", "blob": "b", "id": "i",
    }  # fmt: skip
    given = {**whole, **hit} if isinstance(hit, dict) else hit
    answer = json.dumps({"query": "x", "at": "", "lanes": [], "stale": False, "hits": [given]}).encode()
    asked: list[str] = []

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *given: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as served:
        threading.Thread(target=served.handle_request, daemon=True).start()
        address = f"http://127.0.0.1:{served.server_port}"
        # A proxy would read the token: none is asked on the way to this machine.
        env = {"GITMEM_SERVER_TOKEN": "t", "http_proxy": "http://127.0.0.1:9", "no_proxy": ""}
        done = Repo(tmp_path / "r").mem("search", "--server", address, "x", check=False, env=env)
    assert asked == ["/v1/search"] and done.returncode == 3 and "none of a git mem server" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
