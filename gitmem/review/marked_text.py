"""Our part of a pull request's text: what stands between our two markers is ours, all else is the reviewers'. Pure."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence

BEGIN = re.compile(r"<!-- git-mem:begin ([0-9a-f]{12}) -->")  # with a digest of the title that we gave
END = "<!-- git-mem:end -->"
CUT = "\n\n(cut)"
BOX = re.compile(r"- \[([ xX])\] ")
ADDRESS = re.compile(r"\]\([^()\s]*\)")  # of a link; ours name a commit, so every push changes them


def marked(title: str, text: str, limit: int) -> str:
    """`text` between our markers, cut to `limit` characters in all."""
    head, tail = f"<!-- git-mem:begin {_digest(title)} -->\n", f"\n{END}\n"
    space = limit - len(head) - len(tail)
    if len(text) > space:
        text = text[: max(0, space - len(CUT))] + CUT
    return head + text.rstrip("\n") + tail


def updated(old_title: str, old_body: str, title: str, text: str, limit: int) -> tuple[str, str]:
    """(title, body) with our part brought up to date and every other word kept.

    A title that a person has changed stays, and so does that of a body without our markers: our part then stands below
    it. A box that somebody ticked stays ticked as long as its row says the same. A body that has no room left is not
    touched.
    """
    begin, end = BEGIN.search(old_body), old_body.rfind(END)
    ours = begin is not None and end >= begin.end()
    if begin is not None and ours:
        before, after = old_body[: begin.start()], old_body[end + len(END) :].removeprefix("\n")
        if begin[1] == _digest(old_title):
            kept_title = title
        else:
            kept_title = old_title
        text = _with_ticks(text, old_body[begin.end() : end])
    else:
        before, after = (f"{old_body.rstrip()}\n\n" if old_body.strip() else ""), ""
        kept_title = old_title
    left = limit - len(before) - len(after)
    if left < len(marked(title, CUT, limit)):
        return old_title, old_body
    return kept_title, before + marked(title, text, left) + after


def _with_ticks(text: str, former: str) -> str:
    """`text` with the boxes ticked that are ticked in `former`, our part as the forge has it."""
    ticked = Counter(_item_text(rows) for rows in _items(former.replace("\r\n", "\n")) if _box(rows) in ("x", "X"))
    lines: list[str] = []
    for rows in _items(text):
        said = _item_text(rows)
        if _box(rows) == " " and ticked[said]:
            ticked[said] -= 1
            lines.append(BOX.sub("- [x] ", rows[0], count=1))
            lines += rows[1:]
        else:
            lines += rows
    return "\n".join(lines)


def _items(text: str) -> Iterator[list[str]]:
    """The lines of a text, those that are indented together with the one above."""
    item: list[str] = []
    for line in text.split("\n"):
        if item and not line.startswith(" "):
            yield item
            item = []
        item.append(line)
    yield item


def _box(rows: Sequence[str]) -> str:
    """What a checklist's item has in its box, "" for what is no item."""
    match = BOX.match(rows[0])
    if not match:
        return ""
    return match[1]


def _item_text(rows: Sequence[str]) -> str:
    """What an item says, whatever is in its box and wherever its links lead."""
    return ADDRESS.sub("]", "\n".join(row.rstrip() for row in rows)[len("- [ ] ") :])


def _digest(title: str) -> str:
    return hashlib.sha256(title.strip().encode("utf-8", "backslashreplace")).hexdigest()[:12]
