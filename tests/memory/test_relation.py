"""The judgement of two statements: two things, replacements, ends, conflicts, and when a person is asked."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.memory.relation import Kind, Said, alignment, relation
from gitmem.memory.relation.alignment import near, near_places, places_of, sameness
from gitmem.memory.relation.amounts import sino_number
from gitmem.memory.relation.clauses import main_clauses
from gitmem.memory.relation.reading import read
from gitmem.memory.relation.tokens import NUMBER, Token, tokens
from tests.harness import SOURCE


def test_the_period_of_a_rate_is_no_length_of_time() -> None:
    old = "Rate limit for the public API is now 500 requests per minute."
    assert relation(old, "the API request timeout is now 60 seconds.").kind is Kind.OTHER
    changed = relation("The limit is 100 requests per minute.", "The limit is now 100 requests per hour.")
    assert changed.asks and changed.kind is Kind.REPLACES


@pytest.mark.parametrize(
    ("words", "dim"),
    [("the track is 1500 m long", "length"), ("the limit is 512m", "size"), ("the limit is 512 M", "size")],
)
def test_a_small_m_behind_a_blank_is_a_length_and_no_size(words: str, dim: str) -> None:
    assert [token.dim for token in tokens(words) if token.kind == NUMBER] == [dim]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("two thousand three hundred rows", [2300]),
        ("one million two hundred thousand rows", [1_200_000]),
        ("five thousand and twenty rows", [5020]),
        ("half a million rows", [500_000]),
        ("two hundred thousand rows", [200_000]),
        ("in five thousand two rows failed", [5000, 2]),
    ],
)
def test_english_numerals_are_one_number(words: str, values: list[int]) -> None:
    assert [token.value for token in tokens(words) if token.kind == NUMBER] == values


OTHER_THINGS = [  # what differs first says which thing: nothing here may ever be acted on
    ("Patient 21 takes 5 mg of warfarin.", "Patient 22 takes 3 mg of warfarin."),
    ("Room B12 is reserved for the choir.", "Room B14 is reserved for the orchestra."),
    ("Phase 1 of the move ends in June.", "Phase 2 of the move ends in August."),
    ("Service 10 runs on host elm.", "Service 11 runs on host oak."),
    ("Ticket 8123 is assigned to Vera.", "Ticket 8132 is assigned to Otto."),
    ("Contoso renews in March.", "Fabrikam renews in May."),
    ("Contract 5511 costs 900 euros a month.", "Contract 5512 costs 700 euros a month now."),
    ("staging: log level DEBUG", "production: log level changed from DEBUG to INFO"),
    ("worker-01 has 16 GB of memory", "worker-10 has 32 GB of memory"),
    ("환자 21번은 와파린 5mg을 먹는다.", "환자 22번은 와파린 3mg을 먹는다."),
    ("회의실 B12는 합창단이 쓴다.", "회의실 B14는 이제 악단이 쓴다."),
    ("계약 5511 월 90만 원.", "계약 5512 월 70만 원으로 변경."),
    ("한나래 선생님은 3학년 1반을 맡는다.", "한누래 선생님은 3학년 2반을 맡는다."),
    ("患者21番はワルファリンを5mg飲んでいます。", "患者22番はワルファリンを3mgに減らしました。"),
    ("会議室B12は合唱団が使います。", "会議室B14は管弦楽団に変わりました。"),
    ("契約5511は月9万円です。", "契約5512は月7万円になりました。"),
    ("21 号病人每天服用华法林 5 毫克。", "22 号病人每天服用华法林改为 3 毫克。"),
    ("会议室 B12 由合唱团使用。", "会议室 B14 改由乐团使用。"),
    ("合同 5511 每月 9000 元。", "合同 5512 每月改为 7000 元。"),
]
REPLACED = [
    ("Support hours are 9:00-18:00.", "Support hours are now 8:00-20:00."),
    ("The maintenance window is Sunday 02:00-04:00.", "The maintenance window is now Saturday 01:00-03:00."),
    ("Backups are kept for 30 days.", "From today backups are kept for 90 days."),
    ("고객 지원 시간은 9:00-18:00이다.", "고객 지원 시간은 이제 8:00-20:00이다."),
    ("The request timeout is 45 seconds.", "The request timeout is now 30 seconds."),
    ("Max upload size: 20 MB", "Max upload size changed from 20 MB to 50 MB"),
    ("The release day is Tuesday.", "The release day was moved from Tuesday to Thursday."),
    ("요청 타임아웃은 45초이다.", "요청 타임아웃을 45초에서 30초로 변경했다."),
    ("배포 요일은 화요일이다.", "배포 요일이 목요일로 바뀌었다."),
    ("リクエストの上限は60回です。", "リクエストの上限を60回から120回に変更しました。"),
    ("公開日は6月8日です。", "公開日を6月22日に変更しました。"),
    ("请求超时时间是 45 秒。", "请求超时时间由 45 秒改为 30 秒。"),
    ("发布日期是 6 月 8 日。", "发布日期改为 6 月 22 日。"),
]
ENDED = [
    ("The weekly report is sent on Friday.", "The weekly report was abolished."),
    ("주간 보고서는 금요일에 보낸다.", "주간 보고서를 폐지했다."),
    ("週報は金曜日に送ります。", "週報は廃止しました。"),
    ("周报在周五发送。", "周报已经取消。"),
]
PAUSED = [
    ("The newsletter goes out on Fridays.", "The newsletter is on hold until further notice."),
    ("The newsletter goes out on Fridays.", "The newsletter is paused."),
    ("The evening class takes place on Mondays.", "The evening class is suspended for now."),
    ("뉴스레터는 금요일에 발송한다.", "뉴스레터 발송은 당분간 중단한다."),
    ("저녁 강좌는 월요일에 연다.", "저녁 강좌는 당분간 쉰다."),
    ("ニュースレターは金曜日に送ります。", "ニュースレターは当面休止します。"),
    ("夜間講座は月曜日に開きます。", "夜間講座は当分の間見合わせます。"),
    ("简报在周五发送。", "简报暂停，直至另行通知。"),
    ("晚间课程在周一举行。", "晚间课程暂时中止。"),
]
NO_ENDS = [
    ("The standup is on Mondays", "The standup is not cancelled"),
    ("The newsletter goes out on Fridays.", "The newsletter is no longer paused."),
    ("The newsletter goes out on Fridays.", "The newsletter was never abolished."),
    ("The newsletter goes out on Fridays.", "The newsletter was paused and has resumed."),
    ("The newsletter goes out on Fridays.", "The newsletter is suspended in January only."),
    ("주간 회의는 화요일에 한다", "주간 회의는 중단됐다가 재개됐다"),
    ("정기 배포는 수요일에 한다", "정기 배포는 1월에만 중단된다"),
    ("정기 배포는 수요일에 한다", "정기 배포 중단이 끝났다"),
    ("정기 배포는 수요일에 한다", "정기 배포는 폐지하지 않는다"),
    ("정기 배포는 수요일에 한다", "정기 배포 폐지를 논의했다"),
    ("週報は金曜日に送ります。", "週報は廃止しません。"),
    ("周报在周五发送。", "周报没有取消。"),
]
NOT_PAUSED = [  # paused for a length of time, or another thing is paused
    ("The build runs at night", "The build was paused for ten minutes"),
    ("The build runs at night", "The build was on hold for an hour on Monday."),
    ("The newsletter goes out on Fridays.", "Deploys are paused on Fridays."),
    ("The lamp hangs over the table.", "The lamp is suspended from the ceiling."),
    ("빌드는 밤에 돈다.", "빌드가 10분 동안 중단되었다."),
    ("빌드는 밤에 돌린다.", "빌드를 10분간 일시 중지했다."),
    ("뉴스레터는 금요일에 보낸다.", "홈페이지 개편은 당분간 중단한다."),
    ("ビルドは夜に動きます。", "ビルドは10分間停止しました。"),
    ("ニュースレターは金曜日に送ります。", "サイトの改修は当面休止します。"),
    ("构建在夜间运行。", "构建暂停了十分钟。"),
    ("构建在夜间运行。", "构建曾暂停10分钟。"),
    ("简报在周五发送。", "网站改版暂停。"),
]
CONFLICTING = [
    ("The delivery day is 14 June.", "The order form says 14 June, the invoice of the same day says 21 June."),
    ("마감일은 6월 14일이다.", "같은 날 계약서에는 마감일이 6월 21일로 적혀 있다."),
    ("締切は6月14日です。", "同じ日の契約書では締切が6月21日となっています。"),
    ("截止日期是 6 月 14 日。", "同一天的合同上写的截止日期是 6 月 21 日。"),
]
BOTH_HOLD = [  # several at one time, another property, an exception
    ("Noor speaks Persian.", "Noor speaks Urdu."),
    ("Noor is allergic to walnuts.", "Noor is allergic to latex."),
    ("The garage belongs to the Wilsons.", "The garage has two windows."),
    ("Visitors park in row C.", "On market days visitors park behind the hall as well."),
    ("노라는 호두 알레르기가 있다.", "노라는 라텍스 알레르기도 있다."),
    ("ノラさんはペルシャ語を話せます。", "ノラさんはウルドゥー語も話せます。"),
    ("诺拉对核桃过敏。", "诺拉对乳胶也过敏。"),
]


ONE_AT_A_TIME = [  # a purpose has one tool, a property or a count one value: nothing says which of the two holds
    ("We use MariaDB for the stock ledger", "We use Postgres 15 for the stock ledger"),
    ("The stock ledger is MariaDB", "The stock ledger is Postgres 15"),
    ("The choir has twelve members.", "The choir has thirteen members."),
    ("Acme has 40 customers", "Acme has 55 customers"),
    ("동호회 회원은 12명이다", "동호회 회원은 13명이다"),
    ("고객사는 마흔 곳이다", "고객사는 55곳이다"),
    ("会員は12名です", "会員は15名です"),
    ("Builds run on Jenkins", "Builds run on GitHub Actions"),
    ("Releases go through Argo", "Releases go through Spinnaker"),
    ("We use Hornbill for the stock ledger.", "We use Larkspur for the stock ledger."),
    ("알림톡은 토스를 쓴다", "알림톡은 포트원을 쓴다"),
    ("재고 DB는 MariaDB이다", "재고 DB는 Postgres 15이다"),
    ("在庫の決済はStripeを使う。", "在庫の決済はPayPayを使う。"),
    ("门店充值使用支付宝。", "门店充值使用微信支付。"),
    ("The author of Tin Harbor is Mia Rolle.", "The author of Tin Harbor is Jon Abara."),
    ("Mia Rolle was born in Tallinn.", "Mia Rolle was born in Porto."),
    ("Mia Rolle was born in the city of Porto.", "Mia Rolle was born in the city of New Ross."),
    ("Mia Rolle is married to Sam Ode.", "Mia Rolle is married to Kit Farr."),
    ("The capital of Samoa is Apia.", "The capital of Samoa is Suva."),
    ("The official language of Samoa is Samoan.", "The official language of Samoa is Latin."),
    ("The mailer is set to Hornbill", "The mailer is set to Larkspur"),
    ("양철항구의 저자는 노미르이다.", "양철항구의 저자는 하주안이다."),
]
SEVERAL_AT_A_TIME = [  # one of several, another thing, or another purpose
    ("Mia speaks German.", "Mia speaks French."),
    ("Mia has worked with MariaDB.", "Mia has worked with Postgres."),
    ("The importer supports MariaDB.", "The importer supports Postgres."),
    ("We use Redis for the cache.", "We use Postgres for the stock ledger."),
    ("Service 10 uses Redis.", "Service 11 uses Kafka."),
    ("The author of Tin Harbor is Mia Rolle.", "The author of Cold Lamps is Jon Abara."),
    ("노미르는 독일어를 구사한다.", "노미르는 아랍어를 구사한다."),
]


@pytest.mark.parametrize(("old", "new"), ONE_AT_A_TIME)
def test_another_tool_or_value_is_asked_about_and_without_a_word_of_change_never_acted_on(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind in (Kind.REPLACES, Kind.CONFLICTS) and judged.asks and not judged.automatic


@pytest.mark.parametrize(("old", "new"), SEVERAL_AT_A_TIME)
def test_one_of_several_is_not_asked_about(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind is Kind.OTHER and not judged.asks


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("배포는 이제 매주 화요일이 아니라 목요일 오후 2시에 한다", "배포는 매주 화요일 오후 2시에 한다"),
        ("Deploys are on Thursdays, not on Tuesdays", "Deploys are on Tuesdays"),
        ("The nightly job starts at 03:00 instead of 01:00", "The nightly job starts at 01:00"),
        ("デプロイは火曜ではなく木曜に行う", "デプロイは火曜に行う"),
        ("部署在周四而不是周二", "部署在周二"),
    ],
)
def test_a_value_that_the_earlier_statement_calls_replaced_is_no_repetition_and_not_acted_on(
    old: str, new: str
) -> None:
    found = relation(old, new)
    assert found.kind is not Kind.SAME and found.probabilities[Kind.SAME] == 0.0 and not found.automatic


def test_a_name_and_its_version_are_one_value() -> None:
    judged = relation("The stock ledger runs on Postgres 14", "The stock ledger runs on Postgres 16")
    assert judged.asks and (judged.old, judged.new) == ("Postgres 14", "Postgres 16")


@pytest.mark.parametrize(("old", "new"), OTHER_THINGS)
def test_a_statement_about_another_thing_is_never_acted_on(old: str, new: str) -> None:
    assert not relation(old, new).automatic and not relation(new, old).automatic
    assert relation(old, new).kind not in (Kind.SAME, Kind.ENDS)


@pytest.mark.parametrize(("old", "new"), REPLACED)
def test_another_value_of_one_property_replaces(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind is Kind.REPLACES and judged.asks


@pytest.mark.parametrize(("old", "new"), ENDED)
def test_what_is_abolished_ends(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind is Kind.ENDS and judged.asks


@pytest.mark.parametrize(("old", "new"), PAUSED)
def test_what_is_paused_until_further_notice_is_asked_about_and_never_acted_on(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind is Kind.ENDS and judged.asks and not judged.automatic


@pytest.mark.parametrize(("old", "new"), NO_ENDS)
def test_an_end_that_is_denied_or_taken_back_is_no_end(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind in (Kind.OTHER, Kind.ADDS) and not judged.asks and not judged.automatic


def test_what_goes_on_again_is_never_acted_on() -> None:
    assert not relation("정기 배포는 수요일에 한다", "정기 배포가 재개됐다").automatic
    assert not relation("The newsletter goes out on Fridays.", "The newsletter has resumed.").automatic


@pytest.mark.parametrize(("old", "new"), NOT_PAUSED)
def test_a_pause_of_a_length_of_time_or_of_another_thing_is_not_asked_about(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind in (Kind.OTHER, Kind.ADDS) and not judged.asks


def test_a_pause_of_a_length_of_time_hides_no_end_and_no_other_length() -> None:
    ended = relation("The nightly build runs.", "The nightly build was paused for ten minutes and then abolished.")
    assert ended.asks
    assert relation("The pump is paused for 10 minutes.", "The pump is now paused for 20 minutes.").asks


@pytest.mark.parametrize(("old", "new"), CONFLICTING)
def test_two_sources_of_one_day_are_a_question_and_never_acted_on(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind is Kind.CONFLICTS and judged.asks and not judged.automatic


@pytest.mark.parametrize(("old", "new"), BOTH_HOLD)
def test_what_may_stand_side_by_side_is_left_alone(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind in (Kind.OTHER, Kind.ADDS) and not judged.automatic


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We keep the audit log on the server.", "We do not keep the audit log on the server."),
        ("운영 서버에 캐시를 쓴다.", "운영 서버에 캐시를 쓰지 않는다."),
        ("本番環境ではキャッシュを使う", "本番環境ではキャッシュを使わない"),
        ("生产环境使用缓存", "生产环境不使用缓存"),
    ],
)
def test_a_denial_is_never_the_same(old: str, new: str) -> None:
    assert relation(old, new).kind is not Kind.SAME


def test_the_reason_names_the_property_and_both_values() -> None:
    judged = relation("The request timeout is 45 seconds.", "The request timeout is now 30 seconds.")
    assert judged.reason == "the value of 'timeout' changed from 45 seconds to 30 seconds"
    assert (judged.old, judged.new) == ("45 seconds", "30 seconds")
    assert judged.automatic and judged.probability == judged.probabilities[Kind.REPLACES]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The rate limit is 600 requests", "The rate limit changed from 600 to 900 requests"),
        ("rate limit: 600 requests", "rate limit: 600 -> 900 requests"),
        ("요청 한도는 600회이다", "요청 한도를 600회에서 900회로 변경"),
        ("请求上限是 600 次", "请求上限由 600 次改为 900 次"),
    ],
)
def test_a_later_text_that_names_the_old_value_is_automatic(old: str, new: str) -> None:
    assert relation(old, new).kind is Kind.REPLACES and relation(old, new).automatic


def test_the_reason_names_what_tells_two_things_apart() -> None:
    judged = relation("Room B12 is reserved for the choir.", "Room B14 is reserved for the orchestra.")
    assert judged.subject == (("B12", "B14"),) and "'B12' and 'B14'" in judged.reason


def test_trails_are_part_of_the_subject() -> None:
    old, new = "The request timeout is 45 seconds.", "The request timeout is now 30 seconds."
    there = Said(old, ("Services", "Search service"))
    assert relation(there, Said(new, ("Services", "Search service"))).automatic
    assert not relation(there, Said(new, ("Services", "Billing service"))).automatic
    patient = Said("Allergic to walnuts.", ("Ward", "Patient 21"))
    assert relation(patient, Said("Allergic to latex.", ("Ward", "Patient 22"))).kind is Kind.OTHER


ROW = ("Boats", "Boat | State | Crew")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (Said("Ferry North | moored | crew of four", ROW), Said("Ferry Kestrel | moored | crew of four", ROW)),
        (Said("`order.paid` - Mark as done"), Said("`order.refused` - Record the reason, update the order")),
        (Said("**`deploy.sh`**: runs on staging"), Said("**`release.sh`**: runs on production")),
        (Said("Monitor: `harbour-watch.md`"), Said("Docs updated: harbour-watch.md + the notes of the yard")),
    ],
)
def test_two_rows_or_entries_with_different_keys_are_about_two_things(earlier: Said, later: Said) -> None:
    judged = relation(earlier, later)
    assert judged.kind in (Kind.OTHER, Kind.ADDS) and not judged.asks


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("여객선 예약: 민수는 견과류 알레르기가 있다", "여객선 예약: 예약 알림은 출항 3시간 전에 보내는 것으로 바꿨다"),
        ("여객선 예약: 담당자는 박민수", "여객선 예약: 결제는 토스 대신 포트원을 쓰기로 했다"),
        ("Never deploy billing on Fridays.", "billing: Daily standup moved to 10:30."),
        ("Project Eagle: The retention is 90 days.", "Project Eagle: the API port is now 9191."),
        ("프로젝트 참새: 응답 제한 시간은 3초로 한다.", "프로젝트 독수리: 응답 제한 시간은 이제 8초로 한다."),
        ("Team A: the standup is at 10:00", "Team B: the standup is now at 10:30"),
    ],
)
def test_a_topic_or_its_kind_in_common_is_no_property_in_common(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind is Kind.OTHER and not judged.asks


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Project Eagle: the API port is 8080.", "Project Eagle: the API port is now 9191."),
        ("Eagle: port 8080", "The Eagle port is now 9191"),
    ],
)
def test_a_property_behind_a_topic_is_compared(old: str, new: str) -> None:
    assert relation(old, new).asks


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The search API now listens on port 9191", "The search API listens on port 7070"),
        ("정산 배치는 이제 매일 02:00에 돈다", "정산 배치는 매일 03:00에 돈다"),
    ],
)
def test_now_in_the_earlier_statement_alone_says_nothing(old: str, new: str) -> None:
    judged = relation(Said(old, day="2026-11-24"), Said(new, day="2026-11-25"))
    assert judged.kind is Kind.REPLACES and judged.asks


def test_rows_with_one_key_are_compared() -> None:
    changed = relation(Said("Ferry North | crew of four", ROW), Said("Ferry North | crew of six", ROW))
    assert changed.asks and (changed.old, changed.new) == ("four", "six")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We decided that invoices go out on the 3rd.", "We decided that invoices go out on the 13th."),
        ("The office is on the 3rd floor", "The office is on the 4th floor"),
    ],
)
def test_an_ordinal_is_a_value(old: str, new: str) -> None:
    assert relation(old, new).asks and not relation(old, new).automatic


def test_the_day_and_topic_of_a_log_tell_no_things_apart() -> None:
    fact = Said("The request timeout is 45 seconds.", ("Memory", "Decisions"), "2026-03-02")
    line = Said("The request timeout is now 30 seconds.", ("2026-03-05", "10:00 - standup"), "2026-03-05")
    assert relation(fact, line).automatic


def test_health_and_what_is_guarded_are_for_a_person() -> None:
    old, new = "The request timeout is 45 seconds.", "The request timeout is now 30 seconds."
    assert relation(old, new).automatic
    guarded = relation(Said(old, guarded=True), new)
    assert not guarded.automatic and guarded.asks and guarded.kind is Kind.REPLACES
    assert not relation(
        "The dose of warfarin is 5 mg.", "The dose of warfarin was changed from 5 mg to 3 mg."
    ).automatic


def test_order_matters() -> None:
    old, new = "The release day is Tuesday.", "The release day was moved from Tuesday to Thursday."
    assert relation(old, new).probabilities != relation(new, old).probabilities
    assert not relation(Said(old, day="2026-03-05"), Said(new, day="2026-03-02")).automatic


def test_two_values_of_one_day_without_a_word_of_change_are_rather_a_conflict() -> None:
    old, new = "Max upload size: 20 MB", "Max upload size: 50 MB"
    plain = relation(old, new).probabilities[Kind.CONFLICTS]
    same_day = relation(Said(old, day="2026-03-05"), Said(new, day="2026-03-05"))
    assert same_day.probabilities[Kind.CONFLICTS] > plain and not same_day.automatic


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("hens: 240", "The plumber now comes on Thursday."),
        ("The bike shed is behind the hall.", "We moved the invoices from Excel to Odoo."),
        ("자전거 보관소는 지하에 있다.", "이제 접수는 오후 5시까지 받는다."),
        ("上履きは白に限ります。", "請求チームのリーダーが代わりました。"),
        ("后门全天开放。", "包装箱改由恒通供应。"),
    ],
)
def test_a_word_of_change_alone_is_no_news_of_something_else(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind is Kind.OTHER and not judged.asks and judged.reason == "they have nothing in common"


def test_another_value_without_a_word_of_change_is_asked_about() -> None:
    old = "The stock timeout is 45 seconds"
    plain, said = relation(old, "The stock timeout is 30 seconds"), relation(old, "The stock timeout is now 30 seconds")
    assert plain.asks and not plain.automatic and said.automatic


def test_one_word_in_common_is_too_little_to_act_on() -> None:
    assert not relation(
        "利用者は朝食をとりません。", "長時間の利用が多いため、来客の無料枠を一時間に縮めました。"
    ).automatic


def test_a_search_that_judges_imports_nothing_slow() -> None:
    code = "import sys, gitmem.memory.relation; print(*({'dataclasses', 'json', 'pathlib'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=SOURCE, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@given(st.text(max_size=80))
def test_a_text_is_the_same_as_itself(text: str) -> None:
    judged = relation(text, text)
    assert judged.kind is Kind.SAME and not judged.automatic and not judged.asks


@given(st.text(max_size=60), st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_any_strings_are_safe(old: str, new: str, trail: list[str]) -> None:
    judged = relation(Said(old, tuple(trail), "nonsense"), Said(new, (), new))
    assert judged.reason and abs(sum(judged.probabilities.values()) - 1) < 1e-9
    assert judged.asks or not judged.automatic


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.sampled_from(["Ticket", "Room", "Lot", "Patient", "Service"]))
def test_another_number_of_a_thing_is_never_acted_on(one: int, other: int, noun: str) -> None:
    judged = relation(f"{noun} {one} is with Vera.", f"{noun} {other} is now with Otto.")
    assert one == other or not judged.automatic


def test_a_long_text_is_compared_with_nothing() -> None:
    long = "The request timeout is 45 seconds. " * 40
    judged = relation(long, "The request timeout is now 30 seconds.")
    assert judged.kind is Kind.OTHER and not judged.asks and "too long" in judged.reason
    assert relation(long, long.strip()).kind is Kind.SAME


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ops: the retry limit for webhooks is 5", "ops: the retry limit for emails is now 9"),
        (
            "the request timeout of the billing service is 45 seconds",
            "the request timeout of the orders service is now 20 seconds",
        ),
        ("the audit report is due on 2026-12-15", "the tax report is now due on 2026-12-20"),
        ("서울 창고 재고 한도는 40개로 한다", "부산 창고 재고 한도는 이제 50개로 한다"),
    ],
)
def test_nothing_is_done_by_itself_where_the_later_text_lacks_a_word_of_the_earlier(old: str, new: str) -> None:
    assert not relation(old, new).automatic


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("우산 창고의 문은 초록색으로 칠하기로 결정했습니다.", "우산 창고의 문은 초록색 대신 노란색으로 칠하기로 결정했습니다."),
        ("배포는 젠킨스로 하기로 했다.", "배포는 젠킨스 대신 깃허브 액션으로 하기로 했다."),
        ("We decided that the crane is painted blue.", "We decided that the crane is painted red instead of blue."),
    ],
)  # fmt: skip
def test_two_decisions_are_compared_by_what_was_decided(old: str, new: str) -> None:
    judged = relation(Said(old, (), "2026-11-27"), Said(new, (), "2026-11-28"))
    assert judged.kind is Kind.REPLACES and judged.automatic


WORDS = st.lists(st.text("abc01한국漢字", min_size=0, max_size=6), max_size=12)


@given(WORDS, WORDS)
def test_words_that_are_near_are_found_by_their_letters_as_by_comparing_every_two(a: list[str], b: list[str]) -> None:
    every = [(i, j) for i, one in enumerate(a) for j, other in enumerate(b) if near(one, other)]
    assert list(near_places(a, b)) == every


PARTS = st.lists(
    st.sampled_from(
        ["deploy", "deploys", "deployment", "배포", "배포는", "배포한다", "10:30", "9090", "port 9090", "2026-03-01", "v2.1",
         "ERR_1042", "three", "3", "30s", "Aiko", "POSTGRES_URL", "会议", "会議室", "데이터베이스", "디비", "room 12", "12"]
    ),
    max_size=10,
)  # fmt: skip


@given(PARTS, PARTS)
def test_any_two_tokens_with_the_same_meaning_are_compared(one: list[str], other: list[str]) -> None:
    a, b = read(" ".join(one)).content, read(" ".join(other)).content
    places = places_of(b)
    for token in a:
        found = {j for j, each in enumerate(b) if sameness(token, each)}
        assert found <= set(places.of(token))


def test_two_long_texts_are_not_compared_word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def counted(a: Token, b: Token) -> float:
        nonlocal compared
        compared += 1
        return sameness(a, b)

    monkeypatch.setattr(alignment, "sameness", counted)
    stems = [f"{first}{second}rtol" for first in "bcdfghjklmnp" for second in ("ae", "io", "uy", "oa", "ei")]
    alignment.align(" ".join(stems), " ".join(f"{word[::-1]}x" for word in stems))
    assert compared < 2 * len(stems)


ASIDE = [  # (a statement, another one that names its value in a reason or a side clause alone)
    ("The gateway is at port 7100.", "the gateway is at port 7200, because 7100 is taken by Grafana."),
    ("The gateway is at port 7100.", "Because 7100 is taken by Grafana, the gateway is at port 7200."),
    ("The gateway is at port 7100.", "7100 is taken by Grafana, so the gateway is at port 7200."),
    ("게이트웨이는 7100 포트를 쓴다", "게이트웨이는 7200 포트를 쓴다. 7100은 그라파나가 쓰므로"),
    ("게이트웨이는 7100 포트를 쓴다", "7100은 그라파나가 쓰기 때문에 게이트웨이는 7200 포트를 쓴다"),
    ("ゲートウェイのポートは7100です", "7100はGrafanaが使っているため、ゲートウェイのポートは7200です"),
    ("网关使用7100端口", "因为7100被占用，网关使用7200端口"),
]


@pytest.mark.parametrize(("plain", "reasoned"), ASIDE)
def test_a_value_in_a_reason_is_not_the_texts_own_value(plain: str, reasoned: str) -> None:
    for one, other in ((plain, reasoned), (reasoned, plain)):
        found = relation(one, other)
        assert found.kind in (Kind.REPLACES, Kind.CONFLICTS) and found.asks, (one, other, found)
        assert {found.old, found.new} & {"7200"} or found.kind is Kind.CONFLICTS


@pytest.mark.parametrize(
    ("text", "main"),
    [
        ("The cache is Redis since Memcached lost keys. Keep it.", "The cache is Redis . Keep it."),
        ("We keep it at 7100 since 2021", "We keep it at 7100 since 2021"),
        ("the limit is 90 s (because 60 s was short) in prod", "the limit is 90 s in prod"),
        ("게이트웨이는 7200 포트를 쓴다 (7100은 그라파나가 쓰기 때문)", "게이트웨이는 7200 포트를 쓴다"),
        ("서버는 서울에서 7200을 쓴다. 따라서 7200을 연다", "서버는 서울에서 7200을 쓴다. 따라서 7200을 연다"),
        ("because we can", "because we can"),
        ("", ""),
    ],
)
def test_the_main_clauses_of_a_text_are_without_its_reasons(text: str, main: str) -> None:
    assert main_clauses(text) == main


@given(st.text())
def test_any_text_has_main_clauses(text: str) -> None:
    assert len(main_clauses(text)) <= 2 * len(text) + 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Painted the hall with three rollers.",
            "the importer waits three minutes instead of five, to spare the disk.",
        ),
        ("| 2025-03-04 | tests | 71 % |", "| 2025-03-04 | docs | 40 % |"),
        ("Ordered twelve chairs.", "The job now keeps twelve logs, not thirty."),
    ],
)
def test_two_statements_that_share_numbers_alone_are_of_two_things(old: str, new: str) -> None:
    for one, other in ((old, new), (new, old)):
        found = relation(one, other)
        assert found.kind is Kind.OTHER and not found.asks and found.about == ()


def test_two_sources_that_name_the_value_alone_are_still_asked_about() -> None:
    assert relation("The hall is 12 m long.", "The plan says 12 m, the deed of the same day says 14 m.").asks


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "we use Twilio for text messages, because it is cheap.",
            "we switched from Twilio to Vonage for text messages.",
        ),
        ("We use Twilio for text messages", "we moved from Twilio to Vonage for text messages, because Vonage has MMS"),
        ("문자 메시지는 Twilio를 쓴다", "문자 메시지는 Twilio에서 Vonage로 바꿨다"),
    ],
)
def test_a_text_that_names_the_old_and_the_new_tool_surely_replaces(old: str, new: str) -> None:
    found = relation(old, new)
    assert found.kind is Kind.REPLACES and found.automatic and (found.old, found.new) == ("Twilio", "Vonage")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Grandpa's radio is a Grundig.", "Grandma's radio was swapped from Grundig to Philips."),
        ("We use Twilio for text messages and alerts", "we switched from Twilio to Vonage for text messages"),
        ("We use Twilio for text messages", "we switched from Nexmo to Vonage for text messages"),
    ],
)
def test_a_move_of_another_thing_is_never_acted_on(old: str, new: str) -> None:
    assert not relation(old, new).automatic


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("二十五", 25),
        ("二百五", 205),
        ("二〇二四", 2024),
        ("一〇五", 105),
        ("一千零五", 1005),
        ("이십오", 25),
        ("일이삼", 123),
        ("x", 0),
    ],
)
def test_numerals_by_powers_and_place_by_place(text: str, number: int) -> None:
    assert sino_number(text) == number


def test_the_end_of_a_part_is_never_acted_on_for_the_rest() -> None:
    found = relation(Said("Python 3.8과 3.9를 지원한다."), Said("Python 3.8 지원 종료."))
    assert found.kind is Kind.ENDS and found.asks and not found.automatic


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (Said("32 photos imported", ("images",)), Said("Images: 30 (15.19GB)", ("Photo import",))),
        (Said("Images: 30 (15.19GB)", ("Photo import",)), Said("32 photos imported", ("Images",))),
        (Said("32 photos imported", ("Docker",)), Said("Docker Images: 30 (15.19GB)", ("Photo import",))),
    ],
)
def test_trails_alone_do_not_make_two_statements_one_matter(earlier: Said, later: Said) -> None:
    earlier, later = earlier._replace(day="2026-11-01"), later._replace(day="2026-11-20")
    assert relation(earlier, later).kind is Kind.OTHER and not relation(earlier, later).asks


def test_a_text_of_values_alone_is_about_what_its_trail_names() -> None:
    earlier, later = Said("The port is 8080.", ("API",), "2026-11-01"), Said("9090", ("API port",), "2026-11-20")
    assert relation(earlier, later).reason != "they have nothing in common"


@pytest.mark.parametrize(
    ("words", "value", "dim"),
    [
        ("3만 5천 원이다", 35_000, "money"),
        ("2만 5천 원", 25_000, "money"),
        ("2만5천원", 25_000, "money"),
        ("3만원이다", 30_000, "money"),
        ("3만 5000원", 35_000, "money"),
        ("1만2천5백 원", 12_500, "money"),
        ("5만 천 원을", 51_000, "money"),
        ("2만 사천 원", 24_000, "money"),
        ("만 원이다", 10_000, "money"),
        ("만 이천 원이다", 12_000, "money"),
        ("만이천원", 12_000, "money"),
        ("이만 원", 20_000, "money"),
        ("이천 오백 원을", 2_500, "money"),
        ("십이만 삼천사백오십육 원", 123_456, "money"),
        ("2백만 원", 2_000_000, "money"),
        ("3천5백 명", 3_500, "count"),
        ("5천명이다", 5_000, "count"),
        ("1억 2천만", 120_000_000, ""),
        ("1억 3,000만 원", 130_000_000, "money"),
        ("1억 5천", 150_000_000, ""),
        ("일억 이천만 원", 120_000_000, "money"),
        ("3조 5천억 원", 3.5e12, "money"),
        ("5조 원", 5e12, "money"),
        ("-3만 5천 원", -35_000, "money"),
        ("10만 5천km", 105_000_000, "length"),
        ("3万5千円", 35_000, "money"),
        ("3万5千元", 35_000, "money"),
        ("1億2,500万円", 125_000_000, "money"),
        ("3 万 5 千元", 35_000, "money"),
    ],
)
def test_figures_and_powers_are_one_number(words: str, value: float, dim: str) -> None:
    assert [(token.value, token.dim) for token in tokens(words) if token.kind == NUMBER] == [(value, dim)]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("3만, 5천 원", [30_000, 5_000]),
        ("3만 5만 중", [30_000, 50_000]),
        ("3천 5천 중", [3_000, 5_000]),
        ("2만 3천~2만 5천 원", [23_000, 25_000]),
        ("3만 2024년", [30_000, 2024 * 31_104_000]),
        ("3만 백엔드 서버", [30_000]),
        ("3만 이천 지점", [30_000]),
        ("3조 2명", [2]),
        ("열 명만 이천 원", [10, 2_000]),
        ("만 18세", [18]),
        ("천명을 안다", []),
        ("벚꽃이 만개를 앞둔다", []),
        ("이천 회의의 기록", []),
        ("수만 원", []),
    ],
)
def test_words_and_numbers_beside_a_number_are_no_part_of_it(words: str, values: list[float]) -> None:
    assert [token.value for token in tokens(words) if token.kind == NUMBER] == values


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("배송비는 3만 5천 원이다", "배송비는 5천 원이다"),
        ("배송비는 3만 5천 원이다", "배송비는 3만 원이다"),
        ("배송비는 5천 원이다", "배송비는 25,000원이다"),
        ("시급은 만 원이다", "시급은 만 이천 원이다"),
        ("시급은 만 이천 원이다", "시급은 이천 원이다"),
        ("예산은 1억 2천만이다", "예산은 2천만이다"),
        ("한도는 2백만 원이다", "한도는 백만 원이다"),
        ("정원은 3천5백 명이다", "정원은 5백 명이다"),
        ("送料は3万5千円です", "送料は5千円です"),
        ("运费是3万5千元", "运费是5千元"),
    ],
)
def test_a_part_of_a_number_is_another_value(old: str, new: str) -> None:
    for one, other in ((old, new), (new, old)):
        found = relation(one, other)
        assert found.kind in (Kind.REPLACES, Kind.CONFLICTS) and found.asks, found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("배송비는 2만 5천 원이다", "배송비는 25,000원이다"),
        ("배송비는 2만 원이다", "배송비는 이만 원이다"),
        ("배송비는 3만원이다", "배송비는 30,000원이다"),
        ("시급은 만 이천 원이다", "시급은 12,000원이다"),
        ("예산은 1억이다", "예산은 10,000만이다"),
        ("예산은 1억 5천이다", "예산은 1억 5천만 원이다"),
        ("送料は3万5千円です", "送料は35,000円です"),
        ("运费是3万5千元", "运费是35000元"),
    ],
)
def test_one_number_in_figures_and_in_powers_is_the_same(old: str, new: str) -> None:
    assert relation(old, new).kind is Kind.SAME and relation(new, old).kind is Kind.SAME


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The call is at 10:00.", "The call is at 10:02."),
        ("회의는 10시 10분이다", "회의는 10시 12분이다"),
    ],
)
def test_times_some_minutes_apart_are_two_values(old: str, new: str) -> None:
    assert relation(old, new).kind in (Kind.REPLACES, Kind.CONFLICTS) and relation(old, new).asks


def test_identifiers_that_differ_in_their_eighth_digit_are_two_things() -> None:
    found = relation("Contract 55110011 ends in May", "Contract 55110012 ends in May")
    assert found.kind is Kind.OTHER and found.subject == (("55110011", "55110012"),), found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The timeout is two minutes", "The timeout is now 120 seconds"),
        ("The limit is 2300 rows.", "The limit is now two thousand three hundred rows."),
        ("Support hours are 9:00-18:00.", "Support hours are now 9am-6pm."),
    ],
)
def test_an_equal_value_is_no_change_whatever_its_form(old: str, new: str) -> None:
    judged = relation(old, new)
    assert judged.kind is Kind.SAME and not judged.asks


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The budget is 1,234,567 won.", "The budget is now 1,234,568 won."),
        ("The limit is 2300 rows.", "The limit is now not 2300 rows."),
        ("The timeout is two minutes", "The timeout is now 121 seconds"),
    ],
)
def test_a_value_that_differs_by_little_and_a_denied_one_are_asked_about(old: str, new: str) -> None:
    assert relation(old, new).asks
