"""Of the threads of a process one computes, and whoever waits for the database lets another one compute."""

from __future__ import annotations

import threading

from gitmem.server.postgres.compute_lock import computing, waiting


def test_one_computes_until_it_waits() -> None:
    events: list[str] = []
    first_waits, second_has_computed = threading.Event(), threading.Event()

    def first() -> None:
        with computing():
            events.append("first computes")
            with waiting():
                first_waits.set()
                assert second_has_computed.wait(10)
            events.append("first goes on")

    def second() -> None:
        assert first_waits.wait(10)
        with computing():
            events.append("second computes")
            second_has_computed.set()

    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert events == ["first computes", "second computes", "first goes on"]


def test_the_turn_comes_back_from_what_fails() -> None:
    for _ in range(2):
        try:
            with computing(), waiting():
                raise OSError
        except OSError:
            pass
    done = threading.Event()

    def other() -> None:
        with computing():
            done.set()

    thread = threading.Thread(target=other)
    thread.start()
    thread.join(10)
    assert done.is_set()


def test_what_waits_without_a_turn_takes_none() -> None:
    with waiting():
        pass
    with computing():
        pass
