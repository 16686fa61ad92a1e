"""One fact: its text, its id, and the comment `<!-- mem key=value ... -->` at its end. `facts` reads whole files of
facts.

Pure. Grammar of the comment (docs/format.md): `<!-- mem`, then `key=value` pairs with spaces between them, then `-->`.
In values space, `%` and `--` are percent-encoded (`percent_encoding`). A value of `src`, `code` or `read` is a span: a
path, a literal `#L12-L14@` and an oid; in its path `@` and `#` are percent-encoded too. Unknown keys are kept.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Container, Iterable
from typing import NamedTuple

from gitmem.git.objects import Span
from gitmem.json_values import json_keys
from gitmem.lazy_patterns import lazy
from gitmem.memory.percent_encoding import decode, encode, utf8

COMMENT = lazy(r"<!--[ \t]+mem(?:[ \t]+(?P<words>.*?))?[ \t]*-->[ \t]*$")
_BULLET = lazy(r"[ \t]{0,3}[-*+][ \t]+(?=\S)")
SPAN = lazy(
    r"""
    ^ (?P<path> .+ )
    \#L (?P<first> \d{1,9} )
    (?: -L (?P<last> \d{1,9} ) )?
    (?: @ (?P<blob> [0-9a-f]{4,64} ) )?   # no cut oid of fewer than 4 digits, as in Git
    $
    """,
    re.VERBOSE,
)
Meta = tuple[tuple[str, str], ...]  # pairs and no mapping: keys repeat (`src`), and writing keeps their order
# Keys whose value is a span (`render_span`). Comments keep these values encoded: the `#` and `@` of a path must stay
# different from the `#` and `@` of the span.
SPAN_KEYS = ("src", "code", "read")
ABOUT = "about"  # key whose value is the last step of the fact's trail: the thing that it had above it in its log
ID_LENGTH = 12  # hex digits
MIN_ID_DIGITS = 6  # hex digits, at least, that name a fact by the beginning of its id
_HEX_DIGITS = frozenset("0123456789abcdef")
IMPORTANCE = 0.5  # importance of a statement whose comment states none

TYPES = (
    "fact", "preference", "constraint", "decision", "deadline", "todo", "timeline", "profile", "rule", "goal",
    "policy", "exception", "lesson", "note", "episode-digest",
)  # fmt: skip
ORIGINS = ("user", "agent", "tool", "web")  # from the most to the least trusted
FOREIGN_ORIGINS = {"tool": "from a tool", "web": "from the web"}  # origin -> the mark of its text for a reader
UNSEEN_ORIGINS = tuple(FOREIGN_ORIGINS)  # a line of these origins becomes a fact only after a person has seen it
_ORIGIN_WORD = lazy(r"[^\s,;|/+&]+")


def parse_comment(text: str) -> tuple[str, Meta]:
    """Split a text at the metadata comment at its end: (text before the comment, pairs of the comment in order). A text
    without such a comment gives (text without white space at its end, ()). Words of the comment without `=` are
    dropped."""
    if not text.rstrip().endswith("-->"):
        return text.rstrip(), ()
    start = text.rfind("<!--")
    match = COMMENT.match(text, start) if start >= 0 else None
    if match is None:
        return text.rstrip(), ()
    pairs = []
    for word in (match["words"] or "").split():
        key, equals, value = word.partition("=")
        if key and equals:
            pairs.append((key, _read_value(key, value)))
    return text[:start].rstrip(" \t"), tuple(pairs)


def is_true(value: str) -> bool:
    """Whether the value of a key such as `pinned` says yes: true, 1 or yes, in any case."""
    return value.lower() in ("true", "1", "yes")


def render_comment(meta: Iterable[tuple[str, str]]) -> str:
    """The comment `<!-- mem k=v ... -->` with these pairs; "" without pairs. `parse_comment` returns the same pairs."""
    words = [f"{key}={_written_value(key, value)}" for key, value in meta]
    return f"<!-- mem {' '.join(words)} -->" if words else ""


def _read_value(key: str, value: str) -> str:
    """The value of a key from its form in a comment."""
    return value if key in SPAN_KEYS else decode(value)


def _written_value(key: str, value: str) -> str:
    """The value of a key as a comment holds it."""
    return value if key in SPAN_KEYS else encode(value)


def render_span(span: Span) -> str:
    """A span as text: `memory/2026-02-05.md#L12-L14@1a2b3c4d5e6f`.

    The blob's oid is cut to 12 hex digits, and left out with its `@` if the span has none.
    """
    text = f"{encode(span.path, '@#')}#L{span.start_line}"
    if span.end_line != span.start_line:
        text += f"-L{span.end_line}"
    if span.blob:
        text += f"@{span.blob[:12]}"
    return text


def parse_span(value: str) -> Span | None:
    """The span that a text such as `memory/2026-02-05.md#L12-L14@1a2b3c4d5e6f` names (`render_span`); None if the value
    is not of that form or its first line is 0 or after its last."""
    match = SPAN.match(value.strip())
    if match is None:
        return None
    first = int(match["first"])
    last = int(match["last"] or first)
    if not 1 <= first <= last:
        return None
    return Span(decode(match["path"]), first, last, match["blob"] or "")


def values_of(meta: Meta, key: str) -> list[str]:
    """All values of a key that the pairs of a comment have, in order. A key may repeat; [] without one."""
    return [value for name, value in meta if name == key]


def cited_spans(meta: Meta) -> list[Span]:
    """The sources that the pairs of a comment name with `src`, in order; malformed ones are left out."""
    spans = map(parse_span, values_of(meta, "src"))
    return [span for span in spans if span is not None]


def names_fact(meta: Meta, keys: Container[str], ident: str) -> bool:
    """Whether the pairs of a comment name the fact with the id `ident` with one of `keys`. The value may be the
    beginning of the id."""
    return any(key in keys and value and ident.startswith(value) for key, value in meta)


def normalise(text: str) -> str:
    """The text of a fact: NFC, without bullet marker and metadata comment, white space collapsed to single spaces."""
    bullet = _BULLET.match(text)
    visible, _ = parse_comment(text[bullet.end() :] if bullet else text)
    return " ".join(unicodedata.normalize("NFC", visible).split())


def text_hash(text: str) -> str:
    """SHA-256 of the normalised text, as 64 hex digits. The trailer `Memory-Source` records it."""
    import hashlib  # loads OpenSSL, which most commands that read comments do not need

    return hashlib.sha256(utf8(normalise(text))).hexdigest()


def id_of_hash(digest: str) -> str:
    """The id of the fact whose `text_hash` is `digest` (64 hex digits): the first ID_LENGTH digits."""
    return digest[:ID_LENGTH]


def id_digits(typed: str) -> str:
    """The digits of an id, or of its beginning, as a person or an agent typed them: MIN_ID_DIGITS to ID_LENGTH hex
    digits, in lower case. "" for any other text."""
    digits = typed.strip().casefold()
    if MIN_ID_DIGITS <= len(digits) <= ID_LENGTH and _HEX_DIGITS.issuperset(digits):
        return digits
    return ""


def fact_id(text: str) -> str:
    """The id of a text (of a fact, a search hit, a part of a context): the first ID_LENGTH hex digits of its
    `text_hash`."""
    return id_of_hash(text_hash(text))


@json_keys("line id text")
class Fact(NamedTuple):
    """One statement of memory.

    `text`: its words, NFC and with white space collapsed (`normalise`). `id`: the `fact_id` of the text. `line`, `end`:
    its first and last line in the file, 0 if it is in no file. `heading`: the text of the nearest heading above it, ""
    without one. `meta`: (key, value) pairs of its `<!-- mem ... -->` comment in order; a key such as `src` may repeat.
    `trail`: note name, headings, parent items and table header that say what the fact is about, from the outermost in.

    A named tuple and no dataclass, because importing `dataclasses` adds two milliseconds to the start of a search.
    """

    text: str
    id: str
    line: int
    heading: str = ""
    meta: Meta = ()
    end: int = 0
    trail: tuple[str, ...] = ()

    def get(self, key: str, default: str = "") -> str:
        """The first value of a key of the comment; `default` if the comment lacks the key."""
        return next((value for name, value in self.meta if name == key), default)

    @property
    def topic(self) -> str:
        """Its trail (note name, headings, parent items), joined by " > ", for a person or a model."""
        return " > ".join(self.trail)

    @property
    def origin(self) -> str:
        """The least trusted origin that its comment names; "" if it names none."""
        return origin_of(self.meta)


def importance_of(stated: str) -> float:
    """The importance that a comment states, limited to 0..1; IMPORTANCE if it states none or no number."""
    try:
        value = float(stated or IMPORTANCE)
    except ValueError:
        return IMPORTANCE
    if math.isnan(value):
        return IMPORTANCE
    return min(1.0, max(0.0, value))


# -- where a statement comes from ------------------------------------------------------------------------------


def worst_origin(*values: str) -> str:
    """The least trusted of the origins that `values` name: one of ORIGINS, or "" if they name none.

    One value may name several origins (`web, user`). Letter case and character width do not matter. A word that is not
    in ORIGINS counts as `web`, the least trusted: an unknown origin proves no trust.
    """
    origins: set[str] = set()
    for value in values:
        origins.update(_ORIGIN_WORD.findall(unicodedata.normalize("NFKC", value).casefold()))
    if not origins.issubset(ORIGINS):
        return ORIGINS[-1]
    return max(origins, key=ORIGINS.index, default="")


def origin_of(meta: Iterable[tuple[str, str]]) -> str:
    """The least trusted `origin` among the pairs of one comment or front matter; "" if they name none."""
    return worst_origin(*(value for key, value in meta if key.casefold() == "origin"))
