"""The lexicon: patterns for the concepts of an instruction to an agent, by language. Data for `concepts.py`, no logic.

Each language module maps a concept to a regular expression over folded text (lower case, without accents, with plain
quotes). Patterns have bounded gaps only, so that they are linear on any text. A single concept in a sentence is
harmless; certain combinations are not.
"""

from __future__ import annotations

from enum import StrEnum


class Concept(StrEnum):
    """What a part of a sentence does. The value is its name in a finding's message."""

    OVERRIDE = "sets rules aside"
    RULES = "the rules in force"
    PROMPT = "the hidden prompt"
    REVEAL = "asks to show"
    SECRET = "credentials"
    SEND = "sends or attaches"
    PLACE = "a place to send to"
    CONCEAL = "conceals from the user"
    NO_ASKING = "skips confirmation"
    PERSIST = "holds from now on"
    AGENT = "addresses the agent"
    ROLE = "gives the agent a role"
    UNBOUND = "lifts restrictions"
    DESTROY = "destroys"
    SWITCH_OFF = "switches a check off"
    CHECK = "a check or safeguard"
    AUTHORITY = "claims authority"
    PRECEDENCE = "puts this text first"
    SPREAD = "copies itself on"
    EXECUTE = "runs something"
    TRIGGER = "waits for a cue"
    TASK = "gives a new task"
    MEMORY = "writes to memory"
    ORDER = "is an order"
    USER = "the user"
    ALL = "all of something"
    TALK = "talks about attacks"
    NEGATED = "is denied"
    PLAN = "reports or plans ordinary work"


Lexicon = dict[Concept, str]
