"""Takes out of a turn what its speaker did not say: pasted pages, files and quotations, and contexts of memory.

Pure and linear. A fenced block, a quotation, a table and whatever stands in a tag of its own (`<fetched url=...>`) is
somebody else's; so is a context of ours, in any wrapping, whole or cut, and a text that is to be translated, corrected
or summed up ("Translate:"). A pasted text may hold the mark that ends its own block, so that what follows looks like
the person's: what stands between two blocks of one kind is `doubtful`, and what follows a tag on a line of its own that
never ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gitmem.fences import closes, opening
from gitmem.gate.quoting import END, LEAD, MCP_INSTRUCTIONS
from gitmem.lazy_patterns import lazy
from gitmem.text.languages import LANGUAGES


class OwnPassage(NamedTuple):
    """Lines of one turn that its speaker said; `doubtful` where they may belong to a pasted text all the same."""

    text: str
    doubtful: bool = False


FENCE = re.compile(r"^[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?((?:`{3}|~{3})[^\n]*)$", re.M)  # a line that may be one
TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,60})((?:\s[^<>]{0,2000})?)/?>")
INLINE = frozenset((  # tags that only format words of a sentence
    "a", "b", "br", "code", "del", "em", "i", "ins", "kbd", "mark", "s", "small", "span", "strong", "sub", "sup", "u",
))  # fmt: skip


VOID = frozenset(("hr", "img", "input", "wbr"))  # tags of HTML that never have an inside


def _reflowed(text: str) -> str:
    """A pattern of the text, however a host broke its lines or escaped them."""
    return r"(?:\s|\\n)+".join(map(re.escape, text.split()))


# A context of ours (gate/quoting.py), as a host may wrap, escape or cut it; and the lists of `git mem session start`.
LESS = r"(?:<|&(?:amp;)*(?:lt|#60|#x3c);|\\+u003c)"
OPENED = re.compile(
    rf"{_reflowed(LEAD)}|{LESS}memory\s+(?:path|lines|commit|trust|note)=|{LESS}from\s+(?:history\b|[^\s<>]+:\d)", re.I
)
MORE = r"(?:>|&(?:amp;)*(?:gt|#62|#x3e);|\\+u003e)"
CLOSED = re.compile(rf"{_reflowed(END)}|{LESS}/memory{MORE}", re.I)
CLOSED_ALONE = re.compile(rf"{_reflowed(END)}|^[ \t]*{LESS}/memory{MORE}[ \t]*$", re.I | re.M)  # its beginning was lost
TOLD = re.compile(_reflowed(MCP_INSTRUCTIONS))
LISTED = re.compile(r"^(?:Open from the last session|A session that was interrupted|The last session) \(data\):", re.M)
QUOTED_LINE = re.compile(r"[ \t]*(?:[-*+][ \t]+)?[>|]")
QUOTATIONS = {  # a mark that opens a quotation -> those that close it
    '"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "＂": "＂", "'": "'", "‘": "’", "‹": "›",
}  # fmt: skip
APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
# A request for work on a text: "Translate:", "Fix the grammar of this note:", "번역:".
TEXT_WORK = lazy(rf"^[ \t]*(?:{'|'.join(each.TEXT_WORK for each in LANGUAGES)})[ \t]*[:：]", re.I | re.M)
KEEP_THIS = lazy("|".join(each.KEEP_THIS for each in LANGUAGES), re.I)
_REMEMBER_THAT = "|".join(each.REMEMBER_THAT for each in LANGUAGES)
REMEMBER_THAT = lazy(rf"^\W*(?:{_REMEMBER_THAT})\W*$", re.I)
# Behind a statement in one sentence: a comma, a dash or the end of a quotation stands between the two.
REMEMBER_BEHIND = lazy(rf"[,;，、–—\"”’」』»)-]\s*(?:{_REMEMBER_THAT})\W*$", re.I)
QUOTED_WORDS, QUOTED_LETTERS = 4, 10  # of a quotation that may be a statement; letters where a script has no spaces
CUT = "\0"  # stands where something was taken out, until the text is split there


def without_pasted_text(text: str) -> list[OwnPassage]:
    """The passages of a turn that are its speaker's, in order; none where all of it is somebody else's.

    A block that is never closed goes to the end of the turn.
    """
    passages = []
    for outer in _without_elements(without_memory(text.replace(CUT, " "))):
        for inner in _without_fences(outer.text):
            for piece in inner.text.split(CUT):
                for own in _without_texts_to_work_on(piece):
                    kept = "\n".join(line for line in own.text.split("\n") if not QUOTED_LINE.match(line)).strip()
                    if kept:
                        passages.append(OwnPassage(kept, outer.doubtful or inner.doubtful or own.doubtful))
    return passages


def _without_texts_to_work_on(text: str) -> Iterator[OwnPassage]:
    """What stands before a text that is to be translated, corrected or summed up; doubtful what follows its first
    paragraph."""
    asked = TEXT_WORK.search(text)
    yield OwnPassage(text[: asked.start()] if asked else text)
    if asked:
        after = text[asked.end() :].lstrip()
        _, _, rest = after.partition("\n\n")
        yield OwnPassage(rest, doubtful=True)


def asks_to_remember(sentence: str) -> bool:
    """Whether a sentence only asks to remember what stands before it: `Please remember that.`, `이거 기억해 줘`."""
    return REMEMBER_THAT.search(sentence) is not None


def without_quoted_statements(sentence: str) -> str:
    """A sentence without the quotations in it that may be statements: `She wrote "We decided that it is red."`. A name,
    a word and a label stay (`the crane "Big Red"`), and all of a sentence that asks to remember what it quotes."""
    if KEEP_THIS.search(sentence) or REMEMBER_BEHIND.search(sentence):
        return sentence
    kept, position = [], 0
    for start, end in _quotations(sentence):
        if _may_be_statement(sentence[start + 1 : end - 1]):
            kept.append(sentence[position:start])
            position = end
    return "".join([*kept, sentence[position:]])


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each quotation with its marks, in order, none within another. Marks that are letters' (the
    apostrophe) and marks that are not closed open none."""
    position = 0
    while position < len(text):
        closing = QUOTATIONS.get(text[position], "")
        opens = closing and (text[position] not in "\"'‘»" or not text[max(0, position - 1) : position].isalnum())
        if opens:
            end = _closing(text, position, closing)
        else:
            end = -1
        if end > 0:
            yield position, end
        if end > 0:
            position = end
        else:
            position = position + 1


def _closing(text: str, start: int, closing: str) -> int:
    """Where the quotation that opens at `start` ends, behind its mark; -1 where it is not closed."""
    for at in range(start + 1, len(text)):
        if text[at] in closing and not (text[at] in "'’" and text[at + 1 : at + 2].isalnum()):
            return at + 1
    return -1


def _may_be_statement(text: str) -> bool:
    spaceless = sum("\u3040" <= letter <= "\u30ff" or "\u3400" <= letter <= "\u9fff" for letter in text)
    return len(text.split()) >= QUOTED_WORDS or spaceless >= QUOTED_LETTERS


def without_quotation_marks(text: str) -> str:
    """The text without the one pair of quotation marks that stands around all of it; any other text as it is.

    Who quotes all that they say, or whose shell or host does, says it themselves. What is quoted within a text is not:
    a mark of the pair inside leaves the text alone.
    """
    whole = text.strip()
    closing = QUOTATIONS.get(whole[:1], "")
    inner = whole[1:-1]
    if not closing or len(whole) < 3 or whole[-1] not in closing or not inner.strip():
        return text
    if whole[0] in "'‘":
        marks = APOSTROPHE.sub("", inner)
    else:
        marks = inner
    if any(mark in marks for mark in (whole[0], *closing)):
        return text
    return inner.strip()


def without_memory(text: str) -> str:
    """The text without contexts of ours: from their first line or first quotation to their last mark, or to the end of
    the text where that was lost, from its beginning where only the first was. CUT stands where something was taken out,
    also for what our MCP server says of itself; the text itself where there is none.
    """
    text = TOLD.sub(CUT, text)
    starts = [match.start() for pattern in (OPENED, LISTED) if (match := pattern.search(text))]
    if not starts and CLOSED_ALONE.search(text) is None:
        return text
    start = min(starts, default=0)
    end = max((match.end() for match in CLOSED.finditer(text)), default=-1)
    if start > end:
        return text[:start] + CUT
    later = LISTED.search(text, end)
    return text[:start] + CUT + text[end : later.start() if later else len(text)]


def _without_elements(text: str) -> Iterator[OwnPassage]:
    """What stands outside of tags. Tags that only format stay in the text.

    An element ends with the first tag that closes its name; what follows up to the last one of that name is doubtful.
    """
    tags = [match for match in TAG.finditer(text) if match[2].lower() not in INLINE]
    closings = {match[2].lower(): match for match in tags if match[1]}
    position, doubtful_until, inside = 0, 0, ""
    for match in tags:
        name, closes = match[2].lower(), bool(match[1])
        last = closings.get(name)
        if inside:
            if closes and name == inside:
                inside, position = "", match.end()
        elif closes and match.end() == doubtful_until:
            yield OwnPassage(text[position : match.start()], doubtful=True)
            position = match.end()
        elif not closes and last is not None and last.start() > match.start():
            yield OwnPassage(text[position : match.start()], position < doubtful_until)
            inside, doubtful_until = name, max(doubtful_until, last.end())
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
    """Whether a tag has no inside: `<img ...>`, `<image path="a.png"/>`; in `<fetched url=https://a/>` the sign is the
    address's."""
    return tag[2].lower() in VOID or tag[0].endswith(('"/>', "'/>", " />")) or (not tag[3] and tag[0].endswith("/>"))


def _begins_a_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


def _without_fences(text: str) -> Iterator[OwnPassage]:
    """What stands outside of fenced blocks; doubtful between the first and the last of them."""
    position, blocks, opened = 0, 0, ""
    for match in FENCE.finditer(text):
        if opened:
            if closes(match[0], opened):
                opened, position = "", match.end()
            continue
        opened = opening(match[1])
        if opened:
            yield OwnPassage(text[position : match.start()], blocks > 0)
            blocks += 1
    if not opened:
        yield OwnPassage(text[position:])
