"""Sentences about a secret that send it nowhere: a question for it, an order to keep it, the way to get one's own.

"What is the wifi password?", "Never commit `.env`", "Get a key at https://... and put it in OPENAI_API_KEY": the words are those of
an instruction that leaks a secret, and FAQs, rules and set-up pages are full of them. `is_ordinary` reads of folded text who is to do
what; it says nothing of a sentence in which anything else is found. It judges no danger: what it knows may still warn.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from gitmem.gate.detectors.injection.lexicon import Concept as C
from gitmem.lazy_patterns import lazy

_AROUND = frozenset({C.ORDER, C.PLAN, C.TALK, C.ALL, C.SECRET})  # may stand in any of them
_ASKED = _AROUND | {C.REVEAL, C.AUTHORITY}
_FORBIDDEN = _AROUND | {C.AGENT, C.NEGATED, C.TRIGGER, C.REVEAL, C.SEND, C.MEMORY, C.USER}
_FETCHED = _AROUND | {C.REVEAL, C.SEND, C.PLACE, C.SPREAD, C.AUTHORITY, C.CHECK, C.MEMORY}

_QUESTION = lazy(
    r"[^\w]{0,8}(?:q\d{0,3}[:.)] ?)?(?:(?:what|where|who|which|how|why|when)(?:'s|'re)? (?![^?]{0,60}\byours?\b)"
    r"|[^?]{0,60}(?:뭐|뭔|무엇|어디|누구|누가|어떻게|어느|언제|왜 )|[^?]{0,40}(?:何|どこ|誰|どう|いつ|なぜ)|[^?]{0,40}(?:什么|哪|谁|怎么|如何))"
    r"[^?.!。\n]{0,100}\?\W{0,4}"
)
_USES = (
    "read|open|access|print|log|commit|paste|share|send|store|expose|post|upload|put|include|write|keep|touch|appear|copy|reuse|check in"
    "|hard-?code|enter|type|pass"
)
_KEPT_BACK = lazy(
    r"\b(?:(?:must|may|should|shall|can|do|does|is|are) ?n[o']t|cannot|can't|don't|never|not allowed to|no one may|nobody may)"
    rf" (?:ever |be |to |directly ){{0,2}}(?:{_USES})"
    r"|(?:읽|열|접근|출력|공유|전송|커밋|붙여 ?넣|저장|노출|올리|올려|보내|남기|적|기록|복사|건드리|포함)[가-힣]{0,3} ?"
    r"(?:안 ?(?:된|돼|됩)|마(?:라|세요|십시오|시오)?\b|말|않|못 ?(?:하|한)|금지|없)"
    r"|(?:読|開|アクセス|出力|共有|送|コミット|貼|保存|書)[^、。,.]{0,5}(?:て|で)は(?:いけ|なら|だめ)|(?:読|開|送|書|貼)[^、。,.]{0,5}ないで"
    r"|(?:不得|不要|不能|不可|禁止|切勿|请勿|严禁)[^,，.。;；]{0,12}(?:读|打开|访问|打印|共享|分享|发送|提交|粘贴|保存|写|记录|泄露)"
)
_CLAUSES = lazy(
    r"[;；:]|[.!?。][ ]|\b(?:but|instead|then|rather|unless|except)\b|(?:대신|말고|하고|しかし|代わり|而是|但)"
)

_ADDRESS = lazy(r"(?:https?|ftp|wss?)://[^\s)\"'`<>\]]{0,300}")
_OTHER_PLACE = lazy(
    r"[\w.+-]{1,40}@[\w-]{1,40}\.\w{2,8}|\b\d{1,3}(?:\.\d{1,3}){3}\b|\bwebhook|\b(?:gist|pastebin|paste)\."
)
_FILLED_IN = lazy(r"[?={}$<%]")
_VISITED = lazy(
    r"\b(?:from|visit|see|open|(?:go|log ?in|log ?on|sign ?in|sign ?up|head(?: over)?|navigate) (?:to|at|on)|register (?:at|on|with))"
    r"[ :(]{1,3}(?:[\w .-]{1,30} \()?\Z|(?:从|在|访问|打开|登录) ?\Z"
)
_STANDS_AT = lazy(r"\b(?:at|on|in|under|via)[ :(]{1,3}\Z|\w \(\Z")
_GETS = "get|gets|obtain|create|generate|make|find|fetch|grab|retrieve|request|copy|receive|apply for|download|look up|listed|shown|available|issued|free"
_GIVES = "put|send|post|upload|paste|submit|enter|store|save|drop|leave|share|publish|push|sync|transmit|mail|give|write|forward|report|attach"
_VERB = lazy(rf"\b(?:(?P<gets>{_GETS})|{_GIVES})\b")
_IS_SOURCE = lazy(
    r"[)\s]{0,2}(?:에서|에 ?(?:로그인|접속|들어가|가입)|[을를] ?(?:열|방문)"
    r"|(?:から|で|にログインし|にアクセスし)(?=[^。]{0,40}(?:取得|発行|作成|コピー|確認|生成))|(?:上|中|页面)?(?:创建|获取|申请|复制|生成))"
)
_LOCAL = (
    r"(?:\.env\b|[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){1,6}\b|config\b|settings\b|keychain|keyring|password manager|shell\b|environment\b"
    r"|header\b|authorization header|x-api-key|설정|환경 ?변수|키체인|헤더|環境変数|設定|ヘッダ|环境变量|配置|请求头)"
)
_PUT_LOCALLY = lazy(
    rf"\b(?:in|into|as|to|under|for) (?:(?:your|the|a|an|local|of) |[\"'`~/]){{0,4}}(?:[\w/-]{{1,30}} )?{_LOCAL}"
    rf"|{_LOCAL}[^\s,.]{{0,12}} ?(?:[가-힣]{{2,6}} ?)?(?:에|로|으로)(?![가-힣])|{_LOCAL}[^。,.]{{0,12}}[にへ]|(?:写入|存入|填入|设置|放入) ?{_LOCAL}"
)


def question_and_answer(unit: str) -> tuple[str, str]:
    """A question with which a sentence of folded text begins, and what follows; two empty strings where there is none."""
    question = _QUESTION.match(unit)
    return (unit[: question.end()], unit[question.end() :].strip()) if question else ("", "")


def is_ordinary(unit: str, concepts: Collection[C]) -> bool:
    """Whether a sentence of folded text that names a secret only asks where it is, forbids to use it or says where one's own is got.

    `concepts` are those outside quotation.
    """
    found = set(concepts)
    if C.SECRET not in found:
        return False
    if found <= _ASKED and _QUESTION.fullmatch(unit.strip()):
        return True
    if found <= _FORBIDDEN and _KEPT_BACK.search(unit) and not _CLAUSES.search(unit.strip().rstrip(".")):
        return True
    return C.PLACE in found and found <= _FETCHED and _is_fetched(unit, bool(found & {C.SEND, C.SPREAD}))


def _is_fetched(unit: str, put: bool) -> bool:
    """Whether each address of a sentence is where a secret comes from, and, if it is `put` anywhere, that is a setting of one's own."""
    addresses = list(_ADDRESS.finditer(unit))
    if not addresses or _OTHER_PLACE.search(_ADDRESS.sub(" ", unit)) or not all(_sources(unit, addresses)):
        return False
    return not put or _PUT_LOCALLY.search(_ADDRESS.sub(" ", unit)) is not None


def _sources(unit: str, addresses: list[re.Match[str]]) -> Iterator[bool]:
    """Of each address whether what is spoken of comes from there."""
    for address in addresses:
        before = unit[max(0, address.start() - 120) : address.start()]
        visited = _VISITED.search(before) is not None or _IS_SOURCE.match(unit, address.end()) is not None
        if not visited and _STANDS_AT.search(before):
            verbs = list(_VERB.finditer(before))
            visited = bool(verbs) and verbs[-1]["gets"] is not None
        yield visited and not _FILLED_IN.search(address.group())
