"""`git mem promote --explain` is bounded: candidates by reason, how many, some of each; `--json` has all."""

from __future__ import annotations

from gitmem.cli.promotion_output import MAX_EXAMPLES, MAX_TEXT_CHARS, MAX_WAITING_EXAMPLES, explanation
from gitmem.git.objects import Span
from gitmem.promotion.plan import Check, Refused
from gitmem.promotion.proposal import Op, Operation


def refused(number: int, why: Check, reason: str, text: str = "") -> Refused:
    span = Span("memory/2026-02-05.md", number, number, "0" * 40)
    return Refused(Operation(Op.ADD, text or f"line {number}", (span,)), why, reason)


def test_a_hundred_thousand_candidates_are_some_lines() -> None:
    many = [refused(n, Check.MODEL, f"speaks against it: did {n}") for n in range(100_000)]
    many += [refused(n, Check.COVERED, "its source was promoted or refused before") for n in range(3)]
    many += [refused(n, Check.ORIGIN, "it comes from the web") for n in range(5_000)]
    lines = explanation(many, set())
    heads = [line for line in lines if not line.startswith(("skipped", " "))]
    assert heads == [
        "model, speaks against it: 100000 candidates", "origin: 5000 candidates", "covered: 3 candidates",
    ]  # fmt: skip
    assert sum(line.startswith("skipped") for line in lines) == MAX_EXAMPLES + MAX_WAITING_EXAMPLES + 3
    assert [line.strip() for line in lines if "more: --json has all" in line] == [
        f"and {100_000 - MAX_EXAMPLES} more: --json has all", f"and {5_000 - MAX_WAITING_EXAMPLES} more: --json has all",
    ]  # fmt: skip


def test_a_long_text_is_cut_and_a_hidden_one_is_not_shown() -> None:
    lines = explanation([refused(1, Check.SHAPE, "too long", "x" * 9_000)], set())
    assert max(map(len, "\n".join(lines).split("\n"))) < MAX_TEXT_CHARS + 20
    assert "[not shown]" in "\n".join(explanation([refused(1, Check.GATE, "a secret", "key")], {"key"}))
