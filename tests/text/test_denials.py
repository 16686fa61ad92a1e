"""Which words deny, in four languages."""

from __future__ import annotations

import pytest

from gitmem.text.denials import denials, without_denials


@pytest.mark.parametrize(
    "text",
    [
        "보안 정책", "제안 사항", "방안 검토", "잘못 설정한 값", "끊임없이 개선한다", "그렇지 않으면 안 된다", "不同的密钥", "特别重要", "未来计划",
        "不仅快而且稳定", "级别高", "我们不得不升级", "少ない人数", "行かなければならない", "危ない", "つないだ", "しましょう", "不具合を直す", "未来の計画",
        "not only A but also B", "no later than Friday", "kick-off on Monday", "No. 5", "a day off", "nothing's notable",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_denial_is_none(text: str) -> None:
    assert denials(text) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "Do not deploy", "never", "without review", "it isn't allowed", "stopped", "turned off", "avoid it", "prohibited",
        "하지 않는다", "안 쓴다", "안된다", "못 쓴다", "없다", "금지", "하지 말 것", "더는 아니다", "폐기했다",
        "使わない", "使いません", "禁止", "不要", "無効", "使わずに進める", "廃止",
        "不再使用", "不要用", "没有", "别用", "禁止", "取消", "无需", "未启用", "停用",
    ],
)  # fmt: skip
def test_each_language_has_its_denials(text: str) -> None:
    assert denials(text)


def test_what_is_left_of_a_text_without_its_denials_has_none() -> None:
    for text in (
        "We no longer use Redis",
        "캐시는 더 이상 쓰지 않는다",
        "キャッシュはもう使わない",
        "我们不再使用缓存",
    ):
        assert denials(text) and not denials(without_denials(text))
