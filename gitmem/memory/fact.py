"""One fact: its text, its id, and its trailing `<!-- mem key=value ... -->` comment. MEMORY.md as many is `facts`.

Pure. Grammar (docs/format.md): `<!-- mem` then space-separated `key=value`, then `-->`. Values are percent-encoded:
space, `%` and `--`; in `src`, `code` and `read` the path also `@` and `#`, then literally `#L12-L14@` and the oid.
Unknown keys are kept.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from gitmem.git.objects import Span
from gitmem.lazy_patterns import lazy
from gitmem.light_typing import NamedTuple

COMMENT = lazy(r"[ \t]*<!--[ \t]+mem(?:[ \t]+(.*?))?[ \t]*-->[ \t]*$")
_BULLET = lazy(r"[ \t]{0,3}[-*+][ \t]+(?=\S)")
PERCENT = lazy(r"%([0-9A-Fa-f]{2})")
SOURCE = lazy(r"^(.+)#L(\d{1,9})(?:-L(\d{1,9}))?(?:@([0-9a-f]{4,64}))?$")
Meta = tuple[tuple[str, str], ...]
PLACES = ("src", "code", "read")  # keys whose values are encoded by whoever composes them
ID_LENGTH = 12  # hex digits

TYPES = (
    "fact", "preference", "constraint", "decision", "deadline", "todo", "timeline", "profile", "rule", "goal",
    "policy", "exception", "lesson", "note", "episode-digest",
)  # fmt: skip
ORIGINS = ("user", "agent", "tool", "web")  # from the most to the least trusted
UNSEEN_ORIGINS = ("tool", "web")  # nothing of these becomes a fact before a person has seen it
_ORIGIN_WORD = lazy(r"[^\s,;|/+&]+")


def parse_comment(text: str) -> tuple[str, Meta]:
    """(text before the comment, its keys in order). A text without a comment has no keys."""
    if not text.rstrip().endswith("-->"):
        return text.rstrip(), ()
    start = text.rfind("<!--")
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    match = None
    if start >= 0:
        match = COMMENT.match(text, start)
    if match is None:
        return text.rstrip(), ()
    pairs = [pair.partition("=") for pair in (match.group(1) or "").split()]
    return text[: match.start()], tuple((key, _decode(key, value)) for key, eq, value in pairs if eq and key)


# A place keeps its encoding: the `#` and `@` of its path must stay different from those of the span.
def _decode(key: str, value: str) -> str:
    if key in PLACES:
        return value
    return decode(value)


def _encode(key: str, value: str) -> str:
    if key in PLACES:
        return value
    return encode(value)


def render_comment(meta: Iterable[tuple[str, str]]) -> str:
    """`<!-- mem k=v ... -->`, or "" without keys. `parse_comment` gives the same pairs back."""
    words = [f"{key}={_encode(key, value)}" for key, value in meta]
    if not words:
        return ""
    return f"<!-- mem {' '.join(words)} -->"


def encode(value: str, also: str = "") -> str:
    """Percent-encode `%`, white space, controls, `--` and the characters of `also`, as UTF-8."""
    out = []
    for at, c in enumerate(value):
        if c == "%" or c.isspace() or c in also or ord(c) < 0x20 or ord(c) == 0x7F or 0xD800 <= ord(c) < 0xE000:
            out.append("".join(f"%{byte:02X}" for byte in c.encode("utf-8", "surrogateescape")))
        elif (c == "-" and at and value[at - 1] == "-") or (c == ">" and at and value[at - 1] == "-"):
            out.append(f"%{ord(c):02X}")
        else:
            out.append(c)
    return "".join(out)


def decode(value: str) -> str:
    """The reverse of `encode`; a stray `%` stays."""
    if "%" not in value:
        return value
    raw = PERCENT.sub(lambda m: chr(int(m.group(1), 16)), "".join(
        c if ord(c) < 0x80 else "".join(f"%{b:02X}" for b in c.encode("utf-8", "surrogateescape")) for c in value
    ))  # fmt: skip
    return raw.encode("latin-1", "replace").decode("utf-8", "surrogateescape")


def render_span(span: Span) -> str:
    """`memory/2026-02-05.md#L12-L14@1a2b3c4d5e6f` (the blob cut to 12 hex, left out when unknown)."""
    if span.end_line != span.start_line:
        lines = f"#L{span.start_line}-L{span.end_line}"
    else:
        lines = f"#L{span.start_line}"
    return encode(span.path, "@#") + lines + (f"@{span.blob[:12]}" if span.blob else "")


def parse_span(value: str) -> Span | None:
    """The reverse of `render_span`; None when it is no source."""
    match = SOURCE.match(value.strip())
    if match is None:
        return None
    first = int(match.group(2))
    last = int(match.group(3) or first)
    if 1 <= first <= last:
        return Span(decode(match.group(1)), first, last, match.group(4) or "")
    return None


def normalise(text: str) -> str:
    """A fact's text: no bullet marker, no comment, NFC, white space collapsed."""
    bullet = _BULLET.match(text)
    visible, _ = parse_comment(text[bullet.end() :] if bullet else text)
    return " ".join(unicodedata.normalize("NFC", visible).split())


def text_hash(text: str) -> str:
    """SHA-256 (64 hex) of the normalised text: what `Memory-Source` records."""
    import hashlib  # loads OpenSSL: not every command that reads comments needs it

    return hashlib.sha256(normalise(text).encode("utf-8", "surrogateescape")).hexdigest()


def id_of_hash(digest: str) -> str:
    """The id of the fact whose text has this hash."""
    return digest[:ID_LENGTH]


def fact_id(text: str) -> str:
    """The id of a fact, of a search hit, of a part of a context: the first 12 hex of `text_hash`."""
    return id_of_hash(text_hash(text))


def worst_origin(*values: str) -> str:
    """The least trusted of the origins that `values` name: one of ORIGINS, "" where they name none.

    A value may name several (`web, user`). Case and width do not matter. A word that is no origin counts as `web`:
    who cannot say whose words these are cannot vouch for them.
    """
    words = [word for value in values for word in _ORIGIN_WORD.findall(unicodedata.normalize("NFKC", value).casefold())]
    ranks = [ORIGINS.index(word) if word in ORIGINS else len(ORIGINS) - 1 for word in words]
    if not ranks:
        return ""
    return ORIGINS[max(ranks)]


def origin_of(meta: Iterable[tuple[str, str]]) -> str:
    """The worst origin among the keys of one comment or front matter, "" where none is stated."""
    return worst_origin(*(value for key, value in meta if key.casefold() == "origin"))


class Fact(NamedTuple):
    """One statement of memory. `text` has no marker and no comment (NFC, white space collapsed);
    `id` is the first 12 hex of its SHA-256; `meta` the keys of its `<!-- mem ... -->` comment in order
    (repeatable keys such as `src` appear repeatedly); `line` and `end` are its first and last line, 0 where it stands
    in no file; `heading` is the nearest heading above it, `trail` all that says what it is about, from the outside in.

    A named tuple: a search reads comments, and a dataclass costs its start two milliseconds.
    """

    text: str
    id: str
    line: int
    heading: str = ""
    meta: Meta = ()
    end: int = 0
    trail: tuple[str, ...] = ()

    def get(self, key: str, default: str = "") -> str:
        """The first value of a key, `default` where the comment lacks it."""
        return next((value for name, value in self.meta if name == key), default)

    @property
    def origin(self) -> str:
        """The worst origin its comment states, "" where it states none."""
        return origin_of(self.meta)
