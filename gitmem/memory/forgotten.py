"""Finds, in other texts, the texts that a person removed from memory: by their words or by their hashes. Pure.

A removed text is found in any letter case, across line breaks and quotation marks (`>`), and between marks of emphasis
(`*`, `_`). `Forgotten` stores hashes only, so its stored form reveals none of the texts.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from zlib import crc32

from gitmem.json_values import json_value
from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import fact_id, id_of_hash, normalise

MASK = "[forgotten]"  # replaces a removed text
MAX_LABEL_CHARS = 40  # of the label at the beginning of a fact
MIN_IDENTIFYING_CHARS = 16  # of a part of a fact, for it to identify the fact
PREFIX_CHARS = 4  # characters at the beginning of a text whose hash is looked up before the whole text is hashed
_GAP = r"[*_~`]*(?:\s+(?:[>|#/*-]+\s+)*)[*_~`]*"  # between two words: emphasis, line breaks, quotation marks
_EDGE = r"[A-Za-z0-9]"  # no match begins or ends between two of these: `12` is not in `123`
_STOP = ".。!！"  # the end of a sentence, which may be missing in the middle of a longer text
_WORD = lazy(_EDGE)
_RECORDED = lazy(r" \([a-z-]+\)(?: \S+#L\d\S*)*$")  # the type and sources after a fact in a commit's message


def pattern_of(texts: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of these texts, the longest first: with composed or decomposed letters, plain or escaped
    as in JSON. Without texts it matches nothing."""
    forms = sorted(set(map(normalise, texts)) - {""}, key=lambda form: (-len(form), form))
    return re.compile("|".join(map(_text_pattern, forms)) or r"(?!)", re.IGNORECASE)


def unlabelled(text: str) -> str:
    """The words of a fact after its label (`Deploys: ...`). "" if it has no label, or if too few words follow to
    identify the fact."""
    label, colon, words = text.partition(": ")
    words = words.strip()
    if colon and len(label) <= MAX_LABEL_CHARS and is_identifying(words):
        return words
    return ""


def is_identifying(words: str) -> bool:
    """Whether a part of a fact is long enough to identify the fact: other statements hardly say it by chance."""
    return len(words) >= MIN_IDENTIFYING_CHARS and len(words.split()) >= 3


def _text_pattern(text: str) -> str:
    """A pattern for a text as whole words, with any blanks between them and with or without a full stop."""
    words = (text.rstrip(_STOP) or text).split(" ")
    return rf"(?<!{_EDGE}){_GAP.join(map(_word_pattern, words))}[{_STOP}]?(?!{_EDGE}|[.,-]{_EDGE})"


def _word_pattern(word: str) -> str:
    """A pattern for a word in NFC and NFD, plain and as `json.dumps` escapes it."""
    import json

    forms = dict.fromkeys(unicodedata.normalize(form, word) for form in ("NFC", "NFD"))
    escaped = [json.dumps(form, ensure_ascii=ascii)[1:-1] for form in forms for ascii in (True, False)]
    return f"(?:{'|'.join(map(re.escape, dict.fromkeys((*forms, *escaped))))})"


def recorded_text(text: str) -> str:
    """The fact in a line of a commit's message: TEXT of `- TEXT (type) SOURCE...` or of `memory: TEXT`.

    Any other text is returned normalised.
    """
    return _RECORDED.sub("", normalise(text).removeprefix("memory: "))


# -- by hash -------------------------------------------------------------------------------------------------


class Forgotten(NamedTuple):
    """The texts that a person removed from memory, as hashes.

    `ids`: the ids of all texts that a person refused, also the old texts of edits and declined proposals.
    `removed_ids`: the ids of the removed texts, which must not be shown. `forms`: a table for finding the removed texts
    inside longer ones: hash of the first PREFIX_CHARS characters -> (length in characters, hash of the text).
    """

    ids: frozenset[str] = frozenset()
    removed_ids: frozenset[str] = frozenset()
    forms: Mapping[str, frozenset[tuple[int, str]]] = MappingProxyType({})

    def __bool__(self) -> bool:
        return bool(self.removed_ids)

    def is_removed_text(self, text: str) -> bool:
        """Whether `text` (a statement, a line of a commit's message, a value) is one of the removed texts and nothing
        more."""
        if not self.removed_ids:
            return False
        if any(fact_id(form) in self.removed_ids for form in dict.fromkeys((text, recorded_text(text)))):
            return True
        masked = self.masked(text)
        if MASK not in masked or MASK in text:
            return False
        return not any(map(str.isalnum, recorded_text(masked).replace(MASK, "")))

    def masked(self, text: str) -> str:
        """The text with each removed text replaced by MASK. The number of lines stays the same.

        A text with an entry in `forms` is found anywhere; one with an id in `removed_ids` only is found where it is a
        whole line.
        """
        if not self.removed_ids:
            return text
        if self.forms:
            for start, end in reversed(list(self._spans(text))):
                text = text[:start] + MASK + "\n" * text.count("\n", start, end) + text[end:]
        lines = text.split("\n")
        for number, line in enumerate(lines):
            fact = recorded_text(line)
            if fact and MASK not in fact and fact_id(fact) in self.removed_ids:
                lines[number] = line.replace(line.strip(), MASK)
        return "\n".join(lines)

    def masked_json(self, value: Any) -> Any:
        """The JSON of a value (`json_value`), with all strings masked; keys of objects stay."""
        return self._masked_json(json_value(value))

    def _masked_json(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, dict):
            return {key: self._masked_json(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._masked_json(item) for item in value]
        return value

    def lines(self, lines: Sequence[str]) -> list[str]:
        """The lines of a document with each removed text replaced by MASK, also one that spans several lines. The
        number of lines stays the same."""
        if self.removed_ids and lines:
            return self.masked("\n".join(lines)).split("\n")
        return list(lines)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """(start, end) of each removed text in `text`, in order and without overlap."""
        folded, places, ends = _folded(text)
        last_end = 0
        for match in _STARTS.finditer(folded):
            start = match.start()
            if start < last_end:
                continue
            if end := self._end(folded, start):
                yield places[start], ends[end - 1]
                last_end = end

    def _end(self, folded: str, start: int) -> int:
        """The end of the longest removed text that begins at position `start`, 0 without one."""
        forms = self.forms.get(_prefix_hash(folded[start : start + PREFIX_CHARS]), ())
        for length, digest in sorted(forms, reverse=True):
            end = start + length
            inside = end < len(folded) and _WORD.match(folded[end - 1]) and _WORD.match(folded[end])
            if end <= len(folded) and not inside and _hash(folded[start:end]) == digest:
                return end
        return 0


def form_of(text: str) -> tuple[str, tuple[int, str]] | None:
    """The item of `Forgotten.forms` for a text: (hash of its first PREFIX_CHARS characters, (length in characters, hash
    of the text)). None for a text under PREFIX_CHARS characters."""
    folded = _folded(normalise(text).rstrip(_STOP))[0]
    if len(folded) < PREFIX_CHARS:
        return None
    return _prefix_hash(folded[:PREFIX_CHARS]), (len(folded), _hash(folded))


NOTHING = Forgotten()


def make_forgotten(ids: Iterable[str], digests: Iterable[str], texts: Iterable[str]) -> Forgotten:
    """Make a `Forgotten`. `ids`: ids of all refused texts. `digests`: hashes (64 hex digits) of the removed texts.
    `texts`: the removed texts themselves, as far as the caller still has them."""
    forms: dict[str, set[tuple[int, str]]] = {}
    for text in texts:
        if (form := form_of(text)) is not None:
            forms.setdefault(form[0], set()).add(form[1])
    return Forgotten(
        frozenset(ids), frozenset(map(id_of_hash, digests)), {key: frozenset(rows) for key, rows in forms.items()}
    )


def _folded(text: str) -> tuple[str, list[int], list[int]]:
    """A text in the form in which texts are compared: (folded text, start of each of its characters in `text`, end of
    each).

    The form is NFC, case-folded, without marks of emphasis and quotation, and with a single blank for each run of white
    space.
    """
    folded: list[str] = []
    places: list[int] = []
    ends: list[int] = []
    for match in _PIECES.finditer(text):
        piece = match[0]
        if piece in "*_~`":
            continue
        if piece[0].isspace():
            letters = "" if folded and folded[-1] == " " else " "
        else:
            letters = piece.lower() if piece.isascii() else unicodedata.normalize("NFC", piece).casefold()
            if len(letters) == len(piece):
                start = match.start()
                folded += letters
                places += range(start, start + len(letters))
                ends += range(start + 1, start + 1 + len(letters))
                continue
        folded += letters
        places += [match.start()] * len(letters)
        ends += [match.end()] * len(letters)
    return "".join(folded), places, ends


# A line break with the marks that begin the next line, white space, a mark of emphasis, a run of letters whose number
# does not change when they are folded, or a letter with its accents.
_PIECES = lazy(
    r"\s*\n\s*(?:[>|#/*-]+\s+)*|\s+|[*_~`]|(?:[!-)+-^a-z{|}]+|[가-힣]+|[\u3041-\u3096\u309d-\u30ff\u4e00-\u9fff]+)"
    r"(?![\u0300-\u036f\u3099\u309a\u11a8-\u11ff])|[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?"
    r"|.[\u0300-\u036f\u3099\u309a]*",
    re.DOTALL,
)
_STARTS = lazy(rf"(?<!{_EDGE}){_EDGE}|[^\sA-Za-z0-9]")  # a character with which a removed text may begin


def _prefix_hash(text: str) -> str:
    return f"{crc32(text.encode('utf-8', 'surrogateescape')) & 0xFFFF:04x}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]
