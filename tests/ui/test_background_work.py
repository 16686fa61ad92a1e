"""What takes long is worked out beside the pages: a page says how far it is, and shows it once it is there."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gitmem.errors import GitMemError
from gitmem.ui import review_queue
from gitmem.ui.background_work import BackgroundWork, Progress
from gitmem.ui.view import View
from tests.harness import Repo
from tests.ui.conftest import Browse, Browser
from tests.ui.forms import form

NEVER, AT_ONCE = time.monotonic() + 3600, 0.0


def test_work_is_done_once_and_asked_for_again() -> None:
    work, made = BackgroundWork(), list[int]()
    assert work.wait_for("a", 1, lambda _: made.append(1), NEVER) is None
    assert made == [1]


def test_who_does_not_wait_is_told_how_far_it_is() -> None:
    work, go, begun = BackgroundWork(), threading.Event(), threading.Event()

    def long(progress: Progress) -> None:
        progress(3, 7)
        begun.set()
        go.wait(60)

    first = work.wait_for("a", 1, long, AT_ONCE)
    assert first is not None and begun.wait(60)
    assert work.wait_for("a", 1, long, AT_ONCE) == Progress(3, 7)
    go.set()
    assert work.wait_for("a", 1, long, NEVER) is None


def test_what_the_work_raised_is_raised_where_it_is_asked_for_and_it_is_tried_again() -> None:
    work, calls = BackgroundWork(), list[int]()

    def fails(_: Progress) -> None:
        calls.append(1)
        raise GitMemError("no")

    for count in (1, 2):
        with pytest.raises(GitMemError, match="no"):
            work.wait_for("a", 1, fails, NEVER)
        assert len(calls) == count


def test_what_nobody_waits_for_any_more_is_not_done_and_what_is_first_goes_before_the_rest() -> None:
    work, go, done = BackgroundWork(), threading.Event(), list[str]()
    work.wait_for("busy", 1, lambda _: go.wait(60) and None, AT_ONCE)
    work.wait_for("a", 1, lambda _: done.append("old"), AT_ONCE)
    work.wait_for("a", 2, lambda _: done.append("a"), AT_ONCE)
    work.wait_for("b", 1, lambda _: done.append("b"), AT_ONCE)
    work.wait_for("c", 1, lambda _: done.append("c"), AT_ONCE, first=True)
    go.set()
    assert work.wait_for("b", 1, lambda _: done.append("again"), NEVER) is None
    assert done == ["c", "a", "b"]


# -- pages -----------------------------------------------------------------------------------------------------

LOG = "# 2026-02-05\n\n- Decision: the port of {} is 9090\n- we decided to deploy {} on Tuesdays\n"


@pytest.fixture
def large(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A memory that is too large to be read while a page waits."""
    monkeypatch.setattr(review_queue, "MAX_BYTES_AT_ONCE", 0)
    repo.commit(
        "first",
        {
            "MEMORY.md": "# Memory\n\n- the port of search is 8080\n- the port of search is 7070 now\n",
            "memory/2026-02-05.md": LOG.format("search", "search"),
            "memory/2026-02-06.ops.md": LOG.replace("-05", "-06").format("billing", "billing"),
        },
    )
    return repo


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Every part waits for this before it is worked out in the background."""
    go = threading.Event()

    def waiting(part: review_queue.Part) -> review_queue.Part:
        def compute(view: View, progress: Progress) -> object:
            progress(2, 365)
            if threading.current_thread().name == "git-mem-pages":
                go.wait(60)
            return part.compute(view, progress)

        return replace(part, compute=compute)

    monkeypatch.setattr(review_queue, "PARTS", {name: waiting(part) for name, part in review_queue.PARTS.items()})
    yield go
    go.set()


def impatient(browse: Browse, repo: Repo) -> Browser:
    browser = browse(repo)
    return Browser(replace(browser.site, patience=0.0))


@pytest.mark.parametrize("page", ["review", "findings", "alike", "branches"])
def test_a_page_answers_at_once_and_shows_how_far_it_is_until_it_is_there(
    large: Repo, browse: Browse, held: threading.Event, page: str
) -> None:
    browser = impatient(browse, large)
    text = browser.get(page)
    assert 'class="working"' in text and '<noscript><meta http-equiv="refresh" content="1"></noscript>' in text
    assert re.search(rf'hx-get="/[^"]+/{page}"[^>]*hx-select="#main"', text)
    korean = browser.get(page, **{"accept-language": "ko"})
    assert "다 되면 이 페이지에" in korean
    held.set()
    browser.site = replace(browser.site, patience=60.0)
    shown = Browser(browser.site).get(page)
    assert 'class="working"' not in shown and 'http-equiv="refresh"' not in shown


def test_how_many_logs_are_read_is_said(large: Repo, browse: Browse, held: threading.Event) -> None:
    browser = impatient(browse, large)
    browser.get("review")
    deadline = time.monotonic() + 60
    while "2 of 365" not in (text := browser.get("review")) and time.monotonic() < deadline:
        held.wait(0.01)
    assert "Reading the logs" in text and "2 of 365" in text and '<progress max="365" value="2"' in text


def test_an_error_of_the_work_is_the_page_s_and_no_page_hangs(
    large: Repo, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(_view: View, _progress: Progress) -> object:
        raise GitMemError("the logs cannot be read", "git fsck")

    part = replace(review_queue.PARTS["review"], compute=compute)
    monkeypatch.setattr(review_queue, "PARTS", {**review_queue.PARTS, "review": part})
    browser = browse(large)
    assert "the logs cannot be read" in browser.get("review", 409)
    assert "Archive" in browser.get("archive")


# -- tabs and filters --------------------------------------------------------------------------------------------


def numbers(page: str) -> dict[str, str]:
    (row,) = re.findall(r'<nav class="tabs".*?</nav>', page, re.DOTALL)
    return dict(re.findall(r'>([A-Z][\w ]+?)(?: <span class="number">([\d,]+)</span>)?</a>', row))


def test_every_tab_says_how_many_wait(large: Repo, browse: Browse) -> None:
    large.git("switch", "-q", "-c", "more")
    large.commit("more", {"memory/2026-02-07.md": "# 2026-02-07\n\n- Decision: tea at four\n"})
    large.git("switch", "-q", "main")
    large.commit("leak", {"memory/2026-02-08.md": "# 2026-02-08\n\n- the key is AKIA" + "Z7QK3M2PXW5LR8TD\n"})
    browser = browse(large)
    for page in ("review", "findings", "alike", "branches", "archive"):
        told = numbers(browser.get(page))
        assert list(told) == ["Proposals", "Gate findings", "Conflicts and repeats", "Branches", "Archive"]
        assert int(told["Proposals"]) >= 2 and told["Gate findings"] == "1" and told["Branches"] == "1"
        assert told["Archive"] == "0" and int(told["Conflicts and repeats"]) >= 1
    assert set(numbers(browser.get("review?at=HEAD")).values()) == {""}


def test_a_tab_that_is_not_counted_yet_asks_again(large: Repo, browse: Browse, held: threading.Event) -> None:
    browser = impatient(browse, large)
    page = browser.get("archive?at=")
    row = re.findall(r'<nav class="tabs"[^>]*>', page)[0]
    assert 'hx-get="' in row and "waiting?here=archive" in row
    assert set(numbers(page).values()) <= {"", "0"}
    waits = browser.get("waiting", **{"hx-request": "true"})
    assert "counting the rest" in waits and 'hx-trigger="load delay' in waits
    held.set()
    whole = Browser(replace(browser.site, patience=60.0)).get("waiting?here=archive", **{"hx-request": "true"})
    assert "hx-get" not in whole and 'aria-current="page"' in whole


def texts(page: str) -> list[str]:
    return re.findall(r'<p class="said">(.*?)</p>', page, re.DOTALL)


def test_proposals_are_filtered_by_type_day_and_agent_without_a_script(large: Repo, browse: Browse) -> None:
    browser = browse(large)
    page = browser.get("review")
    assert 'name="day"' in page and 'name="agent"' in page and '<option value="2026-02-06">' in page
    whole, ops, day = (texts(browser.get(f"review{query}")) for query in ("", "?agent=ops", "?day=2026-02-05"))
    assert ops and day and set(ops) < set(whole) and set(day) < set(whole) and not set(ops) & set(day)
    assert all("billing" in text for text in ops)
    none = browser.get("review?agent=nobody")
    assert "No proposal is like that" in none and "Show all" in none
    asked = form(browser, browser.get("review?agent=ops"), "review/accept")
    after = asked.send(browser)
    assert "Committed" in after and '<option value="ops" selected>' in after
    assert all("billing" in text for text in texts(after))


def test_the_rest_of_a_list_is_a_link_that_keeps_the_filter(
    large: Repo, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.ui.pages.review.MAX_PROPOSALS", 1)
    page = browse(large).get("review?agent=ops")
    (link,) = re.findall(r'<a href="/[^"/]+/([^"]+)">and 1 more</a>', page)
    assert "agent=ops" in link and "start=1" in link
