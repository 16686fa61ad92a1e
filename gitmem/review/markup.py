"""Text of memory as Markdown in which nothing of it acts: no link, mention, image or HTML, whatever it holds. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitmem.gate.report import code
from gitmem.memory.fact import Fact, parse_span
from gitmem.review.forges.forge import Forge
from gitmem.review.statement_diff import apart, text_diff
from gitmem.review.word_diff import Piece

MAX_UNFOLDED_CHARACTERS = 300  # characters of one text that are shown at once; the rest is folded
CONTEXT = 40  # unchanged characters shown beside a change of a long text
VALUE = 80  # characters of one value of a comment

_ACTS = re.compile(r"@|://|www\.|#\d|\bGH-\d|\b[0-9a-f]{7,64}\b|[!~%$&][\w\"]|\[\w+:", re.IGNORECASE)


def flat(text: str) -> str:
    """One line of text with everything invisible spelled out."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def plain(text: str) -> str:
    """Words of ours around names that are not: nothing in them is markup. A word that a forge would make a link or a
    mention of, escaped or not (an address, `@team`, `#1`, a commit; `!1`, `~x`, `%1`, `$1`, `&1`), is code."""
    return " ".join(_as_code(word) if _ACTS.search(word) else _escaped(word) for word in flat(text).split(" "))


def _as_code(word: str) -> str:
    """A word as code, but for the brackets and stops around it."""
    start, end = len(word) - len(word.lstrip("(")), len(word.rstrip("),.;:"))
    if start < end:
        return word[:start] + code(word[start:end]) + word[end:]
    return code(word)


def _escaped(word: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!&~" else c for c in word)


def cell(text: str) -> str:
    """Markdown as it may stand in a table."""
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def quoted(text: str) -> str:
    """A whole text as code; an empty one in words, since code needs a character."""
    if text.strip():
        return code(flat(text))
    return "(nothing)"


def shown(text: str, limit: int = MAX_UNFOLDED_CHARACTERS) -> tuple[str, str]:
    """(a text as code, cut where it is longer than `limit`; the rest of it as code, "" where nothing is left)."""
    if len(text) <= limit:
        return quoted(text), ""
    cut = text.rfind(" ", limit * 2 // 3, limit)
    if cut > 0:
        cut = cut
    else:
        cut = limit
    return f"{quoted(text[:cut])} … ({len(text):,} characters)", quoted(text[cut:])


def folded(summary: str, text: str) -> str:
    """Markdown below a line that opens it. `summary` is words of ours."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def difference(old: str, new: str) -> tuple[str, str]:
    """(what differs between two texts, word by word; the rest of what was cut, "" where nothing was).

    What went is struck out, what came is bold. Two texts with little in common are shown one after the other.
    """
    pieces = text_diff(old, new)
    if apart(pieces):
        (one, rest), (other, more) = shown(old), shown(new)
        return f"{one} → {other}", "\n\n".join(part for part in (rest, more) if part)
    whole = len(new) <= MAX_UNFOLDED_CHARACTERS
    words = [_piece(piece, whole, number, len(pieces)) for number, piece in enumerate(pieces)]
    return " ".join(word for word in words if word), "" if whole else quoted(new)


def _piece(piece: Piece, whole: bool, number: int, count: int) -> str:
    text = piece.text.strip()
    if not text:
        return ""
    if piece.sign == "=":
        if whole or len(text) <= 3 * CONTEXT:
            return quoted(text)
        before = ""
        if number:
            before = quoted(text[:CONTEXT])
        after = ""
        if number < count - 1:
            after = quoted(text[-CONTEXT:])
        return " ".join(part for part in (before, "…", after) if part)
    words, _ = shown(text)
    if piece.sign == "-":
        return f"~~{words}~~"
    return f"**{words}**"


def comment_words(fact: Fact) -> str:
    """What the comment of a fact says beside its sources, "" for a fact without one; what weighs most is bold."""
    words = []
    for key, value in fact.meta:
        if key == "type":
            words.append(plain(value))
        elif key == "pinned":
            words.append(f"**pinned** {_value(value)}" if value != "true" else "**pinned**")
        elif key == "origin" and value in ("web", "tool"):
            words.append(f"**origin {plain(value)}**")
        elif key != "src":
            words.append(f"{plain(key)} {_value(value)}")
    return ", ".join(words)


def _value(value: str) -> str:
    return shown(value, VALUE)[0]


def place_words(path: str, first: int, last: int = 0) -> str:
    """`path#L5-L6`, or `path#L5` for one line, as code."""
    return code(flat(f"{path}#L{first}" + (f"-L{last}" if last > first else "")))


def unread_sources(fact: Fact) -> list[str]:
    """The sources of a comment that are no lines of a file, as they stand there."""
    return [value for key, value in fact.meta if key == "src" and parse_span(value) is None]


@dataclass(frozen=True, slots=True)
class Links:
    """Where the links of a review lead: to the commits `base` and `head` (oids) at `forge`, None for no links.

    `longest`: the characters that are shown of a place, 0 for all of them.
    """

    forge: Forge | None
    base: str
    head: str
    longest: int = 0

    def named(self, place: str) -> str:
        """A place as code, its beginning left out where it is longer than `longest`."""
        cut = self.longest and len(place) > self.longest
        return code(flat("…" + place[-self.longest :] if cut else place))

    def line(self, path: str, line: int, commit: str = "") -> str:
        """A line (1-based) of a file at `commit`, "" for the head."""
        words = self.named(f"{path}:{line}")
        if self.forge:
            return f"[{words}]({self.forge.lines(commit or self.head, path, line, line)})"
        return words

    def file(self, path: str) -> str:
        """A file at the head."""
        words = self.named(path)
        if self.forge:
            return f"[{words}]({self.forge.lines(self.head, path, 1, 1)})"
        return words
