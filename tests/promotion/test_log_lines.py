"""What of a daily log may be promoted: whole statements and sentences, each with its lines and what it is about."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.git.objects import Span
from gitmem.memory import facts
from gitmem.memory.statements import read
from gitmem.promotion.log_lines import MAX_READ_CHARS, candidates_of, passages_of
from gitmem.promotion.plan import Rules, decide
from gitmem.promotion.proposal import Log, Op, Operation
from gitmem.promotion.rules_model import RulesModel
from gitmem.provenance.cited_text import cited_text
from gitmem.provenance.line_origins import line_origins


def log(text: str) -> Log:
    """A log of these lines, all of them new."""
    lines = tuple(text.split("\n"))
    return Log("memory/2026-03-01.md", "a" * 40, date(2026, 3, 1), lines, frozenset(range(1, len(lines) + 1)))


def offered(text: str) -> list[Operation]:
    """What `rules` proposes of a log."""
    return [made for made in RulesModel().propose([log(text)], []).operations if made.op is not Op.SKIP]


def test_a_wrapped_item_is_one_candidate_and_cites_all_its_lines() -> None:
    (one,) = offered("# 2026-03-01\n\n- We decided that the ferry is painted\n  each spring, by the yard in Hals.\n")
    assert one.text == "We decided that the ferry is painted each spring, by the yard in Hals."
    assert (one.sources[0].start_line, one.sources[0].end_line) == (3, 4)


def test_a_paragraph_is_read_sentence_by_sentence_with_the_lines_of_each() -> None:
    text = (
        "The talk about the new ferry went on for most of the morning and was loud. In\n"
        "the end we decided to paint it each spring, because salt eats the hull. Lunch\n"
        "was late."
    )
    found = candidates_of(log(text))
    assert [(each.number, each.end) for each in found] == [(1, 1), (1, 2), (2, 3)]
    assert [each.text for each in offered(text)] == [
        "In the end we decided to paint it each spring, because salt eats the hull."
    ]


def test_lines_that_each_say_a_thing_are_not_joined() -> None:
    found = candidates_of(log("09:10 walked the dog\n09:30 we decided to sell the old boat\n10:00 rain all day"))
    assert [each.text for each in found] == ["walked the dog", "we decided to sell the old boat", "rain all day"]


def test_lines_that_begin_with_a_sign_are_items() -> None:
    text = "✅ Painted the hull and sent the bill to the yard in Hals\n✅ sold the old boat\n⏳ waiting for the harbour"
    assert [each.number for each in candidates_of(log(text))] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("## 09:00 - round\n\n- Harbour\n  - we decided to open at six\n", "Harbour: we decided to open at six"),
        ("## Ferry Tern\n\n- We decided to use Kevlar ropes\n", "Ferry Tern: We decided to use Kevlar ropes"),
        ("## Ferry Tern\n\n- We decided to paint the Tern ferry\n", "We decided to paint the Tern ferry"),
        ("## 10:00 - ferry\n\n- We decided to buy ropes of Kevlar\n", "We decided to buy ropes of Kevlar"),
        ("## 10:00 - ferry\n\n- We decided to raise the fare to 12\n", "ferry: We decided to raise the fare to 12"),
        ("## 10:00 - 여객선\n\n- 요금은 12로 하기로 결정했다\n", "여객선: 요금은 12로 하기로 결정했다"),
        ("## Key decisions\n\n- We decided to raise the fare to 12\n", "We decided to raise the fare to 12"),
        ("## 오늘의 결정 사항\n\n- 요금은 12로 하기로 결정했다\n", "요금은 12로 하기로 결정했다"),
        ("## 連絡船\n\n- 運賃は12に変更することで合意した\n", "連絡船: 運賃は12に変更することで合意した"),
    ],
)
def test_a_fact_begins_with_its_topic_where_the_text_does_not_say_it(text: str, fact: str) -> None:
    assert [each.text for each in offered(text)] == [fact]


def test_an_origin_is_inherited_from_parents_quotations_and_fences() -> None:
    text = "- from the web <!-- mem origin=web -->\n  - below it\n    wrapped\n- own\n\n> quoted\n\n```\ncode\n```"
    lines = text.splitlines()
    origins = line_origins(read(lines))
    assert len(origins) == len(lines)
    assert [bool(origin) for origin in origins] == [True, True, True, False, False, True, False, True, True, True]


@pytest.mark.parametrize(
    "heading",
    [
        "Heartbeat",
        "Heartbeat — 22:26 ET",
        "Heartbeat Session - 4:35 AM (Europe/Berlin)",
        "22:26 — Heartbeat (5hr gap)",
        "Light Sleep",
        "REM Sleep",
        "Promoted From Short-Term Memory (2026-02-28)",
    ],
)
def test_what_stands_below_a_machines_heading_is_no_source_at_any_depth(heading: str) -> None:
    given = log(f"## {heading}\n\n### Inbox\n\n- We decided to use REST\n")
    assert candidates_of(given) == []
    (left,) = decide([], [given], facts.parse(b""), Rules(date(2026, 3, 1), lambda text: "", limit=20)).refused
    assert (str(left.why), left.operation.sources[0].start_line) == ("machine", 5)
    assert heading.removeprefix("22:26 — ") in left.reason and left.operation.text == "We decided to use REST"


@pytest.mark.parametrize(
    "heading",
    [
        "Cron delivery failure",
        "22:00 크론 점검",
        "Cron",
        "Heartbeat script v2.2",
        "Heartbeat (market)",
        "Key Insights",
        "Weekly digest",
    ],
)
def test_a_heading_about_a_machine_is_a_heading_like_any_other(heading: str) -> None:
    given = log(f"## {heading}\n\n- The backup job must never run while the importer runs\n")
    assert [each.number for each in candidates_of(given)] == [3]
    assert not decide([], [given], facts.parse(b""), Rules(date(2026, 3, 1), lambda text: "", limit=20)).refused


def test_what_lines_say_has_their_headings_and_parents() -> None:
    lines = ["## Round", "- Harbour", "  - open at", "    six", "- Yard"]
    said = cited_text(read(lines), lines, 3, 4)
    assert said.statements == ("open at six",)
    assert said.trail == ("Round", "Harbour")
    assert cited_text(read(lines), lines, 3, 3).statements == ("open at",)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "- what: deploys wait for two approvals\n- why: one person missed a bug\n"
            "- what: the cache is dropped each night\n- why: it grew too large\n",
            [],
        ),
        (
            "- 결정: 배포는 두 명이 승인한 뒤에만 한다\n- 이유: 한 명이 놓친 버그가 있었다\n"
            "- 결정: 캐시는 매일 밤 비운다\n- 이유: 너무 커졌다\n",
            [
                "배포는 두 명이 승인한 뒤에만 한다 (한 명이 놓친 버그가 있었다)",
                "캐시는 매일 밤 비운다 (너무 커졌다)",
            ],
        ),
    ],
)
def test_words_for_kinds_of_lines_are_no_people_who_talk(text: str, facts: list[str]) -> None:
    assert not any(each.speaker for each in candidates_of(log(text)))
    if facts:
        assert [each.text for each in offered(text)] == facts


def test_a_label_within_a_statement_decides() -> None:
    text = "- 버스와 배 중 무엇을 탈지 논의. 결정: 멀미 때문에 버스를 탄다."
    assert [each.text for each in offered(text)] == ["멀미 때문에 버스를 탄다."]
    assert [each.text for each in offered(text[2:])] == ["멀미 때문에 버스를 탄다."]


def test_a_line_that_opens_a_list_is_no_candidate() -> None:
    assert [each.text for each in candidates_of(log("- Rules for the yard:\n  - no smoking\n"))] == ["no smoking"]


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("**Ann chose the Hals ferry** based on:", "**Ann chose the Hals ferry**"),
        ("We agreed to close the yard on Mondays because:", "We agreed to close the yard on Mondays"),
        ("Decision: the yard closes on Mondays:", "the yard closes on Mondays"),
    ],
)
def test_a_decision_before_a_list_is_read_without_what_opens_the_list(line: str, fact: str) -> None:
    assert candidates_of(log(f"{line}\n\n- it is cheaper\n"))[0].text == fact


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("**Decision: hold off.** Ann prefers her own boat", "hold off. Ann prefers her own boat"),
        ("**Decision: no outings in March.**", "no outings in March."),
        ("**Decision:** the **Hals** ferry stays", "the **Hals** ferry stays"),
        ("Decision: all of src/**/*.py is formatted", "all of src/**/*.py is formatted"),
        ("Decision: `src/**` is formatted", "`src/**` is formatted"),
    ],
)
def test_a_label_takes_no_half_of_a_bold_part_with_it(line: str, text: str) -> None:
    assert candidates_of(log(f"- {line}\n"))[0].text == text


def test_a_line_that_a_flush_typed_keeps_its_type() -> None:
    (one,) = offered("- The blue one it is <!-- mem type=decision origin=user session=s-1 -->\n")
    assert (one.type, one.origin) == ("decision", "user")


def test_health_that_somebody_says_of_themselves_is_proposed_pinned_in_a_talk_too() -> None:
    turns = (
        "- Ann: Lovely weather!\n- Bo: I'm allergic to walnuts, by the way.\n"
        "- Ann: Oh!\n- Bo: Yes.\n- Ann: My son has asthma.\n- Bo: Are you vegan?"
    )
    found = offered(turns)
    assert [each.text for each in found] == ["Bo: I'm allergic to walnuts, by the way.", "Ann: My son has asthma."]
    assert all(each.pinned and each.type == "profile" for each in found)


def test_what_is_written_day_after_day_is_routine() -> None:
    line = "- Never run more than {} migrations by hand in production"
    logs = [
        Log(f"memory/2026-03-0{n}.md", "a" * 40, date(2026, 3, n), (line.format(n * 7),), frozenset((1,)))
        for n in range(1, 6)
    ]
    once, daily = (RulesModel().propose(given, []).operations[-1] for given in (logs[:1], logs))
    assert once.op is Op.ADD
    assert daily.op is Op.SKIP or daily.importance < once.importance


def test_a_path_that_comes_again_with_the_same_line_makes_it_no_fact() -> None:
    line = "- **Readings:** {} tide/wind gauges"
    logs = [
        Log(f"memory/2026-03-0{n}.md", "a" * 40, date(2026, 3, n), (line.format(n * 7),), frozenset((1,)))
        for n in range(1, 6)
    ]
    assert {one.op for one in RulesModel().propose(logs, []).operations} == {Op.SKIP}


def test_a_topic_in_front_makes_no_new_fact_and_replaces_none_of_another() -> None:
    lines = "## Ferry Tern\n\n- the fare is 12 crowns a head\n\n## Ferry Lark\n\n- the fare is 15 crowns a head\n"
    given = log(lines)
    operations = [
        Operation(Op.ADD, f"Ferry {name}: the fare is {fare} crowns a head", (Span(given.path, at, at, given.blob),))
        for name, fare, at in (("Tern", 12, 3), ("Lark", 15, 7))
    ]
    rules = Rules(date(2026, 3, 1), lambda text: "", limit=20)
    memory = facts.parse(b"# Memory\n\n## Ferry Tern\n\n- the fare is 12 crowns a head\n")
    assert memory.facts[0].trail
    plan = decide(operations, [given], memory, rules)
    assert [str(each.why) for each in plan.refused] == ["duplicate"]
    assert [(str(each.operation.op), each.operation.text) for each in plan.approved] == [
        ("add", "Ferry Lark: the fare is 15 crowns a head")
    ]


def test_under_a_heading_of_reports_a_line_is_worth_less_and_a_named_decision_is_kept() -> None:
    lines = "- The cache node listens on port 6380\n- Decision: the cache is dropped each night\n"
    reported, stated = offered(f"## Files created\n\n{lines}"), offered(f"## Cache node\n\n{lines}")
    assert len(stated) == 2
    assert "the cache is dropped each night" in [each.text for each in reported]
    assert [each for each in reported if "6380" in each.text and each.importance >= stated[0].importance] == []


def test_a_long_item_is_read_from_its_beginning() -> None:
    text = "- Decision: the archive keeps its backups for 30 days." + " It is the rule of the house." * 400
    assert [each.text for each in offered(text)][:1] == ["the archive keeps its backups for 30 days."]


@pytest.mark.parametrize("before", ["word " * 80, f"see https://a.example/{'a' * 300}", "로그 " * 100])
def test_the_line_after_a_line_that_nobody_wrapped_is_a_piece_of_its_own(before: str) -> None:
    passages = [passage.text for passage in passages_of([before, "We decided that the well is capped."])]
    assert passages[1:] == ["We decided that the well is capped."]


def test_a_long_item_whose_lines_wrap_names_the_line_of_each_sentence() -> None:
    rest = "\n".join(["  It is the rule of the house, as all agreed to it."] * 120)
    text = f"# 2026-03-01\n\n- Decision: the archive keeps its backups for 30 days.\n{rest}\n"
    found = candidates_of(log(text))
    assert found[0].number == 3 and [each.number for each in found[:4]] == [3, 4, 5, 6]
    assert sum(len(each.text) for each in found) <= MAX_READ_CHARS


@pytest.mark.parametrize(
    "stamp", ["[10:03 ET]", "(10:07 UTC)", "10:06 CET -", "[10:05 KST]", "9:30 PM:", "10:11 UTC+9"]
)
def test_a_stamp_with_its_time_zone_is_no_part_of_a_fact(stamp: str) -> None:
    assert [each.text for each in offered(f"- {stamp} Decision: backups run nightly\n")] == ["backups run nightly"]


@pytest.mark.parametrize("heading", ["Decisions Made", "오늘 결정한 것", "今日の動き"])
def test_a_heading_that_names_a_kind_of_line_is_no_topic(heading: str) -> None:
    text = f"## {heading}\n\n- Decision: the docs are built with MkDocs.\n"
    assert [each.text for each in offered(text)] == ["the docs are built with MkDocs."]


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("Office is closed until Thursday.", "2026-03-05"),
        ("Decision: code freeze until Friday.", "2026-03-06"),
        ("신청은 2월 15일까지 받았다", "2026-02-15"),
        ("优惠活动到2月10日为止", "2026-02-10"),
        ("신청은 12월 15일까지 받는다", "2026-12-15"),
    ],
)
def test_a_last_day_is_that_of_the_text(text: str, until: str) -> None:
    (one,) = offered(f"- {text}\n")
    assert one.until == until


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("## A page <!-- mem origin=web -->\n\n- one\n", 3),
        ("## A page <!-- mem origin=web -->\n\n### Part\n\n- one\n", 5),
        ("From the page: <!-- mem origin=web -->\n\n- one\n", 3),
        ("- one <!--mem origin=web-->\n", 1),
        ("- one <!-- MEM Origin=Web -->\n", 1),
    ],
)
def test_an_origin_holds_for_all_below_it_in_any_spelling(log: str, line: int) -> None:
    whole = [*log.splitlines(), "", "## Other", "", "- two"]
    origins = line_origins(read(whole))
    assert origins[line - 1] == "web" and not origins[-1]


def test_lines_with_a_literal_line_break_between_them_are_facts_of_their_own() -> None:
    made = offered(
        "# 2026-03-01\n\n"
        r"- We decided that the ferry is painted each spring\nThe limit is 20 berths.\n- rule: never moor at pier 3 by hand"
        "\n"
    )
    assert [one.text for one in made] == [
        "We decided that the ferry is painted each spring", "The limit is 20 berths.", "never moor at pier 3 by hand",
    ]  # fmt: skip
    assert {one.sources[0].start_line for one in made} == {3}
    written = log(r"- We decided that the ferry is painted each spring\n- rule: never moor at pier 3 by hand")
    run = decide(
        RulesModel().propose([written], []).operations,
        [written],
        facts.parse(b""),
        Rules(date(2026, 3, 1), lambda text: "", limit=20),
    )
    assert sorted(one.operation.text for one in run.approved) == [
        "We decided that the ferry is painted each spring", "never moor at pier 3 by hand",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        r"We decided to join the rows with `a\nB` because the reader wants it",
        r'We decided to join the rows with "a\nB" because the reader wants it',
        r"We decided to keep the ferry's logs in D:\nAlt because the disk is large",
        r"We decided to keep the ferry's logs in D:\ferry\new because the disk is large",
    ],
)
def test_a_backslash_and_n_in_code_or_in_a_path_is_no_line_break(text: str) -> None:
    assert [passage.text for passage in passages_of([f"- {text}"])] == [text]


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("And we decided to paint the ferry in spring", "we decided to paint the ferry in spring"),
        ("Also, we decided to paint the ferry in spring", "we decided to paint the ferry in spring"),
        ("그리고 운임은 12로 하기로 결정했다", "운임은 12로 하기로 결정했다"),
        ("また、運賃は12に変更することで合意した", "運賃は12に変更することで合意した"),
        ("And then we decided to paint the ferry", "And then we decided to paint the ferry"),
        ("Android decided against it: never use the old API", "Android decided against it: never use the old API"),
        ("그리고 나서 운임은 12로 하기로 결정했다", "그리고 나서 운임은 12로 하기로 결정했다"),
    ],
)
def test_a_fact_does_not_begin_with_words_that_add_it_to_another(line: str, fact: str) -> None:
    assert [each.text for each in offered(f"# 2026-03-01\n\n- {line}\n")] == [fact]
