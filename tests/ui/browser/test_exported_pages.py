"""The pages that `git mem ui --export` wrote, opened from the disk as an auditor opens them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.harness import Repo
from tests.ui.browser.conftest import SLOW
from tests.ui.browser.test_every_page import axe, opened_up

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LINKS = "() => [...document.querySelectorAll('a[href]')].map(each => each.href)"
UNSTYLED = "() => getComputedStyle(document.querySelector('main')).maxWidth === 'none'"


def test_every_link_of_an_export_leads_to_a_page_on_the_disk(history: Repo, browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "audit of 2026"
    history.mem("ui", "--export", str(folder))
    context = browser.new_context(locale="en-US")
    try:
        page = context.new_page()
        page.set_default_timeout(SLOW)
        faults: list[str] = []
        page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: faults.append(request.url) if not request.url.startswith("file:") else None)
        page.on("requestfailed", lambda request: faults.append(f"{request.failure}: {request.url}"))
        wanted, seen = [(folder / "index.html").as_uri()], set[str]()
        while wanted:
            address = wanted.pop()
            if address in seen:
                continue
            seen.add(address)
            page.goto(address)
            assert page.locator("h1").count() == 1 and not page.evaluate(UNSTYLED), address
            mark = urlsplit(address).fragment
            assert not mark or page.locator(f"[id='{mark}']").count() == 1, address
            wanted += [link for link in page.evaluate(LINKS) if link.startswith("file:")]
        left = [fault for fault in faults if not fault.startswith("net::ERR_ABORTED: ")]  # by going to the next page
        assert left == [] and {Path(urlsplit(each).path).name for each in seen} == {
            each.name for each in folder.glob("*.html")
        }
        page.goto((folder / "index.html").as_uri())
        page.get_by_role("link", name="Facts", exact=True).click()
        page.locator("a.text").filter(has_text="REST webhooks").click()
        assert "we decided on REST webhooks" in page.inner_text("figure.source li.cited")
        assert axe(opened_up(page)) == []
    finally:
        context.close()
