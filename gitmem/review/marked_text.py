"""The part of a pull request's description that git-mem writes, between two markers. Pure.

All text outside the markers belongs to the people who review.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence

BEGIN = re.compile(r"<!-- git-mem:begin ([0-9a-f]{12}) -->")  # with a digest of the title that git-mem gave
END = "<!-- git-mem:end -->"
CUT = "\n\n(cut)"
BOX = re.compile(r"- \[([ xX])\] ")
LINK_TARGET = re.compile(r"\]\([^()\s]*\)")  # it names a commit, so it changes with every push


def with_markers(title: str, text: str, limit: int) -> str:
    """`text` between the markers, cut to `limit` characters with the markers; a cut text ends in CUT. `title`: the
    first marker has a digest of it, by which `update_description` sees whether a person changed it."""
    head, tail = f"<!-- git-mem:begin {_digest(title)} -->\n", f"\n{END}\n"
    space = limit - len(head) - len(tail)
    if len(text) > space:
        text = text[: max(0, space - len(CUT))] + CUT
    return head + text.rstrip("\n") + tail


def update_description(old_title: str, old_body: str, title: str, text: str, limit: int) -> tuple[str, str]:
    """(title, body) of a description whose marked part is replaced by `text` and whose other text is kept.

    The title becomes `title` unless a person changed it or the body has no markers. A body without markers gets the
    marked part at its end. A ticked box stays ticked while its item says the same. When `limit` leaves no room for the
    marked part, title and body are returned as they are.
    """
    begin, end = BEGIN.search(old_body), old_body.rfind(END)
    kept_title, preceding, following = old_title, "", ""
    if begin is not None and end >= begin.end():
        preceding, following = old_body[: begin.start()], old_body[end + len(END) :].removeprefix("\n")
        if begin[1] == _digest(old_title):
            kept_title = title
        text = _with_ticks(text, old_body[begin.end() : end])
    elif old_body.strip():
        preceding = f"{old_body.rstrip()}\n\n"
    remaining_characters = limit - len(preceding) - len(following)
    if remaining_characters < len(with_markers(title, CUT, limit)):
        return old_title, old_body
    return kept_title, preceding + with_markers(title, text, remaining_characters) + following


def _with_ticks(text: str, old_text: str) -> str:
    """`text` with each box ticked whose item is ticked in `old_text`."""
    ticked = Counter(_item_text(lines) for lines in _items(old_text.replace("\r\n", "\n")) if _box(lines) in ("x", "X"))
    result: list[str] = []
    for lines in _items(text):
        item = _item_text(lines)
        if _box(lines) == " " and ticked[item]:
            ticked[item] -= 1
            lines[0] = BOX.sub("- [x] ", lines[0], count=1)
        result += lines
    return "\n".join(result)


def _items(text: str) -> Iterator[list[str]]:
    """The lines of a text, each with the indented lines that follow it."""
    item: list[str] = []
    for line in text.split("\n"):
        if item and not line.startswith(" "):
            yield item
            item = []
        item.append(line)
    yield item


def _box(lines: Sequence[str]) -> str:
    """The character in the box of a checklist item: " ", "x" or "X"; "" for lines that are no item."""
    match = BOX.match(lines[0])
    return match[1] if match else ""


def _item_text(lines: Sequence[str]) -> str:
    """The text of an item without its box and the targets of its links."""
    return LINK_TARGET.sub("]", "\n".join(line.rstrip() for line in lines)[len("- [ ] ") :])


def _digest(title: str) -> str:
    return hashlib.sha256(title.strip().encode("utf-8", "backslashreplace")).hexdigest()[:12]
