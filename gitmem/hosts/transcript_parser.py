"""Parse the bytes of a transcript, in the form of any known host or the neutral form, into turns. Pure.

Hosts change their formats without notice: an unknown entry is skipped and counted, and is never an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from gitmem.hosts.entries import place_of
from gitmem.hosts.host import Entries, Entry
from gitmem.hosts.neutral import ENTRIES, SUMMARY_LEAD
from gitmem.hosts.pasted_text import CUT, without_memory, without_quotation_marks
from gitmem.hosts.registry import all_hosts
from gitmem.hosts.transcript import By, Role, Transcript, Turn
from gitmem.json_values import parse_json_object
from gitmem.messages import Message
from gitmem.plural import counted

LINE_LIMIT = 8 << 20  # maximum bytes of an entry, after strings over STRING_LIMIT were emptied; a longer one is skipped
STRING_LIMIT = 256 << 10  # maximum bytes of a string in an entry over LINE_LIMIT; a longer one is a picture or output
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
SURROGATE = re.compile("[\ud800-\udfff]")  # half of an emoji that JavaScript cut; it cannot be encoded
SESSION_KEYS = ("sessionId", "session_id", "session")  # of any line, in any form


def parse(data: bytes) -> Transcript:
    """The transcript of these bytes, in the form of any known host. Never raises; bytes that are not a transcript give
    no turns."""
    for host in all_hosts():
        transcript = host.whole and host.whole(data)
        if transcript is not None:
            return replace(transcript, turns=tuple(map(as_spoken, transcript.turns)))
    turns: list[Turn] = []
    session, skipped, too_long, unheard = "", 0, 0, 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        lost = False
        if len(line) > LINE_LIMIT:
            line, lost = _without_long_strings(line)
            too_long += len(line) > LINE_LIMIT
        entry = _entry(line)
        if entry is None:
            skipped += 1
            continue
        session = session or _session(entry)
        if turns and any(form.repeats_answer(entry) for form in forms()):
            turns[-1] = _as_host_text(turns[-1])
        own_turns = [as_spoken(turn) for turn in _turns(entry, number)]
        turns += own_turns
        unheard += lost and not any(turn.text or turn.role is Role.TOOL for turn in own_turns)
        skipped += not own_turns and not _is_silent(entry)
    return Transcript(tuple(turns), session, skipped, too_long, unheard=unheard)


def too_long_message(conversation: Transcript) -> Message | str:
    """A message that counts the entries of a transcript that were too long to be read, "" for none. It quotes no
    text."""
    if conversation.too_long:
        entries = counted(conversation.too_long, "entry", "entries")
        return Message("not read, longer than {} MiB without its long strings: {}", LINE_LIMIT >> 20, entries)
    if conversation.unheard:
        entries = counted(conversation.unheard, "entry", "entries")
        return Message(
            "not read, the words of {}: a text of more than {} KiB in an entry of more than {} MiB",
            entries, STRING_LIMIT >> 10, LINE_LIMIT >> 20,
        )  # fmt: skip
    return ""


def _without_long_strings(line: bytes) -> tuple[bytes, bool]:
    """(the line with each JSON string over STRING_LIMIT emptied, whether one of these strings had words). Words beside
    a large picture stay. An encoded picture has no spaces, and so counts as having no words."""
    emptied: list[bytes] = []

    def short(match: re.Match[bytes]) -> bytes:
        if len(match[0]) <= STRING_LIMIT:
            return match[0]
        emptied.append(match[0])
        return b'""'

    shortened = STRING.sub(short, line)
    return shortened, any(b" " in string for string in emptied)


def _entry(line: bytes) -> Entry | None:
    """The JSON object of a line; None for anything else and for a line over LINE_LIMIT."""
    if len(line) > LINE_LIMIT:
        return None
    try:
        return parse_json_object(line)
    except ValueError:
        return None


@cache
def forms() -> tuple[Entries, ...]:
    """The forms in which hosts write entries, one for each host with such transcripts, the neutral form last. An entry
    is read by the first form whose `read` returns turns and not None."""
    return (*(host.entries for host in all_hosts() if host.entries is not None), ENTRIES)


def form_of(entry: Entry) -> Entries:
    """The form in which an entry is written: the first of `forms` whose `read` does not return None for it, else the
    neutral form."""
    place = place_of(entry, 0)
    return next((form for form in forms() if form.read(entry, place) is not None), ENTRIES)


def _turns(entry: Entry, line: int) -> Sequence[Turn]:
    """The turns of an entry, by the first form that accepts it; () if none does."""
    place = place_of(entry, line)
    for form in forms():
        turns = form.read(entry, place)
        if turns is not None:
            return list(turns)
    return ()


def _session(entry: Entry) -> str:
    """The session id that an entry states, "" if none."""
    for key in SESSION_KEYS:
        value = entry.get(key)
        if isinstance(value, str):
            return value
    return next(filter(None, (form.session(entry) for form in forms())), "")


def _as_host_text(turn: Turn) -> Turn:
    """An agent's turn with text, with the host as its author; any other turn unchanged."""
    if turn.role is Role.ASSISTANT and turn.text and turn.by is By.SPEAKER:
        return replace(turn, by=By.HOST)
    return turn


def _is_silent(entry: Entry) -> bool:
    """Whether some host knows the entry as one without turns."""
    return any(form.is_silent(entry) for form in forms())


class _Inserted(NamedTuple):
    """Patterns of text that hosts insert into turns. `tagged`: text inside tags. `blocks`: other text. `notes`:
    beginnings of messages that are inserted as a whole."""

    tagged: re.Pattern[str]
    blocks: tuple[re.Pattern[str], ...]
    notes: tuple[str, ...]


@cache
def _inserted() -> _Inserted:
    """The patterns of all hosts together, because a transcript may quote another host's text."""
    all_inserted = [host.inserted for host in all_hosts()]
    tags = "|".join(tag for inserted in all_inserted for tag in inserted.tags)
    return _Inserted(
        re.compile(rf"<({tags})(?:\s[^>]*)?>.*?(?:</\1\s*>|\Z)", re.DOTALL),
        tuple(re.compile(block, re.DOTALL) for inserted in all_inserted for block in inserted.blocks),
        tuple(note for inserted in all_inserted for note in inserted.notes),
    )


def spoken_text(text: str) -> str:
    """The person's own words in a text that a host recorded as the person's; "" if all of it was inserted."""
    turn = as_spoken(Turn("", Role.USER, text, 0))
    return turn.text if turn.by is By.SPEAKER else ""


def as_spoken(turn: Turn) -> Turn:
    """The turn without the text that its host inserted. A turn that is only inserted text is returned whole, with the
    host as its author; a person's turn that begins with SUMMARY_LEAD becomes a summary."""
    if SURROGATE.search(turn.text):
        turn = replace(turn, text=SURROGATE.sub("\ufffd", turn.text))
    if turn.role is Role.TOOL or turn.by is not By.SPEAKER or not turn.text:
        return turn
    if turn.text.startswith(SUMMARY_LEAD) and turn.role is Role.USER:
        return replace(turn, text=turn.text.removeprefix(SUMMARY_LEAD), by=By.SUMMARY)
    inserted = _inserted()
    text = turn.text
    if turn.role is Role.USER and ("<" in text or text.lstrip().startswith("#") or "--- Content" in text):
        for block in inserted.blocks:
            text = block.sub("", text, count=1)
        text = inserted.tagged.sub("", text)
    text = without_memory(text).strip(CUT)
    if turn.role is Role.USER and CUT not in text:
        text = without_quotation_marks(text)
    text = text.replace(CUT, "\n")
    if text == turn.text and not text.lstrip().startswith(inserted.notes):
        return turn
    text = text.strip()
    if not text or text.startswith(inserted.notes):
        return replace(turn, by=By.HOST)
    return replace(turn, text=text)
