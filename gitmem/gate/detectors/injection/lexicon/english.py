"""English."""

from __future__ import annotations

from gitmem.gate.detectors.injection.lexicon import Concept as C
from gitmem.gate.detectors.injection.lexicon import Lexicon

LEXICON: Lexicon = {
    C.OVERRIDE: r"\b(?:ignor(?:e|es|ing)|disregard\w*|forget(?:ting)?|overrid(?:e|es|ing)|overrul\w+|bypass(?:ing)?|discard|"
    r"abandon|revok(?:e|ed)|supersed(?:e|es)|set aside|throw out|never ?mind|pay no attention|neglect|"
    r"(?:do not|don't|stop|no longer|never) (?:follow\w*|obey\w*|appl(?:y|ies)|listen\w*|adher\w+|comply\w*|consider)|"
    r"(?:are|is|become) (?:void|invalid|cancel+ed|null|obsolete)|circumvent|erase|nullif\w+|invalidat\w+)\b",
    C.RULES: r"\b(?:(?:(?:all|any|every|your|the|these|those|previous|prior|above|earlier|preceding|existing|current|other|"
    r"initial|original|system|safety|former|past|foregoing|old) (?:of )?){1,4}(?:\w{2,14} ){0,2})"
    r"(?:instructions?|directions?|directives?|rules?|guidelines?|prompts?|polic(?:y|ies)|commands?|orders?|"
    r"constraints?|programming|context|messages?|restrictions?|requests?|tasks?|assignments?|training)\b"
    r"|\b(?:what(?:ever)? (?:you|i) (?:were|was|have been|had been|said|told)|everything (?:above|before|i said|you were told)|"
    r"whatever your developers|rules you were given|you were told)\b",
    C.PROMPT: r"\b(?:(?:system|initial|original|hidden|secret|first|starting|full|entire|internal|developer|pre) ?-?"
    r"(?:prompts?|messages?|instructions?|directives?)|(?:your|these|the above) (?:\w{2,12} ){0,2}"
    r"(?:prompts?|instructions?|guidelines|configuration|rules)|(?:text|words|sentences?|lines?|content|everything|"
    r"message|instructions?|paragraphs?) (?:that (?:is|are|was|were|appears?) )?(?:written )?(?:above|before this|prior to this)|above (?:text|words|"
    r"sentences?|instructions?|prompt|message|content)|starting with .{0,3}you are|you are chatgpt|"
    r"what were you told|access code|pre-?prompt|context window)\b",
    C.REVEAL: r"\b(?:reveal|show|print|output|display|repeat|tell (?:me|us)|write|list|dump|leak|disclose|recite|translate|"
    r"summari[sz]e|give me|share|what (?:is|are|was|were) (?:your|the)|spell|rewrite|echo|return|copy|paste|expose|"
    r"read (?:out|back)|say|provide|encode|describe|explain|replace)\b",
    C.SECRET: r"\b(?:passwords?|passwd|passcode|secrets?|tokens?|api[ _-]?keys?|credentials?|private keys?|ssh keys?|id_rsa|"
    r"environment variables?|env vars?|cookies?|connection strings?|deploy key|access keys?|master key|seed phrase|"
    r"secret (?:word|key|code|phrase)|personal data|conversation history|chat history)\b"
    r"(?! (?:polic(?:y|ies)|rules|requirements|rotation|schedule|strength|length|expiry)\b)|\.env\b|\.aws\b|\.ssh\b|\.netrc\b",
    C.SEND: r"\b(?:send|sends|sending|e-?mail|post|upload|forward|transmit|exfiltrat\w+|append|attach|embed|submit|relay|"
    r"put (?:them|it|the)|pass (?:it|its|the|them)|curl|wget|http_get|send_message|beacon|report back|add the header|"
    r"query string|leak|copy to|publish)\b",
    C.PLACE: r"\b(?:https?|ftp|wss?)://|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w.+-]{1,40}@[\w-]{1,40}\.\w{2,8}|\b(?:attacker|evil|"
    r"webhook|external (?:server|address|endpoint|url|site|account)|remote (?:server|host|endpoint)|my server|"
    r"this (?:address|url|link|endpoint|account))\b",
    C.CONCEAL: r"\b(?:(?:do not|don't|never|must not|should not|without|not to|no need to|avoid|refrain from) "
    r"(?:ever )?(?:tell(?:ing)?|mention(?:ing)?|reveal(?:ing)?|inform(?:ing)?|notify(?:ing)?|disclos\w+|alert(?:ing)?|"
    r"report(?:ing)?|log(?:ging)? (?:this|it)|quot\w+|explain(?:ing)? (?:this|why)|warn(?:ing)?|letting|let|say(?:ing)?|show(?:ing)?|acknowledg\w+)"
    r"|secretly|silently|quietly|covertly|discreetly|stealthily|in secret|unnoticed|hide (?:this|it|the)|conceal|"
    r"keep (?:this|it|the following|that) (?:a )?(?:secret|hidden|quiet|private|confidential|from)|nobody (?:notices|knows|sees)|"
    r"no one (?:notices|knows|sees)|deny (?:following|knowing|that|it)|pretend (?:that )?(?:you|nothing|it)|"
    r"as a hidden|hidden comment|(?:so|that) the user (?:does not|doesn't|won't|never)|between us|"
    r"(?:say|claim|reply|answer) (?:that )?the memory|leave no trace|cover (?:your|the) tracks)\b",
    C.NO_ASKING: r"\b(?:without (?:asking|confirm\w*|review\w*|approval|permission|verif\w+|checking|running|question\w*|hesitation|"
    r"prompting|further|human|any (?:confirmation|review|approval|questions?|checks?))|(?:skip|skipping|omit|bypass|waive) (?:the |any |all |every )?"
    r"(?:\w{2,14} )?(?:confirm\w*|review\w*|verif\w+|approvals?|checks?|tests?|validation|permission|prompts?|authentication|questions)|"
    r"no (?:further |additional |more |need for )?(?:approval|confirmation|review|permission|verification|checks?) "
    r"(?:is |are )?(?:needed|required|necessary)|(?:do not|don't|never|not|need not|no need to|needn't) (?:need to )?(?:ask|confirm|verify|double-?check|"
    r"question|validate|request|seek|wait)|pre-?(?:approved|authori[sz]ed|cleared)|auto-?(?:approve|accept|merge|confirm)\w*|"
    r"(?:has|have|already|was|were|is|are) (?:already |been |fully |permanently )?(?:approved|agreed|authori[sz]ed|consented|signed off on|cleared|allowed)|"
    r"may (?:skip|bypass|proceed|ignore)|(?:need|require|needs|requires) no (?:approval|confirmation|review|"
    r"check)|-auto-approve|--yes\b|blanket (?:approval|permission|consent)|standing (?:approval|permission|consent|authori[sz]ation))",
    C.PERSIST: r"\b(?:from (?:now|here|this point|today|this moment) (?:on|onwards?|forward)|henceforth|hereafter|going forward|"
    r"in (?:all|every|each|any) (?:future|later|subsequent|following|next|new|session|conversation|reply|response|answer)\w*|"
    r"(?:all|every|each|any|future|later|subsequent) (?:\w{2,10} )?(?:sessions?|conversations?|repl(?:y|ies)|responses?|answers?|interactions?|runs|tasks)|"
    r"always|forever|permanently|never again|for the rest|until (?:further notice|told otherwise)|"
    r"remember (?:that|this|forever|permanently|to)|long-?term memory|persist|standing (?:rule|order|instruction))\b",
    C.AGENT: r"\b(?:(?:the |any |all |every |this |an? |other )?(?:ai )?(?:assistants?|agents?|language models?|llms?|chatbots?|copilot|claude|chatgpt|gpt|gemini)"
    r"(?: (?:that|who|which|reading|processing|working))?|you (?:must|are|should|will|shall|have to|may|can|need to|were)|your (?:real|true|only|new|task|job|answer|"
    r"repl(?:y|ies)|response|output|instructions|goal|purpose)|(?:if|when) you (?:are|read|see)|dear (?:ai|assistant)|whoever reads|reader of this)\b",
    C.ROLE: r"\b(?:you are (?:now|no longer|going to)|you're now|act (?:as|like)|pretend (?:to be|you are|that you)|role-?play|"
    r"assume the (?:role|identity|persona)|(?:switch|enter|activate|enable|go|put yourself) (?:\w{1,10} ){0,3}mode|"
    r"(?:developer|maintenance|debug|admin|god|root|sudo|jailbreak|unrestricted|dan|diagnostic|test) mode|imagine you|"
    r"simulate|play the (?:role|part)|as (?:root|admin|an administrator)|your (?:new )?(?:name|role|identity|persona) is)\b",
    C.UNBOUND: r"\b(?:unrestricted|unfiltered|uncensored|without (?:any )?(?:restrictions?|filters?|limits?|limitations?|censorship|guardrails?)|"
    r"no (?:restrictions?|filters?|limits?|rules|limitations?|guardrails?|longer bound)|jailbr(?:eak|oken)\w*|do anything now|"
    r"anything is allowed|free from|not bound|restrictions? (?:lifted|removed|disabled)|(?:bypass|ignore|disable|lift|remove) (?:all |the |any |your )?"
    r"(?:content |safety |ethical )?(?:filters?|restrictions?|guardrails?|safeguards?|limits?|protocols?))\b",
    C.DESTROY: r"\b(?:delet(?:e|es|ing)|remov(?:e|es|ing)|drop|wip(?:e|es|ing)|purg(?:e|es|ing)|eras(?:e|es|ing)|destroy\w*|rm -rf|"
    r"force.?push\w*|push --force|push -f|terraform destroy|truncate|reset --hard|overwrite|reflog|shut ?down|"
    r"transfer (?:the )?(?:funds?|money)|refund|wire)\b",
    C.SWITCH_OFF: r"\b(?:disabl(?:e|es|ed|ing)|turn(?:ed|ing)? off|switch(?:ed|ing)? off|unset|deactivat\w+|suppress\w*|silence|skip(?:ped|ping|s)?|bypass\w*|"
    r"mark(?:ed|ing|s)? (?:\w{1,12} ){0,5}(?:as )?(?:passed|passing|done|green|safe|resolved|approved|verified|false positives?)|hard-?cod(?:e|ed|ing)|comment(?:ed|ing)? out|"
    r"exclud(?:e|ed|ing)|remov(?:e|ed|ing)|relax(?:ed)?|loosen(?:ed)?|--no-verify|verify ?= ?false|core\.hookspath|"
    r"--insecure|-k flag|chmod 777|trust(?:ed)? (?:all|any|every|unconditionally)|"
    r"(?:not|never|no longer) (?:be )?(?:scan\w*|check\w*|verif\w+|validat\w+|review\w*|enforced?|needed)|without (?:running|verifying|checking|review\w*))",
    C.CHECK: r"\b(?:(?:secret |virus |security |vulnerability )?(?:scanners?|scans?)|(?:git |pre-?commit )?hooks?|checks?|tests?|ci|verification|"
    r"signatures?|validation|(?:content |safety )?filters?|audit(?:s|ing)?|logging|2fa|mfa|firewalls?|reviews?|guard(?:rails?|s)?|warnings?|alerts?|"
    r"tls|ssl|certificates?|branch protection|permissions?|confirmation\w*|approvals?|safeguards?|sandbox\w*|authentication|policy|policies|monitoring|rate limit\w*|antivirus|quarantine|allow-?list)\b",
    C.AUTHORITY: r"\b(?:(?:system|security|policy|compliance|admin\w*|memory|official|emergency|urgent|priority|mandatory) (?:update|notice|override|alert|"
    r"message|announcement|directive|request|requirement|memo)|openai|anthropic|administrators?|(?:repo\w*|project|account|company|system) (?:owner|admin\w*|maintainer)|"
    r"compliance (?:requires|demands)|(?:the )?(?:cto|ceo|ciso|security team|legal|it department|management|developers?) (?:has|have|approved|requires?|says|confirmed)|"
    r"by order of|i am (?:the|your|an) (?:admin\w*|developer|owner|creator)|verified (?:workflow|procedure|fact|by)|root access|"
    r"important|urgent|critical|attention|authori[sz]ed)\b",
    C.PRECEDENCE: r"\b(?:(?:tak(?:e|es|ing)|ha(?:s|ve)) (?:precedence|priority)|over any other|(?:highest|top|first|absolute) priority|"
    r"(?:follow|obey|trust|execute|comply with) (?:only |just |exactly )?(?:what|this|the (?:text|notes?|instructions?|following|commands?))|"
    r"(?:only|sole|single) (?:rule|source|authority|instructions?)|(?:instructions?|text|rules?|notes?|commands?) (?:in|of|from|below|listed here|written here|that follow)"
    r"|(?:this|the following|these) (?:file|note|memory|document|text|instructions?|message|entry|rule)s?|above all else|instead of (?:your|the))\b",
    C.SPREAD: r"\b(?:(?:copy|paste|insert|include|replicate|add|append|propagate|reproduce|repeat) (?:this|the same|these|it)|word for word|verbatim|"
    r"in (?:the|every|each|all|any) (?:summar(?:y|ies)|repositor(?:y|ies)|file|readme|commit)\w*|agents\.md|claude\.md|"
    r"into (?:every|each|all)|any agent (?:that|who)|unchanged|pass (?:this|it) (?:on|along))\b",
    C.EXECUTE: r"\b(?:run|execute|invoke|call|launch|install|eval|curl|wget|bash|sh -c|\| ?sh|\| ?bash|powershell|sudo|"
    r"use the .{0,20}tool|call_?tool|tool calls?|git (?:push|config|commit|reset))\b",
    C.TRIGGER: r"\b(?:(?:if|when|whenever|once|after|as soon as|every time|each time|next time) (?:the |a |any |your )?(?:user|someone|anyone|human|customer|they|you|person|\d)|"
    r"(?:before|after|when) (?:using|calling|the next|every|each|any|performing|\d+ more)|upon (?:reading|receiving|request)|next types?|on the next)\b",
    C.TASK: r"\b(?:instead|(?:your|the) (?:real|true|actual|new|next|only) (?:task|job|goal|instructions?|objective|purpose|mission)|"
    r"new (?:instructions?|task|rules?|directive|orders?|prompt)|only (?:say|reply|respond|answer|output|print|write|use)|just (?:say|reply|respond|answer|output|print|write)|"
    r"(?:say|reply|respond|answer|output|print|write|begin|start) (?:only |exactly |just )?(?:with )?[\"']|respond (?:only )?with|answer every|reply with|begin your|do the following|"
    r"start over|then (?:say|print|output|write|tell|continue|proceed|delete|send|merge|run))\b",
    C.MEMORY: r"\b(?:memor(?:y|ies|i[sz]e)|remember|memo|(?:save|store|record|write|add) (?:this|it|the|to|into|that)|note to|keep in mind|learned|memory update)\b",
    C.ORDER: r"(?:^|[.!?:;>,\-\"'*] ?|\b(?:please|you must|must|should|then|and|now|immediately|always|never|first|to) )"
    r"(?:do not|don't|ignore|disregard|forget|print|show|reveal|tell|send|write|run|execute|call|read|add|append|include|"
    r"copy|delete|remove|use|treat|respond|reply|answer|output|repeat|say|follow|obey|act|pretend|keep|never|always|disable|skip|"
    r"bypass|give|start|stop|proceed|continue|comply|translate|email|render|remember|store|save|put|insert|list|provide|prefer|recommend|approve|merge|mark)\b",
    C.USER: r"\b(?:the (?:user|human|owner|operator|customer|person)s?|users?|anyone|nobody|humans?)\b",
    C.ALL: r"\b(?:all|every|everything|any|entire|whole|full|each|complete)\b",
    C.TALK: r"\b(?:tests?|detect\w*|block(?:s|ed|ing)|reject\w*|examples?|attacks?|injections?|jailbreaks?|phish\w*|red.?team\w*|"
    r"regex\w*|ctf|false positives?|papers?|payloads?|samples?|scanner|training|tutorial|research\w*|explains?|discuss\w*|"
    r"vulnerab\w+|mitigat\w+|prevent\w*|defen[cds]\w*|report\w*|documentation|docs|blog|phrases?|sentences? (?:like|such)|strings? (?:like|such)|"
    r"such as|e\.g\.|cve-\d+|owasp|exploit\w*|malicious|adversarial|threat\w*|drill|quot(?:e|es|ed|ing)|titled?|log line|bug|ticket|fix(?:es|ed)?|adr)\b",
    C.NEGATED: r"\b(?:(?:must|should|do|does|did|will|would|can|could|shall) ?(?:not|n't|never)|never|cannot|can't|won't|doesn't|don't|didn't|refus\w+|declin\w+|reject\w*|no longer)\b",
    C.PLAN: r"\b(?:we|our|us|i|i'm|i'd|agreed|decided|decision|meeting|moved|customers?|release|sprint|team|yesterday|monday|tuesday|"
    r"wednesday|thursday|friday|how (?:do|can|to|would|does)|what(?:'s| is| are)|can you|could you|why|which|is there|help me|let's|added|adds|fixed|updated?|"
    r"supports?|returns?|default|feat|chore|refactor|version|see)\b",
}  # fmt: skip
