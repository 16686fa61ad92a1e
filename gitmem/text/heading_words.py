"""Recognises headings, parent items and labels that name only a kind of line, an occasion or a part of the day
(`Decisions`, `오늘 한 일`, `メモ`).

The lines below such a heading are about something else than its words. Pure; knows no file.
"""

from __future__ import annotations

import re

from gitmem.text.names import OPENING_MARKS
from gitmem.text.terms import without_particle

MAX_LEADING_WORDS = 4  # words before a colon that name a thing; more of them are a sentence

# Words of headings that name a kind of line, an occasion or a part of the day, and no thing.
_ENGLISH = """file files created modified check checks blocker blockers notifications stats delivered complete
    timeline milestone milestones proposed suggestion suggestions research idea ideas how when where which does
    did links link tags tag impact source sources evidence owner due priority risk risks effect a about added
    afternoon all also and action actions activity agenda agreed agreements background brief captured changed
    changes chat completed completion context conversation current daily day decided decision decisions details
    discussed discussion done durable early entries entry evening event events fact facts final findings finished
    fixed follow followup for from goal goals highlight highlights history important in info information insight
    insights issue issues item items key late later learned learning learnings lesson lessons list log logs long
    main meeting memo memory midday minutes misc miscellaneous monday morning new next night note noted notes of
    on open other outcome overview part pending plan plans point points policies policy preference preferences
    problem problems progress promises question questions reason recap record remaining reminder reminders result
    results review rule rules saturday session sessions short standup status step steps summary sunday sync
    takeaways task tasks term the things this thoughts thursday to today todo todos tomorrow topic topics tuesday
    up update updates wednesday week weekly what who why with work worked yesterday friday cause root solution fix
    decide closing opening made checkpoint flush tonight overnight distill bugs bug change saved wrap am pm utc et
    mt pt kst jst cet journal diary logbook worklog devlog team general gmt est established
    confirmed reinforced"""
_KOREAN = """영향 맥락 액션 리스크 이상징후 데이터 비고 링크 태그 출처 우선순위 담당 제약 정책 마감 기한 예외 약속
    결정 결정사항 사항 결정된 결론 규칙 원칙 메모 기록 노트 일지 일기 로그 오늘 어제 내일 오전 오후 아침 점심 저녁
    밤 회의 회의록 미팅 스탠드업 세션 작업 업무 할 일 한 할일 진행 진행사항 상황 현황 완료 완료된 예정 계획 다음
    단계 주요 핵심 중요 내용 요약 정리 논의 논의사항 대화 배운 점 배운점 교훈 이슈 문제 문제점 해결 원인 변경
    변경사항 수정 수정사항 참고 참고사항 기타 정보 사실 선호 목표 확인 결과 공유 아이템 이유 배경 및 의 와 과
    결정한 것 배운 한것 새 새로운 추가 추가된 데일리 저널 일보 주보 주간 업무일지 개발일지 작업일지"""
_JAPANESE = """決定 決定事項 決まったこと 結論 規則 ルール メモ 記録 ノート 日誌 日記 ログ 今日 昨日 明日 午前
    午後 朝 昼 夜 会議 議事録 打ち合わせ 作業 作業内容 やること やったこと 予定 計画 次 次の ステップ 主な 重要
    内容 要約 まとめ 議論 学び 学んだこと 教訓 課題 問題 解決 原因 変更 変更点 修正 参考 その他 情報 事実 好み
    目標 確認 結果 共有 タスク 進捗 状況 完了 背景 理由 セッション
    今日の動き 動き その他の活動 活動 その他設定 設定 対策実施 重要な決定 の な 日報 週報 作業日誌 業務日誌 開発日誌"""
_CHINESE = """决定 决定事项 结论 规则 笔记 记录 日志 日记 今天 昨天 明天 上午 下午 早上 中午 晚上 会议 会议纪要
    工作 待办 计划 下一步 主要 总结 讨论 经验 教训 问题 解决 变更 修改 其他 信息 事实 偏好 目标 确认 结果 进展
    状态 完成 日报 周报 月报 工作日志 开发日志"""
_GERMAN = """entscheidung entscheidungen notizen notiz heute gestern morgen vormittag nachmittag abend sitzung
    besprechung aufgaben offen offene erledigt regeln regel erkenntnisse nächste schritte zusammenfassung gelernt
    stand ziele ziel und der die das für von"""
GENERIC_WORDS = frozenset(" ".join((_ENGLISH, _KOREAN, _JAPANESE, _CHINESE, _GERMAN)).split())
_WORD = re.compile(r"[^\W\d_]+")
_BEFORE_COLON = re.compile(r"([^:：\n]{1,40})(?::[*_]*\s|：)")


_LETTER_AT_END = re.compile(r"[^\W\d_]\s[A-Z]$")


def is_generic_heading(text: str) -> bool:
    """Whether every word of a heading, an item or a label names a kind of line, an occasion or a part of the day. True
    for a text without words, False for a text that ends with a letter of its own ("Team A")."""
    if _LETTER_AT_END.search(text):
        return False
    words = _WORD.findall(text.casefold())
    return not any(GENERIC_WORDS.isdisjoint((word, without_particle(word))) for word in words)


def leading_topic(text: str) -> str:
    """The thing that a text of one line names before its first colon: `billing` of `billing: the retry limit is 3`.
    White space must follow the colon, unless it is full-width. "" when the text names none, as in `Decision: ...`, when
    more than MAX_LEADING_WORDS words or 40 characters are before the colon, and for a text of several lines."""
    return split_topic(text)[0]


def begins_with_generic_label(text: str) -> bool:
    """Whether a text of one line begins with a label that names a kind of line: `Fix: ...`, `**문제:** ...`."""
    label = _BEFORE_COLON.match(OPENING_MARKS.sub("", text))
    return label is not None and any(map(str.isalpha, label[1])) and is_generic_heading(label[1].strip("*_ "))


def split_topic(text: str) -> tuple[str, str]:
    """(the topic that a text of one line names before its first colon, the text behind that colon); ("", the whole
    text) without one. `leading_topic` says what counts as a topic."""
    bare = OPENING_MARKS.sub("", text)
    match = _BEFORE_COLON.match(bare)
    if match is None or "\n" in text.strip():
        return "", text
    topic = match[1].strip("*_ ")
    if len(topic.split()) > MAX_LEADING_WORDS or is_generic_heading(topic):
        return "", text
    return topic, bare[match.end() :]
