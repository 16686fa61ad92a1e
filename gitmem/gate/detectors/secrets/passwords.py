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
from typing import TYPE_CHECKING

from gitmem.gate.detectors import readings
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.joined_words import is_coined, is_diceware, is_joined, is_odd, is_told
from gitmem.gate.detectors.named_values import settings
from gitmem.gate.detectors.prefilter import DIGIT, plain, present
from gitmem.gate.detectors.secrets import passphrases, password_pairs, password_tables
from gitmem.gate.detectors.secrets.candidates import candidates, lowered
from gitmem.gate.detectors.secrets.chosen_passwords import (
    CLOSE,
    FOREIGN,
    FOREIGN_WORD,
    MAX_PASSWORD_CHARACTERS,
    WORD,
    classes,
    end_of,
    is_chosen,
    is_sample,
    looks_chosen,
)
from gitmem.gate.detectors.secrets.placeholders import is_placeholder
from gitmem.gate.detectors.secrets.rule_tables import patterns, word_list
from gitmem.gate.detectors.spans import Spans
from gitmem.gate.detectors.text import Match, Text

if TYPE_CHECKING:
    from gitmem.gate.detectors.text import Examples

MASK = "[password]"

_NEAR_BEFORE, _NEAR_BEHIND = 60, 80  # characters of a line in which a password stands by its look alone
_SHORT_WORDS = frozenset(["pass", "pw", "pin"])
# One of them is in every ASCII `WORD`.
_PARTS = word_list("part of a password word")


def _strength(op: str) -> int:
    bare = op.strip()
    if patterns.strong_join.search(bare):
        return 2
    if bare and bare not in tuple("(,/|–-") and not bare.endswith("("):
        return 1
    return 0


_NAMED_WITHIN = 44
_MIN_BARE_CHARACTERS = 4  # characters of a password without quotation marks
_NAME_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"


def _name(text: str, start: int, end: int) -> str:
    before = text[max(0, start - 24) : start]
    return before[len(before.rstrip(_NAME_LETTERS)) :] + text[start:end]


@lru_cache(maxsize=1 << 10)
def _is_no_secret(name: str) -> bool:
    """Whether a name with a word for a password names something else: `password_hash`."""
    return patterns.other_name.search(name) is not None


def _named(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of the passwords beside words for one; `low`: the text in lower case."""
    if low.isascii() and not any([part in low for part in _PARTS]):
        return
    digits = plain(text).translate(DIGIT)
    done = 0
    for match in _words(low):
        start, end = match.span()
        if start < done:
            continue
        if _in_columns(text, start, end):
            for span in chain(password_tables.column(text, low, start), password_tables.inserted(text, low, start)):
                done = span[1]
                yield "password-in-table", *span
            if start < done:
                continue
        spans, behind = _beside_word(text, low, digits, match)
        done = max(done, behind)
        yield from (("password-note", *span) for span in spans)


def _beside_word(text: str, low: str, digits: bytes, match: re.Match[str]) -> tuple[list[tuple[int, int]], int]:
    """(spans of the passwords beside a word for one, the offset from which the next word is searched, 0 for no
    limit)."""
    start, short, ascii_word = match.start(), match.group() in _SHORT_WORDS, text[match.start()].isascii()
    name_end = match.end()
    if ascii_word and (rest := patterns.password_name_rest.match(text, name_end)):
        name_end = rest.end()
    longer = name_end > match.end() or text[max(0, start - 1) : start] in _NAME_LETTERS
    if ascii_word and longer and _is_no_secret(_name(text, start, name_end)):
        return [], 0
    if not short:
        first = max(0, start - 80)
        before = None
        if digits.find(b"1", first, start) >= 0:  # a password before its word has a digit
            before = patterns.password_before.search(text, first, start)
        if before and looks_chosen(before.group("value").strip("\"'`*"), True):
            return [before.span("value")], 0
    if not short or match.group() == "pw":
        if short:
            words = passphrases.answer_at(text, low, start, name_end)
        else:
            words = _words_at(text, low, match, name_end)
        if words is not None:
            return [words], words[1]
    join = patterns.password_join.match(text, name_end)
    if join is None:
        around: list[tuple[int, int]] = []
        if not short:
            around = list(_password_spans_near(text, start, name_end))
        return around, max((span[1] for span in around), default=0)
    both = None
    if low.startswith(" from ", name_end):
        both = _old_and_new_password(text, name_end)
    if both is not None:
        return list(both), both[1][1]
    return _joined(text, low, match, join, name_end)


def _joined(
    text: str, low: str, match: re.Match[str], join: re.Match[str], name_end: int
) -> tuple[list[tuple[int, int]], int]:
    """As `_beside_word`, when something joins the word, whose name ends at `name_end`, to the text behind it."""
    aside = join.group("aside")
    if aside and looks_chosen(aside.strip(" \t()（）"), True):  # `the default password (...) was`
        start = join.start("aside") + len(aside) - len(aside.lstrip(" \t(（"))
        end, chosen = join.start("aside") + len(aside.rstrip(")）")), True
    else:
        start, end, chosen = _behind(text, low, match, join)
    if chosen:
        spans = [(start, end)]
        changed = patterns.changed_to.match(text, end)
        if changed is not None:
            start, end = changed.start("value"), end_of(text, *changed.span("value"), changed.group("quote"))[0]
            if _is_new(text[start:end]):
                spans.append((start, end))
        return spans, spans[-1][1]
    if match.group() not in _SHORT_WORDS and (
        near := [*_span_after_its(text, name_end), *_password_spans_near(text, match.start(), name_end)]
    ):
        return near, max(name_end, max(near)[1])
    if end - start > MAX_PASSWORD_CHARACTERS:  # or each word for a password in one long value would read it again
        return [], end - MAX_PASSWORD_CHARACTERS // 2
    return [], 0


def _words(low: str) -> Iterable[re.Match[str]]:
    """The words for a password in a text in lower case, in order."""
    if not present(low, FOREIGN):
        return WORD.finditer(low)
    return sorted([*WORD.finditer(low), *FOREIGN_WORD.finditer(low)], key=lambda match: match.start())


def _in_columns(text: str, start: int, end: int) -> bool:
    """Whether the word at start..end may be the name of a column."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return (
        "," in before
        or after[:1] in (",", ")")
        or "\t" in before + after[:1]
        or after == "  "
        or (before == "  " and text[max(0, text.rfind("\n", 0, start)) : start].strip() != "")
        or ";" in before
    )


def _old_and_new_password(text: str, name_end: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The spans of the old and the new password of `password from ... to ...`, or None."""
    match = patterns.from_to.match(text, name_end)
    if match is None or not (_is_new(match.group("old")) and _is_new(match.group("new").rstrip(".,;:)"))):
        return None
    start, end = match.span("new")
    return match.span("old"), (start, end - len(match.group("new")) + len(match.group("new").rstrip(".,;:)")))


def _span_after_its(text: str, name_end: int) -> Iterator[tuple[int, int]]:
    """The span of the password in a sentence like `the password over chat, it's ...`; `name_end`: the end of its word."""
    match = patterns.told_its.match(text, name_end)
    if match is not None:
        start, value = match.start("value"), match.group("value").rstrip(".,;:)\"'`")
        if looks_chosen(value, True) or is_joined(value, 2):
            yield start, start + len(value)


def _password_spans_near(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of values that look like a password (a symbol among letters and digits) on the line of the word at
    start..end."""
    first = max(text.rfind("\n", max(0, start - _NEAR_BEFORE), start) + 1, start - _NEAR_BEFORE, 0)
    last = text.find("\n", end, end + _NEAR_BEHIND)
    if last < 0:
        last = end + _NEAR_BEHIND
    single = text.count("*", first, last) == 1  # no emphasis
    for match in patterns.shaped_value.finditer(text, first, last):
        value = match.group().rstrip(".,;:)\"'`")
        if start < match.end() and match.start() < end:
            continue
        chosen = looks_chosen(value, True, starred=single) or (is_coined(value) and is_odd(value[:-1]))
        if chosen and patterns.password_symbol.search(value) and not patterns.pointer.search(value):
            yield match.start(), match.start() + len(value)


def _is_new(value: str) -> bool:
    """Whether a value is a password, in a sentence about changing one."""
    return is_joined(value, 2) or is_coined(value) or (not value.isdigit() and is_chosen(value, "", 1, False))


def _words_at(text: str, low: str, match: re.Match[str], name_end: int) -> tuple[int, int] | None:
    """The span of a passphrase of several words, of a password with CJK letters, or of the answer to a question
    for one, behind a word for a password; or None."""
    return (
        passphrases.phrase_at(text, low, match.start(), name_end)
        or passphrases.mixed_at(text, name_end)
        or passphrases.answer_at(text, low, match.start(), name_end)
    )


def _behind(text: str, low: str, match: re.Match[str], join: re.Match[str]) -> tuple[int, int, bool]:
    """(start, end, whether it is a password) of the value that is joined to a word for a password."""
    word, op = match.group(), join.group("op")
    start, limit = join.span("value")
    if limit - start < _MIN_BARE_CHARACTERS and not join.group("quote"):
        return start, start, False
    quote = join.group("quote").rstrip("*") or join.group("quote")
    end, closed = end_of(text, start, limit, quote)
    if quote and not closed and quote[-1] != "(":
        end, closed = _quoted(text, start, end, quote[-1], patterns.phrase_word.search(word) is not None)
    value = text[start:end]
    strength = min(2, _strength(op) + closed)
    if value.startswith((").", ")->", "))")):
        return start, start, False  # what a program does with the string before: `update('PASSWORD').digest('hex')`
    if join.group("mark").endswith("`") and op.strip().startswith(","):
        return start, start, False  # the next code span of a list: "`app.password`, `app.webhookPath`"
    if (op.strip() in ("==", "!=", "===", "!==") and not closed) or (closed and text[end + 1 : end + 2] == ":"):
        return start, start, False
    if " " in value and strength == 2 and closed and _is_spaced(value):
        return start, end, True
    if " " in value:  # a passphrase between quotes
        if strength == 2 and patterns.openpgp_user_id.search(value) is None:
            return start, end, True
        return start, start, False
    user, slash, second = value.partition("/")
    if slash and user and patterns.id_and_password_before.search(low, max(0, match.start() - 12), match.start()):
        start, value, strength = start + len(user) + 1, second, 2  # `id/pw: master/...`
    if word == "pin" and not patterns.pin.fullmatch(value):
        return start, start, False  # a thing that is pinned: a version, a commit, a column
    if word == "pass" and (
        op.strip() in ("(", "|") or patterns.verdict_before.search(low, max(0, match.start() - 16), match.start())
    ):
        return start, start, False  # what a test did: `--- PASS: TestLogin`, `PASS (REQ-7)`, `all tests pass: ...`
    if word == "pass" and not patterns.assigning_sign.search(op) and text[match.start() - 1 : match.start()] != "_":
        is_sentence = patterns.determiner_before.search(
            low, max(0, match.start() - 8), match.start()
        ) and op.strip() in ("is", "was", "to")
        # a verb: `pass it to ...`
        strength = 0
        if is_sentence:
            strength = 1
    if closed and quote == "'" and text[match.start() : match.end()] == "PASSWORD":
        strength = 2  # SQL: `ALTER ROLE app PASSWORD '...'`
    known = (
        word in ("pin", "pass")
        and patterns.password_named_before.search(low, max(0, match.start() - _NAMED_WITHIN), match.start()) is not None
    )
    weak = strength == 0 and not known and (word in _SHORT_WORDS or op.strip()[:1] in tuple("(/|–-") or "(" in op)
    if is_joined(value, strength) and (not weak or word == "pw"):
        return start, end, True
    if word in ("pw", "psk") and (is_coined(value) or (word == "psk" and is_diceware(value, 3))):
        return start, end, True
    if weak:
        return start, end, looks_chosen(value, True)
    return start, end, is_chosen(value, text[end : end + 14], strength, closed)


def _is_spaced(value: str) -> bool:
    """Whether a value between quotation marks is a password of two to four words with a number and a sign."""
    return (
        1 <= value.count(" ") <= 3
        and len(value) <= 40
        and patterns.spaced_password.fullmatch(value) is not None
        and classes(value) >= 3
        and not is_told(re.sub(r"[^A-Za-z]+", " ", value))
        and not is_placeholder(value)
    )


def _quoted(text: str, start: int, end: int, quote: str, is_phrase: bool) -> tuple[int, bool]:
    """The end of a value whose closing quote stands further on, and whether it is there.

    A value with spaces counts only if it is a passphrase of three words or looks like a spaced password.
    """
    close = text.find(CLOSE.get(quote, quote), start, start + 200)
    inside = "\n"
    if close > 0:
        inside = text[start:close]
    if "\n" in inside or (" " in inside and not (is_phrase and inside.count(" ") >= 2) and not _is_spaced(inside)):
        return end, False
    return close, True


def _matches(text: str) -> Iterator[tuple[str, int, int]]:
    low = candidates(text).low
    taken = Spans()
    finds = chain(
        password_pairs.addresses(text, low),
        _named(text, low),
        password_pairs.pairs(text, low),
        password_tables.cells(text),
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


_MESSAGES = {
    "password-note": "a password or PIN stands next to a word for it",
    "user-password-pair": "a user name and a password stand side by side",
    "password-in-table": "a cell of this table reads as a password",
    "credentials-in-address": "an address carries a password",
    "password-on-command-line": "a command carries a password",
}


def detect(text: Text) -> Iterator[Match]:
    """Every password of a text: in the raw text, and in the readings of `readings.of_passwords` where they differ
    from it.

    Of two finds that overlap the longer one counts.
    """
    for rule, start, end in readings.rules_in_all(_matches, text, readings.of_passwords(text)):
        yield _match(rule, start, end, text.raw[start:end])


def _match(rule: str, start: int, end: int, value: str) -> Match:
    severity = Severity.BLOCK
    if is_sample(value):
        severity = Severity.WARN
    return Match(rule, severity, start, end, _MESSAGES[rule], secret=True, mask=MASK)


def __getattr__(name: str) -> dict[str, Examples]:
    if name == "EXAMPLES":
        from gitmem.gate.detectors.secrets.examples import password_examples

        return password_examples()
    raise AttributeError(name)
