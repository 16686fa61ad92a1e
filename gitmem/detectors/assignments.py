"""Secrets known by what stands before them: `TOKEN = ...`, `API key is ...`, `키는 ...`, `令牌是 ...`.

A word for a secret, something that joins, and a value that looks random. How random it has to look depends on
how strong the join is (`=` and quotes are strong, a space is weak). Passwords, which people choose, are the
room next door; this one only knows values that machines make.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitmem.detectors import tokens
from gitmem.detectors.placeholders import (
    entropy,
    is_code,
    is_digest,
    is_placeholder,
    is_readable_base64,
    is_uuid,
    is_varied,
    is_words,
)
from gitmem.detectors.tokens import Found

# On lower-case text: the stem of a word for a secret.
_STEM = re.compile(
    r"token|secrete?|key|(?<![a-z])pat(?![a-z])|credential|auth|bearer|private|access"
    r"|signature|webhook|licen[cs]e|client|passcode"
    r"|토큰|시크릿|키|인증값|크리덴셜|トークン|シークレット|キー|鍵|クレデンシャル|令牌|密钥|密匙|秘钥|金鑰|凭证|憑證|權杖|key값"
)
# The rest of the identifier, its closing marks, then what joins it to a value.
_JOIN = re.compile(
    r"(?P<rest>[A-Za-z0-9_.$]{0,48}(?:-[A-Za-z]{2,12}(?![A-Za-z0-9])){0,3})(?P<close>[\"'`"
    r"*\])]{0,4}[ \t]{0,4}(?:\([^()\n]{1,24}\))?)"
    r"(?P<words>(?:[ \t]{1,3}(?:key|token|secret|id|value|for|the|of|in|is|was|string"
    r"|const|str|var|prod|production|staging|dev|test|our|new|current|old|now"
    r"|string\?)\b)*"
    r"|[^\x00-\x7f\n]{1,12}(?:[ \t]{1,2}[^\x00-\x7f\n]{1,10}){0,2})"
    r"(?P<op>[ \t]{0,40}(?:[:=?.!+|<>(,~\\\[{-]|&gt;"
    r"|&quot;){0,6}[ \t\"'`=>\[({\\*「『：＝（-]{0,40}(?:\n[ \t]{1,12}[\"'`]?)?)"
    r"(?P<value>[!-~]{10,1024})"
)
_NEAR = re.compile(r"[!-~]{10}")
_VALUE_END = re.compile(r"[\"'`<>,;\\)\]}|]|&quot;|&amp;|&(?=\w+=)")
_TRAIL = ".:!?*"
# Identifiers that hold such a word and name no secret.
_PUBLIC = re.compile(
    r"public|primary|foreign|partition|cache|idempoten|sort|index|keyword|keyboard"
    r"|keyname|keyid|keyring|keystore|tokeniz|tokens?_?(?:count|limit|budget|type)"
    r"|page|cursor|next|continuation|fingerprint|checksum|digest|integrity|sha\d|hash"
    r"|commit|monkey|author|authority|turkey|hockey"
    r"|sitekey|site_key|publish|anon|i18n|translation|localstorage|dedup|etag|object"
    r"|redis|s3|map|dict|lock|group|row|test[-_]?id",
    re.IGNORECASE,
)
_OTHER_FIELD = re.compile(
    r"(?:^|[_.-])(?:id|ids|name|names|type|url|uri|path|file|dir|length|len|size|count"
    r"|version|format|expir\w*|ttl|header|prefix"
    r"|regex|pattern|arn|method|mode|scope|scopes|alg|algorithm|usage|field|column|label"
    r"|alias|ref|endpoint|host|server|provider)$"
    r"|(?:Id|ID|Name|Type|Url|URL|Uri|Path|File|Length|Count|Version|Format|Expiry|Header"
    r"|Prefix|Alias|Ref|Endpoint|Provider)$"
)
_LONG_VALUE = 64
_HEX = re.compile(r"^[0-9a-fA-F]+$")
_LETTER, _DIGIT, _LOWER, _UPPER = (re.compile(p) for p in ("[A-Za-z]", "[0-9]", "[a-z]", "[A-Z]"))
_BORDER = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_ODD_SYMBOL = re.compile(r"[!@#$%^&*?{}\[\]()|<>~]")

# Lines on which somebody speaks of handling a secret: a long random run there needs no further name.
_HANDLING = re.compile(
    r"rotat|revok|leak|pasted|credential|expire[sd]?\b|deploy\w* (?:uses|with)"
    r"|bearer|api.?key|nightly job|교체|폐기|발급|만료|유출|재발급|배포할|로그인"
    r"|轮换|輪換|吊销|泄露|失效|更换|ローテ|失効|再発行|漏洩|差し替え"
)
_CHUNK = re.compile(r"[0-9A-Za-z]{12,}")
_LONG = re.compile(
    r"(?<![0-9A-Za-z_./@=:%+#-])[0-9A-Za-z_][0-9A-Za-z_+./=-]{22,200}(?<![.=/])={0,2}(?![0"
    r"-9A-Za-z_/@:%+-])"
)


def is_random(value: str, least: int) -> bool:
    """Whether a value of at least `least` characters looks made by a machine."""
    size = len(value)
    if size < least or not is_varied(value):
        return False
    digits = len(_DIGIT.findall(value))
    borders = len(_BORDER.findall(value))
    if len(set(_ODD_SYMBOL.findall(value))) >= 5 and sum(c.isalpha() for c in value) >= 6:
        return True
    if digits == 0:
        return size >= 20 and entropy(value) > 3.4 and not is_words(value) and not is_code(value)
    if not _LETTER.search(value):
        return False
    if is_words(value) or is_code(value):
        return False
    if size < 16:
        return borders >= 3 or (borders >= 2 and digits >= 3) or bool(_ODD_SYMBOL.search(value) and borders)
    return borders >= 2 and entropy(value) > 2.9


def _cut(text: str, start: int, limit: int, quote: str) -> int:
    """End of the value that begins at `start`: at its quote, or before what cannot belong to a bare value."""
    if quote:
        end = text.find(quote, start, limit)
        if end >= 0:
            return end
    stop = _VALUE_END.search(text, start, limit)
    end = stop.start() if stop else limit
    while end > start and text[end - 1] in _TRAIL:
        end -= 1
    return end


def _judge(name: str, stem: str, op: str, words: str, quote: str, value: str) -> bool:
    if is_placeholder(value) or is_digest(value) or is_readable_base64(value):
        return False
    strong = (
        bool(re.search(r"[=:：＝]|=>|->", op))
        or bool(quote)
        or bool(re.search(r"\b(?:is|was)\b|[은는이가是为為はが]$", words))
    )
    if not quote and is_code(value) and len(set(_ODD_SYMBOL.findall(value))) < 5:
        return False
    if is_uuid(value):
        return (
            strong
            and bool(
                re.search(
                    r"(?i)(?:api|access|secret|private|auth)[_ -]?(?:key|token|secret)|(?:token|secret"
                    r"|apikey)$|_key$",
                    name,
                )
            )
        ) or (op.strip() == "-" and bool(re.search(r"(?i)access|key|secret", name)))
    if strong:
        return is_random(value, 10 if quote or "=" in op or ":" in op else 16)
    if re.search(r"[(,]", op):
        return is_random(value, 16)
    if _HEX.match(value) and len(value) in (40, 64) and not re.search(r"(?i)key|token|secret", name):
        return False
    return is_random(value, 16) and len(_DIGIT.findall(value)) >= 3


def find(text: str, low: str) -> Iterator[Found]:
    """Values that look random behind a word for a secret. `low` is `text` in lower case, same offsets."""
    done = 0
    for match in _STEM.finditer(low):
        at = match.start()
        if at < done:
            continue
        if _NEAR.search(text, match.end(), match.end() + 80) is None:
            continue
        join = _JOIN.match(text, match.end())
        if join is None:
            continue
        head = at
        while (
            head > 0
            and at - head < 40
            and (text[head - 1].isascii() and (text[head - 1].isalnum() or text[head - 1] in "_-.$"))
        ):
            head -= 1
        name = text[head : match.end()] + join.group("rest")
        if (
            _PUBLIC.search(name)
            or _OTHER_FIELD.search(name)
            or low[max(0, head - 12) : head].endswith(
                ("public ", "cache ", "page ", "공개 ", "공개", "primary ", "ssh ")
            )
        ):
            continue
        rest = join.group("rest")
        if (
            rest
            and rest[0].islower()
            and text[match.end() - 1].islower()
            and not re.match(r"(?i)s?(?:[_.$-]|$|key|token|value|secret)", rest)
        ):
            continue  # the stem is the beginning of a longer word: keyword, authority, tokenizer
        if match.group() in (
            "access",
            "private",
            "client",
            "signature",
            "webhook",
            "license",
            "licence",
            "auth",
            "bearer",
        ) and not (text[at : match.end()].isupper() or re.search(r"(?i)key|token|secret|_auth|auth$", name)):
            continue
        op = join.group("op")
        if join.end("rest") == join.start("value"):
            continue
        start = join.start("value")
        quote = op[-1] if op and op[-1] in "\"'`" else ""
        end = _cut(text, start, join.end("value"), quote)
        value = text[start:end]
        if (quote and text[end + 1 : end + 2] == ":") or low[max(0, at - 5) : at] == "<add ":
            continue  # a key of a mapping, the name of a setting
        if value and not tokens.is_stub(value) and _judge(name, match.group(), op, join.group("words"), quote, value):
            done = end
            yield Found("assigned-secret", "a random value where a key or token is named", start, end)
        elif end - start > _LONG_VALUE:
            done = end - _LONG_VALUE  # or each of a thousand words in one long value would read it again
    yield from _handled(text, low)


def _handled(text: str, low: str) -> Iterator[Found]:
    for match in _HANDLING.finditer(low):
        first = text.rfind("\n", 0, match.start()) + 1
        last = text.find("\n", match.end())
        last = len(text) if last < 0 else last
        for run in _LONG.finditer(text, max(first, match.start() - 400), min(last, match.end() + 400)):
            value = run.group()
            if (
                _HEX.match(value)
                or is_uuid(value)
                or is_digest(value)
                or is_placeholder(value)
                or is_readable_base64(value)
            ):
                continue
            if (
                is_random(value, 24)
                and _CHUNK.search(value)
                and len(_BORDER.findall(value)) >= 5
                and not is_code(value)
            ):
                yield Found("handled-secret", "a long random value in a line about a secret", run.start(), run.end())
