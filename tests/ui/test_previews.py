"""What a form would change has an address of its own: Back and a reload lead there, and asking for it changes nothing."""

from __future__ import annotations

import re

import pytest

from gitmem.ui.pages import CHANGES
from gitmem.ui.preview_forms import MAX_FORMS, PreviewForms
from tests.harness import Repo
from tests.ui.conftest import Browse, Browser
from tests.ui.forms import Form, form, forms

FACT = "Deploy before 11:00 only"


def edit(browser: Browser) -> Form:
    (fact,) = re.findall(rf'href="/[^/]+/(fact/[^"]+)">{FACT}', browser.get("facts"))
    return form(browser, browser.get(fact), "fact/edit")


def address_of_preview(browser: Browser, asked: Form, **fields: str) -> str:
    """Where sending a form leads to, below the site's address."""
    answer = browser.client.post(
        f"{browser.site.keys.base}/{asked.address}",
        data={**asked.fields, **fields},
        headers={"origin": str(browser.client.base_url).rstrip("/")},
        follow_redirects=False,
    )
    assert answer.status_code == 303
    return answer.headers["location"].removeprefix(f"{browser.site.keys.base}/")


def test_a_preview_is_asked_for_again_by_its_address_and_changes_nothing(memory: Repo, browse: Browse) -> None:
    browser, head = browse(memory), memory.git("rev-parse", "HEAD")
    address = address_of_preview(browser, edit(browser), text="배포는 정오 전에만", reason="moved")
    assert address.startswith("preview/") and "%" not in address
    pages = [browser.get(address) for _ in range(3)]
    assert all("배포는 정오 전에만" in page and "Commit this" in page for page in pages)
    assert memory.git("rev-parse", "HEAD") == head and FACT in memory.read("MEMORY.md")
    assert "Committed <code>" in form(browser, pages[-1], "fact/edit").send(browser)
    assert "배포는 정오 전에만" in memory.read("MEMORY.md")
    assert "Memory changed since" in browser.get(address, 409)  # Back, after the commit


@pytest.mark.parametrize("token", ["shown", "taken"])
def test_a_preview_never_makes_the_change_whatever_its_form_says(memory: Repo, browse: Browse, token: str) -> None:
    browser, head = browse(memory), memory.git("rev-parse", "HEAD")
    asked = edit(browser)
    shown = form(browser, asked.send(browser, text="Deploy at noon", reason="x"), "fact/edit")
    key = browser.site.preview_forms.add("fact/edit", {**shown.fields, token: shown.fields["shown"]})
    browser.get(f"preview/{key}")
    assert memory.git("rev-parse", "HEAD") == head


def test_every_change_that_is_shown_first_has_its_preview_by_get() -> None:
    made_at_once = {"undo", "review/accept", "review/reject", "review/again", "review/accept-chosen",
                    "review/reject-chosen", "review/ask"}  # fmt: skip
    assert {name for name, change in CHANGES.items() if change.confirmed_by is None} == made_at_once


def test_a_preview_that_is_kept_no_longer_says_so(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    asked = edit(browser)
    first = address_of_preview(browser, asked, text="one", reason="x")
    for number in range(MAX_FORMS):
        browser.site.preview_forms.add("fact/edit", {"text": str(number)})
    assert "This preview is over" in browser.get(first, 404)
    assert "더 이상 남아 있지 않습니다" in browser.get(first, 404, **{"accept-language": "ko"})
    browser.get("preview/nothing", 404)


def test_nothing_is_shown_to_be_changed_where_nothing_can_be(memory: Repo, browse: Browse) -> None:
    browser = browse(memory, read_only=True)
    key = browser.site.preview_forms.add("archive/move", {"fact-0": "yes"})
    page = browser.get(f"preview/{key}", 403)
    assert "Nothing can be changed" in page and not forms(browser, page)


def test_the_forms_that_are_kept_are_the_last_ones() -> None:
    kept = PreviewForms()
    keys = [kept.add("a", {"n": str(number)}) for number in range(MAX_FORMS + 2)]
    assert kept.get(keys[0]) is None and kept.get(keys[1]) is None
    assert kept.get(keys[2]) == ("a", {"n": "2"}) and len(set(keys)) == MAX_FORMS + 2
