"""Lists of English words for comparing statements: cues, properties, stop words, contrast classes.

All words are in lower case. A cue is a list of words and phrases with `|` between them; `switch*` stands for all words
that begin with `switch`.
"""

from __future__ import annotations

CUES = {
    # The new line says that something changed.
    "change": (
        "now|instead|no longer|anymore|any more|any longer|as of|henceforth|from now on|from today|these days|nowadays"
        "|from here on|going forward|move|moved|moves|moving|relocat*|switch*|chang*|replac*|migrat*|bump*|raise"
        "|raised|lower*|reduc*|cut to|cut from|cut down|increas*|decreas*|extend*|shorten*|widen*|narrow*"
        "|postpon*|adjourn*|reschedul*|put back|put off|brought forward|pushed|become|becomes|became|renam*"
        "|upgrad*|downgrad*|updat*|revis*|revers*|rewritten|rework*|swap*|took over|taken over|takes over|handed"
        "|hands over|passed to|transfer*|appointed|promoted|elected|succeed*|cover for|covers for|new|since"
        "|after all|gave way|inherit*|rather than|in place of|up from|up to|down from|down to|correction"
        "|corrected|overrul*|supersed*|droppe to|dropped to|rose|grew|scaled|repric*|set to|made it|back to|again"
        "|earlier|later|renewed|reevaluat*|remeasur*|recount*|retest*|reassign*|reorganis*|reorganiz*|reopen*"
        "|relicens*|re evaluat*|re measur*|re count*|re test*|re assign*|re organis*|re organiz*|re open*"
        "|re licens*|turned to|turned into|convert*|doubled|halved|tripled|discontinued|left the|left us|left for"
        "|has taken|has moved|has joined|has become|has been|have taken|have moved|have joined|have become"
        "|step down|steps down|stepped down|stepping down|step in|steps in|stepped in"
    ),
    # The new line says that something is over.
    "ends": (
        "no longer|anymore|any more|cancel*|called off|scrapp*|abolish*|droped|dropped|delete|deleted|remove"
        "|removed|gone|expire|expired|lifted|retire|retired|destroy*|decommission*|ended|ends|void|shut"
        "|discontinu*|withdraw|withdrawn|withdrew|withdrewn|given up|gave up|gives up|quit|stopped|stops"
        "|turned off|switched off|disabled|dissolv*|terminat*|struck from|waived|disbanded|sold|died|passed away"
        "|broke up|free again|without successor|without replacement|without a successor|without a replacement"
        "|not needed|unneeded|no more|repealed|revoked|finished|complete|completed|done|out of use|phased out"
        "|sunset|axed|obsolete|paused|on hold|on pause"
    ),
    # The new line says that something goes on again.
    "resume": "resum*|reinstat*|restarted|back on|brought back",
    # The new line says that something rests: it may go on, so that a person is asked.
    "pause": "paused|on hold|on pause|suspended|until further notice|for now|for the time being",
    # The new line says that an open thing was settled.
    "settled": (
        "fixed|patched|resolved|repaired|paid up|paid off|paid in full|returned|released|running again|unblocked"
        "|restored|is back|back up|back on|back in|mended|healed|recovered|closed|done|settled|finished|completed"
        "|approved|ok|solved|made up|came back|merged|shipped|went live"
    ),
    # The new line says that nothing changed.
    "kept": (
        "unchanged|unaltered|remain|remains|remained|stay|stays|stayed|keep|keeps|kept|still|no change|as before"
        "|left at|left un|left as|confirm*|turned down|rejected|declined|contrary to|not moved|same as|as planned"
        "|after all|once again|reaffirm*|stands|continue|continues"
    ),
    # The statement names its source.
    "source": (
        "according to|say|says|said|show|shows|state|states|name|names|list|lists|mark|marks|speak of|speaks of"
        "|note|wiki|sheet|register|minutes of|diary|sticker|invoice|report|reports|reported|confirmation|letter"
        "|bulletin|both|website|calendar|ledger|receipt|extract|label|logbook|cmdb|crm|claim|claims|record"
        "|records|statement|appendix|inventory|email|e mail|mail"
    ),
    # Two statements are about one time.
    "at_once": (
        "same day|same date|same hour|same minute|same time|same morning|same afternoon|same evening|same week"
        "|same commit|same release|same rev|same moment|same sample|same test|same night|same month|both dated"
        "|both checked|both pushed|both exported|both issued|both of|both from|both written|both sent|both taken"
        "|both posted|both measured|simultaneous*|at once|without explanation|contradict*|disagree*|unclear which"
        "|mismatch*|discrepan*|do not match|does not match|vs"
    ),
    # The new line makes an exception or a condition.
    "except": (
        "except*|exempt*|exclud*|unless|only if|only when|only for|only in|only on|only at|only after|only before"
        "|only with|only between|during|for guests|for members|for students|for staff|for children|for pupils"
        "|for seniors|but|apart from|provided|may also|may still|with the exception|in addition|additional*|pause"
        "|pauses|if|when|as long as|for those|under eighteen|under sixteen|under 18|under 16|under 12|insofar"
        "|caveat|subject to|allowed|in case|while|up to|at least|in january|in february|in march|in april|in may"
        "|in june|in july|in august|in september|in october|in november|in december|before easter"
        "|before christmas|on holidays|in summer|in winter"
    ),
    "also": "also|too|as well|additionally|besides|plus|another|in addition|further|second|each|both",
    # The statement is about the past.
    "past": (
        "used to|formerly|previously|in the past|last year|last month|last week|last season|last spring"
        "|last summer|last autumn|last winter|back then|years ago|had been|was|were|once|originally|had"
    ),
    "plan": (
        "if|propos*|consider*|plan*|idea|would|might|could|hypothe*|suggest*|what if|draft|option|want|wants|hope"
        "|hopes|dream|dreams|wishes|thinking of|would like|next year"
    ),
    # The number is a target, not a measured one.
    "aim": "target|goal|aim|forecast|budget|estimate|slo|sla|limit",
    "measured": "measured|actual|actually|current|currently|spend|today|record|in use|observed|in production|in fact",
    "reason": (
        "because|since|due to|owing to|as the|as a|as it|as he|as she|as they|as we|following|after"
        "|at the request|request|thanks to|so|for lack of|having|in view of"
    ),
    # A thing may have several values of this property at one time.
    "many": (
        "allerg*|know|knows|familiar with|learn*|worked with|tried|license for|read about|speak|speaks|member*"
        "|own|owns|has a|has an|has two|has three|play|plays|visited|friend|friends|child*|like|likes|love|loves"
        "|hate|hates|enjoy|enjoys|support|supports|include|includes|contain|contains|competitor*|read|reads"
        "|customer|customers|symptom*|hobb*|bought|attended|saw|went|incident|figure|table|rule|intoler*|caused"
        "|trigger*|suffer*|vaccin*|jab"
    ),
    # An event, which no later event replaces.
    "event": (
        "went|saw|visited|bought|attended|met|flew|ran|rowed|hiked|watched|graduated|married|died|born|fell|broke"
        "|won|lost|happened|occurred|swapped|rotated|serviced|cleaned|submitted|filed|added|wired|implemented"
        "|fixed|created|wrote|tested|built|finished|completed"
    ),
    "health": (
        "allerg*|patient*|mg|dose*|dosage*|diagnos*|blood|medic*|prescri*|drug*|surg*|diabet*|asthma*|epilep*"
        "|insulin|penicillin|pregnan*|symptom*|vaccin*|intoleran*|celiac|coeliac|anaphyl*|cancer|therap*|doctor"
        "|clinic*|hospital*|inhaler|epipen|pill|pills|tablet|tablets|chemo*|hiv|migraine*|heart|disease*"
        "|disorder*|wheelchair|peanut|peanuts|latex|immun*"
    ),
    # The statement names a tool for a purpose, which has one tool at a time.
    "uses": (
        "use|uses|using|run on|runs on|runs with|go through|goes through|hosted|built with|built on|powered by"
        "|backed by|stored in|lives in|lives on|written in|deployed|deploys|handled by|goes to|standard for"
        "|tool for|sent with|sent by"
    ),
    # A property of a person, a place or a work that has one value.
    "fact": (
        "author of|author|written by|composed by|born|birthplace|place of birth|died|place of death|married to"
        "|spouse|husband|wife|capital of|capital|religion|faith|official language|native language|mother tongue"
        "|position|citizen of|citizenship|nationality|founded by|founder|created by|creator|developed by"
        "|developer|produced by|directed by|head of|chief executive|ceo|chairperson|chairman|president of"
        "|prime minister|governor|mayor|coach|manager of|continent|country of|country|headquarters|headquartered"
        "|educated|alma mater|university|employed by|employer|works for|works in|field of|genre|sport|league"
        "|plays for|team of|performed by|performer|located in|currency|population|director of|original language"
        "|broadcaster|original network|occupation|instrument|patron|anthem|national"
    ),
}
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

# Verbs after which the value of a statement stands.
_VERBS = """
is are was were has have use uses run runs listen listens live lives return returns keep keeps cost costs take takes
meet meets start starts begin begins end ends open opens close closes serve serves belong belongs equal equals goes
last lasts accept accepts hold holds work works sit sits play plays like likes prefer prefers speak speaks drink drinks
eat eats represent represents handle handles contain contains may must will can should do does
"""
VERBS = frozenset(_VERBS.split())
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

# Nouns of properties that have one value at a time.
_SINGLE = """
port owner lead leader head chair chairman chairwoman manager director president treasurer secretary editor host
maintainer assignee reviewer approver oncall deadline due date day time start end limit max maximum min minimum cap
quota timeout ttl retention interval frequency size version price fee rate rent salary cost discount address email
phone number url domain path region zone location place venue room seat capacity status state default password code
pin currency language name title theme colour color format formatter linter database db cache queue broker framework
library runtime engine provider vendor supplier carrier contact responsible teacher tutor coach captain conductor
organist pastor doctor vet lawyer attorney representative counsel judge executor florist caterer photographer
moderator speaker budget target goal threshold ratio temperature pressure speed weight height length width depth
dosage dose setpoint torque ph branch license licence policy plan tier level stage mode baseline encoding charset
locale timezone schedule cadence delivery shipment quarter sprint release cutover launch meeting appointment hearing
flight train departure arrival gate platform extension hostname ip gateway replica primary employer job position
mascot mascotte logo slogan destination route course topic textbook book play sermon estimate headcount
"""
SINGLE = frozenset(_SINGLE.split())

# Words before a number that names a thing: "room 12", "lot 7731".
_DESIGNATORS = """
line lot room run phase rule rack gate field cow tank drum press forklift shelf till lane stage form grade category
table row chapter section article item ticket case order patient bed ward unit site zone building bldg floor
platform train flight bus batch release sprint week wk year team group class stream track session step tier pr issue
bug interview postmortem parcel plot pump well door dock bay locker box crate pallet camera printer host node server
shard cluster machine robot oven shift scale roll vm apartment apt flat suite desk seat house lesson volume episode
season round game match heat lap module task story epic milestone version v vlan sku invoice contract account
customer client employee badge channel figure fig experiment exp trial protocol sample subject cohort arm cage rat
mouse sensor gauge meter valve boiler furnace elevator lift stairwell court hall tent booth stall mare ram ewe calf
pen paddock barn truck van car tram route exit terminal berth service instance worker partition queue pod replica
model rev revision appendix annex option plan part
"""
DESIGNATORS = frozenset(_DESIGNATORS.split())

# Stop words.
_STOP = """
a an the of in on at by for to with from and or as is are was were be been being am it its this that these those
there their they them he she his her him we our us you your i my me who whom which what when where than then so such
into onto over under up out off about per via has have had do does did will would shall should can could may might
must not no s t just very each every all any some more most only still also too already yet w user users
"""
STOP = frozenset(_STOP.split())

# Contrast classes: two statements with different members of one line are about different things.
CONTRASTS = (
    "staging production prod dev development test testing qa preprod sandbox live demo canary",
    "free paid pro premium basic team enterprise business personal trial silver gold platinum bronze",
    "north south east west northern southern eastern western",
    "left right",
    "first second third fourth fifth last 1st 2nd 3rd 4th 5th",
    "morning afternoon evening night noon midnight",
    "day night",
    "breakfast lunch dinner supper dessert soup",
    "mother father brother sister son daughter uncle aunt nephew niece grandmother grandfather wife husband "
    "cousin twin mum dad mom partner",
    "boys girls men women male female",
    "primary replica secondary standby master slave",
    "import export importer exporter upload download input output",
    "front back rear top bottom upper lower",
    "ios android web windows linux mac macos desktop mobile",
    "read write",
    "train validation val test",
    "summer winter spring autumn fall",
    "internal external inbound outbound",
    "old new",
    "large small big medium",
    "min max minimum maximum",
    "open closed",
    "north south",
    "junior senior",
    "arrival departure arrivals departures",
    "target actual",
    "planned actual",
    "customer supplier client vendor",
    "buyer seller",
    "plaintiff defendant",
    "code docs documentation",
    "frontend backend",
    "api ui",
    "postgres mysql",
    "weekday weekend weekdays weekends",
    "adults children child adult students staff members guests",
    "cats dogs cat dog",
    "red white",
    "public private",
)
