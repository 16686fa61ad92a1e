"""Make ids of sessions and turns safe to write into a comment. A host chooses the ids, and models read the comments.

An id with unusual characters, or one that the gate would refuse, is replaced by a neutral id made from its hash, so
that no line is lost because of an id. Equal ids give equal results.
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
MAX_WORDS_IN_ROW = 1  # of an id without a meaning: `msg_01H`, `call`, `s1#2`
HASH_LENGTH = 12  # hex digits
LOG = "memory/x.md"  # the path by which the gate judges an id


@lru_cache(1 << 10)
def written_id(ident: str) -> str:
    """The id as it is written into a comment: unchanged if it is safe, else `id-` and HASH_LENGTH hex digits of its
    hash. "" stays ""."""
    if not ident or (PLAIN.fullmatch(ident) and (len(WORDS.findall(ident)) <= MAX_WORDS_IN_ROW or _passes(ident))):
        return ident
    return _neutral_id(ident)


def written_session(name: str) -> str:
    """The name of a session or of its part (`state.part_name`) as it is written into an episode: the safe id with the
    number of the part."""
    session, part = _without_part(name)
    return f"{written_id(session)}{part}"


def stored_names(name: str) -> tuple[str, str]:
    """The two names under which a file may have a session or a part of it: its own name and the neutral one. Does not
    ask the gate."""
    session, part = _without_part(name)
    return name, f"{_neutral_id(session)}{part}" if session else name


def _neutral_id(ident: str) -> str:
    """`id-` and HASH_LENGTH hex digits of the id's SHA-256."""
    return f"id-{hashlib.sha256(ident.encode('utf-8', 'surrogatepass')).hexdigest()[:HASH_LENGTH]}"


def _without_part(name: str) -> tuple[str, str]:
    """(id of the session, ending for its part): `s1#2` gives ("s1", "#2"); the ending is "" for the first part."""
    part = PART.search(name)
    if part:
        return (name[: part.start()], part[0])
    return (name, "")


def _passes(ident: str) -> bool:
    """Whether the gate accepts a comment with the id and leaves the id unchanged."""
    from gitmem.gate.redaction import refuse_or_mask

    try:
        return refuse_or_mask(f"- x <!-- mem turn={ident} -->", LOG, Config()).text.count(ident) == 1
    except Refused:
        return False
