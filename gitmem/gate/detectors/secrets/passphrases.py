"""Finds passwords made of words: passphrases, `WALNUT-TANGO-77`, door codes; and the password alone in the answer to
"what is the password?".

Prose is made of words too, so the place has to say that a password stands there: quotation marks or the end of a
line, a word for a passphrase, words without any grammar between them. A text that says how a password has to be
(length, policy) is none. `passwords.py` finds the words for a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitmem.gate.detectors.joined_words import (
    POLICY,
    SMALL,
    is_coined,
    is_diceware,
    is_joined,
    is_odd,
    is_told,
    names_nothing,
)
from gitmem.gate.detectors.prefilter import places, present
from gitmem.gate.detectors.secrets.chosen_passwords import CLOSE, classes, is_chosen, looks_chosen
from gitmem.gate.detectors.secrets.placeholders import is_placeholder, is_words
from gitmem.lazy_patterns import lazy

_PHRASE = lazy(r"pass[ -]?phrase|암호|패스프레이즈|パスフレーズ|合言葉|口令")
_QUOTED = lazy(
    r"(?:문구)?[\"'`*\])]{0,3}(?:[ \t]{1,2}(?:for|of|to|on)\b(?:[^\n:=\"'`“]|'s ){1,40}?)?[ \t]{0,2}"
    r"(?:is(?: now)?:?|was|to|=|:|：|은|는|이|가|は|が|を|是|为|為|改为)?[ \t]{0,3}"
    r"(?P<open>[\"'`“「『‘])(?P<value>[^\s\"'`“”「」『』‘’][^\"'`“”「」『』‘’\n]{4,98}[^\s\"'`“”「」『』‘’])[\"'`”」』’]"
)
_TO_THE_END = lazy(
    r"(?:문구)?[\"'`*\])]{0,3}(?:[ \t]{1,2}(?:for|of|to|on)\b[^\n:=\"'`“]{1,40}?)?[ \t]{0,2}"
    r"(?P<op>is:?|was|=|:(?:[ \t][|>][+-]?[ \t]{0,3}\n)?|：|은|는)?[ \t]{1,20}(?P<value>[A-Za-z]{1,12}(?: [A-Za-z0-9]{1,12}){3,11}!?)"
    r"(?P<after>[.,;!]?[ \t]{0,3}(?:\n|$)|, | \()"
)

# Three words and more behind a word that means nothing but a passphrase, to the end of their line: none ends like a sentence.
_PHRASE_ALONE = lazy(r"암호 ?문?구|패스프레이즈|パスフレーズ|合言葉|口令")
_HAN_PHRASE = lazy(
    r"(?:문구|구)?[*`]{0,2}[ \t]?[:：][*]{0,2}[ \t]{0,3}(?P<value>[가-힣ぁ-ゖァ-ヺー一-龥]{1,10}(?:[ \u3000][가-힣ぁ-ゖァ-ヺー一-龥]{1,10}){2,9})"
    r"(?<![다요음함됨])[ \t]{0,3}(?:\n|\Z)"
)


_HAN_POLICY = lazy(
    r"문의|참고|확인|요청|관리자|비밀번호|금고|聞い|くださ|管理|さん|パスワード|請|请|问|查看|密码|密碼|\d ?(?:자|글자|문자|단어|文字|語|单词|位|个|個)|이상|이하|필요|필수|입력|변경|以上|以下|必|入力|变更|忘|错误|무효"
)
# A question for a password up to the end of its line, and its answer: alone on a line, or in a sentence.
_ASKING = lazy(
    r"\bwhat(?:'?s| is| was| are)\b|\bwhich\b|\b(?:anyone|someone|you) (?:know|have|remember)|\bremind me|뭐|무엇|알려|何|教え|什么|甚麼"
    r"|多少|(?P<prompt>\benter\b|\btype\b|입력|输入)"
)
_ANSWERED = 70  # characters behind the word within which its question or its line ends
_REST = lazy(r"[^\n?？]{0,60}(?P<mark>[?？]?)[\"'”」』:：*]{0,3}")
_ALONE = lazy(
    r"[ \t]{0,3}\n[ \t]{0,3}(?:\n[ \t]{0,3})?[>*-]{0,2}[ \t]{0,2}"
    r"(?:\[[^\]\n]{1,20}\][ \t]{0,2})?(?:\d{1,2}:\d\d(?::\d\d)?[ \t]{1,2})?"
    r"(?:(?:[^\W\d][\w-]{0,20}\*{0,2}[ \t]?[:：]|A\.|답\.)[ \t]{0,3}\*{0,2}[ \t]{0,3})?(?:(?:it'?s|it is|that'?s|try)[: ] ?)?"
    r"[\"'`“「『]?(?P<value>[!-~]{6,64}?)[\"'`”」』]?[ \t]{0,2}"
    r"(?:(?:입니다|이에요|예요|에요|이야|야|요|임|です|だよ)[.!。！]?|[.。])?[ \t]{0,3}(?:\n|\Z)",
    re.IGNORECASE,
)
_TOLD = lazy(
    r"[^\n]{0,40}?\b(?:answered|said|replied|told (?:him|her|them|me))[: ]{1,3}"
    r"[\"'`“「『]?(?P<value>[!-~]{6,64})[ \t]{0,3}(?:\n|$)"
)
_WORDS_ALONE = lazy(
    r"\s{1,3}(?:(?:A|[A-Z][a-z]{1,15}):[ \t]{1,3})?[\"'`]?(?P<value>[a-z]{3,10}(?: [a-z]{3,10}){3,9})[\"'`]?[.!]?[ \t]{0,3}(?:\n|\Z)"
)
_INLINE = lazy(  # on the line of the question
    r"[ \t]{1,3}(?:[—–-]{1,2}[ \t]{1,2}|(?:it'?s|it is)[: ] ?)?[\"'`]?(?P<value>[!-~]{6,64}?)[\"'`]?[.]?[ \t]{0,3}(?:\n|\Z)",
    re.IGNORECASE,
)
# What stands behind the word in a question for its value: not what it names with another noun (`password policy`).
_OF_ITSELF = lazy(
    r"[^\w\n]*(?:[^\x00-\x7f]|\Z|(?:for|of|to|on|at|in|is|was|are|do|does|did|should|can|again|now|please|pls|today|here|opens|works)\b)"
)
# What stands before it in a question for what is done with it, and not for its value.
_ASKING_HOW = lazy(
    r"(?:\A|[.?!,;:>*\n-])[ \t]{0,3}(?:do|does|did|should|must|shall|when|why|how)\b(?! (?:you|anyone|someone)\b)[^.?!,;:\n]*\Z"
)
_TITLE = lazy(r"(?:^|\n)[ \t>]{0,4}(?:#{1,6}[ \t]|[*_]{2})[^\n.:?!]{0,30}\Z")  # what is before the word in a heading
_TITLE_END = lazy(r"[:*_]{0,3}[ \t]{0,3}(?=\n)")
_HAN = "가-힣ぁ-ゖァ-ヺー一-龥"
_MIXED = lazy(
    r"[\"'`*\])]{0,4}(?P<sign>[ \t]{0,20}(?:[:=：＝]|->|→)|[ \t]{0,2}(?:은|는|이|가|을|를|は|が|を|是|为|為)|(?=[ \t「『“\"'`]))[ \t]{0,3}"
    rf"(?P<open>[\"'`「『“]?)(?P<value>[!-~{_HAN}]{{6,48}})"
)
_HAN_RUN = lazy(f"[{_HAN}]+")
_HAN_END = lazy(f"[{_HAN}]{{1,6}}$")
_NOT_MIXED = lazy(r"[(){}<>\[\]|/\\,:;\"'`.=~]")
_ALGORITHM = lazy(
    r"sha-?\d|aes|md5|rsa|bcrypt|argon|pbkdf|base64|utf|oauth|http|api|otp|totp|mfa|2fa|v\d|ver", re.IGNORECASE
)
_SYMBOL = lazy(r"[!@#$%^&*?+]")
_CODE = lazy(
    r"(?:(?:front |back |main )?(?:door|gate|alarm|keypad|garage|locker|safe|padlock|vault)(?: lock)? (?:code|combination|pin)"
    r"|(?:현관|도어락|금고|사물함|출입문)\s?(?:비밀)?\s?번호|(?:金庫|玄関|ドア)の?(?:番号|暗証番号)|(?:门禁|保险箱|门锁)密?码|puk[12]?(?: code)?|pin (?:for|of|to) (?:the |my |our )?(?:(?:office|home|front|back|main) )?(?:safe|door|gate|alarm|tablet|phone|card|locker|vault)(?=\?|:| is| was|\n[a-z][\w-]{0,20}[:>] ))"
    r"(?: (?:for|of|to|at|in)\b[^\n:=\d]{1,40}?)?(?:(?:[ \t]{0,2}(?:is(?: now)?|was|=|:|：|\?|은|는|は|是|为)){1,2}|(?<=puk)(?= )|(?= \d{4,8}[*#])|\??[ \t]{0,2}\n(?:[a-z][\w-]{0,20}[:>] |(?<=\?\n)))[ \t]{0,3}"
    r"[\"'`]?(?P<value>\d{4,8}[*#]?|\d{2}-\d{2}-\d{2})(?![\w.-])"
)
_CODE_HINTS = (
    "pin ",
    "door",
    "gate ",
    "alarm",
    "keypad",
    "garage",
    "locker",
    "safe ",
    "padlock",
    "vault ",
    "puk",
    "현관",
    "도어락",
    "금고",
    "사물함",
    "출입문",
    "金庫",
    "玄関",
    "ドア",
    "门禁",
    "保险箱",
    "门锁",
)


def _is_random_words(value: str) -> bool:
    """Whether a value is at least four different lower-case words that make no sentence."""
    words = value.split(" ")
    plain = all(word.isascii() and word.isalpha() and word.islower() and 3 <= len(word) <= 10 for word in words)
    return plain and len(set(words)) >= 4 and not is_told(value)


def phrase_at(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of a passphrase behind the word for a password at start..end, or None; `low`: the text in lower
    case."""
    named = _PHRASE.match(low, start) is not None
    quoted = _QUOTED.match(text, end)
    if quoted is not None:
        value = quoted.group("value")
        if value.isascii():
            spaced = value.count(" ") >= 2 and not is_placeholder(value) and not USER_ID.search(value)
            if spaced and (_is_random_words(value) or (named and POLICY.isdisjoint(value.split()))):
                return quoted.span("value")
        elif (named or value.count(" ") >= 2) and not _HAN_POLICY.search(value) and not is_placeholder(value):
            return quoted.span("value")
        return None
    bare = _TO_THE_END.match(text, end)
    if bare is None and not low.isascii():
        han = None
        if _PHRASE_ALONE.match(low, start):
            han = _HAN_PHRASE.match(text, end)
        if han is not None and not _HAN_POLICY.search(han["value"]):
            return han.span("value")
        return None
    if bare is None:
        if not named:
            return None
        return _loose(text, low, start, end)
    value, joined = bare.group("value"), bare["op"] is not None
    words = value.lower().rstrip("!").split()
    random = _is_random_words(value if value.islower() else value.lower().rstrip("!0123456789 "))
    if random and ((joined and (named or value.islower())) or (named and not _is_inflected(words))):
        return bare.span("value")
    ended = bare["after"].strip() in ("", ".", "!")
    if (
        random
        and ended
        and not _is_inflected(words)
        and names_nothing(words)
        and _ACCESS.search(low, max(0, start - 80), start)
    ):
        return bare.span("value")
    is_phrase = POLICY.isdisjoint(words) and not _is_sentence(words) and len(words) <= 10 and words[0] not in _POINTING
    lower = value.islower() or any(map(str.isdigit, value))
    coined = any(map(str.isdigit, value)) and not _is_inflected(words)  # `granite otter 41 windmill (on both laptops)`
    if named and joined and (ended or coined) and is_phrase and lower:
        return bare.span("value")
    if not named:
        return None
    return _loose(text, low, start, end)


# The name of an access on one line, up to the word for its password: `guest network Alba, password ...`.
_ACCESS = lazy(
    r"(?:\b(?:wi-?fi|wlan|ssid|network|router|hotspot|log-?in|user(?:name)?|account|vpn|e-?mail|admin)\b|와이파이|네트워크|계정|아이디"
    r"|ネットワーク|アカウント|ユーザー|网络|網路|账号|帳號|用户)[^\n]{0,60}(?:[,;/|–—、，]|\b(?:and|with))[ \t]{0,2}(?:the |its |a )?\Z"
)
USER_ID = lazy(r"<[^<>\s@]{1,64}@[^<>\s]{1,64}>$")  # of a key, as gpg names it
_POINTING = frozenset(["see", "ask", "use", "check", "get", "look", "read", "find", "same", "call", "contact"])


def _is_inflected(words: list[str]) -> bool:
    return any([word.endswith(_INFLECTED) for word in words])


_USED = lazy(r"\b(?:with|use|using|enter|type|try|is)(?: the| this)? \Z")
_LOOSE = lazy(r" (?P<value>[a-z]{3,10}(?: [a-z]{3,10}){3,9})(?![\w'-])")
_INFLECTED = ("ed", "ing", "tion", "ly", "ies")


def _loose(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of four or more words without grammar behind `with the passphrase`, up to the first word of
    grammar; or None."""
    match = None
    if _USED.search(low, max(0, start - 24), start):
        match = _LOOSE.match(text, end)
    if match is None:
        return None
    words: list[str] = []
    for word in match.group("value").split():
        if word in SMALL:
            break
        words.append(word)
    value = " ".join(words)
    if not _is_random_words(value) or _is_inflected(words):
        return None
    return match.start("value"), match.start("value") + len(value)


_SENTENCE = frozenset(["is", "are", "was", "be", "must", "should", "will", "can", "not", "never", "to", "from", "by", "with", "for", "it", "you", "we"])  # fmt: skip


def _is_sentence(words: list[str]) -> bool:
    return not _SENTENCE.isdisjoint(words)


def mixed_at(text: str, end: int) -> tuple[int, int] | None:
    """The span of a password of ASCII and CJK letters behind a word for one that ends at `end`, or None.

    It has at least two digits, and a symbol or letters of both scripts; a particle behind it is left out.
    """
    match = _MIXED.match(text, end)
    if match is None or match.group("value").isascii():
        return None
    start, value = match.start("value"), match.group("value")
    close = CLOSE.get(match.group("open"), match.group("open"))
    if close and close in value:
        value = value[: value.index(close)]
    else:
        value = _HAN_END.sub("", value.rstrip(".,;:)\"'`"))
    han = _HAN_RUN.search(value)
    if (
        not 6 <= len(value) <= 40
        or han is None
        or sum(map(str.isdigit, value)) < 2
        or _NOT_MIXED.search(value)
        or _ALGORITHM.search(value)
        or _HAN_POLICY.search(value)
        or is_placeholder(value)
    ):
        return None
    symbol = _SYMBOL.search(value) is not None
    latin = sum([char.isascii() and char.isalpha() for char in value]) >= 3
    if symbol or latin:
        return (start, start + len(value))
    return None


def answer_at(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of the password that answers a question for one, or None; the word for it is at start..end, `low`
    is the text in lower case."""
    near = text[end : end + _ANSWERED]
    if "\n" not in near and "?" not in near and "？" not in near:
        return None
    rest = _REST.match(text, end)
    if rest is None:
        return None
    has_mark = bool(rest.group("mark"))
    if not has_mark and text.find("\n", end, rest.end() + 4) < 0:
        return None  # a question without a mark is answered on the next line
    least = max(0, start - 60)
    first = low.rfind("\n", least, start) + 1 or least
    asking = None
    if not has_mark:
        asking = _ASKING.search(low, first, rest.end())
    title = None
    if not has_mark and asking is None and _titled(text, start):
        title = _TITLE_END.match(text, end)
    if not has_mark and asking is None and title is None:
        return None
    behind = rest.end()
    if title:
        behind = title.end()
    match = _ALONE.match(text, behind)
    if match is None and has_mark:
        match = _TOLD.match(text, rest.end())
        if (
            match is None
            and _OF_ITSELF.match(low, end, rest.start("mark"))
            and not _ASKING_HOW.search(low[first:start])
        ):
            match = _INLINE.match(text, rest.end())
    if match is None:
        words = _WORDS_ALONE.match(text, rest.end())
        if has_mark and words is not None and _is_random_words(words.group("value")):
            return words.span("value")
        return None
    value = match.group("value").rstrip(".,\"'`”」』")
    if (
        looks_chosen(value, True)
        or is_joined(value, 2)
        or (is_coined(value) and is_odd(value))
        or (
            is_chosen(value, "", 1, False)
            and (
                has_mark
                or (
                    classes(value) >= 3
                    and not (asking is not None and asking["prompt"] and value.isalnum() and is_words(value))
                )
            )
        )
    ):
        return match.start("value"), match.start("value") + len(value)
    return None


def _titled(text: str, start: int) -> bool:
    """Whether the word at `start` stands in a heading or in a label on its own line."""
    return _TITLE.search(text, max(0, start - 40), start) is not None


_TOOLS = ("luks", "veracrypt", "keepass", "bitwarden", "borg", "restic")
_TOOL_PHRASE = lazy(
    r"[a-z0-9]{3,12}[\"'`*]{0,3}(?: (?:key|disk|volume|vault|database|repo|master|backup)){0,2}[\"'`*]{0,3} ?[:=] ?[\"'`]?"
    r"(?P<value>[a-z]{3,10}(?: [a-z]{3,10}){3,9})[\"'`]?[.!]?[ \t]{0,3}(?:\n|\Z)"
)
_OPENS = ("unlocks with", "opens with", "locked with")
_OPENED_WITH = lazy(
    r"[a-z]{4,9} with (?:the (?:words|phrase) )?[\"'`]?(?P<value>[a-z]{3,10}(?:-[a-z]{3,10}){3,9})(?![\w-])"
)


def named_by_tools(low: str) -> Iterator[tuple[int, int]]:
    """The spans of passphrases behind the name of a tool that asks for one, or behind what they open, in a text in
    lower case."""
    for at in places(low, present(low, _TOOLS)):
        match = _TOOL_PHRASE.match(low, at)
        if match is not None and _is_random_words(match["value"]) and not _is_inflected(match["value"].split()):
            yield match.span("value")
    for at in places(low, present(low, _OPENS)):
        match = _OPENED_WITH.match(low, at)
        if match is not None and is_diceware(match["value"], 4):
            yield match.span("value")


def codes(low: str) -> Iterator[tuple[int, int]]:
    """The spans of codes for doors, alarms and safes in a text in lower case."""
    hints = present(low, _CODE_HINTS)
    done = 0
    for hint in places(low, hints):
        if hint < done:
            continue
        match = _CODE.search(low, max(done, hint - 12), hint + 100)
        if match is not None:
            done = match.end()
            yield match.span("value")
