"""Decides whether a candidate is a secret, by its features and by the place where it stands.

The finders (`assignments.py`, `passwords.py` and the others) read the text and make a `Candidate` of each value;
`is_secret` has one test for each kind of place, `severity` says whether a rule blocks, `REASONS` what the rules have
found. Nothing here searches in a text.
"""

from __future__ import annotations

import string
from base64 import b64decode
from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.joined_words import is_coined, is_diceware, is_joined, is_numbered, is_odd, is_place, is_told
from gitmem.gate.detectors.secrets.features import (
    IDS,
    PRINTED_RULES,
    SHORT_START,
    classes,
    entropy,
    is_class_name,
    is_code,
    is_placeholder,
    is_printed,
    is_readable_base64,
    is_sample,
    is_tangled,
    is_uuid,
    is_varied,
    is_words,
    kind_of,
)
from gitmem.gate.detectors.secrets.rule_tables import patterns, word_list

MAX_PASSWORD_CHARACTERS = 80
_WEAK = frozenset(word_list("weak password"))
_SHIPPED = frozenset(word_list("shipped password"))
_SAMPLE_LOGINS = frozenset(word_list("sample login"))
_NO_OPTION_VALUE = frozenset(word_list("no option value"))
# Passwords of public archives, and what stands before them in an address of CVS.
_FOR_ALL = frozenset(["anonymous", "anoncvs", "anonsvn", "anon", "guest", "pserver", "ext", ""])
# A letter of ASCII is `a`, a digit `1`, all else itself.
_KINDS = str.maketrans({**dict.fromkeys(string.ascii_letters, "a"), **dict.fromkeys(string.digits, "1")})


class Place(Enum):
    """The kinds of place where a value can stand."""

    SENTENCE = auto()  # joined to a word for a password
    LOOK = auto()  # near a word for a password or a user, by its look alone
    ITS = auto()  # `the password over chat, it's ...`
    NEAR = auto()  # anywhere on the line of a word for a password
    CHANGE = auto()  # old or new, in a sentence about changing a password
    QUESTION = auto()  # the answer to a question for a password; `known`: the question has its mark
    PAIR = auto()  # `user/value`
    HOST_PAIR = auto()  # `user/value` after an IP address
    LOGIN = auto()  # beside a user, on a line about logging in
    ADDRESS = auto()  # `scheme://user:value@host`
    COMMAND = auto()
    OPTION = auto()  # an option behind that for the user, or beside the user of a setting
    CONNECTION = auto()  # a connection string
    PASSWORD_FILE = auto()  # a row of .pgpass
    CELL = auto()  # in a column or beside a label for passwords
    ROW = auto()  # in a row of a table beside a user
    ASSIGNMENT = auto()
    SERVICE = auto()  # behind the name of a service alone
    GLUED = auto()  # joined to an upper-case word for a secret by `_`
    LINE = auto()  # on a line, or below a heading, about secrets
    TOKEN = auto()  # behind the beginning of a vendor's token
    SHAPE = auto()  # in a form of `shapes.txt`
    SESSION = auto()  # behind the name of a cookie
    HEADER = auto()  # in a header that carries a credential


class Candidate(NamedTuple):
    """A value that may be a secret: `text[start:end]`, and what stands around it.

    `label`: the word, the name, the user or the beginning beside it. `join`: the sign, the scheme or the words that
    join both. `words`: the words between them. `after`: the text behind the value. `quote`: the opening quotation
    marks, "" for none; `closed`: whether the closing one stands behind it. `strength`: 2 behind `=`, `:` or a CJK
    particle, 1 behind words, 0 behind a blank. `weak`: whether prose joins things like this too, or a
    form (SHAPE) is no proof alone. `known`: whether a user or a word for logging in stands beside it. `starred`: whether
    a `*` at the end belongs to the value instead of being emphasis.
    """

    place: Place
    text: str
    start: int
    end: int
    label: str = ""
    join: str = ""
    words: str = ""
    after: str = ""
    quote: str = ""
    closed: bool = False
    strength: int = 0
    weak: bool = False
    known: bool = False
    starred: bool = False

    @property
    def value(self) -> str:
        return self.text[self.start : self.end]


def is_secret(candidate: Candidate) -> bool:
    """Whether the value of a candidate is a secret, by the test for its place."""
    return _TESTS[candidate.place](candidate, candidate.value)


# The reason of each rule whose severity and words do not come from `tokens.txt` and `shapes.txt`.
REASONS = {
    "password-note": "a password or PIN stands next to a word for it",
    "user-password-pair": "a user name and a password stand side by side",
    "password-in-table": "a cell of this table reads as a password",
    "credentials-in-address": "an address carries a password",
    "password-on-command-line": "a command carries a password",
    "session-cookie": "the cookie of a live session",
    "authorization-header": "a header that carries a credential",
    "assigned-secret": "a random value where a key or token is named",
    "vendor-secret": "a random value behind the name of a vendor",
    "handled-secret": "a long random value in a line about a secret",
}


def severity(rule: str, text: str, start: int, end: int) -> Severity:
    """The severity of a secret that a rule has found at start..end: WARN for a password as manuals show them
    (`is_sample`), since people use them too, and for Korean nouns without quotation marks, which often say where the
    password is; BLOCK for any other."""
    if rule in _OF_PASSWORDS and is_sample(text[start:end]):
        return Severity.WARN
    if patterns.hangul_words.fullmatch(text, start, end) and patterns.korean_words_before.search(
        text, max(0, start - _JOIN), start
    ):
        return Severity.WARN
    return Severity.BLOCK


_OF_PASSWORDS = tuple(REASONS)[:5]
_JOIN = 16  # characters before a value in which stands what joins it to the word for a password


# -- passwords, which people choose ------------------------------------------------------------------------------


def _in_sentence(candidate: Candidate, value: str) -> bool:
    """Place.SENTENCE: a value with a blank always is a password, others by their look and by what joins them to the
    word."""
    label, strength = candidate.label, candidate.strength
    if " " in value:
        return True  # a passphrase between quotation marks
    if is_joined(value, strength) and (not candidate.weak or label == "pw"):
        return True
    if label in ("pw", "psk") and (is_coined(value) or (label == "psk" and is_diceware(value, 3))):
        return True
    if candidate.weak:
        return looks_chosen(value, True)
    return is_chosen(value, candidate.after, strength, candidate.closed)


def _near_word(candidate: Candidate, value: str) -> bool:
    """Place.NEAR: only a value that looks chosen, with a symbol of passwords, that is no reference."""
    chosen = looks_chosen(value, True, starred=candidate.starred) or (is_coined(value) and is_odd(value[:-1]))
    return chosen and patterns.password_symbol.search(value) is not None and not patterns.pointer.search(value)


def _is_changed(candidate: Candidate, value: str) -> bool:
    return is_joined(value, 2) or is_coined(value) or (not value.isdigit() and is_chosen(value, "", 1, False))


def _is_answer(candidate: Candidate, value: str) -> bool:
    """Place.QUESTION: a value that looks chosen; a weaker one needs the question mark or three classes of
    characters."""
    if looks_chosen(value, True) or is_joined(value, 2) or (is_coined(value) and is_odd(value)):
        return True
    if not is_chosen(value, "", 1, False):
        return False
    prompted = candidate.label != "" and value.isalnum() and is_words(value)
    return candidate.known or (classes(value) >= 3 and not prompted)


def _in_pair(candidate: Candidate, value: str) -> bool:
    """Place.PAIR: looks chosen, or is a joined value beside a known login. Names of pages are not passwords."""
    joined = candidate.join == " " and (is_joined(value, 2) or patterns.camel_password.fullmatch(value) is not None)
    if (joined and patterns.login_word.search(candidate.label.lower())) or patterns.memory_link.fullmatch(value):
        return False  # `Login / SignUp2`: both are names of pages
    return (joined and candidate.known) or looks_chosen(value, candidate.known, starred=candidate.starred)


def _beside_host(candidate: Candidate, value: str) -> bool:
    return len(value) >= 6 and classes(value) >= 3 and not is_placeholder(value) and not set("/.") & set(value)


def _in_login(candidate: Candidate, value: str) -> bool:
    """Place.LOGIN: beside an address of mail or a server's user a joined, numbered or coined value; beside another user
    only behind ` / `."""
    user = candidate.label
    if patterns.login_word.search(user.lower()):
        return False
    if "@" in user or kind_of(user, "server_user"):
        named = is_coined(value) and patterns.two_names.match(value) is not None
        return is_joined(value, 2) or is_numbered(value) or named
    return candidate.join == " / " and (is_joined(value, 2) or (is_coined(value) and is_odd(value)))


def _in_address(candidate: Candidate, value: str) -> bool:
    """Place.ADDRESS: any value of three characters (four for HTTP) except placeholders, shipped defaults, passwords of
    public archives and one repeated character."""
    least = 3
    if candidate.join.lower().startswith("http"):
        least = 4  # `https://u:pwd@` is an example of manuals
    low = value.lower()
    if (low in _SHIPPED and value == candidate.label) or _FOR_ALL.issuperset(low.split(":")):
        return False  # the same word twice, as servers are shipped; what is open to all
    if kind_of(value, "shown_password", "placeholder", "no_address_password"):
        return False
    if value == candidate.label and patterns.local_host.match(candidate.after):
        return False  # `postgres://shop:shop@localhost`: the name twice, on one's own machine or one to be filled in
    return len(value) >= least and len(set(value)) > 1


def _on_command_line(candidate: Candidate, value: str) -> bool:
    """Place.COMMAND: any value of three characters except placeholders, variables, paths, code and plain lower-case
    words."""
    if len(value) < 3 or kind_of(value, "placeholder", "option_or_port", "password_variable"):
        return False
    if value.lower() in _NO_OPTION_VALUE or is_place(value) or _is_sample_login(candidate, value):
        return False
    if not candidate.closed and is_code(value) and not is_coined(value):
        return False
    bare = not candidate.closed and candidate.text[candidate.start - 1] not in "=:p"
    if bare and value.isalpha() and value.islower():
        return False
    return " " not in value or (candidate.quote != "`" and not is_told(value))


def _beside_user(candidate: Candidate, value: str) -> bool:
    """Place.OPTION: a value that looks chosen or is joined words and a number: such options are also ports and names."""
    if looks_chosen(value, True) or is_joined(value, 2) or is_numbered(value):
        return True
    return patterns.camel_password.fullmatch(value) is not None


def _is_sample_login(candidate: Candidate, value: str) -> bool:
    """Whether `user/value` is the login of a sample schema, as manuals have it."""
    if candidate.text[candidate.start - 1] != "/":
        return False
    user = patterns.word_end.search(candidate.text[max(0, candidate.start - 32) : candidate.start - 1])
    return user is not None and f"{user.group()}/{value.partition('@')[0]}".lower() in _SAMPLE_LOGINS


def _in_connection(candidate: Candidate, value: str) -> bool:
    return not is_placeholder(value) and (looks_chosen(value, True) or (classes(value) >= 3 and len(value) >= 8))


def _in_password_file(candidate: Candidate, value: str) -> bool:
    """Place.PASSWORD_FILE: two classes of characters, no placeholder, no wildcard host."""
    if is_placeholder(value) or classes(value) < 2:
        return False
    return not patterns.any_host.match(value) and not patterns.ipv6.match(candidate.label)


def _in_cell(candidate: Candidate, value: str) -> bool:
    """Place.CELL: 4 to 64 ASCII characters without a blank that are no placeholder, no name of an algorithm and no
    other value usual in tables: only digits, three classes of characters, a coined value without `-`, or two classes
    with a digit that form no words."""
    if not 4 <= len(value) <= 64 or " " in value or not value.isascii() or is_placeholder(value.rstrip("*?")):
        return False
    if kind_of(value, "other_value", "algorithm"):
        return False
    kinds = classes(value)
    if value.isdigit() or kinds >= 3 or (is_coined(value) and "-" not in value):
        return True
    return kinds == 2 and patterns.digit.search(value) is not None and not is_words(value)


def _in_row(candidate: Candidate, value: str) -> bool:
    """Place.ROW: an ASCII value without a blank that looks chosen and is no path."""
    if " " in value or value.startswith(("/", "`/")) or not value.isascii():
        return False
    return not kind_of(value, "other_value", "algorithm") and looks_chosen(value, candidate.known)


def looks_chosen(value: str, known: bool, *, starred: bool = False) -> bool:
    """Whether a value looks like a password without any word for one beside it: 6 to 40 characters, one a digit.

    `known`: whether a user name or a word for logging in stands there; three classes of characters are enough then.
    Without one all four are needed, and a reference (`repo#12`, `tool@v3`) is not a password. `starred`: whether a `*`
    at the end belongs to the value instead of being emphasis; if not, a value that ends with `*` is not a password.
    """
    if not 6 <= len(value) <= 40 or not patterns.digit.search(value) or value.isdigit():
        return False
    if value[0] in "#~.-" or (value.endswith("*") and not starred) or patterns.not_in_password.search(value):
        return False
    if kind_of(value, "placeholder", "pinned_action", "page_anchor") or not any(map(str.isalpha, value)):
        return False
    kinds = classes(value)
    if not patterns.password_symbol.search(value, 1):  # `IhqSb1Gg`: only where a login is spoken of
        mixed = kinds == 3 and value.isalnum() and len(value) >= 8
        odd = not is_words(value) or patterns.swapped_letter.search(value) is not None
        return known and mixed and len(patterns.letter_meets_digit.findall(value)) >= 2 and odd
    if known:
        return kinds >= 3
    return kinds == 4 and patterns.issue_or_tag.search(value) is None


def is_chosen(value: str, after: str, strength: int, quoted: bool) -> bool:
    """Whether a value behind a word for a password is one.

    `after`: the text behind the value. `strength`: 2 for a value behind `=`, `:` or a CJK particle, 1 behind words, 0
    behind a space. `quoted`: whether quotation marks held the value.
    """
    if not 4 <= len(value) <= MAX_PASSWORD_CHARACTERS or kind_of(value, *_NEVER_CHOSEN):
        return False
    if patterns.path_of_words.fullmatch(value) and patterns.referred_to.match(after):
        return False
    if value.lower() in _WEAK:
        return strength > 0
    if patterns.number_password.match(value):
        return patterns.counted_unit.match(after) is None and (
            strength > 0 or (len(value) <= 8 and not patterns.year.match(value))
        )
    if strength == 0:
        coined = "-" not in value and any(map(str.isdigit, value))
    else:
        coined = (quoted or patterns.line_ends.match(after) is not None) and (strength == 2 or "-" not in value)
    if (coined and is_coined(value)) or (strength == 0 and patterns.swapped_word.fullmatch(value)):
        return True
    if not quoted and kind_of(value, "code", "file_or_bracket"):
        return False
    return _reads_so(value, strength, quoted)


_NEVER_CHOSEN = ("placeholder", "digest", "other_value", "algorithm", "date", "version_bound", "colour")


def _reads_so(value: str, strength: int, quoted: bool) -> bool:
    """`is_chosen` for a value that is not a name, number, date or code: decides by its characters. `strength`,
    `quoted`: as in `is_chosen`."""
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
    if (strength == 2 and is_uuid(value)) or (strength > 0 and is_diceware(value, 4)):
        return True
    mixed = kinds == 2 and len(value) >= 12 and len(patterns.cases_meet.findall(value)) >= 4
    if strength == 2 and mixed and not is_words(value):
        return True  # base64 without a digit
    if strength == 2 and quoted and len(value) >= 6:
        mixed = value.isalpha() and len(value) >= 8 and not value[1:].islower() and not value.isupper()
        return patterns.any_symbol.search(value) is not None or not is_words(value) or mixed
    return strength == 2 and patterns.password_symbol.search(value[1:-1]) is not None


# -- secrets, which machines make ---------------------------------------------------------------------------------


def _borders(value: str) -> int:
    """How often letters and digits meet in a value."""
    kinds = value.translate(_KINDS)
    return kinds.count("a1") + kinds.count("1a")


def is_random(value: str, least: int, borders: int = 2) -> bool:
    """Whether a value of at least `least` characters looks made by a machine.

    `borders`: in a value of 16 characters or more that has a digit, how often letters and digits must meet at least;
    names have few such places, random values many.
    """
    size = len(value)
    if size < least or not is_varied(value) or kind_of(value, "regular_expression"):
        return False
    if not value.isalnum() and len(set(patterns.odd_symbol.findall(value))) >= 5 and sum(map(str.isalpha, value)) >= 6:
        return True
    kinds = value.translate(_KINDS)
    if "a" not in kinds or is_words(value) or is_code(value):
        return False
    digits = kinds.count("1")
    if digits == 0:
        return size >= 16 and value.isalnum() and entropy(value) > 3.0 and not is_class_name(value)
    meet = _borders(value)
    if size < 16:
        return meet >= 3 or (meet >= 2 and digits >= 3) or (meet > 0 and patterns.odd_symbol.search(value) is not None)
    return meet >= borders and entropy(value) > 2.9


def _is_assigned(candidate: Candidate, value: str) -> bool:
    """Place.ASSIGNMENT: a random value, of 10 to 20 characters at least: the weaker the sign and the words before it,
    the longer. Ids, digests and placeholders are not secrets, a UUID is one by its name."""
    name, op, words, quote = candidate.label, candidate.join, candidate.words, candidate.quote
    if value == "" or kind_of(value, "stub", *_NEVER_ASSIGNED) or (not quote and kind_of(value, "token_variable")):
        return False
    if kind_of(value, "object_id") and not patterns.key_name.search(name):
        return False
    if kind_of(value, "openpgp_fingerprint") and not patterns.secret_name.search(name):
        return False
    tagged = patterns.tagged_digest.match(value)
    if tagged and is_words(tagged.group(1)):
        return False
    if words.count(" ") >= 3:  # a sentence, no assignment: it may name what the value is
        if kind_of(words, "digest_word", "public_name", "data_name", "about_something"):
            return False
        return not is_uuid(value) and is_random(value, 20) and not is_words(value)
    if not quote and is_code(value) and len(set(patterns.odd_symbol.findall(value))) < 5:
        return False
    if kind_of(value, "embedded_id") or (is_words(patterns.version_behind.sub("", value)) and not is_tangled(value)):
        return False
    strong = (
        quote != "" or patterns.strong_sign.search(op) is not None or patterns.strong_words.search(words) is not None
    )
    if is_uuid(value):
        return _is_assigned_uuid(name, op.strip(), strong)
    if quote or "=" in op or ":" in op:
        return is_random(value, 10, 1)
    if strong:
        return is_random(value, 12, 1)
    if patterns.list_sign.search(op):
        return is_random(value, 16)
    if kind_of(value, "hexadecimal") and len(value) in (40, 64) and not kind_of(name, "secret_word", "cjk_key_name"):
        return False
    loud = kind_of(name, "loud_name", "cjk_key_name") != ""
    return is_random(value, 16) and (loud or len(patterns.digit.findall(value)) >= 3)


# What is no secret, whatever its name says.
_NEVER_ASSIGNED = (
    "placeholder", "digest", "readable_base64", "published", "sequence", "addressed", "worded_path", *IDS, "named_path",
    "model_name", "error_code", "cut_id", "closing_tag",
)  # fmt: skip


def _is_assigned_uuid(name: str, sign: str, strong: bool) -> bool:
    """Whether a UUID is a secret, by its `name`: most UUIDs are ids. `sign`: what joins the name to it. `strong`:
    whether the sign, the words or quotation marks assign it clearly."""
    if patterns.once_token_name.search(name):
        return False
    named = kind_of(name, "key_name", "upper_secret_name") != ""
    if strong or sign in ("", "("):
        return named
    return sign in ("-", "|", "「", "『", "“") and (named or patterns.loud_name.search(name) is not None)


def _behind_service(candidate: Candidate, value: str) -> bool:
    """Place.SERVICE: a random value of 20 characters (16 behind `=` or `:`) with three digits, unless the words between
    say that it is public or an id."""
    between = candidate.words
    if len(value) < 16 or not patterns.key_letters.fullmatch(value):
        return False
    if kind_of(between, "public_name", "data_name", "digest_word", "identifier_word"):
        return False
    if patterns.other_field_name.search(between.rstrip(" :=\"'`")) or kind_of(value, *_NEVER_OF_A_SERVICE):
        return False
    if is_uuid(value) and not patterns.called_secret.search(between):
        return False
    least = 20
    if "=" in candidate.join or ":" in candidate.join:
        least = 16
    return is_random(value, least) and len(patterns.digit.findall(value)) >= 3


_NEVER_OF_A_SERVICE = (
    "model_name", "weights_file", *IDS, "digest", "placeholder", "code", "readable_base64", "sequence", "addressed",
    "release_file", "feishu_id", "host_and_path",
)  # fmt: skip


def _behind_beginning(candidate: Candidate, value: str) -> bool:
    """Whether the variable part of a token looks random: no placeholder, no words, no repetition."""
    start = candidate.label
    body = value[len(start) :]
    if not body:
        return True
    if start == "AGE-SECRET-KEY-1":
        return set(body.upper()) != {"X"}
    if is_placeholder(body) or not is_varied(body) or (len(start) <= SHORT_START and is_words(body)):
        return False
    if len(body) < 20:
        return entropy(body) >= 2.0
    return entropy(body) >= 2.6


def _has_shape(candidate: Candidate, value: str) -> bool:
    """Place.SHAPE: the form alone decides, except for placeholders in weak forms, values printed in manuals, and an
    unsigned token that ends in readable base64."""
    rule = candidate.label
    if candidate.weak and (is_placeholder(value) or not is_varied(value) or entropy(value) <= 2.6):
        return False
    if rule in PRINTED_RULES and is_printed(rule, value, candidate.words):
        return False
    return rule != "jwt-unsigned" or not is_readable_base64(value.split(".")[-1])


def _in_line(candidate: Candidate, value: str) -> bool:
    """Place.LINE: a random value of 24 characters with five borders between letters and digits; no hexadecimal, id,
    digest or code."""
    if kind_of(value.removeprefix("0x"), "hexadecimal") or not patterns.long_chunk.search(value) or _borders(value) < 5:
        return False
    if kind_of(value, "uuid", "digest", "published", *IDS, "placeholder") or not is_random(value, 24):
        return False
    return not kind_of(value, "code", "readable_base64")


def _is_session(candidate: Candidate, value: str) -> bool:
    """Place.SESSION: a varied value with a digit that is no placeholder, date, words or readable base64."""
    if is_placeholder(value) or value.startswith(("20", "19", "s-1-", "S-1-", "Stmt")) or not is_varied(value):
        return False
    if is_words(value) or not patterns.digit.search(value):
        return False
    # the head of a token, cut behind it: `Bearer eyJhbGciOiJSUzI1NiJ9...`
    return not is_readable_base64(value.rstrip(".")) and entropy(value) > 2.7


def _in_header(candidate: Candidate, value: str) -> bool:
    """Place.HEADER: for `basic` a login in base64, otherwise like a session, with 12 characters behind a scheme and 16
    without. A word `value` after `bearer` needs two digits."""
    scheme = candidate.label
    if scheme == "basic":
        return _is_basic(value)
    if scheme == "bearer value":
        return _is_session(candidate, value) and len(patterns.digit.findall(value)) >= 2
    least = 16
    if scheme:
        least = 12
    return len(value) >= least and _is_session(candidate, value)


def _is_basic(value: str) -> bool:
    """Whether a value is base64 of `user:password` whose password (the user if it is empty) is not a placeholder."""
    try:
        plain = b64decode(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    user, colon, password = plain.partition(":")
    return bool(colon) and bool(user or password) and plain.isprintable() and not is_placeholder(password or user)


def is_encoded_login(plain: str) -> bool:
    """Whether a decoded text is `user:password`, printable and without blanks, with a password of six or more
    characters that is not a placeholder."""
    user, colon, password = plain.partition(":")
    sure = bool(colon) and bool(user) and len(password) >= 6 and plain.isprintable() and " " not in plain
    return sure and not is_placeholder(password) and not password.startswith("//")


def is_encoded_secret(plain: str) -> bool:
    """Whether the decoded value of a field named like a secret can be one: six or more printable characters, no
    placeholder and no words."""
    return len(plain) >= 6 and plain.isprintable() and not is_placeholder(plain) and not is_words(plain)


_TESTS: dict[Place, Callable[[Candidate, str], bool]] = {
    Place.SENTENCE: _in_sentence,
    Place.LOOK: lambda candidate, value: looks_chosen(value, candidate.known, starred=candidate.starred),
    Place.ITS: lambda candidate, value: looks_chosen(value, True) or is_joined(value, 2),
    Place.NEAR: _near_word,
    Place.CHANGE: _is_changed,
    Place.QUESTION: _is_answer,
    Place.PAIR: _in_pair,
    Place.HOST_PAIR: _beside_host,
    Place.LOGIN: _in_login,
    Place.ADDRESS: _in_address,
    Place.COMMAND: _on_command_line,
    Place.OPTION: _beside_user,
    Place.CONNECTION: _in_connection,
    Place.PASSWORD_FILE: _in_password_file,
    Place.CELL: _in_cell,
    Place.ROW: _in_row,
    Place.ASSIGNMENT: _is_assigned,
    Place.SERVICE: _behind_service,
    Place.GLUED: lambda candidate, value: is_random(value, 20) and not is_uuid(value),
    Place.LINE: _in_line,
    Place.TOKEN: _behind_beginning,
    Place.SHAPE: _has_shape,
    Place.SESSION: _is_session,
    Place.HEADER: _in_header,
}
