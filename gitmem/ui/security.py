"""Checks every request: only a local browser that opened the printed URL gets a response.

Every URL begins with a random token, and every request but the first needs the cookie that the first response set. The
`Guard` refuses a request from elsewhere by its Host (against DNS rebinding), its Origin and its cookie, before any page
sees it. A change also needs the CSRF token of its form (`checked_form`). The headers of a response say what its page
may load and run.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gitmem.ui.translation import language_of, translate_message

SAFE_METHODS = ("GET", "HEAD")
MAX_FORM_BYTES = 1 << 18  # the longest field is a fact, of 4,000 characters at nine bytes each
MAX_FIELDS = 200  # of a form
LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
CSRF = "csrf"  # the field of a form with the CSRF token


def _random() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, slots=True)
class Keys:
    """The secrets of one server start, which only the browser that opened the printed URL knows. `token`: the first
    part of every URL's path. `cookie`: the value of the cookie that every request but the first must have. `csrf`: the
    field that every form must have."""

    port: int
    token: str = field(default_factory=_random)
    cookie: str = field(default_factory=_random)
    csrf: str = field(default_factory=_random)

    @property
    def base(self) -> str:
        """The path before every page, without a slash at its end."""
        return f"/{self.token}"

    @property
    def cookie_name(self) -> str:
        return f"git-mem-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """The accepted values of the Host header."""
        return frozenset(f"{name}:{self.port}" for name in LOCAL_NAMES)


class Refusal(Exception):
    """A refused request. `status`: the HTTP status. `words`: the reason as a sentence."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Guard:
    """An ASGI application that checks each request and passes it on to `app`. It adds `response_headers` to every
    response, and puts their nonce (a random word that scripts and styles must carry) into `scope["state"]`."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # a web socket is closed without a response
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(response_headers(nonce))
            await send(message)

        try:
            answer = self._checked(scope)
        except Refusal as refusal:
            language = language_of(Headers(scope=scope).get("accept-language", ""))
            answer = PlainTextResponse(translate_message(language, refusal.words) + "\n", refusal.status)
        await (answer or self.app)(scope, receive, with_headers)

    def _checked(self, scope: Scope) -> Response | None:
        """None for a request that may pass. For a GET or HEAD of the printed URL itself by a browser without the
        cookie: a redirect to the first page, which sets the cookie. Raises Refusal for another host name, for a request
        from another site (a change must have an Origin header), for a path without the token, and for any other request
        without the cookie."""
        headers, keys = Headers(scope=scope), self.keys
        if headers.get("host", "") not in keys.hosts:
            raise Refusal(421, "This server answers to 127.0.0.1 and localhost only.")
        origin = f"http://{headers['host']}"
        if headers.get("origin", origin) != origin or len(headers.getlist("host")) != 1:
            raise Refusal(403, "This came from another site.")
        is_from_here = "origin" in headers and headers.get("sec-fetch-site", "same-origin") == "same-origin"
        if scope["method"] not in SAFE_METHODS and not is_from_here:
            raise Refusal(403, "This came from another site.")
        url_token, _, page_path = scope["path"].lstrip("/").partition("/")
        if not secrets.compare_digest(url_token.encode(), keys.token.encode()):
            raise Refusal(404, "Open the address that git mem ui printed.")
        if secrets.compare_digest(_cookie(headers, keys.cookie_name).encode(), keys.cookie.encode()):
            return None
        if page_path or scope["method"] not in SAFE_METHODS:
            raise Refusal(403, "Open the address that git mem ui printed, in this browser.")
        answer = RedirectResponse(f"{keys.base}/today", 303)
        answer.set_cookie(keys.cookie_name, keys.cookie, path=keys.base, httponly=True, samesite="strict")
        return answer


def _cookie(headers: Headers, name: str) -> str:
    """The value of a cookie; "" when there is none or the header is invalid."""
    jar = SimpleCookie()
    try:
        jar.load("; ".join(part for part in headers.get("cookie", "").split("; ") if part.startswith(f"{name}=")))
    except CookieError:
        return ""
    return jar[name].value if name in jar else ""


def response_headers(nonce: str) -> dict[str, str]:
    """The security headers of every response: a page loads nothing from elsewhere, and only scripts and styles with the
    nonce run."""
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
    """The fields of a form from a page of this server, without the CSRF token. Raises Refusal for any other request.

    Accepts only `application/x-www-form-urlencoded`. The last value of a repeated field counts.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise Refusal(415, "This is not the form of a page.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM_BYTES:
            raise Refusal(413, "This form is larger than one of these pages sends.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        raise Refusal(400, "This form cannot be read.") from None
    fields = dict(pairs)
    if not secrets.compare_digest(fields.pop(CSRF, "").encode(), keys.csrf.encode()):
        raise Refusal(403, "This form is from another start of the server: load the page again.")
    return {name: value.replace("\r\n", "\n") for name, value in fields.items()}
