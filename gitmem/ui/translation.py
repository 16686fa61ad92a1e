"""Translates the words of the pages into the reader's language, with the gettext catalogs in `locale/`.

The English sentence is the id of its translation, and is used when a catalog has none. `git mem` writes its messages in
English. A message with values is a `Message`, so that a page can look up its template and fill in the values again.
Memory text is never translated.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Sequence
from functools import cache
from itertools import count
from pathlib import Path

from gitmem.messages import Message

ENGLISH, KOREAN = "en", "ko"
LOCALE = Path(__file__).with_name("locale")
DOMAIN = "gitmem"
SENTENCE_SEPARATORS = ("; ", " + ")  # in a text of several sentences
MAX_SENTENCE_CHARS = 600  # a longer text is not looked up in a catalog


def language_of(header: str) -> str:
    """The available language that an Accept-Language header prefers; English when it names none."""
    candidates: list[tuple[float, int, str]] = []
    for number, part in enumerate(header.split(",")[:20]):
        tag, _, quality = part.strip().partition(";")
        name = tag.split("-")[0].lower()
        if name in (ENGLISH, KOREAN):
            candidates.append((-_quality(quality), number, name))
    if candidates and min(candidates)[0] < 0:
        return min(candidates)[2]
    return ENGLISH


def _quality(text: str) -> float:
    """The quality value of a language, `q=0.8`; 1 when there is none, 0 when it is not a number."""
    name, _, value = text.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


@cache
def catalog(language: str) -> gettext.NullTranslations:
    """The catalog of a language; an empty one for English."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    return gettext.translation(DOMAIN, str(LOCALE), [language])


def is_phrase(text: str) -> bool:
    """Whether a text is the id of a phrase in the catalogs, which all have the same ids."""
    return bool(text) and (catalog(KOREAN).gettext(text) != text or text in SINGULARS)


def translate_phrase(language: str, phrase: str, **values: object) -> str:
    """The phrase in `language`, with the value of each `{name}` filled in; whole numbers get commas (12,345). A phrase
    of SINGULARS has other words for the `count` 1. A phrase that the catalog lacks stays in English; "" gives ""."""
    words = ""
    if phrase in SINGULARS:
        words = catalog(language).ngettext(SINGULARS[phrase], phrase, 1 if values.get("count") == 1 else 2)
    elif phrase:
        words = catalog(language).gettext(phrase)
    for name, value in values.items():
        if isinstance(value, int):
            value = f"{value:,}"
        words = words.replace("{" + name + "}", str(value))
    return words


def translate_message(language: str, text: str) -> str:
    """A message of `git mem` in `language`, translated line by line. The values of a Message are translated too. A line
    that the catalog does not have, as a command or memory text, stays as it is."""
    if language == ENGLISH or not text:
        return text
    if isinstance(text, Message):
        values = [translate_message(language, str(value)) for value in text.values]
        template = _sentence(language, text.template)
        if language == KOREAN:
            template = with_particles(template, values)
        return template.format(*values)
    if "\n" in text:
        return "\n".join(translate_message(language, line) for line in text.split("\n"))
    return _sentence(language, text)


def _sentence(language: str, text: str) -> str:
    """The translation of a sentence, or of each sentence of a text that joins several of them. A sentence that the
    catalog does not have stays as it is."""
    if len(text) > MAX_SENTENCE_CHARS:
        return text
    for several, one in SINGULARS.items():
        if text == one:  # its translation is that of the phrase for several
            return catalog(language).ngettext(one, several, 1).replace("{count}", "1")
    if (words := catalog(language).gettext(text)) != text:
        return words
    for separator in SENTENCE_SEPARATORS:
        if separator in text:
            return separator.join(_sentence(language, part) for part in text.split(separator))
    return text


def with_particles(template: str, values: Sequence[str]) -> str:
    """A Korean template in which each particle with two forms behind a place for a value (`{}이(가)`) has the form that
    the value takes. Both forms stay behind a value that ends in neither Hangul nor a digit: nobody can tell how it is
    read."""
    places = count()

    def chosen(match: re.Match[str]) -> str:
        if not match["particle"]:
            if match["place"] == "":
                next(places)
            return match[0]
        number = int(match["place"]) if match["place"] else next(places)
        final = _final_consonant(values[number])
        if final is None:
            return match[0]
        with_final, without = PARTICLES[match["particle"]]
        is_closed = final != 0 and not (match["particle"] == "(으)로" and final == FINAL_RIEUL)
        particle = with_final if is_closed else without
        return match[0].removesuffix(match["particle"]) + particle

    return _PLACE.sub(chosen, template)


def _final_consonant(value: str) -> int | None:
    """The number of the final consonant with which a value is read, 0 for none; None for a value that ends in neither
    Hangul nor a digit."""
    last = value[-1:]
    if "가" <= last <= "힣":
        return (ord(last) - ord("가")) % 28
    if last.isascii() and last.isdigit():
        return _FINALS_OF_DIGITS[int(last)]
    return None


FINAL_RIEUL = 8  # the final ㄹ, behind which `로` stands
PARTICLES = {  # both forms as the catalog writes them -> (behind a final consonant, behind a vowel)
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "은(는)": ("은", "는"),
    "과(와)": ("과", "와"),
    "(으)로": ("으로", "로"),
}
_FINALS_OF_DIGITS = (21, 8, 0, 16, 0, 0, 1, 8, 8, 0)  # 영 일 이 삼 사 오 육 칠 팔 구
_PLACE = re.compile(
    r"\{\{|\}\}|\{(?P<place>\d*)\}(?:['\"`’”]?(?P<particle>" + "|".join(map(re.escape, PARTICLES)) + "))?"
)

SINGULARS = {  # English phrase for several -> phrase for one
    "{count} facts": "1 fact",
    "{count} files": "1 file",
    "{count} proposals": "1 proposal",
    "{count} pairs": "1 pair",
    "{count} findings": "1 finding",
    "{count} branches": "1 branch",
    "{count} facts to archive": "1 fact to archive",
    "{count} changes of facts": "1 change of a fact",
    "{count} passages": "1 passage",
    "{count} new facts": "1 new fact",
    "{count} times": "once",
    "in {count} sessions": "in one session",
    "{count} lines": "1 line",
    "holds {count} memory files as they are": "holds 1 memory file as it is",
    "{count} files of the work tree read": "1 file of the work tree read",
    "{count} promoted facts compared with their sources": "1 promoted fact compared with its source",
    "{count} faults": "1 fault",
    "{count} lines in daily logs": "1 line in daily logs",
    "{count} lines in notes": "1 line in notes",
    "{count} lines of logs, notes and sessions": "1 line of logs, notes and sessions",
    "{count} tokens": "1 token",
    "{count} logs": "1 log",
    "{count} questions": "1 question",
    "{count} things are wrong": "1 thing is wrong",
    "nothing is wrong, {count} things to look at": "nothing is wrong, 1 thing to look at",
    "All that was looked at: {count} points": "All that was looked at: 1 point",
    "{count} contexts": "1 context",
    "{count} searches": "1 search",
    "{count} lines with a secret are left out of search": "1 line with a secret is left out of search",
    "{count} tokens a day": "1 token a day",
    "{count} questions in {file}": "1 question in {file}",
}
