"""Judges whether a value is a password that a person chose, by its characters and by how it was introduced.

Pure functions of one value. `passwords.py` reads the words around a value; `password_pairs.py` and
`password_tables.py` read pairs, tables and command lines.
"""

from __future__ import annotations

import re

from gitmem.gate.detectors.joined_words import is_coined, is_diceware
from gitmem.gate.detectors.secrets.placeholders import is_code, is_digest, is_placeholder, is_tangled, is_uuid, is_words
from gitmem.gate.detectors.secrets.rule_tables import label_pattern, word_list
from gitmem.lazy_patterns import lazy

MAX_PASSWORD_CHARACTERS = 80
WORD = lazy(label_pattern("password"))
# In other languages: looked for apart, where one of `FOREIGN` stands, since they would slow `WORD` down.
FOREIGN = word_list("rare password word")
FOREIGN_WORD = lazy("|".join([f"{word}l? " if word.endswith("de") else word for word in FOREIGN]))
CLOSE = {"「": "」", "『": "』", "“": "”", "‘": "’", "(": ")"}
_HARD_END = lazy(
    r"[\"'`<>]|,(?=\s|$|[A-Za-z]+[:/])|;|[)\]}](?=[\s.,;)}\]]|$)|\\(?=[nrt\"'])|(?<=[^\s&]{6})&(?=[a-z_]{2,24}=)"
)
_COUNTED = lazy(
    r"\s?(?:년|월|일|자|회|번|개|시|분|초|명|글자|문자|位|个|個|年|月|日|文字|回|桁|字|chars?"
    r"|characters?|digits?|times?|days?|hours?|minutes?|attempts?|letters?"
    r"|or |and |to |-digit)"
)
_COLOUR = lazy(r"^#[0-9A-Fa-f]{3,8}$")
_YEAR = lazy(r"^(?:19|20)\d\d$")
_ALGORITHM = lazy(
    r"^(?:sha-?\d|md5|bcrypt|argon2|scrypt|pbkdf2|aes|rsa|base64|utf-?8|oauth|1password"
    r"|bitwarden|keepass|2fa|mfa|totp|chacha|ed25519|hmac|pbkdf)",
    re.IGNORECASE,
)
_DATE = lazy(r"^(?:19|20)\d\d[-./]\d{1,2}(?:[-./]\d{1,2})?$|^\d{1,2}:\d{2}")
_VERSION = lazy(r"^[=<>~^v]{0,3}\d{1,4}(?:\.\d{1,4}){1,3}|(?:^|\|)(?:min|max|required|size|between|confirmed)\b")
_SYMBOL = lazy(r"[!@#$%^&*?~+|<>{}\[\]()=;\"'`]")
_STRONG_SYMBOL = lazy(r"[!@#$%^&*?~]")
_NUMBER = lazy(r"^\d{4,12}[*#]{0,2}$")
# A rate of success (`pass@3`), a link, an address without its scheme, a host behind `<user>:<password>`, a blank of a template, a line of /etc/passwd, a bound on a version, an option, a file, a variable, a register, a regular expression.
_NO_VALUE = lazy(
    r"^pass[@^]\w{1,3}$|^https?://[\w.-]{1,80}(?::\d{2,5})?(?:/|$)|\]\((?:https?:|\.{0,2}/|#[a-z0-9])|^/[\w-]+(?:\.[\w-]+)+/|^@[a-z][a-z-]*\d{0,3}(?:\.[a-z0-9-]+)*:\d{2,5}(?:/|$)|^%%\w+%%(?::|$)|^[a-z]+(?:[A-Z][a-z]*)+\(\w*\)$|^//\w|^\[#?\d+\]\(|^(?:Big)?[Uu]?(?:[Ii]nt|[Ff]loat)\d{1,2}(?:Array)?\W{0,3}$|^\{\w+\}$|^[x*!]:\d+:\d+:|^[\w.-]+(?:\[\w+\])?(?:[<>]|[<>=!~]=)\d|^--?[A-Za-z][A-Za-z-]*(?:[=:]|$)|^-D\w|^[\w./~+-]+\.(?:gpg|zip|tar|t?gz|pem|kdbx|txt|json|ya?ml|md|sh|conf|ini)$|^[\w.~+-]*/[\w./~+-]*\w\.[a-z]{1,5}$|^[A-Z0-9]{2,24}(?:_[A-Z0-9]{1,24})*_(?:VAR|ENV|PASS(?:WORD)?|PWD|KEY|SECRET|TOKEN)$|^0x[0-9A-Fa-f]{1,4}$|^\^.*(?:[\[(\\]|\.[*+]|\$$)|\(\?[=!:<]|\[a-z|\\[ds][*+{]?"
)
_REFERRED = lazy(
    r"\s?(?:참고|참조|를? ?확인|을 ?확인|에 ?(?:있|저장|보관)|を?(?:参照|参考|確認)|に(?:あ|保))"
)  # `Vault/prod-2 참고`
# `Vault/prod-2`: words and numbers.
_PATH_OF_WORDS = lazy(
    r"\d?(?:[A-Z]?[a-z]+|[A-Z]+|[^\x00-\x7f]+)\d{0,3}(?:[-_.][A-Za-z]?[a-z]*\d{0,3})*"
    r"(?:/(?:(?:[A-Z]?[a-z]+|[A-Z]+|[^\x00-\x7f]+)\d{0,3}|\d{1,4})(?:[-_.][A-Za-z]?[a-z]*\d{0,3})*)+"
)
_REFERENCE = lazy(r"[@#](?:v?\d[\d.]*|[0-9a-f]{6,40}|[A-Za-z][\w.-]*)$")
# `azure/login@v2`, `Microsoft.Storage/accounts@2023-01-01`: what workflows and templates name, sign-in or not.
_PINNED = lazy(r"^[A-Za-z][\w.-]*@(?:v\d[\d.]*|\d{4}-\d\d-\d\d(?:-[a-z]{1,10})?)$")
_ANCHOR = lazy(
    r"[\w.-]+\.(?:md|html?)#[\w-]*|[\w.-]+#(?:[a-z]+(?:-[a-z0-9]+)+|[A-Z]{3,})"
)  # `VPN#setup-2031`: a place in a page
_SWAPPED = lazy(r"(?:[A-Z]|(?<![a-z])[a-z])[a-z]?[01345][a-z]{2}")  # `Sn0wGoose`: a digit for a letter
_SWAPPED_WORD = lazy(r"[a-z]{4,8}[01345][a-z]{4,8}")
_CASES_MEET = lazy(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z]{2})(?=[a-z])")
_LINE_END = lazy(r"[\"'`*,;.)\]}]{0,4}[ \t]{0,4}(?:\r?\n|$|//|#|[\"'`]|;)|[;&]|[ \t]{0,2}[^\x00-\x7f]")
_MEET = lazy(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_ANY_DIGIT = lazy(r"[0-9]")
_NO_PASSWORD = lazy(r"[(){}<>\[\]=;:/\\,|`\"']|\.\w{1,4}$|@\w+\.\w|@sha")
_USERS = lazy(
    r"(?:admin\w*|administrator|root|user\d*|app|master|deploy\w*|test\w*|dev|ops"
    r"|guest|sa|postgres|mysql|oracle|ubuntu|ec2-user|operator|manager|service|svc\w*"
    r"|readonly|ro|rw|jenkins|gitlab|backup)",
    re.IGNORECASE,
)
_WEAK = frozenset(word_list("weak password"))


# What the passwords of manuals are made of: one of these and up to three digits.
_SAMPLES = frozenset(word_list("sample password"))
_LEET = str.maketrans("@$0134", "asoiea")
_LOWER_NAME = lazy(r"[a-z-]{0,32}password[a-z-]{0,16}\d{0,6}|my[a-z-]{0,24}secret")
_BEHIND = "!@#-_0123456789"
_COUNTING = lazy(r"12345(?:6(?:7(?:8(?:90?)?)?)?)?|(?i:password)\d{0,4}[!@#]?")
_SPOKEN = lazy(
    r"(?i:my|top|new|old|your|the|another|wrong|correct|complex|temp|(?:very|super)?(?:strong|secure|secret|safe))+[-_]?(?i:pass(?:word|wd)?)(?i:here)?[-_!@#\d]{0,6}"
)


def is_sample(value: str) -> bool:
    """Whether a value is a password as manuals show them: `secret2`, `p@ssw0rd`, `my-password`.

    People use such passwords too, so the gate warns about them.
    """
    stem = value.rstrip("0123456789")
    known = len(value) - len(stem) <= 3 and stem.lower().translate(_LEET) in _SAMPLES
    if value.islower() and (known or _LOWER_NAME.fullmatch(value)):
        return True
    letters = value.rstrip(_BEHIND)
    behind = value[len(letters) :]
    plain = letters.translate(_LEET) + behind
    return _SPOKEN.fullmatch(plain) is not None or _COUNTING.fullmatch(plain) is not None


def is_no_value(value: str) -> bool:
    """Whether a value in the place of a password is something else: a type, an option, a link, an algorithm, a
    program."""
    return _NO_VALUE.search(value) is not None or _ALGORITHM.match(value) is not None


def classes(value: str) -> int:
    """How many of the four classes lower case, upper case, digits and symbols a value holds."""
    return (
        (value.upper() != value)
        + (value.lower() != value)
        + any(map(str.isdigit, value))
        + bool(_STRONG_SYMBOL.search(value))
    )


def is_server_user(name: str) -> bool:
    """Whether a name is a user that servers have: `root`, `deploy`, `svc-mail`."""
    return _USERS.fullmatch(name) is not None


def looks_chosen(value: str, known: bool, *, starred: bool = False) -> bool:
    """Whether a value looks like a password without any word for one beside it.

    `known`: whether a user name or a word for logging in stands there. Without one all four classes of characters are
    needed, and a reference (`repo#12`, `tool@v3`, `#0B0A10`) is not a password. `starred`: whether a `*` at the end
    belongs to the value instead of being emphasis.
    """
    if not 6 <= len(value) <= 40 or not _ANY_DIGIT.search(value) or value.isdigit():
        return False
    if value[0] in "#~.-" or (value.endswith("*") and not starred) or _NO_PASSWORD.search(value):
        return False
    if is_placeholder(value) or not any(map(str.isalpha, value)) or _PINNED.match(value) or _ANCHOR.fullmatch(value):
        return False
    kinds = classes(value)
    if not _STRONG_SYMBOL.search(value, 1):  # `IhqSb1Gg`: only where a login is spoken of
        mixed = kinds == 3 and value.isalnum() and len(value) >= 8
        odd = not is_words(value) or _SWAPPED.search(value) is not None
        return known and mixed and len(_MEET.findall(value)) >= 2 and odd
    if known:
        return kinds >= 3
    return kinds == 4 and _REFERENCE.search(value) is None


def end_of(text: str, start: int, limit: int, quote: str) -> tuple[int, bool]:
    """(end of the value, whether its closing quotation mark was there); `quote`: the opening marks, "" for none."""
    if quote:
        close = CLOSE.get(quote[-1], quote[-1])
        end = text.find(close, start, min(len(text), limit + 1))
        if end >= 0 and close != ")":
            return end, True
    elif is_tangled(text[start:limit]):
        return start + len(text[start:limit].rstrip("\"'`;,")), True
    stop = _HARD_END.search(text, start, limit)
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
    if is_no_value(value) or (_PATH_OF_WORDS.fullmatch(value) and _REFERRED.match(after)):
        return False
    if _DATE.match(value) or _VERSION.search(value) or _COLOUR.match(value):
        return False
    if value.lower() in _WEAK:
        return strength > 0
    if _NUMBER.match(value):
        return _COUNTED.match(after) is None and (strength > 0 or (len(value) <= 8 and not _YEAR.match(value)))
    if (
        (quoted or _LINE_END.match(after))
        and (strength == 2 or (strength == 1 and "-" not in value))
        and is_coined(value)
    ):
        return True
    if strength == 0 and "-" not in value and any(map(str.isdigit, value)) and is_coined(value):
        return True
    if strength == 0 and _SWAPPED_WORD.fullmatch(value):
        return True
    if not quoted and (is_code(value) or re.search(r"^[\[{(]|\.(?:md|py|js|ts|txt|json|ya?ml|toml|com|io|go)$", value)):
        return False
    return _reads_so(value, strength, quoted)


def _reads_so(value: str, strength: int, quoted: bool) -> bool:
    """`is_chosen` for a value that is not a name, number, date or code: decides by its characters."""
    kinds = classes(value)
    has_digit = _ANY_DIGIT.search(value) is not None
    if not any(c.isalpha() for c in value):
        return strength == 2 and (has_digit or quoted) and len(value) >= 6
    if kinds >= 3 or (kinds == 2 and has_digit and strength > 0 and not (is_words(value) and "-" in value)):
        return len(value) >= (4 if strength else 6) and (
            strength > 0 or _SYMBOL.search(value) is not None or len(value) >= 8
        )
    if kinds == 2 and has_digit and value.isalnum() and 16 <= len(value) < 40 and not is_words(value):
        return True  # made by a machine
    if strength == 2 and (is_uuid(value) or is_diceware(value, 4)):
        return True
    if (
        strength == 2
        and kinds == 2
        and len(value) >= 12
        and len(_CASES_MEET.findall(value)) >= 4
        and not is_words(value)
    ):
        return True  # base64 without a digit
    if strength == 2 and quoted and len(value) >= 6:
        mixed = value.isalpha() and len(value) >= 8 and not value[1:].islower() and not value.isupper()
        return _SYMBOL.search(value) is not None or not is_words(value) or mixed
    return strength == 2 and _STRONG_SYMBOL.search(value[1:-1]) is not None
