"""Edit and archive facts of MEMORY.md; all other lines stay byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import GitMemError
from gitmem.memory import archiving, facts
from gitmem.memory.fact import IMPORTANCE, Fact, fact_id

TODAY = date(2026, 3, 1)
FILE = b"""\
---
title: Memory
---
# Memory

Some prose - not a fact.

## Decisions

- REST webhooks in phase 1. <!-- mem type=decision src=memory/2026-02-05.md#L12-L14@1a2b3c4d5e6f -->
  - a nested reason
  continued
* Cache keys hold the tenant. <!-- mem type=decision src=memory/2026-01-05.md#L2-L2@1a2b3c4d5e6f future=kept -->

| a | b |
|---|---|

```
- not a fact
```

<!-- foreign
- nor this
-->

Preferences
-----------
- Short answers.
"""


def parsed(data: bytes = FILE) -> facts.Memory:
    return facts.parse(data)


def texts(memory: facts.Memory) -> list[str]:
    return [entry.fact.text for entry in memory.items]


def test_every_statement_is_a_fact_whatever_its_markdown() -> None:
    assert [fact.text for fact in parsed().facts] == [
        "Some prose - not a fact.", "REST webhooks in phase 1.", "a nested reason", "continued",
        "Cache keys hold the tenant.", "``` - not a fact ```", "Short answers.",
    ]  # fmt: skip
    assert [entry.fact.text for entry in parsed().items] == [
        "REST webhooks in phase 1.", "Cache keys hold the tenant.", "Short answers.",
    ]  # fmt: skip
    assert [entry.fact.heading for entry in parsed().items] == ["Decisions", "Decisions", "Preferences"]
    assert (parsed().items[0].start, parsed().items[0].fact.end, parsed().items[0].end) == (10, 10, 12)


def test_a_fact_is_whole_over_its_wrapped_lines_and_its_comment_ends_the_last() -> None:
    memory = parsed(b"- Refunds above 500 crowns are paid\n  after two approvals. <!-- mem type=rule -->\n- Next.\n")
    entry = memory.entries[0]
    assert entry.fact.text == "Refunds above 500 crowns are paid after two approvals."
    assert (entry.fact.line, entry.fact.end, entry.fact.get("type")) == (1, 2, "rule")
    assert facts.update(memory, entry, "Refunds wait.", [("type", "rule")]).data() == (
        b"- Refunds wait. <!-- mem type=rule -->\n- Next.\n"
    )
    assert facts.with_comment(memory, entry, [("pinned", "true")]).data() == (
        b"- Refunds above 500 crowns are paid\n  after two approvals. <!-- mem pinned=true -->\n- Next.\n"
    )
    assert facts.remove(memory, entry).data() == b"- Next.\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"Never push\nwithout approval.\n", b"Push with care. <!-- mem type=rule -->\n"),
        (b"3. Never push\n   without approval.\n", b"3. Push with care. <!-- mem type=rule -->\n"),
        (b"> Never push\n> without approval.\n", b"> Push with care. <!-- mem type=rule -->\n"),
        (b"- Git\n  - Never push\n", b"- Git\n  - Push with care. <!-- mem type=rule -->\n"),
    ],
)
def test_an_edit_replaces_the_whole_statement_and_keeps_its_marker(before: bytes, after: bytes) -> None:
    memory = parsed(before)
    assert facts.update(memory, memory.entries[-1], "Push with care.", [("type", "rule")]).data() == after


def test_a_table_row_is_a_fact_with_its_header_in_the_trail() -> None:
    memory = parsed(b"| service | port |\n|---|---|\n| billing | 8080 |\n| search | 9090 |\n")
    assert [(fact.text, fact.trail) for fact in memory.facts] == [
        ("billing | 8080", ("service | port",)), ("search | 9090", ("service | port",)),
    ]  # fmt: skip
    edited = facts.update(memory, memory.entries[0], "billing | 8081", [])
    assert edited.data() == b"| service | port |\n|---|---|\n| billing | 8081 |\n| search | 9090 |\n"


def test_an_item_goes_with_what_is_indented_below_it_and_a_nested_one_alone() -> None:
    memory = parsed(b"- Orchard\n  - prune in June\n  - water at night\n- Bakery\n")
    orchard, june = memory.entries[:2]
    assert facts.remove(memory, orchard).data() == b"- Bakery\n"
    assert facts.remove(memory, june).data() == b"- Orchard\n  - water at night\n- Bakery\n"
    rest, moved = archiving.remove_for_archive(memory, [orchard, june], TODAY)
    assert (rest.data(), [item.fact.text for item in moved]) == (b"- Bakery\n", ["Orchard"])


@given(st.binary(max_size=400))
def test_any_bytes_parse_and_come_back_as_they_were(data: bytes) -> None:
    assert facts.parse(data).data() == data


@given(
    st.lists(
        st.sampled_from(
            [
                "- a\n",
                "- b\r\n",
                "  - c\n",
                "```\n",
                "# H\n",
                "\n",
                "x\n",
                "---\n",
                "<!--\n",
                "-->\n",
                "\t- d",
                "- e <!-- mem type=rule -->\n",
            ]
        ),
        max_size=25,
    )
)
def test_adding_removes_no_line_and_the_fact_is_found_again(parts: list[str]) -> None:
    before = facts.parse("".join(parts).encode())
    try:
        after = facts.add(before, "A new thing.", [("type", "decision")])
    except GitMemError as error:
        assert "not closed" in error.message, "nothing else refuses a fact"
        assert {"```\n", "<!--\n"} & set(parts)
        return
    assert after.find(fact_id("A new thing."))
    rest = list(after.lines)
    for line in before.lines:
        ended = line if line in rest else line + before.newline
        assert ended in rest
        rest.remove(ended)


def test_a_new_fact_goes_under_the_heading_of_its_type_newest_first() -> None:
    after = facts.add(parsed(), "Newer.", [("type", "decision"), ("src", "memory/2026-02-20.md#L1-L1@1a2b3c4d5e6f")])
    assert texts(after)[0] == "Newer."
    middle = facts.add(parsed(), "Between.", [("type", "decision"), ("src", "memory/2026-01-20.md#L1-L1@1a2b3c4d5e6f")])
    assert texts(middle)[1] == "Between."
    assert middle.lines[10:12] == parsed().lines[10:12], "nested lines stay with the fact above them"


def test_a_korean_heading_is_found_and_a_missing_one_is_made() -> None:
    memory = facts.parse("# 기억\n\n## 결정 사항\n\n- 하나\n".encode())
    assert (
        facts.add(memory, "둘", [("type", "decision")]).data().decode()
        == "# 기억\n\n## 결정 사항\n\n- 둘 <!-- mem type=decision -->\n- 하나\n"
    )
    assert (
        facts.add(memory, "셋", [("type", "rule")])
        .data()
        .decode()
        .endswith("- 하나\n\n## Rules\n\n- 셋 <!-- mem type=rule -->\n")
    )


def test_an_empty_file_gets_a_title_and_a_file_without_final_newline_gets_one() -> None:
    assert (
        facts.add(facts.parse(b""), "One.", [("type", "fact")]).data()
        == b"# Memory\n\n## Facts\n\n- One. <!-- mem type=fact -->\n"
    )
    assert facts.add(facts.parse(b"## Facts\n- old"), "One.").data() == b"## Facts\n- One.\n- old"
    assert facts.add(facts.parse(b"## Facts"), "One.").data() == b"## Facts\n\n- One.\n"
    assert facts.add(facts.parse(b"## Facts\nprose"), "One.").data() == b"## Facts\nprose\n\n- One.\n"


def test_windows_line_ends_are_kept() -> None:
    after = facts.add(facts.parse(b"## Facts\r\n\r\n- old\r\n"), "new")
    assert after.data() == b"## Facts\r\n\r\n- new\r\n- old\r\n"


def test_an_update_changes_one_line_only() -> None:
    memory = parsed()
    entry = memory.items[1]
    after = facts.update(memory, entry, "Cache keys hold tenant and locale.", entry.fact.meta)
    changed = [n for n, (a, b) in enumerate(zip(memory.lines, after.lines, strict=True)) if a != b]
    assert changed == [entry.start - 1]
    assert after.lines[changed[0]].startswith("* Cache keys hold tenant and locale. <!-- mem type=decision")
    assert "future=kept" in after.lines[changed[0]], "unknown keys are kept"


def test_a_successor_names_what_it_supersedes() -> None:
    memory = parsed()
    old = memory.items[0]
    after = facts.supersede(memory, old, "GraphQL in phase 2.", [("type", "decision")])
    assert after.items[0].fact.get("supersedes") == old.fact.id
    assert "REST webhooks" not in after.data().decode()


def test_a_successor_of_another_type_moves_below_its_heading_unless_lines_are_indented_below_it() -> None:
    memory = parsed()
    with_reason, alone = memory.items[:2]
    moved = facts.supersede(memory, alone, "Never one tenant.", [("type", "rule")])
    assert moved.facts[-1].heading == "Rules"
    stayed = facts.supersede(memory, with_reason, "Never REST.", [("type", "rule")])
    assert stayed.items[0].fact.heading == "Decisions" and b"- a nested reason\n  continued" in stayed.data()


def test_removing_takes_the_nested_lines_along() -> None:
    memory = parsed()
    after = facts.remove(memory, memory.items[0])
    assert len(after.lines) == len(memory.lines) - 3


def test_an_expired_fact_moves_to_the_archive_of_its_year() -> None:
    data = b"## Facts\n- old <!-- mem from=2025-12-01 until=2026-02-28 -->\n- now <!-- mem until=2026-03-01 -->\n- odd <!-- mem until=soon -->\n"
    after, moved = archiving.remove_expired(facts.parse(data), TODAY)
    assert texts(after) == ["now", "odd"]
    assert [m.path for m in moved] == ["memory/archive/2025.md"]
    assert (
        archiving.archive(b"", moved)
        == b"# Archive 2025\n\n## Facts\n\n- old <!-- mem from=2025-12-01 until=2026-02-28 -->\n"
    )
    assert archiving.archive(archiving.archive(b"", moved), moved) == archiving.archive(b"", moved)


def test_the_budget_moves_the_least_important_oldest_facts_and_drops_nothing() -> None:
    rows = [f"- fact {n} <!-- mem importance=0.{n % 10} from=2026-01-{n % 28 + 1:02} -->\n" for n in range(300)]
    memory = facts.parse(("# M\n" + "".join(rows)).encode())
    after, moved = archiving.fit_to_budget(memory, TODAY, budget=200)
    assert len(after.lines) == 200
    assert sorted(texts(after) + [m.fact.text for m in moved]) == sorted(texts(memory))
    assert max(facts.importance(m.fact) for m in moved) <= min(facts.importance(f) for f in after.facts)


def test_a_program_archives_no_fact_that_a_person_wrote_and_keeps_room_for_promoted_ones() -> None:
    own = [f"- rule {n}\n" for n in range(25)]
    promoted = [f"- fact {n} <!-- mem src=memory/2026-01-01.md:{n} importance=0.{n} -->\n" for n in range(1, 9)]
    memory = facts.parse(
        "".join([*own, *promoted, "- fact 9 <!-- mem src=memory/2026-01-01.md:9 -->\n  - aside\n"]).encode()
    )
    after, moved = archiving.fit_promoted_to_budget(memory, TODAY, budget=20)
    assert [row for row in after.lines if row in own] == own
    assert [m.fact.text for m in moved] == ["fact 1", "fact 2", "fact 3"] and "fact 9" in texts(after)
    short = facts.parse("".join([*own[:5], *promoted]).encode())
    after, moved = archiving.fit_promoted_to_budget(short, TODAY, budget=12)
    assert len(after.lines) == 12 and [m.fact.text for m in moved] == ["fact 1"]


def test_pinned_facts_are_never_moved() -> None:
    memory = facts.parse(b"- a <!-- mem pinned=true -->\n- b\n- c\n")
    after, moved = archiving.fit_to_budget(memory, TODAY, budget=1)
    assert texts(after) == ["a"]
    assert [m.fact.text for m in moved] == ["b", "c"]


@pytest.mark.parametrize("text", ["", "  ", "a <!-- b", "a --> b"])
def test_a_text_that_is_not_one_bullet_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        facts.bullet(text)
    assert facts.bullet("two\nlines") == "- two lines"


def test_importance_and_until_that_cannot_be_read_mean_nothing() -> None:
    memory = facts.parse(
        b"- a <!-- mem importance=nan until=x -->\n- b <!-- mem importance=7 -->\n- c <!-- mem importance=-1 -->\n"
    )
    assert [facts.importance(f) for f in memory.facts] == [IMPORTANCE, 1.0, 0.0]


def test_a_file_of_many_facts_parses_in_linear_time() -> None:
    data = b"- a\n" * 20_000 + b">" * 20_000 + b"\n" + b"<!--" * 5_000 + b"\n"
    assert len(facts.parse(data).facts) == 20_000


def test_the_last_line_of_an_entry_is_still_its_own() -> None:
    memory = facts.parse(b"- a\n  more\n- b\n")
    assert [entry.fact.text for line in (1, 2, 3) if (entry := memory.at(line))] == ["a more", "a more", "b"]
    assert memory.at(4) is None


def test_headings_have_their_level_in_both_forms() -> None:
    assert facts.parse(b"# A\n### B longer\nC\n===\nD\n---\n").headings == (
        (1, 1, "A"), (2, 3, "B longer"), (4, 1, "C"), (6, 2, "D"),
    )  # fmt: skip


def test_no_more_is_archived_than_the_budget_asks_for() -> None:
    memory = facts.parse(b"- a\n- b\n- c\n- d\n")
    for budget in (4, 3, 2):
        kept, moved = archiving.fit_to_budget(memory, TODAY, budget)
        assert len(kept.lines) == budget and len(moved) == 4 - budget


def test_a_fact_above_a_setext_heading_at_the_end_stays_above_it() -> None:
    memory = facts.add(facts.parse(b"## Rules\n\nText\n---\n"), "always review", [("type", "rule")])
    assert memory.data() == b"## Rules\n\n- always review <!-- mem type=rule -->\n\nText\n---\n"


def test_an_id_is_found_by_its_first_four_characters_and_not_by_three() -> None:
    entry = parsed().entries[0]
    assert parsed().find(entry.fact.id[:4]) == entry
    assert parsed().find(entry.fact.id[:3]) is None


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_fenced_block_is_one_fact_and_the_item_below_it_another(fence: str) -> None:
    memory = facts.parse_lines([f"{fence}\n", "- no item\n", f"{fence}\n", "- A fact."])
    block, item = memory.at(2), memory.at(4)
    assert block is not None and (block.fact.text, block.start, block.end) == (f"{fence} - no item {fence}", 1, 3)
    assert item is not None and (item.fact.text, item.start, item.end) == ("A fact.", 4, 4)


def test_a_block_below_a_fact_belongs_to_it_to_its_end() -> None:
    memory = parsed(b"- A fact.\n  ```\n  code\n\n  - more\n  ```\n- Another.\n")
    assert [(entry.start, entry.end) for entry in memory.items] == [(1, 6), (7, 7)]


def test_a_byte_order_mark_is_no_part_of_the_first_line_and_stays() -> None:
    headed = facts.add(facts.parse("\ufeff## Rules\n\n- Old.\n".encode()), "New.", [("type", "rule")])
    assert headed.data().decode() == "\ufeff## Rules\n\n- New. <!-- mem type=rule -->\n- Old.\n"
    listed = facts.parse("\ufeff- Old.\n- Next.\n".encode())
    assert texts(listed) == ["Old.", "Next."]
    assert facts.update(listed, listed.entries[0], "New.", ()).data().decode() == "\ufeff- New.\n- Next.\n"
    fenced = facts.parse("\ufeff```\n- no item\n```\n".encode())
    assert len(fenced.entries) == 1


def test_a_last_day_with_a_time_is_read_as_a_day() -> None:
    fact = parsed(b"- A freeze. <!-- mem until=2026-02-27T18:00 -->\n").facts[0]
    assert facts.expired(fact, date(2026, 2, 28)) and not facts.expired(fact, date(2026, 2, 27))


def test_a_fact_of_an_unknown_type_goes_under_facts() -> None:
    memory = facts.add(parsed(b"# Memory\n\n## Facts\n\n- Old.\n"), "New.", [("type", "haiku")])
    assert [(fact.text, fact.heading) for fact in memory.facts] == [("New.", "Facts"), ("Old.", "Facts")]


def test_a_new_fact_stays_above_the_setext_heading_that_follows() -> None:
    data = b"## Decisions\n\n- Old. <!-- mem from=2026-03-01 -->\n\nPreferences\n-----------\n- Short answers.\n"
    memory = facts.add(parsed(data), "Older.", [("type", "decision"), ("from", "2026-01-01")])
    assert [(fact.text, fact.heading) for fact in memory.facts] == [
        ("Old.", "Decisions"), ("Older.", "Decisions"), ("Short answers.", "Preferences"),
    ]  # fmt: skip
    empty = facts.add(
        parsed(b"## Decisions\n\nPreferences\n-----------\n- Short answers.\n"), "New.", [("type", "decision")]
    )
    assert [(fact.text, fact.heading) for fact in empty.facts] == [
        ("New.", "Decisions"),
        ("Short answers.", "Preferences"),
    ]


def test_archiving_a_last_line_without_an_end_joins_nothing() -> None:
    old, new = b"- Old. <!-- mem from=2026-01-01 -->", b"- New. <!-- mem from=2026-02-01 -->"
    rest, moved = archiving.remove_for_archive(parsed(new + b"\n" + old), parsed(new + b"\n" + old).entries[1:], TODAY)
    assert (rest.data(), moved[0].lines) == (new + b"\n", (old.decode() + "\n",))


def test_an_undated_fact_that_expired_goes_to_this_years_archive_under_its_heading_or_facts() -> None:
    data = b"- Bare. <!-- mem until=2026-02-01 -->\n\n## Rules\n\n- A rule. <!-- mem until=2026-02-01 -->\n"
    _, moved = archiving.remove_expired(parsed(data), TODAY)
    assert [item.path for item in moved] == ["memory/archive/2026.md"] * 2
    filed = facts.parse(archiving.archive(b"", moved)).facts
    assert [(fact.text, fact.heading) for fact in filed] == [("Bare.", "Facts"), ("A rule.", "Rules")]
    assert archiving.archive(archiving.archive(b"", moved), moved) == archiving.archive(b"", moved)


@pytest.mark.parametrize(("value", "stays"), [("true", True), ("1", True), ("Yes", True), ("no", False), ("", False)])
def test_pinned_is_read_in_each_spelling(value: str, stays: bool) -> None:
    (fact,) = parsed(f"- a <!-- mem pinned={value} -->\n".encode()).facts
    assert facts.pinned(fact) is stays


@pytest.mark.parametrize(
    ("comment", "day"),
    [
        ("from=2026-02-05T10:00 src=memory/2026-01-01.md#L3", "2026-02-05"),
        ("src=MEMORY.md#L3 src=memory/2026-01-01.md#L3", "2026-01-01"),
        ("src=notes/plan#memory/2026-01-01.md", ""),
        ("src=journal/2026/01/01.md#L3", "2026-01-01"),
        ("src=journal/2026_01_01.md#L3", "2026-01-01"),
        ("type=fact", ""),
    ],
)
def test_a_fact_is_of_the_day_it_says_or_of_its_log(comment: str, day: str) -> None:
    (fact,) = parsed(f"- a <!-- mem {comment} -->\n".encode()).facts
    assert facts.fact_date(fact) == day


@pytest.mark.parametrize(
    ("before", "kind", "heading", "after"),
    [
        (b"", "", "", b"# Memory\n\n## Facts\n\n- new\n"),
        (b"", "rule", "", b"# Memory\n\n## Rules\n\n- new <!-- mem type=rule -->\n"),
        (b"", "odd", "", b"# Memory\n\n## Facts\n\n- new <!-- mem type=odd -->\n"),
        (b"# M", "", "Mine", b"# M\n\n## Mine\n\n- new\n"),
        (b"# M\n\n## FACTS:\n\n- old", "", "", b"# M\n\n## FACTS:\n\n- new\n- old"),
        (b"## Facts", "", "", b"## Facts\n\n- new\n"),
        (b"## Facts\nprose\n\nmore\n\n## Next\n", "", "", b"## Facts\nprose\n\nmore\n\n- new\n\n## Next\n"),
        (b"Facts\n-----\n\nNext\n----\n- x\n", "", "", b"Facts\n-----\n\n- new\n\nNext\n----\n- x\n"),
        (
            b"## Facts\n\n- old <!-- mem from=2026-01-01 -->",
            "",
            "",
            b"## Facts\n\n- old <!-- mem from=2026-01-01 -->\n- new\n",
        ),
    ],
)
def test_a_new_fact_is_inserted_below_its_heading(before: bytes, kind: str, heading: str, after: bytes) -> None:
    made = facts.add(parsed(before), "new", [("type", kind)] if kind else [], heading)
    assert made.data() == after


def test_a_successor_names_what_it_replaces_once() -> None:
    memory = parsed(b"- old\r\n- other\r\n")
    entry = memory.entries[0]
    for meta in ((), (("supersedes", entry.fact.id),)):
        made = facts.supersede(memory, entry, "new", meta)
        assert made.data() == f"- new <!-- mem supersedes={entry.fact.id} -->\r\n- other\r\n".encode()


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.lists(st.integers(1, 4), max_size=4))
def test_facts_inserted_together_stand_as_those_inserted_one_by_one(new: list[int], old: list[int]) -> None:
    def line(number: int, day: int) -> str:
        return f"- fact {number} <!-- mem type=fact from=2026-01-0{day} -->\n"

    there = "".join(line(100 + number, day) for number, day in enumerate(sorted(old, reverse=True)))
    memory = parsed(f"# Memory\n\n## Facts\n\n{there}\n## Notes\n\n- last\n".encode())
    lines = [line(number, day) for number, day in enumerate(new)]
    rows = [([text], parsed(text.encode()).facts[0]) for text in lines]
    together = facts.insert_all(memory, rows, ["Facts"])
    single = memory
    for block, fact in sorted(reversed(rows), key=lambda row: facts.fact_date(row[1])):
        single = facts.insert(single, block, fact, ["Facts"])
    assert together.data() == single.data()


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_another_comment_changes_nothing_but_the_comment(end: str) -> None:
    before, line, after = "# Memory\n\n- first\n", f"* second <!-- mem type=fact -->{end}", "  deep\n" if end else ""
    memory = parsed(f"{before}{line}{after}".encode())
    entry = memory.entries[1]
    assert facts.with_comment(memory, entry, [("pinned", "true")]).data().decode() == (
        f"{before}* second <!-- mem pinned=true -->{end}{after}"
    )
    assert facts.with_comment(memory, entry, []).data().decode() == f"{before}* second{end}{after}"


@pytest.mark.parametrize(("last", "end"), [("\tx", 4), (" x", 3), ("a b", 3)])
def test_an_indented_line_of_a_block_that_does_not_end_belongs_to_the_fact_above(last: str, end: int) -> None:
    found = facts.parse(f"- one\n  ```\n  code\n{last}\n".encode()).items
    assert [(entry.start, entry.end) for entry in found] == [(1, end)]


@pytest.mark.parametrize(("spaces", "texts"), [(3, ["``` - a"]), (4, ["```", "a"])])
def test_a_fence_has_at_most_three_spaces_before_it(spaces: int, texts: list[str]) -> None:
    assert [fact.text for fact in facts.parse((" " * spaces + "```\n- a\n").encode()).facts] == texts


_DAYS = st.sampled_from(["", "2025-01-02", "2025-01-03", "2025-06-01", "2024-12-31"])
_LINES = st.sampled_from(["- {}", "- {}\n  - below {}", "{}", "> {}", "* {}"])


@given(
    st.lists(st.tuples(_DAYS, _LINES, st.sampled_from(["Facts", "결정", ""])), max_size=12),
    st.lists(_DAYS, max_size=5),
)
def test_entries_filed_together_stand_where_they_would_one_after_the_other(
    given_rows: list[tuple[str, str, str]], there: list[str]
) -> None:
    before = "# Archive 2025\n\n## Facts\n\n" + "".join(
        f"- old {n}{f' <!-- mem from={day} -->' if day else ''}\n" for n, day in enumerate(there)
    )
    moved = []
    for number, (day, form, heading) in enumerate(given_rows):
        text = f"fact {number}"
        meta = (("from", day),) if day else ()
        fact = Fact(text, fact_id(text), 1, heading, meta)
        first, *rest = form.format(text, text).split("\n")
        comment = f" <!-- mem from={day} -->" if day else ""
        lines = [f"{first}{comment}\n", *(f"{line}\n" for line in rest)]
        moved.append(archiving.ArchiveEntry(fact, tuple(lines), "memory/archive/2025.md"))
    one_by_one = before.encode()
    for heading in dict.fromkeys(item.fact.heading or "Facts" for item in moved):
        for item in moved:
            if (item.fact.heading or "Facts") == heading:
                one_by_one = archiving.archive(one_by_one, [item])
    assert archiving.archive(before.encode(), moved) == one_by_one


def test_an_archive_is_parsed_as_often_for_a_hundred_entries_as_for_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: list[int] = []
    real = facts.parse_lines

    def counted(lines: Sequence[str]) -> facts.Memory:
        whole.append(len(lines) > 100)
        return real(lines)

    monkeypatch.setattr(facts, "parse_lines", counted)
    before = "# Archive 2025\n\n## Facts\n\n" + "".join(f"- old {n}\n" for n in range(200))
    times = []
    for count in (10, 100):
        whole.clear()
        rows = [Fact(f"new {n}", fact_id(f"new {n}"), 1, "Facts", ()) for n in range(count)]
        archiving.archive(
            before.encode(),
            [archiving.ArchiveEntry(row, (f"- {row.text}\n",), "memory/archive/2025.md") for row in rows],
        )
        times.append(sum(whole))
    assert times[0] == times[1]


def test_a_pinned_fact_never_moves_to_the_archive_alone_or_with_its_parent() -> None:
    memory = facts.parse(
        b"- over <!-- mem until=2025-01-01 -->\n"
        b"- over and pinned <!-- mem until=2025-01-01 pinned=true -->\n"
        b"- above <!-- mem until=2025-01-01 -->\n  - kept <!-- mem pinned=true -->\n"
        b"- small\n  - pinned below <!-- mem pinned=true -->\n"
        b"- free\n"
    )
    left, moved = archiving.remove_expired(memory, date(2026, 1, 1))
    assert [item.fact.text for item in moved] == ["over"]
    fitted, more = archiving.fit_to_budget(left, date(2026, 1, 1), 1)
    assert [item.fact.text for item in more] == ["free"]
    assert b"pinned below" in fitted.data() and b"over and pinned" in fitted.data()


@pytest.mark.parametrize("opening", ["```", "<!-- to do"])
def test_entries_are_not_filed_into_an_open_fence_or_comment(opening: str) -> None:
    memory = facts.parse(f"# Memory\n\n{opening}\nopen\n".encode())
    rows = [(["- one\n"], Fact("one", fact_id("one"), 0)), (["- two\n"], Fact("two", fact_id("two"), 0))]
    with pytest.raises(GitMemError, match="not closed"):
        facts.insert_all(memory, rows, ["Rules"])
    with pytest.raises(GitMemError, match="not closed"):
        facts.insert_all(memory, rows[:1], ["Rules"])
    with pytest.raises(GitMemError, match="not closed"):
        facts.add(memory, "three")


def test_a_fact_goes_above_an_open_fence_where_its_section_is_above_it() -> None:
    memory = facts.parse(b"## Facts\n\n- one\n\n```\nopen\n")
    assert [fact.text for fact in facts.add(memory, "two").facts][:2] == ["two", "one"]
