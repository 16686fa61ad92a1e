"""What was worked out for an earlier page holds for what it is of, and for nothing else."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import date

from gitmem.agents.repository_pool import RepositoryPool
from gitmem.gate.work_tree_findings import read_files_to_scan
from gitmem.ui.file_findings import FileFindings
from gitmem.ui.page_cache import MAX_ENTRIES, PageCache
from tests.harness import Repo
from tests.ui.conftest import Browse

TODAY = date(2026, 2, 20)
LEAK = "- the key is AKIA" + "Z7QK3M2PXW5LR8TD\n"


def test_a_value_is_made_once_for_each_key() -> None:
    kept, made = PageCache(), list[int]()

    def make() -> int:
        made.append(len(made))
        return made[-1]

    assert [kept.get("a", 1, make), kept.get("a", 1, make), kept.get("a", 2, make), kept.get("b", 1, make)] == [
        0,
        0,
        1,
        2,
    ]
    assert kept.get("a", 1, make) == 0
    for key in range(MAX_ENTRIES):
        kept.get("c", key, make)
    assert kept.get("a", 1, make) == made[-1]


def test_one_thread_makes_a_value_and_the_others_wait_for_it() -> None:
    kept, made, found = PageCache(), list[int](), list[int]()
    begun, asked = threading.Event(), threading.Event()

    def make() -> int:
        made.append(len(made))
        begun.set()
        asked.wait()
        return made[-1]

    def ask() -> None:
        if begun.is_set():
            asked.set()
        found.append(kept.get("a", 1, make))

    first, second = threading.Thread(target=ask), threading.Thread(target=ask)
    first.start()
    begun.wait()
    second.start()
    first.join()
    second.join()
    assert found == [0, 0] and made == [0] and kept.has("a", 1) and not kept.has("a", 2)


def test_a_file_that_stays_is_examined_once(memory: Repo) -> None:
    examined = FileFindings()
    with RepositoryPool(memory.path).lend() as (repo, _):
        first = read_files_to_scan(repo, TODAY)
        assert examined.unread(first) == sum(len(blob.data) for blob in first.blobs) > 0
        assert first.scan(examined) == first.scan() and examined.unread(first) == 0
        memory.write("MEMORY.md", memory.read("MEMORY.md") + LEAK)
        then = read_files_to_scan(repo, TODAY)
        assert examined.unread(then) == len(memory.read("MEMORY.md").encode())
        assert then.scan(examined) == then.scan() and then.scan(examined).blocked
        strict = replace(then, policy=replace(then.policy, strict=True))
        assert examined.unread(strict) == sum(len(blob.data) for blob in strict.blobs)


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
