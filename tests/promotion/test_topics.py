"""What a statement of a log is about: a heading that names a thing, never a title, a date or a numbered step."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.promotion.proposal import Log
from gitmem.promotion.rules_model import RulesModel

RULE = "Never force-push to main"


def proposed(*lines: str) -> str:
    """The text that `rules` proposes for the last line of a log."""
    log = Log("memory/2026-11-24.md", "0" * 40, date(2026, 11, 24), lines, frozenset(range(1, len(lines) + 1)))
    return RulesModel().propose([log], []).operations[-1].text


@pytest.mark.parametrize(
    "title",
    [
        "Daily Log — Tuesday, November 24, 2026",
        "Journal: Nov 24th",
        "Work Journal – 24 November 2026",
        "Dev Log (Tue, Nov 24)",
        "Engineering notes 2026-11-24",
        "Session notes for 24 Nov",
        "Project diary, March 3rd",
        "개발 일지 2026년 11월 24일 (화)",
        "업무일지 - 11월 24일 화요일",
        "데일리 로그 11/24",
        "作業日誌 2026年11月24日（火）",
        "日報 11月24日 火曜日",
        "工作日志 2026年11月24日 星期二",
        "周报 第48周",
    ],
)
def test_the_title_of_a_log_is_no_topic(title: str) -> None:
    assert proposed(f"# {title}", "", "## Lessons Learned", "", f"- {RULE}") == RULE


@pytest.mark.parametrize(
    "title", ["Billing journal", "Release 2.4 log", "Web Shop", "결제 일지", "Engineering", "課金の記録"]
)
def test_a_title_that_names_a_thing_is_a_topic(title: str) -> None:
    assert proposed(f"# {title}", "", "## Lessons Learned", "", f"- {RULE}") == f"{title}: {RULE}"


@pytest.mark.parametrize(
    "label",
    [
        "Step 5: Pi Stack Tailscale Lockdown — COMPLETE:",
        "Problem 2:",
        "Problem #2 - the cache:",
        "Bug 4 - login:",
        "Phase 2 — Billing:",
        "3단계: 배포 서버 이전:",
        "문제 2: 캐시:",
        "手順3：課金サーバー：",
        "问题2：计费缓存：",
        "第3步：计费：",
    ],
)
def test_a_numbered_step_or_problem_is_no_topic(label: str) -> None:
    assert proposed("# 2026-11-24", "", f"- {label}", f"  - {RULE}") == RULE


@pytest.mark.parametrize(
    "label", ["Billing step", "3단계 청킹 전략", "Problem solver", "Python 3 services", "Server 2"]
)
def test_a_name_with_a_number_is_still_a_topic(label: str) -> None:
    assert proposed("# 2026-11-24", "", f"- {label}:", f"  - {RULE}") == f"{label}: {RULE}"


@pytest.mark.parametrize(
    "heading",
    [
        "2026-11-24 — Ferry plan",
        "November 24 — Ferry plan",
        "Ferry plan (Nov 24 evening)",
        "Ferry plan (09:53-12:29 UTC)",
        "05:30 ET — Ferry plan",
        "5:30 AM PT - Ferry plan",
        "[05:30 UTC+2] Ferry plan",
        "05:30Z: Ferry plan",
        "05:30-06:15 — Ferry plan",
    ],
)
def test_what_only_says_when_is_no_part_of_a_topic(heading: str) -> None:
    assert proposed("# Log", "", f"## {heading}", "", f"- {RULE}") == f"Ferry plan: {RULE}"


@pytest.mark.parametrize("mark", ["1)", "12.", "(3)", "N)", "(b)", "나.", "다)", "⚙️ 4."])
def test_a_number_or_letter_that_orders_headings_is_no_part_of_a_topic(mark: str) -> None:
    assert proposed("# Log", "", f"## {mark} Ferry plan", "", f"- {RULE}") == f"Ferry plan: {RULE}"


@pytest.mark.parametrize("heading", ["C. elegans trial", "(Old) ferry", "X-ray room"])
def test_a_letter_of_a_name_stays_in_the_topic(heading: str) -> None:
    assert proposed("# Log", "", f"## {heading}", "", f"- {RULE}") == f"{heading}: {RULE}"


def test_a_name_behind_a_time_is_no_time_zone() -> None:
    assert proposed("# Log", "", "## 11:00 CT scanner", "", "- always wash it twice") == (
        "CT scanner: always wash it twice"
    )


@pytest.mark.parametrize(
    ("heading", "fact"),
    [
        ("Tern and Lark Inc. Holdings", f"Tern and Lark Inc. Holdings: {RULE}"),
        ("We painted it. Then it rained", RULE),
        ("We did it!", RULE),
    ],
)
def test_a_heading_of_one_sentence_at_most_is_a_topic(heading: str, fact: str) -> None:
    assert proposed("# Log", "", f"## {heading}", "", f"- {RULE}") == fact


@pytest.mark.parametrize("label", ["Fix:", "**Fix:**", "**Solution**:", "해결:"])
def test_a_line_that_begins_with_the_kind_of_line_takes_the_heading_of_its_time(label: str) -> None:
    line = f"{label} always check the Redis key before a refund is written"
    assert proposed("## 11:00 - Payments", "", f"- {line}") == f"Payments: {line}"
    bare = "always check the Redis key before a refund is written"
    assert proposed("## 11:00 - Payments", "", f"- {bare}") == bare
