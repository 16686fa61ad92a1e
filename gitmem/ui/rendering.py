"""Values as HTML: one environment of templates in which every value is masked, made visible and escaped.

What a template writes is collected first and masked all at once, as in a review: secrets and personal data do not reach
a page, whoever wrote it and whatever value holds them. Characters that cannot be seen or that turn the direction of
text are spelled out. Memory is Markdown of others: its HTML is text, links show where they lead, images are links.
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
from gitmem.memory.statements import unmarked
from gitmem.review.masking import Texts

HERE = Path(__file__).parent
STATIC = HERE / "static"
# Characters of one text that are rendered as Markdown; how many more there are is said.
MAX_MARKDOWN_CHARACTERS = 20_000
MARKED = 20  # places of one passage that are marked as what was asked for; a mark is longer than most words
_OID = re.compile(r"[0-9a-f]{4,64}")
_UNSEEN = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
T = TypeVar("T")


class Ours(str):
    """Text that holds nothing of memory, or no secret: words of the interface, addresses, oids. It is not masked."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """A text on its way into a page: `how` makes HTML of it once it is masked; `person` leaves personal data, as in a
    name with an address."""

    text: str
    how: Callable[[str], Markup]
    person: bool = False


def plain(text: str) -> Markup:
    """A text as it is written by a template without a filter."""
    return escape(visible(text))


@dataclass(slots=True)
class _Page:
    """What one page writes, each text with a mark that stands for it until all are masked."""

    shown: list[Shown] = field(default_factory=list)
    key: str = field(default_factory=lambda: secrets.token_hex(8))

    def mark(self, value: Shown) -> Markup:
        self.shown.append(value)
        return Markup(f"\ue000{self.key}:{len(self.shown) - 1};")

    def finished(self, text: str) -> str:
        """The page with every mark replaced by its text, masked."""
        kinds = {False: Texts(), True: Texts()}
        for value in self.shown:
            kinds[value.person].collect(value.text)
        kinds[False].mask(Policy(), ())
        kinds[True].mask(Policy(), frozenset(PERSONAL))
        html = [value.how(kinds[value.person].masked(value.text)) for value in self.shown]
        return re.sub(f"\ue000{self.key}:([0-9]+);", lambda match: html[int(match[1])], text)


_PAGE: ContextVar[_Page] = ContextVar("page")


@cache
def environment() -> jinja2.Environment:
    """The templates: autoescaping everywhere, an unknown name is an error, nothing that cuts a text before it is
    masked."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_written, auto_reload=False,
    )  # fmt: skip
    for unsafe in ("truncate", "safe", "wordwrap", "striptags", "urlize", "xmlattr", "tojson", "pprint"):
        del made.filters[unsafe]
    made.filters.update(
        markdown=lambda text: Shown(text, markdown), inline=lambda text: Shown(text, inline), short=short,
        passage=passage, line=line, name=name,
        person=lambda text: Shown(text, plain, person=True), exact=exact, oid=oid, file_key=file_key, time=time_tag,
        moment=moment_tag,
        day=day_tag, number=lambda value: Ours(f"{value:,}"),
    )  # fmt: skip
    return made


def rendered(template: str, **values: object) -> str:
    """The page that a template makes of values."""
    page = _Page()
    token = _PAGE.set(page)
    try:
        return page.finished(environment().get_template(template).render(**values))
    finally:
        _PAGE.reset(token)


def _written(value: Any) -> Any:
    """What a template is about to write: a mark for a text, anything else as it is."""
    if isinstance(value, Shown):
        return _PAGE.get().mark(value)
    if not isinstance(value, str) or isinstance(value, Markup | Ours):
        return value
    if value:
        return _PAGE.get().mark(Shown(value, plain))
    return value


@lru_cache(maxsize=1024)
def masked_word(text: str) -> str:
    """A part of an address as it may be shown: the text itself, unless it holds a secret."""
    lines = Texts()
    lines.collect(text)
    lines.mask(Policy(), frozenset(PERSONAL))
    return lines.masked(text)


def fitting(values: Sequence[T], text_of: Callable[[T], str], most: int) -> Sequence[T]:
    """The first of the values, as many as a page has room for: those whose texts are at most `most` bytes as HTML; one
    at least."""
    size = 0
    for number, value in enumerate(values):
        size += len(escape(text_of(value)).encode("utf-8", "replace"))
        if number and size > most:
            return values[:number]
    return values


def short(text: str, most: int) -> Shown:
    """The beginning of a text, cut after it is masked."""
    return Shown(text, lambda masked: _cut(masked, most))


def line(text: str, most: int) -> Shown:
    """The beginning of a text as one line of Markdown without links: what a link may hold."""
    from gitmem.ui.safe_markdown import parser

    without = parser("link", "autolink", "image")
    return Shown(text, lambda masked: Markup(without.renderInline(visible(_shortened(masked, most)))))


def exact(text: str) -> Markup:
    """A text as a form sends it back: not masked; what turns the direction of text, or is not seen, by its number."""
    return Markup(_UNSEEN.sub(lambda match: f"&#{ord(match[0])};", escape(text)))


def file_key(path: str) -> str:
    """What stands for a path in a form: the path itself may hold what is masked."""
    return Ours(hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32])


def name(text: str) -> Shown:
    """The name of `Name <e-mail>`."""
    return Shown(text, lambda masked: plain(masked.partition(" <")[0] or masked), person=True)


def passage(text: str, most: int, marks: re.Pattern[str] | None = None) -> Shown:
    """The lines of a hit without the marks of their list, cut after they are masked; around the words that `marks`
    finds, which are marked."""

    def written(masked: str) -> Markup:
        whole = "\n".join(unmarked(line) for line in masked.split("\n"))
        found = None
        if marks:
            found = marks.search(whole)
        first = 0
        if found and found.end() > most:
            first = max(0, found.start() - most // 2)
        text = visible(("\u2026" if first else "") + _shortened(whole[first:], most))
        if marks:
            return _marked(text, marks)
        return escape(text)

    return Shown(text, written)


def _marked(text: str, marks: re.Pattern[str]) -> Markup:
    """A text with what a pattern finds first as `<mark>`, MARKED times at most."""
    pieces, at = [], 0
    for found in islice(marks.finditer(text), MARKED):
        pieces += [escape(text[at : found.start()]), Markup("<mark>{}</mark>").format(found[0])]
        at = found.end()
    return Markup("").join([*pieces, escape(text[at:])])


def _cut(text: str, most: int) -> Markup:
    return plain(_shortened(text, most))


def _shortened(text: str, most: int) -> str:
    """Cut at a space where there is one near."""
    if len(text) <= most:
        return text
    at = text[:most].rfind(" ", most - most // 5)
    return text[: at if at > 0 else most].rstrip() + "\u2026"


def oid(text: str, length: int = 64) -> str:
    """The first digits of an oid or an id, which is no secret; any other text as it is."""
    if _OID.fullmatch(text):
        return Ours(text[:length])
    return text


def time_tag(value: datetime | None) -> Markup:
    """A moment, machine readable: the page's script writes it in the reader's zone."""
    if value is None:
        return Markup("")
    return Markup('<time datetime="{}">{}</time>').format(
        value.isoformat(timespec="seconds"), value.astimezone().strftime("%Y-%m-%d %H:%M")
    )


def moment_tag(text: str) -> Markup | str:
    """A moment as ISO 8601 writes it, as `time_tag` does; a text that is none as it is."""
    try:
        return time_tag(datetime.fromisoformat(text))
    except ValueError:
        return text


def day_tag(value: date | str) -> Markup | str:
    """A day, which is of no zone; a text that is none as it is."""
    text = str(value)
    if _DAY.fullmatch(text):
        return Markup('<time datetime="{0}">{0}</time>').format(text)
    return text


def markdown(text: str) -> Markup:
    """Markdown as blocks."""
    from gitmem.ui.safe_markdown import parser

    return Markup(parser().render(visible(text[:MAX_MARKDOWN_CHARACTERS]))) + _count_of_rest(text)


def inline(text: str) -> Markup:
    """One line of Markdown: emphasis, code, links; no block."""
    from gitmem.ui.safe_markdown import parser

    return Markup(parser().renderInline(visible(text[:MAX_MARKDOWN_CHARACTERS]))) + _count_of_rest(text)


def _count_of_rest(text: str) -> Markup:
    left = len(text) - MAX_MARKDOWN_CHARACTERS
    if left > 0:
        return Markup(' <span class="quiet">... {}</span>').format(f"{left:,}")
    return Markup("")
