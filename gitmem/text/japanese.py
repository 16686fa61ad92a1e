# ruff: noqa: SIM905, E501 - lists of a hundred quoted words, one a line, would not be read
"""Japanese words by their purpose, one list for each. Data only.

No white space stands between the words: most of these are looked for as parts of a text.
"""

from __future__ import annotations

# Letter pairs of question words without a subject: a search ignores them.
STOP_PAIRS = frozenset("何故 なぜ 何で".split())
# Pairs of Hiragana that are nearly always endings, particles or auxiliaries.
GRAMMAR_PAIRS = frozenset(
    "ます ませ まし です でし でき した して しま する すれ れる られ せる たい ない なく なる ある あり いる いま から まで より など ので のに "
    "こと もの ため よう その この これ それ には では とは への での だけ ても って った いた いて えば れば また まだ".split()
)
# Words of any decision: they do not tell whether two log lines concern one matter.
DECISION_FILLERS = frozenset("決定 撤回 最終 変更 統一 今後 以後".split())
# Courtesy between two requests to an agent.
COURTESY = frozenset("はい ありがとう どうも".split())
# Greetings, farewells, praise and apologies; only for a prompt without any other word.
GREETING = frozenset(
    "おはよう おはようございます こんにちは こんばんは おやすみ おやすみなさい お疲れさま お疲れ様 お疲れさまでした お疲れ様です "
    "お疲れ様でした 了解 了解です 承知しました すみません ごめん また明日 また 明日 よろしく なるほど さすが 助かった "
    "助かりました ありがとうございます おめでとう いいね".split()
)
# Words of a question about the past.
FORMER = tuple("以前 当初 最初 かつて 昔 元々 昨年 去年 過去".split())
# Words of a question for a time (ASKS_WHEN), and of one for a number.
ASKS_WHEN = ("いつ", "何日", "何月", "何曜")
ASKS_HOW_MANY = tuple("いくつ いくら 何個 何人 何回 何件 何分 何秒 何時 何日 何月 何年 何本 何台 何歳".split())
WEEKDAYS = ("月曜", "火曜", "水曜", "木曜", "金曜", "土曜", "日曜")
# Parts of words that say when something happens.
TIME_PARTS = tuple("曜日 昨日 今日 明日 先週 来週 先月 昨年 去年 今年".split())
# Distance from today in days -> names of that day.
NEAR_DAYS = {
    -2: ("一昨日", "おととい"), 2: ("明後日", "あさって"), -1: ("昨日", "きのう"), 1: ("明日", "あした"),
    0: ("今日", "本日", "今夜", "今晩"),
}  # fmt: skip
# Names of past times -> (unit, how many of it back).
TIMES_BACK = {
    ("year", 2): ("一昨年",), ("year", 1): ("昨年",), ("year", 0): ("今年",), ("month", 2): ("先々月",),
    ("month", 1): ("先月",), ("month", 0): ("今月",), ("week", 2): ("先々週",), ("week", 1): ("先週",),
    ("week", 0): ("今週",),
}  # fmt: skip
# Names of times to come, counted from the day on which they are said (a regular expression), beside the names of days.
TIMES_AHEAD = r"再?来(?:週|月|年|期)|次の(?:週|月|四半期)|今(?:週|月|年度?|期)|翌(?:週|月|日)"
# Units of time after a number.
TIME_UNITS = {
    "分": "minute", "時間": "hour", "日": "day", "週間": "week", "か月": "month", "ヶ月": "month", "年": "year",
}  # fmt: skip
# Regular expressions: DENIAL negates a text, NO_DENIAL only looks like it, BESIDE_DENIAL is part of the phrase.
DENIAL = r"(?<![少危])ない|ません|なし(?!ょ)|せず|禁止|無効|不要|廃止|廃棄|中止|やめ|停止|ず(?:に|、|。|$)|避け"
NO_DENIAL = (
    r"(?:なければ|なくては|ないと|ねば)(?:なら|いけ)な[いかく]|(?:間違い|違い|少|危|つ|繋)ない|やめ(?=る時|た時)|なしで?は済"
    r"|不動産|不具合|不思議"
)
BESIDE_DENIAL = r"もう"
# Phrases that call a claim wrong or doubtful: a text with one does not state the claim.
NAMED_WRONG = "間違い(?!な)|間違って|誤り|嘘|疑わし|忘れて"
# Unit -> (what it measures, its size in the base unit).
UNITS = {
    "ミリ秒": ("s", 0.001), "秒": ("s", 1), "秒間": ("s", 1), "分": ("s", 60), "分間": ("s", 60), "時間": ("s", 3600),
    "日": ("s", 86400), "日間": ("s", 86400), "週間": ("s", 604800), "か月": ("month", 1), "ヶ月": ("month", 1),
    "カ月": ("month", 1), "年": ("month", 12), "年間": ("month", 12), "バイト": ("byte", 1), "メガ": ("byte", 10**6),
    "ギガ": ("byte", 10**9), "パーセント": ("%", 1), "％": ("%", 1), "ミリ": ("m", 0.001), "センチ": ("m", 0.01),
    "メートル": ("m", 1), "キロメートル": ("m", 1000), "グラム": ("g", 1), "リットル": ("l", 1), "円": ("jpy", 1),
    "ドル": ("usd", 1), "ユーロ": ("eur", 1), "ウォン": ("krw", 1), "元": ("cny", 1),
}  # fmt: skip
# Word after a number -> factor.
POWERS = {"千": 10**3, "万": 10**4, "百万": 10**6, "億": 10**8}

# Parts of a question for all events of a day.
ASKED_OF_DAYS = tuple(
    "何が 何を 何か 何 した しました ある あった あり ました 起きた 起こった 教えて 仕事 作業 出来事 まとめ 要約 記録 昨日 今日 一昨日 明日 "
    "先週 今週 先月 今月 曜日 以来 以降 から 月 日 年 号".split()
)
# -- the role of a sentence in a conversation: regular expressions
# --------------------------------------------------------

# An agent offers choices (OFFER). A bare yes to such a sentence decides nothing.
OFFER = "または|あるいは|方法|案"
CHOICE = "または|あるいは|それとも|両方"
POSSIBILITY = "でき(?:ます|る)"
# Beginnings of a sentence that sums up a decision.
DECISION_LEAD_INS = r"^\W*(?:では|じゃあ|それでは|まとめると|整理すると|確認ですが)"
# The replaced value in a phrase like "instead of X": the last letters of the value are the group.
GONE_VALUE = r"(\w{2})(?:の代わりに|ではなく)"
# An agent proposes one thing (PROPOSAL); a step of the present work; a proposal that lasts beyond it.
PROPOSAL = r"(?:提案|推奨|おすすめ|お勧め)(?:し|いたし)?(?:ます|です)\W*$|(?:のが|方が|ほうが)(?:いい|よい|良い)(?:です|と思います|でしょう)\S*\W*$"
WORK_STEP = "もう一度|まず|一旦|確認|調べ|実行|追加|修正|削除|開い|読ん|コミット|プッシュ|マージ|テストを|再起動"
STANDING = "毎日|毎週|毎月|毎回|常に|必ず|今後|これから|曜日|だけ|のみ|夜間"
# An agent reports its own work; a person sends it on an errand.
OWN_WORK = r"(?:しました|いたしました|します|完了)\W*$"
ERRAND = r"(?:教えて|見せて|確認して)\S*$"
# A request to translate or edit the text after the colon: that text is not the person's own statement.
TEXT_WORK = r"[^\n:：。]{0,30}?(?:(?:翻訳|校正|添削|和訳|英訳)(?:を?(?:して|し|お願い)[^\n:：。]{0,12})?|(?:要約|書き直|直)して[^\n:：。]{0,12})"
# A request to remember the rest of the sentence.
KEEP_THIS = "覚えておいて|覚えて(?:ください|下さい|おく)|メモして|記録して|忘れないで"
# A sentence that only asks to remember the statement before it.
REMEMBER_THAT = (
    "(?:(?:これ|それ|この(?:こと|点)|そのこと)(?:を|は|も)?、?)?(?:ぜひ|必ず|ちゃんと|よく)?"
    "(?:覚えて(?:おいて)?|メモして(?:おいて)?|記録して(?:おいて)?|忘れないで)(?:ください|下さい|くれ|ね|よ)*"
)
# Agreement only; thanks.
AGREEMENT = "はい|ええ|了解(?:です|しました)?|賛成(?:です|します)?|同意(?:です|します)?|いいですね|そうですね|承知しました|それで(?:お願いします|いいです|いきましょう)"
THANKS = "ありがと|助かり"
# A sentence that only accepts a proposal.
CONFIRMATION = r"(?:(?:はい|うん|ええ)[、。,\s]*)?(?:それで|そうして|その通りに?|そのように|そのまま)(?:進めて)?(?:お願い(?:します|いたします)?|ください|下さい|いきましょう|して(?:ください|下さい)?)?|はい、?賛成(?:です|します)?"
# An agent acknowledges an instruction.
ACKNOWLEDGEMENT = (
    r"^\W*(?:(?:はい|了解\S{0,6}?|承知\S{0,8}?|かしこまりました|わかりました|分かりました|今後は)[、。,.!！\s]*)+"
)
COMPLIANCE = r"(?:ます|いたします)\W*$"
# A refusal at the beginning of an answer (REFUSAL), and anywhere in it.
REFUSAL = r"^\W*(?:いや|いえ|だめ|ダメ|違|待|ちょっと)"
DECLINING = "やめ|結構です|いりません"
# Beginnings and endings of a sentence that gives the reason of the one before; words of a consequence.
REASON_LEAD_INS = (
    "(?:その|主な)?(?:理由|原因|根拠|背景)(?:は|として)|なぜ(?:なら|かと)|というのも|そうしないと|さもないと"
)
REASON_ENDS = "から(?:だ|です|である|ね)|(?:ため|せい|おかげ)(?:だ|です|である)?|ので(?:す)?"
CONSEQUENCE_LEAD_INS = "そのため|だから|なので|したがって|従って|よって|それで|そこで|その理由で"
# Words that add a sentence to the one before it. Without them it says the same.
ADDING_LEAD_INS = r"(?:そして|また|さらに)[、，]"
# Beginnings of a sentence about something that was said before; words of an exception to it.
REFERRING_LEAD_INS = r"[そこあ](?:れ|の|ちら|う)|ただし|なお|ただ、|しかし|でも|両方|前者|後者|同じ"
EXCEPTIONS = r"例外|除(?:く|き|いて)|以外"
# Beginnings and endings of a sentence that changes the subject, so that it gives no reason.
GOING_ON = "次[には]|また|そして|でも|しかし|ただ|ありがと|了解|はい|では|じゃあ|これから|とりあえず"
GOING_ON_ENDS = r"(?:ください|下さい|お願い(?:します)?|しよう|ましょう|か)\W*$"
# Words of a reason anywhere in a text.
REASON = "(?:理由|原因)(?:は|[:：])|なぜなら|(?:から|ため)(?:だ|です|である)|ので[、。]"
# Words for a decision or a constraint in a heading or a label.
DECISION_NAMES = "決定|制約|方針"

# Phrases that something holds from now on: a day of the week beside one means every week.
FROM_NOW_ON = r"今後|これから|本日から"
