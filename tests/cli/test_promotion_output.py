"""`git mem promote --explain` is bounded: candidates by reason, how many, some of each; `--json` has all."""

from __future__ import annotations

from gitmem.cli.promotion_output import MAX_EXAMPLES, MAX_TEXT_CHARS, MAX_WAITING_EXAMPLES, explanation
from gitmem.git.objects import Span
from gitmem.promotion.plan import Check, Refused
from gitmem.promotion.proposal import Op, Operation
from tests.harness import Repo


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


def test_facts_that_wait_for_the_next_run_are_said(repo: Repo) -> None:
    names, now = ("alpha", "beta", "gamma", "delta", "epsilon"), {"GITMEM_NOW": "2026-11-30T12:00:00"}
    for day, words, port in ((10, "is", 8000), (20, "is now", 9000)):
        lines = "".join(f"- Decision: the {name} port {words} {port + n}\n" for n, name in enumerate(names))
        repo.commit("log", {f"memory/2026-11-{day}.md": f"# 2026-11-{day}\n\n{lines}"})
        said = repo.mem("promote", env=now).stdout
    waits = "2 facts that replace others wait for the next run, since a run replaces at most 3 facts: git mem promote\n"
    assert "promoted 3 facts" in said and said.endswith(waits)
    again = repo.mem("promote", env=now).stdout
    assert "promoted 2 facts" in again and "wait" not in again


def test_a_memory_over_its_budget_is_said_and_keeps_what_people_wrote(repo: Repo) -> None:
    facts = "".join(f"- Rule {n} of the yard\n" for n in range(200))
    line = "- Decision: the crane port is 8000\n"
    repo.commit("log", {"MEMORY.md": f"# Memory\n\n{facts}", "memory/2026-11-10.md": f"# 2026-11-10\n\n{line}"})
    said = repo.mem("promote", env={"GITMEM_NOW": "2026-11-30T12:00:00"}).stdout
    assert "note: MEMORY.md has 206 lines, more than mem.memoryLines (200)." in said
    assert "archived" not in said and "promoted 1 fact" in said and facts in repo.read("MEMORY.md")
