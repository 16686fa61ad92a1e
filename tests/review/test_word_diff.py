"""Word by word, within bounds: what repeats a few words thousands of times is shown, and not compared."""

from __future__ import annotations

from datetime import date

from gitmem.memory.fact import Fact
from gitmem.memory.rivals import MAX_NAMED_RIVALS
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.statement_diff import MAX_WORD_PAIRS, Piece, word_diff
from gitmem.review.warnings.rival_facts import find_rivals
from tests.harness import Repo


def test_texts_of_a_few_words_again_and_again_are_not_compared() -> None:
    count = int(MAX_WORD_PAIRS**0.5) + 10
    old, new = "a b " * count, "a c " * count
    assert word_diff(old, new) == [Piece("-", old), Piece("+", new)]
    long = " ".join(f"word{number}" for number in range(900))
    pieces = word_diff(long, long.replace("word450", "other"))
    assert [piece.sign for piece in pieces] == ["=", "-", "+", "="], "a long text of many words is"


def test_each_of_many_facts_that_are_alike_names_a_few_rivals() -> None:
    facts = [Fact(f"the port of the unit is {number}", f"{number:012}", number) for number in range(1, 100)]
    changes = [FactChange(Op.ADDED, "MEMORY.md", new=fact) for fact in facts]
    found = find_rivals(changes, [("MEMORY.md", fact) for fact in facts], date(2026, 2, 5))
    of_first = [rival for rival in found if rival.line == 1]
    assert len(of_first) == MAX_NAMED_RIVALS and all(rival.contradicts for rival in of_first)


def test_an_edited_fact_is_one_line_of_a_terminal_with_its_words_marked(repo: Repo) -> None:
    base = repo.commit("start", {"MEMORY.md": "# Memory\n\n- The port is 80 here\n- 배포는 11시 전에 한다\n"})
    repo.commit("edit", {"MEMORY.md": "# Memory\n\n- The port is 81 here\n- 배포는 10시 전에 한다\n"})
    rows = repo.mem("changes", f"{base}..HEAD").stdout.split("\n")
    assert rows[1].startswith("  ~ The port is [-80-]{+81+} here  changed by Test")
    assert rows[2].startswith("  ~ 배포는 [-11시-]{+10시+} 전에 한다  changed by Test")
    coloured = repo.mem("changes", f"{base}..HEAD", "--color", "always").stdout
    assert "\x1b[" in coloured and "[-80-]" in coloured
