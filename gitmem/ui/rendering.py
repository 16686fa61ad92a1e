"""Renders values as HTML, through templates in which every value is masked, made visible and escaped.

A page collects the texts that its template writes, masks all of them at once, and puts them into the HTML at the end.
So no value brings a secret or personal data into a page. Characters that are invisible or change the direction of text
are spelled out. Memory is Markdown from others: its HTML is shown as text, its links show their target, and its images
become links.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import jinja2
from markupsafe import Markup, escape

from gitmem.gate.detectors.personal.pii import RULES as PERSONAL
from gitmem.gate.policy import Policy
from gitmem.gate.quoting import visible
from gitmem.gate.withholding import NAME_RULES
from gitmem.memory.statements import without_list_marker
from gitmem.paths import ISO_DAY
from gitmem.review.masking import Texts

HERE = Path(__file__).parent
STATIC = HERE / "static"
MAX_MARKDOWN_CHARACTERS = 20_000  # of one text that is rendered as Markdown; the page counts the others
MAX_MARKS = 20  # matches marked in one passage
_OID = re.compile(r"[0-9a-f]{4,64}")
_UNSEEN = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_DAY = re.compile(ISO_DAY)
T = TypeVar("T")


class Unmasked(str):
    """A text that a page writes without masking, since it has no secret: words of the interface, URLs, oids. It is
    still escaped."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class PageText:
    """A text that a page masks and then writes. `to_html`: makes HTML of the masked text. `is_person`: personal data
    is not masked, as in a name with an e-mail address."""

    text: str
    to_html: Callable[[str], Markup]
    is_person: bool = False


def plain(text: str) -> Markup:
    """The HTML of a text that a template writes without a filter: invisible characters are spelled out, and the text is
    escaped, not masked."""
    return escape(visible(text))


@dataclass(slots=True)
class _Page:
    """The texts of one page. The HTML has a placeholder for each of them until all are masked."""

    texts: list[PageText] = field(default_factory=list)
    key: str = field(default_factory=lambda: secrets.token_hex(8))

    def placeholder(self, text: PageText) -> Markup:
        self.texts.append(text)
        return Markup(f"\ue000{self.key}:{len(self.texts) - 1};")

    def filled(self, html: str) -> str:
        """The HTML with every placeholder replaced by its masked text."""
        others, people = Texts(), Texts()
        group_of = {False: others, True: people}
        for text in self.texts:
            group_of[text.is_person].collect(text.text)
        others.mask(Policy(), ())
        people.mask(Policy(), NAME_RULES)
        parts = [text.to_html(group_of[text.is_person].masked(text.text)) for text in self.texts]
        return re.sub(f"\ue000{self.key}:([0-9]+);", lambda match: parts[int(match[1])], html)


_PAGE: ContextVar[_Page] = ContextVar("page")


@cache
def environment() -> jinja2.Environment:
    """The environment of the templates. It escapes every value, an unknown name is an error, and filters that would cut
    or change a text before it is masked are removed."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_template_value, auto_reload=False,
    )  # fmt: skip
    for unsafe in ("truncate", "safe", "wordwrap", "striptags", "urlize", "xmlattr", "tojson", "pprint"):
        del templates.filters[unsafe]
    templates.filters.update(
        markdown=lambda text: PageText(text, markdown), inline=lambda text: PageText(text, inline), short=short,
        passage=passage, line=line, name=name, person=lambda text: PageText(text, plain, is_person=True), exact=exact,
        oid=oid, file_key=file_key, time=time_tag, moment=moment_tag, day=day_tag,
        number=lambda value: Unmasked(f"{value:,}"),
    )  # fmt: skip
    return templates


def render_template(template: str, **values: object) -> str:
    """The HTML of a template. Every text among the values is masked and escaped, except one that is Unmasked, which is
    only escaped, and Markup, which is written as it is."""
    page = _Page()
    token = _PAGE.set(page)
    try:
        return page.filled(environment().get_template(template).render(**values))
    finally:
        _PAGE.reset(token)


def _template_value(value: Any) -> Any:
    """What a template writes for a value: a placeholder for a text that must be masked, else the value itself."""
    if isinstance(value, PageText):
        return _PAGE.get().placeholder(value)
    if not value or not isinstance(value, str) or isinstance(value, Markup | Unmasked):
        return value
    return _PAGE.get().placeholder(PageText(value, plain))


@lru_cache(maxsize=1024)
def masked_word(text: str) -> str:
    """A text for a part of a URL, with the secrets in it masked; personal data stays. The result is not escaped."""
    texts = Texts()
    texts.collect(text)
    texts.mask(Policy(), frozenset(PERSONAL))
    return texts.masked(text)


def first_that_fit(values: Sequence[T], text_of: Callable[[T], str], max_bytes: int) -> Sequence[T]:
    """The first values, as many as have texts of at most `max_bytes` bytes as HTML together; at least one value."""
    size = 0
    for number, value in enumerate(values):
        size += len(escape(text_of(value)).encode("utf-8", "replace"))
        if number and size > max_bytes:
            return values[:number]
    return values


def short(text: str, limit: int) -> PageText:
    """The first `limit` characters of a text, cut after masking, and `…` if more follow."""
    return PageText(text, lambda masked: plain(_shortened(masked, limit)))


def line(text: str, limit: int) -> PageText:
    """The first `limit` characters of a text as one line of Markdown without links, for the text of a link."""
    from gitmem.ui.safe_markdown import parser

    without = parser("link", "autolink", "image")
    return PageText(text, lambda masked: Markup(without.renderInline(visible(_shortened(masked, limit)))))


def exact(text: str) -> Markup:
    """A text that a form sends back: not masked, with invisible and direction characters as numeric references."""
    return Markup(_UNSEEN.sub(lambda match: f"&#{ord(match[0])};", escape(text)))


def file_key(path: str) -> str:
    """A digest that identifies a path in a form, since the path itself may contain a secret."""
    return Unmasked(hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32])


def name(text: str) -> PageText:
    """The name of `Name <e-mail>`."""
    return PageText(text, lambda masked: plain(masked.partition(" <")[0] or masked), is_person=True)


def passage(text: str, limit: int, marks: re.Pattern[str] | None = None) -> PageText:
    """`limit` characters of the lines of a hit, without list markers, around the first match of `marks`. The matches
    of `marks` become `<mark>` elements."""

    def to_html(masked: str) -> Markup:
        bare = "\n".join(without_list_marker(row) for row in masked.split("\n"))
        if marks is None:
            return escape(visible(_shortened(bare, limit)))
        match = marks.search(bare)
        if match and match.end() > limit and (start := match.start() - limit // 2) > 0:
            return _marked(visible("\u2026" + _shortened(bare[start:], limit)), marks)
        return _marked(visible(_shortened(bare, limit)), marks)

    return PageText(text, to_html)


def _marked(text: str, marks: re.Pattern[str]) -> Markup:
    """A text with the first MAX_MARKS matches of `marks` as `<mark>` elements."""
    pieces, end = [], 0
    for match in islice(marks.finditer(text), MAX_MARKS):
        pieces += [escape(text[end : match.start()]), Markup("<mark>{}</mark>").format(match[0])]
        end = match.end()
    return Markup("").join([*pieces, escape(text[end:])])


def _shortened(text: str, limit: int) -> str:
    """The first `limit` characters of a text, cut at a space in their last fifth if there is one, and `…`; a text of at
    most `limit` characters unchanged."""
    if len(text) <= limit:
        return text
    end = text[:limit].rfind(" ", limit - limit // 5)
    if end <= 0:
        end = limit
    return text[:end].rstrip() + "\u2026"


def oid(text: str, length: int = 64) -> str:
    """The first `length` digits of an oid or an id, not masked; any other text as it is."""
    if _OID.fullmatch(text):
        return Unmasked(text[:length])
    return text


def time_tag(value: datetime | None) -> Markup:
    """A `<time>` element, which the page's script rewrites in the reader's time zone; empty for None."""
    if value is None:
        return Markup("")
    return Markup('<time datetime="{}">{}</time>').format(
        value.isoformat(timespec="seconds"), value.astimezone().strftime("%Y-%m-%d %H:%M")
    )


def moment_tag(text: str) -> Markup | str:
    """The `<time>` element of a time in ISO 8601; any other text as it is."""
    try:
        return time_tag(datetime.fromisoformat(text))
    except ValueError:
        return text


def day_tag(value: date | str) -> Markup | str:
    """The `<time>` element of a day, which has no time zone; any other text as it is."""
    text = str(value)
    if _DAY.fullmatch(text):
        return Markup('<time datetime="{0}">{0}</time>').format(text)
    return text


def markdown(text: str) -> Markup:
    """The HTML of Markdown with paragraphs, lists and other blocks. The text is cut at MAX_MARKDOWN_CHARACTERS, and the
    number of the other characters follows."""
    from gitmem.ui.safe_markdown import parser

    return Markup(parser().render(visible(text[:MAX_MARKDOWN_CHARACTERS]))) + _count_of_rest(text)


def inline(text: str) -> Markup:
    """The HTML of one line of Markdown: emphasis, code and links, no blocks. The text is cut at
    MAX_MARKDOWN_CHARACTERS, and the number of the other characters follows."""
    from gitmem.ui.safe_markdown import parser

    return Markup(parser().renderInline(visible(text[:MAX_MARKDOWN_CHARACTERS]))) + _count_of_rest(text)


def _count_of_rest(text: str) -> Markup:
    """The HTML that says how many characters of a text beyond MAX_MARKDOWN_CHARACTERS are not shown; empty for none."""
    hidden_count = len(text) - MAX_MARKDOWN_CHARACTERS
    if hidden_count > 0:
        return Markup(' <span class="quiet">... {}</span>').format(f"{hidden_count:,}")
    return Markup("")
