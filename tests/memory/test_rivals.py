"""Find the facts that a statement repeats, replaces or conflicts with; settled pairs are left out."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.json_values import json_object
from gitmem.memory import rivals
from gitmem.memory.fact import Fact, fact_id
from gitmem.memory.facts import parse, split_lines
from gitmem.memory.rivals import KnownFacts, PlacedFact, Rival, with_days
from gitmem.promotion.open_pairs import statement_facts

TODAY = date(2026, 6, 1)


def found(text: str, new: str = "") -> list[Rival]:
    """The open pairs of a file, or of a statement with its facts."""
    rows = with_days("MEMORY.md", parse(text.encode()).facts)
    statement = PlacedFact("memory/2026-06-01.md", Fact(new, fact_id(new), 1), "2026-06-01")
    return rivals.rivals([statement] if new else rows, KnownFacts(rows, TODAY))


@pytest.mark.parametrize(
    ("there", "new", "kind"),
    [
        ("The orders service listens on port 8080", "The orders service listens on port 9090", "replaces"),
        ("배포는 매주 화요일에 한다", "배포는 이제 매주 목요일에 한다", "replaces"),
        ("API request timeout: 45 seconds", "The request timeout is now 20 seconds", "replaces"),
        ("The orders service listens on port 8080", "the orders service listens on port 8080!", "same"),
    ],
)
def test_a_statement_is_named_beside_the_fact_it_changes_or_repeats(there: str, new: str, kind: str) -> None:
    (rival,) = found(f"- {there}\n- Lunch is at noon\n", new)
    assert (rival.kind, rival.old.fact.text, rival.later) == (kind, there, True)
    assert json_object(rival)["fact"]["id"] == fact_id(there) and rival.old.path in rivals.sentence(rival)


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("Patient 12 is allergic to penicillin", "Patient 13 is allergic to latex"),
        ("Room A12 has 4 seats", "Room A14 has 6 seats"),
        ("환자 12번은 페니실린 알레르기가 있다", "환자 13번은 라텍스 알레르기가 있다"),
        ("Kim is allergic to peanuts", "We use Postgres 16"),
        ("The port is 8080 <!-- mem until=2026-01-01 -->", "The port is 9090"),
        (
            "결제: 외부 호출 재시도 횟수는 3회로 하고 간격은 10초로 한다",
            "정산: 외부 호출 재시도 횟수는 3회로 하고 간격은 10초로 한다",
        ),
    ],
)
def test_another_thing_and_a_fact_that_is_over_are_no_rivals(there: str, new: str) -> None:
    assert found(f"- {there}\n", new) == []


def test_facts_of_two_headings_that_name_a_thing_are_two() -> None:
    two = "# Memory\n\n## Staging\n\n- the port is 5432\n\n## Production\n\n- the port is 5433\n"
    assert found(two) == [] and found(two.replace("5433", "5432")) == []
    reviews = "# Memory\n\n## Review of 3f2a91\n\n- Verdict: APPROVE, by nexus\n\n## Review of 77b0c4\n\n- Verdict: APPROVE, by nexus\n"
    assert found(reviews) == []
    assert [rival.kind for rival in found(two.replace("Staging", "Facts").replace("Production", "Decisions"))]


@pytest.mark.parametrize("key", ["supersedes", "beside"])
@pytest.mark.parametrize("on", ["8080", "9090"])
def test_a_pair_that_a_person_settled_is_not_named(key: str, on: str) -> None:
    texts = {port: f"The orders service listens on port {port}" for port in ("8080", "9090")}
    other = fact_id(texts["9090" if on == "8080" else "8080"])
    lines = [f"- {text}" + (f" <!-- mem {key}={other} -->" if port == on else "") for port, text in texts.items()]
    assert len(found("\n".join(f"- {text}" for text in texts.values()) + "\n")) == 1
    assert found("\n".join(lines) + "\n") == []


def test_what_is_pinned_by_hand_or_of_health_is_never_automatic() -> None:
    old, new = "The request timeout is 45 seconds", "The request timeout is now 30 seconds"
    src = "src=memory/2026-01-01.md#L3"
    assert found(f"- {old} <!-- mem {src} -->\n", new)[0].automatic
    assert not found(f"- {old}\n", new)[0].automatic
    assert not found(f"- {old} <!-- mem {src} pinned=true -->\n", new)[0].automatic
    dose, now = "Kim takes 20 mg of medication", "Kim now takes 40 mg of medication"
    assert not any(rival.automatic for rival in found(f"- {dose} <!-- mem {src} -->\n", now))


def test_a_statement_is_not_compared_with_archived_facts() -> None:
    rows = with_days("memory/archive/2026.md", parse(b"- The port is 8080\n").facts)
    statement = PlacedFact("MEMORY.md", Fact("The port is 9090", "x", 1), "2026-06-01")
    assert rivals.rivals([statement], KnownFacts(rows, TODAY)) == []


@pytest.mark.parametrize(
    ("plain", "reasoned"),
    [
        ("The gateway is at port 7100.", "the gateway is at port 7200, because 7100 is taken by Grafana."),
        ("게이트웨이는 7100 포트를 쓴다", "7100은 그라파나가 쓰므로 게이트웨이는 7200 포트를 쓴다"),
    ],
)
@pytest.mark.parametrize("day", ["", "2026-05-03", "2026-05-30"])
def test_a_pair_is_open_whichever_of_two_is_from_which_day(plain: str, reasoned: str, day: str) -> None:
    comment = f" <!-- mem type=fact from={day} -->" if day else ""
    for first, second in ((plain, reasoned), (reasoned, plain)):
        (rival,) = found(f"- {first}{comment}\n- {second} <!-- mem type=decision from=2026-05-14 -->\n")
        assert rival.kind in ("replaces", "conflicts") and not rival.repeats


@pytest.mark.parametrize(("about", "replaced"), [("Eagle", True), ("Falcon", False)])
def test_a_topic_in_a_comment_is_compared_with_one_before_the_text(about: str, replaced: bool) -> None:
    src = "src=memory/2026-01-01.md#L3"
    old = f"- Eagle: We decided the API port is 8080 <!-- mem type=decision {src} from=2026-01-01 -->"
    new = f"- We decided that the API port is now 9090 <!-- mem type=decision {src} from=2026-01-09 about={about} -->"
    assert [rival.automatic for rival in found(f"{old}\n{new}\n")] == [True] * replaced


FACT = "src=memory/2026-01-01.md#L3 from=2026-01-01"
FORMS_OF_A_FACT = {  # each below the title of MEMORY.md
    "lead": "# Memory\n\n## Facts\n\n- {topic}: {text} <!-- mem type=fact {fact} -->\n",
    "about": "# Memory\n\n## Facts\n\n- {text} <!-- mem type=fact {fact} about={topic} -->\n",
    "heading": "# Memory\n\n## {topic}\n\n- {text} <!-- mem type=fact {fact} -->\n",
    "titled": "# Acme memory\n\n## {topic}\n\n- {text} <!-- mem type=fact {fact} -->\n",
    "nested": "# Memory\n\n## Services\n\n### {topic}\n\n- {text} <!-- mem type=fact {fact} -->\n",
    "parent": "# Memory\n\n## Facts\n\n- {topic}\n  - {text} <!-- mem type=fact {fact} -->\n",
}
FORMS_OF_A_LINE = {
    "lead": "# 2026-06-01\n\n- {topic}: {text}\n",
    "lead below a heading": "# 2026-06-01\n\n## Platform sync\n\n- {topic}: {text}\n",
    "heading": "# 2026-06-01\n\n## {topic}\n\n- {text}\n",
    "timed heading": "# 2026-06-01\n\n## 09:00 - {topic}\n\n- {text}\n",
    "nested": "# 2026-06-01\n\n## Acme platform\n\n### {topic}\n\n- {text}\n",
    "titled": "# Dev log 2026-06-01\n\n## {topic}\n\n- {text}\n",
    "parent": "# 2026-06-01\n\n## 09:00 - standup\n\n- {topic}\n  - {text}\n",
}
TWO_TOPICS = {
    "en": ("Orders", "Billing", "retry limit 3", "the retry limit is now 7"),
    "en decided": ("Falcon", "Eagle", "We decided the API port is 8080", "We decided that the API port is now 9090"),
    "ko": ("주문", "결제", "재시도 한도 3", "재시도 한도는 이제 7"),
    "ko service": ("주문 서비스", "결제 서비스", "재시도 횟수는 3회로 한다", "재시도 횟수는 이제 5회로 한다"),
    "zh": ("订单", "计费", "重试上限是3次", "重试上限现在是7次"),
}


def between(fact_form: str, line_form: str, old: tuple[str, str], new: tuple[str, str]) -> list[Rival]:
    """The rivals of the last line of a log among the facts of a MEMORY.md. `old`, `new`: (topic, text)."""
    topic = old[0].replace(" ", "%20") if fact_form == "about" else old[0]
    memory = FORMS_OF_A_FACT[fact_form].format(topic=topic, text=old[1], fact=FACT)
    log = FORMS_OF_A_LINE[line_form].format(topic=new[0], text=new[1])
    rows = [row for row in with_days("MEMORY.md", parse(memory.encode()).facts) if row.fact.get("src")]
    line = statement_facts(split_lines(log.encode()))[-1]
    return rivals.rivals([PlacedFact("memory/2026-06-01.md", line, "2026-06-01")], KnownFacts(rows, TODAY))


@pytest.mark.parametrize("texts", TWO_TOPICS)
@pytest.mark.parametrize("line_form", FORMS_OF_A_LINE)
@pytest.mark.parametrize("fact_form", FORMS_OF_A_FACT)
def test_a_line_about_another_topic_is_no_rival_in_whatever_form_either_names_it(
    fact_form: str, line_form: str, texts: str
) -> None:
    topic, other, old, new = TWO_TOPICS[texts]
    assert between(fact_form, line_form, (topic, old), (other, new)) == []
    assert between(fact_form, line_form, (other, old), (topic, new)) == []


@pytest.mark.parametrize("texts", TWO_TOPICS)
@pytest.mark.parametrize("line_form", FORMS_OF_A_LINE)
@pytest.mark.parametrize("fact_form", FORMS_OF_A_FACT)
def test_a_line_about_the_same_topic_is_a_rival_in_whatever_form_either_names_it(
    fact_form: str, line_form: str, texts: str
) -> None:
    topic, _, old, new = TWO_TOPICS[texts]
    (rival,) = between(fact_form, line_form, (topic, old), (topic, new))
    assert not rival.repeats


@pytest.mark.parametrize("line_form", FORMS_OF_A_LINE)
def test_a_fact_without_a_topic_is_compared_with_any_line(line_form: str) -> None:
    old, new = ("Decisions", "the retry limit is 3"), ("Billing", "the retry limit is now 7")
    assert len(between("heading", line_form, old, new)) == 1
    if line_form.startswith("lead"):
        assert len(between("titled", line_form, old, new)) == 1


def test_the_same_words_about_two_topics_are_no_repetition() -> None:
    text = "We decided to deploy on Tuesdays only"
    rows = (
        f"- {text} <!-- mem type=decision about=Heron%20release -->\n",
        f"- Egret release: {text} <!-- mem type=decision -->\n",
    )
    known, new = (with_days("MEMORY.md", parse(f"# Memory\n\n{row}".encode()).facts, "2026-03-01") for row in rows)
    for one, other in ((known, new), (new, known)):
        moved = [row._replace(path="memory/2026-03-02.md") for row in other]
        assert rivals.rivals(moved, KnownFacts(one, date(2026, 3, 2))) == []


@pytest.mark.parametrize("texts", TWO_TOPICS)
@pytest.mark.parametrize("fact_form", FORMS_OF_A_FACT)
def test_a_line_without_a_topic_is_compared_with_any_fact(fact_form: str, texts: str) -> None:
    topic, _, old, new = TWO_TOPICS[texts]
    assert len(between(fact_form, "timed heading", (topic, old), ("standup", new))) == 1


def test_of_two_facts_of_one_day_the_one_that_was_written_later_is_the_later() -> None:
    old = PlacedFact(
        "MEMORY.md", parse(b"- The search API now listens on port 9191\n").facts[0]._replace(line=5), "2026-11-30", 100
    )
    new = PlacedFact(
        "MEMORY.md", parse(b"- The search API listens on port 7070\n").facts[0]._replace(line=4), "2026-11-30", 200
    )
    for rows in ([new, old], [old, new]):
        (rival,) = rivals.rivals(rows, KnownFacts(rows, date(2026, 11, 30)))
        assert rival.earlier_first == (old, new)
    assert new.may_follow(old) and not old.may_follow(new) and old.may_follow(new._replace(seconds=0))


def asked(text: str, seconds: list[int], days: list[str] | None = None) -> list[Rival]:
    """The open pairs of a file whose facts were written at these times."""
    rows = with_days("MEMORY.md", parse(text.encode()).facts)
    placed = [
        row._replace(seconds=at, day=day)
        for row, at, day in zip(rows, seconds, days or ["2026-05-01"] * len(rows), strict=True)
    ]
    return rivals.rivals(placed, KnownFacts(placed, TODAY))


SITES = "# Memory\n\n## Pharmacy software\n\n- Website: harbour.example/loesungen/\n- Website: ferry.example\n"
CAUSE = "# Memory\n\n## Clips\n\n- **Rule**:\n  - {}\n- **Cause**:\n  - {}\n"


def test_nobody_is_asked_about_items_that_one_commit_wrote_below_one_heading() -> None:
    assert asked(SITES, [5, 5]) == []
    assert [rival.kind for rival in asked(SITES, [5, 6])] == ["conflicts"]
    assert asked(SITES.replace("## Pharmacy software", "## Notes"), [5, 5])
    assert asked(SITES, [5, 5], ["2026-05-01", "2026-05-02"])
    assert asked(SITES, [0, 0]) and asked(SITES, [rivals.UNCOMMITTED, rivals.UNCOMMITTED])


def test_the_labels_of_one_section_are_one_section() -> None:
    text = CAUSE.format("The file name must be the one that is printed", "The file name is not the one that is printed")
    assert asked(text, [5, 6, 7, 8]) and asked(text, [5] * 4) == []


def test_what_is_only_alike_is_not_called_the_same() -> None:
    text = "# Memory\n\n## Mail\n\n- Cleanup applies to `a@x.example` unless changed.\n- Filtering must not touch `b@x.example`.\n"
    assert not [rival for rival in asked(text, [5, 6]) if rival.repeats]
    assert [rival.kind for rival in asked("- The port is `8080`\n- the port is `8080`.\n", [5, 5])] == ["same"]
