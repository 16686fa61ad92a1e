"""A window of a real browser at a real `git mem ui`: nothing it does may fail, ask for a word, or leave this machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.harness import Repo
from tests.ui.browser import chromium
from tests.ui.test_local_server import running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

SLOW = 30_000  # milliseconds that a busy machine may take for one thing
EXPECTED = (  # what is said on the console of a page with such a status, and by htmx of a request that the next letter
    # or the next page ends; of one that fails Chromium says so itself
    "status of 4", "status of 5", "htmx:afterRequest", "htmx:sendAbort", "htmx:sendError",
)  # fmt: skip


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this folder."""
    if chromium.missing():
        if os.environ.get("BROWSER_TESTS") == "required":
            pytest.fail(chromium.MISSING)
        pytest.skip(chromium.MISSING)
    from playwright.sync_api import expect

    expect.set_options(timeout=SLOW)
    with chromium.started() as started:
        yield started


class Window:
    """A window at one server. `go` opens a page by its address below the site's."""

    def __init__(self, page: Page, address: str, process: subprocess.Popen[str]) -> None:
        self.page, self.address, self.process = page, address, process
        self.faults: list[str] = []
        page.set_default_timeout(SLOW)
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", lambda said: self._console(said.type, said.text))
        page.on("request", self._request)
        page.goto(address)

    def _console(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(words in text for words in EXPECTED):
            self.faults.append(f"console: {text}")

    def _request(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc:
            self.faults.append(f"request: {request.url}")

    def go(self, path: str, status: int = 200) -> Page:
        answer = self.page.goto(self.address + path)
        assert answer is not None and answer.status == status, (path, answer and answer.status)
        return self.page

    def tab(self) -> Window:
        """Another tab of the same browser."""
        return Window(self.page.context.new_page(), self.address, self.process)


Open = Callable[..., Window]


@pytest.fixture
def window(browser: Browser) -> Iterator[Open]:
    """Open a repository: `window(repo, "--read-only", color_scheme="dark")`; options of the command, then of the
    browser's context. In the end no window may have seen a fault."""
    with ExitStack() as stack:
        windows: list[Window] = []

        def opened(repo: Repo, *options: str, **context: object) -> Window:
            process, address = stack.enter_context(running(repo, *options))
            made = browser.new_context(**{"viewport": {"width": 1100, "height": 800}, "locale": "en-US", **context})  # type: ignore[arg-type]
            stack.callback(made.close)
            windows.append(Window(made.new_page(), address, process))
            return windows[-1]

        yield opened
        assert [fault for each in windows for fault in each.faults] == []
