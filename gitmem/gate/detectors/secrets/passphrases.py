"""Finds passwords made of words: passphrases, `WALNUT-TANGO-77`, door codes; and the password alone in the answer to
"what is the password?".

Prose is made of words too, so the place has to say that a password stands there: quotation marks or the end of a
line, a word for a passphrase, words without any grammar between them. A text that says how a password has to be
(length, policy) is none. `passwords.py` finds the words for a password.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gitmem.gate.detectors.joined_words import POLICY, SMALL, is_diceware, is_told, names_nothing
from gitmem.gate.detectors.prefilter import places, present
from gitmem.gate.detectors.secrets.candidates import CLOSE
from gitmem.gate.detectors.secrets.decision import Candidate, Place, is_secret
from gitmem.gate.detectors.secrets.features import is_placeholder
from gitmem.gate.detectors.secrets.rule_tables import patterns, word_list

_ANSWERED = 70  # characters behind the word within which its question or its line ends
_CODE_HINTS = word_list("door code hint")


def _is_random_words(value: str) -> bool:
    """Whether a value is at least four different lower-case words that make no sentence."""
    words = value.split(" ")
    plain = all(word.isascii() and word.isalpha() and word.islower() and 3 <= len(word) <= 10 for word in words)
    return plain and len(set(words)) >= 4 and not is_told(value)


def words_at(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of a passphrase, of a password with CJK letters, or of the answer to a question for one, behind the word
    for a password at start..end; or None."""
    return phrase_at(text, low, start, end) or mixed_at(text, end) or answer_at(text, low, start, end)


def phrase_at(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of a passphrase behind the word for a password at start..end, or None; `low`: the text in lower
    case."""
    named = patterns.passphrase_word.match(low, start) is not None
    quoted = patterns.quoted_phrase.match(text, end)
    if quoted is not None:
        value = quoted.group("value")
        if value.isascii():
            spaced = value.count(" ") >= 2 and not is_placeholder(value) and not patterns.openpgp_user_id.search(value)
            if spaced and (_is_random_words(value) or (named and POLICY.isdisjoint(value.split()))):
                return quoted.span("value")
        elif (named or value.count(" ") >= 2) and not patterns.cjk_policy.search(value) and not is_placeholder(value):
            return quoted.span("value")
        return None
    bare = patterns.phrase_to_end.match(text, end)
    if bare is None and not low.isascii():
        return _cjk_phrase_at(text, low, start, end)
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
        and patterns.access_before.search(low, max(0, start - 80), start)
    ):
        return bare.span("value")
    is_phrase = (
        POLICY.isdisjoint(words) and _SENTENCE.isdisjoint(words) and len(words) <= 10 and words[0] not in _POINTING
    )
    lower = value.islower() or any(map(str.isdigit, value))
    coined = any(map(str.isdigit, value)) and not _is_inflected(words)  # `granite otter 41 windmill (on both laptops)`
    if named and joined and (ended or coined) and is_phrase and lower:
        return bare.span("value")
    if not named:
        return None
    return _loose(text, low, start, end)


def _cjk_phrase_at(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """As `phrase_at`, for words in CJK letters without quotation marks."""
    phrase = None
    if patterns.cjk_passphrase_word.match(low, start):
        phrase = patterns.cjk_phrase.match(text, end)
    if phrase is None:
        phrase = patterns.korean_words.match(text, end)
        if phrase is None or patterns.korean_grammar.search(phrase["value"]):
            return None
        if " " in phrase["value"] and not patterns.opened_before.search(low, max(0, start - 8), start):
            return None
    if patterns.cjk_policy.search(phrase["value"]):
        return None
    return phrase.span("value")


def of_access_at(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of a passphrase behind a short word for a password (`pass:`) on the line of a network, or None; the word
    is at start..end, `low` is the text in lower case."""
    bare = patterns.phrase_to_end.match(text, end)
    if (
        bare is None
        or bare["op"] not in (":", "=")
        or not patterns.network_before.search(low, max(0, start - 80), start)
    ):
        return None
    words = bare["value"].split()
    if patterns.verdict_before.search(low, max(0, start - 16), start):
        return None  # what a test did
    if not _is_random_words(bare["value"]) or _is_inflected(words) or not names_nothing(words):
        return None
    return bare.span("value")


_POINTING = frozenset(word_list("pointing"))


def _is_inflected(words: list[str]) -> bool:
    return any([word.endswith(_INFLECTED) for word in words])


_INFLECTED = word_list("inflected ending")


def _loose(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of four or more words without grammar behind `with the passphrase`, up to the first word of grammar; or
    None. `start`, `end`: the place of the word for a passphrase."""
    match = None
    if patterns.used_before.search(low, max(0, start - 24), start):
        match = patterns.loose_words.match(text, end)
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


_SENTENCE = frozenset(word_list("sentence"))


def mixed_at(text: str, end: int) -> tuple[int, int] | None:
    """The span of a password with CJK letters that follows a word for a password, or None. `end`: the end of that word.

    The password has 6 to 40 characters, a CJK letter, at least two digits, and a symbol or at least three ASCII
    letters; a particle behind it is left out. Words of a policy, names of algorithms and placeholders are none.
    """
    match = patterns.mixed_script_value.match(text, end)
    if match is None or match.group("value").isascii():
        return None
    start, value = match.start("value"), match.group("value")
    close = CLOSE.get(match.group("open"), match.group("open"))
    if close and close in value:
        value = value[: value.index(close)]
    else:
        value = patterns.cjk_end.sub("", value.rstrip(".,;:)\"'`"))
    han = patterns.cjk_run.search(value)
    if (
        not 6 <= len(value) <= 40
        or han is None
        or sum(map(str.isdigit, value)) < 2
        or patterns.not_mixed_script.search(value)
        or patterns.algorithm_part.search(value)
        or patterns.cjk_policy.search(value)
        or is_placeholder(value)
    ):
        return None
    symbol = patterns.mixed_script_symbol.search(value) is not None
    latin = sum([char.isascii() and char.isalpha() for char in value]) >= 3
    if symbol or latin:
        return (start, start + len(value))
    return None


class _Question(NamedTuple):
    """A question for a password, or a heading that asks for one. `end`: from where on its answer stands. `has_mark`:
    whether it ends with a question mark, behind which the answer may stand in the same line. `asks_for_value`: whether
    it asks what the password is, not how to get it. `prompt`: the words of a prompt, "" for another question."""

    end: int
    has_mark: bool = False
    asks_for_value: bool = False
    prompt: str = ""


def _question_at(text: str, low: str, start: int, end: int) -> _Question | None:
    """The question that the word at start..end is part of, or None. `low`: the text in lower case."""
    near = text[end : end + _ANSWERED]
    if "\n" not in near and "?" not in near and "？" not in near:
        return None
    rest = patterns.question_rest.match(text, end)
    if rest is None:
        return None
    least = max(0, start - 60)
    first = low.rfind("\n", least, start) + 1 or least
    if rest.group("mark"):
        asks_how = patterns.asking_how.search(low[first:start])
        asks = patterns.asks_for_value.match(low, end, rest.start("mark"))
        return _Question(rest.end(), has_mark=True, asks_for_value=asks is not None and not asks_how)
    if text.find("\n", end, rest.end() + 4) < 0:
        return None  # a question without a mark is answered on the next line
    asking = patterns.question.search(low, first, rest.end())
    if asking is not None:
        return _Question(rest.end(), prompt=asking["prompt"] or "")
    title = _titled(text, start) and patterns.heading_end.match(text, end)
    if title:
        return _Question(title.end())
    return None


def answer_at(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of the password that answers a question for one, or None; the word for it is at start..end, `low`
    is the text in lower case."""
    question = _question_at(text, low, start, end)
    if question is None:
        return None
    match = patterns.answer_line.match(text, question.end)
    if match is None and question.has_mark:
        match = patterns.answer_told.match(text, question.end)
    if match is None and question.asks_for_value:
        match = patterns.answer_inline.match(text, question.end)
    if match is None:
        words = patterns.answer_words.match(text, question.end)
        if question.has_mark and words is not None and _is_random_words(words.group("value")):
            return words.span("value")
        return None
    start = match.start("value")
    end = start + len(match.group("value").rstrip(".,\"'`”」』"))
    if is_secret(Candidate(Place.QUESTION, text, start, end, question.prompt, known=question.has_mark)):
        return start, end
    return None


def _titled(text: str, start: int) -> bool:
    """Whether the word at `start` stands in a heading or in a label on its own line."""
    return patterns.heading_before.search(text, max(0, start - 40), start) is not None


_TOOLS = ("luks", "veracrypt", "keepass", "bitwarden", "borg", "restic")
_OPENS = ("unlocks with", "opens with", "locked with")


def named_by_tools(low: str) -> Iterator[tuple[int, int]]:
    """The spans of passphrases behind the name of a tool that asks for one, or behind `unlocks with` and the like.
    `low`: the text in lower case."""
    for at in places(low, present(low, _TOOLS)):
        match = patterns.tool_phrase.match(low, at)
        if match is not None and _is_random_words(match["value"]) and not _is_inflected(match["value"].split()):
            yield match.span("value")
    for at in places(low, present(low, _OPENS)):
        match = patterns.opened_with.match(low, at)
        if match is not None and is_diceware(match["value"], 4):
            yield match.span("value")


def codes(low: str) -> Iterator[tuple[int, int]]:
    """The spans of codes for doors, alarms and safes in a text in lower case."""
    hints = present(low, _CODE_HINTS)
    done = 0
    for hint in places(low, hints):
        if hint < done:
            continue
        match = patterns.door_code.search(low, max(done, hint - 12), hint + 100)
        if match is not None:
            done = match.end()
            yield match.span("value")
