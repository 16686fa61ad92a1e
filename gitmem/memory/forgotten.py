"""Texts that a person took out of memory: how another text is searched for them, by their words or by their hash. Pure.

A text counts as said in any letter case, across line breaks and the marks of quotations, and between the marks of
emphasis. `Forgotten` knows texts by hash alone: what is kept of it names none of them.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from zlib import crc32

from gitmem.lazy_patterns import lazy
from gitmem.light_typing import TYPE_CHECKING, NamedTuple
from gitmem.memory.fact import fact_id, id_of_hash, normalise

if TYPE_CHECKING:
    from typing import Any

MASK = "[forgotten]"  # what stands in the place of a text that was taken out
LABEL, TELLING = 40, 16  # characters of a label at most, of what stands behind it at least
BEGINNING = 4  # characters of a text whose hash says where it may begin
_GAP = r"[*_~`]*(?:\s+(?:[>|#/*-]+\s+)*)[*_~`]*"  # between two words: emphasis, line breaks, marks of quotations
_EDGE = r"[A-Za-z0-9]"  # a text does not begin or end within a word or a number of these: `12` is not in `12.5`
_STOP = ".。!！"  # what may end a sentence, and may be missing where it goes on
_WORD = lazy(_EDGE)
_RECORDED = lazy(r" \([a-z-]+\)(?: \S+#L\d\S*)*$")  # behind a fact in the message of its commit


def pattern_of(texts: Iterable[str]) -> re.Pattern[str]:
    """What finds these texts, the longest first: composed or decomposed letters, also as JSON escapes them. Matches
    nothing for no text."""
    forms = sorted({form for text in texts if (form := normalise(text))}, key=lambda form: (-len(form), form))
    return re.compile("|".join(map(_form, forms)) or r"(?!)", re.IGNORECASE)


def unlabelled(text: str) -> str:
    """The words after the label or the topic that begins a fact (`Deploys: ...`); "" when they are too few to identify
    the fact, or when the fact has no label."""
    label, colon, rest = text.partition(": ")
    rest = rest.strip()
    if not colon or len(label) > LABEL:
        return ""
    if len(rest) >= TELLING and len(rest.split()) > 2:
        return rest
    return ""


def _form(text: str) -> str:
    words = (text.rstrip(_STOP) or text).split(" ")
    return rf"(?<!{_EDGE}){_GAP.join(map(_word, words))}[{_STOP}]?(?!{_EDGE}|[.,-]{_EDGE})"


def _word(word: str) -> str:
    """A word in any of its spellings: NFC, NFD, and what `json.dumps` makes of both."""
    import json

    forms = dict.fromkeys(unicodedata.normalize(form, word) for form in ("NFC", "NFD"))
    escaped = [json.dumps(form, ensure_ascii=ascii)[1:-1] for form in forms for ascii in (True, False)]
    return f"(?:{'|'.join(map(re.escape, dict.fromkeys((*forms, *escaped))))})"


def recorded_text(text: str) -> str:
    """The fact of a line of a commit's message: `- TEXT (type)` with its sources, `memory: TEXT`; any other text as it
    is, normalised."""
    return _RECORDED.sub("", normalise(text).removeprefix("memory: "))


# -- by hash -------------------------------------------------------------------------------------------------


class Forgotten(NamedTuple):
    """Texts known by hash. `ids` are the ids of all that was refused, edits and declined proposals included; `taken`
    those of the texts that are shown to nobody; `forms` has the latter as they are found within longer texts: the hash
    of how one begins -> (its characters, its hash)."""

    ids: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    forms: Mapping[str, frozenset[tuple[int, str]]] = MappingProxyType({})

    def __bool__(self) -> bool:
        return bool(self.taken)

    def says_only(self, text: str) -> bool:
        """Whether a statement, a line of a commit's message or a value says one of the texts and nothing else."""
        if not self.taken:
            return False
        if any(fact_id(each) in self.taken for each in dict.fromkeys((text, recorded_text(text)))):
            return True
        if MASK not in (left := self.masked(text)) or MASK in text:
            return False
        return not any(map(str.isalnum, recorded_text(left).replace(MASK, "")))

    def masked(self, text: str) -> str:
        """The text with MASK in the place of what was taken out; as many lines as before."""
        if not self.taken:
            return text
        if self.forms:
            spans = list(self._spans(text))
        else:
            spans = []
        for start, end in reversed(spans):
            text = text[:start] + MASK + "\n" * text.count("\n", start, end) + text[end:]
        lines = text.split("\n")
        for number, line in enumerate(lines):
            said = recorded_text(line)
            if said and MASK not in said and fact_id(said) in self.taken:
                lines[number] = line.replace(line.strip(), MASK)
        return "\n".join(lines)

    def without(self, value: Any) -> Any:
        """A JSON value, each of its strings masked; its keys stay."""
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, dict):
            return {key: self.without(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.without(each) for each in value]
        return value

    def lines(self, lines: Sequence[str]) -> list[str]:
        """`masked` for the lines of a document."""
        if self.taken and lines:
            return self.masked("\n".join(lines)).split("\n")
        return list(lines)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """(first, end) of each place where one of the texts stands, none within another."""
        folded, places, ends = _folded(text)
        done = 0
        for match in _STARTS.finditer(folded):
            at = match.start()
            end = 0
            if at >= done:
                end = self._end(folded, at)
            if end:
                yield places[at], ends[end - 1]
                done = end

    def _end(self, folded: str, at: int) -> int:
        """Where the longest text ends that begins here, 0 for none."""
        found = self.forms.get(_beginning(folded[at : at + BEGINNING]))
        for length, digest in sorted(found, reverse=True) if found else ():
            end = at + length
            inside = end < len(folded) and _WORD.match(folded[end - 1]) and _WORD.match(folded[end])
            if end <= len(folded) and not inside and _hash(folded[at:end]) == digest:
                return end
        return 0


def form_of(text: str) -> tuple[str, tuple[int, str]] | None:
    """A text as `Forgotten.forms` has it; None for one too short to be found within others."""
    folded = _folded(normalise(text).rstrip(_STOP))[0]
    if len(folded) < BEGINNING:
        return None
    return _beginning(folded[:BEGINNING]), (len(folded), _hash(folded))


NOTHING = Forgotten()


def forgotten_of(ids: Iterable[str], digests: Iterable[str], texts: Iterable[str]) -> Forgotten:
    """What is known of texts: `ids` of all refused, `digests` (64 hex) of those taken out, and the latter themselves
    as far as they are to be had."""
    forms: dict[str, set[tuple[int, str]]] = {}
    for text in texts:
        if (form := form_of(text)) is not None:
            forms.setdefault(form[0], set()).add(form[1])
    return Forgotten(
        frozenset(ids), frozenset(map(id_of_hash, digests)), {key: frozenset(rows) for key, rows in forms.items()}
    )


def _folded(text: str) -> tuple[str, list[int], list[int]]:
    """The text as texts are compared: composed, without letter case, marks of emphasis and of quotations, each white
    space one blank; and where each of its characters begins and ends in `text`."""
    out: list[str] = []
    places: list[int] = []
    ends: list[int] = []
    for match in _PIECES.finditer(text):
        piece = match[0]
        if piece in "*_~`":
            continue
        if piece[0].isspace():
            letters = " "
            if out and out[-1] == " ":
                letters = ""
        else:
            if piece.isascii():
                letters = piece.lower()
            else:
                letters = unicodedata.normalize("NFC", piece).casefold()
            if len(letters) == len(piece):
                first = match.start()
                out += letters
                places += range(first, first + len(letters))
                ends += range(first + 1, first + 1 + len(letters))
                continue
        out += letters
        places += [match.start()] * len(letters)
        ends += [match.end()] * len(letters)
    return "".join(out), places, ends


# A line break with the marks that begin the next line, white space, a mark of emphasis, a run of letters that nothing
# changes the number of, or a letter with its accents.
_PIECES = lazy(
    r"\s*\n\s*(?:[>|#/*-]+\s+)*|\s+|[*_~`]|(?:[!-)+-^a-z{|}]+|[가-힣]+|[\u3041-\u3096\u309d-\u30ff\u4e00-\u9fff]+)"
    r"(?![\u0300-\u036f\u3099\u309a\u11a8-\u11ff])|[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?"
    r"|.[\u0300-\u036f\u3099\u309a]*",
    re.DOTALL,
)
_STARTS = lazy(rf"(?<!{_EDGE}){_EDGE}|[^\sA-Za-z0-9]")  # where a text may begin


def _beginning(text: str) -> str:
    return f"{crc32(text.encode('utf-8', 'surrogateescape')) & 0xFFFF:04x}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]
