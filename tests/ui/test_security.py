"""Who is answered: the browser that opened the printed address, from this machine's own name (threats, A47)."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from gitmem.ui.app import application
from gitmem.ui.security import Keys
from tests.harness import Repo
from tests.ui.conftest import PORT, Browse, Browser


def anonymous(browser: Browser, **headers: str) -> TestClient:
    """Another browser, without the cookie."""
    client = TestClient(application(browser.site), base_url=f"http://127.0.0.1:{PORT}", follow_redirects=False)
    client.headers.update(headers)
    return client


def test_keys_are_new_at_each_start() -> None:
    one, two = Keys(1), Keys(1)
    assert len({one.token, one.cookie, one.csrf, two.token, two.cookie, two.csrf}) == 6
    assert all(len(key) >= 32 for key in (one.token, one.cookie, one.csrf))


def test_an_address_without_the_token_is_no_page(memory: Repo, browse: Browse) -> None:
    client = anonymous(browse(memory))
    for path in ("/", "/today", "/facts", "/static/style.css", "/x/today", "//today"):
        assert client.get(path).status_code == 404


def test_the_token_alone_shows_no_page_but_gives_the_cookie_at_the_entry(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    client = anonymous(browser)
    base = browser.site.keys.base
    refused = client.get(f"{base}/facts")
    assert refused.status_code == 403 and "webhooks" not in refused.text and "set-cookie" not in refused.headers
    entered = client.get(f"{base}/")
    assert entered.status_code == 303
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and f"path={base}".lower() in cookie
    assert browser.site.keys.token not in entered.headers["set-cookie"].split(";")[0]
    assert "webhooks" in client.get(f"{base}/facts").text


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8765", "", "0:8765"],
)
def test_another_host_is_refused_before_any_page(memory: Repo, browse: Browse, host: str) -> None:
    browser = browse(memory)
    answer = browser.client.get(f"{browser.site.keys.base}/facts", headers={"host": host})
    assert answer.status_code == 421 and "webhooks" not in answer.text


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "https://127.0.0.1:8765", "http://127.0.0.1:9999"])
def test_another_origin_is_refused(memory: Repo, browse: Browse, origin: str) -> None:
    browser = browse(memory)
    assert "another site" in browser.get("facts", 403, origin=origin)


def test_a_wrong_cookie_is_refused(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    name = browser.site.keys.cookie_name
    values = (f"{name}=", f"{name}=x", f"{name}x={browser.site.keys.cookie}", "\x80\xff", f"{name}={'a' * 9000}")
    for cookie in values:
        client = anonymous(browser)
        headers = {b"cookie": cookie.encode("latin-1")}
        assert client.get(f"{browser.site.keys.base}/facts", headers=headers).status_code == 403


def test_every_answer_has_the_headers_and_a_nonce_of_its_own(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    seen = set()
    for address in ("facts", "today", "nope", "static/ui.js", "static/../secret"):
        answer = browser.client.get(f"{browser.site.keys.base}/{address}")
        rules = answer.headers["content-security-policy"]
        assert "default-src 'none'" in rules and "unsafe" not in rules and "base-uri 'none'" in rules
        assert "frame-ancestors 'none'" in rules and "form-action 'self'" in rules
        (nonce,) = set(re.findall(r"'nonce-([^']+)'", rules))
        seen.add(nonce)
        assert answer.headers["referrer-policy"] == "same-origin" and answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        if answer.headers["content-type"].startswith("text/html"):
            assert nonce in answer.text
            assert not re.search(r"""\son\w+\s*=|<script(?![^>]*nonce=)|\sstyle\s*=|javascript:""", answer.text)
    assert len(seen) == 5


def test_a_change_needs_the_origin_the_token_and_a_form(memory: Repo, browse: Browse) -> None:
    from gitmem.ui.security import MAX_FORM_BYTES

    browser = browse(memory)
    own = {"origin": f"http://127.0.0.1:{PORT}"}
    csrf = {"csrf": browser.site.keys.csrf}
    address = f"{browser.site.keys.base}/nothing-like-it"
    post = browser.client.post
    assert post(address, data=csrf).status_code == 403
    assert post(address, data=csrf, headers={"origin": "http://evil.example"}).status_code == 403
    assert post(address, data=csrf, headers={**own, "sec-fetch-site": "cross-site"}).status_code == 403
    assert post(address, data=csrf, headers={**own, "sec-fetch-site": "same-site"}).status_code == 403
    assert post(address, data=csrf, headers=own).status_code == 404  # only there is no such change
    assert MAX_FORM_BYTES == 1 << 18
