"""What people do, end to end, in a real browser at a real server."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from gitmem.memory.fact import fact_id
from tests.harness import Repo
from tests.ui.browser.conftest import Open

NUMBER = "the port is 9090"
SCRIPTS = re.compile(r"/(ui|htmx\.min)\.js$")  # those that a page runs when all of it is there


def edit(page: Page, text: str) -> None:
    """Fill in the form "Edit" of the fact that is shown, and look at the change."""
    page.get_by_role("group", name="Change this fact").get_by_text("Edit", exact=True).click()
    page.get_by_label("The text as it should be").fill(text)
    page.locator("#reason-edit").fill("measured")
    page.locator("#text-edit").locator("xpath=ancestor::form").get_by_role("button", name="Preview edit").click()


def test_find_a_fact_read_its_source_edit_it_and_see_the_commit(history: Repo, window: Open) -> None:
    page = window(history).page
    expect(page.get_by_role("heading", name="Today")).to_be_visible()
    page.get_by_role("link", name="Facts", exact=True).click()
    page.get_by_role("searchbox").press_sequentially("which webhooks")
    expect(page.locator("#results .hit").first).to_contain_text("REST webhooks")  # as one types
    page.locator("#results a.text").filter(has_text="REST webhooks").first.click()
    expect(page.locator("figure.source li.cited")).to_contain_text("we decided on REST webhooks")
    edit(page, "we decided on gRPC: easier to debug")
    expect(page.locator("main")).to_contain_text("gRPC")
    assert "gRPC" not in history.read("MEMORY.md")
    page.get_by_role("button", name="Commit this").click()
    expect(page.locator("h1")).to_contain_text("we decided on gRPC")
    assert history.git("log", "-1", "--format=%s").strip() == "memory: correct 1 fact"
    commit = history.git("rev-parse", "--short=10", "HEAD").strip()
    expect(page.locator("main")).to_contain_text(commit)
    assert not history.git("status", "--porcelain")


@pytest.mark.parametrize("chosen", [False, True])
def test_what_is_typed_or_chosen_before_the_scripts_came_is_searched_for(
    history: Repo, window: Open, chosen: bool
) -> None:
    at = window(history)
    held: list[Route] = []
    free: list[bool] = []
    page = at.page
    page.route(SCRIPTS, lambda route: route.continue_() if free else held.append(route))
    page.goto(f"{at.address}facts", wait_until="commit")
    if chosen:
        page.locator(".find select[name=type]").select_option("decision")
    else:
        page.get_by_role("searchbox").press_sequentially("which webhooks")
    assert page.evaluate("typeof htmx") == "undefined"
    free.append(True)
    for route in held:
        route.continue_()
    expect(page).to_have_url(re.compile("type=decision" if chosen else "q=which[+]webhooks|q=which%20webhooks"))
    expect(page.locator("#results")).to_contain_text("REST webhooks")
    expect(page.locator(".count")).to_contain_text("1 fact" if chosen else "passages")


PLACES = """() => [...document.querySelectorAll(".acts summary, .acts > form button")]
    .map(each => [each.getBoundingClientRect().x, each.getBoundingClientRect().y])"""


@pytest.mark.parametrize("width", [1100, 360])
def test_no_button_moves_when_a_form_opens(history: Repo, window: Open, width: int) -> None:
    page = window(history, viewport={"width": width, "height": 1200}).go(f"fact/{fact_id(NUMBER)}")
    before = page.evaluate(PLACES)
    for at in range(len(before)):
        page.locator(".acts summary").nth(at).click()
        assert page.evaluate(PLACES) == before
        expect(page.locator(".acts details[open] form")).to_be_in_viewport()


def test_two_tabs_cannot_overwrite_each_other(history: Repo, window: Open) -> None:
    first = window(history)
    second = first.tab()
    for tab in (first, second):
        tab.go(f"fact/{fact_id(NUMBER)}")
    edit(first.page, "the port is 7070")
    first.page.get_by_role("button", name="Commit this").click()
    expect(first.page.locator("h1")).to_contain_text("7070")
    edit(second.page, "the port is 6060")
    expect(second.page.get_by_role("alert")).to_contain_text("Memory changed since this was shown")
    expect(second.page.locator("main")).to_contain_text("6060")
    assert "7070" in history.read("MEMORY.md") and "6060" not in history.read("MEMORY.md")
    assert not second.faults


def test_a_page_says_what_is_new_and_stays_as_it_is(history: Repo, window: Open) -> None:
    page = window(history).go("facts")
    history.write("MEMORY.md", history.read("MEMORY.md") + "- written by an agent meanwhile\n")
    expect(page.locator("#live")).to_be_visible()
    assert "written by an agent" not in page.inner_text("main")
    page.locator("#live a").click()
    expect(page.locator("main")).to_contain_text("written by an agent meanwhile")


def test_the_past_is_one_field_away_and_read_only(history: Repo, window: Open) -> None:
    page = window(history).go("facts")
    page.get_by_role("combobox", name="as of").fill("2026-02-10")
    page.get_by_role("combobox", name="as of").press("Enter")
    expect(page.locator("main")).to_contain_text("the port is 8080")
    expect(page.get_by_role("status").first).to_contain_text("You look at the past")
    page.locator("a.text").filter(has_text="8080").click()
    expect(page.locator("h1")).to_contain_text("the port is 8080")
    assert not page.get_by_role("group", name="Change this fact").count()


def test_everything_reads_without_javascript(history: Repo, window: Open) -> None:
    at = window(history, java_script_enabled=False)
    page = at.go("facts")
    page.get_by_role("searchbox").fill("which webhooks")
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator("#results")).to_contain_text("REST webhooks")
    page.get_by_role("link", name="Timeline").click()
    page.get_by_role("link", name="2026-02-05").first.click()
    expect(page.locator("main")).to_contain_text("the queue was full")
    page.get_by_role("link", name="Compare", exact=True).click()
    page.get_by_label("from", exact=True).fill("HEAD~1")
    page.locator("main").get_by_role("button", name="Compare").click()
    expect(page.locator("ins").first).to_contain_text("9090")


def test_a_prompt_is_tried_with_another_budget(history: Repo, window: Open) -> None:
    page = window(history).go("sessions")
    page.get_by_label("Try a prompt").fill("which port do we use?")
    page.get_by_role("button", name="Try").click()
    expect(page.locator("main")).to_contain_text(NUMBER)
    page.get_by_label("budget").fill("30")
    page.get_by_role("button", name="Try").click()
    expect(page.get_by_role("status").first).to_contain_text("of 30 tokens")


def test_by_keyboard_one_comes_to_the_page_and_through_it(history: Repo, window: Open) -> None:
    page = window(history).go("facts")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("searchbox")).to_be_focused()
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        shown = page.evaluate("() => { const e = document.activeElement; const s = getComputedStyle(e); return [e.className, s.outlineStyle, s.outlineWidth]; }")  # fmt: skip
        seen.add(shown[0])
        assert shown[1] != "none" or shown[0] == "", shown
    assert "text" in seen


def test_the_interface_is_in_korean_where_the_browser_asks_for_it(history: Repo, window: Open) -> None:
    page = window(history, locale="ko-KR").go("timeline")
    expect(page.get_by_role("heading", name="타임라인")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "ko"


def test_times_are_in_the_zone_of_the_reader(history: Repo, window: Open) -> None:
    page = window(history, timezone_id="Asia/Seoul").go("compare?from=HEAD~1&to=HEAD")
    expect(page.locator("time").first).to_have_text("2026-02-16 19:00")


HOOK = """#!/bin/sh
echo here > .git/in-hook
until [ -e .git/goes-on ]; do sleep 0.1; done
exit $(cat .git/goes-on)
"""


@pytest.mark.parametrize("code", [0, 1])
def test_a_server_that_is_killed_in_a_change_leaves_all_or_nothing(history: Repo, window: Open, code: int) -> None:
    """Its commit stands in a hook then; Git ends it or not. What a killed run began does not stand in the next way."""
    before, head = history.read("MEMORY.md"), history.git("rev-parse", "HEAD")
    at = window(history)
    page = at.go(f"fact/{fact_id(NUMBER)}")
    edit(page, "the port is 7070")
    hook = history.write(".git/hooks/pre-commit", HOOK)
    hook.chmod(0o755)
    page.get_by_role("button", name="Commit this").click(no_wait_after=True)
    until((history.path / ".git/in-hook").exists)
    at.process.kill()
    history.write(".git/goes-on", str(code))
    until(lambda: not (history.path / ".git/index.lock").exists())
    hook.unlink()
    page.close()
    at.faults.clear()
    told = "the port is 9090" if code else "the port is 7070"
    page = window(history).go("facts")
    page.locator("a.text").filter(has_text=told).click()
    assert history.read("MEMORY.md") == before.replace(NUMBER, told) and not history.git("status", "--porcelain")
    edit(page, "the port is 6060")
    page.get_by_role("button", name="Commit this").click()
    expect(page.locator("h1")).to_contain_text("6060")
    assert history.git("rev-parse", "HEAD~1" if code else "HEAD~2") == head
    assert not history.git("status", "--porcelain")


def until(true: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + 60
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    assert true()


def composed(page: Page, text: str) -> None:
    """What an input method shows before it is chosen or ended."""
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    session.detach()


def test_a_search_leaves_an_input_method_alone_until_its_letters_are_whole(memory: Repo, window: Open) -> None:
    page = window(memory).go("facts")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/facts?" in request.url else None)
    page.get_by_role("searchbox").focus()
    for text in ("ㅂ", "배ㅍ", "배포"):  # each syllable is made of letters, and the last one waits for the next key
        composed(page, text)
    expect(page.locator("#results .hits")).to_contain_text("배포는 오전 11시")
    expect(page.get_by_role("searchbox")).to_have_value("배포")
    page.keyboard.insert_text("배포")  # the composition ends
    page.get_by_role("searchbox").fill("")
    expect(page.locator("#results")).to_contain_text("4 facts")
    composed(page, "nihon")  # letters that a Japanese or Chinese input method makes something else of
    composed(page, "日本")
    page.keyboard.insert_text("REST 日本")
    expect(page.locator("#results .hit").first).to_contain_text("REST webhooks")
    words = [parse_qs(urlsplit(url).query).get("q", [""])[0] for url in asked]
    assert words == ["배포", "", "REST 日本"]


def test_the_address_after_a_change_is_that_of_the_page(history: Repo, window: Open) -> None:
    page = window(history).go(f"fact/{fact_id(NUMBER)}")
    edit(page, "the port is 7070")
    page.get_by_role("button", name="Commit this").click()
    expect(page.get_by_role("status").first).to_contain_text("Committed")
    expect(page).to_have_url(re.compile("/fact/[0-9a-f]+[?]path=MEMORY.md$"))
    page.reload()
    expect(page.locator("h1")).to_contain_text("7070")
    assert not page.locator(".done").count()


def test_a_page_that_answered_a_form_leads_on_by_as_of_and_by_show(history: Repo, window: Open) -> None:
    """Its address is that of a form: to ask for it again would be no page."""
    at = window(history)
    page = at.go(f"fact/{fact_id(NUMBER)}")
    edit(page, "the port is 7070")
    expect(page.get_by_role("button", name="Commit this")).to_be_visible()
    history.write("MEMORY.md", history.read("MEMORY.md") + "- written by an agent meanwhile\n")
    expect(page.locator("#live")).to_be_visible()
    page.locator("#live a").click()
    expect(page.locator("main")).to_contain_text("written by an agent meanwhile")
    history.git("checkout", "-q", "--", "MEMORY.md")
    page = at.go(f"fact/{fact_id(NUMBER)}")
    edit(page, "the port is 7070")
    page.get_by_role("combobox", name="as of").fill("2026-02-10")
    page.get_by_role("combobox", name="as of").press("Enter")
    expect(page.locator(".past")).to_contain_text("You look at the past")
    expect(page.locator("main")).to_contain_text("the port is 8080")
