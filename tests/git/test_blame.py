"""Which lines of an edited file HEAD had already: right for any edit, in time linear in the lines."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.git.blame import same_runs
from tests.harness import Repo

lines = st.lists(st.sampled_from("abcdef"), max_size=30)


class Line(str):
    """A line that counts how often it was looked at."""

    looks = 0

    def __eq__(self, other: object) -> bool:
        Line.looks += 1
        return str.__eq__(self, other)  # type: ignore[arg-type]

    def __hash__(self) -> int:
        Line.looks += 1
        return str.__hash__(self)


def kept(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """(line in `old`, line in `new`), 1-based, of the lines that were kept."""
    return sorted((before + at, after + at) for before, after, length in same_runs(old, new) for at in range(length))


@given(lines, lines)
def test_kept_lines_are_equal_and_do_not_cross(old: list[str], new: list[str]) -> None:
    found = kept(old, new)
    assert all(old[a - 1] == new[b - 1] for a, b in found)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(found))


@given(st.lists(st.integers(0, 99).map(str), max_size=30, unique=True), st.lists(st.integers(0, 29)))
def test_lines_that_were_only_added_or_removed_leave_the_rest_kept(old: list[str], drop: list[int]) -> None:
    new = [line for at, line in enumerate(old) if at not in drop]
    assert len(kept(old, new)) == len(new)


def many() -> dict[str, tuple[list[str], list[str]]]:
    sections = [line for n in range(3000) for line in (f"## Section {n}", "", f"- fact {n}", "")]
    moved = sections[6000:] + sections[:6000]
    shuffled = random.Random(1).sample(sections, len(sections))
    return {
        "sections": (sections, ["# top", *sections[:-2], "- end"]),
        "sections moved": (sections, moved),
        "sections shuffled": (sections, shuffled),
        "blank lines": (["# M", *[""] * 10_000, "- fact"], ["# N", *[""] * 9_000, "- fakt"]),
        "equal lines": (["- same"] * 80_000, ["- top", *["- same"] * 79_000, "- end"]),
        "two lines in turn": (["a", "b"] * 20_000, ["c", *["b", "a"] * 19_000, "d"]),
    }


@pytest.mark.parametrize("case", many())
def test_each_line_is_looked_at_a_bounded_number_of_times(case: str) -> None:
    old, new = ([Line(line) for line in side] for side in many()[case])
    Line.looks = 0
    found = kept(old, new)
    assert Line.looks <= 60 * (len(old) + len(new))
    assert all(str.__eq__(old[a - 1], new[b - 1]) for a, b in found)


def test_a_line_that_moved_down_keeps_its_commit_and_a_new_one_has_none(repo: Repo) -> None:
    text = "".join(f"## Section {n}\n\n- fact {n}\n\n" for n in range(400))
    oid = repo.commit("start", {"MEMORY.md": text})
    repo.write("MEMORY.md", "# Memory\n\n" + text.replace("- fact 200\n", "- fact 200 and more\n") + "- end\n")
    assert oid[:12] in repo.mem("why", "MEMORY.md:1601").stdout
    for line in (1, 805, 1603):
        assert "not committed yet" in repo.mem("why", f"MEMORY.md:{line}").stdout, line
