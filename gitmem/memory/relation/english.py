"""The English words for comparing statements: cues, properties, stop words, contrast classes, in lower case.

`words/english.words` has the lists; here is what needs a pattern.
"""

from __future__ import annotations

from gitmem.memory.relation.word_lists import read_lists

_LISTS = read_lists("english")
CUES, CONTRASTS = _LISTS.cues, _LISTS.contrasts
SINGLE, STOP = frozenset(_LISTS.others["single"]), frozenset(_LISTS.others["stop"])
VERBS, DESIGNATORS = frozenset(_LISTS.others["verbs"]), frozenset(_LISTS.others["designators"])
# Cue -> (letters that a text must have, pattern): cues that need a pattern. The letters are a quick test before it.
CUE_PATTERNS = {
    "ends": (
        "e",
        r"\bover\b(?! (?:the|a|\d))|\bclosed\b(?! (?:session|doors?|source|beta))"
        r"|\bsuspended\b(?! (?:from|in|on|above|over|between|by|ceiling|sentence)\b)",
    ),
    "settled": ("[x]", r"\[x\]"),
    "kept": ("it is", r"\bit is$"),
    "source": (
        "per ",
        r"\bper (?!(?:day|hour|week|month|year|min|person|seat|head|user|unit|cent|kg|second)\b)[a-z]",
    ),
    "at_once": (
        "wh",
        r"\b(?:whereas|while)\b.*\b(?:says|shows|lists|names)\b",
    ),
    "past": ("0", r"\b(?:until|in) (?:19|20)\d\d\b"),
    "plan": ("had", r"^had\b"),
}
# What is no end, so that the earlier statement holds: a pause of a length of time, an end that is denied, taken back or
# of one time only.
NO_END = (
    r"\b(?:on hold|on pause|paused|suspended|interrupted|stopped) "
    r"(?:briefly|(?:only |just )?for (?:[\w.]+ ){1,3}(?:second|minute|hour|day|week|month|moment)s?(?! time))\b"
    r"|\b(?:not|never|no longer|\w+n['’]t)(?: (?:been|be|being|yet|really|fully))* (?:cancel\w*|called off|scrapp\w*"
    r"|abolish\w*|dropped|deleted|removed|retired|decommission\w*|ended|over|discontinu\w*|withdrawn|stopped|disabled"
    r"|terminat\w*|paused|suspended|on hold|on pause|phased out|closed|done)\b"
    r"|\b(?:cancel\w*|called off|paused|suspended|stopped|interrupted|closed|abolish\w*)\b[^.;]{0,40}"
    r"\b(?:resum\w*|reinstat\w*|reopen\w*|restarted|brought back)\b"
    r"|\b(?:cancel\w*|called off|paused|suspended|closed) "
    r"(?:(?:in|on|during|for) (?:[\w-]+ ){1,3}only|only (?:in|on|during|for)|today|tomorrow|tonight"
    r"|this (?:week|month))\b"
)
