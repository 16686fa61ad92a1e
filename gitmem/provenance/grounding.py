"""Whether a text follows from the lines it cites: its numbers, dates, names, topic and reason must be in them.

Pure. Each check answers with the sentence that refuses the text, "" where the lines support it; `plan` and whoever else
lets a model's text stand for its sources shows that sentence. `unsupported` runs the checks for `why`, `verify` and
`review`, whose answers hold no text of memory; Support is what they say of a fact.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from enum import StrEnum

from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import normalise
from gitmem.memory.similarity import matter, terms
from gitmem.memory.statements import Form, Statement
from gitmem.messages import Message
from gitmem.text import dates, english
from gitmem.text.denials import denials
from gitmem.text.languages import LANGUAGES
from gitmem.text.names import is_identifier, name_words
from gitmem.text.numbers import NUMBER, NUMBER_WORDS, numbers, plain_number, quantities
from gitmem.text.sentences import sentence_spans, sentences

COVERED = 0.3  # share of a fact's words that its source must hold: loses 5 % of faithful paraphrases
COVERED_CJK = 0.5  # the same for pairs of Hangul, Kana and Han
DENIED = 0.6  # share of a fact's words in one sentence from which that sentence's denial is about the fact: 0.5 % lost

MIN_SHARED_WORDS = 0.6  # share of a part's words that a fact holds which was taken from it

_ALNUM = lazy(r"[^\W_]+")


# "2/5" is a date after a word of time or by itself in brackets; elsewhere, and before what is counted, a share.
_SLASHED = lazy(r"\d\d?/\d\d?")
_DATE_OPENS = lazy(
    r"(?:\b(?:on|by|until|till|since|from|before|after|due|starts?|ends?|(?:mon|tues|wednes|thurs|fri|satur|sun)day),?\s+|[(\[])$",
    re.I,
)
_DATE_CLOSES = lazy(r"\s*(?:$|[^\w\s%])|\s+(?!of\b|out\b)(?![a-z]*[a-rt-z]s\b)|[가-힣ぁ-ん日]", re.I)
_KOREAN_DATE = lazy(r"\s?(?:에(?!서)|까지|부터|に|まで|から)")


class Support(StrEnum):
    """What holds a fact up. Only of IN_SOURCE the lines say it word for word (`wording`)."""

    IN_SOURCE = "in-source"
    SHARES_WORDS = "shares-words"
    NOT_IN_SOURCE = "not-in-source"
    EDITED = "edited"
    NO_SOURCE = "no-source"


WORDS = {
    Support.IN_SOURCE: "text is in the source",
    Support.SHARES_WORDS: "shares words and numbers with its source",
    Support.NOT_IN_SOURCE: "source exists but does not say it",
    Support.EDITED: "edited after promotion",
    Support.NO_SOURCE: "no source",
}


def uncounted(text: str, cited: str, days: Iterable[date]) -> str:
    """A number in the fact that the cited lines do not hold (thousands separators and leading zeros aside).

    A quantity that the lines give in another unit is one they hold: `90 s` says `1.5 min`. The digits of a day that is
    known, the log's own or one the lines name, count only where the fact uses them as a date: "phase 2" does not follow
    from a log of February.
    """
    there = numbers(cited) | {str(NUMBER_WORDS[word]) for word in _ALNUM.findall(cited.lower()) if word in NUMBER_WORDS}
    missing = [
        match
        for match in NUMBER.finditer(text)
        if (whole := match[0].replace(",", "")) not in there
        and plain_number(whole) not in there
        and not _dated_by_parts(whole, there)
    ]
    if missing:
        spans = [*_dated_spans(text, cited, set(days)), *_equal_quantities(text, cited)]
    else:
        spans = []
    for match in missing:
        if not any(start <= match.start() and match.end() <= end for start, end in spans):
            return Message("the number {} is not in the lines it cites", match[0][:40])
    return ""


def _equal_quantities(text: str, cited: str) -> list[tuple[int, int]]:
    """Where, [start, end), `text` says a quantity that the cited lines hold in whatever unit and spelling."""
    there = {(round(each.value, 6), each.unit) for each in quantities(cited) if each.high is None}
    own = [each for each in quantities(text) if each.high is None]
    return [(each.start, each.end) for each in own if (round(each.value, 6), each.unit) in there]


def _dated_by_parts(number: str, there: set[str]) -> bool:
    """Whether a number is a date, `2026-02-05` or `2/5`, each part of which is a number of the lines."""
    parts = re.split(r"[-/]", number)
    return re.fullmatch(r"\d{4}-\d\d?-\d\d?|\d\d?/\d\d?", number) is not None and all(
        part.lstrip("0") in there for part in parts
    )


def _dated_spans(text: str, cited: str, days: set[date]) -> list[tuple[int, int]]:
    """Where, [start, end), `text` spells a date that is known: a whole one, a month or a year."""
    known = _known_days(cited, days)
    mentions = [m for day in days for future in (True, False) for m in dates.find(text, day, future)]
    spans = [(m.start, m.end) for m in mentions if m.spelled and m.day in known and not _is_share(text, m)]
    months = {(day.year, day.month) for day in known}
    years = {day.year for day in known}
    for period in dates.periods(text):
        of_day = any(period.month == month and period.year in (0, year) for year, month in months)
        if of_day or (not period.month and period.year in years):
            spans.append((period.start, period.end))
    return spans


def _is_share(text: str, mention: dates.Mention) -> bool:
    """Whether a `2/5` that could be a day stands where a share or a count is written: "2/5 of the tests"."""
    if not _SLASHED.fullmatch(text, mention.start, mention.end):
        return False
    if _KOREAN_DATE.match(text, mention.end):
        return False
    return not (_DATE_OPENS.search(text, 0, mention.start) and _DATE_CLOSES.match(text, mention.end))


def _known_days(cited: str, days: set[date]) -> set[date]:
    """The logs' own days, and those the cited lines name, read as of each."""
    return days | {m.day for day in days for future in (True, False) for m in dates.find(cited, day, future)}


def undated(text: str, cited: str, days: Iterable[date]) -> str:
    """A date in the fact that is neither in the cited lines, read as of the log's day, nor that day."""
    known = set(days)
    there = _known_days(cited, known)
    for day in known:
        for mention in dates.find(text, day):
            if mention.spelled and mention.day not in there and not _is_share(text, mention):
                earlier = {m.day for m in dates.find(text, day, False) if m.start == mention.start}
                if not earlier & there:
                    return Message("the date {} is not in the lines it cites", mention.day.isoformat())
    return ""


def unnamed(text: str, cited: str, days: Iterable[date]) -> str:
    """A capitalised Latin word or an identifier in the fact that the cited lines do not hold."""
    there = cited.casefold()
    dated = _dated_spans(text, cited, set(days))
    for at, word in name_words(text):
        if any(start <= at < end for start, end in dated):
            continue  # the month of a day that is known
        before = text[:at].rstrip()
        opens = not before or before[-1] in ".:!?(\"'-"
        identifier = is_identifier(word)
        if not identifier and (not word[:1].isupper() or word.casefold() in english.NOT_NAMES):
            continue
        stem = word.casefold().removesuffix("'s").removesuffix("’s")
        inflected = opens and not identifier and stem[:4] in there
        if stem not in there and not inflected:
            return Message("'{}' is not in the lines it cites", word[:40])
    return ""


def unsaid(text: str, cited: str, days: Iterable[date]) -> str:
    """Too few of the fact's words in the cited lines: it says something else."""
    own, there = terms(text), terms(cited)
    wide = {term for term in own if not term.isascii()}
    stems = {term[:5] for term in there}
    plain = [term for term in own - wide if len(term) > 2]
    if len(wide) >= 4 and len(wide & there) < COVERED_CJK * len(wide):
        return "most of what it says is not in the lines it cites"
    if len(plain) >= 3 and sum(term[:5] in stems for term in plain) < COVERED * len(plain):
        return "most of what it says is not in the lines it cites"
    return ""


_BECAUSE = lazy("|".join(each.REASON for each in LANGUAGES), re.I)


def unreasoned(text: str, cited: str) -> str:
    """A reason that the cited lines give and the fact, a decision, leaves out."""
    match = _BECAUSE.search(cited)
    if match is None or _BECAUSE.search(text):
        return ""
    after = terms(cited[match.end() :].split("\n", 1)[0]) or terms(cited[: match.start()])
    own = terms(text)
    told = not after or len(after & own) >= len(after) / 2
    if told:
        return ""
    return "the log gives a reason and the fact leaves it out"


def denied(text: str, cited: str, days: Iterable[date]) -> str:
    """A denial that only one side has: the text denies and no cited line does, or the sentence it rests on denies it.

    It rests on the sentence that holds most of its words, DENIED of them at least; of two that hold as many, on the one
    that agrees.
    """
    said = [sentence for line in cited.split("\n") for sentence in sentences(line)]
    if denials(text):
        if any(map(denials, said)):
            return ""
        return "it denies something, and the lines it cites do not"
    own = _stems(matter(text) - english.NOT_NAMES)
    rests = [(len(own & _stems(matter(sentence))), not denials(sentence)) for sentence in said]
    shared, agrees = max(rests, default=(0, True))
    if agrees or shared < DENIED * len(own):
        return ""
    return "the lines it cites deny it"


def _stems(words: Iterable[str]) -> set[str]:
    return {word[:5] if word.isascii() else word for word in words}


CHECKS = (  # and what `unsupported` says where one fails: no text of memory
    (undated, "a date in it is not in the lines it cites"),
    (uncounted, "a number in it is not in the lines it cites"),
    (unnamed, "a name in it is not in the lines it cites"),
    (unsaid, "most of what it says is not in the lines it cites"),
    (denied, "it denies what the lines it cites say, or says what they deny"),
)


def unsupported(text: str, lines: Sequence[str], days: Iterable[date]) -> str:
    """Why `text` does not follow from `lines`, "" where it does: a date, number or name they have not, another topic,
    a denial on one side. `days` are the dates of the logs the lines stand in. The words hold no text of memory."""
    cited = "\n".join(normalise(line) for line in lines)
    known = list(days)
    own, there = terms(text), {term[:5] for term in terms(cited)}
    if own and not any(term[:5] in there for term in own):
        return "the lines it cites speak of something else"
    for check, words in CHECKS:
        if check(text, cited, known):
            return words
    return ""


def cut_sentence(text: str, lines: Sequence[str], found: Sequence[Statement], cited: Collection[int]) -> str:
    """Why `text` is half a sentence of its source, "" where it is none: what it was taken from goes on below the cited
    lines, or begins above, and `text` has not the rest. `lines` are the source's, `found` its statements, and `cited`
    numbers of lines, from 1. The words hold no text of memory."""
    for statement in found:
        if statement.form not in (Form.ITEM, Form.PARAGRAPH, Form.QUOTE) or statement.first == statement.last:
            continue
        for last in range(statement.first, statement.last):
            if (last in cited) != (last + 1 in cited) and _wraps(statement, lines[last - 1 : last + 1]):
                above, below = (
                    _plain(lines[first - 1 : end])
                    for first, end in ((statement.first, last), (last + 1, statement.last))
                )
                before, after = _halves(above, below)
                if last in cited:
                    taken, rest = (before, after)
                else:
                    taken, rest = (after, before)
                if _has(text, taken) and not _has(text, rest):
                    return (
                        "the sentence " + ("goes on below" if last in cited else "begins above") + " the lines it cites"
                    )
    return ""


def _wraps(statement: Statement, pair: Sequence[str]) -> bool:
    """Whether the second of two lines of a statement goes on with the first: an item's wrapped lines do. Lines of a
    paragraph may be entries of a log, unless the second begins with a small letter."""
    return statement.form is Form.ITEM or _plain(pair[1:])[:1].islower()


def _plain(lines: Sequence[str]) -> str:
    return " ".join(normalise(line.lstrip(" \t>")) for line in lines)


def _halves(above: str, below: str) -> tuple[str, str]:
    """The two parts of the sentence that goes over from one text to the other, "" for both where none does."""
    for start, end in sentence_spans(f"{above} {below}"):
        if start < len(above) and end > len(above) + 1:
            whole = f"{above} {below}"
            return whole[start : len(above)], whole[len(above) + 1 : end]
    return "", ""


def _has(text: str, part: str) -> bool:
    """Whether a text was taken from a part: most of the part's words are in it."""
    own, there = terms(part), terms(text)
    return bool(own) and len(own & there) >= MIN_SHARED_WORDS * len(own)
