# ruff: noqa: SIM905, E501 - lists of a hundred quoted words, one a line, would not be read
"""English words by what they do, each list under its name. Data alone: a list is read by whoever asks for its purpose.

Words are in lower case and NFKC. Where a list differs from another of nearly the same purpose, its comment says who
reads it: what was learned or measured depends on it.
"""

from __future__ import annotations

# Words of a question that say nothing of its subject.
STOP_WORDS = frozenset(
    "a an the is are was were be been being am do does did doing done have has had having of to in on at for from "
    "by with about as and or but if then than that this these those it its he she they them his her hers their "
    "theirs him i you we us our your yours my me who whom whose what which when where why how can could would should "
    "will shall may might must not no nor so too very just into out up down over under again there here both each "
    "any all some such only own same s t d ll m re ve dont didnt doesnt isnt wasnt cant im ive id theyre youre whats "
    "hows wheres".split()
)
# Words that tell nothing of which matter two lines of a log speak: with what is said of any decision.
DECISION_FILLERS = frozenset(
    "the a an and or of to in on for with we i it is are was were be this that from at by as not no our my so then now "
    "will all any more than".split()
)
# Words of a conversation that are no topic of it, beside STOP_WORDS.
TOPIC_FILLERS = frozenset(
    "let like okay yes please thanks need needs want wants make use using because decide decided agree agreed noted "
    "said now today tomorrow yesterday always never also still only really maybe think know look looked get got goes "
    "going done one two first last".split()
)
# Words of a question beside STOP_WORDS that say little of what it is about: what it counts, and verbs of any matter.
LIGHT_WORDS = frozenset(
    "many much often long happen happens keep keeps kept use uses used get gets got take takes taken make makes made "
    "need needs put go goes come comes done still".split()
)
# Words that have a capital letter without being a name.
NOT_NAMES = frozenset(
    "the a an our we it this that these those there in on at for from by to of with and or if when after before "
    "all no not never always do don't use uses keep user users is are has have must should prefer prefers only each every "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december i he she they his her their my".split()
)
# What is said to an agent between one request and the next, and of no subject.
COURTESY = frozenset(
    "thanks thank thx ok okay yes yep yeah sure please hello hi hey bye morning good great nice fine cool perfect "
    "sounds continue go ahead next again done right".split()
)
# What greets, parts, praises and excuses where a prompt has no other word: `good night`, but not `the night shift`.
GREETING = frozenset(
    "night evening afternoon day weekend week year happy best awesome sorry welcome see soon later tomorrow back haha "
    "lol rock amazing wonderful congratulations congrats sleep well care luck lot much job work everyone all sec moment "
    "brb wow".split()
)
# Words by which a text says that something is no longer as it was.
CHANGE = frozenset(
    "instead anymore changed switch switched switches switching moved moves replace replaced replaces replacing drop "
    "dropped drops raise raised raises lowered reduced increased extended shortened relaxed lifted tightened upgraded "
    "downgraded migrated migrating deprecated retired abandoned revert reverted reversed overruled obsolete outdated "
    "supersedes superseded corrected correction dead scrapped renamed cancelled canceled revoked".split()
)
CHANGE_PHRASES = tuple(
    "no longer|any more|from now on|went back|in place of|down to |up from |down from |->|→".split("|")
)
# Words of a question that asks when something happened.
PAST_AUXILIARIES = frozenset(("did", "was", "were", "had"))
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
# How often something happens.
FREQUENCIES = tuple("hourly daily weekly fortnightly monthly quarterly yearly".split())
# Words by which a line tells when something is.
TIME_WORDS = frozenset(
    (
        *"yesterday today tomorrow tonight last next ago week weekend month year since recently soon morning".split(),
        *MONTHS,
        *WEEKDAYS,
    )
)
# Times before today by their unit and how many of it back, as a question names them.
TIMES_BACK = {
    ("year", 1): "last year", ("year", 0): "this year", ("month", 2): "month before last", ("month", 1): "last month",
    ("month", 0): "this month", ("week", 2): "week before last", ("week", 1): "last week", ("week", 0): "this week",
    ("day", 2): "day before yesterday", ("day", 1): "yesterday", ("day", 0): "today",
}  # fmt: skip
NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "twenty": 20,
}  # fmt: skip
# What counts before a unit of time as a number does: `a week ago`.
ARTICLES = {"a": 1, "an": 1, "a couple of": 2}
