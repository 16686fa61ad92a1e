"""A page that is open is told what is new, in one line, and only that."""

from __future__ import annotations

import json

import pytest

from gitmem.ui import change_events
from gitmem.ui.page_snapshot import memory_key
from tests.harness import Repo
from tests.ui.conftest import Browse
from tests.ui.test_local_server import opened, running


def test_the_state_changes_with_files_and_with_commits(memory: Repo, browse: Browse) -> None:
    site = browse(memory).site

    def now() -> str:
        with site.pool.lend_open() as there:
            return memory_key(there.repo, there.config)

    first = now()
    assert now() == first
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "- one more\n")
    second = now()
    memory.commit()
    assert len({first, second, now()}) == 3


def test_a_page_that_is_open_hears_of_new_facts(memory: Repo) -> None:
    with running(memory) as (_, address):
        browser, page = opened(address)
        since = page.split('data-live="')[1].split('"')[0]
        with browser.open(address.split("/", 3)[0] + "//" + address.split("/")[2] + since, timeout=30) as told:
            assert told.readline() == b"retry: 5000\n"
            memory.write("MEMORY.md", memory.read("MEMORY.md") + "- one more\n- and another\n")
            line = next(line for line in told if line.startswith(b"data: "))
        assert json.loads(line[6:]) == {"words": "2 new facts"}


def test_the_end_of_the_server_ends_what_is_open(memory: Repo) -> None:
    with running(memory) as (process, address):
        browser, page = opened(address)
        since = page.split('data-live="')[1].split('"')[0]
        with browser.open(address.split("/", 3)[0] + "//" + address.split("/")[2] + since, timeout=30) as told:
            told.readline()
            process.terminate()
            assert told.read() is not None
            process.wait(30)


def test_no_more_pages_are_told_at_once_than_the_limit(
    memory: Repo, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_events, "MAX_STREAMS", 0)
    assert browse(memory).get("live", 204) == ""
