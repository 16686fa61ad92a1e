"""A transcript's bytes as turns, in the form of any known host or in the neutral one. Pure.

Formats change without notice, so what is not understood is skipped and counted, never an error.
"""

from __future__ import annotations

import json
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
from gitmem.messages import Message
from gitmem.plural import counted

LINE_LIMIT = 8 << 20  # bytes of an entry that is parsed, without its STRING_LIMIT strings; a longer one is counted
STRING_LIMIT = 256 << 10  # bytes of a string in an entry beyond LINE_LIMIT: a longer one is a picture or output
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
HALF = re.compile("[\ud800-\udfff]")  # of an emoji that JavaScript cut in two: no text in any encoding
SESSION_KEYS = ("sessionId", "session_id", "session")  # of any line, in any form


def parse(data: bytes) -> Transcript:
    """Read a transcript in any of the known forms; never raises."""
    for host in all_hosts():
        whole = None
        if host.whole is not None:
            whole = host.whole(data)
        if whole is not None:
            return replace(whole, turns=tuple(map(as_spoken, whole.turns)))
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
            turns[-1] = _of_host(turns[-1])
        own_turns = [as_spoken(turn) for turn in _turns(entry, number)]
        turns += own_turns
        unheard += lost and not any(turn.text or turn.role is Role.TOOL for turn in own_turns)
        skipped += not own_turns and not _is_silent(entry)
    return Transcript(tuple(turns), session, skipped, too_long, unheard=unheard)


def unread_words(conversation: Transcript) -> Message | str:
    """The sentence that says what of a transcript was too long to be read, "" where nothing was. It quotes nothing."""
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
    """An entry with each JSON string beyond STRING_LIMIT empty: what is said beside a picture of megabytes stays. And
    whether one of those held words: a picture is written without spaces."""
    long = [found[0] for found in STRING.finditer(line) if len(found[0]) > STRING_LIMIT]
    shortened = STRING.sub(lambda found: found[0] if len(found[0]) <= STRING_LIMIT else b'""', line)
    return shortened, any(b" " in each for each in long)


def _entry(line: bytes) -> Entry | None:
    try:
        entry = None
        if len(line) <= LINE_LIMIT:
            entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    return entry


@cache
def forms() -> tuple[Entries, ...]:
    """One reader of entries for each host, the neutral one last: an entry is read by the first that takes it."""
    return (*(host.entries for host in all_hosts() if host.entries is not None), ENTRIES)


def form_of(entry: Entry) -> Entries:
    """The form of an entry, the neutral one for an entry of none."""
    place = place_of(entry, 0)
    return next((form for form in forms() if form.read(entry, place) is not None), ENTRIES)


def _turns(entry: Entry, line: int) -> Sequence[Turn]:
    place = place_of(entry, line)
    for form in forms():
        turns = form.read(entry, place)
        if turns is not None:
            return list(turns)
    return ()


def _session(entry: Entry) -> str:
    for key in SESSION_KEYS:
        value = entry.get(key)
        if isinstance(value, str):
            return value
    return next((session for form in forms() if (session := form.session(entry))), "")


def _of_host(turn: Turn) -> Turn:
    """The turn with the host as its author, if it has words of the agent; any other turn unchanged."""
    if turn.role is Role.ASSISTANT and turn.text and turn.by is By.SPEAKER:
        return replace(turn, by=By.HOST)
    return turn


def _is_silent(entry: Entry) -> bool:
    return any(form.is_silent(entry) for form in forms())


class _Inserted(NamedTuple):
    tagged: re.Pattern[str]
    blocks: tuple[re.Pattern[str], ...]
    notes: tuple[str, ...]


@cache
def _inserted() -> _Inserted:
    """What any host inserts: a transcript may hold what another host wrote."""
    all_inserted = [host.inserted for host in all_hosts()]
    tags = "|".join(tag for inserted in all_inserted for tag in inserted.tags)
    return _Inserted(
        re.compile(rf"<({tags})(?:\s[^>]*)?>.*?(?:</\1\s*>|\Z)", re.DOTALL),
        tuple(re.compile(block, re.DOTALL) for inserted in all_inserted for block in inserted.blocks),
        tuple(note for inserted in all_inserted for note in inserted.notes),
    )


def spoken_text(text: str) -> str:
    """What a person said in a text that a host gives as theirs, "" where all of it is the host's or ours."""
    turn = as_spoken(Turn("", Role.USER, text, 0))
    if turn.by is not By.SPEAKER:
        return ""
    return turn.text


def as_spoken(turn: Turn) -> Turn:
    """A turn without what its host put into it; all of it, and marked so, where nothing else is in it."""
    if HALF.search(turn.text):
        turn = replace(turn, text=HALF.sub("\ufffd", turn.text))
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
