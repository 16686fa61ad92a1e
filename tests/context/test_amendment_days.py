"""A context marks what a later line of a log surely replaces, and nothing else."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.context.amendment_days import with_amendment_days
from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part, with_pieces
from gitmem.context.pieces import pieces
from gitmem.memory.document import parse

TODAY = date(2026, 11, 29)
OLD_LOG, LOG = "memory/2026-11-27.md", "memory/2026-11-28.md"
CITED = "<!-- mem type=decision src=memory/2026-11-27.md#L5@38b192ee3cca from=2026-11-27 origin=user -->"


def part(path: str, text: str, layer: Layer = Layer.MEMORY) -> Part:
    return with_pieces(Part(layer, path, "", 0.5, path), pieces(parse(text.encode())))


def log(line: str, path: str = LOG) -> Part:
    return part(path, f"# {path[7:17]}\n\n## 10:00 - session\n\n- {line}\n", Layer.DAILY)


def marks(*parts: Part) -> list[tuple[str, str]]:
    """(path, day) of each mark."""
    return [(each.path, day) for each in with_amendment_days(parts, TODAY) for _, day in each.until]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We decided that the crane is painted blue.", "We decided that the crane is painted red instead of blue."),
        ("우산 창고의 문은 초록색으로 칠하기로 결정했습니다.", "우산 창고의 문은 초록색 대신 노란색으로 칠하기로 결정했습니다."),
        ("배포는 젠킨스로 하기로 했다.", "배포는 젠킨스 대신 깃허브 액션으로 하기로 했다."),
    ],
)  # fmt: skip
def test_a_fact_that_a_later_log_replaces_says_until_when_and_so_do_its_copies(old: str, new: str) -> None:
    fact = part("MEMORY.md", f"# Memory\n\n- {old} {CITED}\n")
    episode = part("memory/sessions/2026-11-27-crane.md", f"# Session\n\n## Decisions\n\n- {old}\n", Layer.EPISODE)
    commit = Part(
        Layer.HISTORY,
        "commit 70d584d6973a",
        f"promote 1 fact\n\n- {old} (decision) memory/2026-11-27.md#L5",
        0.5,
        commit="70d584d6973a",
    )
    found = marks(fact, episode, commit, log(old, OLD_LOG), log(new))
    assert found == [
        ("MEMORY.md", "2026-11-28"), (episode.path, "2026-11-28"), ("", "2026-11-28"), (OLD_LOG, "2026-11-28"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fact", "new"),
    [
        ("The crane is painted blue.", "The crane is painted red instead of blue."),  # a person wrote the fact by hand
        (f"The crane is painted blue. {CITED.replace(' from', ' pinned=yes from')}", "The crane is painted red instead of blue."),
        (f"Patient 12 is allergic to latex. {CITED}", "Patient 13 is allergic to penicillin instead of latex."),
        (f"The retry limit for webhooks is 5. {CITED}", "The retry limit for emails is now 9."),
        (f"The crane is painted blue. {CITED}", "The crane is painted blue."),
        (f"The crane is painted blue. {CITED}", "The crane is painted red instead of blue. <!-- mem origin=agent -->"),
        (f"The crane is painted blue. {CITED}", "The crane is painted red instead of blue. <!-- mem origin=web -->"),
    ],
)  # fmt: skip
def test_what_is_not_sure_or_not_a_persons_word_is_not_marked(fact: str, new: str) -> None:
    assert marks(part("MEMORY.md", f"# Memory\n\n- {fact}\n"), log(new)) == []


def test_what_is_said_again_later_holds_again() -> None:
    old, new = "The crane is painted blue.", "The crane is painted red instead of blue."
    again = log(old, "memory/2026-11-29.md")
    assert (again.path, "2026-11-28") not in marks(log(old, OLD_LOG), log(new), again)


def test_an_earlier_log_marks_nothing_of_a_later_fact() -> None:
    fact = f"The crane is painted blue. {CITED.replace('from=2026-11-27', 'from=2026-11-29')}"
    assert marks(part("MEMORY.md", f"# Memory\n\n- {fact}\n"), log("The crane is painted red instead of blue.")) == []
