# ruff: noqa: SIM905, E501 - lists of a hundred quoted words, one a line, would not be read
"""Korean words by their purpose, one list for each. Data only.

Where a list differs from another of nearly the same purpose, its comment says who reads it: what was learned or
measured depends on it.
"""

from __future__ import annotations

# Particles after a noun.
PARTICLES = tuple(
    "에서는 에게는 으로는 이라고 에서 에게 으로 까지 부터 이나 라고 하고 이랑 에는 로는 은 는 이 가 을 를 에 의 도 만 로 "
    "와 과".split()
)
# Particles and endings of verbs and adjectives that are removed from the words of a question.
ENDINGS = frozenset(
    "으로부터 로부터 에서부터 에게서 으로서 으로써 이라고 이라는 라고 라는 이랑 에서는 에서도 에서의 으로는 으로도 까지 부터 "
    "에서 에게 한테 께서 으로 이나 처럼 보다 마다 조차 마저 밖에 대로 에는 에도 로는 로도 로서 로써 와의 과의 이란 이며 "
    "하고 은 는 이 가 을 를 의 에 로 와 과 도 만 나 랑 란 인가요 인가 나요 가요 까요 니까 습니까 습니다 입니다 합니다 "
    "됩니다 하나요 되나요 하나 되나 했나 됐나 했지 됐지 였지 이었지 었지 았지 하지 되지 지 죠 냐 니 야 요 하는 되는 하면 "
    "되면 려면 하려면 했는데 는데 인데 하기 되기 한다 된다 하여 해서 돼서 했던 하던 던 해야 하면서 인지 는지 은지 을지 할지 "
    "한지 할 한 된 될 함 됨 해 돼 였나 었나 았나 이었나 지도 지만 거나 든지 듯이 기로 도록 라도 이라도".split()
)
# A question word with the ending that makes it a question: 뭐예요, 어디였지, 언제더라.
_ASKING = (
    *("뭐 뭔 무엇 누구 어디 언제 얼마 며칠".split()),
    *("뭐가 무엇이 누가 누구를 누구한테 누구에게 어디로 어디에 어디에서 어디서 언제부터 언제까지 어떻게 왜".split()),
)
ASKING_ENDINGS = tuple(
    "야 이야 예요 에요 이에요 이예요 가 가요 인가 인가요 지 지요 죠 이지 이죠 였지 였죠 였어 였어요 였나 였나요 였더라 이었지 이었죠 "
    "이었더라 더라 더라고 더라요 이더라 였는지 인지 냐 니 입니까 였습니까 요".split()
)
# Whole words that only say 'do' or 'become' in a question: `점검은 언제 해요?`.
_DOING = (
    "해 해요 하지 하죠 하지요 하니 하냐 하나요 합니까 했어 했어요 했죠 했지요 했나요 했는지 하더라 하는지 돼 돼요 되지 되죠 되니 되냐 "
    "됩니까 됐지 됐어 됐어요 됐나 됐나요 됐죠 됐더라 되더라 되는지"
).split()
# Question words without a subject: a search ignores them.
STOP_WORDS = frozenset(
    "왜 무엇 무엇을 무엇이 무엇인가 무엇인가요 어떻게 어디 어디에 어디서 어디로 언제 누가 누구 누구지 몇 어떤 어느 "
    "뭐 뭘 뭐가 뭐였지 뭐지 뭐야 뭐였더라 무슨 얼마 얼마나 수 것 거 때 등 및 그 이 저 좀 더 안 못 다 또 할 한 하는 하나 하면 "
    "하려면 있나 있나요 있는 있는지 없나 없나요 없는 되나 되나요 되는 된 건 걸 게 그래서 그리고 그런데 우리 우리가 내가 "
    "제가 했지 했나 했더라 인가 인가요 대한 대해 위해 위한 경우 이유 이유는 알려줘 찾아줘".split()
)
# Words that only ask. They are no evidence; a search still has them in its vector, which is nearer to chance without them.
ASKING_WORDS = frozenset([*_DOING, *(word + ending for word in _ASKING for ending in ASKING_ENDINGS)])
# Beginnings of the forms of "there is" and "there is not".
EXISTS = ("있", "없어", "없나", "없니", "없는", "없다", "없습", "없을", "없지")
# Words of any decision: they do not tell whether two log lines concern one matter.
DECISION_FILLERS = frozenset("하기로 결정 확정 이제 그냥 다시 오후 오전 최종 으로 로 결국".split())
# Words of a conversation that are never its topic.
TOPIC_FILLERS = frozenset(
    "그리고 그래서 하지만 있다 없다 한다 했다 하는 그거 이거 저거 지금 오늘 내일 우리 저는 제가 아니요 그럼 정도 경우 때문 "
    "다시 바로 새로 나중 나중에 한꺼번 아니라 정말 너무 이번 다음 같은 다른 어떻게 이런 그런 저런 모든 여러 매우 아주 계속 거의 "
    "먼저 일단 아까 방금 아직 이미 가끔 자주 항상 절대 아마 혹시 만약 물론 역시 특히 또는 혹은 및 대신 말고 빼고 까지 부터 으로 "
    "번만 그대 그대로 따로 함께 같이 서로 모두 전부 조금 많이 빨리 천천히 여기 거기 저기 이것 그것 저것 무엇 누구 언제 어디 "
    "왜이렇게 이따 보내 보니 없음 있음 안녕 내가 네가 나는 너는 그냥 진짜 완전".split()
)
# Endings of the verb *to be* after a noun; endings of verbs and adjectives.
COPULA = "입니다|입니까|이에요|예요|이었습니다|였습니다|이었다|였다|이라고|라고|인가요|인데요?|이고|이며|이지만|이네요?|네요?"
TOPIC_PARTICLES = "에서|에게|에|마다|밖에?|부터|까지|만|처럼|보다|한테|이랑|랑"
PREDICATE_ENDINGS = (
    "니다|니까|(?<![수필주개중동])요|(?<![바람판소])다|줘|죠|시야|"  # 수요, 필요, 주요, 개요, 중요, 동요 are nouns
    "[려여눠워와져겨펴켜쳐춰][서야]|렇게|우게|시면|러면|다면|므로|하므|없이|싶|깝고|우고|내고|리고|르고|이고|지고|키고|치고|"
    "는다|한다|된다|간다|온다|했다|됐다|였다|겠다|있다|없다|같다|많다|하자|합시다|할게요?|을게요?|ㄹ게|"
    "하고|되고|하며|되며|하면|되면|으면|하여|해서|되어|돼서|어서|아서|면서|지만|는데|은데|인데|하는|되는|있는|없는|하던|했던|"
    "하지|되지|쓰지|않는?|않고|않게|하게|되게|짧게|길게|려고|도록|으니까?|니까|거나|든지|었는데|았는데|었던|았던|었고|았고|"
    "[짧좋많높낮작젊늦넓좁깊밝얇굵적]은|대한|위한|관한|통한|따른|위해|대해|통해|따라|해줘|해라|하기|하려면|두드리고|보고|주고|싶어|싶은|좋은|나쁜|"
    "았어|었어|했어|됐어|할까|볼까|인지|는지|을지|했지|하네|했네|해야|돼야|어야|아야"
)
# Courtesy between two requests to an agent.
COURTESY = frozenset(
    "네 응 예 ㅇㅇ 아니 고마워 고마워요 감사 감사해요 감사합니다 안녕 안녕하세요 좋아 좋아요 계속 계속해줘 알겠어 알겠습니다 "
    "ㅇㅋ".split()
)
# Greetings, farewells, praise and apologies; only for a prompt without any other word.
GREETING = frozenset(
    "잘 자 자요 자세요 수고 수고해 수고했어 수고하셨습니다 수고하세요 미안 미안해 죄송 죄송합니다 죄송해요 반가워 반갑습니다 "
    "내일 봐 봐요 뵙겠습니다 주말 보내 보내세요 아침 아침이에요 저녁 좋은 하루 되세요 새해 복 많이 받으세요 축하 축하해 "
    "축하합니다 덕분에 최고 대박 오 와 그러게 맞아 ㅋㅋ ㅋㅋㅋ ㅎㅎ 지냈어 있어".split()
)
# Words of a question about the past.
FORMER = tuple("예전 이전 전에는 과거 원래 당시 작년 재작년 지난해 옛날 기존 그때 처음에는 종전".split())
# Words of a question for a time (ASKS_WHEN), and of one for a number.
ASKS_WHEN = ("언제", "며칠", "몇월", "몇 월", "몇일", "몇 일", "무슨요일", "무슨 요일")
ASKS_HOW_MANY = ("몇", "얼마")
WEEKDAYS = ("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일")
# Parts of words that say when something happens.
TIME_PARTS = tuple("요일 어제 오늘 내일 지난 다음 작년 올해".split())
# Distance from today in days -> names of that day. A name that contains another comes first.
NEAR_DAYS = {-2: ("그저께", "엊그제", "그제"), 2: ("모레",), -1: ("어제",), 1: ("내일",), 0: ("오늘",)}
# Names of past times -> (unit, how many of it back). `재작년` comes before `작년`, which it contains.
TIMES_BACK = {
    ("year", 2): ("재작년",), ("year", 1): ("작년", "지난해", "지난 해"), ("year", 0): ("올해",),
    ("month", 2): ("지지난달", "지지난 달", "저저번달", "저저번 달"),
    ("month", 1): ("지난달", "지난 달", "저번달", "저번 달"), ("month", 0): ("이번달", "이번 달"),
    ("week", 2): ("지지난주", "지지난 주", "저저번주", "저저번 주"),
    ("week", 1): ("지난주", "지난 주", "저번주", "저번 주"), ("week", 0): ("이번주", "이번 주"),
}  # fmt: skip
# Names of times to come, counted from the day on which they are said (a regular expression), beside the names of days.
TIMES_AHEAD = r"(?:다음|이번)\s*(?:주|달|분기|해|학기|[월화수목금토일]요일)|다다음\s*[주달]|내달|이달|내년|내후년|올해"
NUMBERS = {"하나": 1, "둘": 2, "셋": 3, "두": 2, "세": 3, "네": 4, "다섯": 5, "한": 1}
# Number words before a unit of time: `한 시간`, `석 달`, `일 년`.
COUNTS = {
    "한": 1, "일": 1, "두": 2, "이": 2, "세": 3, "석": 3, "삼": 3, "네": 4, "넉": 4, "다섯": 5, "여섯": 6, "일곱": 7,
    "여덟": 8, "아홉": 9, "열": 10, "열한": 11, "열두": 12,
}  # fmt: skip
# Words for a number of days.
DAYS = {
    "하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "이레": 7, "여드레": 8, "아흐레": 9, "열흘": 10,
    "보름": 15,
}  # fmt: skip
# Units of time after a number.
TIME_UNITS = {
    "분": "minute", "시간": "hour", "일": "day", "주": "week", "주일": "week", "개월": "month", "달": "month", "년": "year",
}  # fmt: skip
# Regular expressions: DENIAL negates a text, NO_DENIAL only looks like it, BESIDE_DENIAL is part of the phrase.
DENIAL = (
    r"않|(?<![가-힣])안(?=\s|$|된|되|함|해|하|쓴|쓰)|(?<![가-힣])못|지\s?못|없|금지|말\s?것|말고|마세요|하지\s?마|아니|아닌|불가|제외"
    r"|중단|폐기|피하|피한|삼가"
)
NO_DENIAL = r"끊임\s?없이|틀림\s?없이|빠짐\s?없이|예외\s?없이|관계\s?없이|지\s?않으면\s+안|지\s?않을\s수\s?없|아니면"
BESIDE_DENIAL = r"더\s?이상"
# Phrases that call a claim wrong or doubtful: a text with one does not state the claim.
NAMED_WRONG = r"틀렸|틀린|틀려|잘못|거짓|오해|사실이\s*아니|옛날\s*(?:말|얘기)|잊어"
# Unit -> (what it measures, its size in the base unit).
UNITS = {
    "밀리초": ("s", 0.001), "초": ("s", 1), "분": ("s", 60), "시간": ("s", 3600), "일": ("s", 86400), "주": ("s", 604800),
    "주일": ("s", 604800), "주간": ("s", 604800), "개월": ("month", 1), "달": ("month", 1), "분기": ("month", 3),
    "년": ("month", 12), "바이트": ("byte", 1), "메가": ("byte", 10**6), "메가바이트": ("byte", 10**6),
    "기가": ("byte", 10**9), "기가바이트": ("byte", 10**9), "테라": ("byte", 10**12), "퍼센트": ("%", 1), "프로": ("%", 1),
    "밀리미터": ("m", 0.001), "센티": ("m", 0.01), "미터": ("m", 1), "킬로미터": ("m", 1000), "그램": ("g", 1),
    "킬로그램": ("g", 1000), "밀리리터": ("l", 0.001), "리터": ("l", 1), "원": ("krw", 1), "달러": ("usd", 1),
    "유로": ("eur", 1), "엔": ("jpy", 1), "위안": ("cny", 1),
}  # fmt: skip
# Word after a number -> factor.
POWERS = {"천": 10**3, "만": 10**4, "백만": 10**6, "천만": 10**7, "억": 10**8}

# Beginnings of words of a question for all events of a day.
ASKED_OF_DAYS = tuple(
    "무슨 뭐 뭘 무엇 일 작업 했 한 하 있었 있 기록 로그 요약 정리 알려 보여 말해 어제 오늘 그제 그저께 엊그제 내일 지난 이번 저번 주 "
    "달 날 월 년 전 이후 부터 이래".split()
)
# -- the role of a sentence in a conversation: regular expressions
# --------------------------------------------------------

# An agent offers choices (OFFER). A bare yes to such a sentence decides nothing.
OFFER = r"거나|또는|방법|수\s*(?:도\s*)?있|제안|중에|그(?:럼|러면)"
CHOICE = r"거나|또는|아니면|둘\s*다"
POSSIBILITY = r"수\s*(?:도\s*)?있"
# Beginnings of a sentence that sums up a decision.
DECISION_LEAD_INS = r"^\W*(?:그럼|그러면|그렇다면|정리하면|정리하자면|요약하면|확인하면|최종)"
# The replaced value in a phrase like "instead of X": the value is the group.
GONE_VALUE = r"(?<![\w.+#-])([\w.+#-]+?)(?:이|가)?\s+(?:대신|말고|아니라)"
# An agent proposes one thing (PROPOSAL); a step of the present work; a proposal that lasts beyond it.
PROPOSAL = r"(?:제안|추천|권장|권유?)\s*(?:합니다|드립니다|드려요|해요|할게요)\W*$|(?:게|것이|편이)\s*(?:더\s*)?(?:좋|낫|나을)\S*(?:\s*(?:같\S+|듯\S*))?\W*$"
WORK_STEP = r"다시|먼저|우선|한\s*번|일단|확인|살펴|돌려\s*보|실행|추가하|수정하|고치|삭제|지우|열어|읽어|커밋|푸시|머지|테스트를|디버그|재시작|리팩터|이름을\s*바꾸"
STANDING = r"매일|매주|매월|매번|항상|언제나|절대|앞으로|기본으로|새벽|밤마다|요일|때마다|(?<=[가-힣])만\s"
# An agent reports its own work; a person sends it on an errand.
OWN_WORK = r"(?:했습니다|하겠습니다|했어요|할게요|됐습니다|완료)\W*$"
ERRAND = r"(?:알려|보여|확인해|요약해|설명해|봐|써|바꿔)\s*(?:줘|주세요|줄래)\S*$"
# A request to translate or edit the text after the colon: that text is not the person's own statement.
TEXT_WORK = (
    r"[^\n:：.!?]{0,40}?(?:번역|교정|교열|퇴고|윤문|맞춤법|문법|띄어쓰기|오타|의역|직역)[을를만]?\s*(?:좀\s*)?"
    r"(?:(?:해|하여|부탁|고쳐|봐|검사|확인|수정|교정)[^\n:：.!?]{0,15})?"
    r"|[^\n:：.!?]{0,40}?(?:요약|다듬어|바꿔|고쳐)\s*(?:써\s*)?(?:해\s*)?(?:줘|주세요|줄래|주십시오|달라)[^\n:：.!?]{0,10}"
)
# A request to remember the rest of the sentence.
KEEP_THIS = r"(?:기억|메모|기록)\s*(?:해|하자|좀)|적어\s*(?:줘|둬|두|놔|주)|잊지\s*(?:마|말)"
# A sentence that only asks to remember the statement before it.
REMEMBER_THAT = (
    r"(?:(?:[이그저](?:거|것|건|걸|\s*(?:점|내용|사실|부분))?(?:은|는|을|를|도|만)?|꼭|좀|잘|반드시|앞으로|계속|부디|제발)\s*)*"
    r"(?:(?:기억|메모|기록)\s*(?:좀\s*)?해\s*(?:줘|주세요|주십시오|주시겠어요|줄래|둬|두세요|두자|놔|놓으세요)|(?:기억|메모|기록)(?:해|하세요|하자|해라)(?!\s*[?？])"
    r"|적어\s*(?:줘|주세요|주십시오|둬|두세요|놔)|잊지\s*(?:마|말아)\s*(?:줘|주세요|라)?(?:세요)?)요?"
)
# Agreement only; thanks.
AGREEMENT = r"네|예|응|그래요?|좋(?:아요?|습니다|네요?|다)|동의(?:해요?|합니다|함)|맞(?:아요?|습니다)|알겠(?:어요?|습니다)|그렇게\s*(?:하죠|하자|합시다|해요)"
THANKS = "고마|감사"
# A sentence that only accepts a proposal.
CONFIRMATION = (
    r"(?:(?:네|예|넵|응|어|그래요?|좋(?:아요?|습니다|네요?|다)|맞아요?|오케이|ㅇㅇ|ㅇㅋ)[\W_]*)*"
    r"(?:그렇게|그대로|그걸로|그거로|그리|말씀하신\s*대로)\s*(?:해|하|진행|가자|갑시다|합시다|부탁)\S*(?:\s*(?:줘|주세요|주십시오|드려요|드립니다))?(?:[\W_]+(?:고마\S*|감사\S*))?"
    r"|(?:네|예|응)[\W_]*(?:동의(?:해요?|합니다)|찬성(?:이에요|입니다|해요)?)?"
)
# An agent acknowledges an instruction.
ACKNOWLEDGEMENT = r"^\W*(?:(?:네|예|넵|넹|알겠\S*|확인했\S*|이해했\S*|명심하\S*|기억하\S*|메모\S*|그렇게\s*하겠\S*|앞으로는?|물론\S*)[\s,.!:;]*)+"
COMPLIANCE = r"(?:겠습니다|겠어요|ㄹ게요|할게요|을게요|릴게요|둘게요|쓸게요|않을게요|줄게요)\W*$"
# A refusal at the beginning of an answer (REFUSAL), and anywhere in it.
REFUSAL = r"^\W*(?:아니|싫|안\s|말고|잠깐|잠시)"
DECLINING = r"(?:하지|쓰지)\s*(?:말|마)|안\s*할|괜찮습니다만"
# Endings of a question before its question mark.
ASKING_ENDS = "까요?|나요|은가요|ㄴ가요|죠|었더라|지"
# Beginnings and endings of a sentence that gives the reason of the one before; words of a consequence.
REASON_LEAD_INS = r"(?:그\s*)?(?:이유|근거|배경|까닭|원인은)|왜냐|그래야|안\s*그러면|그렇지\s*않으면"
REASON_ENDS = (
    r"때문(?:이다|임|입니다|이에요|이야|에|이었다|이라서)?|(?:아|어|여|라|해|와|워|려|커|져|서)서(?:다|임|입니다|예요|요|야|이다)?|니까(?:요|다)?|거든(?:요)?"
    r"|덕분(?:이다|임|에)?|탓(?:이다|임)?|위해서(?:다|임|입니다)?|위함(?:이다)?|근거(?:다|이다|임)"
)
CONSEQUENCE_LEAD_INS = r"그래서|그러므로|따라서|그러니|이\s*때문에|그\s*때문에|그런\s*이유로|이런\s*이유로|이에\s"
# Words that add a sentence to the one before it. Without them it says the same.
ADDING_LEAD_INS = r"(?:그리고|또한|아울러)[,，]?\s+(?!나서|나면|난)"
# Beginnings of a sentence about something that was said before; words of an exception to it.
REFERRING_LEAD_INS = (
    r"(?:그|이|저)(?:것|건|게|걸|렇게|런|러면|때|쪽)|(?:그|이|해당|같은|위)\s|그(?:래서|러니|리고|런데|러나|래도|대신)|이(?:는|로써|에)\s"
    r"|하지만|다만|단[,\s]|대신|둘\s*다|나머지"
)
EXCEPTIONS = r"예외|제외|빼고"
# Beginnings and endings of a sentence that changes the subject, so that it gives no reason.
GOING_ON = r"이제|다음(?:은|으로)|그리고|그런데|하지만|또한|고마|감사|좋아|오케이|네\b|일단"
GOING_ON_ENDS = (
    r"(?:까|나요|가요|니|냐)\W*$|(?:줘요?|주세요|주실래요|줄래요?|주십시오|주라|보자|하자|해라|하세요|해요?)\W*$"
)
# A mere pleasantry.
PLEASANTRIES = r"좋네|그렇|맞아|정말|진짜|대박|축하|고마|감사|다행|와+|헐|응|네|아니"
# Words of a reason anywhere in a text.
REASON = r"때문|위해|위하여|이유(?:는|:)|(?<=[가-힣])라서\s"
# Words for a decision or a constraint in a heading or a label.
DECISION_NAMES = "결정|제약|정책"

# Phrases that something holds from now on: a day of the week beside one means every week.
FROM_NOW_ON = r"앞으로|향후|(?:이제|지금|오늘)부터"
