"""Decisions in a real browser: proposals by keys alone, a conflict settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.harness import Repo
from tests.ui.browser.conftest import Open
from tests.ui.browser.test_every_page import axe, opened_up
from tests.ui.browser.test_flows import SCRIPTS

if TYPE_CHECKING:
    from playwright.sync_api import Page

LOG = """# 2026-02-05

## 10:00 - api

- we decided on REST webhooks: easier to debug than a queue
- we decided to deploy on Tuesdays because the on-call team is complete then
- we decided on SQLite for the cache because it needs no server
- we decided on tabs because the old files have them
"""
MEMORY = "# Memory\n\n- the port is {} <!-- mem type=fact -->\n"


def test_three_proposals_are_accepted_one_is_rejected_by_keyboard(repo: Repo, window: Open) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    page = window(repo).go("review")
    expect(page.locator(".card")).to_have_count(4)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".card").nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator(".card").nth(0)).to_be_focused()
    for left in (3, 2, 1):
        page.keyboard.press("a")
        expect(page.locator(".card")).to_have_count(left)
        expect(page.locator(".card").nth(0)).to_be_focused()  # the next one, without a step
    page.keyboard.press("r")
    page.keyboard.type("that was arjk")  # letters in a field are letters
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("No proposal waits")
    subjects = repo.git("log", "-4", "--format=%s").splitlines()
    assert subjects == ["memory: reject 1 proposal", *["memory: promote 1 fact from 2026-02-05"] * 3]
    assert "that was arjk" in repo.git("log", "-1", "--format=%B") and not repo.git("status", "--porcelain")


def test_keys_need_none_of_the_scripts_that_come_after_the_page(repo: Repo, window: Open) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    at = window(repo)
    at.page.route(SCRIPTS, lambda _: None)  # they are asked for and never come
    page = at.page
    page.goto(f"{at.address}review", wait_until="commit")
    expect(page.locator(".card")).to_have_count(4)
    page.keyboard.press("j")
    for left in (3, 2):
        page.keyboard.press("a")
        expect(page.locator(".card")).to_have_count(left)
        expect(page.locator(".card").nth(0)).to_be_focused()
    page.keyboard.press("r")
    page.keyboard.type("no")
    page.keyboard.press("Enter")
    expect(page.locator(".card")).to_have_count(1)


def hangul(page: Page, letter: str, code: str) -> None:
    """A key as a Korean keyboard sends it where nothing is written into."""
    session = page.context.new_cdp_session(page)
    key = {"key": letter, "code": code, "windowsVirtualKeyCode": ord(code[-1])}
    session.send("Input.dispatchKeyEvent", {"type": "keyDown", **key})
    session.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})
    session.detach()


def test_the_keys_are_places_on_a_korean_keyboard_and_while_its_input_method_waits(repo: Repo, window: Open) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    page = window(repo, locale="ko-KR").go("review")
    hangul(page, "ㅓ", "KeyJ")
    expect(page.locator(".card").nth(0)).to_be_focused()
    hangul(page, "ㅁ", "KeyA")
    expect(page.locator(".card")).to_have_count(3)
    expect(page.locator(".card").nth(0)).to_be_focused()
    hangul(page, "Process", "KeyA")  # the input method has the key
    expect(page.locator(".card")).to_have_count(2)
    expect(page.locator(".card").nth(0)).to_be_focused()
    hangul(page, "ㄱ", "KeyR")
    expect(page.locator(".card").first.get_by_label("이유")).to_be_focused()


def test_a_key_that_is_pressed_again_before_the_answer_decides_nothing_else(repo: Repo, window: Open) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    at = window(repo)
    page = at.go("review")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.keyboard.press("j")
    page.evaluate("""() => { for (const repeat of [false, false, true]) document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key: "a", code: "KeyA", bubbles: true, repeat })) }""")
    expect(page.locator(".card")).to_have_count(3)
    assert len(sent) == 1 and repo.git("rev-list", "--count", "HEAD").strip() == "2"


def test_a_proposal_is_edited_by_keyboard(repo: Repo, window: Open) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    page = window(repo).go("review")
    page.keyboard.press("j")
    page.keyboard.press("e")
    field = page.locator(".card").nth(0).locator("textarea")
    expect(field).to_be_focused()
    text = field.input_value()
    field.fill(text.removeprefix("we decided "))
    page.locator(".card").nth(0).get_by_role("button", name="Preview edit").click()
    page.get_by_role("button", name="Accept").click()
    expect(page.locator(".card")).to_have_count(3)
    assert f"- {text.removeprefix('we decided ')} <!--" in repo.read("MEMORY.md")


def test_a_conflict_is_settled(repo: Repo, window: Open) -> None:
    repo.commit("first", {"MEMORY.md": MEMORY.format(8080)})
    repo.git("switch", "-q", "-c", "memory/other")
    repo.commit("theirs", {"MEMORY.md": MEMORY.format(9090)})
    repo.git("switch", "-q", "main")
    repo.commit("ours", {"MEMORY.md": MEMORY.format(7070)})
    page = window(repo).go("branches")
    page.get_by_role("link", name="memory/other").click()
    page.get_by_role("radio", name="9090").check()
    page.get_by_role("button", name="Preview merge").click()
    page.get_by_role("button", name="Merge in a commit").click()
    expect(page.locator("main")).to_contain_text("No branch has memory that this one lacks")
    assert "9090" in repo.read("MEMORY.md") and len(repo.git("log", "-1", "--format=%P").split()) == 2


def test_axe_finds_nothing_on_the_pages_of_decisions(repo: Repo, window: Open) -> None:
    leak = "- the key is AKIA" + "Z7QK3M2PXW5LR8TD\n"
    repo.commit("first", {"MEMORY.md": MEMORY.format(8080) + "- the port is 6060 <!-- mem type=fact -->\n"})
    repo.git("switch", "-q", "-c", "memory/other")
    repo.commit("theirs", {"MEMORY.md": repo.read("MEMORY.md").replace("8080", "9090")})
    repo.git("switch", "-q", "main")
    repo.commit("log", {"memory/2026-02-05.md": LOG + leak})
    repo.mem("edit", "MEMORY.md:3", "the port is 7070", "--reason", "measured")
    found: list[str] = []
    for dark in (False, True):
        at = window(repo, color_scheme="dark" if dark else "light")
        for address in ("review", "findings", "alike", "branches", "branches?branch=memory/other", "undo"):
            page = opened_up(at.go(address))
            found += [f"{address}: {words}" for words in axe(page, *(["color-contrast"] if dark else []))]
            page.set_viewport_size({"width": 360, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth") > 360:
                found.append(f"{address} is wide")
            page.set_viewport_size({"width": 1100, "height": 800})
    assert found == []
