"""Whether a statement holds: by its own line, by the fact that replaced it, by the facts that cite it."""

from __future__ import annotations

from datetime import date

from gitmem.memory.fact import fact_id
from gitmem.memory.state import (
    LapsedFacts,
    LinesState,
    MemoryLines,
    State,
    lapsed_facts,
    state_of_lines,
    state_of_text,
    states_of,
)
from gitmem.memory.statements import read

TODAY = date(2026, 2, 5)
LOG = "memory/2026-01-05.md"


def known(memory: str, archive: str = "", forgotten: tuple[str, ...] = ()) -> LapsedFacts:
    return lapsed_facts(
        read(memory.split("\n")), read(archive.split("\n")), TODAY, [fact_id(text) for text in forgotten]
    )


def says(text: str, by: LapsedFacts, path: str = "memory/notes.md") -> list[State]:
    found = [statement for statement in read(text.split("\n")) if statement.has_content]
    return states_of(found, by, path)


def mem(**keys: str) -> str:
    return "<!-- mem " + " ".join(f"{key}={value}" for key, value in keys.items()) + " -->"


def test_a_line_holds_through_its_last_day() -> None:
    nothing = known("")
    assert says(f"- a {mem(until='2026-02-05')}\n- b {mem(until='2026-02-04')}", nothing) == [State.HOLDS, State.ENDED]


def test_a_fact_that_another_names_is_replaced_and_so_are_its_copies_and_the_lines_it_cites() -> None:
    old = f"- the queue is Rabbit {mem(src=LOG + '#L5')}"
    new = f"- the queue is Postgres {mem(supersedes=fact_id('the queue is Rabbit'), src=LOG + '#L6')}"
    log = "# 2026-01-05\n\n## 09:00\n\n- decided: the queue is Rabbit\n- decided: the queue is Postgres"
    for by in (known(f"{old}\n{new}"), known(new, old)):
        assert says("- the queue is Rabbit\n- the queue is Postgres", by) == [State.REPLACED, State.HOLDS]
        assert says(log, by, LOG) == [State.REPLACED, State.HOLDS]
        assert says(log, by) == [State.REPLACED, State.HOLDS]  # of another file no fact cites a line: its words tell


def test_a_cited_line_that_says_something_else_or_that_a_fact_which_holds_cites_too_holds() -> None:
    over = f"- the crane is red {mem(src=LOG + '#L1-L2', until='2026-02-01')}"
    log = "- the crane is red\n- pilots meet at noon"
    assert says(log, known(over), LOG) == [State.ENDED, State.HOLDS]
    both = f"{over}\n- the crane was built in Lund {mem(src=LOG + '#L1')}"
    assert says("- the red crane is from Lund", known(both), LOG) == [State.HOLDS]


def test_what_was_decided_back_and_what_a_person_wrote_again_holds() -> None:
    rabbit, postgres = fact_id("the queue is Rabbit"), fact_id("the queue is Postgres")
    by = known(
        f"- the queue is Rabbit {mem(supersedes=postgres)}",
        f"- the queue is Postgres {mem(supersedes=rabbit)}\n- the queue is Rabbit",
    )
    assert says("- the queue is Rabbit\n- the queue is Postgres", by) == [State.HOLDS, State.REPLACED]
    assert says("- the queue is Rabbit", known("- the queue is Rabbit", "", ("the queue is Rabbit",))) == [State.HOLDS]


def test_a_forgotten_text_is_known_by_its_hash_also_in_the_message_of_the_commit_that_recorded_it() -> None:
    by = known("", "", ("the queue is Rabbit",))
    assert says("- the queue is\n  Rabbit", by) == [State.FORGOTTEN]
    for text in (
        "the queue is Rabbit (decision)",
        "memory: the queue is Rabbit",
        f"the queue is Rabbit (fact) {LOG}#L5-L6",
    ):
        assert state_of_text(text, by) is State.FORGOTTEN
    assert state_of_text("the queue is Postgres (decision)", by) is State.HOLDS


def test_the_day_from_which_a_fact_is_replaced_is_that_of_what_replaces_it() -> None:
    lines = ["- a <!-- mem supersedes=111111111111 from=2025-02-01 -->", "- b <!-- mem supersedes=2222 -->"]
    known = lapsed_facts(read(lines), (), date(2026, 1, 1))
    assert known.since == {"111111111111": date(2025, 2, 1)}


def test_lines_that_also_say_something_else_have_the_state_in_part_only() -> None:
    fact = "- The port is 8080. <!-- mem until=2025-12-31 src=memory/2025-01-01.md#L3-L4@1a2b3c4d5e6f -->"
    known = lapsed_facts(read([fact]), (), date(2026, 1, 1))
    path = "memory/2025-01-01.md"
    assert state_of_lines(MemoryLines(path, 3, 3, "- The port is 8080."), known) == LinesState(State.ENDED)
    more = "- The port is 8080, TLS is on, certificates come from the vault and are renewed each Monday."
    assert state_of_lines(MemoryLines(path, 4, 4, more), known) == LinesState(State.ENDED, whole=False)
    assert state_of_lines(MemoryLines(path, 5, 5, "- The port is 8080, they say."), known) == LinesState(
        State.ENDED, whole=False
    )
    assert state_of_lines(MemoryLines(path, 5, 5, "- The port is 8081."), known) == LinesState(State.HOLDS)


def test_a_line_written_after_a_fact_ended_states_it_again_and_holds() -> None:
    known = lapsed_facts(read(["- The gym closes at 22:00. <!-- mem until=2025-12-31 -->"]), (), date(2026, 1, 5))
    said = "- The gym closes at 22:00."
    for day, there in ((date(2025, 12, 1), State.ENDED), (None, State.ENDED), (date(2026, 1, 2), State.HOLDS)):
        assert state_of_lines(MemoryLines("memory/x.md", 1, 1, said, "", day), known).state is there


def test_a_fact_of_memory_with_an_archived_copy_was_stated_again_and_holds() -> None:
    memory = ["- The pager is 4411", f"- The pager is 4422 <!-- mem supersedes={fact_id('The pager is 4411')} -->"]
    known = lapsed_facts(read(memory), read(["- The pager is 4411 <!-- mem superseded-by=x -->"]), date(2026, 1, 5))
    assert state_of_lines(MemoryLines("MEMORY.md", 1, 1, memory[0]), known).state is State.HOLDS
