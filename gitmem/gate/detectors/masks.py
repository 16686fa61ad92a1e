"""Recognises the masks that redaction leaves in a text, whose words must not count as a label of a secret.

Otherwise `[redacted:api-key] 7f3a...` would read as a key and its value, and the next redaction would mask the text
beside each mask. A mask that a sign or a verb joins to a value still counts as a label: `[password]: ...`.
"""

from __future__ import annotations

import re

from gitmem.lazy_patterns import lazy

_MASK = lazy(
    r"\[(?:password|redacted:[a-z0-9-]{2,60})\]"
    r"(?!\(|[\"'`*)]{0,4}[ \t]{0,4}(?:[?+.!|]{0,3}[:=]|->|[→>：＝]|(?:is|was|are|to|now|set|changed)\b|[^\x00-\x7f]))"
)

_PERSONAL = (  # what `personal/pii.py` writes in place of personal data
    "account|address|answer|birth date|business number|card|document number|email|health|iban|national id|phone"
    "|resident number"
)
_ANY = lazy(rf"\[(?:password|forgotten|redacted(?::[a-z0-9-]{{2,60}})?|{_PERSONAL})\](?!\()")
_SIGNS = " \t`\"'*_(["


def without_masks(lowered: str) -> str:
    """A text in lower case with the words of its masks replaced by blanks; offsets do not change. A mask that may be
    the label of a value stays."""
    if "[password]" not in lowered and "[redacted:" not in lowered:
        return lowered

    def blank(mask: re.Match[str]) -> str:
        """The mask without its words, or unchanged where it may be a label: before other words at the start of a
        line, item or cell."""
        before = lowered[max(0, mask.start() - 8) : mask.start()].rstrip(_SIGNS)
        after = lowered[mask.end() : mask.end() + 8].lstrip(_SIGNS)
        may_be_label = (not before or before[-1] in "\n|-+>#") and after[:1] not in ("", "\n", "|")
        if may_be_label:
            return mask.group()
        return f"[{' ' * (len(mask.group()) - 2)}]"

    return _MASK.sub(blank, lowered)


def has_mask(text: str) -> bool:
    """Whether a text holds a mask of redaction. `[password](page.md)` is a link and no mask."""
    return "[" in text and _ANY.search(text) is not None
