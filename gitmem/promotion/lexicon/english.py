"""English cues of the `rules` model, by what they do in a sentence. Data only; `promotion/cues.py` says how they are
read.

Written from grammar, not from any log: commitment verbs, modals of obligation, limits, dated nouns, attitudes,
stative present for what lasts; past or progressive openings, hedges, reported speech and small talk against.
"""

from __future__ import annotations

from gitmem.promotion.cues import cue
from gitmem.text.english import MONTHS, WEEKDAYS

_MONTH = "|".join(name[:3] for name in MONTHS)
DATE = rf"""(?:\d{{4}}-\d\d-\d\d | \d{{1,2}}/\d{{1,2}}\b | \b(?:{_MONTH})[a-z]*\.?\ \d{{1,2}}\b
    | \b\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?(?:{_MONTH})[a-z]*\b
    | \b(?:{"|".join(WEEKDAYS)})\b | \btomorrow\b | \b(?:end|close)\ of\ (?:the\ )?(?:day|week|month|quarter|year)\b
    | \bweek\ \d+\b | \bq[1-4]\b | \bnext\ (?:week|month|quarter|year)\b
    | \b(?:{"|".join(name for name in MONTHS if name != "may")})\b)"""
UNIT = r"""(?:%|[kmgt]i?b\b|ms\b|s\b|sec(?:ond)?s?\b|min(?:ute)?s?\b|h(?:our)?s?\b|days?\b|weeks?\b|months?\b|years?\b
    |rps\b|qps\b|requests?\b|users?\b|items?\b|rows?\b|projects?\b|calls?\b|cores?\b|mg\b|ml\b|kg\b|km\b|eur\b|usd\b)"""
PRONOUN = "(?:i|we|it|this|that|there|he|she|they|someone|somebody|everybody|nobody|you|who|what)"
# Verbs of holding and of habit, third person and plural: after a noun phrase they say what is so, not what happened.
HOLDS = r"""runs?|lives?|listens?|uses?|depends?|includes?|contains?|means|holds?|stores?|keeps?|supports?|returns?|expects?
    |requires?|needs|starts?|closes|opens|changes|reloads?|writes|reads|points?|expires?|serves?|allows?|costs?|belongs?|owns?|sits
    |maps|covers?|goes|takes|accepts?|sends|receives|syncs?|deploys|ships|handles?|comes?|connects?|rotates?|resets?|caches|scales
    |exports?|fires|triggers?|talks\ to|refers?|equals|provides?|reports?\ to|meets|happens|follows|works|begins|ends|lasts|stops
    |applies|bounces?|rejects?|retries|falls\ back|defaults|proxies|renders|parses|validates|encrypts|signs|authenticates|charges
    |bills|pays|covers|counts|measures|publishes|consumes|produces|emits|indexes|replicates|shards|mirrors|mounts|exposes|blocks
    |ignores|skips|merges|inherits|extends|implements|wraps|gets|gives|becomes|represents|describes|identifies|knows|speaks|teaches
    |studies|prefers|drives|commutes|drinks|eats|sleeps|wakes|attends|lets|makes|sets|shows|tracks|updates\ every|polls|queries"""
HOLD = """go|follow|happen|run|live|use|depend|include|contain|mean|hold|store|keep|support|return|expect|require|start|close|open
    |change|write|read|point|expire|serve|allow|cost|belong|sit|map|cover|take|accept|send|receive|sync|deploy|ship|handle|come
    |connect|rotate|reset|scale|fire|trigger|refer|equal|provide|report|meet|work|begin|end|last|apply|bounce|get|need|stay|remain
    |carry|share|inherit|consist|arrive|leave|replace|become|pay|count|live"""
# What after a copula is only so today.
PASSING = r"""done(?!\ (?:in|by|with|at|every|on)\b)|fine|ok|okay|good|great|nice|slow|weird|green|red|broken|flaky|down|back|up\ again|busy|tired|stuck|better|worse
    |happy|smooth|ready|over|late|normal|funny|quiet|long|going|gone|being|not\ sure|unclear|pending|still|now|sick|out|loud"""
# Verbs that say what somebody did, not what holds; agents' logs open with them.
DID = r"""(?:fixed|looked|reviewed|refactored|merged|moved|asked|summari[sz]ed|drafted|saved|called|walked|watched
    |cleaned|cleared|restarted|rolled|read|reran|ran|tested|tried|updated|added|removed|deployed|shipped|wrote|sent|got|went
    |spent|had|met|chatted|paired|debugged|investigated|played|reminded|finished|started|opened|closed|pushed|rebased
    |checked|cooked|bought|ate|slept|helped|talked|discussed|explored|used|made|took|gave|found|reproduced|upgraded
    |installed|renamed|replied|answered|delivered|scheduled|booked|created|listened|visited|attended|skimmed|noticed)"""
# Things of security. A statement about one of them is a policy only if it says a rule (SAYS_RULE): "the VPN server is in
# Frankfurt" says where it is.
SECURITY = r"""(?:polic(?:y|ies)|compliance|gdpr|pii|encrypt(?:ed|ion)|mfa|2fa|sso-only|least\ privilege|audit\ log|retention|credentials?|secrets?\ (?:live|are|go|must)
    |bastions?|vpn|root\ (?:ssh|login)|access\ (?:goes|is|to)|rotat(?:ed|es|ion)|must\ not\ appear)"""
SAYS_RULE = r"""(?:must|shall|should|may|never|always|require[ds]?|mandatory|forbidden|prohibited|banned|not\ (?:allowed|permitted)|only|enforced?|unless|without|at\ least
    |no\ (?:longer|more)\ than|do\ not|don't|needs?|ha(?:s|ve)\ to|approv(?:al|ed)|every|each|sso-only|least\ privilege|goes\ through|goes\ to|break-glass
    |polic(?:y|ies)(?:\ (?:is|are|says|agreed|locked|set|for|of)\b|:)
    |(?:is|are)\ (?:encrypted|masked|disabled|blocked|limited|restricted|logged|deleted|kept|rotated|reviewed|approved)
    |retention(?:\ \w+){0,6}?\ (?:\d+|one|two|three|five|six|seven|ten|thirty)(?:\ \w+)?\ ?(?:d|days?|weeks?|months?|years?)|retention:\ \d+\ ?\w+)"""

# Media in which others say things, and the words before one that make it the source of a statement. Without them it is a
# thing that somebody works on: "the blog runs on Astro".
MEDIUM = r"podcast|article|blog|tweet|linkedin|hacker\ news|keynote"
SOURCE = r"\b(?:saw|seen|read|heard|watched|skimmed|on|from|in|via|per|this|that|interesting|some)"

CUES = (
    # --- what was settled
    cue("decided, by nobody named", 1.5, r"""^(?:(?:so|finally|today|then)[\s,]+)?(?:decided|agreed|resolved)\ (?:to|on|that|against|not)\b""", "decision"),
    cue("commitment verb", 2.0, r"""\b(?:decided|agreed|chose|chosen|opted|settled\ on|resolved\ to|concluded|ruled
        |committed\ to|signed\ off\ on|approved|ratified|adopt(?:ed|ing)|standardi[sz](?:e|ed|ing)\ on|picked)\b
        (?!\s+(?:nothing|by|yet))""", "decision"),
    cue("course taken", 1.8, r"""\b(?:we(?:'ll|\ will|'re|\ are)?|team|let's|i'm|i\ am)\ (?:go(?:ing)?|stick(?:ing)?|stay(?:ing)?)\ with\b
        |^(?:going|sticking|staying|moving\ ahead|went)\ with\b|\bgo(?:es)?\ with\b|(?:^|[;,.:]\s)we\ (?:keep|stay|stick|drop|leave|do\ not|don't)\b|\bwe(?:'ll|\ will)\ (?:use|keep|adopt|drop|move|build|support|store|ship|write|replace|run|host|migrate|switch|deprecate|buy)\b""", "decision"),
    cue("change of course", 1.4, r"""\b(?:drop(?:ping|ped)|replac(?:ing|ed|e)|switch(?:ing|ed)?|mov(?:ing|e)|migrat(?:ing|e)|retir(?:ing|e)|deprecat(?:ing|e|ed)|scrapp(?:ing|ed))\b
        .{0,60}?\b(?:to|in\ favou?r\ of|with|from\ (?:here|now)\ on)\b(?!\s+(?:be|the\ team|see)\b)""", "decision"),
    cue("done with", 1.2, r"""\b(?:done\ with|no\ longer\ (?:use|support|need|accept)|out\ of\ the\ picture|is\ out[,;:])\b""", "decision"),
    cue("takes its place", 1.2, r"""\b(?:replaces?|supersedes?|becomes?|takes\ over|changes\ (?:from|to)|is\ (?:shut\ down|retired|removed|dropped|replaced)|goes\ away)\b""", "decision"),
    cue("this over that", 1.2, r"""\b(?:instead\ of|rather\ than|in\ favou?r\ of|over)\ (?:the\ )?[A-Z\w]""", "decision"),
    cue("settled wording", 1.3, r"""\b(?:final\ (?:call|decision|answer)|it\ is:|(?:option|plan|proposal)\ \w+\ (?:it\ is|wins|accepted|passed|approved))""", "decision"),
    cue("keep until", 1.0, r"""^(?:keep|leave|stay\ on)\ .+\b(?:until|for\ now|as\ (?:the|a|is))\b""", "decision"),
    cue("by default", 1.2, r"""\bby\ default\b|\bdefaults?\ (?:to|is)\b|\bis\ (?:the|our)\ (?:new\ |only\ |official\ )?(?:default|standard|canonical|source\ of\ truth|headline)""", "decision"),
    cue("standing from now", 1.5, r"""\b(?:from\ (?:now|here|today)\ on(?:wards?)?|as\ of\ (?:this|next)\ (?:week|month|sprint|release)|going\ forward|henceforth|as\ of\ (?:now|today|v?\d)|effective\ (?:immediately|from))\b""", "rule"),
    # --- what must be
    cue("prohibition", 2.0, r"""\b(?:never(?!\ ?mind)|must\ not|mustn't|may\ not|do\ not|don't|shall\ not|not\ allowed|not\ permitted|forbidden|prohibited|banned|off[- ]limits|under\ no\ circumstances)\b""", "rule"),
    cue("no such thing", 1.8, r"""(?:^|[:;.]\s+)no\ (?!(?:answer|reply|idea|change|luck|news|conclusion|progress|issue|problem|behaviou?r|one|need|time|rush|worries|repro|sign|surprise)s?\b)
        [\w-]+(?:\ [\w-]+){0,4}\ (?:in|on|without|after|before|during|for|to|from|outside|until)\b""", "rule"),
    cue("obligation", 1.6, r"""\b(?:must|always|shall|have\ to\ be|has\ to\ be|needs?\ to\ be|is\ required|are\ required|requires?\ (?:two|a|an|approval|sign|review)|mandatory|at\ all\ times|without\ exception|every\ .{1,30}\ (?:needs?|must|gets|requires))\b""", "rule"),
    cue("needs consent", 1.8, r"""\b(?:needs?|requires?|require|without|after|only\ with|get|wait\ for)\ (?:(?:a|an|two|the|explicit|written|prior|\w+'s)\ )*(?:sign-?off|approvals?|permission|consent|confirmation|review)\b|\bask\ (?:me\ |us\ |first\ |them\ )?(?:first\ )?before\b""", "rule"),
    cue("only by", 1.2, r"""\bonly\ (?:through|via|by|with|after|from|on|if|when|over|in|between|during|at|for|once|as)\b""", "rule"),
    cue("ought", 1.0, r"""(?<!\bwe\ )(?<!\bi\ )(?<!\bmaybe\ )\b(?:should|ought\ to|is\ to\ be|are\ to\ be)\b(?!\s+(?:we|i|probably|be\ (?:fine|ok|done|good|enough)|help|work|pass|arrive|land)\b)""", "rule"),
    cue("within", 0.9, r"""\bwithin\ (?:an?|one|\d+)\ ?(?:min|hour|day|week|sec|month|business|working|ms|s\b)\w*|\b\d+\ ?(?:min|hour|day|week)\w*\ before\b""", "rule"),
    cue("order of steps", 0.9, r"""^(?:\w+\ ){0,5}before\ (?:\w+ing|every|each|any)\b|;\ [\w-]+\ .{3,40}\ before\ (?:every|each|any)\b""", "rule"),
    cue("rule noun", 0.8, r"""\b(?:rule|convention|guideline|naming|house\ style)s?\b""", "rule"),
    # --- limits
    cue("limit", 1.5, r"""\b(?:no\ (?:more|longer\ than)$|limit(?:ed)?(?!\ (?:edition|liability|company))(?:\ (?:is|to|of))?|cap(?:ped|\ is)|at\ most|no\ more\ than|not\ (?:more|longer|larger|bigger)\ than|up\ to(?!\ (?:date|speed|now|here|there|me|you|us|him|her|them)\b)|at\ least|(?:max|min)imum|\d\S{0,3}\ (?:\w+\ )?max|max(?=\.\ \w|\ \d|\ \w+(?:\ (?:is|of|are)\b|:))|(?<!\d\ )(?<!\d)(?<!\d-)min(?=\.\ \w|\ \d|\ \w+(?:\ (?:is|of|are)\b|:))|cannot\ exceed|can't\ exceed|must\ stay\ (?:under|below)|quota|ceiling\ (?:is|of)(?=\ \S{0,3}\d)|budget\ (?:is|of)|hard\ limit|(?:price|rate|wage|lower|reserve)\ floor|floor\ of(?=\ \S{0,3}\d))\b""", "constraint"),
    cue("only so much", 1.3, r"""\b(?:only\ (?:get|have|has|allows?|supports?|works?|runs?|accepts?)|(?:cannot|can't|can\ not|unable\ to|impossible\ to|isn't\ possible)\b(?!\ (?:reproduce|repro|tell|wait|find|remember|believe|imagine|figure|say|say|see))|does(?:n't|\ not)\ (?:support|allow|accept|work\ (?:with|on)))""", "constraint"),
    cue("contraindicated", 2.5, r"""\b(?:contra-?indicated|must\ avoid|intoleran(?:t|ce)|cannot\ (?:eat|take|have|drink)|can't\ (?:eat|take|have|drink)|do(?:es)?n't\ (?:eat|take|drink))\b""", "constraint"),
    # --- time
    cue("due", 1.6, rf"""^(?=.*\b(?:due|deadline|expires?|expiry|expiration|ends?|renew(?:al)?|freeze|cut-?off|closes|submission|launch(?:es)?|go-?live|release|ships|end\ of\ (?:life|support)|eol)\b).*?{DATE}""", "deadline"),
    cue("by a date", 0.9, rf"""\b(?:by|before|until|no\ later\ than|not\ later\ than)\s+(?:the\ )?(?:end\ of\ )?{DATE}""", "deadline"),
    cue("appointment", 1.2, rf"""\b(?:next|appointment|meeting|check|visit|exam|interview|flight|session)\b.*?{DATE}.*?\b\d{{1,2}}:\d\d""", "deadline"),
    # --- people
    cue("attitude", 2.0, r"""\b(?:prefers?|preference|likes?(?=\ (?!it\ is|a\ charm|this|that\b|it\b|the\ (?:\w+\ )?(?:draft|idea|result|plan|version|design|demo|logo|answer)))|dislikes?|hates?|loves?|favou?rs?|favou?rites?|would\ rather|'d\ rather|does(?:n't|\ not)\ (?:like|want)|can't\ stand|fond\ of|partial\ to|insists?\ on|finds?\ .{1,30}\ (?:annoying|easier|distracting|helpful))\b""", "preference"),
    cue("wants it so", 1.4, r"""\b(?:wants?|would\ like|asked\ for|expects?|likes)\ (?:\w+\ ){1,3}(?:as|in|to\ be|with|without|kept|short|before|after|at)\b""", "preference"),
    cue("told us to", 1.6, r"""\b(?:asked|told|wants?)\ (?:me|us|the\ assistant)\ (?:(?:not|never|always)\ to|to\ (?:always|never|keep|stop|use|avoid|call|write|answer|reply|send\ .+\ as))\b|\bsaid\ (?:not\ )?to\b""", "preference"),
    cue("health", 3.2, r"""\b(?:allerg(?:y|ic|ies)|anaphyla\w+|diabet\w+|epilep\w+|asthma\w*|pacemaker|pregnan\w+|coeliac|celiac|blood\ (?:type|thinner)|insulin|warfarin|takes\ .{2,30}\ (?:mg|mcg|units|pills?|tablets?)|\d+\ ?mg\b)""", "profile"),
    cue("who they are", 1.5, r"""\b(?:lives?\ in|born\ (?:in|on)|birthday|anniversary|works?\ (?:as|at|for)|is\ (?:a|an|the)\ (?:\w+\ )?(?:vegetarian|vegan|manager|engineer|doctor|teacher|nurse|designer|lawyer|student|lead|owner)|married|(?:his|her|their|user's)\ (?:wife|husband|partner|daughter|son|manager|boss|mother|father|sister|brother|dog|cat|name)\b|vegetarian|vegan|native\ (?:speaker|language)|pronouns?|time\ ?zone|based\ in|reports\ to|in\ charge\ of|goes\ by|is\ (?:the\ )?(?:point\ of\ contact|on-?call\ (?:lead|owner)))""", "profile"),
    # --- what was learned, what is excepted, what is wanted
    cue("lesson", 2.0, r"""\b(?:root\ cause|turns\ out|turned\ out|lessons?(?:\ learned)?|learned\ that|the\ (?:culprit|cause|real\ (?:cause|reason|problem))\ (?:was|is)|was\ caused\ by|caused\ by|next\ time|in\ hindsight|gotcha|pitfall|note\ to\ self)\b""", "lesson"),
    cue("cause and cost", 0.9, r"""\bbecause\b.+[;,]\ |;\ .+\b(?:twice|every\ time|kept)\b""", "lesson"),
    cue("exemption", 2.0, r"""\b(?:exempt(?:ed)?(?:\ from)?|exceptions?(?:\ (?:is|for|to|:))|except\ (?:for\ )?|waived|waiver|does(?:n't|\ not)\ apply\ to|carve-?out)\b""", "exception"),
    cue("security", 1.0, rf"""^(?=.*\b{SAYS_RULE}(?!\w)).*?\b{SECURITY}\b""", "policy"),
    cue("security", 1.0, rf"""^(?!.*\b{SAYS_RULE}(?!\w)).*?\b{SECURITY}\b"""),
    cue("aim", 1.4, r"""\b(?:goals?|target|aims?|objective|okrs?|kpi|north\ star)\b(?:\ (?:is|for|this)|:|\ .+:)""", "goal"),
    cue("promise", 1.8, r"""\b(?:promised|i\ owe|committed\ to|gave\ (?:my|our)\ word|i(?:'ll|\ will)\ .+\bby\b|we\ owe)\b""", "todo"),
    cue("worth remembering", 2.5, r"""(?:^|[.;:!]\s*)(?:remember(?:\ this|\ that)?|don't\ forget|keep\ in\ mind|note\ that|for\ the\ record|important|fyi|nb|memo)\b\s*[:,]?""", "fact"),
    # --- what holds: a noun phrase, then a stative or habitual verb in the present
    cue("stative present", 0.8, rf"""^(?!{PRONOUN}\b)(?:[\w`'"./()&-]+\s+){{1,6}}?(?:is|are|has|have|{HOLDS})\b(?!\s+(?:{PASSING})\b|\s+\w+ing\b(?!\ on\b))(?=\s+\S)""", "fact"),
    cue("plural present", 0.8, rf"""^(?!{PRONOUN}\b)(?:[\w`'"./-]+\s+){{0,4}}?[\w-]*s\s+(?:{HOLD})\b(?=\s+\S)""", "fact"),
    cue("plural present after a phrase", 0.8, rf"""^[\w-]*s\s+(?:above|over|under|below|from|with|without|for|in|of|on|to)\s+.{{1,30}}?\s(?:{HOLD})\b(?=\s+\S)""", "fact"),
    cue("stative verb", 0.4, r"""\b(?:depends?|includes?|contains?|means|consists?|belongs?|owns|lives?\ (?:in|on|at|under)|listens|requires?|supports?|refers?|equals|stands\ for|points?\ to|stays|remains|always|by\ (?:design|convention|contract|law))\b""", "fact"),
    cue("ours", 0.6, r"""^(?:(?:we|they|users|customers|clients)\s+(?:only\s+)?(?:have|get|use|run|keep|support|own|pay|host|store|ship|deploy|build|call|share|rent)|our\s+\w+)\b""", "fact"),
    cue("what we do", 0.8, r"""^we\s+(?:only\s+|always\s+|usually\s+|also\s+)?(?!\w+ed\b|were\b|are\b|had\b|went\b|got\b|did\b|saw\b|met\b|ran\b|took\b|made\b|found\b
        |lost\b|sold\b|bought\b|came\b|sent\b|wrote\b|spoke\b|thought\b|felt\b|left\b|spent\b|built\b|chose\b|began\b|gave\b|tried\b|need\b|should\b|might\b|could\b|will\b|would\b|want\b
        |think\b|hope\b|have\b|can\b|may\b)[a-z]+(?<!ly)\ \S"""),
    cue("given up", 1.8, r"""\b(?:we|they|the\ team)(?:\ have|'ve)?\ (?:stopped|dropped|quit|discontinued|gave\ up|no\ longer)\ (?!by\b|at\b|for\b)\w""", "decision"),
    cue("nobody and everybody", 1.0, r"""^(?:nobody|no\ one|everyone|everybody|anyone|whoever|nothing)\s+(?:else\ |who\ )?(?!\w+ed\b)\w+s\b(?!\s+(?:sure|here|happy|tired)\b)""", "rule"),
    cue("what one can", 0.8, rf"""^(?!{PRONOUN}\b)[\w' -]{{3,50}}?\ (?:can|may|need\ not)\ (?:only\ |also\ |not\ )?(?:be\ \w+(?:ed|en|ght|ld|lt)\b|(?!be\b|help\b|wait\b)[a-z]+\ \S)""", "rule"),
    cue("a named value", 0.8, r"""^[a-z][\w'’ -]{2,45}:\s+(?![^.]*\b(?:was|were|went)\b)[^:]*\b(?:\d|\w+,\ \w+,)"""),
    cue("what someone does", 0.8, r"""^(?!\d)(?!(?:this|that|it|there|someone|he|she|what|who)\b)(?:[\w'.&-]+\s+){1,4}?(?!(?:its|his|this|less|always|perhaps|as|is|was|has|does|looks|seems|feels|sounds|thinks|says|wants|wonders|keeps)\b)[a-z]{3,}(?<!s)(?<!u)(?<!i)s\s+
        (?:the|all|every|each|only|no|to|through|up|via|for|from|at|on|in|by|with|left|right|mon|tues|wednes|thurs|fri|satur|sun|\d)(?:\w*day)?\b(?!.*\b(?:was|were|today|tomorrow|tonight|yesterday|went|\w+ed\ (?:at|on|by|in)\ \d)\b)"""),
    cue("is not", 0.5, r"""\b(?:is|are|does|do)\s+not\b|\b(?:isn't|aren't)\b|\bno\ \w+\ (?:needed|required|necessary)\b""", "fact"),
    cue("a number of them", 0.4, r"""\b(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|twelve)\s+(?:\w+\s+)?[a-z]+s\b""", "fact"),
    cue("habitual passive", 0.5, r"""\b(?:is|are)\s+(?:\w+ly\s+)?(?:generated|refreshed|reviewed|approved|checked|tested|merged|keyed|owned|stored|managed|hosted|deployed|built|served|backed\ up|rotated|kept|held|charged|scanned|seated|washed|done\ in|closed|open|synced|exported|written|called|named|located|configured|defined|mounted|proxied|limited|disabled|enabled|paid|billed|run|sent|signed)\b""", "fact"),
    cue("how often", 0.8, r"""\b(?:every|each|daily|weekly|monthly|hourly|nightly|on\ weekdays|weekdays|weekends|per\ (?:second|minute|hour|day|week|month|key|user)|a\ (?:day|week|month|year)\b|(?:mon|fri|sat|sun)[a-z]*-(?:\w+)|(?:mon|tues|wednes|thurs|fri|satur|sun)days|once\ a|a\ second|a\ minute|an\ hour|first\ of\ (?:each|the)|at\ night)\b""", "fact"),
    cue("quantity", 0.5, rf"""(?<![#\w.:-])\d[\d,.]*\s?{UNIT}|\b\d{{1,3}}(?:,\d{{3}})+\b|\bport\ \d+|\bv?\d+\.\d+(?:\.\d+)?\b""", "fact"),
    cue("opening hours", 0.6, r"""\b\d{1,2}:\d\d\s?[-–]\s?\d{1,2}:\d\d\b|\b(?:at|opens|closes)\ (?:at\ )?\d{1,2}:\d\d\b|\b\d{1,2}\s?(?:am|pm)\b""", "fact"),
    cue("identifier", 0.5, r"""`[^`]+`|[\w.]/[\w.]|https?://|\w\.(?:ya?ml|json|toml|py|md|conf|ini|env|sh|ts|go|rs)\b|\w_\w|[a-z]-\d+\b|:\d{4,5}\b""", "fact"),
    cue("reason given", 0.4, r"""\b(?:because|since|so\ that|due\ to|in\ order\ to|to\ avoid)\b|\)$"""),

    # --- against: not settled
    cue("question", -4.0, r"""\?["')\]]*\s*$|^(?:why|how|where|when|what)\ (?:is|are|do|does|did|can|should|come)\b|\?\s+(?:no\ idea|dunno|left|tbd)|^(?:q:|question)"""),
    cue("wondering", -3.0, r"""\b(?:wonder(?:s|ed|ing)?|asked\ (?:if|whether|about|tom|\w+\ about)|not\ sure|unsure|curious|unclear|undecided|no\ (?:conclusion|decision|idea)|open\ question|still\ debating|tbd|to\ be\ (?:decided|discussed)|let's\ see|will\ see|we'll\ see)\b"""),
    cue("hedge", -2.4, r"""\b(?:maybe|perhaps|probably|possibly|might|could|should\ we|not\ (?:yet\ )?decided|i\ (?:think|guess|suppose)|seems?|looks?\ like|apparently|leaning|tempted|thinking\ (?:about|of)|considering|one\ day|some\ day|at\ some\ point|would\ be\ (?:nice|good|cool)|may\ (?:want|need|be))\b"""),
    cue("proposal", -2.6, r"""\b(?:thinks?\ (?:we|that|it)|suggest(?:s|ed|ion)?|propos(?:es|ed|al|ing)|idea:|what\ if|floated|pitched|brought\ up|wants\ (?:us\ )?to\ (?:try|rewrite|move|switch)|option\ \w+:|argued)\b"""),
    cue("not taken", -3.0, r"""\b(?:rejected|postponed|parked|shelved|on\ hold|declined|deferred|not\ (?:discussed|agreed|approved)|voted\ down|backlog(?:ged)?|abandoned|dropped\ the\ idea|pushed\ to\ (?:next|q\d))\b"""),
    cue("hearsay", -2.6, rf"""\b(?:heard\ (?:from|that)|rumou?rs?|word\ is|supposedly|allegedly|according\ to|(?!user\b)\w+\ (?:said|says|mentioned|told\ me)\ (?!(?:not\ )?to\b|(?:yes|no)\b)(?:that\ |they\ |some\ )?|\w+\ (?:claims|claimed)\ (?:that|to|it|its|they|we|he|she|the|a|an)\b|sat\ through
        |a\ talk\b|read\ (?:the|a|an)\ |{SOURCE}\ (?:\w+\ ){{0,2}}?(?:{MEDIUM})\b|\b(?:in|from|a|this|that|interesting)\ (?:newsletter|talk|paper)\b|(?:{MEDIUM}|newsletter|talk|paper)\ (?:says|said|claims)\b|^(?:an?\ |the\ )?(?:{MEDIUM}|newsletter|talk|paper)\ (?:on|about)\b)"""),
    cue("quotation", -2.6, r"""^["“'‘].+["”'’]|["”]\s*(?:[-–—]|said|says|quote|she|he|they)\b"""),
    # --- against: what passes
    cue("did something", -1.8, rf"""^(?:(?:i|we|just|also|then|finally|quickly)\s+)*{DID}\b"""),
    cue("doing something", -1.8, rf"""^(?:(?:i'm|we're|still|currently|now)\s+)*(?!(?:dropping|moving|switching|replacing|going|sticking|staying|retiring|deprecating|during|nothing|everything|morning|evening|spring|string|pricing|naming|billing|staging|routing|logging|caching|testing\ (?:is|needs|must)|onboarding|staging|branding|ping|ring|king)\b)\w+ing\b(?!\s+\w+s\ (?:{HOLD}|are|have)\b)(?!\s+(?:is|are|must|needs|requires|goes|happens|lives)\b)"""),
    cue("in progress", -2.0, r"""\b(?:in\ progress|wip|ongoing|right\ now|at\ the\ moment|waiting\ (?:on|for)|pending|(?:is|are|was|were)\ (?:running|being|still|pulling|building|waiting)|no\ (?:reply|answer|response)|cannot\ reproduce|can't\ reproduce|\d+\s?%\ (?:done|complete|through|there|left)|planned\s*$|looking\ into|to\ be\ looked\ at|need\ to\ (?:test|check|fix|try|ask|look)|halfway|almost\ (?:done|there)|blocked\ on)\b"""),
    cue("status", -1.4, r"""(?::|→|->|—)\ (?:failed|failing)\b|\b(?:tests?\ (?:are\ )?green|build\ (?:is|was)|went\ (?:fine|well|ok|through)|(?:all\ )?(?:good|fine|ok|okay|done|normal|quiet|smooth|merged|deployed|shipped|shared|went)\s*$|status:|back\ (?:to|up|at)|flak(?:y|ed)|reran|retry|retried|restarted|rebooted|crashed|hung|failed(?:,|\ on|\ again)|typo|nits?\b|reviewed\ pr|pr\ \#?\d+\ (?:merged|reviewed|open)|alert:|paged|false\ (?:positive|alarm)s?|pile\ up|piling\ up|healthy|sluggish|quote\ pending)\b"""),
    cue("just now", -0.8, r"""\b(?:tonight|already|at\ the\ moment|for\ now|until\ \d{1,2}|needs?\ (?:a|an|some|another|more|new)\ (?!review|approval|sign|second|written|full)\w+|goes?\ (?:up|down|slow\w*|well|badly)|is\ at\ \d(?!.*\b(?:every|each|daily|weekdays?)\b)|takes?\ (?:forever|ages|long))\b|^(?!.*\b(?:from\ (?:now|here|today)\ on|going\ forward|henceforth|never|always|weekly|monthly|every|each|only|not|don't|must|no)\b).*\bon\ (?:mon|tues|wednes|thurs|fri|satur|sun)day\b"""),
    cue("keeps doing", -1.2, r"""\bkeeps?\ (?:on\ )?\w+ing\b"""),
    cue("and is only that", -0.6, r"""\b(?:is|are)\s+(?:in\ the\ \w+|\w+ly\ \w+|(?!\w+ed\b)[a-z]+)\s*$"""),
    cue("still or again", -1.1, r"""\b(?:still|again|yet|so\ far|as\ usual|lately|at\ last|finally\ (?!call|decision|:))\b"""),
    cue("looks so", -1.4, r"""\b(?:looks?|seems?|feels?|appears?|sounds?|smells?)\b(?!\ (?:up|at\ the)\b)"""),
    cue("is so now", -0.9, r"""\b(?:is|are|was|were)\s+(?:\w+ly\s+|too\s+|so\s+|very\s+|really\s+|a\ (?:bit|little)\s+)?(?!\w+ed\b)(?:loud|slow|fast|red|green|down|up|late|early|busy|full|empty|broken|fine|good|bad|nice|ugly|happy|sad|sick|away|out|off|on\ (?:holiday|vacation|leave|pto)|tired|ready|gone|late|weird|stuck|hot|cold|better|worse|great|awful|boring|fun|messy|unhappy|annoyed|confused)\b(?!\ by\ default)"""),
    cue("went from to", -1.2, r"""\bwent\ from\b|\b\d[\d.,]*\s*(?:->|→)\s*\d"""),
    cue("past event", -0.8, r"""\b(?:was|were|ran\ long|thanked|laughed|joked|delivered|failed|worked|diverged|seemed|looked|felt|had|got|left\ early)\b"""),
    cue("today", -0.9, r"""\b(?:(?<!from\ )today|yesterday|tonight|this\ (?:morning|afternoon|evening)|earlier|just\ now|all\ day|an?\ hour|last\ night)\b"""),
    cue("small talk", -2.6, r"""\b(?:(?:lunch|coffee|dinner|breakfast)(?!\ \w+s\ (?:is|are|may|must|have))|ramen|pizza|snacks?|(?:the|nice|bad|lovely)\ (?:\w+\ )?weather|weather\ (?:was|is)|raining|rained|rainy\ day|sunny|tired|sleepy|headache|mood|fun|laughed|joked|yawn|traffic\ jam|birthday\ cake|gym|watched|movie\ night|desks?|logo|haha|lol|congrats|thanked|left\ early)\b"""),
    cue("will do", -1.3, r"""^(?:will|todo\b|to\ do|need\ to\ (?:look|check|ask|write|read|try|figure)|follow\ up|try\ to|tomorrow:?|next:)\b|\b(?:i'll|we'll|will)\ (?:look|check|see|try|revisit|think|write\ the|talk)\b"""),
)  # fmt: skip

# A later line that takes an earlier one back.
RETRACTION = cue("reversal", 0.0, r"""\b(?:scrapped|scratch\ that|revers(?:ed|ing)|overturned|changed\ (?:our|my|their|its)\ minds?|on\ second\ thoughts?|never\ ?mind(?:\ (?:that|it|all\ that))?[.!]*$|(?:not|no|won't|don't)\b.{0,80}\bafter\ all|took\ (?:it|that)\ back|walked\ back|undid|superseded|correction:|called\ off|cancel(?:l)?ed|not\ anymore|rolled\ back\ the\ decision|no,)(?!\w)""")  # fmt: skip
# A later line that may, where it is settled itself and on the same matter.
WEAK_RETRACTION = cue("turn", 0.0, r"""\b(?:instead|final(?:ly|:|\ call|\ decision)?|afternoon:|update:|later:|revised|changed|actually|no\ longer|raised|lowered|increased|reduced|bumped)\b""")  # fmt: skip
# A leading `word:` or `[word]`: the type it names and the weight it adds.
LABELS: dict[str, tuple[str, float]] = {
    "decision": ("decision", 3.0), "decided": ("decision", 3.0), "resolved": ("decision", 2.5), "adr": ("decision", 2.0),
    "rule": ("rule", 3.0), "policy": ("policy", 3.0), "convention": ("rule", 3.0), "constraint": ("constraint", 3.0), "limit": ("constraint", 3.0),
    "preference": ("preference", 3.0), "pref": ("preference", 3.0), "deadline": ("deadline", 3.0), "ddl": ("deadline", 3.0), "due": ("deadline", 3.0),
    "fact": ("fact", 3.0), "info": ("fact", 1.5), "fyi": ("fact", 1.5), "note": ("fact", 1.0), "nb": ("fact", 1.5), "remember": ("fact", 3.0),
    "lesson": ("lesson", 3.0), "learned": ("lesson", 3.0), "til": ("lesson", 2.0), "root cause": ("lesson", 2.0), "cause": ("lesson", 0.5), "exception": ("exception", 3.0),
    "goal": ("goal", 2.5), "target": ("goal", 2.5), "promise": ("todo", 2.0), "profile": ("profile", 3.0), "final": ("decision", 2.0),
    "status": ("", -3.0), "wip": ("", -3.0), "progress": ("", -3.0), "question": ("", -4.0), "q": ("", -4.0), "idea": ("", -4.0), "proposal": ("", -3.0),
    "discussion": ("", -2.5), "todo": ("", -1.5), "maybe": ("", -4.0), "rumor": ("", -4.0), "rumour": ("", -4.0), "quote": ("", -4.0), "option a": ("", -2.0), "option b": ("", -2.0),
    "mood": ("", -4.0), "lunch": ("", -4.0), "joke": ("", -4.0), "paper": ("", -3.0), "article": ("", -3.0), "done": ("", -2.5), "log": ("", -2.0),
    "what": ("", 0.1), "why": ("", -2.0), "reason": ("", -2.0), "rationale": ("", -2.0), "priority": ("", -4.0), "owner": ("", -3.0),
    "next": ("", -2.0), "next step": ("", -2.0), "next action": ("", -2.0), "action": ("", -1.5), "pending": ("", -2.0),
    "blocked": ("", -3.0), "blocker": ("", -3.0), "exec": ("", -4.0), "write": ("", -4.0), "read": ("", -4.0), "commits": ("", -3.0), "links": ("", -4.0), "link": ("", -4.0), "tags": ("", -4.0), "tag": ("", -4.0), "source": ("", -3.0), "evidence": ("", -2.0), "context": ("", -1.5),
    "impact": ("", -1.5), "result": ("", -1.5), "commit": ("", -3.0), "file": ("", -2.0), "files": ("", -2.0), "time": ("", -3.0), "open question": ("", -4.0),
}  # fmt: skip
