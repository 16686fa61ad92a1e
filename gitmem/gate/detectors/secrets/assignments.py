"""Finds random values behind a word for a secret: `TOKEN = ...`, `API key is ...`, `키는 ...`, `令牌是 ...`.

A word for a secret, a join, and a value that looks random. How random the value must look depends on the join: `=`
and quotation marks are strong, a space is weak. Passwords, which people choose, are for `passwords.py`.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache

from gitmem.gate.detectors.named_values import settings
from gitmem.gate.detectors.secrets import named_ids, tokens
from gitmem.gate.detectors.secrets.candidates import Candidates, lowered
from gitmem.gate.detectors.secrets.placeholders import (
    entropy,
    is_class_name,
    is_code,
    is_digest,
    is_pattern,
    is_placeholder,
    is_published,
    is_readable_base64,
    is_sequence,
    is_tangled,
    is_uuid,
    is_varied,
    is_words,
)
from gitmem.gate.detectors.secrets.rule_tables import label_pattern
from gitmem.gate.detectors.secrets.service_names import service_names
from gitmem.gate.detectors.secrets.tokens import Found
from gitmem.gate.detectors.spans import Spans
from gitmem.lazy_patterns import lazy

# On lower-case text: the stem of a word for a secret.
_STEM = lazy(label_pattern("secret"))
# Vendors whose keys have no beginning of their own: their name is the word for a secret.
_NAME = lazy("[a-z0-9]{4,16}")
_KEY_NAME = lazy(
    r"(?i)(?:api|access|secret|private|auth)[_ -]?(?:key|token|secret)|(?:token"
    r"|secret|apikey)$|_key$|(?:인증|비밀|액세스|접근|API|서비스|승인|보안|시크릿|앱) ?키|토큰|시크릿"
    r"|トークン|シークレット|令牌|密钥"
)
_EMBEDDED = lazy(
    r"sha(?:1|256|512)[:-]|^\d{4}-\d\d-\d\d[T ]"
    r"|[:/=][0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-"
    r"|[a-z][a-z0-9]{1,2}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-[a-z]{3}"
    r"|^[A-Z]{2,10}-\d{1,7}$"
)
# A path with an ending, a file, a host with or without a path, a place in an archive named by its object id.
_ADDRESSED = lazy(
    r"^(?:[\w.-]+/){2,}[\w.-]*\.[a-z]{2,8}$|\.(?:tgz|gz|zip|whl|jar|parquet|json|ya?ml|md|png)(?:#|$)"
    r"|^(?:\d{0,4}[A-Za-z]+\d{0,8}|\d{1,8})(?:[-_/](?:\d{0,4}[A-Za-z]+\d{0,8}|\d{1,8})?)*\.(?:mp[34]|wav|webm|mov|jpe?g|gif|svg|webp|pdf|txt|csv|tsv|log|html?|xml|docx?|xlsx?|sqlite|db|onnx|bin)$"
    r"|^(?=.{0,80}\.[a-z]{2,6}(?:/|$))(?:[a-z]{1,24}\d{0,3}(?:-[a-z]{0,24}\d{0,3}){0,5}\.){2,6}[a-z]{2,6}(?:/[a-z0-9./_-]{0,80})?$"
)
# `huggingface/deepseek-ai/DeepSeek-R1`: names in a path, each of words and short numbers. A word is read in one way
# only: words of words would be tried in all ways.
_PATH_NAME = r"(?:[A-Za-z][a-z]{1,40}(?:[A-Z][a-z]{1,20}){0,2}|[A-Za-z]?\d{1,3}[a-z]?)"
_NAMED_PATH = lazy(
    rf"[a-z]{{3,20}}(?:[-_.][a-z]{{2,20}}){{0,4}}(?:/{_PATH_NAME}(?:[-_.](?:{_PATH_NAME}|[A-Z]{{2,6}})){{0,6}}){{1,6}}"
)
# `command-r7b-12-2024`, `anthropic.claude-3-haiku-20240307-v1:0`: language models, by family, size and day.
_MODEL_NAME = lazy(
    r"(?=[^\s]{0,60}(?:\d{1,3}[bk](?![a-z])|20\d{6}|-v\d|-\d\d-20\d\d))"
    r"[a-z]{2,16}\d{0,2}(?:[-.:/](?:[a-z]{2,16}\d{0,2}|[a-z]{0,2}\d{1,3}[bkm]?|\d{4}|\d{8}|v\d{1,2}(?::\d{1,2})?)){1,8}"
)
# `DeepSeek-R1-GGUF/DeepSeek-R1-UD-IQ1_S-00001-of-00003.gguf`: files of a model's weights, by format and part.
_WEIGHTS = lazy(r"-GGUF(?:/|$)|-\d{5}-of-\d{5}(?:\.|$)")
_ERROR_CODE = lazy(r"(?:[A-Z][a-z]{1,20}){1,4}(?:\.(?:\d{3}|[A-Z]{2,5}\d{2,5}|(?:[A-Z][a-z]{1,20}){1,4})){1,4}")
_CUT_ID = lazy(r"[0-9A-Za-z-]{4,12}(?:\.{3}|…)")  # `22bb2222-...`: the beginning of an id
# `timeObserverToken`: what a program calls a thing.
_VARIABLE = lazy(r"[a-z]{2,20}(?:[A-Z][a-z]{1,20}){1,4}(?:Token|Key|Secret|Password|Id|Name|Value)s?")
_FINGERPRINT = lazy(r"^(?:[0-9A-F]{16}|[0-9A-F]{40})$")  # of OpenPGP, in capitals
_BADGE = lazy(r"badge[^\s\"'`<>{},;?]{0,80}\?(?:[\w.~%=&-]{0,60}&)?[\w-]{0,16}\Z")  # `badge.svg?token`
_SUM_OF = lazy(r"(?:sha-?\d{1,3}|md5|checksum|digest|hash)(?:sum)?s? (?:of|for) [^\n:=]{0,30}\Z")
_TOLD_SECRET = lazy(
    r"token|(?:api|access|auth|client)[_-]?key|(?:master|ryption|private|licen[cs]e|aes|hmac)[ _-]key|sign(?:ing)?_key|(?<!export-)secret|토큰|시크릿|トークン|令牌",
    re.IGNORECASE,
)
_CALLED_ID = lazy(
    r"(?:id|uid|guid|hash|sha|digest|commit|track|page|board|session|order|아이디|식별자|해시|커밋)[\s:=\"'`(]{0,4}\Z"
)
_ITEM_ID = lazy(r"(?:1password|vault|bitwarden|keeper)[^\n]{0,24}\bitem(?: id)?[\s:=\"'`(|]{0,4}\Z")  # where it is kept
# Tokens that mark a request, so that it is carried out once.
_OPEN_ID = lazy(r"(?:[a-z]+:)?o[ucn]_[0-9a-f]{32}")  # a person or chat of Feishu
_ONCE = lazy(r"(?:client|request|change|action|export|update|lock)[-_]?token", re.IGNORECASE)
# Names that say that theirs is none.
_NEGATED = lazy(
    r"(?:^|[_.-])(?:non|not|no|fake|dummy|mock|bogus|sample|example|invalid|wrong|bad)(?=[A-Z_.-])", re.IGNORECASE
)
_FOREIGN_KEY = lazy(
    r"(?:인증|비밀|액세스|접근|api|서비스|연동|발급|승인|보안|어드민|관리자|비공개|서명|라이선스|앱|서버) ?키|토큰|시크[릿렛]|秘密鍵|署名|私[钥鑰]|授权码|トークン|シークレット|apiキー|令牌|密钥",
    re.IGNORECASE,
)
_LOUD = lazy(r"(?:KEY|TOKEN|SECRET|ACCESS|PRIVATE)$|-(?:access|secret|private)(?:-key)?$")
# The rest of the identifier, its closing marks, then what joins it to a value.
_JOIN = lazy(
    r"(?P<rest>[A-Za-z0-9_.$]{0,48}(?:-[A-Za-z]{2,12}(?![A-Za-z0-9])){0,3})(?P<close>[\"'`"
    r"*\])]{0,4}[ \t]{0,4}(?:\([^()\n\"'`]{1,24}\))?)"
    r"(?P<words>[ \t]{1,3}(?:for|of|in|to|on)(?:[ \t]{1,2}[A-Za-z0-9_-]{1,16}){1,4}?(?:[ \t]{1,2}(?:is|was)\b|(?=[ \t]?[:=]))"
    r"|(?:[ \t]{1,2}[a-z]{1,12}){1,6}?(?:[ \t]{1,2}(?:is|was|to)\b|(?=:[ \t]))"
    r"|[ \t]{1,2}(?:to\b|--(?:body|value|secret-string|data|text)(?=[ =]))"
    r"|(?:[ \t]{1,3}(?:key|token|secret|id|value|for|the|of|in|is|was|string"
    r"|const|str|var|prod|production|staging|dev|test|our|new|current|old|now"
    r"|string\?)\b)*"
    r"|[^\x00-\x7f\n]{1,12}(?:[ \t]{1,2}[^\x00-\x7f\n]{1,10}){0,2})"
    r"(?P<op>[ \t]{0,40}(?:[:=?.!+|<>(,~\\\[{-]|&gt;"
    r"|&quot;){0,6}[ \t\"'`=>\[({\\*「『“‘：＝（-]{0,40}"
    r"(?:(?:[bu]|\[?\]?byte\(|(?:bytes|bytearray|Secret|SecretStr|String)\()[\"']|\n[ \t]{1,12}[\"'`]?|(?<=\?)[ \t]{0,3}\n(?:[A-Za-z][\w-]{0,20}[:>][ \t])?)?)"
    r"(?P<value>[!-~]{10,1024})"
)
_NEAR = lazy(r"[!-~]{10}")
_VALUE_END = lazy(r"[\"'`<>,;\\)\]}|]|&quot;|&amp;|&(?=\w+=)")
_TRAIL = ".:!?*"
# Identifiers that hold such a word and name no secret.
# (`license`, `client` and the like name a secret only together with `key`, `secret` or `token`.)
_PUBLIC = lazy(
    r"public|(?:exclude|ignore|allow|scan|detect)[-_]secrets|pub_?key|certificate|publish|anon|recv|(?<![a-z0-9_])resourcekey|(?:payment|customer|order|site)_?key|foreign|idempoten|keyword|keyboard|keyname|keyid"
    r"|keyring|keystore|tokeniz|tokens?_?(?:count|limit|budget|type)|fingerprint|checksum|digest|integrity|sha\d|commit"
    r"|monkey|turkey|hockey|author(?!i[sz])|authority|i18n|localstorage|etag|continuation|(?:page|cursor|next|sync|change|update|lock|client-?request)[-_]?(?:key|token)$",
    re.IGNORECASE,
)
# The names of entries in a store, not of what opens it: `CACHE_KEY`, `redis key`, but `REDIS_TOKEN`.
_STORE_KEY = lazy(
    r"(?:cache|redis|s3)[a-z_.-]{0,24}?key\Z(?<!access.key)(?<!secret.key)(?<!api.key)(?<!encryption.key)(?<!signing.key)(?<!auth.key)(?<!master.key)",
    re.IGNORECASE,
)
# A word and an id that is nearly a UUID: the name of an object, where no more than "key" is said.
_OBJECT = lazy(r"[a-z]{3,16}-[0-9a-f]{6,8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12,13}")
_VERSION = lazy(r"(?:^|[-@_/])v?\d{1,4}(?:\.\d{1,5}){1,3}(?:[-.][a-z0-9.]{1,12}){0,3}$")
_RELEASE = lazy(r"v?\d{1,4}\.\d{1,4}\.\d{1,4}[-.][a-z]")  # `1.4.0.tgz#...`, `2.0.0-py3-none-any.whl#...`
_WORDED_PATH = lazy(r"(?:v\d{1,2}|[a-z_-]{3,24})(?:/(?:v\d{1,2}|[a-z_-]{2,24})){1,8}/?")  # `v1/objects/licenses`
_OF_SOMETHING = lazy(
    r"\b(?:files?|path|names?|length|size|count|server|service|holder|owner|pair|type|request|session|job|run|order|bucket"
    r"|lives?|stays?|comes?|points?|belongs|goes|moved|refers?)\b"
)
_TAGGED = lazy(r"^([A-Za-z][\w.-]{3,40})-(?:[0-9a-f]{40}|[0-9a-f]{64})$")  # `linux-build-4f3c...`
_CALLED = lazy(r"key|token|secret|access|private|키|토큰|시크릿")
_IDENTIFIER = lazy(
    r"\b(?:id|ids|uid|guid|page|track|board|trace|event|index|zone|user|order|account|ray)\b|주문|사용자"
)
_FIELD_WORD = lazy(r" (?:id|file|name|path|count|length|server)\b")
_UPPER_NAME = lazy(r"(?:TOKEN|SECRET|ACCESS|PRIVATE)$")
_SHA = lazy(
    r"commit|sha|digest|hash|checksum|image|revision|커밋|해시|コミット|提交|version|build"
    r"|release|@|app_?id|client_?id|user_?id|issue"
)
_ASCII_LETTER = lazy(r"[a-z]")
_GLUED = lazy(r"_([0-9A-Za-z]{20,128})(?![0-9A-Za-z])")
# Words that say so only where the name is not that of a credential: `CACHE_KEY`, but `PAGERDUTY_API_KEY`, `S3_SECRET_KEY`.
_DATA = lazy(
    r"primary|partition|sort|index|page|cursor|next|hash|translation|dedup|object|map|dict|lock|group|row|test[-_]?id",
    re.IGNORECASE,
)
_GENERATED = lazy(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])[0-9A-Za-z+/]{32,200}={0,2}")
_TEMPLATE = lazy(r"[rbf]{1,2}[\"'][^\"']{0,40}\{")
_CREDENTIAL = lazy(
    r"(?:api|app|access|auth|private|secret|licen[cs]e|server|service|account|admin|master|root|client)[_-]?(?:key|token)|secret",
    re.IGNORECASE,
)
_PRINTED = lazy(r"test vectors?\b[^\n]{0,40}\Z|\brfc \d{4}[^\n]{0,40}\Z")  # values of a standard
_STORES = ("cache ", "redis ", "s3 ", "캐시 ", "キャッシュ", "缓存")
_KEYS = frozenset(["key", "키", "キー"])
# Words that name a secret only together with one that does.
_WIDE_STEMS = frozenset(["access", "private", "client", "signature", "webhook", "license", "licence", "auth", "bearer"])
_OTHER_FIELD = lazy(
    r"(?:^|[_.-])(?:id|ids|name|names|type|url|uri|path|file|dir|length|len|size|count"
    r"|version|format|expir\w*|ttl|header|prefix"
    r"|regex|pattern|arn|method|mode|scope|scopes|alg|algorithm|usage|field|column|label"
    r"|alias|ref|endpoint|host|server|service|provider|app|image|repo|branch|tag)$"
    r"|(?:Id|ID|Name|Type|Url|URL|Uri|Path|File|Length|Count|Version|Format|Expiry|Header"
    r"|Prefix|Alias|Ref|Endpoint|Provider)$"
)
_LONG_VALUE = 64
_NOT_SECRET_BEFORE = (
    "public ", "page ", "primary ", "ssh ", "foreign ", "partition ", "sort ", "image ", "hash ",
    "site ", "gpg: ", "gpg ", "pgp ", "unique ", "composite ", "object ", "lookup ", "bucket ", "dedup ", "row ", "map ",
    "publishable ", "verification ", "idempotency ", "멱등", "멱등 ", "검증 ", "객체 ", "서명 검증 ",
    "공개 ", "공개", "해시 ", "기본 ", "외래 ", "정렬 ", "파티션 ", "公開", "公开", "公",
)  # fmt: skip
_HEX = lazy(r"^[0-9a-fA-F]+$")
_DIGIT = lazy("[0-9]")
_STRONG_OP = lazy(r"[=:：＝>→「『“]")
_STRONG_WORDS = lazy(r"\b(?:is|was|to)\b|[은는이가是为為はが]$")
_LISTED = lazy(r"[(,]")
_SECRET_WORD = lazy(r"(?i)key|token|secret|\bpat\b")
_NAME_GOES_ON = lazy(r"(?i)s?(?:[_.$-]|$|key|token|value|secret)")
_NARROW = lazy(r"(?i)key|token|secret|_auth|auth$")
# A letter of ASCII is `a`, a digit `1`, all else itself.
_KINDS = str.maketrans({**dict.fromkeys(string.ascii_letters, "a"), **dict.fromkeys(string.digits, "1")})
_ODD_SYMBOL = lazy(r"[!@#$%^&*?{}\[\]()|<>~]")

# Lines on which somebody speaks of handling a secret: a long random run there needs no further name.
_HANDLING = lazy(
    r"\b(?:is|was|as) (?:the|our|my|an?) [a-z ]{0,24}(?:key|token|secret)"
    r"|[이가은는] ?(?:새 ?|현재 ?|임시 ?)?(?:api )?(?:토큰|키|시크릿)"
    r"|が(?:新しい|今の)?(?:トークン|キー|鍵)|是新?的?(?:令牌|密钥|token)|"
    r"rotat|revok|leak|pasted|credential|expire[sd]?\b|deploy\w* (?:uses|with)"
    r"|bearer|api.?key|nightly job|교체|폐기|발급|만료|유출|재발급|배포할|로그인"
    r"|轮换|輪換|吊销|泄露|失效|更换|ローテ|失効|再発行|漏洩|差し替え"
)
# How a value is handed over that stands at the end of its line or alone on the next one.
_HANDED = lazy(
    r"\b(?:delete|remove|burn|shred) (?:this |it |after )|\b(?:do not|don't|never) share\b|\bkeep (?:this|it) (?:secret|private|safe)"
    r"|\binto (?:the )?(?:vault|1password|bitwarden|keychain)\b|(?:지워|삭제해|파기해) ?(?:주세요|줘)|공유 ?금지|削除して|消して|共有禁止|请勿分享|看完?后?删"
)
# A heading under which values stand that open something.
_KEPT_UNDER = lazy(
    r"credentials?\b|secrets?\b|\b(?:api|access|service) (?:keys|tokens)\b|자격 ?증명|시크릿|(?:api|접근) ?키|クレデンシャル|凭证|密钥"
)
_ITEM = lazy(r"[ \t]*[-*+] [^\n]{1,40}[:：=] ?[`\"']?\Z")
_CHUNK = lazy(r"[0-9A-Za-z]{12,}")
_LONG = lazy(
    r"(?<![$0-9A-Za-z_./@=:%+#-])[0-9A-Za-z_][0-9A-Za-z_+./=-]{22,200}(?<![.=/])={0,2}(?![0"
    r"-9A-Za-z_/@:%+-])"
)


def _borders(kinds: str) -> int:
    """How often letters and digits meet in a value translated by `_KINDS`."""
    return kinds.count("a1") + kinds.count("1a")


def is_random(value: str, least: int, borders: int = 2) -> bool:
    """Whether a value of at least `least` characters looks made by a machine.

    `borders`: how often letters and digits must meet at least; names have few such places, random values many.
    """
    size = len(value)
    if size < least or not is_varied(value) or is_pattern(value):
        return False
    if not value.isalnum() and len(set(_ODD_SYMBOL.findall(value))) >= 5 and sum(map(str.isalpha, value)) >= 6:
        return True
    kinds = value.translate(_KINDS)
    if "a" not in kinds or is_words(value) or is_code(value):
        return False
    digits = kinds.count("1")
    if digits == 0:
        return size >= 16 and value.isalnum() and entropy(value) > 3.0 and not is_class_name(value)
    meet = _borders(kinds)
    if size < 16:
        return meet >= 3 or (meet >= 2 and digits >= 3) or (meet > 0 and _ODD_SYMBOL.search(value) is not None)
    return meet >= borders and entropy(value) > 2.9


def _cut(text: str, start: int, limit: int, quote: str) -> int:
    """The end of the value that begins at `start`: its closing quotation mark, or the first character that no bare
    value holds."""
    if quote:
        end = text.find(quote, start, limit)
        if end >= 0:
            return end
    elif is_tangled(text[start:limit]):
        return start + len(text[start:limit].rstrip("\"'`;,"))
    stop = _VALUE_END.search(text, start, limit)
    if stop:
        end = stop.start()
    else:
        end = limit
    while end > start and text[end - 1] in _TRAIL:
        end -= 1
    return end


def _judge(name: str, op: str, words: str, quote: str, value: str) -> bool:
    """Whether a value behind a word for a secret is one.

    `name`: the identifier with the word. `op`: what joins it to the value. `words`: words between. `quote`: the
    opening quotation mark, "" for none.
    """
    if is_placeholder(value) or is_digest(value) or is_readable_base64(value) or is_published(value):
        return False
    if is_sequence(value) or _ADDRESSED.search(value) or _WORDED_PATH.fullmatch(value) or named_ids.is_resource(value):
        return False
    if any([form.fullmatch(value) for form in (_NAMED_PATH, _MODEL_NAME, _ERROR_CODE, _CUT_ID)]):
        return False
    if not quote and _VARIABLE.fullmatch(value):
        return False
    if _OBJECT.fullmatch(value) and not _KEY_NAME.search(name):
        return False
    if _FINGERPRINT.match(value) and not _TOLD_SECRET.search(name):
        return False
    tagged = _TAGGED.match(value)
    if tagged and is_words(tagged.group(1)):
        return False
    strong = bool(_STRONG_OP.search(op)) or bool(quote) or bool(_STRONG_WORDS.search(words))
    if words.count(" ") >= 3:  # a sentence, no assignment: it may name what the value is
        if any([form.search(words) for form in (_SHA, _PUBLIC, _DATA, _OF_SOMETHING)]):
            return False
        return not is_uuid(value) and is_random(value, 20) and not is_words(value)
    if not quote and is_code(value) and len(set(_ODD_SYMBOL.findall(value))) < 5:
        return False
    if _EMBEDDED.search(value) or (is_words(_VERSION.sub("", value)) and not is_tangled(value)):
        return False
    if is_uuid(value):
        if _ONCE.search(name):
            return False
        named = _KEY_NAME.search(name) is not None or _UPPER_NAME.search(name) is not None
        sign = op.strip()
        if strong or sign in ("", "("):
            return named
        return sign in ("-", "|", "「", "『", "“") and (named or _LOUD.search(name) is not None)
    if quote or "=" in op or ":" in op:
        return is_random(value, 10, 1)
    if strong:
        return is_random(value, 12, 1)
    if _LISTED.search(op):
        return is_random(value, 16)
    if _HEX.match(value) and len(value) in (40, 64) and not _SECRET_WORD.search(name) and not _FOREIGN_KEY.search(name):
        return False
    loud = _LOUD.search(name) is not None or _FOREIGN_KEY.search(name) is not None
    return is_random(value, 16) and (loud or len(_DIGIT.findall(value)) >= 3)


def find(text: str, candidates: Candidates, taken: Spans | None = None) -> Iterator[Found]:
    """The random values behind a word for a secret, near the `candidates` of a text.

    `taken`: spans that the caller has found already; long values there are not judged again.
    """
    taken = taken or Spans()
    for first, last in candidates.near:
        yield from _assigned(text, candidates.low, first, last)
        yield from _vendored(text, candidates.low, first, last)
    for setting in settings(text, candidates.low):
        for found in _assigned(setting.line, lowered(setting.line), 0, len(setting.line)):
            shift = setting.start - setting.inside
            yield found._replace(start=found.start + shift, end=found.end + shift)
    long = [run for run in candidates.runs if run[1] - run[0] >= 24]
    spoken = None
    if len(long) > _MAX_LINES_ALONE:
        spoken = _spoken(candidates.low)
    for run in long:
        yield from _handled(text, candidates.low, run, spoken, taken)


_MAX_LINES_ALONE = 16  # long values whose lines are read one by one


def _spoken(low: str) -> tuple[list[int], list[int]]:
    """(starts, ends) of all phrases in a text about handling a secret."""
    spans = [match.span() for match in _HANDLING.finditer(low)]
    return [start for start, _ in spans], [end for _, end in spans]


def _is_handled(low: str, first: int, last: int, spoken: tuple[list[int], list[int]] | None) -> bool:
    """Whether first..last holds a phrase about handling a secret; `spoken`: as of `_spoken`, None to search anew."""
    if spoken is None:
        return _HANDLING.search(low, first, last) is not None
    at = bisect_left(spoken[0], first)
    return at < len(spoken[0]) and spoken[1][at] <= last


def _name_start(text: str, at: int) -> int:
    """Where the identifier begins that holds the word for a secret at `at`."""
    head = at
    while (
        head > 0
        and at - head < 40
        and text[head - 1].isascii()
        and (text[head - 1].isalnum() or text[head - 1] in "_-.$")
    ):
        head -= 1
    return head


def _names_no_secret(text: str, low: str, stem: re.Match[str], join: re.Match[str], head: int) -> bool:
    """Whether the identifier around a word for a secret, which begins at `head`, names something else."""
    at, rest = stem.start(), join.group("rest")
    name = text[head : stem.end()] + rest
    before = low[max(0, head - 12) : head]
    if (
        _PUBLIC.search(name)
        or (_DATA.search(name) and not _CREDENTIAL.search(name))
        or _OTHER_FIELD.search(name)
        or _NEGATED.search(name)
        or _FIELD_WORD.search(join.group("words"))
        or before.endswith(_NOT_SECRET_BEFORE)
        or (stem.group() in _KEYS and before.endswith(_STORES))
    ):
        return True
    if rest and rest[0].islower() and text[stem.end() - 1].islower() and not _NAME_GOES_ON.match(rest):
        return True  # the stem is the beginning of a longer word: keyword, authority, tokenizer
    loud = text[stem.end() : stem.end() + 1] == "-" and text[at - 1 : at] == "-"  # vendor-access-0123...
    return stem.group() in _WIDE_STEMS and not (
        loud or text[at : stem.end()].isupper() or _NARROW.search(name) is not None
    )


def _assigned(text: str, low: str, first: int, last: int) -> Iterator[Found]:
    done = 0
    for match in _STEM.finditer(low, first, last):
        at = match.start()
        if at < done:
            continue
        glued = _GLUED.match(text, match.end())
        if glued and text[at : match.end()].isupper() and is_random(glued.group(1), 20) and not is_uuid(glued.group(1)):
            done = glued.end()
            yield Found("assigned-secret", "a random value where a key or token is named", *glued.span(1))
            continue
        arn = low.rfind("arn:", max(0, at - 100), at)
        if arn >= 0 and arn > max([low.rfind(mark, max(0, at - 100), at) for mark in " \n\"'"]):
            continue  # the name of a secret kept elsewhere
        if _NEAR.search(text, match.end(), match.end() + 80) is None:
            continue
        join = _JOIN.match(text, match.end())
        if join is None or join.end("rest") == join.start("value"):
            continue
        head = _name_start(text, at)
        if _names_no_secret(text, low, match, join, head):
            continue
        op, start = join.group("op"), join.start("value")
        quote = ""
        if op and op[-1] in "\"'`":
            quote = op[-1]
        end = _cut(text, start, join.end("value"), quote)
        value = text[start:end]
        if (quote and text[end + 1 : end + 2] == ":") or low[max(0, at - 5) : at] == "<add ":
            continue  # a key of a mapping, the name of a setting
        if (op in ("", "-") or (op == "?" and _QUERY.match(value))) and _is_in_path(text, at):
            continue  # words and a number that name a page in its address, and what the address carries has names
        if is_uuid(value) and "alt=media" in low[max(0, start - 80) : start]:
            continue  # of a file that is given to whoever has its address
        if named_ids.is_named_id(low, start, end) or named_ids.is_of_other_words(low, match.end(), start, end):
            continue
        if _ENTRY.match(text, end) and text[head : match.end()] == "key":
            continue  # of an entry of a map: `{ key = "0x...", value = ... }`
        if _BADGE.search(low, max(0, at - 100), at) or (_HEX.match(value) and _SUM_OF.search(low, max(0, at - 60), at)):
            continue  # a picture's address, made to be shown; the checksum of what is named
        if text[max(0, head - 2) : head] == "::" or _TEMPLATE.match(value):
            continue  # the name of a type, or a string that a program fills in
        if _PRINTED.search(low, max(0, at - 60), at):
            continue
        if _STORE_KEY.search(text[head : match.end()]) and not _GENERATED.fullmatch(value):
            continue
        wide = text[max(0, head - 8) : match.end()] + join.group("rest")
        if value and not tokens.is_stub(value) and _judge(wide, op, join.group("words"), quote, value):
            done = end
            yield Found("assigned-secret", "a random value where a key or token is named", start, end)
        elif end - start > _LONG_VALUE:
            done = end - _LONG_VALUE  # or each of a thousand words in one long value would read it again


_ENTRY = lazy(r"[\"'`]?[,\s]{1,40}[\"']?value[\"']?\s{0,3}[:=]")
_IN_QUERY = lazy(r"://[^\s\"'`<>]{1,380}[?&]\Z")  # a value with a name of its own, which says what it is
_BEFORE_PATH = lazy(r"://[^\s\"'`<>?=@|]{0,300}\Z")


def _is_in_path(text: str, at: int) -> bool:
    """Whether an offset is in the host or the path of an address, before its query."""
    return _BEFORE_PATH.search(text, max(0, at - 300), at) is not None


_QUERY = lazy(r"[A-Za-z][\w.-]{0,40}=")
_KEY_LETTERS = lazy(r"[\w.~+/=:%-]+")


@cache
def _cjk_name() -> re.Pattern[str]:
    return re.compile(service_names().cjk)


@cache
def _service_name() -> re.Pattern[str]:
    """A pattern for what may be the name of a service: any word of Latin letters, and the known names in Korean,
    Japanese and Chinese."""
    return re.compile(f"[a-z0-9]{{4,16}}|{service_names().cjk}")


def _vendored(text: str, low: str, first: int, last: int) -> Iterator[Found]:
    """Random values behind the name of a vendor alone: `datadog: 0123...`."""
    near = low[first:last]
    latin = service_names().latin
    if latin.isdisjoint(_NAME.findall(near)) and (near.isascii() or _cjk_name().search(near) is None):
        return
    for match in _service_name().finditer(low, first, last):
        if match.group().isascii() and match.group() not in latin:
            continue
        join = _JOIN.match(text, match.end())
        if (
            join is None
            or join.end("rest") == join.start("value")
            or _ASCII_LETTER.match(low, max(0, match.start() - 1), match.start())
        ):
            continue
        start = join.start("value")
        op = join.group("op")
        quote = ""
        if op and op[-1] in "\"'`":
            quote = op[-1]
        end = _cut(text, start, join.end("value"), quote)
        value, between = text[start:end], low[match.start() : start]
        if (
            len(value) < 16
            or _PUBLIC.search(between)
            or _DATA.search(between)
            or _SHA.search(between)
            or _IDENTIFIER.search(between)
            or _OTHER_FIELD.search(between.rstrip(" :=\"'`"))
            or text[match.end() : match.end() + 1] == "|"
            or (op == "?" and _QUERY.match(value))  # its own names say what the values are
            or not _KEY_LETTERS.fullmatch(value)
            or _is_in_path(text, start)  # the name of a page or a file in its address
            or _MODEL_NAME.fullmatch(value)
            or _WEIGHTS.search(value)
            or named_ids.is_resource(value)
            or named_ids.is_named_id(low, start, end)
        ):
            continue
        if (
            is_digest(value)
            or is_placeholder(value)
            or is_code(value)
            or is_readable_base64(value)
            or is_sequence(value)
        ):
            continue
        if _ADDRESSED.search(value) or _RELEASE.match(value):
            continue
        if (is_uuid(value) and not _CALLED.search(between)) or _OPEN_ID.fullmatch(value):
            continue
        least = 20
        if "=" in op or ":" in op:
            least = 16
        if is_random(value, least) and len(_DIGIT.findall(value)) >= 3:
            yield Found("vendor-secret", "a random value behind the name of a vendor", start, end)


def _handled(
    text: str, low: str, run: tuple[int, int], spoken: tuple[list[int], list[int]] | None, taken: Spans
) -> Iterator[Found]:
    """A long random value in a line about handling a secret, in a table cell, or beside the name of a vendor."""
    start, end = run
    match = _LONG.search(text, max(0, start - 1), min(len(text), end + 1))
    if match is None or not taken.is_free(*match.span()):
        return
    value = match.group()
    if (
        _ITEM_ID.search(low, max(0, match.start() - 60), match.start())
        or (_QUERY.match(value) and _IN_QUERY.search(text, max(0, match.start() - 400), match.start()))
        or _HEX.match(value.removeprefix("0x"))
        or is_uuid(value)
        or is_digest(value)
        or is_published(value)
        or named_ids.is_resource(value)
        or named_ids.is_named_id(low, *match.span())
        or not _CHUNK.search(value)
        or _borders(value.translate(_KINDS)) < 5
    ):
        return
    first = low.rfind("\n", max(0, start - 400), start) + 1 or max(0, start - 400)
    last = low.find("\n", end, end + 400)
    cell = (
        low[first:start].lstrip(" \t>").startswith("|")
        and len(value) >= 32
        and text[end : end + 2].lstrip(" `").startswith("|")
    )
    if last < 0:
        last = min(len(low), end + 400)
    is_secret_line = cell or _is_handled(low, first, last, spoken) or _is_handed(low, first, start, low[end:last])
    if not is_secret_line and (
        not value.isalnum() or not _names_vendor(low, max(first, start - 60), min(last, end + 60))
    ):
        return
    if is_placeholder(value) or not is_random(value, 24) or is_code(value) or is_readable_base64(value):
        return
    if is_secret_line or not _CALLED_ID.search(low, max(first, start - 20), match.start()):
        yield Found("handled-secret", "a long random value in a line about a secret", *match.span())


def _is_handed(low: str, first: int, start: int, behind: str) -> bool:
    """Whether a value at the end of its line is handed over there, in the line before, or kept under a heading for
    credentials."""
    if behind.strip(" \t`\"'|.*="):
        return False
    above = _said_above(low, first, start)
    if _HANDED.search(low, above, start) is not None or (
        above < first and _HANDLING.search(low, above, first) is not None
    ):
        return True
    return _is_kept(low, first, start)


def _said_above(low: str, first: int, start: int) -> int:
    """The start of the line before a value that begins its line; else the start of its own line."""
    if first == 0 or low[first - 1] != "\n" or low[first:start].strip(" \t`\"'>*-"):
        return first
    above = low.rfind("\n", max(0, first - 202), first - 1) + 1
    if above or first <= 201:
        return above
    return first


def _is_kept(low: str, first: int, start: int) -> bool:
    """Whether a value ends a list item (`- mailer: ...`) below a heading for credentials."""
    if _ITEM.match(low, first, start) is None:
        return False
    heading = low.rfind("\n#", max(0, first - 1_000), first) + 1
    if not heading and not low.startswith("#"):
        return False
    return _KEPT_UNDER.search(low, heading, low.find("\n", heading)) is not None


def _names_vendor(low: str, first: int, last: int) -> bool:
    """Whether first..last holds the name of a service whose keys have no beginning of their own."""
    latin, near = service_names().latin, low[first:last]
    if near.isascii():
        return not latin.isdisjoint(_NAME.findall(near))
    names = [match.group() for match in _service_name().finditer(low, first, last)]
    return any([name in latin or not name.isascii() for name in names])
