"""Passwords made of words: a passphrase between quotes or to the end of its line, `WALNUT-TANGO-77`, `door code 4093*`;
and the password that stands alone in the answer to "what is the password?".

Words are what prose is made of, so the place has to say that a password stands there: quotes or a line's end, a word for
a passphrase, words without any grammar between them. What says how a password has to be (length, policy) is none.
The words for a password are found in `gate/detectors/secrets/passwords.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitmem.gate.detectors.prefilter import places, present
from gitmem.gate.detectors.secrets.chosen_passwords import is_chosen, looks_chosen
from gitmem.gate.detectors.secrets.placeholders import is_placeholder
from gitmem.lazy_patterns import lazy

_PHRASE = lazy(r"pass[ -]?phrase|암호|패스프레이즈|パスフレーズ|合言葉|口令")
_QUOTED = lazy(
    r"(?:문구)?[\"'`*\])]{0,3}(?:[ \t]{1,2}(?:for|of|to|on)\b[^\n:=\"'`“]{1,40}?)?[ \t]{0,2}"
    r"(?:is(?: now)?:?|was|to|=|:|：|은|는|이|가|は|が|を|是|为|為|改为)?[ \t]{0,3}"
    r"(?P<open>[\"'`“「『‘])(?P<value>[^\s\"'`“”「」『』‘’][^\"'`“”「」『』‘’\n]{4,98}[^\s\"'`“”「」『』‘’])[\"'`”」』’]"
)
_TO_THE_END = lazy(
    r"(?:문구)?[\"'`*\])]{0,3}(?:[ \t]{1,2}(?:for|of|to|on)\b[^\n:=\"'`“]{1,40}?)?[ \t]{0,2}"
    r"(?:is:?|was|=|:|：|은|는)[ \t]{1,3}(?P<value>[a-z]{1,12}(?: [a-z0-9]{1,12}){3,11})[.!]?[ \t]{0,3}(?:\n|$)"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SMALL = _words(
    """
    the a an is are was were be been being it its this that these those there here not no never none only must shall
    should will would can could may might has have had do does did to of in on at by for from with without as if or and
    but than then when where which who what how why all any each every same your you we our my their his her they i
    """
)
# Words with which people speak of passwords instead of telling one.
_POLICY = _words(
    """
    password passwords passphrase passphrases secret secrets token tokens key keys login user users username account
    accounts characters character chars letters digits digit numbers symbol symbols words length minimum maximum
    least strong weak required optional invalid wrong incorrect expired missing empty default hashed encrypted stored
    saved kept rotated changed reset forgotten leaked prompt enter type input field vault env environment variable
    config settings file managed shared read written generated random hidden masked bcrypt argon unset unchanged set
    """
)
_HAN_POLICY = lazy(
    r"\d ?(?:자|글자|문자|단어|文字|語|单词|位|个|個)|이상|이하|필요|필수|입력|변경|以上|以下|必|入力|变更|忘|错误|무효"
)
# `WALNUT-TANGO-77`, `Kestrel-Harbour-19`, `copper-ladder-42`.
_JOINED = lazy(r"[A-Za-z]{3,12}(?:[-_.][A-Za-z]{3,12}){1,5}[-_.]\d{2,4}[!?*#]?")
_NUMBERED_NAME = lazy(
    r"pass|secret|token|key|user|admin|root|test|prod|stag|dev|demo|name|file|reset|policy|hash|sha|aes|rsa|utf|auth|login"
    r"|mail|queue|server|service|host|issue|ticket|version|release|rfc|example|sample|your|change|field|vault|store"
    r"|manager|config|cluster|region|east|west|north|south|central"
)
_QUESTION = lazy(
    r"[^\n?？]{0,60}[?？][\"'”」』]?"
    r"(?:[ \t]{0,3}\n[ \t>*-]{0,6}(?:[A-Za-z가-힣ぁ-んァ-ヶ一-龥]{1,16}\*{0,2}[ \t]?[:：][ \t]{0,3})?"
    r"|[^\n]{0,40}?\b(?:answered|said|replied|told (?:him|her|them|me))[: ]{1,3})"
    r"[\"'`“「『]?(?P<value>[!-~]{6,64})[ \t]{0,3}(?:\n|$)"
)
_CODE = lazy(
    r"(?:(?:front |back |main )?(?:door|gate|alarm|keypad|garage|locker|safe|padlock|vault)(?: lock)? (?:code|combination|pin)"
    r"|(?:현관|도어락|금고|사물함|출입문)\s?(?:비밀)?\s?번호|(?:金庫|玄関|ドア)の?(?:番号|暗証番号)|(?:门禁|保险箱|门锁)密?码)"
    r"(?: (?:for|of|to|at|in)\b[^\n:=\d]{1,40}?)?(?:[ \t]{0,2}(?:is|was|=|:|：|은|는|は|是|为)){1,2}[ \t]{0,3}"
    r"[\"'`]?(?P<value>\d{4,8}[*#]?|\d{2}-\d{2}-\d{2})(?![\w.-])"
)
_CODE_HINTS = (
    "door",
    "gate ",
    "alarm",
    "keypad",
    "garage",
    "locker",
    "safe ",
    "padlock",
    "vault ",
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


def is_joined(value: str, strength: int) -> bool:
    """Whether a value is words and a number joined by one kind of sign: a password, not the name of a thing.

    `strength` is that of `chosen_passwords.is_chosen`; behind a bare space the words have to begin with capitals.
    """
    bare = value.rstrip(".,")
    if not _JOINED.fullmatch(bare) or _NUMBERED_NAME.search(bare.lower()) or is_placeholder(bare):
        return False
    return strength == 2 or all(part[0].isupper() for part in re.split(r"[-_.]", bare) if part[0].isalpha())


def _is_told(value: str) -> bool:
    """Whether words say something instead of being a password: they have grammar or speak of passwords."""
    words = value.lower().rstrip(".!").split()
    return not _SMALL.isdisjoint(words) or not _POLICY.isdisjoint(words)


def _is_random_words(value: str) -> bool:
    """Whether a value is at least four different words in lower case that do not make a sentence."""
    words = value.split(" ")
    plain = all(word.isascii() and word.isalpha() and word.islower() and 3 <= len(word) <= 10 for word in words)
    return plain and len(set(words)) >= 4 and not _is_told(value)


def phrase_at(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of a passphrase behind the word for a password at start..end, `low` being `text` in lower case; or None."""
    named = _PHRASE.match(low, start) is not None
    quoted = _QUOTED.match(text, end)
    if quoted is not None:
        value = quoted.group("value")
        if value.isascii():
            spaced = value.count(" ") >= 2 and not is_placeholder(value)
            if spaced and (_is_random_words(value) or (named and _POLICY.isdisjoint(value.split()))):
                return quoted.span("value")
        elif named and not _HAN_POLICY.search(value) and not is_placeholder(value):
            return quoted.span("value")
        return None
    bare = _TO_THE_END.match(text, end)
    if bare is None:
        return None
    value = bare.group("value")
    words = value.split()
    if _is_random_words(value) or (
        named and len(words) <= 10 and _POLICY.isdisjoint(words) and not _is_sentence(words)
    ):
        return bare.span("value")
    return None


_SENTENCE = _words("is are was be must should will can not never to from by with for it you we")


def _is_sentence(words: list[str]) -> bool:
    return not _SENTENCE.isdisjoint(words)


def answer_at(text: str, end: int) -> tuple[int, int] | None:
    """The span of the password in the answer to a question that holds a word for one, which ends at `end`; or None."""
    match = _QUESTION.match(text, end)
    if match is None:
        return None
    value = match.group("value").rstrip(".,\"'`”」』")
    if looks_chosen(value, True) or is_joined(value, 2) or is_chosen(value, "", 1, False):
        return match.start("value"), match.start("value") + len(value)
    return None


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
