"""The Chinese words for comparing statements: cues, properties, stop words, contrast classes.

`words/chinese.words` has the lists; here is what needs a pattern.
"""

from __future__ import annotations

from gitmem.memory.relation.word_lists import read_lists

_LISTS = read_lists("chinese")
CUES, CONTRASTS = _LISTS.cues, _LISTS.contrasts
SINGLE, STOP = frozenset(_LISTS.others["single"]), frozenset(_LISTS.others["stop"])
ORDINALS = _LISTS.others["ordinals"]
# Cue -> (letters that a text must have, pattern): cues that need a pattern. The letters are a quick test before it.
CUE_PATTERNS = {
    "change": ("起", r"[从自].{0,8}起"),
    "except": ("因", r"因.{0,8}的"),
    "reason": ("", r"应.{0,8}(?:申请|要求)|与.{0,8}冲突"),
}
# What is no end, so that the earlier statement holds: a pause of a length of time, an end that is denied, taken back or
# only talked of.
NO_END = (
    r"(?:暂停|停止|中止|中断)(?:了|约)?\s?(?:\d+|[一二两三四五六七八九十几数半]+)\s?"
    r"个?(?:秒|分钟|小时|天|日|周|星期|月)(?!的)"
    r"|(?:没有|没|未|不会|不|尚未|不再)被?(?:取消|废除|废止|停止|中止|暂停|终止|撤销|关闭|删除)"
    r"|(?:暂停|中止|停止|取消)[^。]{0,8}(?:恢复|重新开始|结束|解除|讨论|考虑)"
)
