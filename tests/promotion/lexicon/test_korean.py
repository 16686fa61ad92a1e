"""Korean cues: a cue is a word or an ending, never some syllables within a longer word or a name."""

from __future__ import annotations

import pytest

from gitmem.promotion import dialogue
from gitmem.promotion.cues import cue_set, match_cues
from gitmem.promotion.lexicon import korean
from gitmem.promotion.lexicon.health import STATES_HEALTH
from gitmem.promotion.proposal import Op
from tests.promotion.sample import propose

SURNAMES = [
    "김",
    "이",
    "박",
    "최",
    "정",
    "강",
    "조",
    "윤",
    "장",
    "임",
    "한",
    "오",
    "서",
    "신",
    "권",
    "황",
    "안",
    "송",
    "류",
    "전",
    "홍",
    "고",
    "문",
    "양",
    "손",
    "배",
    "백",
    "허",
    "유",
    "남",
]
GIVEN_NAMES = [
    "민수",
    "철수",
    "영수",
    "지수",
    "은수",
    "현수",
    "경수",
    "성수",
    "희수",
    "연수",
    "미정",
    "은정",
    "수정",
    "현정",
    "유정",
    "민정",
    "정은",
    "지은",
    "예은",
    "가은",
    "서연",
    "지우",
    "서현",
    "민서",
    "예준",
    "도윤",
    "하윤",
    "우진",
    "준서",
    "유진",
    "수아",
    "지아",
    "소윤",
    "윤서",
    "영희",
    "순자",
    "미숙",
    "상철",
    "춘식",
    "천식",
    "한식",
    "보람",
    "하늘",
    "슬기",
    "아름",
    "나래",
    "기분",
    "지각",
    "철회",
    "추정",
]
PASSING = cue_set(cue for cue in korean.CUES if cue.weight < 0)
HARMFUL = [cue for cue in korean.CUES if cue.name in ("건강", "금기")]
# Words of technical documentation that contain a shorter word that is a cue.
LONGER_WORDS = [
    "압축하는",
    "구축하는",
    "낮춥니다",
    "맞춥니다",
    "멈춥니다",
    "만들었다",
    "대소문자",
    "조건의",
    "사건의",
    "규제안",
    "정보임을",
    "현금기준",
    "반복용",
    "로그제거",
    "언어제한",
    "이웃",
    "책임신고",
    "정반대가",
    "작업일지",
    "그대로",
    "찾아내는",
    "복원한다",
    "분기분",
    "입주장",
]


@pytest.mark.parametrize("given", GIVEN_NAMES)
def test_no_syllables_of_a_name_speak_against_its_line(given: str) -> None:
    for surname in SURNAMES:
        name = surname + given
        copula = "이다" if (ord(name[-1]) - ord("가")) % 28 else "다"
        for line in (f"백업 담당자는 {name}{copula}.", f"백업 담당: {name}", f"{name}은 부산 지사에 있다."):
            assert match_cues(line, PASSING).against == (), line
            assert not [cue.name for cue in HARMFUL if cue.pattern.search(line)], line
            assert not STATES_HEALTH.search(line), line


@pytest.mark.parametrize("name", ["김민수", "박철수", "이지수", "김미정", "김민지"])
def test_a_person_in_charge_is_promoted_whatever_the_name_ends_in(name: str) -> None:
    copula = "이다" if (ord(name[-1]) - ord("가")) % 28 else "다"
    operation = propose(f"온보딩 담당자는 {name}{copula}.")[1]

    assert operation.op is Op.ADD, operation.reason


@pytest.mark.parametrize("word", LONGER_WORDS)
def test_no_part_of_a_longer_word_is_a_cue_against_its_line(word: str) -> None:
    names = {
        "잡담",
        "여가",
        "미정",
        "제안만",
        "채택 안 됨",
        "들은 말",
        "오늘 하루",
        "추측",
        "물음",
        "건강",
        "금기",
        "선호",
        "누구",
    }
    found = [cue.name for cue in korean.CUES if cue.name in names and cue.pattern.search(f"{word} 확인")]

    assert found == []


def test_family_is_no_part_of_a_longer_word_in_a_conversation() -> None:
    family = next(cue for cue in dialogue.CUES if cue.name == "가족 (대화)")

    assert not [word for word in ("유형이 다르다", "편집 화면", "수집 주기") if family.pattern.search(word)]
    assert all(family.pattern.search(text) for text in ("우리집 강아지", "형이 왔다", "친오빠가 산다"))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("점심시간에 수다를 떨었다", "잡담"),
        ("생일 축하 자리", "잡담"),
        ("오늘은 춥다", "잡담"),
        ("기분이 좋음", "잡담"),
        ("이관 일정은 아직 미정", "미정"),
        ("가격미정", "미정"),
        ("퇴사 소문을 들었다", "들은 말"),
        ("그 안은 철회", "채택 안 됨"),
        ("서버 증설 건의가 있음", "제안만"),
        ("천식이 있음", "건강"),
        ("이 약은 고혈압 환자에게 금기", "금기"),
        ("어제 다시 시도", "오늘 하루"),
        ("저녁에 게임을 함", "여가"),
        ("원인은 캐시로 보임", "추측"),
        ("언제 끝날지, 얼마일지 모르겠음", "물음"),
        ("오탈자 수정", "한 일"),
        ("문구수정", "한 일"),
    ],
)
def test_the_word_itself_is_still_a_cue(line: str, name: str) -> None:
    assert [cue.name for cue in korean.CUES if cue.name == name and cue.pattern.search(line)], line


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("커밋 메시지에는 이모지 금지", "잡담"),
        ("답변에 이모지 없이 쓴다", "잡담"),
        ("트위터: @harbour_ferry", "들은 말"),
        ("오류는 사용자에게 보여주는 문구로 바꾼다", "추측"),
        ("회사는 게임 개발사다 (Unity)", "여가"),
    ],
)
def test_a_thing_of_work_is_no_small_talk(line: str, name: str) -> None:
    assert name not in match_cues(line, PASSING).against


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("이모지 잔뜩 붙여서 보냄", "잡담"),
        ("트위터에서 본 이야기", "들은 말"),
        ("잘 되는 것처럼 보여", "추측"),
        ("저녁에 게임 한 판", "여가"),
    ],
)
def test_the_same_word_in_small_talk_still_speaks_against_its_line(line: str, name: str) -> None:
    assert name in match_cues(line, PASSING).against
