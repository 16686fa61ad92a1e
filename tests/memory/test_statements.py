"""Split a document into statements: every line is in exactly one of them, each with its trail."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.memory.statements import Form, Statement, note_name, read
from gitmem.paths import file_name_words

ROOT = Path(__file__).parents[2]


def said(text: str, name: str = "") -> list[Statement]:
    return [statement for statement in read(text.split("\n"), name=name) if statement.has_content]


def test_an_item_has_its_wrapped_lines_and_its_sub_items_are_statements_below_it() -> None:
    found = said("- Refunds above 500 crowns\n  are paid late.\n  - after two approvals\n    of the board\n- Next")
    assert [(one.first, one.last, one.text, one.parents) for one in found] == [
        (1, 2, "Refunds above 500 crowns are paid late.", ()),
        (3, 4, "after two approvals of the board", ("Refunds above 500 crowns are paid late.",)),
        (5, 5, "Next", ()),
    ]


def test_the_trail_is_the_note_then_the_headings_then_the_parents() -> None:
    found = said("# Boats\n\n## Plover\n\n- engine\n  - oil at 140 hours\n\n# Quay\n\nclosed", name="fleet")
    assert [one.trail for one in found] == [
        ("fleet", "Boats", "Plover"), ("fleet", "Boats", "Plover", "engine"), ("fleet", "Quay"),
    ]  # fmt: skip


def test_a_log_says_day_time_and_topic() -> None:
    (one,) = said("# 2026-02-05\n\n## 2:30 PM - payment\n\n- keys are kept")
    assert (one.day, one.time, one.trail) == ("2026-02-05", "2:30 PM", ("payment",))


def test_a_row_has_the_cells_of_its_tables_header() -> None:
    found = said("| service | port |\n|---|---|\n| billing | 8080 |\n\n| no | head |")
    assert [(one.form, one.text, one.header) for one in found] == [
        (Form.ROW, "billing | 8080", ("service", "port")), (Form.ROW, "no | head", ()),
    ]  # fmt: skip


def test_a_line_that_ends_in_a_colon_is_what_its_list_is_about() -> None:
    found = said("Before a release:\n- run the tests\n- tag\n\nAfterwards nothing.\n\n- rest")
    assert [(one.text, one.parents) for one in found] == [
        ("Before a release:", ()), ("run the tests", ("Before a release",)), ("tag", ("Before a release",)),
        ("Afterwards nothing.", ()), ("rest", ()),
    ]  # fmt: skip


def test_a_paragraph_after_the_list_of_a_colon_line_is_not_about_that_line() -> None:
    found = said("Flour comes from:\n- the mill\n\n> bake at dawn")
    assert [(one.text, one.parents) for one in found[1:]] == [
        ("the mill", ("Flour comes from",)), ("bake at dawn", ()),
    ]  # fmt: skip


def test_a_short_bold_line_is_a_heading_and_a_bold_sentence_a_paragraph() -> None:
    found = said("**Deploys**\n\n- on Monday\n\n**Never deploy on Friday.**\n\n- ask first")
    assert [(one.text, one.trail) for one in found] == [
        ("on Monday", ("Deploys",)), ("**Never deploy on Friday.**", ("Deploys",)), ("ask first", ("Deploys",)),
    ]  # fmt: skip


def test_a_line_at_the_margin_below_an_item_is_a_paragraph_of_its_own() -> None:
    assert [one.text for one in said("- spies report\nThe rest is silent\nfor a week")] == [
        "spies report", "The rest is silent for a week",
    ]  # fmt: skip


def test_quotations_fences_and_numbers_are_statements() -> None:
    found = said("> first line\n> second\n>\n> another\n\n1. one\n   more\n2. two\n\n```sh\nmake\n\nmake test\n```")
    assert [(one.form, one.text) for one in found] == [
        (Form.QUOTE, "first line second"), (Form.QUOTE, "another"), (Form.ITEM, "one more"), (Form.ITEM, "two"),
        (Form.CODE, "```sh make make test ```"),
    ]  # fmt: skip


def test_a_year_that_begins_a_wrapped_line_starts_no_item() -> None:
    assert [one.text for one in said("The mill was built in\n1986. It burnt down later.")] == [
        "The mill was built in 1986. It burnt down later.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "meta"),
    [
        ("- one\n  two <!-- mem type=rule -->", (("type", "rule"),)),
        ("- one\n  two\n  <!-- mem type=rule -->", (("type", "rule"),)),
        ("one\ntwo <!-- mem type=rule -->", (("type", "rule"),)),
    ],
)
def test_a_metadata_comment_ends_the_last_line(text: str, meta: object) -> None:
    (one,) = said(text)
    assert (one.text, one.meta) == ("one two", meta)


def test_a_line_below_a_metadata_comment_is_another_statement() -> None:
    found = said("- one <!-- mem type=rule -->\n  below")
    assert [(one.text, one.parents) for one in found] == [("one", ()), ("below", ("one",))]


def test_front_matter_comments_rules_and_link_targets_say_nothing() -> None:
    text = "---\ntitle: x\n---\n<!-- a\nb -->\n\n***\n\n[far]: https://example.org\n<details>\n\nsaid"
    assert [one.text for one in said(text)] == ["said"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("memory/oil-change_at Sea.md", "oil change at Sea"), ("memory/2026-02-05.md", ""),
        ("memory/2026-02-05.coder.md", ""), ("memory/2026-02-05-oil-change.md", "oil change"), ("MEMORY.md", ""),
        ("memory/projects/kestrel/README.md", "kestrel"), ("notes/배포 절차.md", "배포 절차"),
        ("memory/skills/tide-table/SKILL.md", "tide table"),
    ],
)  # fmt: skip
def test_a_file_is_called_by_its_name_without_the_date(path: str, words: str) -> None:
    assert file_name_words(path) == words
    assert note_name(path, {"title": " The  Title "}) == "The Title"


def test_a_step_of_a_trail_is_never_long() -> None:
    found = said(f"# {'h' * 5000}\n\n- {'p' * 5000}\n  - below")
    assert [len(step) < 400 for step in found[-1].trail] == [True, True] and len(found[0].text) == 5000


ROWS = st.sampled_from([
    "", " ", "\t", "- a", "- b <!-- mem src=x -->", " - c", "  deep", "    - far", "# Head", "## 09:00 - x", "prose",
    "prose:", "**Bold**", "---", "===", "***", "```", "  ```", "~~~", "<!-- open", "--> shut", "* - d", "+ f ", "1. g",
    "7) h", "> q", ">", ">> r", "| a | b |", "|---|---|", "a | b", "title: x", "<div>", "[x]: y", "\u3000- e", "- ",
    "나. 다", "- - -", "    code", "\x0b- v", "- [ ] box",
])  # fmt: skip


@given(st.lists(ROWS, max_size=20))
def test_every_line_belongs_to_exactly_one_statement_in_order(rows: list[str]) -> None:
    found = read(rows)
    assert [number for one in found for number in range(one.first, one.last + 1)] == list(range(1, len(rows) + 1))
    for at, one in enumerate(found):
        assert one.parent is None or (0 <= one.parent < at and found[one.parent].form is Form.ITEM)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
def test_any_text_parses(text: str) -> None:
    lines = text.split("\n")
    assert "\n".join("\n".join(lines[one.first - 1 : one.last]) for one in read(lines)) == text


SECTION = ["## Own", "", "- item", "  - below", "", "end:", "- of the list"]


@given(st.lists(ROWS, max_size=12), st.lists(ROWS, max_size=12))
def test_the_trail_of_a_section_does_not_depend_on_the_rest_of_the_file(above: list[str], below: list[str]) -> None:
    # Nothing above is left open (a fence, a comment), and nothing there is a heading.
    before = ["# File", *[row for row in above if not row.strip().startswith(("`", "~", "<", "#", "="))], ""]
    alone = [one.trail for one in read(["# File", "", *SECTION]) if one.has_content]
    found = read([*before, *SECTION, "", "## Other", *below])
    here = [one.trail for one in found if one.has_content and len(before) < one.first <= len(before) + len(SECTION)]
    assert here == alone


def test_the_documented_picture_is_what_is_read() -> None:
    page = (ROOT / "docs/format.md").read_text(encoding="utf-8").split("## Statements")[1].split("## Facts")[0]
    text = page.split("```markdown\n")[1].split("```")[0]
    rows = [
        row.strip("| ").replace("\\|", "\0").split(" | ")
        for row in page.split("|---|---|---|\n")[1].split("\n\n")[0].splitlines()
    ]
    assert [[cell.replace("\0", "|") for cell in row] for row in rows] == [
        [str(one.first) if one.first == one.last else f"{one.first}-{one.last}", one.text, " > ".join(one.trail)]
        for one in said(text)
    ]
