"""Statements of a file as a context gives them: whole, below what they are about, said once, in Markdown."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.context.pieces import (
    Piece,
    as_markdown,
    by_section,
    first_fitting,
    pieces,
    pieces_at,
    pieces_of_text,
    shared_trail,
    short_markdown,
)
from gitmem.memory.document import parse

HARBOUR = """\
---
title: Harbour book
---
# Harbour

Opened in May.

## Doors

The office closes at ten
unless Aune is there.

- north door
  - locked at nine, in winter
    already at eight
- south door
  - locked at ten <!-- mem importance=0.9 -->

| berth | depth |
|:------|------:|
| A     | 4 m   |
| B     | 6 m   |

## Calls

Ring in this order:
1. the pilot
2. the office

> Nobody sails on Sundays,
> says Aune.

```sh
ring pilot
```
"""


def read(text: str) -> tuple[Piece, ...]:
    return pieces(parse(text.encode(), "memory/harbour.md"))


def count(text: str) -> int:
    return len(text.split())


def one(start: str) -> Piece:
    return next(piece for piece in read(HARBOUR) if piece.own.text.startswith(start))


def test_all_of_a_file_is_its_own_markdown_without_metadata_and_with_wrapped_lines_joined() -> None:
    assert as_markdown(read(HARBOUR)) == (
        "# Harbour book\n# Harbour\nOpened in May.\n\n## Doors\nThe office closes at ten unless Aune is there.\n"
        "- north door\n  - locked at nine, in winter already at eight\n- south door\n  - locked at ten\n\n"
        "| berth | depth |\n|---|---|\n| A     | 4 m   |\n| B     | 6 m   |\n\n## Calls\nRing in this order:\n"
        "1. the pilot\n2. the office\n\n> Nobody sails on Sundays, says Aune.\n\n```sh\nring pilot\n```"
    )


def test_a_piece_alone_stands_below_its_headings_parents_and_table_head() -> None:
    assert as_markdown([one("locked at ten")]).endswith("## Doors\n- south door\n  - locked at ten")
    assert as_markdown([one("| B")]).endswith("## Doors\n| berth | depth |\n|---|---|\n| B     | 6 m   |")
    assert as_markdown([one("the office")]).endswith("## Calls\nRing in this order:\n2. the office")
    assert one("locked at ten").text_with_trail == "Harbour book - Harbour - Doors - south door: locked at ten"


def test_what_pieces_share_is_said_once_and_again_where_another_section_stood_between() -> None:
    north, south, pilot = one("locked at nine"), one("locked at ten"), one("the pilot")
    text = as_markdown(by_section([(south, 0.5), (north, 0.4), (pilot, 0.9)]))
    assert text.index("pilot") < text.index("north door") < text.index("locked at ten")
    assert text.count("## Doors") == text.count("# Harbour\n") == 1
    assert as_markdown([pilot, one("Opened")]).endswith("1. the pilot\n\n# Harbour\nOpened in May.")
    assert shared_trail([north, south]) == ("Harbour book", "Harbour", "Doors")
    assert short_markdown([one("| B")]) == "B | 6 m" == one("| B").statement.text
    assert short_markdown([south]) == "locked at ten" and short_markdown([north, south]).startswith(
        "- north door\n  - locked"
    )


def test_a_parent_that_is_a_piece_itself_is_not_said_twice() -> None:
    north = [one("north door"), one("locked at nine")]
    assert as_markdown(north).count("north door") == 1 == as_markdown(north[::-1]).count("north door")


def test_lines_that_are_a_heading_stand_for_what_is_below_it() -> None:
    found = pieces_at(read(HARBOUR), 24, 24)
    assert [piece.own.text[:8] for piece in found] == ["Ring in ", "the pilo", "the offi", "Nobody s", "```sh\nri"]
    assert [piece.own.text for piece in pieces_at(read(HARBOUR), 17, 17)] == ["locked at ten"]


def test_a_budget_cuts_between_statements_and_within_one_only_where_it_would_fill_the_context() -> None:
    found = list(read(HARBOUR))
    assert first_fitting(found, 0, count) == found
    assert [piece.own.text for piece in first_fitting(found, 13, count)] == [found[0].own.text, found[1].own.text]
    long = read("A sentence of five words. " * 40 + "\n")
    assert first_fitting(long, 12, count) == list(long)
    (cut,) = first_fitting(long, 12, count, max_tokens=100)
    assert cut.own.text == "A sentence of five words. A sentence of five words. …"


def test_of_statements_that_do_not_fit_those_that_answer_are_kept() -> None:
    found = list(read(HARBOUR))
    asked = lambda text: float("Aune" in text)  # noqa: E731
    kept = first_fitting(found, 13, count, weight=asked)
    assert any("Aune" in piece.own.text for piece in kept) and len(kept) < len(found)
    assert first_fitting(found, 13, count, weight=lambda text: 0.0) == first_fitting(found, 13, count)


def test_a_long_statement_is_cut_to_the_sentences_that_answer() -> None:
    said = [f"Sentence {number} has five words." for number in range(40)]
    said[30] = "Aune keeps the harbour key."
    (cut,) = first_fitting(read(" ".join(said)), 16, count, 20, lambda text: float("Aune" in text))
    assert cut.own.text == "… Sentence 29 has five words. Aune keeps the harbour key. Sentence 31 has five words. …"
    (last,) = first_fitting(read(" ".join(said[:31])), 16, count, 20, lambda text: float("Aune" in text))
    assert last.own.text == "… Sentence 28 has five words. Sentence 29 has five words. Aune keeps the harbour key."
    (one,) = first_fitting(read("word " * 500 + "Aune " + "word " * 500), 30, count, 40, lambda t: float("Aune" in t))
    assert "Aune" in one.own.text and count(one.own.text) <= 32 and one.own.text.startswith("… word ")


def test_line_ends_of_windows_and_texts_without_a_file_are_read_alike() -> None:
    assert as_markdown(read(HARBOUR.replace("\n", "\r\n"))) == as_markdown(read(HARBOUR))
    (piece,) = pieces_of_text("- one\n  more", "Fleet > Plover")
    assert as_markdown([piece]) == "# Fleet > Plover\n- one more" and piece.statement.trail == ("Fleet > Plover",)


LINES = st.lists(
    st.sampled_from(("# A", "## B", "**C**", "- a", "  - b", "    more", "text", "|x|y|", "|-|-|", "> q", "```", "", "1. n", "t:")),
    max_size=14,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(LINES, st.data())
def test_whatever_the_markdown_is_each_chosen_statement_is_there_once_with_its_headings(lines: list[str], data) -> None:  # type: ignore[no-untyped-def]
    numbered = [f"{line}{number}" if line.strip("|-` >") else line for number, line in enumerate(lines)]
    found = read("\n".join(numbered))
    chosen = data.draw(st.lists(st.sampled_from(found), unique=True)) if found else []
    text = as_markdown(by_section((piece, data.draw(st.floats(0, 1))) for piece in chosen))
    for piece in chosen:
        assert piece.own.text in text
        assert all(line.text in text for line in piece.above)
