"""The words of the pages in the reader's language, from gettext catalogs in `locale/`.

The English sentence is the id of its translation and is used where a catalog has none. `git mem` writes its messages in
English; those that hold values are `Message`s, so that a page finds the translation by the template and fills in the
values again. Text of memory is never translated.
"""

from __future__ import annotations

import gettext
from functools import cache
from pathlib import Path

from gitmem.messages import Message

ENGLISH, KOREAN = "en", "ko"
LOCALE = Path(__file__).with_name("locale")
DOMAIN = "gitmem"
JOINTS = ("; ", " + ")  # between sentences that one text holds
MAX_SENTENCE = 600  # characters of a text that may be a sentence of ours


def language_of(header: str) -> str:
    """The language of an Accept-Language header that we have, English where it names none of ours."""
    wanted: list[tuple[float, int, str]] = []
    for place, part in enumerate(header.split(",")[:20]):
        tag, _, rest = part.strip().partition(";")
        name = tag.split("-")[0].lower()
        if name in (ENGLISH, KOREAN):
            wanted.append((-_quality(rest), place, name))
    if wanted and min(wanted)[0] < 0:
        return min(wanted)[2]
    return ENGLISH


def _quality(text: str) -> float:
    name, _, value = text.strip().partition("=")
    try:
        if name.strip() == "q":
            return float(value)
        return 1.0
    except ValueError:
        return 0.0


@cache
def catalog(language: str) -> gettext.NullTranslations:
    """The catalog of a language; English needs none."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    return gettext.translation(DOMAIN, str(LOCALE), [language])


def is_phrase(text: str) -> bool:
    """Whether a text is the id of a phrase of the pages: every catalog has the same ids."""
    return bool(text) and (catalog(KOREAN).gettext(text) != text or text in ONE)


def translate(language: str, phrase: str, **values: object) -> str:
    """The phrase in `language`, with each `{name}` replaced; English has other words for a `count` of one."""
    words = catalog(language)
    if phrase in ONE:
        count = values.get("count")
        said = words.ngettext(ONE[phrase], phrase, count if isinstance(count, int) else 2)
    else:
        said = ""
        if phrase:
            said = words.gettext(phrase)
    for name, value in values.items():
        said = said.replace("{" + name + "}", f"{value:,}" if isinstance(value, int) else str(value))
    return said


def translated(language: str, text: str) -> str:
    """A message of `git mem` in `language`, line by line. What is no sentence of the catalog stays as it is, as do
    commands and text of memory; a value of a message is translated where it is a message or a sentence itself."""
    if language == ENGLISH or not text:
        return text
    if isinstance(text, Message):
        values = [translated(language, str(value)) for value in text.values]
        return _sentence(language, text.template).format(*values)
    if "\n" in text:
        return "\n".join(translated(language, line) for line in text.split("\n"))
    return _sentence(language, text)


def _sentence(language: str, text: str) -> str:
    if len(text) > MAX_SENTENCE:
        return text
    if (found := catalog(language).gettext(text)) != text:
        return found
    for joint in JOINTS:
        if joint in text:
            return joint.join(_sentence(language, part) for part in text.split(joint))
    return text


ONE = {  # English phrases for one of a thing, by those for several
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
