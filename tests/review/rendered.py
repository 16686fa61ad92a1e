"""A comment as GitHub shows it: its Markdown as HTML, laid out by a browser with GitHub's sizes, fold closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDTH = 760  # pixels of a comment's text in a window of 1280
STYLE = f"""
body {{ margin: 0; width: {WIDTH}px; font: 14px/1.5 -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif;
       overflow-wrap: break-word }}
p, ul, details, table {{ margin: 0 0 16px }} ul {{ padding-left: 2em }} li + li {{ margin-top: .25em }}
li > ul {{ margin: 0 }} h3, h4 {{ margin: 24px 0 16px; line-height: 1.25; font-weight: 600 }}
h3 {{ font-size: 1.25em }} h4 {{ font-size: 1em }} body > :first-child {{ margin-top: 0 }}
code {{ font: 85% ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; padding: .2em .4em;
       white-space: break-spaces }}
h3 code {{ font-size: inherit }}
"""


def html(markdown: str) -> str:
    """The page of a comment. Raw HTML stays: GitHub keeps `details`."""
    import cmarkgfm
    from cmarkgfm.cmark import Options

    body = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    return f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><body>{body}</body>"


def height(browser: Browser, markdown: str) -> int:
    """Pixels of the comment while its fold is closed."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        page.set_content(html(markdown))
        assert page.locator("details[open]").count() == 0
        return round(page.evaluate("document.body.getBoundingClientRect().height"))
    finally:
        page.close()


def seen(markdown: str) -> tuple[str, str]:
    """(Markdown that is seen at once, Markdown of the fold); the comment has one fold, at its end."""
    first, begin, rest = markdown.partition("<details>")
    assert begin and rest.rstrip().endswith("</details>")
    return first, rest
