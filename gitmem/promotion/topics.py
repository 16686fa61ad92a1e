"""What a statement of a log is about, as a fact of MEMORY.md has to say it: `Bakery: we decided to close on Mondays`.

Pure. In its log a statement is read under its headings and its parent items; alone it has to begin with what they say,
where it does not say so itself. Headings that name no thing (`Decisions`, `Notes`, `오늘 한 일`) are never a topic.
"""

from __future__ import annotations

import re

from gitmem.memory.similarity import terms
from gitmem.memory.statements import Statement
from gitmem.text.english import NOT_NAMES
from gitmem.text.names import is_identifier, name_words
from gitmem.text.terms import without_particle

LONGEST_TOPIC = 90  # characters of a heading or a parent item that can stand in front of a fact
LONGEST_TOGETHER = 60  # characters of a heading and a parent item that stand there both
SAID = 0.5  # share of a topic's words from which a text says the topic itself

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
    decide closing opening"""
_KOREAN = """영향 맥락 액션 리스크 이상징후 데이터 비고 링크 태그 출처 우선순위 담당 제약 정책 마감 기한 예외 약속
    결정 결정사항 사항 결정된 결론 규칙 원칙 메모 기록 노트 일지 일기 로그 오늘 어제 내일 오전 오후 아침 점심 저녁
    밤 회의 회의록 미팅 스탠드업 세션 작업 업무 할 일 한 할일 진행 진행사항 상황 현황 완료 완료된 예정 계획 다음
    단계 주요 핵심 중요 내용 요약 정리 논의 논의사항 대화 배운 점 배운점 교훈 이슈 문제 문제점 해결 원인 변경
    변경사항 수정 수정사항 참고 참고사항 기타 정보 사실 선호 목표 확인 결과 공유 아이템 이유 배경 및 의 와 과"""
_JAPANESE = """決定 決定事項 決まったこと 結論 規則 ルール メモ 記録 ノート 日誌 日記 ログ 今日 昨日 明日 午前
    午後 朝 昼 夜 会議 議事録 打ち合わせ 作業 作業内容 やること やったこと 予定 計画 次 次の ステップ 主な 重要
    内容 要約 まとめ 議論 学び 学んだこと 教訓 課題 問題 解決 原因 変更 変更点 修正 参考 その他 情報 事実 好み
    目標 確認 結果 共有 タスク 進捗 状況 完了 背景 理由 セッション"""
_CHINESE = """决定 决定事项 结论 规则 笔记 记录 日志 日记 今天 昨天 明天 上午 下午 早上 中午 晚上 会议 会议纪要
    工作 待办 计划 下一步 主要 总结 讨论 经验 教训 问题 解决 变更 修改 其他 信息 事实 偏好 目标 确认 结果 进展
    状态 完成"""
_GERMAN = """entscheidung entscheidungen notizen notiz heute gestern morgen vormittag nachmittag abend sitzung
    besprechung aufgaben offen offene erledigt regeln regel erkenntnisse nächste schritte zusammenfassung gelernt
    stand ziele ziel und der die das für von"""
KINDS_OF_LINE = frozenset(" ".join((_ENGLISH, _KOREAN, _JAPANESE, _CHINESE, _GERMAN)).split())
# Words of headings under which work is reported. Of 239 judged lines of agents' logs under such 13 were worth keeping,
# of 695 others 127.
_REPORTS = re.compile(
    r"\b(?:status|checks?|blockers?|notifications?|stats|progress|created|modified|commits?|delivered|completed?|done|next"
    r"|todo|pending|actions?|timeline|phase|milestone|steps?|ideas?|questions?|suggestions?|proposed|research"
    r"|erledigt|nächste|offene\s+punkte|erstellte?|stand|nästa|skapade?)\b"
    r"|상태|진행|시도|다음|완료|현황|進捗|次回|予定|状況|ステータス|完了|实施|状态|进展|下一步|待办|完成",
    re.I,
)
_MARKS = re.compile(r"^(?:\[[ xX]\]\s*)?[^\w\[(「『【<`\"'“‘@#$&]+|^\d{1,3}[.)]\s+")
_TRAILING = re.compile(r"[\s:：;,.。、*_~\-–—]+$")
_EMPHASIS = re.compile(r"\*\*|__|~~|(?<!\w)\*|\*(?!\w)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE_END = re.compile(r"[.!?。！？](?:\s|$)")


def topic_of(statement: Statement, text: str) -> str:
    """What has to stand in front of `text`, a text of the statement, for it to say what it is about; "" for nothing.

    A parent item, or a heading that is a thing's own, stands there unless the text says it. A heading with a time is
    an occasion: it stands there only where there is no parent item and the text has no name of its own.
    """
    parent = next((topic for item in reversed(statement.parents) if (topic := _as_topic(item))), "")
    headings = [topic for heading in statement.above if (topic := _as_topic(heading))]
    heading = headings[-1] if headings else ""
    if statement.time and (parent or _has_name(text)):
        heading = ""
    if heading and parent and (_says(parent, heading) or len(heading) + len(parent) > LONGEST_TOGETHER):
        heading = ""
    return ", ".join(topic for topic in (heading, parent) if topic and not _says(text, topic))


def reports_work(statement: Statement) -> bool:
    """Whether a statement stands under a heading or an item of reports: what was done, how things stand, what comes
    next. One with a time is an occasion."""
    heading = () if statement.time else statement.above[-1:]
    return any(map(_REPORTS.search, (*heading, *statement.parents[-1:])))


def names_no_thing(text: str) -> bool:
    """Whether every word of a heading, an item or a label names a kind of line, an occasion or a part of the day."""
    words = _WORD.findall(text.casefold())
    return not any(KINDS_OF_LINE.isdisjoint((word, without_particle(word))) for word in words)


def _as_topic(text: str) -> str:
    """A heading or an item as a topic, "" where it names no thing or says too much to be one."""
    bare = _LINK.sub(r"\1", _EMPHASIS.sub("", text))
    bare = _TRAILING.sub("", _MARKS.sub("", bare.strip())).strip()
    return "" if names_no_thing(bare) or len(bare) > LONGEST_TOPIC or _SENTENCE_END.search(bare) else bare


def _says(text: str, topic: str) -> bool:
    """Whether a text holds the topic's words itself, most of them."""
    own = {term[:5] if term.isascii() else term for term in terms(topic)} - KINDS_OF_LINE - NOT_NAMES
    there = {term[:5] if term.isascii() else term for term in terms(text)}
    return not own or len(own & there) > SAID * len(own)


def _has_name(text: str) -> bool:
    """Whether a text has a Latin name or an identifier of its own, behind its first word."""
    return any(
        is_identifier(word) or (at > 0 and word[:1].isupper() and word.casefold() not in NOT_NAMES and word != "I")
        for at, word in name_words(text)
    )
