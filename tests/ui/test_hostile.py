"""Whatever a repository holds, a page shows it as text (threats, A47), and no secret in it at all (A15)."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from gitmem.ui.pages import PAGES
from tests.harness import Repo
from tests.ui.conftest import Browse, Browser

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
BIDI = "\u202edesrever\u2066 \u200bzero"
TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "link",
        "script",
        "body",
        "a",
        "header",
        "nav",
        "ul",
        "li",
        "form",
        "label",
        "input",
        "datalist",
        "option",
        "button",
        "main",
        "h1",
        "h2",
        "h3",
        "p",
        "section",
        "dl",
        "dt",
        "dd",
        "del",
        "ins",
        "span",
        "code",
        "ol",
        "figure",
        "figcaption",
        "time",
        "details",
        "summary",
        "select",
        "svg",
        "rect",
        "q",
        "article",
        "strong",
        "em",
        "text",
        "g",
        "path",
        "line",
        "circle",
        "polyline",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "caption",
        "textarea",
        "fieldset",
        "legend",
        "pre",
        "blockquote",
        "output",
        "div",
        "br",
        "hr",
        "small",
        "noscript",
        "mark",
    ]
)
FACTS = f"""# Memory {SCRIPT}

## Decisions {SCRIPT}

- a fact {SCRIPT} [click](javascript:alert(3)) ![picture](https://evil.example/x.png) [there](https://evil.example/?q=1) <!-- mem type=decision src=memory/2026-02-05.md#L5 tags=<b>,"x -->
- {{{{ 7*7 }}}} {{% raw %}} <!-- mem origin=web type="><svg/onload=1> -->
- turned {BIDI} <!-- mem session=<i> supersedes="><b> -->
- the deploy token is {TOKEN} <!-- mem type=rule -->
- {"long " * 3000}
"""
LOG = f"# 2026-02-05\n\n## 10:00 - {SCRIPT}\n\n- a fact {SCRIPT} [click](javascript:alert(3)) {TOKEN}\n- {BIDI}\n"


class Reader(HTMLParser):
    """What a browser would make of a page: its tags with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))


def assert_harmless(text: str, base: str) -> None:
    """Only our own elements and attributes; nothing loaded from elsewhere; nothing that turns text or is not seen."""
    for tag, attributes in Reader(text).tags:
        assert tag in TAGS, tag
        for name, value in attributes.items():
            assert not name.startswith("on") and name not in ("style", "srcdoc"), (tag, name)
            if name in ("src", "href", "action", "formaction", "poster", "data", "hx-get", "hx-post"):
                outside = value.startswith("https://evil.example/") and tag == "a" and name == "href"
                assert outside or value in ("", "#main") or value.startswith((base + "/", "#")), (tag, name, value)
                assert not outside or "noreferrer" in attributes["rel"]
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f]", text)
    assert "{{ 7*7 }}" in text or "49" not in re.findall(r">([^<]*7\*7[^<]*)<", text)
    assert TOKEN not in text and "A1b2C3d4E5f6G7h8" not in text


@pytest.fixture
def hostile(repo: Repo, browse: Browse) -> Browser:
    """A repository in which everything that can be named is named badly."""
    name = 'memory/notes <img src=x onerror=alert(1)>"&amp;.md'
    repo.git("config", "user.name", f'"><script>alert(4)</script> {BIDI}')
    repo.commit(f"log {SCRIPT}", {"memory/2026-02-05.md": LOG})
    repo.commit(
        f"memory: {SCRIPT}\n\nMemory-Reason: {SCRIPT} {TOKEN}\nReviewed-by: <script>x</script>",
        {"MEMORY.md": FACTS, name: f"---\nsrc: x\n---\n{FACTS}", f"memory/{'n' * 200}.md": FACTS},
    )
    repo.git("branch", 'odd"><script>alert(5)</script>')
    repo.write("MEMORY.md", FACTS + f"- not committed {SCRIPT} {BIDI}\n")
    return browse(repo)


def addresses(browser: Browser) -> list[str]:
    return addresses_of(browser.get)


def addresses_of(get: Callable[[str], str]) -> list[str]:
    """Every page, each fact and each file; now and in the past; searches for what is there."""
    found = [page.path for page in PAGES.values() if "{" not in page.path]
    listed = get("facts")
    facts = re.findall(r'href="/[^/]+/(fact/[^"]+)"', listed)
    files = re.findall(r'href="/[^/]+/(file\?[^"#]+)', listed)
    found += [address.replace("&amp;", "&") for address in dict.fromkeys((*facts, *files))]
    found += [
        "facts?q=fact+script+token+deploy",
        "file?path=memory/2026-02-05.md",
        "facts?q=%3Cscript%3Ealert(1)%3C/script%3E",
    ]
    found += [
        'facts?type="><svg/onload=1>',
        "facts?at=HEAD~1",
        "today?at=HEAD",
        "timeline?day=2026-02-05",
        "compare?from=HEAD~1&to=HEAD",
        "compare?from=%3Cscript%3E",
        "sessions?session=%3Cscript%3Ealert(1)%3C/script%3E",
        "prompt?prompt=fact+script+deploy+token&for=%3Cscript%3E",
        "nothing/%3Cscript%3E",
        "facts?at=%22%3E%3Cscript%3E",
    ]
    return found


def test_nothing_in_a_repository_becomes_markup_and_no_secret_is_shown(hostile: Browser) -> None:
    seen = addresses(hostile)
    assert len([address for address in seen if address.startswith("fact/")]) >= 6
    for address in seen:
        answer = hostile.client.get(f"{hostile.site.keys.base}/{address}")
        assert answer.status_code in (200, 400, 404, 409), (address, answer.status_code)
        assert_harmless(answer.text, hostile.site.keys.base)
    shown = hostile.get("facts")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown and "\\u202e" in shown and "7*7" in shown


def test_links_of_memory_lead_to_the_web_or_nowhere_and_images_are_not_loaded(hostile: Browser) -> None:
    (address,) = {
        a
        for a in addresses(hostile)
        if a.startswith("fact/") and "a fact" in hostile.get(a).split("</h1>")[0] and "MEMORY.md" in a
    }
    tags = Reader(hostile.get(address).split('<h1 class="said">')[1].split("</h1>")[0]).tags
    assert [attributes.get("href") for tag, attributes in tags if tag == "a"] == ["https://evil.example/?q=1"]
    assert not [tag for tag, _ in tags if tag == "img"]


def test_a_token_that_only_the_history_holds_is_masked_there(hostile: Browser) -> None:
    assert TOKEN not in hostile.get("file?path=memory/2026-02-05.md&at=HEAD~1")
    assert "10:00" in hostile.get("file?path=memory/2026-02-05.md&at=HEAD~1")


def test_a_name_that_is_too_long_is_an_error_of_the_request_and_no_full_disk(hostile: Browser) -> None:
    page = hostile.get(f"prompt?text=x&for={'a' * 5000}", 400)
    assert "a shorter name fits" in page and "make room" not in page
