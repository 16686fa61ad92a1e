"""opencode puts a message of the command line in quotation marks: they are no part of what its person said."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gitmem.hosts.opencode import HOST, typed_message
from gitmem.hosts.session_database import read_session, stored_sessions
from gitmem.hosts.transcript import By, Role
from gitmem.hosts.transcript_parser import parse
from tests.harness import Repo

NOW = "2026-02-05T14:30:00+00:00"


def sent(*words: str, piped: str | None = None) -> str:
    """The message that `opencode run WORDS` (1.18) sends; `piped` is what standard input holds."""
    message = " ".join('"' + word.replace('"', '\\"') + '"' if " " in word else word for word in words)
    return message if piped is None else f"{message}\n{piped}"


@pytest.mark.parametrize(
    "typed",
    [
        "We decided that the crane is blue.",
        'We decided that the crane is "blue".',
        '"Blue" is what we decided.',
        "우리는 등대를 흰색으로 칠하기로 결정했다.",
        "We decided:\n\n- the mast is oak\n- the crane is blue",
        "keep C:\\boats\\ as it is",
        "ends with a backslash \\",
    ],
)
def test_one_argument_is_read_as_it_was_typed(typed: str) -> None:
    assert typed_message(sent(typed)) == typed
    assert typed_message(sent(typed, piped="")) == typed  # not at a terminal: a line break stands behind it


@pytest.mark.parametrize(
    "text",
    [
        sent("blue"),
        sent("We", "decided", "it."),
        sent("two words", "three more words"),
        sent("What is this?", piped="We decided that zebras fly."),
        'Replace "red crane" by "blue crane"',
        '"red crane" or "blue crane"',
        '"blue"',
        '"',
        '" ',
        "",
    ],
)
def test_any_other_message_is_left_as_it_is(text: str) -> None:
    assert typed_message(text) == text


def session(text: str, **part: object) -> dict[str, object]:
    info = {"id": "m1", "role": "user", "time": {"created": 1_770_300_000_000}}
    answer = {"id": "m2", "role": "assistant", "time": {"created": 1_770_300_001_000}}
    parts = [{"type": "text", "text": text, **part}]
    said = [{"type": "text", "text": '"Noted, it is blue."'}]
    return {"info": {"id": "s1"}, "messages": [{"info": info, "parts": parts}, {"info": answer, "parts": said}]}


def test_a_transcript_has_the_words_and_the_agents_quotation_stays_one() -> None:
    user, agent = parse(json.dumps(session(sent('We decided that the crane is "blue".'))).encode()).turns
    assert (user.role, user.text, user.by) == (Role.USER, 'We decided that the crane is "blue".', By.SPEAKER)
    assert agent.text == '"Noted, it is blue."'


def test_a_session_of_its_database_has_them_too(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    form = HOST.database
    assert form is not None
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE session (id, parent_id, directory, time_created)")
        made.execute("CREATE TABLE message (id, session_id, time_created, data)")
        made.execute("CREATE TABLE part (id, message_id, session_id, time_created, data)")
        made.execute("INSERT INTO session VALUES ('s1', NULL, '/p', 1770300000000)")
        made.execute("INSERT INTO message VALUES ('m1', 's1', 1, '{\"role\": \"user\"}')")
        part = json.dumps({"type": "text", "text": sent("We decided that the crane is blue.", piped="")})
        made.execute("INSERT INTO part VALUES ('p1', 'm1', 's1', 1, ?)", (part,))
    (stored,) = stored_sessions(path, form)
    (turn,) = parse(read_session(path, form, stored.id)).turns
    assert turn.text == "We decided that the crane is blue."


@pytest.mark.parametrize("typed", ["We decided that the crane is blue.", "우리는 등대를 흰색으로 칠하기로 결정했다."])
def test_what_is_decided_in_one_argument_is_the_users_and_a_page_quoted_in_it_nobodys(
    typed: str, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_NOW", NOW)
    monkeypatch.setenv("GITMEM_DETACHED", "1")  # no time limit
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- The lighthouse lift carries 400 kilos of coal.\n"})
    for number, text in enumerate((sent(typed), sent("Is this right?", piped='"We decided that zebras fly."'))):
        given = {"session_id": f"s{number}", **session(text)}
        repo.mem("session", "hook", "Stop", "--host", "opencode", input=json.dumps(given))
    log = repo.read("memory/2026-02-05.md")
    (line,) = [line for line in log.splitlines() if line.startswith("- ")]
    assert line.startswith(f"- {typed}") and "origin=user" in line and "zebras" not in log


def test_a_question_in_one_argument_is_asked_without_the_marks(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_DETACHED", "1")
    repo.commit("memory", {"memory/lift.md": "# Lift\n\nThe lighthouse lift carries 400 kilos of coal.\n"})
    question = 'How much "coal" does the lighthouse lift carry?'
    given = [
        repo.mem("session", "hook", "UserPromptSubmit", "--host", "opencode",
                 input=json.dumps({"session_id": name, "prompt": text})).stdout
        for name, text in (("s1", question), ("s2", sent(question)))
    ]  # fmt: skip
    assert "400 kilos" in given[0] and given[1] == given[0]
