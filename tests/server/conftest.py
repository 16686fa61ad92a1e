"""A real PostgreSQL with pgvector, embedded; one for all tests of a process, a tenant or two for each test."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gitmem.server.administration import Administration, administration
from gitmem.server.embedded_postgres import embedded
from gitmem.server.postgres.database import migrate
from gitmem.server.settings import Settings
from gitmem.server.startup import Running
from tests.harness import Repo

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOOK_SECRET = "hook secret of the tests"
NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def owner_url() -> Iterator[str]:
    """The address of the database as its owner, its tables made."""
    folder = Path(tempfile.mkdtemp(prefix="gm"))
    try:
        with embedded(folder / "pg") as url:
            migrate(url)
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Server:
    """A server without its threads: `work` runs what waits in the queue."""

    running: Running
    owner: Administration
    owner_url: str
    client: Any = None
    numbers: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def tenant(self, name: str) -> str:
        """A tenant of the test, and a token of each scope for it."""
        own = f"{name}-{next(NUMBERS)}-{os.getpid()}"
        self.numbers[name] = self.owner.tenant(own, make=True)
        for scope in ("read", "propose", "admin"):
            self.tokens[f"{name} {scope}"] = self.owner.new_token(self.numbers[name], scope, scope, (), 0, NOW)
        return own

    def add(self, tenant: str, name: str, repo: Repo) -> int:
        """Add a repository and index it."""
        number = self.owner.add_repository(self.enter(tenant), name, str(repo.path))
        self.work()
        return number

    def enter(self, tenant: str) -> int:
        """Have the owner's connection work for a tenant."""
        self.owner._connection.execute("SELECT set_config('gitmem.tenant', %s, false)", (str(self.numbers[tenant]),))
        return self.numbers[tenant]

    def work(self) -> None:
        while self.running.workers[0].once():
            pass

    def ask(self, who: str, method: str, address: str, **given: Any) -> Any:
        """The response to a request with the token of `who`, such as "acme read"."""
        headers = {"Authorization": f"Bearer {self.tokens.get(who, who)}"} if who else {}
        return self.client.request(method, address, headers={**headers, **given.pop("headers", {})}, **given)

    def search(self, who: str, query: str, **given: Any) -> dict[str, Any]:
        answer = self.ask(who, "POST", "/v1/search", json={"query": query, **given})
        assert answer.status_code == 200, answer.text
        value: dict[str, Any] = answer.json()
        return value


@pytest.fixture
def make_server(owner_url: str, tmp_path: Path, isolated: Path) -> Iterator[Callable[[], Server]]:
    running: list[Running] = []
    with administration(owner_url) as owner:
        owner._connection.execute("DELETE FROM job")

        def make() -> Server:
            secrets = {
                "DATABASE_URL": owner_url.replace("postgres:@", "gitmem_server:@"), "OWNER_DATABASE_URL": owner_url,
                "SECRET": "s" * 40, "HOOK_SECRET": HOOK_SECRET,
            }  # fmt: skip
            settings = Settings(tmp_path / "state", port=8470, connections=4, poll_minutes=0, secrets=secrets)
            running.append(Running(settings))
            server = Server(running[-1], owner, owner_url)
            server.client = TestClient(running[-1].application(), base_url="http://127.0.0.1:8470")
            return server

        yield make
        for one in running:
            one.close()


@pytest.fixture
def server(make_server: Callable[[], Server]) -> Server:
    """A server with the tenants `acme` and `rival`, without repositories."""
    made = make_server()
    made.tenant("acme")
    made.tenant("rival")
    return made
