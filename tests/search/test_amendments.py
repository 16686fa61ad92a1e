"""The newest word on a matter comes first, and the older one says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitmem.memory.fact import fact_id
from gitmem.search.amendments import SCORE, STEP, Line, Link, links, of_an_event, ordered, words_of
from gitmem.text.change_words import says_change
from tests.harness import Repo

OLD = "- webhook retries stop after 35 days"
NEW = "- webhook retries are reduced from 35 days to 7 days"


def line(text: str, day: str, score: float = 1.0, **more: Any) -> Line:
    return Line(text, day, score, changes=says_change(text), **more)


def log(day: str, *lines: str) -> str:
    return "\n".join([f"# {day}", "", "## 10:00 - notes", "", *lines]) + "\n"


def hits(repo: Repo, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(repo.mem("search", "--json", *args).stdout)["hits"]
    return found


@pytest.fixture
def amended(repo: Repo) -> Repo:
    repo.commit(
        "old", {"memory/2026-03-02.md": log("2026-03-02", OLD, "- lunch was good")}, date="2026-03-02T12:00:00Z"
    )
    repo.commit("new", {"memory/2026-04-20.md": log("2026-04-20", NEW)}, date="2026-04-20T12:00:00Z")
    return repo


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sessions expire after 30 minutes", "we extended this: sessions expire after 2 hours"),
        ("세션은 30분 뒤에 만료된다", "세션 만료를 30분에서 2시간으로 변경"),
        ("セッションの有効期限は30分とする", "セッションの有効期限を2時間に変更する"),
        ("会话的有效期是30分钟", "会话的有效期改为60分钟"),
    ],
)
def test_a_later_line_that_says_what_changed_amends_the_earlier(old: str, new: str) -> None:
    lines = [line(old, "2026-03-02"), line(new, "2026-04-20", 0.7)]
    assert links(lines, []) == [Link(1, 0, proposed=False)]
    scores = ordered(lines, links(lines, []))
    assert scores[1] > scores[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "We retry webhooks five times with exponential backoff, but never for refunds, since polling costs too much.",
            "From now on we retry webhooks three times instead of five.",
        ),
        ("결제 실패는 5회까지 다시 시도하고 환불은 하지 않는다", "결제 재시도는 5가 아니라 3회"),
    ],
)
def test_a_line_amends_the_one_whose_number_it_replaces_though_they_share_few_words(old: str, new: str) -> None:
    said = [line(old, "2026-05-07"), line(new, "2026-06-20", 0.9)]
    said += [line(f"webhooks of shop {number} failed five times", "2026-03-01", 0.5) for number in range(8)]
    assert links(said, []) == [Link(1, 0, proposed=False)]


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("house wine by the glass sells at 6.50", "house wine by the glass: 7.20", True),
        ("김포 센터 도크는 12번까지 쓴다", "김포 센터 도크는 8번까지만 쓴다", True),
        ("parking permits cost 40 a month for cars", "parking permits cost 5 a month for bicycles", False),
        ("the dishwasher's filter is cleaned on Wednesdays", "the oven's filter is cleaned on Saturdays", False),
        ("김포 센터 도크는 12번까지 쓴다", "이천 센터 도크는 8번까지 쓴다", False),
    ],
)
def test_another_value_of_the_same_thing_marks_the_earlier_line_and_one_of_another_thing_does_not(
    old: str, new: str, shown: bool
) -> None:
    made = links([line(old, "2026-05-07"), line(new, "2026-06-20")], [])
    assert [link.shown for link in made if link.shown] == [True] * shown


def test_a_number_of_another_quantity_is_not_the_one_that_is_replaced() -> None:
    old = line("the nightly backup of the ledger runs five workers and is retried two times", "2026-05-07")
    new = line("invoices of the shop are now retried three times, not in batches of five", "2026-06-20", 0.9)
    assert not [link for link in links([old, new], words_of("how often is the backup retried")) if link.shown]


def test_turns_of_a_talk_need_more_in_common_than_statements() -> None:
    old, new = "Caroline: we hike the ridge trail every week", "Melanie: last week we hiked a trail by the lake"
    asked = words_of("which trail does Caroline hike")
    turns = [line(old, "2026-05-07"), line(new, "2026-06-20", 0.9)]
    stated = [one._replace(text=one.text.partition(": ")[2]) for one in turns]
    assert links(stated, asked) and not links(turns, asked)


def test_a_later_line_on_the_subject_of_the_question_comes_first_though_its_verb_is_another() -> None:
    old = line("Ingrid keeps the livestock register.", "2026-03-05")
    new = line("Per took the livestock register over from Ingrid while she is on leave.", "2026-05-25", 0.7)
    assert links([old, new], words_of("Who keeps the livestock register?")) == [Link(1, 0, proposed=False, shown=False)]


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "children's visits last 20 minutes",
            "travel visits last 30 minutes",
            "how long does a children's visit last?",
        ),
        ("iOSアプリの対応は15以上。", "Androidアプリの対応は11以上とする。", "iOSアプリは何から対応していますか"),
        ("permits cost 40 a month for cars", "permits cost 5 a month for bikes", "what does a permit for a car cost?"),
    ],
)
def test_the_word_of_the_question_is_found_in_any_spelling_where_another_stands_in_its_place(
    old: str, new: str, question: str
) -> None:
    assert links([line(old, "2026-03-02"), line(new, "2026-04-20", 0.9)], words_of(question)) == []


def test_a_later_line_on_the_matter_comes_first_and_marks_nothing_where_it_says_of_no_change() -> None:
    old = line("statistics are done in SPSS", "2026-02-25", vector=lambda: (1.0,))
    new = line("the second cohort has scripts for its statistics", "2026-03-12", 0.8, vector=lambda: (1.0,))
    assert links([old, new], []) == [Link(1, 0, proposed=False, shown=False)]
    assert links([old, new._replace(score=SCORE / 2)], []) == []


def test_of_one_day_the_line_of_a_later_time_amends_where_it_says_that_something_changed() -> None:
    old, new = line(OLD, "2026-03-02", time="09:10"), line(NEW, "2026-03-02", time="16:40")
    assert links([old, new], words_of("when do webhook retries stop")) == [Link(1, 0, proposed=False)]
    assert not links([old, line(NEW, "2026-03-02", time="09:10")], [])
    assert not links([old, line(NEW, "2026-03-02")], []) and not links([line(OLD, "2026-03-02"), new], [])
    assert not links([old, line("- webhook retries stop after 7 days", "2026-03-02", time="16:40")], [])


def test_a_decision_of_the_afternoon_comes_before_that_of_the_morning(repo: Repo) -> None:
    day = log("2026-03-02", OLD, "- lunch was good") + "\n## 16:40 - notes\n\n" + NEW + "\n"
    repo.commit("log", {"memory/2026-03-02.md": day}, date="2026-03-02T18:00:00Z")
    first, *others = hits(repo, "when do webhook retries stop")
    assert "7 days" in first["text"] and first["supersedes"][0]["start_line"] == 5
    assert any(hit["amended_by"] for hit in others if hit["start_line"] == 5)


def test_an_earlier_line_amends_nothing() -> None:
    assert not [link for link in links([line(OLD, "2026-04-20"), line(NEW, "2026-03-02")], []) if link.new == 1]


def test_a_line_on_another_matter_amends_nothing() -> None:
    lines = [line(OLD, "2026-03-02"), line("- the printer was replaced by a new one", "2026-04-20")]
    assert links(lines, []) == []


def test_a_line_that_hardly_answers_amends_nothing() -> None:
    assert links([line(OLD, "2026-03-02"), line(NEW, "2026-04-20", SCORE / 2)], []) == []


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "spawn cap on the beach map is 40",
            "spawn cap on the harbour map lowered to 24",
            "spawn cap on the beach map?",
        ),
        ("번역 태스크의 배치 크기는 256", "요약 태스크의 배치 크기를 64로 변경", "번역 태스크 배치 크기?"),
        ("上海仓库的盘点在每月5号", "广州仓库的盘点改为每月20号", "上海仓库几号盘点？"),
    ],
)
def test_the_same_said_of_another_thing_amends_nothing(old: str, new: str, question: str) -> None:
    lines = [line(old, "2026-03-02"), line(new, "2026-04-20", 0.9)]
    assert links(lines, words_of(question)) == [] == links(lines, [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The staging database keeps backups for 30 days.", "The production database now keeps backups for 14 days."),
        ("invoices are kept for 10 years", "contracts are kept for 6 years instead"),
        ("서울 창고의 재고 조사는 5일마다 한다", "부산 창고의 재고 조사는 이제 7일마다 한다"),
        ("東京倉庫の棚卸しは5日ごとに行う", "大阪倉庫の棚卸しは7日ごとに変更した"),
        ("上海仓库每5天盘点一次", "广州仓库改为每7天盘点一次"),
    ],
)
@pytest.mark.parametrize("question", ["", "how often?", "재고 조사", "棚卸し", "盘点", "kept for how many days"])
def test_in_a_tiny_memory_the_same_said_of_another_thing_marks_nothing(old: str, new: str, question: str) -> None:
    assert links([line(old, "2026-03-02"), line(new, "2026-04-20", 0.9)], words_of(question)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The staging database keeps backups for 30 days.", "The staging database now keeps backups for 14 days."),
        ("invoices are kept for 10 years", "invoices are kept for 6 years instead"),
        ("서울 창고의 재고 조사는 5일마다 한다", "서울 창고의 재고 조사는 이제 7일마다 한다"),
        ("東京倉庫の棚卸しは5日ごとに行う", "東京倉庫の棚卸しは7日ごとに変更した"),
        ("上海仓库每5天盘点一次", "上海仓库改为每7天盘点一次"),
        ("数据库备份每周一次，保留一个月。", "数据库备份改成每天一次，保留三个月。"),
        ("the team meets on Tuesday at 10:00", "the team meets on Thursday at 14:00 from now on"),
    ],
)
def test_in_a_tiny_memory_another_number_of_the_same_thing_amends(old: str, new: str) -> None:
    assert links([line(old, "2026-03-02"), line(new, "2026-04-20", 0.9)], []) == [Link(1, 0, proposed=False)]


def test_of_several_amendments_the_last_is_first() -> None:
    lines = [
        line(OLD, "2026-03-02"),
        line("- webhook retries are reduced from 7 days to 3 days", "2026-05-01", 0.6),
        line(NEW, "2026-04-20", 0.8),
    ]
    scores = ordered(lines, links(lines, []))
    assert scores[1] > scores[2] > scores[0]


@pytest.mark.parametrize(
    ("new", "proposed"),
    [
        (line(NEW, "2026-04-20", 0.8), True),
        (line(NEW, "2026-04-20", 0.8, reviewed=True), False),
        (line(NEW, "2026-04-20", 0.8, reviewed=True, origin="web"), True),
    ],
)
def test_a_reviewed_fact_is_only_amended_by_a_reviewed_one_of_no_worse_origin(new: Line, proposed: bool) -> None:
    lines = [line(OLD, "2026-03-02", reviewed=True, origin="user"), new]
    found = links(lines, [])
    assert found == [Link(1, 0, proposed)]
    scores = ordered(lines, found)
    assert (scores[1] < scores[0]) is proposed and scores[1] >= new.score


def test_a_chain_of_links_brings_nothing_before_the_reviewed_fact_it_may_only_propose_to_amend() -> None:
    lines = [
        line(OLD, "2026-03-01", reviewed=True, origin="user"),
        *(line(NEW, f"2026-04-0{day}", 0.7 - day / 100, origin="web") for day in (1, 2, 3)),
        line(NEW, "2026-05-01", 0.5, reviewed=True, origin="user"),
    ]
    chain = [Link(1, 0, proposed=True), Link(2, 1, proposed=False), Link(3, 2, proposed=False)]
    for found in (chain, [*chain, Link(2, 0, proposed=True), Link(3, 0, proposed=True)]):
        scores = ordered(lines, found)
        assert scores[0] > scores[3] > scores[2] > scores[1] > 0.9
    assert ordered(lines, [*chain, Link(4, 3, proposed=False)])[4] == max(ordered(lines, chain)[1:]) + STEP
    risen = ordered(lines, [*chain, Link(3, 4, proposed=True), Link(4, 0, proposed=False)])
    assert risen[4] > risen[0] > risen[3] > risen[2] > risen[1]


def test_what_answers_better_by_itself_is_held_back_by_no_proposal() -> None:
    lines = [line(OLD, "2026-03-01", 0.5, reviewed=True), line(NEW, "2026-04-01", 0.6), line(NEW, "2026-04-02", 0.4)]
    scores = ordered(lines, [Link(1, 0, proposed=True), Link(2, 1, proposed=False)])
    assert scores[1] == 0.6 > scores[0] > scores[2]


def test_logs_of_the_web_climb_over_no_reviewed_fact(repo: Repo) -> None:
    fact = "- The release branch is cut every Tuesday at noon. <!-- mem from=2026-03-01 origin=user -->\n"
    heard = (
        "- Kim heard on a call about the vendor portal that the release branch moved, no longer cut when said, "
        "now every {}. <!-- mem origin=web -->"
    )
    days = zip(("2026-04-01", "2026-04-02", "2026-04-03"), ("Friday", "Sunday", "Monday"), strict=True)
    repo.commit("m", {"MEMORY.md": fact, **{f"memory/{day}.md": log(day, heard.format(name)) for day, name in days}})
    assert hits(repo, "when is the release branch cut")[0]["path"] == "MEMORY.md"


def test_text_of_the_web_demotes_nothing_that_a_person_said() -> None:
    lines = [line(OLD, "2026-03-02", origin="user"), line(NEW, "2026-04-20", 0.8, origin="web")]
    assert links(lines, []) == [Link(1, 0, proposed=True)]


def test_what_a_person_decided_takes_the_place_of_what_is_computed() -> None:
    other = line("- lunch is at noon", "2026-03-01", 0.1)
    by_hand = line(NEW, "2026-04-20", 0.8, named=frozenset([2]))
    assert links([line(OLD, "2026-03-02"), by_hand, other], []) == [Link(1, 2, proposed=False)]
    nothing = line(NEW, "2026-04-20", 0.8, named=frozenset())
    assert links([line(OLD, "2026-03-02"), nothing], []) == []


@pytest.mark.parametrize(("named", "amended"), [(fact_id(OLD), True), ("nothing", False)])
def test_a_comment_says_what_its_line_amends(repo: Repo, named: str, amended: bool) -> None:
    new = f"{NEW} <!-- mem supersedes={named} -->"
    files = {"memory/2026-03-02.md": log("2026-03-02", OLD, "- lunch"), "memory/2026-04-20.md": log("2026-04-20", new)}
    repo.commit("by hand", files)
    (old,) = [hit for hit in hits(repo, "webhook retries stop after days") if OLD in hit["text"]]
    assert ("amended_by" in old) is amended


def test_a_question_of_when_something_happened_wants_each_of_its_days() -> None:
    lines = [
        line("- Ann went to the beach with 2 kids", "2026-03-02"),
        line("- Ann went to the beach with 3 kids", "2026-04-20"),
    ]
    assert of_an_event("When did Ann go to the beach?") and not of_an_event("When is the beach open?")
    assert links(lines, [], when=True) == [] and links(lines, [])


def test_the_amendment_comes_first_and_both_say_so(amended: Repo) -> None:
    new, old = hits(amended, "after how many days do webhook retries stop?")[:2]
    assert NEW in new["text"] and OLD in old["text"]
    (later,) = old["amended_by"]
    assert (later["path"], later["start_line"], later["date"]) == ("memory/2026-04-20.md", 5, "2026-04-20")
    assert later["id"] == fact_id(NEW) and later["proposed"] is False
    assert [linked["path"] for linked in new["supersedes"]] == ["memory/2026-03-02.md"]
    shown = amended.mem("search", "after how many days do webhook retries stop?").stdout
    assert "until 2026-04-20: amended by memory/2026-04-20.md:5" in shown


def test_why_says_what_amends_a_line_and_for_what_reason(amended: Repo) -> None:
    old = json.loads(amended.mem("why", "memory/2026-03-02.md:5", "--json").stdout)
    (end,) = old["amended_by"]
    assert (end["path"], end["start_line"], end["date"]) == ("memory/2026-04-20.md", 5, "2026-04-20")
    assert end["text"] == NEW and end["reason"] == "it says that something changed" and old["supersedes"] == []
    new = json.loads(amended.mem("why", "memory/2026-04-20.md:5", "--json").stdout)
    assert [end["text"] for end in new["supersedes"]] == [OLD] and new["amended_by"] == []
    said = amended.mem("why", "memory/2026-03-02.md:5").stdout
    assert "amended by memory/2026-04-20.md:5" in said and "it says that something changed" in said and "7 days" in said


def test_why_of_a_long_line_knows_the_short_one_that_amends_it(repo: Repo) -> None:
    old = (
        "- We retry webhooks five times with exponential backoff, but never for refunds. Polling costs too many "
        "requests, we rejected that last year."
    )
    new = "- From now on we retry webhooks three times instead of five."
    other = "- The mail queue now retries three times instead of five."
    files = {
        "memory/2026-05-07.md": log("2026-05-07", old),
        "memory/2026-06-19.md": log("2026-06-19", other),
        "memory/2026-06-20.md": log("2026-06-20", new),
    }
    repo.commit("logs", files)
    (end,) = json.loads(repo.mem("why", "memory/2026-05-07.md:5", "--json").stdout)["amended_by"]
    assert (end["path"], end["start_line"], end["text"]) == ("memory/2026-06-20.md", 5, new)


def test_why_knows_no_link_that_a_person_denied_and_none_at_an_earlier_commit(amended: Repo) -> None:
    early = amended.git("rev-parse", "HEAD~1").strip()
    before = json.loads(amended.mem("why", "memory/2026-03-02.md:5", "--at", early, "--json").stdout)
    assert before["amended_by"] == []
    amended.write("memory/2026-04-20.md", log("2026-04-20", f"{NEW} <!-- mem supersedes=nothing -->"))
    assert json.loads(amended.mem("why", "memory/2026-03-02.md:5", "--json").stdout)["amended_by"] == []


def test_why_shows_a_fact_that_was_replaced_by_hand_and_is_gone(repo: Repo) -> None:
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- Backups are kept for 30 days.\n"}, date="2026-03-02T12:00:00Z")
    repo.mem("edit", "MEMORY.md:3", "Backups are kept for 90 days.", "--supersede", "--reason", "auditors")
    (old,) = json.loads(repo.mem("why", "MEMORY.md:3", "--json").stdout)["supersedes"]
    assert old["text"] == "Backups are kept for 30 days." and old["reason"] == "by hand"
    assert old["commit"] == repo.git("rev-parse", "HEAD~1").strip()
    assert "no longer there since after" in repo.mem("why", "MEMORY.md:3").stdout


def test_a_snapshot_from_before_the_amendment_has_the_old_word_alone(amended: Repo) -> None:
    (hit, *_) = hits(amended, "webhook retries", "--at", "HEAD~1")
    assert OLD in hit["text"] and "amended_by" not in hit


def test_a_question_about_the_past_is_answered_in_its_own_order(amended: Repo) -> None:
    first = hits(amended, "after how many days did webhook retries stop before?")[0]
    assert "amended_by" in first and OLD in first["text"]


def test_a_rebuilt_index_has_the_same_links(amended: Repo) -> None:
    before = hits(amended, "after how many days do webhook retries stop?")
    amended.mem("index", "--full")
    assert hits(amended, "after how many days do webhook retries stop?") == before


def test_a_log_only_proposes_to_amend_a_reviewed_fact(repo: Repo) -> None:
    fact = f"{OLD} <!-- mem type=decision from=2026-03-02 -->"
    repo.commit(
        "fact", {"MEMORY.md": f"# Memory\n\n{fact}\n", "memory/2026-04-20.md": log("2026-04-20", NEW, "- lunch")}
    )
    old, new = hits(repo, "after how many days do webhook retries stop?")[:2]
    assert old["path"] == "MEMORY.md" and old["amended_by"][0]["proposed"] is True
    assert NEW in new["text"]
    assert "perhaps amended by memory/2026-04-20.md:5" in repo.mem("search", "webhook retries stop").stdout


def test_a_fact_in_no_commit_only_proposes_to_amend_a_reviewed_one(repo: Repo) -> None:
    def fact(text: str, day: str) -> str:
        return f"{text} <!-- mem type=decision from={day} -->\n"

    text = "# Memory\n\n" + fact(OLD, "2026-03-02")
    repo.commit("fact", {"MEMORY.md": text})
    repo.write("MEMORY.md", text + fact(NEW, "2026-04-20"))
    assert hits(repo, "webhook retries stop")[0]["amended_by"][0]["proposed"] is True
    repo.commit("reviewed", {"MEMORY.md": text + fact(NEW, "2026-04-20")})
    new, old = hits(repo, "webhook retries stop")[:2]
    assert NEW in new["text"] and old["amended_by"][0]["proposed"] is False


def test_of_an_episode_the_log_line_answers_for_what_it_repeats(repo: Repo, tmp_path: Path) -> None:
    said = "- webhook retries stop after 35 days. Stripe gives up after 30"
    repo.commit(
        "session",
        {
            "memory/2026-03-02.md": log("2026-03-02", f"{said} <!-- mem type=decision session=s1 -->"),
            "memory/sessions/2026-03-02-webhook.md": "---\ntype: episode\nsession: s1\n---\n# Session of 2026-03-02\n\n"
            "## Summary\n\n- how long do webhook retries run?\n- webhook retries stop after 35 days.\n\n"
            f"## Decisions\n\n{said}\n\n## Topics\n\nwebhook, retries, days\n",
        },
    )
    found = hits(repo, "after how many days do webhook retries stop?")
    assert found[0]["path"] == "memory/2026-03-02.md"
    assert not any("## Topics" in hit["heading"] or hit["heading"].endswith("Topics") for hit in found)
    assert sum(said in hit["text"] for hit in found) == 1


def test_a_context_says_until_when_an_amended_line_held(amended: Repo) -> None:
    text = amended.mem("context", "after how many days do webhook retries stop?").stdout
    assert f"until 2026-04-20: {OLD.removeprefix('- ')}" in text and f"\n{NEW}" in text
