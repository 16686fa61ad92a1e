"""What was worked out for an earlier page holds for what it is of, and for nothing else."""

from __future__ import annotations

from gitmem.ui.kept import ENTRIES, Kept
from tests.harness import Repo
from tests.ui.conftest import Browse

LEAK = "- the key is AKIA" + "Z7QK3M2PXW5LR8TD\n"


def test_a_value_is_made_once_for_each_key() -> None:
    kept, made = Kept(), list[int]()

    def make() -> int:
        made.append(len(made))
        return made[-1]

    assert [kept.of("a", 1, make), kept.of("a", 1, make), kept.of("a", 2, make), kept.of("b", 1, make)] == [0, 0, 1, 2]
    assert kept.of("a", 1, make) == 0
    for key in range(ENTRIES):
        kept.of("c", key, make)
    assert kept.of("a", 1, make) == made[-1]


def test_health_and_findings_follow_what_stands_in_the_work_tree(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    assert "findings that block: 0" in browser.get("health") and "The gate finds nothing" in browser.get("findings")
    text = memory.read("MEMORY.md")
    memory.write("MEMORY.md", text + LEAK)
    assert "findings that block: 1" in browser.get("health") and "stops a commit" in browser.get("findings")
    memory.write("MEMORY.md", text)
    assert "findings that block: 0" in browser.get("health") and "The gate finds nothing" in browser.get("findings")


def test_a_day_shows_what_was_committed_after_it_was_looked_at(history: Repo, browse: Browse) -> None:
    browser = browse(history)
    assert "REST webhooks, once" not in browser.get("timeline?day=2026-02-16")
    text = history.read("MEMORY.md").replace("the port is 9090", "REST webhooks, once")
    history.commit("more", {"MEMORY.md": text}, "2026-02-16T12:00:00+00:00")
    assert "REST webhooks, once" in browser.get("timeline?day=2026-02-16")
