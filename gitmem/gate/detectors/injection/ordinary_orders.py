"""Recognises orders of ordinary work whose words the score knows from attacks, so that they do not block.

Examples: "Ignore the previous alert if it fires again", "Send the public key to the customer", "remove all records of
the user without asking for a reason". They lack what an attack needs: rules it sets aside, secrets it sends, or a
safeguard it breaks. Such a sentence may still warn. Reads folded text.
"""

from __future__ import annotations

from collections.abc import Collection

from gitmem.gate.detectors.injection.lexicon import Concept as C
from gitmem.lazy_patterns import lazy

# An order to ignore something is an attack if the sentence has one of these concepts too.
_BESIDE_OVERRIDE = frozenset(
    {C.RULES, C.PROMPT, C.UNBOUND, C.ROLE, C.CONCEAL, C.SECRET, C.PLACE, C.SPREAD, C.AGENT, C.NO_ASKING}
)
_THING = lazy(
    r"\b(?:ignore|disregard|forget|skip|discard)\b (?:(?:all|any|the|those|these|this|that|every|our|my) ){0,3}"
    r"(?:(?:previous|earlier|prior|above|old|first|last|existing|next) ){0,2}"
    r"(?:alerts?|alarms?|benchmarks?|numbers?|results?|figures?|measurements?|errors?|warnings?|failures?|lines?|files?|entries|rows?"
    r"|columns?|pages?|drafts?|versions?|invoices?|estimates?|tickets?|builds?|runs?|notes from|spikes?|flaky|noise|typing)\b"
)
_BESIDE_SECRET = frozenset(  # with one of these, sending a key is not ordinary work
    {
        C.PLACE,
        C.CONCEAL,
        C.REVEAL,
        C.AGENT,
        C.EXECUTE,
        C.PERSIST,
        C.TRIGGER,
        C.NO_ASKING,
        C.SPREAD,
        C.AUTHORITY,
        C.PROMPT,
    }
)
_PUBLIC_OR_KEPT = lazy(
    r"\bpublic (?:ssh |pgp |gpg )?keys?\b|\b(?:to|in|into|with) (?:the |our |a |your )?(?:\w+ )?(?:vault|secret manager|password manager"
    r"|keychain|1password|bitwarden|hsm|key store|kms)\b|공개 ?키|볼트에|금고에|公開鍵|公钥|保管庫"
)
_REASON = lazy(
    r"without (?:asking|questioning|needing|giving)(?: \w+)? (?:for )?(?:a |the |any )?(?:reasons?|why|explanations?|justifications?)"
    r"|no questions asked|(?:이유|사유)[를을]? ?(?:묻지|따지지|확인하지)|理由を(?:聞|問|尋)かずに|理由を(?:聞か|問わ|尋ね)ず|不(?:问|需要?)(?:理由|原因)"
)
_DESTRUCTIVE = frozenset({C.DESTROY, C.NO_ASKING, C.CHECK, C.SWITCH_OFF})
_ALLOWED = lazy(
    r"(?:샌드박스|스테이징|개발|테스트|연습|로컬|임시)[^.\n]{0,40}(?:해도|하여도|지워도|돌려도|써도) ?(?:된|됩|괜찮)"
    r"|\b(?:in|on|for) (?:the |our |a |any )?(?:sandbox|staging|test|dev(?:elopment)?|local|scratch)\b[^.\n]{0,60}\b(?:may|can|is (?:fine|ok|allowed))\b"
    r"|\b(?:sandbox|staging|test|dev(?:elopment)?|scratch) (?:accounts?|clusters?|environments?|databases?|servers?)\b[^.\n]{0,60}\b(?:may|can|is (?:fine|ok|allowed))\b"
    r"|(?:サンドボックス|テスト|開発|検証)[^。\n]{0,40}(?:して|消して)も(?:よい|いい|構わ)|(?:沙箱|测试|开发)[^。\n]{0,30}(?:可以|允许)"
)
_HIDES_OR_SENDS = frozenset({C.CONCEAL, C.SEND, C.PLACE, C.SECRET, C.OVERRIDE, C.ROLE, C.UNBOUND, C.SPREAD, C.PROMPT})
_QUOTATIONS = lazy(
    r"\W{0,8}(?:[\"'`「“][^\"'`「」”\n]{3,120}[\"'`」”][\s/,|、·-]{1,6}){1,12}[\"'`「“][^\"'`「」”\n]{3,120}[\"'`」”]\W{0,8}"
)


def is_ordinary(unit: str, parts: Collection[C]) -> bool:
    """Whether a sentence of folded text is an order of ordinary work, or only lists quoted phrases. `parts`: its
    concepts outside quotations."""
    found = set(parts)
    if C.OVERRIDE in found and not found & _BESIDE_OVERRIDE and _THING.search(unit):
        return True
    if found & {C.SECRET, C.SEND} and not found & _BESIDE_SECRET and _PUBLIC_OR_KEPT.search(unit):
        return True
    if found & _DESTRUCTIVE and not found & _HIDES_OR_SENDS and (_REASON.search(unit) or _ALLOWED.search(unit)):
        return True
    return _QUOTATIONS.fullmatch(unit) is not None


def has_cost(parts: Collection[C]) -> bool:
    """Whether the concepts of a sentence include a cost that every attack has; without one a likely finding is
    dropped."""
    found = set(parts)
    return bool(
        found & {C.CONCEAL, C.NO_ASKING, C.SWITCH_OFF, C.DESTROY, C.UNBOUND, C.ROLE, C.SPREAD}
        or (C.OVERRIDE in found and found & _BESIDE_ALL)
        or (found & {C.SECRET, C.PROMPT} and found & {C.SEND, C.REVEAL, C.PLACE, C.EXECUTE})
        or (C.PERSIST in found and found & {C.PLACE, C.SEND, C.ORDER, C.AGENT})
        or (C.PLACE in found and found & {C.SEND, C.EXECUTE})
        or (C.ORDER in found and found & {C.AUTHORITY, C.PRECEDENCE})
    )


_BESIDE_ALL = _BESIDE_OVERRIDE | {C.CHECK, C.PRECEDENCE, C.AUTHORITY, C.TASK}
