"""Judges whether a value is a password that a person chose, by its characters and by how it was introduced.

Pure functions of one value. `passwords.py` reads the words around a value; `password_pairs.py` and
`password_tables.py` read pairs, tables and command lines.
"""

from __future__ import annotations

import re

from gitmem.gate.detectors.joined_words import is_coined, is_diceware
from gitmem.gate.detectors.secrets.placeholders import is_code, is_digest, is_placeholder, is_tangled, is_uuid, is_words
from gitmem.gate.detectors.secrets.rule_tables import label_pattern, patterns, word_list
from gitmem.lazy_patterns import lazy

MAX_PASSWORD_CHARACTERS = 80
WORD = lazy(label_pattern("password"))
# In other languages: looked for apart, where one of `FOREIGN` stands, since they would slow `WORD` down.
FOREIGN = word_list("rare password word")
FOREIGN_WORD = lazy("|".join([f"{word}l? " if word.endswith("de") else word for word in FOREIGN]))
CLOSE = {"「": "」", "『": "』", "“": "”", "‘": "’", "(": ")"}
_WEAK = frozenset(word_list("weak password"))


# What the passwords of manuals are made of: one of these and up to three digits.
_SAMPLES = frozenset(word_list("sample password"))
_LEET = str.maketrans("@$0134", "asoiea")
_BEHIND = "!@#-_0123456789"


def is_sample(value: str) -> bool:
    """Whether a value is a password as manuals show them: `secret2`, `p@ssw0rd`, `my-password`.

    People use such passwords too, so the gate warns about them.
    """
    stem = value.rstrip("0123456789")
    known = len(value) - len(stem) <= 3 and stem.lower().translate(_LEET) in _SAMPLES
    if value.islower() and (known or patterns.sample_name.fullmatch(value)):
        return True
    letters = value.rstrip(_BEHIND)
    behind = value[len(letters) :]
    plain = letters.translate(_LEET) + behind
    return (
        patterns.spoken_password.fullmatch(plain) is not None or patterns.counting_password.fullmatch(plain) is not None
    )


def is_no_value(value: str) -> bool:
    """Whether a value in the place of a password is something else: a type, an option, a link, an algorithm, a
    program."""
    return patterns.other_value.search(value) is not None or patterns.algorithm.match(value) is not None


def classes(value: str) -> int:
    """How many of the four classes lower case, upper case, digits and symbols a value holds."""
    return (
        (value.upper() != value)
        + (value.lower() != value)
        + any(map(str.isdigit, value))
        + bool(patterns.password_symbol.search(value))
    )


def is_server_user(name: str) -> bool:
    """Whether a name is a user that servers have: `root`, `deploy`, `svc-mail`."""
    return patterns.server_user.fullmatch(name) is not None


def looks_chosen(value: str, known: bool, *, starred: bool = False) -> bool:
    """Whether a value looks like a password without any word for one beside it.

    `known`: whether a user name or a word for logging in stands there. Without one all four classes of characters are
    needed, and a reference (`repo#12`, `tool@v3`, `#0B0A10`) is not a password. `starred`: whether a `*` at the end
    belongs to the value instead of being emphasis.
    """
    if not 6 <= len(value) <= 40 or not patterns.digit.search(value) or value.isdigit():
        return False
    if value[0] in "#~.-" or (value.endswith("*") and not starred) or patterns.not_in_password.search(value):
        return False
    if (
        is_placeholder(value)
        or not any(map(str.isalpha, value))
        or patterns.pinned_action.match(value)
        or patterns.page_anchor.fullmatch(value)
    ):
        return False
    kinds = classes(value)
    if not patterns.password_symbol.search(value, 1):  # `IhqSb1Gg`: only where a login is spoken of
        mixed = kinds == 3 and value.isalnum() and len(value) >= 8
        odd = not is_words(value) or patterns.swapped_letter.search(value) is not None
        return known and mixed and len(patterns.letter_meets_digit.findall(value)) >= 2 and odd
    if known:
        return kinds >= 3
    return kinds == 4 and patterns.issue_or_tag.search(value) is None


def end_of(text: str, start: int, limit: int, quote: str) -> tuple[int, bool]:
    """(end of the value, whether its closing quotation mark was there); `quote`: the opening marks, "" for none."""
    if quote:
        close = CLOSE.get(quote[-1], quote[-1])
        end = text.find(close, start, min(len(text), limit + 1))
        if end >= 0 and close != ")":
            return end, True
    elif is_tangled(text[start:limit]):
        return start + len(text[start:limit].rstrip("\"'`;,")), True
    stop = patterns.password_end.search(text, start, limit)
    if stop:
        end = stop.start()
    else:
        end = limit
    while (end - start > 1 and text[end - 1] in ".,:)(") or (end - start > 1 and text[end - 1] == "*" and "*" in quote):
        end -= 1
    return end, False


def is_chosen(value: str, after: str, strength: int, quoted: bool) -> bool:
    """Whether a value behind a word for a password is one.

    `after`: the text behind the value. `strength`: 2 for a value behind `=`, `:` or a CJK particle, 1 behind words, 0
    behind a space. `quoted`: whether quotation marks held the value.
    """
    if not 4 <= len(value) <= MAX_PASSWORD_CHARACTERS or is_placeholder(value) or is_digest(value):
        return False
    if is_no_value(value) or (patterns.path_of_words.fullmatch(value) and patterns.referred_to.match(after)):
        return False
    if patterns.date.match(value) or patterns.version_bound.search(value) or patterns.colour.match(value):
        return False
    if value.lower() in _WEAK:
        return strength > 0
    if patterns.number_password.match(value):
        return patterns.counted_unit.match(after) is None and (
            strength > 0 or (len(value) <= 8 and not patterns.year.match(value))
        )
    if (
        (quoted or patterns.line_ends.match(after))
        and (strength == 2 or (strength == 1 and "-" not in value))
        and is_coined(value)
    ):
        return True
    if strength == 0 and "-" not in value and any(map(str.isdigit, value)) and is_coined(value):
        return True
    if strength == 0 and patterns.swapped_word.fullmatch(value):
        return True
    if not quoted and (is_code(value) or re.search(r"^[\[{(]|\.(?:md|py|js|ts|txt|json|ya?ml|toml|com|io|go)$", value)):
        return False
    return _reads_so(value, strength, quoted)


def _reads_so(value: str, strength: int, quoted: bool) -> bool:
    """`is_chosen` for a value that is not a name, number, date or code: decides by its characters."""
    kinds = classes(value)
    has_digit = patterns.digit.search(value) is not None
    if not any(c.isalpha() for c in value):
        return strength == 2 and (has_digit or quoted) and len(value) >= 6
    if kinds >= 3 or (kinds == 2 and has_digit and strength > 0 and not (is_words(value) and "-" in value)):
        return len(value) >= (4 if strength else 6) and (
            strength > 0 or patterns.any_symbol.search(value) is not None or len(value) >= 8
        )
    if kinds == 2 and has_digit and value.isalnum() and 16 <= len(value) < 40 and not is_words(value):
        return True  # made by a machine
    if strength == 2 and (is_uuid(value) or is_diceware(value, 4)):
        return True
    if (
        strength == 2
        and kinds == 2
        and len(value) >= 12
        and len(patterns.cases_meet.findall(value)) >= 4
        and not is_words(value)
    ):
        return True  # base64 without a digit
    if strength == 2 and quoted and len(value) >= 6:
        mixed = value.isalpha() and len(value) >= 8 and not value[1:].islower() and not value.isupper()
        return patterns.any_symbol.search(value) is not None or not is_words(value) or mixed
    return strength == 2 and patterns.password_symbol.search(value[1:-1]) is not None
