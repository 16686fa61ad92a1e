"""The headings of MEMORY.md below which facts of each type go. Such a heading names a type of fact, not a subject."""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.text.heading_words import is_generic_heading

# For each type of fact the heading that a new section gets, then the other spellings that are recognised.
HEADINGS: dict[str, tuple[str, ...]] = {
    "decision": ("Decisions", "Decision", "Key decisions", "결정", "결정 사항", "결정사항", "주요 결정"),
    "preference": ("Preferences", "Preference", "User preferences", "선호", "취향", "사용자 선호"),
    "constraint": ("Constraints", "Constraint", "Limits", "제약", "제약 사항", "제약사항", "제약 조건"),
    "rule": ("Rules", "Rule", "Conventions", "규칙", "원칙", "컨벤션"),
    "policy": ("Policies", "Policy", "Security policies", "정책", "보안 정책"),
    "exception": ("Exceptions", "Exception", "예외", "예외 사항"),
    "deadline": ("Deadlines", "Deadline", "Dates", "마감", "기한", "일정"),
    "todo": ("To do", "Todo", "TODO", "Promises", "할 일", "약속"),
    "goal": ("Goals", "Goal", "Plans", "목표", "계획"),
    "timeline": ("Timeline", "History", "연표", "타임라인", "이력"),
    "profile": ("Profile", "People", "About the user", "프로필", "사람", "사용자"),
    "lesson": ("Lessons", "Lesson", "Lessons learned", "교훈", "배운 점"),
    "fact": ("Facts", "Fact", "Stable facts", "사실", "정보"),
    "note": ("Notes", "Note", "메모", "노트"),
    "episode-digest": ("Episodes", "Digests", "에피소드", "요약"),
}
TITLES = ("Memory", "Memories", "Long-term memory", "메모리", "기억", "メモリ", "メモ", "记忆")
CATEGORIES = frozenset(name.casefold() for names in (*HEADINGS.values(), TITLES) for name in names)


def subject_steps(trail: Iterable[str]) -> tuple[str, ...]:
    """The steps of a trail that name a subject. Headings that name a type of fact (`Decisions`) and generic headings
    (`Notes`) are left out."""
    return tuple(step for step in trail if step.casefold() not in CATEGORIES and not is_generic_heading(step))
