# ruff: noqa: SIM905, E501 - lists of a hundred quoted words, one a line, would not be read
"""English words by their purpose, one list for each. Data only.

Words are in lower case and NFKC. Lists of similar purpose stay apart because learned weights or
measurements depend on each; the comment names the reader.
"""

from __future__ import annotations

# Question words without a subject: a search ignores them.
STOP_WORDS = frozenset(
    "a an the is are was were be been being am do does did doing done have has had having of to in on at for from "
    "by with about as and or but if then than that this these those it its he she they them his her hers their "
    "theirs him i you we us our your yours my me who whom whose what which when where why how can could would should "
    "will shall may might must not no nor so too very just into out up down over under again there here both each "
    "any all some such only own same s t d ll m re ve dont didnt doesnt isnt wasnt cant im ive id theyre youre whats "
    "hows wheres".split()
)
# Words of any decision: they do not tell whether two log lines concern one matter.
DECISION_FILLERS = frozenset(
    "the a an and or of to in on for with we i it is are was were be this that from at by as not no our my so then now "
    "will all any more than".split()
)
# Words of a conversation that are never its topic.
TOPIC_FILLERS = frozenset(
    "let like okay yes please thanks need needs want wants make use using because decide decided agree agreed noted "
    "said now today tomorrow yesterday always never also still only really maybe think know look looked get got goes "
    "going done one two first last".split()
)
# Function words (also contractions without the apostrophe) and general adverbs.
FUNCTION_WORDS = frozenset(
    "about above across after against along among around as at before behind below beneath beside between beyond by "
    "despite down during except for from inside into like near of off on onto out outside over past per since than "
    "through throughout till to toward towards under underneath until up upon via with within without although and as "
    "because but either however if instead nor or otherwise so that though unless whereas whether while yet anybody "
    "anyone anything both each either every everybody everyone everything few he her hers him himself his it its itself "
    "many me mine most much my myself neither nobody none nothing one ones other others our ours ourselves several she "
    "some somebody someone something such that their theirs them themselves these they this those us we what whatever "
    "which whichever who whoever whom whose you your yours yourself am are be been being can cannot could did do does "
    "doing done had has have having is may might must ought shall should was were will would a an the no not again ago "
    "all almost already another any away back else enough even ever far here how just less more next often once own "
    "perhaps quite rather same seldom sometimes somewhat soon then there therefore thus together too very well when "
    "where why hi hello hey sorry sure welcome yeah yep nope nah ok lol hmm um write wrote written tell told say says "
    "asked ask show shows put puts take takes took taken give gives gave given keep keeps kept come comes came went "
    "briefly quickly simply actually basically probably currently exactly usually help helps happy great good nice "
    "don doesn didn isn wasn won couldn wouldn shouldn aren haven hasn ve ll re".split()
)
# Capitalised words that are not names.
NOT_NAMES = frozenset(
    "the a an our we it this that these those there in on at for from by to of with and or if when after before "
    "all no not never always do don't use uses keep user users is are has have must should prefer prefers only each every "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december i he she they his her their my".split()
)
# Courtesy between two requests to an agent.
COURTESY = frozenset(
    "thanks thank thx ok okay yes yep yeah sure please hello hi hey bye morning good great nice fine cool perfect "
    "sounds continue go ahead next again done right".split()
)
# Greetings, farewells, praise and apologies; only for a prompt without any other word: `good night`, but not `the night
# shift`.
GREETING = frozenset(
    "night evening afternoon day weekend week year happy best awesome sorry welcome see soon later tomorrow back haha "
    "lol rock amazing wonderful congratulations congrats sleep well care luck lot much job work everyone all sec moment "
    "brb wow".split()
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
# Words that say when something happens.
TIME_WORDS = frozenset(
    (
        *"yesterday today tomorrow tonight last next ago week weekend month year since recently soon morning".split(),
        *MONTHS,
        *WEEKDAYS,
    )
)
# Names of past times -> (unit, how many of it back).
TIMES_BACK = {
    ("year", 1): "last year", ("year", 0): "this year", ("month", 2): "month before last", ("month", 1): "last month",
    ("month", 0): "this month", ("week", 2): "week before last", ("week", 1): "last week", ("week", 0): "this week",
}  # fmt: skip
# Distance from today in days -> names of that day, the usual one first.
NEAR_DAYS = {
    -2: ("day before yesterday",), 2: ("day after tomorrow",), -1: ("yesterday",), 1: ("tomorrow",),
    0: ("today", "tonight"),
}  # fmt: skip
NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "twenty": 20,
}  # fmt: skip
# Names of times to come, counted from the day on which they are said (a regular expression), beside the names of days.
TIMES_AHEAD = (
    r"\b(?:next|this|coming|upcoming|following)\s+(?:weekend|week|month|quarter|year|spring|summer|autumn|fall|winter"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|\b(?:starting|from|as\s+of|effective)\s+now\b"
)
# Words that stand for a number before a unit of time: `a week ago`.
ARTICLES = {"a": 1, "an": 1, "a couple of": 2}
# Regular expressions: DENIAL negates a text, NO_DENIAL only looks like it, BESIDE_DENIAL is part of the phrase.
DENIAL = (
    r"\b(?:not|no|never|none|neither|nor|without|cannot|avoid\w*|refrain\w*|\w+n['’]t|dont|wont|stop(?:s|ped)?|disabl\w+|forbid\w*"
    r"|forbidden|prohibit\w*|banned)\b|\b(?:turn|switch|shut|is|are|be|keep|stay)\w{0,3}\s+(?:\w+\s+)?off\b"
)
NO_DENIAL = (
    r"\bnot\s+only\b|\bno(?:t)?\s+(?:later|earlier|more|less|fewer|longer)\s+than\b|\bno\s+doubt\b|\bcan['’]?t\s+wait\b"
    r"|\bno\.\s*(?=\d)"
)
BESIDE_DENIAL = r"\b(?:any\s?more|longer)\b"
# Phrases that call a claim wrong or doubtful: a text with one does not state the claim.
NAMED_WRONG = r"\b(?:wrong|false|untrue|incorrect|mistaken|outdated|obsolete|doubt\w*|disagree\w*|forget|ignore|who\s+(?:told|says|said)|pretend\w*|supposedly|allegedly)\b"
# Unit -> (what it measures, its size in the base unit). A month is not a number of seconds.
UNITS = {
    **dict.fromkeys("ms msec millisecond milliseconds".split(), ("s", 0.001)),
    **dict.fromkeys("s sec secs second seconds".split(), ("s", 1)),
    **dict.fromkeys("min mins minute minutes".split(), ("s", 60)),
    **dict.fromkeys("h hr hrs hour hours".split(), ("s", 3600)),
    **dict.fromkeys("d day days".split(), ("s", 86400)),
    **dict.fromkeys("wk wks week weeks".split(), ("s", 604800)),
    **dict.fromkeys("month months".split(), ("month", 1)),
    **dict.fromkeys("quarter quarters".split(), ("month", 3)),
    **dict.fromkeys("yr yrs year years".split(), ("month", 12)),
    **dict.fromkeys("b byte bytes".split(), ("byte", 1)),
    **dict.fromkeys("kb kilobyte kilobytes".split(), ("byte", 10**3)),
    **dict.fromkeys("mb megabyte megabytes".split(), ("byte", 10**6)),
    **dict.fromkeys("gb gigabyte gigabytes".split(), ("byte", 10**9)),
    **dict.fromkeys("tb terabyte terabytes".split(), ("byte", 10**12)),
    "kib": ("byte", 2**10), "mib": ("byte", 2**20), "gib": ("byte", 2**30), "tib": ("byte", 2**40),
    **dict.fromkeys("% percent pct".split(), ("%", 1)),
    "mm": ("m", 0.001), "cm": ("m", 0.01), "km": ("m", 1000),
    **dict.fromkeys("metre metres meter meters".split(), ("m", 1)),
    **dict.fromkeys("kilometre kilometres kilometer kilometers".split(), ("m", 1000)),
    "mg": ("g", 0.001), "g": ("g", 1), "gram": ("g", 1), "grams": ("g", 1), "kg": ("g", 1000),
    "ml": ("l", 0.001), "l": ("l", 1), "litre": ("l", 1), "litres": ("l", 1), "liter": ("l", 1), "liters": ("l", 1),
    **dict.fromkeys("$ usd dollar dollars".split(), ("usd", 1)),
    **dict.fromkeys("€ eur euro euros".split(), ("eur", 1)),
    **dict.fromkeys("£ gbp pound pounds".split(), ("gbp", 1)),
    "₩": ("krw", 1), "krw": ("krw", 1), "won": ("krw", 1), "¥": ("jpy", 1), "jpy": ("jpy", 1), "yen": ("jpy", 1),
    "cny": ("cny", 1), "rmb": ("cny", 1), "yuan": ("cny", 1), "chf": ("chf", 1), "sek": ("sek", 1),
}  # fmt: skip
# Word after a number -> factor.
POWERS = {"k": 10**3, "thousand": 10**3, "million": 10**6, "mn": 10**6, "bn": 10**9, "billion": 10**9}

# Words of a question for all events of a day.
ASKED_OF_DAYS = frozenset(
    "happen happened happening happens do did done go going went on work worked working yesterday today tomorrow day "
    "days week weeks weekend month months year last past next previous ago log logs note notes summary summarize "
    "summarise recap recently monday tuesday wednesday thursday friday saturday sunday tell me show list anything "
    "something everything since".split()
)
# -- the role of a sentence in a conversation: regular expressions -----------------------

# An agent offers choices (OFFER). A bare yes to such a sentence decides nothing.
OFFER = r"\b(?:or|either|options?|could|can|would|alternatively|candidates?|suggest|propos\w+|prefer\w*|then)\b"
CHOICE = r"\b(?:or|either|both|alternatively|options?)\b"
POSSIBILITY = r"\b(?:could|can|would|might|may|should\s+we)\b"
# Beginnings of a sentence that sums up a decision.
DECISION_LEAD_INS = r"^\W*(?:so|then|to\s+(?:fix|sum|recap|record|confirm|summari[sz]e)\b|in\s+short|summary|recap|decided|final|noted|settled)\b[^.?!]{0,40}[:,]"
# The replaced value in a phrase like "instead of X": the value is the group.
GONE_VALUE = r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of)\s+(?:(?:the|an?|using|use)\s+)*([\w.+#-]*\w)"
# The first word of a value that a text names only to deny it: "tabs, not spaces".
DENIED_VALUE = (
    r"(?:[,;:(–—]|\b(?:and|but)\b)\s*(?:not|no|never)\s+"
    r"(?:(?:to|in|on|at|by|via|with|for|from|using|use|the|an?|any)\s+)*([\w.+#-]*\w)"
)
# An agent proposes one thing (PROPOSAL); a step of the present work; a proposal that lasts beyond it.
PROPOSAL = (
    r"^\W*(?:(?:so|then|in\s+that\s+case)\W+)?(?:i(?:(?:'|’)d|\s+would)?\s+(?:(?:also|strongly)\s+)?(?:suggest|propose|recommend|advise)\b"
    r"|my\s+(?:suggestion|proposal|recommendation|advice)\s*(?:is\b|[:,])|(?:i\s+think\s+)?we\s+should\b|let(?:'|’)s\b)"
)
WORK_STEP = (
    r"\b(?:again|first|now|for\s+now|run(?:ning)?|re-?run\w*|check\w*|look\w*|try(?:ing)?|add(?:ing)?|fix\w*|open\w*|restart\w*|read(?:ing)?|review\w*|updat\w+"
    r"|install\w*|remov\w+|delet\w+|renam\w+|refactor\w*|revert\w*|commit\w*|push\w*|merg(?:e|ing)|writ(?:e|ing)|creat\w+|debug\w*|investigat\w+|start(?:ing)?"
    r"|mov(?:e|ing)|test(?:ing)?|see|wait(?:ing)?|ask(?:ing)?|split\w*|extract\w*|continu\w+|proceed\w*|do)\b"
)
STANDING = r"\b(?:every|always|never|only|each|from\s+now\s+on|by\s+default|nightly|daily|weekly|monthly|at\s+night|whenever|per|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
# An agent reports its own work; a person sends it on an errand.
OWN_WORK = r"^\W*(?:i|i'll|i've|i'm|let\s+me|done|switched|changed|added|fixed|set\s+up|updated|created|wrote|pushed|deployed|removed|moved|here)\b"
ERRAND = (
    r"^\W*(?:please\s+)?(?:can|could|would|will)\s+you\b|^\W*(?:please\s+)?(?:explain|show|tell|summari[sz]e|describe|list|open|look|check|revert|write|make)\b"
    r"|^\W*(?:thanks?|thank\s+you|let\s+me|i'll|we\s+need\s+to\s+settle)\b"
)
# A request to translate or edit the text after the colon: that text is not the person's own statement.
TEXT_WORK = (
    r"(?:(?:please|now|can\s+you|could\s+you|would\s+you)\s+)*(?:translate|proof-?read|rephrase|reword|paraphrase|summari[sz]e|rewrite|polish|shorten"
    r"|(?:fix|correct|check|improve)\s+(?:(?:the|my|this|its|any|all)\s+)*(?:grammar|spelling|typos?|wording|punctuation|english|korean|text|sentence))"
    r"(?:\s+(?:this|that|it|these|(?:the|my|this)\s+(?:following|above|next|text|sentence|paragraph|message|e-?mail|line|passage|note|draft)s?))?"
    r"(?:\s+(?:text|sentence|paragraph|message|e-?mail|line|passage|note|draft)s?)?"
    r"(?:\s+(?:in|of|from|to|into|for|as|more|less|very|in\s+a|politely|formally|briefly|please)\b[^:：\n]{0,60})?"
)
# A request to remember the rest of the sentence.
KEEP_THIS = r"^\W*(?:please\s+)?(?:remember|note|memori[sz]e|keep\s+in\s+mind|write\s+down|don't\s+forget)\b"
# A sentence that only asks to remember the statement before it.
REMEMBER_THAT = (
    r"(?:(?:and|so|please|also|just|always|can\s+you|could\s+you|would\s+you|will\s+you)[\s,]+)*"
    r"(?:(?:remember|memori[sz]e|note|don(?:'|’)t\s+forget|make\s+a\s+note\s+of)\s+(?:this|that|it)(?:\s+down)?"
    r"|(?:write|note)\s+(?:this|that|it)\s+down|keep\s+(?:this|that|it)\s+in\s+mind"
    r"|(?:save|store|put|add)\s+(?:this|that|it)\s+(?:to|in)\s+(?:your\s+|the\s+)?memory)"
    r"(?:[\s,]+(?:please|for\s+(?:me|later|next\s+time|the\s+future)|thanks|thank\s+you|ok|okay))*"
)
# Agreement only; weak agreement, which a following `no` takes back; thanks.
AGREEMENT = (
    r"(?:ok|okay|yes|yep|yeah|sure|right|exactly|absolutely|perfect|great|good|nice|fine|agreed?|done|deal|gotcha|understood)"
    r"|(?:i|we)\s+(?:fully\s+|totally\s+)?agree(?:\s+with\s+(?:you|that|this))?|(?:that\s+)?(?:sounds|looks)\s+(?:good|great|right|fine)(?:\s+to\s+me)?"
    r"|good\s+(?:call|point|idea|catch)|makes\s+sense|fair\s+(?:enough|point)|got\s+it|works\s+for\s+me|no\s+objections?"
)
# A sentence that only accepts a proposal.
CONFIRMATION = (
    r"(?:(?:yes|yep|yeah|sure|ok|okay|right|exactly|absolutely|agreed|perfect|great|good|sounds\s+good|makes\s+sense|good\s+idea)[\W_]*)*"
    r"(?:(?:please[\W_]*)?(?:let(?:'|’)s\s+)?do\s+(?:that|it|so|exactly\s+that)|(?:let(?:'|’)s\s+)?go\s+(?:ahead|with\s+(?:that|it))|please\s+do|let(?:'|’)s\s+go\s+with\s+(?:that|it))"
    r"(?:[\W_]+(?:please|then|thanks|thank\s+you))*|(?:yes|yep|yeah|agreed|exactly|absolutely)(?:[\W_]+(?:please|agreed|exactly|absolutely))*"
)
# An agent acknowledges an instruction.
ACKNOWLEDGEMENT = (
    r"^\W*(?:(?:noted|understood|got\s+it|will\s+do|sure(?:\s+thing)?|okay|ok|of\s+course|certainly|absolutely|alright|all\s+right|"
    r"roger|acknowledged|thanks(?:\s+for\s+(?:the|letting)[^.,;:!]*)?|i(?:'|’)?ll\s+remember(?:\s+that)?|"
    r"i(?:'|’)ll|i\s+will|i(?:'|’)ve\s+noted(?:\s+that)?|from\s+now\s+on|going\s+forward)\b[\W_]*)+"
)
FAINT_AGREEMENT = r"(?:ok(?:ay)?|great|good|nice|fine|perfect|thanks?|thank\s+you|thx)\b"
THANKS = r"thanks?|thx|thank\s+you|great|perfect"
# A refusal at the beginning of an answer (REFUSAL), and anywhere in it.
REFUSAL = r"^\W*(?:no|nope|nah|not|don't|rather|wait|hmm+|hold\s+on|actually)\b"
DECLINING = r"\bbut\s+(?:no|not|i\s+don't|we\s+can't|let's\s+not)\b|\bno\s+thanks?\b"
# Beginnings of a sentence that gives the reason of the one before; of one that states a consequence.
REASON_LEAD_INS = (
    r"because|since|as\s+(?:we|the|it|they)\b|due\s+to|(?:the|our|my)\s+(?:main\s+)?reason(?:ing|s)?\b|reason\b|rationale|otherwise|or\s+else"
    r"|that\s+way|this\s+(?:way|avoids|keeps|lets|prevents|saves|means)|that(?:'s|\s+is)\s+because|(?:it|this)(?:'s|\s+is)\s+because"
)
CONSEQUENCE_LEAD_INS = (
    r"so\b|therefore|hence|thus|that(?:'s|\s+is)\s+why|for\s+(?:that|this)\s+reason|because\s+of\s+(?:that|this)"
)
# Words that add a sentence to the one before it. Without them it says the same.
ADDING_LEAD_INS = (
    r"(?:and(?:\s+also)?|also)(?:,\s*|\s+)(?!(?:then|so|yet|known|called|see)\b)(?=\w)"
    r"|(?:additionally|furthermore|moreover|in\s+addition|plus),\s*"
)
# Beginnings of a sentence about something that was said before; words of an exception to it.
REFERRING_LEAD_INS = (
    r"(?:this|that|these|those|it|its|they|them|their|both|neither|either|such|the\s+(?:same|former|latter|other|others|rest))\b"
    r"|(?:but|and|only|except|unless|if|otherwise|else|instead|in\s+that\s+case)\b"
)
EXCEPTIONS = r"\bexcept(?:ions?|ed|ing)?\b|\bunless\b|\bapart\s+from\b"
# Beginnings of a sentence that changes the subject, so that it gives no reason.
GOING_ON = (
    r"please|let\s*me|let's|let\s+us|i(?:'ll|\s+will|'m|\s+am)|now\b|next\b|then\b|also\b|and\b|but\b|ok\b|okay|thanks|thank\s+you|can\s+you|could\s+you"
    r"|(?:go\s+ahead|add|update|fix|run|write|make|change|check|remove|move|rename|create|start|use|implement|tell|show|do)\b"
)
# Empty openings of a turn; beginnings of a sentence about the other person or of a mere pleasantry.
INTERJECTIONS = (
    r"hey|hi|hello|yeah|yes|yep|yup|no|nah|oh|well|wow|woah|whoa|aw+|haha+|so|and|but|thanks|thank you|sure|totally"
    r"|absolutely|definitely|exactly|right|cool|nice|great|awesome|woo+(?:hoo)?|btw|by the way|actually|honestly"
)
PLEASANTRIES = (
    r"(?:that|this|it)(?:'s| is| was| sounds?| looks?| must| makes)\b(?!.*\b(?:i|my|me|we|our)\b)|(?:sounds?|looks?)\b"
    r"|congrat|thank|thanks|good luck|glad|happy (?:for|to hear)|sorry|no problem|you(?:'re| are|'ve| have|'ll|r)?\b"
    r"|keep (?:it )?up|have (?:a|fun)|take care|see (?:you|ya)|talk (?:to|soon)|bye|let me know|i(?:'m| am) (?:so |really |very )?(?:glad|happy|proud|sorry|impressed|excited) (?:for|to hear|that you|you|of you)"
    r"|i(?:'m| am) here for|i(?:'ll| will) (?:definitely |totally )?(?:check|let you|keep you|be there|cheer|look)|i (?:agree|hope you|bet|can imagine|totally get|understand|get it|see|hear you|wish you)\b"
    r"|can't wait to (?:see|hear)|same here|me too|enjoy|wishing|i'd love to (?:see|hear|join|come|try)"
)
# Words of a reason anywhere in a text.
REASON = r"\b(?:because|due to|so that|in order to|to avoid|reason(?:ing)? (?:is|was))\b|\breason:"
# Words for a decision or a constraint in a heading or a label.
DECISION_NAMES = "decision|decided|constraint|policy"

# Phrases that something holds from now on: a day of the week beside one means every week.
FROM_NOW_ON = r"\b(?:from\s+(?:now|here|today)\s+on(?:wards?)?|going\s+forward|henceforth)\b"
