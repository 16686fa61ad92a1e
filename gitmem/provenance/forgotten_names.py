"""Names and topics that tell what was forgotten: an episode is called after the words of its conversation. Pure.

Only words go that the forgotten text has and that the rest of the file does not say.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gitmem.memory.fact import fact_id
from gitmem.paths import Kind, kind
from gitmem.text.terms import terms

TELLING_WORDS = 2  # words of a note's name that tell what was forgotten: one may as well be what the note is of
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}-?")
_TOPICS = re.compile(r"(?m)^## Topics\n\n(?P<words>[^\n]*)\n?\Z")


def stem(path: str) -> str:
    """The name of a file as links have it, without its ending."""
    return path.rpartition("/")[2].rpartition(".")[0]


def without_words(path: str, data: bytes, text: str, there: Callable[[str], bytes | None]) -> tuple[str, bytes]:
    """The path and the bytes of a file without the words of `text` in its name and its topics; `there` says what stands
    at a path, so that no other file is replaced."""
    said = data.decode("utf-8", "surrogateescape")
    topics = None
    if kind(path) is Kind.SESSION:
        topics = _TOPICS.search(said)
    rest = set(terms(said[: topics.start()] if topics else said))
    telling = set(terms(text)) - rest

    def tells(word: str) -> bool:
        return not telling.isdisjoint(terms(word))

    if topics:
        kept = [word for word in topics["words"].split(", ") if word and not tells(word)]
        section = ""
        if kept:
            section = f"## Topics\n\n{', '.join(kept)}\n"
        said = f"{said[: topics.start()]}{section}".rstrip("\n") + "\n"
    folder, slash, name = path.rpartition("/")
    own, dot, ending = name.rpartition(".")
    if match := _DAY.match(own):
        day = match[0]
    else:
        day = ""
    words = re.split(r"[-_ ]+", own[len(day) :])
    kept = [word for word in words if not tells(word)]
    if len(words) - len(kept) >= (1 if kind(path) is Kind.SESSION else TELLING_WORDS):
        new = day + ("-".join(kept) or ("session" if kind(path) is Kind.SESSION else "note"))
        place = f"{folder}{slash}{new}{dot}{ending}"
        if there(place) is None:
            path = place
        else:
            path = f"{folder}{slash}{new}-{fact_id(text)[:6]}{dot}{ending}"
    return path, said.encode("utf-8", "surrogateescape")
