"""The Korean words for comparing statements: cues, properties, stop words, surnames, titles, contrast classes.

`words/korean.words` has the lists; here is what needs a pattern.
"""

from __future__ import annotations

from gitmem.memory.relation.word_lists import read_lists

_LISTS = read_lists("korean")
CUES, CONTRASTS = _LISTS.cues, _LISTS.contrasts
SINGLE, STOP = frozenset(_LISTS.others["single"]), frozenset(_LISTS.others["stop"])
ORDINALS, TITLES = _LISTS.others["ordinals"], _LISTS.others["titles"]
# Cue -> (letters that a text must have, pattern): cues that need a pattern. The letters are a quick test before it.
CUE_PATTERNS = {"source": ("에는", r"에는.*?에는")}
# What is no end, so that the earlier statement holds: a pause of a length of time, an end that is denied, taken back,
# of one time only or only talked of.
NO_END = (
    r"(?:(?:\d+|몇|수십?|[한두세네]|열|일|이|삼|십) ?(?:초|분|시간|일|주일?|개월|달)|하루|이틀|사흘|나흘|일주일)"
    r" ?(?:간|동안) (?:일시 ?|잠시 |잠깐 )?(?:중단|중지|정지)(?:되었|됐|하였|했)?"
    r"|(?:폐지|취소|중단|종료|철회|중지|보류|정지|삭제|폐쇄|해지)"
    r"(?:되지|하지|된 적|한 적|할 계획|될 계획|할 예정|될 예정)"
    r"(?:[이은는도])? ?(?:않|없)\w*"
    r"|(?:중단|중지|폐지|취소|보류|정지|폐쇄)(?:[이가은는을를]|하는 방안을|할지를?)?"
    r" ?(?:끝났|끝나|끝남|취소|철회|해제|풀렸|풀림"
    r"|논의|검토|고려|제안)\w*"
    r"|(?:중단|중지|취소|보류|정지|폐지)\w*[^.]{0,12}(?:재개|다시 시작|다시 운영|다시 진행|복구|부활)\w*"
    r"|(?:\d{1,2}월|이번 ?주|이번 ?달|오늘|내일|[월화수목금토일]요일|주말|당일|하루)(?:에)?만"
    r" (?:중단|중지|취소|정지|쉬|쉰|휴)\w*"
)
SURNAMES = (
    "김이박최정강조윤장임한오서신권황안송류홍전고문양손배백허유남심노하곽성차주우구민진지엄채원천방공현함"
    "변염여추도석선설마길연위표명기반왕금옥육인맹제탁은편용예경봉"
)
