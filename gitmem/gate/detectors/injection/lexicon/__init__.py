"""The words of an instruction to an agent, by concept and language: data for `gate/detectors/injection/structure.py`, no logic.

Each language module maps a concept to a regular expression over folded text (lower case, accents gone,
typographic quotes plain). A pattern has bounded gaps only, so that it is linear on any text. A concept alone
says nothing bad about a sentence; which of them occur together does.
"""

from __future__ import annotations

from enum import StrEnum


class Concept(StrEnum):
    """What a part of a sentence does. The value is what a finding's message calls it."""

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
