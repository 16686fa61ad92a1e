"""The English words that tell what a later statement does to an earlier one: patterns and lists, nothing else.

Each pattern is written for text in lower case. A list that is missing here means that the language has no such words.
"""

from __future__ import annotations

CUES = {
    # The new line says that something changed.
    "change": (
        r"\bnow\b(?! that\b)|\binstead\b|\bno longer\b|\bany ?more\b|\bany longer\b|\bas of\b|\bhenceforth\b"
        r"|\bfrom now on\b|\bthese days\b|\bnowadays\b|\bfrom here on\b|\bgoing forward\b|\bmoved?\b|\bmoves\b"
        r"|\bmoving\b|\brelocat\w+|\bswitch\w*|\bchang\w+|\breplac\w+|\bmigrat\w+|\bbump\w*|\braised?\b|\blower\w*"
        r"|\breduc\w+|\bcut to\b|\bcut from\b|\bcut down\b|\bincreas\w+|\bdecreas\w+|\bextend\w*|\bshorten\w*"
        r"|\bwiden\w*|\bnarrow\w*|\bpostpon\w+|\badjourn\w*|\breschedul\w+|\bput (?:back|off)\b"
        r"|\bbrought forward\b|\bpushed\b|\bbecomes?\b|\bbecame\b|\brenam\w+|\bupgrad\w+|\bdowngrad\w+|\bupdat\w+"
        r"|\brevis\w+|\brevers\w+|\brewritten\b|\brework\w*|\bswapp?\w*|\btook over\b|\btaken over\b"
        r"|\btakes over\b|\bhanded\b|\bhands over\b|\bpassed to\b|\btransfer\w*|\bappointed\b|\bpromoted\b"
        r"|\belected\b|\bsucceed\w*|\bcovers? for\b|\bnew\b|\bsince\b|\bafter all\b|\bgave way\b|\binherit\w*"
        r"|\bstepp?\w* (?:down|in)\b|\brather than\b|\bin place of\b|\bup (?:from|to)\b|\bdown (?:from|to)\b"
        r"|\bcorrect(?:ion|ed)\b|\boverrul\w+|\bsupersed\w+|\bdropped? to\b|\brose\b|\bgrew\b|\bscaled\b"
        r"|\brepric\w+|\bset to\b|\bmade it\b|\bprefers?\b.*\bnow\b|\bback to\b|\bagain\b|\bearlier\b|\blater\b"
        r"|\brenewed\b|\bre-?(?:evaluat|measur|count|test|assign|organi[sz]|open|licens)\w*|\bturned (?:in)?to\b"
        r"|\bconvert\w*|\bdoubled\b|\bhalved\b|\btripled\b|\bdiscontinued\b|\bleft (?:the|us|for)\b|\bhas (?:taken"
        r"|moved|joined|become|been)\b|\bhave (?:taken|moved|joined|become)\b"
    ),
    # The new line says that something is over.
    "ends": (
        r"\bno longer\b|\bany ?more\b|\bcancel\w*|\bcalled off\b|\bscrapp\w+|\babolish\w*|\bdropp?ed\b"
        r"|\bdeleted?\b|\bremoved?\b|\bgone\b|\bexpired?\b|\blifted\b|\bretired?\b|\bdestroy\w*|\bdecommission\w*"
        r"|\bended\b|\bends\b|\bover\b(?! (?:the|a|\d))|\bvoid\b|\bclosed\b(?! (?:session|doors?|source|beta))"
        r"|\bshut\b|\bdiscontinu\w+|\bwithdr[ae]wn?\b|\bgiven up\b|\bgave up\b|\bgives up\b|\bquit\b|\bstopped\b"
        r"|\bstops\b|\bturned off\b|\bswitched off\b|\bdisabled\b|\bdissolv\w+|\bterminat\w+|\bstruck from\b"
        r"|\bwaived\b|\bdisbanded\b|\bsold\b|\bdied\b|\bpassed away\b|\bbroke up\b|\bfree again\b"
        r"|\bwithout (?:a )?(?:successor|replacement)\b|\bnot needed\b|\bunneeded\b|\bno more\b|\brepealed\b"
        r"|\brevoked\b|\bfinished\b|\bcompleted?\b|\bdone\b|\bout of use\b|\bphased out\b|\bsunset\b|\baxed\b"
        r"|\bobsolete\b"
    ),
    # The new line says that an open thing was settled.
    "settled": (
        r"\bfixed\b|\bpatched\b|\bresolved\b|\brepaired\b|\bpaid (?:up|off|in full)\b|\breturned\b|\breleased\b"
        r"|\brunning again\b|\bunblocked\b|\brestored\b|\bis back\b|\bback (?:up|on|in)\b|\bmended\b|\bhealed\b"
        r"|\brecovered\b|\bclosed\b|\bdone\b|\bsettled\b|\bfinished\b|\bcompleted\b|\bapproved\b|\bok\b|\bsolved\b"
        r"|\bmade up\b|\bcame back\b|\bmerged\b|\bshipped\b|\bwent live\b|\[x\]"
    ),
    # The new line says that nothing changed.
    "kept": (
        r"\bunchanged\b|\bunaltered\b|\bremains?\b|\bremained\b|\bstays?\b|\bstayed\b|\bkeeps?\b|\bkept\b"
        r"|\bstill\b|\bno change\b|\bas before\b|\bleft (?:at|un|as)\b|\bconfirm\w*|\bturned down\b|\brejected\b"
        r"|\bdeclined\b|\bcontrary to\b|\bnot moved\b|\bsame as\b|\bas planned\b|\bafter all\b|\bonce again\b"
        r"|\breaffirm\w*|\bstands\b|\bcontinues?\b|\bit is\b$"
    ),
    # Two sources are set beside each other.
    "source": (
        r"\baccording to\b|\bper (?!(?:day|hour|week|month|year|min|person|seat|head|user|unit|cent|kg"
        r"|second)\b)[a-z]|\bsays?\b|\bsaid\b|\bshows?\b|\bstates?\b|\bnames?\b|\blists?\b|\bmarks?\b"
        r"|\bspeaks? of\b|\bnote\b|\bwiki\b|\bsheet\b|\bregister\b|\bminutes of\b|\bdiary\b|\bsticker\b"
        r"|\binvoice\b|\breport(?:s|ed)?\b|\bconfirmation\b|\bletter\b|\bbulletin\b|\bboth\b|\bwebsite\b"
        r"|\bcalendar\b|\bledger\b|\breceipt\b|\bextract\b|\blabel\b|\blogbook\b|\bcmdb\b|\bcrm\b|\bclaims?\b"
        r"|\brecords?\b|\bstatement\b|\bappendix\b|\binventory\b|\be-?mail\b|\bmail\b"
    ),
    # Both hold at one time.
    "at_once": (
        r"\bsame (?:day|date|hour|minute|time|morning|afternoon|evening|week|commit|release|rev|moment|sample|test"
        r"|night|month)\b|\bsame-day\b|\bboth (?:dated|checked|pushed|exported|issued|of|from|written|sent|taken"
        r"|posted|measured|posted)\b|\bsimultaneous\w*|\bat once\b|\bwithout explanation\b|\bcontradict\w*"
        r"|\bdisagree\w*|\bthough\b.*\bsays\b|\b(?:whereas|while)\b.*\b(?:says|shows|lists|names)\b"
        r"|\bunclear which\b|\bmismatch\w*|\bdiscrepan\w+|\bdo(?:es)? not match\b|\bvs\b"
    ),
    # The new line makes an exception or narrows.
    "except": (
        r"\bexcept\w*|\bexempt\w*|\bexclud\w+|\bunless\b|\bonly (?:if|when|for|in|on|at|after|before|with"
        r"|between)\b|\bduring\b|\bfor (?:guests|members|students|staff|children|pupils|seniors)\b|\bbut\b"
        r"|\bapart from\b|\bprovided\b|\bmay (?:also|still)\b|\bwith the exception\b|\bin addition\b"
        r"|\badditional\w*|\bpauses?\b|\bexcluding\b|\bif\b|\bwhen\b|\bas long as\b|\bfor those\b"
        r"|\bunder (?:eighteen|sixteen|18|16|12)\b|\binsofar\b|\bcaveat\b|\bsubject to\b|\ballowed\b|\bin case\b"
        r"|\bwhile\b|\bup to\b|\bat least\b|\bin (?:january|february|march|april|may|june|july|august|september"
        r"|october|november|december)\b|\bbefore (?:easter|christmas)\b|\bon holidays\b|\bin summer\b"
        r"|\bin winter\b"
    ),
    "also": (
        r"\balso\b|\btoo\b|\bas well\b|\badditionally\b|\bbesides\b|\bplus\b|\banother\b|\bin addition\b"
        r"|\bfurther\b|\bsecond\b|\beach\b|\bboth\b"
    ),
    # What is not said of now.
    "past": (
        r"\buntil (?:19|20)\d\d\b|\bused to\b|\bformerly\b|\bpreviously\b|\bin the past\b|\blast (?:year|month"
        r"|week|season|spring|summer|autumn|winter)\b|\bback then\b|\byears ago\b|\bhad been\b|\bwas\b|\bwere\b"
        r"|\bin (?:19|20)\d\d\b|\bonce\b|\boriginally\b|\bhad\b"
    ),
    "plan": (
        r"^had\b|\bif\b|\bpropos\w+|\bconsider\w*|\bplan\w*|\bidea\b|\bwould\b|\bmight\b|\bcould\b"
        r"|\bhypothe\w+|\bsuggest\w*|\bwhat if\b|\bdraft\b|\boption\b|\bwants?\b|\bhopes?\b"
        r"|\bdreams?\b|\bwishes\b|\bthinking of\b|\bwould like\b|\bnext year\b"
    ),
    # A number that is aimed at, not one that was measured.
    "aim": r"\btarget\b|\bgoal\b|\baim\b|\bforecast\b|\bbudget\b|\bestimate\b|\bslo\b|\bsla\b|\blimit\b",
    "measured": (
        r"\bmeasured\b|\bactual(?:ly)?\b|\bcurrent(?:ly)?\b|\bspend\b|\btoday\b|\brecord\b|\bin use\b|\bobserved\b"
        r"|\bin production\b|\bin fact\b"
    ),
    "reason": (
        r"\bbecause\b|\bsince\b|\bdue to\b|\bowing to\b|\bas (?:the|a|it|he|she|they|we)\b|\bfollowing\b|\bafter\b"
        r"|\bat the request\b|\brequest\b|\bthanks to\b|\bso\b|\bfor lack of\b|\bhaving\b|\bin view of\b"
    ),
    "negation": (
        r"\bnot\b|\bno\b|\bnever\b|\bnone\b|\bnobody\b|\bnothing\b|\bwithout\b|\bcannot\b|\w+n['’]t\b|\bw/o\b"
        r"|\bforbid\w*|\bprohibit\w*|\bbanned\b|\bneither\b|\bnor\b|\boff\b|\bout of\b|\bmust not\b|\bfree of\b"
        r"|\bless\b$"
    ),
    # What a thing may have several of at one time.
    "many": (
        r"\ballerg\w*|\bspeaks?\b|\bmember\w*|\bowns?\b|\bhas (?:a|an|two|three)\b|\bplays?\b|\bvisited\b"
        r"|\bfriends?\b|\bchild\w*|\blikes?\b|\bloves?\b|\bhates?\b|\benjoys?\b|\bsupports?\b|\bincludes?\b"
        r"|\bcontains?\b|\bcompetitor\w*|\breads?\b|\bcustomers?\b|\bsymptom\w*|\bhobb\w+|\bbought\b|\battended\b"
        r"|\bsaw\b|\bwent\b|\bincident\b|\bfigure\b|\btable\b|\brule\b|\bintoler\w*|\bcaused\b|\btrigger\w*"
        r"|\bsuffer\w*|\bvaccin\w*|\bjab\b"
    ),
    # An event, which no later event replaces.
    "event": (
        r"\b(?:went|saw|visited|bought|attended|met|flew|ran|rowed|hiked|watched|graduated|married|died|born|fell"
        r"|broke|won|lost|happened|occurred|swapped|rotated|serviced|cleaned|submitted|filed|added|wired"
        r"|implemented|fixed|created|wrote|tested|ran|built|finished|completed)\b"
    ),
    "health": (
        r"\ballerg\w*|\bpatient\w*|\bmg\b|\bdos(?:e|age)\w*|\bdiagnos\w*|\bblood\b|\bmedic\w+|\bprescri\w*"
        r"|\bdrug\w*|\bsurg\w+|\bdiabet\w*|\basthma\w*|\bepilep\w*|\binsulin\b|\bpenicillin\b|\bpregnan\w*"
        r"|\bsymptom\w*|\bvaccin\w*|\bintoleran\w*|\bceliac\b|\bcoeliac\b|\banaphyl\w*|\bcancer\b|\btherap\w+"
        r"|\bdoctor\b|\bclinic\w*|\bhospital\w*|\binhaler\b|\bepipen\b|\bpills?\b|\btablets?\b|\bchemo\w*|\bhiv\b"
        r"|\bmigraine\w*|\bheart\b|\bdisease\w*|\bdisorder\w*|\bwheelchair\b|\bpeanuts?\b|\blatex\b|\bimmun\w+"
    ),
}

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

# Words before a number that tells which thing: "room 12", "lot 7731".
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

# Words that say nothing by themselves.
_STOP = """
a an the of in on at by for to with from and or as is are was were be been being am it its this that these those
there their they them he she his her him we our us you your i my me who whom which what when where than then so such
into onto over under up out off about per via has have had do does did will would shall should can could may might
must not no s t just very each every all any some more most only still also too already yet w user users
"""
STOP = frozenset(_STOP.split())

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

# Of two members of one line, one in each of two statements, each tells another thing.
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
