"""Computes the features of one value: placeholder, reference, published sample, id, path, words, entropy, variety.

Pure functions of one value, at most with the text beside it, shared by all rules for secrets. Each is linear in the
length of the value. `decision.py` says what a feature means.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import pairwise
from math import log2
from operator import add
from string import ascii_lowercase
from zlib import crc32

from gitmem.gate.detectors.secrets.rule_tables import patterns, tokens, word_list

SHORT_START = 5  # characters up to which the beginning of a token is also part of longer names
_MAX_WORD, _MAX_NUMBER = 20, 12  # letters of a word, digits of a number in a path
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
    """Whether a value stands for a secret that is elsewhere: `<token>`, `${VAR}`, `xxxx`, `changeme`, `EXAMPLE`. True
    for any value with fewer than three different characters, also for ""."""
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


# The pairs of characters that count upwards, and `9a`, `90`, `za`, `z0`, `f0`, with which a row goes on.
_STEPS = frozenset(map("".join, [*pairwise("0123456789"), *pairwise(ascii_lowercase), *["9a", "90", "za", "z0", "f0"]]))


def is_sequence(value: str) -> bool:
    """Whether a value of at least twelve letters and digits counts upwards from end to end, behind a vendor's letters
    or not: `0123456789abcdef0123456789abcdef`."""
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
    """Whether a value of at least 11 characters looks like a generated password and like no expression: five kinds of
    symbol, six letters, and brackets that do not match or letters and digits that meet six times."""
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


def is_path_of_ids(value: str) -> bool:
    """Whether a value is a path of words, numbers, dates and UUIDs that goes on behind the last UUID:
    `main/sessions/<UUID>.jsonl`. Other hexadecimal digits in a path may be a key: `hooks/<32 digits>/send`."""
    if "/" not in value:
        return False
    parts = [part for part in patterns.path_part.findall(patterns.path_time.sub("/", value)) if not _is_plain(part)]
    if parts and value.endswith(parts[-1]):
        return False
    return all(map(is_uuid, parts))


def _is_plain(part: str) -> bool:
    """Whether a part of a path is a number, letters that read as a word, or the few letters of an ending."""
    if part.isdigit():
        return len(part) <= _MAX_NUMBER
    return part.isalpha() and len(part) <= _MAX_WORD and (len(part) <= 5 or _reads(part.lower()))


def is_class_name(value: str) -> bool:
    """Whether a value is the name of a type with a long English word in it: `McpUiResourceCsp`."""
    return patterns.humps.fullmatch(value) is not None and any(
        [len(hump) >= 6 and _reads(hump.lower()) for hump in patterns.hump.findall(value)]
    )


def is_uuid(value: str) -> bool:
    """Whether a value is a UUID, in its usual notation."""
    return patterns.uuid.match(value) is not None


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
    """Whether a chunk reads as a name: mostly syllables that exist, and few, short numbers."""
    numbers = patterns.number.findall(chunk)
    if len(numbers) > 1 + len(chunk) // 24 or any([len(number) > 4 for number in numbers]):
        return False
    if chunk[0].isdigit() and len(chunk) > 4:
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
    """Whether a lower-case word can be pronounced: short words by their vowels, longer ones by their pairs of
    letters."""
    if word in _TRADE:
        return True
    if len(word) < 5:
        return len(word) < 3 or patterns.vowel.search(word) is not None
    return sum(map(_PAIRS.__contains__, map(add, word, word[1:]))) * 5 >= 3 * (len(word) - 1)


@lru_cache(maxsize=_MAX_CACHED)
def is_readable_base64(value: str) -> bool:
    """Whether a value of at least 16 characters is base64 of ordinary text, which the detector of encoded text
    reads."""
    if len(value) < 16:
        return False
    body = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        plain = a2b_base64(body + "=" * (-len(body) % 4)).decode("utf-8")
    except ValueError:
        return False
    return plain.isprintable() or sum([c.isprintable() or c in "\n\t" for c in plain]) > 0.95 * len(plain)


def is_varied(value: str) -> bool:
    """Whether a value has enough different characters (one more than a quarter of its length, at most six) and no
    character six times in a row."""
    distinct = len(set(value))
    if distinct < min(6, 1 + len(value) // 4):
        return False
    return distinct > len(value) - 5 or not patterns.repeated.search(value)  # a run of six leaves no more distinct ones


_GIT_LENGTHS = frozenset([*range(7, 17), 40, 64])


def is_named_id(low: str, start: int, end: int) -> bool:
    """Whether the label before `low[start:end]` (text in lower case) says that the value is public, or the label before
    or behind a hexadecimal value says that it is an id."""
    value, before = low[start:end], low[max(0, start - 32) : start]
    if patterns.public_label_before.search(before) or patterns.commit_range.fullmatch(value):
        return True
    if patterns.base58_signature.fullmatch(value) and patterns.signature_before.search(before):
        return True
    if patterns.hex_id.fullmatch(value) is None:
        return False
    if patterns.hex_label_before.search(before) or patterns.hex_label_behind.match(low, end, end + 40):
        return True
    return patterns.hex_label_before.search(column_name(low, start)) is not None


_MAX_TABLE_CHARACTERS = 4_000  # characters of a table above a cell in which its head is searched


def column_name(low: str, at: int) -> str:
    """The name of the column of a table in whose cell the offset `at` stands, with a blank behind it; "" outside
    tables."""
    first = low.rfind("\n", 0, at) + 1
    column = low.count("|", first, at)
    if not column:
        return ""
    head = ""
    for row in reversed(low[max(0, first - _MAX_TABLE_CHARACTERS) : max(0, first - 1)].split("\n")):
        if row.count("|") < 2:
            break
        head = row
    cells = head.split("|")
    if len(cells) <= column:
        return ""
    return cells[column].strip(" \t*`") + " "


def is_of_other_words(low: str, first: int, start: int, end: int) -> bool:
    """Whether `low[start:end]` (text in lower case) is an id of Git and the words between it and a word for a secret,
    which ends at `first`, are about something else."""
    value, between = low[start:end], low[first:start]
    if len(value) not in _GIT_LENGTHS or patterns.hex_id.fullmatch(value) is None:
        return False
    if patterns.id_assigned.search(between):
        return False
    return patterns.more_words.search(patterns.own_words.sub("", between)) is not None


PRINTED_RULES = frozenset(["jwt", "bcrypt-hash", "crypt-hash"])
_KEYS = word_list("sample signing key")
_DIGESTS = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}
_SALTS = word_list("sample salt")


def is_printed(rule: str, value: str, line: str) -> bool:
    """Whether a value that a rule of `PRINTED_RULES` found is one that manuals print; `line`: the line around it."""
    if rule == "jwt":
        return _is_sample_token(value)
    known = any([salt in value for salt in _SALTS]) or _has_readable_salt(value)
    return known or patterns.form_shown.search(line) is not None


def _is_sample_token(value: str) -> bool:
    """Whether a JWT is an example: by its claims, or because a well-known key signs it. False if it cannot be decoded.
    Raises ValueError without two dots."""
    from base64 import urlsafe_b64decode

    head, payload, signature = value.split(".")[:3]
    try:
        header, claims = [urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode() for part in (head, payload)]
        signed = urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    except ValueError:
        return False
    if patterns.sample_payload.search(claims):
        return True
    digest = next((name for algorithm, name in _DIGESTS.items() if algorithm in header), None)
    if digest is None:
        return False
    from hmac import compare_digest, new

    body = f"{head}.{payload}".encode()
    return any(compare_digest(new(key.encode(), body, digest).digest(), signed) for key in _KEYS)


def _has_readable_salt(value: str) -> bool:
    """Whether the salt of an Argon2 hash is letters: `c29tZXNhbHQ` is `somesalt`."""
    from base64 import b64decode

    if not value.startswith("$argon2"):
        return False
    salt = value.split("$")[4]
    try:
        return b64decode(salt + "=" * (-len(salt) % 4)).decode("ascii").isalnum()
    except ValueError:
        return False


# What the passwords of manuals are made of: one of these and up to three digits.
_SAMPLES = frozenset(word_list("sample password"))
_LEET_IN_SAMPLES = str.maketrans("@$0134", "asoiea")
_BEHIND = "!@#-_0123456789"


def is_sample(value: str) -> bool:
    """Whether a value is a password as manuals show them: `secret2`, `p@ssw0rd`, `my-password`.

    People use such passwords too, so the gate warns about them.
    """
    stem = value.rstrip("0123456789")
    known = len(value) - len(stem) <= 3 and stem.lower().translate(_LEET_IN_SAMPLES) in _SAMPLES
    if value.islower() and (known or patterns.sample_name.fullmatch(value)):
        return True
    letters = value.rstrip(_BEHIND)
    behind = value[len(letters) :]
    plain = letters.translate(_LEET_IN_SAMPLES) + behind
    return kind_of(plain, "spoken_password", "counting_password") != ""


def classes(value: str) -> int:
    """How many of the four classes lower case, upper case, digits and symbols a value holds."""
    symbol = patterns.password_symbol.search(value) is not None
    return (value.upper() != value) + (value.lower() != value) + any(map(str.isdigit, value)) + symbol


_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def base62_crc(body: str) -> str:
    """CRC-32 of `body` as six base-62 digits, the ending of a GitHub or npm token."""
    value, digits = crc32(body.encode()), ""
    for _ in range(6):
        value, rest = divmod(value, 62)
        digits = _BASE62[rest] + digits
    return digits


def github(token: str) -> bool:
    """Whether a `ghp_`-like or `npm_` token has 36 characters behind its first `_`, and ends in the checksum of the
    first 30 of these."""
    body = token.partition("_")[2]
    return len(body) == 36 and base62_crc(body[:30]) == body[30:]


def grafana(token: str) -> bool:
    """Whether a `glsa_` token ends in the CRC-32 of what stands before its last `_`."""
    body, _, given = token.rpartition("_")
    return len(given) == 8 and f"{crc32(body.encode()):08x}" == given.lower()


_BASE58 = {char: place for place, char in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")}


def wallet_key(value: str) -> bool:
    """Whether a value in base 58 is a Bitcoin key in the wallet import format: the last four bytes are its check
    sum."""
    from hashlib import sha256

    number = 0
    for char in value:
        if char not in _BASE58:
            return False
        number = number * 58 + _BASE58[char]
    data = number.to_bytes((number.bit_length() + 7) // 8)
    return len(data) in (37, 38) and sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


CHECKSUMS = {"github-token": github, "npm-token": github, "grafana-service-account-token": grafana}


@cache
def _distinct_beginnings() -> tuple[str, ...]:
    """The beginnings of vendors' tokens that are long enough and end with `_`, `-` or `.`, in the order of the
    table."""
    starts = [start for token in tokens() for start in token.beginnings.split()]
    return tuple([start for start in starts if len(start) >= SHORT_START and start[-1] in "_-."])


def is_stub(value: str) -> bool:
    """Whether a value begins like a vendor's token and has fewer than 24 characters (`ghp_abc123`), or begins like the
    token of a bot, at any length (`12345678:A`)."""
    return (len(value) < 24 and value.startswith(_distinct_beginnings())) or patterns.bot_number.match(
        value
    ) is not None


_COMPUTED: dict[str, Callable[[str], bool]] = {
    "placeholder": is_placeholder,
    "sequence": is_sequence,
    "code": is_code,
    "uuid": is_uuid,
    "readable_base64": is_readable_base64,
    "stub": is_stub,
}
IDS = ("resource_id", "node_key", "model_file")  # ids of a cloud, public keys of a node, language models


def kind_of(value: str, *kinds: str) -> str:
    """The first of these kinds that a value is: the name of a function above or of a row of `patterns.txt` that is
    searched in it; "" when it is none. Raises AttributeError for a name that is neither."""
    for kind in kinds:
        is_kind = _COMPUTED.get(kind)
        if is_kind is None and getattr(patterns, kind).search(value) is not None:
            return kind
        if is_kind is not None and is_kind(value):
            return kind
    return ""
