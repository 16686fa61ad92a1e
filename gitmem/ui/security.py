"""Who may ask the server anything: who has the address that the terminal printed, in a browser on this machine.

Every address begins with a random token, and every answer but the first needs the cookie that the first one set. A
request from elsewhere is refused by its Host (DNS rebinding), its Origin and its cookie before any page sees it; a
change needs the CSRF token of the form too (`checked_form`). What a page may load or run is said by its headers.
"""

from __future__ import annotations

import secrets
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gitmem.ui.translation import language_of, translated

SAFE = ("GET", "HEAD")
FORM_LIMIT = 1 << 18  # bytes of a form: its longest field is a fact, of 4,000 characters at nine bytes each
FIELDS = 200  # of a form
NAMES = ("127.0.0.1", "localhost", "[::1]")  # what this machine is called by itself
CSRF = "csrf"  # the field of a form that holds its token


def _random() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, slots=True)
class Keys:
    """What only the browser that opened the printed address knows; new with each start."""

    port: int
    token: str = field(default_factory=_random)  # the first part of every address
    cookie: str = field(default_factory=_random)
    csrf: str = field(default_factory=_random)

    @property
    def base(self) -> str:
        """The address of everything, without a slash at its end."""
        return f"/{self.token}"

    @property
    def cookie_name(self) -> str:
        return f"git-mem-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """The values of Host that are this server's."""
        return frozenset(f"{name}:{self.port}" for name in NAMES)


class Refusal(Exception):
    """A request that is not answered: its status and a sentence."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Guard:
    """The application behind the checks; puts the headers of `policy` on every answer, and a nonce for them into
    `scope["state"]`."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # a web socket is closed unanswered
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(policy(nonce))
            await send(message)

        try:
            answer = self._entry(scope)
        except Refusal as refusal:
            language = language_of(Headers(scope=scope).get("accept-language", ""))
            answer = PlainTextResponse(translated(language, refusal.words) + "\n", refusal.status)
        await (answer or self.app)(scope, receive, with_headers)

    def _entry(self, scope: Scope) -> Response | None:
        """None for a request that may go on; the answer that sets the cookie; raises Refusal."""
        headers, keys = Headers(scope=scope), self.keys
        if headers.get("host", "") not in keys.hosts:
            raise Refusal(421, "This server answers to 127.0.0.1 and localhost only.")
        own = f"http://{headers['host']}"
        if headers.get("origin", own) != own or len(headers.getlist("host")) != 1:
            raise Refusal(403, "This came from another site.")
        if scope["method"] not in SAFE:
            self._change(headers)
        first, _, rest = scope["path"].lstrip("/").partition("/")
        if not secrets.compare_digest(first.encode(), keys.token.encode()):
            raise Refusal(404, "Open the address that git mem ui printed.")
        if secrets.compare_digest(_cookie(headers, keys.cookie_name).encode(), keys.cookie.encode()):
            return None
        if rest or scope["method"] not in SAFE:
            raise Refusal(403, "Open the address that git mem ui printed, in this browser.")
        return self._with_cookie()

    def _change(self, headers: Headers) -> None:
        """A request that may change something names where it comes from, and that is here."""
        if "origin" not in headers or headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise Refusal(403, "This came from another site.")

    def _with_cookie(self) -> Response:
        keys = self.keys
        answer = RedirectResponse(f"{keys.base}/today", 303)
        answer.set_cookie(keys.cookie_name, keys.cookie, path=keys.base, httponly=True, samesite="strict")
        return answer


def _cookie(headers: Headers, name: str) -> str:
    """The value of one cookie, "" where there is none or the header is no list of cookies."""
    jar = SimpleCookie()
    try:
        jar.load("; ".join(part for part in headers.get("cookie", "").split("; ") if part.startswith(f"{name}=")))
    except CookieError:
        return ""
    if name not in jar:
        return ""
    return jar[name].value


def policy(nonce: str) -> dict[str, str]:
    """The headers of every answer: nothing is loaded from elsewhere, no script or style runs without the nonce."""
    rules = (
        "default-src 'none'", f"script-src 'nonce-{nonce}'", f"style-src 'nonce-{nonce}'", "img-src 'self'",
        "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    )  # fmt: skip
    return {
        "content-security-policy": "; ".join(rules),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",  # with "no-referrer" the Origin of our own forms is "null"
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
        "cache-control": "no-store",
    }


async def checked_form(request: Request, keys: Keys) -> dict[str, str]:
    """The fields of a form that this server's own page sent, without its token. Raises Refusal for any other.

    Only `application/x-www-form-urlencoded`; of a field given twice the last value counts.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise Refusal(415, "This is not the form of a page.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > FORM_LIMIT:
            raise Refusal(413, "This form is larger than one of these pages sends.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS, errors="strict")
    except ValueError:
        raise Refusal(400, "This form cannot be read.") from None
    fields: MutableMapping[str, Any] = dict(pairs)
    if not secrets.compare_digest(fields.pop(CSRF, "").encode(), keys.csrf.encode()):
        raise Refusal(403, "This form is from another start of the server: load the page again.")
    return {name: value.replace("\r\n", "\n") for name, value in fields.items()}
