"""Recognises values that look like a secret and are none: placeholders, references, identifiers, checksums, words.

Pure functions of one value, shared by the detectors of secrets. Each is linear in the length of the value; callers
cut values at MAX_PLACEHOLDER_CHARACTERS.
"""

from __future__ import annotations

from binascii import Error, a2b_base64
from functools import lru_cache
from itertools import pairwise
from math import log2
from operator import add
from string import ascii_lowercase

from gitmem.gate.detectors.secrets.rule_tables import patterns, word_list

MAX_PLACEHOLDER_CHARACTERS = 4096
_MAX_CACHED = 512  # answers remembered: several rules ask about one value

# One of them is in every match of `patterns.placeholder` in ASCII: substrings cost a tenth of the expression.
_SAMPLE_HINTS = word_list("placeholder hint")
_NOTHING = frozenset(word_list("no value"))
# Six of ten pairs of letters of a word are of these (97 in 100 words), of random letters three.
_PAIRS = frozenset(group[0] + second for group in word_list("letters that follow") for second in group[1:])


@lru_cache(maxsize=_MAX_CACHED)
def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits each; 0 for the empty string."""
    size = len(value)
    repeated = [count for count in map(value.count, set(value)) if count > 1]  # a single one adds n * log2(n) = 0
    if not size:
        return 0.0
    return log2(size) - sum([count * log2(count) for count in repeated]) / size


_LEET = str.maketrans("$@0134578", "saoieastb")
_MANUAL = frozenset(word_list("sample passphrase"))


@lru_cache(maxsize=_MAX_CACHED)
def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret that is elsewhere: `<token>`, `${VAR}`, `xxxx`, `changeme`, `EXAMPLE`."""
    bare = value.strip(" \t\"'`.+")
    if len(set(bare)) < 3:
        return True
    lower = bare.lower()
    if patterns.alphabet.search(lower):
        return True
    if lower in _NOTHING or lower.translate(_LEET) in _MANUAL:
        return True
    hinted = not bare.isascii() or any([hint in lower for hint in _SAMPLE_HINTS])
    return (hinted and patterns.placeholder.search(bare) is not None) or patterns.reference.match(bare) is not None


_STEPS = frozenset(
    [
        "9a",
        "90",
        "za",
        "z0",
        "f0",
        *("".join(pair) for row in ("0123456789", ascii_lowercase) for pair in pairwise(row)),
    ]
)


def is_published(value: str) -> bool:
    """Whether a value begins like something public: a public key, an address, a publishable key."""
    return patterns.published.match(value) is not None


def is_sequence(value: str) -> bool:
    """Whether a value counts upwards from end to end, behind a vendor's letters or not:
    `0123456789abcdef0123456789abcdef`."""
    row = patterns.named_sequence.sub("", "".join(patterns.letters_and_digits.findall(value.lower())))
    if len(row) < 12:
        return False
    steps = sum(map(_STEPS.__contains__, map(add, row, row[1:])))
    return steps * 10 >= 9 * (len(row) - 1)


@lru_cache(maxsize=_MAX_CACHED)
def is_code(value: str) -> bool:
    """Whether a bare value is an expression of a program, a path or an address instead of a literal."""
    if patterns.code.search(value) or patterns.path.match(value):
        return True
    if not patterns.dotted_name.match(value):
        return False  # `user.password` reads as names, the halves of `8f3K.x02q` do not
    return all(_is_name(part) for part in patterns.letters_and_digits.findall(value) if len(part) > 3)


def is_tangled(value: str) -> bool:
    """Whether a value has five kinds of symbol and brackets that do not match: a generated password, no
    expression."""
    if len(value) < 11 or len(set(patterns.odd_symbol.findall(value))) < 5 or sum(map(str.isalpha, value)) < 6:
        return False
    if patterns.call.match(value) or patterns.link_or_pattern.search(value):
        return False
    if len(patterns.letter_digit_border.findall(value)) >= 6 and not patterns.expression.search(value):
        return True
    open_ones: list[str] = []
    for char in value:
        if char in "([{":
            open_ones.append(char)
        elif char in ")]}" and (not open_ones or open_ones.pop() + char not in ("()", "[]", "{}")):
            return True
    return bool(open_ones)


def is_pattern(value: str) -> bool:
    """Whether a value is a regular expression that finds secrets: `sk-[A-Za-z0-9]{20,}`."""
    return patterns.regular_expression.search(value) is not None


def is_class_name(value: str) -> bool:
    """Whether a value is the name of a type with a long English word in it: `McpUiResourceCsp`."""
    return patterns.humps.fullmatch(value) is not None and any(
        [len(hump) >= 6 and _reads(hump.lower()) for hump in patterns.hump.findall(value)]
    )


def is_uuid(value: str) -> bool:
    """Whether a value is a UUID, in its usual notation."""
    return patterns.uuid.match(value) is not None


def is_digest(value: str) -> bool:
    """Whether a value names the algorithm of a checksum: `sha256:...`, `h1:...`."""
    return patterns.digest.match(value) is not None


@lru_cache(maxsize=_MAX_CACHED)
def is_words(value: str) -> bool:
    """Whether a value reads as words and small numbers joined: `create_token_counter`, `test-token-6`, `utf8`.

    A part is a word when most pairs of its letters follow each other as in English; it may hold one group of digits.
    A value with more than a fifth of digits is none.
    """
    chunks = patterns.letters_and_digits.findall(value)
    if not chunks or sum(map(str.isdigit, value)) * 5 > len(value) + 5:
        return False
    odd = sum([not _is_name(chunk) for chunk in chunks])
    return odd * 3 <= len(chunks)


def _is_name(chunk: str) -> bool:
    numbers = patterns.number.findall(chunk)
    if (
        len(numbers) > 1 + len(chunk) // 24
        or any(len(n) > 4 for n in numbers)
        or (chunk[0].isdigit() and len(chunk) > 4)
    ):
        return False
    words = patterns.word_part.findall(chunk)
    odd = sum([len(word) for word in words if not _reads(word.lower())])
    letters = sum(map(len, words))
    if len(chunk) >= 20 and 2 * sum([len(word) for word in words if len(word) >= 4 and _reads(word.lower())]) < letters:
        return False  # long names have long words
    return odd * 3 <= letters and len(chunk) >= 3 * len(words)


# Words of the trade that are not spelt like English.
_TRADE = frozenset(word_list("trade"))


@lru_cache(maxsize=_MAX_CACHED)
def _reads(word: str) -> bool:
    if word in _TRADE:
        return True
    if len(word) < 5:
        return len(word) < 3 or patterns.vowel.search(word) is not None
    return sum(map(_PAIRS.__contains__, map(add, word, word[1:]))) * 5 >= 3 * (len(word) - 1)


@lru_cache(maxsize=_MAX_CACHED)
def is_readable_base64(value: str) -> bool:
    """Whether a value is base64 of ordinary text, which the detector of encoded text reads."""
    if len(value) < 16:
        return False
    body = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        plain = a2b_base64(body + "=" * (-len(body) % 4)).decode("utf-8")
    except (Error, ValueError):
        return False
    return plain.isprintable() or sum([c.isprintable() or c in "\n\t" for c in plain]) > 0.95 * len(plain)


def is_varied(value: str) -> bool:
    """Whether a value has as many different characters as a random one of its length."""
    distinct = len(set(value))
    if distinct < min(6, 1 + len(value) // 4):
        return False
    return distinct > len(value) - 5 or not patterns.repeated.search(value)  # a run of six leaves no more distinct ones
