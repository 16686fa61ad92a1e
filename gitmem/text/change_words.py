# ruff: noqa: SIM905, E501 - lists of a hundred quoted words, one a line, would not be read
"""Whether a line says that something is no longer as it was, in English, Korean, Japanese and Chinese. Pure.

Used when indexing: what it says is a flag of `line_records`, so that no search has to look for words.
"""

from __future__ import annotations

import re

from gitmem.lazy_patterns import lazy

# Words by which a text says that something is no longer as it was: of Latin script whole words, else their beginnings.
_LATIN = frozenset(
    "instead anymore changed switch switched switches switching moved moves replace replaced replaces replacing drop "
    "dropped drops raise raised raises lowered reduced increased extended shortened relaxed lifted tightened upgraded "
    "downgraded migrated migrating deprecated retired abandoned revert reverted reversed overruled obsolete outdated "
    "supersedes superseded corrected correction dead scrapped renamed cancelled canceled revoked".split()
)
_PHRASES = tuple(
    "no longer|any more|from now on|went back|in place of|down to |up from |down from |->|→|더 이상".split("|")
)
_WIDE = tuple(
    "변경 바꾸 바꿔 바꿨 바뀌 바꿈 대신 이제 폐지 철회 취소 교체 전환 줄이 줄임 줄여 줄였 늘리 늘려 늘림 늘렸 올리 올려 "
    "올림 올렸 내리 내려 내림 낮추 낮춰 낮췄 높이 높여 높였 연장 단축 완화 강화 옮기 옮김 옮겨 옮겼 아니라 말고 앞으로 조정 "
    "수정 정정 번복 되돌 롤백 중단 그만 없애 없앰 일원화 통일 넘어감 더이상 "
    "変更 改め 改定 代わり 今後 廃止 撤回 取り消 取りやめ 切り替え 切替 移行 延長 延ば 短縮 引き上げ 引き下げ 減ら 増や "
    "緩和 ではなく やめ になりました になった ことにした 統一 戻す 戻し 訂正 修正 見直 "
    "改为 改成 改用 改到 改由 改為 调整 調整 换成 换为 換成 替换 替換 取代 代替 不再 废止 廢止 停用 弃用 棄用 迁移 遷移 "
    "延长 缩短 縮短 提高 降低 降到 增加到 减少 減少 放宽 放寬 收紧 而不是 从现在 今后 以后 一律 更正 恢复 恢復 回退 撤销 撤銷".split()
)
_WIDE_PATTERN = lazy("|".join(map(re.escape, _WIDE)))
_WORD = re.compile(r"\w+")
_COMMENT = lazy(r"<!--.*?-->", re.DOTALL)


def says_change(text: str) -> bool:
    """Whether a text says so, its comments apart."""
    if "<!--" in text:
        text = _COMMENT.sub("", text)
    lower = text.lower()
    if not _LATIN.isdisjoint(_WORD.findall(lower)) or any(phrase in lower for phrase in _PHRASES):
        return True
    return not lower.isascii() and _WIDE_PATTERN.search(lower) is not None
