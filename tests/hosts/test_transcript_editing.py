"""A shortened transcript is still the host's own: kept lines byte for byte, pairs intact, readable again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitmem.hosts.transcript import Role
from gitmem.hosts.transcript_editing import compact_transcript, mask_transcript, prune_transcript
from gitmem.hosts.transcript_parser import parse
from gitmem.sessions.compaction import compact, prune
from gitmem.sessions.rolling_summary import RollingSummary, add_turns, render
from tests.hosts.test_transcript_parser import CLAUDE, lines

NOW = datetime(2026, 2, 6, tzinfo=UTC)
BIG = "x" * 9000


def claude(count: int) -> bytes:
    rows = [{"type": "user", "uuid": f"u{n}", "sessionId": "s", "message": {"role": "user", "content": f"We talk about deploys, part {n}."}} for n in range(count)]  # fmt: skip
    return lines(*rows)


def codex(count: int) -> bytes:
    rows = [{"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"We talk about deploys, part {n}."}]}} for n in range(count)]  # fmt: skip
    return lines(*rows)


def openclaw(count: int) -> bytes:
    rows = [{"type": "message", "id": f"m{n}", "message": {"role": "user", "content": [{"type": "text", "text": f"We talk about deploys, part {n}."}]}} for n in range(count)]  # fmt: skip
    return lines(*rows)


@pytest.mark.parametrize("host", [claude, codex, openclaw])
def test_the_oldest_turns_become_one_entry_that_the_host_reads(host) -> None:  # type: ignore[no-untyped-def]
    data = host(20)
    found = parse(data)
    done = compact(found.turns)
    short = compact_transcript(data, done.kept, done.dropped, render(add_turns(RollingSummary(), done.dropped)))
    again = parse(short)
    assert len(again.turns) == 9 and again.turns[0].role is Role.USER and "deploys" in again.turns[0].text
    assert [t.text for t in again.turns[1:]] == [t.text for t in done.kept]
    assert set(short.split(b"\n")[1:]) <= set(data.split(b"\n")) and again.skipped == 0


def test_a_pruned_result_is_the_same_entry_with_less_text() -> None:
    turns = []
    for n in range(5):
        turns.append({"type": "assistant", "uuid": f"a{n}", "message": {"role": "assistant", "content": [{"type": "text", "text": "go"}, {"type": "tool_use", "id": f"c{n}", "name": "Bash"}]}})  # fmt: skip
        turns.append({"type": "user", "uuid": f"r{n}", "toolUseResult": {"stdout": BIG}, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{n}", "content": BIG}]}})  # fmt: skip
    data = lines(*turns)
    found = parse(data)
    short = prune_transcript(data, found.turns, prune(found.turns, now=NOW))
    again = parse(short)
    assert [t.id for t in again.turns] == [t.id for t in found.turns] and len(short) < len(data) - 25_000
    assert [len(t.text) for t in again.turns if t.role is Role.TOOL][-3:] == [9000] * 3


def test_nothing_to_do_is_byte_for_byte_the_same() -> None:
    found = parse(CLAUDE)
    done = compact(found.turns)
    assert (
        compact_transcript(CLAUDE, done.kept, done.dropped, render(add_turns(RollingSummary(), done.dropped))) == CLAUDE
    )
    assert prune_transcript(CLAUDE, found.turns, prune(found.turns, now=NOW)) == CLAUDE


def test_masking_leaves_ids_and_data_and_counts_the_changed_lines() -> None:
    rows = [
        b'{"sessionId": "secret-1", "text": "a secret-1 here"}',
        b'{"data": "secret-1", "role": "secret-1"}',
        b'{"data": ["secret-1"], "n": 1}',
        b"secret-1, no JSON \xff",
        b"",
    ]
    masked = mask_transcript(b"\n".join(rows), lambda text: text.replace("secret-1", "[masked]"))
    assert masked.changed_lines == 3
    assert masked.data.split(b"\n") == [
        b'{"sessionId": "secret-1", "text": "a [masked] here"}',
        rows[1],
        b'{"data": ["[masked]"], "n": 1}',
        b"[masked], no JSON \xff",
        b"",
    ]


def test_each_text_is_scanned_once() -> None:
    scanned: list[str] = []

    def clean(text: str) -> str:
        scanned.append(text)
        return text

    mask_transcript(b'{"text": "the same words"}\n{"text": "the same words"}\n{"text": "short"}', clean)
    assert scanned == ["the same words"]
