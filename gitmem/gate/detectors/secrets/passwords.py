"""Finds passwords and PINs that people wrote down: `운영 DB 비번은 ...`, `admin / ...`, `postgres://user:...@host`.

Reads a word for a password and the text behind it, in English, Korean, Japanese and Chinese; `password_pairs.py`
finds pairs of user and password, addresses and command lines, `password_tables.py` rows of fields. A chosen password
need not look random, so the form of the sentence decides more, and a plain word behind a plain `is` passes ("the
password is required"). No character of a password is ever shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from gitmem.gate.detectors import readings
from gitmem.gate.detectors.joined_words import is_told
from gitmem.gate.detectors.named_values import settings
from gitmem.gate.detectors.prefilter import DIGIT, plain, present
from gitmem.gate.detectors.secrets import passphrases, password_pairs, password_tables
from gitmem.gate.detectors.secrets.candidates import (
    CLOSE,
    FOREIGN,
    FOREIGN_WORD,
    WORD,
    candidates,
    end_of_password,
    lowered,
)
from gitmem.gate.detectors.secrets.decision import (
    MAX_PASSWORD_CHARACTERS,
    REASONS,
    Candidate,
    Place,
    is_secret,
    severity,
)
from gitmem.gate.detectors.secrets.features import classes, is_placeholder, is_words
from gitmem.gate.detectors.secrets.rule_tables import patterns, word_list
from gitmem.gate.detectors.spans import Spans, line_around
from gitmem.gate.detectors.text import Match, Text

MASK = "[password]"
_NEAR_BEFORE, _NEAR_BEHIND = 60, 80  # characters of a line in which a password stands by its look alone
_NAMED_WITHIN = 44
_LONGEST_ADDRESS = 2_000  # characters of an address before a parameter
_MIN_BARE_CHARACTERS = 4  # characters of a password without quotation marks
_SHORT_WORDS = frozenset(["pass", "pw", "pin"])
_PARTS = word_list("part of a password word")
_NAME_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
Span = tuple[int, int]


@lru_cache(maxsize=1 << 10)
def _is_other_name(name: str) -> bool:
    """Whether a name with a word for a password names something else: `password_hash`."""
    return patterns.other_name.search(name) is not None


def _named(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of the passwords beside words for one; `low`: the text in lower case."""
    if low.isascii() and not any([part in low for part in _PARTS]):
        return
    digits = plain(text).translate(DIGIT)
    done = 0
    for word in _words(low):
        start, end = word.span()
        if start < done:
            continue
        if _in_columns(text, start, end):
            for span in chain(password_tables.column(text, low, start), password_tables.inserted(text, low, start)):
                done = span[1]
                yield "password-in-table", *span
            if start < done:
                continue
        spans, behind = _beside_word(text, low, digits, word)
        done = max(done, behind)
        yield from (("password-note", *span) for span in spans)


def _words(low: str) -> Iterable[re.Match[str]]:
    """The words for a password in a text in lower case, in order."""
    if not present(low, FOREIGN):
        return WORD.finditer(low)
    return sorted([*WORD.finditer(low), *FOREIGN_WORD.finditer(low)], key=lambda match: match.start())


def _in_columns(text: str, start: int, end: int) -> bool:
    """Whether the word at start..end may be the name of a column."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if "," in before or after[:1] in (",", ")") or "\t" in before + after[:1] or after == "  " or ";" in before:
        return True
    return before == "  " and text[max(0, text.rfind("\n", 0, start)) : start].strip() != ""


def _beside_word(text: str, low: str, digits: bytes, word: re.Match[str]) -> tuple[list[Span], int]:
    """(spans of the passwords beside a word for one, the offset from which the next word is searched, 0 for no limit).
    `digits`: the text with `1` for each digit."""
    start, short, ascii_word = word.start(), word.group() in _SHORT_WORDS, text[word.start()].isascii()
    name_end = word.end()
    if ascii_word and (rest := patterns.password_name_rest.match(text, name_end)):
        name_end = rest.end()
    head = text[max(0, start - 24) : start]
    head = head[len(head.rstrip(_NAME_LETTERS)) :]
    if ascii_word and (head or start == 0 or name_end > word.end()) and _is_other_name(head + text[start:name_end]):
        return [], 0
    if not short:
        first = max(0, start - 80)
        before = None
        if digits.find(b"1", first, start) >= 0:  # a password before its word has a digit
            before = patterns.password_before.search(text, first, start)
        if before and _looks_chosen(before["value"].strip("\"'`*")):
            return [before.span("value")], 0
        words = passphrases.words_at(text, low, start, name_end)
    else:
        words = None
        if word.group() == "pw":
            words = passphrases.answer_at(text, low, start, name_end)
        if words is None and word.group() != "pin":
            words = passphrases.of_access_at(text, low, start, name_end)
    if words is not None:
        return [words], words[1]
    join = patterns.password_join.match(text, name_end)
    if join is None:
        around: list[Span] = []
        if not short:
            around = list(_near(text, start, name_end))
        return around, max((span[1] for span in around), default=0)
    if short and _is_step(text, start, join):
        return [], 0
    both = None
    if low.startswith(" from ", name_end):
        both = _old_and_new(text, name_end)
    if both is not None:
        return list(both), both[1][1]
    return _joined(text, low, word, join, name_end)


def _is_step(text: str, start: int, join: re.Match[str]) -> bool:
    """Whether a short word at `start` is a step in a row of steps ("draft → second pass → review"): an arrow joins it
    to what follows, and another arrow stands before it on its line."""
    first, _ = line_around(text, start, start, _NEAR_BEHIND, 0)
    return patterns.arrow.search(join["op"]) is not None and patterns.arrow.search(text, first, start) is not None


def _looks_chosen(value: str) -> bool:
    return is_secret(Candidate(Place.LOOK, value, 0, len(value), known=True))


def _joined(text: str, low: str, word: re.Match[str], join: re.Match[str], name_end: int) -> tuple[list[Span], int]:
    """As `_beside_word`, when something joins the word, whose name ends at `name_end`, to the text behind it. `join`:
    the match of `password_join` there."""
    aside = join["aside"]
    if aside and _is_told_aside(aside.strip(" \t()（）")):  # `the default password (...) was`
        start = join.start("aside") + len(aside) - len(aside.lstrip(" \t(（\"'`"))
        end, chosen = join.start("aside") + len(aside.rstrip(")）\"'`")), True
    else:
        start = end = 0
        candidate = _behind(text, low, word, join)
        if candidate is not None:
            start, end = candidate.start, candidate.end
        chosen = candidate is not None and is_secret(candidate)
    if chosen:
        spans = [(start, end)]
        changed = patterns.changed_to.match(text, end)
        if changed is not None:
            start, end = changed.start("value"), end_of_password(text, *changed.span("value"), changed["quote"])[0]
            if _is_changed(text, start, end):
                spans.append((start, end))
        return spans, spans[-1][1]
    if word.group() not in _SHORT_WORDS and (near := [*_its(text, name_end), *_near(text, word.start(), name_end)]):
        return near, max(name_end, max(near)[1])
    if end - start > MAX_PASSWORD_CHARACTERS:  # or each word for a password in one long value would read it again
        return [], end - MAX_PASSWORD_CHARACTERS // 2
    return [], 0


def _is_told_aside(words: str) -> bool:
    """Whether the words in parentheses behind a word for a password are one: a value that looks chosen, or between
    quotation marks one of all four classes of characters."""
    value = words.strip("\"'`")
    if _looks_chosen(value):
        return True
    return value != words and len(value) >= 8 and classes(value) == 4 and not is_placeholder(value) and " " not in value


def _is_changed(text: str, start: int, end: int) -> bool:
    return is_secret(Candidate(Place.CHANGE, text, start, end))


def _old_and_new(text: str, name_end: int) -> tuple[Span, Span] | None:
    """The spans of the old and the new password of `password from ... to ...`, or None. `name_end`: the end of the
    word."""
    match = patterns.from_to.match(text, name_end)
    if match is None or not _is_changed(text, *match.span("old")):
        return None
    start = match.start("new")
    end = start + len(match["new"].rstrip(".,;:)"))
    if not _is_changed(text, start, end):
        return None
    return match.span("old"), (start, end)


def _its(text: str, name_end: int) -> Iterator[Span]:
    """The span of the password in a sentence like `the password over chat, it's ...`; `name_end`: the end of its word."""
    match = patterns.told_its.match(text, name_end)
    if match is not None:
        start = match.start("value")
        end = start + len(match["value"].rstrip(".,;:)\"'`"))
        if is_secret(Candidate(Place.ITS, text, start, end)):
            yield start, end


def _near(text: str, start: int, end: int) -> Iterator[Span]:
    """The spans of values that look like a password (a symbol among letters and digits) on the line of the word at
    start..end, at most _NEAR_BEFORE characters before the word and _NEAR_BEHIND behind it."""
    first, last = line_around(text, start, end, _NEAR_BEFORE, _NEAR_BEHIND)
    if patterns.app_before.search(text[max(0, start - 24) : start].lower()):
        for match in patterns.app_password.finditer(text, end, last):
            value = match["value"]
            prose = is_told(value.replace("-", " ")) or (not match["gap"] and is_words(value))
            if not prose and not is_placeholder(value):
                yield match.span("value")
    single = text.count("*", first, last) == 1  # no emphasis
    for match in patterns.shaped_value.finditer(text, first, last):
        if start < match.end() and match.start() < end:
            continue
        value_end = match.start() + len(match.group().rstrip(".,;:)\"'`"))
        if is_secret(Candidate(Place.NEAR, text, match.start(), value_end, starred=single)):
            yield match.start(), value_end


def _strength(op: str) -> int:
    """How surely a sign or a word joins a word for a password to its value: as in `Candidate.strength`."""
    bare = op.strip()
    if patterns.strong_join.search(bare):
        return 2
    if bare and bare not in tuple("(,/|–-") and not bare.endswith("("):
        return 1
    return 0


def _behind(text: str, low: str, match: re.Match[str], join: re.Match[str]) -> Candidate | None:
    """The value that follows a word for a password, as a candidate for the decision whether it is a secret. Of
    `id/pw: USER/PASSWORD` it is only the second part.

    `low`: `text` in lower case. `match`: of the word in `low`. `join`: of `password_join` behind the word. None for
    fewer than _MIN_BARE_CHARACTERS without a quotation mark, for a value with spaces that is not strongly joined, and
    when the text says that it is something else (code, a comparison, the verdict of a test, a pinned version).
    """
    word, op, sign = match.group(), join["op"], join["op"].strip()
    start, limit = join.span("value")
    if limit - start < _MIN_BARE_CHARACTERS and not join["quote"]:
        return None
    quote = join["quote"].rstrip("*") or join["quote"]
    end, closed = end_of_password(text, start, limit, quote)
    if quote and not closed and quote[-1] != "(":
        end, closed = _quoted(text, start, end, quote[-1], patterns.phrase_word.search(word) is not None)
    if not quote and op == "=" and "&" in text[start:end]:
        end = _end_of_parameter(text, match.start(), start, end)
    value = text[start:end]
    strength = min(2, _strength(op) + closed)
    if value.startswith((").", ")->", "))")):
        return None  # what a program does with the string before: `update('PASSWORD').digest('hex')`
    if join["mark"].endswith("`") and sign.startswith(","):
        return None  # the next code span of a list: "`app.password`, `app.webhookPath`"
    if (sign in ("==", "!=", "===", "!==") and not closed) or (closed and text[end + 1 : end + 2] == ":"):
        return None
    if " " in value:
        if strength < 2 or patterns.openpgp_user_id.search(value):
            return None
        return Candidate(Place.SENTENCE, text, start, end, word)
    before = low[max(0, match.start() - _NAMED_WITHIN) : match.start()]
    user, slash, second = value.partition("/")
    if slash and user and patterns.id_and_password_before.search(before[-12:]):
        start, value, strength = start + len(user) + 1, second, 2  # `id/pw: master/...`
    if word == "pin" and not patterns.pin.fullmatch(value):
        return None  # a thing that is pinned: a version, a commit, a column
    if word == "pass" and (sign in ("(", "|") or patterns.verdict_before.search(before[-16:])):
        return None  # what a test did: `--- PASS: TestLogin`, `PASS (REQ-7)`, `all tests pass: ...`
    if word == "pass" and not patterns.assigning_sign.search(op) and text[match.start() - 1 : match.start()] != "_":
        strength = int(patterns.determiner_before.search(before[-8:]) is not None and sign in ("is", "was", "to"))
        # else a verb: `pass it to ...`
    if closed and quote == "'" and text[match.start() : match.end()] == "PASSWORD":
        strength = 2  # SQL: `ALTER ROLE app PASSWORD '...'`
    known = word in ("pin", "pass") and patterns.password_named_before.search(before) is not None
    weak = strength == 0 and not known and (word in _SHORT_WORDS or sign[:1] in tuple("(/|–-") or "(" in op)
    after = text[end : end + 14]
    return Candidate(Place.SENTENCE, text, start, end, word, after=after, closed=closed, strength=strength, weak=weak)


def _end_of_parameter(text: str, word: int, start: int, end: int) -> int:
    """The end of the value at start..end of a parameter of an address, whose name has the word for a password at `word`:
    at the next parameter. `end` outside addresses."""
    following = patterns.next_parameter.search(text, start, end)
    if following is None or patterns.parameter_before.search(text, max(0, word - _LONGEST_ADDRESS), word) is None:
        return end
    return following.start()


def _quoted(text: str, start: int, end: int, quote: str, is_phrase: bool) -> tuple[int, bool]:
    """(offset of the closing quote, True) for a value whose closing quote stands further on than `end`; (`end`, False)
    without such a quote.

    A value with spaces counts only if it is a passphrase of three words (`is_phrase`: the word is one for a passphrase)
    or looks like a spaced password.
    """
    close = text.find(CLOSE.get(quote, quote), start, start + 200)
    inside = "\n"
    if close > 0:
        inside = text[start:close]
    if "\n" in inside or (" " in inside and not (is_phrase and inside.count(" ") >= 2) and not _is_spaced(inside)):
        return end, False
    return close, True


def _is_spaced(value: str) -> bool:
    """Whether a value between quotation marks is a password of two to four words with a number and a sign."""
    if not 1 <= value.count(" ") <= 3 or len(value) > 40 or patterns.spaced_password.fullmatch(value) is None:
        return False
    return classes(value) >= 3 and not is_told(re.sub(r"[^A-Za-z]+", " ", value)) and not is_placeholder(value)


def _matches(text: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of passwords; a later find that overlaps an earlier one is left out. Grouped by kind, so not
    in order."""
    low = candidates(text).low
    taken = Spans()
    finds = chain(
        password_pairs.addresses(text, low),
        _named(text, low),
        password_pairs.pairs(text, low),
        password_tables.password_cells(text),
        (("password-note", *span) for span in passphrases.codes(low)),
        (("password-note", *span) for span in passphrases.named_by_tools(low)),
    )
    for rule, start, end in finds:
        if end > start and taken.claim(start, end):
            yield rule, start, end
    for setting in settings(text, low):
        for rule, start, end in _named(setting.line, lowered(setting.line)):
            start, end = [at + setting.start - setting.inside for at in (start, end)]
            if start >= setting.start and taken.claim(start, end):
                yield rule, start, end


def detect(text: Text) -> Iterator[Match]:
    """Every password of a text: in the raw text, and in the readings of `readings.of_passwords` where they differ
    from it.

    Of two finds that overlap the longer one counts.
    """
    for rule, start, end in readings.rules_in_all(_matches, text, readings.of_passwords(text)):
        yield Match(rule, severity(rule, text.raw, start, end), start, end, REASONS[rule], secret=True, mask=MASK)
