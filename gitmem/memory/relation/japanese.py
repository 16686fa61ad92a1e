"""The Japanese words for comparing statements: cues, properties, stop words, titles, contrast classes.

`words/japanese.words` has the lists; here is what needs a pattern.
"""

from __future__ import annotations

from gitmem.memory.relation.word_lists import read_lists

_LISTS = read_lists("japanese")
CUES, CONTRASTS = _LISTS.cues, _LISTS.contrasts
SINGLE, STOP = frozenset(_LISTS.others["single"]), frozenset(_LISTS.others["stop"])
ORDINALS, TITLES = _LISTS.others["ordinals"], _LISTS.others["titles"]
# Cue -> (letters that a text must have, pattern): cues that need a pattern. The letters are a quick test before it.
CUE_PATTERNS = {
    "source": ("では", r"では.*?では"),
    "also": ("も", r"も(?=[ぁ-ん、一-鿿])"),
}
# What is no end, so that the earlier statement holds: a pause of a length of time, an end that is denied, taken back or
# only talked of.
NO_END = (
    r"(?:\d+|[一二三四五六七八九十数]+)(?:秒|分|時間|日|週|か月|ヶ月)間?(?:だけ|ほど)?、?"
    r"(?:一時)?(?:停止|中断|休止|中止)(?:していました|していた|しました|した|となりました|になりました)?"
    r"|(?:廃止|中止|中断|休止|停止|終了|取りやめ|キャンセル)(?:は|を)?(?:しません|しない|されません|されない|されていません"
    r"|していません|しなかった|ではない|ではありません)\w*"
    r"|(?:廃止|中止|中断|休止|停止)(?:が|は|を)?(?:終わ|解除|取り消|撤回|検討|議論)\w*"
    r"|(?:中止|中断|休止|停止)[^。]{0,12}再開\w*"
)
