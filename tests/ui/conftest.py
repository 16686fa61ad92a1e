"""The pages of a repository, as the browser that opened the printed address gets them."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from gitmem.ui.app import application
from gitmem.ui.local_server import open_site
from gitmem.ui.view import Site
from tests.harness import Repo

PORT = 8765
PATIENCE = 60.0  # seconds: a page of a test waits for its numbers, however busy the machine is
MEMORY = """# Memory

## Decisions

- PoC phase 1 uses REST webhooks, not a queue <!-- mem type=decision from=2026-02-05 -->
- Deploy before 11:00 only <!-- mem type=rule tags=deploy,ops pinned=true -->
- The trial key ends soon <!-- mem type=fact until=2025-01-01 -->
- 배포는 오전 11시 이전에만 한다 <!-- mem type=rule origin=web -->
"""


class Browser:
    """A client of one site. `get` is of a page by its address below the site's."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.client = TestClient(application(site), base_url=f"http://127.0.0.1:{PORT}", follow_redirects=True)
        self.client.get(f"{site.keys.base}/")

    def get(self, address: str, status: int = 200, **headers: str) -> str:
        answer = self.client.get(f"{self.site.keys.base}/{address}", headers=headers)
        assert answer.status_code == status, f"{address}: {answer.status_code}\n{answer.text[:2000]}"
        return answer.text

    def post(self, address: str, status: int = 200, **fields: str) -> str:
        data = {"csrf": self.site.keys.csrf, **fields}
        headers = {"origin": f"http://127.0.0.1:{PORT}"}
        answer = self.client.post(f"{self.site.keys.base}/{address}", data=data, headers=headers)
        assert answer.status_code == status, f"{address}: {answer.status_code}\n{answer.text[:2000]}"
        return answer.text


def _bug(error: BaseException) -> str:
    """A bug is shown as a page: a test says which."""
    traceback.print_exception(error)
    return "/tmp/bug.log"


Browse = Callable[..., Browser]


@pytest.fixture
def browse() -> Iterator[Browse]:
    """A browser at a repository: `browse(repo, read_only=True, at="HEAD~1")`."""
    sites: list[Site] = []

    def opened(repo: Repo | Path, *, read_only: bool = False, at: str = "") -> Browser:
        folder = repo.path if isinstance(repo, Repo) else repo
        site = open_site(folder, PORT, read_only=read_only, at=at, crash_log=_bug)
        sites.append(replace(site, patience=PATIENCE))
        return Browser(sites[-1])

    yield opened
    for site in sites:
        site.pool.close()


@pytest.fixture
def memory(repo: Repo) -> Repo:
    """A repository with four facts."""
    repo.commit(
        "memory: first",
        {"MEMORY.md": MEMORY, "memory/2026-02-05.md": "# 2026-02-05\n\n## 10:00 - api\n\n- REST webhooks\n"},
    )
    return repo


LOG = "# 2026-02-05\n\n## 16:00 - later\n\n- the queue was full\n\n## 9:30 AM - api\n\n- we decided on REST webhooks: easier to debug\n"
EPISODE = (
    '---\ntype: episode\nsession: "talk-1"\n---\n# Session of 2026-02-05\n\n## Summary\n\n- webhooks were chosen\n'
)


@pytest.fixture
def history(repo: Repo) -> Repo:
    """A memory of two weeks: a day with two logs and an episode, a promotion, an edit, a removal."""
    repo.commit(
        "logs",
        {"memory/2026-02-05.md": LOG, "memory/2026-02-05.ops.md": "# 2026-02-05\n\n## 12:00 - deploy\n\n- v2 is out\n"},
        "2026-02-05T18:00:00+00:00",
    )
    repo.commit("session", {"memory/sessions/2026-02-05-webhooks.md": EPISODE}, "2026-02-05T19:00:00+00:00")
    repo.commit(
        "memory", {"MEMORY.md": "# Memory\n\n- the port is 8080\n- staging has two pods\n"}, "2026-02-06T10:00:00+00:00"
    )
    env = {"GIT_AUTHOR_DATE": "2026-02-07T10:00:00+00:00", "GIT_COMMITTER_DATE": "2026-02-07T10:00:00+00:00"}
    repo.mem("promote", env=env)
    text = repo.read("MEMORY.md").replace("port is 8080", "port is 9090").replace("- staging has two pods\n", "")
    repo.commit("edit", {"MEMORY.md": text}, "2026-02-16T10:00:00+00:00")
    return repo
