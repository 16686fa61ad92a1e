"""Checks whether cited lines support a text: they must have its numbers, dates, names, topic and reason. Pure.

Each check returns "" when the lines support the text, else a sentence that says what is missing, for example
"the number 12 is not in the lines it cites". Promotion shows that sentence when it refuses the text of a model.
`support_problem` makes all checks for `why`, `verify` and `review`; its sentences hold no text of memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from enum import StrEnum

from gitmem.lazy_patterns import lazy
from gitmem.memory.fact import normalise
from gitmem.memory.similarity import matter_terms, terms
from gitmem.memory.statements import TEXT_FORMS, Form, Statement
from gitmem.messages import Message
from gitmem.text import dates, english
from gitmem.text.denials import denials
from gitmem.text.languages import LANGUAGES
from gitmem.text.literal_breaks import between_literal_breaks
from gitmem.text.names import is_identifier, name_words
from gitmem.text.numbers import NUMBER, NUMBER_WORDS, numbers, plain_number, quantities
from gitmem.text.sentences import sentence_spans, sentences

MIN_COVERED = 0.3  # share of a fact's words that its source must have; refuses 5 % of faithful paraphrases
MIN_COVERED_CJK = 0.5  # the same for pairs of Hangul, Kana and Han characters
MIN_DENIED = 0.6  # share of a fact's words in a denying sentence from which it denies the fact; refuses 0.5 % wrongly
MIN_SHARED_WORDS = 0.6  # share of the words of a half sentence from which a fact counts as taken from it

_ALNUM = lazy(r"[^\W_]+")


# `2/5` is a date after a word of time, or alone in brackets; elsewhere, and before a counted noun, it is a fraction.
_SLASHED = lazy(r"\d\d?/\d\d?")
_DATE_OPENS = lazy(
    r"(?:\b(?:on|by|until|till|since|from|before|after|due|starts?|ends?|(?:mon|tues|wednes|thurs|fri|satur|sun)day),?\s+|[(\[])$",
    re.I,
)
_DATE_CLOSES = lazy(r"\s*(?:$|[^\w\s%])|\s+(?!of\b|out\b)(?![a-z]*[a-rt-z]s\b)|[가-힣ぁ-ん日]", re.I)
_KOREAN_DATE = lazy(r"\s?(?:에(?!서)|까지|부터|に|まで|から)")


class Support(StrEnum):
    """How the sources of a fact support it. IN_SOURCE: they say it word for word (`wording`). SHARES_WORDS: no check
    speaks against it. NOT_IN_SOURCE: a check failed. EDITED: somebody changed the fact after its promotion. NO_SOURCE:
    it cites none that was found."""

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


def number_problem(text: str, cited: str, days: Iterable[date]) -> str:
    """A sentence that names a number of the text which the cited lines lack; "" if they have all of them. Thousands
    separators and leading zeros do not matter.

    A quantity may have another unit: `90 s` supports `1.5 min`. The digits of a known day (a day of `days`, or one that
    the lines name) count only in a date of the text: a log of February does not support "phase 2".
    """
    present = numbers(cited)
    present |= {str(NUMBER_WORDS[word]) for word in _ALNUM.findall(cited.lower()) if word in NUMBER_WORDS}
    missing = []
    for match in NUMBER.finditer(text):
        whole = match[0].replace(",", "")
        if whole not in present and plain_number(whole) not in present and not _is_date_of(whole, present):
            missing.append(match)
    if not missing:
        return ""
    spans = [*_date_spans(text, cited, set(days)), *_equal_quantities(text, cited)]
    for match in missing:
        if not any(start <= match.start() and match.end() <= end for start, end in spans):
            return Message("the number {} is not in the lines it cites", match[0][:40])
    return ""


def _equal_quantities(text: str, cited: str) -> list[tuple[int, int]]:
    """The ranges [start, end) of the quantities of `text` that the cited lines have in any unit or spelling."""
    present = {(round(amount.value, 6), amount.unit) for amount in quantities(cited) if amount.high is None}
    stated = [amount for amount in quantities(text) if amount.high is None]
    return [(amount.start, amount.end) for amount in stated if (round(amount.value, 6), amount.unit) in present]


def _is_date_of(number: str, present: set[str]) -> bool:
    """Whether `number` is a date such as `2026-02-05` or `2/5`, and each part of it is one of the numbers `present`."""
    if not re.fullmatch(r"\d{4}-\d\d?-\d\d?|\d\d?/\d\d?", number):
        return False
    return all(part.lstrip("0") in present for part in re.split(r"[-/]", number))


def _date_spans(text: str, cited: str, days: set[date]) -> list[tuple[int, int]]:
    """The ranges [start, end) of the days, months and years in `text` that belong to a known day (`_known_days`)."""
    known_days = _known_days(cited, days)
    mentions = [m for day in days for future in (True, False) for m in dates.find_days(text, day, future)]
    spans = [(m.start, m.end) for m in mentions if m.states_day and m.day in known_days and not _is_fraction(text, m)]
    months = {(day.year, day.month) for day in known_days}
    years = {day.year for day in known_days}
    for period in dates.find_periods(text):
        of_day = any(period.month == month and period.year in (0, year) for year, month in months)
        if of_day or (not period.month and period.year in years):
            spans.append((period.start, period.end))
    return spans


def _is_fraction(text: str, mention: dates.Mention) -> bool:
    """Whether `mention` has the form `2/5` and is a fraction by the words around it, as in "2/5 of the tests"."""
    if not _SLASHED.fullmatch(text, mention.start, mention.end):
        return False
    if _KOREAN_DATE.match(text, mention.end):
        return False
    return not (_DATE_OPENS.search(text, 0, mention.start) and _DATE_CLOSES.match(text, mention.end))


def _known_days(cited: str, days: set[date]) -> set[date]:
    """`days`, and the days that the cited lines name when they are read on one of `days`."""
    return days | {m.day for day in days for future in (True, False) for m in dates.find_days(cited, day, future)}


def date_problem(text: str, cited: str, days: Iterable[date]) -> str:
    """A sentence that names a date of the text which is no known day, that is, neither a day of `days`, those of the
    logs, nor one in the cited lines; "" if there is none. "Monday" in the text may be the next or the last one."""
    log_days = set(days)
    known_days = _known_days(cited, log_days)
    for day in log_days:
        for mention in dates.find_days(text, day):
            if mention.states_day and mention.day not in known_days and not _is_fraction(text, mention):
                earlier = {m.day for m in dates.find_days(text, day, future=False) if m.start == mention.start}
                if not earlier & known_days:
                    return Message("the date {} is not in the lines it cites", mention.day.isoformat())
    return ""


def name_problem(text: str, cited: str, days: Iterable[date]) -> str:
    """A sentence that names a capitalised Latin word or identifier of the text which the cited lines lack; "" if they
    have all of them. Words of `english.NOT_NAMES` and of a known date do not count; the first word of a sentence may be
    inflected. `days`: the days of the logs."""
    folded = cited.casefold()
    date_spans = _date_spans(text, cited, set(days))
    for offset, word in name_words(text):
        if any(start <= offset < end for start, end in date_spans):
            continue  # the name of a month
        before = text[:offset].rstrip()
        begins_sentence = not before or before[-1] in ".:!?(\"'-"
        identifier = is_identifier(word)
        if not identifier and (not word[:1].isupper() or word.casefold() in english.NOT_NAMES):
            continue
        stem = word.casefold().removesuffix("'s").removesuffix("’s")
        inflected = begins_sentence and not identifier and stem[:4] in folded
        if stem not in folded and not inflected:
            return Message("'{}' is not in the lines it cites", word[:40])
    return ""


def word_problem(text: str, cited: str, days: Iterable[date]) -> str:
    """Why the cited lines have too few of the words of the text; "" if they have a minimal share of them, or if the
    text has very few words. `days` is not used."""
    stated, present = terms(text), terms(cited)
    wide = {term for term in stated if not term.isascii()}
    stems = {term[:5] for term in present}
    latin = [term for term in stated - wide if len(term) > 2]
    if len(wide) >= 4 and len(wide & present) < MIN_COVERED_CJK * len(wide):
        return "most of what it says is not in the lines it cites"
    if len(latin) >= 3 and sum(term[:5] in stems for term in latin) < MIN_COVERED * len(latin):
        return "most of what it says is not in the lines it cites"
    return ""


_BECAUSE = lazy("|".join(each.REASON for each in LANGUAGES), re.I)


def reason_problem(text: str, cited: str) -> str:
    """A sentence that says that the text of a decision leaves out the reason in the cited lines; "" if it gives one,
    with a word such as "because" or half of the words of the reason, or if the lines give none."""
    match = _BECAUSE.search(cited)
    if match is None or _BECAUSE.search(text):
        return ""
    reason = terms(cited[match.end() :].split("\n", 1)[0]) or terms(cited[: match.start()])
    if len(reason & terms(text)) >= len(reason) / 2:
        return ""
    return "the log gives a reason and the fact leaves it out"


def denial_problem(text: str, cited: str, days: Iterable[date]) -> str:
    """Why text and cited lines do not agree in what they deny; "" if they do. `days` is not used.

    A text with a denial needs a cited line with one. A text without one must not rest on a denying sentence: the one
    with most of its words, at least MIN_DENIED of them. Of two sentences with as many, the one without a denial counts.
    """
    cited_lines = [part for line in cited.split("\n") for part in between_literal_breaks(line)]
    cited_sentences = [sentence for line in cited_lines for sentence in sentences(line)]
    if denials(text):
        if any(map(denials, cited_sentences)):
            return ""
        return "it denies something, and the lines it cites do not"
    stated = _stems(matter_terms(text) - english.NOT_NAMES)
    matches = [(len(stated & _stems(matter_terms(sentence))), not denials(sentence)) for sentence in cited_sentences]
    shared, agrees = max(matches, default=(0, True))
    if agrees or shared < MIN_DENIED * len(stated):
        return ""
    return "the lines it cites deny it"


def _stems(words: Iterable[str]) -> set[str]:
    return {word[:5] if word.isascii() else word for word in words}


CHECKS = (  # (check, what `support_problem` returns when it fails)
    (date_problem, "a date in it is not in the lines it cites"),
    (number_problem, "a number in it is not in the lines it cites"),
    (name_problem, "a name in it is not in the lines it cites"),
    (word_problem, "most of what it says is not in the lines it cites"),
    (denial_problem, "it denies what the lines it cites say, or says what they deny"),
)


def support_problem(text: str, lines: Sequence[str], days: Iterable[date]) -> str:
    """Why the cited `lines` do not support `text`; "" when they do. `days`: the days of the logs of the lines. The
    result holds no text of memory."""
    cited = "\n".join(normalise(line) for line in lines)
    log_days = list(days)
    own, stems = terms(text), {term[:5] for term in terms(cited)}
    if own and not any(term[:5] in stems for term in own):
        return "the lines it cites speak of something else"
    for check, words in CHECKS:
        if check(text, cited, log_days):
            return words
    return ""


def cut_sentence_problem(text: str, lines: Sequence[str], document: Sequence[Statement], cited: Collection[int]) -> str:
    """Why `text` has only half a sentence of its source; "" when it has not.

    A sentence is cut when it goes on below the cited lines, or begins above them, and `text` has most words of the
    cited half and not of the other. `lines`, `document`: lines and statements of the source; `cited`: numbers of lines,
    from 1. The result holds no text of memory.
    """
    for statement in document:
        if statement.form not in TEXT_FORMS:
            continue
        for last in range(statement.first, statement.last):
            if (last in cited) == (last + 1 in cited) or not _is_wrapped(statement, lines[last]):
                continue
            above, below = _halves(_joined(lines[statement.first - 1 : last]), _joined(lines[last : statement.last]))
            if last in cited:
                if _has_most_of(text, above) and not _has_most_of(text, below):
                    return "the sentence goes on below the lines it cites"
            elif _has_most_of(text, below) and not _has_most_of(text, above):
                return "the sentence begins above the lines it cites"
    return ""


def _is_wrapped(statement: Statement, line: str) -> bool:
    """Whether `line` goes on with the line before it in the statement. In an item it does. The lines of a paragraph may
    be entries of a log, unless a line begins with a small letter."""
    return statement.form is Form.ITEM or _joined([line])[:1].islower()


def _joined(lines: Sequence[str]) -> str:
    return " ".join(normalise(line.lstrip(" \t>")) for line in lines)


def _halves(above: str, below: str) -> tuple[str, str]:
    """The two halves of the sentence that begins in `above` and ends in `below`; ("", "") when there is none."""
    whole = f"{above} {below}"
    for start, end in sentence_spans(whole):
        if start < len(above) and end > len(above) + 1:
            return whole[start : len(above)], whole[len(above) + 1 : end]
    return "", ""


def _has_most_of(text: str, half: str) -> bool:
    """Whether `text` has MIN_SHARED_WORDS of the words of a half sentence; False for a half without words."""
    own = terms(half)
    return bool(own) and len(own & terms(text)) >= MIN_SHARED_WORDS * len(own)
