# ruff: noqa: SIM905, E501 - lists of a hundred quoted words, one a line, would not be read
"""Chinese words by their purpose, one list for each, in both scripts. Data only.

No white space stands between the words: most of these are looked for as parts of a text.
"""

from __future__ import annotations

# Letter pairs of question words without a subject: a search ignores them.
STOP_PAIRS = frozenset(
    "什么 怎么 为什 哪里 哪个 哪些 是否 我们 你们 他们 多少 怎样 如何 時候 时候 什麼 怎麼 為什 我的".split()
)
# Words of any decision: they do not tell whether two log lines concern one matter.
DECISION_FILLERS = frozenset(
    "决定 決定 撤回 撤销 撤銷 改为 改為 改用 最终 最終 变更 統一 统一 我们 我們 以后 以後 不再".split()
)
# Courtesy between two requests to an agent.
COURTESY = frozenset("谢谢 謝謝 好的 你好".split())
# Greetings, farewells, praise and apologies; only for a prompt without any other word.
GREETING = frozenset(
    "晚安 早上好 早安 早 下午好 晚上好 辛苦了 不客气 不客氣 没关系 沒關係 抱歉 对不起 對不起 明天见 明天見 再见 再見 拜拜 "
    "回头见 周末愉快 新年快乐 新年快樂 恭喜 收到 好的收到 明白 哈哈 哈哈哈 太好了 厉害 真棒".split()
)
# Words of a question about the past.
FORMER = tuple("以前 当初 去年 原先 最初 那时 之前 过去 過去 原来 曾经 当时".split())
# Words of a question for a time (ASKS_WHEN), and of one for a number.
ASKS_WHEN = ("什么时候", "什麼時候", "何时", "哪天", "几月", "几号")
ASKS_HOW_MANY = tuple("多少 多久 多长 几个 几次 几天 几年 几月 几人".split())
WEEKDAYS = ("周一", "周二", "周三", "周四", "周五", "周六", "周日")
# Parts of words that say when something happens.
TIME_PARTS = tuple("星期 去年 今年 昨天 明天 上周 下周 上月 上个月".split())
# Distance from today in days -> names of that day.
NEAR_DAYS = {-2: ("前天",), 2: ("后天", "後天"), -1: ("昨天", "昨晚"), 1: ("明天",), 0: ("今天", "今晚")}
# Names of past times -> (unit, how many of it back).
TIMES_BACK = {
    ("year", 2): ("前年",), ("year", 1): ("去年",), ("month", 2): ("上上个月",), ("month", 1): ("上月", "上个月"),
    ("month", 0): ("这个月", "本月"), ("week", 2): ("上上周", "上上週", "上上星期"),
    ("week", 1): ("上周", "上週", "上星期", "上个星期"), ("week", 0): ("这周", "本周", "這週"),
}  # fmt: skip
# Names of times to come, counted from the day on which they are said (a regular expression), beside the names of days.
TIMES_AHEAD = r"下[个個]?(?:周|週|月|星期|季度)|[这這本][个個]?(?:周|週|月|季度)|明年|后年|後年|今年"
# Number words.
COUNTS = "一二三四五六七八九十两"
# Units of time after a number.
TIME_UNITS = {
    "分钟": "minute", "小时": "hour", "天": "day", "周": "week", "个月": "month", "年": "year",
}  # fmt: skip
# Regular expressions: DENIAL negates a text, NO_DENIAL only looks like it.
DENIAL = (
    r"不(?!足|正|便|安|満|良|幸|明)|没(?:有|法|用)?|沒(?:有)?|取消|停用|弃用|棄用|废弃|廢棄|无(?:需|法|须|效)|無(?:需|法|須)|勿"
    r"|别|別(?=再|用|把|去|让)|未|避免"
)
NO_DENIAL = (
    r"不得不|不可避免|不同|不仅|不僅|不过|不過|不断|不斷|不少|不错|不錯|不管|不论|不論|不但|不如|不动产"
    r"|未来|未來|[特级級类類区區识識个個差]别|[特级級類区區識個差]別|没收|沒收"
)
# Phrases that call a claim wrong or doubtful: a text with one does not state the claim.
NAMED_WRONG = "(?<!不)[错錯](?:了|误|誤|的)|不[对對]|假的|[过過][时時]|忘[记記掉]"
# Unit -> (what it measures, its size in the base unit).
UNITS = {
    "毫秒": ("s", 0.001), "秒": ("s", 1), "秒钟": ("s", 1), "分": ("s", 60), "分钟": ("s", 60), "分鐘": ("s", 60),
    "小时": ("s", 3600), "小時": ("s", 3600), "天": ("s", 86400), "周": ("s", 604800), "週": ("s", 604800),
    "星期": ("s", 604800), "个月": ("month", 1), "個月": ("month", 1), "年": ("month", 12), "字节": ("byte", 1),
    "毫米": ("m", 0.001), "厘米": ("m", 0.01), "米": ("m", 1), "公里": ("m", 1000), "克": ("g", 1), "公斤": ("g", 1000),
    "千克": ("g", 1000), "升": ("l", 1), "元": ("cny", 1), "块": ("cny", 1), "块钱": ("cny", 1), "美元": ("usd", 1),
    "欧元": ("eur", 1), "日元": ("jpy", 1),
}  # fmt: skip
# Word after a number -> factor.
POWERS = {"千": 10**3, "万": 10**4, "萬": 10**4, "百万": 10**6, "亿": 10**8, "億": 10**8}

# Parts of a question for all events of a day.
ASKED_OF_DAYS = tuple(
    "什么 什麼 怎么 做了 做 发生 發生 事情 事 工作 总结 總結 记录 紀錄 昨天 今天 前天 明天 上周 上週 本周 本週 这周 這週 上个月 上個月 这个月 "
    "星期 了 过 過 的 吗 嗎 我们 我們 我 你 有 哪些 以来 以后 以後 月 日 年 号 號".split()
)
# -- the role of a sentence in a conversation: regular expressions
# --------------------------------------------------------

# An agent offers choices (OFFER). A bare yes to such a sentence decides nothing.
OFFER = "方法|案|或者|还是|可以|建议"
CHOICE = "或者|还是|還是"
POSSIBILITY = "可以"
# Beginnings of a sentence that sums up a decision.
DECISION_LEAD_INS = r"^\W*(?:那就?|那么|总结|總結|总之|整理一下|确认一下|也就是说)"
# The replaced value in a phrase like "instead of X": the first letters of the value are the group.
GONE_VALUE = r"(?:而不是|而非|代替)(?:用|在|使用)?(\w{2})"
# An agent proposes one thing (PROPOSAL); a step of the present work; a proposal that lasts beyond it.
PROPOSAL = r"^\W*(?:我)?(?:建[议議]|推[荐薦]|提[议議])"
WORK_STEP = "再|先|[检檢]查|看一下|看看|[运運]行|[添增]加|修[复復改]|[删刪]除|打[开開]|[读讀]|提交|推送|合[并併]|[测測][试試]|重[启啟]"
STANDING = "每天|每周|每週|每月|每次|始[终終]|永[远遠]|以[后後]|今[后後]|只在|默[认認]|[周週星][一二三四五六日天]"
# An agent reports its own work; a person sends it on an errand.
OWN_WORK = r"^\W*(?:已|我来|我會|我会|完成)"
ERRAND = r"^\W*(?:[请請]|麻烦|帮我)"
# A request to translate or edit the text after the colon: that text is not the person's own statement.
TEXT_WORK = r"[^\n:：。]{0,20}?(?:翻[译譯]|校[对對]|[润潤]色|改[写寫]|[总總][结結](?=一下|以下|下面|[这這]))(?:(?:一下|成|[为為]|以下|下面|[这這])[^\n:：。]{0,12})?"
# A request to remember the rest of the sentence.
KEEP_THIS = "[请請]?(?:[记記]住|[记記]下|[记記]一下|别忘了|別忘了)"
# A sentence that only asks to remember the statement before it.
REMEMBER_THAT = (
    "(?:[请請]|帮我|幫我|一定要?|把)*(?:[这這](?:[个個]|一?[点點]|件事)?|它)?(?:也|都)?(?:[记記](?:住|下[来來]?|一下)|别忘了|別忘了)"
    "(?:[这這](?:[个個]|一?[点點]|件事)?|它)?[吧哦喔啊]?"
)
# Agreement only; thanks.
AGREEMENT = "好的?|可以|同意|没问题|沒問題|行|对|對|是的|就这样吧?|就這樣吧?"
THANKS = "谢|多谢"
# A sentence that only accepts a proposal.
CONFIRMATION = r"(?:(?:好的?|可以|行|嗯|[对對]|是的)[,，、。\s]*)?(?:就[这這](?:么|麼|样|樣)(?:办|辦|做|定)?吧?|[照按]你[说說]的(?:做|办|辦)吧?)|同意"
# An agent acknowledges an instruction.
ACKNOWLEDGEMENT = r"^\W*(?:(?:好的?|明白了?|收到|了解|知道了|没问题|沒問題|记住了|記住了|以后|今后)[,，、。.!！\s]*)+"
# A refusal at the beginning of an answer (REFUSAL), and anywhere in it.
REFUSAL = r"^\W*(?:不(?!错|錯)|别|別|等)"
DECLINING = "不用|不要|还是别|算了"
# Beginnings and endings of a sentence that gives the reason of the one before; words of a consequence.
REASON_LEAD_INS = "(?:主要)?(?:理由|原因)(?:是|在[于於]|[:：])|(?:主要是?)?因[为為]|由[于於]|[为為]了|否[则則]|不然|[毕畢]竟|[这這][样樣](?:可以|能|就)"
REASON_ENDS = "的?(?:[缘緣]故|原因|考量)"
CONSEQUENCE_LEAD_INS = "所以|因此|因而|[于於]是|[为為]此"
# Words that add a sentence to the one before it. Without them it says the same.
ADDING_LEAD_INS = r"(?:另外|此外|并且|並且|而且)[，,]"
# Beginnings of a sentence about something that was said before; words of an exception to it.
REFERRING_LEAD_INS = r"这|這|那(?:个|個|样|樣|些)?|它|他们|其|该|該|此|但|不过|不過|否则|否則|两者|兩者|前者|后者|後者|同样|同樣|[^，。]{0,6}因此"
EXCEPTIONS = r"例外|除了|除非|除外"
# Beginnings and endings of a sentence that changes the subject, so that it gives no reason.
GOING_ON = "[请請]|麻[烦煩]|[帮幫]我|接下[来來]|然[后後]|另外|[还還]有|不[过過]|但是|[谢謝]|好的|[现現]在|先"
GOING_ON_ENDS = r"[吗嗎呢吧]\W*$"
# Words of a reason anywhere in a text.
REASON = "(?:理由|原因)(?:是|在[于於]|[:：])|因[为為]|由[于於]"
# Words for a decision or a constraint in a heading or a label.
DECISION_NAMES = "决定|约束|政策"

# Phrases that something holds from now on: a day of the week beside one means every week.
FROM_NOW_ON = r"今[后後]|往[后後]|(?<![天日周週月年])以[后後]|[从從]现在|[从從]今天"
