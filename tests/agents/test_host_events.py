"""What a host's event gives is used: its own turn where there is no transcript, its prompt without what we put before it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gitmem.gate.quoting import END, LEAD
from tests.harness import Repo

NOW = "2026-02-05T14:30:00+00:00"
LOG = "memory/2026-02-05.md"
DECIDED = "We decided that the crane is blue."


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_NOW", NOW)
    monkeypatch.setenv("GITMEM_DETACHED", "1")
    repo.commit(
        "memory",
        {
            "MEMORY.md": "# Memory\n\n- The invoice date is UTC.\n",
            "memory/lift.md": "# Lift\n\nThe lighthouse lift carries coal.\n",
        },
    )
    return repo


def fire(repo: Repo, event: str, host: str, **given: Any) -> str:
    done = repo.mem("session", "hook", event, "--host", host, input=json.dumps({"session_id": "s1", **given}))
    assert done.stderr == ""
    return done.stdout


def test_a_turn_without_a_transcript_is_the_events_own(memory: Repo, tmp_path: Path) -> None:
    context = f"<hook_context>{LEAD} We decided that zebras fly. {END}</hook_context>"
    turn = {"prompt": f"{context}\n\nWe decided that the crane is blue.", "prompt_response": "Noted."}
    for transcript in ({}, {"transcript_path": ""}, {"transcript_path": str(tmp_path / "none.jsonl")}):
        fire(memory, "Stop", "gemini", **turn, **transcript)
    text = memory.read(LOG)
    assert text.count("the crane is blue") == 1 and "zebras" not in text


def test_a_prompt_is_asked_without_the_context_before_it(memory: Repo) -> None:
    before = "<hook_context>" + LEAD + " Which lighthouse lift carries coal? " + END + "</hook_context>\n\n"
    question = "What is the invoice date?"
    alone = fire(memory, "UserPromptSubmit", "gemini", prompt=question)
    again = fire(memory, "UserPromptSubmit", "gemini", prompt=before + question, session_id="s2")
    assert "UTC" in alone and again == alone
    assert fire(memory, "UserPromptSubmit", "gemini", prompt=before) == ""


def test_a_session_that_goes_on_does_not_get_its_own_episode_again(memory: Repo, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"id": "t1", "role": "user", "text": "We decided that the crane is blue."}) + "\n")
    fire(memory, "SessionEnd", "claude", transcript_path=str(path))
    own = fire(memory, "SessionStart", "claude", source="resume")
    assert "The last session" not in own
    other = fire(memory, "SessionStart", "claude", session_id="s2", source="startup")
    assert other.count("the crane is blue") == 1  # the log of the day says what the episode says
    for log in (memory.path / "memory").glob("2*.md"):
        log.unlink()
    assert "The last session" in fire(memory, "SessionStart", "claude", session_id="s3", source="startup")


def test_a_session_that_goes_on_with_its_context_among_its_messages_is_given_what_is_new(memory: Repo) -> None:
    def message(role: str, *parts: str) -> dict[str, Any]:
        texts = [{"type": "text", "text": text, "synthetic": text.startswith(LEAD)} for text in parts]
        return {"info": {"role": role, "time": {"created": 1770000000000}}, "parts": texts}

    def start(source: str, messages: list[dict[str, Any]]) -> str:
        return fire(memory, "SessionStart", "opencode", source=source, info={"id": "s1"}, messages=messages)

    text = json.loads(start("startup", []))["hookSpecificOutput"]["additionalContext"]
    assert "UTC" in text
    with_context = [message("user", "hello", text), message("assistant", "Hello.")]
    assert start("resume", with_context) == ""
    memory.commit("more", {"MEMORY.md": memory.read("MEMORY.md") + "- The lamp is cleaned on Mondays.\n"})
    more = start("resume", with_context)
    assert "lamp" in more and "UTC" not in more
    fire(memory, "SessionEnd", "opencode", session_id="s2", info={"id": "s2"}, messages=[message("user", DECIDED)])
    assert "The last session" not in start("resume", with_context)
    without = [message("user", "hello"), message("assistant", "Hello.")]
    assert "UTC" in start("resume", without)  # its host did not keep what it was given


def test_a_new_conversation_under_an_old_id_is_told_the_episode_before_it_and_one_that_goes_on_is_not(
    memory: Repo, tmp_path: Path
) -> None:
    said = [{"role": "user", "content": "We decided that the crane is blue.", "timestamp": 1770000000000}]
    later = [{"role": "user", "content": "What is left to do?", "timestamp": 1770000900000}]
    fire(memory, "SessionEnd", "openclaw", messages=said)
    for held in (said, [*said, *later]):
        assert "The last session" not in fire(memory, "SessionStart", "openclaw", messages=held)
    for held in ([], later):
        assert "the crane is blue" in fire(memory, "SessionStart", "openclaw", messages=held)
    fire(memory, "Stop", "openclaw", messages=later)
    fire(memory, "SessionEnd", "openclaw", messages=[*later, {**said[0], "content": "We decided to paint the pier."}])
    found = [path.read_text() for path in (memory.path / "memory/sessions").glob("*.md")]
    assert len(found) == 2 and sum("the crane is blue" in text for text in found) == 1
    assert sum('session: "s1#2"' in text for text in found) == 1


def test_an_end_that_names_no_transcript_is_of_the_sessions_last_one(memory: Repo, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    entry = {"type": "user.message", "id": "e1", "data": {"content": "We decided that the crane is blue."}}
    path.write_text(json.dumps(entry) + "\n")
    fire(memory, "Stop", "copilot", transcript_path=str(path))
    fire(memory, "SessionEnd", "copilot", reason="complete")
    (episode,) = (memory.path / "memory/sessions").glob("*.md")
    assert "the crane is blue" in episode.read_text()


def test_a_start_that_names_no_transcript_repeats_nothing_that_the_session_said(memory: Repo) -> None:
    told = fire(memory, "SessionStart", "copilot", source="new")
    assert "The invoice date is UTC." in told
    text = json.loads(told)["additionalContext"]
    path = Path.home() / ".copilot/session-state/s1/events.jsonl"
    path.parent.mkdir(parents=True)
    prompt = {"content": DECIDED, "transformedContent": f"{DECIDED}\n\n<system_reminder>\n{text}\n</system_reminder>"}
    path.write_text(json.dumps({"type": "user.message", "id": "e1", "data": prompt}) + "\n")
    fire(memory, "Stop", "copilot", transcript_path=str(path))
    assert "the crane is blue" in memory.read(LOG)
    assert fire(memory, "SessionStart", "copilot", source="resume") == ""
    assert "the crane is blue" in fire(memory, "SessionStart", "copilot", source="new", session_id="s2")


def test_prompts_that_memory_does_not_answer_get_nothing_and_no_answer_is_given_twice(memory: Repo) -> None:
    fire(memory, "SessionStart", "claude", source="startup")
    for prompt in ("thanks", "how do I centre a div?", "오늘 날씨 어때?"):
        assert fire(memory, "UserPromptSubmit", "claude", prompt=prompt) == ""
    question = "How much coal does the lighthouse lift carry?"
    assert "carries coal" in fire(memory, "UserPromptSubmit", "claude", prompt=question)
    assert fire(memory, "UserPromptSubmit", "claude", prompt=question) == ""
    memory.write("memory/crane.md", "# Crane\n\nThe harbour crane is painted blue.\n")
    assert "blue" in fire(memory, "UserPromptSubmit", "claude", prompt="Which colour is the harbour crane painted?")
    fire(memory, "SessionStart", "claude", source="compact")
    assert "carries coal" in fire(memory, "UserPromptSubmit", "claude", prompt=question)
    names = list((memory.path / ".git/gitmem/sessions").glob("*.recalled.json"))
    assert len(names) == 1 and "coal" not in names[0].read_text() and names[0].stat().st_mode & 0o077 == 0


def test_a_memory_that_the_start_told_is_not_said_again_before_a_compaction(memory: Repo) -> None:
    assert "UTC" in fire(memory, "SessionStart", "claude", source="startup")
    for prompt in ("write a haiku about rain", "비에 대한 하이쿠를 써줘"):
        assert fire(memory, "UserPromptSubmit", "claude", prompt=prompt) == ""
    question = "What is the invoice date?"
    assert fire(memory, "UserPromptSubmit", "claude", prompt=question) == ""
    fire(memory, "PreCompact", "claude", trigger="auto")
    assert "UTC" in fire(memory, "UserPromptSubmit", "claude", prompt=question)
    assert fire(memory, "UserPromptSubmit", "claude", prompt=question) == ""
    memory.write("MEMORY.md", "# Memory\n\n- The invoice date is UTC.\n- The invoice number begins with HB.\n")
    again = fire(memory, "UserPromptSubmit", "claude", prompt="What does the invoice number begin with?")
    assert "begins with HB" in again and "UTC" not in again


def test_without_a_start_the_first_prompt_is_given_a_small_memory_whole_and_a_session_without_a_name_is_not(
    memory: Repo,
) -> None:
    assert "UTC" in fire(memory, "UserPromptSubmit", "claude", prompt="write a haiku about rain")
    for name in ("s1", ""):
        assert fire(memory, "UserPromptSubmit", "claude", prompt="write a haiku about rain", session_id=name) == ""


def test_a_memory_larger_than_the_usual_budget_is_silent_to_a_first_prompt_of_another_matter(memory: Repo) -> None:
    facts = "".join(f"- The crane on pier {n} was built in Lund by the yard of Ruth and Tove.\n" for n in range(120))
    memory.write("MEMORY.md", f"# Memory\n\n{facts}")
    assert fire(memory, "UserPromptSubmit", "claude", prompt="write a haiku about rain") == ""


def test_a_host_that_announces_a_compaction_before_every_request_is_heard_once_a_turn(
    memory: Repo, tmp_path: Path
) -> None:
    """Gemini CLI's PreCompress: the turn's end writes what is said after the first one."""
    path = tmp_path / "chat.jsonl"
    rows = [{"sessionId": "s1", "projectHash": "x", "kind": "main"}]

    def say(ident: str, text: str) -> None:
        rows.append({"id": ident, "type": "user", "content": [{"text": text}], "timestamp": NOW})
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def log() -> str:
        return memory.read(LOG) if (memory.path / LOG).exists() else ""

    say("m1", "We decided that the crane is blue.")
    fire(memory, "PreCompact", "gemini", transcript_path=str(path))
    assert "the crane is blue" in log()
    say("m2", "We decided that the lift is closed on Sundays.")
    fire(memory, "PreCompact", "gemini", transcript_path=str(path))
    assert "on Sundays" not in log()
    fire(memory, "PreCompact", "gemini", transcript_path=str(path), session_id="s2")  # another session's own turn
    fire(memory, "Stop", "gemini", transcript_path=str(path))
    assert "on Sundays" in log()
    say("m3", "We decided that the harbour opens at six.")
    fire(memory, "UserPromptSubmit", "gemini", prompt="thanks", transcript_path=str(path))
    fire(memory, "PreCompact", "gemini", transcript_path=str(path))
    assert "opens at six" in log()


def test_a_compaction_that_is_not_acted_on_imports_nothing_that_reads_memory(memory: Repo, tmp_path: Path) -> None:
    fire(memory, "PreCompact", "gemini")
    code = (
        "import os, sys; leave = os._exit; sys.argv = ['git-mem', 'session', 'hook', 'PreCompact', '--host', 'gemini']\n"
        "def told(code): print(*sys.modules, flush=True); leave(code)\n"
        "os._exit = told\nfrom gitmem.__main__ import main\nmain()"
    )
    done = memory.run(sys.executable, "-c", code, input=json.dumps({"session_id": "s1"}))
    loaded = set(done.stdout.split())
    assert "gitmem.agents.host_events" in loaded
    assert not {"gitmem.sessions.lifecycle", "gitmem.context.assembly", "gitmem.sessions.state", "apsw"} & loaded


def test_other_hosts_act_on_each_compaction(memory: Repo, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    for at, text in enumerate(("We decided that the crane is blue.", "We decided that the lift is closed on Sundays.")):
        with path.open("a") as file:
            file.write(json.dumps({"id": f"t{at}", "role": "user", "text": text}) + "\n")
        fire(memory, "PreCompact", "claude", transcript_path=str(path))
    assert "on Sundays" in memory.read(LOG)


def test_words_that_are_too_long_to_be_read_are_said_once_in_the_log_and_by_doctor(
    memory: Repo, tmp_path: Path
) -> None:
    path = tmp_path / "talk.jsonl"
    rows = [
        {"id": "t1", "role": "user", "text": DECIDED},
        {"id": "t2", "role": "user", "text": "We decided. " * 750_000},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for event in ("Stop", "Stop", "SessionEnd"):
        fire(memory, event, "claude", transcript_path=str(path))
    assert DECIDED in memory.read(LOG)
    log = (memory.path / ".git/gitmem/session.log").read_text()
    assert log.count("not read, the words of 1 entry") == 1 and "We decided" not in log
    assert "not read, the words of 1 entry" in memory.mem("doctor", check=False).stdout
