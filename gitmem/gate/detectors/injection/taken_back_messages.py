"""Sentences that take back a message among people: "Ignore my earlier message about the port, it is 8443."

Their words are those of an order to set the rules aside. `takes_back` reads of folded text whether one message, of the
writer's own or of somebody named, is taken back and nothing else is asked for; it judges no danger: what it knows may
still warn.
"""

from __future__ import annotations

from collections.abc import Collection

from gitmem.gate.detectors.injection.lexicon import Concept as C
from gitmem.lazy_patterns import lazy

_FOUND = frozenset({C.OVERRIDE, C.RULES, C.ORDER, C.PLAN, C.TALK, C.USER})  # what else is found is asked for besides
_MESSAGE = lazy(
    r"\W{0,8}(?:(?:please|pls|so|oh|sorry|hi|hey)[,:]? ){0,2}(?:ignore|disregard|forget|scratch|skip) "
    r"(?:(?:my|our|his|her|their) (?:earlier|previous|last|prior|first|other|old) |(?:the|that) (?:earlier|previous|last|prior) (?=\w{1,12} (?:from|by) ))"
    r"(?:message|note|comment|e?-?mail|post|reply|question|ping|dm|remark|ticket|answer)(?![a-z])"
)
_ASKS_MORE = lazy(
    r"\b(?:and|then|instead|only|obey|follow|do|use|run|just|rules?|instructions?|polic(?:y|ies)|safety|never|always)\b"
)


def takes_back(unit: str, concepts: Collection[C]) -> bool:
    """Whether a sentence of folded text takes back one message and asks for nothing else.

    `concepts` are those outside quotation.
    """
    message = _MESSAGE.match(unit)
    return message is not None and set(concepts) <= _FOUND and not _ASKS_MORE.search(unit, message.end())
