"""A context marks both sides of a pair that `git mem settle` asks about, and nothing else."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part, with_pieces
from gitmem.context.open_pairs import PairSource, with_open_pairs
from gitmem.context.pieces import pieces
from gitmem.memory.document import parse
from gitmem.memory.fact import fact_id

TODAY = date(2026, 11, 30)
OLD = "<!-- mem type=decision src=memory/2026-11-10.md#L5@38b192ee3cca from=2026-11-10 -->"
NEW = "<!-- mem type=decision src=memory/2026-11-20.md#L5@38b192ee3cca from=2026-11-20 -->"
POSTGRES = ("staging database runs on Postgres 14.", "staging database runs on Postgres 16.")


def memory(*lines: str, layer: Layer = Layer.MEMORY) -> list[Part]:
    """A part for each line of a MEMORY.md; the first is on line 3."""
    text = "# Memory\n\n" + "".join(f"- {line}\n" for line in lines)
    found = pieces(parse(text.encode(), "MEMORY.md"))
    return [with_pieces(Part(layer, "", "", 0.5, "MEMORY.md"), [piece]) for piece in found]


def log(line: str, day: str) -> Part:
    path = f"memory/{day}.md"
    text = f"# {day}\n\n## 10:00 - work\n\n- {line}\n"
    return with_pieces(Part(Layer.DAILY, path, "", 0.5, path), pieces(parse(text.encode(), path)))


def marks(parts: list[Part], offered: list[Part] | None = None, source: PairSource | None = None) -> list[str]:
    """`LINE: words` of each mark."""
    found = with_open_pairs(parts, offered or parts, {"project": source or PairSource()}, TODAY)
    return [f"{line}: {other.words}" for part in found for line, other in part.differs]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        POSTGRES,
        ("배포는 화요일에 한다.", "배포는 목요일에 한다."),
    ],
)  # fmt: skip
def test_both_facts_of_an_open_pair_name_the_other_and_its_day(old: str, new: str) -> None:
    assert marks(memory(f"{new} {NEW}", f"{old} {OLD}")) == [
        "3: an earlier line says otherwise: MEMORY.md:4, 2026-11-10",
        "4: a later line says otherwise: MEMORY.md:3, 2026-11-20",
    ]


def test_a_side_is_marked_also_if_the_other_one_is_not_shown() -> None:
    both = memory(f"{POSTGRES[1]} {NEW}", f"{POSTGRES[0]} {OLD}")
    assert marks(both[1:], both) == ["4: a later line says otherwise: MEMORY.md:3, 2026-11-20"]


def test_pinned_facts_without_a_day_are_dated_by_git_only_if_they_may_disagree() -> None:
    asked: list[tuple[int, ...]] = []

    def days(path: str, lines: object) -> dict[int, str]:
        asked.append(tuple(lines))  # type: ignore[call-overload]
        return {3: "2026-11-30", 4: "2026-11-10"}

    pinned = "<!-- mem pinned=true -->"
    source = PairSource(days)
    both = memory(
        f"Dana is no longer allergic to peanuts. {pinned}", f"Dana is allergic to peanuts. {pinned}", layer=Layer.PINNED
    )
    assert marks(both, source=source) == [
        "3: an earlier line says otherwise: MEMORY.md:4, 2026-11-10",
        "4: a later line says otherwise: MEMORY.md:3, 2026-11-30",
    ]
    assert asked == [(3, 4)]
    assert not marks(memory("Dana is allergic to peanuts.", "The cellar is open on Mondays."), source=source)
    assert asked == [(3, 4)]
    same_day = PairSource(lambda _path, _lines: {3: "2026-11-10", 4: "2026-11-10"})
    assert "another line says otherwise: MEMORY.md:4, 2026-11-10" in marks(both, source=same_day)[0]


def test_pairs_that_both_hold_or_that_a_person_settled_have_no_mark() -> None:
    assert not marks(memory(f"Room 12 is painted red. {NEW}", f"Room 13 is painted blue. {OLD}"))
    beside = NEW.replace(" -->", f" beside={fact_id(POSTGRES[0])} -->")
    assert not marks(memory(f"{POSTGRES[1]} {beside}", f"{POSTGRES[0]} {OLD}"))


def test_a_line_of_a_recent_log_and_a_fact_by_hand_are_a_pair_but_not_of_an_old_log_or_one_that_a_fact_cites() -> None:
    fact = memory("staging database runs on Postgres 14. <!-- mem from=2026-10-01 -->")
    recent = log(POSTGRES[1], "2026-11-20")
    assert marks([*fact, recent]) == [
        "3: a later line says otherwise: memory/2026-11-20.md:5, 2026-11-20",
        "5: an earlier line says otherwise: MEMORY.md:3, 2026-10-01",
    ]
    assert not marks([*fact, log(POSTGRES[1], "2026-11-10")])
    cited = memory(
        "staging database runs on Postgres 14. <!-- mem from=2026-10-01 -->", f"The port of staging is 5432. {NEW}"
    )
    assert not marks([*cited, recent])


def test_what_a_later_line_replaces_for_sure_has_no_second_mark() -> None:
    both = memory(f"{POSTGRES[1]} {NEW}", f"{POSTGRES[0]} {OLD}")
    over = Part(**{name: getattr(both[1], name) for name in both[1].__slots__} | {"until": ((4, "2026-11-20"),)})
    assert not marks([both[0], over])


def test_an_agents_proposal_is_an_open_pair() -> None:
    proposed = NEW.replace(" -->", f" proposes={fact_id('The lamp is green.')} -->")
    assert len(marks(memory(f"Light comes from the blue lamp. {proposed}", f"The lamp is green. {OLD}"))) == 2


def test_judgements_are_cached_by_hash_without_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = memory(f"{POSTGRES[1]} {NEW}", f"{POSTGRES[0]} {OLD}")
    first = marks(both, source=PairSource(state=tmp_path))
    (file,) = (tmp_path / "judgements").iterdir()
    assert "Postgres" not in file.read_text()
    monkeypatch.setattr("gitmem.context.open_pairs.rival_of", lambda *_: pytest.fail("judged again"))
    assert first and marks(both, source=PairSource(state=tmp_path)) == first


def test_another_memory_than_the_given_scopes_has_no_marks() -> None:
    parts = memory(f"{POSTGRES[1]} {NEW}", f"{POSTGRES[0]} {OLD}")
    assert with_open_pairs(parts, parts, {}, TODAY) == parts
