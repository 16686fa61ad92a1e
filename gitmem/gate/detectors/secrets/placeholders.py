"""Recognises values that look like a secret and are none: placeholders, references, identifiers, checksums, words.

Pure functions of one value, shared by the detectors of secrets. Each is linear in the length of the value; callers
cut values at MAX_PLACEHOLDER_CHARACTERS.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from functools import lru_cache
from itertools import pairwise
from math import log2
from operator import add
from string import ascii_lowercase

from gitmem.gate.detectors.secrets.rule_tables import word_list
from gitmem.lazy_patterns import lazy

MAX_PLACEHOLDER_CHARACTERS = 4096
_MAX_CACHED = 512  # answers remembered: several rules ask about one value

_SAMPLE = lazy(
    r"\[(?:password|email|phone|card|iban|address|account|[a-z]{4,8} (?:number|id))(?:\]|$)"
    r"|example|x{4,}|\*{2,}|\.{3}|…|redacted|masked|truncated|placeholder"
    r"|change[-_]?(?:me|this|it)|replace[-_]?(?:me|this|with)"
    r"|(?:^|[-_<\[(])(?:your|insert|dummy|sample|fake|todo|tbd|fixme|foobar|enter|any"
    r"|some)(?:[-_ ]|$)|_here$|your[-_]?(?:api|token|key|secret|pass)"
    r"|(?:^|[-_])abc[-_]?1234?(?:[-_]?(?:def(?:456)?|xyz))?$|lorem|ipsum|not[-_]?a[-_]?(?:real|secret)|<[a-z_ -]{2,40}>"
    r"|^\.?\d{0,3}[bdefgosxX%]\}$"  # `{number:02d}`, behind its colon
    r"|비밀번호|여기에|입력|예시|パスワードを|ここに|密码在|请输入|示例",
    re.IGNORECASE,
)
# One of them is in every match of `_SAMPLE` in ASCII: substrings cost a tenth of the expression.
_SAMPLE_HINTS = (
    "[", "<", "*", "...", "xxxx", "example", "redacted", "masked", "truncated", "placeholder", "change", "replace",
    "your", "insert", "dummy", "sample", "fake", "todo", "tbd", "fixme", "foobar", "enter", "any", "some", "_here",
    "lorem", "ipsum", "not", "abc", "}",
)  # fmt: skip
_NOTHING = frozenset(word_list("no value"))
_REFERENCE = lazy(
    r"""^(?:\$\{[^{}]*\}?|\$<.*|\$\([^()]*\)|\$[A-Za-z_][\w.:\[\]>'"-]*\$?|\$\d|\$?\{\{.*|\{[\w.!:-]*\}|(?:%\d{0,2}\$?[sdif@][:/@-]?){1,3}|:[A-Za-z_]\w*|[*&][A-Za-z]\w*|<%.*%>|<[^<>]*>|%[A-Za-z_]\w*%|%\([\w]+\)s|\#\{.*\}"""
    r"""|\[[^\[\]]*\]|@[\w.]+|`[^`]*`?|!(?:Ref|Sub|GetAtt|ImportValue|secret|vault|env_var)\b.*|&[\w]+;?.*|__\w+__"""
    r"""|(?:env|vault|op|ref|secret|secretref|ssm|arn|file|keychain|keyring|sops|doppler|aws-sm|gcp-sm|k8s)(?::|//).*"""
    r"""|(?:process\.env|os\.environ|os\.getenv|getenv|env|import\.meta\.env|ENV|config|settings|options|opts|args|params|props|self|this|req|request|"""
    r"""res|ctx|context|data|secrets|vars|var|local|module|app|user|creds|credentials|state|System|Secret|Environment|builder|client)[.\[(>:-].*)$""",
    re.DOTALL,
)
_CODE = lazy(r"""[A-Za-z_]\w*\s?\(|\w->\w|\w::\w|^\w+\[['":\w]|=>|&&|\|\||^[<>=!]=?$|^&quot;|^[A-Za-z_]\w*\{""")
_DOTTED = lazy(r"^\w+(?:\.[A-Za-z_]\w*)+(?:\[.*)?$")
_UUID = lazy(r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$")
_DIGEST = lazy(r"^(?:sha(?:1|224|256|384|512)|md5|h1|blake[23]b?|crc32)[-:=]", re.IGNORECASE)
_PATH = lazy(
    r"^(?:https?|ftp|file|git|ssh|s3|gs|wss?)://|^(?:\.{0,2}|~)/[\w.@/-]*(?:[*{}:][\w.@/*{}:-]*)?$|^[A-Za-z]:\\"
)
_CHUNKS = lazy(r"[0-9A-Za-z]+")
_NUMBERS = lazy(r"[0-9]+")
_WORDS = lazy(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_VOWELS = lazy(r"[aeiouyAEIOUY]")
# The pairs of letters that make up nine tenths of the words of English technical prose: first letter, then
# what follows it. Six of ten pairs of a word are of these (97 in 100 words), of random letters three.
_PAIRS = frozenset(
    group[0] + second
    for group in [
        "abcdgilmnprstuvy",
        "baeiloru",
        "cacehiklortu",
        "daeiosu",
        "eabcdefglmnprstvwx",
        "faefilou",
        "gaehiru",
        "haeiot",
        "iabcdefglmnoprstvz",
        "keis",
        "laeilostuy",
        "mabeimopu",
        "nacdefginostv",
        "oacdgklmnoprstuvw",
        "paeiloprstu",
        "qu",
        "racdegikmnorstuy",
        "sacehilopstuy",
        "tacehilorstuy",
        "uabceilmnprst",
        "vaei",
        "waei",
        "xt",
        "ys",
        "ze",
    ]
    for second in group[1:]
)


@lru_cache(maxsize=_MAX_CACHED)
def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits each; 0 for the empty string."""
    size = len(value)
    repeated = [count for count in map(value.count, set(value)) if count > 1]  # a single one adds n * log2(n) = 0
    if not size:
        return 0.0
    return log2(size) - sum([count * log2(count) for count in repeated]) / size


_ALPHABET = lazy("abcdefghijklmnop|klmnopqrstuvwxyz")
_LEET = str.maketrans("$@0134578", "saoieastb")
_MANUAL = frozenset(word_list("sample passphrase"))


@lru_cache(maxsize=_MAX_CACHED)
def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret that is elsewhere: `<token>`, `${VAR}`, `xxxx`, `changeme`, `EXAMPLE`."""
    bare = value.strip(" \t\"'`.+")
    if len(set(bare)) < 3:
        return True
    lower = bare.lower()
    if _ALPHABET.search(lower):
        return True
    if lower in _NOTHING or lower.translate(_LEET) in _MANUAL:
        return True
    hinted = not bare.isascii() or any([hint in lower for hint in _SAMPLE_HINTS])
    return (hinted and _SAMPLE.search(bare) is not None) or _REFERENCE.match(bare) is not None


# What vendors and tools print for everybody to read: public keys, addresses, publishable keys.
_PUBLISHED = lazy(
    r"^(?:pk_(?:live|test)_|sb_publishable_|pk\.eyJ|ssh-(?:rsa|ed25519|dss)|ecdsa-|AAAA[BCE]3?[Nv]"
    r"|age1[02-9ac-hj-np-z]{50}|npub1|bc1[a-z0-9]{30}|arn:aws:|MIIBIjANBgkq|MIICIjANBgkq|MIGfMA0GCSq|MFkwEwYHKoZI|MCowBQYDK2V"
    r"|bafy[a-z2-7]{50}|Qm[1-9A-HJ-NP-Za-km-z]{44}$|(?i:0x[0-9a-f]{16,40}$))"
)
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
    return _PUBLISHED.match(value) is not None


_NAMED_SEQUENCE = lazy(r"^[a-z]{2,8}(?=0?1234)")  # `dapi1234567890abcdef`


def is_sequence(value: str) -> bool:
    """Whether a value counts upwards from end to end, behind a vendor's letters or not:
    `0123456789abcdef0123456789abcdef`."""
    row = _NAMED_SEQUENCE.sub("", "".join(_CHUNKS.findall(value.lower())))
    if len(row) < 12:
        return False
    steps = sum(map(_STEPS.__contains__, map(add, row, row[1:])))
    return steps * 10 >= 9 * (len(row) - 1)


@lru_cache(maxsize=_MAX_CACHED)
def is_code(value: str) -> bool:
    """Whether a bare value is an expression of a program, a path or an address instead of a literal."""
    if _CODE.search(value) or _PATH.match(value):
        return True
    if not _DOTTED.match(value):
        return False  # `user.password` reads as names, the halves of `8f3K.x02q` do not
    return all(_is_name(part) for part in _CHUNKS.findall(value) if len(part) > 3)


_TANGLE = lazy(r"[!@#$%^&*?{}\[\]()|<>~]")
_CALL = lazy(r"[a-z_]{4,40}(?:\.[a-z_\d]{2,40}){0,3}\(|\(r[\"']")  # `to_text(base64.b64encode(...`
_EXPRESSION = lazy(r"[\"'\\]|://|[A-Za-z_]{4}\(|=>|->|&&|\|\||[!=]==?|\]\(|\[\w-\w")
_MIXED = lazy(r"(?<=[a-zA-Z])\d|(?<=\d)[a-zA-Z]")
# `Plan](https://...`, `[a-z0-9]{16}`; an element, a template's blank, a function, the next key of JSON: `{item.title}</div>`.
_LINK_OR_PATTERN = lazy(
    r"\]\((?:https?:|[./#])|\[\^?\w-\w[^\[\]]{0,20}\][{+*]|</[a-z]{1,12}>|\$\{[a-z]\w{1,40}[}.(]|\{[a-z]{2,40}\.[a-z]{2,40}[}.(]|^[a-z]\w*(?:\.\w+)+\}>|^\d{1,9},\"[a-z_]{2,}\":"
)


def is_tangled(value: str) -> bool:
    """Whether a value has five kinds of symbol and brackets that do not match: a generated password, no
    expression."""
    if len(value) < 11 or len(set(_TANGLE.findall(value))) < 5 or sum(map(str.isalpha, value)) < 6:
        return False
    if _CALL.match(value) or _LINK_OR_PATTERN.search(value):
        return False
    if len(_MIXED.findall(value)) >= 6 and not _EXPRESSION.search(value):
        return True
    open_ones: list[str] = []
    for char in value:
        if char in "([{":
            open_ones.append(char)
        elif char in ")]}" and (not open_ones or open_ones.pop() + char not in ("()", "[]", "{}")):
            return True
    return bool(open_ones)


_PATTERN = lazy(r"\[\^?[A-Za-z0-9]-[A-Za-z0-9][^\[\]]{0,20}\](?:[{+*]|$)|\\[sSdDwW][*+{]|\(\?[:=!i]")


def is_pattern(value: str) -> bool:
    """Whether a value is a regular expression that finds secrets: `sk-[A-Za-z0-9]{20,}`."""
    return _PATTERN.search(value) is not None


_HUMP = lazy(r"[A-Z][a-z]{1,20}")
_HUMPS = lazy(r"(?:[A-Z][a-z]{1,20}){2,7}")


def is_class_name(value: str) -> bool:
    """Whether a value is the name of a type with a long English word in it: `McpUiResourceCsp`."""
    return _HUMPS.fullmatch(value) is not None and any(
        [len(hump) >= 6 and _reads(hump.lower()) for hump in _HUMP.findall(value)]
    )


def is_uuid(value: str) -> bool:
    """Whether a value is a UUID, in its usual notation."""
    return _UUID.match(value) is not None


def is_digest(value: str) -> bool:
    """Whether a value names the algorithm of a checksum: `sha256:...`, `h1:...`."""
    return _DIGEST.match(value) is not None


@lru_cache(maxsize=_MAX_CACHED)
def is_words(value: str) -> bool:
    """Whether a value reads as words and small numbers joined: `create_token_counter`, `test-token-6`, `utf8`.

    A part is a word when most pairs of its letters follow each other as in English; it may hold one group of digits.
    A value with more than a fifth of digits is none.
    """
    chunks = _CHUNKS.findall(value)
    if not chunks or sum(map(str.isdigit, value)) * 5 > len(value) + 5:
        return False
    odd = sum([not _is_name(chunk) for chunk in chunks])
    return odd * 3 <= len(chunks)


def _is_name(chunk: str) -> bool:
    numbers = _NUMBERS.findall(chunk)
    if (
        len(numbers) > 1 + len(chunk) // 24
        or any(len(n) > 4 for n in numbers)
        or (chunk[0].isdigit() and len(chunk) > 4)
    ):
        return False
    words = _WORDS.findall(chunk)
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
        return len(word) < 3 or _VOWELS.search(word) is not None
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


_RUN = lazy(r"(.)\1{5,}")


def is_varied(value: str) -> bool:
    """Whether a value has as many different characters as a random one of its length."""
    distinct = len(set(value))
    if distinct < min(6, 1 + len(value) // 4):
        return False
    return distinct > len(value) - 5 or not _RUN.search(value)  # a run of six leaves no more distinct ones
