"""What the trial of the hosts measures (integrations/hosts): repeats, states, the two days, the table."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gitmem.errors import Locked
from gitmem.gate.quoting import END, LEAD
from gitmem.git.worktree import locked
from gitmem.sessions.state import state_lock
from integrations.hosts.drivers import DRIVERS, Scratch
from integrations.hosts.endpoint import Answer, Asked, Chat, serving
from integrations.hosts.host_run import HostRun, zone_of_day
from integrations.hosts.injections import Injection, Repeats, arrived, in_force, measured, statements, text_of
from integrations.hosts.session import CELLS, FIGURES, FIRST, Row, script
from integrations.hosts.table import into_docs

PROMPT = "We decided that the harbour crane is painted blue."


def _context(*lines: str) -> str:
    return "\n".join([LEAD, "<memory>", "<from MEMORY.md:3 memory>", "# Memory", *lines, "</memory>", END])


def _words(text: str) -> int:
    return len(text.split())


def test_an_injection_that_a_host_escaped_is_found_in_its_request() -> None:
    text = _context("- The mast &lt;b&gt; is made of oak.")
    for escape in (lambda t: t, lambda t: t.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")):
        request = f"The crane is painted blue.\n<hook_context>{escape(text)}</hook_context>"
        assert arrived([text, _context("- Another one here.")], ["nothing", request]) == [text]
        given = [Injection(1, "SessionStart", _context("- The crane is painted blue.", "- The mast is made of oak."))]
        asked = [f"The crane is painted blue.\n{escape(given[0].text)}"]
        assert (measured(given, asked, _words).statements, measured(given, asked, _words).had) == (2, 1)


def test_a_context_that_is_answered_in_two_fields_is_one_injection() -> None:
    answer = {"additionalContext": "a", "hookSpecificOutput": {"additionalContext": "a"}}
    assert text_of(json.dumps(answer)) == "a"


def test_an_injection_is_its_statements_without_marks_headings_and_topics() -> None:
    text = _context("- Invoices are sent on Thursdays. The crane is blue.", "## Topics", "crane, invoices, mast, oak")
    assert statements(text) == ["Invoices are sent on Thursdays.", "The crane is blue."]
    assert statements(_context("- 등대 문은 초록색으로 칠하기로 결정했습니다.")) == [
        "등대 문은 초록색으로 칠하기로 결정했습니다."
    ]


def test_a_fact_in_the_message_of_a_commit_is_the_same_statement() -> None:
    line = "- The crane is painted blue. (decision) memory/2026-11-29.md#L5"
    assert statements(_context(line)) == statements(_context("- The crane is painted blue."))


def test_what_a_hook_adds_is_read_from_every_form_of_answer() -> None:
    assert text_of(json.dumps({"hookSpecificOutput": {"additionalContext": "a"}})) == "a"
    assert text_of(json.dumps({"additionalContext": "b"})) == "b"
    assert text_of("") == text_of("{}") == ""


def test_a_statement_of_an_earlier_injection_of_the_transcript_or_of_the_same_injection_is_a_repeat() -> None:
    start = Injection(1, "SessionStart", _context("- Invoices are sent on Thursdays."))
    prompt = Injection(2, "UserPromptSubmit", _context(
        "- Invoices are sent on Thursdays.", "- Marmots are counted twice.", "- The mast is of oak.", "- The mast is of oak."
    ))  # fmt: skip
    request = "\n".join(["Rules: Marmots are counted twice.", start.text, "How many marmots?", prompt.text])
    assert measured([start, prompt], [request], _words) == Repeats(5, 3, _words(start.text) + _words(prompt.text))


def test_what_is_injected_later_is_no_reason_to_call_the_first_a_repeat() -> None:
    given = [Injection(at, "UserPromptSubmit", _context(f"- Fact number {at} holds.")) for at in (1, 2)]
    assert measured(given, ["\n".join(each.text for each in given)], _words).had == 0


def test_the_same_words_inside_of_a_longer_word_are_no_repeat() -> None:
    given = [Injection(1, "SessionStart", _context("- The mast is oak."))]
    assert measured(given, [given[0].text + "\nThe mast is oaken."], _words).had == 0


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["- It is painted red instead of blue."], (True, 0)),
        (["- It is painted blue.", "- It is painted red instead of blue."], (True, 1)),
        (["- until 2026-11-30: It is painted blue.", "- It is painted red."], (True, 0)),
        (["- It is painted blue."], (False, 1)),
    ],
)
def test_an_old_decision_is_marked_or_absent(lines: list[str], expected: tuple[bool, int]) -> None:
    told, stale = in_force([_context(*lines)], "red", "blue")
    assert (told, len(stale)) == expected


@pytest.mark.parametrize("hour", range(24))
def test_the_second_day_is_the_next_one_at_every_hour_and_none_begins_soon(hour: int) -> None:
    moment = datetime(2026, 11, 29, hour, 30, tzinfo=UTC)
    days = [_local(zone_of_day(number, moment), moment) for number in (0, 1)]
    assert (days[1].date() - days[0].date()).days == 1
    assert days[0].time() == days[1].time() and days[0].hour not in (22, 23)


def _local(zone: str, moment: datetime) -> datetime:
    shown = subprocess.run(
        ["date", "-d", f"@{int(moment.timestamp())}", "+%Y-%m-%dT%H:%M"], env={"TZ": zone, "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return datetime.fromisoformat(shown.stdout.strip())


@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_a_prompt_is_one_argument_as_a_person_types_it(driver: object) -> None:
    command = driver.prompt(PROMPT, False)  # type: ignore[attr-defined]
    assert PROMPT in command or f"'{PROMPT}'" in command[-1]  # OpenClaw's is a script of the shell


def test_the_lock_of_a_session_is_held_from_its_first_event_until_the_end(tmp_path: Path) -> None:
    with serving(lambda asked: Answer("Noted.")) as endpoint:
        run = HostRun(DRIVERS[0], tmp_path / "bin", tmp_path / "run", endpoint)
        common = run.scratch.project / ".git"
        common.mkdir()
        with run.locks_held():
            call = run.calls_folder / f"{time.time_ns()}"
            call.with_suffix(".in").write_text(json.dumps({"session_id": "s1"}))
            call.with_suffix(".args").write_text("session hook SessionStart --host claude\n")
            with pytest.raises(Locked):
                for _ in range(1_000):  # until the other thread has looked
                    with locked(common, state_lock("s1"), 0.0):
                        pass
                    time.sleep(0.01)  # outside the block, so that the other thread finds the lock free
        with locked(common, state_lock("s1"), 0.0):
            assert (tmp_path / "run/held.txt").read_text() == "s1"


def test_the_model_looks_up_what_a_person_tells_it_to_and_not_what_memory_quotes() -> None:
    quoted = _context("- Look it up: on which day are invoices sent?")
    quoted += f"\nThe last session (data):\n<memory>\n- {FIRST}\n</memory>"
    asked = Asked("", {}, "", f"Hello.\n{quoted}", ("memory_search",), False)
    assert script(asked).tool == ""
    assert script(replace(asked, last=f"{quoted}\n{FIRST}")).tool == "memory_search"


@pytest.mark.parametrize("behind", [[], ["<system-reminder>\nIt is Sunday.\n</system-reminder>"]])
def test_a_prompt_that_stands_in_one_message_with_a_hosts_reminders_is_the_last_message(behind: list[str]) -> None:
    reminder = "<system-reminder>\nSkills are available.\n</system-reminder>"
    parts = [{"type": "text", "text": text} for text in (reminder, "Look it up: on which day?", *behind)]
    own = {"role": "user", "content": [{"type": "text", "text": reminder}]}
    messages = [{"role": "system", "content": "You help."}, {"role": "user", "content": parts}, own]
    tools = [{"type": "function", "function": {"name": "mcp__git-mem__memory_search"}}]
    asked = Chat.read("/v1/chat/completions", {"messages": messages, "tools": tools})
    assert "Look it up" in asked.last and script(asked).tool == "mcp__git-mem__memory_search"


def test_what_makes_a_host_compact_holds_for_that_one_command(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, tmp_path, tmp_path, "http://127.0.0.1:1")
    driver = next(driver for driver in DRIVERS if driver.name == "opencode")
    driver.prepare(scratch)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    assert driver.compact is not None and driver.compact(scratch)
    assert before != {path: path.read_bytes() for path in before}
    scratch.restore()
    assert before == {path: path.read_bytes() for path in before}


def test_the_table_keeps_hosts_that_were_not_run_and_says_why_a_cell_is_no(tmp_path: Path) -> None:
    page = tmp_path / "agents.md"
    page.write_text(
        "Before.\n<!-- hosts: begin -->\n| `cursor` | - |\n* `cursor`, lock held: old\n<!-- hosts: end -->\nAfter.\n"
    )
    row = Row("claude", "1", {cell: "yes" for cell in CELLS}, {name: "1" for name in FIGURES})
    row.cells["lock held"], row.notes = "no", ["lock held: <!-- mem a --> nothing"]
    into_docs(page, [row], date(2026, 11, 29))
    into_docs(page, [row], date(2026, 11, 29))
    text = page.read_text()
    assert text.startswith("Before.\n") and text.endswith("\nAfter.\n")
    assert text.count("| `claude` |") == 1 and "| `cursor` | - | not run |" in text
    assert text.count("* `claude`, lock held: nothing") == 1 and "* `cursor`, lock held: old" in text
