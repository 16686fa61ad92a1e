"""A Markdown parser for untrusted text: its HTML is shown as text, links show their target, images are not loaded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markupsafe import escape

from gitmem.gate.quoting import visible

if TYPE_CHECKING:
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict


class _Safe(RendererHTML):
    """A renderer that shows the host behind each link, and the text and target of an image instead of the image."""

    def link_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        """The opening tag of a link; its target is `#` unless it is one of the web or a mail address (`_href`)."""
        target = str(tokens[index].attrGet("href") or "")
        words = escape(visible(target))
        return f'<a rel="noreferrer noopener nofollow" title="{words}" href="{escape(_href(target))}">'

    def link_close(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        """The closing tag of a link and the host of its target in parentheses, if it has one."""
        opened = next((token for token in reversed(tokens[:index]) if token.type == "link_open"), None)
        host = _host(str(opened.attrGet("href"))) if opened is not None else ""
        if host:
            return f'</a> <span class="host">({escape(visible(host))})</span>'
        return "</a>"

    def image(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        """The text and the target of an image as text; the image is not loaded."""
        target = str(tokens[index].attrGet("src") or "")
        words = escape(visible(tokens[index].content or target))
        return f'<span class="image">[{words}: {escape(visible(target))}]</span>'


def _host(target: str) -> str:
    """The host of a URL; "" if it has none or is invalid."""
    try:
        return urlsplit(target).hostname or ""
    except ValueError:
        return ""


def _href(target: str) -> str:
    """The target of a link to the web or to a mail address; `#` for any other target."""
    try:
        scheme = urlsplit(target).scheme.lower()
    except ValueError:
        return "#"
    return target if scheme in ("http", "https", "mailto") else "#"


@cache
def parser(*without: str) -> MarkdownIt:
    """The parser for CommonMark with tables, without the rules named in `without`."""
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}, renderer_cls=_Safe).enable("table")
    return markdown.disable([*without])
