# ruff: noqa: SIM905, E501 - lists of a hundred quoted words, one a line, would not be read
"""Japanese words by what they do, each list under its name. Data alone: a list is read by whoever asks for its purpose.

No white space stands between the words: most of these are looked for as parts of a text.
"""

from __future__ import annotations

# Pairs of letters of a question that say nothing of its subject; pairs of Hiragana alone are grammar anyway.
STOP_PAIRS = frozenset("何故 なぜ 何で".split())
# Pairs of Hiragana that are endings, particles or auxiliaries nearly wherever they stand.
GRAMMAR_PAIRS = frozenset(
    "ます ませ まし です でし でき した して しま する すれ れる られ せる たい ない なく なる ある あり いる いま から まで より など ので のに "
    "こと もの ため よう その この これ それ には では とは への での だけ ても って った いた いて えば れば また まだ".split()
)
# Pairs that tell nothing of which matter two lines of a log speak: what is said of any decision.
DECISION_FILLERS = frozenset("決定 撤回 最終 変更 統一 今後 以後".split())
# What is said to an agent between one request and the next, and of no subject.
COURTESY = frozenset("はい ありがとう どうも".split())
# What greets, parts, praises and excuses where a prompt has no other word.
GREETING = frozenset(
    "おはよう おはようございます こんにちは こんばんは おやすみ おやすみなさい お疲れさま お疲れ様 お疲れさまでした お疲れ様です "
    "お疲れ様でした 了解 了解です 承知しました すみません ごめん また明日 また 明日 よろしく なるほど さすが 助かった "
    "助かりました ありがとうございます おめでとう いいね".split()
)
# Words of a question about what was before.
FORMER = tuple("以前 当初 最初 かつて 昔 元々 昨年 去年 過去".split())
# Words of a question that asks for a time, and of one that asks for a number.
ASKS_WHEN = ("いつ", "何日", "何月", "何曜")
ASKS_HOW_MANY = tuple("いくつ いくら 何個 何人 何回 何件 何分 何秒 何時 何日 何月 何年 何本 何台 何歳".split())
WEEKDAYS = ("月曜", "火曜", "水曜", "木曜", "金曜", "土曜", "日曜")
# Parts of a line that tell when something is.
TIME_PARTS = tuple("曜日 昨日 今日 明日 先週 来週 先月 昨年 去年 今年".split())
# Days by their distance from today.
NEAR_DAYS = {
    -2: ("一昨日", "おととい"), 2: ("明後日", "あさって"), -1: ("昨日", "きのう"), 1: ("明日", "あした"),
    0: ("今日", "本日", "今夜", "今晩"),
}  # fmt: skip
# Times before today by their unit and how many of it back.
TIMES_BACK = {
    ("year", 2): ("一昨年",), ("year", 1): ("昨年",), ("year", 0): ("今年",), ("month", 2): ("先々月",),
    ("month", 1): ("先月",), ("month", 0): ("今月",), ("week", 2): ("先々週",), ("week", 1): ("先週",),
    ("week", 0): ("今週",),
}  # fmt: skip
# Units of time behind a count.
TIME_UNITS = {
    "分": "minute", "時間": "hour", "日": "day", "週間": "week", "か月": "month", "ヶ月": "month", "年": "year",
}  # fmt: skip
# Alternatives of a pattern: what turns a text into its contrary, what only looks like that, and what stands beside it.
DENIAL = r"(?<![少危])ない|ません|なし(?!ょ)|せず|禁止|無効|不要|廃止|廃棄|中止|やめ|停止|ず(?:に|、|。|$)|避け"
NO_DENIAL = (
    r"(?:なければ|なくては|ないと|ねば)(?:なら|いけ)な[いかく]|(?:間違い|違い|少|危|つ|繋)ない|やめ(?=る時|た時)|なしで?は済"
    r"|不動産|不具合|不思議"
)
BESIDE_DENIAL = r"もう"
# What names something as wrong, doubted or to be forgotten: a text with it does not say what it names.
NAMED_WRONG = "間違い(?!な)|間違って|誤り|嘘|疑わし|忘れて"
# Units of a quantity: what they measure, and how many of its first unit one is.
UNITS = {
    "ミリ秒": ("s", 0.001), "秒": ("s", 1), "秒間": ("s", 1), "分": ("s", 60), "分間": ("s", 60), "時間": ("s", 3600),
    "日": ("s", 86400), "日間": ("s", 86400), "週間": ("s", 604800), "か月": ("month", 1), "ヶ月": ("month", 1),
    "カ月": ("month", 1), "年": ("month", 12), "年間": ("month", 12), "バイト": ("byte", 1), "メガ": ("byte", 10**6),
    "ギガ": ("byte", 10**9), "パーセント": ("%", 1), "％": ("%", 1), "ミリ": ("m", 0.001), "センチ": ("m", 0.01),
    "メートル": ("m", 1), "キロメートル": ("m", 1000), "グラム": ("g", 1), "リットル": ("l", 1), "円": ("jpy", 1),
    "ドル": ("usd", 1), "ユーロ": ("eur", 1), "ウォン": ("krw", 1), "元": ("cny", 1),
}  # fmt: skip
# What a number is multiplied by.
POWERS = {"千": 10**3, "万": 10**4, "百万": 10**6, "億": 10**8}

# What a question has that asks of a day no more than what was done on it.
ASKED_OF_DAYS = tuple(
    "何が 何を 何か 何 した しました ある あった あり ました 起きた 起こった 教えて 仕事 作業 出来事 まとめ 要約 記録 昨日 今日 一昨日 明日 "
    "先週 今週 先月 今月 曜日 以来 以降 から 月 日 年 号".split()
)
# -- what a sentence of a talk does: alternatives of a pattern --------------------------------------------------------

# How an agent offers choices, and what makes an offer a choice: a bare yes settles none of them.
OFFER = "または|あるいは|方法|案"
CHOICE = "または|あるいは|それとも|両方"
POSSIBILITY = "でき(?:ます|る)"
# How a sentence begins that sums up what is to hold.
DECISION_LEAD_INS = r"^\W*(?:では|じゃあ|それでは|まとめると|整理すると|確認ですが)"
# What a text names as gone, in whose place something else comes: the last letters of the value are the group.
GONE_VALUE = r"(\w{2})(?:の代わりに|ではなく)"
# How an agent proposes one thing; what makes of it one step of the work, and what makes it hold all the same.
PROPOSAL = r"(?:提案|推奨|おすすめ|お勧め)(?:し|いたし)?(?:ます|です)\W*$|(?:のが|方が|ほうが)(?:いい|よい|良い)(?:です|と思います|でしょう)\S*\W*$"
WORK_STEP = "もう一度|まず|一旦|確認|調べ|実行|追加|修正|削除|開い|読ん|コミット|プッシュ|マージ|テストを|再起動"
STANDING = "毎日|毎週|毎月|毎回|常に|必ず|今後|これから|曜日|だけ|のみ|夜間"
# What an agent says of its own work, and what it is sent for.
OWN_WORK = r"(?:しました|いたしました|します|完了)\W*$"
ERRAND = r"(?:教えて|見せて|確認して)\S*$"
# How a line begins that asks for work on a text, up to the colon behind which that text stands: it is no word of who
# asks.
TEXT_WORK = r"[^\n:：。]{0,30}?(?:(?:翻訳|校正|添削|和訳|英訳)(?:を?(?:して|し|お願い)[^\n:：。]{0,12})?|(?:要約|書き直|直)して[^\n:：。]{0,12})"
# How somebody asks to remember what is said or quoted.
KEEP_THIS = "覚えておいて|覚えて(?:ください|下さい|おく)|メモして|記録して|忘れないで"
# How somebody asks to remember what stands before, and says nothing else.
REMEMBER_THAT = (
    "(?:(?:これ|それ|この(?:こと|点)|そのこと)(?:を|は|も)?、?)?(?:ぜひ|必ず|ちゃんと|よく)?"
    "(?:覚えて(?:おいて)?|メモして(?:おいて)?|記録して(?:おいて)?|忘れないで)(?:ください|下さい|くれ|ね|よ)*"
)
# What agrees and says no more; what thanks.
AGREEMENT = "はい|ええ|了解(?:です|しました)?|賛成(?:です|します)?|同意(?:です|します)?|いいですね|そうですね|承知しました|それで(?:お願いします|いいです|いきましょう)"
THANKS = "ありがと|助かり"
# How a person says yes to what was proposed, and nothing else.
CONFIRMATION = r"(?:(?:はい|うん|ええ)[、。,\s]*)?(?:それで|そうして|その通りに?|そのように|そのまま)(?:進めて)?(?:お願い(?:します|いたします)?|ください|下さい|いきましょう|して(?:ください|下さい)?)?|はい、?賛成(?:です|します)?"
# How an agent acknowledges what it was told, and how it says that it will comply.
ACKNOWLEDGEMENT = (
    r"^\W*(?:(?:はい|了解\S{0,6}?|承知\S{0,8}?|かしこまりました|わかりました|分かりました|今後は)[、。,.!！\s]*)+"
)
COMPLIANCE = r"(?:ます|いたします)\W*$"
# What refuses at the beginning of an answer, and anywhere in it.
REFUSAL = r"^\W*(?:いや|いえ|だめ|ダメ|違|待|ちょっと)"
DECLINING = "やめ|結構です|いりません"
# How a sentence begins that gives the reason of the one before it, how one ends, and what says what follows from it.
REASON_LEAD_INS = (
    "(?:その|主な)?(?:理由|原因|根拠|背景)(?:は|として)|なぜ(?:なら|かと)|というのも|そうしないと|さもないと"
)
REASON_ENDS = "から(?:だ|です|である|ね)|(?:ため|せい|おかげ)(?:だ|です|である)?|ので(?:す)?"
CONSEQUENCE_LEAD_INS = "そのため|だから|なので|したがって|従って|よって|それで|そこで|その理由で"
# How a sentence begins, and ends, that goes on with the talk instead of saying why.
GOING_ON = "次[には]|また|そして|でも|しかし|ただ|ありがと|了解|はい|では|じゃあ|これから|とりあえず"
GOING_ON_ENDS = r"(?:ください|下さい|お願い(?:します)?|しよう|ましょう|か)\W*$"
# What gives a reason anywhere in a text.
REASON = "(?:理由|原因)(?:は|[:：])|なぜなら|(?:から|ため)(?:だ|です|である)|ので[、。]"
# What names a decision, or what bounds one, in a heading or a label.
DECISION_NAMES = "決定|制約|方針"

# What says that something holds from now on, again and again: a day of the week beside it is no single day.
FROM_NOW_ON = r"今後|これから|本日から"
