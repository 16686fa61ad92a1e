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
        C.PLACE, C.CONCEAL, C.REVEAL, C.AGENT, C.EXECUTE, C.PERSIST, C.TRIGGER, C.NO_ASKING, C.SPREAD, C.AUTHORITY,
        C.PROMPT,
    }
)  # fmt: skip
_PUBLIC = lazy(r"\bpublic (?:ssh |pgp |gpg )?keys?\b|공개 ?키|公開鍵|公钥")
_KEPT = lazy(
    r"\b(?:to|in|into|with) (?:the |our |a |your )?(?:[a-z']{1,20} ){0,3}(?:vault|secret manager|password manager"
    r"|keychain|1password|bitwarden|hsm|key store|kms)\b|볼트에|금고에|保管庫"
)
_BESIDE_KEPT = _BESIDE_SECRET - {C.REVEAL, C.TRIGGER, C.PERSIST}
# What a form says of an account is for the people who wrote it: whether a name or a password was right is not told.
_OF_AN_ACCOUNT = lazy(
    r"\b(?:do not|don't|never|must not|should not) (?:tell|inform|show) (?:the |your |any )?users? (?:that|whether|which|if|why) "
    r"(?:[a-z]{1,10} ){0,3}(?:password|account|e-?mail|user ?name|login|code|number|card|name|address|credentials?) "
    r"(?:(?:is|was|are|were) (?:wrong|incorrect|invalid|unknown|not|already|missing|right|correct|too|weak|expired|locked|disabled"
    r"|registered|taken|in use)|(?:does not|doesn't) exist|exists)\b"
)
_BESIDE_ACCOUNT = frozenset(
    {C.SEND, C.PLACE, C.NO_ASKING, C.DESTROY, C.OVERRIDE, C.ROLE, C.SPREAD, C.PERSIST, C.AGENT, C.EXECUTE}
)
# A sentence that names what it says a fault: nobody is told to do it.
_FAULT = lazy(
    r"\b(?:can|could|is able to|are able to)\b[^.\n]{4,80}\b(?:without|unreviewed|unasked)\b[^.\n]{0,60}?(?:"
    r"\b(?:we|somebody|someone|they|ops|infra) (?:should|must|need to|have to|will) (?:fix|restrict|close|change|stop|prevent|lock)"
    r"|\b(?:is|that's|which is) a (?:bug|risk|hole|gap|problem|fault|vulnerability|finding)\b|\b(?:must|should|to) be (?:fixed|restricted|closed)\b)"
)
_BESIDE_FAULT = frozenset(
    {C.ORDER, C.AGENT, C.PERSIST, C.PRECEDENCE, C.TASK, C.AUTHORITY, C.CONCEAL, C.SEND, C.PLACE, C.OVERRIDE, C.ROLE, C.SPREAD}
)  # fmt: skip
# Who looks it up need not ask: `다시 묻지 말고 티켓을 확인할 것`, of a thing that is approved by somebody.
_LOOKED_UP = lazy(
    r"(?:묻|물어보)지 ?말고 [^.\n]{0,24}(?:확인|참고|참조|검색|읽|찾아)"
    r"|\b(?:do not|don't|instead of) ask(?:ing)?(?: again| me| us)?,? (?:but )?(?:check|look (?:at|up)|see|read)\b"
    r"|(?:聞|尋|問)(?:か|ね|わ)ずに[^。\n]{0,20}(?:確認|参照)|不要再?[问問][^。\n]{0,10}(?:查看|确认|參考|参考)"
)
_APPROVED = lazy(
    r"승인 ?절차|(?:승인|허가)(?:을|를|이|가)? ?(?:받|거|필요)|\b(?:needs?|requires?|goes through|after) (?:an? |the )?(?:approval|review)\b"
    r"|承認(?:手続|が必要|を(?:経|得|受け))|(?:需要?|经过|經過)(?:审批|批准|審批)"
)
# A wish of the user in a log: to save what was said.
_SAVED = lazy(
    r"(?:대화|내용|회의|세션|작업)[^.\n]{0,24}(?:저장|기록|정리|백업|남겨|적어) ?(?:해 ?)?(?:주세요|줘|주십시오|주시|바랍니다)"
    r"|\bplease (?:save|store|record|keep|log|write down) (?:all |every |everything|the |our |this |that )[^.\n]{0,40}(?:conversations?|chats?|discussions?|sessions?|history|said)\b"
    r"|(?:会話|内容|やり取り|話)[^。\n]{0,20}(?:保存|記録)して(?:ください|下さい|ほしい)|请[^。\n]{0,12}(?:保存|记录)[^。\n]{0,12}(?:对话|内容|会话)"
)
# A wish of the user about the language of answers and messages.
_IN_A_LANGUAGE = lazy(
    r"(?:한국어|한글|영어|일본어|중국어)로 ?(?:만 ?)?(?:써|쓰|적|답|작성|남겨)|\b(?:answer|reply|respond|write|speak)\b[^.\n]{0,30}\bin"
    r" (?:english|korean|japanese|chinese)\b|(?:日本語|英語|韓国語|中国語)で(?:書|答|回答|返)|用(?:中文|英文|英语|韩语|日语)(?:写|回答|回复)"
)
_BESIDE_SAVED = frozenset(C) - {
    C.RULES, C.PROMPT, C.PERSIST, C.MEMORY, C.ORDER, C.ALL, C.USER, C.TALK, C.PLAN, C.NEGATED,
}  # fmt: skip
_BESIDE_LANGUAGE = (_BESIDE_SAVED - {C.REVEAL}) | {C.PROMPT}
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
# What a speaker runs and reports: `Let me run it in the background, then send what comes out`.
_ANNOUNCED = lazy(
    r"\b(?:let me|i'll|i will|i'm going to|i am going to) (?:now |just |also |first )?(?:run|rerun|re-run|start|restart|try) "
)
_BESIDE_ANNOUNCED = frozenset({C.EXECUTE, C.SEND, C.REVEAL, C.AGENT, C.TALK, C.ORDER, C.TASK, C.ALL, C.PLAN})
# To write a thing into a part of a document is no copy of oneself.
_ENTERED = lazy(
    r"\b(?:add|append|insert|copy|paste) it (?:to|in|into|under) (?:the|a|our|your) (?:[a-z-]{1,14} ){0,3}(?:tables?|lists?|sections?"
    r"|columns?|rows?|sheets?|spreadsheets?)\b"
)
_BESIDE_ENTERED = frozenset({C.SPREAD, C.ORDER, C.MEMORY, C.NEGATED, C.PLAN})
# What people settle among themselves: every sentence proposes or tells a decision, as in `동영상은 안 받기로 했어`.
_SENTENCE_END = lazy(r"[.!。]+(?:\s+|$)")
_AGREED = lazy(r"(?:(?<![용리발당숫문글환저독투효])자|기로 ?(?:했|하였|결정|합의|정)[가-힣]{0,4})$")
_BESIDE_AGREED = frozenset({C.ORDER, C.PLAN, C.NEGATED, C.MEMORY, C.TASK})
_HIDES_OR_SENDS = frozenset({C.CONCEAL, C.SEND, C.PLACE, C.SECRET, C.OVERRIDE, C.ROLE, C.UNBOUND, C.SPREAD, C.PROMPT})
_QUOTATIONS = lazy(
    r"\W{0,8}(?:[\"'`「“][^\"'`「」”\n]{3,120}[\"'`」”][\s/,|、·-]{1,6}){1,12}[\"'`「“][^\"'`「」”\n]{3,120}[\"'`」”]\W{0,8}"
)


def is_ordinary(unit: str, parts: Collection[C]) -> bool:
    """Whether a sentence of folded text is an order of ordinary work, or only lists quoted phrases. `parts`: its
    concepts outside quotations."""
    concepts = set(parts)
    hides_or_sends = not concepts.isdisjoint(_HIDES_OR_SENDS)
    if C.OVERRIDE in concepts and not concepts & _BESIDE_OVERRIDE and _THING.search(unit):
        return True
    if concepts & {C.SECRET, C.SEND} and (
        (not concepts & _BESIDE_SECRET and _PUBLIC.search(unit)) or (not concepts & _BESIDE_KEPT and _KEPT.search(unit))
    ):
        return True
    if C.CONCEAL in concepts and not concepts & _BESIDE_ACCOUNT and _OF_AN_ACCOUNT.search(unit):
        return True
    if C.NO_ASKING in concepts and not concepts & _BESIDE_FAULT and _FAULT.search(unit):
        return True
    if C.NO_ASKING in concepts and not hides_or_sends and _LOOKED_UP.search(unit) and _APPROVED.search(unit):
        return True
    if C.PERSIST in concepts and not concepts & _BESIDE_SAVED and _SAVED.search(unit):
        return True
    if C.PERSIST in concepts and not concepts & _BESIDE_LANGUAGE and _IN_A_LANGUAGE.search(unit):
        return True
    if concepts <= _BESIDE_ANNOUNCED and C.EXECUTE in concepts and _ANNOUNCED.search(unit):
        return True
    if concepts <= _BESIDE_ENTERED and C.SPREAD in concepts and _ENTERED.search(unit):
        return True
    if concepts & _DESTRUCTIVE and not hides_or_sends and (_REASON.search(unit) or _ALLOWED.search(unit)):
        return True
    if concepts <= _BESIDE_AGREED and _is_agreed(unit):
        return True
    return _QUOTATIONS.fullmatch(unit) is not None


def _is_agreed(unit: str) -> bool:
    """Whether every sentence of a unit of folded text ends as a proposal to a team or as a decision, in Korean."""
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(unit)]
    return all(_AGREED.search(sentence) for sentence in sentences if sentence)


def sends_what_is_public(step: str) -> bool:
    """Whether a step of a list names a public key, so that it may be sent."""
    return _PUBLIC.search(step) is not None


# `with the bearer token from the environment`: what signs a request in, and is not what it sends.
_SIGNS_IN = lazy(
    r",? ?\b(?:with|using|and|via) (?:the |a |an |our |its )(?:[a-z-]{1,14} ){0,2}(?:tokens?|keys?|credentials?|secrets?|passwords?) "
    r"(?:from|in|of|stored in|kept in|set in) (?:the |our |an? |its )?(?:[a-z-]{1,14} )?(?:env(?:ironment)?(?: variables?)?|vault|keychain"
    r"|secrets?(?: (?:manager|store))?|settings|runner)\b"
)


def without_sign_in(unit: str) -> str:
    """A sentence of folded text without what signs a request in; the sentence itself when it has none."""
    return _SIGNS_IN.sub("", unit)


def has_cost(parts: Collection[C]) -> bool:
    """Whether the concepts of a sentence include a harm that every attack does: it conceals, skips a confirmation,
    switches a check off, destroys, sends or shows a secret and the like. A likely finding without one is dropped."""
    concepts = set(parts)
    return bool(
        concepts & {C.CONCEAL, C.NO_ASKING, C.SWITCH_OFF, C.DESTROY, C.UNBOUND, C.ROLE, C.SPREAD}
        or (C.OVERRIDE in concepts and concepts & _BESIDE_ALL)
        or (concepts & {C.SECRET, C.PROMPT} and concepts & {C.SEND, C.REVEAL, C.PLACE, C.EXECUTE})
        or (C.PERSIST in concepts and concepts & {C.PLACE, C.SEND, C.ORDER, C.AGENT})
        or (C.PLACE in concepts and concepts & {C.SEND, C.EXECUTE})
        or (C.ORDER in concepts and concepts & {C.AUTHORITY, C.PRECEDENCE})
    )


_BESIDE_ALL = _BESIDE_OVERRIDE | {C.CHECK, C.PRECEDENCE, C.AUTHORITY, C.TASK}
