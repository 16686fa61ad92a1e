"""Evidence: words of a prompt that a text takes up, and how near they are; nothing for courtesy and chance words."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.search.evidence import ENOUGH, WeighedQuestion, evidence, lines_of, word_table
from gitmem.search.question import parse

TODAY = date(2026, 8, 3)
DECISION = "Stripe webhooks: a processed_events table with a unique index; a conflicting insert returns 200."
KOREAN = "마케팅 알림은 21시부터 8시까지 보내지 않고 다음 날 8시 30분에 모아서 보냅니다."
CHINESE = "病历复印开始收费，每页五角。"
JAPANESE = "環境のため、タオルの交換は連泊中は三日に一度にする。"


def of(prompt: str, text: str) -> float:
    return evidence(WeighedQuestion(parse(prompt, TODAY), word_table()), text)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("why do stripe webhooks get a 200 on a conflicting insert?", DECISION),
        ("the same Stripe delivery created two rows, is there a unique index on inserts?", DECISION),
        ("processed_events", DECISION),
        ("할인 쿠폰 알림이 밤에 발송되지 않고 다음 날 왔어요", KOREAN),
        ("알림은 언제 보내나요?", KOREAN),
        ("复印病历要钱吗", CHINESE),
        ("病历复印一页多少钱？", CHINESE),
        ("連泊中のタオル交換", JAPANESE),
    ],
)
def test_what_a_text_answers_is_enough(prompt: str, text: str) -> None:
    assert of(prompt, text) >= ENOUGH


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("기본 모델이 뭔가요?", "- 기본 운영 모델: sonnet 4.5, 무거운 작업은 opus로 전환"),
        ("담당이 누구예요?", "- 배포 서버는 서울 리전의 web-3, 담당은 김민수"),
        ("서버가 몇 대야?", "- 배포 서버는 서울 리전의 web-3, 모두 세 대"),
        ("점검 몇 시야?", "- 정기 점검은 매월 첫째 주 일요일 새벽 2시에 시작한다"),
        ("점검은 언제 해요?", "- 정기 점검은 매월 첫째 주 일요일 새벽 2시에 시작한다"),
        ("점검이 언제더라", "- 정기 점검은 매월 첫째 주 일요일 새벽 2시에 시작한다"),
    ],
)
def test_the_words_that_ask_take_no_evidence_from_a_short_question(prompt: str, text: str) -> None:
    assert of(prompt, text) >= ENOUGH


@pytest.mark.parametrize("prompt", ["점심이 뭐예요?", "치과가 언제더라", "주차장이 어디였지?", "누구예요?", "몇 시야?"])
def test_the_words_that_ask_are_no_evidence_by_themselves(prompt: str) -> None:
    assert of(prompt, "- 누구에게 언제 물어볼지: 몇 시에, 어디서 회의를 해요") < ENOUGH


@pytest.mark.parametrize(
    "prompt",
    ["thanks", "sounds good, go ahead", "how do I centre a div?", "ok", "오늘 날씨 어때?", "고마워", "", "?", "\0",
     "write a haiku about autumn", "谢谢", "ありがとう", "今天天气怎么样", "谢谢，很有帮助", "続けてください", "空はなぜ青いの"],
)  # fmt: skip
def test_what_has_nothing_to_do_with_a_text_is_not(prompt: str) -> None:
    assert all(of(prompt, text) < ENOUGH for text in (DECISION, KOREAN, CHINESE, JAPANESE))


@pytest.mark.parametrize(
    ("prompt", "fact", "beside"),
    [
        (
            "체육관 대관 결재는 누가 하지",
            "체육관 대관은 교감 선생님 결재",
            "유리 제품 박스는 자동 포장 라인에 올리지 않는다",
        ),
        ("Below how many reads is a sample excluded?", "Samples below 5,000 reads are excluded.", "Lunch is at noon."),
    ],
)
def test_what_stands_beside_a_fact_takes_nothing_from_it(prompt: str, fact: str, beside: str) -> None:
    passage = f"- {beside}\n- {fact}\n- {beside}"
    assert of(prompt, passage) >= of(prompt, f"- {fact}") >= ENOUGH > of(prompt, beside)


@pytest.mark.parametrize(("prompt", "tells"), [("and why?", False), ("thanks", True), ("今天天气怎么样", True)])
def test_a_prompt_without_words_of_its_own_is_known(prompt: str, tells: bool) -> None:
    assert WeighedQuestion(parse(prompt, TODAY), word_table()).has_telling_words is tells


def test_a_line_in_another_script_answers_only_with_the_whole_text() -> None:
    assert of("오늘 날씨 어때?", "# 2026-02-04\n\n## 09:00\n\n- yesterday's work") < ENOUGH


def test_a_letter_of_two_shared_pairs_counts_once() -> None:
    apart, together, shorter = (
        evidence(WeighedQuestion(parse("病历复印", TODAY), None), text)
        for text in ("病历在二楼，复印在一楼", "病历复印", "病历")
    )
    assert apart == together == 1.0 and shorter == 0.5


def test_courtesy_tells_nothing_even_where_memory_has_it() -> None:
    assert of("thanks", "Thanks, sounds good!") == 0.0


def test_without_a_table_the_share_of_words_is_the_evidence() -> None:
    prompt = WeighedQuestion(parse("conflicting insert of an elephant", TODAY), None)
    assert 0.6 < evidence(prompt, DECISION) < 0.7 and evidence(prompt, KOREAN) == 0.0


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("데이터베이스 비밀번호는 얼마나 자주 바꾸나요?", "The database password is rotated every 90 days by the platform job."),
        ("バックアップは何日間保存されますか?", "Backups of the production database run at 03:00 and are kept for 30 days."),
        ("数据库备份保留多少天?", "Backups of the production database run at 03:00 and are kept for 30 days."),
        ("how long are backups of the database kept?", "운영 데이터베이스 백업은 30일 동안 보관합니다."),
    ],
)  # fmt: skip
def test_a_text_in_another_script_answers_by_its_meaning(prompt: str, text: str) -> None:
    assert of(prompt, text) >= ENOUGH


@pytest.mark.parametrize("prompt", ["저녁 메뉴 추천해줘", "おすすめの映画は?", "如何学习钢琴", "今天天气怎么样"])
def test_other_matters_in_another_script_are_not_enough(prompt: str) -> None:
    assert of(prompt, "Backups of the production database run at 03:00 and are kept for 30 days.") < ENOUGH


@pytest.mark.parametrize(
    ("prompt", "text"), [("여벌", "- 여벌 열쇠는 관리실에 있다."), ("ISR", "- ISR: in-sync replicas.")]
)
def test_each_word_that_was_looked_for_is_enough(prompt: str, text: str) -> None:
    assert of(prompt, text) >= ENOUGH


@pytest.mark.parametrize(
    "prompt",
    [
        "good night!",
        "see you tomorrow",
        "수고하셨습니다",
        "주말 잘 보내세요",
        "おやすみなさい",
        "お疲れさま",
        "晚安",
        "明天见",
    ],
)
def test_a_greeting_is_answered_by_nothing(prompt: str) -> None:
    said = "the good night shift will see you tomorrow, 주말 잘 보내세요 수고하셨습니다 おやすみなさい お疲れさま 晚安 明天见"
    assert of(prompt, said) == 0.0


def test_a_word_of_greetings_tells_in_a_prompt_that_asks() -> None:
    assert of("who has the night shift on the weekend?", "Tomas has the night shift on weekends") >= ENOUGH


def sized(prompt: str, text: str, chunks: int) -> float:
    return evidence(WeighedQuestion(parse(prompt, TODAY), word_table(), chunks), text)


def test_a_word_like_one_of_the_prompts_counts() -> None:
    prompt = "is the automobile insured?"
    assert sized(prompt, "The insurance of the car ends in June.", 20) > sized(
        prompt, "The rent of the flat ends in June.", 20
    )


def test_a_larger_memory_must_say_more_and_one_above_a_thousand_chunks_no_more_than_that() -> None:
    small, large, larger = (
        sized("who pays for parking?", "Parking is paid by the office", n) for n in (20, 1000, 90_000)
    )
    assert small > large == larger and large == of("who pays for parking?", "Parking is paid by the office")
    prompt, text = "数据库备份保留多少天?", "Backups of the database are kept for 30 days."
    assert sized(prompt, text, 20) > sized(prompt, text, 1000)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("yep, works for me", "Dots work on Windows too."),
        ("split it between 5 people and add 15 percent", "- every 5 min for the first 15, then every 30."),
        ("ㅇㅇ 좋아", "ㅇㅇ 1번. 10초는 너무 잘아요"),
    ],
)
def test_common_words_and_short_numbers_are_there_by_chance(prompt: str, text: str) -> None:
    assert of(prompt, text) < ENOUGH


def test_a_number_alone_is_found_where_it_stands() -> None:
    assert of("42", "- rack 42 is ours") >= ENOUGH > of("42", "- rack 43 is ours")


def test_a_heading_or_an_empty_line_answers_nothing_by_itself() -> None:
    prompt = "write unit tests for the parser of mails"
    beside = "the printer on the second floor is out of order since Monday"
    assert sized(prompt, f"## Tests\n\n- {beside}\n", 300) < ENOUGH
    assert sized("what is the capital of Mongolia?", f"- {beside}\n\n", 5) == sized(
        "what is the capital of Mongolia?", f"- {beside}\n", 5
    )
    assert lines_of("# a\n- b\n\n#12 c\n  - d\n## e") == ["- b", "#12 c", "  - d"]


def test_a_word_in_the_other_kana_is_evidence() -> None:
    for prompt, text in (("リンゴ", "りんごは木箱に入れる"), ("リンゴの棚", "りんごの棚は左奥")):
        assert evidence(WeighedQuestion(parse(prompt, TODAY), None), text) > 0.5
    assert evidence(WeighedQuestion(parse("マスト", TODAY), None), "毎朝掃除をします") == 0
