"""The newest word on a matter comes first, and the older one says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitmem.memory.fact import fact_id
from gitmem.memory.relation import Said, relation
from gitmem.search.amendments import (
    MIN_SCORE_SHARE,
    STEP,
    Line,
    Link,
    find_links,
    reordered_scores,
)
from tests.harness import Repo

OLD = "- the request timeout of the proxy is 45 seconds"
NEW = "- the request timeout of the proxy is now 30 seconds instead of 45 seconds"


def line(text: str, day: str, score: float = 1.0, **more: Any) -> Line:
    said = text.removeprefix("- ")
    return Line(text, day, score, statement=lambda: (said, ("notes",)), **more)


def linked(lines: list[Line]) -> list[tuple[int, int, bool]]:
    """(later, earlier, proposed) of each link."""
    return [(link.new, link.old, link.proposed) for link in find_links(lines)]


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
        ("sessions expire after 30 minutes", "sessions now expire after 2 hours instead of 30 minutes"),
        ("세션은 30분 뒤에 만료된다", "세션 만료를 30분에서 2시간으로 변경"),
        ("セッションの有効期限は30分とする", "セッションの有効期限を30分から2時間に変更する"),
        ("会话的有效期是30分钟", "会话的有效期从30分钟改为60分钟"),
    ],
)
def test_a_later_line_that_gives_the_thing_another_value_comes_before_the_earlier(old: str, new: str) -> None:
    lines = [line(old, "2026-03-02"), line(new, "2026-04-20", 0.7)]
    (link,) = find_links(lines)
    assert (link.new, link.old, link.proposed) == (1, 0, False) and link.asks and link.reason
    scores = reordered_scores(lines, [link])
    assert scores[1] > scores[0]


def test_a_link_marks_where_it_is_nearly_sure_and_doubts_where_a_person_should_be_asked() -> None:
    sure, asked = Link(1, 0, False, replaced_probability=0.9), Link(1, 0, False, replaced_probability=0.3)
    assert (sure.marked, sure.doubtful, asked.marked, asked.doubtful) == (True, False, False, True)
    assert not Link(1, 0, False, replaced_probability=0.1, asks=False).doubtful


def test_a_link_doubts_only_what_settle_would_ask_about() -> None:
    old, new = "The builder has 30 images in its cache.", "32 images were copied, in 30 minutes, to the new builder."
    for link in find_links([line(old, "2026-05-07"), line(new, "2026-06-20", 0.9)]):
        assert link.asks is relation(Said(old, (), "2026-05-07"), Said(new, (), "2026-06-20")).asks


def test_a_topic_before_facts_of_memory_is_no_speaker_of_a_talk() -> None:
    facts = [
        line("infra: 배포는 화요일에 한다.", "2026-11-10", reviewed=True),
        line("infra: 배포는 목요일에 한다.", "2026-11-20", 0.9, reviewed=True),
    ]
    (link,) = find_links(facts)
    assert link.doubtful


def test_turns_of_a_talk_need_more_in_common_than_statements() -> None:
    old, new = "the request limit is 40 a minute", "the request limit was raised from 40 to 60 a minute"
    stated = [line(old, "2026-05-07"), line(new, "2026-06-20", 0.9)]
    told = [line(f"Caroline: {old}", "2026-05-07"), line(f"Melanie: {new}", "2026-06-20", 0.9)]
    assert find_links(stated)
    assert all(link.asks for link in find_links(told))


def test_a_line_with_the_same_label_that_names_the_old_value_needs_no_more_than_a_statement() -> None:
    old, new = "We decided that the deposit is 40 euro.", "We decided that the deposit is 60 euro instead of 40."
    for label in ("boat hire", "Ann"):
        lines = [line(f"{label}: {old}", "2026-03-01"), line(f"{label}: {new}", "2026-05-01", 0.9)]
        (link,) = find_links(lines)
        assert link.doubtful and reordered_scores(lines, [link])[1] > 1
    without = new.replace(" instead of 40", "")
    assert not find_links([line(f"Ann: {old}", "2026-03-01"), line(f"Bob: {new}", "2026-05-01")])
    assert not find_links([line(f"Ann: {old}", "2026-03-01"), line(f"Ann: {without}", "2026-05-01")])


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("where does the club meet", "The club meets in the barn.", "The club now meets in the chapel instead of the barn."),
        ("deposit of the boat", "boat hire: We decided that the deposit is 40 euro.",
         "boat hire: We decided that the deposit is 60 euro instead of 40."),
        ("동아리는 어디서 모여?", "동아리는 창고에서 모인다.", "동아리는 이제 창고 대신 예배당에서 모인다."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("heading", ["", "## Club\n\n"])
def test_in_a_memory_of_two_lines_the_change_comes_first_and_the_earlier_line_is_marked(
    repo: Repo, query: str, old: str, new: str, heading: str
) -> None:
    logs = {"2026-03-01": old, "2026-05-01": new}
    repo.commit("logs", {f"memory/{day}.md": f"# {day}\n\n{heading}- {text}\n" for day, text in logs.items()})
    first, second = hits(repo, query)
    assert new in first["text"] and old in second["text"]
    assert [one["path"] for one in second.get("differs") or second["amended_by"]] == ["memory/2026-05-01.md"]


def test_of_one_day_the_line_of_a_later_time_or_further_below_in_its_log_is_the_later() -> None:
    old, new = line(OLD, "2026-03-02", time="09:10"), line(NEW, "2026-03-02", time="16:40")
    assert linked([old, new]) == [(1, 0, False)]
    assert not linked([old, line(NEW, "2026-03-02", time="09:10")]) and not linked([old, line(NEW, "2026-03-02")])
    one, other = line(OLD, "2026-03-02", place=("memory/2026-03-02.md", 5)), line(NEW, "2026-03-02")
    assert linked([one, other._replace(place=("memory/2026-03-02.md", 6))]) == [(1, 0, False)]
    assert not linked([one, other._replace(place=("memory/2026-03-02.md", 6), reviewed=True)])


def test_a_decision_of_the_afternoon_comes_before_that_of_the_morning(repo: Repo) -> None:
    day = log("2026-03-02", OLD, "- lunch was good") + "\n## 16:40 - notes\n\n" + NEW + "\n"
    repo.commit("log", {"memory/2026-03-02.md": day}, date="2026-03-02T18:00:00Z")
    first, *others = hits(repo, "request timeout of the proxy")
    assert "30 seconds" in first["text"] and first["supersedes"][0]["start_line"] == 5
    assert any(hit["amended_by"] for hit in others if hit["start_line"] == 5)


def test_the_nearest_heading_with_a_time_dates_a_line_of_a_log_without_a_title(repo: Repo) -> None:
    one = f"## 16:40 - notes\n\n{NEW}\n"
    other = f"## 10:00 - notes\n\n### 10:30 - proxy\n\n{OLD}\n- lunch was good\n"
    repo.commit("logs", {"memory/2026-03-02.ann.md": one, "memory/2026-03-02.bob.md": other}, "2026-03-02T18:00:00Z")
    first, *_ = hits(repo, "request timeout of the proxy")
    assert "30 seconds" in first["text"] and first["supersedes"][0]["path"] == "memory/2026-03-02.bob.md"


def test_an_earlier_line_amends_nothing() -> None:
    assert not [link for link in find_links([line(OLD, "2026-04-20"), line(NEW, "2026-03-02")]) if link.new == 1]


def test_a_line_on_another_matter_amends_nothing() -> None:
    lines = [line(OLD, "2026-03-02"), line("- the printer was replaced by a new one", "2026-04-20")]
    assert find_links(lines) == []


def test_a_line_that_hardly_answers_amends_nothing() -> None:
    assert find_links([line(OLD, "2026-03-02"), line(NEW, "2026-04-20", MIN_SCORE_SHARE / 2)]) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Patient 12 is allergic to penicillin.", "Patient 13 is allergic to latex."),
        ("Room A12 seats 30 people.", "Room A14 seats 40 people."),
        ("invoices are kept for 10 years", "contracts are kept for 6 years"),
        ("환자 12번은 페니실린 알레르기가 있다", "환자 13번은 라텍스 알레르기가 있다"),
        ("계약 4711의 담당자는 수진이다", "계약 4712의 담당자는 민호이다"),
    ],
)
def test_the_same_said_of_another_thing_marks_nothing(old: str, new: str) -> None:
    assert not [link for link in find_links([line(old, "2026-03-02"), line(new, "2026-04-20", 0.9)]) if link.marked]


def test_of_several_amendments_the_last_is_first() -> None:
    lines = [
        line(OLD, "2026-03-02"),
        line("- the request timeout of the proxy is now 20 seconds instead of 30 seconds", "2026-05-01", 0.6),
        line(NEW, "2026-04-20", 0.8),
    ]
    scores = reordered_scores(lines, find_links(lines))
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
    found = find_links(lines)
    assert [(link.new, link.old, link.proposed) for link in found] == [(1, 0, proposed)]
    scores = reordered_scores(lines, found)
    assert (scores[1] < scores[0]) is proposed and scores[1] >= new.score


def test_a_chain_of_links_brings_nothing_before_the_reviewed_fact_it_may_only_propose_to_amend() -> None:
    lines = [
        line(OLD, "2026-03-01", reviewed=True, origin="user"),
        *(line(NEW, f"2026-04-0{day}", 0.7 - day / 100, origin="web") for day in (1, 2, 3)),
        line(NEW, "2026-05-01", 0.5, reviewed=True, origin="user"),
    ]
    chain = [Link(1, 0, proposed=True), Link(2, 1, proposed=False), Link(3, 2, proposed=False)]
    for found in (chain, [*chain, Link(2, 0, proposed=True), Link(3, 0, proposed=True)]):
        scores = reordered_scores(lines, found)
        assert scores[0] > scores[3] > scores[2] > scores[1] > 0.9
    assert (
        reordered_scores(lines, [*chain, Link(4, 3, proposed=False)])[4]
        == max(reordered_scores(lines, chain)[1:]) + STEP
    )
    risen = reordered_scores(lines, [*chain, Link(3, 4, proposed=True), Link(4, 0, proposed=False)])
    assert risen[4] > risen[0] > risen[3] > risen[2] > risen[1]


def test_what_answers_better_by_itself_is_held_back_by_no_proposal() -> None:
    lines = [line(OLD, "2026-03-01", 0.5, reviewed=True), line(NEW, "2026-04-01", 0.6), line(NEW, "2026-04-02", 0.4)]
    scores = reordered_scores(lines, [Link(1, 0, proposed=True), Link(2, 1, proposed=False)])
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
    assert linked(lines) == [(1, 0, True)]


def test_what_a_person_decided_takes_the_place_of_what_is_computed() -> None:
    other = line("- lunch is at noon", "2026-03-01", 0.1)
    by_hand = line(NEW, "2026-04-20", 0.8, replaces_by_hand=frozenset([2]))
    assert linked([line(OLD, "2026-03-02"), by_hand, other]) == [(1, 2, False)]
    nothing = line(NEW, "2026-04-20", 0.8, replaces_by_hand=frozenset())
    assert find_links([line(OLD, "2026-03-02"), nothing]) == []


@pytest.mark.parametrize(("named", "amended"), [(fact_id(OLD), True), ("nothing", False)])
def test_a_comment_says_what_its_line_amends(repo: Repo, named: str, amended: bool) -> None:
    new = f"{NEW} <!-- mem supersedes={named} -->"
    files = {"memory/2026-03-02.md": log("2026-03-02", OLD, "- lunch"), "memory/2026-04-20.md": log("2026-04-20", new)}
    repo.commit("by hand", files)
    (old,) = [hit for hit in hits(repo, "request timeout of the proxy in seconds") if OLD in hit["text"]]
    assert ("amended_by" in old) is amended


def test_the_amendment_comes_first_and_both_say_so(amended: Repo) -> None:
    new, old = hits(amended, "what is the request timeout of the proxy?")[:2]
    assert NEW in new["text"] and OLD in old["text"]
    (later,) = old["amended_by"]
    assert (later["path"], later["start_line"], later["date"]) == ("memory/2026-04-20.md", 5, "2026-04-20")
    assert later["id"] == fact_id(NEW) and later["proposed"] is False
    assert [linked["path"] for linked in new["supersedes"]] == ["memory/2026-03-02.md"]
    shown = amended.mem("search", "what is the request timeout of the proxy?").stdout
    assert "until 2026-04-20: amended by memory/2026-04-20.md:5" in shown


def test_why_says_what_amends_a_line_and_for_what_reason(amended: Repo) -> None:
    old = json.loads(amended.mem("why", "memory/2026-03-02.md:5", "--json").stdout)
    (end,) = old["amended_by"]
    assert (end["path"], end["start_line"], end["date"]) == ("memory/2026-04-20.md", 5, "2026-04-20")
    assert end["text"] == NEW and "timeout" in end["reason"] and old["supersedes"] == []
    new = json.loads(amended.mem("why", "memory/2026-04-20.md:5", "--json").stdout)
    assert [end["text"] for end in new["supersedes"]] == [OLD] and new["amended_by"] == []
    said = amended.mem("why", "memory/2026-03-02.md:5").stdout
    assert "amended by memory/2026-04-20.md:5" in said and "30 seconds" in said


def test_why_knows_no_link_that_a_person_denied_and_none_at_an_earlier_commit(amended: Repo) -> None:
    early = amended.git("rev-parse", "HEAD~1").strip()
    before = json.loads(amended.mem("why", "memory/2026-03-02.md:5", "--at", early, "--json").stdout)
    assert before["amended_by"] == []
    amended.write("memory/2026-04-20.md", log("2026-04-20", f"{NEW} <!-- mem supersedes=nothing -->"))
    assert json.loads(amended.mem("why", "memory/2026-03-02.md:5", "--json").stdout)["amended_by"] == []


def test_lines_that_a_person_said_both_hold_are_no_later_word_of_each_other(amended: Repo) -> None:
    amended.write("memory/2026-04-20.md", log("2026-04-20", f"{NEW} <!-- mem beside={fact_id(OLD)} -->"))
    found = json.loads(amended.mem("search", "what is the request timeout of the proxy?", "--json").stdout)
    assert not [hit for hit in found["hits"] if hit.get("amended_by")]
    assert "amended" not in amended.mem("search", "what is the request timeout of the proxy?").stdout


def test_why_shows_a_fact_that_edit_replaced_in_the_archive(repo: Repo) -> None:
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- Backups are kept for 30 days.\n"}, date="2026-03-02T12:00:00Z")
    repo.mem("edit", "MEMORY.md:3", "Backups are kept for 90 days.", "--supersede", "--reason", "auditors")
    (old,) = json.loads(repo.mem("why", "MEMORY.md:3", "--json").stdout)["supersedes"]
    assert old["path"].startswith("memory/archive/") and "Backups are kept for 30 days." in old["text"]


def test_why_shows_a_fact_that_was_replaced_by_hand_and_is_gone(repo: Repo) -> None:
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- Backups are kept for 30 days.\n"}, date="2026-03-02T12:00:00Z")
    named = f"supersedes={fact_id('Backups are kept for 30 days.')}"
    repo.commit("by hand", {"MEMORY.md": f"# Memory\n\n- Backups are kept for 90 days. <!-- mem {named} -->\n"})
    (old,) = json.loads(repo.mem("why", "MEMORY.md:3", "--json").stdout)["supersedes"]
    assert old["text"] == "Backups are kept for 30 days." and old["reason"] == "by Test <test@example.com>"
    assert old["commit"] == repo.git("rev-parse", "HEAD~1").strip()
    assert "no longer there since after" in repo.mem("why", "MEMORY.md:3").stdout


def test_a_snapshot_from_before_the_amendment_has_the_old_word_alone(amended: Repo) -> None:
    (hit, *_) = hits(amended, "request timeout", "--at", "HEAD~1")
    assert OLD in hit["text"] and "amended_by" not in hit


def test_a_question_about_the_past_is_answered_in_its_own_order(amended: Repo) -> None:
    first = hits(amended, "what was the request timeout of the proxy before?")[0]
    assert "amended_by" in first and OLD in first["text"]


def test_a_rebuilt_index_has_the_same_links(amended: Repo) -> None:
    before = hits(amended, "what is the request timeout of the proxy?")
    amended.mem("index", "--full")
    assert hits(amended, "what is the request timeout of the proxy?") == before


def test_a_log_only_proposes_to_amend_a_reviewed_fact(repo: Repo) -> None:
    fact = f"{OLD} <!-- mem type=decision from=2026-03-02 -->"
    repo.commit(
        "fact", {"MEMORY.md": f"# Memory\n\n{fact}\n", "memory/2026-04-20.md": log("2026-04-20", NEW, "- lunch")}
    )
    old, new = hits(repo, "what is the request timeout of the proxy?")[:2]
    assert old["path"] == "MEMORY.md" and old["amended_by"][0]["proposed"] is True
    assert NEW in new["text"]
    assert "perhaps amended by memory/2026-04-20.md:5" in repo.mem("search", "request timeout of the proxy").stdout


def test_a_fact_in_no_commit_only_proposes_to_amend_a_reviewed_one(repo: Repo) -> None:
    def fact(text: str, day: str) -> str:
        return f"{text} <!-- mem type=decision from={day} -->\n"

    text = "# Memory\n\n" + fact(OLD, "2026-03-02")
    repo.commit("fact", {"MEMORY.md": text})
    repo.write("MEMORY.md", text + fact(NEW, "2026-04-20"))
    assert hits(repo, "request timeout of the proxy")[0]["amended_by"][0]["proposed"] is True
    repo.commit("reviewed", {"MEMORY.md": text + fact(NEW, "2026-04-20")})
    new, old = hits(repo, "request timeout of the proxy")[:2]
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
    text = amended.mem("context", "what is the request timeout of the proxy?").stdout
    assert f"until 2026-04-20: {OLD.removeprefix('- ')}" in text and f"\n{NEW}" in text


def test_of_two_facts_of_no_day_the_one_that_was_committed_later_is_the_later_word(repo: Repo) -> None:
    def memory(*lines: str) -> dict[str, str | bytes]:
        return {"MEMORY.md": "\n".join(["# Memory", "", "## Decisions", "", *lines]) + "\n"}

    repo.commit("old", memory(OLD), date="2026-03-02T12:00:00Z")
    repo.commit("new", memory(NEW, OLD), date="2026-03-02T16:00:00Z")
    new, old = hits(repo, "what is the request timeout of the proxy?")[:2]
    assert NEW in new["text"] and OLD in old["text"]
    assert old["amended_by"][0]["date"] == "2026-03-02" and new["supersedes"][0]["date"] is None


def test_lines_of_one_commit_and_no_day_are_of_one_time() -> None:
    one, other = (line(text, "", commit_time=lambda: "2026-03-02T12:00:00+00:00") for text in (OLD, NEW))
    assert find_links([one, other]) == []
    dated = line(NEW, "2026-03-02")
    assert find_links([one, dated]) == [] != find_links([one, line(NEW, "2026-03-03")])


def test_no_reason_quotes_a_secret_of_a_line_or_of_what_it_stands_below(repo: Repo) -> None:
    one, two = (
        f"ghp_{letters}1nD5bw" for letters in ("A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5", "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5")
    )
    old, new = (
        f"- the deploy token of the relay is {one}",
        f"- the deploy token of the relay is now {two} instead of {one}",
    )
    below = [f"# {day}\n\n## token {one}\n\n{said}\n" for day, said in (("2026-01-02", OLD), ("2026-02-02", NEW))]
    files = {"memory/2026-01-01.md": log("2026-01-01", old), "memory/2026-02-01.md": log("2026-02-01", new)}
    files |= {"memory/2026-01-02.md": below[0], "memory/2026-02-02.md": below[1]}
    repo.commit("past the gate", files)
    for question in ("what is the deploy token of the relay?", "what is the request timeout of the proxy?"):
        said = repo.mem("search", "--json", question).stdout + repo.mem("search", "--explain", question).stdout
        assert "ghp_" not in said
    told = json.loads(repo.mem("why", "memory/2026-02-01.md:5", "--json").stdout)
    assert "ghp_" not in json.dumps([told["amended_by"], told["supersedes"]])


def test_no_line_says_otherwise_of_another_thing_because_both_have_a_number() -> None:
    old = line("- Painted the hall with three rollers.", "2026-03-02")
    new = line("- the importer waits three minutes instead of five, because five annoys the staff.", "2026-04-20")
    assert find_links([old, new]) == find_links([new, old]) == []


PEANUTS = """# Memory

## Facts

- Dana is no longer allergic to peanuts. <!-- mem from=2026-11-20 -->
- Dana is allergic to peanuts. <!-- mem from=2026-11-10 -->
"""


def test_both_sides_of_a_doubtful_pair_say_so_with_the_others_day_and_no_passage_points_at_itself(repo: Repo) -> None:
    repo.commit("facts", {"MEMORY.md": PEANUTS})
    found = hits(repo, "what is Dana allergic to?")
    sides = {
        (hit["start_line"], hit["end_line"]): [
            (one["start_line"], one["date"], one.get("later", False)) for one in hit["differs"]
        ]
        for hit in found
    }
    assert sides == {(5, 5): [(6, "2026-11-10", False)], (6, 6): [(5, "2026-11-20", True)]}
    text = repo.mem("search", "what is Dana allergic to?").stdout
    assert "an earlier line says otherwise: MEMORY.md:6, 2026-11-10" in text
    assert "a later line says otherwise: MEMORY.md:5, 2026-11-20" in text


def test_a_passage_with_a_line_from_the_web_says_so(repo: Repo) -> None:
    lines = "- The nightly job runs at three.\n- The nightly job copies invoices. <!-- mem origin=web -->\n"
    repo.commit("log", {"memory/2026-03-02.md": log("2026-03-02", *lines.splitlines())})
    (found,) = hits(repo, "when does the nightly job run?")
    assert (found["start_line"], found["end_line"], found["origin"]) == (5, 6, "web")
    assert "from the web" in repo.mem("search", "when does the nightly job run?").stdout
