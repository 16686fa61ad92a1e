"""A merged text whose conflicts are replaced by the text of the base."""

from __future__ import annotations

import pytest

from gitmem.review.merge.line_merge import Labels, resolve_to_base

LABELS = Labels(size=9)
CONFLICT = "".join(LABELS.block(["Friday\n"], ["Monday\n"], ["Tuesday\n"]))


def test_each_conflict_is_replaced_by_the_text_of_the_base() -> None:
    text = f"before\n{CONFLICT}between\n{CONFLICT}after"
    assert resolve_to_base(text.encode(), LABELS) == b"before\nMonday\nbetween\nMonday\nafter\n"


@pytest.mark.parametrize("mark", ["=========", "||||||||| base", ">>>>>>>>> theirs"])
def test_a_line_of_the_text_that_is_equal_to_a_later_mark_stays(mark: str) -> None:
    text = f"Title\n{mark}\ntext\n{CONFLICT}Title\n{mark}\ntext\n"
    assert resolve_to_base(text.encode(), LABELS).decode() == text.replace(CONFLICT, "Monday\n")


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_an_underlined_heading_in_a_side_of_a_conflict_ends_no_part_of_it(side: str) -> None:
    heading = ["Title\n", "=========\n", "text\n"]
    sides = {"ours": ["Friday\n"], "theirs": ["Tuesday\n"], side: heading}
    text = "".join([*LABELS.block(sides["ours"], ["Monday\n"], sides["theirs"]), "after\n"])
    assert resolve_to_base(text.encode(), LABELS) == b"Monday\nafter\n"


def test_marks_with_the_line_ends_of_the_file_are_known() -> None:
    text = f"before\n{CONFLICT}after\n".replace("\n", "\r\n")
    assert resolve_to_base(text.encode(), LABELS) == b"before\r\nMonday\r\nafter\r\n"
