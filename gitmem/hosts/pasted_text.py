"""Remove from a turn the text that its speaker did not write: pasted pages, files, quotations, and our own contexts.

Pure, in linear time. Removed are fenced blocks, quotations, tables, text inside tags (`<fetched url=...>`), our
contexts in any wrapping, and texts to be translated, corrected or summed up ("Translate:"). A pasted text may contain
the mark that ends its block, so that the rest of the pasted text looks like the person's. So a passage is `doubtful` if
it is between two blocks of one kind, or after an unclosed tag on a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gitmem.fences import closes_fence, opening_fence
from gitmem.gate.quoting import END, LEAD, MCP_INSTRUCTIONS
from gitmem.lazy_patterns import lazy
from gitmem.text.languages import LANGUAGES


class OwnPassage(NamedTuple):
    """Lines of a turn that its speaker wrote. `doubtful`: they may belong to a pasted text."""

    text: str
    doubtful: bool = False


FENCE = re.compile(r"^[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?((?:`{3}|~{3})[^\n]*)$", re.M)
TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,60})((?:\s[^<>]{0,2000})?)/?>")
INLINE = frozenset((  # tags that only format words of a sentence
    "a", "b", "br", "code", "del", "em", "i", "ins", "kbd", "mark", "s", "small", "span", "strong", "sub", "sup", "u",
))  # fmt: skip


VOID = frozenset(("hr", "img", "input", "wbr"))  # tags of HTML that never have an inside


def _reflowed(text: str) -> str:
    """A pattern that matches the text with any line breaks or escaped line breaks between its words."""
    return r"(?:\s|\\n)+".join(map(re.escape, text.split()))


# Our context (gate/quoting.py) as a host may wrap, escape or cut it, and the lists of `git mem session start`.
LESS = r"(?:<|&(?:amp;)*(?:lt|#60|#x3c);|\\+u003c)"
OPENED = re.compile(
    rf"{_reflowed(LEAD)}|{LESS}memory\s+(?:path|lines|commit|trust|note)=|{LESS}from\s+(?:history\b|[^\s<>]+:\d)", re.I
)
MORE = r"(?:>|&(?:amp;)*(?:gt|#62|#x3e);|\\+u003e)"
CLOSED = re.compile(rf"{_reflowed(END)}|{LESS}/memory{MORE}", re.I)
CLOSED_ALONE = re.compile(
    rf"{_reflowed(END)}|^[ \t]*{LESS}/memory{MORE}[ \t]*$", re.I | re.M
)  # a context without its beginning
TOLD = re.compile(_reflowed(MCP_INSTRUCTIONS))
LISTED = re.compile(r"^(?:Open from the last session|A session that was interrupted|The last session) \(data\):", re.M)
QUOTED_LINE = re.compile(r"[ \t]*(?:[-*+][ \t]+)?[>|]")
QUOTATIONS = {  # a mark that opens a quotation -> those that close it
    '"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "＂": "＂", "'": "'", "‘": "’", "‹": "›",
}  # fmt: skip
APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
# A request for work on a text: "Translate:", "Fix the grammar of this note:", "번역:".
TEXT_WORK = lazy(rf"^[ \t]*(?:{'|'.join(language.TEXT_WORK for language in LANGUAGES)})[ \t]*[:：]", re.I | re.M)
KEEP_THIS = lazy("|".join(language.KEEP_THIS for language in LANGUAGES), re.I)
_REMEMBER_THAT = "|".join(language.REMEMBER_THAT for language in LANGUAGES)
REMEMBER_THAT = lazy(rf"^\W*(?:{_REMEMBER_THAT})\W*$", re.I)
# The same at the end of a statement, after a comma, a dash or the end of a quotation.
REMEMBER_AT_END = lazy(rf"[,;，、–—\"”’」』»)-]\s*(?:{_REMEMBER_THAT})\W*$", re.I)
QUOTED_WORDS, QUOTED_LETTERS = 4, 10  # of a quotation that may be a statement; letters where a script has no spaces
CUT = "\0"  # marks where text was removed, until the text is split there


def without_pasted_text(text: str) -> list[OwnPassage]:
    """The passages of a turn that its speaker wrote, in order; [] if all of it is pasted. A block that is never closed
    ends with the turn."""
    passages = []
    for outer in _without_elements(without_memory(text.replace(CUT, " "))):
        for inner in _without_fences(outer.text):
            for piece in inner.text.split(CUT):
                for passage in _without_texts_to_work_on(piece):
                    lines = (line for line in passage.text.split("\n") if not QUOTED_LINE.match(line))
                    if own_text := "\n".join(lines).strip():
                        passages.append(OwnPassage(own_text, outer.doubtful or inner.doubtful or passage.doubtful))
    return passages


def _without_texts_to_work_on(text: str) -> Iterator[OwnPassage]:
    """The passage before a text to be translated, corrected or summed up, then the part after the first paragraph of
    that text, which is doubtful."""
    request = TEXT_WORK.search(text)
    yield OwnPassage(text[: request.start()] if request else text)
    if request:
        text_to_work_on = text[request.end() :].lstrip()
        _, _, following = text_to_work_on.partition("\n\n")
        yield OwnPassage(following, doubtful=True)


def asks_to_remember(sentence: str) -> bool:
    """Whether a sentence only asks to remember the statement before it: `Please remember that.`, `이거 기억해 줘`."""
    return REMEMBER_THAT.search(sentence) is not None


def without_quoted_statements(sentence: str) -> str:
    """A sentence without quotations that may be statements: `She wrote "We decided that it is red."` gives `She wrote`.

    Quoted names, words and labels stay (`the crane "Big Red"`). A sentence that asks to remember its quotation stays
    whole.
    """
    if KEEP_THIS.search(sentence) or REMEMBER_AT_END.search(sentence):
        return sentence
    pieces, position = [], 0
    for start, end in _quotations(sentence):
        if _may_be_statement(sentence[start + 1 : end - 1]):
            pieces.append(sentence[position:start])
            position = end
    return "".join([*pieces, sentence[position:]])


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each quotation including its marks, in order, without nested ones. An apostrophe or an unclosed
    mark does not begin a quotation."""
    position = 0
    while position < len(text):
        closing = QUOTATIONS.get(text[position], "")
        opens = closing and (text[position] not in "\"'‘»" or not text[max(0, position - 1) : position].isalnum())
        end = _quotation_end(text, position, closing) if opens else None
        if end is not None:
            yield position, end
            position = end
        else:
            position += 1


def _quotation_end(text: str, start: int, closing: str) -> int | None:
    """The index after the closing mark of the quotation that opens at `start`; None if it is not closed. `closing`: the
    marks that close it."""
    for index in range(start + 1, len(text)):
        if text[index] in closing and not (text[index] in "'’" and text[index + 1 : index + 2].isalnum()):
            return index + 1
    return None


def _may_be_statement(text: str) -> bool:
    """Whether a quotation is long enough for a statement: QUOTED_WORDS words, or QUOTED_LETTERS letters of a script
    without spaces."""
    spaceless = sum("\u3040" <= letter <= "\u30ff" or "\u3400" <= letter <= "\u9fff" for letter in text)
    return len(text.split()) >= QUOTED_WORDS or spaceless >= QUOTED_LETTERS


def without_quotation_marks(text: str) -> str:
    """The text without the pair of quotation marks around all of it; any other text unchanged.

    A message that a person, a shell or a host quotes as a whole is the person's own. A text with a further mark of the
    pair inside is unchanged.
    """
    quoted = text.strip()
    closing = QUOTATIONS.get(quoted[:1], "")
    inner = quoted[1:-1]
    if not closing or len(quoted) < 3 or quoted[-1] not in closing or not inner.strip():
        return text
    marks = APOSTROPHE.sub("", inner) if quoted[0] in "'‘" else inner
    if any(mark in marks for mark in (quoted[0], *closing)):
        return text
    return inner.strip()


def without_memory(text: str) -> str:
    """The text without our contexts and our MCP server's instructions, with CUT (a NUL) in place of each cut; a text
    without them is unchanged.

    One cut removes all contexts and what is between them: from the first line of the first one to the last end mark, to
    the end of the text if no end mark follows, or from the beginning of the text if only an end mark is there. A list
    of `git mem session start` behind the last end mark is cut up to the end of the text.
    """
    text = TOLD.sub(CUT, text)
    beginnings = filter(None, (OPENED.search(text), LISTED.search(text)))
    starts = [match.start() for match in beginnings]
    if not starts and CLOSED_ALONE.search(text) is None:
        return text
    start = min(starts, default=0)
    end = max((match.end() for match in CLOSED.finditer(text)), default=-1)
    if start > end:
        return text[:start] + CUT
    later = LISTED.search(text, end)
    return text[:start] + CUT + text[end : later.start() if later else len(text)]


def _without_elements(text: str) -> Iterator[OwnPassage]:
    """The passages outside of tags. Tags that only format words stay in the text.

    An element ends with the first closing tag of its name; text from there to the last such tag is doubtful.
    """
    tags = [match for match in TAG.finditer(text) if match[2].lower() not in INLINE]
    closings = {match[2].lower(): match for match in tags if match[1]}
    position, doubtful_until, inside = 0, 0, ""
    for match in tags:
        name, closes = match[2].lower(), bool(match[1])
        last_closing = closings.get(name)
        if inside:
            if closes and name == inside:
                inside, position = "", match.end()
        elif closes and match.end() == doubtful_until:
            yield OwnPassage(text[position : match.start()], doubtful=True)
            position = match.end()
        elif not closes and last_closing is not None and last_closing.start() > match.start():
            yield OwnPassage(text[position : match.start()], position < doubtful_until)
            inside, doubtful_until = name, max(doubtful_until, last_closing.end())
        elif not closes and _begins_a_line(text, match.start()) and not _is_empty(match):
            if match[3].strip():
                yield OwnPassage(text[position : match.start()], position < doubtful_until)
                return  # `<fetched url=...>` without an end
            if text[match.end() :].partition("\n")[0].strip() == "":  # `<page>` without an end, on a line of its own
                yield OwnPassage(text[position : match.start()], position < doubtful_until)
                position, doubtful_until = match.end(), len(text)
    if not inside:
        yield OwnPassage(text[position:], position < doubtful_until)


def _is_empty(tag: re.Match[str]) -> bool:
    """Whether a tag has no content: `<img ...>`, `<image path="a.png"/>`. The slash of `<fetched url=https://a/>`
    belongs to the address."""
    return tag[2].lower() in VOID or tag[0].endswith(('"/>', "'/>", " />")) or (not tag[3] and tag[0].endswith("/>"))


def _begins_a_line(text: str, index: int) -> bool:
    """Whether only white space precedes `index` on its line."""
    return not text[text.rfind("\n", 0, index) + 1 : index].strip()


def _without_fences(text: str) -> Iterator[OwnPassage]:
    """The passages outside of fenced blocks; passages between the first and the last block are doubtful."""
    position, blocks, opened = 0, 0, ""
    for match in FENCE.finditer(text):
        if opened:
            if closes_fence(match[0], opened):
                opened, position = "", match.end()
            continue
        opened = opening_fence(match[1])
        if opened:
            yield OwnPassage(text[position : match.start()], blocks > 0)
            blocks += 1
    if not opened:
        yield OwnPassage(text[position:])
