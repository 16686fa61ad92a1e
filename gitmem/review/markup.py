"""Memory text as Markdown that cannot act as a link, mention, image or HTML, whatever the text contains. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitmem.gate.reports.markdown import code
from gitmem.memory.fact import Fact, parse_span
from gitmem.review.forges.forge import Forge
from gitmem.review.statement_diff import Piece, has_nothing_common, text_diff

MAX_UNFOLDED_CHARACTERS = 300  # of one text; the rest is folded
CONTEXT_CHARS = 40  # unchanged characters shown on each side of a change in a long text
MAX_VALUE_CHARS = 80  # of one value in the comment of a fact

_ACTS = re.compile(r"@|://|www\.|#\d|\bGH-\d|\b[0-9a-f]{7,64}\b|[!~%$&][\w\"]|\[\w+:", re.IGNORECASE)


def printable(text: str) -> str:
    """The text with each unprintable character, line ends included, written as `\\uXXXX`."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def escaped_message(text: str) -> str:
    """A message of git-mem as Markdown without markup, for messages that contain names from memory.

    A word that a forge would turn into a link or a mention even when escaped (a URL, `@team`, `#1`, a commit, `!1`,
    `~x`, `%1`, `$1`, `&1`) becomes code; every other word is escaped.
    """
    return " ".join(_as_code(word) if _ACTS.search(word) else _escaped(word) for word in printable(text).split(" "))


def _as_code(word: str) -> str:
    """The word as a code span. An opening `(` before it and `),.;:` after it stay outside of the span."""
    start, end = len(word) - len(word.lstrip("(")), len(word.rstrip("),.;:"))
    if start < end:
        return word[:start] + code(word[start:end]) + word[end:]
    return code(word)


def _escaped(word: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!&~" else c for c in word)


def cell(text: str) -> str:
    """Markdown with `|` escaped, for a cell of a table."""
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def text_as_code(text: str) -> str:
    """The whole text as code, `(nothing)` for an empty text."""
    return code(printable(text)) if text.strip() else "(nothing)"


def cut_as_code(text: str, limit: int = MAX_UNFOLDED_CHARACTERS) -> tuple[str, str]:
    """(the first `limit` characters of the text as code, or fewer up to a space; the rest as code, or ""). A cut text
    shows its length."""
    if len(text) <= limit:
        return text_as_code(text), ""
    end = text.rfind(" ", limit * 2 // 3, limit)
    if end <= 0:
        end = limit
    return f"{text_as_code(text[:end])} … ({len(text):,} characters)", text_as_code(text[end:])


def details_block(summary: str, text: str) -> str:
    """A closed `<details>` block of Markdown. `summary`: its visible line, which must not contain memory text."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def difference(old: str, new: str) -> tuple[str, str]:
    """(the word-by-word difference of two texts as Markdown, the text to fold below it or "").

    Removed words are struck out, added words are bold. A `new` above MAX_UNFOLDED_CHARACTERS is folded in full. Two
    texts with little in common are shown one after the other, and the rest of each is folded.
    """
    pieces = text_diff(old, new)
    if has_nothing_common(pieces):
        (old_words, old_rest), (new_words, new_rest) = cut_as_code(old), cut_as_code(new)
        return f"{old_words} → {new_words}", "\n\n".join(filter(None, (old_rest, new_rest)))
    is_short = len(new) <= MAX_UNFOLDED_CHARACTERS
    words = [_piece(piece, is_short, number, len(pieces)) for number, piece in enumerate(pieces)]
    folded = text_as_code(new) if not is_short else ""
    return " ".join(filter(None, words)), folded


def _piece(piece: Piece, is_short: bool, number: int, count: int) -> str:
    """Piece `number` of `count` as Markdown. An unchanged piece of a text that is not short keeps only the words beside
    its neighbours."""
    text = piece.text.strip()
    if not text:
        return ""
    if piece.sign == "=":
        if is_short or len(text) <= 3 * CONTEXT_CHARS:
            return text_as_code(text)
        parts = ["…"]
        if number:
            parts.insert(0, text_as_code(text[:CONTEXT_CHARS]))
        if number < count - 1:
            parts.append(text_as_code(text[-CONTEXT_CHARS:]))
        return " ".join(parts)
    words, _ = cut_as_code(text)
    if piece.sign == "-":
        return f"~~{words}~~"
    return f"**{words}**"


def comment_words(fact: Fact) -> str:
    """The comment of a fact without its sources, as Markdown; "" if it has no other key. A pin and an outside origin
    are bold."""
    words = []
    for key, value in fact.meta:
        if key == "type":
            words.append(escaped_message(value))
        elif key == "pinned" and value == "true":
            words.append("**pinned**")
        elif key == "pinned":
            words.append(f"**pinned** {cut_as_code(value, MAX_VALUE_CHARS)[0]}")
        elif key == "origin" and value in ("web", "tool"):
            words.append(f"**origin {escaped_message(value)}**")
        elif key != "src":
            words.append(f"{escaped_message(key)} {cut_as_code(value, MAX_VALUE_CHARS)[0]}")
    return ", ".join(words)


def place_words(path: str, first: int, last: int = 0) -> str:
    """`path#L5-L6`, or `path#L5` for one line, as code."""
    place = f"{path}#L{first}"
    if last > first:
        place += f"-L{last}"
    return code(printable(place))


def unread_sources(fact: Fact) -> list[str]:
    """The `src` values of a fact that name no lines of a file."""
    return [value for key, value in fact.meta if key == "src" and parse_span(value) is None]


@dataclass(frozen=True, slots=True)
class Links:
    """Makes the links of a review. `forge`: where they lead, None for no links. `base`, `head`: the oids of the two
    commits. `max_place_chars`: characters shown of a place, 0 for all."""

    forge: Forge | None
    base: str
    head: str
    max_place_chars: int = 0

    def place_as_code(self, place: str) -> str:
        """A place as code; of a place longer than `max_place_chars` only the end."""
        if self.max_place_chars and len(place) > self.max_place_chars:
            place = "…" + place[-self.max_place_chars :]
        return code(printable(place))

    def line(self, path: str, line: int, commit: str = "") -> str:
        """A link to a line (1-based) of a file at `commit` ("" for the head); without a forge its place as code."""
        words = self.place_as_code(f"{path}:{line}")
        if self.forge:
            return f"[{words}]({self.forge.lines(commit or self.head, path, line, line)})"
        return words

    def file(self, path: str) -> str:
        """A link to a file at the head; without a forge its path as code."""
        words = self.place_as_code(path)
        if self.forge:
            return f"[{words}]({self.forge.lines(self.head, path, 1, 1)})"
        return words
