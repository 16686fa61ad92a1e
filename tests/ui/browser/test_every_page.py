"""Every page in a real browser: read by axe-core, light and dark, 360 px wide, and with a memory that means harm."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.memory.fact import fact_id
from gitmem.ui.pages import TABS
from tests.harness import Repo
from tests.ui.browser.conftest import Open, Window
from tests.ui.test_history_pages import given
from tests.ui.test_hostile import FACTS, LOG, SCRIPT, TOKEN, addresses_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PAGES = [
    "today", "notes", "facts", "facts?sort=newest", "facts?q=which+port", "add", "health?line=yes", f"fact/{fact_id('the port is 9090')}", "file?path=MEMORY.md&first=3",
    "timeline?day=2026-02-05", "compare?from=HEAD~1&to=HEAD", "sessions", "sessions?session=talk-1",
    "prompt?prompt=which+port+do+we+use", "pictures", "health", "waiting", "facts?at=HEAD~1", "review", "findings", "alike", "branches", "archive", "nothing-like-it",
]  # fmt: skip


def test_every_tab_is_in_the_list() -> None:
    assert {name for name, _ in TABS} - {page.partition("?")[0] for page in PAGES} == set()


def axe(page: Page, *rules: str) -> list[str]:
    """What axe-core finds on the page as it stands: rule, element, why. Of `rules` alone where some are named."""
    found = find_spec("axe_playwright_python")
    assert found is not None and found.origin is not None
    page.evaluate((Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    only = {"type": "rule", "values": list(rules)} if rules else {"type": "tag", "values": LEVELS}
    options = json.dumps({"runOnly": only, "resultTypes": ["violations"]})
    result = page.evaluate(f"async () => (await axe.run(document, {options})).violations")
    return [
        f"{page.url.rpartition('/')[2]}: {each['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for each in result
        for node in each["nodes"]
    ]


def opened_up(page: Page) -> Page:
    """The page with all that can be unfolded."""
    page.evaluate("() => { for (const each of document.querySelectorAll('details')) { each.removeAttribute('name'); each.open = true } }")  # fmt: skip
    return page


@pytest.fixture
def full(history: Repo) -> Repo:
    """A memory with something on every page."""
    given(history, "talk-1", {"memory": 300, "daily": 100}, "the port is 9090")
    given(history, "s-" + "9" * 70, {"memory": 20}, "the port is 9090")
    text = history.read("MEMORY.md") + "- not committed yet <!-- mem until=2026-01-01 tags=ops -->\n"
    history.write("MEMORY.md", text)
    return history


def test_axe_finds_nothing_and_nothing_is_wider_than_a_phone(full: Repo, window: Open) -> None:
    at = window(full)
    found: list[str] = []
    for address in PAGES:
        page = opened_up(at.go(address, 404 if address == "nothing-like-it" else 200))
        found += axe(page)
        page.set_viewport_size({"width": 360, "height": 800})
        found += [
            f"{address} is {width} wide"
            for width in [page.evaluate("document.documentElement.scrollWidth")]
            if width > 360
        ]
        page.set_viewport_size({"width": 1100, "height": 800})
    assert found == []


LABELS = """() => [...document.querySelectorAll('svg.chart')].flatMap((chart, at) =>
    [...chart.querySelectorAll('text')].filter(text => getComputedStyle(text).display !== 'none').map(text => {
        const box = text.getBoundingClientRect(), own = chart.getBoundingClientRect();
        return {chart: at, words: text.textContent, left: box.left, right: box.right, top: box.top, bottom: box.bottom,
            outside: box.left < own.left - 1 || box.right > own.right + 1, high: box.height};
    }))"""


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_numbers_and_dates_of_pictures_stand_apart_and_can_be_read(repo: Repo, window: Open, width: int) -> None:
    text = "# Memory\n\n"
    for week in range(30):  # as many periods as a picture has
        day = datetime(2025, 1, 6, tzinfo=UTC) + timedelta(days=7 * week)
        text += "".join(f"- fact {week} {n} has words of its own\n" for n in range(40))
        repo.commit(f"week {week}", {"MEMORY.md": text}, day.isoformat())
    given(repo, "talk-1", {"memory": 12_345}, "fact")
    page = window(repo, viewport={"width": width, "height": 800}).go("pictures?whole=yes")
    labels = page.evaluate(LABELS)
    assert len({label["chart"] for label in labels}) >= 4
    assert [label for label in labels if label["outside"] or label["high"] < 9] == []
    for one, other in combinations(labels, 2):
        if one["chart"] == other["chart"]:
            beside = one["right"] <= other["left"] or other["right"] <= one["left"]
            below = one["bottom"] <= other["top"] + 2 or other["bottom"] <= one["top"] + 2
            assert beside or below, (one, other)
    assert any(re.fullmatch(r"[0-9.]+k?", label["words"]) for label in labels)


def test_axe_finds_nothing_in_the_dark_on_a_phone(full: Repo, window: Open) -> None:
    at = window(full, color_scheme="dark", viewport={"width": 360, "height": 800})
    found: list[str] = []
    for address in PAGES:
        found += axe(opened_up(at.go(address, 404 if address == "nothing-like-it" else 200)))
    assert at.page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(252, 252, 250)"
    assert found == []


def test_a_poisoned_memory_is_text_on_every_page(repo: Repo, window: Open) -> None:
    """Nothing runs, nothing is asked of elsewhere (the window sees to both), no element of theirs is there (A47)."""
    repo.git("config", "user.name", '"><script>alert(4)</script>')
    repo.commit(f"log {SCRIPT}", {"memory/2026-02-05.md": LOG})
    name = 'memory/notes <img src=x onerror=alert(1)>"&amp;.md'
    repo.commit(f"memory: {SCRIPT}", {"MEMORY.md": FACTS, name: f"---\nsrc: x\n---\n{FACTS}"})
    repo.git("branch", 'odd"><script>alert(5)</script>')
    given(repo, SCRIPT, {"<b>layer</b>": 12}, SCRIPT)
    repo.write("MEMORY.md", FACTS + f"- not committed {SCRIPT}\n")
    at = window(repo)
    seen = 0
    for address in addresses_of(lambda path: at.go(path).content()):
        at.page.goto(at.address + address)
        assert_harmless(at)
        seen += 1
    assert seen > 20


def assert_harmless(at: Window) -> None:
    page = at.page
    strange = page.evaluate("""() => [...document.querySelectorAll('img, iframe, object, embed, base, svg [onload], script:not([nonce])')].map(e => e.outerHTML)""")  # fmt: skip
    assert strange == []
    odd = page.evaluate("""() => [...document.querySelectorAll('*')].flatMap(e => [...e.attributes].filter(a => a.name.startsWith('on') || a.value.trim().toLowerCase().startsWith('javascript:')).map(a => e.tagName + a.name))""")  # fmt: skip
    assert odd == []
    text = page.inner_text("body")
    assert TOKEN not in page.content() and not re.search("[\u202a-\u202e\u2066-\u2069\u200b]", text)
