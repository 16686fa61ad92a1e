"""A page within a size: what is risky stays, what is left out is counted."""

from __future__ import annotations

from gitmem.review.page import Row, Section, fit_page, whole_page


def rows(count: int, text: str = "x" * 100, group: str = "") -> tuple[Row, ...]:
    return tuple(Row(f"{number} {text}", short=f"{number}", group=group) for number in range(count))


def test_a_page_that_fits_is_whole() -> None:
    sections = [Section("A", rows(3, group="by one commit"), "fact"), Section("B", (), "line")]
    page = fit_page(sections, 10_000)
    assert page.text == whole_page(sections) and page.missing == ()
    assert page.text.startswith("#### A\n\n3 by one commit:\n\n- 0 x") and "#### B" not in page.text


def test_the_rest_of_long_texts_goes_before_any_row_does() -> None:
    sections = [Section("A", tuple(Row(f"{n}", rest="y" * 1000) for n in range(8)), "fact")]
    page = fit_page(sections, 1000)
    assert page.missing == ("the rest of 8 long texts",) and all(f"- {n}" in page.text for n in range(8))


def test_what_is_not_risky_is_counted_by_kind_and_every_section_shows_its_first_rows() -> None:
    sections = [
        Section("Faults", rows(10), "fault", risky=True), Section("Added", rows(500), "added fact"),
        Section("Removed", rows(30), "removed fact"), Section("Logs", rows(4000), "line of logs", "lines of logs", folded=True),
    ]  # fmt: skip
    page = fit_page(sections, 20_000)
    assert len(page.text) <= 20_000 and all(f"- {n} x" in page.text.split("#### Added")[0] for n in range(10))
    shown = {part.split("\n")[0]: part.count("\n- ") for part in page.text.split("#### ")[1:]}
    assert shown["Faults"] == 10 and shown["Removed"] >= 10 and shown["Logs"] >= 10
    assert f"{500 - shown['Added']} added facts" in page.missing
    assert f"{4000 - shown['Logs']} lines of logs" in page.missing


def test_faults_that_fill_the_page_are_told_in_few_words_and_never_left_out_for_others() -> None:
    sections = [Section("Faults", rows(300, "y" * 300), "fault", risky=True), Section("Added", rows(50), "added fact")]
    page = fit_page(sections, 20_000)
    assert (
        all(f"- {n}\n" in page.text for n in range(300))
        and "the words of what fails, but for its place" in page.missing
    )
    assert len(page.text) <= 20_000


def test_size_is_asked_of_who_knows_it() -> None:
    sections = [Section("A", rows(300, "가" * 50), "fact")]
    page = fit_page(sections, 20_000, lambda text: len(text.encode()))
    assert len(page.text.encode()) <= 20_000 and page.missing
