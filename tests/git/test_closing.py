"""Closing a repository waits for no other process."""

from __future__ import annotations

import os
import threading

from gitmem.git.opening import open_repository
from tests.harness import Repo


def test_a_process_that_was_forked_meanwhile_does_not_hold_up_closing(repo: Repo) -> None:
    repo.commit("first", {"MEMORY.md": "# Memory\n"})
    opened = open_repository(repo.path, os.environ)
    opened.stay_open()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # it inherits the pipes of the process that reads objects, and lives until the test is over
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    closing = threading.Thread(target=opened.close, daemon=True)
    closing.start()
    closing.join(30)
    hangs = closing.is_alive()
    os.write(writing, b"x")
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    assert not hangs
