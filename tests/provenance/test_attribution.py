"""The verdict on a fact from what its sources say, whether one is missing, and whether it was edited."""

from __future__ import annotations

from datetime import date

from gitmem.provenance.attribution import support_verdict
from gitmem.provenance.cited_text import CitedText
from gitmem.provenance.grounding import Support

TEXT = "Invoices are in UTC."
SAME = CitedText((TEXT,), ())
LONGER = CitedText(("Invoices and receipts of the shop are in UTC since May.",), ())
PORT, OTHER_PORT = "The port is 81.", CitedText(("The port is 80.",), ())
MISSING = "the file is gone"
DAYS = [date(2026, 2, 5)]


def test_a_source_that_says_the_text_supports_it() -> None:
    assert support_verdict(TEXT, [SAME], DAYS, missing="", edited=False) == (Support.IN_SOURCE, "")


def test_without_a_source_that_was_found_the_missing_one_is_the_problem() -> None:
    assert support_verdict(TEXT, [], [], missing=MISSING, edited=False) == (Support.NO_SOURCE, MISSING)
    assert support_verdict(TEXT, [], [], missing="", edited=False) == (Support.NO_SOURCE, "")


def test_a_missing_source_is_said_beside_one_that_supports_the_text() -> None:
    assert support_verdict(TEXT, [SAME], DAYS, missing=MISSING, edited=False) == (Support.IN_SOURCE, MISSING)


def test_a_source_with_another_number_contradicts_the_text() -> None:
    support, problem = support_verdict(PORT, [OTHER_PORT], DAYS, missing="", edited=False)
    assert support is Support.NOT_IN_SOURCE and problem


def test_a_source_with_more_words_only_shares_words_and_the_difference_is_said() -> None:
    support, problem = support_verdict(TEXT, [LONGER], DAYS, missing="", edited=False)
    assert support is Support.SHARES_WORDS and problem


def test_only_a_contradiction_or_a_missing_source_is_the_problem_of_an_edited_fact() -> None:
    assert support_verdict(TEXT, [SAME], DAYS, missing="", edited=True) == (Support.EDITED, "")
    assert support_verdict(TEXT, [LONGER], DAYS, missing="", edited=True) == (Support.EDITED, "")
    assert support_verdict(TEXT, [], [], missing=MISSING, edited=True) == (Support.EDITED, MISSING)
    support, problem = support_verdict(PORT, [OTHER_PORT], DAYS, missing="", edited=True)
    assert support is Support.EDITED and problem
