"""The Chromium of this machine, and how it is started: of itself it asks nothing and keeps nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-proxy-server",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
MISSING = "no Chromium is found, or Playwright is not installed: make browser"


def path() -> str:
    """The program, "" where there is none: what CHROMIUM names, else the first of NAMES."""
    return os.environ.get("CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), "")


def missing() -> bool:
    """Whether the tests in a browser cannot run here."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return True
    return not path()


@contextmanager
def started() -> Iterator[Browser]:
    """A browser with a fresh profile, closed in the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path(), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
