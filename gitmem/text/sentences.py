# ruff: noqa: SIM905 - lists of a hundred quoted words, one a line, would not be read
"""Splits a text into sentences, in English, Korean, Japanese, Chinese and European languages of Latin script.

The text is one statement or paragraph: a line break counts as white space, and an empty line ends a sentence. A full
stop does not end a sentence if it belongs to an abbreviation, number, version, file name, address, initial or list
number, nor inside a code span, brackets or a quotation. In doubt the module does not split: two sentences in one piece
can be read, half a sentence cannot. It never changes a character.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from gitmem.lazy_patterns import lazy

# Abbreviations that never end a sentence.
ABBREVIATIONS = frozenset(
    "dr mr mrs ms mx prof hon gen sgt capt lt col vs cf viz approx appr ca circa eg ie esp incl excl resp dept "
    "bzw ggf evtl inkl exkl zzgl abzgl sog vgl bspw dh zb geb gest hr fr dipl ing frz engl dt ev bl.a t.ex dvs fd "
    "env mme mlle sra srta dña dott sig avv págs pág aprox bijv dhr".split()
)
# Abbreviations that end a sentence if the next word begins one.
CLOSING_ABBREVIATIONS = frozenset(
    "etc usw osv al kr inc ltd co corp llc bros jr sr a.m p.m u.s u.k e.u d.c ph.d m.sc b.sc st av ave blvd rd avg "
    "temp std mio mrd tsd jan feb apr jun jul aug sep sept oct okt nov dec dez".split()
)
# Abbreviations before a number.
NUMBER_ABBREVIATIONS = frozenset(
    "no nos nr nrs núm art arts fig figs abb tab eq eqs sec sect kap ch chap vol bd p pp pg s ss ver v rev ed iss ext "
    "tel max min ref op ziff abs st".split()
)
# Nouns before a letter that names a thing: the stop of "plan B." ends a sentence.
LABELS = frozenset(
    "grade plan option type class group team tier level variant version model section appendix vitamin case phase "
    "variante klasse gruppe anhang alternative typ groupe annexe opción grupo".split()
)
# Capitalised words that begin a sentence, in six languages: no name begins with one.
OPENERS = frozenset(
    "the a an this that these those it its he she they we i you there here if when while after before then so but and "
    "or as at in on for from with by to of not no yes all each every our my your their his her what who why how "
    "where which since because once until unless although however also only please use do don't never always now next "
    "der die das den dem ein eine einen es er sie wir ich ihr dann wenn aber und oder nicht bei im am auf für mit nach "
    "seit von zu danach außerdem dies diese dieser dieses "
    "les un une il elle ils elles nous vous je ce cette ces mais et ou si dans pour avec ne pas "
    "el los las una ella ellos nosotros pero y en con para por se su esta este "
    "os uma ele ela eles mas não em com isso esta o e uno lui lei ma non questo questa "
    "het een hij zij wij maar als dan niet det ett han hon vi jag men och om när inte".split()
)
# In a quotation or bracket of more characters, sentences can end.
LONGEST_PAIR = 300
# Characters before the stop of a list number: quotation marks, emphasis, `Step 12`.
LONGEST_LIST_MARK = 40
# The highest ordinal written with a stop, as in `am 3. kommt`: the last day of a month.
HIGHEST_ORDINAL = 31

_STOP = lazy(r"[.!?…]+|[。！？．｡]+[.!?…。！？．｡]*|\n[^\S\n]*\n\s*")
_CLOSERS = lazy(r"[\"'”’»)\]}*_~`」』】）》〉]*")
# No white space follows a full-width stop: emphasis marks after it belong to it only if they close.
_WIDE_CLOSERS = lazy(r"[\"'”’»)\]}」』】）》〉]*")
_CODE = lazy(r"`+")
_QUOTE = lazy(r"(?<![\w.!?,…)\]])\"(?=\S)|(?<=\S)\"(?![A-Za-z\d_])")
_WORD_BEFORE = lazy(r"(?:[^\W\d_]+[.'’])*[^\W\d_]+$")
_INITIAL_BEFORE = lazy(r"(?<!\w)[A-Za-z]\.\s?$")
_PREVIOUS_WORD = lazy(r"([^\W\d_]+)[\s\"'(\[*_]+$")
_NUMBER_BEFORE = lazy(r"(?<![\w.,])\d{1,4}$")
_DATE_BEFORE = lazy(r"(?<![\w.])\d{1,2}\.\d{1,2}$")
_NEXT = lazy(r"[\"'“‘«„‚(\[{*_~`¿¡「『【（《〈]*([^\W_]+(?:'\w+)?|\W)?")
_KOREAN_END = lazy(r"(?:니다|[했었았였한된된이있없]다|[세어아해에예]요|[함됨])$")
_KOREAN_DATE = lazy(r"\d{4}\.\s?\d{1,2}\.(?:\s?\d{1,2}\.?)?")
_LIST_MARK = lazy(
    r"[\s\"'(\[*_#/>-]*(?:[^\W\d_]{2,12} )?(?:\d{1,3}|[A-Za-z]|[가나다라마바사아자차카타파하]|[ivxIVX]{1,4})$"
)
_DIRECT_SPEECH = lazy(r"(?:と|って|という|라고|라는|이라|고 )")
_NOTE = lazy(
    r"\s*[*_]*(?:\[[^\]\n.!?。]{1,60}\](?!\()|\([^)\n.!?。]{1,60}\)(?=[*_]*\s*(?:\n[^\S\n]*\n|$)))[*_]*(?=\s|$)"
)
_ARTICLE_BEFORE = lazy(
    r"(?:^|[\s(])(?:de[rmns]|die|das|am|im|vom|zum|zur|ein(?:e[nmrs]?)?|jede[nmrs]?|seit|nach) \d{1,2}$"
)
_MONTH = lazy(r"\s+(?i:jan|feb|mär|mar|apr|ma[ijy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])")
_OPENING = dict(zip(")]}」』】）》”»", "([{「『【（《“«", strict=True))  # the bracket that each one closes
_BRACKET = lazy(r"[()\[\]{}「」『』【】（）《》“”«»]")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, stripped of white space. Line breaks inside a sentence stay."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, in order, with only white space between them.

    A piece without a letter or a digit (a row of dashes, an emoji) belongs to the sentence before it. A text without
    letters and digits is one piece.
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    for end in (*_ends(text), len(text)):
        piece = text[begin:end]
        start = begin + len(piece) - len(piece.lstrip())
        last = begin + len(piece.rstrip())
        begin = max(begin, end)
        if start >= last:
            continue
        has_words = any(char.isalnum() for char in text[start:last])
        if spans and (not has_words or not any(char.isalnum() for char in text[spans[-1][0] : spans[-1][1]])):
            spans[-1] = spans[-1][0], last
        else:
            spans.append((start, last))
    return spans


def _ends(text: str) -> Iterator[int]:
    """The offset at which each sentence ends, after its stop and the closing marks that follow the stop. The end of the
    last sentence is left out."""
    whole: list[tuple[int, int]] | None = None
    offset, begin, number = 0, 0, 0  # `number`: the last number of a list within the text
    marks, counted = 0, 0  # the `**` before the place `counted`
    while stop := _STOP.search(text, offset):
        start, offset = stop.span()
        if stop.group()[0] == "\n":
            yield start
            begin = offset
            continue
        wide = stop.group()[0] in "。！？．｡"
        marks, counted = marks + text.count("**", counted, start), start
        closed = (_WIDE_CLOSERS if wide and marks % 2 == 0 else _CLOSERS).match(text, offset)
        end = closed.end() if closed else offset
        if not wide and end < len(text) and not text[end].isspace() and not _goes_on_in_korean(text, start, offset):
            continue
        if whole is None:
            whole = _wholes(text)
        inside = bisect_left(whole, (start, 0)) - 1
        if inside >= 0 and whole[inside][1] > end:
            offset = whole[inside][1]
            continue
        if _counts(text, begin, start, number):
            number += 1
            continue
        if not _is_end(text, begin, stop.group(), start, end):
            continue
        if note := _NOTE.match(text, end):
            end = note.end()
        yield end
        offset, begin = end, end


def _wholes(text: str) -> list[tuple[int, int]]:
    """The spans in which no sentence ends, in order: code spans, dates with stops, and brackets and quotations of at
    most LONGEST_PAIR characters."""
    ticks: dict[int, list[tuple[int, int]]] = {}
    for run in _CODE.finditer(text):
        ticks.setdefault(run.end() - run.start(), []).append(run.span())
    spans = [
        (first[0], second[1]) for runs in ticks.values() for first, second in zip(runs[::2], runs[1::2], strict=False)
    ]
    spans += [date.span() for date in _KOREAN_DATE.finditer(text)]
    open_at: dict[str, list[int]] = {}
    pairs: list[tuple[int, int]] = []
    for mark in _BRACKET.finditer(text):
        char = mark.group()
        if char not in _OPENING:
            open_at.setdefault(char, []).append(mark.start())
        elif before := open_at.get(_OPENING[char]):
            pairs.append((before.pop(), mark.end()))
    quote = -1
    for mark in _QUOTE.finditer(text):
        if quote < 0 or mark.start() - quote > LONGEST_PAIR:
            quote = mark.start()
        else:
            pairs.append((quote, mark.end()))
            quote = -1
    spans += [pair for pair in pairs if pair[1] - pair[0] <= LONGEST_PAIR]
    return _outermost(spans)


def _outermost(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans that no other span contains, in order."""
    outer: list[tuple[int, int]] = []
    for start, end in sorted(pairs, key=lambda pair: (pair[0], -pair[1])):
        if not outer or end > outer[-1][1]:
            outer.append((start, end))
    return outer


def _goes_on_in_korean(text: str, stop: int, after: int) -> bool:
    """Whether a Korean sentence ends at a stop without white space after it, as in `반영했다.다음은`. `stop`, `after`:
    offsets of the stop and of the character after it."""
    return bool("가" <= text[after] <= "힣" and _KOREAN_END.search(text, max(0, stop - 3), stop))


def _counts(text: str, begin: int, stop: int, number: int) -> bool:
    """Whether the stop at `stop` belongs to a number of a list inside the text, as in `1. Redis 2. Kafka 3. SQS`.
    `begin`: the start of the sentence. `number`: the last number of that list, 0 before the first."""
    if text[stop] != "." or not (match := _NUMBER_BEFORE.search(text, max(0, stop - 6), stop)):
        return False
    start = match.start()
    is_first = start == begin or text[max(0, start - 2) : start].rstrip()[-1:] in (":", ";", "", "：")
    return int(match.group()) == number + 1 and (number > 0 or is_first)


def _is_end(text: str, begin: int, stop: str, stop_start: int, end: int) -> bool:
    """Whether a sentence ends at a stop. `begin`: the offset of the sentence. `stop`: the stop itself, at the offset
    `stop_start`. `end`: the offset after its closing marks."""
    after = text[end : end + 80].lstrip()
    if not after:
        return True
    match = _NEXT.match(after)
    word = (match and match.group(1)) or ""
    quoted = any(char in "\"”’»'」』" for char in text[stop_start + len(stop) : end])
    if stop[0] in "。！？．｡":
        return not (_DIRECT_SPEECH.match(after) or (quoted and not text[end].isspace()))
    if after[0] in ",;:)]}、，；：" or (quoted and word.islower()):
        return False
    if stop[0] in "!?":
        return True
    if len(stop) > 1 or stop[0] == "…":
        apart = stop_start == begin or text[stop_start - 1].isspace() or text[stop_start - 1] in "-–/"
        goes_on = word.islower() or word.isdigit() or "ぁ" <= word[:1] <= "ん"  # a particle: `File → Open… を選ぶ`
        return not (apart or goes_on)
    return _full_stop_ends(text, begin, stop_start, end, word)


def _full_stop_ends(text: str, begin: int, stop: int, end: int, word: str) -> bool:
    """Whether a full stop at `stop` ends the sentence that begins at `begin`; it does not after a list mark, an
    ordinal, an initial or an abbreviation. `word`: the word after it."""
    if stop - begin < LONGEST_LIST_MARK and _LIST_MARK.match(text, begin, stop):
        return False
    is_lower, is_opener = word.islower(), word.lower() in OPENERS and not word.islower()
    if number := _NUMBER_BEFORE.search(text, max(0, stop - 6), stop):
        ordinal = is_lower and int(number.group()) <= HIGHEST_ORDINAL
        article = _ARTICLE_BEFORE.search(text, max(begin, stop - 16), stop)
        return not (ordinal or _MONTH.match(text, stop + 1) or article)
    if _DATE_BEFORE.search(text, max(0, stop - 6), stop):
        return word[:1].isalpha() and not is_lower
    match = _WORD_BEFORE.search(text, max(begin, stop - 24), stop)
    if match is None or text[stop - 1] > "\u2fff":
        return True
    previous_word = match.group()
    lowered = previous_word.lower()
    if len(previous_word) == 1:
        return not _is_initial(text, begin, match.start(), previous_word, word)
    if lowered in NUMBER_ABBREVIATIONS and word[:1].isdigit():
        return False
    if lowered in CLOSING_ABBREVIATIONS:
        return is_opener or (lowered in ("etc", "usw", "osv") and not is_lower and not word.isdigit())
    is_short = "." in previous_word and len(lowered) <= 5  # e.g, z.B, U.S.A
    return not (lowered in ABBREVIATIONS or (is_short and not (is_opener and previous_word.isupper())))


def _is_initial(text: str, begin: int, start: int, letter: str, word: str) -> bool:
    """Whether a single letter before a stop is an initial or abbreviation (`J. Smith`, `z. B.`), not a grade or
    plan."""
    if not letter.isascii():
        return False
    if letter.islower() or _INITIAL_BEFORE.search(text, max(begin, start - 4), start):
        return word.islower() or word.lower() not in OPENERS
    previous = _PREVIOUS_WORD.search(text, max(begin, start - 40), start)
    if previous is None:
        return not text[begin:start].strip("\"'([*_ ") and word[:1].isalpha()
    name = previous.group(1)
    if name.lower() in LABELS or not word[:1].isalpha() or word.islower():
        return False
    return not name.islower() or (name in OPENERS and word.lower() not in OPENERS)
