# ruff: noqa: SIM905, E501 - lists of a hundred quoted words, one a line, would not be read
"""Chinese words by what they do, each list under its name, in both scripts. Data alone: a list is read by whoever asks
for its purpose.

No white space stands between the words: most of these are looked for as parts of a text.
"""

from __future__ import annotations

# Pairs of letters of a question that say nothing of its subject.
STOP_PAIRS = frozenset(
    "什么 怎么 为什 哪里 哪个 哪些 是否 我们 你们 他们 多少 怎样 如何 時候 时候 什麼 怎麼 為什 我的".split()
)
# Pairs that tell nothing of which matter two lines of a log speak: what is said of any decision.
DECISION_FILLERS = frozenset(
    "决定 決定 撤回 撤销 撤銷 改为 改為 改用 最终 最終 变更 統一 统一 我们 我們 以后 以後 不再".split()
)
# What is said to an agent between one request and the next, and of no subject.
COURTESY = frozenset("谢谢 謝謝 好的 你好".split())
# What greets, parts, praises and excuses where a prompt has no other word.
GREETING = frozenset(
    "晚安 早上好 早安 早 下午好 晚上好 辛苦了 不客气 不客氣 没关系 沒關係 抱歉 对不起 對不起 明天见 明天見 再见 再見 拜拜 "
    "回头见 周末愉快 新年快乐 新年快樂 恭喜 收到 好的收到 明白 哈哈 哈哈哈 太好了 厉害 真棒".split()
)
# Words of a question about what was before.
FORMER = tuple("以前 当初 去年 原先 最初 那时 之前 过去 過去 原来 曾经 当时".split())
# Words of a question that asks for a time, and of one that asks for a number.
ASKS_WHEN = ("什么时候", "什麼時候", "何时", "哪天", "几月", "几号")
ASKS_HOW_MANY = tuple("多少 多久 多长 几个 几次 几天 几年 几月 几人".split())
WEEKDAYS = ("周一", "周二", "周三", "周四", "周五", "周六", "周日")
# Parts of a line that tell when something is.
TIME_PARTS = tuple("星期 去年 今年 昨天 明天 上周 下周 上月 上个月".split())
# Days by their distance from today.
NEAR_DAYS = {-2: ("前天",), 2: ("后天", "後天"), -1: ("昨天", "昨晚"), 1: ("明天",), 0: ("今天", "今晚")}
# Times before today by their unit and how many of it back.
TIMES_BACK = {
    ("year", 2): ("前年",), ("year", 1): ("去年",), ("month", 2): ("上上个月",), ("month", 1): ("上月", "上个月"),
    ("month", 0): ("这个月", "本月"), ("week", 2): ("上上周", "上上週", "上上星期"),
    ("week", 1): ("上周", "上週", "上星期", "上个星期"), ("week", 0): ("这周", "本周", "這週"),
}  # fmt: skip
# The digits that count in a line.
COUNTS = "一二三四五六七八九十两"
# Units of time behind a count.
TIME_UNITS = {
    "分钟": "minute", "小时": "hour", "天": "day", "周": "week", "个月": "month", "年": "year",
}  # fmt: skip
# Alternatives of a pattern: what turns a text into its contrary, and what only looks like that.
DENIAL = (
    r"不(?!足|正|便|安|満|良|幸|明)|没(?:有|法|用)?|沒(?:有)?|取消|停用|弃用|棄用|废弃|廢棄|无(?:需|法|须|效)|無(?:需|法|須)|勿"
    r"|别|別(?=再|用|把|去|让)|未|避免"
)
NO_DENIAL = (
    r"不得不|不可避免|不同|不仅|不僅|不过|不過|不断|不斷|不少|不错|不錯|不管|不论|不論|不但|不如|不动产"
    r"|未来|未來|[特级級类類区區识識个個差]别|[特级級類区區識個差]別|没收|沒收"
)
# What names something as wrong, doubted or to be forgotten: a text with it does not say what it names.
NAMED_WRONG = "(?<!不)[错錯](?:了|误|誤|的)|不[对對]|假的|[过過][时時]|忘[记記掉]"
# Units of a quantity: what they measure, and how many of its first unit one is.
UNITS = {
    "毫秒": ("s", 0.001), "秒": ("s", 1), "秒钟": ("s", 1), "分": ("s", 60), "分钟": ("s", 60), "分鐘": ("s", 60),
    "小时": ("s", 3600), "小時": ("s", 3600), "天": ("s", 86400), "周": ("s", 604800), "週": ("s", 604800),
    "星期": ("s", 604800), "个月": ("month", 1), "個月": ("month", 1), "年": ("month", 12), "字节": ("byte", 1),
    "毫米": ("m", 0.001), "厘米": ("m", 0.01), "米": ("m", 1), "公里": ("m", 1000), "克": ("g", 1), "公斤": ("g", 1000),
    "千克": ("g", 1000), "升": ("l", 1), "元": ("cny", 1), "块": ("cny", 1), "块钱": ("cny", 1), "美元": ("usd", 1),
    "欧元": ("eur", 1), "日元": ("jpy", 1),
}  # fmt: skip
# What a number is multiplied by.
POWERS = {"千": 10**3, "万": 10**4, "萬": 10**4, "百万": 10**6, "亿": 10**8, "億": 10**8}

# What a question has that asks of a day no more than what was done on it.
ASKED_OF_DAYS = tuple(
    "什么 什麼 怎么 做了 做 发生 發生 事情 事 工作 总结 總結 记录 紀錄 昨天 今天 前天 明天 上周 上週 本周 本週 这周 這週 上个月 上個月 这个月 "
    "星期 了 过 過 的 吗 嗎 我们 我們 我 你 有 哪些 以来 以后 以後 月 日 年 号 號".split()
)
# -- what a sentence of a talk does: alternatives of a pattern --------------------------------------------------------

# How an agent offers choices, and what makes an offer a choice: a bare yes settles none of them.
OFFER = "方法|案|或者|还是|可以|建议"
CHOICE = "或者|还是|還是"
POSSIBILITY = "可以"
# How a sentence begins that sums up what is to hold.
DECISION_LEAD_INS = r"^\W*(?:那就?|那么|总结|總結|总之|整理一下|确认一下|也就是说)"
# What a text names as gone, in whose place something else comes: the first letters of the value are the group.
GONE_VALUE = r"(?:而不是|而非|代替)(?:用|在|使用)?(\w{2})"
# How an agent proposes one thing; what makes of it one step of the work, and what makes it hold all the same.
PROPOSAL = r"^\W*(?:我)?(?:建[议議]|推[荐薦]|提[议議])"
WORK_STEP = "再|先|[检檢]查|看一下|看看|[运運]行|[添增]加|修[复復改]|[删刪]除|打[开開]|[读讀]|提交|推送|合[并併]|[测測][试試]|重[启啟]"
STANDING = "每天|每周|每週|每月|每次|始[终終]|永[远遠]|以[后後]|今[后後]|只在|默[认認]|[周週星][一二三四五六日天]"
# What an agent says of its own work, and what it is sent for.
OWN_WORK = r"^\W*(?:已|我来|我會|我会|完成)"
ERRAND = r"^\W*(?:[请請]|麻烦|帮我)"
# How a line begins that asks for work on a text, up to the colon behind which that text stands: it is no word of who
# asks.
TEXT_WORK = r"[^\n:：。]{0,20}?(?:翻[译譯]|校[对對]|[润潤]色|改[写寫]|[总總][结結](?=一下|以下|下面|[这這]))(?:(?:一下|成|[为為]|以下|下面|[这這])[^\n:：。]{0,12})?"
# How somebody asks to remember what is said or quoted.
KEEP_THIS = "[请請]?(?:[记記]住|[记記]下|[记記]一下|别忘了|別忘了)"
# How somebody asks to remember what stands before, and says nothing else.
REMEMBER_THAT = (
    "(?:[请請]|帮我|幫我|一定要?|把)*(?:[这這](?:[个個]|一?[点點]|件事)?|它)?(?:也|都)?(?:[记記](?:住|下[来來]?|一下)|别忘了|別忘了)"
    "(?:[这這](?:[个個]|一?[点點]|件事)?|它)?[吧哦喔啊]?"
)
# What agrees and says no more; what thanks.
AGREEMENT = "好的?|可以|同意|没问题|沒問題|行|对|對|是的|就这样吧?|就這樣吧?"
THANKS = "谢|多谢"
# How a person says yes to what was proposed, and nothing else.
CONFIRMATION = r"(?:(?:好的?|可以|行|嗯|[对對]|是的)[,，、。\s]*)?(?:就[这這](?:么|麼|样|樣)(?:办|辦|做|定)?吧?|[照按]你[说說]的(?:做|办|辦)吧?)|同意"
# How an agent acknowledges what it was told.
ACKNOWLEDGEMENT = r"^\W*(?:(?:好的?|明白了?|收到|了解|知道了|没问题|沒問題|记住了|記住了|以后|今后)[,，、。.!！\s]*)+"
# What refuses at the beginning of an answer, and anywhere in it.
REFUSAL = r"^\W*(?:不(?!错|錯)|别|別|等)"
DECLINING = "不用|不要|还是别|算了"
# How a sentence begins that gives the reason of the one before it, how one ends, and what says what follows from it.
REASON_LEAD_INS = "(?:主要)?(?:理由|原因)(?:是|在[于於]|[:：])|(?:主要是?)?因[为為]|由[于於]|[为為]了|否[则則]|不然|[毕畢]竟|[这這][样樣](?:可以|能|就)"
REASON_ENDS = "的?(?:[缘緣]故|原因|考量)"
CONSEQUENCE_LEAD_INS = "所以|因此|因而|[于於]是|[为為]此"
# How a sentence begins, and ends, that goes on with the talk instead of saying why.
GOING_ON = "[请請]|麻[烦煩]|[帮幫]我|接下[来來]|然[后後]|另外|[还還]有|不[过過]|但是|[谢謝]|好的|[现現]在|先"
GOING_ON_ENDS = r"[吗嗎呢吧]\W*$"
# What gives a reason anywhere in a text.
REASON = "(?:理由|原因)(?:是|在[于於]|[:：])|因[为為]|由[于於]"
# What names a decision, or what bounds one, in a heading or a label.
DECISION_NAMES = "决定|约束|政策"

# What says that something holds from now on, again and again: a day of the week beside it is no single day.
FROM_NOW_ON = r"今[后後]|往[后後]|(?<![天日周週月年])以[后後]|[从從]现在|[从從]今天"
