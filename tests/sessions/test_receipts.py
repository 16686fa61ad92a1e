"""What sessions were given is written down without its text, within bounds, and a ceiling holds."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from gitmem.memory.fact import fact_id
from gitmem.sessions import receipts
from gitmem.sessions.receipts import Receipt
from tests.harness import Repo

WHEN = datetime(2026, 3, 1, 12, tzinfo=UTC)
FACTS = "# Facts\n\n- Deploys happen on Tuesdays.\n- Alice owns the release checklist.\n"


def receipt(number: int = 1, session: str = "s1", kind: str = "prompt", tokens: int = 100) -> Receipt:
    return Receipt(WHEN.replace(day=number), session, kind, 12, {"memory": tokens}, [fact_id("Deploys happen.")])


def test_what_was_recorded_is_read_back_by_session_and_day(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        receipts.append(tmp_path, receipt(number, f"s{number % 2}"))
    assert [one.at.day for one in receipts.read(tmp_path)] == [1, 2, 3]
    assert [one.at.day for one in receipts.read(tmp_path, "s1")] == [1, 3]
    assert len(receipts.read(tmp_path, since=date(2026, 3, 3))) == 1
    total = receipts.totals(receipts.read(tmp_path))
    assert (total.tokens_a_day, total.tokens) == (100, {"memory": 300})
    assert list(total.counts.values()) == [3]


def test_the_file_is_private_and_keeps_its_newest_half_when_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipts, "MAX_FILE_BYTES", 4_000)
    for number in range(200):
        receipts.append(tmp_path, receipt(number % 28 + 1))
    file = tmp_path / "gitmem" / receipts.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and file.stat().st_size <= 4_200
    kept = receipts.read(tmp_path)
    assert 5 < len(kept) < 40 and kept[-1].at.day == 199 % 28 + 1


@pytest.mark.parametrize(
    "line",
    ["", "no json", "[]", "{}", '{"at": 1}', '{"at":"2026-03-01","session":"s","kind":"k","ms":"x","tokens":{},"parts":[]}',
     '{"at":"2026-03-01T00:00:00+00:00","session":"s","kind":"k","ms":1,"tokens":[],"parts":[]}', "[" * 100_000],
)  # fmt: skip
def test_a_damaged_line_costs_itself_only(tmp_path: Path, line: str) -> None:
    receipts.append(tmp_path, receipt())
    file = tmp_path / "gitmem" / receipts.FILE
    file.write_bytes(line.encode() + b"\n" + file.read_bytes())
    assert len(receipts.read(tmp_path)) == 1


def test_a_link_in_the_place_of_the_file_is_neither_written_nor_read(tmp_path: Path) -> None:
    receipts.append(tmp_path, receipt())
    file, other = tmp_path / "gitmem" / receipts.FILE, tmp_path / "other"
    other.write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(other)
    before = other.read_bytes()
    receipts.append(tmp_path, receipt())
    assert other.read_bytes() == before and receipts.read(tmp_path) == []


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "gitmem").mkdir()
    os.mkfifo(tmp_path / "gitmem" / receipts.FILE)
    receipts.append(tmp_path, receipt())
    assert receipts.read(tmp_path) == []


def test_a_session_is_left_what_its_ceiling_leaves(tmp_path: Path) -> None:
    assert receipts.tokens_left(0, tmp_path, "s1", 500) == 500
    receipts.append(tmp_path, receipt(tokens=700))
    receipts.append(tmp_path, receipt(kind="search", tokens=900))  # was asked for, not injected
    assert receipts.tokens_left(1_000, tmp_path, "s1", 500) == 300
    assert receipts.tokens_left(1_000, tmp_path, "s2", 500) == 500
    receipts.append(tmp_path, receipt(tokens=700))
    assert receipts.tokens_left(1_000, tmp_path, "s1", 500) == 0


def hook(repo: Repo, event: str, env: dict[str, str] | None = None, **fields: Any) -> str:
    given = json.dumps({"session_id": "talk-1", "cwd": str(repo.path), "hook_event_name": event, **fields})
    return repo.mem("session", "hook", event, "--host", "claude", input=given, env=env).stdout


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("facts", {"MEMORY.md": FACTS}, "2026-03-01T10:00:00Z")
    return repo


def test_the_contexts_of_a_hosts_session_leave_receipts_without_text(memory: Repo) -> None:
    hook(memory, "SessionStart", source="startup")
    assert hook(memory, "UserPromptSubmit", prompt="on which day do deploys happen?") == ""  # the start said it
    hook(memory, "PreCompact", trigger="auto")
    hook(memory, "UserPromptSubmit", prompt="on which day do deploys happen?")
    text = (memory.path / ".git/gitmem" / receipts.FILE).read_text()
    assert "Tuesdays" not in text and "deploys" not in text
    value = json.loads(memory.mem("receipts", "--json").stdout)
    assert [row["kind"] for row in value["receipts"]] == ["start", "prompt"]
    assert {row["session"] for row in value["receipts"]} == {"talk-1"} and value["tokens_a_day"] > 0
    assert value["most"][0]["text"] == "Deploys happen on Tuesdays."
    shown = memory.mem("receipts", "--session", "talk-1").stdout
    heads, row = (line.split() for line in shown.split("\n")[:2])
    assert heads == ["began", "session", "contexts", "searches", "tokens", "median", "ms"]
    assert row[2:5] == ["talk-1", "2", "0"] and "Tokens by layer, " in shown and "tokens a day" in shown
    assert "Given most often\n  MEMORY.md:3" in shown
    assert "tokens a day" in memory.mem("status").stdout
    assert "no receipts yet" in memory.mem("receipts", "--session", "other").stderr


def test_a_fact_that_the_gate_would_block_is_not_shown(memory: Repo) -> None:
    token = "ghp_" + "R8vN2kQ7xW4mZ9pT3bL6cY1dF5gH0jSaKeUi"
    memory.commit("facts", {"MEMORY.md": f"{FACTS}- The token of the wiki is {token}.\n"})
    hook(memory, "SessionStart", source="startup")
    for args in ([], ["--json"]):
        shown = memory.mem("receipts", *args).stdout
        assert token not in shown and "the gate would block" in shown


def test_nothing_is_injected_above_the_ceiling(memory: Repo) -> None:
    low = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "mem.contextCeiling", "GIT_CONFIG_VALUE_0": "20"}
    hook(memory, "SessionStart", source="startup")
    hook(memory, "PreCompact", trigger="auto")  # what the start said may be given again
    assert "Tuesdays" not in hook(memory, "UserPromptSubmit", low, prompt="on which day do deploys happen?")
    assert "Tuesdays" in hook(memory, "UserPromptSubmit", prompt="on which day do deploys happen?")


def test_a_memory_without_sessions_says_nothing_of_receipts(memory: Repo) -> None:
    assert "receipts" not in memory.mem("status").stdout
    assert json.loads(memory.mem("receipts", "--json").stdout)["receipts"] == []
    memory.mem("search", "deploys")
    assert not (memory.path / ".git/gitmem" / receipts.FILE).exists()
