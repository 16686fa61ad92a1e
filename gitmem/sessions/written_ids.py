"""The ids of sessions and turns as they are written: a host or a transcript chose them, and models read a comment.

An id that is no plain word of letters, digits and signs, or that the gate would refuse, becomes a neutral one made of
its hash: no line is lost for the id of its turn. Equal ids are written alike.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from gitmem.config import Config
from gitmem.errors import Refused

PLAIN = re.compile(r"[A-Za-z0-9][\w.:#/@+-]{0,127}", re.ASCII)
PART = re.compile(r"#[0-9]{1,6}\Z")
WORDS = re.compile(r"[A-Za-z]{3,}")
FEW_WORDS = 1  # words in a row of an id that say nothing: `msg_01H`, `call`, `s1#2`
HASH_LENGTH = 12  # hex digits
LOG = "memory/x.md"  # what kind of file an id is written to


@lru_cache(1 << 10)
def written_id(ident: str) -> str:
    """The id as it may stand in a comment: itself, else `id-` and the first digits of its SHA-256; "" for none."""
    if not ident or (PLAIN.fullmatch(ident) and (len(WORDS.findall(ident)) <= FEW_WORDS or _passes(ident))):
        return ident
    return _neutral_id(ident)


def written_session(name: str) -> str:
    """The name of a session or of a part of one (`state.part_name`) as an episode has it: the id as in the lines of its
    log, with the number of the part."""
    session, part = _without_part(name)
    return f"{written_id(session)}{part}"


def spellings(name: str) -> tuple[str, str]:
    """The two forms in which the name of a session or of a part may stand in a file; asks no gate."""
    session, part = _without_part(name)
    return name, f"{_neutral_id(session)}{part}" if session else name


def _neutral_id(ident: str) -> str:
    return f"id-{hashlib.sha256(ident.encode('utf-8', 'surrogatepass')).hexdigest()[:HASH_LENGTH]}"


def _without_part(name: str) -> tuple[str, str]:
    """The session's id, and `#2` for its second part, "" for the first."""
    part = PART.search(name)
    if part:
        return (name[: part.start()], part[0])
    return (name, "")


def _passes(ident: str) -> bool:
    """Whether the gate lets the id through as it is."""
    from gitmem.gate.redaction import refuse_or_mask

    try:
        return refuse_or_mask(f"- x <!-- mem turn={ident} -->", LOG, Config()).text.count(ident) == 1
    except Refused:
        return False
