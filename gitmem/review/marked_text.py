"""Our part of a pull request's text: what stands between our two markers is ours, all else is the reviewers'. Pure."""

from __future__ import annotations

import hashlib
import re

BEGIN = re.compile(r"<!-- git-mem:begin ([0-9a-f]{12}) -->")  # with a digest of the title that we gave
END = "<!-- git-mem:end -->"
CUT = "\n\n(cut)"


def marked(title: str, text: str, room: int) -> str:
    """`text` between our markers, cut to `room` characters in all."""
    head, tail = f"<!-- git-mem:begin {_digest(title)} -->\n", f"\n{END}\n"
    space = room - len(head) - len(tail)
    if len(text) > space:
        text = text[: max(0, space - len(CUT))] + CUT
    return head + text.rstrip("\n") + tail


def updated(old_title: str, old_body: str, title: str, text: str, limit: int) -> tuple[str, str]:
    """(title, body) with our part brought up to date and every other word kept.

    A title that a person has changed stays, and so does that of a body without our markers: our part then stands below
    it. A body that has no room left is not touched.
    """
    begin, end = BEGIN.search(old_body), old_body.rfind(END)
    ours = begin is not None and end >= begin.end()
    if begin is not None and ours:
        before, after = old_body[: begin.start()], old_body[end + len(END) :].removeprefix("\n")
        kept_title = title if begin[1] == _digest(old_title) else old_title
    else:
        before, after = (f"{old_body.rstrip()}\n\n" if old_body.strip() else ""), ""
        kept_title = old_title
    room = limit - len(before) - len(after)
    if room < len(marked(title, CUT, limit)):
        return old_title, old_body
    return kept_title, before + marked(title, text, room) + after


def _digest(title: str) -> str:
    return hashlib.sha256(title.strip().encode("utf-8", "backslashreplace")).hexdigest()[:12]
