"""Every route that changes something, by itself: asked from elsewhere, without its token, of the past or read-only, it
changes nothing. A route that is added is tested here by being in CHANGES."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from gitmem.ui.app import application
from gitmem.ui.pages import CHANGES, PAGES
from tests.harness import Repo
from tests.ui.conftest import PORT, Browse, Browser

OWN = f"http://127.0.0.1:{PORT}"
each_change = pytest.mark.parametrize("name", sorted(CHANGES))
FIELDS = {"id": "4891a5f4cbe1", "file": "0" * 32, "line": "5", "blob": "0" * 40, "reason": "x", "text": "y"}


def state(repo: Repo) -> tuple[str, str, str]:
    return repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain", "-uall"), repo.git("for-each-ref")


def sent(
    browser: Browser, name: str, *, csrf: str | None = None, headers: dict[str, str] | None = None, kind: str = "form"
) -> int:
    """The status of a change as somebody sends it."""
    fields = {**FIELDS, "csrf": browser.site.keys.csrf if csrf is None else csrf}
    address, heads = f"{browser.site.keys.base}/{name}", {"origin": OWN} if headers is None else headers
    if kind == "json":
        return browser.client.post(address, json=fields, headers=heads).status_code
    if kind == "multipart":
        return browser.client.post(address, files={"a": b""}, data=fields, headers=heads).status_code
    return browser.client.post(address, data=fields, headers=heads).status_code


@each_change
def test_a_change_without_the_token_of_this_start_is_refused(memory: Repo, browse: Browse, name: str) -> None:
    browser, before = browse(memory), state(memory)
    for csrf in ("", "x", browser.site.keys.csrf[:-1], browser.site.keys.csrf + "x", browser.site.keys.token):
        assert sent(browser, name, csrf=csrf) == 403
    assert state(memory) == before


@each_change
def test_a_change_from_elsewhere_is_refused(memory: Repo, browse: Browse, name: str) -> None:
    browser, before = browse(memory), state(memory)
    for headers in (
        {}, {"origin": "null"}, {"origin": "http://evil.example"}, {"origin": f"http://localhost:{PORT}"},
        {"origin": OWN, "sec-fetch-site": "cross-site"}, {"origin": OWN, "sec-fetch-site": "same-site"},
    ):  # fmt: skip
        assert sent(browser, name, headers=headers) == 403, headers
    for host in ("evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1.evil.example:{PORT}"):
        assert sent(browser, name, headers={"host": host, "origin": f"http://{host}"}) == 421, host
    assert state(memory) == before


@each_change
def test_a_change_by_a_browser_without_the_cookie_or_the_address_is_refused(
    memory: Repo, browse: Browse, name: str
) -> None:
    browser, before = browse(memory), state(memory)
    stranger = TestClient(application(browser.site), base_url=OWN, follow_redirects=False)
    fields = {**FIELDS, "csrf": browser.site.keys.csrf}
    base = browser.site.keys.base
    assert stranger.post(f"{base}/{name}", data=fields, headers={"origin": OWN}).status_code == 403
    assert browser.client.post(f"/{name}", data=fields, headers={"origin": OWN}).status_code == 404
    assert browser.client.post(f"{base}x/{name}", data=fields, headers={"origin": OWN}).status_code == 404
    assert state(memory) == before


@each_change
def test_a_change_is_a_form_that_is_posted_and_nothing_else(memory: Repo, browse: Browse, name: str) -> None:
    browser, before = browse(memory), state(memory)
    assert sent(browser, name, kind="json") == 415 and sent(browser, name, kind="multipart") == 415
    address, query = f"{browser.site.keys.base}/{name}", f"csrf={browser.site.keys.csrf}"
    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"):
        answer = browser.client.request(method, f"{address}?{query}", headers={"origin": OWN})
        shows = method in ("GET", "HEAD") and name in {page.path for page in PAGES.values()}
        assert shows or answer.status_code in (403, 404, 405), (method, answer.status_code)
    assert state(memory) == before


@each_change
def test_nothing_is_changed_by_a_read_only_server_or_from_a_page_of_the_past(
    memory: Repo, browse: Browse, name: str
) -> None:
    memory.commit("second")
    before = state(memory)
    assert sent(browse(memory, read_only=True), name) == 403
    assert sent(browse(memory, at="HEAD~1"), name) == 403
    assert sent(browse(memory), f"{name}?at=HEAD~1") == 403
    assert sent(browse(memory), f"{name}?at=main") == 403
    assert state(memory) == before


@each_change
def test_a_change_of_what_is_not_there_is_a_page_with_a_sentence(memory: Repo, browse: Browse, name: str) -> None:
    browser, before = browse(memory), state(memory)
    headers = {"origin": OWN}
    for fields in ({}, FIELDS, {field: "\udcff\x00\u202e<b>" * 50 for field in FIELDS}, {**FIELDS, "shown": "0" * 64}):
        data = {**{key: value.encode("utf-8", "surrogateescape") for key, value in fields.items()}}
        answer = browser.client.post(
            f"{browser.site.keys.base}/{name}", data={**data, "csrf": browser.site.keys.csrf}, headers=headers
        )
        assert answer.status_code in (200, 400, 404, 409, 422), (fields, answer.status_code, answer.text[-800:])
        assert "<h1" in answer.text or answer.status_code == 400
        assert "<b>" not in answer.text
    assert state(memory) == before
