"""The forms of a page, read as a browser reads them: what a person can send from there."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

from tests.ui.conftest import Browser


@dataclass
class Form:
    """A form that changes something: its address below the site's, its fields, the addresses of its buttons."""

    address: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[str] = field(default_factory=list)

    def send(self, browser: Browser, status: int = 200, address: str = "", **fields: str) -> str:
        """Send it with some fields filled in; the page that comes."""
        return browser.post(address or self.address, status, **{**self.fields, **fields})


class _Reader(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__()
        self.base, self.forms = base, list[Form]()
        self.open: Form | None = None
        self.by_id = dict[str, Form]()
        self.outside = list[tuple[str, str, str]]()  # id of the form, name and value of a field that stands elsewhere
        self.area = ""

    def below(self, address: str) -> str:
        return urlsplit(address).path.removeprefix(self.base + "/")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        have = {name: value or "" for name, value in attrs}
        if tag == "form" and have.get("method") == "post":
            self.open = Form(self.below(have["action"]))
            self.forms.append(self.open)
            if have.get("id"):
                self.by_id[have["id"]] = self.open
        elif tag == "input" and have.get("form"):
            if have.get("type") not in ("checkbox", "radio") or "checked" in have:
                self.outside.append((have["form"], have.get("name", ""), have.get("value", "")))
        elif self.open is None:
            return
        elif tag == "input" and have.get("name"):
            if have.get("type") != "radio" or "checked" in have:
                self.open.fields[have["name"]] = have.get("value", "")
        elif tag == "textarea":
            self.area = have["name"]
            self.open.fields[self.area] = ""
        elif tag == "button" and have.get("formaction"):
            self.open.buttons.append(self.below(have["formaction"]))

    def handle_data(self, data: str) -> None:
        if self.open is not None and self.area:
            self.open.fields[self.area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.open = None
        elif tag == "textarea":
            self.area = ""


def forms(browser: Browser, page: str) -> list[Form]:
    """The forms of a page that change something, in order."""
    reader = _Reader(browser.site.keys.base)
    reader.feed(page)
    for ident, name, value in reader.outside:
        if ident in reader.by_id:
            reader.by_id[ident].fields[name] = value
    return reader.forms


def form(browser: Browser, page: str, address: str) -> Form:
    """The first form of a page to an address."""
    found = [form for form in forms(browser, page) if form.address == address]
    assert found, f"no form to {address}; there are {[form.address for form in forms(browser, page)]}"
    return found[0]
