"""What was done is told from what happened by itself."""

from __future__ import annotations

import pytest

from gitmem.text.incident_words import (
    ACTION_HEADING,
    ACTION_TAKEN,
    COLLECTION_HEADING,
    NO_EFFECT,
    OTHER_INCIDENT_HEADING,
    OUTCOME_HEADING,
    RESOLVED,
)


@pytest.mark.parametrize(
    "text",
    [
        "Restarted the pump.", "Jin restarted the pump", "We rolled back 4.2", "14:05 Raised pool to 50",
        "disk full: deleted old images", "lag grew; scaled consumers to 12", "파드를 재시작했다", "정책을 변경했다",
        "プールを増やした", "重启了服务",
    ],
)  # fmt: skip
def test_what_was_done_is_an_action(text: str) -> None:
    assert ACTION_TAKEN.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "The pump stopped.", "Error rate increased to 12 %", "pods restarted 10 times", "the queue was full",
        "스캐너 12대가 끊겼다", "응답이 느려졌다",
    ],
)  # fmt: skip
def test_what_happened_by_itself_is_none(text: str) -> None:
    assert not ACTION_TAKEN.search(text)


def test_headings_name_parts_and_lists_in_four_languages() -> None:
    assert all(map(ACTION_HEADING.fullmatch, ("Actions taken", "Fix", "조치", "재발 방지 대책", "対応", "处理措施")))
    assert all(map(OUTCOME_HEADING.fullmatch, ("Outcome", "결과", "結果")))
    assert all(map(OTHER_INCIDENT_HEADING.fullmatch, ("Root cause", "원인", "症状", "教训")))
    assert all(map(COLLECTION_HEADING.fullmatch, ("Incidents", "장애 이력", "障害履歴")))
    assert RESOLVED.search("정상화됐다") and RESOLVED.search("back to normal") and not RESOLVED.search("normal load")
    assert (
        NO_EFFECT.search("효과가 없었다") and NO_EFFECT.search("it did not help") and not NO_EFFECT.search("it helped")
    )
