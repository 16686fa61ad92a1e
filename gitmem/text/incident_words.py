"""Patterns for the words with which notes tell an incident, the actions against it and its outcome. Four languages.
Pure."""

from __future__ import annotations

import re

from gitmem.lazy_patterns import lazy

# The whole of a heading, a parent item or a label: the lines below it are actions against the incident.
ACTION_HEADING = lazy(
    r"(?:immediate |corrective |mitigation |recovery )?(?:actions?(?: taken| items?)?|what (?:we|i) did|"
    r"mitigations?|fix(?:es)?|"
    r"remed(?:y|iation)|response|recovery|resolution|solution|steps(?: taken)?|follow[- ]?ups?|next steps|"
    r"workaround|runbook)|"
    r"(?:긴급 |임시 |즉시 |복구 |재발 ?방지 )?(?:조치|대응|대책|해결|복구|처리|후속 ?조치|수습)(?: ?(?:사항|"
    r"내용|방법|절차|작업|책))?|한 일|"
    r"(?:暫定|恒久|再発防止)?(?:対応|対処|処置|対策|復旧)(?:内容|手順|策)?|やったこと|"
    r"(?:处理|處理|处置|措施|解决|解決|修复|恢复)(?:措施|步骤|过程|方案|方法)?",
    re.I,
)
# The whole of a heading, a parent item or a label: the lines below it tell how the incident ended.
OUTCOME_HEADING = lazy(
    r"outcomes?|results?|end(?:ed)?|resolved|status|conclusion|결과|결론|종료|상태|結果|結末|結論|结果|结论", re.I
)
# The whole of a heading, a parent item or a label about symptoms, causes or effects: no line below it is an action.
OTHER_INCIDENT_HEADING = lazy(
    r"symptoms?|(?:root )?causes?|why|impact|effects?|detection|background|summary|alerts?|timeline|"
    r"lessons?(?: learned)?|"
    r"(?:발생 ?|근본 ?)?원인|증상|현상|영향|경위|타임라인|개요|요약|배경|교훈|배운 점|탐지|알림|"
    r"(?:根本)?原因|症状|現象|影響|経緯|概要|教訓|现象|影响|经过|概述|教训",
    re.I,
)
# A heading below which each item is an incident of its own.
COLLECTION_HEADING = lazy(
    r"(?:past |known )?(?:incidents?|outages?|alerts?|lessons?(?: learned)?|post-?mortems?|problems?)|"
    r"(?:지난 |과거 )?(?:장애|사고|알림|교훈|이슈|문제)(?: ?(?:이력|기록|목록|내역))?|障害(?:履歴|一覧|記録)?|"
    r"教訓|故障(?:记录|历史)?|事故",
    re.I,
)
# Words that say that something was wrong.
TROUBLE = lazy(
    r"\b(?:incidents?|outages?|alert(?:s|ed)?|paged?|down(?:time)?|fail(?:s|ed|ing|ures?)?|errors?|crash(?:ed|"
    r"es|ing|loop\w*)?|"
    r"time(?:d)?[ -]?outs?|exhausted|leak(?:ed|s|ing)?|full|stuck|hung|unavailable|unreachable|latency|slow|"
    r"degraded|missing|corrupt(?:ed)?|blocked|"
    r"post-?mortem|expired|refused|lost|lag|[45]\d\d|[45]xx|oom(?:killed)?|saturat\w+|spik\w+)\b|"
    r"장애|사고|알림|경보|에러|오류|다운|중단|실패|지연|느려|느림|폭주|고갈|만료|멈췄|멈춤|끊김|끊겼|누수|"
    r"초과|가득|부족|"
    r"障害|事故|エラー|停止|失敗|遅延|ダウン|枯渇|期限切れ|故障|错误|失败|超时|宕机|告警|延迟|耗尽|过期",
    re.I,
)
# English verbs by which people tell what they did. Most also tell what a thing did by itself ("the pump stopped",
# "errors increased"), so they count at the start of a clause, or before an article.
_VERBS = (
    r"restart(?:ed)?|reboot(?:ed)?|roll(?:ed|ing)? ?back|rollback|revert(?:ed)?|scal(?:ed|e) (?:up|out|"
    r"down)|scaled|raised|increased|lowered|reduced|doubled|added|removed|deleted|cleared|"
    r"clean(?:ed)?(?: up)?|purged|flushed|drained|failed over|failover to|switched|moved|disabled|enabled|"
    r"turned (?:on|off)|rotated|renewed|patched|upgraded|downgraded|redeployed|deployed|killed|blocked|"
    r"throttled|rate[- ]limited|paused|resumed|resized|expanded|extended|vacuumed|reindexed|rebuilt|"
    r"replaced|reset|applied|fixed|pinned|cordoned|evicted|promoted|set|changed|limited|truncated|"
    r"compacted|restored|reconnected|re-?ran|retried|replayed|reissued|stopped|started|opened|closed|"
    r"called|notified|contacted"
)
# Words that say that somebody acted against the incident.
ACTION_TAKEN = lazy(
    rf"(?:^|[.;:,–—-]\s+|\d:\d\d\s+|\b(?:we|i|and|then|by)\s+)(?:{_VERBS})\b"
    rf"|\b(?:{_VERBS})\s+(?:the|a|an|all|both|our|its|their)\b|"
    r"재시작|재기동|재부팅|롤백|되돌렸|되돌려|증설|늘렸|늘려|늘림|올렸|올려|올림|줄였|줄여|줄임|낮췄|낮춤|"
    r"껐|켰|비활성화|활성화|교체|갱신|재발급|패치|업그레이드|배포|삭제|지웠|지움|정리|비웠|비움|차단|제한|"
    r"전환|옮겼|이전했|적용|수정|고쳤|고침|설정|변경|추가했|추가함|확장|복원|페일오버|중지했|중지시|"
    r"강제 종료|종료시|해제|再起動|ロールバック|増や|増設|減ら|上げ|下げ|無効化|有効化|交換|更新し|削除|"
    r"切り替え|適用|修正|拡張|復元|遮断|重启|重啟|回滚|扩容|增加了|提高了|降低了|禁用|启用|更换|更新了|"
    r"删除|清理|切换|修复了|应用了|限流|续期",
    re.I,
)
# Words that say that the incident was over.
RESOLVED = lazy(
    r"\b(?:resolved|recovered|back (?:to normal|up|at|online)|fixed it|that fixed|healthy again|"
    r"returned to normal|"
    r"no more errors|went away|stopped failing|cleared at|solved|mitigated)\b|"
    r"정상화|정상으로|복구됐|복구되|복구 완료|해결됐|해결되|해소|돌아왔|회복|復旧し|解消|回復|解決し|正常に|"
    r"恢复正常|已恢复|解决了|恢复了",
    re.I,
)
# Words that say that an action had no effect, or a bad one.
NO_EFFECT = lazy(
    r"\b(?:did(?:n't| not) (?:help|work|fix)|no effect|without effect|made it worse|did nothing|in vain|"
    r"to no avail|not enough)\b|"
    r"효과 ?(?:가 )?없|소용 ?(?:이 )?없|도움(?:이)? ?(?:안|되지 않)|변화 ?(?:가 )?없|악화|안 됐|안됐|실패했|"
    r"効果(?:は|が)?な|効かな|悪化|没有效果|无效|没用|恶化",
    re.I,
)
