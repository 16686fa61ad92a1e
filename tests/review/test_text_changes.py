"""Lines that are no facts: every one that changes is told, moved ones as such."""

from __future__ import annotations

from gitmem.memory import facts
from gitmem.review.fact_diff import Op, moved_facts
from gitmem.review.text_changes import TextOp, line_changes
from gitmem.sequences import longest_rising


def changes(old: str, new: str, *, with_facts: bool = True) -> list[tuple[str, str, str]]:
    found = line_changes("SOUL.md", old.encode(), new.encode(), facts=with_facts)
    return [(row.op.value, row.old_text, row.text) for row in found]


def test_instructions_headings_and_comments_are_lines_and_an_item_with_its_wrapped_lines_is_none() -> None:
    old = "# Soul\n\nAsk before you refund.\n\n- a fact\n  and its second line\n\n<!-- a comment -->\n"
    new = "# Heart\n\nNever ask before you refund.\n\n- a fact\n\n<!-- other words -->\n"
    found = changes(old, new)
    assert ("changed", "Ask before you refund.", "Never ask before you refund.") in found
    assert {row[1] for row in found} == {"# Soul", "Ask before you refund.", "<!-- a comment -->", ""}
    assert {row[2] for row in found} >= {"# Heart", "<!-- other words -->"}


def test_every_statement_of_a_memory_file_is_a_fact_and_its_headings_are_lines() -> None:
    old, new = ("# Memory\n\nOwners:\nAda\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "# Notes\n\nOwners: Bea\n\n> quoted\n")
    found = line_changes("MEMORY.md", old.encode(), new.encode(), facts=True)
    assert {row.old_text for row in found} | {row.text for row in found} == {
        "# Memory",
        "# Notes",
        "| a | b |",
        "|---|---|",
        "",
    }


def test_the_facts_of_a_memory_file_are_told_elsewhere_and_a_skills_bullets_are_lines() -> None:
    assert changes("- one\n", "- two\n") == []
    assert [row[0] for row in changes("- one thing\n", "- no other\n", with_facts=False)] == ["added", "removed"]


def test_lines_in_another_order_are_told_as_few_as_say_it() -> None:
    old = "one line\ntwo lines\nthree lines\nfour lines\n"
    assert changes(old, "two lines\nthree lines\nfour lines\none line\n") == [
        (TextOp.REORDERED.value, "one line", "one line")
    ]
    assert longest_rising([5, 1, 2, 3]) == [1, 2, 3] and longest_rising([]) == []


def test_any_bytes_are_lines() -> None:
    assert line_changes("a.md", b"", b"\xff\x00\r\n\r\x0b\n", facts=False)


def test_a_fact_below_another_heading_moved_and_one_in_another_order_is_reordered() -> None:
    old = facts.parse(b"## A\n\n- one\n- two\n- three\n\n## B\n\n- four\n").facts
    new = facts.parse(b"## A\n\n- two\n- three\n- one\n- four\n\n## B\n").facts
    assert [(row.op, row.fact.text) for row in moved_facts("M.md", old, new)] == [
        (Op.REORDERED, "one"), (Op.MOVED, "four"),
    ]  # fmt: skip
    assert moved_facts("M.md", old, old) == []
