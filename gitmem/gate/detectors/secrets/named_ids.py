"""Recognises values that name a thing and open none, by the label beside them: commits, transactions, addresses,
models.

`커밋 3f2a...`, `tx 0x...`, `mint: 7xKX...` stand in notes about keys and tokens as often as the keys themselves. Pure
functions of one value in its line.
"""

from __future__ import annotations

from gitmem.lazy_patterns import lazy

# The last word before a value of hexadecimal digits, in lower-case text.
_HEX_LABEL = lazy(
    r"(?<![a-z])(?:commits?|revisions?|rev|sha(?:-?\d{1,3})?|bisect(?:ion)?|head|hash(?:es)?|tx(?:n|id|hash)?|transactions?|block|checksum"
    r"|digest|attestation|uid|image|tag|build|merged as|landed (?:in|as)|fixed (?:in|by)|reverted (?:in|by)|cherry-picked (?:as|from)"
    r"|commit-id|änderung|révision|revisión|revisão|confirmación)[\s:=>`\"'(#-]{0,6}\Z"
    r"|(?:커밋|리비전|해시|트랜잭션|거래|블록|コミット|リビジョン|ハッシュ|取引|トランザクション|提交|修订|哈希|交易|区块)"
    r"[^0-9a-z\n]{0,4}\Z"
)
_HEX_BEHIND = lazy(
    r"[\s`\"')」]{0,3}(?:(?:first )?(?:bad )?commit|is the first bad|커밋|리비전|コミット|提交|(?:에서|에|로|부터) ?(?:고[쳤치]|되돌|수정|머지|병합|롤백|들어))"
)
# The last words before a value that is made to be published.
_LABEL = lazy(
    r"(?<![a-z])(?:mint|(?:contract|token|wallet|pay|payment|donation|deposit|pool|program)? ?address(?: \([a-z ]{1,16}\))?|contract|album|track"
    r"|playlist|artist|episode|model|checkpoint)[\s:=`\"'(]{1,4}\Z"
    r"|(?:album|track|playlist|artist|episode|show):\Z|(?:민트|컨트랙트|주소|アドレス|コントラクト|地址|合约)[^0-9a-z\n]{0,4}\Z"
)
_HEX = lazy(r"(?:0x)?[0-9a-f]{7,64}")
_GIT_LENGTHS = frozenset([*range(7, 17), 40, 64])
_RESOURCE = lazy(
    r"(?:[a-z]{3,16}:)?(?:album|track|playlist|artist|episode|show):[0-9A-Za-z]{22}|mrk-[0-9a-f]{32}|[a-z]{1,14}-(?:[0-9a-f]{8}|[0-9a-f]{17})"
)  # of AWS: `ami-0...`, `subnet-0...`
_NODE_KEY = lazy(r"(?:node|mach|m|disco|nl)key:[0-9a-f]{64}")  # public keys of Tailscale
_OWN_WORDS = lazy(r"값|새로?|현재|지금|운영|개발|테스트|프로덕션|스테이징|新しい|現在の|新的?|当前的?")
# A language model by family, size and form: every part is a word, a number or a short code.
_PART = r"(?:[A-Z]?[a-z]{1,20}\d{0,2}|[A-Z]{1,8}\d{0,2}|[A-Za-z]{0,2}\d{1,4}(?:\.\d{1,2})?[A-Za-z]{0,3})"
_MODEL = lazy(
    rf"(?=[^\s]{{0,80}}(?:\d[bB](?![0-9a-z])|GGUF|GPTQ|AWQ|Q\d_|-[Ii]nstruct))(?:{_PART}[-_./:]){{2,12}}{_PART}"
)
_ASSIGNS = lazy(r"[:=：＝→]|->|\b(?:is|was|to)\b")
# Words between a word for a secret and a value that are about something else: `토큰 만료 버그는`, `トークン更新の修正は`.
_MORE_WORDS = lazy(r"[^\x00-\x7f\s]{4}|[^\x00-\x7f\s][\s][^\x00-\x7f\s]|[\"'”][ \t]?\(")


def is_named_id(low: str, start: int, end: int) -> bool:
    """Whether the label before or behind `low[start:end]` (text in lower case) says that the value names a thing."""
    value, before = low[start:end], low[max(0, start - 32) : start]
    if _LABEL.search(before):
        return True
    if _HEX.fullmatch(value) is None:
        return False
    return _HEX_LABEL.search(before) is not None or _HEX_BEHIND.match(low, end, end + 40) is not None


def is_resource(value: str) -> bool:
    """Whether a value is the id of a cloud's resource, a public key of a node or the name of a language model."""
    return any([form.fullmatch(value) is not None for form in (_RESOURCE, _NODE_KEY, _MODEL)])


def is_of_other_words(low: str, first: int, start: int, end: int) -> bool:
    """Whether the words between a word for a secret, which ends at `first`, and an id of Git are about something
    else."""
    value, between = low[start:end], low[first:start]
    if len(value) not in _GIT_LENGTHS or _HEX.fullmatch(value) is None or _ASSIGNS.search(between):
        return False
    return _MORE_WORDS.search(_OWN_WORDS.sub("", between)) is not None
