"""The replacement texts that a review suggests in a pull request. Pure."""

from __future__ import annotations

from gitmem.review.forges.forge import Suggestion
from gitmem.review.review import Review

MASK_START = "[redacted"


def suggestions(review: Review) -> list[Suggestion]:
    """Replacement texts for changed lines: the masked form of a line, and what the warnings suggest (a renamed path).

    Leaves out a line that belongs to a mask of several lines, and a text that a forge could not show or would misread:
    one that is blank, has unprintable characters, or begins with `/`.
    """
    continued = {(mask.path, mask.line) for mask in review.masks if not mask.rules}
    changed = {(change.path, change.new.line) for change in review.changes if change.new}
    changed |= {(text.path, text.line) for text in review.other.texts}
    masks = [
        Suggestion(mask.path, mask.line, mask.text)
        for mask in review.masks
        if (mask.path, mask.line) in changed
        and mask.rules
        and continued.isdisjoint([(mask.path, mask.line - 1), (mask.path, mask.line + 1)])
    ]
    masked_lines = {(mask.path, mask.line) for mask in review.masks}
    from_warnings = [
        suggestion
        for warning in review.warnings
        for suggestion in warning.suggestions()
        if (suggestion.path, suggestion.line) not in masked_lines and MASK_START not in suggestion.text
    ]
    return [row for row in (*masks, *from_warnings) if _can_be_suggested(row.text)]


def _can_be_suggested(text: str) -> bool:
    """Whether a forge can show every character of a line, and does not take the line for a command."""
    return (
        bool(text.strip())
        and not text.lstrip().startswith("/")  # GitLab runs it as a command: its fences have three marks at most
        and text.replace("\t", " ").isprintable()
        and "\ufffd" not in text
    )
